/* Benchmark of load times, launch latency and scaling with the number of workers. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void report(const struct options *o, const char *what, double value, const char *unit)
{
    printf(o->csv ? "# %s,%.6g,%s\n" : "%-58s %10.4g %s\n", what, value, unit);
}

static int lines_of(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static void load_small(const struct options *o)
{
    enum { TIMES = 201 };
    char *text = bench_read(o, "stencil"), what[80];
    double ms[TIMES];

    for (int i = 0; i < TIMES; i++) {
        ptxiModule m;
        double t = bench_now();
        bench_must(ptxiModuleLoadData(&m, text), "loading a small module");
        ms[i] = (bench_now() - t) * 1e3;
        bench_must(ptxiModuleUnload(m), "unloading");
    }
    snprintf(what, sizeof what, "load a module of %d lines, median of %d", lines_of(text), TIMES);
    report(o, what, bench_median(ms, TIMES), "ms");
    free(text);
}

/* Appends a kernel under a new name, at least as long as the old one. Returns the new end. */
static char *append_renamed(char *to, const char *body, const char *name, const char *as)
{
    size_t len = strlen(name), as_len = strlen(as);

    for (const char *hit; (hit = strstr(body, name)); body = hit + len) {
        memcpy(to, body, (size_t)(hit - body));
        to += hit - body;
        memcpy(to, as, as_len);
        to += as_len;
    }
    strcpy(to, body);
    return to + strlen(to);
}

/* Builds a module of the size of machine learning libraries: repeats four kernels under new names. */
static char *synthetic(const struct options *o, int min_lines, int *kernels)
{
    static const char *const names[] = { "mandel", "hash", "stencil", "bitonic" };
    char *texts[4], *bodies[4], *all = NULL;
    size_t size = 0, cap = 0;

    for (int i = 0; i < 4; i++) {
        texts[i] = bench_read(o, names[i]);
        bodies[i] = strstr(texts[i], ".visible .entry");
    }
    *kernels = 0;
    for (int lines = 0; lines < min_lines; ++*kernels) {
        int i = *kernels % 4;
        char as[32];
        size_t room = 2 * strlen(texts[i]) + 4096;
        if (size + room > cap && !(all = realloc(all, cap = 2 * cap + room)))
            abort();
        if (!size)
            size = (size_t)sprintf(all, "%.*s", (int)(bodies[0] - texts[0]), texts[0]);
        snprintf(as, sizeof as, "%s_%d", names[i], *kernels);
        size = (size_t)(append_renamed(all + size, bodies[i], names[i], as) - all);
        lines += lines_of(bodies[i]);
    }
    for (int i = 0; i < 4; i++)
        free(texts[i]);
    return all;
}

static void load_large(const struct options *o)
{
    int kernels;
    char *text = synthetic(o, o->quick ? 5000 : 500000, &kernels), what[80];
    double s[5];

    for (int i = 0; i < 5; i++) {
        ptxiModule m;
        double t = bench_now();
        bench_must(ptxiModuleLoadData(&m, text), "loading a large module");
        s[i] = bench_now() - t;
        bench_must(ptxiModuleUnload(m), "unloading");
    }
    double seconds = bench_median(s, 5);
    snprintf(what, sizeof what, "load %d lines, %d kernels, %.1f MB, median of 5", lines_of(text), kernels,
             (double)strlen(text) / 1e6);
    report(o, what, (double)lines_of(text) / seconds / 1e6, "M lines/s");
    report(o, "", (double)strlen(text) / seconds / 1e6, "MB/s");
    free(text);
}

static void launch_latency(const struct options *o)
{
    enum { TIMES = 2001 };
    static double us[TIMES];
    char *text = bench_read(o, "empty");
    ptxiModule m;
    ptxiFunction f;

    bench_must(ptxiModuleLoadData(&m, text), "loading empty.ptx");
    bench_must(ptxiModuleGetFunction(&f, m, "empty"), "empty");
    for (int i = -100; i < TIMES; i++) {
        double t = bench_now();
        bench_must(ptxiLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), "empty");
        bench_must(ptxiCtxSynchronize(), "empty");
        if (i >= 0)
            us[i] = (bench_now() - t) * 1e6;
    }
    report(o, "launch and synchronise an empty grid, warm, median", bench_median(us, TIMES), "us");
    bench_must(ptxiModuleUnload(m), "unloading");
    free(text);
}

/* ns per CTA of an empty kernel, by CPU time, with one worker. */
static double empty_cta(const struct options *o, ptxiFunction f, unsigned threads)
{
    enum { TIMES = 31 };
    const unsigned ctas = o->quick ? 1000 : 50000;
    double ns[TIMES];

    for (int i = -3; i < TIMES; i++) {
        double t = bench_work_now();

        bench_must(ptxiLaunchKernel(f, ctas, 1, 1, threads, 1, 1, 0, NULL, NULL, NULL), "empty");
        bench_must(ptxiCtxSynchronize(), "empty");
        if (i >= 0)
            ns[i] = (bench_work_now() - t) * 1e9 / ctas;
    }
    return bench_median(ns, TIMES);
}

static void start_of_ctas(const struct options *o)
{
    char *text = bench_read(o, "empty");
    ptxiModule m;
    ptxiFunction f;

    bench_must(ptxiModuleLoadData(&m, text), "loading empty.ptx");
    bench_must(ptxiModuleGetFunction(&f, m, "empty"), "empty");
    bench_must(ptxiCtxSetWorkers(NULL, 1), "ptxiCtxSetWorkers");
    bench_use_cpu_time(true);
    double one = empty_cta(o, f, 32), eight = empty_cta(o, f, 256);

    bench_use_cpu_time(false);
    bench_must(ptxiCtxSetWorkers(NULL, (unsigned)o->workers), "ptxiCtxSetWorkers");
    report(o, "start and end of an empty CTA of one warp", one, "ns");
    report(o, "start and end of an empty CTA of eight warps", eight, "ns");
    report(o, "start and end of a further warp", (eight - one) / 7, "ns");
    bench_must(ptxiModuleUnload(m), "unloading");
    free(text);
}

static void time_with(struct session *s, unsigned workers, double *ms)
{
    bench_must(ptxiCtxSetWorkers(NULL, workers), "ptxiCtxSetWorkers");
    bench_time_kernel(s);   /* first launch with the new workers */
    *ms = bench_time_kernel(s);
}

static double speedup(const struct options *o, const struct bench_case *c)
{
    struct session s = {0};

    bench_session_open(&s, c, o);
    for (int i = 0; i < o->rounds; i++) {
        time_with(&s, 1, &s.ms[i]);
        time_with(&s, 2, &s.native_ms[i]);
    }
    double x = bench_median(s.ms, o->rounds) / bench_median(s.native_ms, o->rounds);
    bench_must(ptxiCtxSetWorkers(NULL, (unsigned)o->workers), "ptxiCtxSetWorkers");
    bench_session_close(&s);
    return x;
}

static void scaling(const struct options *o)
{
    static const char *const kernels[] = { "vecadd", "saxpy", "sgemm", "mandel", "nbody", "hash" };
    enum { KERNELS = sizeof kernels / sizeof *kernels };
    double sum = 0;
    char what[80];

    for (int k = 0; k < KERNELS; k++)
        for (int i = 0; i < bench_case_count; i++)
            if (strcmp(bench_cases[i].name, kernels[k]) == 0) {
                double x = speedup(o, &bench_cases[i]);
                snprintf(what, sizeof what, "speed-up of two workers over one, %s", kernels[k]);
                report(o, what, x, "x");
                sum += log(x);
            }
    report(o, "speed-up of two workers over one, geometric mean", exp(sum / KERNELS), "x");
}

void bench_extras(const struct options *o)
{
    if (!o->csv)
        puts("");
    load_small(o);
    load_large(o);
    launch_latency(o);
    start_of_ctas(o);
    scaling(o);
}
