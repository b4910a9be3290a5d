/* Which operand of an f64 operation was made first.
 *
 * A GPU's f64 operations hand on the payload of a NaN: that of the second operand before that of the first. ptxas sorts the operands
 * of add, sub, mul, min and max, and the factors of fma, by where they are made (seen in its code for sm_90): the earlier first, kernel
 * parameters and constants last, but for zeros, which come first. neg and abs are part of the operand. A selection, which is what a guarded
 * operation is, too, and most integers, made as two words, move down to their use as a whole if there is but one: behind all that is made
 * elsewhere, and behind what comes from several sides, which is behind all others. So where the text names the later one first, the
 * operation is marked PTXI_MOD_LATER_A. In loops what is written above counts for that: ptxas unrolls them, and then sorts differently from
 * turn to turn. */
#include "compile/ir/ir.h"

#include <string.h>

enum { MERGED = 0x20000000 /* from several sides */, LATE = 0x40000000 /* flag: moved down to its use */, OUTSIDE = 0x7fffffff /* made last: a parameter or constant */ };

struct order {
    struct ptxi_ir *ir;
    uint32_t *at;             /* per vreg: when it was made */
    uint32_t *reads, *reader; /* per vreg, going backwards: how often its value is read, and where first */
    bool *moves;              /* per instruction: its result moves down to its use */
    uint32_t *made_at;        /* per instruction: when its result was made */
    uint32_t count;

    uint32_t *split, splits;  /* vregs that are written in several places */
    uint32_t *split_of;       /* per vreg: its number among them, from 1; 0: none */
    uint32_t *reaching;       /* per block and such a vreg: which instruction's result it holds there, from 1; 0: unknown; or MERGED */
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

/* What becomes part of the operand, or is the operand. */
static bool passes_on(const struct ptxi_ir_inst *i)
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

/* ptxas makes these of operations on the words of their 64-bit operands, which do not ask for the value as a whole, as f64 operations,
 * conversions to floats, addresses and stores of 64 bits do. */
static bool reads_words(const struct ptxi_ir_inst *i)
{
    switch (i->op) {
    case PTXI_OP_mov_64:
        return i->guard != PTXI_NONE;
    case PTXI_OP_unpack_8: case PTXI_OP_unpack_16: case PTXI_OP_unpack_32: case PTXI_OP_trunc_64_16: case PTXI_OP_trunc_64_32:
    case PTXI_OP_selp_64: case PTXI_OP_slct_64_s32: case PTXI_OP_slct_64_f32: case PTXI_OP_slct_64_f32_ftz:
    case PTXI_OP_add_i64: case PTXI_OP_sub_i64: case PTXI_OP_neg_i64: case PTXI_OP_abs_s64: case PTXI_OP_min_u64: case PTXI_OP_min_s64:
    case PTXI_OP_max_u64: case PTXI_OP_max_s64: case PTXI_OP_mul_lo_i64: case PTXI_OP_mul_hi_u64: case PTXI_OP_mul_hi_s64:
    case PTXI_OP_mad_lo_i64: case PTXI_OP_mad_hi_u64: case PTXI_OP_mad_hi_s64:
    case PTXI_OP_and_b64: case PTXI_OP_or_b64: case PTXI_OP_xor_b64: case PTXI_OP_not_b64: case PTXI_OP_cnot_b64:
    case PTXI_OP_shl_b64: case PTXI_OP_shr_u64: case PTXI_OP_shr_s64: case PTXI_OP_bfe_u64: case PTXI_OP_bfe_s64: case PTXI_OP_bfi_b64:
    case PTXI_OP_brev_b64: case PTXI_OP_popc_b64: case PTXI_OP_clz_b64: case PTXI_OP_bfind_u64: case PTXI_OP_bfind_s64:
    case PTXI_OP_setp_eq_i64: case PTXI_OP_setp_ne_i64: case PTXI_OP_setp_lt_u64: case PTXI_OP_setp_lt_s64: case PTXI_OP_setp_le_u64:
    case PTXI_OP_setp_le_s64: case PTXI_OP_setp_gt_u64: case PTXI_OP_setp_gt_s64: case PTXI_OP_setp_ge_u64: case PTXI_OP_setp_ge_s64:
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

/* A block and a value each, no more than that: it is but about NaNs. */
enum { MOST_REACHING = 1 << 22 };

static bool find_splits(struct order *o)
{
    struct ptxi_ir *ir = o->ir;
    uint32_t *writes = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count), v;

    o->split = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count);
    o->split_of = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count);
    if (!writes || !o->split || !o->split_of)
        return false;
    for (uint32_t n = 0; n < ir->count; n++)
        for (struct ptxi_ir_walk w = ptxi_ir_writes(ir, &ir->insts[n]); !(ir->insts[n].flags & PTXI_IF_DEAD) && ptxi_ir_next(&w, &v);)
            if (ir->vregs[v].class == PTXI_RC_64 && ++writes[v] == 2) {
                o->split[o->splits++] = v;
                o->split_of[v] = o->splits;
            }
    if ((uint64_t)o->splits * ir->block_count > MOST_REACHING)
        o->splits = 0;
    o->reaching = ARENA_NEW(ir->arena, uint32_t, (size_t)o->splits * ir->block_count + 1);
    return o->reaching;
}

/* What the block leaves in each such vreg, into `out`. */
static void leave(const struct order *o, uint32_t b, uint32_t *out)
{
    const struct ptxi_block *block = &o->ir->blocks[b];
    uint32_t v;

    memcpy(out, o->reaching + (size_t)b * o->splits, o->splits * sizeof *out);
    for (uint32_t n = block->first; n < block->end; n++)
        for (struct ptxi_ir_walk w = ptxi_ir_writes(o->ir, &o->ir->insts[n]); !(o->ir->insts[n].flags & PTXI_IF_DEAD) && ptxi_ir_next(&w, &v);)
            if (o->split_of[v])
                out[o->split_of[v] - 1] = n + 1;
}

static bool find_reaching(struct order *o)
{
    struct ptxi_ir *ir = o->ir;
    uint32_t *out;

    if (!find_splits(o) || !(out = ARENA_NEW(ir->arena, uint32_t, o->splits + 1)))
        return false;
    for (bool changed = o->splits > 0; changed;) {
        changed = false;
        for (uint32_t k = 0; k < ir->order_count; k++) {
            const struct ptxi_block *b = &ir->blocks[ir->order[k]];

            leave(o, ir->order[k], out);
            for (uint32_t e = 0; e < b->succ_count; e++)
                for (uint32_t s = 0; s < o->splits; s++) {
                    uint32_t *in = &o->reaching[(size_t)ir->edges[b->succ + e] * o->splits + s];
                    uint32_t join = !*in || *in == out[s] || !out[s] ? *in | out[s] : MERGED;

                    changed |= join != *in;
                    *in = join;
                }
        }
    }
    return true;
}

/* Where a block begins. */
static void enter(struct order *o, const struct ptxi_block *b)
{
    const uint32_t *in = o->reaching + (size_t)(b - o->ir->blocks) * o->splits;

    for (uint32_t s = 0; s < o->splits && !b->depth; s++)
        if (in[s] == MERGED)
            o->at[o->split[s]] = MERGED;
        else if (in[s])
            o->at[o->split[s]] = o->made_at[in[s] - 1];
}

static uint32_t made(const struct order *o, uint32_t v)
{
    const struct ptxi_vreg *r = &o->ir->vregs[v];

    if (r->kind == PTXI_VR_CONST && !(r->value << 1))
        return 0; /* there is a register of zero */
    return r->kind == PTXI_VR_PLAIN ? o->at[v] : OUTSIDE;
}

static void see(struct order *o, uint32_t n)
{
    struct ptxi_ir_inst *i = &o->ir->insts[n];
    struct ptxi_ir_walk w = ptxi_ir_writes(o->ir, i);
    uint32_t v;

    if (i->flags & PTXI_IF_DEAD)
        return;
    if (is_sorted(i->op) && made(o, i->v[PTXI_F_A]) > made(o, i->v[PTXI_F_B]))
        i->mods |= PTXI_MOD_LATER_A;
    while (ptxi_ir_next(&w, &v))
        o->at[v] = o->made_at[n] = passes_on(i) ? made(o, i->v[PTXI_F_A]) : ++o->count | (o->moves[n] ? LATE : 0u);
}

bool ptxi_operand_order(struct ptxi_ir *ir)
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
        enter(&o, b);
        for (uint32_t n = b->first; n < b->end; n++)
            see(&o, n);
    }
    return true;
}
