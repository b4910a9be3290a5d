/* The dispatch loop. One indirect call serves all lanes of the warp. */
#include "exec/engine.h"
#include "exec/level.h"

extern ptxi_handler *const PTXI_LEVELED(table)[PTXI_OP_COUNT];

struct ptxi_warp *PTXI_LEVELED(run)(struct ptxi_warp *w, const struct ptxi_insn *pc);

/* The first warp, if this is the last one and that one has passed the barrier at which this one waits now; else NULL. */
static struct ptxi_warp *first_again(struct ptxi_warp *w)
{
    struct ptxi_cta *c = w->cta;

    return w + 1 == c->warps + c->warp_count && c->warps->sync == PTXI_SYNC_PASSED ? c->warps : NULL;
}

/* From a warp that has come to a barrier it goes on to the next one, in a ring, if that has passed it. */
struct ptxi_warp *PTXI_LEVELED(run)(struct ptxi_warp *w, const struct ptxi_insn *pc)
{
    ptxi_handler *const *table = w->table;

    for (;;) {
        struct ptxi_warp *next = w + 1;

        do
            pc = table[pc->op](pc, w);
        while (pc != w->stop);
        if (w->sync < PTXI_SYNC_AT)
            return w;
        if (__builtin_expect(next->sync != PTXI_SYNC_PASSED, 0) && !(next = first_again(w)))
            return w;
        w = next;
        w->sync = PTXI_SYNC_NONE; /* and its event is none, or it would not have come to the barrier */
        pc = w->sync_pc + 1;
    }
}
