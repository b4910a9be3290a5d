/* See column.h. */
#include "conformance/column.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPECIALS = 64, MODE_ROWS = 1024, MODES = (COLUMN_ROWS - COLUMN_CROSSED) / MODE_ROWS };

uint64_t column_mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t column_seed(void)
{
    static uint64_t seed;
    static bool known;

    if (!known) {
        const char *text = getenv("PTXI_SEED");

        seed = text && *text ? column_mix(strtoull(text, NULL, 0)) : 0;
        known = true;
    }
    return seed;
}

uint64_t column_hash(uint64_t h, const void *data, size_t size)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < size; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return column_mix(h ^ size);
}

static uint64_t ones(unsigned bits)
{
    return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}

/* The state for generating one value. */
struct draw {
    unsigned position, inputs;
    uint64_t shared; /* random bits of the row, shared by all its inputs */
    uint64_t own;    /* random bits of this input */
};

/* ---- Floating point ---- */

struct format {
    int fraction, bias;
    unsigned bits;
};

static struct format format_of(const struct column *c)
{
    return (struct format){ c->fraction, c->class == VALUE_FLOAT ? (1 << (c->bits - c->fraction - 2)) - 1 : 0,
                            c->bits };
}

static uint64_t sign_bit(const struct format *f)
{
    return 1ull << (f->bits - 1);
}

/* Builds a number. Clamps an out-of-range exponent to the smallest or largest finite exponent. */
static uint64_t make_float(const struct format *f, bool negative, int exponent, uint64_t fraction)
{
    if (exponent < 0)
        exponent = 0;
    if (exponent > 2 * f->bias)
        exponent = 2 * f->bias;
    return (negative ? sign_bit(f) : 0) | (uint64_t)exponent << f->fraction | (fraction & ones(f->fraction));
}

/* Truncates a value to the format. Clamps it if it is out of range. */
static uint64_t float_of(const struct format *f, double v)
{
    int e;
    double m = frexp(fabs(v), &e) * 2;

    if (e - 1 + f->bias < 1)
        return (v < 0 ? sign_bit(f) : 0) | 1;
    if (e - 1 > f->bias)
        return make_float(f, v < 0, 2 * f->bias, ~0ull);
    return make_float(f, v < 0, e - 1 + f->bias, (uint64_t)ldexp(m - 1, f->fraction));
}

enum special_float {
    NUMBER,
    ZERO,
    LEAST,
    LAST_SUBNORMAL,
    NORMAL,
    MOST,
    INFINITE,
    QUIET,
    QUIET_PAYLOAD,
    SIGNALLING,
    SIGNALLING_PAYLOAD,
    ALL_ONES
};

static uint64_t special_pattern(const struct format *f, enum special_float what)
{
    uint64_t infinite = (2 * (uint64_t)f->bias + 1) << f->fraction, quiet = 1ull << (f->fraction - 1);
    uint64_t payload = 0x5a3c96e1d2b47u >> (52 - f->fraction);

    switch (what) {
    case LEAST: return 1;
    case LAST_SUBNORMAL: return ones(f->fraction);
    case NORMAL: return 1ull << f->fraction;
    case MOST: return infinite - 1;
    case INFINITE: return infinite;
    case QUIET: return infinite | quiet;
    case QUIET_PAYLOAD: return infinite | quiet | payload;
    case SIGNALLING: return infinite | 1;
    case SIGNALLING_PAYLOAD: return infinite | (payload & ~quiet) | 2;
    case ALL_ONES: return infinite | ones(f->fraction);
    default: return 0;
    }
}

/* Limits of integers and of narrower formats, and half steps next to them. With more than two inputs only the first 8
 * or 16 are crossed. */
static const struct { uint8_t what; bool negative; double v; int8_t ulps;
} float_specials[SPECIALS] = {
    { ZERO, 0, 0, 0 },
    { INFINITE, 1, 0, 0 },
    { QUIET_PAYLOAD, 1, 0, 0 },
    { SIGNALLING, 0, 0, 0 },
    { MOST, 0, 0, 0 },
    { LEAST, 0, 0, 0 },
    { NUMBER, 0, 1, 0 },
    { NUMBER, 0, -1.5, 0 },
    { ZERO, 1, 0, 0 },
    { INFINITE, 0, 0, 0 },
    { SIGNALLING_PAYLOAD, 1, 0, 0 },
    { MOST, 1, 0, 0 },
    { NORMAL, 0, 0, 0 },
    { LAST_SUBNORMAL, 1, 0, 0 },
    { NUMBER, 0, -1, 0 },
    { NUMBER, 0, 1, 1 },
    { QUIET, 0, 0, 0 },
    { ALL_ONES, 0, 0, 0 },
    { ALL_ONES, 1, 0, 0 },
    { QUIET_PAYLOAD, 0, 0, 0 },
    { LEAST, 1, 0, 0 },
    { LAST_SUBNORMAL, 0, 0, 0 },
    { NORMAL, 1, 0, 0 },
    { NORMAL, 0, 0, 1 },
    { NUMBER, 0, 1, -1 },
    { NUMBER, 0, -1, -1 },
    { NUMBER, 0, 0.5, 0 },
    { NUMBER, 0, -0.5, 0 },
    { NUMBER, 0, 0.5, -1 },
    { NUMBER, 0, 0.5, 1 },
    { NUMBER, 0, 1.5, 0 },
    { NUMBER, 0, 2, 0 },
    { NUMBER, 0, 2.5, 0 },
    { NUMBER, 0, -2.5, 0 },
    { NUMBER, 0, 3.14159265358979, 0 },
    { NUMBER, 0, -10.1, 0 },
    { NUMBER, 0, 88.72283, 0 },
    { NUMBER, 0, -103.97, 0 },
    { NUMBER, 0, 127.5, 0 },
    { NUMBER, 0, -128.5, 0 },
    { NUMBER, 0, 255.5, 0 },
    { NUMBER, 0, 256, 0 },
    { NUMBER, 0, -126.5, 0 },
    { NUMBER, 0, 464, 0 },
    { NUMBER, 0, 32767.5, 0 },
    { NUMBER, 0, -32768.5, -1 },
    { NUMBER, 0, 65504, 0 },
    { NUMBER, 0, 65520, -1 },
    { NUMBER, 0, 65535.5, 0 },
    { NUMBER, 0, 2147483648.0, -1 },
    { NUMBER, 0, -2147483648.0, 1 },
    { NUMBER, 0, 4294967296.0, -1 },
    { NUMBER, 0, 4294967296.0, 0 },
    { NUMBER, 0, 0x1p63, -1 },
    { NUMBER, 0, -0x1p63, 1 },
    { NUMBER, 0, 0x1p64, -1 },
    { NUMBER, 0, 0x1p64, 0 },
    { NUMBER, 0, 8388609, 0 },
    { NUMBER, 0, 1.00390625, 0 },
    { NUMBER, 0, 1.00048828125, 1 },
    { NUMBER, 0, 0x1p-14, -1 },
    { NUMBER, 0, 0x1p-25, 0 },
    { NUMBER, 0, -61440, 0 },
    { NUMBER, 0, 0x1p-126, -1 },
};

static uint64_t special_float(const struct format *f, unsigned i)
{
    uint64_t v = float_specials[i].what == NUMBER ? float_of(f, float_specials[i].v)
                                                  : special_pattern(f, float_specials[i].what);

    return (v + (uint64_t)(int64_t)float_specials[i].ulps) | (float_specials[i].negative ? sign_bit(f) : 0);
}

/* Returns exponent k of 252: all of f32 except four, and the important ones of f64. */
static int spread_exponent(const struct format *f, int k)
{
    if (f->bias < 127)
        return k % (2 * f->bias + 2);
    if (f->bias == 127)
        return k < 90 ? k : k + 4;
    return k < 8     ? k
           : k < 168 ? f->bias - 80 + (k - 8)
           : k < 212 ? f->bias - 160 + (k - 168)
           : k < 228 ? f->bias + 120 + (k - 212)
                     : 2 * f->bias + 1 - (k - 228);
}

/* Special values first, then both signs of every exponent with eight fractions. */
static uint64_t listed_float(const struct format *f, unsigned i)
{
    uint64_t r = column_mix(i), m;
    int e = spread_exponent(f, (int)(i - SPECIALS) / 16);

    if (i < SPECIALS)
        return special_float(f, i);
    switch (i & 7) {
    case 0: m = 0; break;
    case 1: m = 1; break;
    case 2: m = ones(f->fraction); break;
    case 3: m = 1ull << (f->fraction - 1); break;
    case 4: m = (1ull << (f->fraction - 1)) - 1; break;
    default: m = r & ones(f->fraction);
    }
    return (i & 8 ? sign_bit(f) : 0) | (uint64_t)e << f->fraction | m;
}

static int below(uint64_t r, int n)
{
    return (int)((r >> 20 & 0xffffffff) % (uint64_t)n);
}

/* Returns an offset: usually zero, sometimes one place up or down. */
static uint64_t step(uint64_t r)
{
    static const int8_t steps[4] = { 0, 1, -1, 0 };

    return (uint64_t)(int64_t)steps[r & 3];
}

/* Returns a fraction with few bits set or few bits clear. */
static uint64_t sparse(const struct format *f, uint64_t r)
{
    uint64_t m = 0;

    for (unsigned k = 0; k < (r & 3); k++)
        m |= 1ull << (r >> (8 * k + 8) & 63) % (unsigned)f->fraction;
    return r & 4 ? ~m : m;
}

/* Two factors with half-length fractions, and their exact product. */
struct exact {
    uint64_t x, y, product;
};

static struct exact exact_product(const struct format *f, uint64_t shared, bool square)
{
    int half = (f->fraction + 1) / 2, ex = f->bias - 4 + below(shared, 9), ey = f->bias - 4 + below(shared >> 8, 9);
    uint64_t mx = (1ull << half | (shared & ones(half))),
             my = square ? mx : 1ull << half | (column_mix(shared) & ones(half));
    uint64_t p = mx * my; /* 2 half + 1 or 2 half + 2 bits */
    int top = 63 - __builtin_clzll(p), lift = top - 2 * half;

    if (square)
        ey = ex;
    p = top > f->fraction ? p >> (top - f->fraction) : p << (f->fraction - top);
    return (struct exact){ make_float(f, false, ex, mx << (f->fraction - half)),
                           make_float(f, false, ey, my << (f->fraction - half)),
                           make_float(f, false, ex + ey - f->bias + lift, p) };
}

/* Draws exact or nearly exact quotients and roots, and sums that cancel. */
static uint64_t near_exact(const struct format *f, const struct draw *d)
{
    struct exact e = exact_product(f, d->shared, d->inputs == 1);
    uint64_t product = e.product + step(d->shared >> 40);

    if (d->inputs < 3)
        return d->position == 0 ? product : e.y;
    return d->position == 0 ? e.x : d->position == 1 ? e.y : product ^ sign_bit(f);
}

/* Draws factors near 1, and factors and summands near the smallest normal. Results can be tiny before or after
 * rounding. */
static uint64_t near_normal(const struct format *f, const struct draw *d)
{
    static const int8_t steps[16] = { 0, 1, 2, 3, -1, -2, -3, 0, 1, -1, 4, -4, 0, 1, -1, 2 };
    uint64_t one = (uint64_t)f->bias << f->fraction, least = 1ull << f->fraction,
             by = (uint64_t)(int64_t)steps[d->own >> 8 & 15];
    uint64_t sign = (d->own & 3) == 0 ? sign_bit(f) : 0;

    if (d->position == 0)
        return (one + by - (d->own >> 16 & 3 ? 0 : least)) | sign;
    if (d->position == 1)
        return (least + by + (d->own >> 16 & 1 ? least : 0)) | sign;
    return (d->own >> 16 & 3 ? least * (1 + (d->own >> 18 & 1)) + by : 0) | sign;
}

/* Draws products near half of the smallest subnormal, and summands near the smallest normal. */
static uint64_t near_half_subnormal(const struct format *f, const struct draw *d)
{
    static const int8_t steps[8] = { 0, 0, 1, -1, 0, 1, -16, 0 };
    int sum = f->bias + f->fraction, e = f->bias - (d->position ? sum - sum / 2 : sum / 2);
    uint64_t v = make_float(f, false, e, (d->own >> 24 & 3) == 3 ? 1ull << (f->fraction - 1) : 0);
    uint64_t sign = d->own & 1 ? sign_bit(f) : 0, least = 1ull << f->fraction;

    if (d->position > 1)
        return (least * (1 + (d->own >> 9 & 1)) + step(d->own >> 12)) | sign;
    return (v + (uint64_t)(int64_t)steps[d->own >> 12 & 7] + ((d->own >> 32 & 3) == 0 ? 1ull << f->fraction : 0)) |
           sign;
}

/* Draws exponents with a product at the lower or upper end of the range. The summands are there too. */
static uint64_t at_the_end(const struct format *f, const struct draw *d, bool upper)
{
    int end = upper ? 2 * f->bias : 1,
        delta = upper ? below(d->shared >> 7, 5) - 2 : below(d->shared >> 7, f->fraction + 5) - f->fraction - 2;
    int first = f->bias + (upper ? 1 : -1) * below(d->shared, f->bias), e;

    if (d->inputs == 1)
        e = upper ? end - below(d->own, 4) : below(d->own, 4);
    else if (d->position == 0)
        e = first;
    else
        e = d->position == 1 ? end + delta + f->bias - first : end + (upper ? -below(d->own, 3) : below(d->own, 3));
    return make_float(f, d->own >> 63, e, d->own & 64 ? d->own >> 3 : sparse(f, d->own));
}

/* Draws summands that overlap in few bits. A third input is close to the product of the other two. */
static uint64_t aligned(const struct format *f, const struct draw *d)
{
    int reach = f->fraction + 3, e0 = f->bias - 20 + below(d->shared, 41), e1 = f->bias - 8 + below(d->shared >> 6, 17);
    int delta = below(d->shared >> 12, 2 * reach + 1) - reach, e = e0;

    if (d->position == 1)
        e = d->inputs == 2 ? e0 + delta : e1;
    else if (d->position == 2)
        e = e0 + e1 - f->bias + delta;
    return make_float(f, d->own >> 63, e, d->own & 64 ? d->own >> 3 : sparse(f, d->own));
}

/* Draws values at or near midpoints of a narrower format, or at or near an integer and a half. */
static uint64_t conversion_edge(const struct format *f, const struct draw *d)
{
    static const uint8_t narrower[8] = { 2, 3, 7, 10, 10, 23, 1, 7 };
    static const int limits[8] = { 0, 0, -14, -24, -126, -149, 15, 127 };
    int keep = narrower[d->own & 7] < f->fraction ? narrower[d->own & 7] : f->fraction - 1,
        drop = f->fraction - keep - 1;
    uint64_t m = (column_mix(d->own) & ones(keep)) << 1 | (d->own >> 3 & 3 ? 1 : 0);

    m = (m << drop) + step(d->own >> 5);
    return make_float(f, d->own >> 63, f->bias + limits[d->own >> 8 & 7] + below(d->own, d->own >> 11 & 1 ? 64 : 6) - 3,
                      m);
}

static uint64_t random_float(const struct format *f, unsigned mode, const struct draw *d)
{
    int common = below(d->shared, 2 * f->bias + 1);

    switch (mode) {
    case 1: return make_float(f, d->own >> 63, f->bias - 16 + below(d->own, 33), d->own);
    case 2: return make_float(f, d->own >> 63, common + below(d->own, 5) - 2, d->own);
    case 3: return make_float(f, d->own >> 63, common + below(d->own, 5) - 2, sparse(f, d->own));
    case 4: return at_the_end(f, d, false);
    case 5: return at_the_end(f, d, true);
    case 6: return near_normal(f, d);
    case 7: return near_half_subnormal(f, d);
    case 8: return aligned(f, d);
    case 9: return near_exact(f, d);
    case 10:
        return d->own & 1 ? special_float(f, d->own >> 8 & (SPECIALS - 1))
                          : make_float(f, d->own >> 63, common, d->own >> 4);
    case 11: return conversion_edge(f, d);
    default: return d->own & ones(f->bits);
    }
}

/* ---- Integers ---- */

/* Values with two set bits (63: the highest bit of the type, 64: none) and a summand, then byte and half patterns. */
static const struct { uint8_t first, second; int16_t add;
} int_sums[40] = {
    { 64, 64, 0 },    { 64, 64, 1 },    { 64, 64, -1 }, { 63, 64, 0 },   { 63, 64, -1 },     { 63, 64, 1 },
    { 16, 64, 0 },    { 20, 9, 0x2b7 }, { 64, 64, 2 },  { 64, 64, -2 },  { 63, 64, -2 },     { 16, 64, -1 },
    { 64, 64, 128 },  { 64, 64, 255 },  { 64, 64, 3 },  { 31, 64, 0 },   { 64, 64, 7 },      { 64, 64, 31 },
    { 64, 64, 32 },   { 64, 64, 33 },   { 64, 64, 64 }, { 64, 64, 127 }, { 64, 64, 256 },    { 64, 64, -128 },
    { 64, 64, -129 }, { 15, 64, -1 },   { 15, 64, 0 },  { 15, 64, 1 },   { 64, 64, -32768 }, { 23, 64, 0 },
    { 24, 64, -1 },   { 24, 64, 1 },    { 31, 64, -1 }, { 31, 64, 1 },   { 32, 64, -1 },     { 32, 64, 0 },
    { 32, 64, 1 },    { 53, 64, -1 },   { 53, 64, 1 },  { 63, 62, 0 },
};

static const uint64_t int_patterns[SPECIALS - 40] = {
    0x80ff7f0180ff7f01, 0x7f80ff017f80ff01, 0x0101010101010101, 0x7f7f7f7f7f7f7f7f, 0x8080808080808080,
    0x8000800080008000, 0x7fff7fff7fff7fff, 0xffff0000ffff0000, 0x0000ffff0000ffff, 0x00ff00ff00ff00ff,
    0xaaaaaaaaaaaaaaaa, 0x5555555555555555, 0xff00ff00ff00ff00, 0xdeadbeefcafef00d, 0x0123456789abcdef,
    0x8000000080000000, 0x7fffffff7fffffff, 0xffffffff00000000, 0x00000000ffffffff, 0x0001ffff0001ffff,
    0xfffe0001fffe0001, 0x7ffe80017ffe8001, 0x3210765432107654, 0xfedc9876ba543210,
};

static uint64_t special_int(unsigned bits, unsigned i)
{
    uint64_t v;

    if (i >= 40)
        return int_patterns[i - 40] & ones(bits);
    v = int_sums[i].first < 63 ? 1ull << int_sums[i].first : int_sums[i].first == 63 ? 1ull << (bits - 1) : 0;
    if (int_sums[i].second < 64)
        v |= 1ull << (int_sums[i].second % bits);
    return (v + (uint64_t)(int64_t)int_sums[i].add) & ones(bits);
}

/* Special values, then values near plus and minus each power of two, and near sums of two powers. */
static uint64_t listed_int(unsigned bits, unsigned i)
{
    unsigned k = (i >> 4) & 63;
    uint64_t power = 1ull << k % bits;

    if (i < SPECIALS)
        return special_int(bits, i);
    switch (i >> 10) {
    case 1: power = 0 - power; break;
    case 2: power *= 3; break;
    case 3: power += 1ull << k / 2; break;
    }
    return (power + (i & 15) - 8) & ones(bits);
}

/* Builds a value from special bytes or halves. */
static uint64_t special_parts(unsigned part, uint64_t r)
{
    uint64_t v = 0;

    for (unsigned at = 0; at < 64; at += part)
        v |= special_int(part, column_mix(r + at) & (SPECIALS - 1)) << at;
    return v;
}

static uint64_t random_length(unsigned bits, uint64_t r)
{
    int64_t v = (int64_t)(r << (64 - bits)) >> below(r, (int)bits);

    return (uint64_t)(r & 1 ? v : (int64_t)((uint64_t)v >> below(r, (int)bits))) >> (64 - bits);
}

static uint64_t few_bits(unsigned bits, uint64_t r)
{
    uint64_t v = 0;

    for (unsigned k = 0; k <= (r & 3); k++)
        v ^= (r >> 2 & 1 ? ones(1 + (r >> 8 & 63) % bits) : 1ull) << ((column_mix(r + k) & 63) % bits);
    return r & 8 ? ~v : v;
}

/* Draws products near the limit of the type, and dividends near a multiple. */
static uint64_t related_int(unsigned bits, const struct draw *d, bool multiple)
{
    unsigned length = 1 + (unsigned)below(d->shared, (int)bits - 1);
    uint64_t divisor = column_mix(d->shared) >> (64 - length), factor = column_mix(d->shared + 1) >> length;

    if (d->position == 1 || d->inputs == 1)
        return d->own & 1 ? divisor : 0 - divisor;
    factor >>= 64 - bits < 64 - length ? 64 - bits : 0;
    if (!multiple)
        return d->own & 2 ? factor : 0 - factor;
    return divisor * factor + (uint64_t)((int64_t)(d->own & 3) - 1);
}

static uint64_t random_int(unsigned bits, unsigned mode, const struct draw *d)
{
    uint64_t r = d->own, v;

    switch (mode) {
    case 1: v = random_length(bits, r); break;
    case 2: v = (r & 1 ? 1ull << (bits - 1) : 0) + (r >> 8 & 15) - 8; break;
    case 3: v = d->shared + (r >> 8 & 7) - (d->position ? 4 : 3); break;
    case 4: v = (1ull << below(r, (int)bits)) + (r & 3) - 1; v = r & 4 ? 0 - v : v; break;
    case 5: v = special_parts(8, r); break;
    case 6: v = special_parts(16, r); break;
    case 7: v = (r & 255) - (r >> 8 & 1 ? 128 : 0); break;
    case 8: v = related_int(bits, d, false); break;
    case 9: v = related_int(bits, d, true); break;
    case 10: v = r & 1 ? special_int(bits, r >> 8 & (SPECIALS - 1)) : r >> 1; break;
    case 11: v = few_bits(bits, r); break;
    default: v = r;
    }
    return v & ones(bits);
}

/* ---- Counts, predicates, groups ---- */

static const uint32_t counts[SPECIALS] = {
    0,          1,          8,          31,         32,     33,         255,      0xffffffff, 2,          5,
    16,         24,         63,         64,         256,    0x80000001, 3,        4,          6,          7,
    9,          10,         11,         12,         13,     14,         15,       17,         18,         20,
    23,         25,         28,         30,         34,     40,         47,       48,         49,         62,
    65,         96,         127,        128,        129,    254,        257,      287,        288,        0x1000,
    0x101f,     0x1c03,     0x1f00,     0x1fff,     0xffff, 0x10000,    0x10001f, 0x7fffffff, 0x80000000, 0x8000001f,
    0xffffffe0, 0xfffffff8, 0xfffffffe, 0xffffff01,
};

static uint64_t random_count(uint64_t r)
{
    switch (r & 7) {
    case 0: return r >> 16 & 0xffffffff;
    case 1: return (r >> 16) % 300;
    case 2: return 0xffffffff - (r >> 16) % 40;
    case 3: return (r >> 16) % 130;
    default: return (r >> 16) % 67;
    }
}

/* Per warp: all lanes equal, two values, several values, or one different lane. */
static uint64_t group_value(uint32_t row, unsigned bits)
{
    uint64_t warp = column_mix(row / 32 ^ column_seed()), lane = column_mix(row ^ 0x5bd1e995u ^ column_seed());
    unsigned choice = 0;

    switch (row / 32 & 3) {
    case 1: choice = lane % (2 + (warp >> 8) % 7); break;
    case 2: choice = row % 32 == (warp >> 16) % 32; break;
    case 3: choice = lane & 1; break;
    }
    return bits == 1 ? (choice ^ warp) & 1 : column_mix(warp + choice) & ones(bits);
}

/* ---- Columns ---- */

/* Selects the special value of an input in a crossed row. A row number runs through all combinations and its digits
 * select the values. In the first rows the digits differ from each other. */
static unsigned crossed_index(const struct column *c, uint32_t row)
{
    static const uint8_t digit_bits[5] = { 12, 12, 6, 4, 3 };
    unsigned bits = digit_bits[c->inputs], n = row * 2531u % COLUMN_CROSSED,
             others = (SPECIALS - 1) & ~(unsigned)ones(bits);

    /* inputs after the crossed ones wrap around and reuse the digits */
    return (n >> (bits * (c->inputs - 1u - c->position) & 31) & (unsigned)ones(bits)) |
           ((unsigned)(column_seed() >> 8 * c->position) & others);
}

static uint64_t special_element(const struct column *c, unsigned i)
{
    struct format f = format_of(c);

    if (c->class == VALUE_COUNT)
        return counts[i % SPECIALS];
    if (c->class == VALUE_INT)
        return listed_int(c->bits, i);
    return c->lanes == 1 ? listed_float(&f, i) : special_float(&f, i % SPECIALS);
}

/* Elements of a packed value use the special values in different orders. */
static unsigned lane_index(const struct column *c, unsigned i, unsigned lane)
{
    unsigned count = c->inputs <= 2 ? SPECIALS : c->inputs == 3 ? 16 : 8;

    if (lane == 0)
        return c->lanes > 1 ? i % count : i;
    return (c->inputs == 1 ? i / SPECIALS : i * (2 * lane + 3) + lane) % count;
}

static uint64_t random_element(const struct column *c, uint32_t row, unsigned lane)
{
    struct draw d = { c->position, c->inputs, column_mix(((uint64_t)row << 8 | lane) ^ column_seed()), 0 };
    struct format f = format_of(c);
    unsigned mode = (row - COLUMN_CROSSED) / MODE_ROWS % MODES;

    d.own = column_mix(d.shared ^ (c->position + 1ull) << 56);
    if (c->class == VALUE_COUNT)
        return random_count(d.own);
    return c->class == VALUE_INT ? random_int(c->bits, mode, &d) : random_float(&f, mode, &d);
}

uint64_t column_value(const struct column *c, uint32_t row)
{
    uint64_t above = column_mix((row * 5ull + 3) ^ column_seed()), v = 0;
    unsigned used = c->bits * c->lanes;

    if (c->class == VALUE_PRED)
        return column_mix((row * 3ull + c->position) ^ column_seed()) >> 17 & 1;
    if (c->class == VALUE_GROUP)
        return group_value(row, c->bits);
    if (c->all)
        return (row | above << 16) & ones(c->width);
    for (unsigned lane = 0; lane < c->lanes; lane++) {
        uint64_t e = row < COLUMN_CROSSED ? special_element(c, lane_index(c, crossed_index(c, row), lane))
                                          : random_element(c, row, lane);

        v |= (e & ones(c->bits)) << lane * c->bits;
    }
    if (used < c->width)
        v |= above << used;
    return v & ones(c->width);
}

void column_fill(const struct column *c, uint32_t rows, void *out)
{
    for (uint32_t row = 0; row < rows; row++) {
        uint64_t v = column_value(c, row);

        memcpy((char *)out + (size_t)row * c->width / 8, &v,
               c->width / 8); /* requires a little-endian host, like the recording */
    }
}
