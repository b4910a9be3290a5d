/* Rounding of one number to one format in any rounding mode of PTX, with integer arithmetic only. It implements the
 * operations that hosts do not have. */
#ifndef PTXI_NUM_ROUND_H
#define PTXI_NUM_ROUND_H

#include <stdbool.h>
#include <stdint.h>

enum ptxi_num_rounding { PTXI_NUM_RN, PTXI_NUM_RZ, PTXI_NUM_RM, PTXI_NUM_RP };

/* An IEEE binary format: the number of fraction bits, without the implicit one, and of exponent bits. */
struct ptxi_num_format {
    int fraction, exponent;
};
#define PTXI_NUM_F32 ((struct ptxi_num_format){ 23, 8 })
#define PTXI_NUM_F64 ((struct ptxi_num_format){ 52, 11 })

/* A finite number: (-1)^negative * magnitude * 2^exponent. */
struct ptxi_num_exact {
    bool negative;
    int exponent;
    unsigned __int128 magnitude;
};

static inline int ptxi_num_bias(struct ptxi_num_format f)
{
    return (1 << (f.exponent - 1)) - 1;
}

/* Unpacks a number that is not an infinity or a NaN. */
static inline struct ptxi_num_exact ptxi_num_unpack(struct ptxi_num_format f, uint64_t bits)
{
    uint64_t fraction = bits & (((uint64_t)1 << f.fraction) - 1);
    int exponent = (int)(bits >> f.fraction) & ((1 << f.exponent) - 1);

    if (exponent)
        fraction |= (uint64_t)1 << f.fraction;
    else
        exponent = 1;
    return (struct ptxi_num_exact){ bits >> (f.fraction + f.exponent) & 1, exponent - ptxi_num_bias(f) - f.fraction,
                                    fraction };
}

/* x >> n. If a set bit is shifted out, the lowest bit is set. */
static inline unsigned __int128 ptxi_num_shift_sticky(unsigned __int128 x, int n)
{
    if (n <= 0)
        return x << -n;
    if (n > 127)
        return x != 0;
    return x >> n | ((x & (((unsigned __int128)1 << n) - 1)) != 0);
}

static inline int ptxi_num_top_bit(unsigned __int128 x)
{
    uint64_t high = (uint64_t)(x >> 64);

    return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)x);
}

/* Rounds x and returns the bits in the format. A zero keeps its sign. */
static inline uint64_t ptxi_num_round(struct ptxi_num_format f, enum ptxi_num_rounding mode, struct ptxi_num_exact x)
{
    uint64_t sign = (uint64_t)x.negative << (f.fraction + f.exponent);
    uint64_t inf = (((uint64_t)1 << f.exponent) - 1) << f.fraction, bits;
    bool away = mode == (x.negative ? PTXI_NUM_RM : PTXI_NUM_RP);
    int least = 1 - ptxi_num_bias(f), top;
    uint64_t kept;
    unsigned rest; /* two bits: the half, and a sticky bit for the bits below */

    if (!x.magnitude)
        return sign;
    top = ptxi_num_top_bit(x.magnitude) + x.exponent;
    if (top < least)
        top = least;
    if (top > ptxi_num_bias(f))
        return sign | (mode == PTXI_NUM_RN || away ? inf : inf - 1);
    kept = (uint64_t)ptxi_num_shift_sticky(x.magnitude, top - f.fraction - 2 - x.exponent);
    /* The shift keeps two more bits than the format has. The lower one is sticky. */
    rest = kept & 3;
    kept >>= 2;
    if (mode == PTXI_NUM_RN)
        kept += rest > 2 || (rest == 2 && (kept & 1));
    else
        kept += away && rest;
    /* A carry out of the fraction increments the exponent, up to infinity. */
    bits = ((uint64_t)(top - least) << f.fraction) + kept;
    return sign | bits;
}

/* a * b + c, rounded once. All operands are finite. */
static inline uint64_t ptxi_num_fma_finite(struct ptxi_num_format f, enum ptxi_num_rounding mode, uint64_t a,
                                           uint64_t b,
                                           uint64_t c)
{
    struct ptxi_num_exact x = ptxi_num_unpack(f, a), y = ptxi_num_unpack(f, b), z = ptxi_num_unpack(f, c);
    int up;

    x.negative ^= y.negative;
    x.magnitude *= y.magnitude;
    x.exponent += y.exponent;
    if (!x.magnitude && !z.magnitude) {
        z.negative = x.negative == z.negative ? z.negative : mode == PTXI_NUM_RM;
        return ptxi_num_round(f, mode, z);
    }
    if (!x.magnitude)
        return c;
    if (!z.magnitude)
        return ptxi_num_round(f, mode, x);
    /* Both numbers are shifted up to the same top bit, with room for a carry. Then the smaller one is shifted down. If
     * this shifts out set bits, at most one bit of the larger number can cancel, so that the sticky bit stays far
     * below the bits that are kept. */
    up = 125 - ptxi_num_top_bit(x.magnitude);
    x.magnitude <<= up;
    x.exponent -= up;
    up = 125 - ptxi_num_top_bit(z.magnitude);
    z.magnitude <<= up;
    z.exponent -= up;
    if (x.exponent < z.exponent) {
        struct ptxi_num_exact t = x;

        x = z;
        z = t;
    }
    z.magnitude = ptxi_num_shift_sticky(z.magnitude, x.exponent - z.exponent);
    if (x.negative == z.negative) {
        x.magnitude += z.magnitude;
    } else if (x.magnitude == z.magnitude) {
        x = (struct ptxi_num_exact){ .negative = mode == PTXI_NUM_RM };
    } else if (x.magnitude > z.magnitude) {
        x.magnitude -= z.magnitude;
    } else {
        x.negative = z.negative;
        x.magnitude = z.magnitude - x.magnitude;
    }
    return ptxi_num_round(f, mode, x);
}

#endif
