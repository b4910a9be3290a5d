/* setp, set, selp, shl and shr, lop3, and arithmetic with carry. */
#include "compile/lower/lower_state.h"

#include <assert.h>
#include <string.h>

/* The comparison of operands `first` and `first` + 1, and of the predicate c if there is one; without its result. */
static struct ptxi_ir_inst lower_comparison(struct ptxi_lower *l, const struct ptxi_inst *inst, unsigned first)
{
    enum ptxi_class class = ptxi_ir_class_of(ptxi_lower_operand_type(l, PTXI_OPERAND_a));
    const struct ptxi_operand *c = ptxi_lower_operand(l, PTXI_OPERAND_c);
    struct ptxi_ir_inst i = { .op = ptxi_isa_op(inst->match), .mods = inst->match->mods, .flags = PTXI_IF_PURE,
                              .guard = PTXI_NONE, .aux = PTXI_NONE, .list = PTXI_NONE, .ptx = l->ptx };

    memset(i.v, 0xff, sizeof i.v);
    ptxi_ir_set_read(&i, PTXI_F_A, ptxi_lower_use(l, &inst->operands[first], class));
    ptxi_ir_set_read(&i, PTXI_F_B, ptxi_lower_use(l, &inst->operands[first + 1], class));
    if (c)
        ptxi_ir_set_read(&i, PTXI_F_C, ptxi_lower_use_predicate(l, c, &i.mods));
    i.imm = PTXI_NO_SLOT;
    return i;
}

void ptxi_lower_rule_setp(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    bool has_q = inst->match->row->specs[1].id == PTXI_OPERAND_q;
    struct ptxi_ir_inst i = lower_comparison(l, inst, has_q ? 2 : 1);

    ptxi_ir_set_write(&i, PTXI_F_D, ptxi_lower_def(l, &inst->operands[0], PTXI_RC_PRED));
    if (has_q && inst->operands[1].form == PTXI_OPD_REG)
        ptxi_ir_set_write(&i, PTXI_F_IMM, inst->operands[1].reg);
    *ptxi_ir_append(l->ir, i.op) = i;
}

/* The value that set writes for true; for pairs, the value of each half. */
static uint64_t true_value(uint16_t type, bool pair)
{
    switch (type) {
    case PTXI_T_f32: return 0x3f800000;
    case PTXI_T_f16: case PTXI_T_f16x2: return 0x3c00;
    case PTXI_T_bf16: case PTXI_T_bf16x2: return 0x3f80;
    default: return pair || ptxi_types[type].bits == 16 ? 0xffff : 0xffffffff;
    }
}

/* d = p ? yes : 0 */
static uint32_t select_value(struct ptxi_lower *l, enum ptxi_class class, uint64_t yes, uint32_t p, uint32_t d)
{
    uint32_t one = ptxi_lower_const(l, class, yes), zero = ptxi_lower_const(l, class, 0);

    ptxi_lower_pure_op(l, class == PTXI_RC_16 ? PTXI_OP_selp_16 : PTXI_OP_selp_32, d, one, zero, p);
    return d;
}

/* set is a comparison, and a selection between true and false. */
void ptxi_lower_rule_set(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    struct ptxi_ir_inst i = lower_comparison(l, inst, 1);
    uint16_t source = ptxi_isa_slot_word(inst->match, PTXI_SLOT_T), type = ptxi_isa_slot_word(inst->match, PTXI_SLOT_D);
    bool pair = source == PTXI_T_f16x2 || source == PTXI_T_bf16x2;
    enum ptxi_class class = ptxi_ir_class_of((enum ptxi_type)type);
    uint64_t yes = true_value(type, pair);
    uint32_t p = ptxi_lower_temp(l, PTXI_RC_PRED), q = pair ? ptxi_lower_temp(l, PTXI_RC_PRED) : PTXI_NONE;
    uint32_t low, high;

    ptxi_ir_set_write(&i, PTXI_F_D, p);
    if (pair)
        ptxi_ir_set_write(&i, PTXI_F_IMM, q);
    *ptxi_ir_append(l->ir, i.op) = i;
    if (!pair) {
        select_value(l, class, yes, p, ptxi_lower_def(l, &inst->operands[0], class));
        return;
    }
    low = select_value(l, PTXI_RC_16, yes, p, ptxi_lower_temp(l, PTXI_RC_16));
    high = select_value(l, PTXI_RC_16, yes, q, ptxi_lower_temp(l, PTXI_RC_16));
    ptxi_lower_pure_op(l, PTXI_OP_pack_2x16, ptxi_lower_def(l, &inst->operands[0], class), low, high, PTXI_NONE);
}

void ptxi_lower_rule_selp(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    enum ptxi_class class = ptxi_ir_class_of(ptxi_isa_operand_type(inst->match, &inst->match->row->specs[0]));
    uint16_t mods = inst->match->mods;
    uint32_t x = ptxi_lower_use(l, &inst->operands[1], class), y = ptxi_lower_use(l, &inst->operands[2], class);
    uint32_t p = ptxi_lower_use_predicate(l, &inst->operands[3], &mods),
               d = ptxi_lower_def(l, &inst->operands[0], class);

    ptxi_lower_pure_op(l, ptxi_isa_op(inst->match), d, x, y, p)->mods = mods;
}

/* ptxas reduces an amount that is written as a constant to the width of the value. */
void ptxi_lower_rule_shift(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    enum ptxi_class class = ptxi_ir_class_of(ptxi_isa_operand_type(inst->match, &inst->match->row->specs[0]));
    struct ptxi_operand amount = inst->operands[2];
    uint32_t x = ptxi_lower_use(l, &inst->operands[1], class);

    if (amount.form == PTXI_OPD_IMM && class == PTXI_RC_16)
        amount.imm &= 0xffff;
    ptxi_lower_pure_op(l, ptxi_isa_op(inst->match), ptxi_lower_def(l, &inst->operands[0], class), x,
                       ptxi_lower_use(l, &amount, PTXI_RC_32), PTXI_NONE);
}

void ptxi_lower_rule_lop3(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *p = ptxi_lower_operand(l, PTXI_OPERAND_p), *q = ptxi_lower_operand(l, PTXI_OPERAND_q);
    const struct ptxi_operand *table = ptxi_lower_operand(l, PTXI_OPERAND_immLut);
    uint32_t a = ptxi_lower_use(l, ptxi_lower_operand(l, PTXI_OPERAND_a), PTXI_RC_32);
    uint32_t b = ptxi_lower_use(l, ptxi_lower_operand(l, PTXI_OPERAND_b), PTXI_RC_32);
    uint32_t c = ptxi_lower_use(l, ptxi_lower_operand(l, PTXI_OPERAND_c), PTXI_RC_32), d, zero;
    struct ptxi_ir_inst *i;

    d = p ? ptxi_lower_temp(l, PTXI_RC_32) : ptxi_lower_def(l, &inst->operands[0], PTXI_RC_32);
    ptxi_lower_pure_op(l, ptxi_isa_op(inst->match), d, a, b, c)->imm = (int32_t)(table->imm & 0xff);
    if (!p)
        return;
    /* p = (d != 0) op q */
    zero = ptxi_lower_const(l, PTXI_RC_32, 0);
    uint16_t mods = inst->match->mods & PTXI_MOD_BOOL_MASK;
    uint32_t r = ptxi_lower_use_predicate(l, q, &mods);
    i = ptxi_lower_pure_op(l, PTXI_OP_setp_ne_i32, ptxi_lower_def(l, p, PTXI_RC_PRED), d, zero, r);
    i->mods = mods;
    i->imm = PTXI_NO_SLOT;
    if (inst->operands[0].form == PTXI_OPD_REG)
        ptxi_lower_move(l, inst->operands[0].reg, d);
}

/* f32 arithmetic on f16 or bf16: all sources but the last are widened. */
void ptxi_lower_rule_mixed(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    uint16_t widen = ptxi_isa_slot_word(inst->match, PTXI_SLOT_T) == PTXI_T_f16
        ? PTXI_OP_cvt_f32_f16 : PTXI_OP_cvt_f32_bf16;
    uint32_t v[3] = { PTXI_NONE, PTXI_NONE, PTXI_NONE };

    assert(inst->operand_count <= 4);
    for (unsigned k = 0; k + 1 < inst->operand_count; k++) {
        bool last = k + 2 == inst->operand_count;
        uint32_t x = ptxi_lower_use(l, &inst->operands[k + 1], last ? PTXI_RC_32 : PTXI_RC_16);

        v[k] = last ? x : ptxi_lower_temp(l, PTXI_RC_32);
        if (!last)
            ptxi_lower_pure_op(l, widen, v[k], x, PTXI_NONE, PTXI_NONE);
    }
    ptxi_lower_pure_op(l, ptxi_isa_op(inst->match), ptxi_lower_def(l, &inst->operands[0], PTXI_RC_32), v[0], v[1],
                       v[2])->mods =
        inst->match->mods;
}

/* An operation on sources that other operations have widened to the class `wide`. widen[type]: the operation that
 * widens a source of this type, or 0. */
static void lower_widened(struct ptxi_lower *l, const struct ptxi_inst *inst, const uint16_t *widen, unsigned types,
                          enum ptxi_class wide, enum ptxi_class result)
{
    uint32_t v[3] = { PTXI_NONE, PTXI_NONE, PTXI_NONE };

    assert(inst->operand_count <= 4);
    for (unsigned k = 1; k < inst->operand_count; k++) {
        enum ptxi_type type = ptxi_isa_operand_type(inst->match, &inst->match->row->specs[k]);
        uint32_t x = ptxi_lower_use(l, &inst->operands[k], ptxi_ir_class_of(type));

        v[k - 1] = x;
        if (type >= types || !widen[type])
            continue;
        v[k - 1] = ptxi_lower_temp(l, wide);
        ptxi_lower_pure_op(l, widen[type], v[k - 1], x, PTXI_NONE, PTXI_NONE);
    }
    ptxi_lower_pure_op(l, ptxi_isa_op(inst->match), ptxi_lower_def(l, &inst->operands[0], result), v[0], v[1], v[2])
        ->mods = inst->match->mods;
}

void ptxi_lower_rule_mixed_x2(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    static const uint16_t widen[] = { [PTXI_T_f16x2] = PTXI_OP_widen_f16x2, [PTXI_T_bf16x2] = PTXI_OP_widen_bf16x2 };

    lower_widened(l, inst, widen, sizeof widen / sizeof *widen, PTXI_RC_64, PTXI_RC_64);
}

/* Arithmetic on four minifloats. */
void ptxi_lower_rule_quad(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
#define WIDEN(type) [PTXI_T_##type] = PTXI_OP_quad_##type
    static const uint16_t widen[] = { WIDEN(e5m2x4), WIDEN(e4m3x4), WIDEN(e3m2x4), WIDEN(e2m3x4), WIDEN(e2m1x4),
                                      WIDEN(e2m1p4x4), WIDEN(ue8m0x4) };
#undef WIDEN

    lower_widened(l, inst, widen, sizeof widen / sizeof *widen, PTXI_RC_128, PTXI_RC_32);
}

/* CC.CF is a predicate register of the function. Its field is imm. */
void ptxi_lower_rule_carry(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    uint16_t family = inst->match->row->family;
    uint32_t carry;

    if (l->carry == PTXI_NONE)
        l->carry = ptxi_lower_temp(l, PTXI_RC_PRED);
    carry = l->carry;
    ptxi_lower_rule_plain(l, inst);
    if (l->ir->oom)
        return;
    struct ptxi_ir_inst *i = &l->ir->insts[l->ir->count - 1];
    i->flags |= PTXI_IF_PURE;
    if (family == PTXI_M_addc || family == PTXI_M_subc || family == PTXI_M_madc)
        ptxi_ir_set_read(i, PTXI_F_IMM, carry);
    if (ptxi_isa_has_word(inst->match, PTXI_Q_cc))
        ptxi_ir_set_write(i, PTXI_F_IMM, carry);
}
