/* The dispatch loop. One indirect call serves all lanes of the warp. */
#include "exec/engine/engine.h"
#include "exec/engine/handler.h"

extern ptxi_handler *const PTXI_LEVELED(table)[PTXI_OP_COUNT];

struct ptxi_warp *PTXI_LEVELED(run)(struct ptxi_warp *w, const struct ptxi_insn *pc);

/* From a warp that has come to a barrier it goes on to the next one, in a ring, if that has passed it. */
struct ptxi_warp *PTXI_LEVELED(run)(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    ptxi_handler *const *table = w->table;

    for (;;) {
        struct ptxi_warp *next;

        do
            pc = table[pc->op](pc, w);
        while (pc != w->stop);
        next = w->next;
        if (w->sync < PTXI_SYNC_AT || __builtin_expect(next->sync != PTXI_SYNC_PASSED, 0))
            return w;
        w = next;
        w->sync = PTXI_SYNC_NONE; /* and its event is none, or it would not have come to the barrier */
        pc = w->sync_pc + 1;
    }
}
