/* A program for CUDA 12 that calls what differs from CUDA 13. Compiled with the headers of CUDA 12, and run with
 * libcudart.so.12 of libptxi. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

/* The header defines these names as macros for later versions. */
cudaError_t first_get_properties(struct cudaDeviceProp *p, int device) __asm__("cudaGetDeviceProperties");
cudaError_t first_get_capture_info(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id)
    __asm__("cudaStreamGetCaptureInfo");

#if CUDART_VERSION / 1000 != 12
#error these are not the headers of CUDA 12
#endif

#define CHECK(condition) check(condition, #condition, __LINE__)
#define CALL(call) check((call) == cudaSuccess, #call, __LINE__)

static void check(int true, const char *text, int line)
{
    if (true)
        return;
    printf("%s:%d: %s (%s)\n", __FILE__, line, text, cudaGetErrorString(cudaGetLastError()));
    exit(1);
}

/* Adds the texel of a linear texture to each element. */
static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry add(.param .u64 p, .param .u64 t) {\n"
    "    .reg .u64 %a, %t, %o; .reg .u32 %i, %v; .reg .s32 %x, %y, %z, %w;\n"
    "    ld.param.u64 %a, [p]; ld.param.u64 %t, [t]; mov.u32 %i, %tid.x; mul.wide.u32 %o, %i, 4;\n"
    "    add.u64 %a, %a, %o; tex.1d.v4.s32.s32 {%x, %y, %z, %w}, [%t, {%i}];\n"
    "    ld.global.u32 %v, [%a]; add.u32 %v, %v, %x; st.global.u32 [%a], %v; ret;\n}\n";

enum { COUNT = 32 };

static void test_devices(void)
{
    struct { struct cudaDeviceProp p; unsigned after; } *p = malloc(sizeof *p);
    struct cudaPointerAttributes attributes[2];
    enum cudaFuncCache config;
    int version, value;
    void *memory;
    size_t bytes;

    CALL(cudaRuntimeGetVersion(&version));
    CHECK(version == CUDART_VERSION);
    memset(p, 0x5a, sizeof *p);
    CALL(cudaGetDeviceProperties(&p->p, 0));
    CHECK(p->after == 0x5a5a5a5a && p->p.warpSize == 32 && p->p.reserved[62] == 0);
    CALL(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0));
    CHECK(p->p.clockRate == value && p->p.clusterLaunch == (p->p.major >= 9));
    memset(p, 0x5a, sizeof *p);
    CALL(first_get_properties(&p->p, 0));
    CHECK(p->p.maxBlocksPerMultiProcessor > 0 && p->p.hostRegisterSupported == 0x5a5a5a5a);
    free(p);
    CALL(cudaMalloc(&memory, 64));
    memset(attributes, 0x5a, sizeof attributes);
    CALL(cudaPointerGetAttributes(attributes, memory));
    CHECK(attributes[0].type == cudaMemoryTypeDevice && attributes[0].devicePointer == memory);
    CHECK(attributes[1].device == 0x5a5a5a5a);
    CALL(cudaFree(memory));
    CALL(cudaThreadSetLimit(cudaLimitMallocHeapSize, 1 << 20));
    CALL(cudaThreadGetLimit(&bytes, cudaLimitMallocHeapSize));
    CHECK(bytes >= 1 << 20);
    CALL(cudaThreadSetCacheConfig(cudaFuncCachePreferL1));
    CALL(cudaThreadGetCacheConfig(&config));
    CHECK(config == cudaFuncCachePreferL1);
    CALL(cudaThreadSynchronize());
}

/* The structures of CUDA 12 that describe a texture end earlier than those of CUDA 13. */
static cudaTextureObject_t make_texture(void *memory)
{
    struct { struct cudaResourceDesc d; unsigned after; } resource;
    struct cudaTextureDesc desc;
    cudaTextureObject_t texture;

    memset(&resource, 0x5a, sizeof resource);
    memset(&resource.d, 0, sizeof resource.d);
    resource.d.resType = cudaResourceTypeLinear;
    resource.d.res.linear.devPtr = memory;
    resource.d.res.linear.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
    resource.d.res.linear.sizeInBytes = COUNT * sizeof(int);
    memset(&desc, 0, sizeof desc);
    CALL(cudaCreateTextureObject(&texture, &resource.d, &desc, NULL));
    memset(&resource, 0x5a, sizeof resource);
    CALL(cudaGetTextureObjectResourceDesc(&resource.d, texture));
    CHECK(resource.after == 0x5a5a5a5a && resource.d.res.linear.devPtr == memory);
    return texture;
}

static void test_views(void)
{
    const struct cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    const struct cudaExtent extent = { 16, 16, 4 };
    struct { struct cudaResourceViewDesc d; unsigned after; } view;
    struct cudaResourceDesc resource;
    struct cudaTextureDesc desc;
    cudaTextureObject_t texture;
    cudaArray_t array;

    CALL(cudaMalloc3DArray(&array, &format, extent, cudaArrayLayered));
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    memset(&desc, 0, sizeof desc);
    memset(&view, 0x5a, sizeof view);
    memset(&view.d, 0, sizeof view.d);
    view.d.format = cudaResViewFormatSignedInt1;
    view.d.width = view.d.height = 16;
    view.d.lastLayer = 2;
    CALL(cudaCreateTextureObject(&texture, &resource, &desc, &view.d));
    memset(&view, 0x5a, sizeof view);
    CALL(cudaGetTextureObjectResourceViewDesc(&view.d, texture));
    CHECK(view.after == 0x5a5a5a5a && view.d.format == cudaResViewFormatSignedInt1 && view.d.lastLayer == 2);
    CALL(cudaDestroyTextureObject(texture));
    CALL(cudaFreeArray(array));
}

static void test_kernel(cudaStream_t stream)
{
    int values[COUNT], *memory;
    cudaTextureObject_t texture;
    cudaLibrary_t library;
    cudaKernel_t kernel;
    void *arguments[] = { &memory, &texture };
    dim3 one = { 1, 1, 1 }, block = { COUNT, 1, 1 };

    for (int i = 0; i < COUNT; i++)
        values[i] = i * i;
    CALL(cudaMalloc((void **)&memory, sizeof values));
    CALL(cudaMemcpy(memory, values, sizeof values, cudaMemcpyHostToDevice));
    texture = make_texture(memory);
    CALL(cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    CALL(cudaLibraryGetKernel(&kernel, library, "add"));
    CALL(cudaLaunchKernel((void *)kernel, one, block, arguments, 0, stream));
    CALL(cudaMemcpyAsync(values, memory, sizeof values, cudaMemcpyDeviceToHost, stream));
    CALL(cudaStreamSynchronize(stream));
    for (int i = 0; i < COUNT; i++)
        CHECK(values[i] == 2 * i * i);
    CALL(cudaDestroyTextureObject(texture));
    CALL(cudaLibraryUnload(library));
    CALL(cudaFree(memory));
}

static void test_graphs(void)
{
    cudaGraphNode_t nodes[4], from[4], to[4];
    cudaGraphEdgeData data[4];
    cudaGraph_t graph;
    struct cudaGraphNodeParams params;
    size_t count;

    memset(data, 0, sizeof data);
    memset(&params, 0, sizeof params);
    params.type = cudaGraphNodeTypeEmpty;
    CALL(cudaGraphCreate(&graph, 0));
    CALL(cudaGraphAddEmptyNode(&nodes[0], graph, NULL, 0));
    CALL(cudaGraphAddNode(&nodes[1], graph, nodes, 1, &params));
    CALL(cudaGraphAddNode_v2(&nodes[2], graph, nodes, data, 1, &params));
    CALL(cudaGraphAddEmptyNode(&nodes[3], graph, NULL, 0));
    CALL(cudaGraphAddDependencies(graph, &nodes[1], &nodes[3], 1));
    CALL(cudaGraphAddDependencies_v2(graph, &nodes[2], &nodes[3], data, 1));
    count = 4;
    CALL(cudaGraphGetEdges(graph, from, to, &count));
    CHECK(count == 4);
    CALL(cudaGraphGetEdges_v2(graph, from, to, data, &count));
    CHECK(count == 4);
    CALL(cudaGraphNodeGetDependencies(nodes[3], from, &count));
    CHECK(count == 2 && from[0] != from[1]);
    count = 4;
    CALL(cudaGraphNodeGetDependencies_v2(nodes[3], from, data, &count));
    CHECK(count == 2);
    count = 4;
    CALL(cudaGraphNodeGetDependentNodes(nodes[0], to, &count));
    CHECK(count == 2);
    CALL(cudaGraphNodeGetDependentNodes_v2(nodes[0], to, data, &count));
    CHECK(count == 2);
    CALL(cudaGraphRemoveDependencies(graph, &nodes[1], &nodes[3], 1));
    CALL(cudaGraphRemoveDependencies_v2(graph, &nodes[2], &nodes[3], data, 1));
    CALL(cudaGraphGetEdges(graph, NULL, NULL, &count));
    CHECK(count == 2);
    CALL(cudaGraphDestroy(graph));
}

static void test_capture(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status[3];
    const cudaGraphNode_t *dependencies[2];
    const cudaGraphEdgeData *data;
    cudaGraphNode_t last;
    unsigned long long id[3];
    cudaGraph_t graph[2];
    size_t count[2];
    void *memory;

    CALL(cudaMalloc(&memory, 64));
    CALL(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CALL(cudaMemsetAsync(memory, 1, 64, stream));
    CALL(first_get_capture_info(stream, &status[0], &id[0]));
    CALL(cudaStreamGetCaptureInfo_v2(stream, &status[1], &id[1], &graph[0], &dependencies[0], &count[0]));
    CALL(cudaStreamGetCaptureInfo_v3(stream, &status[2], &id[2], &graph[1], &dependencies[1], &data, &count[1]));
    for (int i = 0; i < 3; i++)
        CHECK(status[i] == cudaStreamCaptureStatusActive && id[i] == id[0]);
    CHECK(graph[0] == graph[1] && dependencies[0][0] == dependencies[1][0] && count[0] == 1 && count[1] == 1);
    last = dependencies[0][0];
    CALL(cudaStreamUpdateCaptureDependencies(stream, NULL, 0, cudaStreamSetCaptureDependencies));
    CALL(cudaStreamGetCaptureInfo_v2(stream, &status[1], NULL, NULL, &dependencies[0], &count[0]));
    CHECK(count[0] == 0);
    CALL(cudaStreamUpdateCaptureDependencies_v2(stream, &last, NULL, 1, cudaStreamAddCaptureDependencies));
    CALL(cudaStreamGetCaptureInfo_v3(stream, &status[2], NULL, NULL, &dependencies[1], &data, &count[1]));
    CHECK(count[1] == 1 && dependencies[1][0] == last);
    CALL(cudaStreamEndCapture(stream, &graph[1]));
    CHECK(graph[0] == graph[1]);
    CALL(cudaGraphDestroy(graph[0]));
    CALL(cudaFree(memory));
}

static void test_memory(cudaStream_t stream)
{
    struct cudaMemLocation host = { cudaMemLocationTypeHost, 0 };
    struct cudaMemcpyAttributes attributes = { .srcAccessOrder = cudaMemcpySrcAccessOrderStream };
    char values[2][16] = { "first", "second" }, copies[2][16];
    void *memory, *from[2] = { values[0], values[1] }, *to[2], *back[2] = { copies[0], copies[1] };
    size_t sizes[2] = { 16, 16 }, first = 0, failed = 77;

    CALL(cudaMallocManaged(&memory, 64, cudaMemAttachGlobal));
    CALL(cudaMemPrefetchAsync(memory, 64, 0, stream));
    CALL(cudaMemPrefetchAsync(memory, 64, cudaCpuDeviceId, stream));
    CALL(cudaMemPrefetchAsync_v2(memory, 64, host, 0, stream));
    CHECK(cudaMemPrefetchAsync(memory, 64, 99, stream) == cudaErrorInvalidDevice);
    CALL(cudaMemAdvise(memory, 64, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
    CALL(cudaMemAdvise_v2(memory, 64, cudaMemAdviseUnsetPreferredLocation, host));
    CALL(cudaStreamSynchronize(stream));
    to[0] = memory;
    to[1] = (char *)memory + 16;
    CALL(cudaMemcpyBatchAsync(to, from, sizes, 2, &attributes, &first, 1, &failed, stream));
    CALL(cudaMemcpyBatchAsync(back, to, sizes, 2, &attributes, &first, 1, NULL, stream));
    CALL(cudaStreamSynchronize(stream));
    CHECK(!memcmp(values, copies, sizeof values));
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, 0, &attributes, &first, 1, &failed, stream) != cudaSuccess);
    CHECK(failed == SIZE_MAX);
    CALL(cudaFree(memory));
}

static void test_events(cudaStream_t stream)
{
    cudaEvent_t start, end;
    float milliseconds = -1;

    CALL(cudaEventCreate(&start));
    CALL(cudaEventCreate(&end));
    CALL(cudaEventRecord(start, stream));
    CALL(cudaEventRecord(end, stream));
    CALL(cudaEventSynchronize(end));
    CALL(cudaEventElapsedTime_v2(&milliseconds, start, end));
    CHECK(milliseconds >= 0);
    milliseconds = -1;
    CALL((cudaEventElapsedTime)(&milliseconds, start, end));
    CHECK(milliseconds >= 0);
}

int main(void)
{
    cudaStream_t stream;

    test_devices();
    CALL(cudaStreamCreate(&stream));
    test_kernel(stream);
    test_views();
    test_graphs();
    test_capture(stream);
    test_memory(stream);
    test_events(stream);
    CHECK(cudaLaunchCooperativeKernelMultiDevice(NULL, 0, 0) == cudaErrorNotSupported);
    CALL(cudaThreadExit());
    puts("passed");
    return 0;
}
