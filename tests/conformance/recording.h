/* The answers of a GPU to the conformance cases, in a file written by record.py.
 *
 * The file starts with lines of text (the GPU, the driver, the assembler) and an empty line. Then come, little-endian,
 * the u32 number of entries and the u32 number of words. Each entry has a u64 key and the u32 index of its record's
 * first word. The words follow. Equal records are stored once. */
#ifndef PTXI_TESTS_RECORDING_H
#define PTXI_TESTS_RECORDING_H

#include <stddef.h>
#include <stdint.h>

struct recording;

/* Exits with a message if the file is not a recording. */
struct recording *recording_read(const char *path);
void recording_free(struct recording *r);

/* Returns the record of `words` words with this key, or NULL. */
const uint32_t *recording_find(const struct recording *r, uint64_t key, size_t words);

size_t recording_count(const struct recording *r);

#endif
