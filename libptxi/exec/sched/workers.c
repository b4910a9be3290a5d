#include "exec/sched/workers.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "exec/memmap/rcu.h"
#include "exec/sched/cta_context.h"
#include "exec/sched/worker_round.h"

/* Claims a free worker, preferably one that holds CTAs. Under the lock. */
static struct ptxi_worker *claim_worker(struct ptxi_exec *x)
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

/* Under the lock. */
static void release_worker(struct ptxi_worker *wk)
{
    assert(wk->claimed);
    wk->claimed = false;
}

/* Whether a free worker would have something to do. Under the lock. */
static bool is_work_left(const struct ptxi_exec *x)
{
    for (const struct ptxi_grid *g = x->grids; g; g = g->next)
        if (ptxi_grid_has_clusters(g))
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
        struct ptxi_worker *wk = is_work_left(x) ? claim_worker(x) : NULL;

        if (!wk) {
            x->idle++;
            pthread_cond_wait(&x->work, &x->lock);
            x->idle--;
            continue;
        }
        pthread_mutex_unlock(&x->lock);
        while (ptxi_worker_round(x, wk))
            ;
        pthread_mutex_lock(&x->lock);
        release_worker(wk);
        pthread_cond_broadcast(&x->done);
    }
    pthread_mutex_unlock(&x->lock);
    return NULL;
}

static bool has_ended(const struct ptxi_grid *g)
{
    return !g->inside && !ptxi_grid_has_clusters(g);
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

    while (*p != g) {
        assert(*p);
        p = &(*p)->next;
    }
    *p = g->next;
}

/* Initialises the engine's own fields. */
static void init_grid(const struct ptxi_exec *x, struct ptxi_grid *g)
{
    if (!g->cluster[0])
        g->cluster[0] = g->cluster[1] = g->cluster[2] = 1;
    g->cluster_size = g->cluster[0] * g->cluster[1] * g->cluster[2];
    uint64_t clusters = (uint64_t)g->grid[0] * g->grid[1] * g->grid[2] / g->cluster_size;

    assert(g->window.first + g->window.count <= clusters);
    g->first_cluster = g->window.first;
    g->cluster_end = g->window.count ? g->window.first + g->window.count : clusters;
    g->cta_total = (g->cluster_end - g->first_cluster) * g->cluster_size;
    g->only_worker = x->worker_count == 1;
    g->one_worker = g->cluster_end - g->first_cluster == 1 || g->only_worker;
    g->workers = x->worker_count;
    g->one_by_one = g->schedule || g->fair || g->cooperative || g->cluster_size > 1;
    g->clusters_wait = false;
    g->next_cluster = g->first_cluster;
    g->done_ctas = g->spent = 0;
    g->progress_ns = g->progress ? ptxi_clock_monotonic_ns() + PTXI_PROGRESS_NS : 0;
    atomic_flag_clear(&g->reporting);
    g->failed = g->inside = 0;
    memset(&g->report, 0, sizeof g->report);
}

/* Runs rounds, as the claimed worker wk or (NULL) as one that becomes free, until the grid has ended. Returns the
 * worker that the thread has then, or NULL. Under the lock, except during rounds. */
static struct ptxi_worker *work_until_ended(struct ptxi_exec *x, const struct ptxi_grid *g, struct ptxi_worker *wk)
{
    while (!has_ended(g)) {
        if (!wk)
            wk = is_work_left(x) ? claim_worker(x) : NULL;
        if (wk) {
            bool any;

            pthread_mutex_unlock(&x->lock);
            any = ptxi_worker_round(x, wk);
            pthread_mutex_lock(&x->lock);
            if (any || has_ended(g))
                continue;
            release_worker(wk);
            wk = NULL;
            if (is_work_left(x))
                continue;
        }
        pthread_cond_wait(&x->done, &x->lock);
    }
    return wk;
}

/* Whether clusters of the kernel took long in an earlier launch. */
static bool has_long_ctas(const struct ptxi_grid *g)
{
    const struct ptxi_function_state *state = g->code->state;

    return state && atomic_load_explicit(&state->long_ctas, memory_order_relaxed);
}

void ptxi_exec_launch(struct ptxi_exec *x, struct ptxi_grid *g)
{
    struct ptxi_worker *wk;

    init_grid(x, g);
    pthread_mutex_lock(&x->lock);
    add_grid(x, g);
    wk = claim_worker(x);
    if (x->idle && (!wk || (!g->one_worker && has_long_ctas(g))))
        pthread_cond_broadcast(&x->work);
    wk = work_until_ended(x, g, wk);
    if (wk) {
        release_worker(wk);
        if (is_work_left(x)) { /* wake pool threads, and other launches that have no worker */
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

    if (n < 1)
        return 1;
    return n > PTXI_MAX_WORKERS ? PTXI_MAX_WORKERS : (unsigned)n;
}

static bool init_workers(struct ptxi_exec *x)
{
    for (unsigned k = 0; k < x->worker_count; k++) {
        x->workers[k].exec = x;
        x->workers[k].index = k;
        if (!(x->workers[k].rcu = ptxi_rcu_register()))
            return false;
    }
    return true;
}

static void destroy(struct ptxi_exec *x)
{
    assert(!x->grids);
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
            ptxi_cta_context_free(c);
        }
        ptxi_rcu_unregister(x->workers[k].rcu);
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
    if (!x->workers || !x->threads || !init_workers(x)) {
        destroy(x);
        return NULL;
    }
    /* the thread that launches acts as the first worker */
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
