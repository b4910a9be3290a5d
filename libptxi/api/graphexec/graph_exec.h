/* Executable graphs: a copy of a graph, and the order in which its nodes are submitted. */
#ifndef PTXI_API_GRAPHEXEC_GRAPH_EXEC_H
#define PTXI_API_GRAPHEXEC_GRAPH_EXEC_H

#include "api/graphexec/device_graph.h"

struct ptxiGraphExec_st {
    struct ptxi_handle handle;
    pthread_mutex_t lock; /* a launch holds it to its end, so that no other call changes the nodes */
    ptxiGraph graph;
    unsigned long long flags;
    ptxiGraph source; /* it was made from this graph, which may have been destroyed, and which had this id: */
    uint64_t source_id;
    struct ptxiStream_st *last_stream; /* of the last launch, a reference; the launch ends with this item: */
    uint64_t last_seq;
    struct ptxi_device_graph *device;  /* what kernels launch: a reference; NULL: not uploaded */
    unsigned count;
    ptxiGraphNode steps[]; /* in the order of submission, with the nodes of children */
};

/* Finds the executable graph and locks it until the call returns. */
ptxiResult ptxi_graph_exec_enter(ptxiGraphExec x);

/* The same, and finds the copy of a node of the original graph. */
ptxiResult ptxi_graph_exec_node(ptxiGraphExec x, ptxiGraphNode n, ptxiGraphNode *own);

/* Makes the present work of the nodes known to kernels. */
ptxiResult ptxi_graph_exec_upload(ptxiGraphExec x);

/* Finds what was uploaded. The caller gets a reference. NULL: no such graph, or nothing was uploaded. */
struct ptxi_device_graph *ptxi_graph_exec_uploaded(ptxiGraphExec x);

/* Sets the order of a body's nodes, unless it is set. */
ptxiResult ptxi_graph_exec_plan_body(ptxiGraph body);

#endif
