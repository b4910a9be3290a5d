/* A module names the files, and a report may go to whoever has sent the module. So only files that look like source are
 * read, PTXI_SOURCE=0 turns it off, and nothing but a regular file is opened, since other ones may block. */
#include "api/error/source.h"

#include "base/demangle.h"
#include "base/diag.h"
#include "base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_CALLS = 16 /* of a chain that are shown */, MOST_SOURCE = 1 << 26 /* bytes of a file */ };

const char *ptxi_source_file(const struct ptxi_module_ast *tree, const struct ptxi_source_line *line)
{
    return line && line->line && line->file && line->file < tree->file_count ? tree->files[line->file] : NULL;
}

/* Whether the name ends as those of source files that a compiler for PTX reads. */
static bool is_source_name(const char *file)
{
    static const char *const suffixes[] = {
        "c", "cc", "cpp", "cu", "cuh", "cxx", "h", "hh", "hpp", "hxx", "inc", "inl", "jl", "mojo", "py", "rs",
    };
    const char *dot = strrchr(file, '.');

    for (size_t k = 0; dot && k < sizeof suffixes / sizeof *suffixes; k++)
        if (!strcmp(dot + 1, suffixes[k]))
            return true;
    return false;
}

static bool is_enabled(void)
{
    const char *value = getenv("PTXI_SOURCE");

    return !value || strcmp(value, "0");
}

static FILE *open_source(const char *file)
{
    int fd = is_enabled() && is_source_name(file) ? open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
    struct stat s;
    FILE *f = fd >= 0 && !fstat(fd, &s) && S_ISREG(s.st_mode) ? fdopen(fd, "r") : NULL;

    if (fd >= 0 && !f)
        close(fd);
    return f;
}

static char *read_source(const char *file, size_t *size)
{
    FILE *f = open_source(file);
    char *text = f ? ptxi_read_all(f, MOST_SOURCE, size) : NULL;

    if (f)
        fclose(f);
    return text;
}

static void put_place(const char *file, uint32_t line, uint32_t column, struct ptxi_str *out)
{
    ptxi_str_printf(out, "%s:%u", file ? file : "<unknown>", line);
    if (column)
        ptxi_str_printf(out, ":%u", column);
}

static void put_calls(const struct ptxi_module_ast *tree, const struct ptxi_inlined_call *call, struct ptxi_str *out)
{
    for (int k = 0; call && k < MOST_CALLS; k++, call = call->caller) {
        const struct ptxi_source_line at = { call->file, call->line, call->column, NULL };

        ptxi_str_puts(out, "note: ");
        if (call->function) {
            ptxi_str_puts(out, "in ");
            ptxi_demangle(call->function, out);
            ptxi_str_puts(out, ", ");
        }
        ptxi_str_puts(out, "inlined at ");
        put_place(ptxi_source_file(tree, &at), call->line, call->column, out);
        ptxi_str_putc(out, '\n');
    }
    if (call)
        ptxi_str_puts(out, "note: further calls are not shown\n");
}

void ptxi_source_render(const struct ptxi_module_ast *tree, const struct ptxi_source_line *line, const char *label,
                        const char *message, struct ptxi_str *out)
{
    const char *file = ptxi_source_file(tree, line);
    size_t size = 0;
    char *text = read_source(file, &size);

    ptxi_diag_render_one(out, text, size, file, (struct ptxi_loc){ line->line, line->column, 1 }, label, message);
    free(text);
    put_calls(tree, line->inlined, out);
}
