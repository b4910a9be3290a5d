/* PTX ISA, "Data Movement and Conversion Instructions: cvt", to and from the formats of 8, 6 and 4 bits. Elements come in pairs,
 * the one made of operand a, or of the upper half of a, above the other. A pair of e2m1 is in the low 8 bits of a 16-bit slot. */
#include "exec/arith/convert.h"
#include "exec/arith/f8_pack.h"

/* Distance of the two elements of a pair. */
enum { APART_e4m3 = 8, APART_e5m2 = 8, APART_e3m2 = 8, APART_e2m3 = 8, APART_e2m1 = 4 };

/* .relu: the elements, of 1 + n bits in a byte each, that have a sign become 0. No NaN has one. */
static inline void drop_negative(uint16_t *r, int n)
{
    typedef int8_t __attribute__((may_alias)) element;
    element *e = (element *)r;

    if (n == 7)
        PTXI_SIMD for (int k = 0; k < 2 * PTXI_LANES; k++)
            e[k] = e[k] > 0 ? e[k] : 0;
    else
        PTXI_SIMD for (int k = 0; k < 2 * PTXI_LANES; k++)
            e[k] = e[k] < 1 << n ? e[k] : 0;
}

/* --- to e4m3 and the like, to nearest --- */
#if defined(__AVX512BW__)
/* A number is added to a power of two whose last place is that of its code, or of the smallest codes; the sum then counts such units. Into the
 * last places of that power goes, beforehand, the code of the exponent. `power` has it by the last 5 bits of the number's exponent. In memory,
 * since compilers make vectors of constants that they know in general registers, which costs moves. */
struct nearest {
    _Alignas(64) uint32_t power[32];
    uint32_t magnitude, limit, least, lower, codes;
    _Alignas(64) uint64_t in_order[8];
};
#define POWER(e, fraction, bias)                                                                                      \
    (((e) << 23) + ((e) << (fraction)) + ((23u - (fraction)) << 23) - ((128u - (bias)) << (fraction)))
#define POWER_BY_LAST(i, fraction, bias) POWER(128u - (bias) + (((i) - (128u - (bias))) & 31u), fraction, bias)
#define FOUR(i, f, b) POWER_BY_LAST(i, f, b), POWER_BY_LAST(i + 1u, f, b), POWER_BY_LAST(i + 2u, f, b), POWER_BY_LAST(i + 3u, f, b)
#define NEAREST(fraction, sign, bias, top, apart)                                                                     \
    { .power = { FOUR(0u, fraction, bias), FOUR(4u, fraction, bias), FOUR(8u, fraction, bias), FOUR(12u, fraction, bias),    \
                 FOUR(16u, fraction, bias), FOUR(20u, fraction, bias), FOUR(24u, fraction, bias), FOUR(28u, fraction, bias) }, \
      .magnitude = 0x7fffffff, .limit = ((uint32_t)(top) << (23 - (fraction))) + ((127u - (bias)) << 23), .least = (128u - (bias)) << 23, \
      .lower = (1u << (apart)) - 1, .codes = ((1u << (sign)) - 1) * (1u | 1u << (apart)),          \
      .in_order = { 0, 2, 4, 6, 1, 3, 5, 7 } }

static inline __m512i nearest_sum(const struct nearest *k, __m512i a)
{
    __m512i m = _mm512_min_epi32(_mm512_and_si512(a, _mm512_set1_epi32((int)k->magnitude)), _mm512_set1_epi32((int)k->limit));
    __m512i e = _mm512_srli_epi32(_mm512_max_epi32(m, _mm512_set1_epi32((int)k->least)), 23);
    __m512i power = _mm512_permutex2var_epi32(_mm512_load_si512(k->power), e, _mm512_load_si512(k->power + 16));

    return (__m512i)_mm512_add_ps((__m512)power, (__m512)m);
}

/* n: the bit of the lower element's sign. The shift leaves nothing above signs, and between them only what codes have. */
static inline __m512i nearest_pair(const struct nearest *k, const float *high, const float *low, int n, int apart)
{
    __m512i a = _mm512_load_si512(high), b = _mm512_load_si512(low), lower = _mm512_set1_epi32((int)k->lower);
    __m512i x = _mm512_slli_epi32(nearest_sum(k, a), (unsigned)apart), y = nearest_sum(k, b);
    __m512i sign_x = _mm512_srli_epi32(a, (unsigned)(31 - n - apart)), sign_y = _mm512_srli_epi32(b, (unsigned)(31 - n));

    x = _mm512_ternarylogic_epi32(lower, y, x, 0xca);
    sign_x = _mm512_ternarylogic_epi32(lower, sign_y, sign_x, 0xca);
    return _mm512_ternarylogic_epi32(_mm512_set1_epi32((int)k->codes), x, sign_x, 0xca);
}

#define PAIR_OF_NUMBERS(f)                                                                                            \
    static const struct nearest nearest_##f = NEAREST(FRACTION_##f, SIGN_##f, BIAS_##f, TOP_##f, 8);                  \
    static __attribute__((noinline)) void f##_pair_of_numbers(uint16_t *restrict r, const float *high, const float *low) \
    {                                                                                                                 \
        const struct nearest *k = &nearest_##f;                                                                       \
                                                                                                                      \
        __asm__("" : "+r"(k));                                                                                        \
        for (int l = 0; l < PTXI_LANES; l += 32) {                                                                    \
            __m512i first = nearest_pair(k, high + l, low + l, SIGN_##f, 8);                                          \
            __m512i second = nearest_pair(k, high + l + 16, low + l + 16, SIGN_##f, 8);                               \
                                                                                                                      \
            second = _mm512_packus_epi32(first, second);                                                              \
            _mm512_store_si512(r + l, _mm512_permutexvar_epi64(_mm512_load_si512(k->in_order), second));              \
        }                                                                                                             \
    }
#else
#define PAIR_OF_NUMBERS(f)                                                                                            \
    static __attribute__((noinline)) void f##_pair_of_numbers(uint16_t *restrict r, const float *high, const float *low) \
    {                                                                                                                 \
        const struct ptxi_num_small format = ptxi_num_##f;                                                            \
        const int drop = 31 - format.fraction - format.exponent;                                                      \
        const uint32_t limit = ptxi_num_small_limit(format), sign = ptxi_num_small_sign(format);                      \
        LANE_ARRAY(uint32_t, pair); /* lest compilers narrow each of its terms */                                     \
                                                                                                                      \
        FOR_LANES {                                                                                                   \
            uint32_t a = ptxi_num_bits_f32(high[l]), b = ptxi_num_bits_f32(low[l]);                                   \
            uint32_t m = a & 0x7fffffff, n = b & 0x7fffffff, x, y;                                                    \
                                                                                                                      \
            x = ptxi_num_small_nearest(format, (int32_t)m < (int32_t)limit ? m : limit) | (a >> drop & sign);         \
            y = ptxi_num_small_nearest(format, (int32_t)n < (int32_t)limit ? n : limit) | (b >> drop & sign);         \
            pair[l] = x << 8 | y;                                                                                     \
        }                                                                                                             \
        FOR_LANES r[l] = (uint16_t)pair[l];                                                                           \
    }
#endif

#if defined(__AVX2__) && !defined(__AVX512BW__)
/* By way of pairs of bf16 that are odd where they are not exact, see ptxi_num_odd_bf16(). */
static inline void odd_pairs(__m256i *pair, const void *high, const void *low)
{
    const __m256i *a = high, *b = low, one = _mm256_set1_epi16(1);

    for (int k = 0; k < PTXI_LANES / 8; k++) {
        __m256i rest = _mm256_blend_epi16(b[k], _mm256_slli_epi32(a[k], 16), 0xaa);

        pair[k] = _mm256_or_si256(ptxi_upper_halves(a[k], b[k]), _mm256_min_epu16(rest, one));
    }
}

#define PAIR(f)                                                                                                       \
    static inline void f##_pair(uint16_t *r, const void *high, const void *low)                                       \
    {                                                                                                                 \
        __m256i pair[PTXI_LANES / 8];                                                                                 \
                                                                                                                      \
        odd_pairs(pair, high, low);                                                                                   \
        f##_of_bf16(r, pair);                                                                                         \
    }
#else
#define PAIR(f)                                                                                                       \
    static __attribute__((noinline)) void f##_any_pair(uint16_t *restrict r, const uint32_t *a, const uint32_t *b)    \
    {                                                                                                                 \
        LANE_ARRAY(uint32_t, halves);                                                                                 \
                                                                                                                      \
        FOR_LANES halves[l] = (ptxi_num_odd_bf16(a[l]) & 0xffff0000) | ptxi_num_odd_bf16(b[l]) >> 16;                 \
        f##_of_bf16(r, halves);                                                                                       \
    }                                                                                                                 \
    PAIR_OF_NUMBERS(f)                                                                                                \
    static inline void f##_pair(uint16_t *r, const void *a, const void *b)                                            \
    {                                                                                                                 \
        if (__builtin_expect(ptxi_either_nan_f32(a, b, V_FLOATS), 0))                                                 \
            f##_any_pair(r, a, b);                                                                                    \
        else                                                                                                          \
            f##_pair_of_numbers(r, a, b);                                                                             \
    }
#endif

/* Elements of 16 bits, those of all lanes in a row. */
#define FOR_ELEMENTS PTXI_SIMD for (int k = 0; k < 2 * PTXI_LANES; k++)
typedef uint16_t __attribute__((may_alias)) element;

/* Two codes in a byte each as a pair of 4 bits. */
static inline uint16_t joined_4(uint16_t codes)
{
    return (uint16_t)((codes | codes >> 4) & 0xff);
}

/* .relu; and codes in a byte each to pairs of them. */
static inline const struct ptxi_insn *finish(const struct ptxi_insn *i, struct ptxi_warp *w, uint16_t *r, struct ptxi_num_small f, int apart)
{
    const int sign = f.fraction + f.exponent;

    if (i->mods & PTXI_MOD_RELU && apart == 4)
        FOR_LANES r[l] = joined_4((uint16_t)(r[l] & ~((r[l] >> sign & 0x0101u) * 0xf)));
    else if (i->mods & PTXI_MOD_RELU)
        drop_negative(r, sign);
    else if (apart == 4)
        FOR_LANES r[l] = joined_4(r[l]);
    NEXT_WITH_RESULT(r);
}

#define OF_HALVES(f, half)                                                                                            \
    OP( cvt_##f##x2_##half##x2 )                                                                                      \
    {                                                                                                                 \
        RESULT_LANES(uint16_t, r);                                                                                    \
                                                                                                                      \
        f##_of_##half(r, PTXI_SLOT(w, i->a));                                                                         \
        return finish(i, w, r, ptxi_num_##f, APART_##f);                                                              \
    }
PTXI_NARROW(e4m3, f16, 0)
PTXI_NARROW(e5m2, f16, 0)
PTXI_NARROW(e3m2, f16, 0)
PTXI_NARROW(e2m3, f16, 0)
PTXI_NARROW(e2m1, f16, 0)
PTXI_NARROW(e4m3, bf16, 127 - 11)
PTXI_NARROW(e3m2, bf16, 127 - 11)
PTXI_NARROW(e2m3, bf16, 127 - 11)
PTXI_NARROW(e2m1, bf16, 127 - 11)
PTXI_NARROW_WIDE(e5m2, bf16)
#define TO_SMALL(f)                                                                                                   \
    OF_HALVES(f, f16)                                                                                                 \
    OF_HALVES(f, bf16)                                                                                                \
    PAIR(f)                                                                                                           \
    OP( cvt_##f##x2_f32 )                                                                                             \
    {                                                                                                                 \
        RESULT_LANES(uint16_t, r);                                                                                    \
                                                                                                                      \
        f##_pair(r, PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b));                                                          \
        return finish(i, w, r, ptxi_num_##f, APART_##f);                                                              \
    }

/* --- to f16: an array of twice as many elements --- */
static void spread_8(uint16_t *r, const uint8_t *a)
{
    FOR_ELEMENTS r[k] = a[k];
}

/* Pairs of 4 bits as pairs of bytes. */
static void apart_4(uint16_t *r, const uint16_t *a)
{
    FOR_LANES r[l] = (uint16_t)((a[l] & 0xf) | (a[l] & 0xf0) << 4);
}

#if defined(__AVX2__) && !defined(__AVX512BW__)
/* In bytes. The upper byte of an f16 is the code's magnitude, shifted to where f16 has it, and an offset, of which there is a table for subnormal codes: they
 * are below 8, and their f16 have two bits of fraction. The lower byte has no more than a third one. */
struct widening {
    uint8_t upper[16], third[16];
};
#define UPPER_OF(m, fraction) ((fraction) > 1 ? (m) >> ((fraction) & 2 ? (fraction)-2 : 0) : (m) << 1)
#define FLOOR_LOG(m) ((m) > 3 ? 2 : (m) > 1)
#define UPPER_TINY(m, exponent) ((m) ? ((16 - (exponent) + FLOOR_LOG(m)) << 2) + ((m) << 2 >> FLOOR_LOG(m) & 3) : 0)
#define UPPER(m, fraction, bias)                                                                                      \
    ((bias) != 15 && (m) < 1 << (fraction) ? UPPER_TINY(m, (bias) + (fraction)) : UPPER_OF(m, fraction) + ((15 - (bias)) << 2))
#define OFFSET(m, fraction, bias) (uint8_t)(UPPER(m, fraction, bias) - ((fraction) > 1 ? UPPER_OF(m, fraction) : 0))
#define OFFSETS_4(m, n, b) OFFSET(m, n, b), OFFSET((m) + 1, n, b), OFFSET((m) + 2, n, b), OFFSET((m) + 3, n, b)
#define WIDENING(f)                                                                                                   \
    { { OFFSETS_4(0, FRACTION_##f, BIAS_##f), OFFSETS_4(4, FRACTION_##f, BIAS_##f), OFFSETS_4(8, FRACTION_##f, BIAS_##f),        \
        OFFSETS_4(12, FRACTION_##f, BIAS_##f) },                                                                      \
      { 0, 0, 0, 0, 0, 0, 0, 0, TIMES_4(0x80), TIMES_4(0x80) } }

static inline __m256i by_byte(const uint8_t *table, __m256i at)
{
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(*(const __m128i *)table), at);
}

/* least: what results are not below, as integers. */
static inline __attribute__((always_inline)) void f16_of_bytes(void *to, const void *from, const struct widening *k, struct ptxi_num_small f, int16_t least)
{
    const int sign = f.fraction + f.exponent;
    __m256i *r = to;

    for (int l = 0; l < PTXI_LANES / 16; l++) {
        __m256i v = _mm256_permute4x64_epi64(((const __m256i *)from)[l], 0xd8), m = _mm256_and_si256(v, _mm256_set1_epi8((1 << sign) - 1));
        __m256i at = _mm256_min_epu8(m, _mm256_set1_epi8(15)), low = _mm256_setzero_si256(), high = by_byte(k->upper, at);

        if (f.fraction == 2)
            high = _mm256_add_epi8(high, m);
        if (f.fraction == 3) {
            high = _mm256_add_epi8(high, _mm256_and_si256(_mm256_srli_epi16(m, 1), _mm256_set1_epi8(0x3f)));
            low = _mm256_and_si256(_mm256_slli_epi16(m, 7), by_byte(k->third, at));
        }
        high = _mm256_or_si256(high, _mm256_and_si256(_mm256_slli_epi16(v, 7 - sign), _mm256_set1_epi8((char)0x80)));
        if (f.nan != f.top) {
            __m256i nan = _mm256_cmpgt_epi8(m, _mm256_set1_epi8((char)f.inf));

            high = _mm256_blendv_epi8(high, _mm256_set1_epi8(0x7f), nan);
            low = _mm256_or_si256(low, nan);
        }
        r[2 * l] = _mm256_max_epi16(_mm256_unpacklo_epi8(low, high), _mm256_set1_epi16(least));
        r[2 * l + 1] = _mm256_max_epi16(_mm256_unpackhi_epi8(low, high), _mm256_set1_epi16(least));
    }
}

#define FROM_SMALL(f)                                                                                                 \
    OP( cvt_f16x2_##f##x2 )                                                                                           \
    {                                                                                                                 \
        static const _Alignas(16) struct widening constants = WIDENING(f);                                            \
        LANE_ARRAY(uint16_t, bytes);                                                                                  \
        RESULT_LANES(uint32_t, r);                                                                                    \
        const void *a = PTXI_SLOT(w, i->a);                                                                           \
                                                                                                                      \
        if (APART_##f == 4)                                                                                           \
            apart_4(bytes, a);                                                                                        \
        f16_of_bytes(r, APART_##f == 4 ? bytes : a, &constants, ptxi_num_##f, i->mods & PTXI_MOD_RELU ? 0 : INT16_MIN); \
        NEXT_WITH_RESULT(r);                                                                                          \
    }
#else
static void spread_4(uint16_t *r, const uint16_t *a)
{
    LANE_ARRAY(uint16_t, bytes);

    apart_4(bytes, a);
    spread_8(r, (const uint8_t *)bytes);
}

#if defined(__F16C__)
/* By the host: the bits of a code, moved, are those of an f16 which is less than the number by what the exponents' biases differ by. */
static inline __attribute__((always_inline)) void scaled_f16(uint16_t *restrict r, const uint16_t *restrict codes, struct ptxi_num_small f)
{
    const int sign = f.fraction + f.exponent, m = (1 << sign) - 1, scale = 127 + 15 - f.bias;
    LANE_ARRAY(float, x);

    FOR_ELEMENTS r[k] = (uint16_t)((codes[k] << (15 - sign) & 0x8000) | (codes[k] & m) << (10 - f.fraction));
    for (int k = 0; k < 2 * PTXI_LANES; k += PTXI_LANES) {
        f32_of_f16(x, r + k);
        FOR_LANES x[l] *= ptxi_num_f32((uint32_t)scale << 23);
        f16_nearest_of_f32(r + k, x);
    }
    if (f.nan != f.top)
        FOR_ELEMENTS r[k] = (int16_t)(codes[k] & m) > (int16_t)f.inf ? PTXI_NAN_F16 : r[k];
}
#define SCALES(f) ((f).fraction > 2) /* which else takes most steps */
#else
#define SCALES(f) false
#define scaled_f16(r, codes, f) (void)0
#endif

static inline __attribute__((always_inline)) void f16_of_codes(uint16_t *restrict r, const uint16_t *restrict codes, struct ptxi_num_small f)
{
    if (SCALES(f))
        scaled_f16(r, codes, f);
    else
        FOR_ELEMENTS r[k] = ptxi_num_f16_from_small(f, codes[k]);
}

#define FROM_SMALL(f)                                                  \
    OP( cvt_f16x2_##f##x2 )                                            \
    {                                                                  \
        _Alignas(64) uint16_t codes[2 * PTXI_LANES];                   \
        _Alignas(64) uint16_t h[2 * PTXI_LANES];                       \
        RESULT_LANES(uint32_t, r);                                     \
        int16_t *halves = (int16_t *)r, least = i->mods & PTXI_MOD_RELU ? 0 : INT16_MIN; \
                                                                       \
        if (APART_##f == 8)                                            \
            spread_8(codes, PTXI_SLOT(w, i->a));                       \
        else                                                           \
            spread_4(codes, PTXI_SLOT(w, i->a));                       \
        f16_of_codes(h, codes, ptxi_num_##f);                          \
        FOR_ELEMENTS halves[k] = (int16_t)h[k] > least ? (int16_t)h[k] : least; \
        NEXT_WITH_RESULT(r);                                           \
    }
#endif

#define FORMAT(f) TO_SMALL(f) FROM_SMALL(f)
FORMAT(e4m3)
FORMAT(e5m2)
FORMAT(e3m2)
FORMAT(e2m3)
FORMAT(e2m1)

/* --- ue8m0 --- */
#if defined(__AVX512BW__)
/* Above the first magnitude of these exponents are rounded up: with rz those of NaNs alone, which become 0x100. */
static const struct ue8m0 {
    uint32_t magnitude, above[2], all_but_one, upper_half;
    uint32_t magnitude_bf16, above_bf16[2], all_but_one_bf16, most[2], one; /* two each */
    _Alignas(64) uint64_t in_order[8];
} ue8m0 = {
    .magnitude = 0x7fffffff, .above = { 0x7f800000, 0x00400000 }, .all_but_one = 0x007fffff, .upper_half = 0xffff0000,
    .magnitude_bf16 = 0x7fff7fff, .above_bf16 = { 0x7f807f80, 0x00400040 }, .all_but_one_bf16 = 0x007f007f,
    .most = { 0x00ff00ff, 0x00fe00fe }, .one = 0x00010001,
    .in_order = { 0, 2, 4, 6, 1, 3, 5, 7 }
};

/* The exponent is in bit 23 and above. */
static inline __m512i ue8m0_rounded(const struct ue8m0 *k, const uint32_t *a, bool up)
{
    __m512i m = _mm512_and_si512(_mm512_load_si512(a), _mm512_set1_epi32((int)k->magnitude));

    return _mm512_mask_add_epi32(m, _mm512_cmpgt_epi32_mask(m, _mm512_set1_epi32((int)k->above[up])), m, _mm512_set1_epi32((int)k->all_but_one));
}

static inline __m512i ue8m0_pair(const struct ue8m0 *k, const uint32_t *a, const uint32_t *b, bool up)
{
    __m512i high = _mm512_srli_epi32(ue8m0_rounded(k, a, up), 7), low = _mm512_srli_epi32(ue8m0_rounded(k, b, up), 23);

    return _mm512_ternarylogic_epi32(_mm512_set1_epi32((int)k->upper_half), high, low, 0xca);
}

static inline __m512i ue8m0_exponents_of_bf16(const struct ue8m0 *k, const uint16_t *a, bool up)
{
    __m512i m = _mm512_and_si512(_mm512_load_si512(a), _mm512_set1_epi32((int)k->magnitude_bf16));
    __mmask32 above = _mm512_cmpgt_epi16_mask(m, _mm512_set1_epi32((int)k->above_bf16[up]));

    return _mm512_srli_epi16(_mm512_mask_add_epi16(m, above, m, _mm512_set1_epi32((int)k->all_but_one_bf16)), 7);
}

/* Infinity, 0xff, and NaN become codes; in bytes. */
static inline __m512i ue8m0_codes(const struct ue8m0 *k, __m512i x, __m512i y, bool finite)
{
    __m512i most = _mm512_set1_epi32((int)k->most[finite]), one = _mm512_set1_epi32((int)k->one);

    x = _mm512_mask_sub_epi16(x, _mm512_cmpgt_epu16_mask(x, most), x, one);
    y = _mm512_mask_sub_epi16(y, _mm512_cmpgt_epu16_mask(y, most), y, one);
    return _mm512_permutexvar_epi64(_mm512_load_si512(k->in_order), _mm512_packus_epi16(x, y));
}

static inline void ue8m0_of_bf16(uint16_t *r, const element *a, bool up, bool finite)
{
    const struct ue8m0 *k = &ue8m0;

    __asm__("" : "+r"(k));
    for (int l = 0; l < 2 * PTXI_LANES; l += 64)
        _mm512_store_si512(r + l / 2, ue8m0_codes(k, ue8m0_exponents_of_bf16(k, a + l, up), ue8m0_exponents_of_bf16(k, a + l + 32, up), finite));
}

static inline void ue8m0_of_f32(uint16_t *r, const uint32_t *a, const uint32_t *b, bool up, bool finite)
{
    const struct ue8m0 *k = &ue8m0;

    __asm__("" : "+r"(k));
    for (int l = 0; l < PTXI_LANES; l += 32)
        _mm512_store_si512(r + l, ue8m0_codes(k, ue8m0_pair(k, a + l, b + l, up), ue8m0_pair(k, a + l + 16, b + l + 16, up), finite));
}
#elif defined(__AVX2__)
/* See ptxi_num_ue8m0_from_bf16(). */
static inline void ue8m0_of_bf16(void *to, const void *from, bool up, bool finite)
{
    const __m256i magnitude = _mm256_set1_epi16(0x7fff), infinity = _mm256_set1_epi16(0x7f80), least = _mm256_set1_epi16(0x0040);
    const __m256i add = _mm256_set1_epi16(up ? 0x7f : 0), most = _mm256_set1_epi8(finite ? (char)0xfe : (char)0xff), *a = from;
    __m256i e[2], nan[2], *r = to;

    for (int l = 0; l < PTXI_LANES / 16; l++) {
        for (int j = 0; j < 2; j++) {
            __m256i m = _mm256_and_si256(a[2 * l + j], magnitude), x = _mm256_min_epi16(m, infinity);

            nan[j] = _mm256_cmpgt_epi16(m, infinity);
            x = _mm256_and_si256(x, _mm256_cmpgt_epi16(x, least));
            e[j] = _mm256_srli_epi16(_mm256_add_epi16(x, add), 7);
        }
        e[0] = _mm256_or_si256(_mm256_min_epu8(_mm256_packus_epi16(e[0], e[1]), most), _mm256_packs_epi16(nan[0], nan[1]));
        r[l] = _mm256_permute4x64_epi64(e[0], 0xd8);
    }
}

static inline void ue8m0_of_f32(uint16_t *r, const uint32_t *a, const uint32_t *b, bool up, bool finite)
{
    __m256i pair[PTXI_LANES / 8];

    odd_pairs(pair, a, b);
    ue8m0_of_bf16(r, pair, up, finite);
}
#else
static inline void ue8m0_of_bf16(void *to, const element *a, bool up, bool finite)
{
    uint8_t *bytes = to;
    _Alignas(64) uint16_t codes[2 * PTXI_LANES];

    FOR_ELEMENTS codes[k] = ptxi_num_ue8m0_from_bf16(a[k], up, finite);
    FOR_ELEMENTS bytes[k] = (uint8_t)codes[k];
}

static inline void ue8m0_of_f32(uint16_t *r, const uint32_t *a, const uint32_t *b, bool up, bool finite)
{
    LANE_ARRAY(uint32_t, pair);

    FOR_LANES {
        uint32_t x = ptxi_num_ue8m0_from_f32(a[l], up, finite);

        pair[l] = x << 8 | ptxi_num_ue8m0_from_f32(b[l], up, finite);
    }
    FOR_LANES r[l] = (uint16_t)pair[l];
}
#endif

OP( cvt_ue8m0x2_f32 )
{
    RESULT_LANES(uint16_t, r);

    ue8m0_of_f32(r, PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b), MODE_OF(i) == PTXI_NUM_RP, i->mods & PTXI_MOD_SATFINITE);
    NEXT_WITH_RESULT(r);
}

OP( cvt_ue8m0x2_bf16x2 )
{
    RESULT_LANES(uint16_t, r);

    ue8m0_of_bf16(r, PTXI_SLOT(w, i->a), MODE_OF(i) == PTXI_NUM_RP, i->mods & PTXI_MOD_SATFINITE);
    NEXT_WITH_RESULT(r);
}

OP( cvt_bf16x2_ue8m0x2 )
{
    _Alignas(64) uint16_t codes[2 * PTXI_LANES];
    RESULT_LANES(uint32_t, r);
    element *h = (element *)r;

    spread_8(codes, PTXI_SLOT(w, i->a));
    FOR_ELEMENTS h[k] = ptxi_num_bf16_from_ue8m0(codes[k]);
    NEXT_WITH_RESULT(r);
}
