/* The conformance cases of matrix instructions: a kernel for every form of mma and wgmma.mma_async that the table has
 * for sm_90a.
 *
 * A warp executes one instruction after the other, each with operands of another regime, drawn from a pool of values
 * for each type and regime by a hash of the number of the instruction, the lane and the register. So nothing has to be
 * transferred, and the library runs the same kernel. A record holds for each regime and each quarter of the warps a
 * digest, then the results of MATRIX_FULL instructions plainly: for each instruction and register of D the words of 32
 * lanes.
 *
 * With wgmma it is a warpgroup, and of its 128 threads the words; what is in shared memory is drawn in the same way, 16
 * bytes at a time. Each quarter writes the instruction in a way of its own: the constants (signs, transposition,
 * selector), the swizzling modes and where in the pattern a matrix begins, which from one N to the next are others.
 * Results are kept plainly where N is 8; with the other N there are only more columns. */
#ifndef PTXI_TESTS_MATRIX_H
#define PTXI_TESTS_MATRIX_H

#include <stdio.h>

#include "isa/isa.h"

enum {
    MATRIX_REGIMES = 16,
    MATRIX_POOL = 256, /* values of a regime */
    MATRIX_STRIDE =
        MATRIX_POOL + 128, /* ... of which the first come once more, so that registers may be consecutive values */
    MATRIX_BLOCK = 128,
    MATRIX_BLOCKS = 256, /* threads of a block; blocks: of 4 warps, of which each executes one instruction a regime */
    MATRIX_PARTS = 4,
    MATRIX_DIGESTS = MATRIX_PARTS * MATRIX_REGIMES,
    MATRIX_FULL = 16,
    MATRIX_GROUP_OUTPUTS = 1 << 20 /* of wgmma, at least */
};

enum matrix_values {
    MATRIX_F16, MATRIX_BF16, MATRIX_TF32, MATRIX_E4M3, MATRIX_E5M2, MATRIX_BITS,
    MATRIX_C_F16, MATRIX_C_F32, MATRIX_C_S32, MATRIX_F64, MATRIX_PAIRS, MATRIX_PAIRS_ANY, MATRIX_HALVES, MATRIX_VALUES
};
extern const char *const matrix_value_names[MATRIX_VALUES];

/* Bits of a float's fields; of other values none. */
struct matrix_layout {
    int exponent, fraction;
};
extern const struct matrix_layout matrix_layouts[MATRIX_VALUES];

static inline uint64_t matrix_ones(int bits)
{
    return bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;
}

/* A value of a pool: 32 bits, of f64 64. With column_seed() it is one of other regimes, for a recording that is
 * compared once and not kept: what no rule was made from. */
uint64_t matrix_value(enum matrix_values kind, unsigned regime, unsigned i);
uint64_t matrix_other_value(enum matrix_values kind, unsigned regime, unsigned i);

struct matrix_operand {
    uint8_t values; /* enum matrix_values */
    uint8_t count;  /* registers */
};

struct matrix_form {
    char *name;               /* the instruction */
    struct matrix_operand in[4];
    uint8_t inputs, results;  /* operands; registers of D */
    bool braces_d;
    bool wide;                /* registers of 64 bits */
    int selector;             /* of mma.sp, or -1 */
    uint64_t key;
    const struct ptxi_row *row;
    uint16_t n, k;            /* of wgmma; else n is 0 */
    uint8_t bits;             /* of its elements */
    bool sparse, a_in_memory;
};

/* Of wgmma: their places in `in`. */
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
    return 32u * f->results * (f->wide ? 2 : 1); /* of one instruction, as far as they are kept */
}

/* Blocks of MATRIX_BLOCK threads, a multiple of MATRIX_PARTS. */
static inline unsigned matrix_blocks(const struct matrix_form *f)
{
    const unsigned outputs = MATRIX_PARTS * MATRIX_REGIMES * 64u * f->n;

    return f->n ? (MATRIX_GROUP_OUTPUTS + outputs - 1) / outputs * MATRIX_PARTS : MATRIX_BLOCKS;
}

/* A module with these forms: kernels m<key>(u64 digests, u64 full, u32 instructions to write there, u32 number of the
 * first block). */
void matrix_print_module(FILE *out, const struct matrix_form *forms, size_t count);

/* Parts of it: %x, mixed, which is what a digest is a sum of and what chooses operands; %at, where in the pool of
 * `kind` the value is that %x chooses; and the kernel of a form of wgmma. */
void matrix_print_mix(FILE *out);
void matrix_print_pick(FILE *out, enum matrix_values kind);
void matrix_print_group(FILE *out, const struct matrix_form *f);

#endif
