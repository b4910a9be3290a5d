/* Streams under capture. A capture has a graph and the streams that take part, each with the nodes that its next one comes behind. */
#include "api/graph/capture.h"

#include "api/graph/graph.h"

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
    uint64_t id, thread;
    bool spoilt;
};

static _Atomic uint64_t ids;

/* ---- captures and their streams; under the graphs' lock, which a call keeps until it returns */

/* The stream's part in a capture; NULL where another thread has ended the capture. */
static struct ptxi_capture_part *part_of(struct ptxiStream_st *s)
{
    ptxi_graph_lock();
    return s->capture;
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

static struct ptxi_capture_part *join(struct ptxi_capture *c, struct ptxiStream_st *s)
{
    struct ptxi_capture_part *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    *p = (struct ptxi_capture_part){ .next = c->parts, .capture = c, .stream = s };
    c->parts = p;
    s->capture = p;
    ptxi_stream_ref(s);
    return p;
}

static void unlist(struct ptxi_capture *c)
{
    struct ptxi_capture **at = &c->ctx->captures;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
}

/* One that is in no list any more. */
static void free_part(struct ptxi_capture_part *p)
{
    p->stream->capture = NULL;
    ptxi_stream_unref(p->stream);
    free(p->after);
    free(p);
}

/* All but its graph. */
static void end(struct ptxi_capture *c)
{
    unlist(c);
    while (c->parts) {
        struct ptxi_capture_part *p = c->parts;

        c->parts = p->next;
        free_part(p);
    }
    free(c);
}

void ptxi_api_free_captures(ptxiContext ctx)
{
    ptxi_graph_lock();
    while (ctx->captures) {
        ptxi_graph_free(ctx->captures->graph);
        end(ctx->captures);
    }
}

void ptxi_capture_leave(struct ptxiStream_st *s)
{
    struct ptxi_capture_part *p = part_of(s), **at;

    if (!p)
        return;
    if (p->capture->origin == s) {
        ptxi_graph_free(p->capture->graph);
        end(p->capture);
        return;
    }
    p->capture->spoilt = true;
    for (at = &p->capture->parts; *at != p;)
        at = &(*at)->next;
    *at = p->next;
    free_part(p);
}

ptxiResult ptxi_capture_spoil(struct ptxiStream_st *s)
{
    struct ptxi_capture_part *p = part_of(s);

    if (p)
        p->capture->spoilt = true;
    return PTXI_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/* ---- work */

/* Takes the work over. */
static ptxiResult add(struct ptxiStream_st *s, struct ptxi_work *w)
{
    struct ptxi_capture_part *p = part_of(s);
    ptxiGraphNode n;
    ptxiResult r = !p || p->capture->spoilt ? PTXI_ERROR_STREAM_CAPTURE_INVALIDATED : PTXI_SUCCESS;

    if (r) {
        ptxi_work_free(w);
        return r;
    }
    r = ptxi_graph_add(&n, p->capture->graph, p->after, NULL, p->count, w);
    return r ? r : set_after(p, &n, 1) ? PTXI_SUCCESS : PTXI_ERROR_OUT_OF_MEMORY;
}

ptxiResult ptxi_capture_kernel(struct ptxiStream_st *s, ptxiFunction f, const struct ptxi_launch_shape *shape, void **params, void **extra)
{
    struct ptxi_work w;
    ptxiResult r = ptxi_work_kernel(&w, &(PTXI_KERNEL_NODE_PARAMS){ f, shape->grid[0], shape->grid[1], shape->grid[2], shape->block[0],
                                                                    shape->block[1], shape->block[2], shape->shared, params, extra, NULL, NULL });

    if (r)
        return r;
    memcpy(w.attributes.cluster, shape->cluster, sizeof w.attributes.cluster);
    w.attributes.cooperative = shape->cooperative;
    return add(s, &w);
}

ptxiResult ptxi_capture_copy(struct ptxiStream_st *s, const PTXI_MEMCPY3D *copy)
{
    struct ptxi_work w;
    ptxiResult r = ptxi_work_copy(&w, copy);

    return r ? r : add(s, &w);
}

ptxiResult ptxi_capture_set(struct ptxiStream_st *s, const PTXI_MEMSET_NODE_PARAMS *set)
{
    struct ptxi_work w;
    ptxiResult r = ptxi_work_set(&w, set);

    return r ? r : add(s, &w);
}

ptxiResult ptxi_capture_host(struct ptxiStream_st *s, ptxiHostFn fn, void *user)
{
    struct ptxi_work w;
    ptxiResult r = ptxi_work_host(&w, &(PTXI_HOST_NODE_PARAMS){ fn, user });

    return r ? r : add(s, &w);
}

ptxiResult ptxi_capture_event(struct ptxiStream_st *s, ptxiGraphNodeType type, ptxiEvent e)
{
    struct ptxi_work w;
    ptxiResult r = ptxi_work_event(&w, type, e);

    return r ? r : add(s, &w);
}

/* ---- events */

ptxiResult ptxi_capture_record(struct ptxiStream_st *s, struct ptxi_captured *mark)
{
    struct ptxi_capture_part *p = part_of(s);

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

void ptxi_captured_free(struct ptxi_captured *mark)
{
    atomic_store(&mark->capture, 0); /* which calls read without the lock */
    free(mark->nodes);
    mark->nodes = NULL;
    mark->count = 0;
}

static struct ptxi_capture *find(ptxiContext ctx, uint64_t id)
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
    return find(ctx, mark->capture) != NULL;
}

ptxiResult ptxi_capture_wait(struct ptxiStream_st *s, const struct ptxi_captured *mark)
{
    struct ptxi_capture_part *p = part_of(s);
    struct ptxi_capture *c = find(s->ctx, mark->capture);

    if (!c)
        return PTXI_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (p && p->capture != c) {
        c->spoilt = p->capture->spoilt = true;
        return PTXI_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (!p && !(p = join(c, s)))
        return PTXI_ERROR_OUT_OF_MEMORY;
    ptxiGraphNode *all = malloc((p->count + mark->count + 1) * sizeof *all);
    size_t count = p->count;

    if (!all)
        return PTXI_ERROR_OUT_OF_MEMORY;
    if (count)
        memcpy(all, p->after, count * sizeof *all);
    for (size_t i = 0; i < mark->count; i++) {
        size_t k = 0;

        while (k < count && all[k] != mark->nodes[i])
            k++;
        if (k == count)
            all[count++] = mark->nodes[i];
    }
    free(p->after);
    p->after = all;
    p->count = count;
    return PTXI_SUCCESS;
}

/* ---- begin and end */

static ptxiResult enter(ptxiStream handle, ptxiContext *ctx, struct ptxiStream_st **s)
{
    ptxiResult r = ptxi_api_context(ctx);

    if (!r)
        r = ptxi_api_stream(*ctx, handle, s);
    if (!r)
        ptxi_graph_lock();
    return r;
}

ptxiResult ptxiStreamBeginCapture(ptxiStream hStream, ptxiStreamCaptureMode mode)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = enter(hStream, &ctx, &s);

    if (r)
        return r;
    if ((unsigned)mode > PTXI_STREAM_CAPTURE_MODE_RELAXED)
        return PTXI_ERROR_INVALID_VALUE;
    if (s == ctx->streams.legacy)
        return PTXI_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (ptxi_capturing(s))
        return PTXI_ERROR_ILLEGAL_STATE;
    struct ptxi_capture *c = calloc(1, sizeof *c);

    if (!c)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *c = (struct ptxi_capture){ .ctx = ctx, .origin = s, .mode = mode, .id = atomic_fetch_add(&ids, 1) + 1, .thread = ptxi_api_thread()->id };
    r = ptxiGraphCreate(&c->graph, 0);
    if (!r && !join(c, s))
        r = PTXI_ERROR_OUT_OF_MEMORY;
    if (r) {
        ptxi_graph_free(c->graph);
        free(c);
        return r;
    }
    c->graph->captured = true; /* ptxiStreamGetCaptureInfo gives it to programs, which may not destroy it */
    c->next = ctx->captures;
    ctx->captures = c;
    return PTXI_SUCCESS;
}

/* The program may have taken a node out of the graph. */
static void mark_before(const struct ptxiGraphNode_st *n, bool *reached)
{
    if (!ptxi_handle_is(n, PTXI_HANDLE_GRAPH_NODE) || reached[n->index])
        return;
    reached[n->index] = true;
    for (unsigned i = 0; i < n->need_count; i++)
        mark_before(n->needs[i], reached);
}

/* Whether all that the other streams have done comes before what the first one has come to. */
static ptxiResult joined(const struct ptxi_capture *c)
{
    const struct ptxi_capture_part *first = c->origin->capture;
    bool *reached = calloc(c->graph->count + 1, sizeof *reached), all = true;

    if (!reached)
        return PTXI_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < first->count; i++)
        mark_before(first->after[i], reached);
    for (const struct ptxi_capture_part *p = c->parts; p; p = p->next)
        for (size_t i = 0; i < p->count; i++)
            all &= !ptxi_handle_is(p->after[i], PTXI_HANDLE_GRAPH_NODE) || reached[p->after[i]->index];
    free(reached);
    return all ? PTXI_SUCCESS : PTXI_ERROR_STREAM_CAPTURE_UNJOINED;
}

ptxiResult ptxiStreamEndCapture(ptxiStream hStream, ptxiGraph *phGraph)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = enter(hStream, &ctx, &s);

    if (r)
        return r;
    if (!phGraph)
        return PTXI_ERROR_INVALID_VALUE;
    *phGraph = NULL;
    if (!ptxi_capturing(s))
        return PTXI_ERROR_ILLEGAL_STATE;
    struct ptxi_capture *c = ((struct ptxi_capture_part *)s->capture)->capture;

    if (c->origin != s)
        return PTXI_ERROR_STREAM_CAPTURE_UNMATCHED;
    if (c->mode != PTXI_STREAM_CAPTURE_MODE_RELAXED && c->thread != ptxi_api_thread()->id)
        return PTXI_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    r = c->spoilt ? PTXI_ERROR_STREAM_CAPTURE_INVALIDATED : joined(c);
    if (r) {
        ptxi_graph_free(c->graph);
    } else {
        c->graph->captured = false;
        *phGraph = c->graph;
    }
    end(c);
    return r;
}

ptxiResult ptxiStreamGetCaptureInfo(ptxiStream hStream, ptxiStreamCaptureStatus *captureStatus_out, unsigned long long *id_out, ptxiGraph *graph_out,
                                    const ptxiGraphNode **dependencies_out, size_t *numDependencies_out)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = enter(hStream, &ctx, &s);

    if (r)
        return r;
    if (!captureStatus_out)
        return PTXI_ERROR_INVALID_VALUE;
    const struct ptxi_capture_part *p = s->capture;

    *captureStatus_out = !p ? PTXI_STREAM_CAPTURE_STATUS_NONE
                         : p->capture->spoilt ? PTXI_STREAM_CAPTURE_STATUS_INVALIDATED : PTXI_STREAM_CAPTURE_STATUS_ACTIVE;
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
