/* wgmma.mma_async: the registers of all operands are in one list, after the information of the qualifiers (struct
 * ptxi_wgmma). */
#include "compile/lower/lower_state.h"
#include "num/dot.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>

enum { HEAD = offsetof(struct ptxi_wgmma, slots) / sizeof(uint16_t), MAX_REGISTERS = 2 * 128 + 4 + 3 };

/* Whether an operand has that value. */
static bool has_value(const struct ptxi_lower *l, enum ptxi_operand_resolve_name name, uint64_t value)
{
    const struct ptxi_operand *o = ptxi_lower_operand(l, name);

    return o && (uint32_t)o->imm == (uint32_t)value;
}

static void find_model(const struct ptxi_lower *l, struct ptxi_wgmma *head)
{
    bool f16_result = head->kind == PTXI_WGMMA_F16;
    struct ptxi_dot_model m = ptxi_dot_find(l->options->sm, PTXI_DOT_ASYNC, (enum ptxi_dot_type)head->a, f16_result);

    ptxi_dot_pack(&m, head->model);
}

static uint16_t kind_of(enum ptxi_type d, unsigned element_bits)
{
    switch (d) {
    case PTXI_T_f32: return PTXI_WGMMA_F32;
    case PTXI_T_f16: return PTXI_WGMMA_F16;
    default: return element_bits == 1 ? PTXI_WGMMA_BITS : PTXI_WGMMA_S32;
    }
}

static void read_head(const struct ptxi_lower *l, const struct ptxi_match *m, struct ptxi_wgmma *head)
{
    enum ptxi_type a = (enum ptxi_type)ptxi_isa_slot_word(m, PTXI_SLOT_A);
    const struct ptxi_operand *selector = ptxi_lower_operand(l, PTXI_OPERAND_sp_sel);
    unsigned n = 0, k = 0;

    sscanf(ptxi_words[ptxi_isa_slot_word(m, PTXI_SLOT_shape)], "m64n%uk%u", &n, &k);
    head->n = (uint16_t)n;
    head->k = (uint16_t)k;
    head->bits = ptxi_types[a].bits;
    head->a = ptxi_lower_element_code(a);
    head->b = ptxi_lower_element_code((enum ptxi_type)ptxi_isa_slot_word(m, PTXI_SLOT_B));
    head->kind = kind_of((enum ptxi_type)ptxi_isa_slot_word(m, PTXI_SLOT_D), head->bits);
    head->a_in_memory = ptxi_lower_operand(l, PTXI_OPERAND_a_desc) != NULL;
    head->sparse = selector != NULL;
    head->selector = selector ? (uint16_t)selector->imm : 0;
    head->negate_a = has_value(l, PTXI_OPERAND_scale_a, -1);
    head->negate_b = has_value(l, PTXI_OPERAND_scale_b, -1);
    head->turn_a = has_value(l, PTXI_OPERAND_trans_a, 1);
    head->turn_b = has_value(l, PTXI_OPERAND_trans_b, 1);
    find_model(l, head);
}

/* Registers of the sources, in this order: C (the same registers as D), A, B, metadata, scale-d. Returns their
 * number. */
static uint32_t read_sources(struct ptxi_lower *l, bool accumulates, uint16_t *mods, uint32_t *v)
{
    const struct ptxi_operand *meta = ptxi_lower_operand(l, PTXI_OPERAND_sp_meta);
    uint32_t n = 0, columns = ptxi_lower_operand(l, PTXI_OPERAND_d)->count;

    if (accumulates)
        n = ptxi_lower_registers(l, PTXI_OPERAND_d, false, v);
    for (; n < columns; n++)
        v[n] = PTXI_NONE;
    n += ptxi_lower_registers(l, PTXI_OPERAND_a, false, v + n);
    n += ptxi_lower_registers(l, PTXI_OPERAND_a_desc, false, v + n);
    n += ptxi_lower_registers(l, PTXI_OPERAND_b_desc, false, v + n);
    v[n++] = meta ? ptxi_lower_use(l, meta, PTXI_RC_32) : PTXI_NONE;
    v[n++] = ptxi_lower_use_predicate(l, ptxi_lower_operand(l, PTXI_OPERAND_scale_d), mods);
    return n;
}

void ptxi_lower_rule_wgmma(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *scale = ptxi_lower_operand(l, PTXI_OPERAND_scale_d);
    bool accumulates = scale->form != PTXI_OPD_IMM || (scale->imm != 0) != scale->negated;
    struct ptxi_wgmma head = { 0 };
    uint16_t mods = inst->match->mods;
    uint32_t v[MAX_REGISTERS], writes, count;

    read_head(l, inst->match, &head);
    writes = ptxi_lower_registers(l, PTXI_OPERAND_d, true, v);
    count = writes + read_sources(l, accumulates, &mods, v + writes);
    assert(count <= MAX_REGISTERS);
    ptxi_lower_list_op(l, &(struct ptxi_lower_list){ ptxi_isa_op(inst->match), mods, .a = PTXI_NONE, .b = PTXI_NONE,
                                                     .head = &head,
                                                     .head_count = HEAD, .v = v, .writes = writes, .count = count })
        ->flags |= PTXI_IF_EARLY;
    ptxi_lower_end_registers(l, PTXI_OPERAND_d, v);
}
