#include "exec/memmap/annotation.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct range {
    uint64_t base, end;
};

/* Ranges that do not overlap, by their bases. */
struct set {
    struct range *list;
    size_t count, allocated;
};

static struct set sets[PTXI_ANNOTATED_SETS];
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER; /* of the sets */
static _Atomic bool used, has_pools;

/* The number of ranges that end at the address or before it. */
static size_t count_below(const struct set *s, uint64_t address)
{
    size_t low = 0, high = s->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->list[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct range *find(const struct set *s, uint64_t address)
{
    size_t n = count_below(s, address);

    return n < s->count && s->list[n].base <= address ? &s->list[n] : NULL;
}

/* The number of ranges from the one with the index on that begin before the end. */
static size_t count_overlaps(const struct set *s, size_t index, uint64_t end)
{
    size_t n = 0;

    while (index + n < s->count && s->list[index + n].base < end)
        n++;
    return n;
}

/* Replaces ranges by one, or by none. False: memory is short. */
static bool replace(struct set *s, size_t index, size_t removed, const struct range *added)
{
    size_t n = added != NULL, rest = s->count - index - removed;

    if (s->count + n - removed > s->allocated) {
        size_t allocated = 2 * s->allocated + 16;
        struct range *list = realloc(s->list, allocated * sizeof *list);

        if (!list)
            return false;
        s->list = list;
        s->allocated = allocated;
    }
    if (rest)
        memmove(&s->list[index + n], &s->list[index + removed], rest * sizeof *s->list);
    if (added)
        s->list[index] = *added;
    s->count += n - removed;
    return true;
}

bool ptxi_annotation_add(enum ptxi_annotation_set set, uint64_t base, uint64_t size)
{
    struct set *s = &sets[set];
    struct range added = { base, base + size };

    pthread_rwlock_wrlock(&lock);
    size_t index = count_below(s, base), n = count_overlaps(s, index, added.end);

    if (n && set != PTXI_ANNOTATED_PARTS) {
        added.base = s->list[index].base < base ? s->list[index].base : base;
        added.end = s->list[index + n - 1].end > added.end ? s->list[index + n - 1].end : added.end;
    }
    bool done = replace(s, index, n, &added);

    pthread_rwlock_unlock(&lock);
    atomic_store_explicit(&used, true, memory_order_release);
    if (set == PTXI_ANNOTATED_POOLS)
        atomic_store_explicit(&has_pools, true, memory_order_release);
    return done;
}

void ptxi_annotation_remove(enum ptxi_annotation_set set, uint64_t base, uint64_t size)
{
    struct set *s = &sets[set];

    if (!atomic_load_explicit(&used, memory_order_acquire))
        return;
    pthread_rwlock_wrlock(&lock);
    size_t index = count_below(s, base), n = count_overlaps(s, index, base + size);

    replace(s, index, n, NULL);
    pthread_rwlock_unlock(&lock);
}

void ptxi_annotation_forget(uint64_t base, uint64_t size)
{
    for (unsigned k = 0; k < PTXI_ANNOTATED_SETS; k++)
        ptxi_annotation_remove((enum ptxi_annotation_set)k, base, size);
}

bool ptxi_annotation_find(enum ptxi_annotation_set set, uint64_t address, uint64_t *base, uint64_t *size)
{
    if (!atomic_load_explicit(&used, memory_order_acquire))
        return false;
    pthread_rwlock_rdlock(&lock);
    const struct range *r = find(&sets[set], address);

    if (r) {
        *base = r->base;
        *size = r->end - r->base;
    }
    pthread_rwlock_unlock(&lock);
    return r;
}

bool ptxi_annotation_has_pools(void)
{
    return atomic_load_explicit(&has_pools, memory_order_acquire);
}

static void clip(struct ptxi_mem_region *r, uint64_t base, uint64_t end)
{
    uint64_t region_end = r->base + r->size;

    if (r->base < base)
        r->base = base;
    r->size = (end < region_end ? end : region_end) - r->base;
}

/* Reduces a region to the addresses between the pools around `address`. */
static void clip_between(const struct set *pools, uint64_t address, struct ptxi_mem_region *r)
{
    size_t n = count_below(pools, address);

    clip(r, n ? pools->list[n - 1].end : 0, n < pools->count ? pools->list[n].base : UINT64_MAX);
}

bool ptxi_annotation_narrow(uint64_t address, struct ptxi_mem_region *r)
{
    const struct range *part;
    bool allocated = true;

    if (!ptxi_annotation_has_pools())
        return true;
    pthread_rwlock_rdlock(&lock);
    if (!find(&sets[PTXI_ANNOTATED_POOLS], address))
        clip_between(&sets[PTXI_ANNOTATED_POOLS], address, r);
    else if ((part = find(&sets[PTXI_ANNOTATED_PARTS], address)))
        clip(r, part->base, part->end);
    else
        allocated = false;
    pthread_rwlock_unlock(&lock);
    return allocated;
}
