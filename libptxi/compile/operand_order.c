/* Which operand of an f64 operation was made first.
 *
 * A GPU's f64 operations hand on the payload of a NaN: that of the second operand before that of the first. ptxas sorts the operands
 * of add, sub, mul, min and max, and the factors of fma, by where they are made (seen in its code for sm_90): the earlier first, kernel
 * parameters and constants last, but for zeros, which come first. neg and abs are part of the operand. So where the text names the later one first, the operation is
 * marked PTXI_MOD_LATER_A. Of values that come around a loop or from two sides, what is written above counts: ptxas unrolls
 * loops, and then sorts differently from turn to turn. */
#include "compile/ir.h"

enum { OUTSIDE = 0xffffffff }; /* made last: a parameter or constant */

static bool is_sorted(uint16_t op)
{
    switch (op) {
    case PTXI_OP_add_f64: case PTXI_OP_sub_f64: case PTXI_OP_mul_f64: case PTXI_OP_fma_f64:
    case PTXI_OP_add_f64_x: case PTXI_OP_sub_f64_x: case PTXI_OP_mul_f64_x: case PTXI_OP_fma_f64_x:
    case PTXI_OP_min_f64: case PTXI_OP_max_f64:
        return true;
    default:
        return false;
    }
}

/* What becomes part of the operand, or is the operand. */
static bool passes_on(const struct ptxi_ir_inst *i)
{
    return (i->op == PTXI_OP_neg_f64 || i->op == PTXI_OP_abs_f64 || i->op == PTXI_OP_mov_64) && i->guard == PTXI_NONE;
}

static uint32_t made(const struct ptxi_ir *ir, const uint32_t *at, uint32_t v)
{
    if (ir->vregs[v].kind == PTXI_VR_CONST && !(ir->vregs[v].value << 1))
        return 0; /* there is a register of zero */
    return ir->vregs[v].kind == PTXI_VR_PLAIN ? at[v] : OUTSIDE;
}

static void see(const struct ptxi_ir *ir, uint32_t *at, struct ptxi_ir_inst *i, uint32_t *count)
{
    struct ptxi_ir_walk w = ptxi_ir_writes(ir, i);
    uint32_t v;

    if (is_sorted(i->op) && made(ir, at, i->v[PTXI_F_A]) > made(ir, at, i->v[PTXI_F_B]))
        i->mods |= PTXI_MOD_LATER_A;
    while (ptxi_ir_next(&w, &v))
        at[v] = passes_on(i) ? made(ir, at, i->v[PTXI_F_A]) : ++*count;
}

bool ptxi_operand_order(struct ptxi_ir *ir)
{
    uint32_t *at = NULL, count = 0;

    for (uint32_t n = 0; n < ir->count; n++) {
        if (!at && is_sorted(ir->insts[n].op)) { /* seldom needed at all */
            at = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count);
            if (!at)
                return !(ir->oom = true);
            n = 0;
        }
        if (at && !(ir->insts[n].flags & PTXI_IF_DEAD))
            see(ir, at, &ir->insts[n], &count);
    }
    return true;
}
