/* Interface between program.c (program structure) and draw.c (random instructions and operands). */
#ifndef PTXI_TESTS_DRAW_H
#define PTXI_TESTS_DRAW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "conformance/column.h"

/* Kinds of register values. */
enum flavour { IS_PRED, IS_B16, IS_F16, IS_BF16, IS_B32, IS_F32, IS_F16X2, IS_BF16X2, IS_B64, IS_F64, FLAVOURS };

/* Register names by width: %p0, %h0, %r0, %d0, ... */
enum width { WIDTH_1, WIDTH_16, WIDTH_32, WIDTH_64, WIDTHS };

struct flavour_info {
    uint8_t width; /* enum width */
    struct column column; /* distribution of values; .width is 0 for predicates */
};
extern const struct flavour_info flavours[FLAVOURS];
extern const uint8_t width_bits[WIDTHS];
extern const char width_letters[WIDTHS + 1];

struct value {
    uint8_t flavour;
    uint16_t number, uses;
    bool made; /* result of a drawn instruction */
};

enum { MOST_VALUES = 256 };

struct scope {
    uint64_t random;
    FILE *out;
    struct value values[MOST_VALUES]; /* values defined here */
    unsigned count, outer;            /* the first `outer` are operands of the program */
    struct value *wanted, *last;      /* next operand of its flavour, or NULL; newest result */
    unsigned registers[WIDTHS], labels;
    enum flavour theme;               /* operand flavour of most instructions; FLAVOURS: any */
    unsigned constants;               /* percentage of constant operands */
    bool folds;                       /* allow instructions with only constant sources, to test folding */
    char mask[16];                    /* mask of all active lanes of the warp; "": not known */
    bool cells;                       /* %cell and %shared address memory of the thread */
};

struct operand {
    char s[40];
};

unsigned draw(struct scope *s, unsigned below);
static inline bool chance(struct scope *s, unsigned percent)
{
    return draw(s, 100) < percent;
}

/* Returns a new register that drawn instructions do not use. */
struct operand draw_register(struct scope *s, enum width w);
struct operand draw_constant(struct scope *s, enum flavour f);

/* Returns a value of the same width, preferably recent and of the same flavour. */
struct operand draw_value(struct scope *s, enum flavour f);

/* Returns a register for a new value. With `old`, reuses a register that has a value. */
struct operand draw_destination(struct scope *s, enum flavour f, bool old);

/* Adds the register to the values of the scope. */
void add_value(struct scope *s, enum flavour f, struct operand r);

/* Draws one instruction, or a chain of carry instructions. */
void draw_instruction(struct scope *s);

#endif
