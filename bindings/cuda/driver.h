/* Declarations that the generated and the handwritten files of libcuda.so.1 share. */
#ifndef PTXI_CUDA_DRIVER_H
#define PTXI_CUDA_DRIVER_H

#include "ptxi.h"

typedef void driver_function(void);

/* All calls of the library by name. cuda_version: the version of CUDA that introduced it, or 0. */
struct driver_symbol {
    const char *name;
    driver_function *address;
    int cuda_version;
};
extern const struct driver_symbol ptxi_driver_symbols[];
extern const unsigned ptxi_driver_symbol_count;

/* Reports a call that fails, if a sanitizer is on that wants to know. Returns the result. */
ptxiResult ptxi_driver_report(const char *function, ptxiResult r);

static inline ptxiResult finish(const char *function, ptxiResult r)
{
    return r && r != PTXI_ERROR_NOT_READY ? ptxi_driver_report(function, r) : r;
}

/* For programs that are compiled with one default stream for each thread: calls that take a stream have the suffix
 * _ptsz, and other calls have _ptds. */
static inline ptxiStream per_thread(ptxiStream s)
{
    return s ? s : PTXI_STREAM_PER_THREAD;
}

static inline ptxiResult finish_per_thread(ptxiResult queued)
{
    return queued ? queued : ptxiStreamSynchronize(PTXI_STREAM_PER_THREAD);
}

/* Layout of CUctxCreateParams. */
struct context_params {
    const void *affinities;
    int affinity_count;
    const void *graphics;
};

/* driver.c: calls that have other parameters than the ptxi call. generate.awk makes cuNAME from ptxi_driver_NAME. */
ptxiResult ptxi_driver_GetErrorName(ptxiResult error, const char **pStr);
ptxiResult ptxi_driver_CtxCreate_v3(ptxiContext *pctx, void *params, int numParams, unsigned flags, ptxiDevice dev);
ptxiResult ptxi_driver_CtxCreate_v4(ptxiContext *pctx, const struct context_params *params, unsigned flags,
                                    ptxiDevice dev);
ptxiResult ptxi_driver_CtxDetach(ptxiContext ctx);
ptxiResult ptxi_driver_CtxGetDevice_v2(ptxiDevice *device, ptxiContext ctx);
ptxiResult ptxi_driver_StreamGetCtx_v2(ptxiStream hStream, ptxiContext *pctx, void **greenCtx);
ptxiResult ptxi_driver_GetProcAddress(const char *symbol, void **pfn, int cudaVersion, uint64_t flags);
ptxiResult ptxi_driver_GetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, uint64_t flags,
                                         int *symbolStatus);
ptxiResult ptxi_driver_FuncSetBlockShape(ptxiFunction f, int x, int y, int z);
ptxiResult ptxi_driver_GraphAddNode(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *needs, size_t count,
                                    ptxiGraphNodeParams *params);
ptxiResult ptxi_driver_GraphAddNode_v2(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *needs,
                                       const ptxiGraphEdgeData *data, size_t count, ptxiGraphNodeParams *params);
ptxiResult ptxi_driver_GraphAddDependencies(ptxiGraph graph, const ptxiGraphNode *from, const ptxiGraphNode *to,
                                            size_t count);
ptxiResult ptxi_driver_GraphAddDependencies_v2(ptxiGraph graph, const ptxiGraphNode *from, const ptxiGraphNode *to,
                                               const ptxiGraphEdgeData *data, size_t count);
ptxiResult ptxi_driver_GraphRemoveDependencies(ptxiGraph graph, const ptxiGraphNode *from, const ptxiGraphNode *to,
                                               size_t count);
ptxiResult ptxi_driver_GraphRemoveDependencies_v2(ptxiGraph graph, const ptxiGraphNode *from, const ptxiGraphNode *to,
                                                  const ptxiGraphEdgeData *data, size_t count);
ptxiResult ptxi_driver_GraphGetEdges(ptxiGraph graph, ptxiGraphNode *from, ptxiGraphNode *to, size_t *count);
ptxiResult ptxi_driver_GraphGetEdges_v2(ptxiGraph graph, ptxiGraphNode *from, ptxiGraphNode *to,
                                        ptxiGraphEdgeData *data, size_t *count);
ptxiResult ptxi_driver_GraphNodeGetDependentNodes(ptxiGraphNode node, ptxiGraphNode *nodes, size_t *count);
ptxiResult ptxi_driver_GraphNodeGetDependentNodes_v2(ptxiGraphNode node, ptxiGraphNode *nodes, ptxiGraphEdgeData *data,
                                                     size_t *count);
ptxiResult ptxi_driver_GraphAddKernelNode(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *needs,
                                          size_t count, const PTXI_KERNEL_NODE_PARAMS *params);
ptxiResult ptxi_driver_GraphAddKernelNode_v2(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *needs,
                                             size_t count, const PTXI_KERNEL_NODE_PARAMS *params);
ptxiResult ptxi_driver_GraphKernelNodeSetParams(ptxiGraphNode node, const PTXI_KERNEL_NODE_PARAMS *params);
ptxiResult ptxi_driver_GraphKernelNodeSetParams_v2(ptxiGraphNode node, const PTXI_KERNEL_NODE_PARAMS *params);
ptxiResult ptxi_driver_GraphExecKernelNodeSetParams(ptxiGraphExec exec, ptxiGraphNode node,
                                                    const PTXI_KERNEL_NODE_PARAMS *params);
ptxiResult ptxi_driver_GraphExecKernelNodeSetParams_v2(ptxiGraphExec exec, ptxiGraphNode node,
                                                       const PTXI_KERNEL_NODE_PARAMS *params);
ptxiResult ptxi_driver_GraphKernelNodeGetParams(ptxiGraphNode node, PTXI_KERNEL_NODE_PARAMS *params);
ptxiResult ptxi_driver_GraphKernelNodeGetParams_v2(ptxiGraphNode node, PTXI_KERNEL_NODE_PARAMS *params);
ptxiResult ptxi_driver_GraphInstantiate(ptxiGraphExec *exec, ptxiGraph graph, ptxiGraphNode *errorNode, char *log,
                                        size_t size);
ptxiResult ptxi_driver_GraphInstantiate_v2(ptxiGraphExec *exec, ptxiGraph graph, ptxiGraphNode *errorNode, char *log,
                                           size_t size);
ptxiResult ptxi_driver_GraphNodeGetDependencies(ptxiGraphNode node, ptxiGraphNode *dependencies, size_t *count);
ptxiResult ptxi_driver_GraphNodeGetDependencies_v2(ptxiGraphNode node, ptxiGraphNode *dependencies,
                                                   ptxiGraphEdgeData *data, size_t *count);
ptxiResult ptxi_driver_GraphExecUpdate(ptxiGraphExec exec, ptxiGraph graph, ptxiGraphNode *errorNode,
                                       ptxiGraphExecUpdateResult *result);
ptxiResult ptxi_driver_GraphExecUpdate_v2(ptxiGraphExec exec, ptxiGraph graph, ptxiGraphExecUpdateResultInfo *info);
ptxiResult ptxi_driver_StreamGetCaptureInfo(ptxiStream stream, ptxiStreamCaptureStatus *status, unsigned long long *id);
ptxiResult ptxi_driver_StreamGetCaptureInfo_v2(ptxiStream stream, ptxiStreamCaptureStatus *status,
                                               unsigned long long *id, ptxiGraph *graph,
                                               const ptxiGraphNode **dependencies, size_t *count);
ptxiResult ptxi_driver_StreamGetCaptureInfo_v3(ptxiStream stream, ptxiStreamCaptureStatus *status,
                                               unsigned long long *id, ptxiGraph *graph,
                                               const ptxiGraphNode **dependencies, const ptxiGraphEdgeData **data,
                                               size_t *count);
ptxiResult ptxi_driver_StreamUpdateCaptureDependencies(ptxiStream stream, ptxiGraphNode *nodes, size_t count,
                                                       unsigned flags);
ptxiResult ptxi_driver_StreamUpdateCaptureDependencies_v2(ptxiStream stream, ptxiGraphNode *nodes,
                                                          const ptxiGraphEdgeData *data, size_t count, unsigned flags);
ptxiResult ptxi_driver_ProfilerStart(void);
ptxiResult ptxi_driver_ProfilerStop(void);

/* As cuGetProcAddress_v2(), for libcudart. A name that is not found is no failed call of the program. */
PTXI_API ptxiResult ptxi_driver_find(const char *symbol, void **pfn, int cudaVersion, uint64_t flags,
                                     int *symbolStatus);

/* driver_misc.c */
ptxiResult ptxi_driver_MemPrefetchAsync(ptxiDevicePtr p, size_t bytes, ptxiDevice dev, ptxiStream hStream);
ptxiResult ptxi_driver_MemPrefetchAsync_v2(ptxiDevicePtr p, size_t bytes, ptxiMemLocation at, unsigned flags,
                                           ptxiStream hStream);
ptxiResult ptxi_driver_MemAdvise(ptxiDevicePtr p, size_t bytes, ptxiMemAdvice advice, ptxiDevice dev);
ptxiResult ptxi_driver_MemAdvise_v2(ptxiDevicePtr p, size_t bytes, ptxiMemAdvice advice, ptxiMemLocation at);
ptxiResult ptxi_driver_MemcpyBatchAsync(ptxiDevicePtr *dsts, ptxiDevicePtr *srcs, size_t *sizes, size_t count,
                                        ptxiMemcpyAttributes *attrs, size_t *indices, size_t attr_count, size_t *failed,
                                        ptxiStream hStream);
ptxiResult ptxi_driver_MemcpyBatchAsync_v2(ptxiDevicePtr *dsts, ptxiDevicePtr *srcs, size_t *sizes, size_t count,
                                           ptxiMemcpyAttributes *attrs, size_t *indices, size_t attr_count,
                                           ptxiStream hStream);
ptxiResult ptxi_driver_Memcpy3DBatchAsync(size_t count, PTXI_MEMCPY3D_BATCH_OP *ops, size_t *failed,
                                          unsigned long long flags, ptxiStream hStream);
ptxiResult ptxi_driver_Memcpy3DBatchAsync_v2(size_t count, PTXI_MEMCPY3D_BATCH_OP *ops, unsigned long long flags,
                                             ptxiStream hStream);
ptxiResult ptxi_driver_Memcpy2DUnaligned_v2_ptds(const PTXI_MEMCPY2D *copy);
ptxiResult ptxi_driver_MemcpyAtoA_v2_ptds(ptxiArray dst, size_t to, ptxiArray src, size_t from, size_t bytes);
ptxiResult ptxi_driver_MemcpyAtoD_v2_ptds(ptxiDevicePtr dst, ptxiArray src, size_t from, size_t bytes);
ptxiResult ptxi_driver_MemcpyDtoA_v2_ptds(ptxiArray dst, size_t to, ptxiDevicePtr src, size_t bytes);
ptxiResult ptxi_driver_StreamCopyAttributes_ptsz(ptxiStream dst, ptxiStream src);
ptxiResult ptxi_driver_LaunchKernelEx_ptsz(const ptxiLaunchConfig *config, ptxiFunction f, void **params, void **extra);
ptxiResult ptxi_driver_GetProcAddress_v2_ptsz(const char *symbol, void **pfn, int cudaVersion, uint64_t flags,
                                              int *symbolStatus);
ptxiResult ptxi_driver_CtxSynchronize_v2(ptxiContext ctx);
ptxiResult ptxi_driver_CtxRecordEvent(ptxiContext ctx, ptxiEvent event);
ptxiResult ptxi_driver_CtxWaitEvent(ptxiContext ctx, ptxiEvent event);
ptxiResult ptxi_driver_CtxSetFlags(unsigned flags);
ptxiResult ptxi_driver_CtxGetExecAffinity(void *affinity, int type);
ptxiResult ptxi_driver_DeviceGetExecAffinitySupport(int *supported, int type, ptxiDevice dev);
ptxiResult ptxi_driver_DeviceGetTexture1DLinearMaxWidth(size_t *width, ptxiArrayFormat format, unsigned channels,
                                                        ptxiDevice dev);
typedef void stream_callback(ptxiStream stream, ptxiResult status, void *user);
ptxiResult ptxi_driver_StreamAddCallback(ptxiStream hStream, stream_callback *callback, void *user, unsigned flags);
ptxiResult ptxi_driver_LibraryGetUnifiedFunction(void **function, ptxiLibrary library, const char *symbol);
ptxiResult ptxi_driver_FuncLoad(ptxiFunction f);
ptxiResult ptxi_driver_FuncIsLoaded(int *state, ptxiFunction f);
ptxiResult ptxi_driver_ModuleGetLoadingMode(int *mode);

/* export_table.c */
PTXI_API ptxiResult cuGetExportTable(const void **table, const void *id);

#endif
