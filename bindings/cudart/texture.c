/* Texture and surface objects. */
#include "runtime.h"

#include <string.h>

enum { READ_ELEMENT = 0, READ_NORMALIZED = 1 }; /* cudaTextureReadMode */

/* ---- resources */

/* The structure of CUDA 12 has no flags. */
static unsigned get_flags(const struct resource_desc *r)
{
#if CUDART_MAJOR >= 13
    return r->flags;
#else
    (void)r;
    return 0;
#endif
}

static void set_flags(struct resource_desc *r, unsigned flags)
{
#if CUDART_MAJOR >= 13
    r->flags = flags;
#else
    (void)r, (void)flags;
#endif
}

static int to_driver_resource(const struct resource_desc *r, PTXI_RESOURCE_DESC *d)
{
    *d = (PTXI_RESOURCE_DESC){ .resType = r->resType, .flags = get_flags(r) };
    switch (r->resType) {
    case PTXI_RESOURCE_TYPE_ARRAY:
        d->res.array.hArray = r->res.array.array;
        return 0;
    case PTXI_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        d->res.mipmap.hMipmappedArray = r->res.mipmap.mipmap;
        return 0;
    case PTXI_RESOURCE_TYPE_LINEAR:
        d->res.linear.devPtr = (ptxiDevicePtr)r->res.linear.devPtr;
        d->res.linear.sizeInBytes = r->res.linear.sizeInBytes;
        return ptxi_runtime_to_driver_format(&r->res.linear.desc, &d->res.linear.format, &d->res.linear.numChannels);
    case PTXI_RESOURCE_TYPE_PITCH2D:
        d->res.pitch2D.devPtr = (ptxiDevicePtr)r->res.pitch2D.devPtr;
        d->res.pitch2D.width = r->res.pitch2D.width;
        d->res.pitch2D.height = r->res.pitch2D.height;
        d->res.pitch2D.pitchInBytes = r->res.pitch2D.pitchInBytes;
        return ptxi_runtime_to_driver_format(&r->res.pitch2D.desc, &d->res.pitch2D.format,
                                             &d->res.pitch2D.numChannels);
    }
    return PTXI_ERROR_INVALID_VALUE;
}

static int from_driver_resource(const PTXI_RESOURCE_DESC *d, struct resource_desc *r)
{
    *r = (struct resource_desc){ .resType = d->resType };
    set_flags(r, d->flags);
    switch (d->resType) {
    case PTXI_RESOURCE_TYPE_ARRAY:
        r->res.array.array = d->res.array.hArray;
        return 0;
    case PTXI_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        r->res.mipmap.mipmap = d->res.mipmap.hMipmappedArray;
        return 0;
    case PTXI_RESOURCE_TYPE_LINEAR:
        r->res.linear.devPtr = (void *)d->res.linear.devPtr;
        r->res.linear.sizeInBytes = d->res.linear.sizeInBytes;
        return ptxi_runtime_from_driver_format(d->res.linear.format, d->res.linear.numChannels, &r->res.linear.desc);
    case PTXI_RESOURCE_TYPE_PITCH2D:
        r->res.pitch2D.devPtr = (void *)d->res.pitch2D.devPtr;
        r->res.pitch2D.width = d->res.pitch2D.width;
        r->res.pitch2D.height = d->res.pitch2D.height;
        r->res.pitch2D.pitchInBytes = d->res.pitch2D.pitchInBytes;
        return ptxi_runtime_from_driver_format(d->res.pitch2D.format, d->res.pitch2D.numChannels,
                                               &r->res.pitch2D.desc);
    }
    return PTXI_ERROR_INVALID_VALUE;
}

/* ---- textures */

static int to_driver_texture(const struct texture_desc *t, PTXI_TEXTURE_DESC *d)
{
    if (t->readMode != READ_ELEMENT && t->readMode != READ_NORMALIZED)
        return PTXI_ERROR_INVALID_VALUE;
    *d = (PTXI_TEXTURE_DESC){
        .filterMode = t->filterMode,
        .flags = (t->readMode == READ_ELEMENT ? PTXI_TRSF_READ_AS_INTEGER : 0) |
                 (t->normalizedCoords ? PTXI_TRSF_NORMALIZED_COORDINATES : 0) | (t->sRGB ? PTXI_TRSF_SRGB : 0) |
                 (t->disableTrilinearOptimization ? PTXI_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0) |
                 (t->seamlessCubemap ? PTXI_TRSF_SEAMLESS_CUBEMAP : 0),
        .maxAnisotropy = t->maxAnisotropy,
        .mipmapFilterMode = t->mipmapFilterMode,
        .mipmapLevelBias = t->mipmapLevelBias,
        .minMipmapLevelClamp = t->minMipmapLevelClamp,
        .maxMipmapLevelClamp = t->maxMipmapLevelClamp,
    };
    for (unsigned i = 0; i < 3; i++)
        d->addressMode[i] = t->addressMode[i];
    for (unsigned i = 0; i < 4; i++)
        d->borderColor[i] = t->borderColor[i];
    return 0;
}

static ptxiArrayFormat format_of(const PTXI_RESOURCE_DESC *r)
{
    PTXI_ARRAY3D_DESCRIPTOR d = { .Format = PTXI_AD_FORMAT_UNSIGNED_INT8 };
    ptxiArray level;

    switch (r->resType) {
    case PTXI_RESOURCE_TYPE_ARRAY:
        ptxiArray3DGetDescriptor(&d, r->res.array.hArray);
        break;
    case PTXI_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        if (!ptxiMipmappedArrayGetLevel(&level, r->res.mipmap.hMipmappedArray, 0))
            ptxiArray3DGetDescriptor(&d, level);
        break;
    case PTXI_RESOURCE_TYPE_LINEAR:
        d.Format = r->res.linear.format;
        break;
    case PTXI_RESOURCE_TYPE_PITCH2D:
        d.Format = r->res.pitch2D.format;
        break;
    }
    return d.Format;
}

/* Elements that are read as integers cannot be filtered, and floating-point numbers are not fractions of a largest
 * value. */
static int check_modes(const struct texture_desc *t, const PTXI_RESOURCE_DESC *r)
{
    const ptxiArrayFormat format = format_of(r);
    const bool is_float = format == PTXI_AD_FORMAT_FLOAT || format == PTXI_AD_FORMAT_HALF;

    if (t->readMode == READ_NORMALIZED)
        return format == PTXI_AD_FORMAT_FLOAT ? ERROR_INVALID_NORM_SETTING : 0;
    return t->filterMode == PTXI_TR_FILTER_MODE_LINEAR && !is_float ? ERROR_INVALID_FILTER_SETTING : 0;
}

int ptxi_runtime_create_texture(ptxiTexObject *texture, const struct resource_desc *resource,
                                const struct texture_desc *desc, const PTXI_RESOURCE_VIEW_DESC *view)
{
    PTXI_RESOURCE_DESC r;
    PTXI_RESOURCE_VIEW_DESC v = { .width = 0 };
    PTXI_TEXTURE_DESC t;
    int error;

    if (!texture || !resource)
        return PTXI_ERROR_INVALID_VALUE;
    if (!desc)
        return PTXI_ERROR_INVALID_HANDLE;
    if (view)
        memcpy(&v, view, RESOURCE_VIEW_BYTES);
    error = to_driver_resource(resource, &r);
    if (!error)
        error = to_driver_texture(desc, &t);
    if (!error)
        error = check_modes(desc, &r);
    return error ? error : (int)ptxiTexObjectCreate(texture, &r, &t, view ? &v : NULL);
}

int ptxi_runtime_get_texture_resource(struct resource_desc *resource, ptxiTexObject texture)
{
    PTXI_RESOURCE_DESC d;
    int error;

    if (!resource)
        return PTXI_ERROR_INVALID_VALUE;
    error = ptxiTexObjectGetResourceDesc(&d, texture);
    return error ? error : from_driver_resource(&d, resource);
}

int ptxi_runtime_get_texture_desc(struct texture_desc *desc, ptxiTexObject texture)
{
    PTXI_TEXTURE_DESC d;
    int error;

    if (!desc)
        return PTXI_ERROR_INVALID_HANDLE;
    error = ptxiTexObjectGetTextureDesc(&d, texture);
    if (error)
        return error;
    *desc = (struct texture_desc){
        .filterMode = d.filterMode,
        .readMode = d.flags & PTXI_TRSF_READ_AS_INTEGER ? READ_ELEMENT : READ_NORMALIZED,
        .sRGB = !!(d.flags & PTXI_TRSF_SRGB),
        .normalizedCoords = !!(d.flags & PTXI_TRSF_NORMALIZED_COORDINATES),
        .maxAnisotropy = d.maxAnisotropy,
        .mipmapFilterMode = d.mipmapFilterMode,
        .mipmapLevelBias = d.mipmapLevelBias,
        .minMipmapLevelClamp = d.minMipmapLevelClamp,
        .maxMipmapLevelClamp = d.maxMipmapLevelClamp,
        .disableTrilinearOptimization = !!(d.flags & PTXI_TRSF_DISABLE_TRILINEAR_OPTIMIZATION),
        .seamlessCubemap = !!(d.flags & PTXI_TRSF_SEAMLESS_CUBEMAP),
    };
    for (unsigned i = 0; i < 3; i++)
        desc->addressMode[i] = d.addressMode[i];
    for (unsigned i = 0; i < 4; i++)
        desc->borderColor[i] = d.borderColor[i];
    return 0;
}

int ptxi_runtime_get_texture_view(PTXI_RESOURCE_VIEW_DESC *view, ptxiTexObject texture)
{
    PTXI_RESOURCE_VIEW_DESC v;
    int error;

    if (!view)
        return PTXI_ERROR_INVALID_VALUE;
    error = ptxiTexObjectGetResourceViewDesc(&v, texture);
    if (!error)
        memcpy(view, &v, RESOURCE_VIEW_BYTES);
    return error;
}

/* 2^30 texels, but at most 4 GiB, as on an H100. */
int ptxi_runtime_get_linear_width(size_t *width, const struct channel_format *format, int device)
{
    const size_t most_texels = (size_t)1 << 30, most_bytes = (size_t)1 << 32;
    ptxiArrayFormat driver;
    size_t texel_bytes;
    unsigned channels;
    int count;
    int error = ptxi_runtime_get_device_count(&count);

    if (error)
        return error;
    if (!width)
        return PTXI_ERROR_INVALID_VALUE;
    if (device < 0 || device >= count)
        return PTXI_ERROR_INVALID_DEVICE;
    error = ptxi_runtime_to_driver_format(format, &driver, &channels);
    if (error)
        return error;
    texel_bytes = (unsigned)(format->x + format->y + format->z + format->w) / 8;
    if (!texel_bytes)
        texel_bytes = 1; /* a packed format, which has no bits for each channel */
    *width = most_bytes / texel_bytes < most_texels ? most_bytes / texel_bytes : most_texels;
    return 0;
}

/* ---- surfaces */

int ptxi_runtime_create_surface(ptxiSurfObject *surface, const struct resource_desc *resource)
{
    PTXI_RESOURCE_DESC r;
    int error;

    if (!surface || !resource)
        return PTXI_ERROR_INVALID_VALUE;
    error = to_driver_resource(resource, &r);
    return error ? error : (int)ptxiSurfObjectCreate(surface, &r);
}

int ptxi_runtime_get_surface_resource(struct resource_desc *resource, ptxiSurfObject surface)
{
    PTXI_RESOURCE_DESC d;
    int error;

    if (!resource)
        return PTXI_ERROR_INVALID_VALUE;
    error = ptxiSurfObjectGetResourceDesc(&d, surface);
    return error ? error : from_driver_resource(&d, resource);
}
