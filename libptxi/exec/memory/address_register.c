/* Operations on address registers. They write the active lanes; the others keep their addresses. */
#include "exec/memory/address_register.h"

#include <assert.h>

#include "exec/engine/op_shapes.h"

/* --- writing a register --- */

/* Moves lanes of a row that is about to be replaced to the other lanes. */
static __attribute__((noinline)) void leave_row(struct ptxi_address *d, ptxi_lanes lanes)
{
    LANE_ARRAY(uint64_t, row);

    FOR_LANES row[l] = d->first + (uint64_t)d->stride * (uint64_t)l;
    ptxi_masked_write_64(d->lanes, row, lanes);
}

/* All lanes are in a row. */
static inline void set_whole_row(struct ptxi_address *d, uint64_t first, uint64_t stride)
{
    d->form = PTXI_ADDRESS_ROW;
    d->in_row = PTXI_ALL_LANES;
    d->first = first;
    d->stride = (int64_t)stride;
}

/* The active lanes are in a row. `first` is the address of lane 0, or what it would be. */
static inline void set_row(const struct ptxi_warp *w, struct ptxi_address *d, uint64_t first, uint64_t stride)
{
    if (w->active != PTXI_ALL_LANES && d->form == PTXI_ADDRESS_ROW && d->in_row & ~w->active)
        leave_row(d, d->in_row & ~w->active);
    d->form = PTXI_ADDRESS_ROW;
    d->in_row = w->active;
    d->first = first;
    d->stride = (int64_t)stride;
}

/* The active lanes are not in a row. Their addresses are in d->lanes. */
static inline void set_no_row(const struct ptxi_warp *w, struct ptxi_address *d)
{
    if (w->active == PTXI_ALL_LANES)
        d->form = 0;
    else if (d->form == PTXI_ADDRESS_ROW && !(d->in_row &= ~w->active))
        d->form = 0;
}

static inline void set_lanes(const struct ptxi_warp *w, struct ptxi_address *d, const uint64_t *lanes)
{
    write_buffer(d->lanes, lanes, w->active, sizeof *lanes);
    set_no_row(w, d);
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
#define ADDRESS_WIDE_LANES(name, multiply)                                                           \
    static __attribute__((noinline)) const struct ptxi_insn *name##_lanes(const struct ptxi_insn *i, \
                                                                          struct ptxi_warp *w)       \
    {                                                                                                \
        struct ptxi_address *d = PTXI_SLOT(w, i->d);                                                 \
        LANE_ARRAY(uint64_t, buffer);                                                                \
        uint64_t *r = w->active == PTXI_ALL_LANES ? d->lanes : buffer;                               \
                                                                                                     \
        multiply(r, PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b),                                          \
                 i->c == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, i->c));                                  \
        if (r == buffer)                                                                             \
            ptxi_masked_write_64(d->lanes, buffer, w->active);                                       \
        set_no_row(w, d);                                                                            \
        NEXT;                                                                                        \
    }
ADDRESS_WIDE_LANES(address_wide_s32, ptxi_wide_s32)
ADDRESS_WIDE_LANES(address_wide_u32, ptxi_wide_u32)
#undef ADDRESS_WIDE_LANES

/* Some lanes are active. */
#define ADDRESS_WIDE_SOME(name, type, wide)                                                             \
    static __attribute__((noinline)) const struct ptxi_insn *name##_some(const struct ptxi_insn *i,     \
                                                                         struct ptxi_warp *w)           \
    {                                                                                                   \
        const uint32_t *a = PTXI_SLOT(w, i->a);                                                         \
        const struct ends e = ends_of(w->active);                                                       \
        const enum step step = step_of_some_32(w->active, a, e);                                        \
        const uint64_t b = (uint64_t)(wide)(type)uniform_32(w, i->b), stride = step == STEP_1 ? b : 0;  \
                                                                                                        \
        if (step == STEP_NONE || (type)a[e.last] < (type)a[e.first])                                    \
            return name##_lanes(i, w);                                                                  \
        set_row(w, PTXI_SLOT(w, i->d),                                                                  \
                uniform_64(w, i->c) + (uint64_t)(wide)(type)a[e.first] * b - e.first * stride, stride); \
        NEXT;                                                                                           \
    }
ADDRESS_WIDE_SOME(address_wide_s32, int32_t, int64_t)
ADDRESS_WIDE_SOME(address_wide_u32, uint32_t, uint64_t)
#undef ADDRESS_WIDE_SOME

#define ADDRESS_WIDE(name, type, wide)                                                          \
    OP(name)                                                                                    \
    {                                                                                           \
        const uint32_t *a = PTXI_SLOT(w, i->a);                                                 \
        const uint64_t b = (uint64_t)(wide)(type)uniform_32(w, i->b);                           \
        enum step step;                                                                         \
                                                                                                \
        if (__builtin_expect(w->active != PTXI_ALL_LANES, 0))                                   \
            return name##_some(i, w);                                                           \
        step = step_of_all_32(a);                                                               \
        if (step == STEP_NONE || (type)a[PTXI_LANES - 1] < (type)a[0])                          \
            return name##_lanes(i, w);                                                          \
        set_whole_row(PTXI_SLOT(w, i->d), uniform_64(w, i->c) + (uint64_t)(wide)(type)a[0] * b, \
                      step == STEP_1 ? b : 0);                                                  \
        NEXT;                                                                                   \
    }
ADDRESS_WIDE(address_wide_s32, int32_t, int64_t)
ADDRESS_WIDE(address_wide_u32, uint32_t, uint64_t)
#undef ADDRESS_WIDE

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

static __attribute__((noinline)) const struct ptxi_insn *add_some(const struct ptxi_insn *i, struct ptxi_warp *w)
{
    const struct ptxi_address *a = PTXI_SLOT(w, i->a);
    struct ptxi_address *d = PTXI_SLOT(w, i->d);
    const uint64_t c = uniform_64(w, i->c), *from;
    LANE_ARRAY(uint64_t, lanes);
    LANE_ARRAY(uint64_t, r);

    if (ptxi_address_is_row(a, w->active)) {
        set_row(w, d, a->first + c, (uint64_t)a->stride);
        NEXT;
    }
    from = ptxi_address_lanes(a, lanes);
    FOR_LANES r[l] = from[l] + c;
    set_lanes(w, d, r);
    NEXT;
}

OP( address_add )
{
    const struct ptxi_address *a = PTXI_SLOT(w, i->a);

    if (w->active != PTXI_ALL_LANES || !ptxi_address_is_row(a, PTXI_ALL_LANES))
        return add_some(i, w);
    set_whole_row(PTXI_SLOT(w, i->d), a->first + uniform_64(w, i->c), (uint64_t)a->stride);
    NEXT;
}

OP( address_set )
{
    set_row(w, PTXI_SLOT(w, i->d), uniform_64(w, i->c), 0);
    NEXT;
}
