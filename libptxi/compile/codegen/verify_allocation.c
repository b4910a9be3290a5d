/* Verifies the register allocation by other means than it was made: liveness by iteration over sets, then one pass that
 * records the owner of each unit of the frame. For tests. */
#include "compile/codegen/codegen.h"

struct checker {
    struct ptxi_ir *ir;
    uint32_t words;      /* of a set */
    uint64_t *in, *out;  /* per block */
    uint64_t *gen, *kill;
    uint32_t *owner;     /* unit -> register, or PTXI_NONE */
    uint16_t *shape;     /* unit -> 1 + class * 8 + part of the values that were ever there; 0: no value yet */
};

static bool is_permanent(const struct ptxi_ir *ir, uint32_t v)
{
    const struct ptxi_vreg *r = &ir->vregs[v];

    return r->kind == PTXI_VR_CONST || r->kind == PTXI_VR_SETUP ||
           (r->kind == PTXI_VR_WORD && ir->areas[r->value].fixed != PTXI_NONE);
}

static void set(uint64_t *s, uint32_t v)
{
    s[v / 64] |= UINT64_C(1) << v % 64;
}

static bool has(const uint64_t *s, uint32_t v)
{
    return s[v / 64] >> v % 64 & 1;
}

static void scan_block(struct checker *c, uint32_t b)
{
    const struct ptxi_block *block = &c->ir->blocks[b];
    uint64_t *gen = c->gen + (size_t)b * c->words, *kill = c->kill + (size_t)b * c->words;

    for (uint32_t n = block->first; n < block->end; n++) {
        const struct ptxi_ir_inst *i = &c->ir->insts[n];
        struct ptxi_ir_walk r = ptxi_ir_reads(c->ir, i), w = ptxi_ir_writes(c->ir, i);
        uint32_t v;

        if (i->flags & PTXI_IF_DEAD)
            continue;
        while (ptxi_ir_next(&r, &v))
            if (!has(kill, v))
                set(gen, v);
        while (ptxi_ir_next(&w, &v))
            set(kill, v);
    }
}

static bool update_block(struct checker *c, uint32_t b)
{
    const struct ptxi_block *block = &c->ir->blocks[b];
    size_t at = (size_t)b * c->words;
    bool changed = false;

    for (uint32_t k = 0; k < c->words; k++) {
        uint64_t out = 0, in;

        for (uint32_t e = 0; e < block->succ_count; e++)
            out |= c->in[(size_t)c->ir->edges[block->succ + e] * c->words + k];
        in = c->gen[at + k] | (out & ~c->kill[at + k]);
        changed |= in != c->in[at + k];
        c->out[at + k] = out;
        c->in[at + k] = in;
    }
    return changed;
}

static void iterate(struct checker *c)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t p = c->ir->order_count; p--;)
            changed |= update_block(c, c->ir->order[p]);
    }
}

/* Makes v the owner of its slot. Returns NULL, or the description of an error. */
static const char *take_slot(struct checker *c, uint32_t v)
{
    const struct ptxi_vreg *r = &c->ir->vregs[v];

    if (is_permanent(c->ir, v))
        return NULL;
    if (r->slot == PTXI_NONE)
        return "a register without a slot";
    for (uint32_t u = 0; u < ptxi_class_units[r->class]; u++) {
        uint16_t shape = (uint16_t)(1 + r->class * 8 + u);

        if (r->slot + u >= c->ir->frame_units)
            return "a slot outside the frame";
        if (c->owner[r->slot + u] != PTXI_NONE && c->owner[r->slot + u] != v)
            return "two live registers in one slot";
        if (c->shape[r->slot + u] && c->shape[r->slot + u] != shape)
            return "registers of different width in one slot";
        c->shape[r->slot + u] = shape;
        c->owner[r->slot + u] = v;
    }
    return NULL;
}

static void release_slot(struct checker *c, uint32_t v)
{
    const struct ptxi_vreg *r = &c->ir->vregs[v];

    if (is_permanent(c->ir, v))
        return;
    for (uint32_t u = 0; u < ptxi_class_units[r->class]; u++)
        c->owner[r->slot + u] = PTXI_NONE;
}

static bool reads(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i, uint32_t vreg)
{
    struct ptxi_ir_walk r = ptxi_ir_reads(ir, i);
    uint32_t v;

    while (ptxi_ir_next(&r, &v))
        if (v == vreg)
            return true;
    return false;
}

/* Steps backward over one instruction: a register that it writes must own its slot, a register that it reads takes its
 * slot. */
static const char *step_back(struct checker *c, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk r = ptxi_ir_reads(c->ir, i), w = ptxi_ir_writes(c->ir, i);
    const char *wrong = NULL;
    uint32_t v;

    while (!wrong && ptxi_ir_next(&w, &v))
        wrong = take_slot(c, v);
    if (i->flags & PTXI_IF_EARLY) /* results and sources must be in different slots */
        while (!wrong && ptxi_ir_next(&r, &v))
            wrong = take_slot(c, v);
    w = ptxi_ir_writes(c->ir, i);
    while (!wrong && ptxi_ir_next(&w, &v))
        if (!reads(c->ir, i, v))
            release_slot(c, v);
    r = ptxi_ir_reads(c->ir, i);
    while (!wrong && ptxi_ir_next(&r, &v))
        wrong = take_slot(c, v);
    return wrong;
}

static const char *check_block(struct checker *c, uint32_t b)
{
    const struct ptxi_block *block = &c->ir->blocks[b];
    const char *wrong = NULL;

    memset(c->owner, 0xff, c->ir->frame_units * sizeof *c->owner);
    for (uint32_t v = 0; v < c->ir->vreg_count; v++) {
        if (is_permanent(c->ir, v) && c->ir->vregs[v].slot != PTXI_NONE)
            for (uint32_t u = 0; u < ptxi_class_units[c->ir->vregs[v].class]; u++)
                c->owner[c->ir->vregs[v].slot + u] = v;
        else if (has(c->out + (size_t)b * c->words, v) && !wrong)
            wrong = take_slot(c, v);
    }
    for (uint32_t n = block->end; n-- > block->first && !wrong;)
        if (!(c->ir->insts[n].flags & PTXI_IF_DEAD))
            wrong = step_back(c, &c->ir->insts[n]);
    return wrong;
}

static bool is_filled(const struct ptxi_ir *ir, uint32_t slot)
{
    for (uint32_t k = 0; k < ir->unwritten_count; k++)
        if (slot - ir->unwritten[k].first < ir->unwritten[k].units)
            return true;
    return false;
}

/* A register that is live where the function begins must be filled there or be an argument. */
static const char *check_entry(const struct checker *c)
{
    const struct ptxi_ir *ir = c->ir;
    const uint64_t *in = c->in + (size_t)ir->order[0] * c->words;

    for (uint32_t v = 0; v < ir->vreg_count; v++) {
        const struct ptxi_vreg *r = &ir->vregs[v];

        if (!has(in, v) || r->kind == PTXI_VR_CONST || r->kind == PTXI_VR_SETUP || ptxi_ir_is_argument(ir, v))
            continue;
        for (uint32_t u = 0; u < ptxi_class_units[r->class]; u++)
            if (!is_filled(ir, r->slot + u))
                return "a register that may be read before it is written";
    }
    return NULL;
}

const char *ptxi_verify_allocation(struct ptxi_ir *ir)
{
    struct checker c = { .ir = ir, .words = (ir->vreg_count + 63) / 64 };
    size_t size = (size_t)ir->block_count * c.words;

    if (size > 16000000)
        return NULL; /* larger than any test */
    c.in = ARENA_NEW(ir->arena, uint64_t, size);
    c.out = ARENA_NEW(ir->arena, uint64_t, size);
    c.gen = ARENA_NEW(ir->arena, uint64_t, size);
    c.kill = ARENA_NEW(ir->arena, uint64_t, size);
    c.owner = ARENA_NEW(ir->arena, uint32_t, ir->frame_units);
    c.shape = ARENA_NEW(ir->arena, uint16_t, ir->frame_units);
    if (!c.in || !c.out || !c.gen || !c.kill || !c.owner || !c.shape)
        return "no memory for the check";
    for (uint32_t p = 0; p < ir->order_count; p++)
        scan_block(&c, ir->order[p]);
    iterate(&c);
    for (uint32_t p = 0; p < ir->order_count; p++) {
        const char *wrong = check_block(&c, ir->order[p]);

        if (wrong)
            return wrong;
    }
    return check_entry(&c);
}
