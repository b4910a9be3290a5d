/* Loops lane by lane. In partial code, vectors are mostly empty: in a loop over the entries of a row of a sparse
 * matrix, for example, a warp ends with one or two lanes. So a loop that only computes and loads, without branches
 * inside, is run to its end by each active lane, one lane after the other, with its values in registers. Nobody sees
 * the order: the loop writes no memory, and loads of other threads' data are not ordered between lanes anyway.
 *
 * Each lane stops before the branch at the end of its last round, or before the branch that would exceed the quantum.
 * Then this branch is executed for all lanes as always. So warps split, yield and end at the same places.
 *
 * If a check fails (an address register is a row, an access needs its handler, an f64 result is a NaN), the values at
 * the head of the loop are restored, and ordinary code runs the loop until the code is entered again. */
#include "native/lane_loop.h"

#include <assert.h>
#include <stddef.h>

#include "native/lane_ops.h"
#include "native/memory.h"
#include "native/table.h"

typedef struct ptxi_native_builder builder;
typedef struct ptxi_lane_loop loop;
typedef const struct ptxi_insn insn;

static struct ptxi_x86_rm reg(unsigned r)
{
    return ptxi_x86_reg(r);
}

/* --- one round --- */

static const enum ptxi_x86_condition conditions[][2] = {
    [PTXI_COMPARE_EQ] = { PTXI_E, PTXI_E },
    [PTXI_COMPARE_NE] = { PTXI_NE, PTXI_NE },
    [PTXI_COMPARE_LT] = { PTXI_L, PTXI_B },
    [PTXI_COMPARE_GE] = { PTXI_GE, PTXI_AE },
};

/* The frame gets all values. The flags are those of the comparison of the branch. */
static void put_round(loop *l, uint32_t head, uint32_t branch)
{
    insn *insns = l->c->code->insns, *last = &insns[branch];
    unsigned a, b;

    ptxi_lane_begin(l);
    for (uint32_t k = head; k < branch && !l->unsuitable; k++)
        l->unsuitable |= !ptxi_lane_emit(l, &insns[k]);
    l->kept = 0;
    a = ptxi_lane_source(l, last->a * PTXI_UNIT, 32);
    b = ptxi_lane_source(l, last->b * PTXI_UNIT, 32);
    ptxi_lane_store_all(l);
    ptxi_x86_vmovd_from(&l->c->x, PTXI_RAX, a);
    ptxi_x86_vmovd_from(&l->c->x, PTXI_RCX, b);
    ptxi_x86_alu(&l->c->x, PTXI_CMP, 32, PTXI_RAX, reg(PTXI_RCX));
}

/* --- suitable loops --- */

enum { MOST_OPERATIONS = 64 };
_Static_assert(2 * MOST_OPERATIONS + 3 * PTXI_LANE_LOADS + PTXI_LANE_RANGES + 8 <= PTXI_NATIVE_FAILURES,
               "two failures of an operation, and before the loop three of a load, and one of an address register");

static bool compares_words(insn *branch)
{
    const struct ptxi_native_op *o = ptxi_native_op(branch->op);

    return o && o->emit == ptxi_native_emit_loop_compare && !ptxi_native_waits(branch);
}

/* The branch at the end of a loop without other branches, or 0. */
static uint32_t find_branch(const builder *c, uint32_t head)
{
    for (uint32_t k = head; k + 1 < c->code->count && k <= head + MOST_OPERATIONS && (k == head || !c->heads[k]); k++) {
        insn *i = &c->code->insns[k];

        if (ptxi_native_is_branch(i->op))
            return k > head && k + (uint32_t)i->imm == head && compares_words(i) ? k : 0;
    }
    return 0;
}

/* Values that a round needs from the one before, which a failure restores. */
static bool is_saved(loop *l, unsigned k)
{
    return ptxi_lane_has(l, &l->written, l->read.list[k].at, l->read.list[k].bytes);
}

static bool disjoint(const struct ptxi_lane_ranges *a, const struct ptxi_lane_ranges *b)
{
    for (unsigned k = 0; k < a->count; k++)
        for (unsigned n = 0; n < b->count; n++)
            if (ptxi_lane_overlap(a->list[k].at, a->list[k].bytes, b->list[n].at, b->list[n].bytes))
                return false;
    return true;
}

/* Emits a round and takes it back, to learn what it reads and writes. */
static bool is_suitable(loop *l, uint32_t head, uint32_t branch)
{
    const uint32_t size = l->c->x.size;
    unsigned saved = 0;

    put_round(l, head, branch);
    l->c->x.size = size;
    l->c->failure_count = 0;
    for (unsigned k = 0; k < l->read.count; k++)
        if (is_saved(l, k))
            saved += l->read.list[k].bytes;
    return !l->unsuitable && l->load_count && saved <= PTXI_LANE_SAVED && disjoint(&l->common, &l->written);
}

/* With so many active lanes, vectors are not slower. A guess from measurements: an operation takes 2 cycles for a lane
 * and 24 for a vector of all lanes, and a load 6 more for a lane, in both kinds of code. */
static unsigned most_lanes(const loop *l, uint32_t head, uint32_t branch)
{
    const unsigned operations = branch - head, loads = l->load_count;
    const unsigned lane = 2 * operations, lane_of_vector = 6 * loads, vector = 24 * operations;

    return lane <= lane_of_vector ? PTXI_LANES : vector / (lane - lane_of_vector);
}

/* --- before the loop --- */

static void check_lanes(loop *l, unsigned most)
{
    struct ptxi_x86 *x = &l->c->x;

    ptxi_x86_test_imm(x, ptxi_native_on_stack(PTXI_STACK_LANE_FAILED), -1);
    ptxi_native_fail(l->c, PTXI_NE);
    if (most < PTXI_LANES) {
        ptxi_x86_load(x, 32, PTXI_RAX, ptxi_native_on_stack(PTXI_STACK_ACTIVE));
        ptxi_x86_popcnt(x, PTXI_RAX, PTXI_RAX);
        ptxi_x86_alu_imm(x, PTXI_CMP, 32, reg(PTXI_RAX), (int32_t)most);
        ptxi_native_fail(l->c, PTXI_A);
    }
}

/* The number of rounds after the first one that the quantum has, and the count of rounds of the split. */
static void find_limit(loop *l, insn *branch)
{
    struct ptxi_x86 *x = &l->c->x;
    const int32_t cost = 1 - branch->imm;
    uint32_t one, done;

    ptxi_x86_load(x, 64, PTXI_RAX, OF_WARP(quantum));
    ptxi_x86_alu_imm(x, PTXI_SUB, 64, reg(PTXI_RAX), 1);
    ptxi_x86_alu_imm(x, PTXI_CMP, 64, reg(PTXI_RAX), cost);
    ptxi_native_fail(l->c, PTXI_L);
    ptxi_x86_imm(x, PTXI_RCX, (uint32_t)cost);
    ptxi_x86_imm(x, PTXI_RDX, 0);
    ptxi_x86_div(x, PTXI_RCX);
    ptxi_x86_load(x, 32, PTXI_RCX, OF_WARP(round_limit));
    ptxi_x86_alu_imm(x, PTXI_CMP, 32, OF_WARP(split_count), 1);
    one = ptxi_x86_jump_if(x, PTXI_E);
    ptxi_x86_load(x, 32, PTXI_RCX, OF_WARP(rounds_left));
    ptxi_x86_patch(x, one, x->size);
    ptxi_x86_alu_imm(x, PTXI_SUB, 32, reg(PTXI_RCX), 1);
    ptxi_native_fail(l->c, PTXI_BE);
    ptxi_x86_alu(x, PTXI_CMP, 64, PTXI_RAX, reg(PTXI_RCX));
    done = ptxi_x86_jump_if(x, PTXI_BE);
    ptxi_x86_load(x, 32, PTXI_RAX, reg(PTXI_RCX));
    ptxi_x86_patch(x, done, x->size);
    ptxi_x86_store(x, 32, ptxi_native_on_stack(PTXI_STACK_LANE_LIMIT), PTXI_RAX);
}

static void put_bounds(loop *l, unsigned load)
{
    const struct ptxi_x86_rm lowest = ptxi_lane_bounds(load);
    struct ptxi_x86_rm most = lowest;

    most.disp += 8;
    ptxi_native_load_bounds(l->c, l->loads[load], l->load_bytes[load], false);
    ptxi_x86_store(&l->c->x, 64, lowest, PTXI_RAX);
    ptxi_x86_store(&l->c->x, 64, most, PTXI_RCX);
}

/* Copies what a failure restores. */
static void copy_saved(loop *l, bool restore)
{
    struct ptxi_x86 *x = &l->c->x;
    uint32_t to = PTXI_STACK_SAVED;

    for (unsigned k = 0; k < l->read.count; k++) {
        if (!is_saved(l, k))
            continue;
        for (uint32_t n = 0; n < l->read.list[k].bytes; n += l->c->bytes, to += l->c->bytes) {
            const struct ptxi_x86_rm frame = ptxi_x86_at(PTXI_NATIVE_FRAME, (int32_t)(l->read.list[k].at + n));
            const struct ptxi_x86_rm stack = ptxi_native_on_stack(to);

            ptxi_x86_vector(x, PTXI_V_MOVU, 0, 0, restore ? stack : frame);
            ptxi_x86_vector(x, PTXI_V_MOVU_TO, 0, 0, restore ? frame : stack);
        }
    }
}

/* --- the loop --- */

/* rdx: the lane, edi: the lanes that remain. */
static void put_lanes(loop *l, uint32_t head, uint32_t branch)
{
    struct ptxi_x86 *x = &l->c->x;
    const struct ptxi_native_op *o = ptxi_native_op(l->c->code->insns[branch].op);
    const struct ptxi_x86_rm limit = ptxi_native_on_stack(PTXI_STACK_LANE_LIMIT);
    const struct ptxi_x86_rm left = ptxi_native_on_stack(PTXI_STACK_LANE_LEFT);
    const struct ptxi_x86_rm most = ptxi_native_on_stack(PTXI_STACK_LANE_MOST);
    uint32_t next, round, ends, fewer;

    ptxi_x86_store_imm(x, 32, most, 0);
    next = ptxi_native_begin_active(l->c);
    ptxi_x86_load(x, 32, PTXI_RAX, limit);
    ptxi_x86_store(x, 32, left, PTXI_RAX);
    round = x->size;
    put_round(l, head, branch);
    /* The conditions of x86-64 come in pairs: the lowest bit negates. */
    ends = ptxi_x86_jump_if(x, conditions[o->second][o->first == PTXI_UNSIGNED] ^ 1);
    ptxi_x86_alu_imm(x, PTXI_SUB, 32, left, 1);
    ptxi_x86_patch(x, ptxi_x86_jump_if(x, PTXI_AE), round);
    ptxi_x86_store_imm(x, 32, left, 0);
    ptxi_x86_patch(x, ends, x->size);
    ptxi_x86_load(x, 32, PTXI_RAX, limit);
    ptxi_x86_alu(x, PTXI_SUB, 32, PTXI_RAX, left);
    ptxi_x86_alu(x, PTXI_CMP, 32, PTXI_RAX, most);
    fewer = ptxi_x86_jump_if(x, PTXI_BE);
    ptxi_x86_store(x, 32, most, PTXI_RAX);
    ptxi_x86_patch(x, fewer, x->size);
    ptxi_native_end_active(l->c, next);
}

/* As jump_back() of family_control.c, for all rounds but the last one. */
static void pay(loop *l, insn *branch)
{
    struct ptxi_x86 *x = &l->c->x;
    uint32_t one;

    ptxi_x86_load(x, 32, PTXI_RAX, ptxi_native_on_stack(PTXI_STACK_LANE_MOST));
    if (branch->mods) {
        ptxi_x86_alu_imm(x, PTXI_CMP, 32, OF_WARP(split_count), 1);
        one = ptxi_x86_jump_if(x, PTXI_E);
        ptxi_x86_load(x, 32, PTXI_RCX, OF_WARP(rounds_left));
        ptxi_x86_alu(x, PTXI_SUB, 32, PTXI_RCX, reg(PTXI_RAX));
        ptxi_x86_store(x, 32, OF_WARP(rounds_left), PTXI_RCX);
        ptxi_x86_patch(x, one, x->size);
    }
    ptxi_x86_imm(x, PTXI_RCX, (uint32_t)(1 - branch->imm));
    ptxi_x86_imul(x, PTXI_RCX, reg(PTXI_RAX));
    ptxi_x86_load(x, 64, PTXI_RAX, OF_WARP(quantum));
    ptxi_x86_alu(x, PTXI_SUB, 64, PTXI_RAX, reg(PTXI_RCX));
    ptxi_x86_store(x, 64, OF_WARP(quantum), PTXI_RAX);
}

static void patch_failures(builder *c, unsigned from)
{
    while (c->failure_count > from)
        ptxi_x86_patch(&c->x, c->failures[--c->failure_count], c->x.size);
}

/* The frame is as it was at the head of the loop, unless the lanes have run it. */
static void put_loop(loop *l, uint32_t head, uint32_t branch, bool (*emit)(builder *c, insn *i))
{
    builder *c = l->c;
    unsigned before;

    check_lanes(l, most_lanes(l, head, branch));
    for (unsigned k = 0; k < l->read_rows.count; k++)
        ptxi_native_expect_lanes(c, l->read_rows.list[k].at);
    for (unsigned k = 0; k < l->load_count; k++)
        put_bounds(l, k);
    find_limit(l, &c->code->insns[branch]);
    copy_saved(l, false);
    for (unsigned k = 0; k < l->written_rows.count; k++)
        ptxi_native_set_lanes(c, l->written_rows.list[k].at);
    before = c->failure_count;
    put_lanes(l, head, branch);
    assert(!l->unsuitable);
    pay(l, &c->code->insns[branch]);
    c->now = branch;
    emit(c, &c->code->insns[branch]);
    ptxi_native_drop(c);
    ptxi_native_jump_to(c, branch + 1);
    c->now = head;
    patch_failures(c, before);
    copy_saved(l, true);
    patch_failures(c, 0);
    ptxi_x86_store_imm(&c->x, 32, ptxi_native_on_stack(PTXI_STACK_LANE_FAILED), 1);
}

void ptxi_native_put_lane_loop(builder *c, bool (*emit)(builder *c, insn *i))
{
    const uint32_t head = c->now, branch = find_branch(c, head);
    loop l = { .c = c };

    if (!branch)
        return;
    c->in_lane_loop = true;
    c->failure_count = 0;
    if (is_suitable(&l, head, branch))
        put_loop(&l, head, branch, emit);
    c->in_lane_loop = false;
}
