/* Tensor maps for cp.async.bulk.tensor. */
#include "api/api.h"

#include "exec/tensor.h"

#include <string.h>

_Static_assert(sizeof(ptxiTensorMap) == 128, "a tensor map has 128 bytes");

/* Bytes of an element; 0: a type that is not supported. */
static unsigned element_bytes(ptxiTensorMapDataType type)
{
    static const uint8_t bytes[] = {
        [PTXI_TENSOR_MAP_DATA_TYPE_UINT8] = 1,   [PTXI_TENSOR_MAP_DATA_TYPE_UINT16] = 2,  [PTXI_TENSOR_MAP_DATA_TYPE_UINT32] = 4,
        [PTXI_TENSOR_MAP_DATA_TYPE_INT32] = 4,   [PTXI_TENSOR_MAP_DATA_TYPE_UINT64] = 8,  [PTXI_TENSOR_MAP_DATA_TYPE_INT64] = 8,
        [PTXI_TENSOR_MAP_DATA_TYPE_FLOAT16] = 2, [PTXI_TENSOR_MAP_DATA_TYPE_FLOAT32] = 4, [PTXI_TENSOR_MAP_DATA_TYPE_FLOAT64] = 8,
        [PTXI_TENSOR_MAP_DATA_TYPE_BFLOAT16] = 2,
    };

    return (size_t)type < sizeof bytes ? bytes[type] : 0;
}

static bool is_float(ptxiTensorMapDataType t)
{
    return t >= PTXI_TENSOR_MAP_DATA_TYPE_FLOAT16 && t <= PTXI_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

/* The shape, dimension by dimension. */
static bool fill_shape(struct ptxi_tensor_map *m, const uint64_t *dims, const uint64_t *strides, const uint32_t *box, const uint32_t *steps)
{
    for (unsigned d = 0; d < m->rank; d++) {
        if (dims[d] < 1 || dims[d] > UINT64_C(1) << 32 || box[d] < 1 || box[d] > 256 || (d && (steps[d] < 1 || steps[d] > 8)))
            return false;
        m->last[d] = (uint32_t)(dims[d] - 1);
        m->box[d] = (uint16_t)box[d];
        m->step[d] = d ? (uint8_t)steps[d] : 1;
        if (d + 1 < m->rank && (strides[d] % 16 || strides[d] >= UINT64_C(1) << 40))
            return false;
        if (d + 1 < m->rank)
            m->stride[d] = strides[d];
    }
    return m->box[0] * m->element % 16 == 0;
}

ptxiResult ptxiTensorMapEncodeTiled(ptxiTensorMap *tensorMap, ptxiTensorMapDataType tensorDataType, uint32_t tensorRank, void *globalAddress,
                                    const uint64_t *globalDim, const uint64_t *globalStrides, const uint32_t *boxDim,
                                    const uint32_t *elementStrides, ptxiTensorMapInterleave interleave, ptxiTensorMapSwizzle swizzle,
                                    ptxiTensorMapL2promotion l2Promotion, ptxiTensorMapFloatOOBfill oobFill)
{
    struct ptxi_tensor_map m = { .magic = PTXI_TENSOR_MAGIC, .base = (uintptr_t)globalAddress };
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if (!tensorMap || (uintptr_t)tensorMap % 64 || !globalDim || !boxDim || !elementStrides || tensorRank < 1 || tensorRank > PTXI_TENSOR_MOST ||
        (tensorRank > 1 && !globalStrides) || m.base % 16)
        return PTXI_ERROR_INVALID_VALUE;
    if ((unsigned)tensorDataType > PTXI_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B || (unsigned)interleave > PTXI_TENSOR_MAP_INTERLEAVE_32B ||
        (unsigned)swizzle > PTXI_TENSOR_MAP_SWIZZLE_128B_ATOM_64B || (unsigned)l2Promotion > PTXI_TENSOR_MAP_L2_PROMOTION_L2_256B ||
        (unsigned)oobFill > PTXI_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA || (oobFill && !is_float(tensorDataType)))
        return PTXI_ERROR_INVALID_VALUE;
    m.element = (uint8_t)element_bytes(tensorDataType);
    if (!m.element || interleave || swizzle > PTXI_TENSOR_MAP_SWIZZLE_128B || oobFill)
        return PTXI_ERROR_NOT_SUPPORTED;
    m.rank = (uint8_t)tensorRank;
    m.type = (uint8_t)tensorDataType;
    m.swizzle = (uint8_t)swizzle;
    if (!fill_shape(&m, globalDim, globalStrides, boxDim, elementStrides) || (swizzle && m.box[0] * m.element > 16 << swizzle))
        return PTXI_ERROR_INVALID_VALUE;
    if (swizzle && m.box[0] * m.element != 16 << swizzle)
        return PTXI_ERROR_NOT_SUPPORTED;
    memset(tensorMap, 0, sizeof *tensorMap);
    memcpy(tensorMap, &m, sizeof m);
    return PTXI_SUCCESS;
}
