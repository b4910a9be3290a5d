/* Memory that is freed all at once. A module's tree, names, diagnostics and bytecode live in one arena.
 *
 *     struct ptxi_arena a;
 *     ptxi_arena_init(&a, NULL);
 *     struct node *n = ARENA_NEW(&a, struct node, 1);    zeroed, or NULL when memory is short
 *     ptxi_arena_free(&a);
 *
 * One thread at a time. */
#ifndef PTXI_BASE_ARENA_H
#define PTXI_BASE_ARENA_H

#include "base/alloc.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct ptxi_arena_chunk;

struct ptxi_arena {
    char *at, *end;                  /* free part of the newest chunk */
    struct ptxi_arena_chunk *chunks; /* newest first */
    const struct ptxi_alloc *alloc;
    size_t next_size; /* of the next chunk */
    size_t total;     /* bytes taken from alloc */
    bool oom;         /* sticky: an allocation has failed since init */
};

/* `alloc` NULL means ptxi_alloc_default; it must outlive the arena. Takes no memory yet, cannot fail. */
void ptxi_arena_init(struct ptxi_arena *a, const struct ptxi_alloc *alloc);

/* Give everything back; the arena is then as after init. A zeroed struct is a legal argument. */
void ptxi_arena_free(struct ptxi_arena *a);

void *ptxi_arena_alloc_slow(struct ptxi_arena *a, size_t size, size_t align);

/* `size` zeroed bytes, aligned to `align` (a power of two); NULL when memory is short or the size absurd.
 * A size of 0 gives a pointer that must not be dereferenced. */
static inline void *ptxi_arena_alloc(struct ptxi_arena *a, size_t size, size_t align)
{
    uintptr_t p = ((uintptr_t)a->at + align - 1) & ~(uintptr_t)(align - 1);

    if (a->at && p <= (uintptr_t)a->end && size <= (uintptr_t)a->end - p) {
        a->at = (char *)p + size;
        return memset((void *)p, 0, size);
    }
    return ptxi_arena_alloc_slow(a, size, align);
}

/* n objects of `size` bytes; NULL too when n * size overflows. */
static inline void *ptxi_arena_array(struct ptxi_arena *a, size_t n, size_t size, size_t align)
{
    size_t bytes;

    if (__builtin_mul_overflow(n, size, &bytes)) {
        a->oom = true;
        return NULL;
    }
    return ptxi_arena_alloc(a, bytes, align);
}

#define ARENA_NEW(a, T, n) ((T *)ptxi_arena_array((a), (n), sizeof(T), alignof(T)))

/* A NUL-terminated copy of n bytes. */
char *ptxi_arena_strndup(struct ptxi_arena *a, const char *s, size_t n);

/* printf into the arena. */
char *ptxi_arena_printf(struct ptxi_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
