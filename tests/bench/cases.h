/* The benchmark cases: what each kernel is given, its C twin, and how results are compared. */
#ifndef PTXI_BENCH_CASES_H
#define PTXI_BENCH_CASES_H

#include "ptxi.h"
#include "twins.h"

#include <stdbool.h>

enum { MAX_BUFFERS = 6, MAX_ARGS = 9 };

struct buffer {
    size_t bytes;
    bool out;             /* the kernel writes it: compared afterwards */
    void *init;           /* contents before a run, NULL for zeros */
    void *got, *want;     /* results of the kernel and of the twin; only if out */
    ptxiDevicePtr dev;
    int texture; /* not 0: what the kernel gets is a linearly filtered texture of the f32 here, this many a row */
    unsigned long long object;
};

struct work {
    struct buffer buf[MAX_BUFFERS];
    int buffers;
    int n, m, k;          /* sizes, as the case understands them */
    float f[3];
    double d[2];
    void *args[MAX_ARGS]; /* what ptxiLaunchKernel takes */
    int argc;
    unsigned grid[3], block[3];
    float *wide[2];       /* the twin reads these in place of the first buffers */
};

struct bench_case {
    const char *name;     /* of the kernel and of its .ptx */
    const char *size;     /* for the table */
    bool tuned_for;       /* one of the eleven of the headline mean; the others are kernels nobody tunes for */
    void (*setup)(struct work *w, int shrink);
    void (*twin)(const struct twins *t, struct work *w);
    bool (*check)(const struct work *w);
    const char *compare;  /* how check compares */
};

extern const struct bench_case bench_cases[];
extern const int bench_case_count;

void bench_work_free(struct work *w);

#endif
