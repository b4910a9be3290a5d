/* Runs kernels that fail. Checks the result of the API and the report, and that the context can be used afterwards.
 *
 *   faults [--update] [file.ptx ...]    default: every file of tests/errors/run
 *
 * A comment in the PTX requests a launch:
 *
 *   //! KERNEL [grid=X[,Y,Z]] [block=X[,Y,Z]] [shared=BYTES] [stack=BYTES] [budget=WARP INSTRUCTIONS]
 *   //!        [ms=MILLISECONDS] [coop] [quiet] [short] [ARGUMENT ...]
 *
 * An argument is u32:N, u64:N, or the name of an area below with +N or -N. Reports are compared with FILE.expected.
 * There, addresses in or near an area are written as area+offset. `quiet` omits the nearest allocation, for addresses
 * that are far from all allocations. `short` keeps only the result and the fault, where the position may differ from
 * run to run. --update writes the expected file. */
#include "ptxi.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AREA = 1024, READONLY_BYTES = 1020, SLOP = 1 << 16, MOST_ARGS = 8 };

static struct area {
    const char *name;
    ptxiDevicePtr base;
} areas[] = { { "buffer", 0 }, { "freed", 0 }, { "readonly", 0 }, { "table", 0 } };
enum { BUFFER, FREED, READONLY, TABLE, AREAS };

static unsigned char readonly_bytes[AREA] __attribute__((aligned(256)));

struct text {
    char *s;
    size_t n;
};

struct launch {
    char kernel[64];
    unsigned grid[3], block[3], shared;
    size_t stack, budget, ms;
    bool coop, quiet, brief;
    unsigned long long arg[MOST_ARGS];
    int args;
};

static void die(const char *what, const char *where)
{
    fprintf(stderr, "%s: %s\n", where, what);
    exit(2);
}

static void ok(ptxiResult r, const char *call)
{
    const char *s = "";

    if (!r)
        return;
    ptxiGetErrorName(r, &s);
    die(s, call);
}
#define OK(call) ok(call, #call)

static void add(struct text *t, const char *format, ...)
{
    char line[4096];
    va_list ap;

    va_start(ap, format);
    int n = vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    if (n < 0 || n >= (int)sizeof line)
        die("line too long", format);
    t->s = realloc(t->s, t->n + (size_t)n + 1);
    if (!t->s)
        die("out of memory", "add");
    memcpy(t->s + t->n, line, (size_t)n + 1);
    t->n += (size_t)n;
}

/* Formats an address for the expected file. */
static void add_address(struct text *t, unsigned long long address)
{
    for (int k = 0; k < AREAS; k++) {
        ptxiDevicePtr base = areas[k].base, from = k == BUFFER ? base - SLOP : base - 8;

        if (base && address >= from && address < base + AREA + (k == BUFFER ? 8 : SLOP)) {
            long long off = (long long)(address - base);

            add(t, "%s%+lld", areas[k].name, off);
            return;
        }
    }
    add(t, "0x%llx", address);
}

static void add_report_text(struct text *t, const char *s, bool quiet)
{
    while (*s) {
        const char *end = strchr(s, '\n');

        end = end ? end + 1 : s + strlen(s);
        if (quiet && !strncmp(s, "note: the address is", 20)) {
            s = end;
            continue;
        }
        while (s < end)
            if (s[0] == '0' && s[1] == 'x') {
                char *after;

                add_address(t, strtoull(s, &after, 16));
                s = after;
            } else {
                add(t, "%c", *s++);
            }
    }
}

static void add_report(struct text *t, const struct launch *l)
{
    static const char *const access[] = { "no access", "read", "write", "atomic access" };
    ptxiReport r = { .size = sizeof r };
    const char *name;

    OK(ptxiGetLastReport(NULL, &r));
    OK(ptxiGetErrorName(r.result, &name));
    if (l->brief) {
        add(t, "%s, fault %d in %s\n", name, (int)r.fault, r.kernel);
        return;
    }
    add(t, "%s, fault %d, %s of %s, block %u,%u,%u, thread %u,%u,%u, %llu threads\n%s of %u bytes at ", name,
        (int)r.fault,
        r.function, r.kernel, r.block[0], r.block[1], r.block[2], r.thread[0], r.thread[1], r.thread[2], r.threads,
        access[r.access], r.accessSize);
    add_address(t, r.address);
    if (!l->quiet) {
        add(t, ", nearest ");
        add_address(t, r.nearestBase);
        add(t, " of %zu", r.nearestSize);
    }
    add(t, ", %s:%u:%u", r.ptxFile, r.ptxLine, r.ptxColumn);
    if (r.sourceFile)
        add(t, ", %s:%u", r.sourceFile, r.sourceLine);
    add(t, "\n");
    add_report_text(t, r.text, l->quiet);
}

/* ---- launch comments */

static void read_three(unsigned v[3], const char *s)
{
    v[0] = v[1] = v[2] = 1;
    sscanf(s, "%u,%u,%u", &v[0], &v[1], &v[2]);
}

static unsigned long long read_argument(const char *s)
{
    if (!strncmp(s, "u32:", 4) || !strncmp(s, "u64:", 4))
        return strtoull(s + 4, NULL, 0);
    for (int k = 0; k < AREAS; k++) {
        size_t n = strlen(areas[k].name);

        if (!strncmp(s, areas[k].name, n))
            return areas[k].base + (unsigned long long)strtoll(s + n, NULL, 0);
    }
    die("unknown argument", s);
    return 0;
}

static void read_word(struct launch *l, const char *s)
{
    const char *v = strchr(s, '=');

    v = v ? v + 1 : "";
    if (!strncmp(s, "grid=", 5))
        read_three(l->grid, v);
    else if (!strncmp(s, "block=", 6))
        read_three(l->block, v);
    else if (!strncmp(s, "shared=", 7))
        l->shared = (unsigned)strtoul(v, NULL, 0);
    else if (!strncmp(s, "stack=", 6))
        l->stack = strtoul(v, NULL, 0);
    else if (!strncmp(s, "budget=", 7))
        l->budget = strtoul(v, NULL, 0);
    else if (!strncmp(s, "ms=", 3))
        l->ms = strtoul(v, NULL, 0);
    else if (!strcmp(s, "coop"))
        l->coop = true;
    else if (!strcmp(s, "quiet"))
        l->quiet = true;
    else if (!strcmp(s, "short"))
        l->brief = true;
    else if (l->args < MOST_ARGS)
        l->arg[l->args++] = read_argument(s);
    else
        die("too many arguments", s);
}

static void read_launch(struct launch *l, const char *line)
{
    char copy[512], *save, *word;

    snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
    *l = (struct launch){ .grid = { 1, 1, 1 }, .block = { 1, 1, 1 } };
    word = strtok_r(copy, " ", &save);
    snprintf(l->kernel, sizeof l->kernel, "%s", word ? word : "");
    while ((word = strtok_r(NULL, " ", &save)))
        read_word(l, word);
}

/* ---- launches */

/* A kernel without faults gives the right result in the same context. */
static void check_alive(ptxiModule module, const char *after)
{
    ptxiFunction f;
    unsigned result = 0;
    void *params[] = { &areas[BUFFER].base };

    if (ptxiCtxSynchronize() != PTXI_SUCCESS)
        die("a failure was returned twice", after);
    OK(ptxiModuleGetFunction(&f, module, "alive"));
    OK(ptxiMemsetD8(areas[BUFFER].base, 0, AREA));
    OK(ptxiLaunchKernel(f, 4, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
    OK(ptxiMemcpyDtoH(&result, areas[BUFFER].base, sizeof result));
    if (result != 256)
        die("the context is not usable after", after);
}

static void run(struct text *t, ptxiModule module, ptxiModule good, const struct launch *l)
{
    size_t stack;
    ptxiFunction f;
    const char *name;
    void *params[MOST_ARGS];
    ptxiResult r;

    for (int k = 0; k < MOST_ARGS; k++)
        params[k] = (void *)&l->arg[k];
    OK(ptxiModuleGetFunction(&f, module, l->kernel));
    OK(ptxiCtxGetLimit(&stack, PTXI_LIMIT_STACK_SIZE));
    if (l->stack)
        OK(ptxiCtxSetLimit(PTXI_LIMIT_STACK_SIZE, l->stack));
    OK(ptxiCtxSetLimit(PTXI_LIMIT_INSTRUCTIONS, l->budget));
    OK(ptxiCtxSetLimit(PTXI_LIMIT_MILLISECONDS, l->ms));
    add(t, "== %s\n", l->kernel);
    if (l->coop)
        r = ptxiLaunchCooperativeKernel(f, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
                                        l->shared,
                                        NULL, params);
    else
        r = ptxiLaunchKernel(f, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], l->shared,
                             NULL,
                             params, NULL);
    if (r) {
        OK(ptxiGetErrorName(r, &name));
        add(t, "launch: %s\n", name);
    } else if ((r = ptxiCtxSynchronize())) {
        ptxiReport report = { .size = sizeof report };

        OK(ptxiGetLastReport(NULL, &report));
        if (report.result != r)
            die("report and result differ", l->kernel);
        add_report(t, l);
    } else {
        add(t, "no failure\n");
    }
    OK(ptxiCtxSetLimit(PTXI_LIMIT_STACK_SIZE, stack));
    OK(ptxiCtxSetLimit(PTXI_LIMIT_INSTRUCTIONS, 0));
    OK(ptxiCtxSetLimit(PTXI_LIMIT_MILLISECONDS, 0));
    check_alive(good, l->kernel);
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *s = NULL;
    size_t n = 0, got;

    if (!f)
        return NULL;
    do {
        s = realloc(s, n + 65536);
        got = s ? fread(s + n, 1, 65535, f) : 0;
        n += got;
    } while (got);
    fclose(f);
    if (s)
        s[n] = 0;
    return s;
}

static const char good_text[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry alive(.param .u64 p) { .reg .b64 %rd; .reg .b32 %r; ld.param.u64 %rd, [p]; "
    "atom.global.add.u32 %r, [%rd], 1;\n"
    "  ret; }\n";

/* Runs all launches that a file requests. */
static void run_file(struct text *t, const char *path, const char *text)
{
    const char *slash = strrchr(path, '/');
    ptxiJitOption option = PTXI_JIT_FILE_NAME;
    void *value = (void *)(slash ? slash + 1 : path);
    ptxiModule module, good;
    ptxiContext ctx;
    ptxiDiagnostic d = { .size = sizeof d };

    OK(ptxiCtxCreate(&ctx, 0, 0));
    OK(ptxiModuleLoadData(&good, good_text));
    if (ptxiModuleLoadDataEx(&module, text, 1, &option, &value))
        die(ptxiGetLastDiagnostic(0, &d) ? "?" : d.text, path);
    if (ptxiModuleGetGlobal(&areas[TABLE].base, NULL, module, "table"))
        areas[TABLE].base = 0;
    for (const char *s = text; (s = strstr(s, "//! ")); s++) {
        struct launch l;

        OK(ptxiMemAlloc(&areas[BUFFER].base, AREA));
        OK(ptxiMemAlloc(&areas[FREED].base, AREA));
        OK(ptxiMemsetD8(areas[BUFFER].base, 0, AREA));
        OK(ptxiMemFree(areas[FREED].base));
        areas[READONLY].base = (ptxiDevicePtr)(size_t)readonly_bytes;
        read_launch(&l, s + 4);
        run(t, module, good, &l);
        OK(ptxiMemFree(areas[BUFFER].base));
    }
    OK(ptxiCtxDestroy(ctx));
}

/* Prints the first line that differs. */
static void show_difference(const char *path, const char *want, const char *got)
{
    unsigned line = 1;
    const char *w = want, *g = got;

    while (*w && *g) {
        size_t n = strcspn(w, "\n"), m = strcspn(g, "\n");

        if (n != m || memcmp(w, g, n))
            break;
        w += n + (w[n] == '\n');
        g += m + (g[m] == '\n');
        line++;
    }
    fprintf(stderr, "%s:%u: differs\n  expected: %.*s\n  got:      %.*s\n", path, line, (int)strcspn(w, "\n"), w,
            (int)strcspn(g, "\n"), g);
}

static bool check_file(const char *path, bool update)
{
    char expected[4096];
    char *text = read_file(path), *want;
    struct text got = { NULL, 0 };
    bool same;

    if (!text)
        die("cannot be read", path);
    add(&got, "%s", "");
    run_file(&got, path, text);
    snprintf(expected, sizeof expected, "%.*s.expected", (int)(strlen(path) - 4), path);
    if (update) {
        FILE *f = fopen(expected, "wb");

        if (!f || fwrite(got.s, 1, got.n, f) != got.n || fclose(f))
            die("cannot be written", expected);
    }
    want = read_file(expected);
    same = want && !strcmp(want, got.s);
    if (!same)
        show_difference(expected, want ? want : "", got.s);
    free(want);
    free(text);
    free(got.s);
    return same;
}

static int is_ptx(const struct dirent *e)
{
    size_t n = strlen(e->d_name);

    return n > 4 && !strcmp(e->d_name + n - 4, ".ptx");
}

int main(int argc, char **argv)
{
    bool update = argc > 1 && !strcmp(argv[1], "--update"), same = true;
    int first = 1 + update;
    struct dirent **list;

    OK(ptxiInit(0));
    OK(ptxiMemOpenRange(readonly_bytes, READONLY_BYTES, PTXI_RANGE_READ));
    for (int k = first; k < argc; k++)
        same &= check_file(argv[k], update);
    if (first < argc)
        return !same;
    int n = scandir(ERRORS_DIR "/run", &list, is_ptx, alphasort);

    if (n <= 0)
        die("no tests", ERRORS_DIR "/run");
    for (int k = 0; k < n; k++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/run/%s", ERRORS_DIR, list[k]->d_name);
        same &= check_file(path, update);
        free(list[k]);
    }
    free(list);
    return !same;
}
