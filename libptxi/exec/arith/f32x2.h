/* .f32x2: a 64-bit register as an array of floats, two in each lane. */
#ifndef PTXI_EXEC_ARITH_F32X2_H
#define PTXI_EXEC_ARITH_F32X2_H

#include "exec/engine/op_shapes.h"

typedef uint32_t __attribute__((may_alias)) ptxi_float_bits;

#define FOR_F32X2 PTXI_SIMD for (int l = 0; l < 2 * PTXI_LANES; l++)

/* A source. If lanes are inactive, it is a copy with zeros in them (see LIVE_SOURCE). */
static inline const ptxi_float_bits *read_f32x2(uint64_t *copy, const void *from, ptxi_lanes on)
{
    if (__builtin_expect(on == PTXI_ALL_LANES, 1))
        return from;
    memset(copy, 0, PTXI_LANES * sizeof *copy);
    ptxi_masked_write(copy, from, on, sizeof *copy);
    return (const ptxi_float_bits *)copy;
}

/* An operation on each element. The expression uses a[l], b[l] and c[l], as in OPF. */
#define OP_F32X2(name, slot_b, slot_c, expr)                                                     \
    OP( name )                                                                                   \
    {                                                                                            \
        _Alignas(64) uint64_t live[3][PTXI_LANES];                                               \
        const ptxi_float_bits *a = read_f32x2(live[0], PTXI_SLOT(w, i->a), w->active);           \
        const ptxi_float_bits *b = read_f32x2(live[1], PTXI_SLOT(w, slot_b), w->active);         \
        const ptxi_float_bits *c = read_f32x2(live[2], PTXI_SLOT(w, slot_c), w->active);         \
        RESULT_LANES(uint64_t, results);                                                         \
        ptxi_float_bits *r = (ptxi_float_bits *)results;                                         \
                                                                                                 \
        (void)b, (void)c;                                                                        \
        FOR_F32X2 r[l] = (expr);                                                                 \
        NEXT_WITH_RESULT(results);                                                               \
    }

#endif
