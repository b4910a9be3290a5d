/* The directives that begin a module: .version, .target, .address_size (PTX ISA, "PTX Module Directives"). */
#include "parse/expr.h"
#include "parse/inlined.h"
#include "parse/statement.h"

enum { NEWEST_PTX = 95 };

/* An architecture, and the first PTX version in which ptxas accepts it, its architecture-specific ('a') and its
 * family-specific ('f') target. 0: never. */
struct architecture {
    uint16_t sm, ptx, a, f;
};

static const struct architecture architectures[] = {
    { 10, 10, 0, 0 },    { 11, 10, 0, 0 },    { 12, 12, 0, 0 },    { 13, 12, 0, 0 },    { 20, 20, 0, 0 },
    { 21, 20, 0, 0 },    { 30, 30, 0, 0 },    { 32, 40, 0, 0 },    { 35, 31, 0, 0 },    { 37, 41, 0, 0 },
    { 50, 40, 0, 0 },    { 52, 41, 0, 0 },    { 53, 42, 0, 0 },    { 60, 50, 0, 0 },    { 61, 50, 0, 0 },
    { 62, 50, 0, 0 },    { 70, 60, 0, 0 },    { 72, 61, 0, 0 },    { 75, 63, 0, 0 },    { 80, 70, 0, 0 },
    { 82, 62, 0, 0 },    { 86, 71, 0, 0 },    { 87, 74, 0, 0 },    { 88, 73, 0, 0 },    { 89, 78, 0, 0 },
    { 90, 78, 80, 0 },   { 100, 86, 86, 88 }, { 101, 86, 86, 88 }, { 103, 88, 88, 88 }, { 107, 94, 94, 94 },
    { 110, 90, 90, 90 }, { 120, 87, 87, 88 }, { 121, 88, 88, 88 },
};

/* ---- .version ---- */

/* Parses "8.5", which is a floating-point constant to the lexer. Zeros may follow. */
static bool parse_version_number(const struct ptxi_token *t, unsigned *major, unsigned *minor)
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

/* PTX ISA, "Release Notes": the last minor version of each major version that has a successor. */
static bool was_released(unsigned major, unsigned minor)
{
    static const uint8_t last[] = { [1] = 5, [2] = 3, [3] = 2, [4] = 3, [5] = 1, [6] = 5, [7] = 8, [8] = 8 };

    return major >= sizeof last || (major > 0 && minor <= last[major]);
}

static bool parse_version(struct parser *p)
{
    struct ptxi_loc loc;
    unsigned major, minor;

    ptxi_parse_next(p);
    loc = ptxi_parse_loc(p);
    if (!parse_version_number(&p->tok, &major, &minor))
        return ptxi_parse_error_expected(p, "a version such as 8.5");
    p->version = (uint16_t)(major * 10 + minor);
    if (!was_released(major, minor))
        ptxi_parse_error(p, loc, "unknown PTX version %u.%u", major, minor);
    else if (p->version > NEWEST_PTX)
        ptxi_parse_warn(p, loc, "PTX %u.%u is newer than the newest supported version, %u.%u", major, minor,
                        NEWEST_PTX / 10, NEWEST_PTX % 10);
    if (p->version > p->ast->version)
        p->ast->version = p->version;
    if (p->have_version) { /* another module in the same text */
        ptxi_inlined_end_text(p);
        p->text++;
        p->have_address_size = false;
    }
    p->have_version = true;
    p->opcodes = NULL;
    ptxi_parse_next(p);
    return true;
}

/* ---- .target ---- */

/* Length of the prefix of an architecture, or 0. */
static size_t architecture_prefix(const struct ptxi_token *t)
{
    if (t->n > 3 && !memcmp(t->s, "sm_", 3))
        return 3;
    return t->n > 8 && !memcmp(t->s, "compute_", 8) ? 8 : 0;
}

/* Parses "sm_90a" or "compute_90". */
static bool parse_architecture(const struct ptxi_token *t, struct ptxi_target *out)
{
    size_t at = architecture_prefix(t);
    unsigned sm = 0;

    if (!at)
        return false;
    for (; at < t->n && t->s[at] >= '0' && t->s[at] <= '9' && sm < 1000; at++)
        sm = sm * 10 + (unsigned)(t->s[at] - '0');
    out->sm = (uint16_t)sm;
    out->suffix = 0;
    if (at + 1 == t->n && ((t->s[at] | 32) == 'a' || (t->s[at] | 32) == 'f'))
        out->suffix = (char)(t->s[at++] | 32);
    return at == t->n && sm >= 10;
}

/* The first PTX version that has a target, or 0. */
static unsigned first_version(struct ptxi_target t)
{
    for (unsigned i = 0; i < sizeof architectures / sizeof *architectures; i++) {
        if (architectures[i].sm != t.sm)
            continue;
        switch (t.suffix) {
        case 'a': return architectures[i].a;
        case 'f': return architectures[i].f;
        default: return architectures[i].ptx;
        }
    }
    return 0;
}

/* The current token is the name of target t. */
static void check_architecture(struct parser *p, struct ptxi_target t)
{
    static const char unknown[] = "unknown target '%.*s'";
    struct ptxi_loc loc = ptxi_parse_loc(p);
    unsigned need = first_version(t);
    int n = (int)p->tok.n;

    if (!need && p->version > NEWEST_PTX) /* a newer PTX version may have newer targets */
        ptxi_parse_warn(p, loc, unknown, n, p->tok.s);
    else if (!need)
        ptxi_parse_error(p, loc, unknown, n, p->tok.s);
    else if (p->version < need)
        ptxi_parse_error(p, loc, ".target %.*s requires PTX %u.%u or later", n, p->tok.s, need / 10, need % 10);
}

static bool token_is(const struct ptxi_token *t, const char *s)
{
    return t->kind == PTXI_TOK_NAME && t->n == strlen(s) && !memcmp(t->s, s, t->n);
}

/* The words of one .target directive that have been parsed. */
struct target_list {
    bool architecture, independent, unified;
};

static bool parse_target_item(struct parser *p, struct target_list *list)
{
    struct ptxi_module_ast *m = p->ast;
    struct ptxi_loc loc = ptxi_parse_loc(p);
    struct ptxi_target t;
    int n = (int)p->tok.n;

    if (p->tok.kind != PTXI_TOK_NAME)
        return ptxi_parse_error_expected(p, "a target such as sm_90");
    if (parse_architecture(&p->tok, &t)) {
        check_architecture(p, t);
        p->target = t;
        list->architecture = true;
        if (t.sm > m->target.sm || (t.sm == m->target.sm && t.suffix))
            m->target = t;
    } else if (!list->architecture) {
        ptxi_parse_error(p, loc, "'%.*s' is not an architecture: .target must begin with one, such as sm_90", n,
                         p->tok.s);
    } else if (token_is(&p->tok, "debug")) {
        m->debug = p->debug = true;
    } else if (token_is(&p->tok, "texmode_independent")) {
        m->texmode_independent = list->independent = true;
    } else if (token_is(&p->tok, "texmode_unified")) {
        list->unified = true;
    } else if (!token_is(&p->tok, "map_f64_to_f32")) {
        ptxi_parse_error(p, loc, "unknown target '%.*s'", n, p->tok.s);
    } else if (p->target.sm >= 13) {
        ptxi_parse_error(p, loc, "'map_f64_to_f32' is only accepted for targets lower than sm_13");
    } else {
        m->map_f64_to_f32 = true;
    }
    if (list->independent && list->unified)
        ptxi_parse_error(p, loc, "'texmode_unified' and 'texmode_independent' cannot be combined");
    ptxi_parse_next(p);
    return true;
}

bool ptxi_target_parse(struct parser *p)
{
    struct target_list list = { 0 };

    if (ptxi_parse_directive(&p->tok) != PTXI_D_target)
        return ptxi_parse_error_expected(p, "'.target'");
    ptxi_parse_next(p);
    do
        if (!parse_target_item(p, &list))
            return false;
    while (ptxi_parse_accept(p, ','));
    p->opcodes = NULL;
    return true;
}

/* ---- .address_size ---- */

static bool parse_address_size(struct parser *p)
{
    struct ptxi_loc loc = ptxi_parse_loc(p);
    uint64_t v;

    ptxi_parse_next(p);
    if (!ptxi_expr_uint(p, 32, 64, "the address size", &v))
        return false;
    if (v != 32 && v != 64) {
        ptxi_parse_error(p, loc, "invalid address size: it must be 32 or 64");
        return false;
    }
    if (p->have_address_size) {
        ptxi_parse_error(p, loc, "duplicate '.address_size'");
        return false;
    }
    if (p->text && v != p->ast->address_size) {
        ptxi_parse_error(p, loc, "conflicting address sizes: all modules of one text must have the same");
        return false;
    }
    p->ast->address_size = (uint8_t)v;
    p->narrow_addresses |= v == 32;
    p->have_address_size = true;
    return true;
}

bool ptxi_target_parse_module_head(struct parser *p)
{
    if (ptxi_parse_directive(&p->tok) != PTXI_D_version)
        return ptxi_parse_error_expected(p, "'.version'");
    p->have_metadata = false;
    if (!parse_version(p))
        return false;
    do /* the last .target is the one that counts */
        if (!ptxi_target_parse(p))
            return false;
    while (ptxi_parse_directive(&p->tok) == PTXI_D_target);
    return ptxi_parse_directive(&p->tok) != PTXI_D_address_size || parse_address_size(p);
}
