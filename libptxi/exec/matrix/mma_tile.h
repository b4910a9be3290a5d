/* The way between registers and the tiles of num/dot_tile.h. */
#ifndef PTXI_EXEC_MATRIX_MMA_TILE_H
#define PTXI_EXEC_MATRIX_MMA_TILE_H

#include <string.h>

#include "exec/arith/f16_view.h"
#include "exec/arith/transpose.h"
#include "num/dot_tile.h"

/* Registers that hold 8 columns of C or D, and back: r[column * 16 + row]. The first half of the registers has the upper eight rows; those of
 * 32-bit elements have every other column. */
static inline uint32_t *ptxi_tile_register(const struct ptxi_warp *w, uint16_t slot, unsigned first)
{
    return (uint32_t *)PTXI_SLOT(w, slot) + first;
}

/* Here and there, r is aligned to 64 bytes. */
static inline void ptxi_tile_read(const struct ptxi_warp *w, const uint16_t *slots, unsigned count, bool f16, unsigned first, uint32_t *r)
{
    wide16 columns[8];

    if (f16) {
        const uint32_t *upper = ptxi_tile_register(w, slots[0], first), *lower = count > 1 ? ptxi_tile_register(w, slots[1], first) : upper;

        columns_16(columns, (const row16 *)upper, (const row16 *)lower);
        for (unsigned n = 0; n < PTXI_TILE_N; n++)
            for (unsigned m = 0; m < PTXI_TILE_M; m++)
                r[n * PTXI_TILE_M + m] = columns[n][m];
        return;
    }
    for (unsigned k = 0; k < 2; k++)
        if (count > 2)
            columns_32x2(r + k * PTXI_TILE_M, 2 * PTXI_TILE_M, ptxi_tile_register(w, slots[k], first), ptxi_tile_register(w, slots[k + 2], first));
        else
            columns_32(r + k * PTXI_TILE_M, 2 * PTXI_TILE_M, ptxi_tile_register(w, slots[k], first));
}

/* Registers without a slot are not wanted. */
static inline void ptxi_tile_write(const struct ptxi_warp *w, const uint16_t *slots, unsigned count, bool f16, unsigned first, const uint32_t *r)
{
    _Alignas(64) uint32_t unwanted[32];
    uint32_t *to[4];
    wide16 columns[8];

    for (unsigned k = 0; k < 4; k++)
        to[k] = k >= count || slots[k] == PTXI_NO_SLOT ? unwanted : ptxi_tile_register(w, slots[k], first);
    if (f16) {
        for (unsigned n = 0; n < PTXI_TILE_N; n++)
            for (unsigned m = 0; m < PTXI_TILE_M; m++)
                columns[n][m] = (uint16_t)r[n * PTXI_TILE_M + m];
        rows_16((row16 *)to[0], (row16 *)to[1], columns);
        return;
    }
    for (unsigned k = 0; k < 2; k++)
        if (count > 2)
            rows_32x2(to[k], to[k + 2], r + k * PTXI_TILE_M, 2 * PTXI_TILE_M);
        else
            rows_32(to[k], r + k * PTXI_TILE_M, 2 * PTXI_TILE_M);
}

/* PTX ISA, "Matrix Fragments for mma.m16n8k32": where in a container of `bits` bits the code of a float is. */
static inline uint32_t ptxi_tile_code(enum ptxi_dot_type t, unsigned bits, uint32_t x)
{
    switch (t) {
    case PTXI_DOT_tf32: return x >> 13;
    case PTXI_DOT_e2m1: return bits == 8 ? x >> 2 & 15 : x;
    case PTXI_DOT_e3m2: case PTXI_DOT_e2m3: return x & 63;
    default: return x;
    }
}

/* PTX ISA, "Optional Decompression": 16 elements of 4 or 6 bits, then padding, become such containers. */
static inline void ptxi_tile_decompress(unsigned char *unit, unsigned bits)
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

/* n words of 16 bits, or of bytes in containers, as floats; in place of bytes their codes. `as_halves`: those of the f16 that they are equal to. */
static inline __attribute__((always_inline)) void ptxi_tile_widen(enum ptxi_dot_type type, bool as_halves, uint16_t *word, float *value, unsigned n)
{
    _Alignas(64) uint16_t half[HALF_BLOCK];

    for (unsigned i = 0; i < n; i += HALF_BLOCK) {
        uint16_t *c = word + i;

        switch (type) {
        case PTXI_DOT_f16: widen_f16(value + i, c); break;
        case PTXI_DOT_bf16: widen_bf16(value + i, c); break;
#define BYTE(name)                                                                         \
        case PTXI_DOT_##name:                                                              \
            FOR_BLOCK c[l] = (uint16_t)ptxi_tile_code(PTXI_DOT_##name, 8, c[l]);           \
            FOR_BLOCK half[l] = ptxi_num_f16_from_small(ptxi_num_##name, c[l]);            \
            widen_f16(value + i, half);                                                    \
            if (as_halves)                                                                 \
                memcpy(c, half, sizeof half);                                              \
            break;
        BYTE(e4m3) BYTE(e5m2) BYTE(e3m2) BYTE(e2m3) BYTE(e2m1)
#undef BYTE
        default: break;
        }
    }
}

/* Words as above, those of tf32 as codes of bf16, have been widened: their exponents. */
static inline __attribute__((always_inline)) struct ptxi_tile_range ptxi_tile_range(enum ptxi_dot_type type, bool as_halves, const uint16_t *code, uint8_t *below,
                                                                                    unsigned rows, unsigned stride, unsigned n)
{
    if (type == PTXI_DOT_f16 || as_halves)
        return ptxi_tile_exponents(ptxi_num_f16, code, below, rows, stride, n);
    if (type == PTXI_DOT_bf16 || type == PTXI_DOT_tf32)
        return ptxi_tile_exponents(ptxi_num_bf16, code, below, rows, stride, n);
    return ptxi_tile_exponents(ptxi_dot_formats[type], code, below, rows, stride, n);
}

#endif
