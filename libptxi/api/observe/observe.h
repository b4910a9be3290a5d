/* Output about programs that do not call ptxi.h themselves: failed launches (PTXI_REPORT) and statistics (PTXI_STATS).
 *
 * Any thread may call. Without the variables, each function only tests a flag. */
#ifndef PTXI_API_OBSERVE_OBSERVE_H
#define PTXI_API_OBSERVE_OBSERVE_H

#include "ptxi.h"

#include "api/error/failure.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the environment. ptxiInit() calls it once. */
void ptxi_observe_init(void);

/* ---- host_stack.c: the calls of the program that led to a launch */

struct ptxi_host_stack;

/* The stack of the calling thread, for ptxi_host_stack_free(). NULL if PTXI_REPORT is not set, or without memory. */
struct ptxi_host_stack *ptxi_host_stack_capture(void);
void ptxi_host_stack_free(struct ptxi_host_stack *s); /* NULL does nothing */

/* ---- failed_launch.c */

struct ptxi_failed_launch {
    const char *kernel;
    const unsigned *grid, *block;        /* three sizes each */
    unsigned shared;                     /* bytes of dynamic shared memory */
    ptxiResult result;
    const ptxiReport *report;            /* NULL: the launch was rejected, or there was no memory for a report */
    const struct ptxi_host_stack *stack; /* NULL: not known */
};

/* Writes a failed launch to stderr if PTXI_REPORT is set, and counts it if PTXI_STATS is set. */
void ptxi_observe_failure(const struct ptxi_failed_launch *f);

/* ---- statistics.c */

bool ptxi_statistics_on(void);

/* Counts a grid that has ended. */
void ptxi_statistics_add_grid(const char *kernel, uint64_t nanoseconds, uint64_t blocks);
void ptxi_statistics_add_failure(const char *kernel);

enum ptxi_copy_direction {
    PTXI_COPIED_TO_DEVICE, PTXI_COPIED_TO_HOST, PTXI_COPIED_ON_DEVICE, PTXI_COPIED_ON_HOST, PTXI_COPIED_FILL,
    PTXI_COPY_DIRECTIONS
};
void ptxi_statistics_add_copy(enum ptxi_copy_direction direction, uint64_t bytes);

/* Records the number of bytes that are allocated now. */
void ptxi_statistics_set_memory(size_t bytes);

#endif
