/* Copies of rectangles and boxes between memory and arrays. */
#include "runtime.h"

/* Kinds of memory at the two ends of a copy; ARRAY is decided by the operands. */
static int memory_types(int kind, ptxiMemoryType *dst, ptxiMemoryType *src)
{
    static const ptxiMemoryType types[][2] = {
        [COPY_HOST_TO_HOST] = { PTXI_MEMORYTYPE_HOST, PTXI_MEMORYTYPE_HOST },
        [COPY_HOST_TO_DEVICE] = { PTXI_MEMORYTYPE_DEVICE, PTXI_MEMORYTYPE_HOST },
        [COPY_DEVICE_TO_HOST] = { PTXI_MEMORYTYPE_HOST, PTXI_MEMORYTYPE_DEVICE },
        [COPY_DEVICE_TO_DEVICE] = { PTXI_MEMORYTYPE_DEVICE, PTXI_MEMORYTYPE_DEVICE },
        [COPY_DEFAULT] = { PTXI_MEMORYTYPE_UNIFIED, PTXI_MEMORYTYPE_UNIFIED },
    };

    if (kind < 0 || kind > COPY_DEFAULT)
        return ERROR_INVALID_COPY_DIRECTION;
    *dst = types[kind][0];
    *src = types[kind][1];
    return 0;
}

/* ---- two dimensions */

static void set_source(PTXI_MEMCPY2D *copy, struct rectangle end, ptxiMemoryType type)
{
    copy->srcXInBytes = end.x;
    copy->srcY = end.y;
    copy->srcMemoryType = end.is_array ? PTXI_MEMORYTYPE_ARRAY : type;
    copy->srcHost = end.ptr;
    copy->srcDevice = (ptxiDevicePtr)end.ptr;
    copy->srcArray = end.array;
    copy->srcPitch = end.pitch;
}

static void set_destination(PTXI_MEMCPY2D *copy, struct rectangle end, ptxiMemoryType type)
{
    copy->dstXInBytes = end.x;
    copy->dstY = end.y;
    copy->dstMemoryType = end.is_array ? PTXI_MEMORYTYPE_ARRAY : type;
    copy->dstHost = end.ptr;
    copy->dstDevice = (ptxiDevicePtr)end.ptr;
    copy->dstArray = end.array;
    copy->dstPitch = end.pitch;
}

/* True if a copy of this kind can have arrays at these ends. The host has no arrays. */
static bool is_kind_valid(struct rectangle dst, struct rectangle src, int kind)
{
    if (dst.is_array && (kind == COPY_DEVICE_TO_HOST || kind == COPY_HOST_TO_HOST))
        return false;
    return !src.is_array || (kind != COPY_HOST_TO_DEVICE && kind != COPY_HOST_TO_HOST);
}

static int describe_copy2d(PTXI_MEMCPY2D *copy, struct rectangle dst, struct rectangle src, size_t width,
                           size_t height, int kind)
{
    ptxiMemoryType dst_type = PTXI_MEMORYTYPE_UNIFIED, src_type = PTXI_MEMORYTYPE_UNIFIED;
    int error = memory_types(kind, &dst_type, &src_type);

    if (error)
        return error;
    if (src.is_array && !src.array)
        return PTXI_ERROR_INVALID_HANDLE;
    if (dst.is_array && !dst.array)
        return src.is_array ? PTXI_ERROR_INVALID_VALUE : PTXI_ERROR_INVALID_HANDLE;
    if (!is_kind_valid(dst, src, kind))
        return ERROR_INVALID_COPY_DIRECTION;
    /* Whatever else does not fit is an error of the driver. */
    if (height > 1 && ((!dst.is_array && dst.pitch < width) || (!src.is_array && src.pitch < width)))
        return ERROR_INVALID_PITCH;
    *copy = (PTXI_MEMCPY2D){ .WidthInBytes = width, .Height = height };
    set_source(copy, src, src_type);
    set_destination(copy, dst, dst_type);
    return 0;
}

int ptxi_runtime_copy2d_async(struct rectangle dst, struct rectangle src, size_t width, size_t height, int kind,
                              ptxiStream stream)
{
    PTXI_MEMCPY2D copy;
    int error = describe_copy2d(&copy, dst, src, width, height, kind);

    return error || !width || !height ? error : (int)ptxiMemcpy2DAsync(&copy, stream);
}

int ptxi_runtime_copy2d(struct rectangle dst, struct rectangle src, size_t width, size_t height, int kind,
                        ptxiStream default_stream)
{
    PTXI_MEMCPY2D copy;
    int error = describe_copy2d(&copy, dst, src, width, height, kind);

    if (error || !width || !height)
        return error;
    if (default_stream != PTXI_STREAM_PER_THREAD)
        return ptxiMemcpy2DUnaligned(&copy);
    error = ptxiMemcpy2DAsync(&copy, default_stream);
    return error ? error : (int)ptxiStreamSynchronize(default_stream);
}

/* ---- three dimensions */

/* Bytes of the unit in which x and width are given: a texel if an array takes part. */
static size_t unit_bytes(const struct copy3d_params *p)
{
    if (p->srcArray)
        return ptxi_runtime_texel_bytes(p->srcArray);
    return p->dstArray ? ptxi_runtime_texel_bytes(p->dstArray) : 1;
}

int ptxi_runtime_to_driver_copy(const struct copy3d_params *p, PTXI_MEMCPY3D *copy)
{
    ptxiMemoryType dst_type = PTXI_MEMORYTYPE_UNIFIED, src_type = PTXI_MEMORYTYPE_UNIFIED;
    size_t unit;
    int error;

    if (!p)
        return PTXI_ERROR_INVALID_VALUE;
    if (!p->extent.width || !p->extent.height || !p->extent.depth) {
        *copy = (PTXI_MEMCPY3D){ .WidthInBytes = 0 };
        return 0;
    }
    if ((!p->srcArray == !p->srcPtr.ptr) || (!p->dstArray == !p->dstPtr.ptr))
        return PTXI_ERROR_INVALID_VALUE;
    error = memory_types(p->kind, &dst_type, &src_type);
    unit = unit_bytes(p);
    if (error || !unit)
        return error ? error : (int)PTXI_ERROR_INVALID_HANDLE;
    /* The position in linear memory is in bytes, also if the other end is an array. */
    *copy = (PTXI_MEMCPY3D){
        .srcXInBytes = p->srcPos.x * (p->srcArray ? unit : 1),
        .srcY = p->srcPos.y,
        .srcZ = p->srcPos.z,
        .srcMemoryType = p->srcArray ? PTXI_MEMORYTYPE_ARRAY : src_type,
        .srcHost = p->srcPtr.ptr,
        .srcDevice = (ptxiDevicePtr)p->srcPtr.ptr,
        .srcArray = p->srcArray,
        .srcPitch = p->srcPtr.pitch,
        .srcHeight = p->srcPtr.ysize,
        .dstXInBytes = p->dstPos.x * (p->dstArray ? unit : 1),
        .dstY = p->dstPos.y,
        .dstZ = p->dstPos.z,
        .dstMemoryType = p->dstArray ? PTXI_MEMORYTYPE_ARRAY : dst_type,
        .dstHost = p->dstPtr.ptr,
        .dstDevice = (ptxiDevicePtr)p->dstPtr.ptr,
        .dstArray = p->dstArray,
        .dstPitch = p->dstPtr.pitch,
        .dstHeight = p->dstPtr.ysize,
        .WidthInBytes = p->extent.width * unit,
        .Height = p->extent.height,
        .Depth = p->extent.depth,
    };
    if ((!p->srcArray && p->srcPtr.pitch < copy->WidthInBytes) ||
        (!p->dstArray && p->dstPtr.pitch < copy->WidthInBytes))
        return PTXI_ERROR_INVALID_VALUE;
    return 0;
}

static bool is_host(ptxiMemoryType type)
{
    return type == PTXI_MEMORYTYPE_HOST;
}

static int copy_kind_of(const PTXI_MEMCPY3D *copy)
{
    if (copy->srcMemoryType == PTXI_MEMORYTYPE_UNIFIED || copy->dstMemoryType == PTXI_MEMORYTYPE_UNIFIED)
        return COPY_DEFAULT;
    if (is_host(copy->srcMemoryType))
        return is_host(copy->dstMemoryType) ? COPY_HOST_TO_HOST : COPY_HOST_TO_DEVICE;
    return is_host(copy->dstMemoryType) ? COPY_DEVICE_TO_HOST : COPY_DEVICE_TO_DEVICE;
}

static struct pitched_pointer pitched(ptxiMemoryType type, const void *host, ptxiDevicePtr device, size_t pitch,
                                      size_t height)
{
    if (type == PTXI_MEMORYTYPE_ARRAY)
        return (struct pitched_pointer){ .ptr = NULL };
    return (struct pitched_pointer){ is_host(type) ? (void *)(uintptr_t)host : (void *)device, pitch, pitch, height };
}

int ptxi_runtime_from_driver_copy(const PTXI_MEMCPY3D *copy, struct copy3d_params *p)
{
    size_t unit;

    *p = (struct copy3d_params){
        .srcArray = copy->srcMemoryType == PTXI_MEMORYTYPE_ARRAY ? copy->srcArray : NULL,
        .srcPtr = pitched(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcPitch, copy->srcHeight),
        .dstArray = copy->dstMemoryType == PTXI_MEMORYTYPE_ARRAY ? copy->dstArray : NULL,
        .dstPtr = pitched(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstPitch, copy->dstHeight),
        .kind = copy_kind_of(copy),
    };
    unit = unit_bytes(p);
    if (!unit)
        return PTXI_ERROR_INVALID_HANDLE;
    p->srcPos = (struct position){ copy->srcXInBytes / (p->srcArray ? unit : 1), copy->srcY, copy->srcZ };
    p->dstPos = (struct position){ copy->dstXInBytes / (p->dstArray ? unit : 1), copy->dstY, copy->dstZ };
    p->extent = (struct extent){ copy->WidthInBytes / unit, copy->Height, copy->Depth };
    return 0;
}

static bool is_empty(const PTXI_MEMCPY3D *copy)
{
    return !copy->WidthInBytes || !copy->Height || !copy->Depth;
}

int ptxi_runtime_copy3d_async(const struct copy3d_params *params, ptxiStream stream)
{
    PTXI_MEMCPY3D copy;
    int error = ptxi_runtime_to_driver_copy(params, &copy);

    return error || is_empty(&copy) ? error : (int)ptxiMemcpy3DAsync(&copy, stream);
}

int ptxi_runtime_copy3d(const struct copy3d_params *params, ptxiStream default_stream)
{
    PTXI_MEMCPY3D copy;
    int error = ptxi_runtime_to_driver_copy(params, &copy);

    if (error || is_empty(&copy))
        return error;
    if (default_stream != PTXI_STREAM_PER_THREAD)
        return ptxiMemcpy3D(&copy);
    error = ptxiMemcpy3DAsync(&copy, default_stream);
    return error ? error : (int)ptxiStreamSynchronize(default_stream);
}

/* ---- arrays that linear memory fills row by row */

static size_t array_row_bytes(ptxiArray array)
{
    PTXI_ARRAY3D_DESCRIPTOR d;

    return ptxiArray3DGetDescriptor(&d, array) ? 0 : d.Width * ptxi_runtime_texel_bytes(array);
}

/* Copies at most to the end of the row, and returns the number of bytes. */
static size_t bytes_of_row(size_t row_bytes, size_t x, size_t left)
{
    size_t rest = row_bytes - x;

    return rest < left ? rest : left;
}

int ptxi_runtime_copy_linear_array_async(ptxiArray array, size_t x, size_t y, const void *memory, size_t bytes,
                                         int kind, bool to_array, ptxiStream stream)
{
    const size_t row_bytes = array_row_bytes(array);
    const char *p = memory;
    int error = 0;

    if (kind < 0 || kind > COPY_DEFAULT)
        kind = COPY_DEFAULT; /* this function, which is deprecated, does not check it */
    if (!row_bytes || x >= row_bytes)
        return row_bytes ? PTXI_ERROR_INVALID_VALUE : PTXI_ERROR_INVALID_HANDLE;
    while (bytes && !error) {
        size_t n = bytes_of_row(row_bytes, x, bytes);
        struct rectangle linear = memory_rows(p, n), rows = array_rows(array, x, y);

        error = ptxi_runtime_copy2d_async(to_array ? rows : linear, to_array ? linear : rows, n, 1, kind, stream);
        p += n;
        bytes -= n;
        x = 0;
        y++;
    }
    return error;
}

int ptxi_runtime_copy_linear_array(ptxiArray array, size_t x, size_t y, const void *memory, size_t bytes, int kind,
                                   bool to_array, ptxiStream default_stream)
{
    int error = ptxi_runtime_copy_linear_array_async(array, x, y, memory, bytes, kind, to_array, default_stream);

    return error ? error : (int)ptxiStreamSynchronize(default_stream);
}

int ptxi_runtime_copy_array_to_array(ptxiArray dst, size_t dst_x, size_t dst_y, ptxiArray src, size_t src_x,
                                     size_t src_y, size_t bytes, int kind, ptxiStream default_stream)
{
    const size_t dst_row = array_row_bytes(dst), src_row = array_row_bytes(src);
    int error = 0;

    if (!dst_row || !src_row)
        return PTXI_ERROR_INVALID_HANDLE;
    if (dst_x >= dst_row || src_x >= src_row)
        return PTXI_ERROR_INVALID_VALUE;
    while (bytes && !error) {
        size_t n = bytes_of_row(src_row, src_x, bytes_of_row(dst_row, dst_x, bytes));

        error = ptxi_runtime_copy2d(array_rows(dst, dst_x, dst_y), array_rows(src, src_x, src_y), n, 1, kind,
                                    default_stream);
        bytes -= n;
        dst_x = (dst_x + n) % dst_row;
        dst_y += !dst_x;
        src_x = (src_x + n) % src_row;
        src_y += !src_x;
    }
    return error;
}
