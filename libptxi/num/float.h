/* Floats as bits: NaNs, subnormal numbers and saturation, where a GPU differs from the host.
 *
 * All functions work on one element, without branches, so that a loop over lanes becomes vector code. */
#ifndef PTXI_NUM_FLOAT_H
#define PTXI_NUM_FLOAT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PTXI_NAN_F16 0x7fffu
#define PTXI_NAN_F32 0x7fffffffu
#define PTXI_NAN_F64 0xfff8000000000000u /* result of an operation without NaN operands */
#define PTXI_QUIET_F64 0x0008000000000000u

static inline float ptxi_num_f32(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline double ptxi_num_f64(uint64_t bits)
{
    double f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint32_t ptxi_num_bits_f32(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static inline uint64_t ptxi_num_bits_f64(double f)
{
    uint64_t bits;

    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* The result of a GPU: all NaNs become one NaN. */
static inline uint32_t ptxi_num_canon_f32(float r)
{
    return r != r ? PTXI_NAN_F32 : ptxi_num_bits_f32(r);
}

/* .ftz: a subnormal number becomes a zero of its sign. */
static inline uint32_t ptxi_num_flush_f32(uint32_t a)
{
    uint32_t gone = (a & 0x7f800000) ? 0 : 0x7fffffff;

    return a & ~gone;
}

static inline float ptxi_num_out_ftz_f32(float r)
{
    return ptxi_num_f32(ptxi_num_flush_f32(ptxi_num_bits_f32(r)));
}

/* Flushes a tiny result r. `scaled` is 2^24 times the same result, in the same rounding. .ftz decides by the result
 * that is rounded as if exponents had no lower limit. The subnormal r may differ from that: just below 2^-126, it may
 * have been rounded up to 2^-126. */
#define PTXI_FTZ_SCALE 0x1p24f
static inline uint32_t ptxi_num_flush_scaled_bits_f32(float r, float scaled)
{
    uint32_t bits = ptxi_num_bits_f32(r);
    bool tiny = (ptxi_num_bits_f32(scaled) & 0x7fffffff) < 0x0c800000; /* below 2^-102 */
    /* Scaled operands may overflow and cancel if they are large. */
    uint32_t gone = tiny && (bits & 0x7fffffff) <= 0x00800000 ? 0x7fffffff : 0;

    return bits & ~gone;
}

static inline float ptxi_num_flush_scaled_f32(float r, float scaled)
{
    return ptxi_num_f32(ptxi_num_flush_scaled_bits_f32(r, scaled));
}

static inline uint32_t ptxi_num_canon_scaled_f32(float r, float scaled)
{
    uint32_t flushed = ptxi_num_flush_scaled_bits_f32(r, scaled);

    return r != r ? PTXI_NAN_F32 : flushed;
}

static inline float ptxi_num_in_ftz_f32(uint32_t a)
{
    return ptxi_num_f32(ptxi_num_flush_f32(a));
}

/* .sat: clamps to [+0, 1]. -0 and NaN become +0. The bits of positive numbers are in the order of the numbers. */
static inline uint32_t ptxi_num_sat_f32(float r)
{
    int32_t bits = (int32_t)ptxi_num_bits_f32(r);
    int32_t low = bits > 0 ? bits : 0;
    int32_t x = low < 0x3f800000 ? low : 0x3f800000;

    return low > 0x7f800000 ? 0 : (uint32_t)x;
}

static inline uint64_t ptxi_num_sat_f64(double r)
{
    double low = r > 0.0 ? r : 0.0;

    return ptxi_num_bits_f64(low < 1.0 ? low : 1.0);
}

/* Results of f64 operations. The first NaN among the operands, in the order of the operation, becomes the result,
 * quieted. */
static inline uint64_t ptxi_num_nan1_f64(double r, uint64_t a)
{
    double x = ptxi_num_f64(a);
    uint64_t nan = x != x ? a | PTXI_QUIET_F64 : PTXI_NAN_F64;

    return r != r ? nan : ptxi_num_bits_f64(r);
}

static inline uint64_t ptxi_num_nan2_f64(double r, uint64_t first, uint64_t second)
{
    double x = ptxi_num_f64(first), y = ptxi_num_f64(second);
    uint64_t nan = y != y ? second | PTXI_QUIET_F64 : PTXI_NAN_F64;

    nan = x != x ? first | PTXI_QUIET_F64 : nan;
    return r != r ? nan : ptxi_num_bits_f64(r);
}

static inline uint64_t ptxi_num_nan3_f64(double r, uint64_t first, uint64_t second, uint64_t third)
{
    double x = ptxi_num_f64(first);
    uint64_t nan = ptxi_num_nan2_f64(r, second, third);

    return r != r && x != x ? first | PTXI_QUIET_F64 : nan;
}

static inline bool ptxi_num_is_nan_f32(uint32_t a)
{
    float x = ptxi_num_f32(a);

    return x != x;
}

static inline bool ptxi_num_is_nan_f64(uint64_t a)
{
    double x = ptxi_num_f64(a);

    return x != x;
}

/* min and max. -0 is less than +0. If one operand is a NaN, the result is the other one, or a NaN with `nan`. Equal
 * numbers have equal bits, except for zeros. */
static inline uint32_t ptxi_num_minmax_f32(uint32_t a, uint32_t b, bool max, bool nan)
{
    const float x = ptxi_num_f32(a), y = ptxi_num_f32(b);
    const float greater = x > y ? x : y, less = x < y ? x : y; /* y if either is a NaN */
    const uint32_t zero = max ? a & b : a | b;
    uint32_t r = ptxi_num_bits_f32(max ? greater : less);

    r = x == y ? zero : r;
    if (nan)
        return x != x || y != y ? PTXI_NAN_F32 : r;
    r = y != y ? a : r;
    return ptxi_num_is_nan_f32(r) ? PTXI_NAN_F32 : r;
}

/* .xorsign.abs: the minimum or maximum of the absolute values, with the sign of the product. The sign of a NaN counts.
 */
static inline uint32_t ptxi_num_minmax_xorsign_f32(uint32_t a, uint32_t b, bool max, bool nan)
{
    uint32_t r = ptxi_num_minmax_f32(a & 0x7fffffff, b & 0x7fffffff, max, nan);

    return r == PTXI_NAN_F32 ? r : r | ((a ^ b) & 0x80000000);
}

static inline uint64_t ptxi_num_minmax_f64(uint64_t a, uint64_t b, bool max)
{
    const double x = ptxi_num_f64(a), y = ptxi_num_f64(b);
    const double greater = x > y ? x : y, less = x < y ? x : y;
    const uint64_t zero = max ? a & b : a | b;
    uint64_t r = ptxi_num_bits_f64(max ? greater : less);

    r = x == y ? zero : r;
    r = y != y ? a : r;
    return ptxi_num_is_nan_f64(r) ? b | PTXI_QUIET_F64 : r;
}

#endif
