/* Kernels that use CUB's collectives of blocks and warps. */
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

enum { THREADS = 128, ITEMS = 5, TILE = THREADS * ITEMS };

struct Largest {
    template <typename T> __device__ T operator()(const T &a, const T &b) const { return a < b ? b : a; }
};

extern "C" __global__ void reduce(const int *in, long long *out, int n)
{
    using Reduce = cub::BlockReduce<long long, THREADS, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;
    using Raking = cub::BlockReduce<int, THREADS, cub::BLOCK_REDUCE_RAKING>;
    __shared__ typename Reduce::TempStorage temp;
    __shared__ typename Raking::TempStorage raking;
    int t = threadIdx.x;
    const int *mine = in + blockIdx.x * THREADS;

    long long sum = Reduce(temp).Sum(mine[t]);
    int most = Raking(raking).Reduce(mine[t], Largest());
    __syncthreads();
    long long part = Reduce(temp).Sum(mine[t], n);
    if (t == 0) {
        out[3 * blockIdx.x] = sum;
        out[3 * blockIdx.x + 1] = most;
        out[3 * blockIdx.x + 2] = part;
    }
}

extern "C" __global__ void scan(const int *in, int *out, int n)
{
    using Load = cub::BlockLoad<int, THREADS, ITEMS, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Store = cub::BlockStore<int, THREADS, ITEMS, cub::BLOCK_STORE_WARP_TRANSPOSE>;
    using Scan = cub::BlockScan<int, THREADS, cub::BLOCK_SCAN_RAKING>;
    using WarpScans = cub::BlockScan<int, THREADS, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Store::TempStorage store;
        typename Scan::TempStorage scan;
        typename WarpScans::TempStorage warps;
    } temp;
    int v[ITEMS], sums[ITEMS], total;

    Load(temp.load).Load(in + blockIdx.x * TILE, v, TILE - n, -1);
    __syncthreads();
    Scan(temp.scan).ExclusiveSum(v, sums, total);
    __syncthreads();
    WarpScans(temp.warps).InclusiveScan(v, v, Largest());
    __syncthreads();
    for (int i = 0; i < ITEMS; i++)
        v[i] ^= sums[i] + total;
    Store(temp.store).Store(out + blockIdx.x * TILE, v);
}

/* Sorts keys with their indices as values in descending order, and doubles in ascending order. */
extern "C" __global__ void radix_sort(const int *in, int *out, int n)
{
    using Sort = cub::BlockRadixSort<int, THREADS, ITEMS, int>;
    using Doubles = cub::BlockRadixSort<double, THREADS, 1>;
    __shared__ union {
        typename Sort::TempStorage ints;
        typename Doubles::TempStorage doubles;
    } temp;
    int keys[ITEMS], places[ITEMS], base = blockIdx.x * TILE, t = threadIdx.x;
    double d[1];

    for (int i = 0; i < ITEMS; i++) {
        places[i] = t * ITEMS + i;
        keys[i] = in[base + places[i]] >> 20;
    }
    d[0] = (double)in[base + t] * 0.5;
    Sort(temp.ints).SortDescending(keys, places);
    __syncthreads();
    Doubles(temp.doubles).Sort(d);
    for (int i = 0; i < ITEMS; i++)
        out[base + t * ITEMS + i] = keys[i] * 1000 + places[i];
    out[gridDim.x * TILE + blockIdx.x * THREADS + t] = (int)floor(d[0]) + n;
}

struct Less {
    __device__ bool operator()(const unsigned &a, const unsigned &b) const { return a % 1000 < b % 1000; }
};

extern "C" __global__ void merge_sort(const unsigned *in, unsigned *out, int n)
{
    using Sort = cub::BlockMergeSort<unsigned, THREADS, ITEMS>;
    using Warp = cub::WarpMergeSort<unsigned, 3, 32>;
    __shared__ typename Sort::TempStorage temp;
    __shared__ typename Warp::TempStorage warps[THREADS / 32];
    unsigned keys[ITEMS], few[3];
    int t = threadIdx.x, base = blockIdx.x * TILE;

    for (int i = 0; i < ITEMS; i++)
        keys[i] = in[base + t * ITEMS + i];
    for (int i = 0; i < 3; i++)
        few[i] = in[base + t * 3 + i];
    Sort(temp).StableSort(keys, Less());
    Warp(warps[t / 32]).StableSort(few, Less());
    for (int i = 0; i < ITEMS; i++)
        out[base + t * ITEMS + i] = keys[i];
    for (int i = 0; i < 3; i++)
        out[n + blockIdx.x * THREADS * 3 + t * 3 + i] = few[i];
}

extern "C" __global__ void histogram(const unsigned *in, unsigned *out, int n)
{
    using Sorted = cub::BlockHistogram<unsigned char, THREADS, ITEMS, 64, cub::BLOCK_HISTO_SORT>;
    using Atomic = cub::BlockHistogram<unsigned char, THREADS, ITEMS, 64, cub::BLOCK_HISTO_ATOMIC>;
    __shared__ typename Sorted::TempStorage temp;
    __shared__ typename Atomic::TempStorage atomic;
    __shared__ unsigned bins[64], more[64];
    unsigned char v[ITEMS], w[ITEMS];
    int t = threadIdx.x;

    for (int i = 0; i < ITEMS; i++) {
        v[i] = (unsigned char)(in[blockIdx.x * TILE + t * ITEMS + i] & 63);
        w[i] = v[i] / 3;
    }
    Sorted(temp).Histogram(v, bins);
    Atomic(atomic).Histogram(w, more);
    __syncthreads();
    if (t < 64)
        out[blockIdx.x * 64 + t] = bins[t] * 1000 + more[t] + n;
}

/* Removes repeated elements: flags for the first elements of runs, positions from a scan of the flags, compaction. */
extern "C" __global__ void unique(const unsigned *in, unsigned *out, int n)
{
    using Heads = cub::BlockDiscontinuity<unsigned, THREADS>;
    using Scan = cub::BlockScan<int, THREADS>;
    using Difference = cub::BlockAdjacentDifference<int, THREADS>;
    __shared__ typename Heads::TempStorage heads;
    __shared__ typename Scan::TempStorage scan;
    __shared__ typename Difference::TempStorage difference;
    unsigned v[ITEMS], *o = out + blockIdx.x * (TILE + 1);
    int flags[ITEMS], places[ITEMS], count, t = threadIdx.x, steps[ITEMS], in_order[ITEMS];

    for (int i = 0; i < ITEMS; i++) {
        v[i] = in[blockIdx.x * TILE + t * ITEMS + i] >> 31;
        in_order[i] = (int)v[i] * n;
    }
    Heads(heads).FlagHeads(flags, v, [](unsigned a, unsigned b) { return a != b; });
    Scan(scan).ExclusiveSum(flags, places, count);
    Difference(difference).SubtractLeft(in_order, steps, [](int a, int b) { return a - b; });
    for (int i = 0; i < ITEMS; i++)
        if (flags[i])
            o[places[i]] = (unsigned)(t * ITEMS + i) * 2 + v[i] + ((unsigned)steps[i] << 16);
    if (t == 0)
        o[TILE] = (unsigned)count;
}

extern "C" __global__ void warp_level(const int *in, int *out, int n)
{
    using Reduce = cub::WarpReduce<int>;
    using Scan = cub::WarpScan<int>;
    using Eight = cub::WarpReduce<int, 8>;
    __shared__ typename Reduce::TempStorage reduce[4];
    __shared__ typename Scan::TempStorage scan[4];
    __shared__ typename Eight::TempStorage eight[16];
    int t = threadIdx.x, w = t / 32, v = in[blockIdx.x * THREADS + t] & 0xffff, inclusive, exclusive;

    int sum = Reduce(reduce[w]).Sum(v);
    __syncwarp();
    int heads = Reduce(reduce[w]).HeadSegmentedSum(v, t % 5 == 0);
    Scan(scan[w]).Scan(v, inclusive, exclusive, n, Largest());
    int most = Eight(eight[t / 8]).Reduce(v, Largest());
    int *o = out + 5 * (blockIdx.x * THREADS + t);
    o[0] = t % 32 == 0 ? sum : 0;
    o[1] = t % 5 == 0 || t % 32 == 0 ? heads : 0;
    o[2] = inclusive;
    o[3] = exclusive;
    o[4] = t % 8 == 0 ? most : 0;
}

/* Converts from the blocked to the striped arrangement and back, and scatters. */
extern "C" __global__ void exchange(const int *in, int *out, int n)
{
    using Exchange = cub::BlockExchange<int, THREADS, ITEMS>;
    __shared__ typename Exchange::TempStorage temp;
    int v[ITEMS], ranks[ITEMS], t = threadIdx.x, base = blockIdx.x * TILE;

    for (int i = 0; i < ITEMS; i++)
        v[i] = in[base + t * ITEMS + i];
    Exchange(temp).BlockedToStriped(v, v);
    for (int i = 0; i < ITEMS; i++) {
        v[i] += i * n;
        ranks[i] = (t * ITEMS + i) * 7 % TILE;
    }
    __syncthreads();
    Exchange(temp).ScatterToBlocked(v, ranks);
    for (int i = 0; i < ITEMS; i++)
        out[base + t * ITEMS + i] = v[i];
}
