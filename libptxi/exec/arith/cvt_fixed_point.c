/* PTX ISA, "Data Movement and Conversion Instructions: cvt", to and from s2f6x2. The last source of a scaled
 * conversion has one scale for each element. In the other conversions the scale is 1. */
#include "exec/arith/convert.h"
#include "exec/arith/handler_parts.h"

#define ONE 0x7f7fu

OUT_OF_LINE void s2f6_of_any_scale(uint32_t *restrict pair, const float *high, const float *low, const uint16_t *scale)
{
    struct ptxi_num_s2f6_range range = ptxi_num_s2f6_range();

    FOR_LANES pair[l] = ptxi_num_s2f6_from_f32(high[l], scale[l] >> 8, range) << 8 |
                        ptxi_num_s2f6_from_f32(low[l], scale[l] & 0xff, range);
}

static inline void relu_s2f6(uint16_t *r, unsigned mods)
{
    if (mods & PTXI_MOD_RELU)
        FOR_LANES r[l] = (uint16_t)(r[l] & ~((r[l] >> 7 & 0x0101u) * 0xff));
}

#if defined(__AVX512BW__)
/* A product is limited to the range from above, which maps a NaN to the largest value. The conversion rounds it, and
 * packing limits it from below. */
static const struct s2f6 {
    uint32_t upper_half, scale, unit, one; /* the factor is unit - scale, as exponents of floats */
    float most;
    uint32_t least_scale, scales; /* the value in each of the four bytes */
    _Alignas(16) uint8_t in_pairs[16];
    _Alignas(64) uint64_t in_order[8];
} s2f6 = {
    .upper_half = 0xffff0000, .scale = 0xffu << 23, .unit = 260u << 23, .one = 133u << 23, .most = PTXI_NUM_S2F6_MAX,
    .least_scale = PTXI_NUM_S2F6_PLAIN_LEAST * 0x01010101u,
    .scales = (PTXI_NUM_S2F6_PLAIN_MOST - PTXI_NUM_S2F6_PLAIN_LEAST) * 0x01010101u,
    .in_pairs = { 0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15 },
    .in_order = { 0, 2, 4, 6, 1, 3, 5, 7 }
};

static inline __m512i s2f6_units(const struct s2f6 *k, __m512i x, __m512i factor)
{
    return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_mul_ps((__m512)x, (__m512)factor), _mm512_set1_ps(k->most)));
}

/* scale: shifted to the position of a float's exponent; other bits are ignored */
static inline __m512i s2f6_factor(const struct s2f6 *k, __m512i scale)
{
    return _mm512_sub_epi32(_mm512_set1_epi32((int)k->unit), _mm512_and_si512(scale, _mm512_set1_epi32((int)k->scale)));
}

/* The codes of 16 lanes. In each 128 bits, those of the upper elements follow those of the lower elements. */
static inline __m512i s2f6_of_16(const struct s2f6 *k, __m512i high, __m512i low, const uint16_t *scale)
{
    __m512i one = _mm512_set1_epi32((int)k->one), s;

    if (!scale)
        return _mm512_packs_epi32(s2f6_units(k, low, one), s2f6_units(k, high, one));
    s = _mm512_cvtepu16_epi32(_mm256_load_si256((const __m256i *)scale));
    return _mm512_packs_epi32(s2f6_units(k, low, s2f6_factor(k, _mm512_slli_epi32(s, 23))),
                              s2f6_units(k, high, s2f6_factor(k, _mm512_slli_epi32(s, 15))));
}

static inline bool any_special_scale(const struct s2f6 *k, const uint16_t *scale)
{
    __m512i above = _mm512_sub_epi8(_mm512_load_si512(scale), _mm512_set1_epi32((int)k->least_scale));

    return _mm512_cmpgt_epu8_mask(above, _mm512_set1_epi32((int)k->scales)) != 0;
}

/* b: NULL if a has pairs of bf16. scale: NULL for 1. Returns false if any scale is special. */
static inline bool s2f6_pairs(uint16_t *r, const uint32_t *a, const uint32_t *b, const uint16_t *scale)
{
    const struct s2f6 *k = &s2f6;

    __asm__("" : "+r"(k));
    for (int l = 0; l < PTXI_LANES; l += 32) {
        __m512i x[2], bytes;

        if (scale && __builtin_expect(any_special_scale(k, scale + l), 0))
            return false;
        for (int j = 0; j < 2; j++) {
            __m512i high = _mm512_load_si512(a + l + 16 * j);
            __m512i low = b ? _mm512_load_si512(b + l + 16 * j) : _mm512_slli_epi32(high, 16);

            if (!b)
                high = _mm512_and_si512(high, _mm512_set1_epi32((int)k->upper_half));
            x[j] = s2f6_of_16(k, high, low, scale ? scale + l + 16 * j : NULL);
        }
        bytes = _mm512_shuffle_epi8(_mm512_packs_epi16(x[0], x[1]),
                                    _mm512_broadcast_i32x4(*(const __m128i *)k->in_pairs));
        _mm512_store_si512(r + l, _mm512_permutexvar_epi64(_mm512_load_si512(k->in_order), bytes));
    }
    return true;
}

OUT_OF_LINE void s2f6_of_special_scale(uint16_t *r, const void *a, const void *b, const uint16_t *scale)
{
    LANE_ARRAY(float, high);
    LANE_ARRAY(float, low);
    LANE_ARRAY(uint32_t, pair);

    if (b) {
        s2f6_of_any_scale(pair, a, b, scale);
    } else {
        unpack_bf16x2(high, low, a);
        s2f6_of_any_scale(pair, high, low, scale);
    }
    FOR_LANES r[l] = (uint16_t)pair[l];
}

HANDLER_PART(ALWAYS_INLINE, s2f6_pair, const void *a, const void *b,
                                                                               const uint16_t *scale)
{
    RESULT_LANES(uint16_t, r);

    if (__builtin_expect(!s2f6_pairs(r, a, b, scale), 0))
        s2f6_of_special_scale(r, a, b, scale);
    relu_s2f6(r, i->mods);
    NEXT_WITH_RESULT(r);
}

HANDLER_PART(ALWAYS_INLINE, s2f6_of_bf16x2, const uint16_t *scale)
{
    return s2f6_pair(i, w, PTXI_SLOT(w, i->a), NULL, scale);
}
#else
/* Whether none of the scales is special. */
static inline bool all_ordinary(const uint16_t *scale)
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
HANDLER_PART(ALWAYS_INLINE, s2f6_pair, const float *high,
                                                                               const float *low, const uint16_t *scale)
{
    struct ptxi_num_s2f6_range range = ptxi_num_s2f6_range();
    LANE_ARRAY(uint32_t, pair); /* 32 bits, so that compilers do not narrow each term */
    RESULT_LANES(uint16_t, r);

    if (!scale)
        FOR_LANES pair[l] = ptxi_num_s2f6_plain(high[l], ONE >> 8, range) << 8 |
                            ptxi_num_s2f6_plain(low[l], ONE & 0xff, range);
    else if (__builtin_expect(all_ordinary(scale), 1))
        FOR_LANES pair[l] = ptxi_num_s2f6_plain(high[l], scale[l] >> 8, range) << 8 |
                            ptxi_num_s2f6_plain(low[l], scale[l] & 0xff, range);
    else
        s2f6_of_any_scale(pair, high, low, scale);
    FOR_LANES r[l] = (uint16_t)pair[l];
    relu_s2f6(r, i->mods);
    NEXT_WITH_RESULT(r);
}

HANDLER_PART(ALWAYS_INLINE, s2f6_of_bf16x2, const uint16_t *scale)
{
    LANE_ARRAY(float, high);
    LANE_ARRAY(float, low);

    unpack_bf16x2(high, low, PTXI_SLOT(w, i->a));
    return s2f6_pair(i, w, high, low, scale);
}
#endif

HANDLER_PART(ALWAYS_INLINE, bf16x2_of_s2f6,
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
    apply_limits_bf16(halves, i->mods);
    apply_limits_bf16(halves + PTXI_LANES, i->mods);
    NEXT_WITH_RESULT(r);
}

#define UNSCALED_OP(name, function, ...)            \
    OP( cvt_##name )                                \
    {                                               \
        return function(i, w, ##__VA_ARGS__, NULL); \
    }
#define SCALED_OP(name, function, slot, ...)                      \
    OP( cvt_scaled_##name )                                       \
    {                                                             \
        return function(i, w, ##__VA_ARGS__, PTXI_SLOT(w, slot)); \
    }
UNSCALED_OP(s2f6x2_f32, s2f6_pair, PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b))
UNSCALED_OP(s2f6x2_bf16x2, s2f6_of_bf16x2)
UNSCALED_OP(bf16x2_s2f6x2, bf16x2_of_s2f6)
SCALED_OP(s2f6x2_f32, s2f6_pair, i->c, PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b))
SCALED_OP(s2f6x2_bf16x2, s2f6_of_bf16x2, i->b)
SCALED_OP(bf16x2_s2f6x2, bf16x2_of_s2f6, i->b)

/* --- to s2f6, toward zero --- */
static inline uint32_t s2f6_toward_zero(float x, uint32_t scale)
{
    double units = x * ptxi_num_f64((uint64_t)(1023 + 6 + 127 - scale) << 52); /* exact */

    if (scale == 0xff || !(units < PTXI_NUM_S2F6_MAX))
        return PTXI_NUM_S2F6_MAX;
    return (uint32_t)(units > PTXI_NUM_S2F6_MIN ? (int32_t)units : PTXI_NUM_S2F6_MIN) & 0xff;
}

HANDLER_PART(OUT_OF_LINE, s2f6_pair_toward_zero, const float *high, const float *low, const uint16_t *scale)
{
    RESULT_LANES(uint16_t, r);

    for (int l = 0; l < PTXI_LANES; l++) {
        uint32_t both = scale ? scale[l] : ONE;

        r[l] = (uint16_t)(s2f6_toward_zero(high[l], both >> 8) << 8 | s2f6_toward_zero(low[l], both & 0xff));
    }
    relu_s2f6(r, i->mods);
    NEXT_WITH_RESULT(r);
}

HANDLER_PART(OUT_OF_LINE, s2f6_of_bf16x2_toward_zero, const uint16_t *scale)
{
    LANE_ARRAY(float, high);
    LANE_ARRAY(float, low);

    unpack_bf16x2(high, low, PTXI_SLOT(w, i->a));
    return s2f6_pair_toward_zero(i, w, high, low, scale);
}

UNSCALED_OP(rz_s2f6x2_f32, s2f6_pair_toward_zero, PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b))
UNSCALED_OP(rz_s2f6x2_bf16x2, s2f6_of_bf16x2_toward_zero)
OP( cvt_rz_scaled_s2f6x2_f32 )
{
    return s2f6_pair_toward_zero(i, w, PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b), PTXI_SLOT(w, i->c));
}
OP( cvt_rz_scaled_s2f6x2_bf16x2 )
{
    return s2f6_of_bf16x2_toward_zero(i, w, PTXI_SLOT(w, i->b));
}
