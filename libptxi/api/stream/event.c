#include "api/stream/event.h"

#include "base/clock.h"

#include <assert.h>
#include <stdlib.h>

void ptxi_captured_free(struct ptxi_captured *mark)
{
    atomic_store(&mark->capture, 0); /* calls read this without the lock */
    free(mark->nodes);
    mark->nodes = NULL;
    mark->count = 0;
}

/* ---- objects */

static void free_event(void *event)
{
    struct ptxiEvent_st *e = event;

    if (e->stream)
        ptxi_stream_unref(e->stream);
    ptxi_captured_free(&e->captured);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

void ptxi_event_ref(ptxiEvent e)
{
    ptxi_handle_ref(&e->handle);
}

void ptxi_event_unref(ptxiEvent e)
{
    ptxi_handle_unref(&e->handle);
}

/* Removes an event that has no handle any more from its context. */
static void destroy_event(struct ptxiEvent_st *e)
{
    pthread_mutex_lock(&e->ctx->lock);
    assert(*e->link == e);
    *e->link = e->next;
    if (e->next)
        e->next->link = e->link;
    pthread_mutex_unlock(&e->ctx->lock);
    ptxi_event_unref(e);
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
    if (Flags & PTXI_EVENT_INTERPROCESS) /* the driver supports this only for events without timing */
        return Flags & PTXI_EVENT_DISABLE_TIMING ? PTXI_ERROR_NOT_SUPPORTED : PTXI_ERROR_INVALID_VALUE;
    struct ptxiEvent_st *e = calloc(1, sizeof *e);

    if (!e)
        return PTXI_ERROR_OUT_OF_MEMORY;
    e->flags = Flags;
    e->ctx = ctx;
    pthread_mutex_init(&e->lock, NULL);
    pthread_mutex_lock(&ctx->lock);
    e->next = ctx->events;
    e->link = &ctx->events;
    if (e->next)
        e->next->link = &e->next;
    ctx->events = e;
    pthread_mutex_unlock(&ctx->lock);
    if (!ptxi_handle_add(&e->handle, PTXI_HANDLE_EVENT, &ctx->gate, free_event)) {
        destroy_event(e);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    *phEvent = e;
    return PTXI_SUCCESS;
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

void ptxi_events_destroy_all(ptxiContext ctx)
{
    while (ctx->events) {
        ptxi_handle_remove(&ctx->events->handle);
        destroy_event(ctx->events);
    }
}

ptxiResult ptxi_event_check_launch_attribute(ptxiEvent e, int flags)
{
    ptxiResult r = ptxi_handle_use(e, PTXI_HANDLE_EVENT);

    if (r)
        return r;
    if (flags)
        /* 1 is CU_EVENT_RECORD_EXTERNAL, for captures only */
        return flags == 1 ? PTXI_ERROR_ILLEGAL_STATE : PTXI_ERROR_INVALID_VALUE;
    return e->flags & PTXI_EVENT_DISABLE_TIMING ? PTXI_SUCCESS : PTXI_ERROR_NOT_SUPPORTED;
}

/* ---- records */

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
        m->event->time = ptxi_clock_monotonic_ns();
    pthread_mutex_unlock(&m->event->lock);
    return PTXI_SUCCESS;
}

static void release_mark(void *payload)
{
    ptxi_event_unref(((struct mark *)payload)->event);
}

/* Puts a mark into the stream, under the event's lock, so that records of one event keep their order. Calls read the
 * event's time only after the mark is reached, so it may be set before. */
static ptxiResult submit_mark(struct ptxiEvent_st *e, struct ptxiStream_st *s, uint64_t *seq)
{
    e->time = ptxi_clock_monotonic_ns();
    if (ptxi_queue_mark(s, seq))
        return PTXI_SUCCESS;
    struct ptxi_item *it = ptxi_item_create(sizeof(struct mark), run_mark, release_mark);

    if (!it)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *(struct mark *)ptxi_item_payload(it) = (struct mark){ e, e->record };
    ptxi_event_ref(e);
    return ptxi_queue_submit(s, it, PTXI_SUBMIT_ASYNC, seq);
}

ptxiResult ptxi_event_record(ptxiEvent e, struct ptxiStream_st *s)
{
    struct ptxiStream_st *unused = s;
    uint64_t seq;

    ptxi_stream_ref(s);
    pthread_mutex_lock(&e->lock);
    e->record++;
    ptxiResult r = submit_mark(e, s, &seq);

    if (!r) {
        unused = e->stream;
        e->stream = s;
        e->seq = seq;
    }
    pthread_mutex_unlock(&e->lock);
    if (unused)
        ptxi_stream_unref(unused);
    return r;
}

/* ---- waiting */

/* Finds the latest mark, with a reference to its stream. False if the event was never recorded. */
static bool find_mark(struct ptxiEvent_st *e, struct ptxiStream_st **stream, uint64_t *seq)
{
    pthread_mutex_lock(&e->lock);
    *stream = e->stream;
    *seq = e->seq;
    if (*stream)
        ptxi_stream_ref(*stream);
    pthread_mutex_unlock(&e->lock);
    return *stream != NULL;
}

/* Returns the result of a mark in a stream. Consumes the caller's reference to the stream. */
static ptxiResult take_result(ptxiEvent e, struct ptxiStream_st *s, uint64_t seq)
{
    ptxiResult r = ptxi_queue_done(s, seq) ? ptxi_api_collect(e->ctx, s, seq) : PTXI_ERROR_NOT_READY;

    ptxi_stream_unref(s);
    return r;
}

ptxiResult ptxi_event_wait(ptxiEvent e)
{
    struct ptxiStream_st *s;
    uint64_t seq;

    if (!find_mark(e, &s, &seq))
        return PTXI_SUCCESS;
    ptxi_queue_wait(s, seq);
    return take_result(e, s, seq);
}

ptxiResult ptxi_event_query(ptxiEvent e)
{
    struct ptxiStream_st *s;
    uint64_t seq;

    return find_mark(e, &s, &seq) ? take_result(e, s, seq) : PTXI_SUCCESS;
}

ptxiResult ptxi_stream_wait_event(struct ptxiStream_st *s, ptxiEvent e)
{
    ptxiResult r = PTXI_SUCCESS;
    struct ptxiStream_st *on;
    uint64_t seq;

    if (!find_mark(e, &on, &seq))
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

/* ---- times */

/* Gets the time of an event. Its mark must be reached. */
static ptxiResult get_time(ptxiEvent e, uint64_t *time)
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
    ptxiResult a = get_time(hStart, &start), b = get_time(hEnd, &end);

    if (a == PTXI_ERROR_INVALID_HANDLE || b == PTXI_ERROR_INVALID_HANDLE)
        return PTXI_ERROR_INVALID_HANDLE;
    if (!pMilliseconds)
        return PTXI_ERROR_INVALID_VALUE;
    if (a || b)
        return PTXI_ERROR_NOT_READY;
    *pMilliseconds = (float)((double)(int64_t)(end - start) / 1e6);
    return PTXI_SUCCESS;
}
