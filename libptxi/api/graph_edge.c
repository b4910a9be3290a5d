/* Edges of launch graphs: listing them, and taking them and nodes out. */
#include "api/graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists */

ptxiResult ptxiGraphGetRootNodes(ptxiGraph hGraph, ptxiGraphNode *rootNodes, size_t *numRootNodes)
{
    ptxiResult r = ptxi_graph_enter(hGraph);
    size_t count = 0;

    if (r)
        return r;
    ptxiGraphNode *roots = malloc((hGraph->count + 1) * sizeof *roots);

    if (!roots)
        return PTXI_ERROR_OUT_OF_MEMORY;
    for (unsigned i = hGraph->count; i-- > 0;) /* the driver, too, begins with the latest */
        if (!hGraph->nodes[i]->need_count)
            roots[count++] = hGraph->nodes[i];
    r = ptxi_graph_list(roots, count, rootNodes, numRootNodes);
    free(roots);
    return r;
}

/* Sets the data of as many edges as there is room for. */
static void clear_data(ptxiGraphEdgeData *data, const void *nodes, const size_t *room)
{
    if (data && nodes && room)
        memset(data, 0, *room * sizeof *data);
}

ptxiResult ptxiGraphNodeGetDependentNodes(ptxiGraphNode hNode, ptxiGraphNode *dependentNodes, ptxiGraphEdgeData *edgeData, size_t *numDependentNodes)
{
    ptxiResult r = ptxi_graph_enter_node(hNode);
    size_t count = 0;

    if (r)
        return r;
    const struct ptxiGraph_st *g = hNode->graph;
    ptxiGraphNode *nodes = malloc((g->count + 1) * sizeof *nodes);

    if (!nodes)
        return PTXI_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < g->count; i++)
        if (ptxi_graph_needs(g->nodes[i], hNode))
            nodes[count++] = g->nodes[i];
    clear_data(edgeData, dependentNodes, numDependentNodes);
    r = ptxi_graph_list(nodes, count, dependentNodes, numDependentNodes);
    free(nodes);
    return r;
}

static size_t count_edges(const struct ptxiGraph_st *g)
{
    size_t n = 0;

    for (unsigned i = 0; i < g->count; i++)
        n += g->nodes[i]->need_count;
    return n;
}

ptxiResult ptxiGraphGetEdges(ptxiGraph hGraph, ptxiGraphNode *from, ptxiGraphNode *to, ptxiGraphEdgeData *edgeData, size_t *numEdges)
{
    ptxiResult r = ptxi_graph_enter(hGraph);
    size_t count = 0, room;

    if (r)
        return r;
    if (!numEdges || !from != !to)
        return PTXI_ERROR_INVALID_VALUE;
    ptxiGraphNode *ends = malloc((count_edges(hGraph) + 1) * 2 * sizeof *ends);

    if (!ends)
        return PTXI_ERROR_OUT_OF_MEMORY;
    ptxiGraphNode *begins = ends + count_edges(hGraph);

    for (unsigned i = 0; i < hGraph->count; i++)
        for (unsigned k = 0; k < hGraph->nodes[i]->need_count; k++) {
            begins[count] = hGraph->nodes[i]->needs[k];
            ends[count++] = hGraph->nodes[i];
        }
    room = *numEdges;
    clear_data(edgeData, from, &room);
    ptxi_graph_list(begins, count, from, &room);
    r = ptxi_graph_list(ends, count, to, numEdges);
    free(ends);
    return r;
}

/* ---- less of them */

static void forget(struct ptxiGraphNode_st *n, const struct ptxiGraphNode_st *before)
{
    unsigned left = 0;

    for (unsigned i = 0; i < n->need_count; i++)
        if (n->needs[i] != before)
            n->needs[left++] = n->needs[i];
    n->need_count = left;
}

ptxiResult ptxiGraphRemoveDependencies(ptxiGraph hGraph, const ptxiGraphNode *from, const ptxiGraphNode *to, const ptxiGraphEdgeData *edgeData,
                                       size_t numDependencies)
{
    ptxiResult r = ptxi_graph_enter(hGraph);

    (void)edgeData; /* there is one edge at most between two nodes */
    if (!r && numDependencies && (!from || !to))
        r = PTXI_ERROR_INVALID_VALUE;
    for (size_t i = 0; !r && i < numDependencies; i++) {
        if (ptxi_graph_enter_node(from[i]) || ptxi_graph_enter_node(to[i]) || to[i]->graph != hGraph || !ptxi_graph_needs(to[i], from[i]))
            return PTXI_ERROR_INVALID_VALUE;
        forget(to[i], from[i]);
    }
    return r;
}

ptxiResult ptxiGraphDestroyNode(ptxiGraphNode hNode)
{
    ptxiResult r = ptxi_graph_enter_node(hNode);

    if (r)
        return r;
    struct ptxiGraph_st *g = hNode->graph;

    g->count--;
    for (unsigned i = hNode->index; i < g->count; i++) {
        g->nodes[i] = g->nodes[i + 1];
        g->nodes[i]->index = i;
    }
    for (unsigned i = 0; i < g->count; i++)
        forget(g->nodes[i], hNode);
    ptxi_graph_free_node(hNode);
    return PTXI_SUCCESS;
}
