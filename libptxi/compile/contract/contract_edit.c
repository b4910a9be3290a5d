/* Contraction: how instructions are changed. The rules are in contract.c. */
#include "compile/contract/contract_state.h"

#include <assert.h>

static uint32_t sign_constant(struct ptxi_contract *c, const struct ptxi_fusable *type)
{
    uint32_t *sign = &c->sign[type - ptxi_fusables];

    assert(type >= ptxi_fusables && type < ptxi_fusables + PTXI_FUSABLES);
    if (*sign == PTXI_NONE)
        *sign = ptxi_ir_const(c->ir, type->class, type->sign);
    return *sign;
}

uint32_t ptxi_contract_make(struct ptxi_contract *c, uint32_t at, uint16_t op, enum ptxi_class class, uint32_t v,
                            uint32_t w)
{
    return ptxi_ir_make(c->ir, &c->ins, at, op, 0, class, v, w);
}

uint32_t ptxi_contract_derive(struct ptxi_contract *c, uint32_t v, uint32_t at, const struct ptxi_fusable *type,
                              bool negate)
{
    static const uint16_t ops[2][PTXI_RC_COUNT] = {
        { [PTXI_RC_16] = PTXI_OP_mov_16, [PTXI_RC_32] = PTXI_OP_mov_32, [PTXI_RC_64] = PTXI_OP_mov_64 },
        { [PTXI_RC_16] = PTXI_OP_xor_b16, [PTXI_RC_32] = PTXI_OP_xor_b32, [PTXI_RC_64] = PTXI_OP_xor_b64 },
    };

    assert(ops[negate][type->class]);
    if (negate && c->ir->vregs[v].kind == PTXI_VR_CONST)
        return ptxi_ir_const(c->ir, type->class, c->ir->vregs[v].value ^ type->sign);
    return ptxi_contract_make(c, at, ops[negate][type->class], type->class, v,
                              negate ? sign_constant(c, type) : PTXI_NONE);
}

uint32_t ptxi_contract_factor(struct ptxi_contract *c, unsigned f, const struct ptxi_product *p, uint32_t n,
                              bool negate)
{
    const struct ptxi_ir_inst *mul = &c->ir->insts[p->mul];
    uint32_t v = mul->v[f];

    if (!negate && ptxi_contract_is_kept(c, v, p->mul, n))
        return v;
    return ptxi_contract_derive(c, v, p->mul, ptxi_contract_type(mul), negate);
}

void ptxi_contract_drop(struct ptxi_contract *c, uint32_t mul)
{
    struct ptxi_ir_inst *i = &c->ir->insts[mul];

    i->op = PTXI_OP_nop; /* still counted as an instruction */
    i->reads = i->writes = 0;
    i->flags &= ~PTXI_IF_FUSABLE;
}

uint16_t ptxi_contract_nan_mods(uint16_t add, uint16_t mul, bool minus_a, bool minus_c)
{
    uint16_t factors = PTXI_MOD_LATER_A | PTXI_MOD_MINUS_A;
    unsigned mods = (add & ~factors) | (mul & factors);

    if (minus_a)
        mods ^= PTXI_MOD_MINUS_A;
    if (minus_c)
        mods |= PTXI_MOD_MINUS_C;
    return (uint16_t)mods;
}

void ptxi_contract_expand(struct ptxi_contract *c, uint32_t n)
{
    const struct ptxi_quotient *q = ptxi_contract_quotient(&c->ir->insts[n]);
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
