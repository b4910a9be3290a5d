/* Calls of the driver that ask or set what does not matter here, or come down to another call. */
#include "driver.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- numbers of things */

ptxiResult cuStreamGetId(ptxiStream hStream, unsigned long long *id)
{
    unsigned flags;
    ptxiResult r = ptxiStreamGetFlags(hStream, &flags);

    if (r || !id)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    *id = (unsigned long long)(uintptr_t)hStream;
    return PTXI_SUCCESS;
}

ptxiResult cuStreamGetDevice(ptxiStream hStream, ptxiDevice *device)
{
    unsigned flags;
    ptxiResult r = ptxiStreamGetFlags(hStream, &flags);

    return r ? r : ptxiCtxGetDevice(device);
}

ptxiResult cuCtxGetId(ptxiContext ctx, unsigned long long *id)
{
    ptxiResult r = ctx ? PTXI_SUCCESS : ptxiCtxGetCurrent(&ctx);

    if (r || !id)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    *id = (unsigned long long)(uintptr_t)ctx;
    return PTXI_SUCCESS;
}

/* ---- callbacks */

struct callback {
    stream_callback *function;
    ptxiStream stream;
    void *user;
};

static void run_callback(void *data)
{
    struct callback c = *(struct callback *)data;

    free(data);
    c.function(c.stream, PTXI_SUCCESS, c.user);
}

ptxiResult cuStreamAddCallback(ptxiStream hStream, stream_callback *callback, void *user, unsigned flags)
{
    struct callback *c;
    ptxiResult r;

    if (!callback || flags)
        return PTXI_ERROR_INVALID_VALUE;
    c = malloc(sizeof *c);
    if (!c)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *c = (struct callback){ callback, hStream, user };
    r = ptxiLaunchHostFunc(hStream, run_callback, c);
    if (r)
        free(c);
    return r;
}

/* ---- functions are there as soon as their module is */

enum { LOADED = 1, EAGER = 1 };

ptxiResult cuFuncLoad(ptxiFunction f)
{
    ptxiModule m;

    return f ? ptxiFuncGetModule(&m, f) : PTXI_ERROR_INVALID_HANDLE;
}

ptxiResult cuFuncIsLoaded(int *state, ptxiFunction f)
{
    ptxiModule m;
    ptxiResult r = ptxiFuncGetModule(&m, f);

    if (r || !state)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    *state = LOADED;
    return PTXI_SUCCESS;
}

/* Functions that host and device share come from a table that nobody gives here. */
ptxiResult cuLibraryGetUnifiedFunction(void **function, ptxiLibrary library, const char *symbol)
{
    unsigned count;
    ptxiResult r = ptxiLibraryGetKernelCount(&count, library);

    (void)function, (void)symbol;
    return r ? r : PTXI_ERROR_INVALID_VALUE;
}

ptxiResult cuModuleGetLoadingMode(int *mode)
{
    if (!mode)
        return PTXI_ERROR_INVALID_VALUE;
    *mode = EAGER;
    return PTXI_SUCCESS;
}

/* ---- caches and banks */

enum { MOST_CACHE_CONFIG = 3, FOUR_BYTE_BANKS = 1, MOST_BANK_CONFIG = 2 };

static _Atomic int cache_config;

static ptxiResult with_context(void)
{
    ptxiDevice device;

    return ptxiCtxGetDevice(&device);
}

ptxiResult cuCtxGetCacheConfig(int *config)
{
    ptxiResult r = with_context();

    if (r || !config)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    *config = atomic_load(&cache_config);
    return PTXI_SUCCESS;
}

ptxiResult cuCtxSetCacheConfig(int config)
{
    ptxiResult r = with_context();

    if (r || config < 0 || config > MOST_CACHE_CONFIG)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    atomic_store(&cache_config, config);
    return PTXI_SUCCESS;
}

ptxiResult cuCtxGetSharedMemConfig(int *config)
{
    ptxiResult r = with_context();

    if (r || !config)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    *config = FOUR_BYTE_BANKS;
    return PTXI_SUCCESS;
}

ptxiResult cuCtxSetSharedMemConfig(int config)
{
    ptxiResult r = with_context();

    return r ? r : config < 0 || config > MOST_BANK_CONFIG ? PTXI_ERROR_INVALID_VALUE : PTXI_SUCCESS;
}

ptxiResult cuFuncSetSharedMemConfig(ptxiFunction f, int config)
{
    ptxiModule m;
    ptxiResult r = ptxiFuncGetModule(&m, f);

    return r ? r : config < 0 || config > MOST_BANK_CONFIG ? PTXI_ERROR_INVALID_VALUE : PTXI_SUCCESS;
}

ptxiResult cuCtxResetPersistingL2Cache(void)
{
    return with_context();
}

/* ---- the bus: devices in the order of their numbers */

ptxiResult cuDeviceGetPCIBusId(char *name, int size, ptxiDevice dev)
{
    enum { ENOUGH = 13 };
    int count;
    ptxiResult r = ptxiDeviceGetCount(&count);

    if (r)
        return r;
    if (!name || size < ENOUGH)
        return PTXI_ERROR_INVALID_VALUE;
    if (dev < 0 || dev >= count)
        return PTXI_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)size, "0000:%02x:00.0", (unsigned)dev);
    return PTXI_SUCCESS;
}

ptxiResult cuDeviceGetByPCIBusId(ptxiDevice *dev, const char *name)
{
    unsigned domain, bus, device, function = 0;
    int count;
    ptxiResult r = ptxiDeviceGetCount(&count);

    if (r)
        return r;
    if (!dev || !name || (sscanf(name, "%x:%x:%x.%x", &domain, &bus, &device, &function) < 3 && (domain = 0, sscanf(name, "%x:%x.%x", &bus, &device, &function) < 2)))
        return PTXI_ERROR_INVALID_VALUE;
    if (domain || device || function || bus >= (unsigned)count)
        return PTXI_ERROR_INVALID_DEVICE;
    *dev = (ptxiDevice)bus;
    return PTXI_SUCCESS;
}

/* ---- peers: other contexts of the same device, whose memory is reached as it is */

enum { PEER_ACCESS_UNSUPPORTED = 217, PEER_ACCESS_NOT_ENABLED = 705 };

ptxiResult cuMemcpyPeer(ptxiDevicePtr dst, ptxiContext to, ptxiDevicePtr src, ptxiContext from, size_t bytes)
{
    (void)to, (void)from;
    return ptxiMemcpyDtoD(dst, src, bytes);
}

ptxiResult cuMemcpyPeerAsync(ptxiDevicePtr dst, ptxiContext to, ptxiDevicePtr src, ptxiContext from, size_t bytes, ptxiStream hStream)
{
    (void)to, (void)from;
    return ptxiMemcpyDtoDAsync(dst, src, bytes, hStream);
}

ptxiResult cuCtxEnablePeerAccess(ptxiContext peer, unsigned flags)
{
    ptxiResult r = with_context();

    (void)flags;
    return r ? r : peer ? (ptxiResult)PEER_ACCESS_UNSUPPORTED : PTXI_ERROR_INVALID_CONTEXT;
}

ptxiResult cuCtxDisablePeerAccess(ptxiContext peer)
{
    ptxiResult r = with_context();

    return r ? r : peer ? (ptxiResult)PEER_ACCESS_NOT_ENABLED : PTXI_ERROR_INVALID_CONTEXT;
}
