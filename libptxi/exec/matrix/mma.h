/* What the handlers of mma share: operands as matrices, by the rules of isa/fragment.h. A register of A or B is, of all lanes together, 8 lines
 * of 4 lanes each, so that lines are put together by copying. */
#ifndef PTXI_EXEC_MATRIX_MMA_H
#define PTXI_EXEC_MATRIX_MMA_H

#include "exec/engine/engine.h"
#include "exec/engine/handler.h"
#include "exec/matrix/mma_tile.h"
#include "isa/fragment.h"
#include "num/dot.h"
#include "num/half.h"

enum { M = 16, N = 8, LINE = 128 /* most bytes of a line */, K = 128 /* most elements of more than one bit */ };
enum { OPERAND_D, OPERAND_A, OPERAND_B, OPERAND_C, OPERAND_E, OPERAND_SCALE_A, OPERAND_SCALE_B };

static inline const struct ptxi_mma *description(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    return (const struct ptxi_mma *)(w->frame->code->pool + i->imm);
}

static inline unsigned registers(const struct ptxi_mma *x, unsigned operand)
{
    return x->first[operand + 1] - x->first[operand];
}

/* Register r of an operand, from the first lane of a warp of 32 on. */
static inline void *register_of(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned operand, unsigned r, unsigned first, unsigned bytes)
{
    return (unsigned char *)PTXI_SLOT(w, x->slots[x->first[operand] + r]) + first * bytes;
}

/* --- A and B --- */

static inline void read_lines(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned operand, unsigned lines, unsigned first, unsigned bytes,
                       unsigned char (*line)[LINE])
{
    for (unsigned r = 0; r < registers(x, operand); r++) {
        const unsigned char *from = register_of(w, x, operand, r, first, bytes);

        for (unsigned g = 0; g < 8; g++)
            memcpy(line[r % (lines / 8) * 8 + g] + r / (lines / 8) * 4 * bytes, from + g * 4 * bytes, 4 * bytes);
    }
}

/* Eight columns of A, of 16 bits a row, which register r has, or r for the upper and r + 1 for the lower rows. */
static inline void read_columns_of_a(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned r, unsigned first, wide16 *to)
{
    const row16 *upper = register_of(w, x, OPERAND_A, r, first, 4);

    columns_16(to, upper, x->m > 8 ? register_of(w, x, OPERAND_A, r + 1, first, 4) : upper);
}

static inline uint32_t element(const unsigned char *line, unsigned bits, unsigned k)
{
    uint32_t word;

    memcpy(&word, line + k * bits / 32 * 4, sizeof word);
    return bits == 32 ? word : word >> k * bits % 32 & ((1u << bits) - 1);
}

struct codes {
    uint32_t a[M][K], b[N][K];
    uint8_t column[M][K]; /* sparse: of A's stored elements */
    unsigned stored;      /* elements of a row of A */
};

/* Which columns the stored elements of A are. */
static inline void read_metadata(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, uint8_t (*column)[K])
{
    ptxi_sparse_columns(x->a_bits, x->k, x->selector, register_of(w, x, OPERAND_E, 0, first, 4), column[0], K);
}

static inline void read_codes(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, struct codes *t)
{
    unsigned char a[M][LINE], b[N][LINE];

    t->stored = x->sparse ? x->k / 2u : x->k;
    read_lines(w, x, OPERAND_A, x->m, first, 4, a);
    read_lines(w, x, OPERAND_B, N, first, 4, b);
    for (unsigned m = 0; m < x->m; m++)
        for (unsigned k = 0; k < t->stored; k++)
            t->a[m][k] = element(a[m], x->a_bits, k);
    for (unsigned n = 0; n < N; n++)
        for (unsigned k = 0; k < x->k; k++)
            t->b[n][k] = element(b[n], x->b_bits, k);
    if (x->sparse)
        read_metadata(w, x, first, t->column);
}

/* The elements of column n of B that meet those stored in row m of A. */
static inline const uint32_t *partners(const struct codes *t, bool sparse, unsigned m, unsigned n, uint32_t *room)
{
    if (!sparse)
        return t->b[n];
    for (unsigned k = 0; k < t->stored; k++)
        room[k] = t->b[n][t->column[m][k]];
    return room;
}

/* --- C and D --- */

static inline void read_c(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, uint32_t (*c)[N])
{
    for (unsigned r = 0; r < registers(x, OPERAND_C); r++) {
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
    for (unsigned r = 0; r < registers(x, OPERAND_D); r++) {
        uint32_t *to;

        if (x->slots[r] == PTXI_NO_SLOT)
            continue;
        to = register_of(w, x, OPERAND_D, r, first, 4);
        for (unsigned l = 0; l < 32; l++)
            to[l] = x->d_f16 ? d[r * 8 + l / 4][l % 4 * 2] | d[r * 8 + l / 4][l % 4 * 2 + 1] << 16 : d[r / 2 * 8 + l / 4][l % 4 * 2 + r % 2];
    }
}

/* The same column by column, d[n * M + m]. */

static inline void read_columns(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, uint32_t *c)
{
    ptxi_tile_read(w, x->slots + x->first[OPERAND_C], registers(x, OPERAND_C), x->c_f16, first, c);
}

static inline void write_columns(const struct ptxi_warp *w, const struct ptxi_mma *x, unsigned first, const uint32_t *d)
{
    ptxi_tile_write(w, x->slots, registers(x, OPERAND_D), x->d_f16, first, d);
}

/* Sums are f16 only if both C and D are. */
static inline uint32_t c_of_sum(const struct ptxi_mma *x, uint32_t c)
{
    return x->c_f16 && !x->d_f16 ? ptxi_num_bits_f32(ptxi_num_f32_from_f16_bits((uint16_t)c)) : c;
}

/* An operation: `multiply` for each warp of 32 that is here as a whole. */
#define MMA(name, multiply, ...)                                                        \
    OP( mma_##name )                                                                    \
    {                                                                                   \
        const struct ptxi_mma *x = description(w, i);                                   \
                                                                                        \
        if (w->active != w->live && ptxi_absent(w))                                     \
            return ptxi_leave_aligned(w, i);                                            \
        for (unsigned first = 0; first < PTXI_LANES; first += 32)                       \
            if (w->active & ptxi_warp32_lanes(first / 32))                              \
                multiply(w, x, first, ##__VA_ARGS__);                                   \
        NEXT;                                                                           \
    }

#endif
