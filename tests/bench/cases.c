#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed;

uint32_t bench_rnd(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}

float bench_rnd_unit(void)
{
    return (float)(bench_rnd() >> 8) * 0x1p-24f;
}

static void *get(size_t bytes)
{
    void *p = calloc(1, bytes ? bytes : 1);

    if (!p) {
        fprintf(stderr, "ptxi-bench: out of memory\n");
        exit(2);
    }
    return p;
}

void *bench_add_buffer(struct work *w, size_t bytes, bool filled, bool out)
{
    struct buffer *b = &w->buf[w->buffers++];

    b->bytes = bytes;
    b->out = out;
    b->init = filled ? get(bytes) : NULL;
    b->got = out ? get(bytes) : NULL;
    b->want = out ? get(bytes) : NULL;
    w->args[w->argc++] = &b->dev;
    return b->init;
}

void bench_add_arg(struct work *w, void *value)
{
    w->args[w->argc++] = value;
}

void bench_shape(struct work *w, unsigned gx, unsigned gy, unsigned bx, unsigned by)
{
    w->grid[0] = gx;
    w->grid[1] = gy;
    w->block[0] = bx;
    w->block[1] = by;
    w->grid[2] = w->block[2] = 1;
}

unsigned bench_blocks_for(int n, int block)
{
    return (unsigned)((n + block - 1) / block);
}

void bench_work_free(struct work *w)
{
    for (int i = 0; i < w->buffers; i++) {
        free(w->buf[i].init);
        free(w->buf[i].got);
        free(w->buf[i].want);
    }
    free(w->wide[0]);
    free(w->wide[1]);
    memset(w, 0, sizeof *w);
}

static bool same_bits(const struct work *w)
{
    for (int i = 0; i < w->buffers; i++)
        if (w->buf[i].out && memcmp(w->buf[i].got, w->buf[i].want, w->buf[i].bytes) != 0)
            return false;
    return true;
}

static void vecadd_setup(struct work *w, int shrink)
{
    w->n = (16 << 20) / shrink;
    size_t bytes = (size_t)w->n * sizeof(float);
    float *a = bench_add_buffer(w, bytes, true, false), *b = bench_add_buffer(w, bytes, true, false);
    for (int i = 0; i < w->n; i++) {
        a[i] = bench_rnd_unit();
        b[i] = bench_rnd_unit() - 0.5f;
    }
    bench_add_buffer(w, bytes, false, true);
    bench_add_arg(w, &w->n);
    bench_shape(w, bench_blocks_for(w->n, 256), 1, 256, 1);
}

static void vecadd_twin(const struct twins *t, struct work *w)
{
    t->vecadd(w->buf[0].init, w->buf[1].init, w->buf[2].want, w->n);
}

static void saxpy_setup(struct work *w, int shrink)
{
    w->n = (16 << 20) / shrink;
    w->f[0] = 1.7f;
    bench_add_arg(w, &w->f[0]);
    size_t bytes = (size_t)w->n * sizeof(float);
    float *x = bench_add_buffer(w, bytes, true, false), *y = bench_add_buffer(w, bytes, true, true);
    for (int i = 0; i < w->n; i++) {
        x[i] = bench_rnd_unit();
        y[i] = bench_rnd_unit() - 0.5f;
    }
    bench_add_arg(w, &w->n);
    bench_shape(w, bench_blocks_for(w->n, 256), 1, 256, 1);
}

static void saxpy_twin(const struct twins *t, struct work *w)
{
    t->saxpy(w->f[0], w->buf[0].init, w->buf[1].want, w->n);
}

static void sgemm_setup(struct work *w, int shrink)
{
    w->n = shrink > 1 ? 128 : 512;
    size_t bytes = (size_t)w->n * w->n * sizeof(float);
    float *a = bench_add_buffer(w, bytes, true, false), *b = bench_add_buffer(w, bytes, true, false);
    for (int i = 0; i < w->n * w->n; i++) {
        a[i] = bench_rnd_unit() - 0.5f;
        b[i] = bench_rnd_unit() - 0.5f;
    }
    bench_add_buffer(w, bytes, false, true);
    bench_add_arg(w, &w->n);
    bench_shape(w, (unsigned)w->n / 16, (unsigned)w->n / 16, 16, 16);
}

static void sgemm_twin(const struct twins *t, struct work *w)
{
    t->sgemm(w->buf[0].init, w->buf[1].init, w->buf[2].want, w->n);
}

/* Integers from -4 to 4. All sums are exact, independent of order and of fusing. */
static void hgemm_setup(struct work *w, int shrink)
{
    static const uint16_t halves[] = { 0xc400, 0xc200, 0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200, 0x4400 };
    size_t cells;

    w->n = shrink > 1 ? 128 : 1024;
    cells = (size_t)w->n * w->n;
    for (int m = 0; m < 2; m++) {
        uint16_t *half = bench_add_buffer(w, cells * sizeof *half, true, false);

        w->wide[m] = get(cells * sizeof *w->wide[m]);
        for (size_t i = 0; i < cells; i++) {
            int x = (int)(bench_rnd() % 9);

            half[i] = halves[x];
            w->wide[m][i] = (float)(x - 4);
        }
    }
    bench_add_buffer(w, cells * sizeof(float), false, true);
    bench_add_arg(w, &w->n);
    bench_shape(w, (unsigned)w->n / 64, (unsigned)w->n / 64, 128, 1);
}

static void hgemm_twin(const struct twins *t, struct work *w)
{
    t->sgemm(w->wide[0], w->wide[1], w->buf[2].want, w->n);
}

static void mandel_setup(struct work *w, int shrink)
{
    w->n = shrink > 1 ? 256 : 1024;
    w->m = w->n * 3 / 4;
    w->k = 256;
    w->f[0] = -2.2f;
    w->f[1] = -1.152f;
    w->f[2] = 3.072f / (float)w->n;
    bench_add_buffer(w, (size_t)w->n * w->m * sizeof(int), false, true);
    bench_add_arg(w, &w->n);
    bench_add_arg(w, &w->m);
    for (int i = 0; i < 3; i++)
        bench_add_arg(w, &w->f[i]);
    bench_add_arg(w, &w->k);
    bench_shape(w, bench_blocks_for(w->n, 32), bench_blocks_for(w->m, 8), 32, 8);
}

static void mandel_twin(const struct twins *t, struct work *w)
{
    t->mandel(w->buf[0].want, w->n, w->m, w->f[0], w->f[1], w->f[2], w->k);
}

static void nbody_setup(struct work *w, int shrink)
{
    w->n = shrink > 1 ? 1024 : 4096;
    w->f[0] = 0.01f;
    size_t bytes = (size_t)w->n * 4 * sizeof(float);
    float *b = bench_add_buffer(w, bytes, true, false);
    for (int i = 0; i < w->n * 4; i++)
        b[i] = i % 4 == 3 ? bench_rnd_unit() : 2.0f * bench_rnd_unit() - 1.0f;
    bench_add_buffer(w, bytes, false, true);
    bench_add_arg(w, &w->n);
    bench_add_arg(w, &w->f[0]);
    bench_shape(w, (unsigned)w->n / 256, 1, 256, 1);
}

static void nbody_twin(const struct twins *t, struct work *w)
{
    t->nbody(w->buf[0].init, w->buf[1].want, w->n, w->f[0]);
}

/* The twin divides by a square root; the kernel uses rsqrt.approx. Sums differ by rounding. The tolerance per component
 * is 1e-5 times the sum of the magnitudes of its terms. A wrong term causes an error a few hundred times larger. */
static bool nbody_check(const struct work *w)
{
    const float *body = w->buf[0].init, *got = w->buf[1].got, *want = w->buf[1].want;

    for (int i = 0; i < w->n; i += 7) {
        double scale[4] = {0, 0, 0, 0};
        for (int j = 0; j < w->n; j++) {
            double d[3], r2 = w->f[0];
            for (int c = 0; c < 3; c++) {
                d[c] = body[4 * j + c] - body[4 * i + c];
                r2 += d[c] * d[c];
            }
            for (int c = 0; c < 3; c++)
                scale[c] += body[4 * j + 3] * fabs(d[c]) / (r2 * sqrt(r2));
        }
        for (int c = 0; c < 4; c++)
            if (!(fabs((double)got[4 * i + c] - want[4 * i + c]) <= 1e-5 * scale[c]))
                return false;
    }
    return true;
}

enum { REDUCE_BLOCKS = 512, REDUCE_BLOCK = 256 };

/* Integers below 256. All partial sums are exact, independent of order. */
static void reduce_setup(struct work *w, int shrink)
{
    w->n = (16 << 20) / shrink;
    float *in = bench_add_buffer(w, (size_t)w->n * sizeof(float), true, false);
    for (int i = 0; i < w->n; i++)
        in[i] = (float)(bench_rnd() >> 24);
    bench_add_buffer(w, REDUCE_BLOCKS * sizeof(float), false, true);
    bench_add_arg(w, &w->n);
    bench_shape(w, REDUCE_BLOCKS, 1, REDUCE_BLOCK, 1);
}

static void reduce_twin(const struct twins *t, struct work *w)
{
    t->reduce(w->buf[0].init, w->buf[1].want, w->n, REDUCE_BLOCKS, REDUCE_BLOCK);
}

static void hist_setup(struct work *w, int shrink)
{
    w->n = (4 << 20) / shrink;
    uint32_t *words = bench_add_buffer(w, (size_t)w->n * 4, true, false);
    for (int i = 0; i < w->n; i++)
        words[i] = bench_rnd();
    bench_add_buffer(w, 256 * 4, false, true);
    bench_add_arg(w, &w->n);
    bench_shape(w, 256, 1, 256, 1);
}

static void hist_twin(const struct twins *t, struct work *w)
{
    t->hist(w->buf[0].init, w->buf[1].want, w->n);
}

static void hash_setup(struct work *w, int shrink)
{
    w->n = (128 << 10) / shrink;
    w->m = 128;
    uint32_t *in = bench_add_buffer(w, (size_t)w->n * 4, true, false);
    for (int i = 0; i < w->n; i++)
        in[i] = bench_rnd();
    bench_add_buffer(w, (size_t)w->n * 4, false, true);
    bench_add_arg(w, &w->n);
    bench_add_arg(w, &w->m);
    bench_shape(w, bench_blocks_for(w->n, 256), 1, 256, 1);
}

static void hash_twin(const struct twins *t, struct work *w)
{
    t->hash(w->buf[0].init, w->buf[1].want, w->n, w->m);
}

static void runs_setup(struct work *w, int n, int run)
{
    w->n = n / run;
    uint32_t *keys = bench_add_buffer(w, (size_t)n * 4, true, true);
    for (int i = 0; i < n; i++)
        keys[i] = bench_rnd();
    bench_shape(w, (unsigned)w->n, 1, 256, 1);
}

static void bitonic_setup(struct work *w, int shrink)
{
    runs_setup(w, (512 << 10) / shrink, BITONIC_RUN);
}

static void bitonic_twin(const struct twins *t, struct work *w)
{
    t->bitonic(w->buf[0].want, w->n);
}

static void stencil_setup(struct work *w, int shrink)
{
    w->n = shrink > 1 ? 512 : 2048;
    w->d[0] = 0.5;
    w->d[1] = 0.123;
    size_t cells = (size_t)w->n * w->n;
    double *in = bench_add_buffer(w, cells * sizeof(double), true, false);
    for (size_t i = 0; i < cells; i++)
        in[i] = bench_rnd() * 0x1p-32;
    bench_add_buffer(w, cells * sizeof(double), false, true);
    bench_add_arg(w, &w->n);
    bench_add_arg(w, &w->d[0]);
    bench_add_arg(w, &w->d[1]);
    bench_shape(w, bench_blocks_for(w->n, 32), bench_blocks_for(w->n, 8), 32, 8);
}

static void stencil_twin(const struct twins *t, struct work *w)
{
    t->stencil(w->buf[0].init, w->buf[1].want, w->n, w->d[0], w->d[1]);
}

static void radix_setup(struct work *w, int shrink)
{
    runs_setup(w, (2 << 20) / shrink, RADIX_RUN);
}

static void radix_twin(const struct twins *t, struct work *w)
{
    t->radix(w->buf[0].want, w->n);
}

static void layernorm_setup(struct work *w, int shrink)
{
    w->n = 4096 / shrink;
    w->m = 1000;
    w->f[0] = 1e-5f;
    size_t cells = (size_t)w->n * w->m;
    float *in = bench_add_buffer(w, cells * 4, true, false);
    for (size_t i = 0; i < cells; i++)
        in[i] = 4.0f * bench_rnd_unit() - 1.0f;
    float *gain = bench_add_buffer(w, (size_t)w->m * 4, true, false);
    float *shift = bench_add_buffer(w, (size_t)w->m * 4, true, false);
    for (int i = 0; i < w->m; i++) {
        gain[i] = 0.5f + bench_rnd_unit();
        shift[i] = bench_rnd_unit() - 0.5f;
    }
    bench_add_buffer(w, cells * 4, false, true);
    bench_add_arg(w, &w->m);
    bench_add_arg(w, &w->f[0]);
    bench_shape(w, (unsigned)w->n, 1, 256, 1);
}

static void layernorm_twin(const struct twins *t, struct work *w)
{
    t->layernorm(w->buf[0].init, w->buf[1].init, w->buf[2].init, w->buf[3].want, w->n, w->m, w->f[0]);
}

/* Row sums use a different order, and the root is rsqrt.approx. Values of order one agree to 1e-5. */
static bool layernorm_check(const struct work *w)
{
    const float *got = w->buf[3].got, *want = w->buf[3].want;

    for (size_t i = 0; i < (size_t)w->n * w->m; i++)
        if (!(fabsf(got[i] - want[i]) <= 1e-5f * (1.0f + fabsf(want[i]))))
            return false;
    return true;
}

/* Rows have 1 to 31 entries; one row in 64 has 200. The lanes of a warp finish at different times. */
static void spmv_setup(struct work *w, int shrink)
{
    w->n = (128 << 10) / shrink;
    int *start = bench_add_buffer(w, ((size_t)w->n + 1) * sizeof(int), true, false);
    for (int i = 0; i < w->n; i++)
        start[i + 1] = start[i] + (bench_rnd() % 64 == 0 ? 200 : 1 + (int)(bench_rnd() % 31));
    int entries = start[w->n];
    int *column = bench_add_buffer(w, (size_t)entries * sizeof(int), true, false);
    float *value = bench_add_buffer(w, (size_t)entries * sizeof(float), true, false);
    for (int i = 0; i < entries; i++) {
        column[i] = (int)(bench_rnd() % (unsigned)w->n);
        value[i] = bench_rnd_unit() - 0.5f;
    }
    float *x = bench_add_buffer(w, (size_t)w->n * sizeof(float), true, false);
    for (int i = 0; i < w->n; i++)
        x[i] = bench_rnd_unit();
    bench_add_buffer(w, (size_t)w->n * sizeof(float), false, true);
    bench_add_arg(w, &w->n);
    bench_shape(w, bench_blocks_for(w->n, 128), 1, 128, 1);
}

static void spmv_twin(const struct twins *t, struct work *w)
{
    t->spmv(w->buf[0].init, w->buf[1].init, w->buf[2].init, w->buf[3].init, w->buf[4].want, w->n);
}

/* Text over four letters, with a few copies of the pattern inserted. Prefixes of the pattern are frequent. */
static void search_setup(struct work *w, int shrink)
{
    static const char pattern[] = "gattacagattaca";
    w->n = (8 << 20) / shrink;
    w->m = (int)sizeof pattern - 1;
    char *text = bench_add_buffer(w, (size_t)w->n, true, false);
    for (int i = 0; i < w->n; i++)
        text[i] = "acgt"[bench_rnd() >> 30];
    for (int i = 0; i < 100; i++)
        memcpy(text + bench_rnd() % (unsigned)(w->n - w->m), pattern, (size_t)w->m);
    bench_add_arg(w, &w->n);
    memcpy(bench_add_buffer(w, (size_t)w->m, true, false), pattern, (size_t)w->m);
    bench_add_arg(w, &w->m);
    uint32_t *count = bench_add_buffer(w, 8, true, true);
    count[1] = UINT32_MAX;
    bench_shape(w, bench_blocks_for(w->n, 256), 1, 256, 1);
}

static void search_twin(const struct twins *t, struct work *w)
{
    t->search(w->buf[0].init, w->n, w->buf[1].init, w->m, w->buf[2].want);
}

static void rotate_setup(struct work *w, int shrink)
{
    w->n = shrink > 1 ? 256 : 1024;
    w->f[0] = cosf(0.5f);
    w->f[1] = sinf(0.5f);
    size_t bytes = (size_t)w->n * w->n * sizeof(float);
    float *in = bench_add_buffer(w, bytes, true, false);
    w->buf[0].texture = w->n;
    w->args[0] = &w->buf[0].object;
    for (int i = 0; i < w->n * w->n; i++)
        in[i] = bench_rnd_unit();
    bench_add_buffer(w, bytes, false, true);
    bench_add_arg(w, &w->n);
    bench_add_arg(w, &w->f[0]);
    bench_add_arg(w, &w->f[1]);
    bench_shape(w, bench_blocks_for(w->n, 32), bench_blocks_for(w->n, 8), 32, 8);
}

static void rotate_twin(const struct twins *t, struct work *w)
{
    t->rotate(w->buf[0].init, w->buf[1].want, w->n, w->f[0], w->f[1]);
}

/* Texture weights are rounded to 1/256 one after the other. */
static bool rotate_check(const struct work *w)
{
    const float *got = w->buf[1].got, *want = w->buf[1].want;

    for (size_t i = 0; i < (size_t)w->n * w->n; i++)
        if (!(fabsf(got[i] - want[i]) <= 0x1p-7f))
            return false;
    return true;
}

#define EXACT same_bits, "bits"

const struct bench_case bench_cases[] = {
    { "vecadd", "16M", BENCH_TUNED, vecadd_setup, vecadd_twin, EXACT },
    { "saxpy", "16M", BENCH_TUNED, saxpy_setup, saxpy_twin, EXACT },
    { "sgemm", "512^3", BENCH_TUNED, sgemm_setup, sgemm_twin, EXACT },
    { "mandel", "1024x768, 256 it", BENCH_TUNED, mandel_setup, mandel_twin, EXACT },
    { "nbody", "4096 f32", BENCH_TUNED, nbody_setup, nbody_twin, nbody_check, "1e-5 of summed magnitudes" },
    { "reduce_shm", "16M", BENCH_TUNED, reduce_setup, reduce_twin, EXACT },
    { "reduce_shfl", "16M", BENCH_TUNED, reduce_setup, reduce_twin, EXACT },
    { "hist", "4M words", BENCH_TUNED, hist_setup, hist_twin, EXACT },
    { "hash", "128K x 128 rounds", BENCH_TUNED, hash_setup, hash_twin, EXACT },
    { "bitonic", "512K in runs of 512", BENCH_TUNED, bitonic_setup, bitonic_twin, EXACT },
    { "stencil", "2048^2 f64", BENCH_TUNED, stencil_setup, stencil_twin, EXACT },
    { "radix", "2M in runs of 2048", BENCH_OTHER, radix_setup, radix_twin, EXACT },
    { "layernorm", "4096 rows of 1000", BENCH_OTHER, layernorm_setup, layernorm_twin, layernorm_check,
      "1e-5 (1 + |x|)" },
    { "spmv", "128K rows", BENCH_UNTUNED, spmv_setup, spmv_twin, EXACT },
    { "search", "8M bytes", BENCH_OTHER, search_setup, search_twin, EXACT },
    { "hgemm", "1024^3, f16", BENCH_OTHER, hgemm_setup, hgemm_twin, EXACT },
    { "rotate", "1024^2 texels, f32", BENCH_OTHER, rotate_setup, rotate_twin, rotate_check, "weights of 8 bits" },
    { "heat", "192^3, f32", BENCH_UNTUNED, bench_heat_setup, bench_heat_twin, EXACT },
    { "compact", "8M words", BENCH_UNTUNED, bench_compact_setup, bench_compact_twin, bench_compact_check,
      "bits, in any order" },
    { "conv5", "2000x1000, f32", BENCH_UNTUNED, bench_conv5_setup, bench_conv5_twin, EXACT },
    { "kmeans", "512K points", BENCH_UNTUNED, bench_kmeans_setup, bench_kmeans_twin, EXACT },
    { "fft256", "8K runs of 256", BENCH_UNTUNED, bench_fft256_setup, bench_fft256_twin, EXACT },
    { "probe", "1M keys", BENCH_UNTUNED, bench_probe_setup, bench_probe_twin, EXACT },
    { "softmax", "8K rows of 500", BENCH_UNTUNED, bench_softmax_setup, bench_softmax_twin, bench_softmax_check,
      "1e-5 |x|" },
    { "transpose", "2048^2, f32", BENCH_SAMPLES, bench_transpose_setup, bench_transpose_twin, EXACT },
    { "walsh", "4K runs of 1024", BENCH_SAMPLES, bench_walsh_setup, bench_walsh_twin, EXACT },
    { "options", "1M", BENCH_SAMPLES, bench_options_setup, bench_options_twin, bench_options_check,
      "1e-5 |x| + 1e-4" },
    { "scan", "4K runs of 1024", BENCH_SAMPLES, bench_scan_setup, bench_scan_twin, EXACT },
};
const int bench_case_count = sizeof bench_cases / sizeof bench_cases[0];
