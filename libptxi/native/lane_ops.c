/* Operations for one lane, in the elements 0 of vector registers. They use the instructions that op.def names for all
 * lanes, on 128 bits. */
#include "native/lane_ops.h"

#include "native/memory.h"
#include "native/table.h"

typedef struct ptxi_lane_loop loop;
typedef const struct ptxi_insn insn;

static struct ptxi_x86_rm reg(unsigned r)
{
    return ptxi_x86_reg(r);
}

static void op(loop *l, uint32_t code, unsigned d, unsigned a, unsigned b)
{
    ptxi_x86_vector_128(&l->c->x, code, d, a, reg(b));
}

static uint32_t at(unsigned slot)
{
    return slot * PTXI_UNIT;
}

/* --- moves, integers: as in family_integer.c --- */

static bool lane_mov(loop *l, insn *i, uint32_t bits, uint32_t unused)
{
    const unsigned a = bits == 32 ? ptxi_lane_source_f32(l, at(i->a)) : ptxi_lane_source(l, at(i->a), bits);
    const unsigned d = ptxi_lane_new(l);
    const bool raw = l->values[a].raw;

    (void)unused;
    op(l, PTXI_V_MOV, d, 0, a);
    (raw ? ptxi_lane_define_f32(l, at(i->d), d) : ptxi_lane_define(l, at(i->d), bits, d));
    return true;
}

static bool lane_fill(loop *l, insn *i, uint32_t first, uint32_t second)
{
    const unsigned d = ptxi_lane_new(l);

    (void)first, (void)second;
    ptxi_lane_lose_rax(l);
    ptxi_x86_imm(&l->c->x, PTXI_RAX, (uint32_t)i->imm);
    ptxi_x86_vmovd(&l->c->x, d, PTXI_RAX);
    ptxi_lane_define(l, at(i->d), 32, d);
    return true;
}

static bool lane_binary(loop *l, insn *i, uint32_t bits, uint32_t code)
{
    const unsigned a = ptxi_lane_source(l, at(i->a), bits), b = ptxi_lane_source(l, at(i->b), bits);
    const unsigned d = ptxi_lane_new(l);

    op(l, code, d, a, b);
    ptxi_lane_define(l, at(i->d), bits, d);
    return true;
}

static bool lane_unary(loop *l, insn *i, uint32_t bits, uint32_t code)
{
    const unsigned a = ptxi_lane_source(l, at(i->a), bits), d = ptxi_lane_new(l);

    op(l, code, d, 0, a);
    ptxi_lane_define(l, at(i->d), bits, d);
    return true;
}

static bool lane_neg(loop *l, insn *i, uint32_t bits, uint32_t subtract)
{
    const unsigned a = ptxi_lane_source(l, at(i->a), bits), d = ptxi_lane_new(l);

    op(l, PTXI_V_PXOR, d, d, d);
    op(l, subtract, d, d, a);
    ptxi_lane_define(l, at(i->d), bits, d);
    return true;
}

static bool lane_not(loop *l, insn *i, uint32_t bits, uint32_t unused)
{
    const unsigned a = ptxi_lane_source(l, at(i->a), bits), d = ptxi_lane_new(l);

    (void)unused;
    ptxi_x86_vector_128(&l->c->x, PTXI_V_PXOR, d, a, ptxi_native_constant(PTXI_CONST_ONES, 0));
    ptxi_lane_define(l, at(i->d), bits, d);
    return true;
}

static bool lane_chain(loop *l, insn *i, uint32_t first, uint32_t second)
{
    const unsigned a = ptxi_lane_source(l, at(i->a), 32), b = ptxi_lane_source(l, at(i->b), 32);
    const unsigned c = ptxi_lane_source(l, at(i->c), 32), d = ptxi_lane_new(l);

    op(l, first, d, a, b);
    op(l, second, d, d, c);
    ptxi_lane_define(l, at(i->d), 32, d);
    return true;
}

/* The result of 64 bits is d, and + c if `adds`. */
static void define_sum_64(loop *l, insn *i, unsigned d, bool adds)
{
    if (adds)
        op(l, PTXI_V_PADDQ, d, d, ptxi_lane_source(l, at(i->c), 64));
    ptxi_lane_define(l, at(i->d), 64, d);
}

static bool lane_shift_64(loop *l, insn *i, uint32_t shift, uint32_t adds)
{
    const unsigned a = ptxi_lane_source(l, at(i->a), 64), b = ptxi_lane_source(l, at(i->b), 32), d = ptxi_lane_new(l);

    op(l, PTXI_V_PMOVZXDQ, d, 0, b);
    op(l, shift, d, a, d);
    define_sum_64(l, i, d, adds);
    return true;
}

static bool lane_extend(loop *l, insn *i, uint32_t extend, uint32_t unused)
{
    const unsigned a = ptxi_lane_source(l, at(i->a), 32), d = ptxi_lane_new(l);

    (void)unused;
    op(l, extend, d, 0, a);
    ptxi_lane_define(l, at(i->d), 64, d);
    return true;
}

/* PMULDQ and PMULUDQ multiply the lower halves of 64-bit elements. */
static bool lane_wide_product(loop *l, insn *i, uint32_t extend, uint32_t multiply)
{
    const unsigned a = ptxi_lane_source(l, at(i->a), 32), b = ptxi_lane_source(l, at(i->b), 32), d = ptxi_lane_new(l);

    (void)extend;
    op(l, multiply, d, a, b);
    define_sum_64(l, i, d, ptxi_native_is_mad_wide(i));
    return true;
}

static bool lane_trunc(loop *l, insn *i, uint32_t first, uint32_t second)
{
    const unsigned a = ptxi_lane_source(l, at(i->a), 64), d = ptxi_lane_new(l);

    (void)first, (void)second;
    op(l, PTXI_V_MOV, d, 0, a);
    ptxi_lane_define(l, at(i->d), 32, d);
    return true;
}

/* --- f32: as in family_float.c --- */

static bool lane_binary_f32(loop *l, insn *i, uint32_t code, uint32_t unused)
{
    const unsigned a = ptxi_lane_source_f32(l, at(i->a)), b = ptxi_lane_source_f32(l, at(i->b)), d = ptxi_lane_new(l);

    (void)unused;
    op(l, code, d, a, b);
    ptxi_lane_define_f32(l, at(i->d), d);
    return true;
}

static bool lane_unary_f32(loop *l, insn *i, uint32_t code, uint32_t unused)
{
    const unsigned a = ptxi_lane_source_f32(l, at(i->a)), d = ptxi_lane_new(l);

    (void)unused;
    op(l, code, d, 0, a);
    ptxi_lane_define_f32(l, at(i->d), d);
    return true;
}

static bool lane_constant_f32(loop *l, insn *i, uint32_t code, uint32_t constant)
{
    const unsigned a = ptxi_lane_source_f32(l, at(i->a)), d = ptxi_lane_new(l);

    ptxi_x86_vector_128(&l->c->x, PTXI_V_MOV, d, 0, ptxi_native_constant((enum ptxi_native_const)constant, 0));
    op(l, code, d, d, a);
    ptxi_lane_define_f32(l, at(i->d), d);
    return true;
}

static bool lane_fma_f32(loop *l, insn *i, uint32_t first, uint32_t second)
{
    const unsigned a = ptxi_lane_source_f32(l, at(i->a)), b = ptxi_lane_source_f32(l, at(i->b));
    const unsigned c = ptxi_lane_source_f32(l, at(i->c)), d = ptxi_lane_new(l);

    (void)first, (void)second;
    op(l, PTXI_V_MOV, d, 0, c);
    op(l, PTXI_V_FMADD231PS, d, a, b);
    ptxi_lane_define_f32(l, at(i->d), d);
    return true;
}

static bool lane_cvt_f32_s32(loop *l, insn *i, uint32_t first, uint32_t second)
{
    (void)first, (void)second;
    return !(i->mods & (PTXI_MOD_RND_MASK | PTXI_MOD_SAT)) && lane_unary(l, i, 32, PTXI_V_CVTDQ2PS);
}

/* --- f64: the handler knows which NaN a result is --- */

static void define_f64(loop *l, insn *i, unsigned d)
{
    op(l, PTXI_V_UCOMISD, d, 0, d);
    ptxi_native_fail(l->c, PTXI_P);
    ptxi_lane_define(l, at(i->d), 64, d);
}

static bool lane_binary_f64(loop *l, insn *i, uint32_t code, uint32_t unused)
{
    const unsigned a = ptxi_lane_source(l, at(i->a), 64), b = ptxi_lane_source(l, at(i->b), 64), d = ptxi_lane_new(l);

    (void)unused;
    op(l, code, d, a, b);
    define_f64(l, i, d);
    return true;
}

static bool lane_fma_f64(loop *l, insn *i, uint32_t first, uint32_t second)
{
    const unsigned a = ptxi_lane_source(l, at(i->a), 64), b = ptxi_lane_source(l, at(i->b), 64);
    const unsigned c = ptxi_lane_source(l, at(i->c), 64), d = ptxi_lane_new(l);

    (void)first, (void)second;
    op(l, PTXI_V_MOV, d, 0, c);
    op(l, PTXI_V_FMADD231PD, d, a, b);
    define_f64(l, i, d);
    return true;
}

/* --- addresses and loads --- */

/* d = a * b + c */
static bool lane_address_wide(loop *l, insn *i, uint32_t is_signed, uint32_t unused)
{
    struct ptxi_x86 *x = &l->c->x;
    const unsigned a = ptxi_lane_source(l, at(i->a), 32);
    const struct ptxi_x86_rm b = ptxi_lane_common(l, i->b, 32);

    (void)unused;
    ptxi_lane_lose_rax(l);
    ptxi_x86_vmovd_from(x, PTXI_RAX, a);
    ptxi_native_load_extended(l->c, is_signed, PTXI_RAX, reg(PTXI_RAX));
    ptxi_native_load_extended(l->c, is_signed, PTXI_RCX, b);
    ptxi_x86_imul(x, PTXI_RAX, reg(PTXI_RCX));
    if (i->c != PTXI_NO_SLOT)
        ptxi_x86_alu(x, PTXI_ADD, 64, PTXI_RAX, ptxi_lane_common(l, i->c, 64));
    ptxi_lane_define_rax(l, ptxi_lane_write_row(l, i->d));
    return true;
}

/* d = (a << b) + c. Shifts by 64 and more give 0. */
static bool lane_address_shift(loop *l, insn *i, uint32_t shifts, uint32_t unused)
{
    struct ptxi_x86 *x = &l->c->x;

    (void)unused;
    ptxi_lane_load_rax(l, ptxi_lane_read_row(l, i->a));
    ptxi_lane_lose_rax(l);
    if (shifts) {
        ptxi_x86_load(x, 32, PTXI_RCX, ptxi_lane_common(l, i->b, 32));
        ptxi_x86_alu_imm(x, PTXI_CMP, 32, reg(PTXI_RCX), 63);
        ptxi_native_fail(l->c, PTXI_A);
        ptxi_x86_shlx(x, PTXI_RAX, PTXI_RAX, PTXI_RCX);
    }
    if (i->c != PTXI_NO_SLOT)
        ptxi_x86_alu(x, PTXI_ADD, 64, PTXI_RAX, ptxi_lane_common(l, i->c, 64));
    ptxi_lane_define_rax(l, ptxi_lane_write_row(l, i->d));
    return true;
}

/* rax has the address. */
static void check_address(loop *l, insn *i, unsigned bytes)
{
    struct ptxi_x86 *x = &l->c->x;
    const struct ptxi_x86_rm lowest = ptxi_lane_add_load(l, i, bytes);
    struct ptxi_x86_rm most = lowest;

    most.disp += 8;
    ptxi_x86_load(x, 64, PTXI_RCX, reg(PTXI_RAX));
    ptxi_x86_alu(x, PTXI_SUB, 64, PTXI_RCX, lowest);
    ptxi_x86_alu(x, PTXI_CMP, 64, PTXI_RCX, most);
    ptxi_native_fail(l->c, PTXI_A);
    if (bytes > 1) {
        ptxi_x86_test_imm(x, reg(PTXI_RAX), (int32_t)bytes - 1);
        ptxi_native_fail(l->c, PTXI_NE);
    }
}

static bool lane_load(loop *l, insn *i, uint32_t elements, uint32_t kind)
{
    struct ptxi_x86 *x = &l->c->x;
    const unsigned bytes = ptxi_element_bytes(elements), bits = ptxi_element_bits(elements);
    const struct ptxi_x86_rm memory = ptxi_x86_at(PTXI_RAX, i->imm);
    const bool in_row = (kind & 3) == PTXI_ADDRESS_REGISTER;
    unsigned d;

    if (kind & PTXI_STORES || (kind & 3) == PTXI_SHARED_LANES || ptxi_element_count(elements) != 1 || bits == 16 ||
        i->d == PTXI_NO_SLOT || i->imm & ((int32_t)bytes - 1))
        return false;
    ptxi_lane_load_rax(l, in_row ? ptxi_lane_read_row(l, i->a) : at(i->a));
    check_address(l, i, bytes);
    d = ptxi_lane_new(l);
    if (bytes < 4) {
        (kind & PTXI_EXTENDS_SIGN ? ptxi_x86_load_signed_part : ptxi_x86_load_part)(x, 8 * bytes, PTXI_RCX, memory);
        ptxi_x86_vmovd(x, d, PTXI_RCX);
    } else {
        ptxi_x86_vector_128(x, bits == 64 ? PTXI_V_MOVQ : PTXI_V_MOVD, d, 0, memory);
    }
    ptxi_lane_define(l, at(i->d), bits, d);
    return true;
}

/* --- the table: what a family of operations becomes for one lane --- */

typedef bool lane_emitter(loop *l, insn *i, uint32_t first, uint32_t second);

static const struct {
    ptxi_native_emitter *all;
    lane_emitter *lane;
} emitters[] = {
    { ptxi_native_emit_mov, lane_mov },
    { ptxi_native_emit_fill_32, lane_fill },
    { ptxi_native_emit_binary, lane_binary },
    { ptxi_native_emit_unary, lane_unary },
    { ptxi_native_emit_neg, lane_neg },
    { ptxi_native_emit_not, lane_not },
    { ptxi_native_emit_chain, lane_chain },
    { ptxi_native_emit_shift_64, lane_shift_64 },
    { ptxi_native_emit_extend, lane_extend },
    { ptxi_native_emit_wide_product, lane_wide_product },
    { ptxi_native_emit_trunc_64_32, lane_trunc },
    { ptxi_native_emit_binary_f32, lane_binary_f32 },
    { ptxi_native_emit_unary_f32, lane_unary_f32 },
    { ptxi_native_emit_constant_f32, lane_constant_f32 },
    { ptxi_native_emit_fma_f32, lane_fma_f32 },
    { ptxi_native_emit_cvt_f32_s32, lane_cvt_f32_s32 },
    { ptxi_native_emit_binary_f64, lane_binary_f64 },
    { ptxi_native_emit_fma_f64, lane_fma_f64 },
    { ptxi_native_emit_address_wide, lane_address_wide },
    { ptxi_native_emit_address_shift, lane_address_shift },
    { ptxi_native_emit_load_row, lane_load },
    { ptxi_native_emit_access, lane_load },
};

bool ptxi_lane_emit(loop *l, insn *i)
{
    const struct ptxi_native_op *o = ptxi_native_op(i->op);

    l->kept = 0;
    for (unsigned k = 0; o && k < sizeof emitters / sizeof *emitters; k++)
        if (emitters[k].all == o->emit)
            return emitters[k].lane(l, i, o->first, o->second);
    return false;
}
