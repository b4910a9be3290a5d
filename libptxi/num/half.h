/* f16 and bf16, one element. Arithmetic is done on floats, which hold either format exactly, and is rounded from there.
 *
 * f16 and bf16 have 11 and 8 bits. A sum or product rounded to the 24 bits of a float rounds on to those as the exact one
 * would, since a float has more than twice their bits and two more. A fused multiplication and addition has no such bound:
 * see ptxi_num_fma_odd_f32() and ptxi_num_off_tie_bf16(). */
#ifndef PTXI_NUM_HALF_H
#define PTXI_NUM_HALF_H

#include "num/convert.h"
#include "num/fma.h"

#define PTXI_OOB_NAN 0x7ff7u /* or with a sign: what a tensor copy puts where there is no tensor */

/* --- to floats and back, to nearest --- */
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

/* .ftz of f16 operands, as floats. */
static inline float ptxi_num_flush_f16(float x)
{
    uint32_t bits = ptxi_num_bits_f32(x), gone = (bits & 0x7fffffff) < 0x38800000 ? 0x7fffffff : 0;

    return ptxi_num_f32(bits & ~gone);
}

/* .ftz of a result that is yet to be rounded to f16: tiny is what would still be below 2^-14 if exponents had no lower limit. */
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
    return ptxi_num_bf16_from_f32(ptxi_num_bits_f32(ptxi_num_f32_from_bf16(a) + ptxi_num_f32_from_bf16(b)), PTXI_NUM_RN);
}

/* --- fused --- */
/* a * b + c where the product is exact as a float, rounded to odd: if it is not exact, to the neighbour with an odd last bit, so
 * that rounding it on to at least two bits less sees a tie only where there is one. */
static inline float ptxi_num_fma_odd_f32(float a, float b, float c)
{
    float p = a * b, s = p + c, t = s - p, error = (p - (s - t)) + (c - t);
    uint32_t bits = ptxi_num_bits_f32(s);
    uint32_t towards = (ptxi_num_bits_f32(error) ^ bits) >> 31 ? UINT32_MAX : 1;
    /* Also false for the NaN that an infinite sum makes of the error. */
    bool move = (error < 0.0f || error > 0.0f) && !(bits & 1);

    return ptxi_num_f32(bits + (move ? towards : 0));
}

/* s is a * b + c to nearest, of operands that are bf16. Unless it looks like a tie and is none, it rounds on as the exact
 * sum would. If it does, this is the next float on the sum's side. s then is so close to the sum that a * b - s is exact as a double,
 * and adding c to it gives the sign of what is missing. */
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
/* Of numbers, as integers: in the order of those, but if both are negative. */
static inline uint16_t ptxi_num_max_half(int16_t a, int16_t b)
{
    int16_t low = a < b ? a : b, high = a < b ? b : a;

    return (uint16_t)((int16_t)(a & b) < 0 ? low : high);
}

static inline uint16_t ptxi_num_min_half(int16_t a, int16_t b)
{
    int16_t low = a < b ? a : b, high = a < b ? b : a;

    return (uint16_t)((int16_t)(a & b) < 0 ? high : low);
}

/* Of anything. */
/* Which of them, by constants that all elements share. */
struct ptxi_num_minmax {
    uint16_t inf;   /* of the format */
    uint16_t flip;  /* max: all ones, which turns the order around */
    uint16_t least; /* .ftz: the smallest normal, else 0 */
    uint16_t drop;  /* .xorsign.abs: the sign bit */
    uint16_t nan;   /* .NaN: all ones */
};

/* Integers in the order of the numbers they stand for, -0 below +0; the same turns them back. */
static inline int16_t ptxi_num_order_half(uint16_t a, uint16_t flip)
{
    return (int16_t)(a ^ (uint16_t)((int16_t)a >> 15 & 0x7fff) ^ flip);
}

static inline uint16_t ptxi_num_minmax_half(uint16_t a, uint16_t b, struct ptxi_num_minmax how)
{
    uint16_t x = (a & 0x7fff) < how.least ? a & 0x8000 : a, y = (b & 0x7fff) < how.least ? b & 0x8000 : b;
    uint16_t x_nan = (x & 0x7fff) > how.inf ? 0xffff : 0, y_nan = (y & 0x7fff) > how.inf ? 0xffff : 0;
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
