#include "exec/check/order.h"

#include "exec/check/fence.h"
#include "exec/check/sync.h"
#include "exec/finding/finding.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* --- CTAs --- */

static void forget_fence(struct ptxi_fence *f)
{
    ptxi_vclock_set(&f->lane, NULL);
    ptxi_vclock_set(&f->warp, NULL);
    ptxi_vclock_set(&f->cta, NULL);
    ptxi_vclock_set(&f->all, NULL);
    f->valid = f->sc = false;
}

static void forget_lane(struct ptxi_check_lane *lane)
{
    ptxi_knowledge_forget(&lane->what);
    for (unsigned k = 0; k < PTXI_LEVELS; k++) {
        ptxi_vclock_set(&lane->pending[k], NULL);
        ptxi_vclock_set(&lane->read[k], NULL);
        ptxi_vclock_set(&lane->wider[k], NULL);
    }
    forget_fence(&lane->fence);
    forget_fence(&lane->release);
    lane->read_address = 0;
    lane->lock.address = 0;
}

static void forget_warp(struct ptxi_check_warp *w)
{
    ptxi_knowledge_forget(&w->what);
    memset(&w->sc_fenced, 0,
           offsetof(struct ptxi_check_warp, acquiring) - offsetof(struct ptxi_check_warp, sc_fenced));
    for (unsigned k = 0; w->lanes && k < 32; k++)
        forget_lane(&w->lanes[k]);
}

/* Of the CTA that was in the context. All CTAs of a launch have the same number of warps. */
static void forget(struct ptxi_check_cta *k, unsigned warps)
{
    ptxi_knowledge_forget(&k->what);
    ptxi_knowledge_forget(&k->cluster.arrived);
    k->cluster.first = k->cluster_met = k->has_remote = 0;
    k->reads_arrived = k->reads_ended = 0;
    k->cluster.relaxed = false;
    for (unsigned b = 0; b < PTXI_BARRIERS; b++) {
        ptxi_knowledge_forget(&k->arrived[b]);
        k->arrived_any[b] = false;
    }
    for (unsigned w = 0; w < warps; w++)
        forget_warp(&k->warps[w]);
    for (uint32_t m = 0; m < k->mbarrier_count; m++) {
        ptxi_knowledge_forget(&k->mbarriers[m].arrived);
        ptxi_knowledge_forget(&k->mbarriers[m].complete);
    }
    k->mbarrier_count = 0;
    k->has_async = false;
    k->proxy_fence = k->proxy_fence_cta = 0;
}

static void free_shared(struct ptxi_check_cta *k)
{
    for (uint32_t n = 0; n < k->shared_lines; n++)
        ptxi_line_clear(k->check->checker, &k->shared[n].line);
    free(k->shared);
    k->shared = NULL;
    k->shared_lines = 0;
}

static void add_counts(struct ptxi_check_cta *k)
{
    atomic_fetch_add_explicit(&k->check->accesses, k->accesses, memory_order_relaxed);
    atomic_fetch_add_explicit(&k->check->unchecked, k->unchecked, memory_order_relaxed);
    k->accesses = k->unchecked = 0;
}

void ptxi_check_free_cta(struct ptxi_cta *c)
{
    struct ptxi_check_cta *k = c->check;

    if (!k)
        return;
    forget(k, PTXI_CHECK_WARPS);
    free_shared(k);
    add_counts(k);
    for (unsigned w = 0; w < PTXI_CHECK_WARPS; w++) {
        free(k->warps[w].lanes);
        free(k->passed[w]);
    }
    free(k->mbarriers);
    ptxi_shared_words_free(&k->words);
    free(k->undefined);
    free(k->defined.since);
    free(k->local_undefined);
    free(k->generic_writes);
    free(k);
    c->check = NULL;
}

void ptxi_check_prepare_cta(struct ptxi_cta *c)
{
    struct ptxi_check *check = c->grid->check;
    struct ptxi_check_cta *k;
    uint64_t shared;

    ptxi_check_free_cta(c);
    if (!check)
        return;
    k = check->agent_count ? calloc(1, sizeof *k) : NULL;
    shared = (uint64_t)c->grid->code->shared_base + c->grid->code->shared_bytes + c->grid->dynamic_shared;
    if (k) {
        k->check = check;
        k->shared_lines = (uint32_t)(shared >> PTXI_LINE_SHIFT) + 1;
        k->shared = calloc(k->shared_lines, sizeof *k->shared);
    }
    if (k && !k->shared) {
        free(k);
        k = NULL;
    }
    if (k && !c->grid->code->in_clusters)
        ptxi_shared_words_create(&k->words, shared);
    if (k && c->grid->tools >> PTXI_TOOL_INIT & 1) { /* without memory, shared memory counts as initialised */
        k->undefined = malloc(shared);
        k->undefined_bytes = shared;
        k->defined.count = (uint32_t)(shared / PTXI_DEFINED_LINE) + (shared % PTXI_DEFINED_LINE != 0);
        k->defined.since = calloc(k->defined.count + 1, sizeof *k->defined.since);
    }
    if (k && c->grid->code->async_proxy) /* without memory, missing fences are not found */
        k->generic_writes = calloc(shared / PTXI_PROXY_BYTES + 1, sizeof *k->generic_writes);
    c->check = k;
}

static uint32_t agent_of(const struct ptxi_cta *c)
{
    const uint32_t *size = c->grid->grid;

    return c->grid->check->first_agent + c->ctaid[0] + size[0] * (c->ctaid[1] + size[1] * c->ctaid[2]);
}

/* Shared memory is undefined, but for the part that is reserved for the system. */
static void start_undefined(struct ptxi_check_cta *k)
{
    uint64_t reserved = k->check->grid->code->shared_base;

    if (!k->undefined)
        return;
    memset(k->undefined, 0xff, k->undefined_bytes);
    memset(k->undefined, 0, reserved);
    ptxi_defined_lines_start(&k->defined, reserved);
}

void ptxi_check_start_cluster(struct ptxi_cta *lead)
{
    bool all = true;

    for (uint32_t m = 0; m < lead->member_count; m++)
        all &= lead->members[m]->check != NULL;
    for (uint32_t m = 0; m < lead->member_count; m++) {
        struct ptxi_cta *c = lead->members[m];
        struct ptxi_check_cta *k = c->check;

        if (!all) { /* memory is short */
            ptxi_check_free_cta(c);
            continue;
        }
        forget(k, c->warp_count * PTXI_WARP32S);
        add_counts(k);
        start_undefined(k);
        k->agent = agent_of(c);
        k->cta_clock = k->cluster_clock = ++*ptxi_order_clock(lead);
        for (unsigned w = 0; w < c->warp_count * PTXI_WARP32S; w++)
            k->warps[w].clock = k->cta_clock;
    }
}

/* --- comparison --- */

bool ptxi_order_in_cluster(const struct ptxi_cta *c, uint32_t agent)
{
    for (uint32_t m = 0; m < c->lead->member_count; m++)
        if (c->lead->members[m]->check->agent == agent)
            return true;
    return false;
}

enum { UNKNOWN_LANE = 32 };

/* The entries of clocks that are of a thread. */
struct who {
    uint32_t agent;
    unsigned warp, lane;
};

/* Whether clocks say that something happens before the thread's next access. strong: the access is strong. A strong
 * read without a fence orders later strong accesses of its thread, and after a barrier those of other threads: the last
 * block to increment a counter may read what the other blocks have written by volatile accesses. */
static bool knows(const struct ptxi_check_thread *t, const struct who *of, uint32_t clock, bool strong)
{
    const struct ptxi_check_cta *k = t->cta->check;
    const struct ptxi_check_warp *w = &k->warps[t->warp];
    const struct ptxi_check_lane *own = w->lanes ? &w->lanes[t->lane] : NULL;

    if (ptxi_vclock_has(k->what.known, of->agent, of->warp, of->lane, clock) ||
        ptxi_vclock_has(w->what.known, of->agent, of->warp, of->lane, clock) ||
        (own && ptxi_vclock_has(own->what.known, of->agent, of->warp, of->lane, clock)))
        return true;
    return strong && (ptxi_vclock_has(k->what.seen, of->agent, of->warp, of->lane, clock) ||
                      ptxi_vclock_has(w->what.seen, of->agent, of->warp, of->lane, clock) ||
                      (own && ptxi_vclock_has(own->what.seen, of->agent, of->warp, of->lane, clock)));
}

static bool has_access(const struct ptxi_check_thread *t, const struct ptxi_record *r, unsigned lane, bool strong)
{
    struct who of = { r->agent | (ptxi_record_is_async(r) ? PTXI_WHO_ASYNC : 0),
                                       ptxi_record_async_warp(r), lane };

    return knows(t, &of, r->clock, strong);
}

bool ptxi_order_has_init(const struct ptxi_check_thread *t, const struct ptxi_record *init)
{
    struct who of = { init->agent | PTXI_WHO_ASYNC, PTXI_WHO_INIT + ptxi_record_warp(init),
                                       (unsigned)__builtin_ctz(init->lanes) };

    return knows(t, &of, init->clock, true);
}

bool ptxi_order_async_has_ended(const struct ptxi_check_cta *k, unsigned warp, const struct ptxi_record *r)
{
    uint32_t agent = r->agent | PTXI_WHO_ASYNC;

    return ptxi_vclock_has(k->what.known, agent, ptxi_record_async_warp(r), PTXI_WHO_ALL, r->clock) ||
           ptxi_vclock_has(k->warps[warp].what.known, agent, ptxi_record_async_warp(r), PTXI_WHO_ALL, r->clock);
}

/* Whether the record is an asynchronous copy of the thread itself, for which it has waited. */
static bool is_own_ended_copy(const struct ptxi_check_thread *t, const struct ptxi_record *r)
{
    const struct ptxi_check_cta *k = t->cta->check;

    const struct ptxi_check_warp *w = &k->warps[t->warp];
    bool writes;

    if (r->agent != k->agent)
        return false;
    if (!ptxi_record_is_bulk(r))
        return ptxi_record_warp(r) == t->warp && r->lanes == UINT32_C(1) << t->lane && r->clock < w->async_waited;
    writes = ptxi_record_warp(r) == ptxi_order_bulk_of_warp(t->warp, true);
    return ptxi_record_thread(r) == t->warp * 32 + t->lane && r->clock < w->bulk_waited[writes] &&
           (writes || ptxi_record_warp(r) == ptxi_order_bulk_of_warp(t->warp, false));
}

bool ptxi_order_is_before(const struct ptxi_check_thread *t, const struct ptxi_record *r, uint32_t lanes, bool strong)
{
    struct ptxi_check_cta *k = t->cta->check;

    if (ptxi_order_is_other(k, r->agent) && ptxi_concurrent_is_before(k->check, &k->other, r->agent))
        return true;
    if (ptxi_record_is_async(r))
        return is_own_ended_copy(t, r) || has_access(t, r, UNKNOWN_LANE, strong);
    if (r->agent == k->agent) {
        if (r->clock < k->cta_clock || (ptxi_record_warp(r) == t->warp && r->clock < k->warps[t->warp].clock))
            return true;
    }
    if (r->clock < k->cluster_clock && ptxi_order_in_cluster(t->cta, r->agent))
        return true;
    if (!lanes)
        return has_access(t, r, UNKNOWN_LANE, strong);
    for (; lanes; lanes &= lanes - 1)
        if (!has_access(t, r, (unsigned)__builtin_ctz(lanes), strong))
            return false;
    return true;
}

bool ptxi_order_scopes_match(const struct ptxi_check_thread *t, unsigned scope, const struct ptxi_record *r)
{
    unsigned least = scope < ptxi_record_scope(r) ? scope : ptxi_record_scope(r);

    if (r->agent == t->cta->check->agent || least >= PTXI_SCOPE_GPU)
        return true;
    return least == PTXI_SCOPE_CLUSTER && ptxi_order_in_cluster(t->cta, r->agent);
}

bool ptxi_order_read_has_ended(const struct ptxi_check_thread *t, const struct ptxi_record *r)
{
    const struct ptxi_cta *lead = t->cta->lead;

    for (uint32_t m = 0; lead->member_count > 1 && !ptxi_record_is_async(r) && m < lead->member_count; m++)
        if (lead->members[m]->check->agent == r->agent)
            return r->clock < lead->members[m]->check->reads_ended;
    return false;
}

/* --- lanes of a warp --- */

/* An entry for each of the lanes. Returns their number. */
static uint32_t lane_entries(const struct ptxi_check_cta *k, unsigned warp, uint32_t lanes, uint32_t clock,
                             struct ptxi_vclock_entry *e)
{
    uint32_t n = 0;

    for (; lanes; lanes &= lanes - 1)
        e[n++] = (struct ptxi_vclock_entry){ ptxi_who(k->agent, warp, (unsigned)__builtin_ctz(lanes)), clock };
    return n;
}

/* All lanes know what each of them knows. */
static void meet_all(struct ptxi_cta *c, unsigned warp, uint32_t clock)
{
    struct ptxi_check_warp *w = &c->check->warps[warp];

    ptxi_order_tell_async(c->check, warp);
    w->clock = clock;
    if (!w->lanes)
        return;
    ptxi_order_add_fenced(c, warp, UINT32_MAX, &w->what.fenced);
    w->sc_fenced = 0;
    for (unsigned l = 0; l < 32; l++) {
        ptxi_knowledge_join(&w->what, &w->lanes[l].what);
        ptxi_knowledge_forget(&w->lanes[l].what);
    }
}

static void meet_some(struct ptxi_cta *c, unsigned warp, uint32_t lanes, uint32_t clock)
{
    struct ptxi_check_cta *k = c->check;
    struct ptxi_check_warp *w = &k->warps[warp];
    struct ptxi_vclock_entry e[32] = { { 0 } };
    uint32_t count = lane_entries(k, warp, lanes, clock, e);
    struct ptxi_knowledge what = { .known = NULL };

    if (!ptxi_order_make_lanes(k, warp)) { /* rather miss races */
        meet_all(c, warp, clock);
        return;
    }
    ptxi_order_tell_async(k, warp);
    ptxi_vclock_add(&what.known, e, count);
    ptxi_order_add_fenced(c, warp, lanes, &what.fenced);
    w->sc_fenced &= ~lanes;
    for (uint32_t left = lanes; left; left &= left - 1)
        ptxi_knowledge_join(&what, &w->lanes[__builtin_ctz(left)].what);
    for (uint32_t left = lanes; left; left &= left - 1)
        ptxi_knowledge_set(&w->lanes[__builtin_ctz(left)].what, &what);
    ptxi_knowledge_forget(&what);
}

void ptxi_check_lanes_meet(struct ptxi_warp *w, ptxi_lanes lanes)
{
    uint32_t clock = ++*ptxi_order_clock(w->cta);

    for (unsigned half = 0; half < PTXI_WARP32S; half++) {
        unsigned warp = w->index * PTXI_WARP32S + half;
        uint32_t these = (uint32_t)(lanes >> (32 * half)), live = ptxi_order_live_lanes(w->cta, warp);

        if (!(live & ~these))
            meet_all(w->cta, warp, clock);
        else if (these & (these - 1))
            meet_some(w->cta, warp, these, clock);
    }
}

/* --- barriers --- */

/* Adds what the lanes of a warp of 32 know, and their accesses until now. */
static void contribute(struct ptxi_cta *c, unsigned warp, uint32_t lanes, bool whole, uint32_t clock,
                       struct ptxi_knowledge *to)
{
    struct ptxi_check_cta *k = c->check;
    struct ptxi_check_warp *w = &k->warps[warp];
    struct ptxi_vclock_entry e[32] = { { ptxi_who(k->agent, warp, PTXI_WHO_ALL), clock } };
    uint32_t count = whole ? 1 : lane_entries(k, warp, lanes, clock, e);

    ptxi_order_tell_async(k, warp);
    ptxi_vclock_add(&to->known, e, count);
    ptxi_knowledge_join(to, &w->what);
    if (w->lanes)
        ptxi_order_add_fenced(c, warp, lanes, &to->fenced);
    for (; w->lanes && lanes; lanes &= lanes - 1)
        ptxi_knowledge_join(to, &w->lanes[__builtin_ctz(lanes)].what);
}

/* The lanes of a warp that wait at a barrier and will be released. */
static ptxi_lanes waiting_lanes(const struct ptxi_warp *w, unsigned number)
{
    ptxi_lanes lanes = 0;

    if (w->barrier_state == PTXI_WARP_BARRIER_AT + number)
        return w->live;
    for (uint32_t s = 0; s < w->split_count; s++)
        if (w->splits[s].state == PTXI_SPLIT_BARRIER && w->splits[s].barrier == number)
            lanes |= w->splits[s].lanes & w->arrived;
    return lanes;
}

static void complete_for_all(struct ptxi_cta *c, uint32_t clock)
{
    struct ptxi_check_cta *k = c->check;

    k->cta_clock = clock;
    for (unsigned n = 0; n < c->warp_count * PTXI_WARP32S; n++) {
        struct ptxi_check_warp *w = &k->warps[n];

        meet_all(c, n, clock);
        ptxi_knowledge_join(&k->what, &w->what);
        ptxi_knowledge_forget(&w->what);
    }
}

/* Lanes of a warp know what is known at a barrier. */
static void pass(struct ptxi_cta *c, unsigned warp, uint32_t lanes, const struct ptxi_knowledge *what, uint32_t clock)
{
    struct ptxi_check_cta *k = c->check;
    struct ptxi_check_warp *w = &k->warps[warp];

    if (!(ptxi_order_live_lanes(c, warp) & ~lanes) || !ptxi_order_make_lanes(k, warp)) {
        meet_all(c, warp, clock);
        ptxi_knowledge_join(&w->what, what);
        return;
    }
    for (; lanes; lanes &= lanes - 1)
        ptxi_knowledge_join(&w->lanes[__builtin_ctz(lanes)].what, what);
}

static void complete_for_some(struct ptxi_cta *c, unsigned number, const ptxi_lanes *lanes, uint32_t clock)
{
    struct ptxi_check_cta *k = c->check;
    struct ptxi_knowledge what = { .known = NULL };

    k->words.exact = k->cta_clock; /* the states of words do not know such an order */
    ptxi_knowledge_join(&what, &k->arrived[number]);
    for (uint32_t n = 0; n < c->warp_count * PTXI_WARP32S; n++) {
        uint32_t these = (uint32_t)(lanes[n / PTXI_WARP32S] >> (n % PTXI_WARP32S * 32));

        if (these)
            contribute(c, n, these, !(ptxi_order_live_lanes(c, n) & ~these), clock, &what);
    }
    for (uint32_t n = 0; n < c->warp_count * PTXI_WARP32S; n++) {
        uint32_t these = (uint32_t)(lanes[n / PTXI_WARP32S] >> (n % PTXI_WARP32S * 32));

        if (these)
            pass(c, n, these, &what, clock);
    }
    ptxi_knowledge_forget(&what);
}

/* All threads that have not exited pass a barrier. Those that have passed an earlier one, or have come to code behind
 * one, are missing if they have exited. Threads that exit before the first barrier, such as those of a rounded-up grid,
 * take no part from the start. */
static void check_exits(struct ptxi_cta *c, unsigned number)
{
    struct ptxi_check_cta *k = c->check;
    uint32_t missing = UINT32_MAX;
    bool took_part = true;

    for (uint32_t n = 0; n < c->warp_count * PTXI_WARP32S; n++) {
        uint32_t live = ptxi_order_live_lanes(c, n);
        uint32_t gone = (k->warps[n].passed | k->warps[n].behind_barrier) & ~live;

        if (gone && missing == UINT32_MAX) {
            missing = n * 32 + (uint32_t)__builtin_ctz(gone);
            took_part = k->warps[n].passed & (gone & -gone);
        }
        k->warps[n].passed = live;
        k->warps[n].behind_barrier &= live;
    }
    if (missing != UINT32_MAX)
        ptxi_sync_report_exit(c, number, missing, took_part);
}

void ptxi_check_barrier_completes(struct ptxi_cta *c, unsigned number)
{
    struct ptxi_check_cta *k = c->check;
    uint32_t clock = ++*ptxi_order_clock(c);
    ptxi_lanes lanes[PTXI_CHECK_WARPS];
    const uint32_t expected = c->barriers[number].expected;
    /* threads that have exited take no part in a barrier of some threads */
    bool all = !k->arrived_any[number] && (!expected || expected >= ptxi_thread_count(c->grid));

    for (uint32_t n = 0; n < c->warp_count; n++) {
        lanes[n] = waiting_lanes(&c->warps[n], number);
        all &= !(c->warps[n].live & ~lanes[n]);
    }
    if (all && !expected)
        check_exits(c, number);
    if (all)
        complete_for_all(c, clock);
    else
        complete_for_some(c, number, lanes, clock);
    ptxi_knowledge_forget(&k->arrived[number]);
    k->arrived_any[number] = false;
}

void ptxi_check_barrier_arrives(struct ptxi_warp *w, ptxi_lanes lanes, unsigned number)
{
    struct ptxi_check_cta *k = w->cta->check;
    uint32_t clock = ++*ptxi_order_clock(w->cta);

    k->arrived_any[number] = true;
    k->words.exact = k->cta_clock;
    for (unsigned half = 0; half < PTXI_WARP32S; half++) {
        unsigned warp = w->index * PTXI_WARP32S + half;
        uint32_t these = (uint32_t)(lanes >> (32 * half));

        if (these)
            contribute(w->cta, warp, these, !(ptxi_order_live_lanes(w->cta, warp) & ~these), clock,
                       &k->arrived[number]);
    }
}

/* Adds what happens before the accesses of all threads of the CTA. */
static void add_cta(struct ptxi_cta *c, struct ptxi_knowledge *to)
{
    struct ptxi_check_cta *k = c->check;
    const struct ptxi_cta *lead = c->lead;

    ptxi_knowledge_join(to, &k->what);
    ptxi_vclock_add(&to->known,
                    &(struct ptxi_vclock_entry){ ptxi_who(k->agent, PTXI_WHO_ALL, PTXI_WHO_ALL), k->cta_clock }, 1);
    for (uint32_t m = 0; lead->member_count > 1 && m < lead->member_count; m++)
        ptxi_vclock_add(&to->known, &(struct ptxi_vclock_entry){
            ptxi_who(lead->members[m]->check->agent, PTXI_WHO_ALL, PTXI_WHO_ALL), k->cluster_clock }, 1);
}

void ptxi_order_tell(struct ptxi_warp *w, ptxi_lanes lanes, struct ptxi_knowledge *to)
{
    struct ptxi_check_cta *k = w->cta->check;
    uint32_t clock = ++*ptxi_order_clock(w->cta);

    for (unsigned half = 0; half < PTXI_WARP32S; half++) {
        unsigned warp = w->index * PTXI_WARP32S + half;
        uint32_t these = (uint32_t)(lanes >> (32 * half));

        if (!these)
            continue;
        contribute(w->cta, warp, these, these == UINT32_MAX, clock, to); /* without lanes that have exited */
        ptxi_vclock_add(&to->known, &(struct ptxi_vclock_entry){ ptxi_who(k->agent, warp, PTXI_WHO_ALL),
                                                                 k->warps[warp].clock }, 1);
    }
    add_cta(w->cta, to);
}

void ptxi_order_learn(struct ptxi_warp *w, ptxi_lanes lanes, const struct ptxi_knowledge *what)
{
    for (unsigned half = 0; half < PTXI_WARP32S; half++) {
        unsigned warp = w->index * PTXI_WARP32S + half;
        struct ptxi_check_warp *to = &w->cta->check->warps[warp];
        uint32_t these = (uint32_t)(lanes >> (32 * half));

        if (these && (!(ptxi_order_live_lanes(w->cta, warp) & ~these) || !ptxi_order_make_lanes(w->cta->check, warp)))
            ptxi_knowledge_join(&to->what, what);
        else
            for (; these; these &= these - 1)
                ptxi_knowledge_join(&to->lanes[__builtin_ctz(these)].what, what);
    }
}

/* --- cluster barriers --- */

void ptxi_check_cluster_arrives(struct ptxi_warp *w, ptxi_lanes lanes, bool relaxed)
{
    struct ptxi_check_cta *lead = w->cta->lead->check;

    if (!lead->cluster.first)
        lead->cluster.first = ++*ptxi_order_clock(w->cta);
    lead->cluster.relaxed |= relaxed;
    if (!w->cta->check->reads_arrived)
        w->cta->check->reads_arrived = w->cta->check->cta_clock;
    if (!relaxed)
        ptxi_order_tell(w, lanes, &lead->cluster.arrived);
    for (unsigned half = 0; half < PTXI_WARP32S; half++) {
        unsigned warp = w->index * PTXI_WARP32S + half;
        uint32_t these = (uint32_t)(lanes >> (32 * half));

        w->cta->check->warps[warp].cluster_arrived |= these;
        if (relaxed)
            ptxi_order_add_released(w->cta, warp, these, PTXI_LEVEL_CLUSTER, &lead->cluster.arrived.known);
    }
}

static bool has_exited(const struct ptxi_cta *c)
{
    for (uint32_t k = 0; k < c->warp_count; k++)
        if (c->warps[k].live)
            return false;
    return true;
}

/* All accesses of a cluster before a time happen before the later ones of a CTA. */
static void know_all_before(struct ptxi_check_cta *k, uint32_t clock)
{
    k->cluster_clock = clock;
    if (k->cta_clock < clock)
        k->cta_clock = clock;
}

void ptxi_check_cluster_meets(struct ptxi_cta *lead)
{
    struct ptxi_check_cta *l = lead->check;
    uint32_t clock = ++*ptxi_order_clock(lead);

    for (uint32_t m = 0; m < lead->member_count; m++) {
        struct ptxi_check_cta *k = lead->members[m]->check;

        k->words.exact = k->cta_clock;
        k->reads_ended = k->reads_arrived;
        k->reads_arrived = 0;
        if (has_exited(lead->members[m]))
            continue;
        k->cluster_met = clock;
        if (!l->cluster.relaxed)
            know_all_before(k, l->cluster.first);
        ptxi_knowledge_join(&k->what, &l->cluster.arrived);
    }
    ptxi_knowledge_forget(&l->cluster.arrived);
    l->cluster.first = 0;
    l->cluster.relaxed = false;
}

ptxi_lanes ptxi_check_cluster_waits(struct ptxi_warp *w, ptxi_lanes lanes)
{
    ptxi_lanes missing = 0;

    for (unsigned half = 0; half < PTXI_WARP32S; half++) {
        struct ptxi_check_warp *k = &w->cta->check->warps[w->index * PTXI_WARP32S + half];
        uint32_t these = (uint32_t)(lanes >> (32 * half));

        missing |= (ptxi_lanes)(these & ~k->cluster_arrived) << (32 * half);
        k->cluster_arrived &= ~these;
    }
    return missing;
}

void ptxi_order_all(struct ptxi_cta *lead)
{
    uint32_t clock = ++*ptxi_order_clock(lead);
    struct ptxi_knowledge what = { .known = NULL };

    for (uint32_t m = 0; m < lead->member_count; m++) {
        complete_for_all(lead->members[m], clock);
        know_all_before(lead->members[m]->check, clock);
        ptxi_knowledge_join(&what, &lead->members[m]->check->what);
    }
    for (uint32_t m = 0; m < lead->member_count; m++)
        ptxi_knowledge_join(&lead->members[m]->check->what, &what);
    ptxi_knowledge_forget(&what);
}

/* --- asynchronous copies --- */

void ptxi_check_async_commits(struct ptxi_warp *w)
{
    uint32_t clock = ++*ptxi_order_clock(w->cta);

    for (unsigned half = 0; half < PTXI_WARP32S; half++) {
        struct ptxi_check_warp *k = &w->cta->check->warps[w->index * PTXI_WARP32S + half];

        k->async.commits[k->async.count++ % PTXI_ASYNC_GROUPS] = clock;
    }
}

/* Lanes that have committed fewer groups than others of their warp know more than they should: races are missed. */
void ptxi_check_async_waits(struct ptxi_warp *w, uint32_t n)
{
    struct ptxi_check_cta *k = w->cta->check;

    n = n < PTXI_ASYNC_GROUPS ? n : PTXI_ASYNC_GROUPS - 1;
    for (unsigned warp = w->index * PTXI_WARP32S, end = warp + PTXI_WARP32S; warp < end; warp++) {
        struct ptxi_check_warp *x = &k->warps[warp];
        uint32_t group = x->async.count - 1 - n;

        if (x->async.count <= n)
            continue;
        if (x->async_waited < x->async.commits[group % PTXI_ASYNC_GROUPS])
            x->async_waited = x->async.commits[group % PTXI_ASYNC_GROUPS];
    }
}

/* --- bulk operations --- */

unsigned ptxi_order_bulk_of_mbarrier(uint32_t index) { return index % PTXI_BULK_MBARRIERS; }

enum { WARPGROUP_WARPS = 4 };

/* Waits for bulk stores and for wgmma share numbers. */
unsigned ptxi_order_bulk_of_warpgroup(unsigned warp)
{
    return PTXI_BULK_READS + warp / WARPGROUP_WARPS % PTXI_BULK_WARPS;
}

struct ptxi_vclock_entry ptxi_order_operands_of_warp(struct ptxi_cta *c, unsigned warp)
{
    unsigned number = ptxi_order_bulk_of_warp(warp, false);

    return ptxi_order_async_entry(c->check, PTXI_WHO_BULK + number, ++*ptxi_order_clock(c));
}

/* The warps of 32 with active lanes commit a group. `groups`: its offset in struct ptxi_check_warp. */
static void commit(struct ptxi_warp *w, size_t groups)
{
    uint32_t clock = ++*ptxi_order_clock(w->cta);

    for (unsigned half = 0; half < PTXI_WARP32S; half++) {
        struct ptxi_check_warp *k = &w->cta->check->warps[w->index * PTXI_WARP32S + half];
        struct ptxi_check_groups *g = (struct ptxi_check_groups *)(void *)((char *)k + groups);

        if ((uint32_t)(w->active >> (32 * half)))
            g->commits[g->count++ % PTXI_ASYNC_GROUPS] = clock;
    }
}

void ptxi_check_wgmma_commits(struct ptxi_warp *w)
{
    commit(w, offsetof(struct ptxi_check_warp, wgmma));
}

/* The time of the latest commit of a group by a warp of the warpgroup. The operations are those of all its warps. */
static uint32_t commit_of_warpgroup(const struct ptxi_check_cta *k, unsigned warp, uint32_t group)
{
    const struct ptxi_check_warp *first = &k->warps[warp / WARPGROUP_WARPS * WARPGROUP_WARPS];
    uint32_t latest = 0;

    for (const struct ptxi_check_warp *x = first; x < first + WARPGROUP_WARPS; x++)
        if (x->wgmma.count > group && x->wgmma.commits[group % PTXI_ASYNC_GROUPS] > latest)
            latest = x->wgmma.commits[group % PTXI_ASYNC_GROUPS];
    return latest;
}

void ptxi_check_wgmma_waits(struct ptxi_warp *w, uint32_t n)
{
    struct ptxi_check_cta *k = w->cta->check;

    n = n < PTXI_ASYNC_GROUPS ? n : PTXI_ASYNC_GROUPS - 1;
    for (unsigned warp = w->index * PTXI_WARP32S, end = warp + PTXI_WARP32S; warp < end; warp++) {
        struct ptxi_check_warp *x = &k->warps[warp];

        if (x->wgmma.count <= n)
            continue;
        uint32_t clock = commit_of_warpgroup(k, warp, x->wgmma.count - 1 - n);
        struct ptxi_vclock_entry e = ptxi_order_async_entry(
            k, PTXI_WHO_BULK + ptxi_order_bulk_of_warpgroup(warp), clock);

        ptxi_vclock_add(&x->what.known, &e, 1);
    }
}

void ptxi_check_bulk_commits(struct ptxi_warp *w)
{
    commit(w, offsetof(struct ptxi_check_warp, bulk));
}

/* As ptxi_check_async_waits(). */
void ptxi_check_bulk_waits(struct ptxi_warp *w, uint32_t n, bool read_only)
{
    struct ptxi_check_cta *k = w->cta->check;

    n = n < PTXI_ASYNC_GROUPS ? n : PTXI_ASYNC_GROUPS - 1;
    for (unsigned warp = w->index * PTXI_WARP32S, end = warp + PTXI_WARP32S; warp < end; warp++) {
        struct ptxi_check_warp *x = &k->warps[warp];

        if (x->bulk.count <= n)
            continue;
        for (unsigned write = 0; write < (read_only ? 1 : 2); write++) {
            uint32_t clock = x->bulk.commits[(x->bulk.count - 1 - n) % PTXI_ASYNC_GROUPS];

            if (x->bulk_waited[write] < clock)
                x->bulk_waited[write] = clock;
        }
    }
}
