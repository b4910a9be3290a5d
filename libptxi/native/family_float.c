/* Floating-point arithmetic, rounded to nearest.
 *
 * f32 results have one NaN, which replaces others later (registers.c). Which NaN an f64 operation returns is the matter
 * of its handler, which rare code calls instead; so results do not replace sources before the test. */
#include <limits.h>

#include "native/builder.h"

typedef struct ptxi_native_builder builder;
typedef const struct ptxi_insn insn;

enum { MAX_PARTS = PTXI_LANES * 8 / 32 };

static int32_t part(const builder *c, unsigned slot, unsigned k)
{
    return ptxi_native_part(c, slot, k);
}

/* --- f32 --- */

bool ptxi_native_emit_binary_f32(builder *c, insn *i, uint32_t op, uint32_t unused)
{
    (void)unused;
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        unsigned a = ptxi_native_source_f32(c, part(c, i->a, k)), r = ptxi_native_new(c);

        ptxi_x86_vector(&c->x, op, r, a, ptxi_native_operand_f32(c, part(c, i->b, k)));
        ptxi_native_define_f32(c, i->d, k, r);
        ptxi_native_end_part(c);
    }
    return true;
}

bool ptxi_native_emit_unary_f32(builder *c, insn *i, uint32_t op, uint32_t unused)
{
    (void)unused;
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        unsigned r = ptxi_native_new(c);

        ptxi_x86_vector(&c->x, op, r, 0, ptxi_native_operand_f32(c, part(c, i->a, k)));
        ptxi_native_define_f32(c, i->d, k, r);
        ptxi_native_end_part(c);
    }
    return true;
}

/* d = constant OP a */
bool ptxi_native_emit_constant_f32(builder *c, insn *i, uint32_t op, uint32_t constant)
{
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        unsigned t = ptxi_native_temporary(c), r = ptxi_native_new(c);

        ptxi_x86_vector(&c->x, PTXI_V_MOV, t, 0, ptxi_native_constant((enum ptxi_native_const)constant, 0));
        ptxi_x86_vector(&c->x, op, r, t, ptxi_native_operand_f32(c, part(c, i->a, k)));
        ptxi_native_define_f32(c, i->d, k, r);
        ptxi_native_end_part(c);
    }
    return true;
}

/* Part k of c in a register that the result may have. */
static unsigned addend(builder *c, insn *i, unsigned k)
{
    unsigned r = i->c == i->d && i->a != i->d && i->b != i->d ? ptxi_native_own(c, part(c, i->d, k)) : UINT_MAX;

    if (r == UINT_MAX) {
        struct ptxi_x86_rm from = ptxi_native_operand_f32(c, part(c, i->c, k));

        r = ptxi_native_new(c);
        ptxi_x86_vector(&c->x, PTXI_V_MOV, r, 0, from);
    }
    return r;
}

bool ptxi_native_emit_fma_f32(builder *c, insn *i, uint32_t first, uint32_t second)
{
    (void)first, (void)second;
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        unsigned a = ptxi_native_source_f32(c, part(c, i->a, k)), r = addend(c, i, k);

        ptxi_x86_vector(&c->x, PTXI_V_FMADD231PS, r, a, ptxi_native_operand_f32(c, part(c, i->b, k)));
        ptxi_native_define_f32(c, i->d, k, r);
        ptxi_native_end_part(c);
    }
    return true;
}

/* d = `other` in the elements where x and y compare so. AVX2: t changes. */
static void choose_where(builder *c, unsigned d, unsigned other, unsigned x, unsigned y, unsigned condition, unsigned t)
{
    enum { MASK = 2 };

    if (c->x.wide) {
        ptxi_x86_vector_masked(&c->x, PTXI_V_CMPPS, MASK, x, ptxi_x86_reg(y), (int)condition, 0);
        ptxi_x86_vector_masked(&c->x, PTXI_V_MOV, d, 0, ptxi_x86_reg(other), -1, MASK);
    } else {
        ptxi_x86_vector_imm(&c->x, PTXI_V_CMPPS, t, x, ptxi_x86_reg(y), condition);
        ptxi_x86_vector_imm(&c->x, PTXI_V_BLENDVB, d, d, ptxi_x86_reg(other), t << 4);
    }
}

/* As ptxi_num_minmax_f32(). The host's operation returns b if a and b are equal, which zeros of both signs are, or if
 * one is a NaN. */
bool ptxi_native_emit_min_max_f32(builder *c, insn *i, uint32_t op, uint32_t propagates_nan)
{
    enum { EQUAL = 0, UNORDERED = 3 };
    const uint32_t zero = op == PTXI_V_MAXPS ? PTXI_V_PAND : PTXI_V_POR;

    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        unsigned a = ptxi_native_source_f32(c, part(c, i->a, k)), b = ptxi_native_source_f32(c, part(c, i->b, k));
        unsigned r = ptxi_native_new(c), same = ptxi_native_temporary(c), t = ptxi_native_temporary(c);
        unsigned unless_nan = propagates_nan ? a : b;

        ptxi_x86_vector(&c->x, op, r, a, ptxi_x86_reg(b));
        ptxi_x86_vector(&c->x, zero, same, a, ptxi_x86_reg(b));
        choose_where(c, r, same, a, b, EQUAL, t);
        choose_where(c, r, a, unless_nan, unless_nan, UNORDERED, t);
        ptxi_native_define_f32(c, i->d, k, r);
        ptxi_native_end_part(c);
    }
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

/* The flags say whether there is a NaN in registers. An even number of them. The condition is NE. */
static void test_nan(builder *c, const unsigned *r, unsigned count)
{
    enum { UNORDERED = 3, ORDERED = 7 };
    unsigned any = UINT_MAX;

    if (c->x.wide) {
        for (unsigned k = 0; k < count; k += 2)
            ptxi_x86_vector_masked(&c->x, PTXI_V_CMPPD, 1, r[k], ptxi_x86_reg(r[k + 1]), ORDERED, k ? 1 : 0);
        ptxi_x86_kmovw_from(&c->x, PTXI_RAX, 1);
        ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, ptxi_x86_reg(PTXI_RAX), 0xff);
        return;
    }
    for (unsigned k = 0; k < count; k += 2) {
        unsigned t = ptxi_native_temporary(c);

        ptxi_x86_vector_imm(&c->x, PTXI_V_CMPPD, t, r[k], ptxi_x86_reg(r[k + 1]), UNORDERED);
        if (any != UINT_MAX)
            ptxi_x86_vector(&c->x, PTXI_V_POR, any, any, ptxi_x86_reg(t));
        else
            any = t;
    }
    ptxi_x86_vector(&c->x, PTXI_V_MOVMSKPD, PTXI_RAX, 0, ptxi_x86_reg(any));
    ptxi_x86_test(&c->x, 32, PTXI_RAX, PTXI_RAX);
}

static void finish_f64(builder *c, insn *i, const unsigned *r)
{
    const unsigned count = ptxi_native_parts(c, 64);
    uint32_t rare;

    test_nan(c, r, count);
    rare = ptxi_native_rare(c, PTXI_RARE_HANDLER);
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    for (unsigned k = 0; k < count; k++)
        ptxi_native_define(c, i->d, k, 64, r[k]);
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
