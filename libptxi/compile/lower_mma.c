/* mma and mma.sp: the registers of all operands in one list, behind what the qualifiers say (struct ptxi_mma). */
#include "compile/build.h"
#include "num/dot.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { HEAD = offsetof(struct ptxi_mma, slots) / sizeof(uint16_t), MOST = 40 };

/* What stands for the type of A or B: a float's format, whether integers have a sign. */
static uint16_t element_code(enum ptxi_type t)
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

static void find_model(const struct ptxi_build *b, enum ptxi_type a, struct ptxi_mma *head)
{
    bool m8n8k4 = head->m == 8 && a == PTXI_T_f16;
    struct ptxi_dot_model model = m8n8k4 ? ptxi_dot_find_m8n8k4(b->options->sm, head->d_f16)
                                         : ptxi_dot_find(b->options->sm, PTXI_DOT_WARP, (enum ptxi_dot_type)head->a, head->d_f16);
    const uint16_t words[] = { model.chunk, model.kept, model.rounding, model.method, (uint16_t)model.zero };

    memcpy(head->model, words, sizeof words);
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
    head.a = element_code(a);
    head.b = element_code(type_b);
    head.c_f16 = ptxi_isa_slot(m, "C") == PTXI_T_f16;
    head.d_f16 = ptxi_isa_slot(m, "D") == PTXI_T_f16;
    head.a_col = ptxi_isa_slot(m, "alayout") == PTXI_Q_col;
    head.b_col = ptxi_isa_slot(m, "blayout") == PTXI_Q_col;
    head.sparse = selector != NULL;
    head.selector = selector && selector->form == PTXI_OPD_IMM ? (uint16_t)selector->imm : 0;
    read_scales(b, m, &head);
    find_model(b, a, &head);
    return head;
}

/* Registers of an operand, which may be missing. */
static unsigned read_operand(struct ptxi_build *b, const char *name, uint32_t *v)
{
    const struct ptxi_operand *o = ptxi_build_operand(b, name);
    enum ptxi_class class = o ? ptxi_class_of(ptxi_build_type(b, name)) : PTXI_RC_32;

    if (!o)
        return 0;
    if (o->form != PTXI_OPD_VECTOR) {
        *v = ptxi_build_use(b, o, class);
        return 1;
    }
    for (unsigned k = 0; k < o->count; k++)
        v[k] = ptxi_build_use(b, &o->elements[k], class);
    return o->count;
}

static void write_results(struct ptxi_build *b, const struct ptxi_operand *d, const uint32_t *v)
{
    for (unsigned k = 0; k < d->count; k++)
        if (v[k] != PTXI_NONE)
            ptxi_build_def_end(b, &d->elements[k], v[k], ptxi_build_type(b, "d"));
}

void ptxi_lower_mma(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    static const char *const sources[] = { "a", "b", "c", "e", "scale_a", "scale_b" };
    const struct ptxi_operand *d = ptxi_build_operand(b, "d");
    enum ptxi_class class = ptxi_class_of(ptxi_build_type(b, "d"));
    struct ptxi_mma head = read_head(b, inst->match);
    uint32_t v[MOST], count = d->count, list;
    struct ptxi_ir_list *l;
    struct ptxi_ir_inst *i;

    for (unsigned k = 0; k < d->count; k++)
        v[k] = d->elements[k].form == PTXI_OPD_SINK ? PTXI_NONE : ptxi_build_def(b, &d->elements[k], class);
    for (unsigned s = 0; s < sizeof sources / sizeof *sources; s++) {
        head.first[s + 1] = (uint16_t)count;
        count += read_operand(b, sources[s], v + count);
    }
    head.first[7] = (uint16_t)count;
    i = ptxi_build_op(b, ptxi_isa_op(inst->match), PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE);
    i->mods = inst->match->mods;
    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS;
    list = ptxi_ir_list(b->ir, HEAD, count);
    if (list == PTXI_NONE)
        return;
    l = &b->ir->lists[list];
    memcpy(l->head, &head, HEAD * sizeof *l->head);
    memcpy(l->v, v, count * sizeof *v);
    l->writes = d->count;
    l->count = count;
    i->list = list;
    write_results(b, d, v);
}
