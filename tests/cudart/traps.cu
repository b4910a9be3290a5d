// Kernels that fail: trap, invalid addresses, misaligned addresses; each in a process of its own, which ends with a
// reset of the device.
#include "show.h"

#include <sys/wait.h>
#include <unistd.h>

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

template<typename F> static void fail(F launch)
{
    int *p, host = 9;
    cudaStream_t stream;

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
    if (SHOW(cudaMalloc(&p, 64)))
        return;
    store<<<1, 1>>>(p);
    SHOW(cudaMemcpy(&host, p, sizeof host, cudaMemcpyDeviceToHost));
    printf("value %d\n", host);
}

template<typename F> static void try_fault(const char *label, F launch)
{
    printf("-- %s\n", label);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        fail(launch);
        exit(0);
    }
    waitpid(child, nullptr, 0);
}

int main()
{
    try_fault("trap", [](int *, cudaStream_t s) { trap<<<1, 1, 0, s>>>(); });
    try_fault("NULL", [](int *, cudaStream_t s) { store<<<1, 1, 0, s>>>(nullptr); });
    try_fault("far away", [](int *, cudaStream_t s) { store<<<1, 1, 0, s>>>((int *)0x7ff000000000); });
    try_fault("misaligned", [](int *p, cudaStream_t s) { store<<<1, 1, 0, s>>>((int *)((char *)p + 2)); });
    try_fault("shared memory", [](int *p, cudaStream_t s) { store_shared<<<1, 1, 0, s>>>(p, 1 << 20); });
    try_fault("freed memory", [](int *, cudaStream_t s) {
        int *freed;
        MUST(cudaMalloc(&freed, 64 << 20));
        MUST(cudaFree(freed));
        store<<<1, 1, 0, s>>>(freed);
    });
    return 0;
}
