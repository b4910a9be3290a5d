/* Launch graphs: nodes with the order between them (graph.c, graph_edge.c), what they do (graph_work.c, graph_node.c), choices and loops
 * (graph_condition.c),
 * instances (graph_exec.c), and streams whose work becomes nodes (capture.c). */
#ifndef PTXI_API_GRAPH_GRAPH_H
#define PTXI_API_GRAPH_GRAPH_H

#include "api/graph/graph_condition.h"
#include "api/launch/launch.h"

/* Attributes of a kernel's node. */
struct ptxi_node_attributes {
    unsigned cluster[3]; /* 0: none asked for */
    bool cooperative;
    ptxiLaunchAttributeValue kept[6]; /* those without effect, see graph_node.c */
};

/* What a node does. */
struct ptxi_work {
    ptxiGraphNodeType type;
    union {
        struct {
            PTXI_KERNEL_NODE_PARAMS kernel; /* kernelParams and extra NULL: */
            unsigned char *params;          /* `bytes` of them, malloc'ed */
            void **pointers;                /* to each of `count`; likewise */
            size_t bytes;
            unsigned count;
            struct ptxi_node_attributes attributes;
        };
        PTXI_MEMCPY3D copy;
        PTXI_MEMSET_NODE_PARAMS set;
        PTXI_HOST_NODE_PARAMS host;
        ptxiGraph child;                    /* the node's own */
        ptxiEvent event;                    /* a reference */
        struct ptxi_branches branches;
    };
};

struct ptxiGraphNode_st {
    struct ptxi_handle handle;
    struct ptxiGraph_st *graph;
    uint64_t id, cloned_from; /* never used again; 0: of no clone */
    unsigned index;           /* in the graph */
    bool off;                 /* of an instance: it is passed by */
    struct ptxi_work work;
    struct ptxiGraphNode_st **needs; /* nodes that end before */
    ptxiGraphEdgeData *edges;        /* of each of them */
    unsigned need_count;
};

struct ptxiGraph_st {
    struct ptxi_handle handle; /* of no context: a graph may live longer. Not counted: calls on graphs have the lock */
    ptxiContext ctx;
    struct ptxiGraphNode_st **nodes;
    unsigned count;
    bool owned;    /* by a node or an instance */
    bool captured; /* its capture has not ended */
    ptxiGraphExec plan; /* of the body of a conditional node, when an instance has given it one */
    ptxiGraphConditionalHandle *conditions;
    unsigned condition_count;
};

/* graph_work.c. Those that make work read all of the parameters; it is to be freed, or handed to ptxi_graph_add. */
ptxiResult ptxi_work_kernel(struct ptxi_work *w, const PTXI_KERNEL_NODE_PARAMS *p);
ptxiResult ptxi_work_copy(struct ptxi_work *w, const PTXI_MEMCPY3D *p);
ptxiResult ptxi_work_set(struct ptxi_work *w, const PTXI_MEMSET_NODE_PARAMS *p);
ptxiResult ptxi_work_host(struct ptxi_work *w, const PTXI_HOST_NODE_PARAMS *p);
ptxiResult ptxi_work_event(struct ptxi_work *w, ptxiGraphNodeType type, ptxiEvent e);
ptxiResult ptxi_work_child(struct ptxi_work *w, ptxiGraph child);
ptxiResult ptxi_work_make(struct ptxi_work *w, ptxiContext ctx, ptxiGraphNodeParams *p); /* of any type */
void ptxi_work_free(struct ptxi_work *w);
bool ptxi_work_duplicate(struct ptxi_work *to, const struct ptxi_work *from); /* false: no memory, and nothing to free */
ptxiResult ptxi_work_replace(struct ptxi_work *old, struct ptxi_work *w);     /* of the same kind; takes w over */
ptxiResult ptxi_work_change(struct ptxi_work *old, struct ptxi_work *w);      /* likewise; attributes of kernels stay */
ptxiResult ptxi_work_submit(struct ptxi_work *w, ptxiStream s);               /* anything but a child or a choice among bodies */

/* graph.c */

/* Graphs, their nodes and captures are read and changed by one call at a time. Keeps the lock until the call returns. */
void ptxi_graph_lock(void);

/* What calls that name a graph or a node begin with: the lock, and whether there is such a one. */
ptxiResult ptxi_graph_enter(ptxiGraph g);
ptxiResult ptxi_graph_enter_node(ptxiGraphNode n);
ptxiResult ptxi_graph_add(ptxiGraphNode *out, ptxiGraph g, const ptxiGraphNode *needs, const ptxiGraphEdgeData *edges, size_t count,
                          struct ptxi_work *w); /* takes w over */
ptxiGraph ptxi_graph_new(ptxiContext ctx); /* NULL: no memory */
/* A copy with its children, owned, and without handles: an instance's is nobody else's. NULL: no memory. */
ptxiGraph ptxi_graph_copy(const struct ptxiGraph_st *from);
bool ptxi_graph_publish(ptxiGraph g); /* gives handles to a copy, its nodes and the graphs in it; false: no memory, and to be freed */
void ptxi_graph_free(ptxiGraph g);
/* The node that was made of the one with that id, also in children; or NULL. */
ptxiGraphNode ptxi_graph_find_copy(const struct ptxiGraph_st *g, uint64_t id);


/* Gives out nodes as the driver does: without an array the number alone; places beyond the number become NULL. */
ptxiResult ptxi_graph_list(struct ptxiGraphNode_st *const *from, size_t count, ptxiGraphNode *nodes, size_t *room);
/* Likewise what is known of the edges to them; who has no room for that is told of ordinary edges only. */
ptxiResult ptxi_graph_list_data(const ptxiGraphEdgeData *from, size_t count, const void *nodes, ptxiGraphEdgeData *data, const size_t *room);
bool ptxi_graph_needs(const struct ptxiGraphNode_st *n, const struct ptxiGraphNode_st *before); /* there is an edge */
void ptxi_graph_forget(struct ptxiGraphNode_st *n, const struct ptxiGraphNode_st *before); /* the edge, if there is one */
bool ptxi_graph_is_plain(const ptxiGraphEdgeData *data); /* from the end of a node */
bool ptxi_graph_edge_ok(const ptxiGraphEdgeData *data, const struct ptxi_work *from, const struct ptxi_work *to); /* NULL is */
void ptxi_graph_free_node(struct ptxiGraphNode_st *n);

/* graph_exec.c: the instance's copy of a node */
ptxiResult ptxi_graph_exec_node(ptxiGraphExec x, ptxiGraphNode n, ptxiGraphNode *own);

#endif
