/* The dispatch loop. One indirect call executes an instruction for all lanes of the warp. */
#include "exec/engine/dispatch.h"
#include "exec/engine/handler.h"

extern ptxi_handler *const PTXI_LEVELED(table)[PTXI_OP_COUNT];

struct ptxi_warp *PTXI_LEVELED(run)(struct ptxi_warp *w, const struct ptxi_insn *pc);

/* When the warp waits at a CTA barrier or has exited, the loop continues with the next warp of the CTA if that one has
 * passed the barrier or has not started. */
struct ptxi_warp *PTXI_LEVELED(run)(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    ptxi_handler *const *table = w->table;

    for (;;) {
        struct ptxi_warp *next;

        do
            pc = table[pc->op](pc, w);
        while (pc != w->stop);
        next = w->next;
        if (w->barrier_state < PTXI_WARP_BARRIER_AT ||
            __builtin_expect(next->barrier_state != PTXI_WARP_BARRIER_PASSED, 0))
            return w;
        w = next;
        w->barrier_state = PTXI_WARP_BARRIER_NONE; /* its event is NONE, else it would not have reached the barrier */
        pc = w->barrier_pc + 1;
    }
}
