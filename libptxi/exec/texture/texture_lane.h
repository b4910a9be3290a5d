/* Fetches of one lane, whatever it reads: it finds its texels, num/texture.h makes a value of them. Lanes that can be done together are in together.h. */
#ifndef PTXI_EXEC_TEXTURE_TEXTURE_LANE_H
#define PTXI_EXEC_TEXTURE_TEXTURE_LANE_H

#include "exec/texture/texture_warp.h"
#include "num/texture_block.h"

/* ---- reading texels */

struct lookup {
    const struct ptxi_texture *t;
    const struct ptxi_sampler *s;
    const struct ptxi_tex *x;
    union { float f; int32_t i; } c[3]; /* coordinates */
    int32_t offset[3];
    uint32_t layer;
    double face[2]; /* cube: coordinates on its face */
    const struct ptxi_ellipse *ellipse; /* or NULL */
    int32_t away[2]; /* of a place in it */
};

/* Places along the dimensions of a level, after the address modes; -1: the border. */
struct footprint {
    int64_t at[3][2];
    uint32_t fraction[3];
};

static unsigned fraction_bits(const struct lookup *k, const struct ptxi_image *m)
{
    return k->s->normalized ? ptxi_texture_fraction_bits(greatest_size(k->t, m), k->t->mipmap || k->t->layered) : 0;
}

static struct ptxi_tap tap_of(const struct lookup *k, unsigned d, uint32_t size, unsigned bits, bool linear)
{
    bool moved = d < 2 && (k->away[0] | k->away[1]);
    double x = k->x->cube ? k->face[d] : k->c[d].f;
    struct ptxi_tap tap;

    if (k->x->integer)
        return (struct ptxi_tap){ k->c[d].i, 0 };
    tap = ptxi_texture_place(x, size, bits, linear);
    if (moved)
        tap = ptxi_texture_shift(tap, k->away[d]);
    return linear ? tap : (struct ptxi_tap){ tap.at, 0 };
}

static void place(const struct lookup *k, const struct ptxi_image *m, bool linear, struct footprint *p)
{
    const uint32_t sizes[] = { m->width, m->height, m->depth };
    const unsigned bits = fraction_bits(k, m);

    for (unsigned d = 0; d < 3; d++) {
        bool there = d < (k->x->cube ? 2 : k->x->dimensions);
        struct ptxi_tap tap = there ? tap_of(k, d, sizes[d], bits, linear) : ptxi_texture_place(0, 1, 0, linear);
        /* Unnormalised coordinates neither wrap nor mirror, nor do faces without seams. */
        bool clamps = k->x->integer || (k->x->cube && k->t->seamless) || (!k->s->normalized && k->s->address[d] != PTXI_ADDRESS_BORDER);
        enum ptxi_address_mode mode = clamps ? PTXI_ADDRESS_CLAMP : k->s->address[d];

        if (!there && (d == 2 || mode != PTXI_ADDRESS_BORDER || k->x->layered)) {
            tap = (struct ptxi_tap){ 0, 0 };
            mode = PTXI_ADDRESS_CLAMP; /* the only one */
        }
        for (unsigned e = 0; e < 2; e++)
            p->at[d][e] = ptxi_texture_wrap(tap.at + e + (there ? k->offset[d] : -(k->offset[0] < 0)), there ? sizes[d] : 1, mode);
        p->fraction[d] = mode == PTXI_ADDRESS_CLAMP && p->at[d][0] == p->at[d][1] ? 0 : tap.fraction; /* clamped before it is parted */
    }
}

/* A texel's channels. */
static void load_texel(const struct ptxi_texture *t, const struct ptxi_image *m, int64_t x, int64_t y, int64_t z, uint32_t c[4])
{
    const unsigned down = t->block ? PTXI_BLOCK_SIDE / 2 : 0; /* four texels a block */
    const unsigned char *p;

    if ((x | y | z) < 0) {
        memcpy(c, t->border, sizeof t->border);
        return;
    }
    p = m->base + (uint64_t)z * m->slice + (uint64_t)(y >> down) * m->pitch + (uint64_t)(x >> down) * t->bytes;
    if (t->block) {
        ptxi_texture_block((enum ptxi_block)t->block, p, (unsigned)(y % PTXI_BLOCK_SIDE * PTXI_BLOCK_SIDE + x % PTXI_BLOCK_SIDE), c);
    } else if (t->format == PTXI_TEXEL_PACKED) {
        for (unsigned k = 0; k < t->channels; k++)
            c[k] = ptxi_texel_unpack(ptxi_texel_load(p, PTXI_TEXEL_U32), k);
    } else {
        for (unsigned k = 0; k < t->channels; k++)
            c[k] = ptxi_texel_load(p + k * (t->bytes / t->channels), t->format);
    }
}

/* Without filtering: a texel as the instruction gives it. */
static uint32_t plain(const struct ptxi_texture *t, uint32_t v, unsigned channel)
{
    return t->as_integers ? v : ptxi_texel_to_f32(v, format_of(t, channel));
}

static int64_t slice_of(const struct lookup *k, const struct ptxi_image *m, const struct footprint *p, unsigned e)
{
    return k->x->dimensions == 3 && !k->x->cube ? p->at[2][e] : k->layer < m->depth ? k->layer : m->depth - 1;
}

/* Texels of one level and their weights, behind those that are there. */
static void collect(const struct lookup *k, const struct ptxi_image *m, bool linear, uint32_t share, struct ptxi_weights *w, uint32_t (*texels)[4 * PTXI_TEXTURE_SLICES])
{
    struct footprint p;
    uint32_t one[4];

    place(k, m, linear, &p);
    for (unsigned z = 0; z < 1u + (k->x->dimensions == 3 && !k->x->cube && linear); z++) {
        uint32_t far = (share * p.fraction[2] + 127) >> 8, first = 4 * w->slices;
        int64_t slice = slice_of(k, m, &p, z);

        for (unsigned n = 0; n < 4; n++) {
            load_texel(k->t, m, p.at[0][n & 1], p.at[1][n >> 1], slice, one);
            for (unsigned c = 0; c < k->t->channels; c++)
                texels[c][first + n] = one[c];
        }
        ptxi_texture_slice(w, k->x->dimensions < 3 || k->x->cube || !linear ? share : z ? far : share - far, p.fraction[0], p.fraction[1]);
    }
}

/* Four texels of a face whose neighbours are seen across its edges, around a place; which of them lies beyond a corner, or -1. */
static int load_seamless(const struct lookup *k, const struct ptxi_image *m, int64_t x, int64_t y, uint32_t (*texels)[4])
{
    int corner = -1;

    for (unsigned n = 0; n < 4; n++) {
        unsigned face = k->layer % 6;
        int64_t i = x + (n & 1), j = y + (n >> 1);

        if (!ptxi_texture_cube_edge(&face, &i, &j, m->width))
            corner = (int)n, i = j = 0;
        load_texel(k->t, m, i, j, k->layer - k->layer % 6 + face, texels[n]);
    }
    return corner;
}

static struct ptxi_tap tap_on_face(const struct lookup *k, unsigned d, uint32_t size)
{
    return ptxi_texture_shift(ptxi_texture_place(k->face[d], size, ptxi_texture_fraction_bits(size, true), true), k->away[d]);
}

/* The same for a face whose neighbours are seen across its edges. */
static void collect_seamless(const struct lookup *k, const struct ptxi_image *m, uint32_t share, struct ptxi_weights *w, uint32_t (*texels)[4 * PTXI_TEXTURE_SLICES])
{
    struct ptxi_tap x = tap_on_face(k, 0, m->width), y = tap_on_face(k, 1, m->height);
    uint32_t first = 4 * w->slices, four[4][4];
    int corner;

    ptxi_texture_cube_corner(&x, &y, m->width);
    corner = load_seamless(k, m, x.at, y.at, four);
    for (unsigned n = 0; n < 4; n++)
        for (unsigned c = 0; c < k->t->channels; c++)
            texels[c][first + n] = four[n][c];
    ptxi_texture_slice(w, share, x.fraction, y.fraction);
    if (corner >= 0)
        ptxi_texture_corner(w, (unsigned)corner);
}

static void point(const struct lookup *k, const struct ptxi_image *m, uint32_t *r)
{
    struct footprint p;
    uint32_t one[4];

    place(k, m, false, &p);
    load_texel(k->t, m, p.at[0][0], p.at[1][0], slice_of(k, m, &p, 0), one);
    for (unsigned c = 0; c < k->t->channels; c++)
        r[c] = plain(k->t, one[c], c);
}

/* A level, in the places of an ellipse if there is one; the number of bits that its sum of weights has more than 8. */
static uint32_t collect_places(struct lookup *k, unsigned level, int32_t ratio, uint32_t smaller, uint32_t share, struct ptxi_weights *w, uint32_t (*texels)[4 * PTXI_TEXTURE_SLICES])
{
    const struct ptxi_image *m = &k->t->level[level];
    struct ptxi_spots p = { .count = 1, .place = { { .share = share } } };

    if (k->ellipse)
        ptxi_texture_spots(k->ellipse, ratio, smaller, share, &p);
    for (unsigned n = 0; n < p.count; n++) {
        k->away[0] = p.place[n].away[0];
        k->away[1] = p.place[n].away[1];
        if (k->t->seamless && k->x->cube && k->s->linear)
            collect_seamless(k, m, p.place[n].share, w, texels);
        else
            collect(k, m, k->s->linear, p.place[n].share, w, texels);
    }
    return p.shift;
}

/* Of texels of more than 32 bits there are two slices at once, else four. */
static uint32_t slices_at_once(const struct ptxi_texture *t)
{
    return (t->block ? t->format == PTXI_TEXEL_F16 : t->bytes > 4) ? PTXI_TEXTURE_GROUP / 2 : PTXI_TEXTURE_GROUP;
}

static void filter(struct lookup *k, unsigned level, uint32_t fraction, uint32_t *r)
{
    const int32_t ratio = k->ellipse ? k->ellipse->ratio : 0;
    struct ptxi_weights w;
    uint32_t texels[4][4 * PTXI_TEXTURE_SLICES];

    w.slices = 0;
    w.group = slices_at_once(k->t);
    w.shift = collect_places(k, level, ratio, fraction, 256 - fraction, &w, texels);
    w.second = w.slices;
    if (fraction) {
        uint32_t shift = collect_places(k, level + 1, ratio - 256 + (int32_t)fraction, 0, fraction, &w, texels);

        ptxi_texture_widen(&w, w.second, w.shift - shift);
    }
    for (unsigned c = 0; c < k->t->channels; c++)
        r[c] = ptxi_texture_mean(format_of(k->t, c), texels[c], &w, k->t->as_integers);
}

/* A texel as the filter gives it if it is the only one. */
static uint32_t alone(const struct ptxi_texture *t, uint32_t v, unsigned channel)
{
    const struct ptxi_weights w = { .w = { 256 }, .inside = { 1 }, .slices = 1, .second = 1, .group = 1 };
    const uint32_t texels[4] = { v };

    return ptxi_texture_mean(format_of(t, channel), texels, &w, t->as_integers);
}

/* A channel that the format does not have. */
static inline uint32_t missing(const struct ptxi_texture *t, unsigned channel)
{
    return t->block && channel == 3 ? 0x3f800000 : 0;
}

static void load_four(const struct lookup *k, const struct ptxi_image *m, uint32_t (*texels)[4])
{
    struct footprint p;

    place(k, m, true, &p);
    for (unsigned n = 0; n < 4; n++)
        load_texel(k->t, m, p.at[0][n & 1], p.at[1][n >> 1], slice_of(k, m, &p, 0), texels[n]);
}

/* For a texel beyond a corner: the mean of the others, among which the filter parts its weight. */
static uint32_t others(const struct ptxi_texture *t, uint32_t (*four)[4], unsigned beyond, unsigned channel)
{
    struct ptxi_weights w = { .slices = 1, .second = 1, .group = 1 };
    const uint32_t texels[4] = { four[0][channel], four[1][channel], four[2][channel], four[3][channel] };

    w.w[beyond] = 256;
    ptxi_texture_corner(&w, beyond);
    return ptxi_texture_mean(format_of(t, channel), texels, &w, t->as_integers);
}

/* PTX ISA, "tld4": the texels that bilinear filtering would read, counter-clockwise from the lower left. */
static void gather(const struct lookup *k, uint32_t *r)
{
    const struct ptxi_image *m = k->t->level;
    const unsigned channel = k->x->component - 1u;
    uint32_t four[4][4];
    int corner = -1;

    if (k->x->cube && k->t->seamless)
        corner = load_seamless(k, m, tap_on_face(k, 0, m->width).at, tap_on_face(k, 1, m->height).at, four);
    else
        load_four(k, m, four);
    for (unsigned n = 0; n < 4; n++) {
        const unsigned texel = gather_order[n];

        r[n] = channel >= k->t->channels ? missing(k->t, channel) : (int)texel == corner ? others(k->t, four, texel, channel) : alone(k->t, four[texel][channel], channel);
    }
}

static const uint32_t *source(const struct ptxi_warp *w, const struct ptxi_tex *x, unsigned k)
{
    return PTXI_SLOT(w, x->slots[k]);
}

/* ---- the level: 256ths, cut to those that there are */

/* In 256ths, cut towards zero; NaN is 0. */
static int32_t level_256ths(float x)
{
    const float most = 1 << 20;

    return x != x ? 0 : (int32_t)((x > most ? most : x < -most ? -most : x) * 256);
}

/* The way from one level to the next may be a shorter one. */
static int32_t narrowed(const struct ptxi_sampler *s, int32_t level)
{
    int32_t f = (level & 255) * s->slope >> 2;

    return (level & ~255) + (f > 256 ? 256 : f);
}

static uint32_t level_of(const struct lookup *k, int32_t lod)
{
    const struct ptxi_sampler *s = k->s;
    int32_t v = narrowed(s, lod + s->bias), last = (int32_t)(k->t->levels - 1) * 256;

    v = v < s->most ? v : s->most;
    v = v > s->least ? v : s->least;
    if (!s->mip_linear)
        v = (v + 128) & ~255;
    return (uint32_t)(v < 0 ? 0 : v < last ? v : last);
}

/* Not volumes. */
static inline bool is_anisotropic(const struct lookup *k)
{
    return k->s->anisotropy && (k->x->cube || k->x->dimensions < 3);
}

static inline bool has_ellipse(const struct lookup *k)
{
    return k->s->anisotropy && k->x->level == PTXI_TEX_GRAD && (k->x->cube || k->x->dimensions == 2 || (k->x->dimensions == 1 && !k->x->layered));
}

static inline float number(float x)
{
    return x != x ? 0 : x;
}

/* In volumes and cubes steps are differences of places, which are infinite far off: the driver's code has the four lanes of a quad look up neighbours. */
static inline float step_between(float from, float to)
{
    const float far_off = 0x1p97f;

    return fabsf(from) >= far_off ? INFINITY : number(to) - number(from);
}

static void find_step(const struct lookup *k, const struct ptxi_warp *w, unsigned lane, unsigned way, struct ptxi_steps *s)
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
        ptxi_texture_cube_step(from, to, way, s);
}

/* What steps are multiplied by. */
static void level_sizes(const struct lookup *k, uint32_t sizes[3])
{
    const struct ptxi_image *m = k->t->level;
    const bool scaled = k->s->normalized;

    sizes[0] = scaled ? m->width : 1;
    sizes[1] = scaled ? m->height : 1;
    sizes[2] = k->x->cube ? m->width : scaled ? m->depth : 1;
}

static int32_t level_of_gradients(struct lookup *k, const struct ptxi_warp *w, unsigned lane, struct ptxi_ellipse *e)
{
    struct ptxi_steps steps = { .over_an_edge = false };
    uint32_t sizes[3];

    level_sizes(k, sizes);
    for (unsigned way = 0; way < 2; way++)
        find_step(k, w, lane, way, &steps);
    if (!has_ellipse(k) || steps.over_an_edge)
        return ptxi_texture_level(&steps, sizes);
    if (k->x->cube)
        ptxi_texture_cube_flatten(k->layer % 6, &steps);
    ptxi_texture_ellipse(&steps, sizes, k->s->anisotropy, e);
    k->ellipse = e;
    return e->level;
}

enum { BASE_LEVEL = -32 }; /* as the assembler has it done: even with a bias */

static uint32_t find_level(struct lookup *k, const struct ptxi_warp *w, unsigned lane, struct ptxi_ellipse *e)
{
    const struct ptxi_tex *x = k->x;
    float lod = BASE_LEVEL;

    if (k->t->levels < 2 && !has_ellipse(k))
        return 0;
    if (x->level == PTXI_TEX_GRAD)
        return level_of(k, level_of_gradients(k, w, lane, e));
    if (x->level == PTXI_TEX_LEVEL)
        memcpy(&lod, &source(w, x, x->first[1])[lane], sizeof lod);
    return level_of(k, level_256ths(lod));
}

/* ---- one lane */

static void read_coordinates(const struct ptxi_warp *w, unsigned lane, struct lookup *k)
{
    const struct ptxi_tex *x = k->x;
    unsigned at = x->first[0], unused = x->component ? 26 : 28; /* bits of an offset */

    at += x->samples;
    k->layer = x->layered ? source(w, x, at++)[lane] : 0;
    for (unsigned d = 0; d < x->dimensions; d++, at++)
        memcpy(&k->c[d], &source(w, x, at)[lane], 4);
    if (x->cube) {
        float direction[3] = { k->c[0].f, k->c[1].f, k->c[2].f };
        uint32_t last = k->t->level[0].depth / 6 - 1;

        k->layer = (k->layer < last ? k->layer : last) * 6 + ptxi_texture_cube(direction, k->face);
    }
    for (unsigned d = 0; d < 3; d++)
        k->offset[d] = x->first[3] + d < x->first[4] && !(k->t->memory && x->dimensions == 1) ? (int32_t)(source(w, x, x->first[3] + d)[lane] << unused) >> unused : 0;
}

/* Integer coordinates outside of the texture read 0, whatever the address mode. */
static bool inside(const struct lookup *k, const struct ptxi_image *m)
{
    const uint32_t sizes[] = { m->width, m->height, m->depth };

    for (unsigned d = 0; d < k->x->dimensions; d++)
        if ((uint64_t)((int64_t)k->c[d].i + k->offset[d]) >= sizes[d])
            return false;
    return !k->x->layered || k->layer < m->depth;
}

/* The sampler has no say. With a level coordinates are clamped instead: the assembler asks for that. */
static void look_up_integers(const struct lookup *k, const struct ptxi_warp *w, unsigned lane, uint32_t *r)
{
    uint32_t level = k->x->level == PTXI_TEX_LEVEL ? source(w, k->x, k->x->first[1])[lane] : 0;

    if (level < k->t->levels && (k->x->level == PTXI_TEX_LEVEL || inside(k, k->t->level)))
        point(k, &k->t->level[level], r);
}

/* Only then are there texels; else everything reads 0. What has rows of texels, layered or not, is one kind, whose first row has one dimension. Integers
 * address rows of memory, or of layers, but none else in one dimension. */
static bool fits(const struct ptxi_texture *t, const struct ptxi_tex *x)
{
    bool row = t->dimensions == 1 && (t->memory || t->layered);

    if (t->cube || x->cube)
        return t->cube && x->cube;
    if (t->dimensions == 3 || x->dimensions == 3)
        return t->dimensions == x->dimensions;
    if (x->integer)
        return row == (x->dimensions == 1);
    return t->memory && row ? false : row == (x->dimensions == 1 && x->layered);
}

static void look_up(struct lookup *k, const struct ptxi_warp *w, unsigned lane, uint32_t *r)
{
    struct ptxi_ellipse ellipse;
    uint32_t level;

    memset(r, 0, 4 * sizeof *r);
    if (!fits(k->t, k->x))
        return;
    k->ellipse = NULL;
    k->away[0] = k->away[1] = 0;
    if (k->t->channels < 4)
        r[3] = missing(k->t, 3);
    read_coordinates(w, lane, k);
    if (k->x->component) {
        gather(k, r);
        return;
    }
    if (k->x->integer) {
        look_up_integers(k, w, lane, r);
        return;
    }
    level = find_level(k, w, lane, &ellipse);
    if (k->s->linear || is_anisotropic(k) || (k->t->mipmap && k->s->mip_linear))
        filter(k, level >> 8, level & 255, r);
    else
        point(k, &k->t->level[level >> 8], r);
}

#endif
