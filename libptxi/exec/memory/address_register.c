/* Operations on address registers. They write the active lanes; the others keep their addresses. */
#include "exec/memory/address_register.h"

#include <assert.h>

#include "exec/engine/op_shapes.h"

/* --- writing a register --- */

/* Moves lanes of a row that is about to be replaced to the other lanes. */
static __attribute__((noinline)) void leave_row(struct ptxi_address *d, ptxi_lanes lanes)
{
    LANE_ARRAY(uint64_t, row);

    FOR_LANES row[l] = d->row.first + (uint64_t)d->row.stride * (uint64_t)l;
    ptxi_masked_write_64(d->lanes, row, lanes);
}

/* The active lanes are in a row. `first` is the address of lane 0, or what it would be. */
static inline void set_row(const struct ptxi_warp *w, struct ptxi_address *d, uint64_t first, uint64_t stride)
{
    if (__builtin_expect(w->active != PTXI_ALL_LANES, 0) && ptxi_row_lost_lanes(w, &d->row))
        leave_row(d, ptxi_row_lost_lanes(w, &d->row));
    ptxi_set_row(w, &d->row, first, (int64_t)stride);
}

static inline void set_lanes(const struct ptxi_warp *w, struct ptxi_address *d, const uint64_t *lanes)
{
    write_buffer(d->lanes, lanes, w->active, sizeof *lanes);
    ptxi_set_no_row(w, &d->row);
}

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
#define IS_ROW(n)                                                                       \
    static inline bool is_row_##n(const uint##n##_t *a, uint##n##_t first, bool step)   \
    {                                                                                   \
        typedef uint##n##_t vec __attribute__((vector_size(LANE_VECTOR), may_alias));   \
        enum { PER = LANE_VECTOR / sizeof(uint##n##_t) };                               \
        vec off = { 0 }, expected = (vec){ 0 } + first;                                 \
        vec count;                                                                      \
                                                                                        \
        for (int k = 0; k < PER; k++)                                                   \
            count[k] = (uint##n##_t)k;                                                  \
        if (step)                                                                       \
            expected += count;                                                          \
        for (int k = 0; k < PTXI_LANES / PER; k++) {                                    \
            off |= ((const vec *)a)[k] ^ expected;                                      \
            if (step)                                                                   \
                expected += PER;                                                        \
        }                                                                               \
        return ptxi_is_zero_vector(&off, sizeof off);                                   \
    }
IS_ROW(32)
IS_ROW(64)
#undef IS_ROW

/* The step of the indices of all lanes, if they are a row. */
#define STEP_OF_ALL(n)                                                                \
    static inline enum step step_of_all_##n(const uint##n##_t *a)                     \
    {                                                                                 \
        const uint##n##_t span = a[PTXI_LANES - 1] - a[0];                            \
                                                                                      \
        if (span == PTXI_LANES - 1)                                                   \
            return is_row_##n(a, a[0], true) ? STEP_1 : STEP_NONE;                    \
        return !span && is_row_##n(a, a[0], false) ? STEP_0 : STEP_NONE;              \
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
#define STEP_OF_SOME(n)                                                                                         \
    static enum step step_of_some_##n(ptxi_lanes active, const uint##n##_t *a, struct ends e)                   \
    {                                                                                                           \
        const uint##n##_t span = a[e.last] - a[e.first], first = a[e.first] - (span ? (uint##n##_t)e.first : 0); \
        LANE_ARRAY(uint##n##_t, row);                                                                           \
                                                                                                                \
        if (span && span != e.last - e.first)                                                                   \
            return STEP_NONE;                                                                                   \
        FOR_LANES row[l] = first + (span ? (uint##n##_t)l : 0);                                                 \
        ptxi_masked_write_##n(row, a, active);                                                                  \
        return is_row_##n(row, first, span) ? (enum step)(span != 0) : STEP_NONE;                               \
    }
STEP_OF_SOME(32)
STEP_OF_SOME(64)
#undef STEP_OF_SOME

/* --- operations --- */

/* d = a * b + c. The index is extended to 64 bits first: a row that wraps is no row of addresses. */

/* The addresses are not a row. */
#define ADDRESS_WIDE_LANES(name, type, multiply)                                                               \
    static __attribute__((noinline)) void name##_lanes(const struct ptxi_insn *i, struct ptxi_warp *w,   \
                                                       const uint32_t *a)                                \
    {                                                                                                    \
        struct ptxi_address *d = PTXI_SLOT(w, i->d);                                                     \
        LANE_ARRAY(uint64_t, buffer);                                                                    \
        uint64_t *r = w->active == PTXI_ALL_LANES ? d->lanes : buffer;                                   \
                                                                                                         \
        multiply(r, (const type *)a, PTXI_SLOT(w, i->b), i->c == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, i->c));            \
        if (r == buffer)                                                                                 \
            ptxi_masked_write_64(d->lanes, buffer, w->active);                                           \
        ptxi_set_no_row(w, &d->row);                                                                     \
    }
ADDRESS_WIDE_LANES(address_wide_s32, int32_t, ptxi_wide_s32)
ADDRESS_WIDE_LANES(address_wide_u32, uint32_t, ptxi_wide_u32)
#undef ADDRESS_WIDE_LANES

/* The indices of the active lanes are in a. */
#define ADDRESS_WIDE_ANY(name, type, wide)                                                                   \
    static __attribute__((noinline)) void name##_any(const struct ptxi_insn *i, struct ptxi_warp *w,         \
                                                     const uint32_t *a)                                      \
    {                                                                                                        \
        const struct ends e = ends_of(w->active);                                                            \
        const bool all = w->active == PTXI_ALL_LANES;                                                        \
        const enum step step = all ? step_of_all_32(a) : step_of_some_32(w->active, a, e);                   \
        const uint64_t b = (uint64_t)(wide)(type)uniform_32(w, i->b), stride = step == STEP_1 ? b : 0;       \
                                                                                                             \
        if (step == STEP_NONE || (type)a[e.last] < (type)a[e.first])                                         \
            name##_lanes(i, w, a);                                                                           \
        else                                                                                                 \
            set_row(w, PTXI_SLOT(w, i->d),                                                                   \
                    uniform_64(w, i->c) + (uint64_t)(wide)(type)a[e.first] * b - e.first * stride, stride);  \
    }
ADDRESS_WIDE_ANY(address_wide_s32, int32_t, int64_t)
ADDRESS_WIDE_ANY(address_wide_u32, uint32_t, uint64_t)
#undef ADDRESS_WIDE_ANY

#define ADDRESS_WIDE(name, type, wide)                                                          \
    OP(name)                                                                                    \
    {                                                                                           \
        const uint32_t *a = PTXI_SLOT(w, i->a);                                                 \
        const uint64_t b = (uint64_t)(wide)(type)uniform_32(w, i->b);                           \
        const enum step step = w->active == PTXI_ALL_LANES ? step_of_all_32(a) : STEP_NONE;     \
                                                                                                \
        if (step == STEP_NONE || (type)a[PTXI_LANES - 1] < (type)a[0])                          \
            name##_any(i, w, a);                                                                \
        else                                                                                    \
            set_row(w, PTXI_SLOT(w, i->d), uniform_64(w, i->c) + (uint64_t)(wide)(type)a[0] * b, \
                    step == STEP_1 ? b : 0);                                                    \
        NEXT;                                                                                   \
    }
ADDRESS_WIDE(address_wide_s32, int32_t, int64_t)
ADDRESS_WIDE(address_wide_u32, uint32_t, uint64_t)
#undef ADDRESS_WIDE

/* The same for an index register. */
#define ADDRESS_INDEX(name, range, like, type, wide)                                                \
    static __attribute__((noinline)) void name##_any(const struct ptxi_insn *i, struct ptxi_warp *w) \
    {                                                                                               \
        LANE_ARRAY(uint32_t, buffer);                                                               \
                                                                                                    \
        like##_any(i, w, ptxi_index_lanes(PTXI_SLOT(w, i->a), buffer));                             \
    }                                                                                               \
    OP(name)                                                                                        \
    {                                                                                               \
        const struct ptxi_lane_row *a = PTXI_SLOT(w, i->a);                                              \
        const uint64_t b = (uint64_t)(wide)(type)uniform_32(w, i->b);                               \
                                                                                                    \
        if (__builtin_expect(ptxi_row_has(a, w->active) && range(a).whole, 1))                      \
            set_row(w, PTXI_SLOT(w, i->d), uniform_64(w, i->c) + (uint64_t)(wide)(type)a->first * b, \
                    (uint64_t)a->stride * b);                                                       \
        else                                                                                        \
            name##_any(i, w);                                                                       \
        NEXT;                                                                                       \
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
        set_row(w, PTXI_SLOT(w, i->d), shift_left(a[e.first], by) + c - e.first * stride, stride);
        NEXT;
    }
    FOR_LANES r[l] = shift_left(a[l], by) + c;
    set_lanes(w, PTXI_SLOT(w, i->d), r);
    NEXT;
}

/* d = (a << by) + c, where the lanes of a are in no row. */
static __attribute__((noinline)) void shift_lanes(struct ptxi_warp *w, struct ptxi_address *d,
                                                  const struct ptxi_address *a, uint32_t by, uint64_t c)
{
    LANE_ARRAY(uint64_t, buffer);
    LANE_ARRAY(uint64_t, r);
    const uint64_t *from = ptxi_address_lanes(a, buffer);

    FOR_LANES r[l] = shift_left(from[l], by) + c;
    set_lanes(w, d, r);
}

static inline void set_shifted(struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t by)
{
    const struct ptxi_address *a = PTXI_SLOT(w, i->a);
    const uint64_t c = uniform_64(w, i->c);

    if (__builtin_expect(ptxi_row_has(&a->row, w->active), 1))
        set_row(w, PTXI_SLOT(w, i->d), shift_left(a->row.first, by) + c, shift_left((uint64_t)a->row.stride, by));
    else
        shift_lanes(w, PTXI_SLOT(w, i->d), a, by, c);
}

OP( address_add )
{
    set_shifted(w, i, 0);
    NEXT;
}

OP( address_shift )
{
    set_shifted(w, i, uniform_32(w, i->b));
    NEXT;
}

OP( address_set )
{
    set_row(w, PTXI_SLOT(w, i->d), uniform_64(w, i->c), 0);
    NEXT;
}
