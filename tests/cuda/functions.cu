// A kernel for each expression of functions.def. functions.rec has the results of a GPU.
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

typedef signed char s8_type;
typedef unsigned char u8_type;
typedef short s16_type;
typedef unsigned short u16_type;
typedef int s32_type;
typedef unsigned u32_type;
typedef long long s64_type;
typedef unsigned long long u64_type;
typedef float f32_type;
typedef double f64_type;
typedef __half f16_type;
typedef __nv_bfloat16 bf16_type;

#define FUNCTION(result, operands, name, ...)                                                          \
    extern "C" __global__ void operands##_##name(result##_type *out, const operands##_type *xs,        \
                                                 const operands##_type *ys, const operands##_type *zs) \
    {                                                                                                  \
        unsigned i = blockIdx.x * blockDim.x + threadIdx.x;                                            \
        [[maybe_unused]] operands##_type x = xs[i], y = ys[i], z = zs[i];                              \
                                                                                                       \
        out[i] = (result##_type)(__VA_ARGS__);                                                         \
    }
#include "functions.def"
