/* What the files of the device's runtime share: device_runtime.c, device_launch.c, device_copy.c. */
#ifndef PTXI_API_DEVRT_DEVICE_CALL_H
#define PTXI_API_DEVRT_DEVICE_CALL_H

#include "api/launch/launch.h"

#include "exec/builtin/builtin.h"

/* The call of one lane. */
struct ptxi_device_call {
    struct ptxi_launch *launch;
    struct ptxi_builtin_call *call;
    unsigned lane;
    uint64_t result; /* what the lane gets: cudaSuccess unless it is set */
};

/* cudaError_t */
enum {
#define ERROR(number, name, text) cuda##name = number,
#include "api/context/cuda_errors.def"
};

/* Functions that kernels call: the names behind cuda or __cudaCDP2. */
#define PTXI_DEVICE_FUNCTIONS(X) \
    X(GetParameterBuffer) X(GetParameterBufferV2) X(LaunchDevice) X(LaunchDeviceV2) X(FuncGetAttributes) \
    X(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags) X(MemcpyAsync) X(Memcpy2DAsync) X(Memcpy3DAsync) X(MemsetAsync) \
    X(Memset2DAsync) X(Memset3DAsync) X(Malloc) X(Free) X(GetLastError) X(PeekAtLastError) X(GetErrorName) X(GetErrorString) \
    X(GetDevice) X(GetDeviceCount) X(RuntimeGetVersion) X(DeviceGetAttribute) X(DeviceGetLimit) X(DeviceGetCacheConfig) \
    X(DeviceGetSharedMemConfig) X(StreamCreateWithFlags) X(StreamDestroy) X(StreamWaitEvent) X(EventCreateWithFlags) X(EventRecord) \
    X(EventDestroy) X(GraphSetConditional)

/* False: the lane has done what its launch fails by. */
typedef bool ptxi_device_function(struct ptxi_device_call *d);

#define DEVICE_FUNCTION(name) bool ptxi_device_##name(struct ptxi_device_call *d)
#define X(name) ptxi_device_function ptxi_device_##name;
PTXI_DEVICE_FUNCTIONS(X)
#undef X

/* Arguments by their first word of 4 bytes. */
static inline unsigned arg(const struct ptxi_device_call *d, unsigned word)
{
    return ptxi_builtin_arg32(d->call, word, d->lane);
}

static inline uint64_t pointer(const struct ptxi_device_call *d, unsigned word)
{
    return ptxi_builtin_arg64(d->call, word, d->lane);
}

/* What cudaGetLastError tells; cudaSuccess changes nothing. */
void ptxi_device_remember(struct ptxi_launch *l, int error);

/* Ends a call with a cudaError_t, which is remembered. */
bool ptxi_device_answer(struct ptxi_device_call *d, int error);

/* Writes a value where a pointer, an argument of the call, says. */
bool ptxi_device_give(struct ptxi_device_call *d, unsigned word, const void *value, size_t size);

/* Where the lane calls, for reports on what it asks for. */
struct ptxi_call_place ptxi_device_place(const struct ptxi_device_call *d);

bool ptxi_device_is_stream(uint64_t stream);
enum { PER_THREAD_STREAM = 2, TAIL_STREAM = 3, FIRE_AND_FORGET_STREAM = 4 };

/* Memory given to kernels for as long as the launch runs; NULL: there is none. */
struct ptxi_param_buffer {
    struct ptxi_param_buffer *next;
    struct ptxi_heap_block *block;
    enum ptxi_buffer_kind { BUFFER_TEXT, BUFFER_PARAMETERS /* of a kernel that the launch names */, BUFFER_CALL /* of the function, in the shape */ } kind;
    size_t bytes;
    ptxiFunction function;
    struct ptxi_launch_shape shape;
};
struct ptxi_param_buffer *ptxi_device_buffer(struct ptxi_launch *l, size_t bytes, enum ptxi_buffer_kind kind);

#endif
