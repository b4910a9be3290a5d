/* Parameters and attributes of nodes, of any kind and of each kind. */
#include "api/graph/condition.h"
#include "api/graph/graph.h"

#include <string.h>

/* ---- any kind */

enum { MAX_BODIES = 1 << 16 };

/* Number of bodies that a conditional node of the type may have. 0: there is no such type. */
static unsigned max_bodies(ptxiGraphConditionalNodeType type)
{
    switch ((int)type) {
    case PTXI_GRAPH_COND_TYPE_IF: return 2;
    case PTXI_GRAPH_COND_TYPE_WHILE: return 1;
    case PTXI_GRAPH_COND_TYPE_SWITCH: return MAX_BODIES;
    default: return 0;
    }
}

/* Returns the bodies to the program, in the parameters. */
static ptxiResult make_condition(struct ptxi_work *w, ptxiContext ctx, PTXI_CONDITIONAL_NODE_PARAMS *p)
{
    if (!ptxi_condition_is(p->handle) || !p->size || p->size > max_bodies(p->type))
        return PTXI_ERROR_INVALID_VALUE;
    *w = (struct ptxi_work){
        .type = PTXI_GRAPH_NODE_TYPE_CONDITIONAL, .branches = { .handle = p->handle, .kind = p->type },
    };
    if (!ptxi_graph_make_bodies(&w->branches, p->size, ctx, NULL))
        return PTXI_ERROR_OUT_OF_MEMORY;
    p->phGraph_out = w->branches.bodies;
    return PTXI_SUCCESS;
}

static ptxiResult make_work(struct ptxi_work *w, ptxiContext ctx, ptxiGraphNodeParams *params)
{
    ptxiGraphNodeParamsValue *p = &params->value;

    switch ((int)params->type) {
    case PTXI_GRAPH_NODE_TYPE_KERNEL: return ptxi_work_kernel(w, &p->kernel);
    case PTXI_GRAPH_NODE_TYPE_MEMCPY: return ptxi_work_copy(w, &p->memcpy.copyParams);
    case PTXI_GRAPH_NODE_TYPE_MEMSET: return ptxi_work_set(w, &p->memset);
    case PTXI_GRAPH_NODE_TYPE_HOST: return ptxi_work_host(w, &p->host);
    case PTXI_GRAPH_NODE_TYPE_GRAPH: return ptxi_graph_work_child(w, &p->graph);
    case PTXI_GRAPH_NODE_TYPE_WAIT_EVENT: return ptxi_work_event(w, params->type, p->eventWait.event);
    case PTXI_GRAPH_NODE_TYPE_EVENT_RECORD: return ptxi_work_event(w, params->type, p->eventRecord.event);
    case PTXI_GRAPH_NODE_TYPE_MEM_ALLOC: return ptxi_work_allocate(w, ctx, &p->alloc);
    case PTXI_GRAPH_NODE_TYPE_MEM_FREE: return ptxi_work_free_memory(w, p->free.dptr);
    case PTXI_GRAPH_NODE_TYPE_BATCH_MEM_OP: return ptxi_work_operations(w, &p->memOp);
    case PTXI_GRAPH_NODE_TYPE_CONDITIONAL: return make_condition(w, ctx, &p->conditional);
    case PTXI_GRAPH_NODE_TYPE_EMPTY: *w = (struct ptxi_work){ .type = params->type }; return PTXI_SUCCESS;
    default: return PTXI_ERROR_NOT_SUPPORTED;
    }
}

static bool moves_child(const ptxiGraphNodeParams *p)
{
    return p->type == PTXI_GRAPH_NODE_TYPE_GRAPH && p->value.graph.ownership == PTXI_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
}

/* Makes a node of the work, or of a graph of the program, which belongs to the node only after everything has
 * succeeded. */
static ptxiResult make_node_work(struct ptxi_work *w, ptxiGraph g, ptxiGraphNodeParams *p)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r || !moves_child(p))
        return r ? r : make_work(w, ctx, p);
    *w = (struct ptxi_work){ .type = PTXI_GRAPH_NODE_TYPE_EMPTY };
    return ptxi_graph_check_move(p->value.graph.graph, g);
}

static void move_child(ptxiGraphNode n, ptxiGraph child)
{
    child->owned = child->moved = true;
    n->work = (struct ptxi_work){ .type = PTXI_GRAPH_NODE_TYPE_GRAPH, .child = child };
}

ptxiResult ptxiGraphAddNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                            const ptxiGraphEdgeData *dependencyData,
                            size_t numDependencies, ptxiGraphNodeParams *nodeParams)
{
    API_CALL;
    struct ptxi_work w;
    ptxiResult r = ptxi_graph_enter(hGraph);

    if (r)
        return r;
    if (!nodeParams)
        return PTXI_ERROR_INVALID_VALUE;
    if ((r = make_node_work(&w, hGraph, nodeParams)))
        return r;
    for (size_t i = 0; dependencies && dependencyData && i < numDependencies; i++)
        if (ptxi_graph_enter_node(dependencies[i]) ||
            !ptxi_graph_edge_ok(&dependencyData[i], &dependencies[i]->work, &w)) {
            ptxi_graph_work_free(&w);
            return PTXI_ERROR_INVALID_VALUE;
        }
    r = ptxi_graph_add(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, &w);
    if (!r && moves_child(nodeParams))
        move_child(*phGraphNode, nodeParams->value.graph.graph);
    return r;
}

ptxiResult ptxi_graph_set_params(ptxiGraphNode n, ptxiGraphNodeParams *p)
{
    struct ptxi_work w;
    ptxiResult r;

    if (!p || p->type != n->work.type || p->type == PTXI_GRAPH_NODE_TYPE_CONDITIONAL || ptxi_work_is_memory(&n->work))
        return PTXI_ERROR_INVALID_VALUE;
    r = make_work(&w, n->graph->ctx, p);
    return r ? r : ptxi_graph_work_change(&n->work, &w);
}

ptxiResult ptxiGraphNodeSetParams(ptxiGraphNode hNode, ptxiGraphNodeParams *nodeParams)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter_node(hNode);

    return r ? r : ptxi_graph_set_params(hNode, nodeParams);
}

/* ---- one kind */

/* Parameters of nodes of one kind. */
#define PARAMS(Name, TYPE, Params, member, make) \
    ptxiResult ptxiGraph##Name##NodeSetParams(ptxiGraphNode hNode, const Params *nodeParams) \
    { \
        API_CALL; \
        struct ptxi_work w; \
        ptxiResult r = ptxi_graph_enter_node(hNode); \
 \
        if (r || (r = make(&w, nodeParams))) \
            return r; \
        return ptxi_graph_work_replace(&hNode->work, &w); \
    } \
    ptxiResult ptxiGraph##Name##NodeGetParams(ptxiGraphNode hNode, Params *nodeParams) \
    { \
        API_CALL; \
        ptxiResult r = ptxi_graph_enter_node(hNode); \
 \
        if (r) \
            return r; \
        if (!nodeParams || hNode->work.type != PTXI_GRAPH_NODE_TYPE_##TYPE) \
            return PTXI_ERROR_INVALID_VALUE; \
        *nodeParams = hNode->work.member; \
        return PTXI_SUCCESS; \
    }

PARAMS(Memcpy, MEMCPY, PTXI_MEMCPY3D, copy, ptxi_work_copy)
PARAMS(Memset, MEMSET, PTXI_MEMSET_NODE_PARAMS, set, ptxi_work_set)
PARAMS(Host, HOST, PTXI_HOST_NODE_PARAMS, host, ptxi_work_host)

ptxiResult ptxiGraphKernelNodeSetParams(ptxiGraphNode hNode, const PTXI_KERNEL_NODE_PARAMS *nodeParams)
{
    API_CALL;
    struct ptxi_work w;
    ptxiResult r = ptxi_graph_enter_node(hNode);

    return r || (r = ptxi_work_kernel(&w, nodeParams)) ? r : ptxi_graph_work_change(&hNode->work, &w);
}

static ptxiResult enter_kernel(ptxiGraphNode n)
{
    ptxiResult r = ptxi_graph_enter_node(n);

    return !r && n->work.type != PTXI_GRAPH_NODE_TYPE_KERNEL ? PTXI_ERROR_INVALID_VALUE : r;
}

ptxiResult ptxiGraphKernelNodeGetParams(ptxiGraphNode hNode, PTXI_KERNEL_NODE_PARAMS *nodeParams)
{
    API_CALL;
    ptxiResult r = enter_kernel(hNode);

    if (r || !nodeParams)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    *nodeParams = hNode->work.kernel;
    nodeParams->kernelParams = hNode->work.count ? hNode->work.pointers : NULL;
    return PTXI_SUCCESS;
}

/* Returns where a node stores an attribute that has no effect, or NULL for other attributes. */
static ptxiLaunchAttributeValue *find_kept(struct ptxi_node_attributes *a, int which)
{
    static const unsigned char ids[] = {
        PTXI_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, PTXI_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
        PTXI_LAUNCH_ATTRIBUTE_PRIORITY,
        PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
        PTXI_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    };

    for (unsigned i = 0; i < sizeof ids; i++)
        if (ids[i] == which)
            return &a->kept[i];
    return NULL;
}

/* Checks that the node's kernel can have such clusters. */
static ptxiResult check_clusters(const struct ptxi_work *w, const unsigned *cluster)
{
    const PTXI_KERNEL_NODE_PARAMS *k = &w->kernel;
    struct ptxi_launch_shape s = { .grid = { k->gridDimX, k->gridDimY, k->gridDimZ },
                                   .cluster = { cluster[0], cluster[1], cluster[2] } };

    return cluster[0] ? ptxi_launch_cluster(k->func, &s, ptxi_launch_max_cluster(k->func)) : PTXI_SUCCESS;
}

ptxiResult ptxiGraphKernelNodeSetAttribute(ptxiGraphNode hNode, ptxiLaunchAttributeID attr,
                                           const ptxiLaunchAttributeValue *value)
{
    API_CALL;
    ptxiResult r = enter_kernel(hNode);
    struct ptxi_node_attributes *a;
    struct ptxi_launch_shape s = { .shared = 0 };

    if (r || !value)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    a = &hNode->work.attributes;
    memcpy(s.cluster, a->cluster, sizeof s.cluster);
    s.cooperative = a->cooperative;
    if ((r = ptxi_launch_read_attribute(&(ptxiLaunchAttribute){ .id = attr, .value = *value }, &s)) ||
        (r = check_clusters(&hNode->work, s.cluster)))
        return r;
    if (find_kept(a, (int)attr))
        *find_kept(a, (int)attr) = *value;
    else if (attr != PTXI_LAUNCH_ATTRIBUTE_COOPERATIVE && attr != PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        return PTXI_ERROR_INVALID_VALUE; /* an attribute of launches only */
    memcpy(a->cluster, s.cluster, sizeof s.cluster);
    a->cooperative = s.cooperative;
    return PTXI_SUCCESS;
}

ptxiResult ptxiGraphKernelNodeGetAttribute(ptxiGraphNode hNode, ptxiLaunchAttributeID attr,
                                           ptxiLaunchAttributeValue *value_out)
{
    API_CALL;
    ptxiResult r = enter_kernel(hNode);

    if (r || !value_out)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    struct ptxi_node_attributes *a = &hNode->work.attributes;
    ptxiLaunchAttributeValue value = { .pad = { 0 } };

    if (attr == PTXI_LAUNCH_ATTRIBUTE_COOPERATIVE)
        value.cooperative = a->cooperative;
    else if (attr == PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        memcpy(&value, a->cluster, sizeof a->cluster);
    else if (find_kept(a, (int)attr))
        value = *find_kept(a, (int)attr);
    else
        return PTXI_ERROR_INVALID_VALUE;
    *value_out = value;
    return PTXI_SUCCESS;
}

ptxiResult ptxiGraphKernelNodeCopyAttributes(ptxiGraphNode dst, ptxiGraphNode src)
{
    API_CALL;
    ptxiResult r = enter_kernel(dst);

    if (r || (r = enter_kernel(src)))
        return r;
    if (check_clusters(&dst->work, src->work.attributes.cluster))
        return PTXI_ERROR_INVALID_VALUE;
    dst->work.attributes = src->work.attributes;
    return PTXI_SUCCESS;
}

/* ---- nodes of events */

static ptxiResult add_event_node(ptxiGraphNode *out, ptxiGraph g, const ptxiGraphNode *dependencies, size_t count,
                                 ptxiGraphNodeType type,
                                 ptxiEvent event)
{
    struct ptxi_work w;
    ptxiResult r = ptxi_graph_enter(g);

    if (!r)
        r = ptxi_work_event(&w, type, event);
    return r ? r : ptxi_graph_add(out, g, dependencies, NULL, count, &w);
}

static ptxiResult get_event(ptxiGraphNode n, ptxiGraphNodeType type, ptxiEvent *event)
{
    ptxiResult r = ptxi_graph_enter_node(n);

    if (r)
        return r;
    if (!event || n->work.type != type)
        return PTXI_ERROR_INVALID_VALUE;
    *event = n->work.event;
    return PTXI_SUCCESS;
}

static ptxiResult set_event(ptxiGraphNode n, ptxiGraphNodeType type, ptxiEvent event)
{
    struct ptxi_work w;
    ptxiResult r = ptxi_graph_enter_node(n);

    if (!r)
        r = ptxi_work_event(&w, type, event);
    return r ? r : ptxi_graph_work_replace(&n->work, &w);
}

#define EVENT(Name, TYPE) \
    ptxiResult ptxiGraphAddEvent##Name##Node(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, \
                                             const ptxiGraphNode *dependencies, \
                                             size_t numDependencies, ptxiEvent event) \
    { \
        API_CALL; \
        return add_event_node(phGraphNode, hGraph, dependencies, numDependencies, TYPE, event); \
    } \
    ptxiResult ptxiGraphEvent##Name##NodeGetEvent(ptxiGraphNode hNode, ptxiEvent *event_out) \
    { \
        API_CALL; \
        return get_event(hNode, TYPE, event_out); \
    } \
    ptxiResult ptxiGraphEvent##Name##NodeSetEvent(ptxiGraphNode hNode, ptxiEvent event) \
    { \
        API_CALL; \
        return set_event(hNode, TYPE, event); \
    }

EVENT(Record, PTXI_GRAPH_NODE_TYPE_EVENT_RECORD)
EVENT(Wait, PTXI_GRAPH_NODE_TYPE_WAIT_EVENT)
