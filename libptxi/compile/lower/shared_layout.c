#include "compile/lower/shared_layout.h"

#include "base/hash.h"

struct ptxi_place {
    const struct ptxi_var *var;
    uint32_t global;  /* index into layout->globals */
    uint64_t offset;  /* const and shared */
    uint32_t last_user; /* shared: index + 1 of the function that named it last */
    uint32_t uses;      /* shared: index + 1 of its first in names->uses */
    UT_hash_handle hh;
};

struct ptxi_shared_layout {
    uint64_t *tops; /* per function index: the end of what a kernel and what it reaches name; NULL: device functions name nothing */
    struct ptxi_shared_at {
        const struct ptxi_var *var;
        uint32_t kernel, offset;
    } *kernels; /* the module's variables that kernels name, by kernel */
    uint32_t count;
};

static struct ptxi_place *find_place(const struct ptxi_layout *layout, const struct ptxi_var *var)
{
    struct ptxi_place *p;

    HASH_FIND_PTR(layout->places, &var, p);
    return p;
}

static struct ptxi_place *add_place(struct ptxi_layout *layout, struct ptxi_arena *hash_arena, const struct ptxi_var *var)
{
    struct ptxi_place *p = ARENA_NEW(hash_arena, struct ptxi_place, 1);

    if (!p)
        return NULL;
    p->var = var;
    p->global = UINT32_MAX;
    HASH_ADD_PTR(layout->places, var, p);
    return HASH_ADDED(hh, p) ? p : NULL;
}

static bool add_static(struct ptxi_layout *l, struct ptxi_arena *arena, const struct ptxi_var *var, const struct ptxi_func *func)
{
    struct ptxi_place *p = add_place(l, arena, var);

    if (!p)
        return false;
    if (var->space == PTXI_SPACE_GLOBAL) {
        p->global = l->global_count;
        l->globals[l->global_count++] = (struct ptxi_layout_var){ var, func, 0 };
        return true;
    }
    p->offset = ptxi_layout_align(l->const_bytes, var->align);
    l->const_bytes = p->offset + var->size;
    l->consts[l->const_count++] = (struct ptxi_layout_var){ var, func, p->offset };
    return true;
}

static bool is_static(const struct ptxi_var *v)
{
    return v->space == PTXI_SPACE_GLOBAL || v->space == PTXI_SPACE_CONST;
}

static bool add_statics(struct ptxi_layout *l, struct ptxi_arena *arena, struct ptxi_var *const *vars, uint32_t count, const struct ptxi_func *func)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_static(vars[i]) && !add_static(l, arena, vars[i], func))
            return false;
    return true;
}

static uint32_t count_statics(struct ptxi_var *const *vars, uint32_t count)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++)
        n += is_static(vars[i]);
    return n;
}

static void see_operand(const struct ptxi_operand *o, void (*see)(void *, const struct ptxi_var *, const struct ptxi_func *), void *ctx)
{
    if (o->form == PTXI_OPD_VAR)
        see(ctx, o->var, NULL);
    else if (o->form == PTXI_OPD_FUNC)
        see(ctx, NULL, o->func);
    else if (o->form == PTXI_OPD_ADDRESS && o->address->var)
        see(ctx, o->address->var, NULL);
    else if (o->form == PTXI_OPD_CALL && o->call->func)
        see(ctx, NULL, o->call->func);
}

void ptxi_layout_names(const struct ptxi_func *f, void (*see)(void *ctx, const struct ptxi_var *var, const struct ptxi_func *func), void *ctx)
{
    for (uint32_t i = 0; i < f->inst_count; i++) {
        const struct ptxi_inst *inst = &f->insts[i];

        for (unsigned k = 0; k < inst->operand_count; k++) {
            const struct ptxi_operand *o = &inst->operands[k];

            see_operand(o, see, ctx);
            for (unsigned e = 0; o->form == PTXI_OPD_VECTOR && e < o->count; e++)
                see_operand(&o->elements[e], see, ctx);
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

/* What a pass over all bodies finds out about who names what. */
struct names {
    struct ptxi_layout *layout;
    struct ptxi_arena *scratch, *arena;
    const struct ptxi_func *func; /* whose body is being read */
    /* pairs (function, function it names), by function */
    struct edge { uint32_t from, to; } *edges;
    uint32_t edge_count, edge_cap;
    /* pairs (function, shared variable that it names); next: index + 1 of another one of the variable */
    struct use { uint32_t func, next; struct ptxi_place *place; } *uses;
    uint32_t use_count, use_cap;
    uint32_t *user_of, user_count; /* function index -> number among the device functions that name shared variables, or UINT32_MAX */
    bool *reached; /* kernel * user_count + user */
    uint64_t *tops;
    bool *taken; /* functions whose address may be called */
    bool *indirect;
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

static uint32_t func_index(const struct ptxi_func *f)
{
    return f->alias_of ? f->alias_of->index : f->index;
}

static void see_shared(void *ctx, const struct ptxi_var *var, const struct ptxi_func *func)
{
    struct names *n = ctx;
    struct use *p;
    struct ptxi_place *place;

    (void)func;
    if (n->oom || !var || var->space != PTXI_SPACE_SHARED || var->unsized)
        return;
    place = find_place(n->layout, var);
    if (!place)
        place = add_place(n->layout, n->arena, var);
    if (place && place->last_user == n->func->index + 1)
        return;
    p = grow(n, n->uses, n->use_count, &n->use_cap, sizeof *p);
    if (!place || !p) {
        n->oom = true;
        return;
    }
    n->uses = p;
    place->last_user = n->func->index + 1;
    if (!n->func->is_entry && n->user_of[n->func->index] == UINT32_MAX)
        n->user_of[n->func->index] = n->user_count++;
    p[n->use_count++] = (struct use){ n->func->index, place->uses, place };
    place->uses = n->use_count;
}

static void see_func(void *ctx, const struct ptxi_var *var, const struct ptxi_func *func)
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
    p[n->edge_count++] = (struct edge){ n->func->index, func_index(func) };
}

static void take_relocs(struct names *n, const struct ptxi_layout_var *vars, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < vars[i].var->reloc_count; k++)
            if (vars[i].var->relocs[k].func)
                n->taken[func_index(vars[i].var->relocs[k].func)] = true;
}

/* A function that is named anywhere counts as callable through a register: telling calls from addresses is not worth
 * it here. */
static void read_calls(struct names *n)
{
    const struct ptxi_module_tree *tree = n->layout->tree;

    for (uint32_t i = 0; i < tree->func_count && !n->oom; i++) {
        n->func = tree->funcs[i];
        ptxi_layout_names(n->func, see_func, n);
        n->indirect[i] = calls_indirect(n->func);
    }
    for (uint32_t i = 0; i < n->edge_count; i++)
        n->taken[n->edges[i].to] = true;
    take_relocs(n, n->layout->globals, n->layout->global_count);
    take_relocs(n, n->layout->consts, n->layout->const_count);
}

struct reach {
    uint32_t *stack, depth;
    bool *seen;
};

static void reach_one(struct reach *r, uint32_t func)
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
    reach_one(r, func);
    while (r->depth) {
        uint32_t f = r->stack[--r->depth];

        for (uint32_t e = first_edge[f]; e < first_edge[f + 1]; e++)
            reach_one(r, n->edges[e].to);
        for (uint32_t g = 0; n->indirect[f] && g < count; g++)
            if (n->taken[g])
                reach_one(r, g);
    }
}

/* Which kernels reach which user. */
static bool *read_reach(struct names *n)
{
    const struct ptxi_module_tree *tree = n->layout->tree;
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

/* Whether the variable of these uses is one of the kernel's, by its own text or by that of a function it can reach. */
static bool takes(const struct names *n, uint32_t first_use, uint32_t kernel)
{
    for (uint32_t u = first_use; u; u = n->uses[u - 1].next) {
        uint32_t f = n->uses[u - 1].func;

        if (f == kernel || (n->user_of[f] != UINT32_MAX && n->reached[(size_t)kernel * n->user_count + n->user_of[f]]))
            return true;
    }
    return false;
}

static bool is_fixed(const struct names *n, const struct ptxi_place *place)
{
    for (uint32_t u = place->uses; u; u = n->uses[u - 1].next)
        if (n->user_of[n->uses[u - 1].func] != UINT32_MAX)
            return true;
    return false;
}

static void record(struct ptxi_shared_layout *s, const struct ptxi_var *var, uint32_t kernel, uint64_t offset)
{
    s->kernels[s->count++] = (struct ptxi_shared_at){ var, kernel, (uint32_t)offset };
}

/* One that device functions name. */
static void place_fixed(struct names *n, struct ptxi_place *place)
{
    const struct ptxi_module_tree *tree = n->layout->tree;
    uint64_t at = n->layout->shared_base;

    for (uint32_t k = 0; k < tree->func_count; k++)
        if (tree->funcs[k]->is_entry && n->tops[k] > at && takes(n, place->uses, k))
            at = n->tops[k];
    place->offset = at = ptxi_layout_align(at, place->var->align);
    for (uint32_t k = 0; k < tree->func_count; k++)
        if (tree->funcs[k]->is_entry && takes(n, place->uses, k))
            n->tops[k] = at + place->var->size;
    for (uint32_t u = place->uses; u; u = n->uses[u - 1].next)
        if (tree->funcs[n->uses[u - 1].func]->is_entry)
            record(n->layout->shared, place->var, n->uses[u - 1].func, at);
}

static void place_one(struct names *n, const struct ptxi_var *var)
{
    struct ptxi_place *place = var->space == PTXI_SPACE_SHARED && !var->unsized ? find_place(n->layout, var) : NULL;

    if (place && is_fixed(n, place))
        place_fixed(n, place);
    else if (place)
        for (uint32_t u = place->uses; u; u = n->uses[u - 1].next)
            record(n->layout->shared, var, n->uses[u - 1].func, ptxi_layout_give(&n->tops[n->uses[u - 1].func], var));
}

/* What a function names of the shared variables. A kernel's own ones are the first in its memory. */
static void read_shared(struct names *n, const struct ptxi_func *f)
{
    n->func = f;
    ptxi_layout_names(f, see_shared, n);
    for (uint32_t i = 0; f->is_entry && !n->oom && i < f->var_count; i++) {
        const struct ptxi_place *place = f->vars[i]->space == PTXI_SPACE_SHARED ? find_place(n->layout, f->vars[i]) : NULL;

        if (place && place->uses)
            ptxi_layout_give(&n->tops[f->index], f->vars[i]);
    }
}

static bool read_all_shared(struct names *n, bool kernels)
{
    const struct ptxi_module_tree *tree = n->layout->tree;

    for (uint32_t i = 0; i < tree->func_count && !n->oom; i++)
        if (tree->funcs[i]->is_entry == kernels && tree->funcs[i]->has_body)
            read_shared(n, tree->funcs[i]);
    return !n->oom;
}

static bool place_all_shared(struct names *n)
{
    const struct ptxi_module_tree *tree = n->layout->tree;
    uint32_t count = tree->func_count;

    n->tops = ARENA_NEW(n->arena, uint64_t, count);
    n->taken = ARENA_NEW(n->scratch, bool, count);
    n->indirect = ARENA_NEW(n->scratch, bool, count);
    if (!n->tops || !n->taken || !n->indirect)
        return false;
    for (uint32_t f = 0; f < count; f++)
        n->tops[f] = n->layout->shared_base;
    read_calls(n);
    n->reached = n->oom ? NULL : read_reach(n);
    if (!n->reached || !read_all_shared(n, true))
        return false;
    n->layout->shared->kernels = ARENA_NEW(n->arena, struct ptxi_shared_at, n->use_count);
    if (!n->layout->shared->kernels)
        return false;
    for (uint32_t i = 0; i < tree->var_count; i++)
        place_one(n, tree->vars[i]);
    for (uint32_t f = 0; f < count; f++)
        for (uint32_t i = 0; !tree->funcs[f]->is_entry && i < tree->funcs[f]->var_count; i++)
            place_one(n, tree->funcs[f]->vars[i]);
    n->layout->shared->tops = n->tops;
    return true;
}

static bool layout_shared(struct ptxi_layout *l, struct ptxi_arena *arena, struct ptxi_arena *scratch)
{
    const struct ptxi_module_tree *tree = l->tree;
    struct names n = { .layout = l, .scratch = scratch, .arena = arena };

    l->shared = ARENA_NEW(arena, struct ptxi_shared_layout, 1);
    n.user_of = ARENA_NEW(scratch, uint32_t, tree->func_count);
    if (!l->shared || !n.user_of)
        return false;
    memset(n.user_of, 0xff, tree->func_count * sizeof *n.user_of);
    return read_all_shared(&n, false) && (!n.use_count || place_all_shared(&n));
}

static bool is_of_clusters(const struct ptxi_match *m)
{
    bool is = m->row->target_count && m->row->targets[0].sm >= 90;

    for (unsigned s = 0; s < m->row->slot_count; s++)
        is |= m->words[s] == PTXI_Q_cluster || m->words[s] == PTXI_Q_shared__cluster;
    return is;
}

/* Whether the module could tell which CTA of a cluster a shared address belongs to. If not, its addresses are the same in all. */
static bool speaks_of_clusters(const struct ptxi_module_tree *tree)
{
    bool speaks = false;

    for (uint32_t f = 0; !speaks && f < tree->func_count; f++)
        for (uint32_t i = 0; !speaks && i < tree->funcs[f]->inst_count; i++)
            speaks = is_of_clusters(tree->funcs[f]->insts[i].match);
    return speaks;
}

struct ptxi_layout *ptxi_layout_module(const struct ptxi_module_tree *tree, uint32_t shared_base, struct ptxi_arena *arena)
{
    struct ptxi_layout *l = ARENA_NEW(arena, struct ptxi_layout, 1);
    uint32_t count = count_statics(tree->vars, tree->var_count);
    struct ptxi_arena scratch;
    bool ok;

    for (uint32_t i = 0; i < tree->func_count; i++)
        count += count_statics(tree->funcs[i]->vars, tree->funcs[i]->var_count);
    if (!l)
        return NULL;
    l->tree = tree;
    l->shared_base = shared_base;
    l->in_clusters = speaks_of_clusters(tree);
    l->consts = ARENA_NEW(arena, struct ptxi_layout_var, count);
    l->globals = ARENA_NEW(arena, struct ptxi_layout_var, count);
    if (!l->consts || !l->globals || !add_statics(l, arena, tree->vars, tree->var_count, NULL))
        return NULL;
    for (uint32_t i = 0; i < tree->func_count; i++)
        if (!add_statics(l, arena, tree->funcs[i]->vars, tree->funcs[i]->var_count, tree->funcs[i]))
            return NULL;
    ptxi_arena_init(&scratch, arena->alloc);
    ok = layout_shared(l, arena, &scratch);
    ptxi_arena_free(&scratch);
    return ok ? l : NULL;
}

uint32_t ptxi_layout_global(const struct ptxi_layout *layout, const struct ptxi_var *var)
{
    const struct ptxi_place *p = find_place(layout, var);

    return p ? p->global : UINT32_MAX;
}

uint64_t ptxi_layout_const(const struct ptxi_layout *layout, const struct ptxi_var *var)
{
    const struct ptxi_place *p = find_place(layout, var);

    return p ? p->offset : 0;
}

uint32_t ptxi_layout_shared(const struct ptxi_layout *layout, const struct ptxi_var *var)
{
    const struct ptxi_place *p = find_place(layout, var);

    return p ? (uint32_t)p->offset : 0;
}

bool ptxi_layout_shared_of(const struct ptxi_layout *layout, const struct ptxi_func *kernel,
                           void (*see)(void *ctx, const struct ptxi_var *var, uint32_t offset), void *ctx, uint64_t *top)
{
    const struct ptxi_shared_layout *s = layout->shared;

    if (!s->tops)
        return false;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->kernels[i].kernel == kernel->index)
            see(ctx, s->kernels[i].var, s->kernels[i].offset);
    *top = s->tops[kernel->index];
    return true;
}

uint32_t ptxi_layout_param(const struct ptxi_func *func, uint32_t i)
{
    uint64_t at = 0;

    for (uint32_t k = 0; k < func->signature.param_count; k++) {
        const struct ptxi_var *v = func->signature.params[k];

        at = ptxi_layout_align(at, v->align);
        if (k == i)
            return (uint32_t)at;
        at += v->size;
    }
    return (uint32_t)at;
}

uint32_t ptxi_layout_words(struct ptxi_var *const *vars, uint32_t count)
{
    uint64_t words = 0;

    for (uint32_t i = 0; i < count; i++)
        words += (ptxi_layout_passed(vars[i]) + 3) / 4;
    return (uint32_t)words;
}

uint64_t ptxi_layout_passed(const struct ptxi_var *v)
{
    return v->unsized ? 8 : v->size;
}
