/* The state of a checker, which all launches of a context share. */
#ifndef PTXI_EXEC_CHECK_CHECKER_H
#define PTXI_EXEC_CHECK_CHECKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct ptxi_shadow_page;

enum { PTXI_BUCKET_BITS = 16 };

struct ptxi_checker {
    uint64_t limit;
    _Atomic uint64_t bytes; /* of shadow memory */
    _Atomic(struct ptxi_shadow_page *) *buckets;
    pthread_mutex_t lock; /* of the following */
    uint32_t next_agent, launches;
};

#endif
