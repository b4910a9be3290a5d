/* Launches of kernels in streams. */
#include "api/submit/submit.h"

#include "api/graph/capture.h"
#include "api/memory/open_ranges.h"
#include "api/module/library.h"
#include "api/submit/watch.h"

/* Queues the launch of a resolved function. */
static ptxiResult submit(ptxiContext ctx, ptxiStream handle, struct ptxi_launch_description *d)
{
    struct ptxiStream_st *stream;
    struct ptxi_item *it;
    ptxiResult r;

    if (d->function->module->ctx != ctx)
        return PTXI_ERROR_INVALID_HANDLE;
    if ((r = ptxi_api_stream(ctx, handle, &stream)))
        return r;
    if (ptxi_capturing(stream))
        return d->open && d->open->count ? PTXI_ERROR_STREAM_CAPTURE_UNSUPPORTED : ptxi_capture_launch(stream, d);
    if ((r = ptxi_launch_make(ctx, d, &it)))
        return r;
    struct ptxi_launch *l = ptxi_item_payload(it);

    l->stack = ptxi_host_stack_capture();
    if (d->open) {
        l->open = *d->open;
        *d->open = (struct ptxi_open_ranges){ 0 };
    }
    d->ended = ptxi_stream_completed(stream);
    return ptxi_queue_submit(stream, it, d->waited ? PTXI_SUBMIT_WAIT : PTXI_SUBMIT_ASYNC, &d->number);
}

static void report_rejected(const struct ptxi_launch_description *d, ptxiResult r)
{
    struct ptxi_host_stack *stack = ptxi_host_stack_capture();

    ptxi_observe_failure(&(struct ptxi_failed_launch){
        .kernel = d->function->func->name->s, .grid = d->shape.grid, .block = d->shape.block,
        .shared = d->shape.shared, .result = r, .stack = stack,
    });
    ptxi_host_stack_free(stack);
}

ptxiResult ptxi_submit_launch(ptxiStream handle, struct ptxi_launch_description *d)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if ((r = ptxi_resolve_function(&d->function)))
        return r;
    r = submit(ctx, handle, d);
    if (r)
        report_rejected(d, r);
    return r;
}

ptxiResult ptxiLaunchKernel(ptxiFunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ, unsigned blockDimX,
                            unsigned blockDimY, unsigned blockDimZ, unsigned sharedMemBytes, ptxiStream hStream,
                            void **kernelParams, void **extra)
{
    API_CALL;
    struct ptxi_launch_description d = {
        .function = f, .params = kernelParams, .extra = extra,
        .shape = { .grid = { gridDimX, gridDimY, gridDimZ }, .block = { blockDimX, blockDimY, blockDimZ },
                   .shared = sharedMemBytes },
    };

    return ptxi_submit_launch(hStream, &d);
}

ptxiResult ptxiLaunchCooperativeKernel(ptxiFunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ,
                                       unsigned blockDimX, unsigned blockDimY, unsigned blockDimZ,
                                       unsigned sharedMemBytes, ptxiStream hStream, void **kernelParams)
{
    API_CALL;
    struct ptxi_launch_description d = {
        .function = f, .params = kernelParams,
        .shape = { .grid = { gridDimX, gridDimY, gridDimZ }, .block = { blockDimX, blockDimY, blockDimZ },
                   .shared = sharedMemBytes, .cooperative = true },
    };

    return ptxi_submit_launch(hStream, &d);
}

/* Records an event in a call of its own. */
static ptxiResult record_in_stream(ptxiEvent e, ptxiStream stream, unsigned char port)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_enter(stream, &ctx, &s);

    return r ? r : ptxi_submit_record(e, s, port);
}

/* An event that may be recorded when the grid has begun is recorded when it has ended. */
static ptxiResult record_event(const ptxiLaunchAttribute *a, ptxiStream stream)
{
    enum { PROGRAMMATIC = PTXI_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, BEGUN = PTXI_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER };
    bool at_start = a->value.programmaticEvent.triggerAtBlockStart;

    switch (a->id) {
    case PTXI_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        return record_in_stream(a->value.programmaticEvent.event, stream, at_start ? BEGUN : PROGRAMMATIC);
    case PTXI_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        return record_in_stream(a->value.launchCompletionEvent.event, stream, BEGUN);
    default: return PTXI_SUCCESS;
    }
}

ptxiResult ptxi_submit_launch_events(const ptxiLaunchConfig *c)
{
    ptxiResult r = PTXI_SUCCESS;

    for (unsigned i = 0; !r && i < c->numAttrs; i++)
        r = record_event(&c->attrs[i], c->hStream);
    return r;
}

/* Launches the kernel and records the events of the attributes. *launched becomes true when the kernel is queued. */
static ptxiResult launch(const ptxiLaunchConfig *c, struct ptxi_launch_description *d, bool *launched)
{
    ptxiResult r = ptxi_launch_read_config(c, &d->shape);

    if (r || (r = ptxi_submit_launch(c->hStream, d)))
        return r;
    *launched = true;
    return ptxi_submit_launch_events(c);
}

ptxiResult ptxiLaunchKernelEx(const ptxiLaunchConfig *c, ptxiFunction f, void **kernelParams, void **extra)
{
    API_CALL;
    struct ptxi_launch_description d = { .function = f, .params = kernelParams, .extra = extra };
    bool launched;

    return launch(c, &d, &launched);
}

/* ---- ptxiLaunchAndWait(), ptxiLaunchWatched() and ptxiLaunchAsync() */

/* Opens the ranges and launches the kernel. If it does not wait, the launch owns the ranges. */
static ptxiResult launch_direct(ptxiDirectLaunch *w, bool waits, struct ptxi_open_ranges *open)
{
    void *extra[] = { PTXI_LAUNCH_PARAM_BUFFER_POINTER, (void *)(uintptr_t)w->params, PTXI_LAUNCH_PARAM_BUFFER_SIZE,
                      &w->paramBytes, PTXI_LAUNCH_PARAM_END };
    struct ptxi_launch_description d = { .function = w->f, .extra = w->paramBytes ? extra : NULL, .waited = waits,
                                         .open = waits ? NULL : open };
    ptxiResult r = ptxi_open_ranges(open, w->ranges, w->rangeCount);
    bool launched = false;

    if (r)
        return r;
    r = launch(w->config, &d, &launched);
    w->launched = launched;
    w->number = d.number;
    w->ended = d.ended;
    return r;
}

static ptxiResult launch_and_wait(ptxiDirectLaunch *w)
{
    struct ptxi_open_ranges open = { 0 };
    ptxiResult r = launch_direct(w, true, &open), waited;

    if (w->launched) {
        waited = ptxi_submit_synchronize(w->config->hStream);
        r = r ? r : waited;
    }
    ptxi_close_ranges(&open);
    return r;
}

static ptxiResult launch_async(ptxiDirectLaunch *w)
{
    struct ptxi_open_ranges open = { 0 };
    ptxiResult r = launch_direct(w, false, &open);

    ptxi_close_ranges(&open); /* nothing is in it if the kernel is queued */
    return r;
}

/* Calls a function with the launch's context as the current one. */
static ptxiResult run_direct(ptxiDirectLaunch *w, ptxiResult (*function)(ptxiDirectLaunch *))
{
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!w || w->size != sizeof *w || !w->config || (w->rangeCount && !w->ranges))
        return PTXI_ERROR_INVALID_VALUE;
    w->launched = 0;
    if (w->ctx && (r = ptxi_context_push(w->ctx)))
        return r;
    r = function(w);
    if (w->ctx)
        ptxi_context_pop();
    return r;
}

ptxiResult ptxiLaunchAndWait(ptxiDirectLaunch *w)
{
    API_CALL;

    return run_direct(w, launch_and_wait);
}

ptxiResult ptxiLaunchWatched(ptxiDirectLaunch *w, ptxiWatch *watch)
{
    API_CALL;
    ptxiContext outer;
    ptxiResult r;

    if (!watch || !w)
        return run_direct(w, launch_and_wait);
    w->launched = 0;
    outer = watch->ctx;
    r = ptxi_watch_begin(watch, w->ctx ? w->ctx : ptxi_context_current());
    if (r)
        return r;
    r = run_direct(w, launch_and_wait);
    ptxi_watch_end(watch, outer);
    return r;
}

ptxiResult ptxiLaunchAsync(ptxiDirectLaunch *w)
{
    API_CALL;

    return run_direct(w, launch_async);
}
