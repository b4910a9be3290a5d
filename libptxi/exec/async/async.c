#include "exec/async/async.h"
#include "exec/engine/rng.h"
#include "exec/tcgen05/tmem.h"

#include <stdlib.h>
#include <string.h>

#include "exec/memory/access.h"

/* More are not kept: then the oldest are done, which may always be. */
enum { FIRST_SIZE = 4, MOST = 256 };

static struct ptxi_async_entry *entry(const struct ptxi_async *q, uint32_t k)
{
    return &q->ring[(q->first + k) & (q->size - 1)];
}

struct ptxi_async *ptxi_async_of(struct ptxi_warp *w)
{
    if (!w->async)
        w->async = calloc(1, sizeof *w->async);
    return w->async;
}

static bool grow(struct ptxi_async *q)
{
    uint32_t size = q->size ? 2 * q->size : FIRST_SIZE;
    struct ptxi_async_entry *more;

    if (size > MOST || !(more = malloc(size * sizeof *more)))
        return false;
    for (uint32_t k = 0; k < q->count; k++)
        more[k] = *entry(q, k);
    free(q->ring);
    q->ring = more;
    q->first = 0;
    q->size = size;
    return true;
}

static void drop_done(struct ptxi_async *q)
{
    while (q->count && !q->ring[q->first].lanes) {
        q->arrivals -= !q->ring[q->first].size;
        q->first = (q->first + 1) & (q->size - 1);
        q->count--;
    }
}

struct ptxi_async_entry *ptxi_async_push(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_async *q = ptxi_async_of(w);

    if (!q || (q->count == q->size && !grow(q) && !q->size))
        return NULL;
    if (q->count == q->size) {
        ptxi_async_do(w, entry(q, 0), entry(q, 0)->lanes);
        drop_done(q);
    }
    if (!q->count) /* nobody can tell which group this was */
        q->mixed = false;
    return ptxi_async_next(w, i);
}

/* --- what entries say --- */

static uint64_t from_of(const struct ptxi_async_entry *e, unsigned lane)
{
    return e->in_row ? e->row_from + (uint64_t)lane * e->size : e->from[lane];
}

static uint32_t to_of(const struct ptxi_async_entry *e, unsigned lane)
{
    return e->in_row ? e->row_to + lane * e->size : e->to[lane];
}

/* The source was checked when the copy was asked for; since then it may have been freed. */
static inline bool may_still_read(struct ptxi_warp *w, const struct ptxi_async_entry *e, unsigned lane, uint32_t bytes)
{
    return e->generation == atomic_load_explicit(w->generation, memory_order_acquire) ||
           ptxi_mem_check_later(w, e->code, e->insn, lane, from_of(e, lane), bytes, PTXI_ACCESS_LOAD);
}

#define COPY_LANES(size)                                                               \
    for (; lanes; lanes &= lanes - 1) {                                                \
        unsigned l = ptxi_first_lane(lanes);                                           \
                                                                                       \
        if (may_still_read(w, e, l, size))                                              \
            memcpy(w->shared + to_of(e, l), (const void *)(uintptr_t)from_of(e, l), size); \
    }

RACY static void copy_whole(struct ptxi_warp *w, const struct ptxi_async_entry *e, ptxi_lanes lanes)
{
    switch (e->size) {
    case 4: COPY_LANES(4) break;
    case 8: COPY_LANES(8) break;
    default: COPY_LANES(16)
    }
}

RACY static void copy_partly(struct ptxi_warp *w, const struct ptxi_async_entry *e, ptxi_lanes lanes)
{
    for (; lanes; lanes &= lanes - 1) {
        unsigned l = ptxi_first_lane(lanes), bytes = e->bytes[l];
        unsigned char *to = w->shared + e->to[l];

        memset(to, 0, e->size);
        if (bytes && may_still_read(w, e, l, bytes))
            for (unsigned k = 0; k < bytes; k++)
                to[k] = ((const unsigned char *)(uintptr_t)e->from[l])[k];
    }
}

void ptxi_async_do(struct ptxi_warp *w, struct ptxi_async_entry *e, ptxi_lanes lanes)
{
    e->lanes &= ~lanes;
    if (!e->size)
        for (ptxi_lanes left = lanes; left; left &= left - 1)
            ptxi_mbarrier_arrives(w->cta, w->shared + e->to[ptxi_first_lane(left)]);
    else if (e->partial)
        copy_partly(w, e, lanes);
    else
        copy_whole(w, e, lanes);
}

/* --- when --- */

void ptxi_async_commit_lanes(struct ptxi_warp *w)
{
    struct ptxi_async *q = w->async;
    ptxi_lanes lanes = w->active == w->live ? PTXI_ALL_LANES : w->active; /* those that have exited do not matter */

    for (int l = 0; !q->mixed && l < PTXI_LANES; l++)
        q->groups[l] = q->group;
    q->mixed = true;
    for (int l = 0; l < PTXI_LANES; l++)
        q->groups[l] += lanes >> l & 1;
}

/* Lanes that have committed more than n groups since this one. */
static ptxi_lanes lanes_past(const struct ptxi_async *q, uint32_t group, uint32_t n)
{
    ptxi_lanes past = 0;

    if (!q->mixed)
        return ptxi_async_is_past(q->group, group, n) ? PTXI_ALL_LANES : 0;
    for (int l = 0; l < PTXI_LANES; l++)
        past |= (ptxi_lanes)ptxi_async_is_past(q->groups[l], group, n) << l;
    return past;
}

void ptxi_async_wait(struct ptxi_warp *w, uint32_t n)
{
    struct ptxi_async *q = w->async;
    uint32_t group = 0;
    ptxi_lanes ready = 0;

    for (uint32_t k = 0; q && k < q->count; k++) {
        struct ptxi_async_entry *e = entry(q, k);

        if (!e->size)
            continue;
        if (!k || e->group != group) {
            group = e->group;
            ready = lanes_past(q, group, n) & w->active;
        }
        if (e->lanes & ready)
            ptxi_async_do(w, e, e->lanes & ready);
    }
    if (q)
        drop_done(q);
}

void ptxi_async_finish(struct ptxi_warp *w)
{
    struct ptxi_async *q = w->async;

    for (uint32_t k = 0; q && k < q->count; k++)
        ptxi_async_do(w, entry(q, k), entry(q, k)->lanes);
    ptxi_async_drop(w);
}

void ptxi_async_drop(struct ptxi_warp *w)
{
    if (w->async)
        w->async->count = w->async->arrivals = 0;
}

void ptxi_async_free(struct ptxi_warp *w)
{
    if (w->async)
        free(w->async->ring);
    free(w->async);
    w->async = NULL;
}

/* Copies that arrive-ons follow, and these; other lanes' copies wait. */
static void flush_warp(struct ptxi_warp *w)
{
    struct ptxi_async *q = w->async;
    ptxi_lanes need[MOST], later = 0;

    for (uint32_t k = q->count; k--;) {
        later |= entry(q, k)->size ? 0 : entry(q, k)->lanes;
        need[k] = later & entry(q, k)->lanes;
    }
    for (uint32_t k = 0; k < q->count; k++)
        if (need[k])
            ptxi_async_do(w, entry(q, k), need[k]);
    drop_done(q);
}

static bool has_arrivals(const struct ptxi_async *q)
{
    for (uint32_t n = 0; q && q->arrivals && n < q->count; n++)
        if (!entry(q, n)->size && entry(q, n)->lanes)
            return true;
    return false;
}

static bool flush_arrivals(struct ptxi_cta *lead)
{
    bool any = false;

    for (uint32_t m = 0; m < lead->member_count; m++)
        for (uint32_t k = 0; k < lead->members[m]->warp_count; k++)
            if (has_arrivals(lead->members[m]->warps[k].async)) {
                flush_warp(&lead->members[m]->warps[k]);
                any = true;
            }
    return any;
}

bool ptxi_async_flush(struct ptxi_cta *lead)
{
    bool any;

    if (lead->grid->schedule && ptxi_bulk_any(lead, true))
        return true;
    any = flush_arrivals(lead);
    any |= ptxi_bulk_flush(lead);
    return any || ptxi_tmem_flush(lead);
}

/* A copy that no arrive-on follows or precedes, so that there is no order to keep. */
static void copy_any(struct ptxi_warp *w, uint64_t *dice)
{
    struct ptxi_async *q = w->async;
    struct ptxi_async_entry *e;

    if (!q || !q->count || q->arrivals)
        return;
    e = entry(q, ptxi_chance(dice, q->count));
    if (e->lanes)
        ptxi_async_do(w, e, e->lanes);
    drop_done(q);
}

void ptxi_async_any(struct ptxi_cta *lead)
{
    struct ptxi_cta *c = lead->members[ptxi_chance(&lead->dice, lead->member_count)];

    if (lead->tmem_jobs && ptxi_one_in(&lead->dice, 2))
        ptxi_tmem_any(lead, false);
    else if (!ptxi_bulk_any(lead, false))
        copy_any(&c->warps[ptxi_chance(&lead->dice, c->warp_count)], &lead->dice);
}
