/* Launches of `ptxi run` with random schedules: which seeds find more, or give other results. */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The contents of each buffer after the first launch; NULL: the argument is none. */
typedef unsigned char *contents;

static void free_contents(const struct run *r, contents *c)
{
    for (unsigned i = 0; c && i < r->arg_count; i++)
        free(c[i]);
    free(c);
}

static bool has_buffer(const struct cmd_arg *a)
{
    return a->buffer && a->type;
}

/* NULL: memory is short. */
static contents *read_buffers(const struct run *r)
{
    contents *c = calloc(r->arg_count + 1, sizeof *c);

    for (unsigned i = 0; c && i < r->arg_count; i++) {
        const struct cmd_arg *a = &r->args[i];

        if (!has_buffer(a))
            continue;
        c[i] = malloc(a->bytes + 1);
        if (!c[i] || ptxiMemcpyDtoH(c[i], a->device, a->bytes)) {
            free_contents(r, c);
            return NULL;
        }
    }
    return c;
}

static void write_buffers(const struct run *r, contents *c)
{
    for (unsigned i = 0; i < r->arg_count; i++)
        if (c[i])
            ptxiMemcpyHtoD(r->args[i].device, c[i], r->args[i].bytes);
}

/* The first argument with a changed buffer, or -1. */
static int changed_argument(const struct run *r, contents *before)
{
    contents *now = read_buffers(r);
    int changed = -1;

    for (unsigned i = 0; now && i < r->arg_count && changed < 0; i++)
        if (now[i] && memcmp(now[i], before[i], r->args[i].bytes))
            changed = (int)i;
    free_contents(r, now);
    return changed;
}

static unsigned long long count_findings(void)
{
    ptxiCheckSummary s = { .size = sizeof s };

    return ptxiCtxGetCheckSummary(NULL, &s) ? 0 : s.errors + s.warnings;
}

/* One launch with a seed. True if it has shown something; then a note says how to repeat it. */
static bool try_seed(const struct run *r, unsigned seed, contents *expected, run_one *launch)
{
    unsigned long long found = count_findings();
    ptxiResult e = ptxiCtxSetSchedule(NULL, seed);
    int changed;

    if (!e)
        e = launch(r);
    found = count_findings() - found;
    changed = e ? -1 : changed_argument(r, expected);
    if (found)
        fprintf(stderr, "note: --schedule seed:%u finds %llu more\n", seed, found);
    else if (e)
        fprintf(stderr, "note: --schedule seed:%u fails: %s\n", seed, ptxi_cmd_result(e));
    if (changed >= 0)
        fprintf(stderr, "note: --schedule seed:%u changes argument %d\n", seed, changed);
    return found || e || changed >= 0;
}

ptxiResult ptxi_cmd_try_seeds(const struct run *r, run_one *launch)
{
    unsigned long long before = PTXI_SCHEDULE_RUN;
    contents *expected = read_buffers(r);
    unsigned shown = 0;
    ptxiResult e = ptxiCtxGetSchedule(NULL, &before);

    if (!expected)
        return PTXI_ERROR_OUT_OF_MEMORY;
    for (unsigned seed = 1; seed <= r->seeds && !e; seed++)
        shown += try_seed(r, seed, expected, launch);
    fprintf(stderr, "%u of %u random schedules show something else\n", shown, r->seeds);
    ptxiCtxSetSchedule(NULL, before);
    write_buffers(r, expected);
    free_contents(r, expected);
    return e;
}
