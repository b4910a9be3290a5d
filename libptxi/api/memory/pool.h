/* Memory pools, and memory in the order of a stream that is not under capture. */
#ifndef PTXI_API_MEMORY_POOL_H
#define PTXI_API_MEMORY_POOL_H

#include "api/stream/stream.h"

#include <stdbool.h>

/* Finds the pool, which the call then holds. */
bool ptxi_pool_use(const struct ptxiMemPool_st *p);

/* Checks properties of a node's memory, which is that of a device, and a description of access to memory of the device
 * `own`. */
ptxiResult ptxi_pool_check_properties(const ptxiMemPoolProps *p);
ptxiResult ptxi_pool_check_access(ptxiDevice own, const ptxiMemAccessDesc *a);

/* Allocates from the pool. p NULL: the current pool of the context's device. */
ptxiResult ptxi_pool_allocate(ptxiContext ctx, struct ptxiMemPool_st *p, size_t bytes, ptxiDevicePtr *dptr);

/* Frees memory of a pool or of ptxiMemAlloc() when the stream reaches this point. */
ptxiResult ptxi_pool_free_in_stream(struct ptxiStream_st *s, ptxiDevicePtr dptr);

#endif
