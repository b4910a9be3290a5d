/* The order of NaN operands: which operand of an f64 operation was computed first.
 *
 * A GPU's f64 operations return the payload of a NaN operand: of two NaNs, that of the second operand. ptxas sorts the
 * operands of add, sub, mul, min and max, and the factors of fma, by the place where they are computed (seen in its
 * code for sm_90). The earlier operand comes first. Kernel parameters and constants come last, except zeros, which come
 * first. neg and abs are part of the operand. Selections (guarded operations included) and most integers, which are
 * computed as two words, move down to their use if they have only one use: after all values computed elsewhere, and
 * after values merged from several paths, which come after all others. If the text names the later operand first, the
 * operation is marked PTXI_MOD_LATER_A. In loops, the order of the text counts: ptxas unrolls loops and sorts
 * differently in each iteration. */
#include "compile/optimize/optimize.h"

#include <assert.h>
#include <string.h>

/* When a value was computed: a number that counts up, or one of these. */
enum {
    MERGED = 0x20000000, /* on several paths */
    LATE = 0x40000000,   /* flag: moved down to its use */
    OUTSIDE = 0x7fffffff /* last: a parameter or constant */
};

struct order {
    struct ptxi_ir *ir;
    uint32_t *at;             /* per register: when its value was computed */
    /* per register, in the backward pass: number of reads of its value, and the first of them */
    uint32_t *reads, *reader;
    bool *moves;              /* per instruction: its result moves down to its use */
    uint32_t *made_at;        /* per instruction: when its result was computed */
    uint32_t count;

    uint32_t *multi, multi_count; /* registers with several definitions */
    uint32_t *multi_of;       /* per register: its number among those, from 1; 0: it has one definition */
    /* per block and register of multi: 1 + the instruction that made its value at the begin of the block; 0: unknown;
     * or MERGED */
    uint32_t *reaching;
};

static bool is_sorted(uint16_t op)
{
    switch (op) {
    case PTXI_OP_add_f64: case PTXI_OP_sub_f64: case PTXI_OP_mul_f64: case PTXI_OP_fma_f64:
    case PTXI_OP_add_f64_x: case PTXI_OP_sub_f64_x: case PTXI_OP_mul_f64_x: case PTXI_OP_fma_f64_x:
    case PTXI_OP_min_f64: case PTXI_OP_max_f64:
        return true;
    default:
        return false;
    }
}

/* Operations that are part of the operand that reads their result. */
static bool is_part_of_operand(const struct ptxi_ir_inst *i)
{
    return (i->op == PTXI_OP_neg_f64 || i->op == PTXI_OP_abs_f64 || i->op == PTXI_OP_mov_64) && i->guard == PTXI_NONE;
}

static bool may_move(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    if (i->guard != PTXI_NONE && !(i->flags & PTXI_IF_FRESH))
        return true;
    switch (i->op) {
    case PTXI_OP_slct_64_s32: case PTXI_OP_slct_64_f32: case PTXI_OP_slct_64_f32_ftz:
        return ir->vregs[i->v[PTXI_F_C]].kind != PTXI_VR_CONST;
    case PTXI_OP_selp_64: case PTXI_OP_rsqrt_approx_f64_ftz:
    case PTXI_OP_add_i64: case PTXI_OP_sub_i64: case PTXI_OP_mul_lo_i64: case PTXI_OP_mad_lo_i64:
    case PTXI_OP_and_b64: case PTXI_OP_or_b64: case PTXI_OP_xor_b64: case PTXI_OP_not_b64:
    case PTXI_OP_shl_b64: case PTXI_OP_shr_u64: case PTXI_OP_shr_s64:
        return true;
    default:
        return false;
    }
}

/* Operations that ptxas performs on the words of their 64-bit operands. f64 operations, conversions to floats,
 * addresses and stores of 64 bits read the value as a whole. */
static bool reads_words(const struct ptxi_ir_inst *i)
{
    switch (i->op) {
    case PTXI_OP_mov_64:
        return i->guard != PTXI_NONE;
    case PTXI_OP_unpack_8: case PTXI_OP_unpack_16: case PTXI_OP_unpack_32: case PTXI_OP_trunc_64_16:
    case PTXI_OP_trunc_64_32:
    case PTXI_OP_selp_64: case PTXI_OP_slct_64_s32: case PTXI_OP_slct_64_f32: case PTXI_OP_slct_64_f32_ftz:
    case PTXI_OP_add_i64: case PTXI_OP_sub_i64: case PTXI_OP_neg_i64: case PTXI_OP_abs_s64: case PTXI_OP_min_u64:
    case PTXI_OP_min_s64:
    case PTXI_OP_max_u64: case PTXI_OP_max_s64: case PTXI_OP_mul_lo_i64: case PTXI_OP_mul_hi_u64:
    case PTXI_OP_mul_hi_s64:
    case PTXI_OP_mad_lo_i64: case PTXI_OP_mad_hi_u64: case PTXI_OP_mad_hi_s64:
    case PTXI_OP_and_b64: case PTXI_OP_or_b64: case PTXI_OP_xor_b64: case PTXI_OP_not_b64: case PTXI_OP_cnot_b64:
    case PTXI_OP_shl_b64: case PTXI_OP_shr_u64: case PTXI_OP_shr_s64: case PTXI_OP_bfe_u64: case PTXI_OP_bfe_s64:
    case PTXI_OP_bfi_b64:
    case PTXI_OP_brev_b64: case PTXI_OP_popc_b64: case PTXI_OP_clz_b64: case PTXI_OP_bfind_u64: case PTXI_OP_bfind_s64:
    case PTXI_OP_setp_eq_i64: case PTXI_OP_setp_ne_i64: case PTXI_OP_setp_lt_u64: case PTXI_OP_setp_lt_s64:
    case PTXI_OP_setp_le_u64:
    case PTXI_OP_setp_le_s64: case PTXI_OP_setp_gt_u64: case PTXI_OP_setp_gt_s64: case PTXI_OP_setp_ge_u64:
    case PTXI_OP_setp_ge_s64:
        return true;
    default:
        return false;
    }
}

static void find_moves(struct order *o)
{
    for (const struct ptxi_block *b = o->ir->blocks + o->ir->block_count; b-- > o->ir->blocks;)
        for (uint32_t n = b->end; n-- > b->first;) {
            const struct ptxi_ir_inst *i = &o->ir->insts[n];
            struct ptxi_ir_walk w = ptxi_ir_writes(o->ir, i), r = ptxi_ir_reads(o->ir, i);
            uint32_t v;

            if (i->flags & PTXI_IF_DEAD)
                continue;
            while (ptxi_ir_next(&w, &v)) {
                o->moves[n] = may_move(o->ir, i) && o->reads[v] == 1 && o->reader[v] < b->end;
                o->reads[v] = 0;
            }
            while (!reads_words(i) && ptxi_ir_next(&r, &v)) {
                o->reads[v]++;
                o->reader[v] = n;
            }
        }
}

/* Limit on pairs of a block and a register. Beyond it the order of merged values is not followed; it only decides about
 * NaNs. */
enum { MAX_REACHING = 1 << 22 };

static bool find_multiple_definitions(struct order *o)
{
    struct ptxi_ir *ir = o->ir;
    uint32_t *writes = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count), v;

    o->multi = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count);
    o->multi_of = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count);
    if (!writes || !o->multi || !o->multi_of)
        return false;
    for (uint32_t n = 0; n < ir->count; n++)
        for (struct ptxi_ir_walk w = ptxi_ir_writes(ir, &ir->insts[n]); !(ir->insts[n].flags & PTXI_IF_DEAD) &&
             ptxi_ir_next(&w, &v);)
            if (ir->vregs[v].class == PTXI_RC_64 && ++writes[v] == 2) {
                o->multi[o->multi_count++] = v;
                o->multi_of[v] = o->multi_count;
            }
    if ((uint64_t)o->multi_count * ir->block_count > MAX_REACHING)
        o->multi_count = 0;
    o->reaching = ARENA_NEW(ir->arena, uint32_t, (size_t)o->multi_count * ir->block_count + 1);
    return o->reaching;
}

/* out: the definitions that hold at the end of the block, as in `reaching`. */
static void reaching_end(const struct order *o, uint32_t b, uint32_t *out)
{
    const struct ptxi_block *block = &o->ir->blocks[b];
    uint32_t v;

    memcpy(out, o->reaching + (size_t)b * o->multi_count, o->multi_count * sizeof *out);
    for (uint32_t n = block->first; n < block->end; n++)
        for (struct ptxi_ir_walk w = ptxi_ir_writes(o->ir, &o->ir->insts[n]); !(o->ir->insts[n].flags & PTXI_IF_DEAD) &&
             ptxi_ir_next(&w, &v);)
            if (o->multi_of[v])
                out[o->multi_of[v] - 1] = n + 1;
}

static uint32_t join_definitions(uint32_t x, uint32_t y)
{
    if (!x || !y || x == y)
        return x | y;
    return MERGED;
}

static bool find_reaching(struct order *o)
{
    struct ptxi_ir *ir = o->ir;
    uint32_t *out;

    if (!find_multiple_definitions(o) || !(out = ARENA_NEW(ir->arena, uint32_t, o->multi_count + 1)))
        return false;
    for (bool changed = o->multi_count > 0; changed;) {
        changed = false;
        for (uint32_t k = 0; k < ir->order_count; k++) {
            const struct ptxi_block *b = &ir->blocks[ir->order[k]];

            reaching_end(o, ir->order[k], out);
            for (uint32_t e = 0; e < b->succ_count; e++)
                for (uint32_t s = 0; s < o->multi_count; s++) {
                    uint32_t *in = &o->reaching[(size_t)ir->edges[b->succ + e] * o->multi_count + s];
                    uint32_t join = join_definitions(*in, out[s]);

                    changed |= join != *in;
                    *in = join;
                }
        }
    }
    return true;
}

/* Sets when the values of registers with several definitions were computed, at the begin of a block outside of
 * loops. */
static void enter_block(struct order *o, const struct ptxi_block *b)
{
    const uint32_t *in = o->reaching + (size_t)(b - o->ir->blocks) * o->multi_count;

    for (uint32_t s = 0; s < o->multi_count && !b->depth; s++)
        if (in[s] == MERGED)
            o->at[o->multi[s]] = MERGED;
        else if (in[s])
            o->at[o->multi[s]] = o->made_at[in[s] - 1];
}

/* When the value of v was computed. */
static uint32_t time_made(const struct order *o, uint32_t v)
{
    const struct ptxi_vreg *r = &o->ir->vregs[v];

    if (r->kind == PTXI_VR_CONST && !(r->value << 1))
        return 0; /* zero is a register */
    return r->kind == PTXI_VR_PLAIN ? o->at[v] : OUTSIDE;
}

static void mark_inst(struct order *o, uint32_t n)
{
    struct ptxi_ir_inst *i = &o->ir->insts[n];
    struct ptxi_ir_walk w = ptxi_ir_writes(o->ir, i);
    uint32_t v;

    if (i->flags & PTXI_IF_DEAD)
        return;
    if (is_sorted(i->op) && time_made(o, i->v[PTXI_F_A]) > time_made(o, i->v[PTXI_F_B]))
        i->mods |= PTXI_MOD_LATER_A;
    while (ptxi_ir_next(&w, &v)) {
        if (is_part_of_operand(i))
            o->made_at[n] = time_made(o, i->v[PTXI_F_A]);
        else
            o->made_at[n] = ++o->count | (o->moves[n] ? LATE : 0u);
        o->at[v] = o->made_at[n];
    }
    assert(o->count < MERGED);
}

bool ptxi_order_nan_operands(struct ptxi_ir *ir)
{
    struct order o = { .ir = ir };
    bool any = false;

    for (uint32_t n = 0; n < ir->count && !any; n++)
        any = is_sorted(ir->insts[n].op);
    if (!any)
        return true;
    o.at = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count);
    o.reads = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count);
    o.reader = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count);
    o.moves = ARENA_NEW(ir->arena, bool, ir->count);
    o.made_at = ARENA_NEW(ir->arena, uint32_t, ir->count);
    if (!o.at || !o.reads || !o.reader || !o.moves || !o.made_at || !find_reaching(&o))
        return !(ir->oom = true);
    find_moves(&o);
    for (const struct ptxi_block *b = ir->blocks; b < ir->blocks + ir->block_count; b++) {
        enter_block(&o, b);
        for (uint32_t n = b->first; n < b->end; n++)
            mark_inst(&o, n);
    }
    return true;
}
