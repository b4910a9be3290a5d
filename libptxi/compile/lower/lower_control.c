/* Branches, calls, and the ends of a thread. */
#include "compile/lower/lower_state.h"

static struct ptxi_ir_inst *append_control(struct ptxi_lower *l, uint16_t op)
{
    return ptxi_lower_op(l, op, PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE);
}

void ptxi_lower_rule_bra(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    struct ptxi_ir_inst *i;

    if (l->guard == PTXI_NONE) {
        i = append_control(l, PTXI_OP_bra);
    } else {
        i = append_control(l, inst->guard_negated ? PTXI_OP_bra_ifn : PTXI_OP_bra_if);
        ptxi_ir_set_read(i, PTXI_F_A, l->guard);
        l->guard = PTXI_NONE;
    }
    i->aux = inst->operands[0].target;
}

void ptxi_lower_rule_brx(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_targets *t = inst->operands[1].table;
    uint32_t index = ptxi_lower_use(l, &inst->operands[0], PTXI_RC_32), table = ptxi_ir_table(l->ir, t->count);
    struct ptxi_ir_inst *i = append_control(l, PTXI_OP_brx);

    ptxi_ir_set_read(i, PTXI_F_A, index);
    i->aux = table;
    if (l->ir->oom)
        return;
    for (uint32_t k = 0; k < t->count; k++)
        l->ir->tables[table].labels[k] = t->targets[k];
}

/* --- calls --- */

/* Copies a variable to .local memory. Returns an area that holds the copy's address. */
static uint32_t copy_argument(struct ptxi_lower *l, const struct ptxi_lower_home *h)
{
    uint32_t area = ptxi_ir_area(l->ir, 8, PTXI_NONE), at = ptxi_lower_temp(l, PTXI_RC_64);

    ptxi_lower_copy_depot(l, h, false);
    ptxi_lower_pure_op(l, PTXI_OP_local_addr, at, PTXI_NONE, PTXI_NONE, PTXI_NONE)->imm = (int32_t)h->offset;
    ptxi_lower_store_words(l, area, 0, at, 64);
    return area;
}

/* The words that pass one argument: those of a .param variable of the caller, or new words that hold a register. */
static uint32_t argument_area(struct ptxi_lower *l, const struct ptxi_operand *o, const struct ptxi_var *formal)
{
    const struct ptxi_lower_home *h = o->form == PTXI_OPD_VAR ? ptxi_lower_find_home(l, o->var) : NULL;
    unsigned bits = ptxi_types[formal->type].bits;
    uint32_t area;

    if (h && h->area != PTXI_NONE && formal->unsized)
        return copy_argument(l, h);
    if (h && h->area != PTXI_NONE)
        return h->area;
    area = ptxi_ir_area(l->ir, ptxi_layout_passed(formal), PTXI_NONE);
    for (unsigned e = 0; o->form == PTXI_OPD_VECTOR && e < o->count; e++)
        ptxi_lower_store_words(l, area, e * (bits / 8),
                               ptxi_lower_use(l, &o->elements[e], ptxi_ir_class_of(formal->type)), bits);
    if (o->form != PTXI_OPD_SINK && formal->size * 8 == bits)
        ptxi_lower_store_words(l, area, 0, ptxi_lower_use(l, o, ptxi_ir_class_of(formal->type)), bits);
    return area;
}

static uint32_t result_area(struct ptxi_lower *l, const struct ptxi_operand *o, const struct ptxi_var *formal)
{
    const struct ptxi_lower_home *h = o->form == PTXI_OPD_VAR ? ptxi_lower_find_home(l, o->var) : NULL;

    return h && h->area != PTXI_NONE ? h->area : ptxi_ir_area(l->ir, formal->size, PTXI_NONE);
}

static void load_result(struct ptxi_lower *l, const struct ptxi_operand *o, uint32_t area,
                        const struct ptxi_var *formal)
{
    const struct ptxi_operand *elements = o->form == PTXI_OPD_VECTOR ? o->elements : o;
    unsigned count = o->form == PTXI_OPD_VECTOR ? o->count : 1;
    enum ptxi_type type = formal->type;

    for (unsigned e = 0; e < count; e++) {
        uint32_t d, offset = e * (ptxi_types[type].bits / 8);

        if (elements[e].form != PTXI_OPD_REG)
            continue;
        d = ptxi_lower_def(l, &elements[e], ptxi_ir_class_of(type));
        ptxi_lower_load_words(l, area, offset, d, ptxi_types[type].bits, ptxi_types[type].class == 'S');
        ptxi_lower_end_def(l, &elements[e], d, type);
    }
}

static uint32_t smaller(uint32_t x, uint32_t y)
{
    return x < y ? x : y;
}

void ptxi_lower_rule_call(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_call *c = inst->operands[0].call;
    const struct ptxi_signature *s = c->func ? &c->func->signature : c->signature;
    uint32_t args = smaller(c->arg_count, s->param_count), rets = smaller(c->ret_count, s->ret_count);
    uint32_t index = ptxi_ir_call(l->ir, args, rets), at = 0;
    struct ptxi_ir_inst *i;

    if (l->ir->oom)
        return;
    for (uint32_t k = 0; k < args; k++) {
        uint32_t area = argument_area(l, &c->args[k], s->params[k]);

        l->ir->calls[index].args[k] = (struct ptxi_ir_arg){ area, at };
        at += (uint32_t)((ptxi_layout_passed(s->params[k]) + 3) / 4) * ptxi_class_units[PTXI_RC_32];
    }
    at = ptxi_layout_words(s->params, s->param_count) * ptxi_class_units[PTXI_RC_32];
    for (uint32_t k = 0; k < rets; k++) {
        l->ir->calls[index].rets[k] = (struct ptxi_ir_arg){ result_area(l, &c->rets[k], s->rets[k]), at };
        at += (uint32_t)((s->rets[k]->size + 3) / 4) * ptxi_class_units[PTXI_RC_32];
    }
    l->ir->calls[index].arg_count = args;
    l->ir->calls[index].ret_count = rets;
    l->ir->calls[index].func = c->func ? ptxi_func_called(c->func) : PTXI_NONE;
    i = append_control(l, c->func ? PTXI_OP_call : PTXI_OP_call_indirect);
    i->aux = index;
    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS;
    if (!c->func)
        ptxi_ir_set_read(i, PTXI_F_A, c->reg);
    for (uint32_t k = 0; k < rets && !l->ir->oom; k++)
        load_result(l, &c->rets[k], l->ir->calls[index].rets[k].area, s->rets[k]);
}

/* --- ends of a thread, hints --- */

void ptxi_lower_rule_ret(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    (void)inst;
    if (l->func->is_entry) {
        append_control(l, PTXI_OP_exit);
        return;
    }
    ptxi_lower_epilogue(l);
    append_control(l, PTXI_OP_ret);
}

void ptxi_lower_rule_exit(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    (void)inst;
    append_control(l, PTXI_OP_exit);
}

void ptxi_lower_rule_trap(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    (void)inst;
    append_control(l, PTXI_OP_trap);
}

void ptxi_lower_rule_brkpt(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    (void)inst;
    append_control(l, PTXI_OP_brkpt)->flags |= PTXI_IF_TOGETHER;
}

/* Hints. Only nanosleep has an effect: it lets other threads run. */
void ptxi_lower_rule_nop(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    uint32_t t;

    if (inst->match->row->family != PTXI_M_nanosleep) {
        append_control(l, PTXI_OP_nop)->flags |= PTXI_IF_PURE;
        return;
    }
    t = ptxi_lower_use(l, &inst->operands[0], PTXI_RC_32);
    ptxi_lower_op(l, PTXI_OP_nanosleep, PTXI_NONE, t, PTXI_NONE, PTXI_NONE)->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS;
}
