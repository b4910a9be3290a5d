/* Copy propagation and dead code elimination. A read of a copy becomes a read of the original. A pure instruction
 * without a read of its results is deleted: it becomes a nop, which still counts as an instruction. */
#include "compile/optimize/optimize.h"

#include <assert.h>

struct copies {
    struct ptxi_ir *ir;
    /* all per register */
    uint32_t *defs;     /* number of instructions that write it */
    uint8_t *once;      /* its only definition is outside of loops, so it never changes */
    uint32_t *original; /* a register that has the same value wherever this one has a value; itself if it is no copy */
    /* inside a block: `source` has the same value as long as both registers have the versions recorded here */
    uint32_t *source, *source_version, *own_version;
    uint32_t *version;  /* number of writes so far */
    uint32_t *reads;    /* number of reads */
};

static bool is_plain_move(const struct ptxi_ir_inst *i)
{
    return ptxi_ir_is_move(i) && i->guard == PTXI_NONE;
}

static void visit_insts(struct copies *c, void (*visit)(struct copies *c, struct ptxi_ir_inst *i,
                                                        const struct ptxi_block *block))
{
    struct ptxi_ir *ir = c->ir;

    for (uint32_t p = 0; p < ir->order_count; p++) {
        const struct ptxi_block *block = &ir->blocks[ir->order[p]];

        for (uint32_t n = block->first; n < block->end; n++)
            if (!(ir->insts[n].flags & PTXI_IF_DEAD))
                visit(c, &ir->insts[n], block);
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

/* A guarded definition has no older value to keep if it is the only one and outside of loops. */
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

/* The end of a chain of copies. The chain is shortened, so that a hostile text with long chains costs no time. */
static uint32_t resolve(struct copies *c, uint32_t v)
{
    uint32_t end = v;

    while (c->original[end] != end)
        end = c->original[end];
    while (c->original[v] != end) {
        uint32_t next = c->original[v];

        c->original[v] = end;
        v = next;
    }
    return end;
}

/* Notes a copy d that always has the value of a, which never changes. Registers that are read before they are written
 * may be copied in a cycle. */
static void find_copies(struct copies *c, struct ptxi_ir_inst *i, const struct ptxi_block *block)
{
    uint32_t d = i->v[PTXI_F_D], a = i->v[PTXI_F_A];

    (void)block;
    if (!is_plain_move(i) || c->ir->vregs[d].kind != PTXI_VR_PLAIN || c->defs[d] != 1)
        return;
    if ((c->ir->vregs[a].kind == PTXI_VR_CONST || c->once[a]) && resolve(c, a) != d)
        c->original[d] = a;
}

static uint32_t local_source(const struct copies *c, uint32_t v)
{
    uint32_t s = c->source[v];

    return s != PTXI_NONE && c->own_version[v] == c->version[v] && c->source_version[v] == c->version[s] ? s : v;
}

static bool writes(const struct copies *c, const struct ptxi_ir_inst *i, uint32_t v)
{
    for (unsigned f = 0; f < PTXI_F_COUNT; f++)
        if (i->writes >> f & 1 && i->v[f] == v)
            return true;
    const struct ptxi_ir_list *list = i->list == PTXI_NONE ? NULL : &c->ir->lists[i->list];

    for (uint32_t k = 0; list && k < list->writes; k++)
        if (list->v[k] == v)
            return true;
    return false;
}

static uint32_t replacement(struct copies *c, const struct ptxi_ir_inst *i, uint32_t v)
{
    uint32_t r = resolve(c, local_source(c, resolve(c, v)));

    /* a result that is written early must not be one of the sources */
    return r != v && i->flags & PTXI_IF_EARLY && writes(c, i, r) ? v : r;
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
    ptxi_peephole_simplify(c->ir, i);
    w = ptxi_ir_writes(c->ir, i);
    while (ptxi_ir_next(&w, &v)) {
        c->version[v]++;
        c->source[v] = PTXI_NONE;
    }
    a = i->v[PTXI_F_A];
    if (!is_plain_move(i) || a == d)
        return;
    c->source[d] = a;
    c->source_version[d] = c->version[a];
    c->own_version[d] = c->version[d];
}

/* Copies inside a block are forgotten at its end. */
static void replace_in_blocks(struct copies *c)
{
    struct ptxi_ir *ir = c->ir;

    for (uint32_t p = 0; p < ir->order_count; p++) {
        const struct ptxi_block *block = &ir->blocks[ir->order[p]];

        for (uint32_t n = block->first; n < block->end; n++)
            if (!(ir->insts[n].flags & PTXI_IF_DEAD))
                replace_reads(c, &ir->insts[n]);
        for (uint32_t n = block->first; n < block->end; n++)
            if (is_plain_move(&ir->insts[n]))
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

        own = i->guard != PTXI_NONE && !(i->flags & PTXI_IF_FRESH); /* it reads the old value */
        for (unsigned f = 0; f < PTXI_F_COUNT && !own; f++)
            own += i->reads >> f & 1 && i->v[f] == v;
        if (c->reads[v] > own || (r->kind == PTXI_VR_WORD && c->ir->areas[r->value].fixed != PTXI_NONE))
            return true;
    }
    return false;
}

/* Goes backward, so that instructions that only deleted ones needed are deleted in the same pass. */
static void delete_dead_code(struct copies *c)
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
            while (ptxi_ir_next(&r, &v)) {
                assert(c->reads[v]);
                c->reads[v]--;
            }
            ptxi_ir_make_nop(i);
        }
    }
}

static bool init_copies(struct copies *c, struct ptxi_ir *ir)
{
    uint32_t **arrays[] = { &c->defs, &c->original, &c->source, &c->source_version, &c->own_version, &c->version,
                            &c->reads };

    for (unsigned k = 0; k < sizeof arrays / sizeof *arrays; k++)
        if (!(*arrays[k] = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count)))
            return false;
    c->once = ARENA_NEW(ir->arena, uint8_t, ir->vreg_count);
    for (uint32_t v = 0; v < ir->vreg_count; v++) {
        c->original[v] = v;
        c->source[v] = PTXI_NONE;
    }
    return c->once;
}

bool ptxi_propagate_copies(struct ptxi_ir *ir)
{
    struct copies c = { .ir = ir };

    if (!init_copies(&c, ir))
        return !(ir->oom = true);
    visit_insts(&c, count_defs);
    visit_insts(&c, mark_fresh);
    visit_insts(&c, find_copies);
    replace_in_blocks(&c);
    visit_insts(&c, count_reads);
    delete_dead_code(&c);
    return true;
}
