/* Shared by the handlers of mma.sync: operands as matrices, by the fragment layouts of isa/fragment.h. A register of
 * A or B holds, in all 32 lanes together, parts of 8 K vectors (rows of A, columns of B), each in 4 lanes. So K
 * vectors are assembled by copying. */
#ifndef PTXI_EXEC_MATRIX_MMA_H
#define PTXI_EXEC_MATRIX_MMA_H

#include <assert.h>

#include "exec/engine/engine.h"
#include "exec/engine/handler.h"
#include "exec/matrix/mma_tile.h"
#include "isa/fragment.h"
#include "num/dot.h"
#include "num/half.h"

enum {
    M = 16, N = 8,    /* largest shape */
    K = 128,          /* maximum number of elements of a K vector, if they are wider than one bit */
    KVEC_BYTES = 128  /* maximum size of a K vector */
};
enum { OPERAND_D, OPERAND_A, OPERAND_B, OPERAND_C, OPERAND_METADATA, OPERAND_SCALE_A, OPERAND_SCALE_B };

static inline const struct ptxi_mma *mma_form(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return (const struct ptxi_mma *)(w->frame->code->pool + i->imm);
}

static inline unsigned register_count(const struct ptxi_mma *x, unsigned operand)
{
    return x->first[operand + 1] - x->first[operand];
}

/* Register r of an operand, from the first lane of a warp of 32 on. `bytes` is its size in a lane. */
static inline void *register_of(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned operand, unsigned r,
                                unsigned first, unsigned bytes)
{
    assert(r < register_count(x, operand));
    return (unsigned char *)PTXI_SLOT(w, x->slots[x->first[operand] + r]) + first * bytes;
}

/* --- A and B --- */

static inline void read_kvecs(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned operand, unsigned count,
                              unsigned first, unsigned bytes, unsigned char (*kvec)[KVEC_BYTES])
{
    for (unsigned r = 0; r < register_count(x, operand); r++) {
        const unsigned char *from = register_of(w, x, operand, r, first, bytes);

        for (unsigned g = 0; g < 8; g++)
            memcpy(kvec[r % (count / 8) * 8 + g] + r / (count / 8) * 4 * bytes, from + g * 4 * bytes, 4 * bytes);
    }
}

/* Reads eight columns of A, of 16 bits a row. Register r holds all their rows, or the upper rows, and r + 1 the
 * lower ones. */
static inline void read_columns_of_a(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned r, unsigned first,
                                     wide16 *to)
{
    const row16 *upper = register_of(w, x, OPERAND_A, r, first, 4);

    columns_16(to, upper, x->m > 8 ? register_of(w, x, OPERAND_A, r + 1, first, 4) : upper);
}

static inline uint32_t element(const unsigned char *kvec, unsigned bits, unsigned k)
{
    uint32_t word;

    memcpy(&word, kvec + k * bits / 32 * 4, sizeof word);
    return bits == 32 ? word : word >> k * bits % 32 & ((1u << bits) - 1);
}

/* A and B element by element. */
struct mma_codes {
    uint32_t a[M][K], b[N][K];
    uint8_t column[M][K]; /* sparse: columns of A's stored elements */
    unsigned stored;      /* number of stored elements of a row of A */
};

/* Sets the columns to which the stored elements of a sparse A belong. */
static inline void read_sparse_columns(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first,
                                       uint8_t (*column)[K])
{
    ptxi_sparse_columns(x->a_bits, x->k, x->selector, register_of(w, x, OPERAND_METADATA, 0, first, 4), column[0], K);
}

static inline void read_codes(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, struct mma_codes *t)
{
    unsigned char a[M][KVEC_BYTES], b[N][KVEC_BYTES];

    assert(x->m <= M && x->k <= K);
    t->stored = x->sparse ? x->k / 2u : x->k;
    read_kvecs(w, x, OPERAND_A, x->m, first, 4, a);
    read_kvecs(w, x, OPERAND_B, N, first, 4, b);
    for (unsigned m = 0; m < x->m; m++)
        for (unsigned k = 0; k < t->stored; k++)
            t->a[m][k] = element(a[m], x->a_bits, k);
    for (unsigned n = 0; n < N; n++)
        for (unsigned k = 0; k < x->k; k++)
            t->b[n][k] = element(b[n], x->b_bits, k);
    if (x->sparse)
        read_sparse_columns(w, x, first, t->column);
}

/* The elements of column n of B by which the stored elements of row m of A are multiplied. They are in t, or copied
 * to `buffer`. */
static inline const uint32_t *matching_b(const struct mma_codes *t, bool sparse, unsigned m, unsigned n,
                                         uint32_t *buffer)
{
    if (!sparse)
        return t->b[n];
    for (unsigned k = 0; k < t->stored; k++)
        buffer[k] = t->b[n][t->column[m][k]];
    return buffer;
}

/* --- C and D, row by row --- */

static inline void read_c(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, uint32_t (*c)[N])
{
    for (unsigned r = 0; r < register_count(x, OPERAND_C); r++) {
        const uint32_t *from = register_of(w, x, OPERAND_C, r, first, 4);

        for (unsigned l = 0; l < 32; l++) {
            if (x->c_f16) {
                c[r * 8 + l / 4][l % 4 * 2] = from[l] & 0xffff;
                c[r * 8 + l / 4][l % 4 * 2 + 1] = from[l] >> 16;
            } else {
                c[r / 2 * 8 + l / 4][l % 4 * 2 + r % 2] = from[l];
            }
        }
    }
}

static inline void write_d(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, uint32_t (*d)[N])
{
    for (unsigned r = 0; r < register_count(x, OPERAND_D); r++) {
        uint32_t *to;

        if (x->slots[r] == PTXI_NO_SLOT)
            continue;
        to = register_of(w, x, OPERAND_D, r, first, 4);
        for (unsigned l = 0; l < 32; l++) {
            if (x->d_f16)
                to[l] = d[r * 8 + l / 4][l % 4 * 2] | d[r * 8 + l / 4][l % 4 * 2 + 1] << 16;
            else
                to[l] = d[r / 2 * 8 + l / 4][l % 4 * 2 + r % 2];
        }
    }
}

/* --- C and D, column by column: element (m, n) is [n * M + m] --- */

static inline void read_c_columns(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, uint32_t *c)
{
    ptxi_mma_read_c(w, x->slots + x->first[OPERAND_C], register_count(x, OPERAND_C), x->c_f16, first, c);
}

static inline void write_d_columns(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first,
                                   const uint32_t *d)
{
    ptxi_mma_write_d(w, x->slots, register_count(x, OPERAND_D), x->d_f16, first, d);
}

/* Converts an element of C to the format of sums, which is f16 only if both C and D are. */
static inline uint32_t c_for_sum(const struct ptxi_mma *x, uint32_t c)
{
    return x->c_f16 && !x->d_f16 ? ptxi_num_bits_f32(ptxi_num_f32_from_f16_bits((uint16_t)c)) : c;
}

/* Defines a handler that calls multiply(w, x, first lane, ...) for each active warp of 32. */
#define MMA(name, multiply, ...)                                                        \
    OP( mma_##name )                                                                    \
    {                                                                                   \
        const struct ptxi_mma *x = mma_form(w, i);                                      \
                                                                                        \
        if (w->active != w->live && ptxi_absent_lanes(w))                                     \
            return ptxi_leave_aligned(w, i);                                            \
        for (unsigned first = 0; first < PTXI_LANES; first += 32)                       \
            if (w->active & ptxi_warp32_lanes(first / 32))                              \
                multiply(w, x, first, ##__VA_ARGS__);                                   \
        NEXT;                                                                           \
    }

#endif
