/* redux.sync, match.sync and elect.sync for groups of lanes. Used for a converged warp (sync.c) and for lanes that
 * arrive from different places (warp_sync.c). */
#ifndef PTXI_EXEC_SYNC_WARP_COLLECTIVES_H
#define PTXI_EXEC_SYNC_WARP_COLLECTIVES_H

#include <assert.h>

#include "exec/engine/warp.h"
#include "num/float.h"

/* A lane's group: the lanes of `lanes` that are in its mask. */
static inline ptxi_lanes ptxi_group_lanes(ptxi_lanes lanes, const uint32_t *mask, unsigned lane)
{
    return lanes & (ptxi_lanes)mask[lane] << (lane / 32 * 32);
}

/* redux.sync of integers: name, type of an element, neutral element, combination of x and y. */
#define PTXI_REDUX_INT(X)                                   \
    X( add_u32, uint32_t, 0, x + y )                        \
    X( add_s32, uint32_t, 0, x + y )                        \
    X( min_u32, uint32_t, UINT32_MAX, x < y ? x : y )       \
    X( max_u32, uint32_t, 0, x > y ? x : y )                \
    X( min_s32, int32_t, INT32_MAX, x < y ? x : y )         \
    X( max_s32, int32_t, INT32_MIN, x > y ? x : y )         \
    X( and_b32, uint32_t, UINT32_MAX, x & y )               \
    X( or_b32, uint32_t, 0, x | y )                         \
    X( xor_b32, uint32_t, 0, x ^ y )

/* Ignores NaNs, unless .NaN is given. If all elements are NaN, the result is NaN. */
static inline uint32_t ptxi_redux_f32(const uint32_t *v, ptxi_lanes group, bool max, bool absolute, bool nan)
{
    uint32_t r = 0x7fffffff;

    for (ptxi_lanes left = group; left; left &= left - 1) {
        uint32_t x = v[ptxi_first_lane(left)] & (absolute ? 0x7fffffff : UINT32_MAX);

        r = ptxi_num_minmax_f32(left == group ? x : r, x, max, nan);
    }
    return r;
}

/* The result of instruction i for a group of lanes of one warp of 32. */
static inline uint32_t ptxi_redux(const struct ptxi_insn *i, const uint32_t *v, ptxi_lanes group)
{
    unsigned first = group ? ptxi_first_lane(group) / 32 * 32 : 0;
    bool nan = i->mods & PTXI_MOD_NAN;

#define REDUCE(name, type, neutral, expr)                                    \
    case PTXI_OP_redux_##name: {                                             \
        type x = (neutral);                                                  \
                                                                             \
        for (unsigned l = first; l < first + 32; l++) {                      \
            type y = group >> l & 1 ? (type)v[l] : (type)(neutral);          \
                                                                             \
            x = (expr);                                                      \
        }                                                                    \
        return (uint32_t)x;                                                  \
    }

    switch (i->op) {
        PTXI_REDUX_INT(REDUCE)
    case PTXI_OP_redux_min_f32: return ptxi_redux_f32(v, group, false, false, nan);
    case PTXI_OP_redux_max_f32: return ptxi_redux_f32(v, group, true, false, nan);
    case PTXI_OP_redux_min_abs_f32: return ptxi_redux_f32(v, group, false, true, nan);
    default: return ptxi_redux_f32(v, group, true, true, nan);
    }
}
#undef REDUCE

/* Lanes of a group that have the same value as its first lane. */
static inline ptxi_lanes ptxi_match(const void *a, bool wide, ptxi_lanes group)
{
    const uint64_t *a64 = a;
    const uint32_t *a32 = a;
    unsigned first = ptxi_first_lane(group);
    ptxi_lanes equal = 0;

    for (unsigned l = 0; l < PTXI_LANES; l++)
        equal |= (ptxi_lanes)(wide ? a64[l] == a64[first] : a32[l] == a32[first]) << l;
    return equal & group;
}

/* Executes instruction i for `lanes`: the results d[l] and the predicates *p, from the operands a (NULL for elect) and
 * the masks. */
static inline void ptxi_warp_collective(const struct ptxi_insn *i, const void *a, const uint32_t *mask,
                                        ptxi_lanes lanes, uint32_t *d,
                                        ptxi_lanes *p)
{
    bool wide = i->op == PTXI_OP_match_any_b64 || i->op == PTXI_OP_match_all_b64;
    bool any = i->op == PTXI_OP_match_any_b32 || i->op == PTXI_OP_match_any_b64;
    bool all = i->op == PTXI_OP_match_all_b32 || i->op == PTXI_OP_match_all_b64;

    assert(a || i->op == PTXI_OP_elect);
    *p = 0;
    for (ptxi_lanes left = lanes, done; left; left &= ~done) {
        unsigned l = ptxi_first_lane(left), base = l / 32 * 32;
        ptxi_lanes group = ptxi_group_lanes(lanes, mask, l), to;
        uint32_t r;

        done = (group & left) | (ptxi_lanes)1 << l;
        if (any) {
            done = (ptxi_lanes)1 << l | (group & left ? ptxi_match(a, wide, group & left) : 0);
            r = (uint32_t)(done >> base);
        } else if (all) {
            bool same = group && ptxi_match(a, wide, group) == group;

            r = same ? (uint32_t)(group >> base) : 0;
            *p |= same ? done : 0;
        } else if (i->op == PTXI_OP_elect) {
            r = group ? ptxi_first_lane(group) - base : 0;
            *p |= group & -group;
        } else {
            r = ptxi_redux(i, a, group);
        }
        for (to = done; to; to &= to - 1)
            d[ptxi_first_lane(to)] = r;
    }
}

#endif
