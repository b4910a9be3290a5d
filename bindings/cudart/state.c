/* State of the runtime: the device, the context and the last error of each thread; start and end of the process. */
#include "runtime.h"

#include <stdatomic.h>

enum { MAX_DEVICES = 64 };

/* State of a device that all threads share. */
struct device_state {
    _Atomic int fatal_error;        /* error of a kernel that failed; 0: none. Ends with cudaDeviceReset(). */
    _Atomic unsigned generation;    /* number of calls of cudaDeviceReset() */
    _Atomic unsigned flags;         /* as set by cudaSetDeviceFlags() */
    _Atomic(ptxiContext) context;   /* the primary context, retained; NULL: not used yet */
};

static struct device_state devices[MAX_DEVICES];
static _Atomic bool unloading;

static _Thread_local struct {
    int device;                     /* ordinal */
    int last_error;
    bool entered;                   /* the primary context of `device` is current */
    unsigned generation;            /* of the device when the context was entered */
    int valid_count;                /* length of the list of cudaSetValidDevices(); 0: no list */
} thread;

bool ptxi_runtime_is_unloading(void)
{
    return atomic_load_explicit(&unloading, memory_order_relaxed);
}

/* Runs after the destructors of the program, so that these may still call the runtime. Kernels that are running then
 * are interrupted, and the process waits until they have ended: they use memory that is about to disappear. */
__attribute__((destructor)) static void unload(void)
{
    atomic_store(&unloading, true);
    for (int i = 0; i < MAX_DEVICES; i++) {
        ptxiContext context = atomic_load(&devices[i].context);

        if (!context)
            continue;
        ptxiCtxInterrupt(context);
        ptxiDevicePrimaryCtxReset(i);
    }
}

/* ---- contexts */

/* The number of devices is kept, since a child made by fork() may ask for it, too. 0: not known. */
static _Atomic int device_count;

static int initialise(void)
{
    ptxiResult r = ptxiInit(0);
    int count;

    if (!r && !atomic_load_explicit(&device_count, memory_order_relaxed) && !ptxiDeviceGetCount(&count))
        atomic_store(&device_count, count);
    return r == PTXI_ERROR_NOT_INITIALIZED ? ERROR_INITIALIZATION : (int)r;
}

int ptxi_runtime_get_context(int ordinal, ptxiContext *context)
{
    struct device_state *device = &devices[ordinal];
    int error;

    *context = atomic_load(&device->context);
    if (*context)
        return 0;
    error = ptxiDevicePrimaryCtxRetain(context, ordinal);
    if (error)
        return error;
    ptxi_runtime_buffer_output(*context);
    atomic_store(&device->context, *context);
    return 0;
}

/* Makes the primary context of the thread's device current. */
static int enter_primary_context(void)
{
    ptxiContext context;
    int error = initialise();

    if (error)
        return error;
    thread.generation = atomic_load(&devices[thread.device].generation);
    error = ptxi_runtime_get_context(thread.device, &context);
    if (!error)
        error = ptxiCtxSetCurrent(context);
    thread.entered = !error;
    return error;
}

int ptxi_runtime_enter(void)
{
    struct device_state *device = &devices[thread.device];
    int error = atomic_load_explicit(&device->fatal_error, memory_order_relaxed);
    ptxiContext current = NULL;

    if (error)
        return error;
    if (ptxi_runtime_is_unloading())
        return ERROR_UNLOADING;
    if (thread.entered && thread.generation != atomic_load_explicit(&device->generation, memory_order_relaxed))
        return enter_primary_context();
    /* The program may have made another context current with the driver API. */
    if (!ptxiCtxGetCurrent(&current) && current)
        return 0;
    return enter_primary_context();
}

int ptxi_runtime_reset_device(void)
{
    struct device_state *device = &devices[thread.device];
    int error = initialise();

    if (error)
        return error;
    ptxiCtxSynchronize();
    ptxi_runtime_write_output();
    error = ptxiDevicePrimaryCtxReset(thread.device);
    atomic_store(&device->context, NULL);
    atomic_store(&device->fatal_error, 0);
    atomic_fetch_add(&device->generation, 1);
    return error;
}

/* ---- devices */

int ptxi_runtime_get_device_count(int *count)
{
    int known = atomic_load_explicit(&device_count, memory_order_relaxed);
    int error = known ? 0 : initialise();

    if (error)
        return error;
    if (!count)
        return PTXI_ERROR_INVALID_VALUE;
    *count = known;
    return known ? 0 : (int)ptxiDeviceGetCount(count);
}

int ptxi_runtime_check_device(int device)
{
    int count;
    int error = ptxi_runtime_get_device_count(&count);

    if (error)
        return error;
    return device < 0 || device >= count || device >= MAX_DEVICES ? PTXI_ERROR_INVALID_DEVICE : 0;
}

int ptxi_runtime_get_device(int *device)
{
    ptxiContext current = NULL;
    int error;

    if (!device)
        return PTXI_ERROR_INVALID_VALUE;
    error = ptxiCtxGetCurrent(&current);
    if (error == PTXI_ERROR_NOT_PERMITTED)
        return error; /* called by a host function */
    if (!error && current)
        return ptxiCtxGetDevice(device);
    *device = thread.device;
    return 0;
}

int ptxi_runtime_set_device(int device)
{
    int error = ptxi_runtime_check_device(device);

    if (error)
        return error;
    thread.device = device;
    return enter_primary_context();
}

static bool are_flags_valid(unsigned flags)
{
    enum { ALL_FLAGS = 0xff };
    unsigned schedule = flags & PTXI_CTX_SCHED_MASK;

    return flags <= ALL_FLAGS && (!schedule || schedule == PTXI_CTX_SCHED_SPIN || schedule == PTXI_CTX_SCHED_YIELD ||
                                  schedule == PTXI_CTX_SCHED_BLOCKING_SYNC);
}

int ptxi_runtime_init_device(int device, unsigned device_flags, unsigned flags)
{
    enum { DEVICE_FLAGS_ARE_VALID = 1 };
    int error = ptxi_runtime_check_device(device);
    ptxiContext context;

    if (error)
        return error;
    if (flags & DEVICE_FLAGS_ARE_VALID && !are_flags_valid(device_flags))
        return PTXI_ERROR_INVALID_VALUE;
    return ptxi_runtime_get_context(device, &context);
}

int ptxi_runtime_set_valid_devices(const int *list, int count)
{
    int total;
    int error = ptxi_runtime_get_device_count(&total);

    if (error)
        return error;
    if (count < 0 || count > total || (count && !list))
        return PTXI_ERROR_INVALID_VALUE;
    for (int i = 0; i < count; i++)
        if (list[i] < 0 || list[i] >= total)
            return PTXI_ERROR_INVALID_DEVICE;
    thread.valid_count = count;
    if (count && !thread.entered)
        thread.device = list[0];
    return 0;
}

int ptxi_runtime_get_device_flags(unsigned *flags)
{
    if (!flags)
        return PTXI_ERROR_INVALID_VALUE;
    *flags = atomic_load(&devices[thread.device].flags) | PTXI_CTX_MAP_HOST;
    return 0;
}

int ptxi_runtime_set_device_flags(unsigned flags)
{
    if (!are_flags_valid(flags))
        return PTXI_ERROR_INVALID_VALUE;
    atomic_store(&devices[thread.device].flags, flags);
    return 0;
}

/* ---- errors */

/* After these errors every call fails with the same error until cudaDeviceReset(). CUDA Runtime API, "Error Handling":
 * they leave the process in an inconsistent state. */
static bool is_fatal(int error)
{
    switch (error) {
    case PTXI_ERROR_ILLEGAL_ADDRESS:
    case PTXI_ERROR_LAUNCH_TIMEOUT:
    case PTXI_ERROR_ASSERT:
    case PTXI_ERROR_HARDWARE_STACK_ERROR:
    case PTXI_ERROR_ILLEGAL_INSTRUCTION:
    case PTXI_ERROR_MISALIGNED_ADDRESS:
    case PTXI_ERROR_INVALID_ADDRESS_SPACE:
    case PTXI_ERROR_INVALID_PC:
    case PTXI_ERROR_LAUNCH_FAILED:
        return true;
    default:
        return false;
    }
}

/* A call within a host function fails with NOT_PERMITTED. Here the thread that waits for a stream may execute its host
 * functions; on a GPU a thread of the driver does, so that the program's threads do not see the error. */
int ptxi_runtime_record(const char *function, int error)
{
    if (error == PTXI_ERROR_NOT_READY)
        return error;
    ptxi_runtime_report(function, error);
    if (error == PTXI_ERROR_NOT_PERMITTED)
        return error;
    thread.last_error = error;
    if (is_fatal(error))
        atomic_store(&devices[thread.device].fatal_error, error);
    return error;
}

int ptxi_runtime_last_error(bool clear)
{
    int error = thread.last_error;

    if (clear)
        thread.last_error = 0;
    return error;
}
