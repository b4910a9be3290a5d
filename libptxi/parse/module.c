/* The module: its head, the directives of its outermost level, and the whole run. */
#include "parse/parser.h"

enum { NEWEST_PTX = 91 };

/* PTX ISA, "PTX Module Directives: .target": with the PTX version from which ptxas takes each; suffixed ones in `a` and `f`. */
static const struct { uint16_t sm, ptx, a, f; } targets[] = {
    { 10, 10, 0, 0 },  { 11, 10, 0, 0 },  { 12, 12, 0, 0 },  { 13, 12, 0, 0 },  { 20, 20, 0, 0 },  { 21, 20, 0, 0 },  { 30, 30, 0, 0 },  { 32, 40, 0, 0 },
    { 35, 31, 0, 0 },  { 37, 41, 0, 0 },  { 50, 40, 0, 0 },  { 52, 41, 0, 0 },  { 53, 42, 0, 0 },    { 60, 50, 0, 0 },    { 61, 50, 0, 0 },
    { 62, 50, 0, 0 },  { 70, 60, 0, 0 },  { 72, 61, 0, 0 },  { 75, 63, 0, 0 },  { 80, 70, 0, 0 },  { 82, 62, 0, 0 },  { 86, 71, 0, 0 },  { 87, 74, 0, 0 },
    { 88, 73, 0, 0 },  { 89, 78, 0, 0 },  { 90, 78, 80, 0 }, { 100, 86, 86, 88 }, { 101, 86, 86, 88 }, { 103, 88, 88, 88 }, { 110, 90, 90, 90 },
    { 120, 87, 87, 88 }, { 121, 88, 88, 88 },
};

/* ---- .version, .target, .address_size ---- */

/* The digits of "8.5", which is a number to the lexer; zeros may follow. */
static bool version_number(const struct ptxi_token *t, unsigned *major, unsigned *minor)
{
    const char *dot = memchr(t->s, '.', t->n), *end = t->s + t->n;

    *major = *minor = 0;
    if (t->kind != PTXI_TOK_F64 || !dot || dot == t->s || dot - t->s > 2)
        return false;
    while (end > dot + 2 && end[-1] == '0')
        end--;
    if (end != dot + 2)
        return false;
    for (const char *c = t->s; c < dot; c++) {
        if (*c < '0' || *c > '9')
            return false;
        *major = *major * 10 + (unsigned)(*c - '0');
    }
    *minor = (unsigned)(dot[1] - '0');
    return *minor <= 9;
}

/* PTX ISA, "Release Notes": the last version of each number before the dot, so far as another number followed. */
static bool was_released(unsigned major, unsigned minor)
{
    static const uint8_t last[] = { [1] = 5, [2] = 3, [3] = 2, [4] = 3, [5] = 1, [6] = 5, [7] = 8, [8] = 8 };

    return major >= sizeof last || (major > 0 && minor <= last[major]);
}

static bool parse_version(struct parser *p)
{
    unsigned major, minor;

    ptxi_parse_next(p);
    if (!version_number(&p->tok, &major, &minor))
        return ptxi_parse_expected(p, "a version such as 8.5");
    p->version = (uint16_t)(major * 10 + minor);
    if (!was_released(major, minor))
        ptxi_parse_error(p, ptxi_parse_loc(p), "there is no PTX %u.%u", major, minor);
    else if (p->version > NEWEST_PTX)
        ptxi_parse_warn(p, ptxi_parse_loc(p), "PTX %u.%u is newer than what is known here (%u.%u)", major, minor, NEWEST_PTX / 10, NEWEST_PTX % 10);
    if (p->version > p->tree->version)
        p->tree->version = p->version;
    if (p->have_version) { /* another module in the same text */
        p->text++;
        p->have_address_size = false;
    }
    p->have_version = true;
    p->spellings = NULL;
    ptxi_parse_next(p);
    return true;
}

/* sm_90a, compute_90 */
static bool target_name(const struct ptxi_token *t, struct ptxi_target *out)
{
    size_t stem = t->n > 3 && !memcmp(t->s, "sm_", 3) ? 3 : t->n > 8 && !memcmp(t->s, "compute_", 8) ? 8 : 0;
    unsigned v = 0;

    if (!stem)
        return false;
    for (; stem < t->n && t->s[stem] >= '0' && t->s[stem] <= '9' && v < 1000; stem++)
        v = v * 10 + (unsigned)(t->s[stem] - '0');
    out->sm = (uint16_t)v;
    out->suffix = 0;
    if (stem + 1 == t->n && ((t->s[stem] | 32) == 'a' || (t->s[stem] | 32) == 'f'))
        out->suffix = (char)(t->s[stem++] | 32);
    return stem == t->n && v >= 10;
}

static void check_target(struct parser *p, struct ptxi_target t)
{
    struct ptxi_loc loc = ptxi_parse_loc(p);
    unsigned i = 0, n = sizeof targets / sizeof *targets, need;

    while (i < n && targets[i].sm != t.sm)
        i++;
    need = i == n ? 0 : t.suffix == 'a' ? targets[i].a : t.suffix == 'f' ? targets[i].f : targets[i].ptx;
    if (!need) /* newer versions than are known here may have newer targets */
        (p->version > NEWEST_PTX ? ptxi_parse_warn : ptxi_parse_error)(p, loc, "target '%.*s' is not known here", (int)p->tok.n, p->tok.s);
    else if (p->version < need)
        ptxi_parse_error(p, loc, ".target %.*s requires PTX %u.%u or later", (int)p->tok.n, p->tok.s, need / 10, need % 10);
}

static bool token_is(const struct ptxi_token *t, const char *s)
{
    return t->kind == PTXI_TOK_NAME && t->n == strlen(s) && !memcmp(t->s, s, t->n);
}

/* What the list of a .target has said so far. */
struct target_list {
    bool sm, independent, unified;
};

static bool parse_target_item(struct parser *p, struct target_list *list)
{
    struct ptxi_module_tree *m = p->tree;
    struct ptxi_loc loc = ptxi_parse_loc(p);
    struct ptxi_target t;

    if (p->tok.kind != PTXI_TOK_NAME)
        return ptxi_parse_expected(p, "a target such as sm_90");
    if (target_name(&p->tok, &t)) {
        check_target(p, t);
        p->target = t;
        list->sm = true;
        if (t.sm > m->target.sm || (t.sm == m->target.sm && t.suffix))
            m->target = t;
    } else if (!list->sm) {
        ptxi_parse_error(p, loc, "'%.*s' is not an architecture: .target begins with one, such as sm_90", (int)p->tok.n, p->tok.s);
    } else if (token_is(&p->tok, "debug")) {
        m->debug = true;
    } else if (token_is(&p->tok, "texmode_independent")) {
        m->texmode_independent = list->independent = true;
    } else if (token_is(&p->tok, "texmode_unified")) {
        list->unified = true;
    } else if (!token_is(&p->tok, "map_f64_to_f32")) {
        ptxi_parse_error(p, loc, "unknown target '%.*s'", (int)p->tok.n, p->tok.s);
    } else if (p->target.sm >= 13) {
        ptxi_parse_error(p, loc, "'map_f64_to_f32' is for targets below sm_13");
    } else {
        m->map_f64_to_f32 = true;
    }
    if (list->independent && list->unified)
        ptxi_parse_error(p, loc, "texmode_unified and texmode_independent exclude each other");
    ptxi_parse_next(p);
    return true;
}

bool ptxi_module_target(struct parser *p)
{
    struct target_list list = { 0 };

    if (ptxi_parse_directive(&p->tok) != PTXI_D_target)
        return ptxi_parse_expected(p, "'.target'");
    ptxi_parse_next(p);
    do
        if (!parse_target_item(p, &list))
            return false;
    while (ptxi_parse_accept(p, ','));
    p->spellings = NULL;
    return true;
}

/* Stands behind .target if at all. */
static bool parse_address_size(struct parser *p)
{
    struct ptxi_loc loc = ptxi_parse_loc(p);
    uint64_t v;

    ptxi_parse_next(p);
    if (!ptxi_expr_uint(p, 32, 64, "the address size", &v))
        return false;
    if (v != 32 && v != 64) {
        ptxi_parse_error(p, loc, "the address size is 32 or 64");
        return false;
    }
    if (p->have_address_size || (p->text && v != p->tree->address_size)) {
        ptxi_parse_error(p, loc, p->have_address_size ? "the address size is already given" : "modules of different address sizes in one text");
        return false;
    }
    p->tree->address_size = (uint8_t)v;
    p->have_address_size = true;
    return true;
}

static bool parse_head(struct parser *p)
{
    if (ptxi_parse_directive(&p->tok) != PTXI_D_version)
        return ptxi_parse_expected(p, "'.version'");
    if (!parse_version(p))
        return false;
    do /* the last one counts */
        if (!ptxi_module_target(p))
            return false;
    while (ptxi_parse_directive(&p->tok) == PTXI_D_target);
    return ptxi_parse_directive(&p->tok) != PTXI_D_address_size || parse_address_size(p);
}

/* ---- other directives ---- */

/* PTX ISA, "Pragma Strings": those that stand in bodies only. What a name takes stands one character behind it. */
static const struct { const char *name; uint16_t ptx; bool number, kernels; } pragmas[] = {
    { "used_bytes_mask", 83, true, false },
    { "enable_smem_spilling", 87, false, true },
    { "frequency", 90, true, false },
};

/* Those that are not known mean nothing in functions, and are errors outside of them. */
static const char *pragma_error(const struct parser *p, enum ptxi_pragma_place place)
{
    const struct ptxi_token *t = &p->tok;

    for (unsigned i = 0; i < sizeof pragmas / sizeof *pragmas; i++) {
        size_t n = strlen(pragmas[i].name);

        if (t->n < n || memcmp(t->s, pragmas[i].name, n))
            continue;
        if (place != PTXI_PRAGMA_BODY)
            return "stands in bodies of functions only";
        if (p->version < pragmas[i].ptx)
            return "requires a later version of PTX";
        if (pragmas[i].kernels && !p->fn->is_entry)
            return "is for kernels";
        return pragmas[i].number && (t->n < n + 2 || t->s[n + 1] < '0' || t->s[n + 1] > '9') ? "takes a number" : NULL;
    }
    return place == PTXI_PRAGMA_MODULE && (t->n != 8 || memcmp(t->s, "nounroll", 8)) ? "is not known" : NULL;
}

bool ptxi_module_pragma(struct parser *p, enum ptxi_pragma_place place)
{
    ptxi_parse_next(p);
    do {
        const char *why = p->tok.kind == PTXI_TOK_STRING ? pragma_error(p, place) : NULL;

        if (why)
            ptxi_parse_error(p, ptxi_parse_loc(p), "pragma \"%.*s\" %s", (int)p->tok.n, p->tok.s, why);
        if (!ptxi_parse_want(p, PTXI_TOK_STRING))
            return false;
    } while (ptxi_parse_accept(p, ','));
    return ptxi_parse_want(p, ';');
}

/* .attribute(.managed), .attribute(.unified(1, 2)) */
bool ptxi_module_attribute(struct parser *p, uint8_t *attributes)
{
    uint64_t id;

    ptxi_parse_next(p);
    if (!ptxi_parse_want(p, '('))
        return false;
    do {
        bool unified = ptxi_parse_is_word(p, "unified");

        if (!unified && !ptxi_parse_is_word(p, "managed"))
            return ptxi_parse_expected(p, "'.managed' or '.unified'");
        if (unified && (p->version < 80 || p->target.sm < 90)) {
            ptxi_parse_error(p, ptxi_parse_loc(p), p->version < 80 ? "'.unified' requires PTX 8.0 or later" : "'.unified' requires .target sm_90 or higher");
            return false;
        }
        *attributes |= unified ? PTXI_ATTRIBUTE_UNIFIED : PTXI_ATTRIBUTE_MANAGED;
        ptxi_parse_next(p);
        if (unified && (!ptxi_parse_want(p, '(') || !ptxi_expr_uint(p, 0, UINT64_MAX, "an identifier", &id) || !ptxi_parse_want(p, ',') ||
                        !ptxi_expr_uint(p, 0, UINT64_MAX, "an identifier", &id) || !ptxi_parse_want(p, ')')))
            return false;
    } while (ptxi_parse_accept(p, ','));
    return ptxi_parse_want(p, ')');
}

static int linkage_of(enum ptxi_directive d)
{
    switch (d) {
    case PTXI_D_extern: return PTXI_LINK_EXTERN;
    case PTXI_D_visible: return PTXI_LINK_VISIBLE;
    case PTXI_D_weak: return PTXI_LINK_WEAK;
    case PTXI_D_common: return PTXI_LINK_COMMON;
    default: return -1;
    }
}

/* A variable, kernel or function of the module; in a body the declaration of a function, which is the module's, too. */
bool ptxi_module_definition(struct parser *p)
{
    int linkage = linkage_of(ptxi_parse_directive(&p->tok));

    if (linkage >= 0) {
        ptxi_parse_next(p);
        if (linkage_of(ptxi_parse_directive(&p->tok)) >= 0) {
            ptxi_parse_error(p, ptxi_parse_loc(p), "one linking directive only");
            return false;
        }
    } else {
        linkage = PTXI_LINK_STATIC;
    }
    if (p->names.depth && ptxi_parse_directive(&p->tok) != PTXI_D_func)
        return ptxi_parse_expected(p, "'.func'");
    switch (ptxi_parse_directive(&p->tok)) {
    case PTXI_D_entry:
        return ptxi_func_parse(p, (uint8_t)linkage, true);
    case PTXI_D_func:
        return ptxi_func_parse(p, (uint8_t)linkage, false);
    default:
        return ptxi_var_starts(p) ? ptxi_var_declaration(p, (uint8_t)linkage) : ptxi_parse_expected(p, "a directive of modules");
    }
}

static bool fail_late(struct parser *p)
{
    ptxi_parse_error(p, ptxi_parse_loc(p), "'.%.*s' stands at the head of a module: .version, .target, .address_size", (int)p->tok.n, p->tok.s);
    return false;
}

static bool parse_item(struct parser *p)
{
    switch (ptxi_parse_directive(&p->tok)) {
    case PTXI_D_version: return parse_head(p);
    case PTXI_D_target: return fail_late(p);
    case PTXI_D_address_size: return fail_late(p);
    case PTXI_D_file: return ptxi_debug_file(p);
    case PTXI_D_section: return ptxi_debug_section(p);
    case PTXI_D_pragma: return ptxi_module_pragma(p, PTXI_PRAGMA_MODULE);
    case PTXI_D_alias: return ptxi_func_alias(p);
    default:
        return p->tok.kind == PTXI_TOK_DWARF ? ptxi_debug_dwarf(p) : ptxi_module_definition(p);
    }
}

/* After an error outside of functions: to behind the next ';' or the next braces. */
static void recover(struct parser *p)
{
    unsigned depth = 0;

    for (;; ptxi_parse_next(p)) {
        if (p->tok.kind == PTXI_TOK_END)
            return;
        depth += p->tok.kind == '{';
        if (p->tok.kind == '}' && depth > 0)
            depth--;
        else if (p->tok.kind != '}' && p->tok.kind != ';')
            continue;
        if (depth == 0) {
            ptxi_parse_accept(p, '}'); /* that of an initialiser has ';' behind it */
            ptxi_parse_accept(p, ';');
            return;
        }
    }
}

static void parse_module(struct parser *p)
{
    p->have_dwarf = false;
    ptxi_parse_next(p);
    if (!parse_head(p))
        return;
    while (p->tok.kind != PTXI_TOK_END && !p->arena->oom && !ptxi_diag_full(p->diags))
        if (!parse_item(p))
            recover(p);
    if (p->tree->debug && !p->have_dwarf)
        ptxi_parse_error(p, PTXI_LOC_NONE, ".target debug needs debug data in a .section");
}

static void parse_parts(struct parser *p, const struct ptxi_texts *parts)
{
    for (uint32_t i = 0; i < parts->count && !p->arena->oom && !ptxi_diag_full(p->diags); i++) {
        const struct ptxi_text *t = &parts->at[i];

        if (i) {
            ptxi_scope_end_part(p);
            p->part_text = p->text + 1;
            p->part_files = (uint32_t)p->files.count;
        }
        ptxi_lex_init(&p->lx, t->s, t->size, p->diags);
        p->lx.line = t->first_line;
        parse_module(p);
    }
}

static struct ptxi_module_tree *finish(struct parser *p)
{
    struct ptxi_module_tree *m = p->tree;

    m->func_count = (uint32_t)p->funcs.count;
    m->var_count = (uint32_t)p->vars.count;
    m->file_count = (uint32_t)p->files.count;
    m->funcs = ptxi_vec_take(p, &p->funcs, sizeof *m->funcs);
    m->vars = ptxi_vec_take(p, &p->vars, sizeof *m->vars);
    m->files = ptxi_vec_take(p, &p->files, sizeof *m->files);
    return p->arena->oom || p->diags->oom || p->diags->errors ? NULL : m;
}

static void free_scratch(struct parser *p)
{
    struct ptxi_vec *all[] = { &p->funcs, &p->vars, &p->files, &p->bodies, &p->insts, &p->regs,
                               &p->fn_vars, &p->labels, &p->marks, &p->init, &p->relocs };

    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        ptxi_alloc_put(p->arena->alloc, all[i]->data);
    ptxi_alloc_put(p->arena->alloc, p);
}

struct ptxi_module_tree *ptxi_parse(const char *text, size_t size, const struct ptxi_parse_options *options, struct ptxi_arena *arena,
                                    struct ptxi_diag *diags)
{
    struct parser *p = ptxi_alloc_get(arena->alloc, sizeof *p);
    struct ptxi_module_tree *m;

    if (!p)
        return NULL;
    memset(p, 0, offsetof(struct parser, raw));
    p->options = options;
    p->arena = arena;
    p->diags = diags;
    m = p->tree = ARENA_NEW(arena, struct ptxi_module_tree, 1);
    if (m) {
        m->arena = arena;
        m->names = ptxi_names_new(arena);
        m->address_size = 32;
        if (m->names)
            parse_parts(p, options->parts ? options->parts : &(struct ptxi_texts){ &(struct ptxi_text){ options->file, text, size, 1 }, 1 });
        m = finish(p);
    }
    free_scratch(p);
    return m;
}
