/* Calls of libraries that are built on this one, and that fail. */
#include "api/check/check.h"

#include "api/observe/host_stack.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Programs ask for such results. */
static bool is_answer(int error)
{
    return error == PTXI_SUCCESS || error == PTXI_ERROR_NOT_READY || error == PTXI_ERROR_PEER_ACCESS_ALREADY_ENABLED ||
           error == PTXI_ERROR_PEER_ACCESS_NOT_ENABLED;
}

/* Whether a finding is wanted anywhere. A call may fail because nothing has initialised the library. */
static bool is_on(void)
{
    int phase = atomic_load(&ptxi_state.phase);

    if (phase == PTXI_PHASE_FORKED)
        return false;
    if (phase == PTXI_PHASE_BEFORE_INIT && !ptxi_check_environment_tools()) {
        pthread_mutex_lock(&ptxi_state.lock);
        ptxi_check_environment_init_api();
        pthread_mutex_unlock(&ptxi_state.lock);
    }
    if (ptxi_check_environment_tools() && !ptxi_check_environment_is_live())
        return false;
    return atomic_load_explicit(&ptxi_check_has_api, memory_order_relaxed) ||
           ptxi_check_environment_tools() & PTXI_SANITIZER_API;
}

/* The collection of calls without a context. It belongs to the report of PTXI_CHECK, and is never freed. */
static struct ptxi_findings *process_findings(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct ptxi_findings *findings;

    pthread_mutex_lock(&lock);
    if (!findings && (findings = ptxi_check_create_findings(ptxi_check_environment_rules())))
        ptxi_check_environment_add(findings);
    struct ptxi_findings *f = findings;

    pthread_mutex_unlock(&lock);
    return f;
}

/* The collection of a context, if the tool is on there. The call of the API holds the context. */
static struct ptxi_findings *findings_of(ptxiContext ctx)
{
    unsigned tools;
    struct ptxi_findings *f = ptxi_check_findings_of(ctx, &tools);

    return tools & PTXI_SANITIZER_API ? f : NULL;
}

/* The collection of the latest context with the tool. */
static struct ptxi_findings *findings_of_any_context(void)
{
    struct ptxi_findings *f = NULL;

    if (ptxi_api_enter())
        return NULL;
    pthread_mutex_lock(&ptxi_state.lock);
    for (ptxiContext c = ptxi_state.contexts; c && !f; c = c->next)
        if (!ptxi_gate_hold(&c->gate))
            f = findings_of(c);
    pthread_mutex_unlock(&ptxi_state.lock);
    return f;
}

/* Where the finding belongs, or NULL. */
static struct ptxi_findings *find_collection(void)
{
    ptxiContext ctx = NULL;
    bool has_context = !ptxi_api_context(&ctx);
    struct ptxi_findings *f = has_context ? findings_of(ctx) : NULL;

    if (f)
        return f;
    if (ptxi_check_environment_tools() & PTXI_SANITIZER_API)
        return has_context ? NULL : process_findings();
    return findings_of_any_context();
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size) /* FNV-1a */
{
    const unsigned char *b = bytes;

    for (size_t k = 0; k < size; k++)
        hash = (hash ^ b[k]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Of the function and of the code that called it. */
static uint64_t id_of(const char *function, const struct ptxi_host_stack *stack)
{
    uintptr_t caller = stack ? ptxi_host_stack_caller(stack) : 0;
    uint64_t hash = hash_bytes(UINT64_C(0xcbf29ce484222325), function, strlen(function));

    return hash_bytes(hash, &caller, sizeof caller);
}

static void add_finding(struct ptxi_findings *f, const char *function, const struct ptxi_finding_error *error)
{
    struct ptxi_str detail;
    struct ptxi_finding x = { .kind = PTXI_FINDING_CALL,
                              .severity = ptxi_finding_kinds[PTXI_FINDING_CALL].severity,
                              .site_count = 1,
                              .sites = { { .what = function } },
                              .error = *error };

    ptxi_str_init(&detail, NULL);
    ptxi_str_printf(&detail, "%s returns %s (error %d)", function, error->name ? error->name : "an error",
                    error->number);
    if (error->text)
        ptxi_str_printf(&detail, ", %s", error->text);
    x.detail = ptxi_str_text(&detail);
    ptxi_findings_add(f, &x, NULL, 0);
    ptxi_str_free(&detail);
}

ptxiResult ptxiReportCall(const char *function, int error, const char *errorName, const char *text)
{
    API_CALL;
    struct ptxi_findings *f;

    if (!function)
        return PTXI_ERROR_INVALID_VALUE;
    if (is_answer(error) || !is_on() || !(f = find_collection()))
        return PTXI_SUCCESS;
    struct ptxi_host_stack *stack = ptxi_host_stack_take();

    add_finding(f, function,
                &(struct ptxi_finding_error){ .number = error,
                                              .id = id_of(function, stack),
                                              .name = errorName,
                                              .text = text,
                                              .stack = stack,
                                              .stack_size = stack ? ptxi_host_stack_size(stack) : 0 });
    free(stack);
    ptxi_check_environment_write(f);
    return PTXI_SUCCESS;
}
