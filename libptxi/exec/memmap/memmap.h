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
 * Any number of threads may call at once. Regions do not overlap. Adjacent regions stay separate. */
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
    PTXI_MEM_OPEN = 1 << 4,    /* a range that the program has opened; the API does not treat it as device memory */
    PTXI_MEM_FREED = 1 << 5,   /* in quarantine: every access is an error, the memory is still mapped */
    PTXI_MEM_MANAGED = 1 << 6,
    PTXI_MEM_MODULE = 1 << 7,  /* a variable of a module */
    PTXI_MEM_WORDS = 1 << 8,   /* it begins at a word, and the rest of its last word is unused */
};

enum { PTXI_MAX_DEVICES = 32 };

/* Sets of devices. Kernels may access a region if the region's set and that of their context have a common bit. */
#define PTXI_ON_DEVICE(d) (UINT64_C(1) << (d))                            /* the device itself */
#define PTXI_ON_PEER(d) (UINT64_C(1) << ((unsigned)PTXI_MAX_DEVICES + (d))) /* with enabled peer access to it */

struct ptxi_mem_region {
    uint64_t base, size; /* bytes */
    uint64_t devices;    /* that may access it; 0: all */
    uint32_t flags;
    uint64_t id;         /* 1, 2, ... in the order of addition; never reused */
    void *owner;         /* for the caller of ptxi_memmap_add() */
};

/* Whether kernels may read, or, if `write` is set, read and write the region. */
static inline bool ptxi_mem_permits(const struct ptxi_mem_region *r, bool write)
{
    return r->flags & PTXI_MEM_READ && !(r->flags & PTXI_MEM_FREED) && (!write || r->flags & PTXI_MEM_WRITE);
}

static inline bool ptxi_mem_is_accessible(const struct ptxi_mem_region *r, uint64_t devices)
{
    return !r->devices || r->devices & devices;
}

struct ptxi_memmap;

enum ptxi_memmap_hit {
    PTXI_MEMMAP_EMPTY,   /* the map has no regions; *region is not written */
    PTXI_MEMMAP_NEAREST, /* addr is not in a region; *region is the nearest one */
    PTXI_MEMMAP_INSIDE,  /* *region contains addr */
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

/* Whether [addr, addr + size) is in one region, which is copied to *region. If size is 0, whether addr is. */
bool ptxi_memmap_covers(struct ptxi_memmap *map, uint64_t addr, uint64_t size, struct ptxi_mem_region *region);

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
