/* CUDA arrays: texels in rows, one after the other without gaps. */
#ifndef PTXI_API_ARRAY_H
#define PTXI_API_ARRAY_H

#include "ptxi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTXI_ARRAY_LEVELS = 17 };

struct ptxiArray_st {
    uint32_t magic;
    ptxiContext ctx;
    PTXI_ARRAY3D_DESCRIPTOR desc;
    unsigned char *base;
    size_t texel, pitch, slice, bytes; /* of an element, a row, a slice or layer, and all */
    size_t rows, slices;
    struct ptxiMipmappedArray_st *owner; /* whose level it is, or NULL */
    struct ptxi_heap_block *block;       /* NULL: its owner's */
    struct ptxiArray_st *next;           /* the context's list */
};

struct ptxiMipmappedArray_st {
    uint32_t magic;
    ptxiContext ctx;
    unsigned count;
    struct ptxiArray_st levels[PTXI_ARRAY_LEVELS];
    struct ptxi_heap_block *block;
    struct ptxiMipmappedArray_st *next;
};

bool ptxi_array_valid(const struct ptxiArray_st *a);
bool ptxi_mipmap_valid(const struct ptxiMipmappedArray_st *m);

/* Bytes of one channel; 0: no format. */
unsigned ptxi_array_channel_bytes(ptxiArrayFormat f);

#endif
