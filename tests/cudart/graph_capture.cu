// Graphs by capture: fork and join with events, modes, calls that a capture forbids, and its errors.
#include "show.h"

__global__ void add(int *p, int value)
{
    p[threadIdx.x] += value;
}

__device__ int symbol[4] = { 7, 7, 7, 7 };
static cudaStream_t a, b;

static const char *status_of(cudaStream_t s)
{
    static const char *const names[] = { "none", "active", "invalidated" };
    cudaStreamCaptureStatus status;

    cudaError_t e = cudaStreamIsCapturing(s, &status);
    return e ? cudaGetErrorName(e) : names[status];
}

static void finish_capture()
{
    cudaGraph_t graph = nullptr;

    SHOW(cudaStreamEndCapture(a, &graph));
    printf("graph: %s\n", graph ? "not NULL" : "NULL");
    SHOW(cudaGetLastError());
}

int main()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaEvent_t fork, join;
    int *p, *q, host[4] = { 1, 2, 3, 4 }, got[4];
    size_t count;

    MUST(cudaMalloc(&p, 16));
    MUST(cudaMalloc(&q, 16));
    MUST(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    MUST(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    MUST(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    MUST(cudaMemset(q, 0, 16));
    MUST(cudaDeviceSynchronize());

    SHOW(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    SHOW(cudaMemcpyAsync(p, host, 16, cudaMemcpyHostToDevice, a));
    SHOW(cudaEventRecord(fork, a));
    SHOW(cudaStreamWaitEvent(b, fork));
    printf("status: %s, %s\n", status_of(a), status_of(b));
    add<<<1, 4, 0, a>>>(p, 10);
    SHOW(cudaMemsetAsync(q, 1, 4, b));
    add<<<1, 4, 0, b>>>(q, 1);
    SHOW(cudaEventRecord(join, b));
    SHOW(cudaStreamWaitEvent(a, join));
    SHOW(cudaMemcpyAsync(p + 3, q, 4, cudaMemcpyDeviceToDevice, a));
    SHOW(cudaMemcpyFromSymbolAsync(p + 2, symbol, 4, 0, cudaMemcpyDeviceToDevice, a));
    SHOW(cudaMemcpyAsync(got, p, 16, cudaMemcpyDeviceToHost, a));
    SHOW(cudaStreamEndCapture(a, &graph));
    SHOW(cudaGraphGetNodes(graph, nullptr, &count));
    printf("nodes %zu\n", count);
    SHOW(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    printf("edges %zu\n", count);
    SHOW(cudaGraphInstantiate(&exec, graph));
    for (int i = 0; i < 2; i++) {
        SHOW(cudaGraphLaunch(exec, b));
        SHOW(cudaStreamSynchronize(b));
        show_ints("result", got, 4);
    }

    printf("-- a stream that is not joined\n");
    SHOW(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
    SHOW(cudaEventRecord(fork, a));
    SHOW(cudaStreamWaitEvent(b, fork));
    add<<<1, 4, 0, b>>>(q, 1);
    finish_capture();
    printf("-- calls that wait\n");
    SHOW(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
    add<<<1, 4, 0, a>>>(p, 10);
    SHOW(cudaStreamSynchronize(a));
    printf("status: %s\n", status_of(a));
    SHOW(cudaMemsetAsync(p, 0, 16, a));
    finish_capture();
    printf("-- a query\n");
    SHOW(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
    add<<<1, 4, 0, a>>>(p, 10);
    SHOW(cudaStreamQuery(a));
    printf("status: %s\n", status_of(a));
    finish_capture();
    printf("-- an event of the capture\n");
    SHOW(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
    SHOW(cudaEventRecord(fork, a));
    SHOW(cudaEventQuery(fork));
    printf("status: %s\n", status_of(a));
    finish_capture();
    printf("-- allocation in the global mode\n");
    SHOW(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    void *memory;
    SHOW(cudaMalloc(&memory, 16));
    printf("status: %s\n", status_of(a));
    finish_capture();
    printf("-- allocation in the relaxed mode\n");
    SHOW(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
    SHOW(cudaMalloc(&memory, 16));
    printf("status: %s\n", status_of(a));
    finish_capture();
    printf("-- errors\n");
    SHOW(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeRelaxed));
    SHOW(cudaStreamBeginCapture(a, (cudaStreamCaptureMode)5));
    SHOW(cudaStreamEndCapture(a, &graph));
    SHOW(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
    SHOW(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
    finish_capture();
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    SHOW(cudaThreadExchangeStreamCaptureMode(&mode));
    printf("mode %d\n", mode);
    return 0;
}
