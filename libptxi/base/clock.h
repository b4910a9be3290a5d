/* The monotonic clock. */
#ifndef PTXI_BASE_CLOCK_H
#define PTXI_BASE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t ptxi_clock_monotonic_ns(void);

#endif
