// Asynchronous copies and accesses of matrix instructions, as in races.cu. async.ptx was made from this file:
//     nvcc -ptx -arch=compute_90 async.cu
#include <stdint.h>

#define KERNEL(name) extern "C" __global__ void name(unsigned *p)
// Only the first block does something.
#define THREAD               \
    unsigned t = threadIdx.x; \
    if (blockIdx.x)          \
        return
#define OTHER (threadIdx.x ^ 33) /* a thread of the other warp */

__device__ unsigned at(const void *shared) { return (unsigned)__cvta_generic_to_shared(shared); }

__device__ void copy(unsigned *to, const unsigned *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at(to)), "l"(from) : "memory");
}

__device__ void copy_part(unsigned *to, const unsigned *from, unsigned bytes)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(at(to)), "l"(from), "r"(bytes) : "memory");
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ void wait() { asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory"); }
__device__ void wait_all() { asm volatile("cp.async.wait_all;" ::: "memory"); }

KERNEL(c_copy_wait)
{
    THREAD;
    __shared__ unsigned s[64];
    copy(&s[t], &p[t]);
    commit();
    wait<0>();
    p[64 + t] = s[t];
}

// What a thread has waited for is not known to the others of its warp.
KERNEL(e_copy_wait_other_lane)
{
    THREAD;
    __shared__ unsigned s[64];
    copy(&s[t], &p[t]);
    commit();
    wait<0>();
    p[64 + t] = s[t ^ 1];
}

KERNEL(c_copy_wait_syncwarp)
{
    THREAD;
    __shared__ unsigned s[64];
    copy(&s[t], &p[t]);
    commit();
    wait<0>();
    __syncwarp();
    p[64 + t] = s[t ^ 1];
}

KERNEL(e_copy_no_wait)
{
    THREAD;
    __shared__ unsigned s[64];
    copy(&s[t], &p[t]);
    commit();
    p[64 + t] = s[t];
}

KERNEL(e_copy_barrier_only)
{
    THREAD;
    __shared__ unsigned s[64];
    copy(&s[t], &p[t]);
    commit();
    __syncthreads();
    p[64 + t] = s[OTHER];
}

KERNEL(e_copy_barrier_before_wait)
{
    THREAD;
    __shared__ unsigned s[64];
    copy(&s[t], &p[t]);
    commit();
    __syncthreads();
    wait<0>();
    p[64 + t] = s[OTHER];
}

KERNEL(c_copy_wait_barrier)
{
    THREAD;
    __shared__ unsigned s[64];
    copy(&s[t], &p[t]);
    commit();
    wait<0>();
    __syncthreads();
    p[64 + t] = s[OTHER];
}

KERNEL(c_copy_wait_all)
{
    THREAD;
    __shared__ unsigned s[64];
    copy(&s[t], &p[t]);
    wait_all();
    __syncthreads();
    p[64 + t] = s[OTHER];
}

// wait_group does not wait for copies that no group has
KERNEL(e_copy_not_committed)
{
    THREAD;
    __shared__ unsigned s[64];
    copy(&s[t], &p[t]);
    wait<0>();
    p[64 + t] = s[t];
}

// two stages
KERNEL(c_copy_pipeline)
{
    THREAD;
    __shared__ unsigned s[2][64];
    unsigned sum = 0;
    copy(&s[0][t], &p[t]);
    commit();
    for (int k = 0; k < 4; k++) {
        copy(&s[(k + 1) % 2][t], &p[t + 64 * (k + 1)]);
        commit();
        wait<1>();
        __syncthreads();
        sum += s[k % 2][OTHER];
        __syncthreads();
    }
    wait<0>();
    p[512 + t] = sum;
}

// the second barrier is missing
KERNEL(e_copy_pipeline_overwrites)
{
    THREAD;
    __shared__ unsigned s[2][64];
    unsigned sum = 0;
    copy(&s[0][t], &p[t]);
    commit();
    for (int k = 0; k < 4; k++) {
        copy(&s[(k + 1) % 2][t], &p[t + 64 * (k + 1)]);
        commit();
        wait<1>();
        __syncthreads();
        sum += s[k % 2][OTHER];
    }
    wait<0>();
    p[512 + t] = sum;
}

// one group too few is waited for
KERNEL(e_copy_pipeline_late)
{
    THREAD;
    __shared__ unsigned s[2][64];
    copy(&s[0][t], &p[t]);
    commit();
    copy(&s[1][t], &p[64 + t]);
    commit();
    wait<1>();
    __syncthreads();
    p[512 + t] = s[0][OTHER] + s[1][OTHER];
}

KERNEL(e_copy_overwritten)
{
    THREAD;
    __shared__ unsigned s[64];
    copy(&s[t], &p[t]);
    s[t] = t;
    wait_all();
    p[64 + t] = s[t];
}

// bytes that are not read, but filled with zeros
KERNEL(c_copy_zeros)
{
    THREAD;
    __shared__ unsigned s[64];
    if (t == 0)
        p[1] = 5;
    copy_part(&s[t], &p[t ? 2 * t + 128 : 0], t % 2 ? 0 : 4);
    wait_all();
    __syncthreads();
    p[64 + t] = s[OTHER];
}

KERNEL(e_copy_source)
{
    THREAD;
    __shared__ unsigned s[64];
    p[t] = t;
    copy(&s[t], &p[OTHER]);
    wait_all();
    p[64 + t] = s[t];
}

KERNEL(c_copy_mbarrier)
{
    THREAD;
    __shared__ unsigned s[64];
    __shared__ uint64_t bar;
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(at(&bar)) : "memory");
    __syncthreads();
    copy(&s[t], &p[t]);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(at(&bar)) : "memory");
    asm volatile("{ .reg .pred q; W%=: mbarrier.try_wait.parity.shared.b64 q, [%0], 0; @!q bra W%=; }"
                 :: "r"(at(&bar)) : "memory");
    p[64 + t] = s[OTHER];
}

KERNEL(e_copy_mbarrier_arrives_before)
{
    THREAD;
    __shared__ unsigned s[64];
    __shared__ uint64_t bar;
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(at(&bar)) : "memory");
    __syncthreads();
    copy(&s[t], &p[t]);
    asm volatile("{ .reg .b64 q; mbarrier.arrive.shared.b64 q, [%0]; }" :: "r"(at(&bar)) : "memory");
    asm volatile("{ .reg .pred q; W%=: mbarrier.try_wait.parity.shared.b64 q, [%0], 0; @!q bra W%=; }"
                 :: "r"(at(&bar)) : "memory");
    p[64 + t] = s[OTHER];
}

__device__ unsigned load_matrix(const unsigned *row)
{
    unsigned d;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(d) : "r"(at(row)) : "memory");
    return d;
}

__device__ void store_matrix(const unsigned *row, unsigned d)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" :: "r"(at(row)), "r"(d) : "memory");
}

KERNEL(c_ldmatrix)
{
    THREAD;
    __shared__ __align__(16) unsigned s[64];
    s[t] = t;
    __syncthreads();
    p[t] = load_matrix(&s[t % 8 * 4]);
}

KERNEL(e_ldmatrix)
{
    THREAD;
    __shared__ __align__(16) unsigned s[64];
    s[t] = t;
    p[t] = load_matrix(&s[t % 8 * 4 + (t < 32 ? 32 : 0)]);
}

KERNEL(e_ldmatrix_overwritten)
{
    THREAD;
    __shared__ __align__(16) unsigned s[64];
    p[t] = load_matrix(&s[t % 8 * 4]);
    s[OTHER] = OTHER;
}

KERNEL(e_stmatrix)
{
    THREAD;
    __shared__ __align__(16) unsigned s[64];
    store_matrix(&s[t % 8 * 4 + t / 32 * 32], t);
    p[t] = s[OTHER];
}

KERNEL(c_stmatrix)
{
    THREAD;
    __shared__ __align__(16) unsigned s[64];
    store_matrix(&s[t % 8 * 4 + t / 32 * 32], t);
    __syncthreads();
    p[t] = s[OTHER];
}

KERNEL(e_stmatrix_same_rows)
{
    THREAD;
    __shared__ __align__(16) unsigned s[64];
    store_matrix(&s[t % 4 * 4 + t / 32 * 32], t);
    __syncthreads();
    p[t] = s[t];
}

KERNEL(c_stmatrix_same_rows)
{
    THREAD;
    __shared__ __align__(16) unsigned s[64];
    store_matrix(&s[t % 4 * 4 + t / 32 * 32], 7);
    __syncthreads();
    p[t] = s[t];
}

// Both warps store the same rows.
KERNEL(e_stmatrix_warps)
{
    THREAD;
    __shared__ __align__(16) unsigned s[64];
    store_matrix(&s[t % 8 * 4], t);
    __syncthreads();
    p[t] = s[t % 32];
}

KERNEL(b_stmatrix_warps)
{
    THREAD;
    __shared__ __align__(16) unsigned s[64];
    store_matrix(&s[t % 8 * 4], t % 32);
    __syncthreads();
    p[t] = s[t % 32];
}

KERNEL(e_copy_ldmatrix)
{
    THREAD;
    __shared__ __align__(16) unsigned s[64];
    copy(&s[t], &p[t]);
    commit();
    __syncthreads();
    p[64 + t] = load_matrix(&s[t % 8 * 4]);
    wait<0>();
}

KERNEL(c_copy_ldmatrix)
{
    THREAD;
    __shared__ __align__(16) unsigned s[64];
    copy(&s[t], &p[t]);
    commit();
    wait<0>();
    __syncthreads();
    p[64 + t] = load_matrix(&s[t % 8 * 4]);
}
