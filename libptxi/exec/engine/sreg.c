/* PTX ISA, "Special Registers". */
#include <time.h>

#include "exec/engine/cta.h"
#include "exec/engine/divergence.h"
#include "exec/engine/handler.h"
#include "exec/engine/sreg.h"

/* %globaltimer: the time of day. */
static uint64_t wall_clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* %clock counts instructions, as coarsely as the quantum does: at loops and calls. */
static uint64_t clock_now(struct ptxi_warp *w)
{
    return ++w->worker->clock + (uint64_t)(PTXI_QUANTUM - w->quantum);
}

/* Thread index of a lane along x, y or z (.w is 0). */
static uint32_t thread_index(const struct ptxi_warp *w, unsigned lane, unsigned axis)
{
    const uint32_t *b = w->cta->grid->block;
    uint32_t t = w->first_thread + lane;

    switch (axis) {
    case 0: return t % b[0];
    case 1: return t / b[0] % b[1];
    case 2: return t / b[0] / b[1];
    default: return 0;
    }
}

static uint32_t lanemask(enum ptxi_sreg id, unsigned lane)
{
    uint32_t eq = UINT32_C(1) << (lane % 32), lt = eq - 1;

    switch (id) {
    case PTXI_SREG_lanemask_eq: return eq;
    case PTXI_SREG_lanemask_lt: return lt;
    case PTXI_SREG_lanemask_le: return lt | eq;
    case PTXI_SREG_lanemask_gt: return ~(lt | eq);
    default: return ~lt;
    }
}

/* Bytes in use of the shared memory that the system reserves, as on an H200. It begins at 0. PTX ISA, "Special
 * Registers: %reserved_smem_offset_begin". */
enum { RESERVED_USED = 288 };

static uint32_t shared_total(const struct ptxi_grid *g)
{
    return (g->code->shared_bytes + g->dynamic_shared + 127) / 128 * 128;
}

static uint64_t cta_memory(const struct ptxi_cta *c)
{
    const struct ptxi_grid *g = c->grid;
    uint64_t n = c->ctaid[0] + g->grid[0] * (c->ctaid[1] + (uint64_t)g->grid[1] * c->ctaid[2]);

    return g->cta_memory ? g->cta_memory + n * g->cta_memory_pitch : 0;
}

/* Registers that have one value for all lanes. */
static uint64_t warp_value(struct ptxi_warp *w, enum ptxi_sreg id, unsigned n)
{
    const struct ptxi_grid *g = w->cta->grid;

    switch (id) {
    case PTXI_SREG_ntid: return n < 3 ? g->block[n] : 0;
    case PTXI_SREG_ctaid: return n < 3 ? w->cta->ctaid[n] : 0;
    case PTXI_SREG_nctaid: return n < 3 ? g->grid[n] : 0;
    case PTXI_SREG_nwarpid: return g->sm_warps;
    case PTXI_SREG_smid: return w->worker->index % g->sm_count;
    case PTXI_SREG_nsmid: return g->sm_count;
    case PTXI_SREG_gridid: return g->gridid;
    case PTXI_SREG_current_graph_exec: return g->graph;
    case PTXI_SREG_clusterid: return n < 3 ? w->cta->ctaid[n] / g->cluster[n] : 0;
    case PTXI_SREG_nclusterid: return n < 3 ? g->grid[n] / g->cluster[n] : 0;
    case PTXI_SREG_cluster_ctaid: return n < 3 ? w->cta->ctaid[n] % g->cluster[n] : 0;
    case PTXI_SREG_cluster_nctaid: return n < 3 ? g->cluster[n] : 0;
    case PTXI_SREG_cluster_ctarank: return w->cta->rank;
    case PTXI_SREG_cluster_nctarank: return g->cluster_size;
    case PTXI_SREG_clock: return (uint32_t)clock_now(w);
    case PTXI_SREG_clock_hi: return clock_now(w) >> 32;
    case PTXI_SREG_clock64: return clock_now(w);
    case PTXI_SREG_globaltimer: return wall_clock_ns();
    case PTXI_SREG_globaltimer_lo: return (uint32_t)wall_clock_ns();
    case PTXI_SREG_globaltimer_hi: return wall_clock_ns() >> 32;
    case PTXI_SREG_envreg:
        if (n == 1)
            return g->envreg12 >> 32;
        return n == 2 ? (uint32_t)g->envreg12 : 0;
    case PTXI_SREG_perctamemoryoffset: return cta_memory(w->cta);
    case PTXI_SREG_perctamemorysize: return g->cta_memory_pitch;
    case PTXI_SREG_total_smem_size: return shared_total(g);
    case PTXI_SREG_aggr_smem_size: return g->code->shared_base + g->code->shared_bytes + g->dynamic_shared;
    case PTXI_SREG_dynamic_smem_size: return g->dynamic_shared;
    case PTXI_SREG_reserved_smem_offset_end: return g->code->shared_base ? RESERVED_USED : 0;
    case PTXI_SREG_reserved_smem_offset_cap: return g->code->shared_base;
    default: return 0; /* %pm, reserved offsets, locality domains: 0 */
    }
}

/* Registers that differ between lanes. */
static uint32_t lane_value(const struct ptxi_warp *w, enum ptxi_sreg id, unsigned n, unsigned lane)
{
    switch (id) {
    case PTXI_SREG_tid: return thread_index(w, lane, n);
    case PTXI_SREG_laneid: return lane % 32;
    case PTXI_SREG_warpid: return (w->first_thread + lane) / 32;
    default: return lanemask(id, lane);
    }
}

uint64_t PTXI_LEVELED(sreg_of_warp)(struct ptxi_warp *w, int32_t imm)
{
    return warp_value(w, imm & 0xff, (unsigned)imm >> 8);
}

OP( sreg_32 )
{
    enum ptxi_sreg id = i->imm & 0xff;
    unsigned n = (unsigned)i->imm >> 8;
    uint32_t *d = PTXI_SLOT(w, i->d);

    if (ptxi_sreg_scope(id) == PTXI_SCOPE_LANE) {
        for (int l = 0; l < PTXI_LANES; l++)
            if (w->active >> l & 1)
                d[l] = lane_value(w, id, n, (unsigned)l);
    } else {
        uint32_t x = (uint32_t)warp_value(w, id, n);

        WRITE_LANES(d, x);
    }
    NEXT;
}

OP( sreg_64 )
{
    uint64_t x = warp_value(w, i->imm & 0xff, (unsigned)i->imm >> 8), *d = PTXI_SLOT(w, i->d);

    WRITE_LANES(d, x);
    NEXT;
}

OP( sreg_pred )
{
    ptxi_set_pred(w, i->d, w->cta->grid->explicit_cluster ? PTXI_ALL_LANES : 0); /* %is_explicit_cluster */
    NEXT;
}
