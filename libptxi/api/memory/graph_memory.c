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

enum {
    CHUNK = 32 << 20, /* the driver gives graphs memory in such units */
    ATTRIBUTES = PTXI_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH + 1
};

/* Taken before the heap's lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ptxi_graph_memory *all;

/* The memory of a device's graphs, in bytes. Graphs share memory, so a device needs what is allocated at one time. It
 * keeps that until it is trimmed. */
static struct usage {
    uint64_t live;              /* allocated now */
    uint64_t kept;              /* maximum of `live` since the last trim */
    uint64_t high[ATTRIBUTES];  /* maximum of `kept` since the attribute was set */
} usages[PTXI_MAX_DEVICES];

/* ---- usage; under the lock */

static struct usage *usage_of(const struct ptxi_graph_memory *m)
{
    return &usages[m->params.poolProps.location.id];
}

static void count_allocation(const struct ptxi_graph_memory *m)
{
    struct usage *u = usage_of(m);

    u->live += m->params.bytesize;
    if (u->kept < u->live)
        u->kept = u->live;
    for (int k = 0; k < ATTRIBUTES; k++)
        if (u->high[k] < u->kept)
            u->high[k] = u->kept;
}

static void count_free(const struct ptxi_graph_memory *m)
{
    assert(usage_of(m)->live >= m->params.bytesize);
    usage_of(m)->live -= m->params.bytesize;
}

static bool is_high(int attribute)
{
    return attribute == PTXI_GRAPH_MEM_ATTR_USED_MEM_HIGH || attribute == PTXI_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
}

/* ---- references */

static void unref_locked(struct ptxi_graph_memory *m)
{
    assert(m->refs);
    if (--m->refs)
        return;
    assert(!m->live && !m->allocated);
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

    if (!r && p->poolProps.handleTypes)
        return PTXI_ERROR_NOT_SUPPORTED;
    if (!r && (!p->bytesize || p->accessDescCount > ptxi_state.device_count || (p->accessDescCount && !p->accessDescs)))
        return PTXI_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < p->accessDescCount && !r; i++)
        r = p->accessDescs[i].flags == PTXI_MEM_ACCESS_FLAGS_PROT_NONE ? PTXI_ERROR_NOT_SUPPORTED
            : ptxi_pool_check_access(p->poolProps.location.id, &p->accessDescs[i]);
    return r;
}

static bool is_managed(const PTXI_MEM_ALLOC_NODE_PARAMS *p)
{
    return p->poolProps.allocType == PTXI_MEM_ALLOCATION_TYPE_MANAGED;
}

/* Makes the memory accessible or inaccessible. */
static void set_accessible(const struct ptxi_graph_memory *m, bool accessible)
{
    uint32_t flags = PTXI_MEM_RWA | PTXI_MEM_WORDS;

    flags |= is_managed(&m->params) ? PTXI_MEM_MANAGED : 0;
    flags |= accessible ? 0 : PTXI_MEM_FREED;
    ptxi_memmap_set_flags(ptxi_state.memmap, m->params.dptr, flags);
}

/* The devices that may access the memory, as memmap.h defines them. */
static uint64_t devices_of(const PTXI_MEM_ALLOC_NODE_PARAMS *p)
{
    uint64_t devices = is_managed(p) ? 0 : PTXI_ON_DEVICE(p->poolProps.location.id);

    for (size_t i = 0; devices && i < p->accessDescCount; i++)
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

/* ---- ownership */

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
            count_allocation(m);
            touch(m);
            set_accessible(m, true);
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
        count_free(m);
        set_accessible(m, false);
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
        count_free(m);
        set_accessible(m, false);
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
    const struct usage *u = &usages[device];

    *(uint64_t *)value = ((is_high((int)attr) ? u->high[attr] : u->kept) + CHUNK - 1) / CHUNK * CHUNK;
    pthread_mutex_unlock(&lock);
    return PTXI_SUCCESS;
}

ptxiResult ptxiDeviceSetGraphMemAttribute(ptxiDevice device, ptxiGraphMemAttribute attr, void *value)
{
    API_CALL;
    ptxiResult r = ptxi_api_device(device);

    if (r)
        return r;
    if (!value || !is_high((int)attr) || *(const uint64_t *)value)
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    usages[device].high[attr] = usages[device].kept;
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
            m->touched = false;
            ptxi_heap_drop_pages(m->block);
        }
    usages[device].kept = usages[device].live;
    pthread_mutex_unlock(&lock);
    return PTXI_SUCCESS;
}
