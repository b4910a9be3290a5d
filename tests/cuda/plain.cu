/* A kernel for each function of plain.h. Each thread makes one call. */
#include "plain.h"

#define KERNEL(name, ins, outs) \
    extern "C" __global__ void name(const uint32_t *in, uint64_t *out, int n) \
    { \
        int t = blockIdx.x * blockDim.x + threadIdx.x; \
        if (t < n) \
            name##_one(in + t * ins, out + t * outs); \
    }
PLAIN(KERNEL)
