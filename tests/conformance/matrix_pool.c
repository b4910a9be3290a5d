/* Operands of matrix instructions, by regime. See matrix.h. */
#include "conformance/column.h"
#include "conformance/matrix.h"

const char *const matrix_value_names[MATRIX_VALUES] = { "f16",  "bf16", "tf32", "e4m3",  "e5m2",     "bits",  "cf16",
                                                        "cf32", "cs32", "f64",  "pairs", "anypairs", "halves" };

/* The element distributions of the regimes. */
enum regime {
    ANY,         /* any bits */
    FINITE,      /* no infinities or NaNs */
    NEAR_1, NEAR_4, NEAR_12, NEAR_26, /* exponents within this distance of 0; twice the distance for C */
    FEW,         /* mostly zeros of both signs */
    CANCELLING,  /* few magnitudes, so sums are small or zero */
    SUBNORMAL,   /* or fairly large */
    LARGE,       /* near overflow */
    SMALL,       /* near the smallest results */
    SPECIAL,     /* occasional infinities or NaNs */
    ZEROS,       /* occasional smallest numbers */
    INTEGERS,    /* small exponents */
    POWERS,      /* two exponents, far apart */
    FULL         /* fractions with all bits set */
};

const struct matrix_layout matrix_layouts[MATRIX_VALUES] = {
    [MATRIX_F16] = { 5, 10 }, [MATRIX_BF16] = { 8, 7 },   [MATRIX_TF32] = { 8, 23 },  [MATRIX_E4M3] = { 4, 3 },
    [MATRIX_E5M2] = { 5, 2 }, [MATRIX_C_F16] = { 5, 10 }, [MATRIX_C_F32] = { 8, 23 }, [MATRIX_F64] = { 11, 52 },
};

/* The exponents of a regime. For C they are relative to the products of A and B. */
static void exponents(struct matrix_layout f, enum regime regime, bool c, int *least, int *most)
{
    static const int16_t near[] = { 1, 4, 12, 26 };
    int bias = (int)matrix_ones(f.exponent - 1);
    bool narrow = f.exponent < 8;

    *most = bias;
    *least = 1 - bias;
    if (regime >= NEAR_1 && regime <= NEAR_26)
        *least = -(*most = near[regime - NEAR_1] << c);
    else if (regime == LARGE)
        *least = c || narrow ? bias - 5 : bias / 2 - 6, *most = c || narrow ? bias : bias / 2 + 3;
    else if (regime == SMALL)
        *least = c || narrow ? -bias : -bias / 2 - 17, *most = c || narrow ? 6 - bias : 1 - bias / 2;
    else if (regime == INTEGERS || regime == FULL)
        *least = 0, *most = 2;
}

static uint64_t number(struct matrix_layout f, enum regime regime, bool c, uint64_t r)
{
    int bias = (int)matrix_ones(f.exponent - 1), least, most, e;
    uint64_t sign = (r >> 63) << (f.exponent + f.fraction), fraction = column_mix(r) & matrix_ones(f.fraction);

    exponents(f, regime, c, &least, &most);
    e = least + (int)((r >> 8) % (unsigned)(most - least + 1)) + bias;
    e = e < 0 ? 0 : e > 2 * bias ? 2 * bias : e;
    if (regime == POWERS)
        fraction = 0;
    if (regime == INTEGERS)
        fraction &= ~matrix_ones(f.fraction - 2);
    if (regime == FULL)
        fraction = matrix_ones(f.fraction) & ~(r >> 20 & 1);
    return sign | (uint64_t)e << f.fraction | fraction;
}

static uint64_t special(struct matrix_layout f, uint64_t r)
{
    uint64_t top = matrix_ones(f.exponent) << f.fraction, fraction = matrix_ones(f.fraction);
    const uint64_t codes[8] = { top, top | fraction, top | 1, top | (fraction / 2 + 1), top - 1, 0, 1, top };

    return codes[r >> 20 & 7] | (r >> 63) << (f.exponent + f.fraction);
}

static uint64_t element(struct matrix_layout f, enum regime regime, bool c, uint64_t r)
{
    uint64_t bias = matrix_ones(f.exponent - 1), one = bias << f.fraction,
             sign = (r >> 63) << (f.exponent + f.fraction);
    unsigned step = f.exponent < 5 ? 4 : 12;

    switch (regime) {
    case ANY: return r & matrix_ones(1 + f.exponent + f.fraction);
    case FEW: return r & 7 ? sign : number(f, NEAR_12, c, r);
    case CANCELLING:
        if (c && r & 4)
            return 0;
        return sign | (r & 1 ? one : one - ((uint64_t)(r >> 20 & 1 ? step : step / 2) << f.fraction)) |
               (r >> 30 & 7 ? 0 : 1);
    case SUBNORMAL: return sign | (r & 1 ? column_mix(r) & matrix_ones(f.fraction) : number(f, NEAR_12, c, r));
    case SPECIAL: return r & 31 ? number(f, NEAR_4, c, r) : special(f, r);
    case ZEROS: return sign | !(r & 15);
    default:
        if (c && !(r & 3)) /* C is zero half of the time */
            return r & 4 ? sign : 0;
        return number(f, regime, c, r);
    }
}

/* Integers: any bits, or all elements equal, or each one of two extremes. */
static uint32_t bits(unsigned regime, uint64_t r)
{
    static const uint32_t same[8] = { 0,          0x7f7f7f7f, 0x80808080, 0xffffffff,
                                      0x77777777, 0x88888888, 0x01010101, 0x807f807f };

    if (regime < 10)
        return (uint32_t)r;
    if (regime < 12)
        return (uint32_t)(r & r >> 32);
    return same[r & (regime == 12 ? 1 : 7)] ^ (regime == 15 && !(r >> 8 & 3) ? (uint32_t)(r >> 32) : 0);
}

static uint32_t accumulator(unsigned regime, uint64_t r)
{
    if (regime < 6)
        return (uint32_t)r;
    if (regime < 10)
        return (uint32_t)((int32_t)r >> (r >> 40 & 31));
    return (r >> 63 ? 0x7fffffffu : 0x80000000u) ^ (uint32_t)(r & 0xffff) >> (r >> 32 & 15);
}

/* 4 bits for each of 8 chunks. */
static uint32_t metadata(enum matrix_values kind, unsigned regime, uint64_t r)
{
    static const uint8_t pairs[12] = { 0x4, 0x8, 0x9, 0xc, 0xd, 0xe, 0x1, 0x2, 0x6, 0x3, 0x7, 0xb },
                         halves[2] = { 0x4, 0xe };
    uint32_t word = 0;

    for (unsigned i = 0; i < 32; i += 4, r = column_mix(r))
        word |= (uint32_t)(kind == MATRIX_HALVES
                               ? halves[r & 1]
                               : pairs[(r >> 8) % (kind == MATRIX_PAIRS_ANY && regime == INTEGERS ? 12 : 6)])
                << i;
    return word;
}

uint64_t matrix_value(enum matrix_values kind, unsigned regime, unsigned i)
{
    uint64_t r = column_mix(((uint64_t)kind << 32 | regime << 16 | i) + 0x9e3779b97f4a7c15 * (column_seed() + 1)),
             word = 0;
    struct matrix_layout f = matrix_layouts[kind];
    unsigned width = (unsigned)(1 + f.exponent + f.fraction);
    bool c = kind >= MATRIX_C_F16;

    if (kind >= MATRIX_PAIRS)
        return metadata(kind, regime, r);
    if (column_seed())
        return matrix_other_value(kind, regime, i);
    switch (kind) {
    case MATRIX_BITS: return bits(regime, r);
    case MATRIX_C_S32: return accumulator(regime, r);
    case MATRIX_F64: return element(f, (enum regime)regime, i & 1, r);
    default: break;
    }
    for (unsigned at = 0; at < 32; at += width, r = column_mix(r + 1))
        word |= element(f, (enum regime)regime, c, r) << at;
    return word;
}
