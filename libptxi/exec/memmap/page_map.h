/* A table from addresses to the regions of the memory map, for look-ups without a lock. Their cost does not depend on
 * the number of regions.
 *
 * The table has four levels. Roots cover 32 GiB, spans 8 MiB, pages 4 KiB and granules 256 bytes, the alignment of
 * allocations. A region that covers a whole span, or that is the only one in a page, has one entry there.
 *
 * Readers may follow any pointer that they have found, because the memory of tables is freed only with the map. An
 * empty table is used again for other addresses. A reader that still uses it finds a region that does not contain its
 * address, or none, which is correct: when the table became empty, there was no region.
 *
 * Calls that change the table must not run at the same time. */
#ifndef PTXI_EXEC_MEMMAP_PAGE_MAP_H
#define PTXI_EXEC_MEMMAP_PAGE_MAP_H

#include "exec/memmap/region_slot.h"

#include <stddef.h>

enum {
    PTXI_GRANULE_BITS = 8,
    PTXI_PAGE_BITS = 12,
    PTXI_SPAN_BITS = 23,
    PTXI_ROOT_BITS = 35,
    PTXI_ADDRESS_BITS = 47, /* of user space on x86-64 with four levels of page tables */
    PTXI_PAGE_GRANULES = 1 << (PTXI_PAGE_BITS - PTXI_GRANULE_BITS),
    PTXI_SPAN_PAGES = 1 << (PTXI_SPAN_BITS - PTXI_PAGE_BITS),
    PTXI_ROOT_SPANS = 1 << (PTXI_ROOT_BITS - PTXI_SPAN_BITS),
    PTXI_ROOTS = 1 << (PTXI_ADDRESS_BITS - PTXI_ROOT_BITS),
};

/* An entry is 0, the address of a region's slot, the address of a table of the next level plus PTXI_ENTRY_TABLE, or
 * PTXI_ENTRY_MIXED. */
typedef _Atomic uintptr_t ptxi_page_entry;

enum {
    PTXI_ENTRY_TABLE = 1,
    PTXI_ENTRY_MIXED = 2, /* several regions, or parts of them, are in a granule */
};

struct ptxi_page {
    ptxi_page_entry granules[PTXI_PAGE_GRANULES];
    struct ptxi_page *next_free;
};

struct ptxi_span {
    ptxi_page_entry pages[PTXI_SPAN_PAGES];
    unsigned used;                             /* number of pages with an entry */
    struct ptxi_span *next_free;
};

struct ptxi_root {
    ptxi_page_entry spans[PTXI_ROOT_SPANS];
    struct ptxi_span *tables[PTXI_ROOT_SPANS]; /* NULL: no region covers the span in part */
};

struct ptxi_page_map {
    _Atomic(struct ptxi_root *) roots[PTXI_ROOTS];
    struct ptxi_page *free_pages; /* empty tables */
    struct ptxi_span *free_spans;
};

void ptxi_page_map_free(struct ptxi_page_map *map);

/* Enters a region, which keeps its base and size until it is removed. Returns false, without the region in the
 * table, if memory is short or the region is too large or too high for the table. */
bool ptxi_page_map_add(struct ptxi_page_map *map, const struct ptxi_region_slot *region);
void ptxi_page_map_remove(struct ptxi_page_map *map, const struct ptxi_region_slot *region);

/* Returns the slot of the only region that can contain the address, 0 if there is none, or PTXI_ENTRY_MIXED. */
static inline uintptr_t ptxi_page_map_find(const struct ptxi_page_map *map, uint64_t address)
{
    if (address >> PTXI_ADDRESS_BITS)
        return 0;
    const struct ptxi_root *root = atomic_load_explicit(&map->roots[address >> PTXI_ROOT_BITS], memory_order_acquire);

    if (!root)
        return 0;
    uintptr_t e = atomic_load_explicit(&root->spans[address >> PTXI_SPAN_BITS & (PTXI_ROOT_SPANS - 1)],
                                       memory_order_acquire);

    if (!(e & PTXI_ENTRY_TABLE))
        return e;
    const struct ptxi_span *span = (const struct ptxi_span *)(e - PTXI_ENTRY_TABLE);

    e = atomic_load_explicit(&span->pages[address >> PTXI_PAGE_BITS & (PTXI_SPAN_PAGES - 1)], memory_order_acquire);
    if (!(e & PTXI_ENTRY_TABLE))
        return e;
    const struct ptxi_page *page = (const struct ptxi_page *)(e - PTXI_ENTRY_TABLE);

    return atomic_load_explicit(&page->granules[address >> PTXI_GRANULE_BITS & (PTXI_PAGE_GRANULES - 1)],
                                memory_order_acquire);
}

#endif
