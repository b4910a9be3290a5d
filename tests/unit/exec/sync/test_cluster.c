/* Tests clusters: positions of CTAs, distributed shared memory, the cluster barrier and multicast. PTX ISA, "Grid of
 * Clusters", "Data Movement and Conversion Instructions: mapa", "Parallel Synchronization and Communication
 * Instructions: barrier.cluster". */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

#include <stdio.h>
#include <string.h>

/* Grids of 8 x 2 CTAs with 32 threads in clusters of 4 x 2: ranks 0 to 7, two clusters. */
enum { GRID_X = 8, GRID_Y = 2, THREADS = 32, ALL = GRID_X * GRID_Y * THREADS, MAX_BYTES = 64 * 1024 };

static ptxiModule module;
static ptxiDevicePtr mem;

static void set_up(void)
{
    open_context();
    ok(ptxiModuleLoadData(&module, test_file("exec/sync/cluster.ptx")));
    ok(ptxiMemAlloc(&mem, MAX_BYTES));
    ok(ptxiMemsetD8(mem, 0, MAX_BYTES));
}

static ptxiResult launch(const char *name, unsigned x, unsigned y, unsigned threads, unsigned cx, unsigned cy)
{
    ptxiLaunchAttribute a = { .id = PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = { cx, cy, 1 } };
    ptxiLaunchConfig c = { x, y, 1, threads, 1, 1, 0, NULL, &a, cx != 0 };
    void *params[] = { &mem };
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, module, name));
    return ptxiLaunchKernelEx(&c, f, params, NULL);
}

static uint32_t rank(uint32_t t) { uint32_t c = t / THREADS; return c % GRID_X % 4 + c / GRID_X * 4; }
static uint32_t next_rank(uint32_t t) { return (rank(t) + 1) % 8; }
static uint32_t before(uint32_t t) { return (rank(t) + 7) % 8; }

static uint32_t places(uint32_t t)
{
    uint32_t c = t / THREADS, x = c % GRID_X, y = c / GRID_X;

    return ((((((x % 4 * 10 + y) * 10 + x / 4) * 10 + 2) * 10 + 4) * 10 + 8) * 10 + rank(t)) * 10 + 1;
}
static uint32_t next_word(uint32_t t) { return 100 + next_rank(t); }
static uint32_t own_word(uint32_t t) { return 100 + rank(t); }
static uint32_t stored(uint32_t t)
{
    uint32_t x = t / THREADS % GRID_X / 4 * 4 + before(t) % 4, y = before(t) / 4;

    return x + y * GRID_X + t % THREADS;
}
static uint32_t all_threads(uint32_t t) { return (void)t, 8 * THREADS; }
static uint32_t ranks(uint32_t t) { return ((next_rank(t) * 10 + rank(t)) * 10 + next_rank(t)) * 100 + 10; }
static uint32_t chain(uint32_t t) { return rank(t) + 1; }
static uint32_t second(uint32_t t) { return (void)t, 22; }
static uint32_t word_before(uint32_t t) { return 100 + before(t); }
static uint32_t word_of_even(uint32_t t) { return rank(t) * 1000 + 100 + rank(t) / 2 * 2; }
static uint32_t divergent_lanes(uint32_t t) { return 320000000 + (t % 4 + 1) * 1100000 + 22000 + ((t % 32) ^ 5) + 10; }
static uint32_t pushed(uint32_t t) { return before(t) * 11 * 1000 + 107 + rank(t); }
static uint32_t even(uint32_t t) { return rank(t) % 2 ? 0 : 5; }

START_TEST(ctas_of_a_cluster_meet)
{
    static const struct { const char *name; uint32_t (*expect)(uint32_t); } rows[] = {
        { "places", places }, { "load", next_word }, { "generic_load", next_word }, { "own_load", own_word },
        { "store", stored },
        { "count", all_threads }, { "ranks", ranks }, { "remote_arrive", chain }, { "multicast", second },
        { "push", pushed }, { "narrow", next_word },
        { "passed_on", word_before }, { "peer", word_of_even }, { "own_ways", divergent_lanes }, { "leave", even },
    };
    static uint32_t out[ALL];

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        ok(ptxiMemsetD8(mem, 0, MAX_BYTES));
        ok(launch(rows[k].name, GRID_X, GRID_Y, THREADS, 4, 2));
        ok(ptxiMemcpyDtoH(out, mem, sizeof out));
        for (uint32_t t = 0; t < ALL; t++)
            ck_assert_msg(out[t] == rows[k].expect(t), "%s: thread %u has %u, not %u", rows[k].name, t, out[t],
                          rows[k].expect(t));
    }
}
END_TEST

START_TEST(many_clusters)
{
    static uint32_t out[MAX_BYTES / 4];

    ok(launch("store", MAX_BYTES / 4 / THREADS, 1, THREADS, 8, 1));
    ok(ptxiMemcpyDtoH(out, mem, sizeof out));
    for (uint32_t t = 0; t < MAX_BYTES / 4; t++)
        ck_assert_uint_eq(out[t], t / THREADS / 8 * 8 + (t / THREADS + 7) % 8 + t % THREADS);
}
END_TEST

START_TEST(shapes_are_checked)
{
    ptxiFunction f;
    uint32_t out[4];

    ck_result(launch("places", GRID_X, GRID_Y, THREADS, 3, 1), PTXI_ERROR_INVALID_CLUSTER_SIZE);
    ck_result(launch("places", 32, 1, THREADS, 16, 1), PTXI_ERROR_INVALID_CLUSTER_SIZE);
    ok(ptxiModuleGetFunction(&f, module, "load"));
    ok(ptxiFuncSetAttribute(f, PTXI_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    ok(launch("count", 8, 1, THREADS, 8, 1));
    ck_result(launch("small", 8, 1, THREADS, 8, 1), PTXI_ERROR_INVALID_CLUSTER_SIZE);
    ok(launch("small", 8, 1, THREADS, 4, 1));
    ck_result(launch("must", 8, 1, THREADS, 0, 0), PTXI_ERROR_INVALID_CLUSTER_SIZE);
    ok(launch("must", 8, 1, THREADS, 2, 1));
    ck_result(launch("fixed", 4, 1, 1, 4, 1), PTXI_ERROR_INVALID_CLUSTER_SIZE);
    ok(launch("fixed", 4, 1, 1, 0, 0));
    ok(ptxiMemcpyDtoH(out, mem, sizeof out));
    for (uint32_t k = 0; k < 4; k++)
        ck_assert_uint_eq(out[k], k % 2 + 1);
    ok(launch("units", 2, 1, 1, 0, 0));
    ok(ptxiMemcpyDtoH(out, mem, sizeof out));
    for (uint32_t k = 0; k < 4; k++)
        ck_assert_uint_eq(out[k], 4);
    ck_result(ptxiLaunchKernelEx(NULL, f, NULL, NULL), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

/* As CUDA's driver answers on an H200. */
START_TEST(attributes_are_checked)
{
    static const struct { int id; unsigned value[3], preferred[3]; ptxiResult result; } rows[] = {
        { PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, { 0, 0, 0 }, { 0 }, PTXI_SUCCESS },
        { PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, { 0, 1, 1 }, { 0 }, PTXI_ERROR_INVALID_CLUSTER_SIZE },
        { PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, { 2, 1, 1 }, { 4, 1, 1 }, PTXI_SUCCESS },
        { PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, { 2, 1, 1 }, { 3, 1, 1 }, PTXI_ERROR_INVALID_CLUSTER_SIZE },
        { PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, { 2, 1, 1 }, { 2, 2, 1 }, PTXI_ERROR_INVALID_CLUSTER_SIZE },
        { PTXI_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, { 4, 1, 1 }, { 0 }, PTXI_ERROR_INVALID_CLUSTER_SIZE },
        { PTXI_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, { 1 }, { 0 }, PTXI_ERROR_INVALID_VALUE },
        { PTXI_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, { 2 }, { 0 }, PTXI_SUCCESS },
        { PTXI_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, { 9 }, { 0 }, PTXI_ERROR_INVALID_VALUE },
        { PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, { 1 }, { 0 }, PTXI_SUCCESS },
        { PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, { 2 }, { 0 }, PTXI_ERROR_INVALID_VALUE },
        { PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, { 0x100 }, { 0 }, PTXI_SUCCESS },
        { PTXI_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, { 0x909 }, { 0 }, PTXI_ERROR_INVALID_VALUE },
        { PTXI_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, { 50 }, { 0 }, PTXI_SUCCESS },
        { PTXI_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, { 200 }, { 0 }, PTXI_ERROR_INVALID_VALUE },
        { 15, { 0 }, { 0 }, PTXI_ERROR_INVALID_VALUE }, { 16, { 0 }, { 0 }, PTXI_SUCCESS }, { 17, { 0 }, { 0 },
                PTXI_ERROR_INVALID_VALUE },
    };
    ptxiLaunchAttribute a[2] = { { .id = (ptxiLaunchAttributeID)rows[_i].id },
                                 { .id = PTXI_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION } };
    ptxiLaunchConfig c = { .gridDimX = 4, .gridDimY = 1, .gridDimZ = 1, .blockDimX = THREADS, .blockDimY = 1,
                           .blockDimZ = 1, .attrs = a, .numAttrs = rows[_i].preferred[0] ? 2 : 1 };
    ptxiFunction f;

    memcpy(&a[0].value, rows[_i].value, sizeof rows[_i].value);
    memcpy(&a[1].value, rows[_i].preferred, sizeof rows[_i].preferred);
    ok(ptxiModuleGetFunction(&f, module, "places"));
    ck_result(ptxiLaunchKernelEx(&c, f, (void *[]){ &mem }, NULL), rows[_i].result);
}
END_TEST

START_TEST(misuse_is_reported)
{
    static const struct { const char *name; ptxiFault fault; const char *report_words; } rows[] = {
        { "twice", PTXI_FAULT_BARRIER, "arrives twice at the cluster barrier" },
        { "alone", PTXI_FAULT_DEADLOCK, "wait for the cluster barrier" },
        { "not_cta", PTXI_FAULT_OTHER_BLOCK_SHARED, "beyond the block's shared memory" },
        { "no_rank", PTXI_FAULT_OTHER_BLOCK_SHARED, "goes to a rank that the cluster does not have" },
    };
    ptxiReport report = { .size = sizeof report };

    ok(launch(rows[_i].name, GRID_X, GRID_Y, THREADS, 4, 2));
    ck_assert_int_ne(ptxiCtxSynchronize(), PTXI_SUCCESS);
    ok(ptxiGetLastReport(NULL, &report));
    ck_assert_msg(report.fault == rows[_i].fault && strstr(report.text, rows[_i].report_words), "%s: %s", rows[_i].name,
                  report.text);
}
END_TEST

/* Programmatic dependent launches: the second grid may begin before the first one has ended. It waits for the first one
 * and adds to its results. Also tests the events of such launches. */
static const char dependent[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry first(.param .u64 p) { .reg .b64 %rd<4>; .reg .b32 %r<4>; ld.param.u64 %rd1, [p]; "
    "mov.u32 %r0, %tid.x; mul.wide.u32 %rd2, %r0, 4; add.u64 %rd1, %rd1, %rd2;\n"
    "  griddepcontrol.launch_dependents; add.u32 %r1, %r0, 7; st.global.u32 [%rd1], %r1; ret; }\n"
    ".visible .entry second(.param .u64 p) { .reg .b64 %rd<4>; .reg .b32 %r<4>; ld.param.u64 %rd1, [p]; "
    "mov.u32 %r0, %tid.x; mul.wide.u32 %rd2, %r0, 4; add.u64 %rd1, %rd1, %rd2;\n"
    "  griddepcontrol.wait; ld.global.u32 %r1, [%rd1]; mul.lo.u32 %r1, %r1, 3; st.global.u32 [%rd1], %r1; "
    "griddepcontrol.launch_dependents; ret; }\n";

static ptxiResult launch_with(const char *name, ptxiStream s, ptxiLaunchAttribute a)
{
    ptxiLaunchConfig c = { 1, 1, 1, THREADS, 1, 1, 0, s, &a, 1 };
    void *params[] = { &mem };
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, module, name));
    return ptxiLaunchKernelEx(&c, f, params, NULL);
}

START_TEST(dependent_grids)
{
    ptxiLaunchAttribute serial = { .id = PTXI_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                   .value.programmaticStreamSerializationAllowed = 1 }, a;
    ptxiStream one, two;
    ptxiEvent event, timed;
    uint32_t out[THREADS];

    ok(ptxiModuleLoadData(&module, dependent));
    ok(ptxiStreamCreate(&one, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiStreamCreate(&two, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiEventCreate(&event, PTXI_EVENT_DISABLE_TIMING));
    ok(ptxiEventCreate(&timed, 0));
    for (int k = 0; k < 2; k++) {
        a = k ? (ptxiLaunchAttribute){ .id = PTXI_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
                                       .value.programmaticEvent = { timed, 0, 1 } }
              : (ptxiLaunchAttribute){ .id = PTXI_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
                                       .value.launchCompletionEvent = { timed, 0 } };
        ck_result(launch_with("first", one, a), PTXI_ERROR_NOT_SUPPORTED);
        if (k)
            a.value.programmaticEvent.event = event;
        else
            a.value.launchCompletionEvent.event = event;
        ok(launch_with("first", one, a));
        ok(ptxiStreamWaitEvent(two, event, 0));
        ok(launch_with("second", two, serial));
        ok(launch_with("second", two, serial));
        ok(ptxiStreamSynchronize(two));
        ok(ptxiMemcpyDtoH(out, mem, sizeof out));
        for (uint32_t t = 0; t < THREADS; t++)
            ck_assert_uint_eq(out[t], (t + 7) * 9);
    }
    ok(ptxiEventDestroy(event));
    ok(ptxiEventDestroy(timed));
    ok(ptxiStreamDestroy(one));
    ok(ptxiStreamDestroy(two));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("cluster");
    TCase *t = tcase_create("cluster");

    tcase_add_checked_fixture(t, set_up, close_context);
    tcase_add_test(t, ctas_of_a_cluster_meet);
    tcase_add_test(t, many_clusters);
    tcase_add_test(t, shapes_are_checked);
    tcase_add_loop_test(t, misuse_is_reported, 0, 4);
    tcase_add_loop_test(t, attributes_are_checked, 0, 18);
    tcase_add_test(t, dependent_grids);
    suite_add_tcase(s, t);
    return run_suite(s);
}
