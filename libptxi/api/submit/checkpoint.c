/* Launches that save their context while they run. The grid is executed as a sequence of windows. Its blocks do not
 * depend on each other, so memory is its only state between two windows. A checkpoint is a snapshot with the number of
 * clusters that have ended. */
#include "api/submit/submit.h"

#include "api/module/restored.h"
#include "api/snapshot/snapshot.h"

#include "base/clock.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A launch in windows. */
struct saved_launch {
    ptxiContext ctx;
    const ptxiLaunchConfig *config;
    const ptxiCheckpoint *checkpoint;
    struct ptxi_launch_description d; /* of the whole grid */
    uint64_t clusters, interrupts_before;
    struct ptxi_progress progress;
};

/* ---- the grid */

/* Sets d.shape as the grid will have it, and the number of clusters. */
static ptxiResult resolve_shape(struct saved_launch *l, struct ptxi_launch_shape *s)
{
    ptxiResult r = ptxi_launch_cluster(l->d.function, s, ptxi_launch_max_cluster(l->d.function));

    if (r)
        return r;
    if (!ptxi_launch_is_grid(s->grid))
        return PTXI_ERROR_INVALID_VALUE;
    l->clusters = 1;
    for (int k = 0; k < 3; k++)
        l->clusters *= s->grid[k] / (s->cluster[k] ? s->cluster[k] : 1);
    return PTXI_SUCCESS;
}

/* Hashes what decides the result, besides memory. */
static ptxiResult hash_launch(struct saved_launch *l, const struct ptxi_code *code, const struct ptxi_launch_shape *s)
{
    const char *name = l->d.function->func->name->s;
    const uint64_t numbers[] = { ptxi_module_hash(l->d.function->module), ptxi_hash_stable(0, name, strlen(name)),
                                 s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1], s->block[2],
                                 s->cluster[0], s->cluster[1], s->cluster[2], s->shared };
    unsigned char *params = calloc(1, (size_t)code->param_bytes + 1);

    if (!params)
        return PTXI_ERROR_OUT_OF_MEMORY;
    ptxiResult r = ptxi_launch_params(l->d.function, l->d.params, l->d.extra, params, code->param_bytes);
    uint64_t h = ptxi_hash_stable(0, numbers, sizeof numbers);

    h = ptxi_hash_stable(h, params, code->param_bytes);
    l->progress.launch = h ? h : 1;
    free(params);
    return r;
}

/* ---- where to begin */

static ptxiResult refuse_progress(ptxiContext ctx)
{
    static const char text[] = "the checkpoint that was restored is that of another launch: another module, kernel, "
                               "grid or parameters\n";
    struct ptxi_failure *failure = ptxi_failure_create(&(ptxiReport){ .result = PTXI_ERROR_INVALID_VALUE,
                                                                      .text = text });

    return ptxi_api_return_failure(ctx, PTXI_ERROR_INVALID_VALUE, failure);
}

static void set_progress(struct saved_launch *l, struct ptxi_progress progress)
{
    pthread_mutex_lock(&l->ctx->lock);
    l->ctx->checkpoint = progress;
    pthread_mutex_unlock(&l->ctx->lock);
}

/* The snapshot that was restored last may have the progress of this launch. */
static ptxiResult find_progress(struct saved_launch *l)
{
    pthread_mutex_lock(&l->ctx->lock);
    struct ptxi_progress before = l->ctx->checkpoint;
    pthread_mutex_unlock(&l->ctx->lock);

    if (!before.launch) {
        l->progress.gridid = ptxi_launch_new_gridid();
        return PTXI_SUCCESS;
    }
    if (before.launch != l->progress.launch || before.done > l->clusters)
        return refuse_progress(l->ctx);
    l->progress = before;
    return PTXI_SUCCESS;
}

/* Everything that can be refused before the first block runs, except for what ptxi_submit_launch() refuses. */
static ptxiResult prepare(struct saved_launch *l)
{
    const struct ptxi_code *code;
    ptxiResult r = ptxi_launch_enter(&l->d.function, &code);

    if (r)
        return r;
    if (l->d.function->module->ctx != l->ctx)
        return PTXI_ERROR_INVALID_HANDLE;
    struct ptxi_launch_shape shape = l->d.shape;

    if ((r = resolve_shape(l, &shape)) || (r = hash_launch(l, code, &shape)))
        return r;
    r = ptxi_snapshot_check(l->ctx);
    return r ? r : find_progress(l);
}

/* ---- the windows */

static ptxiResult run_window(const struct saved_launch *l, uint64_t count)
{
    struct ptxi_launch_description d = l->d;

    d.shape.window = (struct ptxi_window){ l->progress.done, count };
    d.shape.gridid = l->progress.gridid;
    d.waited = true;
    if (atomic_load(&l->ctx->interrupts) != l->interrupts_before) /* between two windows */
        return PTXI_ERROR_LAUNCH_TIMEOUT;
    ptxiResult r = ptxi_submit_launch(l->config->hStream, &d);

    return r ? r : ptxi_submit_synchronize(l->config->hStream);
}

static ptxiResult save(struct saved_launch *l)
{
    const ptxiCheckpoint *c = l->checkpoint;
    ptxiResult r = ptxi_api_drain(l->ctx);

    fflush(stdout); /* what kernels have printed */
    set_progress(l, l->progress);
    return r ? r : ptxi_snapshot_save(l->ctx, c->path, NULL, c->note, c->noteBytes);
}

/* Windows get longer until they take an eighth of the time between checkpoints or more. */
static ptxiResult run_windows(struct saved_launch *l)
{
    uint64_t count = 1 + l->clusters / 1024, saved = ptxi_clock_monotonic_ns();
    double interval = l->checkpoint->seconds * 1e9;

    while (l->progress.done < l->clusters) {
        uint64_t left = l->clusters - l->progress.done, start = ptxi_clock_monotonic_ns();

        count = count < left ? count : left;
        ptxiResult r = run_window(l, count);
        uint64_t now = ptxi_clock_monotonic_ns();

        if (r)
            return r;
        l->progress.done += count;
        count *= (double)(now - start) < interval / 8 ? 2 : 1;
        if (l->progress.done == l->clusters || (double)(now - saved) < interval)
            continue;
        if ((r = save(l)))
            return r;
        saved = ptxi_clock_monotonic_ns();
    }
    return PTXI_SUCCESS;
}

static bool is_valid(const ptxiCheckpoint *c)
{
    return c && c->size == sizeof *c && ptxi_snapshot_may_write(c->path, c->note, c->noteBytes) && c->seconds >= 0;
}

ptxiResult ptxiLaunchCheckpointed(const ptxiLaunchConfig *config, ptxiFunction f, void **kernelParams, void **extra,
                                  const ptxiCheckpoint *checkpoint)
{
    API_CALL;
    struct saved_launch l = { .config = config, .checkpoint = checkpoint,
                              .d = { .function = f, .params = kernelParams, .extra = extra } };
    ptxiResult r = ptxi_api_context(&l.ctx);

    if (r)
        return r;
    if (!is_valid(checkpoint))
        return PTXI_ERROR_INVALID_VALUE;
    if ((r = ptxi_launch_read_config(config, &l.d.shape)))
        return r;
    if (l.d.shape.window.count)
        return PTXI_ERROR_INVALID_VALUE;
    l.interrupts_before = atomic_load(&l.ctx->interrupts);
    if ((r = ptxi_submit_synchronize(config->hStream)) || (r = ptxi_api_drain(l.ctx)) || (r = prepare(&l)))
        return r;
    r = run_windows(&l);
    set_progress(&l, (struct ptxi_progress){ 0 });
    if (r)
        return r;
    remove(checkpoint->path);
    return ptxi_submit_launch_events(config);
}
