/* Loops whose values stay in registers: innermost loops of a few instructions with native code.
 *
 * The first round is ordinary code, which begins with the frame. At its end, the flow goes to a copy of the loop that
 * begins with the registers as they are then, and ends each round with the same values in the same registers. So
 * values of the next round are neither stored nor loaded. Whoever leaves the copy stores them: each way out is a rare
 * case or the end of the loop.
 *
 * AVX-512 only: a 32-bit value takes two of 32 registers there, and four of 15 with AVX2. */
#include "native/rounds.h"

#include <assert.h>

#include "native/memory.h"

typedef struct ptxi_native_builder builder;
typedef const struct ptxi_insn insn;

enum { MOST = 64 };

static bool is_backward(insn *i)
{
    return ptxi_native_is_branch(i->op) && i->imm <= 0;
}

static bool is_suitable(const builder *c, uint32_t head, uint32_t branch)
{
    unsigned branches = 0;

    if (branch - head > MOST || branch + 1 >= c->code->count || ptxi_native_waits(&c->code->insns[branch]))
        return false;
    for (uint32_t k = head; k <= branch; k++) {
        if (!c->simple[k] || (k > head && c->heads[k]) || (k < branch && is_backward(&c->code->insns[k])))
            return false;
        branches += ptxi_native_is_branch(c->code->insns[k].op);
    }
    return branches <= PTXI_ROUND_EXITS;
}

void ptxi_native_find_rounds(builder *c)
{
    uint32_t room = c->code->count; /* the copies must not make the code much larger */

    for (uint32_t k = 0; k < c->code->count && c->x.wide; k++) {
        insn *i = &c->code->insns[k];
        const uint32_t length = (uint32_t)-i->imm + 1;

        if (!is_backward(i) || length > room || !is_suitable(c, k - length + 1, k))
            continue;
        room -= length;
        c->keeps[k] = true;
        c->heads[k + 1] = true; /* the end of the copy leads there */
    }
}

bool ptxi_native_keeps_registers(const builder *c)
{
    return c->keeps[c->now] && !c->in_lane_loop;
}

void ptxi_native_next_round(builder *c)
{
    if (c->round) {
        ptxi_native_arrange(c, &c->round->cache);
        ptxi_x86_patch(&c->x, ptxi_x86_jump(&c->x), c->round->start);
    } else {
        ptxi_native_go_to_rare(c, ptxi_native_rare(c, PTXI_RARE_ROUNDS));
    }
}

static void add_exit(struct ptxi_native_round *round, uint32_t insn_number)
{
    for (unsigned k = 0; k < round->exit_count; k++)
        if (round->exits[k] == insn_number)
            return;
    assert(round->exit_count < PTXI_ROUND_EXITS);
    round->exits[round->exit_count++] = insn_number;
}

static void find_exits(const builder *c, uint32_t head, uint32_t branch, struct ptxi_native_round *round)
{
    add_exit(round, branch + 1);
    for (uint32_t k = head; k < branch; k++)
        if (ptxi_native_is_branch(c->code->insns[k].op))
            add_exit(round, k + (uint32_t)c->code->insns[k].imm);
}

/* Partial code: goes to the ordinary code unless there are no other splits, or there is one that waits at an exit. The
 * set of active lanes does not change in the copy. */
static void expect_others_at_exits(builder *c, uint32_t head, const struct ptxi_native_round *round)
{
    uint32_t others = ptxi_native_rare(c, PTXI_RARE_HEAD), fits[PTXI_ROUND_EXITS + 1];

    if (others == UINT32_MAX)
        return;
    c->rare[others].target = head;
    ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, OF_WARP(split_count), 2);
    ptxi_native_jump_rare(c, others, PTXI_A);
    fits[PTXI_ROUND_EXITS] = ptxi_x86_jump_if(&c->x, PTXI_NE);
    for (unsigned k = 0; k < round->exit_count; k++) {
        ptxi_native_compare_stop(c, round->exits[k]);
        fits[k] = ptxi_x86_jump_if(&c->x, PTXI_E);
    }
    ptxi_native_go_to_rare(c, others);
    for (unsigned k = 0; k < round->exit_count; k++)
        ptxi_x86_patch(&c->x, fits[k], c->x.size);
    ptxi_x86_patch(&c->x, fits[PTXI_ROUND_EXITS], c->x.size);
}

void ptxi_native_put_rounds(builder *c, uint32_t branch, uint32_t (*put)(builder *c))
{
    const uint32_t head = branch + (uint32_t)c->code->insns[branch].imm;
    struct ptxi_native_round round = { .exit_count = 0 };

    find_exits(c, head, branch, &round);
    if (c->partial)
        expect_others_at_exits(c, head, &round);
    ptxi_native_forget_clean(c, head);
    round.start = c->x.size;
    round.cache = c->cache;
    assert(!c->round);
    c->round = &round;
    c->shape_count = 0;
    c->dead = false;
    c->now = head;
    while (c->now <= branch && !c->oom) {
        ptxi_native_add_piece(c, c->now);
        c->now += put(c);
    }
    c->round = NULL;
    if (!c->dead) {
        ptxi_native_forget_dead(c, NULL, branch + 1, branch + 1);
        ptxi_native_drop(c);
        ptxi_native_jump_to(c, branch + 1);
    }
}
