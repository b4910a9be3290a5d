/* Operations with more registers than an instruction has fields: all registers are in a list, after what the qualifiers
 * say. */
#include "compile/lower/lower_state.h"

#include <assert.h>
#include <string.h>

unsigned ptxi_lower_registers(struct ptxi_lower *l, enum ptxi_operand_resolve_name name, bool write, uint32_t *v)
{
    const struct ptxi_operand *o = ptxi_lower_operand(l, name);
    enum ptxi_class class = o ? ptxi_ir_class_of(ptxi_lower_operand_type(l, name)) : PTXI_RC_32;

    if (!o)
        return 0;
    if (o->form != PTXI_OPD_VECTOR) {
        *v = ptxi_lower_use(l, o, class);
        return 1;
    }
    for (unsigned k = 0; k < o->count; k++) {
        const struct ptxi_operand *e = &o->elements[k];

        if (!write)
            v[k] = ptxi_lower_use(l, e, class);
        else
            v[k] = e->form == PTXI_OPD_SINK ? PTXI_NONE : ptxi_lower_def(l, e, class);
    }
    return o->count;
}

void ptxi_lower_end_registers(struct ptxi_lower *l, enum ptxi_operand_resolve_name name, const uint32_t *v)
{
    const struct ptxi_operand *o = ptxi_lower_operand(l, name);

    for (unsigned k = 0; k < o->count; k++)
        if (v[k] != PTXI_NONE)
            ptxi_lower_end_def(l, &o->elements[k], v[k], ptxi_lower_operand_type(l, name));
}

struct ptxi_ir_inst *ptxi_lower_list_op(struct ptxi_lower *l, const struct ptxi_lower_list *what)
{
    struct ptxi_ir_inst *i = ptxi_lower_op(l, what->op, PTXI_NONE, what->a, what->b, PTXI_NONE);
    uint32_t index;
    struct ptxi_ir_list *list;

    assert(what->writes <= what->count);
    i->mods = what->mods;
    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS;
    index = ptxi_ir_list(l->ir, what->head_count, what->count);
    if (index == PTXI_NONE)
        return i;
    list = &l->ir->lists[index];
    memcpy(list->head, what->head, what->head_count * sizeof *list->head);
    memcpy(list->v, what->v, what->count * sizeof *list->v);
    list->writes = what->writes;
    list->count = what->count;
    i->list = index;
    return i;
}
