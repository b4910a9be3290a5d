/* atom and red. */
#include "compile/build.h"

/* d: result or none, a: address, b and c: operands, imm: offset; mods: space, and bit 2 for a scope wider than the CTA. */
void ptxi_lower_atom(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_match *m = inst->match;
    const struct ptxi_operand *address = ptxi_build_operand(b, "a"), *x = ptxi_build_operand(b, "b"), *y = ptxi_build_operand(b, "c");
    const struct ptxi_operand *d = ptxi_build_operand(b, "d");
    enum ptxi_class class = ptxi_class_of(ptxi_build_type(b, "b"));
    bool before = ptxi_build_has(m, PTXI_Q_release) || ptxi_build_has(m, PTXI_Q_acq_rel);
    bool after = ptxi_build_has(m, PTXI_Q_acquire) || ptxi_build_has(m, PTXI_Q_acq_rel);
    uint32_t vx, vy, vd = PTXI_NONE;
    struct ptxi_ir_inst *i;
    struct ptxi_mem mem;

    if (!ptxi_build_address(b, address->address, ptxi_build_space(m), &mem))
        return;
    if (mem.base == PTXI_NONE || (mem.space != PTXI_SPACE_GLOBAL && mem.space != PTXI_SPACE_SHARED && mem.space != PTXI_SPACE_GENERIC)) {
        ptxi_build_unsupported(b, "state space");
        return;
    }
    vx = ptxi_build_use(b, x, class);
    vy = y ? ptxi_build_use(b, y, class) : PTXI_NONE;
    if (d && d->form == PTXI_OPD_REG)
        vd = d->reg;
    if (before)
        ptxi_build_fence(b, m);
    i = ptxi_build_op(b, ptxi_isa_op(m), vd, mem.base, vx, vy);
    i->imm = mem.offset;
    i->mods = mem.space == PTXI_SPACE_GLOBAL ? 0 : mem.space == PTXI_SPACE_SHARED ? 1 : 2;
    if (!ptxi_build_has(m, PTXI_Q_cta))
        i->mods |= 4;
    i->flags |= PTXI_IF_READS | PTXI_IF_EARLY;
    if (after)
        ptxi_build_fence(b, m);
}
