/* Internal interface of ptxi-bench. */
#ifndef PTXI_BENCH_H
#define PTXI_BENCH_H

#include "cases.h"

enum { BENCH_MOST_ROUNDS = 1000 };

struct options {
    int rounds;
    int workers;
    bool csv;
    bool quick;            /* small problems; checks results, not speed */
    bool cpu_time;
    bool twins, extras;
    bool families;         /* only the table of instruction families */
    bool matrix;           /* only the table of matrix instructions */
    bool sync;             /* only the table of synchronisation */
    bool atomics;          /* only the table of atomic loops */
    bool textures;         /* only the table of texture fetches */
    bool scaling;          /* only the speed-up with the number of workers, compared with C on as many threads */
    bool tiers;            /* only the kernels on each tier */
    bool tracking;         /* only the kernels with and without tracking of changes */
    const char *kernel;    /* only cases with this text in their name */
    const char *dir;       /* directory of the .ptx files */
    const char *json;      /* file for the figures, or NULL */
};

struct session {
    const struct bench_case *c;
    struct work w;
    ptxiModule module;
    ptxiFunction kernel;
    double *ms, *native_ms, *scalar_ms;   /* one value per round */
};

void bench_session_open(struct session *s, const struct bench_case *c, const struct options *o);
void bench_session_close(struct session *s);
bool bench_results_right(struct session *s);          /* compares one run of kernel and native twin */
double bench_count_instructions(struct session *s);   /* PTX thread instructions per launch */
double bench_time_kernel(struct session *s);          /* ms from launch to completion */
double bench_time_twin(struct session *s, const struct twins *t);

/* Prints the failed call and the library's error message, then exits. */
void bench_must(ptxiResult r, const char *what);
double bench_now(void);    /* wall-clock time in seconds */
double bench_work_now(void);        /* seconds; wall clock by default */
void bench_use_cpu_time(bool on);   /* selects process CPU time for bench_work_now() */
double bench_median(double *v, int n);
char *bench_read(const struct options *o, const char *name);   /* returns the text of name.ptx; caller frees */

/* Prints load times, launch latency and scaling with the number of workers. */
void bench_extras(const struct options *o);

/* Prints the speed-up of kernels with 2, 4, ... workers, and of C with as many threads. */
void bench_scaling(const struct options *o);

/* Prints the times of kernels on each tier. Returns false if results are wrong. */
bool bench_tiers(const struct options *o);
void bench_tracking(const struct options *o);

/* Prints instruction cost by family. */
void bench_families(const struct options *o);

/* Prints the throughput of matrix instructions for several operand distributions. */
void bench_matrix(const struct options *o);

/* Prints the cost of texture fetches. */
void bench_textures(const struct options *o);

/* Returns ns per loop iteration of a kernel, in one CTA. Kernel parameters: `mem` and the iteration count. */
double bench_time_turns(ptxiFunction kernel, unsigned threads, ptxiDevicePtr mem, uint32_t turns);

/* Prints the cost of atomics, barriers and asynchronous copies. Returns false if results are wrong. */
bool bench_sync(const struct options *o);

/* Prints the cost of loops of atomic operations. */
void bench_atomics(const struct options *o);

/* json.c: figures as JSON. Without --json, these functions do nothing. A row is written as printf() does; `format` has
 * the members of one object. */
void bench_json_open(const struct options *o, const char *host);
void bench_json_table(const char *name);
void bench_json_row(const char *format, ...) __attribute__((format(printf, 1, 2)));
void bench_json_close(void);

#endif
