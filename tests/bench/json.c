/* Writes the figures of a run as JSON, from which plots.py draws the plots of doc/explanation/performance.md.
 *
 * The file is one object: the machine and the options, then an array of rows for each table. */
#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *to;   /* NULL: no file was asked for */
static bool first; /* no row of this table has been written */

static void string(const char *name, const char *value)
{
    fprintf(to, "  \"%s\": \"", name);
    for (; *value && *value != '\n'; value++)
        fprintf(to, strchr("\"\\", *value) ? "\\%c" : "%c", *value);
    fputs("\",\n", to);
}

void bench_json_open(const struct options *o, const char *host)
{
    static const char *const tiers[] = { "auto", "interpreter", "native" };
    ptxiTier tier;

    if (!o->json)
        return;
    if (!(to = fopen(o->json, "w"))) {
        perror(o->json);
        exit(2);
    }
    bench_must(ptxiCtxGetTier(NULL, &tier), "ptxiCtxGetTier");
    fputs("{\n", to);
    string("host", host);
    string("compiler", __VERSION__);
    string("tier", tiers[tier]);
    string("cpu", getenv("PTXI_CPU") ? getenv("PTXI_CPU") : "best");
    string("clock", o->cpu_time ? "CPU time" : "wall clock");
    fprintf(to, "  \"processors\": %ld,\n  \"workers\": %d,\n  \"rounds\": %d", sysconf(_SC_NPROCESSORS_ONLN),
            o->workers, o->rounds);
}

void bench_json_table(const char *name)
{
    static bool open;

    if (!to)
        return;
    fprintf(to, open ? "\n  ],\n  \"%s\": [" : ",\n  \"%s\": [", name);
    first = open = true;
}

void bench_json_row(const char *format, ...)
{
    va_list args;

    if (!to)
        return;
    fputs(first ? "\n    {" : ",\n    {", to);
    first = false;
    va_start(args, format);
    vfprintf(to, format, args);
    va_end(args);
    fputs("}", to);
}

void bench_json_close(void)
{
    if (!to)
        return;
    fputs("\n  ]\n}\n", to);
    if (fclose(to)) {
        perror("ptxi-bench");
        exit(2);
    }
    to = NULL;
}
