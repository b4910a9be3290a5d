/* Allocations of other processes. Opening one again returns the same address. */
#include "api/context/context.h"
#include "api/memory/heap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ptxi_import {
    struct ptxi_shared_name name;
    size_t opened; /* how often; under the lock */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

ptxiResult ptxiIpcGetMemHandle(ptxiIpcMemHandle *pHandle, ptxiDevicePtr dptr)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    struct ptxi_shared_name name;

    if (r)
        return r;
    if (!pHandle)
        return PTXI_ERROR_INVALID_VALUE;
    r = ptxi_heap_name(dptr, PTXI_SHARED_MEMORY, &name);
    if (!r)
        memcpy(pHandle, &name, sizeof name);
    return r;
}

/* Returns the context's block of that name, or NULL. A block that is being closed does not count. */
static struct ptxi_heap_block *find_open(ptxiContext ctx, const struct ptxi_shared_name *name)
{
    pthread_mutex_lock(&ctx->lock);
    struct ptxi_heap_block *b = ctx->blocks;

    while (b && (!b->import || !b->import->opened || memcmp(&b->import->name, name, sizeof *name)))
        b = b->next;
    pthread_mutex_unlock(&ctx->lock);
    return b;
}

/* The device of the allocation. It may be one that this process does not have. */
static ptxiDevice device_of(ptxiContext ctx, const struct ptxi_shared_name *name)
{
    return ptxi_api_device(name->part.device) ? ctx->device : name->part.device;
}

/* Maps the memory of a name that no block of the context has. */
static ptxiResult open_name(ptxiContext ctx, const struct ptxi_shared_name *name, ptxiDevicePtr *dptr)
{
    struct ptxi_pages pages = { .source = PTXI_PAGES_IMPORTED, .offset = name->part.offset };
    struct ptxi_heap_block *b;
    ptxiResult r = ptxi_shared_name_open(name, PTXI_SHARED_MEMORY, &pages.fd);

    if (r)
        return r;
    struct ptxi_import *import = malloc(sizeof *import);

    r = PTXI_ERROR_OUT_OF_MEMORY;
    if (import)
        *import = (struct ptxi_import){ *name, 1 };
    if (import)
        r = ptxi_heap_import(ctx, device_of(ctx, name), name->part.size, &pages, import, &b);
    close(pages.fd); /* the mapping keeps the file */
    if (r)
        free(import);
    else
        *dptr = b->base;
    return r;
}

ptxiResult ptxiIpcOpenMemHandle(ptxiDevicePtr *pdptr, ptxiIpcMemHandle handle, unsigned Flags)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    struct ptxi_shared_name name;

    if (r)
        return r;
    if (!pdptr || Flags != PTXI_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return PTXI_ERROR_INVALID_VALUE;
    memcpy(&name, &handle, sizeof name);
    pthread_mutex_lock(&lock);
    struct ptxi_heap_block *b = find_open(ctx, &name);

    if (b) {
        b->import->opened++;
        *pdptr = b->base;
    } else {
        r = open_name(ctx, &name, pdptr);
    }
    pthread_mutex_unlock(&lock);
    return r;
}

/* Takes back one opening. Returns the block, claimed, if it was the last one. *known: there is such a block. */
static struct ptxi_heap_block *close_once(ptxiDevicePtr dptr, bool *known)
{
    pthread_mutex_lock(&lock);
    struct ptxi_heap_block *b = ptxi_heap_claim(dptr, PTXI_HEAP_IMPORTED, NULL);

    *known = b;
    if (b && --b->import->opened) {
        ptxi_heap_unclaim(b);
        b = NULL;
    }
    pthread_mutex_unlock(&lock);
    return b;
}

static void open_again(struct ptxi_heap_block *b)
{
    pthread_mutex_lock(&lock);
    b->import->opened = 1;
    ptxi_heap_unclaim(b);
    pthread_mutex_unlock(&lock);
}

ptxiResult ptxiIpcCloseMemHandle(ptxiDevicePtr dptr)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    bool known;

    if (r)
        return r;
    struct ptxi_heap_block *b = close_once(dptr, &known);

    if (!b)
        return known ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
    if ((r = ptxi_api_drain(b->ctx)))
        open_again(b);
    else
        ptxi_heap_free(b);
    return r;
}
