/* Operand values for the conformance cases, chosen by type and role.
 *
 * A column holds the values of one input, row by row. The first rows cross its special values with those of the other
 * inputs. The remaining rows are random in several modes, 1024 rows each. The inputs of a row are drawn together, so
 * that exponents match, products cancel and quotients fall on midpoints. Cases with the same input types share their
 * columns.
 */
#ifndef PTXI_TESTS_COLUMN_H
#define PTXI_TESTS_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    COLUMN_CROSSED = 4096,    /* rows that cross special values */
    COLUMN_ROWS = 16384,      /* including the random ones */
    COLUMN_ALL = 65536        /* rows of the column with every 16-bit value */
};

enum value_class {
    VALUE_INT,
    VALUE_COUNT, /* a shift distance, a position, a length */
    VALUE_FLOAT,
    VALUE_PRED,  /* 0 or 1 */
    VALUE_GROUP  /* few values, chosen per warp, for instructions that compare lanes */
};

struct column {
    uint8_t class;     /* enum value_class */
    uint8_t bits;      /* of an element */
    uint8_t fraction;  /* fraction bits of VALUE_FLOAT */
    uint8_t lanes;     /* number of packed elements */
    uint8_t width; /* register width: 16, 32 or 64; bits above narrower elements are random */
    uint8_t position, inputs; /* index and count among the crossed inputs; for VALUE_PRED: index and 0 */
    uint8_t all;       /* use every 16-bit value instead */
};

uint64_t column_value(const struct column *c, uint32_t row);

/* All values, width / 8 bytes each. */
void column_fill(const struct column *c, uint32_t rows, void *out);

uint64_t column_mix(uint64_t z);

/* Returns 0, or a seed derived from the environment variable PTXI_SEED. A seed selects random values and programs that
 * differ from the recorded ones. */
uint64_t column_seed(void);

/* Hashes text or values. `h` is the hash so far. */
uint64_t column_hash(uint64_t h, const void *data, size_t size);

#endif
