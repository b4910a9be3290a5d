/* Workers and CTAs. A worker holds some CTAs, those of a cluster together, and lets each run (turns.c) until it ends or gives way
 * to the next one, so a kernel may wait for another CTA, up to as many as the device could hold at once. */
#include <assert.h>
#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "exec/async/async.h"
#include "exec/engine/rng.h"
#include "exec/sched/cta_context.h"
#include "exec/tcgen05/tmem.h"
#include "exec/sched/cluster_sched.h"

struct ptxi_exec {
    _Atomic unsigned refs;
    const struct ptxi_level *level;
    unsigned worker_count, thread_count;
    struct ptxi_worker *workers;
    pthread_t *threads;
    pthread_mutex_t lock;
    pthread_cond_t work, done; /* something to run; a grid has ended or a worker is free */
    struct ptxi_grid *grids;   /* running */
    unsigned idle;             /* threads waiting for work */
    uint64_t launches;
    bool quit;
};

enum { PROGRESS_NS = 100000000 }; /* between two reports of a grid's progress */
enum { CLUSTERS_BETWEEN_PASSES = 16 }; /* short clusters never use up a quantum, at whose end the worker passes */

/* The next cluster of a grid that the caller is inside of, or UINT64_MAX. */
static uint64_t next_cluster(struct ptxi_grid *g)
{
    uint64_t n;

    if (atomic_load_explicit(&g->failed, memory_order_relaxed) || atomic_load_explicit(&g->next_cluster, memory_order_relaxed) >= g->cluster_total)
        return UINT64_MAX;
    n = atomic_fetch_add_explicit(&g->next_cluster, 1, memory_order_relaxed);
    return n < g->cluster_total ? n : UINT64_MAX;
}

bool ptxi_grid_cancel(struct ptxi_grid *g, uint32_t first_cta[3])
{
    uint64_t n = next_cluster(g);

    if (n == UINT64_MAX)
        return false;
    ptxi_place_first(g, n, first_cta);
    return true;
}

static bool has_ctas(const struct ptxi_grid *g)
{
    return !atomic_load_explicit(&g->failed, memory_order_relaxed) && atomic_load_explicit(&g->next_cluster, memory_order_relaxed) < g->cluster_total;
}

static void take_place(struct ptxi_cta *c)
{
    assert(!c->busy && c->worker->free_places == c);
    c->worker->free_places = c->next_free;
    c->worker->busy++;
    c->busy = true;
}

static void give_place_back(struct ptxi_cta *c)
{
    assert(c->busy);
    c->busy = false;
    c->worker->busy--;
    c->next_free = c->worker->free_places;
    c->worker->free_places = c;
}

/* The place that is taken next; NULL: memory is short. */
static struct ptxi_cta *free_place(struct ptxi_worker *wk)
{
    struct ptxi_cta *c = wk->free_places;

    if (c)
        return c;
    c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->worker = wk;
    c->next = wk->ctas;
    wk->ctas = wk->free_places = c;
    return c;
}

static void grid_out_of_memory(struct ptxi_grid *g)
{
    if (!ptxi_grid_fail(g))
        return;
    g->report.kind = PTXI_FK_MEMORY;
    g->report.code = g->code;
}

/* The worker leaves the grid; whoever waits for its end looks again. */
static void leave_grid(struct ptxi_exec *x, struct ptxi_grid *g)
{
    pthread_mutex_lock(&x->lock);
    if (!--g->inside && !has_ctas(g))
        pthread_cond_broadcast(&x->done);
    pthread_mutex_unlock(&x->lock);
}

/* Enters a running grid that has CTAs left and room for one more on this worker, round robin. */
static struct ptxi_grid *enter_grid(struct ptxi_exec *x, struct ptxi_worker *wk)
{
    struct ptxi_grid *g, *found = NULL;

    pthread_mutex_lock(&x->lock);
    for (g = x->grids; g; g = g->next)
        if (has_ctas(g) && (g->cooperative || wk->busy < g->resident_limit)) {
            found = g;
            found->inside++;
            break;
        }
    if (found && found->next) { /* the next one to look is served from the next grid on */
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

static void wake_helpers(struct ptxi_exec *x, const struct ptxi_grid *g)
{
    if (!has_ctas(g))
        return;
    pthread_mutex_lock(&x->lock);
    if (x->idle)
        pthread_cond_broadcast(&x->work);
    pthread_mutex_unlock(&x->lock);
}

static void tell_counts(struct ptxi_cta *c)
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

/* Whoever comes first after the time is up tells how far the grid is. */
static void report_progress(struct ptxi_grid *g, struct ptxi_grace *grace)
{
    if (!g->progress || ptxi_monotonic_ns() < atomic_load_explicit(&g->progress_ns, memory_order_relaxed))
        return;
    if (atomic_flag_test_and_set(&g->reporting))
        return;
    ptxi_grace_leave(grace);
    g->progress(g->progress_ctx, atomic_load(&g->done_ctas), g->cta_total);
    ptxi_grace_enter(grace);
    atomic_store_explicit(&g->progress_ns, ptxi_monotonic_ns() + PROGRESS_NS, memory_order_relaxed);
    atomic_flag_clear(&g->reporting);
}

static void leave_place(struct ptxi_cta *c)
{
    for (uint32_t k = 0; k < c->warp_count; k++) {
        ptxi_warp_abandon(&c->warps[k]);
        ptxi_async_drop(&c->warps[k]);
    }
    give_place_back(c);
    tell_counts(c);
}

/* Goes on with a cluster, and after its end with the next ones of its grid in the same places. True: it only waits for
 * others. */
static bool run_clusters(struct ptxi_exec *x, struct ptxi_cta *lead)
{
    struct ptxi_grid *g = lead->grid;
    struct ptxi_grace *grace = lead->worker->grace;

    for (unsigned count = 0;; count++) {
        enum ptxi_cluster_status status = ptxi_cluster_run(lead, x->level);
        uint64_t n;

        if (count % CLUSTERS_BETWEEN_PASSES == CLUSTERS_BETWEEN_PASSES - 1)
            ptxi_grace_pass(grace);
        if (status == PTXI_CLUSTER_FINISHED) {
            ptxi_bulk_finish(lead);
            ptxi_tmem_drop(lead);
            atomic_fetch_add_explicit(&g->done_ctas, lead->member_count, memory_order_relaxed);
        }
        if (!count)
            wake_helpers(x, g);
        report_progress(g, grace);
        if ((status == PTXI_CLUSTER_GAVE_WAY || status == PTXI_CLUSTER_WAITS) && !ptxi_grid_failed(g))
            return status == PTXI_CLUSTER_WAITS;
        n = next_cluster(g);
        if (n == UINT64_MAX)
            break;
        ptxi_place_start(lead, n);
        if (!ptxi_within_limits(&lead->warps[0])) /* many short CTAs never use up a quantum */
            break;
    }
    ptxi_bulk_drop(lead);
    ptxi_tmem_drop(lead);
    for (uint32_t m = lead->member_count; m--;)
        leave_place(lead->members[m]);
    leave_grid(x, g);
    return false;
}

static bool run_places(struct ptxi_exec *x, struct ptxi_cta *lead)
{
    struct ptxi_grace *grace = lead->worker->grace;

    ptxi_grace_enter(grace);
    bool waits = run_clusters(x, lead);

    ptxi_grace_leave(grace);
    return waits;
}

/* Places for a cluster; the first one leads. NULL: memory is short. */
static struct ptxi_cta *take_places(struct ptxi_worker *wk, struct ptxi_grid *g)
{
    struct ptxi_cta *lead = NULL;

    for (uint32_t m = 0; m < g->cluster_size; m++) {
        struct ptxi_cta *c = free_place(wk);

        if (!c || !ptxi_place_prepare(c, g, m, wk->exec->level)) {
            for (uint32_t k = 0; k < m; k++)
                give_place_back(lead->members[k]);
            return NULL;
        }
        if (!m)
            lead = c;
        lead->members[m] = c;
        lead->member_count = m + 1;
        c->lead = lead;
        take_place(c);
    }
    return lead;
}

/* Whether the worker takes another cluster of a fair grid at once: as on a GPU, those that can be resident begin together. Each worker
 * leaves the others their share. */
static bool begin_together(const struct ptxi_exec *x, const struct ptxi_worker *wk, const struct ptxi_grid *g)
{
    return g->fair && wk->busy < (g->cta_total + x->worker_count - 1) / x->worker_count;
}

/* Takes one more cluster onto the worker; *more: and wants another one of this grid. False if there is none to take. */
static bool take_cluster(struct ptxi_exec *x, struct ptxi_worker *wk, bool *more)
{
    struct ptxi_grid *g = enter_grid(x, wk);
    struct ptxi_cta *lead;
    uint64_t n;

    if (!g)
        return false;
    n = next_cluster(g);
    lead = n == UINT64_MAX ? NULL : take_places(wk, g);
    if (n != UINT64_MAX && !lead)
        grid_out_of_memory(g);
    if (lead)
        ptxi_place_start(lead, n);
    *more = lead && begin_together(x, wk, g);
    if (!lead)
        leave_grid(x, g);
    return true;
}

/* Kernels' arithmetic rounds to nearest and traps nothing, however the host program has set its FPU. */
#ifdef __SSE__
typedef unsigned fpu_state;

static fpu_state fpu_enter(void)
{
    fpu_state old = __builtin_ia32_stmxcsr();

    __builtin_ia32_ldmxcsr(0x1f80);
    return old;
}

static void fpu_leave(fpu_state old)
{
    __builtin_ia32_ldmxcsr(old);
}
#else
typedef fenv_t fpu_state;

static fpu_state fpu_enter(void)
{
    fpu_state old;

    fegetenv(&old);
    fesetenv(FE_DFL_ENV);
    return old;
}

static void fpu_leave(fpu_state old)
{
    fesetenv(&old);
}
#endif

/* Where chance rules, some clusters do not come to their turn. */
static bool is_passed_over(struct ptxi_cta *lead)
{
    return lead->grid->schedule && ptxi_one_in(&lead->dice, 3);
}

/* One round of a worker: all its CTAs go on, and one more is taken. All of a cooperative grid wait for those that have not begun: one more for
 * each that waits. False: nothing to do. */
static bool work(struct ptxi_exec *x, struct ptxi_worker *wk)
{
    fpu_state host = fpu_enter();
    uint32_t more = 1;
    bool any = false, another;

    for (struct ptxi_cta *c = wk->ctas; c; c = c->next)
        if (c->busy && c->lead == c) {
            const struct ptxi_grid *g = c->grid;

            any = true;
            if (!is_passed_over(c) && run_places(x, c))
                more += g->cooperative && has_ctas(g);
        }
    for (; more && take_cluster(x, wk, &another); more -= !another)
        any = true;
    fpu_leave(host);
    return any;
}

/* --- threads --- */

/* Under the lock: a worker that nobody runs, best one that still holds CTAs. */
static struct ptxi_worker *claim(struct ptxi_exec *x)
{
    struct ptxi_worker *found = NULL;

    for (unsigned k = 0; k < x->worker_count; k++) {
        struct ptxi_worker *wk = &x->workers[k];

        if (wk->claimed)
            continue;
        if (!found || wk->busy)
            found = wk;
    }
    if (found)
        found->claimed = true;
    return found;
}

/* Under the lock: whether a worker that nobody runs could do something. */
static bool work_waits(const struct ptxi_exec *x)
{
    for (const struct ptxi_grid *g = x->grids; g; g = g->next)
        if (has_ctas(g))
            return true;
    for (unsigned k = 0; k < x->worker_count; k++)
        if (!x->workers[k].claimed && x->workers[k].busy)
            return true;
    return false;
}

static void *thread_main(void *arg)
{
    struct ptxi_exec *x = arg;

    pthread_mutex_lock(&x->lock);
    while (!x->quit) {
        struct ptxi_worker *wk = work_waits(x) ? claim(x) : NULL;

        if (!wk) {
            x->idle++;
            pthread_cond_wait(&x->work, &x->lock);
            x->idle--;
            continue;
        }
        pthread_mutex_unlock(&x->lock);
        while (work(x, wk))
            ;
        pthread_mutex_lock(&x->lock);
        wk->claimed = false;
        pthread_cond_broadcast(&x->done);
    }
    pthread_mutex_unlock(&x->lock);
    return NULL;
}

static bool ended(const struct ptxi_grid *g)
{
    return !g->inside && !has_ctas(g);
}

static void add_grid(struct ptxi_exec *x, struct ptxi_grid *g)
{
    struct ptxi_grid **p = &x->grids;

    g->launch_id = ++x->launches;
    g->next = NULL;
    while (*p)
        p = &(*p)->next;
    *p = g;
}

static void remove_grid(struct ptxi_exec *x, struct ptxi_grid *g)
{
    struct ptxi_grid **p = &x->grids;

    while (*p != g)
        p = &(*p)->next;
    *p = g->next;
}

static void make_ready(const struct ptxi_exec *x, struct ptxi_grid *g)
{
    if (!g->cluster[0])
        g->cluster[0] = g->cluster[1] = g->cluster[2] = 1;
    g->cluster_size = g->cluster[0] * g->cluster[1] * g->cluster[2];
    g->cta_total = (uint64_t)g->grid[0] * g->grid[1] * g->grid[2];
    g->cluster_total = g->cta_total / g->cluster_size;
    g->only_worker = x->worker_count == 1;
    g->one_worker = g->cluster_total == 1 || g->only_worker;
    g->next_cluster = g->done_ctas = g->spent = 0;
    g->progress_ns = g->progress ? ptxi_monotonic_ns() + PROGRESS_NS : 0;
    atomic_flag_clear(&g->reporting);
    g->failed = g->inside = 0;
    memset(&g->report, 0, sizeof g->report);
}

/* Works, as the claimed worker wk or as one that becomes free (NULL: none yet), until the grid has ended. Gives back whom the thread is then. Under the
 * lock, but for the work. */
static struct ptxi_worker *work_until_ended(struct ptxi_exec *x, const struct ptxi_grid *g, struct ptxi_worker *wk)
{
    while (!ended(g)) {
        if (!wk)
            wk = work_waits(x) ? claim(x) : NULL;
        if (wk) {
            bool any;

            pthread_mutex_unlock(&x->lock);
            any = work(x, wk);
            pthread_mutex_lock(&x->lock);
            if (any || ended(g))
                continue;
            wk->claimed = false;
            wk = NULL;
            if (work_waits(x))
                continue;
        }
        pthread_cond_wait(&x->done, &x->lock);
    }
    return wk;
}

void ptxi_exec_launch(struct ptxi_exec *x, struct ptxi_grid *g)
{
    struct ptxi_worker *wk;

    make_ready(x, g);
    pthread_mutex_lock(&x->lock);
    add_grid(x, g);
    wk = claim(x);
    if (!wk && x->idle)
        pthread_cond_broadcast(&x->work);
    wk = work_until_ended(x, g, wk);
    if (wk) {
        wk->claimed = false;
        if (work_waits(x)) { /* for pool threads, and for other launches that have no worker */
            pthread_cond_broadcast(&x->work);
            pthread_cond_broadcast(&x->done);
        }
    }
    remove_grid(x, g);
    pthread_mutex_unlock(&x->lock);
}

static unsigned default_workers(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : n > PTXI_MAX_WORKERS ? PTXI_MAX_WORKERS : (unsigned)n;
}

static bool make_workers(struct ptxi_exec *x)
{
    for (unsigned k = 0; k < x->worker_count; k++) {
        x->workers[k].exec = x;
        x->workers[k].index = k;
        if (!(x->workers[k].grace = ptxi_grace_take()))
            return false;
    }
    return true;
}

static void destroy(struct ptxi_exec *x)
{
    pthread_mutex_lock(&x->lock);
    x->quit = true;
    pthread_cond_broadcast(&x->work);
    pthread_mutex_unlock(&x->lock);
    for (unsigned k = 0; k < x->thread_count; k++)
        pthread_join(x->threads[k], NULL);
    for (unsigned k = 0; x->workers && k < x->worker_count; k++) {
        while (x->workers[k].ctas) {
            struct ptxi_cta *c = x->workers[k].ctas;

            x->workers[k].ctas = c->next;
            ptxi_place_free(c);
        }
        ptxi_grace_give_back(x->workers[k].grace);
    }
    free(x->workers);
    free(x->threads);
    pthread_cond_destroy(&x->work);
    pthread_cond_destroy(&x->done);
    pthread_mutex_destroy(&x->lock);
    free(x);
}

struct ptxi_exec *ptxi_exec_create(unsigned workers)
{
    struct ptxi_exec *x = calloc(1, sizeof *x);

    if (!x)
        return NULL;
    x->refs = 1;
    x->level = ptxi_exec_level();
    x->worker_count = workers ? workers : default_workers();
    x->workers = aligned_alloc(_Alignof(struct ptxi_worker), x->worker_count * sizeof *x->workers);
    if (x->workers)
        memset(x->workers, 0, x->worker_count * sizeof *x->workers);
    x->threads = calloc(x->worker_count, sizeof *x->threads);
    pthread_mutex_init(&x->lock, NULL);
    pthread_cond_init(&x->work, NULL);
    pthread_cond_init(&x->done, NULL);
    if (!x->workers || !x->threads || !make_workers(x)) {
        destroy(x);
        return NULL;
    }
    /* the thread that launches is the first worker */
    while (x->thread_count + 1 < x->worker_count && !pthread_create(&x->threads[x->thread_count], NULL, thread_main, x))
        x->thread_count++;
    return x;
}

void ptxi_exec_ref(struct ptxi_exec *x)
{
    atomic_fetch_add(&x->refs, 1);
}

void ptxi_exec_unref(struct ptxi_exec *x)
{
    if (atomic_fetch_sub(&x->refs, 1) == 1)
        destroy(x);
}

unsigned ptxi_exec_workers(const struct ptxi_exec *x)
{
    return x->worker_count;
}
