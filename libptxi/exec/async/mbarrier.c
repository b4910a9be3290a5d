/* PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier". */
#include "exec/async/mbarrier.h"

#include "exec/async/async.h"
#include "exec/check/check.h"
#include "exec/engine/op_shapes.h"
#include "exec/engine/rng.h"
#include "exec/memory/access.h"

static const struct ptxi_insn *fail(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, const char *detail)
{
    return ptxi_fault(w, i, PTXI_FK_BARRIER, (ptxi_lanes)1 << lane, 0, 0, detail);
}

/* --- operands --- */

static inline uint64_t address_of(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane)
{
    if (i->mods & PTXI_MBARRIER_GENERIC)
        return ((const uint64_t *)PTXI_SLOT(w, i->a))[lane] + (uint64_t)(int64_t)i->imm;
    return ((const uint32_t *)PTXI_SLOT(w, i->a))[lane] + (uint32_t)i->imm;
}

/* Whether all active lanes name the same mbarrier. True in nearly all programs. */
static bool is_same_in_all_lanes(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint32_t *shared = PTXI_SLOT(w, i->a);
    const uint64_t *generic = PTXI_SLOT(w, i->a);
    unsigned first = ptxi_first_lane(w->active);
    uint64_t differences = 0;

    if (w->active != PTXI_ALL_LANES)
        return !(w->active & (w->active - 1));
    if (i->mods & PTXI_MBARRIER_GENERIC)
        for (int l = 0; l < PTXI_LANES; l++)
            differences |= generic[l] ^ generic[first];
    else
        for (int l = 0; l < PTXI_LANES; l++)
            differences |= shared[l] ^ shared[first];
    return !differences;
}

/* The mbarrier of one lane, and the CTA that owns it. NULL: a fault. */
static unsigned char *find_object(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane,
                                  struct ptxi_cta **owner)
{
    bool generic = i->mods & PTXI_MBARRIER_GENERIC;
    uint64_t address = address_of(w, i, lane);
    unsigned char *at = ptxi_access_own_shared(w, generic ? address - PTXI_SHARED_WINDOW : address, 8, 8);

    if (at) {
        *owner = w->cta;
        return at;
    }
    at = ptxi_access_at(w, i, lane, generic ? PTXI_MS_GENERIC : PTXI_MS_SHARED, address, 8, 8, PTXI_AK_ATOMIC);
    if (!at)
        return NULL;
    *owner = ptxi_shared_owner(w->cta, at);
    if (*owner)
        return at;
    ptxi_fault(w, i, PTXI_FK_BARRIER_USE, (ptxi_lanes)1 << lane, address, 0, "the mbarrier is not in shared memory");
    return NULL;
}

/* Tells the checker about the mbarriers that lanes use. `tell` may be NULL. False: a fault. */
static bool for_each_mbarrier(struct ptxi_warp *w, const struct ptxi_insn *i, ptxi_lanes lanes,
                              void tell(struct ptxi_warp *w, ptxi_lanes lanes, struct ptxi_cta *owner, uint32_t offset))
{
    bool same = is_same_in_all_lanes(w, i);

    while (lanes) {
        ptxi_lanes these = same ? lanes : lanes & -lanes;
        struct ptxi_cta *owner;
        const unsigned char *at = find_object(w, i, ptxi_first_lane(lanes), &owner);

        if (!at)
            return false;
        ptxi_check_mbarrier_use(w, i, these, owner, (uint32_t)(at - owner->shared));
        if (tell)
            tell(w, these, owner, (uint32_t)(at - owner->shared));
        lanes &= ~these;
    }
    return true;
}

/* The next instruction. If the operation has woken other lanes of this warp, a split with a lower pc must run first. */
static const struct ptxi_insn *next_insn(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    for (uint32_t k = 0; w->split_count > 1 && k < w->split_count; k++) {
        const struct ptxi_split *s = &w->splits[k];

        if (k != w->current && s->state == PTXI_SPLIT_READY && (s->frame != w->frame || s->pc <= i || s->pc < w->stop))
            return ptxi_leave_switch(w, i + 1);
    }
    return i + 1;
}

/* --- init, inval, expect_tx, complete_tx --- */

const struct ptxi_insn *ptxi_mbarrier_init(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint32_t *count = PTXI_SLOT(w, i->b);

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        struct ptxi_cta *owner;
        unsigned char *at = find_object(w, i, l, &owner);
        union ptxi_mbarrier m = { .bits = 0 };

        if (!at)
            return w->stop;
        m.layout = (i->mods & PTXI_MBARRIER_LAYOUT_1) != 0;
        if (count[l] < 1 || count[l] > ptxi_mbarrier_max_count(m))
            return fail(w, i, l, m.layout ? "the count of an mbarrier of .layout::v1 must be from 1 to 511"
                                          : "the count of an mbarrier must be from 1 to 1048575");
        m.pending = m.expected = count[l];
        memcpy(at, &m, sizeof m);
        if (owner->check)
            ptxi_check_mbarrier_starts(w, i, l, owner, (uint32_t)(at - owner->shared));
    }
    return i + 1;
}

const struct ptxi_insn *ptxi_mbarrier_check_layout(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    ptxi_lanes equal = 0;

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        struct ptxi_cta *owner;
        const unsigned char *at = find_object(w, i, l, &owner);

        if (!at)
            return w->stop;
        if (ptxi_mbarrier_load(at).layout == ((i->mods & PTXI_MBARRIER_LAYOUT_1) != 0))
            equal |= (ptxi_lanes)1 << l;
    }
    ptxi_set_pred(w, i->d, equal);
    return i + 1;
}

/* On an H200 the object does not change, and threads that arrive or wait later continue. Some tests of libcu++ rely
 * on that. It is an error by the PTX ISA ("mbarrier.inval"), so with a random schedule the count becomes 0, and any
 * later arrival is reported as one too many. */
const struct ptxi_insn *ptxi_mbarrier_inval(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        struct ptxi_cta *owner;
        unsigned char *at = find_object(w, i, l, &owner);

        if (!at)
            return w->stop;
        if (owner->check)
            ptxi_check_mbarrier_ends(w, i, l, owner, (uint32_t)(at - owner->shared));
        if (w->cta->grid->schedule)
            memset(at, 0, sizeof(union ptxi_mbarrier));
    }
    return i + 1;
}

/* An operation on the mbarrier of a thread. `before`: the object before the operation. Returns NULL, or an error
 * message. */
typedef const char *mbarrier_operation(const struct ptxi_insn *i, uint32_t operand, struct ptxi_cta *owner,
                                       unsigned char *at, union ptxi_mbarrier *before);

/* Applies an operation to the mbarriers at one offset in the CTAs of a mask. Returns NULL, or an error message. */
static const char *apply_to_ctas(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, size_t offset,
                                 mbarrier_operation *operation, uint32_t operand)
{
    const struct ptxi_cta *lead = w->cta->lead;
    const char *error = NULL;
    union ptxi_mbarrier before;

    for (uint32_t mask = ((const uint32_t *)PTXI_SLOT(w, i->c))[lane]; mask && !error; mask &= mask - 1) {
        uint32_t rank = (uint32_t)__builtin_ctz(mask);
        struct ptxi_cta *owner;

        if (rank >= lead->member_count)
            return "the multicast mask names a CTA that is not in the cluster";
        owner = lead->members[rank];
        if (owner->check)
            ptxi_check_mbarrier_arrives(w, (ptxi_lanes)1 << lane, owner, (uint32_t)offset);
        error = operation(i, operand, owner, owner->shared + offset, &before);
    }
    return error;
}

/* Applies an operation to the mbarrier of a lane. False: a fault. */
static bool apply(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, mbarrier_operation *operation,
                  uint32_t operand, union ptxi_mbarrier *before)
{
    struct ptxi_cta *owner;
    unsigned char *at = find_object(w, i, lane, &owner);
    const char *error;

    if (!at)
        return false;
    if (i->c == PTXI_NO_SLOT)
        error = operation(i, operand, owner, at, before);
    else
        error = apply_to_ctas(w, i, lane, (size_t)(at - owner->shared), operation, operand);
    if (error)
        fail(w, i, lane, error);
    return !error;
}

static const char tx_error[] = "tx-count of an mbarrier out of range";

static const char *expect_tx(const struct ptxi_insn *i, uint32_t tx, struct ptxi_cta *owner, unsigned char *at,
                             union ptxi_mbarrier *before)
{
    union ptxi_mbarrier m = *before = ptxi_mbarrier_load(at);

    (void)i;
    if (!ptxi_mbarrier_add_tx(&m, tx))
        return tx_error;
    memcpy(at, &m, sizeof m);
    if (ptxi_mbarrier_is_complete(m))
        ptxi_mbarrier_wake_waiters(owner, at, m.layout && m.reported);
    return NULL;
}

static const char *complete_tx(const struct ptxi_insn *i, uint32_t tx, struct ptxi_cta *owner, unsigned char *at,
                               union ptxi_mbarrier *before)
{
    union ptxi_mbarrier m = *before = ptxi_mbarrier_load_current(owner, at);

    (void)i;
    if (!ptxi_mbarrier_add_tx(&m, -(int64_t)tx))
        return tx_error;
    ptxi_mbarrier_store(owner, at, m);
    return NULL;
}

static const struct ptxi_insn *change_tx(struct ptxi_warp *w, const struct ptxi_insn *i, mbarrier_operation *operation)
{
    const uint32_t *tx = PTXI_SLOT(w, i->b);
    union ptxi_mbarrier before;

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);

        if (!apply(w, i, l, operation, tx[l], &before))
            return w->stop;
    }
    return next_insn(w, i);
}

const struct ptxi_insn *ptxi_mbarrier_expect_tx(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return change_tx(w, i, expect_tx);
}

const struct ptxi_insn *ptxi_mbarrier_complete_tx_by_thread(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return change_tx(w, i, complete_tx);
}

/* --- arrive --- */

enum { STATE_TX_BIT = 21, STATE_PENDING_BIT = 43, STATE_PHASE_BIT = 63 };

/* The state that mbarrier.arrive returns, made from the object before the arrival. It is the upper word of an H200's
 * object. Its counts are negative. The lower word has no meaning. */
static uint64_t state_of(union ptxi_mbarrier m)
{
    uint64_t pending = -(uint64_t)m.pending & PTXI_MBARRIER_MAX_COUNT;
    uint64_t tx = -(uint64_t)(int64_t)m.tx & (PTXI_MBARRIER_MAX_TX << 1 | 1);

    return ((uint64_t)m.phase << STATE_PHASE_BIT | pending << STATE_PENDING_BIT | tx << STATE_TX_BIT) &
           ~(uint64_t)UINT32_MAX;
}

static const char *arrive_on(const struct ptxi_insn *i, uint32_t operand, struct ptxi_cta *owner, unsigned char *at,
                             union ptxi_mbarrier *before)
{
    bool expects = i->mods & PTXI_MBARRIER_EXPECT_TX;
    uint32_t count = expects ? 1 : operand;
    union ptxi_mbarrier m = *before = expects ? ptxi_mbarrier_load(at) : ptxi_mbarrier_load_current(owner, at);

    if (expects && !ptxi_mbarrier_add_tx(&m, operand))
        return tx_error;
    if (!count || count > m.pending || (i->mods & PTXI_MBARRIER_DROP && count > ptxi_mbarrier_expected(m)))
        return "more arrivals at an mbarrier than its pending count, or the mbarrier is not initialized";
    if (i->mods & PTXI_MBARRIER_DROP)
        m.expected -= count;
    m.pending -= count;
    if (i->mods & PTXI_MBARRIER_NO_COMPLETE && !m.pending && !m.tx)
        return "an arrival with .noComplete completes the phase of an mbarrier";
    ptxi_mbarrier_store(owner, at, m);
    return NULL;
}

/* Arrival of all lanes at one mbarrier of this CTA whose pending count is at least the number of lanes, so that only
 * the last lane can complete the phase. False: this is not such a case, and nothing is changed. */
static bool arrive_as_warp(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t *state)
{
    struct ptxi_cta *owner;
    unsigned char *at;
    union ptxi_mbarrier m;

    if (i->b != PTXI_NO_SLOT || i->c != PTXI_NO_SLOT || i->mods & (PTXI_MBARRIER_DROP | PTXI_MBARRIER_NO_COMPLETE) ||
        w->active != PTXI_ALL_LANES || !is_same_in_all_lanes(w, i))
        return false;
    at = ptxi_access_own_shared(w, address_of(w, i, 0) - (i->mods & PTXI_MBARRIER_GENERIC ? PTXI_SHARED_WINDOW : 0),
                                8, 8);
    if (!at)
        return false;
    owner = w->cta;
    m = ptxi_mbarrier_load_current(owner, at);
    if (m.pending < PTXI_LANES)
        return false;
    if (state)
        for (unsigned l = 0; l < PTXI_LANES; l++)
            state[l] = state_of(m) + ((uint64_t)l << STATE_PENDING_BIT);
    m.pending -= PTXI_LANES;
    ptxi_mbarrier_store(owner, at, m);
    return true;
}

const struct ptxi_insn *ptxi_mbarrier_arrive(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint32_t *operand = i->b == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, i->b);
    uint64_t *state = i->d == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, i->d);

    if (w->cta->check && i->c == PTXI_NO_SLOT && !for_each_mbarrier(w, i, w->active, ptxi_check_mbarrier_arrives))
        return w->stop;
    if (arrive_as_warp(w, i, state))
        return next_insn(w, i);
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        union ptxi_mbarrier before;

        if (!apply(w, i, l, arrive_on, operand ? operand[l] : 1, &before))
            return w->stop;
        if (state)
            state[l] = state_of(before);
    }
    return next_insn(w, i);
}

const struct ptxi_insn *ptxi_mbarrier_track_cp_async(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_cp_async *op;

    if (w->cta->check && !for_each_mbarrier(w, i, w->active, ptxi_check_mbarrier_tracks))
        return w->stop;
    op = ptxi_cp_async_push(w, i);
    if (!op)
        return ptxi_fault(w, i, PTXI_FK_MEMORY, w->active, 0, 0, NULL);
    op->size = 0;
    w->async->arrivals++;
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        struct ptxi_cta *owner;
        unsigned char *at = find_object(w, i, l, &owner);
        union ptxi_mbarrier m;

        if (!at)
            return w->stop;
        m = ptxi_mbarrier_load_current(owner, at);
        if (!(i->mods & PTXI_MBARRIER_NO_INC) && m.pending++ == ptxi_mbarrier_max_count(m))
            return fail(w, i, l, "pending count of an mbarrier out of range");
        memcpy(at, &m, sizeof m);
        op->to[l] = (uint32_t)(at - w->shared);
    }
    return i + 1;
}

const struct ptxi_insn *ptxi_mbarrier_pending_count(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint64_t *state = PTXI_SLOT(w, i->a);
    uint32_t *d = PTXI_SLOT(w, i->d);

    for (ptxi_lanes left = w->active; left; left &= left - 1)
        d[ptxi_first_lane(left)] =
            -(uint32_t)(state[ptxi_first_lane(left)] >> STATE_PENDING_BIT) & PTXI_MBARRIER_MAX_COUNT;
    return i + 1;
}

/* --- test_wait, try_wait --- */

/* The lanes that wait for a phase of parity 1. */
static ptxi_lanes lanes_of_odd_phase(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint32_t *parity = PTXI_SLOT(w, i->b);
    const uint64_t *state = PTXI_SLOT(w, i->b);
    ptxi_lanes odd;

    if (i->mods & PTXI_MBARRIER_PARITY)
        LANE_MASK(odd, parity[l] & 1);
    else
        LANE_MASK(odd, state[l] >> STATE_PHASE_BIT);
    return odd;
}

/* A test of the phases for which the active lanes wait. */
struct phase_test {
    ptxi_lanes odd;       /* lanes that wait for a phase of parity 1 */
    ptxi_lanes complete;  /* lanes with a complete phase */
    ptxi_lanes elsewhere; /* lanes that wait at another mbarrier than the first lane */
    bool same;            /* all lanes wait at one mbarrier */
    unsigned char *first; /* the mbarrier of the first lane */
    struct ptxi_cta *owner;
};

static inline ptxi_lanes lanes_complete_at(const struct ptxi_insn *i, struct ptxi_cta *owner, unsigned char *at,
                                           ptxi_lanes odd)
{
    union ptxi_mbarrier m = ptxi_mbarrier_load_current(owner, at);
    bool parity = i->mods & PTXI_MBARRIER_CONDITIONAL ? ptxi_mbarrier_conditional(m) : m.phase;

    return parity ? ~odd : odd;
}

/* Tests lane by lane. False: a fault. */
static __attribute__((noinline)) bool test_lane_by_lane(struct ptxi_warp *w, const struct ptxi_insn *i,
                                                        struct phase_test *t)
{
    t->complete = t->elsewhere = 0;
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        ptxi_lanes lane = (ptxi_lanes)1 << l;
        struct ptxi_cta *owner;
        unsigned char *at = find_object(w, i, l, &owner);

        if (!at)
            return false;
        t->complete |= lanes_complete_at(i, owner, at, t->odd) & lane;
        t->elsewhere |= at == t->first ? 0 : lane;
    }
    return true;
}

static inline bool test_again(struct ptxi_warp *w, const struct ptxi_insn *i, struct phase_test *t)
{
    if (!t->same)
        return test_lane_by_lane(w, i, t);
    t->complete = lanes_complete_at(i, t->owner, t->first, t->odd) & w->active;
    return true;
}

static bool test_phases(struct ptxi_warp *w, const struct ptxi_insn *i, struct phase_test *t)
{
    t->first = find_object(w, i, ptxi_first_lane(w->active), &t->owner);
    if (!t->first)
        return false;
    t->odd = lanes_of_odd_phase(w, i);
    t->same = is_same_in_all_lanes(w, i);
    t->elsewhere = 0;
    return test_again(w, i, t);
}

/* Notes for which of the lanes, whose phases are complete, there was a report, except `noted` lanes. */
static void note_reports(struct ptxi_warp *w, const struct ptxi_insn *i, ptxi_lanes lanes, ptxi_lanes noted)
{
    w->mbarrier_reported &= ~w->active | noted;
    for (lanes &= ~noted; lanes; lanes &= lanes - 1) {
        struct ptxi_cta *owner;
        const unsigned char *at = find_object(w, i, ptxi_first_lane(lanes), &owner);
        union ptxi_mbarrier m = { .bits = 0 };

        if (at)
            m = ptxi_mbarrier_load(at);
        if (m.layout && m.last_reported) {
            w->mbarrier_reported |= lanes & -lanes;
            w->as_started = false;
        }
    }
}

/* Whether nothing else in the cluster can make progress before this split does. */
static bool is_last_to_wait(const struct ptxi_warp *w)
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

/* test_wait waits as try_wait does. Programs cannot observe how long either takes. */
const struct ptxi_insn *ptxi_mbarrier_wait(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_split *s = &w->splits[w->current];
    ptxi_lanes complete = s->complete & w->active; /* noted when the split woke up */
    struct phase_test t = { .complete = 0 };

    assert(w->current < w->split_count);
    s->complete = 0;
    if (complete != w->active && !test_phases(w, i, &t))
        return w->stop;
    t.complete |= complete;
    if (!t.complete && !w->cta->grid->schedule && is_last_to_wait(w) && ptxi_async_complete_tracked(w->cta->lead)) {
        if (ptxi_grid_failed(w->cta->grid))
            return ptxi_leave_quantum(w, i);
        if (!test_again(w, i, &t))
            return w->stop;
    }
    if (t.complete || s->expired || (w->cta->grid->schedule && ptxi_rng_one_in(&w->cta->lead->rng_state, 4))) {
        s->expired = false;
        if (i->mods & PTXI_MBARRIER_REPORT)
            note_reports(w, i, t.complete, complete);
        if (w->cta->check) {
            for_each_mbarrier(w, i, t.complete, ptxi_check_mbarrier_waits);
            for_each_mbarrier(w, i, w->active & ~t.complete, NULL);
        }
        ptxi_set_pred(w, i->d, t.complete);
        return i + 1;
    }
    if (t.elsewhere)
        ptxi_split_off(w, i, t.elsewhere);
    w->mbarrier_reported &= ~w->active;
    return ptxi_leave_mbarrier(w, i, t.first);
}

static bool expire_waits_of_warp(struct ptxi_warp *w)
{
    bool any = false;

    for (uint32_t n = 0; n < w->split_count; n++) {
        struct ptxi_split *s = &w->splits[n];

        if (s->state != PTXI_SPLIT_MBARRIER || !s->mbarrier || s->pc->mods & PTXI_MBARRIER_ONLY_WAITS)
            continue;
        assert(s->pc->op == PTXI_OP_mbarrier_test);
        s->expired = true;
        s->state = PTXI_SPLIT_READY;
        w->state = PTXI_WARP_READY;
        any = true;
    }
    return any;
}

bool ptxi_mbarrier_expire_waits(struct ptxi_cta *lead)
{
    bool any = false;

    for (uint32_t m = 0; m < lead->member_count; m++)
        for (uint32_t k = 0; k < lead->members[m]->warp_count; k++)
            any |= expire_waits_of_warp(&lead->members[m]->warps[k]);
    return any;
}
