/* How many blocks and clusters of a kernel the device profile holds at once. */
#include <limits.h>

#include "api/launch/launch.h"

enum { GRAIN = 128 }; /* of shared memory */

/* Those that a multiprocessor has room for but for memory. */
static unsigned blocks_by_threads(const struct ptxi_profile *p, unsigned threads)
{
    unsigned warps = (threads + 31) / 32, n = p->threads / 32 / warps;

    return threads > PTXI_MAX_CTA_THREADS ? 0 : n < p->blocks ? n : p->blocks;
}

/* Bytes of shared memory that a multiprocessor is configured to have: all, or at least the preferred percentage and what one block needs. */
static size_t configured(const struct ptxi_profile *p, int carveout, size_t block)
{
    static const unsigned char kib[] = { 8, 16, 32, 64, 100, 132, 164, 196 };
    size_t wanted = carveout < 0 ? p->shared : p->shared * (size_t)carveout / 100;

    wanted = wanted < block ? block : wanted;
    for (unsigned k = 0; k < sizeof kib; k++)
        if ((size_t)kib[k] << 10 >= wanted && (size_t)kib[k] << 10 < p->shared)
            return (size_t)kib[k] << 10;
    return p->shared;
}

static unsigned blocks_with(const struct ptxi_profile *p, const struct ptxi_code *code, unsigned threads, size_t dynamic, int carveout)
{
    unsigned n = blocks_by_threads(p, threads);
    size_t shared = (code->shared_bytes + dynamic + p->reserved + GRAIN - 1) & ~(size_t)(GRAIN - 1);
    size_t fit = shared ? configured(p, carveout, shared) / shared : n;

    return fit < n ? (unsigned)fit : n;
}

unsigned ptxi_launch_blocks(const struct ptxi_profile *p, const struct ptxi_code *code, unsigned threads, size_t dynamic)
{
    return blocks_with(p, code, threads, dynamic, -1);
}

int ptxi_launch_blocks_per_mp(ptxiFunction f, unsigned threads, size_t dynamic)
{
    const struct ptxi_code *code = ptxi_module_code(f->module, f->func->index, false);

    return code ? (int)ptxi_launch_blocks(f->module->profile, code, threads, dynamic) : -1;
}

ptxiResult ptxiOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, ptxiFunction func, int blockSize, size_t dynamicSMemSize)
{
    API_CALL;
    return ptxiOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, dynamicSMemSize, 0);
}

ptxiResult ptxiOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, ptxiFunction func, int blockSize, size_t dynamicSMemSize,
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
        *numBlocks = (int)blocks_with(func->module->profile, code, (unsigned)blockSize, dynamicSMemSize, func->carveout);
    return PTXI_SUCCESS;
}

ptxiResult ptxiOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, ptxiFunction func, ptxiOccupancyB2DSize blockSizeToDynamicSMemSize,
                                              size_t dynamicSMemSize, int blockSizeLimit)
{
    API_CALL;
    return ptxiOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit, 0);
}

/* From the largest block down, in whole warps, as the toolkit's cuda_occupancy.h goes. */
ptxiResult ptxiOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, ptxiFunction func,
                                                       ptxiOccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize, int blockSizeLimit,
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
        unsigned blocks = ptxi_launch_blocks(p, code, threads, shared);

        if (threads * blocks <= best)
            continue;
        best = threads * blocks;
        *blockSize = (int)threads;
        *minGridSize = (int)(blocks * p->multiprocessors);
    }
    return PTXI_SUCCESS;
}

ptxiResult ptxiOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, ptxiFunction func, int numBlocks, int blockSize)
{
    API_CALL;
    const struct ptxi_code *code;
    ptxiResult r = ptxi_launch_enter(&func, &code);

    if (r)
        return r;
    const struct ptxi_profile *p = func->module->profile;

    if (!dynamicSmemSize || numBlocks < 1 || blockSize < 1 || (unsigned)numBlocks > blocks_by_threads(p, (unsigned)blockSize))
        return PTXI_ERROR_INVALID_VALUE;
    size_t each = p->shared / (unsigned)numBlocks & ~(size_t)(GRAIN - 1), most = (size_t)ptxi_launch_max_dynamic_shared(func, code);
    size_t left = each - code->shared_bytes;

    if (each < code->shared_bytes)
        return PTXI_ERROR_INVALID_VALUE;
    *dynamicSmemSize = left < most ? left : most;
    return PTXI_SUCCESS;
}

/* ---- clusters: all blocks of one are on the multiprocessors of one group */

/* Multiprocessors of group k, or 0. Those of sm_90 are the ones that an H200 was found to have, which add up to its 132; what is switched off differs
 * from chip to chip. Others have groups of 16 here. */
static unsigned group_size(const struct ptxi_profile *p, unsigned k)
{
    static const uint8_t groups[] = { 18, 18, 16, 16, 16, 16, 16, 8, 2, 2, 2, 2 };
    enum { USUAL = 16 };

    if (p->sm == 90)
        return k < sizeof groups ? groups[k] : 0;
    unsigned before = k * USUAL, left = p->multiprocessors > before ? p->multiprocessors - before : 0;

    return left < USUAL ? left : USUAL;
}

/* How many clusters of `size` blocks there may be, with so many blocks on a multiprocessor. */
static unsigned clusters(const struct ptxi_profile *p, unsigned blocks, unsigned size)
{
    unsigned n = 0, group;

    for (unsigned k = 0; (group = group_size(p, k)); k++)
        n += group >= size ? group * blocks / size : 0;
    return n;
}

/* More than a block may have if they are. */
static unsigned thread_count(const unsigned *block)
{
    uint64_t n = 1;

    for (int i = 0; i < 3; i++)
        n = n * block[i] < PTXI_MAX_CTA_THREADS + 1 ? n * block[i] : PTXI_MAX_CTA_THREADS + 1;
    return (unsigned)n;
}

/* Blocks of clusters that a multiprocessor holds, and the size of the clusters; 0: there are none. */
static ptxiResult read_clusters(ptxiFunction *func, const ptxiLaunchConfig *config, unsigned *blocks, unsigned *size)
{
    enum { MOST_BLOCKS = 8 };
    const struct ptxi_code *code;
    struct ptxi_launch_shape s;
    ptxiResult r = *func ? ptxi_launch_enter(func, &code) : PTXI_ERROR_INVALID_VALUE;
    ptxiFunction f = *func;

    if (r || (r = ptxi_launch_read_config(config, &s)) || (r = ptxi_launch_cluster(f, &s, f->nonportable_cluster ? UINT_MAX : PTXI_PORTABLE_CLUSTER)))
        return r;
    if (!ptxi_launch_is_grid(s.grid) || !s.block[0] || !s.block[1] || !s.block[2])
        return PTXI_ERROR_INVALID_VALUE;
    *size = s.cluster[0] * s.cluster[1] * s.cluster[2];
    *blocks = 0;
    if (s.shared <= (unsigned)ptxi_launch_max_dynamic_shared(f, code))
        *blocks = ptxi_launch_blocks(f->module->profile, code, thread_count(s.block), s.shared);
    *blocks = *blocks < MOST_BLOCKS ? *blocks : MOST_BLOCKS;
    return PTXI_SUCCESS;
}

ptxiResult ptxiOccupancyMaxActiveClusters(int *numClusters, ptxiFunction func, const ptxiLaunchConfig *config)
{
    API_CALL;
    unsigned blocks, size;
    ptxiResult r = numClusters ? read_clusters(&func, config, &blocks, &size) : PTXI_ERROR_INVALID_VALUE;

    if (!r)
        *numClusters = size ? (int)clusters(func->module->profile, blocks, size) : 0;
    return r;
}

ptxiResult ptxiOccupancyMaxPotentialClusterSize(int *clusterSize, ptxiFunction func, const ptxiLaunchConfig *config)
{
    API_CALL;
    unsigned blocks, size;
    ptxiResult r = clusterSize ? read_clusters(&func, config, &blocks, &size) : PTXI_ERROR_INVALID_VALUE;

    if (r)
        return r;
    size = func->nonportable_cluster ? PTXI_MOST_CLUSTER : PTXI_PORTABLE_CLUSTER;
    while (size && !clusters(func->module->profile, blocks, size))
        size--;
    *clusterSize = (int)size;
    return PTXI_SUCCESS;
}
