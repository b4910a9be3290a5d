/* References: .texref and .surfref variables of modules. Each keeps what was set of it; its object is made anew at every change. */
#include "api/module/module.h"
#include "api/texture/texture.h"

#include "api/texture/array.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum { ALIGNMENT = 512 }; /* PTXI_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT */

/* Both kinds of reference are this. */
struct reference {
    struct ptxi_handle handle; /* of a module's: a part of the module */
    ptxiContext ctx;
    const struct ptxi_var *var;
    uint64_t *held; /* the variable; kernels may write to it */
    uint64_t number; /* of its object; 0: none */
    bool bound;
    PTXI_RESOURCE_DESC resource;
    PTXI_TEXTURE_DESC sampler;
    ptxiArrayFormat format;
    int channels;
    struct reference *next; /* the module's list, or the context's */
    uint64_t own;           /* in place of a variable, of one that the program has made */
};

/* References are read and changed by one call at a time. Keeps the lock until the call returns. */
static void lock_references(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    ptxi_call_lock(&lock);
}

/* What calls that name a reference begin with. The call holds it. */
static ptxiResult enter_reference(const void *handle, enum ptxi_handle_kind kind, struct reference **f)
{
    ptxiResult r = ptxi_api_enter();

    if (!r)
        r = ptxi_handle_use(handle, kind);
    if (r)
        return r == PTXI_ERROR_OUT_OF_MEMORY ? r : PTXI_ERROR_INVALID_HANDLE;
    lock_references();
    *f = (struct reference *)handle;
    return PTXI_SUCCESS;
}

static enum ptxi_object_kind kind_of(const struct reference *f)
{
    return f->handle.kind == PTXI_HANDLE_TEXTURE_REFERENCE ? PTXI_OBJECT_TEXTURE : PTXI_OBJECT_SURFACE;
}

/* The variable names that object, or none, and the one it named before goes. */
static ptxiResult name_object(struct reference *f, uint64_t number)
{
    uint64_t before = f->number;

    f->number = number;
    *f->held = (uint64_t)kind_of(f) << PTXI_REFERENCE_KIND | number;
    return before ? ptxi_api_object_destroy(f->ctx, before, kind_of(f)) : PTXI_SUCCESS;
}

/* The variable stands for what the reference says now. */
static ptxiResult bind(struct reference *f)
{
    bool texture = kind_of(f) == PTXI_OBJECT_TEXTURE;
    uint64_t number = 0;
    ptxiResult r;

    if (!f->bound)
        return PTXI_SUCCESS;
    r = ptxi_api_object_create(f->ctx, kind_of(f), &f->resource, texture ? &f->sampler : NULL, NULL, &number);
    return r ? r : name_object(f, number);
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

static struct reference fresh(ptxiContext ctx)
{
    return (struct reference){
        .ctx = ctx, .format = PTXI_AD_FORMAT_FLOAT, .channels = 1,
        .sampler = { .addressMode = { PTXI_TR_ADDRESS_MODE_CLAMP, PTXI_TR_ADDRESS_MODE_CLAMP, PTXI_TR_ADDRESS_MODE_CLAMP }, .maxMipmapLevelClamp = 1000 },
    };
}

static void free_list(struct reference *list)
{
    struct reference *f, *next;

    LL_FOREACH_SAFE(list, f, next) {
        ptxi_handle_remove(&f->handle);
        name_object(f, 0);
        free(f);
    }
}

/* The reference to a variable, made when it is first asked for. NULL: memory is short. */
static struct reference *reference_of(ptxiModule m, const struct ptxi_var *v, uint64_t address, enum ptxi_handle_kind kind)
{
    struct reference *f = m->references;

    while (f && f->var != v)
        f = f->next;
    if (f || !(f = malloc(sizeof *f)))
        return f;
    *f = fresh(m->ctx);
    f->var = v;
    f->held = (uint64_t *)(uintptr_t)address;
    if (!ptxi_handle_add_part(&f->handle, kind, &m->handle)) {
        free(f);
        return NULL;
    }
    f->next = m->references;
    m->references = f;
    m->free_references = free_list;
    return f;
}

static ptxiResult get(void **out, ptxiModule m, const char *name, char opaque, enum ptxi_handle_kind kind)
{
    ptxiResult r = ptxi_api_enter();

    if (r || (r = ptxi_handle_use(m, PTXI_HANDLE_MODULE)))
        return r;
    if (!out || !name)
        return PTXI_ERROR_INVALID_VALUE;
    lock_references();
    const struct ptxi_layout *l = m->layout;

    for (uint32_t k = 0; k < l->global_count; k++) {
        const struct ptxi_var *v = l->globals[k].var;

        if (l->globals[k].func || v->opaque != opaque || strcmp(v->name->s, name) || !m->globals[k])
            continue;
        struct reference *f = reference_of(m, v, m->globals[k], kind);

        if (!f)
            return PTXI_ERROR_OUT_OF_MEMORY;
        *out = f;
        return PTXI_SUCCESS;
    }
    return PTXI_ERROR_NOT_FOUND;
}

void ptxi_references_free_all(ptxiContext ctx)
{
    free_list(ctx->references);
    ctx->references = NULL;
}

ptxiResult ptxiModuleGetTexRef(ptxiTexRef *pTexRef, ptxiModule hmod, const char *name)
{
    API_CALL;
    return get((void **)pTexRef, hmod, name, 't', PTXI_HANDLE_TEXTURE_REFERENCE);
}

ptxiResult ptxiModuleGetSurfRef(ptxiSurfRef *pSurfRef, ptxiModule hmod, const char *name)
{
    API_CALL;
    return get((void **)pSurfRef, hmod, name, 'f', PTXI_HANDLE_SURFACE_REFERENCE);
}

/* ---- textures */

static ptxiResult enter_texture(ptxiTexRef h, struct reference **f)
{
    return enter_reference(h, PTXI_HANDLE_TEXTURE_REFERENCE, f);
}

ptxiResult ptxiTexRefCreate(ptxiTexRef *pTexRef)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r || !pTexRef)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    struct reference *f = malloc(sizeof *f);

    if (!f)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *f = fresh(ctx);
    f->held = &f->own;
    if (!ptxi_handle_add(&f->handle, PTXI_HANDLE_TEXTURE_REFERENCE, &ctx->gate, free)) {
        free(f);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    lock_references();
    LL_PREPEND(ctx->references, f);
    *pTexRef = (ptxiTexRef)f;
    return PTXI_SUCCESS;
}

/* A module's own stays, as the driver has it. */
ptxiResult ptxiTexRefDestroy(ptxiTexRef hTexRef)
{
    API_CALL;
    struct reference *f;
    ptxiResult r = enter_texture(hTexRef, &f);

    if (r || f->var)
        return r;
    r = ptxi_handle_retire(f, PTXI_HANDLE_TEXTURE_REFERENCE);
    if (r)
        return r;
    LL_DELETE(f->ctx->references, f);
    name_object(f, 0);
    ptxi_handle_unref(&f->handle);
    return PTXI_SUCCESS;
}

static ptxiResult set_arrays(ptxiTexRef h, unsigned flags, const PTXI_RESOURCE_DESC *d)
{
    struct reference *f;
    ptxiResult r = enter_texture(h, &f);

    if (r)
        return r;
    if (flags & ~(unsigned)PTXI_TRSA_OVERRIDE_FORMAT)
        return PTXI_ERROR_INVALID_VALUE;
    return rebind(f, d);
}

ptxiResult ptxiTexRefSetArray(ptxiTexRef hTexRef, ptxiArray hArray, unsigned Flags)
{
    API_CALL;
    return set_arrays(hTexRef, Flags, &(PTXI_RESOURCE_DESC){ .resType = PTXI_RESOURCE_TYPE_ARRAY, .res.array.hArray = hArray });
}

ptxiResult ptxiTexRefSetMipmappedArray(ptxiTexRef hTexRef, ptxiMipmappedArray hMipmappedArray, unsigned Flags)
{
    API_CALL;
    return set_arrays(hTexRef, Flags, &(PTXI_RESOURCE_DESC){ .resType = PTXI_RESOURCE_TYPE_MIPMAPPED_ARRAY, .res.mipmap.hMipmappedArray = hMipmappedArray });
}

ptxiResult ptxiTexRefSetAddress(size_t *ByteOffset, ptxiTexRef hTexRef, ptxiDevicePtr dptr, size_t bytes)
{
    API_CALL;
    struct reference *f;
    ptxiResult r = enter_texture(hTexRef, &f);
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
        return name_object(f, 0);
    }
    r = rebind(f, &d);
    if (!r && ByteOffset)
        *ByteOffset = offset;
    return r;
}

ptxiResult ptxiTexRefSetAddress2D(ptxiTexRef hTexRef, const PTXI_ARRAY_DESCRIPTOR *desc, ptxiDevicePtr dptr, size_t Pitch)
{
    API_CALL;
    struct reference *f;
    ptxiResult r = enter_texture(hTexRef, &f);
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
        API_CALL;                                                    \
        struct reference *f;                                         \
        ptxiResult r = enter_texture(hTexRef, &f);                 \
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
        API_CALL;                                    \
        struct reference *f;                         \
        ptxiResult r = enter_texture(hTexRef, &f); \
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
    API_CALL;
    struct reference *f;
    ptxiResult r = enter_reference(hSurfRef, PTXI_HANDLE_SURFACE_REFERENCE, &f);

    if (r)
        return r;
    if (Flags)
        return PTXI_ERROR_INVALID_VALUE;
    return rebind(f, &(PTXI_RESOURCE_DESC){ .resType = PTXI_RESOURCE_TYPE_ARRAY, .res.array.hArray = hArray });
}

ptxiResult ptxiSurfRefGetArray(ptxiArray *phArray, ptxiSurfRef hSurfRef)
{
    API_CALL;
    struct reference *f;
    ptxiResult r = enter_reference(hSurfRef, PTXI_HANDLE_SURFACE_REFERENCE, &f);

    if (r)
        return r;
    if (!phArray || !f->bound)
        return PTXI_ERROR_INVALID_VALUE;
    *phArray = f->resource.res.array.hArray;
    return PTXI_SUCCESS;
}
