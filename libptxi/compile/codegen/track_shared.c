/* Origins of pointers into shared and .local memory: before an access, an instruction checks that it is inside one of
 * the variables whose addresses its address is computed from (exec/check/object_ops.c).
 *
 * The register with the address of a variable names its bounds (ptxi_vreg.object). Whatever is computed from it may be
 * a pointer into the variable, and anything else that takes part is an index. A value that is chosen from a pointer and
 * something without an origin, such as a loaded value, is of unknown origin. local_parts.c has the parts of .local
 * variables. */
#include "compile/codegen/codegen.h"

#include <string.h>

struct tracker {
    struct ptxi_ir *ir;
    struct ptxi_ir_insertions ins;
    struct ptxi_origins *of; /* per register: constants with the bounds of variables */
    uint8_t *definitions;    /* per register */
    bool changed;
};

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
    if (o->count == PTXI_MAX_ORIGINS) {
        forget(t, v);
        return;
    }
    o->v[o->count++] = origin;
    t->changed = true;
}

static bool has_origins(const struct tracker *t, uint32_t v)
{
    return t->of[v].count || t->of[v].unknown || t->ir->vregs[v].object != PTXI_NONE;
}

static void add_origins_of(struct tracker *t, uint32_t v, uint32_t from)
{
    const struct ptxi_origins o = t->of[from];

    if (o.unknown)
        forget(t, v);
    if (t->ir->vregs[from].object != PTXI_NONE)
        add_origin(t, v, t->ir->vregs[from].object);
    for (unsigned k = 0; k < o.count; k++)
        add_origin(t, v, o.v[k]);
}

/* Whether the result is one of the operands. */
static bool chooses(const struct ptxi_ir_inst *i)
{
    unsigned m = ptxi_op_mnemonics[i->op];

    return m == PTXI_M_selp || m == PTXI_M_slct || m == PTXI_M_min || m == PTXI_M_max;
}

/* Whether the value is computed from no variable, or may be something else. */
static bool is_mixed(const struct tracker *t, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk r = ptxi_ir_reads(t->ir, i);
    unsigned with = 0, without = 0;
    uint32_t v;

    if (!(i->flags & PTXI_IF_PURE))
        return true;
    while (ptxi_ir_next(&r, &v)) {
        bool has = has_origins(t, v);

        with += has;
        without += !has && t->ir->vregs[v].class != PTXI_RC_PRED;
    }
    return !with || (without && chooses(i));
}

static void propagate(struct tracker *t, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk w = ptxi_ir_writes(t->ir, i), r;
    uint32_t d, v;

    while (i->flags & PTXI_IF_PURE && ptxi_ir_next(&w, &d))
        for (r = ptxi_ir_reads(t->ir, i); t->ir->vregs[d].object == PTXI_NONE && ptxi_ir_next(&r, &v);)
            add_origins_of(t, d, v);
}

/* Registers that are a pointer into a variable only in some cases. */
static void find_mixed(struct tracker *t, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk w = ptxi_ir_writes(t->ir, i);
    uint32_t d;

    while (ptxi_ir_next(&w, &d))
        if (has_origins(t, d) && (t->definitions[d] > 1 || chooses(i)) && is_mixed(t, i))
            forget(t, d);
}

static void for_each(struct tracker *t, void (*apply)(struct tracker *t, const struct ptxi_ir_inst *i))
{
    do {
        t->changed = false;
        for (uint32_t k = 0; k < t->ir->count; k++)
            if (!(t->ir->insts[k].flags & PTXI_IF_DEAD))
                apply(t, &t->ir->insts[k]);
    } while (t->changed);
}

static void check(struct tracker *t, uint32_t at)
{
    const struct ptxi_ir_inst *access = &t->ir->insts[at];
    const struct ptxi_origins *o;

    if (!(access->check & (PTXI_CHECK_SHARED | PTXI_CHECK_GENERIC | PTXI_CHECK_LOCAL)) || access->flags & PTXI_IF_DEAD)
        return;
    o = &t->of[access->v[PTXI_F_A]];
    if (o->count && !o->unknown)
        ptxi_check_origins(t->ir, &t->ins, at, o,
                           (uint16_t)(PTXI_OBJECT_OF_VARIABLE | (access->check & PTXI_CHECK_LOCAL)));
}

bool ptxi_track_shared(struct ptxi_ir *ir)
{
    struct tracker t = { .ir = ir };
    uint32_t count = ir->count;

    t.of = ARENA_NEW(ir->arena, struct ptxi_origins, ir->vreg_count + 1);
    t.definitions = ARENA_NEW(ir->arena, uint8_t, ir->vreg_count + 1);
    if (!t.of || !t.definitions)
        return !(ir->oom = true);
    ptxi_count_definitions(ir, t.definitions);
    for_each(&t, propagate);
    for_each(&t, find_mixed);
    for_each(&t, propagate);
    for (uint32_t k = 0; k < count && !ir->oom; k++)
        check(&t, k);
    return !ir->oom && ptxi_ir_insert(ir, &t.ins);
}
