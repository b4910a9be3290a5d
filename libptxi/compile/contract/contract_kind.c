/* Contraction: whether an instruction is a product, a sum, or an operation that ends with a product. The rules are in
 * contract.c. */
#include "compile/contract/contract_state.h"

#include <assert.h>

/* x: the suffix of the sum's operation, "_x" for .sat. */
const struct ptxi_fusable ptxi_fusables[] = {
#define FUSED(type, x, class, sign, packed) FUSED_NEG(type, x, type, class, sign, packed)
#define FUSED_NEG(type, x, same, class, sign, packed)                                             \
    { PTXI_OP_mul_##type, PTXI_OP_add_##type##x, PTXI_OP_sub_##type##x, PTXI_OP_fma_##type##x,    \
      PTXI_OP_neg_##type, PTXI_OP_neg_##same, class, sign, packed },
#define FUSED_NO_NEG(type, class, sign, packed)                                                   \
    { PTXI_OP_mul_##type, PTXI_OP_add_##type, PTXI_OP_sub_##type, PTXI_OP_fma_##type,             \
      PTXI_OP_NONE, PTXI_OP_NONE, class, sign, packed },
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
_Static_assert(sizeof ptxi_fusables / sizeof *ptxi_fusables == PTXI_FUSABLES, "PTXI_FUSABLES is the number of types");

static const struct ptxi_quotient quotients[] = {
    { PTXI_OP_div_approx_f32, PTXI_OP_mul_f32, PTXI_OP_scale_div_approx_f32, false },
    { PTXI_OP_div_approx_f32_ftz, PTXI_OP_mul_f32_ftz, 0, false },
    { PTXI_OP_div_full_f32, PTXI_OP_mul_f32, PTXI_OP_scale_rcp_f32, false },
    { PTXI_OP_div_full_f32_ftz, PTXI_OP_mul_f32_ftz, PTXI_OP_scale_div_full_f32_ftz, false },
    { PTXI_OP_rcp_approx_f32, PTXI_OP_mul_f32, PTXI_OP_scale_rcp_f32, true },
};

const struct ptxi_quotient *ptxi_contract_quotient(const struct ptxi_ir_inst *i)
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
    assert(t < ptxi_fusables + PTXI_FUSABLES);
    return t;
}

/* *type: the type of a product or sum. */
static enum ptxi_contract_kind classify(const struct ptxi_ir_inst *i, const struct ptxi_fusable **type)
{
    const struct ptxi_quotient *q = ptxi_contract_quotient(i);

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

    return classify(i, &type);
}

const struct ptxi_fusable *ptxi_contract_type(const struct ptxi_ir_inst *i)
{
    const struct ptxi_fusable *type;

    return classify(i, &type) == PTXI_IS_OTHER ? ptxi_fusables : type;
}

bool ptxi_contract_is_neg(const struct ptxi_ir_inst *i)
{
    for (const struct ptxi_fusable *t = ptxi_fusables; t < ptxi_fusables + PTXI_FUSABLES; t++)
        if (i->op == t->neg)
            return true;
    return false;
}

