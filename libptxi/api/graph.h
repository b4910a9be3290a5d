/* Launch graphs: nodes with the order between them (graph.c), what they do (graph_work.c), choices and loops (graph_condition.c),
 * instances (graph_exec.c), and streams whose work becomes nodes (capture.c). */
#ifndef PTXI_API_GRAPH_H
#define PTXI_API_GRAPH_H

#include "api/graph_condition.h"
#include "api/launch.h"

/* What a node does. */
struct ptxi_work {
    ptxiGraphNodeType type;
    union {
        struct {
            PTXI_KERNEL_NODE_PARAMS kernel; /* kernelParams and extra NULL: */
            unsigned char *params;          /* `bytes` of them, malloc'ed */
            size_t bytes;
            unsigned cluster[3];            /* 0: none asked for */
            bool cooperative;
        };
        PTXI_MEMCPY3D copy;
        PTXI_MEMSET_NODE_PARAMS set;
        PTXI_HOST_NODE_PARAMS host;
        ptxiGraph child;                    /* the node's own */
        struct ptxi_branches branches;
    };
};

struct ptxiGraphNode_st {
    uint32_t magic;
    struct ptxiGraph_st *graph;
    uint64_t id, cloned_from; /* never used again; 0: of no clone */
    unsigned index;           /* in the graph */
    struct ptxi_work work;
    struct ptxiGraphNode_st **needs; /* nodes that end before */
    unsigned need_count;
};

struct ptxiGraph_st {
    uint32_t magic;
    ptxiContext ctx;
    struct ptxiGraphNode_st **nodes;
    unsigned count;
    bool owned; /* by a node or an instance */
    ptxiGraphExec plan; /* of the body of a conditional node, when an instance has given it one */
    ptxiGraphConditionalHandle *conditions;
    unsigned condition_count;
};

/* graph_work.c. Those that make work read all of the parameters; it is to be freed, or handed to ptxi_graph_add. */
ptxiResult ptxi_work_kernel(struct ptxi_work *w, const PTXI_KERNEL_NODE_PARAMS *p);
ptxiResult ptxi_work_copy(struct ptxi_work *w, const PTXI_MEMCPY3D *p);
ptxiResult ptxi_work_set(struct ptxi_work *w, const PTXI_MEMSET_NODE_PARAMS *p);
ptxiResult ptxi_work_host(struct ptxi_work *w, const PTXI_HOST_NODE_PARAMS *p);
void ptxi_work_free(struct ptxi_work *w);
bool ptxi_work_duplicate(struct ptxi_work *to, const struct ptxi_work *from); /* false: no memory, and nothing to free */
ptxiResult ptxi_work_replace(struct ptxi_work *old, struct ptxi_work *w);     /* of the same kind; takes w over */
ptxiResult ptxi_work_submit(struct ptxi_work *w, ptxiStream s);               /* anything but a child or a choice among bodies */

/* graph.c */
ptxiResult ptxi_graph_enter(ptxiGraph g);
ptxiResult ptxi_graph_enter_node(ptxiGraphNode n);
ptxiResult ptxi_graph_add(ptxiGraphNode *out, ptxiGraph g, const ptxiGraphNode *needs, size_t count, struct ptxi_work *w); /* takes w over */
ptxiGraph ptxi_graph_new(ptxiContext ctx); /* NULL: no memory */
ptxiGraph ptxi_graph_copy(const struct ptxiGraph_st *from); /* with children, and owned; NULL: no memory */
void ptxi_graph_free(ptxiGraph g);
/* The node that was made of the one with that id, also in children; or NULL. */
ptxiGraphNode ptxi_graph_find_copy(const struct ptxiGraph_st *g, uint64_t id);

#endif
