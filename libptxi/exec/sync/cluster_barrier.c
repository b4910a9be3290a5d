/* Clusters: CTAs that share their shared memory, all on one worker. PTX ISA, "Cluster of Cooperative Thread Arrays", "Parallel
 * Synchronization and Communication Instructions: barrier.cluster". */
#include "exec/engine/engine.h"

/* Threads of the cluster that live and have not arrived. */
static uint32_t missing(const struct ptxi_cta *lead)
{
    uint32_t n = 0;

    for (uint32_t m = 0; m < lead->member_count; m++)
        for (uint32_t k = 0; k < lead->members[m]->warp_count; k++) {
            const struct ptxi_warp *w = &lead->members[m]->warps[k];

            n += (uint32_t)__builtin_popcountll(w->live & ~w->cluster_arrived);
        }
    return n;
}

/* The barrier is complete, and begins anew. */
static void release(struct ptxi_cta *lead)
{
    for (uint32_t m = 0; m < lead->member_count; m++)
        for (uint32_t k = 0; k < lead->members[m]->warp_count; k++) {
            struct ptxi_warp *w = &lead->members[m]->warps[k];

            w->cluster_arrived = 0;
            ptxi_warp_wake(w, NULL);
        }
    lead->cluster_missing = missing(lead);
}

static void count_down(struct ptxi_cta *lead, ptxi_lanes lanes)
{
    lead->cluster_missing -= (uint32_t)__builtin_popcountll(lanes);
    if (!lead->cluster_missing)
        release(lead);
}

const struct ptxi_insn *ptxi_cluster_arrive(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_cta *lead = w->cta->lead;
    ptxi_lanes lanes = w->active;

    if (lanes & w->cluster_arrived)
        return ptxi_fault(w, i, PTXI_FK_BARRIER, lanes & w->cluster_arrived, 0, 0, "a thread arrives at the cluster's barrier twice");
    if (!lead->cluster_used) {
        lead->cluster_used = true;
        lead->cluster_missing = missing(lead);
    }
    w->cluster_arrived |= lanes;
    count_down(lead, lanes);
    return w->split_count > 1 ? ptxi_leave_switch(w, i + 1) : i + 1; /* lanes of this warp may have been waiting */
}

const struct ptxi_insn *ptxi_cluster_wait(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return w->active & w->cluster_arrived ? ptxi_leave_mbarrier(w, i, NULL) : i + 1;
}

void ptxi_cluster_exit(struct ptxi_warp *w, ptxi_lanes lanes)
{
    struct ptxi_cta *lead = w->cta->lead;

    if (lead->cluster_used && lanes & ~w->cluster_arrived)
        count_down(lead, lanes & ~w->cluster_arrived);
}
