#include "base/diag.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

enum { WINDOW = 120 }; /* maximal number of columns of a source line in a message */

void ptxi_diag_init(struct ptxi_diag *d, struct ptxi_arena *a)
{
    *d = (struct ptxi_diag){ .arena = a };
}

const char *ptxi_diag_severity_name(enum ptxi_diag_severity s)
{
    static const char *const name[] = { "error", "warning", "note" };

    assert(s < sizeof name / sizeof *name);
    return name[s];
}

/* Counts the message and returns whether it is to be kept. */
static bool count_message(struct ptxi_diag *d, enum ptxi_diag_severity severity)
{
    if (severity == PTXI_DIAG_ERROR)
        d->dropping = d->errors++ >= PTXI_DIAG_MAX;
    else if (severity == PTXI_DIAG_WARNING)
        d->dropping = d->warnings++ >= PTXI_DIAG_MAX;
    return !d->dropping;
}

void ptxi_diag_add(struct ptxi_diag *d, enum ptxi_diag_severity severity, struct ptxi_loc loc, const char *fmt, ...)
{
    va_list ap;

    if (!count_message(d, severity))
        return;
    assert(d->arena);
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);

    struct ptxi_diag_entry *e = ARENA_NEW(d->arena, struct ptxi_diag_entry, 1);
    char *msg = e && n >= 0 ? ptxi_arena_alloc(d->arena, (size_t)n + 1, 1) : NULL;

    if (!msg) {
        d->oom = true;
        return;
    }
    va_start(ap, fmt);
    vsnprintf(msg, (size_t)n + 1, fmt, ap);
    va_end(ap);
    e->severity = severity;
    e->loc = loc;
    e->msg = msg;
    assert(!d->first == !d->last);
    if (d->last)
        d->last->next = e;
    else
        d->first = e;
    d->last = e;
}

struct text_range {
    const char *s;
    size_t n;
};

/* The last line that was found, from which the next search starts. Messages are mostly in the order of lines, and
 * modules can have 50 MB. */
struct line_finder {
    const char *text;
    size_t len;
    uint32_t line; /* number of the line that begins at `at` */
    size_t at;
};

static bool find_line(struct line_finder *f, uint32_t line, struct text_range *out)
{
    if (!f->text || !line)
        return false;
    assert(f->at <= f->len);
    if (line < f->line) {
        f->line = 1;
        f->at = 0;
    }
    while (f->line < line) {
        const char *nl = memchr(f->text + f->at, '\n', f->len - f->at);

        if (!nl)
            return false;
        f->at = (size_t)(nl + 1 - f->text);
        f->line++;
    }
    const char *s = f->text + f->at, *nl = memchr(s, '\n', f->len - f->at);

    out->s = s;
    out->n = nl ? (size_t)(nl - s) : f->len - f->at;
    if (out->n && s[out->n - 1] == '\r')
        out->n--;
    return true;
}

/* Replaces control characters, because they could change the state of a terminal. A tab is kept, and the caret line
 * repeats it. */
static void put_visible(struct ptxi_str *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ptxi_str_putc(out, ((unsigned char)s[i] < 0x20 && s[i] != '\t') || s[i] == 0x7f ? '?' : s[i]);
}

static bool is_utf8_tail(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

static void put_blanks(struct ptxi_str *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_utf8_tail(s[i]))
            ptxi_str_putc(out, s[i] == '\t' ? '\t' : ' ');
}

static void quote_line(struct ptxi_str *out, struct text_range line, struct ptxi_loc loc)
{
    size_t col = loc.col ? loc.col - 1 : 0, lo = 0, hi = line.n;

    if (col > line.n)
        col = line.n;
    if (line.n > WINDOW) {
        lo = col > WINDOW / 2 ? col - WINDOW / 2 : 0;
        if (lo > line.n - WINDOW)
            lo = line.n - WINDOW;
        hi = lo + WINDOW;
        while (lo < col && is_utf8_tail(line.s[lo]))
            lo++;
        while (hi < line.n && hi > col && is_utf8_tail(line.s[hi]))
            hi--;
    }
    ptxi_str_printf(out, "%5u | %s", loc.line, lo ? "..." : "");
    put_visible(out, line.s + lo, hi - lo);
    ptxi_str_puts(out, hi < line.n ? "...\n" : "\n");
    if (!loc.col)
        return;
    ptxi_str_puts(out, lo ? "      |    " : "      | ");
    put_blanks(out, line.s + lo, col - lo);
    ptxi_str_putc(out, '^');
    for (size_t i = col + 1; i < hi && i - col < loc.len; i++)
        if (!is_utf8_tail(line.s[i]))
            ptxi_str_putc(out, '~');
    ptxi_str_putc(out, '\n');
}

bool ptxi_diag_put_line(struct ptxi_str *out, const struct ptxi_text *text, uint32_t line)
{
    struct line_finder f = { text->s, text->size, 1, 0 };
    struct text_range range;

    if (!find_line(&f, line, &range))
        return false;
    put_visible(out, range.s, range.n);
    return true;
}

static void render(struct ptxi_str *out, struct line_finder *f, const char *file, struct ptxi_loc loc,
                   const char *label, const char *msg)
{
    struct text_range line;

    if (loc.line && loc.col)
        ptxi_str_printf(out, "%s:%u:%u: ", file, loc.line, loc.col);
    else if (loc.line)
        ptxi_str_printf(out, "%s:%u: ", file, loc.line);
    ptxi_str_printf(out, "%s: %s\n", label, msg);
    if (find_line(f, loc.line, &line))
        quote_line(out, line, loc);
}

void ptxi_diag_render_one(struct ptxi_str *out, const char *text, size_t text_len, const char *file,
                          struct ptxi_loc loc, const char *label, const char *msg)
{
    struct line_finder f = { text, text_len, 1, 0 };

    render(out, &f, file, loc, label, msg);
}

const struct ptxi_text *ptxi_text_at(const struct ptxi_texts *texts, struct ptxi_loc *loc)
{
    const struct ptxi_text *t = texts->at;

    assert(texts->count > 0);
    while (t + 1 < texts->at + texts->count && t[1].first_line <= loc->line)
        t++;
    if (loc->line)
        loc->line -= t->first_line - 1;
    return t;
}

void ptxi_diag_render(const struct ptxi_diag *d, const char *text, size_t text_len, const char *file,
                      struct ptxi_str *out)
{
    struct line_finder f = { text, text_len, 1, 0 };

    for (const struct ptxi_diag_entry *e = d->first; e; e = e->next)
        render(out, &f, file, e->loc, ptxi_diag_severity_name(e->severity), e->msg);
    if (d->errors > PTXI_DIAG_MAX)
        ptxi_str_printf(out, "%s: note: %u further errors not shown\n", file, d->errors - PTXI_DIAG_MAX);
    if (d->warnings > PTXI_DIAG_MAX)
        ptxi_str_printf(out, "%s: note: %u further warnings not shown\n", file, d->warnings - PTXI_DIAG_MAX);
    if (d->oom)
        ptxi_str_printf(out, "%s: note: out of memory, some messages were lost\n", file);
}
