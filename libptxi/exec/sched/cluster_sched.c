#include "exec/sched/cluster_sched.h"

#include <assert.h>

#include "exec/async/async.h"
#include "exec/async/mbarrier.h"
#include "exec/engine/rng.h"
#include "exec/sched/deadlock.h"
#include "exec/sched/store_buffer.h"
#include "exec/sched/warp_sched.h"
#include "exec/tcgen05/tmem.h"
#include "isa/isa.h"
#include "native/native.h"

/* Lets waits at mbarriers end without success. False: all that the waiting threads would do is wait again. */
static bool expire_waits(struct ptxi_cta *lead)
{
    return lead->waits && ptxi_mbarrier_expire_waits(lead);
}

/* --- in order --- */

/* The result of one round of a cluster's warps. */
struct round {
    bool any;     /* a warp has run */
    bool yielded; /* a warp wants others to run ... */
    bool used_up; /* ... because it has used its share */
};

/* False: the launch has failed. */
static bool note_status(struct round *r, enum ptxi_warp_status status)
{
    r->any = true;
    r->yielded |= status == PTXI_WARP_YIELDED || status == PTXI_WARP_USED_UP;
    r->used_up |= status == PTXI_WARP_USED_UP;
    return status != PTXI_WARP_FAILED;
}

/* Runs those of a CTA's warps from w on that can run, one after the other. False: the launch has failed. */
static bool run_warps(struct ptxi_cta *c, struct ptxi_warp *w, const struct ptxi_level *level, struct round *r)
{
    for (; w < c->warps + c->warp_count; w++) {
        if (!ptxi_warp_ready(w))
            continue;
        if (!note_status(r, ptxi_warp_schedule(&w, level)))
            return false;
        assert(w->cta == c);
    }
    return true;
}

/* Runs a CTA. `ran`: the warp that has left the dispatch loop in this round, or NULL. False: the launch has failed. */
static bool run_cta(struct ptxi_cta *c, struct ptxi_warp *ran, const struct ptxi_level *level, struct round *r)
{
    if (!ran)
        return run_warps(c, c->warps, level, r);
    return note_status(r, ptxi_warp_schedule_on(&ran, level)) && run_warps(c, ran + 1, level, r);
}

/* Whether the time slice of a warp has ended before it had to wait. Then warps that only spin need not yield to
 * another cluster. */
static bool is_any_mid_block(const struct ptxi_cta *lead)
{
    for (uint32_t m = 0; m < lead->member_count; m++)
        for (uint32_t k = 0; k < lead->members[m]->warp_count; k++)
            if (lead->members[m]->warps[k].mid_block)
                return true;
    return false;
}

/* Runs at most `rounds` rounds of the cluster's warps. `ran`: see run_cta(). */
static enum ptxi_cluster_status run_in_order(struct ptxi_cta *lead, struct ptxi_warp *ran,
                                             const struct ptxi_level *level, uint32_t rounds)
{
    for (; rounds--; ran = NULL) {
        struct round r = { .any = false };
        uint32_t live = 0;

        for (uint32_t m = 0; m < lead->member_count; m++) {
            if (!run_cta(lead->members[m], ran, level, &r))
                return PTXI_CLUSTER_FAILED;
            live += lead->members[m]->live_warps;
        }
        if (!live)
            return PTXI_CLUSTER_FINISHED;
        if (r.yielded && (r.used_up || !is_any_mid_block(lead))) {
            ptxi_async_complete_tracked(lead);
            expire_waits(lead);
            return r.used_up ? PTXI_CLUSTER_YIELDED : PTXI_CLUSTER_WAITS;
        }
        if (r.any || ptxi_async_complete_tracked(lead)) {
            if (ptxi_grid_failed(lead->grid))
                return PTXI_CLUSTER_FAILED;
            continue;
        }
        if (expire_waits(lead))
            return PTXI_CLUSTER_YIELDED;
        ptxi_fail_deadlock(lead);
        return PTXI_CLUSTER_FAILED;
    }
    return PTXI_CLUSTER_YIELDED;
}

/* --- fair: in short slices --- */

/* Number of instructions that a warp runs before the next one does, unless it loads a word before, and of rounds of the
 * warps before another cluster runs. A word that a warp overwrites after it has read it is still there for the other
 * warps of the CTA, as on a GPU, and a word that it overwrites many instructions later for other CTAs, too. */
enum { SLICE_STEPS = 8, SLICE_ROUNDS = 8 };

/* Whether an instruction loads a word that other threads may write. It ends the slice: on a GPU the other warps read
 * the word, too, before its value arrives and this warp can overwrite it with another that depends on it. */
static inline bool awaits_memory(const struct ptxi_insn *i)
{
    unsigned flags = ptxi_op_flags[i->op == PTXI_OP_guard ? i[1].op : i->op];

    return flags & PTXI_OP_FLAG_LOAD && flags & (PTXI_OP_FLAG_GLOBAL | PTXI_OP_FLAG_SHARED | PTXI_OP_FLAG_GENERIC);
}

/* Whether the next instruction belongs to this one. A check of an access and the access are not separated, so that
 * another warp that is checked later finds the value in memory. */
static inline bool has_second_part(const struct ptxi_insn *i)
{
    return i->op == PTXI_OP_tensor_coords || i->op == PTXI_OP_check_access;
}

/* Runs a slice. Returns the pc of the warp: w->stop, unless the slice has ended first. */
static inline const struct ptxi_insn *run_slice(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    uint32_t steps = SLICE_STEPS;
    const struct ptxi_insn *before;

    do {
        before = pc;
        pc = w->table[pc->op](pc, w);
    } while (pc != w->stop && --steps && !awaits_memory(before));
    while (pc != w->stop && has_second_part(before)) {
        before = pc;
        pc = w->table[pc->op](pc, w);
    }
    return pc;
}

/* The pc at which the warp continues if its splits need not be examined, else NULL. */
static inline const struct ptxi_insn *resume_pc(struct ptxi_warp *w)
{
    if (w->mid_block && w->split_count == 1) {
        w->mid_block = false;
        w->event = PTXI_EVENT_NONE;
        return w->splits[0].pc;
    }
    if (w->barrier_state != PTXI_WARP_BARRIER_PASSED)
        return NULL;
    w->barrier_state = PTXI_WARP_BARRIER_NONE;
    return w->barrier_pc + 1;
}

/* The dispatch loop of a fair schedule. After a slice, or when the warp waits at a CTA barrier, it continues with the
 * next warp of the CTA. */
static struct ptxi_warp *run_slices(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    for (;;) {
        pc = run_slice(w, pc);
        if (pc != w->stop)
            ptxi_leave_slice(w, pc);
        else if (w->barrier_state < PTXI_WARP_BARRIER_AT)
            return w;
        if (w->next <= w || !(pc = resume_pc(w->next)))
            return w;
        w = w->next;
    }
}

static enum ptxi_cluster_status run_fairly(struct ptxi_cta *lead)
{
    static const struct ptxi_level slices = { .run = run_slices };

    return run_in_order(lead, NULL, &slices, SLICE_ROUNDS);
}

/* --- random --- */

/* Maximum number of instructions between two random choices of a warp, and of warps that run before another cluster
 * does. */
enum { MAX_STEPS = 48, MAX_WARPS = 24 };

/* Executes the load after a store. The store is executed when the warp runs next. */
static void execute_load_first(struct ptxi_warp *w, const struct ptxi_insn *store)
{
    assert(!w->store_delayed);
    w->table[store[1].op](store + 1, w);
    if (w->event != PTXI_EVENT_NONE)
        return;
    w->mid_block = w->store_delayed = true;
    ptxi_leave_quantum(w, store);
}

/* Executes that store. Returns the pc at which the warp continues. */
static const struct ptxi_insn *execute_delayed_store(struct ptxi_warp *w, const struct ptxi_insn *store)
{
    w->store_delayed = false;
    w->table[store->op](store, w);
    return w->event == PTXI_EVENT_NONE ? store + 2 : w->stop;
}

/* The dispatch loop of a random schedule, which ends after a random number of instructions. A split inside a basic
 * block continues before other splits of its warp do. The instruction after tensor_coords belongs to it. */
static struct ptxi_warp *run_some(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    uint64_t *rng_state = &w->cta->lead->rng_state;
    uint32_t steps = 1 + ptxi_rng_below(rng_state, MAX_STEPS);
    const struct ptxi_insn *before;

    if (w->store_delayed && (pc = execute_delayed_store(w, pc)) == w->stop)
        return w;
    do {
        if (ptxi_store_buffer_may_delay(w, pc) && ptxi_rng_one_in(rng_state, 4)) {
            execute_load_first(w, pc);
            return w;
        }
        before = pc;
        pc = w->table[pc->op](pc, w);
        steps -= steps > 0;
    } while (pc != w->stop && (steps || has_second_part(before)));
    if (pc == w->stop)
        return w;
    w->mid_block = pc == before + 1 || before->op == PTXI_OP_guard;
    ptxi_leave_quantum(w, pc);
    return w;
}

/* A random warp that can run, or NULL. *live: number of warps that have not ended. */
static struct ptxi_warp *pick_random_warp(struct ptxi_cta *lead, uint32_t *live)
{
    struct ptxi_warp *found = NULL;
    uint32_t ready = 0;

    *live = 0;
    for (uint32_t m = 0; m < lead->member_count; m++) {
        struct ptxi_cta *c = lead->members[m];

        *live += c->live_warps;
        for (uint32_t k = 0; k < c->warp_count; k++)
            if (ptxi_warp_ready(&c->warps[k]) && ptxi_rng_one_in(&lead->rng_state, ++ready))
                found = &c->warps[k];
    }
    return found;
}

static enum ptxi_cluster_status run_randomly(struct ptxi_cta *lead)
{
    static const struct ptxi_level some = { .run = run_some };

    for (uint32_t warps_left = 1 + ptxi_rng_below(&lead->rng_state, MAX_WARPS); warps_left--;) {
        uint32_t live;
        struct ptxi_warp *w = pick_random_warp(lead, &live);
        bool ran = w;

        if (!live)
            return PTXI_CLUSTER_FINISHED;
        if (ran && ptxi_warp_schedule(&w, &some) == PTXI_WARP_FAILED)
            return PTXI_CLUSTER_FAILED;
        if (ran && ptxi_rng_one_in(&lead->rng_state, 4))
            ptxi_async_complete_random(lead);
        if (ran && ptxi_rng_one_in(&lead->rng_state, 16))
            expire_waits(lead);
        if (ran || ptxi_async_complete_tracked(lead))
            continue;
        if (!expire_waits(lead)) {
            ptxi_fail_deadlock(lead);
            return PTXI_CLUSTER_FAILED;
        }
    }
    return ptxi_grid_failed(lead->grid) ? PTXI_CLUSTER_FAILED : PTXI_CLUSTER_YIELDED;
}

/* Counters and sanitizers are for the interpreter. */
static bool is_native(const struct ptxi_grid *g)
{
    return g->native && !g->counting && !g->check && !g->findings && !ptxi_native_is_useless(g->code);
}

static const struct ptxi_level *level_in_order(const struct ptxi_grid *g, const struct ptxi_level *level)
{
    static const struct ptxi_level native = { .run = ptxi_native_run };

    return is_native(g) ? &native : level;
}

static enum ptxi_cluster_status run_cluster(struct ptxi_cta *lead, const struct ptxi_level *level)
{
    if (lead->grid->schedule)
        return run_randomly(lead);
    if (lead->grid->fair)
        return run_fairly(lead);
    return run_in_order(lead, NULL, level_in_order(lead->grid, level), UINT32_MAX);
}

const struct ptxi_level *ptxi_cluster_level(const struct ptxi_grid *g, const struct ptxi_level *level)
{
    return g->cluster_size > 1 || g->schedule || g->fair || g->findings ? NULL : level_in_order(g, level);
}

enum ptxi_cluster_status ptxi_cluster_run_started(struct ptxi_cta *c, const struct ptxi_level *level)
{
    struct ptxi_warp *w = c->warps;

    assert(c->live_warps == c->warp_count && w->barrier_state == PTXI_WARP_BARRIER_PASSED && w->split_count == 1);
    w->barrier_state = PTXI_WARP_BARRIER_NONE;
    w = level->run(w, w->barrier_pc + 1);
    if (__builtin_expect(!c->live_warps, 1))
        return PTXI_CLUSTER_FINISHED;
    return run_in_order(c, w, level, UINT32_MAX);
}

enum ptxi_cluster_status ptxi_cluster_run(struct ptxi_cta *lead, const struct ptxi_level *level)
{
    enum ptxi_cluster_status status;

    assert(lead->lead == lead && lead->busy);
    status = run_cluster(lead, level);
    for (uint32_t m = 0; status == PTXI_CLUSTER_FINISHED && lead->grid->findings && m < lead->member_count; m++)
        ptxi_tmem_report_leak(lead->members[m]);
    return status;
}
