/* The state of a checker, which all launches of a context share. */
#ifndef PTXI_EXEC_CHECK_CHECKER_H
#define PTXI_EXEC_CHECK_CHECKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "exec/check/task.h"

struct ptxi_shadow_page;
struct ptxi_shadow_slab;

/* --- earlier work of the context that may be unordered with a launch --- */

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
    bool host;             /* they are accesses of the program's own code */
    const char *operation; /* constant; what reports call it */
};

/* Why an access of a launch, or other rows, race with the rows. */
static inline const char *ptxi_copied_rows_detail(const struct ptxi_copied_rows *c)
{
    return c->host ? "nothing orders the host and the stream" : "nothing orders the streams";
}

struct ptxi_past_copy {
    struct ptxi_copied_rows rows;
    struct ptxi_task task; /* without `known` */
};

/* --- */

enum { PTXI_BUCKET_BITS = 16, PTXI_KEPT_COPIES = 256 };

/* Of the launches of a stream. */
struct ptxi_latest_launch {
    uint64_t stream, seq;
};

struct ptxi_checker {
    uint64_t limit;
    _Atomic uint64_t bytes; /* of shadow memory */
    _Atomic(struct ptxi_shadow_page *) *buckets;
    struct ptxi_shadow_slab *slabs;
    pthread_mutex_t pages_lock;    /* of the slabs, and held while a page is added to a bucket */
    pthread_mutex_t strong_writes; /* held while one is checked and executed */
    pthread_mutex_t lock; /* of the following */
    uint32_t next_agent;
    uint32_t users; /* launches and others that use the shadow memory */

    /* Launches that have begun, by their first agents, and the latest of each stream. */
    struct ptxi_past_launch *past;
    uint32_t past_count, past_allocated;
    struct ptxi_latest_launch *latest;
    uint32_t latest_count, latest_allocated;
    struct ptxi_past_copy copies[PTXI_KEPT_COPIES]; /* a ring; width 0: none */
    _Atomic uint32_t copies_changed; /* number of copies so far */
};

/* While there are users, shadow memory is not freed. */
static inline void ptxi_checker_hold(struct ptxi_checker *x)
{
    pthread_mutex_lock(&x->lock);
    x->users++;
    pthread_mutex_unlock(&x->lock);
}

static inline void ptxi_checker_release(struct ptxi_checker *x)
{
    pthread_mutex_lock(&x->lock);
    x->users--;
    pthread_mutex_unlock(&x->lock);
}

#endif
