/* Contraction: the stretches of straight code that ptxas sees. The rules are in contract.c. */
#include "compile/contract/contract.h"

#include "isa/isa.h"

static bool divides(const struct ptxi_match *m)
{
    switch (m->row->family) {
    case PTXI_M_rsqrt:
        return ptxi_build_has(m, PTXI_T_f64);
    case PTXI_M_rem:
        return ptxi_build_has(m, PTXI_T_s32) || ptxi_build_has(m, PTXI_T_s64) || ptxi_build_has(m, PTXI_T_u64);
    case PTXI_M_div:
        if (ptxi_build_has(m, PTXI_T_s32) || ptxi_build_has(m, PTXI_T_s64) || ptxi_build_has(m, PTXI_T_u64))
            return true;
        /* fall through */
    case PTXI_M_rcp:
    case PTXI_M_sqrt:
        return ptxi_build_has(m, PTXI_Q_rn) || ptxi_build_has(m, PTXI_Q_rz) || ptxi_build_has(m, PTXI_Q_rm) || ptxi_build_has(m, PTXI_Q_rp);
    default:
        return false;
    }
}

static bool loops(const struct ptxi_match *m)
{
    return ptxi_build_has(m, PTXI_Q_add) && (ptxi_build_has(m, PTXI_T_f32) || ptxi_build_has(m, PTXI_T_f64)) && !ptxi_build_has(m, PTXI_Q_global);
}

/* True if ptxas makes several blocks of the instruction. */
static bool cuts(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
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
    case PTXI_M_atom: case PTXI_M_red: return loops(ptx->match);
    default: return divides(ptx->match);
    }
}

void ptxi_contract_find_stretches(struct ptxi_contract *c)
{
    const struct ptxi_ir *ir = c->ir;
    uint32_t zone = 0;

    for (uint32_t b = 0; b < ir->block_count; b++) {
        const struct ptxi_block *block = &ir->blocks[b], *before = b ? block - 1 : NULL;

        /* a jump to the next instruction, to where nothing else leads, is no branch */
        if (!before || before->succ_count != 1 || ir->edges[before->succ] != b || block->pred_count != 1)
            zone++;
        for (uint32_t n = block->first; n < block->end; n++) {
            zone += cuts(ir, &ir->insts[n]);
            c->zone[n] = zone;
        }
    }
}
