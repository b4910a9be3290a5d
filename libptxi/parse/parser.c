/* Messages, steps from token to token, directives and state spaces: the services that all files of parse/ use. */
#include "parse/parser.h"

#include <stdarg.h>
#include <stdio.h>

static void report(struct parser *p, enum ptxi_diag_severity severity, struct ptxi_loc loc, const char *fmt, va_list ap)
{
    char buf[1024];

    vsnprintf(buf, sizeof buf, fmt, ap);
    ptxi_diag_add(p->diags, severity, loc, "%s", buf);
}

void ptxi_parse_error(struct parser *p, struct ptxi_loc loc, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    report(p, PTXI_DIAG_ERROR, loc, fmt, ap);
    va_end(ap);
}

void ptxi_parse_warn(struct parser *p, struct ptxi_loc loc, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    report(p, PTXI_DIAG_WARNING, loc, fmt, ap);
    va_end(ap);
}

void ptxi_parse_note(struct parser *p, struct ptxi_loc loc, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    report(p, PTXI_DIAG_NOTE, loc, fmt, ap);
    va_end(ap);
}

bool ptxi_parse_error_expected(struct parser *p, const char *what)
{
    const struct ptxi_token *t = &p->tok;
    int n = t->n > 60 ? 60 : (int)t->n;

    if (t->kind == PTXI_TOK_BAD) /* the lexer has reported it */
        return false;
    if (t->kind == PTXI_TOK_END)
        ptxi_parse_error(p, ptxi_token_loc(t), "expected %s at end of input", what);
    else
        ptxi_parse_error(p, ptxi_token_loc(t), "expected %s before '%s%.*s'", what, t->kind == PTXI_TOK_WORD ? "." : "",
                         n, t->s);
    return false;
}

bool ptxi_parse_require(struct parser *p, struct ptxi_loc loc, const char *what, size_t n, unsigned version,
                        unsigned sm)
{
    if (p->version < version)
        ptxi_parse_error(p, loc, "'%.*s' requires PTX %u.%u or later", (int)n, what, version / 10, version % 10);
    else if (p->target.sm < sm)
        ptxi_parse_error(p, loc, "'%.*s' requires .target sm_%u or higher", (int)n, what, sm);
    else
        return true;
    return false;
}

bool ptxi_parse_require_for_token(struct parser *p, unsigned version, unsigned sm)
{
    unsigned dot = p->tok.kind == PTXI_TOK_WORD; /* which the token leaves out */

    return ptxi_parse_require(p, ptxi_parse_loc(p), p->tok.s - dot, p->tok.n + dot, version, sm);
}

bool ptxi_parse_expect(struct parser *p, uint8_t kind)
{
    char quoted[] = "'?'";

    if (p->tok.kind == kind) {
        ptxi_parse_next(p);
        return true;
    }
    switch (kind) {
    case PTXI_TOK_NAME: return ptxi_parse_error_expected(p, "a name");
    case PTXI_TOK_STRING: return ptxi_parse_error_expected(p, "a string");
    case PTXI_TOK_INT: return ptxi_parse_error_expected(p, "an integer");
    default:
        assert(kind < PTXI_TOK_NAME);
        quoted[1] = (char)kind;
        return ptxi_parse_error_expected(p, quoted);
    }
}

bool ptxi_parse_accept(struct parser *p, uint8_t kind)
{
    if (p->tok.kind != kind)
        return false;
    ptxi_parse_next(p);
    return true;
}

void ptxi_parse_recover(struct parser *p, const char *start, uint32_t start_line)
{
    uint32_t line = p->tok.line;

    if (p->tok.s == start && p->tok.kind != PTXI_TOK_END)
        ptxi_parse_next(p);
    for (;; ptxi_parse_next(p)) {
        switch (p->tok.kind) {
        case ';':
            ptxi_parse_next(p);
            return;
        case PTXI_TOK_END:
            return;
        case '}': /* the '}' of a vector is on the line of its instruction, and a ';' follows it */
            if (p->tok.line != line)
                return;
            break;
        case PTXI_TOK_WORD: /* a missing ';' */
            if (p->tok.line != start_line && ptxi_parse_directive(&p->tok) != PTXI_D_NONE)
                return;
            break;
        }
    }
}

bool ptxi_parse_is_register_type(enum ptxi_type t)
{
    return ptxi_types[t].class != 'A' && ptxi_types[t].bits != 0;
}

enum ptxi_directive ptxi_parse_directive(const struct ptxi_token *t)
{
    static const char *const words[] = {
#define DIRECTIVE(word) #word,
#include "parse/directive.def"
#undef DIRECTIVE
    };
    unsigned lo = 0, hi = PTXI_D_COUNT;

    if (t->kind != PTXI_TOK_WORD)
        return PTXI_D_NONE;
    while (lo < hi) {
        unsigned mid = (lo + hi) / 2;
        int c = strncmp(t->s, words[mid], t->n);

        if (!c)
            c = -(words[mid][t->n] != 0); /* the token is a prefix of the word */
        if (!c)
            return mid;
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return PTXI_D_NONE;
}

int ptxi_parse_space(const char *s, size_t n)
{
    static const struct { const char *name; int space; } spaces[] = {
        { "const", PTXI_SPACE_CONST }, { "global", PTXI_SPACE_GLOBAL }, { "local", PTXI_SPACE_LOCAL },
        { "param", PTXI_SPACE_PARAM }, { "shared", PTXI_SPACE_SHARED }, { "tex", PTXI_SPACE_TEX },
    };
    size_t stem = 0; /* without "::cta" and the like */

    while (stem < n && s[stem] != ':')
        stem++;
    for (unsigned i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (strlen(spaces[i].name) == stem && !memcmp(spaces[i].name, s, stem))
            return spaces[i].space;
    return -1;
}

void *ptxi_vec_push(struct parser *p, struct ptxi_vec *v, size_t size)
{
    void *slot;

    assert(size && v->count <= v->cap);
    if (v->count == v->cap) {
        size_t cap = v->cap ? v->cap * 2 : 64;
        char *data = cap > SIZE_MAX / 2 / size ? NULL : ptxi_alloc_resize(p->arena->alloc, v->data, cap * size);

        if (!data) {
            p->arena->oom = true;
            return NULL;
        }
        v->data = data;
        v->cap = cap;
    }
    slot = v->data + v->count++ * size;
    return memset(slot, 0, size);
}

void *ptxi_vec_move_to_arena(struct parser *p, struct ptxi_vec *v, size_t size)
{
    void *copy = ptxi_arena_array(p->arena, v->count, size, alignof(max_align_t));

    if (copy && v->count)
        memcpy(copy, v->data, v->count * size);
    v->count = 0;
    return copy;
}

bool ptxi_parse_numbered_name(struct parser *p, const struct ptxi_token *name, uint32_t i,
                              struct ptxi_numbered_name *out)
{
    /* cppcheck-suppress ctuuninitvar; it takes the array for a pointer that is read */
    int n = snprintf(out->text, sizeof out->text, "%.*s%u", (int)name->n, name->s, (unsigned)i);

    if ((size_t)n >= sizeof out->text) {
        ptxi_parse_error(p, ptxi_token_loc(name), "name is too long: at most %zu characters are accepted",
                         sizeof out->text - 1);
        return false;
    }
    out->tok = *name;
    out->tok.s = out->text;
    out->tok.n = (uint32_t)n;
    return true;
}
