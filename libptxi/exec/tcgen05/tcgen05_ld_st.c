/* tcgen05.ld, tcgen05.ld.red, tcgen05.st. PTX ISA, "Tensor Memory and Register Load/Store Instructions". */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "exec/engine/handler.h"
#include "exec/engine/rng.h"
#include "exec/tcgen05/tmem.h"
#include "exec/tcgen05/tmem_check.h"
#include "exec/tcgen05/tmem_queue.h"
#include "isa/fragment.h"
#include "num/float.h"
#include "num/sparse.h"

/* An access of one warp of 32. */
struct access {
    const struct ptxi_tmem_move *x;
    struct ptxi_tmem *t;
    uint32_t lane, column;
    int32_t split; /* .16x32bx2: distance in columns to what lanes 16 to 31 access */
};

/* Number of columns that an access covers. */
static uint32_t column_count(const struct ptxi_tmem_move *x)
{
    bool one_per_register = x->shape == PTXI_TMEM_32X32B || x->shape == PTXI_TMEM_16X32BX2;

    if (x->meta)
        return 2u * (x->count - x->meta);
    uint32_t columns = one_per_register ? x->count : 2u * x->count;

    return x->packed ? 2 * columns : columns;
}

/* Decodes and checks the access of the warp of 32 at lane `first`. False: a fault. */
static bool find_access(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned first, struct access *m)
{
    const struct ptxi_tmem_move *x = (const struct ptxi_tmem_move *)(w->frame->code->pool + i->imm);
    unsigned first_active = ptxi_first_lane(w->active & ptxi_warp32_lanes(first / 32));
    uint32_t address = ((const uint32_t *)PTXI_SLOT(w, i->a))[first_active], columns = column_count(x);
    uint32_t rank = (w->first_thread + first) / 32 % 4, lanes = x->shape == PTXI_TMEM_32X32B ? 32 : 16;

    *m = (struct access){ .x = x,
                          .t = ptxi_tmem_get(w, i, w->cta),
                          .lane = ptxi_tmem_lane(address),
                          .column = ptxi_tmem_column(address) };
    if (x->shape == PTXI_TMEM_16X32BX2)
        m->split = (int32_t)(x->split[0] | (uint32_t)x->split[1] << 16);
    if (!m->t)
        return false;
    if (m->lane / 32 != rank || m->lane % 32 % lanes) {
        ptxi_tmem_misuse(w, i, "the lane must be the first or the middle one of the warp's quarter of tensor memory");
        return false;
    }
    return ptxi_tmem_check(w, i, m->t, m->column, columns) &&
           ptxi_tmem_check(w, i, m->t, m->column + (uint32_t)m->split, columns);
}

/* The cell of register r of a lane. */
static inline uint32_t *find_cell(const struct access *m, unsigned lane, unsigned r)
{
    struct ptxi_element c = ptxi_fragment_tmem((enum ptxi_tmem_shape)m->x->shape, lane, r);
    uint32_t column = m->column + (m->x->packed ? 2 * c.column : c.column);

    if (lane >= 16)
        column += (uint32_t)m->split;
    assert(column < PTXI_TMEM_COLUMNS && m->lane + c.row < PTXI_TMEM_LANES);
    return &m->t->cell[column][m->lane + c.row];
}

static void load(const struct ptxi_warp *w, const struct access *m, unsigned first)
{
    for (unsigned r = 0; r < m->x->count; r++) {
        uint32_t *to;

        if (m->x->slots[r] == PTXI_NO_SLOT)
            continue;
        to = (uint32_t *)PTXI_SLOT(w, m->x->slots[r]) + first;
        if (m->x->shape == PTXI_TMEM_32X32B && !m->x->packed) {
            memcpy(to, find_cell(m, 0, r), 32 * sizeof *to);
            continue;
        }
        for (unsigned l = 0; l < 32; l++) {
            const uint32_t *cell = find_cell(m, l, r);

            to[l] = m->x->packed ? (cell[0] & 0xffff) | cell[PTXI_TMEM_LANES] << 16 : *cell;
        }
    }
}

/* .spcompress: of each four columns, the registers get two, and their indices. */
static void load_compressed(const struct ptxi_warp *w, const struct access *m, unsigned first)
{
    unsigned columns = column_count(m->x);
    unsigned how = (m->x->reduce & PTXI_TMEM_MAX ? 0 : PTXI_SPARSE_MIN) |
                   (m->x->reduce & PTXI_TMEM_ABS ? PTXI_SPARSE_ABS : 0);

    for (unsigned l = 0; l < 32; l++) {
        uint32_t data[128], result[4 + 64] = { 0 };

        assert(columns <= 128 && m->x->meta <= 4);
        for (unsigned c = 0; c < columns; c++)
            data[c] = *find_cell(m, l, c);
        ptxi_num_sparse_compress(ptxi_num_sparse_f32, how, data, columns / 4, 32, 2, result, result + m->x->meta);
        for (unsigned r = 0; r < m->x->count; r++)
            if (m->x->slots[r] != PTXI_NO_SLOT)
                ((uint32_t *)PTXI_SLOT(w, m->x->slots[r]))[first + l] = result[r];
    }
}

/* Stores registers from `from`, 32 words each. */
static void store(const struct access *m, const uint32_t *from)
{
    for (unsigned r = 0; r < m->x->count; r++, from += 32) {
        if (m->x->shape == PTXI_TMEM_32X32B && !m->x->packed) {
            memcpy(find_cell(m, 0, r), from, 32 * sizeof *from);
            continue;
        }
        for (unsigned l = 0; l < 32; l++) {
            uint32_t *cell = find_cell(m, l, r);

            *cell = m->x->packed ? from[l] & 0xffff : from[l];
            if (m->x->packed)
                cell[PTXI_TMEM_LANES] = from[l] >> 16;
        }
    }
}

/* --- stores as jobs; the values of a job: lane, column and split of the access --- */

static void perform_store(struct ptxi_tmem_job *j)
{
    struct access m = { .x = j->form,
                        .t = j->warp->cta->tmem,
                        .lane = (uint32_t)j->value[0],
                        .column = (uint32_t)j->value[1],
                        .split = (int32_t)j->value[2] };

    store(&m, j->stored);
}

static bool submit_store(struct ptxi_warp *w, const struct ptxi_insn *i, const struct access *m, unsigned first)
{
    unsigned lane = ptxi_first_lane(w->active & ptxi_warp32_lanes(first / 32));
    struct ptxi_tmem_job *j = ptxi_tmem_submit(w, i, lane, PTXI_TMEM_JOB_STORE);

    if (!j)
        return false;
    assert(m->x->count * 32u <= PTXI_TMEM_STORED);
    j->perform = perform_store;
    j->form = m->x;
    j->value[0] = m->lane;
    j->value[1] = m->column;
    j->value[2] = (uint32_t)m->split;
    for (unsigned r = 0; r < m->x->count; r++)
        memcpy(j->stored + 32 * r, (const uint32_t *)PTXI_SLOT(w, m->x->slots[r]) + first, 32 * sizeof *j->stored);
    return true;
}

/* --- delayed loads, with a random schedule ---
 * Until the wait, or until any time before it, the registers hold noise instead of the loaded values. The values of
 * a job: the seed of the noise, the first lane. */

static uint32_t noise(const struct ptxi_tmem_job *j, unsigned n)
{
    return (uint32_t)ptxi_rng_mix(j->value[0] + n);
}

/* A register of the frame that executed the load; NULL: it is not used. */
static uint32_t *destination(const struct ptxi_tmem_job *j, unsigned r)
{
    const struct ptxi_tmem_move *x = j->form;

    return x->slots[r] == PTXI_NO_SLOT ? NULL : (uint32_t *)PTXI_SLOT(j, x->slots[r]) + j->value[1];
}

static unsigned register_count(const struct ptxi_tmem_move *x)
{
    return x->count + !!(x->reduce & PTXI_TMEM_REDUCE);
}

/* Writes the loaded values. A slot that no longer holds the noise has been given to another register, and must not
 * change. */
static void perform_load(struct ptxi_tmem_job *j)
{
    for (unsigned r = 0; r < register_count(j->form); r++)
        for (unsigned l = 0, *to = destination(j, r); to && l < 32; l++)
            if (to[l] == noise(j, 32 * r + l))
                to[l] = j->stored[32 * r + l];
}

/* Replaces values that have been loaded by noise. */
static bool submit_load(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_tmem_move *x, unsigned first)
{
    unsigned lane = ptxi_first_lane(w->active & ptxi_warp32_lanes(first / 32));
    struct ptxi_tmem_job *j = ptxi_tmem_submit(w, i, lane, PTXI_TMEM_JOB_LOAD);

    if (!j)
        return false;
    assert(register_count(x) * 32u <= PTXI_TMEM_STORED);
    j->perform = perform_load;
    j->form = x;
    j->regs = w->regs;
    j->value[0] = ptxi_rng_mix(w->cta->lead->rng_state += 1);
    j->value[1] = first;
    for (unsigned r = 0; r < register_count(x); r++)
        for (unsigned l = 0, *to = destination(j, r); to && l < 32; l++) {
            j->stored[32 * r + l] = to[l];
            to[l] = noise(j, 32 * r + l);
        }
    return true;
}

/* --- tcgen05.ld.red --- */

static uint32_t reduce_float(unsigned how, uint32_t x, uint32_t y)
{
    float a = ptxi_num_f32(x), b = ptxi_num_f32(y);

    if (isnan(a) || isnan(b)) {
        if (how & PTXI_TMEM_NAN || (isnan(a) && isnan(b)))
            return PTXI_NAN_F32;
        return isnan(a) ? y : x;
    }
    if (a == b)
        return how & PTXI_TMEM_MAX ? x & y : x | y; /* -0 is less than 0 */
    return (a < b) == !(how & PTXI_TMEM_MAX) ? x : y;
}

static uint32_t reduce_pair(unsigned how, uint32_t x, uint32_t y)
{
    bool less = how & PTXI_TMEM_SIGNED ? (int32_t)x < (int32_t)y : x < y;

    if (how & PTXI_TMEM_F32)
        return reduce_float(how, x, y);
    return less == !(how & PTXI_TMEM_MAX) ? x : y;
}

static void reduce(const struct ptxi_warp *w, const struct access *m, unsigned first)
{
    unsigned count = m->x->meta ? column_count(m->x) : m->x->count;
    uint32_t *to = (uint32_t *)PTXI_SLOT(w, m->x->slots[m->x->count]) + first,
             mask = m->x->reduce & PTXI_TMEM_ABS ? 0x7fffffff : UINT32_MAX;

    for (unsigned l = 0; l < 32; l++) {
        uint32_t v = *find_cell(m, l, 0) & mask;

        for (unsigned r = 1; r < count; r++)
            v = reduce_pair(m->x->reduce, v, *find_cell(m, l, r) & mask);
        to[l] = v;
    }
}

/* --- handlers --- */

/* Tells the race checker what the warp of 32 at lane `first` accesses. */
static __attribute__((noinline)) void note(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned first,
                                           const struct access *m, bool loads)
{
    struct ptxi_tmem_touch x = { .w = w, .i = i, .t = m->t, .quarters = 1u << m->lane / 32, .first = m->column,
                                 .count = column_count(m->x), .write = !loads };

    x.lane = ptxi_first_lane(w->active & ptxi_warp32_lanes(first / 32));
    ptxi_tmem_touch(&x);
    x.first += (uint32_t)m->split;
    if (m->split)
        ptxi_tmem_touch(&x);
}

static inline __attribute__((always_inline)) const struct ptxi_insn *load_or_store(struct ptxi_warp *w,
                                                                                   const struct ptxi_insn *i,
                                                                                   bool loads)
{
    struct access m;

    if (w->active != w->live && ptxi_absent_lanes(w))
        return ptxi_leave_aligned(w, i);
    for (unsigned first = 0; first < PTXI_LANES; first += 32) {
        if (!(w->active & ptxi_warp32_lanes(first / 32)))
            continue;
        if (!find_access(w, i, first, &m))
            return w->stop;
        if (w->cta->check)
            note(w, i, first, &m, loads);
        if (m.x->meta)
            load_compressed(w, &m, first);
        else if (loads)
            load(w, &m, first);
        else if (!submit_store(w, i, &m, first))
            return w->stop;
        if (m.x->reduce & PTXI_TMEM_REDUCE && m.x->slots[m.x->count] != PTXI_NO_SLOT)
            reduce(w, &m, first);
        if (loads && w->cta->grid->schedule && !submit_load(w, i, m.x, first))
            return w->stop;
    }
    NEXT;
}

OP( tcgen05_ld ) { return load_or_store(w, i, true); }
OP( tcgen05_st ) { return load_or_store(w, i, false); }
