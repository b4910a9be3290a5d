/* Texture fetches of all lanes of a warp at once. The lanes read one texture in a common way: one level or two,
 * without anisotropy, and no compressed blocks. The results are those of num/texture.h, in loops that become vector
 * code. Lanes with infinities or NaNs and lanes that cross the edges of seamless cubes are left to texture_lane_inl.h.
 */
#ifndef PTXI_EXEC_TEXTURE_TEXTURE_WARP_H
#define PTXI_EXEC_TEXTURE_TEXTURE_WARP_H

#include <assert.h>
#include <math.h>
#include <string.h>

#include "exec/engine/engine.h"
#include "exec/texture/texel_check.h"
#include "exec/texture/texture_filter_inl.h"
#include "exec/engine/op_shapes.h"
#include "exec/texture/texture.h"
#include "num/approx.h"

/* The levels that lanes read: one level for all lanes, or one for each lane. */
struct level_view {
    const struct ptxi_image *m;    /* NULL if each lane has its own level, described by the arrays */
    LANE_ARRAY(int32_t, size[3]);
    LANE_ARRAY(int32_t, greatest); /* greatest of the sizes */
    LANE_ARRAY(int32_t, pitch);
    LANE_ARRAY(int32_t, slice);
    LANE_ARRAY(int32_t, base);     /* bytes from the first level's base */
    LANE_ARRAY(int32_t, share);    /* share of the level in 256ths */
};

struct warp_fetch {
    const struct ptxi_texture *t;
    unsigned dimensions;   /* 2 on a face of a cube */
    unsigned levels;
    bool linear, integer, cube;
    bool filtered;         /* results pass the filter, including single texels if they may be of two levels */
    unsigned component;    /* tld4: number of the channel in the result, else 0 */
    const void *c[3];      /* coordinates; of a cube: a direction */
    const uint32_t *layer; /* layers, or NULL */
    struct ptxi_warp_texels *texels; /* what it reads; NULL: that does not matter */
};

/* The size that determines the precision of coordinates. */
static inline uint32_t greatest_size(const struct ptxi_texture *t, const struct ptxi_image *m)
{
    const uint32_t n = m->width > m->height ? m->width : m->height;

    return t->dimensions == 3 && !t->cube && m->depth > n ? m->depth : n;
}

/* Fills a view in which each lane has its own level. */
static void view_each(const struct ptxi_texture *t, const int32_t *level, struct level_view *v)
{
    const unsigned char *start = t->level[0].base;
    int32_t sizes[3][PTXI_TEXTURE_LEVELS], greatest[PTXI_TEXTURE_LEVELS], pitches[PTXI_TEXTURE_LEVELS];
    int32_t slices[PTXI_TEXTURE_LEVELS], bases[PTXI_TEXTURE_LEVELS];

    assert(t->levels <= PTXI_TEXTURE_LEVELS);
    for (unsigned k = 0; k < t->levels; k++) {
        const struct ptxi_image *m = &t->level[k];

        sizes[0][k] = (int32_t)m->width;
        sizes[1][k] = (int32_t)m->height;
        sizes[2][k] = (int32_t)m->depth;
        greatest[k] = (int32_t)greatest_size(t, m);
        pitches[k] = (int32_t)m->pitch;
        slices[k] = (int32_t)m->slice;
        bases[k] = (int32_t)(m->base - start);
    }
    FOR_LANES
    {
        for (unsigned d = 0; d < 3; d++)
            v->size[d][l] = sizes[d][level[l]];
        v->greatest[l] = greatest[level[l]];
        v->pitch[l] = pitches[level[l]];
        v->slice[l] = slices[level[l]];
        v->base[l] = bases[level[l]];
    }
}

/* ---- coordinates */

/* The taps of all lanes along a dimension. */
struct lane_taps {
    LANE_ARRAY(int32_t, at[2]);    /* two neighbouring texels, -1 for the border */
    LANE_ARRAY(int32_t, fraction); /* offset from the first to the second in 256ths */
};

/* A function that is compiled anew for the constant arguments of each caller. */
#define ONE_OF __attribute__((always_inline)) static inline

ONE_OF double clamp_magnitude(double v, double most)
{
    const double upper = v > most ? most : v;

    return upper < -most ? -most : upper;
}

/* 2 to the number of bits after the point of a normalised coordinate: ptxi_texture_fraction_bits(). */
ONE_OF double fraction_unit(int32_t greatest, bool mipmap)
{
    const int32_t limit = mipmap ? 16384 : 65536;
    const double unit = greatest > 8192 ? 0x1p22 : 0x1p21;

    return greatest > limit ? 0x1p23 : unit;
}

/* The scale of normalised coordinates. `texels` is the size, in 256ths with a linear filter. */
struct coordinate_scale {
    double unit, texels, texels_per_unit;
};

ONE_OF struct coordinate_scale scale_of_size(int32_t size, int32_t greatest, bool mipmap, bool linear)
{
    const double unit = fraction_unit(greatest, mipmap), texels = size * (linear ? 256.0 : 1.0);

    return (struct coordinate_scale){ unit, texels, texels * (1 / unit) };
}

/* Converts a normalised coordinate to texels or 256ths. If the address mode repeats, `period` is 2, and only the last
 * bit of the number of repetitions is kept. Otherwise `period` is 0. */
ONE_OF int32_t scale_coordinate(double v, struct coordinate_scale s, bool linear, double period)
{
    const double half = linear ? 0.5 : 0, first = linear ? 128 : 0;
    const double c = clamp_magnitude(v, 0x1p24), turns = floor(c);
    const double cut = floor((c - turns) * s.unit); /* the difference may be rounded up to 1 */
    const double part = floor((cut < s.unit ? cut : s.unit - 1) * s.texels_per_unit + half) - first;
    const double whole = (turns - period * floor(turns * 0.5)) * s.texels + part;

    return (int32_t)clamp_magnitude(whole, 0x1p30);
}

/* A dimension of the level of all lanes or of the levels of each lane. */
struct axis {
    const struct level_view *v;
    unsigned d;
    bool varies;  /* each lane has its own level */
    int32_t same; /* size of the level of all lanes */
    enum ptxi_address_mode mode;
};

static inline bool repeats(enum ptxi_address_mode mode)
{
    return mode == PTXI_ADDRESS_WRAP || mode == PTXI_ADDRESS_MIRROR;
}

/* x, or 0 if it is subnormal or a NaN. */
ONE_OF double flush_coordinate(float x)
{
    return fabsf(x) >= 0x1p-126f ? (double)x : 0;
}

ONE_OF void scale_normalized(const struct warp_fetch *f, struct axis a, bool on_face, bool linear, int32_t *fixed)
{
    const bool varies = a.varies;
    const int32_t *sizes = a.v->size[a.d], *greatest = a.v->greatest;
    const float *narrow = f->c[a.d];
    const double *wide = f->c[a.d], period = repeats(a.mode) ? 2 : 0;
    const int32_t greatest_of_all = varies ? 1 : (int32_t)greatest_size(f->t, a.v->m);
    const struct coordinate_scale all = scale_of_size(a.same, greatest_of_all, f->t->mipmap || f->t->layered, linear);

    FOR_LANES
    {
        double c = on_face ? wide[l] : flush_coordinate(narrow[l]);

        fixed[l] = scale_coordinate(c, varies ? scale_of_size(sizes[l], greatest[l], true, linear) : all, linear,
                                    period);
    }
}

static void scale_unnormalized(const float *x, bool linear, int32_t *fixed)
{
    const double units = linear ? 256 : 1, most = 0x1p30 / units;
    const double half = linear ? 0.5 : 0;
    const double first = linear ? 128 : 0;

    FOR_LANES
    fixed[l] = (int32_t)(floor(clamp_magnitude(flush_coordinate(x[l]), most) * units + half) - first);
}

/* Applies an address mode to texels that are at most two repetitions away. */
ONE_OF void apply_mode(int32_t *at, struct axis a, enum ptxi_address_mode mode)
{
    const int32_t *sizes = a.v->size[a.d];
    const bool varies = a.varies;

    FOR_LANES
    {
        const int32_t n = varies ? sizes[l] : a.same, x = at[l];

        if (mode == PTXI_ADDRESS_WRAP) {
            int32_t i = x < 0 ? x + n : x;

            i = i >= n ? i - n : i;
            at[l] = i >= n ? i - n : i;
        } else if (mode == PTXI_ADDRESS_MIRROR) {
            int32_t i = x < 0 ? x + 2 * n : x;

            i = i >= 2 * n ? i - 2 * n : i;
            at[l] = i < n ? i : 2 * n - 1 - i;
        } else if (mode == PTXI_ADDRESS_BORDER) {
            at[l] = (uint32_t)x < (uint32_t)n ? x : -1;
        } else {
            const int32_t i = x > n - 1 ? n - 1 : x;

            at[l] = x < 0 ? 0 : i;
        }
    }
}

ONE_OF void apply_address_mode(int32_t *at, struct axis a)
{
    switch (a.mode) {
    case PTXI_ADDRESS_WRAP: apply_mode(at, a, PTXI_ADDRESS_WRAP); break;
    case PTXI_ADDRESS_MIRROR: apply_mode(at, a, PTXI_ADDRESS_MIRROR); break;
    case PTXI_ADDRESS_BORDER: apply_mode(at, a, PTXI_ADDRESS_BORDER); break;
    default: apply_mode(at, a, PTXI_ADDRESS_CLAMP);
    }
}

static enum ptxi_address_mode mode_of(const struct warp_fetch *f, unsigned d)
{
    const struct ptxi_sampler *s = &f->t->sampler;
    bool clamps = (f->cube && f->t->seamless) || (!s->normalized && s->address[d] != PTXI_ADDRESS_BORDER);

    return clamps ? PTXI_ADDRESS_CLAMP : s->address[d];
}

/* The coordinates along an axis in texels, or in 256ths with a linear filter. */
ONE_OF void scale_coordinates(const struct warp_fetch *f, struct axis a, int32_t *fixed)
{
    if (!f->t->sampler.normalized)
        scale_unnormalized(f->c[a.d], f->linear, fixed);
    else if (f->linear && f->cube)
        scale_normalized(f, a, true, true, fixed);
    else if (f->linear)
        scale_normalized(f, a, false, true, fixed);
    else
        scale_normalized(f, a, f->cube, false, fixed);
}

static inline uint32_t size_of_image(const struct ptxi_image *m, unsigned d)
{
    switch (d) {
    case 0: return m->width;
    case 1: return m->height;
    default: return m->depth;
    }
}

/* Lanes that cross an edge of a seamless cube are added to `over`. */
ONE_OF void find_taps(const struct warp_fetch *f, unsigned d, const struct level_view *v, bool varies,
                      struct lane_taps *p,
                      uint32_t *over)
{
    const int32_t same = varies ? 0 : (int32_t)size_of_image(v->m, d);
    const struct axis a = { v, d, varies, same, mode_of(f, d) };
    const int32_t *sizes = v->size[d];
    LANE_ARRAY(int32_t, fixed);

    scale_coordinates(f, a, fixed);
    if (!f->linear) {
        memcpy(p->at[0], fixed, sizeof fixed);
        apply_address_mode(p->at[0], a);
        memcpy(p->at[1], p->at[0], sizeof fixed);
        memset(p->fraction, 0, sizeof fixed);
        return;
    }
    for (int e = 0; e < 2; e++) {
        FOR_LANES
        p->at[e][l] = (fixed[l] >> 8) + e;
        if (f->cube && f->t->seamless)
            FOR_LANES
            over[l] |= (uint32_t)p->at[e][l] >= (uint32_t)(varies ? sizes[l] : same);
        apply_address_mode(p->at[e], a);
    }
    FOR_LANES /* a coordinate that is clamped has no fraction */
    p->fraction[l] = a.mode == PTXI_ADDRESS_CLAMP && p->at[0][l] == p->at[1][l] ? 0 : fixed[l] & 255;
}

/* ---- texels and weights */

/* The same as ptxi_texture_add_slice(). */
static void add_weights(struct footprints *g, unsigned first, const int32_t *shares, const struct lane_taps p[3])
{
    const int32_t *fx = p[0].fraction, *fy = p[1].fraction, *fz = p[2].fraction;

    for (unsigned z = 0; z < g->slices; z++) {
        int32_t(*w)[PTXI_LANES] = g->w + first + 4 * z, (*inside)[PTXI_LANES] = g->inside + first + 4 * z;
        const bool parted = g->slices > 1;

        FOR_LANES
        {
            int32_t second = parted ? (shares[l] * fz[l] + 127) >> 8 : 0;
            int32_t share = z ? second : shares[l] - second, x = fx[l], y = fy[l];
            int32_t far = (share * x + 128) >> 8, near = share - far;
            int32_t far_far = (far * y + 128) >> 8, near_near = (near * (256 - y) + 128) >> 8;

            w[0][l] = near_near;
            w[1][l] = far - far_far;
            w[2][l] = near - near_near;
            w[3][l] = far_far;
            inside[0][l] = share != 0;
            inside[1][l] = (share != 0) & (x != 0);
            inside[2][l] = (share != 0) & (y != 0);
            inside[3][l] = (share != 0) & (x != 0) & (y != 0);
        }
    }
}

/* The offsets of the texels of level number k of the footprints. */
ONE_OF void find_offsets(const struct warp_fetch *f, struct footprints *g, unsigned k, const struct level_view *v,
                         bool varies,
                         const struct lane_taps p[3])
{
    const unsigned count = g->count / g->levels, first = k * count;
    const int32_t bytes = f->t->bytes;
    const int32_t pitch = varies ? 0 : (int32_t)v->m->pitch;
    const int32_t slice = varies ? 0 : (int32_t)v->m->slice;
    const int32_t start = varies ? 0 : (int32_t)(v->m->base - f->t->level[0].base);
    const int32_t *pitches = v->pitch, *slices = v->slice, *bases = v->base;

    assert(first + count <= MAX_TEXELS);
    for (unsigned n = 0; n < count; n++) {
        const int32_t *x = p[0].at[n & 1], *y = p[1].at[n >> 1 & 1], *z = p[2].at[n >> 2];
        uint32_t *beyond = g->beyond[first + n];
        int32_t *offset = g->offset[first + n];

        FOR_LANES
        {
            int32_t row = varies ? pitches[l] : pitch;
            int32_t plane = varies ? slices[l] : slice;
            int32_t at = x[l] * bytes + y[l] * row + z[l] * plane + (varies ? bases[l] : start);

            beyond[l] = (uint32_t)(x[l] | y[l] | z[l]) >> 31;
            offset[l] = beyond[l] ? 0 : at;
        }
    }
}

/* The texels and weights of level number k of the footprints. */
ONE_OF void find_in_level(const struct warp_fetch *f, struct footprints *g, unsigned k, const struct level_view *v,
                          bool varies,
                          uint32_t *over)
{
    const uint32_t last = f->t->level[0].depth - 1;
    struct lane_taps p[3];

    for (unsigned d = 0; d < 3; d++) {
        if (d < f->dimensions)
            find_taps(f, d, v, varies, &p[d], over);
        else
            memset(&p[d], 0, sizeof p[d]);
    }
    if (f->layer)
        FOR_LANES
        p[2].at[0][l] = (int32_t)(f->layer[l] < last ? f->layer[l] : last);
    if (g->count > 1)
        add_weights(g, k * (g->count / g->levels), v->share, p);
    find_offsets(f, g, k, v, varies, p);
}

static void find_footprints(const struct warp_fetch *f, struct footprints *g, const struct level_view v[2],
                            uint32_t *over)
{
    g->slices = f->dimensions == 3 && f->linear ? 2 : 1;
    g->levels = f->levels;
    g->count = f->filtered ? 4 * g->slices * g->levels : 1;
    g->bordered = false;
    for (unsigned d = 0; d < f->dimensions; d++)
        g->bordered |= mode_of(f, d) == PTXI_ADDRESS_BORDER;
    for (unsigned k = 0; k < g->levels; k++) {
        memcpy(g->share[k], v[k].share, sizeof g->share[k]);
        if (v[k].m)
            find_in_level(f, g, k, &v[k], false, over);
        else
            find_in_level(f, g, k, &v[k], true, over);
    }
}

/* ---- directions on the faces of a cube: the same as ptxi_texture_cube_face() */

/* (x + 1) / 2, rounded down. The rounding matters only for results slightly below a half. */
static inline double normalize_on_face(float x)
{
    const double c = clamp_magnitude(x, 1);
    const double v = fabs(c) < 0x1p-126 ? 0.5 : c * 0.5 + 0.5;

    return v == 0.5 && c <= -0x1p-126 ? 0.5 - 0x1p-54 : v;
}

/* Computes coordinates on a cube of side 2, and the faces. Lanes with NaNs are added to `odd`. */
static void project_to_cube(const float *const *direction, float (*c)[PTXI_LANES], uint32_t *face, uint32_t *odd)
{
    const float *x = direction[0], *y = direction[1], *z = direction[2];

    FOR_LANES
    {
        float largest = fmaxf(fmaxf(fabsf(x[l]), fabsf(y[l])), fabsf(z[l]));
        float scale = ptxi_num_f32(ptxi_num_rcp_approx_ftz_f32(ptxi_num_bits_f32(largest)));
        float i = x[l] * scale, j = y[l] * scale, k = z[l] * scale;
        bool on_z = fabsf(k) >= fabsf(i) && fabsf(k) >= fabsf(j), on_y = fabsf(j) >= fabsf(i);
        float i_or_j = on_y ? j : i;
        float major = on_z ? k : i_or_j;
        uint32_t x_or_y_face = on_y ? 2 : 0;

        face[l] = (on_z ? 4 : x_or_y_face) + !(major >= 0);
        odd[l] |= (i != i) | (j != j) | (k != k);
        c[0][l] = i;
        c[1][l] = j;
        c[2][l] = k;
    }
}

static void find_faces(const float *const *direction, double *s, double *t, uint32_t *face, uint32_t *odd)
{
    LANE_ARRAY(float, c[3]);
    const float *x = c[0], *y = c[1], *z = c[2];

    project_to_cube(direction, c, face, odd);
    FOR_LANES
    {
        const bool on_z = face[l] > 3, on_y = face[l] > 1, minus = face[l] & 1;
        const float signed_x = minus ? -x[l] : x[l];
        const float signed_z = minus ? z[l] : -z[l];
        const float not_on_z = on_y ? x[l] : signed_z;

        s[l] = normalize_on_face(on_z ? signed_x : not_on_z);
        t[l] = normalize_on_face(on_z || !on_y ? -y[l] : -signed_z);
    }
}

/* Footprints of integer coordinates. Coordinates outside of the texture read 0 instead of the border. */
static void find_integers(const struct warp_fetch *f, struct footprints *g, uint32_t *outside)
{
    const struct ptxi_image *m = f->t->level;
    const uint32_t sizes[] = { m->width, m->height, m->depth };
    const int32_t strides[] = { f->t->bytes, (int32_t)m->pitch, (int32_t)m->slice };
    LANE_ARRAY(uint32_t, beyond) = { 0 };
    LANE_ARRAY(int32_t, offset) = { 0 };

    g->slices = g->levels = g->count = 1;
    g->bordered = false;
    for (unsigned d = 0; d < f->dimensions + (f->layer != NULL); d++) {
        const unsigned axis = d < f->dimensions ? d : 2;
        const uint32_t *c = d < f->dimensions ? f->c[d] : f->layer, size = sizes[axis];
        const int32_t stride = strides[axis];

        FOR_LANES
        {
            uint32_t out = c[l] >= size;

            beyond[l] |= out;
            offset[l] += out ? 0 : (int32_t)c[l] * stride;
        }
    }
    memcpy(g->offset[0], offset, sizeof offset);
    memcpy(outside, beyond, sizeof beyond);
}

/* The number of `size` bytes at p. */
ONE_OF uint32_t load_number(const unsigned char *p, unsigned size)
{
    uint16_t h;
    uint32_t v;

    switch (size) {
    case 1: return *p;
    case 2: memcpy(&h, p, sizeof h); return h;
    default: memcpy(&v, p, sizeof v); return v;
    }
}

ONE_OF void load_numbers(uint32_t *word, const unsigned char *base, const int32_t *offset, unsigned size)
{
    for (int l = 0; l < PTXI_LANES; l++)
        word[l] = load_number(base + offset[l], size);
}

/* Loads bytes of the texels, from byte `first` on, at most four. */
static void load_words(const struct warp_fetch *f, struct footprints *g, unsigned first)
{
    const unsigned char *base = f->t->level[0].base + first;

    for (unsigned n = 0; n < g->count; n++) {
        const int32_t *offset = g->offset[n];
        uint32_t *word = g->word[n];

        switch (f->t->bytes) {
        case 1: load_numbers(word, base, offset, 1); break;
        case 2: load_numbers(word, base, offset, 2); break;
        default: load_numbers(word, base, offset, 4);
        }
    }
}

/* The offset of a channel in a texel, in bytes. */
static inline unsigned channel_offset(const struct ptxi_texture *t, unsigned channel)
{
    return channel * (t->bytes / t->channels);
}

/* Extracts a channel of all texels from the loaded words. */
static void extract_channel(const struct warp_fetch *f, struct footprints *g, unsigned channel)
{
    const unsigned unused = 32 - 8 * (f->t->bytes / f->t->channels);
    const unsigned up = unused - 8 * (channel_offset(f->t, channel) & 3);
    const uint32_t border = f->t->border[channel];
    const bool with_sign = ptxi_texel_is_signed(f->t->format);

    for (unsigned n = 0; n < g->count; n++) {
        const uint32_t *word = g->word[n], *beyond = g->beyond[n];
        uint32_t *texel = g->texel[n];

        if (f->t->format == PTXI_TEXEL_PACKED)
            FOR_LANES
            texel[l] = ptxi_texel_unpack(word[l], channel);
        else if (with_sign)
            FOR_LANES
            texel[l] = (uint32_t)((int32_t)(word[l] << up) >> unused);
        else
            FOR_LANES
            texel[l] = word[l] << up >> unused;
        if (g->bordered)
            FOR_LANES
            texel[l] = beyond[l] ? border : texel[l];
    }
}

/* ---- a fetch */

/* The format of a channel. */
static inline enum ptxi_texel format_of(const struct ptxi_texture *t, unsigned channel)
{
    const unsigned colours = t->channels == 2 ? 1 : 3;

    if (t->format == PTXI_TEXEL_PACKED)
        return channel == 3 ? PTXI_TEXEL_U16 : t->format;
    return t->srgb && channel < colours ? PTXI_TEXEL_SRGB : t->format;
}

static void filter_channel(const struct warp_fetch *f, const struct footprints *g, unsigned channel, uint32_t *r,
                           uint32_t *odd)
{
    const enum ptxi_texel format = format_of(f->t, channel);

    if (ptxi_texel_is_float(format) || format == PTXI_TEXEL_SRGB)
        filter_floats(g, format, r, odd);
    else if (ptxi_texel_bytes(format) < 4)
        filter_short(g, format, f->t->as_integers, r);
    else
        filter_words(g, ptxi_texel_is_signed(format), r);
}

/* PTX ISA, "tld4": the texels that bilinear filtering would read, counter-clockwise from the lower left. */
static const uint8_t gather_order[] = { 2, 3, 1, 0 };

/* tld4: each of the four texels passes the filter. */
static void gather_texels(const struct warp_fetch *f, struct footprints *g, uint32_t *odd, uint32_t (*r)[PTXI_LANES])
{
    const unsigned channel = f->component - 1;
    struct footprints one;

    if (channel >= f->t->channels)
        return;
    one.count = one.slices = one.levels = 1;
    load_words(f, g, channel_offset(f->t, channel) & ~3u);
    extract_channel(f, g, channel);
    FOR_LANES
    one.w[0][l] = 256, one.inside[0][l] = 1;
    for (unsigned n = 0; n < 4; n++) {
        memcpy(one.texel[0], g->texel[gather_order[n]], sizeof one.texel[0]);
        filter_channel(f, &one, channel, r[n], odd);
    }
}

/* Notes the texels that have a share of the result. Those of tld4 all have one. */
static void note_texels(const struct warp_fetch *f, const struct footprints *g, const uint32_t *outside)
{
    const bool all = g->count == 1 || f->component;

    _Static_assert(MAX_TEXELS == (int)PTXI_TEXELS_TOGETHER, "a fetch is noted as a whole");
    f->texels->bytes = f->t->bytes;
    for (unsigned n = 0; n < g->count; n++) {
        ptxi_lanes lanes = 0;

        for (unsigned l = 0; l < PTXI_LANES; l++) {
            bool beyond = outside[l] || (g->bordered && g->beyond[n][l]);

            lanes |= (ptxi_lanes)(!beyond && (all || g->inside[n][l])) << l;
            f->texels->at[n][l] = (uintptr_t)f->t->level[0].base + (uint64_t)(int64_t)g->offset[n][l];
        }
        f->texels->lanes[n] = lanes;
    }
}

/* Fetches texels from the levels v. Returns the lanes that need a fetch of their own. */
static ptxi_lanes fetch_warp(const struct warp_fetch *f, const struct level_view *v, uint32_t *odd,
                             uint32_t (*r)[PTXI_LANES])
{
    LANE_ARRAY(uint32_t, outside) = { 0 };
    struct footprints g;
    ptxi_lanes left = 0;

    if (f->integer)
        find_integers(f, &g, outside);
    else
        find_footprints(f, &g, v, odd);
    if (f->texels)
        note_texels(f, &g, outside);
    if (f->component)
        gather_texels(f, &g, odd, r);
    for (unsigned c = 0; c < f->t->channels && !f->component; c++) {
        if (!(channel_offset(f->t, c) & 3))
            load_words(f, &g, channel_offset(f->t, c));
        extract_channel(f, &g, c);
        if (g.count == 1)
            convert_texels(g.texel[0], f->t->as_integers ? PTXI_TEXEL_U32 : format_of(f->t, c), r[c]);
        else
            filter_channel(f, &g, c, r[c], odd);
        FOR_LANES
        r[c][l] = outside[l] ? 0 : r[c][l];
    }
    for (unsigned l = 0; l < PTXI_LANES; l++)
        left |= (ptxi_lanes)odd[l] << l;
    return left;
}

#endif
