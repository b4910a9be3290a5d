/* Annotations of memory by the program. */
#include "api/check/check.h"

#include "exec/init/init_shadow.h"
#include "exec/memmap/annotation.h"
#include "exec/memmap/memmap.h"

static bool is_inside(enum ptxi_annotation_set set, uint64_t address, size_t size)
{
    uint64_t base, bytes;

    return ptxi_annotation_find(set, address, &base, &bytes) && size <= bytes - (address - base);
}

/* Memory is tracked from its allocation on, or not at all: what was written before is not known. */
static void undefine(ptxiContext ctx, uint64_t address, size_t size)
{
    if (ctx->sanitizer & PTXI_SANITIZER_INIT)
        ptxi_init_undefine(address, size);
}

static ptxiResult allocate(ptxiContext ctx, uint64_t address, size_t size)
{
    if (!is_inside(PTXI_ANNOTATED_POOLS, address, size))
        return PTXI_ERROR_INVALID_VALUE;
    if (!ptxi_annotation_add(PTXI_ANNOTATED_PARTS, address, size))
        return PTXI_ERROR_OUT_OF_MEMORY;
    undefine(ctx, address, size);
    return PTXI_SUCCESS;
}

static ptxiResult add(enum ptxi_annotation_set set, uint64_t address, size_t size)
{
    return ptxi_annotation_add(set, address, size) ? PTXI_SUCCESS : PTXI_ERROR_OUT_OF_MEMORY;
}

static ptxiResult resize(ptxiContext ctx, uint64_t address, size_t size)
{
    uint64_t base, before;

    if (!ptxi_annotation_find(PTXI_ANNOTATED_PARTS, address, &base, &before) || base != address ||
        !is_inside(PTXI_ANNOTATED_POOLS, address, size))
        return PTXI_ERROR_INVALID_VALUE;
    if (!ptxi_annotation_add(PTXI_ANNOTATED_PARTS, address, size))
        return PTXI_ERROR_OUT_OF_MEMORY;
    if (size > before)
        undefine(ctx, address + before, size - before);
    return PTXI_SUCCESS;
}

static ptxiResult free_part(uint64_t address)
{
    if (!is_inside(PTXI_ANNOTATED_PARTS, address, 1))
        return PTXI_ERROR_INVALID_VALUE;
    ptxi_annotation_remove(PTXI_ANNOTATED_PARTS, address, 1);
    return PTXI_SUCCESS;
}

static ptxiResult empty_pool(uint64_t address, bool end)
{
    uint64_t base, size;

    if (!ptxi_annotation_find(PTXI_ANNOTATED_POOLS, address, &base, &size))
        return PTXI_ERROR_INVALID_VALUE;
    ptxi_annotation_remove(PTXI_ANNOTATED_PARTS, base, size);
    if (end)
        ptxi_annotation_remove(PTXI_ANNOTATED_POOLS, base, size);
    return PTXI_SUCCESS;
}

static ptxiResult annotate(ptxiContext ctx, ptxiAnnotation what, uint64_t address, size_t size)
{
    switch (what) {
    case PTXI_ANNOTATION_INITIALIZED: ptxi_init_define(address, size); return PTXI_SUCCESS;
    case PTXI_ANNOTATION_UNINITIALIZED: undefine(ctx, address, size); return PTXI_SUCCESS;
    case PTXI_ANNOTATION_INTENDED_RACE: return add(PTXI_ANNOTATED_RACES, address, size);
    case PTXI_ANNOTATION_NO_RACE: ptxi_annotation_remove(PTXI_ANNOTATED_RACES, address, size); return PTXI_SUCCESS;
    case PTXI_ANNOTATION_POOL: return add(PTXI_ANNOTATED_POOLS, address, size);
    case PTXI_ANNOTATION_POOL_RESET: case PTXI_ANNOTATION_POOL_END:
        return empty_pool(address, what == PTXI_ANNOTATION_POOL_END);
    case PTXI_ANNOTATION_ALLOCATE: return allocate(ctx, address, size);
    case PTXI_ANNOTATION_RESIZE: return resize(ctx, address, size);
    case PTXI_ANNOTATION_FREE: return free_part(address);
    default: return PTXI_ERROR_INVALID_VALUE;
    }
}

ptxiResult ptxiCtxAnnotate(ptxiContext named, ptxiAnnotation what, ptxiDevicePtr address, size_t numBytes)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxi_mem_region region;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    if (!numBytes || !ptxi_memmap_covers(ptxi_state.memmap, address, numBytes, &region) ||
        region.flags & (PTXI_MEM_FREED | PTXI_MEM_OPEN))
        return PTXI_ERROR_INVALID_VALUE;
    if (what == PTXI_ANNOTATION_HOST_READ || what == PTXI_ANNOTATION_HOST_WRITE) {
        ptxi_check_host(ctx, address, numBytes, what == PTXI_ANNOTATION_HOST_WRITE);
        return PTXI_SUCCESS;
    }
    pthread_mutex_lock(&ctx->lock);
    r = annotate(ctx, what, address, numBytes);
    pthread_mutex_unlock(&ctx->lock);
    ptxi_memmap_invalidate(ptxi_state.memmap);
    return r;
}
