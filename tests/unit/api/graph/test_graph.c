/* Tests graphs: their nodes, dependencies, conditions and captures. */
#include "unit/support/graph_fixture.h"

#include <string.h>

START_TEST(every_kind_of_node)
{
    ptxiGraphNode a = add_fill(7, NULL), b = add_kernel(10, a), c, d, e, nodes[8];
    PTXI_MEMCPY3D copy = describe_copy(w, NULL, v), back = describe_copy(0, host, w);
    size_t capacity = 8;
    ptxiGraphNodeType type;
    ptxiStream s;

    ok(ptxiGraphAddMemcpyNode(&c, graph, &b, 1, &copy, ctx));
    ok(ptxiGraphAddEmptyNode(&d, graph, (ptxiGraphNode[]){ a, c }, 2));
    ok(ptxiGraphAddMemcpyNode(&e, graph, &d, 1, &back, ctx));
    ok(ptxiGraphAddHostNode(&d, graph, &e, 1, &(PTXI_HOST_NODE_PARAMS){ count, &calls }));
    ok(ptxiGraphGetNodes(graph, NULL, &capacity));
    ck_assert_uint_eq(capacity, 6);
    capacity = 8;
    ok(ptxiGraphGetNodes(graph, nodes, &capacity));
    ck_assert(capacity == 6 && nodes[0] == a && nodes[5] == d && !nodes[6]);
    ok(ptxiGraphNodeGetType(d, &type));
    ck_assert_int_eq(type, PTXI_GRAPH_NODE_TYPE_HOST);
    ok(ptxiStreamCreate(&s, 0));
    ptxiGraphExec x = make_instance();

    ok(ptxiGraphUpload(x, s));
    ok(ptxiGraphDestroy(graph));
    graph = NULL;
    for (unsigned round = 1; round < 4; round++) {
        memset(host, 0, sizeof host);
        launch(x, s);
        for (unsigned i = 0; i < N; i++)
            ck_assert_uint_eq(host[i], 70 + i);
        ck_assert_uint_eq(calls, round);
    }
    ok(ptxiGraphLaunch(x, s));
    ok(ptxiGraphExecDestroy(x)); /* the launched graph keeps running */
    instance_count = 0;
    ok(ptxiStreamSynchronize(s));
    ck_assert_uint_eq(calls, 4);
}
END_TEST

START_TEST(order_of_dependencies)
{
    /* the nodes are added in the wrong order, and the edges give the right one */
    ptxiGraphNode last = add_kernel(1000, NULL), middle = add_kernel(100, NULL), first = add_fill(1, NULL);

    ok(ptxiGraphAddDependencies(graph, (ptxiGraphNode[]){ middle, first }, (ptxiGraphNode[]){ last, middle }, NULL, 2));
    launch(make_instance(), NULL);
    for (unsigned i = 0; i < N; i++)
        ck_assert_uint_eq(((unsigned *)(uintptr_t)v)[i], (100 + i) * 1000 + i);
    ptxiGraphExec x;

    ok(ptxiGraphAddDependencies(graph, &last, &first, NULL, 1));
    ck_result(ptxiGraphInstantiate(&x, graph, 0), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(clones)
{
    ptxiGraphNode a = add_fill(4, NULL), b = add_kernel(3, a), found, in_clone;
    ptxiGraph original = graph, clone;

    ok(ptxiGraphClone(&clone, original));
    ok(ptxiGraphNodeFindInClone(&found, b, clone));
    graph = clone;
    in_clone = add_kernel(10, found);
    ck_result(ptxiGraphNodeFindInClone(&found, in_clone, original), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiGraphDestroy(original));
    launch(make_instance(), NULL);
    for (unsigned i = 0; i < N; i++)
        ck_assert_uint_eq(((unsigned *)(uintptr_t)v)[i], (12 + i) * 10 + i);
}
END_TEST

START_TEST(slices_and_row_copies)
{
    unsigned char box[4][3][8], *d = (unsigned char *)(uintptr_t)v;
    PTXI_MEMCPY3D c = { .srcMemoryType = PTXI_MEMORYTYPE_HOST, .srcHost = box, .srcPitch = 8, .srcHeight = 3,
                        .srcXInBytes = 2, .srcY = 1, .srcZ = 1,
                        .dstMemoryType = PTXI_MEMORYTYPE_DEVICE, .dstDevice = v, .dstPitch = 5, .dstHeight = 2,
                        .WidthInBytes = 5, .Height = 2, .Depth = 3 };
    ptxiGraphNode n;

    for (unsigned i = 0; i < sizeof box; i++)
        (&box[0][0][0])[i] = (unsigned char)i;
    ok(ptxiGraphAddMemcpyNode(&n, graph, NULL, 0, &c, ctx));
    launch(make_instance(), NULL);
    for (unsigned z = 0; z < 3; z++)
        for (unsigned y = 0; y < 2; y++)
            for (unsigned x = 0; x < 5; x++)
                ck_assert_uint_eq(*d++, box[z + 1][y + 1][x + 2]);
}
END_TEST

START_TEST(child_graphs)
{
    ptxiGraphNode a = add_fill(1, NULL), inner = add_kernel(10, a), n, last;
    ptxiGraph child = graph, own;
    ptxiGraphNodeType type;
    size_t capacity = 1;

    ok(ptxiGraphCreate(&graph, 0));
    a = add_fill(5, NULL); /* the fill of the child follows this node */
    ok(ptxiGraphAddChildGraphNode(&n, graph, &a, 1, child));
    last = add_kernel(100, n);
    ok(ptxiGraphNodeGetType(n, &type));
    ck_assert_int_eq(type, PTXI_GRAPH_NODE_TYPE_GRAPH);
    ok(ptxiGraphNodeGetDependencies(last, &a, NULL, &capacity));
    ck_assert(capacity == 1 && a == n);
    ok(ptxiGraphChildGraphNodeGetGraph(n, &own));
    ck_result(ptxiGraphDestroy(own), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphChildGraphNodeGetGraph(last, &own), PTXI_ERROR_INVALID_VALUE);
    ptxiGraphExec x = make_instance();

    launch(x, NULL);
    ok(ptxiMemcpyDtoH(host, v, BYTES));
    for (unsigned i = 0; i < N; i++)
        ck_assert_uint_eq(host[i], (10 + i) * 100 + i);
    /* nodes of the node's clone of the child update the instance, nodes of the original graph do not */
    ok(ptxiGraphNodeFindInClone(&n, inner, own));
    PTXI_KERNEL_NODE_PARAMS p = { .func = step, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = N,
                                  .blockDimY = 1, .blockDimZ = 1,
                                  .kernelParams = (void *[]){ &v, &(unsigned){ 20 } } };

    ck_result(ptxiGraphExecKernelNodeSetParams(x, inner, &p), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiGraphExecKernelNodeSetParams(x, n, &p));
    launch(x, NULL);
    ok(ptxiMemcpyDtoH(host, v, BYTES));
    for (unsigned i = 0; i < N; i++)
        ck_assert_uint_eq(host[i], (20 + i) * 100 + i);
    ok(ptxiGraphDestroy(child));
}
END_TEST

START_TEST(parameters_of_nodes)
{
    ptxiLaunchAttributeValue value;
    ptxiGraphNode a = add_fill(7, NULL), b = add_kernel(2, a), c;
    PTXI_MEMSET_NODE_PARAMS set;
    PTXI_MEMCPY3D copy = describe_copy(0, host, v), got;
    PTXI_HOST_NODE_PARAMS call;

    ok(ptxiGraphAddMemcpyNode(&c, graph, &b, 1, &copy, ctx));
    ok(ptxiGraphMemsetNodeGetParams(a, &set));
    ck_assert(set.value == 7 && set.width == N);
    set.value = 8;
    ok(ptxiGraphMemsetNodeSetParams(a, &set));
    ok(ptxiGraphMemcpyNodeGetParams(c, &got));
    ck_assert(got.dstHost == host);
    ck_result(ptxiGraphMemcpyNodeGetParams(a, &got), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphHostNodeGetParams(a, &call), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphHostNodeSetParams(a, &(PTXI_HOST_NODE_PARAMS){ count, NULL }), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiGraphKernelNodeSetAttribute(b, PTXI_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                       &(ptxiLaunchAttributeValue){ .cooperative = 1 }));
    ok(ptxiGraphKernelNodeSetAttribute(b, PTXI_LAUNCH_ATTRIBUTE_PRIORITY,
                                       &(ptxiLaunchAttributeValue){ .priority = -3 }));
    ok(ptxiGraphKernelNodeGetAttribute(b, PTXI_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    ck_assert_int_eq(value.priority, -3);
    ck_result(ptxiGraphKernelNodeSetAttribute(b, PTXI_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                              &(ptxiLaunchAttributeValue){ .clusterDim = { 64, 1, 1 } }),
              PTXI_ERROR_INVALID_CLUSTER_SIZE);
    ck_result(ptxiGraphKernelNodeSetAttribute(b, PTXI_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                              &(ptxiLaunchAttributeValue){ .cooperative = 1 }),
              PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphKernelNodeSetAttribute(b, PTXI_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
                                              &(ptxiLaunchAttributeValue){ .cooperative = 1 }),
              PTXI_ERROR_NOT_SUPPORTED);
    ck_result(ptxiGraphKernelNodeSetAttribute(a, PTXI_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                              &(ptxiLaunchAttributeValue){ .cooperative = 1 }),
              PTXI_ERROR_INVALID_VALUE);
    launch(make_instance(), NULL);
    for (unsigned i = 0; i < N; i++)
        ck_assert_uint_eq(host[i], 16 + i);
}
END_TEST

START_TEST(arrays_in_graphs)
{
    PTXI_ARRAY_DESCRIPTOR d = { N, 0, PTXI_AD_FORMAT_UNSIGNED_INT32, 1 };
    PTXI_MEMCPY3D in = describe_copy(0, NULL, v), out = describe_copy(w, NULL, 0);
    ptxiGraphNode n, m;
    ptxiArray array;

    ok(ptxiArrayCreate(&array, &d));
    in.dstMemoryType = out.srcMemoryType = PTXI_MEMORYTYPE_ARRAY;
    in.dstArray = out.srcArray = array;
    n = add_kernel(3, add_fill(6, NULL));
    ok(ptxiGraphAddMemcpyNode(&m, graph, &n, 1, &in, ctx));
    ok(ptxiGraphAddMemcpyNode(&n, graph, &m, 1, &out, ctx));
    launch(make_instance(), NULL);
    ok(ptxiMemcpyDtoH(host, w, BYTES));
    for (unsigned i = 0; i < N; i++)
        ck_assert_uint_eq(host[i], 18 + i);
}
END_TEST

static void run_step(unsigned k, ptxiStream s)
{
    ok(ptxiLaunchKernel(step, 1, 1, 1, N, 1, 1, 0, s, (void *[]){ &v, &k }, NULL));
}

/* Captures two streams with every kind of work. The second stream runs concurrently with a part of the first one. */
START_TEST(capture)
{
    ptxiStreamCaptureStatus status;
    ptxiEvent forked, joined;
    const ptxiGraphNode *after;
    unsigned long long id;
    ptxiStream s, t;
    ptxiGraph own;
    size_t n;

    ok(ptxiStreamCreate(&s, 0));
    ok(ptxiStreamCreate(&t, PTXI_STREAM_NON_BLOCKING));
    ok(ptxiEventCreate(&forked, 0));
    ok(ptxiEventCreate(&joined, 0));
    ok(ptxiMemsetD32(v, 1, N));
    ok(ptxiGraphDestroy(graph));
    ok(ptxiStreamBeginCapture(s, PTXI_STREAM_CAPTURE_MODE_GLOBAL));
    ck_result(ptxiStreamBeginCapture(s, PTXI_STREAM_CAPTURE_MODE_GLOBAL), PTXI_ERROR_ILLEGAL_STATE);
    ok(ptxiMemsetD32Async(v, 2, N, s));
    run_step(10, s);
    ok(ptxiEventRecord(forked, s));
    ok(ptxiStreamWaitEvent(t, forked, 0));
    ok(ptxiStreamIsCapturing(t, &status));
    ck_assert_int_eq(status, PTXI_STREAM_CAPTURE_STATUS_ACTIVE);
    ok(ptxiLaunchHostFunc(t, count, &calls));
    ok(ptxiMemcpyDtoDAsync(w, v, BYTES, t));
    ok(ptxiEventRecord(joined, t));
    ck_result(ptxiEventQuery(joined), PTXI_ERROR_CAPTURED_EVENT);
    ck_result(ptxiStreamWaitEvent(NULL, joined, 0), PTXI_ERROR_STREAM_CAPTURE_IMPLICIT);
    ok(ptxiStreamWaitEvent(s, joined, 0));
    ok(ptxiStreamGetCaptureInfo(s, &status, &id, &own, &after, NULL, &n));
    ck_assert(n == 2 && id);
    ok(ptxiLaunchCooperativeKernel(step, 1, 1, 1, N, 1, 1, 0, s, (void *[]){ &v, &(unsigned){ 100 } }));
    ok(ptxiMemcpyDtoHAsync(host, v, BYTES, s));
    ck_result(ptxiStreamEndCapture(t, &graph), PTXI_ERROR_STREAM_CAPTURE_UNMATCHED);
    ok(ptxiStreamEndCapture(s, &graph));
    ck_assert(graph == own);
    ck_result(ptxiStreamEndCapture(s, &own), PTXI_ERROR_ILLEGAL_STATE);
    ok(ptxiStreamIsCapturing(t, &status));
    ck_assert_int_eq(status, PTXI_STREAM_CAPTURE_STATUS_NONE);
    ok(ptxiGraphGetNodes(graph, NULL, &n));
    ck_assert_uint_eq(n, 6);
    ok(ptxiStreamSynchronize(s));
    ck_assert_uint_eq(calls, 0);
    ptxiGraphExec x = make_instance();

    for (unsigned round = 1; round < 3; round++) {
        launch(x, s);
        ck_assert_uint_eq(calls, round);
        for (unsigned i = 0; i < N; i++)
            ck_assert_uint_eq(host[i], (20 + i) * 100 + i);
    }
    ok(ptxiMemcpyDtoH(host, w, BYTES));
    for (unsigned i = 0; i < N; i++)
        ck_assert_uint_eq(host[i], 20 + i);
}
END_TEST

/* Begins a capture of s, which t joins with one node. */
static void capture_two(ptxiStream s, ptxiStream t)
{
    ptxiEvent forked;

    ok(ptxiEventCreate(&forked, 0));
    ok(ptxiStreamBeginCapture(s, PTXI_STREAM_CAPTURE_MODE_GLOBAL));
    ok(ptxiEventRecord(forked, s));
    ok(ptxiStreamWaitEvent(t, forked, 0));
    ok(ptxiMemsetD32Async(v, 2, N, t));
    ok(ptxiEventDestroy(forked));
}

START_TEST(a_stream_is_destroyed_in_a_capture)
{
    ptxiGraph none = graph;
    ptxiEvent joined;
    ptxiStream s, t;

    ok(ptxiGraphDestroy(graph));
    ok(ptxiStreamCreate(&s, 0));
    ok(ptxiStreamCreate(&t, 0));
    ok(ptxiEventCreate(&joined, 0));
    capture_two(s, t);
    ok(ptxiEventRecord(joined, t));
    ok(ptxiStreamWaitEvent(s, joined, 0));
    ok(ptxiStreamDestroy(t));
    run_step(10, s);
    ok(ptxiMemcpyDtoHAsync(host, v, BYTES, s));
    ck_result(ptxiStreamEndCapture(s, NULL), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiStreamEndCapture(s, &graph));
    ck_result(ptxiStreamEndCapture(s, NULL), PTXI_ERROR_ILLEGAL_STATE);
    launch(make_instance(), s);
    for (unsigned i = 0; i < N; i++)
        ck_assert_uint_eq(host[i], 20 + i);

    ok(ptxiStreamCreate(&t, 0)); /* nothing waits for this one */
    capture_two(s, t);
    ok(ptxiStreamDestroy(t));
    ck_result(ptxiStreamEndCapture(s, &none), PTXI_ERROR_STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(captures_that_fail)
{
    ptxiStreamCaptureMode mode = PTXI_STREAM_CAPTURE_MODE_RELAXED;
    ptxiStreamCaptureStatus status;
    ptxiEvent event, outside;
    ptxiGraph none = graph;
    ptxiStream s, t;

    ok(ptxiStreamCreate(&s, 0));
    ok(ptxiStreamCreate(&t, 0));
    ok(ptxiEventCreate(&event, 0));
    ok(ptxiEventCreate(&outside, 0));
    ok(ptxiEventRecord(outside, s));
    ck_result(ptxiStreamBeginCapture(NULL, mode), PTXI_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    ck_result(ptxiStreamBeginCapture(s, (ptxiStreamCaptureMode)3), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiStreamBeginCapture(s, mode));
    ck_result(ptxiStreamWaitEvent(s, outside, 0), PTXI_ERROR_STREAM_CAPTURE_ISOLATION);
    run_step(1, s);
    ck_result(ptxiStreamSynchronize(s), PTXI_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    ok(ptxiStreamIsCapturing(s, &status));
    ck_assert_int_eq(status, PTXI_STREAM_CAPTURE_STATUS_INVALIDATED);
    ck_result(ptxiMemsetD32Async(v, 2, N, s), PTXI_ERROR_STREAM_CAPTURE_INVALIDATED);
    ck_result(ptxiStreamEndCapture(s, &none), PTXI_ERROR_STREAM_CAPTURE_INVALIDATED);
    ck_assert(!none);
    ok(ptxiStreamBeginCapture(s, mode));
    ok(ptxiEventRecord(event, s));
    ok(ptxiStreamWaitEvent(t, event, 0));
    run_step(1, t);
    ck_result(ptxiStreamEndCapture(s, &none), PTXI_ERROR_STREAM_CAPTURE_UNJOINED);
    ok(ptxiStreamSynchronize(t)); /* both streams work normally again */
    ok(ptxiEventSynchronize(event));
    ok(ptxiStreamBeginCapture(s, mode));
    ok(ptxiStreamBeginCapture(t, mode));
    ok(ptxiEventRecord(event, s));
    ck_result(ptxiStreamWaitEvent(t, event, 0), PTXI_ERROR_STREAM_CAPTURE_MERGE);
    ck_result(ptxiStreamEndCapture(t, &none), PTXI_ERROR_STREAM_CAPTURE_INVALIDATED);
    run_step(1, t);
    ok(ptxiStreamDestroy(s));
    ok(ptxiThreadExchangeStreamCaptureMode(&mode));
    ck_assert_int_eq(mode, PTXI_STREAM_CAPTURE_MODE_GLOBAL);
    ok(ptxiStreamBeginCapture(t, mode)); /* destroyed with the context */
    run_step(1, t);
}
END_TEST

START_TEST(failures)
{
    ptxiFunction traps;
    ptxiGraphNode a, b, c;
    size_t edges;
    ptxiGraph other;
    PTXI_KERNEL_NODE_PARAMS p = { .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1,
                                  .blockDimZ = 1 };

    ok(ptxiModuleGetFunction(&traps, module, "traps"));
    ck_result(ptxiGraphAddKernelNode(&a, graph, NULL, 0, &p), PTXI_ERROR_INVALID_HANDLE);
    p.func = step;
    ck_result(ptxiGraphAddKernelNode(&a, graph, NULL, 0, &p), PTXI_ERROR_INVALID_VALUE); /* the kernel has parameters */
    p.func = traps;
    ok(ptxiGraphAddKernelNode(&a, graph, NULL, 0, &p));
    ok(ptxiGraphAddHostNode(&b, graph, &a, 1, &(PTXI_HOST_NODE_PARAMS){ count, &calls }));
    ok(ptxiGraphCreate(&other, 0));
    ck_result(ptxiGraphAddEmptyNode(&b, other, &a, 1), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiGraphDestroy(other));
    ck_result(ptxiGraphAddDependencies(graph, &a, &a, NULL, 1), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiGraphAddEmptyNode(&c, graph, NULL, 0));
    ck_result(ptxiGraphAddDependencies(graph, (ptxiGraphNode[]){ a, a }, (ptxiGraphNode[]){ c, c }, NULL, 2),
              PTXI_ERROR_INVALID_VALUE);
    ok(ptxiGraphNodeGetDependencies(c, NULL, NULL, &edges));
    ck_assert_uint_eq(edges, 0); /* the first node is missing, too */
    ok(ptxiGraphDestroyNode(c));
    ck_result(ptxiGraphAddHostNode(&b, graph, NULL, 0, &(PTXI_HOST_NODE_PARAMS){ NULL, NULL }),
              PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphAddMemsetNode(&b, graph, NULL, 0,
                                     &(PTXI_MEMSET_NODE_PARAMS){ .dst = v, .elementSize = 3, .width = 1, .height = 1 },
                                     ctx),
              PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphCreate(&other, 1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphDestroy(NULL), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphLaunch(NULL, NULL), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiGraphLaunch(make_instance(), NULL));
    ck_result(ptxiCtxSynchronize(), PTXI_ERROR_LAUNCH_FAILED);
    ck_assert_uint_eq(calls, 0); /* dropped because of the earlier failure */
}
END_TEST

/* A kernel that increments v[at]. If `limit` is not 0, it sets the condition to v[0] < limit. */
static ptxiGraphNode add_counter(ptxiGraph g, ptxiGraphNode after, unsigned at, ptxiGraphConditionalHandle handle,
                                 unsigned limit)
{
    ptxiGraphNode n;
    ptxiFunction f;

    ok(ptxiModuleGetFunction(&f, module, "count"));
    ptxiGraphNodeParams p = { .type = PTXI_GRAPH_NODE_TYPE_KERNEL };

    p.value.kernel = (PTXI_KERNEL_NODE_PARAMS){ .func = f, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1,
                                                .blockDimY = 1, .blockDimZ = 1,
                                                .kernelParams = (void *[]){ &v, &at, &handle, &limit } };
    ok(ptxiGraphAddNode(&n, g, &after, NULL, after != NULL, &p));
    return n;
}

static ptxiGraphNode add_condition(ptxiGraph g, ptxiGraphNode after, ptxiGraphConditionalHandle handle,
                                   ptxiGraphConditionalNodeType type, unsigned size, ptxiGraph **bodies)
{
    ptxiGraphNode n;
    ptxiGraphNodeParams p = { .type = PTXI_GRAPH_NODE_TYPE_CONDITIONAL,
                              .value.conditional = { .handle = handle, .type = type, .size = size } };

    ok(ptxiGraphAddNode(&n, g, &after, NULL, after != NULL, &p));
    *bodies = p.value.conditional.phGraph_out;
    return n;
}

static void launch_and_check(ptxiGraphExec x, const unsigned *want, unsigned count)
{
    unsigned got[8];

    ok(ptxiMemsetD32(v, 0, 8));
    ok(ptxiGraphLaunch(x, NULL));
    ok(ptxiMemcpyDtoH(got, v, sizeof got));
    for (unsigned k = 0; k < count; k++)
        ck_assert_msg(got[k] == want[k], "word %u is %u, not %u", k, got[k], want[k]);
}

START_TEST(if_and_while_nodes)
{
    ptxiGraphConditionalHandle loop, choice;
    ptxiGraph *bodies, *inner;
    ptxiGraphNode n;
    ptxiGraphNodeType type;

    ok(ptxiGraphConditionalHandleCreate(&loop, graph, NULL, 1, PTXI_GRAPH_COND_ASSIGN_DEFAULT));
    ok(ptxiGraphConditionalHandleCreate(&choice, graph, NULL, 1, PTXI_GRAPH_COND_ASSIGN_DEFAULT));
    n = add_condition(graph, NULL, loop, PTXI_GRAPH_COND_TYPE_WHILE, 1, &bodies);
    ok(ptxiGraphNodeGetType(n, &type));
    ck_assert_int_eq(type, PTXI_GRAPH_NODE_TYPE_CONDITIONAL);
    n = add_counter(graph, n, 1, 0, 0); /* after the loop */
    /* five iterations: the condition holds in the first three */
    n = add_counter(bodies[0], NULL, 0, loop, 5);
    n = add_counter(bodies[0], n, 2, choice, 4);
    n = add_condition(bodies[0], n, choice, PTXI_GRAPH_COND_TYPE_IF, 2, &inner);
    add_counter(inner[0], NULL, 3, 0, 0);
    add_counter(inner[1], NULL, 4, 0, 0);
    add_counter(bodies[0], n, 5, 0, 0);

    ptxiGraphExec x = make_instance();
    static const unsigned want[] = { 5, 1, 5, 3, 2, 5, 0 };

    for (int k = 0; k < 2; k++)
        launch_and_check(x, want, 7);
}
END_TEST

START_TEST(switch_nodes)
{
    ptxiGraphConditionalHandle handle;
    ptxiGraph *bodies;

    for (unsigned value = 0; value < 4; value++) {
        unsigned want[4] = { 0 };

        if (value < 3)
            want[value] = 1;
        ok(ptxiGraphConditionalHandleCreate(&handle, graph, NULL, value, PTXI_GRAPH_COND_ASSIGN_DEFAULT));
        add_condition(graph, NULL, handle, PTXI_GRAPH_COND_TYPE_SWITCH, 3, &bodies);
        for (unsigned k = 0; k < 3; k++)
            add_counter(bodies[k], NULL, k, 0, 0);
        launch_and_check(make_instance(), want, 4);
        ok(ptxiGraphDestroy(graph)); /* the instance stays */
        ok(ptxiGraphCreate(&graph, 0));
    }
}
END_TEST

START_TEST(bad_conditions_fail)
{
    ptxiGraphConditionalHandle handle;
    ptxiGraphExecUpdateResultInfo info;
    ptxiGraphExec x;
    ptxiGraph *bodies, other;
    ptxiGraphNode n, a, b;
    ptxiGraphNodeParams p = { .type = PTXI_GRAPH_NODE_TYPE_CONDITIONAL,
                              .value.conditional = { .type = PTXI_GRAPH_COND_TYPE_WHILE, .size = 1 } };

    ck_result(ptxiGraphConditionalHandleCreate(NULL, graph, NULL, 0, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphConditionalHandleCreate(&handle, graph, NULL, 0, 2), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphAddNode(&n, graph, NULL, NULL, 0, &p), PTXI_ERROR_INVALID_VALUE); /* not a handle */
    ok(ptxiGraphConditionalHandleCreate(&handle, graph, NULL, 0, 0));
    p.value.conditional.handle = handle;
    p.value.conditional.size = 2;
    ck_result(ptxiGraphAddNode(&n, graph, NULL, NULL, 0, &p), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphAddNode(&n, graph, NULL, NULL, 0, NULL), PTXI_ERROR_INVALID_VALUE);
    add_condition(graph, NULL, handle, PTXI_GRAPH_COND_TYPE_WHILE, 1, &bodies);
    ck_result(ptxiGraphDestroy(bodies[0]), PTXI_ERROR_INVALID_VALUE);
    a = add_counter(bodies[0], NULL, 0, handle, 1);
    x = make_instance();
    ok(ptxiGraphClone(&other, graph));
    ok(ptxiGraphExecUpdate(x, other, &info));
    b = add_counter(bodies[0], a, 0, 0, 0);
    ck_result(ptxiGraphExecUpdate(x, graph, &info), PTXI_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    ok(ptxiGraphDestroy(other));
    ok(ptxiGraphAddDependencies(bodies[0], &b, &a, NULL, 1));
    ck_result(ptxiGraphInstantiate(&x, graph, 0), PTXI_ERROR_INVALID_VALUE); /* a cycle */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("graph");
    TCase *t = tcase_create("graph");

    tcase_add_checked_fixture(t, load, unload);
    tcase_add_test(t, every_kind_of_node);
    tcase_add_test(t, order_of_dependencies);
    tcase_add_test(t, clones);
    tcase_add_test(t, slices_and_row_copies);
    tcase_add_test(t, child_graphs);
    tcase_add_test(t, parameters_of_nodes);
    tcase_add_test(t, arrays_in_graphs);
    tcase_add_test(t, capture);
    tcase_add_test(t, captures_that_fail);
    tcase_add_test(t, a_stream_is_destroyed_in_a_capture);
    tcase_add_test(t, failures);
    tcase_add_test(t, if_and_while_nodes);
    tcase_add_test(t, switch_nodes);
    tcase_add_test(t, bad_conditions_fail);
    suite_add_tcase(s, t);
    return run_suite(s);
}
