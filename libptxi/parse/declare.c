/* Names of variables. The name may already be declared in the same module, in a module that is concatenated with it,
 * or in another part of a linked module (PTX ISA, "Linking Directives"). */
#include "parse/statement.h"

enum { MAX_CONST_BYTES = 1 << 16 };

static bool same_initial_value(const struct ptxi_var *a, const struct ptxi_var *b)
{
    return a->init_size == b->init_size && (!a->init_size || !memcmp(a->init, b->init, a->init_size)) &&
           a->reloc_count == b->reloc_count;
}

static bool same_shape(const struct ptxi_var *a, const struct ptxi_var *b)
{
    return a->space == b->space && a->type == b->type && a->vector == b->vector && a->opaque == b->opaque &&
           (a->size == b->size || a->unsized || b->unsized);
}

/* A module-scope name is declared again. Accepted are a declaration and its definition, and the same definition in
 * each of several concatenated modules. All uses of the name refer to the first variable. */
static bool redeclare_var(struct parser *p, struct ptxi_sym *sym, struct ptxi_var *v)
{
    struct ptxi_var *old = sym->kind == PTXI_SYM_VAR ? sym->var : NULL;
    bool declared = old && old->linkage != PTXI_LINK_STATIC && v->linkage != PTXI_LINK_STATIC &&
                    (old->linkage == PTXI_LINK_EXTERN || v->linkage == PTXI_LINK_EXTERN);
    bool copy = old && sym->text != p->text && old->size == v->size && same_initial_value(old, v);
    uint32_t align;

    if (!old || !same_shape(old, v) || (!declared && !copy)) {
        ptxi_parse_error(p, v->loc, "redefinition of '%s'", v->name->s);
        ptxi_parse_note(p, sym->loc, "previous definition is here");
        return false;
    }
    align = old->align > v->align ? old->align : v->align;
    if (!copy && v->linkage != PTXI_LINK_EXTERN) {
        v->index = old->index;
        *old = *v;
    }
    old->align = align;
    return true;
}

/* PTX ISA, "Constant State Space": all variables of a module together have 64 KB. */
static bool reserve_const(struct parser *p, const struct ptxi_var *v)
{
    uint64_t at = (p->const_size + v->align - 1) & ~(uint64_t)(v->align - 1);

    assert(v->align && !(v->align & (v->align - 1)));
    p->const_size = at + v->size;
    if (at + v->size <= MAX_CONST_BYTES)
        return true;
    ptxi_parse_error(p, v->loc, "'%s' exceeds the size of the .const space, which is %d bytes", v->name->s,
                     MAX_CONST_BYTES);
    p->const_size = 0;
    return false;
}

/* Chooses between two declarations of a name in different parts of a linked module. The stronger one wins. */
static int linkage_strength(const struct ptxi_var *v)
{
    switch (v->linkage) {
    case PTXI_LINK_EXTERN: return 0;
    case PTXI_LINK_WEAK: return 1;
    case PTXI_LINK_COMMON: return 2;
    default: return 3;
    }
}

static bool report_difference(struct parser *p, const struct ptxi_var *v, const struct ptxi_var *old, const char *what)
{
    ptxi_parse_error(p, v->loc, "'%s' has a different %s in another module", v->name->s, what);
    ptxi_parse_note(p, old->loc, old->linkage == PTXI_LINK_EXTERN ? "declared here" : "defined here");
    return false;
}

/* Merges a variable with the one of the same name in another part of a linked module. Different types of the same
 * size are accepted, as by the linker of CUDA. */
static bool link_var(struct parser *p, struct ptxi_sym *sym, struct ptxi_var *v)
{
    struct ptxi_var *old = sym->kind == PTXI_SYM_VAR ? sym->var : NULL;
    bool common = old && old->linkage == PTXI_LINK_COMMON && v->linkage == PTXI_LINK_COMMON;
    uint32_t align;

    if (!old || (linkage_strength(old) == 3 && linkage_strength(v) == 3)) {
        ptxi_parse_error(p, v->loc, "'%s' is already defined in another module", v->name->s);
        ptxi_parse_note(p, old ? old->loc : sym->loc, "previous definition is here");
        return false;
    }
    if (old->space != v->space || old->opaque != v->opaque)
        return report_difference(p, v, old, "state space");
    if (old->size != v->size && !old->unsized && !v->unsized && !common)
        return report_difference(p, v, old, "size");
    if (old->type != v->type || old->vector != v->vector) {
        ptxi_parse_warn(p, v->loc, "'%s' has type .%s here and .%s in another module", v->name->s,
                        ptxi_types[v->type].name, ptxi_types[old->type].name);
        ptxi_parse_note(p, old->loc, "declared here");
    }
    align = old->align > v->align ? old->align : v->align;
    if (linkage_strength(v) > linkage_strength(old) || (common && v->size > old->size) ||
        (old->unsized && !v->unsized)) {
        bool defined = linkage_strength(old) == 0 && linkage_strength(v) > 0;

        v->index = old->index;
        *old = *v;
        if (v->space == PTXI_SPACE_CONST && defined && !reserve_const(p, v))
            return false;
    }
    old->align = align;
    return true;
}

bool ptxi_var_declare(struct parser *p, struct ptxi_var *v, const struct ptxi_token *name)
{
    struct ptxi_vec *list = v->module_scope ? &p->vars : &p->fn_vars;
    struct ptxi_entry *e = ptxi_scope_entry(p, name->s, name->n);
    struct ptxi_sym *sym;
    struct ptxi_var **slot;

    assert(v->module_scope == (p->names.depth == 0));
    if (!e)
        return false;
    sym = v->module_scope ? e->meaning[PTXI_CHAIN_EXACT] : NULL;
    if (v->module_scope && !sym && v->linkage != PTXI_LINK_STATIC)
        sym = ptxi_scope_adopt_linked(p, e);
    if (sym)
        return ptxi_parse_linked(p, sym->text) ? link_var(p, sym, v) : redeclare_var(p, sym, v);
    if (!(sym = ptxi_scope_add(p, PTXI_SYM_VAR, PTXI_CHAIN_EXACT, name->s, name->n, v->loc, 0)))
        return false;
    sym->var = v;
    if (v->space == PTXI_SPACE_CONST && v->linkage != PTXI_LINK_EXTERN && !reserve_const(p, v))
        return false;
    v->index = (uint32_t)list->count;
    if (!(slot = ptxi_vec_push(p, list, sizeof *slot)))
        return false;
    *slot = v;
    return true;
}
