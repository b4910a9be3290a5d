/* mov, cvt, cvta, isspacep. */
#include "compile/lower/lower_state.h"

/* --- mov --- */

/* Element e of a source, which is a vector or a special register with components. */
static struct ptxi_operand source_element(const struct ptxi_operand *a, unsigned e)
{
    struct ptxi_operand o = *a;

    if (a->form == PTXI_OPD_VECTOR)
        return a->elements[e];
    if (a->form == PTXI_OPD_SREG)
        o.sreg = (a->sreg & 0xff) | e << 8;
    return o;
}

enum { MAX_ELEMENTS = 4 };

/* mov.v2, mov.v4: all sources are read before the first destination is written. */
static void move_vector(struct ptxi_lower *l, const struct ptxi_operand *d, const struct ptxi_operand *a,
                        enum ptxi_class class)
{
    uint32_t v[MAX_ELEMENTS];

    for (unsigned e = 0; e < d->count && e < MAX_ELEMENTS; e++) {
        struct ptxi_operand s = source_element(a, e);
        uint32_t from = ptxi_lower_use(l, &s, class);

        v[e] = ptxi_lower_temp(l, class);
        ptxi_lower_move(l, v[e], from);
    }
    for (unsigned e = 0; e < d->count && e < MAX_ELEMENTS; e++)
        if (d->elements[e].form == PTXI_OPD_REG)
            ptxi_lower_move(l, ptxi_lower_fit(l, d->elements[e].reg, class), v[e]);
}

void ptxi_lower_rule_mov(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *d = &inst->operands[0], *a = &inst->operands[1];
    enum ptxi_class class = ptxi_ir_class_of(ptxi_isa_operand_type(inst->match, &inst->match->row->specs[0]));

    if (ptxi_isa_operand_vector(inst->match, &inst->match->row->specs[0]))
        move_vector(l, d, a, class);
    else if (d->form == PTXI_OPD_VECTOR)
        ptxi_lower_unpack(l, d, ptxi_lower_use(l, a, class), false);
    else if (a->form == PTXI_OPD_VECTOR)
        ptxi_lower_pack(l, d->reg, a);
    else
        ptxi_lower_move(l, d->reg, ptxi_lower_use(l, a, ptxi_lower_class(l, d->reg)));
}

/* --- cvt --- */

static bool is_integer(enum ptxi_type t)
{
    return ptxi_types[t].class == 'U' || ptxi_types[t].class == 'S';
}

/* Between integers: the value is truncated or extended to the destination's type `to`, then extended to the
 * register. */
static void convert_integer(struct ptxi_lower *l, const struct ptxi_operand *d, uint32_t a, enum ptxi_type to,
                            enum ptxi_type from)
{
    unsigned to_bits = ptxi_types[to].bits, from_bits = ptxi_types[from].bits;
    bool to_signed = ptxi_types[to].class == 'S', from_signed = ptxi_types[from].class == 'S';
    unsigned reg_bits = ptxi_class_units[ptxi_lower_class(l, d->reg)] * 16;

    if (to_bits <= from_bits) {
        ptxi_lower_resize(l, d->reg, a, to_bits, to_signed);
    } else if (to_signed == from_signed || to_bits == reg_bits) {
        ptxi_lower_resize(l, d->reg, a, from_bits, from_signed);
    } else {
        uint32_t t = ptxi_lower_temp(l, ptxi_ir_class_of(to));

        ptxi_lower_resize(l, t, a, from_bits, from_signed);
        ptxi_lower_resize(l, d->reg, t, to_bits, to_signed);
    }
}

void ptxi_lower_rule_cvt(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *d = &inst->operands[0], *a = &inst->operands[1];
    const struct ptxi_opspec *specs = inst->match->row->specs;
    enum ptxi_type to = ptxi_isa_operand_type(inst->match, &specs[0]),
                      from = ptxi_isa_operand_type(inst->match, &specs[1]);
    uint16_t op = ptxi_isa_op(inst->match);
    uint32_t v, w;

    v = ptxi_lower_use(l, a, a->form == PTXI_OPD_REG ? ptxi_lower_class(l, a->reg) : ptxi_ir_class_of(from));
    if (!op && is_integer(to) && is_integer(from)) {
        convert_integer(l, d, v, to, from);
        return;
    }
    v = ptxi_lower_fit(l, v, ptxi_ir_class_of(from)); /* operations on 8 bits read the low bits of the register */
    w = ptxi_lower_def(l, d, ptxi_ir_class_of(to));
    ptxi_lower_pure_op(l, op, w, v, PTXI_NONE, PTXI_NONE)->mods = inst->match->mods;
    ptxi_lower_end_def(l, d, w, to);
}

/* --- generic addresses --- */

void ptxi_lower_rule_cvta(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    enum ptxi_space space = ptxi_lower_space(inst->match);
    bool to = ptxi_isa_has_word(inst->match, PTXI_Q_to);
    uint32_t a, d = inst->operands[0].reg;
    uint16_t op;

    if (ptxi_lower_class(l, d) != PTXI_RC_64) {
        ptxi_lower_unsupported(l, "32-bit generic address");
        return;
    }
    a = ptxi_lower_use(l, &inst->operands[1], PTXI_RC_64);
    switch (space) {
    case PTXI_SPACE_SHARED: case PTXI_SPACE_CLUSTER: op = to ? PTXI_OP_cvta_to_shared : PTXI_OP_cvta_shared; break;
    case PTXI_SPACE_LOCAL: op = to ? PTXI_OP_cvta_to_local : PTXI_OP_cvta_local; break;
    case PTXI_SPACE_CONST: op = to ? PTXI_OP_cvta_to_const : PTXI_OP_cvta_const; break;
    case PTXI_SPACE_PARAM: op = to ? PTXI_OP_cvta_to_param : PTXI_OP_cvta_param; break;
    default: ptxi_lower_move(l, d, a); return;
    }
    ptxi_lower_pure_op(l, op, d, a, PTXI_NONE, PTXI_NONE);
}

static uint16_t isspacep_op(enum ptxi_space space)
{
    switch (space) {
    case PTXI_SPACE_SHARED: return PTXI_OP_isspacep_shared;
    case PTXI_SPACE_CLUSTER: return PTXI_OP_isspacep_cluster;
    case PTXI_SPACE_LOCAL: return PTXI_OP_isspacep_local;
    case PTXI_SPACE_CONST: return PTXI_OP_isspacep_const;
    case PTXI_SPACE_PARAM: return PTXI_OP_isspacep_param;
    default: return PTXI_OP_isspacep_global;
    }
}

void ptxi_lower_rule_isspacep(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    enum ptxi_class class = ptxi_ir_class_of(ptxi_lower_operand_type(l, PTXI_OPERAND_a));
    uint32_t a = ptxi_lower_fit(l, ptxi_lower_use(l, &inst->operands[1], class), PTXI_RC_64);
    uint16_t op = isspacep_op(ptxi_lower_space(inst->match));

    ptxi_lower_pure_op(l, op, ptxi_lower_def(l, &inst->operands[0], PTXI_RC_PRED), a, PTXI_NONE, PTXI_NONE);
}
