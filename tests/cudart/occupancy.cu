// Occupancy: the limits of threads, shared memory and blocks. Registers are kept below the limits.
#include "show.h"

__global__ void plain(int *p)
{
    *p = 1;
}

__global__ void with_shared(int *p)
{
    __shared__ int words[4096];

    words[threadIdx.x] = *p;
    __syncthreads();
    *p = words[0];
}

__global__ void __launch_bounds__(128, 4) bounded(int *p)
{
    *p = 2;
}

static void show_blocks(const char *name, const void *f, int threads, size_t shared)
{
    int blocks = -1;
    cudaError_t e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, threads, shared);

    printf("%s, %d threads, %zu bytes: %s, %d\n", name, threads, shared, cudaGetErrorName(e), blocks);
}

int main()
{
    int smallest = -1, size = -1;
    size_t bytes = 0;

    for (int threads : { 1, 32, 33, 64, 128, 256, 512, 768, 1024, 1025, 0, -1 })
        show_blocks("plain", (void *)plain, threads, 0);
    for (size_t shared : { (size_t)0, (size_t)1, (size_t)1024, (size_t)16384, (size_t)49152 })
        show_blocks("plain", (void *)plain, 128, shared);
    show_blocks("with_shared", (void *)with_shared, 32, 0);
    show_blocks("with_shared", (void *)with_shared, 32, 16384);
    show_blocks("bounded", (void *)bounded, 128, 0);
    show_blocks("bounded", (void *)bounded, 129, 0);
    show_blocks("no function", nullptr, 128, 0);
    SHOW(cudaOccupancyMaxPotentialBlockSize(&smallest, &size, plain));
    printf("block size %d, a whole number of blocks for each multiprocessor: %d\n", size, smallest > 0);
    SHOW(cudaOccupancyMaxPotentialBlockSize(&smallest, &size, bounded));
    printf("block size %d\n", size);
    SHOW(cudaOccupancyMaxPotentialBlockSize(&smallest, &size, plain, 0, 100));
    printf("block size at most 100: %d\n", size);
    SHOW(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 4, 128));
    printf("bytes %zu\n", bytes);
    SHOW(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, plain, 33, 32));
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&size, plain, 128, 0,
                                                                cudaOccupancyDisableCachingOverride));
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&size, plain, 128, 0, 5));
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, plain, 128, 0));
    SHOW(cudaGetLastError());
    return 0;
}
