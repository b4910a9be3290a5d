/* The cluster scheduler: which warp of a cluster runs, and for how long, in each of the schedules: in order, fair,
 * random. */
#ifndef PTXI_EXEC_SCHED_CLUSTER_SCHED_H
#define PTXI_EXEC_SCHED_CLUSTER_SCHED_H

#include "exec/engine/cta.h"
#include "exec/engine/dispatch.h"

enum ptxi_cluster_status {
    PTXI_CLUSTER_FINISHED,
    PTXI_CLUSTER_YIELDED, /* a warp has used its share: another cluster must run */
    PTXI_CLUSTER_WAITS,   /* all warps that can run only wait for other clusters */
    PTXI_CLUSTER_FAILED   /* the launch has failed */
};

/* Runs the warps of a cluster until they have ended, one has used its share, or the launch has failed. */
enum ptxi_cluster_status ptxi_cluster_run(struct ptxi_cta *lead, const struct ptxi_level *level);

/* The level for ptxi_cluster_run_started(). NULL: the clusters of the grid need ptxi_cluster_run(). */
const struct ptxi_level *ptxi_cluster_level(const struct ptxi_grid *g, const struct ptxi_level *level);
/* Does what ptxi_cluster_run() does, for a cluster of one CTA that has just started. Most end without any event that
 * the schedulers have to handle. */
enum ptxi_cluster_status ptxi_cluster_run_started(struct ptxi_cta *c, const struct ptxi_level *level);

#endif
