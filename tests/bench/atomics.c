/* Benchmark of loops of atomic operations. All threads update one word, or random words of a table larger than the
 * caches. The same loops in C run on one thread, and on two threads with atomic operations, for comparison. Results are
 * in ns per operation and thread. */
#include "bench.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CTAS = 512, THREADS = 256, TABLE_TURNS = 16, WORD_TURNS = 16 };

static uint32_t mixed(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352d;
    x = (x ^ x >> 15) * 0x846ca68b;
    return x ^ x >> 16;
}

static float value(uint32_t n)
{
    return (float)mixed(n) * 0x1p-32f - 0.5f;
}

static uint32_t bits(float x)
{
    uint32_t b;

    memcpy(&b, &x, sizeof b);
    return b;
}

static float number(uint32_t b)
{
    float x;

    memcpy(&x, &b, sizeof x);
    return x;
}

static float larger(float x, float y)
{
    return x > y ? x : y;
}

/* Work of a C thread: operations `from` to `to`. */
struct share {
    void *p;
    uint32_t from, to, mask;
};

/* Defines two loops that compute NEW from `old` and n and store it to p[AT]: a plain and an atomic one. */
#define IN_C(name, T, AT, NEW)                                                                               \
    static void *name##_alone(void *of)                                                                      \
    {                                                                                                        \
        struct share *s = of;                                                                                \
        T *p = s->p;                                                                                         \
                                                                                                             \
        for (uint32_t n = s->from, mask = s->mask; n < s->to; n++) {                                         \
            T *at = &p[(AT) & mask], old = *(volatile T *)at;                                                \
                                                                                                             \
            *(volatile T *)at = NEW;                                                                         \
        }                                                                                                    \
        return NULL;                                                                                         \
    }                                                                                                        \
    static void *name##_atomic(void *of)                                                                     \
    {                                                                                                        \
        struct share *s = of;                                                                                \
        T *p = s->p;                                                                                         \
                                                                                                             \
        for (uint32_t n = s->from, mask = s->mask; n < s->to; n++) {                                         \
            T *at = &p[(AT) & mask], old = __atomic_load_n(at, __ATOMIC_RELAXED);                            \
                                                                                                             \
            while (!__atomic_compare_exchange_n(at, &old, NEW, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))    \
                ;                                                                                            \
        }                                                                                                    \
        return NULL;                                                                                         \
    }
#ifdef __FLT16_MAX__
typedef _Float16 half;

static uint16_t add_half(uint16_t old, float x)
{
    half h;

    memcpy(&h, &old, sizeof h);
    h += (half)x;
    memcpy(&old, &h, sizeof h);
    return old;
}

static uint16_t max_half(uint16_t old, float x)
{
    half h, y = (half)x;

    memcpy(&h, &old, sizeof h);
    h = h > y ? h : y;
    memcpy(&old, &h, sizeof h);
    return old;
}
IN_C(add_f16, uint16_t, 0, add_half(old, value(n)))
IN_C(max_f16, uint16_t, 0, max_half(old, value(n)))
IN_C(table_add_f16, uint16_t, mixed(n), add_half(old, 1))
#define HALF(name) name##_alone, name##_atomic
#else
#define HALF(name) NULL, NULL
#endif
IN_C(add_u32, uint32_t, 0, old + n)
IN_C(add_f32, uint32_t, 0, bits(number(old) + value(n)))
IN_C(max_f32, uint32_t, 0, bits(larger(number(old), value(n))))
IN_C(table_add_u32, uint32_t, mixed(n), old + 1)
IN_C(table_add_f32, uint32_t, mixed(n), bits(number(old) + 1))
IN_C(table_max_u32, uint32_t, mixed(n), old > n ? old : n)
IN_C(table_insert, uint64_t, mixed(n), old ? old : n + UINT64_C(1)) /* on a collision, keep the old key */

static const struct loop {
    const char *name;
    unsigned table_bytes; /* bytes per element; 0: one word */
    void *(*alone)(void *), *(*atomic)(void *);
} loops[] = {
#define C(name) name##_alone, name##_atomic
    { "add_u32", 0, C(add_u32) },
    { "add_f32", 0, C(add_f32) },
    { "add_f16", 0, HALF(add_f16) },
    { "add_bf16", 0, NULL, NULL },
    { "add_f16x2", 0, NULL, NULL },
    { "max_f32_int", 0, C(max_f32) },
    { "max_f32_larger", 0, C(max_f32) },
    { "max_f32_cas", 0, C(max_f32) },
    { "add_f32_cas", 0, C(add_f32) },
    { "add_f16_cas", 0, HALF(add_f16) },
    { "max_f16_cas", 0, HALF(max_f16) },
    { "table_add_u32", 4, C(table_add_u32) },
    { "table_add_f32", 4, C(table_add_f32) },
    { "table_add_f16", 2, HALF(table_add_f16) },
    { "table_max_u32", 4, C(table_max_u32) },
    { "table_count_u32", 4, C(table_add_u32) },
    { "table_insert", 8, C(table_insert) },
#undef C
};
enum { LOOPS = sizeof loops / sizeof *loops };

/* Returns ns per operation with `threads` C threads. */
static double time_in_c(void *(*run)(void *), void *p, uint32_t mask, uint32_t operations, unsigned threads)
{
    struct share shares[2];
    pthread_t other;
    double start = bench_now();

    if (!run)
        return 0;
    for (uint32_t k = 0; k < threads; k++)
        shares[k] = (struct share){ p, operations / threads * k, operations / threads * (k + 1), mask };
    if (threads == 2 && pthread_create(&other, NULL, run, &shares[1]))
        abort();
    run(&shares[0]);
    if (threads == 2)
        pthread_join(other, NULL);
    return (bench_now() - start) * 1e9 / operations;
}

static double time_kernel(ptxiFunction f, ptxiDevicePtr p, uint32_t mask, int32_t turns, unsigned workers)
{
    double start;

    bench_must(ptxiCtxSetWorkers(NULL, workers), "workers");
    start = bench_now();
    bench_must(ptxiLaunchKernel(f, CTAS, 1, 1, THREADS, 1, 1, 0, NULL, (void *[]){ &p, &turns, &mask }, NULL),
               "launch");
    bench_must(ptxiCtxSynchronize(), "launch");
    return (bench_now() - start) * 1e9 / ((double)CTAS * THREADS * turns);
}

/* Runs all measurements, in column order. */
enum { OURS, OURS_2, ALONE, ATOMIC, ATOMIC_2, COLUMNS };

static void one_round(const struct loop *l, ptxiFunction f, ptxiDevicePtr table, uint32_t mask, int32_t turns,
                      double ns[COLUMNS])
{
    uint32_t operations = CTAS * THREADS * (uint32_t)turns;

    for (int k = 0; k < COLUMNS; k++) {
        void *p = (void *)(uintptr_t)table;

        bench_must(ptxiMemsetD8(table, 0, l->table_bytes == 8 ? (mask + 1ull) * 8 : 64),
                   "memory"); /* restart the keys */
        ns[k] = k <= OURS_2 ? time_kernel(f, table, mask, turns, k == OURS ? 1 : 2)
                            : time_in_c(k == ALONE ? l->alone : l->atomic, p, mask, operations, k == ATOMIC_2 ? 2 : 1);
    }
}

static void time_loop(const struct options *o, const struct loop *l, ptxiModule m, ptxiDevicePtr table,
                      size_t table_bytes)
{
    int32_t turns = o->quick ? 1 : l->table_bytes ? TABLE_TURNS : WORD_TURNS;
    uint32_t mask = l->table_bytes ? (uint32_t)(table_bytes / l->table_bytes - 1) : 0;
    static double ns[COLUMNS][BENCH_MOST_ROUNDS];
    double round[COLUMNS];
    ptxiFunction f;

    bench_must(ptxiModuleGetFunction(&f, m, l->name), l->name);
    for (int r = 0; r < o->rounds; r++) {
        one_round(l, f, table, mask, turns, round);
        for (int k = 0; k < COLUMNS; k++)
            ns[k][r] = round[k];
    }
    printf(o->csv ? "%s" : "| `%s` |", l->name);
    for (int k = 0; k < COLUMNS; k++)
        printf(o->csv ? ",%.3f" : " %.2f |", bench_median(ns[k], o->rounds));
    puts("");
    fflush(stdout);
}

void bench_atomics(const struct options *o)
{
    size_t bytes = o->quick ? 4 << 20 : 256 << 20; /* enough for all keys */
    char *text = bench_read(o, "atomics");
    ptxiModule m;
    ptxiDevicePtr table;

    bench_must(ptxiModuleLoadData(&m, text), "atomics");
    free(text);
    bench_must(ptxiMemAlloc(&table, bytes), "memory");
    bench_must(ptxiMemsetD8(table, 0, bytes), "memory");
    puts(o->csv ? "loop,one_worker,two_workers,c,c_atomic,c_atomic_two_threads"
                : "| loop | 1 worker | 2 workers | C | C, atomic | C, atomic, 2 threads |\n|---|---|---|---|---|---|");
    for (int k = 0; k < LOOPS; k++)
        if (!o->kernel || strstr(loops[k].name, o->kernel))
            time_loop(o, &loops[k], m, table, bytes);
    bench_must(ptxiMemFree(table), "memory");
    bench_must(ptxiModuleUnload(m), "module");
    bench_must(ptxiCtxSetWorkers(NULL, (unsigned)o->workers), "workers");
}
