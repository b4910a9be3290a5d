/* Host threads that share a context, a module and its variables: launches, copies, events, host functions, loading and
 * failures at once. What each gets must be its own. Meant for ThreadSanitizer, too. */
#include "unit/support/context.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 100, BLOCKS = 3, BLOCK = 64, COUNT = BLOCKS * BLOCK, BYTES = COUNT * 4 };

static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter;\n"
    ".func (.reg .u32 r) sum(.reg .u32 a, .reg .u32 b) { add.u32 r, a, b; ret; }\n"
    ".visible .entry add(.param .u64 p, .param .u32 v)\n" /* p[thread] += v, through shared memory; counts */
    "{ .reg .b64 %rd<4>; .reg .b32 %r<8>; .shared .align 4 .b32 s[64];\n"
    "  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [v];\n"
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "  mad.lo.u32 %r5, %r2, %r3, %r4; mul.wide.u32 %rd2, %r5, 4; add.u64 %rd3, %rd1, %rd2;\n"
    "  shl.b32 %r4, %r4, 2; mov.u32 %r5, s; add.u32 %r5, %r5, %r4; xor.b32 %r4, %r4, 252; mov.u32 %r6, s; add.u32 %r6, %r6, %r4;\n"
    "  st.shared.u32 [%r6], %r1; bar.sync 0; ld.shared.u32 %r1, [%r5];\n"
    "  ld.global.u32 %r7, [%rd3]; call (%r7), sum, (%r7, %r1); st.global.u32 [%rd3], %r7;\n"
    "  mov.u64 %rd1, counter; red.global.add.u32 [%rd1], 1; ret; }\n"
    ".visible .entry wild() { .reg .b64 %rd; mov.u64 %rd, 64; st.global.u64 [%rd], %rd; ret; }\n";

static ptxiModule module;
static _Atomic unsigned host_calls;

static void set_up(void)
{
    open_context();
    ok(ptxiCtxSetWorkers(ctx, 3)); /* whatever the host has */
    ok(ptxiModuleLoadData(&module, text));
}

#define TRY(call) \
    do { \
        ptxiResult r_ = (call); \
        if (r_) \
            return failed(#call, r_); \
    } while (0)

static const char *failed(const char *call, ptxiResult r)
{
    fprintf(stderr, "%s: %d\n", call, (int)r);
    return call;
}

struct work {
    ptxiStream a, b;
    ptxiEvent there, back;
    ptxiDevicePtr mem;
    ptxiFunction add;
    uint32_t data[COUNT], got[COUNT];
    unsigned checked, bad; /* by the host function */
    uint32_t want;
};

static void check(void *p)
{
    struct work *w = p;

    for (unsigned k = 0; k < COUNT; k++)
        w->bad += w->got[k] != w->want + k;
    w->checked++;
    host_calls++;
}

static const char *make(struct work *w, unsigned n)
{
    memset(w, 0, sizeof *w);
    for (unsigned k = 0; k < COUNT; k++)
        w->data[k] = k;
    TRY(ptxiCtxSetCurrent(ctx));
    TRY(ptxiStreamCreate(&w->a, n & 1 ? PTXI_STREAM_NON_BLOCKING : PTXI_STREAM_DEFAULT));
    TRY(ptxiStreamCreate(&w->b, n & 2 ? PTXI_STREAM_NON_BLOCKING : PTXI_STREAM_DEFAULT));
    TRY(ptxiEventCreate(&w->there, 0));
    TRY(ptxiEventCreate(&w->back, PTXI_EVENT_DISABLE_TIMING));
    TRY(ptxiMemAlloc(&w->mem, BYTES));
    TRY(ptxiModuleGetFunction(&w->add, module, "add"));
    return NULL;
}

/* Data goes in on one stream, a kernel changes it on the other, and it is looked at on the first. */
static const char *one_round(struct work *w, uint32_t v)
{
    void *params[] = { &w->mem, &v };

    w->want = 2 * v;
    TRY(ptxiMemcpyHtoDAsync(w->mem, w->data, BYTES, w->a));
    TRY(ptxiEventRecord(w->there, w->a));
    TRY(ptxiStreamWaitEvent(w->b, w->there, 0));
    for (int k = 0; k < 2; k++)
        TRY(ptxiLaunchKernel(w->add, BLOCKS, 1, 1, BLOCK, 1, 1, 0, w->b, params, NULL));
    TRY(ptxiEventRecord(w->back, w->b));
    TRY(ptxiStreamWaitEvent(w->a, w->back, 0));
    TRY(ptxiMemcpyDtoHAsync(w->got, w->mem, BYTES, w->a));
    TRY(ptxiLaunchHostFunc(w->a, check, w));
    if (v % 3 == 0)
        TRY(ptxiEventSynchronize(w->back));
    TRY(ptxiStreamSynchronize(w->a));
    return NULL;
}

static const char *unmake(struct work *w)
{
    if (w->checked != ROUNDS || w->bad)
        return "wrong data";
    TRY(ptxiStreamDestroy(w->a));
    TRY(ptxiStreamDestroy(w->b));
    TRY(ptxiEventDestroy(w->there));
    TRY(ptxiEventDestroy(w->back));
    TRY(ptxiMemFree(w->mem));
    return NULL;
}

static void *compute(void *n)
{
    struct work w;
    const char *bad = make(&w, (unsigned)(uintptr_t)n);

    for (uint32_t i = 0; i < ROUNDS && !bad; i++)
        bad = one_round(&w, i * 7 + (uint32_t)(uintptr_t)n);
    return (void *)(bad ? bad : unmake(&w));
}

/* Modules come and go, first launches compile, and a kernel fails in a stream of its own. */
static const char *come_and_go(void)
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

static void *loading(void *unused)
{
    (void)unused;
    return (void *)come_and_go();
}

START_TEST(all_at_once)
{
    pthread_t t[THREADS + 1];
    ptxiDevicePtr counter;
    uint32_t n;

    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, compute, (void *)i);
    pthread_create(&t[THREADS], NULL, loading, NULL);
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

/* A context goes while its work is under way, beside others that live. */
static void *short_life(void *unused)
{
    ptxiContext own;
    ptxiModule m;
    ptxiFunction f;
    ptxiDevicePtr mem;
    uint32_t v = 1;
    void *params[] = { &mem, &v };

    (void)unused;
    for (int i = 0; i < 5; i++) {
        if (ptxiCtxCreate(&own, 0, 0) || ptxiModuleLoadData(&m, text) || ptxiModuleGetFunction(&f, m, "add") || ptxiMemAlloc(&mem, BYTES))
            return (void *)"not made";
        for (int k = 0; k < 10; k++)
            if (ptxiLaunchKernel(f, BLOCKS, 1, 1, BLOCK, 1, 1, 0, PTXI_STREAM_PER_THREAD, params, NULL))
                return (void *)"not launched";
        if (ptxiCtxDestroy(own))
            return (void *)"not destroyed";
    }
    return NULL;
}

START_TEST(contexts_come_and_go)
{
    pthread_t t[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, short_life, NULL);
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
    tcase_add_test(t, all_at_once);
    tcase_add_test(t, contexts_come_and_go);
    suite_add_tcase(s, t);
    return run_suite(s);
}
