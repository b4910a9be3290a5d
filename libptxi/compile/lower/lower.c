/* Lowers a function: calls the lowering rule of each instruction, and puts the instruction's guard around the
 * operations of the rule. */
#include "compile/lower/lower_state.h"

#include <assert.h>
#include <string.h>

static ptxi_lower_rule *find_rule(const struct ptxi_row *row)
{
    static ptxi_lower_rule *const rules[PTXI_RULE_COUNT] = {
        [PTXI_RULE_PLAIN] = ptxi_lower_rule_plain,
#define RULE(name, function) [PTXI_RULE_##name] = ptxi_lower_rule_##function,
#include "isa/lower_rule.def"
#undef RULE
    };

    assert(row->lower < PTXI_RULE_COUNT);
    return row->lower == PTXI_RULE_PLAIN && !row->ops ? NULL : rules[row->lower];
}

bool ptxi_lower_executes(const struct ptxi_row *row)
{
    return find_rule(row) != NULL;
}

/* --- guards --- */

static bool writes_temps_only(const struct ptxi_lower *l, const struct ptxi_ir_inst *i)
{
    struct ptxi_ir_walk w = ptxi_ir_writes(l->ir, i);
    uint32_t v;

    while (ptxi_ir_next(&w, &v))
        if (v < l->first_temp)
            return false;
    return true;
}

static bool needs_guard(const struct ptxi_lower *l, const struct ptxi_ir_inst *i)
{
    return !(i->flags & PTXI_IF_ALWAYS) && !((i->flags & PTXI_IF_PURE) && writes_temps_only(l, i));
}

static bool must_branch(const struct ptxi_ir_inst *i)
{
    return i->flags & PTXI_IF_TOGETHER || ptxi_ir_is_call(i) || ptxi_ir_is_branch(i) || ptxi_ir_ends(i);
}

/* Moves the last operation to index `to`, before others of the same PTX instruction. */
static void move_last(struct ptxi_lower *l, uint32_t to)
{
    struct ptxi_ir *ir = l->ir;
    struct ptxi_ir_inst last;

    if (ir->oom)
        return;
    assert(to < ir->count);
    last = ir->insts[ir->count - 1];
    memmove(&ir->insts[to + 1], &ir->insts[to], (ir->count - 1 - to) * sizeof *ir->insts);
    ir->insts[to] = last;
    /* labels that the rule itself has set move along */
    for (uint32_t label = l->first_label; label < ir->label_count; label++)
        if (ir->labels[label] != PTXI_NONE && ir->labels[label] > to)
            ir->labels[label]++;
}

/* Branches around the operations from `first` on where the guard does not hold. */
static void branch_around(struct ptxi_lower *l, uint32_t first)
{
    uint32_t label = ptxi_ir_label(l->ir);
    uint16_t op = l->inst->guard_negated ? PTXI_OP_bra_if : PTXI_OP_bra_ifn;

    ptxi_lower_op(l, op, PTXI_NONE, l->guard, PTXI_NONE, PTXI_NONE)->aux = label;
    move_last(l, first);
    if (!l->ir->oom)
        l->ir->labels[label] = l->ir->count;
}

static void apply_guard(struct ptxi_lower *l, uint32_t first)
{
    struct ptxi_ir *ir = l->ir;
    uint32_t guarded = 0;
    bool branch = false;

    for (uint32_t k = first; k < ir->count; k++) {
        if (needs_guard(l, &ir->insts[k]))
            guarded++;
        branch |= must_branch(&ir->insts[k]);
    }
    /* one branch is cheaper than three guards */
    if (branch || guarded > 2) {
        branch_around(l, first);
        return;
    }
    for (uint32_t k = first; k < ir->count; k++) {
        if (!needs_guard(l, &ir->insts[k]))
            continue;
        ir->insts[k].guard = l->guard;
        ir->insts[k].guard_negated = l->inst->guard_negated;
    }
}

/* Makes a copy of v before operation k. */
static uint32_t copy_before(struct ptxi_lower *l, uint32_t v, uint32_t k)
{
    uint32_t copy = ptxi_lower_temp(l, ptxi_lower_class(l, v));

    ptxi_lower_move(l, copy, v);
    move_last(l, k);
    return copy;
}

/* An instruction of several operations may overwrite its own guard. Then all of them use a copy. */
static void keep_guard(struct ptxi_lower *l, uint32_t first)
{
    struct ptxi_ir *ir = l->ir;
    uint32_t v;

    for (uint32_t k = first; k + 1 < ir->count; k++) {
        struct ptxi_ir_walk w = ptxi_ir_writes(ir, &ir->insts[k]);

        while (ptxi_ir_next(&w, &v)) {
            if (v != l->guard)
                continue;
            l->guard = copy_before(l, v, first);
            return;
        }
    }
}

/* Whether i writes field f and reads field g, and both are the same register. */
static bool overlaps(const struct ptxi_ir_inst *i, unsigned f, unsigned g)
{
    return f != g && (i->writes >> f & 1) && (i->reads >> g & 1) && !(i->writes >> g & 1) && i->v[f] == i->v[g];
}

/* If an operation may write a result before it has read all sources, no source may be the same register. */
static void separate_results(struct ptxi_lower *l, uint32_t first)
{
    struct ptxi_ir *ir = l->ir;

    for (uint32_t k = first; k < ir->count; k++) {
        for (unsigned f = 0; f < PTXI_F_COUNT && ir->insts[k].flags & PTXI_IF_EARLY; f++) {
            for (unsigned g = 0; g < PTXI_F_COUNT; g++) {
                uint32_t copy;

                if (!overlaps(&ir->insts[k], f, g))
                    continue;
                copy = copy_before(l, ir->insts[k].v[g], k);
                if (ir->oom)
                    return;
                ir->insts[++k].v[g] = copy;
            }
        }
    }
}

/* --- the function --- */

static void apply_rule(struct ptxi_lower *l)
{
    static const char *const why_meaningless[] = {
        [PTXI_PREDICATE_AS_BITS] = "a predicate as bits", [PTXI_NO_MBARRIER] = "no mbarrier",
    };
    ptxi_lower_rule *rule = find_rule(l->inst->match->row);

    if (l->inst->meaningless)
        ptxi_lower_unsupported(l, why_meaningless[l->inst->meaningless]);
    else if (rule)
        rule(l, l->inst);
    else
        ptxi_lower_unsupported(l, NULL);
}

static void lower_inst(struct ptxi_lower *l, uint32_t index)
{
    struct ptxi_ir *ir = l->ir;
    uint32_t first = ir->count;

    l->inst = &l->func->insts[index];
    l->ptx = index;
    l->guard = l->inst->guard == PTXI_NO_REG ? PTXI_NONE : l->inst->guard;
    l->first_temp = ir->vreg_count;
    l->first_label = ir->label_count;
    ir->labels[index] = first;
    apply_rule(l);
    separate_results(l, first);
    if (l->guard != PTXI_NONE && !ir->oom) {
        keep_guard(l, first);
        apply_guard(l, first);
    }
    /* every instruction has an operation: it is counted, and labels may refer to it */
    if (ir->count == first)
        ptxi_lower_op(l, PTXI_OP_nop, PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE);
    if (!ir->oom)
        ir->insts[first].flags |= PTXI_IF_FIRST;
}

static bool make_registers(struct ptxi_lower *l)
{
    const struct ptxi_func *f = l->func;

    for (uint32_t r = 0; r < f->reg_range_count; r++)
        for (uint32_t i = 0; i < f->regs[r].count && !l->ir->oom; i++)
            ptxi_ir_vreg(l->ir, ptxi_ir_class_of(f->regs[r].type));
    return !l->ir->oom;
}

/* Control that reaches the end of the text returns. */
static void end_function(struct ptxi_lower *l)
{
    struct ptxi_ir *ir = l->ir;

    ir->labels[l->func->inst_count] = ir->count;
    if (!l->func->is_entry)
        ptxi_lower_epilogue(l);
    ptxi_lower_op(l, l->func->is_entry ? PTXI_OP_exit : PTXI_OP_ret, PTXI_NONE, PTXI_NONE, PTXI_NONE, PTXI_NONE);
}

bool ptxi_lower(struct ptxi_lower *l)
{
    struct ptxi_ir *ir = l->ir;
    const struct ptxi_func *f = l->func;

    l->carry = l->depot = l->stack = PTXI_NONE;
    ir->func = f;
    for (uint32_t i = 0; i <= f->inst_count && !ir->oom; i++)
        ptxi_ir_label(ir);
    if (ir->oom || !make_registers(l) || !ptxi_lower_assign_homes(l))
        return false;
    ptxi_lower_prologue(l);
    for (uint32_t i = 0; i < f->inst_count && !ir->oom; i++)
        lower_inst(l, i);
    if (ir->oom)
        return false;
    l->ptx = f->inst_count ? f->inst_count - 1 : 0;
    end_function(l);
    return !ir->oom;
}
