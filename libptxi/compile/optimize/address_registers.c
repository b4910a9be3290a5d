/* Address registers: registers with the addresses of loads and stores in global memory, which may be a row
 * (exec/memory/address_register.h). Only the operations below write and read them:
 *
 *   written by   a * b + c, (a << b) + c of an index, where b and c are the same in all lanes;
 *                r + c of an address register r; c
 *   read by      loads and stores, as their address; r + c
 *
 * A register that anything else writes or reads keeps its class. The result does not depend on what is known here: an
 * address register can hold any addresses. */
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
           !(i->mods & (PTXI_CHECK_SHARED | PTXI_CHECK_GENERIC));
}

/* A strong load of a word may exceed the end of its memory, which depends on its operation (exec/memory/access.c). */
static bool is_access(const struct ptxi_ir_inst *i)
{
    return access_at(i->op) && (ptxi_op_flags[i->op] & PTXI_OP_FLAG_V4 || !i->mods);
}

struct addresses {
    struct ptxi_ir *ir;
    uint8_t *uniform; /* per register: it has the same value in all lanes, wherever it is read */
    uint8_t *chosen;  /* per register: it may become an address register */
    uint8_t *useful;  /* per register: its value becomes the address of an access */
    bool changed;
};

/* --- registers with one value for all lanes --- */

static bool varies_by_lane(const struct ptxi_ir_inst *i)
{
    return i->op == PTXI_OP_sreg_32 && ptxi_sreg_scope(i->imm & 0xff) == PTXI_SCOPE_LANE;
}

static void note_uniform(struct addresses *s, const struct ptxi_ir_inst *i)
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
static void find_uniform(struct addresses *s, const uint32_t *defs)
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

static bool is_uniform(const struct addresses *s, uint32_t v)
{
    return v != PTXI_NONE && s->uniform[v];
}

static bool is_chosen(const struct addresses *s, uint32_t v)
{
    return v != PTXI_NONE && s->chosen[v];
}

static bool is_wide(uint16_t op)
{
    return op == PTXI_OP_mul_wide_s32 || op == PTXI_OP_mul_wide_u32 || op == PTXI_OP_mad_wide_s32 ||
           op == PTXI_OP_mad_wide_u32;
}

/* Puts the operand that is the same in all lanes, or that is an address register, where the address operations have
 * it. */
static void order_operands(const struct addresses *s, struct ptxi_ir_inst *i)
{
    uint32_t a = i->v[PTXI_F_A], b = i->v[PTXI_F_B];
    bool swap = is_wide(i->op) ? !is_uniform(s, b) && is_uniform(s, a)
                               : i->op == PTXI_OP_add_i64 && !is_chosen(s, a) && is_chosen(s, b);

    if (swap) {
        i->v[PTXI_F_A] = b;
        i->v[PTXI_F_B] = a;
    }
}

/* Whether the instruction computes an address: that of an address register or of an index. */
static bool makes_address(const struct addresses *s, const struct ptxi_ir_inst *i)
{
    uint32_t a = i->v[PTXI_F_A], b = i->v[PTXI_F_B], c = i->v[PTXI_F_C];

    if (i->mods || i->writes != 1u << PTXI_F_D)
        return false;
    switch (i->op) {
    case PTXI_OP_mul_wide_s32:
    case PTXI_OP_mul_wide_u32: return is_uniform(s, a) || is_uniform(s, b);
    case PTXI_OP_mad_wide_s32:
    case PTXI_OP_mad_wide_u32: return (is_uniform(s, a) || is_uniform(s, b)) && is_uniform(s, c);
    case PTXI_OP_lea_64: return is_uniform(s, b) && is_uniform(s, c);
    case PTXI_OP_add_i64: return (is_chosen(s, a) && is_uniform(s, b)) || (is_chosen(s, b) && is_uniform(s, a));
    case PTXI_OP_mov_64: return is_chosen(s, a) || is_uniform(s, a);
    default: return false;
    }
}

/* --- the choice --- */

static void drop(struct addresses *s, uint32_t v)
{
    s->changed |= s->chosen[v];
    s->chosen[v] = 0;
}

/* Drops the registers of an instruction that may not use them. */
static void check(struct addresses *s, struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk r = ptxi_ir_reads(s->ir, i), w = ptxi_ir_writes(s->ir, i);
    bool derives = makes_address(s, i) && (i->op == PTXI_OP_add_i64 || i->op == PTXI_OP_mov_64) &&
                   is_chosen(s, i->v[PTXI_F_D]);
    unsigned as_address = 0;
    uint32_t v;

    while (ptxi_ir_next(&w, &v))
        if (s->chosen[v] && !makes_address(s, i))
            drop(s, v);
    while (ptxi_ir_next(&r, &v)) {
        if (!s->chosen[v] || derives)
            continue;
        if (!(is_access(i) || is_tracking(i)) || i->v[PTXI_F_A] != v || as_address++)
            drop(s, v);
    }
}

static void mark_useful(struct addresses *s, struct ptxi_ir_inst *i)
{
    uint32_t a = i->v[PTXI_F_A], b = i->v[PTXI_F_B], d = i->v[PTXI_F_D];
    uint32_t from = is_chosen(s, a) ? a : b;
    bool feeds = is_access(i) ? is_chosen(s, a) : makes_address(s, i) && is_chosen(s, d) && s->useful[d];

    if (!feeds || !is_chosen(s, from) || s->useful[from])
        return;
    s->useful[from] = 1;
    s->changed = true;
}

static void drop_useless(struct addresses *s, struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk w = ptxi_ir_writes(s->ir, i);
    uint32_t v;

    while (ptxi_ir_next(&w, &v))
        if (s->chosen[v] && !s->useful[v])
            drop(s, v);
}

static void visit(struct addresses *s, void (*each)(struct addresses *s, struct ptxi_ir_inst *i))
{
    for (uint32_t n = 0; n < s->ir->count; n++)
        if (!(s->ir->insts[n].flags & PTXI_IF_DEAD))
            each(s, &s->ir->insts[n]);
}

static void repeat(struct addresses *s, void (*each)(struct addresses *s, struct ptxi_ir_inst *i))
{
    do {
        s->changed = false;
        visit(s, each);
    } while (s->changed);
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

static void convert(struct addresses *s, struct ptxi_ir_inst *i)
{
    uint32_t a, b, c;

    if (is_access(i) && is_chosen(s, i->v[PTXI_F_A])) {
        i->op = access_at(i->op);
        return;
    }
    if (is_tracking(i) && is_chosen(s, i->v[PTXI_F_A])) {
        i->mods |= PTXI_INIT_ROW;
        return;
    }
    if (!(i->writes & 1u << PTXI_F_D) || !is_chosen(s, i->v[PTXI_F_D]))
        return;
    assert(makes_address(s, i));
    order_operands(s, i);
    a = i->v[PTXI_F_A], b = i->v[PTXI_F_B], c = i->v[PTXI_F_C];
    switch (i->op) {
    case PTXI_OP_mul_wide_s32: set_address_op(i, PTXI_OP_address_wide_s32, a, b, PTXI_NONE); break;
    case PTXI_OP_mul_wide_u32: set_address_op(i, PTXI_OP_address_wide_u32, a, b, PTXI_NONE); break;
    case PTXI_OP_mad_wide_s32: set_address_op(i, PTXI_OP_address_wide_s32, a, b, c); break;
    case PTXI_OP_mad_wide_u32: set_address_op(i, PTXI_OP_address_wide_u32, a, b, c); break;
    case PTXI_OP_lea_64: set_address_op(i, PTXI_OP_address_lea_64, a, b, c); break;
    case PTXI_OP_add_i64: set_address_op(i, PTXI_OP_address_add, a, PTXI_NONE, b); break;
    default:
        if (is_chosen(s, a))
            set_address_op(i, PTXI_OP_address_add, a, PTXI_NONE, PTXI_NONE);
        else
            set_address_op(i, PTXI_OP_address_set, PTXI_NONE, PTXI_NONE, a);
    }
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

bool ptxi_use_address_registers(struct ptxi_ir *ir)
{
    struct addresses s = { .ir = ir };
    uint32_t *defs;

    if (!has_accesses(ir))
        return true;
    s.uniform = ARENA_NEW(ir->arena, uint8_t, ir->vreg_count);
    s.chosen = ARENA_NEW(ir->arena, uint8_t, ir->vreg_count);
    s.useful = ARENA_NEW(ir->arena, uint8_t, ir->vreg_count);
    defs = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count);
    if (!s.uniform || !s.chosen || !s.useful || !defs)
        return !(ir->oom = true);
    count_defs(ir, defs);
    find_uniform(&s, defs);
    for (uint32_t v = 0; v < ir->vreg_count; v++)
        s.chosen[v] = ir->vregs[v].class == PTXI_RC_64 && ir->vregs[v].kind == PTXI_VR_PLAIN && defs[v];
    repeat(&s, check);
    repeat(&s, mark_useful);
    s.changed = false;
    visit(&s, drop_useless);
    if (s.changed)
        repeat(&s, check);
    visit(&s, convert);
    for (uint32_t v = 0; v < ir->vreg_count; v++)
        if (s.chosen[v])
            ir->vregs[v].class = PTXI_RC_ADDRESS;
    return true;
}
