/* Values of operands for the conformance cases, chosen by type and role.
 *
 * A column is what one input reads, row by row. Its first rows cross special values with those of the other inputs, the
 * others are random in several modes, 1024 rows each; the inputs of a row are drawn together, so that exponents can
 * meet, products cancel and quotients fall half way. Two cases whose inputs have the same types share their columns. */
#ifndef PTXI_TESTS_COLUMN_H
#define PTXI_TESTS_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    COLUMN_CROSSED = 4096,    /* rows that cross special values */
    COLUMN_ROWS = 16384,      /* with the random ones */
    COLUMN_ALL = 65536        /* rows of the column that holds every 16-bit value */
};

enum value_class {
    VALUE_INT,
    VALUE_COUNT, /* a shift distance, a position, a length */
    VALUE_FLOAT,
    VALUE_PRED,  /* 0 or 1 */
    VALUE_GROUP  /* few values, chosen warp by warp, for what compares lanes */
};

struct column {
    uint8_t class;     /* enum value_class */
    uint8_t bits;      /* of an element */
    uint8_t fraction;  /* of VALUE_FLOAT: its fraction bits */
    uint8_t lanes;     /* elements side by side */
    uint8_t width; /* 16, 32 or 64: of the register; where the elements are narrower, random bits stand above them */
    uint8_t position, inputs; /* which one it is of how many that are crossed; of VALUE_PRED: which one, and 0 */
    uint8_t all;       /* every value of 16 bits instead */
};

uint64_t column_value(const struct column *c, uint32_t row);

/* All values, width / 8 bytes each. */
void column_fill(const struct column *c, uint32_t rows, void *out);

uint64_t column_mix(uint64_t z);

/* 0, or what the environment's PTXI_SEED makes of it: other random values, and other programs, than those that are
 * recorded. */
uint64_t column_seed(void);

/* A number for text or values; `h` is the number so far. */
uint64_t column_hash(uint64_t h, const void *data, size_t size);

#endif
