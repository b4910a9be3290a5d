/* Declarations that the files of libcudart share. A function of the list (functions.txt) is generated: it enters the
 * context, calls the function of its expression, and records the error. */
#ifndef PTXI_CUDART_RUNTIME_H
#define PTXI_CUDART_RUNTIME_H

#include <stdbool.h>

#include "types.h"

/* Errors of the runtime that are not results of ptxi.h. Other errors have the numbers of ptxiResult. */
enum runtime_error {
    ERROR_INITIALIZATION = 3,
    ERROR_UNLOADING = 4,
    ERROR_INVALID_CONFIGURATION = 9,
    ERROR_INVALID_PITCH = 12,
    ERROR_INVALID_SYMBOL = 13,
    ERROR_INVALID_CHANNEL_DESCRIPTOR = 20,
    ERROR_INVALID_COPY_DIRECTION = 21,
    ERROR_INVALID_FILTER_SETTING = 26,
    ERROR_INVALID_NORM_SETTING = 27,
    ERROR_MISSING_CONFIGURATION = 52,
    ERROR_INVALID_DEVICE_FUNCTION = 98,
};

/* ---- state.c: the device, the context and the last error of a thread */

/* Makes the primary context of the thread's device current, unless the thread has a context. Returns an error of the
 * runtime, also if an earlier kernel of this device failed. */
int ptxi_runtime_enter(void);

/* Reports an error of a function that the program has called (error.c), records it as the last error of the thread, and
 * returns it. */
int ptxi_runtime_record(const char *function, int error);

/* Returns the primary context of a device, which must exist. */
int ptxi_runtime_get_context(int device, ptxiContext *context);

int ptxi_runtime_check_device(int device);
int ptxi_runtime_last_error(bool clear);
int ptxi_runtime_get_device(int *device);
int ptxi_runtime_set_device(int device);
int ptxi_runtime_init_device(int device, unsigned device_flags, unsigned flags);
int ptxi_runtime_set_valid_devices(const int *devices, int count);
int ptxi_runtime_get_device_flags(unsigned *flags);
int ptxi_runtime_set_device_flags(unsigned flags);
int ptxi_runtime_get_device_count(int *count);

/* cudaDeviceReset: destroys everything in the primary context of the current device. */
int ptxi_runtime_reset_device(void);

/* True after the destructors of the library have begun. */
bool ptxi_runtime_is_unloading(void);

/* For programs with one default stream for each thread. */
static inline ptxiStream per_thread(ptxiStream s)
{
    return s ? s : PTXI_STREAM_PER_THREAD;
}

/* The location that CUDA 12 names by the number of a device; -1 is the host. */
static inline ptxiMemLocation device_location(int device)
{
    if (device == -1)
        return (ptxiMemLocation){ .type = PTXI_MEM_LOCATION_TYPE_HOST };
    return (ptxiMemLocation){ .type = PTXI_MEM_LOCATION_TYPE_DEVICE, .id = device };
}

/* Stores the index of a failed copy of a batch. SIZE_MAX: the whole call failed. Returns the error. */
static inline int ptxi_runtime_set_failed(size_t *failed, int error)
{
    if (error && failed)
        *failed = SIZE_MAX;
    return error;
}

/* ---- error.c */

/* Reports a call that fails, if a sanitizer is on that wants to know. */
void ptxi_runtime_report(const char *function, int error);

/* ---- output.c: printf() of kernels */

/* Makes the kernels of a context write to the buffer. */
void ptxi_runtime_buffer_output(ptxiContext context);

/* Writes the buffer to stdout. */
void ptxi_runtime_write_output(void);

/* ---- register.c: fat binaries of the program, and the host addresses that name kernels and variables */

/* Finds the kernel of a host function. `function` may also be a handle of a kernel or function. */
int ptxi_runtime_find_kernel(const void *function, ptxiFunction *kernel);

/* Returns the host function that was registered for a kernel, as graph nodes report it. Returns the kernel's handle if
 * no function was registered. */
void *ptxi_runtime_find_host_function(ptxiFunction function, ptxiKernel kernel);

/* Finds the address and size of a __device__, __constant__ or __managed__ variable in the current context. */
int ptxi_runtime_find_variable(const void *symbol, ptxiDevicePtr *address, size_t *bytes);

int ptxi_runtime_get_kernel(ptxiKernel *kernel, const void *function);
int ptxi_runtime_get_function(ptxiFunction *result, const void *symbol);
int ptxi_runtime_get_symbol_address(void **address, const void *symbol);
int ptxi_runtime_get_symbol_size(size_t *bytes, const void *symbol);

/* Finds the kernel of a result of __cudaGetKernel(). */
int ptxi_runtime_find_symbol_kernel(const void *symbol, ptxiFunction *kernel);

/* ---- launch.c */

int ptxi_runtime_launch(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                        ptxiStream stream);
/* As above. `symbol` is the result of __cudaGetKernel(). */
int ptxi_runtime_launch_symbol(const void *symbol, dim3 grid, dim3 block, void **arguments, size_t shared_bytes,
                               ptxiStream stream);
int ptxi_runtime_launch_cooperative(const void *function, dim3 grid, dim3 block, void **arguments,
                                    size_t shared_bytes, ptxiStream stream);
int ptxi_runtime_launch_config(const struct launch_config *config, const void *function, void **arguments,
                               bool per_thread_streams);
/* Translates a configuration to that of the driver API. */
ptxiLaunchConfig ptxi_runtime_driver_config(const struct launch_config *config);

/* ---- function.c: attributes and occupancy of kernels */

int ptxi_runtime_get_function_attributes(struct function_attributes *attributes, const void *function);
int ptxi_runtime_set_function_attribute(const void *function, int attribute, int value);
int ptxi_runtime_set_function_cache(const void *function, int config);
int ptxi_runtime_set_function_banks(const void *function, int config);
int ptxi_runtime_get_function_name(const char **name, const void *function);
int ptxi_runtime_get_param_info(const void *function, size_t index, size_t *offset, size_t *bytes);
int ptxi_runtime_occupancy(int *blocks, const void *function, int block_size, size_t shared_bytes, unsigned flags);
int ptxi_runtime_available_shared(size_t *bytes, const void *function, int blocks, int block_size);
int ptxi_runtime_max_clusters(int *clusters, const void *function, const struct launch_config *config);
int ptxi_runtime_max_cluster_size(int *size, const void *function, const struct launch_config *config);

/* ---- copy.c: copies and fills. The functions without a stream wait, in the default stream that they are given. */

int ptxi_runtime_copy(void *dst, const void *src, size_t bytes, int kind, ptxiStream default_stream);
int ptxi_runtime_copy_async(void *dst, const void *src, size_t bytes, int kind, ptxiStream stream);
int ptxi_runtime_fill(void *dst, int value, size_t bytes, ptxiStream default_stream);
int ptxi_runtime_fill_async(void *dst, int value, size_t bytes, ptxiStream stream);
int ptxi_runtime_copy_to_symbol(const void *symbol, const void *src, size_t bytes, size_t offset, int kind,
                                ptxiStream default_stream);
int ptxi_runtime_copy_to_symbol_async(const void *symbol, const void *src, size_t bytes, size_t offset, int kind,
                                      ptxiStream stream);
int ptxi_runtime_copy_from_symbol(void *dst, const void *symbol, size_t bytes, size_t offset, int kind,
                                  ptxiStream default_stream);
int ptxi_runtime_copy_from_symbol_async(void *dst, const void *symbol, size_t bytes, size_t offset, int kind,
                                        ptxiStream stream);
/* Finds the address of `offset` within a variable, if a copy of that kind to or from it is permitted. */
int ptxi_runtime_symbol_range(const void *symbol, size_t bytes, size_t offset, int kind, bool to_symbol,
                              ptxiDevicePtr *address);
int ptxi_runtime_fill2d(struct pitched_pointer dst, int value, struct extent extent, ptxiStream default_stream);
int ptxi_runtime_fill2d_async(struct pitched_pointer dst, int value, struct extent extent, ptxiStream stream);

/* ---- copy3d.c: copies of rectangles and boxes */

/* One end of a rectangular copy: memory with a pitch, or an array with an offset. */
struct rectangle {
    void *ptr;
    size_t pitch;
    ptxiArray array;            /* if is_array */
    bool is_array;
    size_t x, y;                /* offset in the array: bytes and rows */
};

int ptxi_runtime_copy2d(struct rectangle dst, struct rectangle src, size_t width, size_t height, int kind,
                        ptxiStream default_stream);
int ptxi_runtime_copy2d_async(struct rectangle dst, struct rectangle src, size_t width, size_t height, int kind,
                              ptxiStream stream);
int ptxi_runtime_copy3d(const struct copy3d_params *params, ptxiStream default_stream);
int ptxi_runtime_copy3d_async(const struct copy3d_params *params, ptxiStream stream);
/* Copies between linear memory and an array. The rows are filled one after another from (x, y) on. */
int ptxi_runtime_copy_linear_array(ptxiArray array, size_t x, size_t y, const void *memory, size_t bytes, int kind,
                                   bool to_array, ptxiStream default_stream);
int ptxi_runtime_copy_linear_array_async(ptxiArray array, size_t x, size_t y, const void *memory, size_t bytes,
                                         int kind, bool to_array, ptxiStream stream);
int ptxi_runtime_copy_array_to_array(ptxiArray dst, size_t dst_x, size_t dst_y, ptxiArray src, size_t src_x,
                                     size_t src_y, size_t bytes, int kind, ptxiStream default_stream);
/* Translate between the structures of the runtime and of the driver. */
int ptxi_runtime_to_driver_copy(const struct copy3d_params *params, PTXI_MEMCPY3D *copy);
int ptxi_runtime_from_driver_copy(const PTXI_MEMCPY3D *copy, struct copy3d_params *params);

static inline struct rectangle memory_rows(const void *ptr, size_t pitch)
{
    return (struct rectangle){ .ptr = (void *)(uintptr_t)ptr, .pitch = pitch };
}

static inline struct rectangle array_rows(ptxiArray array, size_t x, size_t y)
{
    return (struct rectangle){ .array = array, .is_array = true, .x = x, .y = y };
}

/* ---- memory.c */

int ptxi_runtime_allocate(void **pointer, size_t bytes);
int ptxi_runtime_allocate_pitch(void **pointer, size_t *pitch, size_t width, size_t height);
int ptxi_runtime_allocate3d(struct pitched_pointer *pointer, struct extent extent);
int ptxi_runtime_allocate_managed(void **pointer, size_t bytes, unsigned flags);
int ptxi_runtime_allocate_host(void **pointer, size_t bytes, unsigned flags);
int ptxi_runtime_free(void *pointer);
int ptxi_runtime_get_host_flags(unsigned *flags, void *pointer);
int ptxi_runtime_get_memory_info(size_t *free_bytes, size_t *total_bytes);
int ptxi_runtime_free_host(void *pointer);
int ptxi_runtime_get_pointer_attributes(struct pointer_attributes *attributes, const void *pointer);
int ptxi_runtime_get_host_pointer(void **device_pointer, void *host_pointer, unsigned flags);

/* ---- array.c, texture.c */

int ptxi_runtime_create_array(ptxiArray *array, const struct channel_format *format, struct extent extent,
                              unsigned flags);
int ptxi_runtime_create_mipmapped_array(ptxiMipmappedArray *array, const struct channel_format *format,
                                        struct extent extent, unsigned levels, unsigned flags);
int ptxi_runtime_free_array(ptxiArray array);
int ptxi_runtime_free_mipmapped_array(ptxiMipmappedArray array);
int ptxi_runtime_get_array_info(struct channel_format *format, struct extent *extent, unsigned *flags,
                                ptxiArray array);
int ptxi_runtime_get_channel_format(struct channel_format *format, ptxiArray array);
/* Translate between formats of the runtime and of the driver. */
int ptxi_runtime_to_driver_format(const struct channel_format *format, ptxiArrayFormat *driver, unsigned *channels);
int ptxi_runtime_from_driver_format(ptxiArrayFormat driver, unsigned channels, struct channel_format *format);
/* Bytes of a texel of an array; 0 if the array is not valid. */
size_t ptxi_runtime_texel_bytes(ptxiArray array);

/* Largest width of a texture of one dimension in linear memory. */
int ptxi_runtime_get_linear_width(size_t *width, const struct channel_format *format, int device);
int ptxi_runtime_create_texture(ptxiTexObject *texture, const struct resource_desc *resource,
                                const struct texture_desc *desc, const PTXI_RESOURCE_VIEW_DESC *view);
int ptxi_runtime_get_texture_resource(struct resource_desc *resource, ptxiTexObject texture);
int ptxi_runtime_get_texture_desc(struct texture_desc *desc, ptxiTexObject texture);
int ptxi_runtime_get_texture_view(PTXI_RESOURCE_VIEW_DESC *view, ptxiTexObject texture);
int ptxi_runtime_create_surface(ptxiSurfObject *surface, const struct resource_desc *resource);
int ptxi_runtime_get_surface_resource(struct resource_desc *resource, ptxiSurfObject surface);

/* ---- device.c */

int ptxi_runtime_get_properties(void *properties, int device);
/* As above, for the structure of CUDA 11, which ends before the members that CUDA 12 added. */
int ptxi_runtime_get_first_properties(void *properties, int device);
int ptxi_runtime_choose_device(int *device, const void *properties);
int ptxi_runtime_get_driver_function(const char *symbol, void **function, unsigned version, unsigned long long flags,
                                     int *status, bool per_thread_streams);
int ptxi_runtime_get_attribute(int *value, int attribute, int device);
int ptxi_runtime_get_driver_version(int *version);
int ptxi_runtime_get_version(int *version);

/* ---- peer.c: access to the memory of other devices. The functions without a stream wait. */

int ptxi_runtime_enable_peer(int peer, unsigned flags);
int ptxi_runtime_disable_peer(int peer);
int ptxi_runtime_copy_peer(void *dst, int dst_device, const void *src, int src_device, size_t bytes);
int ptxi_runtime_copy_peer_async(void *dst, int dst_device, const void *src, int src_device, size_t bytes,
                                 ptxiStream stream);
int ptxi_runtime_copy3d_peer(const struct copy3d_peer_params *params, ptxiStream default_stream);
int ptxi_runtime_copy3d_peer_async(const struct copy3d_peer_params *params, ptxiStream stream);

/* ---- graph.c */

int ptxi_runtime_add_kernel_node(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *dependencies,
                                 size_t count, const struct kernel_node_params *params);
int ptxi_runtime_get_kernel_node(ptxiGraphNode node, struct kernel_node_params *params);
int ptxi_runtime_set_kernel_node(ptxiGraphNode node, const struct kernel_node_params *params);
int ptxi_runtime_set_exec_kernel_node(ptxiGraphExec exec, ptxiGraphNode node, const struct kernel_node_params *params);
int ptxi_runtime_add_copy_node(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *dependencies, size_t count,
                               const struct copy3d_params *params);
int ptxi_runtime_get_copy_node(ptxiGraphNode node, struct copy3d_params *params);
/* Functions with `exec` in their names change a node of an executable graph. The others change the node itself. */
int ptxi_runtime_set_copy_node(ptxiGraphNode node, const struct copy3d_params *params);
int ptxi_runtime_set_exec_copy_node(ptxiGraphExec exec, ptxiGraphNode node, const struct copy3d_params *params);
/* A copy of one dimension, between memory and memory or a variable. */
struct linear_copy {
    const void *dst, *src;
    const void *symbol;         /* NULL: none; otherwise the end that is NULL is in this variable */
    size_t offset;              /* bytes from the beginning of the variable */
    size_t bytes;
    int kind;
};
int ptxi_runtime_add_linear_copy_node(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *dependencies,
                                      size_t count, struct linear_copy copy);
int ptxi_runtime_set_linear_copy_node(ptxiGraphNode node, struct linear_copy copy);
int ptxi_runtime_set_exec_linear_copy_node(ptxiGraphExec exec, ptxiGraphNode node, struct linear_copy copy);
int ptxi_runtime_add_node(ptxiGraphNode *node, ptxiGraph graph, const ptxiGraphNode *dependencies,
                          const ptxiGraphEdgeData *data, size_t count, struct graph_node_params *params);
int ptxi_runtime_set_node(ptxiGraphNode node, struct graph_node_params *params);
int ptxi_runtime_set_exec_node(ptxiGraphExec exec, ptxiGraphNode node, struct graph_node_params *params);
int ptxi_runtime_instantiate(ptxiGraphExec *exec, ptxiGraph graph, PTXI_GRAPH_INSTANTIATE_PARAMS *params,
                             bool per_thread_streams);
int ptxi_runtime_update_exec(ptxiGraphExec exec, ptxiGraph graph, ptxiGraphExecUpdateResultInfo *info);

/* ---- stream.c */

typedef void runtime_stream_callback(ptxiStream stream, int error, void *user);
int ptxi_runtime_add_callback(ptxiStream stream, runtime_stream_callback *callback, void *user, unsigned flags);
int ptxi_runtime_copy_attributes(ptxiStream to, ptxiStream from, bool per_thread_streams);

#endif
