// Limits of the device, and its heap: malloc, free, new and exhaustion.
#include "show.h"

__global__ void allocate(int *out, int n, size_t bytes)
{
    void *p[8];
    int got = 0;

    for (int i = 0; i < n; i++) {
        p[i] = malloc(bytes);
        got += p[i] != nullptr;
    }
    for (int i = 0; i < n; i++)
        free(p[i]);
    *out = got;
}

struct Node {
    Node *next;
    int value;
};
__device__ Node *list;

__global__ void push(int n)
{
    for (int i = 0; i < n; i++)
        list = new Node{ list, i };
}

// The heap's memory lives on from launch to launch.
__global__ void sum(int *out)
{
    int s = 0;

    for (Node *n = list, *next; n; n = next) {
        s += n->value;
        next = n->next;
        delete n;
    }
    list = nullptr;
    *out = s;
}

int main()
{
    int *out, got;
    size_t value;

    MUST(cudaMalloc(&out, sizeof *out));
    SHOW(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
    printf("heap %zu\n", value);
    SHOW(cudaDeviceGetLimit(&value, cudaLimitPrintfFifoSize));
    printf("printf of some size: %d\n", value >= 1 << 20);
    SHOW(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    printf("stack %zu\n", value);
    SHOW(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    SHOW(cudaDeviceGetLimit(&value, cudaLimitMallocHeapSize));
    printf("heap of at least 16 MiB: %d\n", value >= 16 << 20);
    SHOW(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    SHOW(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    printf("stack %zu\n", value);
    allocate<<<1, 1>>>(out, 8, 1 << 20);
    fetch(&got, out, 1);
    printf("blocks of 1 MiB: %d of 8\n", got);
    allocate<<<1, 1>>>(out, 1, (size_t)1 << 31);
    fetch(&got, out, 1);
    printf("blocks of 2 GiB: %d of 1\n", got);
    push<<<1, 1>>>(100);
    push<<<1, 1>>>(11);
    sum<<<1, 1>>>(out);
    fetch(&got, out, 1);
    printf("sum %d\n", got);
    SHOW(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
    SHOW(cudaDeviceSetLimit((cudaLimit)50, 1));
    SHOW(cudaDeviceGetLimit(&value, (cudaLimit)50));
    SHOW(cudaDeviceGetLimit(nullptr, cudaLimitStackSize));
    SHOW(cudaDeviceSetLimit(cudaLimitStackSize, (size_t)1 << 40));
    SHOW(cudaGetLastError());
    return 0;
}
