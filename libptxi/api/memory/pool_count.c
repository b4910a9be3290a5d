#include "api/memory/pool_count.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

pthread_mutex_t ptxi_pool_mutex = PTHREAD_MUTEX_INITIALIZER;

void ptxi_pool_unref_locked(struct ptxiMemPool_st *p)
{
    assert(p->refs);
    if (--p->refs)
        return;
    if (p->sharing != PTXI_POOL_PRIVATE)
        close(p->fd);
    free(p);
}

void ptxi_pool_update_high_locked(struct ptxiMemPool_st *p)
{
    p->used_high = p->used > p->used_high ? p->used : p->used_high;
    p->reserved_high = p->used > p->reserved_high ? p->used : p->reserved_high;
}

bool ptxi_pool_reserve_locked(struct ptxiMemPool_st *p, size_t bytes)
{
    if (p->most && (bytes > p->most || p->used > p->most - bytes))
        return false;
    p->used += bytes;
    p->refs++;
    return true;
}

void ptxi_pool_release(struct ptxiMemPool_st *p, size_t bytes)
{
    pthread_mutex_lock(&ptxi_pool_mutex);
    assert(p->used >= bytes);
    p->used -= bytes;
    ptxi_pool_unref_locked(p);
    pthread_mutex_unlock(&ptxi_pool_mutex);
}
