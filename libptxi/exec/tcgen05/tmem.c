#include "exec/tcgen05/tmem.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fill.h"
#include "exec/init/init.h"
#include "exec/memory/access.h"

static void forget_accesses(struct ptxi_tmem *t, uint32_t first, uint32_t count)
{
    if (t->records)
        memset(t->records + first * PTXI_TMEM_QUARTERS, 0, count * PTXI_TMEM_QUARTERS * sizeof *t->records);
}

void ptxi_tmem_reset(struct ptxi_cta *c)
{
    if (c->tmem)
        forget_accesses(c->tmem, 0, PTXI_TMEM_COLUMNS);
    if (c->tmem)
        memset(&c->tmem->allocated, 0, sizeof *c->tmem - offsetof(struct ptxi_tmem, allocated));
}

struct ptxi_tmem *ptxi_tmem_get(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_cta *c)
{
    if (!c->tmem) {
        c->tmem = aligned_alloc(64, sizeof *c->tmem);
        if (!c->tmem)
            ptxi_fault(w, i, PTXI_FK_MEMORY, w->active, 0, 0, NULL);
        else
            memset(c->tmem, 0, sizeof *c->tmem);
    }
    return c->tmem;
}

const struct ptxi_insn *ptxi_tmem_misuse(struct ptxi_warp *w, const struct ptxi_insn *i, const char *detail)
{
    return ptxi_fault(w, i, PTXI_FK_MISUSE, w->active & -w->active, 0, 0, detail);
}

unsigned ptxi_tmem_find_ctas(struct ptxi_warp *w, const struct ptxi_insn *i, bool pair, struct ptxi_cta **ctas)
{
    struct ptxi_cta *lead = w->cta->lead;
    uint32_t even = w->cta->rank & ~1u;

    if (!pair) {
        ctas[0] = w->cta;
        return 1;
    }
    if (even + 1 >= lead->member_count) {
        ptxi_tmem_misuse(w, i, ".cta_group::2 requires a cluster in which the CTA has a peer");
        return 0;
    }
    ctas[0] = lead->members[even];
    ctas[1] = lead->members[even + 1];
    return 2;
}

/* A bit for each unit of a range of columns; all bits if the range is not within tensor memory. */
static uint32_t units_of(uint32_t first, uint32_t count)
{
    uint64_t end = ((uint64_t)first + count + PTXI_TMEM_UNIT - 1) / PTXI_TMEM_UNIT;

    return end > PTXI_TMEM_UNITS ? UINT32_MAX : (1u << end) - (1u << first / PTXI_TMEM_UNIT);
}

bool ptxi_tmem_check(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_tmem *t, uint32_t first,
                     uint32_t count)
{
    if (!(units_of(first, count) & ~t->allocated))
        return true;
    ptxi_tmem_misuse(w, i, "columns of tensor memory are not allocated");
    return false;
}

/* --- allocation --- */

/* Wakes threads of the cluster that wait for tensor memory. They try again. */
static void wake_waiters(struct ptxi_cta *c)
{
    for (uint32_t m = 0; m < c->lead->member_count; m++)
        for (uint32_t k = 0; k < c->lead->members[m]->warp_count; k++)
            ptxi_wake_mbarrier_splits(&c->lead->members[m]->warps[k], NULL, false);
}

static const struct ptxi_insn *wake_and_continue(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    wake_waiters(w->cta);
    return w->split_count > 1 ? ptxi_leave_switch(w, i + 1) : i + 1;
}

static uint32_t unit_mask(unsigned count)
{
    return (uint32_t)((UINT64_C(1) << count) - 1);
}

/* The first multiple of `count` at which `count` units are free in all CTAs, or PTXI_TMEM_UNITS. An exclusive
 * allocation needs all units to be free, and nothing is free beside it. */
static unsigned find_free_units(struct ptxi_cta *const *ctas, unsigned cta_count, unsigned count, bool exclusive)
{
    uint32_t taken = 0;
    unsigned at = 0;

    for (unsigned k = 0; k < cta_count; k++)
        taken |= ctas[k]->tmem->exclusive ? UINT32_MAX : ctas[k]->tmem->allocated;
    if (exclusive)
        return taken ? PTXI_TMEM_UNITS : 0;
    while (at < PTXI_TMEM_SHARED_UNITS && taken & unit_mask(count) << at)
        at += count;
    return at < PTXI_TMEM_SHARED_UNITS ? at : PTXI_TMEM_UNITS;
}

static void mark_allocated(struct ptxi_tmem *t, unsigned at, unsigned count, bool exclusive)
{
    assert(at + count <= PTXI_TMEM_UNITS && !(t->allocated & unit_mask(count) << at));
    t->allocated |= unit_mask(count) << at;
    t->units[at] = (uint8_t)count;
    t->exclusive = exclusive;
    ptxi_fill(t->cell[at * PTXI_TMEM_UNIT], count * PTXI_TMEM_UNIT * sizeof *t->cell);
}

/* Allocates units in all CTAs. In a pair, the first CTA to arrive allocates for both. It must wait with its next
 * allocation until the other CTA has arrived, too. False: the thread must wait. */
static bool allocate(struct ptxi_cta *self, struct ptxi_cta *const *ctas, unsigned cta_count, unsigned units,
                     bool exclusive, uint32_t *first_column)
{
    struct ptxi_tmem *peer = cta_count == 2 ? ctas[ctas[0] == self]->tmem : NULL;
    unsigned at;

    if (peer && self->tmem->pair_count < peer->pair_count) {
        self->tmem->pair_count++;
        *first_column = peer->pair_first;
        return true;
    }
    at = find_free_units(ctas, cta_count, units, exclusive);
    if (at >= PTXI_TMEM_UNITS || (peer && self->tmem->pair_count > peer->pair_count))
        return false;
    for (unsigned k = 0; k < cta_count; k++) {
        mark_allocated(ctas[k]->tmem, at, units, exclusive);
        forget_accesses(ctas[k]->tmem, at * PTXI_TMEM_UNIT, units * PTXI_TMEM_UNIT);
    }
    *first_column = at * PTXI_TMEM_UNIT;
    if (peer) {
        self->tmem->pair_count++;
        self->tmem->pair_first = *first_column;
    }
    return true;
}

/* Returns NULL, or an error message. PTX ISA, "nCols values for Non-exclusive and Exclusive allocation". */
static const char *check_size(const struct ptxi_insn *i, uint32_t columns)
{
    bool exclusive = i->mods & PTXI_TCGEN05_EXCLUSIVE;
    uint32_t most = exclusive && i->mods & PTXI_TCGEN05_SM_107 ? PTXI_TMEM_COLUMNS : PTXI_TMEM_SHARED_COLUMNS;

    if (columns >= PTXI_TMEM_UNIT && columns <= most &&
        (exclusive ? columns % PTXI_TMEM_UNIT == 0 : !(columns & (columns - 1))))
        return NULL;
    if (!exclusive)
        return "the number of columns must be a power of two from 32 to 512";
    return most == PTXI_TMEM_COLUMNS ? "the number of columns must be a multiple of 32 from 32 to 576"
                                     : "the number of columns must be a multiple of 32 from 32 to 512";
}

/* Keeps the lanes of one warp of 32 active. The others execute the instruction again. */
static void split_off_other_warp(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    ptxi_lanes first_warp = w->active & ptxi_warp32_lanes(ptxi_first_lane(w->active) / 32);

    if (w->active != first_warp)
        ptxi_split_off(w, i, w->active & ~first_warp);
}

static void note_allocation(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_cta *const *ctas,
                            unsigned cta_count)
{
    struct ptxi_fault_report where = { .access = PTXI_AK_NONE };

    ptxi_fault_locate(&where, w, w->frame->code, i, w->active);
    for (unsigned k = 0; k < cta_count; k++)
        ctas[k]->tmem->allocated_by = ptxi_finding_site_at(&where);
}

/* Writes the address of the columns. */
static void write_address(struct ptxi_warp *w, unsigned char *to, uint32_t first_column)
{
    struct ptxi_cta *owner = ptxi_shared_owner(w->cta, to);

    memcpy(to, &first_column, sizeof first_column);
    if (w->cta->check)
        ptxi_init_note_write(&(struct ptxi_init_place){ owner, owner ? (uint64_t)(to - owner->shared) : (uintptr_t)to },
                             sizeof first_column);
}

void ptxi_tmem_report_leak(const struct ptxi_cta *c)
{
    const struct ptxi_grid *g = c->grid;
    char detail[64];

    if (!c->tmem || !c->tmem->allocated || !(g->tools & 1u << PTXI_TOOL_MEMORY))
        return;
    snprintf(detail, sizeof detail, "%d columns when the block ends",
             __builtin_popcount(c->tmem->allocated) * PTXI_TMEM_UNIT);
    struct ptxi_finding f = { .kind = PTXI_FINDING_TENSOR_LEAK, .severity = PTXI_FINDING_ERROR, .site_count = 1,
                              .sites = { c->tmem->allocated_by }, .detail = detail };

    ptxi_findings_add(g->findings, &f, g->code->name, g->gridid);
}

const struct ptxi_insn *ptxi_tmem_alloc(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_cta *ctas[2];
    unsigned cta_count, lane;
    uint32_t columns, first_column;
    uint64_t address;
    unsigned char *to;
    const char *error;

    if (w->active != w->live && ptxi_absent_lanes(w))
        return ptxi_leave_aligned(w, i);
    split_off_other_warp(w, i);
    lane = ptxi_first_lane(w->active);
    columns = ((const uint32_t *)PTXI_SLOT(w, i->b))[lane];
    cta_count = ptxi_tmem_find_ctas(w, i, i->mods & PTXI_TCGEN05_PAIR, ctas);
    for (unsigned k = 0; k < cta_count; k++)
        if (!ptxi_tmem_get(w, i, ctas[k]))
            return w->stop;
    if (!cta_count)
        return w->stop;
    error = check_size(i, columns);
    if (error)
        return ptxi_tmem_misuse(w, i, error);
    if (w->cta->tmem->relinquished)
        return ptxi_tmem_misuse(w, i, "tensor memory is allocated after tcgen05.relinquish_alloc_permit");
    address = ((const uint64_t *)PTXI_SLOT(w, i->a))[lane];
    to = ptxi_access_at(w, i, lane, PTXI_MS_GENERIC, address, 4, 4, PTXI_AK_STORE);
    if (!to)
        return w->stop;
    if (!allocate(w->cta, ctas, cta_count, columns / PTXI_TMEM_UNIT, i->mods & PTXI_TCGEN05_EXCLUSIVE, &first_column))
        return ptxi_leave_mbarrier(w, i, NULL);
    write_address(w, to, first_column);
    if (w->cta->grid->findings)
        note_allocation(w, i, ctas, cta_count);
    return cta_count == 2 ? wake_and_continue(w, i) : i + 1;
}

/* Deallocates in this CTA only. With .cta_group::2 the peer deallocates its part. */
static bool deallocate(struct ptxi_tmem *t, uint32_t column, uint32_t columns)
{
    uint32_t unit = column / PTXI_TMEM_UNIT;

    if (column % PTXI_TMEM_UNIT || unit >= PTXI_TMEM_UNITS || !t->units[unit] ||
        t->units[unit] * (uint32_t)PTXI_TMEM_UNIT != columns)
        return false;
    t->allocated &= ~units_of(column, columns);
    t->units[unit] = 0;
    t->exclusive = false;
    return true;
}

const struct ptxi_insn *ptxi_tmem_dealloc(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_tmem *t = ptxi_tmem_get(w, i, w->cta);
    const uint32_t *column = PTXI_SLOT(w, i->a), *columns = PTXI_SLOT(w, i->b);

    if (w->active != w->live && ptxi_absent_lanes(w))
        return ptxi_leave_aligned(w, i);
    for (unsigned k = 0; k < PTXI_WARP32S && t; k++) {
        ptxi_lanes here = w->active & ptxi_warp32_lanes(k);
        unsigned lane;

        if (!here)
            continue;
        lane = ptxi_first_lane(here);
        if (t->exclusive != ((i->mods & PTXI_TCGEN05_EXCLUSIVE) != 0))
            return ptxi_tmem_misuse(w, i, "tensor memory must be deallocated with .exclusive if and only if it was "
                                          "allocated with it");
        if (!deallocate(t, column[lane], columns[lane]))
            return ptxi_tmem_misuse(w, i, "no allocation of this number of columns of tensor memory at the address");
    }
    return t ? wake_and_continue(w, i) : w->stop;
}

const struct ptxi_insn *ptxi_tmem_relinquish(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_tmem *t = ptxi_tmem_get(w, i, w->cta);

    if (!t)
        return w->stop;
    t->relinquished = true;
    return i + 1;
}
