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
    struct ptxi_captured_nodes after;
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

/* Copies nodes, with room for more. False: no memory, and nothing to free. */
static bool copy_nodes(struct ptxi_captured_nodes *to, const struct ptxi_captured_nodes *from, size_t more)
{
    *to = (struct ptxi_captured_nodes){
        .nodes = malloc((from->count + more + 1) * sizeof *to->nodes),
        .edges = malloc((from->count + more + 1) * sizeof *to->edges), .count = from->count,
    };
    if (!to->nodes || !to->edges) {
        ptxi_captured_nodes_free(to);
        return false;
    }
    if (from->count) {
        memcpy(to->nodes, from->nodes, from->count * sizeof *to->nodes);
        memcpy(to->edges, from->edges, from->count * sizeof *to->edges);
    }
    return true;
}

/* Adds a node. There is one edge from a node, and a plain one includes all others. */
static void add_node(struct ptxi_captured_nodes *to, ptxiGraphNode n, ptxiGraphEdgeData edge)
{
    size_t k = 0;

    while (k < to->count && to->nodes[k] != n)
        k++;
    if (k < to->count && !ptxi_graph_is_plain(&edge))
        return;
    to->nodes[k] = n;
    to->edges[k] = edge;
    to->count += k == to->count;
}

/* Adds nodes that the next node of the stream must follow. edges: NULL if all are plain. */
static ptxiResult add_after(struct ptxi_capture_part *p, const ptxiGraphNode *nodes, const ptxiGraphEdgeData *edges,
                            size_t more)
{
    struct ptxi_captured_nodes all;

    if (!copy_nodes(&all, &p->after, more))
        return PTXI_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < more; i++)
        add_node(&all, nodes[i], edges ? edges[i] : (ptxiGraphEdgeData){ .type = 0 });
    ptxi_captured_nodes_free(&p->after);
    p->after = all;
    return PTXI_SUCCESS;
}

/* The next node of the stream must follow this one alone. */
static ptxiResult set_after(struct ptxi_capture_part *p, ptxiGraphNode n)
{
    size_t before = p->after.count;

    p->after.count = 0;
    ptxiResult r = add_after(p, &n, NULL, 1);

    if (r)
        p->after.count = before;
    return r;
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
    ptxi_captured_nodes_free(&p->after);
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
    for (size_t i = 0; i < p->after.count; i++)
        mark_before(p->after.nodes[i], reached);
}

static bool is_reached(const struct ptxi_capture_part *p, const bool *reached)
{
    bool all = true;

    for (size_t i = 0; i < p->after.count; i++)
        all &= !ptxi_handle_is(p->after.nodes[i], PTXI_HANDLE_GRAPH_NODE) || reached[p->after.nodes[i]->index];
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
    r = ptxi_graph_add(&n, p->capture->graph, p->after.nodes, p->after.edges, p->after.count, w);
    return r ? r : set_after(p, n);
}

/* A launch with programmatic serialization may begin before the kernels that it follows have ended. */
static void permit_early_start(struct ptxiStream_st *s)
{
    struct ptxi_capture_part *p = lock_part(s);

    for (size_t i = 0; p && i < p->after.count; i++)
        if (p->after.nodes[i]->work.type == PTXI_GRAPH_NODE_TYPE_KERNEL)
            p->after.edges[i] = (ptxiGraphEdgeData){ .type = PTXI_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC,
                                                     .from_port = PTXI_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC };
}

ptxiResult ptxi_capture_launch(struct ptxiStream_st *s, const struct ptxi_launch_description *d)
{
    struct ptxi_work w;
    ptxiResult r = ptxi_work_launch(&w, d);

    if (!r && d->shape.early)
        permit_early_start(s);
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

ptxiResult ptxi_capture_record(struct ptxiStream_st *s, struct ptxi_captured *mark, unsigned char port)
{
    struct ptxi_capture_part *p = lock_part(s);
    struct ptxi_captured_nodes after;

    if (!p)
        return PTXI_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!copy_nodes(&after, &p->after, 0))
        return PTXI_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; port && i < after.count; i++)
        after.edges[i] = (ptxiGraphEdgeData){ .type = PTXI_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC, .from_port = port };
    ptxi_captured_free(mark);
    mark->after = after;
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
    return add_after(p, mark->after.nodes, mark->after.edges, mark->after.count);
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

/* Checks nodes of the graph, and edges to a node that will follow them. */
static ptxiResult check_nodes(ptxiGraph g, const ptxiGraphNode *nodes, const ptxiGraphEdgeData *data, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!nodes || !ptxi_graph_is_node(nodes[i]) || nodes[i]->graph != g ||
            !ptxi_graph_edge_ok(data ? &data[i] : NULL, &nodes[i]->work, NULL))
            return PTXI_ERROR_INVALID_VALUE;
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

    if (!add_after(c->parts, dependencies, dependencyData, numDependencies)) /* a node may be given twice */
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
    before = p->after.count;
    if (flags == PTXI_STREAM_SET_CAPTURE_DEPENDENCIES)
        p->after.count = 0;
    if ((r = add_after(p, dependencies, dependencyData, numDependencies)))
        p->after.count = before;
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
                                    const ptxiGraphNode **dependencies_out, const ptxiGraphEdgeData **edgeData_out,
                                    size_t *numDependencies_out)
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
    for (size_t i = 0; dependencies_out && !edgeData_out && i < p->after.count; i++)
        if (!ptxi_graph_is_plain(&p->after.edges[i]))
            return PTXI_ERROR_LOSSY_QUERY;
    if (id_out)
        *id_out = p->capture->id;
    if (graph_out)
        *graph_out = p->capture->graph;
    if (dependencies_out)
        *dependencies_out = p->after.nodes;
    if (edgeData_out)
        *edgeData_out = p->after.edges;
    if (numDependencies_out)
        *numDependencies_out = p->after.count;
    return PTXI_SUCCESS;
}

ptxiResult ptxiStreamIsCapturing(ptxiStream hStream, ptxiStreamCaptureStatus *captureStatus)
{
    API_CALL;
    return ptxiStreamGetCaptureInfo(hStream, captureStatus, NULL, NULL, NULL, NULL, NULL);
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
