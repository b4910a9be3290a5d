/* atom and red. */
#include "compile/lower/lower.h"

/* Of a vector, each element is an operation of its own: more is not promised to be atomic. Only the first looks at the alignment of
 * all, and what they return waits until all have read their operands. */
struct atomic {
    struct ptxi_mem mem;
    const struct ptxi_operand *d, *x, *y; /* arrays; d and y may be missing */
    unsigned count;
    enum ptxi_type type;
};

static uint16_t mods_of(const struct ptxi_match *m, const struct atomic *a, unsigned element)
{
    unsigned doublings = element ? 0 : (unsigned)__builtin_ctz(a->count);
    uint16_t space = a->mem.space == PTXI_SPACE_GLOBAL ? 0 : a->mem.space == PTXI_SPACE_SHARED ? 1 : 2;

    return (uint16_t)(space | (ptxi_build_has(m, PTXI_Q_cta) ? 0 : 4) | (ptxi_build_has(m, PTXI_Q_sys) ? 8 : 0) | doublings << 4);
}

/* d: result or none, a: address, b and c: operands, imm: offset; mods as in exec/memory/atom.c. */
static void one_operation(struct ptxi_build *b, const struct ptxi_match *m, const struct atomic *a, unsigned element, uint32_t result)
{
    enum ptxi_class class = ptxi_class_of(a->type);
    uint32_t x = ptxi_build_use(b, &a->x[element], class), y = a->y ? ptxi_build_use(b, &a->y[element], class) : PTXI_NONE;
    struct ptxi_ir_inst *i = ptxi_build_op(b, ptxi_isa_op(m), result, a->mem.base, x, y);

    i->imm = (int32_t)(a->mem.offset + element * (ptxi_types[a->type].bits / 8));
    i->mods = mods_of(m, a, element);
    ptxi_build_accesses(i, &a->mem, ptxi_types[a->type].bits / 8, PTXI_SHARED_ATOMIC);
    i->flags |= PTXI_IF_READS | PTXI_IF_EARLY;
    if (a->y)
        i->flags |= PTXI_IF_POLLS; /* compares and swaps, as whoever waits for a lock */
}

static void all_operations(struct ptxi_build *b, const struct ptxi_match *m, const struct atomic *a)
{
    uint32_t results[8];

    for (unsigned e = 0; e < a->count; e++) {
        bool wanted = a->d && a->d[e].form == PTXI_OPD_REG;

        results[e] = !wanted ? PTXI_NONE : a->count == 1 ? a->d->reg : ptxi_build_temp(b, ptxi_class_of(a->type));
        one_operation(b, m, a, e, results[e]);
    }
    for (unsigned e = 0; a->count > 1 && e < a->count; e++)
        if (results[e] != PTXI_NONE)
            ptxi_build_move(b, a->d[e].reg, results[e]);
}

/* The elements of an operand that is a vector or stands for one. */
static const struct ptxi_operand *elements(const struct ptxi_operand *o)
{
    return o && o->form == PTXI_OPD_VECTOR ? o->elements : o;
}

void ptxi_lower_atom(struct ptxi_build *b, const struct ptxi_inst *inst)
{
    const struct ptxi_match *m = inst->match;
    const struct ptxi_operand *address = ptxi_build_operand(b, "a"), *x = ptxi_build_operand(b, "b"), *d = ptxi_build_operand(b, "d");
    struct atomic a = { .d = d && d->form == PTXI_OPD_SINK ? NULL : elements(d), .x = elements(x), .y = ptxi_build_operand(b, "c"),
                        .count = x->form == PTXI_OPD_VECTOR ? x->count : 1, .type = ptxi_build_type(b, "b") };
    bool before = ptxi_build_has(m, PTXI_Q_release) || ptxi_build_has(m, PTXI_Q_acq_rel);
    bool after = ptxi_build_has(m, PTXI_Q_acquire) || ptxi_build_has(m, PTXI_Q_acq_rel);

    if (!ptxi_build_address(b, address->address, ptxi_build_space(m), &a.mem))
        return;
    if (a.mem.base == PTXI_NONE ||
        (a.mem.space != PTXI_SPACE_GLOBAL && a.mem.space != PTXI_SPACE_SHARED && a.mem.space != PTXI_SPACE_GENERIC)) {
        ptxi_build_unsupported(b, "state space");
        return;
    }
    if (before)
        ptxi_build_fence(b, m);
    all_operations(b, m, &a);
    if (after)
        ptxi_build_fence(b, m);
}
