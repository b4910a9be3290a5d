/* Memory exists when the call returns, and is freed when the stream reaches the free. */
#include "api/memory/pool.h"

#include "api/memory/heap.h"
#include "api/memory/pool_count.h"
#include "exec/check/concurrent.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The file of a pool begins with a page that has its entry. It has no blocks at first, and its part that a freed
 * allocation has used is never used again, so it is larger than all memory that programs allocate. */
#define FILE_SIZE ((UINT64_C(1) << 55) + PTXI_PAGE)

enum { CHUNK = 32 << 20, FIRST_ATTRIBUTE = PTXI_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES,
       LAST_ATTRIBUTE = PTXI_MEMPOOL_ATTR_USED_MEM_HIGH };

/* The default pools. */
static struct ptxiMemPool_st own_pools[2][PTXI_PLACES]; /* [1]: of managed memory */
static struct ptxiMemPool_st *chosen[2][PTXI_PLACES];   /* NULL: the default pool; under the lock of pools */
static pthread_once_t pools_once = PTHREAD_ONCE_INIT;

static enum ptxi_pool_kind kind_at(bool managed, unsigned place)
{
    if (managed)
        return PTXI_POOL_MANAGED;
    return place < PTXI_PLACE_NONE ? PTXI_POOL_DEVICE : PTXI_POOL_HOST;
}

static struct ptxiMemPool_st new_pool(bool managed, unsigned place)
{
    enum ptxi_pool_kind kind = kind_at(managed, place);

    return (struct ptxiMemPool_st){ .refs = 1, .kind = kind, .place = place, .reuse = { 1, 1, 1, 1 },
                                    .devices = kind == PTXI_POOL_DEVICE ? PTXI_ON_DEVICE(place) : PTXI_ON_NO_DEVICE };
}

static void make_own_pools(void)
{
    for (unsigned place = 0; place < PTXI_PLACES; place++)
        for (unsigned managed = 0; managed < 2; managed++)
            own_pools[managed][place] = new_pool(managed, place);
}

static struct ptxiMemPool_st *own_pool(bool managed, unsigned place)
{
    pthread_once(&pools_once, make_own_pools);
    return &own_pools[managed][place];
}

/* Under the lock of pools. */
static struct ptxiMemPool_st *current_pool(bool managed, unsigned place)
{
    return chosen[managed][place] ? chosen[managed][place] : own_pool(managed, place);
}

static bool is_own_pool(const struct ptxiMemPool_st *p)
{
    uintptr_t at = (uintptr_t)p - (uintptr_t)own_pools;

    return at < sizeof own_pools && at % sizeof own_pools[0][0] == 0;
}

bool ptxi_pool_use(const struct ptxiMemPool_st *p)
{
    return is_own_pool(p) || !ptxi_handle_use(p, PTXI_HANDLE_MEMORY_POOL);
}

/* The begin of most calls that name a pool. */
static ptxiResult enter_pool(const struct ptxiMemPool_st *p)
{
    ptxiResult r = ptxi_api_enter();

    return !r && !ptxi_pool_use(p) ? PTXI_ERROR_INVALID_VALUE : r;
}

/* ---- memory */

/* Drops the program's reference. */
static void release_pool(void *pool)
{
    pthread_mutex_lock(&ptxi_pool_mutex);
    ptxi_pool_unref_locked(pool);
    pthread_mutex_unlock(&ptxi_pool_mutex);
}

/* Takes a part of the pool's file: a page for the entry of its name, and the pages of the block. Under the lock of
 * pools. */
static struct ptxi_pages take_pages(struct ptxiMemPool_st *p, size_t bytes)
{
    struct ptxi_pages pages = { .source = PTXI_PAGES_OF_POOL, .fd = p->fd, .entry = p->file_end,
                                .offset = p->file_end + PTXI_PAGE };

    p->file_end = (pages.offset + bytes + PTXI_PAGE - 1) & ~(uint64_t)(PTXI_PAGE - 1);
    return pages;
}

/* Allocates from a pool, or from the current pool of the context's device if p is NULL. `imported` has the pages of an
 * allocation of an imported pool; otherwise it is NULL. */
static ptxiResult allocate_from_pool(ptxiContext ctx, struct ptxiMemPool_st *p, size_t bytes,
                                     const struct ptxi_pages *imported, struct ptxi_heap_block **b)
{
    struct ptxi_pages own;
    const struct ptxi_pages *pages = imported;

    if (bytes > ptxi_state.total_memory) /* so that the counts do not overflow */
        return PTXI_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&ptxi_pool_mutex);
    p = p ? p : current_pool(false, (unsigned)ctx->device);
    bool room = ptxi_pool_reserve_locked(p, bytes);

    if (room && p->sharing == PTXI_POOL_SHARED) {
        own = take_pages(p, bytes);
        pages = &own;
    }
    p->refs += room; /* another thread may free the block before this call is done with the pool */
    pthread_mutex_unlock(&ptxi_pool_mutex);
    if (!room)
        return PTXI_ERROR_OUT_OF_MEMORY;
    ptxiResult r = ptxi_heap_alloc_in_pool(ctx, bytes, p, pages, b);

    if (r)
        ptxi_pool_release(p, bytes);
    pthread_mutex_lock(&ptxi_pool_mutex);
    if (!r)
        ptxi_pool_update_high_locked(p);
    ptxi_pool_unref_locked(p);
    pthread_mutex_unlock(&ptxi_pool_mutex);
    return r;
}

ptxiResult ptxi_pool_allocate(ptxiContext ctx, struct ptxiMemPool_st *p, size_t bytes, ptxiDevicePtr *dptr)
{
    struct ptxi_heap_block *b;

    if (p && p->sharing == PTXI_POOL_IMPORTED)
        return PTXI_ERROR_INVALID_VALUE;
    ptxiResult r = allocate_from_pool(ctx, p, bytes, NULL, &b);

    if (!r)
        *dptr = b->base;
    return r;
}

/* A free is ordered with all accesses to the memory. */
static ptxiResult check_free(void *payload, struct ptxi_failure **failure)
{
    const struct ptxi_heap_block *b = *(struct ptxi_heap_block **)payload;
    ptxiContext ctx = ptxi_queue_current()->ctx;

    (void)failure;
    pthread_mutex_lock(&ctx->lock);
    struct ptxi_checker *x = ctx->checker;
    struct ptxi_findings *f = ctx->sanitizer & PTXI_SANITIZER_RACE ? ctx->findings : NULL;

    pthread_mutex_unlock(&ctx->lock);
    if (x && f)
        ptxi_check_copy(x, f, &(struct ptxi_copied_rows){ .address = b->base, .width = b->size, .pitch = b->size,
                                                          .rows = 1, .write = true, .operation = "a free" });
    return PTXI_SUCCESS;
}

/* The release function of the item, which runs even if an earlier item has failed. */
static void free_block(void *payload)
{
    ptxi_heap_free(*(struct ptxi_heap_block **)payload);
}

/* True for memory of ptxiMemAllocManaged(). */
static bool is_managed(ptxiDevicePtr dptr)
{
    struct ptxi_heap_block there;
    struct ptxi_mem_region region;

    return ptxi_heap_find(dptr, &there, &region) && there.base == dptr && there.kind == PTXI_HEAP_DEVICE &&
           region.flags & PTXI_MEM_MANAGED && !there.pool;
}

ptxiResult ptxi_pool_free_in_stream(struct ptxiStream_st *s, ptxiDevicePtr dptr)
{
    if (is_managed(dptr))
        return PTXI_ERROR_NOT_SUPPORTED;
    struct ptxi_heap_block *b = ptxi_heap_claim(dptr, PTXI_HEAP_DEVICE, NULL);

    if (!b)
        return PTXI_ERROR_INVALID_VALUE;
    struct ptxi_item *it = ptxi_item_create(sizeof b, check_free, free_block);

    if (!it) {
        ptxi_heap_unclaim(b);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    *(struct ptxi_heap_block **)ptxi_item_payload(it) = b;
    return ptxi_queue_submit(s, it, PTXI_SUBMIT_ASYNC, NULL);
}

/* ---- pools */

/* Finds the place of a pool's memory, and whether it is managed. */
static ptxiResult find_place(const ptxiMemLocation *at, int type, bool *managed, unsigned *place)
{
    *managed = type == PTXI_MEM_ALLOCATION_TYPE_MANAGED;
    if (!*managed && type != PTXI_MEM_ALLOCATION_TYPE_PINNED)
        return PTXI_ERROR_INVALID_VALUE;
    switch ((int)at->type) {
    case PTXI_MEM_LOCATION_TYPE_DEVICE:
        *place = PTXI_PLACE_DEVICE + (unsigned)at->id;
        return ptxi_api_device(at->id) ? PTXI_ERROR_INVALID_VALUE : PTXI_SUCCESS;
    case PTXI_MEM_LOCATION_TYPE_HOST: *place = PTXI_PLACE_HOST; return PTXI_SUCCESS;
    case PTXI_MEM_LOCATION_TYPE_HOST_NUMA:
        *place = PTXI_PLACE_NODE;
        return at->id ? PTXI_ERROR_INVALID_VALUE : PTXI_SUCCESS;
    case 0: /* no place */
        *place = PTXI_PLACE_NONE;
        return *managed ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
    default: return PTXI_ERROR_INVALID_VALUE;
    }
}

/* Checks properties and finds the place. */
static ptxiResult check_properties(const ptxiMemPoolProps *p, bool *managed, unsigned *place)
{
    static const unsigned char zeros[sizeof p->reserved];
    ptxiResult r = find_place(&p->location, (int)p->allocType, managed, place);
    bool shareable = !r && kind_at(*managed, *place) == PTXI_POOL_DEVICE;

    if (r || memcmp(p->reserved, zeros, sizeof zeros) ||
        (p->handleTypes && (!shareable || (p->handleTypes != PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR &&
                                           p->handleTypes != PTXI_MEM_HANDLE_TYPE_FABRIC))))
        return PTXI_ERROR_INVALID_VALUE;
    if (p->handleTypes == PTXI_MEM_HANDLE_TYPE_FABRIC)
        return PTXI_ERROR_NOT_SUPPORTED;
    return p->maxSize > ptxi_state.total_memory ? PTXI_ERROR_OUT_OF_MEMORY : PTXI_SUCCESS;
}

ptxiResult ptxi_pool_check_properties(const ptxiMemPoolProps *p)
{
    bool managed;
    unsigned place;
    ptxiResult r = check_properties(p, &managed, &place);

    return !r && place >= PTXI_PLACE_NONE ? PTXI_ERROR_NOT_SUPPORTED : r;
}

/* Makes a pool like `model`, and its handle. Closes its file on failure. */
static ptxiResult make_pool(ptxiMemoryPool *pool, const struct ptxiMemPool_st *model)
{
    struct ptxiMemPool_st *p = malloc(sizeof *p);

    if (!p) {
        if (model->sharing != PTXI_POOL_PRIVATE)
            close(model->fd);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    memcpy(p, model, sizeof *p); /* it has no handle yet */
    p->file_end = PTXI_PAGE;
    if (!ptxi_handle_add(&p->handle, PTXI_HANDLE_MEMORY_POOL, NULL, release_pool)) {
        release_pool(p);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    *pool = p;
    return PTXI_SUCCESS;
}

/* Makes the file of a pool with its entry. -1: not possible. */
static int make_file(ptxiDevice device)
{
    struct ptxi_shared_name name = { .part = { .kind = PTXI_SHARED_POOL, .device = device, .size = FILE_SIZE } };
    int fd = ptxi_shared_file_create(FILE_SIZE);

    if (fd < 0 || ptxi_shared_name_publish(&name, fd))
        return fd;
    close(fd);
    return -1;
}

ptxiResult ptxiMemPoolCreate(ptxiMemoryPool *pool, const ptxiMemPoolProps *poolProps)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!pool || !poolProps)
        return PTXI_ERROR_INVALID_VALUE;
    bool managed;
    unsigned place;

    if ((r = check_properties(poolProps, &managed, &place)))
        return r;
    struct ptxiMemPool_st model = new_pool(managed, place);

    model.most = (poolProps->maxSize + CHUNK - 1) / CHUNK * CHUNK;
    if (poolProps->handleTypes) {
        model.sharing = PTXI_POOL_SHARED;
        model.fd = make_file((ptxiDevice)place);
        if (model.fd < 0)
            return PTXI_ERROR_OUT_OF_MEMORY;
    }
    return make_pool(pool, &model);
}

ptxiResult ptxiMemPoolDestroy(ptxiMemoryPool pool)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (ptxi_handle_retire(pool, PTXI_HANDLE_MEMORY_POOL))
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&ptxi_pool_mutex);
    struct ptxiMemPool_st **current = &chosen[pool->kind == PTXI_POOL_MANAGED][pool->place];

    if (*current == pool)
        *current = NULL;
    pthread_mutex_unlock(&ptxi_pool_mutex);
    ptxi_handle_unref(&pool->handle);
    return PTXI_SUCCESS;
}

static void return_pool(ptxiMemoryPool *to, struct ptxiMemPool_st *find(bool, unsigned), bool managed, unsigned place)
{
    pthread_mutex_lock(&ptxi_pool_mutex);
    *to = find(managed, place);
    pthread_mutex_unlock(&ptxi_pool_mutex);
}

static ptxiResult return_pool_of_device(ptxiMemoryPool *to, ptxiDevice dev,
                                        struct ptxiMemPool_st *find(bool, unsigned))
{
    ptxiResult r = ptxi_api_enter();

    if (r || !to)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    if ((r = ptxi_api_device(dev)))
        return r;
    return_pool(to, find, false, (unsigned)dev);
    return PTXI_SUCCESS;
}

ptxiResult ptxiDeviceGetDefaultMemPool(ptxiMemoryPool *pool_out, ptxiDevice dev)
{
    API_CALL;
    return return_pool_of_device(pool_out, dev, own_pool);
}

ptxiResult ptxiDeviceGetMemPool(ptxiMemoryPool *pool, ptxiDevice dev)
{
    API_CALL;
    return return_pool_of_device(pool, dev, current_pool);
}

static ptxiResult choose_pool(ptxiMemoryPool pool, bool managed, unsigned place)
{
    if (!ptxi_pool_use(pool) || pool->kind != kind_at(managed, place) || pool->place != place ||
        pool->sharing == PTXI_POOL_IMPORTED)
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&ptxi_pool_mutex);
    /* otherwise another thread is destroying it */
    bool exists = is_own_pool(pool) || ptxi_handle_is(pool, PTXI_HANDLE_MEMORY_POOL);

    if (exists)
        chosen[managed][place] = pool;
    pthread_mutex_unlock(&ptxi_pool_mutex);
    return exists ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
}

ptxiResult ptxiDeviceSetMemPool(ptxiDevice dev, ptxiMemoryPool pool)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r || (r = ptxi_api_device(dev)))
        return r;
    /* a pool of managed memory becomes the current one for managed memory of this device */
    return choose_pool(pool, ptxi_pool_use(pool) && pool->kind == PTXI_POOL_MANAGED, (unsigned)dev);
}

/* The begin of calls for a place. */
static ptxiResult enter_place(const ptxiMemLocation *location, ptxiMemAllocationType type, bool *managed,
                              unsigned *place)
{
    ptxiResult r = ptxi_api_enter();

    if (r || !location)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    if ((unsigned)location->type > PTXI_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
        return PTXI_ERROR_NOT_SUPPORTED;
    return find_place(location, (int)type, managed, place);
}

static ptxiResult return_pool_of_place(ptxiMemoryPool *to, const ptxiMemLocation *location, ptxiMemAllocationType type,
                                       struct ptxiMemPool_st *find(bool, unsigned))
{
    bool managed;
    unsigned place;
    ptxiResult r = enter_place(location, type, &managed, &place);

    if (r || !to)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    return_pool(to, find, managed, place);
    return PTXI_SUCCESS;
}

ptxiResult ptxiMemGetDefaultMemPool(ptxiMemoryPool *pool_out, ptxiMemLocation *location, ptxiMemAllocationType type)
{
    API_CALL;
    return return_pool_of_place(pool_out, location, type, own_pool);
}

ptxiResult ptxiMemGetMemPool(ptxiMemoryPool *pool, ptxiMemLocation *location, ptxiMemAllocationType type)
{
    API_CALL;
    return return_pool_of_place(pool, location, type, current_pool);
}

ptxiResult ptxiMemSetMemPool(ptxiMemLocation *location, ptxiMemAllocationType type, ptxiMemoryPool pool)
{
    API_CALL;
    bool managed;
    unsigned place;
    ptxiResult r = enter_place(location, type, &managed, &place);

    return r ? r : choose_pool(pool, managed, place);
}

ptxiResult ptxiMemPoolTrimTo(ptxiMemoryPool pool, size_t minBytesToKeep)
{
    API_CALL;
    (void)minBytesToKeep;
    return enter_pool(pool);
}

/* ---- other processes */

static bool is_descriptor(ptxiMemAllocationHandleType type)
{
    return type == PTXI_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
}

ptxiResult ptxiMemPoolExportToShareableHandle(void *handle_out, ptxiMemoryPool pool,
                                              ptxiMemAllocationHandleType handleType, unsigned long long flags)
{
    API_CALL;
    ptxiResult r = enter_pool(pool);

    if (r || !handle_out || flags || !is_descriptor(handleType) || pool->sharing != PTXI_POOL_SHARED)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    int fd = fcntl(pool->fd, F_DUPFD_CLOEXEC, 0);

    if (fd < 0)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *(int *)handle_out = fd;
    return PTXI_SUCCESS;
}

ptxiResult ptxiMemPoolImportFromShareableHandle(ptxiMemoryPool *pool_out, void *handle,
                                                ptxiMemAllocationHandleType handleType, unsigned long long flags)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();
    int fd = (int)(intptr_t)handle;
    struct ptxi_shared_part part;

    if (r || !pool_out || flags || !is_descriptor(handleType) || ptxi_shared_file_size(fd) != FILE_SIZE ||
        !ptxi_shared_part_read(&part, fd, 0) || part.kind != PTXI_SHARED_POOL)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    if (ptxi_api_device(part.device))
        return PTXI_ERROR_INVALID_DEVICE;
    fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return PTXI_ERROR_OUT_OF_MEMORY;
    struct ptxiMemPool_st model = new_pool(false, (unsigned)part.device);

    model.sharing = PTXI_POOL_IMPORTED;
    model.fd = fd;
    return make_pool(pool_out, &model);
}

ptxiResult ptxiMemPoolExportPointer(ptxiMemPoolPtrExportData *shareData_out, ptxiDevicePtr ptr)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();
    struct ptxi_shared_name name;

    if (r || !shareData_out)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    r = ptxi_heap_name(ptr, PTXI_SHARED_POOL_MEMORY, &name);
    if (!r)
        memcpy(shareData_out, &name, sizeof name);
    return r;
}

ptxiResult ptxiMemPoolImportPointer(ptxiDevicePtr *ptr_out, ptxiMemoryPool pool, ptxiMemPoolPtrExportData *shareData)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    struct ptxi_shared_name name;
    struct ptxi_heap_block *b;

    if (r)
        return r;
    if (!ptr_out || !shareData || !ptxi_pool_use(pool) || pool->sharing != PTXI_POOL_IMPORTED)
        return PTXI_ERROR_INVALID_VALUE;
    memcpy(&name, shareData, sizeof name);
    if (!ptxi_shared_name_agrees(&name, PTXI_SHARED_POOL_MEMORY, pool->fd))
        return PTXI_ERROR_INVALID_VALUE;
    struct ptxi_pages pages = { .source = PTXI_PAGES_IMPORTED, .fd = pool->fd, .offset = name.part.offset };

    r = allocate_from_pool(ctx, pool, name.part.size, &pages, &b);
    if (!r)
        *ptr_out = b->base;
    return r;
}

/* ---- numbers of pools */

static ptxiResult enter_attribute(const struct ptxiMemPool_st *p, int attribute, const void *value)
{
    ptxiResult r = enter_pool(p);

    if (!r && (!value || attribute < FIRST_ATTRIBUTE || attribute > LAST_ATTRIBUTE))
        return PTXI_ERROR_INVALID_VALUE;
    return r;
}

ptxiResult ptxiMemPoolGetAttribute(ptxiMemoryPool pool, ptxiMemPoolAttribute attr, void *value)
{
    API_CALL;
    ptxiResult r = enter_attribute(pool, (int)attr, value);

    if (r)
        return r;
    pthread_mutex_lock(&ptxi_pool_mutex);
    switch ((int)attr) {
    case PTXI_MEMPOOL_ATTR_RELEASE_THRESHOLD: *(uint64_t *)value = pool->threshold; break;
    case PTXI_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case PTXI_MEMPOOL_ATTR_USED_MEM_CURRENT: *(uint64_t *)value = pool->used; break;
    case PTXI_MEMPOOL_ATTR_RESERVED_MEM_HIGH: *(uint64_t *)value = pool->reserved_high; break;
    case PTXI_MEMPOOL_ATTR_USED_MEM_HIGH: *(uint64_t *)value = pool->used_high; break;
    default: *(int *)value = pool->reuse[attr];
    }
    pthread_mutex_unlock(&ptxi_pool_mutex);
    return PTXI_SUCCESS;
}

/* A high-water mark can only be reset. */
static ptxiResult reset_high(const struct ptxiMemPool_st *p, uint64_t *high, uint64_t value)
{
    if (value)
        return PTXI_ERROR_INVALID_VALUE;
    *high = p->used;
    return PTXI_SUCCESS;
}

ptxiResult ptxiMemPoolSetAttribute(ptxiMemoryPool pool, ptxiMemPoolAttribute attr, void *value)
{
    API_CALL;
    ptxiResult r = enter_attribute(pool, (int)attr, value);

    if (r)
        return r;
    pthread_mutex_lock(&ptxi_pool_mutex);
    switch ((int)attr) {
    case PTXI_MEMPOOL_ATTR_RELEASE_THRESHOLD: pool->threshold = *(uint64_t *)value; break;
    case PTXI_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case PTXI_MEMPOOL_ATTR_USED_MEM_CURRENT: r = PTXI_ERROR_INVALID_VALUE; break;
    case PTXI_MEMPOOL_ATTR_RESERVED_MEM_HIGH: r = reset_high(pool, &pool->reserved_high, *(uint64_t *)value); break;
    case PTXI_MEMPOOL_ATTR_USED_MEM_HIGH: r = reset_high(pool, &pool->used_high, *(uint64_t *)value); break;
    default: pool->reuse[attr] = *(int *)value != 0;
    }
    pthread_mutex_unlock(&ptxi_pool_mutex);
    return r;
}

ptxiResult ptxiMemPoolGetAccess(ptxiMemAccessFlags *flags, ptxiMemoryPool memPool, ptxiMemLocation *location)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!flags || !ptxi_pool_use(memPool) || !location)
        return PTXI_ERROR_INVALID_VALUE;
    switch ((int)location->type) {
    case PTXI_MEM_LOCATION_TYPE_DEVICE:
        if (ptxi_api_device(location->id))
            return PTXI_ERROR_INVALID_VALUE;
        *flags = PTXI_MEM_ACCESS_FLAGS_PROT_NONE;
        if (memPool->kind != PTXI_POOL_MANAGED && atomic_load(&memPool->devices) & PTXI_ON_DEVICE(location->id))
            *flags = PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE;
        return PTXI_SUCCESS;
    case PTXI_MEM_LOCATION_TYPE_HOST:
    case PTXI_MEM_LOCATION_TYPE_HOST_NUMA:
        *flags = memPool->kind == PTXI_POOL_HOST ? PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE
                 : PTXI_MEM_ACCESS_FLAGS_PROT_NONE;
        return PTXI_SUCCESS;
    default:
        return PTXI_ERROR_INVALID_VALUE;
    }
}

/* A pool's own device always has access, and devices either read and write or have none. */
ptxiResult ptxi_pool_check_access(ptxiDevice own, const ptxiMemAccessDesc *a)
{
    if ((int)a->flags != PTXI_MEM_ACCESS_FLAGS_PROT_NONE && (int)a->flags != PTXI_MEM_ACCESS_FLAGS_PROT_READ &&
        (int)a->flags != PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return PTXI_ERROR_INVALID_VALUE;
    if (a->location.type != PTXI_MEM_LOCATION_TYPE_DEVICE || a->flags == PTXI_MEM_ACCESS_FLAGS_PROT_READ)
        return PTXI_ERROR_NOT_SUPPORTED;
    if (ptxi_api_device(a->location.id) ||
        (a->flags == PTXI_MEM_ACCESS_FLAGS_PROT_NONE && a->location.id == own))
        return PTXI_ERROR_INVALID_DEVICE;
    return PTXI_SUCCESS;
}

/* The host can always access memory of its own pool. Access to managed memory can be set, but this has no effect. */
static ptxiResult check_access(const struct ptxiMemPool_st *p, const ptxiMemAccessDesc *a)
{
    if (p->kind == PTXI_POOL_DEVICE)
        return ptxi_pool_check_access((ptxiDevice)p->place, a);
    if ((int)a->flags != PTXI_MEM_ACCESS_FLAGS_PROT_NONE && (int)a->flags != PTXI_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return a->flags == PTXI_MEM_ACCESS_FLAGS_PROT_READ ? PTXI_ERROR_NOT_SUPPORTED : PTXI_ERROR_INVALID_VALUE;
    switch ((int)a->location.type) {
    case PTXI_MEM_LOCATION_TYPE_DEVICE:
        return ptxi_api_device(a->location.id) ? PTXI_ERROR_INVALID_DEVICE : PTXI_SUCCESS;
    case PTXI_MEM_LOCATION_TYPE_HOST:
    case PTXI_MEM_LOCATION_TYPE_HOST_NUMA:
        return p->kind == PTXI_POOL_HOST && !a->flags ? PTXI_ERROR_NOT_SUPPORTED : PTXI_SUCCESS;
    default: return PTXI_ERROR_INVALID_VALUE;
    }
}

/* Applies the pool's devices to the memory that it has given out. state.lock orders concurrent calls. */
static void set_devices(struct ptxiMemPool_st *p, uint64_t devices)
{
    atomic_store(&p->devices, devices);
    for (ptxiContext ctx = ptxi_state.contexts; ctx; ctx = ctx->next) {
        pthread_mutex_lock(&ctx->lock);
        for (const struct ptxi_heap_block *b = ctx->blocks; b; b = b->next)
            if (b->pool == p)
                ptxi_memmap_set_devices(ptxi_state.memmap, b->base, devices);
        pthread_mutex_unlock(&ctx->lock);
    }
}

ptxiResult ptxiMemPoolSetAccess(ptxiMemoryPool pool, const ptxiMemAccessDesc *map, size_t count)
{
    API_CALL;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!ptxi_pool_use(pool) || !map)
        return PTXI_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && !r; i++)
        r = check_access(pool, &map[i]);
    if (r || pool->kind == PTXI_POOL_MANAGED) /* any device may access its memory */
        return r;
    pthread_mutex_lock(&ptxi_state.lock);
    uint64_t devices = atomic_load(&pool->devices), before = devices;

    for (size_t i = 0; i < count; i++) {
        if (map[i].location.type != PTXI_MEM_LOCATION_TYPE_DEVICE)
            continue;
        devices &= ~PTXI_ON_DEVICE(map[i].location.id);
        devices |= map[i].flags ? PTXI_ON_DEVICE(map[i].location.id) : 0;
    }
    if (devices != before)
        set_devices(pool, devices);
    pthread_mutex_unlock(&ptxi_state.lock);
    return PTXI_SUCCESS;
}
