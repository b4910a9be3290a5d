/* Sums of lanes: of all that meet at one word, and of floats, which the host adds. */
#ifndef PTXI_EXEC_MEMORY_ATOM_REDUCE_H
#define PTXI_EXEC_MEMORY_ATOM_REDUCE_H

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "exec/engine/op_shapes.h"
#include "exec/engine/handler.h"

#include <string.h>

/* d[l] = x[0] + ... + x[l - 1]. Returns the sum of all. d may be x. */
#if defined(__AVX512F__)
#define ABOVE(n, s, steps) _mm512_alignr_epi##n(s, _mm512_setzero_si512(), 512 / n - (steps))
#define RUNNING_SUMS(n)                                                                                       \
    static inline uint##n##_t running_sums_##n(uint##n##_t *d, const uint##n##_t *x)                          \
    {                                                                                                         \
        __m512i sum = _mm512_setzero_si512();                                                                 \
                                                                                                              \
        for (int k = 0; k < PTXI_LANES; k += 512 / n) {                                                       \
            __m512i v = _mm512_load_si512(x + k), s = _mm512_add_epi##n(v, ABOVE(n, v, 1));                   \
                                                                                                              \
            s = _mm512_add_epi##n(s, ABOVE(n, s, 2));                                                         \
            s = _mm512_add_epi##n(s, ABOVE(n, s, 4));                                                         \
            if (n == 32)                                                                                      \
                s = _mm512_add_epi##n(s, ABOVE(n, s, 256 / n));                                               \
            s = _mm512_add_epi##n(s, sum);                                                                    \
            _mm512_store_si512(d + k, _mm512_sub_epi##n(s, v));                                               \
            sum = _mm512_permutexvar_epi##n(_mm512_set1_epi##n(512 / n - 1), s);                              \
        }                                                                                                     \
        return (uint##n##_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(sum));                                   \
    }
#else
#define RUNNING_SUMS(n)                                                                                       \
    static inline uint##n##_t running_sums_##n(uint##n##_t *d, const uint##n##_t *x)                          \
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
RUNNING_SUMS(32)
RUNNING_SUMS(64)
#undef RUNNING_SUMS
#undef ABOVE

/* The host's sums of floats, and whether they are a GPU's. False if some may differ: NaNs do, and where subnormals are flushed, small sums but
 * zeros. Beside a sum of 2^-100 and more a subnormal operand is lost in rounding, and only two of them that are opposite add up to zero. */
#define SURE_SUM 0x1p-100f

#if defined(__AVX2__)
/* Four sums. */
static inline __attribute__((always_inline)) bool sums_64(void *sums, const void *x, const void *y, bool flush)
{
    const __m256d sum = _mm256_add_pd(_mm256_loadu_pd(x), _mm256_loadu_pd(y)), nan = _mm256_cmp_pd(sum, sum, _CMP_UNORD_Q);

    (void)flush;
    _mm256_storeu_pd(sums, sum);
    return _mm256_testz_pd(nan, nan);
}

static inline __attribute__((always_inline)) bool sums_32(void *sums, const void *x, const void *y, bool flush)
{
    const __m128 sum = _mm_add_ps(_mm_loadu_ps(x), _mm_loadu_ps(y)), size = _mm_andnot_ps(_mm_set1_ps(-0.0f), sum);
    const __m128 small = _mm_cmpnge_ps(size, _mm_set1_ps(SURE_SUM)), no_zero = _mm_cmpneq_ps(sum, _mm_setzero_ps()), nan = _mm_cmpunord_ps(sum, sum);

    _mm_storeu_ps(sums, sum);
    return flush ? _mm_testz_ps(small, no_zero) : _mm_testz_ps(nan, nan);
}
#endif

/* d[l] = first + x[0] + ... + x[l], rounded each time; if there is a NaN the last is one. */
#define RUNNING_FLOAT_SUMS(n, type, SMALL)                                                                                            \
    static inline __attribute__((always_inline)) bool running_float_sums_##n(void *d, const void *first, const void *x, bool flush)   \
    {                                                                                                                                 \
        type sums[PTXI_LANES], sum, v;                                                                                                \
        unsigned small = 0;                                                                                                           \
                                                                                                                                      \
        memcpy(&sum, first, sizeof sum);                                                                                              \
        UNROLLED for (int l = 0; l < PTXI_LANES; l++) {                                                                               \
            memcpy(&v, (const type *)x + l, sizeof v);                                                                                \
            sums[l] = sum += v;                                                                                                       \
        }                                                                                                                             \
        if (flush)                                                                                                                    \
            FOR_LANES small |= (sums[l] != 0) & (sums[l] < SMALL) & (sums[l] > -SMALL);                                               \
        memcpy(d, sums, sizeof sums);                                                                                                 \
        return !small && sum == sum;                                                                                                  \
    }
RUNNING_FLOAT_SUMS(32, float, SURE_SUM)
RUNNING_FLOAT_SUMS(64, double, 0.0)
#undef RUNNING_FLOAT_SUMS

#endif
