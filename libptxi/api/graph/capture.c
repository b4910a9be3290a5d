/* A capture has a graph and the streams that take part. Each stream has the nodes that its next node must follow. */
#include "api/graph/capture.h"

#include "api/graph/graph.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct ptxi_capture_part {
    struct ptxi_capture_part *next; /* of the same capture */
    struct ptxi_capture *capture;
    struct ptxiStream_st *stream; /* a reference */
    ptxiGraphNode *after;
    size_t count;
};

struct ptxi_capture {
    struct ptxi_capture *next; /* of the context */
    ptxiContext ctx;
    ptxiGraph graph;
    struct ptxiStream_st *origin;
    struct ptxi_capture_part *parts;
    ptxiStreamCaptureMode mode;
    uint64_t id, thread, graph_id;
    bool invalidated;
    bool to_graph; /* the graph is the program's */
};

static _Atomic uint64_t ids;

/* ---- captures and their streams, under the lock of graphs, which a call holds until it returns */

/* A graph of the program in a node of another graph is destroyed with that graph. This invalidates the capture. */
static void check_graph(struct ptxi_capture *c)
{
    if (!c->graph || (ptxi_handle_is(c->graph, PTXI_HANDLE_GRAPH) && c->graph->id == c->graph_id))
        return;
    c->graph = NULL;
    c->invalidated = true;
}

/* Returns the stream's part in a capture, or NULL if another thread has ended the capture. */
static struct ptxi_capture_part *lock_part(struct ptxiStream_st *s)
{
    ptxi_graph_lock();
    struct ptxi_capture_part *p = s->capture;

    if (p)
        check_graph(p->capture);
    return p;
}

static bool set_after(struct ptxi_capture_part *p, const ptxiGraphNode *nodes, size_t count)
{
    ptxiGraphNode *copy = malloc((count + 1) * sizeof *copy);

    if (!copy)
        return false;
    if (count)
        memcpy(copy, nodes, count * sizeof *copy);
    free(p->after);
    p->after = copy;
    p->count = count;
    return true;
}

/* Adds nodes that the next node of the stream must follow. */
static ptxiResult add_after(struct ptxi_capture_part *p, const ptxiGraphNode *nodes, size_t more)
{
    ptxiGraphNode *all = malloc((p->count + more + 1) * sizeof *all);
    size_t count = p->count;

    if (!all)
        return PTXI_ERROR_OUT_OF_MEMORY;
    if (count)
        memcpy(all, p->after, count * sizeof *all);
    for (size_t i = 0; i < more; i++) {
        size_t k = 0;

        while (k < count && all[k] != nodes[i])
            k++;
        if (k == count)
            all[count++] = nodes[i];
    }
    free(p->after);
    p->after = all;
    p->count = count;
    return PTXI_SUCCESS;
}

static struct ptxi_capture_part *join_capture(struct ptxi_capture *c, struct ptxiStream_st *s)
{
    struct ptxi_capture_part *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    *p = (struct ptxi_capture_part){ .next = c->parts, .capture = c, .stream = s };
    assert(!s->capture);
    c->parts = p;
    s->capture = p;
    ptxi_stream_ref(s);
    return p;
}

static void unlist_capture(struct ptxi_capture *c)
{
    struct ptxi_capture **at = &c->ctx->captures;

    while (*at != c) {
        assert(*at);
        at = &(*at)->next;
    }
    *at = c->next;
}

/* Frees a part that is in no list any more. */
static void free_part(struct ptxi_capture_part *p)
{
    assert(p->stream->capture == p);
    p->stream->capture = NULL;
    ptxi_stream_unref(p->stream);
    free(p->after);
    free(p);
}

/* Frees a capture without its graph. */
static void free_capture(struct ptxi_capture *c)
{
    unlist_capture(c);
    while (c->parts) {
        struct ptxi_capture_part *p = c->parts;

        c->parts = p->next;
        free_part(p);
    }
    free(c);
}

/* The capture ends without a result. */
static void drop_graph(struct ptxi_capture *c)
{
    check_graph(c);
    if (c->graph && c->to_graph)
        c->graph->captured = false;
    else
        ptxi_graph_free(c->graph);
}

void ptxi_captures_free_all(ptxiContext ctx)
{
    ptxi_graph_lock();
    while (ctx->captures) {
        drop_graph(ctx->captures);
        free_capture(ctx->captures);
    }
}

/* Marks a node and all nodes before it. The program may have removed nodes from the graph. */
static void mark_before(const struct ptxiGraphNode_st *n, bool *reached)
{
    if (!ptxi_handle_is(n, PTXI_HANDLE_GRAPH_NODE) || reached[n->index])
        return;
    reached[n->index] = true;
    for (unsigned i = 0; i < n->need_count; i++)
        mark_before(n->needs[i], reached);
}

/* Marks the latest nodes of a stream and all nodes before them. */
static void mark_before_part(const struct ptxi_capture_part *p, bool *reached)
{
    for (size_t i = 0; i < p->count; i++)
        mark_before(p->after[i], reached);
}

static bool is_reached(const struct ptxi_capture_part *p, const bool *reached)
{
    bool all = true;

    for (size_t i = 0; i < p->count; i++)
        all &= !ptxi_handle_is(p->after[i], PTXI_HANDLE_GRAPH_NODE) || reached[p->after[i]->index];
    return all;
}

/* Whether other streams of the capture have waited for all work of this one. */
static bool others_wait_for(const struct ptxi_capture_part *p)
{
    const struct ptxi_capture *c = p->capture;
    bool *reached = c->graph ? calloc(c->graph->count + 1, sizeof *reached) : NULL;

    if (!reached)
        return false;
    for (const struct ptxi_capture_part *other = c->parts; other; other = other->next)
        if (other != p)
            mark_before_part(other, reached);
    bool all = is_reached(p, reached);

    free(reached);
    return all;
}

/* A stream is destroyed. Its work stays in the graph if the other streams have waited for it. */
void ptxi_capture_leave(struct ptxiStream_st *s)
{
    struct ptxi_capture_part *p = lock_part(s), **at;

    if (!p)
        return;
    if (p->capture->origin == s) {
        drop_graph(p->capture);
        free_capture(p->capture);
        return;
    }
    p->capture->invalidated |= !others_wait_for(p);
    for (at = &p->capture->parts; *at != p;)
        at = &(*at)->next;
    *at = p->next;
    free_part(p);
}

ptxiResult ptxi_capture_invalidate(struct ptxiStream_st *s)
{
    struct ptxi_capture_part *p = lock_part(s);

    if (p)
        p->capture->invalidated = true;
    return PTXI_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/* ---- work */

/* Takes ownership of the work. */
static ptxiResult add_work(struct ptxiStream_st *s, struct ptxi_work *w)
{
    struct ptxi_capture_part *p = lock_part(s);
    ptxiGraphNode n;
    ptxiResult r = !p || p->capture->invalidated ? PTXI_ERROR_STREAM_CAPTURE_INVALIDATED : PTXI_SUCCESS;

    if (r) {
        ptxi_graph_work_free(w);
        return r;
    }
    r = ptxi_graph_add(&n, p->capture->graph, p->after, NULL, p->count, w);
    return !r && !set_after(p, &n, 1) ? PTXI_ERROR_OUT_OF_MEMORY : r;
}

ptxiResult ptxi_capture_launch(struct ptxiStream_st *s, const struct ptxi_launch_description *d)
{
    struct ptxi_work w;
    ptxiResult r = ptxi_work_launch(&w, d);

    return r ? r : add_work(s, &w);
}

ptxiResult ptxi_capture_copy(struct ptxiStream_st *s, const PTXI_MEMCPY3D *copy)
{
    struct ptxi_work w;
    ptxiResult r = ptxi_work_copy(&w, copy);

    return r ? r : add_work(s, &w);
}

ptxiResult ptxi_capture_set(struct ptxiStream_st *s, const PTXI_MEMSET_NODE_PARAMS *set)
{
    struct ptxi_work w;
    ptxiResult r = ptxi_work_set(&w, set);

    return r ? r : add_work(s, &w);
}

ptxiResult ptxi_capture_host(struct ptxiStream_st *s, ptxiHostFn fn, void *user)
{
    struct ptxi_work w;
    ptxiResult r = ptxi_work_host(&w, &(PTXI_HOST_NODE_PARAMS){ fn, user });

    return r ? r : add_work(s, &w);
}

ptxiResult ptxi_capture_event(struct ptxiStream_st *s, ptxiGraphNodeType type, ptxiEvent e)
{
    struct ptxi_work w;
    ptxiResult r = ptxi_work_event(&w, type, e);

    return r ? r : add_work(s, &w);
}

ptxiResult ptxi_capture_allocate(struct ptxiStream_st *s, size_t bytes, ptxiDevicePtr *dptr)
{
    PTXI_MEM_ALLOC_NODE_PARAMS p = {
        .poolProps = { .allocType = PTXI_MEM_ALLOCATION_TYPE_PINNED,
                       .location = { PTXI_MEM_LOCATION_TYPE_DEVICE, s->ctx->device } },
        .bytesize = bytes,
    };
    struct ptxi_work w;
    ptxiResult r = ptxi_work_allocate(&w, s->ctx, &p);

    r = r ? r : add_work(s, &w);
    if (!r)
        *dptr = p.dptr;
    return r;
}

ptxiResult ptxi_capture_free(struct ptxiStream_st *s, struct ptxi_graph_memory *m)
{
    struct ptxi_work w = { .type = PTXI_GRAPH_NODE_TYPE_MEM_FREE, .memory = m };

    ptxi_graph_memory_ref(m);
    return add_work(s, &w);
}

ptxiResult ptxi_capture_operations(struct ptxiStream_st *s, const ptxiStreamBatchMemOpParams *p, unsigned count)
{
    struct ptxi_work w;
    ptxiResult r = ptxi_work_operations(&w, &(PTXI_BATCH_MEM_OP_NODE_PARAMS){
                                                .count = count, .paramArray = (ptxiStreamBatchMemOpParams *)p });

    return r ? r : add_work(s, &w);
}

/* ---- events */

ptxiResult ptxi_capture_record(struct ptxiStream_st *s, struct ptxi_captured *mark)
{
    struct ptxi_capture_part *p = lock_part(s);

    if (!p)
        return PTXI_ERROR_STREAM_CAPTURE_INVALIDATED;
    ptxiGraphNode *nodes = malloc((p->count + 1) * sizeof *nodes);

    if (!nodes)
        return PTXI_ERROR_OUT_OF_MEMORY;
    if (p->count)
        memcpy(nodes, p->after, p->count * sizeof *nodes);
    ptxi_captured_free(mark);
    mark->nodes = nodes;
    mark->count = p->count;
    atomic_store(&mark->capture, p->capture->id);
    return PTXI_SUCCESS;
}

void ptxi_captured_forget(struct ptxi_captured *mark)
{
    if (!atomic_load_explicit(&mark->capture, memory_order_relaxed))
        return;
    ptxi_graph_lock();
    ptxi_captured_free(mark);
}

static struct ptxi_capture *find_capture(ptxiContext ctx, uint64_t id)
{
    struct ptxi_capture *c = id ? ctx->captures : NULL;

    while (c && c->id != id)
        c = c->next;
    return c;
}

bool ptxi_captured_live(ptxiContext ctx, const struct ptxi_captured *mark)
{
    if (!atomic_load_explicit(&mark->capture, memory_order_relaxed))
        return false;
    ptxi_graph_lock();
    return find_capture(ctx, mark->capture) != NULL;
}

ptxiResult ptxi_capture_wait(struct ptxiStream_st *s, const struct ptxi_captured *mark)
{
    struct ptxi_capture_part *p = lock_part(s);
    struct ptxi_capture *c = find_capture(s->ctx, mark->capture);

    if (!c)
        return PTXI_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (p && p->capture != c) {
        c->invalidated = p->capture->invalidated = true;
        return PTXI_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (!p && !(p = join_capture(c, s)))
        return PTXI_ERROR_OUT_OF_MEMORY;
    return add_after(p, mark->nodes, mark->count);
}

/* ---- begin and end */

static ptxiResult enter_stream(ptxiStream handle, ptxiContext *ctx, struct ptxiStream_st **s)
{
    ptxiResult r = ptxi_api_context(ctx);

    if (!r)
        r = ptxi_api_stream(*ctx, handle, s);
    if (!r)
        lock_part(*s);
    return r;
}

static ptxiResult check_begin(ptxiContext ctx, const struct ptxiStream_st *s, ptxiStreamCaptureMode mode)
{
    if ((unsigned)mode > PTXI_STREAM_CAPTURE_MODE_RELAXED)
        return PTXI_ERROR_INVALID_VALUE;
    if (s == ctx->streams.legacy)
        return PTXI_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return ptxi_capturing(s) ? PTXI_ERROR_ILLEGAL_STATE : PTXI_SUCCESS;
}

/* Begins a capture into the program's graph, or into a new one if that is NULL. */
static ptxiResult begin_capture(ptxiContext ctx, struct ptxiStream_st *s, ptxiStreamCaptureMode mode, ptxiGraph to)
{
    struct ptxi_capture *c = calloc(1, sizeof *c);

    if (!c)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *c = (struct ptxi_capture){
        .ctx = ctx, .origin = s, .mode = mode, .id = atomic_fetch_add(&ids, 1) + 1, .thread = ptxi_api_thread()->id,
        .graph = to ? to : ptxi_graph_new(ctx), .to_graph = to,
    };
    if (!c->graph || !join_capture(c, s)) {
        if (!to)
            ptxi_graph_free(c->graph);
        free(c);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    c->graph_id = c->graph->id;
    c->graph->captured = true; /* programs get it from ptxiStreamGetCaptureInfo() and may not destroy it */
    c->next = ctx->captures;
    ctx->captures = c;
    return PTXI_SUCCESS;
}

ptxiResult ptxiStreamBeginCapture(ptxiStream hStream, ptxiStreamCaptureMode mode)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = enter_stream(hStream, &ctx, &s);

    if (r || (r = check_begin(ctx, s, mode)))
        return r;
    return begin_capture(ctx, s, mode, NULL);
}

/* Checks nodes of the graph. The data of edges is not stored in captures. */
static ptxiResult check_nodes(ptxiGraph g, const ptxiGraphNode *nodes, const ptxiGraphEdgeData *data, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!nodes || !ptxi_graph_is_node(nodes[i]) || nodes[i]->graph != g)
            return PTXI_ERROR_INVALID_VALUE;
    for (size_t i = 0; data && i < count; i++)
        if (!ptxi_graph_is_plain(&data[i]))
            return PTXI_ERROR_NOT_SUPPORTED;
    return PTXI_SUCCESS;
}

ptxiResult ptxiStreamBeginCaptureToGraph(ptxiStream hStream, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                                         const ptxiGraphEdgeData *dependencyData, size_t numDependencies,
                                         ptxiStreamCaptureMode mode)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = enter_stream(hStream, &ctx, &s);

    if (r || (r = ptxi_graph_enter(hGraph)) || (r = check_begin(ctx, s, mode)))
        return r;
    if (hGraph->captured)
        return PTXI_ERROR_ILLEGAL_STATE;
    if ((r = check_nodes(hGraph, dependencies, dependencyData, numDependencies)))
        return r;
    if ((r = begin_capture(ctx, s, mode, hGraph)))
        return r;
    struct ptxi_capture *c = ctx->captures;

    if (!add_after(c->parts, dependencies, numDependencies)) /* a node may be given twice */
        return PTXI_SUCCESS;
    drop_graph(c);
    free_capture(c);
    return PTXI_ERROR_OUT_OF_MEMORY;
}

/* Checks that all nodes of the other streams are before the latest nodes of the origin. */
static ptxiResult check_joined(const struct ptxi_capture *c)
{
    const struct ptxi_capture_part *first = c->origin->capture;
    bool *reached = calloc(c->graph->count + 1, sizeof *reached), all = true;

    if (!reached)
        return PTXI_ERROR_OUT_OF_MEMORY;
    mark_before_part(first, reached);
    for (const struct ptxi_capture_part *p = c->parts; p; p = p->next)
        all &= is_reached(p, reached);
    free(reached);
    return all ? PTXI_SUCCESS : PTXI_ERROR_STREAM_CAPTURE_UNJOINED;
}

ptxiResult ptxiStreamEndCapture(ptxiStream hStream, ptxiGraph *phGraph)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = enter_stream(hStream, &ctx, &s);

    if (r)
        return r;
    if (phGraph)
        *phGraph = NULL;
    if (!ptxi_capturing(s))
        return PTXI_ERROR_ILLEGAL_STATE;
    struct ptxi_capture *c = ((struct ptxi_capture_part *)s->capture)->capture;

    if (!phGraph && !c->to_graph)
        return PTXI_ERROR_INVALID_VALUE;
    if (c->origin != s)
        return PTXI_ERROR_STREAM_CAPTURE_UNMATCHED;
    if (c->mode != PTXI_STREAM_CAPTURE_MODE_RELAXED && c->thread != ptxi_api_thread()->id)
        return PTXI_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    r = c->invalidated ? PTXI_ERROR_STREAM_CAPTURE_INVALIDATED : check_joined(c);
    if (r) {
        check_graph(c);
        if (c->graph && c->graph->owned)
            drop_graph(c);
        else
            ptxi_graph_free(c->graph); /* the driver also destroys a graph of the program */
    } else {
        c->graph->captured = false;
        if (phGraph)
            *phGraph = c->graph;
    }
    free_capture(c);
    return r;
}

ptxiResult ptxiStreamUpdateCaptureDependencies(ptxiStream hStream, ptxiGraphNode *dependencies,
                                               const ptxiGraphEdgeData *dependencyData, size_t numDependencies,
                                               unsigned flags)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = enter_stream(hStream, &ctx, &s);
    size_t before;

    if (r)
        return r;
    if (flags > PTXI_STREAM_SET_CAPTURE_DEPENDENCIES || (numDependencies && !dependencies))
        return PTXI_ERROR_INVALID_VALUE;
    struct ptxi_capture_part *p = s->capture;

    if (!p)
        return PTXI_ERROR_ILLEGAL_STATE;
    if (p->capture->invalidated)
        return PTXI_ERROR_STREAM_CAPTURE_INVALIDATED;
    if ((r = check_nodes(p->capture->graph, dependencies, dependencyData, numDependencies)))
        return r;
    before = p->count;
    if (flags == PTXI_STREAM_SET_CAPTURE_DEPENDENCIES)
        p->count = 0;
    if ((r = add_after(p, dependencies, numDependencies)))
        p->count = before;
    return r;
}

static ptxiStreamCaptureStatus capture_status(const struct ptxi_capture_part *p)
{
    if (!p)
        return PTXI_STREAM_CAPTURE_STATUS_NONE;
    return p->capture->invalidated ? PTXI_STREAM_CAPTURE_STATUS_INVALIDATED : PTXI_STREAM_CAPTURE_STATUS_ACTIVE;
}

ptxiResult ptxiStreamGetCaptureInfo(ptxiStream hStream, ptxiStreamCaptureStatus *captureStatus_out,
                                    unsigned long long *id_out, ptxiGraph *graph_out,
                                    const ptxiGraphNode **dependencies_out, size_t *numDependencies_out)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = enter_stream(hStream, &ctx, &s);

    if (r)
        return r;
    if (!captureStatus_out)
        return PTXI_ERROR_INVALID_VALUE;
    const struct ptxi_capture_part *p = s->capture;

    *captureStatus_out = capture_status(p);
    if (*captureStatus_out != PTXI_STREAM_CAPTURE_STATUS_ACTIVE)
        return PTXI_SUCCESS;
    if (id_out)
        *id_out = p->capture->id;
    if (graph_out)
        *graph_out = p->capture->graph;
    if (dependencies_out)
        *dependencies_out = p->after;
    if (numDependencies_out)
        *numDependencies_out = p->count;
    return PTXI_SUCCESS;
}

ptxiResult ptxiStreamIsCapturing(ptxiStream hStream, ptxiStreamCaptureStatus *captureStatus)
{
    API_CALL;
    return ptxiStreamGetCaptureInfo(hStream, captureStatus, NULL, NULL, NULL, NULL);
}

ptxiResult ptxiThreadExchangeStreamCaptureMode(ptxiStreamCaptureMode *mode)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();
    struct ptxi_thread *t = ptxi_api_thread();

    if (r)
        return r;
    if (!t)
        return PTXI_ERROR_OUT_OF_MEMORY;
    if (!mode || (unsigned)*mode > PTXI_STREAM_CAPTURE_MODE_RELAXED)
        return PTXI_ERROR_INVALID_VALUE;
    ptxiStreamCaptureMode old = t->capture_mode;

    t->capture_mode = *mode;
    *mode = old;
    return PTXI_SUCCESS;
}
