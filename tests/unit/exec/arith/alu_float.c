#include "unit/exec/arith/alu_float.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "isa/bytecode.h"

typedef unsigned __int128 u128;

static const int fe_modes[] = { FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD };

static int mode_of(unsigned mods)
{
    return (mods & PTXI_MOD_RND_MASK) >> PTXI_MOD_RND_SHIFT;
}

double from_f64(uint64_t bits)
{
    double d;

    memcpy(&d, &bits, sizeof d);
    return d;
}

static uint64_t to_f64(double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof bits);
    return bits;
}

float from_f32(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t to_f32(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    return bits;
}

uint32_t flushed_f32(uint32_t bits)
{
    return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

bool nan_f32(uint32_t bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

/* --- formats, defined by the values of their codes --- */
static uint64_t infinity_of(enum kind k)
{
    return k == F64 ? 0x7ff0000000000000 : k == F32 ? 0x7f800000 : k == F16 ? 0x7c00 : 0x7f80;
}

static uint64_t code_of_one(enum kind k)
{
    return k == F64 ? 0x3ff0000000000000 : k == F32 ? 0x3f800000 : k == F16 ? 0x3c00 : 0x3f80;
}

/* Value of a code without its sign. Infinity counts as the number that would follow the largest. */
static quad code_value(enum kind k, uint64_t code)
{
    if (code == infinity_of(k))
        return k == F64 ? (quad)0x1p1023 * 2 : k == F16 ? 65536 : (quad)0x1p128;
    switch (k) {
    case F64: return from_f64(code);
    case F32: return from_f32((uint32_t)code);
    case BF16: return from_f32((uint32_t)code << 16);
    default: return ldexp(code < 0x400 ? (double)code : (double)((code & 0x3ff) | 0x400),
                          code < 0x400 ? -24 : (int)(code >> 10) - 25);
    }
}

/* Returns the code of a magnitude, rounded. */
static uint64_t round_code(enum kind k, quad x, int mode, bool negative)
{
    uint64_t low = 0, high = infinity_of(k);
    bool away = mode == (negative ? PTXI_RM : PTXI_RP);
    quad below, above;

    if (x >= code_value(k, high))
        return mode == PTXI_RN || away || x > 0x1p1023 * (quad)4 ? high : high - 1;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        if (code_value(k, middle) <= x)
            low = middle;
        else
            high = middle;
    }
    below = x - code_value(k, low), above = code_value(k, high) - x;
    if (below == 0)
        return low;
    if (mode != PTXI_RN)
        return away ? high : low;
    return below < above || (below == above && !(low & 1)) ? low : high;
}

uint64_t rounded_with_sat(quad x, bool negative, enum kind k, unsigned mods)
{
    uint64_t sign = (uint64_t)negative << (kind_bits(k) - 1);
    uint64_t code = round_code(k, x < 0 ? -x : x, mode_of(mods), negative);

    if (mods & PTXI_MOD_SAT)
        return negative ? 0 : code > code_of_one(k) ? code_of_one(k) : code;
    return sign | code;
}

/* True if x is below the smallest normal number after rounding with unlimited exponents. */
static bool is_subnormal(quad x, enum kind k, unsigned mods)
{
    quad scale = k == F16 ? 0x1p10 : 0x1p100, scaled = (x < 0 ? -x : x) * scale, normal = k == F16 ? 0x1p-14 : 0x1p-126;

    return code_value(k, round_code(k, scaled, mode_of(mods), x < 0)) < normal * scale;
}

quad exact_value(u128 bits, enum kind k, bool ftz)
{
    uint64_t b = (uint64_t)bits, m = b & (((uint64_t)1 << (kind_bits(k) - 1)) - 1);
    bool negative = b >> (kind_bits(k) - 1) & 1;
    quad x;

    if (m > infinity_of(k))
        return NAN;
    if (m == infinity_of(k))
        return negative ? -INFINITY : INFINITY;
    if (ftz && m < (k == F16 ? 0x400 : k == BF16 ? 0x80 : 0x00800000))
        m = 0;
    x = code_value(k, m);
    return negative ? -x : x;
}

/* --- arithmetic in quadruple precision, exact or with an odd last bit --- */
static quad with_odd_bit(quad x)
{
    u128 bits;

    memcpy(&bits, &x, sizeof bits);
    bits |= 1;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static quad compute(int op, quad a, quad b, quad c)
{
    volatile quad x = a, y = b, z = c, r;

    switch (op) {
    case 0: r = x + y; break;
    case 1: r = x - y; break;
    case 2: r = x * y; break;
    case 3: r = x * y, r = r + z; break;
    default: r = x / y; break;
    }
    return r;
}

/* The rounding mode gives the sign of a zero result. */
static quad compute_odd(int op, quad a, quad b, quad c, int mode)
{
    quad r;
    bool inexact;

    fesetround(fe_modes[mode]);
    r = compute(op, a, b, c);
    if (r != 0 && r == r && r - r == 0) {
        fesetround(FE_TOWARDZERO);
        feclearexcept(FE_ALL_EXCEPT);
        r = compute(op, a, b, c);
        inexact = fetestexcept(FE_INEXACT);
        if (inexact)
            r = with_odd_bit(r);
    }
    fesetround(FE_TONEAREST);
    return r;
}

static uint32_t sqrt_result(float x, unsigned mods)
{
    volatile float a = x, r;

    fesetround(fe_modes[mode_of(mods)]);
    r = sqrtf(a);
    fesetround(FE_TONEAREST);
    return to_f32(r);
}

static bool negative_quad(quad x)
{
    u128 bits;

    memcpy(&bits, &x, sizeof bits);
    return bits >> 127;
}

uint32_t f32_result(int op, const u128 *v, unsigned mods, bool ftz)
{
    float in[3];
    quad r;

    for (int k = 0; k < 3; k++)
        in[k] = from_f32(ftz ? flushed_f32((uint32_t)v[k]) : (uint32_t)v[k]);
    if (op == 6) {
        uint32_t root = sqrt_result(in[0], mods);

        if (nan_f32(root))
            return mods & PTXI_MOD_SAT ? 0 : 0x7fffffff;
        return (uint32_t)rounded_with_sat(from_f32(root), root >> 31, F32, mods);
    }
    r = op == 5 ? compute_odd(4, 1, in[0], 0, mode_of(mods)) : compute_odd(op, in[0], in[1], in[2], mode_of(mods));
    if (r != r)
        return mods & PTXI_MOD_SAT ? 0 : 0x7fffffff;
    if (ftz && is_subnormal(r, F32, mods))
        r = negative_quad(r) ? -(quad)0 : 0;
    return (uint32_t)rounded_with_sat(r, negative_quad(r), F32, mods);
}

uint16_t half_result(int op, const uint16_t *v, enum kind k, unsigned mods)
{
    bool ftz = mods & PTXI_MOD_FTZ;
    quad r = compute_odd(op, exact_value(v[0], k, ftz), exact_value(v[1], k, ftz), exact_value(v[2], k, ftz), PTXI_RN);
    bool negative = negative_quad(r);

    if (r != r)
        return mods & PTXI_MOD_SAT ? 0 : 0x7fff;
    if (negative && mods & PTXI_MOD_RELU)
        return 0;
    if (ftz && is_subnormal(r, k, 0))
        r = 0;
    return (uint16_t)rounded_with_sat(r, negative, k, mods & PTXI_MOD_SAT);
}

uint16_t minmax_half_result(uint16_t a, uint16_t b, enum kind k, int flags)
{
    bool ftz = flags & MINMAX_FTZ, negative = (a ^ b) >> 15, a_nan, b_nan;
    quad x, y;

    if (flags & MINMAX_XOR)
        a &= 0x7fff, b &= 0x7fff;
    x = exact_value(a, k, ftz), y = exact_value(b, k, ftz);
    a_nan = x != x, b_nan = y != y;
    if ((a_nan && b_nan) || (flags & MINMAX_NAN && (a_nan || b_nan)))
        return 0x7fff;
    if (a_nan || (!b_nan && (x > y || (x == y && !negative_quad(x) && negative_quad(y))) == !(flags & MINMAX_MAX)))
        x = y;
    return (uint16_t)rounded_with_sat(x, flags & MINMAX_XOR ? negative : negative_quad(x), k, 0);
}

uint64_t f64_result(int op, const u128 *v, unsigned mods)
{
    static const uint8_t first_nan[7][3] = { { 1, 0, 0 }, { 1, 0, 0 }, { 1, 0, 0 }, { 1, 2, 0 }, { 0, 1, 1 },
                                             { 0, 0, 0 }, { 0, 0, 0 } };
    volatile double a = from_f64((uint64_t)v[0]), b = from_f64((uint64_t)v[1]), c = from_f64((uint64_t)v[2]), r;

    fesetround(fe_modes[mode_of(mods)]);
    switch (op) {
    case 0: r = a + b; break;
    case 1: r = a - b; break;
    case 2: r = a * b; break;
    case 3: r = fma(a, b, c); break;
    case 4: r = a / b; break;
    case 5: r = 1.0 / a; break;
    default: r = sqrt(a); break;
    }
    fesetround(FE_TONEAREST);
    if (r == r)
        return to_f64(r);
    for (int k = 0; k < 3; k++) {
        uint64_t bits = (uint64_t)v[first_nan[op][k]];

        if (isnan(from_f64(bits)))
            return bits | 1ull << 51;
    }
    return 0xfff8000000000000;
}

uint32_t minmax_f32_result(uint32_t a, uint32_t b, int flags)
{
    uint32_t r, sign;

    if (flags & MINMAX_FTZ)
        a = flushed_f32(a), b = flushed_f32(b);
    sign = (a ^ b) & 0x80000000;
    if (flags & MINMAX_XOR)
        a &= 0x7fffffff, b &= 0x7fffffff;
    if (nan_f32(a) && nan_f32(b))
        return 0x7fffffff;
    if (nan_f32(a) || nan_f32(b)) {
        if (flags & MINMAX_NAN)
            return 0x7fffffff;
        r = nan_f32(a) ? b : a;
    } else if (from_f32(a) == from_f32(b)) {
        r = flags & MINMAX_MAX ? a & b : a | b; /* only zeros may differ */
    } else {
        r = (from_f32(a) < from_f32(b)) == !(flags & MINMAX_MAX) ? a : b;
    }
    return flags & MINMAX_XOR ? r | sign : r;
}

uint64_t minmax_f64_result(uint64_t a, uint64_t b, bool max)
{
    double x = from_f64(a), y = from_f64(b);

    if (isnan(y))
        return isnan(x) ? b | 1ull << 51 : a;
    if (isnan(x))
        return b;
    if (x == y)
        return max ? a & b : a | b;
    return (x < y) == !max ? a : b;
}

/* --- conversions --- */
static quad integral(quad x, unsigned mods)
{
    quad whole, fraction;
    int up;

    if (!(x < 0x1p100 && x > -0x1p100))
        return x;
    whole = (quad)(__int128)x;
    fraction = x - whole; /* with the sign of x */
    switch (mode_of(mods)) {
    case PTXI_RN:
        up = (fraction > 0 ? fraction : -fraction) > 0.5 ||
             ((fraction == 0.5 || fraction == -0.5) && (__int128)whole & 1);
        return whole + (up ? (x < 0 ? -1 : 1) : 0);
    case PTXI_RM: return whole - (fraction < 0);
    case PTXI_RP: return whole + (fraction > 0);
    default: return whole;
    }
}

__int128 integral_clamped(quad x, unsigned mods, __int128 low, __int128 high)
{
    x = integral(x, mods);
    return x < low ? low : x > high ? high : (__int128)x;
}

static unsigned fraction_bits(enum kind k)
{
    return k == F64 ? 52 : k == F32 ? 23 : k == F16 ? 10 : 7;
}

static uint64_t nan_result(u128 bits, enum kind from, enum kind to, unsigned mods)
{
    uint64_t b = (uint64_t)bits;

    if (mods & PTXI_MOD_SAT)
        return 0;
    if (to == F64 && from == F64)
        return b | 1ull << 51;
    if (to == F64 && mods & PTXI_MOD_FTZ)
        return 0x7fffffffe0000000; /* the NaN of the canonical f32 */
    if (to == F64)
        return (b >> (kind_bits(from) - 1)) << 63 | 0x7ff8000000000000 | (b & ((1 << fraction_bits(from)) - 1)) << (52 -
        fraction_bits(from));
    if (from == F64) {
        unsigned f = fraction_bits(to);
        uint64_t quiet = 1ull << (f - 1);

        return (b >> 63) << (kind_bits(to) - 1) | infinity_of(to) | quiet | (b >> (52 - f) & (quiet - 1));
    }
    return to == F32 ? 0x7fffffff : 0x7fff;
}

/* Applies .relu and .satfinite to a number. */
static uint64_t apply_limits(uint64_t code, enum kind k, unsigned mods)
{
    uint64_t sign = 1ull << (kind_bits(k) - 1);

    if (mods & PTXI_MOD_RELU && code & sign)
        return 0;
    return mods & PTXI_MOD_SATFINITE && (code & ~sign) == infinity_of(k) ? code - 1 : code;
}

uint64_t converted(u128 bits, enum kind from, enum kind to, unsigned mods)
{
    bool ftz = mods & PTXI_MOD_FTZ;
    quad x = exact_value(bits, from, ftz && to != F16 && from != F64);
    bool negative = bits >> (kind_bits(from) - 1) & 1;

    if (from == to && kind_bits(from) > 16 && !(mods & (PTXI_MOD_FTZ | PTXI_MOD_SAT)))
        return (uint64_t)bits;
    if (from == BF16 && to == F32 && !ftz)
        return (uint64_t)bits << 16;
    if (x != x)
        return nan_result(bits, from, to, mods);
    if (from == F64 && ftz && is_subnormal(x, F32, mods))
        x = 0;
    return apply_limits(rounded_with_sat(x, negative, to, mods), to, mods);
}

uint64_t rounded_integral(u128 bits, enum kind k, unsigned mods)
{
    quad x = exact_value(bits, k, mods & PTXI_MOD_FTZ && k == F32);

    if (x != x)
        return nan_result(bits, k, k, mods);
    return rounded_with_sat(integral(x, mods), bits >> (kind_bits(k) - 1) & 1, k, mods);
}
