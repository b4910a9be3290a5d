/* The conformance cases of matrix instructions. Every form of mma and wgmma.mma_async in the table for sm_90a has a
 * kernel.
 *
 * A warp executes a sequence of instructions, each with operands of another regime. There is a pool of values for each
 * type and regime. A hash of the instruction number, the lane and the register selects a value. Thus no operands need
 * to be transferred, and the library runs the same kernel. A record holds a digest for each regime and each quarter of
 * the warps, then the full results of MATRIX_FULL instructions: the words of 32 lanes for each instruction and register
 * of D.
 *
 * For wgmma the unit is a warpgroup with the words of its 128 threads. Shared memory is filled the same way, 16 bytes
 * at a time. Each quarter uses different constants (signs, transposition, selector), swizzling modes and matrix offsets
 * in the swizzle pattern. These also vary with N. Full results are kept only for N = 8; a larger N only adds
 * columns. */
#ifndef PTXI_TESTS_MATRIX_H
#define PTXI_TESTS_MATRIX_H

#include <stdio.h>

#include "isa/isa.h"

enum {
    MATRIX_REGIMES = 16,
    MATRIX_POOL = 256, /* values per regime */
    MATRIX_STRIDE =
        MATRIX_POOL + 128, /* ... the first ones are repeated, so that registers can hold consecutive values */
    MATRIX_BLOCK = 128,
    MATRIX_BLOCKS = 256, /* threads per block; blocks of 4 warps, each warp executes one instruction per regime */
    MATRIX_PARTS = 4,
    MATRIX_DIGESTS = MATRIX_PARTS * MATRIX_REGIMES,
    MATRIX_FULL = 16,
    MATRIX_GROUP_OUTPUTS = 1 << 20 /* minimum for wgmma */
};

enum matrix_values {
    MATRIX_F16, MATRIX_BF16, MATRIX_TF32, MATRIX_E4M3, MATRIX_E5M2, MATRIX_BITS,
    MATRIX_C_F16, MATRIX_C_F32, MATRIX_C_S32, MATRIX_F64, MATRIX_PAIRS, MATRIX_PAIRS_ANY, MATRIX_HALVES, MATRIX_VALUES
};
extern const char *const matrix_value_names[MATRIX_VALUES];

/* Field widths of a float. Zero for other types. */
struct matrix_layout {
    int exponent, fraction;
};
extern const struct matrix_layout matrix_layouts[MATRIX_VALUES];

static inline uint64_t matrix_ones(int bits)
{
    return bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
}

/* Returns a value of a pool: 32 bits, or 64 for f64. With column_seed() it uses other regimes, for a recording that is
 * compared once and not kept. No rule was derived from these values. */
uint64_t matrix_value(enum matrix_values kind, unsigned regime, unsigned i);
uint64_t matrix_other_value(enum matrix_values kind, unsigned regime, unsigned i);

struct matrix_operand {
    uint8_t values; /* enum matrix_values */
    uint8_t count;  /* registers */
};

struct matrix_form {
    char *name;               /* the instruction */
    struct matrix_operand in[4];
    uint8_t inputs, results;  /* operand count; registers of D */
    bool braces_d;
    bool wide;                /* registers of 64 bits */
    int selector;             /* of mma.sp, or -1 */
    uint64_t key;
    const struct ptxi_row *row;
    uint16_t n, k;            /* of wgmma; otherwise n is 0 */
    uint8_t bits;             /* of its elements */
    bool sparse, a_in_memory;
};

/* For wgmma: their indices in `in`. */
enum { MATRIX_A, MATRIX_B, MATRIX_C, MATRIX_E };

struct matrix_forms {
    struct matrix_form *v;
    size_t count;
};

struct matrix_forms *matrix_make(void);
void matrix_free(struct matrix_forms *forms);

static inline unsigned matrix_words(const struct matrix_form *f)
{
    if (f->n)
        return f->n == 8 ? 128u * f->results : 0;
    return 32u * f->results * (f->wide ? 2 : 1); /* of one instruction, limited to the kept ones */
}

/* Number of blocks of MATRIX_BLOCK threads, a multiple of MATRIX_PARTS. */
static inline unsigned matrix_blocks(const struct matrix_form *f)
{
    const unsigned outputs = MATRIX_PARTS * MATRIX_REGIMES * 64u * f->n;

    return f->n ? (MATRIX_GROUP_OUTPUTS + outputs - 1) / outputs * MATRIX_PARTS : MATRIX_BLOCKS;
}

/* Prints a module with these forms. The kernels are m<key>(u64 digests, u64 full, u32 number of instructions to write
 * to `full`, u32 number of the first block). */
void matrix_print_module(FILE *out, const struct matrix_form *forms, size_t count);

/* Print parts of a module. matrix_print_mix() mixes %x, for digest sums and operand selection. matrix_print_pick() sets
 * %at to the position in the pool of `kind` that %x selects. matrix_print_group() prints the kernel of a wgmma form. */
void matrix_print_mix(FILE *out);
void matrix_print_pick(FILE *out, enum matrix_values kind);
void matrix_print_group(FILE *out, const struct matrix_form *f);

#endif
