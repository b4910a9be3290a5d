/* Origins of pointers: before an access to global memory, an instruction compares the object at the address with the
 * objects that the pointer may come from (exec/check/object_ops.c).
 *
 * The origins of a register are the registers that it is computed from and that may hold a pointer: parameters of the
 * kernel, addresses of variables, and values that were loaded, passed to the function or returned by one. Nothing is
 * assumed about the computation, because compilers compute an address from the difference of two others. An access is
 * wrong only if its object is that of no origin. Loaded and passed values may be anything: if one of several origins
 * that point to objects is such a value, the access is not judged. The origins of a register are not known if it has
 * too many of them, or if it depends on atomic operations and the like, or on halves of pointers.
 *
 * An origin is read at the access, so it must still have the value that the pointer was computed from. That is so if
 * it never changes, or if no register that was computed from it is live when it gets another value.
 *
 * Some registers get only loaded values, parameters, constants and copies of such registers. Such a register is its own
 * origin, also if it gets them in different places, as the pointer that follows a list does. */
#include "compile/codegen/codegen.h"

#include <string.h>

struct tracker {
    struct ptxi_ir *ir;
    struct ptxi_ir_insertions ins;
    struct ptxi_origins *of;  /* per register */
    uint8_t *definitions; /* per register: the number of writes, at most 2; one in some lanes counts as 2 */
    bool *param, *loaded; /* per register: it is a parameter of the kernel; a value that was loaded or passed */
    bool *whole;          /* per register: it has loaded and passed values, parameters, constants, and copies of them */
    bool *partial;        /* per register: it is written in some lanes */
    struct ptxi_liveness live;
    uint32_t *writes, *write_first; /* per register: the instructions that write it, as indices in the layout */
    bool changed;
};

/* --- which registers may hold a pointer --- */

static bool is_pointer_sized(const struct tracker *t, uint32_t v)
{
    return t->ir->vregs[v].class == PTXI_RC_64;
}

static bool is_param_load(uint16_t op)
{
    return op == PTXI_OP_ld_param_64 || op == PTXI_OP_ld_param_v2_64;
}

/* A constant that may be the address of a variable. */
static bool is_address(const struct ptxi_vreg *v)
{
    return v->kind == PTXI_VR_CONST && v->class == PTXI_RC_64 && v->value >> 16 && !(v->value >> 48);
}

/* Whether the register has one value for the whole launch. */
static bool is_stable(const struct tracker *t, uint32_t v)
{
    return t->ir->vregs[v].kind == PTXI_VR_CONST || (t->param[v] && t->definitions[v] == 1);
}

static bool is_partial(const struct ptxi_ir_inst *i)
{
    return i->guard != PTXI_NONE && !(i->flags & PTXI_IF_FRESH);
}

void ptxi_count_definitions(const struct ptxi_ir *ir, uint8_t *definitions)
{
    for (uint32_t k = 0; k < ir->count; k++) {
        const struct ptxi_ir_inst *i = &ir->insts[k];
        struct ptxi_ir_walk w = ptxi_ir_writes(ir, i);
        uint32_t v;

        while (!(i->flags & PTXI_IF_DEAD) && ptxi_ir_next(&w, &v))
            definitions[v] = (uint8_t)(definitions[v] || is_partial(i) ? 2 : 1);
    }
}

/* Whether the instruction makes a register of two words that were passed to the function, or returned by one. */
static bool joins_passed(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i)
{
    const struct ptxi_vreg *low, *high;

    if (i->op != PTXI_OP_pack_2x32 || i->reads != (1u << PTXI_F_A | 1u << PTXI_F_B))
        return false;
    low = &ir->vregs[i->v[PTXI_F_A]], high = &ir->vregs[i->v[PTXI_F_B]];
    return low->kind == PTXI_VR_WORD && high->kind == PTXI_VR_WORD && low->value == high->value;
}

static bool reads_parameter(const struct tracker *t, const struct ptxi_ir_inst *i)
{
    return is_param_load(i->op) && i->flags & PTXI_IF_PURE && t->ir->func->is_entry;
}

static bool is_load(const struct tracker *t, const struct ptxi_ir_inst *i)
{
    return (ptxi_op_flags[i->op] & PTXI_OP_FLAG_LOAD && !reads_parameter(t, i)) || joins_passed(t->ir, i);
}

static void visit_writes(struct tracker *t, void (*visit)(struct tracker *t, const struct ptxi_ir_inst *i, uint32_t v))
{
    for (uint32_t k = 0; k < t->ir->count; k++) {
        const struct ptxi_ir_inst *i = &t->ir->insts[k];
        struct ptxi_ir_walk w = ptxi_ir_writes(t->ir, i);
        uint32_t v;

        while (!(i->flags & PTXI_IF_DEAD) && ptxi_ir_next(&w, &v))
            visit(t, i, v);
    }
}

static void find_kind(struct tracker *t, const struct ptxi_ir_inst *i, uint32_t v)
{
    t->param[v] |= reads_parameter(t, i);
    t->loaded[v] |= is_load(t, i);
    t->partial[v] |= is_partial(i);
    t->whole[v] = is_pointer_sized(t, v);
}

static void find_computed(struct tracker *t, const struct ptxi_ir_inst *i, uint32_t v)
{
    bool copies = i->op == PTXI_OP_mov_64 &&
                  (t->ir->vregs[i->v[PTXI_F_A]].kind == PTXI_VR_CONST || t->whole[i->v[PTXI_F_A]]);

    if (!t->whole[v] || copies || reads_parameter(t, i) || is_load(t, i))
        return;
    t->whole[v] = false;
    t->changed = true;
}

static void find_copy(struct tracker *t, const struct ptxi_ir_inst *i, uint32_t v)
{
    if (t->loaded[v] || !t->whole[v] || i->op != PTXI_OP_mov_64 || !t->loaded[i->v[PTXI_F_A]])
        return;
    t->loaded[v] = true;
    t->changed = true;
}

static void find_kinds(struct tracker *t)
{
    visit_writes(t, find_kind);
    do {
        t->changed = false;
        visit_writes(t, find_computed);
    } while (t->changed);
    do {
        t->changed = false;
        visit_writes(t, find_copy);
    } while (t->changed);
}

/* --- how long origins are valid --- */

static void count_write(struct tracker *t, uint32_t v, uint32_t at)
{
    (void)at;
    t->write_first[v + 2]++;
}

static void store_write(struct tracker *t, uint32_t v, uint32_t at)
{
    t->writes[t->write_first[v + 1]++] = at;
}

/* Calls visit() for every write in the order of the layout. */
static void visit_layout(struct tracker *t, void (*visit)(struct tracker *t, uint32_t v, uint32_t at))
{
    for (uint32_t p = 0; p < t->ir->order_count; p++) {
        const struct ptxi_block *block = &t->ir->blocks[t->ir->order[p]];

        for (uint32_t n = block->first; n < block->end; n++) {
            struct ptxi_ir_walk w = ptxi_ir_writes(t->ir, &t->ir->insts[n]);
            uint32_t v;

            while (!(t->ir->insts[n].flags & PTXI_IF_DEAD) && ptxi_ir_next(&w, &v))
                visit(t, v, t->live.block_first[p] + n - block->first);
        }
    }
}

static bool find_lifetimes(struct tracker *t)
{
    uint32_t vregs = t->ir->vreg_count;

    if (!ptxi_liveness(t->ir, &t->live))
        return false;
    t->write_first = ARENA_NEW(t->ir->arena, uint32_t, vregs + 2);
    if (!t->write_first)
        return !(t->ir->oom = true);
    visit_layout(t, count_write);
    for (uint32_t v = 0; v < vregs; v++)
        t->write_first[v + 2] += t->write_first[v + 1];
    t->writes = ARENA_NEW(t->ir->arena, uint32_t, t->write_first[vregs + 1] + 1);
    if (!t->writes)
        return !(t->ir->oom = true);
    visit_layout(t, store_write);
    return true;
}

/* Whether the register has a value after an instruction of the layout that is read later. */
static bool lives_after(const struct tracker *t, uint32_t v, uint32_t at)
{
    const struct ptxi_live_range *r = t->live.ranges + t->live.first[v];
    uint32_t low = 0, high = t->live.count[v], position = at * 2 + 1;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (r[middle].end <= position)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->live.count[v] && r[low].start <= position;
}

/* Whether the origin has not changed since the register was computed from it, wherever the register is read. */
static bool is_valid(const struct tracker *t, uint32_t v, uint32_t origin)
{
    if (v == origin || is_stable(t, origin))
        return true;
    if (t->partial[v]) /* other lanes keep an older value */
        return false;
    for (uint32_t k = t->write_first[origin]; k < t->write_first[origin + 1]; k++)
        if (lives_after(t, v, t->writes[k]))
            return false;
    return true;
}

/* --- origins --- */

static void forget(struct tracker *t, uint32_t v)
{
    t->changed |= !t->of[v].unknown;
    t->of[v].unknown = true;
}

static void add_origin(struct tracker *t, uint32_t v, uint32_t origin)
{
    struct ptxi_origins *o = &t->of[v];

    for (unsigned k = 0; k < o->count; k++)
        if (o->v[k] == origin)
            return;
    if (o->unknown)
        return;
    if (o->count == PTXI_MAX_ORIGINS || !is_valid(t, v, origin)) {
        forget(t, v);
        return;
    }
    o->v[o->count++] = origin;
    t->changed = true;
}

static void add_origins_of(struct tracker *t, uint32_t v, uint32_t from)
{
    const struct ptxi_origins o = t->of[from];

    if (t->ir->vregs[from].class == PTXI_RC_128 || o.unknown)
        forget(t, v);
    else if (is_address(&t->ir->vregs[from]))
        add_origin(t, v, from);
    for (unsigned k = 0; k < o.count; k++)
        add_origin(t, v, o.v[k]);
}

/* Whether the result may be a pointer that is put together from parts. */
static bool joins_parts(uint16_t op)
{
    return op == PTXI_OP_pack_2x32 || op == PTXI_OP_pack_4x16;
}

static void propagate_to(struct tracker *t, const struct ptxi_ir_inst *i, uint32_t d)
{
    struct ptxi_ir_walk r = ptxi_ir_reads(t->ir, i);
    uint32_t v;

    if (t->loaded[d] || t->param[d]) {
        if (t->whole[d])
            add_origin(t, d, d);
        else
            forget(t, d);
        return;
    }
    if (!(i->flags & PTXI_IF_PURE) || joins_parts(i->op)) {
        forget(t, d);
        return;
    }
    while (ptxi_ir_next(&r, &v))
        if (is_pointer_sized(t, v) || t->ir->vregs[v].class == PTXI_RC_128)
            add_origins_of(t, d, v);
}

static void propagate(struct tracker *t, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk w = ptxi_ir_writes(t->ir, i);
    uint32_t v;

    while (ptxi_ir_next(&w, &v))
        if (is_pointer_sized(t, v))
            propagate_to(t, i, v);
}

static void find_origins(struct tracker *t)
{
    do {
        t->changed = false;
        for (uint32_t k = 0; k < t->ir->count; k++)
            if (!(t->ir->insts[k].flags & PTXI_IF_DEAD))
                propagate(t, &t->ir->insts[k]);
    } while (t->changed);
}

/* --- checks --- */

/* The origins of an address. */
static struct ptxi_origins origins_of(const struct tracker *t, uint32_t address)
{
    struct ptxi_origins o = t->of[address];

    if (is_address(&t->ir->vregs[address]))
        o = (struct ptxi_origins){ .unknown = true }; /* a variable itself */
    return o;
}

void ptxi_check_origins(struct ptxi_ir *ir, struct ptxi_ir_insertions *ins, uint32_t at, const struct ptxi_origins *o,
                        uint16_t mods)
{
    static const uint8_t fields[PTXI_MAX_ORIGINS] = { PTXI_F_B, PTXI_F_C, PTXI_F_D };
    const struct ptxi_ir_inst access = ir->insts[at];
    struct ptxi_ir_inst *i;

    ptxi_ir_make(ir, ins, at, PTXI_OP_check_object, 0, PTXI_RC_PRED, PTXI_NONE, PTXI_NONE);
    if (ir->oom)
        return;
    i = &ins->list[ins->count - 1].inst;
    i->writes = 0;
    i->v[PTXI_F_D] = PTXI_NONE;
    i->mods = (uint16_t)((access.check & (PTXI_CHECK_BYTES | PTXI_CHECK_WRITE | PTXI_CHECK_SHARED |
                                          PTXI_CHECK_GENERIC)) | mods);
    ptxi_ir_set_read(i, PTXI_F_A, access.v[PTXI_F_A]);
    for (unsigned k = 0; k < o->count; k++)
        ptxi_ir_set_read(i, fields[k], o->v[k]);
    i->imm = access.imm;
    i->guard = access.guard;
    i->guard_negated = access.guard_negated;
    i->flags = PTXI_IF_NOT_SHARED;
}

static void check(struct tracker *t, uint32_t at)
{
    const struct ptxi_ir_inst access = t->ir->insts[at];
    struct ptxi_origins o;
    uint16_t mods = 0;

    if (!access.check || access.check & (PTXI_CHECK_SHARED | PTXI_CHECK_LOCAL) || access.flags & PTXI_IF_DEAD)
        return;
    o = origins_of(t, access.v[PTXI_F_A]);
    if (o.unknown || !o.count)
        return;
    for (unsigned k = 0; k < o.count; k++) {
        mods |= (uint16_t)(t->loaded[o.v[k]] << (PTXI_OBJECT_LOADED_SHIFT + k));
        mods |= (uint16_t)(is_stable(t, o.v[k]) << (PTXI_OBJECT_SAME_SHIFT + k));
    }
    ptxi_check_origins(t->ir, &t->ins, at, &o, mods);
}

bool ptxi_track_pointers(struct ptxi_ir *ir)
{
    struct tracker t = { .ir = ir };
    uint32_t count = ir->count;

    t.of = ARENA_NEW(ir->arena, struct ptxi_origins, ir->vreg_count + 1);
    t.definitions = ARENA_NEW(ir->arena, uint8_t, ir->vreg_count + 1);
    t.param = ARENA_NEW(ir->arena, bool, ir->vreg_count + 1);
    t.loaded = ARENA_NEW(ir->arena, bool, ir->vreg_count + 1);
    t.whole = ARENA_NEW(ir->arena, bool, ir->vreg_count + 1);
    t.partial = ARENA_NEW(ir->arena, bool, ir->vreg_count + 1);
    if (!t.of || !t.definitions || !t.param || !t.loaded || !t.whole || !t.partial)
        return !(ir->oom = true);
    ptxi_count_definitions(ir, t.definitions);
    find_kinds(&t);
    if (!find_lifetimes(&t))
        return false;
    find_origins(&t);
    for (uint32_t k = 0; k < count && !ir->oom; k++)
        check(&t, k);
    return !ir->oom && ptxi_ir_insert(ir, &t.ins);
}
