#include "exec/check/init.h"

#include "exec/finding/finding.h"
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
    bool output = use == PTXI_INIT_OUTPUT;
    struct ptxi_fault_report where = { .access = output ? PTXI_AK_STORE : PTXI_AK_NONE };

    if (!g->findings)
        return;
    ptxi_fault_locate(&where, w, w->frame->code, i, lanes);
    struct ptxi_finding f = {
        .kind = kind_of(use), .severity = PTXI_FINDING_ERROR, .site_count = 1,
        .sites = { ptxi_finding_site_at(&where) },
        .space = output ? PTXI_FINDING_GLOBAL : PTXI_FINDING_NO_SPACE, .address = address, .size = size,
    };

    ptxi_findings_add(g->findings, &f, g->code->name, g->gridid);
}

unsigned char *ptxi_init_shared(const struct ptxi_warp *w, uint64_t address, uint32_t size)
{
    const struct ptxi_cta *c = ptxi_cta_of_shared(w->cta, &address);
    struct ptxi_check_cta *k = c ? c->check : NULL;

    if (!k || !k->undefined || address > k->undefined_bytes || size > k->undefined_bytes - address)
        return NULL;
    return k->undefined + address;
}
