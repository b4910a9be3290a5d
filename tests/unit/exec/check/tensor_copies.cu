// Races of copies by tensor maps, as in races.cu. tensor_copies.ptx was made from this file:
//     nvcc -ptx -arch=compute_90 tensor_copies.cu
// Launches have two blocks of 128 threads. The map describes the 64 x 32 words at p in boxes of 16 x 32; the words
// after them are 0.
#include <cuda/ptx>

namespace ptx = cuda::ptx;

typedef unsigned u32;
struct alignas(64) map { unsigned long long words[16]; };

#define KERNEL(name) extern "C" __global__ void name(u32 *p, const __grid_constant__ map m)

enum fault { NONE, NO_WAIT, ONE_WAITS, NO_BARRIER, NO_PROXY_FENCE, NO_READ_WAIT, OVERLAP, NO_RELEASE, READ_WAIT_ONLY };

struct box { u32 words[16][32]; };

__device__ void set_up(uint64_t *full)
{
    if (!threadIdx.x) {
        ptx::mbarrier_init(full, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
}

__device__ void load(box &b, const map *m, int row, uint64_t *full)
{
    int at[2] = { 0, row };

    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full, sizeof b);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, &b, m, at, full);
}

__device__ void wait(uint64_t *full, unsigned parity)
{
    while (!ptx::mbarrier_try_wait_parity(full, parity))
        ;
}

template <fault F> __device__ void loads(u32 *p, const map *m)
{
    __shared__ alignas(128) box b;
    __shared__ uint64_t full;
    u32 t = threadIdx.x, sum = 0;

    set_up(&full);
    for (int round = 0; round < 2; round++) {
        if (!t)
            load(b, m, 16 * (2 * round + blockIdx.x), &full);
        if (F != NO_WAIT && (F != ONE_WAITS || !t))
            wait(&full, round);
        sum += b.words[t / 32][t % 32];
        if (F != NO_BARRIER)
            __syncthreads();
        if (F == NO_WAIT || F == ONE_WAITS)
            wait(&full, round);
    }
    p[2048 + blockIdx.x * 128 + t] = sum;
}

KERNEL(e_load_no_wait) { loads<NO_WAIT>(p, &m); }
KERNEL(e_load_one_waits) { loads<ONE_WAITS>(p, &m); }
KERNEL(e_load_overwrites) { loads<NO_BARRIER>(p, &m); }
KERNEL(c_load) { loads<NONE>(p, &m); }

__device__ void fill(box &b)
{
    for (u32 k = threadIdx.x; k < 512; k += 128)
        b.words[k / 32][k % 32] = k + blockIdx.x;
}

template <fault F> __device__ void stores(u32 *p, const map *m)
{
    __shared__ alignas(128) box b;
    int at[2] = { 0, (F == OVERLAP ? 8 : 16) * (int)blockIdx.x };

    fill(b);
    if (F != NO_PROXY_FENCE)
        ptx::fence_proxy_async(ptx::space_shared);
    if (F != NO_BARRIER)
        __syncthreads();
    if (!threadIdx.x) {
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, m, at, &b);
        ptx::cp_async_bulk_commit_group();
        if (F != NO_READ_WAIT)
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
    __syncthreads();
    fill(b);
}

KERNEL(e_store_no_fence) { stores<NO_PROXY_FENCE>(p, &m); }
KERNEL(e_store_no_barrier) { stores<NO_BARRIER>(p, &m); }
KERNEL(e_store_overwritten) { stores<NO_READ_WAIT>(p, &m); }
KERNEL(e_store_overlap) { stores<OVERLAP>(p, &m); }
KERNEL(c_store) { stores<NONE>(p, &m); }

// The first block loads what the second one overwrites afterwards.
template <fault F> __device__ void load_then_write(u32 *p, const map *m)
{
    __shared__ alignas(128) box b;
    __shared__ uint64_t full;
    u32 *count = &p[4000];

    set_up(&full);
    if (threadIdx.x)
        return;
    if (!blockIdx.x) {
        load(b, m, 0, &full);
        wait(&full, 0);
        if (F != NO_RELEASE)
            __threadfence();
        atomicAdd(count, 1);
    } else {
        while (!atomicAdd(count, 0))
            ;
        __threadfence();
        p[3] = 9;
    }
}

KERNEL(e_load_then_write) { load_then_write<NO_RELEASE>(p, &m); }
KERNEL(c_load_then_write) { load_then_write<NONE>(p, &m); }

// The first block stores what the second one reads afterwards.
template <fault F> __device__ void store_then_read(u32 *p, const map *m)
{
    __shared__ alignas(128) box b;
    u32 *count = &p[4000];
    int at[2] = { 0, 0 };

    if (!blockIdx.x) {
        fill(b);
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
    }
    if (threadIdx.x)
        return;
    if (!blockIdx.x) {
        ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, m, at, &b);
        ptx::cp_async_bulk_commit_group();
        if (F == READ_WAIT_ONLY)
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        else
            ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
        if (F != NO_RELEASE)
            __threadfence();
        atomicAdd(count, 1);
    } else {
        while (!atomicAdd(count, 0))
            ;
        __threadfence();
        p[4001] = p[3];
    }
}

KERNEL(e_store_then_read) { store_then_read<NO_RELEASE>(p, &m); }
KERNEL(e_store_read_wait_only) { store_then_read<READ_WAIT_ONLY>(p, &m); }
KERNEL(c_store_then_read) { store_then_read<NONE>(p, &m); }
