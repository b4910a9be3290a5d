#include "exec/check/init.h"

#include <string.h>

#include "exec/check/finding.h"
#include "exec/check/order.h"

static enum ptxi_finding_kind kind_of(unsigned use)
{
    switch (use) {
    case PTXI_INIT_BRANCH: return PTXI_FINDING_INIT_BRANCH;
    case PTXI_INIT_GUARD: return PTXI_FINDING_INIT_GUARD;
    case PTXI_INIT_ADDRESS: return PTXI_FINDING_INIT_ADDRESS;
    default: return PTXI_FINDING_INIT_OUTPUT;
    }
}

void ptxi_init_report(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned use, ptxi_lanes lanes, uint64_t address,
                      uint32_t size)
{
    struct ptxi_grid *g = w->cta->grid;
    const struct ptxi_code *code = w->frame->code;
    struct ptxi_fault_report where = { .kind = PTXI_FK_NONE };
    bool output = use == PTXI_INIT_OUTPUT;

    if (!g->findings)
        return;
    ptxi_fault_locate(&where, w, code, i, lanes);
    struct ptxi_finding f = {
        .kind = kind_of(use), .severity = PTXI_FINDING_ERROR, .site_count = 1,
        .sites = { { .code = code, .at = where.at, .threads = where.thread_count,
                     .access = output ? PTXI_AK_STORE : PTXI_AK_NONE } },
        .space = output ? PTXI_FINDING_GLOBAL : PTXI_FINDING_NO_SPACE, .address = address, .size = size,
    };

    memcpy(f.sites[0].ctaid, where.ctaid, sizeof f.sites[0].ctaid);
    memcpy(f.sites[0].tid, where.tid, sizeof f.sites[0].tid);
    ptxi_findings_add(g->findings, &f, g->code->name, g->gridid);
}

enum { RANK_SHIFT = 24 }; /* in an address of shared memory */

unsigned char *ptxi_init_shared(const struct ptxi_warp *w, uint64_t address, uint32_t size)
{
    const struct ptxi_cta *c = w->cta;

    if (c->grid->code->in_clusters) {
        uint64_t rank = address >> RANK_SHIFT;

        if (rank >= c->lead->member_count)
            return NULL;
        c = c->lead->members[rank];
        address &= (1u << RANK_SHIFT) - 1;
    }
    struct ptxi_check_cta *k = c->check;

    if (!k || !k->undefined || address > k->undefined_bytes || size > k->undefined_bytes - address)
        return NULL;
    return k->undefined + address;
}
