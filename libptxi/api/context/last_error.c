/* Queries about the thread's last failure: the report of a launch, the diagnostics of a module. */
#include "api/context/context.h"

#include <string.h>

ptxiResult ptxiGetLastReport(ptxiContext named, ptxiReport *report)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);
    struct ptxi_thread *t = ptxi_api_thread();

    if (r)
        return r;
    if (!t)
        return PTXI_ERROR_OUT_OF_MEMORY;
    if (!report || report->size < offsetof(ptxiReport, text))
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&ctx->lock);
    struct ptxi_failure *f = ptxi_failure_ref(ctx->last_failure);
    pthread_mutex_unlock(&ctx->lock);
    if (!f)
        return PTXI_ERROR_NOT_FOUND;
    ptxi_failure_unref(t->report); /* the thread keeps this one alive: its strings are the caller's */
    t->report = f;

    size_t size = report->size;

    memcpy(report, ptxi_failure_report(f), size < sizeof *report ? size : sizeof *report);
    report->size = size;
    return PTXI_SUCCESS;
}

void ptxi_api_store_diags(const struct ptxi_diag *d, const struct ptxi_texts *texts)
{
    struct ptxi_thread *t = ptxi_api_thread();

    if (!t)
        return;
    ptxi_diag_store_free(t->diags);
    t->diags = ptxi_diag_store_create(d, texts);
}

ptxiResult ptxiGetLastDiagnostic(unsigned index, ptxiDiagnostic *diagnostic)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();
    struct ptxi_thread *t = ptxi_api_thread();

    if (r)
        return r;
    if (!diagnostic || diagnostic->size < offsetof(ptxiDiagnostic, file))
        return PTXI_ERROR_INVALID_VALUE;
    const ptxiDiagnostic *found = t && t->diags ? ptxi_diag_store_at(t->diags, index) : NULL;

    if (!found)
        return PTXI_ERROR_NOT_FOUND;
    size_t size = diagnostic->size;

    memcpy(diagnostic, found, size < sizeof *diagnostic ? size : sizeof *diagnostic);
    diagnostic->size = size;
    return PTXI_SUCCESS;
}
