/* Branches, calls, and the ends of a thread. */
#include "compile/lower/lower.h"

#include <string.h>

static struct ptxi_ir_inst *control(struct ptxi_build *b, uint16_t op)
{
    return ptxi_build_op(b, op, PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE);
}

void ptxi_lower_bra(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    struct ptxi_ir_inst *i;

    if (b->guard == PTXI_NONE) {
        i = control(b, PTXI_OP_bra);
    } else {
        i = control(b, inst->guard_negated ? PTXI_OP_bra_ifn : PTXI_OP_bra_if);
        ptxi_build_read(i, PTXI_F_A, b->guard);
        b->guard = PTXI_NONE;
    }
    i->aux = inst->operands[0].target;
}

void ptxi_lower_brx(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_targets *t = inst->operands[1].table;
    uint32_t index = ptxi_build_use(b, &inst->operands[0], PTXI_RC_32), table = ptxi_ir_table(b->ir, t->count);
    struct ptxi_ir_inst *i = control(b, PTXI_OP_brx);

    ptxi_build_read(i, PTXI_F_A, index);
    i->aux = table;
    if (b->ir->oom)
        return;
    for (uint32_t k = 0; k < t->count; k++)
        b->ir->tables[table].labels[k] = t->targets[k];
}

/* --- calls --- */

/* The address of a copy. */
static uint32_t copied(struct ptxi_build *b, const struct ptxi_home *h)
{
    uint32_t area = ptxi_ir_area(b->ir, 8, PTXI_NONE), at = ptxi_build_temp(b, PTXI_RC_64);

    ptxi_build_copy_depot(b, h, false);
    ptxi_build_pure(b, PTXI_OP_local_addr, at, PTXI_NONE, PTXI_NONE, PTXI_NONE)->imm = (int32_t)h->offset;
    ptxi_build_store_words(b, area, 0, at, 64);
    return area;
}

/* The words that pass one argument: those of a .param variable of the caller, or new ones that hold a register. */
static uint32_t argument_area(struct ptxi_build *b, const struct ptxi_operand *o, const struct ptxi_var *formal)
{
    const struct ptxi_home *h = o->form == PTXI_OPD_VAR ? ptxi_build_home(b, o->var) : NULL;
    unsigned bits = ptxi_types[formal->type].bits;
    uint32_t area;

    if (h && h->area != PTXI_NONE && formal->unsized)
        return copied(b, h);
    if (h && h->area != PTXI_NONE)
        return h->area;
    area = ptxi_ir_area(b->ir, ptxi_layout_passed(formal), PTXI_NONE);
    if (o->form != PTXI_OPD_SINK && formal->size * 8 == bits)
        ptxi_build_store_words(b, area, 0, ptxi_build_use(b, o, ptxi_class_of(formal->type)), bits);
    return area;
}

static uint32_t result_area(struct ptxi_build *b, const struct ptxi_operand *o, const struct ptxi_var *formal)
{
    const struct ptxi_home *h = o->form == PTXI_OPD_VAR ? ptxi_build_home(b, o->var) : NULL;

    return h && h->area != PTXI_NONE ? h->area : ptxi_ir_area(b->ir, formal->size, PTXI_NONE);
}

static void result_into_register(struct ptxi_build *b, const struct ptxi_operand *o, uint32_t area, const struct ptxi_var *formal)
{
    enum ptxi_type type = formal->type;
    uint32_t d;

    if (o->form != PTXI_OPD_REG)
        return;
    d = ptxi_build_def(b, o, ptxi_class_of(type));
    ptxi_build_load_words(b, area, 0, d, ptxi_types[type].bits, ptxi_types[type].class == 'S');
    ptxi_build_def_end(b, o, d, type);
}

static uint32_t call_target(const struct ptxi_call *c)
{
    if (!c->func)
        return PTXI_NONE;
    return c->func->alias_of ? c->func->alias_of->index : c->func->index;
}

static uint32_t smaller(uint32_t x, uint32_t y)
{
    return x < y ? x : y;
}

void ptxi_lower_call(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_call *c = inst->operands[0].call;
    const struct ptxi_signature *s = c->func ? &c->func->signature : c->signature;
    uint32_t args = smaller(c->arg_count, s->param_count), rets = smaller(c->ret_count, s->ret_count);
    uint32_t index = ptxi_ir_call(b->ir, args, rets), at = 0;
    struct ptxi_ir_inst *i;

    if (b->ir->oom)
        return;
    for (uint32_t k = 0; k < args; k++) {
        uint32_t area = argument_area(b, &c->args[k], s->params[k]);

        b->ir->calls[index].args[k] = (struct ptxi_ir_arg){ area, at };
        at += (uint32_t)((ptxi_layout_passed(s->params[k]) + 3) / 4) * ptxi_class_units[PTXI_RC_32];
    }
    at = ptxi_layout_words(s->params, s->param_count) * ptxi_class_units[PTXI_RC_32];
    for (uint32_t k = 0; k < rets; k++) {
        b->ir->calls[index].rets[k] = (struct ptxi_ir_arg){ result_area(b, &c->rets[k], s->rets[k]), at };
        at += (uint32_t)((s->rets[k]->size + 3) / 4) * ptxi_class_units[PTXI_RC_32];
    }
    b->ir->calls[index].arg_count = args;
    b->ir->calls[index].ret_count = rets;
    b->ir->calls[index].func = call_target(c);
    i = control(b, c->func ? PTXI_OP_call : PTXI_OP_call_indirect);
    i->aux = index;
    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS;
    if (!c->func)
        ptxi_build_read(i, PTXI_F_A, c->reg);
    for (uint32_t k = 0; k < rets && !b->ir->oom; k++)
        result_into_register(b, &c->rets[k], b->ir->calls[index].rets[k].area, s->rets[k]);
}

/* --- ends --- */

void ptxi_lower_ret(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    (void)inst;
    if (b->func->is_entry) {
        control(b, PTXI_OP_exit);
        return;
    }
    ptxi_build_epilogue(b);
    control(b, PTXI_OP_ret);
}

void ptxi_lower_exit(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    (void)inst;
    control(b, PTXI_OP_exit);
}

void ptxi_lower_trap(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    (void)inst;
    control(b, PTXI_OP_trap);
}

void ptxi_lower_brkpt(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    (void)inst;
    control(b, PTXI_OP_brkpt)->flags |= PTXI_IF_TOGETHER;
}

/* Hints. Of these nanosleep alone does something: it lets others run. */
void ptxi_lower_nop(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    uint32_t t;

    if (inst->match->row->family != PTXI_M_nanosleep) {
        control(b, PTXI_OP_nop)->flags |= PTXI_IF_PURE;
        return;
    }
    t = ptxi_build_use(b, &inst->operands[0], PTXI_RC_32);
    ptxi_build_op(b, PTXI_OP_nanosleep, PTXI_NONE, t, PTXI_NONE, PTXI_NONE)->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS;
}
