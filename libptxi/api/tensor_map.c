/* Tensor maps for cp.async.bulk.tensor. */
#include "api/api.h"

#include "exec/tensor.h"

#include <string.h>

_Static_assert(sizeof(ptxiTensorMap) == 128, "a tensor map has 128 bytes");

static bool is_float(ptxiTensorMapDataType t)
{
    return t >= PTXI_TENSOR_MAP_DATA_TYPE_FLOAT16 && t <= PTXI_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

/* What both modes have in common. */
struct request {
    ptxiTensorMap *map;
    ptxiTensorMapDataType type;
    uint32_t rank;
    void *address;
    const uint64_t *dims, *strides;
    const uint32_t *steps;
    ptxiTensorMapInterleave interleave;
    ptxiTensorMapSwizzle swizzle;
    ptxiTensorMapL2promotion promotion;
    ptxiTensorMapFloatOOBfill fill;
};

/* The tensor, dimension by dimension. */
static bool fill_shape(struct ptxi_tensor_map *m, const struct request *q)
{
    for (unsigned d = 0; d < m->rank; d++) {
        if (q->dims[d] < 1 || q->dims[d] > UINT64_C(1) << 32 || (d && (q->steps[d] < 1 || q->steps[d] > 8)))
            return false;
        m->last[d] = (uint32_t)(q->dims[d] - 1);
        m->step[d] = d ? (uint8_t)q->steps[d] : 1;
        if (d + 1 < m->rank && (q->strides[d] % 16 || q->strides[d] >= UINT64_C(1) << 40))
            return false;
        if (d + 1 < m->rank)
            m->stride[d] = q->strides[d];
    }
    return true;
}

static ptxiResult fill_map(struct ptxi_tensor_map *m, const struct request *q, uint32_t least_rank)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    *m = (struct ptxi_tensor_map){ .magic = PTXI_TENSOR_MAGIC, .base = (uintptr_t)q->address, .rank = (uint8_t)q->rank, .type = (uint8_t)q->type,
                                   .swizzle = (uint8_t)q->swizzle, .nan = q->fill };
    if (!q->map || (uintptr_t)q->map % 64 || !q->dims || !q->steps || q->rank < least_rank || q->rank > PTXI_TENSOR_MOST || (q->rank > 1 && !q->strides) || m->base % 16)
        return PTXI_ERROR_INVALID_VALUE;
    if ((unsigned)q->type > PTXI_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B || (unsigned)q->interleave > PTXI_TENSOR_MAP_INTERLEAVE_32B ||
        (unsigned)q->swizzle > PTXI_TENSOR_MAP_SWIZZLE_128B_ATOM_64B || (unsigned)q->promotion > PTXI_TENSOR_MAP_L2_PROMOTION_L2_256B ||
        (unsigned)q->fill > PTXI_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA || (q->fill && !is_float(q->type)))
        return PTXI_ERROR_INVALID_VALUE;
    m->element = (uint8_t)ptxi_tensor_element(q->type);
    if (!m->element || q->interleave || q->swizzle > PTXI_TENSOR_MAP_SWIZZLE_128B || (q->fill && m->element != 2))
        return PTXI_ERROR_NOT_SUPPORTED;
    return fill_shape(m, q) ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
}

/* Checks the row of the box, which is the last thing to be known. */
static ptxiResult write_map(const struct ptxi_tensor_map *m, ptxiTensorMap *to)
{
    unsigned row = m->box[0] * m->element;

    if (row % 16 || (m->swizzle && row > 16u << m->swizzle))
        return PTXI_ERROR_INVALID_VALUE;
    if (m->swizzle && row != 16u << m->swizzle)
        return PTXI_ERROR_NOT_SUPPORTED;
    memset(to, 0, sizeof *to);
    memcpy(to, m, sizeof *m);
    return PTXI_SUCCESS;
}

ptxiResult ptxiTensorMapEncodeTiled(ptxiTensorMap *tensorMap, ptxiTensorMapDataType tensorDataType, uint32_t tensorRank, void *globalAddress,
                                    const uint64_t *globalDim, const uint64_t *globalStrides, const uint32_t *boxDim,
                                    const uint32_t *elementStrides, ptxiTensorMapInterleave interleave, ptxiTensorMapSwizzle swizzle,
                                    ptxiTensorMapL2promotion l2Promotion, ptxiTensorMapFloatOOBfill oobFill)
{
    const struct request q = { tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, elementStrides, interleave, swizzle, l2Promotion, oobFill };
    struct ptxi_tensor_map m;
    ptxiResult r = fill_map(&m, &q, 1);

    if (r)
        return r;
    for (unsigned d = 0; d < m.rank; d++) {
        if (!boxDim || boxDim[d] < 1 || boxDim[d] > 256)
            return PTXI_ERROR_INVALID_VALUE;
        m.box[d] = (uint16_t)boxDim[d];
    }
    return write_map(&m, tensorMap);
}

ptxiResult ptxiTensorMapEncodeIm2col(ptxiTensorMap *tensorMap, ptxiTensorMapDataType tensorDataType, uint32_t tensorRank, void *globalAddress,
                                     const uint64_t *globalDim, const uint64_t *globalStrides, const int *pixelBoxLowerCorner,
                                     const int *pixelBoxUpperCorner, uint32_t channelsPerPixel, uint32_t pixelsPerColumn,
                                     const uint32_t *elementStrides, ptxiTensorMapInterleave interleave, ptxiTensorMapSwizzle swizzle,
                                     ptxiTensorMapL2promotion l2Promotion, ptxiTensorMapFloatOOBfill oobFill)
{
    static const int most[] = { [3] = 1 << 15, [4] = 1 << 7, [5] = 1 << 4 }; /* corners lie below that, and not below its opposite */
    const struct request q = { tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, elementStrides, interleave, swizzle, l2Promotion, oobFill };
    struct ptxi_tensor_map m;
    ptxiResult r = fill_map(&m, &q, 3);

    if (r)
        return r;
    if (!pixelBoxLowerCorner || !pixelBoxUpperCorner || channelsPerPixel < 1 || channelsPerPixel > 256 || pixelsPerColumn < 1 || pixelsPerColumn > PTXI_TENSOR_PIXELS)
        return PTXI_ERROR_INVALID_VALUE;
    for (unsigned d = 0; d < m.rank - 2u; d++) {
        int low = pixelBoxLowerCorner[d], high = pixelBoxUpperCorner[d];

        if (low < -most[m.rank] || low >= most[m.rank] || high < -most[m.rank] || high >= most[m.rank])
            return PTXI_ERROR_INVALID_VALUE;
        m.lower[d] = (int16_t)low;
        m.upper[d] = (int16_t)high;
    }
    m.im2col = true;
    m.pixels = (uint16_t)pixelsPerColumn;
    m.box[0] = (uint16_t)channelsPerPixel;
    return write_map(&m, tensorMap);
}
