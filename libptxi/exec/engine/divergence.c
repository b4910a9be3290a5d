/* The scheduling rule: the deepest frame runs first, then the lowest pc. Splits of one frame at one pc reconverge.
 * Splits that may spin until another lane does something yield after some rounds, so that every lane makes progress
 * (PTX ISA, "Independent thread scheduling"). */
#include "exec/engine/divergence.h"

#include <assert.h>
#include <string.h>

#include "exec/engine/frame.h"
#include "exec/engine/rng.h"

/* Number of rounds of a loop that may wait for other lanes before its split yields: initially, and the least after it
 * has yielded. */
enum { FIRST_ROUND_LIMIT = 2048, LEAST_ROUND_LIMIT = 16 };

static bool is_in_code(const struct ptxi_code *code, const struct ptxi_insn *pc)
{
    return pc >= code->insns && pc < code->insns + code->count;
}

/* Invariants of a split: its frame is referenced, its pc is in the code of the frame, and its lanes are alive. */
__attribute__((unused)) static bool is_valid_split(const struct ptxi_warp *w, const struct ptxi_split *s)
{
    return s->frame->splits && s->lanes && !(s->lanes & ~w->live) && is_in_code(s->frame->code, s->pc);
}

static struct ptxi_split *current_split(struct ptxi_warp *w)
{
    assert(w->current < w->split_count);
    return &w->splits[w->current];
}

static __attribute__((noinline)) void reset_stack(struct ptxi_warp *w)
{
    for (int l = 0; l < PTXI_LANES; l++)
        w->stack_top[l] = w->local_stride;
    w->stack_moved = false;
}

/* The warp is as after a barrier, so that the dispatch loop can go on with it. */
void ptxi_warp_start(struct ptxi_warp *w, struct ptxi_frame *frame, ptxi_lanes lanes)
{
    const struct ptxi_code *code = frame->code;

    assert(lanes && !frame->parent && code->count);
    assert(!w->exited);
    frame->splits = 1;
    w->regs = frame->regs;
    w->active = w->live = lanes;
    w->stop = PTXI_NO_STOP;
    w->quantum = PTXI_QUANTUM;
    w->frame = frame;
    w->barrier_pc = code->insns - 1;
    w->barrier_state = PTXI_WARP_BARRIER_PASSED;
    w->event = PTXI_EVENT_NONE;
    w->state = PTXI_WARP_READY;
    w->mid_block = w->store_delayed = w->splits_woken = false;
    w->as_started = true;
    w->arrived = 0;
    w->rounds_left = w->round_limit = FIRST_ROUND_LIMIT;
    w->spin_rounds_left = PTXI_SPIN_ROUNDS;
    w->split_count = 1;
    w->current = 0;
    w->quanta_used = 0;
    w->cluster_arrived = 0;
    memset(w->wgmma_fences, 0, sizeof w->wgmma_fences);
    memset(w->wgmma_groups, 0, sizeof w->wgmma_groups);
    if (__builtin_expect(w->stack_moved, 0))
        reset_stack(w);
    if (__builtin_expect(code->unwritten_count, 0))
        ptxi_frame_fill_unwritten(frame);
    w->splits[0] = (struct ptxi_split){ .frame = frame, .pc = code->insns, .lanes = lanes, .state = PTXI_SPLIT_READY };
}

void ptxi_warp_abandon(struct ptxi_warp *w)
{
    while (w->split_count)
        ptxi_frame_unref(w, w->splits[--w->split_count].frame);
    w->live = w->exited = 0;
    w->as_started = false;
    w->barrier_state = PTXI_WARP_BARRIER_NONE;
}

/* --- the set of splits --- */

static struct ptxi_split *add_split(struct ptxi_warp *w, struct ptxi_split split)
{
    assert(w->split_count < PTXI_MAX_SPLITS);
    w->as_started = false;
    w->splits[w->split_count] = split;
    split.frame->splits++;
    return &w->splits[w->split_count++];
}

static void remove_split(struct ptxi_warp *w, uint32_t k)
{
    assert(k < w->split_count);
    w->splits[k] = w->splits[--w->split_count];
}

struct ptxi_split *ptxi_divide_split(struct ptxi_warp *w, struct ptxi_split *s, ptxi_lanes keep)
{
    struct ptxi_split rest = *s;

    assert(s->lanes & keep);
    rest.lanes &= ~keep;
    s->lanes &= keep;
    return rest.lanes ? add_split(w, rest) : NULL;
}

static bool is_ready_or_asleep(const struct ptxi_split *s)
{
    return s->state == PTXI_SPLIT_READY || s->state == PTXI_SPLIT_SLEEP;
}

/* Adds the lanes of split t, at the same place, to s. */
static void join_split(struct ptxi_split *s, const struct ptxi_split *t)
{
    assert(!(s->lanes & t->lanes) && s->frame->splits > 1);
    s->lanes |= t->lanes;
    s->complete |= t->complete;
    s->expired |= t->expired;
    s->spins &= t->spins;
    if (t->state == PTXI_SPLIT_READY)
        s->state = PTXI_SPLIT_READY;
    s->frame->splits--;
}

/* Joins the splits from the b-th on to the a-th one that are at its place. */
static void join_from(struct ptxi_warp *w, uint32_t a, uint32_t b)
{
    struct ptxi_split *s = &w->splits[a];

    assert(is_valid_split(w, s));
    if (!is_ready_or_asleep(s))
        return;
    while (b < w->split_count) {
        struct ptxi_split *t = &w->splits[b];

        if (b == a || t->pc != s->pc || t->frame != s->frame || !is_ready_or_asleep(t)) {
            b++;
            continue;
        }
        join_split(s, t);
        remove_split(w, b);
        if (a == w->split_count) { /* it has moved to the place of t */
            a = b;
            s = t;
        }
    }
}

/* Joins splits at one place. */
static void reconverge(struct ptxi_warp *w)
{
    for (uint32_t a = 0; a < w->split_count; a++)
        join_from(w, a, a + 1);
}

/* The same if no two splits but the running one and another can be at one place. So the cost of a branch in many ways
 * grows with the number of ways, not with its square for each of them. */
static void reconverge_running(struct ptxi_warp *w)
{
    join_from(w, w->current, 0);
}

/* --- picking a split --- */

static bool goes_before(const struct ptxi_split *a, const struct ptxi_split *b)
{
    if (a->frame->depth != b->frame->depth)
        return a->frame->depth > b->frame->depth;
    return a->pc < b->pc;
}

static struct ptxi_split *pick_random_split(struct ptxi_warp *w)
{
    struct ptxi_split *found = NULL;
    uint32_t ready = 0;

    for (uint32_t k = 0; k < w->split_count; k++)
        if (w->splits[k].state == PTXI_SPLIT_READY && ptxi_rng_one_in(&w->cta->lead->rng_state, ++ready))
            found = &w->splits[k];
    return found;
}

/* The split that runs next; NULL: no split is ready. */
static struct ptxi_split *pick_split(struct ptxi_warp *w)
{
    struct ptxi_split *best = NULL;

    if (w->split_count == 1)
        return w->splits[0].state == PTXI_SPLIT_READY ? w->splits : NULL;
    if (w->cta->grid->schedule)
        return pick_random_split(w);
    for (uint32_t k = 0; k < w->split_count; k++) {
        struct ptxi_split *s = &w->splits[k];

        if (s->state == PTXI_SPLIT_READY && (!best || goes_before(s, best)))
            best = s;
    }
    return best;
}

/* The running split must stop at the lowest pc after its own at which another split of its frame waits. Sleeping
 * splits count, because the running one collects them when it gets there. */
static void set_stop(struct ptxi_warp *w)
{
    const struct ptxi_split *s = &w->splits[w->current];

    for (uint32_t k = 0; k < w->split_count; k++) {
        const struct ptxi_split *t = &w->splits[k];

        if (k != w->current && t->frame == s->frame && is_ready_or_asleep(t) && t->pc > s->pc && t->pc < w->stop)
            w->stop = t->pc;
    }
}

static void enter_split(struct ptxi_warp *w, const struct ptxi_split *s)
{
    assert(s->state == PTXI_SPLIT_READY && is_valid_split(w, s));
    w->current = (uint32_t)(s - w->splits);
    w->frame = s->frame;
    w->regs = s->frame->regs;
    w->active = s->lanes;
    w->barrier_state = PTXI_WARP_BARRIER_NONE;
    w->stop = PTXI_NO_STOP;
    if (w->split_count > 1)
        set_stop(w);
}

/* Points the warp at the split that runs next. Returns where it continues; NULL: no split is ready. `moved`: since the
 * last time only the running split has moved. */
static const struct ptxi_insn *enter_next_split(struct ptxi_warp *w, bool moved)
{
    struct ptxi_split *s;

    if (w->barrier_state == PTXI_WARP_BARRIER_PASSED) {
        assert(w->split_count == 1 && w->splits[0].state == PTXI_SPLIT_READY && w->frame == w->splits[0].frame);
        assert(w->active == w->splits[0].lanes && w->stop == PTXI_NO_STOP && !w->current);
        w->barrier_state = PTXI_WARP_BARRIER_NONE;
        return w->barrier_pc + 1;
    }
    if (w->barrier_state)
        ptxi_settle_barrier_split(w);
    if (w->split_count > 1 && !w->mid_block) {
        if (moved)
            reconverge_running(w);
        else
            reconverge(w);
    }
    s = w->mid_block ? &w->splits[w->current] : pick_split(w);
    w->mid_block = false;
    if (!s)
        return NULL;
    enter_split(w, s);
    return s->pc;
}

/* Enters the dispatch loop. Returns PTXI_EVENT_NONE after it, or why the warp cannot run. */
static inline enum ptxi_event run_split(struct ptxi_warp **which, const struct ptxi_level *level, bool moved)
{
    struct ptxi_warp *w = *which;
    const struct ptxi_insn *pc;

    if (!w->split_count)
        return PTXI_EVENT_DONE;
    pc = enter_next_split(w, moved);
    if (!pc)
        return PTXI_EVENT_STALLED;
    w->event = PTXI_EVENT_NONE;
    w->splits_woken = false;
    *which = level->run(w, pc);
    return PTXI_EVENT_NONE;
}

/* After the dispatch loop: PTXI_EVENT_NONE if the warp's splits can handle what has happened. */
static inline enum ptxi_event event_of(struct ptxi_warp *w)
{
    if (w->barrier_state >= PTXI_WARP_BARRIER_AT)
        return PTXI_EVENT_WARP_AT_BARRIER;
    if (w->event == PTXI_EVENT_NONE) {
        assert(w->stop != PTXI_NO_STOP);
        w->splits[w->current].pc = w->stop;
    } else if (w->event != PTXI_EVENT_SWITCH && w->event != PTXI_EVENT_JUMP) {
        return w->event;
    }
    return PTXI_EVENT_NONE;
}

enum ptxi_event ptxi_warp_run_on(struct ptxi_warp **which, const struct ptxi_level *level)
{
    enum ptxi_event event;

    while ((event = event_of(*which)) == PTXI_EVENT_NONE) {
        const struct ptxi_warp *w = *which;

        event = run_split(which, level, w->event != PTXI_EVENT_SWITCH && !w->splits_woken);
        if (event != PTXI_EVENT_NONE)
            break;
    }
    return event;
}

enum ptxi_event ptxi_warp_run(struct ptxi_warp **which, const struct ptxi_level *level)
{
    enum ptxi_event event = run_split(which, level, false);

    return event == PTXI_EVENT_NONE ? ptxi_warp_run_on(which, level) : event;
}

/* --- making splits ready --- */

bool ptxi_wake_sleeping_splits(struct ptxi_warp *w, bool *work)
{
    bool any = false;

    *work = false;
    for (uint32_t k = 0; k < w->split_count; k++)
        if (w->splits[k].state == PTXI_SPLIT_SLEEP) {
            w->splits[k].state = PTXI_SPLIT_READY;
            *work |= !w->splits[k].spins;
            any = true;
        }
    return any;
}

void ptxi_cta_wake_warpgroups(struct ptxi_cta *cta)
{
    for (uint32_t n = 0; n < cta->warp_count; n++) {
        struct ptxi_warp *w = &cta->warps[n];

        for (uint32_t k = 0; k < w->split_count; k++)
            if (w->splits[k].state == PTXI_SPLIT_WARPGROUP) {
                w->splits[k].state = PTXI_SPLIT_READY;
                w->splits_woken = true;
                w->state = PTXI_WARP_READY;
            }
    }
    cta->warpgroup_waits = false;
}

void ptxi_wake_mbarrier_splits(struct ptxi_warp *w, const unsigned char *mbarrier, bool reported)
{
    for (uint32_t k = 0; k < w->split_count; k++) {
        struct ptxi_split *s = &w->splits[k];

        if (s->state != PTXI_SPLIT_MBARRIER || s->mbarrier != mbarrier)
            continue;
        s->complete = mbarrier && !(reported && s->pc->mods & PTXI_MBARRIER_CONDITIONAL) ? s->lanes : 0;
        if (reported)
            w->mbarrier_reported |= s->lanes;
        s->state = PTXI_SPLIT_READY;
        w->splits_woken = true;
        w->state = PTXI_WARP_READY;
    }
}

void ptxi_settle_barrier_split(struct ptxi_warp *w)
{
    struct ptxi_split *s = &w->splits[0];

    if (w->barrier_state == PTXI_WARP_EXITED)
        return;
    w->as_started = false;
    assert(w->barrier_state == PTXI_WARP_BARRIER_NONE ||
           (w->split_count == 1 &&
            is_in_code(s->frame->code, w->barrier_pc + (w->barrier_state == PTXI_WARP_BARRIER_PASSED))));
    if (w->barrier_state == PTXI_WARP_BARRIER_PASSED) {
        s->pc = w->barrier_pc + 1;
        w->barrier_state = PTXI_WARP_BARRIER_NONE;
    } else if (w->barrier_state >= PTXI_WARP_BARRIER_AT) {
        s->pc = w->barrier_pc;
        s->state = PTXI_SPLIT_BARRIER;
        s->barrier = (uint16_t)(w->barrier_state - PTXI_WARP_BARRIER_AT);
    }
}

/* --- for handlers --- */

static struct ptxi_split *other_split_at(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    for (uint32_t k = 0; k < w->split_count; k++) {
        struct ptxi_split *s = &w->splits[k];

        if (k != w->current && s->pc == pc && s->frame == w->frame && is_ready_or_asleep(s))
            return s;
    }
    return NULL;
}

void ptxi_split_off(struct ptxi_warp *w, const struct ptxi_insn *pc, ptxi_lanes lanes)
{
    struct ptxi_split *there = other_split_at(w, pc);

    assert(lanes && !(lanes & ~w->active) && is_in_code(w->frame->code, pc));
    w->as_started = false;
    current_split(w)->lanes &= ~lanes;
    w->active &= ~lanes;
    if (there) {
        there->lanes |= lanes;
        there->state = PTXI_SPLIT_READY;
        return;
    }
    add_split(w, (struct ptxi_split){ .frame = w->frame, .pc = pc, .lanes = lanes, .state = PTXI_SPLIT_READY });
    if (pc < w->stop)
        w->stop = pc;
}

const struct ptxi_insn *ptxi_diverge(struct ptxi_warp *w, const struct ptxi_insn *first, const struct ptxi_insn *second,
                                     ptxi_lanes second_lanes)
{
    assert(first <= second);
    ptxi_split_off(w, second, second_lanes);
    return first > w->stop ? ptxi_leave_jump(w, first) : first;
}

static const struct ptxi_insn *leave(struct ptxi_warp *w, enum ptxi_event event)
{
    w->event = (uint8_t)event;
    w->as_started = false;
    return w->stop;
}

/* The running split continues at pc, later. */
static struct ptxi_split *stop_split_at(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    struct ptxi_split *s = current_split(w);

    assert(is_in_code(s->frame->code, pc));
    s->pc = pc;
    return s;
}

const struct ptxi_insn *ptxi_leave_switch(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    stop_split_at(w, pc);
    return leave(w, PTXI_EVENT_SWITCH);
}

const struct ptxi_insn *ptxi_leave_jump(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    stop_split_at(w, pc);
    return leave(w, PTXI_EVENT_JUMP);
}

const struct ptxi_insn *ptxi_leave_spin(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    struct ptxi_split *s;

    w->spin_rounds_left = PTXI_SPIN_ROUNDS;
    if (w->split_count == 1)
        return ptxi_leave_quantum(w, pc);
    s = stop_split_at(w, pc);
    s->state = PTXI_SPLIT_SLEEP;
    s->spins = true;
    return leave(w, PTXI_EVENT_SWITCH);
}

const struct ptxi_insn *ptxi_leave_sleep(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    struct ptxi_split *s = stop_split_at(w, pc);

    s->state = PTXI_SPLIT_SLEEP;
    s->spins = false;
    if (w->round_limit > LEAST_ROUND_LIMIT)
        w->round_limit /= 2;
    w->rounds_left = w->round_limit;
    return leave(w, PTXI_EVENT_SWITCH);
}

const struct ptxi_insn *ptxi_leave_quantum(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    stop_split_at(w, pc);
    return leave(w, PTXI_EVENT_QUANTUM);
}

const struct ptxi_insn *ptxi_leave_slice(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    stop_split_at(w, pc);
    w->mid_block = true;
    return leave(w, PTXI_EVENT_SLICE);
}

const struct ptxi_insn *ptxi_leave_barrier(struct ptxi_warp *w, const struct ptxi_insn *pc, unsigned number)
{
    struct ptxi_split *s = stop_split_at(w, pc);

    assert(number < PTXI_BARRIERS);
    s->state = PTXI_SPLIT_BARRIER;
    s->barrier = (uint16_t)number;
    return leave(w, PTXI_EVENT_SWITCH);
}

const struct ptxi_insn *ptxi_leave_mbarrier(struct ptxi_warp *w, const struct ptxi_insn *pc,
                                            const unsigned char *mbarrier)
{
    struct ptxi_split *s = stop_split_at(w, pc);

    s->state = PTXI_SPLIT_MBARRIER;
    s->mbarrier = mbarrier;
    w->cta->lead->waits = true;
    return leave(w, PTXI_EVENT_SWITCH);
}

const struct ptxi_insn *ptxi_leave_warpgroup(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    stop_split_at(w, pc)->state = PTXI_SPLIT_WARPGROUP;
    w->cta->warpgroup_waits = true;
    return leave(w, PTXI_EVENT_SWITCH);
}

/* All of the warp exits. */
static const struct ptxi_insn *exit_at_once(struct ptxi_warp *w)
{
    struct ptxi_cta *c = w->cta;

    assert(w->frame->splits == 1 && c->live_warps); /* the next CTA sets both again */
    for (unsigned k = 0; k < PTXI_WARP32S; k++)
        c->live_threads -= PTXI_WARP32S == 1 || w->live & ptxi_warp32_lanes(k) ? 32 : 0;
    c->live_warps--;
    c->warps_exited = true;
    w->worker->clock += (uint64_t)(PTXI_QUANTUM - w->quantum) + 1;
    w->split_count = 0;
    w->live = 0;
    w->state = PTXI_WARP_DONE;
    w->barrier_state = PTXI_WARP_EXITED;
    return w->stop;
}

static __attribute__((noinline)) const struct ptxi_insn *leave_exit(struct ptxi_warp *w, ptxi_lanes lanes)
{
    struct ptxi_split *s = current_split(w);

    assert(lanes && !(lanes & ~s->lanes) && !(lanes & ~w->live));
    w->live &= ~lanes;
    s->lanes &= ~lanes;
    if (!s->lanes) {
        ptxi_frame_unref(w, s->frame);
        remove_split(w, w->current);
    }
    w->exited = lanes;
    return leave(w, PTXI_EVENT_EXIT);
}

const struct ptxi_insn *ptxi_leave_exit(struct ptxi_warp *w, ptxi_lanes lanes)
{
    bool whole = w->split_count == 1 && lanes == w->live && !w->frame->parent;

    if (__builtin_expect(whole && w->exits_at_once && !w->cta->cluster_barrier_used, 1))
        return exit_at_once(w);
    return leave_exit(w, lanes);
}

/* --- .aligned instructions --- */

static bool is_aligned_with(const struct ptxi_split *a, const struct ptxi_split *b)
{
    return b->state == PTXI_SPLIT_ALIGNED && b->frame == a->frame && b->pc == a->pc;
}

bool ptxi_aligned_try_complete(struct ptxi_warp *w, struct ptxi_split *waiting)
{
    ptxi_lanes here = 0, need = 0;

    for (uint32_t k = 0; k < w->split_count; k++)
        if (is_aligned_with(waiting, &w->splits[k])) {
            here |= w->splits[k].lanes;
            need |= w->splits[k].sync_mask;
        }
    if (need & w->live & ~here)
        return false;
    for (uint32_t k = 0; k < w->split_count; k++) { /* ready splits at one place reconverge */
        struct ptxi_split *s = &w->splits[k];

        if (s != waiting && is_aligned_with(waiting, s))
            s->state = PTXI_SPLIT_READY;
    }
    waiting->state = PTXI_SPLIT_READY;
    return true;
}

const struct ptxi_insn *ptxi_leave_aligned(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    struct ptxi_split *s = stop_split_at(w, pc);

    s->state = PTXI_SPLIT_ALIGNED;
    s->sync_mask = ptxi_absent_lanes(w) | w->active;
    ptxi_aligned_try_complete(w, s);
    return leave(w, PTXI_EVENT_SWITCH);
}
