/* What the parts of ptxi-bench share. */
#ifndef PTXI_BENCH_H
#define PTXI_BENCH_H

#include "cases.h"

enum { BENCH_MOST_ROUNDS = 1000 };

struct options {
    int rounds;
    int workers;
    bool csv;
    bool quick;            /* small problems: checks the program rather than the speed */
    bool cpu_time;
    bool twins, extras;
    bool families;         /* the table of families and nothing else */
    bool matrix;           /* the table of matrix instructions and nothing else */
    bool sync;             /* the table of synchronisation and nothing else */
    bool atomics;          /* the table of loops of atomic operations and nothing else */
    bool textures;         /* the table of fetches from textures and nothing else */
    const char *kernel;    /* only cases whose name contains this */
    const char *dir;       /* where the .ptx files are */
};

struct session {
    const struct bench_case *c;
    struct work w;
    ptxiModule module;
    ptxiFunction kernel;
    double *ms, *native_ms, *scalar_ms;   /* a value for each round */
};

void bench_session_open(struct session *s, const struct bench_case *c, const struct options *o);
void bench_session_close(struct session *s);
bool bench_results_right(struct session *s);          /* runs the kernel and the native twin once and compares */
double bench_count_instructions(struct session *s);   /* PTX thread-instructions of one launch */
double bench_time_kernel(struct session *s);          /* ms from the launch to its end */
double bench_time_twin(struct session *s, const struct twins *t);

/* Ends the program with what failed and the library's words for it. */
void bench_must(ptxiResult r, const char *what);
double bench_now(void);    /* seconds of the wall clock */
double bench_work_now(void);        /* seconds of the clock that work is timed by: the wall's, unless ... */
void bench_use_cpu_time(bool on);   /* ... it is to be the CPU time of the process */
double bench_median(double *v, int n);
char *bench_read(const struct options *o, const char *name);   /* the text of name.ptx; free() it */

/* Load times, launch latency and scaling over workers, printed below the table. */
void bench_extras(const struct options *o);

/* What an instruction of each family costs, as a table. */
void bench_families(const struct options *o);

/* What matrix instructions do with operands of several kinds, as a table. */
void bench_matrix(const struct options *o);

/* What fetches from textures cost, as a table. */
void bench_textures(const struct options *o);

/* ns for a turn of a kernel's loop, in one CTA; its parameters are `mem` and how many turns it takes. */
double bench_time_turns(ptxiFunction kernel, unsigned threads, ptxiDevicePtr mem, uint32_t turns);

/* What atomics, barriers and asynchronous copies cost, as a table; false for wrong results. */
bool bench_sync(const struct options *o);

/* What loops of atomic operations cost, as a table. */
void bench_atomics(const struct options *o);

#endif
