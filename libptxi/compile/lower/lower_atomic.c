/* atom and red. */
#include "compile/lower/lower_state.h"

#include <assert.h>

enum { MAX_ELEMENTS = 8 };

/* Each element of a vector is an operation of its own, since PTX does not promise that the whole vector is atomic. Only
 * the first operation checks the alignment of the whole vector. The results are written after all operations have read
 * their operands. */
struct atomic {
    struct ptxi_lower_mem mem;
    const struct ptxi_operand *d, *x, *y; /* arrays; d and y may be NULL */
    unsigned count;
    enum ptxi_type type;
};

/* As exec/memory/atom.c decodes them. */
static uint16_t operation_mods(const struct ptxi_match *m, const struct atomic *a, unsigned element)
{
    enum { GLOBAL = 0, SHARED = 1, GENERIC = 2, WIDER_THAN_CTA = 4, SYSTEM = 8, LENGTH_SHIFT = 4 };
    unsigned mods = element ? 0 : (unsigned)__builtin_ctz(a->count) << LENGTH_SHIFT;

    switch (a->mem.space) {
    case PTXI_SPACE_GLOBAL: mods |= GLOBAL; break;
    case PTXI_SPACE_SHARED: mods |= SHARED; break;
    default: mods |= GENERIC; break;
    }
    if (!ptxi_isa_has_word(m, PTXI_Q_cta))
        mods |= WIDER_THAN_CTA;
    if (ptxi_lower_atomic_scope(m) == PTXI_SCOPE_SYS)
        mods |= SYSTEM;
    return (uint16_t)mods;
}

/* d: result or none; a: address; b and c: operands; imm: offset. */
static void lower_element(struct ptxi_lower *l, const struct ptxi_match *m, const struct atomic *a, unsigned element,
                          uint32_t result)
{
    enum ptxi_class class = ptxi_ir_class_of(a->type);
    uint32_t x = ptxi_lower_use(l, &a->x[element], class),
               y = a->y ? ptxi_lower_use(l, &a->y[element], class) : PTXI_NONE;
    struct ptxi_ir_inst *i = ptxi_lower_op(l, ptxi_isa_op(m), result, a->mem.base, x, y);

    i->imm = (int32_t)(a->mem.offset + element * (ptxi_types[a->type].bits / 8));
    i->mods = operation_mods(m, a, element);
    ptxi_lower_note_access(l, i, &a->mem, ptxi_types[a->type].bits / 8, PTXI_SHARED_ATOMIC);
    i->flags |= PTXI_IF_READS | PTXI_IF_EARLY;
    if (a->y)
        i->flags |= PTXI_IF_POLLS; /* compare and swap, as in a loop that waits for a lock */
}

static void lower_elements(struct ptxi_lower *l, const struct ptxi_match *m, const struct atomic *a)
{
    uint32_t results[MAX_ELEMENTS];

    assert(a->count && a->count <= MAX_ELEMENTS && !(a->count & (a->count - 1)));
    for (unsigned e = 0; e < a->count; e++) {
        results[e] = PTXI_NONE;
        if (a->d && a->d[e].form == PTXI_OPD_REG)
            results[e] = a->count == 1 ? a->d->reg : ptxi_lower_temp(l, ptxi_ir_class_of(a->type));
        lower_element(l, m, a, e, results[e]);
    }
    for (unsigned e = 0; a->count > 1 && e < a->count; e++)
        if (results[e] != PTXI_NONE)
            ptxi_lower_move(l, a->d[e].reg, results[e]);
}

/* The elements of a vector, or the operand itself. */
static const struct ptxi_operand *elements(const struct ptxi_operand *o)
{
    return o && o->form == PTXI_OPD_VECTOR ? o->elements : o;
}

void ptxi_lower_rule_atom(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_match *m = inst->match;
    const struct ptxi_operand *x = ptxi_lower_operand(l, PTXI_OPERAND_b), *d = ptxi_lower_operand(l, PTXI_OPERAND_d);
    struct atomic a = { .d = d && d->form == PTXI_OPD_SINK ? NULL : elements(d), .x = elements(x),
                        .y = ptxi_lower_operand(l, PTXI_OPERAND_c), .count = x->form == PTXI_OPD_VECTOR ? x->count : 1,
                        .type = ptxi_lower_operand_type(l, PTXI_OPERAND_b) };
    bool both = ptxi_isa_has_word(m, PTXI_Q_acq_rel);
    unsigned of = ptxi_lower_fence_of(a.count);

    if (!ptxi_lower_memory_operand(l, ptxi_lower_operand(l, PTXI_OPERAND_a), true, &a.mem))
        return;
    if (both || ptxi_isa_has_word(m, PTXI_Q_release))
        ptxi_lower_fence(l, m, PTXI_CHECK_FENCE_RELEASE | of);
    lower_elements(l, m, &a);
    if (both || ptxi_isa_has_word(m, PTXI_Q_acquire))
        ptxi_lower_fence(l, m, PTXI_CHECK_FENCE_ACQUIRE | of);
}
