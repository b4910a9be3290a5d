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
    struct ptxi_handle handle; /* a level's is a part of its mipmapped array's */
    ptxiContext ctx;
    PTXI_ARRAY3D_DESCRIPTOR desc;
    unsigned char *base;
    size_t texel;                        /* bytes of a texel, or of a block of texels */
    size_t row, pitch;                   /* bytes of a row, and from one row to the next */
    size_t slice, bytes;                 /* bytes of a slice or layer, and of the array */
    size_t rows, slices;                 /* number of rows in a slice, and of slices or layers */
    size_t unit;                         /* copies have a multiple of this number of bytes */
    struct ptxiMipmappedArray_st *owner; /* the mipmapped array that this is a level of, or NULL */
    struct ptxi_heap_block *block;       /* NULL: the memory belongs to the owner */
    struct ptxiArray_st *next;           /* in the context's list */
};

struct ptxiMipmappedArray_st {
    struct ptxi_handle handle;
    ptxiContext ctx;
    unsigned count; /* number of levels */
    struct ptxiArray_st levels[PTXI_ARRAY_LEVELS];
    struct ptxi_heap_block *block;      /* the memory of all levels */
    struct ptxiMipmappedArray_st *next; /* in the context's list */
};

/* The texels of a format. */
struct ptxi_array_format {
    uint8_t format;   /* PTXI_AD_FORMAT_... */
    uint8_t channels; /* 0: 1, 2 or 4 are valid */
    uint8_t bytes;    /* bytes of a channel, or of a block */
    uint8_t texel;    /* enum ptxi_texel: type of a channel when a texture reads it */
    uint8_t block;    /* enum ptxi_block */
    bool normalized;  /* integers are read as fractions, regardless of the texture's flags */
    bool srgb;
};
/* NULL if the format is invalid. */
const struct ptxi_array_format *ptxi_array_format(ptxiArrayFormat f);
/* Whether the format permits this number of channels. */
bool ptxi_array_channels_ok(const struct ptxi_array_format *f, unsigned channels);

/* Frees the arrays of a context that is being closed. The heap frees their memory. */
void ptxi_arrays_free_all(ptxiContext ctx);

#endif
