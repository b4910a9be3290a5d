/* Where the elements of a matrix are in the registers of a warp: PTX ISA, "Matrix Fragments for ..." and "Sparse matrix storage".
 *
 * All matrices but those of mma.m8n8k4 with .f16 are laid out by one rule. A line (a row of A, C and D, a column of B) belongs to four
 * neighbouring lanes, lines 8 apart to the same ones. Each of the four has a piece of a line, some elements side by side, then the next
 * has one; after four pieces the first has another. A lane's elements are numbered piece by piece; where it has several lines, a
 * piece of each line comes before the second pieces; and so they fill its registers, from the low bits up. */
#ifndef PTXI_ISA_FRAGMENT_H
#define PTXI_ISA_FRAGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/bytecode.h"

struct ptxi_fragment {
    uint8_t bits;    /* of an element, in its container */
    uint8_t width;   /* of a register */
    uint8_t piece;   /* elements */
    uint8_t lines;   /* of a lane: the matrix has 8 times as many */
    bool columns;    /* lines are columns */
};

/* An element's register, counted in the operand, and its lowest bit there. */
struct ptxi_place {
    uint8_t lane, reg, bit;
};

struct ptxi_element {
    uint16_t row, column;
};

static inline struct ptxi_place ptxi_fragment_place(const struct ptxi_fragment *f, unsigned row, unsigned column)
{
    unsigned line = f->columns ? column : row, at = f->columns ? row : column, per = f->width / f->bits;
    unsigned number = ((at / (4 * f->piece)) * f->lines + line / 8) * f->piece + at % f->piece;

    return (struct ptxi_place){ (uint8_t)(line % 8 * 4 + at / f->piece % 4), (uint8_t)(number / per), (uint8_t)(number % per * f->bits) };
}

/* The same from the other side: what is in a lane's register from `bit` on. */
static inline struct ptxi_element ptxi_fragment_element(const struct ptxi_fragment *f, unsigned lane, unsigned reg, unsigned bit)
{
    unsigned number = reg * (f->width / f->bits) + bit / f->bits, pieces = number / f->piece;
    unsigned line = pieces % f->lines * 8 + lane / 4, at = (pieces / f->lines * 4 + lane % 4) * f->piece + number % f->piece;

    return f->columns ? (struct ptxi_element){ (uint16_t)at, (uint16_t)line } : (struct ptxi_element){ (uint16_t)line, (uint16_t)at };
}

/* A and B of mma, A of wgmma in registers (a warp's 16 rows), in containers of `bits` bits; A of a sparse operation as it is stored. */
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

/* C and D of mma, D of wgmma (a warp's 16 rows). */
static inline struct ptxi_fragment ptxi_fragment_c(unsigned rows, unsigned bits)
{
    return (struct ptxi_fragment){ (uint8_t)bits, bits == 64 ? 64 : 32, 2, (uint8_t)(rows / 8), false };
}

/* ldmatrix, stmatrix, movmatrix of .m8n8 and .b16: the rows of `count` matrices one below the other; with .trans the columns, side by side. */
static inline struct ptxi_fragment ptxi_fragment_m8n8(unsigned count, bool trans)
{
    return (struct ptxi_fragment){ 16, 32, 2, (uint8_t)count, trans };
}

/* The same of bytes: .m16n16, always transposed; .m8n16, whose rows are 16 elements of fewer bits in memory; stmatrix of .m16n8, whose columns are
 * rows of memory. */
static inline struct ptxi_fragment ptxi_fragment_m16n16(unsigned count)
{
    return (struct ptxi_fragment){ 8, 32, 4, (uint8_t)(2 * count), true };
}

static inline struct ptxi_fragment ptxi_fragment_m8n16(unsigned count)
{
    return (struct ptxi_fragment){ 8, 32, 4, (uint8_t)count, false };
}

static inline struct ptxi_fragment ptxi_fragment_m16n8(unsigned count)
{
    return (struct ptxi_fragment){ 8, 32, 2, (uint8_t)(2 * count), false };
}

/* --- tensor memory: PTX ISA, "Matrix fragments for shape ..." --- */

/* Which lane and column of tensor memory, counted from the address, register `reg` of a lane of tcgen05.ld and tcgen05.st holds. The lanes 16 to 31
 * of .16x32bx2 mean the 16 lanes again, and columns that are given with the instruction. */
static inline struct ptxi_element ptxi_fragment_tmem(enum ptxi_tmem_shape shape, unsigned lane, unsigned reg)
{
    switch (shape) {
    case PTXI_TMEM_32X32B: return (struct ptxi_element){ (uint16_t)lane, (uint16_t)reg };
    case PTXI_TMEM_16X64B: return (struct ptxi_element){ (uint16_t)(lane / 4 + lane % 2 * 8), (uint16_t)(lane / 2 % 2 + 2 * reg) };
    case PTXI_TMEM_16X128B: return (struct ptxi_element){ (uint16_t)(lane / 4 + reg % 2 * 8), (uint16_t)(lane % 4 + reg / 2 * 4) };
    case PTXI_TMEM_16X256B:
        return (struct ptxi_element){ (uint16_t)(lane / 4 + reg / 2 % 2 * 8), (uint16_t)(lane % 4 * 2 + reg % 2 + reg / 4 * 8) };
    default: return (struct ptxi_element){ (uint16_t)(lane % 16), (uint16_t)reg };
    }
}

/* --- mma.m8n8k4 with .f16: four products at once, number q by lanes 4q to 4q + 3 and 16 higher --- */

/* A (lines are rows, or with .col columns of 4) or B the other way round. A line is the lane's own, or a column of A, a row of B. */
static inline struct ptxi_element ptxi_fragment_m8n8k4_a(bool col, unsigned lane, unsigned i)
{
    unsigned high = lane / 16 * 4;

    return col ? (struct ptxi_element){ (uint16_t)(i + high), (uint16_t)(lane % 4) } : (struct ptxi_element){ (uint16_t)(lane % 4 + high), (uint16_t)i };
}

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

/* What the PTX ISA leaves open: the fragments of wmma are those of mma, of a product of 16x8 elements for every 16 rows and 8 columns; where A
 * has 8 rows and B 32 columns, of the transposed product. Registers of one after those of the other; where an operand has more registers
 * than that, they begin anew. `wide`: A, or of the transposed product B. */
struct ptxi_wmma_shape {
    uint8_t rows, columns, depth; /* of the product as it is computed */
    bool transposed;
};

static inline struct ptxi_wmma_shape ptxi_wmma_shape(unsigned m, unsigned n, unsigned k)
{
    bool transposed = n > 16;

    return (struct ptxi_wmma_shape){ (uint8_t)(transposed ? n : m), (uint8_t)(transposed ? m : n), (uint8_t)k, transposed };
}

/* Rows of one of the products. */
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

/* Registers of one product's fragment. */
static inline unsigned ptxi_wmma_registers(struct ptxi_wmma_shape s, char operand, unsigned bits)
{
    struct ptxi_fragment f = ptxi_wmma_fragment(s, operand, bits);

    return f.lines * (operand == 'c' ? 8u : s.depth) * bits / 4 / f.width;
}

/* The element of the whole matrix. */
static inline struct ptxi_element ptxi_wmma_element(struct ptxi_wmma_shape s, char operand, unsigned bits, unsigned lane, unsigned reg, unsigned bit)
{
    struct ptxi_fragment f = ptxi_wmma_fragment(s, operand, bits);
    unsigned per = ptxi_wmma_registers(s, operand, bits), rows = ptxi_wmma_rows(s);
    unsigned lines = operand == 'c' ? s.rows / rows * (s.columns / 8u) : f.columns ? s.columns / 8u : s.rows / rows, part = reg / per % lines;
    struct ptxi_element e = ptxi_fragment_element(&f, lane, reg % per, bit);

    if (f.columns || (operand == 'c' && s.rows == rows))
        e.column = (uint16_t)(e.column + part * 8);
    else
        e.row = (uint16_t)(e.row + part * rows);
    return s.transposed ? (struct ptxi_element){ e.column, e.row } : e;
}

/* --- sparse A: of every chunk of a row half is stored, and the metadata say which, in 4 bits a chunk --- */

/* Elements of a chunk. */
static inline unsigned ptxi_sparse_chunk(unsigned bits)
{
    return bits == 32 ? 2 : bits == 4 ? 8 : 4;
}

/* Where the 4 bits of a row's chunk are, elements having `bits` bits. `selector` is operand f; a row has `chunks` chunks. Four lanes share
 * two rows. Each that contributes holds four chunks of either; if elements are bytes or smaller, eight chunks of one of them. */
static inline struct ptxi_place ptxi_sparse_place(unsigned bits, unsigned row, unsigned chunk, unsigned chunks, unsigned selector)
{
    unsigned first = row % 8 * 4 + selector * chunks / 4;

    if (bits > 8)
        return (struct ptxi_place){ (uint8_t)(first + chunk / 4), 0, (uint8_t)(row / 8 * 16 + chunk % 4 * 4) };
    return (struct ptxi_place){ (uint8_t)(first + chunk / 8 * 2 + row / 8), 0, (uint8_t)(chunk % 8 * 4) };
}

/* The column of A that stored element `at` of a row is, given the 4 bits of its chunk. */
static inline unsigned ptxi_sparse_column(unsigned bits, unsigned at, unsigned indices)
{
    switch (bits) {
    case 32: return at * 2 + (indices >> 1 & 1); /* as two halves of 16 bits, which stay together */
    case 4: return at / 4 * 8 + (indices >> (at / 2 % 2 * 2) & 3) * 2 + at % 2; /* pairs */
    default: return at / 2 * 4 + (indices >> (at % 2 * 2) & 3);
    }
}

/* Which columns the stored elements of 16 rows of A are: column[row * pitch + at]. A has k columns; e are the metadata of 32 lanes. */
static inline void ptxi_sparse_columns(unsigned bits, unsigned k, unsigned selector, const uint32_t *e, uint8_t *column, unsigned pitch)
{
    unsigned size = ptxi_sparse_chunk(bits), chunks = k / size;

    for (unsigned row = 0; row < 16; row++)
        for (unsigned at = 0; at < k / 2; at++) {
            struct ptxi_place p = ptxi_sparse_place(bits, row, at / (size / 2), chunks, selector);

            column[row * pitch + at] = (uint8_t)ptxi_sparse_column(bits, at, e[p.lane] >> p.bit & 15);
        }
}

#endif
