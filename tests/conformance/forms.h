/* The conformance kernels: a text file of instruction forms becomes PTX, operand values and expected sizes.
 *
 * One line of a .forms file is
 *
 *     body :: output widths <- input widths :: term + term ...
 *
 * The body is PTX with $a..$c for the inputs and $d, $e for the outputs, all untyped .b registers of the given
 * widths; {x,y} lists alternatives (every combination becomes a form of its own) and <x,y> stands for PTX braces.
 * Scratch registers: $p $q predicates, $h $i 16 bits, $t $u $v $w 32 bits, $T $U $V 64 bits; $mem and $sh are the
 * addresses of 8 private bytes in global and shared memory. A term says which operands are tried:
 *
 *     A*B*C        every combination of three named sets, all outputs recorded
 *     ~A*B*C       the same, recorded as digests
 *     @64(f,u,s9)  64 rows of generated operands, all outputs recorded
 *     #4096(f,f)   4096 rows of generated operands, one digest for each 4096 rows
 *     !256         all 2^32 values of a 32-bit $a, in 256 digests (one input, one output)
 *
 * `set NAME = words` defines a set in hexadecimal; the generators are named in forms.c, "Generated operands". */
#ifndef PTXI_TESTS_FORMS_H
#define PTXI_TESTS_FORMS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { FORM_MAX_OPS = 4, FORM_MAX_TERMS = 8, FORM_DIGEST_ROWS = 4096 };

struct form_set {
    char name[16];
    int n;
    uint64_t *v;
};

enum form_term_kind { TERM_SETS, TERM_ROWS, TERM_DIGEST, TERM_ALL32 };

struct form_term {
    enum form_term_kind kind;
    int n;                                  /* rows; for TERM_ALL32 the number of digests */
    const struct form_set *set[FORM_MAX_OPS];
    char gen[FORM_MAX_OPS][8];
};

struct form {
    char *body;                             /* alternatives chosen, $ names still in place */
    uint64_t key;                           /* names the form in a recording: hash of the expanded line */
    int n_out, n_in, n_terms;
    int out_bits[FORM_MAX_OPS], in_bits[FORM_MAX_OPS];
    struct form_term term[FORM_MAX_TERMS];
};

struct forms {
    struct form *form;
    int n, n_sets;
    struct form_set set[64];
};

/* Reads a .forms file; ends the program with a message on a malformed line. */
struct forms *forms_read(const char *path);
void forms_free(struct forms *fs);

/* Writes the kernel k<index> of a form (and x<index>, if it has a TERM_ALL32). `forms_print_head` goes first. */
void forms_print_head(FILE *out);
void forms_print_kernel(FILE *out, const struct form *f, int index);

/* Operand `op` of row `row` of a term. */
uint64_t forms_operand(const struct form *f, const struct form_term *t, int op, int row);

/* Bytes that the term occupies in a recording. */
size_t forms_term_size(const struct form *f, const struct form_term *t);

uint64_t forms_mix64(uint64_t z);

/* One row's share of a digest; shares are summed modulo 2^64. */
static inline uint64_t forms_digest_row(uint64_t row, uint64_t out0, uint64_t out1)
{
    return forms_mix64(row * 0x9e3779b97f4a7c15u ^ out0 ^ (out1 << 32 | out1 >> 32));
}

#endif
