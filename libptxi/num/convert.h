/* Conversions between formats, one element. */
#ifndef PTXI_NUM_CONVERT_H
#define PTXI_NUM_CONVERT_H

#include <stdint.h>

#include "num/float.h"
#include "num/minifloat.h"

/* --- f16 and bf16, for hosts without instructions for them; without branches where `mode` is a constant --- */
static inline float ptxi_num_f32_from_f16_bits(uint16_t a)
{
    return ptxi_num_f32(ptxi_num_f32_from_small(ptxi_num_f16, a));
}

static inline uint16_t ptxi_num_f16_from_f32(uint32_t a, enum ptxi_num_rounding mode)
{
    return (uint16_t)ptxi_num_small_from_f32(ptxi_num_f16, a, mode, false);
}

static inline uint16_t ptxi_num_bf16_from_f32(uint32_t a, enum ptxi_num_rounding mode)
{
    return (uint16_t)ptxi_num_small_from_f32(ptxi_num_bf16, a, mode, false);
}

/* The bits of a float that is no NaN, of which the upper half is the bf16 that it is rounded to. */
static inline uint32_t ptxi_num_bf16_rounded(uint32_t a, enum ptxi_num_rounding mode)
{
    uint32_t negative = (uint32_t)((int32_t)a >> 31);

    switch (mode) {
    case PTXI_NUM_RN: return a + 0x7fff + (a >> 16 & 1);
    case PTXI_NUM_RM: return a + (negative & 0xffff);
    case PTXI_NUM_RP: return a + (~negative & 0xffff);
    default: return a;
    }
}

/* --- tf32: the upper 19 bits of an f32 --- */
static inline uint32_t ptxi_num_tf32_from_f32(uint32_t a, enum ptxi_num_rounding mode)
{
    return ptxi_num_small_from_f32(ptxi_num_tf32, a, mode, false) << 13;
}

/* .rna, ties away from zero. A NaN is cut, so that it may become an infinity; what is not less than infinity then, a NaN too,
 * is made finite by taking one off. */
static inline uint32_t ptxi_num_tf32_rna(uint32_t a, bool finite)
{
    uint32_t below = (int32_t)(a & 0x7fffffff) < 0x7f800000, r = (a + (below << 12)) & ~0x1fffu;
    uint32_t beyond = (int32_t)(r & 0x7fffffff) >= 0x7f800000;

    return finite ? r - (beyond << 13) : r;
}

/* A double as a float that is odd if it is not exact. Rounding that to 22 bits or less is rounding the double, in any mode. */
static inline float ptxi_num_f32_odd(double a)
{
    float f = (float)a;
    uint32_t bits = ptxi_num_bits_f32(f);

    bits -= __builtin_fabs((double)f) > __builtin_fabs(a);
    bits |= (double)f != a;
    return ptxi_num_f32(bits);
}

/* The same in fewer steps, where the result is a normal number or 0. */
static inline float ptxi_num_f32_odd_normal(double a)
{
    const uint64_t below = 0x1fffffff; /* what a float has not */
    uint64_t bits = ptxi_num_bits_f64(a), sum = (bits & below) + below; /* whose upper bits are 0, or 1 */

    return (float)ptxi_num_f64((bits | sum) & ~below);
}

/* It is that if its magnitude has these bits; others do not tell: zeros may have become that. The operand does. */
enum { PTXI_NUM_F32_ODD_LEAST = 0x00800001, PTXI_NUM_F32_ODD_MOST = 0x7f7fffff };

static inline bool ptxi_num_f32_odd_not_normal(double a)
{
    int64_t m = (int64_t)(ptxi_num_bits_f64(a) & INT64_MAX);

    return ((m != 0) & (m < 0x3810000000000000)) | (m > 0x47efffffe0000000);
}

/* --- NaNs between formats that keep sign and payload, quieted --- */
static inline uint32_t ptxi_num_f32_nan_from_f64(uint64_t a)
{
    return (uint32_t)(a >> 32 & 0x80000000) | 0x7fc00000 | (uint32_t)(a >> 29 & 0x3fffff);
}

static inline uint16_t ptxi_num_f16_nan_from_f64(uint64_t a)
{
    return (uint16_t)((a >> 48 & 0x8000) | 0x7e00 | (a >> 42 & 0x1ff));
}

static inline uint16_t ptxi_num_bf16_nan_from_f64(uint64_t a)
{
    return (uint16_t)((a >> 48 & 0x8000) | 0x7fc0 | (a >> 45 & 0x3f));
}

static inline uint64_t ptxi_num_f64_nan_from_f32(uint32_t a)
{
    return (uint64_t)(a & 0x80000000) << 32 | 0x7ff8000000000000 | (uint64_t)(a & 0x7fffff) << 29;
}

/* .sat of an f16: its order is that of its bits. */
static inline uint16_t ptxi_num_sat_f16(uint16_t a)
{
    return a > 0x7c00 ? 0 : a > 0x3c00 ? 0x3c00 : a; /* negative ones and NaNs; above 1 */
}

#endif
