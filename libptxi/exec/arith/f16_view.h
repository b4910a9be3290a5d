/* Registers of f16 and bf16 as arrays of 16-bit elements: one element in each lane, or two for .f16x2 and .bf16x2.
 * The same code processes both, as an array of PTXI_LANES or 2 * PTXI_LANES elements. */
#ifndef PTXI_EXEC_ARITH_F16_VIEW_H
#define PTXI_EXEC_ARITH_F16_VIEW_H

#include "exec/engine/op_shapes.h"
#include "num/half.h"

#include <assert.h>

enum { HALF_BLOCK = 16, HALF_ELEMENTS_MAX = 2 * PTXI_LANES };
#if defined(__clang__)
#define FOR_BLOCK PTXI_SIMD for (int l = 0; l < HALF_BLOCK; l++)
#else /* GCC would unroll this short loop before it vectorizes */
#define FOR_BLOCK PTXI_SIMD _Pragma("GCC unroll 1") for (int l = 0; l < HALF_BLOCK; l++)
#endif
/* Two nested loops, so that compilers see no remainder. */
#define FOR_HALF_ELEMENTS(n)                     \
    for (int k_ = 0; k_ < (n); k_ += PTXI_LANES) \
        PTXI_SIMD for (int l = k_; l < k_ + PTXI_LANES; l++)

/* Converts a block of elements to floats. The block is small enough for compilers to keep it in vector registers. */
static inline void widen_f16(float *restrict r, const uint16_t *a)
{
#if defined(__AVX512F__)
    _mm512_storeu_ps(r, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)a)));
#elif defined(__F16C__)
    _mm256_storeu_ps(r, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)a)));
    _mm256_storeu_ps(r + 8, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(a + 8))));
#else
    FOR_BLOCK r[l] = ptxi_num_f32_from_f16_bits(a[l]);
#endif
}

static inline void widen_bf16(float *restrict r, const uint16_t *a)
{
    FOR_BLOCK r[l] = ptxi_num_f32_from_bf16(a[l]);
}

/* Whether any of n elements is a NaN: its magnitude is above that of infinity. */
static inline bool any_half_nan(const uint16_t *a, int n, uint16_t inf)
{
#if defined(__AVX512BW__)
    __mmask32 nan = 0;

    for (int k = 0; k < n; k += 32)
        nan |= _mm512_cmpgt_epi16_mask(_mm512_and_si512(_mm512_load_si512(a + k), _mm512_set1_epi16(0x7fff)),
                                       _mm512_set1_epi16((int16_t)inf));
    return nan;
#elif defined(__AVX2__)
    __m256i nan = _mm256_setzero_si256();

    for (int k = 0; k < n; k += 16) {
        __m256i m = _mm256_and_si256(_mm256_load_si256((const __m256i *)(a + k)), _mm256_set1_epi16(0x7fff));

        nan = _mm256_or_si256(nan, _mm256_cmpgt_epi16(m, _mm256_set1_epi16((int16_t)inf)));
    }
    return _mm256_movemask_epi8(nan);
#else
    uint16_t nan = 0;

    FOR_HALF_ELEMENTS(n) nan |= (uint16_t)-((a[l] & 0x7fff) > inf);
    return nan;
#endif
}

static inline void write_half_elements(const struct ptxi_insn *i, struct ptxi_warp *w, const uint16_t *r, int n)
{
    assert(n == PTXI_LANES || n == HALF_ELEMENTS_MAX);
    if (n == PTXI_LANES)
        write_buffer(PTXI_SLOT(w, i->d), r, w->active, 2);
    else
        write_buffer(PTXI_SLOT(w, i->d), r, w->active, 4);
}

/* Defines an operation and its x2 form. `function` executes both and takes the number of elements. */
#define HALF_OPS(name, type, function, ...)                             \
    OP( name##_##type )                                                 \
    {                                                                   \
        return function(i, w, PTXI_LANES, ##__VA_ARGS__);               \
    }                                                                   \
    OP( name##_##type##x2 )                                             \
    {                                                                   \
        return function(i, w, 2 * PTXI_LANES, ##__VA_ARGS__);           \
    }

#endif
