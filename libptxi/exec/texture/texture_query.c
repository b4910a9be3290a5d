/* PTX ISA, "Texture Instructions: txq", "istypep", "Surface Instructions: suq". */
#include "exec/engine/engine.h"
#include "exec/engine/handler.h"
#include "exec/texture/texture.h"

/* PTX ISA, "Channel Data Type and Channel Order Fields". */
static uint32_t data_type(const struct ptxi_texture *t)
{
    enum {
        SNORM_INT8 = 0x10d0, UNORM_INT8 = 0x10d2, SIGNED_INT8 = 0x10d7, UNSIGNED_INT8 = 0x10da,
        HALF_FLOAT = 0x10dd, FLOAT = 0x10de
    };
    unsigned width = t->bytes / t->channels / 2; /* 0, 1 or 2 for 8, 16 or 32 bits */

    if (ptxi_texel_is_float(t->format))
        return t->format == PTXI_TEXEL_F16 ? HALF_FLOAT : FLOAT;
    if (ptxi_texel_is_signed(t->format))
        return (t->as_integers ? SIGNED_INT8 : SNORM_INT8) + width;
    return (t->as_integers ? UNSIGNED_INT8 : UNORM_INT8) + width;
}

static uint32_t channel_order(const struct ptxi_texture *t)
{
    enum { R = 0x10b0, RG = 0x10b2, RGBA = 0x10b5 };

    switch (t->channels) {
    case 1: return R;
    case 2: return RG;
    default: return RGBA;
    }
}

static uint32_t layer_count(const struct ptxi_texture *t)
{
    const uint32_t faces = t->cube ? 6 : 1;

    return t->layered ? t->level[0].depth / faces : 0;
}

/* The height of an object with one dimension is the number of its layers. */
static uint32_t query_height(const struct ptxi_texture *t, const struct ptxi_image *m)
{
    if (t->dimensions != 1)
        return m->height;
    if (t->layered)
        return layer_count(t);
    return t->memory || t->kind == PTXI_OBJECT_SURFACE ? 0 : m->height;
}

static uint32_t query_depth(const struct ptxi_texture *t, const struct ptxi_image *m)
{
    if (t->dimensions == 3)
        return m->depth;
    return t->dimensions == 1 ? 0 : layer_count(t);
}

static uint32_t query(const struct ptxi_texture *t, enum ptxi_txq what, uint32_t level)
{
    const struct ptxi_image *m = &t->level[level < t->levels ? level : 0];
    const struct ptxi_sampler *s = &t->sampler;

    if (level >= t->levels)
        return 0;
    switch (what) {
    case PTXI_TXQ_WIDTH: return m->width;
    case PTXI_TXQ_HEIGHT: return query_height(t, m);
    case PTXI_TXQ_DEPTH: return query_depth(t, m);
    case PTXI_TXQ_CHANNEL_DATA_TYPE: return data_type(t);
    case PTXI_TXQ_CHANNEL_ORDER: return channel_order(t);
    case PTXI_TXQ_NORMALIZED: return s->normalized;
    case PTXI_TXQ_ARRAY_SIZE: return layer_count(t);
    case PTXI_TXQ_LEVELS: return t->levels;
    case PTXI_TXQ_SAMPLES: return 1;
    case PTXI_TXQ_FILTER: return s->linear;
    case PTXI_TXQ_ADDRESS_0:
    case PTXI_TXQ_ADDRESS_1:
    case PTXI_TXQ_ADDRESS_2: return s->address[what - PTXI_TXQ_ADDRESS_0];
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
        const struct ptxi_texture *t = ptxi_object_resolve(w, i, names[l], kind);

        if (!t) /* the instruction also accepts the other kind */
            t = ptxi_object_resolve(w, i, names[l], PTXI_OBJECT_TEXTURE + PTXI_OBJECT_SURFACE - kind);
        if (!t)
            return ptxi_fault(w, i, PTXI_FK_ILLEGAL, (ptxi_lanes)1 << l, names[l], 0,
                              kind == PTXI_OBJECT_SURFACE ? "names no surface" : "names no texture");
        r[l] = query(t, (enum ptxi_txq)(i->mods & ~PTXI_TXQ_SURFACE), levels ? levels[l] : 0);
    }
    ptxi_masked_write(PTXI_SLOT(w, i->d), r, w->active, 4);
    NEXT;
}

/* The kind of a variable or an object. */
static uint64_t kind_of(struct ptxi_warp *w, const struct ptxi_insn *i, uint64_t name)
{
    const struct ptxi_texture *t;

    if (name >> 32)
        return ptxi_object_read_reference(w, i, name) >> PTXI_REFERENCE_KIND;
    t = ptxi_object_table_find(w->cta->grid->objects, name);
    return t ? t->kind : PTXI_OBJECT_NONE;
}

OP( istypep )
{
    const uint64_t *names = PTXI_SLOT(w, i->a);
    ptxi_lanes is = 0;

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);

        is |= (ptxi_lanes)(kind_of(w, i, names[l]) == i->mods) << l;
    }
    ptxi_set_pred(w, i->d, is);
    NEXT;
}
