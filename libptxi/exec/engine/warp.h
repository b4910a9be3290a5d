/* A warp while it runs: the state that operations read and write.
 *
 * A handler gets its instruction and the warp, executes it for the lanes in w->active, and returns the next
 * instruction. It may write inactive lanes only if w->active is PTXI_ALL_LANES. A handler that cannot continue (fault,
 * barrier, exit) returns the result of a ptxi_leave_... function (divergence.h) or of ptxi_fault() (fault_report.h). */
#ifndef PTXI_EXEC_ENGINE_WARP_H
#define PTXI_EXEC_ENGINE_WARP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "isa/bytecode.h"

/* A set of lanes, which is also the value of a predicate register. */
#if PTXI_LANES == 32
typedef uint32_t ptxi_lanes;
#elif PTXI_LANES == 64
typedef uint64_t ptxi_lanes;
#else
#error "PTXI_LANES must be 32 or 64"
#endif
#define PTXI_ALL_LANES ((ptxi_lanes)-1)
#define PTXI_MAX_SPLITS PTXI_LANES

/* Number of warps of 32 threads in an engine's warp. PTX programs see each of them as a warp. */
#define PTXI_WARP32S (PTXI_LANES / 32u)

struct ptxi_warp;
typedef const struct ptxi_insn *ptxi_handler(const struct ptxi_insn *i, struct ptxi_warp *w);

/* w->stop if no other split of the frame waits at a higher pc. */
#define PTXI_NO_STOP ((const struct ptxi_insn *)UINTPTR_MAX)

/* One call of a function by some lanes of a warp. Registers follow the header. */
struct ptxi_frame {
    struct ptxi_frame *parent;         /* of a free frame: the next free one */
    const struct ptxi_code *code;
    const struct ptxi_insn *return_to; /* the call, in the parent's code; the caller continues after it */
    uint32_t depth;                    /* number of parents */
    uint32_t splits;                   /* number of references: splits in this frame and frames called from it */
    uint64_t local_base;               /* offset of its depot in each thread's .local memory */
    uint32_t size_class;
    uint64_t below;                    /* bytes of the frames from the kernel's to the caller's */
    _Alignas(64) unsigned char regs[];
};

enum ptxi_split_state {
    PTXI_SPLIT_READY,
    PTXI_SPLIT_BARRIER,   /* waits at a CTA barrier */
    PTXI_SPLIT_SYNC,      /* waits for other lanes at a .sync instruction */
    PTXI_SPLIT_ALIGNED,   /* waits for all other lanes of its warp at an .aligned instruction */
    PTXI_SPLIT_MBARRIER,  /* waits for a phase of an mbarrier, or at the cluster barrier */
    PTXI_SPLIT_WARPGROUP, /* waits for the other warps of its warpgroup */
    PTXI_SPLIT_SLEEP      /* has yielded to other splits */
};

enum ptxi_warp_state { PTXI_WARP_READY, PTXI_WARP_WAITING, PTXI_WARP_DONE };

/* ptxi_warp.barrier_state: a warp with a single split waits at CTA barrier number state - AT, or has PASSED the
 * barrier and can continue after it. The instruction is barrier_pc. Neither the split nor the state of the warp is
 * changed, so that a barrier writes little. A warp starts as if it had passed a barrier before its first instruction.
 * EXITED: all of it has exited at once. The dispatch loop goes on with the next warp in each case. */
enum { PTXI_WARP_BARRIER_NONE, PTXI_WARP_BARRIER_PASSED, PTXI_WARP_BARRIER_AT, PTXI_WARP_EXITED = UINT8_MAX };

/* Lanes that have the same frame and pc. */
struct ptxi_split {
    struct ptxi_frame *frame;
    const struct ptxi_insn *pc;
    ptxi_lanes lanes;
    uint8_t state;         /* enum ptxi_split_state */
    uint16_t barrier;      /* BARRIER: its number */
    ptxi_lanes complete;   /* READY after MBARRIER: lanes with a complete phase, even if the mbarrier changes */
    bool expired;          /* has waited long enough at an mbarrier: the next try_wait may return false */
    bool spins;            /* SLEEP: it has only tested whether something has happened */
    ptxi_lanes sync_mask;  /* SYNC, ALIGNED: lanes that must arrive */
    const unsigned char *mbarrier; /* MBARRIER: its address; NULL: the cluster barrier */
};

struct ptxi_warp_async;

struct ptxi_warp {
    /* used by all handlers */
    _Alignas(64) unsigned char *regs;          /* registers of the running split's frame */
    ptxi_lanes active;            /* lanes of the running split; in a guarded instruction, those with a true guard */
    const struct ptxi_insn *stop; /* the dispatch loop ends at this pc */
    ptxi_handler *const *table;
    int64_t quantum;              /* instructions until the scheduler takes over; loops and calls count them */
    struct ptxi_cta *cta;
    struct ptxi_worker *worker;
    struct ptxi_access_hit *hits;    /* the worker's cache of allocations, see exec/memory/access.h */
    const _Atomic uint64_t *generation; /* of the memory map */
    unsigned char *shared;        /* the CTA's shared memory */
    uint64_t shared_size;         /* bytes of it that may be accessed */
    uint64_t shared_at;           /* shared address of its first byte */
    uintptr_t shared_origin;      /* host address minus shared address: shared - shared_at */
    bool one_worker;              /* one worker runs the whole grid */
    bool only_worker;             /* the device has only one worker */
    uint32_t local_written;       /* bytes of each lane's .local memory that may have been written; the rest is zero */
    unsigned char *local;         /* lane 0's .local memory */
    uint64_t local_stride;        /* distance to the next lane's */

    /* scheduling; the start of a warp writes one line of the cache here */
    _Alignas(64) struct ptxi_frame *frame; /* of the running split */
    const struct ptxi_insn *barrier_pc; /* see barrier_state */
    struct ptxi_warp *next;       /* next warp of the CTA; the last one refers to the first one */
    uint8_t event;                /* enum ptxi_event: why the dispatch loop has ended */
    uint8_t state;                /* enum ptxi_warp_state */
    uint8_t barrier_state;        /* PTXI_WARP_BARRIER_... */
    bool mid_block;               /* splits[current] is inside a basic block and must run next */
    bool as_started;              /* from `frame` to splits[0], ptxi_warp_start_again() writes all that has changed
                                   * since the warp started */
    bool stack_moved;             /* some stack_top is not local_stride, the end of .local memory */
    bool exits_at_once;           /* nothing but its CTA must know when it has exited */
    bool splits_woken;            /* splits have become ready since the dispatch loop was entered */
    ptxi_lanes live;              /* lanes that have not exited */
    ptxi_lanes exited;            /* lanes of a PTXI_EVENT_EXIT */
    ptxi_lanes arrived;           /* lanes of splits in state BARRIER whose warp of 32 is counted at the barrier */
    uint32_t rounds_left;         /* number of loop rounds before the running split yields to other splits */
    uint32_t round_limit;         /* initial value of rounds_left */
    int32_t spin_rounds_left;     /* number of rounds of spin loops before the warp yields to other warps */
    uint32_t split_count;         /* including the running one */
    uint32_t current;             /* splits[current] runs */
    uint32_t quanta_used;         /* since another cluster has run */
    ptxi_lanes cluster_arrived;   /* lanes that have arrived at the cluster barrier, which is not complete */
    ptxi_lanes mbarrier_reported; /* lanes whose last wait at an mbarrier was for a phase with a report */
    uint32_t wgmma_fences[PTXI_WARP32S]; /* number of wgmma fences of each warp of 32 */
    uint32_t wgmma_groups[PTXI_WARP32S]; /* number of its wgmma commits */
    uint32_t index;               /* in the CTA */
    uint32_t first_thread;        /* linear thread index of lane 0 */
    bool store_delayed;           /* it is at a store, and the load after the store has been executed */
    struct ptxi_split splits[PTXI_MAX_SPLITS];
    struct ptxi_frame *free_frames[16]; /* by size class */

    struct ptxi_warp_async *async;     /* queue of cp.async; NULL: not used so far */
    struct ptxi_track_ranges *noted;   /* what the worker has written (exec/track/track.h) */

    uint64_t stack_top[PTXI_LANES]; /* lowest byte that alloca has given to each thread; call frames grow towards it */
};

/* Whether the warp can run. */
static inline bool ptxi_warp_ready(const struct ptxi_warp *w)
{
    return w->state == PTXI_WARP_READY && w->barrier_state < PTXI_WARP_BARRIER_AT;
}

static inline unsigned ptxi_first_lane(ptxi_lanes lanes)
{
    return (unsigned)__builtin_ctzll(lanes);
}

static inline ptxi_lanes ptxi_warp32_lanes(unsigned k)
{
    return (ptxi_lanes)UINT32_MAX << (32 * k);
}

/* Live lanes that are not active, in those warps of 32 that have active lanes. */
static inline ptxi_lanes ptxi_absent_lanes(const struct ptxi_warp *w)
{
    ptxi_lanes need = 0;

    for (unsigned k = 0; k < PTXI_WARP32S; k++)
        need |= w->active & ptxi_warp32_lanes(k) ? ptxi_warp32_lanes(k) : 0;
    return need & w->live & ~w->active;
}

/* Register slots of a warp or of a frame, as lane vectors. */
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
