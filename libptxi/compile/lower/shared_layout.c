#include "compile/lower/shared_layout.h"

#include "base/arena.h"
#include "isa/isa.h"

#include <assert.h>
#include <string.h>

struct ptxi_shared_layout {
    /* by function index: the end of the variables that a kernel and the functions that it reaches name; NULL: device
     * functions name no variables */
    uint64_t *tops;
    struct ptxi_kernel_variable {
        const struct ptxi_var *var;
        uint32_t kernel, offset;
    } *kernels; /* the module's variables that kernels name, by kernel */
    uint32_t count;
};

struct ptxi_layout_entry *ptxi_layout_find_entry(const struct ptxi_layout *layout, const struct ptxi_var *var)
{
    struct ptxi_layout_entry *e;

    HASH_FIND_PTR(layout->entries, &var, e);
    return e;
}

struct ptxi_layout_entry *ptxi_layout_add_entry(struct ptxi_layout *layout, struct ptxi_arena *arena,
                                                const struct ptxi_var *var)
{
    struct ptxi_arena *hash_arena = arena;
    struct ptxi_layout_entry *e = ARENA_NEW(hash_arena, struct ptxi_layout_entry, 1);

    if (!e)
        return NULL;
    e->var = var;
    e->global = UINT32_MAX;
    HASH_ADD_PTR(layout->entries, var, e);
    return HASH_ADDED(hh, e) ? e : NULL;
}

/* --- names in a body --- */

static void visit_operand(const struct ptxi_operand *o, ptxi_name_visitor *visit, void *ctx)
{
    if (o->form == PTXI_OPD_VAR)
        visit(ctx, o->var, NULL);
    else if (o->form == PTXI_OPD_FUNC)
        visit(ctx, NULL, o->func);
    else if (o->form == PTXI_OPD_ADDRESS && o->address->var)
        visit(ctx, o->address->var, NULL);
    else if (o->form == PTXI_OPD_CALL && o->call->func)
        visit(ctx, NULL, o->call->func);
}

void ptxi_layout_visit_names(const struct ptxi_func *f, ptxi_name_visitor *visit, void *ctx)
{
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptxi_inst *inst = &f->insts[i];

        for (unsigned k = 0; k < inst->operand_count; k++) {
            const struct ptxi_operand *o = &inst->operands[k];

            visit_operand(o, visit, ctx);
            for (unsigned e = 0; o->form == PTXI_OPD_VECTOR && e < o->count; e++)
                visit_operand(&o->elements[e], visit, ctx);
        }
    }
}

/* Whether the body of f calls through a register. */
static bool calls_indirect(const struct ptxi_func *f)
{
    for (uint32_t i = 0; i < f->inst_count; i++)
        for (unsigned k = 0; k < f->insts[i].operand_count; k++)
            if (f->insts[i].operands[k].form == PTXI_OPD_CALL && !f->insts[i].operands[k].call->func)
                return true;
    return false;
}

/* The names in all bodies of the module. A "user" is a device function that names shared variables. */
struct names {
    struct ptxi_layout *layout;
    struct ptxi_arena *scratch, *arena;
    const struct ptxi_func *func; /* the function that is being read */
    struct edge {
        uint32_t from, to;
    } *edges; /* pairs of a function and a function that it names, by function */
    uint32_t edge_count, edge_cap;
    struct use {
        uint32_t func;
        uint32_t next; /* index + 1 of the next use of the same variable */
        struct ptxi_layout_entry *entry;
    } *uses; /* pairs of a function and a shared variable that it names */
    uint32_t use_count, use_cap;
    uint32_t *user_of; /* function index -> number of the user, or UINT32_MAX */
    uint32_t user_count;
    bool *reached;  /* kernel * user_count + user */
    uint64_t *tops;
    bool *taken;    /* per function: its address may be called */
    bool *indirect; /* per function: it calls through a register */
    bool oom;
};

static void *grow(struct names *n, void *old, uint32_t count, uint32_t *cap, size_t size)
{
    uint32_t new_cap = *cap ? *cap * 2 : 64;
    void *p;

    if (count < *cap)
        return old;
    p = ptxi_arena_array(n->scratch, new_cap, size, alignof(max_align_t));
    if (!p) {
        n->oom = true;
        return NULL;
    }
    if (count)
        memcpy(p, old, count * size);
    *cap = new_cap;
    return p;
}

/* --- uses of shared variables --- */

static void note_use(void *ctx, const struct ptxi_var *var, const struct ptxi_func *func)
{
    struct names *n = ctx;
    struct use *p;
    struct ptxi_layout_entry *entry;

    (void)func;
    if (n->oom || !var || var->space != PTXI_SPACE_SHARED || var->unsized)
        return;
    entry = ptxi_layout_find_entry(n->layout, var);
    if (!entry)
        entry = ptxi_layout_add_entry(n->layout, n->arena, var);
    if (entry && entry->last_user == n->func->index + 1)
        return;
    p = grow(n, n->uses, n->use_count, &n->use_cap, sizeof *p);
    if (!entry || !p) {
        n->oom = true;
        return;
    }
    n->uses = p;
    entry->last_user = n->func->index + 1;
    if (!n->func->is_entry && n->user_of[n->func->index] == UINT32_MAX)
        n->user_of[n->func->index] = n->user_count++;
    p[n->use_count++] = (struct use){ n->func->index, entry->first_use, entry };
    entry->first_use = n->use_count;
}

/* Reads the shared variables that a function names. A kernel's own variables come first in its memory. */
static void read_uses(struct names *n, const struct ptxi_func *f)
{
    n->func = f;
    ptxi_layout_visit_names(f, note_use, n);
    for (uint32_t i = 0; f->is_entry && !n->oom && i < f->var_count; i++) {
        const struct ptxi_var *var = f->vars[i];
        const struct ptxi_layout_entry *entry = var->space == PTXI_SPACE_SHARED
            ? ptxi_layout_find_entry(n->layout, var) : NULL;

        if (entry && entry->first_use)
            ptxi_layout_assign(&n->tops[f->index], var);
    }
}

static bool read_all_uses(struct names *n, bool kernels)
{
    const struct ptxi_module_ast *tree = n->layout->tree;

    for (uint32_t i = 0; i < tree->func_count && !n->oom; i++)
        if (tree->funcs[i]->is_entry == kernels && tree->funcs[i]->has_body)
            read_uses(n, tree->funcs[i]);
    return !n->oom;
}

/* --- the call graph --- */

static void note_edge(void *ctx, const struct ptxi_var *var, const struct ptxi_func *func)
{
    struct names *n = ctx;
    struct edge *p;

    (void)var;
    if (n->oom || !func)
        return;
    p = grow(n, n->edges, n->edge_count, &n->edge_cap, sizeof *p);
    if (!p)
        return;
    n->edges = p;
    p[n->edge_count++] = (struct edge){ n->func->index, ptxi_func_called(func) };
}

/* Notes functions that are named in initial values. */
static void note_initializers(struct names *n, const struct ptxi_layout_var *vars, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < vars[i].var->reloc_count; k++)
            if (vars[i].var->relocs[k].func)
                n->taken[ptxi_func_called(vars[i].var->relocs[k].func)] = true;
}

/* Every function that is named counts as callable through a register. It would not pay to distinguish calls from
 * addresses here. */
static void read_calls(struct names *n)
{
    const struct ptxi_module_ast *tree = n->layout->tree;

    for (uint32_t i = 0; i < tree->func_count && !n->oom; i++) {
        n->func = tree->funcs[i];
        ptxi_layout_visit_names(n->func, note_edge, n);
        n->indirect[i] = calls_indirect(n->func);
    }
    for (uint32_t i = 0; i < n->edge_count; i++)
        n->taken[n->edges[i].to] = true;
    note_initializers(n, n->layout->globals, n->layout->global_count);
    note_initializers(n, n->layout->consts, n->layout->const_count);
}

/* A search through the call graph. */
struct reach {
    uint32_t *stack, depth;
    bool *seen;
};

static void reach_function(struct reach *r, uint32_t func)
{
    if (!r->seen[func]) {
        r->seen[func] = true;
        r->stack[r->depth++] = func;
    }
}

static void reach_from(const struct names *n, struct reach *r, const uint32_t *first_edge, uint32_t func)
{
    uint32_t count = n->layout->tree->func_count;

    memset(r->seen, 0, count * sizeof *r->seen);
    reach_function(r, func);
    while (r->depth) {
        uint32_t f = r->stack[--r->depth];

        for (uint32_t e = first_edge[f]; e < first_edge[f + 1]; e++)
            reach_function(r, n->edges[e].to);
        for (uint32_t g = 0; n->indirect[f] && g < count; g++)
            if (n->taken[g])
                reach_function(r, g);
    }
}

/* Returns a table of the users that each kernel reaches. NULL if there is no memory. */
static bool *find_reached_users(struct names *n)
{
    const struct ptxi_module_ast *tree = n->layout->tree;
    uint32_t count = tree->func_count;
    bool *reached = ptxi_arena_array(n->scratch, count, n->user_count, 1);
    uint32_t *first_edge = ARENA_NEW(n->scratch, uint32_t, count + 1);
    struct reach r = { ARENA_NEW(n->scratch, uint32_t, count + 1), 0, ARENA_NEW(n->scratch, bool, count) };

    if (!reached || !first_edge || !r.stack || !r.seen)
        return NULL;
    for (uint32_t e = 0; e < n->edge_count; e++)
        first_edge[n->edges[e].from + 1]++;
    for (uint32_t f = 0; f < count; f++)
        first_edge[f + 1] += first_edge[f];
    for (uint32_t f = 0; f < count; f++) {
        if (!tree->funcs[f]->is_entry)
            continue;
        reach_from(n, &r, first_edge, f);
        for (uint32_t g = 0; g < count; g++)
            if (r.seen[g] && n->user_of[g] != UINT32_MAX)
                reached[(size_t)f * n->user_count + n->user_of[g]] = true;
    }
    return reached;
}

/* --- offsets --- */

/* Whether the kernel, or a function that it can reach, is among these uses of a variable. */
static bool is_used_by(const struct names *n, uint32_t first_use, uint32_t kernel)
{
    for (uint32_t u = first_use; u; u = n->uses[u - 1].next) {
        uint32_t f = n->uses[u - 1].func;

        if (f == kernel || (n->user_of[f] != UINT32_MAX && n->reached[(size_t)kernel * n->user_count + n->user_of[f]]))
            return true;
    }
    return false;
}

static bool is_named_by_function(const struct names *n, const struct ptxi_layout_entry *entry)
{
    for (uint32_t u = entry->first_use; u; u = n->uses[u - 1].next)
        if (n->user_of[n->uses[u - 1].func] != UINT32_MAX)
            return true;
    return false;
}

static void record_offset(const struct names *n, const struct ptxi_var *var, uint32_t kernel, uint64_t offset)
{
    struct ptxi_shared_layout *s = n->layout->shared;

    assert(s->count < n->use_count);
    s->kernels[s->count++] = (struct ptxi_kernel_variable){ var, kernel, (uint32_t)offset };
}

/* A variable that device functions name: one offset for all kernels. */
static void assign_common_offset(struct names *n, struct ptxi_layout_entry *entry)
{
    const struct ptxi_module_ast *tree = n->layout->tree;
    uint64_t at = n->layout->shared_base;

    for (uint32_t k = 0; k < tree->func_count; k++)
        if (tree->funcs[k]->is_entry && n->tops[k] > at && is_used_by(n, entry->first_use, k))
            at = n->tops[k];
    entry->offset = at = ptxi_layout_align(at, entry->var->align);
    for (uint32_t k = 0; k < tree->func_count; k++)
        if (tree->funcs[k]->is_entry && is_used_by(n, entry->first_use, k))
            n->tops[k] = at + entry->var->size;
    for (uint32_t u = entry->first_use; u; u = n->uses[u - 1].next)
        if (tree->funcs[n->uses[u - 1].func]->is_entry)
            record_offset(n, entry->var, n->uses[u - 1].func, at);
}

static void assign_offset(struct names *n, const struct ptxi_var *var)
{
    struct ptxi_layout_entry *entry = NULL;

    if (var->space == PTXI_SPACE_SHARED && !var->unsized)
        entry = ptxi_layout_find_entry(n->layout, var);
    if (!entry)
        return;
    if (is_named_by_function(n, entry)) {
        assign_common_offset(n, entry);
        return;
    }
    for (uint32_t u = entry->first_use; u; u = n->uses[u - 1].next) {
        uint32_t kernel = n->uses[u - 1].func;

        record_offset(n, var, kernel, ptxi_layout_assign(&n->tops[kernel], var));
    }
}

static void assign_all_offsets(struct names *n)
{
    const struct ptxi_module_ast *tree = n->layout->tree;

    for (uint32_t i = 0; i < tree->var_count; i++)
        assign_offset(n, tree->vars[i]);
    for (uint32_t f = 0; f < tree->func_count; f++)
        for (uint32_t i = 0; !tree->funcs[f]->is_entry && i < tree->funcs[f]->var_count; i++)
            assign_offset(n, tree->funcs[f]->vars[i]);
}

static bool compute_common_layout(struct names *n)
{
    uint32_t count = n->layout->tree->func_count;

    n->tops = ARENA_NEW(n->arena, uint64_t, count);
    n->taken = ARENA_NEW(n->scratch, bool, count);
    n->indirect = ARENA_NEW(n->scratch, bool, count);
    if (!n->tops || !n->taken || !n->indirect)
        return false;
    for (uint32_t f = 0; f < count; f++)
        n->tops[f] = n->layout->shared_base;
    read_calls(n);
    n->reached = n->oom ? NULL : find_reached_users(n);
    if (!n->reached || !read_all_uses(n, true))
        return false;
    n->layout->shared->kernels = ARENA_NEW(n->arena, struct ptxi_kernel_variable, n->use_count);
    if (!n->layout->shared->kernels)
        return false;
    assign_all_offsets(n);
    n->layout->shared->tops = n->tops;
    return true;
}

bool ptxi_shared_layout_compute(struct ptxi_layout *layout, struct ptxi_arena *arena, struct ptxi_arena *scratch)
{
    uint32_t count = layout->tree->func_count;
    struct names n = { .layout = layout, .scratch = scratch, .arena = arena };

    layout->shared = ARENA_NEW(arena, struct ptxi_shared_layout, 1);
    n.user_of = ARENA_NEW(scratch, uint32_t, count);
    if (!layout->shared || !n.user_of)
        return false;
    memset(n.user_of, 0xff, count * sizeof *n.user_of);
    /* without users every kernel assigns the offsets itself */
    return read_all_uses(&n, false) && (!n.use_count || compute_common_layout(&n));
}

uint32_t ptxi_shared_layout_offset(const struct ptxi_layout *layout, const struct ptxi_var *var)
{
    const struct ptxi_layout_entry *e = ptxi_layout_find_entry(layout, var);

    return e ? (uint32_t)e->offset : 0;
}

bool ptxi_shared_layout_visit(const struct ptxi_layout *layout, const struct ptxi_func *kernel,
                              void (*visit)(void *ctx, const struct ptxi_var *var, uint32_t offset), void *ctx,
                                   uint64_t *top)
{
    const struct ptxi_shared_layout *s = layout->shared;

    if (!s->tops)
        return false;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->kernels[i].kernel == kernel->index)
            visit(ctx, s->kernels[i].var, s->kernels[i].offset);
    *top = s->tops[kernel->index];
    return true;
}
