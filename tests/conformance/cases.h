/* The conformance cases: made from the table of instruction forms, a kernel for every form that computes.
 *
 * A case is a form, which is one choice of qualifiers in a row, with one way to write its operands. Qualifiers are
 * combined without exception. Of the ways to write operands (selectors of the video instructions, a negated predicate,
 * the missing second destination, a wider register, ...) each is tried with every form where there are few, and with
 * forms chosen by a hash of the spelling where there are many: they mean the same in all forms of an instruction.
 *
 * A case's kernel reads columns of operands and writes what the instruction gives as columns of 32-bit words. The
 * kernel `digest` sums those up, so that a recording holds for each case a record: a digest for every 256 rows that
 * cross special values and for every 1024 random rows, then CASE_FULL rows plainly.
 *
 * Beside them there are chains of instructions, which an assembler may fuse: they come twice, once fused and once not.
 *
 * Forms with 32 bits of operands in all have another kernel, which tries all of them: a digest for each 2^23. */
#ifndef PTXI_TESTS_CASES_H
#define PTXI_TESTS_CASES_H

#include <stdio.h>

#include "conformance/column.h"
#include "isa/isa.h"

enum {
    CASE_INPUTS = 4,
    CASE_WORDS = 12,
    CASE_FULL = 16,
    CASE_BLOCK = 128, /* threads of a block, one a row */
    CASE_FINE = 256,
    CASE_COARSE = 1024, /* rows of a digest */
    EXHAUSTIVE_DIGESTS = 512,
    EXHAUSTIVE_BLOCKS = 64,
    EXHAUSTIVE_THREADS = 256 /* of blocks of threads a digest, and of threads */
};

/* Registers of a kernel by width: predicates, and 8 to 128 bits. */
enum case_register { REG_PRED, REG_8, REG_16, REG_32, REG_64, REG_128, REG_KINDS };

struct conformance_case {
    const struct ptxi_row *row;     /* NULL: a chain */
    uint16_t words[PTXI_MAX_SLOTS]; /* as in ptxi_match */
    char *name;                     /* the instruction, and in brackets what its text does not show */
    char *body;                     /* from registers with the inputs to 32-bit registers with the outputs */
    struct column input[CASE_INPUTS];
    uint8_t inputs, outputs;        /* number of inputs, of words of output */
    uint8_t input_register[CASE_INPUTS], output_register[CASE_WORDS];
    uint8_t registers[REG_KINDS];   /* how many of each there are */
    bool global_cell, shared_cell;  /* memory of the kernel's own, 16 bytes a thread */
    bool small;                     /* the operands are 32 bits in all: see struct exhaustive */
    bool again;                     /* an earlier case, of another row, is the same */
    bool apart;                     /* for an assembler told not to fuse products and sums */
    uint32_t rows, fine;            /* rows in all; and of those, in CASE_FINE at a time */
    uint64_t key;                   /* names it in a recording: hash of the kernel and the operands */
};

/* How 32 bits become the operands. */
enum spread {
    SPREAD_WHOLE,
    SPREAD_HALVES /* the first operand is the upper half */,
    SPREAD_UPPER /* the lower half of 64 bits is constant */,
    SPREAD_SECOND /* the first operand is constant */
};

struct exhaustive {
    const struct conformance_case *of;
    enum spread spread;
    uint32_t constant;
    uint64_t key;
};

/* A form without a case, or all of a section. */
struct left_out {
    char *name;
    const char *why;
};

struct cases {
    struct conformance_case *v;
    struct exhaustive *all;
    struct left_out *out;
    size_t count, all_count, out_count;
};

/* Everything; ends the program with a message when a row's section has no rule, or memory is short. */
struct cases *cases_make(void);
void cases_free(struct cases *cs);

/* Digests in a record, and its words in all. */
unsigned case_digests(const struct conformance_case *c);
unsigned case_record_words(const struct conformance_case *c);

/* The rows that are recorded in full are so far apart. */
static inline uint32_t case_full_step(const struct conformance_case *c)
{
    return c->fine ? 1 : 4099;
}

/* PTX: the head of a module, kernel k<key> of a case, x<key> of an exhaustive one, and `digest`. Their parameters are
 *
 *     k  u64 x 4 columns, u64 output, u64 memory (16 bytes a row), u32 rows          CASE_BLOCK threads, one a row
 *     x  u64 digests, u32 number of the first block, u32 zero                        EXHAUSTIVE_THREADS threads; block
 * b adds to digest b / EXHAUSTIVE_BLOCKS digest  u64 output, u64 record (zeros), u32 rows, u32 fine rows, u32 words of
 * output, u32 step of full rows CASE_BLOCK threads, a warp a digest */
void case_print_head(FILE *out);
void case_print_kernel(FILE *out, const struct conformance_case *c);
void case_print_exhaustive(FILE *out, const struct exhaustive *x);
void case_print_digest(FILE *out);

#endif
