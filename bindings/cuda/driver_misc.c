/* Driver calls that have no counterpart in ptxi.h: queries and settings that have no effect in libptxi, and calls that
 * another call implements. */
#include "driver.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- identifiers: the addresses of handles */

ptxiResult cuStreamGetId(ptxiStream hStream, unsigned long long *id)
{
    unsigned flags;
    ptxiResult r = ptxiStreamGetFlags(hStream, &flags);

    if (r)
        return r;
    if (!id)
        return PTXI_ERROR_INVALID_VALUE;
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

    if (r)
        return r;
    if (!id)
        return PTXI_ERROR_INVALID_VALUE;
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

/* ---- loading: all functions are loaded with their module */

enum { LOADED = 1, EAGER = 1 }; /* CUfunctionLoadingState, CUmoduleLoadingMode */

ptxiResult cuFuncLoad(ptxiFunction f)
{
    ptxiModule m;

    return f ? ptxiFuncGetModule(&m, f) : PTXI_ERROR_INVALID_HANDLE;
}

ptxiResult cuFuncIsLoaded(int *state, ptxiFunction f)
{
    ptxiModule m;
    ptxiResult r = ptxiFuncGetModule(&m, f);

    if (r)
        return r;
    if (!state)
        return PTXI_ERROR_INVALID_VALUE;
    *state = LOADED;
    return PTXI_SUCCESS;
}

/* No library has unified functions, which are functions that host and device share. */
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

/* ---- caches and banks: settings are validated, but have no effect */

enum { MAX_CACHE_CONFIG = 3, FOUR_BYTE_BANKS = 1, MAX_BANK_CONFIG = 2 };

static _Atomic int cache_config;

/* An error if no context is current. */
static ptxiResult check_context(void)
{
    ptxiDevice device;

    return ptxiCtxGetDevice(&device);
}

ptxiResult cuCtxGetCacheConfig(int *config)
{
    ptxiResult r = check_context();

    if (r)
        return r;
    if (!config)
        return PTXI_ERROR_INVALID_VALUE;
    *config = atomic_load(&cache_config);
    return PTXI_SUCCESS;
}

ptxiResult cuCtxSetCacheConfig(int config)
{
    ptxiResult r = check_context();

    if (r)
        return r;
    if (config < 0 || config > MAX_CACHE_CONFIG)
        return PTXI_ERROR_INVALID_VALUE;
    atomic_store(&cache_config, config);
    return PTXI_SUCCESS;
}

ptxiResult cuCtxGetSharedMemConfig(int *config)
{
    ptxiResult r = check_context();

    if (r)
        return r;
    if (!config)
        return PTXI_ERROR_INVALID_VALUE;
    *config = FOUR_BYTE_BANKS;
    return PTXI_SUCCESS;
}

static ptxiResult check_bank_config(int config)
{
    return config < 0 || config > MAX_BANK_CONFIG ? PTXI_ERROR_INVALID_VALUE : PTXI_SUCCESS;
}

ptxiResult cuCtxSetSharedMemConfig(int config)
{
    ptxiResult r = check_context();

    return r ? r : check_bank_config(config);
}

ptxiResult cuFuncSetSharedMemConfig(ptxiFunction f, int config)
{
    ptxiModule m;
    ptxiResult r = ptxiFuncGetModule(&m, f);

    return r ? r : check_bank_config(config);
}

ptxiResult cuCtxResetPersistingL2Cache(void)
{
    return check_context();
}

/* ---- PCI bus: the number of a device is its bus number */

ptxiResult cuDeviceGetPCIBusId(char *name, int size, ptxiDevice dev)
{
    enum { NAME_BYTES = 13 }; /* "0000:00:00.0" and the NUL */
    int count;
    ptxiResult r = ptxiDeviceGetCount(&count);

    if (r)
        return r;
    if (!name || size < NAME_BYTES)
        return PTXI_ERROR_INVALID_VALUE;
    if (dev < 0 || dev >= count)
        return PTXI_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)size, "0000:%02x:00.0", (unsigned)dev);
    return PTXI_SUCCESS;
}

struct pci_address {
    unsigned domain, bus, device, function;
};

/* "[domain:]bus:device[.function]" */
static bool parse_pci_address(const char *name, struct pci_address *a)
{
    *a = (struct pci_address){ .domain = 0 };
    if (sscanf(name, "%x:%x:%x.%x", &a->domain, &a->bus, &a->device, &a->function) >= 3)
        return true;
    *a = (struct pci_address){ .domain = 0 };
    return sscanf(name, "%x:%x.%x", &a->bus, &a->device, &a->function) >= 2;
}

ptxiResult cuDeviceGetByPCIBusId(ptxiDevice *dev, const char *name)
{
    struct pci_address a;
    int count;
    ptxiResult r = ptxiDeviceGetCount(&count);

    if (r)
        return r;
    if (!dev || !name || !parse_pci_address(name, &a))
        return PTXI_ERROR_INVALID_VALUE;
    if (a.domain || a.device || a.function || a.bus >= (unsigned)count)
        return PTXI_ERROR_INVALID_DEVICE;
    *dev = (ptxiDevice)a.bus;
    return PTXI_SUCCESS;
}

/* ---- peers: contexts of the same process, which can access each other's memory without a mapping */

enum { PEER_ACCESS_UNSUPPORTED = 217, PEER_ACCESS_NOT_ENABLED = 705 };

ptxiResult cuMemcpyPeer(ptxiDevicePtr dst, ptxiContext to, ptxiDevicePtr src, ptxiContext from, size_t bytes)
{
    (void)to, (void)from;
    return ptxiMemcpyDtoD(dst, src, bytes);
}

ptxiResult cuMemcpyPeerAsync(ptxiDevicePtr dst, ptxiContext to, ptxiDevicePtr src, ptxiContext from, size_t bytes,
                             ptxiStream hStream)
{
    (void)to, (void)from;
    return ptxiMemcpyDtoDAsync(dst, src, bytes, hStream);
}

ptxiResult cuCtxEnablePeerAccess(ptxiContext peer, unsigned flags)
{
    ptxiResult r = check_context();

    (void)flags;
    if (r)
        return r;
    return peer ? (ptxiResult)PEER_ACCESS_UNSUPPORTED : PTXI_ERROR_INVALID_CONTEXT;
}

ptxiResult cuCtxDisablePeerAccess(ptxiContext peer)
{
    ptxiResult r = check_context();

    if (r)
        return r;
    return peer ? (ptxiResult)PEER_ACCESS_NOT_ENABLED : PTXI_ERROR_INVALID_CONTEXT;
}
