#include "api/module/symbols.h"

#include "api/module/device_text.h"
#include "api/module/provider.h"

#include "compile/lower/shared_layout.h"

#include <assert.h>
#include <stdlib.h>

struct walk {
    const struct ptxi_module_ast *tree;
    const struct ptxi_binding *bindings; /* NULL: only functions that the library provides */
    bool *funcs, *vars;    /* visited */
    uint32_t *stack, depth; /* functions with bodies to visit */
    struct ptxi_diag *diags;
    const char *kernel;    /* NULL: check the whole module */
};

static const struct ptxi_func *resolve_alias(const struct ptxi_func *f)
{
    while (f->alias_of)
        f = f->alias_of;
    return f;
}

static void report_undefined(struct walk *w, struct ptxi_loc loc, const char *name)
{
    if (w->kernel)
        ptxi_diag_add(w->diags, PTXI_DIAG_ERROR, loc, "'%s', which kernel %s can reach, is undefined", name, w->kernel);
    else
        ptxi_diag_add(w->diags, PTXI_DIAG_ERROR, loc, "'%s' is undefined", name);
}

static void visit_func(struct walk *w, const struct ptxi_func *f)
{
    void *user;

    f = resolve_alias(f);
    assert(f->index < w->tree->func_count);
    if (w->funcs[f->index])
        return;
    w->funcs[f->index] = true;
    if (f->has_body)
        w->stack[w->depth++] = f->index;
    else if (w->bindings ? !w->bindings[f->index].call
                         : !ptxi_provider_find(f->name->s, &user) && !ptxi_device_text_has(f->name->s))
        report_undefined(w, f->loc, f->name->s);
}

static void visit_var(struct walk *w, const struct ptxi_var *v)
{
    if (!v->module_scope || v->linkage != PTXI_LINK_EXTERN || v->space == PTXI_SPACE_SHARED || w->vars[v->index])
        return;
    w->vars[v->index] = true;
    report_undefined(w, v->loc, v->name->s);
}

static void visit(void *ctx, const struct ptxi_var *var, const struct ptxi_func *func)
{
    if (func)
        visit_func(ctx, func);
    else
        visit_var(ctx, var);
}

/* Visits everything that the kernel, or all functions, can reach. False if there is no memory. */
static bool find_undefined(const struct ptxi_module_ast *tree, const struct ptxi_binding *bindings,
                           const struct ptxi_func *kernel,
                         struct ptxi_diag *diags)
{
    struct walk w = {
        .tree = tree, .bindings = bindings, .funcs = calloc(tree->func_count + 1,
                                                            1), .vars = calloc(tree->var_count + 1, 1),
        .stack = malloc((tree->func_count + 1) * sizeof *w.stack), .diags = diags,
        .kernel = kernel ? kernel->name->s : NULL,
    };
    bool ok = w.funcs && w.vars && w.stack;

    for (uint32_t i = 0; ok && i < tree->func_count; i++)
        if (kernel ? tree->funcs[i] == kernel : tree->funcs[i]->has_body)
            visit_func(&w, tree->funcs[i]);
    while (ok && w.depth)
        ptxi_layout_visit_names(tree->funcs[w.stack[--w.depth]], visit, &w);
    free(w.funcs);
    free(w.vars);
    free(w.stack);
    return ok && !diags->oom;
}

ptxiResult ptxi_symbols_check(const struct ptxi_module_ast *tree, struct ptxi_diag *diags)
{
    uint32_t before = diags->errors;

    if (!find_undefined(tree, NULL, NULL, diags))
        return PTXI_ERROR_OUT_OF_MEMORY;
    return diags->errors > before ? PTXI_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND : PTXI_SUCCESS;
}

static ptxiResult report_to_context(ptxiFunction f, const struct ptxi_diag *diags)
{
    struct ptxi_loc loc = diags->first->loc;
    const struct ptxi_text *first = ptxi_text_at(&f->module->texts, &loc);
    struct ptxi_str text;

    ptxi_str_init(&text, NULL);
    for (const struct ptxi_diag_entry *e = diags->first; e; e = e->next) {
        struct ptxi_loc at = e->loc;
        const struct ptxi_text *t = ptxi_text_at(&f->module->texts, &at);

        ptxi_diag_render_one(&text, t->s, t->size, t->name, at, ptxi_diag_severity_name(e->severity), e->msg);
    }
    ptxiReport r = {
        .result = PTXI_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, .fault = PTXI_FAULT_UNRESOLVED,
        .text = ptxi_str_text(&text),
        .kernel = f->func->name->s, .function = f->func->name->s, .ptxFile = first->name, .ptxLine = loc.line,
        .ptxColumn = loc.col,
    };
    struct ptxi_failure *failure = ptxi_failure_create(&r);

    ptxi_str_free(&text);
    return ptxi_api_return_failure(f->module->ctx, r.result, failure);
}

ptxiResult ptxi_symbols_check_kernel(ptxiFunction f, const struct ptxi_bindings *bindings)
{
    if (atomic_load(&f->resolved) == bindings->id)
        return PTXI_SUCCESS;
    struct ptxi_arena arena;
    struct ptxi_diag diags;
    ptxiResult r = PTXI_SUCCESS;

    ptxi_arena_init(&arena, NULL);
    ptxi_diag_init(&diags, &arena);
    if (!find_undefined(f->module->tree, bindings->at, f->func, &diags))
        r = PTXI_ERROR_OUT_OF_MEMORY;
    else if (diags.errors)
        r = report_to_context(f, &diags);
    else
        atomic_store(&f->resolved, bindings->id);
    ptxi_arena_free(&arena);
    return r;
}
