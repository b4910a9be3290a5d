/* LOD floats: the numbers in which a GPU computes the level of detail (LOD) of textures. They are magnitudes with 10
 * significant bits, truncated, and are stored as f64. No function branches, so that a loop over lanes becomes vector
 * code. */
#ifndef PTXI_NUM_LOD_FLOAT_H
#define PTXI_NUM_LOD_FLOAT_H

#include "num/float.h"

#include <stdbool.h>
#include <stdint.h>

enum { PTXI_NUM_LOD_BITS = 10, PTXI_NUM_LOD_DROPPED = 53 - PTXI_NUM_LOD_BITS };

static inline double ptxi_num_lod_truncate(double x)
{
    return ptxi_num_f64(ptxi_num_bits_f64(x) >> PTXI_NUM_LOD_DROPPED << PTXI_NUM_LOD_DROPPED);
}

/* Greater than any number. It is the limit of sums and products. */
#define PTXI_NUM_LOD_INFINITY 0x1p128

/* The magnitude of x. NaNs and subnormal numbers count as 0, and numbers from 2^97 on as infinite. */
static inline double ptxi_num_lod_from_f32(float x)
{
    const uint64_t rebias = (uint64_t)(1023 - 127) << 52;
    const uint32_t bits = ptxi_num_bits_f32(x) & 0x7fffffff, limited = bits < 0x70000000 ? bits : 0x7f800000;
    const uint64_t r = ((uint64_t)(limited >> 14) << PTXI_NUM_LOD_DROPPED) + rebias;

    return ptxi_num_f64(bits < 0x00800000 || bits > 0x7f800000 ? 0 : r);
}

/* A number is its significand, 10 bits, times its unit in the last place. */
static inline int32_t ptxi_num_lod_significand(double r)
{
    return (int32_t)(ptxi_num_bits_f64(r) >> PTXI_NUM_LOD_DROPPED & 511) | 512;
}

static inline double ptxi_num_lod_ulp(double r)
{
    return ptxi_num_f64(ptxi_num_bits_f64(r) >> 52 << 52) * 0x1p-9;
}

static inline double ptxi_num_lod_max(double a, double b)
{
    return a < b ? b : a;
}

static inline double ptxi_num_lod_min(double a, double b)
{
    return a < b ? a : b;
}

/* The multiplier drops the 6 lowest bits of the partial products and adds a constant instead. */
static inline double ptxi_num_lod_product(double a, double b)
{
    const int32_t m = ptxi_num_lod_significand(a), n = ptxi_num_lod_significand(b);
    int32_t p = m * n + (7 << 6);

    for (int k = 0; k < 6; k++)
        p -= (m << k & 63) & -(n >> k & 1);
    const double r = ptxi_num_lod_truncate(p * (ptxi_num_lod_ulp(a) * ptxi_num_lod_ulp(b)));

    return a * b > 0 ? ptxi_num_lod_min(r, PTXI_NUM_LOD_INFINITY) : 0;
}

/* a * by / 1024. */
static inline double ptxi_num_lod_scale(double a, int32_t by)
{
    const double r = (ptxi_num_lod_significand(a) * by + 256) * (ptxi_num_lod_ulp(a) * 0x1p-10);

    return a > 0 ? ptxi_num_lod_truncate(r) : 0;
}

/* The sum, or the difference. For a difference, the smaller number is truncated to half a unit in the last place of
 * the greater one. */
static inline double ptxi_num_lod_sum(double a, double b, bool differ)
{
    const double more = ptxi_num_lod_max(a, b), less = ptxi_num_lod_min(a, b);
    /* the inverse of the top bit of `more` */
    const double inverse = ptxi_num_f64((UINT64_C(2046) << 52) - (ptxi_num_bits_f64(more) >> 52 << 52));
    const double cut = (int32_t)(less * inverse * 1024) * (ptxi_num_lod_ulp(more) * 0.5);
    const uint64_t mask = -(uint64_t)differ; /* instead of a condition, for which the compiler would branch */
    const double addend = ptxi_num_f64((ptxi_num_bits_f64(-cut) & mask) | (ptxi_num_bits_f64(less) & ~mask));

    return ptxi_num_lod_min(ptxi_num_lod_truncate(more + addend), PTXI_NUM_LOD_INFINITY);
}

/* The length of a vector: the greatest coordinate plus 11/32 of the next one plus 1/4 of the third. With `between`,
 * the vector is the sum or difference of two, and the length is 11/16 of that. This is the extent, in their direction,
 * of the ellipse that the two vectors span. */
static inline double ptxi_num_lod_length(double x, double y, double z, bool between)
{
    const double more = ptxi_num_lod_max(x, y), less = ptxi_num_lod_min(x, y);
    const double first = ptxi_num_lod_max(more, z), rest = ptxi_num_lod_min(more, z);
    const double second = ptxi_num_lod_max(less, rest), third = ptxi_num_lod_min(less, rest);

    if (between) {
        const double others = ptxi_num_lod_sum(ptxi_num_lod_scale(second, 968) / 4, ptxi_num_lod_scale(third, 704) / 4,
                                               false);

        return ptxi_num_lod_sum(ptxi_num_lod_scale(first, 704), others, false);
    }
    return ptxi_num_lod_sum(first, ptxi_num_lod_sum(ptxi_num_lod_scale(second, 704) / 2, third / 4, false), false);
}

/* The logarithms to base 2 of 1, 1 + 1/256, ..., in 256ths: texture_lod.c. */
extern const uint8_t ptxi_num_lod_log2_table[256];

/* The logarithm to base 2 in 256ths. It is far below 0 for r == 0. */
static inline int32_t ptxi_num_lod_log2(double r)
{
    const uint64_t bits = ptxi_num_bits_f64(r);

    return bits ? ((int32_t)(bits >> 52) - 1023) * 256 + ptxi_num_lod_log2_table[bits >> 44 & 255] : INT16_MIN;
}

#endif
