/* PTX ISA, "Texture Instructions". Lanes that are not done together (together.h) are taken one by one: each finds its texels, num/texture.h makes a value of
 * them. */
#include <math.h>
#include <string.h>

#include "exec/gradients.h"
#include "exec/level.h"
#include "exec/memory.h"
#include "exec/texture.h"
#include "exec/together.h"
#include "num/texture_block.h"

/* ---- which texture */

/* The modes that a .samplerref variable holds instead of the texture's own; false if there is none. */
static bool take_sampler(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t name, struct ptxi_sampler *s)
{
    uint64_t held = name >> 32 ? ptxi_reference(w, i, name) : UINT64_MAX;

    if (held >> PTXI_REFERENCE_KIND != PTXI_OBJECT_SAMPLER)
        return false;
    for (unsigned d = 0; d < 3; d++)
        s->address[d] = held >> (PTXI_SAMPLER_MODES * d) & 3;
    s->linear = held & PTXI_SAMPLER_LINEAR;
    s->normalized &= !(held & PTXI_SAMPLER_UNNORMALIZED);
    return true;
}

static const struct ptxi_insn *no_texture(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, uint64_t name, const char *what)
{
    return ptxi_fault(w, i, PTXI_FK_ILLEGAL, (ptxi_lanes)1 << lane, name, 0, what);
}

/* Are the array, or the memory that the program gave, still there? */
static bool may_read(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_texture *t)
{
    uint64_t base = (uintptr_t)t->level[0].base;

    return !t->readable ? !t->gone : ptxi_mem_covers(w, ptxi_mem_hit(w, i), base, t->readable, false) || ptxi_mem_check(w, i, base, t->readable, PTXI_ACCESS_LOAD);
}

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

/* ---- instructions */

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

static void write_results(const struct ptxi_warp *w, const struct ptxi_tex *x, uint32_t (*r)[PTXI_LANES])
{
    _Alignas(64) uint16_t half[PTXI_LANES];

    for (unsigned c = 0; c < x->first[0]; c++) {
        if (x->slots[c] == PTXI_NO_SLOT)
            continue;
        if (x->result == PTXI_TEX_16) {
            for (unsigned l = 0; l < PTXI_LANES; l++)
                half[l] = ptxi_texture_f16(r[c][l]);
            ptxi_merge(PTXI_SLOT(w, x->slots[c]), half, w->active, 2);
        } else {
            for (unsigned l = 0; x->result == PTXI_TEX_2X16 && l < PTXI_LANES; l++)
                r[c][l] = ptxi_texture_f16(r[2 * c][l]) | (uint32_t)ptxi_texture_f16(r[2 * c + 1][l]) << 16;
            ptxi_merge(PTXI_SLOT(w, x->slots[c]), r[c], w->active, 4);
        }
    }
}

/* Whether the texture's own modes leave nothing but levels that are read in the usual way. */
static bool is_usual(const struct ptxi_texture *t, const struct ptxi_tex *x)
{
    enum { MOST_BYTES = INT32_MAX }; /* offsets are of 32 bits */
    const struct ptxi_sampler *s = &t->sampler;
    const struct ptxi_image *m = t->level, *last = &t->level[t->levels - 1];

    if (t->block || (s->anisotropy && (x->dimensions < 3 || x->cube) && !x->component) || (x->integer && x->level == PTXI_TEX_LEVEL))
        return false;
    if (s->linear && x->dimensions == 1 && !x->layered && s->address[1] == PTXI_ADDRESS_BORDER)
        return false; /* the border is above and below the row, too */
    return (uint64_t)(last->base - m->base) + (uint64_t)m->slice * m->depth < MOST_BYTES && (uint64_t)m->pitch * m->height * m->depth < MOST_BYTES &&
           (uint64_t)m->width * t->bytes < MOST_BYTES;
}

/* As find_step() does it. */
static void find_steps(const struct ptxi_warp *w, const struct ptxi_tex *x, struct ptxi_gradients *g, uint32_t *odd)
{
    const float *from[3], *step;
    LANE_ARRAY(float, to[3]);

    for (unsigned d = 0; d < x->dimensions; d++)
        from[d] = (const float *)source(w, x, x->first[0] + x->layered + d);
    for (unsigned way = 0; way < 2; way++) {
        for (unsigned d = 0; d < x->dimensions; d++) {
            step = (const float *)source(w, x, x->first[1 + way] + d);
            FOR_LANES
            {
                to[d][l] = from[d][l] + step[l];
                g->step[way][d][l] = x->dimensions < 3 ? step[l] : step_between(from[d][l], to[d][l]);
            }
        }
        if (x->cube)
            step_in_cube(g, way, from, (const float *const[]){ to[0], to[1], to[2] }, odd);
    }
}

/* Each lane's level, in 256ths. */
static void find_levels(const struct ptxi_warp *w, const struct ptxi_tex *x, const struct lookup *k, int32_t *level, uint32_t *odd)
{
    const float *lods = x->level == PTXI_TEX_LEVEL ? (const float *)source(w, x, x->first[1]) : NULL;
    struct ptxi_gradients g;
    uint32_t sizes[3];

    memset(level, 0, PTXI_LANES * sizeof *level);
    if (k->t->levels < 2 || x->integer || x->component)
        return;
    if (x->level == PTXI_TEX_GRAD) {
        level_sizes(k, sizes);
        g.cube = x->cube;
        find_steps(w, x, &g, odd);
        measure_steps(&g, x->dimensions, sizes, level);
    } else {
        FOR_LANES
        level[l] = level_256ths(lods ? lods[l] : BASE_LEVEL);
    }
    FOR_LANES
    level[l] = (int32_t)level_of(k, level[l]);
}

/* The levels that lanes read, the second ones only if any of them has a share. */
static void view_levels(const struct ptxi_texture *t, int32_t *level, ptxi_lanes active, struct ptxi_fetch *f, struct ptxi_view v[2])
{
    const int32_t first = level[ptxi_first_lane(active)], last = (int32_t)t->levels - 1;
    int32_t other = 0, parted = 0;
    LANE_ARRAY(int32_t, index);

    FOR_LANES
    {
        level[l] = active >> l & 1 ? level[l] : first;
        other |= (level[l] ^ first) >> 8;
        parted |= level[l] & 255;
    }
    f->levels = parted ? 2 : 1;
    for (int32_t e = 0; e < (int32_t)f->levels; e++) {
        FOR_LANES
        {
            int32_t n = (level[l] >> 8) + e;

            index[l] = n < last ? n : last;
            v[e].share[l] = e ? level[l] & 255 : 256 - (level[l] & 255);
        }
        v[e].m = other ? NULL : &t->level[index[0]];
        if (other)
            view_each(t, index, &v[e]);
    }
}

/* The coordinates; of cubes, places on faces, which count as layers. */
static void take_coordinates(const struct ptxi_warp *w, const struct ptxi_tex *x, struct ptxi_fetch *f, double (*places)[PTXI_LANES], uint32_t *layer, uint32_t *odd)
{
    const unsigned at = x->first[0] + x->layered;
    const uint32_t *layers = x->layered ? source(w, x, x->first[0]) : NULL, cubes = f->t->level[0].depth / 6 - 1;

    for (unsigned d = 0; d < x->dimensions; d++)
        f->c[d] = source(w, x, at + d);
    f->layer = layers;
    if (!x->cube)
        return;
    find_faces((const float *const *)f->c, places[0], places[1], layer, odd);
    if (layers)
        FOR_LANES
        layer[l] += (layers[l] < cubes ? layers[l] : cubes) * 6;
    f->c[0] = places[0];
    f->c[1] = places[1];
    f->layer = layer;
    f->dimensions = 2;
}

/* Lanes that are done together, if this is a usual fetch; the others are looked up one by one. */
static ptxi_lanes look_up_together(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_tex *x, uint32_t (*r)[PTXI_LANES])
{
    const uint64_t *names = PTXI_SLOT(w, i->a), name = w->active ? names[ptxi_first_lane(w->active)] : 0;
    struct ptxi_fetch f = { .dimensions = x->dimensions, .integer = x->integer, .cube = x->cube, .component = x->component };
    struct lookup k = { .x = x };
    struct ptxi_view v[2];
    LANE_ARRAY(int32_t, level);
    LANE_ARRAY(double, places[2]);
    LANE_ARRAY(uint32_t, layer);
    LANE_ARRAY(uint32_t, odd) = { 0 };
    ptxi_lanes same = 0;

    if (!w->active || x->samples || x->first[3] != x->first[4] || i->b != PTXI_NO_SLOT)
        return 0;
    k.t = f.t = ptxi_object_named(w, i, name, PTXI_OBJECT_TEXTURE);
    if (!k.t || !fits(k.t, x) || !is_usual(k.t, x) || !may_read(w, i, k.t))
        return 0;
    k.s = &k.t->sampler;
    f.linear = x->component || (k.s->linear && !x->integer);
    f.filtered = f.linear || (k.t->mipmap && k.s->mip_linear && !x->integer);
    find_levels(w, x, &k, level, odd);
    view_levels(k.t, level, w->active, &f, v);
    take_coordinates(w, x, &f, places, layer, odd);
    for (unsigned l = 0; l < PTXI_LANES; l++)
        same |= (ptxi_lanes)(names[l] == name) << l;
    return same & w->active & ~fetch_together(&f, v, odd, r);
}

OP( tex )
{
    const struct ptxi_tex *x = (const struct ptxi_tex *)(w->frame->code->pool + i->imm);
    const uint64_t *names = PTXI_SLOT(w, i->a), *samplers = i->b == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, i->b);
    _Alignas(64) uint32_t r[4][PTXI_LANES] = { { 0 } };
    struct lookup k = { .x = x };
    struct ptxi_sampler own;
    uint64_t name = 0;

    for (ptxi_lanes left = w->active & ~look_up_together(w, i, x, r); left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint32_t one[4];

        if (!k.t || names[l] != name) {
            name = names[l];
            k.t = ptxi_object_named(w, i, name, PTXI_OBJECT_TEXTURE);
            if (!k.t)
                return no_texture(w, i, l, name, "names no texture");
            if (!may_read(w, i, k.t))
                return no_texture(w, i, l, name, "names a texture whose memory is gone");
        }
        k.s = &k.t->sampler;
        if (samplers) {
            own = k.t->sampler;
            if (!take_sampler(w, i, samplers[l], &own))
                return no_texture(w, i, l, samplers[l], "names no sampler");
            k.s = &own;
        }
        look_up(&k, w, l, one);
        for (unsigned c = 0; c < 4; c++)
            r[c][l] = one[c];
    }
    write_results(w, x, r);
    NEXT;
}

/* PTX ISA, "Texture Instructions: txq" and "Channel Data Type and Channel Order Fields". */
static uint32_t data_type(const struct ptxi_texture *t)
{
    enum { SNORM_INT8 = 0x10d0, UNORM_INT8 = 0x10d2, SIGNED_INT8 = 0x10d7, UNSIGNED_INT8 = 0x10da, HALF_FLOAT = 0x10dd, FLOAT = 0x10de };
    unsigned width = t->bytes / t->channels / 2; /* 0, 1, 2: of 8, 16, 32 bits */

    if (ptxi_texel_is_float(t->format))
        return t->format == PTXI_TEXEL_F16 ? HALF_FLOAT : FLOAT;
    if (ptxi_texel_is_signed(t->format))
        return (t->as_integers ? SIGNED_INT8 : SNORM_INT8) + width;
    return (t->as_integers ? UNSIGNED_INT8 : UNORM_INT8) + width;
}

static uint32_t channel_order(const struct ptxi_texture *t)
{
    enum { R = 0x10b0, RG = 0x10b2, RGBA = 0x10b5 };

    return t->channels == 1 ? R : t->channels == 2 ? RG : RGBA;
}

static uint32_t query(const struct ptxi_texture *t, enum ptxi_txq what, uint32_t level)
{
    const struct ptxi_image *m = &t->level[level < t->levels ? level : 0];
    const struct ptxi_sampler *s = &t->sampler;
    bool one = t->dimensions == 1, layered = t->layered;
    uint32_t layers = layered ? t->level[0].depth / (t->cube ? 6 : 1) : 0;

    if (level >= t->levels)
        return 0;
    switch (what) {
    case PTXI_TXQ_WIDTH: return m->width;
    case PTXI_TXQ_HEIGHT: return one && layered ? layers : one && (t->memory || t->kind == PTXI_OBJECT_SURFACE) ? 0 : m->height;
    case PTXI_TXQ_DEPTH: return t->dimensions == 3 ? m->depth : one ? 0 : layers;
    case PTXI_TXQ_CHANNEL_DATA_TYPE: return data_type(t);
    case PTXI_TXQ_CHANNEL_ORDER: return channel_order(t);
    case PTXI_TXQ_NORMALIZED: return s->normalized;
    case PTXI_TXQ_ARRAY_SIZE: return layers;
    case PTXI_TXQ_LEVELS: return t->levels;
    case PTXI_TXQ_SAMPLES: return 1;
    case PTXI_TXQ_FILTER: return s->linear;
    case PTXI_TXQ_ADDRESS_0: case PTXI_TXQ_ADDRESS_1: case PTXI_TXQ_ADDRESS_2: return s->address[what - PTXI_TXQ_ADDRESS_0];
    case PTXI_TXQ_UNNORMALIZED: return !s->normalized;
    default: return 0;
    }
}

OP( txq )
{
    enum ptxi_object_kind kind = i->mods & PTXI_TXQ_SURFACE ? PTXI_OBJECT_SURFACE : PTXI_OBJECT_TEXTURE;
    const uint64_t *names = PTXI_SLOT(w, i->a);
    const uint32_t *levels = i->b == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, i->b);
    _Alignas(64) uint32_t r[PTXI_LANES] = { 0 };

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        const struct ptxi_texture *t = ptxi_object_named(w, i, names[l], kind);

        if (!t) /* the instruction is the same for both */
            t = ptxi_object_named(w, i, names[l], PTXI_OBJECT_TEXTURE + PTXI_OBJECT_SURFACE - kind);
        if (!t)
            return no_texture(w, i, l, names[l], kind == PTXI_OBJECT_SURFACE ? "names no surface" : "names no texture");
        r[l] = query(t, (enum ptxi_txq)(i->mods & ~PTXI_TXQ_SURFACE), levels ? levels[l] : 0);
    }
    ptxi_merge(PTXI_SLOT(w, i->d), r, w->active, 4);
    NEXT;
}

/* What a variable is, or an object. */
OP( istypep )
{
    const uint64_t *names = PTXI_SLOT(w, i->a);
    ptxi_lanes is = 0;

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        const struct ptxi_texture *t = names[l] >> 32 ? NULL : ptxi_object_find(names[l]);
        uint64_t kind = names[l] >> 32 ? ptxi_reference(w, i, names[l]) >> PTXI_REFERENCE_KIND : t ? t->kind : PTXI_OBJECT_NONE;

        is |= (ptxi_lanes)(kind == i->mods) << l;
    }
    ptxi_set_pred(w, i->d, is);
    NEXT;
}
