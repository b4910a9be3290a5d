/* A log of numbers. Host functions in streams append to it. */
#ifndef PTXI_TESTS_STREAM_LOG_H
#define PTXI_TESTS_STREAM_LOG_H

#include <stdint.h>
#include <unistd.h>

static _Atomic int log_at, log_of[40000];

#define NUMBER(n) ((void *)(intptr_t)(n))

static inline void sleep_ms(unsigned ms)
{
    usleep(ms * 1000);
}

static inline void log_number(void *n)
{
    log_of[log_at++] = (int)(intptr_t)n;
}

static inline void log_number_late(void *n)
{
    sleep_ms(30);
    log_number(n);
}

#endif
