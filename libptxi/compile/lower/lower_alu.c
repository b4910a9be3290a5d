/* setp, set, selp, shl and shr, lop3, and arithmetic with carry. */
#include "compile/lower/lower.h"

#include <string.h>

/* d = a cmp b, and with a Boolean operation also c; the operation of the row's pattern. */
static struct ptxi_ir_inst compare(struct ptxi_build *b, const struct ptxi_inst *inst, unsigned first)
{
    enum ptxi_class class = ptxi_class_of(ptxi_build_type(b, "a"));
    const struct ptxi_operand *c = ptxi_build_operand(b, "c");
    struct ptxi_ir_inst i = { .op = ptxi_isa_op(inst->match), .mods = inst->match->mods, .flags = PTXI_IF_PURE,
                              .guard = PTXI_NONE,             .aux = PTXI_NONE, .list = PTXI_NONE, .ptx = b->ptx };

    memset(i.v, 0xff, sizeof i.v);
    ptxi_build_read(&i, PTXI_F_A, ptxi_build_use(b, &inst->operands[first], class));
    ptxi_build_read(&i, PTXI_F_B, ptxi_build_use(b, &inst->operands[first + 1], class));
    if (c)
        ptxi_build_read(&i, PTXI_F_C, ptxi_build_use_pred(b, c, &i.mods));
    i.imm = PTXI_NO_SLOT;
    return i;
}

void ptxi_lower_setp(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    bool has_q = !strcmp(inst->match->row->specs[1].name, "q");
    struct ptxi_ir_inst i = compare(b, inst, has_q ? 2 : 1);

    ptxi_build_write(&i, PTXI_F_D, ptxi_build_def(b, &inst->operands[0], PTXI_RC_PRED));
    if (has_q && inst->operands[1].form == PTXI_OPD_REG)
        ptxi_build_write(&i, PTXI_F_IMM, inst->operands[1].reg);
    *ptxi_ir_append(b->ir, i.op) = i;
}

/* What set writes for true; of pairs, in each half. */
static uint64_t true_of(uint16_t type, bool pair)
{
    switch (type) {
    case PTXI_T_f32: return 0x3f800000;
    case PTXI_T_f16: case PTXI_T_f16x2: return 0x3c00;
    case PTXI_T_bf16: case PTXI_T_bf16x2: return 0x3f80;
    default: return pair || ptxi_types[type].bits == 16 ? 0xffff : 0xffffffff;
    }
}

static uint32_t choose(struct ptxi_build *b, enum ptxi_class class, uint64_t yes, uint32_t p, uint32_t d)
{
    uint32_t one = ptxi_build_const(b, class, yes), zero = ptxi_build_const(b, class, 0);

    ptxi_build_pure(b, class == PTXI_RC_16 ? PTXI_OP_selp_16 : PTXI_OP_selp_32, d, one, zero, p);
    return d;
}

/* set is a comparison and a selection between true and false. */
void ptxi_lower_set(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    struct ptxi_ir_inst i = compare(b, inst, 1);
    uint16_t source = ptxi_isa_slot(inst->match, "T"), type = ptxi_isa_slot(inst->match, "D");
    bool pair = source == PTXI_T_f16x2 || source == PTXI_T_bf16x2;
    enum ptxi_class class = ptxi_class_of((enum ptxi_type)type);
    uint64_t yes = true_of(type, pair);
    uint32_t p = ptxi_build_temp(b, PTXI_RC_PRED), q = pair ? ptxi_build_temp(b, PTXI_RC_PRED) : PTXI_NONE, low, high;

    ptxi_build_write(&i, PTXI_F_D, p);
    if (pair)
        ptxi_build_write(&i, PTXI_F_IMM, q);
    *ptxi_ir_append(b->ir, i.op) = i;
    if (!pair) {
        choose(b, class, yes, p, ptxi_build_def(b, &inst->operands[0], class));
        return;
    }
    low = choose(b, PTXI_RC_16, yes, p, ptxi_build_temp(b, PTXI_RC_16));
    high = choose(b, PTXI_RC_16, yes, q, ptxi_build_temp(b, PTXI_RC_16));
    ptxi_build_pure(b, PTXI_OP_pack_2x16, ptxi_build_def(b, &inst->operands[0], class), low, high, PTXI_NONE);
}

void ptxi_lower_selp(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    enum ptxi_class class = ptxi_class_of(ptxi_isa_operand_type(inst->match, &inst->match->row->specs[0]));
    uint16_t mods = inst->match->mods;
    uint32_t x = ptxi_build_use(b, &inst->operands[1], class), y = ptxi_build_use(b, &inst->operands[2], class);
    uint32_t p = ptxi_build_use_pred(b, &inst->operands[3], &mods), d = ptxi_build_def(b, &inst->operands[0], class);

    ptxi_build_pure(b, ptxi_isa_op(inst->match), d, x, y, p)->mods = mods;
}

/* Of an amount that is written as a constant ptxas keeps as many bits as the value has. */
void ptxi_lower_shift(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    enum ptxi_class class = ptxi_class_of(ptxi_isa_operand_type(inst->match, &inst->match->row->specs[0]));
    struct ptxi_operand amount = inst->operands[2];
    uint32_t x = ptxi_build_use(b, &inst->operands[1], class);

    if (amount.form == PTXI_OPD_IMM && class == PTXI_RC_16)
        amount.imm &= 0xffff;
    ptxi_build_pure(b, ptxi_isa_op(inst->match), ptxi_build_def(b, &inst->operands[0], class), x, ptxi_build_use(b, &amount, PTXI_RC_32), PTXI_NONE);
}

void ptxi_lower_lop3(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *p = ptxi_build_operand(b, "p"), *q = ptxi_build_operand(b, "q"), *lut = ptxi_build_operand(b, "immLut");
    uint32_t a = ptxi_build_use(b, ptxi_build_operand(b, "a"), PTXI_RC_32), x = ptxi_build_use(b, ptxi_build_operand(b, "b"), PTXI_RC_32);
    uint32_t c = ptxi_build_use(b, ptxi_build_operand(b, "c"), PTXI_RC_32), d, zero;
    struct ptxi_ir_inst *i;

    d = p ? ptxi_build_temp(b, PTXI_RC_32) : ptxi_build_def(b, &inst->operands[0], PTXI_RC_32);
    ptxi_build_pure(b, ptxi_isa_op(inst->match), d, a, x, c)->imm = (int32_t)(lut->imm & 0xff);
    if (!p)
        return;
    /* p = (d != 0) op q */
    zero = ptxi_build_const(b, PTXI_RC_32, 0);
    uint16_t mods = inst->match->mods & PTXI_MOD_BOOL_MASK;
    uint32_t r = ptxi_build_use_pred(b, q, &mods);
    i = ptxi_build_pure(b, PTXI_OP_setp_ne_i32, ptxi_build_def(b, p, PTXI_RC_PRED), d, zero, r);
    i->mods = mods;
    i->imm = PTXI_NO_SLOT;
    if (inst->operands[0].form == PTXI_OPD_REG)
        ptxi_build_move(b, inst->operands[0].reg, d);
}

/* f32 arithmetic whose first operand, and the second of a product, is a half. */
void ptxi_lower_mixed(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    uint16_t widen = ptxi_isa_slot(inst->match, "T") == PTXI_T_f16 ? PTXI_OP_cvt_f32_f16 : PTXI_OP_cvt_f32_bf16;
    uint32_t v[3] = { PTXI_NONE, PTXI_NONE, PTXI_NONE };

    for (unsigned k = 0; k + 1 < inst->operand_count; k++) {
        bool last = k + 2 == inst->operand_count;
        uint32_t x = ptxi_build_use(b, &inst->operands[k + 1], last ? PTXI_RC_32 : PTXI_RC_16);

        v[k] = last ? x : ptxi_build_temp(b, PTXI_RC_32);
        if (!last)
            ptxi_build_pure(b, widen, v[k], x, PTXI_NONE, PTXI_NONE);
    }
    ptxi_build_pure(b, ptxi_isa_op(inst->match), ptxi_build_def(b, &inst->operands[0], PTXI_RC_32), v[0], v[1], v[2])->mods = inst->match->mods;
}

/* CC.CF is a predicate register of the function. */
void ptxi_lower_carry(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    uint16_t family = inst->match->row->family;
    uint32_t carry;

    if (b->carry == PTXI_NONE)
        b->carry = ptxi_build_temp(b, PTXI_RC_PRED);
    carry = b->carry;
    ptxi_lower_plain(b, inst);
    if (b->ir->oom)
        return;
    struct ptxi_ir_inst *i = &b->ir->insts[b->ir->count - 1];
    i->flags |= PTXI_IF_PURE;
    if (family == PTXI_M_addc || family == PTXI_M_subc || family == PTXI_M_madc)
        ptxi_build_read(i, PTXI_F_IMM, carry);
    if (ptxi_build_has(inst->match, PTXI_Q_cc))
        ptxi_build_write(i, PTXI_F_IMM, carry);
}
