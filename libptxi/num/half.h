/* f16 and bf16, one element. Arithmetic is done on floats, which represent both formats exactly. The result is then
 * rounded.
 *
 * f16 has 11 bits and bf16 has 8 bits. A float has 24 bits, at least twice as many plus two. Therefore a sum or
 * product that is rounded to a float, and then to f16 or bf16, is the same as the exact one rounded once. This does
 * not hold for a fused multiply-add: see ptxi_num_fma_odd_f32() and ptxi_num_off_tie_bf16(). */
#ifndef PTXI_NUM_HALF_H
#define PTXI_NUM_HALF_H

#include "num/convert.h"
#include "num/fma.h"

#define PTXI_OOB_NAN 0x7ff7u /* fills elements outside of a tensor in a tensor copy; may have a sign */

/* --- to floats and back, rounded to nearest --- */
static inline float ptxi_num_f32_from_bf16(uint16_t a)
{
    return ptxi_num_f32((uint32_t)a << 16);
}

static inline uint16_t ptxi_num_f16_nearest(float x)
{
    return ptxi_num_f16_from_f32(ptxi_num_bits_f32(x), PTXI_NUM_RN);
}

/* --- results --- */
static inline uint16_t ptxi_num_canon_half(uint16_t a, uint16_t inf)
{
    return (a & 0x7fff) > inf ? PTXI_NAN_F16 : a;
}

static inline uint16_t ptxi_num_relu_half(uint16_t a)
{
    return a & 0x8000 ? 0 : a;
}

/* .ftz of f16 operands that are stored as floats. */
static inline float ptxi_num_flush_f16(float x)
{
    uint32_t bits = ptxi_num_bits_f32(x), gone = (bits & 0x7fffffff) < 0x38800000 ? 0x7fffffff : 0;

    return ptxi_num_f32(bits & ~gone);
}

/* .ftz of a result before it is rounded to f16. It is tiny if, rounded as if exponents had no lower limit, it is below
 * 2^-14. */
static inline float ptxi_num_flush_result_f16(float x)
{
    uint32_t bits = ptxi_num_bits_f32(x), gone = (bits & 0x7fffffff) < 0x387ff000 ? 0x7fffffff : 0;

    return ptxi_num_f32(bits & ~gone);
}

static inline uint16_t ptxi_num_add_f16(uint16_t a, uint16_t b)
{
    return ptxi_num_f16_nearest(ptxi_num_f32_from_f16_bits(a) + ptxi_num_f32_from_f16_bits(b));
}

static inline uint16_t ptxi_num_add_bf16(uint16_t a, uint16_t b)
{
    float sum = ptxi_num_f32_from_bf16(a) + ptxi_num_f32_from_bf16(b);

    return ptxi_num_bf16_from_f32(ptxi_num_bits_f32(sum), PTXI_NUM_RN);
}

/* --- fused --- */
/* a * b + c, rounded to odd, if the product is an exact float. An inexact result becomes the neighbour with an odd
 * last bit, so that rounding it again, to at least two bits less, finds a tie only if there is one. */
static inline float ptxi_num_fma_odd_f32(float a, float b, float c)
{
    float p = a * b, s = p + c, t = s - p, error = (p - (s - t)) + (c - t);
    uint32_t bits = ptxi_num_bits_f32(s);
    uint32_t towards = (ptxi_num_bits_f32(error) ^ bits) >> 31 ? UINT32_MAX : 1;
    /* This is also false if the error is a NaN, which happens if the sum is infinite. */
    bool move = (error < 0.0f || error > 0.0f) && !(bits & 1);

    return ptxi_num_f32(bits + (move ? towards : 0));
}

/* s is a * b + c, rounded to nearest, for operands that are bf16. Rounding s again is the same as rounding the exact
 * sum, unless s looks like a tie and is not. In this case the result is the next float in the direction of the sum. s
 * is then so close to the sum that a * b - s is an exact double, and adding c gives the sign of the error. */
static inline float ptxi_num_off_tie_bf16(float s, float a, float b, float c)
{
    double missing = ((double)a * b - s) + c;
    uint32_t bits = ptxi_num_bits_f32(s);
    uint32_t towards = (missing < 0.0) == (s < 0.0f) ? 1 : UINT32_MAX;
    bool tie = (bits & 0xffff) == 0x8000;

    return ptxi_num_f32(bits + (tie && missing != 0.0 ? towards : 0));
}

static inline float ptxi_num_fma_bf16(float a, float b, float c)
{
    return ptxi_num_off_tie_bf16(ptxi_num_fma_f32(a, b, c), a, b, c);
}

/* --- min, max --- */
/* The maximum of two numbers, not NaNs. Their bits as integers have the same order, or the reverse order if both
 * numbers are negative. */
static inline uint16_t ptxi_num_max_half(int16_t a, int16_t b)
{
    int16_t low = a < b ? a : b;
    int16_t high = a < b ? b : a;

    return (uint16_t)((int16_t)(a & b) < 0 ? low : high);
}

static inline uint16_t ptxi_num_min_half(int16_t a, int16_t b)
{
    int16_t low = a < b ? a : b;
    int16_t high = a < b ? b : a;

    return (uint16_t)((int16_t)(a & b) < 0 ? high : low);
}

/* The form of a min or max instruction, for all operands. */
struct ptxi_num_minmax {
    uint16_t inf;   /* infinity of the format */
    uint16_t flip;  /* max: all ones, to reverse the order */
    uint16_t least; /* .ftz: the smallest normal number, else 0 */
    uint16_t drop;  /* .xorsign.abs: the sign bit, else 0 */
    uint16_t nan;   /* .NaN: all ones, else 0 */
};

/* Converts a code to an integer with the order of the numbers, and back. -0 is below +0. */
static inline int16_t ptxi_num_order_half(uint16_t a, uint16_t flip)
{
    return (int16_t)(a ^ (uint16_t)((int16_t)a >> 15 & 0x7fff) ^ flip);
}

static inline uint16_t ptxi_num_minmax_half(uint16_t a, uint16_t b, struct ptxi_num_minmax how)
{
    uint16_t x = (a & 0x7fff) < how.least ? a & 0x8000 : a;
    uint16_t y = (b & 0x7fff) < how.least ? b & 0x8000 : b;
    uint16_t x_nan = (x & 0x7fff) > how.inf ? 0xffff : 0;
    uint16_t y_nan = (y & 0x7fff) > how.inf ? 0xffff : 0;
    uint16_t sign = (x ^ y) & how.drop, both = x_nan & y_nan, r;
    int16_t u, v;

    x &= (uint16_t)~how.drop;
    y &= (uint16_t)~how.drop;
    u = ptxi_num_order_half(x_nan ? y : x, how.flip);
    v = ptxi_num_order_half(y_nan ? x : y, how.flip);
    u = u < v ? u : v;
    r = (uint16_t)ptxi_num_order_half((uint16_t)u ^ how.flip, 0) | sign;
    return both | ((x_nan | y_nan) & how.nan) ? PTXI_NAN_F16 : r;
}

#endif
