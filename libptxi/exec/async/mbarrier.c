/* PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier". An mbarrier is 8 bytes of shared memory, and all that is known of it. */
#include "exec/async/async.h"
#include "exec/engine/rng.h"

#include <stdio.h>
#include <string.h>

#include "exec/engine/op_shapes.h"
#include "exec/memory/access.h"
#include "exec/sched/cluster_sched.h"
#include "isa/isa.h"

/* An mbarrier object as it lies in shared memory; PTX ISA, "Contents of the mbarrier object". */
union object {
    uint64_t bits;
    struct {
        uint64_t pending : 20, expected : 20;
        int64_t tx : 22;
        uint64_t : 1, phase : 1;
    };
};
_Static_assert(sizeof(union object) == 8, "an mbarrier object has 64 bits");

enum { TX_BIT = 21, PENDING_BIT = 43, PHASE_BIT = 63 }; /* of a state */
enum { MOST = (1 << 20) - 1, MOST_TX = (1 << 20) - 1 };

static union object load(const unsigned char *at)
{
    union object o;

    memcpy(&o, at, sizeof o);
    return o;
}

/* What mbarrier.arrive returns of the object as it was before: the upper word of an H200's object, which counts up to 0. The lower one is anything. */
static uint64_t state_of(union object o)
{
    uint64_t pending = -(uint64_t)o.pending & MOST, tx = -(uint64_t)(int64_t)o.tx & (MOST << 1 | 1);

    return ((uint64_t)o.phase << PHASE_BIT | pending << PENDING_BIT | tx << TX_BIT) & ~(uint64_t)UINT32_MAX;
}

static inline uint64_t address_of(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane)
{
    return i->mods & PTXI_MBARRIER_GENERIC ? ((const uint64_t *)PTXI_SLOT(w, i->a))[lane] + (uint64_t)(int64_t)i->imm
                                           : ((const uint32_t *)PTXI_SLOT(w, i->a))[lane] + (uint32_t)i->imm;
}

/* Whether all running lanes name one mbarrier, as they mostly do. */
static bool at_one_place(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint32_t *narrow = PTXI_SLOT(w, i->a);
    const uint64_t *wide = PTXI_SLOT(w, i->a);
    unsigned first = ptxi_first_lane(w->active);
    uint64_t other = 0;

    if (w->active != PTXI_ALL_LANES)
        return !(w->active & (w->active - 1));
    if (i->mods & PTXI_MBARRIER_GENERIC)
        for (int l = 0; l < PTXI_LANES; l++)
            other |= wide[l] ^ wide[first];
    else
        for (int l = 0; l < PTXI_LANES; l++)
            other |= narrow[l] ^ narrow[first];
    return !other;
}

/* The mbarrier of one lane and whose it is; NULL after a fault. */
static unsigned char *object_at(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, struct ptxi_cta **owner)
{
    bool generic = i->mods & PTXI_MBARRIER_GENERIC;
    uint64_t at = address_of(w, i, lane);
    unsigned char *p = ptxi_mem_own(w, generic ? at - PTXI_SHARED_WINDOW : at, 8, 8);

    if (p) {
        *owner = w->cta;
        return p;
    }
    p = ptxi_mem_at(w, i, lane, generic ? PTXI_MS_GENERIC : PTXI_MS_SHARED, at, 8, 8, PTXI_ACCESS_ATOMIC);
    if (!p)
        return NULL;
    *owner = ptxi_shared_owner(w->cta, p);
    if (*owner)
        return p;
    ptxi_fault(w, i, PTXI_FK_BARRIER_USE, (ptxi_lanes)1 << lane, at, 0, "the mbarrier is not in shared memory");
    return NULL;
}

void ptxi_mbarrier_tell(const unsigned char *at, unsigned offset, char *text, size_t size)
{
    union object o = load(at);

    snprintf(text, size, "the mbarrier at 0x%x (pending count %u, tx-count %d)", offset, (unsigned)o.pending, (int)o.tx);
}

static void wake_all(struct ptxi_cta *owner, const unsigned char *at)
{
    for (uint32_t k = 0; owner->lead->waits && k < owner->warp_count; k++)
        ptxi_warp_wake(&owner->warps[k], at);
}

static bool is_complete(union object o)
{
    return !o.pending && !o.tx;
}

/* Writes the object back, in its next phase if this one is complete. */
static void settle(struct ptxi_cta *owner, unsigned char *at, union object o)
{
    bool complete = is_complete(o);

    if (complete) {
        o.phase ^= 1;
        o.pending = o.expected;
    }
    memcpy(at, &o, sizeof o);
    if (complete)
        wake_all(owner, at);
}

/* When an expect-tx has made the phase complete, the next one begins with whatever comes then: on an H200 not with another expect-tx, which
 * still belongs to the old one, so that an arrival that expects bytes is one too many. */
static union object look(struct ptxi_cta *owner, unsigned char *at)
{
    union object o = load(at);

    if (o.expected && is_complete(o)) {
        settle(owner, at, o);
        o = load(at);
    }
    return o;
}

static const struct ptxi_insn *misuse(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, const char *what)
{
    return ptxi_fault(w, i, PTXI_FK_BARRIER, (ptxi_lanes)1 << lane, 0, 0, what);
}

/* Lanes of this warp may have been woken, and be those that go first or have to be met. */
static const struct ptxi_insn *go_on(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    for (uint32_t k = 0; w->split_count > 1 && k < w->split_count; k++) {
        const struct ptxi_split *s = &w->splits[k];

        if (k != w->current && s->state == PTXI_SPLIT_READY && (s->frame != w->frame || s->pc <= i || s->pc < w->stop))
            return ptxi_leave_switch(w, i + 1);
    }
    return i + 1;
}

const struct ptxi_insn *ptxi_mbarrier_init(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint32_t *count = PTXI_SLOT(w, i->b);

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        struct ptxi_cta *owner;
        unsigned char *at = object_at(w, i, l, &owner);
        union object o = { .bits = 0 };

        if (!at)
            return w->stop;
        if (count[l] < 1 || count[l] > MOST)
            return misuse(w, i, l, "the count of an mbarrier is not within 1 and 1048575");
        o.pending = o.expected = count[l];
        memcpy(at, &o, sizeof o);
    }
    return i + 1;
}

/* What no mbarrier.init has made has a count of 0: whatever arrives there is one too many. On an H200 the object stays as it was, and threads that come
 * too late go on; some of libcu++'s tests rely on that. It is an error by the PTX ISA ("mbarrier.inval"), which shows where chance rules. */
const struct ptxi_insn *ptxi_mbarrier_inval(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        struct ptxi_cta *owner;
        unsigned char *at = object_at(w, i, ptxi_first_lane(left), &owner);

        if (!at)
            return w->stop;
        if (w->cta->grid->schedule)
            memset(at, 0, sizeof(union object));
    }
    return i + 1;
}

static bool add_tx(union object *o, int64_t tx)
{
    tx += o->tx;
    o->tx = tx;
    return tx >= -MOST_TX && tx <= MOST_TX;
}

const struct ptxi_insn *ptxi_mbarrier_tx(struct ptxi_warp *w, const struct ptxi_insn *i, bool complete)
{
    const uint32_t *tx = PTXI_SLOT(w, i->b);

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        struct ptxi_cta *owner;
        unsigned char *at = object_at(w, i, l, &owner);
        union object o;

        if (!at)
            return w->stop;
        o = complete ? look(owner, at) : load(at);
        if (!add_tx(&o, complete ? -(int64_t)tx[l] : tx[l]))
            return misuse(w, i, l, "the tx-count of an mbarrier leaves its range");
        if (complete) {
            settle(owner, at, o);
            continue;
        }
        memcpy(at, &o, sizeof o);
        if (is_complete(o))
            wake_all(owner, at);
    }
    return go_on(w, i);
}

/* The arrive-on of one lane; NULL, or what is wrong with it. */
static const char *arrive_on(union object *o, const struct ptxi_insn *i, uint32_t operand)
{
    bool expects = i->mods & PTXI_MBARRIER_EXPECT_TX;
    uint32_t count = expects ? 1 : operand;

    if (expects && !add_tx(o, operand))
        return "the tx-count of an mbarrier leaves its range";
    if (!count || count > o->pending || (i->mods & PTXI_MBARRIER_DROP && count > o->expected))
        return "more threads arrive at an mbarrier than its count says, or it has not been initialized";
    if (i->mods & PTXI_MBARRIER_DROP)
        o->expected -= count;
    o->pending -= count;
    if (i->mods & PTXI_MBARRIER_NO_COMPLETE && !o->pending && !o->tx)
        return "an arrival with .noComplete completes the phase of an mbarrier";
    return NULL;
}

/* All lanes, one after the other, at an mbarrier that waits for as many or more, so that none but the last can complete its phase. False: that is not
 * so, and nothing is done. */
static bool arrive_together(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t *state)
{
    struct ptxi_cta *owner;
    unsigned char *at;
    union object o;

    if (i->b != PTXI_NO_SLOT || i->mods & (PTXI_MBARRIER_DROP | PTXI_MBARRIER_NO_COMPLETE) || w->active != PTXI_ALL_LANES || !at_one_place(w, i))
        return false;
    at = ptxi_mem_own(w, address_of(w, i, 0) - (i->mods & PTXI_MBARRIER_GENERIC ? PTXI_SHARED_WINDOW : 0), 8, 8);
    if (!at)
        return false;
    owner = w->cta;
    o = look(owner, at);
    if (o.pending < PTXI_LANES)
        return false;
    if (state)
        for (unsigned l = 0; l < PTXI_LANES; l++)
            state[l] = state_of(o) + ((uint64_t)l << PENDING_BIT);
    o.pending -= PTXI_LANES;
    settle(owner, at, o);
    return true;
}

const struct ptxi_insn *ptxi_mbarrier_arrive(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint32_t *operand = i->b == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, i->b);
    uint64_t *state = i->d == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, i->d);

    if (arrive_together(w, i, state))
        return go_on(w, i);
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        struct ptxi_cta *owner;
        unsigned char *at = object_at(w, i, l, &owner);
        union object o;
        uint64_t before;
        const char *wrong;

        if (!at)
            return w->stop;
        o = i->mods & PTXI_MBARRIER_EXPECT_TX ? load(at) : look(owner, at);
        before = state_of(o);
        wrong = arrive_on(&o, i, operand ? operand[l] : 1);
        if (wrong)
            return misuse(w, i, l, wrong);
        settle(owner, at, o);
        if (state)
            state[l] = before;
    }
    return go_on(w, i);
}

void ptxi_mbarrier_arrives(struct ptxi_cta *owner, unsigned char *at)
{
    union object o = look(owner, at);

    o.pending -= o.pending > 0;
    settle(owner, at, o);
}

/* Bytes that are more than can be counted are the program's fault, and undefined. */
void ptxi_mbarrier_completes(struct ptxi_cta *owner, unsigned char *at, uint32_t bytes)
{
    union object o = look(owner, at);

    add_tx(&o, -(int64_t)bytes);
    settle(owner, at, o);
}

const struct ptxi_insn *ptxi_mbarrier_track(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_async_entry *e = ptxi_async_push(w, i);

    if (!e)
        return ptxi_fault(w, i, PTXI_FK_MEMORY, w->active, 0, 0, NULL);
    e->size = 0;
    w->async->arrivals++;
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        struct ptxi_cta *owner;
        unsigned char *at = object_at(w, i, l, &owner);
        union object o;

        if (!at)
            return w->stop;
        o = look(owner, at);
        if (!(i->mods & PTXI_MBARRIER_NO_INC) && o.pending++ == MOST)
            return misuse(w, i, l, "the pending count of an mbarrier leaves its range");
        memcpy(at, &o, sizeof o);
        e->to[l] = (uint32_t)(at - w->shared);
    }
    return i + 1;
}

/* --- waiting --- */

/* The lanes that ask about a phase of parity 1. */
static ptxi_lanes asked_phases(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint32_t *parity = PTXI_SLOT(w, i->b);
    const uint64_t *state = PTXI_SLOT(w, i->b);
    ptxi_lanes odd;

    if (i->mods & PTXI_MBARRIER_PARITY)
        LANE_MASK(odd, parity[l] & 1);
    else
        LANE_MASK(odd, state[l] >> PHASE_BIT);
    return odd;
}

/* What the active lanes wait for. */
struct wait {
    ptxi_lanes odd;       /* lanes that ask about a phase of parity 1 */
    ptxi_lanes done;      /* their phase is complete */
    ptxi_lanes elsewhere; /* they wait at another mbarrier than the first lane */
    bool together;        /* none does */
    unsigned char *first;
    struct ptxi_cta *owner;
};

static inline ptxi_lanes done_at(struct ptxi_cta *owner, unsigned char *at, ptxi_lanes odd)
{
    return look(owner, at).phase ? ~odd : odd;
}

/* Lane by lane; false after a fault. */
static __attribute__((noinline)) bool test_apart(struct ptxi_warp *w, const struct ptxi_insn *i, struct wait *t)
{
    t->done = t->elsewhere = 0;
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        ptxi_lanes here = (ptxi_lanes)1 << l;
        struct ptxi_cta *owner;
        unsigned char *at = object_at(w, i, l, &owner);

        if (!at)
            return false;
        t->done |= done_at(owner, at, t->odd) & here;
        t->elsewhere |= at == t->first ? 0 : here;
    }
    return true;
}

static inline bool test_again(struct ptxi_warp *w, const struct ptxi_insn *i, struct wait *t)
{
    if (!t->together)
        return test_apart(w, i, t);
    t->done = done_at(t->owner, t->first, t->odd) & w->active;
    return true;
}

static bool test_lanes(struct ptxi_warp *w, const struct ptxi_insn *i, struct wait *t)
{
    t->first = object_at(w, i, ptxi_first_lane(w->active), &t->owner);
    if (!t->first)
        return false;
    t->odd = asked_phases(w, i);
    t->together = at_one_place(w, i);
    t->elsewhere = 0;
    return test_again(w, i, t);
}

/* Nothing in the cluster can go on before this warp does. */
static bool is_last(const struct ptxi_warp *w)
{
    const struct ptxi_cta *lead = w->cta->lead;

    for (uint32_t n = 0; n < w->split_count; n++)
        if (n != w->current && (w->splits[n].state == PTXI_SPLIT_READY || w->splits[n].state == PTXI_SPLIT_SLEEP))
            return false;
    for (uint32_t m = 0; m < lead->member_count; m++)
        for (uint32_t k = 0; k < lead->members[m]->warp_count; k++)
            if (&lead->members[m]->warps[k] != w && ptxi_warp_ready(&lead->members[m]->warps[k]))
                return false;
    return true;
}

/* test_wait waits as try_wait does: how long either takes, no program can tell. */
const struct ptxi_insn *ptxi_mbarrier_test(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_split *s = &w->splits[w->current];
    ptxi_lanes complete = s->complete & w->active;
    struct wait t = { .done = 0 };

    s->complete = 0;
    if (complete != w->active && !test_lanes(w, i, &t))
        return w->stop;
    t.done |= complete;
    if (!t.done && !w->cta->grid->schedule && is_last(w) && ptxi_async_flush(w->cta->lead)) {
        if (ptxi_grid_failed(w->cta->grid))
            return ptxi_leave_quantum(w, i);
        if (!test_again(w, i, &t))
            return w->stop;
    }
    if (t.done || s->expired || (w->cta->grid->schedule && ptxi_one_in(&w->cta->lead->dice, 4))) {
        s->expired = false;
        ptxi_set_pred(w, i->d, t.done);
        return i + 1;
    }
    if (t.elsewhere)
        ptxi_split_off(w, i, t.elsewhere);
    return ptxi_leave_mbarrier(w, i, t.first);
}

const struct ptxi_insn *ptxi_mbarrier_pending(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint64_t *state = PTXI_SLOT(w, i->a);
    uint32_t *d = PTXI_SLOT(w, i->d);

    for (ptxi_lanes left = w->active; left; left &= left - 1)
        d[ptxi_first_lane(left)] = -(uint32_t)(state[ptxi_first_lane(left)] >> PENDING_BIT) & MOST;
    return i + 1;
}

static bool starts_with(const char *s, const char *prefix)
{
    return !strncmp(s, prefix, strlen(prefix));
}

/* Operations that do nothing but to look at registers, at clocks and at mbarriers. */
static bool is_idle(const struct ptxi_insn *i)
{
    static const char *const idle[] = { "mbarrier_test", "bra", "loop", "guard", "selp", "setp", "mov_", "not_pred", "and_pred", "or_pred", "nop", "count",
                                        "sreg_", "nanosleep", "add_i", "sub_i", "shl_", "shr_", "trunc_" };

    for (unsigned k = 0; k < sizeof idle / sizeof *idle; k++)
        if (starts_with(ptxi_op_names[i->op], idle[k]))
            return i->op != PTXI_OP_brx;
    return false;
}

/* Registers that hold what the wait at `wait` has told, or what was made of that. */
struct told {
    const struct ptxi_insn *wait, *end; /* of the code */
    uint16_t slots[8];
    unsigned count;
};

static bool holds(const struct told *t, uint16_t slot)
{
    for (unsigned k = 0; k < t->count; k++)
        if (t->slots[k] == slot)
            return true;
    return false;
}

/* Whether its result is a matter of what the wait has told, and of nothing else that changes. */
static bool is_told(const struct told *t, const struct ptxi_insn *i)
{
    const char *name = ptxi_op_names[i->op];

    if (starts_with(name, "setp"))
        return (holds(t, i->a) || holds(t, i->b)) && (i->c == PTXI_NO_SLOT || holds(t, i->c));
    if (starts_with(name, "and_pred") || starts_with(name, "or_pred"))
        return holds(t, i->a) && holds(t, i->b);
    return starts_with(name, "mbarrier_test") || (starts_with(name, "selp") && holds(t, i->c)) ||
           ((starts_with(name, "mov_") || starts_with(name, "not_pred")) && holds(t, i->a));
}

static void note(struct told *t, const struct ptxi_insn *i)
{
    bool tells = is_told(t, i);

    if (tells && !holds(t, i->d) && t->count < sizeof t->slots / sizeof *t->slots)
        t->slots[t->count++] = i->d;
    for (unsigned k = 0; k < t->count && !tells; k++)
        if (t->slots[k] == i->d)
            t->slots[k] = t->slots[--t->count];
}

/* Whether all that lanes do from `i` on is to come back to the wait. A branch that the wait decides need only do so one way: the other is for who
 * has waited enough. What is decided by anything else goes either way. */
static bool leads_back(struct told t, const struct ptxi_insn *i, unsigned *steps)
{
    while (i != t.wait && i < t.end && is_idle(i) && *steps && --*steps) {
        const char *name = ptxi_op_names[i->op];
        bool by_predicate = i->op == PTXI_OP_bra_if || i->op == PTXI_OP_bra_ifn || i->op == PTXI_OP_loop_if || i->op == PTXI_OP_loop_ifn;

        if (i->op == PTXI_OP_bra || i->op == PTXI_OP_loop) {
            i += i->imm;
        } else if (by_predicate || starts_with(name, "bra_") || starts_with(name, "loop_")) {
            bool told = holds(&t, i->a) || (!by_predicate && holds(&t, i->b)), taken = leads_back(t, i + i->imm, steps);

            if (taken == told)
                return taken;
            i++;
        } else {
            note(&t, i++);
        }
    }
    return i == t.wait;
}

/* Whether all that lanes do after a wait in vain is to wait again: the loop around it does nothing else. */
static bool only_waits(const struct ptxi_split *s)
{
    const struct ptxi_code *code = s->frame->code;
    struct told t = { .wait = s->pc, .end = code->insns + code->count, .slots = { s->pc->d }, .count = 1 };
    unsigned steps = 200;

    return leads_back(t, s->pc + 1, &steps);
}

static bool expire_warp(struct ptxi_warp *w)
{
    bool any = false;

    for (uint32_t n = 0; n < w->split_count; n++) {
        struct ptxi_split *s = &w->splits[n];

        if (s->state != PTXI_SPLIT_MBARRIER || !s->mbarrier || only_waits(s))
            continue;
        s->expired = true;
        s->state = PTXI_SPLIT_READY;
        w->state = PTXI_WARP_READY;
        any = true;
    }
    return any;
}

bool ptxi_mbarrier_expire(struct ptxi_cta *lead)
{
    bool any = false;

    for (uint32_t m = 0; m < lead->member_count; m++)
        for (uint32_t k = 0; k < lead->members[m]->warp_count; k++)
            any |= expire_warp(&lead->members[m]->warps[k]);
    return any;
}
