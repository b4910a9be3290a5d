/* tcgen05: tensor memory, and what goes there and comes from there. */
#include "compile/lower/lower.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { MMA_HEAD = offsetof(struct ptxi_tmem_mma, slots) / sizeof(uint16_t), MOVE_HEAD = offsetof(struct ptxi_tmem_move, slots) / sizeof(uint16_t), MOST_REGISTERS = 128 + 1 };

/* A 32-bit address of tensor memory. */
static uint32_t tensor_address(struct ptxi_build *b, const char *name)
{
    return ptxi_build_whole_address(b, name, PTXI_SPACE_SHARED);
}

static int32_t copy_of(const struct ptxi_match *m)
{
    static const uint16_t words[] = { [PTXI_TMEM_128X256B] = PTXI_Q_128x256b, [PTXI_TMEM_4X256B] = PTXI_Q_4x256b, [PTXI_TMEM_128X128B] = PTXI_Q_128x128b,
                                      [PTXI_TMEM_64X128B_02_13] = PTXI_Q_warpx2__02_13, [PTXI_TMEM_64X128B_01_23] = PTXI_Q_warpx2__01_23,
                                      [PTXI_TMEM_32X128B] = PTXI_Q_32x128b };
    int32_t imm = 0;

    while (imm < (int32_t)(sizeof words / sizeof *words) - 1 && !ptxi_build_has(m, words[imm]))
        imm++;
    return imm | (ptxi_build_has(m, PTXI_Q_b6x16_p32) ? 6 : ptxi_build_has(m, PTXI_Q_b4x16_p64) ? 4 : 0) << PTXI_TMEM_COPY_PACKED;
}

/* As bytecode.h has it. */
void ptxi_lower_tcgen05(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    static const struct {
        const char *name;
        enum ptxi_class class;
    } seconds[] = { { "columns", PTXI_RC_32 }, { "cta_mask", PTXI_RC_16 }, { "s_desc", PTXI_RC_64 } };
    const struct ptxi_match *m = inst->match;
    const struct ptxi_operand *taddr = ptxi_build_operand(b, "taddr");
    uint32_t a = PTXI_NONE, second = PTXI_NONE;
    struct ptxi_ir_inst *i;

    if (taddr)
        a = taddr->form == PTXI_OPD_ADDRESS ? tensor_address(b, "taddr") : ptxi_build_use(b, taddr, PTXI_RC_32);
    else if (ptxi_build_operand(b, "dst"))
        a = ptxi_build_generic_address(b, "dst", ptxi_build_space(m));
    else if (ptxi_build_operand(b, "mbar"))
        a = ptxi_build_generic_address(b, "mbar", ptxi_build_space(m));
    for (unsigned k = 0; k < sizeof seconds / sizeof *seconds; k++)
        if (ptxi_build_operand(b, seconds[k].name))
            second = ptxi_build_use(b, ptxi_build_operand(b, seconds[k].name), seconds[k].class);
    i = ptxi_build_op(b, ptxi_isa_op(m), PTXI_NONE, a, second, PTXI_NONE);
    i->mods = (uint16_t)((ptxi_build_has(m, PTXI_Q_cta_group__2) ? PTXI_TCGEN05_PAIR : 0) |
                         (ptxi_build_has(m, PTXI_Q_multicast__cluster) ? PTXI_TCGEN05_MULTICAST : 0));
    if (ptxi_isa_op(m) == PTXI_OP_tcgen05_cp)
        i->imm = copy_of(m);
    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS;
}

static uint16_t shape_of(const struct ptxi_match *m)
{
    static const uint16_t words[] = { [PTXI_TMEM_32X32B] = PTXI_Q_32x32b, [PTXI_TMEM_16X64B] = PTXI_Q_16x64b, [PTXI_TMEM_16X128B] = PTXI_Q_16x128b,
                                      [PTXI_TMEM_16X256B] = PTXI_Q_16x256b, [PTXI_TMEM_16X32BX2] = PTXI_Q_16x32bx2 };
    uint16_t shape = 0;

    while (shape < sizeof words / sizeof *words - 1 && !ptxi_build_has(m, words[shape]))
        shape++;
    return shape;
}

static uint16_t reduction_of(const struct ptxi_build *b, const struct ptxi_match *m)
{
    if (!ptxi_build_operand(b, "red"))
        return 0;
    return (uint16_t)(PTXI_TMEM_REDUCE | (ptxi_build_has(m, PTXI_Q_max) ? PTXI_TMEM_MAX : 0) | (ptxi_build_has(m, PTXI_T_f32) ? PTXI_TMEM_F32 : 0) |
                      (ptxi_build_has(m, PTXI_T_s32) ? PTXI_TMEM_SIGNED : 0) | (ptxi_build_has(m, PTXI_Q_abs) ? PTXI_TMEM_ABS : 0) |
                      (ptxi_build_has(m, PTXI_Q_NaN) ? PTXI_TMEM_NAN : 0));
}

/* tcgen05.ld, tcgen05.st: all registers in one list. */
void ptxi_lower_tcgen05_move(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_match *m = inst->match;
    const struct ptxi_operand *split = ptxi_build_operand(b, "split");
    bool loads = ptxi_isa_op(m) == PTXI_OP_tcgen05_ld;
    struct ptxi_tmem_move head = { .shape = shape_of(m), .reduce = reduction_of(b, m) };
    uint32_t v[MOST_REGISTERS], address = tensor_address(b, "taddr"), count;

    if (address == PTXI_NONE)
        return;
    head.packed = ptxi_build_has(m, PTXI_Q_pack__16b) || ptxi_build_has(m, PTXI_Q_unpack__16b);
    if (split) {
        head.split[0] = (uint16_t)split->imm;
        head.split[1] = (uint16_t)(split->imm >> 16);
    }
    count = ptxi_build_registers(b, "r", loads, v);
    head.count = (uint16_t)count;
    if (head.reduce)
        count += ptxi_build_registers(b, "red", true, v + count);
    ptxi_build_list(b, &(struct ptxi_list_op){ ptxi_isa_op(m), .a = address, .b = PTXI_NONE, .head = &head, .head_count = MOVE_HEAD, .v = v,
                                               .writes = loads ? count : 0, .count = count })
        ->flags |= PTXI_IF_EARLY;
    if (loads)
        ptxi_build_registers_end(b, "r", v);
    if (head.reduce)
        ptxi_build_registers_end(b, "red", v + head.count);
}

/* --- products --- */

static uint16_t kind_of(const struct ptxi_match *m)
{
    static const struct {
        uint16_t word, kind;
    } kinds[] = { { PTXI_Q_kind__tf32, PTXI_TMEM_TF32 },         { PTXI_Q_kind__f8f6f4, PTXI_TMEM_F8F6F4 }, { PTXI_Q_kind__i8, PTXI_TMEM_I8 },
                  { PTXI_Q_kind__mxf8f6f4, PTXI_TMEM_MXF8F6F4 }, { PTXI_Q_kind__mxf4, PTXI_TMEM_MXF4 },     { PTXI_Q_kind__mxf4nvf4, PTXI_TMEM_MXF4 } };

    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (ptxi_build_has(m, kinds[k].word))
            return kinds[k].kind;
    return PTXI_TMEM_F16;
}

static uint16_t scales_of(const struct ptxi_match *m)
{
    if (!ptxi_build_has(m, PTXI_Q_block_scale))
        return 0;
    if (ptxi_build_has(m, PTXI_Q_kind__mxf8f6f4))
        return 1;
    return ptxi_build_has(m, PTXI_Q_scale_vec__4X) || ptxi_build_has(m, PTXI_Q_block16) ? 4 : 2;
}

/* The value of an operand that may be missing. */
static uint32_t value(struct ptxi_build *b, const char *name, enum ptxi_class class)
{
    const struct ptxi_operand *o = ptxi_build_operand(b, name);

    return o ? ptxi_build_use(b, o, class) : PTXI_NONE;
}

void ptxi_lower_tcgen05_mma(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_match *m = inst->match;
    const struct ptxi_operand *scale_d = ptxi_build_operand(b, "scale_d");
    struct ptxi_tmem_mma head = { .kind = kind_of(m), .sm = (uint16_t)b->options->sm, .scales = scales_of(m) };
    uint16_t mods = 0;
    uint32_t v[PTXI_TMEM_MMA_DISABLED + 8];

    head.pair = ptxi_build_has(m, PTXI_Q_cta_group__2);
    head.ws = ptxi_build_has(m, PTXI_Q_ws);
    head.sparse = ptxi_build_operand(b, "sp_meta") != NULL;
    head.a_in_tmem = ptxi_build_operand(b, "a") != NULL;
    head.shifted = ptxi_build_has(m, PTXI_Q_ashift);
    head.scale_d = scale_d ? (uint16_t)scale_d->imm : 0;
    v[PTXI_TMEM_MMA_D] = tensor_address(b, "d");
    v[PTXI_TMEM_MMA_A] = head.a_in_tmem ? tensor_address(b, "a") : value(b, "a_desc", PTXI_RC_64);
    v[PTXI_TMEM_MMA_B] = value(b, "b_desc", PTXI_RC_64);
    v[PTXI_TMEM_MMA_IDESC] = value(b, "idesc", PTXI_RC_32);
    v[PTXI_TMEM_MMA_META] = head.sparse ? tensor_address(b, "sp_meta") : PTXI_NONE;
    v[PTXI_TMEM_MMA_SCALE_A] = head.scales ? tensor_address(b, "scale_a") : PTXI_NONE;
    v[PTXI_TMEM_MMA_SCALE_B] = head.scales ? tensor_address(b, "scale_b") : PTXI_NONE;
    v[PTXI_TMEM_MMA_ENABLE_D] = ptxi_build_use_pred(b, ptxi_build_operand(b, "enable_d"), &mods);
    v[PTXI_TMEM_MMA_ZERO_MASK] = value(b, "zero_mask", PTXI_RC_64);
    head.disabled = (uint16_t)ptxi_build_registers(b, "disabled", false, v + PTXI_TMEM_MMA_DISABLED);
    ptxi_build_list(b, &(struct ptxi_list_op){ ptxi_isa_op(m), mods, .a = PTXI_NONE, .b = PTXI_NONE, .head = &head, .head_count = MMA_HEAD, .v = v,
                                               .writes = 0, .count = PTXI_TMEM_MMA_DISABLED + head.disabled });
}
