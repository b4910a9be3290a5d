/* Changes to a text that heed the form of PTX, for both fuzzing targets. libFuzzer calls the two functions that carry
 * its names; tests call mutants(). */
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max); /* libFuzzer's own changes */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t an, const uint8_t *b, size_t bn, uint8_t *out, size_t max,
                                 unsigned seed);

bool tedious(const uint8_t *data, size_t size); /* not worth a fuzzer's time */

/* `count` changed texts through the target, the same ones in each run. */
void mutants(const uint8_t *data, size_t size, unsigned count);

#endif
