/* A call of a function of the device runtime by one lane. */
#ifndef PTXI_API_DEVRT_DEVICE_CALL_H
#define PTXI_API_DEVRT_DEVICE_CALL_H

#include "api/launch/launch.h"
#include "api/launch/param_buffer.h"

#include "exec/builtin/builtin.h"

/* The call of one lane. */
struct ptxi_device_call {
    struct ptxi_launch *launch;
    struct ptxi_builtin_call *call;
    unsigned lane;
    uint64_t result; /* returned to the lane; cudaSuccess by default */
};

/* cudaError_t */
enum {
#define ERROR(number, name, text) cuda##name = number,
#include "api/devrt/cuda_errors.def"
};

/* Functions that kernels call, by their names without the prefix cuda or __cudaCDP2. */
#define PTXI_DEVICE_FUNCTIONS(X) \
    X(GetParameterBuffer) X(GetParameterBufferV2) X(LaunchDevice) X(LaunchDeviceV2) X(FuncGetAttributes) \
    X(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags) X(MemcpyAsync) X(Memcpy2DAsync) X(Memcpy3DAsync) \
    X(MemsetAsync) X(Memset2DAsync) X(Memset3DAsync) X(Malloc) X(Free) X(GetLastError) X(PeekAtLastError) \
    X(GetErrorName) X(GetErrorString) X(GetDevice) X(GetDeviceCount) X(RuntimeGetVersion) X(DeviceGetAttribute) \
    X(DeviceGetLimit) X(DeviceGetCacheConfig) X(DeviceGetSharedMemConfig) X(StreamCreateWithFlags) X(StreamDestroy) \
    X(StreamWaitEvent) X(EventCreateWithFlags) X(EventRecord) X(EventDestroy) X(GraphSetConditional) \
    X(GraphLaunch)

/* False: the launch has failed. */
typedef bool ptxi_device_function(struct ptxi_device_call *d);

#define DEVICE_FUNCTION(name) bool ptxi_device_##name(struct ptxi_device_call *d)
#define X(name) ptxi_device_function ptxi_device_##name;
PTXI_DEVICE_FUNCTIONS(X)
#undef X

/* An argument of 32 or 64 bits, by the index of its first word of 4 bytes. */
static inline unsigned arg32(const struct ptxi_device_call *d, unsigned word)
{
    return ptxi_builtin_arg32(d->call, word, d->lane);
}

static inline uint64_t arg64(const struct ptxi_device_call *d, unsigned word)
{
    return ptxi_builtin_arg64(d->call, word, d->lane);
}

/* Sets the result of cudaGetLastError(). cudaSuccess does not change it. */
void ptxi_device_set_last_error(struct ptxi_launch *l, int error);

/* Returns a cudaError_t to the lane, and makes it the last error. */
bool ptxi_device_return(struct ptxi_device_call *d, int error);

/* Stores a value at the address that an argument of the call contains. */
bool ptxi_device_store(struct ptxi_device_call *d, unsigned word, const void *value, size_t size);

/* The place of the call, for reports about what it requests. */
struct ptxi_call_site ptxi_device_call_site(const struct ptxi_device_call *d);

bool ptxi_device_is_stream(uint64_t stream);
enum { PER_THREAD_STREAM = 2, TAIL_STREAM = 3, FIRE_AND_FORGET_STREAM = 4 };

#endif
