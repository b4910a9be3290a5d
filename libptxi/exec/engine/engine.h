/* The warp engine from inside: CTAs, grids and workers, and how a handler leaves the dispatch loop.
 *
 * A warp is data. To run it, the scheduler picks a split (split.c), points the warp at the split's frame and enters
 * the dispatch loop; the loop ends when the split reaches w->stop (the pc where another split of the frame waits, so
 * that they can merge) or when a handler leaves by one of the ptxi_leave_... functions, which note why in w->event. */
#ifndef PTXI_EXEC_ENGINE_ENGINE_H
#define PTXI_EXEC_ENGINE_ENGINE_H

#include <stdatomic.h>
#include <stddef.h>

#include "exec/engine/exec.h"
#include "exec/memmap/rcu.h"
#include "exec/engine/warp.h"

/* No split of the frame waits: no pc is above it. */
#define PTXI_NO_STOP ((const struct ptxi_insn *)UINTPTR_MAX)

enum ptxi_event {
    PTXI_EVENT_NONE,    /* reached w->stop */
    PTXI_EVENT_SWITCH,  /* the splits changed: pick again */
    PTXI_EVENT_QUANTUM, /* the scheduler should look */
    PTXI_EVENT_SLICE,   /* its time slice of a fair schedule is over: w->goes_on */
    PTXI_EVENT_BARRIER, /* a warp of 32 threads has come to a CTA barrier, and no lane can run */
    PTXI_EVENT_SYNC,    /* the warp as a whole waits at a CTA barrier, where it has arrived */
    PTXI_EVENT_WAITING, /* no lane can run until a barrier of the CTA or an mbarrier is complete */
    PTXI_EVENT_DONE,    /* no lane lives */
    PTXI_EVENT_BLOCKED, /* lanes wait for lanes that cannot come */
    PTXI_EVENT_FAULT
};

struct ptxi_barrier {
    uint32_t arrived;  /* threads, in whole warps */
    uint32_t expected; /* threads; 0: all of the CTA that have not exited */
    uint32_t popc;     /* red: threads whose predicate held */
    uint32_t voters;   /* red: threads that brought a predicate */
};
#define PTXI_BARRIERS 16

/* Instructions that a warp may run, as far as loops and calls count them, before the scheduler looks again. */
#define PTXI_QUANTUM 65536

/* Rounds of loops that seem to wait before others have their turn; as so many counts a round of a loop that does nothing else. */
#define PTXI_POLLS 32
#define PTXI_POLL 8

struct ptxi_job;
struct ptxi_tmem;

/* A CTA's place on a worker; reused for one CTA of a launch after another. */
struct ptxi_cta {
    struct ptxi_grid *grid;
    struct ptxi_worker *worker;
    uint32_t ctaid[3];
    uint64_t linear;      /* of the CTA in its grid */
    uint32_t warp_count, live_warps;
    bool busy;
    uint32_t live_threads; /* in whole warps: those of which a thread has not exited */
    uint64_t thread_instructions, warp_instructions; /* counted since its grid was told */
    struct ptxi_shared_counts {
#define X(name) uint64_t name;
        PTXI_SHARED_COUNTS(X)
#undef X
    } shared_counts;
    struct ptxi_barrier barriers[PTXI_BARRIERS];
    bool group_waits;         /* a warp waits for its warpgroup */
    uint32_t barriers_in_use; /* bit per barrier at which a warp has arrived */
    unsigned char *shared;
    unsigned char *local;
    size_t shared_bytes, local_bytes; /* as allocated */
    size_t frame_stride;
    unsigned char *frames; /* entry frames, frame_stride bytes apart */
    size_t frame_bytes;
    const struct ptxi_grid *prepared_for; /* the setup in the frames is of this launch ... */
    uint64_t prepared_id;                 /* ... with this number */
    struct ptxi_warp *warps;
    uint32_t warps_allocated;
    struct ptxi_cta *next, *next_free; /* places of the worker, and those of them that are not busy */

    /* Its cluster, all on one worker; without one, a CTA is a cluster of its own. */
    struct ptxi_cta *lead; /* the CTA of rank 0, whose fields below are the cluster's */
    uint32_t rank;
    uint32_t member_count;
    struct ptxi_cta *members[PTXI_MOST_CLUSTER];
    bool waits;                 /* a thread waits at an mbarrier or at the cluster's barrier, or did */
    bool cluster_used;          /* barrier.cluster: a thread has arrived */
    uint32_t cluster_missing;   /* and so many have not */
    struct ptxi_job *jobs, *last_job, *spare_jobs; /* bulk.c */
    uint32_t job_count, tracked_jobs; /* of them: those that mbarriers track */
    uint64_t dice;              /* chance.h */
    struct ptxi_tmem *tmem;     /* tmem.c; NULL: not used so far */
    struct ptxi_tmem_job *tmem_jobs, *spare_tmem_jobs; /* tmem_queue.c; the cluster's */
};

/* An allocation that an instruction hit last. */
struct ptxi_mem_hit {
    uint64_t lo, hi;       /* bytes [lo, hi) may be read */
    uint64_t write_hi;     /* hi, or 0 when it may not be written */
    uint64_t generation;
};
#define PTXI_MEM_HITS 256

struct ptxi_worker {
    struct ptxi_exec *exec;
    uint32_t index;
    struct ptxi_cta *ctas;     /* all places, busy ones first come first served */
    struct ptxi_cta *free_places;
    uint32_t busy;             /* places */
    struct ptxi_mem_hit hits[PTXI_MEM_HITS];
    uint64_t clock;            /* instructions executed, as coarsely as the quantum counts them */
    bool claimed;
    struct ptxi_grace *grace;  /* its thread is inside while it executes instructions */
    _Alignas(64) unsigned char unwanted[16 * PTXI_LANES]; /* results that an instruction does not want */
};

/* Dispatch tables and loops of the levels (run.c). */
struct ptxi_level {
    const char *name;
    ptxi_handler *const *table;
    struct ptxi_warp *(*run)(struct ptxi_warp *w, const struct ptxi_insn *pc); /* returns the one that ran last */
};
const struct ptxi_level *ptxi_exec_level(void);

/* split.c */

/* Runs the warp until it is done, waits, has used its quantum, or fails. When it waits at a CTA barrier, those behind it that have passed theirs
 * may have run, too: *w becomes the last of them, whose event it is. */
enum ptxi_event ptxi_warp_run(struct ptxi_warp **w, const struct ptxi_level *level);
/* Puts the warp at the start of its kernel with the given lanes. */
void ptxi_warp_start(struct ptxi_warp *w, struct ptxi_frame *frame, ptxi_lanes lanes);
/* Ends a warp in the middle: its frames are free again. */
void ptxi_warp_abandon(struct ptxi_warp *w);
/* The lanes of the k32-th warp of 32 that have all come to one CTA barrier, `*number`, and have not been counted there; or 0.
 * PTX ISA, "barrier": a warp arrives when all its threads that have not exited are there. */
ptxi_lanes ptxi_warp_at_barrier(const struct ptxi_warp *w, unsigned k32, unsigned *number);
/* Lanes that have arrived at CTA barrier `number` go on; red results are written. */
void ptxi_warp_release(struct ptxi_warp *w, unsigned number, const struct ptxi_barrier *done);

/* Lanes that wait at this mbarrier, NULL: at the cluster's barrier, look again. */
void ptxi_warp_wake(struct ptxi_warp *w, const unsigned char *mbarrier);

/* For handlers. Each returns what the handler must return. */
/* The lanes part from the running split and wait at pc. */
void ptxi_split_off(struct ptxi_warp *w, const struct ptxi_insn *pc, ptxi_lanes lanes);
/* The same, and the others go on at `first`, which is the lower pc. */
const struct ptxi_insn *ptxi_diverge(struct ptxi_warp *w, const struct ptxi_insn *first, const struct ptxi_insn *second, ptxi_lanes second_lanes);
const struct ptxi_insn *ptxi_leave_switch(struct ptxi_warp *w, const struct ptxi_insn *pc);   /* to a split that must go first */
const struct ptxi_insn *ptxi_leave_sleep(struct ptxi_warp *w, const struct ptxi_insn *pc);    /* let other splits run */
const struct ptxi_insn *ptxi_leave_poll(struct ptxi_warp *w, const struct ptxi_insn *pc);     /* likewise; then let other warps run */
const struct ptxi_insn *ptxi_leave_quantum(struct ptxi_warp *w, const struct ptxi_insn *pc);
const struct ptxi_insn *ptxi_leave_slice(struct ptxi_warp *w, const struct ptxi_insn *pc); /* the same split goes on there */
const struct ptxi_insn *ptxi_leave_barrier(struct ptxi_warp *w, const struct ptxi_insn *pc, unsigned number);
const struct ptxi_insn *ptxi_leave_mbarrier(struct ptxi_warp *w, const struct ptxi_insn *pc, const unsigned char *at);
const struct ptxi_insn *ptxi_leave_group(struct ptxi_warp *w, const struct ptxi_insn *pc); /* until a warp of the block is at a fence of wgmma, commits or exits */
const struct ptxi_insn *ptxi_leave_sync(struct ptxi_warp *w, const struct ptxi_insn *pc, ptxi_lanes mask);
/* To wait for the lanes that ptxi_absent() tells; then the instruction begins anew, with all of them. */
const struct ptxi_insn *ptxi_leave_aligned(struct ptxi_warp *w, const struct ptxi_insn *pc);
const struct ptxi_insn *ptxi_lanes_exit(struct ptxi_warp *w, ptxi_lanes lanes);

void ptxi_cta_wake_groups(struct ptxi_cta *cta);

/* frame.c */
const struct ptxi_insn *ptxi_call(struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t func);
const struct ptxi_insn *ptxi_return(struct ptxi_warp *w, const struct ptxi_insn *i);
void ptxi_frame_fill(struct ptxi_frame *frame, const struct ptxi_code *code);
/* New .local memory of lanes. */
void ptxi_local_fill(struct ptxi_warp *w, ptxi_lanes lanes, uint64_t at, uint64_t bytes);
/* Registers that the function may read before it writes them. */
void ptxi_frame_fill_unwritten(struct ptxi_frame *frame);
void ptxi_frame_drop(struct ptxi_warp *w, struct ptxi_frame *frame); /* one reference less */
void ptxi_warp_free_frames(struct ptxi_warp *w);

/* rendezvous.c: finishes a .sync instruction for all waiting lanes for whom it may be: those whom their masks name have come. */
bool ptxi_rendezvous(struct ptxi_warp *w, struct ptxi_split *arrived);
/* The same at an .aligned instruction, which they then run together. */
bool ptxi_gather(struct ptxi_warp *w, struct ptxi_split *arrived);

/* sched.c: takes a cluster out of those that have not begun; false: there is none. */
bool ptxi_grid_cancel(struct ptxi_grid *g, uint32_t first_cta[3]);

/* Claims the right to write the grid's report: true for the first fault only. */
bool ptxi_grid_fail(struct ptxi_grid *g);

/* fault.c: the launch fails with this report. `lane` is the first lane at fault. */
const struct ptxi_insn *ptxi_fault(struct ptxi_warp *w, const struct ptxi_insn *i, enum ptxi_fault_kind kind, ptxi_lanes lanes, uint64_t address,
                                   uint32_t size, const char *detail);
/* The same for what an instruction has started before. */
void ptxi_fault_later(struct ptxi_warp *w, const struct ptxi_code *code, const struct ptxi_insn *i, enum ptxi_fault_kind kind, ptxi_lanes lanes,
                      uint64_t address, uint32_t size, const char *detail);
/* The parts of a report: where, and what; `memmap`: tells the nearest allocation, or NULL. */
void ptxi_fault_locate(struct ptxi_fault_report *r, const struct ptxi_warp *w, const struct ptxi_code *code,
                       const struct ptxi_insn *i, ptxi_lanes lanes);
void ptxi_fault_describe(struct ptxi_fault_report *r, enum ptxi_fault_kind kind, uint64_t address, uint32_t size,
                         const char *detail, struct ptxi_memmap *memmap);
/* The same as ptxi_fault() for an offset into an area that is no global memory: its program's part of it begins at
 * `base`. */
struct ptxi_area {
    const char *name;
    uint64_t size, base;
};
const struct ptxi_insn *ptxi_fault_in(struct ptxi_warp *w, const struct ptxi_insn *i, enum ptxi_fault_kind kind, ptxi_lanes lanes, uint64_t offset,
                                      uint32_t size, const char *detail, const struct ptxi_area *area);

/* banks.c: counts the access to shared memory that follows instruction i. Returns what to run next. */
const struct ptxi_insn *ptxi_count_shared(struct ptxi_warp *w, const struct ptxi_insn *i);

/* barrier.c: CTA barriers, see also barrier.h. The warps of 32 whose living lanes all stand at one barrier arrive there. */
void ptxi_cta_arrive(struct ptxi_cta *cta, struct ptxi_warp *w);
/* The warp's split tells where it stands, if it is or was at a barrier as a whole. */
void ptxi_warp_settle(struct ptxi_warp *w);
/* A warp of 32 has exited: barriers no longer wait for it. */
void ptxi_cta_warp_done(struct ptxi_cta *cta);
/* Writes what bar.red gives to waiting lanes of a frame. */
void ptxi_barrier_result(struct ptxi_frame *frame, const struct ptxi_insn *i, ptxi_lanes lanes, const struct ptxi_barrier *done);

/* cluster.c: barrier.cluster */
const struct ptxi_insn *ptxi_cluster_arrive(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_cluster_wait(struct ptxi_warp *w, const struct ptxi_insn *i);
void ptxi_cluster_exit(struct ptxi_warp *w, ptxi_lanes lanes);

/* Whether the warp can run. */
static inline bool ptxi_warp_ready(const struct ptxi_warp *w)
{
    return w->state == PTXI_WARP_READY && w->sync < PTXI_SYNC_AT;
}

static inline uint32_t ptxi_thread_count(const struct ptxi_grid *g)
{
    return g->block[0] * g->block[1] * g->block[2];
}

/* Living lanes of the warps of 32 that are running which are not here. */
static inline ptxi_lanes ptxi_absent(const struct ptxi_warp *w)
{
    ptxi_lanes need = 0;

    for (unsigned k = 0; k < PTXI_WARP32S; k++)
        need |= w->active & ptxi_warp32_lanes(k) ? ptxi_warp32_lanes(k) : 0;
    return need & w->live & ~w->active;
}

static inline unsigned ptxi_first_lane(ptxi_lanes lanes)
{
    return (unsigned)__builtin_ctzll(lanes);
}

#endif
