/* The dispatch loop. One indirect call serves all lanes of the warp. */
#include "exec/engine.h"
#include "exec/level.h"

extern ptxi_handler *const PTXI_LEVELED(table)[PTXI_OP_COUNT];

struct ptxi_warp *PTXI_LEVELED(run)(struct ptxi_warp *w, const struct ptxi_insn *pc);

/* Where a warp waits at a bar.sync and the next one has passed its own, this goes on with the next one. */
struct ptxi_warp *PTXI_LEVELED(run)(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    for (;;) {
        ptxi_handler *const *table = w->table;

        do
            pc = table[pc->op](pc, w);
        while (pc != w->stop);
        if (w->sync < PTXI_SYNC_AT || w[1].sync != PTXI_SYNC_PASSED)
            return w;
        w++;
        w->sync = PTXI_SYNC_NONE;
        w->event = PTXI_EVENT_NONE;
        pc = w->splits[0].pc;
    }
}
