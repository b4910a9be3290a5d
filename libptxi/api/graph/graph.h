/* Graphs: nodes and the order between them. work.h describes what nodes do, capture.h how streams make nodes. */
#ifndef PTXI_API_GRAPH_GRAPH_H
#define PTXI_API_GRAPH_GRAPH_H

#include "api/graph/user_object.h"
#include "api/graph/work.h"

struct ptxiGraphNode_st {
    struct ptxi_handle handle;
    struct ptxiGraph_st *graph;
    uint64_t id, cloned_from; /* unique; cloned_from: id of the original, or 0 */
    unsigned index;           /* in the graph */
    bool off;                 /* disabled, in an executable graph */
    struct ptxi_work work;
    struct ptxiGraphNode_st **needs; /* nodes that must end before this one */
    ptxiGraphEdgeData *edges;        /* data of each edge */
    unsigned need_count;
};

struct ptxiGraph_st {
    /* Belongs to no context, since a graph may live longer. Its references are unused, because calls hold the lock. */
    struct ptxi_handle handle;
    ptxiContext ctx;
    struct ptxiGraphNode_st **nodes;
    unsigned count;
    uint64_t id;        /* unique */
    unsigned instances; /* executable graphs made from it */
    struct ptxi_user_objects objects;
    bool owned;    /* by a node or an executable graph */
    bool moved;    /* owned, and made by the program: it cannot be instantiated */
    bool body;     /* owned, of a conditional node */
    bool captured; /* its capture has not ended */
    ptxiGraphExec plan; /* order of the nodes of a conditional node's body, or NULL */
    ptxiGraphConditionalHandle *conditions;
    unsigned condition_count;
};

/* Locks all graphs, nodes and captures until the current call returns. */
void ptxi_graph_lock(void);

/* The begin of calls that name a graph or a node: takes the lock and checks the handle. */
ptxiResult ptxi_graph_enter(ptxiGraph g);
ptxiResult ptxi_graph_enter_node(ptxiGraphNode n);

/* Adds a node. Takes ownership of w, even on failure. */
ptxiResult ptxi_graph_add(ptxiGraphNode *out, ptxiGraph g, const ptxiGraphNode *needs, const ptxiGraphEdgeData *edges,
                          size_t count, struct ptxi_work *w);

ptxiGraph ptxi_graph_new(ptxiContext ctx); /* NULL: no memory */

/* Copies a graph with its children. The copy is owned and has no handles, as executable graphs need it. NULL: no
 * memory. */
ptxiGraph ptxi_graph_copy(const struct ptxiGraph_st *from);

/* Gives handles to a copy, its nodes and the graphs in it. False: no memory, free the copy. */
bool ptxi_graph_publish(ptxiGraph g);
void ptxi_graph_free(ptxiGraph g);

/* Finds the copy of the node with that id, also in children. NULL if there is none. */
ptxiGraphNode ptxi_graph_find_copy(const struct ptxiGraph_st *g, uint64_t id);

/* Returns nodes to the program as the driver does. Without an array it returns only the number. Extra entries of the
 * array become NULL. */
ptxiResult ptxi_graph_list(struct ptxiGraphNode_st *const *from, size_t count, ptxiGraphNode *nodes, size_t *room);

/* Returns the data of their edges in the same way. Without an array all edges must be plain. */
ptxiResult ptxi_graph_list_data(const ptxiGraphEdgeData *from, size_t count, const void *nodes,
                                ptxiGraphEdgeData *data, const size_t *room);

/* True if there is such an edge. */
bool ptxi_graph_needs(const struct ptxiGraphNode_st *n, const struct ptxiGraphNode_st *before);

/* Removes the edge, if there is one. */
void ptxi_graph_forget(struct ptxiGraphNode_st *n, const struct ptxiGraphNode_st *before);

bool ptxi_graph_is_plain(const ptxiGraphEdgeData *data); /* an ordinary edge, from the end of a node */

/* True if such an edge is valid. `data` may be NULL: a plain edge; `to` may be NULL: a node that does not exist yet. */
bool ptxi_graph_edge_ok(const ptxiGraphEdgeData *data, const struct ptxi_work *from, const struct ptxi_work *to);

void ptxi_graph_free_node(struct ptxiGraphNode_st *n);
bool ptxi_graph_is_node(const struct ptxiGraphNode_st *n); /* it is listed in the table of handles */

/* Appends `count` nodes to those that end before n. `edges` NULL: plain edges. False: no memory. */
bool ptxi_graph_add_needs(struct ptxiGraphNode_st *n, const ptxiGraphNode *nodes, const ptxiGraphEdgeData *edges,
                          size_t count);

/* Work of any type. The copy fails if there is no memory, and leaves nothing to free. */
void ptxi_graph_work_free(struct ptxi_work *w);
bool ptxi_graph_work_duplicate(struct ptxi_work *to, const struct ptxi_work *from);

/* Replaces work by other work of the same type. Takes ownership of w. */
ptxiResult ptxi_graph_work_replace(struct ptxi_work *old, struct ptxi_work *w);

/* The same, but the attributes of a kernel stay. */
ptxiResult ptxi_graph_work_change(struct ptxi_work *old, struct ptxi_work *w);

/* Makes work of a copy of the graph. */
ptxiResult ptxi_graph_work_child(struct ptxi_work *w, const PTXI_CHILD_GRAPH_NODE_PARAMS *p);

/* Checks that a node of the other graph may take over the graph itself. */
ptxiResult ptxi_graph_check_move(ptxiGraph child, const struct ptxiGraph_st *parent);

/* Makes `count` bodies: copies of `from`, or empty graphs if that is NULL. False: no memory, and nothing to free. */
bool ptxi_graph_make_bodies(struct ptxi_branches *b, unsigned count, ptxiContext ctx, ptxiGraph const *from);

/* Whether nodes of the graph or of its children allocate or free memory, and whether the graph may
 * get such work. */
bool ptxi_graph_has_memory(const struct ptxiGraph_st *g);
ptxiResult ptxi_graph_check_memory(const struct ptxiGraph_st *g, const struct ptxi_work *w);

/* graph_memory_node.c: makes work for calls that require a context in the parameters. */
ptxiResult ptxi_graph_make_operations(struct ptxi_work *w, const PTXI_BATCH_MEM_OP_NODE_PARAMS *p);

/* graph_node.c: gives a node other work of its type. */
ptxiResult ptxi_graph_set_params(ptxiGraphNode n, ptxiGraphNodeParams *p);

#endif
