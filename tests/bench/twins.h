/* Plain C versions of the benchmark kernels. twins.c is compiled twice: vectorised for this machine, and without
 * vectorisation. Each build defines one of the two tables. */
#ifndef PTXI_BENCH_TWINS_H
#define PTXI_BENCH_TWINS_H

#include <stddef.h>
#include <stdint.h>

struct twins {
    void (*vecadd)(const float *a, const float *b, float *c, int n);
    void (*saxpy)(float alpha, const float *x, float *y, int n);
    void (*sgemm)(const float *a, const float *b, float *c, int n);
    void (*mandel)(int *out, int width, int height, float x0, float y0, float step, int limit);
    void (*nbody)(const float *body, float *accel, int n, float eps2);
    void (*reduce)(const float *in, float *out, int n, int blocks, int block);
    void (*hist)(const uint32_t *words, uint32_t *bins, int n);
    void (*hash)(const uint32_t *in, uint32_t *out, int n, int rounds);
    void (*bitonic)(int32_t *data, int runs);
    void (*stencil)(const double *in, double *out, int n, double centre, double side);
    void (*radix)(uint32_t *keys, int runs);
    void (*layernorm)(const float *in, const float *gain, const float *shift, float *out, int rows, int width,
                      float eps);
    void (*spmv)(const int *start, const int *column, const float *value, const float *x, float *y, int rows);
    void (*rotate)(const float *in, float *out, int n, float cosine, float sine);
    void (*search)(const char *text, int length, const char *pattern, int plen, uint32_t *count);
    void (*heat)(const float *in, float *out, int n, float centre, float side);
    void (*compact)(const uint32_t *in, uint32_t *out, uint32_t *count, int n, uint32_t limit);
    void (*conv5)(const float *in, float *out, int width, int height, const float *mask);
    void (*kmeans)(const float *point, const float *centre, int *nearest, int n);
    void (*fft256)(const float *in, const float *root, float *out, int runs);
    void (*probe)(const uint32_t *table, uint32_t mask, const uint32_t *key, uint32_t *value, int n);
    void (*softmax)(const float *in, float *out, int rows, int width);
    void (*transpose)(const float *in, float *out, int n);
    void (*walsh)(float *data, int runs);
    void (*options)(const float *price, const float *strike, const float *years, float *call, float *put, int n,
                    float rate, float volatility);
    void (*scan)(const int32_t *in, int32_t *out, int runs);
};

enum {
    BITONIC_RUN = 512,
    RADIX_RUN = 2048,
    KMEANS_DIMENSIONS = 8,
    KMEANS_CENTRES = 32,
    FFT_POINTS = 256,
    WALSH_RUN = 1024,
    SCAN_RUN = 1024
};

/* The first slot of a key in the hash table, before masking. */
#define PROBE_HASH(key) ((uint32_t)(key) * 0x9e3779b1u >> 7)

extern const struct twins twins_native;
extern const struct twins twins_scalar;

#endif
