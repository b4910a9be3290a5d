/* Driver calls that have no counterpart in ptxi.h: callbacks of streams, first versions of calls, contexts other than
 * the current one, and loading of functions, which libptxi does with their modules. */
#include "driver.h"

#include <stdlib.h>

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

ptxiResult ptxi_driver_StreamAddCallback(ptxiStream hStream, stream_callback *callback, void *user, unsigned flags)
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

/* ---- managed memory: the first versions name a device, or -1 for the host */

enum { CPU = -1 };

static ptxiMemLocation location_of(ptxiDevice dev)
{
    return (ptxiMemLocation){ dev == CPU ? PTXI_MEM_LOCATION_TYPE_HOST : PTXI_MEM_LOCATION_TYPE_DEVICE,
                              dev == CPU ? 0 : dev };
}

ptxiResult ptxi_driver_MemPrefetchAsync(ptxiDevicePtr p, size_t bytes, ptxiDevice dev, ptxiStream hStream)
{
    return ptxiMemPrefetchAsync(p, bytes, location_of(dev), 0, hStream);
}

ptxiResult ptxi_driver_MemPrefetchAsync_v2(ptxiDevicePtr p, size_t bytes, ptxiMemLocation at, unsigned flags,
                                           ptxiStream hStream)
{
    return ptxiMemPrefetchAsync(p, bytes, at, flags, hStream);
}

ptxiResult ptxi_driver_MemAdvise(ptxiDevicePtr p, size_t bytes, ptxiMemAdvice advice, ptxiDevice dev)
{
    return ptxiMemAdvise(p, bytes, advice, location_of(dev));
}

ptxiResult ptxi_driver_MemAdvise_v2(ptxiDevicePtr p, size_t bytes, ptxiMemAdvice advice, ptxiMemLocation at)
{
    return ptxiMemAdvise(p, bytes, advice, at);
}

/* ---- batches: the first versions return the index of an operation that fails, or SIZE_MAX */

ptxiResult ptxi_driver_MemcpyBatchAsync(ptxiDevicePtr *dsts, ptxiDevicePtr *srcs, size_t *sizes, size_t count,
                                        ptxiMemcpyAttributes *attrs, size_t *indices, size_t attr_count, size_t *failed,
                                        ptxiStream hStream)
{
    if (failed)
        *failed = SIZE_MAX;
    return ptxiMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, indices, attr_count, hStream);
}

ptxiResult ptxi_driver_MemcpyBatchAsync_v2(ptxiDevicePtr *dsts, ptxiDevicePtr *srcs, size_t *sizes, size_t count,
                                           ptxiMemcpyAttributes *attrs, size_t *indices, size_t attr_count,
                                           ptxiStream hStream)
{
    return ptxiMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, indices, attr_count, hStream);
}

ptxiResult ptxi_driver_Memcpy3DBatchAsync(size_t count, PTXI_MEMCPY3D_BATCH_OP *ops, size_t *failed,
                                          unsigned long long flags, ptxiStream hStream)
{
    if (failed)
        *failed = SIZE_MAX;
    return ptxiMemcpy3DBatchAsync(count, ops, flags, hStream);
}

ptxiResult ptxi_driver_Memcpy3DBatchAsync_v2(size_t count, PTXI_MEMCPY3D_BATCH_OP *ops, unsigned long long flags,
                                             ptxiStream hStream)
{
    return ptxiMemcpy3DBatchAsync(count, ops, flags, hStream);
}

/* ---- variants for per-thread default streams that cannot be generated. The legacy default stream waits for the stream
 * of the thread, so copies in it are in order, too. */

ptxiResult ptxi_driver_Memcpy2DUnaligned_v2_ptds(const PTXI_MEMCPY2D *copy)
{
    return finish_per_thread(ptxiMemcpy2DAsync(copy, PTXI_STREAM_PER_THREAD));
}

ptxiResult ptxi_driver_MemcpyAtoA_v2_ptds(ptxiArray dst, size_t to, ptxiArray src, size_t from, size_t bytes)
{
    return ptxiMemcpyAtoA(dst, to, src, from, bytes);
}

ptxiResult ptxi_driver_MemcpyAtoD_v2_ptds(ptxiDevicePtr dst, ptxiArray src, size_t from, size_t bytes)
{
    return ptxiMemcpyAtoD(dst, src, from, bytes);
}

ptxiResult ptxi_driver_MemcpyDtoA_v2_ptds(ptxiArray dst, size_t to, ptxiDevicePtr src, size_t bytes)
{
    return ptxiMemcpyDtoA(dst, to, src, bytes);
}

ptxiResult ptxi_driver_StreamCopyAttributes_ptsz(ptxiStream dst, ptxiStream src)
{
    return ptxiStreamCopyAttributes(per_thread(dst), per_thread(src));
}

ptxiResult ptxi_driver_LaunchKernelEx_ptsz(const ptxiLaunchConfig *config, ptxiFunction f, void **params, void **extra)
{
    if (!config)
        return ptxiLaunchKernelEx(NULL, f, params, extra);
    ptxiLaunchConfig c = *config;

    c.hStream = per_thread(c.hStream);
    return ptxiLaunchKernelEx(&c, f, params, extra);
}

/* ---- contexts other than the current one */

static ptxiResult push_context(ptxiContext ctx)
{
    return ctx ? ptxiCtxPushCurrent(ctx) : PTXI_SUCCESS;
}

static ptxiResult pop_context(ptxiContext ctx, ptxiResult r)
{
    if (ctx)
        ptxiCtxPopCurrent(NULL);
    return r;
}

ptxiResult ptxi_driver_CtxSynchronize_v2(ptxiContext ctx)
{
    ptxiResult r = push_context(ctx);

    return r ? r : pop_context(ctx, ptxiCtxSynchronize());
}

/* The legacy default stream orders itself with all blocking streams of the context, but not with the others. */
ptxiResult ptxi_driver_CtxRecordEvent(ptxiContext ctx, ptxiEvent event)
{
    ptxiResult r = push_context(ctx);

    return r ? r : pop_context(ctx, ptxiEventRecord(event, NULL));
}

ptxiResult ptxi_driver_CtxWaitEvent(ptxiContext ctx, ptxiEvent event)
{
    ptxiResult r = push_context(ctx);

    return r ? r : pop_context(ctx, ptxiStreamWaitEvent(NULL, event, 0));
}

/* Flags have no effect, so they are only checked. */
ptxiResult ptxi_driver_CtxSetFlags(unsigned flags)
{
    unsigned schedule = flags & PTXI_CTX_SCHED_MASK, now;
    ptxiResult r = ptxiCtxGetFlags(&now);

    if (r)
        return r;
    return flags & ~(unsigned)PTXI_CTX_FLAGS_MASK || schedule & (schedule - 1) ? PTXI_ERROR_INVALID_VALUE
           : PTXI_SUCCESS;
}

/* ---- properties of devices */

static ptxiResult check_device(ptxiDevice dev)
{
    int count;
    ptxiResult r = ptxiDeviceGetCount(&count);

    if (r)
        return r;
    return dev >= 0 && dev < count ? PTXI_SUCCESS : PTXI_ERROR_INVALID_DEVICE;
}

ptxiResult ptxi_driver_CtxGetExecAffinity(void *affinity, int type)
{
    unsigned flags;
    ptxiResult r = ptxiCtxGetFlags(&flags);

    if (r)
        return r;
    return !affinity || type ? PTXI_ERROR_INVALID_VALUE : PTXI_ERROR_UNSUPPORTED_EXEC_AFFINITY;
}

ptxiResult ptxi_driver_DeviceGetExecAffinitySupport(int *supported, int type, ptxiDevice dev)
{
    ptxiResult r = check_device(dev);

    if (r)
        return r;
    if (!supported || type)
        return PTXI_ERROR_INVALID_VALUE;
    *supported = 0;
    return PTXI_SUCCESS;
}

ptxiResult ptxi_driver_DeviceGetTexture1DLinearMaxWidth(size_t *width, ptxiArrayFormat format, unsigned channels,
                                                        ptxiDevice dev)
{
    enum { ELEMENTS = 1 << 28 };
    ptxiResult r = check_device(dev);

    (void)format;
    if (r)
        return r;
    if (!width || (channels != 1 && channels != 2 && channels != 4))
        return PTXI_ERROR_INVALID_VALUE;
    *width = ELEMENTS;
    return PTXI_SUCCESS;
}

/* ---- loading: all functions are loaded with their module */

enum { LOADED = 1, EAGER = 1 }; /* CUfunctionLoadingState, CUmoduleLoadingMode */

ptxiResult ptxi_driver_FuncLoad(ptxiFunction f)
{
    ptxiModule m;

    return f ? ptxiFuncGetModule(&m, f) : PTXI_ERROR_INVALID_HANDLE;
}

ptxiResult ptxi_driver_FuncIsLoaded(int *state, ptxiFunction f)
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
ptxiResult ptxi_driver_LibraryGetUnifiedFunction(void **function, ptxiLibrary library, const char *symbol)
{
    unsigned count;
    ptxiResult r = ptxiLibraryGetKernelCount(&count, library);

    (void)function, (void)symbol;
    return r ? r : PTXI_ERROR_INVALID_VALUE;
}

ptxiResult ptxi_driver_ModuleGetLoadingMode(int *mode)
{
    if (!mode)
        return PTXI_ERROR_INVALID_VALUE;
    *mode = EAGER;
    return PTXI_SUCCESS;
}
