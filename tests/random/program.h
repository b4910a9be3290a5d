/* Random programs: PTX that a seed and a number determine, of instructions drawn from the table.
 *
 * A program is a kernel and the functions that it calls. A thread reads a row of operands of all types, computes, and
 * writes up to PROGRAM_OUTPUTS words of 64 bits. What a program does is defined: no operand is undefined, no result
 * depends on the order of threads. */
#ifndef PTXI_TESTS_PROGRAM_H
#define PTXI_TESTS_PROGRAM_H

#include <stdint.h>
#include <stdio.h>

enum {
    PROGRAM_BLOCK = 256, PROGRAM_GRID = 4, PROGRAM_ROWS = PROGRAM_BLOCK * PROGRAM_GRID,
    PROGRAM_OUTPUTS = 32, /* columns of a word of 64 bits a row */
    PROGRAM_CELL = 16,    /* bytes of memory that a row has of its own, zero in the beginning */
    PROGRAM_WORDS = 8     /* 64-bit words of the structure that is the last parameter */
};

/* What a program is made of, from what any is to what few are. */
enum program_kind {
    PROGRAM_STRAIGHT,
    PROGRAM_CONSTANTS /* many operands are */,
    PROGRAM_BRANCHES,
    PROGRAM_ANYTHING,
    PROGRAM_KINDS
};
extern const char *const program_kinds[PROGRAM_KINDS];
enum program_kind program_kind(unsigned number);

/* The operands: program_columns() columns of PROGRAM_ROWS words of 64 bits. */
unsigned program_columns(void);
void program_operands(uint64_t *out);

/* Kernel p<number>(u64 operands, u64 outputs, u64 cells, 64 bytes of any value). Its text says .version once for the
 * module. */
void program_print_head(FILE *out);
void program_print(FILE *out, unsigned number);

#endif
