/* Operands of the asynchronous matrix instructions (wgmma, tcgen05.mma): how shared memory holds them, and how they
 * become the tiles of num/dot_tile_inl.h.
 * An operand is read as K vectors. A K vector is a row of A or a column of B: the elements that one element of the
 * product multiplies. */
#ifndef PTXI_EXEC_MATRIX_SHARED_MATRIX_H
#define PTXI_EXEC_MATRIX_SHARED_MATRIX_H

#include <assert.h>

#include "exec/matrix/dot_s8.h"
#include "exec/matrix/mma_tile.h"
#include "exec/memory/access.h"
#include "isa/fragment.h"

enum {
    MMA_ROWS = PTXI_TILE_M,  /* rows of A that are multiplied at a time */
    UNIT_BYTES = 16,         /* size of a unit, the bytes that no layout separates */
    KVEC_BYTES = 64,         /* maximum size of a K vector */
    KVEC_MAX_K = KVEC_BYTES  /* maximum number of its elements, if they are wider than 4 bits */
};

/* --- shared memory: PTX ISA, "Matrix Descriptor Format", "Shared memory descriptor" --- */

struct shared_matrix {
    const unsigned char *memory; /* of the CTA */
    uint32_t start;              /* start address */
    uint32_t leading, stride;    /* leading and stride dimension byte offsets */
    uint32_t base_offset;
    unsigned swizzle_bytes;      /* size of a row of the swizzling pattern; UNIT_BYTES: no swizzling */
    unsigned swizzle_rows;       /* number of rows of the pattern */
    unsigned atom_bytes;         /* size of the parts that swizzling exchanges */
    bool mn_major;               /* M or N major; else K major */
    unsigned packed_bits;        /* size of elements of which a unit holds 16, then padding; 0: no padding */
    bool absolute_leading;       /* `leading` is the address at which the data continues after a row of the pattern */
};

/* The offset of unit `unit` of row `row`. Rows are K vectors, or in an MN major matrix the vectors across them. PTX
 * ISA, "Canonical Layouts": the rows of one pattern, then those of the next pattern. */
static inline uint32_t shared_matrix_offset(const struct shared_matrix *x, unsigned row, unsigned unit)
{
    unsigned units = x->swizzle_bytes / UNIT_BYTES;
    uint32_t at = x->start + row % x->swizzle_rows * x->swizzle_bytes + unit % units * UNIT_BYTES;

    if (x->absolute_leading && x->start % x->swizzle_bytes / UNIT_BYTES + unit >= units)
        at += x->leading - x->start - x->swizzle_bytes + x->start % x->swizzle_bytes;
    else if (units == 1 && x->mn_major)
        at += unit * x->stride + row / x->swizzle_rows * x->leading;
    else
        at += unit / units * x->leading;
    if (units > 1 || !x->mn_major)
        at += row / x->swizzle_rows * x->stride;
    if (units > 1)
        at ^= (((at >> 7) - x->base_offset) & (x->swizzle_bytes / x->atom_bytes - 1)) * x->atom_bytes;
    return at & 0x3ffff;
}

static inline bool shared_matrix_read_unit(struct ptxi_warp *w, const struct ptxi_insn *i,
                                           const struct shared_matrix *x, uint32_t at, unsigned char *to)
{
    const unsigned char *p = x->memory + at;

    if (at + UNIT_BYTES > w->shared_size && !(p = ptxi_access_at(w, i, ptxi_first_lane(w->active), PTXI_MS_SHARED, at,
                                                              UNIT_BYTES, UNIT_BYTES, PTXI_AK_LOAD)))
        return false;
    memcpy(to, p, UNIT_BYTES);
    if (x->packed_bits)
        ptxi_mma_decompress(to, x->packed_bits);
    return true;
}

/* Reads `count` K vectors from number `from` on. Each has `bytes` bytes, and elements of `size` bytes. False: a
 * fault. */
static inline bool shared_matrix_read(struct ptxi_warp *w, const struct ptxi_insn *i, const struct shared_matrix *x,
                                      unsigned from, unsigned count, unsigned bytes, unsigned size,
                                      unsigned char (*kvec)[KVEC_BYTES])
{
    unsigned char unit[UNIT_BYTES];
    unsigned per_unit = UNIT_BYTES / size;

    assert(bytes <= KVEC_BYTES);
    for (unsigned l = 0; l < count && !x->mn_major; l++)
        for (unsigned u = 0; u < bytes / UNIT_BYTES; u++)
            if (!shared_matrix_read_unit(w, i, x, shared_matrix_offset(x, from + l, u), kvec[l] + u * UNIT_BYTES))
                return false;
    for (unsigned k = 0; k < bytes / size && x->mn_major; k++)
        for (unsigned u = 0; u < count / per_unit; u++) {
            if (!shared_matrix_read_unit(w, i, x, shared_matrix_offset(x, k, from / per_unit + u), unit))
                return false;
            for (unsigned e = 0; e < per_unit; e++)
                memcpy(kvec[u * per_unit + e] + size * k, unit + size * e, size);
        }
    return true;
}

/* --- elements --- */

struct operand_format {
    unsigned k;      /* columns of A, including those that a sparse A does not store */
    unsigned bits;   /* size of an element in its container */
    uint16_t a, b;   /* floats: enum ptxi_dot_type; integers: whether they are signed */
    bool sparse;     /* A */
};

/* Number of stored elements in a row of A. */
static inline unsigned stored_k(const struct operand_format *f)
{
    return f->sparse ? f->k / 2 : f->k;
}

/* Changes the sign of all floats. `sign` is the sign bit of an element. */
static inline void kvec_negate(unsigned bits, unsigned sign, unsigned char (*kvec)[KVEC_BYTES], unsigned count)
{
    uint32_t signs = sign, word;

    for (unsigned width = bits; width < 32; width *= 2)
        signs |= signs << width;
    for (unsigned char *at = *kvec, *end = *(kvec + count); at < end; at += sizeof word) {
        memcpy(&word, at, sizeof word);
        word ^= signs;
        memcpy(at, &word, sizeof word);
    }
}

/* Extracts elements as ptxi_dot() takes them. */
static inline void kvec_codes(uint16_t type, unsigned bits, const unsigned char *kvec, unsigned count, uint32_t *code)
{
    for (unsigned k = 0; k < count; k++) {
        uint32_t word = 0;

        memcpy(&word, kvec + k * bits / 8, bits < 8 ? 1 : bits / 8);
        if (bits < 8)
            word = word >> k * bits % 8 & ((1u << bits) - 1);
        code[k] = ptxi_mma_element_code((enum ptxi_dot_type)type, bits, word);
    }
}

/* a_columns_8(), _16, _32: 8-bit elements become 16 bits wide */
#define NAME a_columns_8
#define FROM uint8_t
#define TO uint16_t
#include "exec/matrix/kvec_columns_inl.h"
#define NAME a_columns_16
#define FROM uint16_t
#define TO uint16_t
#include "exec/matrix/kvec_columns_inl.h"
#define NAME a_columns_32
#define FROM uint32_t
#define TO uint32_t
#include "exec/matrix/kvec_columns_inl.h"

/* --- floats --- */

/* Fills the A side of a tile. */
static inline void tile_fill_a(const struct operand_format *f, unsigned char (*kvec)[KVEC_BYTES],
                               uint8_t (*column)[KVEC_MAX_K], struct ptxi_tile *tile)
{
    _Alignas(64) uint16_t code[KVEC_MAX_K][MMA_ROWS];
    _Alignas(64) uint32_t word[KVEC_BYTES / 4][MMA_ROWS];
    enum ptxi_dot_type type = (enum ptxi_dot_type)f->a;
    unsigned n = f->k * MMA_ROWS;

    assert(f->k <= KVEC_MAX_K);
    if (f->bits == 32) {
        a_columns_32(f, kvec, column, word);
        ptxi_tile_tf32(word[0], tile->a[0], code[0], n);
    } else {
        (f->bits == 16 ? a_columns_16 : a_columns_8)(f, kvec, column, code);
        ptxi_mma_widen(type, false, code[0], tile->a[0], n);
    }
    tile->range_a = ptxi_mma_exponent_range(type, false, code[0], tile->below_a[0], 1, n, n);
    tile->sparse = f->sparse;
    memset(tile->stored, 0, sizeof tile->stored);
    for (unsigned m = 0; m < MMA_ROWS && f->sparse; m++)
        for (unsigned k = 0; k < stored_k(f); k++)
            tile->stored[column[m][k]] |= (uint16_t)(1u << m);
}

/* Fills the B side of a tile with eight columns. */
static inline void tile_fill_b(const struct operand_format *f, unsigned char (*kvec)[KVEC_BYTES],
                               struct ptxi_tile *tile)
{
    _Alignas(64) uint16_t code[PTXI_TILE_N][KVEC_MAX_K];
    _Alignas(64) uint32_t word[KVEC_BYTES / 4];
    enum ptxi_dot_type type = (enum ptxi_dot_type)f->b;

    for (unsigned l = 0; l < PTXI_TILE_N; l++) {
        if (f->bits == 32) {
            memcpy(word, kvec[l], KVEC_BYTES);
            if (f->k == 8)
                memset(word + 8, 0, KVEC_BYTES / 2);
            ptxi_tile_tf32(word, tile->b[l], code[l], KVEC_BYTES / 4);
            continue;
        }
        if (f->bits == 16)
            memcpy(code[l], kvec[l], KVEC_BYTES);
        for (unsigned k = 0; k < f->k && f->bits == 8; k++)
            code[l][k] = kvec[l][k];
        ptxi_mma_widen(type, false, code[l], tile->b[l], f->k);
    }
    tile->range_b =
        ptxi_mma_exponent_range(type, false, code[0], tile->below_b[0], PTXI_TILE_N, KVEC_MAX_K, (f->k + 15) / 16 * 16);
}

/* Adds the product of the tile's 16 rows and 8 columns to c. Elements that a sparse A does not store do not count
 * for the length of a chunk. */
static inline void tile_multiply(const struct operand_format *f, const struct ptxi_dot_model *model,
                                 const struct ptxi_tile *tile, uint32_t *c)
{
    ptxi_tile_dot(model, tile, 0, f->k, model->chunk * (f->sparse ? 2u : 1u), c);
}

/* --- integers --- */

/* An element of .s1z4m11: a sign, and the magnitude in the low 11 bits. The bits between them should be zero. */
static inline int16_t ti16_value(uint16_t code)
{
    int16_t magnitude = code & 0x7ff;

    return code >> 15 ? -magnitude : magnitude;
}

static inline void ti16_fill_a(const struct operand_format *f, unsigned char (*kvec)[KVEC_BYTES],
                               uint8_t (*column)[KVEC_MAX_K], dot_s8_rows *a)
{
    uint16_t code[KVEC_MAX_K][MMA_ROWS];

    assert(f->k <= KVEC_MAX_K);
    a_columns_16(f, kvec, column, code);
    for (unsigned k = 0; k < f->k; k++)
        for (unsigned m = 0; m < MMA_ROWS; m++)
            a[k / 2][m][k % 2] = ti16_value(code[k][m]);
}

static inline void ti16_multiply(const struct operand_format *f, dot_s8_rows *a, unsigned char (*kvec)[KVEC_BYTES],
                                 uint32_t *c)
{
    _Alignas(64) int16_t b[PTXI_TILE_N][KVEC_MAX_K];

    for (unsigned l = 0; l < PTXI_TILE_N; l++)
        for (unsigned k = 0; k < f->k; k++) {
            uint16_t code;

            memcpy(&code, kvec[l] + k * sizeof code, sizeof code);
            b[l][k] = ti16_value(code);
        }
    dot_s8_add(a, b[0], KVEC_MAX_K, f->k / 2, false, c);
}

static inline void s8_fill_a(const struct operand_format *f, unsigned char (*kvec)[KVEC_BYTES],
                             uint8_t (*column)[KVEC_MAX_K], dot_s8_rows *a)
{
    uint16_t code[KVEC_MAX_K][MMA_ROWS];

    assert(f->k <= KVEC_MAX_K);
    a_columns_8(f, kvec, column, code);
    for (unsigned k = 0; k < f->k; k++)
        for (unsigned m = 0; m < MMA_ROWS; m++)
            a[k / 2][m][k % 2] = f->a ? (int8_t)code[k][m] : (int16_t)code[k][m];
}

static inline void s8_multiply(const struct operand_format *f, dot_s8_rows *a, unsigned char (*kvec)[KVEC_BYTES],
                               bool saturate, uint32_t *c)
{
    _Alignas(64) int16_t b[PTXI_TILE_N][KVEC_MAX_K];

    for (unsigned l = 0; l < PTXI_TILE_N; l++)
        dot_s8_extend(b[l], kvec[l], f->k, f->b);
    dot_s8_add(a, b[0], KVEC_MAX_K, f->k / 2, saturate, c);
}

#endif
