/* The lowering rule of rows that name none: one operation with the operands in the order of its fields. */
#include "compile/lower/lower_state.h"

#include <string.h>

/* mul, add and sub without a rounding modifier may be contracted, if they are of floats. .f32x2 may be contracted in
 * spite of .rn. */
static bool is_fusable(const struct ptxi_match *m)
{
    uint16_t family = m->row->family;

    if (family != PTXI_M_mul && family != PTXI_M_add && family != PTXI_M_sub)
        return false;
    if (ptxi_isa_has_word(m, PTXI_Q_rn) && !ptxi_isa_has_word(m, PTXI_T_f32x2))
        return false;
    return !ptxi_isa_has_word(m, PTXI_Q_rz) && !ptxi_isa_has_word(m, PTXI_Q_rm) && !ptxi_isa_has_word(m, PTXI_Q_rp);
}

static bool place_source(struct ptxi_lower *l, struct ptxi_ir_inst *i, const struct ptxi_operand *o,
                         enum ptxi_class class)
{
    static const uint8_t fields[] = { PTXI_F_A, PTXI_F_B, PTXI_F_C, PTXI_F_IMM, PTXI_F_IMM_HI };

    for (unsigned k = 0; k < sizeof fields; k++) {
        if (i->v[fields[k]] != PTXI_NONE)
            continue;
        ptxi_ir_set_read(i, fields[k], ptxi_lower_use(l, o, class));
        return true;
    }
    return false;
}

static bool place_destination(struct ptxi_lower *l, struct ptxi_ir_inst *i, const struct ptxi_operand *o,
                              enum ptxi_class class)
{
    static const uint8_t fields[] = { PTXI_F_D, PTXI_F_IMM };

    for (unsigned k = 0; k < sizeof fields; k++) {
        if (i->v[fields[k]] != PTXI_NONE)
            continue;
        ptxi_ir_set_write(i, fields[k], ptxi_lower_def(l, o, class));
        return true;
    }
    return false;
}

/* Puts an operand into the next free field; false if there is no such field. */
static bool place_operand(struct ptxi_lower *l, struct ptxi_ir_inst *i, const struct ptxi_operand *o,
                          const struct ptxi_opspec *spec)
{
    enum ptxi_class class = ptxi_ir_class_of(ptxi_isa_operand_type(l->inst->match, spec));

    return spec->flags & PTXI_OPF_WRITE ? place_destination(l, i, o, class) : place_source(l, i, o, class);
}

static bool place_operands(struct ptxi_lower *l, const struct ptxi_inst *inst, struct ptxi_ir_inst *i)
{
    for (unsigned k = 0; k < inst->operand_count; k++) {
        const struct ptxi_operand *o = &inst->operands[k];
        const struct ptxi_opspec *spec = &inst->match->row->specs[k];

        if (o->form == PTXI_OPD_NONE)
            continue;
        if (spec->kind != PTXI_OPK_VALUE && spec->kind != PTXI_OPK_IMMEDIATE)
            return false;
        if (o->form != PTXI_OPD_VECTOR) {
            if (!place_operand(l, i, o, spec))
                return false;
            continue;
        }
        for (unsigned e = 0; e < o->count; e++)
            if (!place_operand(l, i, &o->elements[e], spec))
                return false;
    }
    return true;
}

void ptxi_lower_rule_plain(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    struct ptxi_ir_inst i = { .op = ptxi_isa_op(inst->match), .mods = inst->match->mods, .guard = PTXI_NONE,
                              .aux = PTXI_NONE, .list = PTXI_NONE, .ptx = l->ptx };
    const struct ptxi_opspec *first = inst->match->row->specs;

    memset(i.v, 0xff, sizeof i.v);
    i.flags = inst->match->row->pure ? PTXI_IF_PURE : PTXI_IF_TOGETHER;
    if (is_fusable(inst->match))
        i.flags |= PTXI_IF_FUSABLE;
    /* sources may need operations of their own, so the instruction is appended last */
    if (!i.op || !place_operands(l, inst, &i))
        ptxi_lower_unsupported(l, NULL);
    else
        *ptxi_ir_append(l->ir, i.op) = i;
    if (i.v[PTXI_F_D] != PTXI_NONE && first->flags & PTXI_OPF_WIDER)
        ptxi_lower_end_def(l, &inst->operands[0], i.v[PTXI_F_D], ptxi_isa_operand_type(inst->match, first));
}
