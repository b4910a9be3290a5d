// Runtime and driver API in one program (-lcuda): contexts, handles, memory and modules are the same.
#include "show.h"

#include <cuda.h>

__device__ int variable = 12;

__global__ void add(int *p, int value)
{
    *p += value + variable;
}

static CUresult show_driver(const char *call, CUresult r)
{
    const char *name = "?";

    cuGetErrorName(r, &name);
    printf("%s: %s\n", call, name);
    return r;
}
#define DRIVER(...) show_driver(#__VA_ARGS__, __VA_ARGS__)

int main()
{
    CUcontext current = nullptr, primary, own;
    CUdevice device;
    CUdeviceptr p;
    CUstream stream;
    CUfunction f;
    int *q, host = 0, value = 30;
    size_t bytes;
    cudaEvent_t event;

    // The runtime uses the primary context.
    DRIVER(cuCtxGetCurrent(&current));
    DRIVER(cuInit(0));
    DRIVER(cuCtxGetCurrent(&current));
    printf("current: %s\n", current ? "set" : "NULL");
    SHOW(cudaMalloc(&q, sizeof *q));
    DRIVER(cuCtxGetCurrent(&current));
    DRIVER(cuDeviceGet(&device, 0));
    DRIVER(cuDevicePrimaryCtxRetain(&primary, device));
    printf("primary: %d\n", primary == current);

    // Memory and streams of one are used by the other.
    DRIVER(cuMemAlloc(&p, 64));
    DRIVER(cuMemsetD32(p, 5, 16));
    DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    SHOW(cudaEventCreate(&event));
    add<<<1, 1, 0, stream>>>((int *)p, 3);
    SHOW(cudaEventRecord(event, stream));
    DRIVER(cuEventSynchronize(event));
    SHOW(cudaMemcpy(&host, (void *)p, sizeof host, cudaMemcpyDeviceToHost));
    printf("value %d\n", host);
    SHOW(cudaMemset(q, 0, sizeof *q));
    DRIVER(cuMemcpyDtoH(&host, (CUdeviceptr)q, sizeof host));
    printf("value %d\n", host);
    SHOW(cudaStreamDestroy(stream));
    DRIVER(cuMemFree((CUdeviceptr)q));
    SHOW(cudaFree((void *)p));
    cudaFunction_t function;
    SHOW(cudaGetFuncBySymbol(&function, (const void *)add));
    f = function;
    MUST(cudaMallocManaged(&q, sizeof *q));
    *q = 1;
    void *args[] = { &q, &value };
    DRIVER(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, args, nullptr));
    DRIVER(cuCtxSynchronize());
    printf("value %d\n", *q);
    CUmodule module;
    DRIVER(cuFuncGetModule(&module, f));
    DRIVER(cuModuleGetGlobal(&p, &bytes, module, "variable"));
    void *address;
    SHOW(cudaGetSymbolAddress(&address, variable));
    printf("%zu bytes, same address: %d\n", bytes, (void *)p == address);

    // In a context of its own, the program has other instances of the kernels and variables.
    DRIVER(cuCtxCreate(&own, nullptr, 0, device));
    SHOW(cudaMalloc(&q, sizeof *q));
    value = 1000;
    SHOW(cudaMemcpyToSymbol(variable, &value, sizeof value));
    SHOW(cudaMemset(q, 0, sizeof *q));
    add<<<1, 1>>>(q, 1);
    SHOW(cudaMemcpy(&host, q, sizeof host, cudaMemcpyDeviceToHost));
    printf("value in the second context %d\n", host);
    DRIVER(cuCtxPopCurrent(&current));
    printf("popped: %d\n", current == own);
    SHOW(cudaMemcpyFromSymbol(&value, variable, sizeof value));
    printf("variable in the primary context %d\n", value);
    DRIVER(cuCtxDestroy(own));
    DRIVER(cuCtxSetCurrent(nullptr));
    SHOW(cudaMalloc(&q, 16));
    DRIVER(cuCtxGetCurrent(&current));
    printf("primary again: %d\n", current == primary);
    DRIVER(cuDevicePrimaryCtxRelease(device));
    SHOW(cudaGetLastError());
    return 0;
}
