/* The queue of a warp's cp.async operations. PTX ISA, "Data Movement and Conversion Instructions: cp.async".
 * An operation waits in the queue until its thread waits for its async-group. If a cp.async.mbarrier.arrive follows
 * it, it completes when nothing else in the cluster can make progress (async.h). */
#ifndef PTXI_EXEC_ASYNC_CP_ASYNC_H
#define PTXI_EXEC_ASYNC_CP_ASYNC_H

#include <assert.h>

#include "exec/async/warp_async.h"

static inline struct ptxi_cp_async *ptxi_cp_async_at(const struct ptxi_warp_async *q, uint32_t k)
{
    assert(k < q->count);
    return &q->ring[(q->first + k) & (q->size - 1)];
}

/* Appends an operation of the active lanes, which must be in the same async-group. The queue must have room. */
static inline __attribute__((always_inline)) struct ptxi_cp_async *ptxi_cp_async_append(struct ptxi_warp *w,
                                                                                        const struct ptxi_insn *i)
{
    struct ptxi_warp_async *q = w->async;
    struct ptxi_cp_async *op;

    assert(q->count < q->size && !(q->size & (q->size - 1)));
    op = &q->ring[(q->first + q->count++) & (q->size - 1)];
    op->lanes = w->active;
    op->group = q->diverged ? q->groups[ptxi_first_lane(w->active)] : q->group;
    op->insn = i;
    op->code = w->frame->code;
    op->generation = atomic_load_explicit(w->generation, memory_order_acquire);
    return op;
}

/* The same, after making room. NULL: out of memory, and the queue is empty. */
struct ptxi_cp_async *ptxi_cp_async_push(struct ptxi_warp *w, const struct ptxi_insn *i);

/* Performs an operation for some of its lanes. */
void ptxi_cp_async_perform(struct ptxi_warp *w, struct ptxi_cp_async *op, ptxi_lanes lanes);

void ptxi_cp_async_commit_lanes(struct ptxi_warp *w);

/* Ends the current async-group of the active lanes. */
static inline void ptxi_cp_async_commit(struct ptxi_warp *w)
{
    struct ptxi_warp_async *q = w->async;

    if (!q || !q->count) /* an empty group is complete, and programs cannot observe the number of groups */
        return;
    if (w->active == w->live && !q->diverged)
        q->group++;
    else
        ptxi_cp_async_commit_lanes(w);
}

/* Whether more than n groups have been committed since `group`. */
static inline bool ptxi_cp_async_is_past(uint32_t commits, uint32_t group, uint32_t n)
{
    return commits - group > n && commits - group <= INT32_MAX;
}

/* Completes all but the last n groups that the active lanes have committed. */
void ptxi_cp_async_wait(struct ptxi_warp *w, uint32_t n);
/* Completes all operations of the warp. */
void ptxi_cp_async_complete_all(struct ptxi_warp *w);
/* Removes all operations without performing them. */
void ptxi_cp_async_drop(struct ptxi_warp *w);
/* Completes the arrive-ons of the cluster's warps, and the copies before them. False: there were none. */
bool ptxi_cp_async_complete_tracked(struct ptxi_cta *lead);
/* Completes a random operation of the warp, unless the queue has an arrive-on, which would require an order. */
void ptxi_cp_async_complete_random(struct ptxi_warp *w, uint64_t *rng);

#endif
