#include "exec/check/shadow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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
    if (l->more->cells)
        ptxi_shadow_give(x, cell_bytes(l->cell_shift));
    free(l->more->cells);
    l->more->cells = NULL;
}

/* From cells of words to cells of bytes. */
static bool split(struct ptxi_checker *x, struct ptxi_line *l)
{
    struct ptxi_cell *bytes = make_cells(x, 0);

    if (!bytes)
        return false;
    for (unsigned k = 0; k < PTXI_LINE_BYTES; k++)
        bytes[k] = l->more->cells[k >> l->cell_shift];
    free_cells(x, l);
    l->more->cells = bytes;
    l->cell_shift = 0;
    return true;
}

enum { READERS_BYTES = PTXI_LINE_BYTES * sizeof(uint32_t) };

uint32_t *ptxi_line_readers(struct ptxi_checker *x, struct ptxi_line_more *m)
{
    if (!m->readers && ptxi_shadow_take(x, READERS_BYTES) && !(m->readers = malloc(READERS_BYTES)))
        ptxi_shadow_give(x, READERS_BYTES);
    if (m->readers)
        memset(m->readers, 0, READERS_BYTES);
    return m->readers;
}

static void free_readers(struct ptxi_checker *x, struct ptxi_line_more *m)
{
    if (m->readers)
        ptxi_shadow_give(x, READERS_BYTES);
    free(m->readers);
}

static uint32_t lanes_of_byte(const struct ptxi_line_more *m, const struct ptxi_access_row *r, unsigned byte)
{
    return r->shape == PTXI_ROW_ANY && r->lane ? m->readers[byte] : ptxi_access_row_lanes(r, byte);
}

/* Whether cells of words can have the accesses of the row. */
static bool has_whole_words(const struct ptxi_line_more *m, const struct ptxi_access_row *r)
{
    bool whole = !((r->first | r->end) & 3) && r->shape >= 2;

    for (unsigned k = r->first; whole && r->shape == PTXI_ROW_ANY && r->lane && k < r->end; k++)
        whole = m->readers[k] == m->readers[k & ~3u];
    return !r->end || whole;
}

static bool is_of_same_warp(const struct ptxi_record *a, const struct ptxi_record *b)
{
    return a->agent == b->agent && ptxi_record_warp(a) == ptxi_record_warp(b);
}

/* The record of a cell that another one goes into. NULL: two others are kept. */
static struct ptxi_record *find_record(struct ptxi_record *list, const struct ptxi_record *r)
{
    for (unsigned k = 0; k < PTXI_CELL_RECORDS; k++)
        if (!list[k].agent)
            return &list[k];
    /* rather two warps than two lanes of one */
    return is_of_same_warp(&list[0], &list[1]) && !is_of_same_warp(&list[0], r) ? &list[1] : NULL;
}

static void spread(struct ptxi_line *l, const struct ptxi_access_row *r, bool write)
{
    for (unsigned c = r->first >> l->cell_shift; c < (unsigned)r->end >> l->cell_shift; c++) {
        struct ptxi_cell *cell = &l->more->cells[c];
        struct ptxi_record *to = find_record(write ? cell->writes : cell->reads, &r->record);

        if (!to)
            continue;
        *to = r->record;
        to->lanes = lanes_of_byte(l->more, r, c << l->cell_shift);
    }
}

/* The latest rows first, because a cell may have no room for all. */
static void spread_all(struct ptxi_line *l, const struct ptxi_access_row *rows, unsigned count, bool write)
{
    for (unsigned left = (1u << count) - 1, latest; left; left &= ~(1u << latest)) {
        latest = (unsigned)__builtin_ctz(left);
        for (unsigned k = latest + 1; k < count; k++)
            if (left >> k & 1 && rows[k].record.clock > rows[latest].record.clock)
                latest = k;
        spread(l, &rows[latest], write);
    }
}

struct ptxi_line_more *ptxi_line_rows(struct ptxi_checker *x, struct ptxi_line *l)
{
    struct ptxi_line_more *m = l->more;

    if (!m && ptxi_shadow_take(x, sizeof *m) && !(m = l->more = calloc(1, sizeof *m)))
        ptxi_shadow_give(x, sizeof *m);
    if (!m || l->form == PTXI_LINE_ROWS)
        return m;
    memset(m->writes, 0, sizeof m->writes);
    memset(m->reads, 0, sizeof m->reads);
    if (l->form == PTXI_LINE_READ)
        m->reads[0] = l->row;
    else if (l->form == PTXI_LINE_WRITTEN)
        m->writes[0] = l->row;
    l->form = PTXI_LINE_ROWS;
    return m;
}

/* From rows to cells, of words if that is possible. */
static bool expand(struct ptxi_checker *x, struct ptxi_line *l, bool words)
{
    struct ptxi_line_more *m = ptxi_line_rows(x, l);
    unsigned shift;

    if (!m)
        return false;
    for (unsigned k = 0; k < PTXI_WRITE_ROWS; k++)
        words &= has_whole_words(m, &m->writes[k]);
    for (unsigned k = 0; k < PTXI_READ_ROWS; k++)
        words &= has_whole_words(m, &m->reads[k]);
    shift = words ? 2 : 0;
    if (m->cells && l->cell_shift != shift)
        free_cells(x, l);
    l->cell_shift = (uint8_t)shift;
    if (!m->cells)
        m->cells = make_cells(x, shift);
    else
        memset(m->cells, 0, cell_bytes(shift));
    if (!m->cells)
        return false;
    spread_all(l, m->writes, PTXI_WRITE_ROWS, true);
    spread_all(l, m->reads, PTXI_READ_ROWS, false);
    l->form = PTXI_LINE_CELLS;
    return true;
}

struct ptxi_cell *ptxi_line_cells(struct ptxi_checker *x, struct ptxi_line *l, uint32_t offset, uint32_t size)
{
    bool whole = !((offset | size) & 3);

    if (l->form != PTXI_LINE_CELLS)
        return expand(x, l, whole) ? l->more->cells : NULL;
    return whole || !l->cell_shift || split(x, l) ? l->more->cells : NULL;
}

/* For released knowledge. The memory is that of the line, which has been checked, so it is there. */
struct ptxi_released *ptxi_line_released(struct ptxi_line *l, uint32_t offset, bool create)
{
    struct ptxi_released *r = l->more ? l->more->released : NULL;

    while (r && r->offset != offset)
        r = r->next;
    if (r || !create || !l->more || !(r = calloc(1, sizeof *r)))
        return r;
    r->offset = offset;
    r->next = l->more->released;
    l->more->released = r;
    return r;
}

void ptxi_line_clear(struct ptxi_checker *x, struct ptxi_line *l)
{
    if (!l->more)
        return;
    free_cells(x, l);
    for (struct ptxi_released *r = l->more->released, *next; r; r = next) {
        next = r->next;
        for (unsigned k = 0; k < PTXI_LEVELS; k++)
            ptxi_vclock_unref(r->known[k]);
        ptxi_vclock_unref(r->fenced);
        free(r);
    }
    free_readers(x, l->more);
    free(l->more);
    l->more = NULL;
    ptxi_shadow_give(x, sizeof *l->more);
    ptxi_line_forget(l);
}

static bool filter_row(struct ptxi_access_row *r, bool write, ptxi_line_keep *keep, void *user)
{
    if (r->end && !keep(user, &r->record, write, r->first, (unsigned)r->end - r->first))
        r->end = 0;
    return r->end;
}

static bool filter_cells(struct ptxi_line *l, ptxi_line_keep *keep, void *user)
{
    bool left = false;

    for (unsigned c = 0; c < (unsigned)PTXI_LINE_BYTES >> l->cell_shift; c++)
        for (unsigned k = 0; k < 2 * PTXI_CELL_RECORDS; k++) {
            struct ptxi_cell *cell = &l->more->cells[c];
            bool write = k < PTXI_CELL_RECORDS;
            struct ptxi_record *r = write ? &cell->writes[k] : &cell->reads[k - PTXI_CELL_RECORDS];

            if (r->agent && !keep(user, r, write, c << l->cell_shift, 1u << l->cell_shift))
                r->agent = 0;
            left |= r->agent != 0;
        }
    return left;
}

void ptxi_line_filter(struct ptxi_line *l, ptxi_line_keep *keep, void *user)
{
    bool left = false;

    if (l->form == PTXI_LINE_READ || l->form == PTXI_LINE_WRITTEN)
        left = filter_row(&l->row, l->form == PTXI_LINE_WRITTEN, keep, user);
    for (unsigned k = 0; l->form == PTXI_LINE_ROWS && k < PTXI_WRITE_ROWS; k++)
        left |= filter_row(&l->more->writes[k], true, keep, user);
    for (unsigned k = 0; l->form == PTXI_LINE_ROWS && k < PTXI_READ_ROWS; k++)
        left |= filter_row(&l->more->reads[k], false, keep, user);
    if (l->form == PTXI_LINE_CELLS)
        left = filter_cells(l, keep, user);
    if (!left)
        ptxi_line_forget(l);
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

/* Pages are allocated together, so that their lines are neighbours and fill whole pages of the host. */
enum { SLAB_PAGES = 512 };
struct ptxi_shadow_slab {
    struct ptxi_shadow_slab *next;
    struct ptxi_line *lines; /* of all pages */
    unsigned used;
    struct ptxi_shadow_page pages[SLAB_PAGES];
};

static const size_t page_bytes = PTXI_PAGE_LINES * sizeof(struct ptxi_line);

static struct ptxi_shadow_slab *make_slab(void)
{
    struct ptxi_shadow_slab *s = calloc(1, sizeof *s);
    void *lines;

    if (!s)
        return NULL;
    lines =
        mmap(NULL, SLAB_PAGES * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (lines == MAP_FAILED) {
        free(s);
        return NULL;
    }
    s->lines = lines;
    return s;
}

static void free_slab(struct ptxi_shadow_slab *s)
{
    munmap(s->lines, SLAB_PAGES * page_bytes);
    free(s);
}

/* Under the lock of pages. NULL: memory is short. */
static struct ptxi_shadow_page *take_page(struct ptxi_checker *x)
{
    struct ptxi_shadow_slab *s = x->slabs;
    struct ptxi_shadow_page *p;

    if (!s || s->used == SLAB_PAGES) {
        s = make_slab();
        if (!s)
            return NULL;
        s->next = x->slabs;
        x->slabs = s;
    }
    p = &s->pages[s->used];
    p->lines = s->lines + (size_t)s->used++ * PTXI_PAGE_LINES;
    return p;
}

static struct ptxi_shadow_page *add_page(struct ptxi_checker *x, uint64_t number)
{
    _Atomic(struct ptxi_shadow_page *) *bucket = bucket_of(x, number);
    struct ptxi_shadow_page *first, *p;

    pthread_mutex_lock(&x->pages_lock);
    first = atomic_load_explicit(bucket, memory_order_relaxed);
    p = find_page(first, number);
    if (!p && ptxi_shadow_take(x, page_bytes)) {
        p = take_page(x);
        if (!p) {
            ptxi_shadow_give(x, page_bytes);
        } else {
            p->number = number;
            p->next = first;
            atomic_store_explicit(bucket, p, memory_order_release);
        }
    }
    pthread_mutex_unlock(&x->pages_lock);
    return p;
}

/* The fence is the counterpart of that in ptxi_check_copy(): the copy finds the page, or the caller finds the copy. */
struct ptxi_shadow_page *ptxi_shadow_page(struct ptxi_checker *x, uint64_t number)
{
    struct ptxi_shadow_page *p = ptxi_shadow_page_if_any(x, number);

    if (!p)
        p = add_page(x, number);
    atomic_thread_fence(memory_order_seq_cst);
    return p;
}

void ptxi_shadow_drop(struct ptxi_checker *x)
{
    for (struct ptxi_shadow_slab *s = x->slabs, *next; s; s = next) {
        next = s->next;
        for (size_t n = 0; n < (size_t)s->used * PTXI_PAGE_LINES; n++)
            ptxi_line_clear(x, &s->lines[n]);
        ptxi_shadow_give(x, s->used * page_bytes);
        free_slab(s);
    }
    x->slabs = NULL;
    for (uint32_t k = 0; k < 1u << PTXI_BUCKET_BITS; k++)
        atomic_store_explicit(&x->buckets[k], NULL, memory_order_relaxed);
}
