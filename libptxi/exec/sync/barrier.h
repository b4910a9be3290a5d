/* What warps do at CTA barriers, as far as it has to be quick. PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier". */
#ifndef PTXI_EXEC_SYNC_BARRIER_H
#define PTXI_EXEC_SYNC_BARRIER_H

#include "exec/engine/engine.h"

/* Threads that the warps of these lanes bring to a barrier: 32 for each, however many of its threads have exited. */
static inline uint32_t ptxi_warp_threads(ptxi_lanes lanes)
{
    uint32_t n = 0;

    if (PTXI_WARP32S == 1)
        return 32;
    for (unsigned g = 0; g < PTXI_WARP32S; g++)
        n += lanes & ptxi_warp32_lanes(g) ? 32 : 0;
    return n;
}

static inline bool ptxi_barrier_complete(const struct ptxi_cta *cta, const struct ptxi_barrier *b)
{
    return b->arrived >= (b->expected ? b->expected : cta->live_threads);
}

/* All lanes of the warp arrive; threads: that the barrier waits for, as others who have come have said; 0: all. Tells whether it is complete. */
static inline bool ptxi_barrier_counts(struct ptxi_warp *w, unsigned number, uint32_t threads)
{
    struct ptxi_cta *cta = w->cta;
    struct ptxi_barrier *b = &cta->barriers[number];

    if (!b->arrived) {
        cta->barriers_in_use |= 1u << number;
        b->expected = threads;
    }
    b->arrived += ptxi_warp_threads(w->active);
    return b->arrived >= (threads ? threads : cta->live_threads);
}

/* Lets the warps that wait at the barrier go on, and this one. */
const struct ptxi_insn *ptxi_cta_pass(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned number);

/* bar.sync, bar.red and bar.arrive of a warp that has no other splits; they return what to run next. */
typedef const struct ptxi_insn *ptxi_whole_warp(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned number, uint32_t threads);
ptxi_whole_warp ptxi_cta_pass_by;

/* The last one to arrive goes on without a pause. */
static inline const struct ptxi_insn *ptxi_cta_sync(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned number, uint32_t threads)
{
    w->sync_pc = i;
    w->sync = (uint8_t)(PTXI_SYNC_AT + number);
    return ptxi_barrier_counts(w, number, threads) ? ptxi_cta_pass(w, i, number) : w->stop;
}

/* A red's predicate. Here, since handlers may count bits in one instruction. */
static inline void ptxi_barrier_vote(struct ptxi_barrier *b, const struct ptxi_frame *frame, const struct ptxi_insn *i, ptxi_lanes lanes)
{
    ptxi_lanes p = *(const ptxi_lanes *)PTXI_SLOT(frame, i->c);

    b->popc += (uint32_t)__builtin_popcountll((i->mods & PTXI_MOD_NOT_C ? ~p : p) & lanes);
    b->voters += (uint32_t)__builtin_popcountll(lanes);
}

static inline const struct ptxi_insn *ptxi_cta_red(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned number, uint32_t threads)
{
    ptxi_barrier_vote(&w->cta->barriers[number], w->frame, i, w->active);
    return ptxi_cta_sync(w, i, number, threads);
}

#endif
