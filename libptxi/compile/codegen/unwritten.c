/* Registers that a function may read before it writes them. They are live where the function begins. The engine fills
 * their slots, which are listed here, when the function is entered (frame.c). Passes that bits depend on have run
 * before and are not affected. */
#include "compile/codegen/codegen.h"

#include <assert.h>

/* --- guarded definitions --- */

/* In lanes in which its guard does not hold, a definition with PTXI_IF_FRESH leaves the slot with arbitrary contents.
 * That is harmless if all reads have the same guard. Otherwise the definition must keep the older value, which is then
 * live from the entry on. */
struct guards {
    struct ptxi_ir *ir;
    const struct ptxi_liveness *live;
    uint32_t *maker;  /* per register: the FRESH instruction that writes it, or PTXI_NONE */
    uint32_t *defs;   /* per register: number of instructions that write it */
    uint8_t *steady;  /* per register: its definition is outside of loops, without a guard */
    bool changed;
};

static void visit_insts(struct guards *g, void (*visit)(struct guards *g, uint32_t n, const struct ptxi_block *block))
{
    const struct ptxi_ir *ir = g->ir;

    for (uint32_t p = 0; p < ir->order_count; p++) {
        const struct ptxi_block *block = &ir->blocks[ir->order[p]];

        for (uint32_t n = block->first; n < block->end; n++)
            if (!(ir->insts[n].flags & PTXI_IF_DEAD))
                visit(g, n, block);
    }
}

static void note_writes(struct guards *g, uint32_t n, const struct ptxi_block *block)
{
    const struct ptxi_ir_inst *i = &g->ir->insts[n];
    struct ptxi_ir_walk w = ptxi_ir_writes(g->ir, i);
    uint32_t v;

    while (ptxi_ir_next(&w, &v)) {
        g->defs[v]++;
        g->steady[v] = !block->depth && i->guard == PTXI_NONE;
        if (i->flags & PTXI_IF_FRESH)
            g->maker[v] = n;
    }
}

/* Whether a predicate has the same value wherever it is read. */
static bool is_steady(const struct guards *g, uint32_t v)
{
    uint8_t kind = g->ir->vregs[v].kind;

    if (kind == PTXI_VR_CONST || kind == PTXI_VR_SETUP)
        return true;
    return g->defs[v] == 1 && g->steady[v] && !g->live->at_entry[v];
}

static void check_reads(struct guards *g, uint32_t n, const struct ptxi_block *block)
{
    const struct ptxi_ir_inst *i = &g->ir->insts[n];
    struct ptxi_ir_walk r = ptxi_ir_reads(g->ir, i);
    uint32_t v;

    (void)block;
    while (ptxi_ir_next(&r, &v)) {
        struct ptxi_ir_inst *maker = g->maker[v] == PTXI_NONE ? NULL : &g->ir->insts[g->maker[v]];

        if (!maker || !(maker->flags & PTXI_IF_FRESH))
            continue;
        if (i->guard == maker->guard && i->guard_negated == maker->guard_negated && i->guard != v &&
            is_steady(g, maker->guard))
            continue;
        maker->flags &= (uint16_t)~PTXI_IF_FRESH;
        g->changed = true;
    }
}

bool ptxi_keep_guarded(struct ptxi_ir *ir, struct ptxi_liveness *live)
{
    struct guards g = { .ir = ir, .live = live };

    g.maker = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count);
    g.defs = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count);
    g.steady = ARENA_NEW(ir->arena, uint8_t, ir->vreg_count);
    if (!g.maker || !g.defs || !g.steady)
        return !(ir->oom = true);
    memset(g.maker, 0xff, ir->vreg_count * sizeof *g.maker);
    visit_insts(&g, note_writes);
    visit_insts(&g, check_reads);
    return !g.changed || ptxi_liveness(ir, live);
}

/* --- slots to fill --- */

static bool add_range(struct ptxi_ir *ir, uint32_t *cap, uint32_t first, uint32_t units)
{
    struct ptxi_slot_range *r = ptxi_ir_grow(ir, ir->unwritten, cap, ir->unwritten_count + 1, sizeof *r);

    if (!r)
        return false;
    ir->unwritten = r;
    r[ir->unwritten_count++] = (struct ptxi_slot_range){ (uint16_t)first, (uint16_t)units };
    return true;
}

bool ptxi_list_unwritten(struct ptxi_ir *ir, const struct ptxi_liveness *live)
{
    uint8_t *fill = ARENA_NEW(ir->arena, uint8_t, ir->frame_units + 1); /* per unit; the last one ends a range */
    uint32_t cap = 0;

    if (!fill)
        return !(ir->oom = true);
    for (uint32_t v = 0; v < ir->vreg_count; v++)
        if (live->at_entry[v] && !ptxi_ir_is_argument(ir, v)) {
            assert(ir->vregs[v].slot + ptxi_class_units[ir->vregs[v].class] <= ir->frame_units);
            memset(fill + ir->vregs[v].slot, 1, ptxi_class_units[ir->vregs[v].class]);
        }
    for (uint32_t u = 0, first = 0; u <= ir->frame_units; u++) {
        if (fill[u])
            continue;
        if (u > first && !add_range(ir, &cap, first, u - first))
            return false;
        first = u + 1;
    }
    return true;
}
