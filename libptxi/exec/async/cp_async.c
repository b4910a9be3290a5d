#include "exec/async/cp_async.h"

#include <stdlib.h>
#include <string.h>

#include "exec/async/mbarrier_object.h"
#include "exec/engine/rng.h"
#include "exec/memory/access.h"

/* A queue of MAX_SIZE operations does not grow. The oldest operation is performed instead, which is always allowed. */
enum { FIRST_SIZE = 4, MAX_SIZE = 256 };

static bool grow(struct ptxi_warp_async *q)
{
    uint32_t size = q->size ? 2 * q->size : FIRST_SIZE;
    struct ptxi_cp_async *ring;

    if (size > MAX_SIZE || !(ring = malloc(size * sizeof *ring)))
        return false;
    for (uint32_t k = 0; k < q->count; k++)
        ring[k] = *ptxi_cp_async_at(q, k);
    free(q->ring);
    q->ring = ring;
    q->first = 0;
    q->size = size;
    return true;
}

static void remove_complete(struct ptxi_warp_async *q)
{
    while (q->count && !q->ring[q->first].lanes) {
        q->arrivals -= !q->ring[q->first].size;
        q->first = (q->first + 1) & (q->size - 1);
        q->count--;
    }
    assert(q->arrivals <= q->count);
}

struct ptxi_cp_async *ptxi_cp_async_push(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_warp_async *q = ptxi_warp_async_get(w);

    if (!q || (q->count == q->size && !grow(q) && !q->size))
        return NULL;
    if (q->count == q->size) {
        struct ptxi_cp_async *oldest = ptxi_cp_async_at(q, 0);

        ptxi_cp_async_perform(w, oldest, oldest->lanes);
        remove_complete(q);
    }
    if (!q->count) /* no operation refers to a group number */
        q->diverged = false;
    return ptxi_cp_async_append(w, i);
}

/* --- performing operations --- */

static uint64_t source_of(const struct ptxi_cp_async *op, unsigned lane)
{
    return op->contiguous ? op->from_first + (uint64_t)lane * op->size : op->from[lane];
}

static uint32_t destination_of(const struct ptxi_cp_async *op, unsigned lane)
{
    return op->contiguous ? op->to_first + lane * op->size : op->to[lane];
}

/* The source was checked when the instruction ran. Since then the program may have freed it. */
static inline bool is_still_readable(struct ptxi_warp *w, const struct ptxi_cp_async *op, unsigned lane, uint32_t bytes)
{
    return op->generation == atomic_load_explicit(w->generation, memory_order_acquire) ||
           ptxi_access_recheck(w, op->code, op->insn, lane, source_of(op, lane), bytes, PTXI_AK_LOAD);
}

/* `size` is a constant where this is inlined. */
RACY static inline __attribute__((always_inline)) void copy_lanes(struct ptxi_warp *w, const struct ptxi_cp_async *op,
                                                             ptxi_lanes lanes, uint32_t size)
{
    for (; lanes; lanes &= lanes - 1) {
        unsigned l = ptxi_first_lane(lanes);

        if (is_still_readable(w, op, l, size))
            memcpy(w->shared + destination_of(op, l), (const void *)(uintptr_t)source_of(op, l), size);
    }
}

RACY static void copy_whole(struct ptxi_warp *w, const struct ptxi_cp_async *op, ptxi_lanes lanes)
{
    assert(op->size == 4 || op->size == 8 || op->size == 16);
    switch (op->size) {
    case 4: copy_lanes(w, op, lanes, 4); break;
    case 8: copy_lanes(w, op, lanes, 8); break;
    default: copy_lanes(w, op, lanes, 16);
    }
}

RACY static void copy_partial(struct ptxi_warp *w, const struct ptxi_cp_async *op, ptxi_lanes lanes)
{
    assert(!op->contiguous);
    for (; lanes; lanes &= lanes - 1) {
        unsigned l = ptxi_first_lane(lanes), bytes = op->bytes[l];
        unsigned char *to = w->shared + op->to[l];

        memset(to, 0, op->size);
        if (bytes && is_still_readable(w, op, l, bytes))
            for (unsigned k = 0; k < bytes; k++)
                to[k] = ((const unsigned char *)(uintptr_t)op->from[l])[k];
    }
}

void ptxi_cp_async_perform(struct ptxi_warp *w, struct ptxi_cp_async *op, ptxi_lanes lanes)
{
    assert(!(lanes & ~op->lanes));
    op->lanes &= ~lanes;
    if (!op->size)
        for (ptxi_lanes left = lanes; left; left &= left - 1)
            ptxi_mbarrier_arrive_async(w->cta, w->shared + op->to[ptxi_first_lane(left)]);
    else if (op->partial)
        copy_partial(w, op, lanes);
    else
        copy_whole(w, op, lanes);
}

/* --- async-groups --- */

void ptxi_cp_async_commit_lanes(struct ptxi_warp *w)
{
    struct ptxi_warp_async *q = w->async;
    ptxi_lanes lanes = w->active == w->live ? PTXI_ALL_LANES : w->active; /* exited lanes do not matter */

    for (int l = 0; !q->diverged && l < PTXI_LANES; l++)
        q->groups[l] = q->group;
    q->diverged = true;
    for (int l = 0; l < PTXI_LANES; l++)
        q->groups[l] += lanes >> l & 1;
}

/* Lanes that have committed more than n groups since `group`. */
static ptxi_lanes lanes_past(const struct ptxi_warp_async *q, uint32_t group, uint32_t n)
{
    ptxi_lanes past = 0;

    if (!q->diverged)
        return ptxi_cp_async_is_past(q->group, group, n) ? PTXI_ALL_LANES : 0;
    for (int l = 0; l < PTXI_LANES; l++)
        past |= (ptxi_lanes)ptxi_cp_async_is_past(q->groups[l], group, n) << l;
    return past;
}

void ptxi_cp_async_wait(struct ptxi_warp *w, uint32_t n)
{
    struct ptxi_warp_async *q = w->async;
    uint32_t group = 0;
    ptxi_lanes ready = 0;

    for (uint32_t k = 0; q && k < q->count; k++) {
        struct ptxi_cp_async *op = ptxi_cp_async_at(q, k);

        if (!op->size)
            continue;
        if (!k || op->group != group) {
            group = op->group;
            ready = lanes_past(q, group, n) & w->active;
        }
        if (op->lanes & ready)
            ptxi_cp_async_perform(w, op, op->lanes & ready);
    }
    if (q)
        remove_complete(q);
}

void ptxi_cp_async_complete_all(struct ptxi_warp *w)
{
    struct ptxi_warp_async *q = w->async;

    for (uint32_t k = 0; q && k < q->count; k++) {
        struct ptxi_cp_async *op = ptxi_cp_async_at(q, k);

        ptxi_cp_async_perform(w, op, op->lanes);
    }
    ptxi_cp_async_drop(w);
}

void ptxi_cp_async_drop(struct ptxi_warp *w)
{
    if (w->async)
        w->async->count = w->async->arrivals = 0;
}

/* --- operations that an mbarrier tracks --- */

/* Completes the arrive-ons of a warp and the copies that precede them in the same lanes. Copies of other lanes stay. */
static void complete_arrivals(struct ptxi_warp *w)
{
    struct ptxi_warp_async *q = w->async;
    ptxi_lanes due[MAX_SIZE], arriving = 0;

    assert(q->count <= MAX_SIZE);
    for (uint32_t k = q->count; k--;) {
        const struct ptxi_cp_async *op = ptxi_cp_async_at(q, k);

        arriving |= op->size ? 0 : op->lanes;
        due[k] = arriving & op->lanes;
    }
    for (uint32_t k = 0; k < q->count; k++)
        if (due[k])
            ptxi_cp_async_perform(w, ptxi_cp_async_at(q, k), due[k]);
    remove_complete(q);
}

static bool has_arrivals(const struct ptxi_warp_async *q)
{
    for (uint32_t k = 0; q && q->arrivals && k < q->count; k++)
        if (!ptxi_cp_async_at(q, k)->size && ptxi_cp_async_at(q, k)->lanes)
            return true;
    return false;
}

bool ptxi_cp_async_complete_tracked(struct ptxi_cta *lead)
{
    bool any = false;

    for (uint32_t m = 0; m < lead->member_count; m++)
        for (uint32_t k = 0; k < lead->members[m]->warp_count; k++)
            if (has_arrivals(lead->members[m]->warps[k].async)) {
                complete_arrivals(&lead->members[m]->warps[k]);
                any = true;
            }
    return any;
}

void ptxi_cp_async_complete_random(struct ptxi_warp *w, uint64_t *rng)
{
    struct ptxi_warp_async *q = w->async;
    struct ptxi_cp_async *op;

    if (!q || !q->count || q->arrivals)
        return;
    op = ptxi_cp_async_at(q, ptxi_rng_below(rng, q->count));
    if (op->lanes)
        ptxi_cp_async_perform(w, op, op->lanes);
    remove_complete(q);
}
