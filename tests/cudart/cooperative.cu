// Cooperative launches: synchronisation of the whole grid, the largest grid, and groups of threads.
#include "show.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void steps(int *words, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    int me = grid.thread_rank(), n = grid.size();

    for (int i = 0; i < rounds; i++) {
        int next = words[(me + 1) % n];
        grid.sync();
        words[me] = next + 1;
        grid.sync();
    }
}

__global__ void groups(int *out)
{
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    auto half = cg::tiled_partition<16>(block);
    int sum = cg::reduce(tile, (int)threadIdx.x, cg::plus<int>());
    auto odd = cg::binary_partition(half, threadIdx.x & 1);

    out[threadIdx.x] = sum * 1000 + odd.size() * 10 + tile.meta_group_rank();
    if (threadIdx.x == 9)
        out[64] = cg::coalesced_threads().size();
}

__global__ void is_valid(int *out)
{
    *out = cg::this_grid().is_valid();
}

int main()
{
    int *words, host[65], rounds = 3, blocks = 0, processors = 0;

    MUST(cudaMalloc(&words, 4096));
    MUST(cudaMemset(words, 0, 4096));
    void *args[] = { &words, &rounds };
    is_valid<<<1, 1>>>(words);
    fetch(host, words, 1);
    printf("valid before any cooperative launch: %d\n", host[0]);
    MUST(cudaMemset(words, 0, 4096));
    SHOW(cudaLaunchCooperativeKernel((void *)steps, dim3(8), dim3(32), args));
    fetch(host, words, 65);
    printf("steps: %d %d\n", host[0], host[64]);
    groups<<<1, 64>>>(words);
    fetch(host, words, 65);
    show_ints("groups", host, 65);
    SHOW(cudaLaunchCooperativeKernel((void *)is_valid, dim3(1), dim3(1), args));
    fetch(host, words, 1);
    printf("valid in a cooperative launch: %d\n", host[0]);
    MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, steps, 1024, 0));
    MUST(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    SHOW(cudaLaunchCooperativeKernel((void *)steps, dim3(blocks * processors + 1), dim3(1024), args));
    SHOW(cudaLaunchCooperativeKernel((void *)steps, dim3(0), dim3(32), args));
    SHOW(cudaLaunchCooperativeKernel((void *)steps, dim3(1), dim3(2000), args));
    SHOW(cudaLaunchCooperativeKernel((const void *)nullptr, dim3(1), dim3(20), args));
    SHOW(cudaGetLastError());
    return 0;
}
