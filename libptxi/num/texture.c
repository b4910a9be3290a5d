#include "num/texture.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "num/approx.h"
#include "num/convert.h"

/* ---- coordinates */

struct ptxi_texture_tap ptxi_texture_find_tap(double x, uint32_t size, unsigned bits, bool linear)
{
    enum { MOST = 1 << 24 };
    const double limit = bits ? MOST : 1LL << 40;
    const double v = x != x || fabs(x) < 0x1p-126 ? 0 : fmin(fmax(x, -limit), limit);
    int64_t whole = 0, fixed;

    assert(bits < 31);
    if (!bits) {
        fixed = linear ? (int64_t)floor(v * 256 + 0.5) - 128 : (int64_t)floor(v * 256);
    } else {
        double turns = floor(v);
        int64_t most = (1 << bits) - 1;
        int64_t cut = (int64_t)((v - turns) * (double)(1 << bits)); /* the difference may be rounded up to 1 */
        int64_t part = (cut < most ? cut : most) * size;

        whole = (int64_t)turns * size;
        fixed = linear ? ((part + (1 << (bits - 9))) >> (bits - 8)) - 128 : part >> (bits - 8);
    }
    return (struct ptxi_texture_tap){ whole + (fixed >> 8), (uint32_t)fixed & 255 };
}

/* (x + 1) / 2, rounded down. Infinities are at the edge. They are products with the reciprocal of a subnormal number.
 */
static double normalize_on_face(double coordinate)
{
    double x = fmin(fmax(coordinate, -1), 1), v = (fabs(x) < 0x1p-126 ? 0 : x) * 0.5 + 0.5;

    return v - 0.5 > x * 0.5 && fabs(x) >= 0x1p-126 ? nextafter(v, 0) : v;
}

static float scale_of(const float direction[3])
{
    float largest = fmaxf(fmaxf(fabsf(direction[0]), fabsf(direction[1])), fabsf(direction[2]));

    return ptxi_num_f32(ptxi_num_rcp_approx_ftz_f32(ptxi_num_bits_f32(largest)));
}

/* Projects a direction onto a cube and returns the face. PTX ISA, "Texture Instructions: tex": the coordinate of the
 * largest magnitude selects the face. The assembler generates a multiplication of the coordinates by its approximate
 * reciprocal. */
static unsigned project_to_cube(const float direction[3], float c[3])
{
    float scale = scale_of(direction), x = direction[0] * scale, y = direction[1] * scale, z = direction[2] * scale;
    bool no_y = y != y && x == x, no_z = z != z && !(x != x && y != y);

    c[0] = x == x ? x : 0;
    c[1] = y == y ? y : 0;
    c[2] = z == z ? z : 0;
    if (!no_z && fabsf(c[2]) >= fabsf(c[0]) && fabsf(c[2]) >= fabsf(c[1]))
        return c[2] >= 0 ? 4 : 5;
    if (!no_y && fabsf(c[1]) >= fabsf(c[0]))
        return c[1] >= 0 ? 2 : 3;
    return c[0] >= 0 ? 0 : 1;
}

/* The faces of a cube: the axes of their coordinates s and t and of their normal, and the signs of these. */
static const struct {
    uint8_t s, t, major;
    int8_t s_sign, t_sign, sign;
} faces[6] = {
    { 2, 1, 0, -1, -1, 1 }, { 2, 1, 0, 1, -1, -1 }, { 0, 2, 1, 1, 1, 1 },
    { 0, 2, 1, 1, -1, -1 }, { 0, 1, 2, 1, -1, 1 },  { 0, 1, 2, -1, -1, -1 },
};

unsigned ptxi_texture_cube_face(const float direction[3], double place[2])
{
    float c[3];
    unsigned face = project_to_cube(direction, c);

    assert(face < 6);
    place[0] = normalize_on_face(c[faces[face].s] * faces[face].s_sign);
    place[1] = normalize_on_face(c[faces[face].t] * faces[face].t_sign);
    return face;
}

/* On one face the step is the difference of the coordinates. Across an edge it is the distance to the edge and the
 * distance from it. */
void ptxi_texture_cube_gradient(const float from[3], const float to[3], unsigned way, struct ptxi_texture_gradients *s)
{
    float a[3], b[3];
    unsigned f = project_to_cube(from, a), g = project_to_cube(to, b), here = faces[f].major, there = faces[g].major;

    for (unsigned d = 0; d < 3; d++) {
        s->v[way][d] = d == here ? 0 : (b[d] - a[d]) * 0.5f;
        s->beyond[way][d] = 0;
    }
    if (f == g)
        return;
    s->over_an_edge = true;
    s->v[way][there] = ptxi_texture_cube_edge_distance(a[there], g & 1);
    if (here != there)
        s->beyond[way][there] = ptxi_texture_cube_edge_distance(b[here], f & 1);
}

void ptxi_texture_cube_project_gradients(unsigned face, struct ptxi_texture_gradients *s)
{
    for (unsigned way = 0; way < 2; way++) {
        const float x = s->v[way][faces[face].s] * faces[face].s_sign;
        const float y = s->v[way][faces[face].t] * faces[face].t_sign;

        s->v[way][0] = x;
        s->v[way][1] = y;
        s->v[way][2] = 0;
    }
}

static bool crosses_edge(struct ptxi_texture_tap tap, uint32_t size)
{
    return tap.at < 0 || tap.at + 1 >= size;
}

static inline int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    if (x < low)
        return low;
    return x > high ? high : x;
}

static struct ptxi_texture_tap clamp_to_edge(struct ptxi_texture_tap tap, uint32_t size)
{
    const int64_t at = clamp(tap.at * 256 + tap.fraction, -256, (int64_t)size * 256 - 1);

    return (struct ptxi_texture_tap){ at >> 8, (uint32_t)at & 255 };
}

void ptxi_texture_cube_clamp_corner(struct ptxi_texture_tap *x, struct ptxi_texture_tap *y, uint32_t size)
{
    if (!crosses_edge(*x, size) || !crosses_edge(*y, size))
        return;
    *x = clamp_to_edge(*x, size);
    *y = clamp_to_edge(*y, size);
}

/* The texel has the same distance from the edge on the next face. It is clamped there. */
bool ptxi_texture_cube_cross_edge(unsigned *face, int64_t *x, int64_t *y, uint32_t size)
{
    const int64_t n = size, s = 2 * *x + 1 - n, t = 2 * *y + 1 - n;
    bool beyond_s = s < -n || s > n, beyond_t = t < -n || t > n;
    unsigned f = *face, axis = beyond_s ? faces[f].s : faces[f].t;
    int64_t depth = llabs(beyond_s ? s : t) - (n + 1), p[3];

    assert(f < 6);
    if (beyond_s && beyond_t)
        return false;
    if (!beyond_s && !beyond_t)
        return true;
    depth = depth < 2 * n - 2 ? depth : 2 * n - 2;
    p[faces[f].s] = s * faces[f].s_sign;
    p[faces[f].t] = t * faces[f].t_sign;
    p[faces[f].major] = (n - 1 - depth) * faces[f].sign;
    f = 2 * axis + (p[axis] < 0);
    *face = f;
    *x = (p[faces[f].s] * faces[f].s_sign + n - 1) / 2;
    *y = (p[faces[f].t] * faces[f].t_sign + n - 1) / 2;
    return true;
}

/* ---- weights */

void ptxi_texture_add_slice(struct ptxi_texture_weights *w, uint32_t share, uint32_t x, uint32_t y)
{
    const uint32_t far = (share * x + 128) >> 8, near = share - far;
    const uint32_t far_far = (far * y + 128) >> 8, near_near = (near * (256 - y) + 128) >> 8;
    const unsigned columns = x ? 15 : 5, rows = y ? 15 : 3;
    uint16_t *s = w->w + 4 * w->slices;

    assert(w->slices < PTXI_TEXTURE_MAX_SLICES);
    s[0] = (uint16_t)near_near;
    s[1] = (uint16_t)(far - far_far);
    s[2] = (uint16_t)(near - near_near);
    s[3] = (uint16_t)far_far;
    w->inside[w->slices++] = share ? (uint8_t)(columns & rows) : 0;
}

void ptxi_texture_drop_corner(struct ptxi_texture_weights *w, unsigned texel)
{
    uint16_t *s = w->w + 4 * (w->slices - 1), lost = s[texel], third = (uint16_t)((lost + 1) / 3);

    assert(w->slices && texel < 4);
    for (unsigned k = 0; k < 4; k++)
        s[k] = (uint16_t)(s[k] + (k == (texel ^ 3) ? lost - 2 * third : third));
    s[texel] = 0;
    w->inside[w->slices - 1] = 15 & ~(1u << texel);
}

void ptxi_texture_scale_slices(struct ptxi_texture_weights *w, uint32_t from, uint32_t bits)
{
    for (unsigned k = 4 * from; k < 4 * w->slices; k++)
        w->w[k] = (uint16_t)(w->w[k] << bits);
}

/* ---- colours. They have 7 bits of fraction, relative to the exponent of the greatest of eight neighbours in the
 * table. */
const uint16_t ptxi_texture_srgb[256] = {
    0x0000, 0x0d00, 0x1100, 0x1380, 0x1500, 0x1640, 0x1780, 0x1860, 0x1900, 0x19a0, 0x1a40, 0x1ae0,
    0x1b80, 0x1c20, 0x1c80, 0x1ce0, 0x1d50, 0x1dc0, 0x1e30, 0x1eb0, 0x1f30, 0x1fb0, 0x2018, 0x2060,
    0x20b0, 0x20f8, 0x2148, 0x21a0, 0x21f0, 0x2248, 0x22a8, 0x2300, 0x2360, 0x23d0, 0x2418, 0x2450,
    0x2488, 0x24c0, 0x24f8, 0x2530, 0x2570, 0x25b0, 0x25f0, 0x2630, 0x2670, 0x26b8, 0x2700, 0x2748,
    0x2790, 0x27e0, 0x2818, 0x2840, 0x2868, 0x2890, 0x28b8, 0x28e0, 0x2910, 0x2940, 0x2968, 0x2998,
    0x29c8, 0x29f8, 0x2a28, 0x2a60, 0x2a90, 0x2ac0, 0x2b00, 0x2b30, 0x2b60, 0x2ba0, 0x2bd0, 0x2c08,
    0x2c28, 0x2c40, 0x2c60, 0x2c80, 0x2ca0, 0x2cc0, 0x2ce0, 0x2d00, 0x2d20, 0x2d48, 0x2d68, 0x2d88,
    0x2db0, 0x2dd0, 0x2df8, 0x2e18, 0x2e40, 0x2e68, 0x2e88, 0x2eb0, 0x2ed8, 0x2f00, 0x2f28, 0x2f50,
    0x2f80, 0x2fa0, 0x2fd0, 0x3000, 0x3010, 0x3028, 0x3040, 0x3058, 0x3070, 0x3088, 0x30a0, 0x30b8,
    0x30d0, 0x30e8, 0x3100, 0x3118, 0x3130, 0x3148, 0x3160, 0x3180, 0x3198, 0x31b0, 0x31d0, 0x31e8,
    0x3200, 0x3220, 0x3238, 0x3258, 0x3270, 0x3290, 0x32b0, 0x32c8, 0x32e8, 0x3308, 0x3328, 0x3340,
    0x3360, 0x3380, 0x33a0, 0x33c0, 0x33e0, 0x3400, 0x3410, 0x3420, 0x3430, 0x3440, 0x3450, 0x3468,
    0x3478, 0x3488, 0x3498, 0x34a8, 0x34c0, 0x34d0, 0x34e0, 0x34f0, 0x3508, 0x3518, 0x3528, 0x3540,
    0x3550, 0x3568, 0x3578, 0x3590, 0x35a0, 0x35b0, 0x35c8, 0x35e0, 0x35f0, 0x3608, 0x3618, 0x3630,
    0x3640, 0x3658, 0x3670, 0x3688, 0x3698, 0x36b0, 0x36c8, 0x36d8, 0x36f0, 0x3708, 0x3720, 0x3738,
    0x3750, 0x3768, 0x3780, 0x3790, 0x37b0, 0x37c0, 0x37e0, 0x37f0, 0x3808, 0x3810, 0x3820, 0x3828,
    0x3838, 0x3848, 0x3850, 0x3860, 0x3868, 0x3878, 0x3888, 0x3890, 0x38a0, 0x38b0, 0x38b8, 0x38c8,
    0x38d8, 0x38e0, 0x38f0, 0x3900, 0x3908, 0x3918, 0x3928, 0x3938, 0x3948, 0x3950, 0x3960, 0x3970,
    0x3980, 0x3990, 0x3998, 0x39a8, 0x39b8, 0x39c8, 0x39d8, 0x39e8, 0x39f8, 0x3a08, 0x3a18, 0x3a28,
    0x3a38, 0x3a48, 0x3a58, 0x3a68, 0x3a78, 0x3a88, 0x3a98, 0x3aa8, 0x3ab8, 0x3ac8, 0x3ad8, 0x3ae8,
    0x3af8, 0x3b08, 0x3b18, 0x3b28, 0x3b40, 0x3b50, 0x3b60, 0x3b70, 0x3b80, 0x3b90, 0x3ba0, 0x3bb0,
    0x3bd0, 0x3be0, 0x3bf0, 0x3c00,
};

/* ---- sums of floats. Terms are aligned with the term of the greatest exponent and truncated 4 bits after its last
 * bit. The sum is exact. */

struct layout {
    unsigned mantissa; /* number of fraction bits */
    unsigned infinity; /* exponent of infinities */
    bool subnormals;   /* subnormal numbers count */
    unsigned cut;      /* number of bits that an aligned term loses, including the guard bits */
    unsigned least;    /* smallest exponent with which slices are aligned */
};
static const struct layout f32 = { 23, 255, false, 0, 0 };
static const struct layout f16 = { 10, 31, true, 0, 0 };
static const struct layout colour = { 10, 31, true, 7, 8 };

enum { GUARD = 4 };

struct sum {
    int64_t value;
    unsigned exponent; /* greatest exponent of the terms */
    unsigned unit;     /* the value counts units of 2^unit, times a constant */
};

/* The special texels of a sum: NaNs, infinities, and texels other than -0. */
struct specials {
    bool nan, plus, minus, not_minus_zero;
};

static void add_special(struct specials *o, uint32_t texel, const struct layout *f)
{
    uint32_t magnitude = texel & ((1u << (f->mantissa + (f->infinity == 255 ? 8 : 5))) - 1);
    uint32_t inf = f->infinity << f->mantissa;
    bool minus = magnitude != texel;

    o->nan |= magnitude > inf;
    o->plus |= magnitude == inf && !minus;
    o->minus |= magnitude == inf && minus;
    o->not_minus_zero |= !minus || magnitude >> f->mantissa || (f->subnormals && magnitude);
}

static unsigned exponent_of(uint32_t texel, const struct layout *f)
{
    unsigned e = texel >> f->mantissa & f->infinity;

    return e ? e : f->subnormals && texel & ((1u << f->mantissa) - 1);
}

/* The sum of one slice. */
static struct sum add_texels(const uint32_t *texels, const uint16_t *w, const struct layout *f)
{
    struct sum s = { 0 };
    unsigned sign = f->mantissa + (f->infinity == 255 ? 8 : 5);

    for (unsigned k = 0; k < 4; k++) {
        uint32_t t = f == &colour ? ptxi_texture_srgb[texels[k] | 7] : texels[k];
        unsigned e = w[k] ? exponent_of(t, f) : 0;

        s.exponent = e > s.exponent ? e : s.exponent;
    }
    for (unsigned k = 0; k < 4; k++) {
        uint32_t t = f == &colour ? ptxi_texture_srgb[texels[k]] : texels[k];
        unsigned e = w[k] ? exponent_of(t, f) : 0;
        int64_t m = t & ((1u << f->mantissa) - 1);

        if (!e)
            continue;
        m |= (int64_t)((t >> f->mantissa & f->infinity) != 0) << f->mantissa;
        m = s.exponent - e > 62 ? 0 : m << GUARD >> (s.exponent - e) >> f->cut;
        s.value += (t >> sign & 1 ? -m : m) * w[k];
    }
    s.unit = s.exponent;
    return s;
}

static int64_t convert_unit(struct sum s, unsigned unit)
{
    return unit < s.unit ? s.value * (1 << (s.unit - unit)) : s.value >> (unit - s.unit < 63 ? unit - s.unit : 63);
}

/* The parts are aligned with their greatest exponent in steps of 4 bits. The number of bits of the weights makes no
 * difference. */
static struct sum add_parts(const struct sum *part, uint32_t count, uint32_t shift, unsigned least)
{
    struct sum s = { .exponent = least };

    for (uint32_t k = 0; k < count; k++)
        s.exponent = part[k].exponent > s.exponent ? part[k].exponent : s.exponent;
    s.unit = (s.exponent & ~3u) + shift;
    for (uint32_t k = 0; k < count; k++)
        s.value += convert_unit(part[k], s.unit);
    return s;
}

/* Slices are added in groups. A group has slices of one level only. */
static struct sum add_slices(const uint32_t *texels, const struct ptxi_texture_weights *w, const struct layout *f)
{
    struct sum part[1 + PTXI_TEXTURE_SLICE_GROUP] = { { 0 } };

    assert(w->group && w->group <= PTXI_TEXTURE_SLICE_GROUP && w->slices <= PTXI_TEXTURE_MAX_SLICES);
    for (uint32_t k = 0, end; k < w->slices; k = end) {
        uint32_t level_end = k < w->second ? w->second : w->slices, first = k > 0;

        end = k + w->group < level_end ? k + w->group : level_end;
        for (uint32_t n = k; n < end; n++)
            part[first + n - k] = add_texels(texels + 4 * n, w->w + 4 * n, f);
        if (first + end - k > 1)
            part[0] = add_parts(part, first + end - k, w->shift, f->least);
    }
    return part[0];
}

/* The f32 of a half precision number with fraction m and biased exponent e, or the subnormal number m. */
static uint32_t widen_half(uint32_t sign, uint64_t m, int e, const struct layout *f)
{
    unsigned exponent = m >> f->mantissa ? (unsigned)e << f->mantissa : 0;
    uint16_t half = (uint16_t)(sign >> 16 | exponent | (m & ((1u << f->mantissa) - 1)));

    return ptxi_num_bits_f32(ptxi_num_f32_from_f16_bits(half));
}

/* Rounds a sum to f32, halves away from zero. A sum of f16 is rounded to the width of f16. */
static uint32_t round_sum(struct sum s, unsigned shift, const struct layout *f)
{
    uint64_t m = s.value < 0 ? -(uint64_t)s.value : (uint64_t)s.value;
    uint32_t sign = s.value < 0 ? 0x80000000u : 0;
    int length = 64 - __builtin_clzll(m), drop = length - (int)f->mantissa - 1;
    int e = (int)s.unit + length - 1 - (int)f->mantissa - 8 - (int)shift - GUARD + (int)f->cut; /* biased */

    if (f->subnormals && e < 1) {
        drop += 1 - e;
        e = 1;
    }
    if (drop > 62)
        return sign;
    m = drop > 0 ? (m + (UINT64_C(1) << drop >> 1)) >> drop : m << -drop;
    if (m >> (f->mantissa + 1)) {
        m >>= 1;
        e++;
    }
    if (e >= (int)f->infinity)
        return sign | 0x7f800000;
    if (f->subnormals)
        return widen_half(sign, m, e, f);
    return e < 1 ? sign : sign | (uint32_t)e << 23 | ((uint32_t)m & 0x7fffff);
}

static const struct layout *layout_of(enum ptxi_texel format)
{
    switch (format) {
    case PTXI_TEXEL_F16: return &f16;
    case PTXI_TEXEL_SRGB: return &colour;
    default: return &f32;
    }
}

static uint32_t filter_floats(enum ptxi_texel format, const uint32_t *texels, const struct ptxi_texture_weights *w)
{
    const struct layout *f = layout_of(format);
    struct specials o = { 0 };
    struct sum s;

    for (unsigned k = 0; k < 4 * w->slices; k++)
        if (w->inside[k >> 2] >> (k & 3) & 1)
            add_special(&o, texels[k], f);
    if (o.nan || (o.plus && o.minus))
        return format == PTXI_TEXEL_F16 ? 0x7fffe000 : 0x7fffffff;
    if (o.plus || o.minus)
        return o.plus ? 0x7f800000 : 0xff800000;
    s = add_slices(texels, w, f);
    if (!s.value)
        return o.not_minus_zero ? 0 : 0x80000000;
    return round_sum(s, w->shift, f);
}

/* ---- sums of integers */

/* A sum as a fraction of the largest value. Numbers of 8 bits are extended to 16 bits. */
static uint32_t fraction_of(enum ptxi_texel format, int64_t sum, unsigned shift)
{
    const int64_t half = 128 << shift;

    switch (format) {
    case PTXI_TEXEL_U8: return ptxi_texel_to_f32((uint32_t)((sum * 257 + half) >> (8 + shift)), PTXI_TEXEL_U16);
    case PTXI_TEXEL_U16:
    case PTXI_TEXEL_PACKED: return ptxi_texel_to_f32((uint32_t)((sum + half) >> (8 + shift)), PTXI_TEXEL_U16);
    case PTXI_TEXEL_S8:
        sum = (sum + ((sum + (half >> 1) + (sum >> (12 + shift)) * (16 << shift)) >> 7)) >> shift;
        return ptxi_texel_to_f32((uint32_t)clamp(sum, -32767, 32767), PTXI_TEXEL_S16);
    default: return ptxi_texel_to_f32((uint32_t)((sum + half) >> (8 + shift)), format);
    }
}

uint32_t ptxi_texture_filter(enum ptxi_texel format, const uint32_t *texels, const struct ptxi_texture_weights *w,
                             bool as_integers)
{
    const bool is_word = format == PTXI_TEXEL_U32 || format == PTXI_TEXEL_S32;
    int64_t sum = 0;

    assert(w->slices <= PTXI_TEXTURE_MAX_SLICES);
    if (ptxi_texel_is_float(format) || format == PTXI_TEXEL_SRGB)
        return filter_floats(format, texels, w);
    for (unsigned k = 0; k < 4 * w->slices; k++)
        sum += (format == PTXI_TEXEL_U32 ? (int64_t)texels[k] : (int32_t)texels[k]) * (int64_t)w->w[k];
    if (as_integers)
        return (uint32_t)((sum + (is_word ? 0 : 128 << w->shift)) >> (8 + w->shift));
    return fraction_of(format, sum, w->shift);
}

/* ---- formats */

uint32_t ptxi_texel_to_f32(uint32_t texel, enum ptxi_texel format)
{
    switch (format) {
    case PTXI_TEXEL_U8: return ptxi_num_bits_f32((float)texel / 255.0f);
    case PTXI_TEXEL_U16: return ptxi_num_bits_f32((float)texel / 65535.0f);
    case PTXI_TEXEL_PACKED: return ptxi_num_bits_f32((float)(texel >> 6) / 1023.0f);
    case PTXI_TEXEL_S8: return ptxi_num_bits_f32((float)clamp((int32_t)texel, -127, 127) / 127.0f);
    case PTXI_TEXEL_S16: return ptxi_num_bits_f32((float)clamp((int32_t)texel, -32767, 32767) / 32767.0f);
    case PTXI_TEXEL_F16: return ptxi_num_bits_f32(ptxi_num_f32_from_f16_bits((uint16_t)texel));
    case PTXI_TEXEL_SRGB: return ptxi_num_bits_f32(ptxi_num_f32_from_f16_bits(ptxi_texture_srgb[texel]));
    default: return texel;
    }
}

uint16_t ptxi_texture_f16_from_f32(uint32_t f32)
{
    return (f32 & 0x7fffffff) > 0x7f800000 ? 0x7fff : ptxi_num_f16_from_f32(f32, PTXI_NUM_RN);
}

uint32_t ptxi_texel_store(uint32_t value, enum ptxi_texel format)
{
    unsigned bits = 8 * ptxi_texel_bytes(format);
    int32_t most = bits < 32 ? (1 << (bits - 1)) - 1 : INT32_MAX;

    if (format == PTXI_TEXEL_F16) {
        uint16_t h = ptxi_num_f16_from_f32(value, PTXI_NUM_RZ), payload = value >> 13 & 0x3ff;

        return (value & 0x7fffffff) <= 0x7f800000 ? h : (value >> 16 & 0x8000) | 0x7c00 | payload | !payload;
    }
    if (bits == 32)
        return value;
    if (ptxi_texel_is_signed(format))
        return (uint32_t)clamp((int32_t)value, -most - 1, most);
    return value >> bits ? (1u << bits) - 1 : value;
}

uint32_t ptxi_texel_pack(const uint32_t f32[4])
{
    uint32_t word = 0;

    for (unsigned c = 0; c < 4; c++) {
        const double most = c == 3 ? 3 : 1023, x = ptxi_num_f32(f32[c]), limited = x < 1 ? x : 1;

        word |= (uint32_t)(x > 0 ? limited * most + 0.5 : 0) << (10 * c);
    }
    return word;
}

/* The driver's conversion of a colour to a texel: it uses 4 more bits of the colour than a texel has, and rounds
 * halves down. */
static uint32_t fraction_texel(double c, enum ptxi_texel format)
{
    unsigned bits = 8 * ptxi_texel_bytes(format) - ptxi_texel_is_signed(format);
    double unit = 1 << (bits + 4), most = (1 << bits) - 1;
    uint32_t t = (uint32_t)ceil(floor(fmin(fabs(c), 1) * unit) / unit * most - 0.5);

    if (c > 0)
        return t;
    return ptxi_texel_is_signed(format) ? -t : 0;
}

uint32_t ptxi_texel_border(float c, enum ptxi_texel format, bool as_integer)
{
    uint32_t bits = ptxi_num_bits_f32(c);
    unsigned unused = 32 - 8 * ptxi_texel_bytes(format);

    if (format == PTXI_TEXEL_F16)
        return ptxi_texel_store(bits, format);
    if (!unused)
        return bits;
    if (as_integer && ptxi_texel_is_signed(format))
        return (uint32_t)((int32_t)(bits << unused) >> unused);
    if (as_integer)
        return bits << unused >> unused;
    return c != c ? 0 : fraction_texel(c, format);
}

/* The exponent of the driver is slightly less than 1 / 2.4. */
uint32_t ptxi_texel_border_srgb(float c)
{
    c = c > 1 ? 1 : c;
    c = c <= 0.0031308f ? c * 12.92f : 1.055f * (float)pow(c, 0.41666f) - 0.055f;
    return c > 0 ? (uint32_t)(c * 255 + 0.5f) : 0;
}
