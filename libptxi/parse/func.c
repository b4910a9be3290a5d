/* Functions: registers, bodies, and the functions themselves (PTX ISA, "Kernel and Function Directives"). */
#include "parse/parser.h"

/* ---- registers ---- */

uint32_t ptxi_func_new_regs(struct parser *p, const struct ptxi_name *name, enum ptxi_type type, unsigned vector, uint32_t count, bool numbered,
                            struct ptxi_loc loc)
{
    uint64_t ids = (uint64_t)count * vector;
    struct ptxi_reg_range *r;
    uint32_t first = p->next_reg;

    if (ids > PTXI_MAX_REGS - first) {
        ptxi_parse_error(p, loc, "a function has %d registers at most", PTXI_MAX_REGS);
        return PTXI_NO_REG;
    }
    if (!ids)
        return first;
    if (!(r = ptxi_vec_push(p, &p->regs, sizeof *r)))
        return PTXI_NO_REG;
    *r = (struct ptxi_reg_range){ first, (uint32_t)ids, (uint8_t)type, (uint8_t)vector, name, numbered };
    p->next_reg += (uint32_t)ids;
    return first;
}

/* ---- bodies ---- */

static bool declare_param(struct parser *p, struct ptxi_var *v, bool ret)
{
    struct ptxi_sym *sym;

    if (!v->name)
        return true;
    v->is_ret = ret;
    v->is_param = !ret;
    if (v->is_reg)
        return ptxi_var_declare_reg(p, v);
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

static bool body_directive(struct parser *p)
{
    switch (ptxi_parse_directive(&p->tok)) {
    case PTXI_D_loc:
        return ptxi_debug_loc(p);
    case PTXI_D_target:
        return ptxi_module_target(p);
    case PTXI_D_extern:
    case PTXI_D_func:
    case PTXI_D_visible:
    case PTXI_D_weak:
        return ptxi_module_definition(p);
    case PTXI_D_pragma:
        return ptxi_module_pragma(p, PTXI_PRAGMA_BODY);
    case PTXI_D_branchtargets:
    case PTXI_D_calltargets:
    case PTXI_D_callprototype:
        ptxi_parse_error(p, ptxi_parse_loc(p), "'.%.*s' needs a label in front of it", (int)p->tok.n, p->tok.s);
        return false;
    default:
        if (ptxi_var_starts(p))
            return ptxi_var_declaration(p, PTXI_LINK_STATIC);
        ptxi_parse_error(p, ptxi_parse_loc(p), "'.%.*s' is not a directive of function bodies", (int)p->tok.n, p->tok.s);
        return false;
    }
}

static bool statement(struct parser *p)
{
    switch (p->tok.kind) {
    case PTXI_TOK_NAME:
        return ptxi_lex_at_colon(&p->lx) ? ptxi_label_parse(p) : ptxi_inst_parse(p);
    case '@':
        return ptxi_inst_parse(p);
    case PTXI_TOK_WORD:
        return body_directive(p);
    default:
        return ptxi_parse_expected(p, "a statement");
    }
}

/* From behind the opening brace to the closing one, which stays the current token: what is behind it is read when the
 * function is complete. */
static bool parse_block(struct parser *p)
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
            ptxi_parse_expected(p, "'}'");
            return false;
        } else if (!statement(p)) {
            if (p->arena->oom || ptxi_diag_full(p->diags))
                return false;
            ptxi_parse_recover(p, start, line);
        }
    }
}

static bool finish_body(struct parser *p, struct ptxi_func *f)
{
    f->end_line = p->tok.line;
    f->inst_count = (uint32_t)p->insts.count;
    f->reg_range_count = (uint32_t)p->regs.count;
    f->var_count = (uint32_t)p->fn_vars.count;
    f->label_count = (uint32_t)p->labels.count;
    f->mark_count = (uint32_t)p->marks.count;
    f->reg_count = p->next_reg;
    f->insts = ptxi_vec_take(p, &p->insts, sizeof *f->insts);
    f->regs = ptxi_vec_take(p, &p->regs, sizeof *f->regs);
    f->vars = ptxi_vec_take(p, &p->fn_vars, sizeof *f->vars);
    f->labels = ptxi_vec_take(p, &p->labels, sizeof *f->labels);
    f->marks = ptxi_vec_take(p, &p->marks, sizeof *f->marks);
    f->has_body = true;
    return f->insts && f->regs && f->vars && f->labels && f->marks;
}

static bool parse_body(struct parser *p, struct ptxi_func *f)
{
    bool ok;

    p->fn = f;
    p->next_reg = 0;
    p->insts.count = p->regs.count = p->fn_vars.count = p->labels.count = p->marks.count = 0;
    p->mark_pending = false;
    if (!ptxi_scope_open(p))
        return false;
    declare_params(p, f);
    ok = ptxi_parse_want(p, '{') && parse_block(p);
    if (!ok)
        p->fn = NULL;
    while (p->names.depth)
        ptxi_scope_close(p);
    ok = ok && finish_body(p, f);
    p->fn = NULL;
    p->body_end = p->tok.s + 1;
    return ok && ptxi_parse_want(p, '}');
}

/* ---- the whole ---- */

static bool put_func(struct parser *p, struct ptxi_func *f)
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
    return &((struct ptxi_body *)p->bodies.data)[f->index];
}

/* A definition takes the place of the declaration that names already refer to. */
static void define(struct ptxi_func *f, const struct ptxi_func *head)
{
    uint32_t index = f->index;
    uint8_t linkage = f->linkage;

    *f = *head;
    f->index = index;
    if (f->linkage == PTXI_LINK_STATIC && linkage != PTXI_LINK_EXTERN)
        f->linkage = linkage;
}

/* A later head may leave the linking directive out. In concatenated modules each speaks for itself. */
static bool same_linkage(const struct ptxi_sym *sym, const struct ptxi_func *head, uint16_t text)
{
    const struct ptxi_func *old = sym->func;

    return sym->text != text || old->linkage == head->linkage ||
           (head->linkage == PTXI_LINK_STATIC && (old->linkage == PTXI_LINK_VISIBLE || old->linkage == PTXI_LINK_WEAK));
}

/* types: what they are called matters, too; it does not to the linker. */
static bool same_prototype(const struct ptxi_signature *a, const struct ptxi_signature *b, bool types)
{
    return ptxi_head_same(a, b, types) && a->abi[0] == b->abi[0] && a->abi[1] == b->abi[1];
}

/* Functions are the module's wherever they are declared. No name of a body is in the way: it would be the one found. */
static struct ptxi_sym *add_func(struct parser *p, const struct ptxi_token *name, struct ptxi_loc loc)
{
    unsigned depth = p->names.depth;
    struct ptxi_sym *sym;

    p->names.depth = 0;
    sym = ptxi_scope_add(p, PTXI_SYM_FUNC, PTXI_CHAIN_EXACT, name->s, name->n, loc, 0);
    p->names.depth = depth;
    return sym;
}

/* Finds or makes the function that a head belongs to; NULL after an error. */
static struct ptxi_func *find_func(struct parser *p, const struct ptxi_func *head, const struct ptxi_token *name)
{
    struct ptxi_entry *e = ptxi_scope_entry(p, name->s, name->n);
    struct ptxi_sym *sym;
    struct ptxi_func *f;

    if (!e)
        return NULL;
    sym = e->meaning[PTXI_CHAIN_EXACT];
    if (!sym && head->linkage != PTXI_LINK_STATIC)
        sym = ptxi_scope_take_up(p, e);
    if (sym && (sym->kind != PTXI_SYM_FUNC || sym->func->is_entry != head->is_entry)) {
        ptxi_parse_error(p, head->loc, "'%s' is already defined as something else", head->name->s);
        ptxi_parse_note(p, sym->loc, "first defined here");
        return NULL;
    }
    if (sym && (!same_prototype(&sym->func->signature, &head->signature, sym->text == p->text) || !same_linkage(sym, head, p->text))) {
        ptxi_parse_error(p, head->loc, "%s of '%s' differ from its declaration",
                         same_linkage(sym, head, p->text) ? "parameters" : "linking directives", head->name->s);
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
    return put_func(p, f) ? f : NULL;
}

/* To behind the body that begins at the current token. */
static bool skip_body(struct parser *p)
{
    unsigned depth = 0;

    do {
        if (p->tok.kind == PTXI_TOK_END)
            return ptxi_parse_expected(p, "'}'");
        depth += p->tok.kind == '{';
        depth -= p->tok.kind == '}';
        p->body_end = p->tok.s + 1;
        ptxi_parse_next(p);
    } while (depth);
    return true;
}

/* PTX ISA, "Linking Directives: .weak": the body of another part that is not weak goes before one that is. */
static bool overrides(struct parser *p, const struct ptxi_func *f, const struct ptxi_func *head)
{
    return f->linkage == PTXI_LINK_WEAK && head->linkage != PTXI_LINK_WEAK && ptxi_parse_linked(p, body_of(p, f)->text);
}

/* A second body: legal if it is weak and the other one of another part of a linked module, or as the copy of another
 * module's in the same text. */
static bool parse_copy(struct parser *p, struct ptxi_func *f, const struct ptxi_func *head)
{
    const struct ptxi_body *old = body_of(p, f);
    struct ptxi_loc loc = head->loc;
    const char *s = p->tok.s;

    if (!skip_body(p))
        return false;
    if (ptxi_parse_linked(p, old->text) && head->linkage == PTXI_LINK_WEAK)
        return true;
    if (!ptxi_parse_linked(p, old->text) && old->text != p->text && old->e - old->s == p->body_end - s && !memcmp(old->s, s, (size_t)(old->e - old->s)))
        return true;
    ptxi_parse_error(p, loc, "'%s' already has a body", f->name->s);
    ptxi_parse_note(p, f->loc, "first defined here");
    return false;
}

static bool parse_definition(struct parser *p, struct ptxi_func *f, const struct ptxi_func *head)
{
    const char *begin = p->tok.s;
    struct ptxi_body *body;

    if (f->has_body && !overrides(p, f, head))
        return parse_copy(p, f, head);
    if (f->alias_of) {
        ptxi_parse_error(p, head->loc, "'%s' is already defined as an alias", f->name->s);
        ptxi_parse_note(p, f->loc, "here");
        return skip_body(p);
    }
    define(f, head);
    if (f->linkage == PTXI_LINK_EXTERN) {
        ptxi_parse_error(p, f->loc, "an .extern function has no body here");
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
        ptxi_parse_error(p, ptxi_parse_loc(p), ".common is for .global variables");
        return false;
    }
    if (!ptxi_head_parse(p, &head, &name))
        return false;
    if (p->names.depth && p->tok.kind != ';')
        return ptxi_parse_expected(p, "';'");
    if (p->tok.kind != '{' && p->tok.kind != ';' && (entry || (p->tok.kind != PTXI_TOK_END && ptxi_parse_directive(&p->tok) == PTXI_D_NONE)))
        return ptxi_parse_expected(p, "'{' or ';'");
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
        ptxi_parse_error(p, head.loc, "'%s' is declared behind its definition", f->name->s);
        ptxi_parse_note(p, f->loc, "defined here");
    }
    ptxi_parse_accept(p, ';'); /* ptxas does not miss it */
    return true;
}


static struct ptxi_func *alias_end(struct parser *p)
{
    struct ptxi_found f;

    if (p->tok.kind != PTXI_TOK_NAME) {
        ptxi_parse_expected(p, "a function");
        return NULL;
    }
    if (!ptxi_scope_find(p, p->tok.s, p->tok.n, &f) || f.sym->kind != PTXI_SYM_FUNC || f.sym->func->is_entry) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "'%.*s' is not a function declared before", (int)p->tok.n, p->tok.s);
        return NULL;
    }
    return f.sym->func;
}

bool ptxi_func_alias(struct parser *p)
{
    struct ptxi_loc loc;
    struct ptxi_func *a, *b;
    const char *why = NULL;

    ptxi_parse_next(p);
    loc = ptxi_parse_loc(p);
    if (!(a = alias_end(p)))
        return false;
    ptxi_parse_next(p);
    if (!ptxi_parse_want(p, ',') || !(b = alias_end(p)))
        return false;
    if (a->alias_of)
        why = "a function is an alias only once";
    else if (a->has_body)
        why = "an alias has no body of its own";
    else if (!b->has_body)
        why = "an alias stands for a function defined before it in this module";
    else if (b->linkage == PTXI_LINK_WEAK)
        why = "an alias cannot stand for a .weak function";
    else if (!ptxi_head_same(&a->signature, &b->signature, true))
        why = "an alias and its function take the same parameters";
    if (why) {
        ptxi_parse_error(p, loc, "%s", why);
        return false;
    }
    a->alias_of = b;
    ptxi_parse_next(p);
    return ptxi_parse_want(p, ';');
}
