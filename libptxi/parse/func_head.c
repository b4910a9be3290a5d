/* Heads of functions: parameters, and the directives between them and the body (PTX ISA, "Kernel and Function
 * Directives"). */
#include "parse/expr.h"
#include "parse/statement.h"

enum { MAX_PARAMS = 8192 }; /* the parameters of a kernel have at most 32764 bytes */

/* ---- parameters ---- */

static bool parse_param(struct parser *p, bool entry, bool prototype, struct ptxi_vec *list)
{
    struct ptxi_var *v, **slot;

    if (list->count == MAX_PARAMS) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "too many parameters: at most %d are accepted", MAX_PARAMS);
        return false;
    }
    if (!(v = ptxi_var_parse_param(p, entry, prototype)) || !(slot = ptxi_vec_push(p, list, sizeof *slot)))
        return false;
    *slot = v;
    v->index = (uint32_t)list->count - 1;
    return true;
}

static bool parse_params(struct parser *p, bool entry, bool prototype, struct ptxi_var ***out, uint32_t *count)
{
    struct ptxi_vec list = { 0 };
    bool ok = ptxi_parse_expect(p, '(');

    if (ok && p->tok.kind != ')')
        do
            ok = parse_param(p, entry, prototype, &list);
        while (ok && ptxi_parse_accept(p, ','));
    ok = ok && ptxi_parse_expect(p, ')');
    if (ok) {
        *count = (uint32_t)list.count;
        *out = ptxi_vec_move_to_arena(p, &list, sizeof **out);
        ok = *out != NULL;
    }
    ptxi_alloc_put(p->arena->alloc, list.data);
    return ok;
}

static bool same_param(const struct ptxi_var *a, const struct ptxi_var *b, bool types)
{
    return a->is_reg == b->is_reg && (a->type == b->type || !types) && a->size == b->size && a->align == b->align &&
           a->unsized == b->unsized && a->opaque == b->opaque;
}

bool ptxi_signature_equal(const struct ptxi_signature *a, const struct ptxi_signature *b, bool types)
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
static unsigned max_param_bytes(unsigned version)
{
    if (version >= 81)
        return 32764;
    return version >= 15 ? 4352 : 256;
}

static bool check_entry_params(struct parser *p, const struct ptxi_func *f)
{
    unsigned limit = max_param_bytes(p->version);
    uint64_t size = 0;

    for (uint32_t i = 0; i < f->signature.param_count; i++) {
        const struct ptxi_var *v = f->signature.params[i];

        if (v->unsized) {
            ptxi_parse_error(p, v->loc, "a kernel parameter must have a size");
            return false;
        }
        if (!v->opaque)
            size = ((size + v->align - 1) & ~(uint64_t)(v->align - 1)) + v->size;
        if (size > limit) {
            ptxi_parse_error(p, v->loc, "kernel parameters are too large: at most %u bytes are accepted", limit);
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

        if (v->opaque) {
            ptxi_parse_error(p, v->loc,
                             "texture, sampler and surface references are only accepted as parameters of kernels");
            return false;
        }
        if (v->unsized && i + 1 != s->param_count) {
            ptxi_parse_error(p, v->loc, "only the last parameter may be an array without a size");
            return false;
        }
    }
    for (uint32_t i = 0; s->ret_count > 1 && i < s->ret_count; i++)
        if (!s->rets[i]->is_reg) {
            ptxi_parse_error(p, s->rets[i]->loc,
                             "too many return values: several are only accepted in registers (.reg)");
            return false;
        }
    if (s->noreturn && s->ret_count) {
        ptxi_parse_error(p, f->loc, "a '.noreturn' function cannot have a return value");
        return false;
    }
    return true;
}

/* ---- directives ---- */

/* Parses up to three dimensions. */
static bool parse_dims(struct parser *p, uint32_t *dims, uint64_t min)
{
    ptxi_parse_next(p);
    for (int i = 0; i < 3; i++)
        dims[i] = 1;
    for (int i = 0; i < 3; i++) {
        uint64_t v;

        if (!ptxi_expr_uint(p, min, UINT32_MAX, "a dimension", &v))
            return false;
        dims[i] = (uint32_t)v;
        if (p->tok.kind != ',')
            return true;
        if (i < 2)
            ptxi_parse_next(p);
    }
    return true;
}

/* ptxas also accepts a dimension of 0: the launch then decides. */
static bool parse_cluster(struct parser *p, uint32_t *dims)
{
    if (!parse_dims(p, dims, 0))
        return false;
    if (!dims[0] || !dims[1] || !dims[2])
        memset(dims, 0, 3 * sizeof *dims);
    return true;
}

static bool parse_number(struct parser *p, uint64_t min, uint32_t *out)
{
    uint64_t v;

    ptxi_parse_next(p);
    if (!ptxi_expr_uint(p, min, UINT32_MAX, "the value of this directive", &v))
        return false;
    *out = (uint32_t)v;
    return true;
}

/* PTX ISA, "Kernel and Function Directives: .func": the number of registers to preserve, after .noreturn. */
static bool parse_abi(struct parser *p, bool control, uint16_t *abi)
{
    const char *name = control ? ".abi_preserve_control" : ".abi_preserve";
    struct ptxi_loc loc = ptxi_parse_loc(p);
    unsigned max = control ? 11 : 255;
    uint64_t v;

    ptxi_parse_next(p);
    if (!ptxi_expr_uint(p, 0, UINT32_MAX, "the number of registers", &v))
        return false;
    if (abi[control]) {
        ptxi_parse_error(p, loc, "duplicate '%s'", name);
        return false;
    }
    if (v > max) {
        ptxi_parse_error(p, loc, "invalid value of '%s': it must be at most %u", name, max);
        return false;
    }
    abi[control] = (uint16_t)(v + 1);
    return true;
}

static bool parse_noreturn(struct parser *p, struct ptxi_signature *s)
{
    if (s->noreturn) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "duplicate '.noreturn'");
        return false;
    }
    if (s->abi[0] || s->abi[1]) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "'.noreturn' must precede '.abi_preserve' and '.abi_preserve_control'");
        return false;
    }
    s->noreturn = true;
    ptxi_parse_next(p);
    return true;
}

/* A literal, not an expression. Of several directives, the largest value counts. */
static bool parse_cta_memory(struct parser *p, struct ptxi_func *f)
{
    ptxi_parse_next(p);
    if (p->tok.kind != PTXI_TOK_INT)
        return ptxi_parse_error_expected(p, "a number of bytes");
    if (p->tok.number > UINT32_MAX) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "the number of bytes must fit in 32 bits");
        return false;
    }
    f->has_cta_memory = true;
    if (f->minperctamemory < p->tok.number)
        f->minperctamemory = (uint32_t)p->tok.number;
    ptxi_parse_next(p);
    return true;
}

static bool parse_flag(struct parser *p, bool *flag)
{
    *flag = true;
    ptxi_parse_next(p);
    return true;
}

/* A directive between head and body, and the target and PTX version that it requires. */
struct head_directive {
    uint8_t directive, sm;
    uint16_t ptx;
    bool of_func; /* of .func, not of .entry */
};

static const struct head_directive head_directives[] = {
    { PTXI_D_maxnreg, 10, 13, false },
    { PTXI_D_maxntid, 10, 13, false },
    { PTXI_D_reqntid, 10, 21, false },
    { PTXI_D_minnctapersm, 20, 20, false },
    { PTXI_D_maxnctapersm, 10, 13, false },
    { PTXI_D_minperctamemory, 80, 94, false },
    { PTXI_D_pragma, 10, 20, false },
    { PTXI_D_reqnctapercluster, 90, 78, false },
    { PTXI_D_explicitcluster, 90, 78, false },
    { PTXI_D_maxclusterrank, 90, 78, false },
    { PTXI_D_blocksareclusters, 90, 90, false },
    { PTXI_D_noreturn, 30, 64, true },
    { PTXI_D_abi_preserve, 80, 90, true },
    { PTXI_D_abi_preserve_control, 80, 90, true },
};

static const struct head_directive *find_head_directive(enum ptxi_directive d)
{
    for (unsigned i = 0; i < sizeof head_directives / sizeof *head_directives; i++)
        if (head_directives[i].directive == d)
            return &head_directives[i];
    return NULL;
}

static bool check_head_directive(struct parser *p, const struct head_directive *d, bool entry)
{
    if (entry == d->of_func) {
        ptxi_parse_error(p, ptxi_parse_loc(p), "'.%.*s' is only accepted for %s", (int)p->tok.n, p->tok.s,
                         d->of_func ? "functions (.func)" : "kernels (.entry)");
        return false;
    }
    return ptxi_parse_require_for_token(p, d->ptx, d->sm);
}

/* PTX ISA, "Performance-Tuning Directives", "Cluster Dimension Directives". */
static bool parse_head_directive(struct parser *p, struct ptxi_func *f, enum ptxi_directive d)
{
    switch (d) {
    case PTXI_D_maxntid: return parse_dims(p, f->maxntid, 1);
    case PTXI_D_reqntid: return parse_dims(p, f->reqntid, 1);
    case PTXI_D_reqnctapercluster: return parse_cluster(p, f->cluster);
    case PTXI_D_maxnreg: return parse_number(p, 1, &f->maxnreg);
    case PTXI_D_minnctapersm: return parse_number(p, 1, &f->minnctapersm);
    case PTXI_D_maxnctapersm: return parse_number(p, 1, &f->maxnctapersm);
    case PTXI_D_minperctamemory: return parse_cta_memory(p, f);
    case PTXI_D_maxclusterrank: return parse_number(p, 0, &f->maxclusterrank);
    case PTXI_D_explicitcluster: return parse_flag(p, &f->explicit_cluster);
    case PTXI_D_blocksareclusters: return parse_flag(p, &f->blocks_are_clusters);
    case PTXI_D_noreturn: return parse_noreturn(p, &f->signature);
    case PTXI_D_pragma: return ptxi_pragma_parse(p, PTXI_PRAGMA_HEAD);
    case PTXI_D_abi_preserve: return parse_abi(p, false, f->signature.abi);
    default:
        assert(d == PTXI_D_abi_preserve_control);
        return parse_abi(p, true, f->signature.abi);
    }
}

static bool parse_head_directives(struct parser *p, struct ptxi_func *f)
{
    for (;;) {
        const struct head_directive *d = find_head_directive(ptxi_parse_directive(&p->tok));

        if (!d)
            return true;
        if (!check_head_directive(p, d, f->is_entry) || !parse_head_directive(p, f, d->directive))
            return false;
    }
}

static bool check_combination(struct parser *p, const struct ptxi_func *f)
{
    bool cluster = f->cluster[0] != 0;
    const char *why = NULL;

    if (f->maxntid[0] && f->reqntid[0])
        why = "'.maxntid' and '.reqntid' cannot be combined";
    else if (f->maxnctapersm && p->version >= 21)
        why = "'.maxnctapersm' was removed in PTX 2.1, use '.minnctapersm'";
    else if (cluster && f->maxclusterrank)
        why = "'.reqnctapercluster' and '.maxclusterrank' cannot be combined";
    else if (f->blocks_are_clusters && (!cluster || !f->reqntid[0]))
        why = "'.blocksareclusters' requires '.reqntid' and '.reqnctapercluster'";
    if (why)
        ptxi_parse_error(p, f->loc, "%s", why);
    return !why;
}

/* ---- heads ---- */

static bool parse_attributes(struct parser *p, bool entry)
{
    struct ptxi_loc loc = ptxi_parse_loc(p);
    uint8_t attributes = 0;

    if (ptxi_parse_is_word(p, "attribute") && !ptxi_attribute_parse(p, &attributes))
        return false;
    if (attributes & (entry ? ~0u : PTXI_ATTRIBUTE_MANAGED)) {
        ptxi_parse_error(p, loc, entry ? "'.attribute' is not accepted for kernels"
                                       : "'.managed' is only accepted for .global variables");
        return false;
    }
    return true;
}

bool ptxi_func_head_parse(struct parser *p, struct ptxi_func *head, struct ptxi_token *name)
{
    struct ptxi_signature *s = &head->signature;
    bool entry = head->is_entry;

    ptxi_parse_next(p);
    if (!parse_attributes(p, entry))
        return false;
    if (!entry && p->tok.kind == '(' && !parse_params(p, false, false, &s->rets, &s->ret_count))
        return false;
    *name = p->tok;
    if (name->kind != PTXI_TOK_NAME)
        return ptxi_parse_error_expected(p, "a name");
    head->loc = ptxi_token_loc(name);
    if (!(head->name = ptxi_intern(p->ast->names, name->s, name->n)))
        return false;
    ptxi_parse_next(p);
    if (p->tok.kind == '(' && !parse_params(p, entry, entry, &s->params, &s->param_count))
        return false;
    return parse_head_directives(p, head) && check_combination(p, head) &&
           (entry ? check_entry_params : check_func_params)(p, head);
}

bool ptxi_func_head_parse_prototype(struct parser *p, struct ptxi_func *f)
{
    struct ptxi_signature *s = &f->signature;

    if (p->tok.kind == '(' && !parse_params(p, false, true, &s->rets, &s->ret_count))
        return false;
    if (!ptxi_parse_expect(p, '_'))
        return false;
    if (p->tok.kind == '(' && !parse_params(p, false, true, &s->params, &s->param_count))
        return false;
    return parse_head_directives(p, f) && check_func_params(p, f);
}
