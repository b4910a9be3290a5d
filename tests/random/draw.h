/* Between program.c, which says what a program does, and draw.c, which draws instructions and their operands. */
#ifndef PTXI_TESTS_DRAW_H
#define PTXI_TESTS_DRAW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "conformance/column.h"

/* What a register holds. */
enum flavour { IS_PRED, IS_B16, IS_F16, IS_BF16, IS_B32, IS_F32, IS_F16X2, IS_BF16X2, IS_B64, IS_F64, FLAVOURS };

/* Registers are %p0, %h0, %r0, %d0, ... by width. */
enum width { WIDTH_1, WIDTH_16, WIDTH_32, WIDTH_64, WIDTHS };

struct flavour_info {
    uint8_t width; /* enum width */
    struct column column; /* of its values; .width is 0 for predicates */
};
extern const struct flavour_info flavours[FLAVOURS];
extern const uint8_t width_bits[WIDTHS];
extern const char width_letters[WIDTHS + 1];

struct value {
    uint8_t flavour;
    uint16_t number, uses;
    bool made; /* by a drawn instruction */
};

enum { MOST_VALUES = 256 };

struct scope {
    uint64_t random;
    FILE *out;
    struct value values[MOST_VALUES]; /* those that are defined here */
    unsigned count, outer;            /* the first `outer` are operands of the program */
    struct value *wanted, *last;      /* what the next operand of its kind is to be, or NULL; what has been made last */
    unsigned registers[WIDTHS], labels;
    enum flavour theme;               /* what most instructions are about; FLAVOURS: anything */
    unsigned constants;               /* of 100 operands so many are constants */
    bool folds;                       /* even all of an instruction's, which an assembler computes then */
    char mask[16];                    /* the lanes that are here, all of the warp's that are; "" where nobody knows */
    bool cells;                       /* %cell and %shared are a thread's memory */
};

struct operand {
    char s[40];
};

unsigned draw(struct scope *s, unsigned below);
static inline bool chance(struct scope *s, unsigned percent)
{
    return draw(s, 100) < percent;
}

/* A register that no drawn instruction sees. */
struct operand draw_register(struct scope *s, enum width w);
struct operand draw_constant(struct scope *s, enum flavour f);

/* A value, preferably of that flavour and used lately, of the same width in any case. */
struct operand draw_value(struct scope *s, enum flavour f);

/* A register for a new value; or, with `old`, one that has a value already. */
struct operand draw_destination(struct scope *s, enum flavour f, bool old);

/* Makes the register a value. */
void add_value(struct scope *s, enum flavour f, struct operand r);

/* One instruction, or a few that carry into each other. */
void draw_instruction(struct scope *s);

#endif
