/* Arrays, and the formats of their texels. */
#include "runtime.h"

/* Formats of the runtime that include the number of channels: kind, format of the driver, channels, bits of each
 * channel that the descriptor shows. */
static const struct packed_format {
    int kind;
    ptxiArrayFormat format;
    unsigned channels;
    int bits;
} packed_formats[] = {
    { 5, PTXI_AD_FORMAT_UNORM_INT8X1, 1, 8 },
    { 6, PTXI_AD_FORMAT_UNORM_INT8X2, 2, 8 },
    { 7, PTXI_AD_FORMAT_UNORM_INT8X4, 4, 8 },
    { 8, PTXI_AD_FORMAT_UNORM_INT16X1, 1, 16 },
    { 9, PTXI_AD_FORMAT_UNORM_INT16X2, 2, 16 },
    { 10, PTXI_AD_FORMAT_UNORM_INT16X4, 4, 16 },
    { 11, PTXI_AD_FORMAT_SNORM_INT8X1, 1, 8 },
    { 12, PTXI_AD_FORMAT_SNORM_INT8X2, 2, 8 },
    { 13, PTXI_AD_FORMAT_SNORM_INT8X4, 4, 8 },
    { 14, PTXI_AD_FORMAT_SNORM_INT16X1, 1, 16 },
    { 15, PTXI_AD_FORMAT_SNORM_INT16X2, 2, 16 },
    { 16, PTXI_AD_FORMAT_SNORM_INT16X4, 4, 16 },
    { 17, PTXI_AD_FORMAT_BC1_UNORM, 4, 8 },
    { 18, PTXI_AD_FORMAT_BC1_UNORM_SRGB, 4, 8 },
    { 19, PTXI_AD_FORMAT_BC2_UNORM, 4, 8 },
    { 20, PTXI_AD_FORMAT_BC2_UNORM_SRGB, 4, 8 },
    { 21, PTXI_AD_FORMAT_BC3_UNORM, 4, 8 },
    { 22, PTXI_AD_FORMAT_BC3_UNORM_SRGB, 4, 8 },
    { 23, PTXI_AD_FORMAT_BC4_UNORM, 1, 8 },
    { 24, PTXI_AD_FORMAT_BC4_SNORM, 1, 8 },
    { 25, PTXI_AD_FORMAT_BC5_UNORM, 2, 8 },
    { 26, PTXI_AD_FORMAT_BC5_SNORM, 2, 8 },
    { 27, PTXI_AD_FORMAT_BC6H_UF16, 3, 16 },
    { 28, PTXI_AD_FORMAT_BC6H_SF16, 3, 16 },
    { 29, PTXI_AD_FORMAT_BC7_UNORM, 4, 8 },
    { 30, PTXI_AD_FORMAT_BC7_UNORM_SRGB, 4, 8 },
    { 31, PTXI_AD_FORMAT_UNORM_INT_101010_2, 4, 10 },
};

/* Formats of one channel. */
static const struct plain_format {
    int kind, bits;
    ptxiArrayFormat format;
} plain_formats[] = {
    { CHANNEL_SIGNED, 8, PTXI_AD_FORMAT_SIGNED_INT8 },
    { CHANNEL_SIGNED, 16, PTXI_AD_FORMAT_SIGNED_INT16 },
    { CHANNEL_SIGNED, 32, PTXI_AD_FORMAT_SIGNED_INT32 },
    { CHANNEL_UNSIGNED, 8, PTXI_AD_FORMAT_UNSIGNED_INT8 },
    { CHANNEL_UNSIGNED, 16, PTXI_AD_FORMAT_UNSIGNED_INT16 },
    { CHANNEL_UNSIGNED, 32, PTXI_AD_FORMAT_UNSIGNED_INT32 },
    { CHANNEL_FLOAT, 16, PTXI_AD_FORMAT_HALF },
    { CHANNEL_FLOAT, 32, PTXI_AD_FORMAT_FLOAT },
};

enum { PLAIN_COUNT = sizeof plain_formats / sizeof *plain_formats,
       PACKED_COUNT = sizeof packed_formats / sizeof *packed_formats };

PTXI_API struct channel_format cudaCreateChannelDesc(int x, int y, int z, int w, int kind);
PTXI_API struct channel_format cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
    return (struct channel_format){ x, y, z, w, kind };
}

/* Number of channels if they are the first ones and have the same width, otherwise 0. */
static unsigned count_channels(const struct channel_format *f)
{
    const int bits[] = { f->x, f->y, f->z, f->w };
    unsigned n = 0;

    while (n < 4 && bits[n])
        n++;
    for (unsigned i = 0; i < 4; i++)
        if (bits[i] != (i < n ? f->x : 0))
            return 0;
    return n;
}

int ptxi_runtime_to_driver_format(const struct channel_format *format, ptxiArrayFormat *driver, unsigned *channels)
{
    if (!format)
        return PTXI_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < PACKED_COUNT; i++)
        if (packed_formats[i].kind == format->f) {
            *driver = packed_formats[i].format;
            *channels = packed_formats[i].channels;
            return 0;
        }
    *channels = count_channels(format);
    if (!*channels || *channels == 3)
        return ERROR_INVALID_CHANNEL_DESCRIPTOR;
    for (unsigned i = 0; i < PLAIN_COUNT; i++)
        if (plain_formats[i].kind == format->f && plain_formats[i].bits == format->x) {
            *driver = plain_formats[i].format;
            return 0;
        }
    return ERROR_INVALID_CHANNEL_DESCRIPTOR;
}

static struct channel_format make_format(int bits, unsigned channels, int kind)
{
    return (struct channel_format){ bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0,
                                    kind };
}

int ptxi_runtime_from_driver_format(ptxiArrayFormat driver, unsigned channels, struct channel_format *format)
{
    for (unsigned i = 0; i < PACKED_COUNT; i++)
        if (packed_formats[i].format == driver) {
            *format = make_format(packed_formats[i].bits, channels, packed_formats[i].kind);
            return 0;
        }
    for (unsigned i = 0; i < PLAIN_COUNT; i++)
        if (plain_formats[i].format == driver) {
            *format = make_format(plain_formats[i].bits, channels, plain_formats[i].kind);
            return 0;
        }
    return ERROR_INVALID_CHANNEL_DESCRIPTOR;
}

size_t ptxi_runtime_texel_bytes(ptxiArray array)
{
    struct channel_format f;

    if (ptxi_runtime_get_array_info(&f, NULL, NULL, array))
        return 0;
    return (size_t)(f.x + f.y + f.z + f.w + 7) / 8;
}

static int describe_array(PTXI_ARRAY3D_DESCRIPTOR *d, const struct channel_format *format, struct extent extent,
                          unsigned flags)
{
    *d = (PTXI_ARRAY3D_DESCRIPTOR){ .Width = extent.width, .Height = extent.height, .Depth = extent.depth,
                                    .Flags = flags };
    return ptxi_runtime_to_driver_format(format, &d->Format, &d->NumChannels);
}

int ptxi_runtime_create_array(ptxiArray *array, const struct channel_format *format, struct extent extent,
                              unsigned flags)
{
    PTXI_ARRAY3D_DESCRIPTOR d;
    int error;

    if (!array)
        return PTXI_ERROR_INVALID_VALUE;
    error = describe_array(&d, format, extent, flags);
    return error ? error : (int)ptxiArray3DCreate(array, &d);
}

int ptxi_runtime_create_mipmapped_array(ptxiMipmappedArray *array, const struct channel_format *format,
                                        struct extent extent, unsigned levels, unsigned flags)
{
    PTXI_ARRAY3D_DESCRIPTOR d;
    int error;

    if (!array)
        return PTXI_ERROR_INVALID_VALUE;
    error = describe_array(&d, format, extent, flags);
    return error ? error : (int)ptxiMipmappedArrayCreate(array, &d, levels);
}

int ptxi_runtime_free_array(ptxiArray array)
{
    return array ? (int)ptxiArrayDestroy(array) : 0;
}

int ptxi_runtime_free_mipmapped_array(ptxiMipmappedArray array)
{
    return array ? (int)ptxiMipmappedArrayDestroy(array) : 0;
}

int ptxi_runtime_get_array_info(struct channel_format *format, struct extent *extent, unsigned *flags, ptxiArray array)
{
    PTXI_ARRAY3D_DESCRIPTOR d;
    int error = ptxiArray3DGetDescriptor(&d, array);

    if (flags)
        *flags = error ? 0 : d.Flags;
    if (error)
        return error;
    if (format)
        error = ptxi_runtime_from_driver_format(d.Format, d.NumChannels, format);
    if (extent)
        *extent = (struct extent){ d.Width, d.Height, d.Depth };
    return error;
}

int ptxi_runtime_get_channel_format(struct channel_format *format, ptxiArray array)
{
    return format ? ptxi_runtime_get_array_info(format, NULL, NULL, array) : (int)PTXI_ERROR_INVALID_VALUE;
}
