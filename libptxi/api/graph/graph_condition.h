/* Conditions of graphs, and the conditional nodes that they rule. */
#ifndef PTXI_API_GRAPH_GRAPH_CONDITION_H
#define PTXI_API_GRAPH_GRAPH_CONDITION_H

#include "ptxi.h"

#include <stdbool.h>

enum { PTXI_MOST_BODIES = 1 << 16 };

/* What a conditional node does. */
struct ptxi_branches {
    ptxiGraphConditionalHandle handle;
    ptxiGraphConditionalNodeType kind;
    unsigned count;
    ptxiGraph *bodies; /* the node's own */
};

struct ptxi_work;
ptxiResult ptxi_work_condition(struct ptxi_work *w, ptxiContext ctx, PTXI_CONDITIONAL_NODE_PARAMS *p); /* gives out the bodies */
bool ptxi_condition_set(ptxiGraphConditionalHandle handle, unsigned value); /* false: there is none */
void ptxi_condition_let_go(ptxiGraphConditionalHandle handle);              /* by its graph */
void ptxi_condition_free(struct ptxi_branches *b);
bool ptxi_condition_duplicate(struct ptxi_branches *to, const struct ptxi_branches *from); /* false: no memory */
void ptxi_condition_begin(const struct ptxi_branches *b);                   /* of a launch */
/* Waits for what the stream has been given, and runs what the condition then says. */
ptxiResult ptxi_condition_run(const struct ptxi_branches *b, ptxiStream s, ptxiResult (*run)(ptxiGraph body, ptxiStream s));

#endif
