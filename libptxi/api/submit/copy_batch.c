/* Batches of copies: each copy is queued on its own. */
#include "api/submit/submit.h"

#include "api/texture/array.h"

/* The legacy default stream takes no batches. */
static ptxiResult enter_batch(ptxiStream handle)
{
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_enter(handle, &ctx, &s);

    return !r && s == ctx->streams.legacy ? PTXI_ERROR_INVALID_VALUE : r;
}

static bool is_order(int order)
{
    return order >= PTXI_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= PTXI_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

/* Waits until the sources have been read, if they are to be read during the call. */
static ptxiResult finish_batch(ptxiStream stream, bool during_call)
{
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_enter(stream, &ctx, &s);

    return r || !during_call || ptxi_capturing(s) ? r : ptxi_submit_synchronize(stream);
}

/* ---- bytes */

static bool are_attributes(const ptxiMemcpyAttributes *a, const size_t *first, size_t n, size_t count)
{
    if (!a || !first || !n || n > count || first[0])
        return false;
    for (size_t k = 0; k < n; k++)
        if (!is_order((int)a[k].srcAccessOrder) || a[k].flags > PTXI_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE ||
            first[k] >= count || (k && first[k] <= first[k - 1]))
            return false;
    return true;
}

ptxiResult ptxiMemcpyBatchAsync(ptxiDevicePtr *dsts, ptxiDevicePtr *srcs, size_t *sizes, size_t count,
                                ptxiMemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs, ptxiStream hStream)
{
    API_CALL;
    ptxiResult r = enter_batch(hStream);
    bool during_call = false;

    if (r)
        return r;
    if (!dsts || !srcs || !sizes || !count || !are_attributes(attrs, attrsIdxs, numAttrs, count))
        return PTXI_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && !r; i++)
        r = ptxiMemcpyAsync(dsts[i], srcs[i], sizes[i], hStream);
    for (size_t k = 0; k < numAttrs; k++)
        during_call |= attrs[k].srcAccessOrder == PTXI_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    return r ? r : finish_batch(hStream, during_call);
}

/* ---- boxes */

/* One end of a box. */
struct corner {
    ptxiMemoryType type;
    ptxiDevicePtr device;
    ptxiArray array;
    size_t x, y, z, pitch, rows; /* x and pitch in bytes */
};

/* Returns the bytes of an element of the operand. 0: the operand is invalid. */
static size_t element_bytes(const ptxiMemcpy3DOperand *o)
{
    if (o->type != PTXI_MEMCPY_OPERAND_TYPE_ARRAY)
        return o->type == PTXI_MEMCPY_OPERAND_TYPE_POINTER ? 1 : 0;
    const struct ptxiArray_st *a = o->op.array.array;

    return a && !ptxi_handle_use(a, PTXI_HANDLE_ARRAY) ? a->texel : 0;
}

/* False: the numbers are too large. */
static bool read_operand(const ptxiMemcpy3DOperand *o, size_t element, struct corner *c)
{
    if (o->type == PTXI_MEMCPY_OPERAND_TYPE_ARRAY) {
        *c = (struct corner){ .type = PTXI_MEMORYTYPE_ARRAY, .array = o->op.array.array, .y = o->op.array.offset.y,
                              .z = o->op.array.offset.z };
        return !__builtin_mul_overflow(o->op.array.offset.x, element, &c->x);
    }
    *c = (struct corner){ .type = PTXI_MEMORYTYPE_UNIFIED, .device = o->op.ptr.ptr, .rows = o->op.ptr.layerHeight };
    return !__builtin_mul_overflow(o->op.ptr.rowLength, element, &c->pitch);
}

static ptxiResult read_box(const PTXI_MEMCPY3D_BATCH_OP *o, PTXI_MEMCPY3D *box)
{
    size_t from = element_bytes(&o->src), to = element_bytes(&o->dst), element = from > to ? from : to;
    struct corner src, dst;

    if (!from || !to || !is_order((int)o->srcAccessOrder) || o->flags > PTXI_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE ||
        !o->extent.width || !o->extent.height || !o->extent.depth || !read_operand(&o->src, element, &src) ||
        !read_operand(&o->dst, element, &dst))
        return PTXI_ERROR_INVALID_VALUE;
    *box = (PTXI_MEMCPY3D){
        .srcXInBytes = src.x, .srcY = src.y, .srcZ = src.z, .srcMemoryType = src.type, .srcDevice = src.device,
        .srcArray = src.array, .srcPitch = src.pitch, .srcHeight = src.rows, .dstXInBytes = dst.x, .dstY = dst.y,
        .dstZ = dst.z, .dstMemoryType = dst.type, .dstDevice = dst.device, .dstArray = dst.array,
        .dstPitch = dst.pitch, .dstHeight = dst.rows, .Height = o->extent.height, .Depth = o->extent.depth,
    };
    return __builtin_mul_overflow(o->extent.width, element, &box->WidthInBytes) ? PTXI_ERROR_INVALID_VALUE
           : PTXI_SUCCESS;
}

/* A call of its own, which releases its arrays. */
static ptxiResult queue_box(const PTXI_MEMCPY3D_BATCH_OP *o, ptxiStream stream)
{
    API_CALL;
    PTXI_MEMCPY3D box;
    ptxiResult r = read_box(o, &box);

    return r ? r : ptxi_submit_box(true, &box, stream);
}

ptxiResult ptxiMemcpy3DBatchAsync(size_t numOps, PTXI_MEMCPY3D_BATCH_OP *opList, unsigned long long flags,
                                  ptxiStream hStream)
{
    API_CALL;
    ptxiResult r = enter_batch(hStream);
    bool during_call = false;

    if (r || !opList || !numOps || flags)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < numOps && !r; i++) {
        r = queue_box(&opList[i], hStream);
        during_call |= opList[i].srcAccessOrder == PTXI_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    }
    return r ? r : finish_batch(hStream, during_call);
}
