/* Nodes of launch graphs: what a node of one kind is told and tells, and nodes of any kind. */
#include "api/graph/graph.h"

#include <string.h>

/* ---- any kind */

ptxiResult ptxiGraphAddNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies, const ptxiGraphEdgeData *dependencyData,
                            size_t numDependencies, ptxiGraphNodeParams *nodeParams)
{
    API_CALL;
    struct ptxi_work w;
    ptxiResult r = ptxi_graph_enter(hGraph);

    if (r)
        return r;
    if (!nodeParams)
        return PTXI_ERROR_INVALID_VALUE;
    if ((r = ptxi_work_make(&w, hGraph->ctx, nodeParams)))
        return r;
    for (size_t i = 0; dependencies && dependencyData && i < numDependencies; i++)
        if (ptxi_graph_enter_node(dependencies[i]) || !ptxi_graph_edge_ok(&dependencyData[i], &dependencies[i]->work, &w)) {
            ptxi_work_free(&w);
            return PTXI_ERROR_INVALID_VALUE;
        }
    return ptxi_graph_add(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, &w);
}

/* Gives a node other work of its kind. */
static ptxiResult set_any(ptxiGraphNode n, ptxiGraphNodeParams *p)
{
    struct ptxi_work w;
    ptxiResult r;

    if (!p || p->type != n->work.type || p->type == PTXI_GRAPH_NODE_TYPE_CONDITIONAL)
        return PTXI_ERROR_INVALID_VALUE;
    r = ptxi_work_make(&w, n->graph->ctx, p);
    return r ? r : ptxi_work_change(&n->work, &w);
}

ptxiResult ptxiGraphNodeSetParams(ptxiGraphNode hNode, ptxiGraphNodeParams *nodeParams)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter_node(hNode);

    return r ? r : set_any(hNode, nodeParams);
}

ptxiResult ptxiGraphExecNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, ptxiGraphNodeParams *nodeParams)
{
    API_CALL;
    ptxiGraphNode own;
    ptxiResult r = ptxi_graph_exec_node(hGraphExec, hNode, &own);

    if (r || !nodeParams)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    if (nodeParams->type == PTXI_GRAPH_NODE_TYPE_GRAPH)
        return ptxiGraphExecChildGraphNodeSetParams(hGraphExec, hNode, nodeParams->value.graph.graph);
    return set_any(own, nodeParams);
}

/* ---- one kind */

/* The parameters of a node's work of one kind. */
#define PARAMS(Name, TYPE, Params, member, make) \
    ptxiResult ptxiGraph##Name##NodeSetParams(ptxiGraphNode hNode, const Params *nodeParams) \
    { \
        API_CALL; \
        struct ptxi_work w; \
        ptxiResult r = ptxi_graph_enter_node(hNode); \
                                                         \
        if (r || (r = make(&w, nodeParams))) \
            return r; \
        return ptxi_work_replace(&hNode->work, &w); \
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

    return r || (r = ptxi_work_kernel(&w, nodeParams)) ? r : ptxi_work_change(&hNode->work, &w);
}

static ptxiResult enter_kernel(ptxiGraphNode n)
{
    ptxiResult r = ptxi_graph_enter_node(n);

    return r ? r : n->work.type == PTXI_GRAPH_NODE_TYPE_KERNEL ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
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

/* Where an attribute without effect is kept; NULL: it is another one. */
static ptxiLaunchAttributeValue *kept(struct ptxi_node_attributes *a, int which)
{
    static const unsigned char ids[] = {
        PTXI_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, PTXI_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, PTXI_LAUNCH_ATTRIBUTE_PRIORITY,
        PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, PTXI_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    };

    for (unsigned i = 0; i < sizeof ids; i++)
        if (ids[i] == which)
            return &a->kept[i];
    return NULL;
}

/* Whether the node's kernel can have such clusters. */
static ptxiResult check_clusters(const struct ptxi_work *w, const unsigned *cluster)
{
    const PTXI_KERNEL_NODE_PARAMS *k = &w->kernel;
    struct ptxi_launch_shape s = { .grid = { k->gridDimX, k->gridDimY, k->gridDimZ }, .cluster = { cluster[0], cluster[1], cluster[2] } };

    return cluster[0] ? ptxi_launch_cluster(k->func, &s, k->func->nonportable_cluster ? PTXI_MOST_CLUSTER : PTXI_PORTABLE_CLUSTER) : PTXI_SUCCESS;
}

ptxiResult ptxiGraphKernelNodeSetAttribute(ptxiGraphNode hNode, ptxiLaunchAttributeID attr, const ptxiLaunchAttributeValue *value)
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
    if ((r = ptxi_launch_read_attribute(&(ptxiLaunchAttribute){ .id = attr, .value = *value }, &s)) || (r = check_clusters(&hNode->work, s.cluster)))
        return r;
    if (kept(a, (int)attr))
        *kept(a, (int)attr) = *value;
    else if (attr != PTXI_LAUNCH_ATTRIBUTE_COOPERATIVE && attr != PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        return PTXI_ERROR_INVALID_VALUE; /* of launches only */
    memcpy(a->cluster, s.cluster, sizeof s.cluster);
    a->cooperative = s.cooperative;
    return PTXI_SUCCESS;
}

ptxiResult ptxiGraphKernelNodeGetAttribute(ptxiGraphNode hNode, ptxiLaunchAttributeID attr, ptxiLaunchAttributeValue *value_out)
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
    else if (kept(a, (int)attr))
        value = *kept(a, (int)attr);
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

#define EVENT(Name, TYPE)                                                                                                        \
    ptxiResult ptxiGraphAddEvent##Name##Node(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,     \
                                             size_t numDependencies, ptxiEvent event)                                             \
    {                                                                                                                             \
        API_CALL;                                                                                                                 \
        struct ptxi_work w;                                                                                                       \
        ptxiResult r = ptxi_graph_enter(hGraph);                                                                                  \
                                                                                                                                  \
        if (r || (r = ptxi_work_event(&w, TYPE, event)))                                                                          \
            return r;                                                                                                             \
        return ptxi_graph_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &w);                                       \
    }                                                                                                                             \
    ptxiResult ptxiGraphEvent##Name##NodeGetEvent(ptxiGraphNode hNode, ptxiEvent *event_out)                                      \
    {                                                                                                                             \
        API_CALL;                                                                                                                 \
        ptxiResult r = ptxi_graph_enter_node(hNode);                                                                              \
                                                                                                                                  \
        if (r)                                                                                                                    \
            return r;                                                                                                             \
        if (!event_out || hNode->work.type != TYPE)                                                                               \
            return PTXI_ERROR_INVALID_VALUE;                                                                                      \
        *event_out = hNode->work.event;                                                                                           \
        return PTXI_SUCCESS;                                                                                                      \
    }                                                                                                                             \
    ptxiResult ptxiGraphEvent##Name##NodeSetEvent(ptxiGraphNode hNode, ptxiEvent event)                                           \
    {                                                                                                                             \
        API_CALL;                                                                                                                 \
        struct ptxi_work w;                                                                                                       \
        ptxiResult r = ptxi_graph_enter_node(hNode);                                                                              \
                                                                                                                                  \
        return r || (r = ptxi_work_event(&w, TYPE, event)) ? r : ptxi_work_replace(&hNode->work, &w);                             \
    }                                                                                                                             \
    ptxiResult ptxiGraphExecEvent##Name##NodeSetEvent(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, ptxiEvent event)             \
    {                                                                                                                             \
        API_CALL;                                                                                                                 \
        struct ptxi_work w;                                                                                                       \
        ptxiGraphNode own;                                                                                                        \
        ptxiResult r = ptxi_graph_exec_node(hGraphExec, hNode, &own);                                                             \
                                                                                                                                  \
        return r || (r = ptxi_work_event(&w, TYPE, event)) ? r : ptxi_work_replace(&own->work, &w);                               \
    }

EVENT(Record, PTXI_GRAPH_NODE_TYPE_EVENT_RECORD)
EVENT(Wait, PTXI_GRAPH_NODE_TYPE_WAIT_EVENT)
