#include "exec/memmap/page_map.h"

#include <assert.h>
#include <stdlib.h>

/* Larger regions are not entered, because the table itself would need too much memory. */
#define MAX_REGION (UINT64_C(1) << 40)

static uintptr_t get(const ptxi_page_entry *e)
{
    return atomic_load_explicit(e, memory_order_relaxed);
}

static void set(ptxi_page_entry *e, uintptr_t value)
{
    atomic_store_explicit(e, value, memory_order_release);
}

static uintptr_t table_entry(const void *table)
{
    return (uintptr_t)table + PTXI_ENTRY_TABLE;
}

static void free_span(struct ptxi_span *span)
{
    for (size_t i = 0; i < PTXI_SPAN_PAGES; i++)
        if (get(&span->pages[i]) & PTXI_ENTRY_TABLE)
            free((void *)(get(&span->pages[i]) - PTXI_ENTRY_TABLE));
    free(span);
}

void ptxi_page_map_free(struct ptxi_page_map *map)
{
    for (size_t i = 0; i < PTXI_ROOTS; i++) {
        struct ptxi_root *root = atomic_load(&map->roots[i]);

        for (size_t k = 0; root && k < PTXI_ROOT_SPANS; k++)
            if (root->tables[k])
                free_span(root->tables[k]);
        free(root);
    }
    while (map->free_pages) {
        struct ptxi_page *page = map->free_pages;

        map->free_pages = page->next_free;
        free(page);
    }
    while (map->free_spans) {
        struct ptxi_span *span = map->free_spans;

        map->free_spans = span->next_free;
        free(span);
    }
}

/* ---- tables of the levels */

static struct ptxi_root *get_root(struct ptxi_page_map *map, uint64_t address)
{
    _Atomic(struct ptxi_root *) *p = &map->roots[address >> PTXI_ROOT_BITS];
    struct ptxi_root *root = atomic_load_explicit(p, memory_order_relaxed);

    if (!root) {
        root = calloc(1, sizeof *root);
        atomic_store_explicit(p, root, memory_order_release);
    }
    return root;
}

/* The table of a span that regions cover in part. NULL: memory is short. */
static struct ptxi_span *get_span(struct ptxi_page_map *map, struct ptxi_root *root, size_t i)
{
    struct ptxi_span *span = root->tables[i];

    if (span)
        return span;
    span = map->free_spans;
    if (span)
        map->free_spans = span->next_free;
    else
        span = calloc(1, sizeof *span);
    if (span) {
        assert(!span->used && !get(&root->spans[i]));
        root->tables[i] = span;
        set(&root->spans[i], table_entry(span));
    }
    return span;
}

static void release_span(struct ptxi_page_map *map, struct ptxi_root *root, size_t i)
{
    struct ptxi_span *span = root->tables[i];

    assert(get(&root->spans[i]) == table_entry(span));
    set(&root->spans[i], 0);
    root->tables[i] = NULL;
    span->next_free = map->free_spans;
    map->free_spans = span;
}

static struct ptxi_page *get_page(struct ptxi_page_map *map)
{
    struct ptxi_page *page = map->free_pages;

    if (page)
        map->free_pages = page->next_free;
    else
        page = calloc(1, sizeof *page);
    return page;
}

/* ---- granules of a page */

/* Bytes [first, last] of a region. */
struct part {
    uint64_t first, last;
    uintptr_t region;
};

static struct part whole(const struct ptxi_region_slot *r)
{
    return (struct part){ ptxi_region_slot_base(r), ptxi_region_slot_end(r) - 1, (uintptr_t)r };
}

/* The bytes of the part that are in an aligned block of 2^bits bytes with the address `at`. */
static struct part clip(struct part p, uint64_t at, unsigned bits)
{
    const uint64_t first = at >> bits << bits, last = first + (UINT64_C(1) << bits) - 1;

    return (struct part){ p.first < first ? first : p.first, p.last > last ? last : p.last, p.region };
}

static bool covers(struct part p, unsigned bits)
{
    return p.last - p.first == (UINT64_C(1) << bits) - 1;
}

static void set_granules(struct ptxi_page *page, struct part p)
{
    for (uint64_t g = p.first >> PTXI_GRANULE_BITS; g <= p.last >> PTXI_GRANULE_BITS; g++) {
        ptxi_page_entry *e = &page->granules[g & (PTXI_PAGE_GRANULES - 1)];

        set(e, get(e) ? (uintptr_t)PTXI_ENTRY_MIXED : p.region);
    }
}

/* Mixed granules stay mixed, because they do not say which regions they have. */
static void clear_granules(struct ptxi_page *page, struct part p)
{
    for (uint64_t g = p.first >> PTXI_GRANULE_BITS; g <= p.last >> PTXI_GRANULE_BITS; g++) {
        ptxi_page_entry *e = &page->granules[g & (PTXI_PAGE_GRANULES - 1)];

        if (get(e) == p.region)
            set(e, 0);
    }
}

/* ---- pages */

static bool set_page(struct ptxi_page_map *map, struct ptxi_span *span, struct part p)
{
    ptxi_page_entry *e = &span->pages[p.first >> PTXI_PAGE_BITS & (PTXI_SPAN_PAGES - 1)];
    const uintptr_t present = get(e);

    if (!present) {
        span->used++;
        set(e, p.region);
        return true;
    }
    if (present & PTXI_ENTRY_TABLE) {
        set_granules((struct ptxi_page *)(present - PTXI_ENTRY_TABLE), p);
        return true;
    }
    struct ptxi_page *page = get_page(map);

    if (!page)
        return false;
    set_granules(page, clip(whole((const struct ptxi_region_slot *)present), p.first, PTXI_PAGE_BITS));
    set_granules(page, p);
    set(e, table_entry(page));
    return true;
}

static bool is_empty(const struct ptxi_page *page)
{
    for (size_t g = 0; g < PTXI_PAGE_GRANULES; g++)
        if (get(&page->granules[g]))
            return false;
    return true;
}

static void clear_page(struct ptxi_page_map *map, struct ptxi_span *span, struct part p)
{
    ptxi_page_entry *e = &span->pages[p.first >> PTXI_PAGE_BITS & (PTXI_SPAN_PAGES - 1)];
    const uintptr_t present = get(e);

    if (present & PTXI_ENTRY_TABLE) {
        struct ptxi_page *page = (struct ptxi_page *)(present - PTXI_ENTRY_TABLE);

        clear_granules(page, p);
        if (!is_empty(page))
            return;
        page->next_free = map->free_pages;
        map->free_pages = page;
    } else if (present != p.region) {
        return;
    }
    set(e, 0);
    assert(span->used);
    span->used--;
}

/* ---- spans */

static bool set_span(struct ptxi_page_map *map, struct part p)
{
    struct ptxi_root *root = get_root(map, p.first);
    const size_t i = p.first >> PTXI_SPAN_BITS & (PTXI_ROOT_SPANS - 1);

    if (!root)
        return false;
    if (covers(p, PTXI_SPAN_BITS)) {
        set(&root->spans[i], p.region);
        return true;
    }
    struct ptxi_span *span = get_span(map, root, i);

    if (!span)
        return false;
    for (uint64_t page = p.first >> PTXI_PAGE_BITS; page <= p.last >> PTXI_PAGE_BITS; page++)
        if (!set_page(map, span, clip(p, page << PTXI_PAGE_BITS, PTXI_PAGE_BITS)))
            return false;
    return true;
}

static void clear_span(struct ptxi_page_map *map, struct part p)
{
    struct ptxi_root *root = atomic_load_explicit(&map->roots[p.first >> PTXI_ROOT_BITS], memory_order_relaxed);
    const size_t i = p.first >> PTXI_SPAN_BITS & (PTXI_ROOT_SPANS - 1);

    if (!root)
        return;
    if (covers(p, PTXI_SPAN_BITS)) {
        if (get(&root->spans[i]) == p.region) /* a table that is left has mixed granules */
            set(&root->spans[i], root->tables[i] ? table_entry(root->tables[i]) : 0);
        return;
    }
    struct ptxi_span *span = root->tables[i];

    for (uint64_t page = p.first >> PTXI_PAGE_BITS; span && page <= p.last >> PTXI_PAGE_BITS; page++)
        clear_page(map, span, clip(p, page << PTXI_PAGE_BITS, PTXI_PAGE_BITS));
    if (span && !span->used)
        release_span(map, root, i);
}

/* ---- regions */

bool ptxi_page_map_add(struct ptxi_page_map *map, const struct ptxi_region_slot *region)
{
    const struct part p = whole(region);

    assert(p.first <= p.last && !((uintptr_t)region & (PTXI_ENTRY_TABLE | PTXI_ENTRY_MIXED)));
    if (p.last - p.first >= MAX_REGION || p.last >> PTXI_ADDRESS_BITS)
        return false;
    for (uint64_t span = p.first >> PTXI_SPAN_BITS; span <= p.last >> PTXI_SPAN_BITS; span++)
        if (!set_span(map, clip(p, span << PTXI_SPAN_BITS, PTXI_SPAN_BITS))) {
            ptxi_page_map_remove(map, region);
            return false;
        }
    return true;
}

void ptxi_page_map_remove(struct ptxi_page_map *map, const struct ptxi_region_slot *region)
{
    const struct part p = whole(region);

    for (uint64_t span = p.first >> PTXI_SPAN_BITS; span <= p.last >> PTXI_SPAN_BITS; span++)
        clear_span(map, clip(p, span << PTXI_SPAN_BITS, PTXI_SPAN_BITS));
}
