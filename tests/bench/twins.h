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
};

enum { BITONIC_RUN = 512, RADIX_RUN = 2048 };

extern const struct twins twins_native;
extern const struct twins twins_scalar;

#endif
