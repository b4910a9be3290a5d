/* The library's data of each thread, and the thread's stack of current contexts. */
#include "api/context/context.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t thread_once = PTHREAD_ONCE_INIT;
static pthread_key_t thread_key;
static __thread struct ptxi_thread *this_thread;
static _Atomic uint64_t thread_ids;

void ptxi_context_unref(ptxiContext ctx)
{
    unsigned before = atomic_fetch_sub(&ctx->refs, 1);

    assert(before);
    if (before != 1)
        return;
    assert(!atomic_load(&ctx->gate.open) && !atomic_load(&ctx->gate.calls));
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
        ptxi_context_unref(t->stack[--t->depth]);
    free(t->stack);
    ptxi_failure_unref(t->report);
    ptxi_diag_store_free(t->diags);
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

ptxiContext ptxi_context_current(void)
{
    struct ptxi_thread *t = this_thread;

    return t && t->depth ? t->stack[t->depth - 1] : NULL;
}

ptxiResult ptxi_api_context(ptxiContext *ctx)
{
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    *ctx = ptxi_context_current(); /* the thread's stack has a reference to it */
    return *ctx ? ptxi_gate_hold(&(*ctx)->gate) : PTXI_ERROR_INVALID_CONTEXT;
}

bool ptxi_context_is_listed(ptxiContext ctx)
{
    for (ptxiContext c = ptxi_state.contexts; c; c = c->next)
        if (c == ctx)
            return true;
    return false;
}

static bool is_live(ptxiContext ctx)
{
    return ptxi_context_is_listed(ctx) && atomic_load(&ctx->gate.open);
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
    if (!is_live(named) || ptxi_gate_hold(&named->gate))
        r = PTXI_ERROR_INVALID_CONTEXT;
    pthread_mutex_unlock(&ptxi_state.lock);
    return r;
}

/* Makes room for one more entry of the thread's stack. */
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

ptxiResult ptxi_context_push(ptxiContext ctx)
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

void ptxi_context_pop(void)
{
    struct ptxi_thread *t = this_thread;

    assert(t && t->depth);
    ptxi_context_unref(t->stack[--t->depth]);
}

/* Removes the entry that is `n` below the top of the stack. */
static void remove_below_top(unsigned n)
{
    struct ptxi_thread *t = this_thread;
    assert(n < t->depth);
    ptxiContext gone = t->stack[t->depth - 1 - n];

    memmove(&t->stack[t->depth - 1 - n], &t->stack[t->depth - n], n * sizeof *t->stack);
    t->depth--;
    ptxi_context_unref(gone);
}

/* ---- the stack */

ptxiResult ptxiCtxSetCurrent(ptxiContext ctx)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    ptxiContext before = ptxi_context_current();

    if (ctx && (r = ptxi_context_push(ctx)))
        return r;
    if (before)
        remove_below_top(ctx != NULL);
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
    *pctx = ptxi_context_current();
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxPushCurrent(ptxiContext ctx)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    return ctx ? ptxi_context_push(ctx) : PTXI_ERROR_INVALID_VALUE;
}

ptxiResult ptxiCtxPopCurrent(ptxiContext *pctx)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!ptxi_context_current())
        return PTXI_ERROR_INVALID_CONTEXT;
    if (pctx)
        *pctx = ptxi_context_current();
    ptxi_context_pop();
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxInterrupt(ptxiContext named)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    ptxiContext ctx = named ? named : ptxi_context_current();

    pthread_mutex_lock(&ptxi_state.lock);
    if (ptxi_context_is_listed(ctx)) /* even if it is being destroyed, which may wait for an endless kernel */
        atomic_fetch_add(&ctx->interrupts, 1);
    else
        r = ctx && !named ? PTXI_ERROR_CONTEXT_IS_DESTROYED : PTXI_ERROR_INVALID_CONTEXT;
    pthread_mutex_unlock(&ptxi_state.lock);
    return r;
}
