/* Copies between contexts. Addresses are unique in the process, so the contexts only say which work to wait for. */
#include "api/submit/submit.h"

#include <stddef.h>
#include <string.h>

/* Holds a context of a copy. With `wait`, waits for its work; the copy itself waits for that of the current one. */
static ptxiResult enter_side(ptxiContext named, bool wait)
{
    ptxiContext ctx;
    ptxiResult r = ptxi_api_named_context(named, &ctx);

    return r || !wait || ctx == ptxi_context_current() ? r : ptxi_api_drain(ctx);
}

static ptxiResult enter_sides(ptxiContext dst, ptxiContext src, bool wait)
{
    ptxiResult r = enter_side(dst, wait);

    return r ? r : enter_side(src, wait);
}

ptxiResult ptxiMemcpyPeer(ptxiDevicePtr dstDevice, ptxiContext dstContext, ptxiDevicePtr srcDevice,
                          ptxiContext srcContext, size_t ByteCount)
{
    API_CALL;
    ptxiResult r = enter_sides(dstContext, srcContext, true);

    return r ? r : ptxiMemcpyDtoD(dstDevice, srcDevice, ByteCount);
}

ptxiResult ptxiMemcpyPeerAsync(ptxiDevicePtr dstDevice, ptxiContext dstContext, ptxiDevicePtr srcDevice,
                               ptxiContext srcContext, size_t ByteCount, ptxiStream hStream)
{
    API_CALL;
    ptxiResult r = enter_sides(dstContext, srcContext, false);

    return r ? r : ptxiMemcpyDtoDAsync(dstDevice, srcDevice, ByteCount, hStream);
}

/* The context of a side is in the place of a reserved member. */
_Static_assert(sizeof(PTXI_MEMCPY3D_PEER) == sizeof(PTXI_MEMCPY3D) &&
               offsetof(PTXI_MEMCPY3D_PEER, srcContext) == offsetof(PTXI_MEMCPY3D, reserved0) &&
               offsetof(PTXI_MEMCPY3D_PEER, dstContext) == offsetof(PTXI_MEMCPY3D, reserved1), "one layout");

static ptxiResult submit_peer_box(bool async, const PTXI_MEMCPY3D_PEER *d, ptxiStream stream)
{
    PTXI_MEMCPY3D box;
    ptxiResult r = ptxi_api_enter();

    if (r || !d)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    r = enter_sides(d->dstMemoryType == PTXI_MEMORYTYPE_ARRAY ? NULL : d->dstContext,
                    d->srcMemoryType == PTXI_MEMORYTYPE_ARRAY ? NULL : d->srcContext, !async);
    if (r)
        return r;
    memcpy(&box, d, sizeof box);
    box.reserved0 = box.reserved1 = NULL;
    return ptxi_submit_box(async, &box, stream);
}

ptxiResult ptxiMemcpy3DPeer(const PTXI_MEMCPY3D_PEER *pCopy)
{
    API_CALL;
    return submit_peer_box(false, pCopy, NULL);
}

ptxiResult ptxiMemcpy3DPeerAsync(const PTXI_MEMCPY3D_PEER *pCopy, ptxiStream hStream)
{
    API_CALL;
    return submit_peer_box(true, pCopy, hStream);
}
