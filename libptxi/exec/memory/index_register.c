/* Operations on index registers: integers of 32 bits, modulo 2^32. They write the active lanes; the others keep their
 * values. Where an operand is no row, or the result is none, the operation computes lanes. */
#include "exec/engine/op_shapes.h"
#include "exec/engine/row_compare_inl.h"
#include "exec/engine/sreg.h"

static __attribute__((noinline)) void leave_row(struct ptxi_index *d, ptxi_lanes lanes)
{
    LANE_ARRAY(uint32_t, row);

    FOR_LANES row[l] = (uint32_t)d->row.first + (uint32_t)d->row.stride * (uint32_t)l;
    ptxi_masked_write_32(d->lanes, row, lanes);
}

static inline void set_row(const struct ptxi_warp *w, struct ptxi_index *d, uint32_t first, uint32_t stride)
{
    if (__builtin_expect(w->active != PTXI_ALL_LANES, 0) && ptxi_row_lost_lanes(w, &d->row))
        leave_row(d, ptxi_row_lost_lanes(w, &d->row));
    ptxi_set_row(w, &d->row, first, (int32_t)stride);
}

static inline void set_lanes(const struct ptxi_warp *w, struct ptxi_index *d, const uint32_t *lanes)
{
    write_buffer(d->lanes, lanes, w->active, sizeof *lanes);
    ptxi_set_no_row(w, &d->row);
}

/* An operand, if it is a row: first + l * stride. */
struct operand {
    uint32_t first, stride;
    bool is_row;
};

static inline struct operand read_row(const struct ptxi_warp *w, unsigned slot)
{
    const struct ptxi_lane_row *r = PTXI_SLOT(w, slot);

    return (struct operand){ (uint32_t)r->first, (uint32_t)r->stride, ptxi_row_has(r, w->active) };
}

/* PTX ISA, "Logic and Shift Instructions: shl". */
static inline uint32_t shift_left(uint32_t x, uint32_t by)
{
    return by < 32 ? x << by : 0;
}

/* --- d = a op b, d = a op b + c --- */

/* The name of an operation, its number of operands, the condition for a row of a, b and c to give a row, the number of
 * lane 0 and the stride, and the same for a lane. */
#define INDEX_OP(name, count, condition, first_, stride_, expr)                                                       \
    static __attribute__((noinline)) void name##_lanes(const struct ptxi_insn *i, struct ptxi_warp *w)                \
    {                                                                                                                 \
        LANE_ARRAY(uint32_t, buffer_a);                                                                               \
        LANE_ARRAY(uint32_t, buffer_b);                                                                               \
        LANE_ARRAY(uint32_t, buffer_c);                                                                               \
        LANE_ARRAY(uint32_t, r);                                                                                      \
        const uint32_t *a = ptxi_index_lanes(PTXI_SLOT(w, i->a), buffer_a);                                           \
        const uint32_t *b = count > 1 ? ptxi_index_lanes(PTXI_SLOT(w, i->b), buffer_b) : buffer_b;                    \
        const uint32_t *c = count > 2 ? ptxi_index_lanes(PTXI_SLOT(w, i->c), buffer_c) : buffer_c;                    \
                                                                                                                      \
        (void)b, (void)c;                                                                                             \
        FOR_LANES r[l] = (expr);                                                                                      \
        set_lanes(w, PTXI_SLOT(w, i->d), r);                                                                          \
    }                                                                                                                 \
    OP(name)                                                                                                          \
    {                                                                                                                 \
        const struct operand none = { 0, 0, true };                                                                   \
        const struct operand a = read_row(w, i->a), b = count > 1 ? read_row(w, i->b) : none;                         \
        const struct operand c = count > 2 ? read_row(w, i->c) : none;                                                \
                                                                                                                      \
        if (__builtin_expect(a.is_row && b.is_row && c.is_row && (condition), 1))                                     \
            set_row(w, PTXI_SLOT(w, i->d), first_, stride_);                                                          \
        else                                                                                                          \
            name##_lanes(i, w);                                                                                       \
        NEXT;                                                                                                         \
    }
INDEX_OP(index_mov, 1, true, a.first, a.stride, a[l])
INDEX_OP(index_add, 2, true, a.first + b.first, a.stride + b.stride, a[l] + b[l])
INDEX_OP(index_sub, 2, true, a.first - b.first, a.stride - b.stride, a[l] - b[l])
INDEX_OP(index_mul, 2, !a.stride || !b.stride, a.first * b.first, a.first * b.stride + a.stride * b.first, a[l] * b[l])
INDEX_OP(index_mad, 3, !a.stride || !b.stride, a.first * b.first + c.first,
         a.first * b.stride + a.stride * b.first + c.stride, a[l] * b[l] + c[l])
INDEX_OP(index_shl, 2, !b.stride, shift_left(a.first, b.first), shift_left(a.stride, b.first), shift_left(a[l], b[l]))
INDEX_OP(index_lea, 3, !b.stride, shift_left(a.first, b.first) + c.first, shift_left(a.stride, b.first) + c.stride,
         shift_left(a[l], b[l]) + c[l])
#undef INDEX_OP

OP( index_sreg )
{
    set_row(w, PTXI_SLOT(w, i->d), (uint32_t)ptxi_sreg_of_warp(w, i->imm), 0);
    NEXT;
}

/* The lanes of a as an index register. The setup code does this, so it need not be fast. */
OP( index_from )
{
    const uint32_t *a = PTXI_SLOT(w, i->a), stride = a[1] - a[0];
    uint32_t off = 0;

    for (uint32_t l = 0; l < PTXI_LANES; l++)
        off |= a[l] ^ (a[0] + l * stride);
    if (!off && w->active == PTXI_ALL_LANES)
        set_row(w, PTXI_SLOT(w, i->d), a[0], stride);
    else
        set_lanes(w, PTXI_SLOT(w, i->d), a);
    NEXT;
}

/* --- comparisons --- */

#define INDEX_SETP(name)                                                           \
    OP(index_setp_##name)                                                          \
    {                                                                              \
        const ptxi_lanes holds = ptxi_index_##name(w, i);                          \
                                                                                   \
        ptxi_set_pred(w, i->d, i->mods & PTXI_MOD_NOT_C ? ~holds : holds);         \
        NEXT;                                                                      \
    }
INDEX_SETP(eq)
INDEX_SETP(lt_s32)
INDEX_SETP(lt_u32)
#undef INDEX_SETP
