/* tcgen05: tensor memory, moves to and from it, and products in it. */
#include "compile/lower/lower_state.h"

#include <assert.h>
#include <stddef.h>

enum {
    MMA_HEAD = offsetof(struct ptxi_tmem_mma, slots) / sizeof(uint16_t),
    MOVE_HEAD = offsetof(struct ptxi_tmem_move, slots) / sizeof(uint16_t),
    MAX_REGISTERS = 128 + 1 /* of ld and st, with that of a reduction */
};

/* A 32-bit address of tensor memory. */
static uint32_t tensor_address(struct ptxi_lower *l, enum ptxi_operand_resolve_name name)
{
    return ptxi_lower_address_in_space(l, name, PTXI_SPACE_SHARED);
}

/* imm of tcgen05.cp: the shape, and the bits of packed elements. */
static int32_t copy_imm(const struct ptxi_match *m)
{
    static const uint16_t words[] = {
        [PTXI_TMEM_128X256B] = PTXI_Q_128x256b,           [PTXI_TMEM_4X256B] = PTXI_Q_4x256b,
        [PTXI_TMEM_128X128B] = PTXI_Q_128x128b,           [PTXI_TMEM_64X128B_02_13] = PTXI_Q_warpx2__02_13,
        [PTXI_TMEM_64X128B_01_23] = PTXI_Q_warpx2__01_23, [PTXI_TMEM_32X128B] = PTXI_Q_32x128b,
    };
    int32_t shape = 0, bits = 0;

    while (shape < (int32_t)(sizeof words / sizeof *words) - 1 && !ptxi_isa_has_word(m, words[shape]))
        shape++;
    if (ptxi_isa_has_word(m, PTXI_Q_b6x16_p32))
        bits = 6;
    else if (ptxi_isa_has_word(m, PTXI_Q_b4x16_p64))
        bits = 4;
    return shape | bits << PTXI_TMEM_COPY_PACKED;
}

/* The first operand: an address of tensor memory, or a generic address of shared memory. */
static uint32_t first_operand(struct ptxi_lower *l, const struct ptxi_match *m)
{
    const struct ptxi_operand *taddr = ptxi_lower_operand(l, PTXI_OPERAND_taddr);

    if (taddr && taddr->form == PTXI_OPD_ADDRESS)
        return tensor_address(l, PTXI_OPERAND_taddr);
    if (taddr)
        return ptxi_lower_use(l, taddr, PTXI_RC_32);
    if (ptxi_lower_operand(l, PTXI_OPERAND_dst))
        return ptxi_lower_generic_address(l, PTXI_OPERAND_dst, ptxi_lower_space(m));
    if (ptxi_lower_operand(l, PTXI_OPERAND_mbar))
        return ptxi_lower_generic_address(l, PTXI_OPERAND_mbar, ptxi_lower_space(m));
    return PTXI_NONE;
}

/* Fields as in bytecode.h. */
void ptxi_lower_rule_tcgen05(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    static const struct {
        enum ptxi_operand_resolve_name name;
        enum ptxi_class class;
    } seconds[] = { { PTXI_OPERAND_columns, PTXI_RC_32 }, { PTXI_OPERAND_s_desc, PTXI_RC_64 } };
    const struct ptxi_match *m = inst->match;
    uint32_t a = first_operand(l, m), second = ptxi_lower_cta_mask(l);
    bool multicast = second != PTXI_NONE;
    struct ptxi_ir_inst *i;

    for (unsigned k = 0; k < sizeof seconds / sizeof *seconds; k++)
        if (ptxi_lower_operand(l, seconds[k].name))
            second = ptxi_lower_use(l, ptxi_lower_operand(l, seconds[k].name), seconds[k].class);
    i = ptxi_lower_op(l, ptxi_isa_op(m), PTXI_NONE, a, second, PTXI_NONE);
    i->mods = (uint16_t)((ptxi_isa_has_word(m, PTXI_Q_cta_group__2) ? PTXI_TCGEN05_PAIR : 0) |
                         (multicast ? PTXI_TCGEN05_MULTICAST : 0) |
                         (ptxi_isa_has_word(m, PTXI_Q_exclusive) ? PTXI_TCGEN05_EXCLUSIVE : 0) |
                         (l->options->sm == 107 ? PTXI_TCGEN05_SM_107 : 0));
    if (ptxi_isa_op(m) == PTXI_OP_tcgen05_cp)
        i->imm = copy_imm(m);
    i->flags |= PTXI_IF_TOGETHER | PTXI_IF_READS;
}

static uint16_t shape_of(const struct ptxi_match *m)
{
    static const uint16_t words[] = {
        [PTXI_TMEM_32X32B] = PTXI_Q_32x32b,     [PTXI_TMEM_16X64B] = PTXI_Q_16x64b,
            [PTXI_TMEM_16X128B] = PTXI_Q_16x128b,
        [PTXI_TMEM_16X256B] = PTXI_Q_16x256b,   [PTXI_TMEM_16X32BX2] = PTXI_Q_16x32bx2,
    };
    uint16_t shape = 0;

    while (shape < sizeof words / sizeof *words - 1 && !ptxi_isa_has_word(m, words[shape]))
        shape++;
    return shape;
}

static uint16_t reduction_of(const struct ptxi_lower *l, const struct ptxi_match *m)
{
    static const struct {
        uint16_t word, bit;
    } words[] = { { PTXI_Q_max, PTXI_TMEM_MAX }, { PTXI_T_f32, PTXI_TMEM_F32 }, { PTXI_T_s32, PTXI_TMEM_SIGNED },
                  { PTXI_Q_abs, PTXI_TMEM_ABS }, { PTXI_Q_NaN, PTXI_TMEM_NAN } };
    uint16_t reduction = ptxi_lower_operand(l, PTXI_OPERAND_red) ? PTXI_TMEM_REDUCE : 0;

    if (!reduction && !ptxi_lower_operand(l, PTXI_OPERAND_meta))
        return 0;
    for (unsigned k = 0; k < sizeof words / sizeof *words; k++)
        if (ptxi_isa_has_word(m, words[k].word))
            reduction |= words[k].bit;
    return reduction;
}

/* tcgen05.ld, tcgen05.st: all registers are in one list. */
void ptxi_lower_rule_tcgen05_move(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_match *m = inst->match;
    const struct ptxi_operand *split = ptxi_lower_operand(l, PTXI_OPERAND_split);
    bool loads = ptxi_isa_op(m) == PTXI_OP_tcgen05_ld;
    struct ptxi_tmem_move head = { .shape = shape_of(m), .reduce = reduction_of(l, m) };
    uint32_t v[MAX_REGISTERS], address = tensor_address(l, PTXI_OPERAND_taddr), count;

    if (address == PTXI_NONE)
        return;
    head.packed = ptxi_isa_has_word(m, PTXI_Q_pack__16b) || ptxi_isa_has_word(m, PTXI_Q_unpack__16b);
    if (split) {
        head.split[0] = (uint16_t)split->imm;
        head.split[1] = (uint16_t)(split->imm >> 16);
    }
    count = ptxi_lower_registers(l, PTXI_OPERAND_meta, true, v);
    head.meta = (uint16_t)count;
    count += ptxi_lower_registers(l, PTXI_OPERAND_r, loads, v + count);
    head.count = (uint16_t)count;
    if (head.reduce & PTXI_TMEM_REDUCE)
        count += ptxi_lower_registers(l, PTXI_OPERAND_red, true, v + count);
    assert(count <= MAX_REGISTERS);
    ptxi_lower_list_op(l, &(struct ptxi_lower_list){ ptxi_isa_op(m), .a = address, .b = PTXI_NONE, .head = &head,
                                                     .head_count = MOVE_HEAD, .v = v, .writes = loads ? count : 0,
                                                         .count = count })
        ->flags |= PTXI_IF_EARLY;
    if (head.meta)
        ptxi_lower_end_registers(l, PTXI_OPERAND_meta, v);
    if (loads)
        ptxi_lower_end_registers(l, PTXI_OPERAND_r, v + head.meta);
    if (head.reduce & PTXI_TMEM_REDUCE)
        ptxi_lower_end_registers(l, PTXI_OPERAND_red, v + head.count);
}

/* --- products --- */

static uint16_t kind_of(const struct ptxi_match *m)
{
    static const struct {
        uint16_t word, kind;
    } kinds[] = {
        { PTXI_Q_kind__tf32, PTXI_TMEM_TF32 },         { PTXI_Q_kind__f8f6f4, PTXI_TMEM_F8F6F4 },
        { PTXI_Q_kind__i8, PTXI_TMEM_I8 },             { PTXI_Q_kind__ti16, PTXI_TMEM_TI16 },
        { PTXI_Q_kind__mxf8f6f4, PTXI_TMEM_MXF8F6F4 }, { PTXI_Q_kind__mxf4, PTXI_TMEM_MXF4 },
        { PTXI_Q_kind__mxf4nvf4, PTXI_TMEM_MXF4 },
    };

    for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (ptxi_isa_has_word(m, kinds[k].word))
            return kinds[k].kind;
    return PTXI_TMEM_F16;
}

enum { MAX_DISABLED = 8 }; /* registers of the mask of disabled lanes */

static uint16_t scales_of(const struct ptxi_match *m)
{
    if (!ptxi_isa_has_word(m, PTXI_Q_block_scale))
        return 0;
    if (ptxi_isa_has_word(m, PTXI_Q_kind__mxf8f6f4))
        return 1;
    return ptxi_isa_has_word(m, PTXI_Q_scale_vec__4X) || ptxi_isa_has_word(m, PTXI_Q_block16) ? 4 : 2;
}

/* The value of an operand, or PTXI_NONE if it is not written. */
static uint32_t use_optional(struct ptxi_lower *l, enum ptxi_operand_resolve_name name, enum ptxi_class class)
{
    const struct ptxi_operand *o = ptxi_lower_operand(l, name);

    return o ? ptxi_lower_use(l, o, class) : PTXI_NONE;
}

void ptxi_lower_rule_tcgen05_mma(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_match *m = inst->match;
    const struct ptxi_operand *scale_d = ptxi_lower_operand(l, PTXI_OPERAND_scale_d);
    struct ptxi_tmem_mma head = { .kind = kind_of(m), .sm = (uint16_t)l->options->sm, .scales = scales_of(m) };
    uint16_t mods = 0;
    uint32_t v[PTXI_TMEM_MMA_DISABLED + MAX_DISABLED];

    head.pair = ptxi_isa_has_word(m, PTXI_Q_cta_group__2);
    head.ws = ptxi_isa_has_word(m, PTXI_Q_ws);
    head.sparse = ptxi_lower_operand(l, PTXI_OPERAND_sp_meta) != NULL;
    head.a_in_tmem = ptxi_lower_operand(l, PTXI_OPERAND_a) != NULL;
    head.shifted = ptxi_isa_has_word(m, PTXI_Q_ashift);
    head.scale_d = scale_d ? (uint16_t)scale_d->imm : 0;
    v[PTXI_TMEM_MMA_D] = tensor_address(l, PTXI_OPERAND_d);
    if (head.a_in_tmem)
        v[PTXI_TMEM_MMA_A] = tensor_address(l, PTXI_OPERAND_a);
    else
        v[PTXI_TMEM_MMA_A] = use_optional(l, PTXI_OPERAND_a_desc, PTXI_RC_64);
    v[PTXI_TMEM_MMA_B] = use_optional(l, PTXI_OPERAND_b_desc, PTXI_RC_64);
    v[PTXI_TMEM_MMA_IDESC] = use_optional(l, PTXI_OPERAND_idesc, PTXI_RC_32);
    v[PTXI_TMEM_MMA_META] = head.sparse ? tensor_address(l, PTXI_OPERAND_sp_meta) : PTXI_NONE;
    v[PTXI_TMEM_MMA_SCALE_A] = head.scales ? tensor_address(l, PTXI_OPERAND_scale_a) : PTXI_NONE;
    v[PTXI_TMEM_MMA_SCALE_B] = head.scales ? tensor_address(l, PTXI_OPERAND_scale_b) : PTXI_NONE;
    v[PTXI_TMEM_MMA_ENABLE_D] = ptxi_lower_use_predicate(l, ptxi_lower_operand(l, PTXI_OPERAND_enable_d), &mods);
    v[PTXI_TMEM_MMA_ZERO_MASK] = use_optional(l, PTXI_OPERAND_zero_mask, PTXI_RC_64);
    head.disabled = (uint16_t)ptxi_lower_registers(l, PTXI_OPERAND_disabled, false, v + PTXI_TMEM_MMA_DISABLED);
    assert(head.disabled <= MAX_DISABLED);
    ptxi_lower_list_op(l, &(struct ptxi_lower_list){ ptxi_isa_op(m), mods, .a = PTXI_NONE, .b = PTXI_NONE,
                                                     .head = &head, .head_count = MMA_HEAD, .v = v, .writes = 0,
                                                     .count = PTXI_TMEM_MMA_DISABLED + head.disabled });
}
