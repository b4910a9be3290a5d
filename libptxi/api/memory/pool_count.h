/* The counters of memory pools. A pool only counts the memory that it has given out; it keeps no memory. The memory of
 * a pool that processes share is in a file. */
#ifndef PTXI_API_MEMORY_POOL_COUNT_H
#define PTXI_API_MEMORY_POOL_COUNT_H

#include "api/handle/handle.h"
#include "exec/memmap/region.h"

#include <stdatomic.h>
#include <stdint.h>

enum ptxi_pool_sharing {
    PTXI_POOL_PRIVATE,
    PTXI_POOL_SHARED,   /* allocations come from the pool's file */
    PTXI_POOL_IMPORTED, /* the file is that of a pool of another process */
};

enum ptxi_pool_kind { PTXI_POOL_DEVICE, PTXI_POOL_HOST, PTXI_POOL_MANAGED };

/* Where a pool has its memory, or would like to have it if the memory is managed. */
enum ptxi_pool_place {
    PTXI_PLACE_DEVICE, /* and the following numbers, one for each device */
    PTXI_PLACE_NONE = PTXI_MAX_DEVICES,
    PTXI_PLACE_HOST,
    PTXI_PLACE_NODE, /* the only NUMA node */
    PTXI_PLACES,
};

struct ptxiMemPool_st {
    struct ptxi_handle handle; /* not used for default pools, which are never destroyed */
    size_t refs;               /* the program's, and one for each allocation */
    enum ptxi_pool_kind kind;
    unsigned place;            /* enum ptxi_pool_place; the number of the device for PTXI_POOL_DEVICE */
    _Atomic uint64_t devices;  /* that may access the memory, as memmap.h defines them */
    size_t most;               /* bytes; 0: no limit */
    enum ptxi_pool_sharing sharing;
    int fd;                    /* the file, unless the pool is private; closed with the last reference */
    uint64_t file_end;         /* of the part of the file that allocations have used */
    int reuse[PTXI_MEMPOOL_ATTR_RELEASE_THRESHOLD];
    uint64_t threshold, used, used_high, reserved_high; /* bytes */
};

extern pthread_mutex_t ptxi_pool_mutex; /* of all pools */

void ptxi_pool_unref_locked(struct ptxiMemPool_st *p);

/* Counts an allocation. False if it exceeds the pool's limit. */
bool ptxi_pool_reserve_locked(struct ptxiMemPool_st *p, size_t bytes);
void ptxi_pool_update_high_locked(struct ptxiMemPool_st *p);

/* The pool of a freed block no longer counts it. */
void ptxi_pool_release(struct ptxiMemPool_st *p, size_t bytes);

#endif
