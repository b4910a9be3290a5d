#include "exec/sync/barrier.h"

#include "exec/check/check.h"
#include "exec/check/sync.h"
#include "exec/engine/divergence.h"

static bool is_red(unsigned op)
{
    return op == PTXI_OP_bar_red_popc || op == PTXI_OP_bar_red_and || op == PTXI_OP_bar_red_or;
}

/* --- results of bar.red --- */

static void write_popc(uint32_t *r, ptxi_lanes lanes, uint32_t popc)
{
    if (lanes == PTXI_ALL_LANES)
        for (unsigned l = 0; l < PTXI_LANES; l++)
            r[l] = popc;
    else
        for (ptxi_lanes left = lanes; left; left &= left - 1)
            r[ptxi_first_lane(left)] = popc;
}

/* Writes what instruction i, if it is a bar.red, gives to waiting lanes of a frame. */
static void write_result(struct ptxi_frame *frame, const struct ptxi_insn *i, ptxi_lanes lanes,
                         const struct ptxi_barrier *done)
{
    bool holds = i->op == PTXI_OP_bar_red_and ? done->popc == done->voters : done->popc > 0;

    if (!is_red(i->op))
        return;
    assert(done->popc <= done->voters);
    if (i->op == PTXI_OP_bar_red_popc) {
        write_popc(PTXI_SLOT(frame, i->d), lanes, done->popc);
    } else {
        ptxi_lanes *p = PTXI_SLOT(frame, i->d);

        *p = holds ? *p | lanes : *p & ~lanes;
    }
}

static __attribute__((noinline)) void write_results(struct ptxi_cta *cta, unsigned number, struct ptxi_barrier done)
{
    for (struct ptxi_warp *w = cta->warps, *end = w + cta->warp_count; w < end; w++)
        if (w->barrier_state == PTXI_WARP_BARRIER_AT + number)
            write_result(w->frame, w->barrier_pc, w->active, &done);
}

/* --- release --- */

/* The lanes of a diverged warp that have arrived continue, and bar.red's results are written. */
static void release_splits_of(struct ptxi_warp *w, unsigned number, const struct ptxi_barrier *done)
{
    for (uint32_t k = 0; k < w->split_count; k++) {
        struct ptxi_split *s = &w->splits[k];

        if (s->state != PTXI_SPLIT_BARRIER || s->barrier != number || !(s->lanes & w->arrived))
            continue;
        ptxi_divide_split(w, s, w->arrived);
        w->arrived &= ~s->lanes;
        write_result(s->frame, s->pc, s->lanes, done);
        s->pc++;
        s->state = PTXI_SPLIT_READY;
        w->splits_woken = true;
        w->state = PTXI_WARP_READY;
    }
}

static __attribute__((noinline)) void release_splits(struct ptxi_cta *cta, unsigned number, struct ptxi_barrier done)
{
    for (struct ptxi_warp *w = cta->warps, *end = w + cta->warp_count; w < end; w++)
        if (w->arrived)
            release_splits_of(w, number, &done);
}

/* The barrier is not copied as a whole: a load that is wider than the last store to its memory has to wait for the
 * store, and the last warp has just been counted. */
static inline void release(struct ptxi_cta *cta, unsigned number)
{
    struct ptxi_barrier *b = &cta->barriers[number], done = { .popc = b->popc, .voters = b->voters };
    ptxi_lanes splits = 0;

    if (__builtin_expect(cta->check != NULL, 0))
        ptxi_check_barrier_completes(cta, number);
    *b = (struct ptxi_barrier){ 0 };
    cta->barriers_in_use &= ~(1u << number);
    if (__builtin_expect(done.voters, 0))
        write_results(cta, number, done);
    for (struct ptxi_warp *w = cta->warps, *end = w + cta->warp_count; w < end; w++)
        if (__builtin_expect(w->barrier_state == PTXI_WARP_BARRIER_AT + number, 1))
            w->barrier_state = PTXI_WARP_BARRIER_PASSED;
        else
            splits |= w->arrived;
    if (__builtin_expect(splits, 0))
        release_splits(cta, number, done);
}

const struct ptxi_insn *ptxi_barrier_pass(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned number)
{
    release(w->cta, number);
    w->barrier_state = PTXI_WARP_BARRIER_NONE;
    return i + 1;
}

static __attribute__((noinline)) void release_others(struct ptxi_cta *cta, unsigned number)
{
    release(cta, number);
}

/* --- arrival --- */

const struct ptxi_insn *ptxi_barrier_arrive(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned number,
                                            uint32_t threads)
{
    if (w->cta->check)
        ptxi_check_barrier_arrives(w, w->active, number);
    if (ptxi_barrier_add_warp(w, number, threads))
        release_others(w->cta, number);
    return i + 1;
}

ptxi_lanes ptxi_barrier_lanes_at(const struct ptxi_warp *w, unsigned k32, unsigned *number)
{
    ptxi_lanes need = w->live & ~w->arrived & ptxi_warp32_lanes(k32), there = 0;

    for (uint32_t k = 0; k < w->split_count; k++) {
        const struct ptxi_split *s = &w->splits[k];

        if (s->state != PTXI_SPLIT_BARRIER || !(s->lanes & need))
            continue;
        if (there && s->barrier != *number)
            return 0;
        *number = s->barrier;
        there |= s->lanes & need;
    }
    return there == need ? there : 0;
}

/* The warp of 32 with these lanes, which all wait at barrier `number`, arrives. */
static void arrive_warp32(struct ptxi_cta *cta, struct ptxi_warp *w, ptxi_lanes lanes, unsigned number)
{
    struct ptxi_barrier *b = &cta->barriers[number];
    bool waits = true;

    assert(number < PTXI_BARRIERS && !(lanes & w->arrived));
    ptxi_sync_check_arrival(w, lanes);
    cta->barriers_in_use |= 1u << number;
    b->arrived += ptxi_barrier_threads(lanes);
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
    if (!waits && cta->check)
        ptxi_check_barrier_arrives(w, lanes, number);
    if (!waits)
        release_splits_of(w, number, b);
    if (ptxi_barrier_is_complete(cta, b))
        release_others(cta, number);
}

void ptxi_barrier_arrive_splits(struct ptxi_cta *cta, struct ptxi_warp *w)
{
    for (unsigned g = 0; g < PTXI_WARP32S; g++) {
        unsigned number = 0;
        ptxi_lanes lanes = ptxi_barrier_lanes_at(w, g, &number);

        if (lanes)
            arrive_warp32(cta, w, lanes, number);
    }
}

void ptxi_barrier_release_complete(struct ptxi_cta *cta)
{
    for (uint32_t left = cta->barriers_in_use; left; left &= left - 1)
        if (ptxi_barrier_is_complete(cta, &cta->barriers[ptxi_first_lane(left)]))
            release_others(cta, ptxi_first_lane(left));
}

void ptxi_barrier_warp_exit(struct ptxi_cta *cta)
{
    assert(cta->live_threads >= 32);
    cta->live_threads -= 32;
    ptxi_barrier_release_complete(cta);
}
