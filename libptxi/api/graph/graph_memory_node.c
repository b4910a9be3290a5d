/* Nodes that allocate or free memory, or wait for words in memory and write them. */
#include "api/graph/graph.h"

ptxiResult ptxiGraphAddMemAllocNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                                    size_t numDependencies, PTXI_MEM_ALLOC_NODE_PARAMS *nodeParams)
{
    API_CALL;
    struct ptxi_work w;
    ptxiContext ctx;
    ptxiResult r = ptxi_graph_enter(hGraph);

    if (r || (r = ptxi_api_context(&ctx)) || (r = ptxi_work_allocate(&w, ctx, nodeParams)))
        return r;
    return ptxi_graph_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &w);
}

ptxiResult ptxiGraphAddMemFreeNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                                   size_t numDependencies, ptxiDevicePtr dptr)
{
    API_CALL;
    struct ptxi_work w;
    ptxiResult r = ptxi_graph_enter(hGraph);

    if (r || (r = ptxi_work_free_memory(&w, dptr)))
        return r;
    return ptxi_graph_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &w);
}

static ptxiResult enter_node(ptxiGraphNode n, ptxiGraphNodeType type, const void *out)
{
    ptxiResult r = ptxi_graph_enter_node(n);

    return !r && (!out || n->work.type != type) ? PTXI_ERROR_INVALID_VALUE : r;
}

ptxiResult ptxiGraphMemAllocNodeGetParams(ptxiGraphNode hNode, PTXI_MEM_ALLOC_NODE_PARAMS *params_out)
{
    API_CALL;
    ptxiResult r = enter_node(hNode, PTXI_GRAPH_NODE_TYPE_MEM_ALLOC, params_out);

    if (!r)
        *params_out = *ptxi_graph_memory_params(hNode->work.memory);
    return r;
}

ptxiResult ptxiGraphMemFreeNodeGetParams(ptxiGraphNode hNode, ptxiDevicePtr *dptr_out)
{
    API_CALL;
    ptxiResult r = enter_node(hNode, PTXI_GRAPH_NODE_TYPE_MEM_FREE, dptr_out);

    if (!r)
        *dptr_out = ptxi_graph_memory_params(hNode->work.memory)->dptr;
    return r;
}

ptxiResult ptxi_graph_make_operations(struct ptxi_work *w, const PTXI_BATCH_MEM_OP_NODE_PARAMS *p)
{
    return p && p->ctx ? ptxi_work_operations(w, p) : PTXI_ERROR_INVALID_VALUE;
}

ptxiResult ptxiGraphAddBatchMemOpNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies,
                                      size_t numDependencies, const PTXI_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    API_CALL;
    struct ptxi_work w;
    ptxiResult r = ptxi_graph_enter(hGraph);

    if (r || (r = ptxi_graph_make_operations(&w, nodeParams)))
        return r;
    return ptxi_graph_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &w);
}

ptxiResult ptxiGraphBatchMemOpNodeGetParams(ptxiGraphNode hNode, PTXI_BATCH_MEM_OP_NODE_PARAMS *nodeParams_out)
{
    API_CALL;
    ptxiResult r = enter_node(hNode, PTXI_GRAPH_NODE_TYPE_BATCH_MEM_OP, nodeParams_out);

    if (!r)
        *nodeParams_out = hNode->work.operations;
    return r;
}

ptxiResult ptxiGraphBatchMemOpNodeSetParams(ptxiGraphNode hNode, const PTXI_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    API_CALL;
    struct ptxi_work w;
    ptxiResult r = ptxi_graph_enter_node(hNode);

    if (r || (r = ptxi_graph_make_operations(&w, nodeParams)))
        return r;
    return ptxi_graph_work_replace(&hNode->work, &w);
}
