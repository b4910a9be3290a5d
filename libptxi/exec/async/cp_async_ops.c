/* Handlers of cp.async. PTX ISA, "Data Movement and Conversion Instructions: cp.async". */
#include <string.h>

#include "exec/async/cp_async.h"
#include "exec/check/check.h"
#include "exec/check/race.h"
#include "exec/track/track.h"
#include "exec/engine/handler.h"
#include "exec/memory/coalesce.h"

/* --- sources and destinations --- */

/* Sets the number of bytes that each lane reads, and the lanes that read any. False: all active lanes read `size`
 * bytes. */
static inline bool find_source_sizes(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size,
                                     uint8_t *bytes, ptxi_lanes *reading)
{
    ptxi_lanes shorter = 0;
    const uint32_t *n;

    *reading = w->active;
    if (i->c == PTXI_NO_SLOT)
        return false;
    if (i->mods & PTXI_CP_ASYNC_IGNORE) {
        ptxi_lanes p = ptxi_pred(w, i->c), ignored = (i->mods & PTXI_CP_ASYNC_NOT ? ~p : p) & w->active;

        for (int l = 0; l < PTXI_LANES; l++)
            bytes[l] = ignored >> l & 1 ? 0 : (uint8_t)size;
        *reading = w->active & ~ignored;
        return ignored;
    }
    *reading = 0;
    n = PTXI_SLOT(w, i->c);
    for (int l = 0; l < PTXI_LANES; l++) {
        bytes[l] = (uint8_t)(n[l] < size ? n[l] : size);
        *reading |= (ptxi_lanes)(n[l] != 0) << l;
        shorter |= (ptxi_lanes)(n[l] < size) << l;
    }
    *reading &= w->active;
    return shorter & w->active;
}

/* The number of bytes that each lane reads. */
struct source_sizes {
    bool partial; /* false: all lanes read all bytes, and `bytes` is not set */
    uint8_t bytes[PTXI_LANES];
};

/* A lane that continues after an invalid access reads what it can. The rest of its destination gets zeros. */
static void read_accessible(struct ptxi_warp *w, struct source_sizes *s, unsigned lane, uint64_t from, uint32_t size)
{
    if (!s->partial)
        memset(s->bytes, (int)size, sizeof s->bytes);
    s->partial = true;
    s->bytes[lane] = (uint8_t)ptxi_access_read(w, lane, from, w->worker->inaccessible, s->bytes[lane]);
}

/* Checks the sources of all lanes at once, and lane by lane if that fails. False: a fault. */
static bool check_sources(struct ptxi_warp *w, const struct ptxi_insn *i, const uint64_t *from, ptxi_lanes reading,
                          uint32_t size, struct source_sizes *sizes)
{
    struct ptxi_address_range s;

    if (!reading)
        return true;
    s = ptxi_address_range_64(from, reading);
    if (!(s.bits & (size - 1)) && ptxi_may_access(w, i, s.lo, s.hi - s.lo + size, PTXI_AK_LOAD))
        return true;
    for (; reading; reading &= reading - 1) {
        unsigned l = ptxi_first_lane(reading);
        const unsigned char *p = ptxi_access_or_continue(w, i, l, PTXI_MS_GLOBAL, from[l],
                                                         sizes->partial ? sizes->bytes[l] : size, size, PTXI_AK_LOAD);

        if (!p)
            return false;
        if (p == w->worker->inaccessible)
            read_accessible(w, sizes, l, from[l], size);
    }
    return true;
}

/* Checks the destinations, and replaces addresses in the memory of other CTAs by offsets from this CTA's memory.
 * False: a fault. */
static bool check_destinations(struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t *to, uint32_t size)
{
    struct ptxi_address_range s = ptxi_address_range_32(to, w->active);

    if (!(s.bits & (size - 1)) && s.hi + size <= w->shared_size)
        return true;
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        const unsigned char *p =
            ptxi_access_at(w, i, l, PTXI_MS_SHARED, (uint32_t)(to[l] + w->shared_at), size, size, PTXI_AK_STORE);

        if (!p)
            return false;
        to[l] = (uint32_t)(p - w->shared);
    }
    return true;
}

/* --- the general case --- */

/* Lanes that have committed another number of groups than the first active lane. */
static ptxi_lanes lanes_of_other_groups(const struct ptxi_warp *w)
{
    ptxi_lanes others = 0;

    for (int l = 0; w->async && w->async->diverged && l < PTXI_LANES; l++)
        others |= (ptxi_lanes)(w->async->groups[l] != w->async->groups[ptxi_first_lane(w->active)]) << l;
    return others & w->active;
}

/* Appends an operation that is not contiguous. If memory is short, the result is `immediate`, which the caller must
 * perform at once. */
static struct ptxi_cp_async *append_operation(struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size,
                                              struct ptxi_cp_async *immediate)
{
    struct ptxi_cp_async *op = ptxi_cp_async_push(w, i);

    if (!op) {
        op = immediate;
        op->lanes = w->active;
        op->generation = atomic_load_explicit(w->generation, memory_order_acquire);
    }
    op->size = (uint8_t)size;
    op->contiguous = op->partial = false;
    return op;
}

/* Tells the checker what the active lanes read and will write. */
static __attribute__((noinline)) void note_accesses(struct ptxi_warp *w, const struct ptxi_insn *i,
                                                    const uint64_t *from, const uint32_t *to,
                                                    const struct source_sizes *sizes)
{
    uint32_t size = i->mods & PTXI_CP_ASYNC_SIZE;

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint32_t bytes = sizes->partial ? sizes->bytes[l] : size;

        if (bytes)
            ptxi_race_touch(w, i, l, from[l], bytes, 0, NULL);
        ptxi_race_touch(w, i, l, (uint32_t)(to[l] + w->shared_at), size,
                        PTXI_TOUCH_WRITE | PTXI_TOUCH_SHARED | PTXI_TOUCH_ASYNC, NULL);
    }
}

/* Records what the lanes read. */
static void track_sources(const struct ptxi_warp *w, const struct ptxi_insn *i, const uint64_t *from,
                          ptxi_lanes reading, uint32_t size, const struct source_sizes *sizes)
{
    for (; reading; reading &= reading - 1) {
        unsigned l = ptxi_first_lane(reading);

        ptxi_track_insn(w, i, PTXI_TRACK_READ, from[l], sizes->partial ? sizes->bytes[l] : size);
    }
}

/* Copies of lanes with any addresses. */
static __attribute__((noinline)) const struct ptxi_insn *copy_lanes(struct ptxi_warp *w, const struct ptxi_insn *i,
                                                                    ptxi_lanes reading, struct source_sizes *sizes)
{
    uint32_t size = i->mods & PTXI_CP_ASYNC_SIZE;
    const uint32_t *a = PTXI_SLOT(w, i->a);
    const uint64_t *from = PTXI_SLOT(w, i->b);
    _Alignas(64) uint32_t to[PTXI_LANES];
    ptxi_lanes all = w->active, others;
    struct ptxi_cp_async immediate, *op;

    FOR_LANES to[l] = a[l] + (uint32_t)i->imm - (uint32_t)w->shared_at;
    if (!check_destinations(w, i, to, size) || !check_sources(w, i, from, reading, size, sizes))
        return w->stop;
    if (w->cta->check)
        note_accesses(w, i, from, to, sizes);
    if (w->cta->grid->tracker)
        track_sources(w, i, from, reading, size, sizes);
    do { /* once for each group, usually once */
        others = lanes_of_other_groups(w);
        w->active &= ~others;
        op = append_operation(w, i, size, &immediate);
        op->partial = sizes->partial;
        memcpy(op->to, to, sizeof to);
        memcpy(op->from, from, sizeof op->from);
        if (sizes->partial)
            memcpy(op->bytes, sizes->bytes, sizeof op->bytes);
        if (op == &immediate)
            ptxi_cp_async_perform(w, op, op->lanes);
        w->active = others;
    } while (others);
    w->active = all;
    NEXT;
}

static __attribute__((noinline)) const struct ptxi_insn *copy_general(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct source_sizes sizes;
    ptxi_lanes reading;

    sizes.partial = find_source_sizes(w, i, i->mods & PTXI_CP_ASYNC_SIZE, sizes.bytes, &reading);
    return copy_lanes(w, i, reading, &sizes);
}

/* --- the usual case: all lanes copy contiguous bytes --- */

/* Whether each lane reads and writes the `size` bytes after those of the lane before. Two offsets are compared as
 * one 64-bit number. Where the lower one overflows into the upper one, they are outside of shared memory. */
static inline __attribute__((always_inline)) bool is_contiguous(const uint64_t *from, const uint32_t *to, uint32_t size)
{
    typedef uint64_t __attribute__((may_alias)) offset_pair;
    const offset_pair *pair = (const offset_pair *)to;
    const uint64_t half = PTXI_LANES / 2, *upper_from = from + half, pair_step = 2 * size * (UINT64_C(1) << 32 | 1);
    uint64_t differences = 0, first = from[0], middle = first + half * size, first_pair = pair[0];

    for (uint64_t l = 0; l < half; l++)
        differences |= (from[l] ^ (first + l * size)) | (upper_from[l] ^ (middle + l * size)) |
                       (pair[l] ^ (first_pair + l * pair_step));
    return !differences && to[1] == to[0] + size;
}

/* Whether all lanes copy contiguous bytes, and simple checks show that they may access them. */
static inline __attribute__((always_inline)) bool is_simple_copy(const struct ptxi_warp *w, const struct ptxi_insn *i,
                                                                 uint32_t size)
{
    const uint32_t *to = PTXI_SLOT(w, i->a);
    const uint64_t *from = PTXI_SLOT(w, i->b);

    return w->active == PTXI_ALL_LANES && is_contiguous(from, to, size) && to[0] <= to[PTXI_LANES - 1] &&
           !((from[0] | (to[0] + (uint32_t)i->imm)) & (size - 1)) &&
           ptxi_shared_covers(w, i, to[0], to[PTXI_LANES - 1], size) &&
           ptxi_access_is_cached(w, ptxi_access_hit(w, i), from[0], PTXI_LANES * (uint64_t)size, false);
}

static inline __attribute__((always_inline)) const struct ptxi_insn *copy(struct ptxi_warp *w,
                                                                          const struct ptxi_insn *i, uint32_t size)
{
    struct ptxi_warp_async *q = w->async;
    struct ptxi_cp_async *op;

    if (i->c != PTXI_NO_SLOT || !q || q->diverged || q->count == q->size || w->cta->check || w->cta->grid->tracker ||
        !is_simple_copy(w, i, size))
        return copy_general(w, i);
    op = ptxi_cp_async_append(w, i);
    op->size = (uint8_t)size;
    op->partial = false;
    op->contiguous = true;
    op->to_first = ((const uint32_t *)PTXI_SLOT(w, i->a))[0] + (uint32_t)i->imm - (uint32_t)w->shared_at;
    op->from_first = ((const uint64_t *)PTXI_SLOT(w, i->b))[0];
    for (uint32_t k = 0; k < PTXI_LANES * size; k += 64) /* loads the source into the cache meanwhile, as a GPU does */
        __builtin_prefetch((const char *)(uintptr_t)op->from_first + k);
    NEXT;
}

OP( cp_async )
{
    switch (i->mods & PTXI_CP_ASYNC_SIZE) {
    case 4: return copy(w, i, 4);
    case 8: return copy(w, i, 8);
    default: return copy(w, i, 16);
    }
}

/* --- commit_group, wait_group --- */

OP( cp_async_commit )
{
    ptxi_cp_async_commit(w);
    if (w->cta->check)
        ptxi_check_async_commits(w);
    NEXT;
}

typedef uint64_t vector __attribute__((vector_size(32), aligned(4), may_alias));

RACY static inline __attribute__((always_inline)) void copy_contiguous(unsigned char *to, const unsigned char *from,
                                                                  uint32_t size)
{
    for (uint32_t k = 0; k < PTXI_LANES * size / sizeof(vector); k++)
        ((vector *)to)[k] = ((const vector *)from)[k];
}

/* Whether all live lanes wait and have committed the same groups, and no arrive-on is in the queue. */
static bool is_simple_wait(const struct ptxi_warp *w)
{
    return w->async && !w->async->diverged && !w->async->arrivals && w->active == w->live;
}

static inline void remove_first(struct ptxi_warp_async *q)
{
    q->first = (q->first + 1) & (q->size - 1);
    q->count--;
}

/* A copy fails if the program has freed its memory, so the grid may have failed. */
static __attribute__((noinline)) const struct ptxi_insn *wait_general(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_warp_async *q = w->async;

    if (i->mods & PTXI_WAIT_COMMITS)
        ptxi_cp_async_commit(w);
    if (w->cta->check && i->mods & PTXI_WAIT_COMMITS)
        ptxi_check_async_commits(w);
    if (w->cta->check)
        ptxi_check_async_waits(w, (uint32_t)i->imm);
    if (q && is_simple_wait(w))
        for (; q->count && ptxi_cp_async_is_past(q->group, q->ring[q->first].group, (uint32_t)i->imm); remove_first(q))
            ptxi_cp_async_perform(w, &q->ring[q->first], q->ring[q->first].lanes);
    else
        ptxi_cp_async_wait(w, (uint32_t)i->imm);
    return ptxi_grid_failed(w->cta->grid) ? ptxi_leave_quantum(w, i + 1) : i + 1;
}

static inline bool is_contiguous_and_unchanged(const struct ptxi_cp_async *op, uint64_t generation)
{
    return op->contiguous && op->lanes == PTXI_ALL_LANES && op->generation == generation;
}

/* Handles the usual case without calls, so that it needs no stack frame. */
RACY OP( cp_async_wait )
{
    struct ptxi_warp_async *q = w->async;
    uint64_t generation = atomic_load_explicit(w->generation, memory_order_acquire);

    if (i->mods & PTXI_WAIT_COMMITS || w->cta->check || !is_simple_wait(w))
        return wait_general(w, i);
    for (; q->count; remove_first(q)) {
        const struct ptxi_cp_async *op = &q->ring[q->first];
        unsigned char *to = w->shared + op->to_first;
        const unsigned char *from = (const unsigned char *)(uintptr_t)op->from_first;

        if (!ptxi_cp_async_is_past(q->group, op->group, (uint32_t)i->imm))
            NEXT;
        if (!is_contiguous_and_unchanged(op, generation))
            return wait_general(w, i);
        if (op->size == 4)
            copy_contiguous(to, from, 4);
        else if (op->size == 8)
            copy_contiguous(to, from, 8);
        else
            copy_contiguous(to, from, 16);
    }
    NEXT;
}
