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
    uint32_t size, meta, clock;
    struct word_thread first;  /* lane 0 */
    uint32_t lanes, count;     /* those that access memory, and, in the same order, */
    uint32_t lane[32], addresses[32];
};

/* The states of all words if they are alike, so that one decision is enough. */
enum words_alike { WORDS_DIFFER, WORDS_OLD, WORDS_OF_ALL, WORDS_OF_OTHERS, WORDS_OWN };

/* row: the words of lanes are neighbours, so that the compiler needs no gathers. */
INLINE enum words_alike compare_words(const struct word_accesses *a, enum word_access access, bool row)
{
    const uint32_t *states = a->k->words.states, thread = (1 << PTXI_WORD_THREAD_BITS) - 1;
    uint32_t many = access == WORD_ATOMIC ? PTXI_WORD_ATOMIC_BY_ALL : PTXI_WORD_READ_BY_ALL;
    const uint32_t *in_row = states + a->addresses[0] / 4, count = row ? 32 : a->count;
    uint32_t first = *in_row, highest = 0, lowest = UINT32_MAX, kinds = 0, owners = 0, own = 0, gathered[32];

    for (uint32_t n = 0; n < count; n++) {
        gathered[n] = row ? in_row[n] : states[a->addresses[n] / 4];
        highest = gathered[n] > highest ? gathered[n] : highest;
    }
    if (highest < a->first.barrier)
        return WORDS_OLD;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t state = gathered[n];

        lowest = state < lowest ? state : lowest;
        kinds |= (state ^ first) & ~thread & ((1 << PTXI_WORD_TIME_SHIFT) - 1);
        owners |= (state ^ (a->first.now + (row ? n : a->lane[n]))) & thread;
        own |= !((state ^ a->first.now) >> PTXI_WORD_LANE_BITS & (thread >> PTXI_WORD_LANE_BITS));
    }
    if (kinds || lowest < a->first.barrier)
        return WORDS_DIFFER;
    if (kind_of(first) == many && access != WORD_WRITE)
        return WORDS_OF_ALL;
    if (!own && access != WORD_WRITE && kind_of(first) < many && kind_of(first) >= many - 2)
        return WORDS_OF_OTHERS;
    return owners || lowest < a->first.met ? WORDS_DIFFER : WORDS_OWN;
}

INLINE void set_words(const struct word_accesses *a, enum ptxi_word_kind kind, bool row)
{
    uint32_t own = state_of(&a->first, kind), *in_row = a->k->words.states + a->addresses[0] / 4;

    for (uint32_t n = 0; row && n < 32; n++)
        in_row[n] = own + n;
    if (row)
        return;
    for (uint32_t n = 0; n < a->count; n++)
        a->k->words.states[a->addresses[n] / 4] = own + a->lane[n];
}

/* Collects the lanes with words that may change. Returns their number. */
INLINE uint32_t find_unsettled(const struct word_accesses *a, enum word_access access, uint8_t unsettled[32])
{
    static const uint32_t kept[] = { 1u << PTXI_WORD_READ | 1u << PTXI_WORD_OWNED,
                                     1u << PTXI_WORD_WRITTEN | 1u << PTXI_WORD_OWNED,
                                     1u << PTXI_WORD_WRITTEN | 1u << PTXI_WORD_OWNED | 1u << PTXI_WORD_ATOMIC };
    static const uint32_t many[] = { 1u << PTXI_WORD_READ_BY_ALL, 0, 1u << PTXI_WORD_ATOMIC_BY_ALL };
    const uint32_t *states = a->k->words.states, thread = (1 << PTXI_WORD_THREAD_BITS) - 1;
    uint32_t count = 0;

    for (uint32_t n = 0; n < a->count; n++) {
        uint32_t state = states[a->addresses[n] / 4], kind = kind_of(state);
        bool own = !((state ^ (a->first.now + a->lane[n])) & thread) & (state >= a->first.met);

        unsettled[count] = (uint8_t)n;
        count += !((state >= a->first.barrier) & ((many[access] >> kind & 1) | (own & kept[access] >> kind & 1)));
    }
    return count;
}

/* Sets the bits of lanes that tell something new. False: a lane may race. */
INLINE bool check_lanes(const struct word_accesses *a, enum word_access access, uint32_t *new)
{
    uint32_t *states = a->k->words.states, words = a->size > 4 ? a->size / 4 : 1, count = a->count;
    struct word_thread t = a->first;
    uint8_t unsettled[32];

    if (words == 1)
        count = find_unsettled(a, access, unsettled);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t n = words == 1 ? unsettled[k] : k, word = a->addresses[n] / 4;

        t.now = a->first.now + a->lane[n];
        for (uint32_t more = 0; more < words; more++) {
            enum word_step s = step(&states[word + more], &t, access);

            if (s == STEP_MAY_RACE)
                return false;
            *new |= (uint32_t)(s == STEP_NEW) << a->lane[n];
        }
    }
    return true;
}

/* The first access of all words since a barrier. */
INLINE bool check_old(const struct word_accesses *a, enum word_access access, uint32_t *new, bool row)
{
    static const enum ptxi_word_kind kinds[] = { PTXI_WORD_READ, PTXI_WORD_WRITTEN, PTXI_WORD_ATOMIC };
    const uint32_t *states = a->k->words.states;
    uint32_t own = state_of(&a->first, kinds[access]), off = 0;

    set_words(a, kinds[access], row);
    *new = a->lanes;
    if (row)
        return true;
    for (uint32_t n = 0; n < a->count; n++)
        off |= states[a->addresses[n] / 4] ^ (own + a->lane[n]);
    return !off || check_lanes(a, access, new); /* lanes have words in common */
}

/* All words belong to the thread that accesses them, and to no other. */
INLINE bool check_own(const struct word_accesses *a, enum word_access access, uint32_t *new, bool row)
{
    enum ptxi_word_kind now = kind_of(a->k->words.states[a->addresses[0] / 4]), next = now;

    if (now == PTXI_WORD_READ_BY_WARP || now == PTXI_WORD_WRITTEN_READ || now == PTXI_WORD_ATOMIC_BY_WARP ||
        now == PTXI_WORD_READ_BY_ALL || now == PTXI_WORD_ATOMIC_BY_ALL)
        return check_lanes(a, access, new);
    if (access == WORD_READ && now != PTXI_WORD_READ)
        next = PTXI_WORD_OWNED;
    else if ((access == WORD_WRITE && now != PTXI_WORD_OWNED) || (access == WORD_ATOMIC && now == PTXI_WORD_READ))
        next = PTXI_WORD_WRITTEN;
    if (next == now)
        return true;
    set_words(a, next, row);
    *new = a->lanes;
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
        for (uint32_t k = 0; k < a->count; k++) {
            to->addresses[n] = a->addresses[k];
            n += lanes >> a->lane[k] & 1;
        }
    s->log_size += PTXI_WORD_ACCESS_WORDS + n;
    return true;
}

INLINE bool is_row(const struct word_accesses *a)
{
    uint32_t off = 0;

    for (uint32_t l = 0; a->count == 32 && l < 32; l++)
        off |= a->addresses[l] ^ (a->addresses[0] + l * a->size);
    return a->count == 32 && !off;
}

INLINE uint32_t *lines_of(const struct ptxi_shared_words *s, enum word_access access)
{
    return access == WORD_ATOMIC ? s->atomic_lines : s->read_lines;
}

/* Whether all lines of an access have words that all threads read, or modify with atomic operations. */
INLINE bool is_by_all(const struct word_accesses *a, enum word_access access, const uint32_t *from, uint32_t imm)
{
    const struct ptxi_shared_words *s = &a->k->words;
    const uint32_t *lines = lines_of(s, access);
    uint32_t lowest = UINT32_MAX, highest = 0, bits = 0, off = 0, first, last;

    if (a->lanes == UINT32_MAX) {
        for (uint32_t l = 0; l < 32; l++) {
            uint32_t address = from[l] + imm;

            lowest = address < lowest ? address : lowest;
            highest = address > highest ? address : highest;
            bits |= address;
        }
    } else {
        for (uint32_t l = 0; l < 32; l++) {
            uint32_t on = -(a->lanes >> l & 1), address = from[l] + imm;

            lowest = (address | ~on) < lowest ? address : lowest;
            highest = (address & on) > highest ? address : highest;
            bits |= address & on;
        }
    }
    if (bits & (a->size - 1) || a->size > s->bytes || highest > s->bytes - a->size)
        return false;
    first = lowest / PTXI_WORD_LINE;
    last = (highest + a->size - 1) / PTXI_WORD_LINE;
    if (lines[first] != s->epoch || last - first >= PTXI_WORD_MAX_LINES)
        return false;
    for (uint32_t n = first; n <= last; n++)
        off |= lines[n] ^ s->epoch;
    return !off;
}

/* After an access to words that are READ_BY_ALL or ATOMIC_BY_ALL: notes the lines of its first and last word, if all of
 * their words are. always: the words have just become so. */
INLINE void note_by_all(const struct word_accesses *a, enum word_access access, bool always)
{
    enum { WORDS = PTXI_WORD_LINE / 4, TRIES = 4 };
    struct ptxi_shared_words *s = &a->k->words;
    uint32_t many = access == WORD_ATOMIC ? PTXI_WORD_ATOMIC_BY_ALL : PTXI_WORD_READ_BY_ALL;

    if (!always && s->tries++ % TRIES) /* it costs as much as the access */
        return;
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t n = a->addresses[k ? a->count - 1 : 0] / PTXI_WORD_LINE, off = 0;
        const uint32_t *states = s->states + n * WORDS;

        if (lines_of(s, access)[n] == s->epoch || n >= s->bytes / PTXI_WORD_LINE)
            continue;
        for (uint32_t m = 0; m < WORDS; m++)
            off |= (states[m] < a->first.barrier) | (kind_of(states[m]) ^ many);
        if (!off)
            lines_of(s, access)[n] = s->epoch;
    }
}

INLINE bool check_warp(const struct word_accesses *a, enum word_access access, bool row)
{
    enum words_alike alike = a->size == 4 ? compare_words(a, access, row && a->size == 4) : WORDS_DIFFER;
    uint32_t new = 0;
    bool passes = true;

    switch (alike) {
    case WORDS_OLD: passes = check_old(a, access, &new, row); break;
    case WORDS_OWN: passes = check_own(a, access, &new, row); break;
    case WORDS_OF_ALL: note_by_all(a, access, false); break;
    case WORDS_OF_OTHERS:
        set_words(a, access == WORD_READ ? PTXI_WORD_READ_BY_ALL : PTXI_WORD_ATOMIC_BY_ALL, row);
        note_by_all(a, access, true);
        new = a->lanes;
        break;
    default: passes = check_lanes(a, access, &new);
    }
    return passes && (!new || log_access(a, access, new, row));
}

/* The first two lanes of each run of lanes with the same address: they tell all about reads and atomic operations. */
INLINE uint32_t drop_repeated(const uint32_t *from)
{
    uint32_t same = 0;

    for (uint32_t l = 1; l < 32; l++)
        same |= (uint32_t)(from[l] == from[l - 1]) << l;
    return ~(same & same << 1);
}

/* Collects the addresses of a warp of 32. False: one is not aligned, or has no state. */
INLINE bool collect(struct word_accesses *a, const uint32_t *from, uint32_t imm, uint32_t end)
{
    uint32_t highest = 0, bits = 0, n = 0;

    if (a->lanes == UINT32_MAX) {
        for (n = 0; n < 32; n++) {
            a->lane[n] = n;
            a->addresses[n] = from[n] + imm;
        }
    } else {
        for (uint32_t l = 0; l < 32; l++) {
            a->lane[n] = l;
            a->addresses[n] = from[l] + imm;
            n += a->lanes >> l & 1;
        }
    }
    a->count = n;
    for (uint32_t k = 0; k < n; k++) {
        highest = a->addresses[k] > highest ? a->addresses[k] : highest;
        bits |= a->addresses[k];
    }
    return a->size <= end && highest <= end - a->size && !(bits & (a->size - 1)) && !(a->size & (a->size - 1));
}

INLINE bool check_many(struct word_accesses *a, enum word_access access, const uint32_t *from, uint32_t imm)
{
    if (!collect(a, from, imm, a->k->words.bytes))
        return false;
    return is_row(a) ? check_warp(a, access, true) : check_warp(a, access, false);
}

/* The same for few lanes, which are looked at one by one. */
enum { FEW_LANES = 4 };
INLINE bool check_few(struct word_accesses *a, enum word_access access, const uint32_t *from, uint32_t imm)
{
    struct ptxi_shared_words *s = &a->k->words;
    uint32_t words = a->size > 4 ? a->size / 4 : 1, new = 0, count = 0, addresses[FEW_LANES] = { 0 };
    struct ptxi_word_access *to = (struct ptxi_word_access *)(void *)&s->log[s->log_size];
    struct word_thread t = a->first;

    if (a->size & (a->size - 1) || a->size > s->bytes || s->log_size + PTXI_WORD_ACCESS_WORDS + 32 > PTXI_WORD_LOG)
        return false;
    for (uint32_t left = a->lanes; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left), address = from[l] + imm;
        bool is_new = false;

        if (address & (a->size - 1) || address > s->bytes - a->size)
            return false;
        t.now = a->first.now + l;
        for (uint32_t n = 0; n < words; n++) {
            enum word_step step_of = step(&s->states[address / 4 + n], &t, access);

            if (step_of == STEP_MAY_RACE)
                return false;
            is_new |= step_of == STEP_NEW;
        }
        addresses[count] = address;
        count += is_new;
        new |= (uint32_t)is_new << l;
    }
    if (!new)
        return true;
    *to = (struct ptxi_word_access){ a->clock, a->meta, new, .size = a->size & 0xff, .write = access != WORD_READ };
    memcpy(to->addresses, addresses, sizeof addresses);
    s->log_size += PTXI_WORD_ACCESS_WORDS + count;
    return true;
}

/* Checks a weak access or an atomic operation in the CTA's own shared memory. `meta` is that of a record without the
 * warp. False: it may race, so the race checker must check it and all others until the next barrier. */
INLINE bool check_words(struct ptxi_warp *w, const struct ptxi_insn *i, enum word_access access, uint32_t meta)
{
    struct ptxi_check_cta *k = w->cta->check;
    struct ptxi_shared_words *s = &k->words;
    uint32_t clock = *ptxi_order_clock(w->cta);
    const uint32_t *from;
    struct word_accesses a;

    if (!s->states)
        return false;
    if (s->epoch != k->cta_clock || clock - s->base >= PTXI_WORD_TIMES - 1)
        ptxi_shared_words_begin(s, clock, k->cta_clock);
    if (s->exact == k->cta_clock)
        return false;
    a.k = k;
    a.size = i->mods & PTXI_CHECK_BYTES;
    a.clock = clock;
    for (unsigned half = 0; half < PTXI_WARP32S; half++) {
        unsigned warp = w->index * PTXI_WARP32S + half;

        a.lanes = (uint32_t)((uint64_t)w->active >> (32 * half));
        if (!a.lanes)
            continue;
        from = (const uint32_t *)PTXI_SLOT(w, i->a) + 32 * half;
        if (a.lanes == UINT32_MAX && access != WORD_WRITE && from[0] == from[1] && from[1] == from[2])
            a.lanes = drop_repeated(from);
        if (access != WORD_WRITE && !k->any_lanes && __builtin_popcount(a.lanes) > FEW_LANES &&
            is_by_all(&a, access, from, (uint32_t)i->imm))
            continue;
        a.meta = meta | warp << PTXI_META_WARP;
        a.first.now = (clock - s->base) << PTXI_WORD_TIME_SHIFT | warp << PTXI_WORD_LANE_BITS;
        a.first.barrier = (k->cta_clock - s->base) << PTXI_WORD_TIME_SHIFT;
        a.first.met = k->warps[warp].clock > s->base ? (k->warps[warp].clock - s->base) << PTXI_WORD_TIME_SHIFT : 0;
        if (__builtin_popcount(a.lanes) <= FEW_LANES ? !check_few(&a, access, from, (uint32_t)i->imm)
                                                     : !check_many(&a, access, from, (uint32_t)i->imm))
            return false;
        if (k->any_lanes)
            ptxi_order_touch(&k->warps[warp], (uint32_t)((uint64_t)w->active >> (32 * half)));
    }
    return true;
}

#undef INLINE
#endif
