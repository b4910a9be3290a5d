/* Runs the programs compiled from the CUDA sources in this folder by nvcc, NVRTC and clang.
 * The results of the kernels are compared with results computed in C.
 *
 *     ./run [--no-fork] [text]...
 *         If texts are given, only variants (files) with one of the texts in their name are tested.
 *
 * The file NAME.WHAT.ptx is a variant of the program NAME. Each variant runs in a separate process. */
#include "cases.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 120 };

struct program {
    const char *name;
    const struct cuda_case *cases;
    const size_t *count;
};

#define ROW(name) { #name, name##_cases, &name##_count },
static const struct program programs[] = { CUDA_PROGRAMS(ROW) };
enum { PROGRAM_COUNT = sizeof programs / sizeof programs[0] };

static uint64_t seed;

uint32_t cuda_random(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}

static void must(ptxiResult r, const char *what)
{
    const char *text = NULL;

    if (r == PTXI_SUCCESS)
        return;
    ptxiGetErrorString(r, &text);
    printf("  FAIL %s: %s\n", what, text ? text : "unknown error");
    exit(1);
}

static void print_report(void)
{
    ptxiReport r = { .size = sizeof r };

    if (ptxiGetLastReport(NULL, &r) == PTXI_SUCCESS && r.text)
        printf("%s\n", r.text);
}

static void random_bits(void *in, size_t bytes)
{
    uint32_t *w = in;

    for (size_t i = 0; i < bytes / 4; i++)
        w[i] = cuda_random();
}

static bool same_bits(const struct cuda_case *c, const unsigned char *got, const unsigned char *want)
{
    size_t first = c->out_bytes, wrong = 0;

    for (size_t i = 0; i < c->out_bytes; i++)
        if (got[i] != want[i]) {
            first = first == c->out_bytes ? i : first;
            wrong++;
        }
    if (!wrong)
        return true;
    first &= ~(size_t)7;
    uint64_t g = 0, w = 0;
    size_t bytes = c->out_bytes - first < 8 ? c->out_bytes - first : 8;
    memcpy(&g, got + first, bytes);
    memcpy(&w, want + first, bytes);
    printf("  FAIL %s: %zu bytes of %zu differ, first in word %zu: %016llx instead of %016llx\n", c->kernel, wrong,
           c->out_bytes, first / 8, (unsigned long long)g, (unsigned long long)w);
    return false;
}

static bool compare(const struct cuda_case *c, const void *got, const void *want)
{
    if (!c->same)
        return same_bits(c, got, want);
    if (c->same(got, want, c->out_bytes))
        return true;
    printf("  FAIL %s: results are off\n", c->kernel);
    return false;
}

struct buffers {
    void *in, *got, *want;
    ptxiDevicePtr din, dout;
};

static void prepare(const struct cuda_case *c, struct buffers *b)
{
    size_t in_bytes = c->in_bytes ? c->in_bytes : 4;

    b->in = calloc(1, in_bytes);
    b->got = calloc(1, c->out_bytes);
    b->want = calloc(1, c->out_bytes);
    if (!b->in || !b->got || !b->want)
        abort();
    seed = 1;
    (c->fill ? c->fill : random_bits)(b->in, c->in_bytes);
    if (c->out_is_input)
        memcpy(b->want, b->in, c->out_bytes);
    must(ptxiMemAlloc(&b->din, in_bytes), "ptxiMemAlloc");
    must(ptxiMemAlloc(&b->dout, c->out_bytes), "ptxiMemAlloc");
    must(ptxiMemcpyHtoD(b->din, b->in, in_bytes), "ptxiMemcpyHtoD");
    must(ptxiMemcpyHtoD(b->dout, b->want, c->out_bytes), "ptxiMemcpyHtoD");
}

static void release(struct buffers *b)
{
    must(ptxiMemFree(b->din), "ptxiMemFree");
    must(ptxiMemFree(b->dout), "ptxiMemFree");
    free(b->in);
    free(b->got);
    free(b->want);
}

static ptxiResult launch(const struct cuda_case *c, ptxiFunction f, struct buffers *b)
{
    int n = c->n;
    void *params[] = { &b->din, &b->dout, &n };
    ptxiResult r = c->cooperative
                       ? ptxiLaunchCooperativeKernel(f, c->grid, 1, 1, c->block, 1, 1, c->shared, NULL, params)
                       : ptxiLaunchKernel(f, c->grid, 1, 1, c->block, 1, 1, c->shared, NULL, params, NULL);

    return r ? r : ptxiCtxSynchronize();
}

static bool run_case(ptxiModule m, const struct cuda_case *c)
{
    struct buffers b;
    ptxiFunction f;
    const char *text = NULL;
    bool right;

    if (c->custom)
        return c->custom(m) || (printf("  FAIL %s\n", c->kernel), false);
    if (ptxiModuleGetFunction(&f, m, c->kernel) != PTXI_SUCCESS) {
        printf("  FAIL %s: not in the module\n", c->kernel);
        return false;
    }
    prepare(c, &b);
    ptxiResult r = launch(c, f, &b);
    if (r != c->result) {
        ptxiGetErrorString(r, &text);
        printf("  FAIL %s: %s\n", c->kernel, text ? text : "?");
        print_report();
        right = false;
    } else if (r != PTXI_SUCCESS) {
        right = true;
    } else {
        must(ptxiMemcpyDtoH(b.got, b.dout, c->out_bytes), "ptxiMemcpyDtoH");
        c->expect(b.in, b.want, c->n);
        right = compare(c, b.got, b.want);
    }
    release(&b);
    return right;
}

static void print_load_failure(const char *path, ptxiResult r)
{
    const char *text = NULL;
    ptxiDiagnostic d = { .size = sizeof d };

    ptxiGetErrorString(r, &text);
    printf("  FAIL loading %s: %s\n", path, text ? text : "?");
    for (unsigned i = 0; i < 5 && ptxiGetLastDiagnostic(i, &d) == PTXI_SUCCESS; i++)
        printf("%s\n", d.text);
}

/* Returns the number of failed cases. */
static int run_variant(const struct program *p, const char *path)
{
    ptxiDevice dev;
    ptxiContext ctx;
    ptxiModule m;
    int failed = 0;

    must(ptxiInit(0), "ptxiInit");
    must(ptxiDeviceGet(&dev, 0), "ptxiDeviceGet");
    must(ptxiCtxCreate(&ctx, 0, dev), "ptxiCtxCreate");
    ptxiResult r = ptxiModuleLoad(&m, path);
    if (r != PTXI_SUCCESS) {
        print_load_failure(path, r);
        return (int)*p->count;
    }
    for (size_t i = 0; i < *p->count; i++)
        failed += !run_case(m, &p->cases[i]);
    must(ptxiModuleUnload(m), "ptxiModuleUnload");
    must(ptxiCtxDestroy(ctx), "ptxiCtxDestroy");
    return failed;
}

static bool run_forked(const struct program *p, const char *path, bool fork_it)
{
    int status = 0;

    fflush(NULL);
    if (!fork_it)
        return run_variant(p, path) == 0;
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        return false;
    }
    if (child == 0) {
        alarm(SECONDS);
        int failed = run_variant(p, path);
        fflush(NULL);
        exit(failed > 100 ? 100 : failed);
    }
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        printf("  FAIL %s: ended by signal %d\n", path, WTERMSIG(status));
    return status == 0;
}

static bool wanted(const char *file, char **texts, int count)
{
    for (int i = 0; i < count; i++)
        if (strstr(file, texts[i]))
            return true;
    return count == 0;
}

static bool run_program(const struct program *p, bool fork_it, char **texts, int count, int *ran)
{
    char pattern[4096];
    glob_t g;
    bool right = true;

    snprintf(pattern, sizeof pattern, "%s/%s.*.ptx", CUDA_DIR, p->name);
    if (glob(pattern, 0, NULL, &g) != 0) {
        printf("FAIL: no file is named %s\n", pattern);
        return false;
    }
    for (size_t i = 0; i < g.gl_pathc; i++) {
        const char *file = strrchr(g.gl_pathv[i], '/') + 1;
        if (!wanted(file, texts, count))
            continue;
        bool ok = run_forked(p, g.gl_pathv[i], fork_it);
        printf("%s %s, %zu cases\n", ok ? "ok  " : "FAIL", file, *p->count);
        right = right && ok;
        ++*ran;
    }
    globfree(&g);
    return right;
}

int main(int argc, char **argv)
{
    bool fork_it = true, right = true;
    int ran = 0;

    if (argc > 1 && strcmp(argv[1], "--no-fork") == 0) {
        fork_it = false;
        argv++;
        argc--;
    }
    for (int i = 0; i < PROGRAM_COUNT; i++)
        right &= run_program(&programs[i], fork_it, argv + 1, argc - 1, &ran);
    printf("%d variants of %d programs run\n", ran, PROGRAM_COUNT);
    return !right || !ran;
}
