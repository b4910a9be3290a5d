/* Sorts runs of 2048 unsigned integers by CUB's radix sort for blocks: 256 threads with eight keys each. */
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_store.cuh>

#define THREADS 256
#define ITEMS   8

extern "C" __global__ void __launch_bounds__(THREADS) radix(unsigned *keys)
{
    using Sort = cub::BlockRadixSort<unsigned, THREADS, ITEMS>;
    using Load = cub::BlockLoad<unsigned, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
    using Store = cub::BlockStore<unsigned, THREADS, ITEMS, cub::BLOCK_STORE_TRANSPOSE>;
    __shared__ union {
        typename Sort::TempStorage sort;
        typename Load::TempStorage load;
        typename Store::TempStorage store;
    } temp;
    unsigned *run = keys + (size_t)blockIdx.x * THREADS * ITEMS;
    unsigned mine[ITEMS];

    Load(temp.load).Load(run, mine);
    __syncthreads();
    Sort(temp.sort).Sort(mine);
    __syncthreads();
    Store(temp.store).Store(run, mine);
}
