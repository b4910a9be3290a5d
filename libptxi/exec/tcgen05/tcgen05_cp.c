/* tcgen05.cp and tcgen05.shift. PTX ISA, "Tensor Memory Data Movement Instructions". */
#include "exec/engine/handler.h"
#include "exec/matrix/operand_check.h"
#include "exec/tcgen05/tcgen05_descriptor.h"
#include "exec/tcgen05/tmem.h"
#include "exec/tcgen05/tmem_check.h"
#include "exec/tcgen05/tmem_queue.h"

/* --- cp --- */

/* How a shape is copied: row r goes to lane r % size + r / size * step from the first lane on, and to copies of this
 * lane. */
struct copy_shape {
    uint8_t rows;
    uint8_t bytes;    /* of a row */
    uint8_t size, step;
    uint8_t copies;
    uint8_t distance; /* lanes between copies */
};

static const struct copy_shape shapes[] = {
    [PTXI_TMEM_128X256B] = { 128, 32, 128, 0, 1, 0 },
    [PTXI_TMEM_4X256B] = { 4, 32, 1, 32, 1, 0 },
    [PTXI_TMEM_128X128B] = { 128, 16, 128, 0, 1, 0 },
    [PTXI_TMEM_64X128B_02_13] = { 64, 16, 64, 0, 2, 64 },
    [PTXI_TMEM_64X128B_01_23] = { 64, 16, 32, 64, 2, 32 },
    [PTXI_TMEM_32X128B] = { 32, 16, 32, 0, 4, 32 },
};

static inline uint32_t lane_of_row(const struct copy_shape *x, unsigned row)
{
    return row % x->size + row / x->size * x->step;
}

/* Checks a copy to the tensor memory of one CTA, and performs it if `writes`. False: a fault. */
static bool copy_to_cta(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_cta *c, uint32_t address,
                        uint64_t descriptor, bool writes)
{
    const struct copy_shape *x = &shapes[i->imm & PTXI_TMEM_COPY_SHAPE];
    struct shared_matrix m = tcgen05_decode_descriptor(c, descriptor, false, (unsigned)i->imm >> PTXI_TMEM_COPY_PACKED);
    unsigned char row[PTXI_TMEM_LANES][KVEC_BYTES];
    uint32_t lane = ptxi_tmem_lane(address), column = ptxi_tmem_column(address);
    struct ptxi_tmem *t = ptxi_tmem_get(w, i, c);

    assert((i->imm & PTXI_TMEM_COPY_SHAPE) < (int)(sizeof shapes / sizeof *shapes));
    if (!t || !ptxi_tmem_check(w, i, t, column, x->bytes / 4u) ||
        !shared_matrix_read(w, i, &m, 0, x->rows, x->bytes, 1, row))
        return false;
    if (lane + lane_of_row(x, x->rows - 1u) + (x->copies - 1u) * x->distance >= PTXI_TMEM_LANES) {
        ptxi_tmem_misuse(w, i, "the copy exceeds the lanes of tensor memory");
        return false;
    }
    for (unsigned r = 0; r < x->rows && writes; r++)
        for (unsigned k = 0; k < x->copies; k++)
            for (unsigned b = 0; b < x->bytes; b += 4)
                memcpy(&t->cell[column + b / 4][lane + lane_of_row(x, r) + k * x->distance], row[r] + b, 4);
    return true;
}

/* The values of a job: address, descriptor. */
static bool copy_to_ctas(struct ptxi_warp *w, const struct ptxi_insn *i, const uint64_t *value, bool writes)
{
    struct ptxi_cta *ctas[2];
    unsigned n = ptxi_tmem_find_ctas(w, i, i->mods & PTXI_TCGEN05_PAIR, ctas);

    for (unsigned k = 0; k < n; k++)
        if (!copy_to_cta(w, i, ctas[k], (uint32_t)value[0], value[1], writes))
            return false;
    return n;
}

/* Tells the race checker which columns of tensor memory an operation writes. */
static void note_columns(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, struct ptxi_tmem *t,
                         uint32_t first, uint32_t count, unsigned quarters)
{
    ptxi_tmem_touch(&(struct ptxi_tmem_touch){ .w = w, .i = i, .lane = lane, .t = t, .quarters = quarters,
                                               .first = first, .count = count, .write = true, .async = true });
}

/* Tells the race checker what the copy reads and writes. */
static void note_copy(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, const uint64_t *value)
{
    const struct copy_shape *x = &shapes[i->imm & PTXI_TMEM_COPY_SHAPE];
    struct ptxi_cta *ctas[2];
    unsigned n = ptxi_tmem_find_ctas(w, i, i->mods & PTXI_TCGEN05_PAIR, ctas);

    for (unsigned k = 0; k < n; k++) {
        struct shared_matrix m = tcgen05_decode_descriptor(ctas[k], value[1], false, 0);

        operand_check_matrix(&(struct ptxi_operand_touch){ w, i, lane, ctas[k] }, &m, 0, x->rows, x->bytes, 1);
        note_columns(w, i, lane, ctas[k]->tmem, ptxi_tmem_column((uint32_t)value[0]), x->bytes / 4u,
                     PTXI_TMEM_ALL_QUARTERS);
    }
}

static void perform_copy(struct ptxi_tmem_job *j)
{
    copy_to_ctas(j->warp, j->insn, j->value, true);
}

OP( tcgen05_cp )
{
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        const uint64_t value[2] = { ((const uint32_t *)PTXI_SLOT(w, i->a))[l],
                                    ((const uint64_t *)PTXI_SLOT(w, i->b))[l] };
        struct ptxi_tmem_job *j;

        if (!copy_to_ctas(w, i, value, false))
            return w->stop;
        if (w->cta->check)
            note_copy(w, i, l, value);
        if (!(j = ptxi_tmem_submit(w, i, l, PTXI_TMEM_JOB_MEMORY)))
            return w->stop;
        j->perform = perform_copy;
        memcpy(j->value, value, sizeof value);
    }
    NEXT;
}

/* --- shift --- */

enum { SHIFT_COLUMNS = 8 /* 32 bytes */ };

/* PTX ISA, "tcgen05.shift": each of a warp's 32 rows except the last becomes the row below it. */
static void shift(struct ptxi_tmem *t, uint32_t lane, uint32_t column)
{
    for (uint32_t k = column; k < column + SHIFT_COLUMNS; k++)
        memmove(&t->cell[k][lane], &t->cell[k][lane + 1], 31 * sizeof t->cell[k][lane]);
}

/* The value of a job: address. */
static void perform_shift(struct ptxi_tmem_job *j)
{
    uint32_t address = (uint32_t)j->value[0];
    struct ptxi_cta *ctas[2];
    unsigned n = ptxi_tmem_find_ctas(j->warp, j->insn, j->insn->mods & PTXI_TCGEN05_PAIR, ctas);

    for (unsigned k = 0; k < n; k++)
        shift(ctas[k]->tmem, ptxi_tmem_lane(address), ptxi_tmem_column(address));
}

OP( tcgen05_shift )
{
    struct ptxi_cta *ctas[2];
    unsigned n = ptxi_tmem_find_ctas(w, i, i->mods & PTXI_TCGEN05_PAIR, ctas);

    for (ptxi_lanes left = w->active; left && n; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint32_t address = ((const uint32_t *)PTXI_SLOT(w, i->a))[l], lane = ptxi_tmem_lane(address);
        struct ptxi_tmem_job *j;

        if (lane % 32 || lane >= PTXI_TMEM_LANES)
            return ptxi_tmem_misuse(w, i, "the lane of the address is not a multiple of 32 below 128");
        for (unsigned k = 0; k < n; k++) {
            struct ptxi_tmem *t = ptxi_tmem_get(w, i, ctas[k]);

            if (!t || !ptxi_tmem_check(w, i, t, ptxi_tmem_column(address), SHIFT_COLUMNS))
                return w->stop;
            if (w->cta->check)
                note_columns(w, i, l, t, ptxi_tmem_column(address), SHIFT_COLUMNS, 1u << lane / 32);
        }
        if (!(j = ptxi_tmem_submit(w, i, l, PTXI_TMEM_JOB_MEMORY)))
            return w->stop;
        j->perform = perform_shift;
        j->value[0] = address;
    }
    return n ? i + 1 : w->stop;
}
