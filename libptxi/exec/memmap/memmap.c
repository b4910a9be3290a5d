/* Regions are sorted by base, in leaves of at most LEAF_MAX. A sorted array has the pointers to the leaves. So two
 * binary searches find an address, and an insertion moves at most one leaf and the array. */
#include "exec/memmap/memmap.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF_MAX = 128 };

struct leaf {
    size_t n; /* number of regions, at least 1 */
    struct ptxi_mem_region at[LEAF_MAX];
};

struct ptxi_memmap {
    struct ptxi_memmap_head head;
    pthread_rwlock_t lock;
    struct leaf **leaf;
    size_t leaves, capacity; /* of the array of leaves */
    size_t regions;
    uint64_t last_id;
};

/* A writer has priority: there may be readers at all times. */
static bool init_lock(pthread_rwlock_t *lock)
{
    pthread_rwlockattr_t attr;

    pthread_rwlockattr_init(&attr);
#ifdef __GLIBC__
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    int r = pthread_rwlock_init(lock, &attr);

    pthread_rwlockattr_destroy(&attr);
    return r == 0;
}

struct ptxi_memmap *ptxi_memmap_create(void)
{
    struct ptxi_memmap *m = calloc(1, sizeof *m);

    if (m && !init_lock(&m->lock)) {
        free(m);
        m = NULL;
    }
    return m;
}

void ptxi_memmap_destroy(struct ptxi_memmap *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->leaves; i++)
        free(m->leaf[i]);
    free(m->leaf);
    pthread_rwlock_destroy(&m->lock);
    free(m);
}

void ptxi_memmap_invalidate(struct ptxi_memmap *m)
{
    atomic_fetch_add_explicit(&m->head.generation, 1, memory_order_release);
}

/* Index of the last leaf whose first region starts at or below addr, or 0. */
static size_t find_leaf(const struct ptxi_memmap *m, uint64_t addr)
{
    size_t lo = 0, hi = m->leaves;

    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;

        if (m->leaf[mid]->at[0].base <= addr)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* Number of regions of the leaf that start at or below addr. */
static size_t find_slot(const struct leaf *l, uint64_t addr)
{
    size_t lo = 0, hi = l->n;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (l->at[mid].base <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The last region that starts at or below addr and the first one that starts above it, or NULL. */
static void neighbours(const struct ptxi_memmap *m, uint64_t addr, struct ptxi_mem_region **below,
                       struct ptxi_mem_region **above)
{
    *below = *above = NULL;
    if (m->leaves == 0)
        return;
    size_t i = find_leaf(m, addr), k = find_slot(m->leaf[i], addr);

    if (k > 0)
        *below = &m->leaf[i]->at[k - 1];
    if (k < m->leaf[i]->n)
        *above = &m->leaf[i]->at[k];
    else if (i + 1 < m->leaves)
        *above = &m->leaf[i + 1]->at[0];
}

static bool insert_leaf(struct ptxi_memmap *m, size_t at)
{
    if (m->leaves == m->capacity) {
        size_t cap = m->capacity ? 2 * m->capacity : 8;
        struct leaf **p = realloc(m->leaf, cap * sizeof *p);

        if (!p)
            return false;
        m->leaf = p;
        m->capacity = cap;
    }
    struct leaf *l = malloc(sizeof *l);

    if (!l)
        return false;
    assert(at <= m->leaves);
    l->n = 0;
    memmove(&m->leaf[at + 1], &m->leaf[at], (m->leaves - at) * sizeof *m->leaf);
    m->leaf[at] = l;
    m->leaves++;
    return true;
}

/* Makes room in the leaf for addr. Returns its index, or -1 if memory is short. */
static long leaf_with_room(struct ptxi_memmap *m, uint64_t addr)
{
    if (m->leaves == 0)
        return insert_leaf(m, 0) ? 0 : -1;
    size_t i = find_leaf(m, addr);

    if (m->leaf[i]->n < LEAF_MAX)
        return (long)i;
    if (!insert_leaf(m, i + 1))
        return -1;
    struct leaf *l = m->leaf[i], *r = m->leaf[i + 1];

    /* Addresses usually grow, so an append keeps a full leaf and starts a new one. */
    size_t keep = i + 2 == m->leaves && addr > l->at[LEAF_MAX - 1].base ? LEAF_MAX - 1 : LEAF_MAX / 2;

    assert(l->n == LEAF_MAX && keep && keep < LEAF_MAX);
    r->n = LEAF_MAX - keep;
    memcpy(r->at, &l->at[keep], r->n * sizeof r->at[0]);
    l->n = keep;
    return (long)(addr < r->at[0].base ? i : i + 1);
}

static enum ptxi_memmap_result add_locked(struct ptxi_memmap *m, struct ptxi_mem_region *r)
{
    struct ptxi_mem_region *below, *above;

    neighbours(m, r->base, &below, &above);
    if (below && r->base - below->base < below->size)
        return PTXI_MEMMAP_OVERLAP;
    if (above && above->base - r->base < r->size)
        return PTXI_MEMMAP_OVERLAP;
    long i = leaf_with_room(m, r->base);

    if (i < 0)
        return PTXI_MEMMAP_OOM;
    struct leaf *l = m->leaf[i];
    size_t k = find_slot(l, r->base);

    assert(l->n < LEAF_MAX && k <= l->n);
    assert(!k || l->at[k - 1].base + l->at[k - 1].size <= r->base);
    r->id = ++m->last_id;
    memmove(&l->at[k + 1], &l->at[k], (l->n - k) * sizeof l->at[0]);
    l->at[k] = *r;
    l->n++;
    m->regions++;
    return PTXI_MEMMAP_OK;
}

enum ptxi_memmap_result ptxi_memmap_add(struct ptxi_memmap *m, struct ptxi_mem_region *r)
{
    if (r->size == 0 || r->base > UINT64_MAX - r->size)
        return PTXI_MEMMAP_OVERLAP;
    pthread_rwlock_wrlock(&m->lock);
    enum ptxi_memmap_result res = add_locked(m, r);
    pthread_rwlock_unlock(&m->lock);
    return res;
}

bool ptxi_memmap_remove(struct ptxi_memmap *m, uint64_t base)
{
    bool found = false;

    pthread_rwlock_wrlock(&m->lock);
    if (m->leaves) {
        size_t i = find_leaf(m, base);
        struct leaf *l = m->leaf[i];
        size_t k = find_slot(l, base);

        found = k > 0 && l->at[k - 1].base == base;
        if (found) {
            assert(m->regions && l->n <= LEAF_MAX);
            memmove(&l->at[k - 1], &l->at[k], (l->n - k) * sizeof l->at[0]);
            m->regions--;
            if (--l->n == 0) {
                free(l);
                memmove(&m->leaf[i], &m->leaf[i + 1], (m->leaves - i - 1) * sizeof *m->leaf);
                m->leaves--;
            }
            ptxi_memmap_invalidate(m);
        }
    }
    pthread_rwlock_unlock(&m->lock);
    return found;
}

/* Finds a region for a change. The lock is held until end_change(). NULL: there is no such region. */
static struct ptxi_mem_region *begin_change(struct ptxi_memmap *m, uint64_t base)
{
    struct ptxi_mem_region *below, *above;

    pthread_rwlock_wrlock(&m->lock);
    neighbours(m, base, &below, &above);
    return below && below->base == base ? below : NULL;
}

static bool end_change(struct ptxi_memmap *m, const struct ptxi_mem_region *changed)
{
    if (changed)
        ptxi_memmap_invalidate(m);
    pthread_rwlock_unlock(&m->lock);
    return changed;
}

bool ptxi_memmap_set_flags(struct ptxi_memmap *m, uint64_t base, uint32_t flags)
{
    struct ptxi_mem_region *r = begin_change(m, base);

    if (r)
        r->flags = flags;
    return end_change(m, r);
}

bool ptxi_memmap_set_devices(struct ptxi_memmap *m, uint64_t base, uint64_t devices)
{
    struct ptxi_mem_region *r = begin_change(m, base);

    if (r)
        r->devices = devices;
    return end_change(m, r);
}

enum ptxi_memmap_hit ptxi_memmap_find(struct ptxi_memmap *m, uint64_t addr, struct ptxi_mem_region *region)
{
    struct ptxi_mem_region *below, *above;
    enum ptxi_memmap_hit hit = PTXI_MEMMAP_NEAREST;

    pthread_rwlock_rdlock(&m->lock);
    neighbours(m, addr, &below, &above);
    if (below && addr - below->base < below->size) {
        hit = PTXI_MEMMAP_INSIDE;
        *region = *below;
    } else if (below && above) {
        uint64_t past = addr - (below->base + below->size - 1), before = above->base - addr;

        *region = past <= before ? *below : *above;
    } else if (below || above) {
        *region = below ? *below : *above;
    } else {
        hit = PTXI_MEMMAP_EMPTY;
    }
    pthread_rwlock_unlock(&m->lock);
    return hit;
}

bool ptxi_memmap_covers(struct ptxi_memmap *m, uint64_t addr, uint64_t size, struct ptxi_mem_region *region)
{
    if (ptxi_memmap_find(m, addr, region) != PTXI_MEMMAP_INSIDE)
        return false;
    return size <= region->size - (addr - region->base);
}

size_t ptxi_memmap_count(struct ptxi_memmap *m)
{
    pthread_rwlock_rdlock(&m->lock);
    size_t n = m->regions;
    pthread_rwlock_unlock(&m->lock);
    return n;
}
