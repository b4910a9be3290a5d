/* Cooperation of threads: barriers with reductions, votes, shuffles, matches, named barriers, locks, early exits. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

extern "C" __global__ void barriers(const unsigned *in, unsigned *out, int n)
{
    int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
    unsigned v = in[g], r;

    r = __syncthreads_count(v & 1);
    r = r * 2 + (__syncthreads_and(v % 100 != (unsigned)n) != 0);
    r = r * 2 + (__syncthreads_or(v % 300 == (unsigned)n) != 0);
    out[g] = r;
}

extern "C" __global__ void votes(const unsigned *in, unsigned *out, int n)
{
    int g = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    unsigned v = in[g], r[6] = {0};

    r[0] = __ballot_sync(~0u, v & 1);
    r[1] = __all_sync(~0u, v > 1000u) | __any_sync(~0u, v < 0x04000000u) << 1;
    if (v & 2)                                   /* some lanes only */
        r[2] = __ballot_sync(__activemask(), v & 4);
    __syncwarp();
    if (lane < 20) {
        r[3] = __ballot_sync(0xfffff, (v >> 3) & 1);
        r[4] = __uni_sync(0xfffff, lane < 20) * 2 + __any_sync(0xfffff, lane == 19);
    }
    r[5] = __popc(r[0] & ((1u << lane) - 1));
    for (int i = 0; i < 6; i++)
        out[6 * g + i] = g < n ? r[i] : 0;
}

extern "C" __global__ void shuffles(const unsigned *in, unsigned *out, int n)
{
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[g];
    unsigned long long w = (unsigned long long)v << 32 | ~v;
    double d = (double)v;
    unsigned *o = out + 12 * g;

    o[0] = __shfl_sync(~0u, v, v & 31);
    o[1] = __shfl_sync(~0u, v, (v >> 5) & 63, 8);
    o[2] = __shfl_up_sync(~0u, v, 3);
    o[3] = __shfl_up_sync(~0u, v, 5, 16);
    o[4] = __shfl_down_sync(~0u, v, 7);
    o[5] = __shfl_down_sync(~0u, v, 2, 4);
    o[6] = __shfl_xor_sync(~0u, v, 21);
    o[7] = __shfl_xor_sync(~0u, v, 9, 8);
    unsigned long long x = __shfl_xor_sync(~0u, w, 1);
    o[8] = (unsigned)(x >> 32);
    o[9] = (unsigned)x;
    o[10] = (unsigned)__shfl_down_sync(~0u, d, 16);
    /* the two halves of the warp execute different operations */
    if (threadIdx.x & 1)
        o[11] = __shfl_sync(0xaaaaaaaa, v, (31 - (threadIdx.x & 31)) | 1);
    else
        o[11] = __shfl_up_sync(0x55555555, v, 2);
}

extern "C" __global__ void matches(const unsigned *in, unsigned *out, int n)
{
    int g = blockIdx.x * blockDim.x + threadIdx.x, all;
    unsigned v = in[g];

    out[4 * g] = __match_any_sync(~0u, v & 7);
    out[4 * g + 1] = __match_any_sync(~0u, (unsigned long long)(v & 3) << 40);
    unsigned same = __match_all_sync(~0u, v & (g / 32 & 1), &all);
    out[4 * g + 2] = same ^ all << 1;
    out[4 * g + 3] = g < n ? __popc(__match_any_sync(~0u, v & 0x10000 ? v & 3 : ~0u)) : 0;
}

/* Half of the warps produce and the others consume, with two buffers and two named barriers for each. */
extern "C" __global__ void named(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned buffer[2][64];
    int t = threadIdx.x, me = t & 63;
    bool producer = t < 64;
    unsigned sum = 0;

    for (int round = 0; round < n; round++) {
        int b = round & 1;
        if (producer) {
            if (round >= 2)
                asm volatile("bar.sync %0, 128;" :: "r"(3 + b) : "memory");      /* the buffer is empty */
            buffer[b][me] = in[(blockIdx.x * n + round) * 64 + me];
            asm volatile("bar.arrive %0, 128;" :: "r"(1 + b) : "memory");        /* the buffer is full */
        } else {
            asm volatile("bar.sync %0, 128;" :: "r"(1 + b) : "memory");
            sum = sum * 3 + buffer[b][63 - me] + buffer[b][me & 31];
            if (round + 2 < n)
                asm volatile("bar.arrive %0, 128;" :: "r"(3 + b) : "memory");
        }
    }
    if (!producer)
        out[blockIdx.x * 64 + me] = sum;
}

/* A spin lock that each lane of each warp acquires. Lanes that spin must not block the lane that has the lock. */
__device__ int lock;
__device__ unsigned guarded;

extern "C" __global__ void locks(const unsigned *in, unsigned *out, int n)
{
    int g = blockIdx.x * blockDim.x + threadIdx.x;

    if (g >= n)
        return;
    while (atomicCAS(&lock, 0, 1) != 0)
        ;
    __threadfence();
    unsigned was = *(volatile unsigned *)&guarded;
    *(volatile unsigned *)&guarded = was + in[g] % 1000 + 1;
    __threadfence();
    atomicExch(&lock, 0);
    atomicAdd(out, was != 0xffffffffu);
    atomicAdd(out + 1, in[g] % 1000);
    if (atomicAdd(out + 2, 1) == (unsigned)n - 1)
        out[3] = *(volatile unsigned *)&guarded;
}

/* Lane 0 waits for a store of lane 31 of its warp, and lane 31 for a store of lane 0. */
extern "C" __global__ void handshakes(const unsigned *in, unsigned *out, int n)
{
    __shared__ volatile unsigned ball[4];
    int t = threadIdx.x, w = t / 32, lane = t & 31;

    if (lane == 0)
        ball[w] = 0;
    __syncthreads();
    if (lane == 0)
        for (int i = 0; i < n; i++) {
            while (ball[w] != 2u * i)
                ;
            ball[w] = 2 * i + 1;
        }
    else if (lane == 31)
        for (int i = 0; i < n; i++) {
            while (ball[w] != 2u * i + 1)
                ;
            ball[w] = 2 * i + 2;
        }
    __syncwarp();
    out[t] = ball[w] + in[t];
}

/* Threads exit at different places. Barriers do not wait for them. */
extern "C" __global__ void exits(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned sum;
    int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
    unsigned v = in[g];

    if (t == 0)
        sum = 0;
    __syncthreads();
    if (v % 5 == 0)
        return;
    atomicAdd(&sum, v & 15);
    for (unsigned i = 0; i < (v & 31); i++)
        if ((v >> i & 7) == 6) {
            out[g] = i + 1000;
            asm volatile("exit;");
        }
    __syncthreads();
    out[g] = sum + (v & 1 ? n : 0);
}

/* Each thread of a warp takes its own path. Then they reconverge. */
extern "C" __global__ void divergence(const unsigned *in, unsigned *out, int n)
{
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[g], r = 0;

    for (unsigned i = 0; i < (v & 63); i++) {
        if (v >> (i & 31) & 1) {
            unsigned j = i;
            do
                r += j * j;
            while ((j = j / 2) > (v >> 28));
            if (r & 0x400)
                break;
        } else if (i % 3 == 0) {
            continue;
        } else {
            switch (r & 3) {
            case 0: r ^= v; break;
            case 1: r += 17; goto out;
            case 2: r = r << 1 | r >> 31;
            }
        }
        r ^= r >> 9;
    }
out:
    out[2 * g] = r;
    out[2 * g + 1] = __popc(__ballot_sync(~0u, r & 1)) + n;
}

/* Cooperative groups: tiles of four sizes, coalesced threads, block reductions. */
extern "C" __global__ void groups(const int *in, int *out, int n)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile8 = cg::tiled_partition<8>(block);
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int g = blockIdx.x * blockDim.x + threadIdx.x, v = in[g] & 0xffff;
    int *o = out + 8 * g;

    o[0] = cg::reduce(tile8, v, cg::plus<int>());
    o[1] = cg::reduce(warp, v, cg::greater<int>());
    o[2] = cg::inclusive_scan(tile8, v);
    o[3] = cg::exclusive_scan(warp, v);
    o[4] = tile8.shfl(v, 3) - tile8.meta_group_rank();
    o[5] = (int)tile8.ballot(v & 1) + tile8.thread_rank() * 256;
    o[6] = -1;
    if (v & 2) {
        cg::coalesced_group some = cg::coalesced_threads();
        o[6] = some.size() * 100 + some.thread_rank() + some.shfl(v, 0);
    }
    block.sync();
    o[7] = block.thread_rank() + block.size() + n;
}

/* The last block to finish adds the sums of all blocks. */
__device__ unsigned finished;
__device__ unsigned partial[64];

extern "C" __global__ void last_block(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned sum;
    __shared__ bool last;
    int t = threadIdx.x;

    if (t == 0)
        sum = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&sum, in[i]);
    __syncthreads();
    if (t == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    unsigned all = 0;
    for (int b = t; b < gridDim.x; b += blockDim.x)
        all += *(volatile unsigned *)&partial[b];
    atomicAdd(out, all);
}

/* A barrier of the grid, in a cooperative launch. */
extern "C" __global__ void grid_sync(const unsigned *in, unsigned *out, int n)
{
    cg::grid_group grid = cg::this_grid();
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[g];

    for (int round = 0; round < 4; round++) {
        out[g] = v;
        grid.sync();
        v = v * 3 + out[(g + 97) % n];
        grid.sync();
    }
    out[g] = v;
}
