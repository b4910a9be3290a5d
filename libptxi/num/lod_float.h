/* Numbers of 10 bits, with which levels of textures are found: magnitudes whose first bit is 1 and whose others are cut, as f64 that hold them. None of
 * this branches: of many at once it becomes vectors. */
#ifndef PTXI_NUM_LOD_FLOAT_H
#define PTXI_NUM_LOD_FLOAT_H

#include "num/float.h"

#include <stdbool.h>
#include <stdint.h>

enum { PTXI_ROUGH_BITS = 10, PTXI_ROUGH_UNUSED = 53 - PTXI_ROUGH_BITS };

static inline double ptxi_rough_cut(double x)
{
    return ptxi_num_f64(ptxi_num_bits_f64(x) >> PTXI_ROUGH_UNUSED << PTXI_ROUGH_UNUSED);
}

/* What is greater than any number; sums and products with it are no more than that. */
#define PTXI_ROUGH_INFINITY 0x1p128

/* The magnitude; NaN and subnormals count as 0, and from 2^97 on numbers as infinite. */
static inline double ptxi_rough_of(float x)
{
    const uint64_t rebias = (uint64_t)(1023 - 127) << 52;
    const uint32_t bits = ptxi_num_bits_f32(x) & 0x7fffffff, taken = bits < 0x70000000 ? bits : 0x7f800000;

    return ptxi_num_f64(bits < 0x00800000 || bits > 0x7f800000 ? 0 : ((uint64_t)(taken >> 14) << PTXI_ROUGH_UNUSED) + rebias);
}

/* The number is its 10 bits times that power of two. */
static inline int32_t ptxi_rough_mantissa(double r)
{
    return (int32_t)(ptxi_num_bits_f64(r) >> PTXI_ROUGH_UNUSED & 511) | 512;
}

static inline double ptxi_rough_unit(double r)
{
    return ptxi_num_f64(ptxi_num_bits_f64(r) >> 52 << 52) * 0x1p-9;
}

static inline double ptxi_rough_greater(double a, double b)
{
    return a < b ? b : a;
}

static inline double ptxi_rough_less(double a, double b)
{
    return a < b ? a : b;
}

/* The partial products lack their 6 lowest bits, for which a constant stands. */
static inline double ptxi_rough_product(double a, double b)
{
    const int32_t m = ptxi_rough_mantissa(a), n = ptxi_rough_mantissa(b);
    int32_t p = m * n + (7 << 6);

    for (int k = 0; k < 6; k++)
        p -= (m << k & 63) & -(n >> k & 1);
    return a * b > 0 ? ptxi_rough_less(ptxi_rough_cut(p * (ptxi_rough_unit(a) * ptxi_rough_unit(b))), PTXI_ROUGH_INFINITY) : 0;
}

/* Times so many 1024ths. */
static inline double ptxi_rough_times(double a, int32_t by)
{
    return a > 0 ? ptxi_rough_cut((ptxi_rough_mantissa(a) * by + 256) * (ptxi_rough_unit(a) * 0x1p-10)) : 0;
}

/* The sum, or the difference, for which the lesser number is cut to halves of the greater one's last bit. */
static inline double ptxi_rough_sum(double a, double b, bool differ)
{
    const double more = ptxi_rough_greater(a, b), less = ptxi_rough_less(a, b);
    const double inverse = ptxi_num_f64((UINT64_C(2046) << 52) - (ptxi_num_bits_f64(more) >> 52 << 52)); /* of the greater one's first bit */
    const double cut = (int32_t)(less * inverse * 1024) * (ptxi_rough_unit(more) * 0.5);
    const uint64_t which = -(uint64_t)differ; /* a mask: compilers would branch */

    return ptxi_rough_less(ptxi_rough_cut(more + ptxi_num_f64((ptxi_num_bits_f64(-cut) & which) | (ptxi_num_bits_f64(less) & ~which))), PTXI_ROUGH_INFINITY);
}

/* Of a vector: the greatest coordinate, 11/32 of the next one and 1/4 of the third. Of the sum or difference of two, 11/16 of that: as long is
 * the ellipse that they span, seen from between them. */
static inline double ptxi_rough_length(double x, double y, double z, bool between)
{
    const double more = ptxi_rough_greater(x, y), less = ptxi_rough_less(x, y);
    const double first = ptxi_rough_greater(more, z), rest = ptxi_rough_less(more, z);
    const double second = ptxi_rough_greater(less, rest), third = ptxi_rough_less(less, rest);

    if (between)
        return ptxi_rough_sum(ptxi_rough_times(first, 704), ptxi_rough_sum(ptxi_rough_times(second, 968) / 4, ptxi_rough_times(third, 704) / 4, false), false);
    return ptxi_rough_sum(first, ptxi_rough_sum(ptxi_rough_times(second, 704) / 2, third / 4, false), false);
}

/* 256ths of the logarithm to base 2 of 1, 1 + 1/256, ...: texture_level.c. */
extern const uint8_t ptxi_rough_logarithms[256];

/* 256ths; far below 0 of 0. */
static inline int32_t ptxi_rough_logarithm(double r)
{
    const uint64_t bits = ptxi_num_bits_f64(r);

    return bits ? ((int32_t)(bits >> 52) - 1023) * 256 + ptxi_rough_logarithms[bits >> 44 & 255] : INT16_MIN;
}

#endif
