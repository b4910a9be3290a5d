/* Copies and fills. Each is a work item that moves rows of bytes; a plain copy is one row. */
#include "api/api.h"

#include "exec/memmap.h"

#include <stdlib.h>
#include <string.h>

enum { STAGE_MOST = 64 << 10 }; /* host memory up to this size is copied aside, so that the caller need not wait */

struct rows {
    unsigned char *dst;
    const unsigned char *src; /* NULL: fill */
    size_t dst_pitch, src_pitch, width, height;
    uint32_t value;
    unsigned element; /* bytes of a fill's elements */
};

static void copy_rows(const struct rows *c)
{
    for (size_t y = 0; y < c->height; y++)
        memmove(c->dst + y * c->dst_pitch, c->src + y * c->src_pitch, c->width);
}

static void fill_row(unsigned char *p, const struct rows *c)
{
    size_t n = c->width / c->element;

    switch (c->element) {
    case 1:
        memset(p, (int)c->value, n);
        break;
    case 2:
        for (size_t i = 0; i < n; i++)
            ((uint16_t *)p)[i] = (uint16_t)c->value;
        break;
    default:
        for (size_t i = 0; i < n; i++)
            ((uint32_t *)p)[i] = c->value;
    }
}

static ptxiResult run_rows(void *payload, struct ptxi_failure **failure)
{
    const struct rows *c = payload;

    (void)failure;
    if (c->src)
        copy_rows(c);
    else
        for (size_t y = 0; y < c->height; y++)
            fill_row(c->dst + y * c->dst_pitch, c);
    return PTXI_SUCCESS;
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
static ptxiResult submit(const struct place *p, const struct rows *c, bool wait)
{
    struct ptxi_item *it = ptxi_item_create(sizeof *c, run_rows, NULL);
    uint64_t seq;

    if (!it)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *(struct rows *)ptxi_item_payload(it) = *c;
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
static ptxiResult submit_staged(const struct place *p, struct rows c)
{
    struct ptxi_item *it = ptxi_item_create(sizeof c + c.width, run_rows, NULL);

    if (!it)
        return PTXI_ERROR_OUT_OF_MEMORY;
    struct rows *own = ptxi_item_payload(it);

    c.src = memcpy(own + 1, c.src, c.width);
    *own = c;
    return ptxi_queue_submit(p->stream, it, PTXI_SUBMIT_ASYNC, NULL);
}

/* ---- what the addresses are */

enum side { DEVICE, HOST, EITHER };

enum memory { BAD, KNOWN, PAGEABLE }; /* KNOWN: allocated or registered here; PAGEABLE: other memory of the process */

static enum memory classify(enum side side, const void *p, size_t size)
{
    struct ptxi_mem_region region;
    uint64_t addr = (uintptr_t)p;

    if (!p)
        return BAD;
    if (ptxi_memmap_find(ptxi_state.memmap, addr, &region) != PTXI_MEMMAP_INSIDE || region.flags & PTXI_MEM_OPEN)
        return side == DEVICE ? BAD : PAGEABLE;
    if (region.flags & PTXI_MEM_FREED || size > region.size - (addr - region.base))
        return BAD;
    return KNOWN;
}

/* Bytes from the first to the last of a rectangle; false if they do not fit a size_t. */
static bool extent(size_t pitch, size_t width, size_t height, size_t *bytes)
{
    return !__builtin_mul_overflow(pitch, height - 1, bytes) && !__builtin_add_overflow(*bytes, width, bytes);
}

/* A copy of rows with the checks that all copies share; width and height are not 0. */
static ptxiResult copy(const struct place *p, const struct rows *c, enum side dst, enum side src)
{
    size_t dst_bytes, src_bytes;

    if (!extent(c->dst_pitch, c->width, c->height, &dst_bytes) || !extent(c->src_pitch, c->width, c->height, &src_bytes))
        return PTXI_ERROR_INVALID_VALUE;
    enum memory to = classify(dst, c->dst, dst_bytes), from = classify(src, c->src, src_bytes);

    if (to == BAD || from == BAD)
        return PTXI_ERROR_INVALID_VALUE;
    if (p->async && to == KNOWN && from == PAGEABLE && c->height == 1 && c->width <= STAGE_MOST)
        return submit_staged(p, *c);
    return submit(p, c, to == PAGEABLE || from == PAGEABLE);
}

static ptxiResult copy_line(bool async, ptxiStream stream, const void *dst, enum side dst_side, const void *src,
                            enum side src_side, size_t bytes)
{
    struct place p;
    ptxiResult r = enter(&p, async, stream);
    struct rows c = { .dst = (unsigned char *)dst, .src = src, .width = bytes, .height = 1 };

    if (r || bytes == 0)
        return r;
    return copy(&p, &c, dst_side, src_side);
}

#define PTR(address) ((void *)(uintptr_t)(address))

ptxiResult ptxiMemcpy(ptxiDevicePtr dst, ptxiDevicePtr src, size_t ByteCount)
{
    return copy_line(false, NULL, PTR(dst), EITHER, PTR(src), EITHER, ByteCount);
}

ptxiResult ptxiMemcpyHtoD(ptxiDevicePtr dstDevice, const void *srcHost, size_t ByteCount)
{
    return copy_line(false, NULL, PTR(dstDevice), DEVICE, srcHost, HOST, ByteCount);
}

ptxiResult ptxiMemcpyDtoH(void *dstHost, ptxiDevicePtr srcDevice, size_t ByteCount)
{
    return copy_line(false, NULL, dstHost, HOST, PTR(srcDevice), DEVICE, ByteCount);
}

ptxiResult ptxiMemcpyDtoD(ptxiDevicePtr dstDevice, ptxiDevicePtr srcDevice, size_t ByteCount)
{
    return copy_line(false, NULL, PTR(dstDevice), DEVICE, PTR(srcDevice), DEVICE, ByteCount);
}

ptxiResult ptxiMemcpyAsync(ptxiDevicePtr dst, ptxiDevicePtr src, size_t ByteCount, ptxiStream hStream)
{
    return copy_line(true, hStream, PTR(dst), EITHER, PTR(src), EITHER, ByteCount);
}

ptxiResult ptxiMemcpyHtoDAsync(ptxiDevicePtr dstDevice, const void *srcHost, size_t ByteCount, ptxiStream hStream)
{
    return copy_line(true, hStream, PTR(dstDevice), DEVICE, srcHost, HOST, ByteCount);
}

ptxiResult ptxiMemcpyDtoHAsync(void *dstHost, ptxiDevicePtr srcDevice, size_t ByteCount, ptxiStream hStream)
{
    return copy_line(true, hStream, dstHost, HOST, PTR(srcDevice), DEVICE, ByteCount);
}

ptxiResult ptxiMemcpyDtoDAsync(ptxiDevicePtr dstDevice, ptxiDevicePtr srcDevice, size_t ByteCount, ptxiStream hStream)
{
    return copy_line(true, hStream, PTR(dstDevice), DEVICE, PTR(srcDevice), DEVICE, ByteCount);
}

/* ---- rectangles */

struct corner {
    ptxiMemoryType type;
    const void *host;
    ptxiDevicePtr device;
    size_t x, y, pitch;
};

/* Where a rectangle starts, its pitch and what kind of address it is given by. */
static ptxiResult resolve(const struct corner *c, size_t width, const unsigned char **start, size_t *pitch, enum side *side)
{
    size_t at, end;

    switch ((int)c->type) {
    case PTXI_MEMORYTYPE_HOST:
        *start = c->host;
        *side = HOST;
        break;
    case PTXI_MEMORYTYPE_DEVICE:
        *start = PTR(c->device);
        *side = DEVICE;
        break;
    case PTXI_MEMORYTYPE_UNIFIED:
        *start = PTR(c->device);
        *side = EITHER;
        break;
    case PTXI_MEMORYTYPE_ARRAY:
        return PTXI_ERROR_NOT_SUPPORTED;
    default:
        return PTXI_ERROR_INVALID_VALUE;
    }
    *pitch = c->pitch ? c->pitch : width;
    if (!*start || __builtin_add_overflow(c->x, width, &end) || (c->pitch && end > c->pitch))
        return PTXI_ERROR_INVALID_VALUE;
    if (__builtin_mul_overflow(c->y, *pitch, &at) || __builtin_add_overflow(at, c->x, &at))
        return PTXI_ERROR_INVALID_VALUE;
    *start += at;
    return PTXI_SUCCESS;
}

static ptxiResult copy_2d(bool async, const PTXI_MEMCPY2D *d, ptxiStream stream)
{
    struct place p;
    ptxiResult r = enter(&p, async, stream);
    enum side src_side, dst_side;
    const unsigned char *dst;

    if (r)
        return r;
    if (!d)
        return PTXI_ERROR_INVALID_VALUE;
    struct rows c = { .width = d->WidthInBytes, .height = d->Height };
    struct corner from = { d->srcMemoryType, d->srcHost, d->srcDevice, d->srcXInBytes, d->srcY, d->srcPitch };
    struct corner to = { d->dstMemoryType, d->dstHost, d->dstDevice, d->dstXInBytes, d->dstY, d->dstPitch };

    if (c.width == 0 || c.height == 0)
        return PTXI_SUCCESS;
    if ((r = resolve(&from, c.width, &c.src, &c.src_pitch, &src_side)) ||
        (r = resolve(&to, c.width, &dst, &c.dst_pitch, &dst_side)))
        return r;
    c.dst = (unsigned char *)dst;
    return copy(&p, &c, dst_side, src_side);
}

ptxiResult ptxiMemcpy2D(const PTXI_MEMCPY2D *pCopy)
{
    return copy_2d(false, pCopy, NULL);
}

ptxiResult ptxiMemcpy2DUnaligned(const PTXI_MEMCPY2D *pCopy)
{
    return copy_2d(false, pCopy, NULL);
}

ptxiResult ptxiMemcpy2DAsync(const PTXI_MEMCPY2D *pCopy, ptxiStream hStream)
{
    return copy_2d(true, pCopy, hStream);
}

/* ---- fills */

static ptxiResult fill(bool async, ptxiStream stream, ptxiDevicePtr dst, size_t pitch, unsigned element, uint32_t value,
                       size_t width, size_t height)
{
    struct place p;
    ptxiResult r = enter(&p, async, stream);
    size_t bytes;
    struct rows c = { .dst = PTR(dst), .dst_pitch = pitch, .height = height, .value = value, .element = element };

    if (r || width == 0 || height == 0)
        return r;
    if (__builtin_mul_overflow(width, element, &c.width) || dst % element || (height > 1 && pitch % element))
        return PTXI_ERROR_INVALID_VALUE;
    if (height > 1 && pitch < c.width)
        return PTXI_ERROR_INVALID_VALUE;
    if (!extent(pitch, c.width, height, &bytes) || classify(DEVICE, c.dst, bytes) != KNOWN)
        return PTXI_ERROR_INVALID_VALUE;
    return submit(&p, &c, false);
}

#define FILL(bits, type) \
    ptxiResult ptxiMemsetD##bits(ptxiDevicePtr dstDevice, type value, size_t N) \
    { \
        return fill(false, NULL, dstDevice, 0, bits / 8, value, N, 1); \
    } \
    ptxiResult ptxiMemsetD##bits##Async(ptxiDevicePtr dstDevice, type value, size_t N, ptxiStream hStream) \
    { \
        return fill(true, hStream, dstDevice, 0, bits / 8, value, N, 1); \
    } \
    ptxiResult ptxiMemsetD2D##bits(ptxiDevicePtr dstDevice, size_t dstPitch, type value, size_t Width, size_t Height) \
    { \
        return fill(false, NULL, dstDevice, dstPitch, bits / 8, value, Width, Height); \
    } \
    ptxiResult ptxiMemsetD2D##bits##Async(ptxiDevicePtr dstDevice, size_t dstPitch, type value, size_t Width, \
                                          size_t Height, ptxiStream hStream) \
    { \
        return fill(true, hStream, dstDevice, dstPitch, bits / 8, value, Width, Height); \
    }

FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned int)
