/* Floats as bits: what the GPU's arithmetic does with NaN, subnormals and saturation where the host's does otherwise.
 *
 * Everything works on one element, without branches, so that a loop over lanes becomes vector code. */
#ifndef PTXI_NUM_FLOAT_H
#define PTXI_NUM_FLOAT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PTXI_NAN_F16 0x7fffu
#define PTXI_NAN_F32 0x7fffffffu
#define PTXI_NAN_F64 0xfff8000000000000u /* that an operation makes of operands that are none */
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

/* A result as the GPU gives it: one NaN for all. */
static inline uint32_t ptxi_num_canon_f32(float r)
{
    return r != r ? PTXI_NAN_F32 : ptxi_num_bits_f32(r);
}

/* .ftz: a subnormal is a zero of its sign. */
static inline uint32_t ptxi_num_flush_f32(uint32_t a)
{
    uint32_t gone = (a & 0x7f800000) ? 0 : 0x7fffffff;

    return a & ~gone;
}

static inline float ptxi_num_out_ftz_f32(float r)
{
    return ptxi_num_f32(ptxi_num_flush_f32(ptxi_num_bits_f32(r)));
}

/* A result r that is to be flushed if it is tiny, where `scaled` is 2^24 times the same result, rounded like it: so .ftz
 * judges, by the result rounded as if exponents had no lower limit. That is not always what the subnormal r shows: just
 * below 2^-126, r may have been rounded up to it. */
#define PTXI_FTZ_SCALE 0x1p24f
static inline uint32_t ptxi_num_flush_scaled_bits_f32(float r, float scaled)
{
    uint32_t bits = ptxi_num_bits_f32(r);
    bool tiny = (ptxi_num_bits_f32(scaled) & 0x7fffffff) < 0x0c800000; /* below 2^-102 */
    /* Of large operands, scaled ones may have overflowed and cancelled. */
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

/* .sat: [+0, 1]; -0 and NaN become +0. Bits of numbers that are not negative are in the order of the numbers. */
static inline uint32_t ptxi_num_sat_f32(float r)
{
    int32_t bits = (int32_t)ptxi_num_bits_f32(r), low = bits > 0 ? bits : 0, x = low < 0x3f800000 ? low : 0x3f800000;

    return low > 0x7f800000 ? 0 : (uint32_t)x;
}

static inline uint64_t ptxi_num_sat_f64(double r)
{
    double low = r > 0.0 ? r : 0.0;

    return ptxi_num_bits_f64(low < 1.0 ? low : 1.0);
}

/* Results of f64 operations: the first operand in the operation's order that is a NaN passes, quieted. */
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

/* min and max: -0 < +0. One NaN: the other operand, or, with `nan`, a NaN. Numbers that are equal have equal bits, but zeros. */
static inline uint32_t ptxi_num_minmax_f32(uint32_t a, uint32_t b, bool max, bool nan)
{
    float x = ptxi_num_f32(a), y = ptxi_num_f32(b), z = max ? (x > y ? x : y) : (x < y ? x : y); /* y if either is a NaN */
    uint32_t r = ptxi_num_bits_f32(z);

    r = x == y ? (max ? a & b : a | b) : r;
    if (nan)
        return x != x || y != y ? PTXI_NAN_F32 : r;
    r = y != y ? a : r;
    return ptxi_num_is_nan_f32(r) ? PTXI_NAN_F32 : r;
}

/* .xorsign.abs: of the absolute values; the sign is the product's, a NaN operand's included. */
static inline uint32_t ptxi_num_minmax_xorsign_f32(uint32_t a, uint32_t b, bool max, bool nan)
{
    uint32_t r = ptxi_num_minmax_f32(a & 0x7fffffff, b & 0x7fffffff, max, nan);

    return r == PTXI_NAN_F32 ? r : r | ((a ^ b) & 0x80000000);
}

static inline uint64_t ptxi_num_minmax_f64(uint64_t a, uint64_t b, bool max)
{
    double x = ptxi_num_f64(a), y = ptxi_num_f64(b), z = max ? (x > y ? x : y) : (x < y ? x : y);
    uint64_t r = ptxi_num_bits_f64(z);

    r = x == y ? (max ? a & b : a | b) : r;
    r = y != y ? a : r;
    return ptxi_num_is_nan_f64(r) ? b | PTXI_QUIET_F64 : r;
}

#endif
