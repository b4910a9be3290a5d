/* Launches that kernels request (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"), and queries about kernels.
 * The grids run later: launch/pending.c. */
#include "api/devrt/device_call.h"
#include "api/memory/heap.h"

#include "exec/engine/engine.h"
#include "exec/memmap/memmap.h"

#include <stdlib.h>

enum { MAX_PARAMETERS = 32764 /* bytes */ };

/* ---- parameters */

/* Finds the kernel at an address, or returns NULL. */
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
    struct ptxi_launch_shape s = { .shared = arg32(d, word + 6) };

    for (unsigned k = 0; k < 3; k++) {
        s.grid[k] = arg32(d, word + k);
        s.block[k] = arg32(d, word + 3 + k);
    }
    return s;
}

/* void *(void *kernel, dim3 grid, dim3 block, unsigned shared) */
DEVICE_FUNCTION(GetParameterBufferV2)
{
    ptxiFunction f = kernel_at(d->launch, arg64(d, 0));
    struct ptxi_param_buffer *b = f ? ptxi_param_buffer_create(d->launch, ptxi_module_param_bytes(f),
                                                               PTXI_BUFFER_CALL) : NULL;

    if (!b) {
        ptxi_device_set_last_error(d->launch, f ? cudaErrorMemoryAllocation : cudaErrorInvalidDeviceFunction);
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
    size_t bytes = arg64(d, 2);
    struct ptxi_param_buffer *b = NULL;

    if (bytes <= MAX_PARAMETERS)
        b = ptxi_param_buffer_create(d->launch, bytes, PTXI_BUFFER_PARAMETERS);
    if (b)
        d->result = b->block->base;
    else
        ptxi_device_set_last_error(d->launch,
                                   bytes <= MAX_PARAMETERS ? cudaErrorMemoryAllocation : cudaErrorInvalidValue);
    return true;
}

/* ---- launches */

static int cuda_error(ptxiResult r)
{
    return r == PTXI_ERROR_INVALID_VALUE ? cudaErrorInvalidConfiguration : (int)r;
}

/* True if as many tail launches are pending as the limit permits. */
static bool too_many_tails(struct ptxi_launch *l)
{
    pthread_mutex_lock(&l->ctx->lock);
    size_t most = l->ctx->limits[PTXI_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT];
    pthread_mutex_unlock(&l->ctx->lock);
    return atomic_fetch_add(&l->tails, 1) >= most;
}

/* Returns the error of a launch in the stream, or cudaSuccess. */
static int check_stream(struct ptxi_launch *l, uint64_t stream)
{
    if (!ptxi_device_is_stream(stream))
        return cudaErrorInvalidValue;
    return stream == TAIL_STREAM && too_many_tails(l) ? cudaErrorLaunchPendingCountExceeded : cudaSuccess;
}

/* Queues a kernel with the parameters of `b`, which may be NULL, and frees `b`. */
static int launch_buffer(struct ptxi_device_call *d, ptxiFunction f, const struct ptxi_launch_shape *shape,
                         struct ptxi_param_buffer *b, uint64_t stream)
{
    struct ptxi_launch *l = d->launch;
    struct ptxi_pending_work child = { .site = ptxi_device_call_site(d) };
    struct ptxi_launch_description launch = { .function = f, .shape = *shape };
    size_t bytes = ptxi_module_param_bytes(f);

    bytes = b && b->bytes < bytes ? b->bytes : bytes;
    void *extra[] = { PTXI_LAUNCH_PARAM_BUFFER_POINTER, b ? (void *)(uintptr_t)b->block->base : NULL,
                      PTXI_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                      PTXI_LAUNCH_PARAM_END };
    int error = check_stream(l, stream);

    if (b && bytes)
        launch.extra = extra;
    if (!error)
        error = cuda_error(ptxi_launch_make(l->ctx, &launch, &child.item));
    if (!error && !ptxi_pending_add(l, child, stream == TAIL_STREAM)) {
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
    struct ptxi_param_buffer *b = ptxi_param_buffer_take(d->launch, arg64(d, 0), PTXI_BUFFER_CALL);

    return ptxi_device_return(d,
                              b ? launch_buffer(d, b->function, &b->shape, b, arg64(d, 2)) : cudaErrorInvalidValue);
}

/* cudaError_t (void *kernel, void *parameters, dim3 grid, dim3 block, unsigned shared, cudaStream_t stream) */
DEVICE_FUNCTION(LaunchDevice)
{
    ptxiFunction f = kernel_at(d->launch, arg64(d, 0));
    uint64_t parameters = arg64(d, 2);
    struct ptxi_launch_shape shape = shape_at(d, 4);
    struct ptxi_param_buffer *b = NULL;

    if (f && parameters)
        b = ptxi_param_buffer_take(d->launch, parameters, PTXI_BUFFER_PARAMETERS);

    if (!f)
        return ptxi_device_return(d, cudaErrorInvalidDeviceFunction);
    return ptxi_device_return(d, b ||
                              !parameters ? launch_buffer(d, f, &shape, b, arg64(d, 11)) : cudaErrorInvalidValue);
}

/* ---- queries about kernels */

/* cudaError_t (int *blocks, const void *kernel, int threads, size_t dynamic, unsigned flags) */
DEVICE_FUNCTION(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
{
    ptxiFunction f = kernel_at(d->launch, arg64(d, 2));
    unsigned threads = arg32(d, 4);
    int blocks = f && threads ? ptxi_occupancy_of_function(f, threads, arg64(d, 5)) : -1;

    if (blocks < 0)
        return ptxi_device_return(d, f ? cudaErrorInvalidValue : cudaErrorInvalidDeviceFunction);
    return ptxi_device_store(d, 0, &blocks, sizeof blocks);
}

/* The begin of cudaFuncAttributes. */
struct func_attributes {
    size_t shared, constant, local;
    int threads, registers, ptx, binary, cache, dynamic, carveout;
};

/* cudaError_t (struct cudaFuncAttributes *attributes, const void *kernel) */
DEVICE_FUNCTION(FuncGetAttributes)
{
    ptxiFunction f = kernel_at(d->launch, arg64(d, 2));
    int v[PTXI_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT + 1];
    int error = f ? cudaSuccess : cudaErrorInvalidDeviceFunction;

    for (int k = 0; !error && k <= PTXI_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT; k++)
        error = (int)ptxi_launch_attribute(f, (ptxiFunctionAttribute)k, &v[k]);
    if (error)
        return ptxi_device_return(d, error);
    struct func_attributes a = { (size_t)v[1], (size_t)v[2], (size_t)v[3], v[0], v[4], v[5], v[6], v[7], v[8], v[9] };

    return ptxi_device_store(d, 0, &a, sizeof a);
}
