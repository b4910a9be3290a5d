/* A graph with nodes for the kernel, the memory and the counter of a test. */
#ifndef PTXI_TESTS_GRAPH_FIXTURE_H
#define PTXI_TESTS_GRAPH_FIXTURE_H

#include "unit/support/context.h"
#include "unit/support/test_file.h"

enum { N = 64, BYTES = 4 * N };

static ptxiModule module;
static ptxiFunction step;
static ptxiDevicePtr v, w;
static ptxiGraph graph;
static unsigned host[N], calls;
static ptxiGraphExec instances[8];
static unsigned instance_count;

static inline void load(void)
{
    open_context();
    ok(ptxiModuleLoadData(&module, test_file("api/graph/graph.ptx")));
    ok(ptxiModuleGetFunction(&step, module, "step"));
    ok(ptxiMemAlloc(&v, BYTES));
    ok(ptxiMemAlloc(&w, BYTES));
    ok(ptxiGraphCreate(&graph, 0));
    calls = instance_count = 0;
}

static inline void unload(void)
{
    while (instance_count)
        ok(ptxiGraphExecDestroy(instances[--instance_count]));
    if (graph)
        ok(ptxiGraphDestroy(graph));
    close_context();
}

/* Adds a kernel node. The parameters are structures on the stack, so the graph must copy what they point to. */
static inline ptxiGraphNode add_kernel(unsigned k, ptxiGraphNode after)
{
    ptxiGraphNode n;
    PTXI_KERNEL_NODE_PARAMS p = { .func = step, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = N,
                                  .blockDimY = 1, .blockDimZ = 1,
                                  .kernelParams = (void *[]){ &v, &k } };

    ok(ptxiGraphAddKernelNode(&n, graph, &after, after != NULL, &p));
    return n;
}

static inline PTXI_MEMCPY3D describe_copy(ptxiDevicePtr to, void *to_host, ptxiDevicePtr from)
{
    return (PTXI_MEMCPY3D){ .srcMemoryType = PTXI_MEMORYTYPE_DEVICE, .srcDevice = from, .dstMemoryType = to_host
                            ? PTXI_MEMORYTYPE_HOST : PTXI_MEMORYTYPE_DEVICE,
                            .dstDevice = to, .dstHost = to_host, .WidthInBytes = BYTES, .Height = 1, .Depth = 1 };
}

static inline void count(void *p)
{
    ++*(unsigned *)p;
}

static inline ptxiGraphNode add_fill(unsigned value, ptxiGraphNode after)
{
    PTXI_MEMSET_NODE_PARAMS p = { .dst = v, .value = value, .elementSize = 4, .width = N, .height = 1 };
    ptxiGraphNode n;

    ok(ptxiGraphAddMemsetNode(&n, graph, &after, after != NULL, &p, ctx));
    return n;
}

static inline ptxiGraphExec make_instance(void)
{
    ptxiGraphExec x;

    ok(ptxiGraphInstantiate(&x, graph, 0));
    instances[instance_count++] = x;
    return x;
}

static inline void launch(ptxiGraphExec x, ptxiStream s)
{
    ok(ptxiGraphLaunch(x, s));
    ok(ptxiStreamSynchronize(s));
}

#endif
