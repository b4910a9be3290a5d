/* Allocation of memory, and queries about pointers. */
#include "runtime.h"

int ptxi_runtime_allocate(void **pointer, size_t bytes)
{
    ptxiDevicePtr address = 0;
    int error;

    if (!pointer)
        return PTXI_ERROR_INVALID_VALUE;
    if (!bytes) {
        *pointer = NULL; /* no error, unlike cuMemAlloc */
        return 0;
    }
    error = ptxiMemAlloc(&address, bytes);
    *pointer = (void *)address;
    return error;
}

int ptxi_runtime_allocate_pitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    enum { ELEMENT_BYTES = 4 }; /* cuMemAllocPitch accepts 4, 8 and 16, and returns the same pitch for all */
    ptxiDevicePtr address = 0;
    int error;

    if (!pointer || !pitch)
        return PTXI_ERROR_INVALID_VALUE;
    if (!width || !height) {
        *pointer = NULL;
        *pitch = 0;
        return 0;
    }
    error = ptxiMemAllocPitch(&address, pitch, width, height, ELEMENT_BYTES);
    *pointer = (void *)address;
    return error;
}

int ptxi_runtime_allocate3d(struct pitched_pointer *pointer, struct extent extent)
{
    void *address;
    size_t pitch, rows;
    int error;

    if (!pointer)
        return PTXI_ERROR_INVALID_VALUE;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
        return PTXI_ERROR_OUT_OF_MEMORY;
    error = ptxi_runtime_allocate_pitch(&address, &pitch, extent.width, rows);
    if (!error)
        *pointer = (struct pitched_pointer){ address, pitch, extent.width, extent.height };
    return error;
}

int ptxi_runtime_allocate_managed(void **pointer, size_t bytes, unsigned flags)
{
    ptxiDevicePtr address = 0;
    int error;

    if (!pointer)
        return PTXI_ERROR_INVALID_VALUE;
    error = bytes ? (int)ptxiMemAllocManaged(&address, bytes, flags) : 0;
    *pointer = (void *)address;
    return error;
}

int ptxi_runtime_allocate_host(void **pointer, size_t bytes, unsigned flags)
{
    if (!pointer)
        return PTXI_ERROR_INVALID_VALUE;
    *pointer = NULL;
    return bytes ? (int)ptxiMemHostAlloc(pointer, bytes, flags) : 0;
}

int ptxi_runtime_free(void *pointer)
{
    return pointer ? (int)ptxiMemFree((ptxiDevicePtr)pointer) : 0;
}

int ptxi_runtime_free_host(void *pointer)
{
    return pointer ? (int)ptxiMemFreeHost(pointer) : 0;
}

int ptxi_runtime_get_host_pointer(void **device_pointer, void *host_pointer, unsigned flags)
{
    ptxiDevicePtr address = 0;
    int error;

    if (!device_pointer)
        return PTXI_ERROR_INVALID_VALUE;
    error = ptxiMemHostGetDevicePointer(&address, host_pointer, flags);
    if (host_pointer)
        *device_pointer = (void *)address;
    return error;
}

/* Managed memory is also memory of the host, which kernels can use. */
int ptxi_runtime_get_host_flags(unsigned *flags, void *pointer)
{
    enum { HOST_ALLOC_MAPPED = 2 };
    int managed = 0;
    int error = ptxiMemHostGetFlags(flags, pointer);

    if (error && flags && !ptxiPointerGetAttribute(&managed, PTXI_POINTER_ATTRIBUTE_IS_MANAGED,
                                                   (ptxiDevicePtr)pointer) && managed) {
        *flags = HOST_ALLOC_MAPPED;
        return 0;
    }
    return error;
}

int ptxi_runtime_get_memory_info(size_t *free_bytes, size_t *total_bytes)
{
    size_t free_now, total;
    int error = ptxiMemGetInfo(&free_now, &total);

    if (!error && free_bytes)
        *free_bytes = free_now;
    if (!error && total_bytes)
        *total_bytes = total;
    return error;
}

/* Pointers that are not known to the runtime are no error. */
int ptxi_runtime_get_pointer_attributes(struct pointer_attributes *attributes, const void *pointer)
{
    enum { UNREGISTERED, HOST, DEVICE, MANAGED, NO_DEVICE = -2 };
    const ptxiDevicePtr address = (ptxiDevicePtr)pointer;
    struct pointer_attributes a = { .type = UNREGISTERED, .device = NO_DEVICE, .hostPointer = (void *)address };
    unsigned type = 0;
    int managed = 0, device = 0;
    ptxiDevicePtr device_pointer = 0;

    if (!attributes)
        return PTXI_ERROR_INVALID_VALUE;
    if (!pointer)
        a.hostPointer = NULL;
    if (!ptxiPointerGetAttribute(&type, PTXI_POINTER_ATTRIBUTE_MEMORY_TYPE, address)) {
        ptxiPointerGetAttribute(&managed, PTXI_POINTER_ATTRIBUTE_IS_MANAGED, address);
        ptxiPointerGetAttribute(&device, PTXI_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
        ptxiPointerGetAttribute(&device_pointer, PTXI_POINTER_ATTRIBUTE_DEVICE_POINTER, address);
        a.device = device;
        a.devicePointer = (void *)device_pointer;
        a.type = type == PTXI_MEMORYTYPE_HOST ? HOST : DEVICE;
        if (a.type == DEVICE)
            a.hostPointer = NULL;
        if (managed) {
            a.type = MANAGED;
            a.hostPointer = (void *)address;
        }
    }
    *attributes = a;
    return 0;
}
