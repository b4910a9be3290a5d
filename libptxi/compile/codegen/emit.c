/* IR -> bytecode, once every register has its slot and every block its place. */
#include "compile/ir/ir.h"

struct emitter {
    struct ptxi_ir *ir;
    struct ptxi_arena *arena;
    bool count;
    struct ptxi_code *code;
    struct ptxi_insn *insns;
    struct ptxi_source_loc *locs;
    uint32_t at;
    uint32_t *start;  /* per place in the order: index of its first instruction; one more at the end */
    uint32_t *reads;  /* per place: blocks before it that read memory */
    uint32_t *polls;  /* likewise that look at what other threads change */
    uint16_t *pool;
    uint32_t pool_count, pool_cap;
    const char **unsupported;
    uint32_t unsupported_count;
};

/* --- how a block ends --- */

static uint16_t backward(uint16_t branch)
{
    switch (branch) {
#define X(yes, no)                                     \
    case PTXI_OP_bra_##yes: return PTXI_OP_loop_##yes; \
    case PTXI_OP_bra_##no: return PTXI_OP_loop_##no;
    PTXI_BRANCH_PAIRS(X)
#undef X
    default: return PTXI_OP_loop;
    }
}

/* A block's last instructions: a conditional branch, then a jump; each may be missing. */
struct ending {
    uint16_t branch;              /* conditional, or 0 */
    uint32_t to, then;            /* blocks, PTXI_NONE: none */
    const struct ptxi_ir_inst *i; /* the branch it comes from */
};

static struct ending find_ending(const struct ptxi_ir *ir, uint32_t place)
{
    const struct ptxi_block *block = &ir->blocks[ir->order[place]];
    const struct ptxi_ir_inst *i = &ir->insts[block->end - 1];
    uint32_t next = place + 1 < ir->order_count ? ir->order[place + 1] : PTXI_NONE;
    struct ending e = { 0, PTXI_NONE, PTXI_NONE, i };

    if (ptxi_ir_ends(i) && i->op != PTXI_OP_bra)
        return e;
    e.then = ir->edges[block->succ + block->succ_count - 1];
    if (block->succ_count == 2) {
        e.branch = i->op;
        e.to = ir->edges[block->succ];
        if (e.to == next) {
            e.branch = ptxi_ir_opposite(i->op);
            e.to = e.then;
            e.then = next;
        }
    }
    if (e.then == next)
        e.then = PTXI_NONE;
    return e;
}

static bool is_move(uint16_t op)
{
    return op == PTXI_OP_mov_16 || op == PTXI_OP_mov_32 || op == PTXI_OP_mov_64 || op == PTXI_OP_mov_128 || op == PTXI_OP_mov_pred;
}

/* A move between registers that got one slot is none. */
static bool is_emitted(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    if (is_move(i->op) && ir->vregs[i->v[PTXI_F_D]].slot == ir->vregs[i->v[PTXI_F_A]].slot)
        return false;
    return !(i->flags & PTXI_IF_DEAD) && !ptxi_ir_is_branch(i) && i->op != PTXI_OP_nop;
}

static bool is_counted(const struct emitter *e, const struct ptxi_ir_inst *i)
{
    return e->count && i->shared;
}

static uint32_t block_size(const struct emitter *e, uint32_t place)
{
    const struct ptxi_block *block = &e->ir->blocks[e->ir->order[place]];
    struct ending end = find_ending(e->ir, place);
    uint32_t n = (e->count && block->ptx_count) + (end.branch != 0) + (end.then != PTXI_NONE);

    for (uint32_t k = block->first; k < block->end; k++)
        if (is_emitted(e->ir, &e->ir->insts[k]))
            n += (1 + (e->ir->insts[k].guard != PTXI_NONE)) * (is_counted(e, &e->ir->insts[k]) ? 2 : 1);
    return n;
}

/* --- instructions --- */

static uint16_t slot(const struct emitter *e, uint32_t vreg)
{
    return vreg == PTXI_NONE ? PTXI_NO_SLOT : (uint16_t)e->ir->vregs[vreg].slot;
}

static const struct ptxi_line_mark *find_mark(const struct ptxi_func *f, uint32_t inst)
{
    uint32_t lo = 0, hi = f->mark_count;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (f->marks[mid].inst <= inst)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? &f->marks[lo - 1] : NULL;
}

static struct ptxi_source_loc find_loc(const struct ptxi_func *f, uint32_t ptx)
{
    const struct ptxi_line_mark *mark = find_mark(f, ptx);
    struct ptxi_source_loc loc = { .line = f->loc.line };

    if (ptx < f->inst_count) {
        loc.line = f->insts[ptx].line;
        loc.column = f->insts[ptx].column;
    }
    if (mark) {
        loc.file = (uint16_t)mark->file;
        loc.source_line = mark->line;
    }
    return loc;
}

static void put(struct emitter *e, struct ptxi_insn i, uint32_t ptx)
{
    e->locs[e->at] = find_loc(e->ir->func, ptx);
    e->insns[e->at++] = i;
}

static uint16_t *grow_pool(struct emitter *e, uint32_t need)
{
    uint16_t *p = ptxi_ir_grow(e->ir, e->pool, &e->pool_cap, e->pool_count + need, sizeof *p);

    if (!p)
        return NULL;
    e->pool = p;
    p += e->pool_count;
    e->pool_count += need;
    return p;
}

static uint16_t *put_word(uint16_t *p, uint32_t word)
{
    *p++ = (uint16_t)word;
    *p++ = (uint16_t)(word >> 16);
    return p;
}

static uint16_t *put_args(const struct emitter *e, uint16_t *p, const struct ptxi_ir_arg *args, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        const struct ptxi_area *area = &e->ir->areas[args[k].area];

        *p++ = area->count ? slot(e, area->first) : PTXI_NO_SLOT;
        *p++ = (uint16_t)args[k].callee_slot;
        *p++ = (uint16_t)area->count;
    }
    return p;
}

static int32_t put_call(struct emitter *e, const struct ptxi_ir_call *c)
{
    uint32_t at = e->pool_count;
    uint16_t *p = grow_pool(e, 4 + 3 * (c->arg_count + c->ret_count));

    if (!p)
        return 0;
    p = put_word(p, c->func);
    *p++ = (uint16_t)c->arg_count;
    *p++ = (uint16_t)c->ret_count;
    p = put_args(e, p, c->args, c->arg_count);
    put_args(e, p, c->rets, c->ret_count);
    return (int32_t)at;
}

static int32_t put_list(struct emitter *e, const struct ptxi_ir_list *l)
{
    uint32_t at = e->pool_count;
    uint16_t *p = grow_pool(e, l->head_count + l->count);

    for (uint32_t k = 0; p && k < l->head_count; k++)
        *p++ = l->head[k];
    for (uint32_t k = 0; p && k < l->count; k++)
        *p++ = slot(e, l->v[k]);
    return (int32_t)at;
}

/* Labels lead to blocks by their first instruction; blocks ascend by it. */
static uint32_t place_of_label(const struct ptxi_ir *ir, uint32_t label)
{
    uint32_t lo = 0, hi = ir->block_count;

    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (ir->blocks[mid].first <= ir->labels[label])
            lo = mid;
        else
            hi = mid;
    }
    return ir->blocks[lo].order;
}

static int32_t put_table(struct emitter *e, const struct ptxi_ir_table *t)
{
    uint32_t at = e->pool_count;
    uint16_t *p = grow_pool(e, 2 + 2 * t->count);

    if (!p)
        return 0;
    p = put_word(p, t->count);
    for (uint32_t k = 0; k < t->count; k++)
        p = put_word(p, e->start[place_of_label(e->ir, t->labels[k])] - e->at);
    return (int32_t)at;
}

static struct ptxi_insn translate(const struct emitter *e, const struct ptxi_ir_inst *i)
{
    struct ptxi_insn o = { .op = i->op,
                           .d = slot(e, i->v[PTXI_F_D]),
                           .a = slot(e, i->v[PTXI_F_A]),
                           .b = slot(e, i->v[PTXI_F_B]),
                           .c = slot(e, i->v[PTXI_F_C]),
                           .mods = i->mods,
                           .imm = i->imm };

    if (i->v[PTXI_F_MODS] != PTXI_NONE)
        o.mods = slot(e, i->v[PTXI_F_MODS]);
    if (i->v[PTXI_F_IMM] != PTXI_NONE)
        o.imm = (int32_t)(((uint32_t)i->imm & 0xffff0000) | slot(e, i->v[PTXI_F_IMM]));
    if (i->v[PTXI_F_IMM_HI] != PTXI_NONE)
        o.imm = (int32_t)(((uint32_t)o.imm & 0xffff) | (uint32_t)slot(e, i->v[PTXI_F_IMM_HI]) << 16);
    return o;
}

static void put_guard(struct emitter *e, const struct ptxi_ir_inst *i)
{
    if (i->guard != PTXI_NONE)
        put(e, (struct ptxi_insn){ .op = PTXI_OP_guard, .d = PTXI_NO_SLOT, .a = slot(e, i->guard), .b = PTXI_NO_SLOT, .c = PTXI_NO_SLOT,
                                   .mods = i->guard_negated }, i->ptx);
}

static void put_inst(struct emitter *e, const struct ptxi_ir_inst *i)
{
    struct ptxi_insn o;

    if (is_counted(e, i)) {
        put_guard(e, i);
        put(e, (struct ptxi_insn){ .op = PTXI_OP_count_shared, .d = PTXI_NO_SLOT, .a = slot(e, i->v[PTXI_F_A]), .b = PTXI_NO_SLOT,
                                   .c = PTXI_NO_SLOT, .mods = i->shared, .imm = i->imm }, i->ptx);
    }
    put_guard(e, i);
    o = translate(e, i);
    if (ptxi_ir_is_call(i))
        o.imm = put_call(e, &e->ir->calls[i->aux]);
    else if (i->list != PTXI_NONE)
        o.imm = put_list(e, &e->ir->lists[i->list]);
    else if (i->op == PTXI_OP_brx)
        o.imm = put_table(e, &e->ir->tables[i->aux]);
    else if (i->op == PTXI_OP_unsupported) {
        e->unsupported[e->unsupported_count] = e->ir->unsupported[i->imm];
        o.imm = (int32_t)e->unsupported_count++;
    }
    put(e, o, i->ptx);
}

/* Longer loops around such a look do other things, too. */
enum { LONGEST_WAIT = 24 };

static bool is_wait(const struct emitter *e, uint32_t target, uint32_t place)
{
    return e->polls[place + 1] != e->polls[target] && e->start[place + 1] - e->start[target] <= LONGEST_WAIT;
}

/* A branch from `place` on conditions of `i`; backward ones tell what their loop does. */
static void put_branch(struct emitter *e, uint32_t place, uint16_t op, const struct ptxi_ir_inst *i, uint32_t to)
{
    uint32_t target = e->ir->blocks[to].order;
    bool depends = op != PTXI_OP_bra;
    struct ptxi_insn o = { .op = op, .d = PTXI_NO_SLOT, .a = slot(e, depends ? i->v[PTXI_F_A] : PTXI_NONE),
                           .b = slot(e, depends ? i->v[PTXI_F_B] : PTXI_NONE), .c = PTXI_NO_SLOT };

    if (target <= place) {
        o.op = backward(op);
        if (e->reads[place + 1] != e->reads[target])
            o.mods = PTXI_LOOP_READS | (is_wait(e, target, place) ? PTXI_LOOP_WAITS : 0) | (ptxi_polls(e->ir, target, place) ? PTXI_LOOP_POLLS : 0);
    }
    o.imm = (int32_t)(e->start[target] - e->at);
    put(e, o, i->ptx);
}

static void put_block(struct emitter *e, uint32_t place)
{
    const struct ptxi_block *block = &e->ir->blocks[e->ir->order[place]];
    struct ending end = find_ending(e->ir, place);

    if (e->count && block->ptx_count)
        put(e, (struct ptxi_insn){ .op = PTXI_OP_count, .d = PTXI_NO_SLOT, .a = PTXI_NO_SLOT, .b = PTXI_NO_SLOT, .c = PTXI_NO_SLOT,
                                   .imm = (int32_t)block->ptx_count }, e->ir->insts[block->first].ptx);
    for (uint32_t k = block->first; k < block->end; k++)
        if (is_emitted(e->ir, &e->ir->insts[k]))
            put_inst(e, &e->ir->insts[k]);
    if (end.branch)
        put_branch(e, place, end.branch, end.i, end.to);
    if (end.then != PTXI_NONE)
        put_branch(e, place, PTXI_OP_bra, end.i, end.then);
}

/* --- the rest --- */

static bool measure(struct emitter *e)
{
    struct ptxi_ir *ir = e->ir;

    e->start = ARENA_NEW(ir->arena, uint32_t, ir->order_count + 1);
    e->reads = ARENA_NEW(ir->arena, uint32_t, ir->order_count + 1);
    e->polls = ARENA_NEW(ir->arena, uint32_t, ir->order_count + 1);
    e->unsupported = ARENA_NEW(e->arena, const char *, ir->unsupported_count);
    if (!e->start || !e->reads || !e->polls || !e->unsupported)
        return false;
    for (uint32_t p = 0; p < ir->order_count; p++) {
        const struct ptxi_block *block = &ir->blocks[ir->order[p]];
        unsigned flags = 0;

        for (uint32_t k = block->first; k < block->end; k++)
            if (!(ir->insts[k].flags & PTXI_IF_DEAD))
                flags |= ir->insts[k].flags;
        e->reads[p + 1] = e->reads[p] + ((flags & PTXI_IF_READS) != 0);
        e->polls[p + 1] = e->polls[p] + ((flags & PTXI_IF_POLLS) != 0);
        e->start[p + 1] = e->start[p] + block_size(e, p);
    }
    e->insns = ARENA_NEW(e->arena, struct ptxi_insn, e->start[ir->order_count]);
    e->locs = ARENA_NEW(e->arena, struct ptxi_source_loc, e->start[ir->order_count]);
    return e->insns && e->locs;
}

static bool put_setup(struct emitter *e)
{
    struct ptxi_ir *ir = e->ir;
    struct ptxi_insn *setup;

    if (!ir->setup_count)
        return true;
    setup = ARENA_NEW(e->arena, struct ptxi_insn, ir->setup_count + 1);
    if (!setup)
        return false;
    for (uint32_t k = 0; k < ir->setup_count; k++)
        setup[k] = translate(e, &ir->insts[ir->setup[k]]);
    setup[ir->setup_count] = (struct ptxi_insn){ .op = PTXI_OP_end, .d = PTXI_NO_SLOT, .a = PTXI_NO_SLOT, .b = PTXI_NO_SLOT, .c = PTXI_NO_SLOT };
    e->code->setup = setup;
    e->code->setup_count = ir->setup_count + 1;
    return true;
}

static bool put_consts(struct emitter *e)
{
    static const uint8_t bytes[PTXI_RC_COUNT] = { 0, 2, 4, 8, 8 };
    const struct ptxi_ir *ir = e->ir;
    struct ptxi_const *c;
    uint32_t n = 0;

    for (uint32_t v = 0; v < ir->vreg_count; v++)
        n += ir->vregs[v].kind == PTXI_VR_CONST && ir->vregs[v].slot != PTXI_NONE;
    c = ARENA_NEW(e->arena, struct ptxi_const, n);
    if (!c)
        return false;
    e->code->consts = c;
    e->code->const_count = n;
    for (uint32_t v = 0; v < ir->vreg_count; v++)
        if (ir->vregs[v].kind == PTXI_VR_CONST && ir->vregs[v].slot != PTXI_NONE)
            *c++ = (struct ptxi_const){ (uint16_t)ir->vregs[v].slot, bytes[ir->vregs[v].class], ir->vregs[v].value };
    return true;
}

static bool keep_texts(struct emitter *e)
{
    for (uint32_t k = 0; k < e->unsupported_count; k++) {
        e->unsupported[k] = ptxi_arena_strndup(e->arena, e->unsupported[k], strlen(e->unsupported[k]));
        if (!e->unsupported[k])
            return false;
    }
    e->code->unsupported = e->unsupported;
    e->code->unsupported_count = e->unsupported_count;
    return true;
}

static bool uses_shared(const struct ptxi_ir *ir)
{
    for (uint32_t p = 0; p < ir->order_count; p++) {
        const struct ptxi_block *block = &ir->blocks[ir->order[p]];

        for (uint32_t k = block->first; k < block->end; k++) {
            const struct ptxi_ir_inst *i = &ir->insts[k];

            if (!(i->flags & (PTXI_IF_DEAD | PTXI_IF_PURE | PTXI_IF_NOT_SHARED)) && !ptxi_ir_is_branch(i) && !ptxi_ir_ends(i))
                return true;
        }
    }
    return false;
}

static bool keep_unwritten(struct emitter *e)
{
    uint32_t count = e->ir->unwritten_count;
    struct ptxi_slot_range *ranges = ARENA_NEW(e->arena, struct ptxi_slot_range, count);

    if (!ranges)
        return false;
    if (count)
        memcpy(ranges, e->ir->unwritten, count * sizeof *ranges);
    e->code->unwritten = ranges;
    e->code->unwritten_count = count;
    return true;
}

static bool keep_pool(struct emitter *e)
{
    uint16_t *pool = ARENA_NEW(e->arena, uint16_t, e->pool_count);

    if (!pool)
        return false;
    if (e->pool_count)
        memcpy(pool, e->pool, e->pool_count * sizeof *pool);
    e->code->pool = pool;
    e->code->pool_count = e->pool_count;
    return true;
}

struct ptxi_code *ptxi_emit(struct ptxi_ir *ir, const struct ptxi_compile_options *options, struct ptxi_arena *arena)
{
    struct emitter e = { .ir = ir, .arena = arena, .count = options->count };

    e.code = ARENA_NEW(arena, struct ptxi_code, 1);
    if (!e.code || !measure(&e))
        return NULL;
    for (uint32_t p = 0; p < ir->order_count; p++)
        put_block(&e, p);
    if (ir->oom || !put_setup(&e) || !put_consts(&e) || !keep_unwritten(&e) || !keep_texts(&e) || !keep_pool(&e))
        return NULL;
    e.code->name = ir->func->name->s;
    e.code->insns = e.insns;
    e.code->count = e.at;
    e.code->locs = e.locs;
    e.code->frame_units = ir->frame_units;
    e.code->local_bytes = (uint32_t)ir->local_bytes;
    e.code->arg_words = ir->arg_words;
    e.code->ret_words = ir->ret_words;
    e.code->barriers = ir->barriers;
    e.code->uses_shared = uses_shared(ir);
    e.code->is_entry = ir->func->is_entry;
    return e.code;
}
