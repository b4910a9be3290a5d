/* The test of shared_words.h, for the handlers of each CPU level. */
#ifndef PTXI_EXEC_CHECK_SHARED_WORDS_INL_H
#define PTXI_EXEC_CHECK_SHARED_WORDS_INL_H

#include <string.h>

#include "exec/check/order.h"
#include "exec/engine/handler.h"

#define INLINE static inline __attribute__((always_inline))

enum word_access { WORD_READ, WORD_WRITE, WORD_ATOMIC };

/* The thread that accesses words. */
struct word_thread {
    uint32_t now;      /* its state without a kind: time and thread */
    uint32_t barrier;  /* states below it are older than the last barrier */
    uint32_t met;      /* states of its warp below it happen before its accesses */
};

/* What the access does to a word. */
enum word_step { STEP_NOTHING, STEP_NEW, STEP_MAY_RACE };

INLINE uint32_t state_of(const struct word_thread *t, enum ptxi_word_kind kind)
{
    return t->now | (uint32_t)kind << PTXI_WORD_THREAD_BITS;
}

INLINE enum ptxi_word_kind kind_of(uint32_t state)
{
    return (enum ptxi_word_kind)(state >> PTXI_WORD_THREAD_BITS & 15);
}

INLINE enum word_step become(uint32_t *state, const struct word_thread *t, enum ptxi_word_kind kind)
{
    *state = state_of(t, kind);
    return STEP_NEW;
}

/* Accesses by many threads that may go on: reads, or atomic operations. `one` is the kind for a single thread. */
INLINE enum word_step share(uint32_t *state, const struct word_thread *t, enum ptxi_word_kind one, bool same_warp)
{
    enum ptxi_word_kind kind = kind_of(*state), all = (enum ptxi_word_kind)(one + 2);

    if (!same_warp)
        return become(state, t, all);
    if (*state < t->met)
        return become(state, t, one);
    if (kind != one || !((*state ^ t->now) & ((1 << PTXI_WORD_LANE_BITS) - 1)))
        return STEP_NOTHING;
    return become(state, t, (enum ptxi_word_kind)(one + 1));
}

INLINE enum word_step read_written(uint32_t *state, const struct word_thread *t, bool same_thread, bool before)
{
    enum ptxi_word_kind kind = kind_of(*state);

    if (same_thread && kind != PTXI_WORD_WRITTEN_READ && kind != PTXI_WORD_ATOMIC_BY_WARP) {
        if (kind == PTXI_WORD_OWNED && !before)
            return STEP_NOTHING;
        return become(state, t, PTXI_WORD_OWNED);
    }
    return before ? become(state, t, PTXI_WORD_WRITTEN_READ) : STEP_MAY_RACE;
}

static enum word_step step_slowly(uint32_t *state, const struct word_thread *t, enum word_access access)
{
    enum ptxi_word_kind kind = kind_of(*state);
    uint32_t other = (*state ^ t->now) & ((1 << PTXI_WORD_THREAD_BITS) - 1);
    bool same_warp = !(other >> PTXI_WORD_LANE_BITS), before = same_warp && *state < t->met;
    bool one_thread = kind == PTXI_WORD_READ || kind == PTXI_WORD_WRITTEN || kind == PTXI_WORD_OWNED ||
                      kind == PTXI_WORD_ATOMIC;

    if (access == WORD_READ && kind <= PTXI_WORD_READ_BY_WARP)
        return share(state, t, PTXI_WORD_READ, same_warp);
    if (access == WORD_ATOMIC && (kind == PTXI_WORD_ATOMIC || kind == PTXI_WORD_ATOMIC_BY_WARP))
        return share(state, t, PTXI_WORD_ATOMIC, same_warp);
    if (kind == PTXI_WORD_READ_BY_ALL || kind == PTXI_WORD_ATOMIC_BY_ALL)
        return STEP_MAY_RACE;
    if (access == WORD_READ && kind == PTXI_WORD_WRITTEN_READ)
        return same_warp ? become(state, t, kind) : STEP_MAY_RACE;
    if (access == WORD_READ)
        return read_written(state, t, !other, before);
    if (before)
        return become(state, t, PTXI_WORD_WRITTEN);
    if (other || !one_thread)
        return STEP_MAY_RACE;
    if (kind == PTXI_WORD_WRITTEN || kind == PTXI_WORD_OWNED)
        return STEP_NOTHING;
    return become(state, t, PTXI_WORD_WRITTEN);
}

INLINE enum word_step step(uint32_t *state, const struct word_thread *t, enum word_access access)
{
    static const enum ptxi_word_kind first[] = { PTXI_WORD_READ, PTXI_WORD_WRITTEN, PTXI_WORD_ATOMIC };

    if (*state < t->barrier)
        return become(state, t, first[access]);
    if ((access == WORD_READ && kind_of(*state) == PTXI_WORD_READ_BY_ALL) ||
        (access == WORD_ATOMIC && kind_of(*state) == PTXI_WORD_ATOMIC_BY_ALL))
        return STEP_NOTHING;
    return step_slowly(state, t, access);
}

/* An access of a warp of 32. */
struct word_accesses {
    struct ptxi_check_cta *k;
    const uint32_t *addresses; /* of its lanes */
    uint32_t size, meta, clock, lanes;
    struct word_thread first;  /* lane 0 */
};

/* A full row of words. False: it needs a look at the lanes. */
INLINE bool check_row(const struct word_accesses *a, enum word_access access, uint32_t *new)
{
    static const enum ptxi_word_kind kinds[] = { PTXI_WORD_READ, PTXI_WORD_WRITTEN, PTXI_WORD_ATOMIC };
    uint32_t *states = &a->k->words.states[a->addresses[0] / 4], highest = 0, off = 0;
    uint32_t own = state_of(&a->first, kinds[access]), known = a->first.met, many = kinds[access] + 2, other = 0;
    const uint32_t mask = (1 << PTXI_WORD_TIME_SHIFT) - 1;

    known = known > a->first.barrier ? known : a->first.barrier;
    for (unsigned l = 0; l < 32; l++)
        highest = states[l] > highest ? states[l] : highest;
    *new = 0;
    if (highest < a->first.barrier) {
        for (unsigned l = 0; l < 32; l++)
            states[l] = own + l;
        *new = UINT32_MAX;
        return true;
    }
    for (unsigned l = 0; l < 32; l++)
        off |= ((states[l] ^ (own + l)) & mask) | (states[l] < known);
    for (unsigned l = 0; l < 32; l++)
        other |= ((states[l] >> PTXI_WORD_THREAD_BITS & 15) ^ many) | (states[l] < a->first.barrier);
    return !off || (access != WORD_WRITE && !other);
}

/* Sets the bits of lanes that tell something new. False: a lane may race. */
INLINE bool check_lanes(const struct word_accesses *a, enum word_access access, uint32_t *new)
{
    uint32_t *states = a->k->words.states, repeated = 0, last = UINT32_MAX;
    uint32_t words = a->size > 4 ? a->size / 4 : 1;
    struct word_thread t = a->first;

    *new = 0;
    for (uint32_t left = a->lanes; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        uint32_t word = a->addresses[l] / 4;

        repeated = word == last ? repeated + 1 : 0;
        last = word;
        if (repeated > 1 && access != WORD_WRITE)
            continue; /* the two lanes before it have told all */
        t.now = a->first.now + l;
        for (uint32_t n = 0; n < words; n++) {
            enum word_step s = step(&states[word + n], &t, access);

            if (s == STEP_MAY_RACE)
                return false;
            *new |= (uint32_t)(s == STEP_NEW) << l;
        }
    }
    return true;
}

/* False: the log is full. */
INLINE bool log_access(const struct word_accesses *a, enum word_access access, uint32_t lanes, bool row)
{
    struct ptxi_shared_words *s = &a->k->words;
    struct ptxi_word_access *to = (struct ptxi_word_access *)(void *)&s->log[s->log_size];
    uint32_t n = 0;

    if (s->log_size + PTXI_WORD_ACCESS_WORDS + 32 > PTXI_WORD_LOG)
        return false;
    to->clock = a->clock;
    to->meta = a->meta;
    to->lanes = lanes;
    to->size = a->size;
    to->write = access != WORD_READ;
    to->row = row;
    if (row)
        to->addresses[n++] = a->addresses[0];
    else
        for (; lanes; lanes &= lanes - 1)
            to->addresses[n++] = a->addresses[__builtin_ctz(lanes)];
    s->log_size += PTXI_WORD_ACCESS_WORDS + n;
    return true;
}

INLINE bool check_warp(const struct word_accesses *a, enum word_access access)
{
    bool row = a->lanes == UINT32_MAX && a->size == 4;
    uint32_t off = 0, new;

    for (unsigned l = 0; row && l < 32; l++)
        off |= a->addresses[l] ^ (a->addresses[0] + 4 * l);
    row = row && !off;
    if (!(row && check_row(a, access, &new)) && !check_lanes(a, access, &new))
        return false;
    return !new || log_access(a, access, new, row);
}

/* Computes the addresses. False: one is not aligned, or has no state. */
INLINE bool find_addresses(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t end, uint32_t size,
                           uint32_t to[PTXI_LANES])
{
    const uint32_t *a = PTXI_SLOT(w, i->a);
    uint32_t highest = 0, bits = 0, imm = (uint32_t)i->imm, one;

    FOR_LANES to[l] = a[l] + imm;
    if (w->active != PTXI_ALL_LANES) {
        _Alignas(64) uint32_t same[PTXI_LANES];

        one = to[ptxi_first_lane(w->active)];
        FOR_LANES same[l] = one;
        ptxi_masked_write_32(to, same, ~w->active);
    }
    for (unsigned l = 0; l < PTXI_LANES; l++) {
        highest = to[l] > highest ? to[l] : highest;
        bits |= to[l];
    }
    return size <= end && highest <= end - size && !(bits & (size - 1)) && !(size & (size - 1));
}

/* Checks a weak access or an atomic operation in the CTA's own shared memory. `meta` is that of a record without the
 * warp. False: it may race, so the race checker must check it and all others until the next barrier. */
INLINE bool check_words(struct ptxi_warp *w, const struct ptxi_insn *i, enum word_access access, uint32_t meta)
{
    struct ptxi_check_cta *k = w->cta->check;
    struct ptxi_shared_words *s = &k->words;
    uint32_t clock = *ptxi_order_clock(w->cta);
    struct word_accesses a = { .k = k, .size = i->mods & PTXI_CHECK_BYTES, .clock = clock };

    _Alignas(64) uint32_t addresses[PTXI_LANES];

    if (!s->states)
        return false;
    if (s->epoch != k->cta_clock || clock - s->base >= PTXI_WORD_TIMES - 1)
        ptxi_shared_words_begin(s, clock, k->cta_clock);
    if (s->exact == k->cta_clock || !find_addresses(w, i, s->bytes, a.size, addresses))
        return false;
    for (unsigned half = 0; half < PTXI_WARP32S; half++) {
        unsigned warp = w->index * PTXI_WARP32S + half;

        a.lanes = (uint32_t)(w->active >> (32 * half));
        a.addresses = addresses + 32 * half;
        a.meta = meta | warp << PTXI_META_WARP;
        a.first.now = (clock - s->base) << PTXI_WORD_TIME_SHIFT | warp << PTXI_WORD_LANE_BITS;
        a.first.barrier = (k->cta_clock - s->base) << PTXI_WORD_TIME_SHIFT;
        a.first.met = k->warps[warp].clock > s->base ? (k->warps[warp].clock - s->base) << PTXI_WORD_TIME_SHIFT : 0;
        if (a.lanes && !check_warp(&a, access))
            return false;
        if (k->any_lanes)
            ptxi_order_touch(&k->warps[warp], a.lanes);
    }
    return true;
}

#undef INLINE
#endif
