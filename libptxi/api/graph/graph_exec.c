/* Instances of launch graphs: a copy of the graph, and the order in which its nodes are submitted. */
#include "api/graph/graph.h"

#include <stdlib.h>

struct ptxiGraphExec_st {
    struct ptxi_handle handle;
    pthread_mutex_t lock; /* a launch keeps it to its end, so that nobody changes the nodes */
    ptxiGraph graph;
    unsigned long long flags;
    unsigned count;
    ptxiGraphNode steps[]; /* with those of children in their places */
};

static ptxiResult place(ptxiGraphExec x, const struct ptxiGraph_st *g);

static ptxiResult place_node(ptxiGraphExec x, ptxiGraphNode n)
{
    if (n->work.type == PTXI_GRAPH_NODE_TYPE_GRAPH)
        return place(x, n->work.child);
    x->steps[x->count++] = n;
    return PTXI_SUCCESS;
}

/* Each node behind those that it needs, else in the order in which they were added. */
static ptxiResult place(ptxiGraphExec x, const struct ptxiGraph_st *g)
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
            if ((r = place_node(x, n)))
                break;
        }
    }
    free(placed);
    return r ? r : count < g->count ? PTXI_ERROR_INVALID_VALUE : PTXI_SUCCESS; /* a cycle */
}

static unsigned count_steps(const struct ptxiGraph_st *g)
{
    unsigned n = g->count;

    for (unsigned i = 0; i < g->count; i++)
        if (g->nodes[i]->work.type == PTXI_GRAPH_NODE_TYPE_GRAPH)
            n += count_steps(g->nodes[i]->work.child);
    return n;
}

/* The order of a graph's nodes. */
static ptxiResult make_plan(const struct ptxiGraph_st *g, ptxiGraphExec *plan)
{
    ptxiGraphExec x = calloc(1, sizeof *x + count_steps(g) * sizeof x->steps[0]);
    ptxiResult r = x ? place(x, g) : PTXI_ERROR_OUT_OF_MEMORY;

    if (r)
        free(x);
    else
        *plan = x;
    return r;
}

/* The order of a body's nodes, found once: an instance's graphs stay as they are. */
static ptxiResult plan_body(ptxiGraph body)
{
    return body->plan ? PTXI_SUCCESS : make_plan(body, &body->plan);
}

/* The orders of the bodies of conditional nodes. */
static ptxiResult plan_bodies(const struct ptxiGraphExec_st *x)
{
    ptxiResult r = PTXI_SUCCESS;

    for (unsigned i = 0; i < x->count && !r; i++) {
        const struct ptxi_work *w = &x->steps[i]->work;

        for (unsigned k = 0; w->type == PTXI_GRAPH_NODE_TYPE_CONDITIONAL && k < w->branches.count && !r; k++)
            if (!(r = plan_body(w->branches.bodies[k])))
                r = plan_bodies(w->branches.bodies[k]->plan);
    }
    return r;
}

/* The last reference may go at the end of a launch. */
static void free_exec(void *exec)
{
    ptxiGraphExec x = exec;

    ptxi_graph_free(x->graph);
    pthread_mutex_destroy(&x->lock);
    free(x);
}

enum {
    FLAGS = PTXI_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | PTXI_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY,
    FLAGS_TOLD = PTXI_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
};

/* `at`: NULL, or where a cycle goes through. */
static ptxiResult instantiate(ptxiGraphExec *out, ptxiGraph g, unsigned long long flags, ptxiGraphNode *at)
{
    ptxiResult r = ptxi_graph_enter(g);

    if (r)
        return r;
    if (!out || flags & ~(unsigned long long)FLAGS)
        return PTXI_ERROR_INVALID_VALUE;
    ptxiGraph own = ptxi_graph_copy(g);
    ptxiGraphExec x = NULL;

    if ((r = own ? make_plan(own, &x) : PTXI_ERROR_OUT_OF_MEMORY) || (r = plan_bodies(x))) {
        if (at && r == PTXI_ERROR_INVALID_VALUE)
            *at = g->nodes[0];
        free(x);
        ptxi_graph_free(own);
        return r;
    }
    x->graph = own;
    x->flags = flags & FLAGS_TOLD;
    pthread_mutex_init(&x->lock, NULL);
    if (!ptxi_handle_add(&x->handle, PTXI_HANDLE_GRAPH_EXEC, NULL, free_exec)) {
        free_exec(x);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    *out = x;
    return PTXI_SUCCESS;
}

ptxiResult ptxiGraphInstantiate(ptxiGraphExec *phGraphExec, ptxiGraph hGraph, unsigned long long flags)
{
    API_CALL;
    return instantiate(phGraphExec, hGraph, flags, NULL);
}

ptxiResult ptxiGraphInstantiateWithFlags(ptxiGraphExec *phGraphExec, ptxiGraph hGraph, unsigned long long flags)
{
    API_CALL;
    return instantiate(phGraphExec, hGraph, flags, NULL);
}

ptxiResult ptxiGraphInstantiateWithParams(ptxiGraphExec *phGraphExec, ptxiGraph hGraph, PTXI_GRAPH_INSTANTIATE_PARAMS *instantiateParams)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter(hGraph);

    if (r)
        return r;
    if (!instantiateParams)
        return PTXI_ERROR_INVALID_VALUE;
    PTXI_GRAPH_INSTANTIATE_PARAMS *p = instantiateParams;

    p->hErrNode_out = NULL;
    r = instantiate(phGraphExec, hGraph, p->flags & ~(unsigned long long)PTXI_GRAPH_INSTANTIATE_FLAG_UPLOAD, &p->hErrNode_out);
    p->result_out = !r ? PTXI_GRAPH_INSTANTIATE_SUCCESS : p->hErrNode_out ? PTXI_GRAPH_INSTANTIATE_INVALID_STRUCTURE : PTXI_GRAPH_INSTANTIATE_ERROR;
    return r;
}

/* The instance, which the call has for itself. */
static ptxiResult enter_exec(ptxiGraphExec x)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (!r)
        r = x ? ptxi_handle_use(x, PTXI_HANDLE_GRAPH_EXEC) : PTXI_ERROR_INVALID_VALUE;
    if (!r)
        ptxi_api_lock(&x->lock);
    return r;
}

ptxiResult ptxiGraphExecGetFlags(ptxiGraphExec hGraphExec, unsigned long long *flags)
{
    API_CALL;
    ptxiResult r = enter_exec(hGraphExec);

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
    ptxiResult r = enter_exec(x);

    if (r || (r = ptxi_graph_enter_node(n)))
        return r;
    *own = ptxi_graph_find_copy(x->graph, n->id);
    return *own ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
}

static bool can_be_off(const struct ptxi_work *w)
{
    return w->type == PTXI_GRAPH_NODE_TYPE_KERNEL || w->type == PTXI_GRAPH_NODE_TYPE_MEMCPY || w->type == PTXI_GRAPH_NODE_TYPE_MEMSET;
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

ptxiResult ptxiGraphExecKernelNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, const PTXI_KERNEL_NODE_PARAMS *nodeParams)
{
    API_CALL;
    struct ptxi_work w;
    ptxiGraphNode old;
    ptxiResult r = ptxi_graph_exec_node(hGraphExec, hNode, &old);

    if (r || (r = ptxi_work_kernel(&w, nodeParams)))
        return r;
    return ptxi_work_change(&old->work, &w);
}

ptxiResult ptxiGraphExecMemcpyNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, const PTXI_MEMCPY3D *copyParams, ptxiContext ctx)
{
    API_CALL;
    struct ptxi_work w;
    ptxiGraphNode old;
    ptxiResult r = ptxi_graph_exec_node(hGraphExec, hNode, &old);

    (void)ctx;
    if (r || (r = ptxi_work_copy(&w, copyParams)))
        return r;
    return ptxi_work_replace(&old->work, &w);
}

ptxiResult ptxiGraphExecMemsetNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, const PTXI_MEMSET_NODE_PARAMS *memsetParams,
                                            ptxiContext ctx)
{
    API_CALL;
    struct ptxi_work w;
    ptxiGraphNode old;
    ptxiResult r = ptxi_graph_exec_node(hGraphExec, hNode, &old);

    (void)ctx;
    if (r || (r = ptxi_work_set(&w, memsetParams)))
        return r;
    return ptxi_work_replace(&old->work, &w);
}

ptxiResult ptxiGraphExecHostNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, const PTXI_HOST_NODE_PARAMS *nodeParams)
{
    API_CALL;
    struct ptxi_work w;
    ptxiGraphNode old;
    ptxiResult r = ptxi_graph_exec_node(hGraphExec, hNode, &old);

    if (r || (r = ptxi_work_host(&w, nodeParams)))
        return r;
    return ptxi_work_replace(&old->work, &w);
}

/* ---- as another graph of the same shape has it */

static bool same_needs(const struct ptxiGraphNode_st *a, const struct ptxiGraphNode_st *b)
{
    if (a->need_count != b->need_count)
        return false;
    for (unsigned i = 0; i < a->need_count; i++)
        if (a->needs[i]->index != b->needs[i]->index)
            return false;
    return true;
}

static ptxiGraphExecUpdateResult compare(const struct ptxiGraph_st *own, const struct ptxiGraph_st *new, ptxiGraphNode *at);

static ptxiGraphExecUpdateResult compare_bodies(const struct ptxi_branches *a, const struct ptxi_branches *b, ptxiGraphNode *at)
{
    ptxiGraphExecUpdateResult u = a->kind == b->kind && a->count == b->count ? PTXI_GRAPH_EXEC_UPDATE_SUCCESS : PTXI_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;

    for (unsigned k = 0; k < a->count && !u; k++)
        u = compare(a->bodies[k], b->bodies[k], at);
    return u;
}

/* Whether the one can become the other, or what keeps it from that, and at which node. */
static ptxiGraphExecUpdateResult compare(const struct ptxiGraph_st *own, const struct ptxiGraph_st *new, ptxiGraphNode *at)
{
    ptxiGraphExecUpdateResult u = own->count == new->count ? PTXI_GRAPH_EXEC_UPDATE_SUCCESS : PTXI_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;

    for (unsigned i = 0; i < new->count && !u; i++) {
        struct ptxiGraphNode_st *a = own->nodes[i], *b = new->nodes[i];

        *at = b;
        if (a->work.type != b->work.type)
            return PTXI_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        if (!same_needs(a, b))
            return PTXI_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        if (a->work.type == PTXI_GRAPH_NODE_TYPE_GRAPH)
            u = compare(a->work.child, b->work.child, at);
        if (a->work.type == PTXI_GRAPH_NODE_TYPE_CONDITIONAL)
            u = compare_bodies(&a->work.branches, &b->work.branches, at);
    }
    return u;
}

/* Where memory is short, some have changed. */
static bool take_work(ptxiGraph own, const struct ptxiGraph_st *new)
{
    for (unsigned i = 0; i < new->count; i++) {
        struct ptxi_work *to = &own->nodes[i]->work, w;

        if (to->type == PTXI_GRAPH_NODE_TYPE_GRAPH) {
            if (!take_work(to->child, new->nodes[i]->work.child))
                return false;
            continue;
        }
        if (!ptxi_work_duplicate(&w, &new->nodes[i]->work))
            return false;
        ptxi_work_replace(to, &w);
    }
    return true;
}

static ptxiResult update(ptxiGraph own, ptxiGraph new, ptxiGraphExecUpdateResultInfo *info)
{
    *info = (ptxiGraphExecUpdateResultInfo){ PTXI_GRAPH_EXEC_UPDATE_SUCCESS, NULL, NULL };
    info->result = compare(own, new, &info->errorNode);
    if (info->result != PTXI_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED)
        info->errorNode = NULL;
    if (info->result)
        return PTXI_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    return take_work(own, new) ? PTXI_SUCCESS : PTXI_ERROR_OUT_OF_MEMORY;
}

ptxiResult ptxiGraphExecUpdate(ptxiGraphExec hGraphExec, ptxiGraph hGraph, ptxiGraphExecUpdateResultInfo *resultInfo)
{
    API_CALL;
    ptxiGraphExecUpdateResultInfo info = { PTXI_GRAPH_EXEC_UPDATE_SUCCESS, NULL, NULL };
    ptxiResult r = enter_exec(hGraphExec);

    if (!r)
        r = ptxi_graph_enter(hGraph);
    if (!r)
        r = update(hGraphExec->graph, hGraph, &info);
    if (resultInfo)
        *resultInfo = info;
    return r;
}

ptxiResult ptxiGraphExecChildGraphNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, ptxiGraph childGraph)
{
    API_CALL;
    ptxiGraphExecUpdateResultInfo info;
    ptxiGraphNode old;
    ptxiResult r = ptxi_graph_exec_node(hGraphExec, hNode, &old);

    if (r || (r = ptxi_graph_enter(childGraph)))
        return r;
    return old->work.type == PTXI_GRAPH_NODE_TYPE_GRAPH ? update(old->work.child, childGraph, &info) : PTXI_ERROR_INVALID_VALUE;
}

/* ---- launches */

ptxiResult ptxiGraphUpload(ptxiGraphExec hGraphExec, ptxiStream hStream)
{
    API_CALL;
    (void)hStream;
    return enter_exec(hGraphExec);
}

static bool has_conditions(const struct ptxiGraphExec_st *x)
{
    unsigned i = 0;

    while (i < x->count && x->steps[i]->work.type != PTXI_GRAPH_NODE_TYPE_CONDITIONAL)
        i++;
    return i < x->count;
}

static void begin_conditions(const struct ptxiGraph_st *g)
{
    for (unsigned i = 0; i < g->count; i++) {
        const struct ptxi_work *w = &g->nodes[i]->work;

        if (w->type == PTXI_GRAPH_NODE_TYPE_GRAPH)
            begin_conditions(w->child);
        if (w->type != PTXI_GRAPH_NODE_TYPE_CONDITIONAL)
            continue;
        ptxi_condition_begin(&w->branches);
        for (unsigned k = 0; k < w->branches.count; k++)
            begin_conditions(w->branches.bodies[k]);
    }
}

static ptxiResult run_body(ptxiGraph body, ptxiStream s);

static ptxiResult run_steps(const struct ptxiGraphExec_st *x, ptxiStream s)
{
    ptxiResult r = PTXI_SUCCESS;

    for (unsigned i = 0; !r && i < x->count; i++) {
        struct ptxi_work *w = &x->steps[i]->work;

        if (x->steps[i]->off)
            continue;
        r = w->type == PTXI_GRAPH_NODE_TYPE_CONDITIONAL ? ptxi_condition_run(&w->branches, s, run_body) : ptxi_work_submit(w, s);
    }
    return r;
}

static ptxiResult run_body(ptxiGraph body, ptxiStream s)
{
    ptxiResult r = plan_body(body); /* an update has brought bodies without one */

    return r ? r : run_steps(body->plan, s);
}

ptxiResult ptxiGraphLaunch(ptxiGraphExec hGraphExec, ptxiStream hStream)
{
    API_CALL;
    ptxiResult r = enter_exec(hGraphExec);

    if (r || (has_conditions(hGraphExec) && (r = ptxiStreamSynchronize(hStream)))) /* an earlier launch may still use them */
        return r;
    begin_conditions(hGraphExec->graph);
    return run_steps(hGraphExec, hStream);
}
