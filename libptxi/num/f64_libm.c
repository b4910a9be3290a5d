#include "num/f64_libm.h"

#include "num/float.h"
#include "num/round.h"

#include <assert.h>
#include <math.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* c[0] + c[1] x + ... + c[n - 1] x^(n - 1) */
static double polynomial(const double *c, unsigned n, double x)
{
    double sum = c[--n];

    while (n--)
        sum = sum * x + c[n];
    return sum;
}

/* ---- ex2: 2^n times the series of e^t, where |t| <= ln(2) / 2 */

static double power_of_two(int n)
{
    return ptxi_num_f64((uint64_t)(n + 1023) << 52);
}

double ptxi_num_ex2_f64(double x)
{
    static const double series[] = {
        1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800,
        1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800,
    };

    if (!(x < 1024.0))
        return x + INFINITY;
    if (x < -1076.0)
        return 0.0;
    int n = (int)(x + (x < 0 ? -0.5 : 0.5));
    double t = (x - n) * 0x1.62e42fefa39efp-1, e = 1.0 + t * polynomial(series, COUNT(series), t);

    return e * power_of_two(n / 2) * power_of_two(n - n / 2); /* two factors, because 2^n may be out of range */
}

/* ---- lg2: the exponent plus 2 atanh((m - 1) / (m + 1)) for a significand m near 1 */

double ptxi_num_lg2_f64(double x)
{
    static const double series[] = { 1.0, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11,
                                     1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23 };
    uint64_t bits = ptxi_num_bits_f64(x);
    int exponent = 0;

    if (!(x > 0.0))
        return x == 0.0 ? -INFINITY : NAN;
    if (x == INFINITY)
        return x;
    if (bits >> 52 == 0) {
        bits = ptxi_num_bits_f64(x * 0x1p54);
        exponent = -54;
    }
    uint64_t above = bits - ptxi_num_bits_f64(0x1.6a09e667f3bcdp-1); /* relative to sqrt(1/2) */

    exponent += (int)((int64_t)above >> 52);
    double m = ptxi_num_f64((above & 0xfffffffffffff) + ptxi_num_bits_f64(0x1.6a09e667f3bcdp-1));
    double f = (m - 1.0) / (m + 1.0);

    return exponent + f * polynomial(series, COUNT(series), f * f) * 0x1.71547652b82fep+1;
}

/* ---- sin: the octant of the angle and its offset in the octant */

/* The binary digits of 2 / pi after the point. */
static const uint64_t two_over_pi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};

/* 64 digits from digit i on. The first one has the weight 2^-(i + 1). */
static uint64_t digits(unsigned i)
{
    unsigned word = i / 64, bit = i % 64;

    assert(word + 1 < COUNT(two_over_pi));
    return bit ? two_over_pi[word] << bit | two_over_pi[word + 1] >> (64 - bit) : two_over_pi[word];
}

struct angle {
    unsigned quadrant;
    double from, rest; /* offset from the nearest end of the quadrant, in radians, as a sum; |from| <= pi / 4 */
};

/* Converts x = m 2^e to m (2/pi) 2^e right angles. Multiples of four right angles do not count, and 192 digits hold
 * the rest (M. Payne and R. Hanek, "Radian Reduction for Trigonometric Functions", 1983). x is finite and |x| >= 0.5.
 */
static struct angle reduce(double x)
{
    struct ptxi_num_exact exact = ptxi_num_unpack(PTXI_NUM_F64, ptxi_num_bits_f64(x));
    uint64_t m = (uint64_t)exact.magnitude;
    int e = exact.exponent;
    unsigned first = e > 2 ? (unsigned)e - 2 : 0;
    unsigned fraction_digits = first + 192 - (unsigned)e; /* of the product, after the point */
    unsigned __int128 low = (unsigned __int128)m * digits(first + 128);
    unsigned __int128 middle = (unsigned __int128)m * digits(first + 64) + (low >> 64);
    unsigned __int128 high = (unsigned __int128)m * digits(first) + (middle >> 64);

    /* The 245 bits of the product are shifted so that 126 of the upper 128 bits are after the point. */
    unsigned left = 254 - fraction_digits; /* 9 to 64 */
    unsigned __int128 lower = middle << 64 | (uint64_t)low, turns = high << left | lower >> (128 - left);
    unsigned quadrant = (unsigned)(turns >> 126);
    unsigned __int128 part = turns & (((unsigned __int128)1 << 126) - 1);
    bool back = part >> 125;

    if (back) {
        part = ((unsigned __int128)1 << 126) - part;
        quadrant++;
    }
    /* The radians are 64 bits of the fraction times 64 bits of pi / 2. */
    int top = part ? ptxi_num_top_bit(part) : 0;
    uint64_t upper = (uint64_t)(part << (127 - top) >> 64);
    uint64_t radians = (uint64_t)((unsigned __int128)upper * 0xc90fdaa22168c235 >> 64) >> 1;
    double scale = ptxi_num_f64((uint64_t)(1023 + top - 126 - 61) << 52) * (back ? -1.0 : 1.0), from = (double)radians;
    struct angle a = { quadrant & 3, from * scale, (double)((int64_t)radians - (int64_t)from) * scale };

    if (exact.negative) {
        a.quadrant = -a.quadrant & 3;
        a.from = -a.from;
        a.rest = -a.rest;
    }
    return a;
}

static double sine(double r, double rest)
{
    static const double series[] = { -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800,
                                     -1.0 / 1307674368000, 1.0 / 355687428096000 };
    double z = r * r;

    return r + (r * z * polynomial(series, COUNT(series), z) + rest * (1.0 - 0.5 * z));
}

static double cosine(double r, double rest)
{
    static const double series[] = {
        1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000,
        -1.0 / 6402373705728000,
    };
    double z = r * r, half = 0.5 * z, w = 1.0 - half;

    return w + ((1.0 - w - half) + (z * z * polynomial(series, COUNT(series), z) - r * rest));
}

/* The sine of x plus a number of right angles. */
static double turned_sine(double x, unsigned quadrants)
{
    struct angle a = fabs(x) < 0.5 ? (struct angle){ 0, x, 0.0 } : reduce(x);
    unsigned quadrant = (unsigned)a.quadrant + quadrants;
    double r = quadrant & 1 ? cosine(a.from, a.rest) : sine(a.from, a.rest);

    return quadrant & 2 ? -r : r;
}

double ptxi_num_sin_f64(double x)
{
    if (x == 0.0 || !isfinite(x))
        return x == 0.0 ? x : NAN;
    return turned_sine(x, 0);
}

double ptxi_num_cos_f64(double x)
{
    return isfinite(x) ? turned_sine(x, 1) : NAN;
}
