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

/* Threads that a warp brings to a barrier: whole warps of 32. */
static uint32_t warp_threads(const struct ptxi_warp *w)
{
    uint32_t n = 0;

    for (int k = 0; k < PTXI_LANES; k += 32)
        n += (uint32_t)(w->live >> k) ? 32 : 0;
    return n;
}

static uint32_t live_threads(const struct ptxi_cta *cta)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < cta->warp_count; k++)
        if (cta->warps[k].state != PTXI_WARP_DONE)
            n += warp_threads(&cta->warps[k]);
    return n;
}

static void release(struct ptxi_cta *cta, unsigned number)
{
    struct ptxi_barrier done = cta->barriers[number];

    memset(&cta->barriers[number], 0, sizeof done);
    for (uint32_t k = 0; k < cta->warp_count; k++) {
        struct ptxi_warp *w = &cta->warps[k];

        if (w->state == PTXI_WARP_WAITING && w->barrier == number) {
            ptxi_warp_release(w, number, &done);
            w->state = PTXI_WARP_READY;
        }
    }
}

static bool complete(const struct ptxi_cta *cta, const struct ptxi_barrier *b)
{
    return b->in_use && b->arrived >= (b->expected ? b->expected : live_threads(cta));
}

void ptxi_cta_arrive(struct ptxi_cta *cta, struct ptxi_warp *w)
{
    const struct ptxi_split *s = &w->splits[0];
    unsigned number = s->barrier;
    struct ptxi_barrier *b = &cta->barriers[number];

    w->state = PTXI_WARP_WAITING;
    w->barrier = (uint8_t)number;
    b->in_use = true;
    b->arrived += warp_threads(w);
    if (s->pc->b != PTXI_NO_SLOT)
        b->expected = ((const uint32_t *)slot_of(s, s->pc->b))[ptxi_first_lane(s->lanes)];
    for (uint32_t k = 0; k < w->split_count; k++) {
        if (!is_red(w->splits[k].pc->op))
            continue;
        b->popc += (uint32_t)__builtin_popcountll(predicate_of(&w->splits[k]));
        b->voters += (uint32_t)__builtin_popcountll(w->splits[k].lanes);
    }
    if (s->pc->op == PTXI_OP_bar_arrive) {
        ptxi_warp_release(w, number, b);
        w->state = PTXI_WARP_READY;
    }
    if (complete(cta, b))
        release(cta, number);
}

void ptxi_cta_warp_done(struct ptxi_cta *cta)
{
    for (unsigned n = 0; n < PTXI_BARRIERS; n++)
        if (complete(cta, &cta->barriers[n]))
            release(cta, n);
}
