/* Conversions between registers and the tiles of num/dot_tile_inl.h. */
#ifndef PTXI_EXEC_MATRIX_MMA_TILE_H
#define PTXI_EXEC_MATRIX_MMA_TILE_H

#include <string.h>

#include "exec/arith/f16_view.h"
#include "exec/matrix/transpose_inl.h"
#include "num/dot_tile_inl.h"

/* A register, from the first lane of a warp of 32 on. */
static inline uint32_t *ptxi_mma_register(const struct ptxi_warp *w, uint16_t slot, unsigned first)
{
    return (uint32_t *)PTXI_SLOT(w, slot) + first;
}

/* Reads 8 columns of C from registers to c[column * 16 + row], which must be aligned to 64 bytes. The first half of
 * the registers holds the upper eight rows. Registers of 32-bit elements hold every second column. */
static inline void ptxi_mma_read_c(const struct ptxi_warp *w, const uint16_t *slots, unsigned count, bool f16,
                                   unsigned first, uint32_t *c)
{
    wide16 columns[8];

    if (f16) {
        const uint32_t *upper = ptxi_mma_register(w, slots[0], first);
        const uint32_t *lower = count > 1 ? ptxi_mma_register(w, slots[1], first) : upper;

        columns_16(columns, (const row16 *)upper, (const row16 *)lower);
        for (unsigned n = 0; n < PTXI_TILE_N; n++)
            for (unsigned m = 0; m < PTXI_TILE_M; m++)
                c[n * PTXI_TILE_M + m] = columns[n][m];
        return;
    }
    for (unsigned k = 0; k < 2; k++)
        if (count > 2)
            columns_32x2(c + k * PTXI_TILE_M, 2 * PTXI_TILE_M, ptxi_mma_register(w, slots[k], first),
                         ptxi_mma_register(w, slots[k + 2], first));
        else
            columns_32(c + k * PTXI_TILE_M, 2 * PTXI_TILE_M, ptxi_mma_register(w, slots[k], first));
}

/* Writes 8 columns of D to registers, from d[column * 16 + row], likewise. Registers without a slot are skipped. */
static inline void ptxi_mma_write_d(const struct ptxi_warp *w, const uint16_t *slots, unsigned count, bool f16,
                                    unsigned first, const uint32_t *d)
{
    _Alignas(64) uint32_t discarded[32];
    uint32_t *to[4];
    wide16 columns[8];

    for (unsigned k = 0; k < 4; k++)
        to[k] = k >= count || slots[k] == PTXI_NO_SLOT ? discarded : ptxi_mma_register(w, slots[k], first);
    if (f16) {
        for (unsigned n = 0; n < PTXI_TILE_N; n++)
            for (unsigned m = 0; m < PTXI_TILE_M; m++)
                columns[n][m] = (uint16_t)d[n * PTXI_TILE_M + m];
        rows_16((row16 *)to[0], (row16 *)to[1], columns);
        return;
    }
    for (unsigned k = 0; k < 2; k++)
        if (count > 2)
            rows_32x2(to[k], to[k + 2], d + k * PTXI_TILE_M, 2 * PTXI_TILE_M);
        else
            rows_32(to[k], d + k * PTXI_TILE_M, 2 * PTXI_TILE_M);
}

/* Extracts the code of a float from a container of `bits` bits. PTX ISA, "Matrix Fragments for mma.m16n8k32". */
static inline uint32_t ptxi_mma_element_code(enum ptxi_dot_type t, unsigned bits, uint32_t x)
{
    switch (t) {
    case PTXI_DOT_tf32: return x >> 13;
    case PTXI_DOT_e2m1: return bits == 8 ? x >> 2 & 15 : x;
    case PTXI_DOT_e3m2: case PTXI_DOT_e2m3: return x & 63;
    default: return x;
    }
}

/* Converts a unit of 16 elements of 4 or 6 bits, followed by padding, to 8-bit containers. PTX ISA, "Optional
 * Decompression". */
static inline void ptxi_mma_decompress(unsigned char *unit, unsigned bits)
{
    uint64_t low, high;

    memcpy(&low, unit, sizeof low);
    memcpy(&high, unit + sizeof low, sizeof high);
    for (unsigned k = 0; k < 16; k++) {
        unit[k] = (unsigned char)((low & ((1u << bits) - 1)) << (bits == 4 ? 2 : 0));
        low = low >> bits | high << (64 - bits);
        high >>= bits;
    }
}

/* Converts a block of bytes that contain floats of format f. */
static inline __attribute__((always_inline)) void ptxi_mma_widen_bytes(enum ptxi_dot_type type,
                                                                       struct ptxi_num_minifloat f, bool as_f16,
                                                                       uint16_t *word, float *value)
{
    _Alignas(64) uint16_t half[HALF_BLOCK];

    FOR_BLOCK word[l] = (uint16_t)ptxi_mma_element_code(type, 8, word[l]);
    FOR_BLOCK half[l] = ptxi_num_f16_from_minifloat(f, word[l]);
    widen_f16(value, half);
    if (as_f16)
        memcpy(word, half, sizeof half);
}

/* Converts n words to f32. The words are 16-bit floats, or bytes that contain narrower ones. Bytes are replaced by
 * their codes, or by the codes of the equal f16 if `as_f16`. */
static inline __attribute__((always_inline)) void ptxi_mma_widen(enum ptxi_dot_type type, bool as_f16, uint16_t *word,
                                                                 float *value, unsigned n)
{
    for (unsigned i = 0; i < n; i += HALF_BLOCK) {
        uint16_t *w = word + i;
        float *v = value + i;

        switch (type) {
        case PTXI_DOT_f16: widen_f16(v, w); break;
        case PTXI_DOT_bf16: widen_bf16(v, w); break;
        case PTXI_DOT_e4m3: ptxi_mma_widen_bytes(PTXI_DOT_e4m3, ptxi_num_e4m3, as_f16, w, v); break;
        case PTXI_DOT_e5m2: ptxi_mma_widen_bytes(PTXI_DOT_e5m2, ptxi_num_e5m2, as_f16, w, v); break;
        case PTXI_DOT_e3m2: ptxi_mma_widen_bytes(PTXI_DOT_e3m2, ptxi_num_e3m2, as_f16, w, v); break;
        case PTXI_DOT_e2m3: ptxi_mma_widen_bytes(PTXI_DOT_e2m3, ptxi_num_e2m3, as_f16, w, v); break;
        case PTXI_DOT_e2m1: ptxi_mma_widen_bytes(PTXI_DOT_e2m1, ptxi_num_e2m1, as_f16, w, v); break;
        default: break;
        }
    }
}

/* Finds the exponents of the codes that ptxi_mma_widen() has left. Codes of tf32 are given as bf16. */
static inline __attribute__((always_inline)) struct ptxi_tile_range ptxi_mma_exponent_range(
    enum ptxi_dot_type type, bool as_f16, const uint16_t *code, uint8_t *below, unsigned rows, unsigned stride,
    unsigned n)
{
    if (type == PTXI_DOT_f16 || as_f16)
        return ptxi_tile_exponents(ptxi_num_f16, code, below, rows, stride, n);
    if (type == PTXI_DOT_bf16 || type == PTXI_DOT_tf32)
        return ptxi_tile_exponents(ptxi_num_bf16, code, below, rows, stride, n);
    return ptxi_tile_exponents(ptxi_dot_formats[type], code, below, rows, stride, n);
}

#endif
