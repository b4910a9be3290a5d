/* PTX ISA, "Texture Instructions: txq", "istypep", "Surface Instructions: suq". */
#include "exec/engine/engine.h"
#include "exec/engine/handler.h"
#include "exec/texture/texture.h"

/* PTX ISA, "Channel Data Type and Channel Order Fields". */
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
            return ptxi_fault(w, i, PTXI_FK_ILLEGAL, (ptxi_lanes)1 << l, names[l], 0, kind == PTXI_OBJECT_SURFACE ? "names no surface" : "names no texture");
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
        const struct ptxi_texture *t = names[l] >> 32 ? NULL : ptxi_object_find(w->cta->grid->objects, names[l]);
        uint64_t kind = names[l] >> 32 ? ptxi_reference(w, i, names[l]) >> PTXI_REFERENCE_KIND : t ? t->kind : PTXI_OBJECT_NONE;

        is |= (ptxi_lanes)(kind == i->mods) << l;
    }
    ptxi_set_pred(w, i->d, is);
    NEXT;
}
