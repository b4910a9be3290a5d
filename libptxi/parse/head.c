/* Heads of functions: parameters, and the directives between them and the body (PTX ISA, "Kernel and Function Directives"). */
#include "parse/parser.h"

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

bool ptxi_head_same(const struct ptxi_signature *a, const struct ptxi_signature *b, bool types)
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

bool ptxi_head_parse(struct parser *p, struct ptxi_func *head, struct ptxi_token *name)
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

bool ptxi_head_prototype(struct parser *p, struct ptxi_func *f)
{
    struct ptxi_signature *s = &f->signature;

    if (p->tok.kind == '(' && !parse_params(p, false, true, &s->rets, &s->ret_count))
        return false;
    if (!ptxi_parse_want(p, '_') || (p->tok.kind == '(' && !parse_params(p, false, true, &s->params, &s->param_count)))
        return false;
    return parse_tuning(p, f) && check_func_params(p, f);
}
