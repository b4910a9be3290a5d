/* Where the variables of a function are: parameter words, offsets in .local memory, offsets in shared memory. */
#include "compile/lower/lower_state.h"
#include "compile/lower/shared_layout.h"

#include "base/hash.h"

#include <assert.h>

/* A shared variable that this kernel names. */
struct ptxi_shared_variable {
    const struct ptxi_var *var;
    uint32_t offset;
    UT_hash_handle hh;
};

/* --- shared memory of a kernel --- */

static struct ptxi_shared_variable *find_shared(const struct ptxi_lower *l, const struct ptxi_var *var)
{
    struct ptxi_shared_variable *s;

    HASH_FIND_PTR(l->shared, &var, s);
    return s;
}

static void add_shared(void *ctx, const struct ptxi_var *var, const struct ptxi_func *func)
{
    struct ptxi_lower *l = ctx;
    struct ptxi_arena *hash_arena = l->ir->arena;
    struct ptxi_shared_variable *s;

    (void)func;
    if (!var || var->space != PTXI_SPACE_SHARED || var->unsized || l->ir->oom || find_shared(l, var))
        return;
    s = ARENA_NEW(hash_arena, struct ptxi_shared_variable, 1);
    if (!s) {
        l->ir->oom = true;
        return;
    }
    s->var = var;
    HASH_ADD_PTR(l->shared, var, s);
    l->ir->oom |= !HASH_ADDED(hh, s);
}

static void assign_shared(struct ptxi_lower *l, struct ptxi_var *const *vars, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct ptxi_shared_variable *s = find_shared(l, vars[i]);

        if (s)
            s->offset = ptxi_layout_assign(&l->shared_bytes, vars[i]);
    }
}

static void set_shared_offset(void *ctx, const struct ptxi_var *var, uint32_t offset)
{
    struct ptxi_shared_variable *s = find_shared(ctx, var);

    assert(s);
    s->offset = offset;
}

/* Named variables are where ptxas puts them, see shared_layout.h. Variables of the kernel that it never names come
 * after them. */
static void assign_kernel_shared(struct ptxi_lower *l)
{
    const struct ptxi_module_ast *tree = l->layout->tree;
    const struct ptxi_func *f = l->func;

    ptxi_layout_visit_names(f, add_shared, l);
    assign_shared(l, f->vars, f->var_count);
    if (l->ir->oom)
        return;
    if (!ptxi_shared_layout_visit(l->layout, f, set_shared_offset, l, &l->shared_bytes))
        assign_shared(l, tree->vars, tree->var_count);
    l->shared_end = (uint32_t)l->shared_bytes;
    for (uint32_t i = 0; i < f->var_count; i++)
        if (f->vars[i]->space == PTXI_SPACE_SHARED && !find_shared(l, f->vars[i]))
            ptxi_layout_assign(&l->shared_bytes, f->vars[i]);
}

enum { DYNAMIC_ALIGN = 16 };

uint32_t ptxi_lower_dynamic_align(const struct ptxi_var *var)
{
    return var->align > DYNAMIC_ALIGN ? var->align : DYNAMIC_ALIGN;
}

/* A dynamic array begins after the named variables, at a multiple of its own alignment. The size of the static
 * variables is rounded up to the strictest alignment of the module's dynamic arrays. */
static void align_dynamic(struct ptxi_lower *l)
{
    const struct ptxi_module_ast *tree = l->layout->tree;
    uint32_t align = 1;

    for (uint32_t i = 0; i < tree->var_count; i++) {
        const struct ptxi_var *var = tree->vars[i];

        if (var->space == PTXI_SPACE_SHARED && var->unsized && ptxi_lower_dynamic_align(var) > align)
            align = ptxi_lower_dynamic_align(var);
    }
    l->shared_bytes = ptxi_layout_align(l->shared_bytes, align);
}

uint32_t ptxi_lower_shared_offset(struct ptxi_lower *l, const struct ptxi_var *var)
{
    if (var->unsized)
        return (uint32_t)ptxi_layout_align(l->shared_end, ptxi_lower_dynamic_align(var));
    if (!l->func->is_entry)
        return ptxi_shared_layout_offset(l->layout, var);
    assert(find_shared(l, var));
    return find_shared(l, var)->offset;
}

static void assign_kernel_homes(struct ptxi_lower *l)
{
    const struct ptxi_func *f = l->func;
    uint64_t at = 0;

    for (uint32_t i = 0; i < f->signature.param_count; i++)
        l->params[i].offset = ptxi_layout_assign(&at, f->signature.params[i]);
    l->param_bytes = (uint32_t)at;
    assign_kernel_shared(l);
}

/* --- parameters of a function, .local variables --- */

/* *at: the next free word. */
static void assign_words(struct ptxi_lower *l, struct ptxi_lower_home *homes, struct ptxi_var *const *vars,
                         uint32_t count, uint32_t *at)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bytes = ptxi_layout_passed(vars[i]);

        homes[i].area = ptxi_ir_area(l->ir, bytes, *at * ptxi_class_units[PTXI_RC_32]);
        *at += (uint32_t)((bytes + 3) / 4);
    }
}

/* The parts of a .local variable at an offset follow those of earlier ones. */
static void add_parts(struct ptxi_lower *l, const struct ptxi_var *v, uint32_t offset)
{
    struct ptxi_ir *ir = l->ir;
    struct ptxi_local_part *parts = ARENA_NEW(ir->arena, struct ptxi_local_part, ir->part_count + v->part_count);

    if (!parts) {
        ir->oom = true;
        return;
    }
    if (ir->part_count)
        memcpy(parts, ir->parts, ir->part_count * sizeof *parts);
    ir->parts = parts;
    for (uint32_t k = 0; k < v->part_count; k++)
        parts[ir->part_count++] = (struct ptxi_local_part){
            offset + v->parts[k].offset, offset + v->parts[k].offset + v->parts[k].size, v->parts[k].name };
}

static void assign_local(struct ptxi_lower *l, struct ptxi_lower_home *h, const struct ptxi_var *v)
{
    uint64_t at = ptxi_layout_align(l->ir->local_bytes, v->align < 4 ? 4 : v->align);

    if (v->part_count && l->options->pointers && at + v->size <= INT32_MAX)
        add_parts(l, v, (uint32_t)at);

    h->offset = (uint32_t)at;
    l->ir->local_bytes = at + ptxi_layout_align(v->size, 4);
}

/* The variable that an operand takes the address of, or indexes by a register; else NULL. */
static const struct ptxi_var *addressed_variable(const struct ptxi_operand *o)
{
    if (o->form == PTXI_OPD_VAR)
        return o->var;
    if (o->form == PTXI_OPD_ADDRESS && o->address->var && o->address->reg != PTXI_NO_REG)
        return o->address->var;
    return NULL;
}

/* Puts a parameter into memory if an operand takes its address or indexes it. */
static void note_addressed(struct ptxi_lower *l, const struct ptxi_operand *o)
{
    const struct ptxi_var *v = addressed_variable(o);
    struct ptxi_lower_home *h;

    if (!v || v->space != PTXI_SPACE_PARAM || !(v->is_param || v->is_ret) || v->is_reg || v->unsized)
        return;
    h = ptxi_lower_find_home(l, v);
    if (!h || h->in_depot)
        return;
    h->in_depot = true;
    assign_local(l, h, v);
}

static void list_returned(struct ptxi_lower *l, uint32_t count)
{
    l->ir->returned = ARENA_NEW(l->ir->arena, struct ptxi_ir_arg, count);
    if (!l->ir->returned) {
        l->ir->oom = true;
        return;
    }
    l->ir->returned_count = count;
    for (uint32_t k = 0; k < count; k++)
        l->ir->returned[k].area = l->rets[k].area;
}

static void assign_function_homes(struct ptxi_lower *l)
{
    const struct ptxi_func *f = l->func;
    const struct ptxi_signature *s = &f->signature;
    uint32_t at = 0;

    assign_words(l, l->params, s->params, s->param_count, &at);
    l->ir->arg_words = at;
    assign_words(l, l->rets, s->rets, s->ret_count, &at);
    l->ir->ret_words = at - l->ir->arg_words;
    list_returned(l, s->ret_count);
    for (uint32_t i = 0; i < f->inst_count; i++)
        for (unsigned k = 0; k < f->insts[i].operand_count; k++)
            note_addressed(l, &f->insts[i].operands[k]);
}

/* The last argument of a call, if the function takes an array without a size. */
static const struct ptxi_var *variadic_argument(const struct ptxi_call *c)
{
    const struct ptxi_signature *s = c->func ? &c->func->signature : c->signature;
    const struct ptxi_operand *last = c->arg_count ? &c->args[c->arg_count - 1] : NULL;

    if (!last || c->arg_count != s->param_count || !s->params[c->arg_count - 1]->unsized || last->form != PTXI_OPD_VAR)
        return NULL;
    return last->var;
}

/* PTX ISA, "Variadic Functions": the array is passed by the address of a copy. */
static void note_variadic_call(struct ptxi_lower *l, const struct ptxi_inst *inst)
{
    const struct ptxi_var *v = inst->match->row->family == PTXI_M_call
        ? variadic_argument(inst->operands[0].call) : NULL;
    struct ptxi_lower_home *h = v ? ptxi_lower_find_home(l, v) : NULL;

    if (h && !h->offset)
        assign_local(l, h, v);
}

static void assign_body_homes(struct ptxi_lower *l)
{
    const struct ptxi_func *f = l->func;

    for (uint32_t i = 0; i < f->var_count; i++) {
        const struct ptxi_var *v = f->vars[i];

        if (v->space == PTXI_SPACE_LOCAL)
            assign_local(l, &l->vars[i], v);
        else if (v->space == PTXI_SPACE_PARAM)
            l->vars[i].area = ptxi_ir_area(l->ir, v->size, PTXI_NONE);
    }
    for (uint32_t i = 0; i < f->inst_count; i++)
        note_variadic_call(l, &f->insts[i]);
}

/* --- all of them --- */

static struct ptxi_lower_home *new_homes(struct ptxi_lower *l, uint32_t count)
{
    struct ptxi_lower_home *h = ARENA_NEW(l->ir->arena, struct ptxi_lower_home, count);

    for (uint32_t i = 0; h && i < count; i++)
        h[i].area = PTXI_NONE;
    return h;
}

bool ptxi_lower_assign_homes(struct ptxi_lower *l)
{
    const struct ptxi_func *f = l->func;

    l->vars = new_homes(l, f->var_count);
    l->params = new_homes(l, f->signature.param_count);
    l->rets = new_homes(l, f->signature.ret_count);
    if (!l->vars || !l->params || !l->rets)
        return false;
    if (f->is_entry)
        assign_kernel_homes(l);
    else
        assign_function_homes(l);
    assign_body_homes(l);
    if (f->is_entry)
        align_dynamic(l);
    l->ir->local_bytes = ptxi_layout_align(l->ir->local_bytes, 16);
    return !l->ir->oom;
}

static struct ptxi_lower_home *home_among(struct ptxi_lower_home *homes, struct ptxi_var *const *vars, uint32_t count,
                                          const struct ptxi_var *var)
{
    if (var->index < count && vars[var->index] == var)
        return &homes[var->index];
    for (uint32_t i = 0; i < count; i++)
        if (vars[i] == var)
            return &homes[i];
    return NULL;
}

struct ptxi_lower_home *ptxi_lower_find_home(struct ptxi_lower *l, const struct ptxi_var *var)
{
    const struct ptxi_signature *s = &l->func->signature;

    if (var->module_scope)
        return NULL;
    if (var->is_ret)
        return home_among(l->rets, s->rets, s->ret_count, var);
    if (var->is_param)
        return home_among(l->params, s->params, s->param_count, var);
    return home_among(l->vars, l->func->vars, l->func->var_count, var);
}
