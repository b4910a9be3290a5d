/* Reads the PTX files that are next to the tests. */
#ifndef PTXI_TESTS_TEST_FILE_H
#define PTXI_TESTS_TEST_FILE_H

#include "unit/support/bits.h"

#include <string.h>

enum { MOST_TEST_FILES = 8 }; /* files that one test program reads */

/* Opens tests/unit/<name>: below the source directory of the build, or below $top_srcdir if the sources have moved. */
static FILE *open_test_file(const char *name)
{
    const char *top = getenv("top_srcdir");
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", TEST_DIR, name);
    file = fopen(path, "rb");
    if (!file && top) {
        snprintf(path, sizeof path, "%s/tests/unit/%s", top, name);
        file = fopen(path, "rb");
    }
    if (!file)
        ck_abort_msg("cannot open the test file %s: set top_srcdir to the source directory", path);
    return file;
}

/* Returns the content of tests/unit/<name>. It is read once and stays valid until the program ends. The first call
 * for a file must not run at the same time as another call. */
static inline const char *test_file(const char *name)
{
    static struct {
        const char *name;
        char *text;
    } files[MOST_TEST_FILES];
    size_t size = 0, capacity = 4096, count;
    unsigned k = 0;
    char *text;
    FILE *file;

    for (; k < MOST_TEST_FILES && files[k].name; k++)
        if (!strcmp(files[k].name, name))
            return files[k].text;
    ck_assert_msg(k < MOST_TEST_FILES, "%s: a test program reads at most %d files", name, MOST_TEST_FILES);
    file = open_test_file(name);
    text = malloc(capacity);
    while (text && (count = fread(text + size, 1, capacity - 1 - size, file)) > 0) {
        size += count;
        if (size == capacity - 1)
            text = realloc(text, capacity *= 2);
    }
    ck_assert_msg(text && !ferror(file), "cannot read the test file %s", name);
    fclose(file);
    text[size] = '\0';
    files[k].name = name;
    files[k].text = text;
    return text;
}

#endif
