/* Edges of graphs: lists of them, and changes. */
#include "api/graph/graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists */

ptxiResult ptxiGraphGetRootNodes(ptxiGraph hGraph, ptxiGraphNode *rootNodes, size_t *numRootNodes)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter(hGraph);
    size_t count = 0;

    if (r)
        return r;
    ptxiGraphNode *roots = malloc((hGraph->count + 1) * sizeof *roots);

    if (!roots)
        return PTXI_ERROR_OUT_OF_MEMORY;
    for (unsigned i = hGraph->count; i-- > 0;) /* the driver also begins with the latest */
        if (!hGraph->nodes[i]->need_count)
            roots[count++] = hGraph->nodes[i];
    r = ptxi_graph_list(roots, count, rootNodes, numRootNodes);
    free(roots);
    return r;
}

ptxiResult ptxiGraphNodeGetDependencies(ptxiGraphNode hNode, ptxiGraphNode *dependencies, ptxiGraphEdgeData *edgeData,
                                        size_t *numDependencies)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter_node(hNode);

    if (!r)
        r = ptxi_graph_list_data(hNode->edges, hNode->need_count, dependencies, edgeData, numDependencies);
    return r ? r : ptxi_graph_list(hNode->needs, hNode->need_count, dependencies, numDependencies);
}

/* Edges. Those that begin at the same node are adjacent. */
struct edges {
    size_t count;
    ptxiGraphNode *from, *to;
    ptxiGraphEdgeData *data;
};

static bool make_edges(struct edges *e, size_t count)
{
    *e = (struct edges){
        .from = malloc((count + 1) * sizeof *e->from), .to = malloc((count + 1) * sizeof *e->to),
        .data = malloc((count + 1) * sizeof *e->data),
    };
    return e->from && e->to && e->data;
}

static void free_edges(struct edges *e)
{
    free(e->from);
    free(e->to);
    free(e->data);
}

static void put_edge(struct edges *e, const struct ptxiGraphNode_st *n, unsigned k, size_t at)
{
    e->from[at] = n->needs[k];
    e->to[at] = n->graph->nodes[n->index];
    e->data[at] = n->edges[k];
    e->count++;
}

ptxiResult ptxiGraphNodeGetDependentNodes(ptxiGraphNode hNode, ptxiGraphNode *dependentNodes,
                                          ptxiGraphEdgeData *edgeData, size_t *numDependentNodes)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter_node(hNode);
    struct edges e;

    if (r)
        return r;
    const struct ptxiGraph_st *g = hNode->graph;
    bool ok = make_edges(&e, g->count);

    for (unsigned i = 0; ok && i < g->count; i++)
        for (unsigned k = 0; k < g->nodes[i]->need_count; k++)
            if (g->nodes[i]->needs[k] == hNode)
                put_edge(&e, g->nodes[i], k, e.count);
    r = ok ? ptxi_graph_list_data(e.data, e.count, dependentNodes, edgeData,
                                  numDependentNodes) : PTXI_ERROR_OUT_OF_MEMORY;
    if (!r)
        r = ptxi_graph_list(e.to, e.count, dependentNodes, numDependentNodes);
    free_edges(&e);
    return r;
}

/* Sets first[i] to the number of edges that begin at nodes before node i. */
static void count_edges(const struct ptxiGraph_st *g, size_t *first)
{
    for (unsigned i = 0; i < g->count; i++)
        for (unsigned k = 0; k < g->nodes[i]->need_count; k++)
            first[g->nodes[i]->needs[k]->index + 1]++;
    for (unsigned i = 0; i < g->count; i++)
        first[i + 1] += first[i];
}

static bool list_all_edges(const struct ptxiGraph_st *g, struct edges *e)
{
    size_t *next = calloc(g->count + 1, sizeof *next);
    bool ok = next != NULL;

    if (ok)
        count_edges(g, next);
    ok = make_edges(e, ok ? next[g->count] : 0) && ok;
    for (unsigned i = 0; ok && i < g->count; i++)
        for (unsigned k = 0; k < g->nodes[i]->need_count; k++)
            put_edge(e, g->nodes[i], k, next[g->nodes[i]->needs[k]->index]++);
    free(next);
    return ok;
}

ptxiResult ptxiGraphGetEdges(ptxiGraph hGraph, ptxiGraphNode *from, ptxiGraphNode *to, ptxiGraphEdgeData *edgeData,
                             size_t *numEdges)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter(hGraph);
    struct edges e;

    if (r)
        return r;
    if (!numEdges || !from != !to)
        return PTXI_ERROR_INVALID_VALUE;
    size_t room = *numEdges;

    r = list_all_edges(hGraph, &e) ? ptxi_graph_list_data(e.data, e.count, from, edgeData,
                                                          &room) : PTXI_ERROR_OUT_OF_MEMORY;
    if (!r) {
        ptxi_graph_list(e.from, e.count, from, &room);
        r = ptxi_graph_list(e.to, e.count, to, numEdges);
    }
    free_edges(&e);
    return r;
}

/* ---- changes */

ptxiResult ptxiGraphAddDependencies(ptxiGraph hGraph, const ptxiGraphNode *from, const ptxiGraphNode *to,
                                    const ptxiGraphEdgeData *edgeData,
                                    size_t numDependencies)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter(hGraph);

    if (r)
        return r;
    if (numDependencies && (!from || !to))
        return PTXI_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < numDependencies; i++)
        if (!ptxi_graph_is_node(from[i]) || !ptxi_graph_is_node(to[i]) || from[i]->graph != hGraph ||
            to[i]->graph != hGraph || from[i] == to[i] ||
            ptxi_graph_needs(to[i], from[i]) || !ptxi_graph_edge_ok(edgeData ? &edgeData[i] : NULL, &from[i]->work,
                                                                    &to[i]->work))
            return PTXI_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < numDependencies && !r; i++) {
        if (ptxi_graph_needs(to[i], from[i])) /* the call names the same edge twice */
            r = PTXI_ERROR_INVALID_VALUE;
        else if (!ptxi_graph_add_needs(to[i], &from[i], edgeData ? &edgeData[i] : NULL, 1))
            r = PTXI_ERROR_OUT_OF_MEMORY;
        for (size_t k = 0; r && k < i; k++)
            ptxi_graph_forget(to[k], from[k]);
    }
    return r;
}

ptxiResult ptxiGraphRemoveDependencies(ptxiGraph hGraph, const ptxiGraphNode *from, const ptxiGraphNode *to,
                                       const ptxiGraphEdgeData *edgeData,
                                       size_t numDependencies)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter(hGraph);

    (void)edgeData; /* there is at most one edge between two nodes, and the driver ignores the data, too */
    if (!r && numDependencies && (!from || !to))
        r = PTXI_ERROR_INVALID_VALUE;
    if (!r && numDependencies && ptxi_graph_has_memory(hGraph))
        r = PTXI_ERROR_NOT_SUPPORTED;
    for (size_t i = 0; !r && i < numDependencies; i++) {
        if (ptxi_graph_enter_node(from[i]) || ptxi_graph_enter_node(to[i]) || to[i]->graph != hGraph ||
            !ptxi_graph_needs(to[i], from[i]))
            return PTXI_ERROR_INVALID_VALUE;
        ptxi_graph_forget(to[i], from[i]);
    }
    return r;
}

ptxiResult ptxiGraphDestroyNode(ptxiGraphNode hNode)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter_node(hNode);

    if (r)
        return r;
    struct ptxiGraph_st *g = hNode->graph;

    if (ptxi_graph_has_memory(g))
        return PTXI_ERROR_NOT_SUPPORTED;
    g->count--;
    for (unsigned i = hNode->index; i < g->count; i++) {
        g->nodes[i] = g->nodes[i + 1];
        g->nodes[i]->index = i;
    }
    for (unsigned i = 0; i < g->count; i++)
        ptxi_graph_forget(g->nodes[i], hNode);
    ptxi_graph_free_node(hNode);
    return PTXI_SUCCESS;
}
