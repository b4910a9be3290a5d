/* The order of accesses by mbarriers: what happens before an arrival at a phase happens before the accesses of a thread
 * after its wait for the phase. A wait that succeeds is for the last complete phase. Threads that have arrived at an
 * earlier phase have done so before. */
#include "exec/check/check.h"
#include "exec/check/order.h"
#include "exec/check/sync.h"
#include "exec/engine/grid.h"
#include "exec/finding/finding.h"

#include <stdlib.h>

/* NULL: memory is short. */
static struct ptxi_check_mbarrier *find_mbarrier(struct ptxi_check_cta *k, uint32_t offset)
{
    for (uint32_t m = 0; m < k->mbarrier_count; m++)
        if (k->mbarriers[m].offset == offset)
            return &k->mbarriers[m];
    if (k->mbarrier_count == k->mbarriers_allocated) {
        uint32_t more = k->mbarriers_allocated ? 2 * k->mbarriers_allocated : 8;
        struct ptxi_check_mbarrier *new = realloc(k->mbarriers, more * sizeof *new);

        if (!new)
            return NULL;
        k->mbarriers = new;
        k->mbarriers_allocated = more;
    }
    k->mbarriers[k->mbarrier_count] = (struct ptxi_check_mbarrier){ .offset = offset };
    return &k->mbarriers[k->mbarrier_count++];
}

void ptxi_check_mbarrier_starts(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, struct ptxi_cta *owner,
                                uint32_t offset)
{
    struct ptxi_check_mbarrier *m = find_mbarrier(owner->check, offset);

    if (!m)
        return;
    if (m->state == PTXI_MBARRIER_VALID)
        ptxi_sync_report(w, w->frame->code, i, (ptxi_lanes)1 << lane, PTXI_FINDING_MBARRIER, PTXI_FINDING_WARNING,
                         "it is initialised again without mbarrier.inval");
    m->state = PTXI_MBARRIER_VALID;
    m->init = (struct ptxi_record){ w->cta->check->agent, *ptxi_order_clock(w->cta), UINT32_C(1) << lane % 32,
                                    (w->index * PTXI_WARP32S + lane / 32) << PTXI_META_WARP };
    ptxi_knowledge_forget(&m->arrived);
    ptxi_knowledge_forget(&m->complete);
}

void ptxi_check_mbarrier_ends(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, struct ptxi_cta *owner,
                              uint32_t offset)
{
    struct ptxi_check_mbarrier *m = find_mbarrier(owner->check, offset);

    if (!m)
        return;
    if (m->state == PTXI_MBARRIER_UNKNOWN)
        ptxi_sync_report(w, w->frame->code, i, (ptxi_lanes)1 << lane, PTXI_FINDING_MBARRIER, PTXI_FINDING_ERROR,
                         "it has not been initialised");
    m->state = PTXI_MBARRIER_INVALID;
}

/* Whether the initialisation happens before the use by a lane. */
static bool is_ready(const struct ptxi_check_mbarrier *m, struct ptxi_warp *w, unsigned lane)
{
    struct ptxi_check_thread t = { w->cta, w->index * PTXI_WARP32S + lane / 32, lane % 32 };

    if (m->init.agent == w->cta->check->agent && ptxi_record_warp(&m->init) == t.warp &&
        m->init.lanes == UINT32_C(1) << t.lane)
        return true;
    return ptxi_order_is_before(&t, &m->init, m->init.lanes, true) || ptxi_order_has_init(&t, &m->init);
}

void ptxi_check_mbarrier_use(struct ptxi_warp *w, const struct ptxi_insn *i, ptxi_lanes lanes, struct ptxi_cta *owner,
                             uint32_t offset)
{
    struct ptxi_check_mbarrier *m = find_mbarrier(owner->check, offset);
    unsigned last = 63 - (unsigned)__builtin_clzll(lanes); /* the first lane has often initialised it */
    const char *wrong = NULL;

    if (!m)
        return;
    if (m->state == PTXI_MBARRIER_UNKNOWN)
        wrong = "it has not been initialised";
    else if (m->state == PTXI_MBARRIER_INVALID)
        wrong = "it has been invalidated";
    else if (w->cta->grid->tools >> PTXI_TOOL_RACE & 1 && !is_ready(m, w, last)) /* else fences are not seen */
        wrong = "nothing orders its initialisation before this use";
    if (wrong)
        ptxi_sync_report(w, w->frame->code, i, (ptxi_lanes)1 << last, PTXI_FINDING_MBARRIER, PTXI_FINDING_ERROR, wrong);
}

void ptxi_check_mbarrier_arrives(struct ptxi_warp *w, ptxi_lanes lanes, struct ptxi_cta *owner, uint32_t offset)
{
    struct ptxi_check_mbarrier *m = find_mbarrier(owner->check, offset);

    if (m)
        ptxi_order_tell(w, lanes, &m->arrived);
    else /* rather miss races */
        ptxi_order_all(owner->lead);
}

void ptxi_check_mbarrier_tracks(struct ptxi_warp *w, ptxi_lanes lanes, struct ptxi_cta *owner, uint32_t offset)
{
    struct ptxi_check_mbarrier *m = find_mbarrier(owner->check, offset);

    ptxi_check_mbarrier_arrives(w, lanes, owner, offset);
    for (unsigned half = 0; m && half < PTXI_WARP32S; half++) {
        struct ptxi_vclock_entry e = ptxi_order_async_entry(w->cta->check, w->index * PTXI_WARP32S + half,
                                                            *ptxi_order_clock(w->cta));

        ptxi_vclock_add(&m->arrived.known, &e, 1);
    }
}

void ptxi_check_mbarrier_commits(struct ptxi_warp *w, unsigned lane, struct ptxi_cta *owner, uint32_t offset)
{
    struct ptxi_check_mbarrier *m = find_mbarrier(owner->check, offset);
    struct ptxi_vclock_entry e = ptxi_order_operands_of_warp(w->cta, w->index * PTXI_WARP32S + lane / 32);

    ptxi_check_mbarrier_arrives(w, (ptxi_lanes)1 << lane, owner, offset);
    if (m)
        ptxi_vclock_add(&m->arrived.known, &e, 1);
}

unsigned ptxi_check_mbarrier_tracks_bulk(struct ptxi_cta *owner, uint32_t offset)
{
    struct ptxi_check_mbarrier *m = find_mbarrier(owner->check, offset);

    if (!m) /* memory is short, and all is ordered: ptxi_check_mbarrier_arrives() */
        return 0;
    m->tracks_bulk = true;
    return ptxi_order_bulk_of_mbarrier((uint32_t)(m - owner->check->mbarriers));
}

void ptxi_check_mbarrier_completes(struct ptxi_cta *owner, uint32_t offset)
{
    struct ptxi_check_mbarrier *m = find_mbarrier(owner->check, offset);

    if (!m)
        return;
    if (m->tracks_bulk) {
        struct ptxi_vclock_entry e = ptxi_order_async_entry(
            owner->check, PTXI_WHO_BULK + ptxi_order_bulk_of_mbarrier((uint32_t)(m - owner->check->mbarriers)),
            ++*ptxi_order_clock(owner));

        ptxi_vclock_add(&m->arrived.known, &e, 1);
    }
    ptxi_knowledge_join(&m->complete, &m->arrived);
    ptxi_knowledge_forget(&m->arrived);
}

void ptxi_check_mbarrier_waits(struct ptxi_warp *w, ptxi_lanes lanes, struct ptxi_cta *owner, uint32_t offset)
{
    const struct ptxi_check_mbarrier *m = find_mbarrier(owner->check, offset);

    if (m)
        ptxi_order_learn(w, lanes, &m->complete);
}
