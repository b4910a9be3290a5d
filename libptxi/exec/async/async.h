/* Asynchronous operations of kernels, as the scheduler sees them. PTX ISA, "Data Movement and Conversion
 * Instructions: Asynchronous copy", "Parallel Synchronization and Communication Instructions: mbarrier".
 * An operation completes as late as a correct program allows: when its thread waits for its async-group, or, if an
 * mbarrier tracks it, when nothing else in the cluster can make progress. So a program that reads the destination
 * too early, or overwrites the source too early, gets wrong results. With a random schedule an operation may
 * complete at any earlier time. */
#ifndef PTXI_EXEC_ASYNC_ASYNC_H
#define PTXI_EXEC_ASYNC_ASYNC_H

#include "exec/async/bulk_queue.h"
#include "exec/async/cp_async.h"
#include "exec/async/mbarrier_object.h"
#include "exec/engine/engine.h"

/* A queue of asynchronous operations that another directory adds to a cluster (exec/tcgen05). */
struct ptxi_async_source {
    bool (*is_empty)(const struct ptxi_cta *lead);
    /* Completes the operations that mbarriers track. False: there were none. */
    bool (*complete_tracked)(struct ptxi_cta *lead);
    /* Completes a random operation. */
    void (*complete_random)(struct ptxi_cta *lead);
};

/* Completes operations of the cluster that mbarriers track: one or more with a random schedule, else all. False:
 * there were none. */
bool ptxi_async_complete_tracked(struct ptxi_cta *lead);
/* Completes one random operation of the cluster, possibly early. For a random schedule. */
void ptxi_async_complete_random(struct ptxi_cta *lead);

#endif
