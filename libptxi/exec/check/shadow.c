#include "exec/check/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "exec/check/checker.h"

bool ptxi_shadow_take(struct ptxi_checker *x, uint64_t bytes)
{
    if (atomic_fetch_add_explicit(&x->bytes, bytes, memory_order_relaxed) + bytes <= x->limit)
        return true;
    ptxi_shadow_give(x, bytes);
    return false;
}

void ptxi_shadow_give(struct ptxi_checker *x, uint64_t bytes)
{
    atomic_fetch_sub_explicit(&x->bytes, bytes, memory_order_relaxed);
}

/* --- lines --- */

static uint64_t cell_bytes(unsigned shift)
{
    return (uint64_t)(PTXI_LINE_BYTES >> shift) * sizeof(struct ptxi_cell);
}

static struct ptxi_cell *make_cells(struct ptxi_checker *x, unsigned shift)
{
    struct ptxi_cell *cells = ptxi_shadow_take(x, cell_bytes(shift)) ? aligned_alloc(64, cell_bytes(shift)) : NULL;

    if (cells)
        memset(cells, 0, cell_bytes(shift));
    return cells;
}

static void free_cells(struct ptxi_checker *x, struct ptxi_line *l)
{
    if (l->cells)
        ptxi_shadow_give(x, cell_bytes(l->cell_shift));
    free(l->cells);
    l->cells = NULL;
}

/* From cells of words to cells of bytes. */
static bool split(struct ptxi_checker *x, struct ptxi_line *l)
{
    struct ptxi_cell *bytes = make_cells(x, 0);

    if (!bytes)
        return false;
    for (unsigned k = 0; k < PTXI_LINE_BYTES; k++)
        bytes[k] = l->cells[k >> l->cell_shift];
    free_cells(x, l);
    l->cells = bytes;
    l->cell_shift = 0;
    return true;
}

/* The lanes of a row that access one of its words. */
static uint32_t lanes_of_word(const struct ptxi_access_row *r, unsigned word)
{
    if (r->shape == PTXI_ROW_SAME)
        return r->record.lanes;
    return r->shape == PTXI_ROW_ANY ? 0 : UINT32_C(1) << (r->lane + ((word - r->first) >> r->shape));
}

/* Rows do not overlap what they have been replaced by, so the later one may come second. */
static void spread(struct ptxi_line *l, const struct ptxi_access_row *r, unsigned k, bool write)
{
    for (unsigned word = r->first; word < r->end; word++)
        for (unsigned c = word << 2 >> l->cell_shift; c < (word + 1) << 2 >> l->cell_shift; c++) {
            struct ptxi_record *to = write ? &l->cells[c].writes[k] : &l->cells[c].reads[k];

            *to = r->record;
            to->lanes = lanes_of_word(r, word);
        }
}

/* From rows to cells. */
static bool expand(struct ptxi_checker *x, struct ptxi_line *l, unsigned shift)
{
    if (l->cells && l->cell_shift != shift)
        free_cells(x, l);
    l->cell_shift = (uint8_t)shift;
    if (!l->cells)
        l->cells = make_cells(x, shift);
    else
        memset(l->cells, 0, cell_bytes(shift));
    if (!l->cells)
        return false;
    for (unsigned k = 0; k < PTXI_CELL_RECORDS; k++) {
        spread(l, &l->writes[k], k, true);
        spread(l, &l->reads[k], k, false);
    }
    l->has_cells = true;
    return true;
}

struct ptxi_cell *ptxi_line_cells(struct ptxi_checker *x, struct ptxi_line *l, uint32_t offset, uint32_t size)
{
    bool whole = !((offset | size) & 3);

    if (!l->has_cells)
        return expand(x, l, whole ? 2 : 0) ? l->cells : NULL;
    return whole || !l->cell_shift || split(x, l) ? l->cells : NULL;
}

void ptxi_line_forget(struct ptxi_line *l)
{
    l->has_cells = l->has_async = false;
    memset(l->writes, 0, sizeof l->writes);
    memset(l->reads, 0, sizeof l->reads);
}

struct ptxi_released *ptxi_line_released(struct ptxi_line *l, uint32_t offset, bool create)
{
    struct ptxi_released *r = l->released;

    while (r && r->offset != offset)
        r = r->next;
    if (r || !create || !(r = calloc(1, sizeof *r)))
        return r;
    r->offset = offset;
    r->next = l->released;
    l->released = r;
    return r;
}

void ptxi_line_clear(struct ptxi_checker *x, struct ptxi_line *l)
{
    free_cells(x, l);
    for (struct ptxi_released *r = l->released, *next; r; r = next) {
        next = r->next;
        for (unsigned k = 0; k < PTXI_LEVELS; k++)
            ptxi_vclock_unref(r->known[k]);
        free(r);
    }
    l->released = NULL;
}

/* --- pages --- */

static _Atomic(struct ptxi_shadow_page *) *bucket_of(struct ptxi_checker *x, uint64_t number)
{
    return &x->buckets[(number * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - PTXI_BUCKET_BITS)];
}

static struct ptxi_shadow_page *find_page(struct ptxi_shadow_page *p, uint64_t number)
{
    while (p && p->number != number)
        p = p->next;
    return p;
}

struct ptxi_shadow_page *ptxi_shadow_page_if_any(struct ptxi_checker *x, uint64_t number)
{
    return find_page(atomic_load_explicit(bucket_of(x, number), memory_order_acquire), number);
}

struct ptxi_shadow_page *ptxi_shadow_page(struct ptxi_checker *x, uint64_t number)
{
    _Atomic(struct ptxi_shadow_page *) *bucket = bucket_of(x, number);
    struct ptxi_shadow_page *first = atomic_load_explicit(bucket, memory_order_acquire), *p = find_page(first, number);

    if (p || !ptxi_shadow_take(x, sizeof *p))
        return p;
    p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->number = number;
    do {
        struct ptxi_shadow_page *other = find_page(first, number);

        if (other) {
            ptxi_shadow_give(x, sizeof *p);
            free(p);
            return other;
        }
        p->next = first;
    } while (!atomic_compare_exchange_weak_explicit(bucket, &first, p, memory_order_acq_rel, memory_order_acquire));
    return p;
}

void ptxi_shadow_drop(struct ptxi_checker *x)
{
    for (uint32_t k = 0; k < 1u << PTXI_BUCKET_BITS; k++)
        for (struct ptxi_shadow_page *p = atomic_exchange(&x->buckets[k], NULL), *next; p; p = next) {
            next = p->next;
            for (unsigned n = 0; n < PTXI_PAGE_LINES; n++)
                ptxi_line_clear(x, &p->lines[n]);
            ptxi_shadow_give(x, sizeof *p);
            free(p);
        }
}
