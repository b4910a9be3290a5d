/* Clusters. Blocks read and write the shared memory of other blocks. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>
#include <cuda/ptx>

namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;

enum { THREADS = 128 };

/* Sum of floats: first in each warp, then in the block, then in the cluster, as a tree. */
extern "C" __global__ void __cluster_dims__(8, 1, 1) __launch_bounds__(THREADS) tree(const float *in, float *out, int n)
{
    __shared__ float warps[THREADS / 32], sum;
    auto cluster = cg::this_cluster();
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    float v = 0;

    for (int i = cluster.thread_rank(); i < n; i += cluster.num_threads())
        v += in[blockIdx.x / 8 * n + i];
    v = cg::reduce(warp, v, cg::plus<float>());
    if (warp.thread_rank() == 0)
        warps[warp.meta_group_rank()] = v;
    block.sync();
    if (block.thread_rank() == 0)
        sum = warps[0] + warps[1] + (warps[2] + warps[3]);
    for (unsigned d = 1; d < cluster.num_blocks(); d *= 2) {
        cluster.sync();
        if (block.thread_rank() == 0 && cluster.block_rank() % (2 * d) == 0)
            sum += *cluster.map_shared_rank(&sum, cluster.block_rank() + d);
    }
    if (cluster.thread_rank() == 0)
        out[blockIdx.x / 8] = sum;
    cluster.sync();
}

/* A histogram. Each block of the cluster has a part of the bins. */
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(THREADS)
spread_histogram(const unsigned *in, unsigned *out, int n)
{
    enum { BINS = 64 };
    __shared__ unsigned bins[BINS];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x;

    if (t < BINS)
        bins[t] = 0;
    cluster.sync();
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS) {
        unsigned bin = in[i] >> 24;

        atomicAdd(cluster.map_shared_rank(&bins[bin % BINS], bin / BINS), 1);
    }
    auto token = cluster.barrier_arrive();
    unsigned rank = cluster.query_shared_rank(bins) + cluster.dim_blocks().x * 10;
    cluster.barrier_wait(cuda::std::move(token));
    if (t < BINS)
        atomicAdd(&out[cluster.block_rank() * BINS + t], bins[t]);
    if (t == BINS)
        out[4 * BINS + blockIdx.x] = rank;
}

/* A ring. Each block sends its words to the next block by bulk copies, which complete the barrier of that block. It
 * adds the words that it receives. */
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(THREADS)
ring(const unsigned *in, unsigned *out, int n)
{
    __shared__ alignas(16) unsigned have[4][THREADS];
    __shared__ uint64_t full[4];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, g = blockIdx.x * THREADS + t;
    unsigned next = (cluster.block_rank() + 1) % 4, sum = in[g];

    if (t < 4)
        ptx::mbarrier_init(&full[t], 1);
    have[0][t] = in[g];
    if (t == 0)
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    cluster.sync();
    for (int step = 1; step < 4; step++) {
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (t == 0) {
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &full[step],
                                           sizeof have[0]);
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, cluster.map_shared_rank(have[step], next),
                               have[step - 1], sizeof have[0], cluster.map_shared_rank(&full[step], next));
        }
        while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &full[step], 0))
            ;
        sum = sum * n + have[step][t];
    }
    out[g] = sum;
    cluster.sync();
}

/* A bulk copy of one block is multicast to the cluster. Single words are sent to other blocks by st.async. */
extern "C" __global__ void __cluster_dims__(4, 1, 1) __launch_bounds__(THREADS)
broadcast(const unsigned *in, unsigned *out, int n)
{
    __shared__ alignas(16) unsigned common[THREADS], words[THREADS];
    __shared__ uint64_t full;
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, g = blockIdx.x * THREADS + t;
    unsigned rank = cluster.block_rank();

    if (t == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    cluster.sync();
    if (t == 0) {
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &full,
                                       sizeof common + sizeof words);
        if (rank == 0)
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, common, in + blockIdx.x * THREADS,
                               sizeof common, &full, (uint16_t)0xf);
    }
    unsigned to = (rank + t) % 4; /* each word of each block is sent by one of the four */
    ptx::st_async(cluster.map_shared_rank(&words[t], to), in[g] + n, cluster.map_shared_rank(&full, to));
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &full, 0))
        ;
    out[2 * g] = common[t];
    out[2 * g + 1] = words[t];
    cluster.sync();
}
