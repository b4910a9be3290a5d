/* Row registers. The values of a warp's lanes are often a row: lane l has first + l * stride. That includes values that
 * all lanes have in common, with stride 0. A row register holds such a row as two numbers, and operations on rows take
 * the time of a scalar operation. An index register has lanes of 32 bits, an address register lanes of 64 bits.
 *
 * The compiler (compile/optimize/row_registers.c) chooses registers that only row operations write and read. Whether
 * the values are a row is found when they are computed, so the program may compute them in any way. A row is modulo
 * the width of its lanes. An operation that extends or compares 32-bit values first makes sure that the row does not
 * wrap inside of the warp. */
#ifndef PTXI_EXEC_ENGINE_ROW_REGISTER_H
#define PTXI_EXEC_ENGINE_ROW_REGISTER_H

#include <stdbool.h>
#include <stddef.h>

#include "exec/engine/op_shapes.h"

/* The value of `form` if there is a row. A slot that was filled with one byte has another value. */
#define PTXI_ROW_FORM UINT32_C(0x526f7721)

struct ptxi_lane_row {
    union {
        struct {
            uint32_t form;
            ptxi_lanes in_row; /* lanes with values in the row */
        };
#if PTXI_LANES == 32
        uint64_t tag; /* both; they are read and written at once, because CPUs cannot forward two stores to one load */
#endif
    };
    int64_t stride; /* of an index register: extended from 32 bits */
    uint64_t first; /* the value that lane 0 has if it is in the row; of an index register: 32 bits */
    unsigned char unused[PTXI_UNIT - 3 * sizeof(uint64_t) - (sizeof(ptxi_lanes) == 8 ? 8 : 0)];
};
_Static_assert(sizeof(struct ptxi_lane_row) == PTXI_UNIT, "the lanes begin at the next unit");

struct ptxi_address {
    struct ptxi_lane_row row;
    uint64_t lanes[PTXI_LANES]; /* the values of the lanes that are not in the row */
};
_Static_assert(sizeof(struct ptxi_address) == 5 * PTXI_UNIT, "an address register has 5 units");

struct ptxi_index {
    struct ptxi_lane_row row;
    uint32_t lanes[PTXI_LANES];
};
_Static_assert(sizeof(struct ptxi_index) == 3 * PTXI_UNIT, "an index register has 3 units");

/* The tag of a row of these lanes. */
static inline struct ptxi_lane_row ptxi_row_tag(ptxi_lanes lanes)
{
    return (struct ptxi_lane_row){ .form = lanes ? PTXI_ROW_FORM : 0, .in_row = lanes };
}

/* The lanes that are in the row, if there is one. */
static inline ptxi_lanes ptxi_row_lanes(const struct ptxi_lane_row *r)
{
    return r->form == PTXI_ROW_FORM ? r->in_row : 0;
}

/* 0 if all lanes are in the row. */
static inline uint64_t ptxi_row_missing(const struct ptxi_lane_row *r)
{
#if PTXI_LANES == 32
    return r->tag ^ ptxi_row_tag(PTXI_ALL_LANES).tag;
#else
    return (r->form ^ PTXI_ROW_FORM) | ~r->in_row;
#endif
}

static inline void ptxi_set_row_lanes(struct ptxi_lane_row *r, ptxi_lanes lanes)
{
#if PTXI_LANES == 32
    r->tag = ptxi_row_tag(lanes).tag;
#else
    r->form = lanes ? PTXI_ROW_FORM : 0;
    r->in_row = lanes;
#endif
}

/* Whether all these lanes are in a row. */
static inline bool ptxi_row_has(const struct ptxi_lane_row *r, ptxi_lanes lanes)
{
    return !(lanes & ~ptxi_row_lanes(r));
}

/* 0 if all lanes are active, or-ed with what ptxi_row_missing() says about operands to find the common case. */
static inline uint64_t ptxi_inactive(const struct ptxi_warp *w)
{
    return (ptxi_lanes)~w->active;
}

/* The values of all lanes of a register of n bits. If some are in a row, they are written to `buffer`, which is aligned
 * like a register. */
#define ROW_LANES(name, n, type)                                                         \
    static inline const uint##n##_t *name(const type *a, uint##n##_t buffer[PTXI_LANES]) \
    {                                                                                    \
        const uint##n##_t first = (uint##n##_t)a->row.first;                             \
        const uint##n##_t stride = (uint##n##_t)a->row.stride;                           \
        const ptxi_lanes in_row = ptxi_row_lanes(&a->row);                               \
                                                                                         \
        if (!in_row)                                                                     \
            return a->lanes;                                                             \
        FOR_LANES buffer[l] = first + stride * (uint##n##_t)l;                           \
        if (in_row != PTXI_ALL_LANES)                                                    \
            ptxi_masked_write_##n(buffer, a->lanes, ~in_row);                            \
        return buffer;                                                                   \
    }
ROW_LANES(ptxi_address_lanes, 64, struct ptxi_address)
ROW_LANES(ptxi_index_lanes, 32, struct ptxi_index)
#undef ROW_LANES

/* The active lanes become a row. Other lanes of the old row keep their values. The common case, that all lanes are
 * active, is apart. */
#define SET_ROW(name, n, type, signed_type)                                                            \
    static inline void name##_of_all(type *d, uint##n##_t first, uint##n##_t stride)                   \
    {                                                                                                  \
        ptxi_set_row_lanes(&d->row, PTXI_ALL_LANES);                                                   \
        d->row.first = first;                                                                          \
        d->row.stride = (signed_type)stride;                                                           \
    }                                                                                                  \
    static inline void name(const struct ptxi_warp *w, type *d, uint##n##_t first, uint##n##_t stride) \
    {                                                                                                  \
        const ptxi_lanes lost = ptxi_row_lanes(&d->row) & ~w->active;                                  \
        LANE_ARRAY(uint##n##_t, row);                                                                  \
                                                                                                       \
        if (lost) {                                                                                    \
            FOR_LANES                                                                                  \
            row[l] = (uint##n##_t)(d->row.first + (uint64_t)d->row.stride * (uint64_t)l);              \
            ptxi_masked_write_##n(d->lanes, row, lost);                                                \
        }                                                                                              \
        name##_of_all(d, first, stride);                                                               \
        ptxi_set_row_lanes(&d->row, w->active);                                                        \
    }
SET_ROW(ptxi_set_address_row, 64, struct ptxi_address, int64_t)
SET_ROW(ptxi_set_index_row, 32, struct ptxi_index, int32_t)
#undef SET_ROW

/* The active lanes get values that are not in a row. */
static inline void ptxi_set_address_lanes(const struct ptxi_warp *w, struct ptxi_address *d, const uint64_t *lanes)
{
    write_buffer(d->lanes, lanes, w->active, sizeof *lanes);
    ptxi_set_row_lanes(&d->row, ptxi_row_lanes(&d->row) & ~w->active);
}

static inline void ptxi_set_index_lanes(const struct ptxi_warp *w, struct ptxi_index *d, const uint32_t *lanes)
{
    write_buffer(d->lanes, lanes, w->active, sizeof *lanes);
    ptxi_set_row_lanes(&d->row, ptxi_row_lanes(&d->row) & ~w->active);
}

/* The values of a row of 32-bit integers, extended to 64 bits: those of the first and the last lane. */
struct ptxi_row_range {
    int64_t first, last;
    bool whole; /* the row does not wrap: lane l has first + l * stride as an extended integer, too */
};

static inline struct ptxi_row_range ptxi_row_range_s32(const struct ptxi_index *a)
{
    const int64_t first = (int32_t)a->row.first, last = first + (PTXI_LANES - 1) * (int64_t)(int32_t)a->row.stride;

    return (struct ptxi_row_range){ first, last, last == (int32_t)last };
}

static inline struct ptxi_row_range ptxi_row_range_u32(const struct ptxi_index *a)
{
    const int64_t first = (uint32_t)a->row.first, last = first + (PTXI_LANES - 1) * (int64_t)(int32_t)a->row.stride;

    return (struct ptxi_row_range){ first, last, last == (uint32_t)last };
}

#endif
