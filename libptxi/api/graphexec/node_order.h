/* Which nodes of a graph happen before others. Nodes are submitted to one stream, but only paths of the graph order
 * them. Checks of races need to know (exec/check/task.h). */
#ifndef PTXI_API_GRAPHEXEC_NODE_ORDER_H
#define PTXI_API_GRAPHEXEC_NODE_ORDER_H

#include "api/graphexec/graph_exec.h"

struct ptxi_node_order;

/* NULL: no launches are checked for races, memory is short, or there are very many nodes. Then each node counts as
 * ordered with all others. */
struct ptxi_node_order *ptxi_node_order_create(const struct ptxiGraphExec_st *x);
void ptxi_node_order_free(struct ptxi_node_order *o);

/* The step is submitted between these calls. `submitted`: the number of items that the stream has been given. */
void ptxi_node_order_begin(struct ptxi_node_order *o, unsigned step, uint64_t submitted);
void ptxi_node_order_end(struct ptxi_node_order *o, unsigned step, uint64_t submitted);
/* The program has waited for all steps so far. */
void ptxi_node_order_wait(struct ptxi_node_order *o, unsigned step);

#endif
