/* The number of blocks of a kernel that the device profile holds at once. */
#include "api/launch/launch.h"

unsigned ptxi_occupancy_blocks_by_threads(const struct ptxi_profile *p, unsigned threads)
{
    unsigned warps = (threads + 31) / 32, n = p->threads / 32 / warps;

    if (threads > PTXI_MAX_CTA_THREADS)
        return 0;
    return n < p->blocks ? n : p->blocks;
}

/* Bytes of shared memory that a multiprocessor is configured to have: all of it, or the least size that satisfies the
 * carveout and one block. */
static size_t configure_shared(const struct ptxi_profile *p, int carveout, size_t block)
{
    static const unsigned char kib[] = { 8, 16, 32, 64, 100, 132, 164, 196 };
    size_t wanted = carveout < 0 ? p->shared : p->shared * (size_t)carveout / 100;

    wanted = wanted < block ? block : wanted;
    for (unsigned k = 0; k < sizeof kib; k++)
        if ((size_t)kib[k] << 10 >= wanted && (size_t)kib[k] << 10 < p->shared)
            return (size_t)kib[k] << 10;
    return p->shared;
}

unsigned ptxi_occupancy_blocks(const struct ptxi_profile *p, const struct ptxi_code *code, unsigned threads,
                               size_t dynamic, int carveout)
{
    unsigned n = ptxi_occupancy_blocks_by_threads(p, threads);
    size_t grain = PTXI_SHARED_GRANULARITY, used = code->shared_bytes + dynamic + p->reserved;
    size_t shared = (used + grain - 1) & ~(grain - 1);
    size_t fit = shared ? configure_shared(p, carveout, shared) / shared : n;

    return fit < n ? (unsigned)fit : n;
}

int ptxi_occupancy_of_function(ptxiFunction f, unsigned threads, size_t dynamic)
{
    const struct ptxi_code *code = ptxi_module_code(f->module, f->func->index, false);

    return code ? (int)ptxi_occupancy_blocks(f->module->profile, code, threads, dynamic, -1) : -1;
}
