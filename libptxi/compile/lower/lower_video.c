/* Video instructions: imm holds everything about a form except its operation. */
#include "compile/lower/lower_state.h"
#include "isa/video.h"

static bool is_signed(const struct ptxi_match *m, enum ptxi_slot_name slot)
{
    return ptxi_isa_slot_word(m, slot) == PTXI_T_s32;
}

/* Types, second operation, comparison, scaling. */
static int32_t qualifier_bits(const struct ptxi_match *m)
{
    static const struct {
        uint16_t word;
        int32_t bits;
    } words[] = {
        { PTXI_Q_add, PTXI_VIDEO_ADD },     { PTXI_Q_min, PTXI_VIDEO_MIN },
        { PTXI_Q_max, PTXI_VIDEO_MAX },     { PTXI_Q_eq, PTXI_VIDEO_EQUAL },
        { PTXI_Q_ne, PTXI_VIDEO_LESS | PTXI_VIDEO_GREATER },
        { PTXI_Q_lt, PTXI_VIDEO_LESS },     { PTXI_Q_le, PTXI_VIDEO_LESS | PTXI_VIDEO_EQUAL },
        { PTXI_Q_gt, PTXI_VIDEO_GREATER },  { PTXI_Q_ge, PTXI_VIDEO_GREATER | PTXI_VIDEO_EQUAL },
        { PTXI_Q_shr7, PTXI_VIDEO_SHR7 },   { PTXI_Q_shr15, PTXI_VIDEO_SHR15 },
        { PTXI_Q_po, PTXI_VIDEO_PLUS_ONE },
    };
    bool has_d = ptxi_isa_slot_word(m, PTXI_SLOT_D) != PTXI_NO_WORD;
    int32_t imm = 0;

    if (is_signed(m, PTXI_SLOT_A))
        imm |= PTXI_VIDEO_SIGNED_A;
    if (is_signed(m, PTXI_SLOT_B))
        imm |= PTXI_VIDEO_SIGNED_B;
    if (is_signed(m, has_d ? PTXI_SLOT_D : PTXI_SLOT_A))
        imm |= PTXI_VIDEO_SIGNED_D;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (ptxi_isa_has_word(m, words[i].word))
            imm |= words[i].bits;
    return imm;
}

/* The part of a register that a selector names. */
static int32_t selected_part(const struct ptxi_operand *o)
{
    if (!o->selector)
        return PTXI_PART_WORD;
    return (PTXI_SELECTOR_HALVES(o->selector) ? PTXI_PART_H0 : PTXI_PART_B0) + PTXI_SELECTOR_DIGIT(o->selector, 0);
}

/* The elements of a destination, as a mask: all, or those that its selector names. */
static int32_t element_mask(const struct ptxi_operand *o, unsigned n)
{
    int32_t mask = o->selector ? 0 : (1 << n) - 1;

    for (unsigned i = 0; o->selector && i < PTXI_SELECTOR_COUNT(o->selector); i++)
        mask |= 1 << PTXI_SELECTOR_DIGIT(o->selector, i);
    return mask;
}

/* The elements of b:a that a selector names, in one register. */
static uint32_t permute(struct ptxi_lower *l, const struct ptxi_operand *o, unsigned n, uint32_t from_a,
                        uint32_t from_b)
{
    uint32_t bytes = 0, d, selector;

    for (unsigned i = 0; i < n; i++) {
        uint32_t digit = PTXI_SELECTOR_DIGIT(o->selector, i);

        bytes |= n == 4 ? digit << 4 * i : (2 * digit | (2 * digit + 1) << 4) << 8 * i;
    }
    d = ptxi_lower_temp(l, PTXI_RC_32);
    selector = ptxi_lower_const(l, PTXI_RC_32, bytes);
    ptxi_lower_pure_op(l, PTXI_OP_prmt_b32, d, from_a, from_b, selector);
    return d;
}

void ptxi_lower_rule_video(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *d = &inst->operands[0], *x = &inst->operands[1], *y = &inst->operands[2];
    const struct ptxi_operand *c = ptxi_lower_operand(l, PTXI_OPERAND_c);
    uint32_t a = ptxi_lower_use(l, x, PTXI_RC_32), b = ptxi_lower_use(l, y, PTXI_RC_32), pa = a, pb = b, vc;
    unsigned n = inst->match->row->specs[0].selector;
    int32_t imm = qualifier_bits(inst->match);
    struct ptxi_ir_inst *i;

    if (n > 1) {
        imm |= element_mask(d, n) << PTXI_VIDEO_ELEMENTS;
        if (x->selector)
            pa = permute(l, x, n, a, b);
        if (y->selector)
            pb = permute(l, y, n, a, b);
    } else {
        imm |= selected_part(x) << PTXI_VIDEO_PART_A | selected_part(y) << PTXI_VIDEO_PART_B;
        imm |= selected_part(d) << PTXI_VIDEO_PART_D;
        imm |= x->negated != y->negated ? PTXI_VIDEO_MINUS_PRODUCT : 0;
        imm |= c && c->negated ? PTXI_VIDEO_MINUS_C : 0;
    }
    vc = c ? ptxi_lower_use(l, c, PTXI_RC_32) : ptxi_lower_const(l, PTXI_RC_32, 0);
    i = ptxi_lower_pure_op(l, ptxi_isa_op(inst->match), ptxi_lower_def(l, d, PTXI_RC_32), pa, pb, vc);
    i->imm = imm;
    i->mods = inst->match->mods;
}
