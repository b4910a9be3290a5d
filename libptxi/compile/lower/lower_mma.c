/* mma and mma.sp: the registers of all operands are in one list, after the information of the qualifiers (struct
 * ptxi_mma). */
#include "compile/lower/lower_state.h"
#include "num/dot.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>

enum { HEAD = offsetof(struct ptxi_mma, slots) / sizeof(uint16_t), MAX_REGISTERS = 40 };

uint16_t ptxi_lower_element_code(enum ptxi_type t)
{
    switch (t) {
#define X(name, ...) case PTXI_T_##name: return PTXI_DOT_##name;
    PTXI_NUM_MINIFLOAT_FORMATS(X)
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

void ptxi_lower_mma_types(const struct ptxi_lower *l, enum ptxi_type ta, enum ptxi_type tb, struct ptxi_mma *head)
{
    bool f16_result = head->c_f16 && head->d_f16;
    struct ptxi_dot_model model;

    head->a = ptxi_lower_element_code(ta);
    head->b = ptxi_lower_element_code(tb);
    if (head->m == 8 && ta == PTXI_T_f16)
        model = ptxi_dot_find_m8n8k4(l->options->sm, f16_result);
    else
        model = ptxi_dot_find(l->options->sm, PTXI_DOT_WARP, (enum ptxi_dot_type)head->a, f16_result);
    ptxi_dot_pack(&model, head->model);
}

static uint16_t scale_bytes(const struct ptxi_match *m)
{
    if (ptxi_isa_has_word(m, PTXI_Q_kind__mxf8f6f4))
        return 1;
    return ptxi_isa_has_word(m, PTXI_Q_scale_vec__4X) ? 4 : 2;
}

/* .block_scale: the number of scales of a row of A and of a column of B. */
static void read_scales(const struct ptxi_lower *l, const struct ptxi_match *m, struct ptxi_mma *head)
{
    if (!ptxi_lower_operand(l, PTXI_OPERAND_ids_a))
        return;
    head->scale_bytes = scale_bytes(m);
    head->scale_type = ptxi_isa_has_word(m, PTXI_T_ue4m3) ? PTXI_SCALE_UE4M3 : PTXI_SCALE_UE8M0;
}

/* Where the scales are: constants, or values of registers, which are added to v. Returns the number of those. */
static uint32_t read_selectors(struct ptxi_lower *l, struct ptxi_mma *head, uint32_t count, uint32_t *v)
{
    const struct ptxi_operand *ids[] = { ptxi_lower_operand(l, PTXI_OPERAND_ids_a),
                                         ptxi_lower_operand(l, PTXI_OPERAND_ids_b) };
    uint32_t added = 0;

    for (unsigned k = 0; ids[0] && k < 4; k++) {
        const struct ptxi_operand *id = &ids[k / 2]->elements[k % 2];

        if (id->form == PTXI_OPD_IMM) {
            head->scale_select[k] = (uint16_t)id->imm;
            continue;
        }
        head->selects_by_register |= (uint16_t)(1 << k);
        head->scale_select[k] = (uint16_t)(count + added);
        v[count + added++] = ptxi_lower_use(l, id, PTXI_RC_16);
    }
    return added;
}

static struct ptxi_mma read_head(const struct ptxi_lower *l, const struct ptxi_match *m)
{
    enum ptxi_type type_a = (enum ptxi_type)ptxi_isa_slot_word(m, PTXI_SLOT_A);
    enum ptxi_type type_b = (enum ptxi_type)ptxi_isa_slot_word(m, PTXI_SLOT_B);
    bool mxf4 = ptxi_isa_has_word(m, PTXI_Q_kind__mxf4) || ptxi_isa_has_word(m, PTXI_Q_kind__mxf4nvf4);
    const struct ptxi_operand *selector = ptxi_lower_operand(l, PTXI_OPERAND_f);
    struct ptxi_mma head = { 0 };

    read_shape(m, &head);
    head.a_bits = mxf4 ? 4 : ptxi_types[type_a].bits;
    head.b_bits = head.a_bits == 4 ? 4 : ptxi_types[type_b].bits;
    head.c_f16 = ptxi_isa_slot_word(m, PTXI_SLOT_C) == PTXI_T_f16;
    head.d_f16 = ptxi_isa_slot_word(m, PTXI_SLOT_D) == PTXI_T_f16;
    head.a_col = ptxi_isa_slot_word(m, PTXI_SLOT_alayout) == PTXI_Q_col;
    head.b_col = ptxi_isa_slot_word(m, PTXI_SLOT_blayout) == PTXI_Q_col;
    head.sparse = selector != NULL;
    head.selector = selector && selector->form == PTXI_OPD_IMM ? (uint16_t)selector->imm : 0;
    read_scales(l, m, &head);
    ptxi_lower_mma_types(l, type_a, type_b, &head);
    return head;
}

void ptxi_lower_rule_mma(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    static const enum ptxi_operand_resolve_name operands[] = { PTXI_OPERAND_d, PTXI_OPERAND_a,       PTXI_OPERAND_b,
                                                       PTXI_OPERAND_c,
                                                       PTXI_OPERAND_e, PTXI_OPERAND_scale_a, PTXI_OPERAND_scale_b };
    struct ptxi_mma head = read_head(l, inst->match);
    uint32_t v[MAX_REGISTERS], count = 0;

    for (unsigned s = 0; s < sizeof operands / sizeof *operands; s++) {
        head.first[s] = (uint16_t)count;
        count += ptxi_lower_registers(l, operands[s], s == 0, v + count);
    }
    head.first[7] = (uint16_t)count;
    count += read_selectors(l, &head, count, v);
    assert(count <= MAX_REGISTERS);
    ptxi_lower_list_op(l, &(struct ptxi_lower_list){ ptxi_isa_op(inst->match), inst->match->mods, .a = PTXI_NONE,
                                                     .b = PTXI_NONE,
                                                     .head = &head, .head_count = HEAD, .v = v, .writes = head.first[1],
                                                     .count = count });
    ptxi_lower_end_registers(l, PTXI_OPERAND_d, v);
}
