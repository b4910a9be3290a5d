/* Address registers, loads and stores. Native code has the usual case: the lanes access a row of elements, and it is in
 * the allocation that the instruction hit last, or in the CTA's shared memory. Rare code calls the handler. */
#include "exec/engine/grid.h"
#include "exec/engine/program.h"
#include "exec/memory/shape.h"
#include "native/memory.h"

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

/* --- rows of 32-bit elements --- */

/* The mask of the inactive lanes of part k in partial code. */
static struct ptxi_x86_rm inactive(unsigned k)
{
    return ptxi_native_on_stack(PTXI_STACK_INACTIVE_WORDS + 32 * k);
}

/* Jumps to a rare case unless active element l of the slot is element 0 + l * step, modulo 2^32. Allocates no registers
 * after the call of ptxi_native_rare(), which the caller gets. */
static uint32_t check_row(builder *c, unsigned slot, unsigned shift)
{
    const unsigned count = ptxi_native_parts(c, 32);
    const unsigned first = ptxi_native_temporary(c), t = ptxi_native_temporary(c), all = ptxi_native_temporary(c);
    uint32_t rare;

    ptxi_x86_vector(&c->x, PTXI_V_BROADCASTD, first, 0, ptxi_native_scalar(c, slot));
    for (unsigned k = 0; k < count; k++) {
        const struct ptxi_x86_rm lane = ptxi_native_constant(shift ? PTXI_CONST_IOTA_4 : PTXI_CONST_IOTA, k * c->bytes);
        const struct ptxi_x86_rm value = ptxi_native_operand(c, part(c, slot, k));

        ptxi_x86_vector(&c->x, PTXI_V_PADDD, t, first, lane);
        if (c->x.wide) {
            if (c->partial)
                ptxi_native_merge(c, t, value, k, 32, c->registers);
            ptxi_x86_vector_masked(&c->x, PTXI_V_PCMPD, 1, t, value, PTXI_COMPARE_EQ, k ? 1 : 0);
        } else {
            ptxi_x86_vector(&c->x, PTXI_V_PCMPEQD, k ? t : all, t, value);
            if (c->partial)
                ptxi_x86_vector(&c->x, PTXI_V_POR, k ? t : all, k ? t : all, inactive(k));
            if (k)
                ptxi_x86_vector(&c->x, PTXI_V_PAND, all, all, reg(t));
        }
    }
    rare = ptxi_native_rare(c, PTXI_RARE_HANDLER);
    if (c->x.wide)
        ptxi_x86_kmovw_from(&c->x, PTXI_RAX, 1);
    else
        ptxi_x86_vector(&c->x, PTXI_V_MOVMSKPS, PTXI_RAX, 0, reg(all));
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, reg(PTXI_RAX), c->x.wide ? 0xffff : 0xff);
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    return rare;
}

/* --- address registers (exec/engine/row_register.h) --- */

/* d = a * b + c, if the index a grows by 1. */
bool ptxi_native_emit_address_wide(builder *c, insn *i, uint32_t is_signed, uint32_t unused)
{
    struct ptxi_x86_rm factor = ptxi_native_scalar(c, i->b), first = ptxi_native_scalar(c, i->a);
    uint32_t rare;

    (void)unused;
    if (i->c != PTXI_NO_SLOT)
        ptxi_native_scalar(c, i->c);
    rare = check_row(c, i->a, 0);
    ptxi_native_try_lanes(c, rare, ptxi_native_address_wide_lanes);
    ptxi_native_check_target(c, i->d, rare);
    ptxi_x86_load(&c->x, 32, PTXI_RAX, first);
    ptxi_x86_lea(&c->x, 32, PTXI_RCX, ptxi_x86_at(PTXI_RAX, PTXI_LANES - 1));
    ptxi_x86_alu(&c->x, PTXI_CMP, 32, PTXI_RCX, reg(PTXI_RAX));
    ptxi_native_jump_rare(c, rare, is_signed ? PTXI_L : PTXI_B);
    ptxi_native_load_extended(c, is_signed, PTXI_RAX, first);
    ptxi_native_load_extended(c, is_signed, PTXI_RCX, factor);
    ptxi_x86_imul(&c->x, PTXI_RAX, reg(PTXI_RCX));
    if (i->c != PTXI_NO_SLOT)
        ptxi_x86_alu(&c->x, PTXI_ADD, 64, PTXI_RAX, ptxi_native_frame(i->c, 0));
    ptxi_native_set_row(c, i->d);
    ptxi_native_resume(c, rare);
    return true;
}

/* Whether `bytes` at rax are in the allocation that the instruction hit last, as in ptxi_access_is_cached(). */
static void check_bounds(builder *c, insn *i, unsigned bytes, bool is_store, uint32_t rare)
{
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RAX, OF_HIT(i, lo));
    ptxi_native_jump_rare(c, rare, PTXI_B);
    ptxi_x86_lea(&c->x, 64, PTXI_RCX, ptxi_x86_at(PTXI_RAX, (int32_t)bytes));
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RCX, is_store ? OF_HIT(i, write_hi) : OF_HIT(i, hi));
    ptxi_native_jump_rare(c, rare, PTXI_A);
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RCX, reg(PTXI_RAX));
    ptxi_native_jump_rare(c, rare, PTXI_BE);
    ptxi_x86_load(&c->x, 64, PTXI_RDX, ptxi_x86_at(PTXI_NATIVE_GENERATION, 0));
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RDX, OF_HIT(i, generation));
    ptxi_native_jump_rare(c, rare, PTXI_NE);
}

/* Prefetches `bytes` at an address. */
static void prefetch_lines(builder *c, struct ptxi_x86_rm memory, unsigned bytes)
{
    enum { LINE = 64 };

    for (unsigned k = 0; k < bytes; k += LINE, memory.disp += LINE)
        ptxi_x86_prefetch(&c->x, memory);
}

/* Prefetches a row some rows after the one at rax. Later warps mostly read it, soon. Grids of two and three dimensions
 * touch little of many rows at a time, which hardware prefetchers do not follow. */
static void prefetch_later_row(builder *c, unsigned bytes)
{
    enum { DISTANCE = 1024 };

    prefetch_lines(c, ptxi_x86_at(PTXI_RAX, DISTANCE), bytes);
}

/* As ptxi_prefetch_rounds(), for a load of a row at rax. In loops, rounds mostly go on in regular steps. */
static void prefetch(builder *c, insn *i, unsigned bytes)
{
    enum { LOG_AHEAD = 3 };
    uint32_t irregular, done;

    if (!c->in_loop[c->now]) {
        prefetch_later_row(c, bytes);
        return;
    }
    ptxi_x86_load(&c->x, 64, PTXI_RCX, reg(PTXI_RAX));
    ptxi_x86_alu(&c->x, PTXI_SUB, 64, PTXI_RCX, OF_HIT(i, last));
    ptxi_x86_store(&c->x, 64, OF_HIT(i, last), PTXI_RAX);
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RCX, OF_HIT(i, step));
    ptxi_x86_store(&c->x, 64, OF_HIT(i, step), PTXI_RCX);
    irregular = ptxi_x86_jump_if(&c->x, PTXI_NE);
    ptxi_x86_shl(&c->x, 64, PTXI_RCX, LOG_AHEAD);
    prefetch_lines(c, ptxi_x86_indexed(PTXI_RAX, PTXI_RCX, 0), bytes);
    done = ptxi_x86_jump(&c->x);
    ptxi_x86_patch(&c->x, irregular, c->x.size);
    prefetch_later_row(c, bytes);
    ptxi_x86_patch(&c->x, done, c->x.size);
}

/* rax = the address of lane 0, if the register holds a row of aligned addresses */
static void load_first(builder *c, insn *i, unsigned size, uint32_t rare)
{
    ptxi_native_check_row(c, i->a, rare);
    ptxi_x86_load(&c->x, 64, PTXI_RAX, OF_ROW(i->a, first));
    ptxi_x86_test_imm(&c->x, reg(PTXI_RAX), (int32_t)size - 1);
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    if (i->imm)
        ptxi_x86_alu_imm(&c->x, PTXI_ADD, 64, reg(PTXI_RAX), i->imm);
}

/* Element k of a row begins at rax + disp, or, with an index register, at rax + index + disp. */
static void load_row(builder *c, const unsigned *d, unsigned bits, unsigned index, int32_t disp)
{
    for (unsigned k = 0; k < ptxi_native_parts(c, bits); k++)
        ptxi_x86_vector(&c->x, PTXI_V_MOVU, d[k], 0,
                        ptxi_x86_indexed(PTXI_RAX, index, disp + (int32_t)(k * c->bytes)));
}

static void store_row(builder *c, unsigned slot, unsigned bits, unsigned index, int32_t disp)
{
    for (unsigned k = 0; k < ptxi_native_parts(c, bits); k++) {
        unsigned value = ptxi_native_source(c, part(c, slot, k));

        ptxi_native_store_vector(c, value, ptxi_x86_indexed(PTXI_RAX, index, disp + (int32_t)(k * c->bytes)), k, bits,
                                 c->registers);
        ptxi_native_end_part(c);
    }
}

enum { MAX_PARTS = PTXI_LANES * 8 / 32 };

static void new_registers(builder *c, unsigned bits, unsigned d[MAX_PARTS])
{
    for (unsigned k = 0; k < ptxi_native_parts(c, bits); k++)
        d[k] = ptxi_native_new(c);
}

static void define(builder *c, unsigned slot, unsigned bits, const unsigned *d)
{
    for (unsigned k = 0; k < ptxi_native_parts(c, bits); k++)
        ptxi_native_define(c, slot, k, bits, d[k]);
}

/* The element at rax, for all lanes. */
static void load_everywhere(builder *c, unsigned bits, const unsigned *d)
{
    ptxi_x86_vector(&c->x, bits == 32 ? PTXI_V_BROADCASTD : PTXI_V_BROADCASTQ, d[0], 0, ptxi_x86_at(PTXI_RAX, 0));
    for (unsigned k = 1; k < ptxi_native_parts(c, bits); k++)
        ptxi_x86_vector(&c->x, PTXI_V_MOV, d[k], 0, reg(d[0]));
}

/* All lanes have one address. */
static void load_one(builder *c, insn *i, unsigned bits, const unsigned *d, uint32_t rare)
{
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 64, OF_ROW(i->a, stride), 0);
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    check_bounds(c, i, bits / 8, false, rare);
    load_everywhere(c, bits, d);
}

bool ptxi_native_emit_load_row(builder *c, insn *i, uint32_t elements, uint32_t kind)
{
    const unsigned size = ptxi_element_bytes(elements), bits = 8 * size;
    unsigned d[MAX_PARTS];
    uint32_t rare, one, done;

    (void)kind;
    if (i->imm & ((int32_t)size - 1))
        return false;
    new_registers(c, bits, d);
    rare = ptxi_native_rare(c, PTXI_RARE_HANDLER);
    ptxi_native_try_lanes(c, rare, ptxi_native_access_lanes);
    load_first(c, i, size, rare);
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 64, OF_ROW(i->a, stride), (int32_t)size);
    one = ptxi_x86_jump_if(&c->x, PTXI_NE);
    check_bounds(c, i, PTXI_LANES * size, false, rare);
    prefetch(c, i, PTXI_LANES * size);
    load_row(c, d, bits, PTXI_NO_REGISTER, 0);
    done = ptxi_x86_jump(&c->x);
    ptxi_x86_patch(&c->x, one, c->x.size);
    load_one(c, i, bits, d, rare);
    ptxi_x86_patch(&c->x, done, c->x.size);
    define(c, i->d, bits, d);
    ptxi_native_resume(c, rare);
    return true;
}

bool ptxi_native_emit_store_row(builder *c, insn *i, uint32_t elements, uint32_t kind)
{
    const unsigned size = ptxi_element_bytes(elements), bits = 8 * size;
    uint32_t rare;

    (void)kind;
    if (i->imm & ((int32_t)size - 1))
        return false;
    rare = ptxi_native_rare(c, PTXI_RARE_HANDLER);
    ptxi_native_try_lanes(c, rare, ptxi_native_access_lanes);
    load_first(c, i, size, rare);
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 64, OF_ROW(i->a, stride), (int32_t)size);
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    check_bounds(c, i, PTXI_LANES * size, true, rare);
    store_row(c, i->b, bits, PTXI_NO_REGISTER, 0);
    ptxi_native_resume(c, rare);
    return true;
}

/* --- shared memory --- */

/* Whether addresses from eax + least to ecx + most, and 4 bytes there, are in the CTA's shared memory, as
 * ptxi_shared_covers() says. Changes rcx and rdx. */
static void check_shared(builder *c, int32_t least, int32_t most, uint32_t rare)
{
    ptxi_x86_test(&c->x, 32, PTXI_RCX, PTXI_RCX);
    ptxi_native_jump_rare(c, rare, PTXI_L);
    ptxi_x86_lea(&c->x, 64, PTXI_RDX, ptxi_x86_at(PTXI_RAX, least));
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RDX, OF_WARP(shared_at));
    ptxi_native_jump_rare(c, rare, PTXI_L);
    ptxi_x86_load(&c->x, 64, PTXI_RDX, OF_WARP(shared_at));
    ptxi_x86_alu(&c->x, PTXI_ADD, 64, PTXI_RDX, OF_WARP(shared_size));
    ptxi_x86_alu_imm(&c->x, PTXI_SUB, 64, reg(PTXI_RDX), 4);
    ptxi_x86_alu_imm(&c->x, PTXI_SUB, 64, reg(PTXI_RDX), most);
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RCX, reg(PTXI_RDX));
    ptxi_native_jump_rare(c, rare, PTXI_G);
}

/* rax = the address of the first element of a row, which may be accessed */
static uint32_t check_shared_row(builder *c, insn *i)
{
    struct ptxi_x86_rm first = ptxi_native_scalar(c, i->a);
    uint32_t rare = check_row(c, i->a, 2);

    ptxi_native_try_lanes(c, rare, ptxi_native_access_lanes);
    ptxi_x86_load(&c->x, 32, PTXI_RAX, first);
    ptxi_x86_test_imm(&c->x, reg(PTXI_RAX), 3);
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    ptxi_x86_lea(&c->x, 64, PTXI_RCX, ptxi_x86_at(PTXI_RAX, 4 * (PTXI_LANES - 1)));
    /* hi < lo, if the addresses wrap, is beyond INT32_MAX here */
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 64, reg(PTXI_RCX), INT32_MAX);
    ptxi_native_jump_rare(c, rare, PTXI_G);
    check_shared(c, i->imm, i->imm, rare);
    return rare;
}

bool ptxi_native_emit_load_shared(builder *c, insn *i, uint32_t first, uint32_t second)
{
    unsigned d[MAX_PARTS];
    uint32_t rare;

    (void)first, (void)second;
    if (i->imm & 3)
        return false;
    new_registers(c, 32, d);
    rare = check_shared_row(c, i);
    load_row(c, d, 32, PTXI_NATIVE_SHARED, i->imm);
    define(c, i->d, 32, d);
    ptxi_native_resume(c, rare);
    return true;
}

bool ptxi_native_emit_store_shared(builder *c, insn *i, uint32_t first, uint32_t second)
{
    uint32_t rare;

    (void)first, (void)second;
    if (i->imm & 3)
        return false;
    rare = check_shared_row(c, i);
    ptxi_native_end_part(c);
    store_row(c, i->b, 32, PTXI_NATIVE_SHARED, i->imm);
    ptxi_native_resume(c, rare);
    return true;
}

/* --- constants: one address for all lanes --- */

/* Jumps to a rare case unless the active elements of the slot, of 64 bits, are equal. rax = the element. */
static uint32_t check_same(builder *c, unsigned slot)
{
    const unsigned first = ptxi_native_temporary(c), t = ptxi_native_temporary(c), all = ptxi_native_temporary(c);
    uint32_t rare;

    ptxi_native_sync(c, slot, ptxi_native_parts(c, 64));
    ptxi_native_load_first_active(c, slot);
    ptxi_native_broadcast(c, first, PTXI_RAX, 64);
    for (unsigned k = 0; k < ptxi_native_parts(c, 64); k++) {
        const struct ptxi_x86_rm value = ptxi_native_operand(c, part(c, slot, k));

        if (c->x.wide) {
            ptxi_x86_vector(&c->x, PTXI_V_MOV, t, 0, reg(first));
            if (c->partial)
                ptxi_native_merge(c, t, value, k, 64, c->registers);
            ptxi_x86_vector_masked(&c->x, PTXI_V_PCMPQ, 1, t, value, PTXI_COMPARE_EQ, k ? 1 : 0);
            continue;
        }
        ptxi_x86_vector(&c->x, PTXI_V_PCMPEQQ, k ? t : all, first, value);
        if (c->partial) {
            ptxi_native_load_mask(c, c->registers, k, 64, false);
            ptxi_x86_vector(&c->x, PTXI_V_POR, k ? t : all, k ? t : all, reg(c->registers));
        }
        if (k)
            ptxi_x86_vector(&c->x, PTXI_V_PAND, all, all, reg(t));
    }
    rare = ptxi_native_rare(c, PTXI_RARE_HANDLER);
    if (c->x.wide)
        ptxi_x86_kmovw_from(&c->x, PTXI_RCX, 1);
    else
        ptxi_x86_vector(&c->x, PTXI_V_MOVMSKPD, PTXI_RCX, 0, reg(all));
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, reg(PTXI_RCX), c->x.wide ? 0xff : 0xf);
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    return rare;
}

/* rax = where `bytes` at the offset in rax are, if they are among the module's constants (exec/memory/load_store.c) */
static void find_constant(builder *c, insn *i, unsigned bytes, uint32_t rare)
{
    ptxi_x86_test_imm(&c->x, reg(PTXI_RAX), (int32_t)bytes - 1);
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    ptxi_x86_test(&c->x, 64, PTXI_RAX, PTXI_RAX);
    ptxi_native_jump_rare(c, rare, PTXI_L);
    if (i->imm) {
        ptxi_x86_alu_imm(&c->x, PTXI_ADD, 64, reg(PTXI_RAX), i->imm);
        ptxi_x86_test(&c->x, 64, PTXI_RAX, PTXI_RAX);
        ptxi_native_jump_rare(c, rare, PTXI_L);
    }
    ptxi_x86_load(&c->x, 64, PTXI_RCX, OF_WARP(cta));
    ptxi_x86_load(&c->x, 64, PTXI_RCX, ptxi_x86_at(PTXI_RCX, offsetof(struct ptxi_cta, grid)));
    ptxi_x86_load(&c->x, 64, PTXI_RCX, ptxi_x86_at(PTXI_RCX, offsetof(struct ptxi_grid, program)));
    ptxi_x86_load(&c->x, 64, PTXI_RDX, ptxi_x86_at(PTXI_RCX, offsetof(struct ptxi_program, const_size)));
    ptxi_x86_alu_imm(&c->x, PTXI_SUB, 64, reg(PTXI_RDX), (int32_t)bytes);
    ptxi_native_jump_rare(c, rare, PTXI_B);
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RAX, reg(PTXI_RDX));
    ptxi_native_jump_rare(c, rare, PTXI_A);
    ptxi_x86_alu(&c->x, PTXI_ADD, 64, PTXI_RAX, ptxi_x86_at(PTXI_RCX, offsetof(struct ptxi_program, const_bank)));
}

bool ptxi_native_emit_load_const(builder *c, insn *i, uint32_t elements, uint32_t unused)
{
    const unsigned bytes = ptxi_element_bytes(elements), bits = 8 * bytes;
    unsigned d[MAX_PARTS];
    uint32_t rare;

    (void)unused;
    if (i->imm & ((int32_t)bytes - 1))
        return false;
    new_registers(c, bits, d);
    rare = check_same(c, i->a);
    find_constant(c, i, bytes, rare);
    load_everywhere(c, bits, d);
    define(c, i->d, bits, d);
    ptxi_native_resume(c, rare);
    return true;
}

/* --- addresses of a known shape (exec/memory/shape.h). A group of lanes is a part. ---
 *
 * Shapes are launch-invariant. The first load with a shape checks it for all loads up to the next place where the code
 * may be entered, and keeps the result on the stack. */

enum { SHAPE_OTHER, SHAPE_CONTIGUOUS, SHAPE_ONE }; /* all groups are contiguous, or each is one address */


#define SHAPE(slot, name) ptxi_native_frame(slot, offsetof(struct ptxi_shape, name))

static bool is_aligned_shaped(insn *i)
{
    return i->op == PTXI_OP_ld_shared_32_shaped && !(i->imm & 3);
}

/* The lowest and the highest offset of loads with the shape, from the current one to the end of the block. */
static void offsets_of_shape(const builder *c, unsigned slot, int32_t *least, int32_t *most)
{
    *least = *most = c->code->insns[c->now].imm;
    for (uint32_t k = c->now + 1; k < c->code->count && !c->heads[k]; k++) {
        insn *i = &c->code->insns[k];

        if (!is_aligned_shaped(i) || i->b != slot)
            continue;
        *least = i->imm < *least ? i->imm : *least;
        *most = i->imm > *most ? i->imm : *most;
    }
}

static struct ptxi_x86_rm result_of_check(unsigned k)
{
    return ptxi_x86_at(PTXI_RSP, (int32_t)k);
}

/* The number of the shape, or PTXI_NATIVE_SHAPES if it has not been checked. */
static unsigned find_shape(const builder *c, unsigned slot)
{
    for (unsigned k = 0; k < c->shape_count; k++)
        if (c->shapes[k] == slot)
            return k;
    return PTXI_NATIVE_SHAPES;
}

/* Returns the number of the result. */
static unsigned check_shape(builder *c, insn *i, uint32_t rare)
{
    const int32_t all_contiguous = ptxi_native_parts(c, 32) == 4 ? 0x01010101 : 0x0101;
    int32_t least = i->imm, most = i->imm;
    unsigned number = PTXI_NATIVE_SHAPES;
    uint32_t other, done;

    if (c->shape_count < PTXI_NATIVE_SHAPES) {
        number = c->shape_count++;
        c->shapes[number] = i->b;
        offsets_of_shape(c, i->b, &least, &most);
    }
    ptxi_x86_store_byte(&c->x, result_of_check(number), SHAPE_OTHER);
    ptxi_x86_cmp_byte(&c->x, SHAPE(i->b, usable), 0);
    ptxi_native_jump_rare(c, rare, PTXI_E);
    ptxi_x86_test_imm(&c->x, SHAPE(i->b, bits), 3);
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    ptxi_x86_load(&c->x, 32, PTXI_RAX, SHAPE(i->b, lo));
    ptxi_x86_load(&c->x, 32, PTXI_RCX, SHAPE(i->b, hi));
    check_shared(c, least, most, rare);
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, SHAPE(i->b, contiguous), all_contiguous);
    other = ptxi_x86_jump_if(&c->x, PTXI_NE);
    ptxi_x86_store_byte(&c->x, result_of_check(number), SHAPE_CONTIGUOUS);
    done = ptxi_x86_jump(&c->x);
    ptxi_x86_patch(&c->x, other, c->x.size);
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, SHAPE(i->b, contiguous), 0);
    ptxi_native_jump_rare(c, rare, PTXI_NE);
    ptxi_x86_store_byte(&c->x, result_of_check(number), SHAPE_ONE);
    ptxi_x86_patch(&c->x, done, c->x.size);
    return number;
}

static void load_groups(builder *c, insn *i, const unsigned *d, uint32_t load)
{
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        ptxi_x86_load(&c->x, 32, PTXI_RAX, ptxi_native_frame(i->b, offsetof(struct ptxi_shape, first) + 4 * k));
        ptxi_x86_vector(&c->x, load, d[k], 0, ptxi_x86_indexed(PTXI_RAX, PTXI_NATIVE_SHARED, i->imm));
    }
}

bool ptxi_native_emit_load_shaped(builder *c, insn *i, uint32_t elements, uint32_t kind)
{
    unsigned d[MAX_PARTS], number = find_shape(c, i->b);
    uint32_t mixed, other, done;

    (void)elements, (void)kind;
    if (!is_aligned_shaped(i))
        return false;
    new_registers(c, 32, d);
    mixed = ptxi_native_rare(c, PTXI_RARE_HANDLER);
    ptxi_native_try_lanes(c, mixed, ptxi_native_access_lanes);
    if (number == PTXI_NATIVE_SHAPES)
        number = check_shape(c, i, mixed);
    ptxi_x86_cmp_byte(&c->x, result_of_check(number), SHAPE_CONTIGUOUS);
    other = ptxi_x86_jump_if(&c->x, PTXI_NE);
    load_groups(c, i, d, PTXI_V_MOVU);
    done = ptxi_x86_jump(&c->x);
    ptxi_x86_patch(&c->x, other, c->x.size);
    ptxi_native_jump_rare(c, mixed, PTXI_B);
    load_groups(c, i, d, PTXI_V_BROADCASTD);
    ptxi_x86_patch(&c->x, done, c->x.size);
    define(c, i->d, 32, d);
    ptxi_native_resume(c, mixed);
    return true;
}
