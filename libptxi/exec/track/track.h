/* Tracking of the global memory that launches read and write, so that parts of a grid can run apart and their results
 * be merged. Tracked launches run bytecode of their own, in which an operation before each access records it
 * (track_ops.c).
 *
 * A page of the tracker has a word for each eight bytes of memory: which of them were accessed, and the place
 * (exec/check/place.h) of the last access. There are such words for writes, for reads and for reductions; they are made
 * when they are needed. Blocks of 64 bytes that one place has written as a whole need no words.
 *
 * A worker notes the ranges that it writes. When its list is full, they enter the pages: neighbouring ranges become one
 * then, and fill blocks. If there is one worker and its list is empty, rows of whole blocks enter a page that it has
 * found before at once. If reads are recorded, writes enter the pages at once, as words, because reads of bytes that
 * the launches have written before are not recorded. */
#ifndef PTXI_EXEC_TRACK_TRACK_H
#define PTXI_EXEC_TRACK_TRACK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "exec/engine/cta.h"
#include "exec/engine/warp.h"
#include "exec/memory/access.h"

enum { PTXI_TRACK_WORDS = PTXI_TRACK_PAGE / 8, PTXI_TRACK_MASK = 0xff, PTXI_TRACK_PLACE = 8 };
enum { PTXI_TRACK_BLOCK = 64, PTXI_TRACK_BLOCKS = PTXI_TRACK_PAGE / PTXI_TRACK_BLOCK,
       PTXI_TRACK_BLOCK_WORDS = PTXI_TRACK_BLOCK / 8 };

/* Writes to a block: what each of its words would be, or, with this mask, the number of its words among those of its
 * page, in blocks. No word for a whole block has this mask: it is all bytes, or none. */
enum { PTXI_TRACK_IN_WORDS = 1 };

/* What was done to memory: a write; a read; an operation of red. */
enum ptxi_track_kind { PTXI_TRACK_WRITE, PTXI_TRACK_READ, PTXI_TRACK_REDUCE, PTXI_TRACK_KINDS };

/* Different operations of red changed a word. */
enum { PTXI_TRACK_MIXED = 0xffff };

struct ptxi_track_page {
    uint64_t address;
    struct ptxi_track_page *next;                 /* of all pages */
    pthread_mutex_t lock;                         /* of writes, if the tracker does not record reads */
    uint32_t *blocks;                             /* written */
    uint32_t used;                                /* words for writes, in blocks */
    _Atomic(uint32_t *) words[PTXI_TRACK_KINDS];  /* mask of bytes, and the place from bit PTXI_TRACK_PLACE on */
    uint16_t *operations;                         /* of red, for each four bytes: PTXI_OP_atom_..., or 0 */
};

/* An operation of red that does not commute. */
struct ptxi_track_entry {
    uint64_t cluster, address, value;
    uint32_t place;
    uint16_t op; /* PTXI_OP_atom_... */
};

/* The operations of one worker, in their order. */
struct ptxi_track_log {
    struct ptxi_track_entry *at;
    size_t count, room;
};

struct ptxi_tracker;

/* NULL: memory is short. `reads`: records reads, too. */
struct ptxi_tracker *ptxi_tracker_create(bool reads);
struct ptxi_tracker *ptxi_tracker_ref(struct ptxi_tracker *t);
void ptxi_tracker_unref(struct ptxi_tracker *t); /* NULL does nothing */
bool ptxi_tracker_reads(const struct ptxi_tracker *t);

/* Bytes that a worker has written. */
struct ptxi_track_range {
    uint64_t address;
    uint32_t bytes, place;
};

/* The ranges of one worker that are not in the pages yet. */
struct ptxi_track_ranges {
    struct ptxi_track_range *next, *end, *at; /* NULL: none so far, or the tracker records reads */
    struct ptxi_track_range *direct;          /* if `next` is this, rows of whole blocks may go to known pages */
    uint64_t unused[4];                       /* no two workers write to one cache line */
};

/* A page that a worker has found. Such an array follows its ranges. */
enum { PTXI_TRACK_KNOWN_SHIFT = 5, PTXI_TRACK_KNOWN = 512 };
struct ptxi_track_known {
    uint64_t number; /* UINT64_MAX: none */
    struct ptxi_track_page *page;
    uint32_t *blocks;
    uint64_t unused;
};
_Static_assert(sizeof(struct ptxi_track_known) == 1 << PTXI_TRACK_KNOWN_SHIFT, "native code relies on it");

static inline struct ptxi_track_known *ptxi_track_find_known(const struct ptxi_track_ranges *r, uint64_t number)
{
    return (struct ptxi_track_known *)(void *)r->end + number % PTXI_TRACK_KNOWN;
}

/* Begin of struct ptxi_tracker. */
enum { PTXI_TRACK_WORKERS = 1024 };
struct ptxi_tracker_head {
    uint64_t key; /* the upper bits of keys of struct ptxi_track_hit; those of two trackers differ; not 0 */
    struct ptxi_track_ranges ranges[PTXI_TRACK_WORKERS];
    bool reads; /* are recorded */
};

/* The page of the tracker for an address, with words for writes if reads are recorded. NULL: memory is short. */
struct ptxi_track_page *ptxi_track_find_page(struct ptxi_tracker *t, uint64_t address);
/* The words of a page, which did not exist. NULL: memory is short. */
uint32_t *ptxi_track_make_words(struct ptxi_tracker *t, struct ptxi_track_page *p, enum ptxi_track_kind kind);

static inline uint32_t *ptxi_track_words(struct ptxi_tracker *t, struct ptxi_track_page *p, enum ptxi_track_kind kind)
{
    uint32_t *words = atomic_load_explicit(&p->words[kind], memory_order_acquire);

    return __builtin_expect(words != NULL, 1) ? words : ptxi_track_make_words(t, p, kind);
}

static inline unsigned ptxi_track_hit_of(uint64_t number)
{
    return (unsigned)((number ^ number >> 8) % PTXI_TRACK_HITS);
}

/* The page, at less cost if the worker has used it. */
static inline struct ptxi_track_page *ptxi_track_page(const struct ptxi_warp *w, uint64_t address)
{
    struct ptxi_tracker *t = w->cta->grid->tracker;
    const uint64_t number = address / PTXI_TRACK_PAGE, key = ((struct ptxi_tracker_head *)t)->key | number;
    struct ptxi_track_hit *hit = &w->worker->tracked[ptxi_track_hit_of(number)];

    if (__builtin_expect(hit->key != key, 0)) {
        struct ptxi_track_page *p = ptxi_track_find_page(t, address);

        if (!p)
            return NULL;
        *hit = (struct ptxi_track_hit){ key, p };
    }
    return hit->page;
}

static inline uint32_t ptxi_track_bytes(uint64_t first, uint64_t end)
{
    return (uint32_t)((1u << end) - 1) & ~((1u << first) - 1);
}

/* Adds bytes to a word. `alone`: no other thread does. */
static inline void ptxi_track_add(bool alone, uint32_t *word, uint32_t mask, uint32_t place)
{
    uint32_t old = __atomic_load_n(word, __ATOMIC_RELAXED), new;

    do
        new = place << PTXI_TRACK_PLACE | (old & PTXI_TRACK_MASK) | mask;
    while (new != old && (alone ? __atomic_store_n(word, new, __ATOMIC_RELAXED), false
                                : !__atomic_compare_exchange_n(word, &old, new, true, __ATOMIC_RELAXED,
                                                               __ATOMIC_RELAXED)));
}

/* The ranges of a worker. There is no room in those of a launch that is not tracked: `t` is NULL. `alone`: there is no
 * other worker. */
struct ptxi_track_ranges *ptxi_tracker_ranges(struct ptxi_tracker *t, unsigned worker, bool alone);
/* Notes a range if there is no room: moves those of the worker to the pages. `alone`: no other thread does. */
void ptxi_track_note_full(struct ptxi_tracker *t, bool alone, struct ptxi_track_ranges *r,
                          struct ptxi_track_range range);

/* Notes bytes that the warp writes, in a launch whose reads are not recorded. */
static inline void ptxi_track_note(const struct ptxi_warp *w, uint64_t address, uint32_t bytes, uint32_t place)
{
    const struct ptxi_track_range range = { address, bytes, place };
    struct ptxi_track_ranges *r = w->noted;

    if (__builtin_expect(r->next == r->end, 0))
        ptxi_track_note_full(w->cta->grid->tracker, w->only_worker, r, range);
    else
        *r->next++ = range;
}

enum { PTXI_TRACK_ROW = 4 * PTXI_LANES }; /* bytes */

/* Writes a row to a known page, if there is no earlier range. False: it must be noted. */
static inline bool ptxi_track_write_row(const struct ptxi_track_ranges *r, uint64_t address, uint32_t place)
{
    const uint64_t two = (place << PTXI_TRACK_PLACE | PTXI_TRACK_MASK) * UINT64_C(0x100000001);
    const uint64_t number = address / PTXI_TRACK_PAGE, block = address % PTXI_TRACK_PAGE / PTXI_TRACK_BLOCK;
    const struct ptxi_track_known *k;
    enum { ROW_BLOCKS = PTXI_TRACK_ROW / PTXI_TRACK_BLOCK };

    if (r->next != r->direct || address % PTXI_TRACK_BLOCK || block > PTXI_TRACK_BLOCKS - ROW_BLOCKS)
        return false;
    k = ptxi_track_find_known(r, number);
    if (k->number != number)
        return false;
    for (unsigned n = 0; n < ROW_BLOCKS; n += 2)
        memcpy(k->blocks + block + n, &two, sizeof two);
    return true;
}

/* Records an access of a warp to a row of bytes, or of one lane. */
void ptxi_track_range(const struct ptxi_warp *w, enum ptxi_track_kind kind, uint64_t address, uint64_t size,
                      uint32_t place);
/* The same for an instruction that no track_access describes. Nothing happens in a launch that is not tracked, and with
 * shared memory. */
void ptxi_track_insn(const struct ptxi_warp *w, const struct ptxi_insn *i, enum ptxi_track_kind kind,
                     uint64_t address, uint64_t size);
/* Records `size` bytes of operands of an operation (PTXI_OP_atom_...) on an array. */
void ptxi_track_array_reduce(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned op, uint64_t address,
                             const unsigned char *from, uint64_t size);
void ptxi_track_reduce(const struct ptxi_warp *w, uint64_t address, uint32_t size, uint16_t op, uint64_t value,
                       uint32_t place);

/* Whether the order of such operations does not matter: ptxi_array_reduce_one() with the difference that each part has
 * made gives the result of all of them. */
static inline bool ptxi_track_is_exact(uint16_t op)
{
    switch (op) {
    case PTXI_OP_atom_add_i32: case PTXI_OP_atom_add_i64: case PTXI_OP_atom_and_b32: case PTXI_OP_atom_and_b64:
    case PTXI_OP_atom_or_b32: case PTXI_OP_atom_or_b64: case PTXI_OP_atom_xor_b32: case PTXI_OP_atom_xor_b64:
    case PTXI_OP_atom_min_u32: case PTXI_OP_atom_min_s32: case PTXI_OP_atom_min_u64: case PTXI_OP_atom_min_s64:
    case PTXI_OP_atom_max_u32: case PTXI_OP_atom_max_s32: case PTXI_OP_atom_max_u64: case PTXI_OP_atom_max_s64:
        return true;
    default:
        return false;
    }
}

/* Whether such an operation of this place was recorded last, so that nothing changes. */
RACY static inline bool ptxi_track_is_recorded(const struct ptxi_warp *w, uint64_t address, uint32_t size, uint16_t op,
                                               uint32_t place)
{
    const uint64_t number = address / PTXI_TRACK_PAGE, offset = address % PTXI_TRACK_PAGE;
    const uint64_t key = ((struct ptxi_tracker_head *)w->cta->grid->tracker)->key | number;
    const struct ptxi_track_hit *hit = &w->worker->tracked[ptxi_track_hit_of(number)];
    const uint32_t mask = ptxi_track_bytes(offset % 8, offset % 8 + size);
    const uint32_t *words;

    if (hit->key != key || !(words = atomic_load_explicit(&hit->page->words[PTXI_TRACK_REDUCE], memory_order_acquire)))
        return false;
    const uint32_t word = words[offset / 8];

    return word >> PTXI_TRACK_PLACE == place && !(~word & mask) && hit->page->operations[offset / 4] == op &&
           hit->page->operations[(offset + size - 1) / 4] == op && ptxi_track_is_exact(op);
}
/* The difference between a word before and after any number of operations. */
uint64_t ptxi_track_difference(uint16_t op, uint64_t before, uint64_t after);

/* What was recorded, when no launch runs; after ptxi_tracker_finish(). */
void ptxi_tracker_finish(struct ptxi_tracker *t);
struct ptxi_track_page *ptxi_tracker_pages(const struct ptxi_tracker *t); /* a list without order */
const struct ptxi_track_log *ptxi_tracker_log(const struct ptxi_tracker *t, unsigned worker, bool *end);
bool ptxi_tracker_is_complete(const struct ptxi_tracker *t); /* false: memory was short */

static inline bool ptxi_track_is_in_words(uint32_t block)
{
    return (block & PTXI_TRACK_MASK) == PTXI_TRACK_IN_WORDS;
}

/* A word of writes. */
static inline uint32_t ptxi_track_written(const struct ptxi_track_page *p, unsigned k)
{
    const uint32_t block = p->blocks[k / PTXI_TRACK_BLOCK_WORDS];

    return ptxi_track_is_in_words(block)
               ? p->words[PTXI_TRACK_WRITE][(block >> PTXI_TRACK_PLACE) * PTXI_TRACK_BLOCK_WORDS +
                                            k % PTXI_TRACK_BLOCK_WORDS]
               : block;
}

#endif
