/* Minifloats: floating-point formats that are narrower than f32. A format is described as data, and all formats share
 * the code of conversions. The functions work on one element. If format and rounding are constants, there are no
 * branches, so that a loop over lanes becomes vector code. PTX ISA, "Alternate Floating-Point Data Formats".
 *
 * The host must round to nearest and keep subnormal numbers. */
#ifndef PTXI_NUM_MINIFLOAT_H
#define PTXI_NUM_MINIFLOAT_H

#include "num/float.h"
#include "num/round.h"

/* A code has a sign bit, `exponent` bits of exponent, and `fraction` bits of fraction, from high to low. */
struct ptxi_num_minifloat {
    int fraction, exponent, bias;
    uint32_t top; /* code of the largest number */
    uint32_t inf; /* code of infinity; `top` if the format has no infinity */
    uint32_t nan; /* code of the canonical NaN; `top` if the format has no NaN */
};

/*    name fraction exponent bias  top  infinity NaN */
#define PTXI_NUM_MINIFLOAT_FORMATS(X)                       \
    X(tf32, 10, 8, 127, 0x3fbff, 0x3fc00, 0x3ffff)      \
    X(f16,  10, 5,  15, 0x7bff,  0x7c00,  0x7fff)       \
    X(bf16,  7, 8, 127, 0x7f7f,  0x7f80,  0x7fff)       \
    X(e5m2,  2, 5,  15, 0x7b,    0x7c,    0x7f)         \
    X(e4m3,  3, 4,   7, 0x7e,    0x7e,    0x7f)         \
    X(e3m2,  2, 3,   3, 0x1f,    0x1f,    0x1f)         \
    X(e2m3,  3, 2,   1, 0x1f,    0x1f,    0x1f)         \
    X(e2m1,  1, 2,   1, 0x7,     0x7,     0x7)
#define X(name, ...) static const struct ptxi_num_minifloat ptxi_num_##name = { __VA_ARGS__ };
PTXI_NUM_MINIFLOAT_FORMATS(X)
#undef X
/* ue5m3 has no sign and no infinity: numbers that are too large become a NaN. */
static const struct ptxi_num_minifloat ptxi_num_ue5m3 = { 3, 5, 15, 0xfe, 0xff, 0xff };

static inline uint32_t ptxi_num_minifloat_sign(struct ptxi_num_minifloat f)
{
    return 1u << (f.fraction + f.exponent);
}

/* 2^(1 - bias), the smallest normal number, as f32. */
static inline uint32_t ptxi_num_minifloat_min_normal(struct ptxi_num_minifloat f)
{
    return (uint32_t)(128 - f.bias) << 23;
}

/* The number of units in a magnitude below the smallest normal number, rounded to nearest even. A unit is 2^-more of
 * the format's last place. The magnitude is added to the power of two with this unit in the last place. *error gets
 * the sign of the rounding error. */
static inline uint32_t ptxi_num_minifloat_units(struct ptxi_num_minifloat f, float x, int more, float *error)
{
    uint32_t one = (uint32_t)(151 - f.bias - f.fraction - more) << 23;
    float sum = x + ptxi_num_f32(one);

    *error = (sum - ptxi_num_f32(one)) - x;
    return ptxi_num_bits_f32(sum) - one;
}

/* The code of a magnitude, as if exponents had no upper limit. `away` is 1 if the rounding is directed and away from
 * zero. */
static inline uint32_t ptxi_num_minifloat_round(struct ptxi_num_minifloat f, uint32_t m, enum ptxi_num_rounding mode,
                                                uint32_t away)
{
    int drop = 23 - f.fraction;
    uint32_t half = 1u << (drop - 1), directed = (2 * half - 1) & -away;
    uint32_t add = mode == PTXI_NUM_RN ? half - 1 + (m >> drop & 1) : directed;
    uint32_t normal = ((m + add) >> drop) - ((uint32_t)(127 - f.bias) << f.fraction), tiny;
    float error;

    if (f.bias == 127)
        return normal;
    tiny = ptxi_num_minifloat_units(f, ptxi_num_f32(m), 0, &error);
    if (mode != PTXI_NUM_RN) {
        uint32_t up = error < 0.0f, down = error > 0.0f;

        tiny += (up & -away) - (down & (away - 1));
    }
    return (int32_t)m < (int32_t)ptxi_num_minifloat_min_normal(f) ? tiny : normal;
}

/* The f32 bits of a normal number with this code; and of the largest number. */
static inline uint32_t ptxi_num_minifloat_magnitude(struct ptxi_num_minifloat f, uint32_t code)
{
    return (code << (23 - f.fraction)) + ((uint32_t)(127 - f.bias) << 23);
}

static inline uint32_t ptxi_num_minifloat_max_f32(struct ptxi_num_minifloat f)
{
    return ptxi_num_minifloat_magnitude(f, f.top);
}

/* The code of a magnitude that is at most the largest number, rounded to nearest even. The magnitude is added to a
 * power of two with the last place of the code, or of the smallest codes, so that the sum counts units of the last
 * place. The code of the exponent is inserted into the last places of this power of two before the addition. */
static inline uint32_t ptxi_num_minifloat_nearest(struct ptxi_num_minifloat f, uint32_t m)
{
    uint32_t least = ptxi_num_minifloat_min_normal(f), drop = (uint32_t)(23 - f.fraction), e = m & 0x7f800000;

    e = (int32_t)e > (int32_t)least ? e : least;
    e += (e >> drop) + ((drop << 23) - (least >> drop));
    return ptxi_num_bits_f32(ptxi_num_f32(m) + ptxi_num_f32(e)) & (ptxi_num_minifloat_sign(f) - 1);
}

/* The code, in format s, of the number halfway between k and k + 1 units of f's smallest last place. */
static inline int16_t ptxi_num_minifloat_tie(struct ptxi_num_minifloat s, struct ptxi_num_minifloat f, int k)
{
    int halves = 2 * k + 1, top = 31 - __builtin_clz((unsigned)halves);

    return (int16_t)(((top - f.bias - f.fraction + s.bias) << s.fraction) +
                     ((halves - (1 << top)) << (s.fraction - top)));
}

/* The negative of the number of units of f's last place in a magnitude in format s, rounded to nearest even. The
 * magnitude is at most f's smallest normal number. */
static inline int16_t ptxi_num_minifloat_negated_units(struct ptxi_num_minifloat s, struct ptxi_num_minifloat f,
                                                       int16_t m)
{
    int16_t r = 0;

#define FROM(k) r = (int16_t)(r + (int16_t)-(m > ptxi_num_minifloat_tie(s, f, k) - ((k) & 1)))
    FROM(0);
    FROM(1);
    if (f.fraction > 1) {
        FROM(2);
        FROM(3);
    }
    if (f.fraction > 2) {
        FROM(4);
        FROM(5);
        FROM(6);
        FROM(7);
    }
#undef FROM
    return r;
}

/* Rounds a float to bf16, to odd: the upper half is odd if the lower half is not 0. Rounding the upper half to 6 bits
 * or less is the same as rounding the float. */
static inline uint32_t ptxi_num_odd_bf16(uint32_t a)
{
    return a | ((a & 0xffff) + 0xffff);
}

/* Converts a code of s, f16 or bf16, to a code of f with at most 8 bits, rounded to nearest even, in arithmetic of 16
 * bits. Numbers that are too large become the largest number. Below the smallest normal number, the formula for normal
 * numbers gives less than the number of units, so that the maximum of both is right. */
static inline uint16_t ptxi_num_minifloat_from_half(struct ptxi_num_minifloat s, struct ptxi_num_minifloat f,
                                                    uint16_t a)
{
    const int drop = s.fraction - f.fraction, top = (int)f.top;
    int16_t m = (int16_t)(a & 0x7fff), nan = (int16_t)((int16_t)((int16_t)s.inf - m) >> 15);
    int16_t negative = (int16_t)((int16_t)a >> 15), r;
    uint16_t odd = (uint16_t)((uint16_t)m >> drop & 1), sum = (uint16_t)((uint16_t)m + odd + ((1 << (drop - 1)) - 1));

    r = (int16_t)((sum >> drop) - ((s.bias - f.bias) << f.fraction));
    if (f.bias != s.bias) {
        int16_t units = (int16_t)-ptxi_num_minifloat_negated_units(s, f, m);

        r = r > units ? r : units;
    }
    r = (int16_t)(r < top ? r : top);
    if (f.nan != f.top)
        r = (int16_t)(r | (nan & (int16_t)f.nan));
    return (uint16_t)(r | (negative & ~nan & (int16_t)ptxi_num_minifloat_sign(f)));
}

/* 1 if a directed rounding of float `a` is away from zero, else 0. */
static inline uint32_t ptxi_num_rounds_away(uint32_t a, enum ptxi_num_rounding mode)
{
    switch (mode) {
    case PTXI_NUM_RM: return a >> 31;
    case PTXI_NUM_RP: return ~a >> 31;
    default: return 0;
    }
}

/* The code of a float. Numbers that are too large become infinite. With `finite`, they and infinities become the
 * largest number. */
static inline uint32_t ptxi_num_minifloat_from_f32(struct ptxi_num_minifloat f, uint32_t a, enum ptxi_num_rounding mode,
                                                   bool finite)
{
    uint32_t m = a & 0x7fffffff, sign = (a >> 31) << (f.fraction + f.exponent);
    uint32_t away = ptxi_num_rounds_away(a, mode);
    uint32_t r = ptxi_num_minifloat_round(f, m, mode, away);

    if (f.bias != 127 || finite) { /* else rounding has made all numbers that are too large infinite */
        uint32_t overflows = mode == PTXI_NUM_RN ? 1 : away | (m == 0x7f800000);
        uint32_t limit = finite ? f.top : f.top + ((f.inf - f.top) & -overflows);

        r = r < limit ? r : limit;
    }
    return ptxi_num_is_nan_f32(a) ? f.nan : r | sign;
}

/* .rs, stochastic rounding. `bits` random bits are added to the highest of the bits that are dropped. A carry rounds
 * away from zero. The PTX ISA does not define subnormal results and overflow. Here subnormal results are no special
 * case, and overflow is as in rounding to nearest: magnitudes are clamped to a limit.
 *
 * The range is opaque to the compiler, which would otherwise compute sums in two ways and select one. */
struct ptxi_num_stochastic_range {
    uint32_t limit;
    float least; /* smallest normal number */
};
static inline struct ptxi_num_stochastic_range ptxi_num_stochastic_range(struct ptxi_num_minifloat f, bool finite)
{
    struct ptxi_num_stochastic_range range = { ptxi_num_minifloat_magnitude(f, finite ? f.top : f.inf),
                                               ptxi_num_f32(ptxi_num_minifloat_min_normal(f)) };

    __asm__("" : "+m"(range));
    return range;
}

/* The code of a number with `bits` more bits below it, plus the random bits. */
static inline uint32_t ptxi_num_minifloat_stochastic_sum(struct ptxi_num_minifloat f, uint32_t a, uint32_t random,
                                                         int bits,
                                                         struct ptxi_num_stochastic_range range)
{
    uint32_t m = a & 0x7fffffff;
    int32_t r;

    m = (int32_t)m < (int32_t)range.limit ? m : range.limit;
    r = (int32_t)(m - ((uint32_t)(127 - f.bias) << 23)) >> (23 - f.fraction - bits);
    if (f.bias != 127) { /* or the number of units in the last place, at most that of the smallest normal number */
        float x = ptxi_num_f32(m), units = ptxi_num_f32((uint32_t)(126 + f.bias + f.fraction + bits) << 23);
        int32_t tiny = (int32_t)((x < range.least ? x : range.least) * units);

        r = r > tiny ? r : tiny;
    }
    return (uint32_t)r + random;
}

/* The code of a float, rounded stochastically. */
static inline uint32_t ptxi_num_minifloat_stochastic(struct ptxi_num_minifloat f, uint32_t a, uint32_t random, int bits,
                                                     struct ptxi_num_stochastic_range range)
{
    uint32_t sign = (a >> 31) << (f.fraction + f.exponent);
    uint32_t r = ptxi_num_minifloat_stochastic_sum(f, a, random, bits, range) >> bits;

    return ptxi_num_is_nan_f32(a) ? f.nan : r | sign;
}

/* Converts a code to a float, exactly. A NaN keeps its payload if the format has payloads. */
static inline uint32_t ptxi_num_f32_from_minifloat(struct ptxi_num_minifloat f, uint32_t code)
{
    int drop = 23 - f.fraction;
    uint32_t m = code & (ptxi_num_minifloat_sign(f) - 1), sign = code & ptxi_num_minifloat_sign(f) ? 0x80000000 : 0;
    /* A subnormal number is treated as a normal number with the lowest exponent. It is then too large by the smallest
     * normal number. */
    bool tiny = m < 1u << f.fraction;
    uint32_t excess = tiny ? ptxi_num_minifloat_min_normal(f) : 0;
    uint32_t bits = (m << drop) + ((uint32_t)(127 - f.bias) << 23);
    uint32_t r = ptxi_num_bits_f32(ptxi_num_f32(bits + (tiny ? 1u << 23 : 0)) - ptxi_num_f32(excess));

    if (f.nan != f.top) {
        uint32_t special = f.inf == f.top ? PTXI_NAN_F32 : m << drop | 0x7f800000;

        r = m > f.top ? special : r;
    }
    return r | sign;
}

/* The f16 code of m units of a format's last place is a piecewise linear function of m. The pieces are m = 2^k to 2^(k
 * + 1), each less steep than the one before, so that the code is the minimum of the lines. This is line k. */
static inline uint16_t ptxi_num_minifloat_line(struct ptxi_num_minifloat f, uint16_t m, int k)
{
    const int line = (16 - f.bias - f.fraction + k) * 1024 + (m - (1 << k)) * (1 << (10 - k));

    return k < f.fraction ? (uint16_t)line : UINT16_MAX;
}

/* x if a < b, else y, for numbers below 2^15. Compilers would widen a comparison. */
static inline uint16_t ptxi_num_pick_16(uint16_t a, uint16_t b, uint16_t x, uint16_t y)
{
    uint16_t less = (uint16_t)((int16_t)(a - b) >> 15);

    return (uint16_t)(y ^ ((x ^ y) & less));
}

/* Converts a code of at most 8 bits to f16, exactly, in arithmetic of 16 bits. A NaN becomes canonical. All numbers
 * except 0 are normal in f16, unless the format has the exponents of f16. */
static inline uint16_t ptxi_num_f16_from_minifloat(struct ptxi_num_minifloat f, uint16_t code)
{
    uint16_t m = (uint16_t)(code & (ptxi_num_minifloat_sign(f) - 1));
    uint16_t negative = (uint16_t)(code << (15 - f.exponent - f.fraction) & 0x8000);
    uint16_t r = (uint16_t)((m << (10 - f.fraction)) + ((15 - f.bias) << 10));

    if (f.bias != 15) {
        uint16_t x = ptxi_num_minifloat_line(f, m, 0);
        uint16_t y = ptxi_num_minifloat_line(f, m, 1), z = ptxi_num_minifloat_line(f, m, 2);

        x = x < y ? x : y;
        x = x < z ? x : z;
        r = ptxi_num_pick_16(m, 1u << f.fraction, x, r);
        r = ptxi_num_pick_16(m, 1, 0, r);
    }
    r |= negative;
    return f.nan != f.top ? ptxi_num_pick_16((uint16_t)f.inf, m, PTXI_NAN_F16, r) : r;
}

/* --- ue8m0: only an exponent. The value is 2^(code - 127), and 0xff is the NaN. Signs are ignored. --- */

/* Rounding up begins above 2^-127, the smallest number. The upper 9 bits of its float are 0. The code has sums and
 * shifts instead of comparisons, because compilers combine comparisons of 32 bits to wider ones. */
static inline uint32_t ptxi_num_ue8m0_from_f32(uint32_t a, bool up, bool finite)
{
    const int32_t infinity = 0x7f800000, least = 0x00400000, most = finite ? 0xfe : 0xff;
    const int32_t add = up ? 0x007fffff : 0;
    int32_t m = (int32_t)(a & 0x7fffffff), x = m < infinity ? m : infinity, e = ((x & (least - x) >> 31) + add) >> 23;

    return (uint32_t)((e < most ? e : most) | ((infinity - m) >> 31 & 0xff));
}

static inline uint16_t ptxi_num_ue8m0_from_bf16(uint16_t a, bool up, bool finite)
{
    const int16_t infinity = 0x7f80, most = finite ? 0xfe : 0xff;
    const int16_t add = up ? 0x7f : 0;
    int16_t m = (int16_t)(a & 0x7fff), x = m < infinity ? m : infinity, e;

    x = x > 0x0040 ? x : 0;
    e = (int16_t)((int16_t)(x + add) >> 7);
    e = e < most ? e : most;
    return (uint16_t)(e | (m > infinity ? 0xff : 0));
}

static inline uint16_t ptxi_num_bf16_from_ue8m0(uint16_t code)
{
    uint16_t least = code == 0 ? 0x0040 : 0;
    uint16_t nan = code == 0xff ? 0x007f : 0;

    return (uint16_t)(code << 7 | least | nan);
}

/* --- s2f6: a signed byte in units of 1/64, with a scale in ue8m0. PTX ISA, "Fixed-point Data format". --- */
enum { PTXI_NUM_S2F6_MAX = 127, PTXI_NUM_S2F6_MIN = -128 };

/* The range is opaque to the compiler, which would otherwise compute codes in three ways and select one. */
struct ptxi_num_s2f6_range {
    float least, most;
};
static inline struct ptxi_num_s2f6_range ptxi_num_s2f6_range(void)
{
    struct ptxi_num_s2f6_range range = { PTXI_NUM_S2F6_MIN, PTXI_NUM_S2F6_MAX };

    __asm__("" : "+m"(range));
    return range;
}

/* Rounds a number of 64ths to nearest even. A NaN becomes the largest number. */
static inline uint32_t ptxi_num_s2f6_of_units(float x, struct ptxi_num_s2f6_range range)
{
    float y = x < range.most ? x : range.most;

    y = y > range.least ? y : range.least;
    return ptxi_num_bits_f32(y + 0x1.8p23f) & 0xff;
}

/* The code of a / scale. If the scale is a NaN, the quotient is a NaN. The first product may become infinite or
 * subnormal. This does not matter, because the result would be clamped to the range or rounded to 0. */
static inline uint32_t ptxi_num_s2f6_from_f32(float a, uint32_t scale, struct ptxi_num_s2f6_range range)
{
    int32_t e = 254 - (int32_t)scale; /* exponent of 1 / scale, which is a normal f32 unless the scale is the largest */
    uint32_t inverse = (uint32_t)(e > 1 ? e : 1) << 23, factor = scale == 0xff ? PTXI_NAN_F32 : inverse;
    uint32_t units = e ? 0x42800000 : 0x42000000; /* 64, 32 */

    return ptxi_num_s2f6_of_units(a * ptxi_num_f32(factor) * ptxi_num_f32(units), range);
}

/* The same if 64 / scale is a normal f32. */
enum { PTXI_NUM_S2F6_PLAIN_LEAST = 6, PTXI_NUM_S2F6_PLAIN_MOST = 254 };
static inline uint32_t ptxi_num_s2f6_plain(float a, uint32_t scale, struct ptxi_num_s2f6_range range)
{
    return ptxi_num_s2f6_of_units(a * ptxi_num_f32((260 - scale) << 23), range);
}

/* The value of a code times the scale. It is exact unless it overflows. */
static inline uint32_t ptxi_num_bf16_from_s2f6(uint32_t code, uint32_t scale)
{
    float x = (float)((int32_t)(code << 24) >> 24) * 0x1p-6f * ptxi_num_f32(scale ? scale << 23 : 0x00400000);

    return scale != 0xff ? ptxi_num_bits_f32(x) >> 16 : ptxi_num_bf16.nan;
}

#endif
