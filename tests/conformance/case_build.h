/* Between cases.c, which chooses forms and ways to write them, and case_build.c, which writes them. */
#ifndef PTXI_TESTS_CASE_BUILD_H
#define PTXI_TESTS_CASE_BUILD_H

#include "conformance/cases.h"

/* What the rows of a section have in common. */
enum {
    RULE_COUNTS = 1,  /* u32 operands that no qualifier types are distances, positions and lengths */
    RULE_CARRY = 2,   /* CC.CF is an operand and a result */
    RULE_MEMORY = 4,  /* an address: of the kernel's own cell, which is an operand and a result */
    RULE_WARP = 8,    /* lanes work together */
    RULE_GROUP = 16,  /* ... and are compared: few different values */
    RULE_MOVES = 32   /* only moves bits: not worth all 2^32 of them */
};

/* A way to write the operands. */
struct variant {
    bool one;          /* without the second destination that may be missing */
    uint8_t sink;      /* destination number this - 1 is _ */
    bool negated;      /* !p */
    uint8_t minus;     /* operand number this - 1 has a minus */
    bool wide;         /* registers wider than their types */
    uint8_t known;     /* operand number this - 1 is a constant, in a register */
    bool same;         /* all sources of a type are one register */
    uint8_t parts_d, parts_a; /* elements of the brace that stands for d or a */
    uint16_t constant; /* where only a constant may stand */
    char selector[3][8]; /* of d, a, b, with the dot */
    bool shared;       /* a generic address of shared memory */
    bool half;         /* only the lower half of the warp executes it */
    uint32_t lanes;    /* only these lanes do; 0: all */
};

void case_build(struct conformance_case *c, const struct ptxi_match *m, const struct variant *v, unsigned rule);

/* The next choice of words in the slots; false after the last. */
bool case_next_choice(const struct ptxi_row *row, unsigned *choice);

/* Whether the word only orders accesses or advises caches. */
bool case_word_orders(const struct ptxi_slot *slot, uint16_t word);

/* A selector of the video instructions, with the dot, by the number of elements in a register: one that is picked, two
 * that change places, four. Of a destination it is a mask. r are random bits. */
void case_selector(char *to, unsigned lanes, bool destination, uint64_t r);

/* "add.rn.f32" */
void case_print_spelling(FILE *out, const struct ptxi_row *row, const uint16_t *words);

#endif
