/* The benchmark kernels on each tier. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIERS = 3, MOST_CASES = 32, HOT = 8 };

static const struct {
    ptxiTier tier;
    const char *name;
} tiers[TIERS] = {
    { PTXI_TIER_INTERPRETER, "interpreter" }, { PTXI_TIER_AUTO, "auto" }, { PTXI_TIER_NATIVE, "native tier" },
};

/* The times of one kernel. */
struct times {
    struct session s;
    double *ms[TIERS], median[TIERS], twin;
    bool right;
};

static void use_tier(unsigned k)
{
    bench_must(ptxiCtxSetTier(NULL, tiers[k].tier), "selecting a tier");
}

/* Checks the results on each tier. `auto` becomes hot. */
static void open_kernel(struct times *t, const struct bench_case *c, const struct options *o)
{
    bench_session_open(&t->s, c, o);
    t->right = true;
    for (unsigned k = 0; k < TIERS; k++) {
        t->ms[k] = calloc((size_t)o->rounds, sizeof *t->ms[k]);
        if (!t->ms[k])
            exit(2);
        use_tier(k);
        for (int n = 0; n < (tiers[k].tier == PTXI_TIER_AUTO && !o->quick ? HOT : 1); n++)
            t->right = bench_results_right(&t->s) && t->right;
    }
}

static void time_round(struct times *t, int round)
{
    for (unsigned k = 0; k < TIERS; k++) {
        use_tier(k);
        t->ms[k][round] = bench_time_kernel(&t->s);
    }
    t->s.native_ms[round] = bench_time_twin(&t->s, &twins_native);
}

static void print_times(struct times *t, const struct options *o)
{
    t->twin = bench_median(t->s.native_ms, o->rounds);
    printf("| %s |", t->s.c->name);
    for (unsigned k = 0; k < TIERS; k++) {
        t->median[k] = bench_median(t->ms[k], o->rounds);
        printf(" %.2f | %.2f |", t->median[k], t->median[k] / t->twin);
    }
    printf(" %.2f | %s |\n", t->twin, t->right ? "right" : "WRONG");
}

static void print_mean(const struct times *t, int n, enum bench_group group)
{
    double sum[TIERS] = { 0 };
    int of = 0;

    for (int i = 0; i < n; i++) {
        if (t[i].s.c->group != group)
            continue;
        of++;
        for (unsigned k = 0; k < TIERS; k++)
            sum[k] += log(t[i].median[k] / t[i].twin);
    }
    if (!of)
        return;
    printf("| mean of %d, group %d |", of, (int)group);
    for (unsigned k = 0; k < TIERS; k++)
        printf("  | %.2f |", exp(sum[k] / of));
    puts("  |  |");
}

static void close_kernel(struct times *t)
{
    for (unsigned k = 0; k < TIERS; k++)
        free(t->ms[k]);
    bench_session_close(&t->s);
}

bool bench_tiers(const struct options *o)
{
    static struct times t[MOST_CASES];
    bool right = true;
    int n = 0;

    for (int i = 0; i < bench_case_count && n < MOST_CASES; i++)
        if (!o->kernel || strstr(bench_cases[i].name, o->kernel))
            open_kernel(&t[n++], &bench_cases[i], o);
    for (int round = 0; round < o->rounds; round++)
        for (int i = 0; i < n; i++)
            time_round(&t[i], round);
    printf("| kernel |");
    for (unsigned k = 0; k < TIERS; k++)
        printf(" %s, ms | ratio |", tiers[k].name);
    puts(" native C, ms | result |\n|---|---|---|---|---|---|---|---|---|");
    for (int i = 0; i < n; i++) {
        print_times(&t[i], o);
        right = right && t[i].right;
    }
    for (int g = 0; g < BENCH_GROUPS; g++)
        print_mean(t, n, (enum bench_group)g);
    for (int i = 0; i < n; i++)
        close_kernel(&t[i]);
    return right;
}
