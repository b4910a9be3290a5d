/* Earlier work of a context that may be unordered with a launch. */
#ifndef PTXI_EXEC_CHECK_PAST_H
#define PTXI_EXEC_CHECK_PAST_H

#include "exec/check/task.h"

/* A launch that has begun. */
struct ptxi_past_launch {
    uint32_t first_agent, agent_count; /* as struct ptxi_check has them */
    struct ptxi_task task;             /* without `known` */
    uint64_t launch;                   /* its number in reports */
    bool releases_host;                /* as struct ptxi_check has it */
    uint32_t grid[3], block[3];
    char kernel[128];
};

/* Rows of bytes that a copy or fill reads or writes. */
struct ptxi_copied_rows {
    uint64_t address, width, pitch, rows;
    bool write;
    const char *operation; /* constant; what reports call it */
};

struct ptxi_past_copy {
    struct ptxi_copied_rows rows;
    struct ptxi_task task; /* without `known` */
};

#endif
