#include "exec/check/sync.h"

#include "exec/check/finding.h"
#include "exec/engine/cta.h"

static struct ptxi_finding_site site_of(const struct ptxi_warp *w, const struct ptxi_split *s, ptxi_lanes lanes)
{
    struct ptxi_fault_report where = { .access = PTXI_AK_NONE };

    ptxi_fault_locate(&where, w, s->frame->code, s->pc, lanes);
    return ptxi_finding_site_at(&where);
}

void ptxi_sync_check_arrival(const struct ptxi_warp *w, ptxi_lanes lanes)
{
    const struct ptxi_grid *g = w->cta->grid;
    const struct ptxi_split *first = NULL;

    if (!g->findings || !(g->tools & 1u << PTXI_TOOL_SYNC))
        return;
    for (uint32_t k = 0; k < w->split_count; k++) {
        const struct ptxi_split *s = &w->splits[k];

        if (s->state != PTXI_SPLIT_BARRIER || !(s->lanes & lanes))
            continue;
        if (!first) {
            first = s;
        } else if (first->pc != s->pc && (first->pc->mods | s->pc->mods) & PTXI_BAR_ALIGNED) {
            struct ptxi_finding f = { .kind = PTXI_FINDING_DIVERGED, .severity = PTXI_FINDING_ERROR, .site_count = 2,
                                      .sites = { site_of(w, s, s->lanes & lanes),
                                                 site_of(w, first, first->lanes & lanes) } };

            ptxi_findings_add(g->findings, &f, g->code->name, g->gridid);
        }
    }
}
