/* What the expressions of atom.def call. */
#ifndef PTXI_EXEC_MEMORY_ATOMOP_H
#define PTXI_EXEC_MEMORY_ATOMOP_H

#ifdef __F16C__
#include <immintrin.h>
#endif
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "num/half.h"

static inline uint32_t flush(uint32_t x)
{
    return x & 0x7f800000 ? x : x & 0x80000000;
}

/* Subnormals are flushed in global memory and kept in shared memory. */
static inline uint32_t add_f32(uint32_t old, uint32_t x, bool shared)
{
    float a, b;
    uint32_t r;

    if (!shared) {
        old = flush(old);
        x = flush(x);
    }
    memcpy(&a, &old, 4);
    memcpy(&b, &x, 4);
    a += b;
    memcpy(&r, &a, 4);
    r = shared ? r : flush(r);
    return a != a ? 0x7fffffff : r;
}

static inline bool nan64(uint64_t x)
{
    return (x & ~(UINT64_C(1) << 63)) > UINT64_C(0x7ff0000000000000);
}

/* NaNs as an H200 gives them: in global memory the operand's before the old value's, bits unchanged; in shared memory
 * the old value's first, made quiet. */
static inline uint64_t add_f64(uint64_t old, uint64_t x, bool shared)
{
    const uint64_t quiet = UINT64_C(1) << 51;
    double a, b;
    uint64_t r;

    if (shared && (nan64(old) || nan64(x)))
        return (nan64(old) ? old : x) | quiet;
    if (nan64(x) || nan64(old))
        return nan64(x) ? x : old;
    memcpy(&a, &old, 8);
    memcpy(&b, &x, 8);
    a += b;
    memcpy(&r, &a, 8);
    return a != a ? UINT64_C(0xfff8000000000000) : r;
}

/* As ptxi_num_add_f16() and its like, by the host's conversions, and two at once. */
#ifdef __F16C__
static inline uint32_t add_f16x2(uint32_t old, uint32_t x)
{
    const __m128 sum = _mm_add_ps(_mm_cvtph_ps(_mm_cvtsi32_si128((int)old)), _mm_cvtph_ps(_mm_cvtsi32_si128((int)x)));
    const __m128i nan = _mm_castps_si128(_mm_cmpunord_ps(sum, sum)), r = _mm_cvtps_ph(sum, _MM_FROUND_TO_NEAREST_INT);

    return (uint32_t)_mm_cvtsi128_si32(_mm_blendv_epi8(r, _mm_set1_epi16(PTXI_NAN_F16), _mm_packs_epi32(nan, nan)));
}

static inline uint16_t add_f16(uint16_t old, uint16_t x)
{
    float sum = _cvtsh_ss(old) + _cvtsh_ss(x);

    return sum != sum ? PTXI_NAN_F16 : _cvtss_sh(sum, _MM_FROUND_TO_NEAREST_INT);
}
#else
static inline uint16_t add_f16(uint16_t old, uint16_t x)
{
    return ptxi_num_add_f16(old, x);
}

static inline uint32_t add_f16x2(uint32_t old, uint32_t x)
{
    return ptxi_num_add_f16((uint16_t)old, (uint16_t)x) | (uint32_t)ptxi_num_add_f16((uint16_t)(old >> 16), (uint16_t)(x >> 16)) << 16;
}
#endif

static inline uint16_t add_bf16(uint16_t old, uint16_t x)
{
    uint32_t sum = ptxi_num_bits_f32(ptxi_num_f32_from_bf16(old) + ptxi_num_f32_from_bf16(x));

    return (sum & 0x7fffffff) > 0x7f800000 ? PTXI_NAN_F16 : (uint16_t)(ptxi_num_bf16_rounded(sum, PTXI_NUM_RN) >> 16);
}

#define MIN_F16(a, b) ptxi_num_minmax_half(a, b, (struct ptxi_num_minmax){ .inf = ptxi_num_f16.inf })
#define MAX_F16(a, b) ptxi_num_minmax_half(a, b, (struct ptxi_num_minmax){ .inf = ptxi_num_f16.inf, .flip = 0xffff })
#define MIN_BF16(a, b) ptxi_num_minmax_half(a, b, (struct ptxi_num_minmax){ .inf = ptxi_num_bf16.inf })
#define MAX_BF16(a, b) ptxi_num_minmax_half(a, b, (struct ptxi_num_minmax){ .inf = ptxi_num_bf16.inf, .flip = 0xffff })

#endif
