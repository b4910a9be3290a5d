/* What the fuzz targets share when main() replays files: their input, and an allocator that fails once. */
#ifndef TESTS_FUZZ_REPLAY_H
#define TESTS_FUZZ_REPLAY_H

#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Reads at most `room` bytes of a file. On an error prints the reason and returns false. */
static inline bool read_input(const char *name, uint8_t *data, size_t room, size_t *size)
{
    FILE *f = fopen(name, "rb");

    if (!f) {
        perror(name);
        return false;
    }
    *size = fread(data, 1, room, f);
    fclose(f);
    return true;
}

struct countdown {
    unsigned long left; /* allocations before a failure; 0: no failure */
};

static inline bool countdown_spent(struct countdown *c)
{
    return c->left && !--c->left;
}

static inline void *countdown_get(void *ctx, size_t size)
{
    return countdown_spent(ctx) ? NULL : malloc(size);
}

static inline void *countdown_resize(void *ctx, void *p, size_t size)
{
    return countdown_spent(ctx) ? NULL : realloc(p, size);
}

static inline void countdown_put(void *ctx, void *p)
{
    (void)ctx;
    free(p);
}

/* An allocator that fails when the countdown ends. */
static inline struct ptxi_alloc countdown_alloc(struct countdown *c)
{
    return (struct ptxi_alloc){ countdown_get, countdown_resize, countdown_put, c };
}

#endif
