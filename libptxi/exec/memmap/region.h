/* A region: a range of host memory that kernels may access. */
#ifndef PTXI_EXEC_MEMMAP_REGION_H
#define PTXI_EXEC_MEMMAP_REGION_H

#include <stdbool.h>
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
    PTXI_MEM_MAPPED = 1 << 9,  /* it forms one region with adjacent regions that have the same flags and devices */
};

enum { PTXI_MAX_DEVICES = 31 };

/* Sets of devices. Kernels may access a region if the region's set and that of their context have a common bit. */
#define PTXI_ON_DEVICE(d) (UINT64_C(1) << (d))                            /* the device itself */
#define PTXI_ON_PEER(d) (UINT64_C(1) << ((unsigned)PTXI_MAX_DEVICES + (d))) /* with enabled peer access to it */
#define PTXI_ON_NO_DEVICE (UINT64_C(1) << 63)                              /* no context has this bit */

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

/* Whether only launches and calls write to the memory, and only at its addresses in the region. The program writes to
 * memory of the host as it likes, and mapped memory may have other addresses. */
static inline bool ptxi_mem_is_of_device(const struct ptxi_mem_region *r)
{
    return !(r->flags & (PTXI_MEM_HOST | PTXI_MEM_MANAGED | PTXI_MEM_OPEN | PTXI_MEM_MAPPED));
}

static inline bool ptxi_mem_is_accessible(const struct ptxi_mem_region *r, uint64_t devices)
{
    return !r->devices || r->devices & devices;
}

#endif
