/* Reads the binary files that are next to the tests, and makes fat binaries. */
#ifndef PTXI_TESTS_BINARY_FILE_H
#define PTXI_TESTS_BINARY_FILE_H

#include "unit/support/test_file.h"

#include <stdint.h>

struct file {
    char *data; /* exactly `size` bytes, so that sanitizers detect reads past the end; freed by free() */
    size_t size;
};

/* The content of tests/unit/<name>. */
static struct file read_binary(const char *name)
{
    FILE *in = open_test_file(name);
    struct file f = { .data = NULL };

    ck_assert_int_eq(fseek(in, 0, SEEK_END), 0);
    f.size = (size_t)ftell(in);
    rewind(in);
    f.data = malloc(f.size);
    ck_assert(f.data && f.size);
    ck_assert_uint_eq(fread(f.data, 1, f.size, in), f.size);
    fclose(in);
    return f;
}

/* A fat binary with one plain entry of PTX for sm_<sm>. */
static inline struct file make_fatbin(const char *text, uint32_t sm)
{
    enum { HEADER = 16, ENTRY = 64 };
    uint64_t padded = (strlen(text) + 8) / 8 * 8, entries = ENTRY + padded;
    struct file f = { .size = HEADER + (size_t)entries };

    f.data = calloc(1, f.size);
    ck_assert(f.data);
    memcpy(f.data, "\x50\xed\x55\xba\1\0\20\0", 8);
    memcpy(f.data + 8, &entries, 8);
    char *e = f.data + HEADER;

    memcpy(e, "\1\0\1\1\100\0\0\0", 8);
    memcpy(e + 8, &padded, 8);
    memcpy(e + 28, &sm, 4);
    memcpy(e + ENTRY, text, strlen(text));
    return f;
}

#endif
