/* PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier". */
#include "exec/engine.h"

#include <string.h>

static const void *slot_of(const struct ptxi_split *s, unsigned slot)
{
    return s->frame->regs + (size_t)slot * PTXI_UNIT;
}

static ptxi_lanes predicate_of(const struct ptxi_split *s)
{
    ptxi_lanes p;

    memcpy(&p, slot_of(s, s->pc->c), sizeof p);
    return (s->pc->mods & PTXI_MOD_NOT_C ? ~p : p) & s->lanes;
}

static bool is_red(unsigned op)
{
    return op == PTXI_OP_bar_red_popc || op == PTXI_OP_bar_red_and || op == PTXI_OP_bar_red_or;
}

void ptxi_barrier_result(struct ptxi_split *s, const struct ptxi_barrier *done)
{
    unsigned char *d = s->frame->regs + (size_t)s->pc->d * PTXI_UNIT;
    bool holds = s->pc->op == PTXI_OP_bar_red_and ? done->popc == done->voters : done->popc > 0;

    if (!is_red(s->pc->op))
        return;
    if (s->pc->op == PTXI_OP_bar_red_popc) {
        for (ptxi_lanes left = s->lanes; left; left &= left - 1)
            ((uint32_t *)d)[ptxi_first_lane(left)] = done->popc;
    } else {
        ptxi_lanes *p = (ptxi_lanes *)d;

        *p = holds ? *p | s->lanes : *p & ~s->lanes;
    }
}

/* Threads that the warps of these lanes bring to a barrier: 32 for each, however many of its threads have exited. */
static uint32_t warp_threads(ptxi_lanes lanes)
{
    uint32_t n = 0;

    for (unsigned g = 0; g < PTXI_WARP32S; g++)
        n += lanes & ptxi_warp32_lanes(g) ? 32 : 0;
    return n;
}

static inline void pass(struct ptxi_warp *w)
{
    w->arrived = 0;
    w->splits[0].pc++;
    w->splits[0].state = PTXI_SPLIT_READY;
    w->state = PTXI_WARP_READY;
    w->sync = PTXI_SYNC_PASSED;
}

static void release(struct ptxi_cta *cta, unsigned number)
{
    struct ptxi_barrier done = cta->barriers[number];

    memset(&cta->barriers[number], 0, sizeof done);
    cta->barriers_in_use &= ~(1u << number);
    for (struct ptxi_warp *w = cta->warps; w < cta->warps + cta->warp_count; w++)
        if (w->sync == PTXI_SYNC_AT + number)
            pass(w);
        else if (w->arrived && w->sync < PTXI_SYNC_AT)
            ptxi_warp_release(w, number, &done);
}

static inline bool complete(const struct ptxi_cta *cta, const struct ptxi_barrier *b)
{
    return b->arrived >= (b->expected ? b->expected : cta->live_threads);
}

/* The last one to arrive goes on without a pause. */
const struct ptxi_insn *ptxi_cta_sync(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    unsigned number = i->imm & (PTXI_BARRIERS - 1);
    struct ptxi_cta *cta = w->cta;
    struct ptxi_barrier *b = &cta->barriers[number];
    struct ptxi_split *s = &w->splits[0];

    b->arrived += warp_threads(w->active);
    if (i->imm >> PTXI_BAR_COUNT_SHIFT)
        b->expected = (uint32_t)i->imm >> PTXI_BAR_COUNT_SHIFT;
    if (complete(cta, b)) {
        release(cta, number);
        return i + 1;
    }
    cta->barriers_in_use |= 1u << number;
    w->arrived = w->active;
    s->pc = i;
    s->state = PTXI_SPLIT_BARRIER;
    s->barrier = (uint16_t)number;
    w->state = PTXI_WARP_WAITING;
    w->event = PTXI_EVENT_WAITING;
    w->sync = (uint8_t)(PTXI_SYNC_AT + number);
    return w->stop;
}

/* The warp of these lanes, all waiting at barrier `number`, arrives. */
static void arrive(struct ptxi_cta *cta, struct ptxi_warp *w, ptxi_lanes lanes, unsigned number)
{
    struct ptxi_barrier *b = &cta->barriers[number];
    bool waits = true;

    cta->barriers_in_use |= 1u << number;
    b->arrived += warp_threads(lanes);
    w->arrived |= lanes;
    for (uint32_t k = 0; k < w->split_count; k++) {
        const struct ptxi_split *s = &w->splits[k];
        ptxi_lanes here = s->lanes & lanes;

        if (!here)
            continue;
        if (s->pc->b != PTXI_NO_SLOT)
            b->expected = ((const uint32_t *)slot_of(s, s->pc->b))[ptxi_first_lane(here)];
        if (is_red(s->pc->op)) {
            b->popc += (uint32_t)__builtin_popcountll(predicate_of(s) & here);
            b->voters += (uint32_t)__builtin_popcountll(here);
        }
        waits = s->pc->op != PTXI_OP_bar_arrive;
    }
    if (!waits)
        ptxi_warp_release(w, number, b);
    if (complete(cta, b))
        release(cta, number);
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
        if (complete(cta, &cta->barriers[ptxi_first_lane(left)]))
            release(cta, ptxi_first_lane(left));
}
