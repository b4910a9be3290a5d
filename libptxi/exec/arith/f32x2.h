/* .f32x2: a register of 64 bits a lane as an array of floats, two a lane. */
#ifndef PTXI_EXEC_ARITH_F32X2_H
#define PTXI_EXEC_ARITH_F32X2_H

#include "exec/engine/op_shapes.h"

typedef uint32_t __attribute__((may_alias)) ptxi_float_bits;

#define FOR_PAIRS PTXI_SIMD for (int l = 0; l < 2 * PTXI_LANES; l++)

/* A source; where lanes are off, a copy with zeros in them (see LIVE_SOURCE). */
static inline const ptxi_float_bits *live_pairs(uint64_t *copy, const void *from, ptxi_lanes on)
{
    if (__builtin_expect(on == PTXI_ALL_LANES, 1))
        return from;
    memset(copy, 0, PTXI_LANES * sizeof *copy);
    ptxi_merge(copy, from, on, sizeof *copy);
    return (const ptxi_float_bits *)copy;
}

/* An operation on each element; the expression is in terms of a[l], b[l], c[l], as in OPF. */
#define OP_PAIRS(name, slot_b, slot_c, expr)                                                     \
    OP( name )                                                                                   \
    {                                                                                            \
        _Alignas(64) uint64_t live[3][PTXI_LANES];                                               \
        const ptxi_float_bits *a = live_pairs(live[0], PTXI_SLOT(w, i->a), w->active);           \
        const ptxi_float_bits *b = live_pairs(live[1], PTXI_SLOT(w, slot_b), w->active);         \
        const ptxi_float_bits *c = live_pairs(live[2], PTXI_SLOT(w, slot_c), w->active);         \
        RESULT_LANES(uint64_t, results);                                                         \
        ptxi_float_bits *r = (ptxi_float_bits *)results;                                         \
                                                                                                 \
        (void)b, (void)c;                                                                        \
        FOR_PAIRS r[l] = (expr);                                                                 \
        NEXT_WITH_RESULT(results);                                                               \
    }

#endif
