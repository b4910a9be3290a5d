/* Contraction: a mul and an add or sub that use its product become one fma, where neither has a rounding modifier.
 *
 * PTX ISA, "Floating Point Instructions: mul": without rounding modifier, mul and add may be fused. ptxas does so by these rules
 * (found by reading what it makes of small kernels for sm_90, .f32x2 for sm_100a), and since they decide bits, so does this pass:
 *
 *   - the add may be sub, either way round, may have .sat and a guard; the mul has neither; both flush alike (.ftz).
 *     .f32x2 is fused in spite of .rn.
 *   - mul and add stand in one stretch of straight code, unless a factor is a constant, also one that ptxas computes (it does not
 *     compute fma, what divides, nor sums and products of 16 bits), or a parameter of a kernel: such a product is moved down to its
 *     uses. A stretch ends at branches and their targets, at calls, fences and whatever else ptxas makes a branch of: guarded
 *     instructions that are not arithmetic, div, sqrt and rcp with rounding, division of 64-bit and of signed 32-bit integers,
 *     float atomics in shared and generic memory.
 *   - a product of two constants of f32 or f64 is a constant. Every use of the product is such an add, else all stay as they are; and
 *     none adds the product to itself.
 *   - adds are looked at in the order of the text. Of two products the one with a single use is fused, and of two alike the first
 *     operand. A product of several uses is not fused if one of its adds would prefer the other, single-use operand; packed ones
 *     (f16x2, bf16x2) are.
 *
 *   - the last multiplication of div.approx, div.full and rcp.approx without .ftz is such a mul.
 *   - neg between mul and add changes the sign of the product, if all uses of both are such adds, which count as the product's; but
 *     not if one adds the product itself, and not neg.bf16x2. neg.ftz does so for f32 alone, where the mul flushes and none of the adds
 *     subtracts what it makes; but if it is the product's only use, it may have other uses, which are not fused, and each add counts as
 *     the only one.
 *   - a product of f32 whose only use is another one with 8, 4, 2 or their reciprocals, which may have .sat and a guard, becomes one with
 *     it, rounded once. The second says whether to flush.
 *
 * Not followed: what ptxas fuses only after making guarded instructions of short branches. */
#include "compile/contract/contract.h"

#include <string.h>

static uint32_t sign_constant(struct ptxi_contract *c, const struct ptxi_fusable *type)
{
    uint32_t *sign = &c->sign[type - ptxi_fusables];

    if (*sign == PTXI_NONE)
        *sign = ptxi_ir_const(c->ir, type->class, type->sign);
    return *sign;
}

uint32_t ptxi_contract_make(struct ptxi_contract *c, uint32_t at, uint16_t op, enum ptxi_class class, uint32_t v, uint32_t w)
{
    return ptxi_ir_make(c->ir, &c->ins, at, op, 0, class, v, w);
}

uint32_t ptxi_contract_derive(struct ptxi_contract *c, uint32_t v, uint32_t at, const struct ptxi_fusable *type, bool negate)
{
    static const uint16_t ops[2][PTXI_RC_COUNT] = {
        { [PTXI_RC_16] = PTXI_OP_mov_16, [PTXI_RC_32] = PTXI_OP_mov_32, [PTXI_RC_64] = PTXI_OP_mov_64 },
        { [PTXI_RC_16] = PTXI_OP_xor_b16, [PTXI_RC_32] = PTXI_OP_xor_b32, [PTXI_RC_64] = PTXI_OP_xor_b64 },
    };

    if (negate && c->ir->vregs[v].kind == PTXI_VR_CONST)
        return ptxi_ir_const(c->ir, type->class, c->ir->vregs[v].value ^ type->sign);
    return ptxi_contract_make(c, at, ops[negate][type->class], type->class, v, negate ? sign_constant(c, type) : PTXI_NONE);
}

uint32_t ptxi_contract_factor(struct ptxi_contract *c, unsigned f, const struct ptxi_product *p, uint32_t n, bool negate)
{
    const struct ptxi_ir_inst *mul = &c->ir->insts[p->mul];
    uint32_t v = mul->v[f];

    if (!negate && ptxi_contract_is_kept(c, v, p->mul, n))
        return v;
    return ptxi_contract_derive(c, v, p->mul, ptxi_contract_type(mul), negate);
}

static bool all_fused(const struct ptxi_contract *c, const struct ptxi_product *p)
{
    uint32_t v = c->ir->insts[p->mul].v[PTXI_F_D];

    for (uint32_t k = 0; k < p->count; k++)
        if (c->addend[p->uses[k] / 2] == PTXI_NONE || c->addend[p->uses[k] / 2] == v)
            return false;
    return true;
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

    return (uint16_t)((add & ~factors) | ((mul & factors) ^ (minus_a ? PTXI_MOD_MINUS_A : 0)) | (minus_c ? PTXI_MOD_MINUS_C : 0));
}

/* a*b + c, c + a*b; a*b - c = fma(a, b, -c); c - a*b = fma(-a, b, c). */
static void fuse(struct ptxi_contract *c, uint32_t n, uint32_t v, const struct ptxi_product *p)
{
    const struct ptxi_fusable *type = ptxi_contract_type(&c->ir->insts[n]);
    bool first = c->ir->insts[n].v[PTXI_F_A] == v, sub = ptxi_contract_kind(&c->ir->insts[n]) == PTXI_IS_SUB;
    uint32_t other = c->ir->insts[n].v[first ? PTXI_F_B : PTXI_F_A];
    uint32_t a = ptxi_contract_factor(c, PTXI_F_A, p, n, sub && !first);
    uint32_t b = ptxi_contract_factor(c, PTXI_F_B, p, n, false);
    struct ptxi_ir_inst *i = &c->ir->insts[n];

    c->addend[n] = other;
    if (sub && first)
        other = ptxi_contract_derive(c, other, n, type, true);
    i->op = type->fma;
    if (type->fma == PTXI_OP_fma_f64)
        i->mods = ptxi_contract_nan_mods(i->mods, c->ir->insts[p->mul].mods, sub && !first, sub && first);
    i->v[PTXI_F_A] = a;
    i->v[PTXI_F_B] = b;
    i->v[PTXI_F_C] = other;
    i->reads |= 1u << PTXI_F_C;
    i->flags &= ~PTXI_IF_FUSABLE;
    if (all_fused(c, p))
        ptxi_contract_drop(c, p->mul);
}

static bool is_sum(const struct ptxi_ir_inst *i)
{
    enum ptxi_contract_kind kind = ptxi_contract_kind(i);

    return kind == PTXI_IS_ADD || kind == PTXI_IS_SUB;
}

static void try_add(struct ptxi_contract *c, uint32_t n)
{
    const struct ptxi_ir_inst *i = &c->ir->insts[n];
    struct ptxi_product pa, pb;
    uint32_t a = i->v[PTXI_F_A], b = i->v[PTXI_F_B];
    bool fuse_a = ptxi_contract_can_fuse(c, a, n, &pa), fuse_b = ptxi_contract_can_fuse(c, b, n, &pb);

    if (fuse_a && fuse_b && pb.count == 1 && pa.count > 1)
        fuse_a = false;
    if (!fuse_a && !fuse_b)
        return;
    ptxi_contract_expand(c, (fuse_a ? &pa : &pb)->mul);
    fuse(c, n, fuse_a ? a : b, fuse_a ? &pa : &pb);
}

static bool prepare(struct ptxi_contract *c, struct ptxi_ir *ir)
{
    *c = (struct ptxi_contract){ .ir = ir, .vregs = ir->vreg_count };
    memset(c->sign, 0xff, sizeof c->sign);
    c->zone = ARENA_NEW(ir->arena, uint32_t, ir->count);
    c->first = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count + 2);
    c->addend = ARENA_NEW(ir->arena, uint32_t, ir->count);
    c->seen = ARENA_NEW(ir->arena, uint32_t, ir->block_count);
    c->stack = ARENA_NEW(ir->arena, uint32_t, ir->block_count);
    if (!c->zone || !c->addend || !c->first || !c->seen || !c->stack || !ptxi_contract_find_accesses(c))
        return !(ir->oom = true);
    memset(c->addend, 0xff, ir->count * sizeof *c->addend);
    ptxi_contract_find_stretches(c);
    return true;
}

bool ptxi_contract(struct ptxi_ir *ir)
{
    struct ptxi_contract c;
    bool any = false;

    for (uint32_t n = 0; n < ir->count && !any; n++)
        any = ptxi_contract_kind(&ir->insts[n]) == PTXI_IS_MUL;
    if (!any)
        return true;
    if (!prepare(&c, ir))
        return false;
    if (ptxi_contract_negs(&c) && (!ptxi_ir_insert(ir, &c.ins) || !prepare(&c, ir)))
        return false;
    for (uint32_t n = 0; n < ir->count && !ir->oom; n++)
        if (is_sum(&ir->insts[n]))
            try_add(&c, n);
    ptxi_contract_powers(&c);
    return !ir->oom && ptxi_ir_insert(ir, &c.ins);
}
