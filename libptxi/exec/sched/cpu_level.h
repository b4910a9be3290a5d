/* The build of the handlers for the host's CPU. */
#ifndef PTXI_EXEC_SCHED_CPU_LEVEL_H
#define PTXI_EXEC_SCHED_CPU_LEVEL_H

#include "exec/engine/dispatch.h"

const struct ptxi_level *ptxi_exec_level(void);

/* Its name: v4, v3, v2 or portable. */
const char *ptxi_exec_level_name(void);

#endif
