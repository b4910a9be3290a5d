/* Peephole optimization: one operation in place of two, and a move in place of an operation that copies. The pairs are
 * those that compilers emit often. The engine saves a dispatch, and a register that is neither written nor read. */
#include "compile/optimize/optimize.h"

#include <assert.h>

#include <string.h>

static bool is_const(const struct ptxi_ir *ir, uint32_t v, uint64_t value)
{
    return v != PTXI_NONE && ir->vregs[v].kind == PTXI_VR_CONST && ir->vregs[v].value == value &&
           ir->vregs[v].object == PTXI_NONE;
}

/* --- operations that copy an operand, such as the addition of offset 0 --- */

/* An operation and its neutral element, which may be the second operand, or either operand if the operation
 * commutes. */
struct neutral {
    uint16_t op, move;
    uint8_t value;
    bool commutes;
};

static const struct neutral *find_neutral(uint16_t op)
{
#define WIDTH(n) \
    { PTXI_OP_add_i##n, PTXI_OP_mov_##n, 0, true }, { PTXI_OP_sub_i##n, PTXI_OP_mov_##n, 0, false }, \
    { PTXI_OP_or_b##n, PTXI_OP_mov_##n, 0, true }, { PTXI_OP_xor_b##n, PTXI_OP_mov_##n, 0, true }, \
    { PTXI_OP_shl_b##n, PTXI_OP_mov_##n, 0, false }, { PTXI_OP_shr_u##n, PTXI_OP_mov_##n, 0, false }, \
    { PTXI_OP_shr_s##n, PTXI_OP_mov_##n, 0, false }, { PTXI_OP_mul_lo_i##n, PTXI_OP_mov_##n, 1, true }
    static const struct neutral table[] = { WIDTH(32), WIDTH(64) };
#undef WIDTH

    for (unsigned k = 0; k < sizeof table / sizeof *table; k++)
        if (table[k].op == op)
            return &table[k];
    return NULL;
}

void ptxi_peephole_simplify(const struct ptxi_ir *ir, struct ptxi_ir_inst *i)
{
    const bool is_address = i->v[PTXI_F_D] != PTXI_NONE && ir->vregs[i->v[PTXI_F_D]].object != PTXI_NONE;
    const struct neutral *n = i->flags & PTXI_IF_PURE && !i->mods && !is_address ? find_neutral(i->op) : NULL;

    if (!n)
        return;
    if (n->commutes && is_const(ir, i->v[PTXI_F_A], n->value))
        i->v[PTXI_F_A] = i->v[PTXI_F_B];
    else if (!is_const(ir, i->v[PTXI_F_B], n->value))
        return;
    i->op = n->move;
    i->v[PTXI_F_B] = PTXI_NONE;
    i->reads = 1u << PTXI_F_A;
}

/* --- pairs --- */

enum {
    MAX_DISTANCE = 64, /* in instructions, between the two operations of a pair */
    MAX_USES = 4       /* of the first operation */
};

struct fuse {
    struct ptxi_ir *ir;
    uint32_t *reads; /* per register: number of reads in the body */
};

/* The operation that replaces `first` and `second`, a sum that adds the result of `first`; 0: there is none. */
static uint16_t fused_sum(uint16_t first, uint16_t second)
{
    switch (first) {
    case PTXI_OP_mul_wide_s32: return second == PTXI_OP_add_i64 ? PTXI_OP_mad_wide_s32 : 0;
    case PTXI_OP_mul_wide_u32: return second == PTXI_OP_add_i64 ? PTXI_OP_mad_wide_u32 : 0;
    case PTXI_OP_mul_lo_i32: return second == PTXI_OP_add_i32 ? PTXI_OP_mad_lo_i32 : 0;
    case PTXI_OP_mul_lo_i64: return second == PTXI_OP_add_i64 ? PTXI_OP_mad_lo_i64 : 0;
    case PTXI_OP_shl_b32: return second == PTXI_OP_add_i32 ? PTXI_OP_lea_32 : 0;
    case PTXI_OP_shl_b64: return second == PTXI_OP_add_i64 ? PTXI_OP_lea_64 : 0;
    default: return 0;
    }
}

/* The branch that replaces a comparison and a branch on its result; 0: there is none. *swap: with its operands
 * exchanged. */
static uint16_t fused_branch(uint16_t compare, bool *swap)
{
    *swap = false;
    switch (compare) {
#define ORDERED(type) \
    case PTXI_OP_setp_gt_##type: *swap = true; /* fall through */ \
    case PTXI_OP_setp_lt_##type: return PTXI_OP_bra_lt_##type; \
    case PTXI_OP_setp_le_##type: *swap = true; /* fall through */ \
    case PTXI_OP_setp_ge_##type: return PTXI_OP_bra_ge_##type;
    ORDERED(s32) ORDERED(u32) ORDERED(s64) ORDERED(u64)
#undef ORDERED
    case PTXI_OP_setp_eq_i32: return PTXI_OP_bra_eq_i32;
    case PTXI_OP_setp_ne_i32: return PTXI_OP_bra_ne_i32;
    case PTXI_OP_setp_eq_i64: return PTXI_OP_bra_eq_i64;
    case PTXI_OP_setp_ne_i64: return PTXI_OP_bra_ne_i64;
    default: return 0;
    }
}

static unsigned times_read(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i, uint32_t vreg)
{
    struct ptxi_ir_walk r = ptxi_ir_reads(ir, i);
    unsigned n = 0;
    uint32_t v;

    while (ptxi_ir_next(&r, &v))
        n += v == vreg;
    return n;
}

static bool writes_any(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i, uint32_t a, uint32_t b, uint32_t c)
{
    struct ptxi_ir_walk w = ptxi_ir_writes(ir, i);
    uint32_t v;

    while (ptxi_ir_next(&w, &v))
        if (v == a || v == b || v == c)
            return true;
    return false;
}

/* Finds the instructions after n in its block that read its result. Returns 0 if other instructions read it, or if the
 * operands of n change before. */
static unsigned find_uses(const struct fuse *f, uint32_t n, uint32_t end, uint32_t uses[MAX_USES])
{
    const struct ptxi_ir_inst *i = &f->ir->insts[n];
    uint32_t d = i->v[PTXI_F_D], a = i->v[PTXI_F_A], b = i->v[PTXI_F_B], found = 0;

    if (f->reads[d] > MAX_USES)
        return 0;
    for (uint32_t m = n + 1; m < end && m - n < MAX_DISTANCE; m++) {
        const struct ptxi_ir_inst *j = &f->ir->insts[m];
        unsigned times = j->flags & PTXI_IF_DEAD ? 0 : times_read(f->ir, j, d);

        if (times > 1)
            return 0;
        if (times)
            uses[found++] = m;
        if (found == f->reads[d])
            return found;
        if (!(j->flags & PTXI_IF_DEAD) && writes_any(f->ir, j, d, a, b))
            return 0;
    }
    return 0;
}

static void fuse_sum(const struct ptxi_ir_inst *first, struct ptxi_ir_inst *second)
{
    uint32_t d = first->v[PTXI_F_D], other = second->v[PTXI_F_A] == d ? second->v[PTXI_F_B] : second->v[PTXI_F_A];

    assert(fused_sum(first->op, second->op));
    second->op = fused_sum(first->op, second->op);
    second->v[PTXI_F_A] = first->v[PTXI_F_A];
    second->v[PTXI_F_B] = first->v[PTXI_F_B];
    second->v[PTXI_F_C] = other;
    second->reads = 1u << PTXI_F_A | 1u << PTXI_F_B | 1u << PTXI_F_C;
}

static void fuse_branch(const struct ptxi_ir_inst *compare, struct ptxi_ir_inst *branch)
{
    bool swap, holds = branch->op == PTXI_OP_bra_if;
    uint16_t op = fused_branch(compare->op, &swap);

    branch->op = holds ? op : ptxi_ir_opposite(op);
    branch->v[PTXI_F_A] = compare->v[swap ? PTXI_F_B : PTXI_F_A];
    branch->v[PTXI_F_B] = compare->v[swap ? PTXI_F_A : PTXI_F_B];
    branch->reads = 1u << PTXI_F_A | 1u << PTXI_F_B;
}

static bool is_plain(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    return i->flags & PTXI_IF_PURE && !(i->flags & PTXI_IF_DEAD) && i->guard == PTXI_NONE && !i->mods &&
           i->writes == 1u << PTXI_F_D &&
           i->reads == (1u << PTXI_F_A | 1u << PTXI_F_B) && ir->vregs[i->v[PTXI_F_D]].kind == PTXI_VR_PLAIN;
}

static void try_sums(struct fuse *f, uint32_t n, uint32_t end)
{
    struct ptxi_ir_inst *i = &f->ir->insts[n];
    uint32_t uses[MAX_USES];
    unsigned count = find_uses(f, n, end, uses);

    for (unsigned k = 0; k < count; k++)
        if (!fused_sum(i->op, f->ir->insts[uses[k]].op) || f->ir->insts[uses[k]].mods)
            return;
    for (unsigned k = 0; k < count; k++)
        fuse_sum(i, &f->ir->insts[uses[k]]);
    if (!count)
        return;
    f->reads[i->v[PTXI_F_A]] += count - 1;
    f->reads[i->v[PTXI_F_B]] += count - 1;
    ptxi_ir_make_nop(i);
}

static void try_branch(struct fuse *f, uint32_t n, uint32_t end)
{
    struct ptxi_ir_inst *i = &f->ir->insts[n], *last = &f->ir->insts[end - 1];
    uint32_t uses[MAX_USES];

    if ((last->op != PTXI_OP_bra_if && last->op != PTXI_OP_bra_ifn) || last->v[PTXI_F_A] != i->v[PTXI_F_D])
        return;
    if (find_uses(f, n, end, uses) != 1)
        return;
    fuse_branch(i, last);
    ptxi_ir_make_nop(i);
}

static void fuse_block(struct fuse *f, const struct ptxi_block *block)
{
    bool swap;

    for (uint32_t n = block->first; n + 1 < block->end; n++) {
        const struct ptxi_ir_inst *i = &f->ir->insts[n];

        if (!is_plain(f->ir, i))
            continue;
        if (fused_branch(i->op, &swap))
            try_branch(f, n, block->end);
        else if (fused_sum(i->op, PTXI_OP_add_i32) || fused_sum(i->op, PTXI_OP_add_i64))
            try_sums(f, n, block->end);
    }
}

/* --- loads from shared memory at addresses that the setup code computes --- */

/* The load that uses the shape of its addresses, and the size of its elements; 0: there is none. */
static uint16_t shaped_load(uint16_t op, int32_t *size)
{
    switch (op) {
    case PTXI_OP_ld_shared_32: *size = 4; return PTXI_OP_ld_shared_32_shaped;
    case PTXI_OP_ld_shared_64: *size = 8; return PTXI_OP_ld_shared_64_shaped;
    default: *size = 0; return 0;
    }
}

/* A register that holds the shape of the addresses in `a` for elements of `size` bytes. The setup code computes it. */
static uint32_t add_shape(struct ptxi_ir *ir, uint32_t a, int32_t size)
{
    uint32_t d = ptxi_ir_vreg(ir, PTXI_RC_16), *setup = ARENA_NEW(ir->arena, uint32_t, ir->setup_count + 1);
    struct ptxi_ir_inst *i = ptxi_ir_append(ir, PTXI_OP_shape);

    if (ir->oom || !setup) {
        ir->oom = true;
        return d;
    }
    ir->vregs[d].kind = PTXI_VR_SETUP;
    i->v[PTXI_F_D] = d;
    i->v[PTXI_F_A] = a;
    i->writes = 1u << PTXI_F_D;
    i->reads = 1u << PTXI_F_A;
    i->imm = size;
    i->flags = PTXI_IF_PURE | PTXI_IF_DEAD; /* in the body */
    memcpy(setup, ir->setup, ir->setup_count * sizeof *setup);
    setup[ir->setup_count++] = ir->count - 1;
    ir->setup = setup;
    return d;
}

/* A shape needs a register. It is worth one if the load is in a loop, or if several loads have the same addresses. */
static bool is_worth_shape(const struct fuse *f, const struct ptxi_block *block, uint32_t a)
{
    return block->depth || f->reads[a] > 1;
}

/* shapes: two for each address register, for elements of 4 and of 8 bytes; PTXI_NONE: not needed yet. */
static void shape_loads(struct fuse *f, const struct ptxi_block *block, uint32_t *shapes)
{
    struct ptxi_ir *ir = f->ir;
    int32_t size;

    for (uint32_t n = block->first; n < block->end && !ir->oom; n++) {
        struct ptxi_ir_inst *i = &ir->insts[n];
        uint16_t op = shaped_load(i->op, &size);
        uint32_t a = i->v[PTXI_F_A], *shape;

        if (!op || i->flags & PTXI_IF_DEAD || ir->vregs[a].kind != PTXI_VR_SETUP || !is_worth_shape(f, block, a))
            continue;
        shape = &shapes[2 * a + (uint32_t)size / 8];
        if (*shape == PTXI_NONE)
            *shape = add_shape(ir, a, size);
        i = &ir->insts[n]; /* the array may have moved */
        i->op = op;
        i->v[PTXI_F_B] = *shape;
        i->reads |= 1u << PTXI_F_B;
    }
}

static bool shape_all_loads(struct fuse *f)
{
    struct ptxi_ir *ir = f->ir;
    uint32_t *shapes = ARENA_NEW(ir->arena, uint32_t, 2 * (size_t)ir->vreg_count);

    if (!shapes)
        return !(ir->oom = true);
    memset(shapes, 0xff, 2 * sizeof *shapes * ir->vreg_count);
    for (uint32_t p = 0; p < ir->order_count; p++)
        shape_loads(f, &ir->blocks[ir->order[p]], shapes);
    return !ir->oom;
}

bool ptxi_peephole(struct ptxi_ir *ir)
{
    struct fuse f = { .ir = ir, .reads = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count) };
    uint32_t v;

    if (!f.reads)
        return !(ir->oom = true);
    for (uint32_t n = 0; n < ir->count; n++) {
        struct ptxi_ir_walk r = ptxi_ir_reads(ir, &ir->insts[n]);

        while (!(ir->insts[n].flags & PTXI_IF_DEAD) && ptxi_ir_next(&r, &v))
            f.reads[v]++;
    }
    for (uint32_t p = 0; p < ir->order_count; p++)
        fuse_block(&f, &ir->blocks[ir->order[p]]);
    return shape_all_loads(&f);
}
