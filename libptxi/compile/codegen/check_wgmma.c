/* Finds misuse of wgmma. Other instructions may access its accumulators only after a wait. A data flow analysis finds
 * accesses while a wgmma.mma_async may still write the registers, and a wgmma.mma_async without a wgmma.fence after the
 * last write to its accumulators. A check_wgmma before such an instruction reports it if it is executed. PTX ISA,
 * "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions". */
#include "compile/codegen/codegen.h"

#include "isa/isa.h"

#include <string.h>

/* How far the wgmma is that writes a register. A higher number is closer to its end. The lowest number of all paths
 * counts. OLDEST: committed, and so many later groups that they are not counted. */
enum { UNCOMMITTED = 1, COMMITTED = 2, OLDEST = 32 };

struct state {
    uint8_t *running; /* per register: 0: no wgmma writes it */
    bool *dirty;      /* per register: written by another instruction since the last fence */
    bool fenced, reached;
};

struct pass {
    struct ptxi_ir *ir;
    struct ptxi_ir_insertions ins;
    struct state *at_start, now; /* of each block */
    bool inserts;
};

static bool is_of_wgmma(const struct ptxi_ir_inst *i)
{
    return ptxi_op_mnemonics[i->op] == PTXI_M_wgmma && !(i->flags & PTXI_IF_DEAD);
}

static bool is_accumulator(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i, uint32_t v)
{
    const struct ptxi_ir_list *l = &ir->lists[i->list];

    for (uint32_t k = 0; k < l->writes; k++)
        if (l->v[k] == v)
            return true;
    return false;
}

/* --- reports --- */

static void insert_check(struct pass *p, uint32_t at, enum ptxi_wgmma_misuse misuse)
{
    const struct ptxi_ir_inst *before = &p->ir->insts[at];
    struct ptxi_ir_inst *i;

    if (!p->inserts)
        return;
    ptxi_ir_make(p->ir, &p->ins, at, PTXI_OP_check_wgmma, 0, PTXI_RC_PRED, PTXI_NONE, PTXI_NONE);
    if (p->ir->oom)
        return;
    i = &p->ins.list[p->ins.count - 1].inst;
    i->writes = 0;
    i->v[PTXI_F_D] = PTXI_NONE;
    i->imm = misuse;
    i->guard = before->guard;
    i->guard_negated = before->guard_negated;
    i->flags = PTXI_IF_NOT_SHARED;
}

static void check_product(struct pass *p, uint32_t at, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk r = ptxi_ir_reads(p->ir, i);
    bool dirty = false;
    uint32_t v;

    while (ptxi_ir_next(&r, &v))
        dirty |= p->now.dirty[v] && is_accumulator(p->ir, i, v);
    if (!p->now.fenced || dirty)
        insert_check(p, at, PTXI_WGMMA_NO_FENCE);
}

static void check_other(struct pass *p, uint32_t at, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk walks[] = { ptxi_ir_reads(p->ir, i), ptxi_ir_writes(p->ir, i) };
    uint8_t worst = OLDEST + 1;
    uint32_t v;

    for (unsigned k = ptxi_ir_is_move(i); k < 2; k++) /* a move copies the state */
        while (ptxi_ir_next(&walks[k], &v))
            if (p->now.running[v] && p->now.running[v] < worst)
                worst = p->now.running[v];
    if (worst <= OLDEST)
        insert_check(p, at, worst == UNCOMMITTED ? PTXI_WGMMA_NOT_COMMITTED : PTXI_WGMMA_NOT_WAITED);
}

/* --- effects --- */

static void commit(struct pass *p)
{
    for (uint32_t v = 0; v < p->ir->vreg_count; v++)
        if (p->now.running[v] && p->now.running[v] < OLDEST)
            p->now.running[v]++;
}

static void wait(struct pass *p, uint32_t groups)
{
    for (uint32_t v = 0; v < p->ir->vreg_count; v++)
        if (p->now.running[v] == OLDEST || p->now.running[v] >= COMMITTED + (uint64_t)groups)
            p->now.running[v] = 0;
}

static void write_by_other(struct pass *p, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk w = ptxi_ir_writes(p->ir, i);
    bool move = ptxi_ir_is_move(i);
    uint32_t v, from = i->v[PTXI_F_A];

    while (ptxi_ir_next(&w, &v)) {
        p->now.running[v] = move ? p->now.running[from] : 0;
        p->now.dirty[v] = !move || p->now.dirty[from];
    }
}

static void step(struct pass *p, uint32_t at)
{
    const struct ptxi_ir_inst i = p->ir->insts[at];
    struct ptxi_ir_walk w = ptxi_ir_writes(p->ir, &i);
    uint32_t v;

    if (i.flags & PTXI_IF_DEAD)
        return;
    switch (i.op) {
    case PTXI_OP_wgmma_fence:
        p->now.fenced = true;
        memset(p->now.dirty, 0, p->ir->vreg_count * sizeof *p->now.dirty);
        break;
    case PTXI_OP_wgmma_commit: commit(p); break;
    case PTXI_OP_wgmma_wait: wait(p, (uint32_t)p->ir->vregs[i.v[PTXI_F_A]].value); break;
    default:
        if (!is_of_wgmma(&i)) {
            check_other(p, at, &i);
            write_by_other(p, &i);
            break;
        }
        check_product(p, at, &i);
        while (ptxi_ir_next(&w, &v))
            p->now.running[v] = UNCOMMITTED;
    }
}

/* --- the analysis --- */

static bool make_state(struct pass *p, struct state *s)
{
    s->running = ARENA_NEW(p->ir->arena, uint8_t, p->ir->vreg_count + 1);
    s->dirty = ARENA_NEW(p->ir->arena, bool, p->ir->vreg_count + 1);
    return s->running && s->dirty;
}

/* Adds the state at the end of a block to that of a successor. Returns whether this changes the successor. */
static bool merge(struct pass *p, struct state *to)
{
    const struct state *from = &p->now;
    bool changed = !to->reached || (to->fenced && !from->fenced);

    to->fenced = from->fenced && (to->fenced || !to->reached);
    to->reached = true;
    for (uint32_t v = 0; v < p->ir->vreg_count; v++) {
        if (from->running[v] && (!to->running[v] || from->running[v] < to->running[v])) {
            to->running[v] = from->running[v];
            changed = true;
        }
        changed |= from->dirty[v] && !to->dirty[v];
        to->dirty[v] |= from->dirty[v];
    }
    return changed;
}

static void load(struct pass *p, const struct state *s)
{
    memcpy(p->now.running, s->running, p->ir->vreg_count * sizeof *s->running);
    memcpy(p->now.dirty, s->dirty, p->ir->vreg_count * sizeof *s->dirty);
    p->now.fenced = s->fenced;
}

/* Returns whether something is new for a block after it. */
static bool run_block(struct pass *p, const struct ptxi_block *block)
{
    bool changed = false;

    for (uint32_t k = block->first; k < block->end; k++)
        step(p, k);
    for (uint32_t k = 0; k < block->succ_count && !p->inserts; k++)
        changed |= merge(p, &p->at_start[p->ir->edges[block->succ + k]]);
    return changed;
}

static bool run(struct pass *p)
{
    bool changed = false;

    for (uint32_t n = 0; n < p->ir->order_count && !p->ir->oom; n++) {
        const struct state *s = &p->at_start[p->ir->order[n]];

        if (!s->reached)
            continue;
        load(p, s);
        changed |= run_block(p, &p->ir->blocks[p->ir->order[n]]);
    }
    return changed;
}

static bool uses_wgmma(const struct ptxi_ir *ir)
{
    for (uint32_t k = 0; k < ir->count; k++)
        if (is_of_wgmma(&ir->insts[k]))
            return true;
    return false;
}

bool ptxi_check_wgmma(struct ptxi_ir *ir)
{
    struct pass p = { .ir = ir };

    if (!uses_wgmma(ir))
        return true;
    p.at_start = ARENA_NEW(ir->arena, struct state, ir->block_count);
    if (!p.at_start || !make_state(&p, &p.now))
        return !(ir->oom = true);
    for (uint32_t b = 0; b < ir->block_count; b++)
        if (!make_state(&p, &p.at_start[b]))
            return !(ir->oom = true);
    p.at_start[ir->order[0]].reached = true;
    while (run(&p))
        ;
    p.inserts = true;
    run(&p);
    return !ir->oom && ptxi_ir_insert(ir, &p.ins);
}
