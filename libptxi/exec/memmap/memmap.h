/* Which host memory kernels may touch: a map of address ranges, asked on the slow path of a memory access and by the
 * API for every pointer it is given.
 *
 * A worker keeps the region it hit last with the generation it was found under:
 *
 *     if (addr - hit.base < hit.size && gen == ptxi_memmap_generation(map)) ...        the fast path
 *     else if (ptxi_memmap_find(map, addr, &hit) == PTXI_MEMMAP_INSIDE && ptxi_mem_permits(&hit, write)) ...
 *
 * read the generation before the find. It grows whenever a region that was found may no longer be used as it was:
 * on removal and on a change of flags, not when a region is added.
 *
 * Any thread, any number at once. Regions do not overlap; neighbours that touch stay two regions. */
#ifndef PTXI_EXEC_MEMMAP_MEMMAP_H
#define PTXI_EXEC_MEMMAP_MEMMAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PTXI_MEM_READ = 1 << 0,
    PTXI_MEM_WRITE = 1 << 1,
    PTXI_MEM_ATOMIC = 1 << 2,
    PTXI_MEM_RWA = PTXI_MEM_READ | PTXI_MEM_WRITE | PTXI_MEM_ATOMIC,
    PTXI_MEM_HOST = 1 << 3,    /* host memory allocated or registered through the API */
    PTXI_MEM_OPEN = 1 << 4,    /* a range the embedder opened; the API does not take it for device memory */
    PTXI_MEM_FREED = 1 << 5,   /* in quarantine: every access is an error, the memory is still mapped */
    PTXI_MEM_MANAGED = 1 << 6,
    PTXI_MEM_MODULE = 1 << 7,  /* a module's variable */
    PTXI_MEM_WORDS = 1 << 8,   /* it begins with a word, and the rest of its last one is nobody's */
};

struct ptxi_mem_region {
    uint64_t base, size; /* bytes */
    uint32_t flags;
    uint64_t id;         /* 1, 2, ... in the order of addition; never used again */
    void *owner;         /* whoever added it knows what this is */
};

/* Whether kernels may read, and if asked write, the region's memory. */
static inline bool ptxi_mem_permits(const struct ptxi_mem_region *r, bool write)
{
    return r->flags & PTXI_MEM_READ && !(r->flags & PTXI_MEM_FREED) && (!write || r->flags & PTXI_MEM_WRITE);
}

struct ptxi_memmap;

enum ptxi_memmap_hit {
    PTXI_MEMMAP_EMPTY,   /* there is no region at all; *region is not written */
    PTXI_MEMMAP_NEAREST, /* addr is in no region; *region is the one whose nearest byte is closest */
    PTXI_MEMMAP_INSIDE,  /* *region contains addr */
};

struct ptxi_memmap *ptxi_memmap_create(void); /* NULL: memory is short */
void ptxi_memmap_destroy(struct ptxi_memmap *map);

enum ptxi_memmap_result {
    PTXI_MEMMAP_OK,
    PTXI_MEMMAP_OVERLAP, /* the region is empty, runs past the end of the address space or overlaps another */
    PTXI_MEMMAP_OOM,
};

/* Add region->base, size, flags, owner; the id is chosen here and written to the region. */
enum ptxi_memmap_result ptxi_memmap_add(struct ptxi_memmap *map, struct ptxi_mem_region *region);

/* The region that starts at base; false if none does. */
bool ptxi_memmap_remove(struct ptxi_memmap *map, uint64_t base);
bool ptxi_memmap_set_flags(struct ptxi_memmap *map, uint64_t base, uint32_t flags);

enum ptxi_memmap_hit ptxi_memmap_find(struct ptxi_memmap *map, uint64_t addr, struct ptxi_mem_region *region);

/* True if [addr, addr + size) lies in one region, which is copied to *region; a size of 0 asks for addr alone. */
bool ptxi_memmap_covers(struct ptxi_memmap *map, uint64_t addr, uint64_t size, struct ptxi_mem_region *region);

size_t ptxi_memmap_count(struct ptxi_memmap *map);

struct ptxi_memmap_head { /* the part of a map that the inline function sees */
    _Atomic uint64_t generation;
};

static inline uint64_t ptxi_memmap_generation(const struct ptxi_memmap *map)
{
    return atomic_load_explicit(&((const struct ptxi_memmap_head *)map)->generation, memory_order_acquire);
}

#endif
