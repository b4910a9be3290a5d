/* Tests launches: arguments, shapes, failures and their reports, settings, and launches from many threads. */
#include "unit/support/launch_fixture.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* ---- loading */

START_TEST(function_attributes)
{
    ptxiFunction f = kernel("shares");
    int v;

    ok(ptxiFuncGetAttribute(&v, PTXI_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
    ck_assert_int_eq(v, 64);
    ok(ptxiFuncGetAttribute(&v, PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
    ck_assert_int_eq(v, 49152 - 64);
    ok(ptxiFuncGetAttribute(&v, PTXI_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, f));
    ck_assert_int_eq(v, 16);
    ok(ptxiFuncGetAttribute(&v, PTXI_FUNC_ATTRIBUTE_PTX_VERSION, f));
    ck_assert_int_eq(v, 90);
    ok(ptxiFuncGetAttribute(&v, PTXI_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel("bounded")));
    ck_assert_int_eq(v, 64);
    ok(ptxiFuncGetAttribute(&v, PTXI_FUNC_ATTRIBUTE_NUM_REGS, kernel("store")));
    ck_assert_int_ge(v, 1);
    ck_result(ptxiFuncGetAttribute(&v, PTXI_FUNC_ATTRIBUTE_MAX, f), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiFuncGetAttribute(&v, PTXI_FUNC_ATTRIBUTE_NUM_REGS, NULL), PTXI_ERROR_INVALID_HANDLE);
    ck_result(ptxiFuncSetAttribute(f, PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448),
              PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiFuncSetAttribute(f, PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, -1), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiFuncSetAttribute(f, PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448 - 64));
    ck_result(ptxiFuncSetAttribute(f, PTXI_FUNC_ATTRIBUTE_NUM_REGS, 5), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiFuncSetCacheConfig(f, (ptxiFuncCache)9), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiFuncSetCacheConfig(f, PTXI_FUNC_CACHE_PREFER_L1));
}
END_TEST

START_TEST(occupancy_matches_the_device)
{
    /* results of cuOccupancyMaxActiveBlocksPerMultiprocessor on an H200 for a kernel with few registers */
    static const struct { int block; size_t shared; int blocks; } rows[] = {
        { 32, 0, 32 }, { 64, 0, 32 }, { 128, 0, 16 }, { 1024, 0, 2 }, { 32, 1024, 32 }, { 32, 10000, 20 },
        { 32, 40000, 5 },
        { 32, 48000, 4 }, { 32, 49152, 4 },
    };
    int n;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ok(ptxiOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel("nothing"), rows[i].block, rows[i].shared));
        ck_assert_int_eq(n, rows[i].blocks);
    }
    ok(ptxiOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel("nothing"), 32, 49153));
    ck_assert_int_eq(n, 0);
    ck_result(ptxiOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel("nothing"), 0, 0), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

/* ---- launching */

START_TEST(launches_run)
{
    uint32_t v = 5, got[1024];
    void *params[] = { &mem, &v };

    ok(ptxiLaunchKernel(kernel("store"), 8, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    v = 77; /* parameters were copied at the launch */
    ok(ptxiMemcpyDtoH(got, mem, sizeof got));
    for (unsigned i = 0; i < 1024; i++)
        ck_bits32_at(got[i], 5 + i, "thread %u", i);
}
END_TEST

START_TEST(launches_from_a_buffer)
{
    struct { ptxiDevicePtr p; uint32_t v; } buffer = { mem, 3 };
    size_t bytes = 12;
    void *extra[] = { PTXI_LAUNCH_PARAM_BUFFER_SIZE, &bytes, PTXI_LAUNCH_PARAM_BUFFER_POINTER, &buffer,
                      PTXI_LAUNCH_PARAM_END };
    void *unknown[] = { (void *)7, &bytes, PTXI_LAUNCH_PARAM_END }, *none[] = { PTXI_LAUNCH_PARAM_END };
    void *params[] = { &buffer.p, &buffer.v }, *without_value[] = { &buffer.p, NULL };
    ptxiFunction f = kernel("store");
    uint32_t got;

    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    ok(ptxiMemcpyDtoH(&got, mem, 4));
    ck_bits32(got, 3);
    bytes = 8; /* the rest is zero */
    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    ok(ptxiMemcpyDtoH(&got, mem, 4));
    ck_bits32(got, 0);
    bytes = 0;
    extra[3] = NULL;
    ck_result(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), PTXI_ERROR_INVALID_VALUE);
    bytes = 1;
    ck_result(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), PTXI_ERROR_INVALID_VALUE);
    extra[3] = &buffer;
    bytes = 16;
    ck_result(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), PTXI_ERROR_LAUNCH_OUT_OF_RESOURCES);
    ck_result(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, unknown), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, none), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, without_value, NULL), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiLaunchKernel(kernel("nothing"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}
END_TEST

START_TEST(launches_check_their_shape)
{
    /* the result of the driver on an H200 */
    static const struct { const char *name; unsigned g[3], b[3], shared; ptxiResult want; } rows[] = {
        { "nothing", { 1, 1, 1 }, { 1, 1, 1 }, 0, PTXI_SUCCESS },
        { "nothing", { 1, 1, 1 }, { 1024, 1, 1 }, 49152, PTXI_SUCCESS },
        { "nothing", { 0, 1, 1 }, { 1, 1, 1 }, 0, PTXI_ERROR_INVALID_VALUE },
        { "nothing", { 1, 1, 1 }, { 0, 1, 1 }, 0, PTXI_ERROR_INVALID_VALUE },
        { "nothing", { 1, 1, 1 }, { 1025, 1, 1 }, 0, PTXI_ERROR_INVALID_VALUE },
        { "nothing", { 1, 1, 1 }, { 1, 1, 65 }, 0, PTXI_ERROR_INVALID_VALUE },
        { "nothing", { 1, 1, 1 }, { 64, 64, 1 }, 0, PTXI_ERROR_INVALID_VALUE },
        { "nothing", { 1, 65536, 1 }, { 1, 1, 1 }, 0, PTXI_ERROR_INVALID_VALUE },
        { "nothing", { 0x80000000u, 1, 1 }, { 1, 1, 1 }, 0, PTXI_ERROR_INVALID_VALUE },
        { "nothing", { 1, 1, 1 }, { 1, 1, 1 }, 49153, PTXI_ERROR_INVALID_VALUE },
        { "bounded", { 1, 1, 1 }, { 64, 1, 1 }, 0, PTXI_SUCCESS },
        { "bounded", { 1, 1, 1 }, { 65, 1, 1 }, 0, PTXI_ERROR_INVALID_VALUE },
        { "fixed", { 1, 1, 1 }, { 32, 2, 1 }, 0, PTXI_SUCCESS },
        { "fixed", { 1, 1, 1 }, { 64, 1, 1 }, 0, PTXI_ERROR_INVALID_VALUE },
        { "fixed", { 1, 1, 1 }, { 32, 1, 1 }, 0, PTXI_ERROR_INVALID_VALUE },
        { "clustered", { 2, 1, 1 }, { 32, 1, 1 }, 0, PTXI_SUCCESS },
        { "clustered", { 3, 1, 1 }, { 32, 1, 1 }, 0, PTXI_ERROR_INVALID_CLUSTER_SIZE },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_msg(ptxiLaunchKernel(kernel(rows[i].name), rows[i].g[0], rows[i].g[1], rows[i].g[2], rows[i].b[0],
                                       rows[i].b[1],
                                       rows[i].b[2], rows[i].shared, NULL, NULL, NULL) == rows[i].want, "row %zu", i);
    ck_result(ptxiLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), PTXI_ERROR_INVALID_HANDLE);
    ok(ptxiLaunchCooperativeKernel(kernel("nothing"), 132 * 32, 1, 1, 64, 1, 1, 0, NULL, NULL));
    ck_result(ptxiLaunchCooperativeKernel(kernel("nothing"), 132 * 32 + 1, 1, 1, 64, 1, 1, 0, NULL, NULL),
              PTXI_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    ck_result(ptxiLaunchCooperativeKernel(kernel("nothing"), 132 * 32, 1, 1, 65, 1, 1, 0, NULL, NULL),
              PTXI_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    ok(ptxiCtxSynchronize());
}
END_TEST

START_TEST(dynamic_shared_memory)
{
    void *params[] = { &mem };
    ptxiFunction f = kernel("shares");
    uint32_t got;

    ck_result(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 60000, NULL, params, NULL), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiFuncSetAttribute(f, PTXI_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000));
    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 60000, NULL, params, NULL));
    ok(ptxiMemcpyDtoH(&got, mem, 4));
    ck_bits32(got, 60000);
}
END_TEST

START_TEST(shared_memory_begins_after_the_reserved_part)
{
    static const uint32_t h200[] = { 0x400, 0x470, 1000, 0x480, 0x858, 0, 0x120, 0x400, 5 };
    uint32_t got[sizeof h200 / sizeof h200[0]];
    void *params[] = { &mem };

    ok(ptxiLaunchKernel(kernel("window"), 1, 1, 1, 1, 1, 1, 1000, NULL, params, NULL));
    ok(ptxiMemcpyDtoH(got, mem, sizeof got));
    for (size_t k = 0; k < sizeof h200 / sizeof h200[0]; k++)
        ck_bits32(got[k], h200[k]);
}
END_TEST

/* ---- failures */

START_TEST(a_bad_store_is_reported)
{
    ptxiDevicePtr p;
    uint32_t v = 0;
    void *params[] = { &p, &v };
    ptxiReport r = { .size = sizeof r };

    ok(ptxiMemAlloc(&p, 1000));
    ok(ptxiLaunchKernel(kernel("store"), 2, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    ck_result(ptxiCtxSynchronize(), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiCtxSynchronize());
    ok(ptxiGetLastReport(ctx, &r));
    ck_assert_int_eq(r.result, PTXI_ERROR_ILLEGAL_ADDRESS);
    ck_assert_int_eq(r.fault, PTXI_FAULT_OUT_OF_BOUNDS);
    ck_assert_int_eq(r.access, PTXI_ACCESS_WRITE);
    ck_assert_uint_eq(r.accessSize, 4);
    ck_assert_uint_eq(r.address, p + 1000);
    ck_assert_uint_eq(r.nearestBase, p);
    ck_assert_uint_eq(r.nearestSize, 1000);
    ck_assert_str_eq(r.kernel, "store");
    ck_assert_str_eq(r.function, "store");
    ck_assert_uint_eq(r.block[0], 1);
    ck_assert_uint_eq(r.thread[0], 122);
    ck_assert_str_eq(r.ptxFile, "<ptx>");
    ck_assert_uint_eq(r.ptxLine, 16);
    ck_assert_str_eq(r.sourceFile, "kernels.cu");
    ck_assert_uint_eq(r.sourceLine, 12);
    ck_assert_ptr_nonnull(strstr(r.text, "<ptx>:16:"));
    ck_assert_ptr_nonnull(strstr(r.text, "st.global.u32 [%rd3], %r1"));
    ck_assert_ptr_nonnull(strstr(r.text, "kernel store, block (1,0,0), thread (122,0,0)"));
    ck_assert_ptr_nonnull(strstr(r.text, "kernels.cu:12"));
    ck_assert_ptr_nonnull(strstr(r.text, "right after the end of the allocation of 1000 bytes"));
    ok(ptxiLaunchKernel(kernel("store"), 1, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    ok(ptxiCtxSynchronize());
}
END_TEST

START_TEST(every_kind_of_fault)
{
    ptxiDevicePtr released, odd = mem + 2, null = 0;
    uint32_t v = 0;
    void *freed[] = { &released, &v }, *misaligned[] = { &odd, &v }, *nothing[] = { &null, &v };
    ptxiReport r = { .size = sizeof r };

    ok(ptxiMemAlloc(&released, 1000));
    ok(ptxiMemFree(released));
    ok(ptxiCtxSetLimit(PTXI_LIMIT_INSTRUCTIONS, 10000000));
    const struct { const char *name; void **params; ptxiResult result; ptxiFault fault; } rows[] = {
        { "store", freed, PTXI_ERROR_ILLEGAL_ADDRESS, PTXI_FAULT_FREED },
        { "store", misaligned, PTXI_ERROR_MISALIGNED_ADDRESS, PTXI_FAULT_MISALIGNED },
        { "store", nothing, PTXI_ERROR_ILLEGAL_ADDRESS, PTXI_FAULT_NULL },
        { "writes_const", NULL, PTXI_ERROR_ILLEGAL_ADDRESS, PTXI_FAULT_READ_ONLY },
        { "trapped", NULL, PTXI_ERROR_LAUNCH_FAILED, PTXI_FAULT_TRAP },
        { "forever", NULL, PTXI_ERROR_LAUNCH_TIMEOUT, PTXI_FAULT_BUDGET },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_msg(run(rows[i].name, 1, 32, rows[i].params) == rows[i].result, "row %zu", i);
        ok(ptxiGetLastReport(NULL, &r));
        ck_assert_int_eq(r.result, rows[i].result);
        ck_assert_msg(r.fault == rows[i].fault, "row %zu: fault %d", i, r.fault);
        ck_assert_ptr_nonnull(strstr(r.text, rows[i].name));
        ok(run("nothing", 1, 32, NULL));
    }
}
END_TEST

START_TEST(the_time_limit_ends_a_kernel)
{
    ptxiReport r = { .size = sizeof r };

    ok(ptxiCtxSetLimit(PTXI_LIMIT_MILLISECONDS, 50));
    ck_result(run("forever", 4, 64, NULL), PTXI_ERROR_LAUNCH_TIMEOUT);
    ok(ptxiGetLastReport(NULL, &r));
    ck_assert_int_eq(r.fault, PTXI_FAULT_TIMEOUT);
    for (size_t ms = SIZE_MAX; ms >= SIZE_MAX / 1000000; ms /= 1000) { /* equivalent to no limit */
        ok(ptxiCtxSetLimit(PTXI_LIMIT_MILLISECONDS, ms));
        ok(run("nothing", 10000, 64, NULL));
    }
    ok(ptxiCtxSetLimit(PTXI_LIMIT_MILLISECONDS, 0));
    ok(run("nothing", 4, 64, NULL));
}
END_TEST

START_TEST(work_after_a_failure_is_dropped)
{
    uint32_t v = 0, got = 1;
    void *params[] = { &mem, &v };

    ok(ptxiMemsetD32(mem, 42, 1));
    ok(ptxiLaunchKernel(kernel("trapped"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    ok(ptxiLaunchKernel(kernel("store"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    ck_result(ptxiMemcpyDtoH(&got, mem, 4), PTXI_ERROR_LAUNCH_FAILED);
    ck_bits32(got, 1);
    ok(ptxiMemcpyDtoH(&got, mem, 4));
    ck_bits32(got, 42);
}
END_TEST

START_TEST(memory_ranges_and_checking)
{
    static uint32_t own[64];
    ptxiDevicePtr p = (uintptr_t)own;
    uint32_t v = 9;
    void *params[] = { &p, &v };

    ck_result(run("store", 1, 32, params), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiMemOpenRange(own, sizeof own, PTXI_RANGE_READ));
    ck_result(run("store", 1, 32, params), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiMemCloseRange(own));
    ok(ptxiMemOpenRange(own, sizeof own, PTXI_RANGE_READ | PTXI_RANGE_WRITE));
    ok(run("store", 1, 32, params));
    ck_bits32(own[31], 40);
    ok(ptxiMemCloseRange(own));
    ck_result(run("store", 1, 32, params), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiMemHostRegister(own, sizeof own, 0));
    v = 10;
    ok(run("store", 1, 32, params));
    ck_bits32(own[31], 41);
    ok(ptxiMemHostUnregister(own));
    ok(ptxiCtxSetChecking(NULL, 0));
    v = 11;
    ok(run("store", 1, 32, params));
    ck_bits32(own[31], 42);
    ok(ptxiCtxSetChecking(NULL, 1));
    ck_result(run("store", 1, 32, params), PTXI_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(ranges_may_overlap)
{
    static uint32_t own[64];
    const ptxiRange low = { own, 32 * sizeof *own, PTXI_RANGE_READ | PTXI_RANGE_WRITE };
    const ptxiRange rest[] = { { own + 48, 64, PTXI_RANGE_READ | PTXI_RANGE_WRITE },
                               { own + 16, 40 * sizeof *own, PTXI_RANGE_READ | PTXI_RANGE_WRITE },
                               { NULL, 0, PTXI_RANGE_READ },
                               { (void *)(uintptr_t)mem, 64, PTXI_RANGE_READ } };
    const ptxiRange readable = { own, sizeof own, PTXI_RANGE_READ };
    unsigned long long first, second, third;
    ptxiDevicePtr p = (uintptr_t)own;
    uint32_t v = 9;
    void *params[] = { &p, &v };

    ok(ptxiMemOpenRanges(&low, 1, &first));
    ck_result(run("store", 1, 64, params), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiMemOpenRanges(rest, 4, &second));
    ok(run("store", 1, 64, params));
    ok(ptxiMemOpenRanges(&readable, 1, &third)); /* needs less than what is open */
    ok(ptxiMemCloseRanges(first));
    ok(run("store", 1, 1, params)); /* the third range is the same memory */
    ok(ptxiMemCloseRanges(third));
    p += 16 * sizeof *own;
    ok(run("store", 1, 48, params));
    ok(ptxiMemCloseRanges(second));
    ck_result(run("store", 1, 1, params), PTXI_ERROR_ILLEGAL_ADDRESS);
    ck_result(ptxiMemCloseRanges(second), PTXI_ERROR_INVALID_VALUE);

    ok(ptxiMemOpenRanges(&readable, 1, &first));
    ck_result(ptxiMemOpenRanges(rest, 4, &second), PTXI_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    ok(ptxiMemCloseRanges(first));
    ok(ptxiMemHostRegister(own + 8, 32, 0));
    ck_result(ptxiMemOpenRanges(&readable, 1, &first), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemHostUnregister(own + 8));
    ck_result(ptxiMemOpenRanges(&(ptxiRange){ own, 4, 4 }, 1, &first), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemOpenRanges(&(ptxiRange){ NULL, 4, PTXI_RANGE_READ }, 1, &first), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemOpenRanges(NULL, 1, &first), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemOpenRanges(NULL, 0, &first));
    ok(ptxiMemCloseRanges(first));
}
END_TEST

START_TEST(a_launch_that_waits)
{
    static uint32_t own[64];
    struct { ptxiDevicePtr p; uint32_t v; } values = { (uintptr_t)own, 7 };
    ptxiRange ranges[] = { { own, sizeof own, PTXI_RANGE_READ | PTXI_RANGE_WRITE }, { own, 8, PTXI_RANGE_READ } };
    ptxiLaunchConfig config = { 2, 1, 1, 32, 1, 1, 0, NULL, NULL, 0 };
    ptxiDirectLaunch w = { .size = sizeof w, .config = &config, .f = kernel("store"), .params = &values,
                           .paramBytes = 12, .ranges = ranges, .rangeCount = 2 };
    ptxiContext context;

    ok(ptxiLaunchAndWait(&w));
    ck_assert(w.launched && own[0] == 7 && own[63] == 70);
    ok(ptxiCtxPopCurrent(&w.ctx)); /* no context is current: the launch names it */
    values.v = 8;
    ok(ptxiLaunchAndWait(&w));
    ck_bits32(own[63], 71);
    ok(ptxiCtxGetCurrent(&context));
    ck_assert(!context);
    ok(ptxiCtxPushCurrent(w.ctx));
    config.gridDimX = 3;
    ck_result(ptxiLaunchAndWait(&w), PTXI_ERROR_ILLEGAL_ADDRESS);
    ck_assert(w.launched);
    ok(ptxiCtxSynchronize()); /* the failure was returned */
    config.gridDimX = 2;
    w.rangeCount = 0;
    ck_result(ptxiLaunchAndWait(&w), PTXI_ERROR_ILLEGAL_ADDRESS);
    config.blockDimX = 0;
    ck_result(ptxiLaunchAndWait(&w), PTXI_ERROR_INVALID_VALUE);
    ck_assert(!w.launched);
    w = (ptxiDirectLaunch){ .size = sizeof w, .config = &config, .f = kernel("nothing") };
    config.blockDimX = 1;
    ok(ptxiLaunchAndWait(&w));
    w.size--;
    ck_result(ptxiLaunchAndWait(&w), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiLaunchAndWait(NULL), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

static void wait_until_set(void *flag)
{
    while (!atomic_load((_Atomic bool *)flag))
        sched_yield();
}

START_TEST(a_launch_that_does_not_wait)
{
    static uint32_t own[64];
    struct { ptxiDevicePtr p; uint32_t v; } values = { (uintptr_t)own, 7 };
    ptxiRange range = { own, sizeof own, PTXI_RANGE_READ | PTXI_RANGE_WRITE };
    ptxiLaunchConfig config = { 2, 1, 1, 32, 1, 1, 0, NULL, NULL, 0 };
    ptxiDirectLaunch l = { .size = sizeof l, .config = &config, .f = kernel("store"), .params = &values,
                           .paramBytes = 12, .ranges = &range, .rangeCount = 1 };
    _Atomic bool may_run = false;
    unsigned long long number, id;
    ptxiStream s;

    ok(ptxiStreamCreate(&s, 0));
    config.hStream = s;
    ok(ptxiLaunchHostFunc(s, wait_until_set, &may_run));
    ok(ptxiLaunchAsync(&l));
    number = l.number;
    values.v = 8; /* the values and the structure are the caller's again */
    ok(ptxiLaunchAsync(&l));
    ck_assert(l.launched && number == 2 && l.number == 3 && l.ended == 0);
    atomic_store(&may_run, true);
    ok(ptxiStreamSynchronize(s));
    ck_assert(own[0] == 8 && own[63] == 71);
    l.rangeCount = 0; /* the launches have closed the memory */
    ok(ptxiLaunchAsync(&l));
    ck_result(ptxiStreamSynchronize(s), PTXI_ERROR_ILLEGAL_ADDRESS);
    ck_assert(l.number == 4 && l.ended == 3);

    atomic_store(&may_run, false);
    ok(ptxiLaunchHostFunc(s, wait_until_set, &may_run));
    values.p = 0;
    ok(ptxiLaunchAsync(&l));
    l.rangeCount = 1; /* this one is dropped, because the one before fails, and closes the memory too */
    ok(ptxiLaunchAsync(&l));
    ck_result(ptxiMemHostRegister(own, sizeof own, 0), PTXI_ERROR_INVALID_VALUE); /* it is open */
    atomic_store(&may_run, true);
    ck_result(ptxiStreamSynchronize(s), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiMemHostRegister(own, sizeof own, 0));
    ok(ptxiMemHostUnregister(own));

    config.blockDimX = 0;
    ck_result(ptxiLaunchAsync(&l), PTXI_ERROR_INVALID_VALUE);
    ck_assert(!l.launched);
    ok(ptxiMemHostRegister(own, sizeof own, 0));
    ok(ptxiMemHostUnregister(own));
    ok(ptxiMemOpenRanges(&(ptxiRange){ own, 4, PTXI_RANGE_READ }, 1, &id));
    config.blockDimX = 32;
    ck_result(ptxiLaunchAsync(&l), PTXI_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    ok(ptxiMemCloseRanges(id));
    l.size--;
    ck_result(ptxiLaunchAsync(&l), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiLaunchAsync(NULL), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiStreamDestroy(s));
}
END_TEST

START_TEST(a_captured_launch_opens_no_memory)
{
    static uint32_t own[64];
    struct { ptxiDevicePtr p; uint32_t v; } values = { (uintptr_t)own, 7 };
    ptxiRange range = { own, sizeof own, PTXI_RANGE_READ | PTXI_RANGE_WRITE };
    ptxiLaunchConfig config = { 2, 1, 1, 32, 1, 1, 0, NULL, NULL, 0 };
    ptxiDirectLaunch l = { .size = sizeof l, .config = &config, .f = kernel("store"), .params = &values,
                           .paramBytes = 12, .ranges = &range, .rangeCount = 1 };
    ptxiGraph graph;

    ok(ptxiStreamCreate(&config.hStream, 0));
    ok(ptxiStreamBeginCapture(config.hStream, PTXI_STREAM_CAPTURE_MODE_RELAXED));
    ck_result(ptxiLaunchAsync(&l), PTXI_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    l.rangeCount = 0;
    ok(ptxiLaunchAsync(&l));
    ok(ptxiStreamEndCapture(config.hStream, &graph));
    ok(ptxiGraphDestroy(graph));
    ok(ptxiMemHostRegister(own, sizeof own, 0));
    ok(ptxiMemHostUnregister(own));
    ok(ptxiStreamDestroy(config.hStream));
}
END_TEST

/* ---- settings */

struct sink {
    char text[100000];
    size_t size;
    ptxiResult inner_result;
};

static void collect_output(void *user, const char *text, size_t length)
{
    struct sink *s = user;

    memcpy(s->text + s->size, text, length);
    s->size += length;
    s->inner_result = ptxiCtxSynchronize();
}

START_TEST(output_goes_to_the_sink)
{
    static struct sink s;
    uint32_t v = 1234;
    void *params[] = { &v };

    ok(ptxiCtxSetOutput(NULL, collect_output, &s));
    ok(run("prints", 3, 50, params));
    ck_assert_uint_eq(s.size, 3 * 50 * 5);
    for (size_t i = 0; i < s.size; i += 5)
        ck_assert_mem_eq(s.text + i, "1234\n", 5);
    ck_result(s.inner_result, PTXI_ERROR_NOT_PERMITTED);
    ok(ptxiCtxSetOutput(NULL, NULL, NULL));
}
END_TEST

/* The text of one conversion is truncated at 4095 characters, whatever the format requests. */
START_TEST(wide_output_is_truncated)
{
    static const struct { const char *format; size_t size; } wide[] = {
        { "%2000000000u|", 4096 }, { "%.2000000000u|", 4096 }, { "%.2000000000f|", 4096 }, { "%99999999999999999999u|",
                4096 },
        { "%*u|", 10 }, { "%-00000000000000007u|", 8 }, { "%.*u|", 5 }, { "%4096.4096u|", 4096 }, { "%4095.2u|", 4096 }
    };
    static struct sink s;
    ptxiDevicePtr format;
    uint32_t v = 9;
    void *params[] = { &v };

    ok(ptxiCtxSetOutput(NULL, collect_output, &s));
    ok(ptxiModuleGetGlobal(&format, NULL, module, "format"));
    for (size_t k = 0; k < sizeof wide / sizeof *wide; k++) {
        s.size = 0;
        ok(ptxiMemcpyHtoD(format, wide[k].format, strlen(wide[k].format) + 1));
        ok(run("prints", 1, 1, params));
        ck_assert_uint_eq(s.size, wide[k].size);
    }
    ok(ptxiCtxSetOutput(NULL, NULL, NULL));
}
END_TEST

struct progress {
    unsigned times;
    unsigned long long done, blocks;
    ptxiResult inner_result;
};

static void record_progress(void *user, unsigned long long done, unsigned long long blocks)
{
    struct progress *t = user;

    t->times++;
    t->done = done;
    t->blocks = blocks;
    t->inner_result = ptxiCtxSynchronize();
}

START_TEST(progress_is_reported)
{
    struct progress t = { 0 };

    ok(ptxiCtxSetProgress(NULL, record_progress, &t));
    ok(run("nothing", 4, 64, NULL));
    ck_assert_uint_eq(t.times, 0);
    ok(ptxiCtxSetLimit(PTXI_LIMIT_MILLISECONDS, 400));
    ck_result(run("forever", 4, 64, NULL), PTXI_ERROR_LAUNCH_TIMEOUT);
    ck_assert_uint_ge(t.times, 1);
    ck_assert_uint_le(t.times, 10);
    ck_assert_uint_eq(t.done, 0);
    ck_assert_uint_eq(t.blocks, 4);
    ck_result(t.inner_result, PTXI_ERROR_NOT_PERMITTED);
    t.times = 0;
    ok(ptxiCtxSetProgress(NULL, NULL, NULL));
    ck_result(run("forever", 4, 64, NULL), PTXI_ERROR_LAUNCH_TIMEOUT);
    ck_assert_uint_eq(t.times, 0);
}
END_TEST

/* Starts endless launches in two streams and in a graph, with one launch after each, and one launch that is not
 * interrupted. */
static void launch_forever(ptxiStream *s)
{
    ptxiFunction f;
    ptxiGraph g;
    ptxiGraphExec x;

    ok(ptxiModuleGetFunction(&f, module, "forever"));
    for (int k = 0; k < 2; k++)
        ok(ptxiLaunchKernel(f, 4, 1, 1, 64, 1, 1, 0, s[k], NULL, NULL));
    ok(ptxiLaunchKernel(f, 4, 1, 1, 64, 1, 1, 0, s[0], NULL, NULL));
    ok(ptxiStreamBeginCapture(s[2], PTXI_STREAM_CAPTURE_MODE_GLOBAL));
    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s[2], NULL, NULL));
    ok(ptxiStreamEndCapture(s[2], &g));
    ok(ptxiGraphInstantiate(&x, g, 0));
    ok(ptxiGraphLaunch(x, s[2]));
    ok(ptxiGraphExecDestroy(x));
    ok(ptxiGraphDestroy(g));
}

static void *interrupt(void *named)
{
    usleep(30000);
    return (void *)(uintptr_t)ptxiCtxInterrupt(named);
}

START_TEST(launches_are_interrupted)
{
    ptxiReport r = { .size = sizeof r };
    ptxiStream s[3];
    pthread_t t;
    void *result;

    for (int k = 0; k < 3; k++)
        ok(ptxiStreamCreate(&s[k], PTXI_STREAM_NON_BLOCKING));
    launch_forever(s);
    ck_assert_int_eq(pthread_create(&t, NULL, interrupt, ctx), 0);
    for (int k = 0; k < 3; k++) {
        ck_result(ptxiStreamSynchronize(s[k]), PTXI_ERROR_LAUNCH_TIMEOUT);
        ok(ptxiGetLastReport(NULL, &r));
        ck_assert_int_eq(r.fault, PTXI_FAULT_INTERRUPTED);
        ck_assert_str_eq(r.kernel, "forever");
        ok(ptxiStreamDestroy(s[k]));
    }
    ck_assert_int_eq(pthread_join(t, &result), 0);
    ck_assert_ptr_null(result);
    ok(run("nothing", 4, 64, NULL));
    ck_result(ptxiCtxInterrupt((ptxiContext)&s), PTXI_ERROR_INVALID_CONTEXT);
}
END_TEST

/* The messages of one pipe end the wait for an endless kernel. */
static void *read_messages(void *argument)
{
    ptxiWatch *watch = argument;
    struct pollfd p = { .fd = watch->fd, .events = POLLIN };
    unsigned long long number;
    ptxiResult r;
    char byte;

    while (poll(&p, 1, -1) == 1) {
        if ((r = ptxiWatchGetWait(watch, &number)) || read(watch->fd, &byte, 1) != 1)
            return (void *)(uintptr_t)(r ? r : PTXI_ERROR_UNKNOWN);
        if ((r = ptxiWatchInterrupt(watch, number)) || byte == 'e')
            break;
    }
    return (void *)(uintptr_t)r;
}

static void *send_message(void *fd)
{
    usleep(30000);
    return (void *)(uintptr_t)(write(*(int *)fd, "e", 1) != 1);
}

START_TEST(waits_are_watched)
{
    ptxiLaunchConfig config = { 1, 1, 1, 1, 1, 1, 0, NULL, NULL, 0 };
    ptxiDirectLaunch w = { .size = sizeof w, .ctx = ctx, .config = &config, .f = kernel("nothing") };
    ptxiReport report = { .size = sizeof report };
    pthread_t reader, sender;
    unsigned long long number;
    void *result;
    int fd[2];

    ck_assert_int_eq(pipe(fd), 0);
    ptxiWatch watch = { .fd = fd[0] }, none = { .fd = -1 };

    ok(ptxiLaunchWatched(&w, NULL));
    ok(ptxiLaunchWatched(&w, &none));
    ok(ptxiLaunchWatched(&w, &watch));
    ok(ptxiWatchGetWait(&watch, &number));
    ck_assert(number == 0 && watch.number == 1 && !watch.ctx);
    ok(ptxiWatchBegin(&watch, ctx)); /* a wait in which another one begins and ends */
    ok(ptxiLaunchWatched(&w, &watch));
    ck_assert(watch.ctx == ctx && watch.number == 3);
    ok(ptxiWatchInterrupt(&watch, 2)); /* it has ended */
    ok(ptxiWatchEnd(&watch, NULL));
    ck_assert_int_eq(write(fd[1], "s", 1), 1); /* a message keeps waits from beginning */
    ck_result(ptxiLaunchWatched(&w, &watch), PTXI_ERROR_NOT_READY);
    ck_result(ptxiWatchBegin(&watch, ctx), PTXI_ERROR_NOT_READY);
    ck_assert(!w.launched && !watch.ctx && watch.number == 3);

    ck_assert_int_eq(pthread_create(&reader, NULL, read_messages, &watch), 0);
    while (ptxiLaunchWatched(&w, &watch) == PTXI_ERROR_NOT_READY)
        sched_yield();
    ck_assert(w.launched);
    w.f = kernel("forever");
    ck_assert_int_eq(pthread_create(&sender, NULL, send_message, &fd[1]), 0);
    ck_result(ptxiLaunchWatched(&w, &watch), PTXI_ERROR_LAUNCH_TIMEOUT);
    ok(ptxiGetLastReport(NULL, &report));
    ck_assert_int_eq(report.fault, PTXI_FAULT_INTERRUPTED);
    ck_assert_int_eq(pthread_join(sender, &result), 0);
    ck_assert_ptr_null(result);
    ck_assert_int_eq(pthread_join(reader, &result), 0);
    ck_assert_ptr_null(result);
    ck_result(ptxiWatchBegin(NULL, ctx), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiWatchBegin(&watch, NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiWatchEnd(NULL, NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiWatchGetWait(&watch, NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiWatchInterrupt(NULL, 1), PTXI_ERROR_INVALID_VALUE);
    close(fd[0]);
    close(fd[1]);
}
END_TEST

START_TEST(workers_can_be_chosen)
{
    unsigned n;
    uint32_t v = 5, got[1024];
    void *params[] = { &mem, &v };

    ck_result(ptxiCtxSetWorkers(NULL, 1025), PTXI_ERROR_INVALID_VALUE);
    for (unsigned w = 1; w <= 5; w += 2) {
        ok(ptxiCtxSetWorkers(NULL, w));
        ok(ptxiCtxGetWorkers(NULL, &n));
        ck_assert_uint_eq(n, w);
        ok(ptxiMemsetD8(mem, 0, 4096));
        ok(run("store", 32, 32, params));
        ok(ptxiMemcpyDtoH(got, mem, sizeof got));
        for (unsigned i = 0; i < 1024; i++)
            ck_bits32_at(got[i], 5 + i, "thread %u, %u workers", i, w);
    }
    ok(ptxiCtxSetWorkers(ctx, 0));
}
END_TEST

START_TEST(counters_count)
{
    ptxiCounters c = { .size = sizeof c };
    uint32_t v = 5;
    void *params[] = { &mem, &v };

    ok(run("store", 2, 48, params));
    ok(ptxiCtxGetCounters(NULL, &c));
    ck_assert_uint_eq(c.launches, 0);
    ok(ptxiCtxSetCounting(NULL, 1));
    ok(run("store", 2, 48, params));
    ok(run("nothing", 1, 32, NULL));
    ok(ptxiCtxSetCounting(NULL, 0));
    ok(run("store", 2, 48, params));
    ok(ptxiCtxGetCounters(NULL, &c));
    ck_assert_uint_eq(c.launches, 2);
    ck_assert_uint_eq(c.blocks, 3);
    ck_assert_uint_eq(c.threads, 128);
    /* `store` is 11 instructions as written and `nothing` is 1. A compiler may make them fewer. */
    ck_assert_uint_ge(c.warpInstructions, 4 * 3);
    ck_assert_uint_le(c.warpInstructions, 4 * 11 + 1);
    ck_assert_uint_ge(c.threadInstructions, 96 * 3);
    ck_assert_uint_le(c.threadInstructions, 96 * 11 + 32);
    ok(ptxiCtxResetCounters(NULL));
    ok(ptxiCtxGetCounters(NULL, &c));
    ck_assert_uint_eq(c.threads, 0);
    c.size = 1;
    ck_result(ptxiCtxGetCounters(NULL, &c), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

/* ---- several threads */

static void *launch_many(void *p)
{
    ptxiStream s;
    uint32_t v = (uint32_t)(uintptr_t)p, got[64];
    ptxiDevicePtr m;
    ptxiFunction f;
    void *params[] = { &m, &v };

    if (ptxiCtxSetCurrent(ctx) || ptxiStreamCreate(&s, PTXI_STREAM_NON_BLOCKING) || ptxiMemAlloc(&m, sizeof got) ||
        ptxiModuleGetFunction(&f, module, "store"))
        return (void *)1;
    for (int i = 0; i < 300; i++) {
        v += 1000;
        if (ptxiLaunchKernel(f, 2, 1, 1, 32, 1, 1, 0, s, params, NULL) || ptxiMemcpyDtoHAsync(got, m, sizeof got, s) ||
            ptxiStreamSynchronize(s))
            return (void *)2;
        for (unsigned k = 0; k < 64; k++)
            if (got[k] != v + k)
                return (void *)3;
    }
    return NULL;
}

START_TEST(threads_share_a_module)
{
    pthread_t t[6];

    for (uintptr_t i = 0; i < 6; i++)
        pthread_create(&t[i], NULL, launch_many, (void *)(i * 7));
    for (int i = 0; i < 6; i++) {
        void *bad;

        pthread_join(t[i], &bad);
        ck_assert_ptr_null(bad);
    }
}
END_TEST

static _Atomic int calls;

static void count_call(void *unused)
{
    (void)unused;
    calls++;
}

START_TEST(a_long_queue_drains)
{
    ptxiDevicePtr p;
    uint32_t v;

    ok(ptxiModuleGetGlobal(&p, NULL, module, "counter"));
    for (int i = 0; i < 2000; i++) {
        ok(ptxiLaunchKernel(kernel("count"), 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
        ok(ptxiLaunchHostFunc(NULL, count_call, NULL));
    }
    ok(ptxiMemcpyDtoH(&v, p, 4));
    ck_bits32(v, 7 + 2000 * 32);
    ck_assert_int_eq(calls, 2000);
}
END_TEST

/* PTX ISA, "Data Movement and Conversion Instructions: cvt": the random bits of each operand, and .b8 registers. */
START_TEST(conversions_of_two_and_four_elements)
{
    const char *text = test_file("api/launch/launch_conversions.ptx");
    /* For 1.2, -0.3, 2.4 and 5.5, the distance from the next lower number in units of the distance between its
     * neighbors is 0.4, 0.6, 0.4 and 0.75 in e2m1, and 0.6, 0.6, 0.6 and 0 in e4m3. */
    static const uint32_t in[6] = { 0x3f99999a, 0xbe99999a, 0x4019999a, 0x40b00000, 0xffff1234, 0 };
    static const uint32_t want[6] = { 0x3f993856, 0x3aaa414b, 0x3ccdb4cd, 0x3f9a0000, 0xffff1220, 0x3c000000 };
    void *params[] = { &mem };
    ptxiFunction f;
    ptxiModule m;
    uint32_t got[6];

    ok(ptxiModuleLoadData(&m, text));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiMemcpyHtoD(mem, in, sizeof in));
    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    ok(ptxiMemcpyDtoH(got, mem, sizeof got));
    for (int k = 0; k < 6; k++)
        ck_bits32_at(got[k], want[k], "word %d", k);
    ok(ptxiModuleUnload(m));
}
END_TEST

/* Address registers that are narrower than addresses, vectors of registers with other types than their elements,
 * and registers that are wider than results and sources. The expected values are those of ptxas. */
START_TEST(operands_with_other_types)
{
    const char *text = test_file("api/launch/launch_operand_types.ptx");
    static const uint32_t want[14] = { 24, 16, 40, 20, 4, 77, 1024 + 32, 77, 1024 + 44, 1024 + 40, 0x3e003e00, 0, 0,
                                       0 };
    void *params[] = { &mem };
    ptxiFunction f;
    ptxiModule m;
    uint32_t got[14];

    ok(ptxiModuleLoadData(&m, text));
    ok(ptxiModuleGetFunction(&f, m, "k"));
    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    ok(ptxiMemcpyDtoH(got, mem, sizeof got));
    for (int k = 0; k < 14; k++)
        ck_bits32_at(got[k], want[k], "word %d", k);
    ok(ptxiModuleUnload(m));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("launch");
    TCase *t = tcase_create("launch");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, function_attributes);
    tcase_add_test(t, occupancy_matches_the_device);
    tcase_add_test(t, launches_run);
    tcase_add_test(t, launches_from_a_buffer);
    tcase_add_test(t, launches_check_their_shape);
    tcase_add_test(t, dynamic_shared_memory);
    tcase_add_test(t, shared_memory_begins_after_the_reserved_part);
    tcase_add_test(t, a_bad_store_is_reported);
    tcase_add_test(t, every_kind_of_fault);
    tcase_add_test(t, the_time_limit_ends_a_kernel);
    tcase_add_test(t, work_after_a_failure_is_dropped);
    tcase_add_test(t, memory_ranges_and_checking);
    tcase_add_test(t, ranges_may_overlap);
    tcase_add_test(t, a_launch_that_waits);
    tcase_add_test(t, a_launch_that_does_not_wait);
    tcase_add_test(t, a_captured_launch_opens_no_memory);
    tcase_add_test(t, output_goes_to_the_sink);
    tcase_add_test(t, wide_output_is_truncated);
    tcase_add_test(t, progress_is_reported);
    tcase_add_test(t, launches_are_interrupted);
    tcase_add_test(t, waits_are_watched);
    tcase_add_test(t, workers_can_be_chosen);
    tcase_add_test(t, counters_count);
    tcase_add_test(t, threads_share_a_module);
    tcase_add_test(t, a_long_queue_drains);
    tcase_add_test(t, conversions_of_two_and_four_elements);
    tcase_add_test(t, operands_with_other_types);
    suite_add_tcase(s, t);
    return run_suite(s);
}
