/* Device memory: blocks from the host's address space, each a region of the memory map.
 *
 * A block is followed by at least 256 bytes that belong to nothing, and a freed one stays mapped and marked for a while
 * before its place is used again, so that stray accesses are seen. The address space that the heap once took stays
 * taken: an access that passed its check just before the memory was freed must not fault. */
#ifndef PTXI_API_MEMORY_HEAP_H
#define PTXI_API_MEMORY_HEAP_H

#include "ptxi.h"

#include "exec/memmap/memmap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptxi_heap_kind {
    PTXI_HEAP_DEVICE,     /* ptxiMemAlloc */
    PTXI_HEAP_HOST,       /* ptxiMemHostAlloc */
    PTXI_HEAP_REGISTERED, /* the caller's memory */
    PTXI_HEAP_MODULE,     /* a module's variable, and other memory that begins with zeros whatever PTXI_FILL says */
    PTXI_HEAP_KERNEL,     /* malloc of a kernel */
    PTXI_HEAP_ARRAY,      /* an array's texels, which have no addresses for kernels */
};

/* The owner of a region in the memory map, other than ranges that the embedder opened. */
struct ptxi_heap_block {
    ptxiContext ctx;                     /* NULL: gone, and a stream of another one will free the block */
    enum ptxi_heap_kind kind;
    uint64_t base;
    size_t size;                         /* bytes asked for */
    unsigned host_flags;                 /* of the call that made it */
    unsigned size_class;
    struct ptxiModule_st *module;        /* whose variable it is, or NULL */
    struct ptxiMemPool_st *pool;         /* that counts it, or NULL */
    bool claimed;                        /* a call or a stream will free it; under the heap's lock */
    struct ptxi_heap_block *next, **link; /* the context's list, or the quarantine */
};

/* `mem_flags` are those of the memory map. Aligned to 512 bytes. The content is that of base/fill.h. */
ptxiResult ptxi_heap_alloc(ptxiContext ctx, size_t size, enum ptxi_heap_kind kind, uint32_t mem_flags, unsigned host_flags,
                           struct ptxi_heap_block **block);
void ptxi_heap_free(struct ptxi_heap_block *b);
void ptxi_heap_free_all(ptxiContext ctx);

/* Copy the block that contains the address, without its links, and its region: another thread may free the block at any time.
 * False if the address is in no block. Freed memory and open ranges are not blocks. */
bool ptxi_heap_find(uint64_t addr, struct ptxi_heap_block *block, struct ptxi_mem_region *region);

/* The block of that kind that begins at the address, for the caller to free. NULL if there is no such block, or another caller
 * has claimed it. `ctx` is the context that it must belong to. With NULL it may belong to any, which the call then holds. */
struct ptxi_heap_block *ptxi_heap_claim(uint64_t addr, enum ptxi_heap_kind kind, ptxiContext ctx);
void ptxi_heap_unclaim(struct ptxi_heap_block *b);

/* pool.c: the pool of a block that is freed counts it no longer. */
void ptxi_pool_take_back(struct ptxiMemPool_st *pool, size_t bytes);

/* Make the caller's memory a block. */
ptxiResult ptxi_heap_register(ptxiContext ctx, void *p, size_t size, uint32_t mem_flags, unsigned host_flags);

/* What kernels of a context allocate; the callbacks' ctx is a ptxiContext. */
extern const struct ptxi_kernel_heap ptxi_heap_of_kernels;

size_t ptxi_heap_in_use(void); /* bytes */

#endif
