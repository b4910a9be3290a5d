/* PTX ISA, "Texture Instructions: tex" and "tld4". Lanes that are not done together (together.h) are taken one by one (alone.h). */
#include <string.h>

#include "exec/texture/texture_lane.h"
#include "exec/texture/texture_lod.h"
#include "exec/memory/access.h"
#include "exec/texture/texture.h"
#include "exec/texture/texture_warp.h"

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

/* ---- tex and tld4 */

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
