/* The memory map: the ranges of host memory that kernels may access. It is used on the slow path of a memory access,
 * and by the API for pointers.
 *
 * A worker keeps the region that it has hit last, and the generation in which it has found it:
 *
 *     if (addr - hit.base < hit.size && gen == ptxi_memmap_generation(map)) ...        the fast path
 *     else if (ptxi_memmap_find(map, addr, &hit) == PTXI_MEMMAP_INSIDE && ptxi_mem_permits(&hit, write)) ...
 *
 * It must read the generation before it calls ptxi_memmap_find(). The generation grows whenever a region may no longer
 * be used as it was found: when it is removed or its flags change, but not when a region is added.
 *
 * Any number of threads may call at once. Regions do not overlap. Adjacent regions stay separate, unless they have the
 * flag PTXI_MEM_MAPPED. */
#ifndef PTXI_EXEC_MEMMAP_MEMMAP_H
#define PTXI_EXEC_MEMMAP_MEMMAP_H

#include "exec/memmap/region.h"

#include <stdatomic.h>
#include <stddef.h>

struct ptxi_memmap;

enum ptxi_memmap_hit {
    PTXI_MEMMAP_EMPTY,   /* the map has no regions; *region is not written */
    PTXI_MEMMAP_NEAREST, /* addr is not in a region; *region is the nearest one */
    PTXI_MEMMAP_INSIDE,  /* *region contains addr; adjacent regions with PTXI_MEM_MAPPED are joined */
};

struct ptxi_memmap *ptxi_memmap_create(void); /* NULL: memory is short */
void ptxi_memmap_destroy(struct ptxi_memmap *map);

enum ptxi_memmap_result {
    PTXI_MEMMAP_OK,
    PTXI_MEMMAP_OVERLAP, /* the region is empty, exceeds the address space or overlaps another one */
    PTXI_MEMMAP_OOM,
};

/* Adds a region with base, size, devices, flags and owner. Writes its id to the region. */
enum ptxi_memmap_result ptxi_memmap_add(struct ptxi_memmap *map, struct ptxi_mem_region *region);

/* Remove the region that starts at base, or set its flags or its devices. False: there is no such region. */
bool ptxi_memmap_remove(struct ptxi_memmap *map, uint64_t base);
bool ptxi_memmap_set_flags(struct ptxi_memmap *map, uint64_t base, uint32_t flags);
bool ptxi_memmap_set_devices(struct ptxi_memmap *map, uint64_t base, uint64_t devices);

/* Makes workers find regions again, because a context can access fewer devices. */
void ptxi_memmap_invalidate(struct ptxi_memmap *map);

enum ptxi_memmap_hit ptxi_memmap_find(struct ptxi_memmap *map, uint64_t addr, struct ptxi_mem_region *region);

/* Whether [addr, addr + size) is in one region, which is copied to *region, or a part of it that covers the range. If
 * size is 0, whether addr is. */
bool ptxi_memmap_covers(struct ptxi_memmap *map, uint64_t addr, uint64_t size, struct ptxi_mem_region *region);

/* Whether a region contains a part of [addr, addr + size). */
bool ptxi_memmap_overlaps(struct ptxi_memmap *map, uint64_t addr, uint64_t size);

/* Number of regions. */
size_t ptxi_memmap_count(struct ptxi_memmap *map);

struct ptxi_memmap_head { /* beginning of struct ptxi_memmap, for the inline function */
    _Atomic uint64_t generation;
};

static inline uint64_t ptxi_memmap_generation(const struct ptxi_memmap *map)
{
    return atomic_load_explicit(&((const struct ptxi_memmap_head *)map)->generation, memory_order_acquire);
}

#endif
