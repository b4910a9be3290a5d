/* Functions of CUDA's mathematical library, which nvcc links into kernels. */
#include "maths.h"

#define STORE(call, ulps) o[k++] = call;

extern "C" __global__ void floats(const float *in, float *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, k = 0;

    if (t >= n)
        return;
    float x = in[4 * t], y = in[4 * t + 1], big = in[4 * t + 2], unit = in[4 * t + 3], *o = out + MATHS_RESULTS * t;
    MATHS_FLOAT(STORE)
}

extern "C" __global__ void doubles(const double *in, double *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, k = 0;

    if (t >= n)
        return;
    double x = in[4 * t], y = in[4 * t + 1], big = in[4 * t + 2], unit = in[4 * t + 3], *o = out + MATHS_RESULTS * t;
    MATHS_DOUBLE(STORE)
}
