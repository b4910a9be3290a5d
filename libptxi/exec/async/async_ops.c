/* cp.async; and what there is of other asynchronous operations, of mbarriers and clusters in a dispatch table. PTX ISA, "Data Movement and Conversion Instructions: cp.async". */
#include <string.h>

#include "exec/async/async.h"
#include "exec/engine/handler.h"
#include "exec/memory/coalesce.h"

/* How many bytes each lane copies; false: all of them do `size`. */
static inline bool source_sizes(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size, uint8_t *bytes, ptxi_lanes *reading)
{
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
    ptxi_lanes less = 0;
    const uint32_t *n = PTXI_SLOT(w, i->c);

    for (int l = 0; l < PTXI_LANES; l++) {
        bytes[l] = (uint8_t)(n[l] < size ? n[l] : size);
        *reading |= (ptxi_lanes)(n[l] != 0) << l;
        less |= (ptxi_lanes)(n[l] < size) << l;
    }
    *reading &= w->active;
    return less & w->active;
}

/* Whether lanes may read what they copy; lane by lane if not all at once. */
static bool sources_ok(struct ptxi_warp *w, const struct ptxi_insn *i, const uint64_t *from, ptxi_lanes reading, uint32_t size, const uint8_t *bytes)
{
    struct span s;

    if (!reading)
        return true;
    s = span64(from, reading);
    if (!(s.bits & (size - 1)) && may_access(w, i, s.lo, s.hi - s.lo + size, PTXI_ACCESS_LOAD))
        return true;
    for (; reading; reading &= reading - 1) {
        unsigned l = ptxi_first_lane(reading);

        if (!ptxi_mem_at(w, i, l, PTXI_MS_GLOBAL, from[l], bytes ? bytes[l] : size, size, PTXI_ACCESS_LOAD))
            return false;
    }
    return true;
}

static bool targets_ok(struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t *to, uint32_t size)
{
    struct span s = span32(to, w->active);

    if (!(s.bits & (size - 1)) && s.hi + size <= w->shared_size)
        return true;
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        const unsigned char *p = ptxi_mem_at(w, i, l, PTXI_MS_SHARED, (uint32_t)(to[l] + w->shared_at), size, size, PTXI_ACCESS_STORE);

        if (!p)
            return false;
        to[l] = (uint32_t)(p - w->shared);
    }
    return true;
}

/* Lanes that have committed another number of groups than the first one. */
static ptxi_lanes other_groups(const struct ptxi_warp *w)
{
    ptxi_lanes others = 0;

    for (int l = 0; w->async && w->async->mixed && l < PTXI_LANES; l++)
        others |= (ptxi_lanes)(w->async->groups[l] != w->async->groups[ptxi_first_lane(w->active)]) << l;
    return others & w->active;
}

/* Whether lane after lane reads and writes `size` bytes behind those of the lane before. Two offsets are looked at as one number; where the one overflows
 * into the other they lead beyond shared memory. */
static inline __attribute__((always_inline)) bool in_rows(const uint64_t *from, const uint32_t *to, uint32_t size)
{
    typedef uint64_t __attribute__((may_alias)) two;
    const two *pair = (const two *)to;
    const uint64_t half = PTXI_LANES / 2, *rest = from + half;
    uint64_t off = 0, first = from[0], middle = first + half * size, both = pair[0];

    for (uint64_t l = 0; l < half; l++)
        off |= (from[l] ^ (first + l * size)) | (rest[l] ^ (middle + l * size)) | (pair[l] ^ (both + l * (2 * size * (UINT64_C(1) << 32 | 1))));
    return !off && to[1] == to[0] + size;
}

/* All lanes copy all bytes, from a row to a row, and may do so as far as can be seen at once. */
static inline __attribute__((always_inline)) bool copies_row(const struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size)
{
    const uint32_t *to = PTXI_SLOT(w, i->a);
    const uint64_t *from = PTXI_SLOT(w, i->b);

    return w->active == PTXI_ALL_LANES && in_rows(from, to, size) && to[0] <= to[PTXI_LANES - 1] &&
           !((from[0] | (to[0] + (uint32_t)i->imm)) & (size - 1)) && shared_covers(w, i, to[0], to[PTXI_LANES - 1], size) &&
           ptxi_mem_covers(w, ptxi_mem_hit(w, i), from[0], PTXI_LANES * (uint64_t)size, false);
}

/* The next entry of the queue, whose lanes lie anywhere. When memory is short it is `now`, to be done at once. */
static struct ptxi_async_entry *next_entry(struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size, struct ptxi_async_entry *now)
{
    struct ptxi_async_entry *e = ptxi_async_push(w, i);

    if (!e) {
        e = now;
        e->lanes = w->active;
        e->generation = atomic_load_explicit(w->generation, memory_order_acquire);
    }
    e->size = (uint8_t)size;
    e->in_row = e->partial = false;
    return e;
}

/* Copies of lanes that lie anywhere; `bytes`: how many of each, or NULL: all. */
static __attribute__((noinline)) const struct ptxi_insn *copy_lanes(struct ptxi_warp *w, const struct ptxi_insn *i, ptxi_lanes reading, const uint8_t *bytes)
{
    uint32_t size = i->mods & PTXI_CP_ASYNC_SIZE;
    const uint32_t *a = PTXI_SLOT(w, i->a);
    const uint64_t *from = PTXI_SLOT(w, i->b);
    _Alignas(64) uint32_t to[PTXI_LANES];
    ptxi_lanes all = w->active, others;
    struct ptxi_async_entry now, *e;

    FOR_LANES to[l] = a[l] + (uint32_t)i->imm - (uint32_t)w->shared_at;
    if (!targets_ok(w, i, to, size) || !sources_ok(w, i, from, reading, size, bytes))
        return w->stop;
    do { /* once for each group, and there is mostly one */
        others = other_groups(w);
        w->active &= ~others;
        e = next_entry(w, i, size, &now);
        e->partial = bytes;
        memcpy(e->to, to, sizeof to);
        memcpy(e->from, from, sizeof e->from);
        if (bytes)
            memcpy(e->bytes, bytes, sizeof e->bytes);
        if (e == &now)
            ptxi_async_do(w, e, e->lanes);
        w->active = others;
    } while (others);
    w->active = all;
    NEXT;
}

/* What is not copied from a row to a row, or has no room. */
static __attribute__((noinline)) const struct ptxi_insn *copy_any(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    uint8_t bytes[PTXI_LANES];
    ptxi_lanes reading;
    bool partial = source_sizes(w, i, i->mods & PTXI_CP_ASYNC_SIZE, bytes, &reading);

    return copy_lanes(w, i, reading, partial ? bytes : NULL);
}

static inline __attribute__((always_inline)) const struct ptxi_insn *copy_row(struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t size)
{
    struct ptxi_async *q = w->async;
    struct ptxi_async_entry *e;

    if (i->c != PTXI_NO_SLOT || !q || q->mixed || q->count == q->size || !copies_row(w, i, size))
        return copy_any(w, i);
    e = ptxi_async_next(w, i);
    e->size = (uint8_t)size;
    e->partial = false;
    e->in_row = true;
    e->row_to = ((const uint32_t *)PTXI_SLOT(w, i->a))[0] + (uint32_t)i->imm - (uint32_t)w->shared_at;
    e->row_from = ((const uint64_t *)PTXI_SLOT(w, i->b))[0];
    for (uint32_t k = 0; k < PTXI_LANES * size; k += 64) /* the host may fetch it meanwhile, as a GPU does */
        __builtin_prefetch((const char *)(uintptr_t)e->row_from + k);
    NEXT;
}

OP( cp_async )
{
    switch (i->mods & PTXI_CP_ASYNC_SIZE) {
    case 4: return copy_row(w, i, 4);
    case 8: return copy_row(w, i, 8);
    default: return copy_row(w, i, 16);
    }
}

OP( cp_async_commit )
{
    ptxi_async_commit(w);
    NEXT;
}

typedef uint64_t part __attribute__((vector_size(32), aligned(4), may_alias));

RACY static inline __attribute__((always_inline)) void move_row(unsigned char *to, const unsigned char *from, uint32_t size)
{
    for (uint32_t k = 0; k < PTXI_LANES * size / sizeof(part); k++)
        ((part *)to)[k] = ((const part *)from)[k];
}

/* All lanes that live wait, and their groups are the same. */
static bool wait_together(const struct ptxi_warp *w)
{
    return w->async && !w->async->mixed && !w->async->arrivals && w->active == w->live;
}

static inline void drop_first(struct ptxi_async *q)
{
    q->first = (q->first + 1) & (q->size - 1);
    q->count--;
}

static __attribute__((noinline)) const struct ptxi_insn *wait_for_any(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    struct ptxi_async *q = w->async;

    if (i->mods & PTXI_WAIT_COMMITS)
        ptxi_async_commit(w);
    if (wait_together(w))
        for (; q->count && ptxi_async_is_past(q->group, q->ring[q->first].group, (uint32_t)i->imm); drop_first(q))
            ptxi_async_do(w, &q->ring[q->first], q->ring[q->first].lanes);
    else
        ptxi_async_wait(w, (uint32_t)i->imm);
    return atomic_load_explicit(&w->cta->grid->failed, memory_order_relaxed) ? ptxi_leave_quantum(w, i + 1) : i + 1;
}

static inline bool is_whole_row(const struct ptxi_async_entry *e, uint64_t generation)
{
    return e->in_row && e->lanes == PTXI_ALL_LANES && e->generation == generation;
}

/* The usual case: they wait together, and what is due are rows. No calls, so it needs no stack. */
RACY OP( cp_async_wait )
{
    struct ptxi_async *q = w->async;
    uint64_t generation = atomic_load_explicit(w->generation, memory_order_acquire);

    if (i->mods & PTXI_WAIT_COMMITS || !wait_together(w))
        return wait_for_any(w, i);
    for (; q->count; drop_first(q)) {
        const struct ptxi_async_entry *e = &q->ring[q->first];
        unsigned char *to = w->shared + e->row_to;
        const unsigned char *from = (const unsigned char *)(uintptr_t)e->row_from;

        if (!ptxi_async_is_past(q->group, e->group, (uint32_t)i->imm))
            NEXT;
        if (!is_whole_row(e, generation))
            return wait_for_any(w, i);
        if (e->size == 4)
            move_row(to, from, 4);
        else if (e->size == 8)
            move_row(to, from, 8);
        else
            move_row(to, from, 16);
    }
    NEXT;
}

OP( cp_async_arrive ) { return ptxi_mbarrier_track(w, i); }
OP( mbarrier_init ) { return ptxi_mbarrier_init(w, i); }
OP( mbarrier_inval ) { return ptxi_mbarrier_inval(w, i); }
OP( mbarrier_expect_tx ) { return ptxi_mbarrier_tx(w, i, false); }
OP( mbarrier_complete_tx ) { return ptxi_mbarrier_tx(w, i, true); }
OP( mbarrier_arrive ) { return ptxi_mbarrier_arrive(w, i); }
OP( mbarrier_test ) { return ptxi_mbarrier_test(w, i); }
OP( mbarrier_pending ) { return ptxi_mbarrier_pending(w, i); }

OP( bulk_copy ) { return ptxi_bulk_copy(w, i); }
OP( async_store ) { return ptxi_async_store(w, i); }
OP( tensor_coords ) { return ptxi_tensor_coords(w, i); }
OP( tensor_copy ) { return ptxi_tensor_copy(w, i); }
OP( tensormap_replace ) { return ptxi_tensormap_replace(w, i); }
OP( tensormap_copy ) { return ptxi_tensormap_copy(w, i); }
OP( cluster_cancel ) { return ptxi_cluster_cancel(w, i); }
OP( bulk_zero ) { return ptxi_bulk_zero(w, i); }
OP( cluster_arrive ) { return ptxi_cluster_arrive(w, i); }
OP( cluster_wait ) { return ptxi_cluster_wait(w, i); }

OP( bulk_commit )
{
    ptxi_bulk_commit(w);
    NEXT;
}

OP( bulk_wait )
{
    ptxi_bulk_wait(w, (uint32_t)i->imm, i->mods & PTXI_WAIT_READ);
    return atomic_load_explicit(&w->cta->grid->failed, memory_order_relaxed) ? ptxi_leave_quantum(w, i + 1) : i + 1;
}
