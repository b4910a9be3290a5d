/* Tells the race checker which bytes of shared memory asynchronous matrix instructions read. */
#ifndef PTXI_EXEC_MATRIX_OPERAND_CHECK_H
#define PTXI_EXEC_MATRIX_OPERAND_CHECK_H

#include "exec/check/race.h"
#include "exec/matrix/shared_matrix.h"

/* Bytes of an operand that are next to each other. */
struct operand_stretch {
    uint32_t first, end;
};

static inline void operand_check_stretch(const struct ptxi_operand_touch *r, const struct operand_stretch *s)
{
    if (s->end > s->first)
        ptxi_race_touch_operand(r, s->first, s->end - s->first);
}

static inline void operand_check_unit(const struct ptxi_operand_touch *r, struct operand_stretch *s, uint32_t at)
{
    if (at == s->end) {
        s->end += UNIT_BYTES;
    } else if (at + UNIT_BYTES == s->first) {
        s->first = at;
    } else {
        operand_check_stretch(r, s);
        *s = (struct operand_stretch){ at, at + UNIT_BYTES };
    }
}

/* The same K vectors as those of shared_matrix_read(). Units without swizzling are next to those of other rows. */
static inline void operand_check_matrix(const struct ptxi_operand_touch *r, const struct shared_matrix *m,
                                        unsigned from, unsigned count, unsigned bytes, unsigned size)
{
    const unsigned per_unit = UNIT_BYTES / size;
    unsigned rows = count, units = bytes / UNIT_BYTES, row = from, unit = 0;
    struct operand_stretch s = { 0, 0 };

    if (m->mn_major) {
        rows = bytes / size;
        units = count / per_unit;
        row = 0;
        unit = from / per_unit;
    }
    for (unsigned k = 0; k < rows * units && m->swizzle_bytes == UNIT_BYTES; k++)
        operand_check_unit(r, &s, shared_matrix_offset(m, row + k % rows, unit + k / rows));
    for (unsigned k = 0; k < rows * units && m->swizzle_bytes != UNIT_BYTES; k++)
        operand_check_unit(r, &s, shared_matrix_offset(m, row + k / units, unit + k % units));
    operand_check_stretch(r, &s);
}

#endif
