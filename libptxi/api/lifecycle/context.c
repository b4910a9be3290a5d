/* Creates and destroys contexts. This file knows all kinds of objects that a context owns. */
#include "api/asm/asm_template.h"
#include "api/check/check.h"
#include "api/context/context.h"
#include "api/graph/capture.h"
#include "api/memory/graph_memory.h"
#include "api/memory/heap.h"
#include "api/memory/managed.h"
#include "api/module/library.h"
#include "api/module/restored.h"
#include "api/stream/event.h"
#include "api/texture/array.h"
#include "api/texture/texture.h"
#include "exec/check/check.h"
#include "exec/texture/texture.h"
#include "exec/track/track.h"

#include <stdlib.h>
#include <string.h>

/* ---- creation and destruction */

static const size_t default_limits[PTXI_LIMITS] = {
    [PTXI_LIMIT_STACK_SIZE] = 1024,
    [PTXI_LIMIT_PRINTF_FIFO_SIZE] = 8650752,
    [PTXI_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20,
    [PTXI_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048,
    [PTXI_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64,
};

/* Sets up what an open context has, when it is created and when a primary context is retained again. */
static ptxiResult open_context(ptxiContext ctx, unsigned flags)
{
    ptxiResult r = ptxi_streams_init(&ctx->streams, ctx, &ctx->gate);

    if (r)
        return r;
    ctx->object_table = ptxi_object_table_create();
    if (!ctx->object_table) {
        ptxi_streams_free(&ctx->streams);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    ctx->flags = flags;
    ctx->profile = atomic_load(&ptxi_state.devices[ctx->device].profile);
    ctx->cache_config = PTXI_FUNC_CACHE_PREFER_NONE;
    memcpy(ctx->limits, default_limits, sizeof default_limits);
    ctx->kernel_heap = 0;
    ctx->instruction_limit = ctx->millisecond_limit = 0;
    ctx->workers = 0;
    ctx->sink = NULL;
    ctx->unchecked = ctx->counting = false;
    ptxi_check_open_context(ctx);
    ctx->schedule = ptxi_state.schedule;
    ctx->tier = ptxi_state.tier;
    ctx->dialect = PTXI_DIALECT_NONE;
    ctx->on_fault = (int)ptxi_state.on_fault;
    ctx->failures = 0;
    ctx->first_failure = PTXI_SUCCESS;
    memset(&ctx->counters, 0, sizeof ctx->counters);
    atomic_store(&ctx->gate.open, true);
    return PTXI_SUCCESS;
}

/* The gate is already closed, so that no new calls begin. What can be used by other objects is freed after them. */
static void close_context(ptxiContext ctx)
{
    ptxi_gate_wait_for_calls(&ctx->gate);
    while (ptxi_queue_wait_all(&ctx->streams))
        ; /* no memory at the moment: work that runs gives some back */
    ptxi_check_find_leaks(ctx);
    ptxi_captures_free_all(ctx);
    ptxi_asms_free_all(ctx);
    ptxi_libraries_forget(ctx);
    ptxi_modules_free_all(ctx);
    ptxi_restored_free_all(ctx);
    ptxi_events_destroy_all(ctx);
    ptxi_streams_free(&ctx->streams);
    ptxi_context_release_workers(ctx);
    ptxi_checker_destroy(ctx->checker);
    ctx->checker = NULL;
    ptxi_tracker_unref(ctx->tracker);
    ctx->tracker = NULL;
    ptxi_references_free_all(ctx);
    ptxi_objects_free_all(ctx);
    ptxi_object_table_destroy(ctx->object_table);
    ptxi_arrays_free_all(ctx);
    ptxi_graph_memory_close_context(ctx);
    ptxi_heap_free_all(ctx);
    ptxi_managed_forget_freed();
    ptxi_check_close_context(ctx);
    ptxi_failure_unref(ctx->last_failure);
    ctx->last_failure = NULL;
}

/* Under state.lock. */
static ptxiResult create_context(ptxiDevice dev, unsigned flags, bool primary, ptxiContext *out)
{
    static uint64_t created;
    ptxiContext ctx = calloc(1, sizeof *ctx);

    if (!ctx)
        return PTXI_ERROR_OUT_OF_MEMORY;
    ctx->refs = 1;
    ctx->primary = primary;
    ctx->device = dev;
    ctx->id = ++created;
    ptxi_peers_init(ctx);
    pthread_mutex_init(&ctx->lock, NULL);
    pthread_mutex_init(&ctx->kernel_heap_lock, NULL);
    pthread_mutex_init(&ctx->sink_lock, NULL);
    ptxiResult r = open_context(ctx, flags);

    if (r) {
        ptxi_context_unref(ctx);
        return r;
    }
    ctx->next = ptxi_state.contexts;
    ptxi_state.contexts = ctx;
    *out = ctx;
    return PTXI_SUCCESS;
}

static void unlist_context(ptxiContext ctx)
{
    ptxiContext *p = &ptxi_state.contexts;

    while (*p != ctx)
        p = &(*p)->next;
    *p = ctx->next;
}

static bool flags_ok(unsigned flags)
{
    unsigned sched = flags & PTXI_CTX_SCHED_MASK;

    return !(flags & ~(unsigned)PTXI_CTX_FLAGS_MASK) && (sched & (sched - 1)) == 0;
}

ptxiResult ptxiCtxCreate(ptxiContext *pctx, unsigned flags, ptxiDevice dev)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(dev);
    ptxiContext ctx = NULL;

    if (r)
        return r;
    if (!pctx || !flags_ok(flags))
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&ptxi_state.lock);
    r = create_context(dev, flags, false, &ctx);
    pthread_mutex_unlock(&ptxi_state.lock);
    if (!r && (r = ptxi_context_push(ctx)))
        ptxiCtxDestroy(ctx);
    if (!r)
        *pctx = ctx;
    return r;
}

ptxiResult ptxiCtxDestroy(ptxiContext ctx)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!ctx)
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&ptxi_state.lock);
    bool ok = ptxi_context_is_listed(ctx) && !ctx->primary && atomic_exchange(&ctx->gate.open, false);

    pthread_mutex_unlock(&ptxi_state.lock);
    if (!ok)
        return PTXI_ERROR_INVALID_CONTEXT;
    close_context(ctx); /* it is still listed, so that ptxiCtxInterrupt() finds it */
    pthread_mutex_lock(&ptxi_state.lock);
    unlist_context(ctx);
    ptxi_peers_forget(ctx);
    pthread_mutex_unlock(&ptxi_state.lock);
    if (ptxi_context_current() == ctx)
        ptxi_context_pop();
    ptxi_context_unref(ctx);
    return PTXI_SUCCESS;
}

/* ---- primary contexts. They are never freed, so that a handle stays valid after ptxiDevicePrimaryCtxReset(). */

static ptxiResult retain_locked(ptxiDevice dev, ptxiContext *pctx)
{
    struct ptxi_device *d = &ptxi_state.devices[dev];

    while (d->primary_closing)
        pthread_cond_wait(&ptxi_state.changed, &ptxi_state.lock);
    ptxiContext ctx = d->primary;
    ptxiResult r = PTXI_SUCCESS;

    if (!ctx)
        r = create_context(dev, d->primary_flags, true, &ctx);
    else if (!atomic_load(&ctx->gate.open))
        r = open_context(ctx, d->primary_flags);
    if (r)
        return r;
    d->primary = ctx;
    d->primary_retains++;
    *pctx = ctx;
    return PTXI_SUCCESS;
}

ptxiResult ptxiDevicePrimaryCtxRetain(ptxiContext *pctx, ptxiDevice dev)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(dev);

    if (r)
        return r;
    if (!pctx)
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&ptxi_state.lock);
    r = retain_locked(dev, pctx);
    pthread_mutex_unlock(&ptxi_state.lock);
    return r;
}

/* Closes the gate of a primary context. The thread that gets true closes the context. */
static bool retire_locked(struct ptxi_device *d)
{
    bool closed_here = d->primary && atomic_exchange(&d->primary->gate.open, false);

    d->primary_retains = 0;
    d->primary_closing |= closed_here;
    return closed_here;
}

static void close_primary(struct ptxi_device *d)
{
    close_context(d->primary);
    pthread_mutex_lock(&ptxi_state.lock);
    ptxi_peers_forget(d->primary);
    d->primary_closing = false;
    pthread_cond_broadcast(&ptxi_state.changed);
    pthread_mutex_unlock(&ptxi_state.lock);
}

ptxiResult ptxiDevicePrimaryCtxRelease(ptxiDevice dev)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(dev);
    bool last = false;

    if (r)
        return r;
    struct ptxi_device *d = &ptxi_state.devices[dev];

    pthread_mutex_lock(&ptxi_state.lock);
    if (d->primary_retains == 0)
        r = PTXI_ERROR_INVALID_CONTEXT;
    else if (--d->primary_retains == 0)
        last = retire_locked(d);
    pthread_mutex_unlock(&ptxi_state.lock);
    if (last)
        close_primary(d);
    return r;
}

ptxiResult ptxiDevicePrimaryCtxReset(ptxiDevice dev)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(dev);

    if (r)
        return r;
    struct ptxi_device *d = &ptxi_state.devices[dev];

    pthread_mutex_lock(&ptxi_state.lock);
    bool close = retire_locked(d);
    pthread_mutex_unlock(&ptxi_state.lock);
    if (close)
        close_primary(d);
    return PTXI_SUCCESS;
}

ptxiResult ptxiDevicePrimaryCtxSetFlags(ptxiDevice dev, unsigned flags)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(dev);

    if (r)
        return r;
    if (!flags_ok(flags))
        return PTXI_ERROR_INVALID_VALUE;
    struct ptxi_device *d = &ptxi_state.devices[dev];

    pthread_mutex_lock(&ptxi_state.lock);
    d->primary_flags = flags;
    if (d->primary)
        d->primary->flags = flags;
    pthread_mutex_unlock(&ptxi_state.lock);
    return PTXI_SUCCESS;
}

ptxiResult ptxiDevicePrimaryCtxGetState(ptxiDevice dev, unsigned *flags, int *active)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(dev);

    if (r)
        return r;
    if (!flags || !active)
        return PTXI_ERROR_INVALID_VALUE;
    const struct ptxi_device *d = &ptxi_state.devices[dev];

    pthread_mutex_lock(&ptxi_state.lock);
    *flags = d->primary_flags;
    *active = d->primary && atomic_load(&d->primary->gate.open);
    pthread_mutex_unlock(&ptxi_state.lock);
    return PTXI_SUCCESS;
}
