/* Names of variables, which may have been declared before: in the same text, in another one that is concatenated with it, or in another part of a
 * linked module (PTX ISA, "Linking Directives"). */
#include "parse/var.h"

static bool same_bytes(const struct ptxi_var *a, const struct ptxi_var *b)
{
    return a->init_size == b->init_size && (!a->init_size || !memcmp(a->init, b->init, a->init_size)) && a->reloc_count == b->reloc_count;
}

static bool same_shape(const struct ptxi_var *a, const struct ptxi_var *b)
{
    return a->space == b->space && a->type == b->type && a->vector == b->vector && a->opaque == b->opaque && (a->size == b->size || a->unsized || b->unsized);
}

/* A module-scope name declared again: a declaration and its definition, or the same definition in each of several modules
 * in one text. The variable that names refer to stays the first. */
static bool merge(struct parser *p, struct ptxi_sym *sym, struct ptxi_var *v)
{
    struct ptxi_var *old = sym->kind == PTXI_SYM_VAR ? sym->var : NULL;
    bool declared = old && old->linkage != PTXI_LINK_STATIC && v->linkage != PTXI_LINK_STATIC &&
                    (old->linkage == PTXI_LINK_EXTERN || v->linkage == PTXI_LINK_EXTERN);
    bool copy = old && sym->text != p->text && old->size == v->size && same_bytes(old, v);
    uint32_t align;

    if (!old || !same_shape(old, v) || (!declared && !copy)) {
        ptxi_parse_error(p, v->loc, "'%s' is already defined", v->name->s);
        ptxi_parse_note(p, sym->loc, "first defined here");
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

/* PTX ISA, "Constant State Space": 64 KB for all of the module's variables together. */
static bool add_const(struct parser *p, const struct ptxi_var *v)
{
    uint64_t at = (p->const_size + v->align - 1) & ~(uint64_t)(v->align - 1);

    p->const_size = at + v->size;
    if (at + v->size <= PTXI_MAX_CONST)
        return true;
    ptxi_parse_error(p, v->loc, ".const variables exceed %d bytes with '%s'", PTXI_MAX_CONST, v->name->s);
    p->const_size = 0;
    return false;
}

/* How much a declaration in one part of a linked module counts against those of others. */
static int strength(const struct ptxi_var *v)
{
    switch (v->linkage) {
    case PTXI_LINK_EXTERN: return 0;
    case PTXI_LINK_WEAK: return 1;
    case PTXI_LINK_COMMON: return 2;
    default: return 3;
    }
}

static bool differs(struct parser *p, const struct ptxi_var *v, const struct ptxi_var *old, const char *what)
{
    ptxi_parse_error(p, v->loc, "%s of '%s' differs from that in another module", what, v->name->s);
    ptxi_parse_note(p, old->loc, old->linkage == PTXI_LINK_EXTERN ? "declared here" : "defined here");
    return false;
}

/* A name that another part of a linked module has declared. What a type is called does not matter to the linker. */
static bool link_var(struct parser *p, struct ptxi_sym *sym, struct ptxi_var *v)
{
    struct ptxi_var *old = sym->kind == PTXI_SYM_VAR ? sym->var : NULL;
    bool common = old && old->linkage == PTXI_LINK_COMMON && v->linkage == PTXI_LINK_COMMON;
    uint32_t align;

    if (!old || (strength(old) == 3 && strength(v) == 3)) {
        ptxi_parse_error(p, v->loc, "'%s' is already defined in another module", v->name->s);
        ptxi_parse_note(p, old ? old->loc : sym->loc, "first defined here");
        return false;
    }
    if (old->space != v->space || old->opaque != v->opaque)
        return differs(p, v, old, "state space");
    if (old->size != v->size && !old->unsized && !v->unsized && !common)
        return differs(p, v, old, "size");
    if (old->type != v->type || old->vector != v->vector) {
        ptxi_parse_warn(p, v->loc, "'%s' has type .%s, and .%s in another module", v->name->s, ptxi_types[v->type].name,
                        ptxi_types[old->type].name);
        ptxi_parse_note(p, old->loc, "declared here");
    }
    align = old->align > v->align ? old->align : v->align;
    if (strength(v) > strength(old) || (common && v->size > old->size) || (old->unsized && !v->unsized)) {
        bool defined = strength(old) == 0 && strength(v) > 0;

        v->index = old->index;
        *old = *v;
        if (v->space == PTXI_SPACE_CONST && defined && !add_const(p, v))
            return false;
    }
    old->align = align;
    return true;
}

bool ptxi_var_keep(struct parser *p, struct ptxi_var *v, const struct ptxi_token *name)
{
    struct ptxi_vec *list = v->module_scope ? &p->vars : &p->fn_vars;
    struct ptxi_entry *e = ptxi_scope_entry(p, name->s, name->n);
    struct ptxi_sym *sym;
    struct ptxi_var **slot;

    if (!e)
        return false;
    sym = v->module_scope ? e->meaning[PTXI_CHAIN_EXACT] : NULL;
    if (v->module_scope && !sym && v->linkage != PTXI_LINK_STATIC)
        sym = ptxi_scope_take_up(p, e);
    if (sym)
        return ptxi_parse_linked(p, sym->text) ? link_var(p, sym, v) : merge(p, sym, v);
    if (!(sym = ptxi_scope_add(p, PTXI_SYM_VAR, PTXI_CHAIN_EXACT, name->s, name->n, v->loc, 0)))
        return false;
    sym->var = v;
    if (v->space == PTXI_SPACE_CONST && v->linkage != PTXI_LINK_EXTERN && !add_const(p, v))
        return false;
    v->index = (uint32_t)list->count;
    if (!(slot = ptxi_vec_push(p, list, sizeof *slot)))
        return false;
    *slot = v;
    return true;
}
