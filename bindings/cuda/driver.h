/* Declarations that the generated and the handwritten files of libcuda.so.1 share. */
#ifndef PTXI_CUDA_DRIVER_H
#define PTXI_CUDA_DRIVER_H

#include "ptxi.h"

typedef void driver_function(void);

/* All calls of the library by name. */
struct driver_symbol {
    const char *name;
    driver_function *address;
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
                                              const ptxiGraphNode **dependencies, const void **data, size_t *count);
PTXI_API ptxiResult cuStreamUpdateCaptureDependencies(ptxiStream stream, ptxiGraphNode *nodes, size_t count,
                                                      unsigned flags);
PTXI_API ptxiResult cuStreamUpdateCaptureDependencies_v2(ptxiStream stream, ptxiGraphNode *nodes,
                                                         const ptxiGraphEdgeData *data, size_t count, unsigned flags);
PTXI_API ptxiResult cuProfilerStart(void);
PTXI_API ptxiResult cuProfilerStop(void);

/* driver_misc.c */
typedef void stream_callback(ptxiStream stream, ptxiResult status, void *user);
PTXI_API ptxiResult cuStreamAddCallback(ptxiStream hStream, stream_callback *callback, void *user, unsigned flags);
PTXI_API ptxiResult cuLibraryGetUnifiedFunction(void **function, ptxiLibrary library, const char *symbol);
PTXI_API ptxiResult cuFuncLoad(ptxiFunction f);
PTXI_API ptxiResult cuFuncIsLoaded(int *state, ptxiFunction f);
PTXI_API ptxiResult cuModuleGetLoadingMode(int *mode);

/* export_table.c */
PTXI_API ptxiResult cuGetExportTable(const void **table, const void *id);

#endif
