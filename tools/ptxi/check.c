/* ptxi check: whether files are valid PTX and can be executed. */
#include "load.h"

#include "api/inspect/inspect.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line of ptxiModuleGetUnsupported, "FILE:LINE:COLUMN: FUNCTION: SPELLING". Pointers are into the text. */
struct unsupported {
    const char *line;
    size_t place;         /* bytes of "FILE:LINE:COLUMN" */
    const char *function;
    size_t name;          /* bytes of the function's name */
    const char *spelling; /* up to the end of the line */
    unsigned times;       /* lines with the same function and spelling */
};

/* The text after the next ": ", or `end`. */
static const char *after_colon(const char *from, const char *end)
{
    const char *p = memmem(from, (size_t)(end - from), ": ", 2);

    return p ? p + 2 : end;
}

/* `file` is the length of the file name, which may contain colons. */
static struct unsupported parse_line(const char *line, const char *end, size_t file)
{
    struct unsupported u = { .line = line, .times = 1 };

    assert(file < (size_t)(end - line));
    u.function = after_colon(line + file, end);
    u.spelling = after_colon(u.function, end);
    u.place = (size_t)(u.function - line) - 2;
    u.name = (size_t)(u.spelling - u.function) - 2;
    return u;
}

static bool is_same_function(const struct unsupported *a, const struct unsupported *b)
{
    return a->name == b->name && !memcmp(a->function, b->function, a->name);
}

static bool is_same(const struct unsupported *a, const struct unsupported *b)
{
    size_t n = strcspn(a->spelling, "\n");

    return is_same_function(a, b) && n == strcspn(b->spelling, "\n") && !memcmp(a->spelling, b->spelling, n);
}

/* Merge lines with the same function and spelling. Returns the number of different ones. */
static unsigned collect(const char *text, size_t file, struct unsupported *list)
{
    unsigned n = 0, i;

    for (const char *end; *text; text = end + 1) {
        end = text + strcspn(text, "\n");
        struct unsupported u = parse_line(text, end, file);

        for (i = 0; i < n && !is_same(&list[i], &u); i++)
            ;
        if (i < n)
            list[i].times++;
        else
            list[n++] = u;
    }
    return n;
}

static void print_one(const struct unsupported *u)
{
    printf("%.*s: %.*s: cannot execute yet: %.*s", (int)u->place, u->line, (int)u->name, u->function,
           (int)strcspn(u->spelling, "\n"), u->spelling);
    if (u->times > 1)
        printf(" (and %u more)", u->times - 1);
    putchar('\n');
}

/* Returns the number of functions that contain instructions which cannot be executed. */
static unsigned print_unsupported(const char *text, const char *file)
{
    size_t lines = 0;

    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    struct unsupported *list = calloc(lines + 1, sizeof *list);
    unsigned n = list ? collect(text, strlen(file), list) : 0, functions = 0;

    assert(n <= lines);
    for (unsigned i = 0; i < n; i++) {
        functions += !i || !is_same_function(&list[i], &list[i - 1]);
        print_one(&list[i]);
    }
    free(list);
    return functions;
}

static void print_count(unsigned n, const char *what)
{
    printf(", %u %s%s", n, what, n == 1 ? "" : "s");
}

static void print_summary(const char *file, ptxiModule m, unsigned bad)
{
    struct ptxi_module_info info = { .functions = 0 };
    unsigned kernels = 0;

    ptxi_inspect_module(m, &info);
    ptxiModuleGetFunctionCount(&kernels, m);
    printf("%s: ", file);
    ptxi_cmd_print_target(m);
    print_count(kernels, "kernel");
    print_count(info.functions, "function");
    if (bad)
        printf(": %u of them cannot be executed yet\n", bad);
    else
        puts(": ok");
}

struct check {
    const char *file;
    bool quiet;
};

static int check_module(ptxiModule m, const char *label, void *ctx)
{
    struct check *c = ctx;
    char *text = NULL;
    ptxiResult r = ptxiModuleGetUnsupported(m, &text);

    if (r) {
        ptxi_cmd_error("%s: %s", label, ptxi_cmd_result(r));
        return CMD_FAILED;
    }
    unsigned bad = print_unsupported(text, ptxi_cmd_file_name(c->file));

    ptxiFree(text);
    if (bad || !c->quiet)
        print_summary(label, m, bad);
    return bad ? CMD_NOT_EXECUTABLE : CMD_OK;
}

static int check_file(const char *file, const struct cmd_load_options *options)
{
    struct check c = { .file = file, .quiet = options->quiet };
    int status = ptxi_cmd_load_each(file, options, check_module, &c);

    if (status == CMD_FAILED && !options->quiet)
        printf("%s: invalid\n", file);
    return status;
}

int ptxi_cmd_check(int argc, char **argv)
{
    enum { STRICT = 256 };
    static const struct option options[] = {
        { "quiet", no_argument, NULL, 'q' }, { "device", required_argument, NULL, 'd' },
        { "strict", no_argument, NULL, STRICT }, { "help", no_argument, NULL, 'h' }, { 0 },
    };
    struct cmd_load_options load = { 0 };
    const char *device = NULL;
    int status = CMD_OK;

    for (int c; (c = getopt_long(argc, argv, "qd:h", options, NULL)) != -1;) {
        switch (c) {
        case 'q': load.quiet = true; break;
        case 'd': device = optarg; break;
        case STRICT: load.strict = true; break;
        case 'h': return CMD_SHOW_HELP;
        default: return ptxi_cmd_usage();
        }
    }
    if (!ptxi_cmd_has_files(argc) || !ptxi_cmd_open(device))
        return CMD_USAGE;
    for (int i = optind; i < argc; i++)
        status = ptxi_cmd_worse(status, check_file(argv[i], &load));
    return status;
}
