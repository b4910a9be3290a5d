#include "api/graph/graph.h"

#include "api/graph/condition.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static _Atomic uint64_t node_ids;

bool ptxi_graph_is_node(const struct ptxiGraphNode_st *n)
{
    return ptxi_handle_is(n, PTXI_HANDLE_GRAPH_NODE);
}

void ptxi_graph_lock(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    ptxi_call_lock(&lock);
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

ptxiResult ptxi_graph_enter_node(ptxiGraphNode n)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r || !n)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    ptxi_graph_lock();
    return ptxi_graph_is_node(n) ? PTXI_SUCCESS : PTXI_ERROR_INVALID_HANDLE;
}

static ptxiGraph make_graph(ptxiContext ctx)
{
    ptxiGraph g = calloc(1, sizeof *g);

    if (g) {
        g->ctx = ctx;
        g->id = atomic_fetch_add(&node_ids, 1) + 1;
    }
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
        ok = ptxi_handle_add_part(&g->nodes[i]->handle, PTXI_HANDLE_GRAPH_NODE, &g->handle) &&
             publish_inner(&g->nodes[i]->work);
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

/* ---- graphs in nodes: of child nodes and conditional nodes */

static void free_branches(struct ptxi_branches *b)
{
    for (unsigned k = 0; k < b->count; k++)
        ptxi_graph_free(b->bodies[k]);
    free(b->bodies);
    ptxi_condition_unref(b->handle);
}

bool ptxi_graph_make_bodies(struct ptxi_branches *b, unsigned count, ptxiContext ctx, ptxiGraph const *from)
{
    b->bodies = calloc(count, sizeof(ptxiGraph));
    ptxi_condition_ref(b->handle);
    for (b->count = 0; b->bodies && b->count < count; b->count++) {
        ptxiGraph body = from ? ptxi_graph_copy(from[b->count]) : ptxi_graph_new(ctx);

        if (!body)
            break;
        body->owned = body->body = true;
        b->bodies[b->count] = body;
    }
    if (b->bodies && b->count == count)
        return true;
    free_branches(b);
    return false;
}

void ptxi_graph_work_free(struct ptxi_work *w)
{
    switch ((int)w->type) {
    case PTXI_GRAPH_NODE_TYPE_GRAPH: ptxi_graph_free(w->child); break;
    case PTXI_GRAPH_NODE_TYPE_CONDITIONAL: free_branches(&w->branches); break;
    default: ptxi_work_free_simple(w);
    }
}

bool ptxi_graph_work_duplicate(struct ptxi_work *to, const struct ptxi_work *from)
{
    switch ((int)from->type) {
    case PTXI_GRAPH_NODE_TYPE_GRAPH:
        *to = *from;
        to->child = ptxi_graph_copy(from->child);
        return to->child;
    case PTXI_GRAPH_NODE_TYPE_CONDITIONAL:
        *to = *from;
        return ptxi_graph_make_bodies(&to->branches, from->branches.count, NULL, from->branches.bodies);
    default:
        return ptxi_work_duplicate_simple(to, from);
    }
}

/* ---- freeing */

void ptxi_graph_free_node(struct ptxiGraphNode_st *n)
{
    ptxi_handle_remove(&n->handle);
    ptxi_graph_work_free(&n->work);
    free(n->needs);
    free(n->edges);
    free(n);
}

void ptxi_graph_free(ptxiGraph g)
{
    if (!g)
        return;
    ptxi_graph_lock(); /* the end of a call frees an executable graph without the lock */
    ptxi_handle_remove(&g->handle);
    for (unsigned i = 0; i < g->count; i++)
        ptxi_graph_free_node(g->nodes[i]);
    for (unsigned i = 0; i < g->condition_count; i++)
        ptxi_condition_unref(g->conditions[i]);
    ptxi_user_objects_free(&g->objects);
    free(g->conditions);
    free(g->nodes);
    free(g->plan);
    free(g);
}

/* ---- rules of graphs with memory */

bool ptxi_graph_has_memory(const struct ptxiGraph_st *g)
{
    bool has = false;

    for (unsigned i = 0; i < g->count && !has; i++) {
        const struct ptxi_work *w = &g->nodes[i]->work;

        has = ptxi_work_is_memory(w) || (w->type == PTXI_GRAPH_NODE_TYPE_GRAPH && ptxi_graph_has_memory(w->child));
    }
    return has;
}

static bool has_node(const struct ptxiGraph_st *g, ptxiGraphNodeType type, const struct ptxi_graph_memory *m)
{
    for (unsigned i = 0; i < g->count; i++)
        if (g->nodes[i]->work.type == type && g->nodes[i]->work.memory == m)
            return true;
    return false;
}

ptxiResult ptxi_graph_check_memory(const struct ptxiGraph_st *g, const struct ptxi_work *w)
{
    if (!ptxi_work_is_memory(w))
        return PTXI_SUCCESS;
    if (g->owned && !g->body)
        return PTXI_ERROR_NOT_SUPPORTED;
    if (w->type == PTXI_GRAPH_NODE_TYPE_MEM_ALLOC)
        return PTXI_SUCCESS;
    bool own = has_node(g, PTXI_GRAPH_NODE_TYPE_MEM_ALLOC, w->memory);

    if (has_node(g, PTXI_GRAPH_NODE_TYPE_MEM_FREE, w->memory) ||
        !ptxi_graph_memory_decide(w->memory, own ? PTXI_FREED_BY_OWN_GRAPH : PTXI_FREED_BY_OTHER_GRAPH))
        return PTXI_ERROR_INVALID_VALUE;
    return PTXI_SUCCESS;
}

/* ---- nodes */

static bool is_among(struct ptxiGraphNode_st *const *nodes, size_t count, const struct ptxiGraphNode_st *n)
{
    for (size_t i = 0; i < count; i++)
        if (nodes[i] == n)
            return true;
    return false;
}

bool ptxi_graph_add_needs(struct ptxiGraphNode_st *n, const ptxiGraphNode *nodes, const ptxiGraphEdgeData *edges,
                          size_t count)
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

ptxiResult ptxi_graph_add(ptxiGraphNode *out, ptxiGraph g, const ptxiGraphNode *needs, const ptxiGraphEdgeData *edges,
                          size_t count,
                          struct ptxi_work *w)
{
    ptxiResult r = out && (!count || needs) ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;

    for (size_t i = 0; !r && i < count; i++)
        if (!ptxi_graph_is_node(needs[i]) || needs[i]->graph != g || is_among(needs, i, needs[i]))
            r = PTXI_ERROR_INVALID_VALUE;
    r = r ? r : ptxi_graph_check_memory(g, w);
    struct ptxiGraphNode_st *n = r ? NULL : calloc(1, sizeof *n);

    if (!n) {
        ptxi_graph_work_free(w);
        return r ? r : PTXI_ERROR_OUT_OF_MEMORY;
    }
    n->id = atomic_fetch_add(&node_ids, 1) + 1;
    n->work = *w;
    if (!ptxi_graph_add_needs(n, needs, edges, count) || !append(g, n)) {
        ptxi_graph_free_node(n);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    *out = n;
    return PTXI_SUCCESS;
}

bool ptxi_graph_needs(const struct ptxiGraphNode_st *n, const struct ptxiGraphNode_st *before)
{
    return is_among(n->needs, n->need_count, before);
}

bool ptxi_graph_is_plain(const ptxiGraphEdgeData *data)
{
    return !data->type && !data->from_port && !data->to_port;
}

/* Programmatic edges connect kernels. They begin where the first kernel says so, or when all its blocks have begun. */
bool ptxi_graph_edge_ok(const ptxiGraphEdgeData *data, const struct ptxi_work *from, const struct ptxi_work *to)
{
    if (!data || ptxi_graph_is_plain(data))
        return true;
    return data->type == PTXI_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC && data->from_port &&
           data->from_port <= PTXI_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER && !data->to_port &&
           from->type == PTXI_GRAPH_NODE_TYPE_KERNEL &&
           (!to || to->type == PTXI_GRAPH_NODE_TYPE_KERNEL);
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

ptxiResult ptxi_graph_list_data(const ptxiGraphEdgeData *from, size_t count, const void *nodes,
                                ptxiGraphEdgeData *data, const size_t *room)
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

void ptxi_graph_forget(struct ptxiGraphNode_st *n, const struct ptxiGraphNode_st *before)
{
    unsigned left = 0;

    for (unsigned i = 0; i < n->need_count; i++)
        if (n->needs[i] != before) {
            n->edges[left] = n->edges[i];
            n->needs[left++] = n->needs[i];
        }
    n->need_count = left;
}

/* ---- copies */

static bool clone_node(struct ptxiGraph_st *g, const struct ptxiGraphNode_st *from)
{
    struct ptxiGraphNode_st *n = calloc(1, sizeof *n);

    if (!n || !ptxi_graph_work_duplicate(&n->work, &from->work)) {
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
    assert(g->count == from->count);
    for (unsigned i = 0; i < from->count; i++)
        for (unsigned k = 0; k < from->nodes[i]->need_count; k++)
            if (!ptxi_graph_add_needs(g->nodes[i], &g->nodes[from->nodes[i]->needs[k]->index],
                                      &from->nodes[i]->edges[k], 1))
                return false;
    return true;
}

ptxiGraph ptxi_graph_copy(const struct ptxiGraph_st *from)
{
    ptxiGraph g = make_graph(from->ctx);
    bool ok = g && ptxi_user_objects_copy(&g->objects, &from->objects);

    for (unsigned i = 0; ok && i < from->count; i++)
        ok = clone_node(g, from->nodes[i]);
    if (ok && clone_needs(g, from)) {
        g->owned = true;
        return g;
    }
    ptxi_graph_free(g);
    return NULL;
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

/* ---- changes of work */

ptxiResult ptxi_graph_work_replace(struct ptxi_work *old, struct ptxi_work *w)
{
    if (old->type != w->type) {
        ptxi_graph_work_free(w);
        return PTXI_ERROR_INVALID_VALUE;
    }
    ptxi_graph_work_free(old);
    *old = *w;
    return PTXI_SUCCESS;
}

ptxiResult ptxi_graph_work_change(struct ptxi_work *old, struct ptxi_work *w)
{
    if (old->type == PTXI_GRAPH_NODE_TYPE_KERNEL && w->type == old->type)
        w->attributes = old->attributes;
    return ptxi_graph_work_replace(old, w);
}

/* True if the graph is in a node of the other one, at any depth. */
static bool contains(const struct ptxiGraph_st *g, const struct ptxiGraph_st *inner)
{
    bool found = g == inner;

    for (unsigned i = 0; i < g->count && !found; i++) {
        const struct ptxi_work *w = &g->nodes[i]->work;

        if (w->type == PTXI_GRAPH_NODE_TYPE_GRAPH)
            found = contains(w->child, inner);
        for (unsigned k = 0; w->type == PTXI_GRAPH_NODE_TYPE_CONDITIONAL && k < w->branches.count && !found; k++)
            found = contains(w->branches.bodies[k], inner);
    }
    return found;
}

ptxiResult ptxi_graph_work_child(struct ptxi_work *w, const PTXI_CHILD_GRAPH_NODE_PARAMS *p)
{
    ptxiResult r = ptxi_graph_enter(p->graph);

    if (r)
        return r;
    if (p->ownership != PTXI_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE)
        return PTXI_ERROR_INVALID_VALUE;
    if (ptxi_graph_has_memory(p->graph))
        return PTXI_ERROR_NOT_SUPPORTED;
    *w = (struct ptxi_work){ .type = PTXI_GRAPH_NODE_TYPE_GRAPH, .child = ptxi_graph_copy(p->graph) };
    if (w->child && ptxi_graph_publish(w->child))
        return PTXI_SUCCESS;
    ptxi_graph_free(w->child);
    return PTXI_ERROR_OUT_OF_MEMORY;
}

ptxiResult ptxi_graph_check_move(ptxiGraph child, const struct ptxiGraph_st *parent)
{
    ptxiResult r = ptxi_graph_enter(child);

    if (!r && (child->owned || child->captured || child->instances || contains(child, parent)))
        return PTXI_ERROR_INVALID_VALUE;
    return r;
}
