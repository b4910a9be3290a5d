#include "exec/sync/cluster_barrier.h"

#include <assert.h>

#include "exec/check/check.h"
#include "exec/check/sync.h"
#include "exec/engine/cta.h"
#include "exec/engine/divergence.h"
#include "exec/finding/finding.h"

/* Number of live threads of the cluster that have not arrived. */
static uint32_t count_missing(const struct ptxi_cta *lead)
{
    uint32_t n = 0;

    for (uint32_t m = 0; m < lead->member_count; m++)
        for (uint32_t k = 0; k < lead->members[m]->warp_count; k++) {
            const struct ptxi_warp *w = &lead->members[m]->warps[k];

            n += (uint32_t)__builtin_popcountll(w->live & ~w->cluster_arrived);
        }
    return n;
}

/* The barrier is complete. Its next phase begins. */
static void release(struct ptxi_cta *lead)
{
    if (lead->check)
        ptxi_check_cluster_meets(lead);
    for (uint32_t m = 0; m < lead->member_count; m++)
        for (uint32_t k = 0; k < lead->members[m]->warp_count; k++) {
            struct ptxi_warp *w = &lead->members[m]->warps[k];

            w->cluster_arrived = 0;
            ptxi_wake_mbarrier_splits(w, NULL, false);
        }
    lead->cluster_barrier_missing = count_missing(lead);
}

/* These lanes are no longer missing. */
static void subtract_missing(struct ptxi_cta *lead, ptxi_lanes lanes)
{
    assert(lead->cluster_barrier_missing >= (uint32_t)__builtin_popcountll(lanes));
    lead->cluster_barrier_missing -= (uint32_t)__builtin_popcountll(lanes);
    if (!lead->cluster_barrier_missing)
        release(lead);
}

const struct ptxi_insn *ptxi_cluster_barrier_arrive(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_cta *lead = w->cta->lead;
    ptxi_lanes lanes = w->active;

    if (lanes & w->cluster_arrived)
        return ptxi_fault(w, i, PTXI_FK_BARRIER, lanes & w->cluster_arrived, 0, 0,
                          "a thread arrives twice at the cluster barrier");
    if (!lead->cluster_barrier_used) {
        lead->cluster_barrier_used = true;
        lead->cluster_barrier_missing = count_missing(lead);
    }
    w->cluster_arrived |= lanes;
    if (w->cta->check)
        ptxi_check_cluster_arrives(w, lanes, i->mods & PTXI_CLUSTER_RELAXED);
    subtract_missing(lead, lanes);
    /* other splits of this warp may have become ready */
    return w->split_count > 1 ? ptxi_leave_switch(w, i + 1) : i + 1;
}

const struct ptxi_insn *ptxi_cluster_barrier_wait(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    ptxi_lanes others;

    if (w->active & w->cluster_arrived)
        return ptxi_leave_mbarrier(w, i, NULL);
    others = w->cta->check ? ptxi_check_cluster_waits(w, w->active) : 0;
    if (others)
        ptxi_sync_report(w, w->frame->code, i, others, PTXI_FINDING_BARRIER, PTXI_FINDING_ERROR,
                         "a thread waits for the cluster barrier and has not arrived");
    return i + 1;
}

void ptxi_cluster_barrier_exit(struct ptxi_warp *w, ptxi_lanes lanes)
{
    struct ptxi_cta *lead = w->cta->lead;

    if (w->cta->check && lead->cluster_barrier_used)
        ptxi_check_cluster_arrives(w, lanes, false);
    if (lead->cluster_barrier_used && lanes & ~w->cluster_arrived)
        subtract_missing(lead, lanes & ~w->cluster_arrived);
}
