/* Runs kernels in windows and merges what they change: 1, 2, 3 and 7 windows and one for each cluster must give the
 * memory, the output and the report of the whole grid. The kernels are those of the benchmark and of the programs in
 * tests/cuda. Prints a line for each kernel: whether it was identical, or why it was refused.
 *
 *     ./windows BENCH_DIR CUDA_DIR [text]     only files with the text in their names
 */
#include "../bench/cases.h"
#include "../cuda/cases.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_BUFFERS = 8, MOST_PARTS = 4096, MOST_OUTPUT = 1 << 16, SHRINK = 256 };

static const size_t most_bytes = (size_t)1 << 30; /* of copies for one window for each cluster */

struct memory {
    void *init; /* NULL: zeros */
    size_t bytes;
    ptxiDevicePtr at;
};

struct launch {
    const char *file, *kernel;
    ptxiFunction function;
    unsigned grid[3], block[3], shared;
    int cooperative;
    void *params[MAX_ARGS + 1];
    struct memory memory[MOST_BUFFERS];
    unsigned count; /* of memory */
};

/* What a launch leaves. */
struct outcome {
    ptxiResult result;
    char *report, output[MOST_OUTPUT];
    size_t output_size;
    void *memory[MOST_BUFFERS];
};

static int failures;

static void must(ptxiResult r, const char *what)
{
    const char *text = NULL;

    if (!r)
        return;
    ptxiGetErrorString(r, &text);
    printf("%s: %s\n", what, text ? text : "unknown error");
    exit(1);
}

static void fail(const struct launch *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail(const struct launch *l, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    printf("FAIL %s %s: ", l->file, l->kernel);
    vprintf(format, ap);
    printf("\n");
    va_end(ap);
    failures++;
}

/* ---- launches */

static void add_output(void *user, const char *text, size_t length)
{
    struct outcome *o = user;

    if (o->output_size + length > MOST_OUTPUT)
        length = MOST_OUTPUT - o->output_size;
    memcpy(o->output + o->output_size, text, length);
    o->output_size += length;
}

static void upload(const struct launch *l)
{
    for (unsigned k = 0; k < l->count; k++) {
        const struct memory *m = &l->memory[k];

        must(m->init ? ptxiMemcpyHtoD(m->at, m->init, m->bytes) : ptxiMemsetD8(m->at, 0, m->bytes), "upload");
    }
}

/* Runs clusters of the grid, or all of it (count 0). Adds output, the result and the report to the outcome. */
static void run(const struct launch *l, unsigned long long first, unsigned long long count, struct outcome *o)
{
    ptxiLaunchAttribute attributes[] = {
        { .id = PTXI_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = l->cooperative },
        { .id = PTXI_LAUNCH_ATTRIBUTE_CLUSTER_WINDOW, .value.clusterWindow = { first, count, 0 } },
    };
    ptxiLaunchConfig config = {
        .gridDimX = l->grid[0], .gridDimY = l->grid[1], .gridDimZ = l->grid[2], .blockDimX = l->block[0],
        .blockDimY = l->block[1], .blockDimZ = l->block[2], .sharedMemBytes = l->shared,
        .attrs = attributes, .numAttrs = count ? 2 : 1,
    };
    ptxiReport report = { .size = sizeof report };

    must(ptxiCtxSetOutput(NULL, add_output, o), "ptxiCtxSetOutput");
    o->result = ptxiLaunchKernelEx(&config, l->function, (void **)l->params, NULL);
    if (!o->result)
        o->result = ptxiCtxSynchronize();
    if (o->result && !ptxiGetLastReport(NULL, &report) && report.text) {
        free(o->report);
        o->report = strdup(report.text);
    }
}

static void free_outcome(struct outcome *o)
{
    for (int k = 0; k < MOST_BUFFERS; k++)
        free(o->memory[k]);
    free(o->report);
    free(o);
}

static struct outcome *run_whole(const struct launch *l)
{
    struct outcome *o = calloc(1, sizeof *o);

    upload(l);
    run(l, 0, 0, o);
    for (unsigned k = 0; k < l->count && !o->result; k++) {
        o->memory[k] = malloc(l->memory[k].bytes);
        must(ptxiMemcpyDtoH(o->memory[k], l->memory[k].at, l->memory[k].bytes), "download");
    }
    return o;
}

/* ---- windows */

struct parts {
    void *data[MOST_PARTS];
    size_t sizes[MOST_PARTS];
    unsigned count;
};

static void fill_ranges(const struct launch *l, ptxiRange *ranges)
{
    for (unsigned k = 0; k < l->count; k++)
        ranges[k] = (ptxiRange){ .base = (void *)(uintptr_t)l->memory[k].at, .bytes = l->memory[k].bytes };
}

/* The first line of the report, without what differs between counts. */
static void say_why(const struct launch *l, const struct outcome *o, const char *verb)
{
    const char *why = o->report ? o->report : "no report";
    const char *colon = strstr(why, ": ");

    why = colon ? colon + 2 : why;
    printf("%s %s: %s: %.*s\n", l->file, l->kernel, verb, (int)strcspn(why, "(\n"), why);
}

/* Runs the windows, each with a copy of the memory. False: the launch has failed or was refused. */
static bool run_parts(const struct launch *l, unsigned long long clusters, unsigned windows, struct parts *p,
                      struct outcome *o)
{
    ptxiRange ranges[MOST_BUFFERS];

    fill_ranges(l, ranges);
    for (unsigned k = 0; k < windows && !o->result; k++) {
        unsigned long long first = clusters * k / windows;

        upload(l);
        run(l, first, clusters * (k + 1) / windows - first, o);
        if (o->result)
            return false;
        o->result = ptxiCtxTakeChanges(NULL, ranges, l->count, &p->data[k], &p->sizes[k]);
        if (o->result) {
            o->report = strdup(": changes memory that is not in its buffers");
            return false;
        }
        p->count = k + 1;
    }
    return true;
}

static bool merge(const struct launch *l, const struct parts *p, unsigned windows)
{
    ptxiRange ranges[MOST_BUFFERS];
    char *conflicts = NULL;

    fill_ranges(l, ranges);
    upload(l);
    ptxiResult r = ptxiMergeChanges(ranges, l->count, (const void *const *)p->data, p->sizes, p->count, &conflicts);

    if (r)
        fail(l, "%u windows: error %d: %s", windows, r, conflicts ? conflicts : "");
    ptxiFree(conflicts);
    return !r;
}

static void compare(const struct launch *l, const struct outcome *whole, const struct outcome *o, unsigned windows)
{
    for (unsigned k = 0; k < l->count; k++) {
        void *got = malloc(l->memory[k].bytes);

        must(ptxiMemcpyDtoH(got, l->memory[k].at, l->memory[k].bytes), "download");
        if (memcmp(got, whole->memory[k], l->memory[k].bytes))
            fail(l, "%u windows: buffer %u differs", windows, k);
        free(got);
    }
    if (o->output_size != whole->output_size || memcmp(o->output, whole->output, o->output_size))
        fail(l, "%u windows: the output differs", windows);
}

static void compare_failure(const struct launch *l, const struct outcome *whole, const struct outcome *o,
                            unsigned windows)
{
    if (whole->result != o->result || !whole->report || !o->report || strcmp(whole->report, o->report))
        fail(l, "%u windows: result %d instead of %d: %s", windows, o->result, whole->result,
             o->report ? o->report : "no report");
}

/* False: refused. */
static bool try_windows(const struct launch *l, const struct outcome *whole, unsigned long long clusters,
                        unsigned windows)
{
    struct parts p = { .count = 0 };
    struct outcome *o = calloc(1, sizeof *o);
    bool refused = false;

    must(ptxiCtxSetTracking(NULL, PTXI_TRACK_CHANGES | PTXI_TRACK_READS), "ptxiCtxSetTracking");
    if (run_parts(l, clusters, windows, &p, o)) {
        if (whole->result)
            fail(l, "%u windows: no failure", windows);
        else if (merge(l, &p, windows))
            compare(l, whole, o, windows);
    } else if (o->result == PTXI_ERROR_NOT_SUPPORTED || !whole->result) {
        refused = true;
        say_why(l, o, "refused");
    } else {
        compare_failure(l, whole, o, windows);
    }
    must(ptxiCtxSetTracking(NULL, 0), "ptxiCtxSetTracking");
    for (unsigned k = 0; k < p.count; k++)
        ptxiFree(p.data[k]);
    free_outcome(o);
    return !refused;
}

static unsigned long long count_clusters(const struct launch *l)
{
    static const ptxiFunctionAttribute sides[] = { PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
                                                   PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
                                                   PTXI_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH };
    unsigned long long n = 1;

    for (int k = 0; k < 3; k++) {
        int side = 0;

        ptxiFuncGetAttribute(&side, sides[k], l->function);
        n *= l->grid[k] / (side > 0 ? (unsigned)side : 1);
    }
    return n;
}

/* A context that a failed launch has not touched. */
static void check(struct launch *l)
{
    const unsigned long long clusters = count_clusters(l);
    const unsigned windows[] = { 1, 2, 3, 7, (unsigned)clusters };
    struct outcome *whole = run_whole(l);
    size_t bytes = 0;
    bool accepted = true, all = true;

    for (unsigned k = 0; k < l->count; k++)
        bytes += l->memory[k].bytes;
    for (int k = 0; k < 5 && accepted; k++) {
        if (k == 4 && (clusters > MOST_PARTS || clusters * bytes > most_bytes))
            all = false;
        else if (windows[k] <= clusters && (k < 4 || clusters > 3))
            accepted = try_windows(l, whole, clusters, windows[k]);
    }
    if (accepted)
        printf("%s %s: identical%s%s\n", l->file, l->kernel, whole->result ? " report" : "",
               all ? "" : ", not tried with one window for each cluster");
    free_outcome(whole);
}

static void allocate(struct launch *l)
{
    for (unsigned k = 0; k < l->count; k++)
        must(ptxiMemAlloc(&l->memory[k].at, l->memory[k].bytes), "ptxiMemAlloc");
}

static void release(struct launch *l)
{
    for (unsigned k = 0; k < l->count; k++)
        must(ptxiMemFree(l->memory[k].at), "ptxiMemFree");
}

static ptxiModule load(const char *directory, const char *name)
{
    char path[4096];
    ptxiModule m = NULL;

    snprintf(path, sizeof path, "%s/%s.ptx", directory, name);
    must(ptxiModuleLoad(&m, path), path);
    return m;
}

/* ---- kernels of the benchmark */

static bool has_textures(const struct work *w)
{
    for (int k = 0; k < w->buffers; k++)
        if (w->buf[k].texture)
            return true;
    return false;
}

static void check_work(struct work *w, struct launch *l)
{
    for (int k = 0; k < 3; k++) {
        l->grid[k] = w->grid[k] ? w->grid[k] : 1;
        l->block[k] = w->block[k] ? w->block[k] : 1;
    }
    l->count = (unsigned)w->buffers;
    for (int k = 0; k < w->buffers; k++)
        l->memory[k] = (struct memory){ .init = w->buf[k].init, .bytes = w->buf[k].bytes };
    allocate(l);
    for (int k = 0; k < w->buffers; k++)
        w->buf[k].dev = l->memory[k].at;
    for (int k = 0; k < w->argc; k++)
        l->params[k] = w->args[k];
    check(l);
    release(l);
}

/* Textures are objects, not memory. Kernels with textures are left out. */
static void check_bench(const char *directory, const struct bench_case *c)
{
    struct work w = { .buffers = 0 };
    struct launch l = { .file = c->name, .kernel = c->name };
    ptxiModule m = load(directory, c->name);

    c->setup(&w, SHRINK);
    must(ptxiModuleGetFunction(&l.function, m, c->name), c->name);
    if (!has_textures(&w))
        check_work(&w, &l);
    bench_work_free(&w);
    must(ptxiModuleUnload(m), "ptxiModuleUnload");
}

/* ---- the programs in tests/cuda */

struct program {
    const char *variant;
    const struct cuda_case *cases;
    const size_t *count;
};

static const struct program programs[] = {
    { "plain.sm_75", plain_cases, &plain_count }, { "classes.sm_75", classes_cases, &classes_count },
    { "memory.sm_75", memory_cases, &memory_count }, { "warps.sm_75", warps_cases, &warps_count },
    { "atomics.sm_75", atomics_cases, &atomics_count }, { "rounding.sm_75", rounding_cases, &rounding_count },
    { "maths.sm_75", maths_cases, &maths_count }, { "output.sm_75", output_cases, &output_count },
    { "cubs.sm_75", cubs_cases, &cubs_count }, { "thrusts.sm_80", thrusts_cases, &thrusts_count },
    { "library.sm_75", library_cases, &library_count }, { "matrices.sm_90a", matrices_cases, &matrices_count },
    { "async.sm_90", async_cases, &async_count },
};

static uint64_t seed;

uint32_t cuda_random(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}

static void fill_random(void *in, size_t bytes)
{
    for (size_t i = 0; i < bytes / 4; i++)
        ((uint32_t *)in)[i] = cuda_random();
}

static void check_cuda(const struct program *p, ptxiModule m, const struct cuda_case *c)
{
    size_t in_bytes = c->in_bytes ? c->in_bytes : 4;
    void *in = calloc(1, in_bytes), *out = calloc(1, c->out_bytes + 1);
    int n = c->n;
    struct launch l = {
        .file = p->variant, .kernel = c->kernel, .grid = { c->grid, 1, 1 }, .block = { c->block, 1, 1 },
        .shared = c->shared, .cooperative = c->cooperative, .count = 2,
    };

    seed = 1;
    (c->fill ? c->fill : fill_random)(in, c->in_bytes);
    if (c->out_is_input)
        memcpy(out, in, c->out_bytes);
    l.memory[0] = (struct memory){ .init = in, .bytes = in_bytes };
    l.memory[1] = (struct memory){ .init = out, .bytes = c->out_bytes };
    must(ptxiModuleGetFunction(&l.function, m, c->kernel), c->kernel);
    allocate(&l);
    l.params[0] = &l.memory[0].at;
    l.params[1] = &l.memory[1].at;
    l.params[2] = &n;
    check(&l);
    release(&l);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    const char *text = argc > 3 ? argv[3] : "";
    ptxiContext ctx;

    if (argc < 3)
        return 2;
    must(ptxiInit(0), "ptxiInit");
    must(ptxiCtxCreate(&ctx, 0, 0), "ptxiCtxCreate");
    must(ptxiCtxSetWorkers(NULL, 1), "ptxiCtxSetWorkers"); /* floats are added in the order of the blocks */
    for (int k = 0; k < bench_case_count; k++)
        if (strstr(bench_cases[k].name, text))
            check_bench(argv[1], &bench_cases[k]);
    for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
        if (!strstr(programs[k].variant, text))
            continue;
        ptxiModule m = load(argv[2], programs[k].variant);

        for (size_t n = 0; n < *programs[k].count; n++)
            if (!programs[k].cases[n].custom)
                check_cuda(&programs[k], m, &programs[k].cases[n]);
        must(ptxiModuleUnload(m), "ptxiModuleUnload");
    }
    must(ptxiCtxDestroy(ctx), "ptxiCtxDestroy");
    return failures != 0;
}
