/* Simplifications of ptxas that bits depend on. For example, an operation that would have made a NaN canonical or quiet
 * is deleted, and the NaN passes through.
 *
 * The rules were found by reading what ptxas 13.0 makes of small kernels for sm_90, with and without contraction:
 *
 *   - x * 1 is x and x * -1 is neg x, if the mul has no modifier (f32, f64, f16, bf16).
 *   - neg of neg x is x (f32, f64, f16, f16x2, bf16); min and max of x and x are x (f32, f64, f16); both without
 *     modifiers.
 *   - rcp.approx.ftz of rcp.approx.ftz x is x; y div.approx.ftz (rcp.approx.ftz x) is the product of y and x.
 *   - max(min(x, 1), 0) and min(max(x, 0), 1) of f32 and f16 saturate x, so that a NaN gives 0 in both.
 *   - neg and abs of f32 without .ftz are part of a selp or slct of type .f32. There they change only the sign, also
 *     that of a NaN. The same holds for guarded neg and abs, which are selections themselves.
 *   - neg of f32, f16 and bf16, and abs of f32 and f16, without .ftz, are part of a conversion to f64. There they keep
 *     the sign of a NaN.
 *   - neg.ftz and abs.ftz of f16 are part of a conversion of 16 bits to an integer towards zero, which then rounds to
 *     nearest.
 *   - A conversion from f16 or bf16 to f16 or bf16 without .sat is deleted before a conversion to an integer towards
 *     zero, which then has the operand and the rounding of the deleted one.
 *   - A conversion to an integer and one of its result that saturates to half as many bits become one conversion: for
 *     f32 from 32 bits to 16, with any signs and without .ftz, and for f32, f16 and bf16 from 64 bits to 32, if both
 *     have the same sign.
 *   - neg and abs of f32 without .ftz change only the sign if a guarded operation of f32 (a selection) may leave their
 *     result in place.
 *   - x minus a constant of f64 is x plus the constant with its sign changed, also if the constant is a NaN.
 *   - max(min(x, 1), 0) of f64 is min(max(x, 0), 1).
 *   - Approximations of constants are folded as in fold_approx.h. div.approx and div.full by a constant are products
 *     with its reciprocal.
 *   - neg and abs of a constant NaN change its sign (f32, f64, f16x2 without .ftz). Sums and products of f32 constants
 *     are constants, and so are conversions of f32 constants to f16 and bf16.
 *   - A constant NaN becomes canonical when it is widened from bf16, or converted between f16 or bf16 and f64, to
 *     nearest.
 *   - bfe.s32 of a constant field outside the register is -1. bfi.b32 into a register takes a constant length modulo
 *     32, unless the field begins at a byte.
 *   - slct.s32.s32 by a constant treats the constant as an f32.
 *
 * Values are followed within a block. */
#include "compile/optimize/optimize.h"

#include "compile/optimize/fold_approx.h"
#include "isa/isa.h"
#include "num/approx.h"
#include "num/float.h"
#include "num/half.h"

#include <assert.h>
#include <fenv.h>
#include <math.h>

static const struct type {
    uint16_t mul, neg;
    uint16_t twice;    /* an operation that is its own inverse */
    uint16_t min, max;
    bool same;         /* min and max of x and x are x */
    uint16_t sat;      /* an addition that may saturate, which replaces a clamp; 0: clamps are kept */
    uint16_t mov, mods;
    enum ptxi_class class;
    uint64_t one, sign;
} types[] = {
#define ALL(type, sat, n, one, sign) \
    { PTXI_OP_mul_##type, PTXI_OP_neg_##type, PTXI_OP_neg_##type, PTXI_OP_min_##type, PTXI_OP_max_##type, true, \
      sat, PTXI_OP_mov_##n, 0, PTXI_RC_##n, one, sign }
    ALL(f32, PTXI_OP_add_f32_x, 32, 0x3f800000, 0x80000000),
    ALL(f64, 0, 64, 0x3ff0000000000000, 0x8000000000000000),
    ALL(f16, PTXI_OP_add_f16, 16, 0x3c00, 0x8000),
#undef ALL
    { PTXI_OP_mul_bf16, PTXI_OP_neg_bf16, PTXI_OP_neg_bf16, 0, 0, false, 0, PTXI_OP_mov_16, 0, PTXI_RC_16, 0x3f80,
      0x8000 },
    { .min = PTXI_OP_min_f32_ftz, .max = PTXI_OP_max_f32_ftz, .sat = PTXI_OP_add_f32_ftz_x, .mods = PTXI_MOD_FTZ,
      .class = PTXI_RC_32,
      .one = 0x3f800000, .sign = 0x80000000 },
    { .twice = PTXI_OP_neg_f16x2, .mov = PTXI_OP_mov_32 },
    { .twice = PTXI_OP_rcp_approx_f32_ftz, .mov = PTXI_OP_mov_32, .mods = PTXI_MOD_FTZ },
};

struct simplifier {
    struct ptxi_ir *ir;
    uint32_t vregs; /* number of registers before this pass */
    uint32_t begin; /* first instruction of the block */
    /* per register: number of writes so far; 1 + the last instruction that wrote it; the versions of that instruction's
     * operands */
    uint32_t *version, *maker, *version_a, *version_b;
    struct ptxi_ir_insertions ins;
    uint32_t sign, magnitude; /* constants, PTXI_NONE until needed */
    bool any;
};

static uint32_t version(const struct simplifier *c, uint32_t v)
{
    return v < c->vregs ? c->version[v] : 0; /* registers of this pass are written once */
}

/* The instruction of this block that made v, if its operands still have the same values; else NULL. */
static struct ptxi_ir_inst *find_maker(const struct simplifier *c, uint32_t v)
{
    struct ptxi_ir_inst *i = v < c->vregs && c->maker[v] > c->begin ? &c->ir->insts[c->maker[v] - 1] : NULL;

    if (!i || i->guard != PTXI_NONE || !(i->reads >> PTXI_F_A & 1) || version(c, i->v[PTXI_F_A]) != c->version_a[v])
        return NULL;
    return i->reads >> PTXI_F_B & 1 && version(c, i->v[PTXI_F_B]) != c->version_b[v] ? NULL : i;
}

/* The same, if it is that operation with those mods. */
static struct ptxi_ir_inst *maker_of_kind(const struct simplifier *c, uint32_t v, uint16_t op, uint16_t mods)
{
    struct ptxi_ir_inst *i = op ? find_maker(c, v) : NULL;

    return i && i->op == op && i->mods == mods ? i : NULL;
}

/* The constant that v is or was set to; NULL: v is not a known constant. */
static const struct ptxi_vreg *known_constant(const struct simplifier *c, uint32_t v)
{
    static const uint16_t movs[PTXI_RC_COUNT] = { [PTXI_RC_16] = PTXI_OP_mov_16, [PTXI_RC_32] = PTXI_OP_mov_32,
                                                  [PTXI_RC_64] = PTXI_OP_mov_64 };
    const struct ptxi_ir_inst *mov = v == PTXI_NONE ? NULL : maker_of_kind(c, v, movs[c->ir->vregs[v].class], 0);

    v = mov ? mov->v[PTXI_F_A] : v;
    return v != PTXI_NONE && c->ir->vregs[v].kind == PTXI_VR_CONST ? &c->ir->vregs[v] : NULL;
}

static bool is_const(const struct simplifier *c, uint32_t v, uint64_t value)
{
    const struct ptxi_vreg *r = known_constant(c, v);

    return r && r->value == value;
}

/* Replaces an instruction by a pure operation of a and b, without modifiers. */
static void replace(struct simplifier *c, struct ptxi_ir_inst *i, uint16_t op, uint32_t a, uint32_t b)
{
    i->op = op;
    i->v[PTXI_F_A] = a;
    i->v[PTXI_F_B] = b;
    i->reads = (uint8_t)(1u << PTXI_F_A | (b == PTXI_NONE ? 0 : 1u << PTXI_F_B));
    i->flags &= (uint16_t)~PTXI_IF_FUSABLE;
    i->mods = 0;
    c->any = true;
}

static void try_mul(struct simplifier *c, struct ptxi_ir_inst *i, const struct type *t)
{
    uint32_t a = i->v[PTXI_F_A], b = i->v[PTXI_F_B];
    const struct ptxi_ir_inst *j;

    if (!(i->flags & PTXI_IF_FUSABLE))
        return;
    if (is_const(c, a, t->one) || is_const(c, a, t->one | t->sign)) {
        a = b;
        b = i->v[PTXI_F_A];
    }
    if (is_const(c, b, t->one))
        replace(c, i, t->mov, a, PTXI_NONE);
    else if (is_const(c, b, t->one | t->sign) && (j = maker_of_kind(c, a, t->twice, t->mods)))
        replace(c, i, t->mov, j->v[PTXI_F_A], PTXI_NONE);
    else if (is_const(c, b, t->one | t->sign))
        replace(c, i, t->neg, a, PTXI_NONE);
}

/* The other operand of `i` if one is the constant; else PTXI_NONE. */
static uint32_t operand_beside(const struct simplifier *c, const struct ptxi_ir_inst *i, uint64_t value)
{
    if (is_const(c, i->v[PTXI_F_B], value))
        return i->v[PTXI_F_A];
    return is_const(c, i->v[PTXI_F_A], value) ? i->v[PTXI_F_B] : PTXI_NONE;
}

/* outer(inner(x, in), out) clamps x to 0 ... 1. */
static bool try_clamp(struct simplifier *c, struct ptxi_ir_inst *i, const struct type *t, uint16_t inner, uint64_t in,
                      uint64_t out)
{
    uint32_t v = operand_beside(c, i, out), x;
    const struct ptxi_ir_inst *first = v == PTXI_NONE ? NULL : maker_of_kind(c, v, inner, t->mods);

    if (!first || (x = operand_beside(c, first, in)) == PTXI_NONE)
        return false;
    replace(c, i, t->sat, x, ptxi_ir_const(c->ir, t->class, 0));
    i->mods = t->mods | PTXI_MOD_SAT;
    return true;
}

static void try_type(struct simplifier *c, struct ptxi_ir_inst *i, const struct type *t)
{
    const struct ptxi_ir_inst *j = i->op == t->twice ? maker_of_kind(c, i->v[PTXI_F_A], t->twice, t->mods) : NULL;

    if (i->mods != t->mods)
        return;
    if (j)
        replace(c, i, t->mov, j->v[PTXI_F_A], PTXI_NONE);
    else if (t->mul && i->op == t->mul)
        try_mul(c, i, t);
    else if (t->min && (i->op == t->min || i->op == t->max)) {
        if (t->same && i->v[PTXI_F_A] == i->v[PTXI_F_B])
            replace(c, i, t->mov, i->v[PTXI_F_A], PTXI_NONE);
        else if (t->sat && i->op == t->min && !try_clamp(c, i, t, t->max, 0, t->one))
            try_clamp(c, i, t, t->max, t->sign, t->one);
        else if (t->sat && i->op == t->max && !try_clamp(c, i, t, t->min, t->one, 0))
            try_clamp(c, i, t, t->min, t->one, t->sign);
    }
}

static uint32_t make(struct simplifier *c, uint32_t n, uint16_t op, uint16_t mods, enum ptxi_class class, uint32_t a,
                     uint32_t b)
{
    return ptxi_ir_make(c->ir, &c->ins, n, op, mods, class, a, b);
}

/* neg and abs are part of a conversion to f64, which keeps the sign of a NaN. neg and abs of an f64 keep it, too. */
static void try_widen(struct simplifier *c, uint32_t n)
{
    static const struct { uint16_t cvt, neg, abs; } table[] = {
        { PTXI_OP_cvt_f64_f32, PTXI_OP_neg_f32, PTXI_OP_abs_f32 },
        { PTXI_OP_cvt_f64_f16, PTXI_OP_neg_f16, PTXI_OP_abs_f16 },
        { PTXI_OP_cvt_f64_bf16, PTXI_OP_neg_bf16, 0 },
    };
    struct ptxi_ir_inst *i = &c->ir->insts[n];
    const struct ptxi_ir_inst *neg, *abs;
    uint16_t mods = i->mods;
    uint32_t v;

    for (unsigned k = 0; k < sizeof table / sizeof *table; k++) {
        if (i->op != table[k].cvt || mods & (PTXI_MOD_FTZ | PTXI_MOD_SAT))
            continue;
        v = i->v[PTXI_F_A];
        neg = maker_of_kind(c, v, table[k].neg, 0);
        abs = maker_of_kind(c, v = neg ? neg->v[PTXI_F_A] : v, table[k].abs, 0);
        if (!neg && !abs)
            return;
        v = make(c, n, table[k].cvt, mods, PTXI_RC_64, abs ? abs->v[PTXI_F_A] : v, PTXI_NONE);
        if (neg && abs)
            v = make(c, n, PTXI_OP_abs_f64, 0, PTXI_RC_64, v, PTXI_NONE);
        replace(c, i, neg ? PTXI_OP_neg_f64 : PTXI_OP_abs_f64, v, PTXI_NONE);
        return;
    }
}

static bool is_integer_of_half(uint16_t op)
{
    switch (op) {
#define TO(t) case PTXI_OP_cvt_##t##_f16: case PTXI_OP_cvt_##t##_bf16:
    TO(u8) TO(u16) TO(u32) TO(u64) TO(s8) TO(s16) TO(s32) TO(s64) return true;
#undef TO
    default: return false;
    }
}

static bool is_half_of_half(const struct ptxi_ir_inst *i)
{
    switch (i->op) {
    case PTXI_OP_cvt_f16_f16: case PTXI_OP_cvt_f16_bf16: case PTXI_OP_cvt_bf16_f16: case PTXI_OP_cvt_bf16_bf16:
    case PTXI_OP_cvt_rint_f16: case PTXI_OP_cvt_rint_bf16: return !(i->mods & PTXI_MOD_SAT);
    default: return false;
    }
}

/* Of two roundings of 16 bits, the second being towards zero, only the first is performed. */
static void try_rounding(struct simplifier *c, struct ptxi_ir_inst *i)
{
    enum { TOWARDS_ZERO = 1 << PTXI_MOD_RND_SHIFT };
    const struct ptxi_ir_inst *first;

    if (!is_integer_of_half(i->op) || (i->mods & PTXI_MOD_RND_MASK) != TOWARDS_ZERO ||
        !(first = find_maker(c, i->v[PTXI_F_A])))
        return;
    if (first->mods == PTXI_MOD_FTZ && (first->op == PTXI_OP_neg_f16 || first->op == PTXI_OP_abs_f16)) {
        i->mods &= (uint16_t)~PTXI_MOD_RND_MASK;
    } else if (is_half_of_half(first)) {
        i->mods = (uint16_t)((i->mods & ~PTXI_MOD_RND_MASK) | (first->mods & PTXI_MOD_RND_MASK));
        i->v[PTXI_F_A] = first->v[PTXI_F_A];
        c->any = true;
    }
}

/* An integer of a float, saturated to half as many bits. */
static void try_narrow(struct simplifier *c, struct ptxi_ir_inst *i)
{
    static const struct { uint16_t sat, first, both, mods; } table[] = {
#define NARROW(d, s, f, mods) { PTXI_OP_cvt_sat_##d##_##s, PTXI_OP_cvt_##s##_##f, PTXI_OP_cvt_##d##_##f, mods }
#define HALF(d, s) NARROW(d, s, f32, PTXI_MOD_RND_MASK)
#define WORD(d, s) \
    NARROW(d, s, f32, PTXI_MOD_RND_MASK | PTXI_MOD_FTZ), NARROW(d, s, f16, PTXI_MOD_RND_MASK), \
    NARROW(d, s, bf16, PTXI_MOD_RND_MASK)
        WORD(s32, s64), WORD(u32, u64), HALF(s16, s32), HALF(s16, u32), HALF(u16, s32), HALF(u16, u32),
#undef WORD
#undef HALF
#undef NARROW
    };
    const struct ptxi_ir_inst *first = i->reads == 1u << PTXI_F_A ? find_maker(c, i->v[PTXI_F_A]) : NULL;

    for (unsigned k = 0; first && k < sizeof table / sizeof *table; k++) {
        uint16_t mods = first->mods & table[k].mods;

        if (i->op != table[k].sat || first->op != table[k].first)
            continue;
        replace(c, i, table[k].both, first->v[PTXI_F_A], PTXI_NONE);
        i->mods = mods;
        return;
    }
}

/* max(min(x, 1), 0) of f64 is min(max(x, 0), 1), which differs for a NaN. */
static void try_swap_clamp(struct simplifier *c, uint32_t n)
{
    static const uint64_t one = 0x3ff0000000000000;
    struct ptxi_ir_inst *i = &c->ir->insts[n];
    uint32_t v = i->op == PTXI_OP_max_f64 ? operand_beside(c, i, 0) : PTXI_NONE, x;
    const struct ptxi_ir_inst *min = v == PTXI_NONE ? NULL : maker_of_kind(c, v, PTXI_OP_min_f64, 0);

    if (!min || (x = operand_beside(c, min, one)) == PTXI_NONE)
        return;
    x = make(c, n, PTXI_OP_max_f64, 0, PTXI_RC_64, x, ptxi_ir_const(c->ir, PTXI_RC_64, 0));
    replace(c, i, PTXI_OP_min_f64, x, ptxi_ir_const(c->ir, PTXI_RC_64, one));
}

/* --- constants --- */

static void try_difference(struct simplifier *c, struct ptxi_ir_inst *i)
{
    const struct ptxi_vreg *b = i->op == PTXI_OP_sub_f64 ||
        i->op == PTXI_OP_sub_f64_x ? &c->ir->vregs[i->v[PTXI_F_B]] : NULL;

    if (!b || b->kind != PTXI_VR_CONST || b->value << 1 <= 0xffe0000000000000)
        return;
    i->op = i->op == PTXI_OP_sub_f64 ? PTXI_OP_add_f64 : PTXI_OP_add_f64_x;
    i->v[PTXI_F_B] = ptxi_ir_const(c->ir, PTXI_RC_64, b->value ^ 0x8000000000000000);
}

static bool get_constant(const struct simplifier *c, uint32_t v, uint32_t *bits)
{
    const struct ptxi_vreg *r = known_constant(c, v);

    *bits = r ? (uint32_t)r->value : 0;
    return r;
}

/* The sign of a constant NaN changes, too. A NaN of f32 becomes quiet. */
static void try_sign(struct simplifier *c, struct ptxi_ir_inst *i)
{
    static const struct { uint16_t neg, abs, mov; enum ptxi_class class; uint64_t sign, infinity, quiet; } table[] = {
        { PTXI_OP_neg_f32, PTXI_OP_abs_f32, PTXI_OP_mov_32, PTXI_RC_32, 0x80000000, 0x7f800000, 0x00400000 },
        { PTXI_OP_neg_f32_ftz, PTXI_OP_abs_f32_ftz, PTXI_OP_mov_32, PTXI_RC_32, 0x80000000, 0x7f800000, 0x00400000 },
        { PTXI_OP_neg_f64, PTXI_OP_abs_f64, PTXI_OP_mov_64, PTXI_RC_64, 0x8000000000000000, 0x7ff0000000000000, 0 },
        { PTXI_OP_neg_f16x2, PTXI_OP_abs_f16x2, PTXI_OP_mov_32, PTXI_RC_32, 0x80008000, 0, 0 },
    };

    for (unsigned k = 0; k < sizeof table / sizeof *table; k++) {
        const struct ptxi_vreg *r = i->op == table[k].neg ||
            i->op == table[k].abs ? known_constant(c, i->v[PTXI_F_A]) : NULL;
        uint64_t sign = table[k].sign;

        if (!r || (r->value & ~sign) <= table[k].infinity || (!table[k].infinity && i->mods))
            continue;
        sign = i->op == table[k].neg ? r->value ^ sign : r->value & ~sign;
        replace(c, i, table[k].mov, ptxi_ir_const(c->ir, table[k].class, sign | table[k].quiet), PTXI_NONE);
        return;
    }
}

/* Conversions to nearest in which a constant NaN becomes canonical. */
static void try_nan(struct simplifier *c, struct ptxi_ir_inst *i)
{
    static const struct { uint16_t op, mov; enum ptxi_class class; uint64_t infinity, sign, nan; } table[] = {
        { PTXI_OP_cvt_f32_bf16, PTXI_OP_mov_32, PTXI_RC_32, 0x7f80, 0x8000, 0x7fffffff },
        { PTXI_OP_cvt_f64_bf16, PTXI_OP_mov_64, PTXI_RC_64, 0x7f80, 0x8000, 0x7fffffffe0000000 },
        { PTXI_OP_cvt_f64_f16, PTXI_OP_mov_64, PTXI_RC_64, 0x7c00, 0x8000, 0x7fffffffe0000000 },
        { PTXI_OP_cvt_f16_f64, PTXI_OP_mov_16, PTXI_RC_16, 0x7ff0000000000000, 0x8000000000000000, 0x7fff },
        { PTXI_OP_cvt_bf16_f64, PTXI_OP_mov_16, PTXI_RC_16, 0x7ff0000000000000, 0x8000000000000000, 0x7fff },
    };

    for (unsigned k = 0; k < sizeof table / sizeof *table; k++) {
        bool fits = i->op == table[k].op && !(i->mods & (PTXI_MOD_SAT | PTXI_MOD_RND_MASK));
        const struct ptxi_vreg *r = fits ? known_constant(c, i->v[PTXI_F_A]) : NULL;

        if (r && (r->value & ~table[k].sign) > table[k].infinity) {
            replace(c, i, table[k].mov, ptxi_ir_const(c->ir, table[k].class, table[k].nan), PTXI_NONE);
            return;
        }
    }
}

static void try_field(struct simplifier *c, struct ptxi_ir_inst *i)
{
    uint32_t at, length;

    if (i->op == PTXI_OP_bfe_s32 && !known_constant(c, i->v[PTXI_F_A]) && get_constant(c, i->v[PTXI_F_B], &at) &&
        get_constant(c, i->v[PTXI_F_C], &length) &&
        at >= 32 && at <= 255 && length & 255)
        replace(c, i, PTXI_OP_mov_32, ptxi_ir_const(c->ir, PTXI_RC_32, UINT32_MAX), PTXI_NONE);
    if (i->op == PTXI_OP_bfi_b32 && !known_constant(c, i->v[PTXI_F_B]) && get_constant(c, i->v[PTXI_F_C], &at) &&
        get_constant(c, i->v[PTXI_F_IMM], &length) &&
        at & 7 && length >= 32 && length <= 255)
        i->v[PTXI_F_IMM] = ptxi_ir_const(c->ir, PTXI_RC_32, length & 31);
}

static bool is_flushed(float x)
{
    return fabsf(x) <= 0x1p-126f;
}

/* Sums and products of constants are folded, so that approximations of them are folded, too. NaNs, and small numbers
 * with .ftz, are left to the GPU. */
static void try_constants(struct simplifier *c, struct ptxi_ir_inst *i)
{
    bool ftz = i->op == PTXI_OP_add_f32_ftz || i->op == PTXI_OP_sub_f32_ftz || i->op == PTXI_OP_mul_f32_ftz;
    uint32_t x, y;
    float a, b, r;

    if (i->reads != (1u << PTXI_F_A | 1u << PTXI_F_B) || !get_constant(c, i->v[PTXI_F_A], &x) ||
        !get_constant(c, i->v[PTXI_F_B], &y))
        return;
    a = ptxi_num_f32(x);
    b = ptxi_num_f32(y);
    switch (i->op) {
    case PTXI_OP_add_f32: case PTXI_OP_add_f32_ftz: r = a + b; break;
    case PTXI_OP_sub_f32: case PTXI_OP_sub_f32_ftz: r = a - b; break;
    case PTXI_OP_mul_f32: case PTXI_OP_mul_f32_ftz: r = a * b; break;
    default: return;
    }
    if (!isnan(r) && !(ftz && (is_flushed(a) || is_flushed(b) || is_flushed(r))))
        replace(c, i, PTXI_OP_mov_32, ptxi_ir_const(c->ir, PTXI_RC_32, ptxi_num_bits_f32(r)), PTXI_NONE);
}

/* The scale of both operands of a quotient, as bits of an f32; 0: the operation is not such a quotient. */
static uint32_t scale_of(uint16_t op, uint32_t divisor)
{
    switch (op) {
    case PTXI_OP_div_approx_f32: return ptxi_num_bits_f32(ptxi_num_div_approx_scale(divisor));
    case PTXI_OP_div_full_f32: return ptxi_num_bits_f32(ptxi_num_rcp_scale(divisor));
    case PTXI_OP_div_full_f32_ftz: return ptxi_num_div_full_ftz_scale(divisor);
    case PTXI_OP_div_approx_f32_ftz: return 0x3f800000;
    default: return 0;
    }
}

/* x / constant, and x / rcp y. */
static void try_quotient(struct simplifier *c, uint32_t n)
{
    struct ptxi_ir_inst *i = &c->ir->insts[n], *j;
    uint32_t divisor, scale, reciprocal, x = i->v[PTXI_F_A];
    bool ftz = i->op == PTXI_OP_div_approx_f32_ftz || i->op == PTXI_OP_div_full_f32_ftz;
    uint16_t mul = ftz ? PTXI_OP_mul_f32_ftz : PTXI_OP_mul_f32, mods = ftz ? PTXI_MOD_FTZ : 0;

    j = i->op == PTXI_OP_div_approx_f32_ftz ? maker_of_kind(c, i->v[PTXI_F_B], PTXI_OP_rcp_approx_f32_ftz,
                                                            PTXI_MOD_FTZ) : NULL;
    if (j) {
        replace(c, i, mul, x, j->v[PTXI_F_A]);
        i->flags |= PTXI_IF_FUSABLE;
        i->mods = PTXI_MOD_FTZ;
        return;
    }
    if (!get_constant(c, i->v[PTXI_F_B], &divisor) || !(scale = scale_of(i->op, divisor)))
        return;
    divisor = ptxi_num_bits_f32(ptxi_num_f32(divisor) * ptxi_num_f32(scale));
    if (!ptxi_fold_approx(PTXI_OP_rcp_approx_f32_ftz, divisor, &reciprocal))
        return;
    if (scale != 0x3f800000)
        x = make(c, n, mul, mods, PTXI_RC_32, x, ptxi_ir_const(c->ir, PTXI_RC_32, scale));
    replace(c, i, mul, x, ptxi_ir_const(c->ir, PTXI_RC_32, reciprocal));
    i->flags |= PTXI_IF_FUSABLE;
    i->mods = mods;
}

static void try_approximation(struct simplifier *c, struct ptxi_ir_inst *i)
{
    uint32_t x, y;

    if (i->reads == 1u << PTXI_F_A && get_constant(c, i->v[PTXI_F_A], &x) && ptxi_fold_approx(i->op, x, &y))
        replace(c, i, PTXI_OP_mov_32, ptxi_ir_const(c->ir, PTXI_RC_32, y), PTXI_NONE);
}

/* The type of the values that a selp or slct of 32 bits selects; PTXI_T_NONE: it is another operation. */
static enum ptxi_type selected_type(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    const struct ptxi_match *m;

    switch (i->op) {
    case PTXI_OP_selp_32: case PTXI_OP_slct_32_s32: case PTXI_OP_slct_32_f32: case PTXI_OP_slct_32_f32_ftz:
        m = i->ptx < ir->func->inst_count ? ir->func->insts[i->ptx].match : NULL;
        return m && ptxi_isa_op(m) == i->op ? (enum ptxi_type)ptxi_isa_slot_word(m, PTXI_SLOT_T) : PTXI_T_NONE;
    default:
        return PTXI_T_NONE;
    }
}

static void try_slct(struct simplifier *c, struct ptxi_ir_inst *i)
{
    uint32_t x;

    if (i->op == PTXI_OP_slct_32_s32 && get_constant(c, i->v[PTXI_F_C], &x) && selected_type(c->ir, i) == PTXI_T_s32)
        replace(c, i, PTXI_OP_mov_32, i->v[x == 0x80000000 || x <= 0x7f800000 ? PTXI_F_A : PTXI_F_B], PTXI_NONE);
}

/* f16 and bf16 constants that CUDA's headers make of f32 constants, so that x * 1 is recognized for these types,
 * too. */
static void try_conversion(struct simplifier *c, struct ptxi_ir_inst *i)
{
    bool bf16 = i->op == PTXI_OP_cvt_bf16_f32;
    uint32_t x;

    if ((!bf16 && i->op != PTXI_OP_cvt_f16_f32) || i->mods || !get_constant(c, i->v[PTXI_F_A], &x) ||
        x << 1 > 0xff000000)
        return;
    x = bf16 ? ptxi_num_bf16_from_f32(x, PTXI_NUM_RN) : ptxi_num_f16_from_f32(x, PTXI_NUM_RN);
    replace(c, i, PTXI_OP_mov_16, ptxi_ir_const(c->ir, PTXI_RC_16, x), PTXI_NONE);
}

/* --- signs in selections --- */

/* The constant in *v, which is made when it is needed first. */
static uint32_t shared_constant(struct simplifier *c, uint32_t *v, uint64_t value)
{
    if (*v == PTXI_NONE)
        *v = ptxi_ir_const(c->ir, PTXI_RC_32, value);
    return *v;
}

/* The value that a selection at instruction n reads for v: neg and abs change only the sign. */
static uint32_t selection_operand(struct simplifier *c, uint32_t n, uint32_t v)
{
    const struct ptxi_ir_inst *neg = maker_of_kind(c, v, PTXI_OP_neg_f32, 0), *abs;

    if (neg)
        v = neg->v[PTXI_F_A];
    abs = maker_of_kind(c, v, PTXI_OP_abs_f32, 0);
    if (abs)
        v = make(c, n, PTXI_OP_and_b32, 0, PTXI_RC_32, abs->v[PTXI_F_A], shared_constant(c, &c->magnitude, 0x7fffffff));
    if (neg)
        v = make(c, n, PTXI_OP_xor_b32, 0, PTXI_RC_32, v, shared_constant(c, &c->sign, 0x80000000));
    return v;
}

/* Whether a guarded instruction selects between an f32 that it computes in one step and the old value of its
 * destination. */
static bool selects_f32(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    const struct ptxi_match *m = i->ptx < ir->func->inst_count ? ir->func->insts[i->ptx].match : NULL;

    if (i->guard == PTXI_NONE || i->writes != 1u << PTXI_F_D || !m ||
        ptxi_isa_operand_type(m, &m->row->specs[0]) != PTXI_T_f32)
        return false;
    switch (m->row->family) {
    case PTXI_M_add: case PTXI_M_sub: case PTXI_M_mul: case PTXI_M_fma: case PTXI_M_mad: case PTXI_M_min:
    case PTXI_M_max: case PTXI_M_mov:
    case PTXI_M_selp: case PTXI_M_slct: case PTXI_M_cvt: return true;
    case PTXI_M_neg: case PTXI_M_abs: return ptxi_isa_has_word(m, PTXI_Q_ftz);
    case PTXI_M_div: return false;
    default: return ptxi_isa_has_word(m, PTXI_Q_approx) && ptxi_isa_has_word(m, PTXI_Q_ftz);
    }
}

/* The old value that a guarded f32 operation may leave in place is an operand of the selection, too. */
static void try_old_value(struct simplifier *c, uint32_t n)
{
    const struct ptxi_ir_inst *i = &c->ir->insts[n];
    uint32_t d = i->v[PTXI_F_D], old;

    if (!selects_f32(c->ir, i) || (old = selection_operand(c, n, d)) == d)
        return;
    make(c, n, PTXI_OP_mov_32, 0, PTXI_RC_32, old, PTXI_NONE);
    c->ins.list[c->ins.count - 1].inst.v[PTXI_F_D] = d;
    c->any = true;
}

/* --- all rules --- */

/* Rules for instructions that depend only on their operands. */
static void simplify_pure(struct simplifier *c, uint32_t n)
{
    struct ptxi_ir_inst *i = &c->ir->insts[n];

    try_sign(c, i);
    try_nan(c, i);
    try_field(c, i);
    try_rounding(c, i);
    try_narrow(c, i);
    try_constants(c, i);
    try_conversion(c, i);
    try_difference(c, i);
    try_quotient(c, n);
    try_approximation(c, i);
    try_slct(c, i);
    try_widen(c, n);
    try_swap_clamp(c, n);
    for (unsigned k = 0; k < sizeof types / sizeof *types; k++)
        try_type(c, i, &types[k]);
}

/* A guarded neg or abs is a selection, so it changes only the sign. */
static void try_guarded_sign(struct simplifier *c, uint32_t n)
{
    struct ptxi_ir_inst *i = &c->ir->insts[n];
    uint32_t mask;

    if (i->guard == PTXI_NONE || i->mods)
        return;
    if (i->op == PTXI_OP_neg_f32) {
        mask = shared_constant(c, &c->sign, 0x80000000);
        replace(c, i, PTXI_OP_xor_b32, selection_operand(c, n, i->v[PTXI_F_A]), mask);
    } else if (i->op == PTXI_OP_abs_f32) {
        mask = shared_constant(c, &c->magnitude, 0x7fffffff);
        replace(c, i, PTXI_OP_and_b32, selection_operand(c, n, i->v[PTXI_F_A]), mask);
    }
}

static void try_selection(struct simplifier *c, uint32_t n)
{
    struct ptxi_ir_inst *i = &c->ir->insts[n];
    uint32_t a, b;

    if (selected_type(c->ir, i) != PTXI_T_f32)
        return;
    a = selection_operand(c, n, i->v[PTXI_F_A]);
    b = selection_operand(c, n, i->v[PTXI_F_B]);
    i->v[PTXI_F_A] = a;
    i->v[PTXI_F_B] = b;
}

/* Notes the values that the instruction makes. */
static void note_results(struct simplifier *c, uint32_t n)
{
    const struct ptxi_ir_inst *i = &c->ir->insts[n];
    uint32_t a = i->reads >> PTXI_F_A & 1 ? version(c, i->v[PTXI_F_A]) : 0;
    uint32_t b = i->reads >> PTXI_F_B & 1 ? version(c, i->v[PTXI_F_B]) : 0;
    struct ptxi_ir_walk w = ptxi_ir_writes(c->ir, i);
    uint32_t v;

    while (ptxi_ir_next(&w, &v)) {
        if (v >= c->vregs)
            continue;
        c->version[v]++;
        c->maker[v] = n + 1;
        c->version_a[v] = a;
        c->version_b[v] = b;
    }
}

static void simplify(struct simplifier *c, uint32_t n)
{
    assert(n >= c->begin);
    if (c->ir->insts[n].flags & PTXI_IF_DEAD)
        return;
    if (c->ir->insts[n].flags & PTXI_IF_PURE)
        simplify_pure(c, n);
    try_guarded_sign(c, n);
    try_old_value(c, n);
    try_selection(c, n);
    note_results(c, n);
}

bool ptxi_ptxas_simplify(struct ptxi_ir *ir)
{
    struct simplifier c = { .ir = ir, .vregs = ir->vreg_count, .sign = PTXI_NONE, .magnitude = PTXI_NONE };
    uint32_t **arrays[] = { &c.version, &c.maker, &c.version_a, &c.version_b };
    fenv_t env;

    for (unsigned k = 0; k < sizeof arrays / sizeof *arrays; k++)
        if (!(*arrays[k] = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count)))
            return !(ir->oom = true);
    fegetenv(&env); /* constants are computed with the rounding of PTX, whatever mode the caller has set */
    fesetenv(FE_DFL_ENV);
    for (uint32_t b = 0; b < ir->block_count && !ir->oom; b++) {
        c.begin = ir->blocks[b].first;
        for (uint32_t n = ir->blocks[b].first; n < ir->blocks[b].end && !ir->oom; n++)
            simplify(&c, n);
    }
    fesetenv(&env);
    return !ir->oom && ptxi_ir_insert(ir, &c.ins) && (!c.any || ptxi_propagate_copies(ir));
}
