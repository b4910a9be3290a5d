#include "exec/check/sync.h"

#include "exec/check/finding.h"
#include "exec/engine/cta.h"

static struct ptxi_finding_site site_of(const struct ptxi_warp *w, const struct ptxi_split *s, ptxi_lanes lanes)
{
    const uint32_t *block = w->cta->grid->block;
    const struct ptxi_code *code = s->frame->code;
    uint32_t thread = w->first_thread + ptxi_first_lane(lanes);
    struct ptxi_finding_site site = { .code = code, .at = (uint32_t)(s->pc - code->insns),
                                      .threads = (uint32_t)__builtin_popcountll(lanes) };

    for (unsigned k = 0; k < 3; k++)
        site.ctaid[k] = w->cta->ctaid[k];
    site.tid[0] = thread % block[0];
    site.tid[1] = thread / block[0] % block[1];
    site.tid[2] = thread / block[0] / block[1];
    return site;
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
