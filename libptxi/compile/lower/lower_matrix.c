/* ldmatrix and stmatrix. */
#include "compile/lower/lower_state.h"

#include <assert.h>

enum { MAX_OFFSET = (1 << (31 - PTXI_MATRIX_OFFSET)) - 1 };

static enum ptxi_matrix_format format_of(const struct ptxi_match *m)
{
    if (ptxi_isa_has_word(m, PTXI_Q_b6x16_p32))
        return PTXI_MATRIX_B6;
    if (ptxi_isa_has_word(m, PTXI_Q_b4x16_p64))
        return PTXI_MATRIX_B4;
    if (ptxi_isa_has_word(m, PTXI_T_s4))
        return PTXI_MATRIX_S4;
    return ptxi_isa_has_word(m, PTXI_T_b16) ? PTXI_MATRIX_B16 : PTXI_MATRIX_B8;
}

/* imm without the offset and the space. Each register holds eight rows. */
static int32_t flags_of(const struct ptxi_match *m, const struct ptxi_operand *registers)
{
    int32_t flags = __builtin_ctz(registers->count);

    assert(registers->count == 1 || registers->count == 2 || registers->count == 4);
    flags |= format_of(m) << PTXI_MATRIX_FORMAT;
    if (ptxi_isa_has_word(m, PTXI_Q_trans))
        flags |= PTXI_MATRIX_TRANS;
    return flags;
}

/* Adds the offset to the base if imm has no room for it. */
static void limit_offset(struct ptxi_lower *l, struct ptxi_lower_mem *mem)
{
    if (mem->offset >= -MAX_OFFSET && mem->offset <= MAX_OFFSET)
        return;
    mem->base = ptxi_lower_add_offset(l, mem->base, mem->offset);
    mem->offset = 0;
}

static void load_registers(struct ptxi_lower *l, const struct ptxi_lower_mem *mem, int32_t imm,
                           const struct ptxi_operand *registers)
{
    static const uint8_t fields[] = { PTXI_F_D, PTXI_F_B, PTXI_F_C, PTXI_F_MODS };
    uint32_t d[4];
    struct ptxi_ir_inst *i;

    for (unsigned k = 0; k < registers->count; k++) {
        const struct ptxi_operand *e = &registers->elements[k];

        d[k] = e->form == PTXI_OPD_SINK ? PTXI_NONE : ptxi_lower_def(l, e, PTXI_RC_32);
    }
    i = ptxi_lower_op(l, PTXI_OP_ldmatrix, PTXI_NONE, mem->base, PTXI_NONE, PTXI_NONE);
    i->mods = PTXI_NO_SLOT;
    i->imm = imm;
    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS;
    ptxi_lower_note_access(l, i, mem, ptxi_isa_has_word(l->inst->match, PTXI_T_s4) ? 8 : 16, PTXI_SHARED_MATRIX);
    for (unsigned k = 0; k < registers->count; k++)
        ptxi_ir_set_write(i, fields[k], d[k]);
    for (unsigned k = 0; k < registers->count; k++)
        if (d[k] != PTXI_NONE)
            ptxi_lower_end_def(l, &registers->elements[k], d[k], PTXI_T_b32);
}

static void store_registers(struct ptxi_lower *l, const struct ptxi_lower_mem *mem, int32_t imm,
                            const struct ptxi_operand *registers)
{
    static const uint8_t fields[] = { PTXI_F_B, PTXI_F_C, PTXI_F_D, PTXI_F_MODS };
    uint32_t v[4];
    struct ptxi_ir_inst *i;

    for (unsigned k = 0; k < registers->count; k++)
        v[k] = ptxi_lower_use(l, &registers->elements[k], PTXI_RC_32);
    i = ptxi_lower_op(l, PTXI_OP_stmatrix, PTXI_NONE, mem->base, PTXI_NONE, PTXI_NONE);
    i->imm = imm;
    i->flags |= PTXI_IF_TOGETHER;
    ptxi_lower_note_access(l, i, mem, 16, PTXI_SHARED_MATRIX);
    for (unsigned k = 0; k < registers->count; k++)
        ptxi_ir_set_read(i, fields[k], v[k]);
}

void ptxi_lower_rule_matrix(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *registers = ptxi_lower_operand(l, PTXI_OPERAND_r);
    struct ptxi_lower_mem mem;
    int32_t imm = flags_of(inst->match, registers);

    if (!ptxi_lower_memory_operand(l, ptxi_lower_operand(l, PTXI_OPERAND_p), false, &mem))
        return;
    limit_offset(l, &mem);
    imm |= (int32_t)((uint32_t)mem.offset << PTXI_MATRIX_OFFSET);
    if (mem.space == PTXI_SPACE_GENERIC)
        imm |= PTXI_MATRIX_GENERIC;
    if (ptxi_isa_op(inst->match) == PTXI_OP_ldmatrix)
        load_registers(l, &mem, imm, registers);
    else
        store_registers(l, &mem, imm, registers);
}
