/* mma and mma.sp: the registers of all operands in one list, behind what the qualifiers say (struct ptxi_mma). */
#include "compile/lower/lower.h"
#include "num/dot.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { HEAD = offsetof(struct ptxi_mma, slots) / sizeof(uint16_t), MOST = 40 };

uint16_t ptxi_build_element_code(enum ptxi_type t)
{
    switch (t) {
#define X(name, ...) case PTXI_T_##name: return PTXI_DOT_##name;
    PTXI_NUM_SMALL_FORMATS(X)
#undef X
    case PTXI_T_s8: case PTXI_T_s4: return true;
    default: return false;
    }
}

static void read_shape(const struct ptxi_match *m, struct ptxi_mma *head)
{
    unsigned rows, columns, depth;

    for (unsigned s = 0; s < m->row->slot_count; s++)
        if (m->words[s] != PTXI_NO_WORD && sscanf(ptxi_words[m->words[s]], "m%un%uk%u", &rows, &columns, &depth) == 3) {
            head->m = (uint16_t)rows;
            head->k = (uint16_t)depth;
        }
}

void ptxi_build_mma_types(const struct ptxi_build *b, enum ptxi_type ta, enum ptxi_type tb, struct ptxi_mma *head)
{
    bool f16_result = head->c_f16 && head->d_f16;
    struct ptxi_dot_model model;

    head->a = ptxi_build_element_code(ta);
    head->b = ptxi_build_element_code(tb);
    model = head->m == 8 && ta == PTXI_T_f16 ? ptxi_dot_find_m8n8k4(b->options->sm, f16_result)
                                             : ptxi_dot_find(b->options->sm, PTXI_DOT_WARP, (enum ptxi_dot_type)head->a, f16_result);
    ptxi_dot_pack(&model, head->model);
}

/* .block_scale: how many scales a row of A and a column of B have, and where they are. */
static void read_scales(const struct ptxi_build *b, const struct ptxi_match *m, struct ptxi_mma *head)
{
    const struct ptxi_operand *ids[] = { ptxi_build_operand(b, "ids_a"), ptxi_build_operand(b, "ids_b") };

    if (!ids[0])
        return;
    head->scale_bytes = ptxi_build_has(m, PTXI_Q_kind__mxf8f6f4) ? 1 : ptxi_build_has(m, PTXI_Q_scale_vec__4X) ? 4 : 2;
    head->scale_ue4m3 = ptxi_build_has(m, PTXI_T_ue4m3);
    for (unsigned k = 0; k < 4; k++)
        head->scale_select[k] = ids[k / 2]->elements[k % 2].form == PTXI_OPD_IMM ? (uint16_t)ids[k / 2]->elements[k % 2].imm : 0;
}

static struct ptxi_mma read_head(const struct ptxi_build *b, const struct ptxi_match *m)
{
    enum ptxi_type a = (enum ptxi_type)ptxi_isa_slot(m, "A"), type_b = (enum ptxi_type)ptxi_isa_slot(m, "B");
    const struct ptxi_operand *selector = ptxi_build_operand(b, "f");
    struct ptxi_mma head = { 0 };

    read_shape(m, &head);
    head.a_bits = ptxi_build_has(m, PTXI_Q_kind__mxf4) || ptxi_build_has(m, PTXI_Q_kind__mxf4nvf4) ? 4 : ptxi_types[a].bits;
    head.b_bits = head.a_bits == 4 ? 4 : ptxi_types[type_b].bits;
    head.c_f16 = ptxi_isa_slot(m, "C") == PTXI_T_f16;
    head.d_f16 = ptxi_isa_slot(m, "D") == PTXI_T_f16;
    head.a_col = ptxi_isa_slot(m, "alayout") == PTXI_Q_col;
    head.b_col = ptxi_isa_slot(m, "blayout") == PTXI_Q_col;
    head.sparse = selector != NULL;
    head.selector = selector && selector->form == PTXI_OPD_IMM ? (uint16_t)selector->imm : 0;
    read_scales(b, m, &head);
    ptxi_build_mma_types(b, a, type_b, &head);
    return head;
}

unsigned ptxi_build_registers(struct ptxi_build *b, const char *name, bool write, uint32_t *v)
{
    const struct ptxi_operand *o = ptxi_build_operand(b, name);
    enum ptxi_class class = o ? ptxi_class_of(ptxi_build_type(b, name)) : PTXI_RC_32;

    if (!o)
        return 0;
    if (o->form != PTXI_OPD_VECTOR) {
        *v = ptxi_build_use(b, o, class);
        return 1;
    }
    for (unsigned k = 0; k < o->count; k++) {
        const struct ptxi_operand *e = &o->elements[k];

        v[k] = !write ? ptxi_build_use(b, e, class) : e->form == PTXI_OPD_SINK ? PTXI_NONE : ptxi_build_def(b, e, class);
    }
    return o->count;
}

void ptxi_build_registers_end(struct ptxi_build *b, const char *name, const uint32_t *v)
{
    const struct ptxi_operand *o = ptxi_build_operand(b, name);

    for (unsigned k = 0; k < o->count; k++)
        if (v[k] != PTXI_NONE)
            ptxi_build_def_end(b, &o->elements[k], v[k], ptxi_build_type(b, name));
}

struct ptxi_ir_inst *ptxi_build_list(struct ptxi_build *b, const struct ptxi_list_op *what)
{
    struct ptxi_ir_inst *i = ptxi_build_op(b, what->op, PTXI_NONE, what->a, what->b, PTXI_NONE);
    uint32_t list;
    struct ptxi_ir_list *l;

    i->mods = what->mods;
    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS;
    list = ptxi_ir_list(b->ir, what->head_count, what->count);
    if (list == PTXI_NONE)
        return i;
    l = &b->ir->lists[list];
    memcpy(l->head, what->head, what->head_count * sizeof *l->head);
    memcpy(l->v, what->v, what->count * sizeof *l->v);
    l->writes = what->writes;
    l->count = what->count;
    i->list = list;
    return i;
}

void ptxi_lower_mma(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    static const char *const operands[] = { "d", "a", "b", "c", "e", "scale_a", "scale_b" };
    struct ptxi_mma head = read_head(b, inst->match);
    uint32_t v[MOST], count = 0;

    for (unsigned s = 0; s < sizeof operands / sizeof *operands; s++) {
        head.first[s] = (uint16_t)count;
        count += ptxi_build_registers(b, operands[s], s == 0, v + count);
    }
    head.first[7] = (uint16_t)count;
    ptxi_build_list(b, &(struct ptxi_list_op){ ptxi_isa_op(inst->match), inst->match->mods, .a = PTXI_NONE, .b = PTXI_NONE, .head = &head,
                                               .head_count = HEAD, .v = v, .writes = head.first[1], .count = count });
    ptxi_build_registers_end(b, "d", v);
}
