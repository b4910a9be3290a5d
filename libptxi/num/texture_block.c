/* Texels of compressed blocks of 4x4 texels: Khronos Data Format Specification, "S3TC Compressed Texture Image
 * Formats", "RGTC ..." and "BPTC ...". */
#include "num/texture_block.h"

#include <assert.h>
#include <string.h>

#include "num/texture.h"

struct bits {
    uint64_t low, high;
};

static struct bits load_block(const unsigned char *block)
{
    struct bits b;

    memcpy(&b, block, sizeof b);
    return b;
}

/* Reads the next n bits, at most 32. */
static uint32_t read_bits(struct bits *b, unsigned n)
{
    uint32_t v = (uint32_t)(b->low & ((UINT64_C(1) << n) - 1));

    assert(n <= 32);
    b->low = n ? b->low >> n | b->high << (64 - n) : b->low;
    b->high >>= n;
    return v;
}

static void skip_bits(struct bits *b, unsigned n)
{
    for (; n > 32; n -= 32)
        read_bits(b, 32);
    read_bits(b, n);
}

static int32_t sign_extend(uint32_t v, unsigned bits)
{
    return (int32_t)(v << (32 - bits)) >> (32 - bits);
}

/* ---- shared by both BPTC formats */

/* The part of the block to which each texel belongs: one bit for two parts, two bits for three. */
static const uint16_t two_parts[64] = {
    0xcccc, 0x8888, 0xeeee, 0xecc8, 0xc880, 0xfeec, 0xfec8, 0xec80,
    0xc800, 0xffec, 0xfe80, 0xe800, 0xffe8, 0xff00, 0xfff0, 0xf000,
    0xf710, 0x008e, 0x7100, 0x08ce, 0x008c, 0x7310, 0x3100, 0x8cce,
    0x088c, 0x3110, 0x6666, 0x366c, 0x17e8, 0x0ff0, 0x718e, 0x399c,
    0xaaaa, 0xf0f0, 0x5a5a, 0x33cc, 0x3c3c, 0x55aa, 0x9696, 0xa55a,
    0x73ce, 0x13c8, 0x324c, 0x3bdc, 0x6996, 0xc33c, 0x9966, 0x0660,
    0x0272, 0x04e4, 0x4e40, 0x2720, 0xc936, 0x936c, 0x39c6, 0x639c,
    0x9336, 0x9cc6, 0x817e, 0xe718, 0xccf0, 0x0fcc, 0x7744, 0xee22,
};
static const uint32_t three_parts[64] = {
    0xaa685050, 0x6a5a5040, 0x5a5a4200, 0x5450a0a8, 0xa5a50000, 0xa0a05050, 0x5555a0a0, 0x5a5a5050,
    0xaa550000, 0xaa555500, 0xaaaa5500, 0x90909090, 0x94949494, 0xa4a4a4a4, 0xa9a59450, 0x2a0a4250,
    0xa5945040, 0x0a425054, 0xa5a5a500, 0x55a0a0a0, 0xa8a85454, 0x6a6a4040, 0xa4a45000, 0x1a1a0500,
    0x0050a4a4, 0xaaa59090, 0x14696914, 0x69691400, 0xa08585a0, 0xaa821414, 0x50a4a450, 0x6a5a0200,
    0xa9a58000, 0x5090a0a8, 0xa8a09050, 0x24242424, 0x00aa5500, 0x24924924, 0x24499224, 0x50a50a50,
    0x500aa550, 0xaaaa4444, 0x66660000, 0xa5a0a5a0, 0x50a050a0, 0x69286928, 0x44aaaa44, 0x66666600,
    0xaa444444, 0x54a854a8, 0x95809580, 0x96969600, 0xa85454a8, 0x80959580, 0xaa141414, 0x96960000,
    0xaaaa1414, 0xa05050a0, 0xa0a5a5a0, 0x96000000, 0x40804080, 0xa9a8a9a8, 0xaaaaaa44, 0x2a4a5254,
};

/* The anchor texels of the second and third part. The index of an anchor lacks its highest bit, which is 0. Texel 0 is
 * the anchor of the first part. */
static const uint8_t second_of_two[64] = {
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 2, 8, 2, 2, 8, 8, 15, 2, 8, 2, 2, 8, 8, 2, 2,
    15, 15, 6, 8, 2, 8, 15, 15, 2, 8, 2, 2, 2, 15, 15, 6, 6, 2, 6, 8, 15, 15, 2, 2, 15, 15, 15, 15, 15, 2, 2, 15,
};
static const uint8_t second_of_three[64] = {
    3, 3, 15, 15, 8, 3, 15, 15, 8, 8, 6, 6, 6, 5, 3, 3, 3, 3, 8, 15, 3, 3, 6, 10, 5, 8, 8, 6, 8, 5, 15, 15,
    8, 15, 3, 5, 6, 10, 8, 15, 15, 3, 15, 5, 15, 15, 15, 15, 3, 15, 5, 5, 5, 8, 5, 10, 5, 10, 8, 13, 15, 12, 3, 3,
};
static const uint8_t third_of_three[64] = {
    15, 8, 8, 3, 15, 15, 3, 8, 15, 15, 15, 15, 15, 15, 15, 8, 15, 8, 15, 3, 15, 8, 15, 8, 3, 15, 6, 10, 15, 15, 10, 8,
    15, 3, 15, 10, 10, 8, 9, 10, 6, 15, 8, 15, 3, 6, 6, 8, 15, 3, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 3, 15, 15, 8,
};

struct parts {
    unsigned count, shape;
};

static unsigned part_of(const struct parts *p, unsigned texel)
{
    assert(p->shape < 64 && texel < 16);
    switch (p->count) {
    case 1: return 0;
    case 2: return two_parts[p->shape] >> texel & 1;
    default: return three_parts[p->shape] >> 2 * texel & 3;
    }
}

/* Reads the index of a texel. Indices have `bits` bits, except for anchor texels. */
static unsigned read_index(struct bits b, const struct parts *p, unsigned texel, unsigned bits)
{
    const unsigned second = p->count == 2 ? second_of_two[p->shape] : second_of_three[p->shape];
    const unsigned third = third_of_three[p->shape];
    unsigned short_ones = texel > 0;
    bool is_short = !texel;

    if (p->count > 1) {
        short_ones += texel > second;
        is_short |= texel == second;
    }
    if (p->count > 2) {
        short_ones += texel > third;
        is_short |= texel == third;
    }
    skip_bits(&b, texel * bits - short_ones);
    return read_bits(&b, bits - is_short);
}

/* Interpolates between two end points by an index of `bits` bits. */
static int32_t interpolate(int32_t a, int32_t b, unsigned index, unsigned bits)
{
    static const uint8_t weights[3][16] = {
        { 0, 21, 43, 64 }, { 0, 9, 18, 27, 37, 46, 55, 64 },
        { 0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64 },
    };
    int32_t w = weights[bits - 2][index];

    return (a * (64 - w) + b * w + 32) >> 6;
}

/* ---- floats: "BPTC float" */

/* The modes: the number of bits of the colours of the first end point, and of the differences of the others from it,
 * or of the others themselves; then the fields in the block. A field is four characters: the colour (a capital letter
 * if its bits are reversed), the end point, the lowest bit, and the number of bits. */
static const struct {
    uint8_t bits[4];
    const char *places;
} float_modes[32] = {
    [0] = { { 10, 5, 5, 5 },
        "gy41 by41 bz41 rw0a gw0a bw0a rx05 gz41 gy04 gx05 bz01 gz04 bx05 bz11 by04 ry05 bz21 rz05 "
        "bz31" },
    [1] = { { 7, 6, 6, 6 },
        "gy51 gz41 gz51 rw07 bz01 bz11 by41 gw07 by51 bz21 gy41 bw07 bz31 bz51 bz41 rx06 gy04 gx06 "
        "gz04 bx06 by04 ry06 rz06" },
    [2] = { { 11, 5, 4, 4 },
        "rw0a gw0a bw0a rx05 rwa1 gy04 gx04 gwa1 bz01 gz04 bx04 bwa1 bz11 by04 ry05 bz21 rz05 bz31" },
    [6] = { { 11, 4, 5, 4 },
        "rw0a gw0a bw0a rx04 rwa1 gz41 gy04 gx05 gwa1 gz04 bx04 bwa1 bz11 by04 ry04 bz01 bz21 rz04 "
        "gy41 bz31" },
    [10] = { { 11, 4, 4, 5 },
        "rw0a gw0a bw0a rx04 rwa1 by41 gy04 gx04 gwa1 bz01 gz04 bx05 bwa1 by04 ry04 bz11 bz21 rz04 "
        "bz41 bz31" },
    [14] = { { 9, 5, 5, 5 },
        "rw09 by41 gw09 gy41 bw09 bz41 rx05 gz41 gy04 gx05 bz01 gz04 bx05 bz11 by04 ry05 bz21 rz05 "
        "bz31" },
    [18] = { { 8, 6, 5, 5 },
        "rw08 gz41 by41 gw08 bz21 gy41 bw08 bz31 bz41 rx06 gy04 gx05 bz01 gz04 bx05 bz11 by04 ry06 "
        "rz06" },
    [22] = { { 8, 5, 6, 5 },
        "rw08 bz01 by41 gw08 gy51 gy41 bw08 gz51 bz41 rx05 gz41 gy04 gx06 gz04 bx05 bz11 by04 ry05 "
        "bz21 rz05 bz31" },
    [26] = { { 8, 5, 5, 6 },
        "rw08 bz11 by41 gw08 by51 gy41 bw08 bz51 bz41 rx05 gz41 gy04 gx05 bz01 gz04 bx06 by04 ry05 "
        "bz21 rz05 bz31" },
    [30] = { { 6, 6, 6, 6 },
        "rw06 gz41 bz01 bz11 by41 gw06 gy51 by51 bz21 gy41 bw06 gz51 bz31 bz51 bz41 rx06 gy04 gx06 "
        "gz04 bx06 by04 ry06 rz06" },
    [3] = { { 10, 10, 10, 10 },
        "rw0a gw0a bw0a rx0a gx0a bx0a" },
    [7] = { { 11, 9, 9, 9 },
        "rw0a gw0a bw0a rx09 rwa1 gx09 gwa1 bx09 bwa1" },
    [11] = { { 12, 8, 8, 8 },
        "rw0a gw0a bw0a rx08 Rwa2 gx08 Gwa2 bx08 Bwa2" },
    [15] = { { 16, 4, 4, 4 },
        "rw0a gw0a bw0a rx04 Rwa6 gx04 Gwa6 bx04 Bwa6" },
};

static unsigned hex_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static unsigned colour_number(char letter)
{
    switch (letter) {
    case 'r': return 0;
    case 'g': return 1;
    default: return 2;
    }
}

static void read_fields(struct bits *b, const char *places, int32_t v[4][3])
{
    memset(v, 0, 4 * sizeof *v);
    for (const char *p = places; *p; p += 4 + (p[4] == ' ')) {
        unsigned low = hex_digit(p[2]), n = hex_digit(p[3]);
        bool is_reversed = *p < 'a';
        uint32_t field = read_bits(b, n), reversed = 0;

        for (unsigned k = 0; k < n; k++)
            reversed |= (field >> k & 1) << (n - 1 - k);
        v[p[1] - 'w'][colour_number((char)(*p | 32))] |= (int32_t)((is_reversed ? reversed : field) << low);
    }
}

/* Extends a colour of an end point to 16 bits. */
static int32_t widen_colour(int32_t v, unsigned bits, bool is_signed)
{
    int32_t magnitude = v < 0 ? -v : v, most = (1 << (bits - is_signed)) - 1;

    if (bits >= 15u + is_signed || !v)
        return v;
    if (!is_signed)
        return v == most ? 0xffff : ((v << 16) + 0x8000) >> bits;
    magnitude = magnitude >= most ? 0x7fff : ((magnitude << 15) + 0x4000) >> (bits - 1);
    return v < 0 ? -magnitude : magnitude;
}

/* Scales a colour to the range of finite f16. */
static uint32_t scale_to_f16(int32_t v, bool is_signed)
{
    if (!is_signed)
        return (uint32_t)(v * 31) >> 6;
    if (v < -1)
        return 0x8000 | (uint32_t)(-v * 31) >> 5;
    return v < 0 ? 0 : (uint32_t)(v * 31) >> 5;
}

/* The colour of an end point. `first` is that of the first end point, and v the field of another one. */
static int32_t end_colour(int32_t first, int32_t v, unsigned first_bits, unsigned bits, bool differences,
                          bool is_signed)
{
    if (differences || is_signed)
        v = sign_extend((uint32_t)v, bits);
    if (differences && is_signed)
        return sign_extend((uint32_t)(v + first), first_bits);
    return differences ? (v + first) & ((1 << first_bits) - 1) : v;
}

static void decode_bc6h(const unsigned char *block, bool is_signed, unsigned texel, uint32_t c[4])
{
    struct bits b = load_block(block);
    unsigned mode = read_bits(&b, 2);
    struct parts parts;
    int32_t v[4][3];

    memset(c, 0, 4 * sizeof *c);
    if (mode > 1)
        mode |= read_bits(&b, 3) << 2;
    if (!float_modes[mode].places)
        return;
    read_fields(&b, float_modes[mode].places, v);
    parts.count = (mode & 3) == 3 ? 1 : 2;
    parts.shape = parts.count == 2 ? read_bits(&b, 5) : 0;
    unsigned bits = parts.count == 2 ? 3 : 4;
    unsigned index = read_index(b, &parts, texel, bits), end = 2 * part_of(&parts, texel);

    for (unsigned k = 0; k < 3; k++) {
        const uint8_t *wide = float_modes[mode].bits;
        bool differences = mode != 3 && mode != 30;
        int32_t first = is_signed ? sign_extend((uint32_t)v[0][k], wide[0]) : v[0][k], ends[2];

        for (unsigned e = 0; e < 2; e++) {
            ends[e] = first;
            if (end + e)
                ends[e] = end_colour(first, v[end + e][k], wide[0], wide[1 + k], differences, is_signed);
            ends[e] = widen_colour(ends[e], wide[0], is_signed);
        }
        c[k] = scale_to_f16(interpolate(ends[0], ends[1], index, bits), is_signed);
    }
}

/* ---- colours with alpha in eight modes: "BPTC" */

/* The number of parts, and the number of bits of the shape, of the rotation, of the index selector, of a colour, of
 * alpha, of a p-bit per end point, of a p-bit shared by two end points, of an index, and of a secondary index. */
static const struct {
    uint8_t parts, shape, rotation, selector, colour, alpha, own, shared, index, second;
} modes[8] = {
    { 3, 4, 0, 0, 4, 0, 1, 0, 3, 0 }, { 2, 6, 0, 0, 6, 0, 0, 1, 3, 0 },
    { 3, 6, 0, 0, 5, 0, 0, 0, 2, 0 }, { 2, 6, 0, 0, 7, 0, 1, 0, 2, 0 },
    { 1, 0, 2, 1, 5, 6, 0, 0, 2, 3 }, { 1, 0, 2, 0, 7, 8, 0, 0, 2, 2 },
    { 1, 0, 0, 0, 7, 7, 1, 0, 4, 0 }, { 2, 6, 0, 0, 5, 5, 1, 0, 2, 0 },
};

/* Reads the end points and extends them to 8 bits. */
static void read_ends(struct bits *b, unsigned mode, uint32_t v[6][4])
{
    unsigned ends = 2u * modes[mode].parts;

    for (unsigned k = 0; k < 4; k++)
        for (unsigned e = 0; e < ends; e++)
            v[e][k] = read_bits(b, k < 3 ? modes[mode].colour : modes[mode].alpha);
    for (unsigned e = 0; e < ends; e++) {
        bool more = modes[mode].own || modes[mode].shared;
        uint32_t last = 0;

        if (modes[mode].own || (modes[mode].shared && !(e & 1)))
            last = read_bits(b, 1);
        else if (modes[mode].shared)
            last = v[e - 1][0] & 1;
        for (unsigned k = 0; k < 4; k++)
            v[e][k] = v[e][k] << more | last;
    }
    for (unsigned e = 0; e < ends; e++)
        for (unsigned k = 0; k < 4; k++) {
            unsigned bits = (k < 3 ? modes[mode].colour : modes[mode].alpha) + (modes[mode].own || modes[mode].shared);
            uint32_t top = v[e][k] << (8 - bits);

            v[e][k] = k == 3 && !modes[mode].alpha ? 255 : top | top >> bits;
        }
}

static void decode_bc7(const unsigned char *block, unsigned texel, uint32_t c[4])
{
    struct bits b = load_block(block);
    unsigned mode = *block ? (unsigned)__builtin_ctz(*block) : 8;
    uint32_t v[6][4] = { { 0 } };

    memset(c, 0, 4 * sizeof *c);
    if (mode == 8)
        return;
    skip_bits(&b, mode + 1);
    const struct parts parts = { modes[mode].parts, read_bits(&b, modes[mode].shape) }, whole = { 1, 0 };
    unsigned rotation = read_bits(&b, modes[mode].rotation), selector = read_bits(&b, modes[mode].selector);
    unsigned bits[2] = { modes[mode].index, modes[mode].second }, index[2];

    read_ends(&b, mode, v);
    index[0] = read_index(b, &parts, texel, bits[0]);
    skip_bits(&b, 16u * bits[0] - parts.count);
    index[1] = bits[1] ? read_index(b, &whole, texel, bits[1]) : index[0];
    bits[1] = bits[1] ? bits[1] : bits[0];
    for (unsigned k = 0; k < 4; k++) {
        unsigned which = (k == 3) ^ selector, end = 2 * part_of(&parts, texel);

        c[k] = (uint32_t)interpolate((int32_t)v[end][k], (int32_t)v[end + 1][k], index[which], bits[which]);
    }
    if (rotation) {
        uint32_t alpha = c[3];

        c[3] = c[rotation - 1];
        c[rotation - 1] = alpha;
    }
}

/* ---- "S3TC", "RGTC": two colours and steps between them. The rounding of steps was derived from recordings of an
 * H200. */

/* A colour of 5 bits, or a step between two, as 8 bits. */
static uint32_t step_of_5_bits(int32_t x, int32_t y, unsigned code, bool halves)
{
    const int32_t whole = code ? y : x, sum = code == 2 ? 2 * x + y : x + 2 * y;

    if (code < 2)
        return (uint32_t)(whole << 3 | whole >> 2);
    return (uint32_t)(halves ? (x + y) * 33 / 8 : sum * 22 / 8);
}

/* The same for 6 bits. A step is slightly more than 80 or 128 of 256. */
static uint32_t step_of_6_bits(int32_t x, int32_t y, unsigned code, bool halves)
{
    const int32_t step = halves ? 513 : 321;
    int32_t from = code & 1 ? y : x;
    int32_t to = code & 1 ? x : y;

    from = from << 2 | from >> 4;
    to = to << 2 | to >> 4;
    return (uint32_t)(code < 2 ? from : (1024 * from + step * (to - from) + 512) >> 10);
}

/* With `may_be_transparent`, a block may have transparent texels. */
static void decode_colour(const unsigned char *block, bool may_be_transparent, unsigned texel, uint32_t c[4])
{
    uint32_t first = block[0] | (uint32_t)block[1] << 8, second = block[2] | (uint32_t)block[3] << 8;
    unsigned code = block[4 + texel / 4] >> 2 * (texel % 4) & 3;
    bool halves = may_be_transparent && first <= second;

    c[3] = 255;
    if (halves && code == 3) {
        memset(c, 0, 4 * sizeof *c);
        return;
    }
    c[0] = step_of_5_bits((int32_t)(first >> 11), (int32_t)(second >> 11), code, halves);
    c[1] = step_of_6_bits((int32_t)(first >> 5 & 63), (int32_t)(second >> 5 & 63), code, halves);
    c[2] = step_of_5_bits((int32_t)(first & 31), (int32_t)(second & 31), code, halves);
}

/* Extends 8 bits, or 7 bits and a sign, to 16 bits. */
static int32_t extend_to_16(int32_t v, bool is_signed)
{
    int32_t m = v < 0 ? -v : v;
    int32_t wide = is_signed ? 258 * m + (m >> 6) : 257 * m;

    return v < 0 ? -wide : wide;
}

/* The number of signed byte v, at least -127. */
static int32_t signed_byte(uint32_t v)
{
    int32_t x = sign_extend(v, 8);

    return x < -127 ? -127 : x;
}

/* The smallest or the largest value, for codes 6 and 7. */
static int32_t extreme_value(unsigned code, bool is_signed)
{
    if (code == 7)
        return is_signed ? 127 : 255;
    return is_signed ? -127 : 0;
}

/* One channel of 16 bits, with steps in 257ths of a unit of the 8 bits, or of 8 bits, with slightly finer steps. */
static uint32_t decode_channel(const unsigned char *block, bool is_signed, bool wide, unsigned texel)
{
    static const uint8_t steps[2][8] = { { 0, 0, 48, 96, 96, 48 }, { 0, 0, 36, 72, 144, 144, 72, 36 } };
    static const uint8_t from_second[2] = { 1 << 1 | 1 << 4 | 1 << 5, 1 << 1 | 1 << 4 | 1 << 6 | 1 << 7 };
    int32_t x = block[0], y = block[1], from, way, step;
    struct bits b = { 0, 0 };
    unsigned code, six;

    memcpy(&b.low, block + 2, 6);
    if (is_signed) {
        x = signed_byte((uint32_t)x);
        y = signed_byte((uint32_t)y);
    }
    skip_bits(&b, 3 * texel);
    code = read_bits(&b, 3);
    six = x > y;
    from = from_second[six] >> code & 1 ? y : x;
    way = from == x ? y - x : x - y;
    step = steps[six][code];
    if (!six && code > 5) {
        from = extreme_value(code, is_signed);
        way = 0;
    }
    if (wide)
        return (uint32_t)(extend_to_16(from, is_signed) + step * way);
    return (uint32_t)((2048 * from + (8 * step + step / (six ? 36 : 48)) * way + 1024) >> 11);
}

void ptxi_texture_decode_block(enum ptxi_block kind, const unsigned char *block, unsigned texel, uint32_t c[4])
{
    switch (kind) {
    case PTXI_BLOCK_BC1:
        decode_colour(block, true, texel, c);
        break;
    case PTXI_BLOCK_BC2:
        decode_colour(block + 8, false, texel, c);
        c[3] = (block[texel / 2] >> 4 * (texel & 1) & 15) * 17u;
        break;
    case PTXI_BLOCK_BC3:
        decode_colour(block + 8, false, texel, c);
        c[3] = decode_channel(block, false, false, texel);
        break;
    case PTXI_BLOCK_BC4: case PTXI_BLOCK_BC4_SIGNED:
        c[0] = decode_channel(block, kind == PTXI_BLOCK_BC4_SIGNED, true, texel);
        break;
    case PTXI_BLOCK_BC5: case PTXI_BLOCK_BC5_SIGNED:
        c[0] = decode_channel(block, kind == PTXI_BLOCK_BC5_SIGNED, true, texel);
        c[1] = decode_channel(block + 8, kind == PTXI_BLOCK_BC5_SIGNED, true, texel);
        break;
    case PTXI_BLOCK_BC6H: case PTXI_BLOCK_BC6H_SIGNED:
        decode_bc6h(block, kind == PTXI_BLOCK_BC6H_SIGNED, texel, c);
        break;
    default:
        decode_bc7(block, texel, c);
        break;
    }
}
