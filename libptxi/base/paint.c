#include "base/paint.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BOLD "\033[1m"
#define CARET "\033[1;32m"
#define PLAIN "\033[0m"

bool ptxi_paint_wanted(FILE *f)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");

    return !(no && *no) && !(terminal && !strcmp(terminal, "dumb")) && isatty(fileno(f));
}

static const struct label {
    const char *word, *colour;
} labels[] = {
    { "error: ", "\033[1;31m" }, { "warning: ", "\033[1;35m" }, { "note: ", "\033[1;36m" },
};

/* Finds the first label of a line: at its beginning, or after the place. */
static const struct label *find_label(const char *line, size_t n, size_t *at)
{
    const struct label *first = NULL;

    for (size_t k = 0; k < sizeof labels / sizeof *labels; k++) {
        const char *found = memmem(line, n, labels[k].word, strlen(labels[k].word));
        size_t where = found ? (size_t)(found - line) : n;

        if (where >= (first ? *at : n) || (where && (where < 2 || found[-1] != ' ' || found[-2] != ':')))
            continue;
        *at = where;
        first = &labels[k];
    }
    return first;
}

/* "      |    ^~~" */
static bool is_caret_line(const char *line, size_t n)
{
    size_t blanks = strspn(line, " ");

    return blanks < n && line[blanks] == '|' && blanks + 1 + strspn(line + blanks + 1, " \t^~") >= n;
}

static void paint_line(const char *line, size_t n, struct ptxi_str *out)
{
    size_t at = 0;
    const struct label *label = find_label(line, n, &at);

    if (label) {
        if (at)
            ptxi_str_printf(out, BOLD "%.*s" PLAIN " ", (int)at - 1, line);
        ptxi_str_printf(out, "%s%.*s" PLAIN, label->colour, (int)strlen(label->word) - 1, label->word);
        at += strlen(label->word) - 1;
    } else if (is_caret_line(line, n)) {
        at = strcspn(line, "^");
        ptxi_str_printf(out, "%.*s" CARET "%.*s" PLAIN, (int)at, line, (int)(n - at), line + at);
        at = n;
    }
    ptxi_str_put(out, line + at, n - at);
}

void ptxi_paint(const char *text, struct ptxi_str *out)
{
    while (*text) {
        size_t n = strcspn(text, "\n");

        paint_line(text, n, out);
        if (text[n])
            ptxi_str_putc(out, text[n++]);
        text += n;
    }
}

void ptxi_paint_write(const char *text, FILE *f)
{
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    if (ptxi_paint_wanted(f))
        ptxi_paint(text, &s);
    if (s.len && !s.oom)
        text = ptxi_str_text(&s);
    fwrite(text, 1, strlen(text), f);
    ptxi_str_free(&s);
}
