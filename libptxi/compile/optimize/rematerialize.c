/* Rematerialization: constants are registers that are filled once (bytecode.h). If a function has more constants than a
 * frame should hold, each is made where it is used, by instructions of its own. */
#include "compile/optimize/optimize.h"

enum { MAX_UNITS = PTXI_NO_SLOT / 2 }; /* the other half of the frame is for computed values */

static bool is_movable(const struct ptxi_ir *ir, uint32_t v)
{
    const struct ptxi_vreg *r = &ir->vregs[v];

    return r->kind == PTXI_VR_CONST && (r->class == PTXI_RC_16 || r->class == PTXI_RC_32 || r->class == PTXI_RC_64);
}

static bool has_too_many_constants(const struct ptxi_ir *ir)
{
    uint64_t units = 0;

    for (uint32_t v = 0; v < ir->vreg_count; v++)
        units += is_movable(ir, v) ? ptxi_class_units[ir->vregs[v].class] : 0;
    return units > MAX_UNITS;
}

/* A register with a 32-bit value, made before instruction `at`. */
static uint32_t make_word(struct ptxi_ir *ir, struct ptxi_ir_insertions *ins, uint32_t at, uint32_t value)
{
    uint32_t d = ptxi_ir_make(ir, ins, at, PTXI_OP_fill_32, 0, PTXI_RC_32, PTXI_NONE, PTXI_NONE);

    if (!ir->oom)
        ins->list[ins->count - 1].inst.imm = (int32_t)value;
    return d;
}

/* A copy of constant v, made before instruction `at`. */
static uint32_t make_constant(struct ptxi_ir *ir, struct ptxi_ir_insertions *ins, uint32_t at, uint32_t v)
{
    uint64_t value = ir->vregs[v].value;
    enum ptxi_class class = ir->vregs[v].class;
    uint32_t low = make_word(ir, ins, at, (uint32_t)value);

    if (class == PTXI_RC_16)
        return ptxi_ir_make(ir, ins, at, PTXI_OP_trunc_32_16, 0, class, low, PTXI_NONE);
    if (class == PTXI_RC_64)
        return ptxi_ir_make(ir, ins, at, PTXI_OP_pack_2x32, 0, class, low,
                            make_word(ir, ins, at, (uint32_t)(value >> 32)));
    return low;
}

static void make_operands(struct ptxi_ir *ir, struct ptxi_ir_insertions *ins, uint32_t n)
{
    struct ptxi_ir_inst *i = &ir->insts[n];
    struct ptxi_ir_list *list = i->list == PTXI_NONE ? NULL : &ir->lists[i->list];

    for (unsigned f = 0; f < PTXI_F_COUNT; f++)
        if (i->reads >> f & 1 && i->v[f] != PTXI_NONE && is_movable(ir, i->v[f]))
            i->v[f] = make_constant(ir, ins, n, i->v[f]);
    for (uint32_t k = list ? list->writes : 0; list && k < list->count; k++)
        if (list->v[k] != PTXI_NONE && is_movable(ir, list->v[k]))
            list->v[k] = make_constant(ir, ins, n, list->v[k]);
}

bool ptxi_rematerialize(struct ptxi_ir *ir)
{
    struct ptxi_ir_insertions ins = { 0 };

    if (!has_too_many_constants(ir))
        return true;
    for (uint32_t n = 0; n < ir->count && !ir->oom; n++)
        if (!(ir->insts[n].flags & PTXI_IF_DEAD))
            make_operands(ir, &ins, n);
    return !ir->oom && ptxi_ir_insert(ir, &ins);
}
