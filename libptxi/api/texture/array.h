/* CUDA arrays: texels in rows, one after the other without gaps. */
#ifndef PTXI_API_TEXTURE_ARRAY_H
#define PTXI_API_TEXTURE_ARRAY_H

#include "ptxi.h"

#include "api/handle/handle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTXI_ARRAY_LEVELS = 17 };

struct ptxiArray_st {
    struct ptxi_handle handle; /* of a level: a part of the mipmapped array's */
    ptxiContext ctx;
    PTXI_ARRAY3D_DESCRIPTOR desc;
    unsigned char *base;
    size_t texel, row, pitch, slice, bytes; /* of an element or a block, a row of them, from one row to the next, a slice or layer, and all */
    size_t rows, slices, unit;         /* copies are multiples of so many bytes */
    struct ptxiMipmappedArray_st *owner; /* whose level it is, or NULL */
    struct ptxi_heap_block *block;       /* NULL: its owner's */
    struct ptxiArray_st *next;           /* the context's list */
};

struct ptxiMipmappedArray_st {
    struct ptxi_handle handle;
    ptxiContext ctx;
    unsigned count;
    struct ptxiArray_st levels[PTXI_ARRAY_LEVELS];
    struct ptxi_heap_block *block;
    struct ptxiMipmappedArray_st *next;
};

/* What the texels of a format are. */
struct ptxi_array_format {
    uint8_t format;   /* PTXI_AD_FORMAT_... */
    uint8_t channels; /* 0: 1, 2 or 4 */
    uint8_t bytes;    /* of a channel, or of a block */
    uint8_t texel;    /* enum ptxi_texel: what textures find */
    uint8_t block;    /* enum ptxi_block */
    bool normalized;  /* integers are fractions, whatever a texture says */
    bool srgb;
};
/* NULL: there is no such format. */
const struct ptxi_array_format *ptxi_array_format(ptxiArrayFormat f);
bool ptxi_array_channels_ok(const struct ptxi_array_format *f, unsigned channels);

void ptxi_arrays_free_all(ptxiContext ctx); /* but for their memory, which is the heap's */

#endif
