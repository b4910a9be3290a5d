/* cp.async; and what there is of other asynchronous operations, of mbarriers and clusters in a dispatch table. PTX ISA, "Data Movement and Conversion Instructions: cp.async". */
#include <string.h>

#include "exec/async.h"
#include "exec/level.h"
#include "exec/span.h"

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

static bool targets_ok(struct ptxi_warp *w, const struct ptxi_insn *i, const uint32_t *to, uint32_t size)
{
    struct span s = span32(to, w->active);

    if (!(s.bits & (size - 1)) && s.hi + size <= w->shared_size)
        return true;
    for (ptxi_lanes left = w->active; left; left &= left - 1)
        if (!ptxi_mem_at(w, i, ptxi_first_lane(left), PTXI_MS_SHARED, to[ptxi_first_lane(left)], size, size, PTXI_ACCESS_STORE))
            return false;
    return true;
}

/* Lanes that have committed another number of groups than the first one. */
static ptxi_lanes other_groups(const struct ptxi_warp *w)
{
    uint32_t group = ptxi_async_group(w, ptxi_first_lane(w->active));
    ptxi_lanes others = 0;

    for (int l = 0; w->async && l < PTXI_LANES; l++)
        others |= (ptxi_lanes)(w->async->groups[l] != group) << l;
    return others & w->active;
}

OP( cp_async )
{
    uint32_t size = i->mods & PTXI_CP_ASYNC_SIZE;
    const uint32_t *a = PTXI_SLOT(w, i->a);
    const uint64_t *from = PTXI_SLOT(w, i->b);
    _Alignas(64) uint32_t to[PTXI_LANES];
    uint8_t bytes[PTXI_LANES];
    ptxi_lanes reading, all = w->active, others;
    bool partial = source_sizes(w, i, size, bytes, &reading);
    struct ptxi_async_entry now, *e;

    FOR_LANES to[l] = a[l] + (uint32_t)i->imm;
    if (!targets_ok(w, i, to, size) || !sources_ok(w, i, from, reading, size, partial ? bytes : NULL))
        return w->stop;
    do { /* once for each group, and there is mostly one */
        others = other_groups(w);
        w->active &= ~others;
        e = ptxi_async_push(w, i);
        if (!e) {
            e = &now;
            e->lanes = w->active;
            e->generation = atomic_load_explicit(w->generation, memory_order_acquire);
        }
        e->size = (uint8_t)size;
        e->partial = partial;
        memcpy(e->to, to, sizeof to);
        memcpy(e->from, from, sizeof e->from);
        if (partial)
            memcpy(e->bytes, bytes, sizeof bytes);
        e->in_row = !partial && w->active == PTXI_ALL_LANES && in_row64(from, size) && in_row32(to, size);
        if (e == &now)
            ptxi_async_do(w, e, e->lanes);
        w->active = others;
    } while (others);
    w->active = all;
    NEXT;
}

OP( cp_async_commit )
{
    ptxi_async_commit(w);
    NEXT;
}

OP( cp_async_wait )
{
    if (i->mods & PTXI_WAIT_COMMITS)
        ptxi_async_commit(w);
    ptxi_async_wait(w, (uint32_t)i->imm);
    return atomic_load_explicit(&w->cta->grid->failed, memory_order_relaxed) ? ptxi_leave_quantum(w, i + 1) : i + 1;
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
