// Launches: shapes, the errors of invalid configurations, shared memory limits, and the three ways to launch.
#include "show.h"

__global__ void number(int *out)
{
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;

    out[block * (blockDim.x * blockDim.y * blockDim.z) + thread] = block * 1000 + thread;
}

__global__ void __launch_bounds__(64) bounded(int *out)
{
    if (!threadIdx.x)
        out[0] = blockDim.x;
}

__global__ void dynamic_shared(int *out, int n)
{
    extern __shared__ int words[];

    words[n - 1 - threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (!threadIdx.x)
        *out = words[0] + words[n - 1];
}

__global__ void static_shared(int *out)
{
    __shared__ int words[48 * 256];

    words[threadIdx.x * 300] = threadIdx.x;
    __syncthreads();
    *out = words[300];
}

__global__ void many_parameters(int *out, char a, double b, short c, long long d, float3 e, int4 f)
{
    out[0] = a + (int)b + c + (int)d + (int)(e.x + e.y + e.z) + f.x + f.y + f.z + f.w;
}

static int *out;

static void try_shape(dim3 grid, dim3 block, size_t shared = 0)
{
    number<<<grid, block, shared>>>(out);
    cudaError_t e = cudaGetLastError();
    printf("<<<(%u,%u,%u), (%u,%u,%u), %zu>>>: %s\n", grid.x, grid.y, grid.z, block.x, block.y, block.z, shared,
           cudaGetErrorName(e));
    SHOW(cudaDeviceSynchronize());
}

int main()
{
    int host[24] = {};

    MUST(cudaMalloc(&out, 1 << 20));
    number<<<dim3(2, 1, 3), dim3(2, 2, 1)>>>(out);
    fetch(host, out, 24);
    show_ints("number", host, 24);
    try_shape(1, 1024);
    try_shape(1, 1025);
    try_shape(1, dim3(1, 1024, 1));
    try_shape(1, dim3(1, 1, 64));
    try_shape(1, dim3(1, 1, 65));
    try_shape(1, dim3(32, 32, 2));
    try_shape(1, 0);
    try_shape(0, 1);
    try_shape(dim3(1, 0, 1), 1);
    try_shape(dim3(1, 65536, 1), 1);
    try_shape(dim3(1, 1, 65536), 1);
    try_shape(0x80000000u, 1);
    try_shape(1, 1, 48 << 10);
    try_shape(1, 1, (48 << 10) + 1);
    try_shape(1, 1, 1 << 20);
    try_shape(1, 1, (size_t)1 << 32);

    bounded<<<1, 64>>>(out);
    SHOW(cudaGetLastError());
    bounded<<<1, 65>>>(out);
    SHOW(cudaGetLastError());
    fetch(host, out, 1);
    printf("bounded: %d\n", host[0]);

    SHOW(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
    dynamic_shared<<<1, 32, 100 << 10>>>(out, 25600);
    SHOW(cudaGetLastError());
    fetch(host, out, 1);
    printf("dynamic_shared: %d\n", host[0] & 0xff);
    dynamic_shared<<<1, 32, (100 << 10) + 1>>>(out, 32);
    SHOW(cudaGetLastError());
    static_shared<<<1, 32>>>(out);
    SHOW(cudaGetLastError());
    static_shared<<<1, 32, 1>>>(out);
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());

    many_parameters<<<1, 1>>>(out, 1, 2.5, 3, 4LL, make_float3(1, 2, 3), make_int4(5, 6, 7, 8));
    fetch(host, out, 1);
    printf("many_parameters: %d\n", host[0]);

    // The functions that `<<<...>>>` stands for.
    void *arguments[] = { &out };
    SHOW(cudaLaunchKernel((const void *)number, dim3(2), dim3(3), arguments, 0, 0));
    fetch(host, out, 6);
    show_ints("cudaLaunchKernel", host, 6);
    SHOW(cudaLaunchKernel((const void *)nullptr, dim3(1), dim3(1), arguments, 0, 0));
    SHOW(cudaLaunchKernel((const void *)host, dim3(1), dim3(1), arguments, 0, 0));
    SHOW(cudaLaunchKernel((const void *)main, dim3(1), dim3(1), arguments, 0, 0));
    SHOW(cudaGetLastError());
    return 0;
}
