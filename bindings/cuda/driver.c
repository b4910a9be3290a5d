/* libcuda.so.1: libptxi under the names of the CUDA driver API, for programs that link to it. generate.awk generates
 * the calls that have the same parameters as a ptxi call. This file has the others, and the lookup of names. */
#include "driver.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

ptxiResult ptxi_driver_GetErrorName(ptxiResult error, const char **pStr)
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

ptxiResult ptxi_driver_report(const char *function, ptxiResult r)
{
    const char *name = NULL, *text = NULL;

    ptxi_driver_GetErrorName(r, &name);
    ptxiGetErrorString(r, &text);
    ptxiReportCall(function, (int)r, name, text);
    return r;
}

/* ---- contexts */

ptxiResult ptxi_driver_CtxCreate_v3(ptxiContext *pctx, void *params, int numParams, unsigned flags, ptxiDevice dev)
{
    struct context_params context_params = { .affinities = params, .affinity_count = numParams };

    return ptxi_driver_CtxCreate_v4(pctx, &context_params, flags, dev);
}

ptxiResult ptxi_driver_CtxCreate_v4(ptxiContext *pctx, const struct context_params *params, unsigned flags,
                                    ptxiDevice dev)
{
    if (params && (params->graphics || (params->affinity_count && !params->affinities)))
        return PTXI_ERROR_INVALID_VALUE;
    if (params && params->affinity_count)
        return PTXI_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return ptxiCtxCreate(pctx, flags, dev);
}

/* cuCtxAttach is not supported, so the creator has the only reference to a context. */
ptxiResult ptxi_driver_CtxDetach(ptxiContext ctx)
{
    return ptxiCtxDestroy(ctx);
}

ptxiResult ptxi_driver_CtxGetDevice_v2(ptxiDevice *device, ptxiContext ctx)
{
    ptxiResult r = ctx ? ptxiCtxPushCurrent(ctx) : PTXI_SUCCESS;

    if (r)
        return r;
    r = ptxiCtxGetDevice(device);
    if (ctx)
        ptxiCtxPopCurrent(NULL);
    return r;
}

ptxiResult ptxi_driver_StreamGetCtx_v2(ptxiStream hStream, ptxiContext *pctx, void **greenCtx)
{
    if (greenCtx)
        *greenCtx = NULL;
    return ptxiStreamGetCtx(hStream, pctx);
}

/* ---- graphs */

ptxiResult ptxi_driver_GraphAddNode(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *needs, size_t count,
                                    ptxiGraphNodeParams *params)
{
    return ptxiGraphAddNode(node, graph, needs, NULL, count, params);
}

ptxiResult ptxi_driver_GraphAddNode_v2(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *needs,
                                       const ptxiGraphEdgeData *data, size_t count, ptxiGraphNodeParams *params)
{
    return ptxiGraphAddNode(node, graph, needs, data, count, params);
}

ptxiResult ptxi_driver_GraphAddDependencies(ptxiGraph graph, const ptxiGraphNode *from, const ptxiGraphNode *to,
                                            size_t count)
{
    return ptxiGraphAddDependencies(graph, from, to, NULL, count);
}

ptxiResult ptxi_driver_GraphAddDependencies_v2(ptxiGraph graph, const ptxiGraphNode *from, const ptxiGraphNode *to,
                                               const ptxiGraphEdgeData *data, size_t count)
{
    return ptxiGraphAddDependencies(graph, from, to, data, count);
}

ptxiResult ptxi_driver_GraphRemoveDependencies(ptxiGraph graph, const ptxiGraphNode *from, const ptxiGraphNode *to,
                                               size_t count)
{
    return ptxiGraphRemoveDependencies(graph, from, to, NULL, count);
}

ptxiResult ptxi_driver_GraphRemoveDependencies_v2(ptxiGraph graph, const ptxiGraphNode *from, const ptxiGraphNode *to,
                                                  const ptxiGraphEdgeData *data, size_t count)
{
    return ptxiGraphRemoveDependencies(graph, from, to, data, count);
}

ptxiResult ptxi_driver_GraphGetEdges(ptxiGraph graph, ptxiGraphNode *from, ptxiGraphNode *to, size_t *count)
{
    return ptxiGraphGetEdges(graph, from, to, NULL, count);
}

ptxiResult ptxi_driver_GraphGetEdges_v2(ptxiGraph graph, ptxiGraphNode *from, ptxiGraphNode *to,
                                        ptxiGraphEdgeData *data, size_t *count)
{
    return ptxiGraphGetEdges(graph, from, to, data, count);
}

ptxiResult ptxi_driver_GraphNodeGetDependentNodes(ptxiGraphNode node, ptxiGraphNode *nodes, size_t *count)
{
    return ptxiGraphNodeGetDependentNodes(node, nodes, NULL, count);
}

ptxiResult ptxi_driver_GraphNodeGetDependentNodes_v2(ptxiGraphNode node, ptxiGraphNode *nodes, ptxiGraphEdgeData *data,
                                                     size_t *count)
{
    return ptxiGraphNodeGetDependentNodes(node, nodes, data, count);
}

/* Converts the first version of the structure, which ends after `extra`, to the current one. */
static const PTXI_KERNEL_NODE_PARAMS *convert_params_v1(PTXI_KERNEL_NODE_PARAMS *to, const PTXI_KERNEL_NODE_PARAMS *p)
{
    *to = (PTXI_KERNEL_NODE_PARAMS){ .kern = NULL };
    return p ? memcpy(to, p, offsetof(PTXI_KERNEL_NODE_PARAMS, kern)) : NULL;
}

ptxiResult ptxi_driver_GraphAddKernelNode(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *needs,
                                          size_t count, const PTXI_KERNEL_NODE_PARAMS *params)
{
    PTXI_KERNEL_NODE_PARAMS converted;

    return ptxiGraphAddKernelNode(node, graph, needs, count, convert_params_v1(&converted, params));
}

ptxiResult ptxi_driver_GraphAddKernelNode_v2(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *needs,
                                             size_t count, const PTXI_KERNEL_NODE_PARAMS *params)
{
    return ptxiGraphAddKernelNode(node, graph, needs, count, params);
}

ptxiResult ptxi_driver_GraphKernelNodeSetParams(ptxiGraphNode node, const PTXI_KERNEL_NODE_PARAMS *params)
{
    PTXI_KERNEL_NODE_PARAMS converted;

    return ptxiGraphKernelNodeSetParams(node, convert_params_v1(&converted, params));
}

ptxiResult ptxi_driver_GraphKernelNodeSetParams_v2(ptxiGraphNode node, const PTXI_KERNEL_NODE_PARAMS *params)
{
    return ptxiGraphKernelNodeSetParams(node, params);
}

ptxiResult ptxi_driver_GraphExecKernelNodeSetParams(ptxiGraphExec exec, ptxiGraphNode node,
                                                    const PTXI_KERNEL_NODE_PARAMS *params)
{
    PTXI_KERNEL_NODE_PARAMS converted;

    return ptxiGraphExecKernelNodeSetParams(exec, node, convert_params_v1(&converted, params));
}

ptxiResult ptxi_driver_GraphExecKernelNodeSetParams_v2(ptxiGraphExec exec, ptxiGraphNode node,
                                                       const PTXI_KERNEL_NODE_PARAMS *params)
{
    return ptxiGraphExecKernelNodeSetParams(exec, node, params);
}

ptxiResult ptxi_driver_GraphKernelNodeGetParams(ptxiGraphNode node, PTXI_KERNEL_NODE_PARAMS *params)
{
    PTXI_KERNEL_NODE_PARAMS p;
    ptxiResult r = ptxiGraphKernelNodeGetParams(node, params ? &p : NULL);

    if (!r)
        memcpy(params, &p, offsetof(PTXI_KERNEL_NODE_PARAMS, kern));
    return r;
}

ptxiResult ptxi_driver_GraphKernelNodeGetParams_v2(ptxiGraphNode node, PTXI_KERNEL_NODE_PARAMS *params)
{
    return ptxiGraphKernelNodeGetParams(node, params);
}

ptxiResult ptxi_driver_GraphInstantiate(ptxiGraphExec *exec, ptxiGraph graph, ptxiGraphNode *errorNode, char *log,
                                        size_t size)
{
    if (errorNode)
        *errorNode = NULL;
    if (log && size)
        *log = 0;
    return ptxiGraphInstantiate(exec, graph, 0);
}

ptxiResult ptxi_driver_GraphInstantiate_v2(ptxiGraphExec *exec, ptxiGraph graph, ptxiGraphNode *errorNode, char *log,
                                           size_t size)
{
    return ptxi_driver_GraphInstantiate(exec, graph, errorNode, log, size);
}

ptxiResult ptxi_driver_GraphNodeGetDependencies(ptxiGraphNode node, ptxiGraphNode *dependencies, size_t *count)
{
    return ptxiGraphNodeGetDependencies(node, dependencies, NULL, count);
}

ptxiResult ptxi_driver_GraphNodeGetDependencies_v2(ptxiGraphNode node, ptxiGraphNode *dependencies,
                                                   ptxiGraphEdgeData *data, size_t *count)
{
    return ptxiGraphNodeGetDependencies(node, dependencies, data, count);
}

ptxiResult ptxi_driver_GraphExecUpdate(ptxiGraphExec exec, ptxiGraph graph, ptxiGraphNode *errorNode,
                                       ptxiGraphExecUpdateResult *result)
{
    ptxiGraphExecUpdateResultInfo info = { PTXI_GRAPH_EXEC_UPDATE_ERROR, NULL, NULL };
    ptxiResult r = ptxiGraphExecUpdate(exec, graph, &info);

    if (errorNode)
        *errorNode = info.errorNode;
    if (result)
        *result = info.result;
    return r;
}

ptxiResult ptxi_driver_GraphExecUpdate_v2(ptxiGraphExec exec, ptxiGraph graph, ptxiGraphExecUpdateResultInfo *info)
{
    return ptxiGraphExecUpdate(exec, graph, info);
}

ptxiResult ptxi_driver_StreamGetCaptureInfo(ptxiStream stream, ptxiStreamCaptureStatus *status, unsigned long long *id)
{
    return ptxiStreamGetCaptureInfo(stream, status, id, NULL, NULL, NULL, NULL);
}

ptxiResult ptxi_driver_StreamGetCaptureInfo_v2(ptxiStream stream, ptxiStreamCaptureStatus *status,
                                               unsigned long long *id, ptxiGraph *graph,
                                               const ptxiGraphNode **dependencies, size_t *count)
{
    return ptxiStreamGetCaptureInfo(stream, status, id, graph, dependencies, NULL, count);
}

ptxiResult ptxi_driver_StreamGetCaptureInfo_v3(ptxiStream stream, ptxiStreamCaptureStatus *status,
                                               unsigned long long *id, ptxiGraph *graph,
                                               const ptxiGraphNode **dependencies, const ptxiGraphEdgeData **data,
                                               size_t *count)
{
    return ptxiStreamGetCaptureInfo(stream, status, id, graph, dependencies, data, count);
}

ptxiResult ptxi_driver_StreamUpdateCaptureDependencies(ptxiStream stream, ptxiGraphNode *nodes, size_t count,
                                                       unsigned flags)
{
    return ptxiStreamUpdateCaptureDependencies(stream, nodes, NULL, count, flags);
}

ptxiResult ptxi_driver_StreamUpdateCaptureDependencies_v2(ptxiStream stream, ptxiGraphNode *nodes,
                                                          const ptxiGraphEdgeData *data, size_t count, unsigned flags)
{
    return ptxiStreamUpdateCaptureDependencies(stream, nodes, data, count, flags);
}

/* ---- launches and profiling */

/* This call belongs to the launch API before cuLaunchKernel, which libptxi does not have. PyCUDA still calls it, but
 * passes the shape again at the launch. */
ptxiResult ptxi_driver_FuncSetBlockShape(ptxiFunction f, int x, int y, int z)
{
    ptxiModule m;
    ptxiResult r = ptxiFuncGetModule(&m, f);

    if (r)
        return r;
    return x > 0 && y > 0 && z > 0 ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
}

/* There is no profiler to start or stop. */
ptxiResult ptxi_driver_ProfilerStart(void)
{
    return PTXI_SUCCESS;
}

ptxiResult ptxi_driver_ProfilerStop(void)
{
    return PTXI_SUCCESS;
}

/* ---- lookup of calls by name */

enum { PER_THREAD = 2 }; /* CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM */
enum { FOUND = 0, NOT_FOUND = 1, VERSION_NOT_SUFFICIENT = 2 }; /* CUdriverProcAddressQueryResult */

static const struct driver_symbol *find_symbol(const char *symbol, const char *suffix)
{
    char name[128];
    int length = snprintf(name, sizeof name, "%s%s", symbol, suffix);

    if (length < 0 || (size_t)length >= sizeof name)
        return NULL;
    for (unsigned i = 0; i < ptxi_driver_symbol_count; i++)
        if (!strcmp(ptxi_driver_symbols[i].name, name))
            return &ptxi_driver_symbols[i];
    return NULL;
}

/* Returns the newest version of a call that a program for this version of CUDA can know. */
ptxiResult ptxi_driver_GetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, uint64_t flags,
                                         int *symbolStatus)
{
    static const char *const suffixes[] = { "_v3_ptsz", "_v2_ptds", "_v2_ptsz", "_ptds", "_ptsz", "_v4", "_v3", "_v2",
                                            "" };
    enum { PER_THREAD_SUFFIXES = 5, SUFFIXES = sizeof suffixes / sizeof *suffixes };
    int status = NOT_FOUND;

    if (!symbol || !pfn)
        return PTXI_ERROR_INVALID_VALUE;
    *pfn = NULL;
    for (unsigned i = flags & PER_THREAD ? 0 : PER_THREAD_SUFFIXES; i < SUFFIXES && !*pfn; i++) {
        const struct driver_symbol *s = find_symbol(symbol, suffixes[i]);

        if (!s)
            continue;
        status = s->cuda_version > cudaVersion ? VERSION_NOT_SUFFICIENT : FOUND;
        if (status == FOUND)
            *pfn = (void *)s->address;
    }
    if (symbolStatus)
        *symbolStatus = status;
    return status == FOUND ? PTXI_SUCCESS : PTXI_ERROR_NOT_FOUND;
}

ptxiResult ptxi_driver_GetProcAddress(const char *symbol, void **pfn, int cudaVersion, uint64_t flags)
{
    return ptxi_driver_GetProcAddress_v2(symbol, pfn, cudaVersion, flags, NULL);
}

ptxiResult ptxi_driver_GetProcAddress_v2_ptsz(const char *symbol, void **pfn, int cudaVersion, uint64_t flags,
                                              int *symbolStatus)
{
    return ptxi_driver_GetProcAddress_v2(symbol, pfn, cudaVersion, flags | PER_THREAD, symbolStatus);
}

ptxiResult ptxi_driver_find(const char *symbol, void **pfn, int cudaVersion, uint64_t flags, int *symbolStatus)
{
    return ptxi_driver_GetProcAddress_v2(symbol, pfn, cudaVersion, flags, symbolStatus);
}
