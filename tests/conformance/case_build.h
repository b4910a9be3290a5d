/* Shared by cases.c, which selects forms and ways to write them, and case_build.c, which emits the code. */
#ifndef PTXI_TESTS_CASE_BUILD_H
#define PTXI_TESTS_CASE_BUILD_H

#include "conformance/cases.h"

/* Properties common to the rows of a section. */
enum {
    RULE_COUNTS = 1,  /* untyped u32 operands are distances, positions and lengths */
    RULE_CARRY = 2,   /* CC.CF is both an operand and a result */
    RULE_MEMORY = 4,  /* an address of the kernel's own cell, which is an operand and a result */
    RULE_WARP = 8,    /* lanes cooperate */
    RULE_GROUP = 16,  /* ... and compare values: use few different values */
    RULE_MOVES = 32   /* only moves bits: no exhaustive case */
};

/* A way to write the operands. */
struct variant {
    bool one;          /* omit the optional second destination */
    uint8_t sink;      /* destination number this - 1 is _ */
    bool negated;      /* !p */
    uint8_t minus;     /* operand number this - 1 is negated */
    bool wide;         /* registers wider than their types */
    uint8_t known;     /* operand number this - 1 is a constant in a register */
    bool same;         /* all sources of a type use one register */
    uint8_t parts_d, parts_a; /* element count of the brace for d or a */
    uint16_t constant; /* value if only a constant is legal */
    char selector[3][8]; /* selectors of d, a, b, including the dot */
    bool shared;       /* a generic address of shared memory */
    bool half;         /* only the lower half of the warp executes the instruction */
    uint32_t lanes;    /* mask of the executing lanes; 0: all */
};

void case_build(struct conformance_case *c, const struct ptxi_match *m, const struct variant *v, unsigned rule);

/* Advances to the next choice of words in the slots. Returns false after the last. */
bool case_next_choice(const struct ptxi_row *row, unsigned *choice);

/* Returns true if the word only orders accesses or advises caches. */
bool case_word_orders(const struct ptxi_slot *slot, uint16_t word);

/* Returns a selector of the video instructions, including the dot. The number of elements selects the kind: one picked,
 * two swapped, or four. For a destination it is a mask. r holds random bits. */
void case_selector(char *to, unsigned lanes, bool destination, uint64_t r);

/* "add.rn.f32" */
void case_print_spelling(FILE *out, const struct ptxi_row *row, const uint16_t *words);

#endif
