/* Fused multiply-add for hosts that do not have it. */
#ifndef PTXI_NUM_FMA_H
#define PTXI_NUM_FMA_H

#include <math.h>

#include "num/float.h"
#include "num/round.h"

#if defined(__FMA__) || defined(__FP_FAST_FMA)
#define PTXI_NUM_HOST_FMA 1
#endif

/* The sum rounded to odd: an inexact sum becomes the neighbour with an odd last bit. Rounding that to fewer bits has
 * the result of rounding the exact sum. Signs of zeros are those of rounding to nearest. */
static inline double ptxi_num_sum_odd_f64(double p, double z)
{
    double s = p + z, t = s - p, error = (p - (s - t)) + (z - t);
    uint64_t bits = ptxi_num_bits_f64(s);
    uint64_t towards = (error < 0.0) == (s < 0.0) ? 1 : UINT64_MAX;

    /* This is also false if the error is a NaN, which happens if the sum is infinite. */
    bits += (error < 0.0 || error > 0.0) && !(bits & 1) ? towards : 0;
    return ptxi_num_f64(bits);
}

/* Rounds to nearest. The product of two floats is an exact double. */
static inline float ptxi_num_fma_f32_by_double(float a, float b, float c)
{
    return (float)ptxi_num_sum_odd_f64((double)a * b, c);
}

/* Any rounding. If the result is a NaN, the caller decides its bits. */
static inline float ptxi_num_fma_f32_by_integer(float a, float b, float c, enum ptxi_num_rounding mode)
{
    if (!isfinite(a) || !isfinite(b))
        return a * b + c;
    if (!isfinite(c)) /* the host's product might overflow into the opposite infinity */
        return c;
    return ptxi_num_f32((uint32_t)ptxi_num_fma_finite(PTXI_NUM_F32, mode, ptxi_num_bits_f32(a), ptxi_num_bits_f32(b),
                                                      ptxi_num_bits_f32(c)));
}

static inline double ptxi_num_fma_f64_by_integer(double a, double b, double c, enum ptxi_num_rounding mode)
{
    if (!isfinite(a) || !isfinite(b))
        return a * b + c;
    if (!isfinite(c))
        return c;
    return ptxi_num_f64(ptxi_num_fma_finite(PTXI_NUM_F64, mode, ptxi_num_bits_f64(a), ptxi_num_bits_f64(b),
                                            ptxi_num_bits_f64(c)));
}

static inline float ptxi_num_fma_f32(float a, float b, float c)
{
#ifdef PTXI_NUM_HOST_FMA
    return __builtin_fmaf(a, b, c);
#else
    return ptxi_num_fma_f32_by_double(a, b, c);
#endif
}

static inline double ptxi_num_fma_f64(double a, double b, double c)
{
#ifdef PTXI_NUM_HOST_FMA
    return __builtin_fma(a, b, c);
#else
    return ptxi_num_fma_f64_by_integer(a, b, c, PTXI_NUM_RN);
#endif
}

#endif
