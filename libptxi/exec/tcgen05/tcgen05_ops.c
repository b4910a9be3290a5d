/* Handlers of tcgen05 allocation, commit and waits. PTX ISA, "Tensor Memory Allocation and Management Instructions",
 * "tcgen05.commit", "tcgen05.wait". */
#include "exec/check/check.h"
#include "exec/engine/handler.h"
#include "exec/memory/access.h"
#include "exec/tcgen05/tmem.h"
#include "exec/tcgen05/tmem_queue.h"

OP( tcgen05_alloc ) { return ptxi_tmem_alloc(w, i); }
OP( tcgen05_dealloc ) { return ptxi_tmem_dealloc(w, i); }
OP( tcgen05_relinquish ) { return ptxi_tmem_relinquish(w, i); }

/* After the thread's earlier operations: an arrive-on at the mbarrier, or at the same offset in each CTA of a mask. */
static const struct ptxi_insn *commit(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane)
{
    const struct ptxi_cta *lead = w->cta->lead;
    uint64_t address = ((const uint64_t *)PTXI_SLOT(w, i->a))[lane];
    unsigned char *at = ptxi_access_at(w, i, lane, PTXI_MS_GENERIC, address, 8, 8, PTXI_AK_ATOMIC);
    struct ptxi_cta *owner = at ? ptxi_shared_owner(w->cta, at) : NULL;
    uint32_t mask;

    if (!at)
        return w->stop;
    if (!owner)
        return ptxi_tmem_misuse(w, i, "the mbarrier is not in shared memory");
    mask = i->mods & PTXI_TCGEN05_MULTICAST ? ((const uint32_t *)PTXI_SLOT(w, i->b))[lane] : 1u << owner->rank;
    if (mask >> lead->member_count)
        return ptxi_tmem_misuse(w, i, "the multicast mask names a CTA that is not in the cluster");
    for (; mask; mask &= mask - 1) {
        struct ptxi_tmem_job *j = ptxi_tmem_submit(w, i, lane, PTXI_TMEM_JOB_COMMIT);

        if (!j)
            return w->stop;
        j->owner = lead->members[__builtin_ctz(mask)];
        j->mbarrier = j->owner->shared + (at - owner->shared);
        if (j->owner->check)
            ptxi_check_mbarrier_commits(w, lane, j->owner, (uint32_t)(at - owner->shared));
    }
    return NULL;
}

OP( tcgen05_commit )
{
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        const struct ptxi_insn *fault = commit(w, i, ptxi_first_lane(left));

        if (fault)
            return fault;
    }
    NEXT;
}

static inline const struct ptxi_insn *wait_for(struct ptxi_warp *w, const struct ptxi_insn *i,
                                               enum ptxi_tmem_job_kind kind)
{
    if (w->active != w->live && ptxi_absent_lanes(w))
        return ptxi_leave_aligned(w, i);
    if (w->cta->lead->tmem_jobs)
        ptxi_tmem_wait(w, kind);
    NEXT;
}

OP( tcgen05_wait_ld ) { return wait_for(w, i, PTXI_TMEM_JOB_LOAD); }
OP( tcgen05_wait_st ) { return wait_for(w, i, PTXI_TMEM_JOB_STORE); }
