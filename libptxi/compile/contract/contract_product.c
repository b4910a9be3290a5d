/* Contraction: products and their uses, and whether each could be fused. The rules are in contract.c. */
#include "compile/contract/contract_state.h"

/* Whether ptxas moves the product that access `def` gives v, or a neg of it, down to its uses in other regions. */
static bool is_moved_down(const struct ptxi_contract *c, uint32_t v, const uint32_t *def,
                          const struct ptxi_ir_inst *mul)
{
    return ptxi_contract_kind(mul) == PTXI_IS_MUL && !ptxi_contract_quotient(mul) &&
           (ptxi_contract_is_known(c, mul->v[PTXI_F_A]) || ptxi_contract_is_known(c, mul->v[PTXI_F_B])) &&
           def == c->accesses + c->first[v] && ptxi_contract_written_once(c, v);
}

bool ptxi_contract_find_uses(struct ptxi_contract *c, uint32_t v, const uint32_t *def, const struct ptxi_ir_inst *mul,
                             struct ptxi_product *p)
{
    const uint32_t *end = c->accesses + c->first[v + 1], *a = def + 1;
    uint32_t region = c->region[*def / 2];

    if (is_moved_down(c, v, def, mul)) {
        p->uses = a;
        p->count = (uint32_t)(end - a);
        return true;
    }
    while (a < end && c->region[*a / 2] == region && !(*a & 1))
        a++;
    p->uses = def + 1;
    p->count = (uint32_t)(a - p->uses);
    return (a < end && c->region[*a / 2] == region) || !ptxi_contract_read_later(c, v, a[-1] / 2);
}

bool ptxi_contract_find_product(struct ptxi_contract *c, uint32_t v, uint32_t n, struct ptxi_product *p)
{
    const uint32_t *begin = c->accesses + c->first[v], *def;
    const struct ptxi_ir_inst *mul;

    for (def = ptxi_contract_access_after(c, v, n) - 1; def >= begin && (!(*def & 1) || *def / 2 >= n); def--)
        ;
    if (def < begin)
        return false;
    p->mul = *def / 2;
    mul = &c->ir->insts[p->mul];
    if (ptxi_contract_kind(mul) != PTXI_IS_MUL || ptxi_contract_is_computed(c, mul) || mul->guard != PTXI_NONE ||
        (c->region[p->mul] != c->region[n] && !is_moved_down(c, v, def, mul)))
        return false;
    return ptxi_contract_find_uses(c, v, def, mul, p);
}

bool ptxi_contract_is_sum(const struct ptxi_contract *c, uint32_t n, uint32_t v, const struct ptxi_ir_inst *mul)
{
    const struct ptxi_ir_inst *i = &c->ir->insts[n];
    enum ptxi_contract_kind k = ptxi_contract_kind(i);

    if (i->guard != PTXI_NONE && i->v[PTXI_F_D] == v)
        return false; /* it keeps the product where the guard does not hold */
    return (k == PTXI_IS_ADD || k == PTXI_IS_SUB) && ptxi_contract_type(i)->mul == ptxi_contract_type(mul)->mul &&
           (i->mods & PTXI_MOD_FTZ) == (mul->mods & PTXI_MOD_FTZ) && (i->v[PTXI_F_A] == v) != (i->v[PTXI_F_B] == v);
}

bool ptxi_contract_prefers_other(struct ptxi_contract *c, uint32_t n, uint32_t v)
{
    const struct ptxi_ir_inst *i = &c->ir->insts[n];
    uint32_t other = i->v[PTXI_F_A] == v ? i->v[PTXI_F_B] : i->v[PTXI_F_A];
    struct ptxi_product q;

    return ptxi_contract_find_product(c, other, n, &q) && q.count == 1 &&
           ptxi_contract_is_sum(c, n, other, &c->ir->insts[q.mul]);
}

bool ptxi_contract_can_fuse(struct ptxi_contract *c, uint32_t v, uint32_t n, struct ptxi_product *p)
{
    const struct ptxi_ir_inst *mul;

    if (!ptxi_contract_find_product(c, v, n, p))
        return false;
    mul = &c->ir->insts[p->mul];
    for (uint32_t k = 0; k < p->count; k++) {
        uint32_t use = p->uses[k] / 2;

        /* an instruction that is fused already reads the factors, unless it adds this product to another */
        if (c->addend[use] != PTXI_NONE && c->addend[use] != v)
            continue;
        if (!ptxi_contract_is_sum(c, use, v, mul))
            return false;
        if (p->count > 1 && !ptxi_contract_type(mul)->packed && ptxi_contract_prefers_other(c, use, v))
            return false;
    }
    return true;
}
