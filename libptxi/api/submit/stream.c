/* Calls on streams. What they submit becomes a node of a graph if the stream is under capture. */
#include "api/submit/submit.h"

#include "api/graph/capture.h"

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

ptxiResult ptxi_submit_synchronize(ptxiStream handle)
{
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_enter(handle, &ctx, &s);

    if (r)
        return r;
    return ptxi_capturing(s) ? ptxi_capture_invalidate(s) : ptxi_stream_wait(ctx, s);
}

ptxiResult ptxiStreamSynchronize(ptxiStream hStream)
{
    API_CALL;
    return ptxi_submit_synchronize(hStream);
}

ptxiResult ptxiStreamQuery(ptxiStream hStream)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_enter(hStream, &ctx, &s);

    if (r)
        return r;
    return ptxi_capturing(s) ? ptxi_capture_invalidate(s) : ptxi_stream_query(ctx, s);
}

/* ---- host functions */

ptxiResult ptxi_submit_host(struct ptxiStream_st *s, ptxiHostFn fn, void *user)
{
    if (!fn)
        return PTXI_ERROR_INVALID_VALUE;
    return ptxi_capturing(s) ? ptxi_capture_host(s, fn, user) : ptxi_stream_call_host(s, fn, user);
}

ptxiResult ptxiLaunchHostFunc(ptxiStream hStream, ptxiHostFn fn, void *userData)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_enter(hStream, &ctx, &s);

    return r ? r : ptxi_submit_host(s, fn, userData);
}

/* ---- events */

ptxiResult ptxi_submit_record(ptxiEvent e, struct ptxiStream_st *s, unsigned char port)
{
    ptxiResult r = ptxi_handle_use(e, PTXI_HANDLE_EVENT);

    if (r)
        return r;
    if (e->ctx != s->ctx)
        return PTXI_ERROR_INVALID_HANDLE;
    if (ptxi_capturing(s))
        return ptxi_capture_record(s, &e->captured, port);
    ptxi_captured_forget(&e->captured);
    return ptxi_event_record(e, s);
}

ptxiResult ptxiEventRecord(ptxiEvent hEvent, ptxiStream hStream)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_enter(hStream, &ctx, &s);

    return r ? r : ptxi_submit_record(hEvent, s, PTXI_GRAPH_KERNEL_NODE_PORT_DEFAULT);
}

ptxiResult ptxiEventRecordWithFlags(ptxiEvent hEvent, ptxiStream hStream, unsigned flags)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_enter(hStream, &ctx, &s);

    if (r)
        return r;
    if (!flags)
        return ptxi_submit_record(hEvent, s, PTXI_GRAPH_KERNEL_NODE_PORT_DEFAULT);
    if (flags > 1)
        return PTXI_ERROR_INVALID_VALUE;
    return ptxi_capturing(s) ? ptxi_capture_event(s, PTXI_GRAPH_NODE_TYPE_EVENT_RECORD,
                                                  hEvent) : PTXI_ERROR_ILLEGAL_STATE;
}

/* Checks the event before a thread waits for it or asks whether it is reached. */
static ptxiResult enter_event(ptxiEvent e)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r || (r = ptxi_handle_use(e, PTXI_HANDLE_EVENT)))
        return r;
    return ptxi_captured_live(e->ctx, &e->captured) ? PTXI_ERROR_CAPTURED_EVENT : PTXI_SUCCESS;
}

ptxiResult ptxiEventSynchronize(ptxiEvent hEvent)
{
    API_CALL;
    ptxiResult r = enter_event(hEvent);

    return r ? r : ptxi_event_wait(hEvent);
}

ptxiResult ptxiEventQuery(ptxiEvent hEvent)
{
    API_CALL;
    ptxiResult r = enter_event(hEvent);

    return r ? r : ptxi_event_query(hEvent);
}

ptxiResult ptxi_submit_wait_event(struct ptxiStream_st *s, ptxiEvent e)
{
    ptxiResult r = ptxi_handle_use(e, PTXI_HANDLE_EVENT);

    if (r)
        return r;
    if (!ptxi_captured_live(e->ctx, &e->captured))
        return ptxi_stream_wait_event(s, e);
    return s == s->ctx->streams.legacy ? PTXI_ERROR_STREAM_CAPTURE_IMPLICIT : ptxi_capture_wait(s, &e->captured);
}

ptxiResult ptxiStreamWaitEvent(ptxiStream hStream, ptxiEvent hEvent, unsigned Flags)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_enter(hStream, &ctx, &s);

    if (r)
        return r;
    if (!Flags)
        return ptxi_submit_wait_event(s, hEvent);
    if ((r = ptxi_handle_use(hEvent, PTXI_HANDLE_EVENT)))
        return r;
    if (Flags > 1)
        return PTXI_ERROR_INVALID_VALUE;
    /* PTXI_EVENT_WAIT_EXTERNAL is for captures */
    return ptxi_capturing(s) ? ptxi_capture_event(s, PTXI_GRAPH_NODE_TYPE_WAIT_EVENT,
                                                  hEvent) : PTXI_ERROR_ILLEGAL_STATE;
}
