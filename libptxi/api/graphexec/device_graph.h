/* The form of executable graphs that kernels launch (CUDA C++ Programming Guide, "Device Graph Launch"): a copy of the
 * work of their nodes, which kernels use without the lock of the executable graph. */
#ifndef PTXI_API_GRAPHEXEC_DEVICE_GRAPH_H
#define PTXI_API_GRAPHEXEC_DEVICE_GRAPH_H

#include "api/graph/graph.h"
#include "api/launch/launch.h"

struct ptxi_device_graph;

/* Checks that kernels can launch the work of these nodes. *at becomes a node that they cannot launch, or NULL. */
ptxiResult ptxi_device_graph_check(ptxiGraphNode const *steps, unsigned count, ptxiGraphNode *at);

/* Makes the copy, in the order of the nodes. The caller owns a reference. */
ptxiResult ptxi_device_graph_create(struct ptxi_device_graph **graph, ptxiGraphNode const *steps, unsigned count);
void ptxi_device_graph_ref(struct ptxi_device_graph *g);
void ptxi_device_graph_unref(struct ptxi_device_graph *g); /* NULL does nothing */

/* True if there are such graphs. */
bool ptxi_device_graphs_exist(void);

/* Launches a graph from a kernel of a graph: after the kernel, or after the run of the kernel's graph for a tail
 * launch. `handle` is the value of %current_graph_exec. PTXI_ERROR_INVALID_VALUE: the graph has been launched and has
 * not begun, or it runs and this is no tail launch. */
ptxiResult ptxi_device_graph_launch(struct ptxi_launch *by, const struct ptxi_call_site *site,
                                    struct ptxi_device_graph *g, uint64_t handle, bool tail);

#endif
