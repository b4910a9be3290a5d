/* Labels and what stands behind them (PTX ISA, "Control Flow Directives"). */
#include "parse/parser.h"

/* Calls `each` for every name of a list; x<n> stands for x0 ... */
static bool parse_names(struct parser *p, bool (*each)(struct parser *p, const struct ptxi_token *name, void *ctx), void *ctx)
{
    do {
        struct ptxi_token name = p->tok;
        struct ptxi_numbered one;
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
        for (uint32_t i = 0; i < n; i++)
            if (!ptxi_parse_numbered(p, &name, i, &one) || !each(p, &one.tok, ctx))
                return false;
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

static bool add_call_target(struct parser *p, const struct ptxi_token *name, void *ctx)
{
    struct ptxi_vec *list = ctx;
    const struct ptxi_func **slot;
    struct ptxi_found f;

    if (!ptxi_scope_find(p, name->s, name->n, &f) || f.sym->kind != PTXI_SYM_FUNC || f.sym->func->is_entry) {
        ptxi_parse_error(p, ptxi_token_loc(name), "'%.*s' is not a function declared before", (int)name->n, name->s);
        return false;
    }
    if (list->count && !ptxi_head_same(&((const struct ptxi_func **)list->data)[0]->signature, &f.sym->func->signature, false)) {
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

/* label: .callprototype (ret) _ (params) .noreturn; */
static bool parse_prototype(struct parser *p, const struct ptxi_token *label)
{
    struct ptxi_func *f = ARENA_NEW(p->arena, struct ptxi_func, 1);
    struct ptxi_sym *sym;

    ptxi_parse_next(p);
    if (!f)
        return false;
    f->loc = ptxi_token_loc(label);
    if (!ptxi_head_prototype(p, f) || !ptxi_parse_want(p, ';') || !(sym = add_label(p, label, PTXI_SYM_PROTO)))
        return false;
    sym->signature = &f->signature;
    return true;
}

bool ptxi_label_parse(struct parser *p)
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
        return parse_prototype(p, &label);
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
