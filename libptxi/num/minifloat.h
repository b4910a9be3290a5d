/* Floating-point formats narrower than f32: described as data, converted by common code. One element, no branches that would
 * keep a loop over lanes from becoming vector code, provided that format and rounding are constants. PTX ISA, "Alternate
 * Floating-Point Data Formats".
 *
 * Expects the host to round to nearest and to keep subnormals. */
#ifndef PTXI_NUM_MINIFLOAT_H
#define PTXI_NUM_MINIFLOAT_H

#include "num/float.h"
#include "num/round.h"

/* A code is a sign above `exponent` bits of exponent above `fraction` bits. */
struct ptxi_num_small {
    int fraction, exponent, bias;
    uint32_t top; /* the largest number */
    uint32_t inf; /* infinity; top where there is none */
    uint32_t nan; /* what a NaN becomes; top where there is none */
};

/*    name fraction exponent bias  top  infinity NaN */
#define PTXI_NUM_SMALL_FORMATS(X)                       \
    X(tf32, 10, 8, 127, 0x3fbff, 0x3fc00, 0x3ffff)      \
    X(f16,  10, 5,  15, 0x7bff,  0x7c00,  0x7fff)       \
    X(bf16,  7, 8, 127, 0x7f7f,  0x7f80,  0x7fff)       \
    X(e5m2,  2, 5,  15, 0x7b,    0x7c,    0x7f)         \
    X(e4m3,  3, 4,   7, 0x7e,    0x7e,    0x7f)         \
    X(e3m2,  2, 3,   3, 0x1f,    0x1f,    0x1f)         \
    X(e2m3,  3, 2,   1, 0x1f,    0x1f,    0x1f)         \
    X(e2m1,  1, 2,   1, 0x7,     0x7,     0x7)
#define X(name, ...) static const struct ptxi_num_small ptxi_num_##name = { __VA_ARGS__ };
PTXI_NUM_SMALL_FORMATS(X)
#undef X

static inline uint32_t ptxi_num_small_sign(struct ptxi_num_small f)
{
    return 1u << (f.fraction + f.exponent);
}

/* 2^(1 - bias), the smallest normal number, as f32. */
static inline uint32_t ptxi_num_small_least(struct ptxi_num_small f)
{
    return (uint32_t)(128 - f.bias) << 23;
}

/* A magnitude below that, counted in units of 2^-more of the format's last place, to nearest even: it is added to a power of
 * two whose own last place is that unit. *error has the sign of what rounding has added. */
static inline uint32_t ptxi_num_small_units(struct ptxi_num_small f, float x, int more, float *error)
{
    uint32_t one = (uint32_t)(151 - f.bias - f.fraction - more) << 23;
    float sum = x + ptxi_num_f32(one);

    *error = (sum - ptxi_num_f32(one)) - x;
    return ptxi_num_bits_f32(sum) - one;
}

/* The code of a magnitude, as if exponents had no upper limit; away is 1 where a directed rounding is away from zero. */
static inline uint32_t ptxi_num_small_round(struct ptxi_num_small f, uint32_t m, enum ptxi_num_rounding mode, uint32_t away)
{
    int drop = 23 - f.fraction;
    uint32_t half = 1u << (drop - 1), directed = (2 * half - 1) & -away;
    uint32_t add = mode == PTXI_NUM_RN ? half - 1 + (m >> drop & 1) : directed;
    uint32_t normal = ((m + add) >> drop) - ((uint32_t)(127 - f.bias) << f.fraction), tiny;
    float error;

    if (f.bias == 127)
        return normal;
    tiny = ptxi_num_small_units(f, ptxi_num_f32(m), 0, &error);
    if (mode != PTXI_NUM_RN) {
        uint32_t up = error < 0.0f, down = error > 0.0f;

        tiny += (up & -away) - (down & (away - 1));
    }
    return (int32_t)m < (int32_t)ptxi_num_small_least(f) ? tiny : normal;
}

/* The code of a number as f32; and of the largest one. */
static inline uint32_t ptxi_num_small_magnitude(struct ptxi_num_small f, uint32_t code)
{
    return (code << (23 - f.fraction)) + ((uint32_t)(127 - f.bias) << 23);
}

static inline uint32_t ptxi_num_small_limit(struct ptxi_num_small f)
{
    return ptxi_num_small_magnitude(f, f.top);
}

/* The code of the bits of a magnitude that is not beyond the largest number, to nearest even. It is added to a power of two whose last
 * place is that of the code, or of the smallest codes; the sum then counts such units. Into the last places of that power goes,
 * beforehand, the code of the exponent. */
static inline uint32_t ptxi_num_small_nearest(struct ptxi_num_small f, uint32_t m)
{
    uint32_t least = ptxi_num_small_least(f), drop = (uint32_t)(23 - f.fraction), e = m & 0x7f800000;

    e = (int32_t)e > (int32_t)least ? e : least;
    e += (e >> drop) + ((drop << 23) - (least >> drop));
    return ptxi_num_bits_f32(ptxi_num_f32(m) + ptxi_num_f32(e)) & (ptxi_num_small_sign(f) - 1);
}

/* The code in format s of what lies halfway between k and k + 1 units of f's last place, the smallest ones. */
static inline int16_t ptxi_num_small_tie(struct ptxi_num_small s, struct ptxi_num_small f, int k)
{
    int halves = 2 * k + 1, top = 31 - __builtin_clz((unsigned)halves);

    return (int16_t)(((top - f.bias - f.fraction + s.bias) << s.fraction) + ((halves - (1 << top)) << (s.fraction - top)));
}

/* Minus the units of f's last place that a magnitude in format s is, up to f's smallest normal number, to nearest even. */
static inline int16_t ptxi_num_small_minus_units(struct ptxi_num_small s, struct ptxi_num_small f, int16_t m)
{
    int16_t r = 0;

#define FROM(k) r = (int16_t)(r + (int16_t)-(m > ptxi_num_small_tie(s, f, k) - ((k) & 1)))
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

/* A float whose upper half, as bf16, is odd if the lower is not 0: rounded from there to 6 bits or less it is rounded as the float is. */
static inline uint32_t ptxi_num_odd_bf16(uint32_t a)
{
    return a | ((a & 0xffff) + 0xffff);
}

/* The code in f, of 8 bits or less, of a code in s, f16 or bf16, to nearest even, in arithmetic of 16 bits. Too large numbers become the largest.
 * Below the smallest normal number, what would be the code of normal numbers is less than the units are. */
static inline uint16_t ptxi_num_small_from_half(struct ptxi_num_small s, struct ptxi_num_small f, uint16_t a)
{
    const int drop = s.fraction - f.fraction, top = (int)f.top;
    int16_t m = (int16_t)(a & 0x7fff), nan = (int16_t)((int16_t)((int16_t)s.inf - m) >> 15), negative = (int16_t)((int16_t)a >> 15), r;
    uint16_t odd = (uint16_t)((uint16_t)m >> drop & 1), sum = (uint16_t)((uint16_t)m + odd + ((1 << (drop - 1)) - 1));

    r = (int16_t)((sum >> drop) - ((s.bias - f.bias) << f.fraction));
    if (f.bias != s.bias) {
        int16_t units = (int16_t)-ptxi_num_small_minus_units(s, f, m);

        r = r > units ? r : units;
    }
    r = (int16_t)(r < top ? r : top);
    if (f.nan != f.top)
        r = (int16_t)(r | (nan & (int16_t)f.nan));
    return (uint16_t)(r | (negative & ~nan & (int16_t)ptxi_num_small_sign(f)));
}

/* The code of a float. Too large numbers become infinite; with `finite`, the largest number, as infinities do. */
static inline uint32_t ptxi_num_small_from_f32(struct ptxi_num_small f, uint32_t a, enum ptxi_num_rounding mode, bool finite)
{
    uint32_t m = a & 0x7fffffff, sign = (a >> 31) << (f.fraction + f.exponent);
    uint32_t away = mode == PTXI_NUM_RM ? a >> 31 : mode == PTXI_NUM_RP ? ~a >> 31 : 0;
    uint32_t r = ptxi_num_small_round(f, m, mode, away);

    if (f.bias != 127 || finite) { /* else nothing can be too large that was not rounded to infinity */
        uint32_t overflows = mode == PTXI_NUM_RN ? 1 : away | (m == 0x7f800000);
        uint32_t limit = finite ? f.top : f.top + ((f.inf - f.top) & -overflows);

        r = r < limit ? r : limit;
    }
    return ptxi_num_is_nan_f32(a) ? f.nan : r | sign;
}

/* .rs: `bits` random bits are added to the highest of those that fall off; a carry out of them is away from zero. The PTX ISA
 * does not say what becomes of subnormal results and of overflow; here the former are no different, and the latter is as in
 * rounding to nearest: magnitudes are cut to a limit.
 *
 * Compilers that know the range compute sums in two ways and choose. */
struct ptxi_num_random_range {
    uint32_t limit;
    float least; /* normal number */
};
static inline struct ptxi_num_random_range ptxi_num_random_range(struct ptxi_num_small f, bool finite)
{
    struct ptxi_num_random_range range = { ptxi_num_small_magnitude(f, finite ? f.top : f.inf), ptxi_num_f32(ptxi_num_small_least(f)) };

    __asm__("" : "+m"(range));
    return range;
}

/* The sum of the code of a number, with `bits` bits below it, and the random ones. */
static inline uint32_t ptxi_num_small_sum_at_random(struct ptxi_num_small f, uint32_t a, uint32_t random, int bits, struct ptxi_num_random_range range)
{
    uint32_t m = a & 0x7fffffff;
    int32_t r;

    m = (int32_t)m < (int32_t)range.limit ? m : range.limit;
    r = (int32_t)(m - ((uint32_t)(127 - f.bias) << 23)) >> (23 - f.fraction - bits);
    if (f.bias != 127) { /* or units of the last place; no more than the smallest normal number has */
        float x = ptxi_num_f32(m);
        int32_t tiny = (int32_t)((x < range.least ? x : range.least) * ptxi_num_f32((uint32_t)(126 + f.bias + f.fraction + bits) << 23));

        r = r > tiny ? r : tiny;
    }
    return (uint32_t)r + random;
}

/* The code. */
static inline uint32_t ptxi_num_small_at_random(struct ptxi_num_small f, uint32_t a, uint32_t random, int bits, struct ptxi_num_random_range range)
{
    uint32_t sign = (a >> 31) << (f.fraction + f.exponent), r = ptxi_num_small_sum_at_random(f, a, random, bits, range) >> bits;

    return ptxi_num_is_nan_f32(a) ? f.nan : r | sign;
}

/* The float of a code, exactly. The payload of a NaN is kept where the format has any. */
static inline uint32_t ptxi_num_f32_from_small(struct ptxi_num_small f, uint32_t code)
{
    int drop = 23 - f.fraction;
    uint32_t m = code & (ptxi_num_small_sign(f) - 1), sign = code & ptxi_num_small_sign(f) ? 0x80000000 : 0;
    /* A subnormal is taken for a normal number of the lowest exponent, that is, too large by the smallest normal one. */
    bool tiny = m < 1u << f.fraction;
    uint32_t excess = tiny ? ptxi_num_small_least(f) : 0;
    uint32_t bits = (m << drop) + ((uint32_t)(127 - f.bias) << 23);
    uint32_t r = ptxi_num_bits_f32(ptxi_num_f32(bits + (tiny ? 1u << 23 : 0)) - ptxi_num_f32(excess));

    if (f.nan != f.top)
        r = m > f.top ? (f.inf == f.top ? PTXI_NAN_F32 : m << drop | 0x7f800000) : r;
    return r | sign;
}

/* The f16 codes of m units of a format's last place lie on straight lines, from m = 2^k to 2^(k + 1), each less steep than the one
 * before: that is, on the lowest of these. */
static inline uint16_t ptxi_num_small_line(struct ptxi_num_small f, uint16_t m, int k)
{
    return k < f.fraction ? (uint16_t)((16 - f.bias - f.fraction + k) * 1024 + (m - (1 << k)) * (1 << (10 - k))) : UINT16_MAX;
}

/* x if a < b, else y, of numbers below 2^15; without a comparison, which compilers widen. */
static inline uint16_t ptxi_num_pick_16(uint16_t a, uint16_t b, uint16_t x, uint16_t y)
{
    uint16_t less = (uint16_t)((int16_t)(a - b) >> 15);

    return (uint16_t)(y ^ ((x ^ y) & less));
}

/* The f16 of a code of no more than 8 bits, exactly, in arithmetic of 16 bits; a NaN becomes canonical. All numbers but 0 are
 * normal in f16, unless the exponents are the same. */
static inline uint16_t ptxi_num_f16_from_small(struct ptxi_num_small f, uint16_t code)
{
    uint16_t m = (uint16_t)(code & (ptxi_num_small_sign(f) - 1)), negative = (uint16_t)(code << (15 - f.exponent - f.fraction) & 0x8000);
    uint16_t r = (uint16_t)((m << (10 - f.fraction)) + ((15 - f.bias) << 10));

    if (f.bias != 15) {
        uint16_t x = ptxi_num_small_line(f, m, 0), y = ptxi_num_small_line(f, m, 1), z = ptxi_num_small_line(f, m, 2);

        x = x < y ? x : y;
        x = x < z ? x : z;
        r = ptxi_num_pick_16(m, 1u << f.fraction, x, r);
        r = ptxi_num_pick_16(m, 1, 0, r);
    }
    r |= negative;
    return f.nan != f.top ? ptxi_num_pick_16((uint16_t)f.inf, m, PTXI_NAN_F16, r) : r;
}

/* --- ue8m0: an exponent and nothing else, 2^(code - 127); 0xff is the NaN. Signs are ignored. --- */
/* Rounding up begins above 2^-127, the least, whose upper 9 bits as a float are 0. In sums and shifts: of 32 bits compilers
 * join comparisons to longer ones. */
static inline uint32_t ptxi_num_ue8m0_from_f32(uint32_t a, bool up, bool finite)
{
    const int32_t infinity = 0x7f800000, least = 0x00400000, most = finite ? 0xfe : 0xff, add = up ? 0x007fffff : 0;
    int32_t m = (int32_t)(a & 0x7fffffff), x = m < infinity ? m : infinity, e = ((x & (least - x) >> 31) + add) >> 23;

    return (uint32_t)((e < most ? e : most) | ((infinity - m) >> 31 & 0xff));
}

static inline uint16_t ptxi_num_ue8m0_from_bf16(uint16_t a, bool up, bool finite)
{
    const int16_t infinity = 0x7f80, most = finite ? 0xfe : 0xff, add = up ? 0x7f : 0;
    int16_t m = (int16_t)(a & 0x7fff), x = m < infinity ? m : infinity, e;

    x = x > 0x0040 ? x : 0;
    e = (int16_t)((int16_t)(x + add) >> 7);
    e = e < most ? e : most;
    return (uint16_t)(e | (m > infinity ? 0xff : 0));
}

static inline uint16_t ptxi_num_bf16_from_ue8m0(uint16_t code)
{
    uint16_t least = code == 0 ? 0x0040 : 0, nan = code == 0xff ? 0x007f : 0;

    return (uint16_t)(code << 7 | least | nan);
}

/* --- s2f6: a signed byte that counts 64ths, with a scale in ue8m0. PTX ISA, "Fixed-point Data format" --- */
enum { PTXI_NUM_S2F6_MAX = 127, PTXI_NUM_S2F6_MIN = -128 };

/* The range. Compilers that know it compute codes in three ways and choose. */
struct ptxi_num_s2f6_range {
    float least, most;
};
static inline struct ptxi_num_s2f6_range ptxi_num_s2f6_range(void)
{
    struct ptxi_num_s2f6_range range = { PTXI_NUM_S2F6_MIN, PTXI_NUM_S2F6_MAX };

    __asm__("" : "+m"(range));
    return range;
}

/* A number of 64ths, to nearest even; a NaN becomes the largest number. */
static inline uint32_t ptxi_num_s2f6_of_units(float x, struct ptxi_num_s2f6_range range)
{
    float y = x < range.most ? x : range.most;

    y = y > range.least ? y : range.least;
    return ptxi_num_bits_f32(y + 0x1.8p23f) & 0xff;
}

/* Divided by the scale; a NaN of that is one of the quotient. What the first product makes infinite or subnormal would be cut to the range, or
 * to 0, all the same. */
static inline uint32_t ptxi_num_s2f6_from_f32(float a, uint32_t scale, struct ptxi_num_s2f6_range range)
{
    int32_t e = 254 - (int32_t)scale; /* of 1 / scale, which f32 has but for the largest scale, as a normal number */
    uint32_t factor = scale == 0xff ? PTXI_NAN_F32 : (uint32_t)(e > 1 ? e : 1) << 23, units = e ? 0x42800000 : 0x42000000; /* 64, 32 */

    return ptxi_num_s2f6_of_units(a * ptxi_num_f32(factor) * ptxi_num_f32(units), range);
}

/* The same where 64 / scale is a normal number of f32. */
enum { PTXI_NUM_S2F6_PLAIN_LEAST = 6, PTXI_NUM_S2F6_PLAIN_MOST = 254 };
static inline uint32_t ptxi_num_s2f6_plain(float a, uint32_t scale, struct ptxi_num_s2f6_range range)
{
    return ptxi_num_s2f6_of_units(a * ptxi_num_f32((260 - scale) << 23), range);
}

/* Multiplied by the scale, which is exact but for overflow. */
static inline uint32_t ptxi_num_bf16_from_s2f6(uint32_t code, uint32_t scale)
{
    float x = (float)((int32_t)(code << 24) >> 24) * 0x1p-6f * ptxi_num_f32(scale ? scale << 23 : 0x00400000);

    return scale != 0xff ? ptxi_num_bits_f32(x) >> 16 : ptxi_num_bf16.nan;
}

#endif
