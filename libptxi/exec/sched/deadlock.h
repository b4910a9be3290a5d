/* Launches that cannot continue: exceeded limits and deadlocks. */
#ifndef PTXI_EXEC_SCHED_DEADLOCK_H
#define PTXI_EXEC_SCHED_DEADLOCK_H

#include "exec/engine/cta.h"

/* Fails the launch if a limit of the grid is exceeded. The report names the place of the warp. False: the launch has
 * failed. */
bool ptxi_check_limits(struct ptxi_warp *w);

/* Fails the launch because all threads of a cluster wait. The report lists the places. */
void ptxi_fail_deadlock(struct ptxi_cta *lead);

#endif
