/* Benchmark cases: kernel arguments, C twin and comparison of results. */
#ifndef PTXI_BENCH_CASES_H
#define PTXI_BENCH_CASES_H

#include "ptxi.h"
#include "twins.h"

#include <stdbool.h>

enum { MAX_BUFFERS = 6, MAX_ARGS = 9 };

struct buffer {
    size_t bytes;
    bool out;             /* written by the kernel and compared afterwards */
    void *init;           /* initial contents; NULL: zeros */
    void *got, *want;     /* results of kernel and twin; only if `out` */
    ptxiDevicePtr dev;
    int texture; /* row length if passed as a linearly filtered f32 texture, else 0 */
    unsigned long long object;
};

struct work {
    struct buffer buf[MAX_BUFFERS];
    int buffers;
    int n, m, k;          /* problem sizes; meaning depends on the case */
    float f[3];
    double d[2];
    void *args[MAX_ARGS]; /* arguments of ptxiLaunchKernel */
    int argc;
    unsigned grid[3], block[3];
    float *wide[2];       /* inputs of the twin, instead of the first buffers */
};

struct bench_case {
    const char *name;     /* name of the kernel and of its .ptx file */
    const char *size;     /* problem size as shown in the table */
    bool tuned_for;       /* included in the headline mean; the library is not tuned for the others */
    void (*setup)(struct work *w, int shrink);
    void (*twin)(const struct twins *t, struct work *w);
    bool (*check)(const struct work *w);
    const char *compare;  /* description of the comparison */
};

extern const struct bench_case bench_cases[];
extern const int bench_case_count;

void bench_work_free(struct work *w);

#endif
