/* Whole files in memory. */
#ifndef PTXI_BASE_FILE_H
#define PTXI_BASE_FILE_H

#include <stddef.h>
#include <stdio.h>

/* What is longer is no PTX, but may have no end at all. */
#define PTXI_MOST_TEXT ((size_t)1 << 30)

/* The rest of a stream, with a NUL behind it, which the caller frees; NULL: errno tells why, EFBIG if there are more bytes than `most`. */
char *ptxi_read_all(FILE *f, size_t most, size_t *size);

#endif
