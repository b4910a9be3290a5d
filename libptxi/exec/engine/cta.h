/* CTAs that run, and the workers that run them. */
#ifndef PTXI_EXEC_ENGINE_CTA_H
#define PTXI_EXEC_ENGINE_CTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exec/engine/address_space.h"
#include "exec/engine/grid.h"
#include "exec/engine/warp.h"

struct ptxi_exec;
struct ptxi_bulk_job;
struct ptxi_rcu_reader;
struct ptxi_async_source;
struct ptxi_tmem;
struct ptxi_tmem_job;
struct ptxi_check_cta;

/* A CTA barrier. PTX ISA, "bar, barrier". */
struct ptxi_barrier {
    uint32_t arrived;  /* number of threads that have arrived; whole warps are counted */
    uint32_t expected; /* number of threads; 0: all of the CTA that have not exited */
    uint32_t popc;     /* bar.red: number of threads with a true predicate */
    uint32_t voters;   /* bar.red: number of threads with a predicate */
};
#define PTXI_BARRIERS 16

/* A CTA context: the memory and the warps in which a worker runs one CTA of a launch after another. */
struct ptxi_cta {
    struct ptxi_grid *grid;
    struct ptxi_worker *worker;
    uint32_t ctaid[3];
    uint64_t number; /* of its cluster, in the order of starts; UINT64_MAX: none has started since it was prepared */
    uint32_t warp_count, live_warps;
    bool busy;             /* the context holds a CTA */
    uint32_t live_threads; /* threads of warps that have not exited; whole warps are counted */
    bool warps_exited;     /* since the scheduler has looked whether others wait for them */
    bool starts_alike;     /* CTAs differ only in what start_next_cta() sets */
    uint64_t thread_instructions, warp_instructions; /* not yet added to the grid's */
    struct ptxi_shared_counts {
#define X(name) uint64_t name;
        PTXI_SHARED_COUNTS(X)
#undef X
    } shared_counts;
    struct ptxi_barrier barriers[PTXI_BARRIERS];
    bool warpgroup_waits;     /* a warp waits for its warpgroup */
    struct ptxi_check_cta *check; /* exec/check/state.h; NULL: the launch is not checked */
    uint32_t barriers_in_use; /* one bit for each barrier at which a warp has arrived */
    unsigned char *shared;
    unsigned char *local;
    size_t shared_bytes, local_bytes; /* as allocated */
    size_t frame_stride;
    unsigned char *frames;    /* frames of the kernel, frame_stride bytes apart */
    size_t frame_bytes;       /* as allocated */
    const struct ptxi_grid *prepared_for; /* the frames hold the launch-invariant values of this launch ... */
    uint64_t prepared_id;                 /* ... with this launch_id */
    struct ptxi_warp *warps;
    uint32_t warps_allocated;
    struct ptxi_cta *next;      /* list of all contexts of the worker */
    struct ptxi_cta *next_free; /* list of those that hold no CTA */

    const struct ptxi_async_source *async_source; /* further queue of operations (async.h); NULL: not used so far */
    struct ptxi_tmem *tmem;     /* tensor memory (tmem.c); NULL: not used so far */

    /* The cluster. All its CTAs are on one worker. Without clusters, each CTA is a cluster of its own. */
    struct ptxi_cta *lead;      /* the CTA of rank 0, which has the state of the cluster: */
    struct ptxi_portion taken;  /* further clusters that start here, or in other contexts of the worker if this waits */
    uint32_t portion;           /* number of clusters to take at once */
    uint32_t ended;             /* number of CTAs that are not yet added to the grid's done_ctas */
    uint32_t rank;
    uint32_t member_count;
    struct ptxi_cta *members[PTXI_MAX_CLUSTER_CTAS];
    bool waits;                 /* a thread waits, or has waited, at an mbarrier or at the cluster barrier */
    bool cluster_barrier_used;  /* a thread has arrived at the cluster barrier */
    uint32_t cluster_barrier_missing; /* if used: number of threads that have not arrived */
    struct ptxi_bulk_job *jobs, *last_job, *spare_jobs; /* cp_async_bulk.c */
    uint32_t job_count;
    uint32_t tracked_jobs;      /* number of jobs that an mbarrier tracks */
    uint64_t rng_state;         /* rng.h */
    struct ptxi_tmem_job *tmem_jobs, *spare_tmem_jobs; /* tmem_queue.c */
};

/* The allocation that an instruction accessed last. */
struct ptxi_access_hit {
    uint64_t lo, hi;     /* bytes [lo, hi) may be read */
    uint64_t write_hi;   /* hi, or 0 if they may not be written */
    uint64_t generation; /* of the memory map */
    uint64_t last, step; /* of a load: the last address, and its distance from the one before */
};
#define PTXI_ACCESS_HITS 256

enum { PTXI_INACCESSIBLE = 64 }; /* bytes; at least those of a thread's load or store */

/* Pages of trackers (exec/track/track.h) that the worker has used. */
enum { PTXI_TRACK_HITS = 8, PTXI_TRACK_PAGE = 1 << 16 };
struct ptxi_track_hit {
    uint64_t key; /* 0: none */
    struct ptxi_track_page *page;
};

/* A worker runs CTAs. Any thread may act as a worker, but only one at a time. */
struct ptxi_worker {
    struct ptxi_exec *exec;
    uint32_t index;
    struct ptxi_cta *ctas;          /* all contexts, with and without a CTA */
    struct ptxi_cta *free_contexts; /* those without a CTA */
    uint32_t busy;                  /* number of contexts with a CTA */
    struct ptxi_access_hit hits[PTXI_ACCESS_HITS];
    struct ptxi_track_hit tracked[PTXI_TRACK_HITS];
    uint64_t clock;                 /* number of instructions executed, as coarse as the quantum counts them */
    bool claimed;                   /* a thread acts as this worker */
    struct ptxi_rcu_reader *rcu;    /* in a read-side critical section while instructions run */
    _Alignas(64) unsigned char unwanted[16 * PTXI_LANES]; /* destination for results that an instruction discards */
    _Alignas(64) unsigned char inaccessible[PTXI_INACCESSIBLE]; /* in place of memory that a thread must not access */
};

/* The CTA of the cluster to which a shared address belongs. The address becomes an offset in the memory of that CTA.
 * NULL: the cluster has no such CTA. */
static inline struct ptxi_cta *ptxi_cta_of_shared(struct ptxi_cta *c, uint64_t *address)
{
    uint64_t rank = *address / PTXI_SHARED_STEP;

    if (!c->grid->code->in_clusters)
        return c;
    if (rank >= c->lead->member_count)
        return NULL;
    *address %= PTXI_SHARED_STEP;
    return c->lead->members[rank];
}

#endif
