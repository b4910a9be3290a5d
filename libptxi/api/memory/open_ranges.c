#include "api/memory/open_ranges.h"

#include "api/context/context.h"

#include "exec/memmap/memmap.h"
#include "exec/memmap/rcu.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

/* Bytes that are open while `users` is not 0. It is a region of the memory map. */
struct ptxi_piece {
    uint64_t start, end;
    unsigned flags; /* PTXI_RANGE_... */
    size_t users;
    struct ptxi_piece *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* taken before the memory map's */
static struct ptxi_piece *pieces;                        /* list in ascending order */

enum {
    FEW = 16,
    MOST = 4096 /* so that a wrong count does no harm */
};

/* ---- the ranges of one call */

struct span {
    uint64_t start, end;
    unsigned flags;
};

static bool is_valid(const ptxiRange *r)
{
    return !(r->flags & ~(unsigned)(PTXI_RANGE_READ | PTXI_RANGE_WRITE)) && r->flags &&
           (uintptr_t)r->base + r->bytes >= (uintptr_t)r->base && (r->base || !r->bytes);
}

/* Adds a range in ascending order of the starts. */
static void insert_span(struct span *spans, size_t count, struct span s)
{
    size_t i = count;

    for (; i && spans[i - 1].start > s.start; i--)
        spans[i] = spans[i - 1];
    spans[i] = s;
}

/* Merges spans that overlap. Returns their number. */
static size_t merge_spans(struct span *spans, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        struct span *last = n ? &spans[n - 1] : NULL;

        if (!last || spans[i].start >= last->end) {
            spans[n++] = spans[i];
            continue;
        }
        last->flags |= spans[i].flags;
        if (spans[i].end > last->end)
            last->end = spans[i].end;
    }
    return n;
}

/* ---- pieces */

static bool add_user(struct ptxi_open_ranges *o, struct ptxi_piece *p)
{
    if (o->count == o->cap) {
        size_t cap = o->cap ? 2 * o->cap : 4;
        struct ptxi_piece **more = realloc(o->pieces, cap * sizeof *more);

        if (!more)
            return false;
        o->pieces = more;
        o->cap = cap;
    }
    o->pieces[o->count++] = p;
    p->users++;
    return true;
}

static enum ptxi_memmap_result add_region(struct span s)
{
    struct ptxi_mem_region region = { .base = s.start, .size = s.end - s.start, .flags = PTXI_MEM_OPEN };

    region.flags |= s.flags & PTXI_RANGE_READ ? PTXI_MEM_READ : 0;
    region.flags |= s.flags & PTXI_RANGE_WRITE ? PTXI_MEM_WRITE : 0;
    region.flags |= s.flags == (PTXI_RANGE_READ | PTXI_RANGE_WRITE) ? PTXI_MEM_ATOMIC : 0;
    return ptxi_memmap_add(ptxi_state.memmap, &region);
}

/* Opens a gap between pieces, before *at. Memory that the map has already needs no piece. */
static ptxiResult open_gap(struct ptxi_open_ranges *o, struct ptxi_piece **at, struct span s)
{
    struct ptxi_piece *p = malloc(sizeof *p);
    struct ptxi_mem_region region;

    if (!p)
        return PTXI_ERROR_OUT_OF_MEMORY;
    *p = (struct ptxi_piece){ .start = s.start, .end = s.end, .flags = s.flags, .next = *at };
    if (add_user(o, p)) {
        enum ptxi_memmap_result added = add_region(s);

        if (added == PTXI_MEMMAP_OK) {
            *at = p;
            return PTXI_SUCCESS;
        }
        o->count--;
        free(p);
        if (added == PTXI_MEMMAP_OOM)
            return PTXI_ERROR_OUT_OF_MEMORY;
        return ptxi_memmap_covers(ptxi_state.memmap, s.start, s.end - s.start, &region) ? PTXI_SUCCESS
                                                                                        : PTXI_ERROR_INVALID_VALUE;
    }
    free(p);
    return PTXI_ERROR_OUT_OF_MEMORY;
}

/* Opens a span: uses the pieces in it, and opens the gaps between them. */
static ptxiResult open_span(struct ptxi_open_ranges *o, struct span s)
{
    struct ptxi_piece **at = &pieces;
    ptxiResult r;

    while (*at && (*at)->end <= s.start)
        at = &(*at)->next;
    for (; *at && (*at)->start < s.end; at = &(*at)->next) {
        struct ptxi_piece *p = *at;

        if (s.flags & ~p->flags)
            return PTXI_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
        if (s.start < p->start) {
            if ((r = open_gap(o, at, (struct span){ s.start, p->start, s.flags })))
                return r;
            at = *at == p ? at : &(*at)->next;
        }
        if (!add_user(o, p))
            return PTXI_ERROR_OUT_OF_MEMORY;
        s.start = p->end;
    }
    return s.start < s.end ? open_gap(o, at, s) : PTXI_SUCCESS;
}

/* Removes pieces without users from the list and the map. Returns them as a list. */
static struct ptxi_piece *remove_unused(void)
{
    struct ptxi_piece *removed = NULL;

    for (struct ptxi_piece **at = &pieces; *at;) {
        struct ptxi_piece *p = *at;

        if (p->users) {
            at = &p->next;
            continue;
        }
        ptxi_memmap_remove(ptxi_state.memmap, p->start);
        *at = p->next;
        p->next = removed;
        removed = p;
    }
    return removed;
}

/* ---- */

ptxiResult ptxi_open_ranges(struct ptxi_open_ranges *o, const ptxiRange *ranges, size_t count)
{
    if (count > MOST)
        return PTXI_ERROR_INVALID_VALUE;
    struct span few[FEW], *spans = count > FEW ? malloc(count * sizeof *spans) : few;
    ptxiResult r = spans ? PTXI_SUCCESS : PTXI_ERROR_OUT_OF_MEMORY;
    size_t n = 0;

    for (size_t i = 0; !r && i < count; i++) {
        if (!is_valid(&ranges[i]))
            r = PTXI_ERROR_INVALID_VALUE;
        else if (ranges[i].bytes)
            insert_span(spans, n++, (struct span){ (uintptr_t)ranges[i].base,
                                                   (uintptr_t)ranges[i].base + ranges[i].bytes, ranges[i].flags });
    }
    n = r ? 0 : merge_spans(spans, n);
    if (n) {
        pthread_mutex_lock(&lock);
        for (size_t i = 0; !r && i < n; i++)
            r = open_span(o, spans[i]);
        pthread_mutex_unlock(&lock);
    }
    if (spans != few)
        free(spans);
    if (r)
        ptxi_close_ranges(o);
    return r;
}

void ptxi_close_ranges(struct ptxi_open_ranges *o)
{
    struct ptxi_piece *removed = NULL, *next;
    bool unused = false;

    if (o->count) {
        pthread_mutex_lock(&lock);
        for (size_t i = 0; i < o->count; i++) {
            assert(o->pieces[i]->users);
            unused |= !--o->pieces[i]->users;
        }
        removed = unused ? remove_unused() : NULL;
        pthread_mutex_unlock(&lock);
    }
    if (removed)
        ptxi_rcu_synchronize();
    for (; removed; removed = next) {
        next = removed->next;
        free(removed);
    }
    free(o->pieces);
    *o = (struct ptxi_open_ranges){ 0 };
}

/* ---- entry points */

struct numbered {
    struct ptxi_open_ranges ranges;
    unsigned long long id;
    struct numbered *next;
};

static struct numbered *numbered; /* list, under the lock */

ptxiResult ptxiMemOpenRanges(const ptxiRange *ranges, unsigned count, unsigned long long *id)
{
    API_CALL;
    static unsigned long long last;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    if (!id || (count && !ranges))
        return PTXI_ERROR_INVALID_VALUE;
    struct numbered *n = calloc(1, sizeof *n);

    if (!n)
        return PTXI_ERROR_OUT_OF_MEMORY;
    r = ptxi_open_ranges(&n->ranges, ranges, count);
    if (r) {
        free(n);
        return r;
    }
    pthread_mutex_lock(&lock);
    *id = n->id = ++last;
    n->next = numbered;
    numbered = n;
    pthread_mutex_unlock(&lock);
    return PTXI_SUCCESS;
}

ptxiResult ptxiMemCloseRanges(unsigned long long id)
{
    API_CALL;
    struct numbered **at, *n;
    ptxiResult r = ptxi_api_enter();

    if (r)
        return r;
    pthread_mutex_lock(&lock);
    for (at = &numbered; *at && (*at)->id != id;)
        at = &(*at)->next;
    n = *at;
    if (n)
        *at = n->next;
    pthread_mutex_unlock(&lock);
    if (!n)
        return PTXI_ERROR_INVALID_VALUE;
    ptxi_close_ranges(&n->ranges);
    free(n);
    return PTXI_SUCCESS;
}
