/* Operations on row registers (exec/engine/row_register.h). If the operands are rows of all lanes, they are scalar
 * operations on the frame. Else they are rare cases with vectors, on the complete frame: in blocks of 16 x 16 threads,
 * for example, %tid is no row. */
#include <stddef.h>

#include "exec/engine/row_register.h"
#include "native/memory.h"

typedef struct ptxi_native_builder builder;
typedef const struct ptxi_insn insn;

static struct ptxi_x86_rm reg(unsigned r)
{
    return ptxi_x86_reg(r);
}

/* --- lanes of index registers --- */

enum { MASK = 1 };

/* d = a op b, and + c if `adds` */
static void index_lanes(builder *c, insn *i, uint32_t op, uint32_t adds)
{
    enum { D, SCRATCH };
    static const uint32_t codes[] = {
        [PTXI_INDEX_ADD] = PTXI_V_PADDD, [PTXI_INDEX_SUB] = PTXI_V_PSUBD, [PTXI_INDEX_MUL] = PTXI_V_PMULLD,
        [PTXI_INDEX_SHL] = PTXI_V_PSLLVD, /* 0 for counts of 32 and more */
    };

    ptxi_native_spread(c, i->a);
    if (op != PTXI_INDEX_MOV)
        ptxi_native_spread(c, i->b);
    if (adds)
        ptxi_native_spread(c, i->c);
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        ptxi_x86_vector(&c->x, PTXI_V_MOV, D, 0, ptxi_native_index_lanes(c, i->a, k));
        if (op != PTXI_INDEX_MOV)
            ptxi_x86_vector(&c->x, codes[op], D, D, ptxi_native_index_lanes(c, i->b, k));
        if (adds)
            ptxi_x86_vector(&c->x, PTXI_V_PADDD, D, D, ptxi_native_index_lanes(c, i->c, k));
        ptxi_native_store_lanes(c, D, ptxi_native_index_lanes(c, i->d, k), k, 32, SCRATCH);
    }
    ptxi_native_set_lanes(c, i->d);
}

/* --- index registers: 32 bits. rax becomes the first value, rcx the stride. --- */

static void add_or_subtract(builder *c, enum ptxi_x86_alu op, unsigned slot)
{
    ptxi_x86_alu(&c->x, op, 32, PTXI_RAX, OF_ROW(slot, first));
    ptxi_x86_alu(&c->x, op, 32, PTXI_RCX, OF_ROW(slot, stride));
}

/* One of the strides must be 0. */
static void multiply(builder *c, insn *i, uint32_t rare)
{
    ptxi_x86_load(&c->x, 64, PTXI_RDX, reg(PTXI_RCX));
    ptxi_x86_imul(&c->x, PTXI_RDX, OF_ROW(i->b, stride));
    ptxi_x86_test(&c->x, 64, PTXI_RDX, PTXI_RDX);
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    ptxi_x86_load(&c->x, 64, PTXI_RDX, OF_ROW(i->b, stride));
    ptxi_x86_imul(&c->x, PTXI_RDX, reg(PTXI_RAX));
    ptxi_x86_imul(&c->x, PTXI_RCX, OF_ROW(i->b, first));
    ptxi_x86_alu(&c->x, PTXI_ADD, 32, PTXI_RCX, reg(PTXI_RDX));
    ptxi_x86_imul(&c->x, PTXI_RAX, OF_ROW(i->b, first));
    ptxi_x86_load(&c->x, 32, PTXI_RAX, reg(PTXI_RAX));
}

/* The count must be the same in all lanes and below 32. */
static void shift_left(builder *c, insn *i, uint32_t rare)
{
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 64, OF_ROW(i->b, stride), 0);
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    ptxi_x86_load(&c->x, 32, PTXI_RDX, reg(PTXI_RCX));
    ptxi_x86_load(&c->x, 32, PTXI_RCX, OF_ROW(i->b, first));
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, reg(PTXI_RCX), 32);
    ptxi_native_jump_rare(c, rare, PTXI_AE);
    ptxi_x86_shl_cl(&c->x, PTXI_RAX);
    ptxi_x86_shl_cl(&c->x, PTXI_RDX);
    ptxi_x86_load(&c->x, 32, PTXI_RCX, reg(PTXI_RDX));
}

/* d = a op b, and + c if `adds` */
bool ptxi_native_emit_index(builder *c, insn *i, uint32_t op, uint32_t adds)
{
    uint32_t rare = ptxi_native_rare(c, PTXI_RARE_HANDLER);

    ptxi_native_try_lanes(c, rare, index_lanes);
    ptxi_native_check_target(c, i->d, rare);
    ptxi_native_check_row(c, i->a, rare);
    if (op != PTXI_INDEX_MOV)
        ptxi_native_check_row(c, i->b, rare);
    if (adds)
        ptxi_native_check_row(c, i->c, rare);
    ptxi_x86_load(&c->x, 32, PTXI_RAX, OF_ROW(i->a, first));
    ptxi_x86_load(&c->x, 64, PTXI_RCX, OF_ROW(i->a, stride));
    switch ((enum ptxi_native_index_op)op) {
    case PTXI_INDEX_MOV: break;
    case PTXI_INDEX_ADD: add_or_subtract(c, PTXI_ADD, i->b); break;
    case PTXI_INDEX_SUB: add_or_subtract(c, PTXI_SUB, i->b); break;
    case PTXI_INDEX_MUL: multiply(c, i, rare); break;
    case PTXI_INDEX_SHL: shift_left(c, i, rare); break;
    }
    if (adds)
        add_or_subtract(c, PTXI_ADD, i->c);
    ptxi_x86_movsxd(&c->x, PTXI_RCX, reg(PTXI_RCX));
    ptxi_native_set_row(c, i->d);
    ptxi_native_resume(c, rare);
    return true;
}

/* %ctaid */
bool ptxi_native_emit_index_sreg(builder *c, insn *i, uint32_t first, uint32_t second)
{
    const unsigned axis = (unsigned)i->imm >> 8;

    (void)first, (void)second;
    if (c->partial || (i->imm & 0xff) != PTXI_SREG_ctaid || axis > 2)
        return false;
    ptxi_x86_load(&c->x, 64, PTXI_RAX, ptxi_x86_at(PTXI_NATIVE_WARP, (int32_t)offsetof(struct ptxi_warp, cta)));
    ptxi_x86_load(&c->x, 32, PTXI_RAX,
                  ptxi_x86_at(PTXI_RAX, (int32_t)(offsetof(struct ptxi_cta, ctaid) + 4 * axis)));
    ptxi_x86_imm(&c->x, PTXI_RCX, 0);
    ptxi_native_set_row(c, i->d);
    return true;
}

/* --- comparisons --- */

/* last = first + 31 * last, where `last` is the stride. The rare case: it does not fit into 32 bits. Changes rcx unless
 * it is `last`. */
static void extend_range(builder *c, bool is_signed, unsigned first, unsigned last, unsigned scratch, uint32_t rare)
{
    ptxi_x86_load(&c->x, 64, scratch, reg(last));
    ptxi_x86_shl(&c->x, 64, last, 5);
    ptxi_x86_alu(&c->x, PTXI_SUB, 64, last, reg(scratch));
    ptxi_x86_alu(&c->x, PTXI_ADD, 64, last, reg(first));
    ptxi_native_load_extended(c, is_signed, scratch, reg(last));
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, scratch, reg(last));
    ptxi_native_jump_rare(c, rare, PTXI_NE);
}

static void range(builder *c, unsigned slot, bool is_signed, unsigned first, unsigned last, uint32_t rare)
{
    ptxi_native_check_row(c, slot, rare);
    ptxi_x86_load(&c->x, 64, last, OF_ROW(slot, stride));
    ptxi_x86_test(&c->x, 64, last, last);
    ptxi_native_jump_rare(c, rare, PTXI_L);
    ptxi_native_load_extended(c, is_signed, first, OF_ROW(slot, first));
    extend_range(c, is_signed, first, last, PTXI_RCX, rare);
}

void ptxi_native_ranges(builder *c, insn *i, enum ptxi_native_kind kind, uint32_t rare)
{
    range(c, i->a, kind == PTXI_SIGNED, PTXI_RAX, PTXI_RDX, rare);
    range(c, i->b, kind == PTXI_SIGNED, PTXI_RSI, PTXI_RDI, rare);
}

void ptxi_native_equality(builder *c, insn *i, uint32_t rare)
{
    ptxi_native_check_row(c, i->a, rare);
    ptxi_native_check_row(c, i->b, rare);
    ptxi_x86_load(&c->x, 64, PTXI_RAX, OF_ROW(i->a, stride));
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RAX, OF_ROW(i->b, stride));
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    ptxi_x86_load(&c->x, 32, PTXI_RAX, OF_ROW(i->a, first));
    ptxi_x86_alu(&c->x, PTXI_CMP, 32, PTXI_RAX, OF_ROW(i->b, first));
}

/* --- comparisons that hold in some lanes. The code works on the complete frame. --- */

/* ecx = the lanes of a part in which the condition, = or <, holds */
static void compare_part(builder *c, unsigned a, unsigned b, bool is_signed, bool equal, unsigned scratch)
{
    if (c->x.wide) {
        ptxi_x86_vector_masked(&c->x, is_signed ? PTXI_V_PCMPD : PTXI_V_PCMPUD, MASK, a, reg(b),
                               equal ? PTXI_COMPARE_EQ : PTXI_COMPARE_LT, 0);
        ptxi_x86_kmovw_from(&c->x, PTXI_RCX, MASK);
        return;
    }
    if (!is_signed) { /* as signed numbers with the other sign */
        ptxi_x86_vector(&c->x, PTXI_V_MOV, scratch, 0, ptxi_native_constant(PTXI_CONST_SIGN, 0));
        ptxi_x86_vector(&c->x, PTXI_V_PXOR, a, a, reg(scratch));
        ptxi_x86_vector(&c->x, PTXI_V_PXOR, b, b, reg(scratch));
    }
    if (equal)
        ptxi_x86_vector(&c->x, PTXI_V_PCMPEQD, a, a, reg(b));
    else
        ptxi_x86_vector(&c->x, PTXI_V_PCMPGTD, a, b, reg(a));
    ptxi_x86_vector(&c->x, PTXI_V_MOVMSKPS, PTXI_RCX, 0, reg(a));
}

void ptxi_native_compare_index_lanes(builder *c, insn *i, uint32_t kind, uint32_t condition)
{
    enum { A, B, SCRATCH };
    const bool equal = condition == PTXI_COMPARE_EQ || condition == PTXI_COMPARE_NE;
    const unsigned parts = ptxi_native_parts(c, 32);

    ptxi_native_spread(c, i->a);
    ptxi_native_spread(c, i->b);
    for (unsigned k = 0; k < parts; k++) {
        ptxi_x86_vector(&c->x, PTXI_V_MOV, A, 0, ptxi_native_index_lanes(c, i->a, k));
        ptxi_x86_vector(&c->x, PTXI_V_MOV, B, 0, ptxi_native_index_lanes(c, i->b, k));
        compare_part(c, A, B, kind == PTXI_SIGNED || equal, equal, SCRATCH);
        if (k) {
            ptxi_x86_shl(&c->x, 32, PTXI_RCX, k * PTXI_LANES / parts);
            ptxi_x86_alu(&c->x, PTXI_OR, 32, PTXI_RAX, reg(PTXI_RCX));
        } else {
            ptxi_x86_load(&c->x, 32, PTXI_RAX, reg(PTXI_RCX));
        }
    }
    if (condition == PTXI_COMPARE_NE || condition == PTXI_COMPARE_GE)
        ptxi_x86_not(&c->x, PTXI_RAX);
}

static void setp_lanes(builder *c, insn *i, uint32_t kind, uint32_t condition)
{
    ptxi_native_compare_index_lanes(c, i, kind, condition);
    if (i->mods & PTXI_MOD_NOT_C)
        ptxi_x86_not(&c->x, PTXI_RAX);
    ptxi_native_store_predicate(c, i->d, PTXI_RAX);
}

/* A predicate that holds in all lanes or in none. */
bool ptxi_native_emit_index_setp(builder *c, insn *i, uint32_t kind, uint32_t condition)
{
    const uint32_t all = (uint32_t)PTXI_ALL_LANES, holds = i->mods & PTXI_MOD_NOT_C ? 0 : all;
    uint32_t rare = ptxi_native_rare(c, PTXI_RARE_HANDLER), done;

    ptxi_native_try_lanes(c, rare, setp_lanes);
    if (condition == PTXI_COMPARE_EQ) {
        ptxi_native_equality(c, i, rare);
        ptxi_x86_imm(&c->x, PTXI_RCX, holds);
        done = ptxi_x86_jump_if(&c->x, PTXI_E);
        ptxi_x86_imm(&c->x, PTXI_RCX, holds ^ all);
    } else {
        ptxi_native_ranges(c, i, (enum ptxi_native_kind)kind, rare);
        ptxi_x86_imm(&c->x, PTXI_RCX, holds);
        ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RDX, reg(PTXI_RSI));
        done = ptxi_x86_jump_if(&c->x, PTXI_L);
        ptxi_x86_imm(&c->x, PTXI_RCX, holds ^ all);
        ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RAX, reg(PTXI_RDI));
        ptxi_native_jump_rare(c, rare, PTXI_L);
    }
    ptxi_x86_patch(&c->x, done, c->x.size);
    ptxi_native_store_predicate(c, i->d, PTXI_RCX);
    ptxi_native_resume(c, rare);
    return true;
}

/* --- addresses --- */

/* d = a * b + c, for an index register a that does not wrap. */
bool ptxi_native_emit_address_index(builder *c, insn *i, uint32_t is_signed, uint32_t unused)
{
    struct ptxi_x86_rm factor = ptxi_native_scalar(c, i->b);
    uint32_t rare;

    (void)unused;
    if (i->c != PTXI_NO_SLOT)
        ptxi_native_scalar(c, i->c);
    rare = ptxi_native_rare(c, PTXI_RARE_HANDLER);
    ptxi_native_try_lanes(c, rare, ptxi_native_address_index_lanes);
    ptxi_native_check_target(c, i->d, rare);
    ptxi_native_check_row(c, i->a, rare);
    ptxi_native_load_extended(c, is_signed, PTXI_RAX, OF_ROW(i->a, first));
    ptxi_x86_load(&c->x, 64, PTXI_RDX, OF_ROW(i->a, stride));
    ptxi_x86_load(&c->x, 64, PTXI_RCX, reg(PTXI_RDX));
    extend_range(c, is_signed, PTXI_RAX, PTXI_RDX, PTXI_RSI, rare);
    ptxi_native_load_extended(c, is_signed, PTXI_RDX, factor);
    ptxi_x86_imul(&c->x, PTXI_RAX, reg(PTXI_RDX));
    ptxi_x86_imul(&c->x, PTXI_RCX, reg(PTXI_RDX));
    if (i->c != PTXI_NO_SLOT)
        ptxi_x86_alu(&c->x, PTXI_ADD, 64, PTXI_RAX, ptxi_native_frame(i->c, 0));
    ptxi_native_set_row(c, i->d);
    ptxi_native_resume(c, rare);
    return true;
}
