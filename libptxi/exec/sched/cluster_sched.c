/* Whose turn it is: the warps of a cluster, each until it waits, exits or has had its share. */
#include <stdio.h>
#include <time.h>

#include "exec/async/async.h"
#include "exec/engine/rng.h"
#include "exec/sched/cluster_sched.h"

/* Quanta a warp may use before the worker turns to others. */
enum { TURNS = 16 };

uint64_t ptxi_monotonic_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fail_grid(struct ptxi_warp *w, enum ptxi_fault_kind kind, const char *detail)
{
    struct ptxi_split *s = &w->splits[0];

    ptxi_warp_settle(w);
    w->frame = s->frame;
    ptxi_fault(w, s->pc, kind, s->lanes, 0, 0, detail);
}

/* What the warp has used of its quantum, and one for what lies between loops. */
static void charge(struct ptxi_warp *w)
{
    struct ptxi_grid *g = w->cta->grid;
    uint64_t used = (uint64_t)(PTXI_QUANTUM - w->quantum) + 1;

    w->worker->clock += used;
    if (g->instruction_budget)
        atomic_fetch_add_explicit(&g->spent, used, memory_order_relaxed);
}

enum ptxi_fault_kind ptxi_exceeded_limit(const struct ptxi_grid *g)
{
    if (g->instruction_budget && atomic_load_explicit(&g->spent, memory_order_relaxed) > g->instruction_budget)
        return PTXI_FK_BUDGET;
    if (g->deadline_ns && ptxi_monotonic_ns() > g->deadline_ns)
        return PTXI_FK_TIMEOUT;
    if (g->interrupts && atomic_load_explicit(g->interrupts, memory_order_relaxed) != g->interrupts_before)
        return PTXI_FK_INTERRUPTED;
    return PTXI_FK_NONE;
}

bool ptxi_within_limits(struct ptxi_warp *w)
{
    enum ptxi_fault_kind kind;

    if (ptxi_grid_failed(w->cta->grid))
        return false;
    kind = ptxi_exceeded_limit(w->cta->grid);
    if (kind != PTXI_FK_NONE)
        fail_grid(w, kind, NULL);
    return kind == PTXI_FK_NONE;
}

/* The lanes of one of the warps of 32 that share the engine's: bits from 32 * half on. */
static unsigned lanes_of(ptxi_lanes lanes, unsigned half)
{
    return (unsigned)((uint64_t)lanes >> 32 * half & 0xffffffff);
}

static const char *waits_for(const struct ptxi_warp *w, const struct ptxi_split *s, unsigned half, char *buf, size_t size)
{
    if (s->state == PTXI_SPLIT_BARRIER)
        snprintf(buf, size, "barrier %u", s->barrier);
    else if (s->state == PTXI_SPLIT_SYNC || s->state == PTXI_SPLIT_ALIGNED)
        snprintf(buf, size, "lanes 0x%x", lanes_of(s->sync_mask, half));
    else if (s->state == PTXI_SPLIT_MBARRIER && !s->mbarrier)
        snprintf(buf, size, s->pc->op == PTXI_OP_tcgen05_alloc ? "tensor memory" : "the barrier of the cluster");
    else if (s->state == PTXI_SPLIT_MBARRIER)
        ptxi_mbarrier_tell(s->mbarrier, (unsigned)(s->mbarrier - w->shared), buf, size);
    else if (s->state == PTXI_SPLIT_GROUP)
        snprintf(buf, size, "its warpgroup");
    else
        snprintf(buf, size, "its turn");
    return buf;
}

/* Appends where the lanes of a split wait that belong to one warp; returns the length, which may be cut. */
static size_t say_waiting(char *text, size_t n, size_t size, const struct ptxi_cta *c, const struct ptxi_warp *w, const struct ptxi_split *s, unsigned half)
{
    const struct ptxi_code *code = s->frame->code;
    unsigned lanes = lanes_of(s->lanes, half);
    char what[96];

    if (!lanes)
        return n;
    if (n < size)
        n += (size_t)snprintf(text + n, size - n, "%s", n ? "; " : "");
    if (c->lead->member_count > 1 && n < size)
        n += (size_t)snprintf(text + n, size - n, "CTA %u of the cluster, ", c->rank);
    if (n < size)
        n += (size_t)snprintf(text + n, size - n, "warp %u lanes 0x%x wait for %s at line %u", w->index * (PTXI_LANES / 32) + half, lanes,
                              waits_for(w, s, half, what, sizeof what), code->locs[s->pc - code->insns].line);
    return n;
}

/* Nothing in the cluster can go on and something waits: says who waits where. */
static void fail_deadlock(struct ptxi_cta *lead)
{
    char text[sizeof lead->grid->report.detail];
    size_t n = 0;
    struct ptxi_warp *first = NULL;

    for (uint32_t k = 0; k < lead->member_count * lead->warp_count; k++) {
        struct ptxi_cta *c = lead->members[k / lead->warp_count];
        struct ptxi_warp *w = &c->warps[k % lead->warp_count];

        ptxi_warp_settle(w);
        for (uint32_t s = 0; w->state != PTXI_WARP_DONE && s < w->split_count && n < sizeof text; s++) {
            for (unsigned half = 0; half < PTXI_LANES / 32; half++)
                n = say_waiting(text, n, sizeof text, c, w, &w->splits[s], half);
            if (!first)
                first = w;
        }
    }
    if (first)
        fail_grid(first, PTXI_FK_DEADLOCK, text);
}

/* What the warps of a cluster have done in one round. */
struct round {
    bool any;      /* something */
    bool gave_way; /* one wants others to run ... */
    bool busy;     /* ... since it has had its share */
};

/* Runs one warp until it waits, exits or has had its share; false when the launch has failed. *which as in ptxi_warp_run(). */
static bool run_warp(struct ptxi_cta *c, struct ptxi_warp **which, const struct ptxi_level *level, struct round *r)
{
    for (;;) {
        enum ptxi_event event = ptxi_warp_run(which, level);
        struct ptxi_warp *w = *which;

        switch (event) {
        case PTXI_EVENT_DONE:
            w->state = PTXI_WARP_DONE;
            ptxi_async_finish(w);
            charge(w);
            c->live_warps--;
            return true;
        case PTXI_EVENT_BARRIER:
            ptxi_cta_arrive(c, w);
            break;
        case PTXI_EVENT_SYNC:
            return true;
        case PTXI_EVENT_WAITING:
            w->state = PTXI_WARP_WAITING;
            return true;
        case PTXI_EVENT_SLICE:
            return true;
        case PTXI_EVENT_QUANTUM: {
            bool used = w->quantum <= 0, again = used && !w->cta->grid->schedule && ++w->turns < TURNS;

            ptxi_grace_pass(w->worker->grace);
            charge(w);
            if (!ptxi_within_limits(w))
                return false;
            w->quantum = PTXI_QUANTUM;
            if (again)
                break;
            w->turns = 0;
            r->gave_way = true;
            r->busy |= used;
            return true;
        }
        case PTXI_EVENT_BLOCKED:
            /* lanes of one warp at barriers and rendezvous that exclude each other */
            fail_deadlock(c->lead);
            return false;
        default:
            return false;
        }
    }
}

/* Waits at mbarriers end in vain. False: nobody could do anything but wait again. */
static bool expire(struct ptxi_cta *lead)
{
    return lead->waits && ptxi_mbarrier_expire(lead);
}

/* The warps that can run, each in its turn. False: the launch has failed. */
static bool run_warps(struct ptxi_cta *c, const struct ptxi_level *level, struct round *r)
{
    for (struct ptxi_warp *w = c->warps; w < c->warps + c->warp_count; w++) {
        if (!ptxi_warp_ready(w))
            continue;
        r->any = true;
        if (!run_warp(c, &w, level, r))
            return false;
    }
    return true;
}

/* Whether a warp's slice has ended before it had to wait: other warps that only wait need not give way to another cluster then. */
static bool some_go_on(const struct ptxi_cta *lead)
{
    for (uint32_t m = 0; m < lead->member_count; m++)
        for (uint32_t k = 0; k < lead->members[m]->warp_count; k++)
            if (lead->members[m]->warps[k].goes_on)
                return true;
    return false;
}

/* At most `rounds` rounds of the cluster's warps. */
static enum ptxi_cluster_status run_in_order(struct ptxi_cta *lead, const struct ptxi_level *level, uint32_t rounds)
{
    while (rounds--) {
        struct round r = { .any = false };
        uint32_t live = 0;

        for (uint32_t m = 0; m < lead->member_count; m++) {
            if (!run_warps(lead->members[m], level, &r))
                return PTXI_CLUSTER_FAILED;
            live += lead->members[m]->live_warps;
        }
        if (!live)
            return PTXI_CLUSTER_FINISHED;
        if (r.gave_way && (r.busy || !some_go_on(lead))) {
            ptxi_async_flush(lead);
            expire(lead);
            return r.busy ? PTXI_CLUSTER_GAVE_WAY : PTXI_CLUSTER_WAITS;
        }
        if (r.any || ptxi_async_flush(lead)) {
            if (ptxi_grid_failed(lead->grid))
                return PTXI_CLUSTER_FAILED;
            continue;
        }
        if (expire(lead))
            return PTXI_CLUSTER_GAVE_WAY;
        fail_deadlock(lead);
        return PTXI_CLUSTER_FAILED;
    }
    return PTXI_CLUSTER_GAVE_WAY;
}

/* --- fairly, in short slices --- */

/* Instructions that a warp runs before the next one does, and rounds of the warps before another cluster has its turn. A word that a warp
 * overwrites so many instructions after it has read it is still there for the others, as on a GPU. */
enum { SLICE_STEPS = 8, SLICE_ROUNDS = 8 };

/* Runs a slice. Returns where the warp stands: w->stop, unless the slice has ended first. */
static inline const struct ptxi_insn *run_slice(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    uint32_t steps = SLICE_STEPS;
    const struct ptxi_insn *before;

    do {
        before = pc;
        pc = w->table[pc->op](pc, w);
    } while (pc != w->stop && --steps);
    if (pc != w->stop && before->op == PTXI_OP_tensor_coords) /* the next instruction belongs to it */
        pc = w->table[pc->op](pc, w);
    return pc;
}

/* Where the warp goes on, if it can without a look at its splits: NULL if not. */
static inline const struct ptxi_insn *resume(struct ptxi_warp *w)
{
    if (w->goes_on && w->split_count == 1) {
        w->goes_on = false;
        w->event = PTXI_EVENT_NONE;
        return w->splits[0].pc;
    }
    if (w->sync != PTXI_SYNC_PASSED)
        return NULL;
    w->sync = PTXI_SYNC_NONE;
    return w->sync_pc + 1;
}

/* The dispatch loop of a fair schedule. From a warp whose slice has ended, or that has come to a barrier, it goes on to the next one
 * of the CTA. */
static struct ptxi_warp *run_slices(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    for (;;) {
        pc = run_slice(w, pc);
        if (pc != w->stop)
            ptxi_leave_slice(w, pc);
        else if (w->sync < PTXI_SYNC_AT)
            return w;
        if (w->next <= w || !(pc = resume(w->next)))
            return w;
        w = w->next;
    }
}

static enum ptxi_cluster_status run_fairly(struct ptxi_cta *lead)
{
    static const struct ptxi_level slices = { .run = run_slices };

    return run_in_order(lead, &slices, SLICE_ROUNDS);
}

/* --- by chance --- */

/* Most instructions between two throws of the dice, and most warps that run before another cluster does. */
enum { MOST_STEPS = 48, MOST_WARPS = 24 };

/* Does the load behind a store, and leaves the store to the warp's next turn. */
static void load_first(struct ptxi_warp *w, const struct ptxi_insn *store)
{
    w->table[store[1].op](store + 1, w);
    if (w->event != PTXI_EVENT_NONE)
        return;
    w->goes_on = w->store_waits = true;
    ptxi_leave_quantum(w, store);
}

/* Does that store; returns what to run next. */
static const struct ptxi_insn *store_late(struct ptxi_warp *w, const struct ptxi_insn *store)
{
    w->store_waits = false;
    w->table[store->op](store, w);
    return w->event == PTXI_EVENT_NONE ? store + 2 : w->stop;
}

/* The dispatch loop with an end after some instructions. A split that stands inside of a block goes on before others of its warp do;
 * what is behind tensor_coords belongs to it. */
static struct ptxi_warp *run_some(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    uint64_t *dice = &w->cta->lead->dice;
    uint32_t steps = 1 + ptxi_chance(dice, MOST_STEPS);
    const struct ptxi_insn *before;

    if (w->store_waits && (pc = store_late(w, pc)) == w->stop)
        return w;
    do {
        if (ptxi_store_may_wait(w, pc) && ptxi_one_in(dice, 4)) {
            load_first(w, pc);
            return w;
        }
        before = pc;
        pc = w->table[pc->op](pc, w);
        steps -= steps > 0;
    } while (pc != w->stop && (steps || before->op == PTXI_OP_tensor_coords));
    if (pc == w->stop)
        return w;
    w->goes_on = pc == before + 1 || before->op == PTXI_OP_guard;
    ptxi_leave_quantum(w, pc);
    return w;
}

static struct ptxi_warp *any_ready(struct ptxi_cta *lead, uint32_t *live)
{
    struct ptxi_warp *found = NULL;
    uint32_t ready = 0;

    *live = 0;
    for (uint32_t m = 0; m < lead->member_count; m++) {
        struct ptxi_cta *c = lead->members[m];

        *live += c->live_warps;
        for (uint32_t k = 0; k < c->warp_count; k++)
            if (ptxi_warp_ready(&c->warps[k]) && ptxi_one_in(&lead->dice, ++ready))
                found = &c->warps[k];
    }
    return found;
}

static enum ptxi_cluster_status run_by_chance(struct ptxi_cta *lead)
{
    static const struct ptxi_level some = { .run = run_some };

    for (uint32_t turns = 1 + ptxi_chance(&lead->dice, MOST_WARPS); turns--;) {
        uint32_t live;
        struct ptxi_warp *w = any_ready(lead, &live);
        struct round r = { .any = false };

        if (!live)
            return PTXI_CLUSTER_FINISHED;
        if (w && !run_warp(w->cta, &w, &some, &r))
            return PTXI_CLUSTER_FAILED;
        if (w && ptxi_one_in(&lead->dice, 4))
            ptxi_async_any(lead);
        if (w && ptxi_one_in(&lead->dice, 16))
            expire(lead);
        if (w || ptxi_async_flush(lead))
            continue;
        if (!expire(lead)) {
            fail_deadlock(lead);
            return PTXI_CLUSTER_FAILED;
        }
    }
    return ptxi_grid_failed(lead->grid) ? PTXI_CLUSTER_FAILED : PTXI_CLUSTER_GAVE_WAY;
}

enum ptxi_cluster_status ptxi_cluster_run(struct ptxi_cta *lead, const struct ptxi_level *level)
{
    if (lead->grid->schedule)
        return run_by_chance(lead);
    return lead->grid->fair ? run_fairly(lead) : run_in_order(lead, level, UINT32_MAX);
}
