/* The conformance cases. They are generated from the table of instruction forms, with a kernel for every form that
 * computes.
 *
 * A case is a form with one way to write its operands. A form is one choice of qualifiers in a row. All combinations of
 * qualifiers are used. Ways to write operands include selectors of the video instructions, a negated predicate, a
 * missing second destination and a wider register. With few forms, each way is tried with every form. With many forms,
 * a hash of the spelling selects the forms, because a way has the same meaning in all forms of an instruction.
 *
 * A case's kernel reads columns of operands and writes the results as columns of 32-bit words. The kernel `digest` sums
 * these. A recording holds one record per case: a digest for every 256 rows that cross special values, a digest for
 * every 1024 random rows, and CASE_FULL rows in full.
 *
 * Chains are cases of several instructions, which an assembler may fuse. Each chain is recorded fused and unfused.
 *
 * Forms with 32 operand bits in total also have an exhaustive kernel. It has a digest for each 2^23 operands. */
#ifndef PTXI_TESTS_CASES_H
#define PTXI_TESTS_CASES_H

#include <stdio.h>

#include "conformance/column.h"
#include "isa/isa.h"

enum {
    CASE_INPUTS = 4,
    CASE_WORDS = 12,
    CASE_FULL = 16,
    CASE_BLOCK = 128, /* threads per block, one per row */
    CASE_FINE = 256,
    CASE_COARSE = 1024, /* rows per digest */
    EXHAUSTIVE_DIGESTS = 512,
    EXHAUSTIVE_BLOCKS = 64,
    EXHAUSTIVE_THREADS = 256 /* thread blocks per digest, and threads per block */
};

/* Register counts of a kernel by width: predicates, and 8 to 128 bits. */
enum case_register { REG_PRED, REG_8, REG_16, REG_32, REG_64, REG_128, REG_KINDS };

struct conformance_case {
    const struct ptxi_row *row;     /* NULL for a chain */
    uint16_t words[PTXI_MAX_SLOTS]; /* as in ptxi_match */
    char *name;                     /* the instruction, with details that its text does not show in brackets */
    char *body;                     /* from input registers to 32-bit output registers */
    struct column input[CASE_INPUTS];
    uint8_t inputs, outputs;        /* number of inputs and of output words */
    uint8_t input_register[CASE_INPUTS], output_register[CASE_WORDS];
    uint8_t registers[REG_KINDS];   /* register counts */
    bool global_cell, shared_cell;  /* private memory of the kernel, 16 bytes per thread */
    bool small;                     /* the operands have 32 bits in total: see struct exhaustive */
    bool again;                     /* equal to an earlier case of another row */
    bool apart;                     /* for an assembler that does not fuse products and sums */
    uint32_t rows, fine;            /* total rows; rows with one digest per CASE_FINE */
    uint64_t key;                   /* key in a recording: hash of the kernel and the operands */
};

/* The mapping from 32 bits to the operands. */
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

/* A form without a case, or a whole section without cases. */
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

/* Builds everything. Exits with a message if a row's section has no rule or memory runs out. */
struct cases *cases_make(void);
void cases_free(struct cases *cs);

/* The number of digests in a record, and its size in words. */
unsigned case_digests(const struct conformance_case *c);
unsigned case_record_words(const struct conformance_case *c);

/* The distance between rows that are recorded in full. */
static inline uint32_t case_full_step(const struct conformance_case *c)
{
    return c->fine ? 1 : 4099;
}

/* Print PTX: the head of a module, kernel k<key> of a case, kernel x<key> of an exhaustive case, and `digest`. The
 * parameters are
 *
 *     k       u64 x 4 columns, u64 output, u64 memory (16 bytes per row), u32 rows
 *             Launch with CASE_BLOCK threads per block, one per row.
 *     x       u64 digests, u32 number of the first block, u32 zero
 *             Launch with EXHAUSTIVE_THREADS threads per block. Block b adds to digest b / EXHAUSTIVE_BLOCKS.
 *     digest  u64 output, u64 record (zeros), u32 rows, u32 fine rows, u32 words of output, u32 step of full rows
 *             Launch with CASE_BLOCK threads per block, one warp per digest. */
void case_print_head(FILE *out);
void case_print_kernel(FILE *out, const struct conformance_case *c);
void case_print_exhaustive(FILE *out, const struct exhaustive *x);
void case_print_digest(FILE *out);

#endif
