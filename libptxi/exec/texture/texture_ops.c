/* PTX ISA, "Texture Instructions: tex" and "tld4". The common fetches are done for all lanes of a warp at once
 * (texture_warp_inl.h), the others lane by lane (texture_lane_inl.h). */
#include <assert.h>
#include <string.h>

#include "exec/texture/texture_lane_inl.h"
#include "exec/texture/texture_lod_inl.h"
#include "exec/memory/access.h"
#include "exec/texture/texel_init.h"
#include "exec/texture/texture.h"
#include "exec/texture/texture_warp_inl.h"

/* ---- textures and samplers */

/* Replaces the modes of the texture by those of a .samplerref variable. Returns false if there is no such variable. */
static bool read_sampler(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t name, struct ptxi_sampler *s)
{
    uint64_t held = name >> 32 ? ptxi_object_read_reference(w, i, name) : UINT64_MAX;

    if (held >> PTXI_REFERENCE_KIND != PTXI_OBJECT_SAMPLER)
        return false;
    for (unsigned d = 0; d < 3; d++)
        s->address[d] = held >> (PTXI_SAMPLER_MODES * d) & 3;
    s->linear = held & PTXI_SAMPLER_LINEAR;
    s->normalized &= !(held & PTXI_SAMPLER_UNNORMALIZED);
    return true;
}

static const struct ptxi_insn *invalid_operand(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane,
                                               uint64_t name,
                                               const char *what)
{
    return ptxi_fault(w, i, PTXI_FK_ILLEGAL, (ptxi_lanes)1 << lane, name, 0, what);
}

/* True if the array still exists, or if the memory of the texture can be read. */
static bool may_read(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_texture *t)
{
    uint64_t base = (uintptr_t)t->level[0].base;

    if (!t->readable)
        return !t->gone;
    return ptxi_access_is_cached(w, ptxi_access_hit(w, i), base, t->readable, false) ||
           ptxi_access_check(w, i, base, t->readable, PTXI_AK_LOAD);
}

/* ---- tex and tld4 */

static void write_results(const struct ptxi_warp *w, const struct ptxi_tex *x, uint32_t (*r)[PTXI_LANES])
{
    _Alignas(64) uint16_t half[PTXI_LANES];

    for (unsigned c = 0; c < x->first[0]; c++) {
        if (x->slots[c] == PTXI_NO_SLOT)
            continue;
        if (x->result == PTXI_TEX_16) {
            for (unsigned l = 0; l < PTXI_LANES; l++)
                half[l] = ptxi_texture_f16_from_f32(r[c][l]);
            ptxi_masked_write(PTXI_SLOT(w, x->slots[c]), half, w->active, 2);
        } else {
            for (unsigned l = 0; x->result == PTXI_TEX_2X16 && l < PTXI_LANES; l++) {
                const uint32_t low = ptxi_texture_f16_from_f32(r[2 * c][l]);
                const uint32_t high = ptxi_texture_f16_from_f32(r[2 * c + 1][l]);

                r[c][l] = low | high << 16;
            }
            ptxi_masked_write(PTXI_SLOT(w, x->slots[c]), r[c], w->active, 4);
        }
    }
}

/* True if fetch_warp() supports the fetch with the texture's own sampler. */
static bool is_common_fetch(const struct ptxi_texture *t, const struct ptxi_tex *x)
{
    enum { MOST_BYTES = INT32_MAX }; /* offsets have 32 bits */
    const struct ptxi_sampler *s = &t->sampler;
    const struct ptxi_image *m = t->level, *last = &t->level[t->levels - 1];
    const bool is_anisotropic = s->anisotropy && (x->dimensions < 3 || x->cube) && !x->component;

    assert(t->levels && t->levels <= PTXI_TEXTURE_LEVELS);
    if (t->block || is_anisotropic || (x->integer && x->level == PTXI_TEX_LEVEL))
        return false;
    if (s->linear && x->dimensions == 1 && !x->layered && s->address[1] == PTXI_ADDRESS_BORDER)
        return false; /* the border is also above and below the row */
    return (uint64_t)(last->base - m->base) + (uint64_t)m->slice * m->depth < MOST_BYTES &&
           (uint64_t)m->pitch * m->height * m->depth < MOST_BYTES && (uint64_t)m->width * t->bytes < MOST_BYTES;
}

/* The same as find_step() for all lanes. */
static void find_steps(const struct ptxi_warp *w, const struct ptxi_tex *x, struct lane_gradients *g, uint32_t *odd)
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

/* Finds the levels of the lanes, in 256ths. */
static void find_levels(const struct ptxi_warp *w, const struct ptxi_tex *x, const struct lane_fetch *k, int32_t *level,
                        uint32_t *odd)
{
    const float *lods = x->level == PTXI_TEX_LEVEL ? (const float *)source(w, x, x->first[1]) : NULL;
    struct lane_gradients g;
    uint32_t sizes[3];

    memset(level, 0, PTXI_LANES * sizeof *level);
    if (k->t->levels < 2 || x->integer || x->component)
        return;
    if (x->level == PTXI_TEX_GRAD) {
        level_sizes(k, sizes);
        g.cube = x->cube;
        find_steps(w, x, &g, odd);
        find_lod(&g, x->dimensions, sizes, level);
    } else {
        FOR_LANES
        level[l] = lod_in_256ths(lods ? lods[l] : BASE_LEVEL);
    }
    FOR_LANES
    level[l] = (int32_t)level_of_lod(k, level[l]);
}

/* Fills the views of the levels that lanes read. There are second levels only if any of them has a share. */
static void view_levels(const struct ptxi_texture *t, int32_t *level, ptxi_lanes active, struct warp_fetch *f,
                        struct level_view v[2])
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

/* Finds the coordinates. Directions become coordinates on faces of a cube, and faces count as layers. */
static void find_coordinates(const struct ptxi_warp *w, const struct ptxi_tex *x, struct warp_fetch *f,
                             double (*on_faces)[PTXI_LANES], uint32_t *layer, uint32_t *odd)
{
    const unsigned at = x->first[0] + x->layered;
    const uint32_t *layers = x->layered ? source(w, x, x->first[0]) : NULL, cubes = f->t->level[0].depth / 6 - 1;

    for (unsigned d = 0; d < x->dimensions; d++)
        f->c[d] = source(w, x, at + d);
    f->layer = layers;
    if (!x->cube)
        return;
    find_faces((const float *const *)f->c, on_faces[0], on_faces[1], layer, odd);
    if (layers)
        FOR_LANES
        layer[l] += (layers[l] < cubes ? layers[l] : cubes) * 6;
    f->c[0] = on_faces[0];
    f->c[1] = on_faces[1];
    f->layer = layer;
    f->dimensions = 2;
}

/* Fetches for all lanes at once, if this is a common fetch. Returns the lanes that are done. texels: gets what they
 * read; NULL: that does not matter. */
static ptxi_lanes fetch_together(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_tex *x,
                                 uint32_t (*r)[PTXI_LANES], struct ptxi_warp_texels *texels)
{
    const uint64_t *names = PTXI_SLOT(w, i->a), name = w->active ? names[ptxi_first_lane(w->active)] : 0;
    struct warp_fetch f = { .dimensions = x->dimensions, .integer = x->integer, .cube = x->cube,
                            .component = x->component, .texels = texels };
    struct lane_fetch k = { .x = x };
    struct level_view v[2];
    LANE_ARRAY(int32_t, level);
    LANE_ARRAY(double, on_faces[2]);
    LANE_ARRAY(uint32_t, layer);
    LANE_ARRAY(uint32_t, odd) = { 0 };
    ptxi_lanes same = 0;

    if (!w->active || x->samples || x->first[3] != x->first[4] || i->b != PTXI_NO_SLOT)
        return 0;
    k.t = f.t = ptxi_object_resolve(w, i, name, PTXI_OBJECT_TEXTURE);
    if (!k.t || !is_compatible(k.t, x) || !is_common_fetch(k.t, x) || !may_read(w, i, k.t))
        return 0;
    k.s = &k.t->sampler;
    f.linear = x->component || (k.s->linear && !x->integer);
    f.filtered = f.linear || (k.t->mipmap && k.s->mip_linear && !x->integer);
    find_levels(w, x, &k, level, odd);
    view_levels(k.t, level, w->active, &f, v);
    find_coordinates(w, x, &f, on_faces, layer, odd);
    for (unsigned l = 0; l < PTXI_LANES; l++)
        same |= (ptxi_lanes)(names[l] == name) << l;
    same &= w->active & ~fetch_warp(&f, v, odd, r);
    for (unsigned n = 0; texels && n < PTXI_TEXELS_TOGETHER; n++)
        texels->lanes[n] &= same;
    return same;
}

/* The results of a fetch get the shadows of its channels. */
static void set_shadows(struct ptxi_warp *w, const struct ptxi_insn *init, const struct ptxi_tex *x,
                        struct ptxi_texel_shadows *s)
{
    for (unsigned c = 0; s->any && x->result == PTXI_TEX_2X16 && c < x->first[0]; c++)
        for (unsigned l = 0; l < PTXI_LANES; l++)
            s->of[c][l] = (s->of[2 * c][l] & 0xffff) | (s->of[2 * c + 1][l] & 0xffff) << 16;
    ptxi_texel_init_results(w, init, x->result == PTXI_TEX_16 ? 2 : 4, s);
}

/* tex does what it is for. */
OP( init_tex )
{
    (void)w;
    NEXT;
}

/* What a checked launch notes of a fetch. */
struct notes {
    struct ptxi_texels own;             /* of the current lane */
    struct ptxi_warp_texels all;
    const struct ptxi_insn *init;       /* NULL: uninitialised values are not tracked */
    struct ptxi_texel_shadows shadows;
};

static void begin_notes(const struct ptxi_warp *w, const struct ptxi_insn *i, struct notes *n)
{
    memset(n->all.lanes, 0, sizeof n->all.lanes);
    n->all.bytes = 0;
    n->init = ptxi_texel_init_find(w, i);
    n->shadows.any = false;
}

/* Lanes have fetched together. */
static void note_together(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_tex *x, ptxi_lanes lanes,
                          struct notes *n)
{
    const uint64_t *names = PTXI_SLOT(w, i->a);

    if (n->init && lanes)
        ptxi_texel_init_together(&n->shadows, lanes,
                                 ptxi_object_resolve(w, i, names[ptxi_first_lane(lanes)], PTXI_OBJECT_TEXTURE),
                                 &n->all, x->component);
}

/* A lane has fetched alone. */
static void note_lane(struct ptxi_warp *w, const struct ptxi_insn *i, const struct lane_fetch *k, unsigned lane,
                      struct notes *n)
{
    ptxi_texels_note(w, i, lane, k->t, &n->own, &n->all);
    if (n->init)
        ptxi_texel_init_fetch(&n->shadows, lane, k->t, &n->own, k->x->component);
}

static void end_notes(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_tex *x, struct notes *n)
{
    ptxi_texels_check(w, i, &n->all);
    if (n->init)
        set_shadows(w, n->init, x, &n->shadows);
}

OP( tex )
{
    const struct ptxi_tex *x = (const struct ptxi_tex *)(w->frame->code->pool + i->imm);
    const uint64_t *names = PTXI_SLOT(w, i->a), *samplers = i->b == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, i->b);
    const bool checked = __builtin_expect(w->cta->check != NULL, 0);
    _Alignas(64) uint32_t r[4][PTXI_LANES] = { { 0 } };
    struct notes notes;
    struct lane_fetch k = { .x = x, .texels = checked ? &notes.own : NULL };
    struct ptxi_sampler own;
    ptxi_lanes together;
    uint64_t name = 0;

    if (checked)
        begin_notes(w, i, &notes);
    together = fetch_together(w, i, x, r, checked ? &notes.all : NULL);
    if (checked)
        note_together(w, i, x, together, &notes);
    for (ptxi_lanes left = w->active & ~together; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint32_t one[4];

        if (!k.t || names[l] != name) {
            name = names[l];
            k.t = ptxi_object_resolve(w, i, name, PTXI_OBJECT_TEXTURE);
            if (!k.t)
                return invalid_operand(w, i, l, name, "names no texture");
            if (!may_read(w, i, k.t))
                return invalid_operand(w, i, l, name, "names a texture in memory that was freed");
        }
        k.s = &k.t->sampler;
        if (samplers) {
            own = k.t->sampler;
            if (!read_sampler(w, i, samplers[l], &own))
                return invalid_operand(w, i, l, samplers[l], "names no sampler");
            k.s = &own;
        }
        fetch_lane(&k, w, l, one);
        if (checked)
            note_lane(w, i, &k, l, &notes);
        for (unsigned c = 0; c < 4; c++)
            r[c][l] = one[c];
    }
    if (checked)
        end_notes(w, i, x, &notes);
    write_results(w, x, r);
    NEXT;
}
