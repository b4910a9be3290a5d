// A graph built node by node: kernels, copies, fills, host functions, events, child graphs, empty nodes; queries.
#include "show.h"

__global__ void scale(int *p, int factor)
{
    p[threadIdx.x] *= factor;
}

__global__ void add(int *p, const int *q)
{
    p[threadIdx.x] += q[threadIdx.x];
}

static void note(void *arg)
{
    ++*(int *)arg;
}

static const char *type_name(cudaGraphNode_t node)
{
    static const char *const names[] = { "kernel", "memcpy", "memset", "host", "graph", "empty", "wait", "record" };
    cudaGraphNodeType type;

    MUST(cudaGraphNodeGetType(node, &type));
    return type < 8 ? names[type] : "other";
}

int main()
{
    cudaGraph_t graph, child;
    cudaGraphExec_t exec;
    cudaGraphNode_t fill_node, copy_node, scale_node, add_node, host_node, child_node, empty_node;
    cudaGraphNode_t nodes[8], from[8], to[8];
    cudaStream_t stream;
    int *p, *q, host[4] = { 1, 2, 3, 4 }, got[4] = {}, calls = 0, factor = 3;
    size_t count;

    MUST(cudaMalloc(&p, 16));
    MUST(cudaMalloc(&q, 16));
    MUST(cudaStreamCreate(&stream));
    SHOW(cudaGraphCreate(&graph, 0));
    SHOW(cudaGraphCreate(&child, 0));

    cudaMemsetParams fill = {};
    fill.dst = q;
    fill.elementSize = 4;
    fill.width = 4;
    fill.height = 1;
    fill.value = 10;
    SHOW(cudaGraphAddMemsetNode(&fill_node, graph, nullptr, 0, &fill));
    SHOW(cudaGraphAddMemcpyNode1D(&copy_node, graph, nullptr, 0, p, host, 16, cudaMemcpyHostToDevice));
    void *scale_args[] = { &p, &factor }, *add_args[] = { &p, &q };
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)scale;
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(4);
    kernel.kernelParams = scale_args;
    SHOW(cudaGraphAddKernelNode(&scale_node, graph, &copy_node, 1, &kernel));
    kernel.func = (void *)add;
    kernel.kernelParams = add_args;
    cudaGraphNode_t both[] = { scale_node, fill_node };
    SHOW(cudaGraphAddKernelNode(&add_node, graph, both, 2, &kernel));
    SHOW(cudaGraphAddMemcpyNode1D(&nodes[0], child, nullptr, 0, got, p, 16, cudaMemcpyDeviceToHost));
    SHOW(cudaGraphAddChildGraphNode(&child_node, graph, &add_node, 1, child));
    SHOW(cudaGraphAddEmptyNode(&empty_node, graph, &child_node, 1));
    cudaHostNodeParams host_params = { note, &calls };
    SHOW(cudaGraphAddHostNode(&host_node, graph, &empty_node, 1, &host_params));

    SHOW(cudaGraphGetNodes(graph, nullptr, &count));
    printf("nodes %zu\n", count);
    SHOW(cudaGraphGetNodes(graph, nodes, &count));
    for (size_t i = 0; i < count; i++)
        printf("  %s\n", type_name(nodes[i]));
    SHOW(cudaGraphGetRootNodes(graph, nullptr, &count));
    printf("roots %zu\n", count);
    SHOW(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    printf("edges %zu\n", count);
    count = 8;
    SHOW(cudaGraphGetEdges(graph, from, to, nullptr, &count));
    for (size_t i = 0; i < count; i++)
        printf("  %s -> %s\n", type_name(from[i]), type_name(to[i]));
    count = 8;
    SHOW(cudaGraphNodeGetDependencies(add_node, nodes, nullptr, &count));
    printf("dependencies %zu\n", count);
    SHOW(cudaGraphNodeGetDependentNodes(copy_node, nodes, nullptr, &count));
    printf("dependents %zu, %s\n", count, type_name(nodes[0]));
    SHOW(cudaGraphKernelNodeGetParams(scale_node, &kernel));
    printf("host function %d, block %u, parameter %d\n", kernel.func == (void *)scale, kernel.blockDim.x,
           *(int *)kernel.kernelParams[1]);
    cudaMemcpy3DParms copy;
    SHOW(cudaGraphMemcpyNodeGetParams(copy_node, &copy));
    printf("extent %zu %zu %zu kind %d\n", copy.extent.width, copy.extent.height, copy.extent.depth, copy.kind);
    SHOW(cudaGraphMemsetNodeGetParams(fill_node, &fill));
    printf("fill %u x %zu\n", fill.value, fill.width);

    SHOW(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        SHOW(cudaGraphLaunch(exec, stream));
        SHOW(cudaStreamSynchronize(stream));
        show_ints("result", got, 4);
    }
    printf("host function called %d times\n", calls);

    // Errors
    SHOW(cudaGraphAddDependencies(graph, &host_node, &copy_node, nullptr, 1));
    SHOW(cudaGraphInstantiate(&exec, graph, 0));
    SHOW(cudaGraphRemoveDependencies(graph, &host_node, &copy_node, nullptr, 1));
    SHOW(cudaGraphAddDependencies(graph, &add_node, &add_node, nullptr, 1));
    SHOW(cudaGraphAddDependencies(graph, &scale_node, &add_node, nullptr, 1));
    kernel.blockDim = dim3(5000);
    SHOW(cudaGraphAddKernelNode(&scale_node, graph, nullptr, 0, &kernel));
    kernel.func = nullptr;
    SHOW(cudaGraphAddKernelNode(&scale_node, graph, nullptr, 0, &kernel));
    SHOW(cudaGraphAddEmptyNode(nullptr, graph, nullptr, 0));
    SHOW(cudaGraphAddEmptyNode(&empty_node, nullptr, nullptr, 0));
    SHOW(cudaGraphAddMemcpyNode1D(&copy_node, graph, nullptr, 0, p, host, 16, (cudaMemcpyKind)9));
    SHOW(cudaGraphCreate(&graph, 1));
    SHOW(cudaGraphLaunch(nullptr, stream));
    SHOW(cudaGraphDestroyNode(host_node));
    SHOW(cudaGraphDestroy(graph));
    SHOW(cudaGraphExecDestroy(exec));
    SHOW(cudaGetLastError());
    return 0;
}
