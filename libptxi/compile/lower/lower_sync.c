/* Barriers, fences, and exchange between the lanes of a warp. */
#include "compile/lower/lower_state.h"

enum { BARRIERS = 16 }; /* of a CTA */

static void note_barrier(struct ptxi_lower *l, const struct ptxi_operand *o)
{
    uint32_t need = o->form == PTXI_OPD_IMM && o->imm < BARRIERS ? (uint32_t)o->imm + 1 : BARRIERS;

    if (need > l->ir->barriers)
        l->ir->barriers = need;
}

static bool is_constant_number(const struct ptxi_operand *o)
{
    return o->form == PTXI_OPD_IMM && o->imm < BARRIERS;
}

/* Counts of threads are multiples of the warp size. */
static bool is_constant_count(const struct ptxi_operand *o)
{
    return o->form == PTXI_OPD_IMM && o->imm % 32 == 0 && o->imm / 32 <= PTXI_MAX_CTA_THREADS / 32;
}

/* a: number, b: number of threads, c: predicate, d: result. bar is always .aligned. */
void ptxi_lower_rule_bar(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *number = ptxi_lower_operand(l, PTXI_OPERAND_a);
    const struct ptxi_operand *threads = ptxi_lower_operand(l, PTXI_OPERAND_b);
    const struct ptxi_operand *c = ptxi_lower_operand(l, PTXI_OPERAND_c);
    const struct ptxi_operand *d = ptxi_lower_operand(l, PTXI_OPERAND_d), *p = ptxi_lower_operand(l, PTXI_OPERAND_p);
    bool aligned = inst->match->row->family == PTXI_M_bar || ptxi_isa_has_word(inst->match, PTXI_Q_aligned);
    uint32_t va = ptxi_lower_use(l, number, PTXI_RC_32),
                vb = threads ? ptxi_lower_use(l, threads, PTXI_RC_32) : PTXI_NONE;
    uint32_t vc = PTXI_NONE, vd = PTXI_NONE;
    uint16_t mods = aligned ? PTXI_BAR_ALIGNED : 0;
    struct ptxi_ir_inst *i;

    if (is_constant_number(number) && (!threads || is_constant_count(threads)))
        mods |= PTXI_BAR_CONSTANT;
    note_barrier(l, number);
    if (c)
        vc = ptxi_lower_use_predicate(l, c, &mods);
    if (d)
        vd = ptxi_lower_def(l, d, PTXI_RC_32);
    else if (p)
        vd = ptxi_lower_def(l, p, PTXI_RC_PRED);
    i = ptxi_lower_op(l, ptxi_isa_op(inst->match), vd, va, vb, vc);
    i->mods = mods;
    if (mods & PTXI_BAR_CONSTANT)
        i->imm = (int32_t)number->imm | (threads ? (int32_t)threads->imm << PTXI_BAR_COUNT_SHIFT : 0);
    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS;
}

void ptxi_lower_rule_warp(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    uint32_t mask = ptxi_lower_use(l, &inst->operands[0], PTXI_RC_32);

    ptxi_lower_op(l, ptxi_isa_op(inst->match), PTXI_NONE, mask, PTXI_NONE, PTXI_NONE)->flags |= PTXI_IF_TOGETHER |
        PTXI_IF_READS;
}

/* imm: slots of the predicate (low half) and of the membermask. A lane reads values of other lanes, so d is not one of
 * the sources (EARLY). */
void ptxi_lower_rule_shfl(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *mask = ptxi_lower_operand(l, PTXI_OPERAND_membermask);
    const struct ptxi_operand *p = ptxi_lower_operand(l, PTXI_OPERAND_p);
    uint32_t a = ptxi_lower_use(l, ptxi_lower_operand(l, PTXI_OPERAND_a), PTXI_RC_32);
    uint32_t lane = ptxi_lower_use(l, ptxi_lower_operand(l, PTXI_OPERAND_b), PTXI_RC_32);
    uint32_t c = ptxi_lower_use(l, ptxi_lower_operand(l, PTXI_OPERAND_c), PTXI_RC_32);
    uint32_t m = mask ? ptxi_lower_use(l, mask, PTXI_RC_32) : PTXI_NONE;
    uint32_t d = ptxi_lower_def(l, &inst->operands[0], PTXI_RC_32);
    struct ptxi_ir_inst *i = ptxi_lower_op(l, ptxi_isa_op(inst->match), d, a, lane, c);

    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS | PTXI_IF_EARLY;
    i->imm = -1; /* PTXI_NO_SLOT twice */
    if (p && p->form == PTXI_OPD_REG)
        ptxi_ir_set_write(i, PTXI_F_IMM, p->reg);
    ptxi_ir_set_read(i, PTXI_F_IMM_HI, m);
}

void ptxi_lower_rule_vote(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *mask = ptxi_lower_operand(l, PTXI_OPERAND_membermask);
    enum ptxi_class class = ptxi_ir_class_of(ptxi_isa_operand_type(inst->match, &inst->match->row->specs[0]));
    uint16_t mods = 0;
    uint32_t a = ptxi_lower_use_predicate(l, ptxi_lower_operand(l, PTXI_OPERAND_a), &mods);
    uint32_t m = mask ? ptxi_lower_use(l, mask, PTXI_RC_32) : PTXI_NONE,
               d = ptxi_lower_def(l, &inst->operands[0], class);
    struct ptxi_ir_inst *i = ptxi_lower_op(l, ptxi_isa_op(inst->match), d, a, m, PTXI_NONE);

    i->mods = mods;
    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS | PTXI_IF_EARLY;
}

/* redux, match, elect. b: membermask; imm: the predicate's slot. */
void ptxi_lower_rule_collective(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *a = ptxi_lower_operand(l, PTXI_OPERAND_a), *p = ptxi_lower_operand(l, PTXI_OPERAND_p);
    uint32_t va = a ? ptxi_lower_use(l, a, ptxi_ir_class_of(ptxi_lower_operand_type(l, PTXI_OPERAND_a))) : PTXI_NONE;
    uint32_t mask = ptxi_lower_use(l, ptxi_lower_operand(l, PTXI_OPERAND_membermask), PTXI_RC_32);
    uint32_t d = ptxi_lower_def(l, &inst->operands[0], PTXI_RC_32);
    struct ptxi_ir_inst *i = ptxi_lower_op(l, ptxi_isa_op(inst->match), d, va, mask, PTXI_NONE);

    i->mods = inst->match->mods;
    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS | PTXI_IF_EARLY;
    i->imm = PTXI_NO_SLOT;
    if (p && p->form == PTXI_OPD_REG)
        ptxi_ir_set_write(i, PTXI_F_IMM, p->reg);
}

void ptxi_lower_rule_cluster_arrive(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    struct ptxi_ir_inst *i = ptxi_lower_op(l, ptxi_isa_op(inst->match), PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE);

    i->mods = ptxi_isa_has_word(inst->match, PTXI_Q_relaxed) ? PTXI_CLUSTER_RELAXED : 0;
    i->flags |= PTXI_IF_TOGETHER;
}

void ptxi_lower_rule_fence(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    unsigned only = 0;

    if (ptxi_isa_has_word(inst->match, PTXI_Q_acquire))
        only = PTXI_CHECK_FENCE_ACQUIRE;
    else if (ptxi_isa_has_word(inst->match, PTXI_Q_release))
        only = PTXI_CHECK_FENCE_RELEASE;
    if (ptxi_isa_has_word(inst->match, PTXI_Q_mbarrier_init))
        only |= PTXI_CHECK_FENCE_INIT;
    ptxi_lower_fence(l, inst->match, only);
}
