/* For each slot, the last block at whose start a register with this slot is live.
 *
 * Lanes of a warp that have taken a forward branch wait at the start of a later block. Native code that executes the
 * other path for the other lanes need not keep what a slot has in the waiting lanes if no register is live there. */
#include "compile/codegen/codegen.h"

#include <assert.h>

/* The number of blocks that start below a position (struct ptxi_live_range). */
static uint32_t blocks_below(const struct ptxi_ir *ir, const struct ptxi_liveness *live, uint32_t position)
{
    uint32_t lo = 0, hi = ir->order_count;

    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;

        if (2 * live->block_first[mid] < position)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* 1 + the last block, in the order, at whose start the register is live; 0: none. */
static uint32_t last_block(const struct ptxi_ir *ir, const struct ptxi_liveness *live, uint32_t v)
{
    const struct ptxi_live_range *ranges = live->ranges + live->first[v];

    if (ir->vregs[v].kind != PTXI_VR_PLAIN && ir->vregs[v].kind != PTXI_VR_WORD)
        return ir->order_count; /* its liveness is unknown */
    for (uint32_t k = live->count[v]; k--;) {
        const uint32_t below = blocks_below(ir, live, ranges[k].end);

        if (below && 2 * live->block_first[below - 1] >= ranges[k].start)
            return below;
    }
    return 0;
}

bool ptxi_find_last_heads(struct ptxi_ir *ir, const struct ptxi_liveness *live)
{
    ir->last_heads = ARENA_NEW(ir->arena, uint32_t, ir->frame_units);
    if (!ir->last_heads)
        return !(ir->oom = true);
    for (uint32_t v = 0; v < ir->vreg_count; v++) {
        const uint32_t slot = ir->vregs[v].slot;
        uint32_t last;

        if (slot == PTXI_NONE)
            continue;
        last = last_block(ir, live, v);
        assert(slot + ptxi_class_units[ir->vregs[v].class] <= ir->frame_units);
        for (unsigned u = 0; u < ptxi_class_units[ir->vregs[v].class]; u++)
            if (ir->last_heads[slot + u] < last)
                ir->last_heads[slot + u] = last;
    }
    return true;
}
