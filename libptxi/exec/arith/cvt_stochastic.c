/* PTX ISA, "Data Movement and Conversion Instructions: cvt", .rs: stochastic rounding of two or four floats by the
 * random bits of the last source. The first float becomes the uppermost element. */
#include "exec/arith/convert.h"
#include "exec/arith/handler_parts.h"
#include "exec/arith/f8_pack_inl.h"

#include <assert.h>

#define A PTXI_SLOT(w, i->a)
#define B PTXI_SLOT(w, i->b)
#define C PTXI_SLOT(w, i->c)
#define D PTXI_SLOT(w, (uint16_t)i->imm)
#define E PTXI_SLOT(w, (uint16_t)((uint32_t)i->imm >> 16))

/* ROUND_ANY: rounds any operand to element k of the result. The elements are `step` bits apart. ROUND_NON_NAN: the
 * same for an operand that is not a NaN. */
#define ROUND_ANY(f, a, random, bits, range, k, step) \
    (ptxi_num_minifloat_stochastic(ptxi_num_##f, a, random, bits, range) << (k) * (step))
#define ROUND_NON_NAN(f, a, random, bits, range, k, step)                                           \
    (ptxi_num_minifloat_stochastic_sum(ptxi_num_##f, a, random, bits, range) >> (bits) << (k) * (step) | \
     (a) >> 31 << ((k) * (step) + SIGN_##f))

/* Each half of c has the random bits of one element. */
#define TWO(of, f, bits)                                                                                              \
    (of(f, a[l], c[l] >> 16 & ((1u << (bits)) - 1), bits, range, 1, 16) |                                             \
     of(f, b[l], c[l] & ((1u << (bits)) - 1), bits, range, 0, 16))

/* The upper half of e has random bits for the first two of four elements. 8-bit elements share 16 random bits; 4-bit
 * elements have 8 each. */
#define FOUR(of, f, bits, step)                                                                              \
    (of(f, a[l], RANDOM(step, 3), bits, range, 3, step) | of(f, b[l], RANDOM(step, 2), bits, range, 2, step) \
     | of(f, c[l], RANDOM(step, 1), bits, range, 1, step) | of(f, d[l], RANDOM(step, 0), bits, range, 0, step))
#define RANDOM(step, k) ((step) == 8 ? e[l] >> ((k) / 2 * 16) & 0xffff : e[l] >> ((k) % 2 * 16 + (k) / 2 * 8) & 0xff)

#if defined(__AVX512BW__)
/* The shifted bits of a number are its code above `below` bits that are rounded off, except for the highest bit of
 * the code, which is inverted, and the bits above that. For a number below the smallest normal one, the sum with a
 * power of two has the code in its last places, in the same form.
 *
 * The constants are in memory, since compilers build vectors of constants that they know from general registers,
 * which costs moves. */
struct stochastic {
    uint32_t limit, least, power, excess, first, firsts, first_sign, first_signs, turned, codes, signs;
};
#define IS_LONG(sign, below) ((sign) + (below) > 23)
#define CONSTANTS(f, top, below, step, fields, half)                                                                   \
    { .limit = ((uint32_t)(top) << (23 - FRACTION_##f)) + ((127u - BIAS_##f) << 23), .least = (128u - BIAS_##f) << 23, \
      .power = ((151u - BIAS_##f - FRACTION_##f - (below)) << 23) +                                                    \
               (IS_LONG(SIGN_##f, below) ? 0 : 1u << ((SIGN_##f + (below) - 1) & 31)),                                 \
      .excess = 1 << 23, .first = ~0u << ((16 + (step)) & 31), .firsts = ~0u << (half), .first_sign = 1u << 31,        \
      .first_signs = ~0u << (31 - (step)), .turned = (fields) << (SIGN_##f - 1),                                       \
      .codes = (fields) * ((1u << SIGN_##f) - 1),                                                                      \
      .signs = (fields) << SIGN_##f }

/* ptxi_num_minifloat_stochastic_sum() for a vector. */
static inline __m512i stochastic_sum(const struct stochastic *k, struct ptxi_num_minifloat f, int below, __m512i a,
                                     __m512i random)
{
    enum { LEAST_MAGNITUDE = 0xa };
    __m512 m = _mm512_range_ps((__m512)a, _mm512_set1_ps(ptxi_num_f32(k->limit)), LEAST_MAGNITUDE);
    __mmask16 tiny = _mm512_cmplt_ps_mask(m, _mm512_set1_ps(ptxi_num_f32(k->least)));
    int down = 23 - f.fraction - below;
    __m512i sum = down ? _mm512_srli_epi32((__m512i)m, (unsigned)down) : (__m512i)m;

    sum = (__m512i)_mm512_mask_add_round_ps((__m512)sum, tiny, m, _mm512_set1_ps(ptxi_num_f32(k->power)),
                                            _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    if (IS_LONG(f.fraction + f.exponent, below))
        sum = _mm512_mask_sub_epi32(sum, tiny, sum, _mm512_set1_epi32((int)k->excess));
    return _mm512_add_epi32(sum, random);
}

static inline __m512i blend_bits(uint32_t mask, __m512i a, __m512i b)
{
    return _mm512_ternarylogic_epi32(_mm512_set1_epi32((int)mask), a, b, 0xca);
}

/* (codes ^ turned) & k->codes | signs & k->signs */
static inline __m512i combine_signs(const struct stochastic *k, __m512i codes, __m512i signs)
{
    codes = _mm512_ternarylogic_epi32(codes, _mm512_set1_epi32((int)k->turned), _mm512_set1_epi32((int)k->codes), 0x28);
    return _mm512_ternarylogic_epi32(codes, signs, _mm512_set1_epi32((int)k->signs), 0xf8);
}

/* The random bits of element k of four. */
static inline __m512i random_of_four(__m512i e, int k, int step)
{
    if (step == 8)
        return k < 2 ? _mm512_and_si512(e, _mm512_set1_epi32(0xffff)) : _mm512_srli_epi32(e, 16);
    switch (k) {
    case 0: e = _mm512_slli_epi32(e, 8); break;
    case 1: e = _mm512_srli_epi32(e, 8); break;
    case 2: break;
    default: e = _mm512_srli_epi32(e, 16);
    }
    return _mm512_and_si512(e, _mm512_set1_epi32(0xff00));
}

#define TWO_OF_NON_NAN(f, bits)                                                                                       \
    static inline void f##_two_of_non_nan(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c)       \
    {                                                                                                                 \
        static const struct stochastic constants = CONSTANTS(f, INF_##f, bits, 16, 0x00010001u, 16);                  \
        const struct stochastic *k = &constants;                                                                      \
        const __m512i random = _mm512_set1_epi32((1 << (bits)) - 1);                                                  \
                                                                                                                      \
        __asm__("" : "+r"(k));                                                                                        \
        for (int l = 0; l < PTXI_LANES; l += 16) {                                                                    \
            __m512i va = _mm512_load_si512(a + l), vb = _mm512_load_si512(b + l), vc = _mm512_load_si512(c + l);      \
            __m512i upper = _mm512_and_si512(_mm512_srli_epi32(vc, 16), random);                                      \
            __m512i x = stochastic_sum(k, ptxi_num_##f, bits, va, upper);                                             \
            __m512i y = stochastic_sum(k, ptxi_num_##f, bits, vb, _mm512_and_si512(vc, random));                      \
                                                                                                                      \
            x = blend_bits(k->firsts, _mm512_slli_epi32(x, 16 - (bits)), _mm512_srli_epi32(y, bits));                 \
            _mm512_store_si512(r + l, combine_signs(k, x, blend_bits(k->first_sign, va, _mm512_srli_epi32(vb, 16)))); \
        }                                                                                                             \
    }
#define FOUR_OF_NON_NAN(f, bits, step, fields)                                                                         \
    static inline void f##_four_of_non_nan(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c,       \
                                           const uint32_t *d, const uint32_t *e)                                       \
    {                                                                                                                  \
        static const struct stochastic constants = CONSTANTS(f, TOP_##f, 16, step, fields, 2 * (step));                \
        const struct stochastic *k = &constants;                                                                       \
                                                                                                                       \
        __asm__("" : "+r"(k));                                                                                         \
        for (int l = 0; l < PTXI_LANES; l += 16) {                                                                     \
            const uint32_t *const from[4] = { d + l, c + l, b + l, a + l };                                            \
            __m512i v[4], sum[4], random = _mm512_load_si512(e + l), signs;                                            \
                                                                                                                       \
            for (int n = 0; n < 4; n++) {                                                                              \
                v[n] = _mm512_load_si512(from[n]);                                                                     \
                sum[n] = stochastic_sum(k, ptxi_num_##f, 16, v[n], random_of_four(random, n, step));                   \
            }                                                                                                          \
            for (int n = 0; n < 4; n += 2) {                                                                           \
                sum[n] = blend_bits(k->first, _mm512_slli_epi32(sum[n + 1], step), sum[n]);                            \
                v[n] = blend_bits(k->first_sign, v[n + 1], _mm512_srli_epi32(v[n], step));                             \
            }                                                                                                          \
            sum[2] = (step) == 8 ? sum[2] : _mm512_srli_epi32(sum[2], 16 - 2 * (step));                                \
            sum[0] = blend_bits(k->firsts, sum[2], _mm512_srli_epi32(sum[0], 16));                                     \
            signs = blend_bits(k->first_signs, v[2], _mm512_srli_epi32(v[0], 2 * (step)));                             \
            _mm512_store_si512(r + l, combine_signs(k, sum[0], _mm512_srli_epi32(signs, 31 - 3 * (step) - SIGN_##f))); \
        }                                                                                                              \
    }
#else
#define TWO_OF_NON_NAN(f, bits)                                                                                 \
    static inline void f##_two_of_non_nan(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c) \
    {                                                                                                           \
        const struct ptxi_num_stochastic_range range = ptxi_num_stochastic_range(ptxi_num_##f, false);          \
                                                                                                                \
        FOR_LANES r[l] = TWO(ROUND_NON_NAN, f, bits);                                                           \
    }
#define FOUR_OF_NON_NAN(f, bits, step, fields)                                                                   \
    static inline void f##_four_of_non_nan(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c, \
                                           const uint32_t *d, const uint32_t *e)                                 \
    {                                                                                                            \
        const struct ptxi_num_stochastic_range range = ptxi_num_stochastic_range(ptxi_num_##f, true);            \
                                                                                                                 \
        FOR_LANES r[l] = FOUR(ROUND_NON_NAN, f, bits, step);                                                     \
    }
#endif

#if defined(__AVX2__) && !defined(__AVX512BW__)
/* Four elements in fewer steps. No operand may be a NaN, infinite, or a nonzero number below the smallest normal one.
 * The random bits are added below the code's own bits. The upper halves of the sums have all bits that matter, so two
 * of them are processed in a 32-bit element. */
struct stochastic_halves {
    uint16_t magnitude[16], one[16], below_least[16], below_infinity[16], bias[16], top[16], sign[2][16];
};
#define STOCHASTIC_HALVES(f, top_code, step)                                                                          \
    { { TIMES_16(0x7fff) }, { TIMES_16(1) }, { TIMES_16(((128 - BIAS_##f) << 7) - 1) }, { TIMES_16(0x7f7f) },         \
      { TIMES_16((127 - BIAS_##f) << FRACTION_##f) }, { TIMES_16(top_code) },                                         \
      { { TIMES_16(1 << SIGN_##f) }, { TIMES_16(1 << (SIGN_##f + (step))) } } }
#define K(name) (*(const __m256i *)k->name)

/* The random bits of element n of four, shifted so that the highest is at the first bit that is rounded off. */
static inline __m256i random_below(__m256i e, int n, int step, int fraction)
{
    int bits = 16, at = n / 2 * 16;

    assert(step == 4 || step == 8);
    if (step == 4) {
        bits = 8;
        at = n % 2 * 16 + n / 2 * 8;
    }
    if (at > 0)
        e = _mm256_and_si256(e, _mm256_set1_epi32((int)(~0u << at)));
    return _mm256_srli_epi32(_mm256_slli_epi32(e, 32 - bits - at), 9 + fraction);
}

static inline bool all_ordinary(const struct stochastic_halves *k, const __m256i *const *from)
{
    __m256i least = K(below_least), most = K(below_infinity), beyond;

    for (int l = 0; l < PTXI_LANES / 8; l++)
        for (int n = 0; n < 2; n++) {
            __m256i m = _mm256_and_si256(ptxi_blend_upper_halves(from[n + 2][l], from[n][l]), K(magnitude));

            least = _mm256_min_epu16(least, _mm256_sub_epi16(m, K(one)));
            most = _mm256_max_epu16(most, m);
        }
    beyond = _mm256_or_si256(_mm256_xor_si256(least, K(below_least)), _mm256_xor_si256(most, K(below_infinity)));
    return _mm256_testz_si256(beyond, beyond);
}

ALWAYS_INLINE bool four_ordinary(uint32_t *r, const struct stochastic_halves *k, struct ptxi_num_minifloat f, int step,
                                                             const __m256i *const *from, const __m256i *e)
{
    const int sign = f.fraction + f.exponent;

    if (__builtin_expect(!all_ordinary(k, from), 0))
        return false;
    for (int l = 0; l < PTXI_LANES / 8; l++) {
        __m256i codes = _mm256_setzero_si256();

        for (int n = 0; n < 2; n++) { /* n = 1: a and c, the upper elements; n = 0: b and d */
            __m256i high = _mm256_add_epi32(from[n + 2][l], random_below(e[l], n + 2, step, f.fraction));
            __m256i low = _mm256_add_epi32(from[n][l], random_below(e[l], n, step, f.fraction));
            __m256i sum = ptxi_blend_upper_halves(high, low);
            __m256i code = _mm256_srli_epi16(_mm256_and_si256(sum, K(magnitude)), 7 - f.fraction);

            code = _mm256_min_epi16(_mm256_subs_epu16(code, K(bias)), K(top));
            sum = _mm256_and_si256(_mm256_srli_epi16(sum, 15 - sign - n * step), K(sign[n]));
            codes = _mm256_or_si256(_mm256_or_si256(codes, _mm256_slli_epi16(code, n * step)), sum);
        }
        if (step == 4)
            codes = _mm256_or_si256(codes, _mm256_srli_epi32(codes, 8));
        _mm256_store_si256((__m256i *)r + l, codes);
    }
    return true;
}
#undef K

#define FOUR_OF(f, bits, step, fields)                                                                      \
    static inline void f##_four(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c,       \
                                const uint32_t *d, const uint32_t *e)                                       \
    {                                                                                                       \
        static const _Alignas(32) struct stochastic_halves constants = STOCHASTIC_HALVES(f, TOP_##f, step); \
        const struct stochastic_halves *k = &constants;                                                     \
        const __m256i *const from[4] = {                                                                    \
            (const __m256i *)d, (const __m256i *)c, (const __m256i *)b, (const __m256i *)a,                 \
        };                                                                                                  \
                                                                                                            \
        __asm__("" : "+r"(k));                                                                              \
        if (!four_ordinary(r, k, ptxi_num_##f, step, from, (const __m256i *)e))                             \
            f##_four_of_any(r, a, b, c, d, e);                                                              \
    }
#else
#define FOUR_OF(f, bits, step, fields)                                                                 \
    FOUR_OF_NON_NAN(f, bits, step, fields)                                                             \
    static inline void f##_four(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c,  \
                                const uint32_t *d, const uint32_t *e)                                  \
    {                                                                                                  \
        if (__builtin_expect(ptxi_either_nan_f32((const float *)a, (const float *)b, V_FLOATS)         \
                             || ptxi_either_nan_f32((const float *)c, (const float *)d, V_FLOATS), 0)) \
            f##_four_of_any(r, a, b, c, d, e);                                                         \
        else                                                                                           \
            f##_four_of_non_nan(r, a, b, c, d, e);                                                     \
    }
#endif

/* --- two elements --- */
TWO_OF_NON_NAN(f16, 13)

/* A carry out of the random bits increments the upper half. The result may become infinite. */
static inline void bf16_two_of_non_nan(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c)
{
    FOR_LANES r[l] = ((a[l] + (c[l] >> 16)) & 0xffff0000) | (b[l] + (c[l] & 0xffff)) >> 16;
}

#define PAIR(half, bits)                                                                                     \
    OUT_OF_LINE void half##_two_of_any(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c) \
    {                                                                                                        \
        const struct ptxi_num_stochastic_range range = ptxi_num_stochastic_range(ptxi_num_##half, false);            \
                                                                                                             \
        FOR_LANES r[l] = TWO(ROUND_ANY, half, bits);                                                         \
    }                                                                                                        \
    OP( cvt_rs_##half##x2_f32 )                                                                              \
    {                                                                                                        \
        RESULT_LANES(uint32_t, r);                                                                           \
                                                                                                             \
        if (__builtin_expect(ptxi_either_nan_f32(A, B, V_FLOATS), 0))                                        \
            half##_two_of_any(r, A, B, C);                                                                   \
        else                                                                                                 \
            half##_two_of_non_nan(r, A, B, C);                                                               \
        apply_limits_##half((uint16_t *)r, i->mods);                                                         \
        apply_limits_##half((uint16_t *)r + PTXI_LANES, i->mods);                                            \
        NEXT_WITH_RESULT(r);                                                                                 \
    }
PAIR(f16, 13)
PAIR(bf16, 16)

/* --- four elements --- */

/* .relu: negative elements become 0. An element has `sign` bits below its sign. A NaN has no sign. */
static inline void relu_codes(uint32_t *r, uint32_t signs, int sign)
{
    FOR_LANES {
        uint32_t s = r[l] & signs;

        r[l] &= ~(s | (s - (s >> sign)));
    }
}

#define FORMAT(f, type, bits, step, fields)                                                                \
    OUT_OF_LINE void f##_four_of_any(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c, \
                                                          const uint32_t *d, const uint32_t *e)            \
    {                                                                                                      \
        const struct ptxi_num_stochastic_range range = ptxi_num_stochastic_range(ptxi_num_##f, true);              \
                                                                                                           \
        FOR_LANES r[l] = FOUR(ROUND_ANY, f, bits, step);                                                   \
    }                                                                                                      \
    FOUR_OF(f, bits, step, fields)                                                                         \
    OP( cvt_rs_##f##x4_f32 )                                                                               \
    {                                                                                                      \
        LANE_ARRAY(uint32_t, words);                                                                       \
        RESULT_LANES(type, r);                                                                             \
        uint32_t *q = sizeof *r == sizeof *q ? (uint32_t *)r : words;                                      \
                                                                                                           \
        f##_four(q, A, B, C, D, E);                                                                        \
        if (i->mods & PTXI_MOD_RELU)                                                                       \
            relu_codes(q, (fields) << SIGN_##f, SIGN_##f);                                                 \
        if (sizeof *r != sizeof *q)                                                                        \
            FOR_LANES r[l] = (type)words[l];                                                               \
        NEXT_WITH_RESULT(r);                                                                               \
    }
FORMAT(e4m3, uint32_t, 16, 8, 0x01010101u)
FORMAT(e5m2, uint32_t, 16, 8, 0x01010101u)
FORMAT(e3m2, uint32_t, 16, 8, 0x01010101u)
FORMAT(e2m3, uint32_t, 16, 8, 0x01010101u)
FORMAT(e2m1, uint16_t, 8, 4, 0x1111u)
