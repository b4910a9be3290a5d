/* Tests versions, devices and profiles, the current contexts of threads, and limits. */
#include "unit/support/heap_check.h"

#include <pthread.h>
#include <stdlib.h>

/* ---- before a context */

START_TEST(versions_are_known_before_init)
{
    int v = 0;

    ok(ptxiDriverGetVersion(&v));
    ck_assert_int_eq(v, PTXI_DRIVER_VERSION);
    ok(ptxiGetVersion(&v));
    ck_assert_int_eq(v, PTXI_VERSION);
    ck_result(ptxiGetVersion(NULL), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(devices_and_profiles)
{
    int v, minor;
    ptxiDevice d;
    char name[64];
    size_t bytes;
    const char *profile;

    ok(ptxiInit(0));
    ok(ptxiDeviceGet(&d, 0));
    ck_result(ptxiDeviceGet(&d, 1), PTXI_ERROR_INVALID_DEVICE);
    ck_result(ptxiDeviceGet(NULL, 0), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiDeviceComputeCapability(&v, &minor, 0));
    ck_assert_int_eq(v * 10 + minor, 90);
    ok(ptxiDeviceGetAttribute(&v, PTXI_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    ck_assert_int_eq(v, 132);
    ok(ptxiDeviceGetAttribute(&v, PTXI_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0));
    ck_assert_int_eq(v, 232448);
    ck_result(ptxiDeviceGetAttribute(&v, (ptxiDeviceAttribute)0, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiDeviceGetAttribute(&v, PTXI_DEVICE_ATTRIBUTE_MAX, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiDeviceGetAttribute(&v, PTXI_DEVICE_ATTRIBUTE_WARP_SIZE, 1), PTXI_ERROR_INVALID_DEVICE);
    ok(ptxiDeviceTotalMem(&bytes, 0));
    ck_assert_uint_gt(bytes, 1 << 20);
    ok(ptxiDeviceGetName(name, 4, 0));
    ck_assert_str_eq(name, "lib");
    ck_result(ptxiDeviceGetName(name, 0, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiDeviceSetProfile(0, "sm_1000"), PTXI_ERROR_INVALID_DEVICE);
    unsigned n = 0;
    for (; ptxiDeviceEnumerateProfile(&profile, n) == PTXI_SUCCESS; n++) {
        ok(ptxiDeviceSetProfile(0, profile));
        ok(ptxiDeviceComputeCapability(&v, &minor, 0));
        ck_assert_int_eq(v * 10 + minor, atoi(profile + 3));
    }
    ck_assert_uint_ge(n, 18);
    ok(ptxiDeviceSetProfile(0, "sm_90a"));
    ok(ptxiDeviceGetProfile(name, sizeof name, 0));
    ck_assert_str_eq(name, "sm_90");
}
END_TEST

/* ---- contexts */

START_TEST(context_stack)
{
    ptxiContext a, b, c;

    ok(ptxiCtxGetCurrent(&c));
    ck_assert_ptr_eq(c, ctx);
    ok(ptxiCtxCreate(&a, PTXI_CTX_SCHED_SPIN, 0));
    ok(ptxiCtxGetCurrent(&c));
    ck_assert_ptr_eq(c, a);
    ok(ptxiCtxPushCurrent(ctx));
    ok(ptxiCtxPopCurrent(&c));
    ck_assert_ptr_eq(c, ctx);
    ck_result(ptxiCtxCreate(&b, 3, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiCtxCreate(&b, 0x1000, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiCtxCreate(&b, 0, 7), PTXI_ERROR_INVALID_DEVICE);
    ok(ptxiCtxSetCurrent(ctx));
    ok(ptxiCtxDestroy(a));
    ck_result(ptxiCtxDestroy(a), PTXI_ERROR_INVALID_CONTEXT);
    ck_result(ptxiCtxDestroy(NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiCtxSetCurrent(a), PTXI_ERROR_INVALID_CONTEXT);
    ok(ptxiCtxPopCurrent(&c));
    ck_assert_ptr_eq(c, ctx);
    ok(ptxiCtxPopCurrent(&c)); /* the context below a, which SetCurrent replaced */
    ck_assert_ptr_eq(c, ctx);
    ck_result(ptxiCtxPopCurrent(&c), PTXI_ERROR_INVALID_CONTEXT);
    ok(ptxiCtxSetCurrent(NULL));
    ok(ptxiCtxGetCurrent(&c));
    ck_assert_ptr_null(c);
    ok(ptxiCtxSetCurrent(ctx));
}
END_TEST

static void *call_without_context(void *r)
{
    ptxiDevicePtr p;

    *(ptxiResult *)r = ptxiMemAlloc(&p, 4);
    return NULL;
}

static pthread_barrier_t barrier;

static void *call_in_destroyed(void *c)
{
    ptxiDevicePtr p;

    ptxiResult r = ptxiCtxSetCurrent(c);
    pthread_barrier_wait(&barrier); /* current in this thread */
    pthread_barrier_wait(&barrier); /* destroyed in the other thread */
    return r ? (void *)1 : (void *)(uintptr_t)ptxiMemAlloc(&p, 4);
}

START_TEST(contexts_and_threads)
{
    pthread_t t;
    ptxiResult r;
    ptxiContext c;
    void *result;

    pthread_create(&t, NULL, call_without_context, &r);
    pthread_join(t, NULL);
    ck_result(r, PTXI_ERROR_INVALID_CONTEXT);
    ok(ptxiCtxCreate(&c, 0, 0));
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&t, NULL, call_in_destroyed, c);
    pthread_barrier_wait(&barrier);
    ok(ptxiCtxDestroy(c));
    pthread_barrier_wait(&barrier);
    pthread_join(t, &result);
    ck_result((ptxiResult)(uintptr_t)result, PTXI_ERROR_CONTEXT_IS_DESTROYED);
}
END_TEST

START_TEST(primary_context)
{
    ptxiContext a, b;
    unsigned flags;
    int active;
    ptxiDevicePtr p;

    ck_result(ptxiDevicePrimaryCtxRelease(0), PTXI_ERROR_INVALID_CONTEXT);
    ok(ptxiDevicePrimaryCtxSetFlags(0, PTXI_CTX_SCHED_YIELD));
    ok(ptxiDevicePrimaryCtxRetain(&a, 0));
    ok(ptxiDevicePrimaryCtxRetain(&b, 0));
    ck_assert_ptr_eq(a, b);
    ok(ptxiDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_uint_eq(flags, PTXI_CTX_SCHED_YIELD);
    ck_assert_int_eq(active, 1);
    ck_result(ptxiCtxDestroy(a), PTXI_ERROR_INVALID_CONTEXT);
    ok(ptxiCtxPushCurrent(a));
    ok(ptxiMemAlloc(&p, 100));
    ok(ptxiDevicePrimaryCtxRelease(0));
    ok(ptxiMemAlloc(&p, 100));
    ok(ptxiDevicePrimaryCtxReset(0));
    ck_result(ptxiMemAlloc(&p, 100), PTXI_ERROR_CONTEXT_IS_DESTROYED);
    ck_assert_uint_eq(ptxi_heap_in_use(), 0);
    ok(ptxiDevicePrimaryCtxRetain(&b, 0));
    ck_assert_ptr_eq(a, b);
    ok(ptxiMemAlloc(&p, 100));
    ok(ptxiDevicePrimaryCtxRelease(0));
    ok(ptxiDevicePrimaryCtxGetState(0, &flags, &active));
    ck_assert_int_eq(active, 0);
    ok(ptxiCtxPopCurrent(NULL));
}
END_TEST

START_TEST(limits)
{
    size_t v;

    ok(ptxiCtxGetLimit(&v, PTXI_LIMIT_STACK_SIZE));
    ck_assert_uint_eq(v, 1024);
    ok(ptxiCtxSetLimit(PTXI_LIMIT_STACK_SIZE, 1000));
    ok(ptxiCtxGetLimit(&v, PTXI_LIMIT_STACK_SIZE));
    ck_assert_uint_eq(v, 1008);
    ok(ptxiCtxSetLimit(PTXI_LIMIT_INSTRUCTIONS, 123456789));
    ok(ptxiCtxGetLimit(&v, PTXI_LIMIT_INSTRUCTIONS));
    ck_assert_uint_eq(v, 123456789);
    ck_result(ptxiCtxSetLimit((ptxiLimit)55, 1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiCtxSetLimit(PTXI_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 1), PTXI_ERROR_UNSUPPORTED_LIMIT);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("context");
    TCase *start = tcase_create("start"), *t = tcase_create("context");

    tcase_add_test(start, versions_are_known_before_init);
    tcase_add_test(start, devices_and_profiles);
    suite_add_tcase(s, start);

    tcase_add_checked_fixture(t, open_context, close_and_check_heap);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, context_stack);
    tcase_add_test(t, contexts_and_threads);
    tcase_add_test(t, primary_context);
    tcase_add_test(t, limits);
    suite_add_tcase(s, t);
    return run_suite(s);
}
