/* Bulk copies, asynchronous stores and reductions. PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk",
 * "cp.reduce.async.bulk", "st.async", "Parallel Synchronization and Communication Instructions: red.async". */
#include "exec/async/async.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "exec/engine/rng.h"
#include "exec/memory/access.h"
#include "exec/memory/array_reduce.h"
#include "exec/async/tma.h"

enum { CACHE_LINE = 64, ANNOUNCED = 2048, MOST_JOBS = 1024 };

/* What one thread has asked for. */
struct ptxi_job {
    struct ptxi_job *next;
    struct ptxi_warp *warp;
    unsigned lane;
    const struct ptxi_insn *insn;
    const struct ptxi_code *code;
    uint64_t generation;          /* of the memory map, when the addresses were checked */
    unsigned char *to;
    const unsigned char *from;    /* NULL: `value` */
    uint32_t size;
    uint16_t byte_mask;           /* of 16 bytes each */
    uint16_t reduce;              /* the operation of atom that it does with each element, or 0 */
    struct ptxi_cta *owner;       /* of the mbarrier that tracks it; NULL: it belongs to a bulk async-group ... */
    unsigned char *mbarrier;
    uint32_t group;               /* ... with this number */
    unsigned char value[16];
    unsigned char *kept;          /* what `from` points to when the source has been read already; from malloc */
    bool tensor;                  /* `to` or `from`, which is not NULL, is a box in shared memory of the tensor */
    uint32_t place;               /* of that box */
    struct ptxi_tensor_map map;
    int32_t corner[PTXI_TENSOR_COORDS];
};

/* --- the list of a cluster --- */

/* What comes before, all jobs have. */
#define PLAIN offsetof(struct ptxi_job, map)

/* Field by field: for a memset() of this length compilers take a string instruction, which is as slow as a copy of half a kilobyte. */
static inline void begin(struct ptxi_job *j, struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane)
{
    j->warp = w;
    j->lane = lane;
    j->insn = i;
    j->code = w->frame->code;
    j->generation = atomic_load_explicit(w->generation, memory_order_acquire);
    j->to = NULL;
    j->from = NULL;
    j->size = 0;
    j->byte_mask = 0xffff;
    j->reduce = i->mods >> PTXI_BULK_REDUCE;
    j->owner = NULL;
    j->mbarrier = NULL;
    j->group = 0;
    j->kept = NULL;
    j->tensor = false;
    j->place = 0;
}

static void perform_first(struct ptxi_cta *lead);

/* Puts a job at the end. A loop that never waits, or waits for something else, must not make the list so long that each wait takes
 * long: then the oldest job is done, which may always be. */
static bool submit(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_job *what)
{
    struct ptxi_cta *lead = w->cta->lead;

    if (lead->job_count >= MOST_JOBS)
        perform_first(lead);
    struct ptxi_job *j = lead->spare_jobs, **end = lead->jobs ? &lead->last_job->next : &lead->jobs;

    if (j) {
        lead->spare_jobs = j->next;
    } else if (!(j = malloc(sizeof *j))) {
        ptxi_fault(w, i, PTXI_FK_MEMORY, w->active, 0, 0, NULL);
        return false;
    }
    memcpy(j, what, PLAIN);
    if (what->tensor)
        memcpy(&j->map, &what->map, sizeof *j - PLAIN);
    j->next = NULL;
    *end = lead->last_job = j;
    lead->job_count++;
    lead->tracked_jobs += j->owner != NULL;
    return true;
}

/* One that is in the list no more. */
static void put_away(struct ptxi_cta *lead, struct ptxi_job *j)
{
    if (j->kept)
        free(j->kept);
    j->next = lead->spare_jobs;
    lead->spare_jobs = j;
    lead->job_count--;
    lead->tracked_jobs -= j->owner != NULL;
}

void ptxi_bulk_drop(struct ptxi_cta *lead)
{
    while (lead->jobs) {
        struct ptxi_job *j = lead->jobs;

        lead->jobs = j->next;
        put_away(lead, j);
    }
}

void ptxi_bulk_free(struct ptxi_cta *lead)
{
    ptxi_bulk_drop(lead);
    while (lead->spare_jobs) {
        struct ptxi_job *j = lead->spare_jobs;

        lead->spare_jobs = j->next;
        free(j);
    }
}

/* --- doing them --- */

/* Global memory was checked when the job came; since then it may have been freed. */
static bool may_still(const struct ptxi_job *j, uint64_t at, uint32_t bytes, enum ptxi_access access)
{
    return ptxi_shared_owner(j->warp->cta, (const unsigned char *)(uintptr_t)at) ||
           ptxi_mem_check_later(j->warp, j->code, j->insn, j->lane, at, bytes, access);
}

static bool may_still_access_row(void *ctx, uint32_t row, uint64_t at, uint32_t from, uint32_t bytes)
{
    const struct ptxi_job *j = ctx;

    (void)row, (void)from;
    return !bytes || may_still(j, at, bytes, j->to ? PTXI_ACCESS_LOAD : PTXI_ACCESS_STORE);
}

static bool is_unchanged(const struct ptxi_job *j)
{
    return j->generation == atomic_load_explicit(j->warp->generation, memory_order_acquire);
}

static bool may_still_read(const struct ptxi_job *j)
{
    return !j->from || j->kept || is_unchanged(j) || may_still(j, (uintptr_t)j->from, j->size, PTXI_ACCESS_LOAD);
}

static bool may_still_perform(struct ptxi_job *j)
{
    if (is_unchanged(j))
        return true;
    if (j->tensor)
        return ptxi_tensor_walk(&j->map, j->corner, may_still_access_row, j);
    return may_still_read(j) &&
           may_still(j, (uintptr_t)j->to, j->size, j->reduce ? PTXI_ACCESS_ATOMIC : PTXI_ACCESS_STORE);
}

static bool may_write(void *ctx, uint64_t at, uint32_t bytes)
{
    const struct ptxi_job *j = ctx;
    struct ptxi_mem_region r;

    return ptxi_memmap_covers(j->warp->cta->grid->memmap, at, bytes, &r) && ptxi_mem_permits(&r, true);
}

static void move_box(const struct ptxi_job *j)
{
    if (j->to)
        ptxi_tensor_load(&j->map, j->corner, j->to, j->place);
    else
        ptxi_tensor_store(&j->map, j->corner, j->from, j->place, j->reduce, may_write, (void *)j);
}

static void move(const struct ptxi_job *j, const unsigned char *from)
{
    if (j->reduce)
        ptxi_reduce(j->reduce, j->to, from, j->size);
    else if (j->byte_mask == 0xffff)
        memmove(j->to, from, j->size);
    else
        for (uint32_t k = 0; k < j->size; k++)
            if (j->byte_mask >> k % 16 & 1)
                j->to[k] = from[k];
}

static void perform(struct ptxi_job *j)
{
    if (j->size && may_still_perform(j)) {
        if (j->tensor)
            move_box(j);
        else
            move(j, j->from ? j->from : j->value);
    }
    if (j->owner)
        ptxi_mbarrier_completes(j->owner, j->mbarrier, j->size);
}

/* Whether it must be done now: for whom, up to which group. */
struct due {
    const struct ptxi_warp *warp; /* NULL: those that mbarriers track */
    ptxi_lanes lanes;
    uint32_t pending;             /* groups of a lane that may go on waiting */
    bool all;
};

static bool is_due(const struct ptxi_job *j, const struct due *due)
{
    uint32_t later;

    if (due->all)
        return true;
    if (!due->warp)
        return j->owner;
    if (j->owner || j->warp != due->warp || !(due->lanes >> j->lane & 1))
        return false;
    later = j->warp->async->bulk_groups[j->lane] - j->group;
    return later > due->pending && later <= INT32_MAX;
}

static void perform_first(struct ptxi_cta *lead)
{
    struct ptxi_job *j = lead->jobs;

    lead->jobs = j->next;
    perform(j);
    put_away(lead, j);
}

static bool perform_due(struct ptxi_cta *lead, const struct due *due)
{
    struct ptxi_job **p = &lead->jobs, *j, *last = NULL;
    bool any = false;

    while ((j = *p)) {
        if (!is_due(j, due)) {
            last = j;
            p = &j->next;
            continue;
        }
        *p = j->next;
        perform(j);
        put_away(lead, j);
        any = true;
    }
    lead->last_job = last;
    return any;
}

bool ptxi_bulk_flush(struct ptxi_cta *lead)
{
    return lead->tracked_jobs && perform_due(lead, &(struct due){ .warp = NULL });
}

/* Jobs have no order among each other. */
bool ptxi_bulk_any(struct ptxi_cta *lead, bool tracked)
{
    struct ptxi_job **found = NULL, **p, *j, *last = NULL;
    uint32_t n = 0;

    for (p = &lead->jobs; *p; p = &(*p)->next)
        if ((!tracked || (*p)->owner) && ptxi_one_in(&lead->dice, ++n))
            found = p;
    if (!found)
        return false;
    j = *found;
    *found = j->next;
    for (struct ptxi_job *k = lead->jobs; k; k = k->next)
        last = k;
    lead->last_job = last;
    perform(j);
    put_away(lead, j);
    return true;
}

void ptxi_bulk_finish(struct ptxi_cta *lead)
{
    if (lead->jobs)
        perform_due(lead, &(struct due){ .all = true });
}

void ptxi_bulk_commit(struct ptxi_warp *w)
{
    for (int l = 0; w->async && l < PTXI_LANES; l++)
        w->async->bulk_groups[l] += w->active >> l & 1;
}

/* The source has been read: it is kept, and nothing arrives yet. False: memory is short, or the source may no longer be
 * read. */
static bool keep(struct ptxi_job *j)
{
    uint32_t size = j->tensor ? ptxi_tensor_box_room(&j->map) : j->size;

    if (j->kept || !j->from || !size)
        return true;
    if (!j->tensor && !may_still_read(j))
        return false;
    j->kept = malloc(size);
    if (!j->kept)
        return false;
    memcpy(j->kept, j->from, size);
    j->from = j->kept;
    return true;
}

/* With .read the PTX ISA ("cp.async.bulk.wait_group") says nothing of what has been written. Programs that read it then, as some of libcu++'s tests, are
 * wrong, and find it on a device: only where chance rules it does not arrive yet. */
void ptxi_bulk_wait(struct ptxi_warp *w, uint32_t n, bool read)
{
    const struct due due = { .warp = w, .lanes = w->active, .pending = n };
    bool kept = read && w->cta->grid->schedule;

    if (!w->async)
        return;
    for (struct ptxi_job *j = w->cta->lead->jobs; kept && j; j = j->next)
        kept = !is_due(j, &due) || keep(j);
    if (!kept && w->cta->lead->jobs)
        perform_due(w->cta->lead, &due);
}

/* --- asking for them --- */

static const struct ptxi_insn *misuse(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, const char *what)
{
    return ptxi_fault(w, i, PTXI_FK_MISUSE, (ptxi_lanes)1 << lane, 0, 0, what);
}

/* Where a generic address leads, mostly into the CTA's own shared memory or the allocation that the instruction hit last. */
static inline unsigned char *place_at(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, uint64_t at, uint32_t size, uint32_t align, enum ptxi_access access)
{
    unsigned char *own = ptxi_mem_own(w, at - PTXI_SHARED_WINDOW, size, align);

    if (own)
        return own;
    if (!(at & (align - 1)) && ptxi_mem_covers(w, ptxi_mem_hit(w, i), at, size, access != PTXI_ACCESS_LOAD))
        return (unsigned char *)(uintptr_t)at;
    return ptxi_mem_at(w, i, lane, PTXI_MS_GENERIC, at, size, align, access);
}

/* Its mbarrier, or its group. */
static bool track(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_job *j)
{
    uint64_t at;

    if (i->c == PTXI_NO_SLOT) {
        struct ptxi_async *a = ptxi_async_of(w);

        if (!a)
            ptxi_fault(w, i, PTXI_FK_MEMORY, w->active, 0, 0, NULL);
        else
            j->group = a->bulk_groups[j->lane];
        return a;
    }
    at = ((const uint64_t *)PTXI_SLOT(w, i->c))[j->lane];
    j->mbarrier = place_at(w, i, j->lane, at, 8, 8, PTXI_ACCESS_ATOMIC);
    if (!j->mbarrier)
        return false;
    j->owner = ptxi_shared_owner(w->cta, j->mbarrier);
    if (!j->owner)
        misuse(w, i, j->lane, "the mbarrier is not in shared memory");
    return j->owner;
}

/* Whether bytes that arrive in shared memory are counted in the same CTA, or with .cta_group::2 in its pair; false after a fault. */
static bool counted_there(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_job *j, bool pair)
{
    const struct ptxi_cta *at = j->to ? ptxi_shared_owner(w->cta, j->to) : NULL;

    if (!at || !j->owner || at == j->owner || (pair && (at->rank ^ j->owner->rank) == 1))
        return true;
    misuse(w, i, j->lane, "the mbarrier is not in the CTA where the bytes arrive");
    return false;
}

/* A job for each CTA that the mask names, at the same place of its shared memory. In a pair the even one or the odd one counts for both. */
static bool multicast(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_job *j, uint32_t mask, bool pair)
{
    const struct ptxi_cta *lead = w->cta->lead, *at = j->size ? ptxi_shared_owner(w->cta, j->to) : w->cta;
    ptrdiff_t to = at && j->size ? j->to - at->shared : 0, mbarrier = j->mbarrier - j->owner->shared;
    uint32_t odd = j->owner->rank & 1;

    if (!at || mask >> lead->member_count || (pair && lead->member_count % 2)) {
        misuse(w, i, j->lane, "the mask of a multicast names a CTA that the cluster does not have");
        return false;
    }
    for (; mask; mask &= mask - 1) {
        uint32_t rank = (uint32_t)__builtin_ctz(mask);

        j->to = j->size ? lead->members[rank]->shared + to : NULL;
        j->owner = lead->members[pair ? (rank & ~1u) | odd : rank];
        j->mbarrier = j->owner->shared + mbarrier;
        if (!submit(w, i, j))
            return false;
    }
    return true;
}

/* Where a bulk operation of one lane leads; false after a fault. */
static bool find_memory(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_job *j)
{
    uint64_t to = ((const uint64_t *)PTXI_SLOT(w, i->a))[j->lane], from = ((const uint64_t *)PTXI_SLOT(w, i->b))[j->lane];

    j->size = ((const uint32_t *)PTXI_SLOT(w, i->d))[j->lane];
    if (j->size % 16) {
        misuse(w, i, j->lane, "the size of a bulk copy is not a multiple of 16");
        return false;
    }
    if (!j->size)
        return true;
    j->to = place_at(w, i, j->lane, to, j->size, 16, j->reduce ? PTXI_ACCESS_ATOMIC : PTXI_ACCESS_STORE);
    j->from = j->to ? place_at(w, i, j->lane, from, j->size, 16, PTXI_ACCESS_LOAD) : NULL;
    if (j->from && !w->cta->grid->explicit_cluster && ptxi_shared_owner(w->cta, j->to) && ptxi_shared_owner(w->cta, j->from)) {
        misuse(w, i, j->lane, "a bulk copy leads from shared to shared memory in a grid without clusters"); /* on an H200 an illegal instruction, as st.async and red.async */
        return false;
    }
    return j->from;
}

/* What the copy will read first comes into the cache while the program does something else. */
static inline void announce(const struct ptxi_job *j)
{
    for (uint32_t k = 0; k < j->size && k < ANNOUNCED; k += CACHE_LINE)
        __builtin_prefetch(j->from + k);
}

const struct ptxi_insn *ptxi_bulk_copy(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint16_t *mask = (uint16_t)i->imm == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, (uint16_t)i->imm);

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        struct ptxi_job j;

        begin(&j, w, i, ptxi_first_lane(left));
        if (!find_memory(w, i, &j) || !track(w, i, &j))
            return w->stop;
        announce(&j);
        if (i->mods & PTXI_BULK_BYTE_MASK)
            j.byte_mask = mask[j.lane];
        if (!(i->mods & PTXI_BULK_MULTICAST ? multicast(w, i, &j, mask[j.lane], false) : submit(w, i, &j)))
            return w->stop;
    }
    return i + 1;
}

const struct ptxi_insn *ptxi_async_store(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint16_t slots[4] = { i->b, i->d, (uint16_t)i->imm, (uint16_t)((uint32_t)i->imm >> 16) };
    uint32_t width = 1u << (i->mods & PTXI_STORE_WIDTH);

    if (!w->cta->grid->explicit_cluster)
        return misuse(w, i, ptxi_first_lane(w->active), "an asynchronous store in a grid without clusters");
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        struct ptxi_job j;
        uint64_t to = ((const uint64_t *)PTXI_SLOT(w, i->a))[ptxi_first_lane(left)];

        begin(&j, w, i, ptxi_first_lane(left));
        for (unsigned e = 0; e < 4 && slots[e] != PTXI_NO_SLOT; e++, j.size += width)
            memcpy(j.value + j.size, (const unsigned char *)PTXI_SLOT(w, slots[e]) + j.lane * width, width);
        j.to = ptxi_mem_at(w, i, j.lane, PTXI_MS_GENERIC, to, j.size, j.size, j.reduce ? PTXI_ACCESS_ATOMIC : PTXI_ACCESS_STORE);
        if (!j.to)
            return w->stop;
        if (!ptxi_shared_owner(w->cta, j.to))
            return misuse(w, i, j.lane, "an asynchronous store leads out of the cluster's shared memory");
        if (!track(w, i, &j) || !counted_there(w, i, &j, false))
            return w->stop;
        if (!submit(w, i, &j))
            return w->stop;
    }
    return i + 1;
}

/* Coordinates of the box that a tensor_copy behind this moves. */
const struct ptxi_insn *ptxi_tensor_coords(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint16_t slots[PTXI_TENSOR_MOST] = { i->a, i->b, i->c, i->d, (uint16_t)i->imm };
    struct ptxi_async *a = ptxi_async_of(w);

    if (!a)
        return ptxi_fault(w, i, PTXI_FK_MEMORY, w->active, 0, 0, NULL);
    for (unsigned d = 0; d < PTXI_TENSOR_MOST && slots[d] != PTXI_NO_SLOT; d++)
        memcpy(a->corner[d + (i->mods ? PTXI_TENSOR_MOST : 0)], PTXI_SLOT(w, slots[d]), sizeof a->corner[d]);
    return i + 1;
}

struct row_check {
    struct ptxi_warp *w;
    const struct ptxi_insn *i;
    const struct ptxi_job *j;
};

static bool may_access_row(void *ctx, uint32_t row, uint64_t at, uint32_t from, uint32_t bytes)
{
    const struct row_check *c = ctx;

    (void)row, (void)from;
    return !bytes || ptxi_mem_at(c->w, c->i, c->j->lane, PTXI_MS_GLOBAL, at, bytes, 1, c->j->to ? PTXI_ACCESS_LOAD : PTXI_ACCESS_STORE);
}

static enum ptxi_tensor_mode mode_of(const struct ptxi_insn *i)
{
    switch (i->mods & PTXI_TENSOR_MODE) {
    case PTXI_TENSOR_IM2COL: return PTXI_MAP_IM2COL;
    case PTXI_TENSOR_WIDE: return PTXI_MAP_WIDE;
    case PTXI_TENSOR_W128: return PTXI_MAP_W128;
    default: return PTXI_MAP_TILE;
    }
}

/* Where in the tensor the box begins, and in im2col modes the offsets behind that. */
static void read_corner(const struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_job *j)
{
    bool offsets = j->map.mode != PTXI_MAP_TILE && !(i->mods & PTXI_TENSOR_STORE);

    memset(j->corner, 0, sizeof j->corner);
    for (int d = 0; d < i->imm; d++)
        j->corner[d] = w->async->corner[d][j->lane];
    for (int d = PTXI_TENSOR_MOST; offsets && d < PTXI_TENSOR_COORDS; d++)
        j->corner[d] = w->async->corner[d][j->lane];
    j->map.halo = j->map.mode == PTXI_MAP_WIDE || j->map.mode == PTXI_MAP_W128 ? (uint16_t)j->corner[PTXI_TENSOR_MOST] : 0;
}

/* The tensor map and the place in it. Returns what is wrong with them, or NULL. */
static const char *read_map(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_job *j)
{
    uint64_t map = ((const uint64_t *)PTXI_SLOT(w, i->b))[j->lane];
    enum ptxi_tensor_reduction r = i->mods >> PTXI_TENSOR_REDUCE;

    if (ptxi_mem_read(w, j->lane, map, &j->map, sizeof j->map) < sizeof j->map || j->map.magic != PTXI_TENSOR_MAGIC ||
        j->map.rank != (i->mods & PTXI_TENSOR_ROWS ? 2 : i->imm))
        return "there is no tensor map of as many dimensions";
    j->map.rows = i->mods & PTXI_TENSOR_ROWS;
    if (j->map.mode != mode_of(i))
        return "the tensor map is for another mode";
    if (!ptxi_tensor_usable(&j->map) || (j->map.rows && j->map.box[1] != 1))
        return j->map.rows ? "the boxes of the tensor map are not single rows" : "the fields of the tensor map do not go together";
    j->reduce = (uint16_t)ptxi_tensor_reduction(&j->map, r);
    if (r != PTXI_TENSOR_COPY && !j->reduce)
        return "elements of the tensor's type have no such reduction";
    read_corner(w, i, j);
    return ptxi_tensor_misplaced(&j->map, j->corner, i->mods & PTXI_TENSOR_STORE);
}

/* The tensor map and the box in shared memory; false after a fault. */
static bool find_box(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_job *j)
{
    uint64_t box = ((const uint64_t *)PTXI_SLOT(w, i->a))[j->lane], lo, hi;
    bool store = i->mods & PTXI_TENSOR_STORE;
    const char *wrong = read_map(w, i, j);
    const struct ptxi_cta *owner;
    unsigned char *shared;

    if (wrong) {
        misuse(w, i, j->lane, wrong);
        return false;
    }
    j->tensor = true;
    j->size = ptxi_tensor_box_bytes(&j->map);
    shared = place_at(w, i, j->lane, box, ptxi_tensor_box_room(&j->map), 128, store ? PTXI_ACCESS_LOAD : PTXI_ACCESS_STORE);
    if (!shared)
        return false;
    owner = ptxi_shared_owner(w->cta, shared);
    if (!owner) {
        misuse(w, i, j->lane, "the box is not in shared memory");
        return false;
    }
    j->to = store ? NULL : shared;
    j->from = store ? shared : NULL;
    j->place = (uint32_t)(shared - owner->shared);
    if (ptxi_tensor_reach(&j->map, j->corner, &lo, &hi) && ptxi_mem_check(w, i, lo, hi - lo, store ? PTXI_ACCESS_STORE : PTXI_ACCESS_LOAD))
        return true;
    return ptxi_tensor_walk(&j->map, j->corner, may_access_row, &(struct row_check){ w, i, j });
}

const struct ptxi_insn *ptxi_tensor_copy(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint16_t *mask = i->d == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, i->d);
    bool pair = i->mods & PTXI_TENSOR_PAIR;

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        struct ptxi_job j;

        begin(&j, w, i, ptxi_first_lane(left));
        if (!find_box(w, i, &j) || !track(w, i, &j) || !counted_there(w, i, &j, pair) || !(mask ? multicast(w, i, &j, mask[j.lane], pair) : submit(w, i, &j)))
            return w->stop;
    }
    return i + 1;
}

/* Zeros, at once: st.bulk is synchronous. */
const struct ptxi_insn *ptxi_bulk_zero(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint64_t size = ((const uint64_t *)PTXI_SLOT(w, i->b))[l];
        unsigned char *p;

        if (size % 8 || size > UINT32_MAX)
            return misuse(w, i, l, "the size of st.bulk is not a multiple of 8");
        p = size ? ptxi_mem_at(w, i, l, PTXI_MS_GENERIC, ((const uint64_t *)PTXI_SLOT(w, i->a))[l], (uint32_t)size, 8, PTXI_ACCESS_STORE) : NULL;
        if (size && !p)
            return w->stop;
        if (p)
            memset(p, 0, size);
    }
    return i + 1;
}

/* The next cluster that has not begun never will: who asks gets its first CTA, and does its work. */
const struct ptxi_insn *ptxi_cluster_cancel(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        struct ptxi_job j;
        uint32_t answer[4] = { 0 };

        begin(&j, w, i, ptxi_first_lane(left));
        j.reduce = 0;
        j.size = sizeof answer;
        j.to = ptxi_mem_at(w, i, j.lane, PTXI_MS_GENERIC, ((const uint64_t *)PTXI_SLOT(w, i->a))[j.lane], j.size, j.size, PTXI_ACCESS_STORE);
        if (!j.to || !track(w, i, &j))
            return w->stop;
        if (!ptxi_shared_owner(w->cta, j.to))
            return misuse(w, i, j.lane, "the answer of try_cancel leads out of shared memory");
        answer[3] = ptxi_grid_cancel(w->cta->grid, answer);
        memcpy(j.value, answer, sizeof answer);
        if (!(i->mods ? multicast(w, i, &j, (1u << w->cta->lead->member_count) - 1, false) : submit(w, i, &j)))
            return w->stop;
    }
    return i + 1;
}
