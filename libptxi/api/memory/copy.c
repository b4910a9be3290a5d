/* Copies and fills. Each is a work item that moves rows of bytes; a plain copy is one row. */
#include "api/graph/capture.h"
#include "api/texture/array.h"
#include "api/memory/heap.h"
#include "api/memory/strided_copy.h"

#include <stdlib.h>
#include <string.h>

enum { STAGE_MOST = 64 << 10 }; /* host memory up to this size is copied aside, so that the caller need not wait */

static ptxiResult run_rows(void *payload, struct ptxi_failure **failure)
{
    struct ptxi_rows_fault fault;

    (void)failure;
    return ptxi_rows_move(payload, NULL, NULL, &fault);
}

/* How a call relates to its stream. */
struct place {
    ptxiContext ctx;
    struct ptxiStream_st *stream;
    bool async;
};

static ptxiResult enter(struct place *p, bool async, ptxiStream handle)
{
    ptxiResult r = ptxi_api_context(&p->ctx);

    p->async = async;
    return r ? r : ptxi_api_stream(p->ctx, handle, &p->stream);
}

/* Queue the work. `wait`: host memory that only this call may use is involved. */
static ptxiResult submit(const struct place *p, const struct ptxi_rows *c, bool wait)
{
    struct ptxi_item *it = ptxi_item_create(sizeof *c, run_rows, NULL);
    uint64_t seq;

    if (!it)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *(struct ptxi_rows *)ptxi_item_payload(it) = *c;
    wait |= !p->async;
    ptxiResult r = ptxi_queue_submit(p->stream, it, wait ? PTXI_SUBMIT_WAIT : PTXI_SUBMIT_ASYNC, &seq);

    if (r || !wait)
        return r;
    ptxi_stream_ref(p->stream);
    ptxi_queue_wait(p->stream, seq);
    r = p->async ? PTXI_SUCCESS : ptxi_api_collect(p->ctx, p->stream, seq);
    ptxi_stream_unref(p->stream);
    return r;
}

/* The same with the source's bytes kept in the item itself. */
static ptxiResult submit_staged(const struct place *p, struct ptxi_rows c)
{
    struct ptxi_item *it = ptxi_item_create(sizeof c + c.width, run_rows, NULL);

    if (!it)
        return PTXI_ERROR_OUT_OF_MEMORY;
    struct ptxi_rows *own = ptxi_item_payload(it);

    c.src = memcpy(own + 1, c.src, c.width);
    *own = c;
    return ptxi_queue_submit(p->stream, it, PTXI_SUBMIT_ASYNC, NULL);
}

/* ---- what the addresses are */

enum side { DEVICE, HOST, EITHER, ARRAY };

enum memory { BAD, KNOWN, PAGEABLE }; /* KNOWN: allocated or registered here; PAGEABLE: other memory of the process */

static enum memory classify(enum side side, const void *p, size_t size, bool write)
{
    struct ptxi_mem_region region;
    struct ptxi_heap_block b;
    uint64_t addr = (uintptr_t)p;

    if (!p || side == ARRAY)
        return p ? KNOWN : BAD;
    if (ptxi_memmap_find(ptxi_state.memmap, addr, &region) != PTXI_MEMMAP_INSIDE || region.flags & PTXI_MEM_OPEN)
        return side == DEVICE ? BAD : PAGEABLE;
    if (!ptxi_heap_find(addr, &b, &region) || b.claimed || !ptxi_rows_may_access(&region, write) ||
        size > region.size - (addr - region.base))
        return BAD;
    return KNOWN;
}

/* A copy of rows with the checks that all copies share; width and height are not 0. */
static ptxiResult copy(const struct place *p, struct ptxi_rows *c, enum side dst, enum side src)
{
    size_t dst_bytes, src_bytes;

    if (!ptxi_rows_extent(c->width, c->dst_pitch, c->height, c->dst_slice, c->depth, &dst_bytes) ||
        !ptxi_rows_extent(c->width, c->src_pitch, c->height, c->src_slice, c->depth, &src_bytes))
        return PTXI_ERROR_INVALID_VALUE;
    enum memory to = classify(dst, c->dst, dst_bytes, true), from = classify(src, c->src, src_bytes, false);

    if (to == BAD || from == BAD)
        return PTXI_ERROR_INVALID_VALUE;
    c->dst_known = to == KNOWN && dst != ARRAY;
    c->src_known = from == KNOWN && src != ARRAY;
    if (p->async && to == KNOWN && from == PAGEABLE && c->height == 1 && c->depth == 1 && c->width <= STAGE_MOST)
        return submit_staged(p, *c);
    return submit(p, c, to == PAGEABLE || from == PAGEABLE);
}

static ptxiMemoryType memory_type(enum side side)
{
    return side == DEVICE ? PTXI_MEMORYTYPE_DEVICE : side == HOST ? PTXI_MEMORYTYPE_HOST : PTXI_MEMORYTYPE_UNIFIED;
}

static ptxiResult capture_line(const struct place *p, const struct ptxi_rows *c, enum side dst, enum side src)
{
    if (dst == ARRAY || src == ARRAY) /* which the parameters of a node cannot say */
        return PTXI_ERROR_NOT_SUPPORTED;
    return ptxi_capture_copy(p->stream, &(PTXI_MEMCPY3D){ .srcMemoryType = memory_type(src), .srcHost = c->src, .srcDevice = (uintptr_t)c->src,
                                                          .dstMemoryType = memory_type(dst), .dstHost = c->dst, .dstDevice = (uintptr_t)c->dst,
                                                          .WidthInBytes = c->width, .Height = 1, .Depth = 1 });
}

static ptxiResult copy_line(bool async, ptxiStream stream, const void *dst, enum side dst_side, const void *src,
                            enum side src_side, size_t bytes)
{
    struct place p;
    ptxiResult r = enter(&p, async, stream);
    struct ptxi_rows c = { .dst = (unsigned char *)dst, .src = src, .width = bytes, .height = 1, .depth = 1 };

    if (r || bytes == 0)
        return r;
    if (ptxi_capturing(p.stream))
        return capture_line(&p, &c, dst_side, src_side);
    return copy(&p, &c, dst_side, src_side);
}

#define PTR(address) ((void *)(uintptr_t)(address))

ptxiResult ptxiMemcpy(ptxiDevicePtr dst, ptxiDevicePtr src, size_t ByteCount)
{
    API_CALL;
    return copy_line(false, NULL, PTR(dst), EITHER, PTR(src), EITHER, ByteCount);
}

ptxiResult ptxiMemcpyHtoD(ptxiDevicePtr dstDevice, const void *srcHost, size_t ByteCount)
{
    API_CALL;
    return copy_line(false, NULL, PTR(dstDevice), DEVICE, srcHost, HOST, ByteCount);
}

ptxiResult ptxiMemcpyDtoH(void *dstHost, ptxiDevicePtr srcDevice, size_t ByteCount)
{
    API_CALL;
    return copy_line(false, NULL, dstHost, HOST, PTR(srcDevice), DEVICE, ByteCount);
}

ptxiResult ptxiMemcpyDtoD(ptxiDevicePtr dstDevice, ptxiDevicePtr srcDevice, size_t ByteCount)
{
    API_CALL;
    return copy_line(false, NULL, PTR(dstDevice), DEVICE, PTR(srcDevice), DEVICE, ByteCount);
}

ptxiResult ptxiMemcpyAsync(ptxiDevicePtr dst, ptxiDevicePtr src, size_t ByteCount, ptxiStream hStream)
{
    API_CALL;
    return copy_line(true, hStream, PTR(dst), EITHER, PTR(src), EITHER, ByteCount);
}

ptxiResult ptxiMemcpyHtoDAsync(ptxiDevicePtr dstDevice, const void *srcHost, size_t ByteCount, ptxiStream hStream)
{
    API_CALL;
    return copy_line(true, hStream, PTR(dstDevice), DEVICE, srcHost, HOST, ByteCount);
}

ptxiResult ptxiMemcpyDtoHAsync(void *dstHost, ptxiDevicePtr srcDevice, size_t ByteCount, ptxiStream hStream)
{
    API_CALL;
    return copy_line(true, hStream, dstHost, HOST, PTR(srcDevice), DEVICE, ByteCount);
}

ptxiResult ptxiMemcpyDtoDAsync(ptxiDevicePtr dstDevice, ptxiDevicePtr srcDevice, size_t ByteCount, ptxiStream hStream)
{
    API_CALL;
    return copy_line(true, hStream, PTR(dstDevice), DEVICE, PTR(srcDevice), DEVICE, ByteCount);
}

/* ---- bytes of the first row of arrays */

static ptxiResult within(const struct ptxiArray_st *a, size_t offset, size_t bytes, void **p)
{
    ptxiResult r = a ? ptxi_handle_use(a, PTXI_HANDLE_ARRAY) : PTXI_ERROR_INVALID_VALUE;

    if (r)
        return r;
    if (bytes && (offset % a->unit || bytes % a->unit || offset > a->row || bytes > a->row - offset))
        return PTXI_ERROR_INVALID_VALUE;
    *p = a->base + (bytes ? offset : 0);
    return PTXI_SUCCESS;
}

#define COPY_FROM_ARRAY(name, destination, to, side, async, stream, ...)                        \
    ptxiResult name(destination, ptxiArray srcArray, size_t srcOffset, size_t ByteCount __VA_ARGS__) \
    {                                                                                           \
        API_CALL;                                                                               \
        void *p;                                                                                \
        ptxiResult r = ptxi_api_enter();                                                        \
                                                                                                \
        r = r ? r : within(srcArray, srcOffset, ByteCount, &p);                                 \
        return r ? r : copy_line(async, stream, to, side, p, ARRAY, ByteCount);                 \
    }
#define COPY_TO_ARRAY(name, source, from, side, async, stream, ...)                             \
    ptxiResult name(ptxiArray dstArray, size_t dstOffset, source, size_t ByteCount __VA_ARGS__) \
    {                                                                                           \
        API_CALL;                                                                               \
        void *p;                                                                                \
        ptxiResult r = ptxi_api_enter();                                                        \
                                                                                                \
        r = r ? r : within(dstArray, dstOffset, ByteCount, &p);                                 \
        return r ? r : copy_line(async, stream, p, ARRAY, from, side, ByteCount);               \
    }

COPY_FROM_ARRAY(ptxiMemcpyAtoH, void *dstHost, dstHost, HOST, false, NULL)
COPY_FROM_ARRAY(ptxiMemcpyAtoHAsync, void *dstHost, dstHost, HOST, true, hStream, , ptxiStream hStream)
COPY_FROM_ARRAY(ptxiMemcpyAtoD, ptxiDevicePtr dstDevice, PTR(dstDevice), DEVICE, false, NULL)
COPY_TO_ARRAY(ptxiMemcpyHtoA, const void *srcHost, srcHost, HOST, false, NULL)
COPY_TO_ARRAY(ptxiMemcpyHtoAAsync, const void *srcHost, srcHost, HOST, true, hStream, , ptxiStream hStream)
COPY_TO_ARRAY(ptxiMemcpyDtoA, ptxiDevicePtr srcDevice, PTR(srcDevice), DEVICE, false, NULL)

ptxiResult ptxiMemcpyAtoA(ptxiArray dstArray, size_t dstOffset, ptxiArray srcArray, size_t srcOffset, size_t ByteCount)
{
    API_CALL;
    void *to, *from;
    ptxiResult r = ptxi_api_enter();

    r = r ? r : within(dstArray, dstOffset, ByteCount, &to);
    r = r ? r : within(srcArray, srcOffset, ByteCount, &from);
    return r ? r : copy_line(false, NULL, to, ARRAY, from, ARRAY, ByteCount);
}

/* ---- boxes */

struct corner {
    ptxiMemoryType type;
    const void *host;
    ptxiDevicePtr device;
    ptxiArray array;
    size_t x, y, z, pitch, rows;
};

/* Where the box starts in memory, and the way from row to row and slice to slice. */
struct start {
    const unsigned char *at;
    size_t pitch, slice;
    enum side side;
};

/* A box must lie inside its array. */
static ptxiResult resolve_array(const struct corner *c, size_t width, size_t height, size_t depth, struct start *s)
{
    const struct ptxiArray_st *a = c->array;
    ptxiResult r = a ? ptxi_handle_use(a, PTXI_HANDLE_ARRAY) : PTXI_ERROR_INVALID_VALUE;

    if (r)
        return r;
    if (c->x % a->unit || width % a->unit || c->x > a->row || width > a->row - c->x || c->y > a->rows || height > a->rows - c->y ||
        c->z > a->slices || depth > a->slices - c->z)
        return PTXI_ERROR_INVALID_VALUE;
    *s = (struct start){ a->base + c->z * a->slice + c->y * a->pitch + c->x, a->pitch, a->slice, ARRAY };
    return PTXI_SUCCESS;
}

static ptxiResult resolve(const struct corner *c, size_t width, size_t height, size_t depth, struct start *s)
{
    size_t end, row, at, in_slice;

    switch ((int)c->type) {
    case PTXI_MEMORYTYPE_HOST:
        *s = (struct start){ .at = c->host, .side = HOST };
        break;
    case PTXI_MEMORYTYPE_DEVICE:
        *s = (struct start){ .at = PTR(c->device), .side = DEVICE };
        break;
    case PTXI_MEMORYTYPE_UNIFIED:
        *s = (struct start){ .at = PTR(c->device), .side = EITHER };
        break;
    case PTXI_MEMORYTYPE_ARRAY:
        return resolve_array(c, width, height, depth, s);
    default:
        return PTXI_ERROR_INVALID_VALUE;
    }
    s->pitch = c->pitch ? c->pitch : width;
    if (!s->at || __builtin_add_overflow(c->x, width, &end) || (c->pitch && end > c->pitch))
        return PTXI_ERROR_INVALID_VALUE;
    if (c->rows && c->rows < height)
        return PTXI_ERROR_INVALID_VALUE;
    if (__builtin_mul_overflow(c->rows ? c->rows : height, s->pitch, &s->slice) || __builtin_mul_overflow(c->z, s->slice, &at) ||
        __builtin_mul_overflow(c->y, s->pitch, &row) || __builtin_add_overflow(row, c->x, &in_slice) || __builtin_add_overflow(at, in_slice, &at))
        return PTXI_ERROR_INVALID_VALUE;
    s->at += at;
    return PTXI_SUCCESS;
}

static ptxiResult copy_box(bool async, const PTXI_MEMCPY3D *d, ptxiStream stream)
{
    struct place p;
    ptxiResult r = enter(&p, async, stream);
    struct start src, dst;

    if (r)
        return r;
    if (!d || (d->srcLOD && d->srcMemoryType == PTXI_MEMORYTYPE_ARRAY) || (d->dstLOD && d->dstMemoryType == PTXI_MEMORYTYPE_ARRAY))
        return PTXI_ERROR_INVALID_VALUE;
    struct corner from = { d->srcMemoryType, d->srcHost, d->srcDevice, d->srcArray, d->srcXInBytes, d->srcY, d->srcZ, d->srcPitch, d->srcHeight };
    struct corner to = { d->dstMemoryType, d->dstHost, d->dstDevice, d->dstArray, d->dstXInBytes, d->dstY, d->dstZ, d->dstPitch, d->dstHeight };

    if (!d->WidthInBytes || !d->Height || !d->Depth)
        return PTXI_SUCCESS;
    if ((r = resolve(&from, d->WidthInBytes, d->Height, d->Depth, &src)) || (r = resolve(&to, d->WidthInBytes, d->Height, d->Depth, &dst)))
        return r;
    if (ptxi_capturing(p.stream))
        return ptxi_capture_copy(p.stream, d);
    struct ptxi_rows c = { .dst = (unsigned char *)dst.at, .src = src.at, .dst_pitch = dst.pitch,
                           .src_pitch = src.pitch, .dst_slice = dst.slice, .src_slice = src.slice,
                           .width = d->WidthInBytes, .height = d->Height, .depth = d->Depth };

    return copy(&p, &c, dst.side, src.side);
}

static ptxiResult copy_2d(bool async, const PTXI_MEMCPY2D *d, ptxiStream stream)
{
    if (!d)
        return copy_box(async, NULL, stream);
    return copy_box(async, &(PTXI_MEMCPY3D){ .srcXInBytes = d->srcXInBytes, .srcY = d->srcY, .srcMemoryType = d->srcMemoryType, .srcHost = d->srcHost,
                                             .srcDevice = d->srcDevice, .srcArray = d->srcArray, .srcPitch = d->srcPitch, .dstXInBytes = d->dstXInBytes,
                                             .dstY = d->dstY, .dstMemoryType = d->dstMemoryType, .dstHost = d->dstHost, .dstDevice = d->dstDevice,
                                             .dstArray = d->dstArray, .dstPitch = d->dstPitch, .WidthInBytes = d->WidthInBytes, .Height = d->Height,
                                             .Depth = 1 }, stream);
}

ptxiResult ptxiMemcpy3D(const PTXI_MEMCPY3D *pCopy)
{
    API_CALL;
    return copy_box(false, pCopy, NULL);
}

ptxiResult ptxiMemcpy3DAsync(const PTXI_MEMCPY3D *pCopy, ptxiStream hStream)
{
    API_CALL;
    return copy_box(true, pCopy, hStream);
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

static ptxiResult fill(bool async, ptxiStream stream, ptxiDevicePtr dst, size_t pitch, unsigned element, uint32_t value,
                       size_t width, size_t height)
{
    struct place p;
    ptxiResult r = enter(&p, async, stream);
    size_t bytes;
    struct ptxi_rows c = { .dst = PTR(dst), .dst_pitch = pitch, .height = height, .depth = 1, .dst_known = true,
                           .value = value, .element = element };

    if (r || width == 0 || height == 0)
        return r;
    if (__builtin_mul_overflow(width, element, &c.width) || dst % element || (height > 1 && pitch % element))
        return PTXI_ERROR_INVALID_VALUE;
    if (height > 1 && pitch < c.width)
        return PTXI_ERROR_INVALID_VALUE;
    if (!ptxi_rows_extent(c.width, pitch, height, 0, 1, &bytes) || classify(DEVICE, c.dst, bytes, true) != KNOWN)
        return PTXI_ERROR_INVALID_VALUE;
    if (ptxi_capturing(p.stream))
        return ptxi_capture_set(p.stream, &(PTXI_MEMSET_NODE_PARAMS){ dst, pitch, value, element, width, height });
    return submit(&p, &c, false);
}

#define FILL(bits, type) \
    ptxiResult ptxiMemsetD##bits(ptxiDevicePtr dstDevice, type value, size_t N) \
    { \
        API_CALL; \
        return fill(false, NULL, dstDevice, 0, bits / 8, value, N, 1); \
    } \
    ptxiResult ptxiMemsetD##bits##Async(ptxiDevicePtr dstDevice, type value, size_t N, ptxiStream hStream) \
    { \
        API_CALL; \
        return fill(true, hStream, dstDevice, 0, bits / 8, value, N, 1); \
    } \
    ptxiResult ptxiMemsetD2D##bits(ptxiDevicePtr dstDevice, size_t dstPitch, type value, size_t Width, size_t Height) \
    { \
        API_CALL; \
        return fill(false, NULL, dstDevice, dstPitch, bits / 8, value, Width, Height); \
    } \
    ptxiResult ptxiMemsetD2D##bits##Async(ptxiDevicePtr dstDevice, size_t dstPitch, type value, size_t Width, \
                                          size_t Height, ptxiStream hStream) \
    { \
        API_CALL; \
        return fill(true, hStream, dstDevice, dstPitch, bits / 8, value, Width, Height); \
    }

FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned int)
