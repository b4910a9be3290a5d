/* Tests instances of graphs: their nodes are updated one by one, and from other graphs. */
#include "unit/support/graph_fixture.h"

#include <unistd.h>

START_TEST(instances_are_updated)
{
    ptxiGraphNode set = add_fill(1, NULL), node = add_kernel(2, set), copy, call;
    PTXI_MEMCPY3D to_host = describe_copy(0, host, v);
    unsigned other[N], k = 5, others = 0;

    ok(ptxiGraphAddMemcpyNode(&copy, graph, &node, 1, &to_host, ctx));
    ok(ptxiGraphAddHostNode(&call, graph, &copy, 1, &(PTXI_HOST_NODE_PARAMS){ count, &calls }));
    ptxiGraphExec x = make_instance(), y = make_instance();
    struct { ptxiDevicePtr v; unsigned k; } buffer = { w, k };
    size_t bytes = 12;
    PTXI_KERNEL_NODE_PARAMS p = { .func = step, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = N,
                                  .blockDimY = 1, .blockDimZ = 1,
                                  .extra = (void *[]){ PTXI_LAUNCH_PARAM_BUFFER_POINTER, &buffer,
                                                       PTXI_LAUNCH_PARAM_BUFFER_SIZE, &bytes, PTXI_LAUNCH_PARAM_END } };

    to_host = describe_copy(0, other, w);
    ok(ptxiGraphExecKernelNodeSetParams(x, node, &p));
    ok(ptxiGraphExecMemcpyNodeSetParams(x, copy, &to_host, ctx));
    ok(ptxiGraphExecMemsetNodeSetParams(x, set, &(PTXI_MEMSET_NODE_PARAMS){ .dst = w, .value = 3, .elementSize = 2,
            .width = 2 * N, .height = 1 }, ctx));
    ok(ptxiGraphExecHostNodeSetParams(x, call, &(PTXI_HOST_NODE_PARAMS){ count, &others }));
    launch(x, NULL);
    launch(y, NULL);
    for (unsigned i = 0; i < N; i++)
        ck_assert(other[i] == 0x30003u * 5 + i && host[i] == 2 + i);
    ck_assert(calls == 1 && others == 1);
    ck_result(ptxiGraphExecKernelNodeSetParams(x, set, &p), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiGraphKernelNodeSetParams(node, &p));
}
END_TEST

/* Builds a graph: a fill, then a kernel in a child graph, then a kernel. It depends on the child only if `after_child`
 * is set. */
static void build_nested(unsigned value, unsigned k, bool after_child)
{
    ptxiGraph outer, child;
    ptxiGraphNode a, n;

    ok(ptxiGraphCreate(&child, 0));
    outer = graph;
    graph = child;
    add_kernel(k, NULL);
    graph = outer;
    a = add_fill(value, NULL);
    ok(ptxiGraphAddChildGraphNode(&n, graph, &a, 1, child));
    add_kernel(k, after_child ? n : a);
    ok(ptxiGraphDestroy(child));
}

START_TEST(instances_are_updated_from_other_graphs)
{
    ptxiGraphExecUpdateResultInfo info;
    ptxiGraphNode n;

    build_nested(3, 10, true);
    ptxiGraphExec x = make_instance();

    for (unsigned other = 0; other < 4; other++) {
        ok(ptxiGraphDestroy(graph));
        ok(ptxiGraphCreate(&graph, 0));
        build_nested(4, 100, other != 1);
        if (other == 2)
            ok(ptxiGraphAddEmptyNode(&n, graph, NULL, 0));
        if (other == 3) {
            ok(ptxiGraphDestroy(graph));
            ok(ptxiGraphCreate(&graph, 0));
            add_kernel(1, add_fill(1, add_fill(1, NULL)));
        }
        ptxiResult r = ptxiGraphExecUpdate(x, graph, &info);

        ck_result(r, other ? PTXI_ERROR_GRAPH_EXEC_UPDATE_FAILURE : PTXI_SUCCESS);
        ck_assert_int_eq(info.result, other == 3 ? PTXI_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED
                                      : other ? PTXI_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED
                                      : PTXI_GRAPH_EXEC_UPDATE_SUCCESS);
        ck_assert(!info.errorNode == (other != 3));
        launch(x, NULL); /* as the first change left it */
        ok(ptxiMemcpyDtoH(host, v, BYTES));
        for (unsigned i = 0; i < N; i++)
            ck_assert_uint_eq(host[i], (400 + i) * 100 + i);
    }
    ck_result(ptxiGraphExecUpdate(x, graph, NULL), PTXI_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
}
END_TEST

/* A launch waits for the previous one of the same instance in another stream, also if that stream is destroyed. */
START_TEST(launches_in_two_streams)
{
    ptxiGraphNode n;
    ptxiStream a, b;
    ptxiDevicePtr flag;

    ok(ptxiGraphAddHostNode(&n, graph, NULL, 0, &(PTXI_HOST_NODE_PARAMS){ count, &calls }));
    ptxiGraphExec x = make_instance(), y = make_instance();

    ok(ptxiMemAlloc(&flag, 4));
    ok(ptxiMemsetD32(flag, 0, 1));
    ok(ptxiStreamCreate(&a, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiStreamCreate(&b, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiStreamWaitValue32(a, flag, 1, PTXI_STREAM_WAIT_VALUE_EQ));
    ok(ptxiGraphLaunch(x, a));
    launch(y, b); /* another instance does not wait */
    ck_assert_uint_eq(calls, 1);
    ok(ptxiGraphLaunch(x, b));
    if (_i)
        ok(ptxiStreamDestroy(a));
    usleep(20000);
    ck_result(ptxiStreamQuery(b), PTXI_ERROR_NOT_READY);
    ck_assert_uint_eq(calls, 1);
    ok(ptxiMemsetD32(flag, 1, 1));
    ok(ptxiStreamSynchronize(b));
    ck_assert_uint_eq(calls, 3);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("graph exec");
    TCase *t = tcase_create("graph exec");

    tcase_add_checked_fixture(t, load, unload);
    tcase_add_test(t, instances_are_updated);
    tcase_add_test(t, instances_are_updated_from_other_graphs);
    tcase_add_loop_test(t, launches_in_two_streams, 0, 2);
    suite_add_tcase(s, t);
    return run_suite(s);
}
