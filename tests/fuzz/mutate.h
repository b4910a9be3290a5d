/* Syntax-aware mutation of PTX for both fuzz targets. libFuzzer calls the functions with the LLVMFuzzer prefix; tests
 * call mutants(). */
#ifndef TESTS_FUZZ_MUTATE_H
#define TESTS_FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max); /* built-in mutations of libFuzzer */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t an, const uint8_t *b, size_t bn, uint8_t *out, size_t max,
                                 unsigned seed);

bool tedious(const uint8_t *data, size_t size); /* too slow for fuzzing */

/* Runs the target on `count` mutated texts. The sequence is deterministic. */
void mutants(const uint8_t *data, size_t size, unsigned count);

#endif
