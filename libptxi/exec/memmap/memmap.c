/* Most look-ups use the page map, without a lock. The sorted list serves look-ups of the nearest region, and those that
 * the page map cannot decide. Regions are sorted by base, in leaves of at most LEAF_MAX. A sorted array has the
 * pointers to the leaves. So two binary searches find an address, and an insertion moves at most one leaf and the
 * array. */
#include "exec/memmap/memmap.h"

#include "exec/memmap/page_map.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF_MAX = 128 };

enum { BLOCK_SLOTS = 64 };

struct slot_block {
    struct slot_block *next;
    struct ptxi_region_slot slots[BLOCK_SLOTS];
};

struct leaf {
    size_t n;                   /* number of regions, at least 1 */
    uint64_t base[LEAF_MAX];    /* of the regions */
    struct ptxi_region_slot *at[LEAF_MAX];
};

struct ptxi_memmap {
    struct ptxi_memmap_head head;
    unsigned char unused[128]; /* each access reads the head, and nothing that look-ups write is in its lines */
    pthread_rwlock_t lock;
    struct leaf **leaf;
    size_t leaves, capacity; /* of the array of leaves */
    size_t regions;
    uint64_t last_id;
    struct slot_block *blocks;
    struct ptxi_region_slot *free_slots;
    _Atomic size_t unpaged; /* number of regions that are not in the page map */
    struct ptxi_page_map pages;
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
    while (m->blocks) {
        struct slot_block *b = m->blocks;

        m->blocks = b->next;
        free(b);
    }
    ptxi_page_map_free(&m->pages);
    pthread_rwlock_destroy(&m->lock);
    free(m);
}

void ptxi_memmap_invalidate(struct ptxi_memmap *m)
{
    atomic_fetch_add_explicit(&m->head.generation, 1, memory_order_release);
}

/* ---- slots */

/* Empties a slot. A reader may still copy it, and finds no region. */
static void give_slot(struct ptxi_memmap *m, struct ptxi_region_slot *s)
{
    ptxi_region_slot_write(s, &(struct ptxi_mem_region){ .owner = m->free_slots });
    m->free_slots = s;
}

static struct ptxi_region_slot *take_slot(struct ptxi_memmap *m)
{
    struct ptxi_region_slot *s;

    if (!m->free_slots) {
        struct slot_block *b = aligned_alloc(_Alignof(struct slot_block), sizeof *b);

        if (!b)
            return NULL;
        memset(b, 0, sizeof *b);
        b->next = m->blocks;
        m->blocks = b;
        for (size_t i = 0; i < BLOCK_SLOTS; i++)
            give_slot(m, &b->slots[i]);
    }
    s = m->free_slots;
    m->free_slots = atomic_load_explicit(&s->owner, memory_order_relaxed);
    return s;
}

/* ---- the sorted list */

/* Index of the last leaf with a first region that starts at or below addr, or 0. */
static size_t find_leaf(const struct ptxi_memmap *m, uint64_t addr)
{
    size_t lo = 0, hi = m->leaves;

    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;

        if (m->leaf[mid]->base[0] <= addr)
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

        if (l->base[mid] <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The last region that starts at or below addr and the first one that starts above it, or NULL. */
static void neighbours(const struct ptxi_memmap *m, uint64_t addr, struct ptxi_region_slot **below,
                       struct ptxi_region_slot **above)
{
    *below = *above = NULL;
    if (m->leaves == 0)
        return;
    size_t i = find_leaf(m, addr), k = find_slot(m->leaf[i], addr);

    if (k > 0)
        *below = m->leaf[i]->at[k - 1];
    if (k < m->leaf[i]->n)
        *above = m->leaf[i]->at[k];
    else if (i + 1 < m->leaves)
        *above = m->leaf[i + 1]->at[0];
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
    size_t keep = i + 2 == m->leaves && addr > l->base[LEAF_MAX - 1] ? LEAF_MAX - 1 : LEAF_MAX / 2;

    assert(l->n == LEAF_MAX && keep && keep < LEAF_MAX);
    r->n = LEAF_MAX - keep;
    memcpy(r->base, &l->base[keep], r->n * sizeof r->base[0]);
    memcpy(r->at, &l->at[keep], r->n * sizeof r->at[0]);
    l->n = keep;
    return (long)(addr < r->base[0] ? i : i + 1);
}

static void insert_slot(struct leaf *l, struct ptxi_region_slot *s)
{
    const uint64_t base = ptxi_region_slot_base(s);
    size_t k = find_slot(l, base);

    assert(l->n < LEAF_MAX && k <= l->n);
    assert(!k || ptxi_region_slot_end(l->at[k - 1]) <= base);
    memmove(&l->base[k + 1], &l->base[k], (l->n - k) * sizeof l->base[0]);
    memmove(&l->at[k + 1], &l->at[k], (l->n - k) * sizeof l->at[0]);
    l->base[k] = base;
    l->at[k] = s;
    l->n++;
}

static bool overlaps(const struct ptxi_memmap *m, uint64_t addr, uint64_t size)
{
    struct ptxi_region_slot *below, *above;

    neighbours(m, addr, &below, &above);
    return (below && ptxi_region_slot_end(below) > addr) || (above && ptxi_region_slot_base(above) - addr < size);
}

bool ptxi_memmap_overlaps(struct ptxi_memmap *m, uint64_t addr, uint64_t size)
{
    pthread_rwlock_rdlock(&m->lock);
    bool found = overlaps(m, addr, size);

    pthread_rwlock_unlock(&m->lock);
    return found;
}

static enum ptxi_memmap_result add_locked(struct ptxi_memmap *m, struct ptxi_mem_region *r)
{
    struct ptxi_region_slot *s;

    if (overlaps(m, r->base, r->size))
        return PTXI_MEMMAP_OVERLAP;
    long i = leaf_with_room(m, r->base);

    s = i < 0 ? NULL : take_slot(m);
    if (!s)
        return PTXI_MEMMAP_OOM;
    r->id = ++m->last_id;
    ptxi_region_slot_write(s, r);
    insert_slot(m->leaf[i], s);
    m->regions++;
    s->in_page_map = ptxi_page_map_add(&m->pages, s);
    if (!s->in_page_map)
        atomic_fetch_add(&m->unpaged, 1);
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

static void remove_slot(struct ptxi_memmap *m, size_t i, size_t k)
{
    struct leaf *l = m->leaf[i];
    struct ptxi_region_slot *s = l->at[k];

    assert(m->regions && l->n <= LEAF_MAX);
    if (s->in_page_map)
        ptxi_page_map_remove(&m->pages, s);
    else
        atomic_fetch_sub(&m->unpaged, 1);
    give_slot(m, s);
    memmove(&l->base[k], &l->base[k + 1], (l->n - k - 1) * sizeof l->base[0]);
    memmove(&l->at[k], &l->at[k + 1], (l->n - k - 1) * sizeof l->at[0]);
    m->regions--;
    if (--l->n == 0) {
        free(l);
        memmove(&m->leaf[i], &m->leaf[i + 1], (m->leaves - i - 1) * sizeof *m->leaf);
        m->leaves--;
    }
}

bool ptxi_memmap_remove(struct ptxi_memmap *m, uint64_t base)
{
    bool found = false;

    pthread_rwlock_wrlock(&m->lock);
    if (m->leaves) {
        size_t i = find_leaf(m, base), k = find_slot(m->leaf[i], base);

        found = k > 0 && m->leaf[i]->base[k - 1] == base;
        if (found) {
            remove_slot(m, i, k - 1);
            ptxi_memmap_invalidate(m);
        }
    }
    pthread_rwlock_unlock(&m->lock);
    return found;
}

enum change { CHANGE_FLAGS, CHANGE_DEVICES };

static bool change_region(struct ptxi_memmap *m, uint64_t base, enum change change, uint64_t value)
{
    struct ptxi_region_slot *below, *above;
    struct ptxi_mem_region r;
    bool found;

    pthread_rwlock_wrlock(&m->lock);
    neighbours(m, base, &below, &above);
    found = below && ptxi_region_slot_base(below) == base;
    if (found) {
        r = ptxi_region_slot_get(below);
        if (change == CHANGE_FLAGS)
            r.flags = (uint32_t)value;
        else
            r.devices = value;
        ptxi_region_slot_write(below, &r);
        ptxi_memmap_invalidate(m);
    }
    pthread_rwlock_unlock(&m->lock);
    return found;
}

bool ptxi_memmap_set_flags(struct ptxi_memmap *m, uint64_t base, uint32_t flags)
{
    return change_region(m, base, CHANGE_FLAGS, flags);
}

bool ptxi_memmap_set_devices(struct ptxi_memmap *m, uint64_t base, uint64_t devices)
{
    return change_region(m, base, CHANGE_DEVICES, devices);
}

/* ---- look-ups */

static bool contains(const struct ptxi_mem_region *r, uint64_t addr)
{
    return addr - r->base < r->size;
}

/* Finds the region that contains the address, without the lock. False: there is none, or it cannot be decided. */
static bool find_in_pages(const struct ptxi_memmap *m, uint64_t addr, struct ptxi_mem_region *region, bool *decided)
{
    uintptr_t entry = ptxi_page_map_find(&m->pages, addr);

    *decided = false;
    if (entry == PTXI_ENTRY_MIXED)
        return false;
    if (entry && !ptxi_region_slot_read((const struct ptxi_region_slot *)entry, region))
        return false;
    *decided = !atomic_load_explicit(&m->unpaged, memory_order_acquire);
    return entry && contains(region, addr);
}

static enum ptxi_memmap_hit find_locked(struct ptxi_memmap *m, uint64_t addr, struct ptxi_mem_region *region)
{
    struct ptxi_region_slot *below, *above;

    neighbours(m, addr, &below, &above);
    if (!below && !above)
        return PTXI_MEMMAP_EMPTY;
    if (below && addr < ptxi_region_slot_end(below)) {
        *region = ptxi_region_slot_get(below);
        return PTXI_MEMMAP_INSIDE;
    }
    if (below && above) {
        uint64_t past = addr - (ptxi_region_slot_end(below) - 1), before = ptxi_region_slot_base(above) - addr;

        *region = ptxi_region_slot_get(past <= before ? below : above);
    } else {
        *region = ptxi_region_slot_get(below ? below : above);
    }
    return PTXI_MEMMAP_NEAREST;
}

static bool is_same_memory(const struct ptxi_mem_region *a, const struct ptxi_mem_region *b)
{
    return a->flags == b->flags && a->devices == b->devices;
}

/* Extends a copy of a region over the adjacent regions with the same flags and devices. */
static void join_adjacent(const struct ptxi_memmap *m, struct ptxi_mem_region *r)
{
    struct ptxi_region_slot *below, *above;
    struct ptxi_mem_region near;

    for (;;) {
        neighbours(m, r->base - 1, &below, &above);
        if (!below || ptxi_region_slot_end(below) != r->base)
            break;
        near = ptxi_region_slot_get(below);
        if (!is_same_memory(&near, r))
            break;
        r->base = near.base;
        r->size += near.size;
    }
    for (;;) {
        neighbours(m, r->base + r->size, &below, &above);
        if (!below || ptxi_region_slot_base(below) != r->base + r->size)
            break;
        near = ptxi_region_slot_get(below);
        if (!is_same_memory(&near, r))
            break;
        r->size += near.size;
    }
}

/* Finds a region as ptxi_memmap_find(), with the lock. */
static enum ptxi_memmap_hit find_with_lock(struct ptxi_memmap *m, uint64_t addr, struct ptxi_mem_region *region)
{
    pthread_rwlock_rdlock(&m->lock);
    enum ptxi_memmap_hit hit = find_locked(m, addr, region);

    if (hit == PTXI_MEMMAP_INSIDE && region->flags & PTXI_MEM_MAPPED)
        join_adjacent(m, region);
    pthread_rwlock_unlock(&m->lock);
    return hit;
}

enum ptxi_memmap_hit ptxi_memmap_find(struct ptxi_memmap *m, uint64_t addr, struct ptxi_mem_region *region)
{
    bool decided;

    if (find_in_pages(m, addr, region, &decided) && !(region->flags & PTXI_MEM_MAPPED))
        return PTXI_MEMMAP_INSIDE;
    return find_with_lock(m, addr, region);
}

bool ptxi_memmap_covers(struct ptxi_memmap *m, uint64_t addr, uint64_t size, struct ptxi_mem_region *region)
{
    bool decided;

    if (!find_in_pages(m, addr, region, &decided)) {
        if (decided || find_with_lock(m, addr, region) != PTXI_MEMMAP_INSIDE)
            return false;
    } else if (region->flags & PTXI_MEM_MAPPED && size > region->size - (addr - region->base) &&
               find_with_lock(m, addr, region) != PTXI_MEMMAP_INSIDE) {
        return false;
    }
    return size <= region->size - (addr - region->base);
}

size_t ptxi_memmap_count(struct ptxi_memmap *m)
{
    pthread_rwlock_rdlock(&m->lock);
    size_t n = m->regions;
    pthread_rwlock_unlock(&m->lock);
    return n;
}
