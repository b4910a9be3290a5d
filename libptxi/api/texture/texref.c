/* Texture and surface references: .texref and .surfref variables of modules, and references that the program creates. A
 * reference stores its properties. Each change of a property replaces the object that the reference names. */
#include "api/module/module.h"
#include "api/texture/texture.h"

#include "api/texture/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum { ALIGNMENT = 512 }; /* PTXI_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT */

/* A texture reference or a surface reference. */
struct reference {
    struct ptxi_handle handle; /* that of a variable is a part of its module's */
    ptxiContext ctx;
    const struct ptxi_var *var; /* NULL: the program has created the reference */
    uint64_t *held;             /* the variable's content, which kernels may overwrite */
    uint64_t number;            /* of the current object; 0: there is none */
    bool bound;                 /* `resource` is valid */
    PTXI_RESOURCE_DESC resource;
    PTXI_TEXTURE_DESC sampler;
    ptxiArrayFormat format;
    int channels;
    struct reference *next; /* in the module's list, or in the context's */
    uint64_t own;           /* the content if there is no variable */
};

/* One call at a time reads or changes references. The lock is held until the call returns. */
static void lock_references(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    ptxi_call_lock(&lock);
}

/* The begin of a call that names a reference. The call holds the reference. */
static ptxiResult hold_reference(const void *handle, enum ptxi_handle_kind kind, struct reference **f)
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

static enum ptxi_object_kind object_kind(const struct reference *f)
{
    assert(f->handle.kind == PTXI_HANDLE_TEXTURE_REFERENCE || f->handle.kind == PTXI_HANDLE_SURFACE_REFERENCE);
    return f->handle.kind == PTXI_HANDLE_TEXTURE_REFERENCE ? PTXI_OBJECT_TEXTURE : PTXI_OBJECT_SURFACE;
}

/* Makes the reference name an object, or none if `number` is 0. Destroys the object that it named before. */
static ptxiResult set_object(struct reference *f, uint64_t number)
{
    uint64_t before = f->number;

    assert(f->held && number <= UINT32_MAX);
    f->number = number;
    *f->held = (uint64_t)object_kind(f) << PTXI_REFERENCE_KIND | number;
    return before ? ptxi_api_object_destroy(f->ctx, before, object_kind(f)) : PTXI_SUCCESS;
}

/* Creates an object with the current properties, if the reference is bound. */
static ptxiResult recreate_object(struct reference *f)
{
    bool texture = object_kind(f) == PTXI_OBJECT_TEXTURE;
    uint64_t number = 0;
    ptxiResult r;

    if (!f->bound)
        return PTXI_SUCCESS;
    r = ptxi_api_object_create(f->ctx, object_kind(f), &f->resource, texture ? &f->sampler : NULL, NULL, &number);
    assert(r || number);
    return r ? r : set_object(f, number);
}

/* Binds the reference to a resource. Leaves it unchanged after an error. */
static ptxiResult bind_resource(struct reference *f, const PTXI_RESOURCE_DESC *d)
{
    PTXI_RESOURCE_DESC old = f->resource;
    bool was_bound = f->bound;
    ptxiResult r;

    f->resource = *d;
    f->bound = true;
    r = recreate_object(f);
    if (r) {
        f->resource = old;
        f->bound = was_bound;
    }
    return r;
}

/* ---- references of modules */

/* The properties of a new reference. The address mode of a texture is clamp, and all mipmap levels are used. */
static struct reference default_reference(ptxiContext ctx)
{
    return (struct reference){
        .ctx = ctx, .format = PTXI_AD_FORMAT_FLOAT, .channels = 1,
        .sampler = { .addressMode = { PTXI_TR_ADDRESS_MODE_CLAMP, PTXI_TR_ADDRESS_MODE_CLAMP,
                                      PTXI_TR_ADDRESS_MODE_CLAMP },
                     .maxMipmapLevelClamp = 1000 },
    };
}

static void free_list(struct reference *list)
{
    struct reference *f, *next;

    LL_FOREACH_SAFE(list, f, next) {
        ptxi_handle_remove(&f->handle);
        set_object(f, 0);
        free(f);
    }
}

/* Returns the reference of a variable. The first request creates it. NULL if there is no memory. */
static struct reference *reference_of_variable(ptxiModule m, const struct ptxi_var *v, uint64_t address,
                                      enum ptxi_handle_kind kind)
{
    struct reference *f = m->references;

    while (f && f->var != v)
        f = f->next;
    if (f || !(f = malloc(sizeof *f)))
        return f;
    *f = default_reference(m->ctx);
    f->var = v;
    assert(v && address && address % sizeof(uint64_t) == 0);
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

/* Finds the module's variable of that name and type, and returns its reference. */
static ptxiResult find_reference(void **out, ptxiModule m, const char *name, char opaque, enum ptxi_handle_kind kind)
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
        struct reference *f = reference_of_variable(m, v, m->globals[k], kind);

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
    return find_reference((void **)pTexRef, hmod, name, 't', PTXI_HANDLE_TEXTURE_REFERENCE);
}

ptxiResult ptxiModuleGetSurfRef(ptxiSurfRef *pSurfRef, ptxiModule hmod, const char *name)
{
    API_CALL;
    return find_reference((void **)pSurfRef, hmod, name, 'f', PTXI_HANDLE_SURFACE_REFERENCE);
}

/* ---- textures */

static ptxiResult hold_texture_reference(ptxiTexRef h, struct reference **f)
{
    return hold_reference(h, PTXI_HANDLE_TEXTURE_REFERENCE, f);
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
    *f = default_reference(ctx);
    f->held = &f->own;
    lock_references(); /* first, because another thread may use an old handle with this address at once */
    if (!ptxi_handle_add(&f->handle, PTXI_HANDLE_TEXTURE_REFERENCE, &ctx->gate, free)) {
        free(f);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    LL_PREPEND(ctx->references, f);
    *pTexRef = (ptxiTexRef)f;
    return PTXI_SUCCESS;
}

/* Like the driver, does nothing for a reference of a module. */
ptxiResult ptxiTexRefDestroy(ptxiTexRef hTexRef)
{
    API_CALL;
    struct reference *f;
    ptxiResult r = hold_texture_reference(hTexRef, &f);

    if (r || f->var)
        return r;
    r = ptxi_handle_retire(f, PTXI_HANDLE_TEXTURE_REFERENCE);
    if (r)
        return r;
    assert(f->held == &f->own && f->ctx->references);
    LL_DELETE(f->ctx->references, f);
    set_object(f, 0);
    ptxi_handle_unref(&f->handle);
    return PTXI_SUCCESS;
}

static ptxiResult bind_array(ptxiTexRef h, unsigned flags, const PTXI_RESOURCE_DESC *d)
{
    struct reference *f;
    ptxiResult r = hold_texture_reference(h, &f);

    if (r)
        return r;
    if (flags & ~(unsigned)PTXI_TRSA_OVERRIDE_FORMAT)
        return PTXI_ERROR_INVALID_VALUE;
    return bind_resource(f, d);
}

ptxiResult ptxiTexRefSetArray(ptxiTexRef hTexRef, ptxiArray hArray, unsigned Flags)
{
    API_CALL;
    return bind_array(hTexRef, Flags,
                      &(PTXI_RESOURCE_DESC){ .resType = PTXI_RESOURCE_TYPE_ARRAY, .res.array.hArray = hArray });
}

ptxiResult ptxiTexRefSetMipmappedArray(ptxiTexRef hTexRef, ptxiMipmappedArray hMipmappedArray, unsigned Flags)
{
    API_CALL;
    return bind_array(hTexRef, Flags,
                      &(PTXI_RESOURCE_DESC){ .resType = PTXI_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                                             .res.mipmap.hMipmappedArray = hMipmappedArray });
}

ptxiResult ptxiTexRefSetAddress(size_t *ByteOffset, ptxiTexRef hTexRef, ptxiDevicePtr dptr, size_t bytes)
{
    API_CALL;
    struct reference *f;
    ptxiResult r = hold_texture_reference(hTexRef, &f);
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
        return set_object(f, 0);
    }
    r = bind_resource(f, &d);
    if (!r && ByteOffset)
        *ByteOffset = offset;
    return r;
}

ptxiResult ptxiTexRefSetAddress2D(ptxiTexRef hTexRef, const PTXI_ARRAY_DESCRIPTOR *desc, ptxiDevicePtr dptr,
                                  size_t Pitch)
{
    API_CALL;
    struct reference *f;
    ptxiResult r = hold_texture_reference(hTexRef, &f);
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
    return bind_resource(f, &d);
}

/* The format is valid for a reference: without compression or a fixed number of channels. */
static bool is_plain(const struct ptxi_array_format *f)
{
    return f && !f->channels;
}

/* Defines the entry point that sets a property. `valid` is the condition for its parameters. */
#define SET(name, parameters, valid, assignment)                     \
    ptxiResult ptxiTexRefSet##name(ptxiTexRef hTexRef, parameters)   \
    {                                                                \
        API_CALL;                                                    \
        struct reference *f;                                         \
        ptxiResult r = hold_texture_reference(hTexRef, &f);                   \
                                                                     \
        if (r)                                                       \
            return r;                                                \
        if (!(valid))                                                \
            return PTXI_ERROR_INVALID_VALUE;                         \
        assignment;                                                  \
        return recreate_object(f);                                              \
    }
#define LIST(...) __VA_ARGS__

SET(Format, LIST(ptxiArrayFormat fmt, int NumPackedComponents),
    is_plain(ptxi_array_format(fmt)) && ptxi_array_channels_ok(ptxi_array_format(fmt), (unsigned)NumPackedComponents),
    (f->format = fmt, f->channels = NumPackedComponents))
SET(AddressMode, LIST(int dim, ptxiAddressMode am),
    dim >= 0 && dim < 3 && (unsigned)am <= PTXI_TR_ADDRESS_MODE_BORDER, f->sampler.addressMode[dim] = am)
SET(FilterMode, ptxiFilterMode fm, (unsigned)fm <= PTXI_TR_FILTER_MODE_LINEAR, f->sampler.filterMode = fm)
SET(MipmapFilterMode, ptxiFilterMode fm, (unsigned)fm <= PTXI_TR_FILTER_MODE_LINEAR,
    f->sampler.mipmapFilterMode = fm)
SET(MipmapLevelBias, float bias, true, f->sampler.mipmapLevelBias = bias)
SET(MipmapLevelClamp, LIST(float minMipmapLevelClamp, float maxMipmapLevelClamp), true,
    (f->sampler.minMipmapLevelClamp = minMipmapLevelClamp, f->sampler.maxMipmapLevelClamp = maxMipmapLevelClamp))
SET(MaxAnisotropy, unsigned maxAniso, true, f->sampler.maxAnisotropy = maxAniso)
SET(BorderColor, float *pBorderColor, pBorderColor,
    memcpy(f->sampler.borderColor, pBorderColor, sizeof f->sampler.borderColor))
SET(Flags, unsigned Flags, !(Flags & ~0x73u), f->sampler.flags = Flags)

/* Defines the entry point that returns a property. The reference is the parameter hTexRef, and the results are stored
 * through the other pointers. */
#define GET(name, parameters, valid, assignment)     \
    ptxiResult ptxiTexRefGet##name(parameters)       \
    {                                                \
        API_CALL;                                    \
        struct reference *f;                         \
        ptxiResult r = hold_texture_reference(hTexRef, &f);   \
                                                     \
        if (r)                                       \
            return r;                                \
        if (!(valid))                                \
            return PTXI_ERROR_INVALID_VALUE;         \
        assignment;                                  \
        return PTXI_SUCCESS;                         \
    }
#define GET_OF_SAMPLER(name, T, pointer, member) \
    GET(name, LIST(T *pointer, ptxiTexRef hTexRef), pointer, *pointer = (T)f->sampler.member)

static bool is_bound(const struct reference *f, ptxiResourceType type)
{
    return f->bound && f->resource.resType == type;
}

/* True also after ptxiTexRefSetAddress() has unbound the reference. */
static bool has_address(const struct reference *f)
{
    return f->resource.resType == PTXI_RESOURCE_TYPE_LINEAR || f->resource.resType == PTXI_RESOURCE_TYPE_PITCH2D;
}

GET(Address, LIST(ptxiDevicePtr *pdptr, ptxiTexRef hTexRef), pdptr && has_address(f),
    *pdptr = f->resource.res.linear.devPtr)
GET(Array, LIST(ptxiArray *phArray, ptxiTexRef hTexRef), phArray && is_bound(f, PTXI_RESOURCE_TYPE_ARRAY),
    *phArray = f->resource.res.array.hArray)
GET(MipmappedArray, LIST(ptxiMipmappedArray *phMipmappedArray, ptxiTexRef hTexRef),
    phMipmappedArray && is_bound(f, PTXI_RESOURCE_TYPE_MIPMAPPED_ARRAY),
    *phMipmappedArray = f->resource.res.mipmap.hMipmappedArray)

/* Both pointers may be NULL. */
static void store_format(const struct reference *f, ptxiArrayFormat *format, int *channels)
{
    if (format)
        *format = f->format;
    if (channels)
        *channels = f->channels;
}

GET(Format, LIST(ptxiArrayFormat *pFormat, int *pNumChannels, ptxiTexRef hTexRef), true,
    store_format(f, pFormat, pNumChannels))
GET(AddressMode, LIST(ptxiAddressMode *pam, ptxiTexRef hTexRef, int dim), pam && dim >= 0 && dim < 3,
    *pam = f->sampler.addressMode[dim])
GET(MipmapLevelClamp, LIST(float *pminMipmapLevelClamp, float *pmaxMipmapLevelClamp, ptxiTexRef hTexRef),
    pminMipmapLevelClamp && pmaxMipmapLevelClamp,
    (*pminMipmapLevelClamp = f->sampler.minMipmapLevelClamp,
     *pmaxMipmapLevelClamp = f->sampler.maxMipmapLevelClamp))
GET(BorderColor, LIST(float *pBorderColor, ptxiTexRef hTexRef), pBorderColor,
    memcpy(pBorderColor, f->sampler.borderColor, sizeof f->sampler.borderColor))
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
    ptxiResult r = hold_reference(hSurfRef, PTXI_HANDLE_SURFACE_REFERENCE, &f);

    if (r)
        return r;
    if (Flags)
        return PTXI_ERROR_INVALID_VALUE;
    return bind_resource(f, &(PTXI_RESOURCE_DESC){ .resType = PTXI_RESOURCE_TYPE_ARRAY, .res.array.hArray = hArray });
}

ptxiResult ptxiSurfRefGetArray(ptxiArray *phArray, ptxiSurfRef hSurfRef)
{
    API_CALL;
    struct reference *f;
    ptxiResult r = hold_reference(hSurfRef, PTXI_HANDLE_SURFACE_REFERENCE, &f);

    if (r)
        return r;
    if (!phArray || !f->bound)
        return PTXI_ERROR_INVALID_VALUE;
    *phArray = f->resource.res.array.hArray;
    return PTXI_SUCCESS;
}
