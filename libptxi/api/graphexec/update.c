/* Changes of executable graphs: the work of a node, or the work of all nodes from a graph of the same shape. */
#include "api/graphexec/graph_exec.h"

static bool same_needs(const struct ptxiGraphNode_st *a, const struct ptxiGraphNode_st *b)
{
    if (a->need_count != b->need_count)
        return false;
    for (unsigned i = 0; i < a->need_count; i++)
        if (a->needs[i]->index != b->needs[i]->index)
            return false;
    return true;
}

static ptxiGraphExecUpdateResult compare_graphs(const struct ptxiGraph_st *own, const struct ptxiGraph_st *new,
                                                ptxiGraphNode *at);

static ptxiGraphExecUpdateResult compare_bodies(const struct ptxi_branches *a, const struct ptxi_branches *b,
                                                ptxiGraphNode *at)
{
    ptxiGraphExecUpdateResult u = PTXI_GRAPH_EXEC_UPDATE_SUCCESS;

    if (a->kind != b->kind || a->count != b->count)
        return PTXI_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (unsigned k = 0; k < a->count && !u; k++)
        u = compare_graphs(a->bodies[k], b->bodies[k], at);
    return u;
}

/* Checks that the executable graph can get the work of `new`. On failure *at is the node that differs. */
static ptxiGraphExecUpdateResult compare_graphs(const struct ptxiGraph_st *own, const struct ptxiGraph_st *new,
                                                ptxiGraphNode *at)
{
    ptxiGraphExecUpdateResult u = PTXI_GRAPH_EXEC_UPDATE_SUCCESS;

    if (own->count != new->count)
        return PTXI_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (unsigned i = 0; i < new->count && !u; i++) {
        struct ptxiGraphNode_st *a = own->nodes[i], *b = new->nodes[i];

        *at = b;
        if (a->work.type != b->work.type)
            return PTXI_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        if (!same_needs(a, b))
            return PTXI_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        if (a->work.type == PTXI_GRAPH_NODE_TYPE_GRAPH)
            u = compare_graphs(a->work.child, b->work.child, at);
        if (a->work.type == PTXI_GRAPH_NODE_TYPE_CONDITIONAL)
            u = compare_bodies(&a->work.branches, &b->work.branches, at);
        if (ptxi_work_is_memory(&a->work) && a->work.memory != b->work.memory)
            u = PTXI_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }
    return u;
}

/* Copies the work of all nodes. False if there is no memory, when some nodes have changed. */
static bool copy_work(ptxiGraph own, const struct ptxiGraph_st *new)
{
    for (unsigned i = 0; i < new->count; i++) {
        struct ptxi_work *to = &own->nodes[i]->work, w;

        if (to->type == PTXI_GRAPH_NODE_TYPE_GRAPH) {
            if (!copy_work(to->child, new->nodes[i]->work.child))
                return false;
            continue;
        }
        if (!ptxi_graph_work_duplicate(&w, &new->nodes[i]->work))
            return false;
        ptxi_graph_work_replace(to, &w);
    }
    return true;
}

static ptxiResult update_graph(ptxiGraph own, ptxiGraph new, ptxiGraphExecUpdateResultInfo *info)
{
    *info = (ptxiGraphExecUpdateResultInfo){ PTXI_GRAPH_EXEC_UPDATE_SUCCESS, NULL, NULL };
    info->result = compare_graphs(own, new, &info->errorNode);
    if (info->result != PTXI_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED &&
        info->result != PTXI_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED)
        info->errorNode = NULL;
    if (info->result)
        return PTXI_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    return copy_work(own, new) ? PTXI_SUCCESS : PTXI_ERROR_OUT_OF_MEMORY;
}

ptxiResult ptxiGraphExecUpdate(ptxiGraphExec hGraphExec, ptxiGraph hGraph, ptxiGraphExecUpdateResultInfo *resultInfo)
{
    API_CALL;
    ptxiGraphExecUpdateResultInfo info = { PTXI_GRAPH_EXEC_UPDATE_SUCCESS, NULL, NULL };
    ptxiResult r = ptxi_graph_exec_enter(hGraphExec);

    if (!r)
        r = ptxi_graph_enter(hGraph);
    if (!r)
        r = update_graph(hGraphExec->graph, hGraph, &info);
    if (resultInfo)
        *resultInfo = info;
    return r;
}

/* ---- a single node */

ptxiResult ptxiGraphExecKernelNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode,
                                            const PTXI_KERNEL_NODE_PARAMS *nodeParams)
{
    API_CALL;
    struct ptxi_work w;
    ptxiGraphNode old;
    ptxiResult r = ptxi_graph_exec_node(hGraphExec, hNode, &old);

    if (r || (r = ptxi_work_kernel(&w, nodeParams)))
        return r;
    return ptxi_graph_work_change(&old->work, &w);
}

ptxiResult ptxiGraphExecMemcpyNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode,
                                            const PTXI_MEMCPY3D *copyParams, ptxiContext ctx)
{
    API_CALL;
    struct ptxi_work w;
    ptxiGraphNode old;
    ptxiResult r = ptxi_graph_exec_node(hGraphExec, hNode, &old);

    (void)ctx;
    if (r || (r = ptxi_work_copy(&w, copyParams)))
        return r;
    return ptxi_graph_work_replace(&old->work, &w);
}

ptxiResult ptxiGraphExecMemsetNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode,
                                            const PTXI_MEMSET_NODE_PARAMS *memsetParams,
                                            ptxiContext ctx)
{
    API_CALL;
    struct ptxi_work w;
    ptxiGraphNode old;
    ptxiResult r = ptxi_graph_exec_node(hGraphExec, hNode, &old);

    (void)ctx;
    if (r || (r = ptxi_work_set(&w, memsetParams)))
        return r;
    return ptxi_graph_work_replace(&old->work, &w);
}

ptxiResult ptxiGraphExecHostNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode,
                                          const PTXI_HOST_NODE_PARAMS *nodeParams)
{
    API_CALL;
    struct ptxi_work w;
    ptxiGraphNode old;
    ptxiResult r = ptxi_graph_exec_node(hGraphExec, hNode, &old);

    if (r || (r = ptxi_work_host(&w, nodeParams)))
        return r;
    return ptxi_graph_work_replace(&old->work, &w);
}

ptxiResult ptxiGraphExecBatchMemOpNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode,
                                                const PTXI_BATCH_MEM_OP_NODE_PARAMS *nodeParams)
{
    API_CALL;
    struct ptxi_work w;
    ptxiGraphNode old;
    ptxiResult r = ptxi_graph_exec_node(hGraphExec, hNode, &old);

    if (r || (r = ptxi_graph_make_operations(&w, nodeParams)))
        return r;
    if (old->work.type == w.type && old->work.operations.count != w.operations.count) {
        ptxi_graph_work_free(&w);
        return PTXI_ERROR_INVALID_VALUE;
    }
    return ptxi_graph_work_replace(&old->work, &w);
}

static ptxiResult set_child(ptxiGraphNode own, ptxiGraph childGraph)
{
    ptxiGraphExecUpdateResultInfo info;
    ptxiResult r = ptxi_graph_enter(childGraph);

    if (r)
        return r;
    return own->work.type == PTXI_GRAPH_NODE_TYPE_GRAPH ? update_graph(own->work.child, childGraph,
                                                                 &info) : PTXI_ERROR_INVALID_VALUE;
}

ptxiResult ptxiGraphExecChildGraphNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, ptxiGraph childGraph)
{
    API_CALL;
    ptxiGraphNode own;
    ptxiResult r = ptxi_graph_exec_node(hGraphExec, hNode, &own);

    return r ? r : set_child(own, childGraph);
}

ptxiResult ptxiGraphExecNodeSetParams(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, ptxiGraphNodeParams *nodeParams)
{
    API_CALL;
    ptxiGraphNode own;
    ptxiResult r = ptxi_graph_exec_node(hGraphExec, hNode, &own);

    if (r || !nodeParams)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    if (nodeParams->type == PTXI_GRAPH_NODE_TYPE_GRAPH)
        return set_child(own, nodeParams->value.graph.graph);
    return ptxi_graph_set_params(own, nodeParams);
}

static ptxiResult set_event(ptxiGraphExec x, ptxiGraphNode n, ptxiGraphNodeType type, ptxiEvent event)
{
    struct ptxi_work w;
    ptxiGraphNode own;
    ptxiResult r = ptxi_graph_exec_node(x, n, &own);

    if (!r)
        r = ptxi_work_event(&w, type, event);
    return r ? r : ptxi_graph_work_replace(&own->work, &w);
}

ptxiResult ptxiGraphExecEventRecordNodeSetEvent(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, ptxiEvent event)
{
    API_CALL;
    return set_event(hGraphExec, hNode, PTXI_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

ptxiResult ptxiGraphExecEventWaitNodeSetEvent(ptxiGraphExec hGraphExec, ptxiGraphNode hNode, ptxiEvent event)
{
    API_CALL;
    return set_event(hGraphExec, hNode, PTXI_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}
