/* ptxi check: is it PTX, and can it be executed? */
#include "cmd.h"

#include "api/module/module.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line of ptxiModuleGetUnsupported, "FILE:LINE:COLUMN: FUNCTION: SPELLING". */
struct unsupported {
    const char *function, *spelling; /* in the text */
    size_t place;                    /* bytes of "FILE:LINE:COLUMN" */
    const char *text;
    unsigned times;
};

static const char *split(const char *from, const char *end, const char *what)
{
    const char *p = memmem(from, (size_t)(end - from), what, strlen(what));

    return p ? p + strlen(what) : end;
}

static bool same(const struct unsupported *a, const struct unsupported *b)
{
    size_t n = strcspn(a->function, "\n");

    return n == strcspn(b->function, "\n") && !memcmp(a->function, b->function, n);
}

/* Each spelling of a function once; neither is long, but functions may be. */
static unsigned collect(const char *text, size_t file, struct unsupported *list)
{
    unsigned n = 0, i;

    for (const char *end; *text; text = end + 1) {
        struct unsupported u = { .text = text, .times = 1 };

        end = text + strcspn(text, "\n");
        u.function = split(text + file, end, ": ");
        u.place = (size_t)(u.function - text) - 2;
        u.spelling = split(u.function, end, ": ");
        for (i = 0; i < n && !same(&list[i], &u); i++)
            ;
        if (i < n)
            list[i].times++;
        else
            list[n++] = u;
    }
    return n;
}

static unsigned print_unsupported(const char *text, const char *file)
{
    size_t lines = 0;

    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    struct unsupported *list = calloc(lines + 1, sizeof *list);
    unsigned n = list ? collect(text, strlen(file), list) : 0, functions = 0;

    for (unsigned i = 0; i < n; i++) {
        const struct unsupported *u = &list[i];
        int name = (int)(u->spelling - u->function) - 2;

        if (!i || strncmp(u->function, list[i - 1].function, (size_t)name + 2))
            functions++;
        printf("%.*s: %.*s: cannot execute yet: %.*s", (int)u->place, u->text, name, u->function, (int)strcspn(u->spelling, "\n"),
               u->spelling);
        printf(u->times > 1 ? " (and %u more)\n" : "\n", u->times - 1);
    }
    free(list);
    return functions;
}

static void plural(struct ptxi_str *s, unsigned n, const char *what)
{
    ptxi_str_printf(s, ", %u %s%s", n, what, n == 1 ? "" : "s");
}

static void summary(ptxiModule m, struct ptxi_str *s)
{
    unsigned functions = 0;

    for (uint32_t i = 0; i < m->tree->func_count; i++)
        functions += !m->tree->funcs[i]->is_entry && m->tree->funcs[i]->has_body;
    ptxi_cmd_target(m, s);
    plural(s, m->kernel_count, "kernel");
    plural(s, functions, "function");
}

static int check(const char *file, const struct cmd_load_options *options)
{
    ptxiModule m = ptxi_cmd_load(file, options);
    char *text = NULL;

    if (!m) {
        if (!options->quiet)
            printf("%s: not valid\n", file);
        return CMD_FAILED;
    }
    ptxiResult r = ptxiModuleGetUnsupported(m, &text);

    if (r) {
        ptxi_cmd_error("%s: %s", file, ptxi_cmd_result(r));
        ptxiModuleUnload(m);
        return CMD_FAILED;
    }
    unsigned bad = print_unsupported(text, m->name);
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    summary(m, &s);
    if (bad)
        printf("%s: %s: %u of them cannot be executed yet\n", file, ptxi_str_text(&s), bad);
    else if (!options->quiet)
        printf("%s: %s: ok\n", file, ptxi_str_text(&s));
    ptxi_str_free(&s);
    ptxiFree(text);
    ptxiModuleUnload(m);
    return bad ? CMD_NOT_EXECUTABLE : CMD_OK;
}

int ptxi_cmd_check(int argc, char **argv)
{
    enum { STRICT = 256 };
    static const struct option options[] = {
        { "quiet", no_argument, NULL, 'q' }, { "device", required_argument, NULL, 'd' }, { "strict", no_argument, NULL, STRICT },
        { "help", no_argument, NULL, 'h' }, { 0 },
    };
    struct cmd_load_options load = { 0 };
    const char *device = NULL;
    int worst = CMD_OK;

    for (int c; (c = getopt_long(argc, argv, "qd:h", options, NULL)) != -1;) {
        switch (c) {
        case 'q': load.quiet = true; break;
        case 'd': device = optarg; break;
        case STRICT: load.strict = true; break;
        case 'h': return ptxi_cmd_help(2, (char *[]){ argv[0], "check" });
        default: return ptxi_cmd_usage();
        }
    }
    if (!ptxi_cmd_has_files(argc) || !ptxi_cmd_open(device))
        return CMD_USAGE;
    for (int i = optind; i < argc; i++) {
        int status = check(argv[i], &load);

        if (status == CMD_FAILED || worst == CMD_OK)
            worst = status;
    }
    return worst;
}
