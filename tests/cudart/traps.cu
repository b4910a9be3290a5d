// Kernels that fail: trap, invalid addresses, misaligned addresses; each followed by a reset of the device.
#include "show.h"

__global__ void trap()
{
    asm("trap;");
}

__global__ void store(int *p)
{
    *p = 1;
}

__global__ void store_shared(int *out, int index)
{
    __shared__ volatile int words[8];

    words[index] = 5;
    *out = words[index];
}

__global__ void overflow_stack(int *out, int depth)
{
    volatile int frame[64];

    frame[depth % 64] = depth;
    *out += frame[depth % 64];
}

template<typename F> static void try_fault(const char *label, F launch)
{
    int *p, host = 9;
    cudaStream_t stream;

    printf("-- %s\n", label);
    MUST(cudaMalloc(&p, 64));
    MUST(cudaStreamCreate(&stream));
    launch(p, stream);
    SHOW(cudaGetLastError());
    SHOW(cudaStreamSynchronize(stream));
    SHOW(cudaMemcpy(&host, p, sizeof host, cudaMemcpyDeviceToHost));
    store<<<1, 1>>>(p);
    SHOW(cudaGetLastError());
    SHOW(cudaGetLastError());
    SHOW(cudaDeviceReset());
    SHOW(cudaGetLastError());
    // Handles and memory from before the reset are gone.
    SHOW(cudaFree(p));
    cudaGetLastError();
    MUST(cudaMalloc(&p, 64));
    store<<<1, 1>>>(p);
    SHOW(cudaMemcpy(&host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("value %d\n", host);
}

int main()
{
    try_fault("trap", [](int *, cudaStream_t s) { trap<<<1, 1, 0, s>>>(); });
    try_fault("NULL", [](int *, cudaStream_t s) { store<<<1, 1, 0, s>>>(nullptr); });
    try_fault("far away", [](int *, cudaStream_t s) { store<<<1, 1, 0, s>>>((int *)0x7ff000000000); });
    try_fault("misaligned", [](int *p, cudaStream_t s) { store<<<1, 1, 0, s>>>((int *)((char *)p + 2)); });
    try_fault("shared memory", [](int *p, cudaStream_t s) { store_shared<<<1, 1, 0, s>>>(p, 1 << 20); });
    return 0;
}
