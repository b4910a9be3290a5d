/* Comparisons of index registers (row_register.h): the lanes for which they hold. Rows whose ranges do not overlap need
 * no look at the lanes. */
#ifndef PTXI_EXEC_ENGINE_ROW_COMPARE_INL_H
#define PTXI_EXEC_ENGINE_ROW_COMPARE_INL_H

#include "exec/engine/row_register.h"

#define COMPARE_LANES(name, type, cond)                                                                      \
    static __attribute__((noinline)) ptxi_lanes name(const struct ptxi_index *a, const struct ptxi_index *b) \
    {                                                                                                        \
        LANE_ARRAY(uint32_t, buffer_a);                                                                      \
        LANE_ARRAY(uint32_t, buffer_b);                                                                      \
        const type *x_ = (const type *)ptxi_index_lanes(a, buffer_a);                                        \
        const type *y_ = (const type *)ptxi_index_lanes(b, buffer_b);                                        \
        ptxi_lanes m;                                                                                        \
                                                                                                             \
        COMPARE_32(m, type, x_, y_, cond);                                                                   \
        return m;                                                                                            \
    }
COMPARE_LANES(index_lanes_eq, uint32_t, x == y)
COMPARE_LANES(index_lanes_lt_s32, int32_t, x < y)
COMPARE_LANES(index_lanes_lt_u32, uint32_t, x < y)
#undef COMPARE_LANES

/* For each comparison there are two functions:
 *   ptxi_index_is_NAME(w, i, &holds)   The common case: all lanes are active, b is the same in all of them, and the
 *                                      comparison holds in all of them or in none. Otherwise false.
 *   ptxi_index_NAME(w, i)              any case; the active lanes where the comparison holds */

/* Whether all lanes are active and in the rows a and b, and b is the same in all of them. */
static inline bool is_common(const struct ptxi_warp *w, const struct ptxi_index *a, const struct ptxi_index *b)
{
    return !(ptxi_row_missing(&a->row) | ptxi_row_missing(&b->row) | ptxi_inactive(w) | (uint32_t)b->row.stride);
}

#define INDEX_LESS(type, extended)                                                                                \
    static inline bool ptxi_index_is_lt_##type(const struct ptxi_warp *w, const struct ptxi_insn *i, bool *holds) \
    {                                                                                                             \
        const struct ptxi_index *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);                                 \
        const struct ptxi_row_range r = ptxi_row_range_##type(a);                                                 \
        const int64_t y = (extended)b->row.first;                                                                 \
                                                                                                                  \
        *holds = r.first < y;                                                                                     \
        return is_common(w, a, b) && r.whole && *holds == (r.last < y);                                           \
    }                                                                                                             \
    static inline ptxi_lanes ptxi_index_lt_##type(const struct ptxi_warp *w, const struct ptxi_insn *i)           \
    {                                                                                                             \
        return index_lanes_lt_##type(PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b)) & w->active;                         \
    }
INDEX_LESS(s32, int32_t)
INDEX_LESS(u32, uint32_t)
#undef INDEX_LESS

static inline bool ptxi_index_is_eq(const struct ptxi_warp *w, const struct ptxi_insn *i, bool *holds)
{
    const struct ptxi_index *a = PTXI_SLOT(w, i->a), *b = PTXI_SLOT(w, i->b);
    const struct ptxi_row_range r = ptxi_row_range_s32(a);
    const int64_t y = (int32_t)b->row.first;

    *holds = r.first == y;
    return is_common(w, a, b) &&
           (!a->row.stride || (r.whole && (r.first < y) == (r.last < y) && (r.first > y) == (r.last > y)));
}

static inline ptxi_lanes ptxi_index_eq(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return index_lanes_eq(PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b)) & w->active;
}

#endif
