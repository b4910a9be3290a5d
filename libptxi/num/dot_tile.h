/* The dot products of dot.h for all pairs of 16 rows of A and 8 columns of B at once, in vector code. Products of elements are exact
 * floats. Scaled so that the last bit kept is 1, they are cut off by conversion to integers, whose sums are exact. Elements whose
 * exponents leave the range in which that holds, and infinities and NaNs, are told to the caller, who has ptxi_dot(). */
#ifndef PTXI_NUM_DOT_TILE_H
#define PTXI_NUM_DOT_TILE_H

#if defined(__SSE2__)
#include <immintrin.h>
#endif
#include <string.h>

#include "num/dot.h"
#include "num/half.h"

enum {
    PTXI_TILE_M = 16, PTXI_TILE_N = 8, PTXI_TILE_K = 64, PTXI_TILE_OUT = PTXI_TILE_M * PTXI_TILE_N,
    PTXI_TILE_GROUP = 16, /* products whose sum an integer can hold, if 25 bits are kept */
    PTXI_TILE_ZERO = -1000, PTXI_TILE_SPECIAL = 2047, /* exponents of zeros, and of infinities and NaNs */
    PTXI_TILE_LOWEST = -200, /* which no other exponent is below */
    PTXI_TILE_SPREAD = 31    /* the most that exponents as bytes differ; zeros are far below */
};

/* Exponents as bytes, relative to the largest. */
struct ptxi_tile_bytes {
    bool fit; /* else there are none */
    int base;
};

/* Exponents are those of struct number in dot.c: of subnormal numbers that of the smallest normal one. */
struct ptxi_tile {
    _Alignas(64) float a[PTXI_TILE_K][PTXI_TILE_M];
    _Alignas(64) int16_t ea[PTXI_TILE_K][PTXI_TILE_M];
    _Alignas(64) float b[PTXI_TILE_N][PTXI_TILE_K];
    _Alignas(64) int16_t eb[PTXI_TILE_N][PTXI_TILE_K];
    _Alignas(64) int8_t ba[PTXI_TILE_K][PTXI_TILE_M], bb[PTXI_TILE_N][PTXI_TILE_K];
    struct ptxi_tile_bytes bytes_a, bytes_b;
};

#if defined(__clang__)
#define TILE_LOOP(l, n) _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < (n); l++)
#else
#define TILE_LOOP(l, n) _Pragma("GCC ivdep") _Pragma("GCC unroll 1") for (int l = 0; l < (n); l++)
#endif

/* --- elements --- */

typedef uint16_t ptxi_tile_codes __attribute__((vector_size(32)));
typedef int16_t ptxi_tile_shorts __attribute__((vector_size(32)));

/* Of n codes of 16 bits at most, n a multiple of 16. In vectors, as compilers would shift in words of 32 bits. */
static inline __attribute__((always_inline)) void ptxi_tile_exponents(struct ptxi_num_small f, const uint16_t *code, int16_t *e, int n)
{
    const uint16_t magnitude = (uint16_t)(ptxi_num_small_sign(f) - 1);
    const int16_t top = (int16_t)f.top, bias = f.bias, zero = (int16_t)(1 - f.bias - PTXI_TILE_ZERO);

    for (int l = 0; l < n; l += 16) {
        ptxi_tile_codes m;
        ptxi_tile_shorts x;

        memcpy(&m, code + l, sizeof m);
        m &= magnitude;
        x = (ptxi_tile_shorts)(m >> f.fraction);
        x -= (ptxi_tile_shorts)(x == 0) + bias;
        x -= (ptxi_tile_shorts)(m == 0) & zero;
        x |= ((ptxi_tile_shorts)m > top) & PTXI_TILE_SPECIAL;
        memcpy(e + l, &x, sizeof x);
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

#if defined(__AVX2__)
static inline int ptxi_tile_max(__m256i x)
{
    _Alignas(32) int16_t e[16];
    int most = PTXI_TILE_LOWEST;

    _mm256_store_si256((__m256i *)e, x);
    for (int l = 0; l < 16; l++)
        most = most > e[l] ? most : e[l];
    return most;
}

/* `rows` rows of exponents, `stride` apart and `n` long, a multiple of 16, as bytes. `narrow`: they are those of f16. */
static inline __attribute__((always_inline)) struct ptxi_tile_bytes ptxi_tile_to_bytes(bool narrow, const int16_t *e, int8_t *to, unsigned rows, unsigned stride,
                                                                                       unsigned n)
{
    __m256i most = _mm256_set1_epi16(PTXI_TILE_LOWEST), wrong = _mm256_setzero_si256(), base;
    struct ptxi_tile_bytes r = { true, 0 };

    for (unsigned from = 0; from < rows * stride; from += stride)
        for (unsigned k = from; k < from + n; k += 16)
            most = _mm256_max_epi16(most, *(const __m256i *)(e + k));
    if (!narrow)
        r.base = ptxi_tile_max(most);
    base = _mm256_set1_epi16((int16_t)r.base);
    for (unsigned from = 0; from < rows * stride; from += stride)
        for (unsigned k = from; k < from + n; k += 16) {
            __m256i own = *(const __m256i *)(e + k), x = _mm256_sub_epi16(own, base);

            if (!narrow)
                wrong = _mm256_or_si256(wrong, _mm256_andnot_si256(_mm256_cmpeq_epi16(own, _mm256_set1_epi16(PTXI_TILE_ZERO)),
                                                                   _mm256_cmpgt_epi16(_mm256_set1_epi16(-PTXI_TILE_SPREAD), x)));
            *(__m128i *)(to + k) = _mm_packs_epi16(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
        }
    wrong = _mm256_or_si256(wrong, _mm256_cmpeq_epi16(most, _mm256_set1_epi16(PTXI_TILE_SPECIAL)));
    r.fit = _mm256_testz_si256(wrong, wrong);
    return r;
}
#endif

/* When all elements of A, or of B, are there. */
static inline __attribute__((always_inline)) void ptxi_tile_seal_a(struct ptxi_tile *t, bool fit, unsigned depth)
{
#if defined(__AVX2__)
    t->bytes_a = ptxi_tile_to_bytes(fit, t->ea[0], t->ba[0], depth, PTXI_TILE_M, PTXI_TILE_M);
#else
    (void)t, (void)fit, (void)depth;
#endif
}

static inline __attribute__((always_inline)) void ptxi_tile_seal_b(struct ptxi_tile *t, bool fit, unsigned depth)
{
#if defined(__AVX2__)
    t->bytes_b = ptxi_tile_to_bytes(fit, t->eb[0], t->bb[0], PTXI_TILE_N, PTXI_TILE_K, (depth + 15) / 16 * 16);
#else
    (void)t, (void)fit, (void)depth;
#endif
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
typedef int32_t ptxi_tile_ints __attribute__((vector_size(TILE_BYTES)));
typedef uint32_t ptxi_tile_sums __attribute__((vector_size(TILE_BYTES))); /* which may wrap where they are not wanted */
enum { PTXI_TILE_LANES = TILE_BYTES / 4, PTXI_TILE_VECTORS = PTXI_TILE_M / PTXI_TILE_LANES };
#undef TILE_BYTES

#define TILE_STEPS(i, k, count) _Pragma("GCC unroll 4") for (unsigned i = k; i < (k) + (count); i++)

/* An exponent as the field of a float that is no zero and within what floats have, or 0 for products that are zero. */
static inline uint8_t ptxi_tile_field(int16_t e)
{
    int16_t field = (int16_t)(e + 127);

    field = field > 1 ? field : 1;
    field = field < 255 ? field : 255;
    return (uint8_t)(e == PTXI_TILE_ZERO ? 0 : field);
}

/* Of a row's and a column's products from k on, of 16 rows. */
static inline void ptxi_tile_largest(const struct ptxi_tile *t, unsigned n, unsigned k, unsigned count, uint8_t *largest)
{
    _Alignas(32) int16_t most[PTXI_TILE_M];

    TILE_LOOP(l, PTXI_TILE_M) most[l] = PTXI_TILE_ZERO;
    for (unsigned i = k; i < k + count; i++)
        TILE_LOOP(l, PTXI_TILE_M) {
            int16_t e = (int16_t)(t->ea[i][l] + t->eb[n][i]);

            most[l] = most[l] > e ? most[l] : e;
        }
    TILE_LOOP(l, PTXI_TILE_M) largest[l] = ptxi_tile_field(most[l]);
}

#if defined(__AVX512BW__)
#define TILE_WIDE(op) _mm512_##op
#define TILE_SPREAD(x) _mm512_broadcast_i32x4(x)
typedef __m512i ptxi_tile_wide;
#elif defined(__AVX2__)
#define TILE_WIDE(op) _mm256_##op
#define TILE_SPREAD(x) _mm256_broadcastsi128_si256(x)
typedef __m256i ptxi_tile_wide;
#endif

#if defined(__AVX2__)
/* The same of bytes for all columns, several in a vector; the exponents of one k are picked from 16 of each column. False if the fields
 * would not be bytes. */
static inline bool ptxi_tile_largest_bytes(const struct ptxi_tile *t, unsigned k, unsigned count, uint8_t *largest)
{
    enum { PARTS = PTXI_TILE_OUT / sizeof(ptxi_tile_wide), LEAST = -2 * PTXI_TILE_SPREAD };
    int base = t->bytes_a.base + t->bytes_b.base + 127;
    ptxi_tile_wide m[PARTS], b[PARTS];

    if (!t->bytes_a.fit || !t->bytes_b.fit || base + LEAST < 1 || base > 255)
        return false;
    for (unsigned p = 0; p < PARTS; p++)
        m[p] = TILE_WIDE(set1_epi8)(-128);
    for (unsigned i = k; i < k + count; i += 4) {
        if (i == k || i % 16 == 0)
            for (unsigned n = 0; n < PTXI_TILE_N; n++)
                memcpy((char *)b + 16 * n, t->bb[n] + i / 16 * 16, 16);
        TILE_STEPS(j, i, 4)
            for (unsigned p = 0; p < PARTS; p++)
                m[p] = TILE_WIDE(max_epi8)(m[p], TILE_WIDE(adds_epi8)(TILE_SPREAD(_mm_load_si128((const __m128i *)t->ba[j])),
                                                                      TILE_WIDE(shuffle_epi8)(b[p], TILE_WIDE(set1_epi8)((char)(j % 16)))));
    }
    memcpy(largest, m, sizeof m);
    TILE_LOOP(l, PTXI_TILE_OUT) {
        int8_t x = (int8_t)largest[l];

        largest[l] = (uint8_t)(x < LEAST ? 0 : x + base);
    }
    return true;
}
#undef TILE_WIDE
#undef TILE_SPREAD
#endif

/* --- sums --- */

/* Sums of the products from k on, each cut off at 1 / scale. count is a multiple of 4. */
static inline __attribute__((always_inline)) void ptxi_tile_sum(const struct ptxi_tile *t, unsigned k, unsigned count, const float *scale, int32_t *sum)
{
    for (unsigned n = 0; n < PTXI_TILE_N; n++) {
        const float *b = t->b[n] + k;
        const ptxi_tile_floats *a = (const ptxi_tile_floats *)t->a[k], *by = (const ptxi_tile_floats *)(scale + n * PTXI_TILE_M);
        ptxi_tile_sums s[PTXI_TILE_VECTORS] = { { 0 } };

        for (unsigned i = 0; i < count; i += 4)
            TILE_STEPS(j, i, 4)
                TILE_STEPS(p, 0, PTXI_TILE_VECTORS)
                    s[p] += (ptxi_tile_sums)__builtin_convertvector(a[j * PTXI_TILE_VECTORS + p] * b[j] * by[p], ptxi_tile_ints);
        memcpy(sum + n * PTXI_TILE_M, s, sizeof s);
    }
}

static __attribute__((noinline, unused)) void ptxi_tile_add_up(const struct ptxi_tile *t, unsigned k, unsigned count, const float *scale, int32_t *sum)
{
    if (count == PTXI_TILE_GROUP)
        ptxi_tile_sum(t, k, PTXI_TILE_GROUP, scale, sum);
    else
        ptxi_tile_sum(t, k, count, scale, sum);
}

/* f16 in 32 bits each as f32, and back, a zero being positive. */
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
        _mm256_store_si256((__m256i *)(c + l), _mm256_cvtepu16_epi32(_mm256_cvtps_ph(_mm256_load_ps((const float *)(c + l)), _MM_FROUND_TO_NEAREST_INT)));
#else
    TILE_LOOP(l, PTXI_TILE_OUT) c[l] = ptxi_num_f16_from_f32(c[l], PTXI_NUM_RN);
#endif
    TILE_LOOP(l, PTXI_TILE_OUT) c[l] = c[l] & 0x7fff ? c[l] : 0;
}

/* What a chunk is added to as f32, and what makes the last bit that is kept of a sum 1. */
struct ptxi_tile_addends {
    _Alignas(64) uint32_t c[PTXI_TILE_OUT];
    _Alignas(64) float scale[PTXI_TILE_OUT];
};

/* The largest of an addend's and products' exponents, in the place of that of an f32, with what may be below it; 0 if all are zero. An f16
 * has its own subnormal numbers. */
static inline int32_t ptxi_tile_join(bool f16, uint32_t c, uint8_t field)
{
    const int32_t smallest = 113 << 23;
    int32_t e = (int32_t)(c & 0x7fffffff), p = field << 23;

    if (f16)
        e = e > smallest || e == 0 ? e : smallest;
    return e > p ? e : p;
}

static __attribute__((noinline, unused)) void ptxi_tile_mark(bool f16, const uint32_t *c, const uint8_t *largest, int32_t from, int32_t to, uint32_t *bad)
{
    TILE_LOOP(l, PTXI_TILE_OUT) {
        int32_t e = ptxi_tile_join(f16, c[l], largest[l]);

        bad[l] |= -(uint32_t)((e >= to) | ((e < from) & (e != 0)));
    }
}

/* Beyond these the scale would not be a float, and no float the result. */
enum { PTXI_TILE_LEAST = -100, PTXI_TILE_MOST = 125 };

static inline __attribute__((always_inline)) uint32_t ptxi_tile_align(const struct ptxi_dot_model *m, bool f16, const uint32_t *c, const uint8_t *largest,
                                                                      struct ptxi_tile_addends *out, uint32_t *bad)
{
    const bool zero = m->zero > PTXI_TILE_LEAST;
    const int32_t least = ((zero ? m->zero : PTXI_TILE_LEAST) + 127) << 23, from = zero ? 0 : least, to = (PTXI_TILE_MOST + 128) << 23;
    const uint32_t scales = (254u + m->kept) << 23;
    uint32_t low = UINT32_MAX;
    int32_t high = 0;

    if (f16)
        ptxi_tile_widen_sums(c, out->c);
    else
        memcpy(out->c, c, sizeof out->c);
    TILE_LOOP(l, PTXI_TILE_OUT) {
        int32_t e = ptxi_tile_join(f16, out->c[l], largest[l]);
        uint32_t below;

        below = (uint32_t)e - 1; /* of no matter for a zero */
        low = low < below ? low : below;
        high = high > e ? high : e;
        e &= 0x7f800000;
        e = e > least ? e : least;
        out->scale[l] = ptxi_num_f32(scales - (uint32_t)e);
    }
    if (__builtin_expect(high < to && low >= (uint32_t)from - (from > 0), 1))
        return 0;
    ptxi_tile_mark(f16, out->c, largest, from, to, bad);
    return 1;
}

/* A sum, cut off to a float, rounded as the model says; for f16, to odd, it is not yet. */
static inline __attribute__((always_inline)) uint32_t ptxi_tile_round(enum ptxi_dot_rounding rounding, float sum, float scale)
{
    uint32_t x = ptxi_num_bits_f32(sum * ptxi_num_f32((254u << 23) - ptxi_num_bits_f32(scale)));

    if (rounding == PTXI_DOT_RZ_E8M13)
        x &= ~UINT32_C(0x3ff);
    return x;
}

/* The results; false if there are some that an integer cannot hold. */
static inline __attribute__((always_inline)) bool ptxi_tile_finish(enum ptxi_dot_rounding rounding, const int32_t *s, const struct ptxi_tile_addends *to, uint32_t *c)
{
    int32_t over = 0;

    TILE_LOOP(l, PTXI_TILE_OUT) {
        int32_t addend = (int32_t)(ptxi_num_f32(to->c[l]) * to->scale[l]), sum = (int32_t)((uint32_t)s[l] + (uint32_t)addend);
        uint32_t magnitude = sum < 0 ? -(uint32_t)sum : (uint32_t)sum, x;
        float nearest = (float)(int32_t)magnitude;
        int32_t rest = (int32_t)(magnitude - (uint32_t)(int32_t)nearest);

        over |= (s[l] ^ sum) & (addend ^ sum);
        x = ptxi_num_bits_f32(nearest) + (uint32_t)(rest >> 31);
        if (rounding == PTXI_DOT_RN_F16)
            x |= rest != 0;
        c[l] = ptxi_tile_round(rounding, ptxi_num_f32(x | ((uint32_t)sum & 0x80000000)), to->scale[l]);
    }
    return over >= 0;
}

/* The same where an integer holds the sums of half of the products. */
static inline __attribute__((always_inline)) void ptxi_tile_finish_long(enum ptxi_dot_rounding rounding, const struct ptxi_tile *t, unsigned k, unsigned count,
                                                                        const struct ptxi_tile_addends *to, uint32_t *c)
{
    const uint64_t cut = (UINT64_C(1) << 29) - 1, odd = rounding == PTXI_DOT_RN_F16 ? cut + 1 : 0;
    _Alignas(64) int32_t s[2][PTXI_TILE_OUT];

    ptxi_tile_add_up(t, k, count / 2, to->scale, s[0]);
    ptxi_tile_add_up(t, k + count / 2, count / 2, to->scale, s[1]);
    TILE_LOOP(l, PTXI_TILE_OUT) {
        uint64_t x = ptxi_num_bits_f64((double)s[0][l] + s[1][l] + (int32_t)(ptxi_num_f32(to->c[l]) * to->scale[l]));

        x |= ((x & cut) + cut) & odd;
        c[l] = ptxi_tile_round(rounding, (float)ptxi_num_f64(x & ~cut), to->scale[l]);
    }
}

/* Products k to k + count - 1, as one chunk. c[n * 16 + m] becomes the sum; bad[...] all ones where it did not. */
static inline __attribute__((always_inline)) uint32_t ptxi_tile_chunk(const struct ptxi_dot_model *m, enum ptxi_dot_rounding rounding,
                                                                      const struct ptxi_tile *t, unsigned k, unsigned count, uint32_t *c, uint32_t *bad)
{
    _Alignas(64) uint8_t largest[PTXI_TILE_OUT];
    _Alignas(64) int32_t s[PTXI_TILE_OUT];
    struct ptxi_tile_addends addends;
    bool done = false;
    uint32_t any;

#if defined(__AVX2__)
    if (!ptxi_tile_largest_bytes(t, k, count, largest))
#endif
        for (unsigned n = 0; n < PTXI_TILE_N; n++)
            ptxi_tile_largest(t, n, k, count, largest + n * PTXI_TILE_M);
    any = ptxi_tile_align(m, rounding == PTXI_DOT_RN_F16, c, largest, &addends, bad);
    if (m->chunk <= PTXI_TILE_GROUP || m->kept < 25) {
        ptxi_tile_add_up(t, k, count, addends.scale, s);
        done = ptxi_tile_finish(rounding, s, &addends, c) || m->chunk < PTXI_TILE_GROUP;
    }
    if (__builtin_expect(!done, 0))
        ptxi_tile_finish_long(rounding, t, k, count, &addends, c);
    if (rounding == PTXI_DOT_RN_F16)
        ptxi_tile_narrow_sums(c);
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
