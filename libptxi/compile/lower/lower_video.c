/* Video instructions: everything about a form but its operation goes into imm. */
#include "compile/lower/lower.h"
#include "isa/video.h"

static bool is_signed(const struct ptxi_match *m, const char *slot)
{
    return ptxi_isa_slot(m, slot) == PTXI_T_s32;
}

/* Types, second operation, comparison, scaling. */
static int32_t qualifiers(const struct ptxi_match *m)
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
    bool d = ptxi_isa_slot(m, "D") == PTXI_NO_WORD ? is_signed(m, "A") : is_signed(m, "D");
    int32_t imm = (is_signed(m, "A") ? PTXI_VIDEO_SIGNED_A : 0) | (is_signed(m, "B") ? PTXI_VIDEO_SIGNED_B : 0) | (d ? PTXI_VIDEO_SIGNED_D : 0);

    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (ptxi_build_has(m, words[i].word))
            imm |= words[i].bits;
    return imm;
}

static int32_t part(const struct ptxi_operand *o)
{
    if (!o->selector)
        return PTXI_PART_WORD;
    return (PTXI_SELECTOR_HALVES(o->selector) ? PTXI_PART_H0 : PTXI_PART_B0) + PTXI_SELECTOR_DIGIT(o->selector, 0);
}

/* The elements of a destination: all, or those of its mask. */
static int32_t elements(const struct ptxi_operand *o, unsigned n)
{
    int32_t mask = o->selector ? 0 : (1 << n) - 1;

    for (unsigned i = 0; o->selector && i < PTXI_SELECTOR_COUNT(o->selector); i++)
        mask |= 1 << PTXI_SELECTOR_DIGIT(o->selector, i);
    return mask;
}

/* The elements of b:a that a selector names, as one register. */
static uint32_t permuted(struct ptxi_build *b, const struct ptxi_operand *o, unsigned n, uint32_t from_a, uint32_t from_b)
{
    uint32_t bytes = 0, d, selector;

    for (unsigned i = 0; i < n; i++) {
        uint32_t digit = PTXI_SELECTOR_DIGIT(o->selector, i);

        bytes |= n == 4 ? digit << 4 * i : (2 * digit | (2 * digit + 1) << 4) << 8 * i;
    }
    d = ptxi_build_temp(b, PTXI_RC_32);
    selector = ptxi_build_const(b, PTXI_RC_32, bytes);
    ptxi_build_pure(b, PTXI_OP_prmt_b32, d, from_a, from_b, selector);
    return d;
}

void ptxi_lower_video(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_operand *d = &inst->operands[0], *x = &inst->operands[1], *y = &inst->operands[2], *c = ptxi_build_operand(b, "c");
    uint32_t a = ptxi_build_use(b, x, PTXI_RC_32), b2 = ptxi_build_use(b, y, PTXI_RC_32), pa = a, pb = b2, vc;
    unsigned n = inst->match->row->specs[0].selector;
    int32_t imm = qualifiers(inst->match);
    struct ptxi_ir_inst *i;

    if (n > 1) {
        imm |= elements(d, n) << PTXI_VIDEO_ELEMENTS;
        if (x->selector)
            pa = permuted(b, x, n, a, b2);
        if (y->selector)
            pb = permuted(b, y, n, a, b2);
    } else {
        imm |= part(x) << PTXI_VIDEO_PART_A | part(y) << PTXI_VIDEO_PART_B | part(d) << PTXI_VIDEO_PART_D;
        imm |= x->negated != y->negated ? PTXI_VIDEO_MINUS_PRODUCT : 0;
        imm |= c && c->negated ? PTXI_VIDEO_MINUS_C : 0;
    }
    vc = c ? ptxi_build_use(b, c, PTXI_RC_32) : ptxi_build_const(b, PTXI_RC_32, 0);
    i = ptxi_build_pure(b, ptxi_isa_op(inst->match), ptxi_build_def(b, d, PTXI_RC_32), pa, pb, vc);
    i->imm = imm;
    i->mods = inst->match->mods;
}
