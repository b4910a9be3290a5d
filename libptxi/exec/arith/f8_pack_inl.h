/* Packs the f16x2 or bf16x2 of a register to codes of 8 bits or less, one in each byte, in the same order. It is
 * ptxi_num_minifloat_from_half() with the host's vectors.
 *
 * Constants are whole vectors in memory: compilers build vectors of constants that they know from general registers,
 * which costs moves. */
#ifndef PTXI_EXEC_ARITH_F8_PACK_INL_H
#define PTXI_EXEC_ARITH_F8_PACK_INL_H

#include "exec/arith/handler_parts.h"
#include "exec/engine/op_shapes.h"
#include "num/minifloat.h"

#define X(name, fraction, exponent, bias, top, inf, nan)                                                              \
    FRACTION_##name = fraction, SIGN_##name = (fraction) + (exponent), BIAS_##name = bias, TOP_##name = top,          \
    INF_##name = inf, NAN_##name = nan,
enum { PTXI_NUM_MINIFLOAT_FORMATS(X) };
#undef X

#define TWICE_(x) x, x
#define TIMES_4(x) TWICE_(x), TWICE_(x)
#define TIMES_16(x) TIMES_4(x), TIMES_4(x), TIMES_4(x), TIMES_4(x)
#define TIMES_32(x) TIMES_16(x), TIMES_16(x)

#if defined(__AVX512BW__)

/* Constants for packing from format s to format f. The last 5 bits of the exponent in s are the index of the last
 * three tables. `add` is added to the magnitude: the sum is the code (or, for a small number, a count of f's last
 * places) above `bits` bits that are rounded off. `half` is half of their range, minus 1. */
struct ptxi_f8_pack {
    int16_t magnitude[32], infinity[32], last_half[32], least[32], most[32], one[32], nan[32], sign[32];
    int16_t add[32], bits[32], half[32];
    uint64_t in_order[8];
};

#define EXPONENT(i, s, least) ((least) + (((i) - (least)) & 31))
#define IS_TINY(e, s, f) (BIAS_##s != BIAS_##f && (e) <= BIAS_##s - BIAS_##f)
#define BITS(e, s, f)                                                                                                 \
    (IS_TINY(e, s, f) ? BIAS_##s + FRACTION_##s + 1 - BIAS_##f - FRACTION_##f - (e) : FRACTION_##s - FRACTION_##f)
#define ADD(e, s, f) ((IS_TINY(e, s, f) ? 1 - (e) : BIAS_##f - BIAS_##s) * (1 << FRACTION_##s))
#define HALF(e, s, f) (BITS(e, s, f) > 16 ? 0 : (1 << (BITS(e, s, f) - 1)) - 1)
#define FOR_32(of, s, f, least)                                                                                    \
    { FOR_4(of, 0, s, f, least), FOR_4(of, 4, s, f, least), FOR_4(of, 8, s, f, least), FOR_4(of, 12, s, f, least), \
      FOR_4(of, 16, s, f, least), FOR_4(of, 20, s, f, least), FOR_4(of, 24, s, f, least), FOR_4(of, 28, s, f, least) }
#define FOR_4(of, i, s, f, least)                                                                              \
    of(EXPONENT(i, s, least), s, f), of(EXPONENT(i + 1, s, least), s, f), of(EXPONENT(i + 2, s, least), s, f), \
    of(EXPONENT(i + 3, s, least), s, f)

/* least: the smallest exponent that matters, or one less */
#define F8_PACK_CONSTANTS(f, s, lowest)                                                                           \
    { .magnitude = { TIMES_32(0x7fff) }, .infinity = { TIMES_32(INF_##s) },                                       \
      .last_half = { TIMES_32((BIAS_##s - BIAS_##f - FRACTION_##f) * (1 << FRACTION_##s)) },                      \
      .least = { TIMES_32((lowest) << FRACTION_##s) },                                                            \
      .most = { TIMES_32((TOP_##f << (FRACTION_##s - FRACTION_##f)) + ((BIAS_##s - BIAS_##f) << FRACTION_##s)) }, \
      .one = { TIMES_32(1) }, .nan = { TIMES_32(NAN_##f) }, .sign = { TIMES_32(1 << SIGN_##f) },                  \
      .add = FOR_32(ADD, s, f, lowest), .bits = FOR_32(BITS, s, f, lowest), .half = FOR_32(HALF, s, f, lowest),   \
      .in_order = { 0, 2, 4, 6, 1, 3, 5, 7 } }

/* Packs one vector to codes in 16-bit elements.
 *
 * bounded: magnitudes may be below k->least, which is at most half of f's last place. wide: half of f's last place is
 * below k->least. The exponent of k->least is that of the last place, and only magnitudes above half of it count. */
ALWAYS_INLINE __m512i ptxi_f8_pack_codes(const struct ptxi_f8_pack *k, __m512i a, int fraction, int sign,
                                         bool bounded, bool wide)
{
    __m512i m = _mm512_and_si512(a, _mm512_load_si512(k->magnitude)), e, bits, r, odd;
    __mmask32 nan = _mm512_cmpgt_epi16_mask(m, _mm512_load_si512(k->infinity));
    __mmask32 counts = wide ? _mm512_cmpgt_epi16_mask(m, _mm512_load_si512(k->last_half)) : (__mmask32)-1;

    m = _mm512_min_epi16(m, _mm512_load_si512(k->most));
    if (bounded)
        m = _mm512_max_epi16(m, _mm512_load_si512(k->least));
    e = _mm512_srli_epi16(m, (unsigned)fraction);
    bits = _mm512_permutexvar_epi16(e, _mm512_load_si512(k->bits));
    r = _mm512_add_epi16(m, _mm512_permutexvar_epi16(e, _mm512_load_si512(k->add)));
    odd = _mm512_and_si512(_mm512_srlv_epi16(r, bits), _mm512_load_si512(k->one));
    r = _mm512_add_epi16(_mm512_add_epi16(r, odd), _mm512_permutexvar_epi16(e, _mm512_load_si512(k->half)));
    r = wide ? _mm512_maskz_srlv_epi16(counts, r, bits) : _mm512_srlv_epi16(r, bits);
    r = _mm512_ternarylogic_epi32(r, _mm512_srli_epi16(a, (unsigned)(15 - sign)), _mm512_load_si512(k->sign), 0xf8);
    return _mm512_mask_mov_epi16(r, nan, _mm512_load_si512(k->nan));
}

/* Define a function that packs s to f. lowest: see F8_PACK_CONSTANTS. */
#define PTXI_F8_PACK(f, s, lowest) PTXI_F8_PACK_DEFINE(f, s, lowest, false)
#define PTXI_F8_PACK_WIDE(f, s) PTXI_F8_PACK_DEFINE(f, s, BIAS_##s + 1 - BIAS_##f - FRACTION_##f, true)
#define PTXI_F8_PACK_DEFINE(f, s, lowest, wide)                                                         \
    OUT_OF_LINE void f##_of_##s(void *to, const void *from)                                             \
    {                                                                                                   \
        static const _Alignas(64) struct ptxi_f8_pack constants = F8_PACK_CONSTANTS(f, s, lowest);      \
        const struct ptxi_f8_pack *k = &constants;                                                      \
        const __m512i *a = from;                                                                        \
        __m512i *r = to;                                                                                \
                                                                                                        \
        __asm__("" : "+r"(k));                                                                          \
        for (int l = 0; l < PTXI_LANES / 32; l++) {                                                     \
            __m512i x = ptxi_f8_pack_codes(k, a[2 * l], FRACTION_##s, SIGN_##f, lowest, wide);          \
            __m512i y = ptxi_f8_pack_codes(k, a[2 * l + 1], FRACTION_##s, SIGN_##f, lowest, wide);      \
                                                                                                        \
            r[l] = _mm512_permutexvar_epi64(_mm512_load_si512(k->in_order), _mm512_packus_epi16(x, y)); \
        }                                                                                               \
    }

#elif defined(__AVX2__)

typedef int16_t ptxi_s16x16 __attribute__((vector_size(32), may_alias));
typedef uint16_t ptxi_u16x16 __attribute__((vector_size(32)));

struct ptxi_f8_pack {
    ptxi_s16x16 magnitude, infinity, one, bias, top, nan, sign;
    ptxi_u16x16 below_half, below_least; /* f's smallest normal number, minus 1 */
    ptxi_s16x16 top_bytes, sign_bytes;
    ptxi_s16x16 below[8]; /* magnitudes above below[k] are at least k + 1 units of f's last place */
};

/* See ptxi_num_minifloat_tie(). halves: 2k + 1. */
#define TIE(s, f, halves, top)                                                                                        \
    (((top) - BIAS_##f - FRACTION_##f + BIAS_##s) * (1 << FRACTION_##s) +                                             \
     (((halves) - (1 << (top))) << (FRACTION_##s - (top))))
#define BELOW(s, f, halves, top, odd) { TIMES_16((int16_t)(TIE(s, f, halves, top) - odd)) }
#define F8_PACK_CONSTANTS(f, s)                                                                                   \
    { .magnitude = { TIMES_16(0x7fff) }, .infinity = { TIMES_16(INF_##s) }, .one = { TIMES_16(1) },               \
      .below_half = { TIMES_16((1 << (FRACTION_##s - FRACTION_##f - 1)) - 1) },                                   \
      .below_least = { TIMES_16(((BIAS_##s - BIAS_##f + 1) << FRACTION_##s) - 1) },                               \
      .bias = { TIMES_16((int16_t)((BIAS_##s - BIAS_##f) << FRACTION_##f)) }, .top = { TIMES_16(TOP_##f) },       \
      .nan = { TIMES_16(NAN_##f) }, .sign = { TIMES_16(1 << SIGN_##f) },                                          \
      .top_bytes = { TIMES_16(TOP_##f * 0x101) }, .sign_bytes = { TIMES_16((int16_t)((1 << SIGN_##f) * 0x101)) }, \
      .below = { BELOW(s, f, 1, 0, 0), BELOW(s, f, 3, 1, 1), BELOW(s, f, 5, 2, 0), BELOW(s, f, 7, 2, 1),          \
                 BELOW(s, f, 9, 3, 0), BELOW(s, f, 11, 3, 1), BELOW(s, f, 13, 3, 0), BELOW(s, f, 15, 3, 1) } }

/* Combines the upper halves of the elements of two vectors. */
static inline __m256i ptxi_blend_upper_halves(__m256i high, __m256i low)
{
    return _mm256_blend_epi16(_mm256_srli_epi32(low, 16), high, 0xaa);
}

ALWAYS_INLINE __m256i ptxi_f8_pack_codes(const struct ptxi_f8_pack *k, ptxi_s16x16 a, struct ptxi_num_minifloat s,
                                         struct ptxi_num_minifloat f)
{
    const int drop = s.fraction - f.fraction;
    ptxi_s16x16 m = a & k->magnitude, nan = m > k->infinity, units = { 0 }, r;
    ptxi_u16x16 odd = (ptxi_u16x16)(m >> drop & k->one);

    r = (ptxi_s16x16)(((ptxi_u16x16)m + k->below_half + odd) >> drop) - k->bias;
    if (s.bias != f.bias) {
        for (int j = 0; j < 1 << f.fraction; j++)
            units -= m > k->below[j];
        r = (ptxi_s16x16)_mm256_max_epi16((__m256i)r, (__m256i)units);
    }
    r = (ptxi_s16x16)_mm256_min_epi16((__m256i)r, (__m256i)k->top);
    if (f.nan != f.top)
        r |= nan & k->nan;
    return (__m256i)(r | (a >> 15 & ~nan & k->sign));
}

ALWAYS_INLINE void ptxi_f8_pack_any(__m256i *r, const struct ptxi_f8_pack *k, const __m256i *a,
                                    struct ptxi_num_minifloat s, struct ptxi_num_minifloat f)
{
    for (int l = 0; l < PTXI_LANES / 16; l++) {
        __m256i x = ptxi_f8_pack_codes(k, (ptxi_s16x16)a[2 * l], s, f);
        __m256i y = ptxi_f8_pack_codes(k, (ptxi_s16x16)a[2 * l + 1], s, f);

        r[l] = _mm256_permute4x64_epi64(_mm256_packus_epi16(x, y), 0xd8);
    }
}

/* Packs in fewer steps. Returns false, and stores nothing, if any operand is a NaN, or is nonzero and below f's
 * smallest normal number. */
ALWAYS_INLINE bool ptxi_f8_pack_ordinary(__m256i *r, const struct ptxi_f8_pack *k, const __m256i *a,
                                         struct ptxi_num_minifloat s, struct ptxi_num_minifloat f)
{
    const int drop = s.fraction - f.fraction, sign = f.fraction + f.exponent;
    __m256i m[PTXI_LANES / 8], least, most, beyond;

    for (int j = 0; j < PTXI_LANES / 8; j++) {
        __m256i below = _mm256_sub_epi16(m[j] = _mm256_and_si256(a[j], (__m256i)k->magnitude), (__m256i)k->one);

        least = j ? _mm256_min_epu16(least, below) : below;
        most = j ? _mm256_max_epi16(most, m[j]) : m[j];
    }
    beyond = _mm256_subs_epu16(most, (__m256i)k->infinity);
    if (s.bias != f.bias)
        beyond = _mm256_or_si256(beyond, _mm256_subs_epu16((__m256i)k->below_least, least));
    if (__builtin_expect(!_mm256_testz_si256(beyond, beyond), 0))
        return false;
    for (int j = 0; j < PTXI_LANES / 8; j++) {
        ptxi_u16x16 odd = (ptxi_u16x16)m[j] >> drop & (ptxi_u16x16)k->one;

        m[j] = _mm256_subs_epu16((__m256i)(((ptxi_u16x16)m[j] + k->below_half + odd) >> drop), (__m256i)k->bias);
    }
    for (int l = 0; l < PTXI_LANES / 16; l++) {
        __m256i codes = _mm256_min_epu8(_mm256_packus_epi16(m[2 * l], m[2 * l + 1]), (__m256i)k->top_bytes);
        __m256i signs = _mm256_srli_epi16(_mm256_packs_epi16(a[2 * l], a[2 * l + 1]), 7 - sign);

        r[l] = _mm256_permute4x64_epi64(_mm256_or_si256(codes, _mm256_and_si256(signs, (__m256i)k->sign_bytes)), 0xd8);
    }
    return true;
}

#define PTXI_F8_PACK(f, s, lowest)                                                \
    static const struct ptxi_f8_pack f8_pack_##f##_##s = F8_PACK_CONSTANTS(f, s); \
    OUT_OF_LINE void f##_of_any_##s(void *r, const void *a)                       \
    {                                                                             \
        const struct ptxi_f8_pack *k = &f8_pack_##f##_##s;                        \
                                                                                  \
        __asm__("" : "+r"(k));                                                    \
        ptxi_f8_pack_any(r, k, a, ptxi_num_##s, ptxi_num_##f);                    \
    }                                                                             \
    static inline void f##_of_##s(void *r, const void *a)                         \
    {                                                                             \
        const struct ptxi_f8_pack *k = &f8_pack_##f##_##s;                        \
                                                                                  \
        __asm__("" : "+r"(k));                                                    \
        if (!ptxi_f8_pack_ordinary(r, k, a, ptxi_num_##s, ptxi_num_##f))          \
            f##_of_any_##s(r, a);                                                 \
    }

#else

#define PTXI_F8_PACK(f, s, lowest)                                                      \
    OUT_OF_LINE void f##_of_##s(void *to, const void *from)                             \
    {                                                                                   \
        typedef uint8_t __attribute__((may_alias)) code;                                \
        typedef uint16_t __attribute__((may_alias)) element;                            \
        code *restrict r = __builtin_assume_aligned(to, 64);                            \
        const element *restrict a = __builtin_assume_aligned(from, 64);                 \
                                                                                        \
        PTXI_SIMD for (int k = 0; k < 2 * PTXI_LANES; k++)                              \
            r[k] = (uint8_t)ptxi_num_minifloat_from_half(ptxi_num_##s, ptxi_num_##f, a[k]); \
    }
#endif

/* For pairs of formats where more than 32 exponents matter. */
#ifndef PTXI_F8_PACK_WIDE
#define PTXI_F8_PACK_WIDE(f, s) PTXI_F8_PACK(f, s, 0)
#endif

#endif
