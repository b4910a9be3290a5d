// Data of edges in captured graphs: programmatic dependent launches, and dependencies that a program sets.
#include "show.h"

__global__ void first(int *p)
{
    p[threadIdx.x] = threadIdx.x;
    cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void second(int *p)
{
    cudaGridDependencySynchronize();
    p[threadIdx.x] += 10;
}

static int *device;
static cudaStream_t s, t;

static void launch(cudaStream_t stream, void (*kernel)(int *), const cudaLaunchAttribute *a, unsigned count)
{
    cudaLaunchConfig_t c = {};

    c.gridDim = 1;
    c.blockDim = 4;
    c.stream = stream;
    c.attrs = (cudaLaunchAttribute *)a;
    c.numAttrs = count;
    SHOW(cudaLaunchKernelEx(&c, kernel, device));
    cudaGetLastError();
}

static void show_data(const cudaGraphEdgeData *e)
{
    printf(" (%d,%d,%d)", e->from_port, e->to_port, e->type);
}

static void show_edges(cudaGraph_t g)
{
    cudaGraphNode_t from[16], to[16];
    cudaGraphEdgeData data[16];
    size_t n = 16;

    SHOW(cudaGraphGetEdges(g, from, to, nullptr, &n));
    cudaGetLastError();
    n = 16;
    SHOW(cudaGraphGetEdges(g, from, to, data, &n));
    printf("%d edges:", (int)n);
    for (size_t i = 0; i < n; i++)
        show_data(&data[i]);
    printf("\n");
}

static void run(cudaGraph_t g)
{
    cudaGraphExec_t x;
    int host[4];

    if (SHOW(cudaGraphInstantiate(&x, g, 0)))
        return;
    SHOW(cudaGraphLaunch(x, s));
    SHOW(cudaStreamSynchronize(s));
    fetch(host, device, 4);
    show_ints("values", host, 4);
    MUST(cudaGraphExecDestroy(x));
}

static void show_capture(cudaStream_t stream)
{
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t *nodes = nullptr;
    const cudaGraphEdgeData *edges = nullptr;
    size_t n = 77;

    SHOW(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, &edges, &n));
    printf("status %d, %d dependencies:", (int)status, (int)n);
    for (size_t i = 0; edges && i < n && n < 16; i++)
        show_data(&edges[i]);
    printf("\n");
    SHOW(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &nodes, nullptr, &n));
    cudaGetLastError();
}

static void end(cudaStream_t stream, bool launch_it)
{
    cudaGraph_t g = nullptr;

    if (SHOW(cudaStreamEndCapture(stream, &g))) {
        cudaGetLastError();
        return;
    }
    show_edges(g);
    if (launch_it)
        run(g);
    MUST(cudaGraphDestroy(g));
}

int main()
{
    cudaLaunchAttribute serial[1] = {}, event[1] = {};
    cudaEvent_t e, plain;

    MUST(cudaMalloc(&device, 64));
    MUST(cudaStreamCreate(&s));
    MUST(cudaStreamCreate(&t));
    MUST(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    MUST(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
    serial[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    serial[0].val.programmaticStreamSerializationAllowed = 1;
    event[0].id = cudaLaunchAttributeProgrammaticEvent;
    event[0].val.programmaticEvent.event = e;

    printf("== serialization\n");
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    launch(s, first, nullptr, 0);
    show_capture(s);
    launch(s, second, serial, 1);
    show_capture(s);
    end(s, true);

    printf("== serialization after a fill\n");
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    SHOW(cudaMemsetAsync(device, 0, 16, s));
    launch(s, second, serial, 1);
    end(s, true);

    printf("== serialization of the first launch\n");
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    launch(s, first, serial, 1);
    end(s, true);

    printf("== serialization after two streams\n");
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    MUST(cudaEventRecord(plain, s));
    MUST(cudaStreamWaitEvent(t, plain, 0));
    launch(s, first, nullptr, 0);
    launch(t, first, nullptr, 0);
    MUST(cudaEventRecord(plain, t));
    MUST(cudaStreamWaitEvent(s, plain, 0));
    launch(s, second, serial, 1);
    end(s, true);

    printf("== serialization after a kernel and a fill\n");
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    MUST(cudaEventRecord(plain, s));
    MUST(cudaStreamWaitEvent(t, plain, 0));
    launch(s, first, nullptr, 0);
    SHOW(cudaMemsetAsync(device + 4, 0, 16, t));
    MUST(cudaEventRecord(plain, t));
    MUST(cudaStreamWaitEvent(s, plain, 0));
    launch(s, second, serial, 1);
    end(s, true);

    for (int at_start = 0; at_start < 2; at_start++) {
        event[0].val.programmaticEvent.triggerAtBlockStart = at_start;
        printf("== an event, at the start of blocks: %d\n", at_start);
        MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
        launch(s, first, event, 1);
        SHOW(cudaStreamWaitEvent(t, e, 0));
        show_capture(t);
        launch(t, second, nullptr, 0);
        MUST(cudaEventRecord(plain, t));
        MUST(cudaStreamWaitEvent(s, plain, 0));
        show_capture(s);
        end(s, true);
    }

    printf("== an event, then a fill\n");
    event[0].val.programmaticEvent.triggerAtBlockStart = 0;
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    launch(s, first, event, 1);
    SHOW(cudaStreamWaitEvent(t, e, 0));
    SHOW(cudaMemsetAsync(device + 4, 0, 16, t));
    cudaGetLastError();
    SHOW(cudaEventRecord(plain, t));
    SHOW(cudaStreamWaitEvent(s, plain, 0));
    cudaGetLastError();
    end(s, false);

    printf("== an event, waited for twice\n");
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    launch(s, first, event, 1);
    SHOW(cudaStreamWaitEvent(s, e, 0));
    show_capture(s);
    launch(s, second, nullptr, 0);
    end(s, true);

    printf("== dependencies that a program sets\n");
    cudaGraph_t g;
    cudaGraphNode_t kernel, fill;
    const cudaGraphNode_t *nodes;
    cudaStreamCaptureStatus status;
    size_t n;
    cudaGraphEdgeData data[2] = {};

    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    SHOW(cudaMemsetAsync(device, 0, 16, s));
    MUST(cudaStreamGetCaptureInfo(s, &status, nullptr, &g, &nodes, nullptr, &n));
    fill = nodes[0];
    launch(s, first, nullptr, 0);
    MUST(cudaStreamGetCaptureInfo(s, &status, nullptr, &g, &nodes, nullptr, &n));
    kernel = nodes[0];
    data[0].type = cudaGraphDependencyTypeProgrammatic;
    data[0].from_port = cudaGraphKernelNodePortProgrammatic;
    SHOW(cudaStreamUpdateCaptureDependencies(s, &fill, data, 1, cudaStreamSetCaptureDependencies));
    cudaGetLastError();
    show_capture(s);
    SHOW(cudaStreamUpdateCaptureDependencies(s, &kernel, data, 1, cudaStreamAddCaptureDependencies));
    cudaGetLastError();
    show_capture(s);
    SHOW(cudaStreamUpdateCaptureDependencies(s, &kernel, data, 1, cudaStreamSetCaptureDependencies));
    show_capture(s);
    SHOW(cudaStreamUpdateCaptureDependencies(s, &kernel, nullptr, 1, cudaStreamAddCaptureDependencies));
    cudaGetLastError();
    show_capture(s);
    data[0].from_port = 9;
    SHOW(cudaStreamUpdateCaptureDependencies(s, &kernel, data, 1, cudaStreamSetCaptureDependencies));
    cudaGetLastError();
    show_capture(s);
    data[0].from_port = cudaGraphKernelNodePortLaunchCompletion;
    SHOW(cudaStreamUpdateCaptureDependencies(s, &kernel, data, 1, cudaStreamSetCaptureDependencies));
    show_capture(s);
    launch(s, second, nullptr, 0);
    end(s, true);

    printf("== a capture into a graph\n");
    MUST(cudaGraphCreate(&g, 0));
    cudaKernelNodeParams p = {};
    void *arguments[] = { &device };
    p.func = (void *)first;
    p.gridDim = 1;
    p.blockDim = 4;
    p.kernelParams = arguments;
    MUST(cudaGraphAddKernelNode(&kernel, g, nullptr, 0, &p));
    data[0].from_port = cudaGraphKernelNodePortProgrammatic;
    SHOW(cudaStreamBeginCaptureToGraph(s, g, &kernel, data, 1, cudaStreamCaptureModeGlobal));
    show_capture(s);
    launch(s, second, nullptr, 0);
    SHOW(cudaStreamEndCapture(s, nullptr));
    show_edges(g);
    run(g);
    return 0;
}
