/* Texture fetches of one lane. They support all textures and samplers. The texels are found here, and num/texture.h
 * computes the result. texture_warp_inl.h has the fetches of all lanes at once. */
#ifndef PTXI_EXEC_TEXTURE_TEXTURE_LANE_H
#define PTXI_EXEC_TEXTURE_TEXTURE_LANE_H

#include <assert.h>

#include "exec/texture/texel_check.h"
#include "exec/texture/texture_warp_inl.h"
#include "num/texture_block.h"

/* ---- texels */

struct lane_fetch {
    const struct ptxi_texture *t;
    const struct ptxi_sampler *s;
    const struct ptxi_tex *x;                /* the instruction */
    union { float f; int32_t i; } c[3];      /* coordinates */
    int32_t offset[3];                       /* offsets in texels, an operand of the instruction */
    uint32_t layer;
    double face[2];                          /* cube: coordinates on the face */
    const struct ptxi_texture_axes *ellipse; /* anisotropic footprint, or NULL */
    int32_t away[2];                         /* offset of the current probe */
    struct ptxi_texels *texels;              /* what it reads; NULL: that does not matter */
};

/* The taps along the dimensions of a level, after the address mode. The border is -1. */
struct footprint {
    int64_t at[3][2];
    uint32_t fraction[3];
};

static unsigned fraction_bits(const struct lane_fetch *k, const struct ptxi_image *m)
{
    return k->s->normalized ? ptxi_texture_fraction_bits(greatest_size(k->t, m), k->t->mipmap || k->t->layered) : 0;
}

static struct ptxi_texture_tap find_tap(const struct lane_fetch *k, unsigned d, uint32_t size, unsigned bits,
                                        bool linear)
{
    bool moved = d < 2 && (k->away[0] | k->away[1]);
    double x = k->x->cube ? k->face[d] : k->c[d].f;
    struct ptxi_texture_tap tap;

    if (k->x->integer)
        return (struct ptxi_texture_tap){ k->c[d].i, 0 };
    tap = ptxi_texture_find_tap(x, size, bits, linear);
    if (moved)
        tap = ptxi_texture_shift_tap(tap, k->away[d]);
    return linear ? tap : (struct ptxi_texture_tap){ tap.at, 0 };
}

/* The address mode of dimension d. Unnormalised coordinates and seamless faces neither wrap nor mirror. */
static enum ptxi_address_mode address_mode(const struct lane_fetch *k, unsigned d)
{
    if (k->x->integer || (k->x->cube && k->t->seamless))
        return PTXI_ADDRESS_CLAMP;
    if (!k->s->normalized && k->s->address[d] != PTXI_ADDRESS_BORDER)
        return PTXI_ADDRESS_CLAMP;
    return k->s->address[d];
}

static void find_footprint(const struct lane_fetch *k, const struct ptxi_image *m, bool linear, struct footprint *p)
{
    const uint32_t sizes[] = { m->width, m->height, m->depth };
    const unsigned bits = fraction_bits(k, m), dimensions = k->x->cube ? 2 : k->x->dimensions;

    for (unsigned d = 0; d < 3; d++) {
        const bool used = d < dimensions;
        const uint32_t size = used ? sizes[d] : 1;
        const int64_t offset = used ? k->offset[d] : -(k->offset[0] < 0);
        struct ptxi_texture_tap tap = used ? find_tap(k, d, size, bits, linear)
                                           : ptxi_texture_find_tap(0, 1, 0, linear);
        enum ptxi_address_mode mode = address_mode(k, d);

        if (!used && (d == 2 || mode != PTXI_ADDRESS_BORDER || k->x->layered)) {
            tap = (struct ptxi_texture_tap){ 0, 0 };
            mode = PTXI_ADDRESS_CLAMP; /* there is one texel */
        }
        for (unsigned e = 0; e < 2; e++)
            p->at[d][e] = ptxi_texture_apply_address_mode(tap.at + e + offset, size, mode);
        /* A coordinate that is clamped has no fraction. */
        p->fraction[d] = mode == PTXI_ADDRESS_CLAMP && p->at[d][0] == p->at[d][1] ? 0 : tap.fraction;
    }
}

/* A texel or its block. NULL: the border, which has a negative coordinate. */
static inline const unsigned char *texel_at(const struct ptxi_texture *t, const struct ptxi_image *m, int64_t x,
                                            int64_t y, int64_t z)
{
    const unsigned down = t->block ? PTXI_BLOCK_SIDE / 2 : 0; /* logarithm of the side of a block */

    if ((x | y | z) < 0)
        return NULL;
    return m->base + (uint64_t)z * m->slice + (uint64_t)(y >> down) * m->pitch + (uint64_t)(x >> down) * t->bytes;
}

/* Loads the channels of a texel, which is number n of the fetch. */
static void load_texel(const struct lane_fetch *k, const struct ptxi_image *m, int64_t x, int64_t y, int64_t z,
                       unsigned n, uint32_t c[4])
{
    const struct ptxi_texture *t = k->t;
    const unsigned in_block = (unsigned)(y % PTXI_BLOCK_SIDE * PTXI_BLOCK_SIDE + x % PTXI_BLOCK_SIDE);
    const unsigned char *p = texel_at(t, m, x, y, z);

    if (k->texels)
        k->texels->at[n] = p;
    if (!p) {
        memcpy(c, t->border, sizeof t->border);
        return;
    }
    if (t->block) {
        ptxi_texture_decode_block((enum ptxi_block)t->block, p, in_block, c);
    } else if (t->format == PTXI_TEXEL_PACKED) {
        for (unsigned k = 0; k < t->channels; k++)
            c[k] = ptxi_texel_unpack(ptxi_texel_load(p, PTXI_TEXEL_U32), k);
    } else {
        for (unsigned k = 0; k < t->channels; k++)
            c[k] = ptxi_texel_load(p + k * (t->bytes / t->channels), t->format);
    }
}

/* The result of a texel without a filter. */
static uint32_t convert_texel(const struct ptxi_texture *t, uint32_t v, unsigned channel)
{
    return t->as_integers ? v : ptxi_texel_to_f32(v, format_of(t, channel));
}

static inline bool is_volume(const struct lane_fetch *k)
{
    return k->x->dimensions == 3 && !k->x->cube;
}

static int64_t slice_of(const struct lane_fetch *k, const struct ptxi_image *m, const struct footprint *p, unsigned e)
{
    if (is_volume(k))
        return p->at[2][e];
    return k->layer < m->depth ? k->layer : m->depth - 1;
}

/* Appends the texels of one level and their weights. */
static void append_level(const struct lane_fetch *k, const struct ptxi_image *m, bool linear, uint32_t share,
                         struct ptxi_texture_weights *w, uint32_t (*texels)[4 * PTXI_TEXTURE_MAX_SLICES])
{
    const bool two_slices = is_volume(k) && linear;
    struct footprint p;
    uint32_t one[4];

    find_footprint(k, m, linear, &p);
    for (unsigned z = 0; z < 1u + two_slices; z++) {
        uint32_t far = two_slices ? (share * p.fraction[2] + 127) >> 8 : 0, first = 4 * w->slices;
        int64_t slice = slice_of(k, m, &p, z);

        assert(w->slices < PTXI_TEXTURE_MAX_SLICES);
        for (unsigned n = 0; n < 4; n++) {
            load_texel(k, m, p.at[0][n & 1], p.at[1][n >> 1], slice, first + n, one);
            for (unsigned c = 0; c < k->t->channels; c++)
                texels[c][first + n] = one[c];
        }
        ptxi_texture_add_slice(w, z ? far : share - far, p.fraction[0], p.fraction[1]);
    }
}

/* Loads four texels of a face of a seamless cube, or of its neighbours, from number `first` on. Returns the number of
 * the texel beyond a corner among the four, or -1. */
static int load_seamless(const struct lane_fetch *k, const struct ptxi_image *m, int64_t x, int64_t y, unsigned first,
                         uint32_t (*texels)[4])
{
    int corner = -1;

    for (unsigned n = 0; n < 4; n++) {
        unsigned face = k->layer % 6;
        int64_t i = x + (n & 1), j = y + (n >> 1);

        if (!ptxi_texture_cube_cross_edge(&face, &i, &j, m->width))
            corner = (int)n, i = j = 0;
        load_texel(k, m, i, j, k->layer - k->layer % 6 + face, first + n, texels[n]);
    }
    if (k->texels && corner >= 0)
        k->texels->at[first + (unsigned)corner] = NULL;
    return corner;
}

static struct ptxi_texture_tap tap_on_face(const struct lane_fetch *k, unsigned d, uint32_t size)
{
    const unsigned bits = ptxi_texture_fraction_bits(size, true);

    return ptxi_texture_shift_tap(ptxi_texture_find_tap(k->face[d], size, bits, true), k->away[d]);
}

/* The same as append_level() for a face of a seamless cube. */
static void append_seamless(const struct lane_fetch *k, const struct ptxi_image *m, uint32_t share,
                            struct ptxi_texture_weights *w,
                            uint32_t (*texels)[4 * PTXI_TEXTURE_MAX_SLICES])
{
    struct ptxi_texture_tap x = tap_on_face(k, 0, m->width), y = tap_on_face(k, 1, m->height);
    uint32_t first = 4 * w->slices, four[4][4];
    int corner;

    assert(w->slices < PTXI_TEXTURE_MAX_SLICES);
    ptxi_texture_cube_clamp_corner(&x, &y, m->width);
    corner = load_seamless(k, m, x.at, y.at, first, four);
    for (unsigned n = 0; n < 4; n++)
        for (unsigned c = 0; c < k->t->channels; c++)
            texels[c][first + n] = four[n][c];
    ptxi_texture_add_slice(w, share, x.fraction, y.fraction);
    if (corner >= 0)
        ptxi_texture_drop_corner(w, (unsigned)corner);
}

/* Fetches one texel without a filter. */
static void fetch_point(const struct lane_fetch *k, const struct ptxi_image *m, uint32_t *r)
{
    struct footprint p;
    uint32_t one[4];

    find_footprint(k, m, false, &p);
    load_texel(k, m, p.at[0][0], p.at[1][0], slice_of(k, m, &p, 0), 0, one);
    if (k->texels)
        k->texels->count = 1;
    for (unsigned c = 0; c < k->t->channels; c++)
        r[c] = convert_texel(k->t, one[c], c);
}

/* Appends the probes of a level. Without an ellipse there is one probe. Returns the number of bits of the sum of
 * weights, minus 8. */
static uint32_t append_probes(struct lane_fetch *k, unsigned level, int32_t ratio, uint32_t smaller, uint32_t share,
                              struct ptxi_texture_weights *w, uint32_t (*texels)[4 * PTXI_TEXTURE_MAX_SLICES])
{
    const struct ptxi_image *m = &k->t->level[level];
    struct ptxi_texture_probes p = { .count = 1, .place = { { .share = share } } };

    assert(level < k->t->levels);
    if (k->ellipse)
        ptxi_texture_find_probes(k->ellipse, ratio, smaller, share, &p);
    for (unsigned n = 0; n < p.count; n++) {
        k->away[0] = p.place[n].away[0];
        k->away[1] = p.place[n].away[1];
        if (k->t->seamless && k->x->cube && k->s->linear)
            append_seamless(k, m, p.place[n].share, w, texels);
        else
            append_level(k, m, k->s->linear, p.place[n].share, w, texels);
    }
    return p.shift;
}

/* The number of slices that are added at once: two for texels of more than 32 bits, else four. */
static uint32_t slices_at_once(const struct ptxi_texture *t)
{
    const bool is_large = t->block ? t->format == PTXI_TEXEL_F16 : t->bytes > 4;

    return is_large ? PTXI_TEXTURE_SLICE_GROUP / 2 : PTXI_TEXTURE_SLICE_GROUP;
}

/* Only texels with a share of the result count as read. */
static void keep_inside(const struct lane_fetch *k, const struct ptxi_texture_weights *w)
{
    for (unsigned n = 0; n < 4 * w->slices; n++)
        if (!(w->inside[n / 4] >> n % 4 & 1))
            k->texels->at[n] = NULL;
    k->texels->count = 4 * w->slices;
}

/* Fetches with a filter, from one level or two. */
static void fetch_filtered(struct lane_fetch *k, unsigned level, uint32_t fraction, uint32_t *r)
{
    const int32_t ratio = k->ellipse ? k->ellipse->ratio : 0;
    struct ptxi_texture_weights w;
    uint32_t texels[4][4 * PTXI_TEXTURE_MAX_SLICES];

    w.slices = 0;
    w.group = slices_at_once(k->t);
    w.shift = append_probes(k, level, ratio, fraction, 256 - fraction, &w, texels);
    w.second = w.slices;
    if (fraction) {
        uint32_t shift = append_probes(k, level + 1, ratio - 256 + (int32_t)fraction, 0, fraction, &w, texels);

        ptxi_texture_scale_slices(&w, w.second, w.shift - shift);
    }
    if (k->texels)
        keep_inside(k, &w);
    for (unsigned c = 0; c < k->t->channels; c++)
        r[c] = ptxi_texture_filter(format_of(k->t, c), texels[c], &w, k->t->as_integers);
}

/* The result of the filter for a single texel. */
static uint32_t filter_texel(const struct ptxi_texture *t, uint32_t v, unsigned channel)
{
    const struct ptxi_texture_weights w = { .w = { 256 }, .inside = { 1 }, .slices = 1, .second = 1, .group = 1 };
    const uint32_t texels[4] = { v };

    return ptxi_texture_filter(format_of(t, channel), texels, &w, t->as_integers);
}

/* The value of a channel that the format does not have. */
static inline uint32_t missing_channel(const struct ptxi_texture *t, unsigned channel)
{
    return t->block && channel == 3 ? 0x3f800000 : 0;
}

static void load_four(const struct lane_fetch *k, const struct ptxi_image *m, uint32_t (*texels)[4])
{
    struct footprint p;

    find_footprint(k, m, true, &p);
    for (unsigned n = 0; n < 4; n++)
        load_texel(k, m, p.at[0][n & 1], p.at[1][n >> 1], slice_of(k, m, &p, 0), n, texels[n]);
}

/* The value for a texel beyond a corner: the mean of the other three. The filter distributes its weight among them. */
static uint32_t filter_corner(const struct ptxi_texture *t, uint32_t (*four)[4], unsigned beyond, unsigned channel)
{
    struct ptxi_texture_weights w = { .slices = 1, .second = 1, .group = 1 };
    const uint32_t texels[4] = { four[0][channel], four[1][channel], four[2][channel], four[3][channel] };

    w.w[beyond] = 256;
    ptxi_texture_drop_corner(&w, beyond);
    return ptxi_texture_filter(format_of(t, channel), texels, &w, t->as_integers);
}

/* PTX ISA, "tld4": the texels that bilinear filtering would read, counter-clockwise from the lower left. */
static void gather_four(const struct lane_fetch *k, uint32_t *r)
{
    const struct ptxi_image *m = k->t->level;
    const unsigned channel = k->x->component - 1u;
    uint32_t four[4][4];
    int corner = -1;

    if (k->x->cube && k->t->seamless)
        corner = load_seamless(k, m, tap_on_face(k, 0, m->width).at, tap_on_face(k, 1, m->height).at, 0, four);
    else
        load_four(k, m, four);
    if (k->texels)
        k->texels->count = 4;
    for (unsigned n = 0; n < 4; n++) {
        const unsigned texel = gather_order[n];

        if (channel >= k->t->channels)
            r[n] = missing_channel(k->t, channel);
        else if ((int)texel == corner)
            r[n] = filter_corner(k->t, four, texel, channel);
        else
            r[n] = filter_texel(k->t, four[texel][channel], channel);
    }
}

/* Register k of the instruction. */
static const uint32_t *source(const struct ptxi_warp *w, const struct ptxi_tex *x, unsigned k)
{
    return PTXI_SLOT(w, x->slots[k]);
}

/* ---- the level of detail (LOD) in 256ths */

/* Converts an LOD to 256ths, truncated. NaN is 0. */
static int32_t lod_in_256ths(float x)
{
    const float most = 1 << 20, upper = x > most ? most : x, limited = upper < -most ? -most : upper;

    return x != x ? 0 : (int32_t)(limited * 256);
}

/* Applies the slope of the transition between levels. */
static int32_t apply_slope(const struct ptxi_sampler *s, int32_t level)
{
    int32_t f = (level & 255) * s->slope >> 2;

    return (level & ~255) + (f > 256 ? 256 : f);
}

/* Converts an LOD to a level in 256ths that the texture has. */
static uint32_t level_of_lod(const struct lane_fetch *k, int32_t lod)
{
    const struct ptxi_sampler *s = k->s;
    int32_t v = apply_slope(s, lod + s->bias), last = (int32_t)(k->t->levels - 1) * 256;

    v = v < s->most ? v : s->most;
    v = v > s->least ? v : s->least;
    if (!s->mip_linear)
        v = (v + 128) & ~255;
    v = v < last ? v : last;
    return (uint32_t)(v < 0 ? 0 : v);
}

/* Volumes are never anisotropic. */
static inline bool is_anisotropic(const struct lane_fetch *k)
{
    return k->s->anisotropy && (k->x->cube || k->x->dimensions < 3);
}

static inline bool has_ellipse(const struct lane_fetch *k)
{
    const bool has_two_dimensions = k->x->cube || k->x->dimensions == 2 || (k->x->dimensions == 1 && !k->x->layered);

    return k->s->anisotropy && k->x->level == PTXI_TEX_GRAD && has_two_dimensions;
}

static inline float nan_to_zero(float x)
{
    return x != x ? 0 : x;
}

/* In volumes and cubes, the steps are differences of coordinates, and are infinite for large coordinates. The driver's
 * code makes the four lanes of a quad read neighbouring texels. */
static inline float step_between(float from, float to)
{
    const float large = 0x1p97f;

    return fabsf(from) >= large ? INFINITY : nan_to_zero(to) - nan_to_zero(from);
}

static void find_step(const struct lane_fetch *k, const struct ptxi_warp *w, unsigned lane, unsigned way,
                      struct ptxi_texture_gradients *s)
{
    const struct ptxi_tex *x = k->x;
    float to[3], from[3] = { k->c[0].f, k->c[1].f, k->c[2].f };

    for (unsigned d = 0; d < x->dimensions; d++) {
        float step;

        memcpy(&step, &source(w, x, x->first[1 + way] + d)[lane], sizeof step);
        to[d] = from[d] + step;
        s->v[way][d] = x->dimensions < 3 ? step : step_between(from[d], to[d]);
    }
    if (x->cube)
        ptxi_texture_cube_gradient(from, to, way, s);
}

/* The factors of the steps. */
static void level_sizes(const struct lane_fetch *k, uint32_t sizes[3])
{
    const struct ptxi_image *m = k->t->level;
    const bool scaled = k->s->normalized;

    sizes[0] = scaled ? m->width : 1;
    sizes[1] = scaled ? m->height : 1;
    sizes[2] = scaled ? m->depth : 1;
    if (k->x->cube)
        sizes[2] = m->width;
}

static int32_t lod_of_gradients(struct lane_fetch *k, const struct ptxi_warp *w, unsigned lane,
                                struct ptxi_texture_axes *e)
{
    struct ptxi_texture_gradients steps = { .over_an_edge = false };
    uint32_t sizes[3];

    level_sizes(k, sizes);
    for (unsigned way = 0; way < 2; way++)
        find_step(k, w, lane, way, &steps);
    if (!has_ellipse(k) || steps.over_an_edge)
        return ptxi_texture_lod(&steps, sizes);
    if (k->x->cube)
        ptxi_texture_cube_project_gradients(k->layer % 6, &steps);
    ptxi_texture_find_axes(&steps, sizes, k->s->anisotropy, e);
    k->ellipse = e;
    return e->level;
}

enum { BASE_LEVEL = -32 }; /* LOD of the base level in the assembler's code; it is used even with a bias */

static uint32_t find_level(struct lane_fetch *k, const struct ptxi_warp *w, unsigned lane, struct ptxi_texture_axes *e)
{
    const struct ptxi_tex *x = k->x;
    float lod = BASE_LEVEL;

    if (k->t->levels < 2 && !has_ellipse(k))
        return 0;
    if (x->level == PTXI_TEX_GRAD)
        return level_of_lod(k, lod_of_gradients(k, w, lane, e));
    if (x->level == PTXI_TEX_LEVEL)
        memcpy(&lod, &source(w, x, x->first[1])[lane], sizeof lod);
    return level_of_lod(k, lod_in_256ths(lod));
}

/* ---- one lane */

static void read_coordinates(const struct ptxi_warp *w, unsigned lane, struct lane_fetch *k)
{
    const struct ptxi_tex *x = k->x;
    const bool no_offsets = k->t->memory && x->dimensions == 1;
    unsigned at = x->first[0], unused = x->component ? 26 : 28; /* unused bits of an offset */

    at += x->samples;
    k->layer = x->layered ? source(w, x, at++)[lane] : 0;
    for (unsigned d = 0; d < x->dimensions; d++, at++)
        memcpy(&k->c[d], &source(w, x, at)[lane], 4);
    if (x->cube) {
        float direction[3] = { k->c[0].f, k->c[1].f, k->c[2].f };
        uint32_t last = k->t->level[0].depth / 6 - 1;

        k->layer = (k->layer < last ? k->layer : last) * 6 + ptxi_texture_cube_face(direction, k->face);
    }
    for (unsigned d = 0; d < 3; d++) {
        k->offset[d] = 0;
        if (x->first[3] + d < x->first[4] && !no_offsets)
            k->offset[d] = (int32_t)(source(w, x, x->first[3] + d)[lane] << unused) >> unused;
    }
}

/* True if integer coordinates are in the texture. Others read 0 in any address mode. */
static bool is_inside(const struct lane_fetch *k, const struct ptxi_image *m)
{
    const uint32_t sizes[] = { m->width, m->height, m->depth };

    for (unsigned d = 0; d < k->x->dimensions; d++)
        if ((uint64_t)((int64_t)k->c[d].i + k->offset[d]) >= sizes[d])
            return false;
    return !k->x->layered || k->layer < m->depth;
}

/* Integer coordinates do not use the sampler. With a level, coordinates are clamped instead: the assembler requests
 * this. */
static void fetch_integers(const struct lane_fetch *k, const struct ptxi_warp *w, unsigned lane, uint32_t *r)
{
    uint32_t level = k->x->level == PTXI_TEX_LEVEL ? source(w, k->x, k->x->first[1])[lane] : 0;

    if (level < k->t->levels && (k->x->level == PTXI_TEX_LEVEL || is_inside(k, k->t->level)))
        fetch_point(k, &k->t->level[level], r);
}

/* True if an instruction and a texture have compatible dimensions. Otherwise all texels are 0. Textures with rows of
 * texels, layered or not, are compatible with each other: an instruction with one dimension reads the first row.
 * Integer coordinates in one dimension address only rows of memory or of layers. */
static bool is_compatible(const struct ptxi_texture *t, const struct ptxi_tex *x)
{
    bool row = t->dimensions == 1 && (t->memory || t->layered);

    if (t->cube || x->cube)
        return t->cube && x->cube;
    if (t->dimensions == 3 || x->dimensions == 3)
        return t->dimensions == x->dimensions;
    if (x->integer)
        return row == (x->dimensions == 1);
    if (t->memory && row)
        return false;
    return row == (x->dimensions == 1 && x->layered);
}

static void fetch_lane(struct lane_fetch *k, const struct ptxi_warp *w, unsigned lane, uint32_t *r)
{
    struct ptxi_texture_axes ellipse;
    uint32_t level;

    memset(r, 0, 4 * sizeof *r);
    if (k->texels)
        k->texels->count = 0;
    if (!is_compatible(k->t, k->x))
        return;
    k->ellipse = NULL;
    k->away[0] = k->away[1] = 0;
    if (k->t->channels < 4)
        r[3] = missing_channel(k->t, 3);
    read_coordinates(w, lane, k);
    if (k->x->component) {
        gather_four(k, r);
        return;
    }
    if (k->x->integer) {
        fetch_integers(k, w, lane, r);
        return;
    }
    level = find_level(k, w, lane, &ellipse);
    if (k->s->linear || is_anisotropic(k) || (k->t->mipmap && k->s->mip_linear))
        fetch_filtered(k, level >> 8, level & 255, r);
    else
        fetch_point(k, &k->t->level[level >> 8], r);
}

#endif
