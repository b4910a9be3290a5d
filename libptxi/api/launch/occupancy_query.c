/* Queries: how many blocks and clusters of a kernel the device profile holds at once. */
#include "api/launch/launch.h"

#include <limits.h>

ptxiResult ptxiOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, ptxiFunction func, int blockSize,
                                                         size_t dynamicSMemSize)
{
    API_CALL;
    return ptxiOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, dynamicSMemSize, 0);
}

ptxiResult ptxiOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, ptxiFunction func, int blockSize,
                                                                  size_t dynamicSMemSize,
                                                                  unsigned flags)
{
    API_CALL;
    const struct ptxi_code *code;
    ptxiResult r = ptxi_launch_enter(&func, &code);

    if (r)
        return r;
    if (!numBlocks || blockSize < 1 || flags > 1)
        return PTXI_ERROR_INVALID_VALUE;
    *numBlocks = 0;
    if (dynamicSMemSize <= (size_t)ptxi_launch_max_dynamic_shared(func, code))
        *numBlocks = (int)ptxi_occupancy_blocks(func->module->profile, code, (unsigned)blockSize, dynamicSMemSize,
                                                func->carveout);
    return PTXI_SUCCESS;
}

ptxiResult ptxiOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, ptxiFunction func,
                                              ptxiOccupancyB2DSize blockSizeToDynamicSMemSize,
                                              size_t dynamicSMemSize, int blockSizeLimit)
{
    API_CALL;
    return ptxiOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, blockSizeToDynamicSMemSize,
                                                       dynamicSMemSize, blockSizeLimit, 0);
}

/* Tries block sizes from the largest down, in whole warps, like the toolkit's cuda_occupancy.h. */
ptxiResult ptxiOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, ptxiFunction func,
                                                       ptxiOccupancyB2DSize blockSizeToDynamicSMemSize,
                                                       size_t dynamicSMemSize, int blockSizeLimit,
                                                       unsigned flags)
{
    API_CALL;
    const struct ptxi_code *code;
    ptxiResult r = ptxi_launch_enter(&func, &code);
    unsigned best = 0, most;

    if (r)
        return r;
    if (!minGridSize || !blockSize || blockSizeLimit < 0 || flags > 1)
        return PTXI_ERROR_INVALID_VALUE;
    const struct ptxi_profile *p = func->module->profile;

    most = ptxi_launch_max_threads(func->func);
    if (blockSizeLimit && (unsigned)blockSizeLimit < most)
        most = (unsigned)blockSizeLimit;
    *blockSize = *minGridSize = 0;
    for (unsigned up = (most + 31) / 32 * 32; up; up -= 32) {
        unsigned threads = up < most ? up : most;
        size_t shared = blockSizeToDynamicSMemSize ? blockSizeToDynamicSMemSize((int)threads) : dynamicSMemSize;
        unsigned blocks = ptxi_occupancy_blocks(p, code, threads, shared, -1);

        if (threads * blocks <= best)
            continue;
        best = threads * blocks;
        *blockSize = (int)threads;
        *minGridSize = (int)(blocks * p->multiprocessors);
    }
    return PTXI_SUCCESS;
}

ptxiResult ptxiOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, ptxiFunction func, int numBlocks,
                                                     int blockSize)
{
    API_CALL;
    const struct ptxi_code *code;
    ptxiResult r = ptxi_launch_enter(&func, &code);

    if (r)
        return r;
    const struct ptxi_profile *p = func->module->profile;

    if (!dynamicSmemSize || numBlocks < 1 || blockSize < 1 ||
        (unsigned)numBlocks > ptxi_occupancy_blocks_by_threads(p, (unsigned)blockSize))
        return PTXI_ERROR_INVALID_VALUE;
    size_t each = p->shared / (unsigned)numBlocks & ~(size_t)(PTXI_SHARED_GRANULARITY - 1),
    most = (size_t)ptxi_launch_max_dynamic_shared(func, code);
    size_t left = each - code->shared_bytes;

    if (each < code->shared_bytes)
        return PTXI_ERROR_INVALID_VALUE;
    *dynamicSmemSize = left < most ? left : most;
    return PTXI_SUCCESS;
}

/* ---- clusters: all blocks of a cluster are on the multiprocessors of one group */

/* Number of multiprocessors in group k, or 0. The sizes for sm_90 were measured on an H200 and add up to its 132.
 * The disabled multiprocessors differ between chips. Other devices have groups of 16 here. */
static unsigned group_size(const struct ptxi_profile *p, unsigned k)
{
    static const uint8_t groups[] = { 18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2 };
    enum { USUAL = 16 };

    if (p->sm == 90)
        return k < sizeof groups ? groups[k] : 0;
    unsigned before = k * USUAL, left = p->multiprocessors > before ? p->multiprocessors - before : 0;

    return left < USUAL ? left : USUAL;
}

/* Number of clusters of `size` blocks that fit, with `blocks` blocks per multiprocessor. */
static unsigned count_clusters(const struct ptxi_profile *p, unsigned blocks, unsigned size)
{
    unsigned n = 0, group;

    for (unsigned k = 0; (group = group_size(p, k)); k++)
        n += group >= size ? group * blocks / size : 0;
    return n;
}

/* Number of threads, saturated just above the maximum of a block. */
static unsigned count_threads(const unsigned *block)
{
    uint64_t n = 1;

    for (int i = 0; i < 3; i++)
        n = n * block[i] < PTXI_MAX_CTA_THREADS + 1 ? n * block[i] : PTXI_MAX_CTA_THREADS + 1;
    return (unsigned)n;
}

/* Reads how many blocks of clusters a multiprocessor holds, and the size of the clusters. 0: there are no clusters. */
static ptxiResult read_clusters(ptxiFunction *func, const ptxiLaunchConfig *config, unsigned *blocks, unsigned *size)
{
    enum { MAX_BLOCKS = 8 };
    const struct ptxi_code *code;
    struct ptxi_launch_shape s;
    ptxiResult r = *func ? ptxi_launch_enter(func, &code) : PTXI_ERROR_INVALID_VALUE;
    ptxiFunction f = *func;

    if (r || (r = ptxi_launch_read_config(config, &s)) ||
        (r = ptxi_launch_cluster(f, &s, f->nonportable_cluster ? UINT_MAX : PTXI_PORTABLE_CLUSTER)))
        return r;
    if (!ptxi_launch_is_grid(s.grid) || !s.block[0] || !s.block[1] || !s.block[2])
        return PTXI_ERROR_INVALID_VALUE;
    *size = s.cluster[0] * s.cluster[1] * s.cluster[2];
    *blocks = 0;
    if (s.shared <= (unsigned)ptxi_launch_max_dynamic_shared(f, code))
        *blocks = ptxi_occupancy_blocks(f->module->profile, code, count_threads(s.block), s.shared, -1);
    *blocks = *blocks < MAX_BLOCKS ? *blocks : MAX_BLOCKS;
    return PTXI_SUCCESS;
}

ptxiResult ptxiOccupancyMaxActiveClusters(int *numClusters, ptxiFunction func, const ptxiLaunchConfig *config)
{
    API_CALL;
    unsigned blocks, size;
    ptxiResult r = numClusters ? read_clusters(&func, config, &blocks, &size) : PTXI_ERROR_INVALID_VALUE;

    if (!r)
        *numClusters = size ? (int)count_clusters(func->module->profile, blocks, size) : 0;
    return r;
}

ptxiResult ptxiOccupancyMaxPotentialClusterSize(int *clusterSize, ptxiFunction func, const ptxiLaunchConfig *config)
{
    API_CALL;
    unsigned blocks, size;
    ptxiResult r = clusterSize ? read_clusters(&func, config, &blocks, &size) : PTXI_ERROR_INVALID_VALUE;

    if (r)
        return r;
    size = ptxi_launch_max_cluster(func);
    while (size && !count_clusters(func->module->profile, blocks, size))
        size--;
    *clusterSize = (int)size;
    return PTXI_SUCCESS;
}
