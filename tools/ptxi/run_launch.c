/* The launches of `ptxi run`, with progress, counters and times. */
#include "run.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* ---- progress */

enum { SILENT_MS = 500 }; /* short launches show no progress */

struct progress {
    double start; /* of now_ms() */
    bool shown;
};

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void show_progress(void *user, unsigned long long done, unsigned long long blocks)
{
    static const char bar[] = "##############################";
    enum { CELLS = sizeof bar - 1 };
    struct progress *p = user;
    double ms = now_ms() - p->start, part = blocks ? (double)done / (double)blocks : 0;

    assert(done <= blocks);
    if (ms < SILENT_MS)
        return;
    fprintf(stderr, "\r[%-*.*s] %3d %%, %llu of %llu blocks", CELLS, (int)(part * CELLS), bar, (int)(part * 100),
            done, blocks);
    if (done)
        fprintf(stderr, ", %.0f s left", ms / 1e3 * (1 - part) / part);
    fputs("\033[K", stderr);
    fflush(stderr);
    p->shown = true;
}

static void end_progress(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}

/* ---- one launch */

static void discard_output(void *user, const char *text, size_t length)
{
    (void)user, (void)text, (void)length;
}

ptxiResult ptxi_cmd_fill_buffers(const struct run *r)
{
    ptxiResult e = PTXI_SUCCESS;

    for (unsigned i = 0; i < r->arg_count && !e; i++)
        if (r->args[i].buffer && r->args[i].type)
            e = ptxiMemcpyHtoD(r->args[i].device, r->args[i].data, r->args[i].bytes);
    return e;
}

static ptxiResult queue_launch(const struct run *r);

unsigned long long ptxi_cmd_count_clusters(const struct run *r)
{
    static const ptxiFunctionAttribute sides[] = { PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
                                                   PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
                                                   PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH };
    unsigned long long n = 1;

    for (int k = 0; k < 3; k++) {
        int side = 0;

        ptxiFuncGetAttribute(&side, sides[k], r->function);
        n *= r->grid[k] / (side > 0 ? (unsigned)side : 1);
    }
    return n;
}

static unsigned long long first_of_shard(const struct run *r, unsigned long long shard)
{
    return (unsigned long long)((unsigned __int128)ptxi_cmd_count_clusters(r) * shard / r->shards);
}

/* The shard has the clusters from first_of_shard() on. It may have none. */
static ptxiResult queue_shard(const struct run *r)
{
    struct run window = *r;

    window.shards = 0;
    window.first_cluster = first_of_shard(r, r->shard - 1);
    window.cluster_count = first_of_shard(r, r->shard) - window.first_cluster;
    return window.cluster_count ? queue_launch(&window) : PTXI_SUCCESS;
}

ptxiLaunchConfig ptxi_cmd_launch_config(const struct run *r)
{
    return (ptxiLaunchConfig){
        .gridDimX = r->grid[0], .gridDimY = r->grid[1], .gridDimZ = r->grid[2],
        .blockDimX = r->block[0], .blockDimY = r->block[1], .blockDimZ = r->block[2], .sharedMemBytes = r->shared,
    };
}

static ptxiResult queue_window(const struct run *r, unsigned long long first, unsigned long long count)
{
    ptxiLaunchAttribute attributes[] = {
        { .id = PTXI_LAUNCH_ATTRIBUTE_CLUSTER_WINDOW,
          .value.clusterWindow = { first, count, 0 } },
        { .id = PTXI_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = r->cooperative },
    };
    ptxiLaunchConfig config = ptxi_cmd_launch_config(r);

    config.attrs = attributes;
    config.numAttrs = 2;
    return ptxiLaunchKernelEx(&config, r->function, r->params, NULL);
}

static ptxiResult queue_launch(const struct run *r)
{
    const unsigned *g = r->grid, *b = r->block;

    if (r->shards)
        return queue_shard(r);
    if (r->cluster_count)
        return queue_window(r, r->first_cluster, r->cluster_count);
    if (r->cooperative)
        return ptxiLaunchCooperativeKernel(r->function, g[0], g[1], g[2], b[0], b[1], b[2], r->shared, NULL, r->params);
    return ptxiLaunchKernel(r->function, g[0], g[1], g[2], b[0], b[1], b[2], r->shared, NULL, r->params, NULL);
}

static ptxiResult launch(const struct run *r, struct progress *progress, double *ms)
{
    ptxiResult e = ptxi_cmd_fill_buffers(r);

    progress->start = now_ms();
    if (!e)
        e = queue_launch(r);
    if (!e)
        e = ptxiCtxSynchronize();
    *ms = now_ms() - progress->start;
    end_progress(progress);
    return e;
}

static ptxiResult launch_silently(const struct run *r)
{
    struct progress progress = { .shown = false };
    double ms;

    ptxiCtxSetOutput(NULL, discard_output, NULL);
    return launch(r, &progress, &ms);
}

/* ---- measurements */

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void print_counters(const ptxiCounters *c)
{
    fprintf(stderr, "%llu blocks, %llu threads, %llu warp instructions, %llu thread instructions\n", c->blocks,
            c->threads, c->warpInstructions, c->threadInstructions);
    if (c->sharedRequests)
        fprintf(stderr, "shared memory: %llu requests, %llu wavefronts, %llu bank conflicts\n", c->sharedRequests,
                c->sharedWavefronts, c->sharedBankConflicts);
}

/* `ms` has the time of each repeated launch; it is sorted. */
static void print_speed(const struct run *r, double *ms, const ptxiCounters *c)
{
    unsigned workers = 0;
    double median, instructions = (double)c->threadInstructions;

    assert(r->repeat > 0);
    qsort(ms, r->repeat, sizeof *ms, compare_times);
    median = ms[r->repeat / 2];
    ptxiCtxGetWorkers(NULL, &workers);
    fprintf(stderr, "%u %s on %u %s: ", r->repeat, r->repeat == 1 ? "launch" : "launches", workers,
            workers == 1 ? "worker" : "workers");
    fprintf(stderr, "median %.3f ms, fastest %.3f ms, slowest %.3f ms\n", median, ms[0], ms[r->repeat - 1]);
    fprintf(stderr, "%.4g million thread instructions per launch, %.3f billion per second\n", instructions / 1e6,
            instructions / median / 1e6);
}

/* With --count or --repeat the first launch counts, which also warms up. Launches that are timed do not count. Output
 * of the kernel is shown once, by the last launch. `ms` has room for one more than r->repeat. */
static ptxiResult launch_all(const struct run *r, double *ms)
{
    struct progress progress = { .shown = false };
    bool counting = r->count || r->repeat;
    ptxiResult e = PTXI_SUCCESS;

    if (isatty(STDERR_FILENO))
        e = ptxiCtxSetProgress(NULL, show_progress, &progress);
    for (unsigned i = 0; i <= r->repeat && !e; i++) {
        ptxiCtxSetCounting(NULL, counting && i == 0);
        ptxiCtxSetOutput(NULL, i < r->repeat ? discard_output : NULL, NULL);
        e = launch(r, &progress, i ? &ms[i - 1] : &ms[r->repeat]);
    }
    return e;
}

ptxiResult ptxi_cmd_launch(const struct run *r)
{
    ptxiCounters counters = { .size = sizeof counters };
    if (r->checkpoint)
        return ptxi_cmd_launch_saved(r);
    double *ms = calloc((size_t)r->repeat + 1, sizeof *ms);

    if (!ms)
        return PTXI_ERROR_OUT_OF_MEMORY;
    ptxiResult e = launch_all(r, ms);

    ptxiCtxGetCounters(NULL, &counters);
    fflush(stdout);
    if (!e && r->seeds)
        e = ptxi_cmd_try_seeds(r, launch_silently);
    if (!e && r->count)
        print_counters(&counters);
    if (!e && r->repeat)
        print_speed(r, ms, &counters);
    free(ms);
    return e;
}
