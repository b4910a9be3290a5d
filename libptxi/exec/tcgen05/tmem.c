#include "exec/tcgen05/tmem.h"

#include <stdlib.h>
#include <string.h>

#include "base/fill.h"
#include "exec/async/async.h"
#include "exec/memory/access.h"

enum { UNITS = PTXI_TMEM_COLUMNS / PTXI_TMEM_UNIT };

void ptxi_tmem_begin(struct ptxi_cta *c)
{
    if (c->tmem)
        memset(&c->tmem->allocated, 0, sizeof *c->tmem - offsetof(struct ptxi_tmem, allocated));
}

struct ptxi_tmem *ptxi_tmem_of(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_cta *c)
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

const struct ptxi_insn *ptxi_tmem_misuse(struct ptxi_warp *w, const struct ptxi_insn *i, const char *what)
{
    return ptxi_fault(w, i, PTXI_FK_MISUSE, w->active & -w->active, 0, 0, what);
}

unsigned ptxi_tmem_ctas(struct ptxi_warp *w, const struct ptxi_insn *i, bool pair, struct ptxi_cta **ctas)
{
    struct ptxi_cta *lead = w->cta->lead;
    uint32_t even = w->cta->rank & ~1u;

    if (!pair) {
        ctas[0] = w->cta;
        return 1;
    }
    if (even + 1 >= lead->member_count) {
        ptxi_tmem_misuse(w, i, ".cta_group::2 needs a cluster in which the block has a peer");
        return 0;
    }
    ctas[0] = lead->members[even];
    ctas[1] = lead->members[even + 1];
    return 2;
}

/* Bits of the units that `count` columns from `first` on lie in; all and more if they leave the memory. */
static uint32_t units_of(uint32_t first, uint32_t count)
{
    uint64_t end = ((uint64_t)first + count + PTXI_TMEM_UNIT - 1) / PTXI_TMEM_UNIT;

    return end > UNITS ? UINT32_MAX : (1u << end) - (1u << first / PTXI_TMEM_UNIT);
}

bool ptxi_tmem_check(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_tmem *t, uint32_t first, uint32_t count)
{
    if (!(units_of(first, count) & ~t->allocated))
        return true;
    ptxi_tmem_misuse(w, i, "columns of tensor memory that are not allocated");
    return false;
}

/* --- allocation --- */

/* What threads that wait for memory, and those that come now, may have. */
static void wake(struct ptxi_cta *c)
{
    for (uint32_t m = 0; m < c->lead->member_count; m++)
        for (uint32_t k = 0; k < c->lead->members[m]->warp_count; k++)
            ptxi_warp_wake(&c->lead->members[m]->warps[k], NULL);
}

static const struct ptxi_insn *go_on(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    wake(w->cta);
    return w->split_count > 1 ? ptxi_leave_switch(w, i + 1) : i + 1;
}

/* A place for `units` in all of the CTAs, at a multiple of that, or UNITS. */
static unsigned find_units(struct ptxi_cta *const *ctas, unsigned n, unsigned units)
{
    uint32_t taken = 0, mask = (uint32_t)((UINT64_C(1) << units) - 1);
    unsigned at = 0;

    for (unsigned k = 0; k < n; k++)
        taken |= ctas[k]->tmem->allocated;
    while (at < UNITS && taken & mask << at)
        at += units;
    return at;
}

static void take(struct ptxi_tmem *t, unsigned at, unsigned units)
{
    t->allocated |= (uint32_t)((UINT64_C(1) << units) - 1) << at;
    t->units[at] = (uint8_t)units;
    ptxi_fill(t->cell[at * PTXI_TMEM_UNIT], units * PTXI_TMEM_UNIT * sizeof *t->cell);
}

/* Of a pair the first to come allocates for both, and does not allocate again before the other has come. True: it has to wait. */
static bool allocate(struct ptxi_cta *self, struct ptxi_cta *const *ctas, unsigned n, unsigned units, uint32_t *first)
{
    struct ptxi_tmem *peer = n == 2 ? ctas[ctas[0] == self]->tmem : NULL;
    unsigned at;

    if (peer && self->tmem->pair_count < peer->pair_count) {
        self->tmem->pair_count++;
        *first = peer->pair_first;
        return false;
    }
    at = find_units(ctas, n, units);
    if (at >= UNITS || (peer && self->tmem->pair_count > peer->pair_count))
        return true;
    for (unsigned k = 0; k < n; k++)
        take(ctas[k]->tmem, at, units);
    *first = at * PTXI_TMEM_UNIT;
    if (peer) {
        self->tmem->pair_count++;
        self->tmem->pair_first = *first;
    }
    return false;
}

static bool is_size(uint32_t columns)
{
    return columns >= PTXI_TMEM_UNIT && columns <= PTXI_TMEM_COLUMNS && !(columns & (columns - 1));
}

/* Keeps one warp of 32; the other's lanes come again. */
static void one_warp(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    ptxi_lanes here = w->active & ptxi_warp32_lanes(ptxi_first_lane(w->active) / 32);

    if (w->active != here)
        ptxi_split_off(w, i, w->active & ~here);
}

const struct ptxi_insn *ptxi_tmem_alloc(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_cta *ctas[2];
    unsigned n, lane;
    uint32_t columns, first;
    unsigned char *to;

    if (w->active != w->live && ptxi_absent(w))
        return ptxi_leave_aligned(w, i);
    one_warp(w, i);
    lane = ptxi_first_lane(w->active);
    columns = ((const uint32_t *)PTXI_SLOT(w, i->b))[lane];
    n = ptxi_tmem_ctas(w, i, i->mods & PTXI_TCGEN05_PAIR, ctas);
    for (unsigned k = 0; k < n; k++)
        if (!ptxi_tmem_of(w, i, ctas[k]))
            return w->stop;
    if (!n)
        return w->stop;
    if (!is_size(columns))
        return ptxi_tmem_misuse(w, i, "the number of columns is not a power of two from 32 to 512");
    if (w->cta->tmem->relinquished)
        return ptxi_tmem_misuse(w, i, "tensor memory is allocated after tcgen05.relinquish_alloc_permit");
    to = ptxi_mem_at(w, i, lane, PTXI_MS_GENERIC, ((const uint64_t *)PTXI_SLOT(w, i->a))[lane], 4, 4, PTXI_ACCESS_STORE);
    if (!to)
        return w->stop;
    if (allocate(w->cta, ctas, n, columns / PTXI_TMEM_UNIT, &first))
        return ptxi_leave_mbarrier(w, i, NULL);
    memcpy(to, &first, sizeof first);
    return n == 2 ? go_on(w, i) : i + 1;
}

/* Each CTA of a pair gives back its own. */
const struct ptxi_insn *ptxi_tmem_dealloc(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_tmem *t = ptxi_tmem_of(w, i, w->cta);

    if (w->active != w->live && ptxi_absent(w))
        return ptxi_leave_aligned(w, i);
    for (unsigned k = 0; k < PTXI_WARP32S && t; k++) {
        ptxi_lanes here = w->active & ptxi_warp32_lanes(k);
        uint32_t address, columns, at;

        if (!here)
            continue;
        address = ((const uint32_t *)PTXI_SLOT(w, i->a))[ptxi_first_lane(here)];
        columns = ((const uint32_t *)PTXI_SLOT(w, i->b))[ptxi_first_lane(here)];
        at = address / PTXI_TMEM_UNIT;
        if (address % PTXI_TMEM_UNIT || at >= UNITS || !t->units[at] || t->units[at] * (uint32_t)PTXI_TMEM_UNIT != columns)
            return ptxi_tmem_misuse(w, i, "there is no allocation of so many columns of tensor memory at this address");
        t->allocated &= ~units_of(address, columns);
        t->units[at] = 0;
    }
    return t ? go_on(w, i) : w->stop;
}

const struct ptxi_insn *ptxi_tmem_relinquish(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_tmem *t = ptxi_tmem_of(w, i, w->cta);

    if (!t)
        return w->stop;
    t->relinquished = true;
    return i + 1;
}

/* --- what a thread asks for --- */

/* Once what it asked for before is done, an arrive-on at the mbarrier, or at that place in each CTA of a mask. */
const struct ptxi_insn *ptxi_tmem_commit(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const struct ptxi_cta *lead = w->cta->lead;

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        unsigned char *at = ptxi_mem_at(w, i, l, PTXI_MS_GENERIC, ((const uint64_t *)PTXI_SLOT(w, i->a))[l], 8, 8, PTXI_ACCESS_ATOMIC);
        struct ptxi_cta *owner = at ? ptxi_shared_owner(w->cta, at) : NULL;
        uint32_t mask;

        if (!at)
            return w->stop;
        if (!owner)
            return ptxi_tmem_misuse(w, i, "the mbarrier is not in shared memory");
        mask = i->mods & PTXI_TCGEN05_MULTICAST ? ((const uint16_t *)PTXI_SLOT(w, i->b))[l] : 1u << owner->rank;
        if (mask >> lead->member_count)
            return ptxi_tmem_misuse(w, i, "the mask of a multicast names a CTA that the cluster does not have");
        for (; mask; mask &= mask - 1) {
            struct ptxi_tmem_job *j = ptxi_tmem_submit(w, i, l, PTXI_TMEM_JOB_COMMIT);

            if (!j)
                return w->stop;
            j->owner = lead->members[__builtin_ctz(mask)];
            j->mbarrier = j->owner->shared + (at - owner->shared);
        }
    }
    return i + 1;
}

/* PTX ISA, "tcgen05.shift": 32 bytes of each row but the last of a warp's go to the row above. */
static void shift(struct ptxi_tmem *t, uint32_t lane, uint32_t column)
{
    for (uint32_t k = column; k < column + 8; k++)
        memmove(&t->cell[k][lane], &t->cell[k][lane + 1], 31 * sizeof t->cell[k][lane]);
}

static void shift_all(struct ptxi_tmem_job *j)
{
    struct ptxi_cta *ctas[2];
    unsigned n = ptxi_tmem_ctas(j->warp, j->insn, j->insn->mods & PTXI_TCGEN05_PAIR, ctas);

    for (unsigned k = 0; k < n; k++)
        shift(ctas[k]->tmem, ptxi_tmem_lane((uint32_t)j->value[0]), ptxi_tmem_column((uint32_t)j->value[0]));
}

const struct ptxi_insn *ptxi_tmem_shift(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_cta *ctas[2];
    unsigned n = ptxi_tmem_ctas(w, i, i->mods & PTXI_TCGEN05_PAIR, ctas);

    for (ptxi_lanes left = w->active; left && n; left &= left - 1) {
        uint32_t address = ((const uint32_t *)PTXI_SLOT(w, i->a))[ptxi_first_lane(left)], lane = ptxi_tmem_lane(address);
        struct ptxi_tmem_job *j;

        if (lane % 32 || lane >= PTXI_TMEM_LANES)
            return ptxi_tmem_misuse(w, i, "the lane of an address is not a multiple of 32");
        for (unsigned k = 0; k < n; k++) {
            struct ptxi_tmem *t = ptxi_tmem_of(w, i, ctas[k]);

            if (!t || !ptxi_tmem_check(w, i, t, ptxi_tmem_column(address), 8))
                return w->stop;
        }
        if (!(j = ptxi_tmem_submit(w, i, ptxi_first_lane(left), PTXI_TMEM_JOB_MEMORY)))
            return w->stop;
        j->perform = shift_all;
        j->value[0] = address;
    }
    return n ? i + 1 : w->stop;
}
