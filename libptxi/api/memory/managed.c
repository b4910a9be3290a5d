/* Advice, prefetches, discards and attachments are checked, and stored in segments of addresses that the program can
 * query. */
#include "api/memory/managed.h"

#include "api/memory/heap.h"
#include "api/stream/stream.h"

#include <stdlib.h>

enum { HOST = -1, NOWHERE = -2 }; /* numbers of locations that are no devices */

/* The hints of a range of addresses. */
struct hints {
    bool read_mostly, accessed_by_host;
    uint32_t accessed_by; /* bit d: device d */
    ptxiMemLocation preferred, prefetched;
};

struct segment {
    struct segment *next; /* in the order of addresses */
    uint64_t base, end;
    uint64_t id;          /* of the region in the memory map; a freed region may leave segments behind */
    struct hints hints;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct segment *segments;

/* ---- segments; under the lock */

static bool is_current(const struct segment *s)
{
    struct ptxi_mem_region region;

    return ptxi_memmap_find(ptxi_state.memmap, s->base, &region) == PTXI_MEMMAP_INSIDE && region.id == s->id &&
           !(region.flags & PTXI_MEM_FREED);
}

static void drop_old_segments(void)
{
    for (struct segment **at = &segments; *at;) {
        struct segment *s = *at;

        if (is_current(s)) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        free(s);
    }
}

void ptxi_managed_forget_freed(void)
{
    pthread_mutex_lock(&lock);
    drop_old_segments();
    pthread_mutex_unlock(&lock);
}

static struct segment *insert_segment(struct segment **at, uint64_t base, uint64_t end, uint64_t id)
{
    struct segment *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    *s = (struct segment){ .next = *at, .base = base, .end = end, .id = id };
    *at = s;
    return s;
}

/* Ensures that a segment begins or ends at the address, if one contains it. */
static bool split_segment(uint64_t at)
{
    struct segment *s = segments;

    while (s && !(s->base < at && at < s->end))
        s = s->next;
    if (!s)
        return true;
    struct segment *rest = insert_segment(&s->next, at, s->end, s->id);

    if (!rest)
        return false;
    rest->hints = s->hints;
    s->end = at;
    return true;
}

/* Makes segments that cover exactly the range. */
static bool cover_range(uint64_t base, uint64_t end, uint64_t id)
{
    struct segment **at = &segments;

    drop_old_segments();
    if (!split_segment(base) || !split_segment(end))
        return false;
    while (*at && (*at)->end <= base)
        at = &(*at)->next;
    while (base < end) {
        uint64_t stop = *at && (*at)->base < end ? (*at)->base : end;

        if (base < stop && !insert_segment(at, base, stop, id))
            return false;
        base = (*at)->end;
        at = &(*at)->next;
    }
    return true;
}

/* ---- ranges */

/* Finds the managed memory of a range. */
static bool find_managed(ptxiDevicePtr p, size_t count, struct ptxi_mem_region *region)
{
    struct ptxi_heap_block b;

    return count && ptxi_heap_find(p, &b, region) && region->flags & PTXI_MEM_MANAGED && !b.claimed &&
           count <= region->size - (p - region->base);
}

static ptxiResult check_location(const ptxiMemLocation *l, bool numa)
{
    switch ((int)l->type) {
    case PTXI_MEM_LOCATION_TYPE_DEVICE: return ptxi_api_device(l->id);
    case PTXI_MEM_LOCATION_TYPE_HOST: return PTXI_SUCCESS;
    case PTXI_MEM_LOCATION_TYPE_HOST_NUMA: return numa && l->id >= 0 ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
    case PTXI_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: return numa ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;
    default: return PTXI_ERROR_INVALID_VALUE;
    }
}

/* Stores a hint in the segments of a range. */
static ptxiResult store_hint(ptxiDevicePtr p, size_t count, void (*store)(struct hints *h, int what, ptxiMemLocation l),
                             int what, ptxiMemLocation l)
{
    struct ptxi_mem_region region;

    if (!find_managed(p, count, &region))
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    bool ok = cover_range(p, p + count, region.id);

    for (struct segment *s = segments; ok && s; s = s->next)
        if (s->base >= p && s->end <= p + count)
            store(&s->hints, what, l);
    pthread_mutex_unlock(&lock);
    return ok ? PTXI_SUCCESS : PTXI_ERROR_OUT_OF_MEMORY;
}

/* ---- advice */

static void store_advice(struct hints *h, int advice, ptxiMemLocation l)
{
    bool set = advice == PTXI_MEM_ADVISE_SET_ACCESSED_BY;
    uint32_t device;

    if (l.type != PTXI_MEM_LOCATION_TYPE_DEVICE && l.type != PTXI_MEM_LOCATION_TYPE_HOST)
        return; /* the driver stores nothing for NUMA nodes */
    switch (advice) {
    case PTXI_MEM_ADVISE_SET_READ_MOSTLY:
    case PTXI_MEM_ADVISE_UNSET_READ_MOSTLY: h->read_mostly = advice == PTXI_MEM_ADVISE_SET_READ_MOSTLY; break;
    case PTXI_MEM_ADVISE_SET_PREFERRED_LOCATION: h->preferred = l; break;
    case PTXI_MEM_ADVISE_UNSET_PREFERRED_LOCATION: h->preferred = (ptxiMemLocation){ .id = 0 }; break;
    default:
        if (l.type != PTXI_MEM_LOCATION_TYPE_DEVICE) {
            h->accessed_by_host = set;
            break;
        }
        device = UINT32_C(1) << l.id;
        h->accessed_by = (h->accessed_by & ~device) | (set ? device : 0);
    }
}

ptxiResult ptxiMemAdvise(ptxiDevicePtr devPtr, size_t count, ptxiMemAdvice advice, ptxiMemLocation location)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    bool accessed = advice == PTXI_MEM_ADVISE_SET_ACCESSED_BY || advice == PTXI_MEM_ADVISE_UNSET_ACCESSED_BY;

    if ((int)advice < PTXI_MEM_ADVISE_SET_READ_MOSTLY || (int)advice > PTXI_MEM_ADVISE_UNSET_ACCESSED_BY ||
        check_location(&location, !accessed))
        return PTXI_ERROR_INVALID_VALUE;
    return store_hint(devPtr, count, store_advice, (int)advice, location);
}

/* ---- attributes */

static int location_number(ptxiMemLocation l)
{
    switch ((int)l.type) {
    case PTXI_MEM_LOCATION_TYPE_INVALID: return NOWHERE;
    case PTXI_MEM_LOCATION_TYPE_DEVICE: return l.id;
    default: return HOST;
    }
}

/* The id that the attributes of an id return. */
static int location_id(ptxiMemLocation l)
{
    if (l.type == PTXI_MEM_LOCATION_TYPE_INVALID || l.type == PTXI_MEM_LOCATION_TYPE_HOST)
        return location_number(l);
    return l.id;
}

static bool is_same(ptxiMemLocation a, ptxiMemLocation b)
{
    return a.type == b.type && a.id == b.id;
}

/* Combines the hints of a range: what holds for all of it. */
static struct hints combine_hints(uint64_t base, uint64_t end, uint64_t id)
{
    struct hints all = { .read_mostly = false };
    uint64_t at = base;

    for (const struct segment *s = segments; s && at < end; s = s->next) {
        const struct hints *h = &s->hints;

        if (s->id != id || s->end <= at)
            continue;
        if (s->base > at)
            break;
        if (at == base) {
            all = *h;
        } else {
            all.read_mostly &= h->read_mostly;
            all.accessed_by &= h->accessed_by;
            all.accessed_by_host &= h->accessed_by_host;
            all.preferred = is_same(all.preferred, h->preferred) ? h->preferred : (ptxiMemLocation){ .id = 0 };
            all.prefetched = is_same(all.prefetched, h->prefetched) ? h->prefetched : (ptxiMemLocation){ .id = 0 };
        }
        at = s->end;
    }
    return at >= end ? all : (struct hints){ .read_mostly = false };
}

static void list_accessors(const struct hints *h, int *data, size_t count)
{
    size_t n = 0;

    for (int d = 0; d < PTXI_MAX_DEVICES && n < count; d++)
        if (h->accessed_by >> d & 1)
            data[n++] = d;
    if (h->accessed_by_host && n < count)
        data[n++] = HOST;
    while (n < count)
        data[n++] = NOWHERE;
}

static void store_attribute(const struct hints *h, int attribute, int *data, size_t count)
{
    switch (attribute) {
    case PTXI_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: *data = h->read_mostly; break;
    case PTXI_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: list_accessors(h, data, count); break;
    case PTXI_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: *data = location_number(h->preferred); break;
    case PTXI_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: *data = location_number(h->prefetched); break;
    case PTXI_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: *data = (int)h->preferred.type; break;
    case PTXI_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: *data = location_id(h->preferred); break;
    case PTXI_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: *data = (int)h->prefetched.type; break;
    default: *data = location_id(h->prefetched);
    }
}

ptxiResult ptxiMemRangeGetAttribute(void *data, size_t dataSize, ptxiMemRangeAttribute attribute, ptxiDevicePtr devPtr,
                                    size_t count)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);
    struct ptxi_mem_region region;

    if (r)
        return r;
    if (!data || (int)attribute < PTXI_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ||
        (int)attribute > PTXI_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID || !dataSize || dataSize % sizeof(int) ||
        (attribute != PTXI_MEM_RANGE_ATTRIBUTE_ACCESSED_BY && dataSize != sizeof(int)) ||
        !find_managed(devPtr, count, &region))
        return PTXI_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    struct hints h = combine_hints(devPtr, devPtr + count, region.id);

    pthread_mutex_unlock(&lock);
    store_attribute(&h, (int)attribute, data, dataSize / sizeof(int));
    return PTXI_SUCCESS;
}

ptxiResult ptxiMemRangeGetAttributes(void **data, size_t *dataSizes, ptxiMemRangeAttribute *attributes,
                                     size_t numAttributes, ptxiDevicePtr devPtr, size_t count)
{
    API_CALL;
    ptxiContext ctx;
    ptxiResult r = ptxi_api_context(&ctx);

    if (r)
        return r;
    if (!data || !dataSizes || !attributes || !numAttributes)
        return PTXI_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < numAttributes && !r; i++)
        r = ptxiMemRangeGetAttribute(data[i], dataSizes[i], attributes[i], devPtr, count);
    return r;
}

/* ---- prefetches and discards */

static void store_prefetch(struct hints *h, int what, ptxiMemLocation l)
{
    (void)what;
    h->prefetched = l;
}

/* The stream of a hint, which may not be under capture. */
static ptxiResult enter_stream(ptxiStream handle)
{
    ptxiContext ctx;
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_enter(handle, &ctx, &s);

    return !r && ptxi_capturing(s) ? PTXI_ERROR_STREAM_CAPTURE_UNSUPPORTED : r;
}

static ptxiResult prefetch_range(ptxiDevicePtr p, size_t count, ptxiMemLocation l)
{
    ptxiResult r = check_location(&l, true);

    return r ? r : store_hint(p, count, store_prefetch, 0, l);
}

ptxiResult ptxiMemPrefetchAsync(ptxiDevicePtr devPtr, size_t count, ptxiMemLocation location, unsigned flags,
                                ptxiStream hStream)
{
    API_CALL;
    ptxiResult r = enter_stream(hStream);

    if (r || flags)
        return r ? r : PTXI_ERROR_INVALID_VALUE;
    return prefetch_range(devPtr, count, location);
}

static ptxiResult enter_batch(const ptxiDevicePtr *p, const size_t *sizes, size_t count, unsigned long long flags,
                              ptxiStream stream)
{
    ptxiResult r = enter_stream(stream);

    return !r && (!p || !sizes || !count || flags) ? PTXI_ERROR_INVALID_VALUE : r;
}

/* True if the indices begin with 0, increase, and are less than the count. */
static bool are_indices(const size_t *at, size_t n, size_t count)
{
    if (!at || !n || n > count || at[0])
        return false;
    for (size_t k = 1; k < n; k++)
        if (at[k] <= at[k - 1] || at[k] >= count)
            return false;
    return true;
}

static ptxiResult prefetch_ranges(const ptxiDevicePtr *p, const size_t *sizes, size_t count,
                                  const ptxiMemLocation *locations, const size_t *first, size_t n)
{
    ptxiResult r = locations && are_indices(first, n, count) ? PTXI_SUCCESS : PTXI_ERROR_INVALID_VALUE;

    for (size_t i = 0, k = 0; i < count && !r; i++) {
        if (k + 1 < n && first[k + 1] == i)
            k++;
        r = prefetch_range(p[i], sizes[i], locations[k]);
    }
    return r;
}

ptxiResult ptxiMemPrefetchBatchAsync(ptxiDevicePtr *dptrs, size_t *sizes, size_t count, ptxiMemLocation *prefetchLocs,
                                     size_t *prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                                     ptxiStream hStream)
{
    API_CALL;
    ptxiResult r = enter_batch(dptrs, sizes, count, flags, hStream);

    return r ? r : prefetch_ranges(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs);
}

ptxiResult ptxiMemDiscardBatchAsync(ptxiDevicePtr *dptrs, size_t *sizes, size_t count, unsigned long long flags,
                                    ptxiStream hStream)
{
    API_CALL;
    ptxiResult r = enter_batch(dptrs, sizes, count, flags, hStream);
    struct ptxi_mem_region region;

    for (size_t i = 0; i < count && !r; i++)
        if (!find_managed(dptrs[i], sizes[i], &region))
            r = PTXI_ERROR_INVALID_VALUE;
    return r;
}

ptxiResult ptxiMemDiscardAndPrefetchBatchAsync(ptxiDevicePtr *dptrs, size_t *sizes, size_t count,
                                               ptxiMemLocation *prefetchLocs, size_t *prefetchLocIdxs,
                                               size_t numPrefetchLocs, unsigned long long flags, ptxiStream hStream)
{
    API_CALL;
    return ptxiMemPrefetchBatchAsync(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags,
                                     hStream);
}

/* ---- attachments */

static bool is_default_stream(ptxiStream s)
{
    return !s || s == PTXI_STREAM_LEGACY || s == PTXI_STREAM_PER_THREAD;
}

ptxiResult ptxiStreamAttachMemAsync(ptxiStream hStream, ptxiDevicePtr dptr, size_t length, unsigned flags)
{
    API_CALL;
    ptxiResult r = enter_stream(hStream);
    struct ptxi_mem_region region;

    if (r)
        return r;
    if ((flags != PTXI_MEM_ATTACH_GLOBAL && flags != PTXI_MEM_ATTACH_HOST && flags != PTXI_MEM_ATTACH_SINGLE) ||
        (flags == PTXI_MEM_ATTACH_SINGLE && is_default_stream(hStream)) || !find_managed(dptr, 1, &region) ||
        region.base != dptr || (length && length != region.size))
        return PTXI_ERROR_INVALID_VALUE;
    return PTXI_SUCCESS;
}
