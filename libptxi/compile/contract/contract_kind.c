/* Contraction: what an instruction is to it, a product, a sum, or an operation that ends with a product. The rules are in contract.c. */
#include "compile/contract/contract.h"

/* With a suffix for .sat of the sum. */
const struct ptxi_fusable ptxi_fusables[] = {
#define FUSED(type, x, class, sign, packed) FUSED_NEG(type, x, type, class, sign, packed)
#define FUSED_NEG(type, x, same, class, sign, packed)                                                                             \
    { PTXI_OP_mul_##type, PTXI_OP_add_##type##x, PTXI_OP_sub_##type##x, PTXI_OP_fma_##type##x, PTXI_OP_neg_##type, PTXI_OP_neg_##same, \
      class, sign, packed },
#define FUSED_NO_NEG(type, class, sign, packed)                                                                                   \
    { PTXI_OP_mul_##type, PTXI_OP_add_##type, PTXI_OP_sub_##type, PTXI_OP_fma_##type, PTXI_OP_NONE, PTXI_OP_NONE, class, sign, packed },
    FUSED(f32, , PTXI_RC_32, 0x80000000, false)
    FUSED(f32, _x, PTXI_RC_32, 0x80000000, false)
    FUSED_NEG(f32_ftz, , f32, PTXI_RC_32, 0x80000000, false)
    FUSED_NEG(f32_ftz, _x, f32, PTXI_RC_32, 0x80000000, false)
    FUSED_NO_NEG(f32x2, PTXI_RC_64, 0x8000000080000000, false)
    FUSED_NO_NEG(f32x2_ftz, PTXI_RC_64, 0x8000000080000000, false)
    FUSED(f64, , PTXI_RC_64, 0x8000000000000000, false)
    FUSED(f16, , PTXI_RC_16, 0x8000, false)
    FUSED(bf16, , PTXI_RC_16, 0x8000, false)
    FUSED(f16x2, , PTXI_RC_32, 0x80008000, true)
    FUSED_NO_NEG(bf16x2, PTXI_RC_32, 0x80008000, true)
#undef FUSED
#undef FUSED_NEG
#undef FUSED_NO_NEG
};
_Static_assert(sizeof ptxi_fusables / sizeof *ptxi_fusables == PTXI_FUSABLES, "as contract.h says");

/* Operations that end with a product: of the numerator and the reciprocal of the denominator, both scaled. */
static const struct quotient {
    uint16_t op, mul, scale; /* 0: not scaled */
    bool of_one;             /* rcp: the numerator is 1 */
} quotients[] = {
    { PTXI_OP_div_approx_f32, PTXI_OP_mul_f32, PTXI_OP_scale_div_approx_f32, false },
    { PTXI_OP_div_approx_f32_ftz, PTXI_OP_mul_f32_ftz, 0, false },
    { PTXI_OP_div_full_f32, PTXI_OP_mul_f32, PTXI_OP_scale_rcp_f32, false },
    { PTXI_OP_div_full_f32_ftz, PTXI_OP_mul_f32_ftz, PTXI_OP_scale_div_full_f32_ftz, false },
    { PTXI_OP_rcp_approx_f32, PTXI_OP_mul_f32, PTXI_OP_scale_rcp_f32, true },
};

static const struct quotient *quotient_of(const struct ptxi_ir_inst *i)
{
    for (unsigned k = 0; k < sizeof quotients / sizeof *quotients; k++)
        if (quotients[k].op == i->op)
            return &quotients[k];
    return NULL;
}

static const struct ptxi_fusable *type_of_mul(uint16_t mul)
{
    const struct ptxi_fusable *t = ptxi_fusables;

    while (t->mul != mul)
        t++;
    return t;
}

static enum ptxi_contract_kind look_up(const struct ptxi_ir_inst *i, const struct ptxi_fusable **type)
{
    const struct quotient *q = quotient_of(i);

    *type = ptxi_fusables;
    if (i->flags & PTXI_IF_DEAD || (!q && !(i->flags & PTXI_IF_FUSABLE)))
        return PTXI_IS_OTHER;
    if (q) {
        *type = type_of_mul(q->mul);
        return PTXI_IS_MUL;
    }
    for (const struct ptxi_fusable *t = ptxi_fusables; t < ptxi_fusables + PTXI_FUSABLES; t++) {
        *type = t;
        if (i->op == t->mul)
            return i->mods & PTXI_MOD_SAT ? PTXI_IS_OTHER : PTXI_IS_MUL;
        if (i->op == t->add)
            return PTXI_IS_ADD;
        if (i->op == t->sub)
            return PTXI_IS_SUB;
    }
    return PTXI_IS_OTHER;
}

enum ptxi_contract_kind ptxi_contract_kind(const struct ptxi_ir_inst *i)
{
    const struct ptxi_fusable *type;

    return look_up(i, &type);
}

const struct ptxi_fusable *ptxi_contract_type(const struct ptxi_ir_inst *i)
{
    const struct ptxi_fusable *type;

    return look_up(i, &type) == PTXI_IS_OTHER ? ptxi_fusables : type;
}

bool ptxi_contract_is_neg(const struct ptxi_ir_inst *i)
{
    for (const struct ptxi_fusable *t = ptxi_fusables; t < ptxi_fusables + PTXI_FUSABLES; t++)
        if (i->op == t->neg)
            return true;
    return false;
}

bool ptxi_contract_is_quotient(const struct ptxi_ir_inst *i)
{
    return quotient_of(i) != NULL;
}

void ptxi_contract_expand(struct ptxi_contract *c, uint32_t n)
{
    const struct quotient *q = quotient_of(&c->ir->insts[n]);
    uint32_t a = c->ir->insts[n].v[PTXI_F_A], b = c->ir->insts[n].v[PTXI_F_B], scale, r;
    struct ptxi_ir_inst *i;

    if (!q)
        return;
    if (q->of_one)
        b = a;
    if (q->scale) {
        scale = ptxi_contract_make(c, n, q->scale, PTXI_RC_32, b, PTXI_NONE);
        a = q->of_one ? scale : ptxi_contract_make(c, n, q->mul, PTXI_RC_32, a, scale);
        b = ptxi_contract_make(c, n, q->mul, PTXI_RC_32, b, scale);
    }
    r = ptxi_contract_make(c, n, PTXI_OP_rcp_approx_f32_ftz, PTXI_RC_32, b, PTXI_NONE);
    i = &c->ir->insts[n];
    i->op = q->mul;
    i->v[PTXI_F_A] = a;
    i->v[PTXI_F_B] = r;
    i->reads = 1u << PTXI_F_A | 1u << PTXI_F_B;
    i->flags |= PTXI_IF_FUSABLE;
}
