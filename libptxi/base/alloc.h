/* The interface of host memory allocators. Code that allocates takes a pointer to one, so that an application can
 * supply its own allocator and a test can make the n-th allocation fail.
 *
 * Ownership: memory belongs to the caller until it calls ptxi_alloc_put() with the same allocator. Errors: NULL if
 * memory is exhausted. */
#ifndef PTXI_BASE_ALLOC_H
#define PTXI_BASE_ALLOC_H

#include <stddef.h>

struct ptxi_alloc {
    void *(*alloc)(void *ctx, size_t size);            /* NULL if memory is exhausted; aligned as by malloc */
    void *(*realloc)(void *ctx, void *p, size_t size); /* p may be NULL; if it returns NULL, p remains valid */
    void (*free)(void *ctx, void *p);                  /* p may be NULL */
    void *ctx;
};

extern const struct ptxi_alloc ptxi_alloc_default; /* malloc, realloc, free */

static inline void *ptxi_alloc_get(const struct ptxi_alloc *al, size_t size)
{
    return al->alloc(al->ctx, size);
}

static inline void *ptxi_alloc_resize(const struct ptxi_alloc *al, void *p, size_t size)
{
    return al->realloc(al->ctx, p, size);
}

static inline void ptxi_alloc_put(const struct ptxi_alloc *al, void *p)
{
    al->free(al->ctx, p);
}

#endif
