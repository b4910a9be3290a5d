/* Divergence: a warp as a set of splits. The deepest frame runs first, then the lowest pc; splits of one frame that
 * stand at one pc merge. Lanes that spin until another lane does something are moved out of the way at times, so
 * that every lane gets on (PTX ISA, "Independent thread scheduling"). */
#include "exec/engine/rng.h"
#include "exec/engine/engine.h"

#include <string.h>

/* Rounds of a loop that may wait for other lanes before it gives way, at first and once it has been seen to wait. */
enum { PATIENCE_FIRST = 2048, PATIENCE_LEAST = 16 };

void ptxi_warp_start(struct ptxi_warp *w, struct ptxi_frame *frame, ptxi_lanes lanes)
{
    frame->splits = 1;
    w->live = lanes;
    w->arrived = 0;
    w->cluster_arrived = 0;
    memset(w->wgmma_fences, 0, sizeof w->wgmma_fences);
    memset(w->wgmma_groups, 0, sizeof w->wgmma_groups);
    w->split_count = 1;
    w->current = 0;
    w->patience = w->patience_limit = PATIENCE_FIRST;
    w->polls = PTXI_POLLS;
    w->sync = PTXI_SYNC_NONE;
    for (int l = 0; w->stack_moved && l < PTXI_LANES; l++)
        w->stack_top[l] = w->local_stride;
    w->stack_moved = w->goes_on = w->store_waits = false;
    if (frame->code->unwritten_count)
        ptxi_frame_fill_unwritten(frame);
    w->splits[0] = (struct ptxi_split){ .frame = frame, .pc = frame->code->insns, .lanes = lanes, .state = PTXI_SPLIT_READY };
}

void ptxi_warp_abandon(struct ptxi_warp *w)
{
    while (w->split_count)
        ptxi_frame_drop(w, w->splits[--w->split_count].frame);
    w->live = 0;
    w->sync = PTXI_SYNC_NONE;
}

static void remove_split(struct ptxi_warp *w, uint32_t k)
{
    w->splits[k] = w->splits[--w->split_count];
}

/* Joins splits that stand at one place. Quadratic, but there are few. */
static void merge(struct ptxi_warp *w)
{
    for (uint32_t a = 0; a < w->split_count; a++) {
        struct ptxi_split *s = &w->splits[a];

        if (s->state != PTXI_SPLIT_READY && s->state != PTXI_SPLIT_SLEEP)
            continue;
        for (uint32_t b = a + 1; b < w->split_count;) {
            struct ptxi_split *t = &w->splits[b];

            if (t->frame != s->frame || t->pc != s->pc || (t->state != PTXI_SPLIT_READY && t->state != PTXI_SPLIT_SLEEP)) {
                b++;
                continue;
            }
            s->lanes |= t->lanes;
            s->complete |= t->complete;
            s->expired |= t->expired;
            s->polls &= t->polls;
            if (t->state == PTXI_SPLIT_READY)
                s->state = PTXI_SPLIT_READY;
            s->frame->splits--;
            remove_split(w, b);
        }
    }
}

static bool goes_before(const struct ptxi_split *a, const struct ptxi_split *b)
{
    if (a->frame->depth != b->frame->depth)
        return a->frame->depth > b->frame->depth;
    return a->pc < b->pc;
}

/* By chance. */
static struct ptxi_split *pick_any(struct ptxi_warp *w)
{
    struct ptxi_split *found = NULL;
    uint32_t ready = 0;

    for (uint32_t k = 0; k < w->split_count; k++)
        if (w->splits[k].state == PTXI_SPLIT_READY && ptxi_one_in(&w->cta->lead->dice, ++ready))
            found = &w->splits[k];
    return found;
}

static struct ptxi_split *pick(struct ptxi_warp *w)
{
    struct ptxi_split *best = NULL;

    if (w->split_count == 1)
        return w->splits[0].state == PTXI_SPLIT_READY ? w->splits : NULL;
    if (w->cta->grid->schedule)
        return pick_any(w);
    for (uint32_t k = 0; k < w->split_count; k++) {
        struct ptxi_split *s = &w->splits[k];

        if (s->state == PTXI_SPLIT_READY && (!best || goes_before(s, best)))
            best = s;
    }
    return best;
}

/* *work: some of them can do more than wait. */
static bool wake(struct ptxi_warp *w, bool *work)
{
    bool any = false;

    *work = false;
    for (uint32_t k = 0; k < w->split_count; k++)
        if (w->splits[k].state == PTXI_SPLIT_SLEEP) {
            w->splits[k].state = PTXI_SPLIT_READY;
            *work |= !w->splits[k].polls;
            any = true;
        }
    return any;
}

ptxi_lanes ptxi_warp_at_barrier(const struct ptxi_warp *w, unsigned k32, unsigned *number)
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

/* For other warps, or for what is under way. */
static bool waits_for_others(const struct ptxi_warp *w)
{
    for (uint32_t k = 0; k < w->split_count; k++)
        if (w->splits[k].state == PTXI_SPLIT_MBARRIER || w->splits[k].state == PTXI_SPLIT_GROUP)
            return true;
    return false;
}

void ptxi_cta_wake_groups(struct ptxi_cta *cta)
{
    for (uint32_t n = 0; n < cta->warp_count; n++) {
        struct ptxi_warp *w = &cta->warps[n];

        for (uint32_t k = 0; k < w->split_count; k++)
            if (w->splits[k].state == PTXI_SPLIT_GROUP) {
                w->splits[k].state = PTXI_SPLIT_READY;
                w->state = PTXI_WARP_READY;
            }
    }
    cta->group_waits = false;
}

void ptxi_warp_wake(struct ptxi_warp *w, const unsigned char *mbarrier)
{
    for (uint32_t k = 0; k < w->split_count; k++) {
        struct ptxi_split *s = &w->splits[k];

        if (s->state != PTXI_SPLIT_MBARRIER || s->mbarrier != mbarrier)
            continue;
        s->complete = mbarrier ? s->lanes : 0;
        s->state = PTXI_SPLIT_READY;
        w->state = PTXI_WARP_READY;
    }
}

static bool some_at_barrier(const struct ptxi_warp *w)
{
    unsigned number;

    for (unsigned g = 0; g < PTXI_WARP32S; g++)
        if (ptxi_warp_at_barrier(w, g, &number))
            return true;
    return false;
}

/* A rendezvous that the exit of other lanes has made complete. */
static bool finish_rendezvous(struct ptxi_warp *w)
{
    for (uint32_t k = 0; k < w->split_count; k++)
        if ((w->splits[k].state == PTXI_SPLIT_SYNC && ptxi_rendezvous(w, &w->splits[k])) ||
            (w->splits[k].state == PTXI_SPLIT_ALIGNED && ptxi_gather(w, &w->splits[k])))
            return true;
    return false;
}

/* The pc at which the running split must stop: the lowest of those that wait above it in its frame. Splits that
 * sleep count: meeting them is how they are collected again. */
static void set_stop(struct ptxi_warp *w)
{
    const struct ptxi_split *s = &w->splits[w->current];

    for (uint32_t k = 0; k < w->split_count; k++) {
        const struct ptxi_split *t = &w->splits[k];

        if (k != w->current && t->frame == s->frame && (t->state == PTXI_SPLIT_READY || t->state == PTXI_SPLIT_SLEEP) && t->pc > s->pc &&
            t->pc < w->stop)
            w->stop = t->pc;
    }
}

static void enter(struct ptxi_warp *w, const struct ptxi_split *s)
{
    w->current = (uint32_t)(s - w->splits);
    w->frame = s->frame;
    w->regs = s->frame->regs;
    w->active = s->lanes;
    w->sync = PTXI_SYNC_NONE;
    w->stop = PTXI_NO_STOP;
    if (w->split_count > 1)
        set_stop(w);
}

enum ptxi_event ptxi_warp_run(struct ptxi_warp **which, const struct ptxi_level *level)
{
    for (struct ptxi_warp *w = *which;;) {
        struct ptxi_split *s;
        bool work;

        if (w->sync)
            ptxi_warp_settle(w);
        if (!w->split_count)
            return PTXI_EVENT_DONE;
        if (w->split_count > 1 && !w->goes_on)
            merge(w);
        s = w->goes_on ? &w->splits[w->current] : pick(w);
        w->goes_on = false;
        if (!s) {
            if (some_at_barrier(w))
                return PTXI_EVENT_BARRIER;
            if (finish_rendezvous(w))
                continue;
            if (!wake(w, &work))
                return w->arrived || waits_for_others(w) ? PTXI_EVENT_WAITING : PTXI_EVENT_BLOCKED;
            if (!work)
                return PTXI_EVENT_QUANTUM;
            continue;
        }
        enter(w, s);
        w->event = PTXI_EVENT_NONE;
        w = *which = level->run(w, s->pc);
        if (w->sync >= PTXI_SYNC_AT)
            return PTXI_EVENT_SYNC;
        if (w->event == PTXI_EVENT_NONE) {
            w->splits[w->current].pc = w->stop;
            continue;
        }
        if (w->event != PTXI_EVENT_SWITCH)
            return w->event;
    }
}

static struct ptxi_split *waiting_at(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    for (uint32_t k = 0; k < w->split_count; k++) {
        struct ptxi_split *s = &w->splits[k];

        if (k != w->current && s->pc == pc && s->frame == w->frame && (s->state == PTXI_SPLIT_READY || s->state == PTXI_SPLIT_SLEEP))
            return s;
    }
    return NULL;
}

void ptxi_split_off(struct ptxi_warp *w, const struct ptxi_insn *pc, ptxi_lanes lanes)
{
    struct ptxi_split *there = waiting_at(w, pc);

    w->splits[w->current].lanes &= ~lanes;
    w->active &= ~lanes;
    if (there) {
        there->lanes |= lanes;
        there->state = PTXI_SPLIT_READY;
        return;
    }
    w->splits[w->split_count++] = (struct ptxi_split){ .frame = w->frame, .pc = pc, .lanes = lanes, .state = PTXI_SPLIT_READY };
    w->frame->splits++;
    if (pc < w->stop)
        w->stop = pc;
}

const struct ptxi_insn *ptxi_diverge(struct ptxi_warp *w, const struct ptxi_insn *first, const struct ptxi_insn *second, ptxi_lanes second_lanes)
{
    ptxi_split_off(w, second, second_lanes);
    return first > w->stop ? ptxi_leave_switch(w, first) : first;
}

static const struct ptxi_insn *leave(struct ptxi_warp *w, enum ptxi_event event)
{
    w->event = event;
    return w->stop;
}

const struct ptxi_insn *ptxi_leave_switch(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    w->splits[w->current].pc = pc;
    return leave(w, PTXI_EVENT_SWITCH);
}

const struct ptxi_insn *ptxi_leave_poll(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    struct ptxi_split *s = &w->splits[w->current];

    w->polls = PTXI_POLLS;
    if (w->split_count == 1)
        return ptxi_leave_quantum(w, pc);
    s->pc = pc;
    s->state = PTXI_SPLIT_SLEEP;
    s->polls = true;
    return leave(w, PTXI_EVENT_SWITCH);
}

const struct ptxi_insn *ptxi_leave_sleep(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    struct ptxi_split *s = &w->splits[w->current];

    s->pc = pc;
    s->state = PTXI_SPLIT_SLEEP;
    s->polls = false;
    if (w->patience_limit > PATIENCE_LEAST)
        w->patience_limit /= 2;
    w->patience = w->patience_limit;
    return leave(w, PTXI_EVENT_SWITCH);
}

const struct ptxi_insn *ptxi_leave_quantum(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    w->splits[w->current].pc = pc;
    return leave(w, PTXI_EVENT_QUANTUM);
}

const struct ptxi_insn *ptxi_leave_slice(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    w->splits[w->current].pc = pc;
    w->goes_on = true;
    return leave(w, PTXI_EVENT_SLICE);
}

const struct ptxi_insn *ptxi_leave_barrier(struct ptxi_warp *w, const struct ptxi_insn *pc, unsigned number)
{
    struct ptxi_split *s = &w->splits[w->current];

    s->pc = pc;
    s->state = PTXI_SPLIT_BARRIER;
    s->barrier = (uint16_t)number;
    return leave(w, PTXI_EVENT_SWITCH);
}

const struct ptxi_insn *ptxi_leave_mbarrier(struct ptxi_warp *w, const struct ptxi_insn *pc, const unsigned char *at)
{
    struct ptxi_split *s = &w->splits[w->current];

    s->pc = pc;
    s->state = PTXI_SPLIT_MBARRIER;
    s->mbarrier = at;
    w->cta->lead->waits = true;
    return leave(w, PTXI_EVENT_SWITCH);
}

const struct ptxi_insn *ptxi_leave_group(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    struct ptxi_split *s = &w->splits[w->current];

    s->pc = pc;
    s->state = PTXI_SPLIT_GROUP;
    w->cta->group_waits = true;
    return leave(w, PTXI_EVENT_SWITCH);
}

const struct ptxi_insn *ptxi_leave_sync(struct ptxi_warp *w, const struct ptxi_insn *pc, ptxi_lanes mask)
{
    struct ptxi_split *s = &w->splits[w->current];

    s->pc = pc;
    s->state = PTXI_SPLIT_SYNC;
    s->sync_mask = mask;
    ptxi_rendezvous(w, s);
    return leave(w, PTXI_EVENT_SWITCH);
}

const struct ptxi_insn *ptxi_leave_aligned(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    struct ptxi_split *s = &w->splits[w->current];

    s->pc = pc;
    s->state = PTXI_SPLIT_ALIGNED;
    s->sync_mask = ptxi_absent(w) | w->active;
    ptxi_gather(w, s);
    return leave(w, PTXI_EVENT_SWITCH);
}

const struct ptxi_insn *ptxi_lanes_exit(struct ptxi_warp *w, ptxi_lanes lanes)
{
    struct ptxi_split *s = &w->splits[w->current];

    w->live &= ~lanes;
    ptxi_cluster_exit(w, lanes);
    s->lanes &= ~lanes;
    if (!s->lanes) {
        ptxi_frame_drop(w, s->frame);
        remove_split(w, w->current);
    }
    if (w->cta->group_waits)
        ptxi_cta_wake_groups(w->cta);
    for (unsigned g = 0; g < PTXI_WARP32S; g++)
        if (lanes & ptxi_warp32_lanes(g) && !(w->live & ptxi_warp32_lanes(g)))
            ptxi_cta_warp_done(w->cta);
    return leave(w, PTXI_EVENT_SWITCH);
}

/* Lanes of a waiting split that have not arrived with their warp go on waiting in a split of their own. */
static void leave_waiting(struct ptxi_warp *w, struct ptxi_split *s, ptxi_lanes lanes)
{
    struct ptxi_split rest = *s;

    rest.lanes &= ~lanes;
    s->lanes &= lanes;
    if (!rest.lanes)
        return;
    w->splits[w->split_count++] = rest;
    s->frame->splits++;
}

void ptxi_warp_release(struct ptxi_warp *w, unsigned number, const struct ptxi_barrier *done)
{
    for (uint32_t k = 0; k < w->split_count; k++) {
        struct ptxi_split *s = &w->splits[k];

        if (s->state != PTXI_SPLIT_BARRIER || s->barrier != number || !(s->lanes & w->arrived))
            continue;
        leave_waiting(w, s, w->arrived);
        w->arrived &= ~s->lanes;
        ptxi_barrier_result(s->frame, s->pc, s->lanes, done);
        s->pc++;
        s->state = PTXI_SPLIT_READY;
        w->state = PTXI_WARP_READY;
    }
}
