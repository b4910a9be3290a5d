#include "base/arena.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

enum { FIRST_CHUNK = 8 << 10, LARGEST_CHUNK = 4 << 20 };

struct ptxi_arena_chunk {
    struct ptxi_arena_chunk *older;
    max_align_t data[];
};

void ptxi_arena_init(struct ptxi_arena *a, const struct ptxi_alloc *alloc)
{
    *a = (struct ptxi_arena){ .alloc = alloc ? alloc : &ptxi_alloc_default, .next_size = FIRST_CHUNK };
}

void ptxi_arena_free(struct ptxi_arena *a)
{
    struct ptxi_arena_chunk *c, *older;

    for (c = a->chunks; c; c = older) {
        older = c->older;
        ptxi_alloc_put(a->alloc, c);
    }
    ptxi_arena_init(a, a->alloc);
}

static struct ptxi_arena_chunk *new_chunk(struct ptxi_arena *a, size_t payload)
{
    size_t bytes = sizeof(struct ptxi_arena_chunk) + payload;
    struct ptxi_arena_chunk *c = ptxi_alloc_get(a->alloc, bytes);

    if (!c) {
        a->oom = true;
        return NULL;
    }
    a->total += bytes;
    return c;
}

/* A large object gets a chunk of its own. The chunk is inserted after the newest one, so that the free part of the
 * newest one remains usable. */
static void *alloc_own_chunk(struct ptxi_arena *a, size_t size, size_t align)
{
    struct ptxi_arena_chunk *c = new_chunk(a, size + align);

    if (!c)
        return NULL;
    if (a->chunks) {
        c->older = a->chunks->older;
        a->chunks->older = c;
    } else {
        c->older = NULL;
        a->chunks = c;
    }
    uintptr_t p = ((uintptr_t)c->data + align - 1) & ~(uintptr_t)(align - 1);
    return memset((void *)p, 0, size);
}

void *ptxi_arena_alloc_slow(struct ptxi_arena *a, size_t size, size_t align)
{
    if (size > SIZE_MAX / 2 || align > SIZE_MAX / 4) {
        a->oom = true;
        return NULL;
    }
    if (size + align > a->next_size / 4)
        return alloc_own_chunk(a, size, align);

    struct ptxi_arena_chunk *c = new_chunk(a, a->next_size);

    if (!c)
        return NULL;
    c->older = a->chunks;
    a->chunks = c;
    a->at = (char *)c->data;
    a->end = a->at + a->next_size;
    if (a->next_size < LARGEST_CHUNK)
        a->next_size *= 2;
    assert((size_t)(a->end - a->at) >= size + align); /* so that this does not come back here */
    return ptxi_arena_alloc(a, size, align);
}

char *ptxi_arena_strndup(struct ptxi_arena *a, const char *s, size_t n)
{
    char *copy = n < SIZE_MAX ? ptxi_arena_alloc(a, n + 1, 1) : NULL;

    if (copy && n)
        memcpy(copy, s, n);
    return copy;
}

char *ptxi_arena_printf(struct ptxi_arena *a, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        return NULL;

    char *s = ptxi_arena_alloc(a, (size_t)n + 1, 1);

    if (s) {
        va_start(ap, fmt);
        vsnprintf(s, (size_t)n + 1, fmt, ap);
        va_end(ap);
    }
    return s;
}
