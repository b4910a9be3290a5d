/* Invariants of the intermediate form, asserted after every pass. */
#include "compile/ir/ir.h"

#include <assert.h>

#ifdef NDEBUG

void ptxi_ir_check(const struct ptxi_ir *ir)
{
    (void)ir;
}

#else

static void check_registers(const struct ptxi_ir *ir, struct ptxi_ir_walk walk)
{
    uint32_t v;

    while (ptxi_ir_next(&walk, &v))
        assert(v < ir->vreg_count);
}

static void check_label(const struct ptxi_ir *ir, uint32_t label)
{
    assert(label < ir->label_count);
    assert(ir->labels[label] < ir->count);
}

/* The class of the registers of a move is the class that its operation copies. */
static void check_move(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    uint32_t d = i->v[PTXI_F_D], a = i->v[PTXI_F_A];

    assert(i->writes == 1u << PTXI_F_D && i->reads == 1u << PTXI_F_A);
    assert(ir->vregs[d].class == ir->vregs[a].class);
    assert(ir->vregs[d].kind != PTXI_VR_CONST);
}

static void check_inst(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk writes = ptxi_ir_writes(ir, i);
    uint32_t v;

    assert(i->op > PTXI_OP_NONE && i->op < PTXI_OP_COUNT);
    check_registers(ir, ptxi_ir_reads(ir, i));
    while (ptxi_ir_next(&writes, &v)) {
        assert(v < ir->vreg_count);
        assert(ir->vregs[v].kind != PTXI_VR_CONST);
    }
    assert(i->guard == PTXI_NONE || ir->vregs[i->guard].class == PTXI_RC_PRED);
    if (ptxi_ir_is_branch(i))
        check_label(ir, i->aux);
    else if (ptxi_ir_is_call(i))
        assert(i->aux < ir->call_count);
    else if (i->op == PTXI_OP_brx)
        assert(i->aux < ir->table_count);
    else if (ptxi_ir_is_move(i))
        check_move(ir, i);
    assert(i->list == PTXI_NONE || (i->list < ir->list_count && ir->lists[i->list].writes <= ir->lists[i->list].count));
}

static void check_tables(const struct ptxi_ir *ir)
{
    for (uint32_t t = 0; t < ir->table_count; t++)
        for (uint32_t k = 0; k < ir->tables[t].count; k++)
            check_label(ir, ir->tables[t].labels[k]);
}

/* Blocks cover the instructions in ascending order; control leaves a block only at its end. */
static void check_blocks(const struct ptxi_ir *ir)
{
    uint32_t at = 0;

    for (uint32_t b = 0; b < ir->block_count; b++) {
        const struct ptxi_block *block = &ir->blocks[b];

        assert(block->first == at && block->end > block->first && block->end <= ir->count);
        at = block->end;
        for (uint32_t n = block->first; n + 1 < block->end; n++)
            assert(!ptxi_ir_is_branch(&ir->insts[n]) && !ptxi_ir_ends(&ir->insts[n]));
        for (uint32_t e = 0; e < block->succ_count; e++)
            assert(ir->edges[block->succ + e] < ir->block_count);
        for (uint32_t e = 0; e < block->pred_count; e++)
            assert(ir->pred_edges[block->pred + e] < ir->block_count);
    }
}

static void check_order(const struct ptxi_ir *ir)
{
    assert(ir->order_count <= ir->block_count);
    for (uint32_t p = 0; p < ir->order_count; p++) {
        assert(ir->order[p] < ir->block_count);
        assert(ir->blocks[ir->order[p]].order == p);
    }
}

static void check_slots(const struct ptxi_ir *ir)
{
    for (uint32_t v = 0; v < ir->vreg_count; v++) {
        const struct ptxi_vreg *r = &ir->vregs[v];

        assert(r->class < PTXI_RC_COUNT);
        assert(!ir->frame_units || r->slot == PTXI_NONE || r->slot + ptxi_class_units[r->class] <= ir->frame_units);
    }
}

void ptxi_ir_check(const struct ptxi_ir *ir)
{
    if (ir->oom)
        return;
    for (uint32_t n = 0; n < ir->count; n++)
        if (!(ir->insts[n].flags & PTXI_IF_DEAD))
            check_inst(ir, &ir->insts[n]);
    for (uint32_t k = 0; k < ir->setup_count; k++)
        assert(ir->setup[k] < ir->count && ir->insts[ir->setup[k]].flags & PTXI_IF_DEAD);
    check_tables(ir);
    check_blocks(ir);
    check_order(ir);
    check_slots(ir);
}

#endif
