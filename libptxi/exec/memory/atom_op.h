/* The operations of atom and red: their kinds, their descriptions (exec/memory/atom.def), and the functions of their
 * new values. */
#ifndef PTXI_EXEC_MEMORY_ATOM_OP_H
#define PTXI_EXEC_MEMORY_ATOM_OP_H

#ifdef __F16C__
#include <immintrin.h>
#endif
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "num/half.h"

/* --- kinds and descriptions --- */

#define ATOM_PLAIN 0       /* any other operation */
#define ATOM_INTEGER_SUM 1 /* a sum of integers: the operations of all lanes at one word become one */
#define ATOM_FLOAT_SUM 2   /* a sum of floats */
#define ATOM_COSTLY 3      /* the new value is expensive, so that it is computed for all lanes at once */
#define ATOM_SWAP 4        /* a compare-and-swap */
#define ATOM_SWAP_16 5     /* the same with 16 bits */
#define ATOM_128 6         /* 128 bits */

#define ATOM_FIELD(field, atom) field atom
#define ATOM_FIELD_NAME(name, type, kind, ...) name
#define ATOM_FIELD_TYPE(name, type, kind, ...) type
#define ATOM_FIELD_KIND(name, type, kind, ...) ATOM_##kind
#define ATOM_FIELD_NEW(name, type, kind, ...) __VA_ARGS__

#define ATOM_PASTE_(a, b) a##_##b
#define ATOM_PASTE(a, b) ATOM_PASTE_(a, b)

/* --- new values --- */

static inline uint32_t flush(uint32_t x)
{
    return x & 0x7f800000 ? x : x & 0x80000000;
}

/* Global memory flushes subnormal numbers, and shared memory keeps them, like .noftz. */
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

static inline bool is_nan_64(uint64_t x)
{
    return (x & ~(UINT64_C(1) << 63)) > UINT64_C(0x7ff0000000000000);
}

/* NaNs are those of an H200. In global memory the operand's NaN has priority over the old value's, and its bits do not
 * change. In shared memory the old value's NaN has priority, and it becomes quiet. */
static inline uint64_t add_f64(uint64_t old, uint64_t x, bool shared)
{
    const uint64_t quiet = UINT64_C(1) << 51;
    double a, b;
    uint64_t r;

    if (shared && (is_nan_64(old) || is_nan_64(x)))
        return (is_nan_64(old) ? old : x) | quiet;
    if (is_nan_64(x) || is_nan_64(old))
        return is_nan_64(x) ? x : old;
    memcpy(&a, &old, 8);
    memcpy(&b, &x, 8);
    a += b;
    memcpy(&r, &a, 8);
    return a != a ? UINT64_C(0xfff8000000000000) : r;
}

/* The results of ptxi_num_add_f16(), by the conversion instructions of the host, and for two numbers at once. */
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
    return ptxi_num_add_f16((uint16_t)old, (uint16_t)x) |
           (uint32_t)ptxi_num_add_f16((uint16_t)(old >> 16), (uint16_t)(x >> 16)) << 16;
}
#endif

static inline uint16_t add_bf16(uint16_t old, uint16_t x)
{
    uint32_t sum = ptxi_num_bits_f32(ptxi_num_f32_from_bf16(old) + ptxi_num_f32_from_bf16(x));

    return (sum & 0x7fffffff) > 0x7f800000 ? PTXI_NAN_F16 : (uint16_t)(ptxi_num_bf16_rounded(sum, PTXI_NUM_RN) >> 16);
}

static inline uint16_t min_f16(uint16_t old, uint16_t x)
{
    return ptxi_num_minmax_half(old, x, (struct ptxi_num_minmax){ .inf = (uint16_t)ptxi_num_f16.inf });
}

static inline uint16_t max_f16(uint16_t old, uint16_t x)
{
    return ptxi_num_minmax_half(old, x, (struct ptxi_num_minmax){ .inf = (uint16_t)ptxi_num_f16.inf, .flip = 0xffff });
}

static inline uint16_t min_bf16(uint16_t old, uint16_t x)
{
    return ptxi_num_minmax_half(old, x, (struct ptxi_num_minmax){ .inf = (uint16_t)ptxi_num_bf16.inf });
}

static inline uint16_t max_bf16(uint16_t old, uint16_t x)
{
    return ptxi_num_minmax_half(old, x, (struct ptxi_num_minmax){ .inf = (uint16_t)ptxi_num_bf16.inf, .flip = 0xffff });
}

/* f of the lower and of the upper halves of `old` and x. */
#define BOTH_HALVES(f) f((uint16_t)old, (uint16_t)x) | (uint32_t)f((uint16_t)(old >> 16), (uint16_t)(x >> 16)) << 16

#endif
