/* NVTX's memory annotations (nvToolsExtMem.h, nvToolsExtMemCudaRt.h): sub-allocating heaps, their regions, and
 * initialised ranges in the address space of the process. `ptxi exec` makes NVTX_INJECTION64_PATH name this library,
 * and NVTX in the program gives it a table of functions, which it fills. The structures are those of these headers.
 * Permissions, names, and heaps of other memory are ignored. */
#include "driver.h"

#include <stddef.h>

enum { MODULE_MEM = 1, TYPE_VIRTUAL_ADDRESS = 1, USAGE_SUB_ALLOCATOR = 1 };

/* Indices into the table: NVTX3EXT_CBID_... */
enum {
    HEAP_REGISTER = 0, HEAP_UNREGISTER = 1, HEAP_RESET = 2, REGIONS_REGISTER = 3, REGIONS_RESIZE = 4,
    REGIONS_UNREGISTER = 5, MARK_INITIALIZED = 16,
};

struct segment {
    size_t id, count;
    intptr_t *functions;
};

struct module_info {
    uint16_t version, size, module, compatibility;
    size_t segment_count;
    struct segment *segments;
    void *get_export;
    const void *more;
};

struct range {
    size_t size;
    const void *address;
};

struct heap_description {
    uint16_t compatibility, size;
    uint32_t reserved, usage, type;
    size_t range_size;
    const struct range *range;
};

struct regions {
    uint16_t compatibility, size;
    uint32_t type;
    void *heap;
    size_t count, element_size;
    const void *elements;
    const void **handles;
};

/* Of the calls with ranges, and of nvtxMemRegionsUnregister() with handles. */
struct ranges {
    uint16_t compatibility, size;
    uint32_t type;
    size_t count, element_size;
    const void *elements;
};

/* The annotations of memory that libptxi does not know fail, which is no error of the program. */
static void annotate(ptxiAnnotation what, const void *address, size_t size)
{
    if (size)
        (void)ptxiCtxAnnotate(NULL, what, (uintptr_t)address, size);
}

static const void *element(const void *elements, size_t size, size_t index)
{
    return (const char *)elements + index * size;
}

static void annotate_all(ptxiAnnotation what, uint32_t type, const void *elements, size_t size, size_t count)
{
    if (type != TYPE_VIRTUAL_ADDRESS || size < sizeof(struct range))
        return;
    for (size_t k = 0; k < count; k++) {
        const struct range *r = element(elements, size, k);

        annotate(what, r->address, r->size);
    }
}

/* The handle of a heap and of a region is its address. A call that names one has no size: one byte overlaps it. */
static void *register_heap(void *domain, const struct heap_description *d)
{
    (void)domain;
    if (!d || d->type != TYPE_VIRTUAL_ADDRESS || d->range_size < sizeof(struct range) || !d->range)
        return NULL;
    if (d->usage == USAGE_SUB_ALLOCATOR)
        annotate(PTXI_ANNOTATION_POOL, d->range->address, d->range->size);
    return (void *)(uintptr_t)d->range->address;
}

static void unregister_heap(void *domain, const void *heap)
{
    (void)domain;
    if (heap)
        annotate(PTXI_ANNOTATION_POOL_END, heap, 1);
}

static void reset_heap(void *domain, const void *heap)
{
    (void)domain;
    if (heap)
        annotate(PTXI_ANNOTATION_POOL_RESET, heap, 1);
}

static void register_regions(void *domain, const struct regions *d)
{
    (void)domain;
    if (!d)
        return;
    annotate_all(PTXI_ANNOTATION_ALLOCATE, d->type, d->elements, d->element_size, d->count);
    if (d->handles && d->type == TYPE_VIRTUAL_ADDRESS && d->element_size >= sizeof(struct range))
        for (size_t k = 0; k < d->count; k++)
            d->handles[k] = ((const struct range *)element(d->elements, d->element_size, k))->address;
}

static void resize_regions(void *domain, const struct ranges *d)
{
    (void)domain;
    if (d)
        annotate_all(PTXI_ANNOTATION_RESIZE, d->type, d->elements, d->element_size, d->count);
}

static void unregister_regions(void *domain, const struct ranges *d)
{
    (void)domain;
    if (!d || d->element_size < sizeof(const void *))
        return;
    for (size_t k = 0; k < d->count; k++)
        annotate(PTXI_ANNOTATION_FREE, *(const void *const *)element(d->elements, d->element_size, k), 1);
}

static void mark_initialized(void *domain, void *stream, uint8_t per_thread, const struct ranges *d)
{
    (void)domain, (void)stream, (void)per_thread;
    if (d)
        annotate_all(PTXI_ANNOTATION_INITIALIZED, d->type, d->elements, d->element_size, d->count);
}

static void set(const struct segment *s, size_t index, intptr_t function)
{
    if (index < s->count)
        s->functions[index] = function;
}

/* NVTX calls this function for each of its extensions. 0: nothing is attached. */
PTXI_API int InitializeInjectionNvtxExtension(struct module_info *info);

int InitializeInjectionNvtxExtension(struct module_info *info)
{
    if (!info || info->module != MODULE_MEM || info->segment_count < 1)
        return 0;
    const struct segment *s = info->segments;

    set(s, HEAP_REGISTER, (intptr_t)register_heap);
    set(s, HEAP_UNREGISTER, (intptr_t)unregister_heap);
    set(s, HEAP_RESET, (intptr_t)reset_heap);
    set(s, REGIONS_REGISTER, (intptr_t)register_regions);
    set(s, REGIONS_RESIZE, (intptr_t)resize_regions);
    set(s, REGIONS_UNREGISTER, (intptr_t)unregister_regions);
    set(s, MARK_INITIALIZED, (intptr_t)mark_initialized);
    return 1;
}
