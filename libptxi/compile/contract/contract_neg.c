/* Contraction: products that neg changes the sign of. The rules are in contract.c. */
#include "compile/contract/contract_state.h"

/* neg.ftz.f32 does more than to change the sign. */
static bool flushes(const struct ptxi_ir_inst *neg)
{
    return neg->op == PTXI_OP_neg_f32_ftz;
}

/* neg.ftz.f32 that is the only use of the product is itself a sum, with -0. Then it may have uses of any kind. */
static bool is_sum_with_zero(const struct ptxi_ir_inst *neg, const struct ptxi_product *p)
{
    return flushes(neg) && p->count == 1;
}

static bool reads(const struct ptxi_contract *c, uint32_t n, uint32_t v)
{
    struct ptxi_ir_walk r = ptxi_ir_reads(c->ir, &c->ir->insts[n]);
    uint32_t read;

    while (ptxi_ir_next(&r, &read))
        if (read == v)
            return true;
    return false;
}

static bool adds_both(const struct ptxi_contract *c, uint32_t n, uint32_t v, uint32_t w)
{
    const struct ptxi_ir_inst *i = &c->ir->insts[n];

    return (i->v[PTXI_F_A] == v && i->v[PTXI_F_B] == w) || (i->v[PTXI_F_A] == w && i->v[PTXI_F_B] == v);
}

/* Whether instruction n is a sum of the neg's result to which the product with its sign changed could be added
 * instead. */
static bool is_add_of_neg(const struct ptxi_contract *c, uint32_t n, const struct ptxi_ir_inst *neg,
                          const struct ptxi_ir_inst *mul)
{
    uint32_t d = neg->v[PTXI_F_D];

    return ptxi_contract_is_sum(c, n, d, mul) &&
           !(flushes(neg) && ptxi_contract_kind(&c->ir->insts[n]) == PTXI_IS_SUB && c->ir->insts[n].v[PTXI_F_B] == d);
}

/* Whether instruction n is a neg of product v such that the product could be added in the neg's sums instead. *sums:
 * the uses of the neg. */
static bool is_neg_of(struct ptxi_contract *c, uint32_t n, uint32_t v, const struct ptxi_product *p,
                      struct ptxi_product *sums)
{
    const struct ptxi_ir_inst *i = &c->ir->insts[n], *mul = &c->ir->insts[p->mul];
    const struct ptxi_fusable *type = ptxi_contract_type(mul);
    uint32_t adds = 0;

    if ((i->op != type->neg && i->op != type->neg_same) || i->guard != PTXI_NONE || i->flags & PTXI_IF_DEAD ||
        i->v[PTXI_F_A] != v)
        return false;
    if ((i->mods & PTXI_MOD_FTZ && !flushes(i)) || !ptxi_contract_is_kept(c, mul->v[PTXI_F_A], p->mul, n) ||
        !ptxi_contract_is_kept(c, mul->v[PTXI_F_B], p->mul, n))
        return false;
    if (!ptxi_contract_find_uses(c, i->v[PTXI_F_D], ptxi_contract_access_after(c, i->v[PTXI_F_D], n) - 1, mul, sums))
        return false;
    for (uint32_t k = 0; k < sums->count; k++) {
        if (adds_both(c, sums->uses[k] / 2, v, i->v[PTXI_F_D]))
            return false;
        adds += is_add_of_neg(c, sums->uses[k] / 2, i, mul);
    }
    return adds && (adds == sums->count || is_sum_with_zero(i, p));
}

/* Whether all uses of product v are sums, directly or through a neg, none of which prefers its other operand. */
static bool all_sums(struct ptxi_contract *c, uint32_t v, const struct ptxi_product *p)
{
    const struct ptxi_ir_inst *mul = &c->ir->insts[p->mul];
    bool prefers = false;
    uint32_t count = 0;

    for (uint32_t k = 0; k < p->count; k++) {
        uint32_t use = p->uses[k] / 2;
        struct ptxi_product sums;

        if (!reads(c, use, v))
            continue; /* it was a neg */
        if (ptxi_contract_is_sum(c, use, v, mul)) {
            prefers |= ptxi_contract_prefers_other(c, use, v);
            count++;
            continue;
        }
        if (!is_neg_of(c, use, v, p, &sums))
            return false;
        for (uint32_t s = 0; s < sums.count; s++)
            prefers |= ptxi_contract_prefers_other(c, sums.uses[s] / 2, c->ir->insts[use].v[PTXI_F_D]);
        count += sums.count;
    }
    return count < 2 || ptxi_contract_type(mul)->packed || !prefers;
}

/* Gives each sum of the neg a product of its own; true if the neg has no other uses. */
static bool split_product(struct ptxi_contract *c, uint32_t n, const struct ptxi_product *sums, uint32_t mul)
{
    const struct ptxi_ir_inst *factors = &c->ir->insts[mul], *neg = &c->ir->insts[n];
    const struct ptxi_fusable *type = ptxi_contract_type(factors);
    bool all = true;

    for (uint32_t k = 0; k < sums->count; k++) {
        struct ptxi_ir_inst *add = &c->ir->insts[sums->uses[k] / 2];
        uint32_t own;

        if (!is_add_of_neg(c, sums->uses[k] / 2, neg, factors)) {
            all = false;
            continue;
        }
        own = ptxi_contract_make(c, n, factors->op, type->class,
                                 ptxi_contract_derive(c, factors->v[PTXI_F_A], n, type, true), factors->v[PTXI_F_B]);
        if (c->ir->oom)
            return false;
        c->ins.list[c->ins.count - 1].inst.flags |= PTXI_IF_FUSABLE;
        c->ins.list[c->ins.count - 1].inst.mods = factors->mods;
        add->v[add->v[PTXI_F_A] == neg->v[PTXI_F_D] ? PTXI_F_A : PTXI_F_B] = own;
    }
    return all;
}

/* Makes the neg a product of its own, or one for each of its sums. */
static bool try_neg(struct ptxi_contract *c, uint32_t n)
{
    uint32_t v = c->ir->insts[n].v[PTXI_F_A];
    const struct ptxi_ir_inst *mul;
    const struct ptxi_fusable *type;
    struct ptxi_ir_inst *i;
    struct ptxi_product p, sums;

    if (!ptxi_contract_find_product(c, v, n, &p) || !is_neg_of(c, n, v, &p, &sums))
        return false;
    if (!is_sum_with_zero(&c->ir->insts[n], &p) && !all_sums(c, v, &p))
        return false;
    ptxi_contract_expand(c, p.mul);
    if (is_sum_with_zero(&c->ir->insts[n], &p) && sums.count > 1) {
        if (split_product(c, n, &sums, p.mul)) {
            ptxi_contract_drop(c, n);
            ptxi_contract_drop(c, p.mul);
        }
        return true;
    }
    mul = &c->ir->insts[p.mul];
    type = ptxi_contract_type(mul);
    i = &c->ir->insts[n];
    i->op = mul->op;
    i->mods = type->mul == PTXI_OP_mul_f64 ? ptxi_contract_nan_mods(0, mul->mods, true, false) : mul->mods;
    i->v[PTXI_F_A] = ptxi_contract_derive(c, mul->v[PTXI_F_A], n, type, true);
    i->v[PTXI_F_B] = mul->v[PTXI_F_B];
    i->reads = 1u << PTXI_F_A | 1u << PTXI_F_B;
    i->flags |= PTXI_IF_FUSABLE;
    for (uint32_t k = 0; k < p.count; k++)
        if (reads(c, p.uses[k] / 2, v))
            return true;
    ptxi_contract_drop(c, p.mul);
    return true;
}

bool ptxi_contract_fold_negs(struct ptxi_contract *c)
{
    bool any = false;

    for (uint32_t n = 0; n < c->ir->count && !c->ir->oom; n++)
        if (ptxi_contract_is_neg(&c->ir->insts[n]))
            any |= try_neg(c, n);
    return any;
}
