/* A table of driver API functions. The functions belong to this library, or to a library that is loaded at run time.
 * On a machine with a GPU, the loaded library can be CUDA's driver. */
#ifndef PTXI_TESTS_CUDA_DRIVER_H
#define PTXI_TESTS_CUDA_DRIVER_H

#include "ptxi.h"

/* X(name, suffix of the symbol in CUDA's library, parameters) */
#define DRIVER_CALLS(X)                                                                                              \
    X(Init, "", (unsigned flags))                                                                                    \
    X(DeviceGetName, "", (char *name, int size, ptxiDevice device))                                                  \
    X(DeviceGetAttribute, "", (int *value, ptxiDeviceAttribute attribute, ptxiDevice device))                        \
    X(DriverGetVersion, "", (int *version))                                                                          \
    X(DevicePrimaryCtxRetain, "", (ptxiContext * ctx, ptxiDevice device))                                            \
    X(CtxSetCurrent, "", (ptxiContext ctx))                                                                          \
    X(CtxSynchronize, "", (void))                                                                                    \
    X(CtxSetLimit, "", (ptxiLimit limit, size_t value))                                                              \
    X(ModuleLoad, "", (ptxiModule * module, const char *path))                                                       \
    X(ModuleLoadData, "", (ptxiModule * module, const void *image))                                                  \
    X(ModuleGetFunction, "", (ptxiFunction * function, ptxiModule module, const char *name))                         \
    X(ModuleUnload, "", (ptxiModule module))                                                                         \
    X(LinkCreate, "_v2", (unsigned options, ptxiJitOption *names, void **values, ptxiLinkState *state))              \
    X(LinkAddFile, "_v2",                                                                                            \
      (ptxiLinkState state, ptxiJitInputType type, const char *path, unsigned options, ptxiJitOption *names,         \
       void **values))                                                                                               \
    X(LinkComplete, "", (ptxiLinkState state, void **image, size_t *size))                                           \
    X(LinkDestroy, "", (ptxiLinkState state))                                                                        \
    X(MemAlloc, "_v2", (ptxiDevicePtr * p, size_t size))                                                             \
    X(MemFree, "_v2", (ptxiDevicePtr p))                                                                             \
    X(MemcpyHtoD, "_v2", (ptxiDevicePtr to, const void *from, size_t size))                                          \
    X(MemcpyDtoH, "_v2", (void *to, ptxiDevicePtr from, size_t size))                                                \
    X(Memcpy3D, "_v2", (const PTXI_MEMCPY3D *copy))                                                                  \
    X(FuncSetAttribute, "", (ptxiFunction function, ptxiFunctionAttribute attribute, int value))                     \
    X(OccupancyMaxActiveBlocksPerMultiprocessor, "", (int *blocks, ptxiFunction function, int block, size_t shared)) \
    X(LaunchKernel, "",                                                                                              \
      (ptxiFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
       unsigned block_z, unsigned shared, ptxiStream stream, void **params, void **extra))                           \
    X(LaunchCooperativeKernel, "",                                                                                   \
      (ptxiFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
       unsigned block_z, unsigned shared, ptxiStream stream, void **params))                                         \
    X(TensorMapEncodeTiled, "",                                                                                      \
      (ptxiTensorMap * map, ptxiTensorMapDataType type, uint32_t rank, void *base, const uint64_t *dims,             \
       const uint64_t *strides, const uint32_t *box, const uint32_t *steps, ptxiTensorMapInterleave interleave,      \
       ptxiTensorMapSwizzle swizzle, ptxiTensorMapL2promotion promotion, ptxiTensorMapFloatOOBfill fill))            \
    X(Array3DCreate, "_v2", (ptxiArray * array, const PTXI_ARRAY3D_DESCRIPTOR *descriptor))                          \
    X(ArrayDestroy, "", (ptxiArray array))                                                                           \
    X(MipmappedArrayCreate, "",                                                                                      \
      (ptxiMipmappedArray * array, const PTXI_ARRAY3D_DESCRIPTOR *descriptor, unsigned levels))                      \
    X(MipmappedArrayGetLevel, "", (ptxiArray * level, ptxiMipmappedArray array, unsigned which))                     \
    X(MipmappedArrayDestroy, "", (ptxiMipmappedArray array))                                                         \
    X(TexObjectCreate, "",                                                                                           \
      (ptxiTexObject * texture, const PTXI_RESOURCE_DESC *resource, const PTXI_TEXTURE_DESC *sampler,                \
       const PTXI_RESOURCE_VIEW_DESC *view))                                                                         \
    X(TexObjectDestroy, "", (ptxiTexObject texture))

#define DRIVER_MEMBER(name, suffix, params) ptxiResult(*name) params;
struct driver {
    DRIVER_CALLS(DRIVER_MEMBER)
};

/* The functions of this library. driver_load() replaces them with the functions of another library.
 * If the library cannot be loaded, driver_load() ends the program. */
extern struct driver driver;
void driver_load(const char *library);

/* Ends the program if `r` is an error. `what` names the failed operation. */
void driver_must(ptxiResult r, const char *what);

/* Makes the primary context of the first device current. Stores the device's name and the driver's CUDA version. */
void driver_start(char name[100], int *version);

#endif
