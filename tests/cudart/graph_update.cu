// Changes to instances of graphs: parameters of nodes, whole updates, clones, and nodes that are disabled.
#include "show.h"

__global__ void add(int *p, int value)
{
    p[threadIdx.x] += value;
}

__global__ void multiply(int *p, int value)
{
    p[threadIdx.x] *= value;
}

static int *p;
static cudaStream_t stream;

static void run(const char *label, cudaGraphExec_t exec)
{
    int host[4];

    MUST(cudaMemset(p, 0, 16));
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaStreamSynchronize(stream));
    fetch(host, p, 4);
    show_ints(label, host, 4);
}

static cudaGraph_t make_graph(void (*kernel)(int *, int), int value, int extra_nodes, cudaGraphNode_t *node)
{
    cudaGraph_t graph;
    cudaKernelNodeParams k = {};
    void *args[] = { &p, &value };
    cudaGraphNode_t last;

    MUST(cudaGraphCreate(&graph, 0));
    k.func = (void *)kernel;
    k.gridDim = dim3(1);
    k.blockDim = dim3(4);
    k.kernelParams = args;
    MUST(cudaGraphAddKernelNode(node, graph, nullptr, 0, &k));
    last = *node;
    for (int i = 0; i < extra_nodes; i++)
        MUST(cudaGraphAddKernelNode(&last, graph, &last, 1, &k));
    return graph;
}

static void try_update(const char *label, cudaGraphExec_t exec, cudaGraph_t graph)
{
    cudaGraphExecUpdateResultInfo info = {};

    printf("-- update: %s\n", label);
    SHOW(cudaGraphExecUpdate(exec, graph, &info));
    printf("result %d, node %d, from %d\n", info.result, info.errorNode != nullptr, info.errorFromNode != nullptr);
    cudaGetLastError();
}

int main()
{
    cudaGraphNode_t node, other, found;
    cudaGraphExec_t exec;
    int value = 5;
    unsigned enabled = 7;

    MUST(cudaMalloc(&p, 16));
    MUST(cudaStreamCreate(&stream));
    cudaGraph_t graph = make_graph(add, 3, 1, &node);
    SHOW(cudaGraphInstantiate(&exec, graph));
    run("twice 3", exec);

    cudaKernelNodeParams k;
    SHOW(cudaGraphKernelNodeGetParams(node, &k));
    void *args[] = { &p, &value };
    k.kernelParams = args;
    SHOW(cudaGraphExecKernelNodeSetParams(exec, node, &k));
    run("5 and 3", exec);
    SHOW(cudaGraphKernelNodeSetParams(node, &k));
    k.func = (void *)multiply;
    SHOW(cudaGraphExecKernelNodeSetParams(exec, node, &k));
    run("times 5 and 3", exec);

    SHOW(cudaGraphNodeGetEnabled(exec, node, &enabled));
    printf("enabled %u\n", enabled);
    SHOW(cudaGraphNodeSetEnabled(exec, node, 0));
    SHOW(cudaGraphNodeGetEnabled(exec, node, &enabled));
    printf("enabled %u\n", enabled);
    run("only 3", exec);
    SHOW(cudaGraphNodeSetEnabled(exec, node, 1));

    try_update("other parameters", exec, make_graph(add, 20, 1, &other));
    run("twice 20", exec);
    try_update("another kernel", exec, make_graph(multiply, 20, 1, &other));
    run("zero", exec);
    try_update("another number of nodes", exec, make_graph(add, 1, 2, &other));
    cudaGraph_t fill = make_graph(add, 1, 0, &other);
    cudaMemsetParams m = {};
    m.dst = p;
    m.elementSize = 1;
    m.width = 4;
    m.height = 1;
    SHOW(cudaGraphAddMemsetNode(&found, fill, &other, 1, &m));
    try_update("another type of node", exec, fill);

    cudaGraph_t clone;
    SHOW(cudaGraphClone(&clone, graph));
    SHOW(cudaGraphNodeFindInClone(&found, node, clone));
    SHOW(cudaGraphKernelNodeGetParams(found, &k));
    printf("parameter in the clone: %d\n", *(int *)k.kernelParams[1]);
    SHOW(cudaGraphNodeFindInClone(&found, other, clone));
    SHOW(cudaGraphDestroyNode(node));
    cudaGraphExec_t of_clone;
    SHOW(cudaGraphInstantiate(&of_clone, clone));
    run("clone", of_clone);
    unsigned long long flags = 9;
    SHOW(cudaGraphExecGetFlags(of_clone, &flags));
    printf("flags %llu\n", flags);
    SHOW(cudaGraphUpload(of_clone, stream));
    SHOW(cudaStreamSynchronize(stream));
    SHOW(cudaGraphDestroy(clone));
    SHOW(cudaGraphExecDestroy(of_clone));
    return 0;
}
