/* Benchmark cases that the library is not tuned for: kinds of kernels that programs often have, and kinds that NVIDIA's
 * samples have. */
#include "cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- kinds that programs often have --- */

void bench_heat_setup(struct work *w, int shrink)
{
    size_t cells;

    w->n = shrink > 1 ? 64 : 192;
    w->f[0] = 0.4f;
    w->f[1] = 0.1f;
    cells = (size_t)w->n * (size_t)w->n * (size_t)w->n;
    float *in = bench_add_buffer(w, cells * sizeof *in, true, false);
    for (size_t i = 0; i < cells; i++)
        in[i] = bench_rnd_unit();
    bench_add_buffer(w, cells * sizeof *in, false, true);
    bench_add_arg(w, &w->n);
    bench_add_arg(w, &w->f[0]);
    bench_add_arg(w, &w->f[1]);
    bench_shape(w, bench_blocks_for(w->n, 32), bench_blocks_for(w->n, 8), 32, 8);
    w->grid[2] = (unsigned)w->n;
}

void bench_heat_twin(const struct twins *t, struct work *w)
{
    t->heat(w->buf[0].init, w->buf[1].want, w->n, w->f[0], w->f[1]);
}

static const uint32_t compact_limit = 0x7fffffff;

void bench_compact_setup(struct work *w, int shrink)
{
    w->n = (8 << 20) / shrink;
    uint32_t *in = bench_add_buffer(w, (size_t)w->n * sizeof *in, true, false);
    for (int i = 0; i < w->n; i++)
        in[i] = bench_rnd();
    bench_add_buffer(w, (size_t)w->n * sizeof *in, true, true);
    bench_add_buffer(w, sizeof *in, true, true);
    bench_add_arg(w, &w->n);
    bench_add_arg(w, (void *)(uintptr_t)&compact_limit);
    bench_shape(w, bench_blocks_for(w->n, 256), 1, 256, 1);
}

void bench_compact_twin(const struct twins *t, struct work *w)
{
    t->compact(w->buf[0].init, w->buf[1].want, w->buf[2].want, w->n, compact_limit);
}

static int compare_words(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* The order of the numbers depends on that of the warps. */
bool bench_compact_check(const struct work *w)
{
    uint32_t *got = w->buf[1].got, *want = w->buf[1].want, count = *(uint32_t *)w->buf[2].want;

    if (*(uint32_t *)w->buf[2].got != count)
        return false;
    qsort(got, count, sizeof *got, compare_words);
    qsort(want, count, sizeof *want, compare_words);
    return memcmp(got, want, count * sizeof *got) == 0;
}

static const float conv5_mask[25] = {
    0.003f, 0.013f, 0.022f, 0.013f, 0.003f, 0.013f, 0.060f, 0.098f, 0.060f, 0.013f, 0.022f, 0.098f, 0.162f,
    0.098f, 0.022f, 0.013f, 0.060f, 0.098f, 0.060f, 0.013f, 0.003f, 0.013f, 0.022f, 0.013f, 0.003f,
};

void bench_conv5_setup(struct work *w, int shrink)
{
    w->n = shrink > 1 ? 500 : 2000;
    w->m = w->n / 2;
    size_t pixels = (size_t)w->n * (size_t)w->m;
    float *in = bench_add_buffer(w, pixels * sizeof *in, true, false);
    for (size_t i = 0; i < pixels; i++)
        in[i] = bench_rnd_unit();
    bench_add_buffer(w, pixels * sizeof *in, false, true);
    bench_add_arg(w, &w->n);
    bench_add_arg(w, &w->m);
    bench_add_arg(w, (void *)(uintptr_t)conv5_mask);
    bench_shape(w, bench_blocks_for(w->n, 32), bench_blocks_for(w->m, 8), 32, 8);
}

void bench_conv5_twin(const struct twins *t, struct work *w)
{
    t->conv5(w->buf[0].init, w->buf[1].want, w->n, w->m, conv5_mask);
}

void bench_kmeans_setup(struct work *w, int shrink)
{
    w->n = (512 << 10) / shrink;
    size_t numbers = (size_t)w->n * KMEANS_DIMENSIONS;
    float *point = bench_add_buffer(w, numbers * sizeof *point, true, false);
    for (size_t i = 0; i < numbers; i++)
        point[i] = bench_rnd_unit();
    float *centre = bench_add_buffer(w, KMEANS_DIMENSIONS * KMEANS_CENTRES * sizeof *centre, true, false);
    for (int i = 0; i < KMEANS_DIMENSIONS * KMEANS_CENTRES; i++)
        centre[i] = bench_rnd_unit();
    bench_add_buffer(w, (size_t)w->n * sizeof(int), false, true);
    bench_add_arg(w, &w->n);
    bench_shape(w, bench_blocks_for(w->n, 256), 1, 256, 1);
}

void bench_kmeans_twin(const struct twins *t, struct work *w)
{
    t->kmeans(w->buf[0].init, w->buf[1].init, w->buf[2].want, w->n);
}

void bench_fft256_setup(struct work *w, int shrink)
{
    w->n = 8192 / shrink;
    size_t numbers = (size_t)w->n * FFT_POINTS * 2;
    float *in = bench_add_buffer(w, numbers * sizeof *in, true, false);
    for (size_t i = 0; i < numbers; i++)
        in[i] = bench_rnd_unit() - 0.5f;
    float *root = bench_add_buffer(w, FFT_POINTS * sizeof *root, true, false);
    for (int k = 0; k < FFT_POINTS / 2; k++) {
        double angle = -2 * 3.14159265358979323846 * k / FFT_POINTS;

        root[2 * k] = (float)cos(angle);
        root[2 * k + 1] = (float)sin(angle);
    }
    bench_add_buffer(w, numbers * sizeof *in, false, true);
    bench_shape(w, (unsigned)w->n, 1, FFT_POINTS / 2, 1);
}

void bench_fft256_twin(const struct twins *t, struct work *w)
{
    t->fft256(w->buf[0].init, w->buf[1].init, w->buf[2].want, w->n);
}

/* Half of the slots are in use, and half of the keys are in the table. */
void bench_probe_setup(struct work *w, int shrink)
{
    uint32_t slots = (UINT32_C(1) << 20) / (unsigned)shrink;

    w->n = (1 << 20) / shrink;
    w->m = (int)slots - 1;
    uint32_t *table = bench_add_buffer(w, slots * 2 * sizeof *table, true, false);
    bench_add_arg(w, &w->m);
    uint32_t *key = bench_add_buffer(w, (size_t)w->n * sizeof *key, true, false);
    for (int i = 0; i < w->n; i++)
        key[i] = bench_rnd() | 1;
    for (uint32_t i = 0; i < slots / 2; i++) {
        uint32_t at = PROBE_HASH(key[i]) & (slots - 1);

        while (table[2 * at] && table[2 * at] != key[i])
            at = (at + 1) & (slots - 1);
        table[2 * at] = key[i];
        table[2 * at + 1] = i;
    }
    bench_add_buffer(w, (size_t)w->n * sizeof *key, false, true);
    bench_add_arg(w, &w->n);
    bench_shape(w, bench_blocks_for(w->n, 256), 1, 256, 1);
}

void bench_probe_twin(const struct twins *t, struct work *w)
{
    t->probe(w->buf[0].init, (uint32_t)w->m, w->buf[1].init, w->buf[2].want, w->n);
}

void bench_softmax_setup(struct work *w, int shrink)
{
    w->n = 8192 / shrink;
    w->m = 500;
    size_t numbers = (size_t)w->n * (size_t)w->m;
    float *in = bench_add_buffer(w, numbers * sizeof *in, true, false);
    for (size_t i = 0; i < numbers; i++)
        in[i] = 8.0f * bench_rnd_unit() - 4.0f;
    bench_add_buffer(w, numbers * sizeof *in, false, true);
    bench_add_arg(w, &w->n);
    bench_add_arg(w, &w->m);
    bench_shape(w, bench_blocks_for(w->n, 8), 1, 256, 1);
}

void bench_softmax_twin(const struct twins *t, struct work *w)
{
    t->softmax(w->buf[0].init, w->buf[1].want, w->n, w->m);
}

/* Whether all floats of a buffer agree to `relative`, or, if they are small, to `absolute`. */
static bool are_close(const struct work *w, int buffer, float relative, float absolute)
{
    const float *got = w->buf[buffer].got, *want = w->buf[buffer].want;

    for (size_t i = 0; i < w->buf[buffer].bytes / sizeof *got; i++)
        if (!(fabsf(got[i] - want[i]) <= relative * fabsf(want[i]) + absolute))
            return false;
    return true;
}

/* The kernel's exponentials are approximations, and its sums have another order. */
bool bench_softmax_check(const struct work *w)
{
    return are_close(w, 1, 1e-5f, 0);
}

/* --- kinds that NVIDIA's samples have --- */

void bench_transpose_setup(struct work *w, int shrink)
{
    w->n = shrink > 1 ? 512 : 2048;
    size_t numbers = (size_t)w->n * (size_t)w->n;
    float *in = bench_add_buffer(w, numbers * sizeof *in, true, false);
    for (size_t i = 0; i < numbers; i++)
        in[i] = bench_rnd_unit();
    bench_add_buffer(w, numbers * sizeof *in, false, true);
    bench_add_arg(w, &w->n);
    bench_shape(w, (unsigned)w->n / 32, (unsigned)w->n / 32, 32, 8);
}

void bench_transpose_twin(const struct twins *t, struct work *w)
{
    t->transpose(w->buf[0].init, w->buf[1].want, w->n);
}

void bench_walsh_setup(struct work *w, int shrink)
{
    w->n = 4096 / shrink;
    size_t numbers = (size_t)w->n * WALSH_RUN;
    float *data = bench_add_buffer(w, numbers * sizeof *data, true, true);
    for (size_t i = 0; i < numbers; i++)
        data[i] = bench_rnd_unit() - 0.5f;
    bench_shape(w, (unsigned)w->n, 1, 256, 1);
}

void bench_walsh_twin(const struct twins *t, struct work *w)
{
    t->walsh(w->buf[0].want, w->n);
}

void bench_options_setup(struct work *w, int shrink)
{
    static const float least[3] = { 5, 1, 0.25f }, range[3] = { 25, 99, 9.75f };

    w->n = (1 << 20) / shrink;
    w->f[0] = 0.02f;
    w->f[1] = 0.30f;
    for (int k = 0; k < 3; k++) {
        float *in = bench_add_buffer(w, (size_t)w->n * sizeof *in, true, false);
        for (int i = 0; i < w->n; i++)
            in[i] = least[k] + range[k] * bench_rnd_unit();
    }
    bench_add_buffer(w, (size_t)w->n * sizeof(float), false, true);
    bench_add_buffer(w, (size_t)w->n * sizeof(float), false, true);
    bench_add_arg(w, &w->n);
    bench_add_arg(w, &w->f[0]);
    bench_add_arg(w, &w->f[1]);
    bench_shape(w, bench_blocks_for(w->n, 128), 1, 128, 1);
}

void bench_options_twin(const struct twins *t, struct work *w)
{
    t->options(w->buf[0].init, w->buf[1].init, w->buf[2].init, w->buf[3].want, w->buf[4].want, w->n, w->f[0], w->f[1]);
}

/* Prices of up to 100, from differences of numbers of that size. */
bool bench_options_check(const struct work *w)
{
    return are_close(w, 3, 1e-5f, 1e-4f) && are_close(w, 4, 1e-5f, 1e-4f);
}

void bench_scan_setup(struct work *w, int shrink)
{
    w->n = 4096 / shrink;
    size_t numbers = (size_t)w->n * SCAN_RUN;
    int32_t *in = bench_add_buffer(w, numbers * sizeof *in, true, false);
    for (size_t i = 0; i < numbers; i++)
        in[i] = (int32_t)(bench_rnd() % 1000) - 500;
    bench_add_buffer(w, numbers * sizeof *in, false, true);
    bench_shape(w, (unsigned)w->n, 1, SCAN_RUN, 1);
}

void bench_scan_twin(const struct twins *t, struct work *w)
{
    t->scan(w->buf[0].init, w->buf[1].want, w->n);
}
