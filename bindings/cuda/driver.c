/* libcuda.so.1: libptxi under the names of the CUDA driver, for programs that are made for it. */
#include "driver.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

ptxiResult cuGetErrorName(ptxiResult error, const char **pStr)
{
    if (!pStr)
        return PTXI_ERROR_INVALID_VALUE;
    switch ((int)error) {
#define NAME(name, number, text) case number: *pStr = "CUDA_" #name; return PTXI_SUCCESS;
    PTXI_RESULTS(NAME)
#undef NAME
    default: *pStr = NULL; return PTXI_ERROR_INVALID_VALUE;
    }
}

/* ---- contexts */

ptxiResult cuCtxCreate_v3(ptxiContext *pctx, void *params, int numParams, unsigned flags, ptxiDevice dev)
{
    return cuCtxCreate_v4(pctx, &(struct context_params){ .affinities = params, .affinity_count = numParams }, flags, dev);
}

ptxiResult cuCtxCreate_v4(ptxiContext *pctx, const struct context_params *params, unsigned flags, ptxiDevice dev)
{
    if (params && (params->graphics || (params->affinity_count && !params->affinities)))
        return PTXI_ERROR_INVALID_VALUE;
    return params && params->affinity_count ? PTXI_ERROR_UNSUPPORTED_EXEC_AFFINITY : ptxiCtxCreate(pctx, flags, dev);
}

/* Nothing attaches to a context, so whoever made it is the last to go. */
ptxiResult cuCtxDetach(ptxiContext ctx)
{
    return ptxiCtxDestroy(ctx);
}

ptxiResult cuCtxGetDevice_v2(ptxiDevice *device, ptxiContext ctx)
{
    ptxiResult r = ctx ? ptxiCtxPushCurrent(ctx) : PTXI_SUCCESS;

    if (r)
        return r;
    r = ptxiCtxGetDevice(device);
    if (ctx)
        ptxiCtxPopCurrent(NULL);
    return r;
}

ptxiResult cuStreamGetCtx_v2(ptxiStream hStream, ptxiContext *pctx, void **greenCtx)
{
    if (greenCtx)
        *greenCtx = NULL;
    return ptxiStreamGetCtx(hStream, pctx);
}

/* ---- graphs */

ptxiResult cuGraphAddNode(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *needs, size_t count, ptxiGraphNodeParams *params)
{
    return ptxiGraphAddNode(node, graph, needs, NULL, count, params);
}

ptxiResult cuGraphAddNode_v2(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *needs, const ptxiGraphEdgeData *data, size_t count,
                             ptxiGraphNodeParams *params)
{
    return ptxiGraphAddNode(node, graph, needs, data, count, params);
}

ptxiResult cuGraphAddDependencies(ptxiGraph graph, const ptxiGraphNode *from, const ptxiGraphNode *to, size_t count)
{
    return ptxiGraphAddDependencies(graph, from, to, NULL, count);
}

ptxiResult cuGraphAddDependencies_v2(ptxiGraph graph, const ptxiGraphNode *from, const ptxiGraphNode *to, const ptxiGraphEdgeData *data, size_t count)
{
    return ptxiGraphAddDependencies(graph, from, to, data, count);
}

ptxiResult cuGraphRemoveDependencies(ptxiGraph graph, const ptxiGraphNode *from, const ptxiGraphNode *to, size_t count)
{
    return ptxiGraphRemoveDependencies(graph, from, to, NULL, count);
}

ptxiResult cuGraphRemoveDependencies_v2(ptxiGraph graph, const ptxiGraphNode *from, const ptxiGraphNode *to, const ptxiGraphEdgeData *data, size_t count)
{
    return ptxiGraphRemoveDependencies(graph, from, to, data, count);
}

ptxiResult cuGraphGetEdges(ptxiGraph graph, ptxiGraphNode *from, ptxiGraphNode *to, size_t *count)
{
    return ptxiGraphGetEdges(graph, from, to, NULL, count);
}

ptxiResult cuGraphGetEdges_v2(ptxiGraph graph, ptxiGraphNode *from, ptxiGraphNode *to, ptxiGraphEdgeData *data, size_t *count)
{
    return ptxiGraphGetEdges(graph, from, to, data, count);
}

ptxiResult cuGraphNodeGetDependentNodes(ptxiGraphNode node, ptxiGraphNode *nodes, size_t *count)
{
    return ptxiGraphNodeGetDependentNodes(node, nodes, NULL, count);
}

ptxiResult cuGraphNodeGetDependentNodes_v2(ptxiGraphNode node, ptxiGraphNode *nodes, ptxiGraphEdgeData *data, size_t *count)
{
    return ptxiGraphNodeGetDependentNodes(node, nodes, data, count);
}

/* The first version of the structure ends behind `extra`. */
static const PTXI_KERNEL_NODE_PARAMS *lengthen(PTXI_KERNEL_NODE_PARAMS *to, const PTXI_KERNEL_NODE_PARAMS *p)
{
    *to = (PTXI_KERNEL_NODE_PARAMS){ .kern = NULL };
    return p ? memcpy(to, p, offsetof(PTXI_KERNEL_NODE_PARAMS, kern)) : NULL;
}

ptxiResult cuGraphAddKernelNode(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *needs, size_t count, const PTXI_KERNEL_NODE_PARAMS *params)
{
    return ptxiGraphAddKernelNode(node, graph, needs, count, lengthen(&(PTXI_KERNEL_NODE_PARAMS){ .kern = NULL }, params));
}

ptxiResult cuGraphAddKernelNode_v2(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *needs, size_t count, const PTXI_KERNEL_NODE_PARAMS *params)
{
    return ptxiGraphAddKernelNode(node, graph, needs, count, params);
}

ptxiResult cuGraphKernelNodeSetParams(ptxiGraphNode node, const PTXI_KERNEL_NODE_PARAMS *params)
{
    return ptxiGraphKernelNodeSetParams(node, lengthen(&(PTXI_KERNEL_NODE_PARAMS){ .kern = NULL }, params));
}

ptxiResult cuGraphKernelNodeSetParams_v2(ptxiGraphNode node, const PTXI_KERNEL_NODE_PARAMS *params)
{
    return ptxiGraphKernelNodeSetParams(node, params);
}

ptxiResult cuGraphExecKernelNodeSetParams(ptxiGraphExec exec, ptxiGraphNode node, const PTXI_KERNEL_NODE_PARAMS *params)
{
    return ptxiGraphExecKernelNodeSetParams(exec, node, lengthen(&(PTXI_KERNEL_NODE_PARAMS){ .kern = NULL }, params));
}

ptxiResult cuGraphExecKernelNodeSetParams_v2(ptxiGraphExec exec, ptxiGraphNode node, const PTXI_KERNEL_NODE_PARAMS *params)
{
    return ptxiGraphExecKernelNodeSetParams(exec, node, params);
}

ptxiResult cuGraphKernelNodeGetParams(ptxiGraphNode node, PTXI_KERNEL_NODE_PARAMS *params)
{
    PTXI_KERNEL_NODE_PARAMS p;
    ptxiResult r = ptxiGraphKernelNodeGetParams(node, params ? &p : NULL);

    if (!r)
        memcpy(params, &p, offsetof(PTXI_KERNEL_NODE_PARAMS, kern));
    return r;
}

ptxiResult cuGraphKernelNodeGetParams_v2(ptxiGraphNode node, PTXI_KERNEL_NODE_PARAMS *params)
{
    return ptxiGraphKernelNodeGetParams(node, params);
}

ptxiResult cuGraphInstantiate(ptxiGraphExec *exec, ptxiGraph graph, ptxiGraphNode *errorNode, char *log, size_t size)
{
    if (errorNode)
        *errorNode = NULL;
    if (log && size)
        *log = 0;
    return ptxiGraphInstantiate(exec, graph, 0);
}

ptxiResult cuGraphInstantiate_v2(ptxiGraphExec *exec, ptxiGraph graph, ptxiGraphNode *errorNode, char *log, size_t size)
{
    return cuGraphInstantiate(exec, graph, errorNode, log, size);
}

ptxiResult cuGraphNodeGetDependencies(ptxiGraphNode node, ptxiGraphNode *dependencies, size_t *count)
{
    return ptxiGraphNodeGetDependencies(node, dependencies, NULL, count);
}

ptxiResult cuGraphNodeGetDependencies_v2(ptxiGraphNode node, ptxiGraphNode *dependencies, ptxiGraphEdgeData *data, size_t *count)
{
    return ptxiGraphNodeGetDependencies(node, dependencies, data, count);
}

ptxiResult cuGraphExecUpdate(ptxiGraphExec exec, ptxiGraph graph, ptxiGraphNode *errorNode, ptxiGraphExecUpdateResult *result)
{
    ptxiGraphExecUpdateResultInfo info = { PTXI_GRAPH_EXEC_UPDATE_ERROR, NULL, NULL };
    ptxiResult r = ptxiGraphExecUpdate(exec, graph, &info);

    if (errorNode)
        *errorNode = info.errorNode;
    if (result)
        *result = info.result;
    return r;
}

ptxiResult cuGraphExecUpdate_v2(ptxiGraphExec exec, ptxiGraph graph, ptxiGraphExecUpdateResultInfo *info)
{
    return ptxiGraphExecUpdate(exec, graph, info);
}

ptxiResult cuStreamGetCaptureInfo(ptxiStream stream, ptxiStreamCaptureStatus *status, unsigned long long *id)
{
    return ptxiStreamGetCaptureInfo(stream, status, id, NULL, NULL, NULL);
}

ptxiResult cuStreamGetCaptureInfo_v2(ptxiStream stream, ptxiStreamCaptureStatus *status, unsigned long long *id, ptxiGraph *graph,
                                     const ptxiGraphNode **dependencies, size_t *count)
{
    return ptxiStreamGetCaptureInfo(stream, status, id, graph, dependencies, count);
}

/* With data of the edges, which have none here. */
ptxiResult cuStreamGetCaptureInfo_v3(ptxiStream stream, ptxiStreamCaptureStatus *status, unsigned long long *id, ptxiGraph *graph,
                                     const ptxiGraphNode **dependencies, const void **data, size_t *count)
{
    if (data)
        *data = NULL;
    return ptxiStreamGetCaptureInfo(stream, status, id, graph, dependencies, count);
}

/* ---- the device */

ptxiResult cuDeviceCanAccessPeer(int *can, ptxiDevice dev, ptxiDevice peer)
{
    int count;
    ptxiResult r = ptxiDeviceGetCount(&count);

    if (r)
        return r;
    if (!can)
        return PTXI_ERROR_INVALID_VALUE;
    *can = 0;
    return dev >= 0 && dev < count && peer >= 0 && peer < count ? PTXI_SUCCESS : PTXI_ERROR_INVALID_DEVICE;
}

ptxiResult cuDeviceGetUuid(unsigned char *uuid, ptxiDevice dev)
{
    static const char bytes[16] = "libptxi device ";
    int count;
    ptxiResult r = ptxiDeviceGetCount(&count);

    if (r)
        return r;
    if (!uuid)
        return PTXI_ERROR_INVALID_VALUE;
    memcpy(uuid, bytes, sizeof bytes);
    return dev >= 0 && dev < count ? PTXI_SUCCESS : PTXI_ERROR_INVALID_DEVICE;
}

ptxiResult cuDeviceGetUuid_v2(unsigned char *uuid, ptxiDevice dev)
{
    return cuDeviceGetUuid(uuid, dev);
}

/* Of the launches before cuLaunchKernel, which are not there. PyCUDA still calls it, and says the shape again when it launches. */
ptxiResult cuFuncSetBlockShape(ptxiFunction f, int x, int y, int z)
{
    ptxiModule m;
    ptxiResult r = ptxiFuncGetModule(&m, f);

    return r ? r : x > 0 && y > 0 && z > 0 ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
}

/* There is no profiler that would listen. */
ptxiResult cuProfilerStart(void)
{
    return PTXI_SUCCESS;
}

ptxiResult cuProfilerStop(void)
{
    return PTXI_SUCCESS;
}

/* ---- names */

enum { PER_THREAD = 2 };           /* CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */
enum { FOUND = 0, NOT_FOUND = 1 }; /* CUdriverProcAddressQueryResult */

/* Where a newer form has another shape: the version of CUDA that brought it. */
static const struct { const char *name; int version; } shapes[] = {
    { "cuCtxCreate_v4", 12050 }, { "cuCtxCreate_v3", 11040 }, { "cuStreamGetCtx_v2", 12050 }, { "cuCtxGetDevice_v2", 13000 },
    { "cuGetProcAddress_v2", 12000 }, { "cuStreamGetCaptureInfo_v3", 12030 }, { "cuStreamGetCaptureInfo_v2", 11030 },
    { "cuGraphExecUpdate_v2", 12000 }, { "cuGraphNodeGetDependencies_v2", 12030 }, { "cuGraphAddDependencies_v2", 12030 }, { "cuGraphAddNode_v2", 12030 },
    { "cuGraphRemoveDependencies_v2", 12030 }, { "cuGraphGetEdges_v2", 12030 }, { "cuGraphNodeGetDependentNodes_v2", 12030 }, { "cuGraphKernelNodeGetParams_v2", 12000 },
    { "cuGraphAddKernelNode_v2", 12000 }, { "cuGraphKernelNodeSetParams_v2", 12000 }, { "cuGraphExecKernelNodeSetParams_v2", 12000 },
};

static bool is_later(const char *name, int version)
{
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (!strcmp(shapes[i].name, name))
            return version < shapes[i].version;
    return false;
}

static function *find(const char *symbol, const char *suffix, int version)
{
    char name[128];

    if ((size_t)snprintf(name, sizeof name, "%s%s", symbol, suffix) >= sizeof name || is_later(name, version))
        return NULL;
    for (unsigned i = 0; i < ptxi_name_count; i++)
        if (!strcmp(ptxi_names[i].name, name))
            return ptxi_names[i].address;
    return NULL;
}

/* The newest form that a program of this version can know. */
ptxiResult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, uint64_t flags, int *symbolStatus)
{
    static const char *const suffixes[] = { "_v2_ptds", "_v2_ptsz", "_ptds", "_ptsz", "_v4", "_v3", "_v2", "" };
    function *f = NULL;

    if (!symbol || !pfn)
        return PTXI_ERROR_INVALID_VALUE;
    for (unsigned i = flags & PER_THREAD ? 0 : 4; i < sizeof suffixes / sizeof *suffixes && !f; i++)
        f = find(symbol, suffixes[i], cudaVersion);
    *pfn = (void *)f;
    if (symbolStatus)
        *symbolStatus = f ? FOUND : NOT_FOUND;
    return f ? PTXI_SUCCESS : PTXI_ERROR_NOT_FOUND;
}

ptxiResult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, uint64_t flags)
{
    return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, NULL);
}
