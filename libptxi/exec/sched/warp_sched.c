#include "exec/sched/warp_sched.h"

#include <assert.h>

#include "exec/async/async.h"
#include "exec/async/mbarrier.h"
#include "exec/memmap/rcu.h"
#include "exec/sched/deadlock.h"
#include "exec/sync/barrier.h"
#include "exec/sync/cluster_barrier.h"
#include "exec/sync/warp_sync.h"

/* Number of quanta that a warp may use before the worker turns to other clusters. */
enum { MAX_QUANTA = 16 };

/* Counts the used part of the warp's quantum, and one more for the instructions between loops. */
static void charge_quantum(struct ptxi_warp *w)
{
    struct ptxi_grid *g = w->cta->grid;
    uint64_t used = (uint64_t)(PTXI_QUANTUM - w->quantum) + 1;

    w->worker->clock += used;
    if (g->instruction_budget)
        atomic_fetch_add_explicit(&g->spent, used, memory_order_relaxed);
}

/* Lanes have exited: whatever waits for them must no longer do so. */
static void finish_exit(struct ptxi_warp *w)
{
    ptxi_lanes lanes = w->exited;

    assert(lanes && !(lanes & w->live));
    w->exited = 0;
    ptxi_cluster_barrier_exit(w, lanes);
    if (w->cta->warpgroup_waits)
        ptxi_cta_wake_warpgroups(w->cta);
    for (unsigned g = 0; g < PTXI_WARP32S; g++)
        if (lanes & ptxi_warp32_lanes(g) && !(w->live & ptxi_warp32_lanes(g)))
            ptxi_barrier_warp_exit(w->cta);
}

/* The same for warps that have exited as a whole. */
static void finish_exited_warps(struct ptxi_cta *c)
{
    c->warps_exited = false;
    if (c->warpgroup_waits)
        ptxi_cta_wake_warpgroups(c);
    ptxi_barrier_release_complete(c);
}

/* --- a warp without a ready split --- */

enum stall {
    STALL_RESOLVED, /* splits are ready */
    STALL_WAITS,    /* the warp waits for other warps or for asynchronous operations */
    STALL_SPINS,    /* all ready splits only spin */
    STALL_DEADLOCK  /* lanes wait for lanes that cannot arrive */
};

static bool is_at_barrier(const struct ptxi_warp *w)
{
    unsigned number;

    for (unsigned g = 0; g < PTXI_WARP32S; g++)
        if (ptxi_barrier_lanes_at(w, g, &number))
            return true;
    return false;
}

/* Completes a .sync or .aligned instruction after its missing lanes have exited. */
static bool complete_warp_sync(struct ptxi_warp *w)
{
    for (uint32_t k = 0; k < w->split_count; k++) {
        struct ptxi_split *s = &w->splits[k];

        if (s->state == PTXI_SPLIT_SYNC && ptxi_warp_sync_try_complete(w, s))
            return true;
        if (s->state == PTXI_SPLIT_ALIGNED && ptxi_aligned_try_complete(w, s))
            return true;
    }
    return false;
}

/* Whether the warp waits for other warps or for asynchronous operations. */
static bool waits_for_others(const struct ptxi_warp *w)
{
    if (w->arrived)
        return true;
    for (uint32_t k = 0; k < w->split_count; k++)
        if (w->splits[k].state == PTXI_SPLIT_MBARRIER || w->splits[k].state == PTXI_SPLIT_WARPGROUP)
            return true;
    return false;
}

/* Whether a split can run. Warps that have exited meanwhile wake splits that wait for their warpgroup. */
static bool is_any_split_ready(const struct ptxi_warp *w)
{
    uint32_t k = 0;

    while (k < w->split_count && w->splits[k].state != PTXI_SPLIT_READY)
        k++;
    return k < w->split_count;
}

static enum stall resolve_stall(struct ptxi_warp *w)
{
    bool work;

    if (is_any_split_ready(w))
        return STALL_RESOLVED;
    if (is_at_barrier(w)) {
        ptxi_barrier_arrive_splits(w->cta, w);
        return STALL_RESOLVED;
    }
    if (complete_warp_sync(w))
        return STALL_RESOLVED;
    if (ptxi_wake_sleeping_splits(w, &work))
        return work ? STALL_RESOLVED : STALL_SPINS;
    return waits_for_others(w) ? STALL_WAITS : STALL_DEADLOCK;
}

/* --- events --- */

/* The warp has left the dispatch loop so that limits and other warps can be checked. */
static enum ptxi_warp_status end_quantum(struct ptxi_warp *w)
{
    bool used_up = w->quantum <= 0;
    bool again = used_up && !w->cta->grid->schedule && ++w->quanta_used < MAX_QUANTA;

    ptxi_rcu_quiescent_state(w->worker->rcu);
    charge_quantum(w);
    if (!ptxi_check_limits(w))
        return PTXI_WARP_FAILED;
    w->quantum = PTXI_QUANTUM;
    if (again)
        return PTXI_WARP_RUNS;
    w->quanta_used = 0;
    return used_up ? PTXI_WARP_USED_UP : PTXI_WARP_YIELDED;
}

static enum ptxi_warp_status handle_stall(struct ptxi_warp *w)
{
    switch (resolve_stall(w)) {
    case STALL_RESOLVED:
        return PTXI_WARP_RUNS;
    case STALL_WAITS:
        w->state = PTXI_WARP_WAITING;
        return PTXI_WARP_STOPPED;
    case STALL_SPINS:
        return end_quantum(w);
    default:
        ptxi_fail_deadlock(w->cta->lead);
        return PTXI_WARP_FAILED;
    }
}

static enum ptxi_warp_status finish_warp(struct ptxi_warp *w)
{
    struct ptxi_cta *c = w->cta;

    assert(c->live_warps && !w->live && !w->arrived);
    w->state = PTXI_WARP_DONE;
    ptxi_cp_async_complete_all(w);
    charge_quantum(w);
    c->live_warps--;
    return PTXI_WARP_STOPPED;
}

static enum ptxi_warp_status handle_event(struct ptxi_warp *w, enum ptxi_event event)
{
    switch (event) {
    case PTXI_EVENT_EXIT:
        finish_exit(w);
        return PTXI_WARP_RUNS;
    case PTXI_EVENT_STALLED:
        return handle_stall(w);
    case PTXI_EVENT_QUANTUM:
        return end_quantum(w);
    case PTXI_EVENT_WARP_AT_BARRIER:
    case PTXI_EVENT_SLICE:
        return PTXI_WARP_STOPPED;
    case PTXI_EVENT_DONE:
        return finish_warp(w);
    default:
        assert(event == PTXI_EVENT_FAULT);
        return PTXI_WARP_FAILED;
    }
}

/* Handles an event of ptxi_warp_run(), and further ones. */
static enum ptxi_warp_status run_from(struct ptxi_warp **w, const struct ptxi_level *level, enum ptxi_event event)
{
    for (;; event = ptxi_warp_run(w, level)) {
        enum ptxi_warp_status status;

        if ((*w)->cta->warps_exited)
            finish_exited_warps((*w)->cta);
        status = handle_event(*w, event);
        if (status != PTXI_WARP_RUNS)
            return status;
    }
}

enum ptxi_warp_status ptxi_warp_schedule(struct ptxi_warp **w, const struct ptxi_level *level)
{
    return run_from(w, level, ptxi_warp_run(w, level));
}

enum ptxi_warp_status ptxi_warp_schedule_on(struct ptxi_warp **w, const struct ptxi_level *level)
{
    return run_from(w, level, ptxi_warp_run_on(w, level));
}
