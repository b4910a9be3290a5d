#include "api/memory/graph_memory.h"

#include "api/context/context.h"
#include "api/memory/heap.h"
#include "api/memory/pool.h"
#include "base/fill.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct ptxi_graph_memory {
    struct ptxi_graph_memory *next, **link; /* of all */
    unsigned refs;                          /* of nodes, of items, and one while it is allocated */
    struct ptxi_heap_block *block;
    enum ptxi_graph_memory_owner owner;
    bool allocated;                         /* after the calls that have been made */
    unsigned live;                          /* allocations that no stream has freed yet */
    bool touched;                           /* it may contain data */
    PTXI_MEM_ALLOC_NODE_PARAMS params;
    ptxiMemAccessDesc access[];
};

enum { ACCESSIBLE = PTXI_MEM_RWA | PTXI_MEM_WORDS, ATTRIBUTES = PTXI_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH + 1 };

/* Taken before the heap's lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ptxi_graph_memory *all;
static uint64_t counts[PTXI_MAX_DEVICES][ATTRIBUTES]; /* bytes, by attribute */

/* ---- counts; under the lock */

static uint64_t *counts_of(const struct ptxi_graph_memory *m)
{
    return counts[m->params.poolProps.location.id];
}

static void raise_count(const struct ptxi_graph_memory *m, ptxiGraphMemAttribute current)
{
    uint64_t *c = counts_of(m);

    c[current] += m->params.bytesize;
    if (c[current + 1] < c[current])
        c[current + 1] = c[current];
}

static void drop_data(struct ptxi_graph_memory *m)
{
    if (!m->touched)
        return;
    m->touched = false;
    counts_of(m)[PTXI_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT] -= m->params.bytesize;
}

/* ---- references */

static void unref_locked(struct ptxi_graph_memory *m)
{
    assert(m->refs);
    if (--m->refs)
        return;
    assert(!m->live && !m->allocated);
    drop_data(m);
    *m->link = m->next;
    if (m->next)
        m->next->link = m->link;
    m->block->graph = NULL; /* the block stays in quarantine */
    ptxi_heap_free(m->block);
    free(m);
}

void ptxi_graph_memory_ref(struct ptxi_graph_memory *m)
{
    pthread_mutex_lock(&lock);
    m->refs++;
    pthread_mutex_unlock(&lock);
}

void ptxi_graph_memory_unref(struct ptxi_graph_memory *m)
{
    pthread_mutex_lock(&lock);
    unref_locked(m);
    pthread_mutex_unlock(&lock);
}

struct ptxi_graph_memory *ptxi_graph_memory_find(uint64_t addr)
{
    pthread_mutex_lock(&lock);
    struct ptxi_graph_memory *m = ptxi_heap_graph_memory_at(addr);

    if (m && m->params.dptr != addr)
        m = NULL;
    if (m)
        m->refs++;
    pthread_mutex_unlock(&lock);
    return m;
}

bool ptxi_graph_memory_contains(uint64_t addr)
{
    pthread_mutex_lock(&lock);
    bool contains = ptxi_heap_graph_memory_at(addr);

    pthread_mutex_unlock(&lock);
    return contains;
}

/* ---- creation */

static ptxiResult check_params(const PTXI_MEM_ALLOC_NODE_PARAMS *p)
{
    ptxiResult r = ptxi_pool_check_properties(&p->poolProps);

    if (!r && (!p->bytesize || p->accessDescCount > ptxi_state.device_count || (p->accessDescCount && !p->accessDescs)))
        return PTXI_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < p->accessDescCount && !r; i++)
        r = ptxi_pool_check_access(p->poolProps.location.id, &p->accessDescs[i]);
    return r;
}

/* The devices that may access the memory, as memmap.h defines them. */
static uint64_t devices_of(const PTXI_MEM_ALLOC_NODE_PARAMS *p)
{
    uint64_t devices = PTXI_ON_DEVICE(p->poolProps.location.id);

    for (size_t i = 0; i < p->accessDescCount; i++)
        if (p->accessDescs[i].flags)
            devices |= PTXI_ON_DEVICE(p->accessDescs[i].location.id);
    return devices;
}

static void list_memory(struct ptxi_graph_memory *m)
{
    m->next = all;
    m->link = &all;
    if (all)
        all->link = &m->next;
    all = m;
}

ptxiResult ptxi_graph_memory_create(ptxiContext ctx, const PTXI_MEM_ALLOC_NODE_PARAMS *p,
                                    struct ptxi_graph_memory **memory)
{
    ptxiResult r = check_params(p);

    if (r)
        return r;
    struct ptxi_graph_memory *m = calloc(1, sizeof *m + p->accessDescCount * sizeof m->access[0]);

    if (!m)
        return PTXI_ERROR_OUT_OF_MEMORY;
    m->refs = 1;
    m->params = *p;
    m->params.accessDescs = p->accessDescCount ? m->access : NULL;
    if (p->accessDescCount)
        memcpy(m->access, p->accessDescs, p->accessDescCount * sizeof m->access[0]);
    pthread_mutex_lock(&lock);
    r = ptxi_heap_alloc(ctx, p->bytesize, PTXI_HEAP_GRAPH, PTXI_MEM_RWA | PTXI_MEM_FREED, 0, &m->block);
    if (!r) {
        m->block->graph = m;
        m->block->device = p->poolProps.location.id;
        ptxi_memmap_set_devices(ptxi_state.memmap, m->block->base, devices_of(p));
        m->params.dptr = m->block->base;
        list_memory(m);
        *memory = m;
    }
    pthread_mutex_unlock(&lock);
    if (r)
        free(m);
    return r;
}

const PTXI_MEM_ALLOC_NODE_PARAMS *ptxi_graph_memory_params(const struct ptxi_graph_memory *m)
{
    return &m->params;
}

/* ---- who frees it */

bool ptxi_graph_memory_decide(struct ptxi_graph_memory *m, enum ptxi_graph_memory_owner owner)
{
    pthread_mutex_lock(&lock);
    bool ok = m->owner == PTXI_FREED_BY_ANY || m->owner == owner;

    if (ok)
        m->owner = owner;
    pthread_mutex_unlock(&lock);
    return ok;
}

enum ptxi_graph_memory_owner ptxi_graph_memory_owner(const struct ptxi_graph_memory *m)
{
    pthread_mutex_lock(&lock);
    enum ptxi_graph_memory_owner owner = m->owner;

    pthread_mutex_unlock(&lock);
    return owner;
}

/* ---- allocation */

bool ptxi_graph_memory_is_allocated(const struct ptxi_graph_memory *m)
{
    pthread_mutex_lock(&lock);
    bool is = m->allocated;

    pthread_mutex_unlock(&lock);
    return is;
}

static void touch(struct ptxi_graph_memory *m)
{
    if (m->touched)
        return;
    m->touched = true;
    raise_count(m, PTXI_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
    if (ptxi_fill_byte)
        ptxi_fill((void *)(uintptr_t)m->params.dptr, m->params.bytesize);
}

static void set_allocated(struct ptxi_graph_memory *m, bool allocated)
{
    m->allocated = allocated;
    ptxi_heap_set_claimed(m->block, !allocated);
}

ptxiResult ptxi_graph_memory_allocate(struct ptxi_graph_memory *m)
{
    ptxiResult r = PTXI_ERROR_INVALID_VALUE;

    pthread_mutex_lock(&lock);
    if (!m->allocated) {
        set_allocated(m, true);
        m->refs++;
        if (!m->live++) {
            raise_count(m, PTXI_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
            touch(m);
            ptxi_memmap_set_flags(ptxi_state.memmap, m->params.dptr, ACCESSIBLE);
        }
        r = PTXI_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return r;
}

/* Ends one allocation, unless the end of the context has ended them all. Drops its reference. */
static void end_allocation(struct ptxi_graph_memory *m)
{
    pthread_mutex_lock(&lock);
    if (m->live && !--m->live) {
        counts_of(m)[PTXI_GRAPH_MEM_ATTR_USED_MEM_CURRENT] -= m->params.bytesize;
        ptxi_memmap_set_flags(ptxi_state.memmap, m->params.dptr, ACCESSIBLE | PTXI_MEM_FREED);
    }
    unref_locked(m);
    pthread_mutex_unlock(&lock);
}

/* Marks it as freed for later calls. Its reference goes to the caller. */
static bool take_allocation(struct ptxi_graph_memory *m)
{
    pthread_mutex_lock(&lock);
    bool was = m->allocated;

    set_allocated(m, false);
    pthread_mutex_unlock(&lock);
    return was;
}

/* The release function of the item, which runs even if an earlier item has failed. */
static void free_memory(void *payload)
{
    end_allocation(*(struct ptxi_graph_memory **)payload);
}

static void untake_allocation(struct ptxi_graph_memory *m)
{
    pthread_mutex_lock(&lock);
    set_allocated(m, true);
    pthread_mutex_unlock(&lock);
}

ptxiResult ptxi_graph_memory_free_in_stream(struct ptxi_graph_memory *m, struct ptxiStream_st *s)
{
    if (!take_allocation(m))
        return PTXI_ERROR_INVALID_VALUE;
    struct ptxi_item *it = ptxi_item_create(sizeof m, NULL, free_memory);

    if (!it) {
        untake_allocation(m);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    *(struct ptxi_graph_memory **)ptxi_item_payload(it) = m;
    return ptxi_queue_submit(s, it, PTXI_SUBMIT_ASYNC, NULL);
}

ptxiResult ptxi_graph_memory_free_now(uint64_t addr)
{
    struct ptxi_graph_memory *m = ptxi_graph_memory_find(addr);
    ptxiResult r = PTXI_ERROR_INVALID_VALUE;
    ptxiContext ctx;

    if (m && ptxi_graph_memory_owner(m) != PTXI_FREED_BY_OWN_GRAPH && take_allocation(m)) {
        r = ptxi_api_context(&ctx);
        if (!r)
            ptxi_api_drain(ctx);
        end_allocation(m);
    }
    if (m)
        ptxi_graph_memory_unref(m);
    return r;
}

/* Ends all allocations, as if streams had freed them. */
static void end_all(struct ptxi_graph_memory *m)
{
    if (m->live) {
        counts_of(m)[PTXI_GRAPH_MEM_ATTR_USED_MEM_CURRENT] -= m->params.bytesize;
        ptxi_memmap_set_flags(ptxi_state.memmap, m->params.dptr, ACCESSIBLE | PTXI_MEM_FREED);
        m->live = 0;
    }
    if (m->allocated) {
        set_allocated(m, false);
        unref_locked(m);
    }
}

void ptxi_graph_memory_close_context(ptxiContext ctx)
{
    pthread_mutex_lock(&lock);
    for (struct ptxi_graph_memory *m = all, *next; m; m = next) {
        next = m->next;
        if (m->block->ctx == ctx)
            end_all(m);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- attributes */

ptxiResult ptxiDeviceGetGraphMemAttribute(ptxiDevice device, ptxiGraphMemAttribute attr, void *value)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(device);

    if (r)
        return r;
    if (!value || (unsigned)attr >= ATTRIBUTES)
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    *(uint64_t *)value = counts[device][attr];
    pthread_mutex_unlock(&lock);
    return PTXI_SUCCESS;
}

ptxiResult ptxiDeviceSetGraphMemAttribute(ptxiDevice device, ptxiGraphMemAttribute attr, void *value)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(device);

    if (r)
        return r;
    if (!value || (attr != PTXI_GRAPH_MEM_ATTR_USED_MEM_HIGH && attr != PTXI_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) ||
        *(const uint64_t *)value)
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    counts[device][attr] = counts[device][attr - 1];
    pthread_mutex_unlock(&lock);
    return PTXI_SUCCESS;
}

ptxiResult ptxiDeviceGraphMemTrim(ptxiDevice device)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(device);

    if (r)
        return r;
    pthread_mutex_lock(&lock);
    for (struct ptxi_graph_memory *m = all; m; m = m->next)
        if (!m->live && m->touched && m->params.poolProps.location.id == device) {
            drop_data(m);
            ptxi_heap_drop_pages(m->block);
        }
    pthread_mutex_unlock(&lock);
    return PTXI_SUCCESS;
}
