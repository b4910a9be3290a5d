// Graphs that kernels launch: fire and forget, tail and sibling launches, and what may be in such graphs.
#include "show.h"

struct cell {
    int count, order[16];
};

__global__ void note(cell *c, int value)
{
    int at = atomicAdd(&c->count, 1);
    if (at < 16)
        c->order[at] = value;
}

// Returns the results of launches of a graph to out.
__global__ void launch_once(cudaGraphExec_t g, unsigned long long stream, int *out)
{
    *out = (int)cudaGraphLaunch(g, (cudaStream_t)stream);
}

__global__ void launch_tails(cudaGraphExec_t first, cudaGraphExec_t second, cell *c, int *out)
{
    out[0] = (int)cudaGraphLaunch(first, cudaStreamGraphTailLaunch);
    out[1] = (int)cudaGraphLaunch(second, cudaStreamGraphTailLaunch);
    int at = atomicAdd(&c->count, 1);
    c->order[at] = 100;
}

// Launches its own graph again until the count is 5.
__global__ void repeat(cell *c, int *out)
{
    int at = atomicAdd(&c->count, 1);
    c->order[at] = at;
    if (at < 4)
        out[at] = (int)cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

__global__ void current(int *out)
{
    *out = cudaGetCurrentGraphExec() != nullptr;
}

static cell *cells;
static int *results;

static void show(const char *label)
{
    printf("%s: %s\n", label, cudaGetErrorName(cudaDeviceSynchronize()));
    printf("  %d nodes:", cells->count);
    for (int i = 0; i < cells->count && i < 16; i++)
        printf(" %d", cells->order[i]);
    printf(", results");
    for (int i = 0; i < 5; i++)
        printf(" %d", results[i]);
    printf("\n");
    memset(cells, 0, sizeof *cells);
    memset(results, -1, 5 * sizeof *results);
}

static cudaGraphNode_t add_kernel(cudaGraph_t g, const cudaGraphNode_t *after, void *function, void **arguments)
{
    cudaGraphNode_t n;
    cudaKernelNodeParams p = {};

    p.func = function;
    p.gridDim = p.blockDim = dim3(1);
    p.kernelParams = arguments;
    MUST(cudaGraphAddKernelNode(&n, g, after, after != nullptr, &p));
    return n;
}

// A graph of kernels that note consecutive values.
static cudaGraphExec_t make_notes(int first, int count, unsigned flags)
{
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaGraphNode_t last;

    MUST(cudaGraphCreate(&g, 0));
    for (int i = 0; i < count; i++) {
        int value = first + i;
        void *arguments[] = { &cells, &value };
        last = add_kernel(g, i ? &last : nullptr, (void *)note, arguments);
    }
    MUST(cudaGraphInstantiate(&x, g, flags));
    MUST(cudaGraphDestroy(g));
    return x;
}

// A graph with one kernel, and one that notes 200 after it.
static cudaGraphExec_t make_launcher(void *function, void **arguments, unsigned flags)
{
    cudaGraph_t g;
    cudaGraphExec_t x;
    int value = 200;
    void *after[] = { &cells, &value };

    MUST(cudaGraphCreate(&g, 0));
    cudaGraphNode_t n = add_kernel(g, nullptr, function, arguments);
    add_kernel(g, &n, (void *)note, after);
    MUST(cudaGraphInstantiate(&x, g, flags));
    MUST(cudaGraphDestroy(g));
    return x;
}

static cudaGraphExec_t launch_in(cudaGraphExec_t child, cudaStream_t stream, unsigned flags)
{
    unsigned long long s = (unsigned long long)stream;
    void *arguments[] = { &child, &s, &results };

    return make_launcher((void *)launch_once, arguments, flags);
}

static void instantiate_with(const char *label, void add(cudaGraph_t))
{
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaGraphInstantiateParams p = {};

    MUST(cudaGraphCreate(&g, 0));
    add(g);
    printf("%s:\n", label);
    if (!SHOW(cudaGraphInstantiate(&x, g, cudaGraphInstantiateFlagDeviceLaunch)))
        MUST(cudaGraphExecDestroy(x));
    p.flags = cudaGraphInstantiateFlagDeviceLaunch;
    if (!SHOW(cudaGraphInstantiateWithParams(&x, g, &p))) {
        unsigned long long flags = 0;
        SHOW(cudaGraphExecGetFlags(x, &flags));
        printf("flags %llu\n", flags);
        MUST(cudaGraphExecDestroy(x));
    }
    printf("result %d, node %d\n", (int)p.result_out, p.errNode_out != nullptr);
    MUST(cudaGraphDestroy(g));
    cudaGetLastError();
}

static void do_nothing(void *) {}

int main()
{
    cudaStream_t s;
    cudaGraphExec_t a, b, x;

    MUST(cudaStreamCreate(&s));
    MUST(cudaHostAlloc(&cells, sizeof *cells, cudaHostAllocMapped));
    MUST(cudaHostAlloc(&results, 5 * sizeof *results, cudaHostAllocMapped));
    memset(cells, 0, sizeof *cells);
    memset(results, -1, 5 * sizeof *results);

    // One launch of each kind
    a = make_notes(1, 3, cudaGraphInstantiateFlagDeviceLaunch);
    SHOW(cudaGraphUpload(a, s));
    MUST(cudaStreamSynchronize(s));
    for (cudaStream_t k : { cudaStreamGraphTailLaunch, cudaStreamGraphFireAndForget,
                            cudaStreamGraphFireAndForgetAsSibling }) {
        x = launch_in(a, k, 0);
        SHOW(cudaGraphLaunch(x, s));
        MUST(cudaStreamSynchronize(s));
        // The order of the launching graph's second node and of the launched graph is only defined for tails.
        if (k != cudaStreamGraphTailLaunch) {
            int sum = 0;
            for (int i = 0; i < cells->count && i < 16; i++)
                sum += cells->order[i];
            printf("%d nodes, sum %d, result %d\n", cells->count, sum, results[0]);
            memset(cells, 0, sizeof *cells);
            memset(results, -1, 5 * sizeof *results);
        } else {
            show("tail");
        }
        MUST(cudaGraphExecDestroy(x));
    }

    // Two tails, in order; the graph that they are launched from may be launched again.
    b = make_notes(11, 2, cudaGraphInstantiateFlagDeviceLaunch);
    MUST(cudaGraphUpload(b, s));
    MUST(cudaStreamSynchronize(s));
    {
        void *arguments[] = { &a, &b, &cells, &results };
        x = make_launcher((void *)launch_tails, arguments, 0);
    }
    SHOW(cudaGraphLaunch(x, s));
    show("two tails");
    SHOW(cudaGraphLaunch(x, s));
    show("two tails again");
    MUST(cudaGraphExecDestroy(x));

    // The same graph twice
    {
        void *arguments[] = { &a, &a, &cells, &results };
        x = make_launcher((void *)launch_tails, arguments, 0);
    }
    SHOW(cudaGraphLaunch(x, s));
    show("one graph as two tails");
    MUST(cudaGraphExecDestroy(x));

    // A graph that launches itself
    {
        cudaGraph_t g;
        void *arguments[] = { &cells, &results };

        MUST(cudaGraphCreate(&g, 0));
        add_kernel(g, nullptr, (void *)repeat, arguments);
        SHOW(cudaGraphInstantiate(&x, g, cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUpload));
        cudaGetLastError();
        cudaGraphInstantiateParams p = {};
        p.flags = cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUpload;
        p.uploadStream = s;
        SHOW(cudaGraphInstantiateWithParams(&x, g, &p));
        MUST(cudaStreamSynchronize(s));
        MUST(cudaGraphDestroy(g));
    }
    SHOW(cudaGraphLaunch(x, s));
    show("repeated");

    // A tail that launches itself again
    {
        cudaGraphExec_t y = launch_in(x, cudaStreamGraphTailLaunch, 0);
        SHOW(cudaGraphLaunch(y, s));
        show("a tail that repeats itself");
        MUST(cudaGraphExecDestroy(y));
    }
    MUST(cudaGraphExecDestroy(x));

    // Errors of launches: a stream that is not for graphs, a graph that was not uploaded, a graph for the host
    x = launch_in(a, nullptr, 0);
    SHOW(cudaGraphLaunch(x, s));
    show("another stream");
    MUST(cudaGraphExecDestroy(x));
    current<<<1, 1, 0, s>>>(results);
    show("a launch has no graph");

    // What may be in a graph that kernels launch
    instantiate_with("an empty graph", [](cudaGraph_t) {});
    instantiate_with("a host function", [](cudaGraph_t g) {
        cudaGraphNode_t n;
        cudaHostNodeParams p = { do_nothing, nullptr };
        MUST(cudaGraphAddHostNode(&n, g, nullptr, 0, &p));
    });
    instantiate_with("an event", [](cudaGraph_t g) {
        cudaGraphNode_t n;
        cudaEvent_t e;
        MUST(cudaEventCreate(&e));
        MUST(cudaGraphAddEventRecordNode(&n, g, nullptr, 0, e));
    });
    instantiate_with("an empty node", [](cudaGraph_t g) {
        cudaGraphNode_t n;
        MUST(cudaGraphAddEmptyNode(&n, g, nullptr, 0));
    });
    instantiate_with("a fill and copies", [](cudaGraph_t g) {
        cudaGraphNode_t n, m;
        static int *p;
        MUST(cudaMalloc(&p, 64));
        cudaMemsetParams set = {};
        set.dst = p;
        set.elementSize = 4;
        set.value = 7;
        set.width = 4;
        set.height = 1;
        MUST(cudaGraphAddMemsetNode(&n, g, nullptr, 0, &set));
        MUST(cudaGraphAddMemcpyNode1D(&m, g, &n, 1, results, p, 16, cudaMemcpyDeviceToHost));
    });
    instantiate_with("a copy of pageable memory", [](cudaGraph_t g) {
        cudaGraphNode_t n;
        static int host[4];
        MUST(cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, host, results, 16, cudaMemcpyDefault));
    });
    instantiate_with("memory", [](cudaGraph_t g) {
        cudaGraphNode_t n, m;
        cudaMemAllocNodeParams p = {};
        p.poolProps.allocType = cudaMemAllocationTypePinned;
        p.poolProps.location = { cudaMemLocationTypeDevice, 0 };
        p.bytesize = 64;
        MUST(cudaGraphAddMemAllocNode(&n, g, nullptr, 0, &p));
        MUST(cudaGraphAddMemFreeNode(&m, g, &n, 1, p.dptr));
    });
    instantiate_with("a graph in a graph", [](cudaGraph_t g) {
        cudaGraph_t child;
        cudaGraphNode_t n;
        int value = 3;
        void *arguments[] = { &cells, &value };
        MUST(cudaGraphCreate(&child, 0));
        add_kernel(child, nullptr, (void *)note, arguments);
        MUST(cudaGraphAddChildGraphNode(&n, g, nullptr, 0, child));
        MUST(cudaGraphDestroy(child));
    });
    instantiate_with("a kernel", [](cudaGraph_t g) {
        int value = 3;
        void *arguments[] = { &cells, &value };
        add_kernel(g, nullptr, (void *)note, arguments);
    });

    // A graph with a fill and a copy, launched by a kernel
    {
        cudaGraph_t g;
        cudaGraphNode_t n, m;
        int *p;
        cudaMemsetParams set = {};
        MUST(cudaMalloc(&p, 64));
        set.dst = p;
        set.elementSize = 4;
        set.value = 42;
        set.width = 4;
        set.height = 1;
        MUST(cudaGraphCreate(&g, 0));
        MUST(cudaGraphAddMemsetNode(&n, g, nullptr, 0, &set));
        MUST(cudaGraphAddMemcpyNode1D(&m, g, &n, 1, results + 1, p, 16, cudaMemcpyDefault));
        SHOW(cudaGraphInstantiate(&b, g, cudaGraphInstantiateFlagDeviceLaunch));
        SHOW(cudaGraphUpload(b, s));
        MUST(cudaStreamSynchronize(s));
        MUST(cudaGraphDestroy(g));
        x = launch_in(b, cudaStreamGraphTailLaunch, 0);
        SHOW(cudaGraphLaunch(x, s));
        show("a fill and a copy");
    }
    // A graph that is updated and uploaded again
    {
        cudaGraph_t g;
        cudaGraphNode_t n;
        cudaKernelNodeParams p = {};
        int value = 5;
        void *arguments[] = { &cells, &value };
        MUST(cudaGraphCreate(&g, 0));
        n = add_kernel(g, nullptr, (void *)note, arguments);
        SHOW(cudaGraphInstantiate(&b, g, cudaGraphInstantiateFlagDeviceLaunch));
        SHOW(cudaGraphUpload(b, s));
        p.func = (void *)note;
        p.gridDim = p.blockDim = dim3(1);
        p.kernelParams = arguments;
        value = 6;
        SHOW(cudaGraphExecKernelNodeSetParams(b, n, &p));
        SHOW(cudaGraphUpload(b, s));
        MUST(cudaStreamSynchronize(s));
        x = launch_in(b, cudaStreamGraphTailLaunch, 0);
        SHOW(cudaGraphLaunch(x, s));
        show("updated");
    }
    // From the host, too
    SHOW(cudaGraphLaunch(a, s));
    show("from the host");
    return 0;
}
