#include "exec/async/async.h"

#include "exec/engine/rng.h"

bool ptxi_async_complete_tracked(struct ptxi_cta *lead)
{
    bool any;

    assert(lead == lead->lead);
    if (lead->grid->schedule && ptxi_bulk_complete_random(lead, true))
        return true;
    any = ptxi_cp_async_complete_tracked(lead);
    any |= ptxi_bulk_complete_tracked(lead);
    return any || (lead->async_source && lead->async_source->complete_tracked(lead));
}

void ptxi_async_complete_random(struct ptxi_cta *lead)
{
    struct ptxi_cta *c = lead->members[ptxi_rng_below(&lead->rng_state, lead->member_count)];
    const struct ptxi_async_source *source = lead->async_source;

    assert(lead == lead->lead);
    if (source && !source->is_empty(lead) && ptxi_rng_one_in(&lead->rng_state, 2))
        source->complete_random(lead);
    else if (!ptxi_bulk_complete_random(lead, false))
        ptxi_cp_async_complete_random(&c->warps[ptxi_rng_below(&lead->rng_state, c->warp_count)], &lead->rng_state);
}
