/* Creates, describes and destroys texture and surface objects. */
#include "api/texture/texture.h"

#include "api/texture/array.h"
#include "exec/memmap/memmap.h"
#include "num/texture_block.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

_Static_assert((int)PTXI_TEXTURE_LEVELS >= (int)PTXI_ARRAY_LEVELS, "a texture has room for all levels of an array");

/* ---- resources */

/* False if the format is invalid. */
static bool set_format(struct ptxi_texture *t, ptxiArrayFormat format, unsigned channels)
{
    const struct ptxi_array_format *f = ptxi_array_format(format);

    if (!f || !ptxi_array_channels_ok(f, channels))
        return false;
    t->format = (enum ptxi_texel)f->texel;
    t->block = f->block;
    t->normalized = f->normalized;
    t->srgb = f->srgb;
    t->channels = (uint8_t)channels;
    t->bytes = (uint8_t)(f->bytes * (f->block ? 1 : channels));
    return true;
}

static struct ptxi_image image_of(const struct ptxiArray_st *a)
{
    return (struct ptxi_image){ a->base, (uint32_t)a->desc.Width, (uint32_t)(a->desc.Height ? a->desc.Height : 1),
                                (uint32_t)a->slices, a->pitch, a->slice };
}

static ptxiResult set_arrays(struct ptxi_texture *t, const struct ptxiArray_st *levels, unsigned count)
{
    const PTXI_ARRAY3D_DESCRIPTOR *d = &levels->desc;

    assert(count >= 1 && count <= PTXI_TEXTURE_LEVELS && levels->base);
    set_format(t, d->Format, d->NumChannels);
    if (t->block && t->kind == PTXI_OBJECT_SURFACE)
        return PTXI_ERROR_INVALID_VALUE;
    t->cube = d->Flags & PTXI_ARRAY3D_CUBEMAP;
    t->layered = d->Flags & PTXI_ARRAY3D_LAYERED;
    if (!d->Height)
        t->dimensions = 1;
    else
        t->dimensions = t->cube || t->layered || !d->Depth ? 2 : 3;
    t->levels = count;
    for (unsigned l = 0; l < count; l++)
        t->level[l] = image_of(&levels[l]);
    return PTXI_SUCCESS;
}

/* Device memory can have plain formats only: without compression or a fixed number of channels. */
static bool set_plain_format(struct ptxi_texture *t, ptxiArrayFormat format, unsigned channels)
{
    return set_format(t, format, channels) && !ptxi_array_format(format)->channels;
}

/* Device memory: one row of texels if `height` is 0, else `height` rows. */
static ptxiResult set_memory(struct ptxi_texture *t, ptxiDevicePtr p, size_t width, size_t height, size_t pitch)
{
    enum { ALIGN = 512, PITCH_ALIGN = 32, MAX_WIDTH = 1 << 28, MAX_SIDE = 131072 };
    struct ptxi_mem_region region;
    size_t bytes;

    if (!width || p % ALIGN || (!height && width > MAX_WIDTH) ||
        (height && (!pitch || pitch % PITCH_ALIGN || width > MAX_SIDE || height > MAX_SIDE ||
                    pitch < width * t->bytes)))
        return PTXI_ERROR_INVALID_VALUE;
    bytes = height ? pitch * (height - 1) + width * t->bytes : width * t->bytes;
    if (ptxi_memmap_find(ptxi_state.memmap, p, &region) != PTXI_MEMMAP_INSIDE || region.flags & PTXI_MEM_FREED ||
        bytes > region.size - (p - region.base))
        return PTXI_ERROR_INVALID_VALUE;
    t->memory = true;
    t->dimensions = height ? 2 : 1;
    t->levels = 1;
    t->readable = bytes;
    t->level[0] = (struct ptxi_image){ (unsigned char *)(uintptr_t)p, (uint32_t)width,
                                       (uint32_t)(height ? height : 1), 1, pitch, 0 };
    return PTXI_SUCCESS;
}

/* Sets the texels of an object. The call holds the array. */
static ptxiResult set_resource(struct ptxi_texture *t, const PTXI_RESOURCE_DESC *d)
{
    ptxiResult r;

    if (d->flags)
        return PTXI_ERROR_INVALID_VALUE;
    if (t->kind == PTXI_OBJECT_SURFACE && d->resType != PTXI_RESOURCE_TYPE_ARRAY)
        return PTXI_ERROR_INVALID_VALUE;
    switch ((int)d->resType) {
    case PTXI_RESOURCE_TYPE_ARRAY:
        if (!d->res.array.hArray)
            return PTXI_ERROR_INVALID_VALUE;
        if ((r = ptxi_handle_use(d->res.array.hArray, PTXI_HANDLE_ARRAY)))
            return r;
        return set_arrays(t, d->res.array.hArray, 1);
    case PTXI_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        if (!d->res.mipmap.hMipmappedArray)
            return PTXI_ERROR_INVALID_VALUE;
        if ((r = ptxi_handle_use(d->res.mipmap.hMipmappedArray, PTXI_HANDLE_MIPMAPPED_ARRAY)))
            return r;
        t->mipmap = true;
        return set_arrays(t, d->res.mipmap.hMipmappedArray->levels, d->res.mipmap.hMipmappedArray->count);
    case PTXI_RESOURCE_TYPE_LINEAR:
        if (!set_plain_format(t, d->res.linear.format, d->res.linear.numChannels))
            return PTXI_ERROR_INVALID_VALUE;
        return set_memory(t, d->res.linear.devPtr, d->res.linear.sizeInBytes / t->bytes, 0, 0);
    case PTXI_RESOURCE_TYPE_PITCH2D:
        if (!set_plain_format(t, d->res.pitch2D.format, d->res.pitch2D.numChannels) || !d->res.pitch2D.height)
            return PTXI_ERROR_INVALID_VALUE;
        return set_memory(t, d->res.pitch2D.devPtr, d->res.pitch2D.width, d->res.pitch2D.height,
                          d->res.pitch2D.pitchInBytes);
    default:
        return PTXI_ERROR_INVALID_VALUE;
    }
}

/* ---- resource views
 *
 * A view gives the texels another format of the same size, or selects some of the levels and layers. It may also read
 * each texel of 8 or 16 bytes as a compressed block. */

/* `formats` is in the order of the numbers of the view formats. */
static bool apply_block_format(struct ptxi_texture *t, ptxiResourceViewFormat f)
{
    static const uint8_t formats[] = {
        PTXI_AD_FORMAT_BC1_UNORM, PTXI_AD_FORMAT_BC2_UNORM, PTXI_AD_FORMAT_BC3_UNORM, PTXI_AD_FORMAT_BC4_UNORM,
        PTXI_AD_FORMAT_BC4_SNORM, PTXI_AD_FORMAT_BC5_UNORM, PTXI_AD_FORMAT_BC5_SNORM, PTXI_AD_FORMAT_BC6H_UF16,
        PTXI_AD_FORMAT_BC6H_SF16, PTXI_AD_FORMAT_BC7_UNORM
    };
    unsigned bytes = t->bytes, k = (unsigned)f - PTXI_RES_VIEW_FORMAT_UNSIGNED_BC1;

    if (t->format != PTXI_TEXEL_U32 || t->layered || t->cube || k >= sizeof formats ||
        ptxi_array_format((ptxiArrayFormat)formats[k])->bytes != bytes)
        return false;
    for (unsigned l = 0; l < t->levels; l++) {
        t->level[l].width *= PTXI_BLOCK_SIDE;
        t->level[l].height *= t->dimensions > 1 ? PTXI_BLOCK_SIDE : 1;
    }
    return set_format(t, (ptxiArrayFormat)formats[k], ptxi_array_format((ptxiArrayFormat)formats[k])->channels);
}

static bool apply_view_format(struct ptxi_texture *t, ptxiResourceViewFormat f)
{
    static const uint8_t formats[] = {
        PTXI_AD_FORMAT_UNSIGNED_INT8, PTXI_AD_FORMAT_SIGNED_INT8, PTXI_AD_FORMAT_UNSIGNED_INT16,
        PTXI_AD_FORMAT_SIGNED_INT16, PTXI_AD_FORMAT_UNSIGNED_INT32, PTXI_AD_FORMAT_SIGNED_INT32, PTXI_AD_FORMAT_HALF,
        PTXI_AD_FORMAT_FLOAT
    };
    unsigned bytes = t->bytes, k = (unsigned)f - 1;

    if (t->block)
        return false;
    if (f >= PTXI_RES_VIEW_FORMAT_UNSIGNED_BC1)
        return apply_block_format(t, f);
    return k < 3 * sizeof formats && set_format(t, (ptxiArrayFormat)formats[k / 3], 1u << k % 3) &&
           t->bytes == bytes;
}

static ptxiResult apply_view(struct ptxi_texture *t, const PTXI_RESOURCE_VIEW_DESC *v)
{
    bool layers = t->layered || t->cube;

    if (t->memory) /* the driver ignores the view, too */
        return PTXI_SUCCESS;
    if ((v->depth && !layers && t->dimensions < 3) || !apply_view_format(t, v->format) ||
        v->width != t->level[0].width || (v->height ? v->height : 1) != t->level[0].height ||
        v->firstMipmapLevel > v->lastMipmapLevel || v->lastMipmapLevel >= t->levels || v->firstLayer > v->lastLayer)
        return PTXI_ERROR_INVALID_VALUE;
    if (layers ? v->lastLayer >= t->level[0].depth : v->lastLayer != 0)
        return PTXI_ERROR_INVALID_VALUE;
    t->levels = v->lastMipmapLevel - v->firstMipmapLevel + 1;
    assert(v->firstMipmapLevel + t->levels <= PTXI_TEXTURE_LEVELS);
    memmove(t->level, t->level + v->firstMipmapLevel, t->levels * sizeof *t->level);
    for (unsigned l = 0; layers && l < t->levels; l++) {
        t->level[l].base += v->firstLayer * t->level[l].slice;
        t->level[l].depth = v->lastLayer - v->firstLayer + 1;
    }
    return PTXI_SUCCESS;
}

/* ---- samplers */

/* Limits x to the range from -most to most. */
static double clamp(double x, double most)
{
    if (x > most)
        return most;
    return x < -most ? -most : x;
}

/* Converts a level to 256ths, rounded towards zero. NaN becomes 0. */
static int32_t to_256ths(double x)
{
    const double most = 16384;

    return x != x ? 0 : (int32_t)(clamp(x, most) * 256);
}

/* Logarithm of the largest supported ratio up to `most`, in 256ths. The logarithms are multiples of 1/16. */
static int32_t anisotropy_logarithm(unsigned most)
{
    static const struct {
        unsigned ratio;
        int32_t logarithm;
    } ratios[] = { { 16, 1024 }, { 12, 912 }, { 10, 848 }, { 8, 768 }, { 6, 656 }, { 4, 512 }, { 2, 256 }, { 0, 0 } };
    unsigned k = 0;

    while (ratios[k].ratio > most)
        k++;
    assert(k < sizeof ratios / sizeof *ratios);
    return ratios[k].logarithm;
}

/* Sets the selection of mipmap levels. With anisotropic filtering, and unless the program disables the trilinear
 * optimization, only a part in the middle of the interval between two levels is blended. The transition is then
 * steeper, and the bias centers it. */
static void set_level_selection(struct ptxi_sampler *s, const PTXI_TEXTURE_DESC *d)
{
    enum { WHOLE = 4, STEEPEST = 8, MAX_BIAS = 15 };
    double bias;

    s->mip_linear = d->mipmapFilterMode == PTXI_TR_FILTER_MODE_LINEAR;
    s->anisotropy = anisotropy_logarithm(d->maxAnisotropy);
    s->slope = WHOLE;
    if (s->anisotropy && !(d->flags & PTXI_TRSF_DISABLE_TRILINEAR_OPTIMIZATION))
        s->slope = s->anisotropy < 768 ? 5 + (s->anisotropy >> 8) : STEEPEST;
    bias = d->mipmapLevelBias - (0.5 - 0.5 * WHOLE / s->slope);
    s->bias = to_256ths(clamp(bias, MAX_BIAS));
    s->least = to_256ths(d->minMipmapLevelClamp);
    s->most = to_256ths(d->maxMipmapLevelClamp);
}

/* Sets a channel of the border texel. The last of two or four channels is alpha, which is never sRGB. */
static void set_border(struct ptxi_texture *t, unsigned channel, float value)
{
    unsigned alpha = t->channels == 2 ? 1 : 3;

    assert(channel < sizeof t->border / sizeof *t->border);
    if (t->srgb && channel != alpha)
        t->border[channel] = ptxi_texel_border_srgb(value);
    else
        t->border[channel] = ptxi_texel_border(value, t->format, t->as_integers);
}

static ptxiResult set_sampler(struct ptxi_texture *t, const PTXI_TEXTURE_DESC *d)
{
    enum { FLAGS = 2 * PTXI_TRSF_SEAMLESS_CUBEMAP - 1 }; /* the driver accepts all bits up to the last flag */
    struct ptxi_sampler *s = &t->sampler;

    if (d->flags & ~(unsigned)FLAGS || (unsigned)d->filterMode > 1 || (unsigned)d->mipmapFilterMode > 1)
        return PTXI_ERROR_INVALID_VALUE;
    if ((d->flags & PTXI_TRSF_SEAMLESS_CUBEMAP && !t->cube) || (t->srgb && !(d->flags & PTXI_TRSF_SRGB)))
        return PTXI_ERROR_INVALID_VALUE;
    for (unsigned k = 0; k < sizeof d->reserved / sizeof *d->reserved; k++)
        if (d->reserved[k])
            return PTXI_ERROR_INVALID_VALUE;
    for (unsigned k = 0; k < 3; k++) {
        if (k < t->dimensions && (unsigned)d->addressMode[k] > PTXI_TR_ADDRESS_MODE_BORDER)
            return PTXI_ERROR_INVALID_VALUE;
        s->address[k] = d->addressMode[k] & 3;
    }
    s->linear = d->filterMode == PTXI_TR_FILTER_MODE_LINEAR && !(t->memory && t->dimensions == 1);
    /* Directions in cubes always become normalized coordinates on a face. */
    s->normalized = d->flags & PTXI_TRSF_NORMALIZED_COORDINATES || t->mipmap || t->cube;
    set_level_selection(s, d);
    t->as_integers = !ptxi_texel_is_float(t->format) && !t->normalized &&
                     (ptxi_texel_bytes(t->format) == 4 || d->flags & PTXI_TRSF_READ_AS_INTEGER);
    t->seamless = t->cube && t->level[0].depth % 6 == 0 && d->flags & PTXI_TRSF_SEAMLESS_CUBEMAP;
    t->srgb = d->flags & PTXI_TRSF_SRGB && t->format == PTXI_TEXEL_U8 && !t->as_integers;
    for (unsigned c = 0; c < t->channels; c++)
        set_border(t, c, d->borderColor[c]);
    return PTXI_SUCCESS;
}

/* ---- objects */

ptxiResult ptxi_api_object_create(ptxiContext ctx, enum ptxi_object_kind kind, const PTXI_RESOURCE_DESC *resource,
                                  const PTXI_TEXTURE_DESC *sampler, const PTXI_RESOURCE_VIEW_DESC *view,
                                  uint64_t *number)
{
    struct ptxi_api_object *o = calloc(1, sizeof *o);
    ptxiResult r;

    if (!o)
        return PTXI_ERROR_OUT_OF_MEMORY;
    o->ctx = ctx;
    o->resource = *resource;
    o->texture.kind = kind;
    o->has_view = view;
    r = set_resource(&o->texture, resource);
    if (!r && view) {
        o->view = *view;
        r = apply_view(&o->texture, view);
    }
    if (!r && sampler) {
        o->sampler = *sampler;
        r = set_sampler(&o->texture, sampler);
    }
    pthread_mutex_lock(&ctx->lock);
    assert(r || (o->texture.levels >= 1 && o->texture.levels <= PTXI_TEXTURE_LEVELS));
    o->number = r ? 0 : ptxi_object_table_add(ctx->object_table, &o->texture);
    if (o->number)
        LL_PREPEND(ctx->objects, o);
    *number = o->number; /* from here on another thread may destroy the object */
    pthread_mutex_unlock(&ctx->lock);
    if (*number)
        return PTXI_SUCCESS;
    free(o);
    return r ? r : PTXI_ERROR_OUT_OF_MEMORY;
}

/* Returns the object, or NULL if there is none. The caller has locked ctx->lock. */
static struct ptxi_api_object *find_object(ptxiContext ctx, uint64_t number, enum ptxi_object_kind kind)
{
    struct ptxi_texture *t = number >> 32 ? NULL : ptxi_object_table_find(ctx->object_table, number);

    if (!t || t->kind != kind)
        return NULL;
    struct ptxi_api_object *o = (struct ptxi_api_object *)((char *)t - offsetof(struct ptxi_api_object, texture));

    assert(o->ctx == ctx && o->number == number);
    return o;
}

static bool has_object(ptxiContext ctx, uint64_t number, enum ptxi_object_kind kind)
{
    pthread_mutex_lock(&ctx->lock);
    bool has = find_object(ctx, number, kind);

    pthread_mutex_unlock(&ctx->lock);
    return has;
}

/* Removes the object from the table in which kernels find it. NULL if there is no such object. */
static struct ptxi_api_object *remove_object(ptxiContext ctx, uint64_t number, enum ptxi_object_kind kind)
{
    pthread_mutex_lock(&ctx->lock);
    struct ptxi_api_object *o = find_object(ctx, number, kind);

    if (o) {
        ptxi_object_table_remove(ctx->object_table, number);
        LL_DELETE(ctx->objects, o);
    }
    pthread_mutex_unlock(&ctx->lock);
    return o;
}

ptxiResult ptxi_api_object_destroy(ptxiContext ctx, uint64_t number, enum ptxi_object_kind kind)
{
    ptxiResult r = has_object(ctx, number, kind) ? ptxi_api_drain(ctx) : PTXI_ERROR_INVALID_VALUE;

    if (r)
        return r;
    struct ptxi_api_object *o = remove_object(ctx, number, kind);

    if (!o) /* another thread has destroyed it */
        return PTXI_ERROR_INVALID_VALUE;
    while (ptxi_api_drain(ctx))
        ; /* no memory at the moment: work that runs gives some back */
    free(o);
    return PTXI_SUCCESS;
}

void ptxi_objects_free_all(ptxiContext ctx)
{
    while (ctx->objects) {
        struct ptxi_api_object *o = ctx->objects;

        assert(o->ctx == ctx);
        ctx->objects = o->next;
        free(o);
    }
}

/* The begin of a call that returns a property of an object: copies the object. */
static ptxiResult copy_object(uint64_t number, enum ptxi_object_kind kind, const void *result,
                              struct ptxi_api_object *copy)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    pthread_mutex_lock(&ctx->lock);
    const struct ptxi_api_object *o = find_object(ctx, number, kind);

    if (o)
        *copy = *o;
    pthread_mutex_unlock(&ctx->lock);
    return o && result ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
}

ptxiResult ptxiTexObjectCreate(ptxiTexObject *pTexObject, const PTXI_RESOURCE_DESC *pResDesc,
                               const PTXI_TEXTURE_DESC *pTexDesc, const PTXI_RESOURCE_VIEW_DESC *pResViewDesc)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    uint64_t number = 0;

    if (r)
        return r;
    if (!pTexObject || !pResDesc || !pTexDesc)
        return PTXI_ERROR_INVALID_VALUE;
    r = ptxi_api_object_create(ctx, PTXI_OBJECT_TEXTURE, pResDesc, pTexDesc, pResViewDesc, &number);
    if (!r)
        *pTexObject = number;
    return r;
}

/* Destroys an object. 0 does nothing. */
static ptxiResult destroy_object(uint64_t object, enum ptxi_object_kind kind)
{
    ptxiContext ctx;
    ptxiResult r = object ? ptxi_api_context(&ctx) : ptxi_api_enter();

    return r || !object ? r : ptxi_api_object_destroy(ctx, object, kind);
}

ptxiResult ptxiTexObjectDestroy(ptxiTexObject texObject)
{
    API_CALL;
    return destroy_object(texObject, PTXI_OBJECT_TEXTURE);
}

ptxiResult ptxiTexObjectGetResourceDesc(PTXI_RESOURCE_DESC *pResDesc, ptxiTexObject texObject)
{
    API_CALL;
    struct ptxi_api_object o;
    ptxiResult r = copy_object(texObject, PTXI_OBJECT_TEXTURE, pResDesc, &o);

    if (!r)
        *pResDesc = o.resource;
    return r;
}

ptxiResult ptxiTexObjectGetTextureDesc(PTXI_TEXTURE_DESC *pTexDesc, ptxiTexObject texObject)
{
    API_CALL;
    struct ptxi_api_object o;
    ptxiResult r = copy_object(texObject, PTXI_OBJECT_TEXTURE, pTexDesc, &o);

    if (!r)
        *pTexDesc = o.sampler;
    return r;
}

ptxiResult ptxiTexObjectGetResourceViewDesc(PTXI_RESOURCE_VIEW_DESC *pResViewDesc, ptxiTexObject texObject)
{
    API_CALL;
    struct ptxi_api_object o;
    ptxiResult r = copy_object(texObject, PTXI_OBJECT_TEXTURE, pResViewDesc, &o);

    if (!r && !o.has_view)
        return PTXI_ERROR_INVALID_VALUE;
    if (!r)
        *pResViewDesc = o.view;
    return r;
}

ptxiResult ptxiSurfObjectCreate(ptxiSurfObject *pSurfObject, const PTXI_RESOURCE_DESC *pResDesc)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    uint64_t number = 0;

    if (r)
        return r;
    if (!pSurfObject || !pResDesc)
        return PTXI_ERROR_INVALID_VALUE;
    r = ptxi_api_object_create(ctx, PTXI_OBJECT_SURFACE, pResDesc, NULL, NULL, &number);
    if (!r)
        *pSurfObject = number;
    return r;
}

ptxiResult ptxiSurfObjectDestroy(ptxiSurfObject surfObject)
{
    API_CALL;
    return destroy_object(surfObject, PTXI_OBJECT_SURFACE);
}

ptxiResult ptxiSurfObjectGetResourceDesc(PTXI_RESOURCE_DESC *pResDesc, ptxiSurfObject surfObject)
{
    API_CALL;
    struct ptxi_api_object o;
    ptxiResult r = copy_object(surfObject, PTXI_OBJECT_SURFACE, pResDesc, &o);

    if (!r)
        *pResDesc = o.resource;
    return r;
}
