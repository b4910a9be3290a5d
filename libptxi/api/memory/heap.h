/* Device memory: blocks of the host's address space, each of them a region of the memory map.
 *
 * At least 256 bytes after a block belong to no block. A freed block stays mapped and marked for a while before its
 * addresses are used again. This makes stray accesses detectable. The heap never returns address space to the system,
 * because an access that passed its check just before the memory was freed must not fault. */
#ifndef PTXI_API_MEMORY_HEAP_H
#define PTXI_API_MEMORY_HEAP_H

#include "ptxi.h"

#include "api/memory/shared_pages.h"
#include "exec/memmap/memmap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptxi_heap_kind {
    PTXI_HEAP_DEVICE,     /* ptxiMemAlloc */
    PTXI_HEAP_HOST,       /* ptxiMemHostAlloc */
    PTXI_HEAP_REGISTERED, /* the caller's memory */
    PTXI_HEAP_MODULE,     /* a module's variable, or other memory that is zeroed even if PTXI_FILL is set */
    PTXI_HEAP_KERNEL,     /* malloc of a kernel */
    PTXI_HEAP_ARRAY,      /* an array's texels, which kernels cannot address */
    PTXI_HEAP_MAPPED,     /* a mapping of virtual_memory.c, in no context */
    PTXI_HEAP_IMPORTED,   /* an allocation of another process (ipc_memory.c) */
    PTXI_HEAP_GRAPH,      /* memory of a graph's node (graph_memory.h), claimed while it is not allocated */
};

/* The owner of a region in the memory map, other than ranges that the embedder opened. */
struct ptxi_heap_block {
    ptxiContext ctx;                     /* NULL: destroyed; a stream of another context will free the block */
    ptxiDevice device;                   /* the context's, or that of the pool */
    enum ptxi_heap_kind kind;
    uint64_t base;
    size_t size;                         /* bytes requested */
    unsigned host_flags;                 /* of the call that allocated it */
    unsigned size_class;
    unsigned family;                     /* enum family of heap.c */
    struct ptxi_pages pages;
    struct ptxiModule_st *module;        /* the module of this variable, or NULL */
    struct ptxiMemPool_st *pool;         /* the pool that counts it, or NULL */
    struct ptxi_graph_memory *graph;     /* of PTXI_HEAP_GRAPH; under the lock of graph memory */
    bool claimed;                        /* a call or a stream will free it; under the heap's lock */
    struct ptxi_import *import;          /* of PTXI_HEAP_IMPORTED; freed with the block */
    struct ptxi_heap_block *next, **link; /* the context's list, or the quarantine */
};

/* Allocates a block that is aligned to 512 bytes. `mem_flags` are those of the memory map. base/fill.h defines the
 * content. */
ptxiResult ptxi_heap_alloc(ptxiContext ctx, size_t size, enum ptxi_heap_kind kind, uint32_t mem_flags,
                           unsigned host_flags,
                           struct ptxi_heap_block **block);

/* The same for device memory that a pool has counted. Freeing the block releases it from the pool. `pages`: where the
 * pool's file has the block, or NULL. */
ptxiResult ptxi_heap_alloc_in_pool(ptxiContext ctx, size_t size, struct ptxiMemPool_st *pool,
                                   const struct ptxi_pages *pages, struct ptxi_heap_block **block);

/* Makes a block of memory of another process, which belongs to a device of that number. */
ptxiResult ptxi_heap_import(ptxiContext ctx, ptxiDevice device, size_t size, const struct ptxi_pages *pages,
                            struct ptxi_import *import, struct ptxi_heap_block **block);

/* A block and the address space around it, as a snapshot has them. */
struct ptxi_heap_place {
    uint64_t base, size, range_base, range_size; /* range: what was mapped at once */
    uint32_t kind, mem_flags, host_flags;
    const struct ptxiModule_st *module;          /* of ptxi_heap_list(): the module of this variable, or NULL */
    bool special;                                /* likewise: of a pool or a graph, or shared with other processes */
};

/* Lists the context's blocks by address. *places is freed with free(). False: no memory. */
bool ptxi_heap_list(ptxiContext ctx, struct ptxi_heap_place **places, size_t *count);

/* Allocates a block at an address. Maps the range if it is not one of the heap. PTXI_ERROR_INVALID_VALUE: something
 * else has these addresses, or they are not those of a block of this size. */
ptxiResult ptxi_heap_alloc_at(ptxiContext ctx, const struct ptxi_heap_place *place, struct ptxi_heap_block **block);

/* Whether the block is memory of ptxiMemAlloc(), which other processes may open. */
static inline bool ptxi_heap_is_shareable(const struct ptxi_heap_block *b, const struct ptxi_mem_region *region)
{
    return b->kind == PTXI_HEAP_DEVICE && !b->pool && !(region->flags & PTXI_MEM_MANAGED);
}

/* Gives the block that contains the address a name for other processes, or returns that which it has. Its pages are
 * shared from now on. PTXI_ERROR_INVALID_VALUE if it is not shareable (kind PTXI_SHARED_MEMORY), or if the address is
 * not the start of memory from a pool with a file (PTXI_SHARED_POOL_MEMORY). PTXI_ERROR_OUT_OF_MEMORY,
 * PTXI_ERROR_OPERATING_SYSTEM. */
ptxiResult ptxi_heap_name(uint64_t addr, enum ptxi_shared_kind kind, struct ptxi_shared_name *name);
void ptxi_heap_free(struct ptxi_heap_block *b);
void ptxi_heap_free_all(ptxiContext ctx);

/* Copies the block that contains the address, without its links, and its region. The caller gets a copy because
 * another thread may free the block at any time. False if the address is in no block. Freed memory and open ranges are
 * not blocks. */
bool ptxi_heap_find(uint64_t addr, struct ptxi_heap_block *block, struct ptxi_mem_region *region);

/* Finds the block of that kind at the address, for the caller to free. NULL if there is no such block, or another
 * caller has claimed it. The block must belong to `ctx`. If that is NULL it may belong to any context, which the call
 * then holds. */
struct ptxi_heap_block *ptxi_heap_claim(uint64_t addr, enum ptxi_heap_kind kind, ptxiContext ctx);
void ptxi_heap_unclaim(struct ptxi_heap_block *b);
void ptxi_heap_set_claimed(struct ptxi_heap_block *b, bool claimed);

/* Returns the graph's memory that contains the address, whether or not it is accessible. NULL if there is none. The
 * caller holds the lock of graph memory. */
struct ptxi_graph_memory *ptxi_heap_graph_memory_at(uint64_t addr);

/* Returns the pages of a block that nobody uses to the system, if they are not shared with other blocks. */
void ptxi_heap_drop_pages(struct ptxi_heap_block *b);

/* Makes a block of the caller's memory. */
ptxiResult ptxi_heap_register(ptxiContext ctx, void *p, size_t size, uint32_t mem_flags, unsigned host_flags);

/* malloc() and free() of kernels. The callbacks' ctx is a ptxiContext. */
extern const struct ptxi_kernel_heap ptxi_heap_of_kernels;

/* The owner of the region of a mapping. It is freed after its region has been removed from the memory map. */
struct ptxi_heap_block *ptxi_heap_make_mapped(ptxiDevice device, uint64_t base, size_t size); /* NULL: no memory */
void ptxi_heap_free_mapped(struct ptxi_heap_block *b);
/* Whether kernels of the device may access a mapping (virtual_memory.c). */
bool ptxi_heap_has_mappings(ptxiDevice device);

/* Whether a part of the range has addresses of the heap or of reservations, used or not. No other memory of the program
 * has such addresses. */
bool ptxi_heap_has_addresses(uint64_t addr, size_t size);

/* Adds a mapping to these addresses. False: no memory. */
bool ptxi_heap_add_addresses(uint64_t base, size_t size);

/* Counts memory that is not in the heap. False: there is not as much. */
bool ptxi_heap_reserve(size_t bytes);
void ptxi_heap_unreserve(size_t bytes);

size_t ptxi_heap_in_use(void); /* bytes */

#endif
