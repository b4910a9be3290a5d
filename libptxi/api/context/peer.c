/* Peers: devices with memory that kernels of a context may access. */
#include "api/context/context.h"

#include <stdlib.h>

struct ptxi_context_peer {
    struct ptxi_context_peer *next;
    ptxiContext ctx;
};

/* Contexts of one device can always access each other's memory. */
static void update_accessible(ptxiContext ctx)
{
    uint64_t devices = PTXI_ON_DEVICE(ctx->device) | PTXI_ON_PEER(ctx->device);

    for (const struct ptxi_context_peer *p = ctx->peers; p; p = p->next)
        devices |= PTXI_ON_PEER(p->ctx->device);
    uint64_t before = atomic_exchange(&ctx->accessible, devices);

    if (before & ~devices)
        ptxi_memmap_invalidate(ptxi_state.memmap);
}

void ptxi_peers_init(ptxiContext ctx)
{
    update_accessible(ctx);
}

static struct ptxi_context_peer **find_peer(ptxiContext ctx, ptxiContext peer)
{
    struct ptxi_context_peer **p = &ctx->peers;

    while (*p && (*p)->ctx != peer)
        p = &(*p)->next;
    return p;
}

static bool remove_peer(ptxiContext ctx, ptxiContext peer)
{
    struct ptxi_context_peer **at = find_peer(ctx, peer), *p = *at;

    if (!p)
        return false;
    *at = p->next;
    free(p);
    update_accessible(ctx);
    return true;
}

void ptxi_peers_forget(ptxiContext ctx)
{
    while (ctx->peers)
        remove_peer(ctx, ctx->peers->ctx);
    for (ptxiContext c = ptxi_state.contexts; c; c = c->next)
        remove_peer(c, ctx);
}

/* ---- calls */

/* Finds the current context and a peer of it. The call holds both. */
static ptxiResult enter_peers(ptxiContext peer, ptxiContext *ctx)
{
    ptxiContext held;
    ptxiResult r = ptxi_api_context(ctx);

    if (r)
        return r;
    return peer ? ptxi_api_named_context(peer, &held) : PTXI_ERROR_INVALID_CONTEXT;
}

ptxiResult ptxiCtxEnablePeerAccess(ptxiContext peerContext, unsigned Flags)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = enter_peers(peerContext, &ctx);

    if (r)
        return r;
    if (Flags)
        return PTXI_ERROR_INVALID_VALUE;
    if (peerContext->device == ctx->device)
        return PTXI_ERROR_PEER_ACCESS_UNSUPPORTED;
    struct ptxi_context_peer *p = malloc(sizeof *p);

    if (!p)
        return PTXI_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&ptxi_state.lock);
    bool enabled = *find_peer(ctx, peerContext);

    if (!enabled) {
        *p = (struct ptxi_context_peer){ ctx->peers, peerContext };
        ctx->peers = p;
        update_accessible(ctx);
    }
    pthread_mutex_unlock(&ptxi_state.lock);
    if (enabled)
        free(p);
    return enabled ? PTXI_ERROR_PEER_ACCESS_ALREADY_ENABLED : PTXI_SUCCESS;
}

ptxiResult ptxiCtxDisablePeerAccess(ptxiContext peerContext)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = enter_peers(peerContext, &ctx);

    if (r)
        return r;
    pthread_mutex_lock(&ptxi_state.lock);
    bool enabled = remove_peer(ctx, peerContext);

    pthread_mutex_unlock(&ptxi_state.lock);
    return enabled ? PTXI_SUCCESS : PTXI_ERROR_PEER_ACCESS_NOT_ENABLED;
}

ptxiResult ptxiDeviceCanAccessPeer(int *canAccessPeer, ptxiDevice dev, ptxiDevice peerDev)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!canAccessPeer)
        return PTXI_ERROR_INVALID_VALUE;
    if ((r = ptxi_api_device(dev)) || (r = ptxi_api_device(peerDev)))
        return r;
    *canAccessPeer = dev != peerDev;
    return PTXI_SUCCESS;
}

ptxiResult ptxiDeviceGetP2PAttribute(int *value, ptxiDeviceP2PAttribute attrib, ptxiDevice srcDevice,
                                     ptxiDevice dstDevice)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!value || (int)attrib < PTXI_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
        (int)attrib > PTXI_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED)
        return PTXI_ERROR_INVALID_VALUE;
    if ((r = ptxi_api_device(srcDevice)) || (r = ptxi_api_device(dstDevice)))
        return r;
    if (srcDevice == dstDevice)
        return PTXI_ERROR_INVALID_DEVICE;
    *value = attrib != PTXI_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK &&
             attrib != PTXI_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED;
    return PTXI_SUCCESS;
}
