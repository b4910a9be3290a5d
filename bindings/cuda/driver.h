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

/* driver.c: calls that have other parameters than the ptxi call. */
PTXI_API ptxiResult cuGetErrorName(ptxiResult error, const char **pStr);
PTXI_API ptxiResult cuCtxCreate_v3(ptxiContext *pctx, void *params, int numParams, unsigned flags, ptxiDevice dev);
PTXI_API ptxiResult cuCtxCreate_v4(ptxiContext *pctx, const struct context_params *params, unsigned flags,
                                   ptxiDevice dev);
PTXI_API ptxiResult cuCtxDetach(ptxiContext ctx);
PTXI_API ptxiResult cuCtxGetDevice_v2(ptxiDevice *device, ptxiContext ctx);
PTXI_API ptxiResult cuStreamGetCtx_v2(ptxiStream hStream, ptxiContext *pctx, void **greenCtx);
PTXI_API ptxiResult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, uint64_t flags);
PTXI_API ptxiResult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, uint64_t flags,
                                        int *symbolStatus);
PTXI_API ptxiResult cuFuncSetBlockShape(ptxiFunction f, int x, int y, int z);
PTXI_API ptxiResult cuGraphAddNode(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *needs, size_t count,
                                   ptxiGraphNodeParams *params);
PTXI_API ptxiResult cuGraphAddNode_v2(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *needs,
                                      const ptxiGraphEdgeData *data, size_t count, ptxiGraphNodeParams *params);
PTXI_API ptxiResult cuGraphAddDependencies(ptxiGraph graph, const ptxiGraphNode *from, const ptxiGraphNode *to,
                                           size_t count);
PTXI_API ptxiResult cuGraphAddDependencies_v2(ptxiGraph graph, const ptxiGraphNode *from, const ptxiGraphNode *to,
                                              const ptxiGraphEdgeData *data, size_t count);
PTXI_API ptxiResult cuGraphRemoveDependencies(ptxiGraph graph, const ptxiGraphNode *from, const ptxiGraphNode *to,
                                              size_t count);
PTXI_API ptxiResult cuGraphRemoveDependencies_v2(ptxiGraph graph, const ptxiGraphNode *from, const ptxiGraphNode *to,
                                                 const ptxiGraphEdgeData *data, size_t count);
PTXI_API ptxiResult cuGraphGetEdges(ptxiGraph graph, ptxiGraphNode *from, ptxiGraphNode *to, size_t *count);
PTXI_API ptxiResult cuGraphGetEdges_v2(ptxiGraph graph, ptxiGraphNode *from, ptxiGraphNode *to,
                                       ptxiGraphEdgeData *data, size_t *count);
PTXI_API ptxiResult cuGraphNodeGetDependentNodes(ptxiGraphNode node, ptxiGraphNode *nodes, size_t *count);
PTXI_API ptxiResult cuGraphNodeGetDependentNodes_v2(ptxiGraphNode node, ptxiGraphNode *nodes, ptxiGraphEdgeData *data,
                                                    size_t *count);
PTXI_API ptxiResult cuGraphAddKernelNode(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *needs,
                                         size_t count, const PTXI_KERNEL_NODE_PARAMS *params);
PTXI_API ptxiResult cuGraphAddKernelNode_v2(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *needs,
                                            size_t count, const PTXI_KERNEL_NODE_PARAMS *params);
PTXI_API ptxiResult cuGraphKernelNodeSetParams(ptxiGraphNode node, const PTXI_KERNEL_NODE_PARAMS *params);
PTXI_API ptxiResult cuGraphKernelNodeSetParams_v2(ptxiGraphNode node, const PTXI_KERNEL_NODE_PARAMS *params);
PTXI_API ptxiResult cuGraphExecKernelNodeSetParams(ptxiGraphExec exec, ptxiGraphNode node,
                                                   const PTXI_KERNEL_NODE_PARAMS *params);
PTXI_API ptxiResult cuGraphExecKernelNodeSetParams_v2(ptxiGraphExec exec, ptxiGraphNode node,
                                                      const PTXI_KERNEL_NODE_PARAMS *params);
PTXI_API ptxiResult cuGraphKernelNodeGetParams(ptxiGraphNode node, PTXI_KERNEL_NODE_PARAMS *params);
PTXI_API ptxiResult cuGraphKernelNodeGetParams_v2(ptxiGraphNode node, PTXI_KERNEL_NODE_PARAMS *params);
PTXI_API ptxiResult cuGraphInstantiate(ptxiGraphExec *exec, ptxiGraph graph, ptxiGraphNode *errorNode, char *log,
                                       size_t size);
PTXI_API ptxiResult cuGraphInstantiate_v2(ptxiGraphExec *exec, ptxiGraph graph, ptxiGraphNode *errorNode, char *log,
                                          size_t size);
PTXI_API ptxiResult cuGraphNodeGetDependencies(ptxiGraphNode node, ptxiGraphNode *dependencies, size_t *count);
PTXI_API ptxiResult cuGraphNodeGetDependencies_v2(ptxiGraphNode node, ptxiGraphNode *dependencies,
                                                  ptxiGraphEdgeData *data, size_t *count);
PTXI_API ptxiResult cuGraphExecUpdate(ptxiGraphExec exec, ptxiGraph graph, ptxiGraphNode *errorNode,
                                      ptxiGraphExecUpdateResult *result);
PTXI_API ptxiResult cuGraphExecUpdate_v2(ptxiGraphExec exec, ptxiGraph graph, ptxiGraphExecUpdateResultInfo *info);
PTXI_API ptxiResult cuStreamGetCaptureInfo(ptxiStream stream, ptxiStreamCaptureStatus *status, unsigned long long *id);
PTXI_API ptxiResult cuStreamGetCaptureInfo_v2(ptxiStream stream, ptxiStreamCaptureStatus *status,
                                              unsigned long long *id, ptxiGraph *graph,
                                              const ptxiGraphNode **dependencies, size_t *count);
PTXI_API ptxiResult cuStreamGetCaptureInfo_v3(ptxiStream stream, ptxiStreamCaptureStatus *status,
                                              unsigned long long *id, ptxiGraph *graph,
                                              const ptxiGraphNode **dependencies,
                                              const ptxiGraphEdgeData **data, size_t *count);
PTXI_API ptxiResult cuStreamUpdateCaptureDependencies(ptxiStream stream, ptxiGraphNode *nodes, size_t count,
                                                      unsigned flags);
PTXI_API ptxiResult cuStreamUpdateCaptureDependencies_v2(ptxiStream stream, ptxiGraphNode *nodes,
                                                         const ptxiGraphEdgeData *data, size_t count, unsigned flags);
PTXI_API ptxiResult cuProfilerStart(void);
PTXI_API ptxiResult cuProfilerStop(void);

/* driver_misc.c */
PTXI_API ptxiResult cuMemPrefetchAsync(ptxiDevicePtr p, size_t bytes, ptxiDevice dev, ptxiStream hStream);
PTXI_API ptxiResult cuMemPrefetchAsync_v2(ptxiDevicePtr p, size_t bytes, ptxiMemLocation at, unsigned flags,
                                          ptxiStream hStream);
PTXI_API ptxiResult cuMemAdvise(ptxiDevicePtr p, size_t bytes, ptxiMemAdvice advice, ptxiDevice dev);
PTXI_API ptxiResult cuMemAdvise_v2(ptxiDevicePtr p, size_t bytes, ptxiMemAdvice advice, ptxiMemLocation at);
PTXI_API ptxiResult cuMemcpyBatchAsync(ptxiDevicePtr *dsts, ptxiDevicePtr *srcs, size_t *sizes, size_t count,
                                       ptxiMemcpyAttributes *attrs, size_t *indices, size_t attr_count, size_t *failed,
                                       ptxiStream hStream);
PTXI_API ptxiResult cuMemcpyBatchAsync_v2(ptxiDevicePtr *dsts, ptxiDevicePtr *srcs, size_t *sizes, size_t count,
                                          ptxiMemcpyAttributes *attrs, size_t *indices, size_t attr_count,
                                          ptxiStream hStream);
PTXI_API ptxiResult cuMemcpy3DBatchAsync(size_t count, PTXI_MEMCPY3D_BATCH_OP *ops, size_t *failed,
                                         unsigned long long flags, ptxiStream hStream);
PTXI_API ptxiResult cuMemcpy3DBatchAsync_v2(size_t count, PTXI_MEMCPY3D_BATCH_OP *ops, unsigned long long flags,
                                            ptxiStream hStream);
PTXI_API ptxiResult cuMemcpy2DUnaligned_v2_ptds(const PTXI_MEMCPY2D *copy);
PTXI_API ptxiResult cuMemcpyAtoA_v2_ptds(ptxiArray dst, size_t to, ptxiArray src, size_t from, size_t bytes);
PTXI_API ptxiResult cuMemcpyAtoD_v2_ptds(ptxiDevicePtr dst, ptxiArray src, size_t from, size_t bytes);
PTXI_API ptxiResult cuMemcpyDtoA_v2_ptds(ptxiArray dst, size_t to, ptxiDevicePtr src, size_t bytes);
PTXI_API ptxiResult cuStreamCopyAttributes_ptsz(ptxiStream dst, ptxiStream src);
PTXI_API ptxiResult cuLaunchKernelEx_ptsz(const ptxiLaunchConfig *config, ptxiFunction f, void **params, void **extra);
PTXI_API ptxiResult cuGetProcAddress_v2_ptsz(const char *symbol, void **pfn, int cudaVersion, uint64_t flags,
                                             int *symbolStatus);
PTXI_API ptxiResult cuCtxSynchronize_v2(ptxiContext ctx);
PTXI_API ptxiResult cuCtxRecordEvent(ptxiContext ctx, ptxiEvent event);
PTXI_API ptxiResult cuCtxWaitEvent(ptxiContext ctx, ptxiEvent event);
PTXI_API ptxiResult cuCtxSetFlags(unsigned flags);
PTXI_API ptxiResult cuCtxGetExecAffinity(void *affinity, int type);
PTXI_API ptxiResult cuDeviceGetExecAffinitySupport(int *supported, int type, ptxiDevice dev);
PTXI_API ptxiResult cuDeviceGetTexture1DLinearMaxWidth(size_t *width, ptxiArrayFormat format, unsigned channels,
                                                       ptxiDevice dev);
typedef void stream_callback(ptxiStream stream, ptxiResult status, void *user);
PTXI_API ptxiResult cuStreamAddCallback(ptxiStream hStream, stream_callback *callback, void *user, unsigned flags);
PTXI_API ptxiResult cuLibraryGetUnifiedFunction(void **function, ptxiLibrary library, const char *symbol);
PTXI_API ptxiResult cuFuncLoad(ptxiFunction f);
PTXI_API ptxiResult cuFuncIsLoaded(int *state, ptxiFunction f);
PTXI_API ptxiResult cuModuleGetLoadingMode(int *mode);

/* export_table.c */
PTXI_API ptxiResult cuGetExportTable(const void **table, const void *id);

#endif
