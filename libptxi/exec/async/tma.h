/* Tensor maps, and the boxes of tensors that bulk copies move. PTX ISA, "Tensors", "Tensor-map". */
#ifndef PTXI_EXEC_ASYNC_TMA_H
#define PTXI_EXEC_ASYNC_TMA_H

#include <stdbool.h>
#include <stdint.h>

#define PTXI_TENSOR_MAGIC UINT64_C(0x70616d2d69787470)
#define PTXI_TENSOR_MOST 5
#define PTXI_TENSOR_ROW_COUNT 4
#define PTXI_TENSOR_COORDS (2 * PTXI_TENSOR_MOST - 2)
#define PTXI_TENSOR_PIXELS 1024
#define PTXI_TENSOR_W128_PIXELS 128
#define PTXI_TENSOR_W128_GROUP 32

enum ptxi_tensor_mode { PTXI_MAP_TILE, PTXI_MAP_IM2COL, PTXI_MAP_WIDE, PTXI_MAP_W128 };

/* What ptxiTensorMapEncodeTiled writes and tensormap.replace changes; programs see 128 opaque bytes. */
struct ptxi_tensor_map {
    uint64_t base;
    uint8_t rank, type;                    /* ptxiTensorMapDataType */
    uint8_t free;                          /* opaque or not, CUTLASS clears a bit here, of maps of small tensors that a driver has made */
    uint8_t bits;                          /* of an element */
    uint8_t swizzle, atom;                 /* .swizzle_mode and .swizzle_atomicity of tensormap.replace */
    uint8_t interleave;                    /* ptxiTensorMapInterleave: dimension 0 is of places of 16 or 32 bytes, and the last but one of slices, of which a box has one */
    uint8_t nan;                           /* what lies beyond the tensor is PTXI_OOB_NAN in every two bytes, not zero */
    uint64_t magic;
    uint64_t stride[PTXI_TENSOR_MOST - 1]; /* bytes; of dimensions 1 and up */
    uint32_t last[PTXI_TENSOR_MOST];       /* size - 1 */
    uint16_t box[PTXI_TENSOR_MOST];        /* elements */
    uint8_t step[PTXI_TENSOR_MOST];        /* of elements that are taken; of dimension 0, if interleaved */
    uint8_t rows;                          /* in a copy: the box is four rows of two dimensions, see below */
    uint8_t mode;                          /* enum ptxi_tensor_mode; but for tiles the box is `pixels` pixels of box[0] channels; lower and upper bound where they may begin */
    uint16_t pixels;
    uint16_t halo;                         /* in a copy: pixels after them, or of PTXI_MAP_W128 after each group */
    int16_t lower[PTXI_TENSOR_MOST - 2], upper[PTXI_TENSOR_MOST - 2]; /* from the first and from the last pixel, of dimensions 1 and up; if wide of dimension 1 */
};
_Static_assert(sizeof(struct ptxi_tensor_map) <= 128, "a tensor map has 128 bytes");

/* Bits of an element; 0: there is no such type. */
unsigned ptxi_tensor_bits(unsigned type);
/* What the PTX ISA asks of padded types, "Restriction on Tensor Copy instructions". */
bool ptxi_tensor_padded_fits(const struct ptxi_tensor_map *m);
/* Sets mode and atom from a ptxiTensorMapSwizzle. */
void ptxi_tensor_swizzle(struct ptxi_tensor_map *m, unsigned swizzle);
/* Bytes that a row of a box may have at most under its swizzle; 0: any number. */
unsigned ptxi_tensor_span(const struct ptxi_tensor_map *m);
/* Whether the fields go together: tensormap.replace may have left others. */
bool ptxi_tensor_usable(const struct ptxi_tensor_map *m);

/* What is wrong with the place of a box, or NULL: an H200 takes it for an illegal instruction. */
const char *ptxi_tensor_misplaced(const struct ptxi_tensor_map *m, const int32_t *corner, bool store);

/* Bytes of a box, those beyond the tensor included; and how many it takes in shared memory, where a swizzle leaves gaps behind short rows, and
 * elements may have padding, which no mbarrier counts. */
uint32_t ptxi_tensor_box_bytes(const struct ptxi_tensor_map *m);
uint32_t ptxi_tensor_box_room(const struct ptxi_tensor_map *m);

/* The corner of a box; of four rows (tile::gather4, tile::scatter4) the column, and then where each row is; of im2col the first channel,
 * pixel and image, and from PTXI_TENSOR_MOST on the offsets.
 * A row of a box, or of an interleaved one a place: `bytes` bytes at global address `at` are those from `from` on of row number `row`; the
 * others of the row, or with no bytes all of it, lie beyond the tensor. False ends the walk. */
typedef bool ptxi_tensor_row(void *ctx, uint32_t row, uint64_t at, uint32_t from, uint32_t bytes);
bool ptxi_tensor_walk(const struct ptxi_tensor_map *m, const int32_t *corner, ptxi_tensor_row *f, void *ctx);
/* The bytes [lo, hi) that a box reaches, all of it inside of the tensor; false: it may not be, or is no tile. */
bool ptxi_tensor_reach(const struct ptxi_tensor_map *m, const int32_t *corner, uint64_t *lo, uint64_t *hi);

/* Global to shared memory, zeros for what lies beyond; or back, where `reduce` may be an operation of atom, and whole 16 bytes are written
 * behind the end of a row, too, as far as `there` has memory. The box is at offset `place`, a multiple of 128, of a CTA's shared memory. */
void ptxi_tensor_load(const struct ptxi_tensor_map *m, const int32_t *corner, unsigned char *box, uint32_t place);
typedef bool ptxi_tensor_there(void *ctx, uint64_t at, uint32_t bytes);
void ptxi_tensor_store(const struct ptxi_tensor_map *m, const int32_t *corner, const unsigned char *box, uint32_t place, unsigned reduce, ptxi_tensor_there *there, void *ctx);

/* PTXI_OP_atom_... of a reduction, by its place in and, or, xor, add, inc, dec, min, max; 0: not for elements of this type. */
enum ptxi_tensor_reduction { PTXI_TENSOR_COPY, PTXI_TENSOR_AND, PTXI_TENSOR_OR, PTXI_TENSOR_XOR, PTXI_TENSOR_ADD, PTXI_TENSOR_INC, PTXI_TENSOR_DEC,
                             PTXI_TENSOR_MIN, PTXI_TENSOR_MAX, PTXI_TENSOR_REDUCTIONS };
unsigned ptxi_tensor_reduction(const struct ptxi_tensor_map *m, enum ptxi_tensor_reduction r);

#endif
