/* ptxi run: launch one kernel with arguments from the command line. */
#include "cmd.h"

#include "api/module/module.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct out {
    unsigned arg;
    const char *file; /* NULL: print it */
};

struct run {
    char **files;
    int file_count;
    const char *kernel, *device;
    unsigned grid[3], block[3], shared;
    bool block_given, hex, count, cooperative, unchecked, limited, schedule_given;
    unsigned repeat, workers;
    unsigned long long budget, milliseconds, schedule;
    struct cmd_load_options load;
    struct cmd_arg *args; /* room for one an argv element, as for outs */
    struct out *outs;
    unsigned arg_count, out_count;

    ptxiFunction function;
    void **params;
};

/* ---- options */

static bool parse_triple(const char *option, const char *s, unsigned v[3])
{
    char digits[16];
    unsigned long long n;

    v[0] = v[1] = v[2] = 1;
    for (int k = 0; k < 3; k++) {
        size_t len = strcspn(s, ",x");

        snprintf(digits, sizeof digits, "%.*s", (int)len, s);
        if (len >= sizeof digits || !ptxi_cmd_number(digits, 0x7fffffff, &n) || !n)
            break;
        v[k] = (unsigned)n;
        if (!s[len])
            return true;
        s += len + 1;
    }
    ptxi_cmd_error("%s: X, X,Y or X,Y,Z, each 1 or more, not '%s'", option, optarg);
    return false;
}

static bool parse_number(const char *option, unsigned long long max, unsigned *value)
{
    unsigned long long n;

    if (!ptxi_cmd_number(optarg, max, &n)) {
        ptxi_cmd_error("%s: a number up to %llu, not '%s'", option, max, optarg);
        return false;
    }
    *value = (unsigned)n;
    return true;
}

static bool parse_out(struct run *r)
{
    struct out *o = &r->outs[r->out_count++];
    char digits[16];
    unsigned long long n;
    size_t len = strcspn(optarg, "=");

    snprintf(digits, sizeof digits, "%.*s", (int)len, optarg);
    if (len >= sizeof digits || !ptxi_cmd_number(digits, UINT32_MAX, &n) || (optarg[len] && !optarg[len + 1])) {
        ptxi_cmd_error("--out: N or N=FILE, not '%s'", optarg);
        return false;
    }
    *o = (struct out){ (unsigned)n, optarg[len] ? optarg + len + 1 : NULL };
    return true;
}

static bool parse_arg(struct run *r)
{
    struct ptxi_str why;

    ptxi_str_init(&why, NULL);
    bool ok = ptxi_cmd_parse_arg(&r->args[r->arg_count], optarg, &why);

    if (!ok)
        ptxi_cmd_error("argument %u, '%s': %s", r->arg_count, optarg, ptxi_str_text(&why));
    ptxi_str_free(&why);
    r->arg_count++;
    return ok;
}

static bool parse_seconds(struct run *r)
{
    char *end;
    double s = strtod(optarg, &end);

    if (*end || end == optarg || !(s > 0 && s < 1e9)) {
        ptxi_cmd_error("--timeout: a number of seconds, not '%s'", optarg);
        return false;
    }
    r->milliseconds = (unsigned long long)(s * 1e3 + 0.999999);
    return true;
}

enum { OPT_HEX = 256, OPT_STRICT, OPT_BUDGET, OPT_TIMEOUT, OPT_FMAD, OPT_COOPERATIVE, OPT_UNCHECKED, OPT_SCHEDULE };

static const struct option options[] = {
    { "kernel", required_argument, NULL, 'k' }, { "grid", required_argument, NULL, 'g' },
    { "block", required_argument, NULL, 'b' }, { "shared", required_argument, NULL, 's' },
    { "arg", required_argument, NULL, 'a' }, { "out", required_argument, NULL, 'o' },
    { "hex", no_argument, NULL, OPT_HEX }, { "repeat", required_argument, NULL, 'r' },
    { "count", no_argument, NULL, 'c' }, { "workers", required_argument, NULL, 'w' },
    { "device", required_argument, NULL, 'd' }, { "strict", no_argument, NULL, OPT_STRICT },
    { "budget", required_argument, NULL, OPT_BUDGET }, { "timeout", required_argument, NULL, OPT_TIMEOUT },
    { "fmad", required_argument, NULL, OPT_FMAD }, { "cooperative", no_argument, NULL, OPT_COOPERATIVE },
    { "unchecked", no_argument, NULL, OPT_UNCHECKED }, { "schedule", required_argument, NULL, OPT_SCHEDULE },
    { "help", no_argument, NULL, 'h' }, { 0 },
};

static bool parse_budget(struct run *r)
{
    if (ptxi_cmd_number(optarg, INT64_MAX, &r->budget) && r->budget)
        return true;
    ptxi_cmd_error("--budget: a number of instructions, not '%s'", optarg);
    return false;
}

static bool parse_schedule(struct run *r)
{
    r->schedule_given = ptxi_api_parse_schedule(optarg, &r->schedule);
    if (!r->schedule_given)
        ptxi_cmd_error("--schedule: run, fair or seed:N, not '%s'", optarg);
    return r->schedule_given;
}

static bool parse_option(struct run *r, int c)
{
    bool fmad;

    switch (c) {
    case 'k': r->kernel = optarg; return true;
    case 'g': return parse_triple("--grid", optarg, r->grid);
    case 'b': r->block_given = true; return parse_triple("--block", optarg, r->block);
    case 's': return parse_number("--shared", 0x7fffffff, &r->shared);
    case 'a': return parse_arg(r);
    case 'o': return parse_out(r);
    case 'r': return parse_number("--repeat", 1000000000, &r->repeat);
    case 'c': r->count = true; return true;
    case 'w': return parse_number("--workers", PTXI_MAX_WORKERS, &r->workers);
    case 'd': r->device = optarg; return true;
    case OPT_HEX: r->hex = true; return true;
    case OPT_STRICT: r->load.strict = true; return true;
    case OPT_BUDGET: return parse_budget(r);
    case OPT_TIMEOUT: return parse_seconds(r);
    case OPT_FMAD:
        if (!ptxi_cmd_bool("--fmad", optarg, &fmad))
            return false;
        r->load.no_contract = !fmad;
        return true;
    case OPT_COOPERATIVE: r->cooperative = true; return true;
    case OPT_UNCHECKED: r->unchecked = true; return true;
    case OPT_SCHEDULE: return parse_schedule(r);
    default: return false;
    }
}

/* ---- the kernel and its arguments */

static void print_signature(const char *what, ptxiFunction f)
{
    struct ptxi_str s;

    ptxi_str_init(&s, NULL);
    ptxi_signature(f, &s);
    fprintf(stderr, "note: %s %s\n", what, ptxi_str_text(&s));
    ptxi_str_free(&s);
}

/* As many kernels as are listed for who has named none. */
enum { MOST_NAMED = 50 };

static bool find_kernel(struct run *r, ptxiModule m)
{
    if (r->kernel) {
        if (ptxiModuleGetFunction(&r->function, m, r->kernel) == PTXI_SUCCESS)
            return true;
        ptxi_cmd_error("%s: no kernel '%s'", r->files[0], r->kernel);
    } else if (m->kernel_count == 1) {
        r->function = &m->kernels[0];
        return true;
    } else {
        ptxi_cmd_error("%s: %s", r->files[0], m->kernel_count ? "several kernels, choose one with --kernel" : "no kernel");
    }
    for (unsigned i = 0; i < m->kernel_count && i < MOST_NAMED; i++)
        print_signature("there is", &m->kernels[i]);
    if (m->kernel_count > MOST_NAMED)
        fprintf(stderr, "note: and %u more, see ptxi list\n", m->kernel_count - MOST_NAMED);
    return false;
}

static void describe(const struct cmd_arg *a, struct ptxi_str *s)
{
    if (a->buffer)
        ptxi_str_puts(s, "a buffer");
    else if (a->count > 1)
        ptxi_str_printf(s, "%zu %s, %zu bytes", a->count, a->type->name, a->bytes);
    else
        ptxi_str_puts(s, a->type->name);
}

static bool check_args(struct run *r)
{
    const struct ptxi_signature *sig = &r->function->func->signature;

    if (r->arg_count != sig->param_count) {
        ptxi_cmd_error("%u argument%s given, the kernel has %u parameter%s", r->arg_count, r->arg_count == 1 ? "" : "s",
                       sig->param_count, sig->param_count == 1 ? "" : "s");
        print_signature("the kernel is", r->function);
        return false;
    }
    for (unsigned i = 0; i < r->arg_count; i++) {
        struct cmd_arg *a = &r->args[i];
        struct ptxi_str s, p;

        if (ptxi_cmd_arg_fits(a, sig->params[i]))
            continue;
        ptxi_str_init(&s, NULL);
        ptxi_str_init(&p, NULL);
        describe(a, &s);
        ptxi_signature_param(sig->params[i], &p);
        ptxi_cmd_error("argument %u, '%s', is %s; the parameter is %s", i, a->text, ptxi_str_text(&s), ptxi_str_text(&p));
        ptxi_str_free(&s);
        ptxi_str_free(&p);
        print_signature("the kernel is", r->function);
        return false;
    }
    return true;
}

/* `same:N` shares the buffer of an argument that has one of its own; --out names such arguments. */
static bool check_buffers(struct run *r)
{
    for (unsigned i = 0; i < r->arg_count; i++) {
        const struct cmd_arg *a = &r->args[i];

        if (!a->type && (a->same >= r->arg_count || !r->args[a->same].buffer || !r->args[a->same].type)) {
            ptxi_cmd_error("argument %u, '%s': argument %u is no buffer", i, a->text, a->same);
            return false;
        }
    }
    for (unsigned i = 0; i < r->out_count; i++)
        if (r->outs[i].arg >= r->arg_count || !r->args[r->outs[i].arg].buffer) {
            ptxi_cmd_error("--out: argument %u is no buffer", r->outs[i].arg);
            return false;
        }
    return true;
}

static struct cmd_arg *owner(struct run *r, unsigned arg)
{
    struct cmd_arg *a = &r->args[arg];

    return a->type ? a : &r->args[a->same];
}

static ptxiResult allocate(struct run *r)
{
    for (unsigned i = 0; i < r->arg_count; i++) {
        struct cmd_arg *a = &r->args[i];
        ptxiResult e = a->buffer && a->type ? ptxiMemAlloc(&a->device, a->bytes) : PTXI_SUCCESS;

        if (e)
            return e;
    }
    for (unsigned i = 0; i < r->arg_count; i++)
        r->params[i] = r->args[i].buffer ? (void *)&owner(r, i)->device : r->args[i].data;
    return PTXI_SUCCESS;
}

static ptxiResult fill(const struct run *r)
{
    ptxiResult e = PTXI_SUCCESS;

    for (unsigned i = 0; i < r->arg_count && !e; i++)
        if (r->args[i].buffer && r->args[i].type)
            e = ptxiMemcpyHtoD(r->args[i].device, r->args[i].data, r->args[i].bytes);
    return e;
}

/* ---- progress */

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

struct progress {
    double start;
    bool shown;
};

static void show_progress(void *user, unsigned long long done, unsigned long long blocks)
{
    enum { CELLS = 30 };
    struct progress *p = user;
    double ms = now_ms() - p->start, part = blocks ? (double)done / (double)blocks : 0;

    if (ms < 500)
        return;
    fprintf(stderr, "\r[%-*.*s] %3d %%, %llu of %llu blocks", CELLS, (int)(part * CELLS), "##############################", (int)(part * 100),
            done, blocks);
    if (done)
        fprintf(stderr, ", %.0f s left", ms / 1e3 * (1 - part) / part);
    fputs("\033[K", stderr);
    fflush(stderr);
    p->shown = true;
}

static void end_progress(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}

/* ---- launching */

static void swallow(void *user, const char *text, size_t length)
{
    (void)user, (void)text, (void)length;
}

static ptxiResult launch(const struct run *r, struct progress *progress, double *ms)
{
    const unsigned *g = r->grid, *b = r->block;
    ptxiResult e = fill(r);

    progress->start = now_ms();
    if (!e && r->cooperative)
        e = ptxiLaunchCooperativeKernel(r->function, g[0], g[1], g[2], b[0], b[1], b[2], r->shared, NULL, r->params);
    else if (!e)
        e = ptxiLaunchKernel(r->function, g[0], g[1], g[2], b[0], b[1], b[2], r->shared, NULL, r->params, NULL);
    if (!e)
        e = ptxiCtxSynchronize();
    *ms = now_ms() - progress->start;
    end_progress(progress);
    return e;
}

/* What was asked for, and what the kernel allows. */
static void print_shape(const struct run *r)
{
    const uint32_t *required = r->function->func->reqntid;
    int threads = 0, room = 0;

    ptxiFuncGetAttribute(&threads, PTXI_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, r->function);
    ptxiFuncGetAttribute(&room, PTXI_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, r->function);
    room = (int)r->function->module->profile->block_shared - room;
    fprintf(stderr, "note: grid %u,%u,%u, block %u,%u,%u, %u bytes of dynamic shared memory\n", r->grid[0], r->grid[1], r->grid[2],
            r->block[0], r->block[1], r->block[2], r->shared);
    fprintf(stderr, "note: grids have at most %d,%d,%d blocks; of this kernel, blocks have at most %d threads and %d of these bytes\n",
            INT_MAX, PTXI_MAX_GRID_YZ, PTXI_MAX_GRID_YZ, threads, room);
    if (required[0])
        fprintf(stderr, "note: .reqntid asks for blocks of %u,%u,%u\n", required[0], required[1] ? required[1] : 1,
                required[2] ? required[2] : 1);
}

/* What may be the cause: the instructions that cannot be executed and the functions that are too large. */
static void print_unsupported(const struct run *r)
{
    char *text;

    if (ptxiModuleGetUnsupported(r->function->module, &text))
        return;
    fputs(text, stderr);
    ptxiFree(text);
}

static void print_failure(const struct run *r, ptxiResult e)
{
    ptxiReport report = { .size = sizeof report };

    fflush(stdout);
    if (ptxiGetLastReport(NULL, &report) == PTXI_SUCCESS && report.text) {
        fputs(report.text, stderr);
        return;
    }
    ptxi_cmd_error("%s", ptxi_cmd_result(e));
    if (e == PTXI_ERROR_INVALID_VALUE)
        print_shape(r);
    if (e == PTXI_ERROR_NOT_SUPPORTED || e == PTXI_ERROR_INVALID_VALUE)
        print_unsupported(r);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void print_counters(const ptxiCounters *c)
{
    fprintf(stderr, "%llu blocks, %llu threads, %llu warp instructions, %llu thread instructions\n", c->blocks, c->threads,
            c->warpInstructions, c->threadInstructions);
    if (c->sharedRequests)
        fprintf(stderr, "shared memory: %llu requests, %llu wavefronts, %llu bank conflicts\n", c->sharedRequests, c->sharedWavefronts,
                c->sharedBankConflicts);
}

static void print_speed(const struct run *r, double *ms, const ptxiCounters *c)
{
    unsigned workers = 0;

    qsort(ms, r->repeat, sizeof *ms, by_value);
    ptxiCtxGetWorkers(NULL, &workers);
    fprintf(stderr, "%u launch%s on %u worker%s: median %.3f ms, fastest %.3f ms, slowest %.3f ms\n", r->repeat,
            r->repeat == 1 ? "" : "es", workers, workers == 1 ? "" : "s", ms[r->repeat / 2], ms[0], ms[r->repeat - 1]);
    fprintf(stderr, "%.4g million thread instructions a launch, %.3f billion a second\n", (double)c->threadInstructions / 1e6,
            (double)c->threadInstructions / ms[r->repeat / 2] / 1e6);
}

/* With --count or --repeat the first launch counts, which also warms up; those that are timed do not. What the kernel
 * prints is seen once, from the last launch. */
static ptxiResult launch_all(const struct run *r)
{
    struct progress progress = { 0 };
    ptxiCounters counters = { .size = sizeof counters };
    double *ms = calloc(r->repeat + 1, sizeof *ms);
    bool counting = r->count || r->repeat;
    ptxiResult e = ms ? PTXI_SUCCESS : PTXI_ERROR_OUT_OF_MEMORY;

    if (!e && isatty(STDERR_FILENO))
        e = ptxiCtxSetProgress(NULL, show_progress, &progress);
    for (unsigned i = 0; i <= r->repeat && !e; i++) {
        ptxiCtxSetCounting(NULL, counting && i == 0);
        ptxiCtxSetOutput(NULL, i < r->repeat ? swallow : NULL, NULL);
        e = launch(r, &progress, i ? &ms[i - 1] : &ms[r->repeat]);
    }
    ptxiCtxGetCounters(NULL, &counters);
    fflush(stdout);
    if (!e && r->count)
        print_counters(&counters);
    if (!e && r->repeat)
        print_speed(r, ms, &counters);
    free(ms);
    return e;
}

/* ---- output */

static bool write_file(const char *file, const unsigned char *data, size_t bytes)
{
    FILE *f = fopen(file, "wb");
    bool ok = f && fwrite(data, 1, bytes, f) == bytes;

    if (f && fclose(f))
        ok = false;
    if (!ok)
        ptxi_cmd_error("%s: %s", file, strerror(errno));
    return ok;
}

static bool show_outs(struct run *r)
{
    bool ok = true;
    unsigned printed = 0;

    for (unsigned i = 0; i < r->out_count; i++)
        printed += !r->outs[i].file;
    for (unsigned i = 0; i < r->out_count && ok; i++) {
        const struct cmd_arg *a = owner(r, r->outs[i].arg);
        ptxiResult e = ptxiMemcpyDtoH(a->data, a->device, a->bytes);

        if (e) {
            ptxi_cmd_error("%s", ptxi_cmd_result(e));
            return false;
        }
        if (r->outs[i].file) {
            ok = write_file(r->outs[i].file, a->data, a->bytes);
            continue;
        }
        if (printed > 1)
            printf("argument %u, %s[%zu]\n", r->outs[i].arg, a->type->name, a->count);
        ptxi_cmd_print(a->type, a->data, a->count, r->hex);
    }
    return ok;
}

/* ---- all of it */

static ptxiResult apply_settings(struct run *r)
{
    const uint32_t *required = r->function->func->reqntid;
    int room = 0;
    ptxiResult e = PTXI_SUCCESS;

    for (int k = 0; k < 3 && required[0] && !r->block_given; k++)
        r->block[k] = required[k] ? required[k] : 1;
    if (r->workers)
        e = ptxiCtxSetWorkers(NULL, r->workers);
    if (!e && r->schedule_given)
        e = ptxiCtxSetSchedule(NULL, r->schedule);
    if (!e && r->unchecked)
        e = ptxiCtxSetChecking(NULL, 0);
    if (!e && r->budget)
        e = ptxiCtxSetLimit(PTXI_LIMIT_INSTRUCTIONS, r->budget);
    if (!e && r->milliseconds)
        e = ptxiCtxSetLimit(PTXI_LIMIT_MILLISECONDS, r->milliseconds);
    if (!e)
        e = ptxiFuncGetAttribute(&room, PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, r->function);
    if (!e && r->shared > (unsigned)room)
        e = ptxiFuncSetAttribute(r->function, PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)r->shared);
    return e;
}

static int execute(struct run *r)
{
    if (!ptxi_cmd_open(r->device))
        return CMD_USAGE;
    ptxiModule m = ptxi_cmd_link(r->files, r->file_count, &r->load);

    if (!m)
        return CMD_FAILED;
    if (!find_kernel(r, m) || !check_args(r) || !check_buffers(r))
        return CMD_USAGE;
    ptxiResult e = apply_settings(r);

    if (!e)
        e = allocate(r);
    if (!e)
        e = launch_all(r);
    if (e) {
        print_failure(r, e);
        return CMD_FAILED;
    }
    return show_outs(r) ? CMD_OK : CMD_FAILED;
}

static int parse_and_execute(struct run *r, int argc, char **argv)
{
    for (int c; (c = getopt_long(argc, argv, "k:g:b:s:a:o:r:cw:d:h", options, NULL)) != -1;) {
        if (c == 'h')
            return ptxi_cmd_help(2, (char *[]){ argv[0], "run" });
        if (!parse_option(r, c))
            return ptxi_cmd_usage();
    }
    if (!ptxi_cmd_has_files(argc))
        return CMD_USAGE;
    r->files = argv + optind;
    r->file_count = argc - optind;
    return execute(r);
}

int ptxi_cmd_run(int argc, char **argv)
{
    size_t room = (size_t)argc;
    struct run r = {
        .grid = { 1, 1, 1 }, .block = { 1, 1, 1 }, .args = calloc(room, sizeof *r.args), .outs = calloc(room, sizeof *r.outs),
        .params = calloc(room, sizeof *r.params),
    };
    int status = CMD_FAILED;

    if (r.args && r.outs && r.params)
        status = parse_and_execute(&r, argc, argv);
    else
        ptxi_cmd_error("not enough memory");
    for (unsigned i = 0; i < r.arg_count; i++)
        free(r.args[i].data);
    free(r.args);
    free(r.outs);
    free(r.params);
    return status;
}
