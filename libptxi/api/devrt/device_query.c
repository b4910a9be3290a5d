/* Functions that kernels call about errors, the device, memory and conditions of graphs. */
#include "api/devrt/device_call.h"
#include "api/graph/condition.h"
#include "api/memory/heap.h"

#include <string.h>

enum { RUNTIME_VERSION = 6000 }; /* what the device's runtime reports */

static bool store_int(struct ptxi_device_call *d, int value)
{
    return ptxi_device_store(d, 0, &value, sizeof value);
}

/* ---- errors */

static uint64_t last_error(struct ptxi_launch *l, bool clear)
{
    pthread_mutex_lock(&l->lock);
    int error = l->error;

    l->error = clear ? cudaSuccess : error;
    pthread_mutex_unlock(&l->lock);
    return (uint64_t)error;
}

DEVICE_FUNCTION(GetLastError)
{
    d->result = last_error(d->launch, true);
    return true;
}

DEVICE_FUNCTION(PeekAtLastError)
{
    d->result = last_error(d->launch, false);
    return true;
}

static const struct {
    int number;
    const char *name, *text;
} errors[] = {
#define ERROR(number, name, text) { number, "cuda" #name, text },
#include "api/devrt/cuda_errors.def"
};

/* Returns a copy of the text that the kernel can read. */
static bool return_text(struct ptxi_device_call *d, const char *text)
{
    struct ptxi_param_buffer *b = ptxi_param_buffer_create(d->launch, strlen(text) + 1, PTXI_BUFFER_TEXT);

    if (b)
        strcpy((char *)(uintptr_t)b->block->base, text);
    d->result = b ? b->block->base : 0;
    return true;
}

static bool return_error_text(struct ptxi_device_call *d, bool name)
{
    const char *text = "unrecognized error code";

    for (size_t k = 0; k < sizeof errors / sizeof *errors; k++)
        if (errors[k].number == (int)arg32(d, 0))
            text = name ? errors[k].name : errors[k].text;
    return return_text(d, text);
}

/* const char *(cudaError_t error) */
DEVICE_FUNCTION(GetErrorString)
{
    return return_error_text(d, false);
}

DEVICE_FUNCTION(GetErrorName)
{
    return return_error_text(d, true);
}

/* ---- the device */

DEVICE_FUNCTION(GetDeviceCount)
{
    return store_int(d, (int)ptxi_state.device_count);
}

DEVICE_FUNCTION(GetDevice)
{
    return store_int(d, d->launch->ctx->device);
}

DEVICE_FUNCTION(RuntimeGetVersion)
{
    return store_int(d, RUNTIME_VERSION);
}

/* cudaError_t (int *value, enum cudaDeviceAttr which, int device) */
DEVICE_FUNCTION(DeviceGetAttribute)
{
    const uint32_t device = arg32(d, 3);
    int value;

    if (device >= ptxi_state.device_count)
        return ptxi_device_return(d, cudaErrorInvalidDevice);
    const struct ptxi_profile *p = device == (uint32_t)d->launch->ctx->device
                                       ? d->launch->ctx->profile : atomic_load(&ptxi_state.devices[device].profile);

    if (!ptxi_profile_attribute(p, (int)arg32(d, 2), &value))
        return ptxi_device_return(d, cudaErrorInvalidValue);
    return store_int(d, value);
}

/* Returns a limit, or -1 if kernels cannot query it. */
static size_t limit_of(ptxiContext ctx, unsigned which)
{
    enum { SHARED_OF_BLOCK = 7, NO_LIMIT = 8, MULTIPROCESSORS = 10 };
    size_t value = (size_t)-1;

    if (which == SHARED_OF_BLOCK)
        return ctx->profile->block_shared;
    if (which == MULTIPROCESSORS)
        return ctx->profile->multiprocessors;
    if (which == NO_LIMIT)
        return 0;
    if (which == PTXI_LIMIT_DEV_RUNTIME_SYNC_DEPTH || which >= PTXI_LIMITS)
        return value;
    pthread_mutex_lock(&ctx->lock);
    value = ctx->limits[which];
    pthread_mutex_unlock(&ctx->lock);
    return value;
}

/* cudaError_t (size_t *value, enum cudaLimit which). It does not change the last error. */
DEVICE_FUNCTION(DeviceGetLimit)
{
    enum { KNOWN = 11 };
    unsigned which = arg32(d, 2);

    if (which >= KNOWN) {
        d->result = cudaErrorInvalidValue;
        return true;
    }
    size_t value = limit_of(d->launch->ctx, which);

    if (value == (size_t)-1)
        d->result = cudaErrorUnsupportedLimit;
    return ptxi_device_store(d, 0, &value, sizeof value);
}

/* cudaError_t (enum cudaFuncCache *config) */
DEVICE_FUNCTION(DeviceGetCacheConfig)
{
    return store_int(d, 0);
}

/* cudaError_t (enum cudaSharedMemConfig *config): banks of 4 bytes */
DEVICE_FUNCTION(DeviceGetSharedMemConfig)
{
    return store_int(d, (int)ptxi_state.device_count);
}

/* ---- memory */

/* cudaError_t (void **pointer, size_t size) */
DEVICE_FUNCTION(Malloc)
{
    uint64_t bytes = arg64(d, 2), at = bytes ? ptxi_heap_of_kernels.get(d->launch->ctx, bytes) : 0;

    if (!at)
        return ptxi_device_return(d, bytes ? cudaErrorMemoryAllocation : cudaErrorInvalidValue);
    return ptxi_device_store(d, 0, &at, sizeof at);
}

/* cudaError_t (void *pointer) */
DEVICE_FUNCTION(Free)
{
    uint64_t at = arg64(d, 0);

    if (!at || ptxi_heap_of_kernels.put(d->launch->ctx, at) == PTXI_HEAP_OK)
        return true;
    return ptxi_device_return(d, cudaErrorInvalidValue);
}

/* ---- graphs */

/* void (cudaGraphConditionalHandle handle, unsigned value) */
DEVICE_FUNCTION(GraphSetConditional)
{
    ptxi_condition_set(arg64(d, 0), arg32(d, 2)); /* ignores an invalid handle */
    return true;
}
