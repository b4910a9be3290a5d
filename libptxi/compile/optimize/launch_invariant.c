/* Launch-invariant values: pure functions of parameters, constants, %tid, %ntid and similar registers. For a warp they
 * are the same in every CTA of a launch, so the setup code computes them once (bytecode.h). They may differ between
 * lanes. */
#include "compile/optimize/optimize.h"

#include <assert.h>
#include <stdlib.h>

/* Number of values that are kept for the body. Each occupies a slot, and so lines of the cache, in every warp. */
enum { MAX_VALUES = 128 };

struct invariants {
    struct ptxi_ir *ir;
    uint32_t *defs;      /* per register: number of instructions that write it */
    uint32_t *maker;     /* per register: the invariant instruction that makes it, or PTXI_NONE */
    uint32_t *weight;    /* per invariant instruction: how often the body uses its results, weighted; 0: never */
    uint8_t *hoisted;    /* per instruction */
    uint32_t *invariant; /* invariant instructions, in the order of the layout */
    uint32_t count;
};

static void count_defs(struct invariants *u)
{
    const struct ptxi_ir *ir = u->ir;
    uint32_t v;

    for (uint32_t n = 0; n < ir->count; n++) {
        struct ptxi_ir_walk w = ptxi_ir_writes(ir, &ir->insts[n]);

        while (!(ir->insts[n].flags & PTXI_IF_DEAD) && ptxi_ir_next(&w, &v))
            u->defs[v]++;
    }
}

static bool is_invariant(const struct invariants *u, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk r = ptxi_ir_reads(u->ir, i), w = ptxi_ir_writes(u->ir, i);
    uint32_t v, written = 0;

    if (!(i->flags & PTXI_IF_PURE) || i->flags & PTXI_IF_DEAD || i->guard != PTXI_NONE)
        return false;
    while (ptxi_ir_next(&r, &v))
        if (u->ir->vregs[v].kind != PTXI_VR_CONST && u->maker[v] == PTXI_NONE)
            return false;
    for (; ptxi_ir_next(&w, &v); written++)
        if (u->ir->vregs[v].kind != PTXI_VR_PLAIN || u->defs[v] != 1)
            return false;
    return written > 0;
}

static void find_invariant(struct invariants *u)
{
    struct ptxi_ir *ir = u->ir;
    uint32_t v;

    for (uint32_t p = 0; p < ir->order_count; p++) {
        const struct ptxi_block *block = &ir->blocks[ir->order[p]];

        for (uint32_t n = block->first; n < block->end; n++) {
            struct ptxi_ir_walk w = ptxi_ir_writes(ir, &ir->insts[n]);

            if (!is_invariant(u, &ir->insts[n]))
                continue;
            u->invariant[u->count++] = n;
            u->hoisted[n] = 1;
            while (ptxi_ir_next(&w, &v))
                u->maker[v] = n;
        }
    }
}

/* A use in a loop counts as much as ten uses outside of it. */
static void add_weight(struct invariants *u, const struct ptxi_ir_inst *i, uint32_t depth)
{
    enum { MAX_DEPTH = 4 };
    static const uint32_t worth[MAX_DEPTH + 1] = { 1, 10, 100, 1000, 10000 };
    struct ptxi_ir_walk r = ptxi_ir_reads(u->ir, i);
    uint32_t v;

    while (ptxi_ir_next(&r, &v))
        if (u->maker[v] != PTXI_NONE)
            u->weight[u->maker[v]] += worth[depth < MAX_DEPTH ? depth : MAX_DEPTH];
}

static void weigh_values(struct invariants *u)
{
    const struct ptxi_ir *ir = u->ir;

    for (uint32_t p = 0; p < ir->order_count; p++) {
        const struct ptxi_block *block = &ir->blocks[ir->order[p]];

        for (uint32_t n = block->first; n < block->end; n++)
            if (!u->hoisted[n] && !(ir->insts[n].flags & PTXI_IF_DEAD))
                add_weight(u, &ir->insts[n], block->depth);
    }
}

static int compare_weights(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x > y ? -1 : x < y;
}

/* Keeps the MAX_VALUES values that the body uses most, and the values they are computed from. The limit for all is the
 * weight of the lightest value that is kept. */
static bool choose_values(struct invariants *u)
{
    const struct ptxi_ir *ir = u->ir;
    uint32_t *weights = ARENA_NEW(ir->arena, uint32_t, u->count), wanted = 0, least = 1, v;

    if (!weights)
        return false;
    for (uint32_t k = 0; k < u->count; k++)
        if (u->weight[u->invariant[k]])
            weights[wanted++] = u->weight[u->invariant[k]];
    qsort(weights, wanted, sizeof *weights, compare_weights);
    if (wanted > MAX_VALUES)
        least = weights[MAX_VALUES] + 1;
    for (uint32_t k = u->count; k--;) {
        uint32_t n = u->invariant[k];
        struct ptxi_ir_walk r = ptxi_ir_reads(ir, &ir->insts[n]);

        if (u->weight[n] < least) {
            u->hoisted[n] = 0;
            continue;
        }
        while (ptxi_ir_next(&r, &v)) /* the makers of its operands come earlier; their results are needed now */
            if (u->maker[v] != PTXI_NONE && u->weight[u->maker[v]] < least)
                u->weight[u->maker[v]] = least;
    }
    return true;
}

/* Values that the body reads keep their slots. The others are needed only while the setup code runs. */
static void keep_read_values(struct invariants *u)
{
    struct ptxi_ir *ir = u->ir;
    uint32_t v;

    for (uint32_t p = 0; p < ir->order_count; p++) {
        const struct ptxi_block *block = &ir->blocks[ir->order[p]];

        for (uint32_t n = block->first; n < block->end; n++) {
            struct ptxi_ir_walk r = ptxi_ir_reads(ir, &ir->insts[n]);

            while (!(ir->insts[n].flags & PTXI_IF_DEAD) && ptxi_ir_next(&r, &v))
                if (u->maker[v] != PTXI_NONE && u->hoisted[u->maker[v]])
                    ir->vregs[v].kind = PTXI_VR_SETUP;
        }
    }
}

static bool hoist(struct invariants *u)
{
    struct ptxi_ir *ir = u->ir;

    ir->setup = ARENA_NEW(ir->arena, uint32_t, u->count);
    if (!ir->setup)
        return false;
    for (uint32_t k = 0; k < u->count; k++) {
        if (!u->hoisted[u->invariant[k]])
            continue;
        assert(ir->insts[u->invariant[k]].flags & PTXI_IF_PURE);
        ir->setup[ir->setup_count++] = u->invariant[k];
        ir->insts[u->invariant[k]].flags |= PTXI_IF_DEAD; /* in the body */
    }
    return true;
}

bool ptxi_hoist_launch_invariant(struct ptxi_ir *ir)
{
    struct invariants u = { .ir = ir };

    if (!ir->func->is_entry)
        return true;
    u.defs = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count);
    u.maker = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count);
    u.weight = ARENA_NEW(ir->arena, uint32_t, ir->count);
    u.hoisted = ARENA_NEW(ir->arena, uint8_t, ir->count);
    u.invariant = ARENA_NEW(ir->arena, uint32_t, ir->count);
    if (!u.defs || !u.maker || !u.weight || !u.hoisted || !u.invariant)
        return !(ir->oom = true);
    memset(u.maker, 0xff, ir->vreg_count * sizeof *u.maker);
    count_defs(&u);
    find_invariant(&u);
    weigh_values(&u);
    if (!choose_values(&u) || !hoist(&u))
        return !(ir->oom = true);
    keep_read_values(&u);
    return true;
}
