// Page-locked memory: kernels use it through its device pointer (zero copy); registered memory of the program; flags.
#include "show.h"

__global__ void increment(int *p)
{
    p[threadIdx.x]++;
}

int main()
{
    int *host, *device, *own = (int *)aligned_alloc(4096, 8192);
    unsigned flags = 77;

    SHOW(cudaHostAlloc(&host, 4096, cudaHostAllocMapped));
    SHOW(cudaHostGetDevicePointer(&device, host, 0));
    printf("same pointer: %d\n", host == device);
    for (int i = 0; i < 32; i++)
        host[i] = i;
    increment<<<1, 32>>>(device);
    SHOW(cudaDeviceSynchronize());
    show_ints("mapped", host, 4);
    SHOW(cudaHostGetFlags(&flags, host));
    printf("flags: %u\n", flags);
    SHOW(cudaHostGetDevicePointer(&device, host, 1));
    SHOW(cudaHostGetDevicePointer(&device, &flags, 0));
    SHOW(cudaFreeHost(host));
    SHOW(cudaFreeHost(host));
    SHOW(cudaGetLastError());

    // Memory that is not explicitly mapped is usable, too, since addresses are unified.
    for (unsigned f : { cudaHostAllocDefault, cudaHostAllocPortable, cudaHostAllocWriteCombined, 0x10, 0x80 }) {
        printf("flags %u\n", f);
        if (SHOW(cudaHostAlloc(&host, 4096, f)))
            continue;
        host[0] = f;
        increment<<<1, 1>>>(host);
        SHOW(cudaDeviceSynchronize());
        printf("value %d\n", host[0]);
        SHOW(cudaHostGetFlags(&flags, host));
        printf("flags: %u\n", flags);
        SHOW(cudaFreeHost(host));
    }
    SHOW(cudaMallocHost(&host, 100));
    SHOW(cudaHostGetFlags(&flags, host + 3));
    printf("flags: %u\n", flags);
    SHOW(cudaFree(host));
    SHOW(cudaFreeHost(host));
    SHOW(cudaMallocHost(&host, 0));
    SHOW(cudaHostAlloc((void **)nullptr, 100, 0));

    memset(own, 0, 8192);
    SHOW(cudaHostRegister(own, 8192, cudaHostRegisterMapped));
    SHOW(cudaHostRegister(own, 8192, cudaHostRegisterMapped));
    SHOW(cudaHostRegister((char *)own + 4096, 4096, cudaHostRegisterDefault));
    SHOW(cudaHostGetDevicePointer(&device, own, 0));
    increment<<<1, 32>>>(device);
    SHOW(cudaDeviceSynchronize());
    printf("registered: %d %d\n", own[0], own[31]);
    SHOW(cudaHostGetFlags(&flags, own));
    printf("flags: %u\n", flags);
    SHOW(cudaHostUnregister((char *)own + 4096));
    SHOW(cudaHostUnregister(own));
    SHOW(cudaHostUnregister(own));
    SHOW(cudaHostRegister(own, 0, 0));
    SHOW(cudaHostRegister(nullptr, 4096, 0));
    SHOW(cudaHostRegister(own, 4096, 0x100));
    free(own);
    return 0;
}
