/* tcgen05 without the products: PTX ISA, "Tensor Memory Allocation and Management Instructions", "Tensor Memory and Register Load/Store
 * Instructions", "Tensor Memory Data Movement Instructions". */
#include <math.h>

#include "exec/engine/rng.h"
#include "exec/engine/handler.h"
#include "exec/tcgen05/tcgen05.h"

OP( tcgen05_alloc ) { return ptxi_tmem_alloc(w, i); }
OP( tcgen05_dealloc ) { return ptxi_tmem_dealloc(w, i); }
OP( tcgen05_relinquish ) { return ptxi_tmem_relinquish(w, i); }
OP( tcgen05_commit ) { return ptxi_tmem_commit(w, i); }
OP( tcgen05_shift ) { return ptxi_tmem_shift(w, i); }

static inline const struct ptxi_insn *wait_for(struct ptxi_warp *w, const struct ptxi_insn *i, enum ptxi_tmem_job_kind kind)
{
    if (w->active != w->live && ptxi_absent(w))
        return ptxi_leave_aligned(w, i);
    if (w->cta->lead->tmem_jobs)
        ptxi_tmem_wait(w, kind);
    NEXT;
}

OP( tcgen05_wait_ld ) { return wait_for(w, i, PTXI_TMEM_JOB_LOAD); }
OP( tcgen05_wait_st ) { return wait_for(w, i, PTXI_TMEM_JOB_STORE); }

/* --- registers --- */

/* An access of one warp of 32. */
struct move {
    const struct ptxi_tmem_move *x;
    struct ptxi_tmem *t;
    uint32_t row, column;
    int32_t split; /* to the columns of lanes 16 to 31 */
};

static bool begin_move(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned first, struct move *m)
{
    const struct ptxi_tmem_move *x = (const struct ptxi_tmem_move *)(w->frame->code->pool + i->imm);
    uint32_t address = ((const uint32_t *)PTXI_SLOT(w, i->a))[ptxi_first_lane(w->active & ptxi_warp32_lanes(first / 32))];
    uint32_t rank = (w->first_thread + first) / 32 % 4, rows = x->shape == PTXI_TMEM_32X32B ? 32 : 16;
    uint32_t columns = x->count * (x->packed ? 2u : 1u) * (x->shape == PTXI_TMEM_32X32B || x->shape == PTXI_TMEM_16X32BX2 ? 1 : 2);

    *m = (struct move){ .x = x, .t = ptxi_tmem_of(w, i, w->cta), .row = ptxi_tmem_lane(address), .column = ptxi_tmem_column(address) };
    if (x->shape == PTXI_TMEM_16X32BX2)
        m->split = (int32_t)(x->split[0] | (uint32_t)x->split[1] << 16);
    if (!m->t)
        return false;
    if (m->row / 32 != rank || m->row % 32 % rows) {
        ptxi_tmem_misuse(w, i, "a warp may access only its quarter of the lanes of tensor memory, from the first or the middle one on");
        return false;
    }
    return ptxi_tmem_check(w, i, m->t, m->column, columns) && ptxi_tmem_check(w, i, m->t, m->column + (uint32_t)m->split, columns);
}

static inline uint32_t *cell_at(const struct move *m, unsigned lane, unsigned r)
{
    struct ptxi_element c = ptxi_fragment_tmem((enum ptxi_tmem_shape)m->x->shape, lane, r);

    return &m->t->cell[m->column + c.column * (m->x->packed ? 2 : 1) + (lane >= 16 ? (uint32_t)m->split : 0)][m->row + c.row];
}

static void load(const struct ptxi_warp *w, const struct move *m, unsigned first)
{
    for (unsigned r = 0; r < m->x->count; r++) {
        uint32_t *to;

        if (m->x->slots[r] == PTXI_NO_SLOT)
            continue;
        to = (uint32_t *)PTXI_SLOT(w, m->x->slots[r]) + first;
        if (m->x->shape == PTXI_TMEM_32X32B && !m->x->packed) {
            memcpy(to, cell_at(m, 0, r), 32 * sizeof *to);
            continue;
        }
        for (unsigned l = 0; l < 32; l++) {
            const uint32_t *at = cell_at(m, l, r);

            to[l] = m->x->packed ? (at[0] & 0xffff) | at[PTXI_TMEM_LANES] << 16 : *at;
        }
    }
}

/* 32 words of each register */
static void store(const struct move *m, const uint32_t *from)
{
    for (unsigned r = 0; r < m->x->count; r++, from += 32) {
        if (m->x->shape == PTXI_TMEM_32X32B && !m->x->packed) {
            memcpy(cell_at(m, 0, r), from, 32 * sizeof *from);
            continue;
        }
        for (unsigned l = 0; l < 32; l++) {
            uint32_t *at = cell_at(m, l, r);

            *at = m->x->packed ? from[l] & 0xffff : from[l];
            if (m->x->packed)
                at[PTXI_TMEM_LANES] = from[l] >> 16;
        }
    }
}

/* The values of a job are a move's row, column and split. */
static void store_later(struct ptxi_tmem_job *j)
{
    struct move m = { .x = j->form, .t = j->warp->cta->tmem, .row = (uint32_t)j->value[0], .column = (uint32_t)j->value[1], .split = (int32_t)j->value[2] };

    store(&m, j->stored);
}

static bool submit_store(struct ptxi_warp *w, const struct ptxi_insn *i, const struct move *m, unsigned first)
{
    struct ptxi_tmem_job *j = ptxi_tmem_submit(w, i, ptxi_first_lane(w->active & ptxi_warp32_lanes(first / 32)), PTXI_TMEM_JOB_STORE);

    if (!j)
        return false;
    j->perform = store_later;
    j->form = m->x;
    j->value[0] = m->row;
    j->value[1] = m->column;
    j->value[2] = (uint32_t)m->split;
    for (unsigned r = 0; r < m->x->count; r++)
        memcpy(j->stored + 32 * r, (const uint32_t *)PTXI_SLOT(w, m->x->slots[r]) + first, 32 * sizeof *j->stored);
    return true;
}

/* --- loads where chance rules: until the wait, or any time before, registers hold what nobody can use --- */

static uint32_t noise(const struct ptxi_tmem_job *j, unsigned n)
{
    return (uint32_t)ptxi_mixed(j->value[0] + n);
}

static uint32_t *register_of(const struct ptxi_tmem_job *j, unsigned r)
{
    const struct ptxi_tmem_move *x = j->form;

    return x->slots[r] == PTXI_NO_SLOT ? NULL : (uint32_t *)PTXI_SLOT(j, x->slots[r]) + j->value[1];
}

static unsigned loaded(const struct ptxi_tmem_move *x)
{
    return x->count + !!x->reduce;
}

/* A register that nothing reads any more may have become another's place. */
static void show(struct ptxi_tmem_job *j)
{
    for (unsigned r = 0; r < loaded(j->form); r++)
        for (unsigned l = 0, *to = register_of(j, r); to && l < 32; l++)
            if (to[l] == noise(j, 32 * r + l))
                to[l] = j->stored[32 * r + l];
}

static bool hide(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_tmem_move *x, unsigned first)
{
    struct ptxi_tmem_job *j = ptxi_tmem_submit(w, i, ptxi_first_lane(w->active & ptxi_warp32_lanes(first / 32)), PTXI_TMEM_JOB_LOAD);

    if (!j)
        return false;
    j->perform = show;
    j->form = x;
    j->regs = w->regs;
    j->value[0] = ptxi_mixed(w->cta->lead->dice += 1);
    j->value[1] = first;
    for (unsigned r = 0; r < loaded(x); r++)
        for (unsigned l = 0, *to = register_of(j, r); to && l < 32; l++) {
            j->stored[32 * r + l] = to[l];
            to[l] = noise(j, 32 * r + l);
        }
    return true;
}

/* --- tcgen05.ld.red --- */

static uint32_t reduce_float(unsigned how, uint32_t x, uint32_t y)
{
    float a = ptxi_num_f32(x), b = ptxi_num_f32(y);

    if (isnan(a) || isnan(b))
        return how & PTXI_TMEM_NAN || (isnan(a) && isnan(b)) ? PTXI_NAN_F32 : isnan(a) ? y : x;
    if (a == b)
        return how & PTXI_TMEM_MAX ? x & y : x | y; /* zeros: -0 is less */
    return (a < b) == !(how & PTXI_TMEM_MAX) ? x : y;
}

static uint32_t reduce_two(unsigned how, uint32_t x, uint32_t y)
{
    bool less = how & PTXI_TMEM_SIGNED ? (int32_t)x < (int32_t)y : x < y;

    if (how & PTXI_TMEM_F32)
        return reduce_float(how, x, y);
    return less == !(how & PTXI_TMEM_MAX) ? x : y;
}

static void reduce(const struct ptxi_warp *w, const struct move *m, unsigned first)
{
    uint32_t *to = (uint32_t *)PTXI_SLOT(w, m->x->slots[m->x->count]) + first, sign = m->x->reduce & PTXI_TMEM_ABS ? 0x7fffffff : UINT32_MAX;

    for (unsigned l = 0; l < 32; l++) {
        uint32_t v = *cell_at(m, l, 0) & sign;

        for (unsigned r = 1; r < m->x->count; r++)
            v = reduce_two(m->x->reduce, v, *cell_at(m, l, r) & sign);
        to[l] = v;
    }
}

static inline __attribute__((always_inline)) const struct ptxi_insn *move(struct ptxi_warp *w, const struct ptxi_insn *i, bool loads)
{
    struct move m;

    if (w->active != w->live && ptxi_absent(w))
        return ptxi_leave_aligned(w, i);
    for (unsigned first = 0; first < PTXI_LANES; first += 32) {
        if (!(w->active & ptxi_warp32_lanes(first / 32)))
            continue;
        if (!begin_move(w, i, first, &m))
            return w->stop;
        if (loads)
            load(w, &m, first);
        else if (!submit_store(w, i, &m, first))
            return w->stop;
        if (m.x->reduce && m.x->slots[m.x->count] != PTXI_NO_SLOT)
            reduce(w, &m, first);
        if (loads && w->cta->grid->schedule && !hide(w, i, m.x, first))
            return w->stop;
    }
    NEXT;
}

OP( tcgen05_ld ) { return move(w, i, true); }
OP( tcgen05_st ) { return move(w, i, false); }

/* --- tcgen05.cp --- */

/* Row r of the source goes to the lanes first + r % size + r / size * step, and `copies` times to those `apart`. */
struct rows {
    uint8_t rows, bytes, size, step, copies, apart;
};

static const struct rows copies[] = {
    [PTXI_TMEM_128X256B] = { 128, 32, 128, 0, 1, 0 },    [PTXI_TMEM_4X256B] = { 4, 32, 1, 32, 1, 0 },
    [PTXI_TMEM_128X128B] = { 128, 16, 128, 0, 1, 0 },    [PTXI_TMEM_64X128B_02_13] = { 64, 16, 64, 0, 2, 64 },
    [PTXI_TMEM_64X128B_01_23] = { 64, 16, 32, 64, 2, 32 }, [PTXI_TMEM_32X128B] = { 32, 16, 32, 0, 4, 32 },
};

/* What it needs, and with `writes` what it does. */
static bool copy(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_cta *c, uint32_t address, uint64_t descriptor, bool writes)
{
    const struct rows *x = &copies[i->imm & PTXI_TMEM_COPY_SHAPE];
    struct shared_matrix m = tcgen05_matrix(c, descriptor, false, (unsigned)i->imm >> PTXI_TMEM_COPY_PACKED);
    unsigned char line[PTXI_TMEM_LANES][LINE];
    uint32_t row = ptxi_tmem_lane(address), column = ptxi_tmem_column(address), last = (x->rows - 1u) % x->size + (x->rows - 1u) / x->size * x->step;
    struct ptxi_tmem *t = ptxi_tmem_of(w, i, c);

    if (!t || !ptxi_tmem_check(w, i, t, column, x->bytes / 4u) || !read_lines(w, i, &m, 0, x->rows, x->bytes, 1, line))
        return false;
    if (row + last + (x->copies - 1u) * x->apart >= PTXI_TMEM_LANES) {
        ptxi_tmem_misuse(w, i, "there are not so many lanes of tensor memory");
        return false;
    }
    for (unsigned r = 0; r < x->rows && writes; r++)
        for (unsigned k = 0; k < x->copies; k++)
            for (unsigned b = 0; b < x->bytes; b += 4)
                memcpy(&t->cell[column + b / 4][row + r % x->size + r / x->size * x->step + k * x->apart], line[r] + b, 4);
    return true;
}

static bool copy_all(struct ptxi_warp *w, const struct ptxi_insn *i, const uint64_t *value, bool writes)
{
    struct ptxi_cta *ctas[2];
    unsigned n = ptxi_tmem_ctas(w, i, i->mods & PTXI_TCGEN05_PAIR, ctas);

    for (unsigned k = 0; k < n; k++)
        if (!copy(w, i, ctas[k], (uint32_t)value[0], value[1], writes))
            return false;
    return n;
}

static void copy_later(struct ptxi_tmem_job *j)
{
    copy_all(j->warp, j->insn, j->value, true);
}

OP( tcgen05_cp )
{
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        const uint64_t value[2] = { ((const uint32_t *)PTXI_SLOT(w, i->a))[l], ((const uint64_t *)PTXI_SLOT(w, i->b))[l] };
        struct ptxi_tmem_job *j;

        if (!copy_all(w, i, value, false) || !(j = ptxi_tmem_submit(w, i, l, PTXI_TMEM_JOB_MEMORY)))
            return w->stop;
        j->perform = copy_later;
        memcpy(j->value, value, sizeof value);
    }
    NEXT;
}
