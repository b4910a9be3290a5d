/* Barriers, fences, and exchange between the lanes of a warp. */
#include "compile/lower/lower.h"

static void note_barrier(struct ptxi_build *b, const struct ptxi_operand *o)
{
    uint32_t need = o->form == PTXI_OPD_IMM && o->imm < 16 ? (uint32_t)o->imm + 1 : 16;

    if (need > b->ir->barriers)
        b->ir->barriers = need;
}

static bool is_constant(const struct ptxi_operand *o, unsigned unit)
{
    return o->form == PTXI_OPD_IMM && o->imm / unit < (unit > 1 ? PTXI_MAX_CTA_THREADS / unit + 1 : 16) && o->imm % unit == 0;
}

/* a: number, b: threads, c: predicate, d: result. bar is always .aligned. */
void ptxi_lower_bar(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *number = ptxi_build_operand(b, "a"), *threads = ptxi_build_operand(b, "b"), *c = ptxi_build_operand(b, "c");
    const struct ptxi_operand *d = ptxi_build_operand(b, "d"), *p = ptxi_build_operand(b, "p");
    bool aligned = inst->match->row->family == PTXI_M_bar || ptxi_build_has(inst->match, PTXI_Q_aligned);
    uint32_t va = ptxi_build_use(b, number, PTXI_RC_32), vb = threads ? ptxi_build_use(b, threads, PTXI_RC_32) : PTXI_NONE, vd = PTXI_NONE;
    uint32_t vc = PTXI_NONE;
    uint16_t mods = aligned ? PTXI_BAR_ALIGNED : 0;
    struct ptxi_ir_inst *i;

    if (is_constant(number, 1) && (!threads || is_constant(threads, 32)))
        mods |= PTXI_BAR_CONSTANT;
    note_barrier(b, number);
    if (c)
        vc = ptxi_build_use_pred(b, c, &mods);
    if (d)
        vd = ptxi_build_def(b, d, PTXI_RC_32);
    else if (p)
        vd = ptxi_build_def(b, p, PTXI_RC_PRED);
    i = ptxi_build_op(b, ptxi_isa_op(inst->match), vd, va, vb, vc);
    i->mods = mods;
    if (mods & PTXI_BAR_CONSTANT)
        i->imm = (int32_t)number->imm | (threads ? (int32_t)threads->imm << PTXI_BAR_COUNT_SHIFT : 0);
    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS;
}

void ptxi_lower_warp(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    uint32_t mask = ptxi_build_use(b, &inst->operands[0], PTXI_RC_32);

    ptxi_build_op(b, ptxi_isa_op(inst->match), PTXI_NONE, mask, PTXI_NONE, PTXI_NONE)->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS;
}

/* imm: predicate's slot below, membermask's slot above. A lane reads what others hold, so d is not one of the sources. */
void ptxi_lower_shfl(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *mask = ptxi_build_operand(b, "membermask"), *p = ptxi_build_operand(b, "p");
    uint32_t a = ptxi_build_use(b, ptxi_build_operand(b, "a"), PTXI_RC_32), lane = ptxi_build_use(b, ptxi_build_operand(b, "b"), PTXI_RC_32);
    uint32_t c = ptxi_build_use(b, ptxi_build_operand(b, "c"), PTXI_RC_32), m = mask ? ptxi_build_use(b, mask, PTXI_RC_32) : PTXI_NONE;
    uint32_t d = ptxi_build_def(b, &inst->operands[0], PTXI_RC_32);
    struct ptxi_ir_inst *i = ptxi_build_op(b, ptxi_isa_op(inst->match), d, a, lane, c);

    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS | PTXI_IF_EARLY;
    i->imm = -1; /* two times PTXI_NO_SLOT */
    if (p && p->form == PTXI_OPD_REG)
        ptxi_build_write(i, PTXI_F_IMM, p->reg);
    ptxi_build_read(i, PTXI_F_IMM_HI, m);
}

void ptxi_lower_vote(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *mask = ptxi_build_operand(b, "membermask");
    enum ptxi_class class = ptxi_class_of(ptxi_isa_operand_type(inst->match, &inst->match->row->specs[0]));
    uint16_t mods = 0;
    uint32_t a = ptxi_build_use_pred(b, ptxi_build_operand(b, "a"), &mods), m = mask ? ptxi_build_use(b, mask, PTXI_RC_32) : PTXI_NONE;
    struct ptxi_ir_inst *i = ptxi_build_op(b, ptxi_isa_op(inst->match), ptxi_build_def(b, &inst->operands[0], class), a, m, PTXI_NONE);

    i->mods = mods;
    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS | PTXI_IF_EARLY;
}

/* redux, match, elect. b: membermask; imm: the predicate's slot. */
void ptxi_lower_collective(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *a = ptxi_build_operand(b, "a"), *p = ptxi_build_operand(b, "p");
    uint32_t va = a ? ptxi_build_use(b, a, ptxi_class_of(ptxi_build_type(b, "a"))) : PTXI_NONE;
    uint32_t mask = ptxi_build_use(b, ptxi_build_operand(b, "membermask"), PTXI_RC_32), d = ptxi_build_def(b, &inst->operands[0], PTXI_RC_32);
    struct ptxi_ir_inst *i = ptxi_build_op(b, ptxi_isa_op(inst->match), d, va, mask, PTXI_NONE);

    i->mods = inst->match->mods;
    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS | PTXI_IF_EARLY;
    i->imm = PTXI_NO_SLOT;
    if (p && p->form == PTXI_OPD_REG)
        ptxi_build_write(i, PTXI_F_IMM, p->reg);
}

/* mods: bit 0 a scope wider than the CTA, bit 1 sequentially consistent. Also for the fences inside ld.acquire and so on. */
void ptxi_build_fence(struct ptxi_build *b, const struct ptxi_match *m)
{
    struct ptxi_ir_inst *i = ptxi_build_op(b, PTXI_OP_fence, PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE);

    i->mods = !ptxi_build_has(m, PTXI_Q_cta);
    if (ptxi_build_has(m, PTXI_Q_sc) || m->row->family == PTXI_M_membar) /* which is fence.sc */
        i->mods |= 2;
    i->flags |= PTXI_IF_ALWAYS; /* harmless where the guard does not hold */
}

void ptxi_lower_fence(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    ptxi_build_fence(b, inst->match);
}
