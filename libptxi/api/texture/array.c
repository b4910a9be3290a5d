/* Creates, describes and destroys arrays and mipmapped arrays. */
#include "api/texture/array.h"

#include "api/context/context.h"
#include "api/memory/heap.h"
#include "exec/texture/texture.h"
#include "num/texture_block.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Maximum sizes of arrays from sm_60 on. CUDA C++ Programming Guide, "Compute Capabilities". The driver creates
 * deeper volumes than the guide permits. */
enum {
    MAX_1D = 131072, MAX_1D_SURFACE = 32768,
    MAX_2D_WIDTH = 131072, MAX_2D_HEIGHT = 65536, MAX_GATHERED = 32768,
    MAX_3D = 16384, MAX_3D_DEPTH = 32768,
    MAX_LAYERED_SIDE = 32768, MAX_LAYERS = 2048
};

#define PLAIN(format, bytes, texel) \
    { PTXI_AD_FORMAT_##format, 0, bytes, PTXI_TEXEL_##texel, PTXI_BLOCK_NONE, false, false }
#define NORMAL(format, bytes, texel) \
    { PTXI_AD_FORMAT_##format##X1, 1, bytes, PTXI_TEXEL_##texel, PTXI_BLOCK_NONE, true, false }, \
    { PTXI_AD_FORMAT_##format##X2, 2, bytes, PTXI_TEXEL_##texel, PTXI_BLOCK_NONE, true, false }, \
    { PTXI_AD_FORMAT_##format##X4, 4, bytes, PTXI_TEXEL_##texel, PTXI_BLOCK_NONE, true, false }
#define BLOCK(format, channels, bytes, texel, block, srgb) \
    { PTXI_AD_FORMAT_##format, channels, bytes, PTXI_TEXEL_##texel, PTXI_BLOCK_##block, true, srgb }
static const struct ptxi_array_format formats[] = {
    PLAIN(UNSIGNED_INT8, 1, U8), PLAIN(UNSIGNED_INT16, 2, U16), PLAIN(UNSIGNED_INT32, 4, U32),
    PLAIN(SIGNED_INT8, 1, S8), PLAIN(SIGNED_INT16, 2, S16), PLAIN(SIGNED_INT32, 4, S32),
    PLAIN(HALF, 2, F16), PLAIN(FLOAT, 4, F32),
    { PTXI_AD_FORMAT_UNORM_INT_101010_2, 4, 1, PTXI_TEXEL_PACKED, PTXI_BLOCK_NONE, true, false },
    NORMAL(UNORM_INT8, 1, U8), NORMAL(UNORM_INT16, 2, U16),
    NORMAL(SNORM_INT8, 1, S8), NORMAL(SNORM_INT16, 2, S16),
    BLOCK(BC1_UNORM, 4, 8, U8, BC1, false), BLOCK(BC1_UNORM_SRGB, 4, 8, U8, BC1, true),
    BLOCK(BC2_UNORM, 4, 16, U8, BC2, false), BLOCK(BC2_UNORM_SRGB, 4, 16, U8, BC2, true),
    BLOCK(BC3_UNORM, 4, 16, U8, BC3, false), BLOCK(BC3_UNORM_SRGB, 4, 16, U8, BC3, true),
    BLOCK(BC4_UNORM, 1, 8, U16, BC4, false), BLOCK(BC4_SNORM, 1, 8, S16, BC4_SIGNED, false),
    BLOCK(BC5_UNORM, 2, 16, U16, BC5, false), BLOCK(BC5_SNORM, 2, 16, S16, BC5_SIGNED, false),
    BLOCK(BC6H_UF16, 3, 16, F16, BC6H, false), BLOCK(BC6H_SF16, 3, 16, F16, BC6H_SIGNED, false),
    BLOCK(BC7_UNORM, 4, 16, U8, BC7, false), BLOCK(BC7_UNORM_SRGB, 4, 16, U8, BC7, true),
};

const struct ptxi_array_format *ptxi_array_format(ptxiArrayFormat f)
{
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
        if (formats[k].format == (int)f)
            return &formats[k];
    return NULL;
}

bool ptxi_array_channels_ok(const struct ptxi_array_format *f, unsigned channels)
{
    return f->channels ? channels == f->channels : channels == 1 || channels == 2 || channels == 4;
}

/* ---- sizes */

static bool cube_ok(const PTXI_ARRAY3D_DESCRIPTOR *d)
{
    return d->Width == d->Height && d->Width <= MAX_LAYERED_SIDE &&
           (d->Flags & PTXI_ARRAY3D_LAYERED ? d->Depth && d->Depth % 6 == 0 && d->Depth <= MAX_LAYERS
                                            : d->Depth == 6);
}

static bool extent_ok(const PTXI_ARRAY3D_DESCRIPTOR *d)
{
    if (!d->Width)
        return false;
    if (d->Flags & PTXI_ARRAY3D_TEXTURE_GATHER)
        return !(d->Flags & (PTXI_ARRAY3D_CUBEMAP | PTXI_ARRAY3D_LAYERED)) && !d->Depth && d->Height &&
               d->Width <= MAX_GATHERED && d->Height <= MAX_GATHERED;
    if (d->Flags & PTXI_ARRAY3D_CUBEMAP)
        return cube_ok(d);
    if (d->Flags & PTXI_ARRAY3D_LAYERED)
        return d->Depth && d->Depth <= MAX_LAYERS && d->Width <= MAX_LAYERED_SIDE &&
               d->Height <= MAX_LAYERED_SIDE;
    if (d->Depth)
        return d->Height && d->Width <= MAX_3D && d->Height <= MAX_3D &&
               d->Depth <= (d->Flags & PTXI_ARRAY3D_SURFACE_LDST ? MAX_3D : MAX_3D_DEPTH);
    if (!d->Height)
        return d->Width <= (d->Flags & PTXI_ARRAY3D_SURFACE_LDST ? MAX_1D_SURFACE : MAX_1D);
    return d->Width <= MAX_2D_WIDTH && d->Height <= MAX_2D_HEIGHT;
}

/* Compressed formats need two or three dimensions, and do not permit surfaces. */
static ptxiResult check_descriptor(const PTXI_ARRAY3D_DESCRIPTOR *d)
{
    /* The driver rejects other flags for color formats, except the flags of sparse and deferred mappings, which the
     * library does not support. */
    enum {
        FLAGS = PTXI_ARRAY3D_LAYERED | PTXI_ARRAY3D_SURFACE_LDST | PTXI_ARRAY3D_CUBEMAP | PTXI_ARRAY3D_TEXTURE_GATHER |
                PTXI_ARRAY3D_VIDEO_ENCODE_DECODE
    };

    const struct ptxi_array_format *f = d ? ptxi_array_format(d->Format) : NULL;

    if (!f || !ptxi_array_channels_ok(f, d->NumChannels) || d->Flags & ~(unsigned)FLAGS || !extent_ok(d) ||
        (f->block && !d->Height))
        return PTXI_ERROR_INVALID_VALUE;
    if (f->block && d->Flags & PTXI_ARRAY3D_SURFACE_LDST)
        return d->Flags & PTXI_ARRAY3D_TEXTURE_GATHER ? PTXI_ERROR_INVALID_VALUE : PTXI_ERROR_NOT_SUPPORTED;
    return PTXI_SUCCESS;
}

static size_t size_at_level(size_t size, unsigned level)
{
    if (!size)
        return 0;
    return size >> level ? size >> level : 1;
}

enum { ROW_ALIGN = 8 }; /* alignment of rows: sured.u64 requires it */

/* Sets the sizes of an array that is this level of `d`. Level 0 has the sizes of `d`. */
static void set_sizes(struct ptxiArray_st *a, const PTXI_ARRAY3D_DESCRIPTOR *d, unsigned level, unsigned char *base)
{
    const struct ptxi_array_format *f = ptxi_array_format(d->Format);
    size_t side = f->block ? PTXI_BLOCK_SIDE : 1;

    assert(level < PTXI_ARRAY_LEVELS);

    a->desc = *d;
    a->desc.Width = size_at_level(d->Width, level);
    a->desc.Height = size_at_level(d->Height, level);
    if (!(d->Flags & (PTXI_ARRAY3D_LAYERED | PTXI_ARRAY3D_CUBEMAP)))
        a->desc.Depth = size_at_level(d->Depth, level);
    a->texel = (size_t)f->bytes * (f->block ? 1 : d->NumChannels);
    a->rows = a->desc.Height ? (a->desc.Height + side - 1) / side : 1;
    a->slices = a->desc.Depth ? a->desc.Depth : 1;
    a->row = (a->desc.Width + side - 1) / side * a->texel;
    a->pitch = (a->row + ROW_ALIGN - 1) & -(size_t)ROW_ALIGN;
    a->unit = f->block ? f->bytes : 1;
    a->slice = a->pitch * a->rows;
    a->bytes = a->slice * a->slices;
    a->base = base;
    assert(a->row && a->row <= a->pitch && a->pitch % ROW_ALIGN == 0 && a->pitch - a->row < ROW_ALIGN);
}

/* ---- arrays */

static ptxiResult hold_array(ptxiArray a)
{
    ptxiResult r = ptxi_api_enter();

    return r ? r : ptxi_handle_use(a, PTXI_HANDLE_ARRAY);
}

static ptxiResult allocate_texels(ptxiContext ctx, size_t bytes, struct ptxi_heap_block **b)
{
    return ptxi_heap_alloc(ctx, bytes, PTXI_HEAP_ARRAY, 0, 0, b);
}

/* Frees an array that has no handle any more. */
static void free_array(struct ptxiArray_st *a)
{
    pthread_mutex_lock(&a->ctx->lock);
    LL_DELETE(a->ctx->arrays, a);
    pthread_mutex_unlock(&a->ctx->lock);
    ptxi_heap_free(a->block);
    ptxi_handle_unref(&a->handle);
}

ptxiResult ptxiArray3DCreate(ptxiArray *pHandle, const PTXI_ARRAY3D_DESCRIPTOR *pAllocateArray)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    struct ptxiArray_st *a;

    if (r)
        return r;
    r = pHandle ? check_descriptor(pAllocateArray) : PTXI_ERROR_INVALID_VALUE;
    if (r)
        return r;
    a = calloc(1, sizeof *a);
    if (!a)
        return PTXI_ERROR_OUT_OF_MEMORY;
    a->ctx = ctx;
    set_sizes(a, pAllocateArray, 0, NULL);
    r = allocate_texels(ctx, a->bytes, &a->block);
    if (r) {
        free(a);
        return r;
    }
    assert(a->block->size >= a->bytes);
    a->base = (unsigned char *)(uintptr_t)a->block->base;
    pthread_mutex_lock(&ctx->lock);
    LL_PREPEND(ctx->arrays, a);
    pthread_mutex_unlock(&ctx->lock);
    if (!ptxi_handle_add(&a->handle, PTXI_HANDLE_ARRAY, &ctx->gate, free)) {
        free_array(a);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    *pHandle = a;
    return PTXI_SUCCESS;
}

ptxiResult ptxiArrayCreate(ptxiArray *pHandle, const PTXI_ARRAY_DESCRIPTOR *pAllocateArray)
{
    API_CALL;
    PTXI_ARRAY3D_DESCRIPTOR d = { 0 };

    if (pAllocateArray)
        d = (PTXI_ARRAY3D_DESCRIPTOR){ .Width = pAllocateArray->Width, .Height = pAllocateArray->Height,
                                       .Format = pAllocateArray->Format, .NumChannels = pAllocateArray->NumChannels };
    return ptxiArray3DCreate(pHandle, pAllocateArray ? &d : NULL);
}

ptxiResult ptxiArrayDestroy(ptxiArray hArray)
{
    API_CALL;
    ptxiResult r = hold_array(hArray);

    if (r)
        return r;
    if (hArray->owner) /* a level is destroyed with its mipmapped array */
        return PTXI_SUCCESS;
    if ((r = ptxi_handle_retire(hArray, PTXI_HANDLE_ARRAY)))
        return r;
    assert(hArray->block && !hArray->handle.owner);
    ptxi_handle_wait_unused(&hArray->handle, hArray->ctx);
    ptxi_object_table_invalidate(hArray->ctx->object_table, hArray->base, hArray->bytes);
    free_array(hArray);
    return PTXI_SUCCESS;
}

ptxiResult ptxiArray3DGetDescriptor(PTXI_ARRAY3D_DESCRIPTOR *pArrayDescriptor, ptxiArray hArray)
{
    API_CALL;
    ptxiResult r = hold_array(hArray);

    if (r)
        return r;
    if (!pArrayDescriptor)
        return PTXI_ERROR_INVALID_VALUE;
    *pArrayDescriptor = hArray->desc;
    return PTXI_SUCCESS;
}

ptxiResult ptxiArrayGetDescriptor(PTXI_ARRAY_DESCRIPTOR *pArrayDescriptor, ptxiArray hArray)
{
    API_CALL;
    ptxiResult r = hold_array(hArray);

    if (r)
        return r;
    if (!pArrayDescriptor)
        return PTXI_ERROR_INVALID_VALUE;
    *pArrayDescriptor = (PTXI_ARRAY_DESCRIPTOR){ hArray->desc.Width, hArray->desc.Height, hArray->desc.Format,
                                                 hArray->desc.NumChannels };
    return PTXI_SUCCESS;
}

/* ---- mipmapped arrays */

/* Number of levels until all sizes are 1. */
static unsigned max_levels(const PTXI_ARRAY3D_DESCRIPTOR *d)
{
    bool volume = !(d->Flags & (PTXI_ARRAY3D_LAYERED | PTXI_ARRAY3D_CUBEMAP));
    size_t largest = d->Width > d->Height ? d->Width : d->Height;
    unsigned n = 1;

    if (volume && d->Depth > largest)
        largest = d->Depth;
    while (largest >>= 1)
        n++;
    return n < PTXI_ARRAY_LEVELS ? n : PTXI_ARRAY_LEVELS;
}

static bool add_handles(struct ptxiMipmappedArray_st *m)
{
    bool ok = true;

    ptxi_handle_init(&m->handle, PTXI_HANDLE_MIPMAPPED_ARRAY, &m->ctx->gate, free);
    for (unsigned l = 0; ok && l < m->count; l++)
        ok = ptxi_handle_add_part(&m->levels[l].handle, PTXI_HANDLE_ARRAY, &m->handle);
    return ok && ptxi_handle_publish(&m->handle);
}

static void remove_handles(struct ptxiMipmappedArray_st *m)
{
    ptxi_handle_remove(&m->handle);
    for (unsigned l = 0; l < m->count; l++)
        ptxi_handle_remove(&m->levels[l].handle);
}

/* Frees a mipmapped array that no other call uses. */
static void free_mipmapped_array(struct ptxiMipmappedArray_st *m)
{
    remove_handles(m);
    pthread_mutex_lock(&m->ctx->lock);
    LL_DELETE(m->ctx->mipmaps, m);
    pthread_mutex_unlock(&m->ctx->lock);
    ptxi_heap_free(m->block);
    ptxi_handle_unref(&m->handle);
}

/* The bytes of a level, aligned for the next one. */
static size_t level_bytes(const struct ptxiArray_st *level)
{
    return (level->bytes + 15) & ~(size_t)15;
}

/* Sets the levels. Returns the bytes of all texels. */
static size_t set_levels(struct ptxiMipmappedArray_st *m, const PTXI_ARRAY3D_DESCRIPTOR *descriptor, unsigned levels)
{
    unsigned most = max_levels(descriptor);
    size_t bytes = 0;

    m->count = levels > most ? most : levels + !levels;
    assert(m->count && m->count <= PTXI_ARRAY_LEVELS);
    for (unsigned l = 0; l < m->count; l++) {
        set_sizes(&m->levels[l], descriptor, l, NULL);
        m->levels[l].ctx = m->ctx;
        m->levels[l].owner = m;
        bytes += level_bytes(&m->levels[l]);
    }
    return bytes;
}

static void set_bases(struct ptxiMipmappedArray_st *m)
{
    size_t offset = 0;

    for (unsigned l = 0; l < m->count; l++) {
        m->levels[l].base = (unsigned char *)(uintptr_t)m->block->base + offset;
        offset += level_bytes(&m->levels[l]);
    }
    assert(offset <= m->block->size);
}

static ptxiResult create_mipmapped_array(ptxiContext ctx, const PTXI_ARRAY3D_DESCRIPTOR *descriptor, unsigned levels,
                                         struct ptxiMipmappedArray_st **result)
{
    struct ptxiMipmappedArray_st *m = calloc(1, sizeof *m);
    ptxiResult r;

    if (!m)
        return PTXI_ERROR_OUT_OF_MEMORY;
    m->ctx = ctx;
    r = allocate_texels(ctx, set_levels(m, descriptor, levels), &m->block);
    if (r) {
        free(m);
        return r;
    }
    set_bases(m);
    pthread_mutex_lock(&ctx->lock);
    LL_PREPEND(ctx->mipmaps, m);
    pthread_mutex_unlock(&ctx->lock);
    if (!add_handles(m)) {
        free_mipmapped_array(m);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    *result = m;
    return PTXI_SUCCESS;
}

ptxiResult ptxiMipmappedArrayCreate(ptxiMipmappedArray *pHandle, const PTXI_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,
                                    unsigned numMipmapLevels)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    r = pHandle ? check_descriptor(pMipmappedArrayDesc) : PTXI_ERROR_INVALID_VALUE;
    if (r)
        return r;
    if (pMipmappedArrayDesc->Width > MAX_LAYERED_SIDE || pMipmappedArrayDesc->Height > MAX_LAYERED_SIDE)
        return PTXI_ERROR_INVALID_VALUE;
    return create_mipmapped_array(ctx, pMipmappedArrayDesc, numMipmapLevels, pHandle);
}

static ptxiResult hold_mipmapped_array(ptxiMipmappedArray m)
{
    ptxiResult r = ptxi_api_enter();

    return r ? r : ptxi_handle_use(m, PTXI_HANDLE_MIPMAPPED_ARRAY);
}

ptxiResult ptxiMipmappedArrayGetLevel(ptxiArray *pLevelArray, ptxiMipmappedArray hMipmappedArray, unsigned level)
{
    API_CALL;
    ptxiResult r = hold_mipmapped_array(hMipmappedArray);

    if (r)
        return r;
    if (!pLevelArray || level >= hMipmappedArray->count)
        return PTXI_ERROR_INVALID_VALUE;
    assert(hMipmappedArray->count <= PTXI_ARRAY_LEVELS && hMipmappedArray->levels[level].owner == hMipmappedArray);
    *pLevelArray = &hMipmappedArray->levels[level];
    return PTXI_SUCCESS;
}

ptxiResult ptxiMipmappedArrayDestroy(ptxiMipmappedArray hMipmappedArray)
{
    API_CALL;
    ptxiResult r = hold_mipmapped_array(hMipmappedArray);

    if (!r)
        r = ptxi_handle_retire(hMipmappedArray, PTXI_HANDLE_MIPMAPPED_ARRAY);
    if (r)
        return r;
    ptxi_handle_wait_unused(&hMipmappedArray->handle, hMipmappedArray->ctx);
    ptxi_object_table_invalidate(hMipmappedArray->ctx->object_table,
                                 (void *)(uintptr_t)hMipmappedArray->block->base, hMipmappedArray->block->size);
    free_mipmapped_array(hMipmappedArray);
    return PTXI_SUCCESS;
}

void ptxi_arrays_free_all(ptxiContext ctx)
{
    while (ctx->arrays) {
        struct ptxiArray_st *a = ctx->arrays;

        assert(a->ctx == ctx && !a->owner && a->block);
        ctx->arrays = a->next;
        ptxi_handle_remove(&a->handle);
        ptxi_handle_unref(&a->handle);
    }
    while (ctx->mipmaps) {
        struct ptxiMipmappedArray_st *m = ctx->mipmaps;

        assert(m->ctx == ctx && m->count <= PTXI_ARRAY_LEVELS);
        ctx->mipmaps = m->next;
        remove_handles(m);
        ptxi_handle_unref(&m->handle);
    }
}
