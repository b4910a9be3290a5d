// Operands of wgmma in shared memory, as in races.cu. operands.ptx was made from this file:
//     nvcc -ptx -arch=compute_90a operands.cu
// Launches have a block of 160 threads: a warpgroup, and a warp that loads. p has 4096 words.
#include <cuda/ptx>

namespace ptx = cuda::ptx;

#define KERNEL(name) extern "C" __global__ void name(unsigned *p)

typedef unsigned short element; // f16

// An operand without swizzling: core matrices of 8 rows of 16 bytes.
__device__ uint64_t descriptor(const void *at, unsigned leading, unsigned stride)
{
    uint64_t address = __cvta_generic_to_shared(at);

    return (address & 0x3ffff) >> 4 | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32;
}

__device__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(N) : "memory"); }

// d += a (64 x 16) times b (16 x 8).
__device__ void multiply(float (&d)[4], const element *a, const element *b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(descriptor(a, 1024, 128)), "l"(descriptor(b, 128, 128)) : "memory");
}

__device__ void barrier() { asm volatile("barrier.sync 1, 128;" ::: "memory"); }
__device__ void store(float *out, const float (&d)[4])
{
    for (int k = 0; k < 4; k++)
        out[threadIdx.x * 4 + k] = d[k];
}

enum fault { NONE, NO_PROXY_FENCE, NO_BARRIER, NO_WAIT, WRITTEN_BEFORE, WRITTEN_DURING, RELEASED_EARLY };

// The warpgroup writes the operands itself, in two rounds.
template <fault F> __device__ void two_rounds(unsigned *p)
{
    __shared__ alignas(1024) element a[1024], b[128];
    unsigned t = threadIdx.x;
    float d[4] = { 0, 0, 0, 0 };

    if (t >= 128)
        return;
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned k = t; k < 1024; k += 128)
            a[k] = (element)p[k];
        b[t] = (element)p[t];
        if (F != NO_PROXY_FENCE)
            ptx::fence_proxy_async(ptx::space_shared);
        if (F != NO_BARRIER)
            barrier();
        if (F == WRITTEN_BEFORE)
            b[t] = 0;
        fence();
        multiply(d, a, b);
        commit();
        if (F == WRITTEN_DURING)
            a[t] = 1;
        if (F != NO_WAIT)
            wait<0>();
        barrier();
    }
    wait<0>();
    store((float *)p + 2048, d);
}

KERNEL(e_no_proxy_fence) { two_rounds<NO_PROXY_FENCE>(p); }
KERNEL(e_no_barrier) { two_rounds<NO_BARRIER>(p); }
KERNEL(e_no_wait) { two_rounds<NO_WAIT>(p); }
KERNEL(e_written_before) { two_rounds<WRITTEN_BEFORE>(p); }
KERNEL(e_written_during) { two_rounds<WRITTEN_DURING>(p); }
KERNEL(c_two_rounds) { two_rounds<NONE>(p); }

__device__ void wait_for(uint64_t *barrier, unsigned parity)
{
    while (!ptx::mbarrier_try_wait_parity(barrier, parity))
        ;
}

// A warp loads two stages by bulk copies. The warpgroup has one group in flight.
template <fault F> __device__ void pipeline(unsigned *p)
{
    __shared__ alignas(1024) element a[2][1024], b[2][128];
    __shared__ uint64_t full[2], empty[2];
    unsigned t = threadIdx.x;
    float d[4] = { 0, 0, 0, 0 };

    if (!t) {
        for (int k = 0; k < 2; k++) {
            ptx::mbarrier_init(&full[k], 1);
            ptx::mbarrier_init(&empty[k], 4);
        }
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    for (int k = 0; k < 6 && t == 128; k++) {
        int s = k & 1;

        if (k >= 2)
            wait_for(&empty[s], (k / 2 - 1) & 1);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s],
                                       sizeof a[0] + sizeof b[0]);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, a[s], p, sizeof a[0], &full[s]);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, b[s], p, sizeof b[0], &full[s]);
    }
    if (t >= 128)
        return;
    for (int k = 0; k < 6; k++) {
        int s = k & 1, released = F == RELEASED_EARLY ? s : s ^ 1;

        if (F != NO_WAIT)
            wait_for(&full[s], k / 2 & 1);
        fence();
        multiply(d, a[s], b[s]);
        commit();
        if (F == NO_WAIT)
            wait_for(&full[s], k / 2 & 1);
        wait<1>();
        if ((k || F == RELEASED_EARLY) && t % 32 == 0)
            ptx::mbarrier_arrive(&empty[released]);
    }
    wait<0>();
    store((float *)p + 2048, d);
}

KERNEL(e_pipeline_no_wait) { pipeline<NO_WAIT>(p); }
KERNEL(e_pipeline_released_early) { pipeline<RELEASED_EARLY>(p); }
KERNEL(c_pipeline) { pipeline<NONE>(p); }
