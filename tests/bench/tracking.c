/* The benchmark kernels with and without tracking of changes (ptxiCtxSetTracking), on each tier. Each launch has a new
 * tracker, as a window has, so the time includes that of its first pages. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIERS = 2, WHATS = 3, MOST_CASES = 32 };

static const ptxiTier tiers[TIERS] = { PTXI_TIER_INTERPRETER, PTXI_TIER_NATIVE };
static const char *const tier_names[TIERS] = { "interpreter", "native" };
static const unsigned whats[WHATS] = { 0, PTXI_TRACK_CHANGES, PTXI_TRACK_CHANGES | PTXI_TRACK_READS };

/* The times of one kernel. */
struct times {
    struct session s;
    double *ms[TIERS][WHATS], ratio[TIERS][WHATS];
    bool refused;
};

static void track(unsigned what)
{
    bench_must(ptxiCtxSetTracking(NULL, what), "tracking");
}

static void open_kernel(struct times *t, const struct bench_case *c, const struct options *o)
{
    const unsigned *g, *b;

    bench_session_open(&t->s, c, o);
    for (unsigned k = 0; k < TIERS; k++)
        for (unsigned n = 0; n < WHATS; n++) {
            t->ms[k][n] = calloc((size_t)o->rounds, sizeof(double));
            if (!t->ms[k][n])
                exit(2);
        }
    g = t->s.w.grid;
    b = t->s.w.block;
    track(whats[WHATS - 1]);
    t->refused = ptxiLaunchKernel(t->s.kernel, g[0], g[1], g[2], b[0], b[1], b[2], 0, NULL, t->s.w.args, NULL) ==
        PTXI_ERROR_NOT_SUPPORTED;
    bench_must(ptxiCtxSynchronize(), c->name);
}

/* A launch without tracking comes first: it warms the caches for the others. */
static void time_round(struct times *t, int round)
{
    for (unsigned k = 0; k < TIERS && !t->refused; k++) {
        bench_must(ptxiCtxSetTier(NULL, tiers[k]), "selecting a tier");
        track(0);
        bench_time_kernel(&t->s);
        for (unsigned n = 0; n < WHATS; n++) {
            track(whats[n]);
            t->ms[k][n][round] = bench_time_kernel(&t->s);
        }
    }
}

static void print_times(struct times *t, const struct options *o)
{
    printf("| %s |", t->s.c->name);
    for (unsigned k = 0; k < TIERS; k++) {
        double plain = bench_median(t->ms[k][0], o->rounds);

        printf(" %.2f |", plain);
        for (unsigned n = 1; n < WHATS; n++) {
            t->ratio[k][n] = bench_median(t->ms[k][n], o->rounds) / plain;
            printf(" %.2f |", t->ratio[k][n]);
        }
        bench_json_row("\"kernel\": \"%s\", \"tier\": \"%s\", \"ms\": %.4f, \"changes\": %.4f, \"reads\": %.4f",
                       t->s.c->name, tier_names[k], plain, t->ratio[k][1], t->ratio[k][2]);
    }
    puts("");
}

/* The mean and the largest ratio. */
static void print_summary(const struct times *t, int n)
{
    for (unsigned k = 0; k < TIERS; k++)
        for (unsigned w = 1; w < WHATS; w++) {
            double sum = 0, most = 0;
            const char *worst = "";
            int of = 0, above = 0;

            for (int i = 0; i < n; i++) {
                if (t[i].refused)
                    continue;
                of++;
                sum += log(t[i].ratio[k][w]);
                above += t[i].ratio[k][w] > 1.2;
                if (t[i].ratio[k][w] > most) {
                    most = t[i].ratio[k][w];
                    worst = t[i].s.c->name;
                }
            }
            printf("%s, %s: geometric mean of %d kernels %.3f, largest %.2f (%s), %d above 1.20\n", tier_names[k],
                   w == 1 ? "changes" : "changes and reads", of, exp(sum / of), most, worst, above);
        }
}

static void close_kernel(struct times *t)
{
    for (unsigned k = 0; k < TIERS; k++)
        for (unsigned n = 0; n < WHATS; n++)
            free(t->ms[k][n]);
    bench_session_close(&t->s);
}

void bench_tracking(const struct options *o)
{
    static struct times t[MOST_CASES];
    int n = 0;

    for (int i = 0; i < bench_case_count && n < MOST_CASES; i++)
        if (!o->kernel || strstr(bench_cases[i].name, o->kernel))
            open_kernel(&t[n++], &bench_cases[i], o);
    for (int round = 0; round < o->rounds; round++)
        for (int i = 0; i < n; i++)
            time_round(&t[i], round);
    track(0);
    bench_json_table("tracking");
    puts("| kernel | interpreter, ms | changes | and reads | native, ms | changes | and reads |\n"
         "|---|---|---|---|---|---|---|");
    for (int i = 0; i < n; i++)
        if (t[i].refused)
            printf("| %s | refused |\n", t[i].s.c->name);
        else
            print_times(&t[i], o);
    print_summary(t, n);
    for (int i = 0; i < n; i++)
        close_kernel(&t[i]);
}
