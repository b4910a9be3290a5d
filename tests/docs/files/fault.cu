// A program with an error, which the pages run.
#include <cstdio>

template <typename T> __global__ void scale(T *x, T by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) // one too many
        x[i] *= by;
}

static void run_scale(float *x, int n)
{
    scale<<<4, 256>>>(x, 2.0f, n);
}

int main()
{
    float *x;

    cudaMalloc(&x, 4000);
    run_scale(x, 1000);
    return cudaDeviceSynchronize() == cudaSuccess;
}
