/* CTA contexts: the frames, shared memory and .local memory in which a worker runs one CTA of a launch after another.
 */
#ifndef PTXI_EXEC_SCHED_CTA_CONTEXT_H
#define PTXI_EXEC_SCHED_CTA_CONTEXT_H

#include "exec/engine/cta.h"
#include "exec/engine/dispatch.h"

/* Prepares a context for the CTAs of a grid with this rank in their cluster. False: memory is short. */
bool ptxi_cta_context_prepare(struct ptxi_cta *c, struct ptxi_grid *g, uint32_t rank, const struct ptxi_level *level);
/* Starts the n-th cluster of the grid in the contexts of `lead` and its members. */
void ptxi_cta_context_start_cluster(struct ptxi_cta *lead, uint64_t n);
void ptxi_cta_context_free(struct ptxi_cta *c);

#endif
