/* Streams, host functions and events. */
#include "api/graph/capture.h"

#include <stdlib.h>
#include <time.h>

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

/* What most calls on a stream begin with. */
static ptxiResult enter(ptxiStream handle, ptxiContext *ctx, struct ptxiStream_st **stream)
{
    ptxiResult r = ptxi_api_context(ctx);

    return r ? r : ptxi_api_stream(*ctx, handle, stream);
}

ptxiResult ptxiStreamCreateWithPriority(ptxiStream *phStream, unsigned flags, int priority)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if (!phStream || flags > PTXI_STREAM_NON_BLOCKING)
        return PTXI_ERROR_INVALID_VALUE;
    if (priority > LEAST_PRIORITY)
        priority = LEAST_PRIORITY;
    if (priority < GREATEST_PRIORITY)
        priority = GREATEST_PRIORITY;
    return ptxi_stream_create_handle(&ctx->streams, flags, priority, phStream);
}

ptxiResult ptxiStreamCreate(ptxiStream *phStream, unsigned Flags)
{
    API_CALL;
    return ptxiStreamCreateWithPriority(phStream, Flags, LEAST_PRIORITY);
}

ptxiResult ptxiCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if (leastPriority)
        *leastPriority = LEAST_PRIORITY;
    if (greatestPriority)
        *greatestPriority = GREATEST_PRIORITY;
    return PTXI_SUCCESS;
}

ptxiResult ptxiStreamGetFlags(ptxiStream hStream, unsigned *flags)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = enter(hStream, &ctx, &s);

    if (r)
        return r;
    if (!flags)
        return PTXI_ERROR_INVALID_VALUE;
    *flags = s->flags;
    return PTXI_SUCCESS;
}

ptxiResult ptxiStreamGetPriority(ptxiStream hStream, int *priority)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = enter(hStream, &ctx, &s);

    if (r)
        return r;
    if (!priority)
        return PTXI_ERROR_INVALID_VALUE;
    *priority = s->priority;
    return PTXI_SUCCESS;
}

ptxiResult ptxiStreamGetCtx(ptxiStream hStream, ptxiContext *pctx)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = enter(hStream, &ctx, &s);

    if (r)
        return r;
    if (!pctx)
        return PTXI_ERROR_INVALID_VALUE;
    *pctx = s->ctx;
    return PTXI_SUCCESS;
}

ptxiResult ptxiStreamDestroy(ptxiStream hStream)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if ((r = ptxi_handle_retire(hStream, PTXI_HANDLE_STREAM)))
        return r;
    ptxi_capture_leave(hStream);
    ptxi_handle_unref(&hStream->handle);
    return PTXI_SUCCESS;
}

ptxiResult ptxi_api_collect(ptxiContext ctx, struct ptxiStream_st *s, uint64_t seq)
{
    struct ptxi_failure *failure;
    ptxiResult r = ptxi_queue_take(s, seq, &failure);

    return ptxi_api_return_failure(ctx, r, failure);
}

/* An item that does nothing but take its turn. */
static ptxiResult submit_mark(struct ptxiStream_st *s, enum ptxi_submit how, uint64_t *seq)
{
    struct ptxi_item *it = ptxi_item_create(0, NULL, NULL);

    return it ? ptxi_queue_submit(s, it, how, seq) : PTXI_ERROR_OUT_OF_MEMORY;
}

ptxiResult ptxiStreamSynchronize(ptxiStream hStream)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = enter(hStream, &ctx, &s);
    uint64_t seq;

    if (r)
        return r;
    if (ptxi_capturing(s))
        return ptxi_capture_spoil(s);
    if (s != ctx->streams.legacy)
        seq = ptxi_queue_submitted(s);
    else if (!ptxi_queue_mark(s, &seq) && (r = submit_mark(s, PTXI_SUBMIT_WAIT, &seq)))
        return r;
    ptxi_queue_wait(s, seq);
    return ptxi_api_collect(ctx, s, seq);
}

ptxiResult ptxiStreamQuery(ptxiStream hStream)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = enter(hStream, &ctx, &s);
    uint64_t seq;

    if (r)
        return r;
    if (ptxi_capturing(s))
        return ptxi_capture_spoil(s);
    if (s == ctx->streams.legacy ? !ptxi_queue_mark(s, &seq) : !ptxi_queue_done(s, seq = ptxi_queue_submitted(s)))
        return PTXI_ERROR_NOT_READY;
    return ptxi_api_collect(ctx, s, seq);
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
    ptxi_queue_set_callback(true);
    c->fn(c->user);
    ptxi_queue_set_callback(false);
    return PTXI_SUCCESS;
}

ptxiResult ptxiLaunchHostFunc(ptxiStream hStream, ptxiHostFn fn, void *userData)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = enter(hStream, &ctx, &s);

    if (r)
        return r;
    if (!fn)
        return PTXI_ERROR_INVALID_VALUE;
    if (ptxi_capturing(s))
        return ptxi_capture_host(s, fn, userData);
    struct ptxi_item *it = ptxi_item_create(sizeof(struct host_call), run_host_call, NULL);

    if (!it)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *(struct host_call *)ptxi_item_payload(it) = (struct host_call){ fn, userData };
    return ptxi_queue_submit(s, it, PTXI_SUBMIT_ASYNC, NULL);
}

/* ---- events */

struct ptxiEvent_st {
    struct ptxi_handle handle;    /* with references of marks not yet reached and of nodes of graphs */
    unsigned flags;
    ptxiContext ctx;
    struct ptxiEvent_st *next, **link; /* the context's list; under its lock */

    pthread_mutex_t lock;         /* what follows, but for `captured` */
    struct ptxiStream_st *stream; /* a reference; NULL: never recorded */
    uint64_t seq;                 /* the latest mark is reached when the stream has ended this many items */
    uint64_t record;              /* number of that record */
    uint64_t time;                /* ns, once reached */
    struct ptxi_captured captured; /* where it was recorded last, if that was in a capture; under the graphs' lock */
};

ptxiResult ptxi_event_in_launch(ptxiEvent e, int flags)
{
    ptxiResult r = ptxi_handle_use(e, PTXI_HANDLE_EVENT);

    if (r)
        return r;
    if (flags)
        return flags == 1 ? PTXI_ERROR_ILLEGAL_STATE : PTXI_ERROR_INVALID_VALUE; /* 1 is CU_EVENT_RECORD_EXTERNAL: of captures only */
    return e->flags & PTXI_EVENT_DISABLE_TIMING ? PTXI_SUCCESS : PTXI_ERROR_NOT_SUPPORTED;
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void free_event(void *event)
{
    struct ptxiEvent_st *e = event;

    if (e->stream)
        ptxi_stream_unref(e->stream);
    ptxi_captured_free(&e->captured);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

void ptxi_event_hold(ptxiEvent e)
{
    ptxi_handle_ref(&e->handle);
}

void ptxi_event_let_go(ptxiEvent e)
{
    ptxi_handle_unref(&e->handle);
}

ptxiResult ptxiEventCreate(ptxiEvent *phEvent, unsigned Flags)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if (!phEvent || Flags & ~7u)
        return PTXI_ERROR_INVALID_VALUE;
    if (Flags & PTXI_EVENT_INTERPROCESS) /* which the driver has for events without timing only */
        return Flags & PTXI_EVENT_DISABLE_TIMING ? PTXI_ERROR_NOT_SUPPORTED : PTXI_ERROR_INVALID_VALUE;
    struct ptxiEvent_st *e = calloc(1, sizeof *e);

    if (!e)
        return PTXI_ERROR_OUT_OF_MEMORY;
    e->flags = Flags;
    e->ctx = ctx;
    pthread_mutex_init(&e->lock, NULL);
    if (!ptxi_handle_add(&e->handle, PTXI_HANDLE_EVENT, ctx, free_event)) {
        free_event(e);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&ctx->lock);
    e->next = ctx->events;
    e->link = &ctx->events;
    if (e->next)
        e->next->link = &e->next;
    ctx->events = e;
    pthread_mutex_unlock(&ctx->lock);
    *phEvent = e;
    return PTXI_SUCCESS;
}

/* One that is not in the table any more. */
static void destroy_event(struct ptxiEvent_st *e)
{
    pthread_mutex_lock(&e->ctx->lock);
    *e->link = e->next;
    if (e->next)
        e->next->link = e->link;
    pthread_mutex_unlock(&e->ctx->lock);
    ptxi_event_let_go(e);
}

ptxiResult ptxiEventDestroy(ptxiEvent hEvent)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if ((r = ptxi_handle_retire(hEvent, PTXI_HANDLE_EVENT)))
        return r;
    destroy_event(hEvent);
    return PTXI_SUCCESS;
}

void ptxi_api_free_events(ptxiContext ctx)
{
    while (ctx->events) {
        ptxi_handle_remove(&ctx->events->handle);
        destroy_event(ctx->events);
    }
}

struct mark {
    struct ptxiEvent_st *event; /* a reference */
    uint64_t record;
};

static ptxiResult run_mark(void *payload, struct ptxi_failure **failure)
{
    struct mark *m = payload;

    (void)failure;
    pthread_mutex_lock(&m->event->lock);
    if (m->event->record == m->record)
        m->event->time = now_ns();
    pthread_mutex_unlock(&m->event->lock);
    return PTXI_SUCCESS;
}

static void release_mark(void *payload)
{
    ptxi_event_let_go(((struct mark *)payload)->event);
}

/* Put the mark into the stream; under the event's lock, so that records of one event keep their order. The event's
 * time is only read once the mark is reached, so it may be set before. */
static ptxiResult place_mark(struct ptxiEvent_st *e, struct ptxiStream_st *s, uint64_t *seq)
{
    e->time = now_ns();
    if (ptxi_queue_mark(s, seq))
        return PTXI_SUCCESS;
    struct ptxi_item *it = ptxi_item_create(sizeof(struct mark), run_mark, release_mark);

    if (!it)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *(struct mark *)ptxi_item_payload(it) = (struct mark){ e, e->record };
    ptxi_event_hold(e);
    return ptxi_queue_submit(s, it, PTXI_SUBMIT_ASYNC, seq);
}


ptxiResult ptxiEventRecord(ptxiEvent hEvent, ptxiStream hStream)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s, *before;
    ptxiResult r = enter(hStream, &ctx, &s);
    uint64_t seq;

    if (r)
        return r;
    if ((r = ptxi_handle_use(hEvent, PTXI_HANDLE_EVENT)))
        return r;
    if (hEvent->ctx != ctx)
        return PTXI_ERROR_INVALID_HANDLE;
    if (ptxi_capturing(s))
        return ptxi_capture_record(s, &hEvent->captured);
    ptxi_captured_forget(&hEvent->captured);
    ptxi_stream_ref(s);
    pthread_mutex_lock(&hEvent->lock);
    hEvent->record++;
    r = place_mark(hEvent, s, &seq);
    before = r ? s : hEvent->stream;
    if (!r) {
        hEvent->stream = s;
        hEvent->seq = seq;
    }
    pthread_mutex_unlock(&hEvent->lock);
    if (before)
        ptxi_stream_unref(before);
    return r;
}

ptxiResult ptxiEventRecordWithFlags(ptxiEvent hEvent, ptxiStream hStream, unsigned flags)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = enter(hStream, &ctx, &s);

    if (r || !flags)
        return r ? r : ptxiEventRecord(hEvent, hStream);
    if (flags > 1)
        return PTXI_ERROR_INVALID_VALUE;
    return ptxi_capturing(s) ? ptxi_capture_event(s, PTXI_GRAPH_NODE_TYPE_EVENT_RECORD, hEvent) : PTXI_ERROR_ILLEGAL_STATE;
}

/* The event's mark, with a reference to its stream; false if it was never recorded. */
static bool event_mark(struct ptxiEvent_st *e, struct ptxiStream_st **stream, uint64_t *seq)
{
    pthread_mutex_lock(&e->lock);
    *stream = e->stream;
    *seq = e->seq;
    if (*stream)
        ptxi_stream_ref(*stream);
    pthread_mutex_unlock(&e->lock);
    return *stream != NULL;
}

static ptxiResult event_reached(ptxiEvent e, bool wait)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    struct ptxiStream_st *s;
    uint64_t seq;

    if (r)
        return r;
    if ((r = ptxi_handle_use(e, PTXI_HANDLE_EVENT)))
        return r;
    if (ptxi_captured_live(e->ctx, &e->captured))
        return PTXI_ERROR_CAPTURED_EVENT;
    if (!event_mark(e, &s, &seq))
        return PTXI_SUCCESS;
    if (wait)
        ptxi_queue_wait(s, seq);
    r = ptxi_queue_done(s, seq) ? ptxi_api_collect(e->ctx, s, seq) : PTXI_ERROR_NOT_READY;
    ptxi_stream_unref(s);
    return r;
}

ptxiResult ptxiEventSynchronize(ptxiEvent hEvent)
{
    API_CALL;
    return event_reached(hEvent, true);
}

ptxiResult ptxiEventQuery(ptxiEvent hEvent)
{
    API_CALL;
    return event_reached(hEvent, false);
}

ptxiResult ptxiStreamWaitEvent(ptxiStream hStream, ptxiEvent hEvent, unsigned Flags)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s, *on;
    ptxiResult r = enter(hStream, &ctx, &s);
    uint64_t seq;

    if (r)
        return r;
    if ((r = ptxi_handle_use(hEvent, PTXI_HANDLE_EVENT)))
        return r;
    if (Flags > 1)
        return PTXI_ERROR_INVALID_VALUE;
    if (Flags) /* PTXI_EVENT_WAIT_EXTERNAL is for captures */
        return ptxi_capturing(s) ? ptxi_capture_event(s, PTXI_GRAPH_NODE_TYPE_WAIT_EVENT, hEvent) : PTXI_ERROR_ILLEGAL_STATE;
    if (ptxi_captured_live(hEvent->ctx, &hEvent->captured))
        return s == ctx->streams.legacy ? PTXI_ERROR_STREAM_CAPTURE_IMPLICIT : ptxi_capture_wait(s, &hEvent->captured);
    if (!event_mark(hEvent, &on, &seq))
        return PTXI_SUCCESS;
    if (ptxi_capturing(s)) {
        r = PTXI_ERROR_STREAM_CAPTURE_ISOLATION;
    } else if (on != s && !ptxi_queue_done(on, seq)) {
        struct ptxi_item *it = ptxi_item_create(0, NULL, NULL);

        r = it ? ptxi_queue_submit_after(s, it, on, seq) : PTXI_ERROR_OUT_OF_MEMORY;
    }
    ptxi_stream_unref(on);
    return r;
}

/* The time of an event whose mark is reached. */
static ptxiResult event_time(ptxiEvent e, uint64_t *time)
{
    ptxiResult r = ptxi_handle_use(e, PTXI_HANDLE_EVENT);

    if (r || e->flags & PTXI_EVENT_DISABLE_TIMING)
        return PTXI_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&e->lock);
    if (!e->stream)
        r = PTXI_ERROR_INVALID_HANDLE;
    else if (!ptxi_queue_done(e->stream, e->seq))
        r = PTXI_ERROR_NOT_READY;
    *time = e->time;
    pthread_mutex_unlock(&e->lock);
    return r;
}

ptxiResult ptxiEventElapsedTime(float *pMilliseconds, ptxiEvent hStart, ptxiEvent hEnd)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    uint64_t start = 0, end = 0;

    if (r)
        return r;
    ptxiResult a = event_time(hStart, &start), b = event_time(hEnd, &end);

    if (a == PTXI_ERROR_INVALID_HANDLE || b == PTXI_ERROR_INVALID_HANDLE)
        return PTXI_ERROR_INVALID_HANDLE;
    if (!pMilliseconds)
        return PTXI_ERROR_INVALID_VALUE;
    if (a || b)
        return PTXI_ERROR_NOT_READY;
    *pMilliseconds = (float)((double)(int64_t)(end - start) / 1e6);
    return PTXI_SUCCESS;
}
