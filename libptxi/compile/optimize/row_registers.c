/* Row registers: registers with lanes that may be a row (exec/engine/row_register.h). Only the operations below write
 * and read them:
 *
 *   index registers, 32 bits
 *     written by   copies, sums, differences, products and shifts of index registers; special registers that are the
 *                  same in all lanes
 *     read by      the same; comparisons; the operations that write address registers
 *   address registers, 64 bits: the addresses of loads and stores in global memory
 *     written by   a * b + c, (a << b) + c of an index (in an index register or not) or, for the second, of an address
 *                  register, where b and c are the same in all lanes; r + c of an address register r; c
 *     read by      loads and stores, as their address; the same
 *
 * A register that anything else writes or reads keeps its class. Constants and launch-invariant values that operations
 * on index registers read are copied to index registers by the setup code. The result does not depend on what is known
 * here: a row register can hold any values. */
#include "compile/optimize/optimize.h"

#include <assert.h>

#include "isa/isa.h"

/* Operations with and without an address register are in the same order, because internal.def has one list of them. */
#define SPAN(first, last) ((int)PTXI_OP_##last - (int)PTXI_OP_##first)
_Static_assert(SPAN(ld_global_u8_16, ld_global_v2_64) == SPAN(ld_global_u8_16_at, ld_global_v2_64_at), "loads");
_Static_assert(SPAN(st_global_8, st_global_v2_64) == SPAN(st_global_8_at, st_global_v2_64_at), "stores");
#undef SPAN

/* Returns the load or store that has an address register in place of `op`. 0: there is none. */
static uint16_t access_at(uint16_t op)
{
    if (op >= PTXI_OP_ld_global_u8_16 && op <= PTXI_OP_ld_global_v2_64)
        return (uint16_t)(op - PTXI_OP_ld_global_u8_16 + PTXI_OP_ld_global_u8_16_at);
    if (op >= PTXI_OP_st_global_8 && op <= PTXI_OP_st_global_v2_64)
        return (uint16_t)(op - PTXI_OP_st_global_8 + PTXI_OP_st_global_8_at);
    return 0;
}

/* Whether the instruction tracks a load or store in global memory (codegen/track_init.c, track_pointers.c). */
static bool is_tracking(const struct ptxi_ir_inst *i)
{
    return (i->op == PTXI_OP_init_load || i->op == PTXI_OP_init_store || i->op == PTXI_OP_check_object) &&
           !(i->mods & (PTXI_CHECK_SHARED | PTXI_CHECK_GENERIC)) &&
           (i->op == PTXI_OP_check_object || !(i->mods & PTXI_INIT_LOCAL));
}

/* A strong load of a word may exceed the end of its memory, which depends on its operation (exec/memory/access.c). */
static bool is_access(const struct ptxi_ir_inst *i)
{
    return access_at(i->op) && (ptxi_op_flags[i->op] & PTXI_OP_FLAG_V4 || !i->mods);
}

/* Fields of an instruction, one bit each. */
enum { A = 1 << PTXI_F_A, B = 1 << PTXI_F_B, C = 1 << PTXI_F_C };

struct rows {
    struct ptxi_ir *ir;
    uint8_t *uniform; /* per register: it has the same value in all lanes, wherever it is read */
    uint8_t *chosen;  /* per register: it may become a row register */
    uint8_t *useful;  /* per register: its value becomes the address of an access, or is compared */
    uint32_t *copies; /* per register: the index register to which the setup code copies it, or PTXI_NONE */
    uint32_t one;     /* a register with the constant 1 */
    bool changed;
};

/* --- registers with one value for all lanes --- */

static bool varies_by_lane(const struct ptxi_ir_inst *i)
{
    return i->op == PTXI_OP_sreg_32 && ptxi_sreg_scope(i->imm & 0xff) == PTXI_SCOPE_LANE;
}

static void note_uniform(struct rows *s, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk r = ptxi_ir_reads(s->ir, i), w = ptxi_ir_writes(s->ir, i);
    uint32_t v;

    if (!(i->flags & PTXI_IF_PURE) || i->guard != PTXI_NONE || varies_by_lane(i))
        return;
    while (ptxi_ir_next(&r, &v))
        if (!s->uniform[v])
            return;
    while (ptxi_ir_next(&w, &v))
        s->uniform[v] = 1;
}

/* Those of the setup code, and those that are written once, by all lanes, before the first branch. */
static void find_uniform(struct rows *s, const uint32_t *defs)
{
    const struct ptxi_ir *ir = s->ir;
    const struct ptxi_block *first = &ir->blocks[ir->order[0]];

    for (uint32_t v = 0; v < ir->vreg_count; v++)
        s->uniform[v] = ir->vregs[v].kind == PTXI_VR_CONST;
    for (uint32_t k = 0; k < ir->setup_count; k++)
        note_uniform(s, &ir->insts[ir->setup[k]]);
    for (uint32_t n = first->first; n < first->end && ir->func->is_entry && !first->pred_count; n++) {
        const struct ptxi_ir_inst *i = &ir->insts[n];

        if (!(i->flags & PTXI_IF_DEAD) && i->writes == 1u << PTXI_F_D && i->list == PTXI_NONE &&
            defs[i->v[PTXI_F_D]] == 1)
            note_uniform(s, i);
    }
}

/* --- operations --- */

static bool is_uniform(const struct rows *s, uint32_t v)
{
    return v != PTXI_NONE && s->uniform[v];
}

static bool is_chosen(const struct rows *s, uint32_t v)
{
    return v != PTXI_NONE && s->chosen[v];
}

static bool is_index(const struct rows *s, uint32_t v)
{
    return is_chosen(s, v) && s->ir->vregs[v].class == PTXI_RC_32;
}

static bool is_address(const struct rows *s, uint32_t v)
{
    return is_chosen(s, v) && s->ir->vregs[v].class == PTXI_RC_64;
}

/* Whether the register has 32 bits, and the setup code can copy it to an index register. */
static bool is_copied(const struct rows *s, uint32_t v)
{
    const struct ptxi_vreg *r = &s->ir->vregs[v];

    return s->ir->func->is_entry && r->class == PTXI_RC_32 && (r->kind == PTXI_VR_CONST || r->kind == PTXI_VR_SETUP);
}

/* Whether these operands are index registers, or can be copied to some. */
static bool are_indices(const struct rows *s, const struct ptxi_ir_inst *i, unsigned fields)
{
    for (unsigned f = PTXI_F_A; f <= PTXI_F_C; f++)
        if (fields & 1u << f && !is_index(s, i->v[f]) && !is_copied(s, i->v[f]))
            return false;
    return i->reads == fields;
}

/* An operation of index registers. */
struct index_op {
    uint16_t op;
    uint8_t fields; /* its operands */
    bool swap;      /* they change places */
    bool opposite;
};

/* The operation of index registers that replaces one that computes an integer; .op 0: there is none. */
static struct index_op index_op(const struct ptxi_ir_inst *i)
{
    switch (i->op) {
    case PTXI_OP_mov_32: return (struct index_op){ .op = PTXI_OP_index_mov, .fields = A };
    case PTXI_OP_add_i32: return (struct index_op){ .op = PTXI_OP_index_add, .fields = A | B };
    case PTXI_OP_sub_i32: return (struct index_op){ .op = PTXI_OP_index_sub, .fields = A | B };
    case PTXI_OP_mul_lo_i32: return (struct index_op){ .op = PTXI_OP_index_mul, .fields = A | B };
    case PTXI_OP_mad_lo_i32: return (struct index_op){ .op = PTXI_OP_index_mad, .fields = A | B | C };
    case PTXI_OP_shl_b32: return (struct index_op){ .op = PTXI_OP_index_shl, .fields = A | B };
    case PTXI_OP_lea_32: return (struct index_op){ .op = PTXI_OP_index_lea, .fields = A | B | C };
    case PTXI_OP_sreg_32: return (struct index_op){ .op = varies_by_lane(i) ? 0 : PTXI_OP_index_sreg };
    default: return (struct index_op){ .op = 0 };
    }
}

/* The same for a comparison, or for a branch on one. */
static struct index_op index_comparison(uint16_t op)
{
    struct index_op x = { .op = 0, .fields = A | B };

    switch (op) {
    case PTXI_OP_setp_ne_i32: x.opposite = true; /* fall through */
    case PTXI_OP_setp_eq_i32: x.op = PTXI_OP_index_setp_eq; break;
#define ORDERED(type) \
    case PTXI_OP_setp_lt_##type: x.op = PTXI_OP_index_setp_lt_##type; break; \
    case PTXI_OP_setp_ge_##type: x.op = PTXI_OP_index_setp_lt_##type; x.opposite = true; break; \
    case PTXI_OP_setp_gt_##type: x.op = PTXI_OP_index_setp_lt_##type; x.swap = true; break; \
    case PTXI_OP_setp_le_##type: x.op = PTXI_OP_index_setp_lt_##type; x.swap = x.opposite = true; break;
    ORDERED(s32) ORDERED(u32)
#undef ORDERED
    case PTXI_OP_bra_eq_i32: x.op = PTXI_OP_bra_index_eq; break;
    case PTXI_OP_bra_ne_i32: x.op = PTXI_OP_bra_index_ne; break;
    case PTXI_OP_bra_lt_s32: x.op = PTXI_OP_bra_index_lt_s32; break;
    case PTXI_OP_bra_ge_s32: x.op = PTXI_OP_bra_index_ge_s32; break;
    case PTXI_OP_bra_lt_u32: x.op = PTXI_OP_bra_index_lt_u32; break;
    case PTXI_OP_bra_ge_u32: x.op = PTXI_OP_bra_index_ge_u32; break;
    }
    return x;
}

static bool is_wide(uint16_t op)
{
    return op == PTXI_OP_mul_wide_s32 || op == PTXI_OP_mul_wide_u32 || op == PTXI_OP_mad_wide_s32 ||
           op == PTXI_OP_mad_wide_u32;
}

/* Puts the operand that is the same in all lanes, or that is an address register, where the address operations have
 * it. */
static void order_operands(const struct rows *s, struct ptxi_ir_inst *i)
{
    uint32_t a = i->v[PTXI_F_A], b = i->v[PTXI_F_B];
    bool swap = is_wide(i->op) ? !is_uniform(s, b) || is_chosen(s, b)
                               : i->op == PTXI_OP_add_i64 && !is_chosen(s, a) && is_chosen(s, b);

    if (swap) {
        i->v[PTXI_F_A] = b;
        i->v[PTXI_F_B] = a;
    }
}

/* Whether the register has the same value in all lanes, and is read as lanes. */
static bool is_plain_uniform(const struct rows *s, uint32_t v)
{
    return is_uniform(s, v) && !is_chosen(s, v);
}

/* Whether the instruction computes an address. */
static bool makes_address(const struct rows *s, const struct ptxi_ir_inst *i)
{
    uint32_t a = i->v[PTXI_F_A], b = i->v[PTXI_F_B], c = i->v[PTXI_F_C];

    switch (i->op) {
    case PTXI_OP_mul_wide_s32:
    case PTXI_OP_mul_wide_u32: return is_plain_uniform(s, a) || is_plain_uniform(s, b);
    case PTXI_OP_mad_wide_s32:
    case PTXI_OP_mad_wide_u32:
        return (is_plain_uniform(s, a) || is_plain_uniform(s, b)) && is_plain_uniform(s, c);
    case PTXI_OP_ext_s32_64:
    case PTXI_OP_ext_u32_64: return is_index(s, a);
    case PTXI_OP_lea_64: return is_plain_uniform(s, b) && is_plain_uniform(s, c);
    case PTXI_OP_shl_b64: return is_address(s, a) && is_plain_uniform(s, b);
    case PTXI_OP_add_i64:
        return (is_address(s, a) && is_plain_uniform(s, b)) || (is_address(s, b) && is_plain_uniform(s, a));
    case PTXI_OP_mov_64: return is_address(s, a) || is_uniform(s, a);
    default: return false;
    }
}

/* Whether the instruction can write a row register. */
static bool makes_row(const struct rows *s, const struct ptxi_ir_inst *i)
{
    if (i->mods || i->writes != 1u << PTXI_F_D || i->list != PTXI_NONE)
        return false;
    if (s->ir->vregs[i->v[PTXI_F_D]].class == PTXI_RC_64)
        return makes_address(s, i);
    return index_op(i).op && are_indices(s, i, index_op(i).fields);
}

/* Whether the instruction compares index registers. */
static bool compares_indices(const struct rows *s, const struct ptxi_ir_inst *i)
{
    const struct index_op x = index_comparison(i->op);

    return x.op && !i->mods && i->writes == (ptxi_ir_is_branch(i) ? 0 : 1u << PTXI_F_D) &&
           are_indices(s, i, x.fields) && (is_index(s, i->v[PTXI_F_A]) || is_index(s, i->v[PTXI_F_B]));
}

/* The fields in which the instruction can read row registers. */
static unsigned row_operands(const struct rows *s, const struct ptxi_ir_inst *i)
{
    uint32_t a = i->v[PTXI_F_A], b = i->v[PTXI_F_B];

    if (is_access(i) || is_tracking(i))
        return is_address(s, a) ? A : 0;
    if (compares_indices(s, i))
        return A | B;
    if (!(i->writes & 1u << PTXI_F_D) || !is_chosen(s, i->v[PTXI_F_D]) || !makes_row(s, i))
        return 0;
    if (is_index(s, i->v[PTXI_F_D]))
        return A | B | C;
    return is_chosen(s, a) ? A : is_chosen(s, b) ? B : 0;
}

/* --- the choice --- */

static void drop(struct rows *s, uint32_t v)
{
    s->changed |= s->chosen[v];
    s->chosen[v] = 0;
}

/* Whether the instruction reads the register only in these fields. */
static bool reads_only_in(const struct rows *s, const struct ptxi_ir_inst *i, uint32_t vreg, unsigned fields)
{
    struct ptxi_ir_walk r = ptxi_ir_reads(s->ir, i);
    unsigned all = 0, there = 0;
    uint32_t v;

    while (ptxi_ir_next(&r, &v))
        all += v == vreg;
    for (unsigned f = PTXI_F_A; f <= PTXI_F_C; f++)
        there += fields & i->reads & 1u << f && i->v[f] == vreg;
    return all == there;
}

/* Drops the registers of an instruction that may not use them. */
static void check(struct rows *s, struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk r = ptxi_ir_reads(s->ir, i), w = ptxi_ir_writes(s->ir, i);
    const unsigned fields = row_operands(s, i);
    uint32_t v;

    while (ptxi_ir_next(&w, &v))
        if (s->chosen[v] && !makes_row(s, i))
            drop(s, v);
    while (ptxi_ir_next(&r, &v))
        if (s->chosen[v] && !reads_only_in(s, i, v, fields))
            drop(s, v);
}

static void mark_useful(struct rows *s, struct ptxi_ir_inst *i)
{
    const unsigned fields = row_operands(s, i);
    uint32_t d = i->v[PTXI_F_D];

    if (!is_access(i) && !compares_indices(s, i) && !(fields && d != PTXI_NONE && s->useful[d]))
        return;
    for (unsigned f = PTXI_F_A; f <= PTXI_F_C; f++)
        if (fields & 1u << f && is_chosen(s, i->v[f]) && !s->useful[i->v[f]]) {
            s->useful[i->v[f]] = 1;
            s->changed = true;
        }
}

static void drop_useless(struct rows *s, struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk w = ptxi_ir_writes(s->ir, i);
    uint32_t v;

    while (ptxi_ir_next(&w, &v))
        if (s->chosen[v] && !s->useful[v])
            drop(s, v);
}

static void visit(struct rows *s, void (*each)(struct rows *s, struct ptxi_ir_inst *i))
{
    for (uint32_t n = 0; n < s->ir->count; n++)
        if (!(s->ir->insts[n].flags & PTXI_IF_DEAD))
            each(s, &s->ir->insts[n]);
}

static void visit_backwards(struct rows *s, void (*each)(struct rows *s, struct ptxi_ir_inst *i))
{
    for (uint32_t n = s->ir->count; n--;)
        if (!(s->ir->insts[n].flags & PTXI_IF_DEAD))
            each(s, &s->ir->insts[n]);
}

/* An instruction changes what others may do, those before it (which compute its operands) and those behind it. In both
 * directions, few rounds are needed. */
static void repeat(struct rows *s, void (*each)(struct rows *s, struct ptxi_ir_inst *i))
{
    do {
        s->changed = false;
        visit_backwards(s, each);
        visit(s, each);
    } while (s->changed);
}

/* --- index registers that the setup code makes --- */

static void note_copies(struct rows *s, struct ptxi_ir_inst *i)
{
    const unsigned fields = row_operands(s, i);

    if (!compares_indices(s, i) && !(fields && is_index(s, i->v[PTXI_F_D])))
        return;
    for (unsigned f = PTXI_F_A; f <= PTXI_F_C; f++)
        if (i->reads & fields & 1u << f && !is_chosen(s, i->v[f]))
            s->copies[i->v[f]] = 0;
}

/* Adds the instruction that copies register v. */
static void add_copy(struct rows *s, uint32_t v)
{
    struct ptxi_ir *ir = s->ir;
    uint32_t d = ptxi_ir_vreg(ir, PTXI_RC_INDEX);
    struct ptxi_ir_inst *i = ptxi_ir_append(ir, PTXI_OP_index_from);

    if (ir->oom)
        return;
    ir->vregs[d].kind = PTXI_VR_SETUP;
    ptxi_ir_set_write(i, PTXI_F_D, d);
    ptxi_ir_set_read(i, PTXI_F_A, v);
    i->flags = PTXI_IF_PURE | PTXI_IF_DEAD; /* in the body */
    ir->setup[ir->setup_count++] = ir->count - 1;
    s->copies[v] = d;
}

static bool add_copies(struct rows *s)
{
    struct ptxi_ir *ir = s->ir;
    const uint32_t vregs = ir->vreg_count;
    uint32_t wanted = 0, *setup;

    for (uint32_t v = 0; v < vregs; v++)
        wanted += s->copies[v] != PTXI_NONE;
    setup = ARENA_NEW(ir->arena, uint32_t, ir->setup_count + wanted);
    if (!setup)
        return !(ir->oom = true);
    if (ir->setup_count)
        memcpy(setup, ir->setup, ir->setup_count * sizeof *setup);
    ir->setup = setup;
    for (uint32_t v = 0; v < vregs && !ir->oom; v++)
        if (s->copies[v] != PTXI_NONE)
            add_copy(s, v);
    return !ir->oom;
}

/* --- the change --- */

static void set_address_op(struct ptxi_ir_inst *i, uint16_t op, uint32_t a, uint32_t b, uint32_t c)
{
    i->op = op;
    i->reads = 0;
    ptxi_ir_set_read(i, PTXI_F_A, a);
    ptxi_ir_set_read(i, PTXI_F_B, b);
    ptxi_ir_set_read(i, PTXI_F_C, c);
}

static void convert_address(struct rows *s, struct ptxi_ir_inst *i)
{
    const bool has_index = is_index(s, i->v[PTXI_F_A]) || (is_wide(i->op) && is_index(s, i->v[PTXI_F_B]));
    uint32_t a, b, c;

    order_operands(s, i);
    a = i->v[PTXI_F_A], b = i->v[PTXI_F_B], c = i->v[PTXI_F_C];
    switch (i->op) {
    case PTXI_OP_mul_wide_s32:
    case PTXI_OP_mad_wide_s32:
        set_address_op(i, has_index ? PTXI_OP_address_index_s32 : PTXI_OP_address_wide_s32, a, b, c);
        break;
    case PTXI_OP_mul_wide_u32:
    case PTXI_OP_mad_wide_u32:
        set_address_op(i, has_index ? PTXI_OP_address_index_u32 : PTXI_OP_address_wide_u32, a, b, c);
        break;
    case PTXI_OP_ext_s32_64: set_address_op(i, PTXI_OP_address_index_s32, a, s->one, PTXI_NONE); break;
    case PTXI_OP_ext_u32_64: set_address_op(i, PTXI_OP_address_index_u32, a, s->one, PTXI_NONE); break;
    case PTXI_OP_lea_64:
        set_address_op(i, is_address(s, a) ? PTXI_OP_address_shift : PTXI_OP_address_lea_64, a, b, c);
        break;
    case PTXI_OP_shl_b64: set_address_op(i, PTXI_OP_address_shift, a, b, PTXI_NONE); break;
    case PTXI_OP_add_i64: set_address_op(i, PTXI_OP_address_add, a, PTXI_NONE, b); break;
    default:
        if (is_chosen(s, a))
            set_address_op(i, PTXI_OP_address_add, a, PTXI_NONE, PTXI_NONE);
        else
            set_address_op(i, PTXI_OP_address_set, PTXI_NONE, PTXI_NONE, a);
    }
}

/* Puts the factor that is the same in all lanes second. */
static void order_factors(const struct rows *s, struct ptxi_ir_inst *i)
{
    uint32_t a = i->v[PTXI_F_A];

    if (is_uniform(s, a) && !is_uniform(s, i->v[PTXI_F_B])) {
        i->v[PTXI_F_A] = i->v[PTXI_F_B];
        i->v[PTXI_F_B] = a;
    }
}

static void convert_index(struct rows *s, struct ptxi_ir_inst *i, struct index_op x)
{
    if (x.op == PTXI_OP_index_mul || x.op == PTXI_OP_index_mad)
        order_factors(s, i);
    i->op = x.op;
    for (unsigned f = PTXI_F_A; f <= PTXI_F_C; f++)
        if (x.fields & 1u << f && s->copies[i->v[f]] != PTXI_NONE)
            i->v[f] = s->copies[i->v[f]];
    if (x.swap) {
        uint32_t a = i->v[PTXI_F_A];

        i->v[PTXI_F_A] = i->v[PTXI_F_B];
        i->v[PTXI_F_B] = a;
    }
    if (x.opposite)
        i->mods = PTXI_MOD_NOT_C;
}

static void convert(struct rows *s, struct ptxi_ir_inst *i)
{
    if (is_access(i) && is_address(s, i->v[PTXI_F_A]))
        i->op = access_at(i->op);
    else if (is_tracking(i) && is_address(s, i->v[PTXI_F_A]))
        i->mods |= PTXI_INIT_ROW;
    else if (compares_indices(s, i))
        convert_index(s, i, index_comparison(i->op));
    else if (i->writes & 1u << PTXI_F_D && is_address(s, i->v[PTXI_F_D]))
        convert_address(s, i);
    else if (i->writes & 1u << PTXI_F_D && is_index(s, i->v[PTXI_F_D]))
        convert_index(s, i, index_op(i));
}

static bool has_accesses(const struct ptxi_ir *ir)
{
    for (uint32_t n = 0; n < ir->count; n++)
        if (!(ir->insts[n].flags & PTXI_IF_DEAD) && is_access(&ir->insts[n]))
            return true;
    return false;
}

static void count_defs(const struct ptxi_ir *ir, uint32_t *defs)
{
    for (uint32_t n = 0; n < ir->count; n++) {
        struct ptxi_ir_walk w = ptxi_ir_writes(ir, &ir->insts[n]);
        uint32_t v;

        while (!(ir->insts[n].flags & PTXI_IF_DEAD) && ptxi_ir_next(&w, &v))
            defs[v]++;
    }
}

static bool allocate(struct rows *s)
{
    struct ptxi_ir *ir = s->ir;

    s->one = ptxi_ir_const(ir, PTXI_RC_32, 1);
    s->uniform = ARENA_NEW(ir->arena, uint8_t, ir->vreg_count);
    s->chosen = ARENA_NEW(ir->arena, uint8_t, ir->vreg_count);
    s->useful = ARENA_NEW(ir->arena, uint8_t, ir->vreg_count);
    s->copies = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count);
    if (ir->oom || !s->uniform || !s->chosen || !s->useful || !s->copies)
        return !(ir->oom = true);
    memset(s->copies, 0xff, ir->vreg_count * sizeof *s->copies);
    return true;
}

static void choose(struct rows *s, const uint32_t *defs)
{
    const struct ptxi_ir *ir = s->ir;

    for (uint32_t v = 0; v < ir->vreg_count; v++) {
        const struct ptxi_vreg *r = &ir->vregs[v];

        s->chosen[v] = (r->class == PTXI_RC_64 || (r->class == PTXI_RC_32 && ir->func->is_entry)) &&
                       r->kind == PTXI_VR_PLAIN && defs[v];
    }
    repeat(s, check);
    repeat(s, mark_useful);
    s->changed = false;
    visit(s, drop_useless);
    if (s->changed)
        repeat(s, check);
}

static void set_classes(struct rows *s, uint32_t count)
{
    for (uint32_t v = 0; v < count; v++)
        if (s->chosen[v])
            s->ir->vregs[v].class = is_address(s, v) ? PTXI_RC_ADDRESS : PTXI_RC_INDEX;
}

bool ptxi_use_row_registers(struct ptxi_ir *ir)
{
    struct rows s = { .ir = ir };
    uint32_t *defs, vregs;

    if (!has_accesses(ir))
        return true;
    if (!allocate(&s) || !(defs = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count)))
        return !(ir->oom = true);
    vregs = ir->vreg_count;
    count_defs(ir, defs);
    find_uniform(&s, defs);
    choose(&s, defs);
    visit(&s, note_copies);
    if (!add_copies(&s))
        return false;
    visit(&s, convert);
    set_classes(&s, vregs);
    return true;
}
