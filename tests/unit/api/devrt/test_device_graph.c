/* Tests graphs that kernels launch. tests/cudart/graph_device.cu tests the order of the launches. */
#include "unit/support/context.h"
#include "unit/support/test_file.h"

#include <pthread.h>

#define TAIL UINT64_C(0x0100000000000000)
#define FIRE_AND_FORGET UINT64_C(0x0200000000000000)

static ptxiModule module;
static ptxiDevicePtr words; /* the count, and the result of the last launch */

static void open_module(void)
{
    open_context();
    ok(ptxiModuleLoadData(&module, test_file("api/devrt/graph_launches.ptx")));
    ok(ptxiMemAlloc(&words, 8));
    ok(ptxiMemsetD32(words, 0, 2));
}

/* Makes an instance of a graph with one kernel. The kernel's parameters follow. */
static ptxiGraphExec make_graph(const char *name, void **params, unsigned flags)
{
    PTXI_KERNEL_NODE_PARAMS p = { .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1,
                                  .blockDimZ = 1, .kernelParams = params };
    ptxiGraph g;
    ptxiGraphNode n;
    ptxiGraphExec x;

    ok(ptxiModuleGetFunction(&p.func, module, name));
    ok(ptxiGraphCreate(&g, 0));
    ok(ptxiGraphAddKernelNode(&n, g, NULL, 0, &p));
    ok(ptxiGraphInstantiate(&x, g, flags));
    ok(ptxiGraphDestroy(g));
    return x;
}

/* Makes a graph that kernels can launch. It counts, or does what the name says. */
static ptxiGraphExec make_child(const char *name)
{
    ptxiGraphExec x = make_graph(name, (void *[]){ &words }, PTXI_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);

    ok(ptxiGraphUpload(x, NULL));
    return x;
}

static ptxiGraphExec make_launcher(ptxiGraphExec child, uint64_t stream, unsigned flags)
{
    return make_graph("launch", (void *[]){ &words, &child, &stream }, flags);
}

/* Checks the count, and the result of the last launch. */
static void expect(unsigned count, unsigned result)
{
    unsigned got[2];

    ok(ptxiMemcpyDtoH(got, words, sizeof got));
    ck_assert_uint_eq(got[0], count);
    ck_assert_uint_eq(got[1], result);
}

START_TEST(launches_run)
{
    uint64_t stream = _i ? TAIL : FIRE_AND_FORGET;
    ptxiGraphExec child = make_child("count"), x = make_launcher(child, stream, 0);

    for (unsigned i = 1; i <= 3; i++) {
        ok(ptxiGraphLaunch(x, NULL));
        expect(i, PTXI_SUCCESS);
    }
    ok(ptxiGraphLaunch(child, NULL));
    expect(4, PTXI_SUCCESS);
    ok(ptxiGraphExecDestroy(x));
    ok(ptxiGraphExecDestroy(child));
}
END_TEST

START_TEST(a_failure_is_that_of_the_launch)
{
    ptxiGraphExec child = make_child("fail"), x = make_launcher(child, _i ? TAIL : FIRE_AND_FORGET, 0);
    ptxiReport report = { .size = sizeof report };

    ok(ptxiGraphLaunch(x, NULL));
    ck_result(ptxiCtxSynchronize(), PTXI_ERROR_ILLEGAL_ADDRESS);
    ok(ptxiGetLastReport(NULL, &report));
    ck_assert_str_eq(report.kernel, "fail");
}
END_TEST

/* Launches of the graph that runs, of handles that are none, and of graphs that were not uploaded */
START_TEST(invalid_launches_are_errors)
{
    ptxiGraphExec destroyed = make_child("count"), plain, x;
    unsigned flag = PTXI_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;

    ok(ptxiGraphExecDestroy(destroyed));
    plain = make_graph("count", (void *[]){ &words }, 0);
    ptxiGraphExec not_uploaded = make_graph("count", (void *[]){ &words }, flag);
    ptxiGraphExec bad[] = { destroyed, plain, not_uploaded, (ptxiGraphExec)(uintptr_t)8, (ptxiGraphExec)(void *)module,
                            NULL };

    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        x = make_launcher(bad[i], bad[i] ? TAIL : FIRE_AND_FORGET, flag);
        ok(ptxiGraphLaunch(x, NULL));
        expect(0, PTXI_ERROR_INVALID_VALUE);
        ok(ptxiGraphExecDestroy(x));
        ok(ptxiMemsetD32(words, 0, 2));
    }
}
END_TEST

START_TEST(kernels_outside_of_graphs_launch_none)
{
    ptxiGraphExec child = make_child("count");
    uint64_t stream = TAIL;
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, module, "launch"));
    ok(ptxiLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ &words, &child, &stream }, NULL));
    expect(0, PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(unloaded_kernels_are_not_launched)
{
    ptxiGraphExec child = make_child("count"), x;
    ptxiModule first = module;

    ok(ptxiModuleLoadData(&module, test_file("api/devrt/graph_launches.ptx")));
    x = make_launcher(child, TAIL, 0);
    ok(ptxiModuleUnload(first));
    ok(ptxiGraphLaunch(x, NULL));
    unsigned got[2];

    ok(ptxiMemcpyDtoH(got, words, sizeof got));
    ck_assert_uint_eq(got[0], 0);
    ck_assert_uint_ne(got[1], PTXI_SUCCESS);
}
END_TEST

/* A graph that launches itself without end */
START_TEST(limits_end_the_launches)
{
    ptxiGraphExec x = make_launcher(NULL, TAIL, PTXI_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);

    ok(ptxiCtxSetLimit(_i ? PTXI_LIMIT_MILLISECONDS : PTXI_LIMIT_INSTRUCTIONS, _i ? 50 : 10000));
    ok(ptxiGraphLaunch(x, NULL));
    ck_result(ptxiCtxSynchronize(), PTXI_ERROR_LAUNCH_TIMEOUT);
}
END_TEST

enum { ROUNDS = 200 };

static void *upload_again(void *graph)
{
    ok(ptxiCtxSetCurrent(ctx));
    for (unsigned i = 0; i < ROUNDS; i++)
        ok(ptxiGraphUpload(graph, NULL));
    return NULL;
}

START_TEST(uploads_and_launches_at_once)
{
    ptxiGraphExec child = make_child("count"), x = make_launcher(child, TAIL, 0);
    pthread_t other;

    ck_assert(!pthread_create(&other, NULL, upload_again, child));
    for (unsigned i = 0; i < ROUNDS; i++)
        ok(ptxiGraphLaunch(x, NULL));
    ck_assert(!pthread_join(other, NULL));
    expect(ROUNDS, PTXI_SUCCESS);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("device graph");
    TCase *t = tcase_create("device graph");

    tcase_add_checked_fixture(t, open_module, close_context);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, launches_run, 0, 2);
    tcase_add_loop_test(t, a_failure_is_that_of_the_launch, 0, 2);
    tcase_add_test(t, invalid_launches_are_errors);
    tcase_add_test(t, kernels_outside_of_graphs_launch_none);
    tcase_add_test(t, unloaded_kernels_are_not_launched);
    tcase_add_loop_test(t, limits_end_the_launches, 0, 2);
    tcase_add_test(t, uploads_and_launches_at_once);
    suite_add_tcase(s, t);
    return run_suite(s);
}
