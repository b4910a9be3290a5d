/* Labels, and the directives that require one (PTX ISA, "Control Flow Directives"). */
#include "parse/expr.h"
#include "parse/statement.h"

typedef bool add_name(struct parser *p, const struct ptxi_token *name, void *ctx);

/* Calls `add` for x0, x1, ... after x<. */
static bool parse_range(struct parser *p, const struct ptxi_token *name, add_name *add, void *ctx)
{
    struct ptxi_numbered_name one;
    uint64_t n = p->tok.number;

    if (p->tok.kind != PTXI_TOK_INT || n < 1 || n > PTXI_MAX_NAME_RANGE) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "invalid value: the number of names must be an integer from 1 to %d",
                         PTXI_MAX_NAME_RANGE);
        return false;
    }
    ptxi_parse_next(p);
    if (!ptxi_parse_expect(p, '>'))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!ptxi_parse_numbered_name(p, name, i, &one) || !add(p, &one.tok, ctx))
            return false;
    return true;
}

/* Calls `add` for every name of a list. */
static bool parse_names(struct parser *p, add_name *add, void *ctx)
{
    do {
        struct ptxi_token name = p->tok;

        if (name.kind != PTXI_TOK_NAME)
            return ptxi_parse_error_expected(p, "a name");
        ptxi_parse_next(p);
        if (ptxi_parse_accept(p, '<') ? !parse_range(p, &name, add, ctx) : !add(p, &name, ctx))
            return false;
    } while (ptxi_parse_accept(p, ','));
    return ptxi_parse_expect(p, ';');
}

static struct ptxi_sym *define_label(struct parser *p, const struct ptxi_token *label, enum ptxi_sym_kind kind)
{
    return ptxi_scope_add(p, kind, PTXI_CHAIN_LABEL, label->s, label->n, ptxi_token_loc(label), 0);
}

/* ---- .branchtargets ---- */

/* The names of a .branchtargets, until their number is known. */
struct label_list {
    struct label_node *first, **tail;
    uint32_t count;
};

struct label_node {
    struct label_node *next;
    const struct ptxi_name *name;
    struct ptxi_loc loc;
};

static bool add_branch_target(struct parser *p, const struct ptxi_token *name, void *ctx)
{
    struct label_list *list = ctx;
    struct label_node *node = ARENA_NEW(p->arena, struct label_node, 1);

    if (!node || !(node->name = ptxi_intern(p->ast->names, name->s, name->n)))
        return false;
    node->loc = ptxi_token_loc(name);
    *list->tail = node;
    list->tail = &node->next;
    list->count++;
    return true;
}

static bool parse_branch_targets(struct parser *p, const struct ptxi_token *label)
{
    struct label_list list = { .tail = &list.first };
    struct ptxi_targets *table = ARENA_NEW(p->arena, struct ptxi_targets, 1);
    struct ptxi_sym *sym = define_label(p, label, PTXI_SYM_BRANCHES);
    uint32_t *targets, i = 0;

    ptxi_parse_next(p);
    if (!table || !sym || !parse_names(p, add_branch_target, &list) ||
        !(targets = ARENA_NEW(p->arena, uint32_t, list.count)))
        return false;
    table->targets = targets;
    table->count = list.count;
    sym->table = table;
    for (struct label_node *n = list.first; n; n = n->next)
        if (!ptxi_scope_use_label(p, n->name->s, n->name->len, n->loc, &targets[i++]))
            return false;
    assert(i == table->count);
    return true;
}

/* ---- .calltargets and .callprototype ---- */

static bool add_call_target(struct parser *p, const struct ptxi_token *name, void *ctx)
{
    struct ptxi_vec *list = ctx;
    const struct ptxi_func **slot;
    struct ptxi_found f;

    if (!ptxi_scope_find(p, name->s, name->n, &f) || f.sym->kind != PTXI_SYM_FUNC || f.sym->func->is_entry) {
        ptxi_parse_error(p, ptxi_token_loc(name), "'%.*s' is not a previously declared function", (int)name->n,
                         name->s);
        return false;
    }
    if (list->count && !ptxi_signature_equal(&((const struct ptxi_func **)list->data)[0]->signature,
                                             &f.sym->func->signature, false)) {
        ptxi_parse_error(p, ptxi_token_loc(name), "'%.*s' has different parameters than the other targets",
                         (int)name->n, name->s);
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
    ok = parse_names(p, add_call_target, &list) && (sym = define_label(p, label, PTXI_SYM_TARGETS));
    if (ok) {
        sym->func_count = (uint32_t)list.count;
        sym->funcs = ptxi_vec_move_to_arena(p, &list, sizeof *sym->funcs);
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
    if (!ptxi_func_head_parse_prototype(p, f) || !ptxi_parse_expect(p, ';') ||
        !(sym = define_label(p, label, PTXI_SYM_PROTO)))
        return false;
    sym->signature = &f->signature;
    return true;
}

/* ---- labels of instructions ---- */

/* Records that the next instruction has a label. */
static bool mark_labelled(struct parser *p, uint32_t inst)
{
    const uint32_t *labels = (const uint32_t *)p->labels.data;
    uint32_t *slot;

    assert(!p->labels.count || labels[p->labels.count - 1] <= inst);
    if (p->labels.count && labels[p->labels.count - 1] == inst)
        return true;
    if (!(slot = ptxi_vec_push(p, &p->labels, sizeof *slot)))
        return false;
    *slot = inst;
    return true;
}

bool ptxi_label_parse(struct parser *p)
{
    struct ptxi_token label = p->tok;
    struct ptxi_sym *sym;

    ptxi_parse_next(p);
    assert(p->tok.kind == ':');
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
    if (!(sym = define_label(p, &label, PTXI_SYM_LABEL)))
        return !p->arena->oom; /* an error was reported, but the statement after the label is valid */
    sym->target = (uint32_t)p->insts.count;
    return mark_labelled(p, sym->target);
}
