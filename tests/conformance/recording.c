/* See recording.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "conformance/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    uint64_t key;
    uint32_t first;
};

struct recording {
    uint32_t count, words;
    struct entry *entry;
    uint32_t *word;
};

_Noreturn static void die(const char *path, const char *why)
{
    fprintf(stderr, "%s: %s\n", path, why);
    exit(2);
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const struct entry *)a)->key, y = ((const struct entry *)b)->key;

    return (x > y) - (x < y);
}

static void skip_text(FILE *in, const char *path)
{
    char *line = NULL;
    size_t room = 0;

    if (getline(&line, &room, in) < 0 || strcmp(line, "libptxi recording 2\n"))
        die(path, "not a recording");
    while (getline(&line, &room, in) > 1)
        ;
    free(line);
}

struct recording *recording_read(const char *path)
{
    FILE *in = fopen(path, "rb");
    struct recording *r = calloc(1, sizeof *r);

    if (!in || !r)
        die(path, "cannot be read");
    skip_text(in, path);
    if (fread(&r->count, 4, 1, in) != 1 || fread(&r->words, 4, 1, in) != 1)
        die(path, "ends early");
    r->entry = calloc(r->count + 1u, sizeof *r->entry);
    r->word = calloc(r->words + 1u, sizeof *r->word);
    for (uint32_t i = 0; i < r->count; i++)
        if (fread(&r->entry[i].key, 8, 1, in) != 1 || fread(&r->entry[i].first, 4, 1, in) != 1)
            die(path, "ends early");
    if (fread(r->word, 4, r->words, in) != r->words || fgetc(in) != EOF)
        die(path, "is not as long as it says");
    fclose(in);
    qsort(r->entry, r->count, sizeof *r->entry, by_key);
    return r;
}

void recording_free(struct recording *r)
{
    free(r->entry);
    free(r->word);
    free(r);
}

const uint32_t *recording_find(const struct recording *r, uint64_t key, size_t words)
{
    struct entry wanted = { key, 0 };
    const struct entry *e = bsearch(&wanted, r->entry, r->count, sizeof *e, by_key);

    return e && e->first <= r->words && words <= r->words - e->first ? r->word + e->first : NULL;
}

size_t recording_count(const struct recording *r)
{
    return r->count;
}
