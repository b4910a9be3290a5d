#include "exec/track/track.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "exec/check/place.h"
#include "exec/engine/address_space.h"
#include "exec/engine/cta.h"
#include "exec/memory/access.h"
#include "exec/memory/array_reduce.h"

enum { PAGE_SHIFT = 16, LOW_BITS = 16, HIGH_BITS = 47 - PAGE_SHIFT - LOW_BITS, MAX_LOGS = PTXI_TRACK_WORKERS,
       NUMBER_BITS = LOW_BITS + HIGH_BITS };
_Static_assert(PTXI_TRACK_PAGE == 1 << PAGE_SHIFT, "the size of pages");

typedef _Atomic(struct ptxi_track_page *) entry;

/* A part of the table of pages. */
struct low {
    struct low *next;
    entry at[1 << LOW_BITS];
};

/* Memory of pages. The first one is small; the others get larger, up to a few huge pages, so that there are few page
 * faults. */
enum { FIRST_CHUNK = 1 << 18, LAST_CHUNK = 1 << 22, HUGE_PAGE = 1 << 21 };
struct chunk {
    struct chunk *next;
    unsigned char *at;
    size_t bytes, used;
    bool zeros; /* the unused part has only zeros */
};

/* Chunks of trackers that are gone: each window has a tracker, and new memory costs page faults. */
enum { MOST_SPARE = 16 };
static struct {
    pthread_mutex_t lock;
    struct chunk *chunks;
    unsigned count;
} spare = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct ptxi_tracker {
    struct ptxi_tracker_head head;
    _Atomic unsigned refs;
    _Atomic bool incomplete;
    _Atomic unsigned workers;  /* no worker from this index on has ranges or a log */
    pthread_mutex_t lock;      /* of what follows, but for reading the table and finding words */
    struct ptxi_track_page *pages;
    struct chunk *chunks;
    struct low *lows;
    struct ptxi_track_log logs[MAX_LOGS]; /* by worker */
    _Atomic(entry *) table[1 << HIGH_BITS];
};

struct ptxi_tracker *ptxi_tracker_create(bool reads)
{
    static _Atomic uint64_t created;
    struct ptxi_tracker *t = calloc(1, sizeof *t);

    if (t) {
        t->head.key = (atomic_fetch_add(&created, 1) + 1) << NUMBER_BITS;
        t->refs = 1;
        t->head.reads = reads;
        pthread_mutex_init(&t->lock, NULL);
    }
    return t;
}

static void release_chunk(struct chunk *c)
{
    bool kept;

    pthread_mutex_lock(&spare.lock);
    kept = spare.count < MOST_SPARE;
    if (kept) {
        c->used = 0;
        c->zeros = false;
        c->next = spare.chunks;
        spare.chunks = c;
        spare.count++;
    }
    pthread_mutex_unlock(&spare.lock);
    if (!kept) {
        munmap(c->at, c->bytes);
        free(c);
    }
}

static struct chunk *take_spare(void)
{
    struct chunk *c;

    pthread_mutex_lock(&spare.lock);
    c = spare.chunks;
    if (c) {
        spare.chunks = c->next;
        spare.count--;
    }
    pthread_mutex_unlock(&spare.lock);
    return c;
}

struct ptxi_tracker *ptxi_tracker_ref(struct ptxi_tracker *t)
{
    atomic_fetch_add(&t->refs, 1);
    return t;
}

void ptxi_tracker_unref(struct ptxi_tracker *t)
{
    if (!t || atomic_fetch_sub(&t->refs, 1) != 1)
        return;
    for (struct ptxi_track_page *p = t->pages, *next; p; p = next) {
        next = p->next;
        pthread_mutex_destroy(&p->lock);
        free(p);
    }
    for (struct chunk *c = t->chunks, *next; c; c = next) {
        next = c->next;
        release_chunk(c);
    }
    for (struct low *low = t->lows, *next; low; low = next) {
        next = low->next;
        free(low);
    }
    for (unsigned k = 0; k < t->workers; k++)
        free(t->logs[k].at);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

bool ptxi_tracker_reads(const struct ptxi_tracker *t)
{
    return t->head.reads;
}

struct ptxi_track_page *ptxi_tracker_pages(const struct ptxi_tracker *t)
{
    return t->pages;
}

const struct ptxi_track_log *ptxi_tracker_log(const struct ptxi_tracker *t, unsigned worker, bool *end)
{
    *end = worker >= t->workers;
    return *end ? NULL : &t->logs[worker];
}

bool ptxi_tracker_is_complete(const struct ptxi_tracker *t)
{
    return !atomic_load(&t->incomplete);
}

static void use_worker(struct ptxi_tracker *t, unsigned worker)
{
    unsigned n = atomic_load(&t->workers);

    while (n <= worker && !atomic_compare_exchange_weak(&t->workers, &n, worker + 1))
        continue;
}

/* --- pages; under the tracker's lock --- */

/* Begins on a huge page if it is large enough. */
static bool map_chunk(struct chunk *c)
{
    const size_t extra = c->bytes >= HUGE_PAGE ? HUGE_PAGE : 0;
    unsigned char *p = mmap(NULL, c->bytes + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return false;
    if (extra) {
        size_t head = -(uintptr_t)p & (HUGE_PAGE - 1);

        if (head)
            munmap(p, head);
        munmap(p + head + c->bytes, extra - head);
        p += head;
#ifdef MADV_HUGEPAGE
        madvise(p, c->bytes, MADV_HUGEPAGE);
#endif
    }
    c->at = p;
    c->zeros = true;
    return true;
}

static struct chunk *make_chunk(size_t bytes)
{
    struct chunk *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->bytes = bytes;
    if (!map_chunk(c)) {
        free(c);
        return NULL;
    }
    return c;
}

static bool add_chunk(struct ptxi_tracker *t)
{
    size_t bytes = t->chunks ? 4 * t->chunks->bytes : FIRST_CHUNK;
    struct chunk *c = take_spare();

    if (!c)
        c = make_chunk(bytes < LAST_CHUNK ? bytes : LAST_CHUNK);
    if (!c)
        return false;
    c->next = t->chunks;
    t->chunks = c;
    return true;
}

/* Any content. NULL: memory is short. No size is larger than the first chunk. */
static void *take(struct ptxi_tracker *t, size_t bytes)
{
    struct chunk *c = t->chunks;

    assert(bytes <= FIRST_CHUNK);
    if (!c || bytes > c->bytes - c->used) {
        if (!add_chunk(t))
            return NULL;
        c = t->chunks;
    }
    c->used += bytes;
    return c->at + c->used - bytes;
}

static void *take_zeros(struct ptxi_tracker *t, size_t bytes)
{
    void *p = take(t, bytes);

    return !p || t->chunks->zeros ? p : memset(p, 0, bytes);
}

/* Words of blocks for writes: some more than there are blocks, so that they are rarely moved. */
enum { WRITTEN_BLOCKS = PTXI_TRACK_BLOCKS + PTXI_TRACK_BLOCKS / 4 };

enum { WORDS_BYTES = PTXI_TRACK_WORDS * sizeof(uint32_t), OPERATIONS_BYTES = 2 * PTXI_TRACK_WORDS * sizeof(uint16_t),
       WRITTEN_BYTES = WRITTEN_BLOCKS * PTXI_TRACK_BLOCK_WORDS * sizeof(uint32_t),
       BLOCKS_BYTES = PTXI_TRACK_BLOCKS * sizeof(uint32_t) };

/* All writes are in words, in the order of their addresses. False: memory is short. */
static bool use_words(struct ptxi_tracker *t, struct ptxi_track_page *p)
{
    uint32_t *words;

    for (unsigned k = 0; k < PTXI_TRACK_BLOCKS; k++)
        p->blocks[k] = k << PTXI_TRACK_PLACE | PTXI_TRACK_IN_WORDS;
    words = take_zeros(t, WORDS_BYTES);
    p->words[PTXI_TRACK_WRITE] = words;
    return words;
}

static struct ptxi_track_page *make_page(struct ptxi_tracker *t, uint64_t address)
{
    struct ptxi_track_page *p = calloc(1, sizeof *p);

    if (!p || !(p->blocks = take_zeros(t, BLOCKS_BYTES)) || (t->head.reads && !use_words(t, p))) {
        free(p);
        return NULL;
    }
    pthread_mutex_init(&p->lock, NULL);
    p->address = address;
    p->next = t->pages;
    return t->pages = p;
}

static struct ptxi_track_page *find_or_make(struct ptxi_tracker *t, uint64_t number)
{
    uint64_t high = number >> LOW_BITS;
    struct ptxi_track_page *p;
    entry *low;

    if (high >> HIGH_BITS)
        return NULL;
    low = t->table[high];
    if (!low) {
        struct low *made = calloc(1, sizeof *made);

        if (!made)
            return NULL;
        made->next = t->lows;
        t->lows = made;
        low = made->at;
        atomic_store_explicit(&t->table[high], low, memory_order_release);
    }
    low += number & ((1 << LOW_BITS) - 1);
    p = *low;
    if (!p) {
        p = make_page(t, number << PAGE_SHIFT);
        atomic_store_explicit(low, p, memory_order_release);
    }
    return p;
}

static __attribute__((noinline)) struct ptxi_track_page *make_found(struct ptxi_tracker *t, uint64_t number)
{
    struct ptxi_track_page *p;

    pthread_mutex_lock(&t->lock);
    p = find_or_make(t, number);
    pthread_mutex_unlock(&t->lock);
    if (!p)
        atomic_store(&t->incomplete, true);
    return p;
}

static inline struct ptxi_track_page *find_page(struct ptxi_tracker *t, uint64_t address)
{
    uint64_t number = address >> PAGE_SHIFT, high = number >> LOW_BITS;
    entry *low = high >> HIGH_BITS ? NULL : atomic_load_explicit(&t->table[high], memory_order_acquire);
    struct ptxi_track_page *p = low ? atomic_load_explicit(&low[number & ((1 << LOW_BITS) - 1)], memory_order_acquire)
                                    : NULL;

    return __builtin_expect(p != NULL, 1) ? p : make_found(t, number);
}

struct ptxi_track_page *ptxi_track_find_page(struct ptxi_tracker *t, uint64_t address)
{
    return find_page(t, address);
}

uint32_t *ptxi_track_make_words(struct ptxi_tracker *t, struct ptxi_track_page *p, enum ptxi_track_kind kind)
{
    uint32_t *words;

    pthread_mutex_lock(&t->lock);
    words = p->words[kind];
    if (!words && (kind != PTXI_TRACK_REDUCE || p->operations || (p->operations = take_zeros(t, OPERATIONS_BYTES)))) {
        /* those of writes get their content with their blocks */
        words = kind == PTXI_TRACK_WRITE ? take(t, WRITTEN_BYTES) : take_zeros(t, WORDS_BYTES);
        atomic_store_explicit(&p->words[kind], words, memory_order_release);
    }
    pthread_mutex_unlock(&t->lock);
    if (!words)
        atomic_store(&t->incomplete, true);
    return words;
}

/* Adds the bytes from one offset in a page to another, its end. */
RACY static void add_range(bool alone, uint32_t *words, uint64_t offset, uint64_t end, uint32_t place)
{
    uint64_t k = offset / 8, last = end / 8;

    if (k == last) {
        ptxi_track_add(alone, &words[k], ptxi_track_bytes(offset % 8, end % 8), place);
        return;
    }
    if (offset % 8)
        ptxi_track_add(alone, &words[k++], ptxi_track_bytes(offset % 8, 8), place);
    for (; k < last; k++)
        words[k] = place << PTXI_TRACK_PLACE | PTXI_TRACK_MASK;
    if (end % 8)
        ptxi_track_add(alone, &words[k], ptxi_track_bytes(0, end % 8), place);
}

RACY static void read_word(const struct ptxi_warp *w, uint32_t *read, uint32_t written, uint32_t mask, uint32_t place)
{
    mask &= ~written;
    if (mask & ~*read)
        ptxi_track_add(w->only_worker, read, mask, place);
}

RACY static void track_in_page(const struct ptxi_warp *w, enum ptxi_track_kind kind, struct ptxi_track_page *p,
                               uint64_t offset, uint64_t end, uint32_t place)
{
    uint64_t k = offset / 8, last = end / 8;
    uint32_t *words = ptxi_track_words(w->cta->grid->tracker, p, kind);
    const uint32_t *writes = p->words[PTXI_TRACK_WRITE];

    if (!words)
        return;
    if (kind != PTXI_TRACK_READ) {
        add_range(w->only_worker, words, offset, end, place);
        return;
    }
    for (; k <= last && k < PTXI_TRACK_WORDS; k++)
        read_word(w, &words[k], writes[k],
                  ptxi_track_bytes(k == offset / 8 ? offset % 8 : 0, k == last ? end % 8 : 8), place);
}

/* --- ranges that a worker has written --- */

enum { NOTED = 512 };

/* What follows is called with the lock of the page, or by the only thread. `whole`: the word of a block that the place
 * has written as a whole. */

/* Removes the words that blocks do not use any more. */
static __attribute__((noinline)) void move_words(struct ptxi_track_page *p, uint32_t *words)
{
    uint32_t *state_at[WRITTEN_BLOCKS] = { NULL };

    for (unsigned k = 0; k < PTXI_TRACK_BLOCKS; k++)
        if (ptxi_track_is_in_words(p->blocks[k]))
            state_at[p->blocks[k] >> PTXI_TRACK_PLACE] = &p->blocks[k];
    p->used = 0;
    for (unsigned k = 0; k < WRITTEN_BLOCKS; k++)
        if (state_at[k]) {
            memmove(words + PTXI_TRACK_BLOCK_WORDS * p->used, words + PTXI_TRACK_BLOCK_WORDS * k,
                    PTXI_TRACK_BLOCK_WORDS * sizeof *words);
            *state_at[k] = p->used++ << PTXI_TRACK_PLACE | PTXI_TRACK_IN_WORDS;
        }
}

typedef uint64_t longs_2 __attribute__((vector_size(16)));
typedef uint8_t bytes_16 __attribute__((vector_size(16)));
typedef uint16_t words_8 __attribute__((vector_size(16)));
typedef uint32_t words_4 __attribute__((vector_size(16), aligned(4)));
_Static_assert(PTXI_TRACK_BLOCK_WORDS == 8, "the words of a block are two vectors");

/* Stores four words to which bytes are added: those in `mask`. */
static inline void add_to_words(uint32_t *to, words_4 old, words_4 mask, uint32_t whole)
{
    const words_4 written = (old & PTXI_TRACK_MASK) | mask | (whole & ~(uint32_t)PTXI_TRACK_MASK);
    const words_4 changed = (words_4)(mask != 0);

    *(words_4 *)to = (written & changed) | (old & ~changed);
}

/* Adds bytes of one block, which are bits of `bytes`. */
static inline void write_part(struct ptxi_tracker *t, struct ptxi_track_page *p, uint64_t block, uint64_t bytes,
                              uint32_t whole)
{
    uint32_t *words = ptxi_track_words(t, p, PTXI_TRACK_WRITE);
    const uint32_t state = p->blocks[block];
    const bytes_16 zeros = { 0 };
    const words_8 masks = (words_8)__builtin_shufflevector((bytes_16)(longs_2){ bytes }, zeros, 0, 16, 1, 17, 2, 18, 3,
                                                           19, 4, 20, 5, 21, 6, 22, 7, 23);
    const words_4 low = (words_4)__builtin_shufflevector(masks, (words_8)zeros, 0, 8, 1, 9, 2, 10, 3, 11);
    const words_4 high = (words_4)__builtin_shufflevector(masks, (words_8)zeros, 4, 12, 5, 13, 6, 14, 7, 15);

    if (!words || state == whole)
        return;
    if (ptxi_track_is_in_words(state)) {
        words += PTXI_TRACK_BLOCK_WORDS * (state >> PTXI_TRACK_PLACE);
        add_to_words(words, *(words_4 *)words, low, whole);
        add_to_words(words + 4, *(words_4 *)(words + 4), high, whole);
        return;
    }
    if (__builtin_expect(p->used == WRITTEN_BLOCKS, 0))
        move_words(p, words);
    words += PTXI_TRACK_BLOCK_WORDS * p->used;
    p->blocks[block] = p->used++ << PTXI_TRACK_PLACE | PTXI_TRACK_IN_WORDS;
    add_to_words(words, (words_4){ state, state, state, state }, low, whole);
    add_to_words(words + 4, (words_4){ state, state, state, state }, high, whole);
}

/* The bits from one number to another, its end. */
static inline uint64_t bits_between(uint64_t first, uint64_t end)
{
    return ~UINT64_C(0) << first & ~UINT64_C(0) >> (PTXI_TRACK_BLOCK - end);
}

static inline void write_blocks(uint32_t *block, uint32_t *end, uint32_t whole)
{
    const uint64_t two = whole * UINT64_C(0x100000001);

    for (; end - block >= 2; block += 2)
        memcpy(block, &two, sizeof two);
    if (block < end)
        *block = whole;
}

/* Adds the bytes from one offset in a page to another, its end. */
static inline void write_in_page(struct ptxi_tracker *t, struct ptxi_track_page *p, uint64_t offset, uint64_t end,
                                 uint32_t whole)
{
    const uint64_t first = offset % PTXI_TRACK_BLOCK, rest = end % PTXI_TRACK_BLOCK, last = end / PTXI_TRACK_BLOCK;
    uint64_t block = offset / PTXI_TRACK_BLOCK;

    if (first || block == last) {
        write_part(t, p, block, bits_between(first, block == last ? rest : PTXI_TRACK_BLOCK), whole);
        if (block++ == last)
            return;
    }
    write_blocks(p->blocks + block, p->blocks + last, whole);
    if (rest)
        write_part(t, p, last, bits_between(0, rest), whole);
}

/* Where noted ranges are moved to. */
struct writer {
    struct ptxi_tracker *tracker;
    const struct ptxi_track_ranges *noted;
    bool alone;                     /* pages are not locked */
    struct ptxi_track_page *locked; /* or NULL */
};

/* NULL: memory is short. */
static inline struct ptxi_track_page *find_locked(struct writer *w, uint64_t address)
{
    const uint64_t number = address / PTXI_TRACK_PAGE;
    struct ptxi_track_known *k = ptxi_track_find_known(w->noted, number);

    if (__builtin_expect(k->number != number, 0)) {
        struct ptxi_track_page *p = find_page(w->tracker, address);

        if (!p)
            return NULL;
        *k = (struct ptxi_track_known){ number, p, p->blocks, 0 };
    }
    if (!w->alone && w->locked != k->page) {
        if (w->locked)
            pthread_mutex_unlock(&w->locked->lock);
        pthread_mutex_lock(&k->page->lock);
        w->locked = k->page;
    }
    return k->page;
}

static __attribute__((noinline)) void write_in_pages(struct writer *w, uint64_t address, uint64_t end, uint32_t whole)
{
    for (uint64_t stop; address < end; address = stop) {
        struct ptxi_track_page *p = find_locked(w, address);

        if (!p)
            return;
        stop = p->address + PTXI_TRACK_PAGE < end ? p->address + PTXI_TRACK_PAGE : end;
        write_in_page(w->tracker, p, address - p->address, stop - p->address, whole);
    }
}

/* In the usual case, the worker knows the page. Shared memory is not tracked; the launch fails at an access that wraps.
 */
static inline void write_bytes(struct writer *w, uint64_t address, uint64_t end, uint32_t whole)
{
    const uint64_t number = address / PTXI_TRACK_PAGE, offset = address % PTXI_TRACK_PAGE;
    const struct ptxi_track_known *k = ptxi_track_find_known(w->noted, number);

    if (w->alone && k->number == number && end - address <= PTXI_TRACK_PAGE - offset) {
        if ((address | end) % PTXI_TRACK_BLOCK)
            write_in_page(w->tracker, k->page, offset, offset + (end - address), whole);
        else
            write_blocks(k->blocks + offset / PTXI_TRACK_BLOCK,
                         k->blocks + (offset + (end - address)) / PTXI_TRACK_BLOCK, whole);
    } else if (address < PTXI_SHARED_WINDOW && end <= PTXI_SHARED_WINDOW) {
        write_in_pages(w, address, end, whole);
    }
}

/* Moves noted ranges to the pages. */
static void write_noted(struct ptxi_tracker *t, bool alone, struct ptxi_track_ranges *noted)
{
    struct writer w = { .tracker = t, .noted = noted, .alone = alone };

    for (const struct ptxi_track_range *r = noted->at; r < noted->next;) {
        const uint64_t address = r->address;
        const uint32_t place = r->place;
        uint64_t end = address + r->bytes;

        while (++r < noted->next && r->address == end && r->place == place)
            end += r->bytes;
        write_bytes(&w, address, end, place << PTXI_TRACK_PLACE | PTXI_TRACK_MASK);
    }
    if (w.locked)
        pthread_mutex_unlock(&w.locked->lock);
    noted->next = noted->at;
}

struct ptxi_track_ranges *ptxi_tracker_ranges(struct ptxi_tracker *t, unsigned worker, bool alone)
{
    static struct ptxi_track_ranges none;
    struct ptxi_track_ranges *r;

    if (!t)
        return &none;
    assert(worker < PTXI_TRACK_WORKERS);
    r = &t->head.ranges[worker];
    r->direct = alone ? r->at : NULL;
    return r;
}

/* False: memory is short. */
static bool make_list(struct ptxi_tracker *t, bool alone, struct ptxi_track_ranges *r)
{
    pthread_mutex_lock(&t->lock);
    r->next = r->at = take(t, NOTED * sizeof *r->at + PTXI_TRACK_KNOWN * sizeof(struct ptxi_track_known));
    pthread_mutex_unlock(&t->lock);
    if (!r->at) {
        atomic_store(&t->incomplete, true);
        return false;
    }
    r->end = r->at + NOTED;
    r->direct = alone ? r->at : NULL;
    for (unsigned k = 0; k < PTXI_TRACK_KNOWN; k++)
        ptxi_track_find_known(r, k)->number = UINT64_MAX;
    use_worker(t, (unsigned)(r - t->head.ranges));
    return true;
}

void ptxi_track_note_full(struct ptxi_tracker *t, bool alone, struct ptxi_track_ranges *r,
                          struct ptxi_track_range range)
{
    if (!r->at) {
        if (make_list(t, alone, r))
            *r->next++ = range;
        return;
    }
    write_noted(t, alone, r);
    *r->next++ = range;
    if (r->direct) /* the next rows can be written directly if there is no range before them */
        write_noted(t, alone, r);
}

void ptxi_tracker_finish(struct ptxi_tracker *t)
{
    for (unsigned k = 0; k < t->workers; k++)
        write_noted(t, true, &t->head.ranges[k]);
}

static void note(const struct ptxi_warp *w, uint64_t address, uint64_t size, uint32_t place)
{
    while (size) {
        uint32_t n = size < 1 << 30 ? (uint32_t)size : 1 << 30;

        ptxi_track_note(w, address, n, place);
        address += n;
        size -= n;
    }
}

void ptxi_track_range(const struct ptxi_warp *w, enum ptxi_track_kind kind, uint64_t address, uint64_t size,
                      uint32_t place)
{
    if (kind == PTXI_TRACK_WRITE && !w->cta->grid->tracker->head.reads) {
        note(w, address, size, place);
        return;
    }
    while (size) {
        uint64_t offset = address % PTXI_TRACK_PAGE;
        uint64_t n = PTXI_TRACK_PAGE - offset < size ? PTXI_TRACK_PAGE - offset : size;
        struct ptxi_track_page *p = ptxi_track_page(w, address);

        if (!p)
            return;
        track_in_page(w, kind, p, offset, offset + n, place);
        address += n;
        size -= n;
    }
}

/* --- reductions --- */

uint64_t ptxi_track_difference(uint16_t op, uint64_t before, uint64_t after)
{
    switch (op) {
    case PTXI_OP_atom_add_i32: case PTXI_OP_atom_add_i64: return after - before;
    case PTXI_OP_atom_xor_b32: case PTXI_OP_atom_xor_b64: return after ^ before;
    default: return after;
    }
}

static uint32_t place_of(const struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const struct ptxi_code *code = w->frame->code;

    return code->first_place ? code->first_place + (uint32_t)(i - code->insns) : PTXI_PLACE_UNKNOWN;
}

void ptxi_track_insn(const struct ptxi_warp *w, const struct ptxi_insn *i, enum ptxi_track_kind kind,
                     uint64_t address, uint64_t size)
{
    const struct ptxi_tracker *t = w->cta->grid->tracker;

    if (t && (kind != PTXI_TRACK_READ || t->head.reads) && address < PTXI_SHARED_WINDOW)
        ptxi_track_range(w, kind, address, size, place_of(w, i));
}

void ptxi_track_array_reduce(const struct ptxi_warp *w, const struct ptxi_insn *i, unsigned op, uint64_t address,
                             const unsigned char *from, uint64_t size)
{
    uint32_t bytes = ptxi_array_reduce_bytes(op);

    if (!w->cta->grid->tracker)
        return;
    for (uint64_t k = 0; k < size; k += bytes) {
        uint64_t value = 0;

        memcpy(&value, from + k, bytes);
        ptxi_track_reduce(w, address + k, bytes, (uint16_t)op, value, place_of(w, i));
    }
}

static void add_to_log(const struct ptxi_warp *w, const struct ptxi_track_entry *e)
{
    struct ptxi_tracker *t = w->cta->grid->tracker;
    struct ptxi_track_log *log = &t->logs[w->worker->index];

    if (log->count == log->room) {
        size_t room = log->room ? 2 * log->room : 256;
        struct ptxi_track_entry *more = realloc(log->at, room * sizeof *more);

        if (!more) {
            atomic_store(&t->incomplete, true);
            return;
        }
        log->at = more;
        log->room = room;
        use_worker(t, w->worker->index);
    }
    log->at[log->count++] = *e;
}

RACY void ptxi_track_reduce(const struct ptxi_warp *w, uint64_t address, uint32_t size, uint16_t op, uint64_t value,
                            uint32_t place)
{
    struct ptxi_track_page *p = ptxi_track_page(w, address);
    uint32_t *words = p ? ptxi_track_words(w->cta->grid->tracker, p, PTXI_TRACK_REDUCE) : NULL;
    uint64_t offset = address % PTXI_TRACK_PAGE;

    if (!words)
        return;
    assert(offset + size <= PTXI_TRACK_PAGE && w->worker->index < MAX_LOGS);
    for (uint64_t k = offset / 4; k <= (offset + size - 1) / 4; k++)
        if (p->operations[k] != op)
            p->operations[k] = p->operations[k] ? (uint16_t)PTXI_TRACK_MIXED : op;
    ptxi_track_add(w->only_worker, &words[offset / 8], ptxi_track_bytes(offset % 8, offset % 8 + size), place);
    if (!ptxi_track_is_exact(op))
        add_to_log(w, &(struct ptxi_track_entry){ w->cta->number, address, value, place, op });
}
