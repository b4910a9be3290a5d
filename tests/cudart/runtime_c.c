/* The runtime used from C, without device code: memory, streams, events and graphs. */
#include <cuda_runtime_api.h>
#include <cuda_profiler_api.h>
#include <stdio.h>
#include <string.h>

static void show(const char *call, cudaError_t e)
{
    printf("%s: %s\n", call, cudaGetErrorName(e));
}
#define SHOW(call) show(#call, call)

int main(void)
{
    char text[16] = "hello", back[16] = "";
    void *p = NULL;
    cudaStream_t stream;
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;

    SHOW(cudaMalloc(&p, sizeof text));
    SHOW(cudaStreamCreate(&stream));
    SHOW(cudaEventCreate(&event));
    SHOW(cudaMemcpyAsync(p, text, sizeof text, cudaMemcpyHostToDevice, stream));
    SHOW(cudaEventRecord(event, stream));
    SHOW(cudaEventSynchronize(event));
    SHOW(cudaGraphCreate(&graph, 0));
    SHOW(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, back, p, sizeof text, cudaMemcpyDeviceToHost));
    SHOW(cudaGraphInstantiate(&exec, graph, 0));
    SHOW(cudaGraphLaunch(exec, stream));
    SHOW(cudaStreamSynchronize(stream));
    printf("%s\n", back);
    SHOW(cudaProfilerStart());
    SHOW(cudaProfilerStop());
    SHOW(cudaFree(p));
    SHOW(cudaStreamDestroy(stream));
    SHOW(cudaEventDestroy(event));
    return strcmp(text, back) != 0;
}
