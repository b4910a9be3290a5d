/* What a GPU answered to the conformance cases, in a file that record.py writes.
 *
 * Lines of text (the GPU, the driver, the assembler) up to an empty one; then, little-endian, u32 entries and u32
 * words; for each entry u64 key and u32 index of its record's first word; and the words. Equal records are kept once.
 */
#ifndef PTXI_TESTS_RECORDING_H
#define PTXI_TESTS_RECORDING_H

#include <stddef.h>
#include <stdint.h>

struct recording;

/* Ends the program with a message when the file is not one. */
struct recording *recording_read(const char *path);
void recording_free(struct recording *r);

/* The record of `words` words under that key, or NULL. */
const uint32_t *recording_find(const struct recording *r, uint64_t key, size_t words);

size_t recording_count(const struct recording *r);

#endif
