/* Memory: allocation, host memory, attributes of pointers, open ranges. */
#include "api/context/context.h"
#include "api/memory/graph_memory.h"
#include "api/memory/heap.h"

#include "exec/memmap/rcu.h"
#include "exec/memmap/memmap.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PITCH = 512, NO_DEVICE = -2 };

static ptxiResult allocate_block(ptxiContext ctx, size_t size, enum ptxi_heap_kind kind, uint32_t extra,
                                 unsigned host_flags,
                        uint64_t *base)
{
    struct ptxi_heap_block *b;
    ptxiResult r = ptxi_heap_alloc(ctx, size, kind, PTXI_MEM_RWA | extra, host_flags, &b);

    if (!r)
        *base = b->base;
    return r;
}

ptxiResult ptxiMemAlloc(ptxiDevicePtr *dptr, size_t bytesize)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    uint64_t base;

    if (r)
        return r;
    if (!dptr)
        return PTXI_ERROR_INVALID_VALUE;
    r = allocate_block(ctx, bytesize, PTXI_HEAP_DEVICE, 0, 0, &base);
    if (!r)
        *dptr = base;
    return r;
}

ptxiResult ptxiMemAllocManaged(ptxiDevicePtr *dptr, size_t bytesize, unsigned flags)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    uint64_t base;

    if (r)
        return r;
    if (!dptr || (flags != PTXI_MEM_ATTACH_GLOBAL && flags != PTXI_MEM_ATTACH_HOST))
        return PTXI_ERROR_INVALID_VALUE;
    r = allocate_block(ctx, bytesize, PTXI_HEAP_DEVICE, PTXI_MEM_MANAGED, 0, &base);
    if (!r)
        *dptr = base;
    return r;
}

ptxiResult ptxiMemAllocPitch(ptxiDevicePtr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height,
                             unsigned ElementSizeBytes)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    uint64_t base;
    size_t bytes;

    if (r)
        return r;
    if (!dptr || !pPitch || WidthInBytes == 0 || Height == 0)
        return PTXI_ERROR_INVALID_VALUE;
    if (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16)
        return PTXI_ERROR_INVALID_VALUE;
    size_t pitch = (WidthInBytes + PITCH - 1) & ~(size_t)(PITCH - 1);

    if (pitch < WidthInBytes || __builtin_mul_overflow(pitch, Height, &bytes))
        return PTXI_ERROR_OUT_OF_MEMORY;
    r = allocate_block(ctx, bytes, PTXI_HEAP_DEVICE, 0, 0, &base);
    if (!r) {
        *dptr = base;
        *pPitch = pitch;
    }
    return r;
}

/* Frees the block when the context's work has ended. */
static ptxiResult free_claimed(struct ptxi_heap_block *b)
{
    ptxiResult r = ptxi_api_drain(b->ctx);

    if (r)
        ptxi_heap_unclaim(b);
    else
        ptxi_heap_free(b);
    return r;
}

static ptxiResult free_at(uint64_t addr, enum ptxi_heap_kind kind)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r || !addr)
        return r;
    struct ptxi_heap_block *b = ptxi_heap_claim(addr, kind, NULL);

    return b ? free_claimed(b) : PTXI_ERROR_INVALID_VALUE;
}

ptxiResult ptxiMemFree(ptxiDevicePtr dptr)
{
    API_CALL;
    ptxiResult r = free_at(dptr, PTXI_HEAP_DEVICE);

    return r == PTXI_ERROR_INVALID_VALUE ? ptxi_graph_memory_free_now(dptr) : r;
}

/* ---- host memory */

ptxiResult ptxiMemHostAlloc(void **pp, size_t bytesize, unsigned Flags)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    uint64_t base = 0;

    if (r)
        return r;
    if (!pp || Flags & ~7u)
        return PTXI_ERROR_INVALID_VALUE;
    if (bytesize)
        r = allocate_block(ctx, bytesize, PTXI_HEAP_HOST, PTXI_MEM_HOST, Flags | PTXI_MEMHOSTALLOC_DEVICEMAP, &base);
    if (!r)
        *pp = (void *)(uintptr_t)base;
    return r;
}

ptxiResult ptxiMemAllocHost(void **pp, size_t bytesize)
{
    API_CALL;
    return ptxiMemHostAlloc(pp, bytesize, 0);
}

ptxiResult ptxiMemFreeHost(void *p)
{
    API_CALL;
    return free_at((uintptr_t)p, PTXI_HEAP_HOST);
}

/* True if a range that could not be registered overlaps memory that already is registered. */
static bool touches_registered(uint64_t addr, size_t size)
{
    struct ptxi_mem_region region;
    struct ptxi_heap_block b;

    if (ptxi_heap_find(addr, &b, &region))
        return b.kind == PTXI_HEAP_REGISTERED;
    /* the first region after the begin of the range is the nearest one to some byte of it */
    return ptxi_memmap_find(ptxi_state.memmap, addr + size - 1,
                            &region) != PTXI_MEMMAP_EMPTY && ptxi_heap_find(region.base, &b, &region) &&
           b.kind == PTXI_HEAP_REGISTERED;
}

/* True if the process has memory at all of these addresses. */
static bool is_mapped(void *p, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)p / page * page;

    return !msync((void *)first, (uintptr_t)p + bytes - first, MS_ASYNC) || errno != ENOMEM;
}

ptxiResult ptxiMemHostRegister(void *p, size_t bytesize, unsigned Flags)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    uint32_t access = Flags & PTXI_MEMHOSTREGISTER_READ_ONLY ? PTXI_MEM_READ : PTXI_MEM_RWA;

    if (r)
        return r;
    if (!p || !bytesize || Flags & ~15u || (uintptr_t)p > UINTPTR_MAX - bytesize)
        return PTXI_ERROR_INVALID_VALUE;
    if (!is_mapped(p, bytesize))
        return PTXI_ERROR_INVALID_VALUE;
    r = ptxi_heap_register(ctx, p, bytesize, access | PTXI_MEM_HOST, Flags);
    if (r == PTXI_ERROR_INVALID_VALUE && touches_registered((uintptr_t)p, bytesize))
        r = PTXI_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    return r;
}

ptxiResult ptxiMemHostUnregister(void *p)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    struct ptxi_mem_region region;
    struct ptxi_heap_block there;

    if (r)
        return r;
    struct ptxi_heap_block *b = ptxi_heap_claim((uintptr_t)p, PTXI_HEAP_REGISTERED, NULL);

    if (!b)
        return !p || ptxi_heap_find((uintptr_t)p, &there,
                                    &region) ? PTXI_ERROR_INVALID_VALUE : PTXI_ERROR_HOST_MEMORY_NOT_REGISTERED;
    return free_claimed(b);
}

static bool is_host(const struct ptxi_heap_block *b)
{
    return b->kind == PTXI_HEAP_HOST || b->kind == PTXI_HEAP_REGISTERED;
}

static bool find_host(const void *p, struct ptxi_heap_block *b)
{
    struct ptxi_mem_region region;

    return p && ptxi_heap_find((uintptr_t)p, b, &region) && is_host(b);
}

ptxiResult ptxiMemHostGetDevicePointer(ptxiDevicePtr *pdptr, void *p, unsigned Flags)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    struct ptxi_heap_block b;

    if (r)
        return r;
    if (!pdptr || Flags || !find_host(p, &b))
        return PTXI_ERROR_INVALID_VALUE;
    *pdptr = (uintptr_t)p;
    return PTXI_SUCCESS;
}

ptxiResult ptxiMemHostGetFlags(unsigned *pFlags, void *p)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    struct ptxi_heap_block b;

    if (r)
        return r;
    if (!pFlags || !find_host(p, &b))
        return PTXI_ERROR_INVALID_VALUE;
    *pFlags = b.host_flags;
    return PTXI_SUCCESS;
}

/* ---- questions */

ptxiResult ptxiMemGetInfo(size_t *freeBytes, size_t *total)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if (!freeBytes || !total)
        return PTXI_ERROR_INVALID_VALUE;
    *total = ptxi_state.total_memory;
    *freeBytes = ptxi_state.total_memory - ptxi_heap_in_use();
    return PTXI_SUCCESS;
}

ptxiResult ptxiMemGetAddressRange(ptxiDevicePtr *pbase, size_t *psize, ptxiDevicePtr dptr)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    struct ptxi_mem_region region;
    struct ptxi_heap_block b;

    if (r)
        return r;
    if (!ptxi_heap_find(dptr, &b, &region))
        return PTXI_ERROR_NOT_FOUND;
    if (pbase)
        *pbase = region.base;
    if (psize)
        *psize = region.size;
    return PTXI_SUCCESS;
}

/* Size of an attribute's value. 0: there is no such attribute. */
static size_t attribute_bytes(int attribute)
{
    switch (attribute) {
    case PTXI_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case PTXI_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case PTXI_POINTER_ATTRIBUTE_IS_MANAGED:
    case PTXI_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case PTXI_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case PTXI_POINTER_ATTRIBUTE_MAPPED:
    case PTXI_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case PTXI_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case PTXI_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return sizeof(int);
    case PTXI_POINTER_ATTRIBUTE_CONTEXT:
    case PTXI_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case PTXI_POINTER_ATTRIBUTE_HOST_POINTER:
    case PTXI_POINTER_ATTRIBUTE_BUFFER_ID:
    case PTXI_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case PTXI_POINTER_ATTRIBUTE_RANGE_SIZE:
    case PTXI_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case PTXI_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case PTXI_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case PTXI_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case PTXI_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return sizeof(uint64_t);
    default: return 0;
    }
}

/* True if the block's device may access it. */
static bool may_access(const struct ptxi_heap_block *b, const struct ptxi_mem_region *region)
{
    return ptxi_mem_is_accessible(region, PTXI_ON_DEVICE(b->device));
}

/* The value of a valid attribute for memory that the heap knows. */
static uint64_t get_attribute(int attribute, uint64_t ptr, const struct ptxi_heap_block *b,
                              const struct ptxi_mem_region *region)
{
    bool host = region->flags & PTXI_MEM_HOST;

    switch (attribute) {
    case PTXI_POINTER_ATTRIBUTE_CONTEXT: return (uintptr_t)b->ctx;
    case PTXI_POINTER_ATTRIBUTE_MEMORY_TYPE: return host ? PTXI_MEMORYTYPE_HOST : PTXI_MEMORYTYPE_DEVICE;
    case PTXI_POINTER_ATTRIBUTE_DEVICE_POINTER: return host && !may_access(b, region) ? 0 : ptr;
    case PTXI_POINTER_ATTRIBUTE_HOST_POINTER: return host || region->flags & PTXI_MEM_MANAGED ? ptr : 0;
    case PTXI_POINTER_ATTRIBUTE_SYNC_MEMOPS: return !host && !(region->flags & PTXI_MEM_MANAGED);
    case PTXI_POINTER_ATTRIBUTE_BUFFER_ID:
    case PTXI_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return region->id;
    case PTXI_POINTER_ATTRIBUTE_IS_MANAGED: return (region->flags & PTXI_MEM_MANAGED) != 0;
    case PTXI_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case PTXI_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return region->base;
    case PTXI_POINTER_ATTRIBUTE_RANGE_SIZE:
    case PTXI_POINTER_ATTRIBUTE_MAPPING_SIZE: return region->size;
    case PTXI_POINTER_ATTRIBUTE_MAPPED: return 1;
    case PTXI_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return (uint64_t)b->device;
    case PTXI_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return region->flags & PTXI_MEM_WRITE ? PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE : PTXI_MEM_ACCESS_FLAGS_PROT_READ;
    case PTXI_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return (uintptr_t)b->pool;
    case PTXI_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: return ptxi_heap_is_shareable(b, region);
    case PTXI_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        return b->pages.source == PTXI_PAGES_OF_POOL ? PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0;
    default: return 0;
    }
}

static void store_attribute(void *data, int attribute, uint64_t value)
{
    if (attribute_bytes(attribute) == sizeof(int))
        *(int *)data = (int)value;
    else
        *(uint64_t *)data = value;
}

ptxiResult ptxiPointerGetAttribute(void *data, ptxiPointerAttribute attribute, ptxiDevicePtr ptr)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    struct ptxi_mem_region region;
    struct ptxi_heap_block b;

    if (r)
        return r;
    if (!data || !attribute_bytes((int)attribute) || !ptxi_heap_find(ptr, &b, &region))
        return PTXI_ERROR_INVALID_VALUE;
    uint64_t value = get_attribute((int)attribute, ptr, &b, &region);

    if (attribute == PTXI_POINTER_ATTRIBUTE_HOST_POINTER && !value)
        return PTXI_ERROR_INVALID_VALUE;
    store_attribute(data, (int)attribute, value);
    return PTXI_SUCCESS;
}

ptxiResult ptxiPointerGetAttributes(unsigned numAttributes, ptxiPointerAttribute *attributes, void **data,
                                    ptxiDevicePtr ptr)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    struct ptxi_mem_region region;

    if (r)
        return r;
    if (!numAttributes || !attributes || !data)
        return PTXI_ERROR_INVALID_VALUE;
    struct ptxi_heap_block b;
    bool known = ptxi_heap_find(ptr, &b, &region);

    for (unsigned i = 0; i < numAttributes; i++) {
        int attribute = (int)attributes[i];

        if (!data[i] || !attribute_bytes(attribute))
            return PTXI_ERROR_INVALID_VALUE;
        if (known)
            store_attribute(data[i], attribute, get_attribute(attribute, ptr, &b, &region));
        else if (attribute != PTXI_POINTER_ATTRIBUTE_RANGE_SIZE)
            store_attribute(data[i], attribute,
                            attribute == PTXI_POINTER_ATTRIBUTE_DEVICE_ORDINAL ? (uint64_t)NO_DEVICE : 0);
    }
    return PTXI_SUCCESS;
}

ptxiResult ptxiPointerSetAttribute(const void *value, ptxiPointerAttribute attribute, ptxiDevicePtr ptr)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    struct ptxi_mem_region region;
    struct ptxi_heap_block b;

    if (r)
        return r;
    if (!value || attribute != PTXI_POINTER_ATTRIBUTE_SYNC_MEMOPS || !ptxi_heap_find(ptr, &b, &region))
        return PTXI_ERROR_INVALID_VALUE;
    return PTXI_SUCCESS;
}

/* ---- ranges that the embedder opens */

ptxiResult ptxiMemOpenRange(void *base, size_t bytes, unsigned flags)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!base || !bytes || !flags || flags & ~(unsigned)(PTXI_RANGE_READ | PTXI_RANGE_WRITE))
        return PTXI_ERROR_INVALID_VALUE;
    struct ptxi_mem_region region = { .base = (uintptr_t)base, .size = bytes, .flags = PTXI_MEM_OPEN };

    region.flags |= flags & PTXI_RANGE_READ ? PTXI_MEM_READ : 0;
    region.flags |= flags & PTXI_RANGE_WRITE ? PTXI_MEM_WRITE : 0;
    region.flags |= flags == (PTXI_RANGE_READ | PTXI_RANGE_WRITE) ? PTXI_MEM_ATOMIC : 0;
    switch (ptxi_memmap_add(ptxi_state.memmap, &region)) {
    case PTXI_MEMMAP_OK: return PTXI_SUCCESS;
    case PTXI_MEMMAP_OOM: return PTXI_ERROR_OUT_OF_MEMORY;
    default: return PTXI_ERROR_INVALID_VALUE;
    }
}

ptxiResult ptxiMemCloseRange(void *base)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();
    struct ptxi_mem_region region;

    if (r)
        return r;
    if (ptxi_memmap_find(ptxi_state.memmap, (uintptr_t)base, &region) != PTXI_MEMMAP_INSIDE ||
        !(region.flags & PTXI_MEM_OPEN) || region.base != (uintptr_t)base)
        return PTXI_ERROR_INVALID_VALUE;
    ptxi_memmap_remove(ptxi_state.memmap, region.base);
    ptxi_rcu_synchronize();
    return PTXI_SUCCESS;
}
