/* A context's settings: workers, output, checking, schedule, counters. */
#include "api/context/context.h"

#include "exec/sched/workers.h"
#include "parse/ast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

ptxiResult ptxiCtxSetWorkers(ptxiContext named, unsigned workers)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    if (workers > PTXI_MAX_WORKERS)
        return PTXI_ERROR_INVALID_VALUE;
    struct ptxi_exec *exec = ptxi_exec_create(workers ? workers : ptxi_state.workers);

    if (!exec)
        return PTXI_ERROR_OUT_OF_MEMORY;
    ptxi_context_replace_workers(ctx, exec, workers);
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxGetWorkers(ptxiContext named, unsigned *workers)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);
    struct ptxi_exec *exec;

    if (r)
        return r;
    if (!workers)
        return PTXI_ERROR_INVALID_VALUE;
    r = ptxi_context_workers(ctx, &exec);
    if (r)
        return r;
    *workers = ptxi_exec_workers(exec);
    ptxi_exec_unref(exec);
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxSetOutput(ptxiContext named, void (*sink)(void *user, const char *text, size_t length), void *user)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    pthread_mutex_lock(&ctx->sink_lock);
    ctx->sink = sink;
    ctx->sink_user = user;
    pthread_mutex_unlock(&ctx->sink_lock);
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxSetProgress(ptxiContext named,
                              void (*report)(void *user, unsigned long long blocksDone, unsigned long long blocks),
                              void *user)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    pthread_mutex_lock(&ctx->lock);
    ctx->progress = report;
    ctx->progress_user = user;
    pthread_mutex_unlock(&ctx->lock);
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxSetChecking(ptxiContext named, int on)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    pthread_mutex_lock(&ctx->lock);
    ctx->unchecked = !on;
    pthread_mutex_unlock(&ctx->lock);
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxSetOnFault(ptxiContext named, ptxiOnFault onFault)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    if (onFault != PTXI_ON_FAULT_FAIL && onFault != PTXI_ON_FAULT_REPORT)
        return PTXI_ERROR_INVALID_VALUE;
    atomic_store(&ctx->on_fault, (int)onFault);
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxGetOnFault(ptxiContext named, ptxiOnFault *onFault)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    if (!onFault)
        return PTXI_ERROR_INVALID_VALUE;
    *onFault = (ptxiOnFault)atomic_load(&ctx->on_fault);
    return PTXI_SUCCESS;
}

_Static_assert((int)PTXI_DIALECT_OCELOT == PTXI_PARSE_OCELOT && (int)PTXI_DIALECT_ANY_WIDTH == PTXI_PARSE_ANY_WIDTH,
               "as parse/ has them");

bool ptxi_api_is_dialect(unsigned dialect)
{
    return !(dialect & ~(unsigned)(PTXI_DIALECT_OCELOT | PTXI_DIALECT_ANY_WIDTH));
}

ptxiResult ptxiCtxSetDialect(ptxiContext named, unsigned dialect)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    if (!ptxi_api_is_dialect(dialect))
        return PTXI_ERROR_INVALID_VALUE;
    ctx->dialect = dialect;
    return PTXI_SUCCESS;
}

bool ptxi_api_parse_seed(const char *digits, unsigned long long *seed)
{
    char *end;
    unsigned long long n;

    if (*digits < '0' || *digits > '9')
        return false;
    errno = 0;
    n = strtoull(digits, &end, 0);
    if (*end || errno)
        return false;
    *seed = n;
    return true;
}

bool ptxi_api_parse_schedule(const char *text, unsigned long long *schedule)
{
    if (!strcmp(text, "run"))
        *schedule = PTXI_SCHEDULE_RUN;
    else if (!strcmp(text, "fair"))
        *schedule = PTXI_SCHEDULE_FAIR;
    else
        return !strncmp(text, "seed:", 5) && ptxi_api_parse_seed(text + 5, schedule);
    return true;
}

ptxiResult ptxiCtxSetSchedule(ptxiContext named, unsigned long long seed)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    pthread_mutex_lock(&ctx->lock);
    ctx->schedule = seed;
    pthread_mutex_unlock(&ctx->lock);
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxGetSchedule(ptxiContext named, unsigned long long *seed)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    if (!seed)
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&ctx->lock);
    *seed = ctx->schedule;
    pthread_mutex_unlock(&ctx->lock);
    return PTXI_SUCCESS;
}

bool ptxi_api_parse_tier(const char *text, ptxiTier *tier)
{
    static const char *const names[] = {
        [PTXI_TIER_AUTO] = "auto", [PTXI_TIER_INTERPRETER] = "interpreter", [PTXI_TIER_NATIVE] = "native",
    };

    for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
        if (!strcmp(text, names[k])) {
            *tier = (ptxiTier)k;
            return true;
        }
    return false;
}

ptxiResult ptxiCtxSetTier(ptxiContext named, ptxiTier tier)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    if ((unsigned)tier > PTXI_TIER_NATIVE)
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&ctx->lock);
    ctx->tier = tier;
    pthread_mutex_unlock(&ctx->lock);
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxGetTier(ptxiContext named, ptxiTier *tier)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    if (!tier)
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&ctx->lock);
    *tier = ctx->tier;
    pthread_mutex_unlock(&ctx->lock);
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxSetCounting(ptxiContext named, int on)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    pthread_mutex_lock(&ctx->lock);
    ctx->counting = on;
    pthread_mutex_unlock(&ctx->lock);
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxGetCounters(ptxiContext named, ptxiCounters *counters)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    if (!counters || counters->size < offsetof(ptxiCounters, blocks))
        return PTXI_ERROR_INVALID_VALUE;
    size_t size = counters->size;

    pthread_mutex_lock(&ctx->lock);
    memcpy(counters, &ctx->counters, size < sizeof *counters ? size : sizeof *counters);
    pthread_mutex_unlock(&ctx->lock);
    counters->size = size;
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxResetCounters(ptxiContext named)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    pthread_mutex_lock(&ctx->lock);
    memset(&ctx->counters, 0, sizeof ctx->counters);
    pthread_mutex_unlock(&ctx->lock);
    return PTXI_SUCCESS;
}

/* ---- settings of caches, which have no effect */

ptxiResult ptxiCtxGetCacheConfig(ptxiFuncCache *pconfig)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if (!pconfig)
        return PTXI_ERROR_INVALID_VALUE;
    *pconfig = (ptxiFuncCache)atomic_load(&ctx->cache_config);
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxSetCacheConfig(ptxiFuncCache config)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if ((unsigned)config > PTXI_FUNC_CACHE_PREFER_EQUAL)
        return PTXI_ERROR_INVALID_VALUE;
    atomic_store(&ctx->cache_config, (int)config);
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxGetSharedMemConfig(ptxiSharedConfig *pConfig)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if (!pConfig)
        return PTXI_ERROR_INVALID_VALUE;
    *pConfig = PTXI_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return PTXI_SUCCESS;
}

ptxiResult ptxi_api_check_shared_config(ptxiSharedConfig config)
{
    return (unsigned)config > PTXI_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE ? PTXI_ERROR_INVALID_VALUE : PTXI_SUCCESS;
}

ptxiResult ptxiCtxSetSharedMemConfig(ptxiSharedConfig config)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    return r ? r : ptxi_api_check_shared_config(config);
}

ptxiResult ptxiCtxResetPersistingL2Cache(void)
{
    API_CALL;
    ptxiContext ctx;

    return ptxi_api_context(&ctx);
}
