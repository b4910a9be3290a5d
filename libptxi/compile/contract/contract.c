/* Contraction: a mul and an add or sub that uses its product become one fma, if neither has a rounding modifier.
 *
 * PTX ISA, "Floating Point Instructions: mul": without a rounding modifier, mul and add may be fused. The rules of
 * ptxas decide bits, so this pass follows them. They were found by reading what ptxas makes of small kernels for sm_90
 * (.f32x2: for sm_100a):
 *
 *   - The add may be a sub with the product as either operand, and may have .sat and a guard. The mul has neither. Both
 *     have .ftz or neither has. .f32x2 is fused in spite of .rn.
 *   - The mul and the add are in one region of straight code. Exception: ptxas moves a product down to its uses if a
 *     factor is a parameter of a kernel or a constant. A constant may be one that ptxas computes; it does not compute
 *     fma, divisions, and sums and products of 16 bits. A region ends at branches and their targets, at calls, at
 *     fences, and at instructions of which ptxas makes branches: guarded instructions that are not arithmetic, div,
 *     sqrt and rcp with rounding, division of 64-bit and of signed 32-bit integers, float atomics in shared and generic
 *     memory.
 *   - A product of two constants of f32 or f64 is a constant. Either every use of the product is such an add and all
 *     are fused, or none is. No add may add the product to itself.
 *   - Adds are examined in the order of the text. Of two products, the one with a single use is fused; if both are
 *     alike, the first operand. A product with several uses is not fused if one of its adds would prefer its other,
 *     single-use operand. Packed products (f16x2, bf16x2) are.
 *
 *   - The last multiplication of div.approx, div.full and rcp.approx without .ftz is such a mul.
 *   - A neg between mul and add changes the sign of the product if all uses of both are such adds. These adds then
 *     count as uses of the product. Exceptions: an add that adds the product to its neg, and neg.bf16x2. neg.ftz is
 *     folded for f32 only, if the mul flushes and no add subtracts the neg's result. But if neg.ftz is the product's
 *     only use, it may have other uses, which are not fused, and each add counts as the only one.
 *   - A product of f32 with only one use, a product by 8, 4, 2 or their reciprocals (which may have .sat and a guard),
 *     becomes one product with it, rounded once. The second product decides whether to flush.
 *
 * Not reproduced: fusions that ptxas finds only after it has replaced short branches by guarded instructions. */
#include "compile/contract/contract_state.h"

#include <string.h>

/* Whether all uses of the product are fused and none adds it. */
static bool is_fused_everywhere(const struct ptxi_contract *c, const struct ptxi_product *p)
{
    uint32_t v = c->ir->insts[p->mul].v[PTXI_F_D];

    for (uint32_t k = 0; k < p->count; k++)
        if (c->addend[p->uses[k] / 2] == PTXI_NONE || c->addend[p->uses[k] / 2] == v)
            return false;
    return true;
}

/* Makes instruction n an fma: a*b + c, c + a*b; a*b - c = fma(a, b, -c); c - a*b = fma(-a, b, c). */
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
    if (is_fused_everywhere(c, p))
        ptxi_contract_drop(c, p->mul);
}

static bool is_sum(const struct ptxi_ir_inst *i)
{
    enum ptxi_contract_kind kind = ptxi_contract_kind(i);

    return kind == PTXI_IS_ADD || kind == PTXI_IS_SUB;
}

static void try_fuse(struct ptxi_contract *c, uint32_t n)
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

static bool init_state(struct ptxi_contract *c, struct ptxi_ir *ir)
{
    *c = (struct ptxi_contract){ .ir = ir, .vregs = ir->vreg_count };
    memset(c->sign, 0xff, sizeof c->sign);
    c->region = ARENA_NEW(ir->arena, uint32_t, ir->count);
    c->first = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count + 2);
    c->addend = ARENA_NEW(ir->arena, uint32_t, ir->count);
    c->seen = ARENA_NEW(ir->arena, uint32_t, ir->block_count);
    c->stack = ARENA_NEW(ir->arena, uint32_t, ir->block_count);
    if (!c->region || !c->addend || !c->first || !c->seen || !c->stack || !ptxi_contract_find_accesses(c))
        return !(ir->oom = true);
    memset(c->addend, 0xff, ir->count * sizeof *c->addend);
    ptxi_contract_find_regions(c);
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
    if (!init_state(&c, ir))
        return false;
    if (ptxi_contract_fold_negs(&c) && (!ptxi_ir_insert(ir, &c.ins) || !init_state(&c, ir)))
        return false;
    for (uint32_t n = 0; n < ir->count && !ir->oom; n++)
        if (is_sum(&ir->insts[n]))
            try_fuse(&c, n);
    ptxi_contract_scale_powers(&c);
    return !ir->oom && ptxi_ir_insert(ir, &c.ins);
}
