/* Fetches of all lanes at once, where they read one texture in the usual ways: one level or two, no ellipses, no blocks. The same numbers as
 * those of num/texture.h, in loops that become vectors; lanes that see infinities or NaN, or across the edges of seamless cubes, are left to it. */
#ifndef PTXI_EXEC_TEXTURE_TEXTURE_WARP_H
#define PTXI_EXEC_TEXTURE_TEXTURE_WARP_H

#include <math.h>
#include <string.h>

#include "exec/engine/engine.h"
#include "exec/texture/filter.h"
#include "exec/engine/op_shapes.h"
#include "exec/texture/texture.h"
#include "num/approx.h"

/* A level as lanes see it: the same one, or each its own. */
struct ptxi_view {
    const struct ptxi_image *m; /* NULL: each its own */
    LANE_ARRAY(int32_t, size[3]);
    LANE_ARRAY(int32_t, greatest); /* of the sizes */
    LANE_ARRAY(int32_t, pitch);
    LANE_ARRAY(int32_t, slice);
    LANE_ARRAY(int32_t, base);  /* bytes behind the first level's */
    LANE_ARRAY(int32_t, share); /* of 256 */
};

struct ptxi_fetch {
    const struct ptxi_texture *t;
    unsigned dimensions; /* 2 on a face of a cube */
    unsigned levels;
    bool linear, integer, cube;
    bool filtered; /* single texels, too, if they might be of two levels */
    unsigned component; /* tld4: number of the channel whose texels are the result, or 0 */
    const void *c[3];      /* coordinates; of a cube: a direction */
    const uint32_t *layer; /* or NULL */
};

/* Which of the sizes says how precise coordinates are. */
static inline uint32_t greatest_size(const struct ptxi_texture *t, const struct ptxi_image *m)
{
    const uint32_t n = m->width > m->height ? m->width : m->height;

    return t->dimensions == 3 && !t->cube && m->depth > n ? m->depth : n;
}

/* Every lane has its own level. */
static void view_each(const struct ptxi_texture *t, const int32_t *level, struct ptxi_view *v)
{
    const unsigned char *start = t->level[0].base;
    int32_t sizes[3][PTXI_TEXTURE_LEVELS], greatest[PTXI_TEXTURE_LEVELS], pitches[PTXI_TEXTURE_LEVELS], slices[PTXI_TEXTURE_LEVELS], bases[PTXI_TEXTURE_LEVELS];

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

/* ---- places */

/* Two neighbours along a dimension, -1 the border, and 256ths on the way to the second. */
struct ptxi_places {
    LANE_ARRAY(int32_t, at[2]);
    LANE_ARRAY(int32_t, fraction);
};

/* What is constant for a caller makes another function. */
#define ONE_OF __attribute__((always_inline)) static inline

ONE_OF double unit_of(int32_t greatest, bool pyramid)
{
    return greatest > (pyramid ? 16384 : 65536) ? 0x1p23 : greatest > 8192 ? 0x1p22 : 0x1p21;
}

/* A size, in texels or in 256ths of one if they are filtered, and what a coordinate is cut to. */
struct ptxi_scale {
    double unit, texels, cut_to_texels;
};

ONE_OF struct ptxi_scale scale_of_size(int32_t size, int32_t greatest, bool pyramid, bool linear)
{
    const double unit = unit_of(greatest, pyramid), texels = size * (linear ? 256.0 : 1.0);

    return (struct ptxi_scale){ unit, texels, texels * (1 / unit) };
}

/* A normalised coordinate; of repetitions all but the last bit are left out if the address mode repeats: then `period` is 2, else 0. */
ONE_OF int32_t scale_place(double v, struct ptxi_scale s, bool linear, double period)
{
    const double half = linear ? 0.5 : 0, first = linear ? 128 : 0, most = 0x1p24, beyond = 0x1p30;
    double c = v > most ? most : v < -most ? -most : v, turns = floor(c);
    double cut = floor((c - turns) * s.unit); /* the difference may be rounded up to 1 */
    double part = floor((cut < s.unit ? cut : s.unit - 1) * s.cut_to_texels + half) - first;
    double whole = (turns - period * floor(turns * 0.5)) * s.texels + part;

    return (int32_t)(whole > beyond ? beyond : whole < -beyond ? -beyond : whole);
}

/* A dimension of a level: of the one level of all lanes, or of each lane's own. */
struct ptxi_axis {
    const struct ptxi_view *v;
    unsigned d;
    bool varies;
    int32_t same; /* the size, unless it varies */
    enum ptxi_address_mode mode;
};

static inline bool repeats(enum ptxi_address_mode mode)
{
    return mode == PTXI_ADDRESS_WRAP || mode == PTXI_ADDRESS_MIRROR;
}

ONE_OF void scale_normalized(const struct ptxi_fetch *f, struct ptxi_axis a, bool on_face, bool linear, int32_t *fixed)
{
    const bool varies = a.varies;
    const int32_t *sizes = a.v->size[a.d], *greatest = a.v->greatest;
    const float *narrow = f->c[a.d];
    const double *wide = f->c[a.d], period = repeats(a.mode) ? 2 : 0;
    const struct ptxi_scale all = scale_of_size(a.same, varies ? 1 : (int32_t)greatest_size(f->t, a.v->m), f->t->mipmap || f->t->layered, linear);

    FOR_LANES
    {
        double c = on_face ? wide[l] : fabsf(narrow[l]) >= 0x1p-126f ? (double)narrow[l] : 0;

        fixed[l] = scale_place(c, varies ? scale_of_size(sizes[l], greatest[l], true, linear) : all, linear, period);
    }
}

static void scale_plain(const float *x, bool linear, int32_t *fixed)
{
    const double units = linear ? 256 : 1, half = linear ? 0.5 : 0, first = linear ? 128 : 0, most = 0x1p30 / units;

    FOR_LANES
    {
        double v = fabsf(x[l]) >= 0x1p-126f ? (double)x[l] : 0;

        fixed[l] = (int32_t)(floor((v > most ? most : v < -most ? -most : v) * units + half) - first);
    }
}

/* No more than two repetitions away. */
ONE_OF void wrap_one(int32_t *at, struct ptxi_axis a, enum ptxi_address_mode mode)
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
            at[l] = x < 0 ? 0 : x > n - 1 ? n - 1 : x;
        }
    }
}

ONE_OF void wrap_places(int32_t *at, struct ptxi_axis a)
{
    switch (a.mode) {
    case PTXI_ADDRESS_WRAP: wrap_one(at, a, PTXI_ADDRESS_WRAP); break;
    case PTXI_ADDRESS_MIRROR: wrap_one(at, a, PTXI_ADDRESS_MIRROR); break;
    case PTXI_ADDRESS_BORDER: wrap_one(at, a, PTXI_ADDRESS_BORDER); break;
    default: wrap_one(at, a, PTXI_ADDRESS_CLAMP);
    }
}

static enum ptxi_address_mode mode_of(const struct ptxi_fetch *f, unsigned d)
{
    const struct ptxi_sampler *s = &f->t->sampler;
    bool clamps = (f->cube && f->t->seamless) || (!s->normalized && s->address[d] != PTXI_ADDRESS_BORDER);

    return clamps ? PTXI_ADDRESS_CLAMP : s->address[d];
}

ONE_OF void find_fixed(const struct ptxi_fetch *f, struct ptxi_axis a, int32_t *fixed)
{
    if (!f->t->sampler.normalized)
        scale_plain(f->c[a.d], f->linear, fixed);
    else if (f->linear && f->cube)
        scale_normalized(f, a, true, true, fixed);
    else if (f->linear)
        scale_normalized(f, a, false, true, fixed);
    else
        scale_normalized(f, a, f->cube, false, fixed);
}

/* Lanes that look beyond an edge are added to `over`. */
ONE_OF void find_places(const struct ptxi_fetch *f, unsigned d, const struct ptxi_view *v, bool varies, struct ptxi_places *p, uint32_t *over)
{
    const int32_t same = varies ? 0 : (int32_t)(d == 0 ? v->m->width : d == 1 ? v->m->height : v->m->depth);
    const struct ptxi_axis a = { v, d, varies, same, mode_of(f, d) };
    const int32_t *sizes = v->size[d];
    LANE_ARRAY(int32_t, fixed);

    find_fixed(f, a, fixed);
    if (!f->linear) {
        memcpy(p->at[0], fixed, sizeof fixed);
        wrap_places(p->at[0], a);
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
        wrap_places(p->at[e], a);
    }
    FOR_LANES
    p->fraction[l] = a.mode == PTXI_ADDRESS_CLAMP && p->at[0][l] == p->at[1][l] ? 0 : fixed[l] & 255; /* clamped before it is parted */
}

/* ---- texels and weights */

/* As ptxi_texture_slice() does it. */
static void weigh(struct ptxi_together *g, unsigned first, const int32_t *shares, const struct ptxi_places p[3])
{
    const int32_t *fx = p[0].fraction, *fy = p[1].fraction, *fz = p[2].fraction;

    for (unsigned z = 0; z < g->slices; z++) {
        int32_t(*w)[PTXI_LANES] = g->w + first + 4 * z, (*inside)[PTXI_LANES] = g->inside + first + 4 * z;
        const bool parted = g->slices > 1;

        FOR_LANES
        {
            int32_t behind = parted ? (shares[l] * fz[l] + 127) >> 8 : 0, share = z ? behind : shares[l] - behind, x = fx[l], y = fy[l];
            int32_t far = (share * x + 128) >> 8, near = share - far, far_far = (far * y + 128) >> 8, near_near = (near * (256 - y) + 128) >> 8;

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

/* Of the texels of level number k of a footprint. */
ONE_OF void find_offsets(const struct ptxi_fetch *f, struct ptxi_together *g, unsigned k, const struct ptxi_view *v, bool varies, const struct ptxi_places p[3])
{
    const unsigned count = g->count / g->levels, first = k * count;
    const int32_t bytes = f->t->bytes, pitch = varies ? 0 : (int32_t)v->m->pitch, slice = varies ? 0 : (int32_t)v->m->slice;
    const int32_t start = varies ? 0 : (int32_t)(v->m->base - f->t->level[0].base), *pitches = v->pitch, *slices = v->slice, *bases = v->base;

    for (unsigned n = 0; n < count; n++) {
        const int32_t *x = p[0].at[n & 1], *y = p[1].at[n >> 1 & 1], *z = p[2].at[n >> 2];
        uint32_t *beyond = g->beyond[first + n];
        int32_t *offset = g->offset[first + n];

        FOR_LANES
        {
            int32_t at = x[l] * bytes + y[l] * (varies ? pitches[l] : pitch) + z[l] * (varies ? slices[l] : slice) + (varies ? bases[l] : start);

            beyond[l] = (uint32_t)(x[l] | y[l] | z[l]) >> 31;
            offset[l] = beyond[l] ? 0 : at;
        }
    }
}

/* The dimensions that there are, and the layer, of that level. */
ONE_OF void find_in_level(const struct ptxi_fetch *f, struct ptxi_together *g, unsigned k, const struct ptxi_view *v, bool varies, uint32_t *over)
{
    const uint32_t last = f->t->level[0].depth - 1;
    struct ptxi_places p[3];

    for (unsigned d = 0; d < 3; d++) {
        if (d < f->dimensions)
            find_places(f, d, v, varies, &p[d], over);
        else
            memset(&p[d], 0, sizeof p[d]);
    }
    if (f->layer)
        FOR_LANES
        p[2].at[0][l] = (int32_t)(f->layer[l] < last ? f->layer[l] : last);
    if (g->count > 1)
        weigh(g, k * (g->count / g->levels), v->share, p);
    find_offsets(f, g, k, v, varies, p);
}

static void find_together(const struct ptxi_fetch *f, struct ptxi_together *g, const struct ptxi_view v[2], uint32_t *over)
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

/* ---- directions on the faces of a cube: as ptxi_texture_cube() does it */

/* (x + 1) / 2, never more than that: what is cut from it are bits that matter only of what is a little less than a half. */
static inline double on_face(float x)
{
    double c = x > 1 ? 1 : x < -1 ? -1 : (double)x, v = fabs(c) < 0x1p-126 ? 0.5 : c * 0.5 + 0.5;

    return v == 0.5 && c <= -0x1p-126 ? 0.5 - 0x1p-54 : v;
}

/* Coordinates on a cube of side 2, and the faces; lanes with NaN are added to `odd`. */
static void reach_cube(const float *const *direction, float (*c)[PTXI_LANES], uint32_t *face, uint32_t *odd)
{
    const float *x = direction[0], *y = direction[1], *z = direction[2];

    FOR_LANES
    {
        float largest = fmaxf(fmaxf(fabsf(x[l]), fabsf(y[l])), fabsf(z[l]));
        float scale = ptxi_num_f32(ptxi_num_rcp_approx_ftz_f32(ptxi_num_bits_f32(largest)));
        float i = x[l] * scale, j = y[l] * scale, k = z[l] * scale;
        bool on_z = fabsf(k) >= fabsf(i) && fabsf(k) >= fabsf(j), on_y = fabsf(j) >= fabsf(i);
        float major = on_z ? k : on_y ? j : i;

        face[l] = (on_z ? 4u : on_y ? 2u : 0u) + !(major >= 0);
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

    reach_cube(direction, c, face, odd);
    FOR_LANES
    {
        bool on_z = face[l] > 3, on_y = face[l] > 1, minus = face[l] & 1;

        s[l] = on_face(on_z ? (minus ? -x[l] : x[l]) : on_y ? x[l] : minus ? z[l] : -z[l]);
        t[l] = on_face(on_z || !on_y ? -y[l] : minus ? -z[l] : z[l]);
    }
}

/* Integer coordinates: what is outside of the texture is not the border, but 0. */
static void find_integers(const struct ptxi_fetch *f, struct ptxi_together *g, uint32_t *outside)
{
    const struct ptxi_image *m = f->t->level;
    const uint32_t sizes[] = { m->width, m->height, m->depth };
    const int32_t strides[] = { f->t->bytes, (int32_t)m->pitch, (int32_t)m->slice };
    LANE_ARRAY(uint32_t, beyond) = { 0 };
    LANE_ARRAY(int32_t, offset) = { 0 };

    g->slices = g->levels = g->count = 1;
    g->bordered = false;
    for (unsigned d = 0; d < f->dimensions + (f->layer != NULL); d++) {
        const uint32_t *c = d < f->dimensions ? f->c[d] : f->layer, size = d < f->dimensions ? sizes[d] : sizes[2];
        const int32_t stride = d < f->dimensions ? strides[d] : strides[2];

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

#define LOAD_AS(type)                                  \
    do {                                               \
        for (int l = 0; l < PTXI_LANES; l++) {         \
            type v;                                    \
                                                       \
            memcpy(&v, base + offset[l], sizeof v);    \
            word[l] = v;                               \
        }                                              \
    } while (0)

/* Texels' bytes from there on, four at most. */
static void load_words(const struct ptxi_fetch *f, struct ptxi_together *g, unsigned first)
{
    const unsigned char *base = f->t->level[0].base + first;

    for (unsigned n = 0; n < g->count; n++) {
        const int32_t *offset = g->offset[n];
        uint32_t *word = g->word[n];

        switch (f->t->bytes) {
        case 1: LOAD_AS(uint8_t); break;
        case 2: LOAD_AS(uint16_t); break;
        default: LOAD_AS(uint32_t);
        }
    }
}
#undef LOAD_AS

/* Where it begins, bytes. */
static inline unsigned begin_of(const struct ptxi_texture *t, unsigned channel)
{
    return channel * (t->bytes / t->channels);
}

/* A channel of all texels, whose words are there. */
static void take_channel(const struct ptxi_fetch *f, struct ptxi_together *g, unsigned channel)
{
    const unsigned unused = 32 - 8 * (f->t->bytes / f->t->channels), up = unused - 8 * (begin_of(f->t, channel) & 3);
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

/* What a channel's texels mean. */
static inline enum ptxi_texel format_of(const struct ptxi_texture *t, unsigned channel)
{
    if (t->format == PTXI_TEXEL_PACKED)
        return channel == 3 ? PTXI_TEXEL_U16 : t->format;
    return t->srgb && channel < (t->channels == 2 ? 1 : 3) ? PTXI_TEXEL_SRGB : t->format;
}

static void filter_channel(const struct ptxi_fetch *f, const struct ptxi_together *g, unsigned channel, uint32_t *r, uint32_t *odd)
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

/* Each of them goes through the filter. */
static void gather_together(const struct ptxi_fetch *f, struct ptxi_together *g, uint32_t *odd, uint32_t (*r)[PTXI_LANES])
{
    const unsigned channel = f->component - 1;
    struct ptxi_together one;

    if (channel >= f->t->channels)
        return;
    one.count = one.slices = one.levels = 1;
    load_words(f, g, begin_of(f->t, channel) & ~3u);
    take_channel(f, g, channel);
    FOR_LANES
    one.w[0][l] = 256, one.inside[0][l] = 1;
    for (unsigned n = 0; n < 4; n++) {
        memcpy(one.texel[0], g->texel[gather_order[n]], sizeof one.texel[0]);
        filter_channel(f, &one, channel, r[n], odd);
    }
}

/* Returns the lanes that it leaves undone; `v` are the levels. */
static ptxi_lanes fetch_together(const struct ptxi_fetch *f, const struct ptxi_view *v, uint32_t *odd, uint32_t (*r)[PTXI_LANES])
{
    LANE_ARRAY(uint32_t, outside) = { 0 };
    struct ptxi_together g;
    ptxi_lanes left = 0;

    if (f->integer)
        find_integers(f, &g, outside);
    else
        find_together(f, &g, v, odd);
    if (f->component)
        gather_together(f, &g, odd, r);
    for (unsigned c = 0; c < f->t->channels && !f->component; c++) {
        if (!(begin_of(f->t, c) & 3))
            load_words(f, &g, begin_of(f->t, c));
        take_channel(f, &g, c);
        if (g.count == 1)
            convert(g.texel[0], f->t->as_integers ? PTXI_TEXEL_U32 : format_of(f->t, c), r[c]);
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
