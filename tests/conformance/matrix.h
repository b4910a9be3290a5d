/* The conformance cases of matrix instructions: a kernel for every form of mma that the table has for sm_90a.
 *
 * A warp executes one instruction after the other, each with operands of another regime, drawn from a pool of values for each type
 * and regime by a hash of the number of the instruction, the lane and the register. So nothing has to be transferred, and the library
 * runs the same kernel. A record holds for each regime and each quarter of the warps a digest, then the results of MATRIX_FULL
 * instructions plainly: for each instruction and register of D the words of 32 lanes. */
#ifndef PTXI_TESTS_MATRIX_H
#define PTXI_TESTS_MATRIX_H

#include <stdio.h>

#include "isa/isa.h"

enum {
    MATRIX_REGIMES = 16, MATRIX_POOL = 256, /* values of a regime */
    MATRIX_BLOCK = 128, MATRIX_BLOCKS = 256, /* threads of a block; blocks: of 4 warps, of which each executes one instruction a regime */
    MATRIX_PARTS = 4, MATRIX_DIGESTS = MATRIX_PARTS * MATRIX_REGIMES, MATRIX_FULL = 16
};

enum matrix_values {
    MATRIX_F16, MATRIX_BF16, MATRIX_TF32, MATRIX_E4M3, MATRIX_E5M2, MATRIX_BITS,
    MATRIX_C_F16, MATRIX_C_F32, MATRIX_C_S32, MATRIX_F64, MATRIX_PAIRS, MATRIX_PAIRS_ANY, MATRIX_HALVES, MATRIX_VALUES
};
extern const char *const matrix_value_names[MATRIX_VALUES];

/* A value of a pool: 32 bits, of f64 64. */
uint64_t matrix_value(enum matrix_values kind, unsigned regime, unsigned i);

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
};

struct matrix_forms {
    struct matrix_form *v;
    size_t count;
};

struct matrix_forms *matrix_make(void);
void matrix_free(struct matrix_forms *forms);

static inline unsigned matrix_words(const struct matrix_form *f)
{
    return 32u * f->results * (f->wide ? 2 : 1); /* of one instruction */
}

/* A module with these forms: kernels m<key>(u64 digests, u64 full, u32 instructions to write there, u32 number of the first block). */
void matrix_print_module(FILE *out, const struct matrix_form *forms, size_t count);

#endif
