/* Fuzz target for the reader of fat binaries, ELF files and archives. With -fsanitize=fuzzer this is a libFuzzer
 * target. Otherwise main() replays the given files, with mutations and with each allocation failing. */
#include "fatbin/file.h"
#include "replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Does not allocate for sizes that only a damaged header has, so that replays need little memory. */
enum { MOST_EXTRACTED = 1 << 22 };

static void read_entry(const struct ptxi_fatbin_entry *e)
{
    uint32_t section = 0;
    size_t size, names = 0;
    char *data;

    if (e->size > MOST_EXTRACTED || ptxi_fatbin_extract(e, &data, &size))
        return;
    if (data[size])
        abort();
    for (const char *name; (name = ptxi_fatbin_next_kernel(data, size, &section));)
        names += strlen(name);
    if (names > size * (size_t)section)
        abort();
    free(data);
}

static void read_found(const struct ptxi_fatbin_found *found, unsigned programs)
{
    struct ptxi_fatbin_entry e, chosen;
    struct ptxi_fatbin f;

    if (found->program > programs || ptxi_fatbin_open(&f, found->data, found->size))
        abort();
    if (!ptxi_fatbin_select(f, 90, true, &chosen) && chosen.kind != PTXI_FATBIN_PTX)
        abort();
    while (!ptxi_fatbin_next(&f, &e))
        read_entry(&e);
}

/* Returns whether an allocation failed. */
static bool read_file(const void *data, size_t size, unsigned long failing)
{
    struct countdown c = { failing };
    struct ptxi_alloc alloc = countdown_alloc(&c);
    struct ptxi_fatbin_list list = { .count = 0 };
    struct ptxi_arena arena;

    ptxi_arena_init(&arena, &alloc);
    enum ptxi_fatbin_result r = ptxi_fatbin_find(data, size, &arena, &list);

    if ((r == PTXI_FATBIN_NO_MEMORY) != arena.oom)
        abort();
    unsigned programs = ptxi_fatbin_group(&list);

    for (uint32_t i = 0; i < list.count && !failing; i++)
        read_found(&list.at[i], programs);
    ptxi_arena_free(&arena);
    return failing && !c.left;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* exactly `size` bytes, so that sanitizers detect reads past the end */
    uint8_t *copy = malloc(size ? size : 1);

    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    read_file(copy, size, 0);
    free(copy);
    return 0;
}

#ifndef FUZZER
enum { MUTANTS = 1000, MOST_CHANGES = 8 };

static uint32_t state;

static size_t below(size_t n)
{
    state = state * 1664525u + 1013904223u;
    return (size_t)((uint64_t)(state >> 4) * n >> 28);
}

/* Numbers of 1 to 8 bytes, aligned as the fields of headers are. */
static void change_number(uint8_t *data, size_t size)
{
    size_t bytes = (size_t)1 << below(4);
    uint64_t values[] = { 0, 1, below(256), below(size + 64), UINT32_MAX, UINT64_MAX, UINT64_MAX - below(64) };
    size_t at = below(size / bytes) * bytes;

    memcpy(data + at, &values[below(sizeof values / sizeof *values)], bytes);
}

static void mutate(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size);

    for (int i = 0; copy && i < MUTANTS; i++) {
        memcpy(copy, data, size);
        for (size_t n = below(MOST_CHANGES) + 1; n--;)
            change_number(copy, size);
        LLVMFuzzerTestOneInput(copy, below(4) ? size : below(size));
    }
    free(copy);
}

static int replay(const char *name)
{
    static uint8_t data[1 << 20];
    size_t n;

    if (!read_input(name, data, sizeof data, &n))
        return 1;
    LLVMFuzzerTestOneInput(data, n);
    if (n >= sizeof(uint64_t))
        mutate(data, n);
    for (unsigned long k = 1; read_file(data, n, k); k++)
        ;
    return 0;
}

int main(int argc, char **argv)
{
    int failed = argc < 2;

    for (int i = 1; i < argc; i++)
        failed |= replay(argv[i]);
    printf("%d files\n", argc - 1);
    return failed;
}
#endif
