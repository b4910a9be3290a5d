/* Helpers for replays of recordings that are read completely into memory. */
#ifndef PTXI_TESTS_REPLAY_H
#define PTXI_TESTS_REPLAY_H

#include "ptxi.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct blob {
    const unsigned char *p;
    uint32_t n;
};

static inline void must(ptxiResult r, const char *what)
{
    const char *name = "?";

    if (!r)
        return;
    ptxiGetErrorName(r, &name);
    fprintf(stderr, "%s: %s\n", what, name);
    exit(1);
}
#define OK(call) must(call, #call) /* exits the program on failure */

/* Reads a file that starts with an 8-letter magic. Exits on failure. The caller frees the result. */
static inline unsigned char *read_recording(const char *name, const char *begin, size_t *size)
{
    FILE *f = fopen(name, "rb");
    unsigned char *p;

    if (!f || fseek(f, 0, SEEK_END)) {
        perror(name);
        exit(1);
    }
    *size = (size_t)ftell(f);
    rewind(f);
    p = malloc(*size + 1);
    if (!p || fread(p, 1, *size, f) != *size || *size < 8 || memcmp(p, begin, 8)) {
        fprintf(stderr, "%s: not a recording\n", name);
        exit(1);
    }
    fclose(f);
    return p;
}

#endif
