#include "exec/async/mbarrier_object.h"

#include <stdio.h>

#include "exec/check/check.h"

void ptxi_mbarrier_wake_waiters(struct ptxi_cta *owner, const unsigned char *at, bool reported)
{
    if (owner->check)
        ptxi_check_mbarrier_completes(owner, (uint32_t)(at - owner->shared));
    for (uint32_t k = 0; owner->lead->waits && k < owner->warp_count; k++)
        ptxi_wake_mbarrier_splits(&owner->warps[k], at, reported);
}

void ptxi_mbarrier_report_on(unsigned char *at)
{
    union ptxi_mbarrier m = ptxi_mbarrier_load(at);

    m.reported |= m.layout;
    memcpy(at, &m, sizeof m);
}

void ptxi_mbarrier_arrive_async(struct ptxi_cta *owner, unsigned char *at)
{
    union ptxi_mbarrier m = ptxi_mbarrier_load_current(owner, at);

    m.pending -= m.pending > 0;
    ptxi_mbarrier_store(owner, at, m);
}

/* A tx-count that leaves its range is an error of the program with undefined results, so it is not reported. */
void ptxi_mbarrier_complete_tx(struct ptxi_cta *owner, unsigned char *at, uint32_t bytes)
{
    union ptxi_mbarrier m = ptxi_mbarrier_load_current(owner, at);

    ptxi_mbarrier_add_tx(&m, -(int64_t)bytes);
    ptxi_mbarrier_store(owner, at, m);
}

void ptxi_mbarrier_describe(const unsigned char *at, unsigned offset, char *text, size_t size)
{
    union ptxi_mbarrier m = ptxi_mbarrier_load(at);

    snprintf(text, size, "the mbarrier at 0x%x (pending count %u, tx-count %d)", offset, (unsigned)m.pending,
             (int)m.tx);
}
