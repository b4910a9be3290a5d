/* A round of a worker. A worker has some CTAs, and always all CTAs of a cluster. It runs each cluster until the cluster
 * ends or yields to the next one. Each worker has up to resident_limit CTAs, so that a kernel can wait for another
 * CTA. */
#include "exec/sched/worker_round.h"

#include <assert.h>
#include <fenv.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "exec/async/async.h"
#include "exec/async/mbarrier.h"
#include "exec/check/check.h"
#include "exec/engine/divergence.h"
#include "exec/engine/rng.h"
#include "exec/memmap/rcu.h"
#include "exec/sched/cluster_sched.h"
#include "exec/sched/cta_context.h"
#include "exec/sched/deadlock.h"
#include "exec/tcgen05/tmem_queue.h"

/* Short clusters never use up a quantum, and at the end of a quantum the limits of the grid are checked, and the worker
 * is quiescent. So both are done between clusters, too, after this many. */
enum { CLUSTERS_BETWEEN_CHECKS = 16 };

/* Nanoseconds of a cluster that is worth waking the workers before it: ten times what it takes to wake a thread. */
enum { LONG_CLUSTER_NS = 50000 };

/* --- contexts of a worker --- */

static void take_context(struct ptxi_cta *c)
{
    assert(!c->busy && c->worker->free_contexts == c);
    c->worker->free_contexts = c->next_free;
    c->worker->busy++;
    c->busy = true;
}

static void release_context(struct ptxi_cta *c)
{
    assert(c->busy && c->worker->busy);
    c->busy = false;
    c->worker->busy--;
    c->next_free = c->worker->free_contexts;
    c->worker->free_contexts = c;
}

/* The context that take_context() takes next. NULL: memory is short. */
static struct ptxi_cta *free_context(struct ptxi_worker *wk)
{
    struct ptxi_cta *c = wk->free_contexts;

    if (c)
        return c;
    /* no part of a line of the cache is another worker's */
    c = aligned_alloc(128, (sizeof *c + 127) / 128 * 128);
    if (!c)
        return NULL;
    memset(c, 0, sizeof *c);
    c->worker = wk;
    c->next = wk->ctas;
    wk->ctas = wk->free_contexts = c;
    return c;
}

/* Contexts for a cluster. Returns that of rank 0. NULL: memory is short. */
static struct ptxi_cta *take_contexts(struct ptxi_worker *wk, struct ptxi_grid *g)
{
    struct ptxi_cta *lead = NULL;

    assert(g->cluster_size && g->cluster_size <= PTXI_MAX_CLUSTER_CTAS);
    for (uint32_t m = 0; m < g->cluster_size; m++) {
        struct ptxi_cta *c = free_context(wk);

        if (!c || !ptxi_cta_context_prepare(c, g, m, wk->exec->level)) {
            for (uint32_t k = 0; k < m; k++)
                release_context(lead->members[k]);
            return NULL;
        }
        if (!m)
            lead = c;
        lead->members[m] = c;
        lead->member_count = m + 1;
        c->lead = lead;
        take_context(c);
    }
    return lead;
}

/* Adds the counters of a CTA to its grid's. */
static void add_counts(struct ptxi_cta *c)
{
    if (!c->warp_instructions)
        return;
    atomic_fetch_add_explicit(&c->grid->thread_instructions, c->thread_instructions, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->grid->warp_instructions, c->warp_instructions, memory_order_relaxed);
    c->thread_instructions = c->warp_instructions = 0;
#define X(name) atomic_fetch_add_explicit(&c->grid->shared.name, c->shared_counts.name, memory_order_relaxed);
    PTXI_SHARED_COUNTS(X)
#undef X
    c->shared_counts = (struct ptxi_shared_counts){ 0 };
}

/* --- clusters to start --- */

/* A worker takes one cluster, then two, and so on, up to this many. In between it does not touch what workers share.
 * The first ones show whether clusters wait for each other. Such clusters are taken one by one, so that they start in
 * order. */
enum { MAX_PORTION = 32 };

static void add_ended(struct ptxi_cta *lead)
{
    if (lead->ended)
        atomic_fetch_add_explicit(&lead->grid->done_ctas, lead->ended, memory_order_relaxed);
    lead->ended = 0;
}

/* The next cluster to start in this context, or UINT64_MAX. */
static uint64_t next_cluster(struct ptxi_cta *lead)
{
    struct ptxi_grid *g = lead->grid;

    if (ptxi_grid_failed(g))
        return UINT64_MAX;
    if (lead->taken.next == lead->taken.end) {
        add_ended(lead);
        if (!g->one_by_one && lead->portion < MAX_PORTION)
            lead->portion *= 2;
        lead->taken = ptxi_grid_take(g, lead->portion);
    }
    return lead->taken.next == lead->taken.end ? UINT64_MAX : lead->taken.next++;
}

/* A context of the worker that cannot start the clusters that it has taken, because its own waits. */
static struct ptxi_cta *context_with_taken(struct ptxi_worker *wk)
{
    for (struct ptxi_cta *c = wk->ctas; c; c = c->next)
        if (c->busy && c->lead == c && c->taken.next < c->taken.end && wk->busy < c->grid->resident_limit &&
            !ptxi_grid_failed(c->grid))
            return c;
    return NULL;
}

/* Ends the CTA, even if its launch has failed. */
static void end_cta(struct ptxi_cta *c)
{
    for (uint32_t k = 0; k < c->warp_count; k++) {
        ptxi_warp_abandon(&c->warps[k]);
        ptxi_cp_async_drop(&c->warps[k]);
    }
    if (c->check) { /* refers to the launch */
        ptxi_check_free_cta(c);
        c->prepared_for = NULL;
    }
    release_context(c);
    add_counts(c);
}

/* --- grids --- */

static void grid_out_of_memory(struct ptxi_grid *g)
{
    if (!ptxi_grid_fail(g))
        return;
    g->report.kind = PTXI_FK_MEMORY;
    g->report.code = g->code;
}

/* The worker leaves the grid and wakes the thread that waits for its end. */
static void leave_grid(struct ptxi_exec *x, struct ptxi_grid *g)
{
    pthread_mutex_lock(&x->lock);
    assert(g->inside);
    if (!--g->inside && !ptxi_grid_has_clusters(g))
        pthread_cond_broadcast(&x->done);
    pthread_mutex_unlock(&x->lock);
}

/* Enters a grid that the worker is in, once more. */
static void enter_again(struct ptxi_exec *x, struct ptxi_grid *g)
{
    pthread_mutex_lock(&x->lock);
    assert(g->inside);
    g->inside++;
    pthread_mutex_unlock(&x->lock);
}

/* Enters a running grid, in turn, that has clusters left and may have one more on this worker. */
static struct ptxi_grid *enter_grid(struct ptxi_exec *x, struct ptxi_worker *wk)
{
    struct ptxi_grid *g, *found = NULL;

    pthread_mutex_lock(&x->lock);
    for (g = x->grids; g; g = g->next)
        if (ptxi_grid_has_clusters(g) && (g->cooperative || wk->busy < g->resident_limit)) {
            found = g;
            found->inside++;
            break;
        }
    if (found && found->next) { /* the next search begins with the grid after it */
        struct ptxi_grid **p = &x->grids;

        while (*p != found)
            p = &(*p)->next;
        *p = found->next;
        while (*p)
            p = &(*p)->next;
        *p = found;
        found->next = NULL;
    }
    pthread_mutex_unlock(&x->lock);
    return found;
}

/* The time if other workers may help with the grid, else 0. */
static uint64_t begin_first(const struct ptxi_grid *g)
{
    return !g->one_worker && ptxi_grid_has_clusters(g) ? ptxi_clock_monotonic_ns() : 0;
}

/* Wakes the other workers after a cluster that began at the given time. If it took long, the next launch of the kernel
 * wakes them at once. */
static void wake_helpers(struct ptxi_exec *x, const struct ptxi_grid *g, uint64_t began)
{
    struct ptxi_function_state *state = g->code->state;

    if (!ptxi_grid_has_clusters(g))
        return;
    if (began && state && ptxi_clock_monotonic_ns() - began >= LONG_CLUSTER_NS)
        atomic_store_explicit(&state->long_ctas, true, memory_order_relaxed);
    pthread_mutex_lock(&x->lock);
    if (x->idle)
        pthread_cond_broadcast(&x->work);
    pthread_mutex_unlock(&x->lock);
}

/* Reports the progress of the grid, if the last report is old enough and no other thread is in one. */
static void report_progress(struct ptxi_grid *g, struct ptxi_rcu_reader *rcu)
{
    if (!g->progress || ptxi_clock_monotonic_ns() < atomic_load_explicit(&g->progress_ns, memory_order_relaxed))
        return;
    if (atomic_flag_test_and_set(&g->reporting))
        return;
    ptxi_rcu_read_unlock(rcu);
    g->progress(g->progress_ctx, atomic_load(&g->done_ctas), g->cta_total);
    ptxi_rcu_read_lock(rcu);
    atomic_store_explicit(&g->progress_ns, ptxi_clock_monotonic_ns() + PTXI_PROGRESS_NS, memory_order_relaxed);
    atomic_flag_clear(&g->reporting);
}

/* The cluster has ended: completes its asynchronous operations. */
static void finish_cluster(struct ptxi_cta *lead)
{
    if (lead->jobs)
        ptxi_bulk_complete_all(lead);
    if (lead->tmem_jobs)
        ptxi_tmem_drop(lead);
    if (lead->check)
        ptxi_check_end_cluster(lead);
    lead->ended += lead->member_count;
}

/* Releases the contexts of a cluster that has ended or failed. */
static void release_cluster(struct ptxi_cta *lead)
{
    ptxi_bulk_drop(lead);
    ptxi_tmem_drop(lead);
    add_ended(lead);
    for (uint32_t m = lead->member_count; m--;)
        end_cta(lead->members[m]);
}

/* Runs a cluster, and after its end the next ones of its grid in the same contexts. True: it only waits for other
 * clusters. */
static bool run_clusters(struct ptxi_exec *x, struct ptxi_cta *lead)
{
    struct ptxi_grid *g = lead->grid;
    struct ptxi_rcu_reader *rcu = lead->worker->rcu;
    const struct ptxi_level *level = ptxi_cluster_level(g, x->level);
    const uint64_t began = begin_first(g);

    for (unsigned count = 0;; count++) {
        enum ptxi_cluster_status status = level && count ? ptxi_cluster_run_started(lead, level) :
                                                           ptxi_cluster_run(lead, x->level);
        bool checks = count % CLUSTERS_BETWEEN_CHECKS == CLUSTERS_BETWEEN_CHECKS - 1;
        uint64_t n;

        if (checks)
            ptxi_rcu_quiescent_state(rcu);
        if (status == PTXI_CLUSTER_FINISHED)
            finish_cluster(lead);
        if (!count)
            wake_helpers(x, g, began);
        report_progress(g, rcu);
        if ((status == PTXI_CLUSTER_YIELDED || status == PTXI_CLUSTER_WAITS) && !ptxi_grid_failed(g)) {
            if (status == PTXI_CLUSTER_WAITS)
                atomic_store_explicit(&g->clusters_wait, true, memory_order_relaxed);
            add_ended(lead);
            return status == PTXI_CLUSTER_WAITS;
        }
        n = next_cluster(lead);
        if (n == UINT64_MAX)
            break;
        ptxi_cta_context_start_cluster(lead, n);
        if (checks && !ptxi_check_limits(&lead->warps[0]))
            break;
    }
    release_cluster(lead);
    leave_grid(x, g);
    return false;
}

static bool run_cluster_contexts(struct ptxi_exec *x, struct ptxi_cta *lead)
{
    struct ptxi_rcu_reader *rcu = lead->worker->rcu;
    bool waits;

    ptxi_rcu_read_lock(rcu);
    waits = run_clusters(x, lead);
    ptxi_rcu_read_unlock(rcu);
    return waits;
}

/* Whether the worker takes another cluster of a fair grid at once. As on a GPU, all clusters that can be resident
 * start together. Each worker takes its share of them. */
static bool takes_another(const struct ptxi_exec *x, const struct ptxi_worker *wk, const struct ptxi_grid *g)
{
    return g->fair && wk->busy < (g->cta_total + x->worker_count - 1) / x->worker_count;
}

/* Starts the first cluster of a portion in new contexts. They keep the rest. The worker has entered the grid, and
 * leaves it if there is no cluster or no memory. */
static bool start_portion(struct ptxi_exec *x, struct ptxi_worker *wk, struct ptxi_grid *g, struct ptxi_portion p)
{
    struct ptxi_cta *lead = p.next == p.end ? NULL : take_contexts(wk, g);

    if (!lead) {
        if (p.next != p.end)
            grid_out_of_memory(g);
        leave_grid(x, g);
        return false;
    }
    lead->portion = 1;
    lead->ended = 0;
    lead->taken = (struct ptxi_portion){ p.next + 1, p.end };
    ptxi_cta_context_start_cluster(lead, p.next);
    return true;
}

/* Takes one more cluster. *more: the worker wants another one of this grid. False: there is none. */
static bool take_cluster(struct ptxi_exec *x, struct ptxi_worker *wk, bool *more)
{
    struct ptxi_cta *other = context_with_taken(wk);
    struct ptxi_grid *g = other ? other->grid : enter_grid(x, wk);
    struct ptxi_portion p;

    if (!g)
        return false;
    if (other) {
        enter_again(x, g);
        p = (struct ptxi_portion){ other->taken.next, other->taken.next + 1 };
        other->taken.next++;
    } else {
        p = ptxi_grid_take(g, 1);
    }
    *more = start_portion(x, wk, g, p) && takes_another(x, wk, g);
    return true;
}

/* --- the host's FPU --- */

/* Arithmetic of kernels rounds to nearest and does not trap, whatever the settings of the host program. */
#ifdef __SSE__
typedef unsigned fpu_state;

static fpu_state enter_default_fpu(void)
{
    fpu_state old = __builtin_ia32_stmxcsr();

    __builtin_ia32_ldmxcsr(0x1f80);
    return old;
}

static void restore_fpu(fpu_state old)
{
    __builtin_ia32_ldmxcsr(old);
}
#else
typedef fenv_t fpu_state;

static fpu_state enter_default_fpu(void)
{
    fpu_state old;

    fegetenv(&old);
    fesetenv(FE_DFL_ENV);
    return old;
}

static void restore_fpu(fpu_state old)
{
    fesetenv(&old);
}
#endif

/* --- rounds of a worker --- */

/* A random schedule skips some clusters. */
static bool is_skipped(struct ptxi_cta *lead)
{
    return lead->grid->schedule && ptxi_rng_one_in(&lead->rng_state, 3);
}

/* If clusters of a cooperative grid wait for clusters that have not started, the worker starts one for each of them.
 * Else it starts one. */
bool ptxi_worker_round(struct ptxi_exec *x, struct ptxi_worker *wk)
{
    fpu_state host = enter_default_fpu();
    uint32_t more = 1;
    bool any = false, another;

    assert(wk->claimed && wk->exec == x);
    for (struct ptxi_cta *c = wk->ctas; c; c = c->next)
        if (c->busy && c->lead == c) {
            const struct ptxi_grid *g = c->grid;

            any = true;
            if (!is_skipped(c) && run_cluster_contexts(x, c))
                more += g->cooperative && ptxi_grid_has_clusters(g);
        }
    for (; more && take_cluster(x, wk, &another); more -= !another)
        any = true;
    restore_fpu(host);
    return any;
}
