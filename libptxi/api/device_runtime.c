/* The part of CUDA's runtime that kernels call (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"), under the names that nvcc gives it.
 * What it launches and copies runs later: children.c. */
#include "api/device_runtime.h"

#include "api/graph_condition.h"
#include "api/heap.h"
#include "api/launch.h"

#include "exec/builtin.h"
#include "exec/engine.h"
#include "exec/memmap.h"

#include <stdlib.h>
#include <string.h>

/* cudaError_t, where it is not the driver's number. */
enum { SUCCESS = 0, INVALID_VALUE = 1, MEMORY_ALLOCATION = 2, INVALID_CONFIGURATION = 9, INVALID_PITCH_VALUE = 12, INVALID_MEMCPY_DIRECTION = 21,
       LAUNCH_PENDING_COUNT_EXCEEDED = 69, INVALID_DEVICE_FUNCTION = 98 };
enum { DEVICE_TO_DEVICE = 3, ANY_TO_ANY = 4 }; /* cudaMemcpyKind */

enum { PER_THREAD_STREAM = 2, TAIL_STREAM = 3, FIRE_AND_FORGET_STREAM = 4, MOST_PARAMETERS = 32764 };
enum { RUNTIME_VERSION = 6000 }; /* what the device's runtime says of itself */

/* Memory given to kernels for as long as the launch runs. */
struct ptxi_param_buffer {
    struct ptxi_param_buffer *next;
    struct ptxi_heap_block *block;
    enum buffer_kind { TEXT, PARAMETERS /* of a kernel that the launch names */, CALL /* of the function, in the shape */ } kind;
    size_t bytes;
    ptxiFunction function;
    struct ptxi_launch_shape shape;
};

static struct ptxi_launch *launch_of(const struct ptxi_builtin_call *c)
{
    return (struct ptxi_launch *)((char *)c->warp->cta->grid - offsetof(struct ptxi_launch, grid));
}

void ptxi_param_buffers_free(struct ptxi_launch *l)
{
    for (struct ptxi_param_buffer *b = l->buffers, *next; b; b = next) {
        next = b->next;
        ptxi_heap_free(b->block);
        free(b);
    }
}

/* ---- help for the functions below */

static unsigned arg(const struct ptxi_builtin_call *c, unsigned word, unsigned lane)
{
    return ptxi_builtin_arg32(c, word, lane);
}

static uint64_t pointer(const struct ptxi_builtin_call *c, unsigned word, unsigned lane)
{
    return ptxi_builtin_arg64(c, word, lane);
}

/* Remembers an error for cudaGetLastError, too. */
static int fail(struct ptxi_launch *l, int error)
{
    pthread_mutex_lock(&l->lock);
    if (error)
        l->error = error;
    pthread_mutex_unlock(&l->lock);
    return error;
}

static int cuda_error(ptxiResult r)
{
    return r == PTXI_ERROR_INVALID_VALUE ? INVALID_CONFIGURATION : (int)r;
}

/* Streams and events are numbers: the order in which everything runs is right for all of them. */
enum { FIRST_HANDLE = 0x1000, HANDLE_STEP = 16 };

static _Atomic uint64_t next_handle = FIRST_HANDLE;

static bool is_handle(uint64_t h)
{
    return h >= FIRST_HANDLE && h < atomic_load(&next_handle) && h % HANDLE_STEP == 0;
}

/* A stream that work can be ordered in; tail launches and those that nobody waits for go to others. */
static bool is_ordered_stream(uint64_t stream)
{
    return stream <= PER_THREAD_STREAM || is_handle(stream);
}

static bool is_stream(uint64_t stream)
{
    return stream <= FIRE_AND_FORGET_STREAM || is_handle(stream);
}

/* Writes a result where the lane's argument says. False: the launch has failed. */
static bool give(struct ptxi_launch *l, struct ptxi_builtin_call *c, unsigned word, unsigned lane, const void *value, size_t size, uint64_t *result)
{
    if (!pointer(c, word, lane)) {
        *result = (uint64_t)fail(l, INVALID_VALUE);
        return true;
    }
    unsigned char *p = ptxi_builtin_pointer(c, lane, pointer(c, word, lane), size, true);

    if (p)
        memcpy(p, value, size);
    return p;
}

static bool add(struct ptxi_launch *l, struct ptxi_child child, uint64_t stream)
{
    return ptxi_children_add(l, child, stream == TAIL_STREAM);
}

static struct ptxi_param_buffer *new_buffer(struct ptxi_launch *l, size_t bytes, enum buffer_kind kind)
{
    struct ptxi_param_buffer *b = calloc(1, sizeof *b);

    if (b && ptxi_heap_alloc(l->ctx, bytes ? bytes : 1, PTXI_HEAP_MODULE, PTXI_MEM_RWA, 0, &b->block)) {
        free(b);
        b = NULL;
    }
    if (!b)
        return NULL;
    b->kind = kind;
    b->bytes = bytes;
    pthread_mutex_lock(&l->lock);
    b->next = l->buffers;
    l->buffers = b;
    pthread_mutex_unlock(&l->lock);
    return b;
}

/* The kernel at an address, or NULL. */
static ptxiFunction kernel_at(const struct ptxi_launch *l, uint64_t address)
{
    const struct ptxi_program *p = l->grid.program;
    uint32_t i = p->function_at(p->ctx, address);

    for (unsigned k = 0; i != UINT32_MAX && k < l->module->kernel_count; k++)
        if (l->module->kernels[k].func->index == i)
            return &l->module->kernels[k];
    return NULL;
}

/* ---- the functions: each for one lane; false after a fault. `result` is what the lane gets, cudaSuccess unless set. */

#define FUNCTION(name) static bool name(struct ptxi_launch *l, struct ptxi_builtin_call *c, unsigned lane, uint64_t *result)

/* dim3 grid, dim3 block, unsigned shared */
static struct ptxi_launch_shape shape_at(const struct ptxi_builtin_call *c, unsigned word, unsigned lane)
{
    struct ptxi_launch_shape s = { .shared = arg(c, word + 6, lane) };

    for (unsigned k = 0; k < 3; k++) {
        s.grid[k] = arg(c, word + k, lane);
        s.block[k] = arg(c, word + 3 + k, lane);
    }
    return s;
}

/* void *(void *kernel, dim3 grid, dim3 block, unsigned shared) */
FUNCTION(GetParameterBufferV2)
{
    ptxiFunction f = kernel_at(l, pointer(c, 0, lane));
    struct ptxi_param_buffer *b = f ? new_buffer(l, ptxi_module_param_bytes(f), CALL) : NULL;

    if (!b) {
        fail(l, f ? MEMORY_ALLOCATION : INVALID_DEVICE_FUNCTION);
        return true;
    }
    b->shape = shape_at(c, 2, lane);
    b->function = f;
    *result = b->block->base;
    return true;
}

/* void *(size_t alignment, size_t size) */
FUNCTION(GetParameterBuffer)
{
    size_t bytes = pointer(c, 2, lane);
    struct ptxi_param_buffer *b = bytes <= MOST_PARAMETERS ? new_buffer(l, bytes, PARAMETERS) : NULL;

    if (b)
        *result = b->block->base;
    else
        fail(l, bytes <= MOST_PARAMETERS ? MEMORY_ALLOCATION : INVALID_VALUE);
    return true;
}

/* Takes the buffer out of the list; NULL: there is none of the kind at the address. */
static struct ptxi_param_buffer *take_buffer(struct ptxi_launch *l, uint64_t at, enum buffer_kind kind)
{
    struct ptxi_param_buffer *b, **link = &l->buffers;

    pthread_mutex_lock(&l->lock);
    while (*link && ((*link)->block->base != at || (*link)->kind != kind))
        link = &(*link)->next;
    b = *link;
    if (b)
        *link = b->next;
    pthread_mutex_unlock(&l->lock);
    return b;
}

/* So many launches as the limit says may wait for the end of the grid. */
static bool too_many_tails(struct ptxi_launch *l)
{
    pthread_mutex_lock(&l->ctx->lock);
    size_t most = l->ctx->limits[PTXI_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT];
    pthread_mutex_unlock(&l->ctx->lock);
    return atomic_fetch_add(&l->tails, 1) >= most;
}

/* What speaks against the stream; cudaSuccess: nothing. */
static int stream_error(struct ptxi_launch *l, uint64_t stream)
{
    return !is_stream(stream) ? INVALID_VALUE : stream == TAIL_STREAM && too_many_tails(l) ? LAUNCH_PENDING_COUNT_EXCEEDED : SUCCESS;
}

/* Queues a kernel with `b`'s parameters, NULL: none, and frees them. */
static int launch_buffer(struct ptxi_launch *l, ptxiFunction f, struct ptxi_launch_shape *shape, struct ptxi_param_buffer *b, uint64_t stream)
{
    struct ptxi_child child = { .value = -1 };
    size_t bytes = ptxi_module_param_bytes(f);

    bytes = b && b->bytes < bytes ? b->bytes : bytes;
    void *extra[] = { PTXI_LAUNCH_PARAM_BUFFER_POINTER, b ? (void *)(uintptr_t)b->block->base : NULL, PTXI_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                      PTXI_LAUNCH_PARAM_END };
    int error = stream_error(l, stream);

    if (!error)
        error = cuda_error(ptxi_launch_make(l->ctx, f, shape, NULL, b && bytes ? extra : NULL, &child.item));
    if (!error && !add(l, child, stream)) {
        ptxi_item_discard(child.item);
        error = MEMORY_ALLOCATION;
    }
    if (b)
        ptxi_heap_free(b->block);
    free(b);
    return error;
}

/* cudaError_t (void *parameters, cudaStream_t stream) */
FUNCTION(LaunchDeviceV2)
{
    struct ptxi_param_buffer *b = take_buffer(l, pointer(c, 0, lane), CALL);

    *result = (uint64_t)fail(l, b ? launch_buffer(l, b->function, &b->shape, b, pointer(c, 2, lane)) : INVALID_VALUE);
    return true;
}

/* cudaError_t (void *kernel, void *parameters, dim3 grid, dim3 block, unsigned shared, cudaStream_t stream) */
FUNCTION(LaunchDevice)
{
    ptxiFunction f = kernel_at(l, pointer(c, 0, lane));
    uint64_t parameters = pointer(c, 2, lane);
    struct ptxi_param_buffer *b = f && parameters ? take_buffer(l, parameters, PARAMETERS) : NULL;
    struct ptxi_launch_shape shape = shape_at(c, 4, lane);
    int error = !f ? INVALID_DEVICE_FUNCTION : INVALID_VALUE;

    if (f && (b || !parameters))
        error = launch_buffer(l, f, &shape, b, pointer(c, 11, lane));
    *result = (uint64_t)fail(l, error);
    return true;
}

static uint64_t last_error(struct ptxi_launch *l, bool clear)
{
    pthread_mutex_lock(&l->lock);
    int error = l->error;

    l->error = clear ? SUCCESS : error;
    pthread_mutex_unlock(&l->lock);
    return (uint64_t)error;
}

FUNCTION(GetLastError)
{
    (void)c, (void)lane;
    *result = last_error(l, true);
    return true;
}

FUNCTION(PeekAtLastError)
{
    (void)c, (void)lane;
    *result = last_error(l, false);
    return true;
}

static void give_text(struct ptxi_launch *l, const char *text, uint64_t *result)
{
    struct ptxi_param_buffer *b = new_buffer(l, strlen(text) + 1, TEXT);

    if (b)
        strcpy((char *)(uintptr_t)b->block->base, text);
    *result = b ? b->block->base : 0;
}

static const struct {
    int number;
    const char *name, *text;
} errors[] = {
#define ERROR(number, name, text) { number, "cuda" #name, text },
#include "api/cuda_errors.def"
};

static void give_error_text(struct ptxi_launch *l, int number, bool name, uint64_t *result)
{
    const char *text = "unrecognized error code";

    for (size_t k = 0; k < sizeof errors / sizeof *errors; k++)
        if (errors[k].number == number)
            text = name ? errors[k].name : errors[k].text;
    give_text(l, text, result);
}

FUNCTION(GetErrorString)
{
    give_error_text(l, (int)arg(c, 0, lane), false, result);
    return true;
}

FUNCTION(GetErrorName)
{
    give_error_text(l, (int)arg(c, 0, lane), true, result);
    return true;
}

FUNCTION(GetDeviceCount)
{
    return give(l, c, 0, lane, &(int){ 1 }, sizeof(int), result);
}

FUNCTION(GetDevice)
{
    return give(l, c, 0, lane, &(int){ 0 }, sizeof(int), result);
}

FUNCTION(RuntimeGetVersion)
{
    return give(l, c, 0, lane, &(int){ RUNTIME_VERSION }, sizeof(int), result);
}

/* cudaError_t (int *value, enum cudaDeviceAttr which, int device) */
FUNCTION(DeviceGetAttribute)
{
    int value;

    if (arg(c, 3, lane) || !ptxi_profile_attribute(l->ctx->profile, (int)arg(c, 2, lane), &value)) {
        *result = (uint64_t)fail(l, arg(c, 3, lane) ? (int)PTXI_ERROR_INVALID_DEVICE : INVALID_VALUE);
        return true;
    }
    return give(l, c, 0, lane, &value, sizeof value, result);
}

/* cudaError_t (size_t *value, enum cudaLimit which). What is wrong is not remembered. */
FUNCTION(DeviceGetLimit)
{
    enum { KNOWN = 11, SHARED_OF_BLOCK = 7, NO_LIMIT = 8, MULTIPROCESSORS = 10 };
    unsigned which = arg(c, 2, lane);
    const struct ptxi_profile *p = l->ctx->profile;
    size_t value = (size_t)-1;

    if (which >= KNOWN) {
        *result = INVALID_VALUE;
        return true;
    }
    pthread_mutex_lock(&l->ctx->lock);
    if (which < PTXI_LIMITS)
        value = l->ctx->limits[which];
    pthread_mutex_unlock(&l->ctx->lock);
    if (which >= SHARED_OF_BLOCK)
        value = which == SHARED_OF_BLOCK ? p->block_shared : which == NO_LIMIT ? 0 : which == MULTIPROCESSORS ? p->multiprocessors : value;
    if (which == PTXI_LIMIT_DEV_RUNTIME_SYNC_DEPTH || value == (size_t)-1) {
        value = (size_t)-1;
        *result = (uint64_t)PTXI_ERROR_UNSUPPORTED_LIMIT;
    }
    return give(l, c, 0, lane, &value, sizeof value, result);
}

static bool give_handle(struct ptxi_launch *l, struct ptxi_builtin_call *c, unsigned lane, uint64_t *result)
{
    uint64_t handle = atomic_fetch_add(&next_handle, HANDLE_STEP);

    return give(l, c, 0, lane, &handle, sizeof handle, result);
}

FUNCTION(StreamCreateWithFlags)
{
    if (arg(c, 2, lane) == PTXI_STREAM_NON_BLOCKING)
        return give_handle(l, c, lane, result);
    *result = (uint64_t)fail(l, INVALID_VALUE);
    return true;
}

/* cudaError_t (cudaStream_t stream) */
FUNCTION(StreamDestroy)
{
    if (!is_handle(pointer(c, 0, lane)))
        *result = (uint64_t)fail(l, INVALID_VALUE);
    return true;
}

FUNCTION(EventCreateWithFlags)
{
    unsigned flags = arg(c, 2, lane);

    if (flags & PTXI_EVENT_DISABLE_TIMING && !(flags & ~(unsigned)(PTXI_EVENT_DISABLE_TIMING | PTXI_EVENT_BLOCKING_SYNC)))
        return give_handle(l, c, lane, result);
    *result = (uint64_t)fail(l, INVALID_VALUE);
    return true;
}

/* cudaError_t (cudaEvent_t event) */
FUNCTION(EventDestroy)
{
    return StreamDestroy(l, c, lane, result);
}

static void check_event(struct ptxi_launch *l, uint64_t event, uint64_t stream, uint64_t *result)
{
    if (!is_handle(event) || !is_ordered_stream(stream))
        *result = (uint64_t)fail(l, INVALID_VALUE);
}

/* cudaError_t (cudaEvent_t event, cudaStream_t stream) */
FUNCTION(EventRecord)
{
    check_event(l, pointer(c, 0, lane), pointer(c, 2, lane), result);
    return true;
}

/* cudaError_t (cudaStream_t stream, cudaEvent_t event, unsigned flags) */
FUNCTION(StreamWaitEvent)
{
    check_event(l, pointer(c, 2, lane), pointer(c, 0, lane), result);
    return true;
}

/* void (cudaGraphConditionalHandle handle, unsigned value) */
FUNCTION(GraphSetConditional)
{
    (void)l, (void)result;
    ptxi_condition_set(pointer(c, 0, lane), (unsigned)arg(c, 2, lane)); /* a handle of nothing is left alone */
    return true;
}

/* cudaError_t (void **pointer, size_t size) */
FUNCTION(Malloc)
{
    uint64_t bytes = pointer(c, 2, lane), at = bytes ? ptxi_heap_of_kernels.get(l->ctx, bytes) : 0;

    if (!at) {
        *result = (uint64_t)fail(l, bytes ? MEMORY_ALLOCATION : INVALID_VALUE);
        return true;
    }
    return give(l, c, 0, lane, &at, sizeof at, result);
}

FUNCTION(Free)
{
    uint64_t at = pointer(c, 0, lane);

    if (at && ptxi_heap_of_kernels.put(l->ctx, at) != PTXI_HEAP_OK)
        *result = (uint64_t)fail(l, INVALID_VALUE);
    return true;
}

static bool covered(uint64_t at, size_t pitch, size_t width, size_t height)
{
    struct ptxi_mem_region region;
    size_t bytes;

    if (__builtin_mul_overflow(pitch, height - 1, &bytes) || __builtin_add_overflow(bytes, width, &bytes))
        return false;
    return ptxi_memmap_covers(ptxi_state.memmap, at, bytes, &region) && !(region.flags & PTXI_MEM_FREED);
}

static void queue_rows(struct ptxi_launch *l, struct ptxi_child child, uint64_t stream, uint64_t *result)
{
    bool copy = child.value < 0, any = child.width && child.height;

    if (any && (!covered(child.dst, child.dst_pitch, child.width, child.height) ||
                (copy && !covered(child.src, child.src_pitch, child.width, child.height))))
        *result = (uint64_t)fail(l, INVALID_VALUE);
    else if (any && !add(l, child, stream))
        *result = (uint64_t)fail(l, MEMORY_ALLOCATION);
}

static bool wrong_kind(struct ptxi_launch *l, unsigned kind, uint64_t *result)
{
    bool wrong = kind != DEVICE_TO_DEVICE && kind != ANY_TO_ANY;

    if (wrong)
        *result = (uint64_t)fail(l, INVALID_MEMCPY_DIRECTION);
    return wrong;
}

/* Rows that overlap. */
static bool wrong_pitch(struct ptxi_launch *l, const struct ptxi_child *rows, uint64_t *result)
{
    bool copy = rows->value < 0, wrong = rows->width > rows->dst_pitch || (copy && rows->width > rows->src_pitch);

    if (wrong)
        *result = (uint64_t)fail(l, copy ? INVALID_PITCH_VALUE : INVALID_VALUE);
    return wrong;
}

/* cudaError_t (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) */
FUNCTION(MemcpyAsync)
{
    if (wrong_kind(l, arg(c, 6, lane), result))
        return true;
    queue_rows(l, (struct ptxi_child){ .dst = pointer(c, 0, lane), .src = pointer(c, 2, lane), .width = pointer(c, 4, lane), .height = 1, .value = -1 },
               pointer(c, 7, lane), result);
    return true;
}

/* cudaError_t (void *to, size_t pitch, const void *from, size_t pitch, size_t width, size_t height, kind, stream) */
FUNCTION(Memcpy2DAsync)
{
    struct ptxi_child rows = { .dst = pointer(c, 0, lane), .dst_pitch = pointer(c, 2, lane), .src = pointer(c, 4, lane),
                               .src_pitch = pointer(c, 6, lane), .width = pointer(c, 8, lane), .height = pointer(c, 10, lane), .value = -1 };

    if (!wrong_pitch(l, &rows, result) && !wrong_kind(l, arg(c, 12, lane), result))
        queue_rows(l, rows, pointer(c, 13, lane), result);
    return true;
}

/* cudaError_t (void *to, int value, size_t bytes, cudaStream_t stream) */
FUNCTION(MemsetAsync)
{
    queue_rows(l, (struct ptxi_child){ .dst = pointer(c, 0, lane), .width = pointer(c, 3, lane), .height = 1, .value = (int)(arg(c, 2, lane) & 0xff) },
               pointer(c, 5, lane), result);
    return true;
}

/* cudaError_t (void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) */
FUNCTION(Memset2DAsync)
{
    struct ptxi_child rows = { .dst = pointer(c, 0, lane), .dst_pitch = pointer(c, 2, lane), .width = pointer(c, 5, lane),
                               .height = pointer(c, 7, lane), .value = (int)(arg(c, 4, lane) & 0xff) };

    if (!wrong_pitch(l, &rows, result))
        queue_rows(l, rows, pointer(c, 9, lane), result);
    return true;
}

/* Rows of one slice after the other; `apart` bytes lie between slices. */
static void queue_slices(struct ptxi_launch *l, struct ptxi_child rows, size_t dst_apart, size_t src_apart, uint64_t depth, uint64_t stream, uint64_t *result)
{
    for (uint64_t z = 0; z < depth && *result == SUCCESS; z++) {
        queue_rows(l, rows, stream, result);
        rows.dst += dst_apart;
        rows.src += src_apart;
    }
}

/* Layouts of cudaPitchedPtr and of cudaMemcpy3DParms; positions and the extent: x, y, z. */
struct pitched {
    uint64_t at, pitch, width, height;
};
struct copy_3d {
    uint64_t src_array, src_pos[3];
    struct pitched src;
    uint64_t dst_array, dst_pos[3];
    struct pitched dst;
    uint64_t extent[3];
    int kind;
};

static uint64_t begin_of(const struct pitched *p, const uint64_t *pos)
{
    return p->at + (pos[2] * p->height + pos[1]) * p->pitch + pos[0];
}

/* cudaError_t (const struct cudaMemcpy3DParms *copy, cudaStream_t stream) */
FUNCTION(Memcpy3DAsync)
{
    const unsigned char *from = ptxi_builtin_pointer(c, lane, pointer(c, 0, lane), sizeof(struct copy_3d), false);
    struct copy_3d p;

    if (!from)
        return false;
    memcpy(&p, from, sizeof p);
    struct ptxi_child rows = { .dst = begin_of(&p.dst, p.dst_pos), .dst_pitch = p.dst.pitch, .src = begin_of(&p.src, p.src_pos),
                               .src_pitch = p.src.pitch, .width = p.extent[0], .height = p.extent[1], .value = -1 };

    if (p.src_array || p.dst_array)
        *result = (uint64_t)fail(l, INVALID_VALUE);
    else if (!wrong_pitch(l, &rows, result) && !wrong_kind(l, (unsigned)p.kind, result))
        queue_slices(l, rows, p.dst.pitch * p.dst.height, p.src.pitch * p.src.height, p.extent[2], pointer(c, 2, lane), result);
    return true;
}

/* cudaError_t (struct cudaPitchedPtr to, int value, struct cudaExtent extent, cudaStream_t stream) */
FUNCTION(Memset3DAsync)
{
    uint64_t pitch = pointer(c, 2, lane);

    queue_slices(l, (struct ptxi_child){ .dst = pointer(c, 0, lane), .dst_pitch = pitch, .width = pointer(c, 9, lane), .height = pointer(c, 11, lane),
                                         .value = (int)(arg(c, 8, lane) & 0xff) },
                 pitch * pointer(c, 6, lane), 0, pointer(c, 13, lane), pointer(c, 15, lane), result);
    return true;
}

/* cudaError_t (enum cudaFuncCache *config) */
FUNCTION(DeviceGetCacheConfig)
{
    return give(l, c, 0, lane, &(int){ 0 }, sizeof(int), result);
}

/* cudaError_t (enum cudaSharedMemConfig *config): banks of 4 bytes */
FUNCTION(DeviceGetSharedMemConfig)
{
    return give(l, c, 0, lane, &(int){ 1 }, sizeof(int), result);
}

/* cudaError_t (int *blocks, const void *kernel, int threads, size_t dynamic, unsigned flags) */
FUNCTION(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
{
    ptxiFunction f = kernel_at(l, pointer(c, 2, lane));
    unsigned threads = arg(c, 4, lane);
    int blocks = f && threads ? ptxi_launch_blocks_per_mp(f, threads, pointer(c, 5, lane)) : -1;

    if (blocks < 0) {
        *result = (uint64_t)fail(l, f ? INVALID_VALUE : INVALID_DEVICE_FUNCTION);
        return true;
    }
    return give(l, c, 0, lane, &blocks, sizeof blocks, result);
}

/* The begin of cudaFuncAttributes. */
struct func_attributes {
    size_t shared, constant, local;
    int threads, registers, ptx, binary, cache, dynamic, carveout;
};

/* cudaError_t (struct cudaFuncAttributes *attributes, const void *kernel) */
FUNCTION(FuncGetAttributes)
{
    ptxiFunction f = kernel_at(l, pointer(c, 2, lane));
    int v[PTXI_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT + 1];
    ptxiResult r = f ? PTXI_SUCCESS : (ptxiResult)INVALID_DEVICE_FUNCTION;

    for (int k = 0; !r && k <= PTXI_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT; k++)
        r = ptxi_launch_attribute(f, (ptxiFunctionAttribute)k, &v[k]);
    if (r) {
        *result = (uint64_t)fail(l, (int)r);
        return true;
    }
    struct func_attributes a = { (size_t)v[1], (size_t)v[2], (size_t)v[3], v[0], v[4], v[5], v[6], v[7], v[8], v[9] };

    return give(l, c, 0, lane, &a, sizeof a, result);
}

/* ---- names */

typedef bool device_function(struct ptxi_launch *l, struct ptxi_builtin_call *c, unsigned lane, uint64_t *result);

static const struct entry {
    const char *name; /* behind cuda or __cudaCDP2 */
    device_function *function;
} table[] = {
#define X(name) { #name, name },
    X(GetParameterBuffer) X(LaunchDevice) X(GetParameterBufferV2) X(LaunchDeviceV2) X(GetLastError) X(PeekAtLastError) X(GetErrorString)
    X(GetErrorName) X(GetDeviceCount) X(GetDevice) X(RuntimeGetVersion) X(DeviceGetAttribute) X(DeviceGetLimit) X(StreamCreateWithFlags)
    X(EventCreateWithFlags) X(Malloc) X(Free) X(MemcpyAsync) X(Memcpy2DAsync) X(MemsetAsync) X(Memset2DAsync) X(Memcpy3DAsync) X(Memset3DAsync)
    X(DeviceGetCacheConfig) X(DeviceGetSharedMemConfig) X(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags) X(FuncGetAttributes) X(GraphSetConditional)
    X(StreamDestroy) X(StreamWaitEvent) X(EventRecord) X(EventDestroy)
#undef X
    { "OccupancyMaxActiveBlocksPerMultiprocessor", OccupancyMaxActiveBlocksPerMultiprocessorWithFlags },
    { "EventRecordWithFlags", EventRecord },
};

static bool call_device(struct ptxi_builtin_call *call, void *user)
{
    const struct entry *e = user;
    struct ptxi_launch *l = launch_of(call);

    for (uint64_t left = call->lanes; left; left &= left - 1) {
        unsigned lane = ptxi_first_lane(left);
        uint64_t result = SUCCESS;

        if (!e->function(l, call, lane, &result))
            return false;
        ptxi_builtin_return64(call, lane, result);
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
