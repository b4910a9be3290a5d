/* Results, and the report of the last failure. */
#include "api/context/api.h"

#include <string.h>

static const struct {
    int number;
    const char *name, *text;
} results[] = {
#define RESULT(name, number, text) { number, "PTXI_" #name, text },
    PTXI_RESULTS(RESULT)
#undef RESULT
};

static int find_result(ptxiResult error)
{
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        if (results[i].number == (int)error)
            return (int)i;
    return -1;
}

ptxiResult ptxiGetErrorName(ptxiResult error, const char **pStr)
{
    int i = find_result(error);

    if (!pStr)
        return PTXI_ERROR_INVALID_VALUE;
    *pStr = i < 0 ? NULL : results[i].name;
    return i < 0 ? PTXI_ERROR_INVALID_VALUE : PTXI_SUCCESS;
}

ptxiResult ptxiGetErrorString(ptxiResult error, const char **pStr)
{
    int i = find_result(error);

    if (!pStr)
        return PTXI_ERROR_INVALID_VALUE;
    *pStr = i < 0 ? NULL : results[i].text;
    return i < 0 ? PTXI_ERROR_INVALID_VALUE : PTXI_SUCCESS;
}

ptxiResult ptxi_api_return_failure(ptxiContext ctx, ptxiResult r, struct ptxi_failure *failure)
{
    if (r == PTXI_SUCCESS)
        return r;
    pthread_mutex_lock(&ctx->lock);
    ptxi_failure_unref(ctx->last_failure);
    ctx->last_failure = failure;
    pthread_mutex_unlock(&ctx->lock);
    return r;
}

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
