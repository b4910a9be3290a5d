/* A context: its work, its failures, its workers, its limits. */
#include "api/context/context.h"

#include "compile/compile.h"
#include "exec/sched/workers.h"

/* ---- work and failures */

ptxiResult ptxi_api_drain(ptxiContext ctx)
{
    return ptxi_queue_wait_all(&ctx->streams);
}

void ptxi_wait_for_references(const _Atomic unsigned *refs, unsigned most, ptxiContext ctx)
{
    for (;;) {
        while (ptxi_api_drain(ctx))
            ; /* no memory at the moment: work that runs gives some back */
        if (atomic_load(refs) <= most)
            return;
        ptxi_pause_briefly(); /* another call is about to submit work, or to return */
    }
}

void ptxi_handle_wait_unused(const struct ptxi_handle *h, ptxiContext ctx)
{
    ptxi_wait_for_references(&h->refs, 2, ctx);
}

ptxiResult ptxi_api_return_failure(ptxiContext ctx, ptxiResult r, struct ptxi_failure *failure)
{
    if (r == PTXI_SUCCESS)
        return r;
    pthread_mutex_lock(&ctx->lock);
    ptxi_failure_unref(ctx->last_failure);
    ctx->last_failure = failure;
    pthread_mutex_unlock(&ctx->lock);
    return r;
}

ptxiResult ptxi_api_collect(ptxiContext ctx, struct ptxiStream_st *s, uint64_t seq)
{
    struct ptxi_failure *failure;
    ptxiResult r = ptxi_queue_take(s, seq, &failure);

    return ptxi_api_return_failure(ctx, r, failure);
}

/* The first failure sets the result before the count, so that a reader of the count finds it. */
void ptxi_context_count_failure(ptxiContext ctx, ptxiResult r)
{
    int none = PTXI_SUCCESS;

    atomic_compare_exchange_strong(&ctx->first_failure, &none, (int)r);
    atomic_fetch_add(&ctx->failures, 1);
}

ptxiResult ptxiCtxGetFailureCount(ptxiContext named, unsigned long long *count, ptxiResult *first)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    if (!count)
        return PTXI_ERROR_INVALID_VALUE;
    *count = atomic_load(&ctx->failures);
    if (first)
        *first = *count ? (ptxiResult)atomic_load(&ctx->first_failure) : PTXI_SUCCESS;
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxSynchronize(void)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    struct ptxi_failure *failure;

    if (r || (r = ptxi_api_drain(ctx)))
        return r;
    r = ptxi_queue_take_any(&ctx->streams, &failure);
    return ptxi_api_return_failure(ctx, r, failure);
}

/* ---- workers */

ptxiResult ptxi_context_workers(ptxiContext ctx, struct ptxi_exec **exec)
{
    pthread_mutex_lock(&ctx->lock);
    if (!ctx->exec)
        ctx->exec = ptxi_exec_create(ctx->workers ? ctx->workers : ptxi_state.workers);
    *exec = ctx->exec;
    if (*exec)
        ptxi_exec_ref(*exec);
    pthread_mutex_unlock(&ctx->lock);
    return *exec ? PTXI_SUCCESS : PTXI_ERROR_OUT_OF_MEMORY;
}

/* Earlier launches keep the old pool until they have ended. */
void ptxi_context_replace_workers(ptxiContext ctx, struct ptxi_exec *exec, unsigned workers)
{
    pthread_mutex_lock(&ctx->lock);
    struct ptxi_exec *old = ctx->exec;

    ctx->exec = exec;
    ctx->workers = workers;
    pthread_mutex_unlock(&ctx->lock);
    if (old)
        ptxi_exec_unref(old);
}

void ptxi_context_release_workers(ptxiContext ctx)
{
    ptxi_context_replace_workers(ctx, NULL, 0);
}

/* ---- properties and limits */

ptxiResult ptxiCtxGetDevice(ptxiDevice *device)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if (!device)
        return PTXI_ERROR_INVALID_VALUE;
    *device = ctx->device;
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxGetFlags(unsigned *flags)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if (!flags)
        return PTXI_ERROR_INVALID_VALUE;
    *flags = ctx->flags;
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxGetApiVersion(ptxiContext named, unsigned *version)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    if (!version)
        return PTXI_ERROR_INVALID_VALUE;
    *version = PTXI_DRIVER_VERSION;
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxGetId(ptxiContext named, unsigned long long *ctxId)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    if (!ctxId)
        return PTXI_ERROR_INVALID_VALUE;
    *ctxId = ctx->id;
    return PTXI_SUCCESS;
}

/* Returns where the context stores a limit, or NULL with *r set if it does not. */
static size_t *find_limit(ptxiContext ctx, ptxiLimit limit, ptxiResult *r)
{
    *r = PTXI_SUCCESS;
    switch ((int)limit) {
    case PTXI_LIMIT_STACK_SIZE:
    case PTXI_LIMIT_PRINTF_FIFO_SIZE:
    case PTXI_LIMIT_MALLOC_HEAP_SIZE:
    case PTXI_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
    case PTXI_LIMIT_MAX_L2_FETCH_GRANULARITY:
    case PTXI_LIMIT_PERSISTING_L2_CACHE_SIZE:
        return &ctx->limits[limit];
    case PTXI_LIMIT_INSTRUCTIONS:
        return &ctx->instruction_limit;
    case PTXI_LIMIT_MILLISECONDS:
        return &ctx->millisecond_limit;
    case PTXI_LIMIT_DEV_RUNTIME_SYNC_DEPTH:
    case 7: case 8: case 9: /* the driver's, not offered here */
        *r = PTXI_ERROR_UNSUPPORTED_LIMIT;
        return NULL;
    default:
        *r = PTXI_ERROR_INVALID_VALUE;
        return NULL;
    }
}

enum { STACK_ALIGN = 16, MAX_L2_FETCH = 128 };

static size_t max_persisting_l2(ptxiContext ctx)
{
    int most = 0;

    ptxi_profile_attribute(ctx->profile, PTXI_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, &most);
    return (size_t)most;
}

ptxiResult ptxiCtxSetLimit(ptxiLimit limit, size_t value)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    size_t *stored = find_limit(ctx, limit, &r);

    if (!stored)
        return r;
    if (limit == PTXI_LIMIT_STACK_SIZE) {
        if (value > PTXI_MAX_LOCAL)
            return PTXI_ERROR_INVALID_VALUE;
        value = (value + STACK_ALIGN - 1) & ~(size_t)(STACK_ALIGN - 1);
    }
    if ((limit == PTXI_LIMIT_MAX_L2_FETCH_GRANULARITY && value > MAX_L2_FETCH) ||
        (limit == PTXI_LIMIT_PERSISTING_L2_CACHE_SIZE && value > max_persisting_l2(ctx)))
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&ctx->lock);
    *stored = value;
    pthread_mutex_unlock(&ctx->lock);
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxGetLimit(size_t *pvalue, ptxiLimit limit)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    const size_t *stored = find_limit(ctx, limit, &r);

    if (!stored)
        return r;
    if (!pvalue)
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&ctx->lock);
    *pvalue = *stored;
    pthread_mutex_unlock(&ctx->lock);
    return PTXI_SUCCESS;
}
