/* Copies and fills of linear memory and of variables. */
#include "runtime.h"

/* Synchronous calls with one default stream for each thread queue their work there and wait for it. */
static int finish_in(ptxiStream stream, int error)
{
    return error ? error : (int)ptxiStreamSynchronize(stream);
}

int ptxi_runtime_copy(void *dst, const void *src, size_t bytes, int kind, ptxiStream default_stream)
{
    if (!bytes)
        return 0;
    if (default_stream == PTXI_STREAM_PER_THREAD)
        return finish_in(default_stream, ptxi_runtime_copy_async(dst, src, bytes, kind, default_stream));
    switch (kind) {
    case COPY_HOST_TO_DEVICE:
        return ptxiMemcpyHtoD((ptxiDevicePtr)dst, src, bytes);
    case COPY_DEVICE_TO_HOST:
        return ptxiMemcpyDtoH(dst, (ptxiDevicePtr)src, bytes);
    case COPY_DEVICE_TO_DEVICE:
        return ptxiMemcpyDtoD((ptxiDevicePtr)dst, (ptxiDevicePtr)src, bytes);
    case COPY_HOST_TO_HOST:
    case COPY_DEFAULT:
        return ptxiMemcpy((ptxiDevicePtr)dst, (ptxiDevicePtr)src, bytes);
    default:
        return ERROR_INVALID_COPY_DIRECTION;
    }
}

int ptxi_runtime_copy_async(void *dst, const void *src, size_t bytes, int kind, ptxiStream stream)
{
    switch (kind) {
    case COPY_HOST_TO_DEVICE:
        return ptxiMemcpyHtoDAsync((ptxiDevicePtr)dst, src, bytes, stream);
    case COPY_DEVICE_TO_HOST:
        return ptxiMemcpyDtoHAsync(dst, (ptxiDevicePtr)src, bytes, stream);
    case COPY_DEVICE_TO_DEVICE:
        return ptxiMemcpyDtoDAsync((ptxiDevicePtr)dst, (ptxiDevicePtr)src, bytes, stream);
    case COPY_HOST_TO_HOST:
    case COPY_DEFAULT:
        return ptxiMemcpyAsync((ptxiDevicePtr)dst, (ptxiDevicePtr)src, bytes, stream);
    default:
        return ERROR_INVALID_COPY_DIRECTION;
    }
}

int ptxi_runtime_fill(void *dst, int value, size_t bytes, ptxiStream default_stream)
{
    if (default_stream == PTXI_STREAM_PER_THREAD)
        return finish_in(default_stream, ptxi_runtime_fill_async(dst, value, bytes, default_stream));
    return ptxiMemsetD8((ptxiDevicePtr)dst, (unsigned char)value, bytes);
}

int ptxi_runtime_fill_async(void *dst, int value, size_t bytes, ptxiStream stream)
{
    return ptxiMemsetD8Async((ptxiDevicePtr)dst, (unsigned char)value, bytes, stream);
}

/* Fills a box slice by slice if the slices are not adjacent, otherwise at once. */
int ptxi_runtime_fill2d_async(struct pitched_pointer dst, int value, struct extent extent, ptxiStream stream)
{
    ptxiDevicePtr slice = (ptxiDevicePtr)dst.ptr;
    size_t slice_bytes = dst.pitch * dst.ysize;
    int error = 0;

    if (extent.height > 1 && extent.width > dst.pitch)
        return PTXI_ERROR_INVALID_VALUE;
    if (extent.depth > 1 && extent.height > dst.ysize)
        return PTXI_ERROR_INVALID_VALUE;
    for (size_t z = 0; z < extent.depth && !error; z++, slice += slice_bytes)
        error = ptxiMemsetD2D8Async(slice, dst.pitch, (unsigned char)value, extent.width, extent.height, stream);
    return error;
}

int ptxi_runtime_fill2d(struct pitched_pointer dst, int value, struct extent extent, ptxiStream default_stream)
{
    return finish_in(default_stream, ptxi_runtime_fill2d_async(dst, value, extent, default_stream));
}

/* ---- variables */

static bool is_direction_valid(int kind, bool to_symbol)
{
    return kind == COPY_DEFAULT || kind == COPY_DEVICE_TO_DEVICE ||
           kind == (to_symbol ? COPY_HOST_TO_DEVICE : COPY_DEVICE_TO_HOST);
}

int ptxi_runtime_symbol_range(const void *symbol, size_t bytes, size_t offset, int kind, bool to_symbol,
                              ptxiDevicePtr *address)
{
    size_t size = 0;
    int error = ptxi_runtime_find_variable(symbol, address, &size);

    if (error)
        return error;
    if (!is_direction_valid(kind, to_symbol))
        return ERROR_INVALID_COPY_DIRECTION;
    if (!bytes)
        return 0;
    if (offset > size || bytes > size - offset)
        return PTXI_ERROR_INVALID_VALUE;
    *address += offset;
    return 0;
}

int ptxi_runtime_copy_to_symbol(const void *symbol, const void *src, size_t bytes, size_t offset, int kind,
                                ptxiStream default_stream)
{
    ptxiDevicePtr address;
    int error = ptxi_runtime_symbol_range(symbol, bytes, offset, kind, true, &address);

    return error ? error : ptxi_runtime_copy((void *)address, src, bytes, kind, default_stream);
}

int ptxi_runtime_copy_to_symbol_async(const void *symbol, const void *src, size_t bytes, size_t offset, int kind,
                                      ptxiStream stream)
{
    ptxiDevicePtr address;
    int error = ptxi_runtime_symbol_range(symbol, bytes, offset, kind, true, &address);

    return error ? error : ptxi_runtime_copy_async((void *)address, src, bytes, kind, stream);
}

int ptxi_runtime_copy_from_symbol(void *dst, const void *symbol, size_t bytes, size_t offset, int kind,
                                  ptxiStream default_stream)
{
    ptxiDevicePtr address;
    int error = ptxi_runtime_symbol_range(symbol, bytes, offset, kind, false, &address);

    return error ? error : ptxi_runtime_copy(dst, (const void *)address, bytes, kind, default_stream);
}

int ptxi_runtime_copy_from_symbol_async(void *dst, const void *symbol, size_t bytes, size_t offset, int kind,
                                        ptxiStream stream)
{
    ptxiDevicePtr address;
    int error = ptxi_runtime_symbol_range(symbol, bytes, offset, kind, false, &address);

    return error ? error : ptxi_runtime_copy_async(dst, (const void *)address, bytes, kind, stream);
}
