/* The queue of a cluster's bulk operations: cp.async.bulk, cp.reduce.async.bulk, their tensor forms, st.async,
 * red.async and clusterlaunchcontrol.try_cancel. Each thread's operation is a job. A job belongs to a bulk
 * async-group of its thread, or an mbarrier tracks it (async.h). Jobs have no order among each other. */
#ifndef PTXI_EXEC_ASYNC_BULK_QUEUE_H
#define PTXI_EXEC_ASYNC_BULK_QUEUE_H

#include "exec/async/bulk_job.h"

/* Appends a copy of a job to the queue. False: out of memory, a fault. */
bool ptxi_bulk_submit(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_bulk_job *job);

/* Ends the current bulk async-group of the active lanes. */
void ptxi_bulk_commit(struct ptxi_warp *w);
/* Completes all but the last n groups of each active lane. If `read_only` and the schedule is random, their sources
 * are only read. */
void ptxi_bulk_wait(struct ptxi_warp *w, uint32_t n, bool read_only);

/* Completes the jobs that mbarriers track. False: there were none. */
bool ptxi_bulk_complete_tracked(struct ptxi_cta *lead);
/* Completes one random job, of those that mbarriers track or of all. False: there was none. */
bool ptxi_bulk_complete_random(struct ptxi_cta *lead, bool tracked);
void ptxi_bulk_complete_all(struct ptxi_cta *lead);
/* Removes all jobs without performing them. */
void ptxi_bulk_drop(struct ptxi_cta *lead);
void ptxi_bulk_free(struct ptxi_cta *lead);

#endif
