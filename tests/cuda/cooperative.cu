/* Cooperative groups: tiles of several warps, which use the reserved part of shared memory, partitions by label and by
 * bit, reductions, scans, updates and copies of groups, and the grid. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>

namespace cg = cooperative_groups;

enum { THREADS = 256 };

/* Tiles of 64 and of 128 threads. */
extern "C" __global__ void __launch_bounds__(THREADS) wide_tiles(const int *in, int *out, int n)
{
    auto block = cg::this_thread_block();
    auto two = cg::tiled_partition<64>(block);
    auto four = cg::tiled_partition<128>(block);
    int g = blockIdx.x * THREADS + threadIdx.x, v = in[g] >> 12, *o = out + 8 * g;

    o[0] = cg::reduce(two, v, cg::plus<int>());
    o[1] = cg::reduce(four, v, cg::less<int>());
    o[2] = cg::inclusive_scan(two, v);
    o[3] = cg::exclusive_scan(four, v, cg::bit_xor<int>());
    o[4] = two.shfl(v, 37) + four.shfl(v, 99);
    o[5] = (two.any(v % 61 == 0) ? 1 : 0) + (two.all(v % 61) ? 2 : 0) + (four.any(v % 117 == n) ? 4 : 0);
    auto narrow = cg::tiled_partition<16>(two);
    o[6] = cg::reduce(narrow, v, cg::bit_or<int>()) + narrow.meta_group_rank() * 3 + four.meta_group_rank();
    two.sync();
    four.sync();
    o[7] = two.thread_rank() + four.num_threads() * 1000;
}

/* Groups of lanes. The data define the groups. */
extern "C" __global__ void partitions(const int *in, int *out, int n)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int g = blockIdx.x * blockDim.x + threadIdx.x, v = in[g], *o = out + 8 * g;

    auto same = cg::labeled_partition(warp, v & 3);
    o[0] = cg::reduce(same, v, cg::plus<int>());
    o[1] = cg::exclusive_scan(same, v >> 8);
    o[2] = same.size() * 100 + same.thread_rank() + same.meta_group_size() * 10000;
    auto halves = cg::binary_partition(warp, (v & 4) != 0);
    o[3] = cg::reduce(halves, v, cg::greater<int>());
    o[4] = halves.shfl_down(v, 2) ^ halves.ballot(v & 1);
    if (v & 8) {
        auto some = cg::coalesced_threads();
        auto few = cg::tiled_partition(some, 4);

        o[5] = cg::inclusive_scan(some, v & 0xff, cg::plus<int>()) + few.shfl(v, 0) + few.match_any(v & 1);
        o[6] = some.any(v & 16) + some.all(v & 16) * 2 + few.size() * 4;
    } else {
        o[5] = cg::invoke_one_broadcast(cg::coalesced_threads(), [&] { return n + (int)threadIdx.x / 32; });
        o[6] = 0;
    }
    int all;
    o[7] = (int)warp.match_all(v & n, all) ^ all;
}

/* Copies into shared memory by a block and by warps, and scans that update a counter. */
extern "C" __global__ void __launch_bounds__(THREADS) copies(const int *in, int *out, int n)
{
    __shared__ alignas(16) int stage[2][THREADS];
    __shared__ int counter, sum;
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int t = threadIdx.x, total = 0;
    const int *mine = in + blockIdx.x * n * THREADS;

    cg::memcpy_async(block, stage[0], mine, sizeof stage[0]);
    for (int i = 0; i < n; i++) {
        if (i + 1 < n) {
            cg::memcpy_async(block, stage[(i + 1) & 1], THREADS, mine + (i + 1) * THREADS, THREADS);
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        total = total * 5 + stage[i & 1][THREADS - 1 - t];
        block.sync();
    }
    cg::invoke_one(block, [&] { counter = sum = 0; });
    cg::memcpy_async(warp, stage[0] + t / 32 * 32, mine + t / 32 * 32, cuda::aligned_size_t<16>(128));
    cg::wait(warp);
    block.sync();
    cuda::atomic_ref<int, cuda::thread_scope_block> places(counter), all(sum);
    int wanted = stage[0][t] & 7, place = 0;
    for (int w = 0; w < THREADS / 32; w++) { /* in order, so that the results are the same in every run */
        if (t / 32 == w)
            place = cg::exclusive_scan_update(warp, places, wanted, cg::plus<int>());
        block.sync();
    }
    cg::reduce_update_async(warp, all, wanted, cg::plus<int>());
    block.sync();
    out[blockIdx.x * THREADS + t] = total + place * 64 + sum;
}

/* Waves on a string of n points. All blocks advance together. */
extern "C" __global__ void __launch_bounds__(THREADS) waves(const float *in, float *out, int n)
{
    auto grid = cg::this_grid();
    float *now = out, *next = out + n, *before = out + 2 * n;

    for (int i = grid.thread_rank(); i < n; i += grid.size()) {
        now[i] = in[i];
        before[i] = 0.99f * in[i];
    }
    grid.sync();
    for (int step = 0; step < 24; step++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size()) {
            float left = i ? now[i - 1] : 0, right = i + 1 < n ? now[i + 1] : 0;

            next[i] = 2 * now[i] - before[i] + 0.3f * (left - 2 * now[i] + right);
        }
        auto token = grid.barrier_arrive();
        float *oldest = before;
        before = now;
        now = next;
        next = oldest;
        grid.barrier_wait(cuda::std::move(token));
    }
}

/* A linear system by conjugate gradients. Each step computes inner products over the grid. */
__device__ float dots[2][64];

__device__ static float dot(cg::grid_group grid, cg::thread_block block, const float *a, const float *b, int n,
                            int which)
{
    __shared__ float warps[THREADS / 32];
    float sum = 0;

    for (int i = grid.thread_rank(); i < n; i += grid.size())
        sum = fmaf(a[i], b[i], sum);
    auto warp = cg::tiled_partition<32>(block);
    sum = cg::reduce(warp, sum, cg::plus<float>());
    if (warp.thread_rank() == 0)
        warps[warp.meta_group_rank()] = sum;
    block.sync();
    if (block.thread_rank() == 0) {
        sum = 0;
        for (int w = 0; w < THREADS / 32; w++)
            sum += warps[w];
        dots[which][blockIdx.x] = sum;
    }
    grid.sync();
    sum = 0;
    for (int b = 0; b < gridDim.x; b++)
        sum += dots[which][b];
    return sum;
}

extern "C" __global__ void __launch_bounds__(THREADS) gradients(const float *in, float *out, int n)
{
    auto grid = cg::this_grid();
    auto block = cg::this_thread_block();
    float *x = out, *r = out + n, *p = out + 2 * n, *q = out + 3 * n;

    for (int i = grid.thread_rank(); i < n; i += grid.size()) {
        x[i] = 0;
        r[i] = p[i] = in[i];
    }
    grid.sync();
    float rr = dot(grid, block, r, r, n, 0);
    for (int step = 0; step < 12; step++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            q[i] = 2.5f * p[i] - (i ? p[i - 1] : 0) - (i + 1 < n ? p[i + 1] : 0);
        float alpha = rr / dot(grid, block, p, q, n, 1);
        for (int i = grid.thread_rank(); i < n; i += grid.size()) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        float more = dot(grid, block, r, r, n, 0);
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            p[i] = r[i] + more / rr * p[i];
        rr = more;
        grid.sync();
    }
}
