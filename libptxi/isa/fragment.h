/* Positions of matrix elements in the registers of a warp (PTX ISA, "Matrix Fragments for ..." and "Sparse matrix
 * storage").
 *
 * All matrices, except those of mma.m8n8k4 with .f16, have one layout. A line is a row of A, C or D, or a column of
 * B. Four adjacent lanes hold a line, and the same lanes hold the lines 8, 16, ... after it. A piece is a number of
 * adjacent elements of a line. The four lanes hold the pieces of a line in turn. The elements of a lane are numbered
 * in this order: the first piece of each of its lines, then the second piece of each line, and so on. They fill its
 * registers from the low bits up. */
#ifndef PTXI_ISA_FRAGMENT_H
#define PTXI_ISA_FRAGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/bytecode.h"

struct ptxi_fragment {
    uint8_t bits;    /* bits of the container of an element */
    uint8_t width;   /* bits of a register */
    uint8_t piece;   /* number of elements of a piece */
    uint8_t lines;   /* number of lines that a lane has a part of; the matrix has 8 times as many */
    bool columns;    /* lines are columns */
};

/* Position of an element. */
struct ptxi_fragment_position {
    uint8_t lane;
    uint8_t reg; /* index of the register in the operand */
    uint8_t bit; /* lowest bit in the register */
};

struct ptxi_element {
    uint16_t row, column;
};

/* The position of an element of the matrix. */
static inline struct ptxi_fragment_position ptxi_fragment_locate(const struct ptxi_fragment *f, unsigned row,
                                                                 unsigned column)
{
    unsigned line = f->columns ? column : row;
    unsigned at = f->columns ? row : column; /* index in the line */
    unsigned per = f->width / f->bits;       /* elements of a register */
    unsigned number = ((at / (4 * f->piece)) * f->lines + line / 8) * f->piece + at % f->piece;

    return (struct ptxi_fragment_position){ (uint8_t)(line % 8 * 4 + at / f->piece % 4), (uint8_t)(number / per),
                                            (uint8_t)(number % per * f->bits) };
}

/* The element at a position, the inverse of ptxi_fragment_locate(). */
static inline struct ptxi_element ptxi_fragment_element(const struct ptxi_fragment *f, unsigned lane, unsigned reg,
                                                        unsigned bit)
{
    unsigned number = reg * (f->width / f->bits) + bit / f->bits, pieces = number / f->piece;
    unsigned line = pieces % f->lines * 8 + lane / 4;
    unsigned at = (pieces / f->lines * 4 + lane % 4) * f->piece + number % f->piece;

    if (f->columns)
        return (struct ptxi_element){ (uint16_t)at, (uint16_t)line };
    return (struct ptxi_element){ (uint16_t)line, (uint16_t)at };
}

/* A and B of mma, A of wgmma in registers (16 rows per warp), in containers of `bits` bits. A sparse A as it is
 * stored. */
static inline struct ptxi_fragment ptxi_fragment_a(unsigned rows, unsigned bits)
{
    unsigned width = bits == 64 ? 64 : 32;

    return (struct ptxi_fragment){ (uint8_t)bits, (uint8_t)width, (uint8_t)(width / bits), (uint8_t)(rows / 8), false };
}

static inline struct ptxi_fragment ptxi_fragment_b(unsigned columns, unsigned bits)
{
    struct ptxi_fragment f = ptxi_fragment_a(columns, bits);

    f.columns = true;
    return f;
}

/* C and D of mma, D of wgmma (16 rows per warp). */
static inline struct ptxi_fragment ptxi_fragment_c(unsigned rows, unsigned bits)
{
    return (struct ptxi_fragment){ (uint8_t)bits, bits == 64 ? 64 : 32, 2, (uint8_t)(rows / 8), false };
}

/* ldmatrix, stmatrix, movmatrix of .m8n8 and .b16: `count` matrices below each other, or with .trans next to each
 * other. */
static inline struct ptxi_fragment ptxi_fragment_m8n8(unsigned count, bool trans)
{
    return (struct ptxi_fragment){ 16, 32, 2, (uint8_t)count, trans };
}

/* The same of bytes. .m16n16 is always transposed. */
static inline struct ptxi_fragment ptxi_fragment_m16n16(unsigned count)
{
    return (struct ptxi_fragment){ 8, 32, 4, (uint8_t)(2 * count), true };
}

/* A row of .m8n16 is 16 elements, which may have fewer bits in memory. */
static inline struct ptxi_fragment ptxi_fragment_m8n16(unsigned count)
{
    return (struct ptxi_fragment){ 8, 32, 4, (uint8_t)count, false };
}

/* stmatrix of .m16n8: a column of the matrix is a row in memory. */
static inline struct ptxi_fragment ptxi_fragment_m16n8(unsigned count)
{
    return (struct ptxi_fragment){ 8, 32, 2, (uint8_t)(2 * count), false };
}

/* --- tensor memory: PTX ISA, "Matrix fragments for shape ..." --- */

/* The lane (row) and column of tensor memory, relative to the address, that a register of tcgen05.ld and tcgen05.st
 * holds. In .16x32bx2 the lanes 16 to 31 hold the same 16 lanes of tensor memory, from a column that the instruction
 * gives. */
static inline struct ptxi_element ptxi_fragment_tmem(enum ptxi_tmem_shape shape, unsigned lane, unsigned reg)
{
    switch (shape) {
    case PTXI_TMEM_32X32B: return (struct ptxi_element){ (uint16_t)lane, (uint16_t)reg };
    case PTXI_TMEM_16X64B:
        return (struct ptxi_element){ (uint16_t)(lane / 4 + lane % 2 * 8), (uint16_t)(lane / 2 % 2 + 2 * reg) };
    case PTXI_TMEM_16X128B:
        return (struct ptxi_element){ (uint16_t)(lane / 4 + reg % 2 * 8), (uint16_t)(lane % 4 + reg / 2 * 4) };
    case PTXI_TMEM_16X256B:
        return (struct ptxi_element){ (uint16_t)(lane / 4 + reg / 2 % 2 * 8),
                                     (uint16_t)(lane % 4 * 2 + reg % 2 + reg / 4 * 8) };
    default: return (struct ptxi_element){ (uint16_t)(lane % 16), (uint16_t)reg };
    }
}

/* --- mma.m8n8k4 with .f16: four products at once. Lanes 4q to 4q + 3 and 4q + 16 to 4q + 19 compute product q. --- */

/* Element i of A. In the row-major layout a lane holds a row, else a half of a column. */
static inline struct ptxi_element ptxi_fragment_m8n8k4_a(bool col, unsigned lane, unsigned i)
{
    unsigned high = lane / 16 * 4;

    if (col)
        return (struct ptxi_element){ (uint16_t)(i + high), (uint16_t)(lane % 4) };
    return (struct ptxi_element){ (uint16_t)(lane % 4 + high), (uint16_t)i };
}

/* Element i of B, which is laid out as a transposed A. */
static inline struct ptxi_element ptxi_fragment_m8n8k4_b(bool col, unsigned lane, unsigned i)
{
    struct ptxi_element a = ptxi_fragment_m8n8k4_a(!col, lane, i);

    return (struct ptxi_element){ a.column, a.row };
}

/* Element i of C and D. */
static inline struct ptxi_element ptxi_fragment_m8n8k4_c(bool f32, unsigned lane, unsigned i)
{
    unsigned high = lane / 16 * 4;

    if (!f32)
        return (struct ptxi_element){ (uint16_t)(lane % 4 + high), (uint16_t)i };
    return (struct ptxi_element){ (uint16_t)((lane & 1) + (i & 2) + high), (uint16_t)((i & 4) + (lane & 2) + (i & 1)) };
}

/* --- wmma --- */

/* The PTX ISA does not define the fragments of wmma. They consist of fragments of mma: one 16x8 product for each 16
 * rows and 8 columns. If A has 8 rows and B 32 columns, they are those of the transposed product. The registers of
 * one mma fragment follow those of another. If an operand has more registers than that, the fragments repeat. */
struct ptxi_wmma_shape {
    uint8_t rows, columns, depth; /* of the product that is computed */
    bool transposed;              /* it is the transposed one */
};

static inline struct ptxi_wmma_shape ptxi_wmma_shape(unsigned m, unsigned n, unsigned k)
{
    bool transposed = n > 16;

    if (transposed)
        return (struct ptxi_wmma_shape){ (uint8_t)n, (uint8_t)m, (uint8_t)k, true };
    return (struct ptxi_wmma_shape){ (uint8_t)m, (uint8_t)n, (uint8_t)k, false };
}

/* The rows of one mma product. */
static inline unsigned ptxi_wmma_rows(struct ptxi_wmma_shape s)
{
    return s.rows < 16 ? s.rows : 16;
}

static inline struct ptxi_fragment ptxi_wmma_fragment(struct ptxi_wmma_shape s, char operand, unsigned bits)
{
    if (operand == 'c')
        return ptxi_fragment_c(ptxi_wmma_rows(s), bits);
    return (operand == 'a') != s.transposed ? ptxi_fragment_a(ptxi_wmma_rows(s), bits) : ptxi_fragment_b(8, bits);
}

/* The number of registers of one mma fragment. */
static inline unsigned ptxi_wmma_registers(struct ptxi_wmma_shape s, char operand, unsigned bits)
{
    struct ptxi_fragment f = ptxi_wmma_fragment(s, operand, bits);

    return f.lines * (operand == 'c' ? 8u : s.depth) * bits / 4 / f.width;
}

/* The number of mma fragments of an operand. */
static inline unsigned ptxi_wmma_parts(struct ptxi_wmma_shape s, char operand, bool columns)
{
    unsigned row_parts = s.rows / ptxi_wmma_rows(s), column_parts = s.columns / 8u;

    if (operand == 'c')
        return row_parts * column_parts;
    return columns ? column_parts : row_parts;
}

/* The element of the whole matrix at a position. */
static inline struct ptxi_element ptxi_wmma_element(struct ptxi_wmma_shape s, char operand, unsigned bits,
                                                    unsigned lane, unsigned reg, unsigned bit)
{
    struct ptxi_fragment f = ptxi_wmma_fragment(s, operand, bits);
    unsigned per = ptxi_wmma_registers(s, operand, bits), rows = ptxi_wmma_rows(s);
    unsigned part = reg / per % ptxi_wmma_parts(s, operand, f.columns);
    struct ptxi_element e = ptxi_fragment_element(&f, lane, reg % per, bit);

    if (f.columns || (operand == 'c' && s.rows == rows))
        e.column = (uint16_t)(e.column + part * 8);
    else
        e.row = (uint16_t)(e.row + part * rows);
    return s.transposed ? (struct ptxi_element){ e.column, e.row } : e;
}

/* --- sparse A: half of the elements of each chunk of a row are stored. The metadata has 4 bits per chunk that say
 * which. --- */

/* The number of elements of a chunk. */
static inline unsigned ptxi_sparse_chunk(unsigned bits)
{
    switch (bits) {
    case 32: return 2;
    case 4: return 8;
    default: return 4;
    }
}

/* The position of the 4 bits of a chunk. Elements have `bits` bits, a row has `chunks` chunks, `selector` is operand
 * f. Four lanes share two rows. Each lane that the selector selects holds four chunks of both rows, or, for elements
 * of at most 8 bits, eight chunks of one row. */
static inline struct ptxi_fragment_position ptxi_sparse_locate_index(unsigned bits, unsigned row, unsigned chunk,
                                                                     unsigned chunks, unsigned selector)
{
    unsigned first = row % 8 * 4 + selector * chunks / 4;

    if (bits > 8)
        return (struct ptxi_fragment_position){ (uint8_t)(first + chunk / 4), 0,
                                                (uint8_t)(row / 8 * 16 + chunk % 4 * 4) };
    return (struct ptxi_fragment_position){ (uint8_t)(first + chunk / 8 * 2 + row / 8), 0, (uint8_t)(chunk % 8 * 4) };
}

/* The column of A of the stored element `at` of a row. `indices`: the 4 bits of its chunk. */
static inline unsigned ptxi_sparse_column(unsigned bits, unsigned at, unsigned indices)
{
    switch (bits) {
    case 32: return at * 2 + (indices >> 1 & 1); /* two 16-bit halves with one index */
    case 4: return at / 4 * 8 + (indices >> (at / 2 % 2 * 2) & 3) * 2 + at % 2; /* pairs */
    default: return at / 2 * 4 + (indices >> (at % 2 * 2) & 3);
    }
}

/* The columns of the stored elements of 16 rows of A, in column[row * pitch + at]. A has k columns. e: the metadata
 * of 32 lanes. */
static inline void ptxi_sparse_columns(unsigned bits, unsigned k, unsigned selector, const uint32_t *e, uint8_t *column,
                                       unsigned pitch)
{
    unsigned size = ptxi_sparse_chunk(bits), chunks = k / size;

    for (unsigned row = 0; row < 16; row++)
        for (unsigned at = 0; at < k / 2; at++) {
            struct ptxi_fragment_position p = ptxi_sparse_locate_index(bits, row, at / (size / 2), chunks, selector);

            column[row * pitch + at] = (uint8_t)ptxi_sparse_column(bits, at, e[p.lane] >> p.bit & 15);
        }
}

#endif
