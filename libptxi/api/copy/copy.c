#include "api/copy/copy.h"

#include "api/check/check.h"
#include "api/memory/heap.h"
#include "api/observe/observe.h"
#include "api/texture/array.h"

#include "exec/check/task.h"

#include <assert.h>
#include <string.h>

/* Up to this number of bytes of host memory is copied into the item, so that the caller need not wait. */
enum { MAX_STAGED = 64 << 10 };

static bool is_device_memory(const void *p)
{
    struct ptxi_mem_region region;
    struct ptxi_heap_block b;

    return ptxi_heap_find((uintptr_t)p, &b, &region) && b.kind != PTXI_HEAP_HOST && b.kind != PTXI_HEAP_REGISTERED;
}

static enum ptxi_copy_direction direction_of(const struct ptxi_rows *rows)
{
    if (!rows->src)
        return PTXI_COPIED_FILL;
    if (is_device_memory(rows->dst))
        return is_device_memory(rows->src) ? PTXI_COPIED_ON_DEVICE : PTXI_COPIED_TO_DEVICE;
    return is_device_memory(rows->src) ? PTXI_COPIED_TO_HOST : PTXI_COPIED_ON_HOST;
}

static ptxiResult run_rows(void *payload, struct ptxi_failure **failure)
{
    const struct ptxi_rows *rows = payload;
    struct ptxi_rows_fault fault;
    ptxiResult r = ptxi_rows_move(rows, NULL, NULL, &fault);

    (void)failure;
    if (!r && ptxi_task_current)
        ptxi_check_rows(rows);
    if (!r && ptxi_statistics_on())
        ptxi_statistics_add_copy(direction_of(rows), (uint64_t)rows->width * rows->height * rows->depth);
    return r;
}

/* Queues the rows. `wait`: the copy uses host memory that the caller may reuse after this call. */
static ptxiResult submit_rows(const struct ptxi_copy_submission *p, const struct ptxi_rows *c, bool wait)
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

/* The same with a copy of the source's bytes in the item. */
static ptxiResult submit_staged(const struct ptxi_copy_submission *p, struct ptxi_rows c)
{
    struct ptxi_item *it = ptxi_item_create(sizeof c + c.width, run_rows, NULL);

    if (!it)
        return PTXI_ERROR_OUT_OF_MEMORY;
    struct ptxi_rows *own = ptxi_item_payload(it);

    c.src = memcpy(own + 1, c.src, c.width);
    *own = c;
    return ptxi_queue_submit(p->stream, it, PTXI_SUBMIT_ASYNC, NULL);
}

/* ---- kinds of memory */

enum memory {
    BAD,
    KNOWN,   /* allocated or registered by the library */
    PAGEABLE /* other memory of the process */
};

static enum memory classify_address(enum ptxi_copy_side side, const void *p, size_t size, bool write)
{
    struct ptxi_mem_region region;
    struct ptxi_heap_block b;
    uint64_t addr = (uintptr_t)p;

    if (!p || side == PTXI_COPY_ARRAY)
        return p ? KNOWN : BAD;
    if (ptxi_memmap_find(ptxi_state.memmap, addr, &region) != PTXI_MEMMAP_INSIDE || region.flags & PTXI_MEM_OPEN)
        return side == PTXI_COPY_DEVICE || ptxi_heap_has_addresses(addr, size) ? BAD : PAGEABLE;
    if (!ptxi_heap_find(addr, &b, &region) || b.claimed || !ptxi_rows_may_access(&region, write) ||
        size > region.size - (addr - region.base))
        return BAD;
    return KNOWN;
}

ptxiResult ptxi_copy_rows(const struct ptxi_copy_submission *p, struct ptxi_rows *c, enum ptxi_copy_side dst,
                          enum ptxi_copy_side src)
{
    size_t dst_bytes, src_bytes;

    if (!ptxi_rows_extent(c->width, c->dst_pitch, c->height, c->dst_slice, c->depth, &dst_bytes) ||
        !ptxi_rows_extent(c->width, c->src_pitch, c->height, c->src_slice, c->depth, &src_bytes))
        return PTXI_ERROR_INVALID_VALUE;
    enum memory to = classify_address(dst, c->dst, dst_bytes, true);
    enum memory from = classify_address(src, c->src, src_bytes, false);

    if (to == BAD || from == BAD)
        return PTXI_ERROR_INVALID_VALUE;
    assert(c->width && c->height && c->depth);
    c->dst_known = to == KNOWN && dst != PTXI_COPY_ARRAY;
    c->src_known = from == KNOWN && src != PTXI_COPY_ARRAY;
    c->dst_array = dst == PTXI_COPY_ARRAY;
    c->src_array = src == PTXI_COPY_ARRAY;
    if (p->async && to == KNOWN && from == PAGEABLE && c->height == 1 && c->depth == 1 && c->width <= MAX_STAGED)
        return submit_staged(p, *c);
    return submit_rows(p, c, to == PAGEABLE || from == PAGEABLE);
}

/* ---- boxes */

struct corner {
    ptxiMemoryType type;
    const void *host;
    ptxiDevicePtr device;
    ptxiArray array;
    size_t x, y, z, pitch, rows;
};

/* The first byte of a box, and the distances of its rows and slices. */
struct start {
    const unsigned char *at;
    size_t pitch, slice;
    enum ptxi_copy_side side;
};

/* A box must be inside its array. */
static ptxiResult resolve_array(const struct corner *c, size_t width, size_t height, size_t depth, struct start *s)
{
    const struct ptxiArray_st *a = c->array;
    ptxiResult r = a ? ptxi_handle_use(a, PTXI_HANDLE_ARRAY) : PTXI_ERROR_INVALID_VALUE;

    if (r)
        return r;
    if (c->x % a->unit || width % a->unit || c->x > a->row || width > a->row - c->x || c->y > a->rows ||
        height > a->rows - c->y ||
        c->z > a->slices || depth > a->slices - c->z)
        return PTXI_ERROR_INVALID_VALUE;
    *s = (struct start){ a->base + c->z * a->slice + c->y * a->pitch + c->x, a->pitch, a->slice, PTXI_COPY_ARRAY };
    return PTXI_SUCCESS;
}

#define PTR(address) ((void *)(uintptr_t)(address))

static ptxiResult resolve_corner(const struct corner *c, size_t width, size_t height, size_t depth, struct start *s)
{
    size_t end, row, at, in_slice;

    switch ((int)c->type) {
    case PTXI_MEMORYTYPE_HOST:
        *s = (struct start){ .at = c->host, .side = PTXI_COPY_HOST };
        break;
    case PTXI_MEMORYTYPE_DEVICE:
        *s = (struct start){ .at = PTR(c->device), .side = PTXI_COPY_DEVICE };
        break;
    case PTXI_MEMORYTYPE_UNIFIED:
        *s = (struct start){ .at = PTR(c->device), .side = PTXI_COPY_EITHER };
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
    bool overflow = __builtin_mul_overflow(c->rows ? c->rows : height, s->pitch, &s->slice);

    overflow |= __builtin_mul_overflow(c->z, s->slice, &at);
    overflow |= __builtin_mul_overflow(c->y, s->pitch, &row);
    overflow |= __builtin_add_overflow(row, c->x, &in_slice);
    overflow |= __builtin_add_overflow(at, in_slice, &at);
    if (overflow)
        return PTXI_ERROR_INVALID_VALUE;
    s->at += at;
    return PTXI_SUCCESS;
}

ptxiResult ptxi_copy_resolve_box(const PTXI_MEMCPY3D *d, struct ptxi_rows *rows, enum ptxi_copy_side *dst,
                                 enum ptxi_copy_side *src)
{
    struct corner from = { d->srcMemoryType, d->srcHost, d->srcDevice, d->srcArray, d->srcXInBytes, d->srcY, d->srcZ,
                           d->srcPitch, d->srcHeight };
    struct corner to = { d->dstMemoryType, d->dstHost, d->dstDevice, d->dstArray, d->dstXInBytes, d->dstY, d->dstZ,
                         d->dstPitch, d->dstHeight };
    struct start source, target;
    ptxiResult r = resolve_corner(&from, d->WidthInBytes, d->Height, d->Depth, &source);

    if (!r)
        r = resolve_corner(&to, d->WidthInBytes, d->Height, d->Depth, &target);
    if (r)
        return r;
    *dst = target.side;
    *src = source.side;
    *rows = (struct ptxi_rows){ .dst = (unsigned char *)target.at, .src = source.at, .dst_pitch = target.pitch,
                                .src_pitch = source.pitch, .dst_slice = target.slice, .src_slice = source.slice,
                                .width = d->WidthInBytes, .height = d->Height, .depth = d->Depth };
    return PTXI_SUCCESS;
}

/* ---- fills */

ptxiResult ptxi_copy_resolve_fill(const PTXI_MEMSET_NODE_PARAMS *d, struct ptxi_rows *rows)
{
    size_t pitch = d->pitch;

    *rows = (struct ptxi_rows){ .dst = PTR(d->dst), .dst_pitch = pitch, .height = d->height, .depth = 1,
                                .dst_known = true, .value = d->value, .element = d->elementSize };
    if (__builtin_mul_overflow(d->width, d->elementSize, &rows->width) || d->dst % d->elementSize)
        return PTXI_ERROR_INVALID_VALUE;
    if (d->height > 1 && (pitch % d->elementSize || pitch < rows->width))
        return PTXI_ERROR_INVALID_VALUE;
    return PTXI_SUCCESS;
}

/* Memory of the host may be that of a pool which permits no device. Devices fill memory of each other. */
static bool is_of_host_only(const void *p, ptxiDevice dev)
{
    struct ptxi_mem_region region;
    struct ptxi_heap_block b;

    return ptxi_heap_find((uintptr_t)p, &b, &region) && region.flags & PTXI_MEM_HOST &&
           !ptxi_mem_is_accessible(&region, PTXI_ON_DEVICE(dev));
}

bool ptxi_copy_may_fill(const struct ptxi_rows *rows, ptxiDevice dev)
{
    size_t bytes;

    return ptxi_rows_extent(rows->width, rows->dst_pitch, rows->height, 0, 1, &bytes) &&
           classify_address(PTXI_COPY_DEVICE, rows->dst, bytes, true) == KNOWN && !is_of_host_only(rows->dst, dev);
}

ptxiResult ptxi_copy_fill(const struct ptxi_copy_submission *p, const struct ptxi_rows *rows)
{
    return submit_rows(p, rows, false);
}
