/* Where a CTA runs. */
#ifndef PTXI_EXEC_SCHED_CTA_CONTEXT_H
#define PTXI_EXEC_SCHED_CTA_CONTEXT_H

#include "exec/engine/engine.h"

/* Makes a place fit for CTAs of a grid that have this rank in their cluster. False: no memory. */
bool ptxi_place_prepare(struct ptxi_cta *c, struct ptxi_grid *g, uint32_t rank, const struct ptxi_level *level);
/* Puts the CTAs of the cluster that begins as the n-th one into the places that `lead` leads. */
void ptxi_place_start(struct ptxi_cta *lead, uint64_t n);
/* Which CTA would be the first of that cluster. */
void ptxi_place_first(const struct ptxi_grid *g, uint64_t n, uint32_t first_cta[3]);
void ptxi_place_free(struct ptxi_cta *c);

#endif
