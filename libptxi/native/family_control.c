/* Branches and loops, if all active lanes take them or none does. Other branches leave to the interpreter. If all lanes
 * are active, the warp has one split, and no other one waits for it anywhere. In partial code, one may. */
#include <stddef.h>

#include "native/builder.h"
#include "native/region.h"
#include "native/rounds.h"

typedef struct ptxi_native_builder builder;
typedef const struct ptxi_insn insn;

static uint32_t target_of(const builder *c, insn *i)
{
    return c->now + (uint32_t)i->imm;
}

static struct ptxi_x86_rm of_warp(size_t offset)
{
    return ptxi_x86_at(PTXI_NATIVE_WARP, (int32_t)offset);
}

/* --- forward --- */

bool ptxi_native_emit_bra(builder *c, insn *i, uint32_t first, uint32_t second)
{
    (void)first, (void)second;
    if (c->region.exit) {
        ptxi_native_region_jump(c, target_of(c, i));
        return true;
    }
    ptxi_native_forget_dead(c, i, target_of(c, i), target_of(c, i));
    ptxi_native_drop(c);
    if (c->partial) {
        uint32_t beyond = ptxi_native_rare(c, PTXI_RARE_LEAVE);

        ptxi_native_compare_stop(c, target_of(c, i));
        ptxi_native_jump_rare(c, beyond, PTXI_A);
    }
    ptxi_native_jump_to(c, target_of(c, i));
    c->dead = true;
    return true;
}

/* A region must not make the code much larger. */
static bool begins_region(builder *c)
{
    struct ptxi_native_region r;

    if (!ptxi_native_find_region(c, c->now, &r) || r.end - c->now > c->region_room)
        return false;
    c->region_room -= r.end - c->now;
    return true;
}

/* eax has the lanes that branch. */
static void branch(builder *c, insn *i)
{
    uint32_t all, some;

    if (c->region.exit) {
        ptxi_native_region_branch(c, target_of(c, i));
        return;
    }
    all = ptxi_native_rare(c, PTXI_RARE_JUMP);
    if (all != UINT32_MAX)
        c->rare[all].target = target_of(c, i);
    ptxi_native_compare_active(c, PTXI_RAX);
    ptxi_native_jump_rare(c, all, PTXI_E);
    some = ptxi_native_rare(c, begins_region(c) ? PTXI_RARE_REGION : PTXI_RARE_LEAVE);
    ptxi_x86_test(&c->x, 32, PTXI_RAX, PTXI_RAX);
    ptxi_native_jump_rare(c, some, PTXI_NE);
}

static void load_lanes(builder *c, insn *i, bool negated)
{
    ptxi_x86_load(&c->x, 32, PTXI_RAX, ptxi_native_frame(i->a, 0));
    if (negated)
        ptxi_x86_not(&c->x, PTXI_RAX);
}

bool ptxi_native_emit_bra_pred(builder *c, insn *i, uint32_t negated, uint32_t unused)
{
    (void)unused;
    load_lanes(c, i, negated);
    branch(c, i);
    return true;
}

bool ptxi_native_emit_bra_compare(builder *c, insn *i, uint32_t kind, uint32_t condition)
{
    ptxi_native_compare(c, i, (enum ptxi_native_kind)kind, (enum ptxi_native_condition)condition);
    branch(c, i);
    return true;
}

/* A branch on index registers that are no rows: all lanes jump, or none does. Else it fails with the lanes in eax. */
static void branch_lanes(builder *c, insn *i, uint32_t kind, uint32_t condition)
{
    const uint32_t target = (uint32_t)(i - c->code->insns) + (uint32_t)i->imm;
    uint32_t others;

    ptxi_native_compare_index_lanes(c, i, kind, condition);
    ptxi_native_compare_active(c, PTXI_RAX);
    others = ptxi_x86_jump_if(&c->x, PTXI_NE);
    if (c->partial) {
        ptxi_x86_load(&c->x, 32, PTXI_RCX, ptxi_x86_reg(PTXI_RAX));
        ptxi_native_compare_stop(c, target);
        ptxi_x86_load(&c->x, 32, PTXI_RAX, ptxi_x86_reg(PTXI_RCX));
        ptxi_native_fail(c, PTXI_A);
    }
    ptxi_native_jump_to(c, target);
    ptxi_x86_patch(&c->x, others, c->x.size);
    ptxi_x86_test(&c->x, 32, PTXI_RAX, PTXI_RAX);
    ptxi_native_fail(c, PTXI_NE);
}

/* A comparison of index registers. */
bool ptxi_native_emit_bra_index(builder *c, insn *i, uint32_t kind, uint32_t condition)
{
    const struct ptxi_x86_rm first_b = ptxi_x86_reg(PTXI_RSI), last_b = ptxi_x86_reg(PTXI_RDI);
    uint32_t all, some;

    if (c->region.exit) {
        ptxi_native_drop(c);
        ptxi_native_compare_index_lanes(c, i, kind, condition);
        ptxi_native_region_branch(c, target_of(c, i));
        return true;
    }
    all = ptxi_native_rare(c, PTXI_RARE_JUMP);
    some = ptxi_native_rare(c, begins_region(c) ? PTXI_RARE_REGION : PTXI_RARE_HANDLER);
    ptxi_native_try_lanes(c, some, branch_lanes);
    if (all != UINT32_MAX)
        c->rare[all].target = target_of(c, i);
    if (condition == PTXI_COMPARE_EQ || condition == PTXI_COMPARE_NE) {
        ptxi_native_equality(c, i, some);
        ptxi_native_jump_rare(c, all, condition == PTXI_COMPARE_EQ ? PTXI_E : PTXI_NE);
        ptxi_native_resume(c, some);
        return true;
    }
    ptxi_native_ranges(c, i, (enum ptxi_native_kind)kind, some);
    if (condition == PTXI_COMPARE_LT) {
        ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RDX, first_b);
        ptxi_native_jump_rare(c, all, PTXI_L);
        ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RAX, last_b);
        ptxi_native_jump_rare(c, some, PTXI_L);
    } else {
        ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RAX, last_b);
        ptxi_native_jump_rare(c, all, PTXI_GE);
        ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RDX, first_b);
        ptxi_native_jump_rare(c, some, PTXI_GE);
    }
    ptxi_native_resume(c, some);
    return true;
}

/* --- backward: a round is paid for. Loops that wait for other threads are the handler's matter. --- */

/* In partial code, other splits of the warp may wait: a loop that may wait for them yields after some rounds, as in the
 * handler. */
static void count_round(builder *c, uint32_t leave)
{
    const struct ptxi_x86_rm rounds = of_warp(offsetof(struct ptxi_warp, rounds_left));
    uint32_t only;

    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, of_warp(offsetof(struct ptxi_warp, split_count)), 1);
    only = ptxi_x86_jump_if(&c->x, PTXI_E);
    ptxi_x86_load(&c->x, 32, PTXI_RAX, rounds);
    ptxi_x86_alu_imm(&c->x, PTXI_SUB, 32, ptxi_x86_reg(PTXI_RAX), 1);
    ptxi_native_jump_rare(c, leave, PTXI_E);
    ptxi_x86_store(&c->x, 32, rounds, PTXI_RAX);
    ptxi_x86_patch(&c->x, only, c->x.size);
}

/* The frame is complete, or values stay in registers. */
static void jump_back(builder *c, insn *i)
{
    const struct ptxi_native_cache before = c->cache;
    const struct ptxi_x86_rm quantum = of_warp(offsetof(struct ptxi_warp, quantum));
    uint32_t leave = ptxi_native_rare(c, PTXI_RARE_LEAVE);

    ptxi_x86_load(&c->x, 64, PTXI_RCX, quantum);
    ptxi_x86_alu_imm(&c->x, PTXI_SUB, 64, ptxi_x86_reg(PTXI_RCX), 1 - i->imm);
    ptxi_native_jump_rare(c, leave, PTXI_LE);
    if (c->partial && i->mods)
        count_round(c, leave);
    ptxi_x86_store(&c->x, 64, quantum, PTXI_RCX);
    if (ptxi_native_keeps_registers(c))
        ptxi_native_next_round(c);
    else
        ptxi_native_jump_to(c, target_of(c, i));
    c->cache = before; /* for the code after the loop */
}

/* Before the branch that ends a round. `next`: where the code continues if it is not taken. */
static void end_round(builder *c, insn *i, uint32_t next)
{
    ptxi_native_forget_dead(c, i, target_of(c, i), next);
    if (!ptxi_native_keeps_registers(c))
        ptxi_native_flush(c);
}

bool ptxi_native_emit_loop(builder *c, insn *i, uint32_t first, uint32_t second)
{
    (void)first, (void)second;
    if (ptxi_native_waits(i))
        return false;
    end_round(c, i, target_of(c, i));
    jump_back(c, i);
    c->dead = true;
    return true;
}

/* eax has the lanes that loop. */
static void branch_back(builder *c, insn *i)
{
    uint32_t none, some;

    end_round(c, i, c->now + 1);
    ptxi_native_compare_active(c, PTXI_RAX);
    none = ptxi_x86_jump_if(&c->x, PTXI_NE);
    jump_back(c, i);
    ptxi_x86_patch(&c->x, none, c->x.size);
    some = ptxi_native_rare(c, PTXI_RARE_LEAVE);
    ptxi_x86_test(&c->x, 32, PTXI_RAX, PTXI_RAX);
    ptxi_native_jump_rare(c, some, PTXI_NE);
}

bool ptxi_native_emit_loop_pred(builder *c, insn *i, uint32_t negated, uint32_t unused)
{
    (void)unused;
    if (ptxi_native_waits(i))
        return false;
    load_lanes(c, i, negated);
    branch_back(c, i);
    return true;
}

bool ptxi_native_emit_loop_compare(builder *c, insn *i, uint32_t kind, uint32_t condition)
{
    if (ptxi_native_waits(i))
        return false;
    ptxi_native_compare(c, i, (enum ptxi_native_kind)kind, (enum ptxi_native_condition)condition);
    branch_back(c, i);
    return true;
}

/* Jumps where no lane loops. Goes on where all do. */
static uint32_t jump_if_none(builder *c, insn *i, enum ptxi_native_kind kind, enum ptxi_native_condition condition,
                             uint32_t some)
{
    const struct ptxi_x86_rm first_b = ptxi_x86_reg(PTXI_RSI), last_b = ptxi_x86_reg(PTXI_RDI);
    uint32_t none;

    if (condition == PTXI_COMPARE_EQ || condition == PTXI_COMPARE_NE) {
        ptxi_native_equality(c, i, some);
        return ptxi_x86_jump_if(&c->x, condition == PTXI_COMPARE_EQ ? PTXI_NE : PTXI_E);
    }
    ptxi_native_ranges(c, i, kind, some);
    if (condition == PTXI_COMPARE_LT) {
        ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RAX, last_b);
        none = ptxi_x86_jump_if(&c->x, PTXI_GE);
        ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RDX, first_b);
        ptxi_native_jump_rare(c, some, PTXI_GE);
    } else {
        ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RDX, first_b);
        none = ptxi_x86_jump_if(&c->x, PTXI_L);
        ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RAX, last_b);
        ptxi_native_jump_rare(c, some, PTXI_L);
    }
    return none;
}

bool ptxi_native_emit_loop_index(builder *c, insn *i, uint32_t kind, uint32_t condition)
{
    uint32_t some, none;

    if (ptxi_native_waits(i))
        return false;
    end_round(c, i, c->now + 1);
    some = ptxi_native_rare(c, PTXI_RARE_LEAVE);
    none = jump_if_none(c, i, (enum ptxi_native_kind)kind, (enum ptxi_native_condition)condition, some);
    jump_back(c, i);
    ptxi_x86_patch(&c->x, none, c->x.size);
    return true;
}
