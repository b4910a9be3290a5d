/* Copies and what nobody needs: reads of a register that holds another's value read that one, pure instructions whose
 * results are not read go away. What goes becomes a nop, which still counts as an instruction. */
#include "compile/ir/ir.h"

struct copies {
    struct ptxi_ir *ir;
    uint32_t *defs;     /* per vreg: instructions that write it */
    uint8_t *once;      /* per vreg: its one definition stands outside of loops, so that it never changes */
    uint32_t *stands_for; /* per vreg: another that holds the same value wherever it has one */
    /* inside a block: `source` held the same value when source and copy were last written so often */
    uint32_t *source, *source_version, *own_version, *version;
    uint32_t *reads;    /* per vreg: places that read it */
};

static bool is_move(const struct ptxi_ir_inst *i)
{
    return (i->op == PTXI_OP_mov_16 || i->op == PTXI_OP_mov_32 || i->op == PTXI_OP_mov_64 || i->op == PTXI_OP_mov_128 || i->op == PTXI_OP_mov_pred) &&
           i->guard == PTXI_NONE;
}

static void each_inst(struct copies *c, void (*see)(struct copies *c, struct ptxi_ir_inst *i, const struct ptxi_block *block))
{
    struct ptxi_ir *ir = c->ir;

    for (uint32_t p = 0; p < ir->order_count; p++) {
        const struct ptxi_block *block = &ir->blocks[ir->order[p]];

        for (uint32_t n = block->first; n < block->end; n++)
            if (!(ir->insts[n].flags & PTXI_IF_DEAD))
                see(c, &ir->insts[n], block);
    }
}

static void count_defs(struct copies *c, struct ptxi_ir_inst *i, const struct ptxi_block *block)
{
    struct ptxi_ir_walk w = ptxi_ir_writes(c->ir, i);
    uint32_t v;

    while (ptxi_ir_next(&w, &v)) {
        c->defs[v]++;
        c->once[v] = c->defs[v] == 1 && !block->depth && c->ir->vregs[v].kind == PTXI_VR_PLAIN && i->guard == PTXI_NONE;
    }
}

/* A guarded definition that is the only one, and outside of loops, has no older value to keep. */
static void mark_fresh(struct copies *c, struct ptxi_ir_inst *i, const struct ptxi_block *block)
{
    struct ptxi_ir_walk w = ptxi_ir_writes(c->ir, i);
    uint32_t v;

    if (i->guard == PTXI_NONE || block->depth || ptxi_ir_is_call(i))
        return;
    while (ptxi_ir_next(&w, &v))
        if (c->defs[v] != 1 || c->ir->vregs[v].kind != PTXI_VR_PLAIN)
            return;
    i->flags |= PTXI_IF_FRESH;
}

/* Chains of copies are short, but a hostile text may make long ones: each is walked once. */
static uint32_t resolve(struct copies *c, uint32_t v)
{
    uint32_t end = v;

    while (c->stands_for[end] != end)
        end = c->stands_for[end];
    while (c->stands_for[v] != end) {
        uint32_t next = c->stands_for[v];

        c->stands_for[v] = end;
        v = next;
    }
    return end;
}

/* The only value that d ever gets is a's, which never changes. Registers that are read before they are written may be copied in a
 * circle. */
static void find_copies(struct copies *c, struct ptxi_ir_inst *i, const struct ptxi_block *block)
{
    uint32_t d = i->v[PTXI_F_D], a = i->v[PTXI_F_A];

    (void)block;
    if (!is_move(i) || c->ir->vregs[d].kind != PTXI_VR_PLAIN || c->defs[d] != 1)
        return;
    if ((c->ir->vregs[a].kind == PTXI_VR_CONST || c->once[a]) && resolve(c, a) != d)
        c->stands_for[d] = a;
}

static uint32_t local_source(const struct copies *c, uint32_t v)
{
    uint32_t s = c->source[v];

    return s != PTXI_NONE && c->own_version[v] == c->version[v] && c->source_version[v] == c->version[s] ? s : v;
}

static bool writes(const struct ptxi_ir_inst *i, uint32_t v)
{
    for (unsigned f = 0; f < PTXI_F_COUNT; f++)
        if (i->writes >> f & 1 && i->v[f] == v)
            return true;
    return false;
}

static uint32_t replacement(struct copies *c, const struct ptxi_ir_inst *i, uint32_t v)
{
    uint32_t r = resolve(c, local_source(c, resolve(c, v)));

    /* a result that is written early must stay apart from the sources */
    return i->flags & PTXI_IF_EARLY && writes(i, r) ? v : r;
}

static void replace_reads(struct copies *c, struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk w;
    uint32_t v, d = i->v[PTXI_F_D], a;

    for (unsigned f = 0; f < PTXI_F_COUNT; f++)
        if (i->reads >> f & 1 && !(i->writes >> f & 1) && f != PTXI_F_EXTRA)
            i->v[f] = replacement(c, i, i->v[f]);
    if (i->list != PTXI_NONE) {
        struct ptxi_ir_list *list = &c->ir->lists[i->list];

        for (uint32_t k = list->writes; k < list->count; k++)
            if (list->v[k] != PTXI_NONE)
                list->v[k] = replacement(c, i, list->v[k]);
    }
    if (i->guard != PTXI_NONE)
        i->guard = replacement(c, i, i->guard);
    ptxi_simplify(c->ir, i);
    w = ptxi_ir_writes(c->ir, i);
    while (ptxi_ir_next(&w, &v)) {
        c->version[v]++;
        c->source[v] = PTXI_NONE;
    }
    a = i->v[PTXI_F_A];
    if (!is_move(i) || a == d)
        return;
    c->source[d] = a;
    c->source_version[d] = c->version[a];
    c->own_version[d] = c->version[d];
}

/* What held in one block need not hold in the next. */
static void replace_in_blocks(struct copies *c)
{
    struct ptxi_ir *ir = c->ir;

    for (uint32_t p = 0; p < ir->order_count; p++) {
        const struct ptxi_block *block = &ir->blocks[ir->order[p]];

        for (uint32_t n = block->first; n < block->end; n++)
            if (!(ir->insts[n].flags & PTXI_IF_DEAD))
                replace_reads(c, &ir->insts[n]);
        for (uint32_t n = block->first; n < block->end; n++)
            if (is_move(&ir->insts[n]))
                c->source[ir->insts[n].v[PTXI_F_D]] = PTXI_NONE;
    }
}

static void count_reads(struct copies *c, struct ptxi_ir_inst *i, const struct ptxi_block *block)
{
    struct ptxi_ir_walk r = ptxi_ir_reads(c->ir, i);
    uint32_t v;

    (void)block;
    while (ptxi_ir_next(&r, &v))
        c->reads[v]++;
}

static bool is_needed(const struct copies *c, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk w = ptxi_ir_writes(c->ir, i);
    uint32_t v, own;

    if (!(i->flags & PTXI_IF_PURE) || !i->writes)
        return true;
    while (ptxi_ir_next(&w, &v)) {
        const struct ptxi_vreg *r = &c->ir->vregs[v];

        own = i->guard != PTXI_NONE && !(i->flags & PTXI_IF_FRESH); /* it reads what it merges with */
        for (unsigned f = 0; f < PTXI_F_COUNT && !own; f++)
            own += i->reads >> f & 1 && i->v[f] == v;
        if (c->reads[v] > own || (r->kind == PTXI_VR_WORD && c->ir->areas[r->value].fixed != PTXI_NONE))
            return true;
    }
    return false;
}

/* Backward, so that what only a dropped instruction needed goes in the same pass. */
static void drop_unneeded(struct copies *c)
{
    struct ptxi_ir *ir = c->ir;
    uint32_t v;

    for (uint32_t p = ir->order_count; p--;) {
        const struct ptxi_block *block = &ir->blocks[ir->order[p]];

        for (uint32_t n = block->end; n-- > block->first;) {
            struct ptxi_ir_inst *i = &ir->insts[n];
            struct ptxi_ir_walk r = ptxi_ir_reads(ir, i);

            if (i->flags & PTXI_IF_DEAD || is_needed(c, i))
                continue;
            while (ptxi_ir_next(&r, &v))
                c->reads[v]--;
            i->op = PTXI_OP_nop;
            i->reads = i->writes = 0;
            i->guard = PTXI_NONE;
            i->flags &= PTXI_IF_FIRST | PTXI_IF_PURE;
        }
    }
}

static bool new_copies(struct copies *c, struct ptxi_ir *ir)
{
    uint32_t **arrays[] = { &c->defs, &c->stands_for, &c->source, &c->source_version, &c->own_version, &c->version, &c->reads };

    for (unsigned k = 0; k < sizeof arrays / sizeof *arrays; k++)
        if (!(*arrays[k] = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count)))
            return false;
    c->once = ARENA_NEW(ir->arena, uint8_t, ir->vreg_count);
    for (uint32_t v = 0; v < ir->vreg_count; v++) {
        c->stands_for[v] = v;
        c->source[v] = PTXI_NONE;
    }
    return c->once;
}

bool ptxi_copies(struct ptxi_ir *ir)
{
    struct copies c = { .ir = ir };

    if (!new_copies(&c, ir))
        return !(ir->oom = true);
    each_inst(&c, count_defs);
    each_inst(&c, mark_fresh);
    each_inst(&c, find_copies);
    replace_in_blocks(&c);
    each_inst(&c, count_reads);
    drop_unneeded(&c);
    return true;
}
