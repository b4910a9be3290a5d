/* Sessions (one loaded benchmark case each) and helpers of ptxi-bench. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void bench_must(ptxiResult r, const char *what)
{
    const char *text = NULL;

    if (r == PTXI_SUCCESS)
        return;
    ptxiGetErrorString(r, &text);
    fprintf(stderr, "ptxi-bench: %s: %s\n", what, text ? text : "unknown error");
    exit(2);
}

double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double bench_median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, ascending);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

char *bench_read(const struct options *o, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.ptx", o->dir, name);
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(2);
    }
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    rewind(f);
    char *text = malloc(size + 1);
    if (!text || fread(text, 1, size, f) != size) {
        fprintf(stderr, "ptxi-bench: cannot read %s\n", path);
        exit(2);
    }
    fclose(f);
    text[size] = 0;
    return text;
}

/* Time source: wall clock, or process CPU time, which is less sensitive to other load. */
static clockid_t work_clock = CLOCK_MONOTONIC;

void bench_use_cpu_time(bool on)
{
    work_clock = on ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
}

double bench_work_now(void)
{
    struct timespec t;

    clock_gettime(work_clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void upload(struct work *w)
{
    for (int i = 0; i < w->buffers; i++) {
        struct buffer *b = &w->buf[i];
        if (b->init)
            bench_must(ptxiMemcpyHtoD(b->dev, b->init, b->bytes), "copying to the device");
        else
            bench_must(ptxiMemsetD8(b->dev, 0, b->bytes), "clearing device memory");
    }
}

static void launch(struct session *s)
{
    const unsigned *g = s->w.grid, *b = s->w.block;

    bench_must(ptxiLaunchKernel(s->kernel, g[0], g[1], g[2], b[0], b[1], b[2], 0, NULL, s->w.args, NULL), s->c->name);
    bench_must(ptxiCtxSynchronize(), s->c->name);
}

double bench_time_kernel(struct session *s)
{
    upload(&s->w);
    double t = bench_work_now();
    launch(s);
    return (bench_work_now() - t) * 1e3;
}

/* In-place twins start from the same contents as the kernel. */
double bench_time_twin(struct session *s, const struct twins *t)
{
    for (int i = 0; i < s->w.buffers; i++) {
        struct buffer *b = &s->w.buf[i];
        if (b->out && b->init)
            memcpy(b->want, b->init, b->bytes);
    }
    double start = bench_work_now();
    s->c->twin(t, &s->w);
    return (bench_work_now() - start) * 1e3;
}

bool bench_results_right(struct session *s)
{
    bench_time_kernel(s);
    for (int i = 0; i < s->w.buffers; i++) {
        struct buffer *b = &s->w.buf[i];
        if (b->out)
            bench_must(ptxiMemcpyDtoH(b->got, b->dev, b->bytes), "copying from the device");
    }
    bench_time_twin(s, &twins_native);
    return s->c->check(&s->w);
}

/* Counting takes time, so it uses a separate launch. */
double bench_count_instructions(struct session *s)
{
    ptxiCounters c = { .size = sizeof c };

    upload(&s->w);
    bench_must(ptxiCtxSetCounting(NULL, 1), "counting instructions");
    bench_must(ptxiCtxResetCounters(NULL), "counting instructions");
    launch(s);
    bench_must(ptxiCtxGetCounters(NULL, &c), "counting instructions");
    bench_must(ptxiCtxSetCounting(NULL, 0), "counting instructions");
    return (double)c.threadInstructions;
}

static void make_texture(struct buffer *b)
{
    size_t width = (size_t)b->texture, pitch = width * sizeof(float);
    PTXI_RESOURCE_DESC from = { .resType = PTXI_RESOURCE_TYPE_PITCH2D,
                                .res.pitch2D = { b->dev, PTXI_AD_FORMAT_FLOAT, 1, width, b->bytes / pitch, pitch } };
    PTXI_TEXTURE_DESC how = { .addressMode = { PTXI_TR_ADDRESS_MODE_CLAMP, PTXI_TR_ADDRESS_MODE_CLAMP },
                              .filterMode = PTXI_TR_FILTER_MODE_LINEAR };

    bench_must(ptxiTexObjectCreate(&b->object, &from, &how, NULL), "making a texture");
}

void bench_session_open(struct session *s, const struct bench_case *c, const struct options *o)
{
    s->c = c;
    c->setup(&s->w, o->quick ? 16 : 1);
    char *text = bench_read(o, c->name);
    bench_must(ptxiModuleLoadData(&s->module, text), c->name);
    free(text);
    bench_must(ptxiModuleGetFunction(&s->kernel, s->module, c->name), c->name);
    for (int i = 0; i < s->w.buffers; i++) {
        bench_must(ptxiMemAlloc(&s->w.buf[i].dev, s->w.buf[i].bytes), "allocating device memory");
        if (s->w.buf[i].texture)
            make_texture(&s->w.buf[i]);
    }
    s->ms = calloc((size_t)o->rounds * 3, sizeof *s->ms);
    if (!s->ms)
        abort();
    s->native_ms = s->ms + o->rounds;
    s->scalar_ms = s->native_ms + o->rounds;
}

void bench_session_close(struct session *s)
{
    for (int i = 0; i < s->w.buffers; i++) {
        if (s->w.buf[i].texture)
            bench_must(ptxiTexObjectDestroy(s->w.buf[i].object), "freeing a texture");
        bench_must(ptxiMemFree(s->w.buf[i].dev), "freeing device memory");
    }
    bench_must(ptxiModuleUnload(s->module), "unloading the module");
    bench_work_free(&s->w);
    free(s->ms);
}
