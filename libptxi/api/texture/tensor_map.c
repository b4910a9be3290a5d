/* Creates tensor maps for cp.async.bulk.tensor. The CUDA Driver API, "Tensor Map Object Management", describes the
 * arguments. */
#include "api/context/context.h"

#include "exec/async/tensor_map.h"

#include <assert.h>
#include <string.h>

_Static_assert(sizeof(ptxiTensorMap) == 128, "a tensor map has 128 bytes");

static bool is_float(ptxiTensorMapDataType t)
{
    return t >= PTXI_TENSOR_MAP_DATA_TYPE_FLOAT16 && t <= PTXI_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

/* The arguments that all modes have in common. */
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

/* Sets the sizes, strides and steps of the dimensions. False: an argument is out of range. */
static bool fill_shape(struct ptxi_tensor_map *m, const struct request *q)
{
    unsigned align = q->interleave == PTXI_TENSOR_MAP_INTERLEAVE_32B ? 32 : 16;

    assert(m->rank >= 1 && m->rank <= PTXI_TENSOR_MAX_RANK && m->bits);

    for (unsigned d = 0; d < m->rank; d++) {
        if (q->dims[d] < 1 || q->dims[d] > UINT64_C(1) << 32 || q->steps[d] < 1 || q->steps[d] > 8)
            return false;
        m->last[d] = (uint32_t)(q->dims[d] - 1);
        m->step[d] = (uint8_t)q->steps[d];
        if (d + 1 < m->rank && (q->strides[d] % align || q->strides[d] >= UINT64_C(1) << 40))
            return false;
        if (d + 1 < m->rank)
            m->stride[d] = q->strides[d];
    }
    return m->base % align == 0 && (q->dims[0] * m->bits) % 8 == 0;
}

/* Makes the same checks as the driver. They are recorded in copies.rec. The driver does not check the alignment of the
 * map. */
static ptxiResult fill_map(struct ptxi_tensor_map *m, const struct request *q, uint32_t min_rank)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    bool blackwell;

    if (r)
        return r;
    blackwell = ctx->profile->sm >= 100;
    *m = (struct ptxi_tensor_map){ .magic = PTXI_TENSOR_MAP_MAGIC, .base = (uintptr_t)q->address,
                                   .rank = (uint8_t)q->rank, .type = (uint8_t)q->type,
                                   .interleave = (uint8_t)q->interleave, .nan = q->fill,
                                   .size_class = blackwell ? PTXI_TENSOR_LARGE : 0 };
    if (!q->map || !q->dims || !q->steps || !q->strides || q->rank < (q->interleave ? 3 : min_rank) ||
        q->rank > PTXI_TENSOR_MAX_RANK)
        return PTXI_ERROR_INVALID_VALUE;
    if ((unsigned)q->type > (blackwell ? PTXI_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B
                                       : PTXI_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ) ||
        (unsigned)q->interleave > PTXI_TENSOR_MAP_INTERLEAVE_32B ||
        (unsigned)q->swizzle > (blackwell ? PTXI_TENSOR_MAP_SWIZZLE_128B_ATOM_64B : PTXI_TENSOR_MAP_SWIZZLE_128B) ||
        (unsigned)q->promotion > PTXI_TENSOR_MAP_L2_PROMOTION_L2_256B ||
        (unsigned)q->fill > PTXI_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA || (q->fill && !is_float(q->type)))
        return PTXI_ERROR_INVALID_VALUE;
    m->bits = (uint8_t)ptxi_tensor_map_element_bits(q->type);
    ptxi_tensor_map_set_swizzle(m, q->swizzle);
    return fill_shape(m, q) ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
}

/* Writes the map, after the check of the box's row, which depends on all other arguments. */
static ptxiResult write_map(const struct ptxi_tensor_map *m, ptxiTensorMap *to)
{
    unsigned bits = m->box[0] * m->bits, max_bytes = ptxi_tensor_map_max_row_bytes(m);

    assert(m->magic == PTXI_TENSOR_MAP_MAGIC && m->rank <= PTXI_TENSOR_MAX_RANK);
    if (bits % (16 * 8) || (max_bytes && bits > 8 * max_bytes) || !ptxi_tensor_map_padding_ok(m))
        return PTXI_ERROR_INVALID_VALUE;
    memset(to, 0, sizeof *to);
    memcpy(to, m, sizeof *m);
    return PTXI_SUCCESS;
}

/* Whether the bounding box has a pixel in dimension d + 1. The driver takes sizes from 2^31 on as negative numbers. */
static bool has_pixel(const struct ptxi_tensor_map *m, unsigned d, int low, int high)
{
    assert(d + 1 < m->rank);
    return (int64_t)(int32_t)(m->last[d + 1] + 1) + high - low > 0;
}

/* Sets the size of a column. False: an argument is out of range. */
static bool fill_columns(struct ptxi_tensor_map *m, uint32_t channels, uint32_t pixels)
{
    m->pixels = (uint16_t)pixels;
    m->box[0] = (uint16_t)channels;
    return channels >= 1 && channels <= 256 && pixels >= 1 && pixels <= PTXI_TENSOR_MAX_PIXELS;
}

ptxiResult ptxiTensorMapEncodeTiled(ptxiTensorMap *tensorMap, ptxiTensorMapDataType tensorDataType,
                                    uint32_t tensorRank, void *globalAddress, const uint64_t *globalDim,
                                    const uint64_t *globalStrides, const uint32_t *boxDim,
                                    const uint32_t *elementStrides, ptxiTensorMapInterleave interleave,
                                    ptxiTensorMapSwizzle swizzle, ptxiTensorMapL2promotion l2Promotion,
                                    ptxiTensorMapFloatOOBfill oobFill)
{
    API_CALL;
    const struct request q = { tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides,
                               elementStrides, interleave, swizzle, l2Promotion, oobFill };
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

ptxiResult ptxiTensorMapEncodeIm2col(ptxiTensorMap *tensorMap, ptxiTensorMapDataType tensorDataType,
                                     uint32_t tensorRank, void *globalAddress, const uint64_t *globalDim,
                                     const uint64_t *globalStrides, const int *pixelBoxLowerCorner,
                                     const int *pixelBoxUpperCorner, uint32_t channelsPerPixel,
                                     uint32_t pixelsPerColumn, const uint32_t *elementStrides,
                                     ptxiTensorMapInterleave interleave, ptxiTensorMapSwizzle swizzle,
                                     ptxiTensorMapL2promotion l2Promotion, ptxiTensorMapFloatOOBfill oobFill)
{
    API_CALL;
    static const int limits[] = { [3] = 1 << 15, [4] = 1 << 7, [5] = 1 << 4 }; /* range of corners */
    const struct request q = { tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides,
                               elementStrides, interleave, swizzle, l2Promotion, oobFill };
    struct ptxi_tensor_map m;
    ptxiResult r = fill_map(&m, &q, 3);

    if (r)
        return r;
    if (!pixelBoxLowerCorner || !pixelBoxUpperCorner || !fill_columns(&m, channelsPerPixel, pixelsPerColumn))
        return PTXI_ERROR_INVALID_VALUE;
    assert(m.rank >= 3 && m.rank < sizeof limits / sizeof *limits);
    const int limit = limits[m.rank];

    for (unsigned d = 0; d < m.rank - 2u; d++) {
        int low = pixelBoxLowerCorner[d], high = pixelBoxUpperCorner[d];

        if (low < -limit || low >= limit || high < -limit || high >= limit || !has_pixel(&m, d, low, high))
            return PTXI_ERROR_INVALID_VALUE;
        m.lower[d] = (int16_t)low;
        m.upper[d] = (int16_t)high;
    }
    m.mode = PTXI_TMA_IM2COL;
    return write_map(&m, tensorMap);
}

ptxiResult ptxiTensorMapEncodeIm2colWide(ptxiTensorMap *tensorMap, ptxiTensorMapDataType tensorDataType,
                                         uint32_t tensorRank, void *globalAddress, const uint64_t *globalDim,
                                         const uint64_t *globalStrides, int pixelBoxLowerCornerWidth,
                                         int pixelBoxUpperCornerWidth, uint32_t channelsPerPixel,
                                         uint32_t pixelsPerColumn, const uint32_t *elementStrides,
                                         ptxiTensorMapInterleave interleave, ptxiTensorMapIm2ColWideMode mode,
                                         ptxiTensorMapSwizzle swizzle, ptxiTensorMapL2promotion l2Promotion,
                                         ptxiTensorMapFloatOOBfill oobFill)
{
    API_CALL;
    const struct request q = { tensorMap, tensorDataType, tensorRank, globalAddress, globalDim, globalStrides,
                               elementStrides, interleave, swizzle, l2Promotion, oobFill };
    bool w128 = mode == PTXI_TENSOR_MAP_IM2COL_WIDE_MODE_W128;
    struct ptxi_tensor_map m;
    ptxiResult r = fill_map(&m, &q, 3);

    if (r)
        return r;
    if ((unsigned)mode > PTXI_TENSOR_MAP_IM2COL_WIDE_MODE_W128 || interleave ||
        swizzle == PTXI_TENSOR_MAP_SWIZZLE_32B || swizzle > PTXI_TENSOR_MAP_SWIZZLE_128B_ATOM_32B)
        return PTXI_ERROR_INVALID_VALUE;
    if (pixelBoxLowerCornerWidth != (int16_t)pixelBoxLowerCornerWidth ||
        pixelBoxUpperCornerWidth != (int16_t)pixelBoxUpperCornerWidth ||
        !has_pixel(&m, 0, pixelBoxLowerCornerWidth, pixelBoxUpperCornerWidth) ||
        !fill_columns(&m, channelsPerPixel, w128 ? PTXI_TENSOR_W128_PIXELS : pixelsPerColumn))
        return PTXI_ERROR_INVALID_VALUE;
    m.mode = w128 ? PTXI_TMA_IM2COL_W128 : PTXI_TMA_IM2COL_W;
    m.lower[0] = (int16_t)pixelBoxLowerCornerWidth;
    m.upper[0] = (int16_t)pixelBoxUpperCornerWidth;
    return write_map(&m, tensorMap);
}

ptxiResult ptxiTensorMapReplaceAddress(ptxiTensorMap *tensorMap, void *globalAddress)
{
    API_CALL;
    struct ptxi_tensor_map m;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if (!tensorMap)
        return PTXI_ERROR_INVALID_VALUE;
    memcpy(&m, tensorMap, sizeof m);
    if (m.magic != PTXI_TENSOR_MAP_MAGIC || !globalAddress || (uintptr_t)globalAddress % 16 ||
        (uintptr_t)globalAddress >> 57)
        return PTXI_ERROR_INVALID_VALUE;
    m.base = (uintptr_t)globalAddress;
    memcpy(tensorMap, &m, sizeof m);
    return PTXI_SUCCESS;
}
