/* Tensor maps. PTX ISA, "Tensors", "Tensor-map". A map describes a tensor in global memory and the box of it that
 * one copy moves. */
#ifndef PTXI_EXEC_ASYNC_TENSOR_MAP_H
#define PTXI_EXEC_ASYNC_TENSOR_MAP_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/bytecode.h"

#define PTXI_TENSOR_MAP_MAGIC UINT64_C(0x70616d2d69787470)

enum {
    PTXI_TENSOR_MAX_RANK = 5,
    PTXI_TENSOR_COORDS = 2 * PTXI_TENSOR_MAX_RANK - 2, /* coordinates, then im2col offsets */
    PTXI_TENSOR_ROW_COUNT = 4,                         /* of tile::gather4 and tile::scatter4 */
    PTXI_TENSOR_MAX_PIXELS = 1024,
    PTXI_TENSOR_W128_PIXELS = 128,
    PTXI_TENSOR_W128_GROUP = 32
};

/* PTX ISA, "Tiled mode", "im2col mode", "im2col::w and im2col::w::128 modes" */
enum ptxi_tma_mode { PTXI_TMA_TILE, PTXI_TMA_IM2COL, PTXI_TMA_IM2COL_W, PTXI_TMA_IM2COL_W128 };

/* The bit that tensormap.query reads is where NVIDIA's drivers have it. On sm_90 they do not set it. On sm_100 those
 * before CUDA 13.2 set it in all maps; CUTLASS and Triton clear it if the tensor has less than 128 KB, as newer drivers
 * do. */
enum { PTXI_TENSOR_LARGE = 1 << PTXI_TENSOR_LARGE_BIT % 8 };

/* Written by ptxiTensorMapEncode..., changed by tensormap.replace. Programs see 128 opaque bytes. */
struct ptxi_tensor_map {
    uint64_t base;
    uint8_t rank;
    uint8_t type;                        /* ptxiTensorMapDataType */
    uint8_t size_class;                  /* PTXI_TENSOR_LARGE or 0 */
    uint8_t bits;                        /* size of an element */
    uint8_t swizzle, atom;               /* .swizzle_mode and .swizzle_atomicity of tensormap.replace */
    uint8_t interleave;                  /* ptxiTensorMapInterleave: dimension 0 counts units of 16 or 32 bytes, the
                                          * last but one counts slices, and a box is in one slice */
    uint8_t nan;                         /* value outside the tensor: 0: zero, 1: PTXI_OOB_NAN in every two bytes */
    uint64_t magic;
    uint64_t stride[PTXI_TENSOR_MAX_RANK - 1]; /* bytes, of dimensions 1 and up */
    uint32_t last[PTXI_TENSOR_MAX_RANK]; /* size of the tensor - 1 */
    uint16_t box[PTXI_TENSOR_MAX_RANK];  /* size of the box in elements; im2col: box[0] channels of a pixel */
    uint8_t step[PTXI_TENSOR_MAX_RANK];  /* traversal stride; of dimension 0 only if interleaved */
    uint8_t rows;                        /* set for a copy: tile::gather4 or scatter4, four rows of two dimensions */
    uint8_t mode;                        /* enum ptxi_tma_mode */
    uint16_t pixels;                     /* im2col: number of pixels in a box */
    uint16_t halo;                       /* set for a copy: number of pixels after the box (im2col::w) or after each
                                          * group (im2col::w::128) */
    /* im2col: corners of the bounding box, relative to the first and the last pixel. Of dimensions 1 and up; im2col::w:
     * only of dimension 1 */
    int16_t lower[PTXI_TENSOR_MAX_RANK - 2], upper[PTXI_TENSOR_MAX_RANK - 2];
};
_Static_assert(sizeof(struct ptxi_tensor_map) <= 128, "a tensor map has 128 bytes");
_Static_assert(offsetof(struct ptxi_tensor_map, size_class) == PTXI_TENSOR_LARGE_BIT / 8,
               "the bit that tensormap.query reads");

/* As ptxiTensorMapDataType numbers them. The last three are padded in shared memory, except B4. B6 is .b6x16_p32 in
 * loads, and .b6p2x16 in stores. */
enum ptxi_tensor_type {
    PTXI_TENSOR_U8,
    PTXI_TENSOR_U16,
    PTXI_TENSOR_U32,
    PTXI_TENSOR_S32,
    PTXI_TENSOR_U64,
    PTXI_TENSOR_S64,
    PTXI_TENSOR_F16,
    PTXI_TENSOR_F32,
    PTXI_TENSOR_F64,
    PTXI_TENSOR_BF16,
    PTXI_TENSOR_F32_FTZ,
    PTXI_TENSOR_TF32,
    PTXI_TENSOR_TF32_FTZ,
    PTXI_TENSOR_B4,
    PTXI_TENSOR_B4_PADDED,
    PTXI_TENSOR_B6,
    PTXI_TENSOR_TYPES
};

/* Size of an element in bits; 0: there is no such type. */
unsigned ptxi_tensor_map_element_bits(unsigned type);
/* Whether the fields satisfy the rules for padded types. PTX ISA, "Restriction on Tensor Copy instructions". */
bool ptxi_tensor_map_padding_ok(const struct ptxi_tensor_map *m);
/* Sets `swizzle` and `atom` from a ptxiTensorMapSwizzle. */
void ptxi_tensor_map_set_swizzle(struct ptxi_tensor_map *m, unsigned swizzle);
/* Whether the fields are a valid combination. tensormap.replace may have made them invalid. */
bool ptxi_tensor_map_is_valid(const struct ptxi_tensor_map *m);
/* Checks the coordinates of a box. Returns NULL, or an error message; an H200 reports an illegal instruction. */
const char *ptxi_tensor_map_check_coords(const struct ptxi_tensor_map *m, const int32_t *coords, bool store);

/* Operations of cp.reduce.async.bulk.tensor. */
enum ptxi_tensor_reduction {
    PTXI_TENSOR_COPY,
    PTXI_TENSOR_AND,
    PTXI_TENSOR_OR,
    PTXI_TENSOR_XOR,
    PTXI_TENSOR_ADD,
    PTXI_TENSOR_INC,
    PTXI_TENSOR_DEC,
    PTXI_TENSOR_MIN,
    PTXI_TENSOR_MAX,
    PTXI_TENSOR_REDUCTIONS
};
/* PTXI_OP_atom_... of a reduction; 0: it is not defined for the element type. */
unsigned ptxi_tensor_map_reduction(const struct ptxi_tensor_map *m, enum ptxi_tensor_reduction r);

/* --- swizzling: PTX ISA, "Swizzling Modes" --- */

/* The position of a chunk within a line of 128 bytes is XORed with bits of its line number in shared memory. */
struct ptxi_swizzle {
    uint8_t mask;      /* bits of the line number that are used; 0: no swizzling */
    uint8_t shift;     /* logarithm of the size of a chunk */
    bool flip;         /* in odd lines the halves of each 16 bytes are exchanged, too */
    uint8_t row_bytes; /* maximum size of a row of the box; 0: unlimited */
};
const struct ptxi_swizzle *ptxi_tensor_map_swizzle(const struct ptxi_tensor_map *m);
/* Maximum size in bytes of a row of the box; 0: unlimited. */
unsigned ptxi_tensor_map_max_row_bytes(const struct ptxi_tensor_map *m);

/* --- sizes --- */

enum { PTXI_TENSOR_PADDED_ROW = 128 /* elements, and bytes in shared memory, of a row with padding */ };

/* Number of global memory bytes that a padded type has in 16 bytes of shared memory; 16: a type without padding. PTX
 * ISA, "Padding and alignment of the sub-byte types". */
static inline unsigned ptxi_tensor_map_chunk_bytes(const struct ptxi_tensor_map *m)
{
    switch (m->type) {
    case PTXI_TENSOR_B4_PADDED: return 8;
    case PTXI_TENSOR_B6: return 12;
    default: return 16;
    }
}

/* Bytes of elements in global memory. */
static inline int64_t ptxi_tensor_map_bytes(const struct ptxi_tensor_map *m, int64_t elements)
{
    return elements * m->bits / 8;
}

/* Bytes of a unit along dimension 0 of an interleaved tensor. */
static inline uint32_t ptxi_tensor_map_unit(const struct ptxi_tensor_map *m)
{
    return 16u * m->interleave;
}

/* Bytes of a row of the box in global memory. */
static inline uint32_t ptxi_tensor_map_row_bytes(const struct ptxi_tensor_map *m)
{
    return m->interleave ? ptxi_tensor_map_unit(m) : (uint32_t)ptxi_tensor_map_bytes(m, m->box[0]);
}

/* Bytes of a row of the box in shared memory, with the padding of its elements. */
static inline uint32_t ptxi_tensor_map_row_room(const struct ptxi_tensor_map *m)
{
    return ptxi_tensor_map_row_bytes(m) / ptxi_tensor_map_chunk_bytes(m) * 16;
}

/* Bytes from one row of the box to the next in shared memory. */
static inline uint32_t ptxi_tensor_map_row_pitch(const struct ptxi_tensor_map *m)
{
    unsigned max = ptxi_tensor_map_max_row_bytes(m);

    return max ? max : ptxi_tensor_map_row_room(m);
}

/* The lowest dimension that is not contained in a row. */
static inline unsigned ptxi_tensor_map_outer_dimension(const struct ptxi_tensor_map *m)
{
    return !m->interleave;
}

/* Number of positions of a box along a dimension. */
static inline uint32_t ptxi_tensor_map_box_size(const struct ptxi_tensor_map *m, unsigned dimension)
{
    assert(dimension < m->rank);
    if (m->rows)
        return PTXI_TENSOR_ROW_COUNT;
    if (m->interleave && dimension + 2 == m->rank)
        return 1;
    return (m->box[dimension] + m->step[dimension] - 1u) / m->step[dimension];
}

/* Bytes of a box, including those outside the tensor. An mbarrier counts them. */
uint32_t ptxi_tensor_map_box_bytes(const struct ptxi_tensor_map *m);
/* Bytes of a box in shared memory, including the padding of elements and the gaps after short swizzled rows. */
uint32_t ptxi_tensor_map_box_room(const struct ptxi_tensor_map *m);

#endif
