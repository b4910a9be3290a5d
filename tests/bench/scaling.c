/* Benchmark of the scaling with the number of workers, compared with C on as many threads.
 *
 * The twins are functions of one thread. N threads run N copies of a smaller problem: N times smaller, or at least
 * small enough for the memory in use not to grow. The speed-up of C is N times the time of one copy alone over the time
 * of all together: that of a program that divides its work perfectly.
 */
#include "bench.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_THREADS = 256 };

/* Kernels that compute each output anew, so that a twin can run several times. */
static const char *const names[] = { "vecadd", "saxpy", "sgemm", "mandel", "nbody", "reduce_shm", "hist", "hash",
                                     "stencil" };
enum { KERNELS = sizeof names / sizeof *names };

static const struct bench_case *find_case(const char *name)
{
    for (int i = 0; i < bench_case_count; i++)
        if (!strcmp(bench_cases[i].name, name))
            return &bench_cases[i];
    abort();
}

struct copy {
    const struct bench_case *c;
    struct work w;
    int turns;
    pthread_barrier_t *start, *end;
    pthread_t thread;
};

static void *run_copy(void *p)
{
    struct copy *copy = p;

    pthread_barrier_wait(copy->start);
    for (int i = 0; i < copy->turns; i++)
        copy->c->twin(&twins_native, &copy->w);
    pthread_barrier_wait(copy->end);
    return NULL;
}

/* Seconds in which `n` threads run their copies `turns` times. */
static double time_copies(struct copy *copies, int n, int turns)
{
    pthread_barrier_t start, end;
    double t;

    pthread_barrier_init(&start, NULL, (unsigned)n + 1);
    pthread_barrier_init(&end, NULL, (unsigned)n + 1);
    for (int i = 0; i < n; i++) {
        copies[i].turns = turns;
        copies[i].start = &start;
        copies[i].end = &end;
        if (pthread_create(&copies[i].thread, NULL, run_copy, &copies[i]))
            abort();
    }
    pthread_barrier_wait(&start);
    t = bench_now();
    pthread_barrier_wait(&end);
    t = bench_now() - t;
    for (int i = 0; i < n; i++)
        pthread_join(copies[i].thread, NULL);
    pthread_barrier_destroy(&start);
    pthread_barrier_destroy(&end);
    return t;
}

/* Turns that take a tenth of a second, so that the start of the threads does not matter. */
static int turns_of(struct copy *copies, const struct options *o)
{
    double t = time_copies(copies, 1, 1);

    t = time_copies(copies, 1, 1);
    return o->quick ? 1 : 1 + (int)(0.1 / t);
}

static double speedup_of_twin(const struct bench_case *c, int threads, const struct options *o)
{
    struct copy copies[MAX_THREADS];
    double one[BENCH_MOST_ROUNDS], all[BENCH_MOST_ROUNDS];
    int turns;

    for (int i = 0; i < threads; i++) {
        copies[i] = (struct copy){ .c = c };
        c->setup(&copies[i].w, threads * (o->quick ? 16 : 1));
    }
    turns = turns_of(copies, o);
    for (int i = 0; i < o->rounds; i++) {
        one[i] = time_copies(copies, 1, turns);
        all[i] = time_copies(copies, threads, turns);
    }
    for (int i = 0; i < threads; i++)
        bench_work_free(&copies[i].w);
    return threads * bench_median(one, o->rounds) / bench_median(all, o->rounds);
}

static double time_workers(struct session *s, unsigned workers)
{
    bench_must(ptxiCtxSetWorkers(NULL, workers), "ptxiCtxSetWorkers");
    bench_time_kernel(s); /* the first launch with the new workers */
    return bench_time_kernel(s);
}

static double speedup_of_kernel(const struct bench_case *c, int workers, const struct options *o)
{
    struct session s = { 0 };
    double speedup;

    bench_session_open(&s, c, o);
    for (int i = 0; i < o->rounds; i++) {
        s.ms[i] = time_workers(&s, 1);
        s.native_ms[i] = time_workers(&s, (unsigned)workers);
    }
    speedup = bench_median(s.ms, o->rounds) / bench_median(s.native_ms, o->rounds);
    bench_must(ptxiCtxSetWorkers(NULL, (unsigned)o->workers), "ptxiCtxSetWorkers");
    bench_session_close(&s);
    return speedup;
}

static void print_row(const struct options *o, const char *kernel, int workers, double ours, double twins)
{
    if (o->csv)
        printf("%s,%d,%.4f,%.4f\n", kernel, workers, ours, twins);
    else
        printf("%-14s %8d %10.2f %10.2f %8.2f\n", kernel, workers, ours, twins, ours / twins);
}

static void measure(const struct options *o, int workers)
{
    double ours = 0, twins = 0;
    int count = 0;

    for (int k = 0; k < KERNELS; k++) {
        const struct bench_case *c = find_case(names[k]);
        double x, y;

        if (o->kernel && !strstr(c->name, o->kernel))
            continue;
        x = speedup_of_kernel(c, workers, o);
        y = speedup_of_twin(c, workers, o);
        print_row(o, c->name, workers, x, y);
        bench_json_row("\"kernel\": \"%s\", \"workers\": %d, \"speedup\": %.3f, \"c_speedup\": %.3f", c->name, workers,
                       x, y);
        fflush(stdout);
        ours += log(x);
        twins += log(y);
        count++;
    }
    if (count && !o->csv)
        print_row(o, "geometric mean", workers, exp(ours / count), exp(twins / count));
}

void bench_scaling(const struct options *o)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    bench_use_cpu_time(false); /* the time of all workers together does not show how they scale */
    bench_json_table("scaling");
    if (o->csv)
        puts("kernel,workers,speedup,c_speedup");
    else
        printf("%-14s %8s %10s %10s %8s\n", "kernel", "workers", "speed-up", "of C", "ratio");
    for (int workers = 2; workers <= cpus && workers <= MAX_THREADS; workers *= 2)
        measure(o, workers);
}
