/* Contraction: the regions of straight code that ptxas sees. The rules are in contract.c. */
#include "compile/contract/contract_state.h"

static bool has_rounding(const struct ptxi_match *m)
{
    return ptxi_isa_has_word(m, PTXI_Q_rn) || ptxi_isa_has_word(m, PTXI_Q_rz) || ptxi_isa_has_word(m, PTXI_Q_rm) ||
           ptxi_isa_has_word(m, PTXI_Q_rp);
}

static bool is_integer_division(const struct ptxi_match *m)
{
    return ptxi_isa_has_word(m, PTXI_T_s32) || ptxi_isa_has_word(m, PTXI_T_s64) || ptxi_isa_has_word(m, PTXI_T_u64);
}

/* Whether ptxas makes a division, root or reciprocal that has branches or calls. */
static bool is_long_division(const struct ptxi_match *m)
{
    switch (m->row->family) {
    case PTXI_M_rsqrt:
        return ptxi_isa_has_word(m, PTXI_T_f64);
    case PTXI_M_rem:
        return is_integer_division(m);
    case PTXI_M_div:
        return is_integer_division(m) || has_rounding(m);
    case PTXI_M_rcp: case PTXI_M_sqrt:
        return has_rounding(m);
    default:
        return false;
    }
}

/* Whether ptxas makes a loop of an atomic operation. */
static bool is_atomic_loop(const struct ptxi_match *m)
{
    bool is_float = ptxi_isa_has_word(m, PTXI_T_f32) || ptxi_isa_has_word(m, PTXI_T_f64);

    return is_float && ptxi_isa_has_word(m, PTXI_Q_add) && !ptxi_isa_has_word(m, PTXI_Q_global);
}

/* Whether ptxas makes several blocks of the instruction, so that a region ends before it. */
static bool ends_region(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    const struct ptxi_inst *ptx = i->ptx < ir->func->inst_count ? &ir->func->insts[i->ptx] : NULL;

    if (i->guard != PTXI_NONE && !(i->flags & PTXI_IF_PURE))
        return true;
    if (ptxi_ir_is_call(i) || i->op == PTXI_OP_brkpt || !ptx)
        return true;
    if (!(i->flags & PTXI_IF_FIRST))
        return false;
    switch (ptx->match->row->family) {
    case PTXI_M_fence: case PTXI_M_membar: return true;
    case PTXI_M_atom: case PTXI_M_red: return is_atomic_loop(ptx->match);
    default: return is_long_division(ptx->match);
    }
}

void ptxi_contract_find_regions(struct ptxi_contract *c)
{
    const struct ptxi_ir *ir = c->ir;
    uint32_t region = 0;

    for (uint32_t b = 0; b < ir->block_count; b++) {
        const struct ptxi_block *block = &ir->blocks[b], *before = b ? block - 1 : NULL;

        /* a jump to the next instruction does not count if it is the only way there */
        if (!before || before->succ_count != 1 || ir->edges[before->succ] != b || block->pred_count != 1)
            region++;
        for (uint32_t n = block->first; n < block->end; n++) {
            region += ends_region(ir, &ir->insts[n]);
            c->region[n] = region;
        }
    }
}
