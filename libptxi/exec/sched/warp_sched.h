/* Runs one warp until it waits, exits, or has used its share of instructions. */
#ifndef PTXI_EXEC_SCHED_WARP_SCHED_H
#define PTXI_EXEC_SCHED_WARP_SCHED_H

#include "exec/engine/divergence.h"

enum ptxi_warp_status {
    PTXI_WARP_RUNS,    /* it can continue at once; not returned by ptxi_warp_schedule() */
    PTXI_WARP_STOPPED, /* it waits, has exited, or its time slice is over */
    PTXI_WARP_YIELDED, /* it only spins: other warps and clusters must run */
    PTXI_WARP_USED_UP, /* it has used its share of quanta */
    PTXI_WARP_FAILED   /* the launch has failed */
};

/* *w: see ptxi_warp_run(). */
enum ptxi_warp_status ptxi_warp_schedule(struct ptxi_warp **w, const struct ptxi_level *level);
/* The same for a warp that has left the dispatch loop. */
enum ptxi_warp_status ptxi_warp_schedule_on(struct ptxi_warp **w, const struct ptxi_level *level);

#endif
