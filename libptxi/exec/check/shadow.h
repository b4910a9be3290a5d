/* Shadow memory: the last accesses to each word, or to each byte where accesses do not cover whole words.
 *
 * A record is one or several accesses of lanes of one warp. Time is the number of synchronising events of a cluster,
 * which all happen on one worker, so accesses of a cluster can be compared by their clocks. A cell keeps two writes and
 * two reads, of different CTAs or warps if there are such: an access that races with some of many is unordered with one
 * of these, unless it is ordered with just them. Records that are replaced are missed races, never false ones. */
#ifndef PTXI_EXEC_CHECK_SHADOW_H
#define PTXI_EXEC_CHECK_SHADOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/pause.h"
#include "exec/check/vector_clock.h"
#include "exec/check/place.h"

struct ptxi_checker;

struct ptxi_record {
    uint32_t agent; /* number of the CTA; 0: no access */
    uint32_t clock; /* of the earliest of the accesses */
    uint32_t lanes; /* of the warp of 32; 0: not known which. Bulk operations: PTXI_BULK_... */
    uint32_t meta;  /* place, warp of 32, strength, scope. Bulk operations: a number of what tells their end */
};

enum { PTXI_META_WARP = PTXI_PLACE_BITS, PTXI_META_STRENGTH = PTXI_META_WARP + 5, PTXI_META_SCOPE = 30 };
#define PTXI_META_ASYNC (UINT32_C(3) << PTXI_META_SCOPE) /* a weak access with this scope */

#define PTXI_META_BULK (UINT32_C(2) << PTXI_META_SCOPE)  /* the same for a bulk operation */

/* Bulk operations have the agent of the CTA that learns their end first. `lanes`: the thread that has started it, and
 * its CTA relative to the agent. */
enum { PTXI_BULK_THREAD = (1 << 16) - 1, PTXI_BULK_CTA_SHIFT = 16 };

static inline uint32_t ptxi_record_place(const struct ptxi_record *r) { return r->meta & PTXI_PLACE_UNKNOWN; }
static inline unsigned ptxi_record_warp(const struct ptxi_record *r) { return r->meta >> PTXI_META_WARP & 31; }
static inline unsigned ptxi_record_strength(const struct ptxi_record *r) { return r->meta >> PTXI_META_STRENGTH & 3; }
static inline unsigned ptxi_record_scope(const struct ptxi_record *r) { return r->meta >> PTXI_META_SCOPE; }

static inline bool ptxi_record_is_bulk(const struct ptxi_record *r)
{
    return r->meta >> PTXI_META_STRENGTH == PTXI_META_BULK >> PTXI_META_STRENGTH;
}

/* An asynchronous access. A program has to wait for its end. Other weak accesses have no scope. */
static inline bool ptxi_record_is_async(const struct ptxi_record *r)
{
    return r->meta >> PTXI_META_STRENGTH == PTXI_META_ASYNC >> PTXI_META_STRENGTH || ptxi_record_is_bulk(r);
}

/* What stands for the warp in the clocks that know the end of asynchronous accesses. */
static inline unsigned ptxi_record_async_warp(const struct ptxi_record *r)
{
    return ptxi_record_warp(r) + (ptxi_record_is_bulk(r) ? PTXI_WHO_BULK : 0);
}

/* The number of the first thread of the accesses in its CTA. */
static inline unsigned ptxi_record_thread(const struct ptxi_record *r)
{
    if (ptxi_record_is_bulk(r))
        return r->lanes & PTXI_BULK_THREAD;
    return ptxi_record_warp(r) * 32 + (r->lanes ? (unsigned)__builtin_ctz(r->lanes) : 0);
}

/* The number of its CTA. */
static inline uint32_t ptxi_record_cta(const struct ptxi_record *r)
{
    return r->agent + (ptxi_record_is_bulk(r) ? (uint32_t)(int16_t)(r->lanes >> PTXI_BULK_CTA_SHIFT) : 0);
}

enum { PTXI_CELL_RECORDS = 2 }; /* of each kind */

struct ptxi_cell {
    struct ptxi_record writes[PTXI_CELL_RECORDS], reads[PTXI_CELL_RECORDS];
};

/* What a strong read of a location acquires: the knowledge that strong writes have released, by the scope of the
 * release. */
enum { PTXI_LEVEL_CTA, PTXI_LEVEL_CLUSTER, PTXI_LEVEL_ALL, PTXI_LEVELS };
struct ptxi_released {
    struct ptxi_released *next;
    uint32_t offset; /* in the line */
    uint32_t of[PTXI_LEVELS]; /* the CTA, or the first CTA of the cluster, that may acquire it */
    struct ptxi_vclock *known[PTXI_LEVELS];
    struct ptxi_vclock *fenced; /* of struct ptxi_knowledge */
};

/* Most instructions access rows: neighbouring lanes have neighbouring elements, or some lanes have the same element.
 * While rows describe all accesses to a line, it has no cells. */
struct ptxi_access_row {
    struct ptxi_record record;  /* its lanes are those of all bytes */
    uint8_t first, end;         /* bytes of the line; end 0: no row */
    uint8_t lane;               /* of the first byte. PTXI_ROW_ANY: whether the line's `readers` are of this row */
    uint8_t shape;              /* logarithm of the bytes of a lane, or one of these: */
};
enum { PTXI_ROW_SAME = 8, /* all lanes access all of the bytes */
       PTXI_ROW_ANY };    /* `readers` say which lanes access a byte; without them, only other warps are compared */

enum { PTXI_LINE_SHIFT = 7, PTXI_LINE_BYTES = 1 << PTXI_LINE_SHIFT };

enum { PTXI_WRITE_ROWS = 4, PTXI_READ_ROWS = 4 }; /* a line of bytes is written by four warps */

/* The lanes of a row that access one of its bytes. 0: they are not known. */
static inline uint32_t ptxi_access_row_lanes(const struct ptxi_access_row *r, unsigned byte)
{
    if (r->shape == PTXI_ROW_SAME)
        return r->record.lanes;
    return r->shape == PTXI_ROW_ANY ? 0 : UINT32_C(1) << (r->lane + ((byte - r->first) >> r->shape));
}

/* What a line needs that is accessed in more than one way. */
struct ptxi_line_more {
    struct ptxi_access_row writes[PTXI_WRITE_ROWS], reads[PTXI_READ_ROWS];
    uint32_t *readers; /* of a row of PTXI_ROW_ANY: lanes, for each byte of the line. NULL: not needed so far */
    struct ptxi_cell *cells; /* NULL: it has had none so far */
    struct ptxi_released *released;
};

/* How a line keeps its accesses. */
enum ptxi_line_form { PTXI_LINE_EMPTY, PTXI_LINE_READ, PTXI_LINE_WRITTEN, /* in `row` */
                      PTXI_LINE_ROWS, PTXI_LINE_CELLS };

/* Two of them fill a line of the cache. Kernels that access much memory spend most of their checks waiting for them. */
struct ptxi_line {
    struct ptxi_access_row row; /* with PTXI_LINE_ROWS and _CELLS: row.record.agent is the CTA of the last access */
    atomic_flag lock;
    uint8_t form;            /* enum ptxi_line_form */
    uint8_t cell_shift;      /* logarithm of the bytes of a cell: 2 or 0 */
    struct ptxi_line_more *more; /* NULL: not needed so far */
};
_Static_assert(sizeof(struct ptxi_line) == 32, "the size of a line");

/* A line of shared memory. It may have accesses of an earlier CTA. */
struct ptxi_shared_line {
    struct ptxi_line line;
    uint32_t agent;          /* the CTA that it belonged to at the last access */
    uint32_t clock;          /* of that access */
    bool has_async;          /* some accesses may be asynchronous */
};

static inline struct ptxi_shared_line *ptxi_line_of_shared(struct ptxi_line *l)
{
    return (struct ptxi_shared_line *)(void *)l;
}

enum { PTXI_PAGE_SHIFT = 14, PTXI_PAGE_LINES = 1 << (PTXI_PAGE_SHIFT - PTXI_LINE_SHIFT) };

struct ptxi_shadow_page {
    uint64_t number; /* address >> PTXI_PAGE_SHIFT */
    struct ptxi_shadow_page *next;
    struct ptxi_line *lines;
};

static inline void ptxi_line_lock(struct ptxi_line *l)
{
    while (atomic_flag_test_and_set_explicit(&l->lock, memory_order_acquire))
        ptxi_pause_cpu();
}

static inline void ptxi_line_unlock(struct ptxi_line *l)
{
    atomic_flag_clear_explicit(&l->lock, memory_order_release);
}

/* Changes the form of the line, which is locked, to rows. NULL: memory is short. */
struct ptxi_line_more *ptxi_line_rows(struct ptxi_checker *x, struct ptxi_line *l);
/* The cells of the line, which is locked, for an access of `size` bytes at `offset`. NULL: memory is short. */
struct ptxi_cell *ptxi_line_cells(struct ptxi_checker *x, struct ptxi_line *l, uint32_t offset, uint32_t size);
/* The readers of a line, all without lanes. NULL: memory is short. */
uint32_t *ptxi_line_readers(struct ptxi_checker *x, struct ptxi_line_more *m);
/* The released knowledge at an offset. NULL: none, or, if `create` is set, memory is short. */
struct ptxi_released *ptxi_line_released(struct ptxi_line *l, uint32_t offset, bool create);
static inline bool ptxi_line_has_released(const struct ptxi_line *l)
{
    return l->more && l->more->released;
}

/* Forgets all accesses, but not what was released. */
static inline void ptxi_line_forget(struct ptxi_line *l)
{
    l->form = PTXI_LINE_EMPTY;
}
/* Calls a function for each record of the line, with its place in the line, and forgets those for which it returns
 * false. */
typedef bool ptxi_line_keep(void *user, const struct ptxi_record *r, bool write, unsigned offset, unsigned size);
void ptxi_line_filter(struct ptxi_line *l, ptxi_line_keep *keep, void *user);

void ptxi_line_clear(struct ptxi_checker *x, struct ptxi_line *l);

/* The page of a global address. Any thread. NULL: memory is short. */
struct ptxi_shadow_page *ptxi_shadow_page(struct ptxi_checker *x, uint64_t number);
/* The same if it exists, else NULL. */
struct ptxi_shadow_page *ptxi_shadow_page_if_any(struct ptxi_checker *x, uint64_t number);

/* Frees all pages. There are no users. */
void ptxi_shadow_drop(struct ptxi_checker *x);

/* Counts memory. False: the limit is exceeded. */
bool ptxi_shadow_take(struct ptxi_checker *x, uint64_t bytes);
void ptxi_shadow_give(struct ptxi_checker *x, uint64_t bytes);

#endif
