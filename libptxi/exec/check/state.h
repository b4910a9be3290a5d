/* The state of a checked CTA: of its threads, its shared memory and its barriers. */
#ifndef PTXI_EXEC_CHECK_STATE_H
#define PTXI_EXEC_CHECK_STATE_H

#include "exec/check/check.h"
#include "exec/check/concurrent.h"
#include "exec/check/shadow.h"
#include "exec/check/shared_words.h"
#include "exec/check/vector_clock.h"
#include "exec/engine/cta.h"

/* What a thread knew at its last fence: what later strong writes release. */
struct ptxi_fence {
    bool valid;
    bool sc;        /* it is a fence.sc whose scope is at least .gpu */
    uint8_t level;  /* PTXI_LEVEL_... of its scope */
    uint32_t clock; /* the thread's accesses before this time, and those that the clocks of its warp, CTA and
                     * cluster said to happen before: */
    uint32_t warp_clock, cta_clock, cluster_clock;
    struct ptxi_vclock *lane, *warp, *cta;
    struct ptxi_vclock *all; /* all of this, with the thread's accesses before all_clock; NULL: not computed yet */
    uint32_t all_clock;
};

#define PTXI_RELEASE_NEXT UINT64_MAX

/* A compare-and-swap by which the thread may have taken a lock. */
struct ptxi_taken_lock {
    uint64_t address; /* with its offset in the window, if it is in shared memory; 0: none */
    uint64_t open;    /* the value that it compares with: a write of it releases the lock */
    uint32_t clock;
};

struct ptxi_check_lane {
    struct ptxi_taken_lock lock;
    struct ptxi_knowledge what;
    struct ptxi_vclock *pending[PTXI_LEVELS]; /* read by strong reads; a fence makes it known */
    struct ptxi_vclock *read[PTXI_LEVELS];    /* the part that is of the latest location; an acquiring access of it
                                               * makes it known */
    uint64_t read_address;
    struct ptxi_fence fence;
    struct ptxi_fence release; /* the latest releasing access: what strong writes to its location release */
    uint64_t release_address;  /* as lock.address; PTXI_RELEASE_NEXT: that of the next strong write */
    /* The same as of the fence, of earlier ones of a wider scope, and initialisations of mbarriers before a
     * fence.mbarrier_init. Nothing else is at PTXI_LEVEL_CTA. */
    struct ptxi_vclock *wider[PTXI_LEVELS];
};

enum { PTXI_ASYNC_GROUPS = 8 };

/* Groups of asynchronous operations. */
struct ptxi_check_groups {
    uint32_t commits[PTXI_ASYNC_GROUPS]; /* times of the latest commits: that of group n is number n % the size */
    uint32_t count;                      /* of all commits */
};

struct ptxi_check_warp { /* of 32 lanes */
    uint32_t clock;      /* accesses of its lanes before this time happen before those of all its lanes */
    struct ptxi_knowledge what;
    struct ptxi_check_lane *lanes; /* NULL: none has used a fence */

    /* When a CTA starts, all from here to `acquiring` is 0. */
    uint32_t sc_fenced; /* lanes with fence.sc, which is not part of `what` */
    /* By level: lanes that have not used a fence since they may have taken a lock, and those of them that have accessed
     * memory. If another thread had the lock before, these accesses would not happen after its own. */
    uint32_t unfenced[PTXI_LEVELS], touched[PTXI_LEVELS];
    struct ptxi_check_groups async; /* of cp.async */
    /* Each lane knows that its own copies before this time have ended, and all lanes know it of those before the second
     * one. */
    uint32_t async_waited, async_told;
    struct ptxi_check_groups bulk, wgmma;
    uint32_t bulk_waited[2], bulk_told[2]; /* as async_waited and _told: reads; all operations */
    uint32_t proxy_fences[32];             /* times of the latest fence.proxy.async */
    uint32_t passed;                       /* lanes that have passed a barrier of the whole CTA */
    uint32_t behind[PTXI_PASSED_POINTS];   /* by imm of check_passed: lanes that have executed it */
    uint32_t behind_barrier;               /* lanes that have come to code behind a barrier of the CTA */
    uint32_t cluster_arrived; /* lanes that have arrived at the cluster barrier, and have not waited for it */

    uint64_t acquiring[32]; /* addresses of the strong read that is being executed */
};

/* An mbarrier of a CTA. */
struct ptxi_check_mbarrier {
    uint32_t offset;
    enum { PTXI_MBARRIER_UNKNOWN, PTXI_MBARRIER_VALID, PTXI_MBARRIER_INVALID } state;
    struct ptxi_record init;        /* of its initialisation */
    struct ptxi_knowledge arrived;  /* in the current phase */
    struct ptxi_knowledge complete; /* in all complete phases */
    bool tracks_bulk;               /* it tells the end of bulk operations */
};

enum {
    PTXI_PROXY_BYTES = 16,
    PTXI_PAGE_CACHE_BITS = 9,
    PTXI_CHECK_WARPS = 32,
    PTXI_CHECK_MEMBERS = 16,
    PTXI_SEEN_RACES = 64
};

/* A page that the CTA has used. */
struct ptxi_cached_page {
    uint64_t number;
    struct ptxi_shadow_page *page; /* NULL: none */
};

/* Which bits of the parameters and results of calls in a warp are undefined. A shadow is valid for the lanes of its
 * mask. */
enum { PTXI_PASSED_WORDS = 64 }; /* later ones count as defined */
struct ptxi_passed_words {
    uint32_t used; /* words from here on are defined in all lanes */
    ptxi_lanes mask[PTXI_PASSED_WORDS];
    uint32_t shadow[PTXI_PASSED_WORDS][PTXI_LANES];
};

/* Lines of shared memory that are known to be defined, so that their shadow bytes need not be read. */
struct ptxi_defined_lines {
    uint32_t *since; /* of each line: `now` if all its bytes are known to be defined. NULL: nothing is known */
    uint32_t count;
    uint32_t known; /* number of such lines */
    uint32_t now;   /* changes when bytes become undefined */
    uint32_t tries; /* accesses to defined bytes in other lines */
};
enum { PTXI_DEFINED_LINE = 128 }; /* bytes */

/* Bytes may have become undefined. */
static inline void ptxi_defined_lines_forget(struct ptxi_defined_lines *d)
{
    d->now++;
    d->known = 0;
}

/* All bytes but the first `defined` ones are undefined. */
static inline void ptxi_defined_lines_start(struct ptxi_defined_lines *d, uint64_t defined)
{
    ptxi_defined_lines_forget(d);
    for (; d->since && d->known < d->count && d->known < defined / PTXI_DEFINED_LINE; d->known++)
        d->since[d->known] = d->now;
}

static inline bool ptxi_defined_lines_all(const struct ptxi_defined_lines *d)
{
    return d->known && d->known == d->count;
}

/* Whether all lines of the range are known to be defined. */
static inline bool ptxi_defined_lines_has(const struct ptxi_defined_lines *d, uint64_t first, uint64_t size)
{
    uint64_t end = (first + size - 1) / PTXI_DEFINED_LINE;
    uint32_t off = 0;

    if (!d->known || end >= d->count)
        return false;
    for (uint64_t n = first / PTXI_DEFINED_LINE; n <= end; n++)
        off |= d->since[n] ^ d->now;
    return !off;
}

struct ptxi_check_cta {
    struct ptxi_check *check;
    uint32_t agent;
    uint32_t clock;         /* the time, of the CTA with rank 0 */
    uint32_t cta_clock;     /* accesses of the CTA before this time happen before those of all its threads */
    uint32_t cluster_clock; /* the same for its cluster */
    /* Reads of the CTA before a time have ended: a barrier of the CTA came after them, and then the first arrival at
     * the current phase of the cluster barrier, or at the latest complete one. */
    uint32_t reads_arrived, reads_ended;
    uint32_t cluster_met; /* time of the latest complete cluster barrier before the CTA has exited; 0: none */
    struct ptxi_knowledge what;
    struct { /* of the CTA with rank 0: the current phase of the cluster barrier */
        struct ptxi_knowledge arrived;
        uint32_t first; /* time of the first arrival; 0: none */
        bool relaxed;   /* some arrivals are .relaxed */
    } cluster;
    struct ptxi_record remote[PTXI_CHECK_MEMBERS]; /* by ranks: the latest access of other CTAs to its shared memory */
    uint32_t has_remote, remote_writes;            /* the ranks */
    struct ptxi_knowledge arrived[PTXI_BARRIERS];  /* by threads that arrived at a barrier without waiting */
    bool arrived_any[PTXI_BARRIERS];
    struct ptxi_check_mbarrier *mbarriers;
    uint32_t mbarrier_count, mbarriers_allocated;
    struct ptxi_check_warp warps[PTXI_CHECK_WARPS];
    struct ptxi_shared_line *shared;
    uint32_t shared_lines;
    bool has_async;                     /* its shared memory has been accessed by asynchronous copies */
    struct ptxi_record *generic_writes; /* the last write to each PTXI_PROXY_BYTES of shared memory by the generic proxy
                                         * since the last by the async proxy; NULL: not needed (async_proxy.h) */
    uint32_t proxy_fence, proxy_fence_cta; /* time of the latest fence.proxy.async; the highest cta_clock at one */
    struct ptxi_shared_words words;        /* of shared memory, if the CTA is in no cluster */
    bool any_lanes;                        /* a warp may have `lanes` */
    unsigned char *undefined; /* shadow of uninitialised bytes of shared memory (init.h); NULL: not tracked */
    uint64_t undefined_bytes;
    struct ptxi_defined_lines defined;
    unsigned char *local_undefined;                     /* the same of the .local memory of all its threads */
    struct ptxi_passed_words *passed[PTXI_CHECK_WARPS]; /* by warps; NULL: not used so far */
    uint64_t accesses, unchecked;                       /* not yet added to the launch's */
    struct ptxi_cached_page pages[1 << PTXI_PAGE_CACHE_BITS];
    struct ptxi_other_launch other;
    struct ptxi_past_copy copies[PTXI_OTHER_COPIES]; /* that nothing orders with the launch */
    unsigned copy_count;
    uint32_t copies_seen;
    uint64_t seen[PTXI_SEEN_RACES]; /* races that have been reported */
};

/* A thread of a checked CTA. */
struct ptxi_check_thread {
    struct ptxi_cta *cta;
    unsigned warp, lane; /* of 32 lanes */
};

/* The lanes of a warp of 32 that exist. */
static inline uint32_t ptxi_order_live_lanes(const struct ptxi_cta *c, unsigned warp)
{
    return (uint32_t)(c->warps[warp / PTXI_WARP32S].live >> (32 * (warp % PTXI_WARP32S)));
}

static inline uint32_t *ptxi_order_clock(struct ptxi_cta *c)
{
    return &c->lead->check->clock;
}

/* The asynchronous copies of lanes of a warp before a time, as an entry of a clock. */
static inline struct ptxi_vclock_entry ptxi_order_async_entry(const struct ptxi_check_cta *k, unsigned warp,
                                                              uint32_t clock)
{
    return (struct ptxi_vclock_entry){ ptxi_who(k->agent | PTXI_WHO_ASYNC, warp, PTXI_WHO_ALL), clock };
}

/* The numbers of what tells the end of bulk operations: the mbarriers of a CTA, and groups of its warps: of their reads
 * and writes. Those that share a number know too much: races are missed. */
enum {
    PTXI_BULK_MBARRIERS = 16,
    PTXI_BULK_WARPS = 8,
    PTXI_BULK_READS = PTXI_BULK_MBARRIERS,
    PTXI_BULK_WRITES = PTXI_BULK_READS + PTXI_BULK_WARPS
};

static inline unsigned ptxi_order_bulk_of_warp(unsigned warp, bool write)
{
    return (write ? PTXI_BULK_WRITES : PTXI_BULK_READS) + warp % PTXI_BULK_WARPS;
}

/* What lanes know of the end of their own asynchronous copies becomes known to their warp. It does when lanes
 * synchronise with others in any way: this may miss a race with the copy of a lane that takes no part. */
static inline void ptxi_order_tell_async(struct ptxi_check_cta *k, unsigned warp)
{
    struct ptxi_check_warp *w = &k->warps[warp];

    if (w->async_told != w->async_waited)
        ptxi_vclock_add(&w->what.known,
                        (struct ptxi_vclock_entry[]){ ptxi_order_async_entry(k, warp, w->async_waited) }, 1);
    w->async_told = w->async_waited;
    for (unsigned write = 0; write < 2; write++) {
        struct ptxi_vclock_entry e =
            ptxi_order_async_entry(k, PTXI_WHO_BULK + ptxi_order_bulk_of_warp(warp, write), w->bulk_waited[write]);

        if (w->bulk_told[write] != w->bulk_waited[write])
            ptxi_vclock_add(&w->what.known, &e, 1);
        w->bulk_told[write] = w->bulk_waited[write];
    }
}

#endif
