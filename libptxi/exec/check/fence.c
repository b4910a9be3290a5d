#include "exec/check/fence.h"

#include "exec/check/concurrent.h"

#include <stdlib.h>

bool ptxi_order_make_lanes(struct ptxi_check_cta *k, unsigned warp)
{
    struct ptxi_check_warp *w = &k->warps[warp];

    k->any_lanes = true;
    if (!w->lanes)
        w->lanes = calloc(32, sizeof *w->lanes);
    return w->lanes;
}

/* --- fences --- */

static unsigned level_of(unsigned scope)
{
    return scope < PTXI_SCOPE_GPU ? scope : PTXI_LEVEL_ALL;
}

/* Adds all that the thread knew at its fence, and its own accesses before `clock`. */
static void add_known_at(const struct ptxi_check_thread *t, const struct ptxi_fence *f, uint32_t clock,
                         struct ptxi_vclock **to)
{
    const struct ptxi_cta *lead = t->cta->lead;
    uint32_t agent = t->cta->check->agent;
    bool whole = t->lane == PTXI_WHO_ALL;
    struct ptxi_vclock_entry e[] = { { ptxi_who(agent, t->warp, t->lane), clock },
                                     { ptxi_who(agent, t->warp, PTXI_WHO_ALL), whole ? clock : f->warp_clock },
                                     { ptxi_who(agent, PTXI_WHO_ALL, PTXI_WHO_ALL), f->cta_clock } };

    ptxi_vclock_add(to, e + whole, 3 - whole);
    for (uint32_t m = 0; lead->member_count > 1 && m < lead->member_count; m++) {
        e[0] = (struct ptxi_vclock_entry){ ptxi_who(lead->members[m]->check->agent, PTXI_WHO_ALL, PTXI_WHO_ALL),
                                           f->cluster_clock };
        ptxi_vclock_add(to, e, 1);
    }
    ptxi_vclock_join(to, f->lane);
    ptxi_vclock_join(to, f->warp);
    ptxi_vclock_join(to, f->cta);
}

/* The same, kept for the next write. */
static struct ptxi_vclock *known_at_fence(const struct ptxi_check_thread *t, struct ptxi_fence *f, uint32_t clock)
{
    if (f->all && f->all_clock == clock)
        return f->all;
    ptxi_vclock_set(&f->all, NULL);
    f->all_clock = clock;
    add_known_at(t, f, clock, &f->all);
    return f->all;
}

/* Keeps what a fence has done that a later one of the thread does not do. */
static void keep_fence(const struct ptxi_check_thread *t, struct ptxi_check_lane *own, unsigned level, bool sc)
{
    struct ptxi_fence *f = &own->fence;

    if (!f->valid)
        return;
    for (unsigned l = level + 1; l <= f->level; l++)
        ptxi_vclock_join(&own->wider[l], known_at_fence(t, f, f->clock));
    if (f->sc && !sc)
        ptxi_vclock_join(&own->what.fenced, known_at_fence(t, f, f->clock));
}

/* What strong reads have read is known. */
static void learn_pending(const struct ptxi_check_cta *k, struct ptxi_check_warp *w, unsigned lane, unsigned level,
                          bool sc)
{
    struct ptxi_check_lane *own = &w->lanes[lane];

    for (unsigned l = 0; l <= level; l++) {
        w->unfenced[l] &= ~(UINT32_C(1) << lane);
        ptxi_vclock_join(&own->what.known, own->pending[l]);
        ptxi_vclock_set(&own->pending[l], NULL);
        ptxi_vclock_set(&own->read[l], NULL);
    }
    if (!sc)
        return;
    ptxi_vclock_join(&own->what.known, own->what.observed);
    ptxi_vclock_join(&own->what.known, w->what.observed);
    ptxi_vclock_join(&own->what.known, k->what.observed);
    ptxi_vclock_set(&own->what.observed, NULL);
}

/* What strong reads of the location of an acquiring access have read is known (PTX ISA, "Release and Acquire
 * Patterns"). */
static void learn_read(struct ptxi_check_warp *w, unsigned lane, unsigned level)
{
    struct ptxi_check_lane *own = &w->lanes[lane];

    for (unsigned l = 0; l <= level; l++) {
        if (own->read_address == own->lock.address)
            w->unfenced[l] &= ~(UINT32_C(1) << lane);
        ptxi_vclock_join(&own->what.known, own->read[l]);
    }
}

/* Keeps what the thread knows now. */
static void set_fence(const struct ptxi_check_thread *t, unsigned level, bool sc, struct ptxi_fence *f)
{
    struct ptxi_check_cta *k = t->cta->check;
    struct ptxi_check_warp *w = &k->warps[t->warp];
    struct ptxi_check_lane *own = &w->lanes[t->lane];

    ptxi_order_tell_async(k, t->warp);
    f->valid = true;
    f->sc = sc;
    f->level = (uint8_t)level;
    f->clock = *ptxi_order_clock(t->cta);
    f->warp_clock = w->clock;
    f->cta_clock = k->cta_clock;
    f->cluster_clock = k->cluster_clock;
    ptxi_vclock_set(&f->lane, own->what.known);
    ptxi_vclock_set(&f->warp, w->what.known);
    ptxi_vclock_set(&f->cta, k->what.known);
    ptxi_vclock_set(&f->all, NULL);
}

/* What later strong writes release. */
static void release_lane(const struct ptxi_check_thread *t, unsigned level, bool sc)
{
    struct ptxi_check_warp *w = &t->cta->check->warps[t->warp];
    struct ptxi_check_lane *own = &w->lanes[t->lane];
    uint32_t bit = UINT32_C(1) << t->lane;

    keep_fence(t, own, level, sc);
    w->sc_fenced = sc ? w->sc_fenced | bit : w->sc_fenced & ~bit;
    set_fence(t, level, sc, &own->fence);
}

/* The access before a check_fence acquires, or that after it releases. */
static void order_access(const struct ptxi_check_thread *t, unsigned level, unsigned mods)
{
    struct ptxi_check_warp *w = &t->cta->check->warps[t->warp];
    struct ptxi_check_lane *own = &w->lanes[t->lane];

    if (mods & PTXI_CHECK_FENCE_ACQUIRE) {
        learn_read(w, t->lane, level);
        return;
    }
    set_fence(t, level, false, &own->release);
    own->release_address = PTXI_RELEASE_NEXT;
}

/* Later strong writes release the thread's earlier initialisations of mbarriers, and nothing else. */
static void release_inits(const struct ptxi_check_thread *t, unsigned level)
{
    struct ptxi_check_cta *k = t->cta->check;
    struct ptxi_vclock_entry e = { ptxi_who(k->agent | PTXI_WHO_ASYNC, PTXI_WHO_INIT + t->warp, t->lane),
                                   *ptxi_order_clock(t->cta) };

    for (unsigned l = 0; l <= level; l++)
        ptxi_vclock_add(&k->warps[t->warp].lanes[t->lane].wider[l], &e, 1);
}

void ptxi_order_fence(struct ptxi_warp *w, ptxi_lanes lanes, unsigned mods)
{
    unsigned scope = mods & 3;
    bool sc = mods & PTXI_CHECK_FENCE_SC && scope >= PTXI_SCOPE_GPU;

    ++*ptxi_order_clock(w->cta);
    if (scope == PTXI_SCOPE_SYS)
        ptxi_concurrent_release_to_host(w->cta->check->check);
    for (; lanes; lanes &= lanes - 1) {
        unsigned l = ptxi_first_lane(lanes);
        struct ptxi_check_thread t = { w->cta, w->index * PTXI_WARP32S + l / 32, l % 32 };

        if (!ptxi_order_make_lanes(w->cta->check, t.warp))
            continue;
        if (mods & PTXI_CHECK_FENCE_OF_ACCESS) {
            order_access(&t, level_of(scope), mods);
            continue;
        }
        if (mods & PTXI_CHECK_FENCE_INIT) {
            release_inits(&t, level_of(scope));
            continue;
        }
        if (!(mods & PTXI_CHECK_FENCE_RELEASE))
            learn_pending(t.cta->check, &t.cta->check->warps[t.warp], t.lane, level_of(scope), sc);
        if (!(mods & PTXI_CHECK_FENCE_ACQUIRE))
            release_lane(&t, level_of(scope), sc);
    }
}

/* Whether the lanes are all of the warp, and have used the same fence. */
static bool is_fence_of_all(const struct ptxi_cta *c, unsigned warp, uint32_t lanes)
{
    const struct ptxi_check_lane *l = c->check->warps[warp].lanes;
    uint32_t clock = l[__builtin_ctz(lanes)].fence.clock;

    if (ptxi_order_live_lanes(c, warp) & ~lanes)
        return false;
    for (; lanes; lanes &= lanes - 1)
        if (l[__builtin_ctz(lanes)].fence.clock != clock)
            return false;
    return true;
}

void ptxi_order_add_fenced(struct ptxi_cta *c, unsigned warp, uint32_t lanes, struct ptxi_vclock **fenced)
{
    const struct ptxi_check_warp *w = &c->check->warps[warp];
    struct ptxi_check_thread t = { c, warp, PTXI_WHO_ALL };

    lanes &= w->sc_fenced;
    if (lanes & (lanes - 1) && is_fence_of_all(c, warp, lanes)) {
        const struct ptxi_fence *f = &w->lanes[__builtin_ctz(lanes)].fence;

        add_known_at(&t, f, f->clock, fenced);
        for (; lanes; lanes &= lanes - 1)
            ptxi_vclock_join(fenced, w->lanes[__builtin_ctz(lanes)].fence.lane);
        return;
    }
    for (; lanes; lanes &= lanes - 1) {
        t.lane = (unsigned)__builtin_ctz(lanes);
        ptxi_vclock_join(fenced, known_at_fence(&t, &w->lanes[t.lane].fence, w->lanes[t.lane].fence.clock));
    }
}

void ptxi_order_add_released(struct ptxi_cta *c, unsigned warp, uint32_t lanes, unsigned level,
                             struct ptxi_vclock **released)
{
    struct ptxi_check_warp *w = &c->check->warps[warp];

    for (; w->lanes && lanes; lanes &= lanes - 1) {
        struct ptxi_check_thread t = { c, warp, (unsigned)__builtin_ctz(lanes) };
        struct ptxi_check_lane *own = &w->lanes[t.lane];

        if (own->fence.valid && own->fence.level >= level)
            ptxi_vclock_join(released, known_at_fence(&t, &own->fence, own->fence.clock));
        ptxi_vclock_join(released, own->wider[level]);
    }
}

/* --- strong accesses --- */

/* The CTA, or the first CTA of the cluster, to whose threads knowledge of a level is released; 0: to all. */
static uint32_t group_of(const struct ptxi_check_thread *t, unsigned level)
{
    if (level == PTXI_LEVEL_CTA)
        return t->cta->check->agent;
    return level == PTXI_LEVEL_CLUSTER ? t->cta->lead->check->agent : 0;
}

/* Releases to those who use a fence.sc what earlier ones order. own: what the thread's latest fence does. */
static void release_fenced(const struct ptxi_check_thread *t, struct ptxi_released *r, bool modifies,
                           const struct ptxi_vclock *own)
{
    const struct ptxi_check_cta *k = t->cta->check;
    const struct ptxi_check_warp *w = &k->warps[t->warp];

    if (!modifies)
        ptxi_vclock_set(&r->fenced, NULL);
    ptxi_vclock_join(&r->fenced, k->what.fenced);
    ptxi_vclock_join(&r->fenced, w->what.fenced);
    if (w->lanes)
        ptxi_vclock_join(&r->fenced, w->lanes[t->lane].what.fenced);
    ptxi_vclock_join(&r->fenced, own);
}

/* Whether the thread has something to release. */
static bool can_release(const struct ptxi_check_thread *t)
{
    const struct ptxi_check_cta *k = t->cta->check;
    const struct ptxi_check_warp *w = &k->warps[t->warp];

    return k->what.fenced || w->what.fenced ||
           (w->lanes && (w->lanes[t->lane].fence.valid || w->lanes[t->lane].what.fenced ||
                         w->lanes[t->lane].wider[PTXI_LEVEL_CTA]));
}

/* The latest releasing access of the thread, if a strong write to the address releases what it orders. Else NULL. */
static struct ptxi_fence *release_of(struct ptxi_check_lane *own, uint64_t address)
{
    if (!own || !own->release.valid)
        return NULL;
    if (own->release_address == PTXI_RELEASE_NEXT)
        own->release_address = address;
    return own->release_address == address ? &own->release : NULL;
}

void ptxi_order_release(const struct ptxi_check_thread *t, struct ptxi_line *line, uint64_t address, unsigned scope,
                        bool modifies, bool unlocks)
{
    struct ptxi_check_warp *w = &t->cta->check->warps[t->warp];
    struct ptxi_check_lane *own = w->lanes ? &w->lanes[t->lane] : NULL;
    struct ptxi_fence *fences[] = { own && own->fence.valid ? &own->fence : NULL, release_of(own, address) };
    bool can = fences[1] || can_release(t), unfenced = false;
    struct ptxi_released *r = NULL;
    unsigned level = level_of(scope);

    if (can || ptxi_line_has_released(line))
        r = ptxi_line_released(line, address & (PTXI_LINE_BYTES - 1), can);
    if (!r)
        return;
    for (unsigned l = 0; l < PTXI_LEVELS; l++) {
        bool keeps = modifies && (r->of[l] == group_of(t, l) || l > level);

        if (!keeps)
            ptxi_vclock_set(&r->known[l], NULL);
        if (!own || !(fences[0] || fences[1] || own->wider[l]) || l > level)
            continue;
        unfenced = unlocks && w->touched[l] >> t->lane & 1;
        r->of[l] = group_of(t, l);
        for (unsigned k = 0; k < 2; k++)
            if (fences[k] && l <= fences[k]->level)
                ptxi_vclock_join(&r->known[l],
                                 known_at_fence(t, fences[k], unfenced ? own->lock.clock : fences[k]->clock));
        ptxi_vclock_join(&r->known[l], own->wider[l]);
    }
    if (level == PTXI_LEVEL_ALL) {
        struct ptxi_vclock *known = NULL;

        if (fences[0] && fences[0]->sc)
            known = known_at_fence(t, fences[0], unfenced ? own->lock.clock : fences[0]->clock);
        release_fenced(t, r, modifies, known);
    }
}

void ptxi_order_take_lock(const struct ptxi_check_thread *t, uint64_t address, uint64_t open)
{
    struct ptxi_check_warp *w = &t->cta->check->warps[t->warp];

    if (!ptxi_order_make_lanes(t->cta->check, t->warp))
        return;
    w->lanes[t->lane].lock = (struct ptxi_taken_lock){ address, open, ++*ptxi_order_clock(t->cta) };
    for (unsigned l = 0; l < PTXI_LEVELS; l++) {
        w->unfenced[l] |= UINT32_C(1) << t->lane;
        w->touched[l] &= ~(UINT32_C(1) << t->lane);
    }
}

/* Notes that what was released may be of other launches. */
static void note_other(const struct ptxi_check_cta *k, const struct ptxi_vclock *known)
{
    struct ptxi_check *check = k->check;

    if (ptxi_vclock_has_others(known, check->ordered_below, check->first_agent, check->agent_count))
        atomic_store_explicit(&check->acquires_other, true, memory_order_relaxed);
}

/* Adds what was released to what waits for an acquire. */
static void add_read(struct ptxi_check_lane *own, unsigned level, const struct ptxi_vclock *known)
{
    ptxi_vclock_join(&own->what.seen, known);
    ptxi_vclock_join(&own->pending[level], known);
    ptxi_vclock_join(&own->read[level], known);
}

void ptxi_order_acquire(const struct ptxi_check_thread *t, struct ptxi_line *line, uint64_t address, unsigned scope)
{
    struct ptxi_check_warp *w = &t->cta->check->warps[t->warp];
    struct ptxi_released *r = NULL;
    struct ptxi_check_lane *own;

    if (ptxi_line_has_released(line))
        r = ptxi_line_released(line, address & (PTXI_LINE_BYTES - 1), false);
    if (!(r || w->lanes) || !ptxi_order_make_lanes(t->cta->check, t->warp))
        return;
    own = &w->lanes[t->lane];
    for (unsigned l = 0; own->read_address != address && l < PTXI_LEVELS; l++)
        ptxi_vclock_set(&own->read[l], NULL);
    own->read_address = address;
    if (r && level_of(scope) == PTXI_LEVEL_ALL && r->fenced) {
        ptxi_vclock_join(&own->what.observed, r->fenced);
        note_other(t->cta->check, r->fenced);
    }
    for (unsigned l = 0; r && l <= level_of(scope); l++)
        if (r->known[l] && r->of[l] == group_of(t, l)) {
            add_read(own, l, r->known[l]);
            note_other(t->cta->check, r->known[l]);
        }
}
