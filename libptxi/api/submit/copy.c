/* Copies and fills in streams. */
#include "api/submit/submit.h"

#include "api/copy/copy.h"
#include "api/graph/capture.h"
#include "api/memory/graph_memory.h"
#include "api/texture/array.h"

static ptxiResult enter(struct ptxi_copy_submission *p, bool async, ptxiStream handle)
{
    p->async = async;
    return ptxi_stream_enter(handle, &p->ctx, &p->stream);
}

static ptxiMemoryType memory_type(enum ptxi_copy_side side)
{
    switch (side) {
    case PTXI_COPY_DEVICE: return PTXI_MEMORYTYPE_DEVICE;
    case PTXI_COPY_HOST: return PTXI_MEMORYTYPE_HOST;
    default: return PTXI_MEMORYTYPE_UNIFIED;
    }
}

static ptxiResult capture_line(const struct ptxi_copy_submission *p, const struct ptxi_rows *c, enum ptxi_copy_side dst,
                               enum ptxi_copy_side src)
{
    if (dst == PTXI_COPY_ARRAY || src == PTXI_COPY_ARRAY) /* the parameters of a node cannot express this */
        return PTXI_ERROR_NOT_SUPPORTED;
    return ptxi_capture_copy(p->stream,
                             &(PTXI_MEMCPY3D){ .srcMemoryType = memory_type(src), .srcHost = c->src,
                                               .srcDevice = (uintptr_t)c->src,
                                                          .dstMemoryType = memory_type(dst), .dstHost = c->dst,
                                                          .dstDevice = (uintptr_t)c->dst,
                                                          .WidthInBytes = c->width, .Height = 1, .Depth = 1 });
}

static ptxiResult submit_line(bool async, ptxiStream stream, const void *dst, enum ptxi_copy_side dst_side,
                              const void *src,
                            enum ptxi_copy_side src_side, size_t bytes)
{
    struct ptxi_copy_submission p;
    ptxiResult r = enter(&p, async, stream);
    struct ptxi_rows c = { .dst = (unsigned char *)dst, .src = src, .width = bytes, .height = 1, .depth = 1 };

    if (r || bytes == 0)
        return r;
    if (ptxi_capturing(p.stream))
        return capture_line(&p, &c, dst_side, src_side);
    return ptxi_copy_rows(&p, &c, dst_side, src_side);
}

#define PTR(address) ((void *)(uintptr_t)(address))

ptxiResult ptxiMemcpy(ptxiDevicePtr dst, ptxiDevicePtr src, size_t ByteCount)
{
    API_CALL;
    return submit_line(false, NULL, PTR(dst), PTXI_COPY_EITHER, PTR(src), PTXI_COPY_EITHER, ByteCount);
}

ptxiResult ptxiMemcpyHtoD(ptxiDevicePtr dstDevice, const void *srcHost, size_t ByteCount)
{
    API_CALL;
    return submit_line(false, NULL, PTR(dstDevice), PTXI_COPY_DEVICE, srcHost, PTXI_COPY_HOST, ByteCount);
}

ptxiResult ptxiMemcpyDtoH(void *dstHost, ptxiDevicePtr srcDevice, size_t ByteCount)
{
    API_CALL;
    return submit_line(false, NULL, dstHost, PTXI_COPY_HOST, PTR(srcDevice), PTXI_COPY_DEVICE, ByteCount);
}

ptxiResult ptxiMemcpyDtoD(ptxiDevicePtr dstDevice, ptxiDevicePtr srcDevice, size_t ByteCount)
{
    API_CALL;
    return submit_line(false, NULL, PTR(dstDevice), PTXI_COPY_DEVICE, PTR(srcDevice), PTXI_COPY_DEVICE, ByteCount);
}

ptxiResult ptxiMemcpyAsync(ptxiDevicePtr dst, ptxiDevicePtr src, size_t ByteCount, ptxiStream hStream)
{
    API_CALL;
    return submit_line(true, hStream, PTR(dst), PTXI_COPY_EITHER, PTR(src), PTXI_COPY_EITHER, ByteCount);
}

ptxiResult ptxiMemcpyHtoDAsync(ptxiDevicePtr dstDevice, const void *srcHost, size_t ByteCount, ptxiStream hStream)
{
    API_CALL;
    return submit_line(true, hStream, PTR(dstDevice), PTXI_COPY_DEVICE, srcHost, PTXI_COPY_HOST, ByteCount);
}

ptxiResult ptxiMemcpyDtoHAsync(void *dstHost, ptxiDevicePtr srcDevice, size_t ByteCount, ptxiStream hStream)
{
    API_CALL;
    return submit_line(true, hStream, dstHost, PTXI_COPY_HOST, PTR(srcDevice), PTXI_COPY_DEVICE, ByteCount);
}

ptxiResult ptxiMemcpyDtoDAsync(ptxiDevicePtr dstDevice, ptxiDevicePtr srcDevice, size_t ByteCount, ptxiStream hStream)
{
    API_CALL;
    return submit_line(true, hStream, PTR(dstDevice), PTXI_COPY_DEVICE, PTR(srcDevice), PTXI_COPY_DEVICE, ByteCount);
}

/* ---- bytes of the first row of arrays */

/* Finds a range of the first row of an array. */
static ptxiResult find_in_array(const struct ptxiArray_st *a, size_t offset, size_t bytes, void **p)
{
    ptxiResult r = a ? ptxi_handle_use(a, PTXI_HANDLE_ARRAY) : PTXI_ERROR_INVALID_VALUE;

    if (r)
        return r;
    if (bytes && (offset % a->unit || bytes % a->unit || offset > a->row || bytes > a->row - offset))
        return PTXI_ERROR_INVALID_VALUE;
    *p = a->base + (bytes ? offset : 0);
    return PTXI_SUCCESS;
}

static ptxiResult copy_from_array(bool async, ptxiStream stream, void *dst, enum ptxi_copy_side side, ptxiArray array,
                                  size_t offset, size_t bytes)
{
    void *from;
    ptxiResult r = ptxi_api_enter();

    if (!r)
        r = find_in_array(array, offset, bytes, &from);
    return r ? r : submit_line(async, stream, dst, side, from, PTXI_COPY_ARRAY, bytes);
}

static ptxiResult copy_to_array(bool async, ptxiStream stream, ptxiArray array, size_t offset, const void *src,
                                enum ptxi_copy_side side, size_t bytes)
{
    void *to;
    ptxiResult r = ptxi_api_enter();

    if (!r)
        r = find_in_array(array, offset, bytes, &to);
    return r ? r : submit_line(async, stream, to, PTXI_COPY_ARRAY, src, side, bytes);
}

ptxiResult ptxiMemcpyAtoH(void *dstHost, ptxiArray srcArray, size_t srcOffset, size_t ByteCount)
{
    API_CALL;
    return copy_from_array(false, NULL, dstHost, PTXI_COPY_HOST, srcArray, srcOffset, ByteCount);
}

ptxiResult ptxiMemcpyAtoHAsync(void *dstHost, ptxiArray srcArray, size_t srcOffset, size_t ByteCount,
                               ptxiStream hStream)
{
    API_CALL;
    return copy_from_array(true, hStream, dstHost, PTXI_COPY_HOST, srcArray, srcOffset, ByteCount);
}

ptxiResult ptxiMemcpyAtoD(ptxiDevicePtr dstDevice, ptxiArray srcArray, size_t srcOffset, size_t ByteCount)
{
    API_CALL;
    return copy_from_array(false, NULL, PTR(dstDevice), PTXI_COPY_DEVICE, srcArray, srcOffset, ByteCount);
}

ptxiResult ptxiMemcpyHtoA(ptxiArray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount)
{
    API_CALL;
    return copy_to_array(false, NULL, dstArray, dstOffset, srcHost, PTXI_COPY_HOST, ByteCount);
}

ptxiResult ptxiMemcpyHtoAAsync(ptxiArray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount,
                               ptxiStream hStream)
{
    API_CALL;
    return copy_to_array(true, hStream, dstArray, dstOffset, srcHost, PTXI_COPY_HOST, ByteCount);
}

ptxiResult ptxiMemcpyDtoA(ptxiArray dstArray, size_t dstOffset, ptxiDevicePtr srcDevice, size_t ByteCount)
{
    API_CALL;
    return copy_to_array(false, NULL, dstArray, dstOffset, PTR(srcDevice), PTXI_COPY_DEVICE, ByteCount);
}

ptxiResult ptxiMemcpyAtoA(ptxiArray dstArray, size_t dstOffset, ptxiArray srcArray, size_t srcOffset, size_t ByteCount)
{
    API_CALL;
    void *to, *from;
    ptxiResult r = ptxi_api_enter();

    r = r ? r : find_in_array(dstArray, dstOffset, ByteCount, &to);
    r = r ? r : find_in_array(srcArray, srcOffset, ByteCount, &from);
    return r ? r : submit_line(false, NULL, to, PTXI_COPY_ARRAY, from, PTXI_COPY_ARRAY, ByteCount);
}

/* ---- boxes */

ptxiResult ptxi_submit_box(bool async, const PTXI_MEMCPY3D *d, ptxiStream stream)
{
    struct ptxi_copy_submission p;
    struct ptxi_rows rows;
    enum ptxi_copy_side dst, src;
    ptxiResult r = enter(&p, async, stream);

    if (r)
        return r;
    if (!d || (d->srcLOD && d->srcMemoryType == PTXI_MEMORYTYPE_ARRAY) ||
        (d->dstLOD && d->dstMemoryType == PTXI_MEMORYTYPE_ARRAY))
        return PTXI_ERROR_INVALID_VALUE;
    if (!d->WidthInBytes || !d->Height || !d->Depth)
        return PTXI_SUCCESS;
    if ((r = ptxi_copy_resolve_box(d, &rows, &dst, &src)))
        return r;
    return ptxi_capturing(p.stream) ? ptxi_capture_copy(p.stream, d) : ptxi_copy_rows(&p, &rows, dst, src);
}

static ptxiResult copy_2d(bool async, const PTXI_MEMCPY2D *d, ptxiStream stream)
{
    if (!d)
        return ptxi_submit_box(async, NULL, stream);
    return ptxi_submit_box(async,
                           &(PTXI_MEMCPY3D){ .srcXInBytes = d->srcXInBytes, .srcY = d->srcY,
                                             .srcMemoryType = d->srcMemoryType, .srcHost = d->srcHost,
                                             .srcDevice = d->srcDevice, .srcArray = d->srcArray,
                                             .srcPitch = d->srcPitch, .dstXInBytes = d->dstXInBytes,
                                             .dstY = d->dstY, .dstMemoryType = d->dstMemoryType, .dstHost = d->dstHost,
                                             .dstDevice = d->dstDevice,
                                             .dstArray = d->dstArray, .dstPitch = d->dstPitch,
                                             .WidthInBytes = d->WidthInBytes, .Height = d->Height,
                                             .Depth = 1 }, stream);
}

ptxiResult ptxiMemcpy3D(const PTXI_MEMCPY3D *pCopy)
{
    API_CALL;
    return ptxi_submit_box(false, pCopy, NULL);
}

ptxiResult ptxiMemcpy3DAsync(const PTXI_MEMCPY3D *pCopy, ptxiStream hStream)
{
    API_CALL;
    return ptxi_submit_box(true, pCopy, hStream);
}

ptxiResult ptxiMemcpy2D(const PTXI_MEMCPY2D *pCopy)
{
    API_CALL;
    return copy_2d(false, pCopy, NULL);
}

ptxiResult ptxiMemcpy2DUnaligned(const PTXI_MEMCPY2D *pCopy)
{
    API_CALL;
    return copy_2d(false, pCopy, NULL);
}

ptxiResult ptxiMemcpy2DAsync(const PTXI_MEMCPY2D *pCopy, ptxiStream hStream)
{
    API_CALL;
    return copy_2d(true, pCopy, hStream);
}

/* ---- fills */

ptxiResult ptxi_submit_fill(bool async, ptxiStream stream, const PTXI_MEMSET_NODE_PARAMS *d)
{
    struct ptxi_copy_submission p;
    struct ptxi_rows rows;
    ptxiResult r = enter(&p, async, stream);

    if (r || !d->width || !d->height)
        return r;
    if ((r = ptxi_copy_resolve_fill(d, &rows)))
        return r;
    bool captured = ptxi_capturing(p.stream);

    if (!ptxi_copy_may_fill(&rows, p.ctx->device) && !(captured && ptxi_graph_memory_contains(d->dst)))
        return PTXI_ERROR_INVALID_VALUE;
    return captured ? ptxi_capture_set(p.stream, d) : ptxi_copy_fill(&p, &rows);
}

static ptxiResult submit_fill(bool async, ptxiStream stream, ptxiDevicePtr dst, size_t pitch, unsigned element,
                              uint32_t value,
                       size_t width, size_t height)
{
    return ptxi_submit_fill(async, stream, &(PTXI_MEMSET_NODE_PARAMS){ dst, pitch, value, element, width, height });
}

#define FILL(bits, type) \
    ptxiResult ptxiMemsetD##bits(ptxiDevicePtr dstDevice, type value, size_t N) \
    { \
        API_CALL; \
        return submit_fill(false, NULL, dstDevice, 0, bits / 8, value, N, 1); \
    } \
    ptxiResult ptxiMemsetD##bits##Async(ptxiDevicePtr dstDevice, type value, size_t N, ptxiStream hStream) \
    { \
        API_CALL; \
        return submit_fill(true, hStream, dstDevice, 0, bits / 8, value, N, 1); \
    } \
    ptxiResult ptxiMemsetD2D##bits(ptxiDevicePtr dstDevice, size_t dstPitch, type value, size_t Width, size_t Height) \
    { \
        API_CALL; \
        return submit_fill(false, NULL, dstDevice, dstPitch, bits / 8, value, Width, Height); \
    } \
    ptxiResult ptxiMemsetD2D##bits##Async(ptxiDevicePtr dstDevice, size_t dstPitch, type value, size_t Width, \
                                          size_t Height, ptxiStream hStream) \
    { \
        API_CALL; \
        return submit_fill(true, hStream, dstDevice, dstPitch, bits / 8, value, Width, Height); \
    }

FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned int)
