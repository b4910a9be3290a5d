/* The dispatch loop. One indirect call serves all lanes of the warp. */
#include "exec/engine.h"
#include "exec/level.h"

extern ptxi_handler *const PTXI_LEVELED(table)[PTXI_OP_COUNT];

struct ptxi_warp *PTXI_LEVELED(run)(struct ptxi_warp *w, const struct ptxi_insn *pc);

/* The warp after this one, the first after the last, if it has passed the barrier at which this one waits now; else NULL. */
static inline struct ptxi_warp *passed_next(struct ptxi_warp *w)
{
    struct ptxi_cta *c = w->cta;

    if (w[1].sync == PTXI_SYNC_PASSED)
        return w + 1;
    return w + 1 == c->warps + c->warp_count && c->warps->sync == PTXI_SYNC_PASSED ? c->warps : NULL;
}

struct ptxi_warp *PTXI_LEVELED(run)(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    for (;;) {
        ptxi_handler *const *table = w->table;
        struct ptxi_warp *next;

        do
            pc = table[pc->op](pc, w);
        while (pc != w->stop);
        if (w->sync < PTXI_SYNC_AT)
            return w;
        next = passed_next(w);
        if (!next)
            return w;
        w = next;
        w->sync = PTXI_SYNC_NONE; /* and its event is none, or it would not have come to the barrier */
        pc = w->sync_pc + 1;
    }
}
