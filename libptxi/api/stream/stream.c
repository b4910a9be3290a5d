#include "api/stream/stream.h"

static bool is_default(ptxiStream handle)
{
    return !handle || handle == PTXI_STREAM_LEGACY || handle == PTXI_STREAM_PER_THREAD;
}

ptxiResult ptxi_api_stream(ptxiContext ctx, ptxiStream handle, struct ptxiStream_st **stream)
{
    if (!handle || handle == PTXI_STREAM_LEGACY) {
        *stream = ctx->streams.legacy;
        return PTXI_SUCCESS;
    }
    if (handle == PTXI_STREAM_PER_THREAD) {
        struct ptxi_thread *t = ptxi_api_thread();

        return t ? ptxi_stream_per_thread(&ctx->streams, t->id, stream) : PTXI_ERROR_OUT_OF_MEMORY;
    }
    ptxiResult r = ptxi_handle_use(handle, PTXI_HANDLE_STREAM);

    *stream = handle;
    return !r && handle->ctx != ctx ? PTXI_ERROR_INVALID_HANDLE : r;
}

ptxiResult ptxi_stream_enter(ptxiStream handle, ptxiContext *ctx, struct ptxiStream_st **stream)
{
    ptxiResult r = ptxi_api_context(ctx);

    if (r)
        return r;
    if (!is_default(handle)) {
        if ((r = ptxi_handle_use(handle, PTXI_HANDLE_STREAM)))
            return r;
        *ctx = handle->ctx;
    }
    return ptxi_api_stream(*ctx, handle, stream);
}

/* ---- calls that need no queue */

ptxiResult ptxiStreamCreateWithPriority(ptxiStream *phStream, unsigned flags, int priority)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if (!phStream || flags > PTXI_STREAM_NON_BLOCKING)
        return PTXI_ERROR_INVALID_VALUE;
    if (priority > PTXI_LEAST_PRIORITY)
        priority = PTXI_LEAST_PRIORITY;
    if (priority < PTXI_GREATEST_PRIORITY)
        priority = PTXI_GREATEST_PRIORITY;
    return ptxi_stream_create_handle(&ctx->streams, flags, priority, phStream);
}

ptxiResult ptxiStreamCreate(ptxiStream *phStream, unsigned Flags)
{
    API_CALL;
    return ptxiStreamCreateWithPriority(phStream, Flags, PTXI_LEAST_PRIORITY);
}

ptxiResult ptxiCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if (leastPriority)
        *leastPriority = PTXI_LEAST_PRIORITY;
    if (greatestPriority)
        *greatestPriority = PTXI_GREATEST_PRIORITY;
    return PTXI_SUCCESS;
}

/* Defines the entry point that returns a property of the stream s through a pointer. */
#define GET(name, T, pointer, value)                                 \
    ptxiResult ptxiStreamGet##name(ptxiStream hStream, T *pointer)   \
    {                                                                \
        API_CALL;                                                    \
        ptxiContext ctx;                                             \
        struct ptxiStream_st *s;                                     \
        ptxiResult r = ptxi_stream_enter(hStream, &ctx, &s);         \
                                                                     \
        if (r)                                                       \
            return r;                                                \
        if (!pointer)                                                \
            return PTXI_ERROR_INVALID_VALUE;                         \
        *pointer = value;                                            \
        return PTXI_SUCCESS;                                         \
    }

GET(Flags, unsigned, flags, s->flags)
GET(Priority, int, priority, s->priority)
GET(Ctx, ptxiContext, pctx, s->ctx)
GET(Device, ptxiDevice, device, s->ctx->device)
GET(Id, unsigned long long, streamId, s->id)

/* ---- waiting */

/* An item that does nothing. It ends when everything before it has ended. */
static ptxiResult submit_mark(struct ptxiStream_st *s, enum ptxi_submit how, uint64_t *seq)
{
    struct ptxi_item *it = ptxi_item_create(0, NULL, NULL);

    return it ? ptxi_queue_submit(s, it, how, seq) : PTXI_ERROR_OUT_OF_MEMORY;
}

ptxiResult ptxi_stream_wait(ptxiContext ctx, struct ptxiStream_st *s)
{
    ptxiResult r;
    uint64_t seq;

    if (s != ctx->streams.legacy)
        seq = ptxi_queue_submitted(s);
    else if (!ptxi_queue_mark(s, &seq) && (r = submit_mark(s, PTXI_SUBMIT_WAIT, &seq)))
        return r;
    ptxi_queue_wait(s, seq);
    return ptxi_api_collect(ctx, s, seq);
}

ptxiResult ptxi_stream_query(ptxiContext ctx, struct ptxiStream_st *s)
{
    uint64_t seq;
    bool done;

    if (s == ctx->streams.legacy) {
        done = ptxi_queue_mark(s, &seq) && ptxi_queue_done(s, seq);
    } else {
        seq = ptxi_queue_submitted(s);
        done = ptxi_queue_done(s, seq);
    }
    return done ? ptxi_api_collect(ctx, s, seq) : PTXI_ERROR_NOT_READY;
}

/* ---- host functions */

struct host_call {
    ptxiHostFn fn;
    void *user;
};

static ptxiResult run_host_call(void *payload, struct ptxi_failure **failure)
{
    struct host_call *c = payload;

    (void)failure;
    ptxi_queue_tell_host();
    ptxi_call_set_callback(true);
    c->fn(c->user);
    ptxi_call_set_callback(false);
    return PTXI_SUCCESS;
}

ptxiResult ptxi_stream_call_host(struct ptxiStream_st *s, ptxiHostFn fn, void *user)
{
    struct ptxi_item *it = ptxi_item_create(sizeof(struct host_call), run_host_call, NULL);

    if (!it)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *(struct host_call *)ptxi_item_payload(it) = (struct host_call){ fn, user };
    return ptxi_queue_submit(s, it, PTXI_SUBMIT_ASYNC, NULL);
}
