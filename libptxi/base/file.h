/* Reads whole files into memory. */
#ifndef PTXI_BASE_FILE_H
#define PTXI_BASE_FILE_H

#include <stddef.h>
#include <stdio.h>

/* Limit for PTX text. A longer file is not PTX, and a stream may be endless. */
#define PTXI_MOST_TEXT ((size_t)1 << 30)

/* Reads the rest of a stream and appends a NUL. The caller frees the result with free(). On error it returns NULL and
 * sets errno: EFBIG if the stream has more than `most` bytes. */
char *ptxi_read_all(FILE *f, size_t most, size_t *size);

#endif
