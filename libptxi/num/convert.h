/* Conversions between formats, one element. */
#ifndef PTXI_NUM_CONVERT_H
#define PTXI_NUM_CONVERT_H

#include <stdint.h>

#include "num/float.h"
#include "num/minifloat.h"

/* --- f16 and bf16, for hosts without instructions for them. There are no branches if `mode` is a constant. --- */
static inline float ptxi_num_f32_from_f16_bits(uint16_t a)
{
    return ptxi_num_f32(ptxi_num_f32_from_minifloat(ptxi_num_f16, a));
}

static inline uint16_t ptxi_num_f16_from_f32(uint32_t a, enum ptxi_num_rounding mode)
{
    return (uint16_t)ptxi_num_minifloat_from_f32(ptxi_num_f16, a, mode, false);
}

static inline uint16_t ptxi_num_bf16_from_f32(uint32_t a, enum ptxi_num_rounding mode)
{
    return (uint16_t)ptxi_num_minifloat_from_f32(ptxi_num_bf16, a, mode, false);
}

/* Rounds the bits of a float to bf16. The upper half of the result is the bf16. The operand is not a NaN. */
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
    return ptxi_num_minifloat_from_f32(ptxi_num_tf32, a, mode, false) << 13;
}

/* .rna: ties away from zero. A NaN is truncated, and may become infinite. With `finite`, a result that is infinite or
 * a NaN is decremented to make it finite. */
static inline uint32_t ptxi_num_tf32_rna(uint32_t a, bool finite)
{
    uint32_t below = (int32_t)(a & 0x7fffffff) < 0x7f800000, r = (a + (below << 12)) & ~0x1fffu;
    uint32_t beyond = (int32_t)(r & 0x7fffffff) >= 0x7f800000;

    return finite ? r - (beyond << 13) : r;
}

/* Rounds a double to a float, to odd: an inexact result has an odd last bit. Rounding it again to 22 bits or less, in
 * any mode, gives the same result as rounding the double. */
static inline float ptxi_num_f32_odd(double a)
{
    float f = (float)a;
    uint32_t bits = ptxi_num_bits_f32(f);

    bits -= __builtin_fabs((double)f) > __builtin_fabs(a);
    bits |= (double)f != a;
    return ptxi_num_f32(bits);
}

/* The same in fewer steps, if the result is a normal number or 0. */
static inline float ptxi_num_f32_odd_normal(double a)
{
    const uint64_t below = 0x1fffffff; /* the bits that a float does not have */
    uint64_t bits = ptxi_num_bits_f64(a), sum = (bits & below) + below; /* its upper bits are 0, or 1 if inexact */

    return (float)ptxi_num_f64((bits | sum) & ~below);
}

/* The result is normal if the bits of its magnitude are in this range. Outside of it, the operand decides, because a
 * zero may be the result of a small operand. */
enum { PTXI_NUM_F32_ODD_LEAST = 0x00800001, PTXI_NUM_F32_ODD_MOST = 0x7f7fffff };

static inline bool ptxi_num_f32_odd_not_normal(double a)
{
    int64_t m = (int64_t)(ptxi_num_bits_f64(a) & INT64_MAX);

    return ((m != 0) & (m < 0x3810000000000000)) | (m > 0x47efffffe0000000);
}

/* --- NaNs between formats. They keep their sign and payload and become quiet. --- */
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

/* .sat of an f16. The order of positive numbers is the order of their bits. */
static inline uint16_t ptxi_num_sat_f16(uint16_t a)
{
    uint16_t r = a > 0x3c00 ? 0x3c00 : a; /* at most 1 */

    return a > 0x7c00 ? 0 : r; /* negative numbers and NaNs */
}

#endif
