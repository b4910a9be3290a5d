/* Compiles a function: blocks in the order of the bytecode, then the rare cases. */
#include "native/compiler.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "exec/engine/row_register.h"
#include "native/lane_loop.h"
#include "native/region.h"
#include "native/rounds.h"
#include "native/table.h"

enum { MAX_CODE = 4 << 20 }; /* bytes; distances in the code fit into 32 bits */

/* --- entry and exit --- */

static const uint8_t saved[] = { PTXI_RBX, PTXI_RBP, PTXI_R12, PTXI_R13, PTXI_R14, PTXI_R15 };
enum { SAVED = sizeof saved };

static struct ptxi_x86_rm of_warp(size_t offset)
{
    return ptxi_x86_at(PTXI_NATIVE_WARP, (int32_t)offset);
}

/* Sets what depends on the active lanes: the tag of rows, and in partial code the masks on the stack. */
static void enter_lanes(struct ptxi_native_builder *c)
{
    if (c->partial) {
        ptxi_x86_load(&c->x, 32, PTXI_RAX, of_warp(offsetof(struct ptxi_warp, active)));
        ptxi_native_put_lane_masks(c);
        ptxi_x86_store_imm(&c->x, 32, ptxi_native_on_stack(PTXI_STACK_LANE_FAILED), 0);
    } else {
        ptxi_x86_imm(&c->x, PTXI_NATIVE_ROW, PTXI_ROW_FORM | (uint64_t)PTXI_ALL_LANES << 32);
    }
}

/* struct left enter(const struct ptxi_insn *i, struct ptxi_warp *w, const void *code) */
static void put_entry(struct ptxi_native_builder *c)
{
    const int32_t stack = 8 + PTXI_STACK_SIZE;
    struct ptxi_x86 *x = &c->x;

    c->start = x->size;
    for (unsigned k = 0; k < SAVED; k++)
        ptxi_x86_push(x, saved[k]);
    ptxi_x86_load(x, 64, PTXI_NATIVE_WARP, ptxi_x86_reg(PTXI_RSI));
    ptxi_x86_load(x, 64, PTXI_NATIVE_FRAME, of_warp(offsetof(struct ptxi_warp, regs)));
    ptxi_x86_load(x, 64, PTXI_NATIVE_HITS, of_warp(offsetof(struct ptxi_warp, hits)));
    ptxi_x86_load(x, 64, PTXI_NATIVE_GENERATION, of_warp(offsetof(struct ptxi_warp, generation)));
    ptxi_x86_load(x, 64, PTXI_NATIVE_SHARED, of_warp(offsetof(struct ptxi_warp, shared_origin)));
    ptxi_x86_alu_imm(x, PTXI_SUB, 64, ptxi_x86_reg(PTXI_RSP), stack); /* handlers expect an aligned stack */
    enter_lanes(c);
    ptxi_x86_jump_reg(x, PTXI_RDX);
    c->leave = x->size;
    ptxi_x86_vzeroupper(x);
    ptxi_x86_load(x, 64, PTXI_RDX, ptxi_x86_reg(PTXI_NATIVE_WARP));
    ptxi_x86_alu_imm(x, PTXI_ADD, 64, ptxi_x86_reg(PTXI_RSP), stack);
    for (unsigned k = SAVED; k--;)
        ptxi_x86_pop(x, saved[k]);
    ptxi_x86_ret(x);
}

/* --- rare cases --- */

static bool emit(struct ptxi_native_builder *c, const struct ptxi_insn *i)
{
    const struct ptxi_native_op *op = ptxi_native_op(i->op);
    bool done = op && op->emit(c, i, op->first, op->second);

    c->kept = c->kept_in_part = 0;
    return done;
}

static void leave_if(struct ptxi_native_builder *c, enum ptxi_x86_condition condition)
{
    ptxi_x86_patch(&c->x, ptxi_x86_jump_if(&c->x, condition), c->leave);
}

/* Leaves, unless the handler has returned the instruction `next` and the same lanes are active. */
static void expect_next(struct ptxi_native_builder *c, uint32_t next)
{
    ptxi_x86_imm(&c->x, PTXI_RCX, (uintptr_t)&c->code->insns[next]);
    ptxi_x86_alu(&c->x, PTXI_CMP, 64, PTXI_RAX, ptxi_x86_reg(PTXI_RCX));
    leave_if(c, PTXI_NE);
    if (c->partial) {
        ptxi_x86_load(&c->x, 32, PTXI_RCX, ptxi_native_on_stack(PTXI_STACK_ACTIVE));
        ptxi_x86_alu(&c->x, PTXI_CMP, 32, PTXI_RCX, of_warp(offsetof(struct ptxi_warp, active)));
    } else {
        ptxi_x86_alu_imm(&c->x, PTXI_CMP, 32, of_warp(offsetof(struct ptxi_warp, active)), -1);
    }
    leave_if(c, PTXI_NE);
}

/* The handler of an operation without native code. Returns the number of instructions that it executes. */
static uint32_t put_call(struct ptxi_native_builder *c)
{
    const uint32_t count = c->code->insns[c->now].op == PTXI_OP_guard ? 2 : 1;

    ptxi_native_drop(c);
    ptxi_native_call_handler(c, c->now);
    if (c->now + count >= c->code->count) {
        ptxi_x86_patch(&c->x, ptxi_x86_jump(&c->x), c->leave);
        c->dead = true;
    } else {
        expect_next(c, c->now + count);
    }
    return count;
}

/* Code of the current instruction. Returns the number of instructions that it executes. */
static uint32_t put_insn(struct ptxi_native_builder *c)
{
    return emit(c, &c->code->insns[c->now]) ? 1 : put_call(c);
}

static void load_and_resume(struct ptxi_native_builder *c, const struct ptxi_native_rare *r)
{
    for (unsigned k = 0; k < c->registers; k++)
        if (r->after.part[k] != PTXI_NATIVE_NO_PART)
            ptxi_x86_vector(&c->x, PTXI_V_MOV, k, 0, ptxi_x86_at(PTXI_NATIVE_FRAME, r->after.part[k]));
    ptxi_x86_patch(&c->x, ptxi_x86_jump(&c->x), r->resume);
}

/* Code for lanes that are not a row. */
static void try_lanes(struct ptxi_native_builder *c, const struct ptxi_native_rare *r)
{
    const struct ptxi_insn *i = &c->code->insns[r->insn];
    const struct ptxi_native_op *op = ptxi_native_op(i->op);

    c->failure_count = 0;
    r->lanes(c, i, op->first, op->second);
    load_and_resume(c, r);
    for (unsigned k = 0; k < c->failure_count; k++)
        ptxi_x86_patch(&c->x, c->failures[k], c->x.size);
}

static void put_handler_case(struct ptxi_native_builder *c, const struct ptxi_native_rare *r)
{
    c->cache = r->before;
    ptxi_native_flush(c);
    if (r->lanes)
        try_lanes(c, r);
    if (!r->region_exit) {
        ptxi_native_call_handler(c, r->insn);
        expect_next(c, r->insn + 1);
    } else if (!ptxi_native_call_in_region(c, r->insn)) {
        ptxi_native_leave_region(c, r->insn, r->region_exit);
        return;
    }
    load_and_resume(c, r);
}

/* A forward jump. */
static void put_jump_case(struct ptxi_native_builder *c, const struct ptxi_native_rare *r)
{
    c->cache = r->before;
    ptxi_native_forget_dead(c, &c->code->insns[r->insn], r->target, r->target);
    ptxi_native_flush(c);
    if (c->partial) {
        uint32_t near;

        ptxi_native_compare_stop(c, r->target);
        near = ptxi_x86_jump_if(&c->x, PTXI_BE);
        ptxi_native_call_handler(c, r->insn);
        ptxi_x86_patch(&c->x, ptxi_x86_jump(&c->x), c->leave);
        ptxi_x86_patch(&c->x, near, c->x.size);
    }
    ptxi_native_jump_to(c, r->target);
}

/* In partial code, another split may wait in the region. */
static void expect_no_split(struct ptxi_native_builder *c, const struct ptxi_native_rare *r)
{
    uint32_t none;

    ptxi_x86_load(&c->x, 32, PTXI_RCX, ptxi_x86_reg(PTXI_RAX));
    ptxi_native_compare_stop(c, c->region.end);
    none = ptxi_x86_jump_if(&c->x, PTXI_BE);
    ptxi_native_call_handler(c, r->insn);
    ptxi_x86_patch(&c->x, ptxi_x86_jump(&c->x), c->leave);
    ptxi_x86_patch(&c->x, none, c->x.size);
    ptxi_x86_load(&c->x, 32, PTXI_RAX, ptxi_x86_reg(PTXI_RCX));
}

/* Some of the lanes, in eax, branch. */
static void put_region(struct ptxi_native_builder *c, const struct ptxi_native_rare *r)
{
    const bool partial = r->partial;

    if (partial)
        expect_no_split(c, r);
    ptxi_native_begin_region(c, r->insn + (uint32_t)c->code->insns[r->insn].imm);
    c->partial = true;
    c->region.whole = !partial;
    c->in_rare_case = false;
    ptxi_native_put_paths(c, r->insn, emit);
    c->in_rare_case = true;
    c->partial = partial;
    enter_lanes(c);
    ptxi_native_jump_to(c, c->region.end);
}

/* The code in front of that of a rare case. */
static void put_exit(struct ptxi_native_builder *c, const struct ptxi_native_rare *r)
{
    if (r->kind == PTXI_RARE_REGION && ptxi_native_find_region(c, r->insn, &c->region))
        ptxi_native_put_region_exit(c);
    else
        c->region.exit = r->region_exit, c->region.whole = r->region_whole;
}

static void put_rare(struct ptxi_native_builder *c, const struct ptxi_native_rare *r)
{
    switch (r->kind) {
    case PTXI_RARE_HANDLER:
        put_handler_case(c, r);
        break;
    case PTXI_RARE_LEAVE:
        c->cache = r->before;
        ptxi_native_flush(c);
        ptxi_native_call_handler(c, r->insn);
        ptxi_x86_patch(&c->x, ptxi_x86_jump(&c->x), c->leave);
        break;
    case PTXI_RARE_JUMP:
        put_jump_case(c, r);
        break;
    case PTXI_RARE_ROUNDS:
        c->cache = r->before;
        c->in_rare_case = false;
        ptxi_native_put_rounds(c, r->insn, put_insn);
        c->in_rare_case = true;
        break;
    case PTXI_RARE_HEAD:
        c->cache = r->before;
        ptxi_native_flush(c);
        ptxi_native_jump_to(c, r->target);
        break;
    case PTXI_RARE_REGION:
        c->cache = r->before;
        ptxi_native_drop(c);
        if (r->lanes)
            try_lanes(c, r);
        put_region(c, r);
        break;
    case PTXI_RARE_CANONIZE:
        ptxi_native_replace_nan(c, r->registers[0]);
        if (r->registers[1] != r->registers[0])
            ptxi_native_replace_nan(c, r->registers[1]);
        ptxi_x86_patch(&c->x, ptxi_x86_jump(&c->x), r->resume);
        break;
    case PTXI_RARE_ENTER:
        c->entry[r->insn] = c->x.size;
        load_and_resume(c, r);
        break;
    }
}

static void put_rare_cases(struct ptxi_native_builder *c)
{
    const bool partial = c->partial;

    c->in_rare_case = true;
    for (uint32_t k = 0; k < c->rare_count && !c->oom; k++) {
        const struct ptxi_native_rare r = c->rare[k];
        uint32_t start;

        c->partial = r.partial;
        c->now = r.insn;
        ptxi_native_add_piece(c, r.insn);
        put_exit(c, &r);
        start = c->x.size;
        put_rare(c, &r);
        for (uint32_t j = r.jump; j != UINT32_MAX; j = c->jumps[j].next)
            ptxi_x86_patch(&c->x, c->jumps[j].place, start);
    }
    c->partial = partial;
}

/* --- blocks --- */

static void add_head(struct ptxi_native_builder *c, int64_t insn)
{
    assert(insn >= 0 && insn < c->code->count);
    c->heads[insn] = true;
}

/* Jumps of unknown operations (brx, calls) leave to the dispatch loop, so only branches make heads. Lanes that leave a
 * loop wait after it. */
static void find_heads(struct ptxi_native_builder *c)
{
    add_head(c, 0);
    for (uint32_t k = 0; k < c->code->count; k++) {
        const struct ptxi_insn *i = &c->code->insns[k];

        if (!ptxi_native_is_branch(i->op))
            continue;
        add_head(c, (int64_t)k + i->imm);
        if (c->partial && i->imm <= 0 && k + 1 < c->code->count)
            add_head(c, (int64_t)k + 1);
    }
}

/* A region executes nothing but native code. */
static void find_simple(struct ptxi_native_builder *c)
{
    for (uint32_t k = 0; k < c->code->count; k++)
        c->simple[k] = ptxi_native_op(c->code->insns[k].op) && !ptxi_native_switches(c->code->insns[k].op);
}

static void find_loops(struct ptxi_native_builder *c)
{
    uint32_t begin = UINT32_MAX; /* of the loops around the instruction */

    for (uint32_t k = c->code->count; k--;) {
        const struct ptxi_insn *i = &c->code->insns[k];

        if (ptxi_native_is_branch(i->op) && i->imm <= 0 && k + (uint32_t)i->imm < begin)
            begin = k + (uint32_t)i->imm;
        c->in_loop[k] = begin <= k;
        if (begin == k)
            begin = UINT32_MAX;
    }
}

static bool is_empty(const struct ptxi_native_cache *cache)
{
    for (unsigned r = 0; r < PTXI_NATIVE_REGISTERS; r++)
        if (cache->part[r] != PTXI_NATIVE_NO_PART)
            return false;
    return true;
}

static void clear(struct ptxi_native_cache *cache)
{
    cache->dirty = cache->raw = 0;
    for (unsigned r = 0; r < PTXI_NATIVE_REGISTERS; r++)
        cache->part[r] = PTXI_NATIVE_NO_PART;
}

/* Partial code: when lanes have branched, the others continue here, with registers that code before has filled. */
static bool is_after_branch(const struct ptxi_native_builder *c)
{
    return c->partial && c->now && ptxi_native_is_branch(c->code->insns[c->now - 1].op);
}

static void add_entry(struct ptxi_native_builder *c)
{
    ptxi_native_resume(c, ptxi_native_rare(c, PTXI_RARE_ENTER));
    c->shape_count = 0;
}

/* An instruction after a jump that is no head is reached from the dispatch loop only. */
static void begin_insn(struct ptxi_native_builder *c)
{
    if (c->dead) {
        clear(&c->cache);
    } else if (c->heads[c->now]) {
        ptxi_native_forget_dead(c, NULL, c->now, c->now);
        ptxi_native_drop(c);
    }
    c->dead = false;
    if (is_empty(&c->cache)) {
        c->entry[c->now] = c->x.size;
        c->shape_count = 0;
    } else if (is_after_branch(c)) {
        add_entry(c);
    }
    if (c->partial && c->heads[c->now]) {
        ptxi_native_check_stop(c, c->now);
        ptxi_native_put_lane_loop(c, emit);
    }
}

static void put_blocks(struct ptxi_native_builder *c)
{
    for (c->now = 0; c->now < c->code->count && !c->x.oom && !c->oom && c->x.size < MAX_CODE;) {
        c->begin[c->now] = c->x.size;
        begin_insn(c);
        c->now += put_insn(c);
    }
}

static void patch_block_jumps(struct ptxi_native_builder *c)
{
    for (uint32_t k = 0; k < c->jump_count; k++)
        if (!c->jumps[k].rare) {
            assert(c->entry[c->jumps[k].target]);
            ptxi_x86_patch(&c->x, c->jumps[k].place, c->entry[c->jumps[k].target]);
        }
}

bool ptxi_native_compile(struct ptxi_native_builder *c)
{
    c->registers = c->x.wide ? 32 : 15; /* AVX2: the last one is for tests */
    c->bytes = c->x.wide ? 64 : 32;
    c->heads = calloc(c->code->count + 1, sizeof *c->heads);
    c->simple = calloc(c->code->count + 1, sizeof *c->simple);
    c->in_loop = calloc(c->code->count + 1, sizeof *c->in_loop);
    c->keeps = calloc(c->code->count + 1, sizeof *c->keeps);
    c->entry = calloc(c->code->count + 1, sizeof *c->entry);
    c->table_of = calloc(c->code->count + 1, sizeof *c->table_of);
    c->begin = calloc(c->code->count + 1, sizeof *c->begin);
    if (!c->heads || !c->simple || !c->in_loop || !c->keeps || !c->entry || !c->table_of || !c->begin)
        return false;
    c->region_room = 2 * c->code->count;
    clear(&c->cache);
    ptxi_native_put_constants(c);
    ptxi_native_put_lane_tables(c);
    put_entry(c);
    ptxi_native_put_switch(c);
    find_heads(c);
    find_simple(c);
    find_loops(c);
    ptxi_native_find_rounds(c);
    put_blocks(c);
    put_rare_cases(c);
    ptxi_native_put_switch_table(c);
    if (c->oom || c->x.oom || c->x.size >= MAX_CODE)
        return false;
    patch_block_jumps(c);
    return true;
}

void ptxi_native_builder_free(struct ptxi_native_builder *c)
{
    free(c->x.bytes);
    free(c->heads);
    free(c->simple);
    free(c->in_loop);
    free(c->keeps);
    free(c->entry);
    free(c->table_of);
    free(c->begin);
    free(c->pieces);
    free(c->rare);
    free(c->jumps);
}
