/* PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier". */
#include "exec/sync/barrier.h"

static bool is_red(unsigned op)
{
    return op == PTXI_OP_bar_red_popc || op == PTXI_OP_bar_red_and || op == PTXI_OP_bar_red_or;
}

void ptxi_barrier_result(struct ptxi_frame *frame, const struct ptxi_insn *i, ptxi_lanes lanes, const struct ptxi_barrier *done)
{
    bool holds = i->op == PTXI_OP_bar_red_and ? done->popc == done->voters : done->popc > 0;

    if (!is_red(i->op))
        return;
    if (i->op == PTXI_OP_bar_red_popc) {
        uint32_t *r = PTXI_SLOT(frame, i->d), popc = done->popc;

        if (lanes == PTXI_ALL_LANES)
            for (unsigned l = 0; l < PTXI_LANES; l++)
                r[l] = popc;
        else
            for (ptxi_lanes left = lanes; left; left &= left - 1)
                r[ptxi_first_lane(left)] = popc;
    } else {
        ptxi_lanes *p = PTXI_SLOT(frame, i->d);

        *p = holds ? *p | lanes : *p & ~lanes;
    }
}

static __attribute__((noinline)) void give_results(struct ptxi_cta *cta, unsigned number, struct ptxi_barrier done)
{
    for (struct ptxi_warp *w = cta->warps, *end = w + cta->warp_count; w < end; w++)
        if (w->sync == PTXI_SYNC_AT + number)
            ptxi_barrier_result(w->frame, w->sync_pc, w->active, &done);
}

static __attribute__((noinline)) void release_splits(struct ptxi_cta *cta, unsigned number, struct ptxi_barrier done)
{
    for (struct ptxi_warp *w = cta->warps, *end = w + cta->warp_count; w < end; w++)
        if (w->arrived)
            ptxi_warp_release(w, number, &done);
}

/* The barrier is not read as a whole: a host's load of more than the last store wrote waits for that, and the last warp has just been counted. */
static inline void release(struct ptxi_cta *cta, unsigned number)
{
    struct ptxi_barrier *b = &cta->barriers[number], done = { .popc = b->popc, .voters = b->voters };
    ptxi_lanes splits = 0;

    *b = (struct ptxi_barrier){ 0 };
    cta->barriers_in_use &= ~(1u << number);
    if (__builtin_expect(done.voters, 0))
        give_results(cta, number, done);
    for (struct ptxi_warp *w = cta->warps, *end = w + cta->warp_count; w < end; w++)
        if (__builtin_expect(w->sync == PTXI_SYNC_AT + number, 1))
            w->sync = PTXI_SYNC_PASSED;
        else
            splits |= w->arrived;
    if (__builtin_expect(splits, 0))
        release_splits(cta, number, done);
}

const struct ptxi_insn *ptxi_cta_pass(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned number)
{
    release(w->cta, number);
    w->sync = PTXI_SYNC_NONE;
    return i + 1;
}

static __attribute__((noinline)) void release_for_others(struct ptxi_cta *cta, unsigned number)
{
    release(cta, number);
}

const struct ptxi_insn *ptxi_cta_pass_by(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned number, uint32_t threads)
{
    if (ptxi_barrier_counts(w, number, threads))
        release_for_others(w->cta, number);
    return i + 1;
}

void ptxi_warp_settle(struct ptxi_warp *w)
{
    struct ptxi_split *s = &w->splits[0];

    if (w->sync == PTXI_SYNC_PASSED) {
        s->pc = w->sync_pc + 1;
        w->sync = PTXI_SYNC_NONE;
    } else if (w->sync >= PTXI_SYNC_AT) {
        s->pc = w->sync_pc;
        s->state = PTXI_SPLIT_BARRIER;
        s->barrier = (uint16_t)(w->sync - PTXI_SYNC_AT);
    }
}

/* The warp of these lanes, all waiting at barrier `number`, arrives. */
static void arrive(struct ptxi_cta *cta, struct ptxi_warp *w, ptxi_lanes lanes, unsigned number)
{
    struct ptxi_barrier *b = &cta->barriers[number];
    bool waits = true;

    cta->barriers_in_use |= 1u << number;
    b->arrived += ptxi_warp_threads(lanes);
    w->arrived |= lanes;
    for (uint32_t k = 0; k < w->split_count; k++) {
        const struct ptxi_split *s = &w->splits[k];
        ptxi_lanes here = s->lanes & lanes;

        if (!here)
            continue;
        if (s->pc->b != PTXI_NO_SLOT)
            b->expected = ((const uint32_t *)PTXI_SLOT(s->frame, s->pc->b))[ptxi_first_lane(here)];
        if (is_red(s->pc->op))
            ptxi_barrier_vote(b, s->frame, s->pc, here);
        waits = s->pc->op != PTXI_OP_bar_arrive;
    }
    if (!waits)
        ptxi_warp_release(w, number, b);
    if (ptxi_barrier_complete(cta, b))
        release_for_others(cta, number);
}

void ptxi_cta_arrive(struct ptxi_cta *cta, struct ptxi_warp *w)
{
    for (unsigned g = 0; g < PTXI_WARP32S; g++) {
        unsigned number = 0;
        ptxi_lanes lanes = ptxi_warp_at_barrier(w, g, &number);

        if (lanes)
            arrive(cta, w, lanes, number);
    }
}

void ptxi_cta_warp_done(struct ptxi_cta *cta)
{
    cta->live_threads -= 32;
    for (uint32_t left = cta->barriers_in_use; left; left &= left - 1)
        if (ptxi_barrier_complete(cta, &cta->barriers[ptxi_first_lane(left)]))
            release_for_others(cta, ptxi_first_lane(left));
}
