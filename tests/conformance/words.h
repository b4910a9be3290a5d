/* Random words for the operands of matrix instructions. A kernel generates them from the register %seed. There are
 * three kinds of numbers: any bits; finite numbers with distant exponents, so that terms are truncated; and finite
 * numbers with similar exponents. */
#ifndef PTXI_TESTS_WORDS_H
#define PTXI_TESTS_WORDS_H

#include <stdint.h>
#include <stdio.h>

enum { WORDS_RAW, WORDS_WIDE, WORDS_NARROW, WORDS_KINDS };

extern const char *const words_kinds[WORDS_KINDS];

/* AND and OR masks for random bits in a word of packed elements. */
struct words_masks {
    uint32_t keep[WORDS_KINDS], set[WORDS_KINDS];
};
extern const struct words_masks words_f16, words_bf16, words_tf32, words_e4m3, words_e5m2, words_f32, words_bits;
extern const struct words_masks words_f64; /* for the upper word */
extern const struct words_masks words_sum; /* integers near the limits of their range */

/* Sets %x to random word `index` of the thread. Clobbers %s. */
void words_put(FILE *out, const char *x, const char *index);
void words_mask(FILE *out, const char *x, const struct words_masks *m, unsigned kind);

#endif
