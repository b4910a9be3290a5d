/* A region of the memory map, which threads may read without a lock (a sequence lock). Slots are reused but not freed
 * before the map is destroyed, so a reader may use a pointer to a slot at any time. */
#ifndef PTXI_EXEC_MEMMAP_REGION_SLOT_H
#define PTXI_EXEC_MEMMAP_REGION_SLOT_H

#include "exec/memmap/region.h"

#include <assert.h>
#include <stdatomic.h>

/* One cache line. */
struct ptxi_region_slot {
    _Alignas(64) _Atomic uint64_t version; /* odd while the region changes */
    _Atomic uint64_t base, size;           /* bytes; size 0: no region */
    _Atomic uint64_t devices, id;
    _Atomic(void *) owner;                 /* of a free slot: the next free slot */
    _Atomic uint32_t flags;
    bool in_page_map;                      /* under the lock of the memory map */
};

/* Changes the region. One thread at a time. */
static inline void ptxi_region_slot_write(struct ptxi_region_slot *s, const struct ptxi_mem_region *r)
{
    uint64_t version = atomic_load_explicit(&s->version, memory_order_relaxed);

    assert(!(version & 1));
    atomic_store_explicit(&s->version, version + 1, memory_order_relaxed);
    atomic_store_explicit(&s->base, r->base, memory_order_release);
    atomic_store_explicit(&s->size, r->size, memory_order_release);
    atomic_store_explicit(&s->devices, r->devices, memory_order_release);
    atomic_store_explicit(&s->id, r->id, memory_order_release);
    atomic_store_explicit(&s->owner, r->owner, memory_order_release);
    atomic_store_explicit(&s->flags, r->flags, memory_order_release);
    atomic_store_explicit(&s->version, version + 2, memory_order_release);
}

/* Copies the region. Returns false if another thread is changing it. */
static inline bool ptxi_region_slot_read(const struct ptxi_region_slot *s, struct ptxi_mem_region *r)
{
    uint64_t version = atomic_load_explicit(&s->version, memory_order_acquire);

    r->base = atomic_load_explicit(&s->base, memory_order_acquire);
    r->size = atomic_load_explicit(&s->size, memory_order_acquire);
    r->devices = atomic_load_explicit(&s->devices, memory_order_acquire);
    r->id = atomic_load_explicit(&s->id, memory_order_acquire);
    r->owner = atomic_load_explicit(&s->owner, memory_order_acquire);
    r->flags = atomic_load_explicit(&s->flags, memory_order_acquire);
    return !(version & 1) && version == atomic_load_explicit(&s->version, memory_order_relaxed);
}

/* For threads with the lock of the memory map. */
static inline struct ptxi_mem_region ptxi_region_slot_get(const struct ptxi_region_slot *s)
{
    struct ptxi_mem_region r;
    bool stable = ptxi_region_slot_read(s, &r);

    assert(stable);
    (void)stable;
    return r;
}

static inline uint64_t ptxi_region_slot_base(const struct ptxi_region_slot *s)
{
    return atomic_load_explicit(&s->base, memory_order_relaxed);
}

static inline uint64_t ptxi_region_slot_end(const struct ptxi_region_slot *s)
{
    return ptxi_region_slot_base(s) + atomic_load_explicit(&s->size, memory_order_relaxed);
}

#endif
