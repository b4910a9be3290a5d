/* Contexts, and each thread's stack of them. */
#include "api/context/api.h"

#include "api/memory/heap.h"
#include "compile/compile.h"
#include "exec/texture/texture.h"

#include <stdlib.h>
#include <string.h>

/* ---- the calling thread */

static pthread_once_t thread_once = PTHREAD_ONCE_INIT;
static pthread_key_t thread_key;
static __thread struct ptxi_thread *this_thread;
static _Atomic uint64_t thread_ids;

static void unref_context(ptxiContext ctx)
{
    if (atomic_fetch_sub(&ctx->refs, 1) != 1)
        return;
    ptxi_failure_unref(ctx->last_failure);
    pthread_mutex_destroy(&ctx->lock);
    pthread_mutex_destroy(&ctx->kernel_heap_lock);
    pthread_mutex_destroy(&ctx->sink_lock);
    free(ctx);
}

static void end_thread(void *p)
{
    struct ptxi_thread *t = p;

    this_thread = NULL;
    if (atomic_load(&ptxi_state.phase) == PTXI_PHASE_READY) {
        pthread_mutex_lock(&ptxi_state.lock);
        for (ptxiContext c = ptxi_state.contexts; c; c = c->next)
            ptxi_streams_thread_ends(&c->streams, t->id);
        pthread_mutex_unlock(&ptxi_state.lock);
    }
    while (t->depth)
        unref_context(t->stack[--t->depth]);
    free(t->stack);
    ptxi_failure_unref(t->report);
    ptxi_api_free_diags(t->diags);
    free(t);
}

static void make_key(void)
{
    pthread_key_create(&thread_key, end_thread);
}

struct ptxi_thread *ptxi_api_thread(void)
{
    if (this_thread)
        return this_thread;
    pthread_once(&thread_once, make_key);
    struct ptxi_thread *t = calloc(1, sizeof *t);

    if (!t || pthread_setspecific(thread_key, t)) {
        free(t);
        return NULL;
    }
    t->id = atomic_fetch_add(&thread_ids, 1) + 1;
    this_thread = t;
    return t;
}

static ptxiContext current(void)
{
    struct ptxi_thread *t = this_thread;

    return t && t->depth ? t->stack[t->depth - 1] : NULL;
}

ptxiResult ptxi_api_context(ptxiContext *ctx)
{
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    *ctx = current(); /* the thread's stack has a reference */
    return *ctx ? ptxi_api_hold_context(*ctx) : PTXI_ERROR_INVALID_CONTEXT;
}

/* A context is listed until it is closed. Under state.lock. */
static bool is_listed(ptxiContext ctx)
{
    for (ptxiContext c = ptxi_state.contexts; c; c = c->next)
        if (c == ctx)
            return true;
    return false;
}

static bool is_live(ptxiContext ctx)
{
    return is_listed(ctx) && atomic_load(&ctx->alive);
}

ptxiResult ptxi_api_named_context(ptxiContext named, ptxiContext *ctx)
{
    if (!named)
        return ptxi_api_context(ctx);
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    *ctx = named;
    pthread_mutex_lock(&ptxi_state.lock);
    if (!is_live(named) || ptxi_api_hold_context(named))
        r = PTXI_ERROR_INVALID_CONTEXT;
    pthread_mutex_unlock(&ptxi_state.lock);
    return r;
}

/* Make room for one more on the thread's stack. */
static ptxiResult reserve_stack(struct ptxi_thread *t)
{
    if (t->depth == t->cap) {
        unsigned cap = t->cap ? 2 * t->cap : 8;
        ptxiContext *p = realloc(t->stack, cap * sizeof *p);

        if (!p)
            return PTXI_ERROR_OUT_OF_MEMORY;
        t->stack = p;
        t->cap = cap;
    }
    return PTXI_SUCCESS;
}

/* A context that is not alive is refused. */
static ptxiResult push(ptxiContext ctx)
{
    struct ptxi_thread *t = ptxi_api_thread();
    ptxiResult r = t ? reserve_stack(t) : PTXI_ERROR_OUT_OF_MEMORY;

    if (r)
        return r;
    pthread_mutex_lock(&ptxi_state.lock);
    if (is_live(ctx)) {
        atomic_fetch_add(&ctx->refs, 1);
        t->stack[t->depth++] = ctx;
    } else {
        r = PTXI_ERROR_INVALID_CONTEXT;
    }
    pthread_mutex_unlock(&ptxi_state.lock);
    return r;
}

static void pop(void)
{
    struct ptxi_thread *t = this_thread;

    unref_context(t->stack[--t->depth]);
}

/* Take the entry off the stack that is `n` below its top, of which the others stay. */
static void drop_below(unsigned n)
{
    struct ptxi_thread *t = this_thread;
    ptxiContext gone = t->stack[t->depth - 1 - n];

    memmove(&t->stack[t->depth - 1 - n], &t->stack[t->depth - n], n * sizeof *t->stack);
    t->depth--;
    unref_context(gone);
}

/* ---- making and unmaking */

static const size_t default_limits[PTXI_LIMITS] = {
    [PTXI_LIMIT_STACK_SIZE] = 1024,
    [PTXI_LIMIT_PRINTF_FIFO_SIZE] = 8650752,
    [PTXI_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20,
    [PTXI_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048,
    [PTXI_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64,
};

/* Give a context what a living one has: at creation, and when a primary context is retained again. */
static ptxiResult open_context(ptxiContext ctx, unsigned flags)
{
    ptxiResult r = ptxi_streams_init(&ctx->streams, ctx);

    if (r)
        return r;
    ctx->object_table = ptxi_object_table_create();
    if (!ctx->object_table) {
        ptxi_streams_free(&ctx->streams);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    ctx->flags = flags;
    ctx->profile = atomic_load(&ptxi_state.profile);
    memcpy(ctx->limits, default_limits, sizeof default_limits);
    ctx->kernel_heap = 0;
    ctx->instruction_limit = ctx->millisecond_limit = 0;
    ctx->workers = 0;
    ctx->sink = NULL;
    ctx->unchecked = ctx->counting = false;
    ctx->schedule = ptxi_state.schedule;
    ctx->dialect = PTXI_DIALECT_NONE;
    memset(&ctx->counters, 0, sizeof ctx->counters);
    atomic_store(&ctx->alive, true);
    return PTXI_SUCCESS;
}

/* The other way round; `alive` is already false, so that no new calls come. */
static void close_context(ptxiContext ctx)
{
    ptxi_api_wait_for_calls(ctx);
    while (ptxi_queue_wait_all(&ctx->streams))
        ; /* memory is short for the moment: what runs gives some back */
    ptxi_api_free_captures(ctx);
    ptxi_api_free_asms(ctx);
    ptxi_api_forget_libraries(ctx);
    ptxi_api_free_modules(ctx);
    ptxi_api_free_events(ctx);
    ptxi_streams_free(&ctx->streams);
    ptxi_api_free_exec(ctx);
    ptxi_api_free_references(ctx);
    ptxi_api_free_objects(ctx);
    ptxi_object_table_destroy(ctx->object_table);
    ptxi_api_free_arrays(ctx);
    ptxi_heap_free_all(ctx);
    ptxi_failure_unref(ctx->last_failure);
    ctx->last_failure = NULL;
}

static ptxiResult create(unsigned flags, bool primary, ptxiContext *out)
{
    ptxiContext ctx = calloc(1, sizeof *ctx);

    if (!ctx)
        return PTXI_ERROR_OUT_OF_MEMORY;
    ctx->refs = 1;
    ctx->primary = primary;
    pthread_mutex_init(&ctx->lock, NULL);
    pthread_mutex_init(&ctx->kernel_heap_lock, NULL);
    pthread_mutex_init(&ctx->sink_lock, NULL);
    ptxiResult r = open_context(ctx, flags);

    if (r) {
        unref_context(ctx);
        return r;
    }
    ctx->next = ptxi_state.contexts;
    ptxi_state.contexts = ctx;
    *out = ctx;
    return PTXI_SUCCESS;
}

static void unlist(ptxiContext ctx)
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
    r = create(flags, false, &ctx);
    pthread_mutex_unlock(&ptxi_state.lock);
    if (!r && (r = push(ctx)))
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
    bool ok = is_listed(ctx) && !ctx->primary && atomic_exchange(&ctx->alive, false);

    pthread_mutex_unlock(&ptxi_state.lock);
    if (!ok)
        return PTXI_ERROR_INVALID_CONTEXT;
    close_context(ctx); /* it is still listed, so that ptxiCtxInterrupt finds it */
    pthread_mutex_lock(&ptxi_state.lock);
    unlist(ctx);
    pthread_mutex_unlock(&ptxi_state.lock);
    if (current() == ctx)
        pop();
    unref_context(ctx);
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxInterrupt(ptxiContext named)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    ptxiContext ctx = named ? named : current();

    pthread_mutex_lock(&ptxi_state.lock);
    if (is_listed(ctx)) /* also one that is being destroyed, which may wait for a kernel without end */
        atomic_fetch_add(&ctx->interrupts, 1);
    else
        r = named ? PTXI_ERROR_INVALID_CONTEXT : ctx ? PTXI_ERROR_CONTEXT_IS_DESTROYED : PTXI_ERROR_INVALID_CONTEXT;
    pthread_mutex_unlock(&ptxi_state.lock);
    return r;
}

/* ---- the primary context. Its record stays for the life of the process, so that a handle survives Reset. */

static ptxiResult retain_locked(ptxiContext *pctx)
{
    while (ptxi_state.primary_closing)
        pthread_cond_wait(&ptxi_state.changed, &ptxi_state.lock);
    ptxiContext ctx = ptxi_state.primary;
    ptxiResult r = PTXI_SUCCESS;

    if (!ctx)
        r = create(ptxi_state.primary_flags, true, &ctx);
    else if (!atomic_load(&ctx->alive))
        r = open_context(ctx, ptxi_state.primary_flags);
    if (r)
        return r;
    ptxi_state.primary = ctx;
    ptxi_state.primary_retains++;
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
    r = retain_locked(pctx);
    pthread_mutex_unlock(&ptxi_state.lock);
    return r;
}

/* Take the primary context out of service; the one that gets true closes it. */
static bool retire_locked(void)
{
    ptxiContext ctx = ptxi_state.primary;
    bool mine = ctx && atomic_exchange(&ctx->alive, false);

    ptxi_state.primary_retains = 0;
    ptxi_state.primary_closing |= mine;
    return mine;
}

static void close_primary(void)
{
    close_context(ptxi_state.primary);
    pthread_mutex_lock(&ptxi_state.lock);
    ptxi_state.primary_closing = false;
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
    pthread_mutex_lock(&ptxi_state.lock);
    if (ptxi_state.primary_retains == 0)
        r = PTXI_ERROR_INVALID_CONTEXT;
    else if (--ptxi_state.primary_retains == 0)
        last = retire_locked();
    pthread_mutex_unlock(&ptxi_state.lock);
    if (last)
        close_primary();
    return r;
}

ptxiResult ptxiDevicePrimaryCtxReset(ptxiDevice dev)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(dev);

    if (r)
        return r;
    pthread_mutex_lock(&ptxi_state.lock);
    bool close = retire_locked();
    pthread_mutex_unlock(&ptxi_state.lock);
    if (close)
        close_primary();
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
    pthread_mutex_lock(&ptxi_state.lock);
    ptxi_state.primary_flags = flags;
    if (ptxi_state.primary)
        ptxi_state.primary->flags = flags;
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
    pthread_mutex_lock(&ptxi_state.lock);
    *flags = ptxi_state.primary_flags;
    *active = ptxi_state.primary && atomic_load(&ptxi_state.primary->alive);
    pthread_mutex_unlock(&ptxi_state.lock);
    return PTXI_SUCCESS;
}

/* ---- the stack */

ptxiResult ptxiCtxSetCurrent(ptxiContext ctx)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    ptxiContext before = current();

    if (ctx && (r = push(ctx)))
        return r;
    if (before)
        drop_below(ctx != NULL);
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxGetCurrent(ptxiContext *pctx)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!pctx)
        return PTXI_ERROR_INVALID_VALUE;
    *pctx = current();
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxPushCurrent(ptxiContext ctx)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    return ctx ? push(ctx) : PTXI_ERROR_INVALID_VALUE;
}

ptxiResult ptxiCtxPopCurrent(ptxiContext *pctx)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!current())
        return PTXI_ERROR_INVALID_CONTEXT;
    if (pctx)
        *pctx = current();
    pop();
    return PTXI_SUCCESS;
}

/* ---- questions and limits */

ptxiResult ptxiCtxGetDevice(ptxiDevice *device)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if (!device)
        return PTXI_ERROR_INVALID_VALUE;
    *device = 0;
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

ptxiResult ptxi_api_drain(ptxiContext ctx)
{
    return ptxi_queue_wait_all(&ctx->streams);
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

/* Where a limit is kept; NULL with *r set where it is not. */
static size_t *limit_place(ptxiContext ctx, ptxiLimit limit, ptxiResult *r)
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

static size_t most_persisting(ptxiContext ctx)
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
    size_t *place = limit_place(ctx, limit, &r);

    if (!place)
        return r;
    if (limit == PTXI_LIMIT_STACK_SIZE) {
        if (value > PTXI_MAX_LOCAL)
            return PTXI_ERROR_INVALID_VALUE;
        value = (value + STACK_ALIGN - 1) & ~(size_t)(STACK_ALIGN - 1);
    }
    if ((limit == PTXI_LIMIT_MAX_L2_FETCH_GRANULARITY && value > MAX_L2_FETCH) || (limit == PTXI_LIMIT_PERSISTING_L2_CACHE_SIZE && value > most_persisting(ctx)))
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&ctx->lock);
    *place = value;
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
    const size_t *place = limit_place(ctx, limit, &r);

    if (!place)
        return r;
    if (!pvalue)
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&ctx->lock);
    *pvalue = *place;
    pthread_mutex_unlock(&ctx->lock);
    return PTXI_SUCCESS;
}
