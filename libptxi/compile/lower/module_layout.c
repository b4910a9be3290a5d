/* The variables of a module with static storage: which exist, and where they are in the constant bank and in shared
 * memory. */
#include "compile/lower/layout.h"

#include "compile/lower/shared_layout.h"
#include "isa/isa.h"
#include "isa/op.gen.h"

#include <assert.h>

/* --- variables with static storage --- */

static bool add_static(struct ptxi_layout *layout, struct ptxi_arena *arena, const struct ptxi_var *var,
                       const struct ptxi_func *func)
{
    struct ptxi_layout_entry *e = ptxi_layout_add_entry(layout, arena, var);

    if (!e)
        return false;
    if (var->space == PTXI_SPACE_GLOBAL) {
        e->global = layout->global_count;
        layout->globals[layout->global_count++] = (struct ptxi_layout_var){ var, func, 0 };
        return true;
    }
    assert(var->space == PTXI_SPACE_CONST);
    e->offset = ptxi_layout_align(layout->const_bytes, var->align);
    layout->const_bytes = e->offset + var->size;
    layout->consts[layout->const_count++] = (struct ptxi_layout_var){ var, func, e->offset };
    return true;
}

static bool is_static(const struct ptxi_var *v)
{
    return v->space == PTXI_SPACE_GLOBAL || v->space == PTXI_SPACE_CONST;
}

static bool add_statics(struct ptxi_layout *layout, struct ptxi_arena *arena, struct ptxi_var *const *vars,
                        uint32_t count, const struct ptxi_func *func)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_static(vars[i]) && !add_static(layout, arena, vars[i], func))
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

static bool add_all_statics(struct ptxi_layout *layout, struct ptxi_arena *arena)
{
    const struct ptxi_module_ast *tree = layout->tree;
    uint32_t count = count_statics(tree->vars, tree->var_count);

    for (uint32_t i = 0; i < tree->func_count; i++)
        count += count_statics(tree->funcs[i]->vars, tree->funcs[i]->var_count);
    layout->consts = ARENA_NEW(arena, struct ptxi_layout_var, count);
    layout->globals = ARENA_NEW(arena, struct ptxi_layout_var, count);
    if (!layout->consts || !layout->globals || !add_statics(layout, arena, tree->vars, tree->var_count, NULL))
        return false;
    for (uint32_t i = 0; i < tree->func_count; i++)
        if (!add_statics(layout, arena, tree->funcs[i]->vars, tree->funcs[i]->var_count, tree->funcs[i]))
            return false;
    assert(layout->const_count + layout->global_count == count);
    return true;
}

uint32_t ptxi_layout_global(const struct ptxi_layout *layout, const struct ptxi_var *var)
{
    const struct ptxi_layout_entry *e = ptxi_layout_find_entry(layout, var);

    return e ? e->global : UINT32_MAX;
}

uint64_t ptxi_layout_const(const struct ptxi_layout *layout, const struct ptxi_var *var)
{
    const struct ptxi_layout_entry *e = ptxi_layout_find_entry(layout, var);

    return e ? e->offset : 0;
}

/* --- the module --- */

static bool needs_clusters(const struct ptxi_match *m)
{
    if (m->row->target_count && m->row->targets[0].sm >= 90)
        return true;
    return ptxi_isa_has_word(m, PTXI_Q_cluster) || ptxi_isa_has_word(m, PTXI_Q_shared__cluster);
}

/* Whether the module could find out to which CTA of a cluster a shared address belongs. If not, the addresses of all
 * CTAs are the same. */
static bool uses_clusters(const struct ptxi_module_ast *tree)
{
    for (uint32_t f = 0; f < tree->func_count; f++)
        for (uint32_t i = 0; i < tree->funcs[f]->inst_count; i++)
            if (needs_clusters(tree->funcs[f]->insts[i].match))
                return true;
    return false;
}

struct ptxi_layout *ptxi_layout_module(const struct ptxi_module_ast *tree, uint32_t shared_base,
                                       struct ptxi_arena *arena)
{
    struct ptxi_layout *layout = ARENA_NEW(arena, struct ptxi_layout, 1);
    struct ptxi_arena scratch;
    bool ok;

    if (!layout)
        return NULL;
    layout->tree = tree;
    layout->shared_base = shared_base;
    layout->in_clusters = uses_clusters(tree);
    if (!add_all_statics(layout, arena))
        return NULL;
    ptxi_arena_init(&scratch, arena->alloc);
    ok = ptxi_shared_layout_compute(layout, arena, &scratch);
    ptxi_arena_free(&scratch);
    return ok ? layout : NULL;
}

/* --- parameters --- */

uint32_t ptxi_layout_param(const struct ptxi_func *func, uint32_t i)
{
    uint64_t at = 0;

    for (uint32_t k = 0; k < func->signature.param_count; k++) {
        uint32_t offset = ptxi_layout_assign(&at, func->signature.params[k]);

        if (k == i)
            return offset;
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
