/* The cluster barrier. PTX ISA, "Parallel Synchronization and Communication Instructions: barrier.cluster". */
#ifndef PTXI_EXEC_SYNC_CLUSTER_BARRIER_H
#define PTXI_EXEC_SYNC_CLUSTER_BARRIER_H

#include "exec/engine/warp.h"

/* For handlers. Each returns what the handler must return. */
const struct ptxi_insn *ptxi_cluster_barrier_arrive(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_cluster_barrier_wait(struct ptxi_warp *w, const struct ptxi_insn *i);

/* These lanes have exited. The barrier no longer waits for them. */
void ptxi_cluster_barrier_exit(struct ptxi_warp *w, ptxi_lanes lanes);

#endif
