/* The test of shared_words.h, for the handlers of each CPU level. */
#ifndef PTXI_EXEC_CHECK_SHARED_WORDS_INL_H
#define PTXI_EXEC_CHECK_SHARED_WORDS_INL_H

#include <string.h>

#include "exec/check/order.h"
#include "exec/check/word_steps_inl.h"
#include "exec/engine/handler.h"

/* An access of a warp of 32. */
struct word_accesses {
    struct ptxi_check_cta *k;
    uint32_t size, meta, clock;
    struct word_warp warp;
    uint32_t lanes;         /* those that access memory */
    uint32_t addresses[32]; /* Lanes that do not access memory have the address of the first that does. */
};

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
    uint32_t many = kind_by_all(access);

    if (!always && s->tries++ % TRIES) /* it costs as much as the access */
        return;
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t n = a->addresses[k ? 31 - __builtin_clz(a->lanes) : __builtin_ctz(a->lanes)] / PTXI_WORD_LINE, off = 0;
        const uint32_t *states = s->states + n * WORDS;

        if (lines_of(s, access)[n] == s->epoch || n >= s->bytes / PTXI_WORD_LINE)
            continue;
        for (uint32_t m = 0; m < WORDS; m++)
            off |= (states[m] < a->warp.barrier) | (word_kind(states[m]) ^ many);
        if (!off)
            lines_of(s, access)[n] = s->lines_since = s->epoch;
    }
}

/* Checks a word of each lane. Adds the lanes that tell something new. False: one may race. */
INLINE bool check_word(const struct word_accesses *a, enum word_access access, uint32_t *states, bool row,
                       uint32_t *new)
{
    uint32_t left = a->lanes;
    struct word_change c;

    while (left) {
        find_change(states, a->addresses, left, row, &a->warp, access, &c);
        if (c.races & left)
            return false;
        left &= c.new;
        *new |= left;
        if (left)
            set_states(states, a->addresses, row, left, c.after);
        left &= row ? 0 : ~c.by_all;
        if (left) /* of lanes with one word, one is the first to change its state. Then the others look at it. */
            left = find_lost(states, a->addresses, left, c.after);
    }
    if (access != WORD_WRITE && a->size == 4 && !(a->lanes & ~c.by_all))
        note_by_all(a, access, c.new & a->lanes);
    return true;
}

/* False: the log is full. */
INLINE bool log_access(const struct word_accesses *a, enum word_access access, uint32_t lanes, bool row)
{
    struct ptxi_shared_words *s = &a->k->words;
    struct ptxi_word_access *to = (struct ptxi_word_access *)(void *)&s->log[s->log_size];

    if (s->log_size + PTXI_WORD_ACCESS_WORDS + 32 > PTXI_WORD_LOG)
        return false;
    to->clock = a->clock;
    to->meta = a->meta;
    to->lanes = lanes;
    to->size = a->size;
    to->write = access != WORD_READ;
    to->row = row;
    if (row)
        to->addresses[0] = a->addresses[0];
    else
        copy_lanes(to->addresses, a->addresses, lanes);
    s->log_size += PTXI_WORD_ACCESS_WORDS + (row ? 1 : (uint32_t)__builtin_popcount(lanes));
    return true;
}

INLINE bool check_warp(const struct word_accesses *a, enum word_access access, bool row)
{
    uint32_t new = 0;

    for (uint32_t at = 0; at < a->size; at += 4)
        if (!check_word(a, access, a->k->words.states + at / 4, row && a->size == 4, &new))
            return false;
    return !new || log_access(a, access, new, row);
}

/* The first two lanes of each run of lanes with the same address: they tell all about reads and atomic operations. */
INLINE uint32_t drop_repeated(const uint32_t *from)
{
    uint32_t same = 0;

    for (uint32_t l = 1; l < 32; l++)
        same |= (uint32_t)(from[l] == from[l - 1]) << l;
    return ~(same & same << 1);
}

INLINE bool check_many(struct word_accesses *a, enum word_access access, const uint32_t *from, uint32_t imm)
{
    const uint32_t end = a->k->words.bytes;
    bool row;

    if (a->size & (a->size - 1) || a->size > end ||
        !collect_addresses(a->addresses, from, imm, a->lanes, a->size, end - a->size, &row))
        return false;
    return row ? check_warp(a, access, true) : check_warp(a, access, false);
}

/* The same for few lanes, which are looked at one by one. */
enum { FEW_LANES = 4 };
INLINE bool check_few(struct word_accesses *a, enum word_access access, const uint32_t *from, uint32_t imm)
{
    struct ptxi_shared_words *s = &a->k->words;
    uint32_t words = a->size > 4 ? a->size / 4 : 1, new = 0, count = 0, addresses[FEW_LANES] = { 0 };
    struct ptxi_word_access *to = (struct ptxi_word_access *)(void *)&s->log[s->log_size];

    if (a->size & (a->size - 1) || a->size > s->bytes || s->log_size + PTXI_WORD_ACCESS_WORDS + 32 > PTXI_WORD_LOG)
        return false;
    for (uint32_t left = a->lanes; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left), address = from[l] + imm;
        bool is_new = false;

        if (address & (a->size - 1) || address > s->bytes - a->size)
            return false;
        for (uint32_t n = 0; n < words; n++) {
            uint32_t *state = &s->states[address / 4 + n], step = find_step(*state, &a->warp, l, access);

            if (step == STEP_MAY_RACE)
                return false;
            if (step != STEP_NOTHING)
                *state = state_after(&a->warp, l, step);
            is_new |= step != STEP_NOTHING;
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
        if (access != WORD_WRITE && s->lines_since == s->epoch && !k->any_lanes &&
            __builtin_popcount(a.lanes) > FEW_LANES && is_by_all(&a, access, from, (uint32_t)i->imm))
            continue;
        a.meta = meta | warp << PTXI_META_WARP;
        a.warp.now = (clock - s->base) << PTXI_WORD_TIME_SHIFT | warp << PTXI_WORD_LANE_BITS;
        a.warp.barrier = (k->cta_clock - s->base) << PTXI_WORD_TIME_SHIFT;
        a.warp.met = k->warps[warp].clock > s->base ? (k->warps[warp].clock - s->base) << PTXI_WORD_TIME_SHIFT : 0;
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
