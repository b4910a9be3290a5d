/* The lexer (PTX ISA, "Source Format", "Comments", "Identifiers", "Constants"). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strtod_l */
#endif

#include "parse/lex.h"

#include <assert.h>
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Character classes, a set of bits. */
enum {
    BLANK = 1,
    START = 2,   /* begins an identifier */
    FOLLOW = 4,  /* continues an identifier */
    DIGIT = 8,
    HEX = 16,
    PREFIX = 32, /* begins an identifier if another character follows */
    SINGLE = 64  /* a token of one character */
};

static const uint8_t classes[256] = {
    [' '] = BLANK, ['\t'] = BLANK, ['\r'] = BLANK, ['\n'] = BLANK, ['\f'] = BLANK, ['\v'] = BLANK,
    ['0' ... '9'] = FOLLOW | DIGIT | HEX,
    ['a' ... 'f'] = START | FOLLOW | HEX, ['A' ... 'F'] = START | FOLLOW | HEX,
    ['g' ... 'z'] = START | FOLLOW, ['G' ... 'Z'] = START | FOLLOW,
    [','] = SINGLE, [';'] = SINGLE, ['['] = SINGLE, [']'] = SINGLE, ['{'] = SINGLE, ['}'] = SINGLE,
    ['('] = SINGLE, [')'] = SINGLE, ['+'] = SINGLE, ['-'] = SINGLE, [':'] = SINGLE,
    ['_'] = PREFIX | FOLLOW, ['$'] = PREFIX | FOLLOW, ['%'] = PREFIX,
};

static inline bool has_class(char c, unsigned mask)
{
    return classes[(unsigned char)c] & mask;
}

void ptxi_lex_init(struct ptxi_lexer *lx, const char *text, size_t size, struct ptxi_diag *diags)
{
    /* PTX from the fat binary of an executable may be padded with NULs */
    while (size && !text[size - 1])
        size--;
    *lx = (struct ptxi_lexer){ .p = text, .end = text + size, .line_start = text, .line = 1, .diags = diags };
}

static void report(struct ptxi_lexer *lx, const char *at, uint32_t n, const char *msg)
{
    struct ptxi_loc loc = { lx->line, (uint32_t)(at - lx->line_start) + 1, n };

    assert(at >= lx->line_start && at <= lx->end);

    ptxi_diag_add(lx->diags, PTXI_DIAG_ERROR, loc, "%s", msg);
}

static void begin_line(struct ptxi_lexer *lx, const char *after)
{
    lx->line++;
    lx->line_start = after;
}

static const char *skip_block_comment(struct ptxi_lexer *lx, const char *p)
{
    static const char unterminated[] = "unterminated comment: expected '*/'";
    const char *begin = p;

    for (p += 2; p < lx->end; p++) {
        if (*p == '\n')
            begin_line(lx, p + 1);
        else if (*p == '*' && p + 1 < lx->end && p[1] == '/')
            return p + 2;
    }
    if (begin >= lx->line_start) /* on the last line, so that its column is known */
        report(lx, begin, 2, unterminated);
    else
        ptxi_diag_add(lx->diags, PTXI_DIAG_ERROR, PTXI_LOC_NONE, "%s", unterminated);
    return p;
}

/* `#line 5 "file"` and `# 5 "file"`, which a preprocessor writes. They are skipped. */
static bool is_line_marker(const struct ptxi_lexer *lx, const char *p)
{
    for (const char *q = lx->line_start; q < p; q++)
        if (!has_class(*q, BLANK))
            return false;
    p++;
    while (p < lx->end && (*p == ' ' || *p == '\t'))
        p++;
    if (lx->end - p > 4 && !memcmp(p, "line", 4))
        p += 4;
    while (p < lx->end && (*p == ' ' || *p == '\t'))
        p++;
    return p < lx->end && has_class(*p, DIGIT);
}

static const char *line_end(const struct ptxi_lexer *lx, const char *p)
{
    const char *nl = memchr(p, '\n', (size_t)(lx->end - p));

    return nl ? nl : lx->end;
}

/* Skips blanks and comments. */
static const char *skip_blanks(struct ptxi_lexer *lx, const char *p)
{
    while (p < lx->end) {
        if (*p == '\n') {
            begin_line(lx, ++p);
        } else if (has_class(*p, BLANK)) {
            p++;
        } else if (*p == '/' && p + 1 < lx->end && p[1] == '/') {
            p = line_end(lx, p);
        } else if (*p == '/' && p + 1 < lx->end && p[1] == '*') {
            p = skip_block_comment(lx, p);
        } else if (*p == '#' && is_line_marker(lx, p)) {
            p = line_end(lx, p);
        } else {
            break;
        }
    }
    return p;
}

static const char *scan_follow(const struct ptxi_lexer *lx, const char *p)
{
    while (p < lx->end && has_class(*p, FOLLOW))
        p++;
    return p;
}

static unsigned hex_digit(char c)
{
    return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

/* Integer digits of a base from p on. *over is set when ptxas would report an overflow: if the highest bit is set
 * before another digit is added. Otherwise the value is the number modulo 2^64. */
static const char *scan_digits(const struct ptxi_lexer *lx, const char *p, unsigned base, uint64_t *value, bool *over)
{
    uint64_t v = 0;

    for (; p < lx->end && has_class(*p, HEX) && hex_digit(*p) < base; p++) {
        *over |= v >> 63;
        v = v * base + hex_digit(*p);
    }
    *value = v;
    return p;
}

/* strtod in the C locale and the default rounding mode, whatever the host program has set. */
static __attribute__((noinline)) double convert_decimal(const char *s)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    fenv_t env;
    double d;

    fegetenv(&env);
    fesetenv(FE_DFL_ENV);
    d = c ? strtod_l(s, NULL, c) : strtod(s, NULL);
    fesetenv(&env);
    if (c)
        freelocale(c);
    return d;
}

/* Decimal floating-point: digits [. digits] [e[+-]digits] */
static const char *scan_float(struct ptxi_lexer *lx, const char *p, struct ptxi_token *t)
{
    char buf[512];
    const char *begin = p;
    double d;

    while (p < lx->end && has_class(*p, DIGIT))
        p++;
    if (p < lx->end && *p == '.')
        p++;
    while (p < lx->end && has_class(*p, DIGIT))
        p++;
    if (p < lx->end && (*p == 'e' || *p == 'E')) {
        const char *q = p + 1;

        if (q < lx->end && (*q == '+' || *q == '-'))
            q++;
        if (q < lx->end && has_class(*q, DIGIT))
            for (p = q; p < lx->end && has_class(*p, DIGIT); p++)
                ;
    }
    if ((size_t)(p - begin) >= sizeof buf) {
        report(lx, begin, (uint32_t)(p - begin),
               "floating-point constant is too long: at most 511 characters are accepted");
        t->kind = PTXI_TOK_BAD;
        return p;
    }
    memcpy(buf, begin, (size_t)(p - begin));
    buf[p - begin] = 0;
    d = convert_decimal(buf);
    memcpy(&t->number, &d, sizeof d);
    t->kind = PTXI_TOK_F64;
    if (isinf(d) || (d == 0 && strspn(buf, "0.") != strcspn(buf, "eE"))) {
        report(lx, begin, (uint32_t)(p - begin), "floating-point constant is out of range of .f64");
        t->kind = PTXI_TOK_BAD;
    }
    return p;
}

/* 0f and 8 digits, 0d and 16. */
static const char *scan_hex_float(struct ptxi_lexer *lx, const char *p, struct ptxi_token *t)
{
    bool single = (p[1] | 32) == 'f', over = false;
    const char *begin = p, *e = scan_digits(lx, p + 2, 16, &t->number, &over);

    t->kind = single ? PTXI_TOK_F32 : PTXI_TOK_F64;
    if (e - begin != (single ? 10 : 18)) {
        report(lx, begin, (uint32_t)(e - begin), 
               single ? "expected exactly 8 hexadecimal digits after '0f'"
                      : "expected exactly 16 hexadecimal digits after '0d'");
        t->kind = PTXI_TOK_BAD;
    }
    return e;
}

static const char *scan_number(struct ptxi_lexer *lx, const char *p, struct ptxi_token *t)
{
    const char *begin = p, *e;
    char second = p[0] == '0' && p + 1 < lx->end ? p[1] | 32 : 0;
    bool over = false;

    t->kind = PTXI_TOK_INT;
    t->is_unsigned = false;
    if (second == 'f' || second == 'd') {
        e = scan_hex_float(lx, p, t);
    } else if (second == 'x' || second == 'b') {
        e = scan_digits(lx, p + 2, second == 'x' ? 16 : 2, &t->number, &over);
        if (e == p + 2) {
            report(lx, begin, 2,
                   second == 'x' ? "expected hexadecimal digits after '0x'" : "expected binary digits after '0b'");
            t->kind = PTXI_TOK_BAD;
        }
    } else {
        e = scan_digits(lx, p, 10, &t->number, &over);
        if (e < lx->end && (*e == '.' || *e == 'e' || *e == 'E')) {
            over = false;
            e = scan_float(lx, p, t);
        } else if (*p == '0' && e > p + 1) {
            over = false;
            e = scan_digits(lx, p, 8, &t->number, &over);
        }
    }
    if (t->kind == PTXI_TOK_INT) {
        if (e < lx->end && *e == 'U') {
            t->is_unsigned = true;
            e++;
        }
        if (t->number > INT64_MAX)
            t->is_unsigned = true;
    }
    if (e < lx->end && has_class(*e, FOLLOW)) {
        e = scan_follow(lx, e);
        report(lx, begin, (uint32_t)(e - begin), "invalid character in a number");
        t->kind = PTXI_TOK_BAD;
    } else if (over) {
        report(lx, begin, (uint32_t)(e - begin), "integer constant does not fit in 64 bits");
        t->kind = PTXI_TOK_BAD;
    }
    return e;
}

/* A backslash is an ordinary character, as in the Windows paths of .file. */
static const char *scan_string(struct ptxi_lexer *lx, const char *p, struct ptxi_token *t)
{
    const char *e = p + 1;

    while (e < lx->end && *e != '"' && *e != '\n')
        e++;
    t->s = p + 1;
    t->n = (uint32_t)(e - p - 1);
    t->kind = PTXI_TOK_STRING;
    if (e == lx->end || *e == '\n') {
        report(lx, p, 1, "unterminated string: expected '\"'");
        t->kind = PTXI_TOK_BAD;
        return e;
    }
    return e + 1;
}

/* Operators of two characters, @@DWARF, and any other single character. */
static const char *scan_operator(struct ptxi_lexer *lx, const char *p, struct ptxi_token *t)
{
    static const struct { char text[3]; uint8_t kind; } pairs[] = {
        { "<<", PTXI_TOK_SHL }, { ">>", PTXI_TOK_SHR }, { "<=", PTXI_TOK_LE }, { ">=", PTXI_TOK_GE },
        { "==", PTXI_TOK_EQ }, { "!=", PTXI_TOK_NE }, { "&&", PTXI_TOK_AND }, { "||", PTXI_TOK_OR },
    };

    if (p + 1 < lx->end)
        for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++)
            if (p[0] == pairs[i].text[0] && p[1] == pairs[i].text[1]) {
                t->kind = pairs[i].kind;
                t->n = 2;
                return p + 2;
            }
    if (lx->end - p >= 7 && !memcmp(p, "@@DWARF", 7)) {
        t->kind = PTXI_TOK_DWARF;
        t->n = 7;
        return p + 7;
    }
    t->kind = (uint8_t)*p;
    t->n = 1;
    return p + 1;
}

/* Strings, operators, and characters that PTX does not have. */
static const char *scan_other(struct ptxi_lexer *lx, const char *p, struct ptxi_token *t)
{
    if (*p == '"')
        return scan_string(lx, p, t);
    if (*p > ' ' && *p < 127 && !strchr("#$'\\`", *p))
        return scan_operator(lx, p, t);
    while (p < lx->end && !has_class(*p, BLANK | FOLLOW) && !strchr(",;{}[]()", *p))
        p++;
    if (p == t->s)
        p++; /* a NUL, which strchr finds in every string */
    report(lx, t->s, (uint32_t)(p - t->s), *t->s == '#' ? "PTX has no preprocessor directives" : "invalid character");
    t->kind = PTXI_TOK_BAD;
    t->n = (uint32_t)(p - t->s);
    return p;
}

/* The end of "word::word" or "word::2:4" that begins at p. */
static const char *scan_word(const struct ptxi_lexer *lx, const char *p)
{
    p = scan_follow(lx, p);
    while (p + 2 < lx->end && p[0] == ':' && p[1] == ':' && has_class(p[2], FOLLOW)) {
        p = scan_follow(lx, p + 2);
        if (p + 1 < lx->end && *p == ':' && has_class(p[-1], DIGIT) && has_class(p[1], DIGIT))
            p = scan_follow(lx, p + 1);
    }
    return p;
}

void ptxi_lex_next(struct ptxi_lexer *lx, struct ptxi_token *t)
{
    const char *p = skip_blanks(lx, lx->p);

    assert(lx->p <= lx->end);
    t->s = p;
    t->line = lx->line;
    t->col = (uint32_t)(p - lx->line_start) + 1;
    if (p >= lx->end) {
        t->kind = PTXI_TOK_END;
        t->n = 0;
        lx->p = p;
        return;
    }
    if (has_class(*p, START) || (has_class(*p, PREFIX) && p + 1 < lx->end && has_class(p[1], FOLLOW))) {
        p = scan_follow(lx, p + 1);
        t->kind = PTXI_TOK_NAME;
        t->n = (uint32_t)(p - t->s);
    } else if (has_class(*p, SINGLE)) {
        t->kind = (uint8_t)*p++;
        t->n = 1;
    } else if (has_class(*p, DIGIT) || (*p == '.' && p + 1 < lx->end && has_class(p[1], DIGIT))) {
        p = has_class(*p, DIGIT) ? scan_number(lx, p, t) : scan_float(lx, p, t);
        t->n = (uint32_t)(p - t->s);
    } else if (*p == '.' && p + 1 < lx->end && has_class(p[1], START | PREFIX) && p[1] != '%') {
        t->s = ++p;
        p = scan_word(lx, p);
        t->kind = PTXI_TOK_WORD;
        t->n = (uint32_t)(p - t->s);
    } else if (*p == '_') {
        p++;
        t->kind = '_';
        t->n = 1;
    } else {
        p = scan_other(lx, p, t);
    }
    lx->p = p;
}

/* The end of ".word::word.word" that begins at p. */
static const char *scan_qualifiers(const struct ptxi_lexer *lx, const char *p)
{
    while (p + 1 < lx->end && *p == '.' && has_class(p[1], FOLLOW)) {
        p = scan_word(lx, p + 1);
    }
    return p;
}

bool ptxi_lex_opcode(struct ptxi_lexer *lx, struct ptxi_token *t, char *buf, size_t size)
{
    const char *e = scan_qualifiers(lx, lx->p);
    size_t n = (size_t)(e - t->s);

    if (e < lx->end && *e == ' ' && e + 1 < lx->end && e[1] != '.' && !has_class(e[1], BLANK) && e[1] != '/') {
        lx->p = e; /* the usual case: one blank before the first operand */
        t->n = (uint32_t)n;
        return true;
    }
    lx->p = skip_blanks(lx, e);
    t->n = (uint32_t)n;
    if (lx->p == e || lx->p + 1 >= lx->end || *lx->p != '.' || !has_class(lx->p[1], FOLLOW))
        return true;
    for (const char *part = t->s;;) {
        if (n >= size) {
            report(lx, lx->p, 1, "opcode is too long: at most 255 characters are accepted");
            return false;
        }
        memcpy(buf + (n - (size_t)(e - part)), part, (size_t)(e - part));
        if (lx->p + 1 >= lx->end || *lx->p != '.' || !has_class(lx->p[1], FOLLOW))
            break;
        part = lx->p;
        e = scan_qualifiers(lx, part);
        n += (size_t)(e - part);
        lx->p = skip_blanks(lx, e);
    }
    t->s = buf;
    t->n = (uint32_t)n;
    return true;
}

bool ptxi_lex_at_colon(struct ptxi_lexer *lx)
{
    struct ptxi_lexer ahead = *lx;

    if (lx->p < lx->end && has_class(*lx->p, BLANK))
        ahead.p = skip_blanks(&ahead, lx->p);
    return ahead.p < lx->end && *ahead.p == ':' && !(ahead.p + 1 < lx->end && ahead.p[1] == ':');
}

bool ptxi_lex_at_paren(struct ptxi_lexer *lx)
{
    lx->p = skip_blanks(lx, lx->p);
    return lx->p < lx->end && *lx->p == '(';
}

/* Whether the line from p on, up to e, has only this word. */
static bool line_is(const char *p, const char *e, const char *word)
{
    while (p < e && (*p == ' ' || *p == '\t'))
        p++;
    while (p < e && (e[-1] == ' ' || e[-1] == '\t' || e[-1] == '\r'))
        e--;
    return (size_t)(e - p) == strlen(word) && !memcmp(p, word, (size_t)(e - p));
}

bool ptxi_lex_skip_text(struct ptxi_lexer *lx, const char *end)
{
    const char *wanted = "";

    for (;; wanted = end) {
        const char *e = memchr(lx->p, '\n', (size_t)(lx->end - lx->p));
        bool found;

        if (!e)
            return false;
        found = line_is(lx->p, e, wanted);
        if (wanted != end && !found)
            return false;
        lx->p = lx->line_start = e + 1;
        lx->line++;
        if (found && wanted == end)
            return true;
    }
}
