/* Moves, operations on bits, and integer arithmetic. */
#include <limits.h>
#include <stddef.h>

#include "isa/bytecode.h"
#include "native/builder.h"

typedef struct ptxi_native_builder builder;
typedef const struct ptxi_insn insn;

static int32_t part(const builder *c, unsigned slot, unsigned k)
{
    return ptxi_native_part(c, slot, k);
}

bool ptxi_native_emit_mov(builder *c, insn *i, uint32_t bits, uint32_t unused)
{
    (void)unused;
    for (unsigned k = 0; k < ptxi_native_parts(c, bits) && i->d != i->a; k++) {
        unsigned d = ptxi_native_new(c);
        struct ptxi_x86_rm a = ptxi_native_operand_f32(c, part(c, i->a, k));

        ptxi_x86_vector(&c->x, PTXI_V_MOV, d, 0, a);
        if (!a.memory && c->cache.raw >> a.reg & 1)
            ptxi_native_define_f32(c, i->d, k, d);
        else
            ptxi_native_define(c, i->d, k, bits, d);
        ptxi_native_end_part(c);
    }
    return true;
}

/* One word in all lanes: from memory, or from eax. */
static void broadcast(builder *c, unsigned slot, const struct ptxi_x86_rm *memory)
{
    unsigned first = UINT_MAX;

    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        unsigned d = ptxi_native_new(c);

        if (memory) {
            ptxi_x86_vector(&c->x, PTXI_V_BROADCASTD, d, 0, *memory);
        } else if (first == UINT_MAX || c->partial) { /* else `first` has no old values of inactive lanes */
            unsigned t = ptxi_native_temporary(c);

            ptxi_x86_vmovd(&c->x, t, PTXI_RAX);
            ptxi_x86_vector(&c->x, PTXI_V_BROADCASTD, d, 0, ptxi_x86_reg(t));
            first = d;
        } else {
            ptxi_x86_vector(&c->x, PTXI_V_MOV, d, 0, ptxi_x86_reg(first));
        }
        ptxi_native_define(c, slot, k, 32, d);
        ptxi_native_end_part(c);
    }
}

bool ptxi_native_emit_fill_32(builder *c, insn *i, uint32_t first, uint32_t second)
{
    (void)first, (void)second;
    ptxi_x86_imm(&c->x, PTXI_RAX, (uint32_t)i->imm);
    broadcast(c, i->d, NULL);
    return true;
}

/* %ctaid. The others are mostly launch-invariant. */
bool ptxi_native_emit_sreg_32(builder *c, insn *i, uint32_t first, uint32_t second)
{
    const unsigned axis = (unsigned)i->imm >> 8;
    struct ptxi_x86_rm ctaid;

    (void)first, (void)second;
    if ((i->imm & 0xff) != PTXI_SREG_ctaid || axis > 2)
        return false;
    ctaid = ptxi_x86_at(PTXI_RAX, (int32_t)(offsetof(struct ptxi_cta, ctaid) + 4 * axis));
    ptxi_x86_load(&c->x, 64, PTXI_RAX, ptxi_x86_at(PTXI_NATIVE_WARP, (int32_t)offsetof(struct ptxi_warp, cta)));
    broadcast(c, i->d, &ctaid);
    return true;
}

bool ptxi_native_emit_binary(builder *c, insn *i, uint32_t bits, uint32_t op)
{
    for (unsigned k = 0; k < ptxi_native_parts(c, bits); k++) {
        unsigned a = ptxi_native_source(c, part(c, i->a, k)), d = ptxi_native_new(c);

        ptxi_x86_vector(&c->x, op, d, a, ptxi_native_operand(c, part(c, i->b, k)));
        ptxi_native_define(c, i->d, k, bits, d);
        ptxi_native_end_part(c);
    }
    return true;
}

static bool is_power(uint32_t n)
{
    return n && !(n & (n - 1));
}

/* d = a * b. A shift and an addition or subtraction take less time, if b is 2^n + 1 or 2^n - 1. */
static void multiply(builder *c, insn *i, unsigned k, unsigned d)
{
    const unsigned a = ptxi_native_source(c, part(c, i->a, k));
    uint32_t by;

    if (ptxi_native_find_constant(c->code, i->b, &by) && by > 2 && (is_power(by - 1) || is_power(by + 1))) {
        const unsigned n = (unsigned)__builtin_ctz(is_power(by - 1) ? by - 1 : by + 1);

        ptxi_x86_vector_imm(&c->x, PTXI_V_SHIFT_IMM_D, PTXI_SHIFT_LEFT, d, ptxi_x86_reg(a), n);
        ptxi_x86_vector(&c->x, is_power(by - 1) ? PTXI_V_PADDD : PTXI_V_PSUBD, d, d, ptxi_x86_reg(a));
    } else {
        ptxi_x86_vector(&c->x, PTXI_V_PMULLD, d, a, ptxi_native_operand(c, part(c, i->b, k)));
    }
}

/* d = a * b, and + c if `adds` */
bool ptxi_native_emit_product(builder *c, insn *i, uint32_t adds, uint32_t unused)
{
    (void)unused;
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        unsigned d = ptxi_native_new(c);

        multiply(c, i, k, d);
        if (adds)
            ptxi_x86_vector(&c->x, PTXI_V_PADDD, d, d, ptxi_native_operand(c, part(c, i->c, k)));
        ptxi_native_define(c, i->d, k, 32, d);
        ptxi_native_end_part(c);
    }
    return true;
}

bool ptxi_native_emit_unary(builder *c, insn *i, uint32_t bits, uint32_t op)
{
    for (unsigned k = 0; k < ptxi_native_parts(c, bits); k++) {
        unsigned d = ptxi_native_new(c);

        ptxi_x86_vector(&c->x, op, d, 0, ptxi_native_operand(c, part(c, i->a, k)));
        ptxi_native_define(c, i->d, k, bits, d);
        ptxi_native_end_part(c);
    }
    return true;
}

bool ptxi_native_emit_neg(builder *c, insn *i, uint32_t bits, uint32_t subtract)
{
    for (unsigned k = 0; k < ptxi_native_parts(c, bits); k++) {
        unsigned d = ptxi_native_new(c), zero = ptxi_native_temporary(c);

        ptxi_x86_vector(&c->x, PTXI_V_PXOR, zero, zero, ptxi_x86_reg(zero));
        ptxi_x86_vector(&c->x, subtract, d, zero, ptxi_native_operand(c, part(c, i->a, k)));
        ptxi_native_define(c, i->d, k, bits, d);
        ptxi_native_end_part(c);
    }
    return true;
}

bool ptxi_native_emit_not(builder *c, insn *i, uint32_t bits, uint32_t unused)
{
    (void)unused;
    for (unsigned k = 0; k < ptxi_native_parts(c, bits); k++) {
        unsigned a = ptxi_native_source(c, part(c, i->a, k)), d = ptxi_native_new(c);

        ptxi_x86_vector(&c->x, PTXI_V_PXOR, d, a, ptxi_native_constant(PTXI_CONST_ONES, 0));
        ptxi_native_define(c, i->d, k, bits, d);
        ptxi_native_end_part(c);
    }
    return true;
}

/* d = (a OP b) OP c, 32 bits */
bool ptxi_native_emit_chain(builder *c, insn *i, uint32_t first, uint32_t second)
{
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        unsigned a = ptxi_native_source(c, part(c, i->a, k)), d = ptxi_native_new(c);

        ptxi_x86_vector(&c->x, first, d, a, ptxi_native_operand(c, part(c, i->b, k)));
        ptxi_x86_vector(&c->x, second, d, d, ptxi_native_operand(c, part(c, i->c, k)));
        ptxi_native_define(c, i->d, k, 32, d);
        ptxi_native_end_part(c);
    }
    return true;
}

/* d = a * b, modulo 2^64. AVX2: the lower halves' product, and both products of a lower and an upper half in the upper
 * one. Changes t. */
static void multiply_64(builder *c, unsigned d, unsigned a, unsigned b, unsigned t)
{
    enum { SWAP = 0xb1 };

    if (c->x.wide) {
        ptxi_x86_vector(&c->x, PTXI_V_PMULLQ, d, a, ptxi_x86_reg(b));
        return;
    }
    ptxi_x86_vector_imm(&c->x, PTXI_V_SHUFPS, t, b, ptxi_x86_reg(b), SWAP);
    ptxi_x86_vector(&c->x, PTXI_V_PMULLD, t, t, ptxi_x86_reg(a));
    ptxi_x86_vector_imm(&c->x, PTXI_V_SHUFPS, d, t, ptxi_x86_reg(t), SWAP);
    ptxi_x86_vector(&c->x, PTXI_V_PADDD, t, t, ptxi_x86_reg(d));
    ptxi_x86_vector_imm(&c->x, PTXI_V_SHIFT_IMM_Q, PTXI_SHIFT_LEFT, t, ptxi_x86_reg(t), 32);
    ptxi_x86_vector(&c->x, PTXI_V_PMULUDQ, d, a, ptxi_x86_reg(b));
    ptxi_x86_vector(&c->x, PTXI_V_PADDQ, d, d, ptxi_x86_reg(t));
}

/* d = a * b, and + c if `adds` */
bool ptxi_native_emit_product_64(builder *c, insn *i, uint32_t adds, uint32_t unused)
{
    (void)unused;
    for (unsigned k = 0; k < ptxi_native_parts(c, 64); k++) {
        unsigned a = ptxi_native_source(c, part(c, i->a, k)), b = ptxi_native_source(c, part(c, i->b, k));
        unsigned d = ptxi_native_new(c), t = ptxi_native_temporary(c);

        multiply_64(c, d, a, b, t);
        if (adds)
            ptxi_x86_vector(&c->x, PTXI_V_PADDQ, d, d, ptxi_native_operand(c, part(c, i->c, k)));
        ptxi_native_define(c, i->d, k, 64, d);
        ptxi_native_end_part(c);
    }
    return true;
}

/* --- from 32 to 64 bits: part k of the result needs half a part of the source, which is read from the frame --- */

static struct ptxi_x86_rm half(const builder *c, unsigned slot, unsigned k)
{
    return ptxi_native_frame(slot, k * c->bytes / 2);
}

/* d = (a << b), and + c if `adds`. Counts have 32 bits. */
bool ptxi_native_emit_shift_64(builder *c, insn *i, uint32_t shift, uint32_t adds)
{
    ptxi_native_sync(c, i->b, ptxi_native_parts(c, 32));
    for (unsigned k = 0; k < ptxi_native_parts(c, 64); k++) {
        unsigned a = ptxi_native_source(c, part(c, i->a, k)), d = ptxi_native_new(c), t = ptxi_native_temporary(c);

        ptxi_x86_vector(&c->x, PTXI_V_PMOVZXDQ, t, 0, half(c, i->b, k));
        ptxi_x86_vector(&c->x, shift, d, a, ptxi_x86_reg(t));
        if (adds)
            ptxi_x86_vector(&c->x, PTXI_V_PADDQ, d, d, ptxi_native_operand(c, part(c, i->c, k)));
        ptxi_native_define(c, i->d, k, 64, d);
        ptxi_native_end_part(c);
    }
    return true;
}

bool ptxi_native_emit_extend(builder *c, insn *i, uint32_t extend, uint32_t unused)
{
    (void)unused;
    ptxi_native_sync(c, i->a, ptxi_native_parts(c, 32));
    for (unsigned k = 0; k < ptxi_native_parts(c, 64); k++) {
        unsigned d = ptxi_native_new(c);

        ptxi_x86_vector(&c->x, extend, d, 0, half(c, i->a, k));
        ptxi_native_define(c, i->d, k, 64, d);
    }
    return true;
}

bool ptxi_native_emit_wide_product(builder *c, insn *i, uint32_t extend, uint32_t multiply)
{
    ptxi_native_sync(c, i->a, ptxi_native_parts(c, 32));
    ptxi_native_sync(c, i->b, ptxi_native_parts(c, 32));
    for (unsigned k = 0; k < ptxi_native_parts(c, 64); k++) {
        unsigned d = ptxi_native_new(c), t = ptxi_native_temporary(c);

        ptxi_x86_vector(&c->x, extend, d, 0, half(c, i->a, k));
        ptxi_x86_vector(&c->x, extend, t, 0, half(c, i->b, k));
        ptxi_x86_vector(&c->x, multiply, d, d, ptxi_x86_reg(t));
        if (ptxi_native_is_mad_wide(i))
            ptxi_x86_vector(&c->x, PTXI_V_PADDQ, d, d, ptxi_native_operand(c, part(c, i->c, k)));
        ptxi_native_define(c, i->d, k, 64, d);
        ptxi_native_end_part(c);
    }
    return true;
}

bool ptxi_native_emit_trunc_64_32(builder *c, insn *i, uint32_t first, uint32_t second)
{
    (void)first, (void)second;
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        unsigned low = ptxi_native_source(c, part(c, i->a, 2 * k)), d = ptxi_native_new(c);

        if (c->x.wide) {
            unsigned high = ptxi_native_source(c, part(c, i->a, 2 * k + 1)), t = ptxi_native_temporary(c);

            ptxi_x86_vector(&c->x, PTXI_V_PMOVQD_TO, low, 0, ptxi_x86_reg(d));
            ptxi_x86_vector(&c->x, PTXI_V_PMOVQD_TO, high, 0, ptxi_x86_reg(t));
            ptxi_x86_vector_imm(&c->x, PTXI_V_INSERT_HALF, d, d, ptxi_x86_reg(t), 1);
        } else {
            ptxi_x86_vector_imm(&c->x, PTXI_V_SHUFPS, d, low, ptxi_native_operand(c, part(c, i->a, 2 * k + 1)), 0x88);
            ptxi_x86_vector_imm(&c->x, PTXI_V_PERMQ, d, 0, ptxi_x86_reg(d), 0xd8);
        }
        ptxi_native_define(c, i->d, k, 32, d);
        ptxi_native_end_part(c);
    }
    return true;
}

/* --- shf with .wrap: a shift of y:x to the left. One to the right by n is one to the left by 32 - n. --- */

/* d = y << n | x >> (32 - n), 0 < n < 32 */
static void shift_by_constant(builder *c, unsigned d, unsigned x, unsigned y, unsigned n)
{
    if (c->x.wide && x == y) {
        ptxi_x86_vector_imm(&c->x, PTXI_V_SHIFT_IMM_D, PTXI_ROTATE_LEFT, d, ptxi_x86_reg(x), n);
    } else {
        const unsigned t = ptxi_native_temporary(c);

        ptxi_x86_vector_imm(&c->x, PTXI_V_SHIFT_IMM_D, PTXI_SHIFT_RIGHT, t, ptxi_x86_reg(x), 32 - n);
        ptxi_x86_vector_imm(&c->x, PTXI_V_SHIFT_IMM_D, PTXI_SHIFT_LEFT, d, ptxi_x86_reg(y), n);
        ptxi_x86_vector(&c->x, PTXI_V_POR, d, d, ptxi_x86_reg(t));
    }
}

/* The host's shifts by 32 give 0. */
static void shift_by_lanes(builder *c, unsigned d, unsigned x, unsigned y, unsigned count, bool right)
{
    const unsigned n = ptxi_native_temporary(c), t = ptxi_native_temporary(c);

    ptxi_x86_vector(&c->x, PTXI_V_PAND, n, count, ptxi_native_constant(PTXI_CONST_31, 0));
    ptxi_x86_vector(&c->x, right ? PTXI_V_PSRLVD : PTXI_V_PSLLVD, d, right ? x : y, ptxi_x86_reg(n));
    ptxi_x86_vector(&c->x, PTXI_V_MOV, t, 0, ptxi_native_constant(PTXI_CONST_32, 0));
    ptxi_x86_vector(&c->x, PTXI_V_PSUBD, t, t, ptxi_x86_reg(n));
    ptxi_x86_vector(&c->x, right ? PTXI_V_PSLLVD : PTXI_V_PSRLVD, t, right ? y : x, ptxi_x86_reg(t));
    ptxi_x86_vector(&c->x, PTXI_V_POR, d, d, ptxi_x86_reg(t));
}

bool ptxi_native_emit_funnel(builder *c, insn *i, uint32_t right, uint32_t unused)
{
    const uint32_t rotate = right ? PTXI_V_PRORVD : PTXI_V_PROLVD;
    uint32_t n;
    bool constant = ptxi_native_find_constant(c->code, i->c, &n) && n % 32;

    (void)unused;
    if (!(i->mods & PTXI_MOD_WRAP))
        return false;
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        unsigned x = ptxi_native_source(c, part(c, i->a, k)), y = ptxi_native_source(c, part(c, i->b, k));
        unsigned d = ptxi_native_new(c);

        if (constant)
            shift_by_constant(c, d, x, y, right ? 32 - n % 32 : n % 32);
        else if (c->x.wide && x == y)
            ptxi_x86_vector(&c->x, rotate, d, x, ptxi_native_operand(c, part(c, i->c, k)));
        else
            shift_by_lanes(c, d, x, y, ptxi_native_source(c, part(c, i->c, k)), right);
        ptxi_native_define(c, i->d, k, 32, d);
        ptxi_native_end_part(c);
    }
    return true;
}
