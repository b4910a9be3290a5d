/* Asynchronous copies, barriers in shared memory and clusters, with the classes of CUDA C++. */
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#pragma nv_diag_suppress static_var_with_dynamic_init
namespace cg = cooperative_groups;

/* Copies tiles of 32 x 16 bytes through two buffers and reverses each tile. */
extern "C" __global__ void pipeline(const int4 *in, int4 *out, int n)
{
    __shared__ int4 buf[2][32];
    auto p = cuda::make_pipeline();
    unsigned t = threadIdx.x;

    p.producer_acquire();
    cuda::memcpy_async(&buf[0][t], &in[t], cuda::aligned_size_t<16>(16), p);
    p.producer_commit();
    for (int i = 0; i < n; i++) {
        p.producer_acquire();
        if (i + 1 < n)
            cuda::memcpy_async(&buf[(i + 1) & 1][t], &in[(i + 1) * 32 + t], cuda::aligned_size_t<16>(16), p);
        p.producer_commit();
        cuda::pipeline_consumer_wait_prior<1>(p);
        __syncthreads();
        out[i * 32 + t] = buf[i & 1][31 - t];
        __syncthreads();
        p.consumer_release();
    }
}

/* Copies words, and waits for the copies at a barrier, in n rounds. */
extern "C" __global__ void barrier(const unsigned *in, unsigned *out, int n)
{
    using block_barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ block_barrier b;
    __shared__ unsigned s[128];
    unsigned t = threadIdx.x, sum = 0;

    if (t == 0)
        init(&b, blockDim.x);
    __syncthreads();
    for (int i = 0; i < n; i++) {
        cuda::memcpy_async(&s[t], &in[i * 128 + t], sizeof *s, b);
        b.arrive_and_wait();
        sum = sum * 3 + s[127 - t];
        b.arrive_and_wait();
    }
    out[t] = sum;
}

/* Each block of a cluster of four reads the shared memory of another block. */
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned s[64];
    auto c = cg::this_cluster();
    unsigned t = threadIdx.x, g = blockIdx.x * 64 + t;

    s[t] = in[g];
    c.sync();
    out[g] = c.map_shared_rank(s, (c.block_rank() + n) % c.num_blocks())[63 - t] + c.block_rank();
    c.sync();
}
