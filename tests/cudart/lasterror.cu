// The last error of a thread: which calls set it, which clear it, and that each thread has its own.
#include "show.h"
#include "delay.h"

#include <thread>

__global__ void nothing() {}

static void last(const char *after)
{
    cudaError_t peek = cudaPeekAtLastError(), got = cudaGetLastError(), again = cudaGetLastError();

    printf("after %s: %s, %s, %s\n", after, cudaGetErrorName(peek), cudaGetErrorName(got), cudaGetErrorName(again));
}

int main()
{
    void *p;
    volatile int *gate = make_gate();
    cudaEvent_t event;
    int device;

    last("start");
    cudaMalloc((void **)nullptr, 1);
    last("an invalid call");
    cudaMalloc((void **)nullptr, 1);
    MUST(cudaMalloc(&p, 16));
    last("an invalid and a valid call");
    cudaMalloc((void **)nullptr, 1);
    cudaMalloc(&p, (size_t)1 << 50);
    last("two different errors");
    nothing<<<1, 5000>>>();
    last("an invalid launch");
    nothing<<<1, 5000>>>();
    nothing<<<1, 1>>>();
    last("an invalid and a valid launch");
    nothing<<<1, 5000>>>();
    SHOW(cudaDeviceSynchronize());
    last("an invalid launch and cudaDeviceSynchronize");

    MUST(cudaEventCreate(&event));
    wait_for<<<1, 1>>>(gate);
    MUST(cudaEventRecord(event));
    SHOW(cudaEventQuery(event));
    last("cudaEventQuery: not ready");
    SHOW(cudaStreamQuery(0));
    last("cudaStreamQuery: not ready");
    *gate = 1;
    MUST(cudaDeviceSynchronize());

    cudaSetDevice(99);
    last("cudaSetDevice");
    cudaGetDevice(nullptr);
    last("cudaGetDevice");
    cudaGetDeviceCount(nullptr);
    last("cudaGetDeviceCount");
    cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0);
    last("cudaDeviceGetAttribute");
    cudaPointerAttributes a;
    cudaPointerGetAttributes(&a, &device);
    last("cudaPointerGetAttributes of the host");
    cudaFuncGetAttributes(nullptr, (const void *)nothing);
    last("cudaFuncGetAttributes");
    cudaMemcpy(p, p, 16, (cudaMemcpyKind)9);
    last("cudaMemcpy");
    cudaFree((void *)1);
    last("cudaFree");
    cudaGetErrorName((cudaError_t)12345);
    last("cudaGetErrorName");
    cudaGetSymbolAddress(&p, (const void *)&device);
    last("cudaGetSymbolAddress");

    cudaMalloc((void **)nullptr, 1);
    std::thread([] {
        last("start of another thread");
        nothing<<<1, 5000>>>();
    }).join();
    last("the other thread");
    cudaMalloc((void **)nullptr, 1);
    SHOW(cudaDeviceReset());
    last("cudaDeviceReset");
    return 0;
}
