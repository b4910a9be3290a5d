/* Loops that only look whether something has happened, as spin locks and barriers of a grid have them: no turn leaves anything behind for the
 * next one, so that turns differ only by what others do meanwhile. */
#include "compile/ir/ir.h"

/* Longer loops are not looked at. */
enum { MOST_INSTS = 32, MOST_WRITTEN = 64 };

struct turn {
    uint32_t written[MOST_WRITTEN]; /* vregs, in the order of the loop */
    uint32_t count, so_far;         /* `so_far` of them before where we are */
};

/* Nothing but loads, atomic operations, and what computes; lanes do not meet. */
static bool may_be_in_a_poll(const struct ptxi_ir_inst *i)
{
    if (ptxi_ir_is_branch(i) || i->op == PTXI_OP_fence || i->op == PTXI_OP_nop)
        return true;
    return i->flags & (PTXI_IF_PURE | PTXI_IF_READS) && !(i->flags & PTXI_IF_TOGETHER) && !ptxi_ir_is_call(i);
}

static bool note_written(struct turn *t, const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk w = ptxi_ir_writes(ir, i);
    uint32_t v;

    while (ptxi_ir_next(&w, &v)) {
        if (t->count == MOST_WRITTEN)
            return false;
        t->written[t->count++] = v;
    }
    return true;
}

/* Whether a turn writes v only after this place, so that here it has what the turn before has left. */
static bool comes_around(const struct turn *t, uint32_t v)
{
    bool later = false;

    for (uint32_t k = 0; k < t->count; k++) {
        if (t->written[k] != v)
            continue;
        if (k < t->so_far)
            return false;
        later = true;
    }
    return later;
}

/* A guarded result may keep what the turn before has left. */
static bool uses_last_turn(struct turn *t, const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk r = ptxi_ir_reads(ir, i), w = ptxi_ir_writes(ir, i);
    uint32_t v;

    while (ptxi_ir_next(&r, &v))
        if (comes_around(t, v))
            return true;
    while (i->guard != PTXI_NONE && ptxi_ir_next(&w, &v))
        if (comes_around(t, v))
            return true;
    for (w = ptxi_ir_writes(ir, i); ptxi_ir_next(&w, &v);)
        t->so_far++;
    return false;
}

bool ptxi_polls(const struct ptxi_ir *ir, uint32_t first, uint32_t last)
{
    struct turn t = { .count = 0 };
    uint32_t insts = 0;
    bool reads = false;

    for (uint32_t p = first; p <= last; p++) {
        const struct ptxi_block *block = &ir->blocks[ir->order[p]];

        insts += block->end - block->first;
        if (insts > MOST_INSTS)
            return false;
        for (uint32_t k = block->first; k < block->end; k++) {
            const struct ptxi_ir_inst *i = &ir->insts[k];

            if (i->flags & PTXI_IF_DEAD)
                continue;
            if (!may_be_in_a_poll(i) || !note_written(&t, ir, i))
                return false;
            reads |= i->flags & PTXI_IF_READS;
        }
    }
    for (uint32_t p = first; p <= last; p++)
        for (uint32_t k = ir->blocks[ir->order[p]].first; k < ir->blocks[ir->order[p]].end; k++)
            if (!(ir->insts[k].flags & PTXI_IF_DEAD) && uses_last_turn(&t, ir, &ir->insts[k]))
                return false;
    return reads;
}
