/* References: .texref and .surfref variables of modules. Each keeps what was set of it; its object is made anew at every change. */
#include "api/module.h"
#include "api/texture.h"

#include "api/array.h"

#include <stdlib.h>
#include <string.h>

enum { TEXREF_MAGIC = 0x54585246, SURFREF_MAGIC = 0x53524652 };
enum { ALIGNMENT = 512 }; /* PTXI_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT */

/* Both kinds of reference are this. */
struct reference {
    uint32_t magic;
    ptxiContext ctx;
    const struct ptxi_var *var;
    uint64_t *held; /* the variable */
    bool bound;
    PTXI_RESOURCE_DESC resource;
    PTXI_TEXTURE_DESC sampler;
    ptxiArrayFormat format;
    int channels;
    struct reference *next; /* the module's list */
    uint64_t own;           /* in place of a variable, of one that the program has made */
};

static struct reference *texture_of(ptxiTexRef h)
{
    struct reference *f = (struct reference *)h;

    return f && f->magic == TEXREF_MAGIC ? f : NULL;
}

static struct reference *surface_of(ptxiSurfRef h)
{
    struct reference *f = (struct reference *)h;

    return f && f->magic == SURFREF_MAGIC ? f : NULL;
}

static uint64_t kind_of(const struct reference *f)
{
    return f->magic == TEXREF_MAGIC ? PTXI_OBJECT_TEXTURE : PTXI_OBJECT_SURFACE;
}

static ptxiResult unbind(struct reference *f)
{
    struct ptxi_api_object *o = ptxi_api_object_find((uint32_t)*f->held, (enum ptxi_object_kind)kind_of(f));

    *f->held = kind_of(f) << PTXI_REFERENCE_KIND;
    return o ? ptxi_api_object_destroy(o) : PTXI_SUCCESS;
}

/* The variable stands for what the reference says now. */
static ptxiResult bind(struct reference *f)
{
    bool texture = f->magic == TEXREF_MAGIC;
    uint64_t number = 0;
    ptxiResult r;

    if (!f->bound)
        return PTXI_SUCCESS;
    r = ptxi_api_object_create(f->ctx, (enum ptxi_object_kind)kind_of(f), &f->resource, texture ? &f->sampler : NULL, NULL, &number);
    if (!r)
        r = unbind(f);
    if (!r)
        *f->held |= number;
    return r;
}

static ptxiResult rebind(struct reference *f, const PTXI_RESOURCE_DESC *d)
{
    PTXI_RESOURCE_DESC old = f->resource;
    bool was_bound = f->bound;
    ptxiResult r;

    f->resource = *d;
    f->bound = true;
    r = bind(f);
    if (r) {
        f->resource = old;
        f->bound = was_bound;
    }
    return r;
}

/* ---- the module's references */

static struct reference fresh(ptxiContext ctx, uint32_t magic)
{
    return (struct reference){
        .magic = magic, .ctx = ctx, .format = PTXI_AD_FORMAT_FLOAT, .channels = 1,
        .sampler = { .addressMode = { PTXI_TR_ADDRESS_MODE_CLAMP, PTXI_TR_ADDRESS_MODE_CLAMP, PTXI_TR_ADDRESS_MODE_CLAMP }, .maxMipmapLevelClamp = 1000 },
    };
}

static ptxiResult get(void **out, ptxiModule m, const char *name, char opaque, uint32_t magic)
{
    ptxiResult r = ptxi_api_enter();
    struct ptxi_layout *l;
    struct reference *f;

    if (r)
        return r;
    if (!ptxi_module_valid(m))
        return PTXI_ERROR_INVALID_HANDLE;
    if (!out || !name)
        return PTXI_ERROR_INVALID_VALUE;
    l = m->layout;
    for (uint32_t k = 0; k < l->global_count; k++) {
        const struct ptxi_var *v = l->globals[k].var;

        if (l->globals[k].func || v->opaque != opaque || strcmp(v->name->s, name) || !m->globals[k])
            continue;
        for (f = m->references; f; f = f->next)
            if (f->var == v) {
                *out = f;
                return PTXI_SUCCESS;
            }
        f = calloc(1, sizeof *f);
        if (!f)
            return PTXI_ERROR_OUT_OF_MEMORY;
        *f = fresh(m->ctx, magic);
        f->var = v;
        f->held = (uint64_t *)(uintptr_t)m->globals[k];
        f->next = m->references;
        m->references = f;
        *out = f;
        return PTXI_SUCCESS;
    }
    return PTXI_ERROR_NOT_FOUND;
}

void ptxi_api_free_references(ptxiModule m)
{
    while (m->references) {
        struct reference *f = m->references;

        m->references = f->next;
        unbind(f);
        free(f);
    }
}

ptxiResult ptxiModuleGetTexRef(ptxiTexRef *pTexRef, ptxiModule hmod, const char *name)
{
    return get((void **)pTexRef, hmod, name, 't', TEXREF_MAGIC);
}

ptxiResult ptxiModuleGetSurfRef(ptxiSurfRef *pSurfRef, ptxiModule hmod, const char *name)
{
    return get((void **)pSurfRef, hmod, name, 'f', SURFREF_MAGIC);
}

/* ---- textures */

static ptxiResult enter_reference(ptxiTexRef h, struct reference **f)
{
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    *f = texture_of(h);
    return *f ? PTXI_SUCCESS : PTXI_ERROR_INVALID_HANDLE;
}

ptxiResult ptxiTexRefCreate(ptxiTexRef *pTexRef)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r || !pTexRef)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    struct reference *f = malloc(sizeof *f);

    if (!f)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *f = fresh(ctx, TEXREF_MAGIC);
    f->held = &f->own;
    *pTexRef = (ptxiTexRef)f;
    return PTXI_SUCCESS;
}

/* A module's own stays, as the driver has it. */
ptxiResult ptxiTexRefDestroy(ptxiTexRef hTexRef)
{
    struct reference *f;
    ptxiResult r = enter_reference(hTexRef, &f);

    if (r || f->var)
        return r;
    unbind(f);
    f->magic = 0;
    free(f);
    return PTXI_SUCCESS;
}

static ptxiResult set_arrays(ptxiTexRef h, unsigned flags, const PTXI_RESOURCE_DESC *d)
{
    struct reference *f;
    ptxiResult r = enter_reference(h, &f);

    if (r)
        return r;
    if (flags & ~(unsigned)PTXI_TRSA_OVERRIDE_FORMAT)
        return PTXI_ERROR_INVALID_VALUE;
    return rebind(f, d);
}

ptxiResult ptxiTexRefSetArray(ptxiTexRef hTexRef, ptxiArray hArray, unsigned Flags)
{
    return set_arrays(hTexRef, Flags, &(PTXI_RESOURCE_DESC){ .resType = PTXI_RESOURCE_TYPE_ARRAY, .res.array.hArray = hArray });
}

ptxiResult ptxiTexRefSetMipmappedArray(ptxiTexRef hTexRef, ptxiMipmappedArray hMipmappedArray, unsigned Flags)
{
    return set_arrays(hTexRef, Flags, &(PTXI_RESOURCE_DESC){ .resType = PTXI_RESOURCE_TYPE_MIPMAPPED_ARRAY, .res.mipmap.hMipmappedArray = hMipmappedArray });
}

ptxiResult ptxiTexRefSetAddress(size_t *ByteOffset, ptxiTexRef hTexRef, ptxiDevicePtr dptr, size_t bytes)
{
    struct reference *f;
    ptxiResult r = enter_reference(hTexRef, &f);
    PTXI_RESOURCE_DESC d = { .resType = PTXI_RESOURCE_TYPE_LINEAR };
    size_t offset = dptr % ALIGNMENT;

    if (r)
        return r;
    if (offset && !ByteOffset)
        return PTXI_ERROR_INVALID_VALUE;
    d.res.linear.devPtr = dptr - offset;
    d.res.linear.format = f->format;
    d.res.linear.numChannels = (unsigned)f->channels;
    d.res.linear.sizeInBytes = bytes + offset;
    if (!dptr && !bytes) {
        f->resource = d;
        f->bound = false;
        return unbind(f);
    }
    r = rebind(f, &d);
    if (!r && ByteOffset)
        *ByteOffset = offset;
    return r;
}

ptxiResult ptxiTexRefSetAddress2D(ptxiTexRef hTexRef, const PTXI_ARRAY_DESCRIPTOR *desc, ptxiDevicePtr dptr, size_t Pitch)
{
    struct reference *f;
    ptxiResult r = enter_reference(hTexRef, &f);
    PTXI_RESOURCE_DESC d = { .resType = PTXI_RESOURCE_TYPE_PITCH2D };

    if (r)
        return r;
    if (!desc)
        return PTXI_ERROR_INVALID_VALUE;
    d.res.pitch2D.devPtr = dptr;
    d.res.pitch2D.format = desc->Format;
    d.res.pitch2D.numChannels = desc->NumChannels;
    d.res.pitch2D.width = desc->Width;
    d.res.pitch2D.height = desc->Height;
    d.res.pitch2D.pitchInBytes = Pitch;
    return rebind(f, &d);
}

static bool is_plain(const struct ptxi_array_format *f)
{
    return f && !f->channels;
}

/* A property that is set, and what it must be. */
#define SET(name, parameters, valid, assignment)                     \
    ptxiResult ptxiTexRefSet##name(ptxiTexRef hTexRef, parameters)   \
    {                                                                \
        struct reference *f;                                         \
        ptxiResult r = enter_reference(hTexRef, &f);                 \
                                                                     \
        if (r)                                                       \
            return r;                                                \
        if (!(valid))                                                \
            return PTXI_ERROR_INVALID_VALUE;                         \
        assignment;                                                  \
        return bind(f);                                              \
    }
#define LIST(...) __VA_ARGS__

SET(Format, LIST(ptxiArrayFormat fmt, int NumPackedComponents),
    is_plain(ptxi_array_format(fmt)) && ptxi_array_channels_ok(ptxi_array_format(fmt), (unsigned)NumPackedComponents),
    (f->format = fmt, f->channels = NumPackedComponents))
SET(AddressMode, LIST(int dim, ptxiAddressMode am), dim >= 0 && dim < 3 && (unsigned)am <= PTXI_TR_ADDRESS_MODE_BORDER, f->sampler.addressMode[dim] = am)
SET(FilterMode, ptxiFilterMode fm, (unsigned)fm <= PTXI_TR_FILTER_MODE_LINEAR, f->sampler.filterMode = fm)
SET(MipmapFilterMode, ptxiFilterMode fm, (unsigned)fm <= PTXI_TR_FILTER_MODE_LINEAR, f->sampler.mipmapFilterMode = fm)
SET(MipmapLevelBias, float bias, true, f->sampler.mipmapLevelBias = bias)
SET(MipmapLevelClamp, LIST(float minMipmapLevelClamp, float maxMipmapLevelClamp), true,
    (f->sampler.minMipmapLevelClamp = minMipmapLevelClamp, f->sampler.maxMipmapLevelClamp = maxMipmapLevelClamp))
SET(MaxAnisotropy, unsigned maxAniso, true, f->sampler.maxAnisotropy = maxAniso)
SET(BorderColor, float *pBorderColor, pBorderColor, memcpy(f->sampler.borderColor, pBorderColor, sizeof f->sampler.borderColor))
SET(Flags, unsigned Flags, !(Flags & ~0x73u), f->sampler.flags = Flags)

/* A property that is asked for: the last parameter is the reference, those before it are where the answer goes. */
#define GET(name, parameters, valid, assignment)     \
    ptxiResult ptxiTexRefGet##name(parameters)       \
    {                                                \
        struct reference *f;                         \
        ptxiResult r = enter_reference(hTexRef, &f); \
                                                     \
        if (r)                                       \
            return r;                                \
        if (!(valid))                                \
            return PTXI_ERROR_INVALID_VALUE;         \
        assignment;                                  \
        return PTXI_SUCCESS;                         \
    }
#define GET_OF_SAMPLER(name, T, pointer, member) GET(name, LIST(T *pointer, ptxiTexRef hTexRef), pointer, *pointer = (T)f->sampler.member)

static bool is_bound(const struct reference *f, ptxiResourceType type)
{
    return f->bound && f->resource.resType == type;
}

/* Also one that was bound to nothing. */
static bool has_address(const struct reference *f)
{
    return f->resource.resType == PTXI_RESOURCE_TYPE_LINEAR || f->resource.resType == PTXI_RESOURCE_TYPE_PITCH2D;
}

GET(Address, LIST(ptxiDevicePtr *pdptr, ptxiTexRef hTexRef), pdptr && has_address(f), *pdptr = f->resource.res.linear.devPtr)
GET(Array, LIST(ptxiArray *phArray, ptxiTexRef hTexRef), phArray && is_bound(f, PTXI_RESOURCE_TYPE_ARRAY), *phArray = f->resource.res.array.hArray)
GET(MipmappedArray, LIST(ptxiMipmappedArray *phMipmappedArray, ptxiTexRef hTexRef), phMipmappedArray && is_bound(f, PTXI_RESOURCE_TYPE_MIPMAPPED_ARRAY),
    *phMipmappedArray = f->resource.res.mipmap.hMipmappedArray)

/* Either may be NULL. */
static void give_format(const struct reference *f, ptxiArrayFormat *format, int *channels)
{
    if (format)
        *format = f->format;
    if (channels)
        *channels = f->channels;
}

GET(Format, LIST(ptxiArrayFormat *pFormat, int *pNumChannels, ptxiTexRef hTexRef), true, give_format(f, pFormat, pNumChannels))
GET(AddressMode, LIST(ptxiAddressMode *pam, ptxiTexRef hTexRef, int dim), pam && dim >= 0 && dim < 3, *pam = f->sampler.addressMode[dim])
GET(MipmapLevelClamp, LIST(float *pminMipmapLevelClamp, float *pmaxMipmapLevelClamp, ptxiTexRef hTexRef), pminMipmapLevelClamp && pmaxMipmapLevelClamp,
    (*pminMipmapLevelClamp = f->sampler.minMipmapLevelClamp, *pmaxMipmapLevelClamp = f->sampler.maxMipmapLevelClamp))
GET(BorderColor, LIST(float *pBorderColor, ptxiTexRef hTexRef), pBorderColor, memcpy(pBorderColor, f->sampler.borderColor, sizeof f->sampler.borderColor))
GET_OF_SAMPLER(FilterMode, ptxiFilterMode, pfm, filterMode)
GET_OF_SAMPLER(MipmapFilterMode, ptxiFilterMode, pfm, mipmapFilterMode)
GET_OF_SAMPLER(MipmapLevelBias, float, pbias, mipmapLevelBias)
GET_OF_SAMPLER(MaxAnisotropy, int, pmaxAniso, maxAnisotropy)
GET_OF_SAMPLER(Flags, unsigned, pFlags, flags)

/* ---- surfaces */

ptxiResult ptxiSurfRefSetArray(ptxiSurfRef hSurfRef, ptxiArray hArray, unsigned Flags)
{
    ptxiResult r = ptxi_api_enter();
    struct reference *f = surface_of(hSurfRef);

    if (r)
        return r;
    if (!f)
        return PTXI_ERROR_INVALID_HANDLE;
    if (Flags)
        return PTXI_ERROR_INVALID_VALUE;
    return rebind(f, &(PTXI_RESOURCE_DESC){ .resType = PTXI_RESOURCE_TYPE_ARRAY, .res.array.hArray = hArray });
}

ptxiResult ptxiSurfRefGetArray(ptxiArray *phArray, ptxiSurfRef hSurfRef)
{
    ptxiResult r = ptxi_api_enter();
    struct reference *f = surface_of(hSurfRef);

    if (r)
        return r;
    if (!f)
        return PTXI_ERROR_INVALID_HANDLE;
    if (!phArray || !f->bound)
        return PTXI_ERROR_INVALID_VALUE;
    *phArray = f->resource.res.array.hArray;
    return PTXI_SUCCESS;
}
