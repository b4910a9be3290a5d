/* Copies of boxes between tensors in global memory and shared memory, as the Tensor Memory Accelerator (TMA) makes
 * them. */
#ifndef PTXI_EXEC_ASYNC_TMA_H
#define PTXI_EXEC_ASYNC_TMA_H

#include "exec/async/tensor_map.h"

/* Coordinates of a box: one per dimension. With tile::gather4 and tile::scatter4: the column, then four rows. In
 * im2col modes: the first channel, pixel and image, and from PTXI_TENSOR_MAX_RANK on the offsets. */

/* Called for each row of a box, or each unit of an interleaved one. The `bytes` bytes at global address `at` are
 * those of row `row` from byte `from` on. The rest of the row, or all of it if `bytes` is 0, is outside the tensor.
 * False ends the walk. */
typedef bool ptxi_tma_visit(void *ctx, uint32_t row, uint64_t at, uint32_t from, uint32_t bytes);
/* Visits all rows of a box. False: a visit has returned false. */
bool ptxi_tma_walk(const struct ptxi_tensor_map *m, const int32_t *coords, ptxi_tma_visit *visit, void *ctx);
/* The address range [lo, hi) of a box that is entirely inside the tensor. False: it may not be, or the mode is not
 * tiled. */
bool ptxi_tma_extent(const struct ptxi_tensor_map *m, const int32_t *coords, uint64_t *lo, uint64_t *hi);

/* Copies a box from global memory to `box` in shared memory, and fills elements outside the tensor. `box_offset` is
 * the offset of the box in the CTA's shared memory, a multiple of 128. */
void ptxi_tma_load(const struct ptxi_tensor_map *m, const int32_t *coords, unsigned char *box, uint32_t box_offset);
/* Copies a box from shared to global memory, or applies a reduction (PTXI_OP_atom_...) if `reduce` is not 0. Whole
 * 16 bytes are written at the end of a row, even outside the tensor, if is_writable() is true for the additional
 * bytes. */
typedef bool ptxi_tma_is_writable(void *ctx, uint64_t at, uint32_t bytes);
void ptxi_tma_store(const struct ptxi_tensor_map *m, const int32_t *coords, const unsigned char *box,
                    uint32_t box_offset, unsigned reduce, ptxi_tma_is_writable *is_writable, void *ctx);

/* The same copies of the shadows that say which bits are undefined: `visit` gets or sets those of `bytes` bytes of
 * global memory. `box` is the shadow of the box. */
typedef void ptxi_tma_shadow(void *ctx, uint64_t at, uint32_t bytes, unsigned char *shadow);
void ptxi_tma_load_shadow(const struct ptxi_tensor_map *m, const int32_t *coords, unsigned char *box,
                          uint32_t box_offset, ptxi_tma_shadow *visit, void *ctx);
void ptxi_tma_store_shadow(const struct ptxi_tensor_map *m, const int32_t *coords, const unsigned char *box,
                           uint32_t box_offset, ptxi_tma_shadow *visit, void *ctx);

#endif
