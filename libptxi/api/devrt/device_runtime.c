/* The part of CUDA's runtime that kernels call (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"), under the names that nvcc gives it:
 * errors, devices, streams, events, memory. Launches are in device_launch.c, copies in device_copy.c. */
#include "api/devrt/device_runtime.h"

#include "api/devrt/device_call.h"
#include "api/graph/graph_condition.h"
#include "api/memory/heap.h"

#include "exec/engine/engine.h"

#include <string.h>

enum { RUNTIME_VERSION = 6000 }; /* what the device's runtime says of itself */

static struct ptxi_launch *launch_of(const struct ptxi_builtin_call *c)
{
    return (struct ptxi_launch *)((char *)c->warp->cta->grid - offsetof(struct ptxi_launch, grid));
}

/* ---- results */

void ptxi_device_remember(struct ptxi_launch *l, int error)
{
    pthread_mutex_lock(&l->lock);
    if (error)
        l->error = error;
    pthread_mutex_unlock(&l->lock);
}

bool ptxi_device_answer(struct ptxi_device_call *d, int error)
{
    ptxi_device_remember(d->launch, error);
    d->result = (uint64_t)error;
    return true;
}

bool ptxi_device_give(struct ptxi_device_call *d, unsigned word, const void *value, size_t size)
{
    if (!pointer(d, word))
        return ptxi_device_answer(d, cudaErrorInvalidValue);
    unsigned char *p = ptxi_builtin_pointer(d->call, d->lane, pointer(d, word), size, true);

    if (p)
        memcpy(p, value, size);
    return p;
}

struct ptxi_call_place ptxi_device_place(const struct ptxi_device_call *d)
{
    const struct ptxi_builtin_call *c = d->call;
    struct ptxi_call_place p = { .module = d->launch->module, .kernel = d->launch->kernel };
    struct ptxi_fault_report r = { .kind = PTXI_FK_NONE };

    ptxi_fault_locate(&r, c->warp, c->warp->frame->code, c->insn, (ptxi_lanes)1 << d->lane);
    p.code = r.code;
    p.loc = r.loc;
    memcpy(p.ctaid, r.ctaid, sizeof p.ctaid);
    memcpy(p.tid, r.tid, sizeof p.tid);
    return p;
}

static bool give_int(struct ptxi_device_call *d, int value)
{
    return ptxi_device_give(d, 0, &value, sizeof value);
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
#include "api/context/cuda_errors.def"
};

/* char *: a copy that the kernel can read. */
static bool give_text(struct ptxi_device_call *d, const char *text)
{
    struct ptxi_param_buffer *b = ptxi_device_buffer(d->launch, strlen(text) + 1, BUFFER_TEXT);

    if (b)
        strcpy((char *)(uintptr_t)b->block->base, text);
    d->result = b ? b->block->base : 0;
    return true;
}

static bool give_error_text(struct ptxi_device_call *d, bool name)
{
    const char *text = "unrecognized error code";

    for (size_t k = 0; k < sizeof errors / sizeof *errors; k++)
        if (errors[k].number == (int)arg(d, 0))
            text = name ? errors[k].name : errors[k].text;
    return give_text(d, text);
}

/* const char *(cudaError_t error) */
DEVICE_FUNCTION(GetErrorString)
{
    return give_error_text(d, false);
}

DEVICE_FUNCTION(GetErrorName)
{
    return give_error_text(d, true);
}

/* ---- the device */

DEVICE_FUNCTION(GetDeviceCount)
{
    return give_int(d, 1);
}

DEVICE_FUNCTION(GetDevice)
{
    return give_int(d, 0);
}

DEVICE_FUNCTION(RuntimeGetVersion)
{
    return give_int(d, RUNTIME_VERSION);
}

/* cudaError_t (int *value, enum cudaDeviceAttr which, int device) */
DEVICE_FUNCTION(DeviceGetAttribute)
{
    int value;

    if (arg(d, 3))
        return ptxi_device_answer(d, cudaErrorInvalidDevice);
    if (!ptxi_profile_attribute(d->launch->ctx->profile, (int)arg(d, 2), &value))
        return ptxi_device_answer(d, cudaErrorInvalidValue);
    return give_int(d, value);
}

/* The limit's value; -1: kernels are not told. */
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

/* cudaError_t (size_t *value, enum cudaLimit which). What is wrong is not remembered. */
DEVICE_FUNCTION(DeviceGetLimit)
{
    enum { KNOWN = 11 };
    unsigned which = arg(d, 2);

    if (which >= KNOWN) {
        d->result = cudaErrorInvalidValue;
        return true;
    }
    size_t value = limit_of(d->launch->ctx, which);

    if (value == (size_t)-1)
        d->result = cudaErrorUnsupportedLimit;
    return ptxi_device_give(d, 0, &value, sizeof value);
}

/* cudaError_t (enum cudaFuncCache *config) */
DEVICE_FUNCTION(DeviceGetCacheConfig)
{
    return give_int(d, 0);
}

/* cudaError_t (enum cudaSharedMemConfig *config): banks of 4 bytes */
DEVICE_FUNCTION(DeviceGetSharedMemConfig)
{
    return give_int(d, 1);
}

/* ---- streams and events: numbers, since the order in which everything runs is right for all of them */

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

/* A stream that work can be ordered in; tail launches and those that nobody waits for go to others. */
static bool is_ordered_stream(uint64_t stream)
{
    return stream <= PER_THREAD_STREAM || is_handle(stream);
}

static bool give_handle(struct ptxi_device_call *d)
{
    uint64_t handle = atomic_fetch_add(&next_handle, HANDLE_STEP);

    return ptxi_device_give(d, 0, &handle, sizeof handle);
}

/* cudaError_t (cudaStream_t *stream, unsigned flags) */
DEVICE_FUNCTION(StreamCreateWithFlags)
{
    return arg(d, 2) == PTXI_STREAM_NON_BLOCKING ? give_handle(d) : ptxi_device_answer(d, cudaErrorInvalidValue);
}

/* cudaError_t (cudaEvent_t *event, unsigned flags) */
DEVICE_FUNCTION(EventCreateWithFlags)
{
    unsigned flags = arg(d, 2);
    bool known = !(flags & ~(unsigned)(PTXI_EVENT_DISABLE_TIMING | PTXI_EVENT_BLOCKING_SYNC));

    return known && flags & PTXI_EVENT_DISABLE_TIMING ? give_handle(d) : ptxi_device_answer(d, cudaErrorInvalidValue);
}

/* cudaError_t (cudaStream_t stream) */
DEVICE_FUNCTION(StreamDestroy)
{
    return is_handle(pointer(d, 0)) || ptxi_device_answer(d, cudaErrorInvalidValue);
}

/* cudaError_t (cudaEvent_t event) */
DEVICE_FUNCTION(EventDestroy)
{
    return ptxi_device_StreamDestroy(d);
}

static bool check_event(struct ptxi_device_call *d, uint64_t event, uint64_t stream)
{
    return (is_handle(event) && is_ordered_stream(stream)) || ptxi_device_answer(d, cudaErrorInvalidValue);
}

/* cudaError_t (cudaEvent_t event, cudaStream_t stream) */
DEVICE_FUNCTION(EventRecord)
{
    return check_event(d, pointer(d, 0), pointer(d, 2));
}

/* cudaError_t (cudaStream_t stream, cudaEvent_t event, unsigned flags) */
DEVICE_FUNCTION(StreamWaitEvent)
{
    return check_event(d, pointer(d, 2), pointer(d, 0));
}

/* void (cudaGraphConditionalHandle handle, unsigned value) */
DEVICE_FUNCTION(GraphSetConditional)
{
    ptxi_condition_set(pointer(d, 0), arg(d, 2)); /* a handle of nothing is left alone */
    return true;
}

/* ---- memory */

/* cudaError_t (void **pointer, size_t size) */
DEVICE_FUNCTION(Malloc)
{
    uint64_t bytes = pointer(d, 2), at = bytes ? ptxi_heap_of_kernels.get(d->launch->ctx, bytes) : 0;

    if (!at)
        return ptxi_device_answer(d, bytes ? cudaErrorMemoryAllocation : cudaErrorInvalidValue);
    return ptxi_device_give(d, 0, &at, sizeof at);
}

/* cudaError_t (void *pointer) */
DEVICE_FUNCTION(Free)
{
    uint64_t at = pointer(d, 0);

    return !at || ptxi_heap_of_kernels.put(d->launch->ctx, at) == PTXI_HEAP_OK || ptxi_device_answer(d, cudaErrorInvalidValue);
}

/* ---- names */

static const struct entry {
    const char *name; /* behind cuda or __cudaCDP2 */
    ptxi_device_function *function;
} table[] = {
#define X(name) { #name, ptxi_device_##name },
    PTXI_DEVICE_FUNCTIONS(X)
#undef X
    { "OccupancyMaxActiveBlocksPerMultiprocessor", ptxi_device_OccupancyMaxActiveBlocksPerMultiprocessorWithFlags },
    { "EventRecordWithFlags", ptxi_device_EventRecord },
};

static bool call_device(struct ptxi_builtin_call *call, void *user)
{
    const struct entry *e = user;
    struct ptxi_launch *l = launch_of(call);

    for (uint64_t left = call->lanes; left; left &= left - 1) {
        struct ptxi_device_call d = { .launch = l, .call = call, .lane = ptxi_first_lane(left), .result = cudaSuccess };

        if (!ptxi_builtin_may_go_on(call) || !e->function(&d))
            return false;
        ptxi_builtin_return64(call, d.lane, d.result);
    }
    return true;
}

/* The part of a name between the prefix of a function of the runtime and _ptsz; NULL: it has no such prefix. */
static const char *core(const char *name, size_t *length)
{
    static const char *const prefixes[] = { "__cudaCDP2", "cuda" };

    for (unsigned k = 0; k < 2; k++) {
        size_t n = strlen(prefixes[k]);

        if (strncmp(name, prefixes[k], n))
            continue;
        *length = strlen(name + n);
        if (*length > 5 && !strcmp(name + n + *length - 5, "_ptsz"))
            *length -= 5;
        return name + n;
    }
    return NULL;
}

ptxi_builtin *ptxi_device_runtime_find(const char *name, void **user)
{
    size_t length;
    const char *s = core(name, &length);

    *user = NULL;
    for (unsigned k = 0; s && k < sizeof table / sizeof *table; k++)
        if (strlen(table[k].name) == length && !memcmp(table[k].name, s, length)) {
            *user = (void *)(uintptr_t)&table[k];
            return call_device;
        }
    return ptxi_builtin_find(name);
}
