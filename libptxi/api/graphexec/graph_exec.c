#include "api/graphexec/graph_exec.h"

#include <stdlib.h>

static ptxiResult order_nodes(ptxiGraphExec x, const struct ptxiGraph_st *g);

static ptxiResult add_step(ptxiGraphExec x, ptxiGraphNode n)
{
    if (n->work.type == PTXI_GRAPH_NODE_TYPE_GRAPH)
        return order_nodes(x, n->work.child);
    x->steps[x->count++] = n; /* count_steps() has counted it */
    return PTXI_SUCCESS;
}

/* Orders each node after the nodes that it needs. Otherwise the order is that in which they were added. */
static ptxiResult order_nodes(ptxiGraphExec x, const struct ptxiGraph_st *g)
{
    bool *placed = calloc(g->count + 1, sizeof *placed), more = true;
    ptxiResult r = placed ? PTXI_SUCCESS : PTXI_ERROR_OUT_OF_MEMORY;
    unsigned count = 0;

    while (!r && more) {
        more = false;
        for (unsigned i = 0; i < g->count; i++) {
            struct ptxiGraphNode_st *n = g->nodes[i];
            unsigned k = 0;

            while (!placed[i] && k < n->need_count && placed[n->needs[k]->index])
                k++;
            if (placed[i] || k < n->need_count)
                continue;
            placed[i] = true;
            count++;
            more = true;
            if ((r = add_step(x, n)))
                break;
        }
    }
    free(placed);
    return !r && count < g->count ? PTXI_ERROR_INVALID_VALUE : r; /* the rest is in a cycle */
}

static unsigned count_steps(const struct ptxiGraph_st *g)
{
    unsigned n = g->count;

    for (unsigned i = 0; i < g->count; i++)
        if (g->nodes[i]->work.type == PTXI_GRAPH_NODE_TYPE_GRAPH)
            n += count_steps(g->nodes[i]->work.child);
    return n;
}

/* Makes the order of a graph's nodes. */
static ptxiResult make_plan(const struct ptxiGraph_st *g, ptxiGraphExec *plan)
{
    ptxiGraphExec x = calloc(1, sizeof *x + count_steps(g) * sizeof x->steps[0]);
    ptxiResult r = x ? order_nodes(x, g) : PTXI_ERROR_OUT_OF_MEMORY;

    if (r)
        free(x);
    else
        *plan = x;
    return r;
}

ptxiResult ptxi_graph_exec_plan_body(ptxiGraph body)
{
    return body->plan ? PTXI_SUCCESS : make_plan(body, &body->plan);
}

static ptxiResult plan_bodies(const struct ptxiGraphExec_st *x);

/* Bodies cannot allocate or free memory. */
static ptxiResult plan_body(ptxiGraph body)
{
    if (ptxi_graph_has_memory(body))
        return PTXI_ERROR_INVALID_VALUE;
    ptxiResult r = ptxi_graph_exec_plan_body(body);

    return r ? r : plan_bodies(body->plan);
}

/* Makes the orders of the bodies of conditional nodes. */
static ptxiResult plan_bodies(const struct ptxiGraphExec_st *x)
{
    ptxiResult r = PTXI_SUCCESS;

    for (unsigned i = 0; i < x->count && !r; i++) {
        const struct ptxi_work *w = &x->steps[i]->work;

        for (unsigned k = 0; w->type == PTXI_GRAPH_NODE_TYPE_CONDITIONAL && k < w->branches.count && !r; k++)
            r = plan_body(w->branches.bodies[k]);
    }
    return r;
}

/* ---- instantiation */

/* The end of a launch may drop the last reference. */
static void free_exec(void *exec)
{
    ptxiGraphExec x = exec;

    ptxi_graph_lock();
    if (ptxi_handle_is(x->source, PTXI_HANDLE_GRAPH) && x->source->id == x->source_id)
        x->source->instances--;
    ptxi_graph_free(x->graph);
    ptxi_device_graph_unref(x->device);
    if (x->last_stream)
        ptxi_stream_unref(x->last_stream);
    pthread_mutex_destroy(&x->lock);
    free(x);
}

enum {
    FLAGS_KNOWN = PTXI_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | PTXI_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                  PTXI_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY,
    NOT_TOGETHER = PTXI_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | PTXI_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH,
    FLAGS_RETURNED = NOT_TOGETHER
};

/* Why a graph could not be instantiated. */
struct instantiate_error {
    ptxiGraphInstantiateResult why;
    ptxiGraphNode at; /* a node of the graph, or NULL */
};

/* Finds the node with that id, also in children. */
static ptxiGraphNode find_original(const struct ptxiGraph_st *g, uint64_t id)
{
    ptxiGraphNode found = NULL;

    for (unsigned i = 0; i < g->count && !found; i++) {
        if (g->nodes[i]->id == id)
            found = g->nodes[i];
        else if (g->nodes[i]->work.type == PTXI_GRAPH_NODE_TYPE_GRAPH)
            found = find_original(g->nodes[i]->work.child, id);
    }
    return found;
}

/* Makes the order of the nodes of a copy. */
static ptxiResult plan_copy(ptxiGraphExec *x, ptxiGraph own, const struct ptxiGraph_st *g, unsigned long long flags,
                            struct instantiate_error *e)
{
    ptxiGraphNode at;
    ptxiResult r = make_plan(own, x);

    if (r || (r = plan_bodies(*x))) {
        *e = (struct instantiate_error){ PTXI_GRAPH_INSTANTIATE_INVALID_STRUCTURE, g->nodes[0] };
        return r;
    }
    if (!(flags & PTXI_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH))
        return PTXI_SUCCESS;
    r = ptxi_device_graph_check((*x)->steps, (*x)->count, &at);
    if (r && at)
        *e = (struct instantiate_error){ PTXI_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED,
                                         find_original(g, at->cloned_from) };
    return r;
}

static ptxiResult instantiate_graph(ptxiGraphExec *out, ptxiGraph g, unsigned long long flags,
                                    struct instantiate_error *e)
{
    ptxiResult r = ptxi_graph_enter(g);

    *e = (struct instantiate_error){ PTXI_GRAPH_INSTANTIATE_ERROR, NULL };

    if (r)
        return r;
    if (!out || flags & ~(unsigned long long)FLAGS_KNOWN || (flags & NOT_TOGETHER) == NOT_TOGETHER)
        return PTXI_ERROR_INVALID_VALUE;
    if (g->moved || (g->instances && ptxi_graph_has_memory(g)))
        return PTXI_ERROR_NOT_SUPPORTED;
    ptxiGraph own = ptxi_graph_copy(g);
    ptxiGraphExec x = NULL;

    if ((r = own ? plan_copy(&x, own, g, flags, e) : PTXI_ERROR_OUT_OF_MEMORY)) {
        free(x);
        ptxi_graph_free(own);
        return r;
    }
    x->graph = own;
    x->source = g;
    x->source_id = g->id;
    g->instances++;
    x->flags = flags & FLAGS_RETURNED;
    pthread_mutex_init(&x->lock, NULL);
    if (!ptxi_handle_add(&x->handle, PTXI_HANDLE_GRAPH_EXEC, NULL, free_exec)) {
        free_exec(x);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    e->why = PTXI_GRAPH_INSTANTIATE_SUCCESS;
    *out = x;
    return PTXI_SUCCESS;
}

ptxiResult ptxiGraphInstantiate(ptxiGraphExec *phGraphExec, ptxiGraph hGraph, unsigned long long flags)
{
    API_CALL;
    struct instantiate_error e;

    return instantiate_graph(phGraphExec, hGraph, flags, &e);
}

ptxiResult ptxiGraphInstantiateWithFlags(ptxiGraphExec *phGraphExec, ptxiGraph hGraph, unsigned long long flags)
{
    API_CALL;
    struct instantiate_error e;

    return instantiate_graph(phGraphExec, hGraph, flags, &e);
}

ptxiResult ptxiGraphInstantiateWithParams(ptxiGraphExec *phGraphExec, ptxiGraph hGraph,
                                          PTXI_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter(hGraph);

    if (r)
        return r;
    if (!instantiateParams)
        return PTXI_ERROR_INVALID_VALUE;
    PTXI_GRAPH_INSTANTIATE_PARAMS *p = instantiateParams;

    bool upload = p->flags & PTXI_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    struct instantiate_error e;

    r = instantiate_graph(phGraphExec, hGraph, p->flags & ~(unsigned long long)PTXI_GRAPH_INSTANTIATE_FLAG_UPLOAD, &e);
    p->result_out = e.why;
    p->hErrNode_out = e.at;
    if (!r && upload && (*phGraphExec)->flags & PTXI_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        r = ptxi_graph_exec_upload(*phGraphExec);
    return r;
}

/* ---- graphs that kernels launch */

static pthread_mutex_t device_lock = PTHREAD_MUTEX_INITIALIZER; /* protects the members `device` */

ptxiResult ptxi_graph_exec_upload(ptxiGraphExec x)
{
    struct ptxi_device_graph *g, *old;
    ptxiResult r = ptxi_device_graph_create(&g, x->steps, x->count);

    if (r)
        return r;
    pthread_mutex_lock(&device_lock);
    old = x->device;
    x->device = g;
    pthread_mutex_unlock(&device_lock);
    ptxi_device_graph_unref(old);
    return PTXI_SUCCESS;
}

struct ptxi_device_graph *ptxi_graph_exec_uploaded(ptxiGraphExec x)
{
    if (ptxi_handle_use(x, PTXI_HANDLE_GRAPH_EXEC))
        return NULL;
    pthread_mutex_lock(&device_lock);
    struct ptxi_device_graph *g = x->device;

    if (g)
        ptxi_device_graph_ref(g);
    pthread_mutex_unlock(&device_lock);
    return g;
}

/* ---- calls */

ptxiResult ptxi_graph_exec_enter(ptxiGraphExec x)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (!r)
        r = x ? ptxi_handle_use(x, PTXI_HANDLE_GRAPH_EXEC) : PTXI_ERROR_INVALID_VALUE;
    if (!r)
        ptxi_call_lock(&x->lock);
    return r;
}

ptxiResult ptxiGraphExecGetFlags(ptxiGraphExec hGraphExec, unsigned long long *flags)
{
    API_CALL;
    ptxiResult r = ptxi_graph_exec_enter(hGraphExec);

    if (r || !flags)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    *flags = hGraphExec->flags;
    return PTXI_SUCCESS;
}

ptxiResult ptxiGraphExecDestroy(ptxiGraphExec hGraphExec)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (!r)
        r = hGraphExec ? ptxi_handle_retire(hGraphExec, PTXI_HANDLE_GRAPH_EXEC) : PTXI_ERROR_INVALID_VALUE;
    if (!r)
        ptxi_handle_unref(&hGraphExec->handle);
    return r;
}

ptxiResult ptxi_graph_exec_node(ptxiGraphExec x, ptxiGraphNode n, ptxiGraphNode *own)
{
    ptxiResult r = ptxi_graph_exec_enter(x);

    if (r || (r = ptxi_graph_enter_node(n)))
        return r;
    *own = ptxi_graph_find_copy(x->graph, n->id);
    return *own ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
}

static bool can_be_off(const struct ptxi_work *w)
{
    switch ((int)w->type) {
    case PTXI_GRAPH_NODE_TYPE_KERNEL:
    case PTXI_GRAPH_NODE_TYPE_MEMCPY:
    case PTXI_GRAPH_NODE_TYPE_MEMSET: return true;
    default: return false;
    }
}

ptxiResult ptxiGraphNodeSetEnabled(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, unsigned isEnabled)
{
    API_CALL;
    ptxiGraphNode own;
    ptxiResult r = ptxi_graph_exec_node(hGraphExec, hNode, &own);

    if (r || !can_be_off(&own->work))
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    own->off = !isEnabled;
    return PTXI_SUCCESS;
}

ptxiResult ptxiGraphNodeGetEnabled(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, unsigned *isEnabled)
{
    API_CALL;
    ptxiGraphNode own;
    ptxiResult r = ptxi_graph_exec_node(hGraphExec, hNode, &own);

    if (r || !isEnabled || !can_be_off(&own->work))
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    *isEnabled = !own->off;
    return PTXI_SUCCESS;
}
