#include "exec/async/cp_async_bulk.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "exec/async/mbarrier_object.h"
#include "exec/check/check.h"
#include "exec/check/race.h"
#include "exec/engine/address_space.h"
#include "exec/init/init.h"
#include "exec/track/track.h"

enum { CACHE_LINE = 64, MAX_PREFETCH = 2048, ALIGN = 16, MAX_IGNORED = 15 };

bool ptxi_bulk_set_completion(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_bulk_job *j)
{
    uint64_t address;

    if (i->c == PTXI_NO_SLOT) {
        struct ptxi_warp_async *async = ptxi_warp_async_get(w);

        if (!async)
            ptxi_fault(w, i, PTXI_FK_MEMORY, w->active, 0, 0, NULL);
        else
            j->group = async->bulk_groups[j->lane];
        return async;
    }
    address = ((const uint64_t *)PTXI_SLOT(w, i->c))[j->lane];
    j->mbarrier = ptxi_bulk_find_memory(w, i, j->lane, address, 8, 8, PTXI_AK_ATOMIC);
    if (!j->mbarrier)
        return false;
    j->owner = ptxi_shared_owner(w->cta, j->mbarrier);
    if (j->owner && j->owner->check)
        ptxi_check_mbarrier_arrives(w, (ptxi_lanes)1 << j->lane, j->owner, (uint32_t)(j->mbarrier - j->owner->shared));
    if (!j->owner)
        ptxi_bulk_misuse(w, i, j->lane, "the mbarrier is not in shared memory");
    return j->owner;
}

bool ptxi_bulk_set_report(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_bulk_job *j, unsigned report)
{
    j->report = (uint8_t)report;
    if (!report || ptxi_mbarrier_load(j->mbarrier).layout)
        return true;
    ptxi_bulk_misuse(w, i, j->lane, "a copy reports its data to an mbarrier that is not of .layout::v1");
    return false;
}

bool ptxi_bulk_check_mbarrier(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_bulk_job *j, bool pair)
{
    const struct ptxi_cta *at = j->to ? ptxi_shared_owner(w->cta, j->to) : NULL;

    if (!at || !j->owner || at == j->owner || (pair && (at->rank ^ j->owner->rank) == 1))
        return true;
    ptxi_bulk_misuse(w, i, j->lane, "the mbarrier is not in the CTA where the bytes arrive");
    return false;
}

bool ptxi_bulk_submit_multicast(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_bulk_job *j, uint32_t mask,
                                bool pair)
{
    const struct ptxi_cta *lead = w->cta->lead, *at = j->size ? ptxi_shared_owner(w->cta, j->to) : w->cta;
    ptrdiff_t to, mbarrier;
    uint32_t odd;

    assert(j->owner && j->mbarrier);
    to = at && j->size ? j->to - at->shared : 0;
    mbarrier = j->mbarrier - j->owner->shared;
    odd = j->owner->rank & 1;
    if (!at || mask >> lead->member_count || (pair && lead->member_count % 2)) {
        ptxi_bulk_misuse(w, i, j->lane, "the multicast mask names a CTA that is not in the cluster");
        return false;
    }
    for (; mask; mask &= mask - 1) {
        uint32_t rank = (uint32_t)__builtin_ctz(mask);

        j->to = j->size ? lead->members[rank]->shared + to : NULL;
        j->owner = lead->members[pair ? (rank & ~1u) | odd : rank];
        j->mbarrier = j->owner->shared + mbarrier;
        if (!ptxi_bulk_submit(w, i, j))
            return false;
    }
    return true;
}

/* --- cp.async.bulk, cp.reduce.async.bulk --- */

/* Sets a source of which only the inner bytes must be accessible. False: a fault. */
static bool find_inner_source(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_bulk_job *j, uint64_t from)
{
    uint32_t left = ((const uint32_t *)PTXI_SLOT(w, (uint16_t)i->imm))[j->lane],
             right = ((const uint32_t *)PTXI_SLOT(w, (uint32_t)i->imm >> 16))[j->lane];

    if (left > MAX_IGNORED || right > MAX_IGNORED) {
        ptxi_bulk_misuse(w, i, j->lane, "a bulk copy ignores more than 15 bytes at an end");
        return false;
    }
    j->from = (const unsigned char *)(uintptr_t)from;
    if (left + right >= j->size) {
        j->left = (uint8_t)j->size;
        return true;
    }
    j->left = (uint8_t)left;
    j->right = (uint8_t)right;
    return ptxi_access_at(w, i, j->lane, PTXI_MS_GLOBAL, from + left, ptxi_bulk_inner(j), 1, PTXI_AK_LOAD);
}

/* Sets the source of a lane. False: a fault. */
static bool find_source(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_bulk_job *j)
{
    uint64_t from = ((const uint64_t *)PTXI_SLOT(w, i->b))[j->lane];

    if (i->mods & PTXI_BULK_ENDS && !(from % ALIGN))
        return find_inner_source(w, i, j, from);
    j->from = ptxi_bulk_find_memory(w, i, j->lane, from, j->size, ALIGN, PTXI_AK_LOAD);
    return j->from;
}

/* Sets the source and the destination of one lane. False: a fault. */
static bool find_source_and_destination(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_bulk_job *j)
{
    uint64_t to = ((const uint64_t *)PTXI_SLOT(w, i->a))[j->lane];

    j->size = ((const uint32_t *)PTXI_SLOT(w, i->d))[j->lane];
    if (j->size % 16) {
        ptxi_bulk_misuse(w, i, j->lane, "the size of a bulk copy is not a multiple of 16");
        return false;
    }
    if (!j->size)
        return true;
    j->to = ptxi_bulk_find_memory(w, i, j->lane, to, j->size, ALIGN, j->reduce ? PTXI_AK_ATOMIC : PTXI_AK_STORE);
    if (!j->to || !find_source(w, i, j))
        return false;
    if (!w->cta->grid->explicit_cluster && ptxi_shared_owner(w->cta, j->to) && ptxi_shared_owner(w->cta, j->from)) {
        /* an illegal instruction on an H200, as st.async and red.async are */
        ptxi_bulk_misuse(w, i, j->lane, "a bulk copy from shared to shared memory requires a launch with clusters");
        return false;
    }
    return true;
}

/* Records writes of the bytes that the mask selects, for each 16 bytes. */
static void track_masked(const struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_bulk_job *j)
{
    for (uint32_t k = 0; k < j->size; k++)
        if (j->byte_mask >> k % 16 & 1)
            ptxi_track_insn(w, i, PTXI_TRACK_WRITE, (uintptr_t)j->to + k, 1);
}

/* Records what a job reads and writes in global memory. */
static void track(const struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_bulk_job *j)
{
    if (!j->size)
        return;
    if (!ptxi_shared_owner(w->cta, j->from))
        ptxi_track_insn(w, i, PTXI_TRACK_READ, ptxi_bulk_inner_at(j), ptxi_bulk_inner(j));
    if (ptxi_shared_owner(w->cta, j->to))
        return;
    if (j->reduce)
        ptxi_track_array_reduce(w, i, j->reduce, (uintptr_t)j->to, j->from, j->size);
    else if (i->mods & PTXI_BULK_BYTE_MASK)
        track_masked(w, i, j);
    else
        ptxi_track_insn(w, i, PTXI_TRACK_WRITE, (uintptr_t)j->to, j->size);
}

/* Starts to load the source into the cache while the program continues. */
static inline void prefetch_source(const struct ptxi_bulk_job *j)
{
    for (uint32_t k = 0; k < j->size && k < MAX_PREFETCH; k += CACHE_LINE)
        __builtin_prefetch(j->from + k);
}

const struct ptxi_insn *ptxi_cp_async_bulk(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const void *mask = (uint16_t)i->imm == PTXI_NO_SLOT ? NULL : PTXI_SLOT(w, (uint16_t)i->imm);
    unsigned report = i->mods & PTXI_BULK_ENDS ? PTXI_REPORT_NONE : (uint32_t)i->imm >> 16;

    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        struct ptxi_bulk_job j;
        bool ok;

        ptxi_bulk_job_init(&j, w, i, ptxi_first_lane(left));
        if (!find_source_and_destination(w, i, &j) || !ptxi_bulk_set_completion(w, i, &j) ||
            !ptxi_bulk_set_report(w, i, &j, report))
            return w->stop;
        prefetch_source(&j);
        if (i->mods & PTXI_BULK_BYTE_MASK)
            j.byte_mask = ((const uint16_t *)mask)[j.lane];
        if (w->cta->grid->tracker)
            track(w, i, &j);
        if (i->mods & PTXI_BULK_MULTICAST)
            ok = ptxi_bulk_submit_multicast(w, i, &j, ((const uint32_t *)mask)[j.lane], false);
        else
            ok = ptxi_bulk_submit(w, i, &j);
        if (!ok)
            return w->stop;
    }
    return i + 1;
}

/* --- st.async, red.async --- */

const struct ptxi_insn *ptxi_st_async(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    const uint16_t slots[4] = { i->b, i->d, (uint16_t)i->imm, (uint16_t)((uint32_t)i->imm >> 16) };
    uint32_t width = 4u << (i->mods & PTXI_STORE_WIDTH);

    if (!w->cta->grid->explicit_cluster)
        return ptxi_bulk_misuse(w, i, ptxi_first_lane(w->active),
                                "an asynchronous store requires a launch with clusters");
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        struct ptxi_bulk_job j;
        uint64_t to = ((const uint64_t *)PTXI_SLOT(w, i->a))[ptxi_first_lane(left)];

        ptxi_bulk_job_init(&j, w, i, ptxi_first_lane(left));
        for (unsigned e = 0; e < 4 && slots[e] != PTXI_NO_SLOT; e++, j.size += width)
            memcpy(j.value + j.size, (const unsigned char *)PTXI_SLOT(w, slots[e]) + j.lane * width, width);
        assert(j.size <= sizeof j.value);
        j.to = ptxi_access_at(w, i, j.lane, PTXI_MS_GENERIC, to, j.size, j.size,
                           j.reduce ? PTXI_AK_ATOMIC : PTXI_AK_STORE);
        if (!j.to)
            return w->stop;
        if (!ptxi_shared_owner(w->cta, j.to))
            return ptxi_bulk_misuse(w, i, j.lane,
                                    "the destination of an asynchronous store is not in the cluster's shared memory");
        if (!ptxi_bulk_set_completion(w, i, &j) || !ptxi_bulk_check_mbarrier(w, i, &j, false))
            return w->stop;
        if (!ptxi_bulk_submit(w, i, &j))
            return w->stop;
    }
    return i + 1;
}

/* --- st.bulk --- */

static void note_zeros(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, const unsigned char *at,
                       uint64_t address, uint32_t size)
{
    struct ptxi_cta *owner = ptxi_shared_owner(w->cta, at);

    if (!owner)
        return;
    ptxi_race_touch(w, i, lane, address - PTXI_SHARED_WINDOW, size, PTXI_TOUCH_WRITE | PTXI_TOUCH_SHARED, NULL);
    ptxi_init_note_write(&(struct ptxi_init_place){ owner, (uint64_t)(at - owner->shared) }, size);
}

/* Writes zeros at once: st.bulk is synchronous. */
const struct ptxi_insn *ptxi_st_bulk(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        unsigned l = ptxi_first_lane(left);
        uint64_t address = ((const uint64_t *)PTXI_SLOT(w, i->a))[l], size = ((const uint64_t *)PTXI_SLOT(w, i->b))[l];
        unsigned char *to;

        if (size % 8 || size > UINT32_MAX)
            return ptxi_bulk_misuse(w, i, l, "the size of st.bulk is not a multiple of 8");
        if (!size)
            continue;
        to = ptxi_access_at(w, i, l, PTXI_MS_GENERIC, address, (uint32_t)size, 8, PTXI_AK_STORE);
        if (!to)
            return w->stop;
        memset(to, 0, size);
        if (w->cta->check)
            note_zeros(w, i, l, to, address, (uint32_t)size);
    }
    return i + 1;
}

/* --- clusterlaunchcontrol.try_cancel --- */

/* Cancels the next cluster that has not started. The thread receives its first CTA, and does that cluster's work. */
const struct ptxi_insn *ptxi_cluster_try_cancel(struct ptxi_warp *w, const struct ptxi_insn *i)
{
    for (ptxi_lanes left = w->active; left; left &= left - 1) {
        struct ptxi_bulk_job j;
        uint32_t response[4] = { 0 };
        uint64_t to;
        bool ok;

        ptxi_bulk_job_init(&j, w, i, ptxi_first_lane(left));
        j.reduce = 0;
        j.size = sizeof response;
        to = ((const uint64_t *)PTXI_SLOT(w, i->a))[j.lane];
        j.to = ptxi_access_at(w, i, j.lane, PTXI_MS_GENERIC, to, j.size, j.size, PTXI_AK_STORE);
        if (!j.to || !ptxi_bulk_set_completion(w, i, &j))
            return w->stop;
        if (!ptxi_shared_owner(w->cta, j.to))
            return ptxi_bulk_misuse(w, i, j.lane, "the destination of try_cancel is not in shared memory");
        response[3] = ptxi_grid_cancel(w->cta->grid, response);
        memcpy(j.value, response, sizeof response);
        if (i->mods)
            ok = ptxi_bulk_submit_multicast(w, i, &j, (1u << w->cta->lead->member_count) - 1, false);
        else
            ok = ptxi_bulk_submit(w, i, &j);
        if (!ok)
            return w->stop;
    }
    return i + 1;
}
