/* Builds graphs: creation, copies, and nodes of each kind. */
#include "api/graph/condition.h"
#include "api/graph/graph.h"

#include <stdlib.h>

ptxiResult ptxiGraphCreate(ptxiGraph *phGraph, unsigned flags)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if (!phGraph || flags)
        return PTXI_ERROR_INVALID_VALUE;
    *phGraph = ptxi_graph_new(ctx);
    return *phGraph ? PTXI_SUCCESS : PTXI_ERROR_OUT_OF_MEMORY;
}

ptxiResult ptxiGraphDestroy(ptxiGraph hGraph)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter(hGraph);

    if (r)
        return r;
    if (hGraph->owned || hGraph->captured)
        return hGraph->owned ? PTXI_ERROR_INVALID_VALUE : PTXI_ERROR_ILLEGAL_STATE;
    ptxi_graph_free(hGraph);
    return PTXI_SUCCESS;
}

ptxiResult ptxiGraphClone(ptxiGraph *phGraphClone, ptxiGraph originalGraph)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter(originalGraph);

    if (r)
        return r;
    if (!phGraphClone)
        return PTXI_ERROR_INVALID_VALUE;
    if (ptxi_graph_has_memory(originalGraph))
        return PTXI_ERROR_NOT_SUPPORTED;
    ptxiGraph g = ptxi_graph_copy(originalGraph);

    if (!g || !ptxi_graph_publish(g)) {
        ptxi_graph_free(g);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    g->owned = false;
    *phGraphClone = g;
    return PTXI_SUCCESS;
}

ptxiResult ptxiGraphNodeFindInClone(ptxiGraphNode *phNode, ptxiGraphNode hOriginalNode, ptxiGraph hClonedGraph)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter(hClonedGraph);

    if (r || (r = ptxi_graph_enter_node(hOriginalNode)))
        return r;
    ptxiGraphNode n = ptxi_graph_find_copy(hClonedGraph, hOriginalNode->id);

    if (!phNode || !n)
        return PTXI_ERROR_INVALID_VALUE;
    *phNode = n;
    return PTXI_SUCCESS;
}

ptxiResult ptxiGraphGetNodes(ptxiGraph hGraph, ptxiGraphNode *nodes, size_t *numNodes)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter(hGraph);

    return r ? r : ptxi_graph_list(hGraph->nodes, hGraph->count, nodes, numNodes);
}

ptxiResult ptxiGraphNodeGetType(ptxiGraphNode hNode, ptxiGraphNodeType *type)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter_node(hNode);

    if (r)
        return r;
    if (!type)
        return PTXI_ERROR_INVALID_VALUE;
    *type = hNode->work.type;
    return PTXI_SUCCESS;
}

ptxiResult ptxiGraphConditionalHandleCreate(ptxiGraphConditionalHandle *pHandle_out, ptxiGraph hGraph, ptxiContext ctx,
                                            unsigned defaultLaunchValue,
                                            unsigned flags)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter(hGraph);
    ptxiGraphConditionalHandle *more;

    (void)ctx;
    if (r)
        return r;
    if (!pHandle_out || flags & ~(unsigned)PTXI_GRAPH_COND_ASSIGN_DEFAULT)
        return PTXI_ERROR_INVALID_VALUE;
    more = realloc(hGraph->conditions, (hGraph->condition_count + 1) * sizeof *more);
    if (!more)
        return PTXI_ERROR_OUT_OF_MEMORY;
    hGraph->conditions = more;
    ptxiGraphConditionalHandle handle = ptxi_condition_create(defaultLaunchValue, flags);

    if (!handle)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *pHandle_out = more[hGraph->condition_count++] = handle;
    return PTXI_SUCCESS;
}

/* ---- nodes of each kind */

ptxiResult ptxiGraphAddKernelNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                                  size_t numDependencies,
                                  const PTXI_KERNEL_NODE_PARAMS *nodeParams)
{
    API_CALL;
    struct ptxi_work w;
    ptxiResult r = ptxi_graph_enter(hGraph);

    if (r || (r = ptxi_work_kernel(&w, nodeParams)))
        return r;
    return ptxi_graph_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &w);
}

ptxiResult ptxiGraphAddMemcpyNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                                  size_t numDependencies,
                                  const PTXI_MEMCPY3D *copyParams, ptxiContext ctx)
{
    API_CALL;
    struct ptxi_work w;
    ptxiResult r = ptxi_graph_enter(hGraph);

    (void)ctx;
    if (r || (r = ptxi_work_copy(&w, copyParams)))
        return r;
    return ptxi_graph_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &w);
}

ptxiResult ptxiGraphAddMemsetNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                                  size_t numDependencies,
                                  const PTXI_MEMSET_NODE_PARAMS *memsetParams, ptxiContext ctx)
{
    API_CALL;
    struct ptxi_work w;
    ptxiResult r = ptxi_graph_enter(hGraph);

    (void)ctx;
    if (r || (r = ptxi_work_set(&w, memsetParams)))
        return r;
    return ptxi_graph_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &w);
}

ptxiResult ptxiGraphAddHostNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                                size_t numDependencies,
                                const PTXI_HOST_NODE_PARAMS *nodeParams)
{
    API_CALL;
    struct ptxi_work w;
    ptxiResult r = ptxi_graph_enter(hGraph);

    if (r || (r = ptxi_work_host(&w, nodeParams)))
        return r;
    return ptxi_graph_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &w);
}

ptxiResult ptxiGraphAddEmptyNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                                 size_t numDependencies)
{
    API_CALL;
    struct ptxi_work w = { .type = PTXI_GRAPH_NODE_TYPE_EMPTY };
    ptxiResult r = ptxi_graph_enter(hGraph);

    return r ? r : ptxi_graph_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &w);
}

/* ---- child graphs */

ptxiResult ptxiGraphAddChildGraphNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                                      size_t numDependencies,
                                      ptxiGraph childGraph)
{
    API_CALL;
    struct ptxi_work w;
    ptxiResult r = ptxi_graph_enter(hGraph);

    if (r || (r = ptxi_graph_work_child(&w, &(PTXI_CHILD_GRAPH_NODE_PARAMS){ .graph = childGraph })))
        return r;
    return ptxi_graph_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &w);
}

ptxiResult ptxiGraphChildGraphNodeGetGraph(ptxiGraphNode hNode, ptxiGraph *phGraph)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter_node(hNode);

    if (r)
        return r;
    if (!phGraph || hNode->work.type != PTXI_GRAPH_NODE_TYPE_GRAPH)
        return PTXI_ERROR_INVALID_VALUE;
    *phGraph = hNode->work.child;
    return PTXI_SUCCESS;
}
