/* Kernels that launch kernels (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"), and what they ask of them. The grids run later: children.c. */
#include "api/devrt/device_call.h"
#include "api/memory/heap.h"

#include "exec/engine/engine.h"
#include "exec/memmap/memmap.h"

#include <stdlib.h>

enum { MOST_PARAMETERS = 32764, /* bytes */ MOST_BUFFERS = 1 << 16 /* that a grid may have and not use */ };

/* ---- parameters */

void ptxi_param_buffers_free(struct ptxi_launch *l)
{
    for (struct ptxi_param_buffer *b = l->buffers, *next; b; b = next) {
        next = b->next;
        ptxi_heap_free(b->block);
        free(b);
    }
}

struct ptxi_param_buffer *ptxi_device_buffer(struct ptxi_launch *l, size_t bytes, enum ptxi_buffer_kind kind)
{
    struct ptxi_param_buffer *b = atomic_load(&l->buffer_count) < MOST_BUFFERS ? calloc(1, sizeof *b) : NULL;

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
    l->buffer_count++;
    pthread_mutex_unlock(&l->lock);
    return b;
}

/* Takes the buffer out of the list; NULL: there is none of the kind at the address. */
static struct ptxi_param_buffer *take_buffer(struct ptxi_launch *l, uint64_t at, enum ptxi_buffer_kind kind)
{
    struct ptxi_param_buffer *b, **link = &l->buffers;

    pthread_mutex_lock(&l->lock);
    while (*link && ((*link)->block->base != at || (*link)->kind != kind))
        link = &(*link)->next;
    b = *link;
    if (b) {
        *link = b->next;
        l->buffer_count--;
    }
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

/* dim3 grid, dim3 block, unsigned shared */
static struct ptxi_launch_shape shape_at(const struct ptxi_device_call *d, unsigned word)
{
    struct ptxi_launch_shape s = { .shared = arg(d, word + 6) };

    for (unsigned k = 0; k < 3; k++) {
        s.grid[k] = arg(d, word + k);
        s.block[k] = arg(d, word + 3 + k);
    }
    return s;
}

/* void *(void *kernel, dim3 grid, dim3 block, unsigned shared) */
DEVICE_FUNCTION(GetParameterBufferV2)
{
    ptxiFunction f = kernel_at(d->launch, pointer(d, 0));
    struct ptxi_param_buffer *b = f ? ptxi_device_buffer(d->launch, ptxi_module_param_bytes(f), BUFFER_CALL) : NULL;

    if (!b) {
        ptxi_device_remember(d->launch, f ? cudaErrorMemoryAllocation : cudaErrorInvalidDeviceFunction);
        return true;
    }
    b->shape = shape_at(d, 2);
    b->function = f;
    d->result = b->block->base;
    return true;
}

/* void *(size_t alignment, size_t size) */
DEVICE_FUNCTION(GetParameterBuffer)
{
    size_t bytes = pointer(d, 2);
    struct ptxi_param_buffer *b = bytes <= MOST_PARAMETERS ? ptxi_device_buffer(d->launch, bytes, BUFFER_PARAMETERS) : NULL;

    if (b)
        d->result = b->block->base;
    else
        ptxi_device_remember(d->launch, bytes <= MOST_PARAMETERS ? cudaErrorMemoryAllocation : cudaErrorInvalidValue);
    return true;
}

/* ---- launches */

static int cuda_error(ptxiResult r)
{
    return r == PTXI_ERROR_INVALID_VALUE ? cudaErrorInvalidConfiguration : (int)r;
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
    if (!ptxi_device_is_stream(stream))
        return cudaErrorInvalidValue;
    return stream == TAIL_STREAM && too_many_tails(l) ? cudaErrorLaunchPendingCountExceeded : cudaSuccess;
}

/* Queues a kernel with `b`'s parameters, NULL: none, and frees them. */
static int launch_buffer(struct ptxi_device_call *d, ptxiFunction f, struct ptxi_launch_shape *shape,
                         struct ptxi_param_buffer *b, uint64_t stream)
{
    struct ptxi_launch *l = d->launch;
    struct ptxi_child child = { .place = ptxi_device_place(d) };
    size_t bytes = ptxi_module_param_bytes(f);

    bytes = b && b->bytes < bytes ? b->bytes : bytes;
    void *extra[] = { PTXI_LAUNCH_PARAM_BUFFER_POINTER, b ? (void *)(uintptr_t)b->block->base : NULL, PTXI_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                      PTXI_LAUNCH_PARAM_END };
    int error = stream_error(l, stream);

    if (!error)
        error = cuda_error(ptxi_launch_make(l->ctx, f, shape, NULL, b && bytes ? extra : NULL, &child.item));
    if (!error && !ptxi_children_add(l, child, stream == TAIL_STREAM)) {
        ptxi_item_discard(child.item);
        error = cudaErrorMemoryAllocation;
    }
    if (b)
        ptxi_heap_free(b->block);
    free(b);
    return error;
}

/* cudaError_t (void *parameters, cudaStream_t stream) */
DEVICE_FUNCTION(LaunchDeviceV2)
{
    struct ptxi_param_buffer *b = take_buffer(d->launch, pointer(d, 0), BUFFER_CALL);

    return ptxi_device_answer(d, b ? launch_buffer(d, b->function, &b->shape, b, pointer(d, 2)) : cudaErrorInvalidValue);
}

/* cudaError_t (void *kernel, void *parameters, dim3 grid, dim3 block, unsigned shared, cudaStream_t stream) */
DEVICE_FUNCTION(LaunchDevice)
{
    ptxiFunction f = kernel_at(d->launch, pointer(d, 0));
    uint64_t parameters = pointer(d, 2);
    struct ptxi_param_buffer *b = f && parameters ? take_buffer(d->launch, parameters, BUFFER_PARAMETERS) : NULL;
    struct ptxi_launch_shape shape = shape_at(d, 4);

    if (!f)
        return ptxi_device_answer(d, cudaErrorInvalidDeviceFunction);
    return ptxi_device_answer(d, b || !parameters ? launch_buffer(d, f, &shape, b, pointer(d, 11)) : cudaErrorInvalidValue);
}

/* ---- what is asked of kernels */

/* cudaError_t (int *blocks, const void *kernel, int threads, size_t dynamic, unsigned flags) */
DEVICE_FUNCTION(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
{
    ptxiFunction f = kernel_at(d->launch, pointer(d, 2));
    unsigned threads = arg(d, 4);
    int blocks = f && threads ? ptxi_launch_blocks_per_mp(f, threads, pointer(d, 5)) : -1;

    if (blocks < 0)
        return ptxi_device_answer(d, f ? cudaErrorInvalidValue : cudaErrorInvalidDeviceFunction);
    return ptxi_device_give(d, 0, &blocks, sizeof blocks);
}

/* The begin of cudaFuncAttributes. */
struct func_attributes {
    size_t shared, constant, local;
    int threads, registers, ptx, binary, cache, dynamic, carveout;
};

/* cudaError_t (struct cudaFuncAttributes *attributes, const void *kernel) */
DEVICE_FUNCTION(FuncGetAttributes)
{
    ptxiFunction f = kernel_at(d->launch, pointer(d, 2));
    int v[PTXI_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT + 1];
    int error = f ? cudaSuccess : cudaErrorInvalidDeviceFunction;

    for (int k = 0; !error && k <= PTXI_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT; k++)
        error = (int)ptxi_launch_attribute(f, (ptxiFunctionAttribute)k, &v[k]);
    if (error)
        return ptxi_device_answer(d, error);
    struct func_attributes a = { (size_t)v[1], (size_t)v[2], (size_t)v[3], v[0], v[4], v[5], v[6], v[7], v[8], v[9] };

    return ptxi_device_give(d, 0, &a, sizeof a);
}
