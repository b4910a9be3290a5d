#include "exec/check/cluster.h"

#include "exec/engine/grid.h"
#include "exec/finding/finding.h"

static void report(const struct ptxi_check *check, const struct ptxi_record *r, bool write, const char *detail)
{
    struct ptxi_finding f = { .kind = PTXI_FINDING_CLUSTER,
                              .severity = PTXI_FINDING_ERROR,
                              .site_count = 1,
                              .space = PTXI_FINDING_SHARED,
                              .detail = detail };

    f.sites[0] = ptxi_check_site(check, r, ptxi_record_warp(r) * 32 + (unsigned)__builtin_ctz(r->lanes),
                                 ptxi_record_access(r, write));
    ptxi_findings_add(check->grid->findings, &f, check->grid->code->name, check->launch);
}

/* Whether the thread knows something that a CTA has done. */
static bool knows_of(const struct ptxi_check_thread *t, uint32_t agent)
{
    const struct ptxi_check_cta *k = t->cta->check;
    const struct ptxi_check_warp *w = &k->warps[t->warp];

    return ptxi_vclock_has_agent(k->what.known, agent) || ptxi_vclock_has_agent(w->what.known, agent) ||
           (w->lanes && ptxi_vclock_has_agent(w->lanes[t->lane].what.known, agent));
}

void ptxi_cluster_note(const struct ptxi_check_thread *t, struct ptxi_cta *owner, const struct ptxi_record *r,
                       bool write)
{
    struct ptxi_check_cta *k = owner->check;

    if (!k->cluster_met && !knows_of(t, k->agent))
        report(t->cta->check->check, r, write, "nothing says that the block has started");
    if (t->cta->rank >= PTXI_CHECK_MEMBERS)
        return;
    k->remote[t->cta->rank] = *r;
    k->remote_writes = write ? k->remote_writes | 1u << t->cta->rank : k->remote_writes & ~(1u << t->cta->rank);
    k->has_remote |= 1u << t->cta->rank;
}

/* Whether a thread of the CTA knows of the access. */
static bool is_known(const struct ptxi_cta *c, const struct ptxi_record *r)
{
    const struct ptxi_check_cta *k = c->check;
    unsigned warp = ptxi_record_warp(r), lane = (unsigned)__builtin_ctz(r->lanes);

    if (r->clock < k->cluster_met || ptxi_vclock_has(k->what.known, r->agent, warp, lane, r->clock))
        return true;
    for (unsigned n = 0; n < PTXI_CHECK_WARPS; n++) {
        const struct ptxi_check_warp *w = &k->warps[n];

        if (ptxi_vclock_has(w->what.known, r->agent, warp, lane, r->clock))
            return true;
        for (unsigned l = 0; w->lanes && l < 32; l++)
            if (ptxi_vclock_has(w->lanes[l].what.known, r->agent, warp, lane, r->clock))
                return true;
    }
    return false;
}

void ptxi_check_end_cluster(struct ptxi_cta *lead)
{
    for (uint32_t m = 0; m < lead->member_count; m++) {
        const struct ptxi_check_cta *k = lead->members[m]->check;

        for (uint32_t left = k ? k->has_remote : 0; left; left &= left - 1) {
            unsigned rank = (unsigned)__builtin_ctz(left);

            if (!is_known(lead->members[m], &k->remote[rank]))
                report(k->check, &k->remote[rank], k->remote_writes >> rank & 1,
                       "nothing says that the block waits for it and has not exited");
        }
    }
}
