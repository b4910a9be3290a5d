/* Comparisons of index registers (row_register.h): the lanes for which they hold. Rows whose ranges do not overlap need
 * no look at the lanes. */
#ifndef PTXI_EXEC_ENGINE_ROW_COMPARE_INL_H
#define PTXI_EXEC_ENGINE_ROW_COMPARE_INL_H

#include "exec/engine/op_shapes.h"
#include "exec/engine/row_register.h"

#define COMPARE_LANES(name, type, cond)                                                                       \
    static __attribute__((noinline)) ptxi_lanes name(const struct ptxi_index *a, const struct ptxi_index *b)  \
    {                                                                                                         \
        LANE_ARRAY(uint32_t, buffer_a);                                                                       \
        LANE_ARRAY(uint32_t, buffer_b);                                                                       \
        const type *x_ = (const type *)ptxi_index_lanes(a, buffer_a);                                         \
        const type *y_ = (const type *)ptxi_index_lanes(b, buffer_b);                                         \
        ptxi_lanes m;                                                                                         \
                                                                                                              \
        COMPARE_32(m, type, x_, y_, cond);                                                                    \
        return m;                                                                                             \
    }
COMPARE_LANES(index_lanes_eq, uint32_t, x == y)
COMPARE_LANES(index_lanes_lt_s32, int32_t, x < y)
COMPARE_LANES(index_lanes_lt_u32, uint32_t, x < y)
#undef COMPARE_LANES

static inline bool are_rows(const struct ptxi_warp *w, const struct ptxi_index *a, const struct ptxi_index *b)
{
    return ptxi_row_has(&a->row, w->active) && ptxi_row_has(&b->row, w->active);
}

/* Each of these returns the active lanes where the comparison of a and b holds. */

#define INDEX_LESS(type)                                                                                            \
    static inline ptxi_lanes ptxi_index_lt_##type(const struct ptxi_warp *w, const struct ptxi_insn *i)             \
    {                                                                                                               \
        const struct ptxi_index *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);                                   \
        const struct ptxi_row_range x = ptxi_row_range_##type(&a->row), y = ptxi_row_range_##type(&b->row);         \
                                                                                                                    \
        if (__builtin_expect(are_rows(w, a, b) && x.whole && y.whole, 1)) {                                         \
            if (x.hi < y.lo)                                                                                        \
                return w->active;                                                                                   \
            if (x.lo >= y.hi)                                                                                       \
                return 0;                                                                                           \
        }                                                                                                           \
        return index_lanes_lt_##type(a, b) & w->active;                                                             \
    }
INDEX_LESS(s32)
INDEX_LESS(u32)
#undef INDEX_LESS

static inline ptxi_lanes ptxi_index_eq(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const struct ptxi_index *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);
    const struct ptxi_row_range x = ptxi_row_range_u32(&a->row), y = ptxi_row_range_u32(&b->row);

    if (__builtin_expect(are_rows(w, a, b), 1)) {
        if (a->row.stride == b->row.stride)
            return a->row.first == b->row.first ? w->active : 0;
        if (x.whole && y.whole && (x.hi < y.lo || y.hi < x.lo))
            return 0;
    }
    return index_lanes_eq(a, b) & w->active;
}

#endif
