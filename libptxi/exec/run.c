/* The dispatch loop. One indirect call serves all lanes of the warp. */
#include "exec/engine.h"
#include "exec/level.h"

extern ptxi_handler *const PTXI_LEVELED(table)[PTXI_OP_COUNT];

void PTXI_LEVELED(run)(struct ptxi_warp *w, const struct ptxi_insn *pc);

void PTXI_LEVELED(run)(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    ptxi_handler *const *table = w->table;

    do
        pc = table[pc->op](pc, w);
    while (pc != w->stop);
}
