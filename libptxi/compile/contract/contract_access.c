/* Contraction: where registers are read and written, and which values ptxas knows. The rules are in contract.c. */
#include "compile/contract/contract_state.h"

#include <assert.h>

/* Counts an access. In the second pass, when they have been counted, stores it. */
static void note_access(struct ptxi_contract *c, uint32_t v, uint32_t access)
{
    if (c->accesses)
        c->accesses[c->first[v + 1]++] = access;
    else
        c->first[v + 2]++;
}

static void note_accesses(struct ptxi_contract *c)
{
    const struct ptxi_ir *ir = c->ir;
    uint32_t v;

    for (uint32_t n = 0; n < ir->count; n++) {
        struct ptxi_ir_walk r = ptxi_ir_reads(ir, &ir->insts[n]), w = ptxi_ir_writes(ir, &ir->insts[n]);

        while (ptxi_ir_next(&r, &v))
            note_access(c, v, n * 2);
        while (ptxi_ir_next(&w, &v))
            note_access(c, v, n * 2 + 1);
    }
}

static bool find_accesses(struct ptxi_contract *c)
{
    const struct ptxi_ir *ir = c->ir;

    note_accesses(c);
    for (uint32_t v = 0; v < ir->vreg_count; v++)
        c->first[v + 2] += c->first[v + 1];
    c->accesses = ARENA_NEW(ir->arena, uint32_t, c->first[ir->vreg_count + 1]);
    if (!c->accesses)
        return false;
    note_accesses(c);
    return true;
}

bool ptxi_contract_written_once(const struct ptxi_contract *c, uint32_t v)
{
    uint32_t writes = 0;

    for (uint32_t k = c->first[v]; k < c->first[v + 1]; k++)
        writes += c->accesses[k] & 1;
    return writes == 1;
}

const uint32_t *ptxi_contract_access(const struct ptxi_contract *c, uint32_t v, uint32_t access)
{
    const uint32_t *a = c->accesses;
    uint32_t lo = c->first[v], hi = c->first[v + 1];

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (a[mid] < access)
            lo = mid + 1;
        else
            hi = mid;
    }
    return a + lo;
}

const uint32_t *ptxi_contract_access_after(const struct ptxi_contract *c, uint32_t v, uint32_t n)
{
    return ptxi_contract_access(c, v, n * 2 + 2);
}

static bool written_between(const struct ptxi_contract *c, uint32_t v, uint32_t from, uint32_t to)
{
    if (v >= c->vregs)
        return false; /* made by this pass, which writes it once */
    for (const uint32_t *a = ptxi_contract_access_after(c, v, from), *end = c->accesses + c->first[v + 1]; a < end &&
         *a / 2 < to; a++)
        if (*a & 1)
            return true;
    return false;
}

/* --- values that ptxas knows --- */

enum knowledge {
    UNKNOWN, /* needs a register */
    KNOWN,   /* a constant to ptxas */
    IN_BANK  /* in the constant bank: a parameter of a kernel, or at a constant address of .const */
};

static bool is_single_or_double(const struct ptxi_ir_inst *i)
{
    uint16_t mul = ptxi_contract_type(i)->mul;

    return mul == PTXI_OP_mul_f32 || mul == PTXI_OP_mul_f32_ftz || mul == PTXI_OP_mul_f64;
}

/* Whether ptxas computes the operation where its operands are constants. */
static bool folds(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    const struct ptxi_match *m = ir->func->insts[i->ptx].match;

    if (ptxi_contract_kind(i) != PTXI_IS_OTHER && !is_single_or_double(i))
        return false;
    switch (m->row->family) {
    case PTXI_M_fma: case PTXI_M_div: case PTXI_M_rem:
    case PTXI_M_rcp: case PTXI_M_sqrt: case PTXI_M_rsqrt: case PTXI_M_lg2: case PTXI_M_ex2: case PTXI_M_sin:
    case PTXI_M_cos: case PTXI_M_tanh:
        return false; /* those that ptxas folds are constants already (fold_approx.c) */
    default:
        return i->flags & PTXI_IF_PURE && i->guard == PTXI_NONE && !(i->flags & PTXI_IF_DEAD);
    }
}

static bool is_bank_load(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    const struct ptxi_match *m = ir->func->insts[i->ptx].match;

    return m->row->family == PTXI_M_ld && (ptxi_isa_has_word(m, PTXI_Q_const) ||
                                           (ptxi_isa_has_word(m, PTXI_Q_param) && ir->func->is_entry));
}

/* Operations with a result that may stay an operand in the constant bank. */
static bool keeps_bank(uint16_t op)
{
    return op == PTXI_OP_unpack_32 || op == PTXI_OP_unpack_16 || op == PTXI_OP_neg_f32 || op == PTXI_OP_neg_f64;
}

/* Whether the results of an instruction with operands of kind `from` are known. */
static enum knowledge result_knowledge(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i, enum knowledge from)
{
    if (from == KNOWN && i->guard == PTXI_NONE && is_bank_load(ir, i))
        return IN_BANK;
    if (from == IN_BANK && !keeps_bank(i->op))
        return UNKNOWN;
    return folds(ir, i) ? from : UNKNOWN;
}

static enum knowledge combine_knowledge(enum knowledge x, enum knowledge y)
{
    if (x == UNKNOWN || y == UNKNOWN)
        return UNKNOWN;
    return x > y ? x : y;
}

static bool find_known(struct ptxi_contract *c)
{
    const struct ptxi_ir *ir = c->ir;
    uint32_t v;

    c->known = ARENA_NEW(ir->arena, uint8_t, ir->vreg_count);
    if (!c->known)
        return false;
    for (v = 0; v < ir->vreg_count; v++)
        c->known[v] = ir->vregs[v].kind == PTXI_VR_CONST ? KNOWN : UNKNOWN;
    for (uint32_t n = 0; n < ir->count; n++) {
        const struct ptxi_ir_inst *i = &ir->insts[n];
        struct ptxi_ir_walk r = ptxi_ir_reads(ir, i), w = ptxi_ir_writes(ir, i);
        enum knowledge from = i->reads && i->ptx < ir->func->inst_count ? KNOWN : UNKNOWN;

        while (from && ptxi_ir_next(&r, &v))
            from = combine_knowledge(from, c->known[v]);
        from = from ? result_knowledge(ir, i, from) : UNKNOWN;
        while (from && ptxi_ir_next(&w, &v))
            if (ir->vregs[v].kind == PTXI_VR_PLAIN && ptxi_contract_written_once(c, v))
                c->known[v] = (uint8_t)from;
    }
    return true;
}

bool ptxi_contract_is_known(const struct ptxi_contract *c, uint32_t v)
{
    return v < c->vregs ? c->known[v] != UNKNOWN : c->ir->vregs[v].kind == PTXI_VR_CONST;
}

bool ptxi_contract_is_computed(const struct ptxi_contract *c, const struct ptxi_ir_inst *mul)
{
    uint32_t a = mul->v[PTXI_F_A], b = mul->v[PTXI_F_B];

    return is_single_or_double(mul) && !ptxi_contract_quotient(mul) && a < c->vregs && b < c->vregs &&
           c->known[a] == KNOWN &&
           c->known[b] == KNOWN;
}

bool ptxi_contract_find_accesses(struct ptxi_contract *c)
{
    return find_accesses(c) && find_known(c);
}

/* --- between two instructions --- */

static uint32_t block_of(const struct ptxi_ir *ir, uint32_t n)
{
    uint32_t lo = 0, hi = ir->block_count;

    assert(hi && n < ir->count);
    while (hi - lo > 1) {
        uint32_t mid = (lo + hi) / 2;

        if (ir->blocks[mid].first <= n)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* Pushes the successors of block b that were not reached in this round. Returns the new count of blocks to visit. */
static uint32_t push_successors(struct ptxi_contract *c, uint32_t b, uint32_t count)
{
    const struct ptxi_block *block = &c->ir->blocks[b];

    for (uint32_t k = 0; k < block->succ_count; k++) {
        uint32_t to = c->ir->edges[block->succ + k];

        if (c->seen[to] != c->round)
            c->stack[count++] = to;
        c->seen[to] = c->round;
    }
    return count;
}

bool ptxi_contract_read_later(struct ptxi_contract *c, uint32_t v, uint32_t n)
{
    const struct ptxi_ir *ir = c->ir;
    uint32_t count = 0, b = block_of(ir, n);
    const uint32_t *a = ptxi_contract_access_after(c, v, n), *end = c->accesses + c->first[v + 1];

    c->round++;
    for (;;) {
        bool here = a < end && *a / 2 < ir->blocks[b].end;

        if (here && !(*a & 1))
            return true;
        if (!here)
            count = push_successors(c, b, count);
        if (!count)
            return false;
        b = c->stack[--count];
        a = ptxi_contract_access(c, v, 2 * ir->blocks[b].first);
    }
}

bool ptxi_contract_is_kept(const struct ptxi_contract *c, uint32_t v, uint32_t from, uint32_t to)
{
    if (v == PTXI_NONE || ptxi_contract_is_known(c, v))
        return true;
    if (c->region[from] == c->region[to])
        return !written_between(c, v, from, to);
    return v < c->vregs && ptxi_contract_written_once(c, v) && !c->ir->blocks[block_of(c->ir, from)].depth;
}
