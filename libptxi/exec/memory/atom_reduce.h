/* Sums over the lanes of a warp: of integers or floats that are added to one word, and of four floats. */
#ifndef PTXI_EXEC_MEMORY_ATOM_REDUCE_H
#define PTXI_EXEC_MEMORY_ATOM_REDUCE_H

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "exec/engine/op_shapes.h"
#include "exec/engine/handler.h"

#include <string.h>

/* Exclusive scan: d[l] = x[0] + ... + x[l - 1]. Returns the sum of all. d may be x. */
#if defined(__AVX512F__)
#define SHIFTED(n, s, steps) _mm512_alignr_epi##n(s, _mm512_setzero_si512(), 512 / n - (steps))
#define EXCLUSIVE_SCAN(n)                                                                                       \
    static inline uint##n##_t exclusive_scan_##n(uint##n##_t *d, const uint##n##_t *x)                          \
    {                                                                                                         \
        __m512i sum = _mm512_setzero_si512();                                                                 \
                                                                                                              \
        for (int k = 0; k < PTXI_LANES; k += 512 / n) {                                                       \
            __m512i v = _mm512_load_si512(x + k), s = _mm512_add_epi##n(v, SHIFTED(n, v, 1));                   \
                                                                                                              \
            s = _mm512_add_epi##n(s, SHIFTED(n, s, 2));                                                         \
            s = _mm512_add_epi##n(s, SHIFTED(n, s, 4));                                                         \
            if (n == 32)                                                                                      \
                s = _mm512_add_epi##n(s, SHIFTED(n, s, 256 / n));                                               \
            s = _mm512_add_epi##n(s, sum);                                                                    \
            _mm512_store_si512(d + k, _mm512_sub_epi##n(s, v));                                               \
            sum = _mm512_permutexvar_epi##n(_mm512_set1_epi##n(512 / n - 1), s);                              \
        }                                                                                                     \
        return (uint##n##_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(sum));                                   \
    }
#else
#define EXCLUSIVE_SCAN(n)                                                                                       \
    static inline uint##n##_t exclusive_scan_##n(uint##n##_t *d, const uint##n##_t *x)                          \
    {                                                                                                         \
        uint##n##_t sum = 0;                                                                                  \
                                                                                                              \
        UNROLLED for (int l = 0; l < PTXI_LANES; l++) {                                                       \
            uint##n##_t v = x[l];                                                                             \
                                                                                                              \
            d[l] = sum;                                                                                       \
            sum += v;                                                                                         \
        }                                                                                                     \
        return sum;                                                                                           \
    }
#endif
EXCLUSIVE_SCAN(32)
EXCLUSIVE_SCAN(64)
#undef EXCLUSIVE_SCAN
#undef SHIFTED

/* The functions below add floats with the host's instructions. They return true if the sums are those of a GPU. Sums
 * with a NaN may differ. Where subnormal numbers are flushed, small sums other than zero may differ. If the sum is
 * 2^-100 or more, rounding hides a subnormal operand, and only two opposite subnormal operands have the sum zero. */
#define FLUSH_SAFE_SUM 0x1p-100f

#if defined(__AVX2__)
/* sums[k] = x[k] + y[k], for four doubles. */
static inline __attribute__((always_inline)) bool add_four_doubles(void *sums, const void *x, const void *y)
{
    const __m256d sum = _mm256_add_pd(_mm256_loadu_pd(x), _mm256_loadu_pd(y));
    const __m256d nan = _mm256_cmp_pd(sum, sum, _CMP_UNORD_Q);

    _mm256_storeu_pd(sums, sum);
    return _mm256_testz_pd(nan, nan);
}

/* The same for four floats. With `flush`, a GPU flushes subnormal numbers. */
static inline __attribute__((always_inline)) bool add_four_floats(void *sums, const void *x, const void *y, bool flush)
{
    const __m128 sum = _mm_add_ps(_mm_loadu_ps(x), _mm_loadu_ps(y)), size = _mm_andnot_ps(_mm_set1_ps(-0.0f), sum);
    const __m128 small = _mm_cmpnge_ps(size, _mm_set1_ps(FLUSH_SAFE_SUM));
    const __m128 not_zero = _mm_cmpneq_ps(sum, _mm_setzero_ps());
    const __m128 nan = _mm_cmpunord_ps(sum, sum);

    _mm_storeu_ps(sums, sum);
    return flush ? _mm_testz_ps(small, not_zero) : _mm_testz_ps(nan, nan);
}
#endif

/* Inclusive scan: d[l] = first + x[0] + ... + x[l], rounded after each addition. A NaN spreads to the last sum. */
#define INCLUSIVE_SCAN(name, type, SMALL)                                                                          \
    static inline __attribute__((always_inline)) bool name(void *d, const void *first, const void *x, bool flush)  \
    {                                                                                                              \
        type sums[PTXI_LANES], sum, v;                                                                             \
        unsigned small = 0;                                                                                        \
                                                                                                                   \
        memcpy(&sum, first, sizeof sum);                                                                           \
        UNROLLED for (int l = 0; l < PTXI_LANES; l++) {                                                            \
            memcpy(&v, (const type *)x + l, sizeof v);                                                             \
            sums[l] = sum += v;                                                                                    \
        }                                                                                                          \
        if (flush)                                                                                                 \
            FOR_LANES small |= (sums[l] != 0) & (sums[l] < SMALL) & (sums[l] > -SMALL);                            \
        memcpy(d, sums, sizeof sums);                                                                              \
        return !small && sum == sum;                                                                               \
    }
INCLUSIVE_SCAN(scan_floats, float, FLUSH_SAFE_SUM)
INCLUSIVE_SCAN(scan_doubles, double, 0.0)
#undef INCLUSIVE_SCAN

#endif
