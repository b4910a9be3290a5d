/* The dot products of dot.h for all pairs of 16 rows of A and 8 columns of B at once, in vector code. Products of elements are exact
 * floats. Scaled so that the last bit kept is 1, they are cut off by conversion to integers, whose sums are exact. Elements whose
 * exponents leave the range in which that holds, and infinities and NaNs, are told to the caller, who has ptxi_dot(). */
#ifndef PTXI_NUM_DOT_TILE_H
#define PTXI_NUM_DOT_TILE_H

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "num/dot.h"
#include "num/half.h"

enum {
    PTXI_TILE_M = 16, PTXI_TILE_N = 8, PTXI_TILE_K = 64, PTXI_TILE_GROUP = 8 /* products whose sum an integer can hold */,
    PTXI_TILE_ZERO = -1000, PTXI_TILE_SPECIAL = 2000 /* exponents of zeros, and of infinities and NaNs */
};

/* Exponents are those of struct number in dot.c: of subnormal numbers that of the smallest normal one. */
struct ptxi_tile {
    _Alignas(64) float a[PTXI_TILE_K][PTXI_TILE_M];
    _Alignas(64) int16_t ea[PTXI_TILE_K][PTXI_TILE_M];
    _Alignas(64) float b[PTXI_TILE_N][PTXI_TILE_K];
    _Alignas(64) int16_t eb[PTXI_TILE_N][PTXI_TILE_K];
};

#if defined(__clang__)
#define TILE_LOOP(l, n) _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < (n); l++)
#else
#define TILE_LOOP(l, n) _Pragma("GCC ivdep") _Pragma("GCC unroll 1") for (int l = 0; l < (n); l++)
#endif

/* --- elements --- */

/* Of n codes of 16 bits at most. */
static inline __attribute__((always_inline)) void ptxi_tile_exponents(struct ptxi_num_small f, const uint16_t *code, int16_t *e, int n)
{
    const uint16_t sign = (uint16_t)ptxi_num_small_sign(f), top = (uint16_t)f.top;

    TILE_LOOP(l, n) {
        int16_t m = (int16_t)(code[l] & (sign - 1)), x = (int16_t)(m >> f.fraction);

        x = (int16_t)((x > 1 ? x : 1) - f.bias);
        x = m == 0 ? PTXI_TILE_ZERO : x;
        e[l] = m > (int16_t)top ? PTXI_TILE_SPECIAL : x;
    }
}

/* Of n words of tf32. */
static inline void ptxi_tile_tf32(const uint32_t *word, float *value, int16_t *e, int n)
{
    TILE_LOOP(l, n) {
        int32_t m = (int32_t)(word[l] & 0x7fffe000), x = m >> 23;

        value[l] = ptxi_num_f32(word[l] & 0xffffe000);
        x = (x > 1 ? x : 1) - 127;
        x = m == 0 ? PTXI_TILE_ZERO : x;
        e[l] = (int16_t)(m >= 0x7f800000 ? PTXI_TILE_SPECIAL : x);
    }
}

/* --- sums --- */

#if defined(__AVX512F__)
#define TILE_BYTES 64
#elif defined(__AVX2__)
#define TILE_BYTES 32
#else
#define TILE_BYTES 16
#endif
typedef float ptxi_tile_floats __attribute__((vector_size(TILE_BYTES)));
typedef int32_t ptxi_tile_ints __attribute__((vector_size(TILE_BYTES)));
typedef uint32_t ptxi_tile_sums __attribute__((vector_size(TILE_BYTES))); /* which may wrap where they are not wanted */
enum { PTXI_TILE_LANES = TILE_BYTES / 4, PTXI_TILE_OUT = PTXI_TILE_M * PTXI_TILE_N };
#undef TILE_BYTES

#define TILE_STEPS(i, k, count) _Pragma("GCC unroll 8") for (unsigned i = k; i < (k) + (count); i++)

/* The largest exponent of a row's and a column's products from k on, of 16 rows. */
static inline void ptxi_tile_largest(const struct ptxi_tile *t, unsigned n, unsigned k, unsigned count, int16_t *largest)
{
#if defined(__AVX2__)
    __m256i m = _mm256_set1_epi16(PTXI_TILE_ZERO);

    TILE_STEPS(i, k, count)
        m = _mm256_max_epi16(m, _mm256_add_epi16(*(const __m256i *)t->ea[i], _mm256_set1_epi16(t->eb[n][i])));
    *(__m256i *)largest = m;
#elif defined(__SSE2__)
    __m128i m = _mm_set1_epi16(PTXI_TILE_ZERO), o = m;

    for (unsigned i = k; i < k + count; i++) {
        __m128i b = _mm_set1_epi16(t->eb[n][i]);

        m = _mm_max_epi16(m, _mm_add_epi16(((const __m128i *)t->ea[i])[0], b));
        o = _mm_max_epi16(o, _mm_add_epi16(((const __m128i *)t->ea[i])[1], b));
    }
    ((__m128i *)largest)[0] = m;
    ((__m128i *)largest)[1] = o;
#else
    TILE_LOOP(l, PTXI_TILE_M) largest[l] = PTXI_TILE_ZERO;
    for (unsigned i = k; i < k + count; i++)
        TILE_LOOP(l, PTXI_TILE_M) {
            int16_t e = (int16_t)(t->ea[i][l] + t->eb[n][i]);

            largest[l] = largest[l] > e ? largest[l] : e;
        }
#endif
}

/* Sums of the products of a group, each cut off at 1 / scale. */
static inline __attribute__((always_inline)) void ptxi_tile_sum(const struct ptxi_tile *t, unsigned n, unsigned k, const unsigned count, const float *scale,
                                                               int32_t *sum)
{
    const float *b = t->b[n] + k;

    for (unsigned p = 0; p < PTXI_TILE_M; p += PTXI_TILE_LANES) {
        const ptxi_tile_floats *a = (const ptxi_tile_floats *)(t->a[k] + p), by = *(const ptxi_tile_floats *)(scale + p);
        ptxi_tile_sums s = { 0 };

        TILE_STEPS(i, 0, count)
            s += (ptxi_tile_sums)__builtin_convertvector(a[i * (PTXI_TILE_M / PTXI_TILE_LANES)] * b[i] * by, ptxi_tile_ints);
        *(ptxi_tile_sums *)(sum + p) = s;
    }
}

static __attribute__((noinline, unused)) void ptxi_tile_sum_few(const struct ptxi_tile *t, unsigned n, unsigned k, unsigned count, const float *scale, int32_t *sum)
{
    ptxi_tile_sum(t, n, k, count, scale, sum);
}

/* What a chunk needs of the numbers it is added to. */
struct ptxi_tile_addends {
    _Alignas(64) int32_t aligned[PTXI_TILE_OUT]; /* in units of 1 / scale */
    _Alignas(64) float scale[PTXI_TILE_OUT];
    _Alignas(64) int32_t alone[PTXI_TILE_OUT];   /* all ones: all products are zero */
};

/* An f16 has its own subnormal numbers, its significand being that of an f32 all the same. */
static inline __attribute__((always_inline)) uint32_t ptxi_tile_addends(const struct ptxi_dot_model *m, bool f16, const uint32_t *c, const int16_t *largest,
                                                                        struct ptxi_tile_addends *out, uint32_t *bad)
{
    const int32_t lowest = -100, zero = m->zero, kept = m->kept;
    uint32_t any = 0;

    TILE_LOOP(l, PTXI_TILE_OUT) {
        int32_t field = (int32_t)(f16 ? c[l] >> 10 & 31 : c[l] >> 23 & 255), fraction = (int32_t)(f16 ? (c[l] & 0x3ff) << 13 : c[l] & 0x7fffff);
        int32_t e = (field > 1 ? field : 1) - (f16 ? 15 : 127), significand = field ? fraction | 0x800000 : fraction, products = largest[l], most, shift;
        int32_t negative = -(int32_t)(f16 ? c[l] >> 15 : c[l] >> 31), wrong, clamped;

        most = significand ? e : zero;
        most = most > zero ? most : zero;
        most = most > products ? most : products;
        clamped = most > lowest ? most : lowest;
        shift = most - e + 25 - kept;
        shift = shift < 31 ? shift : 31;
        shift = shift > 0 ? shift : 0; /* of a zero */
        out->aligned[l] = (((significand << 2) >> shift) ^ negative) - negative;
        out->scale[l] = ptxi_num_f32((uint32_t)(127 + kept - clamped) << 23);
        out->alone[l] = -(int32_t)(products == PTXI_TILE_ZERO);
        wrong = (most != clamped && products != PTXI_TILE_ZERO) || products > 125 || field == (f16 ? 31 : 255);
        bad[l] |= (uint32_t)-wrong;
        any |= (uint32_t)wrong;
    }
    return any;
}

/* Rounded as the model says; where there were only zeros to add the addend stays what it is, but for the sign of a zero. */
static inline __attribute__((always_inline)) void ptxi_tile_round(enum ptxi_dot_rounding rounding, const double *sum, const struct ptxi_tile_addends *to,
                                                                  uint32_t *c)
{
    const bool f16 = rounding == PTXI_DOT_RN_F16;
    const uint64_t cut = (UINT64_C(1) << (rounding == PTXI_DOT_RZ_E8M13 ? 39 : 29)) - 1, odd = f16 ? UINT64_C(1) << 29 : 0;
    _Alignas(64) float r[PTXI_TILE_OUT];

    TILE_LOOP(l, PTXI_TILE_OUT) {
        uint64_t bits = ptxi_num_bits_f64(sum[l]);

        if (f16)
            bits |= ((bits & cut) + cut) & odd;
        r[l] = (float)ptxi_num_f64(bits & ~cut);
    }
    TILE_LOOP(l, PTXI_TILE_OUT) {
        uint32_t inverse = (254u << 23) - ptxi_num_bits_f32(to->scale[l]), x = ptxi_num_bits_f32(r[l] * ptxi_num_f32(inverse));
        uint32_t magnitude = f16 ? 0x7fff : 0x7fffffff, own = c[l] & (rounding == PTXI_DOT_RZ_E8M13 ? ~UINT32_C(0x3ff) : UINT32_MAX);

        own &= -(uint32_t)((own & magnitude) != 0);
        if (f16) {
            x = ptxi_num_f16_from_f32(x, PTXI_NUM_RN);
            x &= -(uint32_t)((x & magnitude) != 0);
        }
        c[l] = (own & (uint32_t)to->alone[l]) | (x & ~(uint32_t)to->alone[l]);
    }
}

/* Products k to k + count - 1, as one chunk. c[n * 16 + m] becomes the sum; bad[...] all ones where it did not. */
static inline __attribute__((always_inline)) uint32_t ptxi_tile_chunk(const struct ptxi_dot_model *m, enum ptxi_dot_rounding rounding,
                                                                      const struct ptxi_tile *t, unsigned k, unsigned count, uint32_t *c, uint32_t *bad)
{
    _Alignas(64) int16_t largest[PTXI_TILE_OUT];
    _Alignas(64) int32_t s[PTXI_TILE_OUT];
    _Alignas(64) double sum[PTXI_TILE_OUT];
    struct ptxi_tile_addends addends;
    uint32_t any;

    for (unsigned n = 0; n < PTXI_TILE_N; n++)
        ptxi_tile_largest(t, n, k, count, largest + n * PTXI_TILE_M);
    any = ptxi_tile_addends(m, rounding == PTXI_DOT_RN_F16, c, largest, &addends, bad);
    TILE_LOOP(l, PTXI_TILE_OUT) sum[l] = addends.aligned[l];
    for (unsigned i = 0; i < count; i += PTXI_TILE_GROUP) {
        for (unsigned n = 0; n < PTXI_TILE_N; n++)
            if (count - i >= PTXI_TILE_GROUP)
                ptxi_tile_sum(t, n, k + i, PTXI_TILE_GROUP, addends.scale + n * PTXI_TILE_M, s + n * PTXI_TILE_M);
            else
                ptxi_tile_sum_few(t, n, k + i, count - i, addends.scale + n * PTXI_TILE_M, s + n * PTXI_TILE_M);
        TILE_LOOP(l, PTXI_TILE_OUT) sum[l] += s[l];
    }
    ptxi_tile_round(rounding, sum, &addends, c);
    return any;
}

/* depth products in chunks of `length`. Returns 0 if all sums are right, else bad tells which are not. */
static inline uint32_t ptxi_tile_dot(const struct ptxi_dot_model *m, const struct ptxi_tile *t, unsigned first, unsigned depth, unsigned length, uint32_t *c,
                                     uint32_t *bad)
{
    uint32_t any = 0;

    for (unsigned k = first; k < first + depth; k += length) {
        unsigned count = first + depth - k < length ? first + depth - k : length;

        switch (m->rounding) {
        case PTXI_DOT_RZ_F32: any |= ptxi_tile_chunk(m, PTXI_DOT_RZ_F32, t, k, count, c, bad); break;
        case PTXI_DOT_RZ_E8M13: any |= ptxi_tile_chunk(m, PTXI_DOT_RZ_E8M13, t, k, count, c, bad); break;
        default: any |= ptxi_tile_chunk(m, PTXI_DOT_RN_F16, t, k, count, c, bad); break;
        }
    }
    return any;
}

#undef TILE_LOOP
#undef TILE_STEPS
#endif
