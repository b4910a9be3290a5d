/* Access to the memory of other devices, and copies between devices. */
#include "runtime.h"

static int peer_context(int device, ptxiContext *context)
{
    int error = ptxi_runtime_check_device(device);

    return error ? error : ptxi_runtime_get_context(device, context);
}

int ptxi_runtime_enable_peer(int peer, unsigned flags)
{
    ptxiContext context;
    int error = peer_context(peer, &context);

    return error ? error : (int)ptxiCtxEnablePeerAccess(context, flags);
}

int ptxi_runtime_disable_peer(int peer)
{
    ptxiContext context;
    int error = peer_context(peer, &context);

    return error ? error : (int)ptxiCtxDisablePeerAccess(context);
}

int ptxi_runtime_copy_peer_async(void *dst, int dst_device, const void *src, int src_device, size_t bytes,
                                 ptxiStream stream)
{
    ptxiContext to, from;
    int error = peer_context(dst_device, &to);

    if (!error)
        error = peer_context(src_device, &from);
    if (error)
        return error;
    return ptxiMemcpyPeerAsync((ptxiDevicePtr)dst, to, (ptxiDevicePtr)src, from, bytes, stream);
}

int ptxi_runtime_copy_peer(void *dst, int dst_device, const void *src, int src_device, size_t bytes)
{
    ptxiContext to, from;
    int error = peer_context(dst_device, &to);

    if (!error)
        error = peer_context(src_device, &from);
    return error ? error : (int)ptxiMemcpyPeer((ptxiDevicePtr)dst, to, (ptxiDevicePtr)src, from, bytes);
}

static int describe_copy(const struct copy3d_peer_params *p, struct copy3d_params *params)
{
    int error;

    if (!p)
        return PTXI_ERROR_INVALID_VALUE;
    error = ptxi_runtime_check_device(p->srcDevice);
    if (!error)
        error = ptxi_runtime_check_device(p->dstDevice);
    *params = (struct copy3d_params){
        .srcArray = p->srcArray,
        .srcPos = p->srcPos,
        .srcPtr = p->srcPtr,
        .dstArray = p->dstArray,
        .dstPos = p->dstPos,
        .dstPtr = p->dstPtr,
        .extent = p->extent,
        .kind = COPY_DEVICE_TO_DEVICE,
    };
    return error;
}

/* All devices have one address space, so a copy between devices is a copy within it. */
int ptxi_runtime_copy3d_peer_async(const struct copy3d_peer_params *p, ptxiStream stream)
{
    struct copy3d_params params;
    int error = describe_copy(p, &params);

    return error ? error : ptxi_runtime_copy3d_async(&params, stream);
}

int ptxi_runtime_copy3d_peer(const struct copy3d_peer_params *p, ptxiStream default_stream)
{
    struct copy3d_params params;
    int error = describe_copy(p, &params);

    return error ? error : ptxi_runtime_copy3d(&params, default_stream);
}
