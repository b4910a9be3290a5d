/* Graphs that kernels launch (CUDA C++ Programming Guide, "Device Graph Launch"). */
#include "api/devrt/device_call.h"

#include "api/graphexec/graph_exec.h"

/* The streams of such launches, as in cuda_device_runtime_api.h */
#define TAIL UINT64_C(0x0100000000000000)
#define FIRE_AND_FORGET UINT64_C(0x0200000000000000)
#define SIBLING UINT64_C(0x0300000000000000)

/* A sibling may run at any time after the call, so it runs like the others. */
static bool is_graph_stream(uint64_t stream)
{
    return stream == TAIL || stream == FIRE_AND_FORGET || stream == SIBLING;
}

/* cudaError_t (cudaGraphExec_t graph, cudaStream_t stream) */
DEVICE_FUNCTION(GraphLaunch)
{
    API_CALL;
    uint64_t handle = arg64(d, 0), stream = arg64(d, 2);
    struct ptxi_call_site site = ptxi_device_call_site(d);
    struct ptxi_device_graph *g = NULL;

    if (d->launch->run && is_graph_stream(stream)) /* only kernels of graphs launch graphs */
        g = ptxi_graph_exec_uploaded((ptxiGraphExec)(uintptr_t)handle);
    if (!g)
        return ptxi_device_return(d, cudaErrorInvalidValue);
    ptxiResult r = ptxi_device_graph_launch(d->launch, &site, g, handle, stream == TAIL);

    ptxi_device_graph_unref(g);
    return ptxi_device_return(d, (int)r);
}
