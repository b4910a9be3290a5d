/* Launches of kernels. */
#include "api/launch/launch.h"

#include "api/graph/capture.h"
#include "api/memory/heap.h"
#include "api/context/report.h"

#include "exec/memmap/memmap.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { WORKSPACE = 64 };

/* ---- a grid that runs */

static void write_output(void *p, const char *text, size_t size)
{
    ptxiContext ctx = p;

    pthread_mutex_lock(&ctx->sink_lock);
    if (ctx->sink) {
        ptxi_queue_set_callback(true);
        ctx->sink(ctx->sink_user, text, size);
        ptxi_queue_set_callback(false);
    } else {
        fwrite(text, 1, size, stdout);
    }
    pthread_mutex_unlock(&ctx->sink_lock);
}

static void report_progress(void *p, uint64_t done, uint64_t blocks)
{
    struct ptxi_launch *l = p;

    ptxi_queue_set_callback(true);
    l->progress(l->progress_user, done, blocks);
    ptxi_queue_set_callback(false);
}

static void add_counters(struct ptxi_launch *l)
{
    const struct ptxi_grid *g = &l->grid;
    uint64_t blocks = g->done_ctas;

    pthread_mutex_lock(&l->ctx->lock);
    ptxiCounters *c = &l->ctx->counters;

    c->launches++;
    c->blocks += blocks;
    c->threads += blocks * g->block[0] * g->block[1] * g->block[2];
    c->warpInstructions += g->warp_instructions;
    c->threadInstructions += g->thread_instructions;
    c->sharedRequests += g->shared.requests;
    c->sharedWavefronts += g->shared.wavefronts;
    c->sharedBankConflicts += g->shared.conflicts;
    pthread_mutex_unlock(&l->ctx->lock);
}

uint64_t ptxi_launch_deadline(uint64_t milliseconds)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    uint64_t now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;

    return milliseconds > (UINT64_MAX - now) / 1000000u ? UINT64_MAX : now + milliseconds * 1000000u;
}

ptxiResult ptxi_launch_run_grid(struct ptxi_launch *l, struct ptxi_failure **failure)
{
    if (l->milliseconds)
        l->grid.deadline_ns = ptxi_launch_deadline(l->milliseconds);
    ptxi_exec_launch(l->exec, &l->grid);
    if (l->grid.counting)
        add_counters(l);
    if (l->grid.report.kind == PTXI_FK_NONE)
        return PTXI_SUCCESS;
    return ptxi_report_create(l->module, l->kernel, &l->grid.report, failure);
}

static ptxiResult run_launch(void *payload, struct ptxi_failure **failure)
{
    struct ptxi_launch *l = payload;
    ptxiResult r = ptxi_launch_run_grid(l, failure);

    return r ? r : ptxi_children_run(l, failure);
}

static void release_launch(void *payload)
{
    struct ptxi_launch *l = payload;

    ptxi_children_free(l);
    if (l->workspace)
        ptxi_heap_free(l->workspace);
    if (l->exec)
        ptxi_exec_unref(l->exec);
    ptxi_bindings_unref(l->bindings);
    ptxi_handle_unref(&l->module->handle);
}

/* ---- parameters */

static ptxiResult copy_params(const struct ptxi_func *f, void **params, unsigned char *to)
{
    for (uint32_t i = 0; i < f->signature.param_count; i++) {
        if (!params[i])
            return PTXI_ERROR_INVALID_VALUE;
        memcpy(to + ptxi_layout_param(f, i), params[i], f->signature.params[i]->size);
    }
    return PTXI_SUCCESS;
}

/* The `extra` form: key, value, key, value, end. */
static ptxiResult copy_extra(void **extra, unsigned char *to, size_t bytes)
{
    const void *buffer = NULL;
    const size_t *size = NULL;

    for (; *extra != PTXI_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == PTXI_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == PTXI_LAUNCH_PARAM_BUFFER_SIZE)
            size = extra[1];
        else
            return PTXI_ERROR_INVALID_VALUE;
    }
    if (!size || !*size || !buffer)
        return PTXI_ERROR_INVALID_VALUE;
    if (*size > bytes)
        return PTXI_ERROR_LAUNCH_OUT_OF_RESOURCES;
    memcpy(to, buffer, *size);
    return PTXI_SUCCESS;
}

ptxiResult ptxi_launch_params(ptxiFunction f, void **params, void **extra, unsigned char *to, size_t bytes)
{
    if (params && extra)
        return PTXI_ERROR_INVALID_VALUE;
    if (f->func->signature.param_count == 0)
        return PTXI_SUCCESS;
    if (params)
        return copy_params(f->func, params, to);
    return extra ? copy_extra(extra, to, bytes) : PTXI_ERROR_INVALID_VALUE;
}

/* ---- what the caller asks for */

ptxiResult ptxi_launch_cluster(const struct ptxiFunction_st *f, struct ptxi_launch_shape *s, unsigned most)
{
    enum { MOST_SIDE = 1024 };
    const struct ptxi_func *k = f->func;
    bool own = k->cluster[0] != 0, asked = s->cluster[0] != 0, set = f->cluster[0] > 0 && f->cluster[1] > 0 && f->cluster[2] > 0;
    unsigned size = 1;

    for (int i = 0; i < 3; i++) {
        unsigned its = own ? (k->cluster[i] ? k->cluster[i] : 1) : set ? (unsigned)f->cluster[i] : 0;

        if ((own || set) && asked && s->cluster[i] != its)
            return PTXI_ERROR_INVALID_CLUSTER_SIZE;
        if (!asked)
            s->cluster[i] = its;
    }
    if (!s->cluster[0])
        return k->explicit_cluster || s->preferred[0] ? PTXI_ERROR_INVALID_CLUSTER_SIZE : PTXI_SUCCESS;
    for (int i = 0; i < 3; i++) {
        unsigned n = s->cluster[i];

        if (k->blocks_are_clusters && n <= PTXI_MOST_CLUSTER)
            s->grid[i] *= n;
        if (n < 1 || n > MOST_SIDE || s->grid[i] % n)
            return PTXI_ERROR_INVALID_CLUSTER_SIZE;
        if (s->preferred[0] && (s->preferred[i] % n || !s->preferred[i] || s->grid[i] % s->preferred[i]))
            return PTXI_ERROR_INVALID_CLUSTER_SIZE;
        size *= n;
    }
    if (size > most || (k->maxclusterrank && size > k->maxclusterrank) ||
        (size > 1 && f->module->profile->sm < 90))
        return PTXI_ERROR_INVALID_CLUSTER_SIZE;
    return PTXI_SUCCESS;
}

bool ptxi_launch_is_grid(const unsigned *grid)
{
    static const unsigned most[3] = { INT_MAX, PTXI_MAX_GRID_YZ, PTXI_MAX_GRID_YZ };
    bool is = true;

    for (int i = 0; i < 3; i++)
        is &= grid[i] >= 1 && grid[i] <= most[i];
    return is;
}

ptxiResult ptxi_launch_check_shape(const struct ptxiFunction_st *f, const struct ptxi_code *code, const struct ptxi_launch_shape *s)
{
    static const unsigned block_most[3] = { PTXI_MAX_CTA_THREADS, PTXI_MAX_CTA_THREADS, PTXI_MAX_CTA_Z };
    const struct ptxi_func *k = f->func;
    uint64_t threads = (uint64_t)s->block[0] * s->block[1] * s->block[2];

    if (!ptxi_launch_is_grid(s->grid))
        return PTXI_ERROR_INVALID_VALUE;
    for (int i = 0; i < 3; i++) {
        if (s->block[i] < 1 || s->block[i] > block_most[i])
            return PTXI_ERROR_INVALID_VALUE;
        if (k->reqntid[0] && s->block[i] != (k->reqntid[i] ? k->reqntid[i] : 1))
            return PTXI_ERROR_INVALID_VALUE;
    }
    if (code->local_bytes > PTXI_MAX_LOCAL_VARIABLES)
        return PTXI_ERROR_INVALID_VALUE;
    if (code->shared_bytes > f->module->profile->block_shared)
        return PTXI_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (threads > ptxi_launch_max_threads(k) || s->shared > (unsigned)ptxi_launch_max_dynamic_shared(f, code))
        return PTXI_ERROR_INVALID_VALUE;
    if (s->cooperative) {
        uint64_t ctas = (uint64_t)s->grid[0] * s->grid[1] * s->grid[2];
        const struct ptxi_profile *p = f->module->profile;

        if (ctas > (uint64_t)p->multiprocessors * ptxi_launch_blocks(p, code, (unsigned)threads, s->shared))
            return PTXI_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
    return PTXI_SUCCESS;
}

static void fill_grid(struct ptxi_launch *l, const struct ptxi_code *code, const struct ptxi_launch_shape *s)
{
    static _Atomic uint64_t launches;
    struct ptxi_grid *g = &l->grid;
    const struct ptxi_profile *p = l->module->profile;
    unsigned resident = ptxi_launch_blocks(p, code, s->block[0] * s->block[1] * s->block[2], s->shared) * p->multiprocessors;
    unsigned workers = ptxi_exec_workers(l->exec);
    ptxiContext ctx = l->ctx;

    g->code = code;
    g->bindings = ptxi_bindings_array(l->bindings);
    g->objects = ctx->object_table;
    g->memmap = ptxi_state.memmap;
    memcpy(g->grid, s->grid, sizeof g->grid);
    memcpy(g->block, s->block, sizeof g->block);
    memcpy(g->cluster, s->cluster, sizeof g->cluster);
    g->explicit_cluster = s->cluster[0] != 0;
    g->dynamic_shared = s->shared;
    g->gridid = atomic_fetch_add(&launches, 1) + 1;
    g->sm_count = p->multiprocessors;
    g->sm_warps = p->threads / 32;
    g->resident_limit = (resident + workers - 1) / workers;
    g->resident_limit += g->resident_limit == 0;
    g->cooperative = s->cooperative;
    g->envreg12 = l->workspace ? l->workspace->base : 0;
    g->output = write_output;
    g->output_ctx = ctx;
    g->heap = &ptxi_heap_of_kernels;
    g->heap_ctx = ctx;
    g->interrupts = &ctx->interrupts;
    g->interrupts_before = atomic_load(&ctx->interrupts);
    pthread_mutex_lock(&ctx->lock);
    g->unchecked = ctx->unchecked;
    g->fair = ctx->schedule == PTXI_SCHEDULE_FAIR;
    g->schedule = g->fair ? 0 : ctx->schedule;
    g->stack_bytes = (uint32_t)ctx->limits[PTXI_LIMIT_STACK_SIZE];
    g->instruction_budget = ctx->instruction_limit;
    l->milliseconds = ctx->millisecond_limit;
    l->progress = ctx->progress;
    l->progress_user = ctx->progress_user;
    pthread_mutex_unlock(&ctx->lock);
    if (l->progress) {
        g->progress = report_progress;
        g->progress_ctx = l;
    }
}

/* The grid barrier of cooperative groups keeps its state in memory that %envreg1 and %envreg2 point to: its size, and
 * a counter that starts at 0. */
static ptxiResult make_workspace(struct ptxi_launch *l)
{
    ptxiResult r = ptxi_heap_alloc(l->ctx, WORKSPACE, PTXI_HEAP_MODULE, PTXI_MEM_RWA, 0, &l->workspace);

    if (r)
        return r;
    *(uint32_t *)(uintptr_t)l->workspace->base = WORKSPACE;
    return PTXI_SUCCESS;
}

static ptxiResult prepare(struct ptxi_launch *l, ptxiFunction f, const struct ptxi_code *code, const struct ptxi_launch_shape *s, size_t bytes,
                          void **params, void **extra)
{
    bool counting = l->grid.counting;
    ptxiResult r;

    memset(l->params, 0, bytes);
    l->grid.params = l->params;
    r = ptxi_launch_params(f, params, extra, l->params, bytes);

    if (r || (r = ptxi_api_exec(l->ctx, &l->exec)))
        return r;
    if (s->cooperative && (r = make_workspace(l)))
        return r;
    l->grid.program = ptxi_module_program(f->module, counting);
    if (!l->grid.program)
        return PTXI_ERROR_OUT_OF_MEMORY;
    fill_grid(l, code, s);
    return PTXI_SUCCESS;
}

ptxiResult ptxi_launch_make(ptxiContext ctx, ptxiFunction f, struct ptxi_launch_shape *s, void **params, void **extra, struct ptxi_item **item)
{
    ptxiResult r;

    pthread_mutex_lock(&ctx->lock);
    bool counting = ctx->counting;
    pthread_mutex_unlock(&ctx->lock);
    const struct ptxi_code *code = ptxi_module_code(f->module, f->func->index, counting);

    if (!code)
        return ptxi_launch_no_code(f, counting);
    if (f->module->tree->address_size == 32)
        return PTXI_ERROR_NOT_SUPPORTED;
    if ((r = ptxi_launch_cluster(f, s, f->nonportable_cluster ? PTXI_MOST_CLUSTER : PTXI_PORTABLE_CLUSTER)) || (r = ptxi_launch_check_shape(f, code, s)))
        return r;
    struct ptxi_bindings *bindings = ptxi_bindings_of(f->module);

    if (!bindings)
        return PTXI_ERROR_OUT_OF_MEMORY;
    size_t bytes = code->param_bytes;
    struct ptxi_item *it = NULL;

    r = ptxi_symbols_check_kernel(f, bindings);
    if (!r && !(it = ptxi_item_create(sizeof(struct ptxi_launch) + bytes, run_launch, release_launch)))
        r = PTXI_ERROR_OUT_OF_MEMORY;
    if (r) {
        ptxi_bindings_unref(bindings);
        return r;
    }
    struct ptxi_launch *l = ptxi_item_payload(it);

    memset(l, 0, sizeof *l);
    ptxi_children_init(l);
    l->ctx = ctx;
    l->module = f->module;
    l->bindings = bindings;
    ptxi_handle_ref(&l->module->handle);
    l->kernel = f->func->name->s;
    l->grid.counting = counting;
    r = prepare(l, f, code, s, bytes, params, extra);
    if (r) {
        ptxi_item_discard(it);
        return r;
    }
    *item = it;
    return PTXI_SUCCESS;
}

static ptxiResult launch(ptxiFunction f, struct ptxi_launch_shape *s, ptxiStream handle, void **params, void **extra)
{
    ptxiContext ctx;
    struct ptxiStream_st *stream;
    struct ptxi_item *it;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if ((r = ptxi_api_to_launch(&f)))
        return r;
    if (f->module->ctx != ctx)
        return PTXI_ERROR_INVALID_HANDLE;
    if ((r = ptxi_api_stream(ctx, handle, &stream)))
        return r;
    if (ptxi_capturing(stream))
        return ptxi_capture_kernel(stream, f, s, params, extra);
    if ((r = ptxi_launch_make(ctx, f, s, params, extra, &it)))
        return r;
    return ptxi_queue_submit(stream, it, PTXI_SUBMIT_ASYNC, NULL);
}

ptxiResult ptxiLaunchKernel(ptxiFunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ, unsigned blockDimX,
                            unsigned blockDimY, unsigned blockDimZ, unsigned sharedMemBytes, ptxiStream hStream,
                            void **kernelParams, void **extra)
{
    API_CALL;
    struct ptxi_launch_shape s = { { gridDimX, gridDimY, gridDimZ }, { blockDimX, blockDimY, blockDimZ }, sharedMemBytes, { 0 }, false, { 0 } };

    return launch(f, &s, hStream, kernelParams, extra);
}

ptxiResult ptxiLaunchCooperativeKernel(ptxiFunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ,
                                       unsigned blockDimX, unsigned blockDimY, unsigned blockDimZ,
                                       unsigned sharedMemBytes, ptxiStream hStream, void **kernelParams)
{
    API_CALL;
    struct ptxi_launch_shape s = { { gridDimX, gridDimY, gridDimZ }, { blockDimX, blockDimY, blockDimZ }, sharedMemBytes, { 0 }, true, { 0 } };

    return launch(f, &s, hStream, kernelParams, NULL);
}

/* All zeros: none. */
static ptxiResult read_cluster(const unsigned *value, unsigned *cluster)
{
    bool none = !value[0] && !value[1] && !value[2];

    memcpy(cluster, value, 3 * sizeof *cluster);
    return none || (value[0] && value[1] && value[2]) ? PTXI_SUCCESS : PTXI_ERROR_INVALID_CLUSTER_SIZE;
}

ptxiResult ptxi_launch_read_attribute(const ptxiLaunchAttribute *a, struct ptxi_launch_shape *s)
{
    enum { MOST_CARVEOUT = 100, MOST_POLICY = 2, DOMAINS = 4, NVLINK_SCHEDULING = 16 };
    const unsigned *value = (const unsigned *)(const void *)&a->value;

    switch ((int)a->id) {
    case PTXI_LAUNCH_ATTRIBUTE_COOPERATIVE:
        s->cooperative = a->value.cooperative != 0;
        return PTXI_SUCCESS;
    case PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: return read_cluster(value, s->cluster);
    case PTXI_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION: return read_cluster(value, s->preferred);
    case PTXI_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: return PTXI_ERROR_INVALID_VALUE; /* a stream has one */
    case PTXI_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: return *value <= MOST_POLICY ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
    case PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: return *value <= 1 ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
    case PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: return (*value & 255) < DOMAINS && (*value >> 8 & 255) < DOMAINS ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
    case PTXI_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return *value <= MOST_CARVEOUT ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
    case PTXI_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        return ptxi_event_in_launch(a->value.programmaticEvent.event, a->value.programmaticEvent.flags);
    case PTXI_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        return ptxi_event_in_launch(a->value.launchCompletionEvent.event, a->value.launchCompletionEvent.flags);
    case PTXI_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return PTXI_ERROR_NOT_SUPPORTED;
    default: /* how to be fast */
        return (unsigned)a->id > PTXI_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT && (int)a->id != NVLINK_SCHEDULING ? PTXI_ERROR_INVALID_VALUE : PTXI_SUCCESS;
    }
}

/* Events that may come as soon as the grid has begun come when it has ended. */
static ptxiResult record_event(const ptxiLaunchAttribute *a, ptxiStream stream)
{
    switch (a->id) {
    case PTXI_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT: return ptxiEventRecord(a->value.programmaticEvent.event, stream);
    case PTXI_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT: return ptxiEventRecord(a->value.launchCompletionEvent.event, stream);
    default: return PTXI_SUCCESS;
    }
}

ptxiResult ptxi_launch_read_config(const ptxiLaunchConfig *c, struct ptxi_launch_shape *s)
{
    ptxiResult r = PTXI_SUCCESS;

    if (!c || (c->numAttrs && !c->attrs))
        return PTXI_ERROR_INVALID_VALUE;
    *s = (struct ptxi_launch_shape){ { c->gridDimX, c->gridDimY, c->gridDimZ }, { c->blockDimX, c->blockDimY, c->blockDimZ }, c->sharedMemBytes, { 0 }, false, { 0 } };
    for (unsigned i = 0; !r && i < c->numAttrs; i++)
        r = ptxi_launch_read_attribute(&c->attrs[i], s);
    return r;
}

ptxiResult ptxiLaunchKernelEx(const ptxiLaunchConfig *c, ptxiFunction f, void **kernelParams, void **extra)
{
    API_CALL;
    struct ptxi_launch_shape s;
    ptxiResult r = ptxi_launch_read_config(c, &s);

    if (r)
        return r;
    r = launch(f, &s, c->hStream, kernelParams, extra);
    for (unsigned i = 0; !r && i < c->numAttrs; i++)
        r = record_event(&c->attrs[i], c->hStream);
    return r;
}
