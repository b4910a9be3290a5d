/* Contraction: a mul and an add or sub that use its product become one fma, where neither has a rounding modifier.
 *
 * PTX ISA, "Floating Point Instructions: mul": without rounding modifier, mul and add may be fused. ptxas does so by these rules
 * (found by reading what it makes of small kernels for sm_90), and since they decide bits, so does this pass:
 *
 *   - the add may be sub, either way round, may have .sat and a guard; the mul has neither; both flush alike (.ftz).
 *   - mul and add stand in one stretch of straight code. A stretch ends at branches and their targets, at calls, fences and whatever
 *     else ptxas makes a branch of: guarded instructions that are not arithmetic, div, sqrt and rcp with rounding, division of 64-bit
 *     and of signed 32-bit integers, float atomics in shared and generic memory.
 *   - every use of the product is such an add, else all stay as they are; and none adds the product to itself.
 *   - adds are looked at in the order of the text. Of two products the one with a single use is fused, and of two alike the first
 *     operand. A product of several uses is not fused if one of its adds would prefer the other, single-use operand.
 *
 * Not followed: what ptxas fuses only after moving code out of loops, and the last multiplication inside div.approx and div.full. */
#include "compile/ir.h"

#include "isa/isa.h"

#include <string.h>

enum kind { OTHER, MUL, ADD, SUB };

struct contract {
    struct ptxi_ir *ir;
    uint32_t *zone;                /* instruction -> number of its stretch */
    uint32_t *first, *accesses;    /* per vreg: instruction * 2 + is write, ascending; at one instruction reads come first */
    bool *fused;                   /* per instruction: made here */
    struct ptxi_ir_insertions ins;
    uint32_t sign[2];              /* constants: the sign bit of f32 and f64 */
};

/* What an instruction is to this pass, and what it fuses to. */
static enum kind kind_of(const struct ptxi_ir_inst *i)
{
    if (!(i->flags & PTXI_IF_FUSABLE) || i->flags & PTXI_IF_DEAD)
        return OTHER;
    switch (i->op) {
    case PTXI_OP_mul_f32: case PTXI_OP_mul_f32_ftz: case PTXI_OP_mul_f64: return MUL;
    case PTXI_OP_add_f32: case PTXI_OP_add_f32_ftz: case PTXI_OP_add_f32_x: case PTXI_OP_add_f32_ftz_x: case PTXI_OP_add_f64: return ADD;
    case PTXI_OP_sub_f32: case PTXI_OP_sub_f32_ftz: case PTXI_OP_sub_f32_x: case PTXI_OP_sub_f32_ftz_x: case PTXI_OP_sub_f64: return SUB;
    default: return OTHER;
    }
}

static bool is_double(const struct ptxi_ir_inst *i)
{
    return i->op == PTXI_OP_mul_f64 || i->op == PTXI_OP_add_f64 || i->op == PTXI_OP_sub_f64;
}

static uint16_t fused_op(const struct ptxi_ir_inst *add)
{
    bool ftz = add->mods & PTXI_MOD_FTZ, sat = add->mods & PTXI_MOD_SAT;

    if (is_double(add))
        return PTXI_OP_fma_f64;
    return ftz ? (sat ? PTXI_OP_fma_f32_ftz_x : PTXI_OP_fma_f32_ftz) : sat ? PTXI_OP_fma_f32_x : PTXI_OP_fma_f32;
}

/* --- stretches --- */

static bool named(const struct ptxi_match *m, const char *name)
{
    return !strcmp(m->row->mnemonic, name);
}

static bool divides(const struct ptxi_match *m)
{
    bool root = named(m, "sqrt") || named(m, "rcp"), div = named(m, "div");

    if (named(m, "rsqrt"))
        return ptxi_isa_has(m, "f64");
    if ((div || named(m, "rem")) && (ptxi_isa_has(m, "s32") || ptxi_isa_has(m, "s64") || ptxi_isa_has(m, "u64")))
        return true;
    return (root || div) && (ptxi_isa_has(m, "rn") || ptxi_isa_has(m, "rz") || ptxi_isa_has(m, "rm") || ptxi_isa_has(m, "rp"));
}

static bool loops(const struct ptxi_match *m)
{
    return (named(m, "atom") || named(m, "red")) && ptxi_isa_has(m, "add") && (ptxi_isa_has(m, "f32") || ptxi_isa_has(m, "f64")) &&
           !ptxi_isa_has(m, "global");
}

/* True if ptxas makes several blocks of the instruction. */
static bool cuts(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    const struct ptxi_inst *ptx = i->ptx < ir->func->inst_count ? &ir->func->insts[i->ptx] : NULL;

    if (i->guard != PTXI_NONE && !(i->flags & PTXI_IF_PURE))
        return true;
    if (ptxi_ir_is_call(i) || i->op == PTXI_OP_brkpt || !ptx)
        return true;
    if (!(i->flags & PTXI_IF_FIRST))
        return false;
    switch (ptx->match->row->mnemonic[0]) {
    case 'd': case 's': case 'r': return divides(ptx->match) || loops(ptx->match);
    case 'a': return loops(ptx->match);
    case 'f': return named(ptx->match, "fence");
    case 'm': return named(ptx->match, "membar");
    default: return false;
    }
}

static void find_stretches(struct contract *c)
{
    const struct ptxi_ir *ir = c->ir;
    uint32_t zone = 0;

    for (uint32_t b = 0; b < ir->block_count; b++) {
        const struct ptxi_block *block = &ir->blocks[b], *before = b ? block - 1 : NULL;

        /* a jump to the next instruction, to where nothing else leads, is no branch */
        if (!before || before->succ_count != 1 || ir->edges[before->succ] != b || block->pred_count != 1)
            zone++;
        for (uint32_t n = block->first; n < block->end; n++) {
            zone += cuts(ir, &ir->insts[n]);
            c->zone[n] = zone;
        }
    }
}

/* --- uses --- */

static bool collect(struct contract *c)
{
    const struct ptxi_ir *ir = c->ir;
    uint32_t total = 0, v;

    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t n = 0; n < ir->count; n++) {
            struct ptxi_ir_walk r = ptxi_ir_reads(ir, &ir->insts[n]), w = ptxi_ir_writes(ir, &ir->insts[n]);

            while (ptxi_ir_next(&r, &v)) {
                if (pass)
                    c->accesses[c->first[v + 1]++] = n * 2;
                else
                    c->first[v + 2]++;
            }
            while (ptxi_ir_next(&w, &v)) {
                if (pass)
                    c->accesses[c->first[v + 1]++] = n * 2 + 1;
                else
                    c->first[v + 2]++;
            }
        }
        if (pass)
            break;
        for (v = 0; v < ir->vreg_count; v++)
            c->first[v + 2] += c->first[v + 1];
        total = c->first[ir->vreg_count + 1];
        c->accesses = ARENA_NEW(ir->arena, uint32_t, total);
        if (!c->accesses)
            return false;
    }
    return true;
}

/* First access of v behind instruction n (n itself counts when it writes). */
static const uint32_t *access_after(const struct contract *c, uint32_t v, uint32_t n)
{
    const uint32_t *a = c->accesses;
    uint32_t lo = c->first[v], hi = c->first[v + 1];

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (a[mid] <= n * 2 + 1)
            lo = mid + 1;
        else
            hi = mid;
    }
    return a + lo;
}

static bool written_between(const struct contract *c, uint32_t v, uint32_t from, uint32_t to)
{
    const uint32_t *end = c->accesses + c->first[v + 1];

    for (const uint32_t *a = access_after(c, v, from); a < end && *a / 2 < to; a++)
        if (*a & 1)
            return true;
    return false;
}

/* A product and its uses, all in one stretch. */
struct product {
    uint32_t mul; /* instruction */
    const uint32_t *uses;
    uint32_t count;
};

/* The mul that made v as instruction n reads it; false if it is none that could be fused. */
static bool find_product(const struct contract *c, uint32_t v, uint32_t n, struct product *p)
{
    const uint32_t *begin = c->accesses + c->first[v], *end = c->accesses + c->first[v + 1], *def, *a;
    uint32_t writes = 0;

    for (def = access_after(c, v, n) - 1; def >= begin && (!(*def & 1) || *def / 2 >= n); def--)
        ;
    if (def < begin || c->zone[*def / 2] != c->zone[n])
        return false;
    p->mul = *def / 2;
    if (kind_of(&c->ir->insts[p->mul]) != MUL || c->ir->insts[p->mul].guard != PTXI_NONE)
        return false;
    p->uses = def + 1;
    for (a = def + 1; a < end && !(*a & 1); a++)
        if (c->zone[*a / 2] != c->zone[n])
            return false;
    p->count = (uint32_t)(a - p->uses);
    /* the value must end here: overwritten, or there is no other use anywhere */
    if (a < end && c->zone[*a / 2] == c->zone[n])
        return true;
    for (a = begin; a < end; a++)
        writes += *a & 1;
    return writes == 1 && (uint32_t)(end - begin) == p->count + 1;
}

static bool is_add_of(const struct contract *c, uint32_t n, uint32_t v, const struct ptxi_ir_inst *mul)
{
    const struct ptxi_ir_inst *i = &c->ir->insts[n];
    enum kind k = kind_of(i);

    if (i->guard != PTXI_NONE && i->v[PTXI_F_D] == v)
        return false; /* keeps the product where the guard does not hold */
    return (k == ADD || k == SUB) && is_double(i) == is_double(mul) && (i->mods & PTXI_MOD_FTZ) == (mul->mods & PTXI_MOD_FTZ) &&
           (i->v[PTXI_F_A] == v) != (i->v[PTXI_F_B] == v);
}

/* The other operand of an add is a product with one use. */
static bool prefers_other(const struct contract *c, uint32_t n, uint32_t v)
{
    const struct ptxi_ir_inst *i = &c->ir->insts[n];
    uint32_t other = i->v[PTXI_F_A] == v ? i->v[PTXI_F_B] : i->v[PTXI_F_A];
    struct product q;

    return find_product(c, other, n, &q) && q.count == 1 && is_add_of(c, n, other, &c->ir->insts[q.mul]);
}

static bool can_fuse(const struct contract *c, uint32_t v, uint32_t n, struct product *p)
{
    if (!find_product(c, v, n, p))
        return false;
    for (uint32_t k = 0; k < p->count; k++) {
        uint32_t use = p->uses[k] / 2;

        /* one that is fused by now reads the factors, unless it adds this product to another */
        if (c->fused[use] && c->ir->insts[use].v[PTXI_F_C] != v)
            continue;
        if (!is_add_of(c, use, v, &c->ir->insts[p->mul]) || (p->count > 1 && prefers_other(c, use, v)))
            return false;
    }
    return true;
}

/* --- fusing --- */

static uint32_t sign_constant(struct contract *c, bool is_double)
{
    if (c->sign[is_double] == PTXI_NONE)
        c->sign[is_double] = is_double ? ptxi_ir_const(c->ir, PTXI_RC_64, UINT64_C(1) << 63) : ptxi_ir_const(c->ir, PTXI_RC_32, 0x80000000);
    return c->sign[is_double];
}

/* v with its sign changed, or a copy of it, made before instruction `at`. */
static uint32_t derive(struct contract *c, uint32_t v, uint32_t at, bool is_double, bool negate)
{
    uint32_t d = ptxi_ir_vreg(c->ir, is_double ? PTXI_RC_64 : PTXI_RC_32), sign = negate ? sign_constant(c, is_double) : PTXI_NONE;
    struct ptxi_ir_inst *i = ptxi_ir_before(c->ir, &c->ins, at, negate     ? (is_double ? PTXI_OP_xor_b64 : PTXI_OP_xor_b32)
                                                                : is_double ? PTXI_OP_mov_64
                                                                            : PTXI_OP_mov_32);

    i->v[PTXI_F_D] = d;
    i->v[PTXI_F_A] = v;
    i->v[PTXI_F_B] = sign;
    i->writes = 1u << PTXI_F_D;
    i->reads = 1u << PTXI_F_A | (negate ? 1u << PTXI_F_B : 0);
    i->flags = PTXI_IF_PURE;
    return d;
}

/* A factor as it was at the mul, with changed sign if asked. */
static uint32_t factor(struct contract *c, uint32_t v, const struct product *p, uint32_t n, bool is_double, bool negate)
{
    if (!negate && !written_between(c, v, p->mul, n))
        return v;
    return derive(c, v, p->mul, is_double, negate);
}

static bool all_fused(const struct contract *c, const struct product *p)
{
    uint32_t v = c->ir->insts[p->mul].v[PTXI_F_D];

    for (uint32_t k = 0; k < p->count; k++)
        if (!c->fused[p->uses[k] / 2] || c->ir->insts[p->uses[k] / 2].v[PTXI_F_C] == v)
            return false;
    return true;
}

/* a*b + c, c + a*b; a*b - c = fma(a, b, -c); c - a*b = fma(-a, b, c). */
static void fuse(struct contract *c, uint32_t n, uint32_t v, const struct product *p)
{
    bool wide = is_double(&c->ir->insts[n]), first = c->ir->insts[n].v[PTXI_F_A] == v, sub = kind_of(&c->ir->insts[n]) == SUB;
    uint32_t other = c->ir->insts[n].v[first ? PTXI_F_B : PTXI_F_A];
    uint32_t a = factor(c, c->ir->insts[p->mul].v[PTXI_F_A], p, n, wide, sub && !first);
    uint32_t b = factor(c, c->ir->insts[p->mul].v[PTXI_F_B], p, n, wide, false);
    struct ptxi_ir_inst *i = &c->ir->insts[n];

    if (sub && first)
        other = derive(c, other, n, wide, true);
    i->op = fused_op(i);
    i->v[PTXI_F_A] = a;
    i->v[PTXI_F_B] = b;
    i->v[PTXI_F_C] = other;
    i->reads |= 1u << PTXI_F_C;
    i->flags &= ~PTXI_IF_FUSABLE;
    c->fused[n] = true;
    if (all_fused(c, p)) {
        c->ir->insts[p->mul].op = PTXI_OP_nop; /* still counted as an instruction */
        c->ir->insts[p->mul].reads = c->ir->insts[p->mul].writes = 0;
        c->ir->insts[p->mul].flags &= ~PTXI_IF_FUSABLE;
    }
}

static void try_add(struct contract *c, uint32_t n)
{
    const struct ptxi_ir_inst *i = &c->ir->insts[n];
    struct product pa, pb;
    uint32_t a = i->v[PTXI_F_A], b = i->v[PTXI_F_B];
    bool fuse_a = can_fuse(c, a, n, &pa), fuse_b = can_fuse(c, b, n, &pb);

    if (fuse_a && fuse_b && pb.count == 1 && pa.count > 1)
        fuse_a = false;
    if (fuse_a)
        fuse(c, n, a, &pa);
    else if (fuse_b)
        fuse(c, n, b, &pb);
}

bool ptxi_contract(struct ptxi_ir *ir)
{
    struct contract c = { .ir = ir, .sign = { PTXI_NONE, PTXI_NONE } };
    bool any = false;

    for (uint32_t n = 0; n < ir->count && !any; n++)
        any = kind_of(&ir->insts[n]) == MUL;
    if (!any)
        return true;
    c.zone = ARENA_NEW(ir->arena, uint32_t, ir->count);
    c.first = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count + 2);
    c.fused = ARENA_NEW(ir->arena, bool, ir->count);
    if (!c.zone || !c.fused || !c.first || !collect(&c))
        return !(ir->oom = true);
    find_stretches(&c);
    for (uint32_t n = 0; n < ir->count && !ir->oom; n++)
        if (kind_of(&ir->insts[n]) == ADD || kind_of(&ir->insts[n]) == SUB)
            try_add(&c, n);
    return !ir->oom && ptxi_ir_insert(ir, &c.ins);
}
