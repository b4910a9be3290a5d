/* Floating-point arithmetic, rounded to nearest.
 *
 * f32 results have one NaN. They are tested together after the operation, and rare code replaces NaNs. Which NaN an
 * f64 operation returns is the matter of its handler, which rare code calls instead; so results do not replace sources
 * before the test. */
#include <limits.h>

#include "native/builder.h"

typedef struct ptxi_native_builder builder;
typedef const struct ptxi_insn insn;

enum { UNORDERED = 3, MAX_PARTS = PTXI_LANES * 8 / 32 };

static int32_t part(const builder *c, unsigned slot, unsigned k)
{
    return ptxi_native_part(c, slot, k);
}

/* The flags say whether there is a NaN in registers. An even number of them. Returns the condition. */
static enum ptxi_x86_condition test_nan(builder *c, uint32_t compare, const unsigned *r, unsigned count)
{
    unsigned any = UINT_MAX;

    if (c->x.wide) {
        ptxi_x86_vector_masked(&c->x, compare, 1, r[0], ptxi_x86_reg(r[1]), 7, 0); /* 7: ordered */
        for (unsigned k = 2; k < count; k += 2)
            ptxi_x86_vector_masked(&c->x, compare, 1, r[k], ptxi_x86_reg(r[k + 1]), 7, 1);
        ptxi_x86_kmovw_from(&c->x, PTXI_RAX, 1);
        ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, ptxi_x86_reg(PTXI_RAX), compare == PTXI_V_CMPPS ? 0xffff : 0xff);
        return PTXI_NE;
    }
    for (unsigned k = 0; k < count; k += 2) {
        unsigned t = ptxi_native_temporary(c);

        ptxi_x86_vector_imm(&c->x, compare, t, r[k], ptxi_x86_reg(r[k + 1]), UNORDERED);
        if (any != UINT_MAX)
            ptxi_x86_vector(&c->x, PTXI_V_POR, any, any, ptxi_x86_reg(t));
        else
            any = t;
    }
    ptxi_x86_vector(&c->x, compare == PTXI_V_CMPPS ? PTXI_V_MOVMSKPS : PTXI_V_MOVMSKPD, PTXI_RAX, 0,
                    ptxi_x86_reg(any));
    ptxi_x86_test(&c->x, 32, PTXI_RAX, PTXI_RAX);
    return PTXI_NE;
}

/* --- f32 --- */

static void finish_f32(builder *c, const unsigned *r)
{
    const unsigned count = ptxi_native_parts(c, 32);
    enum ptxi_x86_condition nan = test_nan(c, PTXI_V_CMPPS, r, count);
    uint32_t rare = ptxi_native_rare(c, PTXI_RARE_CANONIZE);

    if (rare == UINT32_MAX)
        return;
    for (unsigned k = 0; k < count; k++)
        c->rare[rare].registers |= UINT32_C(1) << r[k];
    ptxi_native_jump_rare(c, rare, nan);
    ptxi_native_resume(c, rare);
}

bool ptxi_native_emit_binary_f32(builder *c, insn *i, uint32_t op, uint32_t unused)
{
    unsigned r[MAX_PARTS];

    (void)unused;
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        unsigned a = ptxi_native_source(c, part(c, i->a, k));

        r[k] = ptxi_native_new(c);
        ptxi_x86_vector(&c->x, op, r[k], a, ptxi_native_operand(c, part(c, i->b, k)));
        ptxi_native_define(c, part(c, i->d, k), r[k]);
        ptxi_native_end_part(c);
    }
    finish_f32(c, r);
    return true;
}

bool ptxi_native_emit_unary_f32(builder *c, insn *i, uint32_t op, uint32_t unused)
{
    unsigned r[MAX_PARTS];

    (void)unused;
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        r[k] = ptxi_native_new(c);
        ptxi_x86_vector(&c->x, op, r[k], 0, ptxi_native_operand(c, part(c, i->a, k)));
        ptxi_native_define(c, part(c, i->d, k), r[k]);
        ptxi_native_end_part(c);
    }
    finish_f32(c, r);
    return true;
}

/* d = constant OP a */
bool ptxi_native_emit_constant_f32(builder *c, insn *i, uint32_t op, uint32_t constant)
{
    unsigned r[MAX_PARTS];

    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        unsigned t = ptxi_native_temporary(c);

        r[k] = ptxi_native_new(c);
        ptxi_x86_vector(&c->x, PTXI_V_MOV, t, 0, ptxi_native_constant((enum ptxi_native_const)constant, 0));
        ptxi_x86_vector(&c->x, op, r[k], t, ptxi_native_operand(c, part(c, i->a, k)));
        ptxi_native_define(c, part(c, i->d, k), r[k]);
        ptxi_native_end_part(c);
    }
    finish_f32(c, r);
    return true;
}

/* Part k of c in a register that the result may have. */
static unsigned addend(builder *c, insn *i, unsigned k)
{
    unsigned r = i->c == i->d && i->a != i->d && i->b != i->d ? ptxi_native_own(c, part(c, i->d, k)) : UINT_MAX;

    if (r == UINT_MAX) {
        struct ptxi_x86_rm from = ptxi_native_operand(c, part(c, i->c, k));

        r = ptxi_native_new(c);
        ptxi_x86_vector(&c->x, PTXI_V_MOV, r, 0, from);
    } else {
        c->cache.part[r] = PTXI_NATIVE_NO_PART;
        c->cache.dirty &= ~(UINT32_C(1) << r);
    }
    return r;
}

bool ptxi_native_emit_fma_f32(builder *c, insn *i, uint32_t first, uint32_t second)
{
    unsigned r[MAX_PARTS];

    (void)first, (void)second;
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        unsigned a = ptxi_native_source(c, part(c, i->a, k));

        r[k] = addend(c, i, k);
        ptxi_x86_vector(&c->x, PTXI_V_FMADD231PS, r[k], a, ptxi_native_operand(c, part(c, i->b, k)));
        ptxi_native_define(c, part(c, i->d, k), r[k]);
        ptxi_native_end_part(c);
    }
    finish_f32(c, r);
    return true;
}

/* Rounded to nearest, without .sat. */
bool ptxi_native_emit_cvt_f32_s32(builder *c, insn *i, uint32_t first, uint32_t second)
{
    (void)first, (void)second;
    if (i->mods & (PTXI_MOD_RND_MASK | PTXI_MOD_SAT))
        return false;
    return ptxi_native_emit_unary(c, i, 32, PTXI_V_CVTDQ2PS);
}

/* --- f64 --- */

static void finish_f64(builder *c, insn *i, const unsigned *r)
{
    const unsigned count = ptxi_native_parts(c, 64);
    enum ptxi_x86_condition nan = test_nan(c, PTXI_V_CMPPD, r, count);
    uint32_t rare = ptxi_native_rare(c, PTXI_RARE_HANDLER);

    ptxi_native_jump_rare(c, rare, nan);
    for (unsigned k = 0; k < count; k++)
        ptxi_native_define(c, part(c, i->d, k), r[k]);
    ptxi_native_resume(c, rare);
}

bool ptxi_native_emit_binary_f64(builder *c, insn *i, uint32_t op, uint32_t unused)
{
    unsigned r[MAX_PARTS];

    (void)unused;
    for (unsigned k = 0; k < ptxi_native_parts(c, 64); k++) {
        unsigned a = ptxi_native_source(c, part(c, i->a, k));

        r[k] = ptxi_native_new(c);
        ptxi_x86_vector(&c->x, op, r[k], a, ptxi_native_operand(c, part(c, i->b, k)));
        ptxi_native_end_part(c);
    }
    finish_f64(c, i, r);
    return true;
}

bool ptxi_native_emit_fma_f64(builder *c, insn *i, uint32_t first, uint32_t second)
{
    unsigned r[MAX_PARTS];

    (void)first, (void)second;
    for (unsigned k = 0; k < ptxi_native_parts(c, 64); k++) {
        unsigned a = ptxi_native_source(c, part(c, i->a, k));
        struct ptxi_x86_rm addend = ptxi_native_operand(c, part(c, i->c, k));

        r[k] = ptxi_native_new(c);
        ptxi_x86_vector(&c->x, PTXI_V_MOV, r[k], 0, addend);
        ptxi_x86_vector(&c->x, PTXI_V_FMADD231PD, r[k], a, ptxi_native_operand(c, part(c, i->b, k)));
        ptxi_native_end_part(c);
    }
    finish_f64(c, i, r);
    return true;
}
