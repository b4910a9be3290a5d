/* Launches that are checked. */
#include "api/launch/launch.h"

#include "exec/check/check.h"
#include "exec/check/finding.h"

#include <stdio.h>
#include <string.h>

enum { SHADOW_LIMIT_SHIFT = 32 }; /* bytes of shadow memory of a context */

static void resolve(const struct ptxi_code *code, uint32_t at, struct ptxi_found_site *site)
{
    site->ptx_line = code->locs[at].line;
    site->source_line = code->locs[at].source_line;
}

static void print_site(const struct ptxi_found_site *s)
{
    const struct ptxi_finding_site *f = &s->site;

    fprintf(stderr, "  %s (%u,%u,%u)(%u,%u,%u) line %u source line %u value 0x%llx\n",
            f->access == PTXI_AK_LOAD ? "read" : "write", f->ctaid[0], f->ctaid[1], f->ctaid[2], f->tid[0], f->tid[1],
            f->tid[2], s->ptx_line, s->source_line, (unsigned long long)f->value);
}

static void print_findings(struct ptxi_findings *all)
{
    const struct ptxi_found *f;

    for (size_t k = 0; (f = ptxi_findings_at(all, k)); k++) {
        fprintf(stderr, "%s: %s in %s at 0x%llx, %llu times\n", ptxi_finding_severity_names[f->finding.severity],
                ptxi_finding_kinds[f->finding.kind].text, f->kernel, (unsigned long long)f->finding.address,
                (unsigned long long)f->count);
        for (unsigned s = 0; s < f->finding.site_count; s++)
            print_site(&f->sites[s]);
    }
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
    struct ptxi_check check = { .launch = 1 };

    if (!x || !(l->grid.findings = ptxi_findings_create(resolve)))
        return PTXI_ERROR_OUT_OF_MEMORY;
    ptxi_check_begin(&check, x, &l->grid);
    l->grid.check = &check;
    ptxi_exec_launch(l->exec, &l->grid);
    l->grid.check = NULL;
    ptxi_check_end(&check);
    print_findings(l->grid.findings);
    ptxi_findings_destroy(l->grid.findings);
    return PTXI_SUCCESS;
}
