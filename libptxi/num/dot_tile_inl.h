/* The dot products of dot.h for 16 rows of A and 8 columns of B at once, in vector code.
 *
 * Products of elements are exact floats. They are scaled so that the last bit that is kept is 1, and truncated by
 * conversion to integers. Sums of integers are exact. If there are infinities or NaNs, or if exponents leave the range
 * in which this works, the same is done with doubles. They have enough range, and their infinities and NaNs follow the
 * rules of the sums. */
#ifndef PTXI_NUM_DOT_TILE_H
#define PTXI_NUM_DOT_TILE_H

#if defined(__SSE2__)
#include <immintrin.h>
#endif
#include <assert.h>
#include <string.h>

#include "num/dot.h"
#include "num/half.h"

enum {
    PTXI_TILE_M = 16, PTXI_TILE_N = 8, PTXI_TILE_K = 64, PTXI_TILE_OUT = PTXI_TILE_M * PTXI_TILE_N,
    PTXI_TILE_GROUP = 16,  /* number of products with a sum that fits into an integer if 25 bits are kept */
    PTXI_TILE_SPREAD = 62, /* largest difference of two exponents in bytes */
    PTXI_TILE_ZERO = 125   /* exponent byte of a zero. A sum of two bytes is at least this if and only if one is. */
};

/* The exponents of A or of B. A subnormal number has the exponent of the smallest normal number, as in dot.c. */
struct ptxi_tile_range {
    int least; /* exponent of the smallest normal number */
    bool fit;  /* all elements are finite, and bytes can hold the distances of their exponents from `base` */
    int base;
};

struct ptxi_tile {
    _Alignas(64) float a[PTXI_TILE_K][PTXI_TILE_M], b[PTXI_TILE_N][PTXI_TILE_K];
    _Alignas(64) uint8_t below_a[PTXI_TILE_K][PTXI_TILE_M], below_b[PTXI_TILE_N][PTXI_TILE_K];
    struct ptxi_tile_range range_a, range_b;
    bool sparse;
    uint16_t stored[PTXI_TILE_K]; /* sparse: mask of the rows of A that have an element there */
};

#if defined(__clang__)
#define TILE_LOOP(l, n) _Pragma("clang loop vectorize(assume_safety)") for (unsigned l = 0; l < (n); l++)
#else
#define TILE_LOOP(l, n) _Pragma("GCC ivdep") _Pragma("GCC unroll 1") for (unsigned l = 0; l < (n); l++)
#endif

/* --- elements --- */

typedef uint16_t ptxi_tile_codes __attribute__((vector_size(32)));
typedef int16_t ptxi_tile_shorts __attribute__((vector_size(32)));
typedef uint8_t ptxi_tile_bytes __attribute__((vector_size(16)));

/* x[l] = the larger of x[l] and y[l]. */
#if defined(__AVX2__)
#define TILE_MAX(name, type, max)                               \
    static inline void name(type *x, const type *y)             \
    {                                                           \
        *x = (type)max((__m256i)*x, (__m256i)*y);               \
    }
#else
#define TILE_MAX(name, type, max)                               \
    static inline void name(type *x, const type *y)             \
    {                                                           \
        type less = (type)(*x < *y);                            \
                                                                \
        *x = (*x & ~less) | (*y & less);                        \
    }
#endif
TILE_MAX(ptxi_tile_max_codes, ptxi_tile_codes, _mm256_max_epu16)
TILE_MAX(ptxi_tile_max_shorts, ptxi_tile_shorts, _mm256_max_epi16)
#undef TILE_MAX

static inline uint16_t ptxi_tile_most(const ptxi_tile_codes *x)
{
#if defined(__AVX2__)
    __m128i m = _mm_max_epu16(_mm256_castsi256_si128((__m256i)*x), _mm256_extracti128_si256((__m256i)*x, 1));

    return (uint16_t)~_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_xor_si128(m, _mm_set1_epi16(-1))));
#else
    uint16_t most = (*x)[0];

    for (int l = 1; l < 16; l++)
        most = most > (*x)[l] ? most : (*x)[l];
    return most;
#endif
}

/* Elements that are at most 255. */
static inline void ptxi_tile_put_bytes(uint8_t *to, const ptxi_tile_codes *x)
{
#if defined(__AVX512VL__) && defined(__AVX512BW__)
    _mm_store_si128((__m128i *)to, _mm256_cvtepi16_epi8((__m256i)*x));
#elif defined(__AVX2__)
    _mm_store_si128((__m128i *)to,
                    _mm_packus_epi16(_mm256_castsi256_si128((__m256i)*x), _mm256_extracti128_si256((__m256i)*x, 1)));
#else
    for (int l = 0; l < 16; l++)
        to[l] = (uint8_t)(*x)[l];
#endif
}

#define TILE_ROWS(k, rows, stride, n)                                   \
    for (unsigned from_ = 0; from_ < (rows) * (stride); from_ += stride) \
        for (unsigned k = from_; k < from_ + (n); k += 16)

/* The exponents of `rows` rows of codes as bytes. Codes have at most 16 bits. Rows are `stride` apart and have n
 * codes, a multiple of 16. */
static inline __attribute__((always_inline)) struct ptxi_tile_range
ptxi_tile_exponents(struct ptxi_num_minifloat f, const uint16_t *code, uint8_t *below, unsigned rows, unsigned stride,
                    unsigned n)
{
    const bool narrow = f.top >> f.fraction <= PTXI_TILE_SPREAD;
    const uint16_t magnitude = (uint16_t)(ptxi_num_minifloat_sign(f) - 1);
    /* `most` is of the magnitudes, and `least` of their negatives, so that a zero is not the least. */
    ptxi_tile_codes most = { 0 }, least = { 0 };
    const ptxi_tile_codes one = most + 1;
    uint16_t top, base = (uint16_t)(f.top >> f.fraction), low, zero;
    bool fit = true;

    if (!narrow) {
        TILE_ROWS(k, rows, stride, n) {
            ptxi_tile_codes m = *(const ptxi_tile_codes *)(code + k) & magnitude, negative = -m;

            ptxi_tile_max_codes(&most, &m);
            ptxi_tile_max_codes(&least, &negative);
        }
        top = ptxi_tile_most(&most);
        low = (uint16_t)-ptxi_tile_most(&least);
        base = (uint16_t)(top >> f.fraction ? top >> f.fraction : 1);
        base = top == 0 ? (uint16_t)f.bias : base;
        fit = top <= f.top && base - (low >> f.fraction) <= PTXI_TILE_SPREAD;
    }
    zero = (uint16_t)(PTXI_TILE_ZERO + 1 - base);
    if (fit)
        TILE_ROWS(k, rows, stride, n) {
            ptxi_tile_codes m = *(const ptxi_tile_codes *)(code + k) & magnitude, x = m >> f.fraction;

            if (narrow)
                ptxi_tile_max_codes(&most, &m);
            ptxi_tile_max_codes(&x, &one);
            x = base - x + ((ptxi_tile_codes)(m == 0) & zero);
            ptxi_tile_put_bytes(below + k, &x);
        }
    return (struct ptxi_tile_range){ 1 - f.bias, fit && ptxi_tile_most(&most) <= f.top, base - f.bias };
}
#undef TILE_ROWS

/* The values of n words of tf32, a multiple of 16, and codes of bf16 that have the same exponents, zeros and NaNs. */
static inline void ptxi_tile_tf32(const uint32_t *word, float *value, uint16_t *code, unsigned n)
{
    for (unsigned i = 0; i < n; i += 16)
        TILE_LOOP(l, 16) {
            uint32_t x = word[i + l] & 0xffffe000;

            value[i + l] = ptxi_num_f32(x);
            code[i + l] = (uint16_t)(x >> 16 | ((x & 0xffff) != 0));
        }
}

/* --- the largest exponents --- */

#if defined(__AVX512F__)
#define TILE_BYTES 64
#elif defined(__AVX2__)
#define TILE_BYTES 32
#else
#define TILE_BYTES 16
#endif
typedef float ptxi_tile_floats __attribute__((vector_size(TILE_BYTES)));
typedef double ptxi_tile_doubles __attribute__((vector_size(TILE_BYTES)));
typedef int64_t ptxi_tile_longs __attribute__((vector_size(TILE_BYTES)));
typedef int32_t ptxi_tile_ints __attribute__((vector_size(TILE_BYTES)));
typedef uint32_t ptxi_tile_sums __attribute__((vector_size(TILE_BYTES))); /* unsigned, because unused sums may wrap */
enum { PTXI_TILE_LANES = TILE_BYTES / 4, PTXI_TILE_VECTORS = PTXI_TILE_M / PTXI_TILE_LANES };
#undef TILE_BYTES

#define TILE_STEPS(i, k, count) _Pragma("GCC unroll 4") for (unsigned i = k; i < (k) + (count); i++)

#if defined(__AVX512BW__)
#define TILE_WIDE(op) _mm512_##op
#define TILE_SPREAD(x) _mm512_broadcast_i32x4(x)
typedef __m512i ptxi_tile_wide;
#elif defined(__AVX2__)
#define TILE_WIDE(op) _mm256_##op
#define TILE_SPREAD(x) _mm256_broadcastsi128_si256(x)
typedef __m256i ptxi_tile_wide;
#endif

/* The distance of the largest exponent among `count` products of a row and a column, from k on, below the base. count
 * is a multiple of 4. */
static inline void ptxi_tile_nearest(const struct ptxi_tile *t, unsigned k, unsigned count, uint8_t *below)
{
#if defined(__AVX2__)
    /* A vector has several columns. The bytes of one k are selected from 16 bytes of each column. */
    enum { PARTS = PTXI_TILE_OUT / sizeof(ptxi_tile_wide) };
    ptxi_tile_wide m[PARTS], b[PARTS];

    for (unsigned p = 0; p < PARTS; p++)
        m[p] = TILE_WIDE(set1_epi8)(-1);
    for (unsigned i = k; i < k + count; i += 4) {
        if (i == k || i % 16 == 0)
            for (unsigned n = 0; n < PTXI_TILE_N; n++)
                memcpy((char *)b + 16 * n, t->below_b[n] + i / 16 * 16, 16);
        TILE_STEPS(j, i, 4)
            for (unsigned p = 0; p < PARTS; p++)
                m[p] = TILE_WIDE(min_epu8)(
                    m[p], TILE_WIDE(add_epi8)(TILE_SPREAD(_mm_load_si128((const __m128i *)t->below_a[j])),
                                              TILE_WIDE(shuffle_epi8)(b[p], TILE_WIDE(set1_epi8)((char)(j % 16)))));
    }
    memcpy(below, m, sizeof m);
#else
    memset(below, 0xff, PTXI_TILE_OUT);
    for (unsigned n = 0; n < PTXI_TILE_N; n++)
        for (unsigned i = k; i < k + count; i++)
            TILE_LOOP(l, PTXI_TILE_M) {
                uint8_t x = (uint8_t)(t->below_a[i][l] + t->below_b[n][i]), *m = &below[n * PTXI_TILE_M + l];

                *m = *m < x ? *m : x;
            }
#endif
}
#undef TILE_WIDE
#undef TILE_SPREAD

/* Exponents as the field of a float, at least 1. Products that are zero have 0. */
static inline void ptxi_tile_fields(uint8_t base, uint8_t *below)
{
    TILE_LOOP(l, PTXI_TILE_OUT) {
        uint8_t x = below[l], field = (uint8_t)(base > x ? base - x : 0);

        field = field > 1 ? field : 1;
        below[l] = x >= PTXI_TILE_ZERO ? 0 : field;
    }
}

/* --- sums --- */

/* The sums of `count` products from k on, each truncated to a multiple of 1 / scale. count is a multiple of 4. */
static inline __attribute__((always_inline)) void
ptxi_tile_sum(const struct ptxi_tile *t, unsigned k, unsigned count, const float *scale, int32_t *sum)
{
    assert(k + count <= PTXI_TILE_K && count % 4 == 0);
    for (unsigned n = 0; n < PTXI_TILE_N; n++) {
        const float *b = t->b[n] + k;
        const ptxi_tile_floats *a = (const ptxi_tile_floats *)t->a[k];
        const ptxi_tile_floats *by = (const ptxi_tile_floats *)(scale + n * PTXI_TILE_M);
        ptxi_tile_sums s[PTXI_TILE_VECTORS] = { { 0 } };

        for (unsigned i = 0; i < count; i += 4)
            TILE_STEPS(j, i, 4)
                TILE_STEPS(p, 0, PTXI_TILE_VECTORS)
                    s[p] += (ptxi_tile_sums)__builtin_convertvector(
                        a[j * PTXI_TILE_VECTORS + p] * b[j] * by[p], ptxi_tile_ints);
        memcpy(sum + n * PTXI_TILE_M, s, sizeof s);
    }
}

static __attribute__((noinline, unused)) void
ptxi_tile_add_up(const struct ptxi_tile *t, unsigned k, unsigned count, const float *scale, int32_t *sum)
{
    if (count == PTXI_TILE_GROUP)
        ptxi_tile_sum(t, k, PTXI_TILE_GROUP, scale, sum);
    else
        ptxi_tile_sum(t, k, count, scale, sum);
}

/* Converts f16, in 32 bits each, to f32, and back. Zeros become positive. */
static inline void ptxi_tile_widen_sums(const uint32_t *c, uint32_t *to)
{
#if defined(__F16C__) && defined(__AVX2__)
    for (int l = 0; l < PTXI_TILE_OUT; l += 8) {
        __m128i low = _mm_load_si128((const __m128i *)(c + l)), high = _mm_load_si128((const __m128i *)(c + l + 4));

        _mm256_store_ps((float *)(to + l), _mm256_cvtph_ps(_mm_packus_epi32(low, high)));
    }
#else
    TILE_LOOP(l, PTXI_TILE_OUT) to[l] = ptxi_num_bits_f32(ptxi_num_f32_from_f16_bits((uint16_t)c[l]));
#endif
}

static inline void ptxi_tile_narrow_sums(uint32_t *c)
{
#if defined(__F16C__) && defined(__AVX2__)
    for (int l = 0; l < PTXI_TILE_OUT; l += 8)
        _mm256_store_si256((__m256i *)(c + l),
                           _mm256_cvtepu16_epi32(_mm256_cvtps_ph(_mm256_load_ps((const float *)(c + l)),
                                                                                     _MM_FROUND_TO_NEAREST_INT)));
#else
    TILE_LOOP(l, PTXI_TILE_OUT) c[l] = ptxi_num_f16_from_f32(c[l], PTXI_NUM_RN);
#endif
    TILE_LOOP(l, PTXI_TILE_OUT) c[l] = c[l] & 0x7fff ? c[l] : 0;
}

/* The addends of a chunk as f32, and the scales that make the last bit that is kept of a sum 1. */
struct ptxi_tile_addends {
    _Alignas(64) uint32_t c[PTXI_TILE_OUT];
    _Alignas(64) float scale[PTXI_TILE_OUT];
};

enum { PTXI_TILE_LEAST = -100 }; /* the scale of a smaller exponent would not be a float */

/* Computes the scales. Returns false if floats cannot compute the sums. An f16 has its own subnormal numbers. */
static inline __attribute__((always_inline)) bool
ptxi_tile_align(const struct ptxi_dot_model *m, bool f16, const uint8_t *fields, struct ptxi_tile_addends *to)
{
    const bool zero = m->zero > PTXI_TILE_LEAST;
    const int32_t least = ((zero ? m->zero : PTXI_TILE_LEAST) + 127) << 23;
    const int32_t smallest = f16 ? 113 << 23 : 0;
    const uint32_t scales = (254u + m->kept) << 23, from = zero ? 0 : (uint32_t)least - 1;
    uint32_t low = UINT32_MAX;
    int32_t high = 0;

    TILE_LOOP(l, PTXI_TILE_OUT) {
        int32_t e = (int32_t)(to->c[l] & 0x7fffffff), p = fields[l] << 23;
        uint32_t below;

        if (f16)
            e = e > smallest || e == 0 ? e : smallest;
        e = e > p ? e : p;
        below = (uint32_t)e - 1; /* large for a zero, so that it does not count */
        low = low < below ? low : below;
        high = high > e ? high : e;
        e &= 0x7f800000;
        e = e > least ? e : least;
        to->scale[l] = ptxi_num_f32(scales - (uint32_t)e);
    }
    return high < 0x7f800000 && low >= from;
}

/* Sums as floats in the rounding of the model. Sums for f16 are rounded to odd. */
static inline __attribute__((always_inline)) ptxi_tile_floats
ptxi_tile_round(enum ptxi_dot_rounding rounding, ptxi_tile_ints x)
{
    ptxi_tile_ints bits, rest;

#if defined(__AVX512F__)
    bits = (ptxi_tile_ints)_mm512_cvt_roundepi32_ps((__m512i)x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    rest = x - __builtin_convertvector((ptxi_tile_floats)bits, ptxi_tile_ints);
#else
    ptxi_tile_ints sign = x >> 31, magnitude = (x ^ sign) - sign;

    bits = (ptxi_tile_ints)__builtin_convertvector(magnitude, ptxi_tile_floats);
    rest = magnitude - __builtin_convertvector((ptxi_tile_floats)bits, ptxi_tile_ints);
    bits = (bits + (rest >> 31)) | (sign & INT32_MIN);
#endif
    if (rounding == PTXI_DOT_RN_F16)
        bits |= (ptxi_tile_ints)(rest != 0) & 1;
    if (rounding == PTXI_DOT_RZ_E8M13)
        bits &= ~0x3ff;
    return (ptxi_tile_floats)bits;
}

/* True if an addend can be added to the sums without overflow. It has at most 26 bits. */
static inline bool ptxi_tile_have_room(const int32_t *s)
{
    const int32_t limit = INT32_MAX - (1 << 26);
    int32_t high = 0, low = 0;

    TILE_LOOP(l, PTXI_TILE_OUT) {
        high = high > s[l] ? high : s[l];
        low = low < s[l] ? low : s[l];
    }
    return high <= limit && low >= -limit;
}

static inline __attribute__((always_inline)) void
ptxi_tile_finish(enum ptxi_dot_rounding rounding, const int32_t *s, const struct ptxi_tile_addends *to, uint32_t *c)
{
    const ptxi_tile_ints *sum = (const ptxi_tile_ints *)s;
    const ptxi_tile_floats *addend = (const ptxi_tile_floats *)to->c, *scale = (const ptxi_tile_floats *)to->scale;

    for (unsigned p = 0; p < PTXI_TILE_OUT / PTXI_TILE_LANES; p++) {
        ptxi_tile_ints total = sum[p] + __builtin_convertvector(addend[p] * scale[p], ptxi_tile_ints);
        ptxi_tile_floats x = ptxi_tile_round(rounding, total);

        x *= (ptxi_tile_floats)((254 << 23) - (ptxi_tile_ints)scale[p]);
        memcpy(c + p * PTXI_TILE_LANES, &x, sizeof x);
    }
}

static inline __attribute__((always_inline)) bool
ptxi_tile_in_floats(const struct ptxi_dot_model *m, enum ptxi_dot_rounding rounding, const struct ptxi_tile *t,
                    unsigned k,
                    unsigned count, struct ptxi_tile_addends *to, uint32_t *c)
{
    _Alignas(64) uint8_t fields[PTXI_TILE_OUT];
    _Alignas(64) int32_t s[PTXI_TILE_OUT];
    int base = t->range_a.base + t->range_b.base + 127;

    /* This keeps products with the largest exponent below 2^128. */
    if (!t->range_a.fit || !t->range_b.fit || base < 1 || base > 253 || (m->chunk > PTXI_TILE_GROUP && m->kept >= 25))
        return false;
    ptxi_tile_nearest(t, k, count, fields);
    ptxi_tile_fields((uint8_t)base, fields);
    if (!ptxi_tile_align(m, rounding == PTXI_DOT_RN_F16, fields, to))
        return false;
    ptxi_tile_add_up(t, k, count, to->scale, s);
    if (!ptxi_tile_have_room(s))
        return false;
    ptxi_tile_finish(rounding, s, to, c);
    return true;
}

/* --- the same in doubles --- */

/* Rounds to an integer, toward zero. */
static inline ptxi_tile_doubles ptxi_tile_cut(ptxi_tile_doubles x)
{
#if defined(__AVX512F__)
    return _mm512_roundscale_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#elif defined(__AVX__)
    return _mm256_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#elif defined(__SSE4_1__)
    return _mm_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
    for (unsigned l = 0; l < sizeof x / sizeof x[0]; l++)
        x[l] = __builtin_trunc(x[l]);
    return x;
#endif
}

enum { PTXI_TILE_NOTHING = -1000 }; /* exponent of a zero, less than all sums of exponents */

/* Converts n floats to doubles and finds their exponents. Infinities and NaNs have the largest exponents. */
static inline __attribute__((always_inline)) void
ptxi_tile_widen_block(const float *x, int least, double *to, int16_t *e, unsigned n)
{
    TILE_LOOP(l, n) to[l] = x[l];
    TILE_LOOP(l, n) {
        int32_t magnitude = (int32_t)(ptxi_num_bits_f32(x[l]) & 0x7fffffff), own = (magnitude >> 23) - 127;

        own = own > least ? own : least;
        e[l] = (int16_t)(magnitude == 0 ? PTXI_TILE_NOTHING : own);
    }
}

static inline void ptxi_tile_widen_line(const float *x, int least, double *to, int16_t *e, unsigned n)
{
    unsigned i = 0;

    for (; i + 16 <= n; i += 16)
        ptxi_tile_widen_block(x + i, least, to + i, e + i, 16);
    ptxi_tile_widen_block(x + i, least, to + i, e + i, n - i);
}

/* The elements of a chunk as doubles. */
struct ptxi_tile_wide {
    _Alignas(64) double a[PTXI_TILE_K][PTXI_TILE_M], b[PTXI_TILE_N][PTXI_TILE_K];
    _Alignas(64) int16_t ea[PTXI_TILE_K][PTXI_TILE_M], eb[PTXI_TILE_N][PTXI_TILE_K];
    _Alignas(64) int64_t used[PTXI_TILE_K][PTXI_TILE_M]; /* sparse: all ones, or 0 for an element that does not count */
};

static inline void ptxi_tile_make_wide(const struct ptxi_tile *t, unsigned k, unsigned count, struct ptxi_tile_wide *to)
{
    assert(k + count <= PTXI_TILE_K && count % 4 == 0);
    ptxi_tile_widen_line(t->a[k], t->range_a.least, to->a[0], to->ea[0], count * PTXI_TILE_M);
    for (unsigned n = 0; n < PTXI_TILE_N; n++)
        ptxi_tile_widen_line(t->b[n] + k, t->range_b.least, to->b[n], to->eb[n], count);
    for (unsigned i = 0; i < count && t->sparse; i++)
        TILE_LOOP(l, PTXI_TILE_M) to->used[i][l] = -(int64_t)(t->stored[k + i] >> l & 1);
}

/* The addends of column n, and the scales. count is a multiple of 4. */
static inline void ptxi_tile_scales(const struct ptxi_dot_model *m, const struct ptxi_tile_wide *t, unsigned n,
                                    unsigned count,
                                    const uint32_t *c, double *addend, double *scale)
{
    _Alignas(64) int16_t e[PTXI_TILE_M];
    ptxi_tile_shorts most = (ptxi_tile_shorts){ 0 } + m->zero;
    const int16_t *ea = t->ea[0], *eb = t->eb[n];

    ptxi_tile_widen_block((const float *)c, m->rounding == PTXI_DOT_RN_F16 ? 1 - ptxi_num_f16.bias : -126, addend, e,
                          PTXI_TILE_M);
    ptxi_tile_max_shorts(&most, (const ptxi_tile_shorts *)e);
    for (unsigned i = 0; i < count; i += 4, ea += 4 * PTXI_TILE_M, eb += 4)
        TILE_STEPS(j, 0, 4) {
            ptxi_tile_shorts product = *(const ptxi_tile_shorts *)(ea + j * PTXI_TILE_M) + eb[j];

            ptxi_tile_max_shorts(&most, &product);
        }
    most = (int16_t)(1023 + m->kept) - most;
    TILE_LOOP(l, PTXI_TILE_M) scale[l] = ptxi_num_f64((uint64_t)most[l] << 52);
}

/* The sums of the products of column n, each truncated to a multiple of 1 / scale. */
static inline __attribute__((always_inline)) void
ptxi_tile_sum_doubles(bool sparse, const struct ptxi_tile_wide *t, unsigned n, unsigned count,
                      const ptxi_tile_doubles *scale, double *sum)
{
    enum { VECTORS = 2 * PTXI_TILE_VECTORS };
    const ptxi_tile_doubles *a = (const ptxi_tile_doubles *)t->a[0];
    const ptxi_tile_longs *used = (const ptxi_tile_longs *)t->used[0];
    ptxi_tile_doubles s[VECTORS] = { { 0 } };

    for (unsigned i = 0; i < count; i++)
        TILE_STEPS(p, 0, VECTORS) {
            ptxi_tile_doubles x = ptxi_tile_cut(a[i * VECTORS + p] * t->b[n][i] * scale[p]);

            s[p] += sparse ? (ptxi_tile_doubles)((ptxi_tile_longs)x & used[i * VECTORS + p]) : x;
        }
    memcpy(sum, s, sizeof s);
}

/* A sum as f32 in the rounding of the model. A sum for f16 is rounded to odd. */
static inline uint32_t ptxi_tile_round_double(enum ptxi_dot_rounding rounding, double x)
{
    const uint32_t kept = rounding == PTXI_DOT_RZ_E8M13 ? ~UINT32_C(0x3ff) : UINT32_MAX;
    const uint32_t odd = rounding == PTXI_DOT_RN_F16;
    float nearest = (float)x;
    double size = __builtin_fabs(x), error = __builtin_fabs((double)nearest) - size;
    uint32_t bits = ptxi_num_bits_f32(nearest) - ((error > 0) & (size < 0x1p128));

    bits = (bits | (odd & ((error > 0) | (error < 0)))) & kept;
    return x != x ? PTXI_NAN_F32 : ptxi_num_bits_f32(ptxi_num_f32(bits) + 0.0f); /* no negative zero */
}

static __attribute__((noinline, unused)) void
ptxi_tile_in_doubles(const struct ptxi_dot_model *m, const struct ptxi_tile *t, unsigned k, unsigned count,
                     const uint32_t *from, uint32_t *c)
{
    _Alignas(64) double addend[PTXI_TILE_M], sum[PTXI_TILE_M], scale[PTXI_TILE_M];
    struct ptxi_tile_wide wide;

    ptxi_tile_make_wide(t, k, count, &wide);
    for (unsigned n = 0; n < PTXI_TILE_N; n++, from += PTXI_TILE_M, c += PTXI_TILE_M) {
        ptxi_tile_scales(m, &wide, n, count, from, addend, scale);
        if (t->sparse)
            ptxi_tile_sum_doubles(true, &wide, n, count, (const ptxi_tile_doubles *)scale, sum);
        else
            ptxi_tile_sum_doubles(false, &wide, n, count, (const ptxi_tile_doubles *)scale, sum);
        TILE_LOOP(l, PTXI_TILE_M) {
            double x = sum[l] + __builtin_trunc(addend[l] * scale[l]);

            x *= ptxi_num_f64((UINT64_C(2046) << 52) - ptxi_num_bits_f64(scale[l]));
            c[l] = ptxi_tile_round_double((enum ptxi_dot_rounding)m->rounding, x);
        }
    }
}

/* --- chunks --- */

/* Adds products k to k + count - 1, as one chunk, to c[n * 16 + m]. */
static inline __attribute__((always_inline)) void
ptxi_tile_chunk(const struct ptxi_dot_model *m, enum ptxi_dot_rounding rounding, const struct ptxi_tile *t, unsigned k,
                unsigned count, uint32_t *c)
{
    struct ptxi_tile_addends to;

    if (rounding == PTXI_DOT_RN_F16)
        ptxi_tile_widen_sums(c, to.c);
    else
        memcpy(to.c, c, sizeof to.c);
    if (!ptxi_tile_in_floats(m, rounding, t, k, count, &to, c))
        ptxi_tile_in_doubles(m, t, k, count, to.c, c);
    if (rounding == PTXI_DOT_RN_F16)
        ptxi_tile_narrow_sums(c);
}

/* Adds `depth` products from `first` on, in chunks of `length`. */
static inline void ptxi_tile_dot(const struct ptxi_dot_model *m, const struct ptxi_tile *t, unsigned first,
                                 unsigned depth,
                                 unsigned length, uint32_t *c)
{
    assert(length && first + depth <= PTXI_TILE_K);
    for (unsigned k = first; k < first + depth; k += length) {
        unsigned count = first + depth - k < length ? first + depth - k : length;

        switch (m->rounding) {
        case PTXI_DOT_RZ_F32: ptxi_tile_chunk(m, PTXI_DOT_RZ_F32, t, k, count, c); break;
        case PTXI_DOT_RZ_E8M13: ptxi_tile_chunk(m, PTXI_DOT_RZ_E8M13, t, k, count, c); break;
        default: ptxi_tile_chunk(m, PTXI_DOT_RN_F16, t, k, count, c); break;
        }
    }
}

#undef TILE_LOOP
#undef TILE_STEPS
#endif
