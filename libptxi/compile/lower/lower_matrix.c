/* ldmatrix and stmatrix. */
#include "compile/lower/lower.h"

enum { MOST_OFFSET = (1 << (31 - PTXI_MATRIX_OFFSET)) - 1 };

static enum ptxi_matrix_format format_of(const struct ptxi_match *m)
{
    if (ptxi_build_has(m, PTXI_Q_b6x16_p32))
        return PTXI_MATRIX_B6;
    if (ptxi_build_has(m, PTXI_Q_b4x16_p64))
        return PTXI_MATRIX_B4;
    return ptxi_build_has(m, PTXI_T_b16) ? PTXI_MATRIX_B16 : PTXI_MATRIX_B8;
}

/* As imm has it but for the offset. Each register holds eight rows. */
static int32_t flags_of(const struct ptxi_match *m, const struct ptxi_operand *registers)
{
    int32_t flags = registers->count == 4 ? 2 : registers->count == 2;

    flags |= format_of(m) << PTXI_MATRIX_FORMAT;
    if (ptxi_build_has(m, PTXI_Q_trans))
        flags |= PTXI_MATRIX_TRANS;
    return flags;
}

/* Offsets that imm has no room for are added first. */
static void keep_offset_small(struct ptxi_build *b, struct ptxi_mem *mem)
{
    enum ptxi_class class = ptxi_build_class(b, mem->base);
    uint32_t sum;

    if (mem->offset >= -MOST_OFFSET && mem->offset <= MOST_OFFSET)
        return;
    sum = ptxi_build_temp(b, class);
    ptxi_build_pure(b, class == PTXI_RC_32 ? PTXI_OP_add_i32 : PTXI_OP_add_i64, sum, mem->base,
                    ptxi_build_const(b, class, (uint64_t)(int64_t)mem->offset), PTXI_NONE);
    mem->base = sum;
    mem->offset = 0;
}

static void load_registers(struct ptxi_build *b, uint16_t op, const struct ptxi_mem *mem, int32_t imm, const struct ptxi_operand *registers)
{
    static const uint8_t fields[] = { PTXI_F_D, PTXI_F_B, PTXI_F_C, PTXI_F_MODS };
    uint32_t d[4];
    struct ptxi_ir_inst *i;

    for (unsigned k = 0; k < registers->count; k++)
        d[k] = registers->elements[k].form == PTXI_OPD_SINK ? PTXI_NONE : ptxi_build_def(b, &registers->elements[k], PTXI_RC_32);
    i = ptxi_build_op(b, op, PTXI_NONE, mem->base, PTXI_NONE, PTXI_NONE);
    i->mods = PTXI_NO_SLOT;
    i->imm = imm;
    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS;
    ptxi_build_accesses(i, mem, 16, PTXI_SHARED_MATRIX);
    for (unsigned k = 0; k < registers->count; k++)
        ptxi_build_write(i, fields[k], d[k]);
    for (unsigned k = 0; k < registers->count; k++)
        if (d[k] != PTXI_NONE)
            ptxi_build_def_end(b, &registers->elements[k], d[k], PTXI_T_b32);
}

static void store_registers(struct ptxi_build *b, uint16_t op, const struct ptxi_mem *mem, int32_t imm, const struct ptxi_operand *registers)
{
    static const uint8_t fields[] = { PTXI_F_B, PTXI_F_C, PTXI_F_D, PTXI_F_MODS };
    uint32_t v[4];
    struct ptxi_ir_inst *i;

    for (unsigned k = 0; k < registers->count; k++)
        v[k] = ptxi_build_use(b, &registers->elements[k], PTXI_RC_32);
    i = ptxi_build_op(b, op, PTXI_NONE, mem->base, PTXI_NONE, PTXI_NONE);
    i->imm = imm;
    i->flags |= PTXI_IF_TOGETHER;
    ptxi_build_accesses(i, mem, 16, PTXI_SHARED_MATRIX);
    for (unsigned k = 0; k < registers->count; k++)
        ptxi_build_read(i, fields[k], v[k]);
}

void ptxi_lower_matrix(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *registers = ptxi_build_operand(b, "r");
    uint16_t op = ptxi_isa_op(inst->match);
    struct ptxi_mem mem;
    int32_t imm = flags_of(inst->match, registers);

    if (!ptxi_build_address(b, ptxi_build_operand(b, "p")->address, ptxi_build_space(inst->match), &mem))
        return;
    if (mem.base == PTXI_NONE || (mem.space != PTXI_SPACE_SHARED && mem.space != PTXI_SPACE_GENERIC)) {
        ptxi_build_unsupported(b, "state space");
        return;
    }
    keep_offset_small(b, &mem);
    imm |= (int32_t)((uint32_t)mem.offset << PTXI_MATRIX_OFFSET) | (mem.space == PTXI_SPACE_GENERIC ? PTXI_MATRIX_GENERIC : 0);
    if (op == PTXI_OP_ldmatrix)
        load_registers(b, op, &mem, imm, registers);
    else
        store_registers(b, op, &mem, imm, registers);
}
