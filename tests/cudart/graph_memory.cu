// Memory nodes of graphs: allocation and freeing in a graph and in a capture, attributes of graph memory.
#include "show.h"

#include <cstdint>

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value + threadIdx.x;
}

__global__ void add(int *p, const int *q)
{
    p[threadIdx.x] += q[threadIdx.x];
}

int main()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t alloc, fill_node, add_node, free_node;
    cudaStream_t stream;
    int *p, *inner, host[4], value = 50;
    size_t count;

    MUST(cudaMalloc(&p, 16));
    MUST(cudaMemset(p, 0, 16));
    MUST(cudaStreamCreate(&stream));
    SHOW(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams a = {};
    a.poolProps.allocType = cudaMemAllocationTypePinned;
    a.poolProps.location = { cudaMemLocationTypeDevice, 0 };
    a.bytesize = 4096;
    SHOW(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &a));
    printf("address: %s\n", a.dptr ? "not NULL" : "NULL");
    inner = (int *)a.dptr;
    cudaKernelNodeParams k = {};
    void *fill_args[] = { &inner, &value }, *add_args[] = { &p, &inner };
    k.func = (void *)fill;
    k.gridDim = dim3(1);
    k.blockDim = dim3(4);
    k.kernelParams = fill_args;
    SHOW(cudaGraphAddKernelNode(&fill_node, graph, &alloc, 1, &k));
    k.func = (void *)add;
    k.kernelParams = add_args;
    SHOW(cudaGraphAddKernelNode(&add_node, graph, &fill_node, 1, &k));
    SHOW(cudaGraphAddMemFreeNode(&free_node, graph, &add_node, 1, inner));
    SHOW(cudaGraphAddMemFreeNode(&free_node, graph, &add_node, 1, inner));
    SHOW(cudaGraphMemAllocNodeGetParams(alloc, &a));
    printf("%zu bytes\n", a.bytesize);
    SHOW(cudaGraphInstantiate(&exec, graph));
    for (int i = 0; i < 2; i++) {
        SHOW(cudaGraphLaunch(exec, stream));
        SHOW(cudaStreamSynchronize(stream));
    }
    fetch(host, p, 4);
    show_ints("twice", host, 4);
    SHOW(cudaGraphClone(&graph, graph));
    SHOW(cudaGraphExecDestroy(exec));

    printf("-- capture\n");
    SHOW(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    SHOW(cudaMallocAsync(&inner, 1024, stream));
    fill<<<1, 4, 0, stream>>>(inner, 7);
    add<<<1, 4, 0, stream>>>(p, inner);
    SHOW(cudaFreeAsync(inner, stream));
    SHOW(cudaStreamEndCapture(stream, &graph));
    SHOW(cudaGraphGetNodes(graph, nullptr, &count));
    printf("nodes %zu\n", count);
    SHOW(cudaGraphInstantiate(&exec, graph));
    SHOW(cudaGraphLaunch(exec, stream));
    SHOW(cudaStreamSynchronize(stream));
    fetch(host, p, 4);
    show_ints("capture", host, 4);
    SHOW(cudaGraphExecDestroy(exec));

    printf("-- memory that outlives the graph\n");
    SHOW(cudaGraphCreate(&graph, 0));
    SHOW(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &a));
    inner = (int *)a.dptr;
    SHOW(cudaGraphInstantiate(&exec, graph));
    SHOW(cudaGraphLaunch(exec, stream));
    fill<<<1, 4, 0, stream>>>(inner, 90);
    SHOW(cudaMemcpyAsync(host, inner, 16, cudaMemcpyDeviceToHost, stream));
    SHOW(cudaStreamSynchronize(stream));
    show_ints("outside", host, 4);
    SHOW(cudaGraphLaunch(exec, stream));
    SHOW(cudaFreeAsync(inner, stream));
    SHOW(cudaStreamSynchronize(stream));
    SHOW(cudaGraphLaunch(exec, stream));
    SHOW(cudaFree(inner));
    SHOW(cudaGraphExecDestroy(exec));
    SHOW(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    SHOW(cudaGraphLaunch(exec, stream));
    SHOW(cudaGraphLaunch(exec, stream));
    SHOW(cudaStreamSynchronize(stream));

    uint64_t used = 0;
    SHOW(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    printf("used: %d\n", used > 0);
    SHOW(cudaFree(inner));
    SHOW(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    printf("used: %d\n", used > 0);
    SHOW(cudaDeviceGraphMemTrim(0));
    SHOW(cudaDeviceGetGraphMemAttribute(0, (cudaGraphMemAttributeType)9, &used));
    SHOW(cudaDeviceGetGraphMemAttribute(99, cudaGraphMemAttrUsedMemCurrent, &used));
    SHOW(cudaGraphAddMemFreeNode(&free_node, graph, nullptr, 0, nullptr));
    return 0;
}
