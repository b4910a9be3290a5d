/* For each slot, the first and the last block at whose start a register with this slot is live.
 *
 * Lanes of a warp that have taken a forward branch wait at the start of a later block. Native code that executes the
 * other path for the other lanes need not keep what a slot has in the waiting lanes if no register is live there. At
 * the end of a block, it need not store registers that no following block reads. */
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

/* Positions of blocks in the order. If there is no block, first > last. */
static struct ptxi_live_heads find_heads(const struct ptxi_ir *ir, const struct ptxi_liveness *live, uint32_t v)
{
    const struct ptxi_live_range *ranges = live->ranges + live->first[v];
    struct ptxi_live_heads heads = { UINT32_MAX, 0 };

    if (ir->vregs[v].kind != PTXI_VR_PLAIN && ir->vregs[v].kind != PTXI_VR_WORD)
        return (struct ptxi_live_heads){ 0, ir->order_count - 1 }; /* its liveness is unknown */
    for (uint32_t k = 0; k < live->count[v]; k++) {
        const uint32_t begin = blocks_below(ir, live, ranges[k].start), end = blocks_below(ir, live, ranges[k].end);

        if (begin == end)
            continue;
        heads.first = heads.first < begin ? heads.first : begin;
        heads.last = end - 1;
    }
    return heads;
}

bool ptxi_find_live_heads(struct ptxi_ir *ir, const struct ptxi_liveness *live)
{
    ir->live_heads = ARENA_NEW(ir->arena, struct ptxi_live_heads, ir->frame_units);
    if (!ir->live_heads)
        return !(ir->oom = true);
    for (uint32_t u = 0; u < ir->frame_units; u++)
        ir->live_heads[u].first = UINT32_MAX;
    for (uint32_t v = 0; v < ir->vreg_count; v++) {
        const uint32_t slot = ir->vregs[v].slot;
        struct ptxi_live_heads heads;

        if (slot == PTXI_NONE)
            continue;
        heads = find_heads(ir, live, v);
        assert(slot + ptxi_class_units[ir->vregs[v].class] <= ir->frame_units);
        for (unsigned u = 0; u < ptxi_class_units[ir->vregs[v].class]; u++) {
            struct ptxi_live_heads *of_unit = &ir->live_heads[slot + u];

            of_unit->first = heads.first < of_unit->first ? heads.first : of_unit->first;
            of_unit->last = heads.last > of_unit->last ? heads.last : of_unit->last;
        }
    }
    return true;
}
