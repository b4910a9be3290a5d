#include "api/memory/heap.h"

#include "api/context/context.h"
#include "api/memory/allocation_sites.h"
#include "api/memory/pool_count.h"
#include "api/observe/observe.h"
#include "base/fill.h"
#include "exec/check/concurrent.h"
#include "exec/init/init_shadow.h"
#include "exec/memmap/annotation.h"
#include "exec/sched/workers.h"
#include "exec/memmap/rcu.h"
#include "exec/memmap/memmap.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    RED_ZONE = 256,
    ALIGN = 512,
    STEPS = 8,                   /* size classes per power of two, so that at most an eighth is wasted */
    CLASSES = STEPS * 48,
    PAGE = PTXI_PAGE,
    SLAB = 1 << 20,              /* blocks of up to SLAB_MAX bytes share mappings of this size */
    SLAB_MAX = 64 << 10,
    HUGE_PAGE = 2 << 20,
    QUARANTINE_BLOCKS = 4096,
    QUARANTINE_SMALL = 16 << 20, /* bytes of blocks that keep their pages */
};

struct free_range { /* address space that may be used again */
    struct free_range *next;
    uint64_t base;
    bool clean; /* it contains zeros */
};

/* Small blocks of different families are in different slabs. The pages of slabs with device memory can be replaced
 * while kernels are stopped, because only they and copies access them. */
enum family { FAMILY_ANY, FAMILY_DEVICE, FAMILIES };

static struct {
    pthread_mutex_t lock;
    struct free_range *free[FAMILIES][CLASSES];
    struct ptxi_heap_block *oldest, **newest; /* quarantine */
    size_t quarantined, quarantined_small, in_use;
} heap = { .lock = PTHREAD_MUTEX_INITIALIZER, .newest = &heap.oldest };

/* Bytes of a block of this class: ALIGN * (STEPS + k) / STEPS * 2^e, in whole ALIGNs. */
static size_t class_bytes(unsigned c)
{
    if (c < 2 * STEPS)
        return (size_t)(c + 1) * ALIGN;
    unsigned e = c / STEPS - 1, k = c % STEPS;

    return ((size_t)(STEPS + k + 1) << e) * ALIGN;
}

static unsigned class_of(size_t bytes)
{
    size_t units = (bytes + ALIGN - 1) / ALIGN;

    if (units <= 2 * STEPS)
        return (unsigned)units - 1;
    unsigned e = 0;

    while ((units - 1) >> e >= 2 * STEPS)
        e++;
    return (e + 1) * STEPS + (unsigned)((units - 1) >> e) - STEPS;
}

bool ptxi_heap_add_addresses(uint64_t base, size_t size)
{
    struct ptxi_mem_region range = { .base = base, .size = size };

    return ptxi_memmap_add(ptxi_state.addresses, &range) == PTXI_MEMMAP_OK;
}

bool ptxi_heap_has_addresses(uint64_t addr, size_t size)
{
    return ptxi_memmap_overlaps(ptxi_state.addresses, addr, size);
}

static void *map_pages(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return p == MAP_FAILED ? NULL : p;
}

/* Adds pages to the heap's addresses. Unmaps them and returns 0 if there is no memory. */
static uint64_t keep_pages(void *p, size_t bytes)
{
    if (ptxi_heap_add_addresses((uintptr_t)p, bytes))
        return (uintptr_t)p;
    munmap(p, bytes);
    return 0;
}

static bool is_small(size_t bytes)
{
    return bytes <= SLAB_MAX;
}

/* Maps a large block. It begins on a huge page if it is large enough, because this reduces TLB misses. */
static uint64_t map_large(size_t bytes)
{
    size_t extra = bytes >= HUGE_PAGE ? HUGE_PAGE : 0;
    char *p = map_pages(bytes + extra);

    if (!p)
        return 0;
    if (extra) {
        size_t head = -(uintptr_t)p & (HUGE_PAGE - 1);

        if (head)
            munmap(p, head);
        if (extra - head)
            munmap(p + head + bytes, extra - head);
        p += head;
#ifdef MADV_HUGEPAGE
        madvise(p, bytes, MADV_HUGEPAGE);
#endif
    }
    return keep_pages(p, bytes);
}

static bool add_free_range(unsigned family, unsigned c, uint64_t base, bool clean)
{
    struct free_range *f = malloc(sizeof *f);

    if (!f)
        return false; /* the range is not used again, which is harmless */
    f->base = base;
    f->clean = clean;
    f->next = heap.free[family][c];
    heap.free[family][c] = f;
    return true;
}

static uint64_t take_free_range(unsigned family, unsigned c, bool *clean)
{
    struct free_range *f = heap.free[family][c];

    if (!f)
        return 0;
    uint64_t base = f->base;

    *clean = f->clean;
    heap.free[family][c] = f->next;
    free(f);
    return base;
}

/* Adds the blocks of a new slab, but the first. */
static void divide_slab(unsigned family, unsigned c, uint64_t slab)
{
    size_t bytes = class_bytes(c);

    for (size_t at = SLAB / bytes * bytes; at > bytes;) {
        at -= bytes;
        add_free_range(family, c, slab + at, true);
    }
}

/* Bytes that are mapped at once for blocks of this class. */
static size_t mapped_bytes(unsigned c)
{
    size_t bytes = class_bytes(c);

    return is_small(bytes) ? (size_t)SLAB : (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

static uint64_t map_range(unsigned family, unsigned c)
{
    if (!is_small(class_bytes(c)))
        return map_large(mapped_bytes(c));
    char *slab = map_pages(SLAB);

    if (!slab || !keep_pages(slab, SLAB))
        return 0;
    divide_slab(family, c, (uintptr_t)slab); /* the first block is returned */
    return (uintptr_t)slab;
}

/* ---- lists of blocks */

static void link_block(struct ptxi_heap_block **list, struct ptxi_heap_block *b)
{
    b->next = *list;
    b->link = list;
    if (b->next)
        b->next->link = &b->next;
    *list = b;
}

static void unlink_block(struct ptxi_heap_block *b)
{
    assert(*b->link == b);
    *b->link = b->next;
    if (b->next)
        b->next->link = b->link;
}

/* ---- quarantine; under the lock */

/* The range that the block is in. Pages of a file may begin before the block. */
static uint64_t range_of(const struct ptxi_heap_block *b)
{
    return is_small(class_bytes(b->size_class)) ? b->base : b->base & ~(uint64_t)(PAGE - 1);
}

/* True if the pages are those of a file, and of no other block. */
static bool has_file(const struct ptxi_heap_block *b)
{
    return b->pages.source != PTXI_PAGES_PRIVATE && b->pages.source != PTXI_PAGES_OF_SLAB;
}

/* Returns the pages of a large block to the system, unless the program has locked them. True if the block contains
 * zeros now. */
static bool drop_pages(struct ptxi_heap_block *b)
{
    size_t bytes = class_bytes(b->size_class);

    if (!has_file(b))
        return !is_small(bytes) && !madvise((void *)(uintptr_t)b->base, bytes, MADV_DONTNEED);
    bool private = ptxi_pages_unmap(range_of(b), bytes);

    if (private)
        b->pages.source = PTXI_PAGES_PRIVATE;
    return private;
}

static void release_oldest(void)
{
    struct ptxi_heap_block *b = heap.oldest;
    size_t bytes = class_bytes(b->size_class);

    heap.oldest = b->next;
    if (!heap.oldest)
        heap.newest = &heap.oldest;
    assert(heap.quarantined);
    heap.quarantined--;
    heap.quarantined_small -= is_small(bytes) ? bytes : 0;
    ptxi_memmap_remove(ptxi_state.memmap, b->base);
    /* once more, because a kernel may have written after the free */
    bool clean = drop_pages(b);

    if (!has_file(b)) /* otherwise the range is lost */
        add_free_range(b->family, b->size_class, range_of(b), clean);
    free(b->import);
    free(b);
}

static void quarantine_block(struct ptxi_heap_block *b)
{
    size_t bytes = class_bytes(b->size_class);

    drop_pages(b); /* the addresses stay reserved */
    b->next = NULL;
    *heap.newest = b;
    heap.newest = &b->next;
    heap.quarantined++;
    heap.quarantined_small += is_small(bytes) ? bytes : 0;
    while (heap.quarantined > QUARANTINE_BLOCKS || heap.quarantined_small > QUARANTINE_SMALL)
        release_oldest();
}

/* ---- the interface */

static uint64_t find_range(unsigned family, unsigned c, bool *clean)
{
    uint64_t base = take_free_range(family, c, clean);

    if (base)
        return base;
    *clean = true;
    base = map_range(family, c);
    while (!base && heap.oldest) { /* no address space: reuse blocks in quarantine */
        release_oldest();
        base = take_free_range(family, c, clean);
    }
    return base;
}

enum { WORDS_SLACK = 16 /* bytes after a block that an access to a whole word may reach (PTXI_MEM_WORDS) */ };
_Static_assert((int)WORDS_SLACK <= (int)RED_ZONE, "the slack belongs to no other block");

/* No other thread knows the address yet. */
static void fill_block(const struct ptxi_heap_block *b, bool clean)
{
    if (!clean)
        memset((void *)(uintptr_t)b->base, 0, b->size + WORDS_SLACK);
    if (ptxi_fill_byte && b->kind != PTXI_HEAP_MODULE)
        ptxi_fill((void *)(uintptr_t)b->base, b->size);
}

/* The devices that may access the block, as memmap.h defines them. */
static uint64_t devices_of(const struct ptxi_heap_block *b, uint32_t mem_flags)
{
    if (b->pool && !(mem_flags & PTXI_MEM_MANAGED))
        return atomic_load(&b->pool->devices);
    if (mem_flags & (PTXI_MEM_HOST | PTXI_MEM_MANAGED))
        return 0;
    uint64_t devices = PTXI_ON_DEVICE(b->device) | PTXI_ON_PEER(b->device);

    return b->kind == PTXI_HEAP_IMPORTED ? devices | PTXI_ON_DEVICE(b->ctx->device) : devices;
}

/* Adds the block to the map last, because another thread may then find and free it. */
static ptxiResult enter_block(struct ptxi_heap_block *b, uint32_t mem_flags)
{
    struct ptxi_mem_region region = { .base = b->base, .size = b->size, .devices = devices_of(b, mem_flags),
                                      .flags = mem_flags, .owner = b };

    pthread_mutex_lock(&b->ctx->lock);
    link_block(&b->ctx->blocks, b);
    struct ptxi_checker *checker = b->ctx->checker;

    pthread_mutex_unlock(&b->ctx->lock);
    if (checker)
        ptxi_check_forget(checker, b->base, b->size);
    enum ptxi_memmap_result r = ptxi_memmap_add(ptxi_state.memmap, &region);

    if (r == PTXI_MEMMAP_OK)
        return PTXI_SUCCESS;
    pthread_mutex_lock(&b->ctx->lock);
    unlink_block(b);
    pthread_mutex_unlock(&b->ctx->lock);
    return r == PTXI_MEMMAP_OOM ? PTXI_ERROR_OUT_OF_MEMORY : PTXI_ERROR_INVALID_VALUE;
}

/* An allocation as the caller requests it. */
struct request {
    ptxiContext ctx;
    ptxiDevice device;
    size_t size;
    enum ptxi_heap_kind kind;
    uint32_t mem_flags;
    unsigned host_flags;
    struct ptxiMemPool_st *pool;
    const struct ptxi_pages *pages; /* NULL: private memory */
    struct ptxi_import *import;
    const struct ptxi_heap_place *place; /* NULL: anywhere */
};

static struct ptxi_heap_block *new_block(const struct request *q)
{
    struct ptxi_heap_block *b = calloc(1, sizeof *b);

    if (b) {
        b->ctx = q->ctx;
        b->device = q->device;
        b->kind = q->kind;
        b->size = q->size;
        b->host_flags = q->host_flags;
        b->pool = q->pool;
        b->claimed = q->kind == PTXI_HEAP_GRAPH;
        b->import = q->import;
    }
    return b;
}

/* Pages of a file are not in a slab. The block has the same place in its first page as in the file. */
static void choose_class(struct ptxi_heap_block *b, const struct request *q)
{
    size_t bytes = b->size + RED_ZONE + (q->pages ? q->pages->offset % PAGE : 0);

    b->size_class = class_of(q->pages && bytes <= SLAB_MAX ? SLAB_MAX + 1 : bytes);
    if (b->kind == PTXI_HEAP_DEVICE && !(q->mem_flags & (PTXI_MEM_MANAGED | PTXI_MEM_HOST)) &&
        is_small(class_bytes(b->size_class)))
        b->family = FAMILY_DEVICE;
}

/* ---- blocks at given addresses; under the lock */

static bool take_free_range_at(unsigned family, unsigned c, uint64_t base, bool *clean)
{
    for (struct free_range **f = &heap.free[family][c], *found; *f; f = &(*f)->next) {
        if ((*f)->base != base)
            continue;
        found = *f;
        *clean = found->clean;
        *f = found->next;
        free(found);
        return true;
    }
    return false;
}

static bool is_quarantined(uint64_t base)
{
    const struct ptxi_heap_block *b = heap.oldest;

    while (b && b->base != base)
        b = b->next;
    return b;
}

/* Maps a range of the heap at its address. */
static bool map_range_at(const struct ptxi_heap_block *b, const struct ptxi_heap_place *at)
{
    void *wanted = (void *)(uintptr_t)at->range_base;
    void *p = mmap(wanted, at->range_size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    if (p != MAP_FAILED && p != wanted) /* by a system that does not know MAP_FIXED_NOREPLACE */
        munmap(p, at->range_size);
    if (p != wanted || !keep_pages(p, at->range_size))
        return false;
    if (is_small(class_bytes(b->size_class)))
        divide_slab(b->family, b->size_class, at->range_base);
#ifdef MADV_HUGEPAGE
    else if (at->range_size >= HUGE_PAGE)
        madvise(p, at->range_size, MADV_HUGEPAGE);
#endif
    return add_free_range(b->family, b->size_class, at->range_base, true);
}

static bool place_block_at(struct ptxi_heap_block *b, const struct ptxi_heap_place *at, bool *clean)
{
    struct ptxi_mem_region range;

    if (at->range_size != mapped_bytes(b->size_class))
        return false;
    if (ptxi_memmap_find(ptxi_state.addresses, at->base, &range) != PTXI_MEMMAP_INSIDE) {
        if (!map_range_at(b, at))
            return false;
    } else if (range.base != at->range_base || range.size != at->range_size) {
        return false;
    }
    while (is_quarantined(at->base))
        release_oldest();
    if (!take_free_range_at(b->family, b->size_class, at->base, clean))
        return false;
    b->base = at->base;
    return true;
}

/* Finds a place for the block. False: no memory. */
static bool place_block(struct ptxi_heap_block *b, const struct request *q, bool *clean)
{
    const struct ptxi_pages *pages = q->pages;

    if (heap.in_use + b->size > ptxi_state.total_memory)
        return false;
    if (q->place)
        return place_block_at(b, q->place, clean);
    b->base = find_range(b->family, b->size_class, clean);
    if (!b->base || !pages)
        return b->base;
    uint64_t range = b->base;

    b->base += pages->offset % PAGE;
    if (ptxi_pages_map(pages, b->base, b->size)) {
        b->pages = *pages;
        *clean = true;
        return true;
    }
    add_free_range(b->family, b->size_class, range, *clean);
    return false;
}

/* The heap's lock keeps the pages of slabs with device memory in place. */
static bool place_and_fill(struct ptxi_heap_block *b, const struct request *q, bool *clean)
{
    pthread_mutex_lock(&heap.lock);
    bool placed = place_block(b, q, clean);

    if (placed)
        heap.in_use += b->size;
    if (placed && b->family == FAMILY_DEVICE)
        fill_block(b, *clean);
    pthread_mutex_unlock(&heap.lock);
    if (placed && b->family != FAMILY_DEVICE && b->pages.source != PTXI_PAGES_IMPORTED)
        fill_block(b, *clean);
    return placed;
}

/* Frees a block that is in no list and not in the memory map. */
static void discard_block(struct ptxi_heap_block *b)
{
    pthread_mutex_lock(&heap.lock);
    heap.in_use -= b->size;
    ptxi_pages_release(&b->pages, b->size);
    bool clean = has_file(b) && drop_pages(b);

    if (!has_file(b))
        add_free_range(b->family, b->size_class, range_of(b), clean);
    pthread_mutex_unlock(&heap.lock);
    free(b);
}

/* Whether the content of the block is undefined until something writes it. Writes of the host and of other processes
 * are not seen. */
static bool starts_undefined(const struct request *q)
{
    return q->ctx && q->ctx->sanitizer & PTXI_SANITIZER_INIT && !(q->mem_flags & (PTXI_MEM_MANAGED | PTXI_MEM_HOST)) &&
           !(q->pages && q->pages->source == PTXI_PAGES_IMPORTED) &&
           (q->kind == PTXI_HEAP_DEVICE || q->kind == PTXI_HEAP_KERNEL || q->kind == PTXI_HEAP_ARRAY);
}

static ptxiResult allocate_block(const struct request *q, struct ptxi_heap_block **block)
{
    if (q->size == 0 || q->size > ptxi_state.total_memory)
        return q->size ? PTXI_ERROR_OUT_OF_MEMORY : PTXI_ERROR_INVALID_VALUE;
    struct ptxi_heap_block *b = new_block(q);
    bool clean = false;

    if (!b)
        return PTXI_ERROR_OUT_OF_MEMORY;
    choose_class(b, q);
    if (!place_and_fill(b, q, &clean)) {
        free(b);
        return q->place ? PTXI_ERROR_INVALID_VALUE : PTXI_ERROR_OUT_OF_MEMORY;
    }
    ptxiResult r = enter_block(b, q->mem_flags | PTXI_MEM_WORDS);

    if (r) {
        discard_block(b);
        return r;
    }
    ptxi_annotation_forget(b->base, b->size); /* the addresses may have been used before */
    if (starts_undefined(q))
        ptxi_init_undefine(b->base, b->size);
    else
        ptxi_init_define(b->base, b->size);
    if (q->kind == PTXI_HEAP_DEVICE || q->kind == PTXI_HEAP_HOST)
        ptxi_allocation_sites_note(b->base, b->size);
    if (ptxi_statistics_on())
        ptxi_statistics_set_memory(ptxi_heap_in_use());
    *block = b;
    return PTXI_SUCCESS;
}

ptxiResult ptxi_heap_alloc(ptxiContext ctx, size_t size, enum ptxi_heap_kind kind, uint32_t mem_flags,
                           unsigned host_flags, struct ptxi_heap_block **block)
{
    return allocate_block(&(struct request){ .ctx = ctx, .device = ctx->device, .size = size, .kind = kind,
                                             .mem_flags = mem_flags, .host_flags = host_flags }, block);
}

ptxiResult ptxi_heap_alloc_at(ptxiContext ctx, const struct ptxi_heap_place *place, struct ptxi_heap_block **block)
{
    return allocate_block(&(struct request){ .ctx = ctx, .device = ctx->device, .size = place->size,
                                             .kind = place->kind, .mem_flags = place->mem_flags,
                                             .host_flags = place->host_flags, .place = place }, block);
}

ptxiResult ptxi_heap_import(ptxiContext ctx, ptxiDevice device, size_t size, const struct ptxi_pages *pages,
                            struct ptxi_import *import, struct ptxi_heap_block **block)
{
    return allocate_block(&(struct request){ .ctx = ctx, .device = device, .size = size, .kind = PTXI_HEAP_IMPORTED,
                                             .mem_flags = PTXI_MEM_RWA, .pages = pages, .import = import }, block);
}

/* Another call may have changed the pool's devices before it could find the block. The caller holds the pool. */
ptxiResult ptxi_heap_alloc_in_pool(ptxiContext ctx, size_t size, struct ptxiMemPool_st *pool,
                                   const struct ptxi_pages *pages, struct ptxi_heap_block **block)
{
    static const uint32_t flags[] = { [PTXI_POOL_HOST] = PTXI_MEM_HOST, [PTXI_POOL_MANAGED] = PTXI_MEM_MANAGED };
    ptxiDevice device = pool->kind == PTXI_POOL_DEVICE ? (ptxiDevice)pool->place : ctx->device;
    uint64_t before = atomic_load(&pool->devices), now;
    ptxiResult r = allocate_block(&(struct request){ .ctx = ctx, .device = device, .size = size,
                                                     .kind = PTXI_HEAP_DEVICE, .pool = pool, .pages = pages,
                                                     .mem_flags = PTXI_MEM_RWA | flags[pool->kind] }, block);

    for (; !r && pool->kind != PTXI_POOL_MANAGED && (now = atomic_load(&pool->devices)) != before; before = now)
        ptxi_memmap_set_devices(ptxi_state.memmap, (*block)->base, now);
    return r;
}

static int compare_places(const void *a, const void *b)
{
    const struct ptxi_heap_place *x = a, *y = b;

    return (x->base > y->base) - (x->base < y->base);
}

static void describe_place(const struct ptxi_heap_block *b, struct ptxi_heap_place *p)
{
    struct ptxi_mem_region region = { .flags = 0 }, range = { .base = 0 };

    ptxi_memmap_find(ptxi_state.memmap, b->base, &region);
    ptxi_memmap_find(ptxi_state.addresses, b->base, &range);
    *p = (struct ptxi_heap_place){ .base = b->base, .size = b->size, .range_base = range.base,
                                   .range_size = range.size, .kind = b->kind, .mem_flags = region.flags,
                                   .host_flags = b->host_flags, .module = b->module,
                                   .special = b->pool || b->graph || b->import ||
                                              b->pages.source != PTXI_PAGES_PRIVATE };
}

bool ptxi_heap_list(ptxiContext ctx, struct ptxi_heap_place **places, size_t *count)
{
    size_t n = 0, k = 0;

    pthread_mutex_lock(&heap.lock);
    pthread_mutex_lock(&ctx->lock);
    for (const struct ptxi_heap_block *b = ctx->blocks; b; b = b->next)
        n++;
    *places = malloc((n + 1) * sizeof **places);
    for (const struct ptxi_heap_block *b = ctx->blocks; b && *places; b = b->next)
        describe_place(b, &(*places)[k++]);
    pthread_mutex_unlock(&ctx->lock);
    pthread_mutex_unlock(&heap.lock);
    if (!*places)
        return false;
    qsort(*places, n, sizeof **places, compare_places);
    *count = n;
    return true;
}

/* Under the lock, without which another thread may free the block. */
static struct ptxi_heap_block *block_at(uint64_t addr, struct ptxi_mem_region *region)
{
    if (ptxi_memmap_find(ptxi_state.memmap, addr, region) != PTXI_MEMMAP_INSIDE)
        return NULL;
    return region->flags & (PTXI_MEM_FREED | PTXI_MEM_OPEN) ? NULL : region->owner;
}

bool ptxi_heap_find(uint64_t addr, struct ptxi_heap_block *block, struct ptxi_mem_region *region)
{
    pthread_mutex_lock(&heap.lock);
    const struct ptxi_heap_block *b = block_at(addr, region);

    if (b) /* without the list, which is under the context's lock */
        memcpy(block, b, offsetof(struct ptxi_heap_block, next));
    pthread_mutex_unlock(&heap.lock);
    return b;
}

/* The context's memory exists while it has blocks, because it is freed after them. */
struct ptxi_heap_block *ptxi_heap_claim(uint64_t addr, enum ptxi_heap_kind kind, ptxiContext ctx)
{
    struct ptxi_mem_region region;

    pthread_mutex_lock(&heap.lock);
    struct ptxi_heap_block *b = block_at(addr, &region);

    if (b &&
        (b->base != addr || b->kind != kind || b->claimed ||
         (ctx ? b->ctx != ctx : ptxi_gate_hold(&b->ctx->gate) != PTXI_SUCCESS)))
        b = NULL;
    if (b)
        b->claimed = true;
    pthread_mutex_unlock(&heap.lock);
    return b;
}

void ptxi_heap_set_claimed(struct ptxi_heap_block *b, bool claimed)
{
    pthread_mutex_lock(&heap.lock);
    b->claimed = claimed;
    pthread_mutex_unlock(&heap.lock);
}

void ptxi_heap_unclaim(struct ptxi_heap_block *b)
{
    assert(b->claimed);
    ptxi_heap_set_claimed(b, false);
}

struct ptxi_graph_memory *ptxi_heap_graph_memory_at(uint64_t addr)
{
    struct ptxi_mem_region region;
    const struct ptxi_heap_block *b = NULL;

    pthread_mutex_lock(&heap.lock);
    if (ptxi_memmap_find(ptxi_state.memmap, addr, &region) == PTXI_MEMMAP_INSIDE && !(region.flags & PTXI_MEM_OPEN))
        b = region.owner;
    struct ptxi_graph_memory *m = b ? b->graph : NULL;

    pthread_mutex_unlock(&heap.lock);
    return m;
}

void ptxi_heap_drop_pages(struct ptxi_heap_block *b)
{
    pthread_mutex_lock(&heap.lock);
    drop_pages(b);
    pthread_mutex_unlock(&heap.lock);
}

/* Frees a block that is in no list any more. */
static void retire_block(struct ptxi_heap_block *b)
{
    struct ptxiMemPool_st *pool = b->pool;
    size_t size = b->size;

    if (b->kind == PTXI_HEAP_REGISTERED) {
        pthread_mutex_lock(&heap.lock);
        ptxi_memmap_remove(ptxi_state.memmap, b->base);
        free(b);
        pthread_mutex_unlock(&heap.lock);
        ptxi_rcu_synchronize(); /* without the lock, because kernels that allocate take it */
        return;
    }
    ptxi_memmap_set_flags(ptxi_state.memmap, b->base, PTXI_MEM_FREED);
    pthread_mutex_lock(&heap.lock);
    assert(heap.in_use >= size);
    heap.in_use -= size;
    b->ctx = NULL;
    ptxi_pages_release(&b->pages, size);
    quarantine_block(b);
    pthread_mutex_unlock(&heap.lock);
    if (pool)
        ptxi_pool_release(pool, size); /* which may close the file of the pages */
}

void ptxi_heap_free(struct ptxi_heap_block *b)
{
    pthread_mutex_lock(&heap.lock);
    if (b->ctx) {
        pthread_mutex_lock(&b->ctx->lock);
        unlink_block(b);
        pthread_mutex_unlock(&b->ctx->lock);
    }
    pthread_mutex_unlock(&heap.lock);
    retire_block(b);
}

/* Removes a block from the context's list. False if the list is empty. *b is NULL if a stream of another context will
 * free the block. */
static bool take_block(ptxiContext ctx, struct ptxi_heap_block **b)
{
    pthread_mutex_lock(&heap.lock);
    pthread_mutex_lock(&ctx->lock);
    struct ptxi_heap_block *first = ctx->blocks;

    if (first)
        unlink_block(first);
    pthread_mutex_unlock(&ctx->lock);
    *b = first;
    if (first && first->claimed) {
        first->ctx = NULL;
        *b = NULL;
    }
    pthread_mutex_unlock(&heap.lock);
    return first;
}

void ptxi_heap_free_all(ptxiContext ctx)
{
    struct ptxi_heap_block *b;

    while (take_block(ctx, &b))
        if (b)
            retire_block(b);
}

ptxiResult ptxi_heap_register(ptxiContext ctx, void *p, size_t size, uint32_t mem_flags, unsigned host_flags)
{
    struct ptxi_heap_block *b = new_block(&(struct request){
        .ctx = ctx, .device = ctx->device, .size = size, .kind = PTXI_HEAP_REGISTERED, .host_flags = host_flags });

    if (!b)
        return PTXI_ERROR_OUT_OF_MEMORY;
    b->base = (uintptr_t)p;
    ptxiResult r = enter_block(b, mem_flags);

    if (r)
        free(b);
    return r;
}

/* ---- memory that other processes use */

/* Writes the name of a block with pages in a file to *name. The caller holds the lock. */
static ptxiResult name_block(struct ptxi_heap_block *b, enum ptxi_shared_kind kind, struct ptxi_shared_name *name)
{
    struct ptxi_shared_part part = { .kind = kind, .device = b->device, .size = b->size };

    return ptxi_pages_name(&b->pages, &part, name) ? PTXI_SUCCESS : PTXI_ERROR_OPERATING_SYSTEM;
}

/* Returns the block at the address if it may have a name of that kind. Under the lock. */
static struct ptxi_heap_block *find_shareable(uint64_t addr, enum ptxi_shared_kind kind)
{
    struct ptxi_mem_region region;
    struct ptxi_heap_block *b = block_at(addr, &region);

    if (!b || b->claimed)
        return NULL;
    bool may = kind == PTXI_SHARED_MEMORY ? ptxi_heap_is_shareable(b, &region)
               : b->pages.source == PTXI_PAGES_OF_POOL && b->base == addr;

    return may ? b : NULL;
}

/* Moves the block to a file. Under the lock, while kernels and copies are stopped. */
static bool share_block(struct ptxi_heap_block *b)
{
    struct ptxi_mem_region range;

    return ptxi_memmap_find(ptxi_state.addresses, b->base, &range) == PTXI_MEMMAP_INSIDE &&
           ptxi_pages_share(&b->pages, b->base, range.base, range.size, is_small(class_bytes(b->size_class)));
}

/* *stop: the block must be moved to a file, while kernels and copies are stopped. */
static ptxiResult try_to_name(uint64_t addr, enum ptxi_shared_kind kind, struct ptxi_shared_name *name, bool *stop)
{
    ptxiResult r = PTXI_SUCCESS;

    pthread_mutex_lock(&heap.lock);
    struct ptxi_heap_block *b = find_shareable(addr, kind);
    bool private = b && b->pages.source == PTXI_PAGES_PRIVATE;

    if (!b)
        r = PTXI_ERROR_INVALID_VALUE;
    else if (private && *stop && !share_block(b))
        r = PTXI_ERROR_OUT_OF_MEMORY;
    else if (!private || *stop)
        r = name_block(b, kind, name);
    *stop = !r && private && !*stop;
    if (!r && !*stop)
        ptxi_init_define(b->base, b->size); /* other processes may write to it */
    pthread_mutex_unlock(&heap.lock);
    return r;
}

ptxiResult ptxi_heap_name(uint64_t addr, enum ptxi_shared_kind kind, struct ptxi_shared_name *name)
{
    bool stop = false;
    ptxiResult r = try_to_name(addr, kind, name, &stop);

    if (!stop)
        return r;
    ptxi_rcu_stop(); /* without the lock, because kernels that allocate take it */
    r = try_to_name(addr, kind, name, &stop);
    ptxi_rcu_resume();
    return r;
}

/* ---- memory of other files */

struct ptxi_heap_block *ptxi_heap_make_mapped(ptxiDevice device, uint64_t base, size_t size)
{
    struct ptxi_heap_block *b = calloc(1, sizeof *b);

    if (b)
        *b = (struct ptxi_heap_block){ .kind = PTXI_HEAP_MAPPED, .device = device, .base = base, .size = size };
    return b;
}

void ptxi_heap_free_mapped(struct ptxi_heap_block *b)
{
    pthread_mutex_lock(&heap.lock); /* no thread is copying it */
    free(b);
    pthread_mutex_unlock(&heap.lock);
}

bool ptxi_heap_reserve(size_t bytes)
{
    pthread_mutex_lock(&heap.lock);
    bool room = bytes <= ptxi_state.total_memory && heap.in_use <= ptxi_state.total_memory - bytes;

    heap.in_use += room ? bytes : 0;
    pthread_mutex_unlock(&heap.lock);
    return room;
}

void ptxi_heap_unreserve(size_t bytes)
{
    pthread_mutex_lock(&heap.lock);
    assert(heap.in_use >= bytes);
    heap.in_use -= bytes;
    pthread_mutex_unlock(&heap.lock);
}

/* ---- memory that kernels allocate */

static size_t counted_bytes(size_t size)
{
    return (size + 15) & ~(size_t)15;
}

/* Counts an allocation. False if it exceeds the limit. */
static bool reserve_kernel_heap(ptxiContext ctx, size_t bytes)
{
    pthread_mutex_lock(&ctx->lock);
    size_t limit = ctx->limits[PTXI_LIMIT_MALLOC_HEAP_SIZE];
    bool room = ctx->kernel_heap <= limit && bytes <= limit - ctx->kernel_heap;

    ctx->kernel_heap += room ? bytes : 0;
    pthread_mutex_unlock(&ctx->lock);
    return room;
}

static void release_kernel_heap(ptxiContext ctx, size_t bytes)
{
    pthread_mutex_lock(&ctx->lock);
    assert(ctx->kernel_heap >= bytes);
    ctx->kernel_heap -= bytes;
    pthread_mutex_unlock(&ctx->lock);
}

/* An allocation of 0 bytes has an address of its own, too. */
static uint64_t kernel_malloc(void *p, uint64_t bytes)
{
    ptxiContext ctx = p;
    struct ptxi_heap_block *b;

    bytes += !bytes;
    if (bytes > SIZE_MAX - 15 || !reserve_kernel_heap(ctx, counted_bytes(bytes)))
        return 0;
    if (ptxi_heap_alloc(ctx, bytes, PTXI_HEAP_KERNEL, PTXI_MEM_RWA, 0, &b)) {
        release_kernel_heap(ctx, counted_bytes(bytes));
        return 0;
    }
    return b->base;
}

static bool was_freed(uint64_t address)
{
    struct ptxi_mem_region region;

    return ptxi_memmap_find(ptxi_state.memmap, address,
                            &region) == PTXI_MEMMAP_INSIDE && region.base == address && region.flags & PTXI_MEM_FREED;
}

/* One free at a time, so that a second free of the same block finds it freed. */
static enum ptxi_heap_result kernel_free(void *p, uint64_t address)
{
    ptxiContext ctx = p;

    pthread_mutex_lock(&ctx->kernel_heap_lock);
    struct ptxi_heap_block *b = ptxi_heap_claim(address, PTXI_HEAP_KERNEL, ctx);
    enum ptxi_heap_result r = PTXI_HEAP_OK;

    if (b) {
        size_t size = b->size;

        ptxi_heap_free(b);
        release_kernel_heap(ctx, counted_bytes(size));
    } else {
        r = was_freed(address) ? PTXI_HEAP_TWICE : PTXI_HEAP_WILD;
    }
    pthread_mutex_unlock(&ctx->kernel_heap_lock);
    return r;
}

const struct ptxi_kernel_heap ptxi_heap_of_kernels = { kernel_malloc, kernel_free };

size_t ptxi_heap_in_use(void)
{
    pthread_mutex_lock(&heap.lock);
    size_t n = heap.in_use;
    pthread_mutex_unlock(&heap.lock);
    return n;
}
