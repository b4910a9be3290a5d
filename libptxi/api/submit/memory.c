/* Memory in the order of streams, and streams that wait for words in memory or write them. */
#include "api/submit/submit.h"

#include "api/check/check.h"
#include "api/graph/capture.h"
#include "api/memory/graph_memory.h"
#include "api/memory/pool.h"
#include "api/memory/stream_memory.h"

/* ---- allocation */

/* p NULL: the current pool. */
static ptxiResult allocate(ptxiDevicePtr *dptr, size_t bytes, struct ptxiMemPool_st *p, ptxiStream handle)
{
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_enter(handle, &ctx, &s);

    if (r)
        return r;
    if (!dptr)
        return PTXI_ERROR_INVALID_VALUE;
    *dptr = 0;
    if (!bytes)
        return PTXI_SUCCESS;
    if (ptxi_capturing(s))
        return ptxi_capture_allocate(s, bytes, dptr);
    r = ptxi_pool_allocate(ctx, p, bytes, dptr);
    if (!r)
        ptxi_check_stream_allocation(s, *dptr, bytes);
    return r;
}

ptxiResult ptxiMemAllocAsync(ptxiDevicePtr *dptr, size_t bytesize, ptxiStream hStream)
{
    API_CALL;
    return allocate(dptr, bytesize, NULL, hStream);
}

ptxiResult ptxiMemAllocFromPoolAsync(ptxiDevicePtr *dptr, size_t bytesize, ptxiMemoryPool pool, ptxiStream hStream)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    return ptxi_pool_use(pool) ? allocate(dptr, bytesize, pool, hStream) : PTXI_ERROR_INVALID_VALUE;
}

static ptxiResult free_graph_memory(struct ptxiStream_st *s, struct ptxi_graph_memory *m)
{
    return ptxi_graph_memory_owner(m) == PTXI_FREED_BY_OWN_GRAPH ? PTXI_ERROR_INVALID_VALUE
           : ptxi_graph_memory_free_in_stream(m, s);
}

ptxiResult ptxi_submit_free(struct ptxiStream_st *s, ptxiDevicePtr dptr)
{
    struct ptxi_graph_memory *m = ptxi_graph_memory_find(dptr);

    if (!m)
        return ptxi_capturing(s) ? PTXI_ERROR_INVALID_VALUE : ptxi_pool_free_in_stream(s, dptr);
    ptxiResult r = ptxi_capturing(s) ? ptxi_capture_free(s, m) : free_graph_memory(s, m);

    ptxi_graph_memory_unref(m);
    return r;
}

ptxiResult ptxiMemFreeAsync(ptxiDevicePtr dptr, ptxiStream hStream)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_enter(hStream, &ctx, &s);

    return r || !dptr ? r : ptxi_submit_free(s, dptr);
}

/* ---- words */

/* Memory of graphs need not be accessible while the operations are captured. */
static ptxiResult check_operations(const ptxiStreamBatchMemOpParams *p, unsigned count, bool captured)
{
    ptxiResult r = PTXI_SUCCESS;

    for (unsigned i = 0; i < count && !r; i++)
        if (!captured || !ptxi_graph_memory_contains(p[i].address))
            r = ptxi_stream_memory_check(&p[i], 1);
    return r;
}

ptxiResult ptxi_submit_operations(ptxiStream handle, const ptxiStreamBatchMemOpParams *p, unsigned count)
{
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_enter(handle, &ctx, &s);

    if (r)
        return r;
    bool captured = ptxi_capturing(s);

    if ((r = check_operations(p, count, captured)) || !count)
        return r;
    return captured ? ptxi_capture_operations(s, p, count) : ptxi_stream_memory_submit(s, p, count);
}

ptxiResult ptxiStreamBatchMemOp(ptxiStream hStream, unsigned count, ptxiStreamBatchMemOpParams *paramArray,
                                unsigned flags)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_enter(hStream, &ctx, &s);

    if (r)
        return r;
    if (flags || count > PTXI_MAX_MEMORY_OPERATIONS || (count && !paramArray))
        return PTXI_ERROR_INVALID_VALUE;
    return ptxi_submit_operations(hStream, paramArray, count);
}

#define ONE(Name, NAME, type)                                                                                         \
    ptxiResult ptxiStream##Name(ptxiStream hStream, ptxiDevicePtr addr, type value, unsigned flags)                    \
    {                                                                                                                 \
        API_CALL;                                                                                                     \
        return ptxiStreamBatchMemOp(hStream, 1, &(ptxiStreamBatchMemOpParams){ .operation = PTXI_STREAM_MEM_OP_##NAME, \
                                    .address = addr, .value64 = value, .flags = flags }, 0);                           \
    }

ONE(WaitValue32, WAIT_VALUE_32, uint32_t)
ONE(WaitValue64, WAIT_VALUE_64, uint64_t)
ONE(WriteValue32, WRITE_VALUE_32, uint32_t)
ONE(WriteValue64, WRITE_VALUE_64, uint64_t)
