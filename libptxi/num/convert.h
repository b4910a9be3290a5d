/* Conversions between formats, one element. Roundings that depend on the host's are where the host is set to them. */
#ifndef PTXI_NUM_CONVERT_H
#define PTXI_NUM_CONVERT_H

#include <stdint.h>

#include "num/float.h"
#include "num/round.h"

/* --- f16 in integers alone, for hosts without instructions for it --- */
static inline float ptxi_num_f32_from_f16_bits(uint16_t a)
{
    uint32_t sign = (uint32_t)(a & 0x8000) << 16, magnitude = a & 0x7fff;
    /* As a fraction of a float whose exponent is 112 too small; the product repairs that and normalises. */
    float f = ptxi_num_f32(magnitude << 13) * 0x1p112f;
    uint32_t bits = magnitude >= 0x7c00 ? magnitude << 13 | 0x7f800000 : ptxi_num_bits_f32(f);

    return ptxi_num_f32(bits | sign);
}

/* Not of a NaN. */
static inline uint16_t ptxi_num_f16_round(struct ptxi_num_format from, uint64_t a, enum ptxi_num_rounding mode)
{
    uint64_t magnitude = a & (((uint64_t)1 << (from.fraction + from.exponent)) - 1);

    if (magnitude >> from.fraction == ((uint64_t)1 << from.exponent) - 1)
        return (uint16_t)(a >> (from.fraction + from.exponent) << 15 | 0x7c00);
    return (uint16_t)ptxi_num_round(PTXI_NUM_F16, mode, ptxi_num_unpack(from, a));
}

static inline uint16_t ptxi_num_f16_from_f32(uint32_t a, enum ptxi_num_rounding mode)
{
    return ptxi_num_is_nan_f32(a) ? PTXI_NAN_F16 : ptxi_num_f16_round(PTXI_NUM_F32, a, mode);
}

/* From f64 a NaN keeps its sign and upper payload, quieted. */
static inline uint16_t ptxi_num_f16_from_f64(uint64_t a, enum ptxi_num_rounding mode)
{
    if (ptxi_num_is_nan_f64(a))
        return (uint16_t)((a >> 48 & 0x8000) | 0x7e00 | (a >> 42 & 0x3ff));
    return ptxi_num_f16_round(PTXI_NUM_F64, a, mode);
}

static inline uint32_t ptxi_num_f32_nan_from_f64(uint64_t a)
{
    return (uint32_t)(a >> 32 & 0x80000000) | 0x7fc00000 | (uint32_t)(a >> 29 & 0x3fffff);
}

static inline uint64_t ptxi_num_f64_from_f32(uint32_t a)
{
    uint64_t nan = (uint64_t)(a & 0x80000000) << 32 | 0x7ff8000000000000 | (uint64_t)(a & 0x7fffff) << 29;

    return ptxi_num_is_nan_f32(a) ? nan : ptxi_num_bits_f64(ptxi_num_f32(a));
}

static inline uint64_t ptxi_num_f64_from_f16(uint16_t a)
{
    uint64_t nan = (uint64_t)(a & 0x8000) << 48 | 0x7ff8000000000000 | (uint64_t)(a & 0x3ff) << 42;

    return (a & 0x7fff) > 0x7c00 ? nan : ptxi_num_bits_f64(ptxi_num_f32_from_f16_bits(a));
}

/* --- bf16: the upper half of an f32 --- */
static inline uint16_t ptxi_num_bf16_from_f32(uint32_t a, enum ptxi_num_rounding mode)
{
    uint32_t up = a >> 31 ? 0 : 0xffff, down = a >> 31 ? 0xffff : 0;
    uint32_t add = mode == PTXI_NUM_RN ? 0x7fff + (a >> 16 & 1) : mode == PTXI_NUM_RP ? up : mode == PTXI_NUM_RM ? down : 0;

    return ptxi_num_is_nan_f32(a) ? PTXI_NAN_F16 : (uint16_t)((a + add) >> 16);
}

/* .sat of an f16: its order is that of its bits. */
static inline uint16_t ptxi_num_sat_f16(uint16_t a)
{
    return a > 0x7c00 ? 0 : a > 0x3c00 ? 0x3c00 : a; /* negative ones and NaNs; above 1 */
}

/* --- floats to integers: x is integral or infinite or a NaN; too large saturates, a NaN becomes `nan` --- */
#define PTXI_NUM_TO_INT(name, t, f, min, beyond, max)                                     \
    static inline t ptxi_num_##name(f x, t nan)                                           \
    {                                                                                     \
        t r = (t)(x >= (min) && x < (beyond) ? x : (f)0);                                 \
                                                                                          \
        r = x >= (beyond) ? (max) : r;                                                    \
        r = x < (min) ? (t)(min) : r;                                                     \
        return x != x ? nan : r;                                                          \
    }
#define PTXI_NUM_TO_INTS(from, f)                                                          \
    PTXI_NUM_TO_INT(s32_from_##from, int32_t, f, (f)-0x1p31, (f)0x1p31, INT32_MAX)          \
    PTXI_NUM_TO_INT(u32_from_##from, uint32_t, f, (f)0, (f)0x1p32, UINT32_MAX)              \
    PTXI_NUM_TO_INT(s64_from_##from, int64_t, f, (f)-0x1p63, (f)0x1p63, INT64_MAX)          \
    PTXI_NUM_TO_INT(u64_from_##from, uint64_t, f, (f)0, (f)0x1p64, UINT64_MAX)
PTXI_NUM_TO_INTS(f32, float)
PTXI_NUM_TO_INTS(f64, double)
#undef PTXI_NUM_TO_INTS
#undef PTXI_NUM_TO_INT

/* --- narrow integers: clamped to a range --- */
#define PTXI_NUM_CLAMP(x, min, max) ((x) < (min) ? (min) : (x) > (max) ? (max) : (x))

#endif
