// assert() in a kernel: its error is sticky until the device is reset.
#undef NDEBUG
#include "show.h"

#include <cassert>

__global__ void check(int *p)
{
    *p = 5;
    assert(threadIdx.x != 1);
}

int main()
{
    int *p, host = 0;
    void *q;
    cudaStream_t stream;
    cudaEvent_t event;

    MUST(cudaMalloc(&p, sizeof *p));
    MUST(cudaStreamCreate(&stream));
    MUST(cudaEventCreate(&event));
    check<<<1, 1>>>(p);
    SHOW(cudaDeviceSynchronize());
    check<<<1, 2>>>(p);
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaGetLastError());
    SHOW(cudaGetLastError());
    SHOW(cudaPeekAtLastError());
    SHOW(cudaDeviceSynchronize());
    SHOW(cudaMalloc(&q, 16));
    SHOW(cudaMemcpy(&host, p, sizeof host, cudaMemcpyDeviceToHost));
    SHOW(cudaFree(p));
    SHOW(cudaStreamQuery(stream));
    SHOW(cudaStreamDestroy(stream));
    SHOW(cudaEventDestroy(event));
    check<<<1, 1>>>(p);
    SHOW(cudaGetLastError());
    int device;
    SHOW(cudaGetDevice(&device));
    SHOW(cudaGetDeviceCount(&device));
    SHOW(cudaSetDevice(0));
    SHOW(cudaDeviceReset());
    SHOW(cudaGetLastError());
    if (SHOW(cudaMalloc(&p, sizeof *p)))
        return 0;
    check<<<1, 1>>>(p);
    printf("after the reset: %s\n", cudaGetErrorName(cudaGetLastError()));
    return 0;
}
