/* Operands of kinds that are not in the recording, drawn from a seed: typical program data and other hard cases. See
 * matrix.h. */
#include "conformance/column.h"
#include "conformance/matrix.h"

#include <math.h>

enum kind {
    NORMAL,
    NARROW,
    COUNTS,
    NUMBERS, /* normal distribution, deviation 1 and 1/50; integers up to 8 and up to 2048 */
    HUGE_AND_TINY,
    PAIRS,          /* one value much larger than the others; neighbours with equal magnitudes and opposite signs */
    SUBNORMAL_SUMS, /* products at the lower end of C's range, and subnormal C */
    NANS,
    INFINITIES,
    SIGNED_ZEROS,
    AT_LIMIT, /* C near the largest number, products near its last place */
    EDGES,    /* codes near zero, the smallest normal number, infinity and NaN */
    LOW_BITS, /* ones in the last places and beyond the significant ones */
    SPREAD,
    TIES,
    RANDOM
};

static int bias_of(struct matrix_layout f)
{
    return (int)matrix_ones(f.exponent - 1);
}

/* Rounds to nearest. The result is finite. */
static uint64_t encode(struct matrix_layout f, double x)
{
    uint64_t sign = (uint64_t)(signbit(x) != 0) << (f.exponent + f.fraction),
             top = (matrix_ones(f.exponent) << f.fraction) - 1, m;
    int least = 1 - bias_of(f), e;

    frexp(x, &e);
    e = e - 1 < least ? least : e - 1;
    m = (uint64_t)nearbyint(ldexp(fabs(x), f.fraction - e)) + ((uint64_t)(e - least) << f.fraction);
    return sign | (m > top ? top : m);
}

static double uniform(uint64_t r)
{
    return ldexp((double)(r >> 11), -53);
}

static double normal(uint64_t r)
{
    return sqrt(-2 * log(1 - uniform(r))) * cos(6.283185307179586 * uniform(column_mix(r + 1)));
}

static uint64_t with_exponent(struct matrix_layout f, int e, uint64_t fraction, uint64_t r)
{
    int field = e + bias_of(f);

    field = field < 0 ? 0 : field > (int)matrix_ones(f.exponent) - 1 ? (int)matrix_ones(f.exponent) - 1 : field;
    return (r >> 63) << (f.exponent + f.fraction) | (uint64_t)field << f.fraction |
           (fraction & matrix_ones(f.fraction));
}

/* Rarely exceeds the largest number. Otherwise most results would be NaN. */
static uint64_t at_edge(struct matrix_layout f, uint64_t r)
{
    uint64_t infinity = matrix_ones(f.exponent) << f.fraction, smallest = (uint64_t)1 << f.fraction,
             above = r >> 16 & 127 ? 3 : 0;
    const uint64_t from[4] = { 2, smallest, infinity - above,
                               r >> 16 & 127 ? smallest : infinity | matrix_ones(f.fraction) };

    return ((from[r & 3] + (r >> 8) % 5 - 2) & matrix_ones(f.exponent + f.fraction)) | (r >> 63)
                                                                                           << (f.exponent + f.fraction);
}

/* The exponents of C, or of A and B for their products. */
static uint64_t near_end(struct matrix_layout f, bool c, int end, uint64_t r)
{
    return with_exponent(f, c ? end + (int)(r & 1) : (end < 0 ? end - (int)(r & 31) : end - (int)(r % 26)) / 2,
                         column_mix(r), r);
}

static uint64_t element(struct matrix_layout f, enum kind kind, bool c, uint64_t r, unsigned place)
{
    uint64_t s = column_mix(r + 77), sign = (r >> 63) << (f.exponent + f.fraction),
             infinity = matrix_ones(f.exponent) << f.fraction;
    int wide = f.exponent > 5 ? 12 : 6;

    switch (kind) {
    case NORMAL: return encode(f, normal(r));
    case NARROW: return encode(f, normal(r) / 50);
    case COUNTS: return encode(f, (double)(r % 17) - 8);
    case NUMBERS: return encode(f, (double)(r % 4097) - 2048);
    case HUGE_AND_TINY:
        return with_exponent(f, s % 16 ? (c ? -wide : -wide / 2) - (int)(s >> 8 & 3) : wide - (int)(s >> 8 & 1),
                             s >> 12, r);
    case PAIRS: return c && r & 1 ? sign : with_exponent(f, (int)(r >> 8 & 1), r >> 16 & 3 ? 0 : s, place % 2 ? ~r : r);
    case SUBNORMAL_SUMS:
        return c && s & 1 ? sign | (s >> 8 & matrix_ones(f.fraction))
                          : near_end(f, c,
                                     f.exponent == 8  ? -130
                                     : f.exponent > 8 ? -1026
                                                      : -18,
                                     r);
    case NANS: return s % 64 ? encode(f, normal(r)) : sign | infinity | (s >> 8 & matrix_ones(f.fraction));
    case INFINITIES: return s % 32 ? encode(f, normal(r)) : s & 64 ? sign : sign | infinity;
    case SIGNED_ZEROS: return s & 1 ? sign : c ? sign | ((s & 6) == 0) : with_exponent(f, 0, 0, r);
    case AT_LIMIT: return c ? sign | (infinity - 1 - (s & 3)) : near_end(f, c, bias_of(f), r);
    case EDGES: return at_edge(f, s);
    case LOW_BITS: return with_exponent(f, (int)(s & 3) - 2, matrix_ones(f.fraction) ^ (s >> 8 & s >> 32), r);
    case SPREAD: return with_exponent(f, (int)((s >> 8) % (unsigned)(2 * bias_of(f))) + 1 - bias_of(f), s >> 30, r);
    case TIES:
        return with_exponent(f, c ? (int)(s & 1) : -(int)(s % 7),
                             c ? s >> 8 & 3 : (uint64_t)1 << (s >> 8) % (unsigned)f.fraction, r);
    default: return r & matrix_ones(1 + f.exponent + f.fraction);
    }
}

static uint32_t integer(unsigned regime, uint64_t r)
{
    static const uint32_t extremes[4] = { 0x7f, 0x80, 0x81, 0xff };
    uint32_t word = 0;

    if (regime >= 12)
        return (uint32_t)r;
    for (unsigned at = 0; at < 32; at += 8, r = column_mix(r))
        word |= (regime < 6 ? (uint32_t)(r % 7 - 3) & 0xff : extremes[r & 3]) << at;
    return word;
}

static uint32_t integer_sum(unsigned regime, uint64_t r)
{
    if (regime < 8)
        return (uint32_t)(r % 2001) - 1000;
    return (r >> 63 ? 0x7fffffffu : 0x80000000u) ^ (uint32_t)(r & 0x1ffff) >> (r >> 40 & 15);
}

uint64_t matrix_other_value(enum matrix_values kind, unsigned regime, unsigned i)
{
    uint64_t r = column_mix((column_seed() + ((uint64_t)kind << 32 | regime << 16 | i)) * 0xd1342543de82ef95u),
             word = 0, same = r;
    struct matrix_layout f = matrix_layouts[kind];
    unsigned width = (unsigned)(1 + f.exponent + f.fraction), place = i;
    bool c = kind >= MATRIX_C_F16;

    switch (kind) {
    case MATRIX_BITS: return integer(regime, r);
    case MATRIX_C_S32: return integer_sum(regime, r);
    case MATRIX_F64: return element(f, (enum kind)regime, i & 1, r, place);
    default: break;
    }
    for (unsigned at = 0; at < 32; at += width, place += width < 32) {
        word |= element(f, (enum kind)regime, c, same, place) << at;
        r = column_mix(r + 1);
        same = regime == PAIRS && at / width % 2 == 0 ? same : r;
    }
    return word;
}
