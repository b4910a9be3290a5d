/* PTX ISA, "Data Movement and Conversion Instructions: cvt", to and from the formats of 8, 6 and 4 bits. Elements
 * come in pairs. The element from operand a, or from the upper half of a, is above the other. A pair of e2m1 is in
 * the low 8 bits of a 16-bit slot. */
#include "exec/arith/convert.h"
#include "exec/arith/handler_parts.h"
#include "exec/arith/f8_pack_inl.h"

#include <assert.h>

/* The distance in bits between the two elements of a pair. */
enum { STEP_e4m3 = 8, STEP_e5m2 = 8, STEP_e3m2 = 8, STEP_e2m3 = 8, STEP_e2m1 = 4 };

/* .relu: negative elements become 0. An element has a sign and n bits, and is in a byte. A NaN has no sign. */
static inline void relu_codes(uint16_t *r, int n)
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

/* --- to minifloats, to nearest --- */
#if defined(__AVX512BW__)
/* A number is added to a power of two. The last place of that power is the last place of the code, so the sum counts
 * units of the code. The last places of the power of two have the exponent of the code already. The last 5 bits of
 * the number's exponent are the index of `power`.
 *
 * The constants are in memory, since compilers build vectors of constants that they know from general registers,
 * which costs moves. */
struct nearest {
    _Alignas(64) uint32_t power[32];
    uint32_t magnitude, limit, least, lower, codes;
    _Alignas(64) uint64_t in_order[8];
};
#define POWER(e, fraction, bias)                                                                                      \
    (((e) << 23) + ((e) << (fraction)) + ((23u - (fraction)) << 23) - ((128u - (bias)) << (fraction)))
#define POWER_BY_LAST(i, fraction, bias) POWER(128u - (bias) + (((i) - (128u - (bias))) & 31u), fraction, bias)
#define TWO(i, f, b) POWER_BY_LAST(i, f, b), POWER_BY_LAST(i + 1u, f, b)
#define EIGHT(i, f, b) TWO(i, f, b), TWO(i + 2u, f, b), TWO(i + 4u, f, b), TWO(i + 6u, f, b)
#define NEAREST(fraction, sign, bias, top, step)                                                          \
    { .power = { EIGHT(0u, fraction, bias), EIGHT(8u, fraction, bias),                                    \
                 EIGHT(16u, fraction, bias), EIGHT(24u, fraction, bias) },                                \
      .magnitude = 0x7fffffff, .limit = ((uint32_t)(top) << (23 - (fraction))) + ((127u - (bias)) << 23), \
      .least = (128u - (bias)) << 23,                                                                     \
      .lower = (1u << (step)) - 1, .codes = ((1u << (sign)) - 1) * (1u | 1u << (step)),                   \
      .in_order = { 0, 2, 4, 6, 1, 3, 5, 7 } }

static inline __m512i nearest_sum(const struct nearest *k, __m512i a)
{
    __m512i magnitude = _mm512_and_si512(a, _mm512_set1_epi32((int)k->magnitude));
    __m512i m = _mm512_min_epi32(magnitude, _mm512_set1_epi32((int)k->limit));
    __m512i e = _mm512_srli_epi32(_mm512_max_epi32(m, _mm512_set1_epi32((int)k->least)), 23);
    __m512i power = _mm512_permutex2var_epi32(_mm512_load_si512(k->power), e, _mm512_load_si512(k->power + 16));

    return (__m512i)_mm512_add_ps((__m512)power, (__m512)m);
}

/* n: the sign bit of the lower element. The shift leaves no bits above the signs; between the signs the code's bits
 * remain. */
static inline __m512i nearest_code_pair(const struct nearest *k, const float *high, const float *low, int n, int step)
{
    __m512i a = _mm512_load_si512(high), b = _mm512_load_si512(low), lower = _mm512_set1_epi32((int)k->lower);
    __m512i x = _mm512_slli_epi32(nearest_sum(k, a), (unsigned)step), y = nearest_sum(k, b);
    __m512i sign_x = _mm512_srli_epi32(a, (unsigned)(31 - n - step));
    __m512i sign_y = _mm512_srli_epi32(b, (unsigned)(31 - n));

    x = _mm512_ternarylogic_epi32(lower, y, x, 0xca);
    sign_x = _mm512_ternarylogic_epi32(lower, sign_y, sign_x, 0xca);
    return _mm512_ternarylogic_epi32(_mm512_set1_epi32((int)k->codes), x, sign_x, 0xca);
}

#define PAIR_OF_NON_NAN(f)                                                                               \
    static const struct nearest nearest_##f = NEAREST(FRACTION_##f, SIGN_##f, BIAS_##f, TOP_##f, 8);     \
    OUT_OF_LINE void f##_pair_of_non_nan(uint16_t *restrict r, const float *high, const float *low)      \
    {                                                                                                    \
        const struct nearest *k = &nearest_##f;                                                          \
                                                                                                         \
        __asm__("" : "+r"(k));                                                                           \
        for (int l = 0; l < PTXI_LANES; l += 32) {                                                       \
            __m512i first = nearest_code_pair(k, high + l, low + l, SIGN_##f, 8);                        \
            __m512i second = nearest_code_pair(k, high + l + 16, low + l + 16, SIGN_##f, 8);             \
                                                                                                         \
            second = _mm512_packus_epi32(first, second);                                                 \
            _mm512_store_si512(r + l, _mm512_permutexvar_epi64(_mm512_load_si512(k->in_order), second)); \
        }                                                                                                \
    }
#else
#define PAIR_OF_NON_NAN(f)                                                                                    \
    OUT_OF_LINE void f##_pair_of_non_nan(uint16_t *restrict r, const float *high, const float *low)           \
    {                                                                                                         \
        const struct ptxi_num_minifloat format = ptxi_num_##f;                                                \
        const int drop = 31 - format.fraction - format.exponent;                                              \
        const uint32_t limit = ptxi_num_minifloat_max_f32(format), sign = ptxi_num_minifloat_sign(format);    \
        LANE_ARRAY(uint32_t, pair); /* 32 bits, so that compilers do not narrow each term */                  \
                                                                                                              \
        FOR_LANES {                                                                                           \
            uint32_t a = ptxi_num_bits_f32(high[l]), b = ptxi_num_bits_f32(low[l]);                           \
            uint32_t m = a & 0x7fffffff, n = b & 0x7fffffff, x, y;                                            \
                                                                                                              \
            x = ptxi_num_minifloat_nearest(format, (int32_t)m < (int32_t)limit ? m : limit) | (a >> drop & sign); \
            y = ptxi_num_minifloat_nearest(format, (int32_t)n < (int32_t)limit ? n : limit) | (b >> drop & sign); \
            pair[l] = x << 8 | y;                                                                             \
        }                                                                                                     \
        FOR_LANES r[l] = (uint16_t)pair[l];                                                                   \
    }
#endif

#if defined(__AVX2__) && !defined(__AVX512BW__)
/* Converts by way of bf16 pairs that are rounded to odd, see ptxi_num_odd_bf16(). */
static inline void odd_pairs(__m256i *pair, const void *high, const void *low)
{
    const __m256i *a = high, *b = low, one = _mm256_set1_epi16(1);

    for (int k = 0; k < PTXI_LANES / 8; k++) {
        __m256i rest = _mm256_blend_epi16(b[k], _mm256_slli_epi32(a[k], 16), 0xaa);

        pair[k] = _mm256_or_si256(ptxi_blend_upper_halves(a[k], b[k]), _mm256_min_epu16(rest, one));
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
#define PAIR(f)                                                                                       \
    OUT_OF_LINE void f##_any_pair(uint16_t *restrict r, const uint32_t *a, const uint32_t *b)         \
    {                                                                                                 \
        LANE_ARRAY(uint32_t, halves);                                                                 \
                                                                                                      \
        FOR_LANES halves[l] = (ptxi_num_odd_bf16(a[l]) & 0xffff0000) | ptxi_num_odd_bf16(b[l]) >> 16; \
        f##_of_bf16(r, halves);                                                                       \
    }                                                                                                 \
    PAIR_OF_NON_NAN(f)                                                                                \
    static inline void f##_pair(uint16_t *r, const void *a, const void *b)                            \
    {                                                                                                 \
        if (__builtin_expect(ptxi_either_nan_f32(a, b, V_FLOATS), 0))                                 \
            f##_any_pair(r, a, b);                                                                    \
        else                                                                                          \
            f##_pair_of_non_nan(r, a, b);                                                             \
    }
#endif

/* The 16-bit elements of all lanes. */
#define FOR_ELEMENTS PTXI_SIMD for (int k = 0; k < 2 * PTXI_LANES; k++)
typedef uint16_t __attribute__((may_alias)) element;

/* Packs two codes, each in a byte, to a pair of 4 bits. */
static inline uint16_t pack_4(uint16_t codes)
{
    return (uint16_t)((codes | codes >> 4) & 0xff);
}

/* Applies .relu and packs codes to the format of the pair. */
HANDLER_PART(static inline, finish, uint16_t *r, struct ptxi_num_minifloat f, int step)
{
    const int sign = f.fraction + f.exponent;

    if (i->mods & PTXI_MOD_RELU && step == 4)
        FOR_LANES r[l] = pack_4((uint16_t)(r[l] & ~((r[l] >> sign & 0x0101u) * 0xf)));
    else if (i->mods & PTXI_MOD_RELU)
        relu_codes(r, sign);
    else if (step == 4)
        FOR_LANES r[l] = pack_4(r[l]);
    NEXT_WITH_RESULT(r);
}

#define FROM_HALF_OP(f, half)                           \
    OP( cvt_##f##x2_##half##x2 )                        \
    {                                                   \
        RESULT_LANES(uint16_t, r);                      \
                                                        \
        f##_of_##half(r, PTXI_SLOT(w, i->a));           \
        return finish(i, w, r, ptxi_num_##f, STEP_##f); \
    }
PTXI_F8_PACK(e4m3, f16, 0)
PTXI_F8_PACK(e5m2, f16, 0)
PTXI_F8_PACK(e3m2, f16, 0)
PTXI_F8_PACK(e2m3, f16, 0)
PTXI_F8_PACK(e2m1, f16, 0)
PTXI_F8_PACK(e4m3, bf16, 127 - 11)
PTXI_F8_PACK(e3m2, bf16, 127 - 11)
PTXI_F8_PACK(e2m3, bf16, 127 - 11)
PTXI_F8_PACK(e2m1, bf16, 127 - 11)
PTXI_F8_PACK_WIDE(e5m2, bf16)
#define TO_MINIFLOAT_OPS(f)                                  \
    FROM_HALF_OP(f, f16)                                     \
    FROM_HALF_OP(f, bf16)                                    \
    PAIR(f)                                                  \
    OP( cvt_##f##x2_f32 )                                    \
    {                                                        \
        RESULT_LANES(uint16_t, r);                           \
                                                             \
        f##_pair(r, PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b)); \
        return finish(i, w, r, ptxi_num_##f, STEP_##f);      \
    }

/* --- to f16: an array of twice as many elements --- */
static void widen_bytes(uint16_t *r, const uint8_t *a)
{
    FOR_ELEMENTS r[k] = a[k];
}

/* Unpacks pairs of 4 bits to pairs of bytes. */
static void unpack_4(uint16_t *r, const uint16_t *a)
{
    FOR_LANES r[l] = (uint16_t)((a[l] & 0xf) | (a[l] & 0xf0) << 4);
}

#if defined(__AVX2__) && !defined(__AVX512BW__)
/* Works on bytes. The upper byte of an f16 is the magnitude of the code, shifted to its place in an f16, plus an
 * offset. For subnormal codes a table has the offset: they are below 8, and their f16 has two fraction bits in the
 * upper byte. The lower byte has at most a third fraction bit. */
struct widening {
    uint8_t upper[16], third[16];
};
#define UPPER_OF(m, fraction) ((m) << 1 >> ((fraction) - 1))
#define FLOOR_LOG(m) ((m) > 3 ? 2 : (m) > 1)
#define UPPER_TINY(m, exponent) ((m) ? ((16 - (exponent) + FLOOR_LOG(m)) << 2) + ((m) << 2 >> FLOOR_LOG(m) & 3) : 0)
#define UPPER(m, fraction, bias)                                                                                      \
    ((bias) != 15 && (m) < 1 << (fraction) ? UPPER_TINY(m, (bias) + (fraction))                                       \
                                           : UPPER_OF(m, fraction) + ((15 - (bias)) << 2))
#define OFFSET(m, fraction, bias) (uint8_t)(UPPER(m, fraction, bias) - ((fraction) > 1 ? UPPER_OF(m, fraction) : 0))
#define OFFSETS_4(m, n, b) OFFSET(m, n, b), OFFSET((m) + 1, n, b), OFFSET((m) + 2, n, b), OFFSET((m) + 3, n, b)
#define WIDENING(f)                                                                 \
    { { OFFSETS_4(0, FRACTION_##f, BIAS_##f), OFFSETS_4(4, FRACTION_##f, BIAS_##f), \
        OFFSETS_4(8, FRACTION_##f, BIAS_##f),                                       \
        OFFSETS_4(12, FRACTION_##f, BIAS_##f) },                                    \
      { 0, 0, 0, 0, 0, 0, 0, 0, TIMES_4(0x80), TIMES_4(0x80) } }

static inline __m256i look_up_bytes(const uint8_t *table, __m256i at)
{
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(*(const __m128i *)table), at);
}

/* least: lower bound of the results, as integers: 0 for .relu */
ALWAYS_INLINE void f16_of_bytes(void *to, const void *from, const struct widening *k, struct ptxi_num_minifloat f,
                                int16_t least)
{
    const int sign = f.fraction + f.exponent;
    __m256i *r = to;

    for (int l = 0; l < PTXI_LANES / 16; l++) {
        __m256i v = _mm256_permute4x64_epi64(((const __m256i *)from)[l], 0xd8);
        __m256i m = _mm256_and_si256(v, _mm256_set1_epi8((1 << sign) - 1));
        __m256i at = _mm256_min_epu8(m, _mm256_set1_epi8(15));
        __m256i low = _mm256_setzero_si256(), high = look_up_bytes(k->upper, at);

        if (f.fraction == 2)
            high = _mm256_add_epi8(high, m);
        if (f.fraction == 3) {
            high = _mm256_add_epi8(high, _mm256_and_si256(_mm256_srli_epi16(m, 1), _mm256_set1_epi8(0x3f)));
            low = _mm256_and_si256(_mm256_slli_epi16(m, 7), look_up_bytes(k->third, at));
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

#define FROM_MINIFLOAT_OP(f)                                                 \
    OP( cvt_f16x2_##f##x2 )                                                  \
    {                                                                        \
        static const _Alignas(16) struct widening constants = WIDENING(f);   \
        LANE_ARRAY(uint16_t, bytes);                                         \
        RESULT_LANES(uint32_t, r);                                           \
        const void *a = PTXI_SLOT(w, i->a);                                  \
                                                                             \
        if (STEP_##f == 4)                                                   \
            unpack_4(bytes, a);                                              \
        f16_of_bytes(r, STEP_##f == 4 ? bytes : a, &constants, ptxi_num_##f, \
                     i->mods & PTXI_MOD_RELU ? 0 : INT16_MIN);               \
        NEXT_WITH_RESULT(r);                                                 \
    }
#else
static void unpack_and_widen_4(uint16_t *r, const uint16_t *a)
{
    LANE_ARRAY(uint16_t, bytes);

    unpack_4(bytes, a);
    widen_bytes(r, (const uint8_t *)bytes);
}

#if defined(__F16C__)
/* Uses the host's conversions. The bits of a code, moved to their places in an f16, are a number that is too small by
 * a power of two, because the exponents have different biases. */
ALWAYS_INLINE void f16_by_scaling(uint16_t *restrict r, const uint16_t *restrict codes, struct ptxi_num_minifloat f)
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
#define SCALES(f) ((f).fraction > 2) /* the others are faster by integer operations */
#else
#define SCALES(f) false
#define f16_by_scaling(r, codes, f) (void)0
#endif

ALWAYS_INLINE void f16_of_codes(uint16_t *restrict r, const uint16_t *restrict codes, struct ptxi_num_minifloat f)
{
    if (SCALES(f))
        f16_by_scaling(r, codes, f);
    else
        FOR_ELEMENTS r[k] = ptxi_num_f16_from_minifloat(f, codes[k]);
}

#define FROM_MINIFLOAT_OP(f)                                                             \
    OP( cvt_f16x2_##f##x2 )                                                              \
    {                                                                                    \
        _Alignas(64) uint16_t codes[2 * PTXI_LANES];                                     \
        _Alignas(64) uint16_t h[2 * PTXI_LANES];                                         \
        RESULT_LANES(uint32_t, r);                                                       \
        int16_t *halves = (int16_t *)r, least = i->mods & PTXI_MOD_RELU ? 0 : INT16_MIN; \
                                                                                         \
        if (STEP_##f == 8)                                                               \
            widen_bytes(codes, PTXI_SLOT(w, i->a));                                      \
        else                                                                             \
            unpack_and_widen_4(codes, PTXI_SLOT(w, i->a));                               \
        f16_of_codes(h, codes, ptxi_num_##f);                                            \
        FOR_ELEMENTS halves[k] = (int16_t)h[k] > least ? (int16_t)h[k] : least;          \
        NEXT_WITH_RESULT(r);                                                             \
    }
#endif

#define FORMAT(f) TO_MINIFLOAT_OPS(f) FROM_MINIFLOAT_OP(f)
FORMAT(e4m3)
FORMAT(e5m2)
FORMAT(e3m2)
FORMAT(e2m3)
FORMAT(e2m1)

/* --- ue8m0 --- */
#if defined(__AVX512BW__)
/* Magnitudes above above[0] (rounding toward zero) or above[1] (rounding up) are rounded up to the next exponent.
 * Toward zero, these are only NaNs, which become 0x100. */
static const struct ue8m0 {
    uint32_t magnitude, above[2], all_but_one, upper_half;
    uint32_t magnitude_bf16, above_bf16[2], all_but_one_bf16, most[2], one; /* the value in both halves */
    _Alignas(64) uint64_t in_order[8];
} ue8m0 = {
    .magnitude = 0x7fffffff, .above = { 0x7f800000, 0x00400000 }, .all_but_one = 0x007fffff, .upper_half = 0xffff0000,
    .magnitude_bf16 = 0x7fff7fff, .above_bf16 = { 0x7f807f80, 0x00400040 }, .all_but_one_bf16 = 0x007f007f,
    .most = { 0x00ff00ff, 0x00fe00fe }, .one = 0x00010001,
    .in_order = { 0, 2, 4, 6, 1, 3, 5, 7 }
};

/* Returns the exponent in bit 23 and above. */
static inline __m512i ue8m0_rounded(const struct ue8m0 *k, const uint32_t *a, bool up)
{
    __m512i m = _mm512_and_si512(_mm512_load_si512(a), _mm512_set1_epi32((int)k->magnitude));

    __mmask16 above = _mm512_cmpgt_epi32_mask(m, _mm512_set1_epi32((int)k->above[up]));

    return _mm512_mask_add_epi32(m, above, m, _mm512_set1_epi32((int)k->all_but_one));
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

/* Converts exponents to codes in bytes. Infinity (0xff) and NaN (0x100) become the codes that the format has for
 * them. */
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
        _mm512_store_si512(r + l / 2, ue8m0_codes(k, ue8m0_exponents_of_bf16(k, a + l, up),
                                                  ue8m0_exponents_of_bf16(k, a + l + 32, up), finite));
}

static inline void ue8m0_of_f32(uint16_t *r, const uint32_t *a, const uint32_t *b, bool up, bool finite)
{
    const struct ue8m0 *k = &ue8m0;

    __asm__("" : "+r"(k));
    for (int l = 0; l < PTXI_LANES; l += 32)
        _mm512_store_si512(r + l, ue8m0_codes(k, ue8m0_pair(k, a + l, b + l, up),
                                              ue8m0_pair(k, a + l + 16, b + l + 16, up), finite));
}
#elif defined(__AVX2__)
/* See ptxi_num_ue8m0_from_bf16(). */
static inline void ue8m0_of_bf16(void *to, const void *from, bool up, bool finite)
{
    const __m256i magnitude = _mm256_set1_epi16(0x7fff), infinity = _mm256_set1_epi16(0x7f80);
    const __m256i least = _mm256_set1_epi16(0x0040), add = _mm256_set1_epi16(up ? 0x7f : 0);
    const __m256i most = _mm256_set1_epi8(finite ? (char)0xfe : (char)0xff);
    const __m256i *a = from;
    __m256i e[2], nan[2], *r = to;

    for (int l = 0; l < PTXI_LANES / 16; l++) {
        for (int j = 0; j < 2; j++) {
            __m256i m = _mm256_and_si256(a[2 * l + j], magnitude), x = _mm256_min_epi16(m, infinity);

            nan[j] = _mm256_cmpgt_epi16(m, infinity);
            x = _mm256_and_si256(x, _mm256_cmpgt_epi16(x, least));
            e[j] = _mm256_srli_epi16(_mm256_add_epi16(x, add), 7);
        }
        e[0] = _mm256_min_epu8(_mm256_packus_epi16(e[0], e[1]), most);
        e[0] = _mm256_or_si256(e[0], _mm256_packs_epi16(nan[0], nan[1]));
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

    assert(ROUNDING_MODE(i) == PTXI_NUM_RP || ROUNDING_MODE(i) == PTXI_NUM_RZ);
    ue8m0_of_f32(r, PTXI_SLOT(w, i->a), PTXI_SLOT(w, i->b), ROUNDING_MODE(i) == PTXI_NUM_RP,
                 i->mods & PTXI_MOD_SATFINITE);
    NEXT_WITH_RESULT(r);
}

OP( cvt_ue8m0x2_bf16x2 )
{
    RESULT_LANES(uint16_t, r);

    assert(ROUNDING_MODE(i) == PTXI_NUM_RP || ROUNDING_MODE(i) == PTXI_NUM_RZ);
    ue8m0_of_bf16(r, PTXI_SLOT(w, i->a), ROUNDING_MODE(i) == PTXI_NUM_RP, i->mods & PTXI_MOD_SATFINITE);
    NEXT_WITH_RESULT(r);
}

OP( cvt_bf16x2_ue8m0x2 )
{
    _Alignas(64) uint16_t codes[2 * PTXI_LANES];
    RESULT_LANES(uint32_t, r);
    element *h = (element *)r;

    widen_bytes(codes, PTXI_SLOT(w, i->a));
    FOR_ELEMENTS h[k] = ptxi_num_bf16_from_ue8m0(codes[k]);
    NEXT_WITH_RESULT(r);
}
