/* The sanitizers of a context. */
#include "api/check/check.h"

#include "api/check/format.h"
#include "api/check/rules.h"
#include "api/memory/allocation_sites.h"
#include "api/memory/heap.h"
#include "api/module/module.h"
#include "exec/check/check.h"
#include "exec/check/task.h"
#include "exec/engine/fault_log.h"
#include "exec/memmap/annotation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(PTXI_SANITIZER_MEMORY == 1 << PTXI_TOOL_MEMORY && PTXI_SANITIZER_RACE == 1 << PTXI_TOOL_RACE &&
               PTXI_SANITIZER_INIT == 1 << PTXI_TOOL_INIT && PTXI_SANITIZER_SYNC == 1 << PTXI_TOOL_SYNC &&
               PTXI_SANITIZER_API == 1 << PTXI_TOOL_API,
               "as the engine has them");

enum { SHADOW_LIMIT_SHIFT = 32 }; /* bytes of shadow memory of a context */

/* ---- contexts */

static bool is_intended(const struct ptxi_finding *x)
{
    uint64_t base, size;

    return ptxi_finding_kinds[x->kind].tool == PTXI_TOOL_RACE && x->space == PTXI_FINDING_GLOBAL &&
           ptxi_annotation_find(PTXI_ANNOTATED_RACES, x->address, &base, &size);
}

/* `user`: the rules, or NULL. */
static bool want_finding(void *user, const struct ptxi_finding *x, const char *kernel, uint64_t launch)
{
    return !is_intended(x) && (!user || ptxi_rules_want_block(user, x, kernel, launch));
}

static bool suppress_finding(void *user, const struct ptxi_found *found)
{
    return user && ptxi_rules_suppress(user, found);
}

/* Makes a collection use rules. */
static void apply_rules(struct ptxi_findings *f, struct ptxi_rules *rules)
{
    struct ptxi_finding_filter filter = { want_finding, suppress_finding, rules };

    if (f)
        ptxi_findings_set_filter(f, &filter);
}

struct ptxi_findings *ptxi_check_create_findings(struct ptxi_rules *rules)
{
    struct ptxi_findings *f = ptxi_findings_create(ptxi_check_resolve);

    apply_rules(f, rules);
    return f;
}

/* Creates the collection. Under ctx->lock, or before other threads know the context. */
static bool need_findings(ptxiContext ctx)
{
    if (ctx->findings)
        return true;
    ctx->findings = ptxi_check_create_findings(ctx->rules);
    return ctx->findings != NULL;
}

_Atomic bool ptxi_check_has_api;

/* Races between streams need the order of their work, and reports the places of allocations. */
static void note_tools(unsigned tools)
{
    if (tools & PTXI_SANITIZER_API)
        atomic_store(&ptxi_check_has_api, true);
    if (tools & PTXI_SANITIZER_RACE)
        atomic_store(&ptxi_tasks_have_order, true);
    if (tools & PTXI_SANITIZER_ALL)
        ptxi_allocation_sites_enable();
}

void ptxi_check_open_context(ptxiContext ctx)
{
    ctx->sanitizer = ptxi_check_environment_tools();
    ctx->find_leaks = ptxi_check_environment_leaks();
    ctx->rules = ptxi_rules_ref(ptxi_check_environment_rules());
    if (!ctx->sanitizer || !need_findings(ctx))
        ctx->sanitizer = 0; /* without memory: the report says that nothing was checked */
    else
        ptxi_check_environment_add(ctx->findings);
    note_tools(ctx->sanitizer);
}

/* Memory that kernels have allocated, and memory that calls have. Other blocks belong to objects. */
static void add_leak(ptxiContext ctx, const struct ptxi_heap_block *b)
{
    bool kernel = b->kind == PTXI_HEAP_KERNEL;
    enum ptxi_finding_kind kind = kernel ? PTXI_FINDING_KERNEL_LEAK : PTXI_FINDING_HOST_LEAK;
    char size[40];

    if (!kernel && b->kind != PTXI_HEAP_DEVICE && b->kind != PTXI_HEAP_HOST)
        return;
    snprintf(size, sizeof size, "%zu bytes at 0x%" PRIx64, b->size, b->base);
    ptxi_findings_add(ctx->findings, &(struct ptxi_finding){
        .kind = kind, .severity = ptxi_finding_kinds[kind].severity, .object = b->base, .address = b->base,
        .object_size = b->size, .detail = size }, NULL, 0);
}

void ptxi_check_find_leaks(ptxiContext ctx)
{
    if (!ctx->findings || !ctx->find_leaks)
        return;
    pthread_mutex_lock(&ctx->lock);
    for (const struct ptxi_heap_block *b = ctx->blocks; b; b = b->next)
        add_leak(ctx, b);
    pthread_mutex_unlock(&ctx->lock);
}

void ptxi_check_close_context(ptxiContext ctx)
{
    if (ctx->findings) {
        ptxi_findings_set_filter(ctx->findings, &(struct ptxi_finding_filter){ .user = NULL });
        if (!ptxi_check_environment_keep(ctx->findings))
            ptxi_findings_destroy(ctx->findings);
    }
    ptxi_rules_unref(ctx->rules);
    ctx->findings = NULL;
    ctx->rules = NULL;
    ctx->sanitizer = 0;
    ctx->find_leaks = false;
}

struct ptxi_checker *ptxi_check_checker(ptxiContext ctx)
{
    pthread_mutex_lock(&ctx->lock);
    if (!ctx->checker)
        ctx->checker = ptxi_checker_create(UINT64_C(1) << SHADOW_LIMIT_SHIFT);
    struct ptxi_checker *x = ctx->checker;

    pthread_mutex_unlock(&ctx->lock);
    return x;
}

/* ---- launches */

void ptxi_check_begin_launch(ptxiContext ctx, struct ptxi_grid *g)
{
    pthread_mutex_lock(&ctx->lock);
    unsigned tools = ctx->sanitizer & PTXI_SANITIZER_ALL; /* others do not look at launches */

    if (tools && ptxi_rules_check_launch(ctx->rules, g->code->name, g->gridid)) {
        g->tools = tools;
        g->findings = ctx->findings;
    }
    pthread_mutex_unlock(&ctx->lock);
    if (g->tools && ptxi_annotation_has_pools())
        ptxi_memmap_invalidate(g->memmap); /* a launch that is not checked may have found regions with pools */
}

void ptxi_check_end_launch(const struct ptxi_grid *g, uint64_t accesses, uint64_t unchecked)
{
    if (g->report.kind != PTXI_FK_NONE)
        ptxi_check_add_fault(g->findings, g->tools, &g->report, 1, g->code->name, g->gridid);
    ptxi_findings_count(g->findings, 1, accesses, unchecked);
    ptxi_check_environment_write(g->findings);
}

/* ---- calls */

ptxiResult ptxiCtxSetSanitizer(ptxiContext named, unsigned tools, unsigned flags)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    if (flags & ~(unsigned)PTXI_SANITIZER_LEAKS || tools >> PTXI_TOOLS)
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&ctx->lock);
    if (tools && !need_findings(ctx))
        r = PTXI_ERROR_OUT_OF_MEMORY;
    else
        ctx->sanitizer = tools;
    note_tools(ctx->sanitizer);
    ctx->find_leaks = flags & PTXI_SANITIZER_LEAKS && ctx->sanitizer & PTXI_SANITIZER_MEMORY;
    pthread_mutex_unlock(&ctx->lock);
    return r;
}

ptxiResult ptxiCtxGetSanitizer(ptxiContext named, unsigned *tools)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    if (!tools)
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&ctx->lock);
    *tools = ctx->sanitizer;
    pthread_mutex_unlock(&ctx->lock);
    return PTXI_SUCCESS;
}

/* PTXI_ERROR_INVALID_VALUE after a message. */
static ptxiResult parse_rules(const char *text, struct ptxi_rules **rules, char **error)
{
    struct ptxi_str message;

    ptxi_str_init(&message, NULL);
    *rules = ptxi_rules_parse(text, &message);
    bool invalid = message.len > 0;

    if (invalid && error)
        *error = strdup(ptxi_str_text(&message));
    ptxi_str_free(&message);
    if (*rules)
        return PTXI_SUCCESS;
    return invalid ? PTXI_ERROR_INVALID_VALUE : PTXI_ERROR_OUT_OF_MEMORY;
}

ptxiResult ptxiCtxSetSanitizerRules(ptxiContext named, const char *text, char **error)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxi_rules *rules = NULL, *before;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    if (error)
        *error = NULL;
    if (text && (r = parse_rules(text, &rules, error)))
        return r;
    pthread_mutex_lock(&ctx->lock);
    before = ctx->rules;
    ctx->rules = rules;
    apply_rules(ctx->findings, rules);
    pthread_mutex_unlock(&ctx->lock);
    ptxi_rules_unref(before);
    return PTXI_SUCCESS;
}

struct ptxi_findings *ptxi_check_findings_of(ptxiContext ctx, unsigned *tools)
{
    pthread_mutex_lock(&ctx->lock);
    struct ptxi_findings *f = ctx->findings;

    if (tools)
        *tools = ctx->sanitizer;
    pthread_mutex_unlock(&ctx->lock);
    return f;
}

static ptxiFindingSite public_site(const struct ptxi_found_site *s)
{
    const struct ptxi_finding_site *x = &s->site;
    ptxiFindingSite to = {
        .function = s->function, .threads = x->threads ? x->threads : 1, .hasValue = x->has_value, .value = x->value,
        .ptxFile = s->ptx_file, .ptxText = s->ptx_text, .ptxLine = s->ptx_line, .ptxColumn = s->ptx_column,
        .sourceFile = s->source_file, .sourceLine = s->source_line,
    };
    static const ptxiAccess accesses[] = {
        [PTXI_AK_NONE] = PTXI_ACCESS_NONE, [PTXI_AK_LOAD] = PTXI_ACCESS_READ, [PTXI_AK_STORE] = PTXI_ACCESS_WRITE,
        [PTXI_AK_ATOMIC] = PTXI_ACCESS_ATOMIC,
    };

    to.access = accesses[x->access];
    for (unsigned k = 0; k < 3; k++) {
        to.block[k] = x->ctaid[k];
        to.thread[k] = x->tid[k];
    }
    return to;
}

static ptxiFinding public_finding(const struct ptxi_found *f)
{
    const struct ptxi_finding *x = &f->finding;
    const struct ptxi_finding_kind_info *kind = &ptxi_finding_kinds[x->kind];
    ptxiFinding to = {
        .tool = (ptxiSanitizer)(1u << kind->tool), .severity = (ptxiFindingSeverity)x->severity, .kind = kind->rule,
        .message = kind->text, .detail = x->detail, .count = f->count, .kernel = f->kernel, .launch = f->launch,
        .space = x->space == PTXI_FINDING_NO_SPACE ? NULL : ptxi_report_space_name(x->space), .address = x->address,
        .bytes = x->size, .objectBase = x->object, .objectSize = x->object_size, .objectName = x->name,
        .siteCount = x->site_count,
    };

    for (unsigned s = 0; s < x->site_count; s++)
        to.sites[s] = public_site(&f->sites[s]);
    return to;
}

static bool get_finding(struct ptxi_findings *f, size_t index, ptxiFinding *x)
{
    ptxi_findings_hold(f);
    const struct ptxi_found *found = ptxi_findings_at(f, index);

    if (found)
        *x = public_finding(found);
    ptxi_findings_release(f);
    return found != NULL;
}

ptxiResult ptxiCtxGetFinding(ptxiContext named, size_t index, ptxiFinding *finding)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    if (!finding || finding->size < offsetof(ptxiFinding, kind))
        return PTXI_ERROR_INVALID_VALUE;
    struct ptxi_findings *f = ptxi_check_findings_of(ctx, NULL);
    ptxiFinding x;
    size_t size = finding->size;

    if (!f || !get_finding(f, index, &x))
        return PTXI_ERROR_NOT_FOUND;
    memcpy(finding, &x, size < sizeof x ? size : sizeof x);
    finding->size = size;
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxGetCheckSummary(ptxiContext named, ptxiCheckSummary *summary)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxi_check_totals t = { 0 };
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    if (!summary || summary->size < offsetof(ptxiCheckSummary, accesses))
        return PTXI_ERROR_INVALID_VALUE;
    struct ptxi_findings *f = ptxi_check_findings_of(ctx, NULL);

    if (f)
        ptxi_findings_totals(f, &t);
    ptxiCheckSummary s = {
        .launches = t.launches, .accesses = t.accesses, .unchecked = t.unchecked,
        .errors = ptxi_report_count(&t, PTXI_FINDING_ERROR), .warnings = ptxi_report_count(&t, PTXI_FINDING_WARNING),
        .benign = ptxi_report_count(&t, PTXI_FINDING_BENIGN), .suppressed = t.suppressed, .notListed = t.dropped,
    };
    size_t size = summary->size;

    memcpy(summary, &s, size < sizeof s ? size : sizeof s);
    summary->size = size;
    return PTXI_SUCCESS;
}

ptxiResult ptxiCtxFormatFindings(ptxiContext named, ptxiReportFormat format, char **text)
{
    API_CALL;
    ptxiContext ctx;
    struct ptxi_str s;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    if (!text || (unsigned)format > PTXI_REPORT_RULES)
        return PTXI_ERROR_INVALID_VALUE;
    unsigned tools;
    struct ptxi_findings *f = ptxi_check_findings_of(ctx, &tools);

    ptxi_str_init(&s, NULL);
    ptxi_report_format(&(struct ptxi_report_input){ .lists = &f, .count = f != NULL, .tools = tools }, format, &s);
    return ptxi_api_give_text(&s, text);
}

ptxiResult ptxiCtxResetFindings(ptxiContext named)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    if (r)
        return r;
    struct ptxi_findings *f = ptxi_check_findings_of(ctx, NULL);

    if (f)
        ptxi_findings_clear(f);
    return PTXI_SUCCESS;
}
