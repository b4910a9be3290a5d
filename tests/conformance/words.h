/* Random words for the operands of matrix instructions, made in a kernel from the register %seed. Numbers are drawn as
 * three kinds of operands need them: any bits; finite ones with exponents far apart, so that terms are cut off; finite
 * ones with exponents close to each other. */
#ifndef PTXI_TESTS_WORDS_H
#define PTXI_TESTS_WORDS_H

#include <stdint.h>
#include <stdio.h>

enum { WORDS_RAW, WORDS_WIDE, WORDS_NARROW, WORDS_KINDS };

extern const char *const words_kinds[WORDS_KINDS];

/* What is kept of random bits and what is set in a word of packed elements. */
struct words_masks {
    uint32_t keep[WORDS_KINDS], set[WORDS_KINDS];
};
extern const struct words_masks words_f16, words_bf16, words_tf32, words_e4m3, words_e5m2, words_f32, words_bits;
extern const struct words_masks words_f64; /* of the upper word */
extern const struct words_masks words_sum; /* integers near the ends of their range */

/* %x becomes a random word of the thread, the `index`th; %s is used. */
void words_put(FILE *out, const char *x, const char *index);
void words_mask(FILE *out, const char *x, const struct words_masks *m, unsigned kind);

#endif
