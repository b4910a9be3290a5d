/* Functions: heads, bodies, labels, prototypes (PTX ISA, "Kernel and Function Directives"). */
#include "parse/parser.h"

#include <stdio.h>

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

/* ---- labels and what stands behind them ---- */

/* Calls `each` for every name of a list; x<n> stands for x0 ... */
static bool parse_names(struct parser *p, bool (*each)(struct parser *p, const struct ptxi_token *name, void *ctx), void *ctx)
{
    do {
        struct ptxi_token name = p->tok, one;
        char buf[1100];
        uint64_t n;

        if (name.kind != PTXI_TOK_NAME)
            return ptxi_parse_expected(p, "a name");
        ptxi_parse_next(p);
        if (!ptxi_parse_accept(p, '<')) {
            if (!each(p, &name, ctx))
                return false;
            continue;
        }
        n = p->tok.number;
        if (p->tok.kind != PTXI_TOK_INT || n < 1 || n > PTXI_MAX_NAME_RANGE) {
            ptxi_parse_error(p, ptxi_parse_loc(p), "the number of names must be an integer from 1 to %d", PTXI_MAX_NAME_RANGE);
            return false;
        }
        ptxi_parse_next(p);
        if (!ptxi_parse_want(p, '>'))
            return false;
        if (name.n > sizeof buf - 16) {
            ptxi_parse_error(p, ptxi_token_loc(&name), "name is too long");
            return false;
        }
        one = name;
        for (uint64_t i = 0; i < n; i++) {
            one.n = (uint32_t)snprintf(buf, sizeof buf, "%.*s%u", (int)name.n, name.s, (unsigned)i);
            one.s = buf;
            if (!each(p, &one, ctx))
                return false;
        }
    } while (ptxi_parse_accept(p, ','));
    return ptxi_parse_want(p, ';');
}

struct label_list {
    struct label_node *first, **tail;
    uint32_t count;
};

struct label_node { /* of .branchtargets, until their number is known */
    struct label_node *next;
    const struct ptxi_name *name;
    struct ptxi_loc loc;
};

static bool add_label_name(struct parser *p, const struct ptxi_token *name, void *ctx)
{
    struct label_list *list = ctx;
    struct label_node *node = ARENA_NEW(p->arena, struct label_node, 1);

    if (!node || !(node->name = ptxi_intern(p->tree->names, name->s, name->n)))
        return false;
    node->loc = ptxi_token_loc(name);
    *list->tail = node;
    list->tail = &node->next;
    list->count++;
    return true;
}

static struct ptxi_sym *add_label(struct parser *p, const struct ptxi_token *label, enum ptxi_sym_kind kind)
{
    return ptxi_scope_add(p, kind, PTXI_CHAIN_LABEL, label->s, label->n, ptxi_token_loc(label), 0);
}

static bool parse_branch_targets(struct parser *p, const struct ptxi_token *label)
{
    struct label_list list = { .tail = &list.first };
    struct ptxi_targets *table = ARENA_NEW(p->arena, struct ptxi_targets, 1);
    struct ptxi_sym *sym = add_label(p, label, PTXI_SYM_BRANCHES);
    uint32_t *targets, i = 0;

    ptxi_parse_next(p);
    if (!table || !sym || !parse_names(p, add_label_name, &list) || !(targets = ARENA_NEW(p->arena, uint32_t, list.count)))
        return false;
    table->targets = targets;
    table->count = list.count;
    sym->table = table;
    for (struct label_node *n = list.first; n; n = n->next)
        if (!ptxi_scope_use_label(p, n->name->s, n->name->len, n->loc, &targets[i++]))
            return false;
    return true;
}

static bool same_signature(const struct ptxi_signature *a, const struct ptxi_signature *b, bool types);

static bool add_call_target(struct parser *p, const struct ptxi_token *name, void *ctx)
{
    struct ptxi_vec *list = ctx;
    const struct ptxi_func **slot;
    struct ptxi_found f;

    if (!ptxi_scope_find(p, name->s, name->n, &f) || f.sym->kind != PTXI_SYM_FUNC || f.sym->func->is_entry) {
        ptxi_parse_error(p, ptxi_token_loc(name), "'%.*s' is not a function declared before", (int)name->n, name->s);
        return false;
    }
    if (list->count && !same_signature(&((const struct ptxi_func **)list->data)[0]->signature, &f.sym->func->signature, false)) {
        ptxi_parse_error(p, ptxi_token_loc(name), "'%.*s' takes other parameters than the functions before it", (int)name->n, name->s);
        return false;
    }
    if (!(slot = ptxi_vec_push(p, list, sizeof *slot)))
        return false;
    *slot = f.sym->func;
    return true;
}

static bool parse_call_targets(struct parser *p, const struct ptxi_token *label)
{
    struct ptxi_vec list = { 0 };
    struct ptxi_sym *sym;
    bool ok;

    ptxi_parse_next(p);
    ok = parse_names(p, add_call_target, &list) && (sym = add_label(p, label, PTXI_SYM_TARGETS));
    if (ok) {
        sym->func_count = (uint32_t)list.count;
        sym->funcs = ptxi_vec_take(p, &list, sizeof *sym->funcs);
        ok = sym->funcs != NULL;
    }
    ptxi_alloc_put(p->arena->alloc, list.data);
    return ok;
}

/* name ':' ; the colon is the next character */
static bool parse_label(struct parser *p)
{
    struct ptxi_token label = p->tok;
    struct ptxi_sym *sym;
    uint32_t *slot;

    ptxi_parse_next(p);
    ptxi_parse_next(p);
    switch (ptxi_parse_directive(&p->tok)) {
    case PTXI_D_branchtargets:
        return parse_branch_targets(p, &label);
    case PTXI_D_calltargets:
        return parse_call_targets(p, &label);
    case PTXI_D_callprototype:
        return ptxi_func_prototype(p, &label);
    default:
        break;
    }
    if (!(sym = add_label(p, &label, PTXI_SYM_LABEL)))
        return p->arena->oom ? false : true; /* reported; the statement behind it is sound */
    sym->target = (uint32_t)p->insts.count;
    if (p->labels.count && ((uint32_t *)p->labels.data)[p->labels.count - 1] == sym->target)
        return true;
    if (!(slot = ptxi_vec_push(p, &p->labels, sizeof *slot)))
        return false;
    *slot = sym->target;
    return true;
}

/* ---- heads ---- */

static bool parse_params(struct parser *p, bool entry, bool prototype, struct ptxi_var ***out, uint32_t *count)
{
    struct ptxi_vec list = { 0 };
    bool ok = ptxi_parse_want(p, '(');

    if (ok && p->tok.kind != ')')
        do {
            struct ptxi_var *v = list.count < PTXI_MAX_PARAMS ? ptxi_var_param(p, entry, prototype) : NULL;
            struct ptxi_var **slot = v ? ptxi_vec_push(p, &list, sizeof *slot) : NULL;

            if (list.count == PTXI_MAX_PARAMS && !v)
                ptxi_parse_error(p, ptxi_parse_loc(p), "too many parameters");
            ok = slot != NULL;
            if (ok) {
                *slot = v;
                v->index = (uint32_t)list.count - 1;
            }
        } while (ok && ptxi_parse_accept(p, ','));
    ok = ok && ptxi_parse_want(p, ')');
    if (ok) {
        *count = (uint32_t)list.count;
        *out = ptxi_vec_take(p, &list, sizeof **out);
        ok = *out != NULL;
    }
    ptxi_alloc_put(p->arena->alloc, list.data);
    return ok;
}

static bool same_param(const struct ptxi_var *a, const struct ptxi_var *b, bool types)
{
    return a->is_reg == b->is_reg && (a->type == b->type || !types) && a->size == b->size && a->align == b->align && a->unsized == b->unsized &&
           a->opaque == b->opaque;
}

/* With `types` also what the parameters are called, not only their shapes. */
static bool same_signature(const struct ptxi_signature *a, const struct ptxi_signature *b, bool types)
{
    if (a->param_count != b->param_count || a->ret_count != b->ret_count || a->noreturn != b->noreturn)
        return false;
    for (uint32_t i = 0; i < a->param_count; i++)
        if (!same_param(a->params[i], b->params[i], types))
            return false;
    for (uint32_t i = 0; i < a->ret_count; i++)
        if (!same_param(a->rets[i], b->rets[i], types))
            return false;
    return true;
}

/* PTX ISA, "Kernel and Function Directives: .entry": the table of parameter sizes. */
static bool check_entry_params(struct parser *p, const struct ptxi_func *f)
{
    uint64_t limit = p->version >= 81 ? 32764 : p->version >= 15 ? 4352 : 256, size = 0;

    for (uint32_t i = 0; i < f->signature.param_count; i++) {
        const struct ptxi_var *v = f->signature.params[i];

        if (v->unsized) {
            ptxi_parse_error(p, v->loc, "a kernel parameter needs a size");
            return false;
        }
        if (!v->opaque)
            size = ((size + v->align - 1) & ~(uint64_t)(v->align - 1)) + v->size;
        if (size > limit) {
            ptxi_parse_error(p, v->loc, "kernel parameters exceed %u bytes", (unsigned)limit);
            return false;
        }
    }
    return true;
}

static bool check_func_params(struct parser *p, const struct ptxi_func *f)
{
    const struct ptxi_signature *s = &f->signature;

    for (uint32_t i = 0; i < s->param_count + s->ret_count; i++) {
        const struct ptxi_var *v = i < s->param_count ? s->params[i] : s->rets[i - s->param_count];

        if (v->opaque || (v->unsized && i + 1 != s->param_count)) {
            ptxi_parse_error(p, v->loc, v->opaque ? "texture, sampler and surface references are parameters of kernels only"
                                                  : "only the last parameter may be an array without a size");
            return false;
        }
    }
    for (uint32_t i = 0; s->ret_count > 1 && i < s->ret_count; i++)
        if (!s->rets[i]->is_reg) {
            ptxi_parse_error(p, s->rets[i]->loc, "a function returns one value at most, or several in registers");
            return false;
        }
    if (s->noreturn && s->ret_count) {
        ptxi_parse_error(p, f->loc, "a .noreturn function has no return value");
        return false;
    }
    return true;
}

static bool parse_dims(struct parser *p, uint32_t *dims, uint64_t least)
{
    ptxi_parse_next(p);
    for (int i = 0; i < 3; i++)
        dims[i] = 1;
    for (int i = 0; i < 3; i++) {
        uint64_t v;

        if (!ptxi_expr_uint(p, least, UINT32_MAX, "a dimension", &v))
            return false;
        dims[i] = (uint32_t)v;
        if (p->tok.kind != ',')
            return true;
        if (i < 2)
            ptxi_parse_next(p);
    }
    return true;
}

/* ptxas takes 0, too: then the launch decides. */
static bool parse_cluster(struct parser *p, uint32_t *dims)
{
    if (!parse_dims(p, dims, 0))
        return false;
    if (!dims[0] || !dims[1] || !dims[2])
        memset(dims, 0, 3 * sizeof *dims);
    return true;
}

static bool parse_number(struct parser *p, uint64_t least, uint32_t *out)
{
    uint64_t v;

    ptxi_parse_next(p);
    if (!ptxi_expr_uint(p, least, UINT32_MAX, "this number", &v))
        return false;
    *out = (uint32_t)v;
    return true;
}

/* PTX ISA, "Kernel and Function Directives: .func": of registers to preserve; once, behind .noreturn. */
static bool parse_abi(struct parser *p, bool control, uint16_t *abi)
{
    struct ptxi_loc loc = ptxi_parse_loc(p);
    unsigned most = control ? 11 : 255;
    uint64_t v;

    ptxi_parse_next(p);
    if (!ptxi_expr_uint(p, 0, UINT32_MAX, "a number of registers", &v))
        return false;
    if (abi[control] || v > most) {
        ptxi_parse_error(p, loc, abi[control] ? "'.abi_preserve%s' is already given" : "'.abi_preserve%s' takes %u at most", control ? "_control" : "", most);
        return false;
    }
    abi[control] = (uint16_t)(v + 1);
    return true;
}

static bool parse_noreturn(struct parser *p, struct ptxi_signature *s)
{
    if (s->noreturn || s->abi[0] || s->abi[1]) {
        ptxi_parse_error(p, ptxi_parse_loc(p), s->noreturn ? "'.noreturn' is already given" : "'.noreturn' stands before '.abi_preserve' and '.abi_preserve_control'");
        return false;
    }
    s->noreturn = true;
    ptxi_parse_next(p);
    return true;
}

static bool parse_flag(struct parser *p, bool *flag)
{
    *flag = true;
    ptxi_parse_next(p);
    return true;
}

/* What a directive between head and body needs; .func takes the last three only, and .entry the others. */
static const struct { uint8_t directive, sm; uint16_t ptx; } tuning[] = {
    { PTXI_D_maxnreg, 10, 13 },         { PTXI_D_maxntid, 10, 13 },          { PTXI_D_reqntid, 10, 21 },
    { PTXI_D_minnctapersm, 20, 20 },    { PTXI_D_maxnctapersm, 10, 13 },     { PTXI_D_pragma, 10, 20 },
    { PTXI_D_reqnctapercluster, 90, 78 }, { PTXI_D_explicitcluster, 90, 78 }, { PTXI_D_maxclusterrank, 90, 78 },
    { PTXI_D_blocksareclusters, 90, 90 }, { PTXI_D_noreturn, 30, 64 },       { PTXI_D_abi_preserve, 80, 90 },
    { PTXI_D_abi_preserve_control, 80, 90 },
};

static bool check_feature(struct parser *p, enum ptxi_directive d, bool entry)
{
    struct ptxi_loc loc = ptxi_parse_loc(p);
    unsigned i = 0;
    bool of_func = d == PTXI_D_noreturn || d == PTXI_D_abi_preserve || d == PTXI_D_abi_preserve_control;

    while (tuning[i].directive != d)
        i++;
    if (entry == of_func)
        ptxi_parse_error(p, loc, of_func ? "'.%.*s' is for functions, not for kernels" : "'.%.*s' is for kernels", (int)p->tok.n, p->tok.s);
    else if (p->version < tuning[i].ptx)
        ptxi_parse_error(p, loc, "'.%.*s' requires PTX %u.%u or later", (int)p->tok.n, p->tok.s, tuning[i].ptx / 10, tuning[i].ptx % 10);
    else if (p->target.sm < tuning[i].sm)
        ptxi_parse_error(p, loc, "'.%.*s' requires .target sm_%u or higher", (int)p->tok.n, p->tok.s, tuning[i].sm);
    else
        return true;
    return false;
}

/* PTX ISA, "Performance-Tuning Directives", "Cluster Dimension Directives". */
static bool parse_directive(struct parser *p, struct ptxi_func *f, enum ptxi_directive d)
{
    switch (d) {
    case PTXI_D_maxntid: return parse_dims(p, f->maxntid, 1);
    case PTXI_D_reqntid: return parse_dims(p, f->reqntid, 1);
    case PTXI_D_reqnctapercluster: return parse_cluster(p, f->cluster);
    case PTXI_D_maxnreg: return parse_number(p, 1, &f->maxnreg);
    case PTXI_D_minnctapersm: return parse_number(p, 1, &f->minnctapersm);
    case PTXI_D_maxnctapersm: return parse_number(p, 1, &f->maxnctapersm);
    case PTXI_D_maxclusterrank: return parse_number(p, 0, &f->maxclusterrank);
    case PTXI_D_explicitcluster: return parse_flag(p, &f->explicit_cluster);
    case PTXI_D_blocksareclusters: return parse_flag(p, &f->blocks_are_clusters);
    case PTXI_D_noreturn: return parse_noreturn(p, &f->signature);
    case PTXI_D_pragma: return ptxi_module_pragma(p, PTXI_PRAGMA_HEAD);
    default: return parse_abi(p, d == PTXI_D_abi_preserve_control, f->signature.abi);
    }
}

static bool is_tuning(enum ptxi_directive d)
{
    for (unsigned i = 0; i < sizeof tuning / sizeof *tuning; i++)
        if (tuning[i].directive == d)
            return true;
    return false;
}

static bool parse_tuning(struct parser *p, struct ptxi_func *f)
{
    for (;;) {
        enum ptxi_directive d = ptxi_parse_directive(&p->tok);

        if (!is_tuning(d))
            return true;
        if (!check_feature(p, d, f->is_entry) || !parse_directive(p, f, d))
            return false;
    }
}

static bool check_tuning(struct parser *p, const struct ptxi_func *f)
{
    bool cluster = f->cluster[0] != 0;
    const char *why = NULL;

    if (f->maxntid[0] && f->reqntid[0])
        why = ".maxntid and .reqntid exclude each other";
    else if (f->maxnctapersm && p->version >= 21)
        why = ".maxnctapersm was replaced by .minnctapersm";
    else if (cluster && f->maxclusterrank)
        why = ".reqnctapercluster and .maxclusterrank exclude each other";
    else if (f->blocks_are_clusters && (!cluster || !f->reqntid[0]))
        why = ".blocksareclusters needs .reqntid and .reqnctapercluster";
    if (why)
        ptxi_parse_error(p, f->loc, "%s", why);
    return !why;
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
        return ptxi_lex_at_colon(&p->lx) ? parse_label(p) : ptxi_inst_parse(p);
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

static bool same_prototype(const struct ptxi_signature *a, const struct ptxi_signature *b)
{
    return same_signature(a, b, true) && a->abi[0] == b->abi[0] && a->abi[1] == b->abi[1];
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
    if (sym && (!same_prototype(&sym->func->signature, &head->signature) || !same_linkage(sym, head, p->text))) {
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

static bool parse_head(struct parser *p, struct ptxi_func *head, struct ptxi_token *name)
{
    struct ptxi_loc loc;
    uint8_t attributes = 0;

    ptxi_parse_next(p);
    loc = ptxi_parse_loc(p);
    if (ptxi_parse_is_word(p, "attribute") && !ptxi_module_attribute(p, &attributes))
        return false;
    if (attributes & (head->is_entry ? ~0u : PTXI_ATTRIBUTE_MANAGED)) {
        ptxi_parse_error(p, loc, head->is_entry ? "a kernel has no attributes" : ".managed is for .global variables");
        return false;
    }
    if (!head->is_entry && p->tok.kind == '(' && !parse_params(p, false, false, &head->signature.rets, &head->signature.ret_count))
        return false;
    *name = p->tok;
    if (name->kind != PTXI_TOK_NAME)
        return ptxi_parse_expected(p, "a name");
    head->loc = ptxi_token_loc(name);
    if (!(head->name = ptxi_intern(p->tree->names, name->s, name->n)))
        return false;
    ptxi_parse_next(p);
    if (p->tok.kind == '(' && !parse_params(p, head->is_entry, head->is_entry, &head->signature.params, &head->signature.param_count))
        return false;
    return parse_tuning(p, head) && check_tuning(p, head) && (head->is_entry ? check_entry_params(p, head) : check_func_params(p, head));
}

bool ptxi_func_parse(struct parser *p, uint8_t linkage, bool entry)
{
    struct ptxi_func head = { .linkage = linkage, .is_entry = entry }, *f;
    struct ptxi_token name;

    if (linkage == PTXI_LINK_COMMON) {
        ptxi_parse_error(p, ptxi_parse_loc(p), ".common is for .global variables");
        return false;
    }
    if (!parse_head(p, &head, &name))
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

/* label: .callprototype (ret) _ (params) .noreturn; */
bool ptxi_func_prototype(struct parser *p, struct ptxi_token *label)
{
    struct ptxi_func *f = ARENA_NEW(p->arena, struct ptxi_func, 1);
    struct ptxi_sym *sym;

    ptxi_parse_next(p);
    if (!f || (p->tok.kind == '(' && !parse_params(p, false, true, &f->signature.rets, &f->signature.ret_count)))
        return false;
    f->loc = ptxi_token_loc(label);
    if (!ptxi_parse_want(p, '_') || (p->tok.kind == '(' && !parse_params(p, false, true, &f->signature.params, &f->signature.param_count)))
        return false;
    if (!parse_tuning(p, f) || !check_func_params(p, f) || !ptxi_parse_want(p, ';') || !(sym = add_label(p, label, PTXI_SYM_PROTO)))
        return false;
    sym->signature = &f->signature;
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
    if (a->has_body)
        why = "an alias has no body of its own";
    else if (!b->has_body)
        why = "an alias stands for a function defined before it in this module";
    else if (b->linkage == PTXI_LINK_WEAK)
        why = "an alias cannot stand for a .weak function";
    else if (!same_signature(&a->signature, &b->signature, true))
        why = "an alias and its function take the same parameters";
    if (why) {
        ptxi_parse_error(p, loc, "%s", why);
        return false;
    }
    a->alias_of = b;
    ptxi_parse_next(p);
    return ptxi_parse_want(p, ';');
}
