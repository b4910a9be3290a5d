/* A warp while it runs: the state that operations read and write.
 *
 * A handler gets its instruction and the warp, does its work for the lanes in w->active, and returns the next
 * instruction. It may write inactive lanes only when w->active is PTXI_ALL_LANES. A handler that cannot go on
 * (fault, barrier, exit) leaves through one of the functions of engine.h. */
#ifndef PTXI_EXEC_ENGINE_WARP_H
#define PTXI_EXEC_ENGINE_WARP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "isa/bytecode.h"

/* A set of lanes, and so the value of a predicate register. */
#if PTXI_LANES == 32
typedef uint32_t ptxi_lanes;
#elif PTXI_LANES == 64
typedef uint64_t ptxi_lanes;
#else
#error "PTXI_LANES must be 32 or 64"
#endif
#define PTXI_ALL_LANES ((ptxi_lanes)-1)
#define PTXI_MAX_SPLITS PTXI_LANES

/* Warps of 32 threads that share the lanes; PTX sees them apart. */
#define PTXI_WARP32S (PTXI_LANES / 32u)

struct ptxi_warp;
typedef const struct ptxi_insn *ptxi_handler(const struct ptxi_insn *i, struct ptxi_warp *w);

/* One call of a function by some lanes of a warp. Registers follow the header. */
struct ptxi_frame {
    struct ptxi_frame *parent;
    const struct ptxi_code *code;
    const struct ptxi_insn *return_to; /* in the parent's code: the call; pc goes on behind it */
    uint32_t depth;
    uint32_t splits;     /* references: splits that stand in it and frames called from it */
    uint64_t local_base; /* offset of its depot in each thread's .local memory */
    uint32_t size_class;
    uint64_t below;      /* bytes of the frames from the kernel's to its caller's */
    _Alignas(64) unsigned char regs[];
};

enum ptxi_split_state {
    PTXI_SPLIT_READY,
    PTXI_SPLIT_BARRIER,  /* waits at a CTA barrier */
    PTXI_SPLIT_SYNC,     /* waits for other lanes at a .sync instruction */
    PTXI_SPLIT_ALIGNED,  /* waits for all other lanes of its warp at an .aligned instruction */
    PTXI_SPLIT_MBARRIER, /* waits for a phase of an mbarrier, or at the cluster's barrier */
    PTXI_SPLIT_GROUP,    /* waits for the other warps of its warpgroup */
    PTXI_SPLIT_SLEEP     /* gave way to others for a while */
};

enum ptxi_warp_state { PTXI_WARP_READY, PTXI_WARP_WAITING, PTXI_WARP_DONE };

/* ptxi_warp.sync: nothing, or the warp as a whole, with no splits but one, stands at barrier 0, 1, and so on, or has passed it and can go on
 * where it has left the dispatch loop. Then sync_pc is the instruction; the split and the warp's state say nothing of it, so that little is
 * written. */
enum { PTXI_SYNC_NONE, PTXI_SYNC_PASSED, PTXI_SYNC_AT };

/* Lanes that stand at one place. */
struct ptxi_split {
    struct ptxi_frame *frame;
    const struct ptxi_insn *pc;
    ptxi_lanes lanes;
    uint8_t state;
    uint16_t barrier;      /* BARRIER: its number */
    ptxi_lanes complete;   /* READY again: their phase of the mbarrier is complete, whatever becomes of the mbarrier before they go on */
    bool expired;          /* has waited at an mbarrier long enough: the next wait in vain tells so */
    bool polls;            /* SLEEP: all it did was to look whether something has happened */
    ptxi_lanes sync_mask;  /* SYNC, ALIGNED: lanes that must come */
    const unsigned char *mbarrier; /* MBARRIER: where; NULL: at the cluster's barrier */
};

struct ptxi_async;

struct ptxi_warp {
    /* what every handler touches */
    _Alignas(64) unsigned char *regs;          /* of the running split's frame */
    ptxi_lanes active;            /* lanes of the running split (while guarded: those that the guard lets through) */
    const struct ptxi_insn *stop; /* the dispatch loop ends when it gets here */
    ptxi_handler *const *table;
    int64_t quantum;              /* instructions until the scheduler looks again; counted at loops */
    struct ptxi_cta *cta;
    struct ptxi_worker *worker;
    struct ptxi_mem_hit *hits;    /* the worker's memory hit cache, see memory.h */
    const _Atomic uint64_t *generation; /* of the memory map */
    unsigned char *shared;        /* the CTA's shared memory; shared_size bytes may be accessed */
    uint64_t shared_size;
    uint64_t shared_at;           /* the shared address of the first of them */
    uintptr_t shared_origin;      /* what to add to a shared address of the CTA's own: shared - shared_at */
    bool one_worker;              /* runs the whole grid */
    bool only_worker;             /* of the device */
    uint32_t local_written;       /* of each lane's .local memory: stores may have changed so many bytes, those after them are zero */
    unsigned char *local;         /* lane 0's .local memory; lanes follow local_stride bytes apart */
    uint64_t local_stride;

    /* scheduling */
    struct ptxi_frame *frame;
    const struct ptxi_insn *sync_pc;
    struct ptxi_warp *next;       /* of the CTA; of the last one the first */
    uint8_t event;                /* why the dispatch loop was left */
    uint8_t state;                /* enum ptxi_warp_state: as the CTA sees it */
    uint8_t sync;
    uint32_t turns;               /* quanta used since it was given the worker */
    uint32_t index;               /* in its CTA */
    uint32_t first_thread;        /* linear thread index of lane 0 */
    ptxi_lanes live;              /* lanes that have not exited */
    ptxi_lanes arrived;           /* lanes of splits in state BARRIER whose warp of 32 has been counted there */
    uint32_t patience, patience_limit; /* rounds of loops before the running split gives way to others, see split.c */
    int32_t polls;                /* the same of loops that wait, before other warps have their turn */
    uint32_t split_count;         /* running one included: splits[current] */
    uint32_t current;
    struct ptxi_split splits[PTXI_MAX_SPLITS];
    struct ptxi_frame *free_frames[16]; /* by size class */

    ptxi_lanes cluster_arrived; /* lanes that have arrived at the cluster's barrier, which is not complete */
    struct ptxi_async *async; /* cp.async that are not done yet; NULL: there never was one */

    /* alloca: the lowest byte that it has given each thread; calls take .local memory from the other end */
    uint64_t stack_top[PTXI_LANES];
    uint32_t wgmma_fences[PTXI_WARP32S], wgmma_groups[PTXI_WARP32S]; /* passed and committed by each warp of 32 */

    bool goes_on; /* splits[current] stands inside of a block, and is the next to run */
    bool store_waits; /* it stands at a store, and the load behind it has been done */
    bool stack_moved; /* not all of them are local_stride, where .local memory ends */
};

static inline ptxi_lanes ptxi_warp32_lanes(unsigned k)
{
    return (ptxi_lanes)UINT32_MAX << (32 * k);
}

/* Register slots of a warp, or of a frame, as lane vectors. */
#define PTXI_SLOT(of, slot) __builtin_assume_aligned((of)->regs + (uint32_t)(slot) * PTXI_UNIT, 64)

static inline ptxi_lanes ptxi_pred(const struct ptxi_warp *w, unsigned slot)
{
    return *(const ptxi_lanes *)PTXI_SLOT(w, slot);
}

static inline void ptxi_set_pred(struct ptxi_warp *w, unsigned slot, ptxi_lanes value)
{
    ptxi_lanes *p = PTXI_SLOT(w, slot);

    *p = (*p & ~w->active) | (value & w->active);
}

#endif
