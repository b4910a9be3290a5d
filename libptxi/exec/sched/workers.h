/* A pool of workers that runs grids: what api/ uses of the engine. */
#ifndef PTXI_EXEC_SCHED_WORKERS_H
#define PTXI_EXEC_SCHED_WORKERS_H

#include "exec/engine/address_space.h"
#include "exec/engine/grid.h"
#include "exec/sched/cpu_level.h"

struct ptxi_exec;

enum { PTXI_MAX_WORKERS = 1024 };

/* A pool of workers (0: one for each core), with one reference. NULL: memory is short. The last reference destroys it.
 * No grid may run on it then. */
struct ptxi_exec *ptxi_exec_create(unsigned workers);
void ptxi_exec_ref(struct ptxi_exec *exec);
void ptxi_exec_unref(struct ptxi_exec *exec);
unsigned ptxi_exec_workers(const struct ptxi_exec *exec);

/* Runs a grid to its end. The calling thread acts as a worker. Any number of threads may call at once. The result is
 * in the grid's report. */
void ptxi_exec_launch(struct ptxi_exec *exec, struct ptxi_grid *grid);

#endif
