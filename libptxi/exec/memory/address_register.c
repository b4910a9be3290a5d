/* Operations on address registers. They write the active lanes; the others keep their addresses. */
#include <assert.h>

#include "exec/engine/row_register.h"

/* --- operands --- */

/* The value that an operand has in all lanes; 0 if there is none. */
static inline uint64_t uniform_64(const struct ptxi_warp *w, unsigned slot)
{
    return slot == PTXI_NO_SLOT ? 0 : *(const uint64_t *)PTXI_SLOT(w, slot);
}

static inline uint32_t uniform_32(const struct ptxi_warp *w, unsigned slot)
{
    return *(const uint32_t *)PTXI_SLOT(w, slot);
}

/* --- indices that are a row: they grow by 0 or 1 from lane to lane --- */

enum step { STEP_NONE = -1, STEP_0, STEP_1 };

/* Whether a[l] is first + l * step modulo the width of an index, for all lanes. */
#define IS_ROW(n)                                                                     \
    static inline bool is_row_##n(const uint##n##_t *a, uint##n##_t first, bool step) \
    {                                                                                 \
        typedef uint##n##_t vec __attribute__((vector_size(LANE_VECTOR), may_alias)); \
        enum { PER = LANE_VECTOR / sizeof(uint##n##_t) };                             \
        vec off = { 0 }, expected = (vec){ 0 } + first;                               \
        vec count;                                                                    \
                                                                                      \
        for (int k = 0; k < PER; k++)                                                 \
            count[k] = (uint##n##_t)k;                                                \
        if (step)                                                                     \
            expected += count;                                                        \
        for (int k = 0; k < PTXI_LANES / PER; k++) {                                  \
            off |= ((const vec *)a)[k] ^ expected;                                    \
            if (step)                                                                 \
                expected += PER;                                                      \
        }                                                                             \
        return ptxi_is_zero_vector(&off, sizeof off);                                 \
    }
IS_ROW(32)
IS_ROW(64)
#undef IS_ROW

/* The step of the indices of all lanes, if they are a row. */
#define STEP_OF_ALL(n)                                                   \
    static inline enum step step_of_all_##n(const uint##n##_t *a)        \
    {                                                                    \
        const uint##n##_t span = a[PTXI_LANES - 1] - a[0];               \
                                                                         \
        if (span == PTXI_LANES - 1)                                      \
            return is_row_##n(a, a[0], true) ? STEP_1 : STEP_NONE;       \
        return !span && is_row_##n(a, a[0], false) ? STEP_0 : STEP_NONE; \
    }
STEP_OF_ALL(32)
STEP_OF_ALL(64)
#undef STEP_OF_ALL

/* The first and the last active lane. */
struct ends {
    unsigned first, last;
};

static inline struct ends ends_of(ptxi_lanes active)
{
    assert(active);
    return (struct ends){ ptxi_first_lane(active), 63 - (unsigned)__builtin_clzll(active) };
}

/* The same for the active lanes. */
#define STEP_OF_SOME(n)                                                                                          \
    static enum step step_of_some_##n(ptxi_lanes active, const uint##n##_t *a, struct ends e)                    \
    {                                                                                                            \
        const uint##n##_t span = a[e.last] - a[e.first], first = a[e.first] - (span ? (uint##n##_t)e.first : 0); \
        LANE_ARRAY(uint##n##_t, row);                                                                            \
                                                                                                                 \
        if (span && span != e.last - e.first)                                                                    \
            return STEP_NONE;                                                                                    \
        FOR_LANES row[l] = first + (span ? (uint##n##_t)l : 0);                                                  \
        ptxi_masked_write_##n(row, a, active);                                                                   \
        return is_row_##n(row, first, span) ? (enum step)(span != 0) : STEP_NONE;                                \
    }
STEP_OF_SOME(32)
STEP_OF_SOME(64)
#undef STEP_OF_SOME

/* --- operations --- */

/* d = a * b + c. The index is extended to 64 bits first: a row that wraps is no row of addresses. */

/* The addresses are not a row. */
#define ADDRESS_WIDE_LANES(name, type, multiply)                                                            \
    static __attribute__((noinline)) void name##_lanes(const struct ptxi_insn *i, struct ptxi_warp *w,      \
                                                       const uint32_t *a)                                   \
    {                                                                                                       \
        struct ptxi_address *d = PTXI_SLOT(w, i->d);                                                        \
        LANE_ARRAY(uint64_t, buffer);                                                                       \
        uint64_t *r = w->active == PTXI_ALL_LANES ? d->lanes : buffer;                                      \
                                                                                                            \
        multiply(r, (const type *)a, PTXI_SLOT(w, i->b), i->c == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, i->c)); \
        if (r == buffer)                                                                                    \
            ptxi_masked_write_64(d->lanes, buffer, w->active);                                              \
        ptxi_set_row_lanes(&d->row, ptxi_row_lanes(&d->row) & ~w->active);                                  \
    }
ADDRESS_WIDE_LANES(address_wide_s32, int32_t, ptxi_wide_s32)
ADDRESS_WIDE_LANES(address_wide_u32, uint32_t, ptxi_wide_u32)
#undef ADDRESS_WIDE_LANES

/* The indices of the active lanes are in a. */
#define ADDRESS_WIDE_ANY(name, type, wide)                                                                  \
    static __attribute__((noinline)) void name##_any(const struct ptxi_insn *i, struct ptxi_warp *w,        \
                                                     const uint32_t *a)                                     \
    {                                                                                                       \
        const struct ends e = ends_of(w->active);                                                           \
        const bool all = w->active == PTXI_ALL_LANES;                                                       \
        const enum step step = all ? step_of_all_32(a) : step_of_some_32(w->active, a, e);                  \
        const uint64_t b = (uint64_t)(wide)(type)uniform_32(w, i->b), stride = step == STEP_1 ? b : 0;      \
                                                                                                            \
        if (step == STEP_NONE || (type)a[e.last] < (type)a[e.first])                                        \
            name##_lanes(i, w, a);                                                                          \
        else                                                                                                \
            ptxi_set_address_row(w, PTXI_SLOT(w, i->d),                                                     \
                    uniform_64(w, i->c) + (uint64_t)(wide)(type)a[e.first] * b - e.first * stride, stride); \
    }
ADDRESS_WIDE_ANY(address_wide_s32, int32_t, int64_t)
ADDRESS_WIDE_ANY(address_wide_u32, uint32_t, uint64_t)
#undef ADDRESS_WIDE_ANY

#define ADDRESS_WIDE(name, type, wide)                                                        \
    OP(name)                                                                                  \
    {                                                                                         \
        const uint32_t *a = PTXI_SLOT(w, i->a);                                               \
        const uint64_t b = (uint64_t)(wide)(type)uniform_32(w, i->b);                         \
        const enum step step = w->active == PTXI_ALL_LANES ? step_of_all_32(a) : STEP_NONE;   \
                                                                                              \
        if (step == STEP_NONE || (type)a[PTXI_LANES - 1] < (type)a[0])                        \
            name##_any(i, w, a);                                                              \
        else                                                                                  \
            ptxi_set_address_row_of_all(PTXI_SLOT(w, i->d),                                   \
                                        uniform_64(w, i->c) + (uint64_t)(wide)(type)a[0] * b, \
                                        step == STEP_1 ? b : 0);                              \
        NEXT;                                                                                 \
    }
ADDRESS_WIDE(address_wide_s32, int32_t, int64_t)
ADDRESS_WIDE(address_wide_u32, uint32_t, uint64_t)
#undef ADDRESS_WIDE

/* The same for an index register. */
#define ADDRESS_INDEX(name, range, like, type, wide)                                                        \
    static __attribute__((noinline)) const struct ptxi_insn *name##_any(const struct ptxi_insn *i,          \
                                                                        struct ptxi_warp *w)                \
    {                                                                                                       \
        const struct ptxi_index *a = PTXI_SLOT(w, i->a);                                                    \
        const uint64_t b = (uint64_t)(wide)(type)uniform_32(w, i->b);                                       \
        LANE_ARRAY(uint32_t, buffer);                                                                       \
                                                                                                            \
        if (ptxi_row_has(&a->row, w->active) && range(a).whole)                                             \
            ptxi_set_address_row(w, PTXI_SLOT(w, i->d), uniform_64(w, i->c) + (uint64_t)range(a).first * b, \
                                 (uint64_t)a->row.stride * b);                                              \
        else                                                                                                \
            like##_any(i, w, ptxi_index_lanes(a, buffer));                                                  \
        NEXT;                                                                                               \
    }                                                                                                       \
    OP(name)                                                                                                \
    {                                                                                                       \
        const struct ptxi_index *a = PTXI_SLOT(w, i->a);                                                    \
        const uint64_t b = (uint64_t)(wide)(type)uniform_32(w, i->b);                                       \
        const struct ptxi_row_range r = range(a);                                                           \
                                                                                                            \
        if (__builtin_expect((ptxi_row_missing(&a->row) | ptxi_inactive(w)) != 0 || !r.whole, 0))           \
            return name##_any(i, w);                                                                        \
        ptxi_set_address_row_of_all(PTXI_SLOT(w, i->d), uniform_64(w, i->c) + (uint64_t)r.first * b,        \
                                    (uint64_t)a->row.stride * b);                                           \
        NEXT;                                                                                               \
    }
ADDRESS_INDEX(address_index_s32, ptxi_row_range_s32, address_wide_s32, int32_t, int64_t)
ADDRESS_INDEX(address_index_u32, ptxi_row_range_u32, address_wide_u32, uint32_t, uint64_t)
#undef ADDRESS_INDEX

/* Shifts of 64 bits and more give 0. PTX ISA, "Logic and Shift Instructions: shl". */
static inline uint64_t shift_left(uint64_t x, uint32_t by)
{
    return by < 64 ? x << by : 0;
}

OP( address_lea_64 )
{
    const uint64_t *a = PTXI_SLOT(w, i->a), c = uniform_64(w, i->c);
    const uint32_t by = uniform_32(w, i->b);
    const struct ends e = ends_of(w->active);
    const enum step step = w->active == PTXI_ALL_LANES ? step_of_all_64(a) : step_of_some_64(w->active, a, e);
    const uint64_t stride = step == STEP_1 ? shift_left(1, by) : 0;
    LANE_ARRAY(uint64_t, r);

    if (step != STEP_NONE) {
        ptxi_set_address_row(w, PTXI_SLOT(w, i->d), shift_left(a[e.first], by) + c - e.first * stride, stride);
        NEXT;
    }
    FOR_LANES r[l] = shift_left(a[l], by) + c;
    ptxi_set_address_lanes(w, PTXI_SLOT(w, i->d), r);
    NEXT;
}

/* d = (a << by) + c for an address register a. */
static __attribute__((noinline)) const struct ptxi_insn *shift_any(const struct ptxi_insn *i, struct ptxi_warp *w,
                                                                   uint32_t by)
{
    const struct ptxi_address *a = PTXI_SLOT(w, i->a);
    const uint64_t c = uniform_64(w, i->c), *from;
    LANE_ARRAY(uint64_t, buffer);
    LANE_ARRAY(uint64_t, r);

    if (ptxi_row_has(&a->row, w->active)) {
        ptxi_set_address_row(w, PTXI_SLOT(w, i->d), shift_left(a->row.first, by) + c,
                             shift_left((uint64_t)a->row.stride, by));
        NEXT;
    }
    from = ptxi_address_lanes(a, buffer);
    FOR_LANES r[l] = shift_left(from[l], by) + c;
    ptxi_set_address_lanes(w, PTXI_SLOT(w, i->d), r);
    NEXT;
}

static inline const struct ptxi_insn *shift(const struct ptxi_insn *i, struct ptxi_warp *w, uint32_t by)
{
    const struct ptxi_address *a = PTXI_SLOT(w, i->a);

    if (__builtin_expect((ptxi_row_missing(&a->row) | ptxi_inactive(w)) != 0, 0))
        return shift_any(i, w, by);
    ptxi_set_address_row_of_all(PTXI_SLOT(w, i->d), shift_left(a->row.first, by) + uniform_64(w, i->c),
                                shift_left((uint64_t)a->row.stride, by));
    NEXT;
}

OP( address_add )
{
    return shift(i, w, 0);
}

OP( address_shift )
{
    return shift(i, w, uniform_32(w, i->b));
}

OP( address_set )
{
    ptxi_set_address_row(w, PTXI_SLOT(w, i->d), uniform_64(w, i->c), 0);
    NEXT;
}
