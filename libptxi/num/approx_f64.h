/* rsqrt.approx.f64 without .ftz. The assembler generates one Newton step of third order after the unit's
 * approximation. PTX ISA, "Floating Point Instructions: rsqrt". */
#ifndef PTXI_NUM_APPROX_F64_H
#define PTXI_NUM_APPROX_F64_H

#include "num/approx.h"
#include "num/fma.h"

/* The operand, scaled if it is subnormal, because the unit flushes subnormal numbers. */
static inline double ptxi_num_rsqrt_operand_f64(uint64_t a)
{
    return a >> 52 & 0x7ff ? ptxi_num_f64(a) : ptxi_num_f64(a) * 0x1p54;
}

/* One step from y, the unit's result for x. x is positive and normal. */
static inline double ptxi_num_rsqrt_near_f64(double x, double y)
{
    double e = ptxi_num_fma_f64(x, -(y * y), 1.0);

    return ptxi_num_fma_f64(ptxi_num_fma_f64(e, 0.375, 0.5), y * e, y);
}

static inline uint64_t ptxi_num_rsqrt_approx_f64(uint64_t a)
{
    double x = ptxi_num_rsqrt_operand_f64(a), y = ptxi_num_f64(ptxi_num_rsqrt_approx_ftz_f64(ptxi_num_bits_f64(x)));
    double r = ptxi_num_rsqrt_near_f64(x, y);

    if (!(a << 1) || a == 0x7ff0000000000000)
        return ptxi_num_bits_f64(y);
    if (a >> 63 || ptxi_num_is_nan_f64(a))
        return ptxi_num_is_nan_f64(a) ? a | PTXI_QUIET_F64 : PTXI_NAN_F64;
    return ptxi_num_bits_f64(a >> 52 & 0x7ff ? r : r * 0x1p27);
}

#endif
