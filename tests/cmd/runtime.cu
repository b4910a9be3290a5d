// A program of the CUDA runtime, which prints 0 2 4 6. tests/cmd/nvcc.sh builds it in several ways.
#include <cstdio>

__global__ void scale(float *x, float a)
{
    x[threadIdx.x] *= a;
}

#ifdef MISSING // a function that no library has
extern "C" cudaError_t cudaMissing();
#else
#define cudaMissing() cudaSuccess
#endif

int main()
{
    float x[4] = { 0, 1, 2, 3 }, *p = nullptr;

    cudaMissing();
    cudaMalloc(&p, sizeof x);
    cudaMemcpy(p, x, sizeof x, cudaMemcpyHostToDevice);
    scale<<<1, 4>>>(p, 2.0f);
    cudaError_t error = cudaMemcpy(x, p, sizeof x, cudaMemcpyDeviceToHost);
    printf("%g %g %g %g\n", x[0], x[1], x[2], x[3]);
    return error != cudaSuccess;
}
