/* Regions: a few instructions after a forward branch, up to the place where the paths meet. If some lanes branch, the
 * code of a region executes all paths, one after the other in the order of the instructions, each for its lanes, as in
 * partial code. So the warp does not split, and the code is not left. The order is that of splits: the lowest pc runs
 * first.
 *
 * The stack has the lanes that wait at each head of the region, to which branches lead. If an instruction needs its
 * handler, which may fail or wait, the waiting lanes become splits, and the code is left at the instruction. */
#include "native/region.h"

#include <assert.h>
#include <stddef.h>

#include "exec/engine/divergence.h"
#include "native/memory.h"

typedef struct ptxi_native_builder builder;
typedef const struct ptxi_insn insn;

/* --- which instructions are a region --- */

static bool add_head(struct ptxi_native_region *r, uint32_t insn_number)
{
    for (unsigned k = 0; k < r->head_count; k++)
        if (r->heads[k] == insn_number)
            return true;
    if (r->head_count == PTXI_REGION_HEADS)
        return false;
    r->heads[r->head_count++] = insn_number;
    return true;
}

bool ptxi_native_find_region(const builder *c, uint32_t branch, struct ptxi_native_region *r)
{
    enum { MOST = 40 };
    insn *insns = c->code->insns;

    *r = (struct ptxi_native_region){ .end = branch + (uint32_t)insns[branch].imm };
    add_head(r, r->end);
    for (uint32_t k = branch + 1; k < r->end; k++) {
        if (k - branch > MOST || !c->simple[k])
            return false;
        if (!ptxi_native_is_branch(insns[k].op))
            continue;
        if (insns[k].imm <= 0 || !add_head(r, k + (uint32_t)insns[k].imm))
            return false;
        if (r->end < k + (uint32_t)insns[k].imm)
            r->end = k + (uint32_t)insns[k].imm;
    }
    return r->end - branch > 1 && r->end < c->code->count;
}

/* --- lanes that wait --- */

static struct ptxi_x86_rm waiting_at(const builder *c, uint32_t head)
{
    unsigned k = 0;

    while (c->region.heads[k] != head)
        k++;
    assert(k < c->region.head_count);
    return ptxi_native_on_stack(PTXI_STACK_WAITING + 4 * k);
}

static bool is_head(const builder *c, uint32_t insn_number)
{
    for (unsigned k = 0; k < c->region.head_count; k++)
        if (c->region.heads[k] == insn_number)
            return true;
    return false;
}

/* The code goes to the next head if a condition holds. No lane is active then. */
static void go_to_head_if(builder *c, enum ptxi_x86_condition condition)
{
    assert(c->region.jump_count < PTXI_REGION_JUMPS);
    c->region.jumps[c->region.jump_count++] = ptxi_x86_jump_if(&c->x, condition);
}

static void patch_jumps_to_head(builder *c)
{
    while (c->region.jump_count)
        ptxi_x86_patch(&c->x, c->region.jumps[--c->region.jump_count], c->x.size);
}

void ptxi_native_region_branch(builder *c, uint32_t target)
{
    const struct ptxi_x86_rm active = ptxi_native_on_stack(PTXI_STACK_ACTIVE), waiting = waiting_at(c, target);
    uint32_t none;

    ptxi_native_forget_dead(c, NULL, target, c->now + 1);
    ptxi_native_drop(c);
    ptxi_x86_alu(&c->x, PTXI_AND, 32, PTXI_RAX, active);
    none = ptxi_x86_jump_if(&c->x, PTXI_E);
    ptxi_x86_load(&c->x, 32, PTXI_RCX, waiting);
    ptxi_x86_alu(&c->x, PTXI_OR, 32, PTXI_RCX, ptxi_x86_reg(PTXI_RAX));
    ptxi_x86_store(&c->x, 32, waiting, PTXI_RCX);
    ptxi_x86_alu(&c->x, PTXI_XOR, 32, PTXI_RAX, active);
    ptxi_x86_store(&c->x, 32, active, PTXI_RAX);
    go_to_head_if(c, PTXI_E);
    ptxi_native_put_lane_masks(c);
    ptxi_x86_patch(&c->x, none, c->x.size);
}

void ptxi_native_region_jump(builder *c, uint32_t target)
{
    ptxi_x86_imm(&c->x, PTXI_RAX, UINT32_MAX);
    ptxi_native_region_branch(c, target);
}

/* Lanes that wait at the instruction become active. */
static void put_head(builder *c)
{
    const struct ptxi_x86_rm active = ptxi_native_on_stack(PTXI_STACK_ACTIVE), waiting = waiting_at(c, c->now);
    uint32_t none;

    ptxi_native_forget_dead(c, NULL, c->now, c->now);
    ptxi_native_drop(c);
    patch_jumps_to_head(c);
    ptxi_x86_load(&c->x, 32, PTXI_RAX, waiting);
    ptxi_x86_test(&c->x, 32, PTXI_RAX, PTXI_RAX);
    none = ptxi_x86_jump_if(&c->x, PTXI_E);
    ptxi_x86_store_imm(&c->x, 32, waiting, 0);
    ptxi_x86_alu(&c->x, PTXI_OR, 32, PTXI_RAX, active);
    ptxi_native_put_lane_masks(c);
    ptxi_x86_patch(&c->x, none, c->x.size);
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, active, 0);
    go_to_head_if(c, PTXI_E);
    c->shape_count = 0;
}

/* --- the way out --- */

void ptxi_native_put_region_exit(builder *c)
{
    insn *insns = c->code->insns;

    c->region.exit = c->x.size;
    ptxi_x86_vzeroupper(&c->x);
    ptxi_x86_store(&c->x, 64, ptxi_native_on_stack(PTXI_STACK_PC), PTXI_RAX);
    for (unsigned k = 0; k < c->region.head_count; k++) {
        uint32_t none;

        ptxi_x86_load(&c->x, 32, PTXI_RDX, ptxi_native_on_stack(PTXI_STACK_WAITING + 4 * k));
        ptxi_x86_test(&c->x, 32, PTXI_RDX, PTXI_RDX);
        none = ptxi_x86_jump_if(&c->x, PTXI_E);
        ptxi_x86_load(&c->x, 64, PTXI_RDI, ptxi_x86_reg(PTXI_NATIVE_WARP));
        ptxi_x86_imm(&c->x, PTXI_RSI, (uintptr_t)&insns[c->region.heads[k]]);
        ptxi_x86_imm(&c->x, PTXI_RAX, (uintptr_t)ptxi_split_off);
        ptxi_x86_call(&c->x, PTXI_RAX);
        ptxi_x86_patch(&c->x, none, c->x.size);
    }
    ptxi_x86_load(&c->x, 64, PTXI_RAX, ptxi_native_on_stack(PTXI_STACK_PC));
    ptxi_x86_patch(&c->x, ptxi_x86_jump(&c->x), c->leave);
}

void ptxi_native_leave_region(builder *c, uint32_t insn_number, uint32_t exit)
{
    ptxi_x86_imm(&c->x, PTXI_RAX, (uintptr_t)&c->code->insns[insn_number]);
    ptxi_x86_patch(&c->x, ptxi_x86_jump(&c->x), exit);
}

/* Whether the handler of the operation, which has native code, always continues with the next instruction. */
static bool is_pure(unsigned op)
{
    const unsigned others = PTXI_OP_FLAG_LOAD | PTXI_OP_FLAG_STORE | PTXI_OP_FLAG_BRANCH;

    return !(ptxi_op_flags[op] & others);
}

bool ptxi_native_call_in_region(builder *c, uint32_t insn_number)
{
    if (!is_pure(c->code->insns[insn_number].op))
        return false;
    ptxi_x86_load(&c->x, 32, PTXI_RAX, ptxi_native_on_stack(PTXI_STACK_ACTIVE));
    ptxi_x86_store(&c->x, 32, OF_WARP(active), PTXI_RAX);
    ptxi_native_call_handler(c, insn_number);
    ptxi_x86_load(&c->x, 32, PTXI_RAX, ptxi_native_on_stack(PTXI_STACK_ALL));
    ptxi_x86_store(&c->x, 32, OF_WARP(active), PTXI_RAX);
    return true;
}

/* --- the code --- */

void ptxi_native_begin_region(builder *c, uint32_t target)
{
    for (unsigned k = 0; k < c->region.head_count; k++)
        ptxi_x86_store_imm(&c->x, 32, ptxi_native_on_stack(PTXI_STACK_WAITING + 4 * k), 0);
    ptxi_x86_store(&c->x, 32, waiting_at(c, target), PTXI_RAX);
    ptxi_x86_load(&c->x, 32, PTXI_RCX, OF_WARP(active));
    ptxi_x86_store(&c->x, 32, ptxi_native_on_stack(PTXI_STACK_ALL), PTXI_RCX);
    ptxi_x86_alu(&c->x, PTXI_XOR, 32, PTXI_RAX, ptxi_x86_reg(PTXI_RCX));
    ptxi_native_put_lane_masks(c);
    c->shape_count = 0;
}

/* Whether the operation notes an access, for tracking. Its handler does so for any lanes, and never waits. */
static bool notes_access(unsigned op)
{
    return op == PTXI_OP_track_access || op == PTXI_OP_track_row;
}

void ptxi_native_put_paths(builder *c, uint32_t branch, bool (*emit)(builder *c, insn *i))
{
    for (c->now = branch + 1; c->now < c->region.end; c->now++) {
        if (is_head(c, c->now))
            put_head(c);
        ptxi_native_add_piece(c, c->now);
        if (!emit(c, &c->code->insns[c->now])) {
            ptxi_native_drop(c);
            if (!notes_access(c->code->insns[c->now].op) || !ptxi_native_call_in_region(c, c->now))
                ptxi_native_leave_region(c, c->now, c->region.exit);
        }
    }
    ptxi_native_drop(c);
    patch_jumps_to_head(c);
}
