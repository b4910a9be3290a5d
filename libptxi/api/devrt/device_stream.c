/* Streams and events of kernels. They are only numbers, because all of them permit the order in which pending work
 * runs. */
#include "api/devrt/device_call.h"

#include <stdatomic.h>

enum { FIRST_HANDLE = 0x1000, HANDLE_STEP = 16 };

static _Atomic uint64_t next_handle = FIRST_HANDLE;

static bool is_handle(uint64_t h)
{
    return h >= FIRST_HANDLE && h < atomic_load(&next_handle) && h % HANDLE_STEP == 0;
}

bool ptxi_device_is_stream(uint64_t stream)
{
    return stream <= FIRE_AND_FORGET_STREAM || is_handle(stream);
}

/* True for a stream that orders work. The streams of tail and fire-and-forget launches do not. */
static bool is_ordered_stream(uint64_t stream)
{
    return stream <= PER_THREAD_STREAM || is_handle(stream);
}

static bool store_new_handle(struct ptxi_device_call *d)
{
    uint64_t handle = atomic_fetch_add(&next_handle, HANDLE_STEP);

    return ptxi_device_store(d, 0, &handle, sizeof handle);
}

/* cudaError_t (cudaStream_t *stream, unsigned flags) */
DEVICE_FUNCTION(StreamCreateWithFlags)
{
    return arg32(d, 2) == PTXI_STREAM_NON_BLOCKING ? store_new_handle(d) : ptxi_device_return(d, cudaErrorInvalidValue);
}

/* cudaError_t (cudaEvent_t *event, unsigned flags) */
DEVICE_FUNCTION(EventCreateWithFlags)
{
    unsigned flags = arg32(d, 2);
    bool known = !(flags & ~(unsigned)(PTXI_EVENT_DISABLE_TIMING | PTXI_EVENT_BLOCKING_SYNC));

    if (!known || !(flags & PTXI_EVENT_DISABLE_TIMING))
        return ptxi_device_return(d, cudaErrorInvalidValue);
    return store_new_handle(d);
}

/* cudaError_t (cudaStream_t stream) */
DEVICE_FUNCTION(StreamDestroy)
{
    return is_handle(arg64(d, 0)) || ptxi_device_return(d, cudaErrorInvalidValue);
}

/* cudaError_t (cudaEvent_t event) */
DEVICE_FUNCTION(EventDestroy)
{
    return ptxi_device_StreamDestroy(d);
}

static bool check_event(struct ptxi_device_call *d, uint64_t event, uint64_t stream)
{
    return (is_handle(event) && is_ordered_stream(stream)) || ptxi_device_return(d, cudaErrorInvalidValue);
}

/* cudaError_t (cudaEvent_t event, cudaStream_t stream) */
DEVICE_FUNCTION(EventRecord)
{
    return check_event(d, arg64(d, 0), arg64(d, 2));
}

/* cudaError_t (cudaStream_t stream, cudaEvent_t event, unsigned flags) */
DEVICE_FUNCTION(StreamWaitEvent)
{
    return check_event(d, arg64(d, 2), arg64(d, 0));
}
