#include "api/graphexec/node_order.h"

#include "api/queue/queue.h"
#include "exec/check/task.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STEPS = 2048 };

struct ptxi_node_order {
    const struct ptxiGraphExec_st *graph;
    unsigned first; /* earlier steps happen before all later ones */
    struct {
        uint64_t first, last;
    } items[MAX_STEPS];               /* of each step */
    struct ptxi_unordered *unordered; /* of the current step */
    size_t row;                       /* bytes of a set of steps */
    unsigned char before[];           /* for each step, the steps that happen before it */
};

static unsigned char *steps_before(struct ptxi_node_order *o, unsigned step)
{
    return o->before + step * o->row;
}

static bool has(const unsigned char *set, unsigned step)
{
    return set[step / 8] >> step % 8 & 1;
}

static void add(struct ptxi_node_order *o, unsigned char *set, const unsigned char *other)
{
    for (size_t k = 0; k < o->row; k++)
        set[k] |= other[k];
}

/* The node that has the graph as its child. NULL: the graph is no child. */
static ptxiGraphNode node_of_child(const struct ptxiGraph_st *in, const struct ptxiGraph_st *child)
{
    ptxiGraphNode found = NULL;

    for (unsigned k = 0; k < in->count && !found; k++) {
        if (in->nodes[k]->work.type != PTXI_GRAPH_NODE_TYPE_GRAPH)
            continue;
        found = in->nodes[k]->work.child == child ? in->nodes[k] : node_of_child(in->nodes[k]->work.child, child);
    }
    return found;
}

static bool is_inside(const struct ptxiGraph_st *root, ptxiGraphNode n, const struct ptxiGraphNode_st *of)
{
    for (ptxiGraphNode at = n; at; at = node_of_child(root, at->graph))
        if (at == of)
            return true;
    return false;
}

/* Adds the steps of a node, which may have a child, and what happens before them. */
static void add_node(struct ptxi_node_order *o, unsigned char *set, const struct ptxiGraphNode_st *n, unsigned end)
{
    bool child = n->work.type == PTXI_GRAPH_NODE_TYPE_GRAPH;

    for (unsigned k = 0; k < end; k++) {
        ptxiGraphNode step = o->graph->steps[k];

        if (step != n && !(child && is_inside(o->graph->graph, step, n)))
            continue;
        set[k / 8] |= (unsigned char)(1 << k % 8);
        add(o, set, steps_before(o, k));
    }
}

static void add_needs(struct ptxi_node_order *o, unsigned char *set, const struct ptxiGraphNode_st *n, unsigned end)
{
    for (unsigned k = 0; k < n->need_count; k++)
        add_node(o, set, n->needs[k], end);
}

struct ptxi_node_order *ptxi_node_order_create(const struct ptxiGraphExec_st *x)
{
    size_t row = (x->count + 7) / 8;
    struct ptxi_node_order *o;

    if (!atomic_load_explicit(&ptxi_tasks_have_order, memory_order_relaxed) || x->count > MAX_STEPS)
        return NULL;
    o = calloc(1, sizeof *o + x->count * row);
    if (!o)
        return NULL;
    o->unordered = malloc(sizeof *o->unordered + x->count * sizeof o->unordered->tasks[0]);
    if (!o->unordered) {
        free(o);
        return NULL;
    }
    o->graph = x;
    o->row = row;
    for (unsigned k = 0; k < x->count; k++)
        for (ptxiGraphNode n = x->steps[k]; n; n = node_of_child(x->graph, n->graph))
            add_needs(o, steps_before(o, k), n, k);
    return o;
}

void ptxi_node_order_free(struct ptxi_node_order *o)
{
    if (!o)
        return;
    free(o->unordered);
    free(o);
}

void ptxi_node_order_begin(struct ptxi_node_order *o, unsigned step, uint64_t submitted)
{
    struct ptxi_unordered *u;

    if (!o)
        return;
    u = o->unordered;
    u->count = 0;
    for (unsigned k = o->first; k < step; k++)
        if (o->items[k].first <= o->items[k].last && !has(steps_before(o, step), k)) {
            u->tasks[u->count].first = o->items[k].first;
            u->tasks[u->count++].last = o->items[k].last;
        }
    o->items[step].first = submitted + 1;
    ptxi_queue_set_unordered(u->count ? u : NULL);
}

void ptxi_node_order_end(struct ptxi_node_order *o, unsigned step, uint64_t submitted)
{
    if (!o)
        return;
    o->items[step].last = submitted;
    ptxi_queue_set_unordered(NULL);
}

void ptxi_node_order_wait(struct ptxi_node_order *o, unsigned step)
{
    if (o)
        o->first = step + 1;
}
