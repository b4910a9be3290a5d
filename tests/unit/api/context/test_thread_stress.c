/* Host threads share a context, a module and its variables. They launch, copy, record events, call host functions,
 * load modules and fail at the same time. Each thread must see only its own results. ThreadSanitizer runs this test,
 * too. */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 100, BLOCKS = 3, BLOCK = 64, COUNT = BLOCKS * BLOCK, BYTES = COUNT * 4 };

static const char *text;

static ptxiModule module;
static _Atomic unsigned host_calls;

static void set_up(void)
{
    open_context();
    ok(ptxiCtxSetWorkers(ctx, 3)); /* independent of the CPUs of the host */
    text = test_file("api/context/thread_stress.ptx");
    ok(ptxiModuleLoadData(&module, text));
}

#define TRY(call) \
    do { \
        ptxiResult r_ = (call); \
        if (r_) \
            return describe_failure(#call, r_); \
    } while (0)

static const char *describe_failure(const char *call, ptxiResult r)
{
    fprintf(stderr, "%s: %d\n", call, (int)r);
    return call;
}

struct work {
    ptxiStream a, b;
    ptxiEvent copied, computed;
    ptxiDevicePtr mem;
    ptxiFunction add;
    uint32_t data[COUNT], got[COUNT];
    unsigned checked, bad; /* set by the host function */
    uint32_t want;
};

static void check_results(void *p)
{
    struct work *w = p;

    for (unsigned k = 0; k < COUNT; k++)
        w->bad += w->got[k] != w->want + k;
    w->checked++;
    host_calls++;
}

static const char *create_work(struct work *w, unsigned n)
{
    memset(w, 0, sizeof *w);
    for (unsigned k = 0; k < COUNT; k++)
        w->data[k] = k;
    TRY(ptxiCtxSetCurrent(ctx));
    TRY(ptxiStreamCreate(&w->a, n & 1 ? PTXI_STREAM_NON_BLOCKING : PTXI_STREAM_DEFAULT));
    TRY(ptxiStreamCreate(&w->b, n & 2 ? PTXI_STREAM_NON_BLOCKING : PTXI_STREAM_DEFAULT));
    TRY(ptxiEventCreate(&w->copied, 0));
    TRY(ptxiEventCreate(&w->computed, PTXI_EVENT_DISABLE_TIMING));
    TRY(ptxiMemAlloc(&w->mem, BYTES));
    TRY(ptxiModuleGetFunction(&w->add, module, "add"));
    return NULL;
}

/* Copies data in on one stream, changes it with a kernel on the other stream, and reads it on the first stream. */
static const char *one_round(struct work *w, uint32_t v)
{
    void *params[] = { &w->mem, &v };

    w->want = 2 * v;
    TRY(ptxiMemcpyHtoDAsync(w->mem, w->data, BYTES, w->a));
    TRY(ptxiEventRecord(w->copied, w->a));
    TRY(ptxiStreamWaitEvent(w->b, w->copied, 0));
    for (int k = 0; k < 2; k++)
        TRY(ptxiLaunchKernel(w->add, BLOCKS, 1, 1, BLOCK, 1, 1, 0, w->b, params, NULL));
    TRY(ptxiEventRecord(w->computed, w->b));
    TRY(ptxiStreamWaitEvent(w->a, w->computed, 0));
    TRY(ptxiMemcpyDtoHAsync(w->got, w->mem, BYTES, w->a));
    TRY(ptxiLaunchHostFunc(w->a, check_results, w));
    if (v % 3 == 0)
        TRY(ptxiEventSynchronize(w->computed));
    TRY(ptxiStreamSynchronize(w->a));
    return NULL;
}

static const char *destroy_work(struct work *w)
{
    if (w->checked != ROUNDS || w->bad)
        return "wrong data";
    TRY(ptxiStreamDestroy(w->a));
    TRY(ptxiStreamDestroy(w->b));
    TRY(ptxiEventDestroy(w->copied));
    TRY(ptxiEventDestroy(w->computed));
    TRY(ptxiMemFree(w->mem));
    return NULL;
}

static void *run_work(void *n)
{
    struct work w;
    const char *bad = create_work(&w, (unsigned)(uintptr_t)n);

    for (uint32_t i = 0; i < ROUNDS && !bad; i++)
        bad = one_round(&w, i * 7 + (uint32_t)(uintptr_t)n);
    return (void *)(bad ? bad : destroy_work(&w));
}

/* Loads and unloads modules, so that first launches compile, and lets a kernel fail in a stream of its own. */
static const char *load_and_fail(void)
{
    TRY(ptxiCtxSetCurrent(ctx));
    for (int i = 0; i < ROUNDS / 10; i++) {
        ptxiModule m;
        ptxiFunction f;
        ptxiStream s;
        ptxiReport report = { .size = sizeof report };

        TRY(ptxiModuleLoadData(&m, text));
        TRY(ptxiModuleGetFunction(&f, m, "wild"));
        TRY(ptxiStreamCreate(&s, PTXI_STREAM_NON_BLOCKING));
        TRY(ptxiLaunchKernel(f, 5, 1, 1, 40, 1, 1, 0, s, NULL, NULL));
        if (ptxiStreamSynchronize(s) != PTXI_ERROR_ILLEGAL_ADDRESS)
            return "no failure";
        TRY(ptxiGetLastReport(NULL, &report));
        if (report.address != 64 || strcmp(report.kernel, "wild"))
            return "another report";
        TRY(ptxiStreamDestroy(s));
        TRY(ptxiModuleUnload(m));
    }
    return NULL;
}

static void *run_loads(void *unused)
{
    (void)unused;
    return (void *)load_and_fail();
}

START_TEST(concurrent_work)
{
    pthread_t t[THREADS + 1];
    ptxiDevicePtr counter;
    uint32_t n;

    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, run_work, (void *)i);
    pthread_create(&t[THREADS], NULL, run_loads, NULL);
    for (int i = 0; i <= THREADS; i++) {
        void *bad;

        pthread_join(t[i], &bad);
        ck_assert_msg(!bad, "thread %d: %s", i, (const char *)bad);
    }
    ok(ptxiCtxSynchronize());
    ok(ptxiModuleGetGlobal(&counter, NULL, module, "counter"));
    ok(ptxiMemcpyDtoH(&n, counter, 4));
    ck_assert_uint_eq(n, THREADS * ROUNDS * 2 * COUNT);
    ck_assert_uint_eq(host_calls, THREADS * ROUNDS);
}
END_TEST

/* Destroys a context while its work runs and while other contexts are in use. */
static void *run_short_context(void *unused)
{
    ptxiContext own;
    ptxiModule m;
    ptxiFunction f;
    ptxiDevicePtr mem;
    uint32_t v = 1;
    void *params[] = { &mem, &v };

    (void)unused;
    for (int i = 0; i < 5; i++) {
        if (ptxiCtxCreate(&own, 0, 0) || ptxiModuleLoadData(&m, text) || ptxiModuleGetFunction(&f, m, "add") ||
            ptxiMemAlloc(&mem, BYTES))
            return (void *)"not made";
        for (int k = 0; k < 10; k++)
            if (ptxiLaunchKernel(f, BLOCKS, 1, 1, BLOCK, 1, 1, 0, PTXI_STREAM_PER_THREAD, params, NULL))
                return (void *)"not launched";
        if (ptxiCtxDestroy(own))
            return (void *)"not destroyed";
    }
    return NULL;
}

START_TEST(contexts_are_created_and_destroyed)
{
    pthread_t t[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, run_short_context, NULL);
    for (int i = 0; i < THREADS; i++) {
        void *bad;

        pthread_join(t[i], &bad);
        ck_assert_msg(!bad, "thread %d: %s", i, (const char *)bad);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("stress");
    TCase *t = tcase_create("stress");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, concurrent_work);
    tcase_add_test(t, contexts_are_created_and_destroyed);
    suite_add_tcase(s, t);
    return run_suite(s);
}
