/* Emits bytecode, when every register has its slot and the order of blocks is known. */
#include "compile/codegen/codegen.h"

#include <assert.h>
#include <stdatomic.h>

#include "isa/isa.h"

struct emitter {
    struct ptxi_ir *ir;
    struct ptxi_arena *arena;
    bool count, check;
    enum ptxi_track_option track;
    uint32_t first_place;
    struct ptxi_code *code;
    struct ptxi_insn *insns;
    struct ptxi_source_loc *locs;
    uint32_t at;      /* index of the next instruction */
    /* per position in the order: index of the block's first instruction; one more element at the end */
    uint32_t *start;
    uint32_t *reads;  /* per position: number of blocks before it that read memory (PTXI_IF_READS) */
    uint32_t *strong; /* per position: number of blocks before it that read what other CTAs may write for them */
    uint32_t *polls;  /* per position: number of blocks before it that poll (PTXI_IF_POLLS) */
    bool *read;       /* per register: an instruction uses its value */
    uint16_t *pool;
    uint32_t pool_count, pool_cap;
    const char **unsupported;
    uint32_t unsupported_count;
};

/* --- how a block ends --- */

static uint16_t backward_op(uint16_t branch)
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
    uint32_t to, then;            /* blocks that the branch and the jump lead to, or PTXI_NONE */
    const struct ptxi_ir_inst *i; /* the last instruction of the block in the IR */
};

static struct ending find_ending(const struct ptxi_ir *ir, uint32_t position)
{
    const struct ptxi_block *block = &ir->blocks[ir->order[position]];
    const struct ptxi_ir_inst *i = &ir->insts[block->end - 1];
    uint32_t next = position + 1 < ir->order_count ? ir->order[position + 1] : PTXI_NONE;
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

/* A move between registers with the same slot is not emitted. */
static bool is_emitted(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    if (ptxi_ir_is_move(i) && ir->vregs[i->v[PTXI_F_D]].slot == ir->vregs[i->v[PTXI_F_A]].slot)
        return false;
    return !(i->flags & PTXI_IF_DEAD) && !ptxi_ir_is_branch(i) && i->op != PTXI_OP_nop;
}

static bool has_guard(const struct ptxi_ir_inst *i)
{
    return i->guard != PTXI_NONE && !(i->flags & PTXI_IF_NESTED);
}

static bool is_counted(const struct emitter *e, const struct ptxi_ir_inst *i)
{
    return e->count && i->shared;
}

static bool is_tracked(const struct emitter *e, const struct ptxi_ir_inst *i)
{
    return i->check && !(i->check & (PTXI_CHECK_SHARED | PTXI_CHECK_LOCAL)) &&
           (i->check & PTXI_CHECK_WRITE || e->track == PTXI_TRACK_ALL);
}

/* The operation that checks or records an instruction, or 0. */
static uint16_t checking_op(const struct emitter *e, const struct ptxi_ir_inst *i)
{
    if (e->track)
        return is_tracked(e, i) ? PTXI_OP_track_access : 0;
    if (!e->check)
        return 0;
    if (i->check)
        return i->check & PTXI_CHECK_NO_RACE ? 0 : PTXI_OP_check_access;
    if (i->op == PTXI_OP_fence)
        return PTXI_OP_check_fence;
    if (i->op == PTXI_OP_bar_warp_sync)
        return PTXI_OP_check_lanes;
    switch (ptxi_op_mnemonics[i->op]) {
    case PTXI_M_shfl: case PTXI_M_vote: case PTXI_M_match: case PTXI_M_redux: case PTXI_M_elect:
    case PTXI_M_mma: case PTXI_M_wmma: case PTXI_M_ldmatrix: case PTXI_M_stmatrix:
        return PTXI_OP_check_lanes;
    default:
        return 0;
    }
}

/* Whether the instruction reads what other threads may release. */
static bool is_acquiring(const struct emitter *e, const struct ptxi_ir_inst *i)
{
    unsigned strength = i->check >> PTXI_CHECK_STRENGTH_SHIFT & 3;

    if (!e->check || i->check & PTXI_CHECK_NO_RACE)
        return false;
    return strength && (strength == PTXI_CHECK_ATOMIC || !(i->check & PTXI_CHECK_WRITE));
}

static uint32_t block_size(const struct emitter *e, uint32_t position)
{
    const struct ptxi_block *block = &e->ir->blocks[e->ir->order[position]];
    struct ending end = find_ending(e->ir, position);
    uint32_t n = (e->count && block->ptx_count) + (end.branch != 0) + (end.then != PTXI_NONE);

    for (uint32_t k = block->first; k < block->end; k++) {
        const struct ptxi_ir_inst *i = &e->ir->insts[k];
        unsigned with_guard = has_guard(i) ? 2 : 1;

        if (is_emitted(e->ir, i))
            n += (1 + is_counted(e, i) + (checking_op(e, i) != 0) + is_acquiring(e, i)) * with_guard;
    }
    return n;
}

/* --- instructions --- */

static uint16_t slot(const struct emitter *e, uint32_t vreg)
{
    /* a register that is neither read nor written has no slot, which becomes PTXI_NO_SLOT */
    assert(vreg == PTXI_NONE || e->ir->vregs[vreg].slot == PTXI_NONE || e->ir->vregs[vreg].slot < PTXI_NO_SLOT);
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
    if (mark)
        loc.source = &mark->source;
    return loc;
}

/* ptx: index of the PTX instruction. */
static void put(struct emitter *e, struct ptxi_insn i, uint32_t ptx)
{
    assert(e->at < e->start[e->ir->order_count]);
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

/* The position of the block to which a label leads. The label marks its first instruction; blocks are in the order of
 * those. */
static uint32_t position_of_label(const struct ptxi_ir *ir, uint32_t label)
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
        p = put_word(p, e->start[position_of_label(e->ir, t->labels[k])] - e->at);
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

    if (ptxi_op_mnemonics[i->op] == PTXI_M_atom && i->v[PTXI_F_D] != PTXI_NONE && !e->read[i->v[PTXI_F_D]])
        o.d = PTXI_NO_SLOT; /* nobody uses the old value: as red */
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
    if (has_guard(i))
        put(e, (struct ptxi_insn){ .op = PTXI_OP_guard, .d = PTXI_NO_SLOT, .a = slot(e, i->guard), .b = PTXI_NO_SLOT,
                                   .c = PTXI_NO_SLOT, .mods = i->guard_negated }, i->ptx);
}

/* The slot of the mask of a .sync operation; PTXI_NO_SLOT: all lanes. */
static uint16_t mask_slot(const struct emitter *e, const struct ptxi_ir_inst *i)
{
    if (i->op == PTXI_OP_bar_warp_sync)
        return slot(e, i->v[PTXI_F_A]);
    switch (ptxi_op_mnemonics[i->op]) {
    case PTXI_M_shfl: return slot(e, i->v[PTXI_F_IMM_HI]);
    case PTXI_M_vote: case PTXI_M_match: case PTXI_M_redux: case PTXI_M_elect: return slot(e, i->v[PTXI_F_B]);
    default: return PTXI_NO_SLOT;
    }
}

/* The operation that tracks an access: track_row for the usual store. */
static uint16_t tracking_op(unsigned mods)
{
    const unsigned kind = PTXI_CHECK_ROW | PTXI_CHECK_WRITE | PTXI_CHECK_BYTES | 3 << PTXI_CHECK_STRENGTH_SHIFT;

    return (mods & kind) == (PTXI_CHECK_ROW | PTXI_CHECK_WRITE | 4) ? PTXI_OP_track_row : PTXI_OP_track_access;
}

static void put_checking(struct emitter *e, const struct ptxi_ir_inst *i, uint16_t op)
{
    struct ptxi_insn o = { .op = op, .d = PTXI_NO_SLOT, .a = PTXI_NO_SLOT, .b = PTXI_NO_SLOT, .c = PTXI_NO_SLOT };
    uint32_t place;

    put_guard(e, i);
    place = e->first_place + e->at;
    if (op == PTXI_OP_check_access || op == PTXI_OP_check_acquire || op == PTXI_OP_track_access) {
        o.a = slot(e, i->v[PTXI_F_A]);
        o.mods = ptxi_op_flags[i->op] & PTXI_OP_FLAG_AT ? i->check | PTXI_CHECK_ROW : i->check;
        o.op = op == PTXI_OP_track_access ? tracking_op(o.mods) : op;
        o.imm = i->imm;
        o.b = (uint16_t)place;
        o.c = (uint16_t)(place >> 16);
    } else if (op == PTXI_OP_check_fence) {
        o.mods = i->mods >> 2 & (3 | PTXI_CHECK_FENCE_PROXY | PTXI_CHECK_FENCE_ACQUIRE | PTXI_CHECK_FENCE_RELEASE |
                                 PTXI_CHECK_FENCE_OF_ACCESS | PTXI_CHECK_FENCE_INIT);
        o.mods |= i->mods & 2 ? PTXI_CHECK_FENCE_SC : 0;
    } else {
        o.a = mask_slot(e, i);
        o.imm = i->aux == PTXI_NONE ? 0 : (int32_t)i->aux;
    }
    put(e, o, i->ptx);
}

static void put_inst(struct emitter *e, const struct ptxi_ir_inst *i)
{
    uint16_t checking = checking_op(e, i);
    struct ptxi_insn o;

    if (checking)
        put_checking(e, i, checking);

    if (is_counted(e, i)) {
        put_guard(e, i);
        put(e, (struct ptxi_insn){ .op = PTXI_OP_count_shared, .d = PTXI_NO_SLOT, .a = slot(e, i->v[PTXI_F_A]),
                                   .b = PTXI_NO_SLOT, .c = PTXI_NO_SLOT, .mods = i->shared, .imm = i->imm }, i->ptx);
    }
    put_guard(e, i);
    o = translate(e, i);
    if (ptxi_ir_is_call(i)) {
        o.imm = put_call(e, &e->ir->calls[i->aux]);
        o.mods = e->ir->calls[i->aux].passed;
    } else if (i->list != PTXI_NONE) {
        o.imm = put_list(e, &e->ir->lists[i->list]);
    }
    if (i->op == PTXI_OP_brx) {
        o.imm = put_table(e, &e->ir->tables[i->aux]);
    } else if (i->op == PTXI_OP_unsupported) {
        e->unsupported[e->unsupported_count] = e->ir->unsupported[i->imm];
        o.imm = (int32_t)e->unsupported_count++;
    }
    put(e, o, i->ptx);
    if (is_acquiring(e, i))
        put_checking(e, i, PTXI_OP_check_acquire);
}

/* Longer loops around a poll do other work, too. */
enum { MAX_WAIT_LENGTH = 24 };

/* Whether the loop from position `target` to `position` polls. */
static bool is_wait(const struct emitter *e, uint32_t target, uint32_t position)
{
    uint32_t most = e->check || e->track ? 2 * MAX_WAIT_LENGTH : MAX_WAIT_LENGTH;

    return e->polls[position + 1] != e->polls[target] && e->start[position + 1] - e->start[target] <= most;
}

static uint16_t loop_mods(const struct emitter *e, uint32_t target, uint32_t position)
{
    uint16_t mods = PTXI_LOOP_READS;

    if (e->reads[position + 1] == e->reads[target])
        return 0;
    if (is_wait(e, target, position))
        mods |= PTXI_LOOP_WAITS;
    if (ptxi_ir_is_spin_loop(e->ir, target, position))
        mods |= PTXI_LOOP_POLLS;
    return mods;
}

/* A branch at the end of the block at `position` to block `to`, on the conditions of `i`. A backward branch says what
 * its loop does. */
static void put_branch(struct emitter *e, uint32_t position, uint16_t op, const struct ptxi_ir_inst *i, uint32_t to)
{
    uint32_t target = e->ir->blocks[to].order;
    bool conditional = op != PTXI_OP_bra;
    struct ptxi_insn o = { .op = op, .d = PTXI_NO_SLOT, .a = slot(e, conditional ? i->v[PTXI_F_A] : PTXI_NONE),
                           .b = slot(e, conditional ? i->v[PTXI_F_B] : PTXI_NONE), .c = PTXI_NO_SLOT };

    if (target <= position) {
        o.op = backward_op(op);
        o.mods = loop_mods(e, target, position);
        if (e->strong[position + 1] != e->strong[target] && e->code->polls_at == UINT32_MAX)
            e->code->polls_at = e->at;
    }
    o.imm = (int32_t)(e->start[target] - e->at);
    put(e, o, i->ptx);
}

static void put_block(struct emitter *e, uint32_t position)
{
    const struct ptxi_block *block = &e->ir->blocks[e->ir->order[position]];
    struct ending end = find_ending(e->ir, position);

    if (e->count && block->ptx_count)
        put(e, (struct ptxi_insn){ .op = PTXI_OP_count, .d = PTXI_NO_SLOT, .a = PTXI_NO_SLOT, .b = PTXI_NO_SLOT,
                                   .c = PTXI_NO_SLOT,
                                   .imm = (int32_t)block->ptx_count }, e->ir->insts[block->first].ptx);
    for (uint32_t k = block->first; k < block->end; k++)
        if (is_emitted(e->ir, &e->ir->insts[k]))
            put_inst(e, &e->ir->insts[k]);
    if (end.branch)
        put_branch(e, position, end.branch, end.i, end.to);
    if (end.then != PTXI_NONE)
        put_branch(e, position, PTXI_OP_bra, end.i, end.then);
}

/* --- the function --- */

/* Whether the instruction may load what another CTA has stored for this one. */
static bool is_strong_load(const struct ptxi_ir_inst *i)
{
    return i->check >> PTXI_CHECK_STRENGTH_SHIFT & 3 && !(i->check & (PTXI_CHECK_WRITE | PTXI_CHECK_SHARED));
}

/* Finds the registers that are used. An instruction with a guard reads the older value of its result, which is no
 * use. */
static void find_read(struct emitter *e)
{
    for (uint32_t k = 0; k < e->ir->count; k++) {
        struct ptxi_ir_inst i = e->ir->insts[k];
        uint32_t v;

        if (i.flags & PTXI_IF_DEAD)
            continue;
        if (i.guard != PTXI_NONE)
            e->read[i.guard] = true;
        i.guard = PTXI_NONE;
        for (struct ptxi_ir_walk w = ptxi_ir_reads(e->ir, &i); ptxi_ir_next(&w, &v);)
            e->read[v] = true;
    }
}

/* Computes the position of every block, and allocates the arrays. */
static bool measure_blocks(struct emitter *e)
{
    struct ptxi_ir *ir = e->ir;

    e->start = ARENA_NEW(ir->arena, uint32_t, ir->order_count + 1);
    e->reads = ARENA_NEW(ir->arena, uint32_t, ir->order_count + 1);
    e->polls = ARENA_NEW(ir->arena, uint32_t, ir->order_count + 1);
    e->strong = ARENA_NEW(ir->arena, uint32_t, ir->order_count + 1);
    e->read = ARENA_NEW(ir->arena, bool, ir->vreg_count + 1);
    e->unsupported = ARENA_NEW(e->arena, const char *, ir->unsupported_count);
    if (!e->start || !e->reads || !e->polls || !e->strong || !e->read || !e->unsupported)
        return false;
    find_read(e);
    for (uint32_t p = 0; p < ir->order_count; p++) {
        const struct ptxi_block *block = &ir->blocks[ir->order[p]];
        unsigned flags = 0;
        bool strong = false;

        for (uint32_t k = block->first; k < block->end; k++)
            if (!(ir->insts[k].flags & PTXI_IF_DEAD)) {
                flags |= ir->insts[k].flags;
                strong |= is_strong_load(&ir->insts[k]);
            }
        e->strong[p + 1] = e->strong[p] + strong;
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
    setup[ir->setup_count] = (struct ptxi_insn){ .op = PTXI_OP_end, .d = PTXI_NO_SLOT, .a = PTXI_NO_SLOT,
                                                 .b = PTXI_NO_SLOT, .c = PTXI_NO_SLOT };
    e->code->setup = setup;
    e->code->setup_count = ir->setup_count + 1;
    return true;
}

static bool is_used_const(const struct ptxi_vreg *v)
{
    return v->kind == PTXI_VR_CONST && v->slot != PTXI_NONE;
}

static bool put_consts(struct emitter *e)
{
    static const uint8_t bytes[PTXI_RC_COUNT] = { 0, 2, 4, 8, 8, 0 };
    const struct ptxi_ir *ir = e->ir;
    struct ptxi_const *c;
    uint32_t n = 0;

    for (uint32_t v = 0; v < ir->vreg_count; v++)
        n += is_used_const(&ir->vregs[v]);
    c = ARENA_NEW(e->arena, struct ptxi_const, n);
    if (!c)
        return false;
    e->code->consts = c;
    e->code->const_count = n;
    for (uint32_t v = 0; v < ir->vreg_count; v++)
        if (is_used_const(&ir->vregs[v]))
            *c++ = (struct ptxi_const){ (uint16_t)ir->vregs[v].slot, bytes[ir->vregs[v].class], ir->vregs[v].value };
    return true;
}

/* Copies the texts of unsupported instructions to the arena of the result. */
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

static bool keep_parts(struct emitter *e)
{
    struct ptxi_local_part *parts;

    if (!e->ir->part_count)
        return true;
    if (!(parts = ARENA_NEW(e->arena, struct ptxi_local_part, e->ir->part_count)))
        return false;
    e->code->parts = memcpy(parts, e->ir->parts, e->ir->part_count * sizeof *parts);
    e->code->part_count = e->ir->part_count;
    return true;
}

/* Whether an instruction may access shared memory. */
static bool uses_shared(const struct ptxi_ir *ir)
{
    for (uint32_t p = 0; p < ir->order_count; p++) {
        const struct ptxi_block *block = &ir->blocks[ir->order[p]];

        for (uint32_t k = block->first; k < block->end; k++) {
            const struct ptxi_ir_inst *i = &ir->insts[k];

            if (!(i->flags & (PTXI_IF_DEAD | PTXI_IF_PURE | PTXI_IF_NOT_SHARED)) && !ptxi_ir_is_branch(i) &&
                !ptxi_ir_ends(i))
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

static bool keep_live_heads(struct emitter *e)
{
    struct ptxi_live_heads *heads = ARENA_NEW(e->arena, struct ptxi_live_heads, e->ir->frame_units);
    uint32_t *starts = ARENA_NEW(e->arena, uint32_t, e->at / 32 + 1);

    if (!heads || !starts)
        return false;
    for (uint32_t u = 0; u < e->ir->frame_units; u++) {
        const struct ptxi_live_heads blocks = e->ir->live_heads[u];

        heads[u] = blocks.first > blocks.last ? blocks
                 : (struct ptxi_live_heads){ e->start[blocks.first], e->start[blocks.last] };
    }
    for (uint32_t p = 0; p < e->ir->order_count; p++)
        starts[e->start[p] / 32] |= UINT32_C(1) << e->start[p] % 32;
    e->code->live_heads = heads;
    e->code->block_starts = starts;
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
    static _Atomic uint64_t ids;
    struct emitter e = { .ir = ir, .arena = arena, .count = options->count, .check = options->check,
                         .track = options->track };

    e.code = ARENA_NEW(arena, struct ptxi_code, 1);
    if (!e.code || !measure_blocks(&e))
        return NULL;
    e.code->state = ARENA_NEW(arena, struct ptxi_function_state, 1);
    if (!e.code->state)
        return NULL;
    e.code->id = atomic_fetch_add(&ids, 1) + 1;
    e.code->polls_at = UINT32_MAX;
    if (e.check || e.track)
        e.first_place = options->take_places(options->ctx, e.start[ir->order_count]);
    for (uint32_t p = 0; p < ir->order_count; p++)
        put_block(&e, p);
    assert(ir->oom || e.at == e.start[ir->order_count]);
    ptxi_mark_mbarrier_wait_loops(e.insns, e.at);
    if (ir->oom || !put_setup(&e) || !put_consts(&e) || !keep_unwritten(&e) || !keep_live_heads(&e) ||
        !keep_texts(&e) || !keep_pool(&e) || !keep_parts(&e))
        return NULL;
    e.code->name = ir->func->name->s;
    e.code->module = options->ctx;
    e.code->insns = e.insns;
    e.code->count = e.at;
    e.code->locs = e.locs;
    e.code->first_place = e.first_place;
    e.code->frame_units = ir->frame_units;
    e.code->local_bytes = (uint32_t)ir->local_bytes;
    e.code->arg_words = ir->arg_words;
    e.code->ret_words = ir->ret_words;
    e.code->barriers = ir->barriers;
    e.code->uses_shared = uses_shared(ir);
    e.code->is_entry = ir->func->is_entry;
    return e.code;
}
