/* Between sched.c, which gives clusters to workers, and turns.c, which runs one. */
#ifndef PTXI_EXEC_SCHED_CLUSTER_SCHED_H
#define PTXI_EXEC_SCHED_CLUSTER_SCHED_H

#include "exec/engine/engine.h"

/* WAITS: it gave way since nothing in it could do more than wait for others. */
enum ptxi_cluster_status { PTXI_CLUSTER_FINISHED, PTXI_CLUSTER_GAVE_WAY, PTXI_CLUSTER_WAITS, PTXI_CLUSTER_FAILED };

/* Runs a cluster's warps in turn until all have ended, one has had its share, or the launch has failed. */
enum ptxi_cluster_status ptxi_cluster_run(struct ptxi_cta *lead, const struct ptxi_level *level);

/* Budget, deadline and interrupts. The warp is where the launch ends if it does. */
bool ptxi_within_limits(struct ptxi_warp *w);
uint64_t ptxi_monotonic_ns(void);

/* late.c: whether the load behind this store, if it is one, may be done before it. */
bool ptxi_store_may_wait(const struct ptxi_warp *w, const struct ptxi_insn *store);

static inline bool ptxi_grid_failed(const struct ptxi_grid *g)
{
    return atomic_load_explicit(&g->failed, memory_order_relaxed);
}

#endif
