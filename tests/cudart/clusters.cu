// Clusters of blocks: ranks, distributed shared memory, cluster sizes at compile time and at launch, and limits.
#include "show.h"

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ void exchange(int *out)
{
    __shared__ int word;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), n = cluster.num_blocks();

    if (!threadIdx.x)
        word = 100 * blockIdx.x + rank;
    cluster.sync();
    if (!threadIdx.x)
        out[blockIdx.x] = *cluster.map_shared_rank(&word, (rank + 1) % n);
    cluster.sync();
}

__global__ void __cluster_dims__(2, 1, 1) pairs(int *out)
{
    exchange(out);
}

__global__ void any_size(int *out)
{
    exchange(out);
}

__global__ void histogram(int *out)
{
    extern __shared__ int bins[];
    cg::cluster_group cluster = cg::this_cluster();

    bins[threadIdx.x] = 0;
    cluster.sync();
    for (int i = 0; i < 64; i++) {
        int bin = (threadIdx.x * 7 + i * 3 + blockIdx.x) % (cluster.num_blocks() * blockDim.x);
        atomicAdd(cluster.map_shared_rank(bins, bin / blockDim.x) + bin % blockDim.x, 1);
    }
    cluster.sync();
    out[blockIdx.x * blockDim.x + threadIdx.x] = bins[threadIdx.x];
}

static int *out, host[128];
static cudaLaunchAttribute attribute[1];

static cudaLaunchConfig_t make_config(int blocks, int cluster)
{
    cudaLaunchConfig_t c = {};

    c.gridDim = dim3(blocks);
    c.blockDim = dim3(32);
    c.attrs = attribute;
    c.numAttrs = 1;
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim = { (unsigned)cluster, 1, 1 };
    return c;
}

int main()
{
    int value = -1;
    cudaLaunchConfig_t c;

    MUST(cudaMalloc(&out, sizeof host));
    pairs<<<4, 32>>>(out);
    SHOW(cudaGetLastError());
    fetch(host, out, 4);
    show_ints("pairs", host, 4);
    pairs<<<3, 32>>>(out);
    SHOW(cudaGetLastError());
    for (int cluster : { 1, 4, 8, 16, 3, 0, 32 }) {
        c = make_config(cluster == 3 ? 6 : 16, cluster);
        printf("cluster of %d\n", cluster);
        if (!SHOW(cudaLaunchKernelEx(&c, any_size, out))) {
            fetch(host, out, (int)c.gridDim.x);
            show_ints("any_size", host, c.gridDim.x);
        }
        cudaGetLastError();
    }
    c = make_config(10, 4);
    SHOW(cudaLaunchKernelEx(&c, any_size, out));
    c = make_config(4, 2);
    SHOW(cudaLaunchKernelEx(&c, pairs, out));
    c = make_config(4, 4);
    SHOW(cudaLaunchKernelEx(&c, pairs, out));
    SHOW(cudaFuncSetAttribute(any_size, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    c = make_config(16, 16);
    SHOW(cudaLaunchKernelEx(&c, any_size, out));
    SHOW(cudaDeviceSynchronize());
    c = make_config(4, 4);
    c.dynamicSmemBytes = 32 * sizeof(int);
    SHOW(cudaLaunchKernelEx(&c, histogram, out));
    fetch(host, out, 128);
    show_ints("histogram", host, 16);
    SHOW(cudaOccupancyMaxPotentialClusterSize(&value, pairs, &c));
    printf("largest: %d\n", value);
    c = make_config(4, 4);
    SHOW(cudaOccupancyMaxPotentialClusterSize(&value, histogram, &c));
    printf("largest: %d\n", value);
    SHOW(cudaOccupancyMaxActiveClusters(&value, histogram, &c));
    printf("active: %d\n", value > 0);
    SHOW(cudaGetLastError());
    return 0;
}
