/* The steps of accesses to shared memory, for one word or for those of a warp of 32 (shared_words_inl.h). */
#ifndef PTXI_EXEC_CHECK_WORD_STEPS_INL_H
#define PTXI_EXEC_CHECK_WORD_STEPS_INL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exec/check/shared_words.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

enum word_access { WORD_READ, WORD_WRITE, WORD_ATOMIC };

/* The warp that accesses words. */
struct word_warp {
    uint32_t now;      /* the state of its lane 0 without a kind: time and thread */
    uint32_t barrier;  /* states below it are older than the last barrier */
    uint32_t met;      /* states of its warp below it happen before its accesses */
};

/* How the state of a word is related to an access: it is from before the last barrier, or its thread is of another
 * warp, of the same warp, or the same. MET: that access happens before this one. */
enum word_relation { OF_PAST, OF_OTHER, OF_WARP, OF_WARP_MET, OF_SELF, OF_SELF_MET };

/* A step is the kind that the access gives to a word, or one of these: */
enum { STEP_NOTHING = 0, STEP_MAY_RACE = 15, STEP_BITS = 4 };

/* The steps for one kind of state, by relation. */
#define STEPS(past, other, warp, warp_met, self, self_met) \
    ((uint32_t)(past) << OF_PAST * STEP_BITS | (uint32_t)(other) << OF_OTHER * STEP_BITS | \
     (uint32_t)(warp) << OF_WARP * STEP_BITS | (uint32_t)(warp_met) << OF_WARP_MET * STEP_BITS | \
     (uint32_t)(self) << OF_SELF * STEP_BITS | (uint32_t)(self_met) << OF_SELF_MET * STEP_BITS)

enum { READ = PTXI_WORD_READ, BY_WARP = PTXI_WORD_READ_BY_WARP, BY_ALL = PTXI_WORD_READ_BY_ALL,
       WRITTEN = PTXI_WORD_WRITTEN, OWNED = PTXI_WORD_OWNED, SEEN = PTXI_WORD_WRITTEN_READ,
       ATOMIC = PTXI_WORD_ATOMIC, AT_WARP = PTXI_WORD_ATOMIC_BY_WARP, AT_ALL = PTXI_WORD_ATOMIC_BY_ALL,
       SAME = STEP_NOTHING, RACE = STEP_MAY_RACE };

static const uint32_t word_steps[3][16] = {
    [WORD_READ] = { /*   past     other   warp     warp_met self     self_met */
        [0]       = STEPS(READ,    RACE,   RACE,    RACE,    RACE,    RACE),
        [READ]    = STEPS(READ,    BY_ALL, BY_WARP, READ,    SAME,    READ),
        [BY_WARP] = STEPS(READ,    BY_ALL, SAME,    READ,    SAME,    READ),
        [BY_ALL]  = STEPS(READ,    SAME,   SAME,    SAME,    SAME,    SAME),
        [WRITTEN] = STEPS(READ,    RACE,   RACE,    SEEN,    OWNED,   OWNED),
        [OWNED]   = STEPS(READ,    RACE,   RACE,    SEEN,    SAME,    OWNED),
        [SEEN]    = STEPS(READ,    RACE,   SEEN,    SEEN,    SEEN,    SEEN),
        [ATOMIC]  = STEPS(READ,    RACE,   RACE,    SEEN,    OWNED,   OWNED),
        [AT_WARP] = STEPS(READ,    RACE,   RACE,    SEEN,    RACE,    SEEN),
        [AT_ALL]  = STEPS(READ,    RACE,   RACE,    RACE,    RACE,    RACE),
    },
    [WORD_WRITE] = {
        [0]       = STEPS(WRITTEN, RACE,   RACE,    RACE,    RACE,    RACE),
        [READ]    = STEPS(WRITTEN, RACE,   RACE,    WRITTEN, WRITTEN, WRITTEN),
        [BY_WARP] = STEPS(WRITTEN, RACE,   RACE,    WRITTEN, RACE,    WRITTEN),
        [BY_ALL]  = STEPS(WRITTEN, RACE,   RACE,    RACE,    RACE,    RACE),
        [WRITTEN] = STEPS(WRITTEN, RACE,   RACE,    WRITTEN, SAME,    WRITTEN),
        [OWNED]   = STEPS(WRITTEN, RACE,   RACE,    WRITTEN, SAME,    WRITTEN),
        [SEEN]    = STEPS(WRITTEN, RACE,   RACE,    WRITTEN, RACE,    WRITTEN),
        [ATOMIC]  = STEPS(WRITTEN, RACE,   RACE,    WRITTEN, WRITTEN, WRITTEN),
        [AT_WARP] = STEPS(WRITTEN, RACE,   RACE,    WRITTEN, RACE,    WRITTEN),
        [AT_ALL]  = STEPS(WRITTEN, RACE,   RACE,    RACE,    RACE,    RACE),
    },
    [WORD_ATOMIC] = {
        [0]       = STEPS(ATOMIC,  RACE,   RACE,    RACE,    RACE,    RACE),
        [READ]    = STEPS(ATOMIC,  RACE,   RACE,    WRITTEN, WRITTEN, WRITTEN),
        [BY_WARP] = STEPS(ATOMIC,  RACE,   RACE,    WRITTEN, RACE,    WRITTEN),
        [BY_ALL]  = STEPS(ATOMIC,  RACE,   RACE,    RACE,    RACE,    RACE),
        [WRITTEN] = STEPS(ATOMIC,  RACE,   RACE,    WRITTEN, SAME,    WRITTEN),
        [OWNED]   = STEPS(ATOMIC,  RACE,   RACE,    WRITTEN, SAME,    WRITTEN),
        [SEEN]    = STEPS(ATOMIC,  RACE,   RACE,    WRITTEN, RACE,    WRITTEN),
        [ATOMIC]  = STEPS(ATOMIC,  AT_ALL, AT_WARP, ATOMIC,  SAME,    ATOMIC),
        [AT_WARP] = STEPS(ATOMIC,  AT_ALL, SAME,    ATOMIC,  SAME,    ATOMIC),
        [AT_ALL]  = STEPS(ATOMIC,  SAME,   SAME,    SAME,    SAME,    SAME),
    },
};

enum { WORD_THREAD = (1 << PTXI_WORD_THREAD_BITS) - 1,
       WORD_KIND = (1 << (PTXI_WORD_TIME_SHIFT - PTXI_WORD_THREAD_BITS)) - 1 };

INLINE uint32_t word_kind(uint32_t state)
{
    return state >> PTXI_WORD_THREAD_BITS & WORD_KIND;
}

#if defined(__AVX2__)
static const uint32_t lane_numbers[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
#endif

/* The step of an access by a lane of the warp. */
INLINE uint32_t find_step(uint32_t state, const struct word_warp *w, uint32_t lane, enum word_access access)
{
    uint32_t other = (state ^ (w->now + lane)) & WORD_THREAD;
    uint32_t relation = (other ? OF_WARP : OF_SELF) + (state < w->met);

    relation = other >> PTXI_WORD_LANE_BITS ? OF_OTHER : relation;
    relation = state < w->barrier ? OF_PAST : relation;
    return word_steps[access][word_kind(state)] >> relation * STEP_BITS & ((1 << STEP_BITS) - 1);
}

/* The state of a word after a step that is not STEP_NOTHING. */
INLINE uint32_t state_after(const struct word_warp *w, uint32_t lane, uint32_t step)
{
    return w->now + lane + (step << PTXI_WORD_THREAD_BITS);
}

/* Addresses of lanes. Lanes that do not access memory have the address of the first that does. *row: they are those of
 * neighbouring elements. False: one is not aligned, or above `last`. */
INLINE bool collect_addresses(uint32_t to[32], const uint32_t *from, uint32_t imm, uint32_t lanes, uint32_t size,
                              uint32_t last, bool *row)
{
    const uint32_t first = from[__builtin_ctz(lanes)] + imm;
    uint32_t off = 0, gaps = 0;

#if defined(__AVX512F__)
    for (uint32_t l = 0; l < 32; l += 16) {
        __m512i in_row = _mm512_mullo_epi32(_mm512_loadu_si512(lane_numbers), _mm512_set1_epi32((int)size));
        __m512i at = _mm512_mask_add_epi32(_mm512_set1_epi32((int)first), (__mmask16)(lanes >> l),
                                           _mm512_loadu_si512(from + l), _mm512_set1_epi32((int)imm));

        _mm512_storeu_si512(to + l, at);
        off |= _mm512_cmpgt_epu32_mask(at, _mm512_set1_epi32((int)last)) |
               _mm512_test_epi32_mask(at, _mm512_set1_epi32((int)(size - 1)));
        gaps |= _mm512_cmpneq_epi32_mask(at, _mm512_add_epi32(in_row, _mm512_set1_epi32((int)(first + l * size))));
    }
#else
    for (uint32_t l = 0; l < 32; l++) {
        uint32_t on = -(lanes >> l & 1), at = ((from[l] + imm) & on) | (first & ~on);

        to[l] = at;
        off |= (at > last) | (at & (size - 1));
        gaps |= at ^ (first + l * size);
    }
#endif
    *row = !gaps;
    return !off;
}

/* What the lanes of a warp do to the words at their addresses. */
struct word_change {
    uint32_t after[32]; /* their states */
    uint32_t new;       /* lanes that tell something new */
    uint32_t races;     /* lanes that may race */
    uint32_t by_all;    /* lanes whose words are or become READ_BY_ALL or ATOMIC_BY_ALL */
};

/* The kind that is meant by `by_all`. No access makes it of another kind. */
INLINE uint32_t kind_by_all(enum word_access access)
{
    return access == WORD_ATOMIC ? PTXI_WORD_ATOMIC_BY_ALL : PTXI_WORD_READ_BY_ALL;
}

/* Sets the parts of *c of the lanes from l on, WORDS_AT_ONCE of them. in_row: the word of lane 0, if those of the other
 * lanes follow; else NULL. Compilers find no gathers here, so they are explicit if the host has them. */
#if defined(__AVX512F__)
enum { WORDS_AT_ONCE = 16 };

/* By how many bits the step is shifted in an element of word_steps. */
INLINE __m512i relation_shift(__m512i state, __m512i own, const struct word_warp *w)
{
    __m512i other = _mm512_and_si512(_mm512_xor_si512(state, own), _mm512_set1_epi32(WORD_THREAD));
    __mmask16 of_warp = _mm512_cmplt_epu32_mask(other, _mm512_set1_epi32(1 << PTXI_WORD_LANE_BITS));
    __mmask16 of_self = _mm512_testn_epi32_mask(other, other);
    __mmask16 met = _mm512_mask_cmplt_epu32_mask(of_warp, state, _mm512_set1_epi32((int)w->met));
    __mmask16 since = _mm512_cmpge_epu32_mask(state, _mm512_set1_epi32((int)w->barrier));
    __m512i shift = _mm512_set1_epi32(OF_OTHER * STEP_BITS);

    shift = _mm512_mask_mov_epi32(shift, of_warp, _mm512_set1_epi32(OF_WARP * STEP_BITS));
    shift = _mm512_mask_mov_epi32(shift, of_self, _mm512_set1_epi32(OF_SELF * STEP_BITS));
    shift = _mm512_mask_add_epi32(shift, met, shift, _mm512_set1_epi32(STEP_BITS));
    return _mm512_maskz_mov_epi32(since, shift);
}

INLINE void change_some(const uint32_t *states, const uint32_t addresses[32], const uint32_t *in_row,
                        const struct word_warp *w, enum word_access access, uint32_t l, struct word_change *c)
{
    const __m512i all = _mm512_set1_epi32((int)kind_by_all(access)), race = _mm512_set1_epi32(STEP_MAY_RACE);
    __m512i at = _mm512_srli_epi32(_mm512_loadu_si512(addresses + l), 2);
    __m512i state = in_row ? _mm512_loadu_si512(in_row + l) : _mm512_i32gather_epi32(at, states, 4);
    __m512i own = _mm512_add_epi32(_mm512_set1_epi32((int)(w->now + l)), _mm512_loadu_si512(lane_numbers));
    __m512i shift = relation_shift(state, own, w);
    __m512i kind = _mm512_and_si512(_mm512_srli_epi32(state, PTXI_WORD_THREAD_BITS), _mm512_set1_epi32(WORD_KIND));
    __m512i steps = _mm512_permutexvar_epi32(kind, _mm512_loadu_si512(word_steps[access]));
    __m512i step = _mm512_and_si512(_mm512_srlv_epi32(steps, shift), race);
    __mmask16 is_by_all = _mm512_mask_cmpeq_epi32_mask(_mm512_test_epi32_mask(shift, shift), kind, all);

    _mm512_storeu_si512(c->after + l, _mm512_add_epi32(own, _mm512_slli_epi32(step, PTXI_WORD_THREAD_BITS)));
    c->new |= (uint32_t)_mm512_test_epi32_mask(step, step) << l;
    c->races |= (uint32_t)_mm512_cmpeq_epi32_mask(step, race) << l;
    c->by_all |= (uint32_t)(_mm512_cmpeq_epi32_mask(step, all) | is_by_all) << l;
}
#elif defined(__AVX2__)
enum { WORDS_AT_ONCE = 8 };

INLINE __m256i below(__m256i a, uint32_t b) /* unsigned */
{
    const __m256i sign = _mm256_set1_epi32(INT32_MIN);

    return _mm256_cmpgt_epi32(_mm256_xor_si256(_mm256_set1_epi32((int)b), sign), _mm256_xor_si256(a, sign));
}

INLINE uint32_t lanes_with(__m256i truth)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(truth));
}

INLINE __m256i choose(__m256i condition, int yes, __m256i no)
{
    return _mm256_blendv_epi8(no, _mm256_set1_epi32(yes), condition);
}

/* By how many bits the step is shifted in an element of word_steps. */
INLINE __m256i relation_shift(__m256i state, __m256i own, const struct word_warp *w)
{
    __m256i other = _mm256_and_si256(_mm256_xor_si256(state, own), _mm256_set1_epi32(WORD_THREAD));
    __m256i of_warp = below(other, 1 << PTXI_WORD_LANE_BITS);
    __m256i of_self = _mm256_cmpeq_epi32(other, _mm256_setzero_si256());
    __m256i met = _mm256_and_si256(of_warp, below(state, w->met));
    __m256i shift = _mm256_set1_epi32(OF_OTHER * STEP_BITS);

    shift = choose(of_warp, OF_WARP * STEP_BITS, shift);
    shift = choose(of_self, OF_SELF * STEP_BITS, shift);
    shift = _mm256_add_epi32(shift, _mm256_and_si256(met, _mm256_set1_epi32(STEP_BITS)));
    return _mm256_andnot_si256(below(state, w->barrier), shift);
}

/* table[kind], which has 16 elements. */
INLINE __m256i look_up(const uint32_t *table, __m256i kind)
{
    __m256i low = _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)table), kind);
    __m256i high = _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const __m256i *)(table + 8)), kind);

    return _mm256_blendv_epi8(low, high, _mm256_cmpgt_epi32(kind, _mm256_set1_epi32(7)));
}

INLINE void change_some(const uint32_t *states, const uint32_t addresses[32], const uint32_t *in_row,
                        const struct word_warp *w, enum word_access access, uint32_t l, struct word_change *c)
{
    const __m256i all = _mm256_set1_epi32((int)kind_by_all(access)), race = _mm256_set1_epi32(STEP_MAY_RACE);
    const __m256i lane = _mm256_loadu_si256((const __m256i *)lane_numbers), zero = _mm256_setzero_si256();
    __m256i at = _mm256_srli_epi32(_mm256_loadu_si256((const __m256i *)(addresses + l)), 2);
    __m256i state = in_row ? _mm256_loadu_si256((const __m256i *)(in_row + l)) :
                             _mm256_i32gather_epi32((const int *)states, at, 4);
    __m256i own = _mm256_add_epi32(_mm256_set1_epi32((int)(w->now + l)), lane);
    __m256i shift = relation_shift(state, own, w);
    __m256i kind = _mm256_and_si256(_mm256_srli_epi32(state, PTXI_WORD_THREAD_BITS), _mm256_set1_epi32(WORD_KIND));
    __m256i step = _mm256_and_si256(_mm256_srlv_epi32(look_up(word_steps[access], kind), shift), race);
    __m256i is_by_all = _mm256_andnot_si256(_mm256_cmpeq_epi32(shift, zero), _mm256_cmpeq_epi32(kind, all));

    _mm256_storeu_si256((__m256i *)(c->after + l),
                        _mm256_add_epi32(own, _mm256_slli_epi32(step, PTXI_WORD_THREAD_BITS)));
    c->new |= (~lanes_with(_mm256_cmpeq_epi32(step, zero)) & 0xff) << l;
    c->races |= lanes_with(_mm256_cmpeq_epi32(step, race)) << l;
    c->by_all |= lanes_with(_mm256_or_si256(_mm256_cmpeq_epi32(step, all), is_by_all)) << l;
}
#else
enum { WORDS_AT_ONCE = 1 };

INLINE void change_some(const uint32_t *states, const uint32_t addresses[32], const uint32_t *in_row,
                        const struct word_warp *w, enum word_access access, uint32_t l, struct word_change *c)
{
    uint32_t state = in_row ? in_row[l] : states[addresses[l] / 4], all = kind_by_all(access);
    uint32_t step = find_step(state, w, l, access);

    c->after[l] = state_after(w, l, step);
    c->new |= (uint32_t)(step != STEP_NOTHING) << l;
    c->races |= (uint32_t)(step == STEP_MAY_RACE) << l;
    c->by_all |= (uint32_t)(step == all || (state >= w->barrier && word_kind(state) == all)) << l;
}
#endif

/* row: the words of the lanes are neighbours. Vectors of 16 are so few that none is left out. */
INLINE void find_change(const uint32_t *states, const uint32_t addresses[32], uint32_t lanes, bool row,
                        const struct word_warp *w, enum word_access access, struct word_change *c)
{
    const uint32_t *in_row = row ? states + addresses[0] / 4 : NULL;

    c->new = c->races = c->by_all = 0;
    for (uint32_t l = 0; l < 32; l += WORDS_AT_ONCE)
        if (WORDS_AT_ONCE == 16 || lanes >> l & ((1u << WORDS_AT_ONCE) - 1))
            change_some(states, addresses, in_row, w, access, l, c);
}

/* Gives words their new states. If lanes share a word, one of them is the last. */
INLINE void set_states(uint32_t *states, const uint32_t addresses[32], bool row, uint32_t lanes,
                       const uint32_t after[32])
{
#if defined(__AVX512F__)
    for (uint32_t l = 0; l < 32; l += 16) {
        __m512i at = _mm512_srli_epi32(_mm512_loadu_si512(addresses + l), 2), value = _mm512_loadu_si512(after + l);

        if (row)
            _mm512_mask_storeu_epi32(states + addresses[0] / 4 + l, (__mmask16)(lanes >> l), value);
        else
            _mm512_mask_i32scatter_epi32(states, (__mmask16)(lanes >> l), at, value, 4);
    }
#else
    for (uint32_t l = 0; row && lanes == UINT32_MAX && l < 32; l++)
        states[addresses[0] / 4 + l] = after[l];
    for (uint32_t l = row && lanes == UINT32_MAX ? 32 : 0; l < 32; l += 8) {
        uint32_t left = lanes >> l & 0xff;

        for (uint32_t n = l; left == 0xff && n < l + 8; n++)
            states[addresses[n] / 4] = after[n];
        for (left = left == 0xff ? 0 : left; left; left &= left - 1) {
            uint32_t n = l + (uint32_t)__builtin_ctz(left);

            states[addresses[n] / 4] = after[n];
        }
    }
#endif
}

/* The lanes whose words have other states, because other lanes have set them, too. */
INLINE uint32_t find_lost(const uint32_t *states, const uint32_t addresses[32], uint32_t lanes,
                          const uint32_t after[32])
{
    uint32_t lost = 0;

#if defined(__AVX512F__)
    for (uint32_t l = 0; l < 32; l += 16) {
        __m512i at = _mm512_srli_epi32(_mm512_loadu_si512(addresses + l), 2), value = _mm512_loadu_si512(after + l);
        __m512i now = _mm512_i32gather_epi32(at, states, 4);

        lost |= (uint32_t)_mm512_mask_cmpneq_epi32_mask((__mmask16)(lanes >> l), now, value) << l;
    }
#elif defined(__AVX2__)
    for (uint32_t l = 0; l < 32; l += 8) {
        if (!(lanes >> l & 0xff))
            continue;
        __m256i at = _mm256_srli_epi32(_mm256_loadu_si256((const __m256i *)(addresses + l)), 2);
        __m256i now = _mm256_i32gather_epi32((const int *)states, at, 4);
        __m256i kept = _mm256_cmpeq_epi32(now, _mm256_loadu_si256((const __m256i *)(after + l)));

        lost |= (lanes >> l & ~(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(kept)) & 0xff) << l;
    }
#else
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);

        lost |= (uint32_t)(states[addresses[l] / 4] != after[l]) << l;
    }
#endif
    return lost;
}

/* Copies the values of the lanes. Space for all 32 may be written. */
INLINE void copy_lanes(uint32_t *to, const uint32_t from[32], uint32_t lanes)
{
#if defined(__AVX512F__)
    __m512i low = _mm512_maskz_compress_epi32((__mmask16)lanes, _mm512_loadu_si512(from));
    __m512i high = _mm512_maskz_compress_epi32((__mmask16)(lanes >> 16), _mm512_loadu_si512(from + 16));

    _mm512_storeu_si512(to, low);
    _mm512_storeu_si512(to + __builtin_popcount(lanes & 0xffff), high);
#else
    for (uint32_t l = 0, n = 0; l < 32; l++) {
        to[n] = from[l];
        n += lanes >> l & 1;
    }
#endif
}

#endif
