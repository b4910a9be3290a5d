/* Partial code: native code for warps in which some lanes are inactive, because they have diverged or do not exist. The
 * entry writes the masks of the lanes to the stack. The active lanes change only in regions (region.c). Results keep
 * the old values of inactive lanes, and other splits of the warp wait for them. */
#include <stddef.h>

#include "native/memory.h"

typedef struct ptxi_native_builder builder;

static struct ptxi_x86_rm reg(unsigned r)
{
    return ptxi_x86_reg(r);
}

/* --- masks of lanes --- */

/* Stores the vectors of PTXI_STACK_ACTIVE_WORDS and PTXI_STACK_INACTIVE_WORDS, from the masks on the stack. Whole
 * vectors, because loads of whole vectors would wait for smaller stores. */
static void put_words_wide(builder *c)
{
    enum { T, ONES, ZEROS };

    ptxi_x86_vector(&c->x, PTXI_V_MOV, ONES, 0, ptxi_native_constant(PTXI_CONST_ONES, 0));
    ptxi_x86_vector(&c->x, PTXI_V_PXOR, ZEROS, ZEROS, reg(ZEROS));
    for (unsigned k = 0; k < ptxi_native_parts(c, 32); k++) {
        const unsigned active = ptxi_native_load_mask_register(c, k, 32, true), at = k * c->bytes;

        ptxi_x86_vector_masked(&c->x, PTXI_V_BLENDMD, T, ZEROS, reg(ONES), -1, active);
        ptxi_x86_vector(&c->x, PTXI_V_MOVU_TO, T, 0, ptxi_native_on_stack(PTXI_STACK_ACTIVE_WORDS + at));
        ptxi_x86_vector_masked(&c->x, PTXI_V_BLENDMD, T, ONES, reg(ZEROS), -1, active);
        ptxi_x86_vector(&c->x, PTXI_V_MOVU_TO, T, 0, ptxi_native_on_stack(PTXI_STACK_INACTIVE_WORDS + at));
    }
}

/* The same with AVX2. All elements of `all` are the mask of active lanes. */
static void put_words(builder *c, unsigned all)
{
    const unsigned t = all + 1, ones = all + 2;
    struct ptxi_x86 *x = &c->x;

    ptxi_x86_vector(x, PTXI_V_PCMPEQD, ones, ones, reg(ones));
    for (unsigned at = 0; at < 4 * PTXI_LANES; at += c->bytes) {
        const struct ptxi_x86_rm bits = ptxi_native_constant(PTXI_CONST_LANE_BIT, at);

        ptxi_x86_vector(x, PTXI_V_PAND, t, all, bits);
        ptxi_x86_vector(x, PTXI_V_PCMPEQD, t, t, bits);
        ptxi_x86_vector(x, PTXI_V_MOVU_TO, t, 0, ptxi_native_on_stack(PTXI_STACK_ACTIVE_WORDS + at));
        ptxi_x86_vector(x, PTXI_V_PXOR, t, t, reg(ones));
        ptxi_x86_vector(x, PTXI_V_MOVU_TO, t, 0, ptxi_native_on_stack(PTXI_STACK_INACTIVE_WORDS + at));
    }
}

void ptxi_native_put_lane_masks(builder *c)
{
    enum { ALL };
    struct ptxi_x86 *x = &c->x;

    ptxi_x86_load(x, 64, PTXI_RCX, reg(PTXI_RAX));
    ptxi_x86_store(x, 32, ptxi_native_on_stack(PTXI_STACK_ACTIVE), PTXI_RAX);
    ptxi_x86_shl(x, 64, PTXI_RCX, 32);
    ptxi_x86_imm(x, PTXI_NATIVE_ROW, PTXI_ROW_FORM);
    ptxi_x86_alu(x, PTXI_OR, 64, PTXI_NATIVE_ROW, reg(PTXI_RCX));
    if (!x->wide)
        ptxi_native_broadcast(c, ALL, PTXI_RAX, 32);
    ptxi_x86_not(x, PTXI_RAX);
    ptxi_x86_store(x, 32, ptxi_native_on_stack(PTXI_STACK_INACTIVE), PTXI_RAX);
    if (x->wide)
        put_words_wide(c);
    else
        put_words(c, ALL);
}

void ptxi_native_store_vector(builder *c, unsigned r, struct ptxi_x86_rm memory, unsigned k, unsigned bits,
                              unsigned scratch)
{
    if (!c->partial) {
        ptxi_x86_vector(&c->x, PTXI_V_MOVU_TO, r, 0, memory);
    } else if (c->x.wide) {
        const unsigned active = ptxi_native_load_mask_register(c, k, bits, true);

        ptxi_x86_vector_masked(&c->x, bits == 64 ? PTXI_V_MOVU_64_TO : PTXI_V_MOVU_TO, r, 0, memory, -1, active);
    } else {
        ptxi_native_load_mask(c, scratch, k, bits, true);
        ptxi_x86_vector(&c->x, bits == 64 ? PTXI_V_PMASKMOVQ_TO : PTXI_V_PMASKMOVD_TO, r, scratch, memory);
    }
}

void ptxi_native_store_lanes(builder *c, unsigned r, struct ptxi_x86_rm frame, unsigned k, unsigned bits,
                             unsigned scratch)
{
    if (c->partial)
        ptxi_native_merge(c, r, frame, k, bits, scratch);
    ptxi_x86_vector(&c->x, PTXI_V_MOV_TO, r, 0, frame);
}

/* --- predicates and branches --- */

void ptxi_native_compare_active(builder *c, unsigned r)
{
    if (!c->partial) {
        ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, reg(r), -1);
        return;
    }
    ptxi_x86_alu(&c->x, PTXI_AND, 32, r, ptxi_native_on_stack(PTXI_STACK_ACTIVE));
    ptxi_x86_alu(&c->x, PTXI_CMP, 32, r, ptxi_native_on_stack(PTXI_STACK_ACTIVE));
}

void ptxi_native_load_first_active(builder *c, unsigned slot)
{
    if (!c->partial) {
        ptxi_x86_load(&c->x, 64, PTXI_RAX, ptxi_native_frame(slot, 0));
        return;
    }
    ptxi_x86_load(&c->x, 32, PTXI_RCX, ptxi_native_on_stack(PTXI_STACK_ACTIVE));
    ptxi_x86_tzcnt(&c->x, PTXI_RCX, PTXI_RCX);
    ptxi_x86_load(&c->x, 64, PTXI_RAX, ptxi_x86_scaled(PTXI_NATIVE_FRAME, PTXI_RCX, 3, (int32_t)(slot * PTXI_UNIT)));
}

uint32_t ptxi_native_begin_active(builder *c)
{
    uint32_t next;

    ptxi_x86_load(&c->x, 32, PTXI_RDI, ptxi_native_on_stack(PTXI_STACK_ACTIVE));
    next = c->x.size;
    ptxi_x86_tzcnt(&c->x, PTXI_RDX, PTXI_RDI);
    return next;
}

void ptxi_native_end_active(builder *c, uint32_t next)
{
    ptxi_x86_lea(&c->x, 32, PTXI_RDX, ptxi_x86_at(PTXI_RDI, -1));
    ptxi_x86_alu(&c->x, PTXI_AND, 32, PTXI_RDI, reg(PTXI_RDX));
    ptxi_x86_patch(&c->x, ptxi_x86_jump_if(&c->x, PTXI_NE), next);
}

void ptxi_native_store_predicate(builder *c, unsigned slot, unsigned r)
{
    const struct ptxi_x86_rm p = ptxi_native_frame(slot, 0);

    if (c->partial) {
        ptxi_x86_alu(&c->x, PTXI_XOR, 32, r, p);
        ptxi_x86_alu(&c->x, PTXI_AND, 32, r, ptxi_native_on_stack(PTXI_STACK_ACTIVE));
        ptxi_x86_alu(&c->x, PTXI_XOR, 32, r, p);
    }
    ptxi_x86_store(&c->x, 32, p, r);
}

void ptxi_native_compare_stop(builder *c, uint32_t insn)
{
    ptxi_x86_imm(&c->x, PTXI_RAX, (uintptr_t)&c->code->insns[insn]);
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RAX, OF_WARP(stop));
}

void ptxi_native_check_stop(builder *c, uint32_t insn)
{
    ptxi_native_compare_stop(c, insn);
    ptxi_x86_patch(&c->x, ptxi_x86_jump_if(&c->x, PTXI_E), c->leave);
}

/* --- row registers --- */

/* rcx = the lanes in the row, from the upper half of the tag in rcx, if they are in a mask */
static void and_lanes(builder *c, unsigned mask)
{
    ptxi_x86_shr(&c->x, 64, PTXI_RCX, 32);
    ptxi_x86_alu(&c->x, PTXI_AND, 32, PTXI_RCX, ptxi_native_on_stack(mask));
}

/* rcx = the tag. Jumps if there is no row. */
static uint32_t jump_unless_row(builder *c, unsigned slot)
{
    ptxi_x86_load(&c->x, 64, PTXI_RCX, OF_ROW(slot, form));
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, reg(PTXI_RCX), (int32_t)PTXI_ROW_FORM);
    return ptxi_x86_jump_if(&c->x, PTXI_NE);
}

/* What to do if a condition holds. */
typedef void go_away(builder *c, uint32_t rare, enum ptxi_x86_condition condition);

static void fail(builder *c, uint32_t rare, enum ptxi_x86_condition condition)
{
    (void)rare;
    ptxi_native_fail(c, condition);
}

static void check_row(builder *c, unsigned slot, go_away *go, uint32_t rare)
{
    if (!c->partial) {
        ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_NATIVE_ROW, OF_ROW(slot, form));
        go(c, rare, PTXI_NE);
        return;
    }
    ptxi_x86_load(&c->x, 64, PTXI_RCX, OF_ROW(slot, form));
    ptxi_x86_alu(&c->x, PTXI_XOR, 64, PTXI_RCX, reg(PTXI_NATIVE_ROW));
    ptxi_x86_test(&c->x, 32, PTXI_RCX, PTXI_RCX);
    go(c, rare, PTXI_NE);
    and_lanes(c, PTXI_STACK_ACTIVE); /* active lanes that are not in the row */
    go(c, rare, PTXI_NE);
}

void ptxi_native_check_row(builder *c, unsigned slot, uint32_t rare)
{
    check_row(c, slot, ptxi_native_jump_rare, rare);
}

void ptxi_native_expect_row(builder *c, unsigned slot)
{
    check_row(c, slot, fail, UINT32_MAX);
}

static void check_target(builder *c, unsigned slot, go_away *go, uint32_t rare)
{
    uint32_t none;

    if (!c->partial || ptxi_native_is_dead(c, slot))
        return;
    none = jump_unless_row(c, slot);
    and_lanes(c, PTXI_STACK_INACTIVE);
    go(c, rare, PTXI_NE);
    ptxi_x86_patch(&c->x, none, c->x.size);
}

void ptxi_native_check_target(builder *c, unsigned slot, uint32_t rare)
{
    check_target(c, slot, ptxi_native_jump_rare, rare);
}

void ptxi_native_expect_target(builder *c, unsigned slot)
{
    check_target(c, slot, fail, UINT32_MAX);
}

void ptxi_native_expect_lanes(builder *c, unsigned slot)
{
    uint32_t none;

    if (!c->partial) {
        ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, OF_ROW(slot, form), (int32_t)PTXI_ROW_FORM);
        ptxi_native_fail(c, PTXI_E);
        return;
    }
    none = jump_unless_row(c, slot);
    and_lanes(c, PTXI_STACK_ACTIVE);
    ptxi_native_fail(c, PTXI_NE);
    ptxi_x86_patch(&c->x, none, c->x.size);
}

/* ptxi_set_row_lanes() */
void ptxi_native_set_lanes(builder *c, unsigned slot)
{
    uint32_t none, some, done;

    if (!c->partial) {
        ptxi_x86_store_imm(&c->x, 64, OF_ROW(slot, form), 0);
        return;
    }
    none = jump_unless_row(c, slot);
    and_lanes(c, PTXI_STACK_INACTIVE);
    some = ptxi_x86_jump_if(&c->x, PTXI_NE);
    ptxi_x86_store_imm(&c->x, 64, OF_ROW(slot, form), 0);
    done = ptxi_x86_jump(&c->x);
    ptxi_x86_patch(&c->x, some, c->x.size);
    ptxi_x86_store(&c->x, 32, OF_ROW(slot, in_row), PTXI_RCX);
    ptxi_x86_patch(&c->x, done, c->x.size);
    ptxi_x86_patch(&c->x, none, c->x.size);
}
