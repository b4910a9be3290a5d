/* Contraction: a mul and an add or sub that use its product become one fma, where neither has a rounding modifier.
 *
 * PTX ISA, "Floating Point Instructions: mul": without rounding modifier, mul and add may be fused. ptxas does so by these rules
 * (found by reading what it makes of small kernels for sm_90, .f32x2 for sm_100a), and since they decide bits, so does this pass:
 *
 *   - the add may be sub, either way round, may have .sat and a guard; the mul has neither; both flush alike (.ftz).
 *     .f32x2 is fused in spite of .rn.
 *   - mul and add stand in one stretch of straight code, unless a factor is a constant, also one that ptxas computes (it does not
 *     compute fma, what divides, nor sums and products of 16 bits), or a parameter of a kernel: such a product is moved down to its uses. A stretch ends at branches and their targets, at calls, fences and whatever
 *     else ptxas makes a branch of: guarded instructions that are not arithmetic, div, sqrt and rcp with rounding, division of 64-bit
 *     and of signed 32-bit integers, float atomics in shared and generic memory.
 *   - a product of two constants of f32 or f64 is a constant. Every use of the product is such an add, else all stay as they are; and none adds the product to itself.
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
#include "compile/build.h"

#include "isa/isa.h"

#include <string.h>

enum kind { OTHER, MUL, ADD, SUB };

/* Operands that need no register. */
enum outside { INSIDE, KNOWN /* to ptxas */, IN_BANK /* a parameter of a kernel, or at a constant place of the .const space */ };

/* What products and sums of one type become; with a suffix for .sat of the sum. */
static const struct type {
    uint16_t mul, add, sub, fma, neg, neg_same; /* neg_same: without .ftz */
    enum ptxi_class class;
    uint64_t sign; /* the sign bits */
    bool packed;
} types[] = {
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
enum { TYPES = sizeof types / sizeof *types };

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

struct contract {
    struct ptxi_ir *ir;
    uint32_t vregs;                /* that there were before this pass */
    uint32_t *zone;                /* instruction -> number of its stretch */
    uint32_t *first, *accesses;    /* per vreg: instruction * 2 + is write, ascending; at one instruction reads come first */
    uint8_t *outside;              /* per vreg: an enum outside */
    uint32_t *seen, *stack, round; /* per block: in which round read_later() has come to it; and where it goes next */
    uint32_t *addend;              /* per instruction: what a fused one made here adds, before its sign was changed; else PTXI_NONE */
    struct ptxi_ir_insertions ins;
    uint32_t sign[TYPES];          /* constants */
};

static const struct quotient *quotient_of(const struct ptxi_ir_inst *i)
{
    for (unsigned k = 0; k < sizeof quotients / sizeof *quotients; k++)
        if (quotients[k].op == i->op)
            return &quotients[k];
    return NULL;
}

static const struct type *type_of_mul(uint16_t mul)
{
    const struct type *t = types;

    while (t->mul != mul)
        t++;
    return t;
}

/* What an instruction is to this pass; *type is its type. */
static enum kind kind_of(const struct ptxi_ir_inst *i, const struct type **type)
{
    const struct quotient *q = quotient_of(i);

    *type = types;
    if (i->flags & PTXI_IF_DEAD || (!q && !(i->flags & PTXI_IF_FUSABLE)))
        return OTHER;
    if (q) {
        *type = type_of_mul(q->mul);
        return MUL;
    }
    for (const struct type *t = types; t < types + TYPES; t++) {
        *type = t;
        if (i->op == t->mul)
            return i->mods & PTXI_MOD_SAT ? OTHER : MUL;
        if (i->op == t->add)
            return ADD;
        if (i->op == t->sub)
            return SUB;
    }
    return OTHER;
}

static bool is_kind(const struct ptxi_ir_inst *i, enum kind kind)
{
    const struct type *type;

    return kind_of(i, &type) == kind;
}

/* --- stretches --- */

static bool divides(const struct ptxi_match *m)
{
    switch (m->row->family) {
    case PTXI_M_rsqrt:
        return ptxi_build_has(m, PTXI_T_f64);
    case PTXI_M_rem:
        return ptxi_build_has(m, PTXI_T_s32) || ptxi_build_has(m, PTXI_T_s64) || ptxi_build_has(m, PTXI_T_u64);
    case PTXI_M_div:
        if (ptxi_build_has(m, PTXI_T_s32) || ptxi_build_has(m, PTXI_T_s64) || ptxi_build_has(m, PTXI_T_u64))
            return true;
        /* fall through */
    case PTXI_M_rcp:
    case PTXI_M_sqrt:
        return ptxi_build_has(m, PTXI_Q_rn) || ptxi_build_has(m, PTXI_Q_rz) || ptxi_build_has(m, PTXI_Q_rm) || ptxi_build_has(m, PTXI_Q_rp);
    default:
        return false;
    }
}

static bool loops(const struct ptxi_match *m)
{
    return ptxi_build_has(m, PTXI_Q_add) && (ptxi_build_has(m, PTXI_T_f32) || ptxi_build_has(m, PTXI_T_f64)) && !ptxi_build_has(m, PTXI_Q_global);
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
    switch (ptx->match->row->family) {
    case PTXI_M_fence: case PTXI_M_membar: return true;
    case PTXI_M_atom: case PTXI_M_red: return loops(ptx->match);
    default: return divides(ptx->match);
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

static bool is_single_or_double(const struct type *type)
{
    return type->mul == PTXI_OP_mul_f32 || type->mul == PTXI_OP_mul_f32_ftz || type->mul == PTXI_OP_mul_f64;
}

/* Whether ptxas computes the operation where its operands are constants. */
static bool folds(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    const struct ptxi_match *m = ir->func->insts[i->ptx].match;
    const struct type *type;

    if (kind_of(i, &type) != OTHER && !is_single_or_double(type))
        return false;
    switch (m->row->family) {
    case PTXI_M_fma: case PTXI_M_div: case PTXI_M_rem:
    case PTXI_M_rcp: case PTXI_M_sqrt: case PTXI_M_rsqrt: case PTXI_M_lg2: case PTXI_M_ex2: case PTXI_M_sin: case PTXI_M_cos: case PTXI_M_tanh:
        return false; /* what is foretold of these is a constant by now */
    default:
        return i->flags & PTXI_IF_PURE && i->guard == PTXI_NONE && !(i->flags & PTXI_IF_DEAD);
    }
}

static bool is_bank_load(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    const struct ptxi_match *m = ir->func->insts[i->ptx].match;

    return m->row->family == PTXI_M_ld && (ptxi_build_has(m, PTXI_Q_const) || (ptxi_build_has(m, PTXI_Q_param) && ir->func->is_entry));
}

/* What the results of an instruction are, whose operands are `from`. */
static enum outside leads_to(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i, enum outside from)
{
    if (from == KNOWN && i->guard == PTXI_NONE && is_bank_load(ir, i))
        return IN_BANK;
    if (from == IN_BANK && i->op != PTXI_OP_unpack_32 && i->op != PTXI_OP_unpack_16 && i->op != PTXI_OP_neg_f32 && i->op != PTXI_OP_neg_f64)
        return INSIDE;
    return folds(ir, i) ? from : INSIDE;
}

static bool written_once(const struct contract *c, uint32_t v)
{
    uint32_t writes = 0;

    for (uint32_t k = c->first[v]; k < c->first[v + 1]; k++)
        writes += c->accesses[k] & 1;
    return writes == 1;
}

static bool find_outside(struct contract *c)
{
    const struct ptxi_ir *ir = c->ir;
    uint32_t v;

    c->outside = ARENA_NEW(ir->arena, uint8_t, ir->vreg_count);
    if (!c->outside)
        return false;
    for (v = 0; v < ir->vreg_count; v++)
        c->outside[v] = ir->vregs[v].kind == PTXI_VR_CONST ? KNOWN : INSIDE;
    for (uint32_t n = 0; n < ir->count; n++) {
        const struct ptxi_ir_inst *i = &ir->insts[n];
        struct ptxi_ir_walk r = ptxi_ir_reads(ir, i), w = ptxi_ir_writes(ir, i);
        enum outside from = i->reads && i->ptx < ir->func->inst_count ? KNOWN : INSIDE;

        while (from && ptxi_ir_next(&r, &v))
            from = !c->outside[v] ? INSIDE : c->outside[v] > from ? c->outside[v] : from;
        from = from ? leads_to(ir, i, from) : INSIDE;
        while (from && ptxi_ir_next(&w, &v))
            if (ir->vregs[v].kind == PTXI_VR_PLAIN && written_once(c, v))
                c->outside[v] = (uint8_t)from;
    }
    return true;
}

static bool is_outside(const struct contract *c, uint32_t v)
{
    return v < c->vregs ? c->outside[v] != INSIDE : c->ir->vregs[v].kind == PTXI_VR_CONST;
}

/* A product that ptxas computes, which is a constant and no product. */
static bool is_computed(const struct contract *c, const struct ptxi_ir_inst *mul)
{
    uint32_t a = mul->v[PTXI_F_A], b = mul->v[PTXI_F_B];
    const struct type *type;

    kind_of(mul, &type);
    return is_single_or_double(type) && !quotient_of(mul) && a < c->vregs && b < c->vregs && c->outside[a] == KNOWN && c->outside[b] == KNOWN;
}

/* First access of v from that one on. */
static const uint32_t *first_access(const struct contract *c, uint32_t v, uint32_t access)
{
    const uint32_t *a = c->accesses;
    uint32_t lo = c->first[v], hi = c->first[v + 1];

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (a[mid] < access)
            lo = mid + 1;
        else
            hi = mid;
    }
    return a + lo;
}

/* First access of v behind instruction n. */
static const uint32_t *access_after(const struct contract *c, uint32_t v, uint32_t n)
{
    return first_access(c, v, n * 2 + 2);
}

static bool written_between(const struct contract *c, uint32_t v, uint32_t from, uint32_t to)
{
    if (v >= c->vregs)
        return false; /* made by this pass, once */
    for (const uint32_t *a = access_after(c, v, from), *end = c->accesses + c->first[v + 1]; a < end && *a / 2 < to; a++)
        if (*a & 1)
            return true;
    return false;
}

/* A product and its uses, all in one stretch, unless it floats. */
struct product {
    uint32_t mul; /* instruction */
    const uint32_t *uses;
    uint32_t count;
};

static uint32_t block_of(const struct ptxi_ir *ir, uint32_t n)
{
    uint32_t lo = 0, hi = ir->block_count;

    while (hi - lo > 1) {
        uint32_t mid = (lo + hi) / 2;

        if (ir->blocks[mid].first <= n)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* Whether anything behind instruction n reads v as it is there, whichever way control goes. */
static bool read_later(struct contract *c, uint32_t v, uint32_t n)
{
    const struct ptxi_ir *ir = c->ir;
    uint32_t count = 0, b = block_of(ir, n);
    const uint32_t *a = access_after(c, v, n), *end = c->accesses + c->first[v + 1];

    c->round++;
    for (;;) {
        const struct ptxi_block *block = &ir->blocks[b];

        if (a < end && *a / 2 < block->end) {
            if (!(*a & 1))
                return true;
        } else {
            for (uint32_t k = 0; k < block->succ_count; k++) {
                uint32_t to = ir->edges[block->succ + k];

                if (c->seen[to] != c->round)
                    c->stack[count++] = to;
                c->seen[to] = c->round;
            }
        }
        if (!count)
            return false;
        b = c->stack[--count];
        a = first_access(c, v, 2 * ir->blocks[b].first);
    }
}

/* Whether v, which may be no operand at all, is at instruction `to` what it was at instruction `from`. */
static bool is_kept(const struct contract *c, uint32_t v, uint32_t from, uint32_t to)
{
    if (v == PTXI_NONE || is_outside(c, v))
        return true;
    if (c->zone[from] == c->zone[to])
        return !written_between(c, v, from, to);
    return v < c->vregs && written_once(c, v) && !c->ir->blocks[block_of(c->ir, from)].depth;
}

/* Whether ptxas moves the product, or what neg makes of it, that access `def` gives v down to its uses in other stretches. */
static bool floats(const struct contract *c, uint32_t v, const uint32_t *def, const struct ptxi_ir_inst *mul)
{
    return is_kind(mul, MUL) && !quotient_of(mul) && (is_outside(c, mul->v[PTXI_F_A]) || is_outside(c, mul->v[PTXI_F_B])) &&
           def == c->accesses + c->first[v] && written_once(c, v);
}

/* The uses of the value that access `def` gives v, and that `mul` has made or with another sign; false if they are not all in its stretch. */
static bool find_uses(struct contract *c, uint32_t v, const uint32_t *def, const struct ptxi_ir_inst *mul, struct product *p)
{
    const uint32_t *end = c->accesses + c->first[v + 1], *a = def + 1;
    uint32_t zone = c->zone[*def / 2];

    if (floats(c, v, def, mul)) {
        p->uses = a;
        p->count = (uint32_t)(end - a);
        return true;
    }
    while (a < end && c->zone[*a / 2] == zone && !(*a & 1))
        a++;
    p->uses = def + 1;
    p->count = (uint32_t)(a - p->uses);
    return (a < end && c->zone[*a / 2] == zone) || !read_later(c, v, a[-1] / 2);
}

/* The mul that made v as instruction n reads it; false if it is none that could be fused. */
static bool find_product(struct contract *c, uint32_t v, uint32_t n, struct product *p)
{
    const uint32_t *begin = c->accesses + c->first[v], *def;
    const struct ptxi_ir_inst *mul;

    for (def = access_after(c, v, n) - 1; def >= begin && (!(*def & 1) || *def / 2 >= n); def--)
        ;
    if (def < begin)
        return false;
    p->mul = *def / 2;
    mul = &c->ir->insts[p->mul];
    if (!is_kind(mul, MUL) || is_computed(c, mul) || mul->guard != PTXI_NONE || (c->zone[p->mul] != c->zone[n] && !floats(c, v, def, mul)))
        return false;
    return find_uses(c, v, def, mul, p);
}

static bool is_add_of(const struct contract *c, uint32_t n, uint32_t v, const struct ptxi_ir_inst *mul)
{
    const struct ptxi_ir_inst *i = &c->ir->insts[n];
    const struct type *type, *mul_type;
    enum kind k = kind_of(i, &type);

    kind_of(mul, &mul_type);

    if (i->guard != PTXI_NONE && i->v[PTXI_F_D] == v)
        return false; /* keeps the product where the guard does not hold */
    return (k == ADD || k == SUB) && type->mul == mul_type->mul && (i->mods & PTXI_MOD_FTZ) == (mul->mods & PTXI_MOD_FTZ) &&
           (i->v[PTXI_F_A] == v) != (i->v[PTXI_F_B] == v);
}

/* The other operand of an add is a product with one use. */
static bool prefers_other(struct contract *c, uint32_t n, uint32_t v)
{
    const struct ptxi_ir_inst *i = &c->ir->insts[n];
    uint32_t other = i->v[PTXI_F_A] == v ? i->v[PTXI_F_B] : i->v[PTXI_F_A];
    struct product q;

    return find_product(c, other, n, &q) && q.count == 1 && is_add_of(c, n, other, &c->ir->insts[q.mul]);
}

static bool can_fuse(struct contract *c, uint32_t v, uint32_t n, struct product *p)
{
    const struct type *type;

    if (!find_product(c, v, n, p))
        return false;
    kind_of(&c->ir->insts[p->mul], &type);
    for (uint32_t k = 0; k < p->count; k++) {
        uint32_t use = p->uses[k] / 2;

        /* one that is fused by now reads the factors, unless it adds this product to another */
        if (c->addend[use] != PTXI_NONE && c->addend[use] != v)
            continue;
        if (!is_add_of(c, use, v, &c->ir->insts[p->mul]) || (p->count > 1 && !type->packed && prefers_other(c, use, v)))
            return false;
    }
    return true;
}

/* --- fusing --- */

static uint32_t sign_constant(struct contract *c, const struct type *type)
{
    uint32_t *sign = &c->sign[type - types];

    if (*sign == PTXI_NONE)
        *sign = ptxi_ir_const(c->ir, type->class, type->sign);
    return *sign;
}

static uint32_t make(struct contract *c, uint32_t at, uint16_t op, enum ptxi_class class, uint32_t v, uint32_t w)
{
    return ptxi_ir_make(c->ir, &c->ins, at, op, 0, class, v, w);
}

/* v with its sign changed, or a copy of it, made before instruction `at`. */
static uint32_t derive(struct contract *c, uint32_t v, uint32_t at, const struct type *type, bool negate)
{
    static const uint16_t ops[2][PTXI_RC_COUNT] = {
        { [PTXI_RC_16] = PTXI_OP_mov_16, [PTXI_RC_32] = PTXI_OP_mov_32, [PTXI_RC_64] = PTXI_OP_mov_64 },
        { [PTXI_RC_16] = PTXI_OP_xor_b16, [PTXI_RC_32] = PTXI_OP_xor_b32, [PTXI_RC_64] = PTXI_OP_xor_b64 },
    };

    if (negate && c->ir->vregs[v].kind == PTXI_VR_CONST)
        return ptxi_ir_const(c->ir, type->class, c->ir->vregs[v].value ^ type->sign);
    return make(c, at, ops[negate][type->class], type->class, v, negate ? sign_constant(c, type) : PTXI_NONE);
}

/* A quotient becomes the product that it ends with. */
static void expand(struct contract *c, uint32_t n)
{
    const struct quotient *q = quotient_of(&c->ir->insts[n]);
    uint32_t a = c->ir->insts[n].v[PTXI_F_A], b = c->ir->insts[n].v[PTXI_F_B], scale, r;
    struct ptxi_ir_inst *i;

    if (!q)
        return;
    if (q->of_one)
        b = a;
    if (q->scale) {
        scale = make(c, n, q->scale, PTXI_RC_32, b, PTXI_NONE);
        a = q->of_one ? scale : make(c, n, q->mul, PTXI_RC_32, a, scale);
        b = make(c, n, q->mul, PTXI_RC_32, b, scale);
    }
    r = make(c, n, PTXI_OP_rcp_approx_f32_ftz, PTXI_RC_32, b, PTXI_NONE);
    i = &c->ir->insts[n];
    i->op = q->mul;
    i->v[PTXI_F_A] = a;
    i->v[PTXI_F_B] = r;
    i->reads = 1u << PTXI_F_A | 1u << PTXI_F_B;
    i->flags |= PTXI_IF_FUSABLE;
}

/* A factor as it was at the mul, with changed sign if asked. */
static uint32_t factor(struct contract *c, uint32_t v, const struct product *p, uint32_t n, const struct type *type, bool negate)
{
    if (!negate && is_kept(c, v, p->mul, n))
        return v;
    return derive(c, v, p->mul, type, negate);
}

static bool all_fused(const struct contract *c, const struct product *p)
{
    uint32_t v = c->ir->insts[p->mul].v[PTXI_F_D];

    for (uint32_t k = 0; k < p->count; k++)
        if (c->addend[p->uses[k] / 2] == PTXI_NONE || c->addend[p->uses[k] / 2] == v)
            return false;
    return true;
}

/* Nobody needs the product any more. */
static void drop(struct contract *c, uint32_t mul)
{
    struct ptxi_ir_inst *i = &c->ir->insts[mul];

    i->op = PTXI_OP_nop; /* still counted as an instruction */
    i->reads = i->writes = 0;
    i->flags &= ~PTXI_IF_FUSABLE;
}

/* Which NaN comes out of a fused f64 operation: the factors are those of the product, and neg does not change a NaN's sign. */
static uint16_t nan_mods(uint16_t add, uint16_t mul, bool minus_a, bool minus_c)
{
    uint16_t factors = PTXI_MOD_LATER_A | PTXI_MOD_MINUS_A;

    return (uint16_t)((add & ~factors) | ((mul & factors) ^ (minus_a ? PTXI_MOD_MINUS_A : 0)) | (minus_c ? PTXI_MOD_MINUS_C : 0));
}

/* a*b + c, c + a*b; a*b - c = fma(a, b, -c); c - a*b = fma(-a, b, c). */
static void fuse(struct contract *c, uint32_t n, uint32_t v, const struct product *p)
{
    const struct type *type;
    bool first = c->ir->insts[n].v[PTXI_F_A] == v, sub = kind_of(&c->ir->insts[n], &type) == SUB;
    uint32_t other = c->ir->insts[n].v[first ? PTXI_F_B : PTXI_F_A];
    uint32_t a = factor(c, c->ir->insts[p->mul].v[PTXI_F_A], p, n, type, sub && !first);
    uint32_t b = factor(c, c->ir->insts[p->mul].v[PTXI_F_B], p, n, type, false);
    struct ptxi_ir_inst *i = &c->ir->insts[n];

    c->addend[n] = other;
    if (sub && first)
        other = derive(c, other, n, type, true);
    i->op = type->fma;
    if (type->fma == PTXI_OP_fma_f64)
        i->mods = nan_mods(i->mods, c->ir->insts[p->mul].mods, sub && !first, sub && first);
    i->v[PTXI_F_A] = a;
    i->v[PTXI_F_B] = b;
    i->v[PTXI_F_C] = other;
    i->reads |= 1u << PTXI_F_C;
    i->flags &= ~PTXI_IF_FUSABLE;
    if (all_fused(c, p))
        drop(c, p->mul);
}

static void try_add(struct contract *c, uint32_t n)
{
    const struct ptxi_ir_inst *i = &c->ir->insts[n];
    struct product pa, pb;
    uint32_t a = i->v[PTXI_F_A], b = i->v[PTXI_F_B];
    bool fuse_a = can_fuse(c, a, n, &pa), fuse_b = can_fuse(c, b, n, &pb);

    if (fuse_a && fuse_b && pb.count == 1 && pa.count > 1)
        fuse_a = false;
    if (!fuse_a && !fuse_b)
        return;
    expand(c, (fuse_a ? &pa : &pb)->mul);
    fuse(c, n, fuse_a ? a : b, fuse_a ? &pa : &pb);
}

/* --- products with their sign changed --- */

/* neg.ftz.f32: no change of sign alone. */
static bool flushes(const struct ptxi_ir_inst *neg)
{
    return neg->op == PTXI_OP_neg_f32_ftz;
}

/* It is a sum with -0 itself if the product has no other use: then it may have uses of any kind. */
static bool sums_up(const struct ptxi_ir_inst *neg, const struct product *p)
{
    return flushes(neg) && p->count == 1;
}

static bool reads(const struct contract *c, uint32_t n, uint32_t v)
{
    struct ptxi_ir_walk r = ptxi_ir_reads(c->ir, &c->ir->insts[n]);
    uint32_t read;

    while (ptxi_ir_next(&r, &read))
        if (read == v)
            return true;
    return false;
}

static bool adds_both(const struct contract *c, uint32_t n, uint32_t v, uint32_t w)
{
    const struct ptxi_ir_inst *i = &c->ir->insts[n];

    return (i->v[PTXI_F_A] == v && i->v[PTXI_F_B] == w) || (i->v[PTXI_F_A] == w && i->v[PTXI_F_B] == v);
}

/* A sum to which the product could as well be added with another sign as what the neg makes of it. */
static bool is_add_of_neg(const struct contract *c, uint32_t n, const struct ptxi_ir_inst *neg, const struct ptxi_ir_inst *mul)
{
    uint32_t d = neg->v[PTXI_F_D];

    return is_add_of(c, n, d, mul) && !(flushes(neg) && is_kind(&c->ir->insts[n], SUB) && c->ir->insts[n].v[PTXI_F_B] == d);
}

/* A neg of product v, to whose sums the product itself could as well be added with another sign; *sums are its uses. */
static bool is_neg_of(struct contract *c, uint32_t n, uint32_t v, const struct product *p, struct product *sums)
{
    const struct ptxi_ir_inst *i = &c->ir->insts[n], *mul = &c->ir->insts[p->mul];
    const struct type *type;
    uint32_t adds = 0;

    kind_of(mul, &type);
    if ((i->op != type->neg && i->op != type->neg_same) || i->guard != PTXI_NONE || i->flags & PTXI_IF_DEAD || i->v[PTXI_F_A] != v)
        return false;
    if ((i->mods & PTXI_MOD_FTZ && !flushes(i)) || !is_kept(c, mul->v[PTXI_F_A], p->mul, n) || !is_kept(c, mul->v[PTXI_F_B], p->mul, n))
        return false;
    if (!find_uses(c, i->v[PTXI_F_D], access_after(c, i->v[PTXI_F_D], n) - 1, mul, sums))
        return false;
    for (uint32_t k = 0; k < sums->count; k++) {
        if (adds_both(c, sums->uses[k] / 2, v, i->v[PTXI_F_D]))
            return false;
        adds += is_add_of_neg(c, sums->uses[k] / 2, i, mul);
    }
    return adds && (adds == sums->count || sums_up(i, p));
}

/* Whether all uses of product v are sums, some of them by way of a neg, none of which prefers its other operand. */
static bool all_sums(struct contract *c, uint32_t v, const struct product *p)
{
    const struct ptxi_ir_inst *mul = &c->ir->insts[p->mul];
    const struct type *type;
    bool prefers = false;
    uint32_t count = 0;

    kind_of(mul, &type);
    for (uint32_t k = 0; k < p->count; k++) {
        uint32_t use = p->uses[k] / 2;
        struct product sums;

        if (!reads(c, use, v))
            continue; /* was a neg */
        if (is_add_of(c, use, v, mul)) {
            prefers |= prefers_other(c, use, v);
            count++;
            continue;
        }
        if (!is_neg_of(c, use, v, p, &sums))
            return false;
        for (uint32_t s = 0; s < sums.count; s++)
            prefers |= prefers_other(c, sums.uses[s] / 2, c->ir->insts[use].v[PTXI_F_D]);
        count += sums.count;
    }
    return count < 2 || type->packed || !prefers;
}

/* Each sum of the neg gets a product of its own; true if nothing else uses it. */
static bool split(struct contract *c, uint32_t n, const struct product *sums, uint32_t mul)
{
    const struct ptxi_ir_inst *factors = &c->ir->insts[mul], *neg = &c->ir->insts[n];
    const struct type *type;
    bool all = true;

    kind_of(factors, &type);
    for (uint32_t k = 0; k < sums->count; k++) {
        struct ptxi_ir_inst *add = &c->ir->insts[sums->uses[k] / 2];
        uint32_t own;

        if (!is_add_of_neg(c, sums->uses[k] / 2, neg, factors)) {
            all = false;
            continue;
        }
        own = make(c, n, factors->op, type->class, derive(c, factors->v[PTXI_F_A], n, type, true), factors->v[PTXI_F_B]);
        if (c->ir->oom)
            return false;
        c->ins.list[c->ins.count - 1].inst.flags |= PTXI_IF_FUSABLE;
        c->ins.list[c->ins.count - 1].inst.mods = factors->mods;
        add->v[add->v[PTXI_F_A] == neg->v[PTXI_F_D] ? PTXI_F_A : PTXI_F_B] = own;
    }
    return all;
}

/* The neg becomes a product of its own, or one for each of its sums. */
static bool try_neg(struct contract *c, uint32_t n)
{
    uint32_t v = c->ir->insts[n].v[PTXI_F_A];
    const struct ptxi_ir_inst *mul;
    const struct type *type;
    struct ptxi_ir_inst *i;
    struct product p, sums;

    if (!find_product(c, v, n, &p) || !is_neg_of(c, n, v, &p, &sums))
        return false;
    if (!sums_up(&c->ir->insts[n], &p) && !all_sums(c, v, &p))
        return false;
    expand(c, p.mul);
    if (sums_up(&c->ir->insts[n], &p) && sums.count > 1) {
        if (split(c, n, &sums, p.mul)) {
            drop(c, n);
            drop(c, p.mul);
        }
        return true;
    }
    mul = &c->ir->insts[p.mul];
    kind_of(mul, &type);
    i = &c->ir->insts[n];
    i->op = mul->op;
    i->mods = type->mul == PTXI_OP_mul_f64 ? nan_mods(0, mul->mods, true, false) : mul->mods;
    i->v[PTXI_F_A] = derive(c, mul->v[PTXI_F_A], n, type, true);
    i->v[PTXI_F_B] = mul->v[PTXI_F_B];
    i->reads = 1u << PTXI_F_A | 1u << PTXI_F_B;
    i->flags |= PTXI_IF_FUSABLE;
    for (uint32_t k = 0; k < p.count; k++)
        if (reads(c, p.uses[k] / 2, v))
            return true;
    drop(c, p.mul);
    return true;
}

static bool is_neg(const struct ptxi_ir_inst *i)
{
    for (unsigned t = 0; t < TYPES; t++)
        if (i->op == types[t].neg)
            return true;
    return false;
}

static bool turn_negs(struct contract *c)
{
    bool any = false;

    for (uint32_t n = 0; n < c->ir->count && !c->ir->oom; n++)
        if (is_neg(&c->ir->insts[n]))
            any |= try_neg(c, n);
    return any;
}

/* --- products of products and powers of two --- */

/* The operand of a mul of f32 that is not the constant 8, 4, 2, 1/2, 1/4 or 1/8; PTXI_NONE: there is none such. */
static uint32_t scaled_operand(const struct contract *c, const struct ptxi_ir_inst *i, uint32_t *power)
{
    for (unsigned f = PTXI_F_A; f <= PTXI_F_B; f++) {
        const struct ptxi_vreg *r = &c->ir->vregs[i->v[f]];

        *power = i->v[f];
        if (r->kind == PTXI_VR_CONST && !(r->value & 0x7fffff) && r->value >= 0x3e000000 && r->value <= 0x41000000 && r->value != 0x3f800000)
            return i->v[f == PTXI_F_A ? PTXI_F_B : PTXI_F_A];
    }
    return PTXI_NONE;
}

static bool is_mul_f32(const struct ptxi_ir_inst *i)
{
    if (i->flags & PTXI_IF_DEAD || i->mods & PTXI_MOD_RND_MASK)
        return false;
    return i->op == PTXI_OP_mul_f32 || i->op == PTXI_OP_mul_f32_ftz || i->op == PTXI_OP_mul_f32_x || i->op == PTXI_OP_mul_f32_ftz_x;
}

/* Whether the product is a flush, which is no product to ptxas. */
static bool is_flush(const struct contract *c, const struct ptxi_ir_inst *mul)
{
    for (unsigned f = PTXI_F_A; f <= PTXI_F_B; f++) {
        const struct ptxi_vreg *r = &c->ir->vregs[mul->v[f]];

        if (mul->op == PTXI_OP_mul_f32_ftz && r->kind == PTXI_VR_CONST && (r->value & 0x7fffffff) == 0x3f800000)
            return true;
    }
    return false;
}

static void try_scale(struct contract *c, uint32_t n)
{
    struct ptxi_ir_inst *i = &c->ir->insts[n];
    uint32_t power, v = scaled_operand(c, i, &power), a, b, d;
    bool ftz = i->op == PTXI_OP_mul_f32_ftz || i->op == PTXI_OP_mul_f32_ftz_x;
    uint16_t op = ftz ? PTXI_OP_mul_scaled_f32_ftz : PTXI_OP_mul_scaled_f32;
    const struct type *type;
    struct product p;

    if (v == PTXI_NONE || !find_product(c, v, n, &p) || p.count != 1 || is_flush(c, &c->ir->insts[p.mul]))
        return;
    kind_of(&c->ir->insts[p.mul], &type);
    if (type->mul != PTXI_OP_mul_f32 && type->mul != PTXI_OP_mul_f32_ftz)
        return;
    expand(c, p.mul);
    a = factor(c, c->ir->insts[p.mul].v[PTXI_F_A], &p, n, type, false);
    b = factor(c, c->ir->insts[p.mul].v[PTXI_F_B], &p, n, type, false);
    i->flags &= (uint16_t)~PTXI_IF_FUSABLE;
    if (i->mods & PTXI_MOD_SAT) {
        d = make(c, n, op, PTXI_RC_32, a, b);
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
    drop(c, p.mul);
}

static bool prepare(struct contract *c, struct ptxi_ir *ir)
{
    *c = (struct contract){ .ir = ir, .vregs = ir->vreg_count };
    memset(c->sign, 0xff, sizeof c->sign);
    c->zone = ARENA_NEW(ir->arena, uint32_t, ir->count);
    c->first = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count + 2);
    c->addend = ARENA_NEW(ir->arena, uint32_t, ir->count);
    c->seen = ARENA_NEW(ir->arena, uint32_t, ir->block_count);
    c->stack = ARENA_NEW(ir->arena, uint32_t, ir->block_count);
    if (!c->zone || !c->addend || !c->first || !c->seen || !c->stack || !collect(c) || !find_outside(c))
        return !(ir->oom = true);
    memset(c->addend, 0xff, ir->count * sizeof *c->addend);
    find_stretches(c);
    return true;
}

bool ptxi_contract(struct ptxi_ir *ir)
{
    struct contract c;
    bool any = false;

    for (uint32_t n = 0; n < ir->count && !any; n++)
        any = is_kind(&ir->insts[n], MUL);
    if (!any)
        return true;
    if (!prepare(&c, ir))
        return false;
    if (turn_negs(&c) && (!ptxi_ir_insert(ir, &c.ins) || !prepare(&c, ir)))
        return false;
    for (uint32_t n = 0; n < ir->count && !ir->oom; n++)
        if (is_kind(&ir->insts[n], ADD) || is_kind(&ir->insts[n], SUB))
            try_add(&c, n);
    for (uint32_t n = 0; n < ir->count && !ir->oom; n++)
        if (is_mul_f32(&ir->insts[n]))
            try_scale(&c, n);
    return !ir->oom && ptxi_ir_insert(ir, &c.ins);
}
