/* Parts of .local variables. nvcc puts all variables of a function that are in memory into one .local variable. If
 * debug data tells where they are (parse/debug_variables.c), the sum of the address of the .local variable and a
 * constant is a pointer into the part that begins there. Code without optimisation computes all addresses in this way.
 * The register with the sum gets the bounds of the part, as those with the addresses of variables do, and so do those
 * that are the sum of such a register and a constant.
 *
 * This pass comes before those that join sums. If a sum is inside a part, and not at its start, the code is optimised,
 * and may have the address of a part before its first element. Then no parts are assumed. */
#include "compile/codegen/codegen.h"

struct finder {
    struct ptxi_ir *ir;
    uint8_t *definitions; /* per register */
    bool *is_base;        /* per register: it is the address of a .local variable, or near it, */
    uint32_t *base;       /* with this place in the .local memory of the function */
    uint32_t *bounds;     /* per part: a constant with its bounds */
    bool changed, joined; /* joined: the code is optimised */
};

static const struct ptxi_local_part *part_at(const struct ptxi_ir *ir, uint64_t place)
{
    for (uint32_t k = 0; k < ir->part_count; k++)
        if (place >= ir->parts[k].start && place < ir->parts[k].end)
            return &ir->parts[k];
    return NULL;
}

/* The constant of a sum of a register and a constant, which becomes the first operand. False: it is no such sum. */
static bool is_sum(const struct ptxi_ir *ir, const struct ptxi_ir_inst *i, uint32_t *a, uint64_t *constant)
{
    const struct ptxi_vreg *x = &ir->vregs[i->v[PTXI_F_A]], *y = &ir->vregs[i->v[PTXI_F_B]];

    if (i->op != PTXI_OP_add_i64 && i->op != PTXI_OP_add_i32)
        return false;
    *a = i->v[x->kind == PTXI_VR_CONST ? PTXI_F_B : PTXI_F_A];
    *constant = x->kind == PTXI_VR_CONST ? x->value : y->value;
    return x->kind == PTXI_VR_CONST || y->kind == PTXI_VR_CONST;
}

static bool copies(const struct ptxi_ir_inst *i)
{
    return ptxi_ir_is_move(i) || i->op == PTXI_OP_cvta_local || i->op == PTXI_OP_cvta_to_local;
}

static void set_base(struct finder *x, uint32_t d, uint32_t place)
{
    x->is_base[d] = x->changed = true;
    x->base[d] = place;
}

static void set_object(struct finder *x, uint32_t d, uint32_t object)
{
    x->ir->vregs[d].object = object;
    x->changed = true;
}

/* The sum of a base and a constant. */
static void find_part(struct finder *x, uint32_t d, uint64_t place)
{
    const struct ptxi_local_part *part = part_at(x->ir, place);

    if (part && part->start != place)
        x->joined = true;
    else if (part)
        set_object(x, d, x->bounds[part - x->ir->parts]);
}

static void visit(struct finder *x, const struct ptxi_ir_inst *i)
{
    const struct ptxi_vreg *vregs = x->ir->vregs;
    uint32_t d = i->v[PTXI_F_D], a;
    uint64_t constant;

    if (i->flags & PTXI_IF_DEAD || i->writes != 1u << PTXI_F_D || x->definitions[d] != 1 || x->is_base[d])
        return;
    if (i->op == PTXI_OP_local_addr && vregs[d].object != PTXI_NONE)
        set_base(x, d, (uint32_t)i->imm);
    else if (vregs[d].object != PTXI_NONE)
        return;
    else if (copies(i) && x->is_base[i->v[PTXI_F_A]])
        set_base(x, d, x->base[i->v[PTXI_F_A]]);
    else if (copies(i) && x->definitions[i->v[PTXI_F_A]] == 1 && vregs[i->v[PTXI_F_A]].object != PTXI_NONE)
        set_object(x, d, vregs[i->v[PTXI_F_A]].object);
    else if (is_sum(x->ir, i, &a, &constant) && x->is_base[a])
        find_part(x, d, x->base[a] + constant);
    else if (is_sum(x->ir, i, &a, &constant) && x->definitions[a] == 1 && vregs[a].object != PTXI_NONE)
        set_object(x, d, vregs[a].object);
}

static bool make_bounds(struct finder *x)
{
    struct ptxi_ir *ir = x->ir;

    for (uint32_t k = 0; k < ir->part_count; k++)
        x->bounds[k] =
            ptxi_ir_const(ir, PTXI_RC_64, ir->parts[k].start | (uint64_t)ir->parts[k].end << 32 | PTXI_OBJECT_LOCAL);
    return !ir->oom;
}

/* The registers are as before. */
static void forget(struct finder *x)
{
    for (uint32_t v = 0; v < x->ir->vreg_count; v++)
        for (uint32_t k = 0; k < x->ir->part_count; k++)
            if (x->ir->vregs[v].object == x->bounds[k])
                x->ir->vregs[v].object = PTXI_NONE;
    x->ir->part_count = 0;
}

bool ptxi_find_local_parts(struct ptxi_ir *ir)
{
    struct finder x = { .ir = ir };

    if (!ir->part_count)
        return true;
    x.bounds = ARENA_NEW(ir->arena, uint32_t, ir->part_count);
    if (!x.bounds || !make_bounds(&x))
        return !(ir->oom = true);
    x.definitions = ARENA_NEW(ir->arena, uint8_t, ir->vreg_count);
    x.is_base = ARENA_NEW(ir->arena, bool, ir->vreg_count);
    x.base = ARENA_NEW(ir->arena, uint32_t, ir->vreg_count);
    if (!x.definitions || !x.is_base || !x.base)
        return !(ir->oom = true);
    ptxi_count_definitions(ir, x.definitions);
    do {
        x.changed = false;
        for (uint32_t k = 0; k < ir->count && !x.joined; k++)
            visit(&x, &ir->insts[k]);
    } while (x.changed && !x.joined);
    if (x.joined)
        forget(&x);
    return true;
}
