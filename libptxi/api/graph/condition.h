/* Conditions of graphs: values that kernels set with cudaGraphSetConditional(). */
#ifndef PTXI_API_GRAPH_CONDITION_H
#define PTXI_API_GRAPH_CONDITION_H

#include "ptxi.h"

#include <stdbool.h>

/* Creates a condition with one reference. 0: there are too many. */
ptxiGraphConditionalHandle ptxi_condition_create(unsigned initial, bool assign_at_launch);

/* Its graph, and the conditional nodes of that graph and of copies, refer to a condition. */
void ptxi_condition_ref(ptxiGraphConditionalHandle handle);
void ptxi_condition_unref(ptxiGraphConditionalHandle handle);
bool ptxi_condition_is(ptxiGraphConditionalHandle handle);

void ptxi_condition_set(ptxiGraphConditionalHandle handle, unsigned value); /* ignores an invalid handle */
unsigned ptxi_condition_get(ptxiGraphConditionalHandle handle);
void ptxi_condition_begin_launch(ptxiGraphConditionalHandle handle);

#endif
