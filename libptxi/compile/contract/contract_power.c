/* Contraction: products of f32 times a power of two, rounded once. The rules are in contract.c. */
#include "compile/contract/contract_state.h"

static bool is_small_power(const struct ptxi_vreg *r)
{
    enum { MANTISSA = 0x7fffff, EIGHTH = 0x3e000000, ONE = 0x3f800000, EIGHT = 0x41000000 };

    return r->kind == PTXI_VR_CONST && !(r->value & MANTISSA) && r->value >= EIGHTH && r->value <= EIGHT &&
           r->value != ONE;
}

/* For a mul of f32 by the constant 8, 4, 2, 1/2, 1/4 or 1/8 (*power): the other operand. Else PTXI_NONE. */
static uint32_t scaled_operand(const struct ptxi_contract *c, const struct ptxi_ir_inst *i, uint32_t *power)
{
    for (unsigned f = PTXI_F_A; f <= PTXI_F_B; f++) {
        *power = i->v[f];
        if (is_small_power(&c->ir->vregs[i->v[f]]))
            return i->v[f == PTXI_F_A ? PTXI_F_B : PTXI_F_A];
    }
    return PTXI_NONE;
}

static bool is_mul_f32(const struct ptxi_ir_inst *i)
{
    if (i->flags & PTXI_IF_DEAD || i->mods & PTXI_MOD_RND_MASK)
        return false;
    return i->op == PTXI_OP_mul_f32 || i->op == PTXI_OP_mul_f32_ftz || i->op == PTXI_OP_mul_f32_x ||
           i->op == PTXI_OP_mul_f32_ftz_x;
}

static bool is_f32_product(const struct ptxi_ir_inst *mul)
{
    uint16_t op = ptxi_contract_type(mul)->mul;

    return op == PTXI_OP_mul_f32 || op == PTXI_OP_mul_f32_ftz;
}

/* Whether the product is by 1 or -1 with .ftz. To ptxas it is a flush of denormal numbers, not a product. */
static bool is_flush(const struct ptxi_contract *c, const struct ptxi_ir_inst *mul)
{
    for (unsigned f = PTXI_F_A; f <= PTXI_F_B; f++) {
        const struct ptxi_vreg *r = &c->ir->vregs[mul->v[f]];

        if (mul->op == PTXI_OP_mul_f32_ftz && r->kind == PTXI_VR_CONST && (r->value & 0x7fffffff) == 0x3f800000)
            return true;
    }
    return false;
}

static void try_scale(struct ptxi_contract *c, uint32_t n)
{
    struct ptxi_ir_inst *i = &c->ir->insts[n];
    uint32_t power, v = scaled_operand(c, i, &power), a, b, d;
    bool ftz = i->op == PTXI_OP_mul_f32_ftz || i->op == PTXI_OP_mul_f32_ftz_x;
    uint16_t op = ftz ? PTXI_OP_mul_scaled_f32_ftz : PTXI_OP_mul_scaled_f32;
    struct ptxi_product p;

    if (v == PTXI_NONE || !ptxi_contract_find_product(c, v, n, &p) || p.count != 1)
        return;
    if (is_flush(c, &c->ir->insts[p.mul]) || !is_f32_product(&c->ir->insts[p.mul]))
        return;
    ptxi_contract_expand(c, p.mul);
    a = ptxi_contract_factor(c, PTXI_F_A, &p, n, false);
    b = ptxi_contract_factor(c, PTXI_F_B, &p, n, false);
    i->flags &= (uint16_t)~PTXI_IF_FUSABLE;
    if (i->mods & PTXI_MOD_SAT) {
        d = ptxi_contract_make(c, n, op, PTXI_RC_32, a, b);
        if (c->ir->oom)
            return;
        i->op = ftz ? PTXI_OP_add_f32_ftz_x : PTXI_OP_add_f32_x;
        i->v[PTXI_F_A] = d;
        i->v[PTXI_F_B] = ptxi_ir_const(c->ir, PTXI_RC_32, 0);
        i = &c->ins.list[c->ins.count - 1].inst;
    } else {
        i->op = op;
        i->v[PTXI_F_A] = a;
        i->v[PTXI_F_B] = b;
    }
    i->v[PTXI_F_C] = power;
    i->reads |= 1u << PTXI_F_C;
    ptxi_contract_drop(c, p.mul);
}

void ptxi_contract_scale_powers(struct ptxi_contract *c)
{
    for (uint32_t n = 0; n < c->ir->count && !c->ir->oom; n++)
        if (is_mul_f32(&c->ir->insts[n]))
            try_scale(c, n);
}
