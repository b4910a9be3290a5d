/* Comparisons, predicates, selection. A predicate is always complete in the frame. */
#include <assert.h>

#include "native/builder.h"

typedef struct ptxi_native_builder builder;
typedef const struct ptxi_insn insn;

static int32_t part(const builder *c, unsigned slot, unsigned k)
{
    return ptxi_native_part(c, slot, k);
}

static struct ptxi_x86_rm reg(unsigned r)
{
    return ptxi_x86_reg(r);
}

/* eax |= the bits in ecx, which belong to part k of elements with `bits` bits. */
static void collect(builder *c, unsigned bits, unsigned k)
{
    if (!k) {
        ptxi_x86_load(&c->x, 32, PTXI_RAX, reg(PTXI_RCX));
        return;
    }
    ptxi_x86_shl(&c->x, 32, PTXI_RCX, k * PTXI_LANES / ptxi_native_parts(c, bits));
    ptxi_x86_alu(&c->x, PTXI_OR, 32, PTXI_RAX, reg(PTXI_RCX));
}

/* --- integers --- */

static void compare_wide(builder *c, insn *i, enum ptxi_native_kind kind, enum ptxi_native_condition condition)
{
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        unsigned a = ptxi_native_source(c, part(c, i->a, k));

        ptxi_x86_vector_masked(&c->x, kind == PTXI_SIGNED ? PTXI_V_PCMPD : PTXI_V_PCMPUD, 1, a,
                               ptxi_native_operand(c, part(c, i->b, k)), condition, 0);
        ptxi_x86_kmovw_from(&c->x, PTXI_RCX, 1);
        collect(c, 32, k);
        ptxi_native_end_part(c);
    }
}

/* AVX2 has only = and signed >. The condition is one of these, or the negation of one, with operands in this or the
 * other order. */
struct basic {
    bool equal, swapped, negated;
};

static struct basic basic_of(enum ptxi_native_condition condition)
{
    switch (condition) {
    case PTXI_COMPARE_EQ: return (struct basic){ true, false, false };
    case PTXI_COMPARE_NE: return (struct basic){ true, false, true };
    case PTXI_COMPARE_GT: return (struct basic){ false, false, false };
    case PTXI_COMPARE_LE: return (struct basic){ false, false, true };
    case PTXI_COMPARE_LT: return (struct basic){ false, true, false };
    default: return (struct basic){ false, true, true };
    }
}

static void compare_narrow(builder *c, insn *i, enum ptxi_native_kind kind, enum ptxi_native_condition condition)
{
    const struct basic basic = basic_of(condition);

    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        unsigned a = ptxi_native_source(c, part(c, basic.swapped ? i->b : i->a, k)), t = ptxi_native_temporary(c);
        struct ptxi_x86_rm b = ptxi_native_operand(c, part(c, basic.swapped ? i->a : i->b, k));

        if (kind == PTXI_UNSIGNED) { /* as signed numbers with the other sign */
            unsigned u = ptxi_native_temporary(c);

            assert(!basic.equal);
            ptxi_x86_vector(&c->x, PTXI_V_MOV, t, 0, ptxi_native_constant(PTXI_CONST_SIGN, 0));
            ptxi_x86_vector(&c->x, PTXI_V_PXOR, u, t, b);
            ptxi_x86_vector(&c->x, PTXI_V_PXOR, t, t, reg(a));
            ptxi_x86_vector(&c->x, PTXI_V_PCMPGTD, t, t, reg(u));
        } else {
            ptxi_x86_vector(&c->x, basic.equal ? PTXI_V_PCMPEQD : PTXI_V_PCMPGTD, t, a, b);
        }
        ptxi_x86_vector(&c->x, PTXI_V_MOVMSKPS, PTXI_RCX, 0, reg(t));
        collect(c, 32, k);
        ptxi_native_end_part(c);
    }
    if (basic.negated)
        ptxi_x86_not(&c->x, PTXI_RAX);
}

void ptxi_native_compare(builder *c, insn *i, enum ptxi_native_kind kind, enum ptxi_native_condition condition)
{
    if (c->x.wide)
        compare_wide(c, i, kind, condition);
    else
        compare_narrow(c, i, kind, condition);
}

/* --- setp --- */

static void combine(builder *c, insn *i, unsigned op, unsigned r)
{
    enum ptxi_x86_alu alu = op == 1 ? PTXI_AND : PTXI_OR;

    ptxi_x86_alu(&c->x, op == 3 ? PTXI_XOR : alu, 32, r, reg(PTXI_RDX));
    (void)i;
}

/* eax has the lanes. PTX ISA, "setp": p = eax BoolOp c, q = !eax BoolOp c. */
static void set_predicates(builder *c, insn *i)
{
    const unsigned op = (i->mods & PTXI_MOD_BOOL_MASK) >> PTXI_MOD_BOOL_SHIFT;
    const bool has_q = (uint16_t)i->imm != PTXI_NO_SLOT;

    if (op) {
        ptxi_x86_load(&c->x, 32, PTXI_RDX, ptxi_native_frame(i->c, 0));
        if (i->mods & PTXI_MOD_NOT_C)
            ptxi_x86_not(&c->x, PTXI_RDX);
    }
    if (has_q) {
        ptxi_x86_load(&c->x, 32, PTXI_RCX, reg(PTXI_RAX));
        ptxi_x86_not(&c->x, PTXI_RCX);
    }
    if (op)
        combine(c, i, op, PTXI_RAX);
    if (op && has_q)
        combine(c, i, op, PTXI_RCX);
    if (i->d != PTXI_NO_SLOT)
        ptxi_native_store_predicate(c, i->d, PTXI_RAX);
    if (has_q)
        ptxi_native_store_predicate(c, (uint16_t)i->imm, PTXI_RCX);
}

bool ptxi_native_emit_setp(builder *c, insn *i, uint32_t kind, uint32_t condition)
{
    ptxi_native_compare(c, i, (enum ptxi_native_kind)kind, (enum ptxi_native_condition)condition);
    set_predicates(c, i);
    return true;
}

bool ptxi_native_emit_setp_float(builder *c, insn *i, uint32_t bits, uint32_t predicate)
{
    const uint32_t compare = bits == 32 ? PTXI_V_CMPPS : PTXI_V_CMPPD;

    for (unsigned k = 0; k < ptxi_native_parts(c, bits); k++) {
        unsigned a = ptxi_native_source_f32(c, part(c, i->a, k));
        struct ptxi_x86_rm b = ptxi_native_operand_f32(c, part(c, i->b, k));

        if (c->x.wide) {
            ptxi_x86_vector_masked(&c->x, compare, 1, a, b, (int)predicate, 0);
            ptxi_x86_kmovw_from(&c->x, PTXI_RCX, 1);
        } else {
            unsigned t = ptxi_native_temporary(c);

            ptxi_x86_vector_imm(&c->x, compare, t, a, b, predicate);
            ptxi_x86_vector(&c->x, bits == 32 ? PTXI_V_MOVMSKPS : PTXI_V_MOVMSKPD, PTXI_RCX, 0, reg(t));
        }
        collect(c, bits, k);
        ptxi_native_end_part(c);
    }
    set_predicates(c, i);
    return true;
}

/* --- predicates --- */

bool ptxi_native_emit_pred_1(builder *c, insn *i, uint32_t negated, uint32_t unused)
{
    (void)unused;
    ptxi_x86_load(&c->x, 32, PTXI_RAX, ptxi_native_frame(i->a, 0));
    if (negated)
        ptxi_x86_not(&c->x, PTXI_RAX);
    ptxi_native_store_predicate(c, i->d, PTXI_RAX);
    return true;
}

bool ptxi_native_emit_pred_2(builder *c, insn *i, uint32_t op, uint32_t negated)
{
    ptxi_x86_load(&c->x, 32, PTXI_RAX, ptxi_native_frame(i->b, 0));
    if (negated)
        ptxi_x86_not(&c->x, PTXI_RAX);
    ptxi_x86_alu(&c->x, (enum ptxi_x86_alu)op, 32, PTXI_RAX, ptxi_native_frame(i->a, 0));
    ptxi_native_store_predicate(c, i->d, PTXI_RAX);
    return true;
}

/* --- selp --- */

static void select_wide(builder *c, unsigned d, unsigned b, struct ptxi_x86_rm a, struct ptxi_x86_rm lanes, bool is_64)
{
    if (is_64)
        ptxi_x86_kmovb_load(&c->x, 1, lanes);
    else
        ptxi_x86_kmovw_load(&c->x, 1, lanes);
    ptxi_x86_vector_masked(&c->x, is_64 ? PTXI_V_BLENDMQ : PTXI_V_BLENDMD, d, b, a, -1, 1);
}

static void select_narrow(builder *c, unsigned d, unsigned b, struct ptxi_x86_rm a, struct ptxi_x86_rm lanes,
                          struct ptxi_x86_rm bits)
{
    unsigned t = ptxi_native_temporary(c);

    ptxi_x86_vector(&c->x, PTXI_V_BROADCASTD, t, 0, lanes);
    ptxi_x86_vector(&c->x, PTXI_V_PAND, t, t, bits);
    ptxi_x86_vector(&c->x, PTXI_V_PCMPEQD, t, t, bits);
    ptxi_x86_vector_imm(&c->x, PTXI_V_BLENDVB, d, b, a, t << 4);
}

bool ptxi_native_emit_selp(builder *c, insn *i, uint32_t bits, uint32_t unused)
{
    const bool negated = i->mods & PTXI_MOD_NOT_C;
    const unsigned a = negated ? i->b : i->a, b = negated ? i->a : i->b;
    const enum ptxi_native_const table = bits == 32 ? PTXI_CONST_LANE_BIT : PTXI_CONST_LANE_BIT_64;

    (void)unused;
    for (unsigned k = 0; k < ptxi_native_parts(c, bits); k++) {
        unsigned d = ptxi_native_new(c), zero = ptxi_native_source(c, part(c, b, k));
        struct ptxi_x86_rm one = ptxi_native_operand(c, part(c, a, k));

        if (c->x.wide)
            select_wide(c, d, zero, one, ptxi_native_frame(i->c, k * PTXI_LANES / 8 / ptxi_native_parts(c, bits)),
                        bits == 64);
        else
            select_narrow(c, d, zero, one, ptxi_native_frame(i->c, 0), ptxi_native_constant(table, k * c->bytes));
        ptxi_native_define(c, i->d, k, bits, d);
        ptxi_native_end_part(c);
    }
    return true;
}
