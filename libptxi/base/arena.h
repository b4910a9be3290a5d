/* A region of memory that is freed all at once. The syntax tree, names, diagnostics and bytecode of a module are in
 * one arena.
 *
 *     struct ptxi_arena a;
 *     ptxi_arena_init(&a, NULL);
 *     struct node *n = ARENA_NEW(&a, struct node, 1);    zeroed, or NULL if memory is exhausted
 *     ptxi_arena_free(&a);
 *
 * Ownership: all memory belongs to the arena and is valid until ptxi_arena_free(). Errors: NULL, and the flag `oom`
 * stays set, so a caller can check once after many allocations. Not thread-safe. */
#ifndef PTXI_BASE_ARENA_H
#define PTXI_BASE_ARENA_H

#include "base/alloc.h"

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct ptxi_arena_chunk;

struct ptxi_arena {
    char *at, *end;                  /* free part of the newest chunk */
    struct ptxi_arena_chunk *chunks; /* newest first */
    const struct ptxi_alloc *alloc;
    size_t next_size; /* size of the next chunk */
    size_t total;     /* number of bytes allocated from alloc */
    bool oom;         /* an allocation has failed since init */
};

/* Initializes an arena. If alloc is NULL, it uses ptxi_alloc_default. The allocator must outlive the arena. This
 * allocates nothing and cannot fail. */
void ptxi_arena_init(struct ptxi_arena *a, const struct ptxi_alloc *alloc);

/* Frees all memory of the arena. The arena is then as after init. A zeroed struct is a valid argument. */
void ptxi_arena_free(struct ptxi_arena *a);

/* The part of ptxi_arena_alloc() that allocates a new chunk. */
void *ptxi_arena_alloc_slow(struct ptxi_arena *a, size_t size, size_t align);

/* Allocates `size` zeroed bytes, aligned to `align`, a power of two. Returns NULL if memory is exhausted or the size
 * is too large. A size of 0 gives a pointer that must not be dereferenced. */
static inline void *ptxi_arena_alloc(struct ptxi_arena *a, size_t size, size_t align)
{
    uintptr_t p = ((uintptr_t)a->at + align - 1) & ~(uintptr_t)(align - 1);

    assert(align && !(align & (align - 1)));
    assert(a->at <= a->end);
    if (a->at && p <= (uintptr_t)a->end && size <= (uintptr_t)a->end - p) {
        a->at = (char *)p + size;
        return memset((void *)p, 0, size);
    }
    return ptxi_arena_alloc_slow(a, size, align);
}

/* Allocates n objects of `size` bytes. Also returns NULL if n * size overflows. */
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

/* Copies n bytes and appends a NUL. */
char *ptxi_arena_strndup(struct ptxi_arena *a, const char *s, size_t n);

/* Formats a string like printf. Returns NULL if memory is exhausted. */
char *ptxi_arena_printf(struct ptxi_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
