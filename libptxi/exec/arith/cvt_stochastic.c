/* PTX ISA, "Data Movement and Conversion Instructions: cvt", .rs: two or four floats, rounded by the random bits of the last source. The
 * first one is in the highest place. */
#include "exec/arith/convert.h"
#include "exec/arith/f8_pack.h"

#define A PTXI_SLOT(w, i->a)
#define B PTXI_SLOT(w, i->b)
#define C PTXI_SLOT(w, i->c)
#define D PTXI_SLOT(w, (uint16_t)i->imm)
#define E PTXI_SLOT(w, (uint16_t)((uint32_t)i->imm >> 16))

/* The operand that has the k-th place, in a field `apart` bits wide; and one that is a number. */
#define ANY(f, a, random, bits, range, k, apart) (ptxi_num_small_at_random(ptxi_num_##f, a, random, bits, range) << (k) * (apart))
#define NUMBER(f, a, random, bits, range, k, apart)                                                                   \
    (ptxi_num_small_sum_at_random(ptxi_num_##f, a, random, bits, range) >> (bits) << (k) * (apart) | (a) >> 31 << ((k) * (apart) + SIGN_##f))

/* Each half of c has random bits for one of two. */
#define TWO(of, f, bits)                                                                                              \
    (of(f, a[l], c[l] >> 16 & ((1u << (bits)) - 1), bits, range, 1, 16) | of(f, b[l], c[l] & ((1u << (bits)) - 1), bits, range, 0, 16))

/* The upper half of e is for the first two of four: of bytes both have it in common, of 4 bits each has 8 random bits of its own. */
#define FOUR(of, f, bits, apart)                                                                                      \
    (of(f, a[l], RANDOM(apart, 3), bits, range, 3, apart) | of(f, b[l], RANDOM(apart, 2), bits, range, 2, apart)      \
     | of(f, c[l], RANDOM(apart, 1), bits, range, 1, apart) | of(f, d[l], RANDOM(apart, 0), bits, range, 0, apart))
#define RANDOM(apart, k) ((apart) == 8 ? e[l] >> ((k) / 2 * 16) & 0xffff : e[l] >> ((k) % 2 * 16 + (k) / 2 * 8) & 0xff)

#if defined(__AVX512BW__)
/* The bits of a number, shifted, are its code above `below` bits that are rounded off, but for the code's highest bit, which is turned, and for
 * what is above that. Those of a number less than the least normal one come of a sum with a power of two, whose last places have the same.
 * In memory, since compilers make vectors of constants that they know in general registers, which costs moves. */
struct at_random {
    uint32_t limit, least, power, excess, first, firsts, first_sign, first_signs, turned, codes, signs;
};
#define IS_LONG(sign, below) ((sign) + (below) > 23)
#define CONSTANTS(f, top, below, apart, fields, half)                                                                  \
    { .limit = ((uint32_t)(top) << (23 - FRACTION_##f)) + ((127u - BIAS_##f) << 23), .least = (128u - BIAS_##f) << 23, \
      .power = ((151u - BIAS_##f - FRACTION_##f - (below)) << 23) + (IS_LONG(SIGN_##f, below) ? 0 : 1u << ((SIGN_##f + (below) - 1) & 31)), \
      .excess = 1 << 23, .first = ~0u << ((16 + (apart)) & 31), .firsts = ~0u << (half), .first_sign = 1u << 31,      \
      .first_signs = ~0u << (31 - (apart)), .turned = (fields) << (SIGN_##f - 1), .codes = (fields) * ((1u << SIGN_##f) - 1), \
      .signs = (fields) << SIGN_##f }

/* Of all lanes in one vector, see ptxi_num_small_sum_at_random(). */
static inline __m512i sum_at_random(const struct at_random *k, struct ptxi_num_small f, int below, __m512i a, __m512i random)
{
    __m512 m = _mm512_range_ps((__m512)a, _mm512_set1_ps(ptxi_num_f32(k->limit)), 0xa); /* the lesser magnitude */
    __mmask16 tiny = _mm512_cmplt_ps_mask(m, _mm512_set1_ps(ptxi_num_f32(k->least)));
    int down = 23 - f.fraction - below;
    __m512i sum = down ? _mm512_srli_epi32((__m512i)m, (unsigned)down) : (__m512i)m;

    sum = (__m512i)_mm512_mask_add_round_ps((__m512)sum, tiny, m, _mm512_set1_ps(ptxi_num_f32(k->power)), _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    if (IS_LONG(f.fraction + f.exponent, below))
        sum = _mm512_mask_sub_epi32(sum, tiny, sum, _mm512_set1_epi32((int)k->excess));
    return _mm512_add_epi32(sum, random);
}

static inline __m512i picked(uint32_t mask, __m512i a, __m512i b)
{
    return _mm512_ternarylogic_epi32(_mm512_set1_epi32((int)mask), a, b, 0xca);
}

/* (codes ^ turned) & k->codes | signs & k->signs */
static inline __m512i with_signs(const struct at_random *k, __m512i codes, __m512i signs)
{
    codes = _mm512_ternarylogic_epi32(codes, _mm512_set1_epi32((int)k->turned), _mm512_set1_epi32((int)k->codes), 0x28);
    return _mm512_ternarylogic_epi32(codes, signs, _mm512_set1_epi32((int)k->signs), 0xf8);
}

/* The random bits of the k-th of four. */
static inline __m512i random_of_four(__m512i e, int k, int apart)
{
    if (apart == 8)
        return k < 2 ? _mm512_and_si512(e, _mm512_set1_epi32(0xffff)) : _mm512_srli_epi32(e, 16);
    e = k == 0 ? _mm512_slli_epi32(e, 8) : k == 1 ? _mm512_srli_epi32(e, 8) : k == 2 ? e : _mm512_srli_epi32(e, 16);
    return _mm512_and_si512(e, _mm512_set1_epi32(0xff00));
}

#define TWO_OF_NUMBERS(f, bits)                                                                                       \
    static inline void f##_two_of_numbers(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c)       \
    {                                                                                                                 \
        static const struct at_random constants = CONSTANTS(f, INF_##f, bits, 16, 0x00010001u, 16);                   \
        const struct at_random *k = &constants;                                                                       \
        const __m512i random = _mm512_set1_epi32((1 << (bits)) - 1);                                                  \
                                                                                                                      \
        __asm__("" : "+r"(k));                                                                                        \
        for (int l = 0; l < PTXI_LANES; l += 16) {                                                                    \
            __m512i va = _mm512_load_si512(a + l), vb = _mm512_load_si512(b + l), vc = _mm512_load_si512(c + l);      \
            __m512i x = sum_at_random(k, ptxi_num_##f, bits, va, _mm512_and_si512(_mm512_srli_epi32(vc, 16), random)); \
            __m512i y = sum_at_random(k, ptxi_num_##f, bits, vb, _mm512_and_si512(vc, random));                       \
                                                                                                                      \
            x = picked(k->firsts, _mm512_slli_epi32(x, 16 - (bits)), _mm512_srli_epi32(y, bits));                     \
            _mm512_store_si512(r + l, with_signs(k, x, picked(k->first_sign, va, _mm512_srli_epi32(vb, 16))));        \
        }                                                                                                             \
    }
#define FOUR_OF_NUMBERS(f, bits, apart, fields)                                                                       \
    static inline void f##_four_of_numbers(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c, const uint32_t *d, \
                                           const uint32_t *e)                                                         \
    {                                                                                                                 \
        static const struct at_random constants = CONSTANTS(f, TOP_##f, 16, apart, fields, 2 * (apart));              \
        const struct at_random *k = &constants;                                                                       \
                                                                                                                      \
        __asm__("" : "+r"(k));                                                                                        \
        for (int l = 0; l < PTXI_LANES; l += 16) {                                                                    \
            const uint32_t *const from[4] = { d + l, c + l, b + l, a + l };                                           \
            __m512i v[4], sum[4], random = _mm512_load_si512(e + l), signs;                                           \
                                                                                                                      \
            for (int n = 0; n < 4; n++) {                                                                             \
                v[n] = _mm512_load_si512(from[n]);                                                                    \
                sum[n] = sum_at_random(k, ptxi_num_##f, 16, v[n], random_of_four(random, n, apart));                  \
            }                                                                                                         \
            for (int n = 0; n < 4; n += 2) {                                                                          \
                sum[n] = picked(k->first, _mm512_slli_epi32(sum[n + 1], apart), sum[n]);                              \
                v[n] = picked(k->first_sign, v[n + 1], _mm512_srli_epi32(v[n], apart));                               \
            }                                                                                                         \
            sum[2] = (apart) == 8 ? sum[2] : _mm512_srli_epi32(sum[2], 16 - 2 * (apart));                             \
            sum[0] = picked(k->firsts, sum[2], _mm512_srli_epi32(sum[0], 16));                                        \
            signs = picked(k->first_signs, v[2], _mm512_srli_epi32(v[0], 2 * (apart)));                               \
            _mm512_store_si512(r + l, with_signs(k, sum[0], _mm512_srli_epi32(signs, 31 - 3 * (apart) - SIGN_##f)));   \
        }                                                                                                             \
    }
#else
#define TWO_OF_NUMBERS(f, bits)                                                                                       \
    static inline void f##_two_of_numbers(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c)       \
    {                                                                                                                 \
        const struct ptxi_num_random_range range = ptxi_num_random_range(ptxi_num_##f, false);                        \
                                                                                                                      \
        FOR_LANES r[l] = TWO(NUMBER, f, bits);                                                                        \
    }
#define FOUR_OF_NUMBERS(f, bits, apart, fields)                                                                       \
    static inline void f##_four_of_numbers(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c, const uint32_t *d, \
                                           const uint32_t *e)                                                         \
    {                                                                                                                 \
        const struct ptxi_num_random_range range = ptxi_num_random_range(ptxi_num_##f, true);                         \
                                                                                                                      \
        FOR_LANES r[l] = FOUR(NUMBER, f, bits, apart);                                                                \
    }
#endif

#if defined(__AVX2__) && !defined(__AVX512BW__)
/* Four in fewer steps, where none is a NaN, infinite or less than the least normal number, but 0. Random bits are added where they have their
 * place below a number's own; of the sums the upper halves have all that counts, two in an element of 32 bits. */
struct halves_at_random {
    uint16_t magnitude[16], one[16], below_least[16], below_infinity[16], bias[16], top[16], sign[2][16];
};
#define HALVES_AT_RANDOM(f, top_code, apart)                                                                          \
    { { TIMES_16(0x7fff) }, { TIMES_16(1) }, { TIMES_16(((128 - BIAS_##f) << 7) - 1) }, { TIMES_16(0x7f7f) },         \
      { TIMES_16((127 - BIAS_##f) << FRACTION_##f) }, { TIMES_16(top_code) },                                         \
      { { TIMES_16(1 << SIGN_##f) }, { TIMES_16(1 << (SIGN_##f + (apart))) } } }
#define OF(name) (*(const __m256i *)k->name)

/* The bits for the n-th of four, as high as a number's first one that falls off. */
static inline __m256i random_below(__m256i e, int n, int apart, int fraction)
{
    int bits = apart == 8 ? 16 : 8, at = apart == 8 ? n / 2 * 16 : n % 2 * 16 + n / 2 * 8;

    if (at > 0)
        e = _mm256_and_si256(e, _mm256_set1_epi32((int)(~0u << at)));
    return _mm256_srli_epi32(_mm256_slli_epi32(e, 32 - bits - at), 9 + fraction);
}

static inline bool all_plain(const struct halves_at_random *k, const __m256i *const *from)
{
    __m256i least = OF(below_least), most = OF(below_infinity), beyond;

    for (int l = 0; l < PTXI_LANES / 8; l++)
        for (int n = 0; n < 2; n++) {
            __m256i m = _mm256_and_si256(ptxi_upper_halves(from[n + 2][l], from[n][l]), OF(magnitude));

            least = _mm256_min_epu16(least, _mm256_sub_epi16(m, OF(one)));
            most = _mm256_max_epu16(most, m);
        }
    beyond = _mm256_or_si256(_mm256_xor_si256(least, OF(below_least)), _mm256_xor_si256(most, OF(below_infinity)));
    return _mm256_testz_si256(beyond, beyond);
}

static inline __attribute__((always_inline)) bool four_plain(uint32_t *r, const struct halves_at_random *k, struct ptxi_num_small f, int apart,
                                                             const __m256i *const *from, const __m256i *e)
{
    const int sign = f.fraction + f.exponent;

    if (__builtin_expect(!all_plain(k, from), 0))
        return false;
    for (int l = 0; l < PTXI_LANES / 8; l++) {
        __m256i codes = _mm256_setzero_si256();

        for (int n = 0; n < 2; n++) { /* a and c above, or b and d */
            __m256i high = _mm256_add_epi32(from[n + 2][l], random_below(e[l], n + 2, apart, f.fraction));
            __m256i sum = ptxi_upper_halves(high, _mm256_add_epi32(from[n][l], random_below(e[l], n, apart, f.fraction)));
            __m256i code = _mm256_srli_epi16(_mm256_and_si256(sum, OF(magnitude)), 7 - f.fraction);

            code = _mm256_min_epi16(_mm256_subs_epu16(code, OF(bias)), OF(top));
            sum = _mm256_and_si256(_mm256_srli_epi16(sum, 15 - sign - n * apart), OF(sign[n]));
            codes = _mm256_or_si256(_mm256_or_si256(codes, _mm256_slli_epi16(code, n * apart)), sum);
        }
        if (apart == 4)
            codes = _mm256_or_si256(codes, _mm256_srli_epi32(codes, 8));
        _mm256_store_si256((__m256i *)r + l, codes);
    }
    return true;
}
#undef OF

#define FOUR_OF(f, bits, apart, fields)                                                                               \
    static inline void f##_four(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c, const uint32_t *d, const uint32_t *e) \
    {                                                                                                                 \
        static const _Alignas(32) struct halves_at_random constants = HALVES_AT_RANDOM(f, TOP_##f, apart);            \
        const struct halves_at_random *k = &constants;                                                                \
        const __m256i *const from[4] = { (const __m256i *)d, (const __m256i *)c, (const __m256i *)b, (const __m256i *)a }; \
                                                                                                                      \
        __asm__("" : "+r"(k));                                                                                        \
        if (!four_plain(r, k, ptxi_num_##f, apart, from, (const __m256i *)e))                                         \
            f##_four_of_any(r, a, b, c, d, e);                                                                        \
    }
#else
#define FOUR_OF(f, bits, apart, fields)                                                                               \
    FOUR_OF_NUMBERS(f, bits, apart, fields)                                                                           \
    static inline void f##_four(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c, const uint32_t *d, const uint32_t *e) \
    {                                                                                                                 \
        if (__builtin_expect(ptxi_either_nan_f32((const float *)a, (const float *)b, V_FLOATS)                        \
                             || ptxi_either_nan_f32((const float *)c, (const float *)d, V_FLOATS), 0))                \
            f##_four_of_any(r, a, b, c, d, e);                                                                        \
        else                                                                                                          \
            f##_four_of_numbers(r, a, b, c, d, e);                                                                    \
    }
#endif

/* --- two --- */
TWO_OF_NUMBERS(f16, 13)

/* A carry out of the random bits is one into the upper half, up to infinity. */
static inline void bf16_two_of_numbers(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c)
{
    FOR_LANES r[l] = ((a[l] + (c[l] >> 16)) & 0xffff0000) | (b[l] + (c[l] & 0xffff)) >> 16;
}

#define PAIR(half, bits)                                                                                              \
    static __attribute__((noinline)) void half##_two_of_any(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c) \
    {                                                                                                                 \
        const struct ptxi_num_random_range range = ptxi_num_random_range(ptxi_num_##half, false);                     \
                                                                                                                      \
        FOR_LANES r[l] = TWO(ANY, half, bits);                                                                        \
    }                                                                                                                 \
    OP( cvt_rs_##half##x2_f32 )                                                                                       \
    {                                                                                                                 \
        RESULT_LANES(uint32_t, r);                                                                                    \
                                                                                                                      \
        if (__builtin_expect(ptxi_either_nan_f32(A, B, V_FLOATS), 0))                                                 \
            half##_two_of_any(r, A, B, C);                                                                            \
        else                                                                                                          \
            half##_two_of_numbers(r, A, B, C);                                                                        \
        limit_##half((uint16_t *)r, i->mods);                                                                         \
        limit_##half((uint16_t *)r + PTXI_LANES, i->mods);                                                            \
        NEXT_WITH_RESULT(r);                                                                                          \
    }
PAIR(f16, 13)
PAIR(bf16, 16)

/* --- four --- */

/* .relu: the elements that have a sign, above `sign` bits, become 0. No NaN has one. */
static inline void drop_negative(uint32_t *r, uint32_t signs, int sign)
{
    FOR_LANES {
        uint32_t s = r[l] & signs;

        r[l] &= ~(s | (s - (s >> sign)));
    }
}

#define FORMAT(f, type, bits, apart, fields)                                                                          \
    static __attribute__((noinline)) void f##_four_of_any(uint32_t *r, const uint32_t *a, const uint32_t *b, const uint32_t *c, \
                                                          const uint32_t *d, const uint32_t *e)                       \
    {                                                                                                                 \
        const struct ptxi_num_random_range range = ptxi_num_random_range(ptxi_num_##f, true);                         \
                                                                                                                      \
        FOR_LANES r[l] = FOUR(ANY, f, bits, apart);                                                                   \
    }                                                                                                                 \
    FOUR_OF(f, bits, apart, fields)                                                                                   \
    OP( cvt_rs_##f##x4_f32 )                                                                                          \
    {                                                                                                                 \
        LANE_ARRAY(uint32_t, words);                                                                                  \
        RESULT_LANES(type, r);                                                                                        \
        uint32_t *q = sizeof *r == sizeof *q ? (uint32_t *)r : words;                                                 \
                                                                                                                      \
        f##_four(q, A, B, C, D, E);                                                                                   \
        if (i->mods & PTXI_MOD_RELU)                                                                                  \
            drop_negative(q, (fields) << SIGN_##f, SIGN_##f);                                                         \
        if (sizeof *r != sizeof *q)                                                                                   \
            FOR_LANES r[l] = (type)words[l];                                                                          \
        NEXT_WITH_RESULT(r);                                                                                          \
    }
FORMAT(e4m3, uint32_t, 16, 8, 0x01010101u)
FORMAT(e5m2, uint32_t, 16, 8, 0x01010101u)
FORMAT(e3m2, uint32_t, 16, 8, 0x01010101u)
FORMAT(e2m3, uint32_t, 16, 8, 0x01010101u)
FORMAT(e2m1, uint16_t, 8, 4, 0x1111u)
