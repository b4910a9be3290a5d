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

#include "exec/engine/handler.h"

/* The value of `form` if there is a row. A slot that was filled with one byte has another value. */
enum { PTXI_ROW_FORM = 0x526f7721 };

struct ptxi_lane_row {
    uint32_t form;
    ptxi_lanes in_row; /* lanes whose values are in the row */
    int64_t stride;    /* of an index register: extended from 32 bits */
    uint64_t first;    /* the value that lane 0 has if it is in the row; of an index register: 32 bits */
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

/* Whether all these lanes are in a row. */
static inline bool ptxi_row_has(const struct ptxi_lane_row *r, ptxi_lanes lanes)
{
    return r->form == PTXI_ROW_FORM && !(lanes & ~r->in_row);
}

/* Whether none of these lanes is in a row. */
static inline bool ptxi_row_has_none(const struct ptxi_lane_row *r, ptxi_lanes lanes)
{
    return r->form != PTXI_ROW_FORM || !(lanes & r->in_row);
}

/* The active lanes become a row. The other ones are not in it. */
static inline void ptxi_set_row(const struct ptxi_warp *w, struct ptxi_lane_row *r, uint64_t first, int64_t stride)
{
    r->form = PTXI_ROW_FORM;
    r->in_row = w->active;
    r->first = first;
    r->stride = stride;
}

/* The active lanes are not in a row. Their values are in the lanes of the register. */
static inline void ptxi_set_no_row(const struct ptxi_warp *w, struct ptxi_lane_row *r)
{
    if (w->active == PTXI_ALL_LANES)
        r->form = 0;
    else if (r->form == PTXI_ROW_FORM && !(r->in_row &= ~w->active))
        r->form = 0;
}

/* Lanes of the row that are not active, and that the next row would lose. */
static inline ptxi_lanes ptxi_row_lost_lanes(const struct ptxi_warp *w, const struct ptxi_lane_row *r)
{
    return r->form == PTXI_ROW_FORM ? r->in_row & ~w->active : 0;
}

/* The values of all lanes of a register of n bits. If there is a row, they are written to `buffer`, which is aligned
 * like a register. */
#define ROW_LANES(name, n, type)                                                                                 \
    static inline const uint##n##_t *name(const type *a, uint##n##_t buffer[PTXI_LANES])                         \
    {                                                                                                            \
        const uint##n##_t first = (uint##n##_t)a->row.first, stride = (uint##n##_t)a->row.stride;                \
                                                                                                                 \
        if (a->row.form != PTXI_ROW_FORM)                                                                        \
            return a->lanes;                                                                                     \
        FOR_LANES buffer[l] = first + stride * (uint##n##_t)l;                                                   \
        if (a->row.in_row != PTXI_ALL_LANES)                                                                     \
            ptxi_masked_write_##n(buffer, a->lanes, ~a->row.in_row);                                             \
        return buffer;                                                                                           \
    }
ROW_LANES(ptxi_address_lanes, 64, struct ptxi_address)
ROW_LANES(ptxi_index_lanes, 32, struct ptxi_index)
#undef ROW_LANES

/* The values of a row of 32-bit integers, extended to 64 bits. */
struct ptxi_row_range {
    int64_t lo, hi;
    bool whole; /* the row does not wrap: lane l has `first` + l * stride as an extended integer, too */
};

static inline struct ptxi_row_range ptxi_row_range(int64_t first, int64_t stride, int64_t least, int64_t most)
{
    const int64_t last = (int64_t)((uint64_t)first + (PTXI_LANES - 1) * (uint64_t)stride);

    return (struct ptxi_row_range){ first < last ? first : last, first < last ? last : first,
                                    last >= least && last <= most };
}

static inline struct ptxi_row_range ptxi_row_range_s32(const struct ptxi_lane_row *r)
{
    return ptxi_row_range((int32_t)r->first, r->stride, INT32_MIN, INT32_MAX);
}

static inline struct ptxi_row_range ptxi_row_range_u32(const struct ptxi_lane_row *r)
{
    return ptxi_row_range((uint32_t)r->first, r->stride, 0, UINT32_MAX);
}

#endif
