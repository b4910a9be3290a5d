// Conditional nodes: if with else, while, and switch. Kernels set their values.
#include "show.h"

__global__ void count_down(int *n, cudaGraphConditionalHandle handle)
{
    cudaGraphSetConditional(handle, --*n > 0);
}

__global__ void choose(cudaGraphConditionalHandle handle, const int *value)
{
    cudaGraphSetConditional(handle, *value);
}

__global__ void add(int *p, int value)
{
    *p += value;
}

static int *words;
static cudaStream_t stream;

static cudaGraphNode_t add_kernel(cudaGraph_t graph, void *kernel, void **args, cudaGraphNode_t *after)
{
    cudaGraphNode_t node;
    cudaKernelNodeParams k = {};

    k.func = kernel;
    k.gridDim = dim3(1);
    k.blockDim = dim3(1);
    k.kernelParams = args;
    MUST(cudaGraphAddKernelNode(&node, graph, after, after != nullptr, &k));
    return node;
}

static void run(cudaGraphExec_t exec, int first)
{
    int host[4] = { first };

    MUST(cudaMemcpy(words, host, sizeof host, cudaMemcpyHostToDevice));
    SHOW(cudaGraphLaunch(exec, stream));
    SHOW(cudaStreamSynchronize(stream));
    fetch(host, words, 4);
    show_ints("words", host, 4);
}

static void try_while()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    cudaGraphConditionalHandle handle;
    cudaGraphNodeParams params = { cudaGraphNodeTypeConditional };
    int *word = words + 1, one = 1;

    printf("-- while\n");
    MUST(cudaGraphCreate(&graph, 0));
    SHOW(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    params.conditional.handle = handle;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    SHOW(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    void *add_args[] = { &word, &one }, *count_args[] = { &words, &handle };
    cudaGraphNode_t first = add_kernel(params.conditional.phGraph_out[0], (void *)add, add_args, nullptr);
    add_kernel(params.conditional.phGraph_out[0], (void *)count_down, count_args, &first);
    SHOW(cudaGraphInstantiate(&exec, graph));
    run(exec, 5);
    run(exec, 1);
    run(exec, 0);
}

// With n bodies; each adds its number plus 1 to its own word.
static void try_choice(cudaGraphConditionalNodeType type, int n, int last)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node, chooser;
    cudaGraphConditionalHandle handle;
    cudaGraphNodeParams params = { cudaGraphNodeTypeConditional };

    printf("-- type %d with %d bodies\n", type, n);
    MUST(cudaGraphCreate(&graph, 0));
    SHOW(cudaGraphConditionalHandleCreate(&handle, graph));
    void *args[] = { &handle, &words };
    chooser = add_kernel(graph, (void *)choose, args, nullptr);
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = n;
    SHOW(cudaGraphAddNode(&node, graph, &chooser, nullptr, 1, &params));
    for (int i = 0; i < n; i++) {
        int *word = words + 1 + i, value = i + 1;
        void *add_args[] = { &word, &value };
        add_kernel(params.conditional.phGraph_out[i], (void *)add, add_args, nullptr);
    }
    SHOW(cudaGraphInstantiate(&exec, graph));
    for (int i = 0; i <= last; i++)
        run(exec, i);
}

int main()
{
    MUST(cudaMalloc(&words, 16));
    MUST(cudaStreamCreate(&stream));
    try_while();
    try_choice(cudaGraphCondTypeIf, 1, 2);
    try_choice(cudaGraphCondTypeIf, 2, 1);
    try_choice(cudaGraphCondTypeSwitch, 3, 3);
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphNodeParams params = { cudaGraphNodeTypeConditional };
    MUST(cudaGraphCreate(&graph, 0));
    SHOW(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    SHOW(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, 1, 4));
    MUST(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, 1, 0));
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 2;
    SHOW(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    SHOW(cudaGetLastError());
    return 0;
}
