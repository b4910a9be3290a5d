/* Launch graphs: nodes and the order between them. */
#include "api/graph/graph.h"

#include <stdlib.h>
#include <string.h>

static _Atomic uint64_t node_ids;

static bool node_valid(const struct ptxiGraphNode_st *n)
{
    return ptxi_handle_is(n, PTXI_HANDLE_GRAPH_NODE);
}

void ptxi_graph_lock(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    ptxi_api_lock(&lock);
}

ptxiResult ptxi_graph_enter(ptxiGraph g)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r || !g)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    ptxi_graph_lock();
    return ptxi_handle_is(g, PTXI_HANDLE_GRAPH) ? PTXI_SUCCESS : PTXI_ERROR_INVALID_HANDLE;
}

static ptxiGraph make_graph(ptxiContext ctx)
{
    ptxiGraph g = calloc(1, sizeof *g);

    if (g)
        g->ctx = ctx;
    return g;
}

static bool publish_inner(const struct ptxi_work *w)
{
    bool ok = w->type != PTXI_GRAPH_NODE_TYPE_GRAPH || ptxi_graph_publish(w->child);

    for (unsigned k = 0; ok && w->type == PTXI_GRAPH_NODE_TYPE_CONDITIONAL && k < w->branches.count; k++)
        ok = ptxi_graph_publish(w->branches.bodies[k]);
    return ok;
}

bool ptxi_graph_publish(ptxiGraph g)
{
    bool ok = ptxi_handle_add(&g->handle, PTXI_HANDLE_GRAPH, NULL, NULL);

    for (unsigned i = 0; ok && i < g->count; i++)
        ok = ptxi_handle_add_part(&g->nodes[i]->handle, PTXI_HANDLE_GRAPH_NODE, &g->handle) && publish_inner(&g->nodes[i]->work);
    return ok;
}

ptxiGraph ptxi_graph_new(ptxiContext ctx)
{
    ptxiGraph g = make_graph(ctx);

    if (g && !ptxi_graph_publish(g)) {
        free(g);
        g = NULL;
    }
    return g;
}

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

void ptxi_graph_free_node(struct ptxiGraphNode_st *n)
{
    ptxi_handle_remove(&n->handle);
    ptxi_work_free(&n->work);
    free(n->needs);
    free(n->edges);
    free(n);
}

void ptxi_graph_free(ptxiGraph g)
{
    if (!g)
        return;
    ptxi_graph_lock(); /* an instance is freed without */
    ptxi_handle_remove(&g->handle);
    for (unsigned i = 0; i < g->count; i++)
        ptxi_graph_free_node(g->nodes[i]);
    for (unsigned i = 0; i < g->condition_count; i++)
        ptxi_condition_let_go(g->conditions[i]);
    free(g->conditions);
    free(g->nodes);
    free(g->plan);
    free(g);
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

static bool is_among(struct ptxiGraphNode_st *const *nodes, size_t count, const struct ptxiGraphNode_st *n)
{
    for (size_t i = 0; i < count; i++)
        if (nodes[i] == n)
            return true;
    return false;
}

/* Append `count` nodes to what n needs. `edges` NULL: zeros. */
static bool add_needs(struct ptxiGraphNode_st *n, const ptxiGraphNode *nodes, const ptxiGraphEdgeData *edges, size_t count)
{
    struct ptxiGraphNode_st **more = realloc(n->needs, (n->need_count + count + 1) * sizeof *more);

    if (!more)
        return false;
    n->needs = more;
    ptxiGraphEdgeData *data = realloc(n->edges, (n->need_count + count + 1) * sizeof *data);

    if (!data)
        return false;
    n->edges = data;
    for (size_t i = 0; i < count; i++) {
        data[n->need_count] = edges ? edges[i] : (ptxiGraphEdgeData){ .type = 0 };
        more[n->need_count++] = nodes[i];
    }
    return true;
}

static bool append(struct ptxiGraph_st *g, struct ptxiGraphNode_st *n)
{
    struct ptxiGraphNode_st **more = realloc(g->nodes, (g->count + 1) * sizeof *more);

    if (!more)
        return false;
    g->nodes = more;
    if (g->handle.listed && !ptxi_handle_add_part(&n->handle, PTXI_HANDLE_GRAPH_NODE, &g->handle))
        return false;
    n->graph = g;
    n->index = g->count;
    more[g->count++] = n;
    return true;
}

ptxiResult ptxi_graph_add(ptxiGraphNode *out, ptxiGraph g, const ptxiGraphNode *needs, const ptxiGraphEdgeData *edges, size_t count,
                          struct ptxi_work *w)
{
    ptxiResult r = out && (!count || needs) ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;

    for (size_t i = 0; !r && i < count; i++)
        r = node_valid(needs[i]) && needs[i]->graph == g && !is_among(needs, i, needs[i]) ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
    struct ptxiGraphNode_st *n = r ? NULL : calloc(1, sizeof *n);

    if (!n) {
        ptxi_work_free(w);
        return r ? r : PTXI_ERROR_OUT_OF_MEMORY;
    }
    n->id = atomic_fetch_add(&node_ids, 1) + 1;
    n->work = *w;
    if (!add_needs(n, needs, edges, count) || !append(g, n)) {
        ptxi_graph_free_node(n);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    *out = n;
    return PTXI_SUCCESS;
}

ptxiResult ptxiGraphAddKernelNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies, size_t numDependencies,
                                  const PTXI_KERNEL_NODE_PARAMS *nodeParams)
{
    API_CALL;
    struct ptxi_work w;
    ptxiResult r = ptxi_graph_enter(hGraph);

    if (r || (r = ptxi_work_kernel(&w, nodeParams)))
        return r;
    return ptxi_graph_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &w);
}

ptxiResult ptxiGraphAddMemcpyNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies, size_t numDependencies,
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

ptxiResult ptxiGraphAddMemsetNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies, size_t numDependencies,
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

ptxiResult ptxiGraphAddHostNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies, size_t numDependencies,
                                const PTXI_HOST_NODE_PARAMS *nodeParams)
{
    API_CALL;
    struct ptxi_work w;
    ptxiResult r = ptxi_graph_enter(hGraph);

    if (r || (r = ptxi_work_host(&w, nodeParams)))
        return r;
    return ptxi_graph_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &w);
}

ptxiResult ptxiGraphAddEmptyNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies, size_t numDependencies)
{
    API_CALL;
    struct ptxi_work w = { .type = PTXI_GRAPH_NODE_TYPE_EMPTY };
    ptxiResult r = ptxi_graph_enter(hGraph);

    return r ? r : ptxi_graph_add(phGraphNode, hGraph, dependencies, NULL, numDependencies, &w);
}

bool ptxi_graph_needs(const struct ptxiGraphNode_st *n, const struct ptxiGraphNode_st *before)
{
    return is_among(n->needs, n->need_count, before);
}

/* Programmatic edges go from kernel to kernel: from where the first one says so, or where all its blocks have begun. */
bool ptxi_graph_is_plain(const ptxiGraphEdgeData *data)
{
    return !data->type && !data->from_port && !data->to_port;
}

bool ptxi_graph_edge_ok(const ptxiGraphEdgeData *data, const struct ptxi_work *from, const struct ptxi_work *to)
{
    enum { PROGRAMMATIC = 1, LAST_PORT = 2 };

    if (!data || ptxi_graph_is_plain(data))
        return true;
    return data->type == PROGRAMMATIC && data->from_port && data->from_port <= LAST_PORT && !data->to_port &&
           from->type == PTXI_GRAPH_NODE_TYPE_KERNEL && to->type == PTXI_GRAPH_NODE_TYPE_KERNEL;
}

ptxiResult ptxiGraphAddDependencies(ptxiGraph hGraph, const ptxiGraphNode *from, const ptxiGraphNode *to, const ptxiGraphEdgeData *edgeData,
                                    size_t numDependencies)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter(hGraph);

    if (r)
        return r;
    if (numDependencies && (!from || !to))
        return PTXI_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < numDependencies; i++)
        if (!node_valid(from[i]) || !node_valid(to[i]) || from[i]->graph != hGraph || to[i]->graph != hGraph || from[i] == to[i] ||
            ptxi_graph_needs(to[i], from[i]) || !ptxi_graph_edge_ok(edgeData ? &edgeData[i] : NULL, &from[i]->work, &to[i]->work))
            return PTXI_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < numDependencies && !r; i++) {
        if (ptxi_graph_needs(to[i], from[i])) /* the same edge twice in one call */
            r = PTXI_ERROR_INVALID_VALUE;
        else if (!add_needs(to[i], &from[i], edgeData ? &edgeData[i] : NULL, 1))
            r = PTXI_ERROR_OUT_OF_MEMORY;
        for (size_t k = 0; r && k < i; k++)
            ptxi_graph_forget(to[k], from[k]);
    }
    return r;
}

ptxiResult ptxi_graph_enter_node(ptxiGraphNode n)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r || !n)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    ptxi_graph_lock();
    return node_valid(n) ? PTXI_SUCCESS : PTXI_ERROR_INVALID_HANDLE;
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

ptxiResult ptxi_graph_list(struct ptxiGraphNode_st *const *from, size_t count, ptxiGraphNode *nodes, size_t *room)
{
    if (!room)
        return PTXI_ERROR_INVALID_VALUE;
    for (size_t i = 0; nodes && i < *room; i++)
        nodes[i] = i < count ? from[i] : NULL;
    if (!nodes || *room > count)
        *room = count;
    return PTXI_SUCCESS;
}

ptxiResult ptxi_graph_list_data(const ptxiGraphEdgeData *from, size_t count, const void *nodes, ptxiGraphEdgeData *data, const size_t *room)
{
    if (!nodes || !room)
        return PTXI_SUCCESS;
    if (!data && !*room)
        return PTXI_ERROR_INVALID_VALUE;
    for (size_t i = 0; !data && i < count; i++)
        if (!ptxi_graph_is_plain(&from[i]))
            return PTXI_ERROR_LOSSY_QUERY;
    for (size_t i = 0; data && i < *room; i++)
        data[i] = i < count ? from[i] : (ptxiGraphEdgeData){ .type = 0 };
    return PTXI_SUCCESS;
}

ptxiResult ptxiGraphGetNodes(ptxiGraph hGraph, ptxiGraphNode *nodes, size_t *numNodes)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter(hGraph);

    return r ? r : ptxi_graph_list(hGraph->nodes, hGraph->count, nodes, numNodes);
}

ptxiResult ptxiGraphNodeGetDependencies(ptxiGraphNode hNode, ptxiGraphNode *dependencies, ptxiGraphEdgeData *edgeData, size_t *numDependencies)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter_node(hNode);

    if (!r)
        r = ptxi_graph_list_data(hNode->edges, hNode->need_count, dependencies, edgeData, numDependencies);
    return r ? r : ptxi_graph_list(hNode->needs, hNode->need_count, dependencies, numDependencies);
}

/* ---- graphs in graphs */

ptxiResult ptxiGraphAddChildGraphNode(ptxiGraphNode *phGraphNode, ptxiGraph hGraph, const ptxiGraphNode *dependencies, size_t numDependencies,
                                      ptxiGraph childGraph)
{
    API_CALL;
    struct ptxi_work w;
    ptxiResult r = ptxi_graph_enter(hGraph);

    if (r || (r = ptxi_work_child(&w, childGraph)))
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

/* ---- copies of graphs */

static bool clone_node(struct ptxiGraph_st *g, const struct ptxiGraphNode_st *from)
{
    struct ptxiGraphNode_st *n = calloc(1, sizeof *n);

    if (!n || !ptxi_work_duplicate(&n->work, &from->work)) {
        free(n);
        return false;
    }
    n->id = atomic_fetch_add(&node_ids, 1) + 1;
    n->cloned_from = from->id;
    if (!append(g, n)) {
        ptxi_graph_free_node(n);
        return false;
    }
    return true;
}

static bool clone_needs(ptxiGraph g, const struct ptxiGraph_st *from)
{
    for (unsigned i = 0; i < from->count; i++)
        for (unsigned k = 0; k < from->nodes[i]->need_count; k++)
            if (!add_needs(g->nodes[i], &g->nodes[from->nodes[i]->needs[k]->index], &from->nodes[i]->edges[k], 1))
                return false;
    return true;
}

ptxiGraph ptxi_graph_copy(const struct ptxiGraph_st *from)
{
    ptxiGraph g = make_graph(from->ctx);
    bool ok = g;

    for (unsigned i = 0; ok && i < from->count; i++)
        ok = clone_node(g, from->nodes[i]);
    if (ok && clone_needs(g, from)) {
        g->owned = true;
        return g;
    }
    ptxi_graph_free(g);
    return NULL;
}

ptxiResult ptxiGraphClone(ptxiGraph *phGraphClone, ptxiGraph originalGraph)
{
    API_CALL;
    ptxiResult r = ptxi_graph_enter(originalGraph);

    if (r)
        return r;
    if (!phGraphClone)
        return PTXI_ERROR_INVALID_VALUE;
    ptxiGraph g = ptxi_graph_copy(originalGraph);

    if (!g || !ptxi_graph_publish(g)) {
        ptxi_graph_free(g);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    g->owned = false;
    *phGraphClone = g;
    return PTXI_SUCCESS;
}

ptxiGraphNode ptxi_graph_find_copy(const struct ptxiGraph_st *g, uint64_t id)
{
    ptxiGraphNode found = NULL;

    for (unsigned i = 0; i < g->count && !found; i++) {
        struct ptxiGraphNode_st *n = g->nodes[i];

        if (n->cloned_from == id)
            found = n;
        else if (n->work.type == PTXI_GRAPH_NODE_TYPE_GRAPH)
            found = ptxi_graph_find_copy(n->work.child, id);
        else if (n->work.type == PTXI_GRAPH_NODE_TYPE_CONDITIONAL)
            for (unsigned k = 0; k < n->work.branches.count && !found; k++)
                found = ptxi_graph_find_copy(n->work.branches.bodies[k], id);
    }
    return found;
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
