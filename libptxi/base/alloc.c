#include "base/alloc.h"

#include <stdlib.h>

static void *default_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size ? size : 1);
}

static void *default_realloc(void *ctx, void *p, size_t size)
{
    (void)ctx;
    return realloc(p, size ? size : 1);
}

static void default_free(void *ctx, void *p)
{
    (void)ctx;
    free(p);
}

const struct ptxi_alloc ptxi_alloc_default = { default_alloc, default_realloc, default_free, NULL };
