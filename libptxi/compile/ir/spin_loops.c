/* Spin loops: loops that only check whether something has happened, as in spin locks and grid barriers. No iteration
 * passes a value to the next one, so iterations differ only by what other threads do meanwhile. */
#include "compile/ir/ir.h"

#include <assert.h>

/* Longer loops are not examined. */
enum { MAX_INSTS = 32, MAX_WRITTEN = 64 };

/* The registers that one iteration writes. */
struct iteration {
    uint32_t written[MAX_WRITTEN]; /* in the order of the loop */
    uint32_t count;
    uint32_t so_far; /* number of those before the current instruction */
};

/* True if the instruction was inserted to check a kernel (codegen/track_init.c, track_pointers.c). */
static bool is_tracking(const struct ptxi_ir_inst *i)
{
    if (i->op >= PTXI_OP_init_spread && i->op <= PTXI_OP_init_alloca) /* they are adjacent in isa/internal.def */
        return true;
    switch (i->op) {
    case PTXI_OP_check_object: case PTXI_OP_check_wgmma: case PTXI_OP_check_passed:
        return true;
    default:
        return i->flags & PTXI_IF_NESTED;
    }
}

static uint32_t count_insts(const struct ptxi_ir *ir, const struct ptxi_block *block)
{
    uint32_t n = 0;

    for (uint32_t k = block->first; k < block->end; k++)
        n += !is_tracking(&ir->insts[k]);
    return n;
}

/* Whether a spin loop may contain the instruction: a load, an atomic operation, or a computation in which lanes do not
 * interact. */
static bool is_allowed(const struct ptxi_ir_inst *i)
{
    if (ptxi_ir_is_branch(i) || i->op == PTXI_OP_fence || i->op == PTXI_OP_nop)
        return true;
    return i->flags & (PTXI_IF_PURE | PTXI_IF_READS) && !(i->flags & PTXI_IF_TOGETHER) && !ptxi_ir_is_call(i);
}

static bool note_written(struct iteration *t, const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk w = ptxi_ir_writes(ir, i);
    uint32_t v;

    while (ptxi_ir_next(&w, &v)) {
        if (t->count == MAX_WRITTEN)
            return false;
        t->written[t->count++] = v;
    }
    return true;
}

/* Whether an iteration writes v only after the current instruction, which therefore reads the value of the iteration
 * before. */
static bool is_carried(const struct iteration *t, uint32_t v)
{
    bool later = false;

    for (uint32_t k = 0; k < t->count; k++) {
        if (t->written[k] != v)
            continue;
        if (k < t->so_far)
            return false;
        later = true;
    }
    return later;
}

/* Whether the instruction reads a value of the iteration before. A guarded result may keep such a value. */
static bool reads_last_iteration(struct iteration *t, const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk r = ptxi_ir_reads(ir, i), w = ptxi_ir_writes(ir, i);
    uint32_t v;

    while (ptxi_ir_next(&r, &v))
        if (is_carried(t, v))
            return true;
    while (i->guard != PTXI_NONE && ptxi_ir_next(&w, &v))
        if (is_carried(t, v))
            return true;
    for (w = ptxi_ir_writes(ir, i); ptxi_ir_next(&w, &v);)
        t->so_far++;
    return false;
}

/* Adds the instructions of a block to the iteration; false if the loop cannot be a spin loop. */
static bool add_block(struct iteration *t, const struct ptxi_ir *ir, const struct ptxi_block *block, bool *reads)
{
    for (uint32_t k = block->first; k < block->end; k++) {
        const struct ptxi_ir_inst *i = &ir->insts[k];

        if (i->flags & PTXI_IF_DEAD || is_tracking(i))
            continue;
        if (!is_allowed(i) || !note_written(t, ir, i))
            return false;
        *reads |= (i->flags & PTXI_IF_READS) != 0;
    }
    return true;
}

bool ptxi_ir_is_spin_loop(const struct ptxi_ir *ir, uint32_t first, uint32_t last)
{
    struct iteration t = { .count = 0 };
    uint32_t insts = 0;
    bool reads = false;

    assert(first <= last && last < ir->order_count);
    for (uint32_t p = first; p <= last; p++) {
        const struct ptxi_block *block = &ir->blocks[ir->order[p]];

        insts += count_insts(ir, block);
        if (insts > MAX_INSTS || !add_block(&t, ir, block, &reads))
            return false;
    }
    for (uint32_t p = first; p <= last; p++) {
        const struct ptxi_block *block = &ir->blocks[ir->order[p]];

        for (uint32_t k = block->first; k < block->end; k++)
            if (!(ir->insts[k].flags & PTXI_IF_DEAD) && !is_tracking(&ir->insts[k]) &&
                reads_last_iteration(&t, ir, &ir->insts[k]))
                return false;
    }
    return reads;
}

static void mark_block(struct ptxi_ir *ir, const struct ptxi_block *block)
{
    enum { STRENGTH = 3 << PTXI_CHECK_STRENGTH_SHIFT };

    for (uint32_t k = block->first; k < block->end; k++) {
        struct ptxi_ir_inst *i = &ir->insts[k];

        if (!(i->check & PTXI_CHECK_WRITE) && (i->check & STRENGTH) == PTXI_CHECK_VOLATILE << PTXI_CHECK_STRENGTH_SHIFT)
            i->check = (uint16_t)((i->check & ~STRENGTH) | PTXI_CHECK_STRONG << PTXI_CHECK_STRENGTH_SHIFT);
    }
}

bool ptxi_ir_mark_polling_loads(struct ptxi_ir *ir)
{
    for (uint32_t last = 0; last < ir->order_count; last++) {
        const struct ptxi_block *block = &ir->blocks[ir->order[last]];

        for (uint32_t k = 0; k < block->succ_count; k++) {
            uint32_t first = ir->blocks[ir->edges[block->succ + k]].order;

            for (uint32_t p = first; first <= last && p <= last && ptxi_ir_is_spin_loop(ir, first, last); p++)
                mark_block(ir, &ir->blocks[ir->order[p]]);
        }
    }
    return true;
}
