/* ptxi-bench: compares the run time of the benchmark kernels with equivalent C functions (twins).
 *
 * Each round runs every kernel and its twins in turn, so that slow phases of the machine affect all of them. The table
 * shows medians. Results are checked against the twin before timing. */
#include "bench.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CASES = 32 };

static const char *const groups[BENCH_GROUPS] = { "benchmark kernels", "other kernels", "untuned kinds",
                                                  "kinds of samples" };

struct outcome {
    double count;                    /* PTX thread instructions per launch */
    double ms, native_ms, scalar_ms; /* medians */
    bool right;
};

static void one_round(struct session *s, const struct options *o, int round)
{
    s->ms[round] = bench_time_kernel(s);
    if (o->twins) {
        s->native_ms[round] = bench_time_twin(s, &twins_native);
        s->scalar_ms[round] = bench_time_twin(s, &twins_scalar);
    }
}

static void print_head(const struct options *o)
{
    if (o->csv)
        puts("kernel,size,thread_instructions,ms,native_ms,scalar_ms,result");
    else
        printf("%-12s %-19s %9s %9s %9s %10s %7s %10s %7s  %s\n", "kernel", "size", "M instr", "ms", "G instr/s",
               "native ms", "ratio", "scalar ms", "ratio", "result");
}

static void write_row(const struct options *o, const struct bench_case *c, const struct outcome *r)
{
    bench_json_row("\"kernel\": \"%s\", \"size\": \"%s\", \"group\": \"%s\", \"instructions\": %.0f, \"ms\": %.4f, "
                   "\"native_ms\": %.4f, \"scalar_ms\": %.4f, \"right\": %s", c->name, o->quick ? "quick" : c->size,
                   groups[c->group], r->count, r->ms, r->native_ms, r->scalar_ms, r->right ? "true" : "false");
}

static void print_row(const struct options *o, const struct bench_case *c, const struct outcome *r)
{
    write_row(o, c, r);
    if (o->csv)
        printf("%s,\"%s\",%.0f,%.4f,%.4f,%.4f,%s\n", c->name, o->quick ? "quick" : c->size, r->count, r->ms,
               r->native_ms, r->scalar_ms, r->right ? "right" : "WRONG");
    else
        printf("%-12s %-19s %9.1f %9.2f %9.2f %10.2f %7.2f %10.2f %7.2f  %s (%s)\n", c->name,
               o->quick ? "quick" : c->size, r->count / 1e6, r->ms, r->count / r->ms / 1e6, r->native_ms,
               o->twins ? r->ms / r->native_ms : 0, r->scalar_ms, o->twins ? r->ms / r->scalar_ms : 0,
               r->right ? "right" : "WRONG", c->compare);
}

static void print_means(const struct session *s, const struct outcome *r, int n, enum bench_group group,
                        const char *what)
{
    double rate = 0, native = 0, scalar = 0;
    int of = 0;

    for (int i = 0; i < n; i++)
        if (s[i].c->group == group) {
            rate += log(r[i].count / r[i].ms / 1e6);
            native += log(r[i].ms / r[i].native_ms);
            scalar += log(r[i].ms / r[i].scalar_ms);
            of++;
        }
    if (of)
        printf("geometric mean of %2d %-20s %9s %9s %9.2f %10s %7.2f %10s %7.2f\n", of, what, "", "", exp(rate / of),
               "", exp(native / of), "", exp(scalar / of));
}

static int select_cases(struct session *s, const struct options *o)
{
    int n = 0;

    for (int i = 0; i < bench_case_count; i++)
        if (!o->kernel || strstr(bench_cases[i].name, o->kernel))
            bench_session_open(&s[n++], &bench_cases[i], o);
    if (!n) {
        fprintf(stderr, "ptxi-bench: no kernel's name contains '%s'\n", o->kernel);
        exit(2);
    }
    return n;
}

static bool run_table(const struct options *o)
{
    struct session s[MAX_CASES] = {0};
    struct outcome r[MAX_CASES] = {0};
    int n = select_cases(s, o);
    bool right = true;

    for (int i = 0; i < n; i++) {
        r[i].right = bench_results_right(&s[i]);
        r[i].count = bench_count_instructions(&s[i]);
        right = right && r[i].right;
    }
    for (int round = 0; round < o->rounds; round++)
        for (int i = 0; i < n; i++)
            one_round(&s[i], o, round);
    print_head(o);
    bench_json_table("kernels");
    for (int i = 0; i < n; i++) {
        r[i].ms = bench_median(s[i].ms, o->rounds);
        r[i].native_ms = bench_median(s[i].native_ms, o->rounds);
        r[i].scalar_ms = bench_median(s[i].scalar_ms, o->rounds);
        print_row(o, s[i].c, &r[i]);
    }
    if (!o->csv && o->twins) {
        for (int g = 0; g < BENCH_GROUPS; g++)
            print_means(s, r, n, (enum bench_group)g, groups[g]);
    }
    for (int i = 0; i < n; i++)
        bench_session_close(&s[i]);
    return right;
}

static void usage(FILE *to)
{
    fputs("usage: ptxi-bench [options]\n"
          "Compares the run time of PTX kernels with equivalent C functions (twins), compiled for this machine with "
          "and without vectorisation.\n\n"
          "  --rounds N     number of interleaved rounds; the table shows medians (default 7)\n"
          "  --workers N    worker threads for the kernels (default 1; the twins are single-threaded)\n"
          "  --kernel TEXT  only kernels with TEXT in their name; filters instructions with --sync, --families and "
          "--textures, loops with --atomics\n"
          "  --quick        small problems, one round; checks results, not speed\n"
          "  --no-twins     do not time the twins\n"
          "  --no-extras    do not measure load times, launch latency and scaling\n"
          "  --families     measure only instruction cost by family\n"
          "  --matrix       measure only matrix instructions, for several operand distributions\n"
          "  --sync         measure only synchronisation: atomics, barriers, asynchronous copies\n"
          "  --atomics      measure only loops of atomic operations, compared with C\n"
          "  --textures     measure only texture fetches\n"
          "  --scaling      measure only the speed-up with 2, 4, ... workers, compared with C on as many threads\n"
          "  --tiers        measure only the kernels, on each tier\n"
          "  --tracking     measure only the kernels, with and without tracking of changes; with --json, too\n"
          "  --cpu-time     measure process CPU time, not wall-clock time; less noise on a busy machine, requires one "
          "worker\n"
          "  --csv          print comma-separated values\n"
          "  --json FILE    measure kernels, instruction cost by family, and scaling with the number of workers; also "
          "write the figures to FILE\n"
          "  --dir PATH     directory of the .ptx files\n"
          "  --help         print this help\n",
          to);
}

static void parse_options(struct options *o, int argc, char **argv)
{
    enum {
        ROUNDS,
        WORKERS,
        KERNEL,
        QUICK,
        NO_TWINS,
        NO_EXTRAS,
        FAMILIES,
        MATRIX,
        SYNC,
        ATOMICS,
        TEXTURES,
        SCALING,
        TIERS,
        TRACKING,
        CPU,
        CSV,
        JSON,
        DIR,
        HELP
    };
    static const struct option names[] = {
        {"rounds", 1, 0, ROUNDS},     {"workers", 1, 0, WORKERS},     {"kernel", 1, 0, KERNEL}, {"quick", 0, 0, QUICK},
        {"no-twins", 0, 0, NO_TWINS}, {"no-extras", 0, 0, NO_EXTRAS}, {"cpu-time", 0, 0, CPU},  {"csv", 0, 0, CSV},
        {"dir", 1, 0, DIR},           {"families", 0, 0, FAMILIES},   {"sync", 0, 0, SYNC},    {"help", 0, 0, HELP},
        {"matrix", 0, 0, MATRIX},     {"textures", 0, 0, TEXTURES},  {"atomics", 0, 0, ATOMICS},
        {"scaling", 0, 0, SCALING},   {"tiers", 0, 0, TIERS},       {"tracking", 0, 0, TRACKING},
        {"json", 1, 0, JSON},
        {0, 0, 0, 0},
    };
    int c;

    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1)
        switch (c) {
        case ROUNDS: o->rounds = atoi(optarg); break;
        case WORKERS: o->workers = atoi(optarg); break;
        case KERNEL: o->kernel = optarg; break;
        case QUICK: o->quick = true; o->rounds = 1; break;
        case NO_TWINS: o->twins = false; break;
        case NO_EXTRAS: o->extras = false; break;
        case FAMILIES: o->families = true; break;
        case MATRIX: o->matrix = true; break;
        case SYNC: o->sync = true; break;
        case ATOMICS: o->atomics = true; break;
        case TEXTURES: o->textures = true; break;
        case SCALING: o->scaling = true; break;
        case TIERS: o->tiers = true; break;
        case TRACKING: o->tracking = true; break;
        case CPU: o->cpu_time = true; break;
        case CSV: o->csv = true; break;
        case JSON: o->json = optarg; break;
        case DIR: o->dir = optarg; break;
        case HELP: usage(stdout); exit(0);
        default: usage(stderr); exit(2);
        }
    if (optind < argc || o->rounds < 1 || o->rounds > BENCH_MOST_ROUNDS || o->workers < 1 ||
        (o->cpu_time && o->workers > 1)) {
        usage(stderr);
        exit(2);
    }
}

/* The host's name of the processor, or "unknown\n". */
static const char *machine(void)
{
    static char line[256];
    const char *name = NULL;
    FILE *f = fopen("/proc/cpuinfo", "r");

    while (f && !name && fgets(line, sizeof line, f))
        if (strncmp(line, "model name", 10) == 0)
            name = strchr(line, ':') + 2;
    if (f)
        fclose(f);
    return name ? name : "unknown\n";
}

/* What --json FILE measures, in one file. */
static bool measure_figures(const struct options *o)
{
    bench_json_open(o, machine());
    bool right = run_table(o);
    bench_families(o);
    bench_scaling(o);
    bench_json_close();
    return right;
}

static void measure_tracking(const struct options *o)
{
    bench_json_open(o, machine());
    bench_tracking(o);
    bench_json_close();
}

int main(int argc, char **argv)
{
    struct options o = { .rounds = 7, .workers = 1, .twins = true, .extras = true, .dir = BENCH_DIR };
    ptxiDevice dev;
    ptxiContext ctx;

    parse_options(&o, argc, argv);
    bench_must(ptxiInit(0), "ptxiInit");
    bench_must(ptxiDeviceGet(&dev, 0), "ptxiDeviceGet");
    bench_must(ptxiCtxCreate(&ctx, 0, dev), "ptxiCtxCreate");
    bench_must(ptxiCtxSetWorkers(ctx, (unsigned)o.workers), "ptxiCtxSetWorkers");
    if (!o.csv) {
        printf("host: %s", machine());
        printf("workers: %d, rounds: %d, %s, ratio: kernel time over twin time\n\n", o.workers, o.rounds,
               o.cpu_time ? "CPU time" : "wall clock");
    }
    bench_use_cpu_time(o.cpu_time);
    bool right = true;
    if (o.tracking)
        measure_tracking(&o);
    else if (o.json)
        right = measure_figures(&o);
    else if (o.families)
        bench_families(&o);
    else if (o.matrix)
        bench_matrix(&o);
    else if (o.textures)
        bench_textures(&o);
    else if (o.atomics)
        bench_atomics(&o);
    else if (o.scaling)
        bench_scaling(&o);
    else if (o.tiers)
        right = bench_tiers(&o);
    else if (o.sync)
        right = bench_sync(&o);
    else
        right = run_table(&o);
    bench_use_cpu_time(false);
    if (o.extras && !o.json && !o.families && !o.matrix && !o.sync && !o.atomics && !o.textures && !o.scaling &&
        !o.tiers && !o.tracking)
        bench_extras(&o);
    bench_must(ptxiCtxDestroy(ctx), "ptxiCtxDestroy");
    return right ? 0 : 1;
}
