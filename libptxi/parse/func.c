/* Functions and kernels: bodies, declarations and definitions, aliases (PTX ISA, "Kernel and Function Directives"). */
#include "parse/statement.h"

/* ---- bodies ---- */

static bool declare_param(struct parser *p, struct ptxi_var *v, bool ret)
{
    struct ptxi_sym *sym;

    if (!v->name)
        return true;
    v->is_ret = ret;
    v->is_param = !ret;
    if (v->is_reg)
        return ptxi_var_declare_reg_param(p, v);
    if (!(sym = ptxi_scope_add(p, PTXI_SYM_VAR, PTXI_CHAIN_EXACT, v->name->s, v->name->len, v->loc, 0)))
        return false;
    sym->var = v;
    return true;
}

static void declare_params(struct parser *p, struct ptxi_func *f)
{
    for (uint32_t i = 0; i < f->signature.ret_count; i++)
        declare_param(p, f->signature.rets[i], true);
    for (uint32_t i = 0; i < f->signature.param_count; i++)
        declare_param(p, f->signature.params[i], false);
}

/* A function declared in a body, as .extern .func ...; */
static bool parse_local_declaration(struct parser *p)
{
    uint8_t linkage;

    if (!ptxi_linkage_parse(p, &linkage))
        return false;
    if (ptxi_parse_directive(&p->tok) != PTXI_D_func)
        return ptxi_parse_error_expected(p, "'.func'");
    return ptxi_func_parse(p, linkage, false);
}

static bool parse_body_directive(struct parser *p)
{
    switch (ptxi_parse_directive(&p->tok)) {
    case PTXI_D_loc:
        return ptxi_debug_parse_loc(p);
    case PTXI_D_loc_intermediate:
        return ptxi_debug_parse_intermediate_loc(p);
    case PTXI_D_target:
        return ptxi_target_parse(p);
    case PTXI_D_extern:
    case PTXI_D_func:
    case PTXI_D_visible:
    case PTXI_D_weak:
        return parse_local_declaration(p);
    case PTXI_D_alias:
        return ptxi_func_parse_alias(p);
    case PTXI_D_pragma:
        return ptxi_pragma_parse(p, PTXI_PRAGMA_BODY);
    case PTXI_D_branchtargets:
    case PTXI_D_calltargets:
    case PTXI_D_callprototype:
        ptxi_parse_error(p, ptxi_parse_loc(p), "'.%.*s' requires a label before it", (int)p->tok.n, p->tok.s);
        return false;
    default:
        if (ptxi_var_can_start(p))
            return ptxi_var_parse(p, PTXI_LINK_STATIC);
        ptxi_parse_error(p, ptxi_parse_loc(p), "'.%.*s' is not accepted in the body of a function", (int)p->tok.n,
                         p->tok.s);
        return false;
    }
}

static bool parse_statement(struct parser *p)
{
    switch (p->tok.kind) {
    case PTXI_TOK_NAME:
        return ptxi_lex_at_colon(&p->lx) ? ptxi_label_parse(p) : ptxi_inst_parse(p);
    case '@':
        return ptxi_inst_parse(p);
    case PTXI_TOK_WORD:
        return parse_body_directive(p);
    default:
        return ptxi_parse_error_expected(p, "a statement");
    }
}

/* Parses a body after its opening brace. The closing brace stays the current token, so that an error in the token
 * after it is reported when the function is complete. */
static bool parse_statements(struct parser *p)
{
    unsigned outermost = p->names.depth;

    for (;;) {
        const char *start = p->tok.s;
        uint32_t line = p->tok.line;

        if (p->tok.kind == '{') {
            if (!ptxi_scope_open(p))
                return false;
            ptxi_parse_next(p);
        } else if (p->tok.kind == '}') {
            if (p->names.depth == outermost)
                return true;
            ptxi_scope_close(p);
            ptxi_parse_next(p);
        } else if (p->tok.kind == PTXI_TOK_END) {
            ptxi_parse_error_expected(p, "'}'");
            return false;
        } else if (!parse_statement(p)) {
            if (p->arena->oom || ptxi_diag_full(p->diags))
                return false;
            ptxi_parse_recover(p, start, line);
        }
    }
}

/* Moves the contents of the body to the arena. */
static bool finish_body(struct parser *p, struct ptxi_func *f)
{
    f->end_line = p->tok.line;
    f->inst_count = (uint32_t)p->insts.count;
    f->reg_range_count = (uint32_t)p->regs.count;
    f->var_count = (uint32_t)p->fn_vars.count;
    f->label_count = (uint32_t)p->labels.count;
    f->mark_count = (uint32_t)p->marks.count;
    f->reg_count = p->next_reg;
    f->insts = ptxi_vec_move_to_arena(p, &p->insts, sizeof *f->insts);
    f->regs = ptxi_vec_move_to_arena(p, &p->regs, sizeof *f->regs);
    f->vars = ptxi_vec_move_to_arena(p, &p->fn_vars, sizeof *f->vars);
    f->labels = ptxi_vec_move_to_arena(p, &p->labels, sizeof *f->labels);
    f->marks = ptxi_vec_move_to_arena(p, &p->marks, sizeof *f->marks);
    f->has_body = true;
    return f->insts && f->regs && f->vars && f->labels && f->marks;
}

static bool parse_body(struct parser *p, struct ptxi_func *f)
{
    bool ok;

    assert(!p->fn && p->names.depth == 0);
    p->fn = f;
    p->next_reg = 0;
    p->insts.count = p->regs.count = p->fn_vars.count = p->labels.count = p->marks.count = 0;
    p->mark_pending = p->intends_race = false;
    if (!ptxi_scope_open(p))
        return false;
    declare_params(p, f);
    ok = ptxi_parse_expect(p, '{') && parse_statements(p);
    if (!ok)
        p->fn = NULL;
    while (p->names.depth)
        ptxi_scope_close(p);
    ok = ok && finish_body(p, f);
    p->fn = NULL;
    p->body_end = p->tok.s + 1;
    return ok && ptxi_parse_expect(p, '}');
}

/* ---- declarations and definitions ---- */

static bool append_func(struct parser *p, struct ptxi_func *f)
{
    struct ptxi_func **slot = ptxi_vec_push(p, &p->funcs, sizeof *slot);
    struct ptxi_body *body = ptxi_vec_push(p, &p->bodies, sizeof *body);

    if (!slot || !body)
        return false;
    f->index = (uint32_t)p->funcs.count - 1;
    *slot = f;
    return true;
}

static struct ptxi_body *body_of(struct parser *p, const struct ptxi_func *f)
{
    assert(f->index < p->bodies.count);
    return &((struct ptxi_body *)p->bodies.data)[f->index];
}

/* Overwrites a declaration, which earlier uses of the name refer to, with the definition. */
static void define_func(struct ptxi_func *f, const struct ptxi_func *head)
{
    uint32_t index = f->index;
    uint8_t linkage = f->linkage;

    *f = *head;
    f->index = index;
    if (f->linkage == PTXI_LINK_STATIC && linkage != PTXI_LINK_EXTERN)
        f->linkage = linkage;
}

/* A later head may omit the linking directive. Each of several concatenated modules has its own. */
static bool same_linkage(const struct ptxi_sym *sym, const struct ptxi_func *head, uint16_t text)
{
    const struct ptxi_func *old = sym->func;

    return sym->text != text || old->linkage == head->linkage ||
           (head->linkage == PTXI_LINK_STATIC && (old->linkage == PTXI_LINK_VISIBLE || old->linkage == PTXI_LINK_WEAK));
}

/* `types`: element types must be equal too. They are not compared between linked modules. */
static bool same_prototype(const struct ptxi_signature *a, const struct ptxi_signature *b, bool types)
{
    return ptxi_signature_equal(a, b, types) && a->abi[0] == b->abi[0] && a->abi[1] == b->abi[1];
}

/* Declares a function in the scope of the module, also from a body. The caller has checked that the name is free. */
static struct ptxi_sym *add_func(struct parser *p, const struct ptxi_token *name, struct ptxi_loc loc)
{
    unsigned depth = p->names.depth;
    struct ptxi_sym *sym;

    p->names.depth = 0;
    sym = ptxi_scope_add(p, PTXI_SYM_FUNC, PTXI_CHAIN_EXACT, name->s, name->n, loc, 0);
    p->names.depth = depth;
    return sym;
}

/* Finds or creates the function of a head. NULL after an error. */
static struct ptxi_func *find_func(struct parser *p, const struct ptxi_func *head, const struct ptxi_token *name)
{
    struct ptxi_entry *e = ptxi_scope_entry(p, name->s, name->n);
    struct ptxi_sym *sym;
    struct ptxi_func *f;

    if (!e)
        return NULL;
    sym = e->meaning[PTXI_CHAIN_EXACT];
    if (!sym && head->linkage != PTXI_LINK_STATIC)
        sym = ptxi_scope_adopt_linked(p, e);
    if (sym && (sym->kind != PTXI_SYM_FUNC || sym->func->is_entry != head->is_entry)) {
        ptxi_parse_error(p, head->loc, "redefinition of '%s' as a different kind of symbol", head->name->s);
        ptxi_parse_note(p, sym->loc, "previous definition is here");
        return NULL;
    }
    if (sym && (!same_prototype(&sym->func->signature, &head->signature, sym->text == p->text) ||
                !same_linkage(sym, head, p->text))) {
        ptxi_parse_error(p, head->loc, "'%s' has different %s than its previous declaration", head->name->s,
                         same_linkage(sym, head, p->text) ? "parameters" : "linking directives");
        ptxi_parse_note(p, sym->loc, "declared here");
        return NULL;
    }
    if (sym)
        return sym->func;
    f = ARENA_NEW(p->arena, struct ptxi_func, 1);
    if (!f || !(sym = add_func(p, name, head->loc)))
        return NULL;
    *f = *head;
    sym->func = f;
    return append_func(p, f) ? f : NULL;
}

/* Skips the body that begins at the current token. */
static bool skip_body(struct parser *p)
{
    unsigned depth = 0;

    assert(p->tok.kind == '{');
    do {
        if (p->tok.kind == PTXI_TOK_END)
            return ptxi_parse_error_expected(p, "'}'");
        depth += p->tok.kind == '{';
        depth -= p->tok.kind == '}';
        p->body_end = p->tok.s + 1;
        ptxi_parse_next(p);
    } while (depth);
    return true;
}

/* PTX ISA, "Linking Directives: .weak": a body that is not weak replaces a weak body of another part. */
static bool overrides_weak(struct parser *p, const struct ptxi_func *f, const struct ptxi_func *head)
{
    return f->linkage == PTXI_LINK_WEAK && head->linkage != PTXI_LINK_WEAK && ptxi_parse_linked(p, body_of(p, f)->text);
}

/* A second body. It is legal if it is weak and the first one is in another part of a linked module, or if it is a
 * copy of the body in another module of the same text. */
static bool parse_second_body(struct parser *p, struct ptxi_func *f, const struct ptxi_func *head)
{
    const struct ptxi_body *old = body_of(p, f);
    struct ptxi_loc loc = head->loc;
    const char *s = p->tok.s;

    if (!skip_body(p))
        return false;
    if (ptxi_parse_linked(p, old->text) && head->linkage == PTXI_LINK_WEAK)
        return true;
    if (!ptxi_parse_linked(p, old->text) && old->text != p->text && old->e - old->s == p->body_end - s &&
        !memcmp(old->s, s, (size_t)(old->e - old->s)))
        return true;
    ptxi_parse_error(p, loc, "redefinition of the body of '%s'", f->name->s);
    ptxi_parse_note(p, f->loc, "previous definition is here");
    return false;
}

static bool parse_definition(struct parser *p, struct ptxi_func *f, const struct ptxi_func *head)
{
    const char *begin = p->tok.s;
    struct ptxi_body *body;

    if (f->has_body && !overrides_weak(p, f, head))
        return parse_second_body(p, f, head);
    if (f->alias_of) {
        ptxi_parse_error(p, head->loc, "redefinition of '%s', which is an alias", f->name->s);
        ptxi_parse_note(p, f->loc, "previous definition is here");
        return skip_body(p);
    }
    define_func(f, head);
    if (f->linkage == PTXI_LINK_EXTERN) {
        ptxi_parse_error(p, f->loc, "an .extern function cannot have a body");
        skip_body(p);
        return false;
    }
    f->has_body = true;
    body = body_of(p, f);
    *body = (struct ptxi_body){ begin, begin, p->text };
    if (!parse_body(p, f))
        return false;
    body_of(p, f)->e = p->body_end;
    return true;
}

bool ptxi_func_parse(struct parser *p, uint8_t linkage, bool entry)
{
    struct ptxi_func head = { .linkage = linkage, .is_entry = entry }, *f;
    struct ptxi_token name;

    if (linkage == PTXI_LINK_COMMON) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "'.common' is only accepted for .global variables");
        return false;
    }
    if (!ptxi_func_head_parse(p, &head, &name))
        return false;
    if (p->names.depth && p->tok.kind != ';')
        return ptxi_parse_error_expected(p, "';'");
    if (p->tok.kind != '{' && p->tok.kind != ';' &&
        (entry ||
         (p->tok.kind != PTXI_TOK_END && ptxi_parse_directive(&p->tok) == PTXI_D_NONE && !ptxi_var_can_start(p))))
        return ptxi_parse_error_expected(p, "'{' or ';'");
    f = find_func(p, &head, &name);
    if (!f) {
        if (p->tok.kind == '{' && !p->arena->oom)
            skip_body(p);
        else
            ptxi_parse_accept(p, ';');
        return !p->arena->oom;
    }
    if (p->tok.kind == '{')
        return parse_definition(p, f, &head);
    if (f->has_body && body_of(p, f)->text == p->text) {
        ptxi_parse_error(p, head.loc, "declaration of '%s' after its definition", f->name->s);
        ptxi_parse_note(p, f->loc, "defined here");
    }
    ptxi_parse_accept(p, ';'); /* ptxas accepts a declaration without it */
    return true;
}

/* ---- aliases ---- */

/* Finds the function in the current token. NULL after an error. */
static struct ptxi_func *parse_alias_operand(struct parser *p)
{
    struct ptxi_found f;

    if (p->tok.kind != PTXI_TOK_NAME) {
        ptxi_parse_error_expected(p, "a function");
        return NULL;
    }
    if (!ptxi_scope_find(p, p->tok.s, p->tok.n, &f) || f.sym->kind != PTXI_SYM_FUNC || f.sym->func->is_entry) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "'%.*s' is not a previously declared function", (int)p->tok.n, p->tok.s);
        return NULL;
    }
    return f.sym->func;
}

bool ptxi_func_parse_alias(struct parser *p)
{
    struct ptxi_loc loc;
    struct ptxi_func *a, *b;
    const char *why = NULL;

    ptxi_parse_next(p);
    loc = ptxi_parse_loc(p);
    if (!(a = parse_alias_operand(p)))
        return false;
    ptxi_parse_next(p);
    if (!ptxi_parse_expect(p, ',') || !(b = parse_alias_operand(p)))
        return false;
    if (a->alias_of)
        why = "redefinition of an alias";
    else if (a->has_body)
        why = "an alias cannot have a body";
    else if (!b->has_body)
        why = "the function of an alias must be defined before the alias, in the same module";
    else if (b->linkage == PTXI_LINK_WEAK)
        why = "the function of an alias cannot be .weak";
    else if (!ptxi_signature_equal(&a->signature, &b->signature, true))
        why = "an alias and its function must have the same parameters";
    if (why) {
        ptxi_parse_error(p, loc, "%s", why);
        return false;
    }
    a->alias_of = b;
    ptxi_parse_next(p);
    return ptxi_parse_expect(p, ';');
}
