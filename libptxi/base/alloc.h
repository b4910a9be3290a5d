/* Where host memory comes from. Every part that allocates takes one of these, so that an embedder can supply its own
 * and a test can make the n-th allocation fail. */
#ifndef PTXI_BASE_ALLOC_H
#define PTXI_BASE_ALLOC_H

#include <stddef.h>

struct ptxi_alloc {
    void *(*alloc)(void *ctx, size_t size);            /* NULL when memory is short; aligned as malloc aligns */
    void *(*realloc)(void *ctx, void *p, size_t size); /* p may be NULL; p stays valid when NULL comes back */
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
