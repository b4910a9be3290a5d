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

/* Each group has a mean of its own. The library is tuned for the first group only. */
enum bench_group {
    BENCH_TUNED,
    BENCH_OTHER,
    BENCH_UNTUNED, /* kinds of kernels that programs often have */
    BENCH_SAMPLES, /* kinds that NVIDIA's samples have */
    BENCH_GROUPS
};

struct bench_case {
    const char *name;     /* name of the kernel and of its .ptx file */
    const char *size;     /* problem size as shown in the table */
    enum bench_group group;
    void (*setup)(struct work *w, int shrink);
    void (*twin)(const struct twins *t, struct work *w);
    bool (*check)(const struct work *w);
    const char *compare;  /* description of the comparison */
};

extern const struct bench_case bench_cases[];
extern const int bench_case_count;

void bench_work_free(struct work *w);

/* For the setup of a case: random numbers, a buffer, which is the next argument (`filled`: returns its initial
 * contents), another argument, and the shape of the launch. */
uint32_t bench_rnd(void);
float bench_rnd_unit(void);
void *bench_add_buffer(struct work *w, size_t bytes, bool filled, bool out);
void bench_add_arg(struct work *w, void *value);
void bench_shape(struct work *w, unsigned gx, unsigned gy, unsigned bx, unsigned by);
unsigned bench_blocks_for(int n, int block);

/* cases_untuned.c */
void bench_heat_setup(struct work *w, int shrink);
void bench_heat_twin(const struct twins *t, struct work *w);
void bench_compact_setup(struct work *w, int shrink);
void bench_compact_twin(const struct twins *t, struct work *w);
bool bench_compact_check(const struct work *w);
void bench_conv5_setup(struct work *w, int shrink);
void bench_conv5_twin(const struct twins *t, struct work *w);
void bench_kmeans_setup(struct work *w, int shrink);
void bench_kmeans_twin(const struct twins *t, struct work *w);
void bench_fft256_setup(struct work *w, int shrink);
void bench_fft256_twin(const struct twins *t, struct work *w);
void bench_probe_setup(struct work *w, int shrink);
void bench_probe_twin(const struct twins *t, struct work *w);
void bench_softmax_setup(struct work *w, int shrink);
void bench_softmax_twin(const struct twins *t, struct work *w);
bool bench_softmax_check(const struct work *w);
void bench_transpose_setup(struct work *w, int shrink);
void bench_transpose_twin(const struct twins *t, struct work *w);
void bench_walsh_setup(struct work *w, int shrink);
void bench_walsh_twin(const struct twins *t, struct work *w);
void bench_options_setup(struct work *w, int shrink);
void bench_options_twin(const struct twins *t, struct work *w);
bool bench_options_check(const struct work *w);
void bench_scan_setup(struct work *w, int shrink);
void bench_scan_twin(const struct twins *t, struct work *w);

#endif
