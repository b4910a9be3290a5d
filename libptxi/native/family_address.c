/* Operations on address registers (exec/engine/row_register.h) whose operands are not a row of all lanes, and those
 * that find a row in a register of 64 bits. */
#include "native/memory.h"

typedef struct ptxi_native_builder builder;
typedef const struct ptxi_insn insn;

enum { T0 = 8, T1, T2, T3, T4, MASK = 1 };

static struct ptxi_x86_rm reg(unsigned r)
{
    return ptxi_x86_reg(r);
}

static void op(builder *c, uint32_t code, unsigned d, unsigned a, unsigned b)
{
    ptxi_x86_vector(&c->x, code, d, a, reg(b));
}

static struct ptxi_x86_rm lanes_of(const builder *c, unsigned slot, unsigned k)
{
    return ptxi_native_frame(slot, (unsigned)offsetof(struct ptxi_address, lanes) + k * c->bytes);
}

/* rax += operand c, which all lanes have in common */
static void add_base(builder *c, insn *i)
{
    if (i->c != PTXI_NO_SLOT)
        ptxi_x86_alu(&c->x, PTXI_ADD, 64, PTXI_RAX, ptxi_native_frame(i->c, 0));
}

/* T4 = operand c in all lanes */
static void broadcast_base(builder *c, insn *i)
{
    if (i->c != PTXI_NO_SLOT)
        ptxi_x86_vector(&c->x, PTXI_V_BROADCASTQ, T4, 0, ptxi_native_frame(i->c, 0));
    else
        op(c, PTXI_V_PXOR, T4, T4, T4);
}

/* T1 = T0 + the number of the lane, for part k of 64-bit elements */
static void add_lane_numbers(builder *c, unsigned k)
{
    ptxi_x86_vector(&c->x, PTXI_V_PMOVZXDQ, T1, 0, ptxi_native_constant(PTXI_CONST_IOTA, k * c->bytes / 2));
    op(c, PTXI_V_PADDQ, T1, T1, T0);
}

/* AVX-512: compares `expected` and vector k. */
static void compare_wide(builder *c, unsigned expected, unsigned k, bool is_64)
{
    if (c->partial) {
        op(c, PTXI_V_MOV, T2, 0, expected);
        ptxi_native_merge(c, T2, reg(k), k, is_64 ? 64 : 32, T3);
    }
    ptxi_x86_vector_masked(&c->x, is_64 ? PTXI_V_PCMPQ : PTXI_V_PCMPD, MASK, c->partial ? T2 : expected, reg(k),
                           PTXI_COMPARE_EQ, k ? MASK : 0);
}

/* AVX2: the same. T3 has the result for the vectors before. */
static void compare_narrow(builder *c, unsigned expected, unsigned k, bool is_64)
{
    const unsigned same = k ? T2 : T3;

    op(c, is_64 ? PTXI_V_PCMPEQQ : PTXI_V_PCMPEQD, same, expected, k);
    if (c->partial) {
        ptxi_native_load_mask(c, T4, k, is_64 ? 64 : 32, false);
        op(c, PTXI_V_POR, same, same, T4);
    }
    if (k)
        op(c, PTXI_V_PAND, T3, T3, T2);
}

/* Whether all active elements of vectors 0, 1, ... are T0, or, if `grows`, T0 + the number of the lane. The flags are
 * NE if not. */
static void compare_vectors(builder *c, unsigned count, bool is_64, bool grows)
{
    for (unsigned k = 0; k < count; k++) {
        if (grows) /* only for 64 bits */
            add_lane_numbers(c, k);
        (c->x.wide ? compare_wide : compare_narrow)(c, grows ? T1 : T0, k, is_64);
    }
    if (c->x.wide)
        ptxi_x86_kmovw_from(&c->x, PTXI_RAX, MASK);
    else
        op(c, PTXI_V_MOVMSKPS, PTXI_RAX, 0, T3);
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, reg(PTXI_RAX), c->x.wide && !is_64 ? 0xffff : 0xff);
}

/* --- d = a * b + c. The index a is extended to 64 bits. --- */

/* The indices begin at this offset in the frame. */
static void multiply_lanes(builder *c, insn *i, unsigned indices, bool is_signed)
{
    const uint32_t extend = is_signed ? PTXI_V_PMOVSXDQ : PTXI_V_PMOVZXDQ;
    const uint32_t multiply = is_signed ? PTXI_V_PMULDQ : PTXI_V_PMULUDQ;

    ptxi_x86_vector(&c->x, PTXI_V_BROADCASTQ, T0, 0, ptxi_native_frame(i->b, 0)); /* reads only lower words */
    broadcast_base(c, i);
    for (unsigned k = 0; k < ptxi_native_parts(c, 64); k++) {
        ptxi_x86_vector(&c->x, extend, T1, 0, ptxi_native_frame(0, indices + k * c->bytes / 2));
        op(c, multiply, T1, T1, T0);
        op(c, PTXI_V_PADDQ, T1, T1, T4);
        ptxi_native_store_lanes(c, T1, lanes_of(c, i->d, k), k, 64, T2);
    }
    ptxi_native_set_lanes(c, i->d);
}

/* The same for a few active lanes. */
static void multiply_few_lanes(builder *c, insn *i, unsigned indices, bool is_signed)
{
    const struct ptxi_x86_rm index = ptxi_x86_scaled(PTXI_NATIVE_FRAME, PTXI_RDX, 2, (int32_t)indices);
    const int32_t lanes = i->d * PTXI_UNIT + (int32_t)offsetof(struct ptxi_address, lanes);
    uint32_t next;

    ptxi_native_load_extended(c, is_signed, PTXI_RSI, ptxi_native_frame(i->b, 0));
    ptxi_x86_imm(&c->x, PTXI_R8, 0);
    if (i->c != PTXI_NO_SLOT)
        ptxi_x86_load(&c->x, 64, PTXI_R8, ptxi_native_frame(i->c, 0));
    next = ptxi_native_begin_active(c);
    ptxi_native_load_extended(c, is_signed, PTXI_RAX, index);
    ptxi_x86_imul(&c->x, PTXI_RAX, reg(PTXI_RSI));
    ptxi_x86_alu(&c->x, PTXI_ADD, 64, PTXI_RAX, reg(PTXI_R8));
    ptxi_x86_store(&c->x, 64, ptxi_x86_scaled(PTXI_NATIVE_FRAME, PTXI_RDX, 3, lanes), PTXI_RAX);
    ptxi_native_end_active(c, next);
    ptxi_native_set_lanes(c, i->d);
}

static void multiply_active_lanes(builder *c, insn *i, unsigned indices, bool is_signed)
{
    enum { FEW = 6 }; /* so many lanes take as long as vectors with all */
    uint32_t many, done;

    ptxi_x86_load(&c->x, 32, PTXI_RAX, ptxi_native_on_stack(PTXI_STACK_ACTIVE));
    ptxi_x86_popcnt(&c->x, PTXI_RAX, PTXI_RAX);
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, reg(PTXI_RAX), FEW);
    many = ptxi_x86_jump_if(&c->x, PTXI_A);
    multiply_few_lanes(c, i, indices, is_signed);
    done = ptxi_x86_jump(&c->x);
    ptxi_x86_patch(&c->x, many, c->x.size);
    multiply_lanes(c, i, indices, is_signed);
    ptxi_x86_patch(&c->x, done, c->x.size);
}

void ptxi_native_address_index_lanes(builder *c, insn *i, uint32_t is_signed, uint32_t unused)
{
    const unsigned indices = i->a * PTXI_UNIT + (unsigned)offsetof(struct ptxi_index, lanes);

    (void)unused;
    ptxi_native_spread(c, i->a);
    (c->partial ? multiply_active_lanes : multiply_lanes)(c, i, indices, is_signed);
}

void ptxi_native_address_wide_lanes(builder *c, insn *i, uint32_t is_signed, uint32_t unused)
{
    const unsigned indices = i->a * PTXI_UNIT;
    uint32_t differ, done;

    (void)unused;
    if (c->partial) {
        multiply_active_lanes(c, i, indices, is_signed);
        return;
    }
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++)
        ptxi_x86_vector(&c->x, PTXI_V_MOV, k, 0, ptxi_native_frame(i->a, k * c->bytes));
    op(c, PTXI_V_BROADCASTD, T0, 0, 0);
    compare_vectors(c, ptxi_native_parts(c, 32), false, false);
    differ = ptxi_x86_jump_if(&c->x, PTXI_NE);
    ptxi_native_load_extended(c, is_signed, PTXI_RAX, ptxi_native_frame(i->a, 0));
    ptxi_native_load_extended(c, is_signed, PTXI_RCX, ptxi_native_frame(i->b, 0));
    ptxi_x86_imul(&c->x, PTXI_RAX, reg(PTXI_RCX));
    add_base(c, i);
    ptxi_x86_imm(&c->x, PTXI_RCX, 0);
    ptxi_native_set_row(c, i->d);
    done = ptxi_x86_jump(&c->x);
    ptxi_x86_patch(&c->x, differ, c->x.size);
    multiply_lanes(c, i, indices, is_signed);
    ptxi_x86_patch(&c->x, done, c->x.size);
}

/* --- d = (a << b) + c --- */

/* Vectors 0, 1, ... become the lanes of d. T0 has the count in all elements. */
static void shift_lanes(builder *c, insn *i)
{
    broadcast_base(c, i);
    for (unsigned k = 0; k < ptxi_native_parts(c, 64); k++) {
        op(c, PTXI_V_PSLLVQ, k, k, T0);
        op(c, PTXI_V_PADDQ, k, k, T4);
        ptxi_native_store_lanes(c, k, lanes_of(c, i->d, k), k, 64, T1);
    }
    ptxi_native_set_lanes(c, i->d);
}

/* T0 = the count, in elements of 64 bits. Shifts by 64 and more give 0. */
static void broadcast_count(builder *c, insn *i)
{
    if (i->op == PTXI_OP_address_add) {
        op(c, PTXI_V_PXOR, T0, T0, T0);
        return;
    }
    ptxi_x86_load(&c->x, 32, PTXI_RAX, ptxi_native_frame(i->b, 0));
    ptxi_native_broadcast(c, T0, PTXI_RAX, 64);
}

/* For an address register that has no lanes in a row. */
void ptxi_native_address_shift_lanes(builder *c, insn *i, uint32_t first, uint32_t second)
{
    (void)first, (void)second;
    ptxi_native_expect_lanes(c, i->a);
    for (unsigned k = 0; k < ptxi_native_parts(c, 64); k++)
        ptxi_x86_vector(&c->x, PTXI_V_MOV, k, 0, lanes_of(c, i->a, k));
    broadcast_count(c, i);
    shift_lanes(c, i);
}

/* rdx = the count. The flags are A if it is 64 or more. */
static void load_count(builder *c, insn *i)
{
    ptxi_x86_load(&c->x, 32, PTXI_RDX, ptxi_native_frame(i->b, 0));
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, reg(PTXI_RDX), 63);
}

/* rax and rcx, the first value and the stride, are shifted by rdx. */
static void shift_row(builder *c)
{
    ptxi_x86_shlx(&c->x, PTXI_RAX, PTXI_RAX, PTXI_RDX);
    ptxi_x86_shlx(&c->x, PTXI_RCX, PTXI_RCX, PTXI_RDX);
}

bool ptxi_native_emit_address_shift(builder *c, insn *i, uint32_t shifts, uint32_t unused)
{
    uint32_t rare;

    (void)unused;
    if (shifts)
        ptxi_native_scalar(c, i->b);
    if (i->c != PTXI_NO_SLOT)
        ptxi_native_scalar(c, i->c);
    rare = ptxi_native_rare(c, PTXI_RARE_HANDLER);
    ptxi_native_try_lanes(c, rare, ptxi_native_address_shift_lanes);
    ptxi_native_check_target(c, i->d, rare);
    ptxi_native_check_row(c, i->a, rare);
    ptxi_x86_load(&c->x, 64, PTXI_RAX, OF_ROW(i->a, first));
    ptxi_x86_load(&c->x, 64, PTXI_RCX, OF_ROW(i->a, stride));
    if (shifts) {
        load_count(c, i);
        ptxi_native_jump_rare(c, rare, PTXI_A);
        shift_row(c);
    }
    add_base(c, i);
    ptxi_native_set_row(c, i->d);
    ptxi_native_resume(c, rare);
    return true;
}

/* All lanes have one address. */
bool ptxi_native_emit_address_set(builder *c, insn *i, uint32_t first, uint32_t second)
{
    struct ptxi_x86_rm value;
    uint32_t rare;

    (void)first, (void)second;
    if (i->c == PTXI_NO_SLOT)
        return false;
    value = ptxi_native_scalar(c, i->c);
    rare = ptxi_native_rare(c, PTXI_RARE_HANDLER);
    ptxi_native_check_target(c, i->d, rare);
    ptxi_x86_load(&c->x, 64, PTXI_RAX, value);
    ptxi_x86_imm(&c->x, PTXI_RCX, 0);
    ptxi_native_set_row(c, i->d);
    ptxi_native_resume(c, rare);
    return true;
}

/* rax = the value of the first active lane of a register of 64 bits, minus its number if `grows`. T0 has it in all
 * elements. */
static void load_first_active(builder *c, unsigned slot, bool grows)
{
    ptxi_native_load_first_active(c, slot);
    if (c->partial && grows)
        ptxi_x86_alu(&c->x, PTXI_SUB, 64, PTXI_RAX, reg(PTXI_RCX));
    ptxi_native_broadcast(c, T0, PTXI_RAX, 64);
}

/* If the lanes are a row that grows by 1 or by 0, d becomes a row. Returns a jump for other lanes. */
static uint32_t lea_row(builder *c, insn *i, bool grows, uint32_t *done)
{
    uint32_t other;

    load_first_active(c, i->a, grows);
    compare_vectors(c, ptxi_native_parts(c, 64), true, grows);
    other = ptxi_x86_jump_if(&c->x, PTXI_NE);
    load_count(c, i);
    ptxi_native_fail(c, PTXI_A);
    ptxi_x86_vector_128(&c->x, PTXI_V_MOVQ_TO, T0, 0, reg(PTXI_RAX));
    ptxi_x86_imm(&c->x, PTXI_RCX, grows);
    shift_row(c);
    add_base(c, i);
    ptxi_native_set_row(c, i->d);
    *done = ptxi_x86_jump(&c->x);
    return other;
}

/* For a register of 64 bits: a row, or any lanes. */
static void lea_lanes(builder *c, insn *i, uint32_t first, uint32_t second)
{
    uint32_t other, grown, equal;

    (void)first, (void)second;
    ptxi_native_expect_target(c, i->d);
    for (unsigned k = 0; k < ptxi_native_parts(c, 64); k++)
        ptxi_x86_vector(&c->x, PTXI_V_MOV, k, 0, ptxi_native_frame(i->a, k * c->bytes));
    other = lea_row(c, i, true, &grown);
    ptxi_x86_patch(&c->x, other, c->x.size);
    other = lea_row(c, i, false, &equal);
    ptxi_x86_patch(&c->x, other, c->x.size);
    broadcast_count(c, i);
    shift_lanes(c, i);
    ptxi_x86_patch(&c->x, grown, c->x.size);
    ptxi_x86_patch(&c->x, equal, c->x.size);
}

bool ptxi_native_emit_address_lea(builder *c, insn *i, uint32_t first, uint32_t second)
{
    ptxi_native_put_lanes(c, i, lea_lanes, first, second);
    return true;
}
