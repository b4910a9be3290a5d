/* Instructions of sm_100 and later, in the forms that nvcc's headers and inline assembly have. */
#include <cuda/ptx>

namespace ptx = cuda::ptx;

/* Operations on pairs of floats. */
extern "C" __global__ void pairs(const float2 *in, float2 *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;

    if (t >= n)
        return;
    float2 a = in[3 * t], b = in[3 * t + 1], c = in[3 * t + 2];
    out[5 * t] = __ffma2_rn(a, b, c);
    out[5 * t + 1] = __fadd2_rz(a, b);
    out[5 * t + 2] = __fmul2_ru(a, b);
    out[5 * t + 3] = __ffma2_rd(a, b, c);
    asm("min.f32 %0, %1, %2, %3;" : "=f"(out[5 * t + 4].x) : "f"(a.x), "f"(b.x), "f"(c.x));
    asm("max.abs.f32 %0, %1, %2, %3;" : "=f"(out[5 * t + 4].y) : "f"(a.y), "f"(b.y), "f"(c.y));
}

/* Loads and stores of 256 bits. */
extern "C" __global__ void wide(const float *in, float *out, int n)
{
    unsigned long long x[4];
    float f[8];
    int t = threadIdx.x;

    asm volatile("ld.global.nc.L2::256B.v4.b64 {%0, %1, %2, %3}, [%4];"
                 : "=l"(x[0]), "=l"(x[1]), "=l"(x[2]), "=l"(x[3])
                 : "l"(in + 8 * t));
    asm volatile("st.global.v4.b64 [%0], {%1, %2, %3, %4};" ::"l"(out + 16 * t), "l"(x[3]), "l"(x[2]), "l"(x[1]),
                 "l"(x[0])
                 : "memory");
    asm volatile("ld.global.L1::no_allocate.v8.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 : "=f"(f[0]), "=f"(f[1]), "=f"(f[2]), "=f"(f[3]), "=f"(f[4]), "=f"(f[5]), "=f"(f[6]), "=f"(f[7])
                 : "l"(in + 8 * t));
    asm volatile("st.global.L1::evict_last.L2::evict_last.v8.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"l"(
                     out + 16 * t + 8),
                 "f"(f[7]), "f"(f[6]), "f"(f[5]), "f"(f[4]), "f"(f[3]), "f"(f[2]), "f"(f[1]), "f"(f[0])
                 : "memory");
}

/* All threads add to 128 bits. */
extern "C" __global__ void sums(const void *, unsigned __int128 *out, int n)
{
    unsigned __int128 step = ((unsigned __int128)threadIdx.x << 64) + ~0ull, old = 0, seen;

    while ((seen = atomicCAS(out, old, old + step)) != old)
        old = seen;
    if (threadIdx.x == 0 && blockIdx.x == 0)
        atomicExch(out + 1, step + n);
}

/* A block takes the work of blocks that have not started. */
extern "C" __global__ void stealing(const void *, int *out, int n)
{
    __shared__ alignas(16) uint4 response;
    __shared__ alignas(8) uint64_t bar;
    int block = blockIdx.x;
    __int128 answer;

    if (threadIdx.x == 0)
        ptx::mbarrier_init(&bar, 1);
    __syncthreads();
    for (unsigned phase = 0;; phase ^= 1) {
        if (threadIdx.x == 0) {
            ptx::fence_proxy_async_generic_sync_restrict(ptx::sem_acquire, ptx::space_cluster, ptx::scope_cluster);
            ptx::clusterlaunchcontrol_try_cancel(&response, &bar);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &bar, 16);
        }
        atomicAdd(out + block, n);
        while (!ptx::mbarrier_try_wait_parity(&bar, phase))
            ;
        memcpy(&answer, &response, sizeof answer);
        if (!ptx::clusterlaunchcontrol_query_cancel_is_canceled(answer))
            break;
        block = ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid_x<int>(answer);
        __syncthreads();
        ptx::fence_proxy_async_generic_sync_restrict(ptx::sem_release, ptx::space_shared, ptx::scope_cluster);
    }
}

/* A matrix of bytes, transposed by the load. */
extern "C" __global__ void bytes(const unsigned char *in, uint2 *out, int)
{
    __shared__ alignas(16) unsigned char rows[256];
    uint2 x;
    unsigned t = threadIdx.x;

    for (int i = t; i < 256; i += 32)
        rows[i] = in[i];
    __syncwarp();
    asm volatile("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%0, %1}, [%2];"
                 : "=r"(x.x), "=r"(x.y)
                 : "r"((unsigned)__cvta_generic_to_shared(rows + 16 * (t % 16))));
    out[t] = x;
}
