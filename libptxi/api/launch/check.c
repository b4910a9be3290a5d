/* Launches that are checked. */
#include "api/launch/launch.h"

#include "exec/check/check.h"

#include <stdio.h>

enum { SHADOW_LIMIT_SHIFT = 32 }; /* bytes of shadow memory of a context */

static void print_access(char *to, size_t size, const struct ptxi_race_access *a)
{
    const struct ptxi_source_loc *loc = a->code ? &a->code->locs[a->at] : NULL;

    snprintf(to, size, "%s(%u,%u,%u)(%u,%u,%u) line %u source line %u", a->write ? "write" : "read", a->ctaid[0],
             a->ctaid[1], a->ctaid[2], a->tid[0], a->tid[1], a->tid[2], loc ? loc->line : 0,
             loc ? loc->source_line : 0);
}

static void print_race(void *user, const struct ptxi_race *r)
{
    static const char *const kinds[] = { "RAW", "WAR", "WAW" };
    static const char *const severities[] = { "error", "warning", "benign" };
    const struct ptxi_launch *l = user;
    char before[200], now[200];

    print_access(before, sizeof before, &r->before);
    print_access(now, sizeof now, &r->now);
    fprintf(stderr, "ptxi: %s %s in %s, %s 0x%llx: %s; %s\n", kinds[r->kind], severities[r->severity], l->kernel,
            r->shared ? "shared" : "global", (unsigned long long)r->address, before, now);
}

static struct ptxi_checker *checker_of(ptxiContext ctx)
{
    pthread_mutex_lock(&ctx->lock);
    if (!ctx->checker)
        ctx->checker = ptxi_checker_create(UINT64_C(1) << SHADOW_LIMIT_SHIFT);
    struct ptxi_checker *x = ctx->checker;

    pthread_mutex_unlock(&ctx->lock);
    return x;
}

ptxiResult ptxi_launch_run_checked(struct ptxi_launch *l)
{
    struct ptxi_checker *x = checker_of(l->ctx);
    struct ptxi_check check = { .found = print_race, .user = l };

    if (!x)
        return PTXI_ERROR_OUT_OF_MEMORY;
    ptxi_check_begin(&check, x, &l->grid);
    l->grid.check = &check;
    ptxi_exec_launch(l->exec, &l->grid);
    l->grid.check = NULL;
    ptxi_check_end(&check);
    return PTXI_SUCCESS;
}
