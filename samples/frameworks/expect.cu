// A kernel that checks itself: thread 2 of block 1 finds a wrong value.
#include "ptxi_device.h"

extern "C" __global__ void check(const int *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    PTXI_EXPECT(x != nullptr);
    PTXI_EXPECT(x[i] == 3 * i);
}
