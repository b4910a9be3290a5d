#include "api/stream/event.h"

#include "api/ipc/shared_event.h"
#include "base/clock.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void ptxi_captured_nodes_free(struct ptxi_captured_nodes *n)
{
    free(n->nodes);
    free(n->edges);
    *n = (struct ptxi_captured_nodes){ .count = 0 };
}

void ptxi_captured_free(struct ptxi_captured *mark)
{
    atomic_store(&mark->capture, 0); /* calls read this without the lock */
    ptxi_captured_nodes_free(&mark->after);
}

/* ---- objects */

static void free_event(void *event)
{
    struct ptxiEvent_st *e = event;

    if (e->stream)
        ptxi_stream_unref(e->stream);
    ptxi_captured_free(&e->captured);
    if (e->shared)
        ptxi_shared_event_free(e->shared);
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

/* Makes an event and its handle. Takes the shared state, if any. */
static ptxiResult make_event(ptxiContext ctx, unsigned flags, struct ptxi_shared_event *shared, ptxiEvent *event)
{
    struct ptxiEvent_st *e = calloc(1, sizeof *e);

    if (!e) {
        if (shared)
            ptxi_shared_event_free(shared);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    e->flags = flags;
    e->ctx = ctx;
    e->shared = shared;
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
    *event = e;
    return PTXI_SUCCESS;
}

ptxiResult ptxiEventCreate(ptxiEvent *phEvent, unsigned Flags)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    struct ptxi_shared_event *shared = NULL;

    if (r)
        return r;
    if (!phEvent || Flags & ~7u || (Flags & PTXI_EVENT_INTERPROCESS && !(Flags & PTXI_EVENT_DISABLE_TIMING)))
        return PTXI_ERROR_INVALID_VALUE;
    if (Flags & PTXI_EVENT_INTERPROCESS && !(shared = ptxi_shared_event_create()))
        return PTXI_ERROR_OUT_OF_MEMORY;
    return make_event(ctx, Flags, shared, phEvent);
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

/* ---- other processes */

ptxiResult ptxiIpcGetEventHandle(ptxiIpcEventHandle *pHandle, ptxiEvent event)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    struct ptxi_shared_name name;

    if (r)
        return r;
    if (!pHandle)
        return PTXI_ERROR_INVALID_VALUE;
    if ((r = ptxi_handle_use(event, PTXI_HANDLE_EVENT)))
        return r;
    if (!event->shared)
        return PTXI_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&event->lock);
    r = ptxi_shared_event_name(event->shared, &name);
    pthread_mutex_unlock(&event->lock);
    if (!r)
        memcpy(pHandle, &name, sizeof name);
    return r;
}

ptxiResult ptxiIpcOpenEventHandle(ptxiEvent *phEvent, ptxiIpcEventHandle handle)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    struct ptxi_shared_name name;
    struct ptxi_shared_event *shared;

    if (r)
        return r;
    if (!phEvent)
        return PTXI_ERROR_INVALID_VALUE;
    memcpy(&name, &handle, sizeof name);
    r = ptxi_shared_event_open(&name, &shared);
    return r ? r : make_event(ctx, PTXI_EVENT_INTERPROCESS | PTXI_EVENT_DISABLE_TIMING, shared, phEvent);
}

/* ---- records */

struct mark {
    struct ptxiEvent_st *event; /* a reference */
    uint64_t record;
    uint64_t shared_record;     /* of an event that processes share */
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

/* If the stream has failed, the mark does not run. Then other processes need not wait either. */
static void release_mark(void *payload)
{
    const struct mark *m = payload;

    if (m->event->shared)
        ptxi_shared_event_reach(m->event->shared, m->shared_record);
    ptxi_event_unref(m->event);
}

/* Puts a mark into the stream, under the event's lock, so that records of one event keep their order. Calls read the
 * event's time only after the mark is reached, so it may be set before. */
static ptxiResult submit_mark(struct ptxiEvent_st *e, struct ptxiStream_st *s, uint64_t shared_record, uint64_t *seq)
{
    e->time = ptxi_clock_monotonic_ns();
    if (ptxi_queue_mark(s, seq)) {
        if (e->shared)
            ptxi_shared_event_reach(e->shared, shared_record);
        return PTXI_SUCCESS;
    }
    struct ptxi_item *it = ptxi_item_create(sizeof(struct mark), run_mark, release_mark);

    if (!it) {
        if (e->shared)
            ptxi_shared_event_reach(e->shared, shared_record);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    *(struct mark *)ptxi_item_payload(it) = (struct mark){ e, e->record, shared_record };
    ptxi_event_ref(e);
    return ptxi_queue_submit(s, it, PTXI_SUBMIT_ASYNC, seq);
}

ptxiResult ptxi_event_record(ptxiEvent e, struct ptxiStream_st *s)
{
    struct ptxiStream_st *unused = s;
    uint64_t seq;

    ptxi_stream_ref(s);
    pthread_mutex_lock(&e->lock);
    uint64_t shared_record = e->shared ? ptxi_shared_event_take_number(e->shared) : 0;
    ptxiResult r = e->shared && !shared_record ? PTXI_ERROR_OUT_OF_MEMORY : PTXI_SUCCESS;

    e->record++;
    if (!r)
        r = submit_mark(e, s, shared_record, &seq);

    if (!r) {
        unused = e->stream;
        e->stream = s;
        e->seq = seq;
        e->shared_record = shared_record;
        if (e->shared)
            ptxi_shared_event_set_latest(e->shared, shared_record);
    }
    pthread_mutex_unlock(&e->lock);
    if (unused)
        ptxi_stream_unref(unused);
    return r;
}

/* ---- waiting */

/* The latest record of an event. */
struct latest {
    struct ptxiStream_st *stream; /* of this process, a reference; NULL: of another process, or never recorded */
    uint64_t seq;
    uint64_t shared_record;       /* of another process; 0: of this one, or never recorded */
};

static struct latest find_latest(struct ptxiEvent_st *e)
{
    struct latest l = { 0 };

    pthread_mutex_lock(&e->lock);
    uint64_t shared_record = e->shared ? ptxi_shared_event_latest(e->shared) : 0;

    if (shared_record != e->shared_record) {
        l.shared_record = shared_record;
    } else if (e->stream) {
        ptxi_stream_ref(e->stream);
        l.stream = e->stream;
        l.seq = e->seq;
    }
    pthread_mutex_unlock(&e->lock);
    return l;
}

/* Returns the result of a mark in a stream. Consumes the caller's reference to the stream. */
static ptxiResult take_result(ptxiEvent e, struct ptxiStream_st *s, uint64_t seq)
{
    ptxiResult r = ptxi_queue_done(s, seq) ? ptxi_api_collect(e->ctx, s, seq) : PTXI_ERROR_NOT_READY;

    ptxi_stream_unref(s);
    return r;
}

/* A wait for a record of another process. */
struct foreign_wait {
    struct ptxiEvent_st *event; /* in a stream: a reference */
    ptxiContext ctx;            /* that waits */
    uint64_t shared_record, interrupts_before;
};

static struct foreign_wait begin_wait(struct ptxiEvent_st *e, ptxiContext ctx, uint64_t shared_record)
{
    return (struct foreign_wait){ e, ctx, shared_record, atomic_load(&ctx->interrupts) };
}

static ptxiResult wait_for_process(const struct foreign_wait *w)
{
    for (;;) {
        ptxiResult r = ptxi_shared_event_wait_briefly(w->event->shared, w->shared_record);

        if (r != PTXI_ERROR_NOT_READY)
            return r;
        if (atomic_load(&w->ctx->interrupts) != w->interrupts_before)
            return PTXI_ERROR_LAUNCH_TIMEOUT;
        if (!atomic_load(&w->ctx->gate.open))
            return PTXI_ERROR_CONTEXT_IS_DESTROYED;
    }
}

static ptxiResult run_wait(void *payload, struct ptxi_failure **failure)
{
    const struct foreign_wait *w = payload;

    (void)failure;
    ptxiResult r = wait_for_process(w);

    ptxi_queue_learn_all(&w->ctx->streams); /* other processes may have waited for any stream */
    return r;
}

static void release_wait(void *payload)
{
    ptxi_event_unref(((struct foreign_wait *)payload)->event);
}

static ptxiResult submit_wait(struct ptxiStream_st *s, ptxiEvent e, uint64_t shared_record)
{
    if (ptxi_shared_event_query(e->shared, shared_record) == PTXI_SUCCESS) {
        ptxi_queue_learn_all(&s->ctx->streams);
        return PTXI_SUCCESS;
    }
    struct ptxi_item *it = ptxi_item_create(sizeof(struct foreign_wait), run_wait, release_wait);

    if (!it)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *(struct foreign_wait *)ptxi_item_payload(it) = begin_wait(e, s->ctx, shared_record);
    ptxi_event_ref(e);
    return ptxi_queue_submit(s, it, PTXI_SUBMIT_ASYNC, NULL);
}

ptxiResult ptxi_event_wait(ptxiEvent e)
{
    struct latest l = find_latest(e);
    ptxiResult r;

    if (l.shared_record) {
        struct foreign_wait w = begin_wait(e, e->ctx, l.shared_record);

        r = wait_for_process(&w);
        ptxi_queue_learn_all(&e->ctx->streams);
        return r;
    }
    if (!l.stream)
        return PTXI_SUCCESS;
    ptxi_queue_wait(l.stream, l.seq);
    return take_result(e, l.stream, l.seq);
}

static ptxiResult query_other(ptxiEvent e, uint64_t shared_record)
{
    ptxiResult r = ptxi_shared_event_query(e->shared, shared_record);

    if (!r)
        ptxi_queue_learn_all(&e->ctx->streams);
    return r;
}

ptxiResult ptxi_event_query(ptxiEvent e)
{
    struct latest l = find_latest(e);

    if (l.shared_record)
        return query_other(e, l.shared_record);
    return l.stream ? take_result(e, l.stream, l.seq) : PTXI_SUCCESS;
}

ptxiResult ptxi_stream_wait_event(struct ptxiStream_st *s, ptxiEvent e)
{
    ptxiResult r = PTXI_SUCCESS;
    struct latest l = find_latest(e);

    if (!l.stream && !l.shared_record)
        return PTXI_SUCCESS;
    if (ptxi_capturing(s)) {
        r = PTXI_ERROR_STREAM_CAPTURE_ISOLATION;
    } else if (l.shared_record) {
        r = submit_wait(s, e, l.shared_record);
    } else if (l.stream != s && ptxi_queue_needs_order(l.stream, l.seq)) {
        struct ptxi_item *it = ptxi_item_create(0, NULL, NULL);

        r = it ? ptxi_queue_submit_after(s, it, l.stream, l.seq) : PTXI_ERROR_OUT_OF_MEMORY;
    }
    if (l.stream)
        ptxi_stream_unref(l.stream);
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
