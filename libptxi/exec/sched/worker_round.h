/* One round of a worker: it runs its clusters and takes new ones. */
#ifndef PTXI_EXEC_SCHED_WORKER_ROUND_H
#define PTXI_EXEC_SCHED_WORKER_ROUND_H

#include <pthread.h>

#include "exec/engine/cta.h"
#include "exec/engine/dispatch.h"

enum { PTXI_PROGRESS_NS = 100000000 }; /* time between two reports of a grid's progress */

/* A pool of workers. The lock protects the members after it, `claimed` of the workers, and `inside` and `next` of the
 * grids. */
struct ptxi_exec {
    _Atomic unsigned refs;
    const struct ptxi_level *level;
    unsigned worker_count, thread_count;
    struct ptxi_worker *workers;
    pthread_t *threads;
    pthread_mutex_t lock;
    pthread_cond_t work;     /* there may be something to run */
    pthread_cond_t done;     /* a grid has ended, or a worker is free */
    struct ptxi_grid *grids; /* running */
    unsigned idle;           /* number of threads that wait for work */
    uint64_t launches;
    bool quit;
};

/* Runs all clusters of a claimed worker, and takes new ones. False: there is nothing to do. */
bool ptxi_worker_round(struct ptxi_exec *x, struct ptxi_worker *wk);

#endif
