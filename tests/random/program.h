/* Random PTX programs. Instructions are drawn from the instruction table. Seed and program number determine a program.
 *
 * A program is a kernel with its functions. A thread reads a row of operands of all types, computes, and writes up to
 * PROGRAM_OUTPUTS 64-bit words. Programs are deterministic: there are no undefined operands, and results do not depend
 * on the order of threads. */
#ifndef PTXI_TESTS_PROGRAM_H
#define PTXI_TESTS_PROGRAM_H

#include <stdint.h>
#include <stdio.h>

enum {
    PROGRAM_BLOCK = 256, PROGRAM_GRID = 4, PROGRAM_ROWS = PROGRAM_BLOCK * PROGRAM_GRID,
    PROGRAM_OUTPUTS = 32, /* 64-bit output columns per row */
    PROGRAM_CELL = 16,    /* bytes of private memory per row, initially zero */
    PROGRAM_WORDS = 8     /* 64-bit words of the structure parameter (the last one) */
};

/* Program kinds, from common to rare features. */
enum program_kind {
    PROGRAM_STRAIGHT,
    PROGRAM_CONSTANTS /* many constant operands */,
    PROGRAM_BRANCHES,
    PROGRAM_ANYTHING,
    PROGRAM_KINDS
};
extern const char *const program_kinds[PROGRAM_KINDS];
enum program_kind program_kind(unsigned number);

/* Fills the operands: program_columns() columns of PROGRAM_ROWS 64-bit words. */
unsigned program_columns(void);
void program_operands(uint64_t *out);

/* Generates kernel p<number>(u64 operands, u64 outputs, u64 cells, 64 bytes of any value). Each module has one .version
 * directive. */
void program_print_head(FILE *out);
void program_print(FILE *out, unsigned number);

#endif
