/* Launches of kernels, and the configuration that `<<<...>>>` passes to them. */
#include "runtime.h"

/* ---- the configuration of `<<<...>>>`: pushed by the caller, popped by the stub of the kernel */

enum { MAX_CONFIGURATIONS = 64 };

static _Thread_local struct {
    unsigned depth;
    struct {
        dim3 grid, block;
        size_t shared_bytes;
        void *stream;
    } entry[MAX_CONFIGURATIONS];
} configurations;

PTXI_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, void *stream);
PTXI_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, void *stream)
{
    unsigned i = configurations.depth;

    if (i == MAX_CONFIGURATIONS)
        return (unsigned)ptxi_runtime_record(__func__, PTXI_ERROR_OUT_OF_MEMORY);
    configurations.entry[i].grid = grid;
    configurations.entry[i].block = block;
    configurations.entry[i].shared_bytes = shared_bytes;
    configurations.entry[i].stream = stream;
    configurations.depth++;
    return 0;
}

PTXI_API int __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream);
PTXI_API int __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream)
{
    unsigned i = configurations.depth;

    if (!i)
        return ptxi_runtime_record(__func__, ERROR_MISSING_CONFIGURATION);
    i = --configurations.depth;
    *grid = configurations.entry[i].grid;
    *block = configurations.entry[i].block;
    *shared_bytes = configurations.entry[i].shared_bytes;
    *(void **)stream = configurations.entry[i].stream;
    return 0;
}

/* ---- launches */

#if CUDART_MAJOR < 13
/* The driver has one error for all invalid arguments, the runtime of CUDA 12 has one of its own for invalid shapes. */
static bool is_shape_valid(dim3 grid, dim3 block)
{
    const unsigned long long threads = (unsigned long long)block.x * block.y * block.z;

    return grid.x && grid.y && grid.z && threads && grid.x <= 0x7fffffff && grid.y <= 65535 && grid.z <= 65535 &&
           block.x <= 1024 && block.y <= 1024 && block.z <= 64 && threads <= 1024;
}

static int launch_error(ptxiResult r, dim3 grid, dim3 block)
{
    return r == PTXI_ERROR_INVALID_VALUE && !is_shape_valid(grid, block) ? ERROR_INVALID_CONFIGURATION : (int)r;
}
#else
static int launch_error(ptxiResult r, dim3 grid, dim3 block)
{
    (void)grid, (void)block;
    return r;
}
#endif

/* Of the bytes of shared memory only the lower 32 bits count, as with CUDA's runtime. */
static int launch_kernel(ptxiFunction kernel, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                         ptxiStream stream)
{
    ptxi_runtime_write_output();
    return launch_error(ptxiLaunchKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                         (unsigned)shared_bytes, stream, arguments, NULL),
                        grid, block);
}

int ptxi_runtime_launch(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                        ptxiStream stream)
{
    ptxiFunction kernel;
    int error = ptxi_runtime_find_kernel(function, &kernel);

    return error ? error : launch_kernel(kernel, grid, block, arguments, shared_bytes, stream);
}

int ptxi_runtime_launch_symbol(const void *symbol, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                               ptxiStream stream)
{
    ptxiFunction kernel;
    int error = ptxi_runtime_find_symbol_kernel(symbol, &kernel);

    return error ? error : launch_kernel(kernel, grid, block, arguments, shared_bytes, stream);
}

int ptxi_runtime_launch_cooperative(const void *function, dim3 grid, dim3 block, void **arguments,
                                    size_t shared_bytes, ptxiStream stream)
{
    ptxiFunction kernel;
    int error = ptxi_runtime_find_kernel(function, &kernel);

    if (error)
        return error;
    ptxi_runtime_write_output();
    return launch_error(ptxiLaunchCooperativeKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                                    (unsigned)shared_bytes, stream, arguments),
                        grid, block);
}

ptxiLaunchConfig ptxi_runtime_driver_config(const struct launch_config *config)
{
    return (ptxiLaunchConfig){
        .gridDimX = config->gridDim.x,
        .gridDimY = config->gridDim.y,
        .gridDimZ = config->gridDim.z,
        .blockDimX = config->blockDim.x,
        .blockDimY = config->blockDim.y,
        .blockDimZ = config->blockDim.z,
        .sharedMemBytes = config->dynamicSmemBytes > UINT32_MAX ? UINT32_MAX : (unsigned)config->dynamicSmemBytes,
        .hStream = config->stream,
        .attrs = config->attrs,
        .numAttrs = config->numAttrs,
    };
}

int ptxi_runtime_launch_config(const struct launch_config *config, const void *function, void **arguments,
                               bool per_thread_streams)
{
    ptxiLaunchConfig driver;
    ptxiFunction kernel;
    int error;

    if (!config)
        return PTXI_ERROR_INVALID_VALUE;
    error = ptxi_runtime_find_kernel(function, &kernel);
    if (error)
        return error;
    ptxi_runtime_write_output();
    driver = ptxi_runtime_driver_config(config);
    if (per_thread_streams)
        driver.hStream = per_thread(driver.hStream);
    return launch_error(ptxiLaunchKernelEx(&driver, kernel, arguments, NULL), config->gridDim, config->blockDim);
}
