/* wgmma.mma_async: the registers of all operands in one list, behind what the qualifiers say (struct ptxi_wgmma). */
#include "compile/lower/lower.h"
#include "num/dot.h"

#include <stddef.h>
#include <stdio.h>

enum { HEAD = offsetof(struct ptxi_wgmma, slots) / sizeof(uint16_t), MOST = 2 * 128 + 4 + 3 };

static bool flag(const struct ptxi_build *b, const char *name, uint64_t value)
{
    const struct ptxi_operand *o = ptxi_build_operand(b, name);

    return o && (uint32_t)o->imm == (uint32_t)value;
}

static void find_model(const struct ptxi_build *b, struct ptxi_wgmma *head)
{
    struct ptxi_dot_model m = ptxi_dot_find(b->options->sm, PTXI_DOT_ASYNC, (enum ptxi_dot_type)head->a, head->kind == PTXI_WGMMA_F16);

    ptxi_dot_pack(&m, head->model);
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
    head->a = ptxi_build_element_code(a);
    head->b = ptxi_build_element_code((enum ptxi_type)ptxi_isa_slot(m, "B"));
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
    const struct ptxi_operand *meta = ptxi_build_operand(b, "sp_meta");
    uint32_t n = 0, columns = ptxi_build_operand(b, "d")->count;

    if (accumulates)
        n = ptxi_build_registers(b, "d", false, v);
    for (; n < columns; n++)
        v[n] = PTXI_NONE;
    n += ptxi_build_registers(b, "a", false, v + n);
    n += ptxi_build_registers(b, "a_desc", false, v + n);
    n += ptxi_build_registers(b, "b_desc", false, v + n);
    v[n++] = meta ? ptxi_build_use(b, meta, PTXI_RC_32) : PTXI_NONE;
    v[n++] = ptxi_build_use_pred(b, ptxi_build_operand(b, "scale_d"), mods);
    return n;
}

void ptxi_lower_wgmma(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *scale = ptxi_build_operand(b, "scale_d");
    bool accumulates = scale->form != PTXI_OPD_IMM || (scale->imm != 0) != scale->negated;
    struct ptxi_wgmma head = { 0 };
    uint16_t mods = inst->match->mods;
    uint32_t v[MOST], writes, count;

    read_head(b, inst->match, &head);
    writes = ptxi_build_registers(b, "d", true, v);
    count = writes + read_sources(b, accumulates, &mods, v + writes);
    ptxi_build_list(b, &(struct ptxi_list_op){ ptxi_isa_op(inst->match), mods, .a = PTXI_NONE, .b = PTXI_NONE, .head = &head, .head_count = HEAD,
                                               .v = v, .writes = writes, .count = count })
        ->flags |= PTXI_IF_EARLY;
    ptxi_build_registers_end(b, "d", v);
}
