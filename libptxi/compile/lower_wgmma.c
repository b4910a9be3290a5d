/* wgmma.mma_async: the registers of all operands in one list, behind what the qualifiers say (struct ptxi_wgmma). */
#include "compile/build.h"
#include "num/dot.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { HEAD = offsetof(struct ptxi_wgmma, slots) / sizeof(uint16_t), MOST = 2 * 128 + 4 + 3 };

/* What stands for the type of A or B: a float's format, whether integers have a sign. */
static uint16_t element_code(enum ptxi_type t)
{
    switch (t) {
#define X(name, ...) case PTXI_T_##name: return PTXI_DOT_##name;
    PTXI_NUM_SMALL_FORMATS(X)
#undef X
    case PTXI_T_s8: return true;
    default: return false;
    }
}

static bool flag(const struct ptxi_build *b, const char *name, uint64_t value)
{
    const struct ptxi_operand *o = ptxi_build_operand(b, name);

    return o && (uint32_t)o->imm == (uint32_t)value;
}

static void find_model(const struct ptxi_build *b, struct ptxi_wgmma *head)
{
    struct ptxi_dot_model m = ptxi_dot_find(b->options->sm, PTXI_DOT_ASYNC, (enum ptxi_dot_type)head->a, head->kind == PTXI_WGMMA_F16);
    const uint16_t words[] = { m.chunk, m.kept, m.rounding, m.method, (uint16_t)m.zero };

    memcpy(head->model, words, sizeof words);
}

static void read_head(const struct ptxi_build *b, const struct ptxi_match *m, struct ptxi_wgmma *head)
{
    enum ptxi_type a = (enum ptxi_type)ptxi_isa_slot(m, "A"), d = (enum ptxi_type)ptxi_isa_slot(m, "D");
    const struct ptxi_operand *selector = ptxi_build_operand(b, "sp_sel");
    unsigned n = 0, k = 0;

    sscanf(ptxi_words[ptxi_isa_slot(m, "shape")], "m64n%uk%u", &n, &k);
    head->n = (uint16_t)n;
    head->k = (uint16_t)k;
    head->bits = ptxi_types[a].bits;
    head->a = element_code(a);
    head->b = element_code((enum ptxi_type)ptxi_isa_slot(m, "B"));
    head->kind = d == PTXI_T_f32 ? PTXI_WGMMA_F32 : d == PTXI_T_f16 ? PTXI_WGMMA_F16 : head->bits == 1 ? PTXI_WGMMA_BITS : PTXI_WGMMA_S32;
    head->a_in_memory = ptxi_build_operand(b, "a_desc") != NULL;
    head->sparse = selector != NULL;
    head->selector = selector ? (uint16_t)selector->imm : 0;
    head->negate_a = flag(b, "scale_a", -1);
    head->negate_b = flag(b, "scale_b", -1);
    head->turn_a = flag(b, "trans_a", 1);
    head->turn_b = flag(b, "trans_b", 1);
    find_model(b, head);
}

/* Registers of the source operands after D: C, which is D again, A, B, metadata, scale-d. */
static uint32_t read_sources(struct ptxi_build *b, bool accumulates, uint16_t *mods, uint32_t *v)
{
    const struct ptxi_operand *d = ptxi_build_operand(b, "d"), *a = ptxi_build_operand(b, "a"), *meta = ptxi_build_operand(b, "sp_meta");
    uint32_t n = 0;

    for (unsigned k = 0; k < d->count; k++)
        v[n++] = accumulates ? ptxi_build_use(b, &d->elements[k], PTXI_RC_32) : PTXI_NONE;
    for (unsigned k = 0; a && k < a->count; k++)
        v[n++] = ptxi_build_use(b, &a->elements[k], PTXI_RC_32);
    if (!a)
        v[n++] = ptxi_build_use(b, ptxi_build_operand(b, "a_desc"), PTXI_RC_64);
    v[n++] = ptxi_build_use(b, ptxi_build_operand(b, "b_desc"), PTXI_RC_64);
    v[n++] = meta ? ptxi_build_use(b, meta, PTXI_RC_32) : PTXI_NONE;
    v[n++] = ptxi_build_use_pred(b, ptxi_build_operand(b, "scale_d"), mods);
    return n;
}

void ptxi_lower_wgmma(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *d = ptxi_build_operand(b, "d"), *scale = ptxi_build_operand(b, "scale_d");
    bool accumulates = scale->form != PTXI_OPD_IMM || (scale->imm != 0) != scale->negated;
    struct ptxi_wgmma head = { 0 };
    uint16_t mods = inst->match->mods;
    uint32_t v[MOST], count = d->count, list;
    struct ptxi_ir_inst *i;
    struct ptxi_ir_list *l;

    read_head(b, inst->match, &head);
    for (unsigned k = 0; k < d->count; k++)
        v[k] = ptxi_build_def(b, &d->elements[k], PTXI_RC_32);
    count += read_sources(b, accumulates, &mods, v + count);
    i = ptxi_build_op(b, ptxi_isa_op(inst->match), PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE);
    i->mods = mods;
    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS | PTXI_IF_EARLY;
    list = ptxi_ir_list(b->ir, HEAD, count);
    if (list == PTXI_NONE)
        return;
    l = &b->ir->lists[list];
    memcpy(l->head, &head, HEAD * sizeof *l->head);
    memcpy(l->v, v, count * sizeof *v);
    l->writes = d->count;
    l->count = count;
    i->list = list;
    for (unsigned k = 0; k < d->count; k++)
        ptxi_build_def_end(b, &d->elements[k], v[k], ptxi_build_type(b, "d"));
}
