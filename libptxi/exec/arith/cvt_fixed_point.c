/* PTX ISA, "Data Movement and Conversion Instructions: cvt", to and from s2f6x2. The last source of a scaled conversion has a scale for
 * either element, which is 1 in the others. */
#include "exec/arith/convert.h"

#define ONE 0x7f7fu

static __attribute__((noinline)) void s2f6_of_any_scale(uint32_t *restrict pair, const float *high, const float *low, const uint16_t *scale)
{
    struct ptxi_num_s2f6_range range = ptxi_num_s2f6_range();

    FOR_LANES pair[l] = ptxi_num_s2f6_from_f32(high[l], scale[l] >> 8, range) << 8 | ptxi_num_s2f6_from_f32(low[l], scale[l] & 0xff, range);
}

static inline void drop_negative(uint16_t *r, unsigned mods)
{
    if (mods & PTXI_MOD_RELU)
        FOR_LANES r[l] = (uint16_t)(r[l] & ~((r[l] >> 7 & 0x0101u) * 0xff));
}

#if defined(__AVX512BW__)
/* Products are cut to the range from above, which has NaN become the largest; conversions round them, and packing cuts them from below. */
static const struct s2f6 {
    uint32_t upper_half, scale, unit, one; /* the factor is unit less the scale, as exponents of floats */
    float most;
    uint32_t least_scale, scales; /* four each */
    _Alignas(16) uint8_t in_pairs[16];
    _Alignas(64) uint64_t in_order[8];
} s2f6 = {
    .upper_half = 0xffff0000, .scale = 0xffu << 23, .unit = 260u << 23, .one = 133u << 23, .most = PTXI_NUM_S2F6_MAX,
    .least_scale = PTXI_NUM_S2F6_PLAIN_LEAST * 0x01010101u, .scales = (PTXI_NUM_S2F6_PLAIN_MOST - PTXI_NUM_S2F6_PLAIN_LEAST) * 0x01010101u,
    .in_pairs = { 0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15 },
    .in_order = { 0, 2, 4, 6, 1, 3, 5, 7 }
};

static inline __m512i s2f6_units(const struct s2f6 *k, __m512i x, __m512i factor)
{
    return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_mul_ps((__m512)x, (__m512)factor), _mm512_set1_ps(k->most)));
}

/* scale: shifted to where floats have their exponents, above and below other bits */
static inline __m512i s2f6_factor(const struct s2f6 *k, __m512i scale)
{
    return _mm512_sub_epi32(_mm512_set1_epi32((int)k->unit), _mm512_and_si512(scale, _mm512_set1_epi32((int)k->scale)));
}

/* Numbers of 16 lanes, the upper ones behind the lower ones in each 128 bits. */
static inline __m512i s2f6_of_16(const struct s2f6 *k, __m512i high, __m512i low, const uint16_t *scale)
{
    __m512i one = _mm512_set1_epi32((int)k->one), s;

    if (!scale)
        return _mm512_packs_epi32(s2f6_units(k, low, one), s2f6_units(k, high, one));
    s = _mm512_cvtepu16_epi32(_mm256_load_si256((const __m256i *)scale));
    return _mm512_packs_epi32(s2f6_units(k, low, s2f6_factor(k, _mm512_slli_epi32(s, 23))),
                              s2f6_units(k, high, s2f6_factor(k, _mm512_slli_epi32(s, 15))));
}

static inline bool any_special(const struct s2f6 *k, const uint16_t *scale)
{
    __m512i above = _mm512_sub_epi8(_mm512_load_si512(scale), _mm512_set1_epi32((int)k->least_scale));

    return _mm512_cmpgt_epu8_mask(above, _mm512_set1_epi32((int)k->scales)) != 0;
}

/* b: NULL if a has pairs of bf16; scale: NULL for 1. Returns false if some scale is special. */
static inline bool s2f6_pairs(uint16_t *r, const uint32_t *a, const uint32_t *b, const uint16_t *scale)
{
    const struct s2f6 *k = &s2f6;

    __asm__("" : "+r"(k));
    for (int l = 0; l < PTXI_LANES; l += 32) {
        __m512i x[2], bytes;

        if (scale && __builtin_expect(any_special(k, scale + l), 0))
            return false;
        for (int j = 0; j < 2; j++) {
            __m512i high = _mm512_load_si512(a + l + 16 * j), low = b ? _mm512_load_si512(b + l + 16 * j) : _mm512_slli_epi32(high, 16);

            if (!b)
                high = _mm512_and_si512(high, _mm512_set1_epi32((int)k->upper_half));
            x[j] = s2f6_of_16(k, high, low, scale ? scale + l + 16 * j : NULL);
        }
        bytes = _mm512_shuffle_epi8(_mm512_packs_epi16(x[0], x[1]), _mm512_broadcast_i32x4(*(const __m128i *)k->in_pairs));
        _mm512_store_si512(r + l, _mm512_permutexvar_epi64(_mm512_load_si512(k->in_order), bytes));
    }
    return true;
}

static __attribute__((noinline)) void s2f6_of_special_scale(uint16_t *r, const void *a, const void *b, const uint16_t *scale)
{
    LANE_ARRAY(float, high);
    LANE_ARRAY(float, low);
    LANE_ARRAY(uint32_t, pair);

    if (!b)
        halves_of_bf16x2(high, low, a);
    s2f6_of_any_scale(pair, b ? a : high, b ? b : low, scale);
    FOR_LANES r[l] = (uint16_t)pair[l];
}

static inline __attribute__((always_inline)) const struct ptxi_insn *s2f6_pair(const struct ptxi_insn *i, struct ptxi_warp *w, const void *a, const void *b,
                                                                               const uint16_t *scale)
{
    RESULT_LANES(uint16_t, r);

    if (__builtin_expect(!s2f6_pairs(r, a, b, scale), 0))
        s2f6_of_special_scale(r, a, b, scale);
    drop_negative(r, i->mods);
    NEXT_WITH_RESULT(r);
}

static inline __attribute__((always_inline)) const struct ptxi_insn *s2f6_of_bf16x2(const struct ptxi_insn *i, struct ptxi_warp *w, const uint16_t *scale)
{
    return s2f6_pair(i, w, PTXI_SLOT(w, i->a), NULL, scale);
}
#else
/* Whether none of the scales is special. */
static inline bool all_plain(const uint16_t *scale)
{
    typedef uint8_t __attribute__((may_alias)) code;
    const code *s = (const code *)scale;
    uint8_t most = 0;

    PTXI_SIMD for (int k = 0; k < 2 * PTXI_LANES; k++) {
        uint8_t above = (uint8_t)(s[k] - PTXI_NUM_S2F6_PLAIN_LEAST);

        most = most > above ? most : above;
    }
    return most <= PTXI_NUM_S2F6_PLAIN_MOST - PTXI_NUM_S2F6_PLAIN_LEAST;
}

/* scale: NULL for 1 */
static inline __attribute__((always_inline)) const struct ptxi_insn *s2f6_pair(const struct ptxi_insn *i, struct ptxi_warp *w, const float *high,
                                                                               const float *low, const uint16_t *scale)
{
    struct ptxi_num_s2f6_range range = ptxi_num_s2f6_range();
    LANE_ARRAY(uint32_t, pair); /* lest compilers narrow each of its terms */
    RESULT_LANES(uint16_t, r);

    if (!scale)
        FOR_LANES pair[l] = ptxi_num_s2f6_plain(high[l], ONE >> 8, range) << 8 | ptxi_num_s2f6_plain(low[l], ONE & 0xff, range);
    else if (__builtin_expect(all_plain(scale), 1))
        FOR_LANES pair[l] = ptxi_num_s2f6_plain(high[l], scale[l] >> 8, range) << 8 | ptxi_num_s2f6_plain(low[l], scale[l] & 0xff, range);
    else
        s2f6_of_any_scale(pair, high, low, scale);
    FOR_LANES r[l] = (uint16_t)pair[l];
    drop_negative(r, i->mods);
    NEXT_WITH_RESULT(r);
}

static inline __attribute__((always_inline)) const struct ptxi_insn *s2f6_of_bf16x2(const struct ptxi_insn *i, struct ptxi_warp *w, const uint16_t *scale)
{
    LANE_ARRAY(float, high);
    LANE_ARRAY(float, low);

    halves_of_bf16x2(high, low, PTXI_SLOT(w, i->a));
    return s2f6_pair(i, w, high, low, scale);
}
#endif

static inline __attribute__((always_inline)) const struct ptxi_insn *bf16x2_of_s2f6(const struct ptxi_insn *i, struct ptxi_warp *w,
                                                                                    const uint16_t *scale)
{
    const uint16_t *a = PTXI_SLOT(w, i->a);
    uint16_t *halves;
    RESULT_LANES(uint32_t, r);

    FOR_LANES {
        uint32_t both = scale ? scale[l] : ONE, code = a[l];

        r[l] = ptxi_num_bf16_from_s2f6(code >> 8, both >> 8) << 16 | ptxi_num_bf16_from_s2f6(code, both & 0xff);
    }
    halves = (uint16_t *)r;
    limit_bf16(halves, i->mods);
    limit_bf16(halves + PTXI_LANES, i->mods);
    NEXT_WITH_RESULT(r);
}

#define UNSCALED(name, function, ...)                                 \
    OP( cvt_##name )                                                  \
    {                                                                 \
        return function(i, w, ##__VA_ARGS__, NULL);                   \
    }
#define SCALED(name, function, slot, ...)                             \
    OP( cvt_scaled_##name )                                           \
    {                                                                 \
        return function(i, w, ##__VA_ARGS__, PTXI_SLOT(w, slot));     \
    }
UNSCALED(s2f6x2_f32, s2f6_pair, PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b))
UNSCALED(s2f6x2_bf16x2, s2f6_of_bf16x2)
UNSCALED(bf16x2_s2f6x2, bf16x2_of_s2f6)
SCALED(s2f6x2_f32, s2f6_pair, i->c, PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b))
SCALED(s2f6x2_bf16x2, s2f6_of_bf16x2, i->b)
SCALED(bf16x2_s2f6x2, bf16x2_of_s2f6, i->b)
