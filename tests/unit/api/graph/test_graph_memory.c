/* Tests nodes that allocate and free memory, captures into graphs, user objects, memory operations and dot files. */
#include "unit/support/context.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 4096, WORDS = BYTES / 4, CHUNK = 32 << 20 /* bytes, in which the memory of graphs is counted */ };

static ptxiGraph graph;
static ptxiStream stream;
static _Atomic int destroyed;

static void load(void)
{
    open_context();
    ok(ptxiGraphCreate(&graph, 0));
    ok(ptxiStreamCreate(&stream, PTXI_STREAM_NON_BLOCKING));
    destroyed = 0;
}

static void unload(void)
{
    if (graph)
        ok(ptxiGraphDestroy(graph));
    close_context();
}

static PTXI_MEM_ALLOC_NODE_PARAMS of_bytes(size_t bytes)
{
    return (PTXI_MEM_ALLOC_NODE_PARAMS){
        .poolProps = { .allocType = PTXI_MEM_ALLOCATION_TYPE_PINNED, .location.type = PTXI_MEM_LOCATION_TYPE_DEVICE },
        .bytesize = bytes,
    };
}

static ptxiDevicePtr allocate(ptxiGraph g, ptxiGraphNode *n)
{
    PTXI_MEM_ALLOC_NODE_PARAMS p = of_bytes(BYTES);

    ok(ptxiGraphAddMemAllocNode(n, g, NULL, 0, &p));
    return p.dptr;
}

static ptxiGraphNode fill(ptxiGraph g, ptxiDevicePtr at, unsigned value, ptxiGraphNode after)
{
    PTXI_MEMSET_NODE_PARAMS p = { .dst = at, .value = value, .elementSize = 4, .width = WORDS, .height = 1 };
    ptxiGraphNode n;

    ok(ptxiGraphAddMemsetNode(&n, g, &after, after != NULL, &p, ctx));
    return n;
}

static ptxiGraphExec instance(ptxiGraph g, unsigned flags)
{
    ptxiGraphExec x;

    ok(ptxiGraphInstantiate(&x, g, flags));
    return x;
}

static void launch(ptxiGraphExec x)
{
    ok(ptxiGraphLaunch(x, stream));
    ok(ptxiStreamSynchronize(stream));
}

static uint64_t attribute(ptxiGraphMemAttribute a)
{
    uint64_t value;

    ok(ptxiDeviceGetGraphMemAttribute(0, a, &value));
    return value;
}

/* A word of memory that is accessible; 1 if it is not. */
static unsigned word(ptxiDevicePtr at)
{
    unsigned x;

    return ptxiMemcpyDtoH(&x, at, sizeof x) ? 1 : x;
}

START_TEST(memory_exists_between_its_nodes)
{
    ptxiDevicePtr keep, at;
    ptxiGraphNode a, b, n;
    uint32_t host[WORDS];
    PTXI_MEM_ALLOC_NODE_PARAMS got;

    at = allocate(graph, &a);
    b = fill(graph, at, 5, a);
    PTXI_MEMCPY3D back = { .srcMemoryType = PTXI_MEMORYTYPE_DEVICE, .srcDevice = at,
                           .dstMemoryType = PTXI_MEMORYTYPE_HOST, .dstHost = host, .WidthInBytes = BYTES, .Height = 1,
                           .Depth = 1 };

    ok(ptxiGraphAddMemcpyNode(&b, graph, &b, 1, &back, ctx));
    ok(ptxiGraphAddMemFreeNode(&n, graph, &b, 1, at));
    ok(ptxiGraphMemAllocNodeGetParams(a, &got));
    ck_assert(got.dptr == at && got.bytesize == BYTES && !got.accessDescCount);
    ok(ptxiGraphMemFreeNodeGetParams(n, &keep));
    ck_assert_uint_eq(keep, at);
    ck_result(ptxiGraphMemFreeNodeGetParams(a, &keep), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphMemAllocNodeGetParams(n, &got), PTXI_ERROR_INVALID_VALUE);
    ptxiGraphExec x = instance(graph, 0);

    for (unsigned k = 0; k < 3; k++) {
        memset(host, 0, sizeof host);
        ck_assert_uint_eq(word(at), 1);
        launch(x);
        ck_assert(host[0] == 5 && host[WORDS - 1] == 5);
        ck_assert_uint_eq(word(at), 1);
    }
    ok(ptxiGraphLaunch(x, stream)); /* the second launch does not wait for the first */
    ok(ptxiGraphLaunch(x, stream));
    ok(ptxiGraphExecDestroy(x));
    ok(ptxiStreamSynchronize(stream));
    ck_result(ptxiMemFree(at), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiMemFreeAsync(at, stream), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(memory_that_a_launch_leaves)
{
    ptxiGraphNode a, n;
    ptxiDevicePtr at = allocate(graph, &a), base;
    ptxiGraph other;
    size_t size;

    fill(graph, at, 7, a);
    ptxiGraphExec x = instance(graph, 0);

    ck_result(ptxiMemFree(at), PTXI_ERROR_INVALID_VALUE); /* not allocated yet */
    launch(x);
    ck_assert_uint_eq(word(at), 7);
    ok(ptxiMemGetAddressRange(&base, &size, at + 5));
    ck_assert(base == at && size == BYTES);
    ck_result(ptxiGraphLaunch(x, stream), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemFreeAsync(at, stream));
    ck_result(ptxiMemFreeAsync(at, stream), PTXI_ERROR_INVALID_VALUE);
    launch(x);
    ok(ptxiMemFree(at));
    ck_result(ptxiMemFree(at), PTXI_ERROR_INVALID_VALUE);
    ck_assert_uint_eq(word(at), 1);

    /* another graph frees it */
    ok(ptxiGraphCreate(&other, 0));
    ok(ptxiGraphAddMemFreeNode(&n, other, NULL, 0, at));
    ck_result(ptxiGraphAddMemFreeNode(&n, graph, NULL, 0, at), PTXI_ERROR_INVALID_VALUE);
    ptxiGraphExec y = instance(other, 0);

    ck_result(ptxiGraphLaunch(y, stream), PTXI_ERROR_INVALID_VALUE);
    launch(x);
    launch(y);
    ck_assert_uint_eq(word(at), 1);

    /* it outlives its graph and the instance */
    launch(x);
    ok(ptxiGraphExecDestroy(x));
    ok(ptxiGraphExecDestroy(y));
    ok(ptxiGraphDestroy(graph));
    ok(ptxiGraphDestroy(other));
    graph = NULL;
    ck_assert_uint_eq(word(at), 7);
    ok(ptxiMemFree(at));
    ck_result(ptxiMemFree(at), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(memory_that_is_freed_by_the_next_launch)
{
    ptxiGraphNode a;
    ptxiDevicePtr at = allocate(graph, &a);
    ptxiGraphExec x = instance(graph, PTXI_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    unsigned long long flags;

    ok(ptxiGraphExecGetFlags(x, &flags));
    ck_assert_uint_eq(flags, PTXI_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    launch(x);
    ok(ptxiGraphLaunch(x, stream));
    launch(x);
    ck_assert_uint_eq(attribute(PTXI_GRAPH_MEM_ATTR_USED_MEM_CURRENT), CHUNK);
    ok(ptxiMemsetD32(at, 3, WORDS));
    ok(ptxiGraphExecDestroy(x));
    ok(ptxiMemFree(at));
}
END_TEST

START_TEST(attributes_of_memory)
{
    ptxiGraphNode a;
    ptxiDevicePtr at = allocate(graph, &a);
    ptxiGraphExec x = instance(graph, 0);
    uint64_t value = 0;

    ck_assert_uint_eq(attribute(PTXI_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0);
    ck_assert_uint_eq(attribute(PTXI_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 0);
    launch(x);
    ok(ptxiMemsetD32(at, 3, WORDS));
    ck_assert_uint_eq(attribute(PTXI_GRAPH_MEM_ATTR_USED_MEM_CURRENT), CHUNK);
    ck_assert_uint_eq(attribute(PTXI_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), CHUNK);
    ok(ptxiDeviceGraphMemTrim(0));
    ck_assert_uint_eq(word(at), 3);
    ok(ptxiMemFree(at));
    ck_assert_uint_eq(attribute(PTXI_GRAPH_MEM_ATTR_USED_MEM_CURRENT), CHUNK);
    ck_assert_uint_eq(attribute(PTXI_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), CHUNK);
    ok(ptxiDeviceGraphMemTrim(0));
    ck_assert_uint_eq(attribute(PTXI_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0);
    ck_assert_uint_eq(attribute(PTXI_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 0);
    ck_assert_uint_eq(attribute(PTXI_GRAPH_MEM_ATTR_USED_MEM_HIGH), CHUNK);
    ck_assert_uint_eq(attribute(PTXI_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH), CHUNK);
    ok(ptxiDeviceSetGraphMemAttribute(0, PTXI_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value));
    ck_assert_uint_eq(attribute(PTXI_GRAPH_MEM_ATTR_USED_MEM_HIGH), 0);
    ck_result(ptxiDeviceSetGraphMemAttribute(0, PTXI_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value),
              PTXI_ERROR_INVALID_VALUE);
    value = 1;
    ck_result(ptxiDeviceSetGraphMemAttribute(0, PTXI_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiDeviceGetGraphMemAttribute(0, (ptxiGraphMemAttribute)4, &value), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiDeviceGetGraphMemAttribute(1, PTXI_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value), PTXI_ERROR_INVALID_DEVICE);
    ok(ptxiGraphExecDestroy(x));
}
END_TEST

START_TEST(rules_of_graphs_with_memory)
{
    ptxiGraphNode a, b, f;
    ptxiDevicePtr at = allocate(graph, &a), ordinary;
    ptxiGraph other;
    ptxiGraphExec x, y;
    PTXI_MEM_ALLOC_NODE_PARAMS p = of_bytes(0);

    ck_result(ptxiGraphAddMemAllocNode(&b, graph, NULL, 0, &p), PTXI_ERROR_INVALID_VALUE);
    p = of_bytes(8);
    p.poolProps.handleTypes = 1;
    ck_result(ptxiGraphAddMemAllocNode(&b, graph, NULL, 0, &p), PTXI_ERROR_NOT_SUPPORTED);
    p = of_bytes((size_t)1 << 60);
    ck_result(ptxiGraphAddMemAllocNode(&b, graph, NULL, 0, &p), PTXI_ERROR_OUT_OF_MEMORY);
    p = of_bytes(8);
    p.accessDescCount = 1;
    ck_result(ptxiGraphAddMemAllocNode(&b, graph, NULL, 0, &p), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemAlloc(&ordinary, BYTES));
    ck_result(ptxiGraphAddMemFreeNode(&f, graph, NULL, 0, ordinary), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphAddMemFreeNode(&f, graph, NULL, 0, at + 8), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphAddMemFreeNode(&f, graph, NULL, 0, 0), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiGraphAddMemFreeNode(&f, graph, &a, 1, at));
    ck_result(ptxiGraphAddMemFreeNode(&f, graph, &a, 1, at), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiGraphCreate(&other, 0));
    ck_result(ptxiGraphAddMemFreeNode(&f, other, NULL, 0, at), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphClone(&other, graph), PTXI_ERROR_NOT_SUPPORTED);
    ck_result(ptxiGraphAddChildGraphNode(&b, other, NULL, 0, graph), PTXI_ERROR_NOT_SUPPORTED);
    ck_result(ptxiGraphRemoveDependencies(graph, &a, &f, NULL, 1), PTXI_ERROR_NOT_SUPPORTED);
    ck_result(ptxiGraphDestroyNode(a), PTXI_ERROR_NOT_SUPPORTED);
    x = instance(graph, 0);
    ck_result(ptxiGraphInstantiate(&y, graph, 0), PTXI_ERROR_NOT_SUPPORTED);
    ok(ptxiGraphExecUpdate(x, graph, NULL));
    ok(ptxiGraphExecDestroy(x));
    y = instance(graph, 0);
    launch(y);
    ok(ptxiGraphExecDestroy(y));
    ok(ptxiGraphDestroy(other));
    ck_result(ptxiGraphInstantiate(&y, graph, PTXI_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(other_memory_is_no_update)
{
    ptxiGraphNode a, b;
    ptxiGraph other;
    ptxiGraphExecUpdateResultInfo info;

    allocate(graph, &a);
    ok(ptxiGraphCreate(&other, 0));
    allocate(other, &b);
    ptxiGraphExec x = instance(graph, 0);

    ck_result(ptxiGraphExecUpdate(x, other, &info), PTXI_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    ck_assert(info.result == PTXI_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED && info.errorNode == b);
    ok(ptxiGraphExecDestroy(x));
    ok(ptxiGraphDestroy(other));
}
END_TEST

START_TEST(a_graph_moves_into_a_node)
{
    ptxiGraph child, got;
    ptxiGraphNode a, f, n;
    ptxiDevicePtr at;
    ptxiGraphExec x;
    ptxiGraphNodeParams p = { .type = PTXI_GRAPH_NODE_TYPE_GRAPH };
    PTXI_MEM_ALLOC_NODE_PARAMS more = of_bytes(8);

    ok(ptxiGraphCreate(&child, 0));
    at = allocate(child, &a);
    ok(ptxiGraphAddMemFreeNode(&f, child, &a, 1, at));
    p.value.graph = (PTXI_CHILD_GRAPH_NODE_PARAMS){ child, PTXI_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE };
    ck_result(ptxiGraphAddNode(&n, graph, &a, NULL, 1, &p), PTXI_ERROR_INVALID_VALUE); /* it stays the program's */
    ck_result(ptxiGraphAddNode(&n, child, NULL, NULL, 0, &p), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiGraphAddNode(&n, graph, NULL, NULL, 0, &p));
    ok(ptxiGraphChildGraphNodeGetGraph(n, &got));
    ck_assert_ptr_eq(got, child);
    ck_result(ptxiGraphDestroy(child), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphInstantiate(&x, child, 0), PTXI_ERROR_NOT_SUPPORTED);
    ck_result(ptxiGraphAddNode(&n, graph, NULL, NULL, 0, &p), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphAddMemAllocNode(&n, child, NULL, 0, &more), PTXI_ERROR_NOT_SUPPORTED);
    x = instance(graph, 0);
    launch(x);
    ck_result(ptxiGraphInstantiate(&x, graph, 0), PTXI_ERROR_NOT_SUPPORTED);
    ok(ptxiGraphExecDestroy(x));
}
END_TEST

START_TEST(memory_in_a_capture)
{
    ptxiDevicePtr at = 1, none = 1, ordinary;
    ptxiGraph g;
    ptxiGraphNode nodes[8];
    size_t count = 8;
    ptxiGraphNodeType type;
    static const int types[] = { PTXI_GRAPH_NODE_TYPE_MEM_ALLOC, PTXI_GRAPH_NODE_TYPE_MEMSET,
                                 PTXI_GRAPH_NODE_TYPE_BATCH_MEM_OP, PTXI_GRAPH_NODE_TYPE_MEM_FREE };

    ok(ptxiMemAlloc(&ordinary, BYTES));
    ok(ptxiStreamBeginCapture(stream, PTXI_STREAM_CAPTURE_MODE_RELAXED));
    ok(ptxiMemAllocAsync(&none, 0, stream));
    ck_assert_uint_eq(none, 0);
    ok(ptxiMemAllocAsync(&at, BYTES, stream));
    ok(ptxiMemsetD8Async(ordinary, 1, 8, stream));
    ok(ptxiStreamWriteValue32(stream, ordinary, 9, 0));
    ck_result(ptxiMemFreeAsync(ordinary, stream), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemFreeAsync(at, stream));
    ck_result(ptxiMemFreeAsync(at, stream), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiStreamEndCapture(stream, &g));
    ok(ptxiGraphGetNodes(g, nodes, &count));
    ck_assert_uint_eq(count, 4);
    for (unsigned i = 0; i < count; i++) {
        ok(ptxiGraphNodeGetType(nodes[i], &type));
        ck_assert_int_eq(type, types[i]);
    }
    ptxiGraphExec x = instance(g, 0);

    launch(x);
    ck_assert_uint_eq(word(ordinary), 9);
    ok(ptxiStreamBeginCapture(stream, PTXI_STREAM_CAPTURE_MODE_RELAXED));
    ck_result(ptxiGraphLaunch(x, stream), PTXI_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    ok(ptxiStreamEndCapture(stream, &graph));
    ok(ptxiGraphExecDestroy(x));
    ok(ptxiGraphDestroy(g));
}
END_TEST

START_TEST(memory_and_the_end_of_its_context)
{
    ptxiContext other;
    ptxiGraphNode a;
    ptxiGraph g;

    ok(ptxiCtxCreate(&other, 0, 0));
    ok(ptxiGraphCreate(&g, 0));
    ptxiDevicePtr at = allocate(g, &a);
    ptxiGraphExec x = instance(g, 0);

    ok(ptxiGraphLaunch(x, NULL));
    ok(ptxiCtxDestroy(other));
    ok(ptxiCtxSetCurrent(ctx));
    ok(ptxiDeviceGraphMemTrim(0));
    ck_assert_uint_eq(attribute(PTXI_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0);
    ck_assert_uint_eq(word(at), 1);
    ck_result(ptxiMemFree(at), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiGraphExecDestroy(x));
    ok(ptxiGraphDestroy(g));
}
END_TEST

/* ---- captures into graphs */

static size_t dependencies(const ptxiGraphNode **nodes)
{
    ptxiStreamCaptureStatus status;
    size_t count = 77;

    ok(ptxiStreamGetCaptureInfo(stream, &status, NULL, NULL, nodes, NULL, &count));
    return status == PTXI_STREAM_CAPTURE_STATUS_ACTIVE ? count : 99;
}

START_TEST(a_capture_continues_a_graph)
{
    ptxiGraphNode a, b, foreign;
    const ptxiGraphNode *after;
    ptxiGraph g, other;
    ptxiDevicePtr at;
    ptxiStream second;
    ptxiGraphEdgeData plain = { .type = 0 }, programmatic = { .type = 1, .from_port = 1 };
    size_t count;

    ok(ptxiMemAlloc(&at, BYTES));
    ok(ptxiGraphCreate(&other, 0));
    ok(ptxiGraphAddEmptyNode(&a, graph, NULL, 0));
    ok(ptxiGraphAddEmptyNode(&b, graph, NULL, 0));
    ok(ptxiGraphAddEmptyNode(&foreign, other, NULL, 0));
    ck_result(ptxiStreamBeginCaptureToGraph(stream, graph, &foreign, NULL, 1, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 1, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiStreamBeginCaptureToGraph(stream, graph, &a, &programmatic, 1, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiStreamUpdateCaptureDependencies(stream, &a, NULL, 1, 0), PTXI_ERROR_ILLEGAL_STATE);
    ok(ptxiStreamBeginCaptureToGraph(stream, graph, (ptxiGraphNode[]){ a, a },
                                     (ptxiGraphEdgeData[]){ plain, plain }, 2, PTXI_STREAM_CAPTURE_MODE_RELAXED));
    ok(ptxiStreamCreate(&second, 0));
    ck_result(ptxiStreamBeginCaptureToGraph(second, graph, NULL, NULL, 0, 0), PTXI_ERROR_ILLEGAL_STATE);
    ck_result(ptxiGraphDestroy(graph), PTXI_ERROR_ILLEGAL_STATE);
    ck_assert(dependencies(&after) == 1 && after[0] == a);
    ok(ptxiStreamUpdateCaptureDependencies(stream, (ptxiGraphNode[]){ a, b }, NULL, 2,
                                           PTXI_STREAM_ADD_CAPTURE_DEPENDENCIES));
    ck_assert(dependencies(&after) == 2 && after[1] == b);
    ck_result(ptxiStreamUpdateCaptureDependencies(stream, &foreign, NULL, 1, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiStreamUpdateCaptureDependencies(stream, &a, NULL, 1, 2), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiMemsetD8Async(at, 1, 8, stream));
    ok(ptxiStreamUpdateCaptureDependencies(stream, &b, NULL, 1, PTXI_STREAM_SET_CAPTURE_DEPENDENCIES));
    ck_assert(dependencies(&after) == 1 && after[0] == b);
    ok(ptxiStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, PTXI_STREAM_SET_CAPTURE_DEPENDENCIES));
    ck_assert_uint_eq(dependencies(&after), 0);
    ok(ptxiStreamEndCapture(stream, &g));
    ck_assert_ptr_eq(g, graph);
    ok(ptxiGraphGetNodes(graph, NULL, &count));
    ck_assert_uint_eq(count, 3);
    ok(ptxiStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, PTXI_STREAM_CAPTURE_MODE_RELAXED));
    ok(ptxiMemsetD8Async(at, 1, 8, stream));
    ok(ptxiStreamEndCapture(stream, NULL));
    ok(ptxiGraphGetNodes(graph, NULL, &count));
    ck_assert_uint_eq(count, 4);
    ok(ptxiStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, PTXI_STREAM_CAPTURE_MODE_RELAXED));
    ck_result(ptxiStreamSynchronize(stream), PTXI_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    ck_result(ptxiStreamEndCapture(stream, &g), PTXI_ERROR_STREAM_CAPTURE_INVALIDATED);
    ck_assert_int_ne(ptxiGraphGetNodes(graph, NULL, &count), PTXI_SUCCESS); /* the driver destroys it, too */
    graph = NULL;
    ok(ptxiGraphDestroy(other));
}
END_TEST

START_TEST(a_capture_into_a_graph_that_goes)
{
    ptxiGraphConditionalHandle handle;
    ptxiGraphNode n;
    ptxiGraph g;

    ok(ptxiGraphConditionalHandleCreate(&handle, graph, ctx, 1, 0));
    ptxiGraphNodeParams p = { .type = PTXI_GRAPH_NODE_TYPE_CONDITIONAL,
                              .value.conditional = { .handle = handle, .size = 1 } };

    ok(ptxiGraphAddNode(&n, graph, NULL, NULL, 0, &p));
    ok(ptxiStreamBeginCaptureToGraph(stream, p.value.conditional.phGraph_out[0], NULL, NULL, 0,
                                     PTXI_STREAM_CAPTURE_MODE_RELAXED));
    ok(ptxiGraphDestroy(graph));
    graph = NULL;
    ck_result(ptxiStreamWriteValue32(stream, 0, 0, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, 0), PTXI_ERROR_STREAM_CAPTURE_INVALIDATED);
    ck_result(ptxiStreamEndCapture(stream, &g), PTXI_ERROR_STREAM_CAPTURE_INVALIDATED);
}
END_TEST

START_TEST(bodies_allocate_no_memory)
{
    ptxiGraphConditionalHandle handle;
    ptxiGraphNode n;
    ptxiGraphExec x;

    ok(ptxiGraphConditionalHandleCreate(&handle, graph, ctx, 1, 0));
    ptxiGraphNodeParams p = { .type = PTXI_GRAPH_NODE_TYPE_CONDITIONAL,
                              .value.conditional = { .handle = handle, .size = 1 } };

    ok(ptxiGraphAddNode(&n, graph, NULL, NULL, 0, &p));
    allocate(p.value.conditional.phGraph_out[0], &n);
    ck_result(ptxiGraphInstantiate(&x, graph, 0), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

/* ---- user objects */

static void destroy(void *p)
{
    ++*(_Atomic int *)p;
}

static int wait_destroyed(void)
{
    for (unsigned k = 0; k < 2000 && !destroyed; k++)
        usleep(1000);
    return destroyed;
}

static void block(void *p)
{
    while (!*(_Atomic int *)p)
        usleep(100);
}

START_TEST(graphs_keep_objects)
{
    ptxiUserObject o;
    ptxiGraph clone;
    ptxiGraphNode n;
    static _Atomic int go;

    ck_result(ptxiUserObjectCreate(&o, &destroyed, destroy, 0, 1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiUserObjectCreate(&o, &destroyed, destroy, 1, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiUserObjectCreate(&o, &destroyed, NULL, 1, 1), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiUserObjectCreate(&o, &destroyed, destroy, 2, PTXI_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    ok(ptxiUserObjectRetain(o, 3));
    ok(ptxiUserObjectRelease(o, 4));
    ck_result(ptxiUserObjectRelease(o, 2), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiUserObjectRetain(o, 0), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiUserObjectRetain(NULL, 1), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphRetainUserObject(graph, o, 2, PTXI_GRAPH_USER_OBJECT_MOVE), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphRetainUserObject(graph, o, 1, 2), PTXI_ERROR_INVALID_VALUE);
    ck_result(ptxiGraphReleaseUserObject(graph, o, 1), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiGraphRetainUserObject(graph, o, 2, 0));
    ok(ptxiGraphReleaseUserObject(graph, o, 1));
    ok(ptxiGraphRetainUserObject(graph, o, 1, PTXI_GRAPH_USER_OBJECT_MOVE));
    ck_result(ptxiUserObjectRelease(o, 1), PTXI_ERROR_INVALID_VALUE); /* the program has none */
    ok(ptxiGraphAddHostNode(&n, graph, NULL, 0, &(PTXI_HOST_NODE_PARAMS){ block, &go }));
    ok(ptxiGraphClone(&clone, graph));
    ptxiGraphExec x = instance(graph, 0);

    ok(ptxiGraphDestroy(graph));
    ok(ptxiGraphDestroy(clone));
    graph = NULL;
    ok(ptxiGraphLaunch(x, stream));
    ok(ptxiGraphExecDestroy(x));
    usleep(10000);
    ck_assert_int_eq(destroyed, 0); /* the launch has not ended */
    go = 1;
    ok(ptxiStreamSynchronize(stream));
    ck_assert_int_eq(wait_destroyed(), 1);
    ck_result(ptxiUserObjectRetain(o, 1), PTXI_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(objects_go_with_their_last_reference)
{
    ptxiUserObject o;

    ok(ptxiUserObjectCreate(&o, &destroyed, destroy, 1, PTXI_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    ok(ptxiUserObjectRelease(o, 1));
    ck_assert_int_eq(wait_destroyed(), 1);
}
END_TEST

/* ---- memory operations */

START_TEST(nodes_with_memory_operations)
{
    ptxiDevicePtr at;
    ptxiGraphNode n;

    ok(ptxiMemAlloc(&at, BYTES));
    ptxiStreamBatchMemOpParams ops[] = {
        { .operation = PTXI_STREAM_MEM_OP_WRITE_VALUE_32, .address = at, .value64 = 5 },
        { .operation = PTXI_STREAM_MEM_OP_WAIT_VALUE_32, .address = at, .value64 = 5,
          .flags = PTXI_STREAM_WAIT_VALUE_EQ },
    };
    PTXI_BATCH_MEM_OP_NODE_PARAMS p = { .ctx = ctx, .count = 2, .paramArray = ops }, got;

    ok(ptxiGraphAddBatchMemOpNode(&n, graph, NULL, 0, &p));
    ok(ptxiGraphBatchMemOpNodeGetParams(n, &got));
    ck_assert(got.count == 2 && got.paramArray != ops && got.paramArray[1].address == at);
    ptxiGraphExec x = instance(graph, 0);

    launch(x);
    ck_assert_uint_eq(word(at), 5);
    ops[0].value64 = 6;
    ok(ptxiGraphExecBatchMemOpNodeSetParams(x, n, &(PTXI_BATCH_MEM_OP_NODE_PARAMS){ ctx, 2, ops, 0 }));
    ops[1].value64 = 6;
    ok(ptxiGraphExecBatchMemOpNodeSetParams(x, n, &p));
    launch(x);
    ck_assert_uint_eq(word(at), 6);
    p.count = 1;
    ck_result(ptxiGraphExecBatchMemOpNodeSetParams(x, n, &p), PTXI_ERROR_INVALID_VALUE);
    ops[0].value64 = 7;
    ok(ptxiGraphBatchMemOpNodeSetParams(n, &p));
    ok(ptxiGraphExecUpdate(x, graph, NULL));
    launch(x);
    ck_assert_uint_eq(word(at), 7);
    p.flags = 1;
    ck_result(ptxiGraphAddBatchMemOpNode(&n, graph, NULL, 0, &p), PTXI_ERROR_INVALID_VALUE);
    p = (PTXI_BATCH_MEM_OP_NODE_PARAMS){ .count = 1, .paramArray = ops };
    ck_result(ptxiGraphAddBatchMemOpNode(&n, graph, NULL, 0, &p), PTXI_ERROR_INVALID_VALUE);
    p.ctx = ctx;
    p.count = 0;
    ok(ptxiGraphAddBatchMemOpNode(&n, graph, NULL, 0, &p));
    p.count = 256;
    ck_result(ptxiGraphAddBatchMemOpNode(&n, graph, NULL, 0, &p), PTXI_ERROR_INVALID_VALUE);
    p.count = 1;
    ops[0].address++;
    ck_result(ptxiGraphAddBatchMemOpNode(&n, graph, NULL, 0, &p), PTXI_ERROR_INVALID_VALUE);
    ops[0].operation = (ptxiStreamBatchMemOpType)9;
    ck_result(ptxiGraphAddBatchMemOpNode(&n, graph, NULL, 0, &p), PTXI_ERROR_INVALID_VALUE);
    ops[0].operation = PTXI_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
    ck_result(ptxiGraphAddBatchMemOpNode(&n, graph, NULL, 0, &p), PTXI_ERROR_NOT_SUPPORTED);
    ok(ptxiGraphExecDestroy(x));
}
END_TEST

/* ---- text */

static void expect_text(unsigned flags, const char *part)
{
    char path[] = "/tmp/ptxi-dot-XXXXXX", text[4096] = "";
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    ok(ptxiGraphDebugDotPrint(graph, path, flags));
    ck_assert_int_gt(read(fd, text, sizeof text - 1), 0);
    close(fd);
    unlink(path);
    ck_assert_str_eq(text + strlen(text) - 2, "}\n");
    ck_assert_msg(strstr(text, part) != NULL, "%s is not in\n%s", part, text);
}

START_TEST(graphs_as_text)
{
    ptxiGraphNode a;
    ptxiDevicePtr at = allocate(graph, &a);

    fill(graph, at, 7, a);
    expect_text(0, "\"graph_1_node_0\"[style=\"solid\" shape=\"rectangle\" label=\"0\\nMEM_ALLOC\"];\n");
    expect_text(0, "\"graph_1_node_0\" -> \"graph_1_node_1\";\n");
    expect_text(PTXI_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS, ", 4096 bytes");
    expect_text(PTXI_GRAPH_DEBUG_DOT_FLAGS_VERBOSE, "value 0x7, 1024 x 1 elements of 4 bytes");
    ck_result(ptxiGraphDebugDotPrint(graph, "/nowhere/at/all", 0), PTXI_ERROR_OPERATING_SYSTEM);
    ck_result(ptxiGraphDebugDotPrint(graph, NULL, 0), PTXI_ERROR_INVALID_VALUE);
    ok(ptxiGraphDebugDotPrint(graph, "/dev/null", 1 << 20));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("graph memory");
    TCase *t = tcase_create("graph memory");

    tcase_add_checked_fixture(t, load, unload);
    tcase_add_test(t, memory_exists_between_its_nodes);
    tcase_add_test(t, memory_that_a_launch_leaves);
    tcase_add_test(t, memory_that_is_freed_by_the_next_launch);
    tcase_add_test(t, attributes_of_memory);
    tcase_add_test(t, rules_of_graphs_with_memory);
    tcase_add_test(t, other_memory_is_no_update);
    tcase_add_test(t, a_graph_moves_into_a_node);
    tcase_add_test(t, memory_in_a_capture);
    tcase_add_test(t, memory_and_the_end_of_its_context);
    tcase_add_test(t, a_capture_continues_a_graph);
    tcase_add_test(t, a_capture_into_a_graph_that_goes);
    tcase_add_test(t, bodies_allocate_no_memory);
    tcase_add_test(t, graphs_keep_objects);
    tcase_add_test(t, objects_go_with_their_last_reference);
    tcase_add_test(t, nodes_with_memory_operations);
    tcase_add_test(t, graphs_as_text);
    suite_add_tcase(s, t);
    return run_suite(s);
}
