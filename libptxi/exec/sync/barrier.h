/* CTA barriers. PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier".
 *
 * A warp of 32 arrives when all its threads that have not exited are at the barrier. A warp with a single split, the
 * usual case, arrives and waits as a whole (w->barrier_state). Otherwise its splits wait in state PTXI_SPLIT_BARRIER,
 * and the scheduler calls ptxi_barrier_arrive_splits() when no split of the warp is ready. */
#ifndef PTXI_EXEC_SYNC_BARRIER_H
#define PTXI_EXEC_SYNC_BARRIER_H

#include <assert.h>

#include "exec/engine/cta.h"

/* The lanes of the k32-th warp of 32 that are all at one barrier, `*number`, and are not counted there; or 0. */
ptxi_lanes ptxi_barrier_lanes_at(const struct ptxi_warp *w, unsigned k32, unsigned *number);
/* The warps of 32 of which all live lanes wait at one barrier arrive there. */
void ptxi_barrier_arrive_splits(struct ptxi_cta *cta, struct ptxi_warp *w);
/* A warp of 32 has exited. Barriers no longer wait for it. */
void ptxi_barrier_warp_exit(struct ptxi_cta *cta);
/* Releases the warps at barriers that wait for no other thread, because live_threads has changed. */
void ptxi_barrier_release_complete(struct ptxi_cta *cta);

/* Number of threads with which the warps of these lanes count at a barrier: 32 each, even if some of the threads have
 * exited. */
static inline uint32_t ptxi_barrier_threads(ptxi_lanes lanes)
{
    uint32_t n = 0;

    if (PTXI_WARP32S == 1)
        return 32;
    for (unsigned g = 0; g < PTXI_WARP32S; g++)
        n += lanes & ptxi_warp32_lanes(g) ? 32 : 0;
    return n;
}

static inline bool ptxi_barrier_is_complete(const struct ptxi_cta *cta, const struct ptxi_barrier *b)
{
    return b->arrived >= (b->expected ? b->expected : cta->live_threads);
}

/* All lanes of the warp arrive. `threads` is the count that all warps at the barrier have given; 0: all threads of the
 * CTA. True if the barrier is complete. */
static inline bool ptxi_barrier_add_warp(struct ptxi_warp *w, unsigned number, uint32_t threads)
{
    struct ptxi_cta *cta = w->cta;
    struct ptxi_barrier *b = &cta->barriers[number];

    assert(number < PTXI_BARRIERS && w->split_count == 1 && !w->arrived);
    assert(!b->arrived || (b->expected == threads && cta->barriers_in_use >> number & 1));
    if (!b->arrived) {
        cta->barriers_in_use |= 1u << number;
        b->expected = threads;
    }
    b->arrived += ptxi_barrier_threads(w->active);
    return b->arrived >= (threads ? threads : cta->live_threads);
}

/* Releases the warps that wait at the barrier, and this one. Returns the instruction to run next. */
const struct ptxi_insn *ptxi_barrier_pass(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned number);

/* bar.sync, bar.red and bar.arrive of a warp that has a single split. Each returns the instruction to run next. */
typedef const struct ptxi_insn *ptxi_barrier_op(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned number,
                                                uint32_t threads);
ptxi_barrier_op ptxi_barrier_arrive;

/* The last warp to arrive continues at once. */
static inline const struct ptxi_insn *ptxi_barrier_sync(struct ptxi_warp *w, const struct ptxi_insn *i,
                                                        unsigned number, uint32_t threads)
{
    w->barrier_pc = i;
    w->barrier_state = (uint8_t)(PTXI_WARP_BARRIER_AT + number);
    return ptxi_barrier_add_warp(w, number, threads) ? ptxi_barrier_pass(w, i, number) : w->stop;
}

/* Counts the predicates of bar.red. Inline, because at some CPU levels it is a single instruction. */
static inline void ptxi_barrier_vote(struct ptxi_barrier *b, const struct ptxi_frame *frame, const struct ptxi_insn *i,
                                     ptxi_lanes lanes)
{
    ptxi_lanes p = *(const ptxi_lanes *)PTXI_SLOT(frame, i->c);

    b->popc += (uint32_t)__builtin_popcountll((i->mods & PTXI_MOD_NOT_C ? ~p : p) & lanes);
    b->voters += (uint32_t)__builtin_popcountll(lanes);
}

static inline const struct ptxi_insn *ptxi_barrier_red(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned number,
                                                       uint32_t threads)
{
    ptxi_barrier_vote(&w->cta->barriers[number], w->frame, i, w->active);
    return ptxi_barrier_sync(w, i, number, threads);
}

#endif
