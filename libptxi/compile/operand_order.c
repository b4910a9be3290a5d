/* Which operand of an f64 operation was made first.
 *
 * A GPU's f64 operations hand on the payload of a NaN: that of the second operand before that of the first. ptxas sorts the operands
 * of add, sub, mul, min and max, and the factors of fma, by where they are made (seen in its code for sm_90): the earlier first, kernel
 * parameters and constants last, but for zeros, which come first. neg and abs are part of the operand. A selection, which is what a guarded
 * operation is, too, and most integers, made as two words, move down to their use if there is but one. So where the text names the later
 * one first, the operation is marked PTXI_MOD_LATER_A. Of values that come around a loop or from two sides, what is written above counts: ptxas unrolls
 * loops, and then sorts differently from turn to turn. */
#include "compile/ir.h"

enum { LATE = 0x40000000 /* flag: moved down to its use */, OUTSIDE = 0x7fffffff /* made last: a parameter or constant */ };

struct order {
    const struct ptxi_ir *ir;
    uint32_t *at;             /* per vreg: when it was made */
    uint32_t *reads, *reader; /* per vreg, going backwards: how often its value is read, and where first */
    bool *moves;              /* per instruction: its result moves down to its use */
    uint32_t count;
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
            while (ptxi_ir_next(&r, &v)) {
                o->reads[v]++;
                o->reader[v] = n;
            }
        }
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
        o->at[v] = passes_on(i) ? made(o, i->v[PTXI_F_A]) : ++o->count | (o->moves[n] ? LATE : 0u);
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
    if (!o.at || !o.reads || !o.reader || !o.moves)
        return !(ir->oom = true);
    find_moves(&o);
    for (uint32_t n = 0; n < ir->count; n++)
        see(&o, n);
    return true;
}
