/* Finds threads that go on without a .sync instruction or a barrier of the CTA at which others wait. Threads that have
 * exited take no part in either, so an early return is permitted. A thread that skips the instruction and executes code
 * behind it is missing: it had not exited when the others waited.
 *
 * Code behind an instruction: a block that all paths from it to the end of the kernel run through, and from which no
 * path leads back to it. At the end of such a block a check_passed notes the threads. The aux of a .sync instruction is
 * the number of its check_passed. If threads of the mask have exited when the instruction is executed, those that the
 * check_passed has noted are reported (exec/check/sync.c). Of several such blocks the last one is used: all paths
 * through another one run through it, too. A block in which nothing happens but the return does not count.
 *
 * Only kernels have such blocks, because lanes may come to a function again. A call of a function that may wait is in
 * place of the instructions of that function, and of those that it calls. */
#include "compile/codegen/codegen.h"

#include "isa/isa.h"

struct pass {
    struct ptxi_ir *ir;
    struct ptxi_ir_insertions ins;
    uint32_t *number;   /* per block: its position in a search from the ends of the function backwards, from 1; 0: it
                         * leads to no end */
    uint32_t *numbered; /* the blocks in this order */
    uint32_t count;
    uint32_t *next;   /* per block: the first later block on all its paths to an end, or PTXI_NONE */
    uint8_t *point;   /* per block: number of its check_passed, or 0 */
    bool *barrier;    /* per block: its check_passed is behind a barrier */
    uint8_t *waiting; /* per function of the module: enum wait, with those that it may call */
    uint32_t point_count;
    bool *reached; /* per block: from this one: */
    uint32_t reached_from;
    uint32_t *stack;
};

/* --- which instructions wait --- */

/* For the lanes of a mask; at a barrier of all threads. */
enum wait { WAITS_FOR_LANES = 1, WAITS_FOR_ALL = 2 };

/* By the instruction's mnemonic, if it is no barrier. */
static unsigned wait_of_mnemonic(unsigned mnemonic)
{
    switch (mnemonic) {
    case PTXI_M_shfl:
    case PTXI_M_vote:
    case PTXI_M_match:
    case PTXI_M_redux:
    case PTXI_M_elect:
        return WAITS_FOR_LANES;
    default:
        return 0;
    }
}

/* Of an instruction of a function that is called. A barrier with a number of threads is not one of all threads. */
static unsigned wait_in_function(const struct ptxi_inst *inst)
{
    const struct ptxi_match *m = inst->match;

    if (m->row->family != PTXI_M_bar && m->row->family != PTXI_M_barrier)
        return wait_of_mnemonic(m->row->family);
    if (ptxi_isa_has_word(m, PTXI_Q_warp))
        return WAITS_FOR_LANES;
    if (ptxi_isa_has_word(m, PTXI_Q_cluster) || ptxi_isa_has_word(m, PTXI_Q_arrive))
        return 0;
    return inst->operand_count == (ptxi_isa_has_word(m, PTXI_Q_red) ? 3 : 1) ? WAITS_FOR_ALL : 0;
}

/* Adds what the functions that f calls do. An indirect call may call any function. */
static unsigned wait_of_calls(const struct pass *p, const struct ptxi_func *f)
{
    const struct ptxi_module_ast *module = p->ir->module;
    unsigned all = 0;

    for (uint32_t k = 0; k < f->inst_count; k++) {
        const struct ptxi_call *c;

        if (f->insts[k].match->row->family != PTXI_M_call)
            continue;
        c = f->insts[k].operands[0].call;
        if (c->func)
            all |= p->waiting[ptxi_func_called(c->func)];
        for (uint32_t n = 0; !c->func && n < module->func_count; n++)
            all |= module->funcs[n]->is_entry ? 0 : p->waiting[n];
    }
    return all;
}

static bool find_waiting(struct pass *p)
{
    const struct ptxi_module_ast *module = p->ir->module;
    bool changed = p->ir->call_count;

    p->waiting = ARENA_NEW(p->ir->arena, uint8_t, module->func_count + 1);
    if (!p->waiting)
        return false;
    for (uint32_t n = 0; changed && n < module->func_count; n++)
        for (uint32_t k = 0; !module->funcs[n]->is_entry && k < module->funcs[n]->inst_count; k++)
            p->waiting[n] |= (uint8_t)wait_in_function(&module->funcs[n]->insts[k]);
    while (changed) {
        changed = false;
        for (uint32_t n = 0; n < module->func_count; n++) {
            unsigned all = module->funcs[n]->is_entry ? 0 : p->waiting[n] | wait_of_calls(p, module->funcs[n]);

            changed |= all != p->waiting[n];
            p->waiting[n] = (uint8_t)all;
        }
    }
    return true;
}

static unsigned wait_of_call(const struct pass *p, const struct ptxi_ir_inst *i)
{
    uint32_t called = p->ir->calls[i->aux].func;
    unsigned all = 0;

    if (called != PTXI_NONE)
        return p->waiting[called];
    for (uint32_t n = 0; n < p->ir->module->func_count; n++)
        all |= p->waiting[n];
    return all;
}

static unsigned wait_of(const struct pass *p, const struct ptxi_ir_inst *i)
{
    if (i->flags & PTXI_IF_DEAD)
        return 0;
    if (ptxi_ir_is_call(i))
        return wait_of_call(p, i);
    switch (i->op) {
    case PTXI_OP_bar_warp_sync:
        return WAITS_FOR_LANES;
    case PTXI_OP_bar_sync:
    case PTXI_OP_bar_red_popc:
    case PTXI_OP_bar_red_and:
    case PTXI_OP_bar_red_or:
        return i->v[PTXI_F_B] == PTXI_NONE && !(i->imm >> PTXI_BAR_COUNT_SHIFT) ? WAITS_FOR_ALL : 0;
    default:
        return wait_of_mnemonic(ptxi_op_mnemonics[i->op]);
    }
}

/* --- the blocks that all paths to the end run through --- */

/* Numbers the blocks so that each has a lower number than those that only it leads to the end. */
static void number_from(struct pass *p, uint32_t end, uint32_t *edge)
{
    const struct ptxi_ir *ir = p->ir;
    uint32_t depth = 0, *visited = p->number;

    visited[end] = PTXI_NONE;
    p->stack[depth++] = end;
    while (depth) {
        uint32_t b = p->stack[depth - 1], from;

        if (edge[b] == ir->blocks[b].pred_count) {
            p->numbered[p->count++] = b;
            depth--;
            continue;
        }
        from = ir->pred_edges[ir->blocks[b].pred + edge[b]++];
        if (visited[from] || ir->blocks[from].order == PTXI_NONE)
            continue;
        visited[from] = PTXI_NONE;
        p->stack[depth++] = from;
    }
}

/* A trap ends the launch. What threads have not done before does not matter. */
static bool is_end(const struct ptxi_ir *ir, uint32_t b)
{
    const struct ptxi_ir_inst *last = &ir->insts[ir->blocks[b].end - 1];

    return !ir->blocks[b].succ_count && last->op != PTXI_OP_trap && last->op != PTXI_OP_unreachable;
}

static bool number_blocks(struct pass *p)
{
    uint32_t *edge = ARENA_NEW(p->ir->arena, uint32_t, p->ir->block_count);

    if (!edge)
        return false;
    for (uint32_t n = 0; n < p->ir->order_count; n++)
        if (is_end(p->ir, p->ir->order[n]))
            number_from(p, p->ir->order[n], edge);
    for (uint32_t n = 0; n < p->count; n++)
        p->number[p->numbered[n]] = p->count - n;
    return true;
}

/* The first block on all paths from both to the end. */
static uint32_t common(const struct pass *p, uint32_t a, uint32_t b)
{
    while (a != b && a != PTXI_NONE && b != PTXI_NONE) {
        if (p->number[a] > p->number[b])
            a = p->next[a];
        else
            b = p->next[b];
    }
    return a == b ? a : PTXI_NONE;
}

/* An algorithm of Cooper, Harvey and Kennedy ("A simple, fast dominance algorithm"), on the reversed graph. A block
 * that has not been visited yet, or leads to no end, is left out. */
static bool find_next(struct pass *p, uint32_t b, const bool *visited)
{
    const struct ptxi_block *block = &p->ir->blocks[b];
    uint32_t next = PTXI_NONE, old = p->next[b];
    bool any = false;

    for (uint32_t e = 0; e < block->succ_count; e++) {
        uint32_t to = p->ir->edges[block->succ + e];

        if (!p->number[to] || !visited[to])
            continue;
        next = any ? common(p, next, to) : to;
        any = true;
    }
    p->next[b] = next;
    return next != old;
}

static bool find_all_next(struct pass *p)
{
    bool *visited = ARENA_NEW(p->ir->arena, bool, p->ir->block_count), changed = true;

    if (!visited)
        return false;
    for (uint32_t b = 0; b < p->ir->block_count; b++)
        p->next[b] = PTXI_NONE;
    while (changed) {
        changed = false;
        for (uint32_t n = p->count; n--;) {
            changed |= find_next(p, p->numbered[n], visited);
            visited[p->numbered[n]] = true;
        }
    }
    return true;
}

/* --- where check_passed is inserted --- */

static bool matters(const struct ptxi_ir_inst *i)
{
    if (i->flags & (PTXI_IF_DEAD | PTXI_IF_PURE) || i->op == PTXI_OP_nop)
        return false;
    return !ptxi_ir_ends(i);
}

/* Whether something happens in the block from an instruction on. A condition counts. */
static bool is_code(const struct pass *p, uint32_t b, uint32_t from)
{
    for (uint32_t k = from; k < p->ir->blocks[b].end; k++)
        if (matters(&p->ir->insts[k]))
            return true;
    return false;
}

/* Whether control can come from a block to another one, or back to it. */
static bool leads_to(struct pass *p, uint32_t from, uint32_t to)
{
    uint32_t depth = 0;

    if (p->reached_from != from) {
        memset(p->reached, 0, p->ir->block_count * sizeof *p->reached);
        p->stack[depth++] = p->reached_from = from;
    }
    while (depth) {
        const struct ptxi_block *block = &p->ir->blocks[p->stack[--depth]];

        for (uint32_t e = 0; e < block->succ_count; e++) {
            uint32_t next = p->ir->edges[block->succ + e];

            if (!p->reached[next])
                p->stack[depth++] = next;
            p->reached[next] = true;
        }
    }
    return p->reached[to];
}

/* The last block behind an instruction of block b, or PTXI_NONE. */
static uint32_t find_behind(struct pass *p, uint32_t b, uint32_t at)
{
    uint32_t last = is_code(p, b, at + 1) ? b : PTXI_NONE;

    if (!p->number[b])
        return PTXI_NONE;
    for (uint32_t next = p->next[b]; next != PTXI_NONE; next = p->next[next])
        if (is_code(p, next, p->ir->blocks[next].first))
            last = next;
    return last == PTXI_NONE || leads_to(p, last, b) ? PTXI_NONE : last;
}

static void note(struct pass *p, uint32_t b, uint32_t at)
{
    struct ptxi_ir_inst *i = &p->ir->insts[at];
    unsigned wait = wait_of(p, i);
    uint32_t behind;

    if (!wait)
        return;
    behind = find_behind(p, b, at);
    if (behind == PTXI_NONE)
        return;
    p->barrier[behind] |= wait & WAITS_FOR_ALL;
    if (!(wait & WAITS_FOR_LANES))
        return;
    if (!p->point[behind] && p->point_count < PTXI_PASSED_POINTS - 1)
        p->point[behind] = (uint8_t)++p->point_count;
    if (ptxi_ir_is_call(i))
        p->ir->calls[i->aux].passed = p->point[behind];
    else if (p->point[behind])
        i->aux = p->point[behind];
}

static void insert(struct pass *p, uint32_t b)
{
    uint32_t last = p->ir->blocks[b].end - 1;
    struct ptxi_ir_insertion *x;

    ptxi_ir_make(p->ir, &p->ins, last, PTXI_OP_check_passed, p->barrier[b], PTXI_RC_PRED, PTXI_NONE, PTXI_NONE);
    if (p->ir->oom)
        return;
    x = &p->ins.list[p->ins.count - 1];
    x->after = !ptxi_ir_is_branch(&p->ir->insts[last]) && !ptxi_ir_ends(&p->ir->insts[last]);
    x->inst.writes = 0;
    x->inst.v[PTXI_F_D] = PTXI_NONE;
    x->inst.imm = p->point[b];
    x->inst.flags = PTXI_IF_NOT_SHARED;
}

static bool waits(const struct pass *p)
{
    for (uint32_t k = 0; k < p->ir->count; k++)
        if (wait_of(p, &p->ir->insts[k]))
            return true;
    return false;
}

static bool start(struct pass *p)
{
    struct ptxi_arena *arena = p->ir->arena;
    uint32_t blocks = p->ir->block_count;

    p->reached_from = PTXI_NONE;
    p->number = ARENA_NEW(arena, uint32_t, blocks);
    p->numbered = ARENA_NEW(arena, uint32_t, blocks);
    p->next = ARENA_NEW(arena, uint32_t, blocks);
    p->point = ARENA_NEW(arena, uint8_t, blocks);
    p->barrier = ARENA_NEW(arena, bool, blocks);
    p->reached = ARENA_NEW(arena, bool, blocks);
    p->stack = ARENA_NEW(arena, uint32_t, blocks);
    return p->number && p->numbered && p->next && p->point && p->barrier && p->reached && p->stack &&
           number_blocks(p) && find_all_next(p);
}

bool ptxi_check_arrivals(struct ptxi_ir *ir)
{
    struct pass p = { .ir = ir };

    if (!ir->func->is_entry)
        return true;
    if (!find_waiting(&p))
        return !(ir->oom = true);
    if (!waits(&p))
        return true;
    if (!start(&p))
        return !(ir->oom = true);
    for (uint32_t n = 0; n < ir->order_count; n++) {
        uint32_t b = ir->order[n];

        for (uint32_t k = ir->blocks[b].first; k < ir->blocks[b].end; k++)
            note(&p, b, k);
    }
    for (uint32_t b = 0; b < ir->block_count && !ir->oom; b++)
        if (p.point[b] || p.barrier[b])
            insert(&p, b);
    return !ir->oom && ptxi_ir_insert(ir, &p.ins);
}
