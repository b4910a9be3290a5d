#include "exec/async/bulk_queue.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "exec/async/bulk_check.h"
#include "exec/async/mbarrier_object.h"
#include "exec/async/tma.h"
#include "exec/engine/rng.h"
#include "exec/memory/access.h"
#include "exec/memory/array_reduce.h"

/* A longer queue would make each wait slow in loops that never wait, or that wait for something else. When the queue
 * is full, the oldest job is performed, which is always allowed. */
enum { MAX_JOBS = 1024 };

/* --- performing jobs --- */

/* Global memory was checked when the instruction ran. Since then the program may have freed it. */
static bool is_still_accessible(const struct ptxi_bulk_job *j, uint64_t at, uint32_t bytes, enum ptxi_access access)
{
    return ptxi_shared_owner(j->warp->cta, (const unsigned char *)(uintptr_t)at) ||
           ptxi_access_recheck(j->warp, j->code, j->insn, j->lane, at, bytes, access);
}

static bool is_row_still_accessible(void *ctx, uint32_t row, uint64_t at, uint32_t from, uint32_t bytes)
{
    const struct ptxi_bulk_job *j = ctx;

    (void)row, (void)from;
    return !bytes || is_still_accessible(j, at, bytes, j->to ? PTXI_AK_LOAD : PTXI_AK_STORE);
}

static bool is_map_unchanged(const struct ptxi_bulk_job *j)
{
    return j->generation == atomic_load_explicit(j->warp->generation, memory_order_acquire);
}

static bool is_source_readable(const struct ptxi_bulk_job *j)
{
    return !j->from || !ptxi_bulk_inner(j) || j->copied_source || is_map_unchanged(j) ||
           is_still_accessible(j, ptxi_bulk_inner_at(j), ptxi_bulk_inner(j), PTXI_AK_LOAD);
}

static bool is_memory_accessible(struct ptxi_bulk_job *j)
{
    if (is_map_unchanged(j))
        return true;
    if (j->tensor)
        return ptxi_tma_walk(&j->map, j->coords, is_row_still_accessible, j);
    return is_source_readable(j) &&
           is_still_accessible(j, (uintptr_t)j->to, j->size, j->reduce ? PTXI_AK_ATOMIC : PTXI_AK_STORE);
}

static bool is_writable(void *ctx, uint64_t at, uint32_t bytes)
{
    const struct ptxi_bulk_job *j = ctx;
    struct ptxi_mem_region r;

    return ptxi_memmap_covers(j->warp->cta->grid->memmap, at, bytes, &r) &&
           ptxi_access_permits(j->warp->cta->grid, &r, true);
}

static void copy_box(const struct ptxi_bulk_job *j)
{
    assert(!j->to != !j->from);
    if (j->to)
        ptxi_tma_load(&j->map, j->coords, j->to, j->box_offset);
    else
        ptxi_tma_store(&j->map, j->coords, j->from, j->box_offset, j->reduce, is_writable, (void *)j);
}

static void copy_bytes(const struct ptxi_bulk_job *j, const unsigned char *from)
{
    if (j->reduce)
        ptxi_array_reduce(j->reduce, j->to, from, j->size);
    else if (j->byte_mask == 0xffff)
        memmove(j->to, from, j->size);
    else
        for (uint32_t k = 0; k < j->size; k++)
            if (j->byte_mask >> k % 16 & 1)
                j->to[k] = from[k];
}

/* The PTX ISA leaves open what arrives for ignored bytes. Accessible ones are copied, as by a GPU. Zeros arrive for the
 * others, so that no other memory of the host is visible. */
static void copy_with_ends(const struct ptxi_bulk_job *j)
{
    const struct ptxi_grid *g = j->warp->cta->grid;
    uint64_t inner_at = ptxi_bulk_inner_at(j);
    uint32_t inner = ptxi_bulk_inner(j);

    assert(!j->reduce && j->byte_mask == 0xffff && !j->copied_source);
    if (inner)
        memmove(j->to + j->left, (const unsigned char *)(uintptr_t)inner_at, inner);
    ptxi_access_read_or_zero(g, inner_at - j->left, j->to, j->left);
    ptxi_access_read_or_zero(g, inner_at + inner, j->to + j->left + inner, j->right);
}

/* --- reports: PTX ISA, "Report Mechanisms for Asynchronous Copy Operations" --- */

enum { REPORT_CHUNK = 16 };

/* Whether no data in a range of the source is reported. The PTX ISA leaves open which element of 16 bytes is tested;
 * here it is the first one. */
static bool has_no_report(enum ptxi_copy_report report, const unsigned char *from, uint32_t bytes)
{
    unsigned bits = report == PTXI_REPORT_FF ? 8 : 4u << (report - PTXI_REPORT_NEGATIVE_ZERO_4);
    uint32_t pattern, size;

    if (report == PTXI_REPORT_FF)
        return !memchr(from, 0xff, bytes);
    pattern = 1u << (bits - 1);
    size = bits < 8 ? 1 : bits / 8;
    for (uint32_t k = 0; k < bytes && bytes - k >= size; k += REPORT_CHUNK) {
        uint32_t element = 0;

        memcpy(&element, from + k, size);
        if ((element & (pattern | (pattern - 1))) == pattern)
            return false;
    }
    return true;
}

static bool has_row_no_report(void *ctx, uint32_t row, uint64_t at, uint32_t from, uint32_t bytes)
{
    const struct ptxi_bulk_job *j = ctx;

    (void)row, (void)from;
    return has_no_report((enum ptxi_copy_report)j->report, (const unsigned char *)(uintptr_t)at, bytes);
}

static bool has_report(struct ptxi_bulk_job *j)
{
    if (!j->report)
        return false;
    if (j->tensor)
        return !ptxi_tma_walk(&j->map, j->coords, has_row_no_report, j);
    return !has_no_report((enum ptxi_copy_report)j->report, j->from, j->size);
}

static void perform(struct ptxi_bulk_job *j)
{
    if (j->size && is_memory_accessible(j)) {
        if (has_report(j))
            ptxi_mbarrier_report_on(j->mbarrier);
        if (j->tensor)
            copy_box(j);
        else if (ptxi_bulk_has_ends(j))
            copy_with_ends(j);
        else
            copy_bytes(j, j->from ? j->from : j->value);
    }
    if (j->owner)
        ptxi_mbarrier_complete_tx(j->owner, j->mbarrier, j->size);
}

/* --- the queue --- */

/* Members before this offset are initialized in all jobs. */
#define COMMON_BYTES offsetof(struct ptxi_bulk_job, map)

/* Keeps a job that has been removed from the queue, for reuse. */
static void recycle(struct ptxi_cta *lead, struct ptxi_bulk_job *j)
{
    assert(lead->job_count > 0 && lead->tracked_jobs <= lead->job_count);
    if (j->copied_source)
        free(j->copied_source);
    j->next = lead->spare_jobs;
    lead->spare_jobs = j;
    lead->job_count--;
    lead->tracked_jobs -= j->owner != NULL;
}

static void perform_first(struct ptxi_cta *lead)
{
    struct ptxi_bulk_job *j = lead->jobs;

    lead->jobs = j->next;
    perform(j);
    recycle(lead, j);
}

bool ptxi_bulk_submit(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_bulk_job *job)
{
    struct ptxi_cta *lead = w->cta->lead;
    struct ptxi_bulk_job *j, **end;

    if (w->cta->check)
        ptxi_bulk_check(w, i, job);
    if (lead->job_count >= MAX_JOBS)
        perform_first(lead);
    assert(!lead->jobs == !lead->job_count);
    end = lead->jobs ? &lead->last_job->next : &lead->jobs;
    j = lead->spare_jobs;
    if (j) {
        lead->spare_jobs = j->next;
    } else if (!(j = malloc(sizeof *j))) {
        ptxi_fault(w, i, PTXI_FK_MEMORY, w->active, 0, 0, NULL);
        return false;
    }
    memcpy(j, job, COMMON_BYTES);
    if (job->tensor)
        memcpy(&j->map, &job->map, sizeof *j - COMMON_BYTES);
    j->next = NULL;
    *end = lead->last_job = j;
    lead->job_count++;
    lead->tracked_jobs += j->owner != NULL;
    return true;
}

void ptxi_bulk_drop(struct ptxi_cta *lead)
{
    while (lead->jobs) {
        struct ptxi_bulk_job *j = lead->jobs;

        lead->jobs = j->next;
        recycle(lead, j);
    }
    assert(!lead->job_count && !lead->tracked_jobs);
}

void ptxi_bulk_free(struct ptxi_cta *lead)
{
    ptxi_bulk_drop(lead);
    while (lead->spare_jobs) {
        struct ptxi_bulk_job *j = lead->spare_jobs;

        lead->spare_jobs = j->next;
        free(j);
    }
}

/* --- completing jobs --- */

/* The jobs that have to complete. */
struct selection {
    bool all;
    const struct ptxi_warp *warp; /* groups of this warp; NULL: jobs that mbarriers track */
    ptxi_lanes lanes;             /* of the warp */
    uint32_t pending;             /* number of groups of a lane that may stay incomplete */
};

static bool is_selected(const struct ptxi_bulk_job *j, const struct selection *s)
{
    uint32_t commits;

    if (s->all)
        return true;
    if (!s->warp)
        return j->owner;
    if (j->owner || j->warp != s->warp || !(s->lanes >> j->lane & 1))
        return false;
    commits = j->warp->async->bulk_groups[j->lane] - j->group;
    return commits > s->pending && commits <= INT32_MAX;
}

static bool complete(struct ptxi_cta *lead, const struct selection *s)
{
    struct ptxi_bulk_job **p = &lead->jobs, *j, *last = NULL;
    bool any = false;

    while ((j = *p)) {
        if (!is_selected(j, s)) {
            last = j;
            p = &j->next;
            continue;
        }
        *p = j->next;
        perform(j);
        recycle(lead, j);
        any = true;
    }
    lead->last_job = last;
    return any;
}

bool ptxi_bulk_complete_tracked(struct ptxi_cta *lead)
{
    return lead->tracked_jobs && complete(lead, &(struct selection){ .warp = NULL });
}

bool ptxi_bulk_complete_random(struct ptxi_cta *lead, bool tracked)
{
    struct ptxi_bulk_job **found = NULL, *j, *last = NULL;
    uint32_t candidates = 0;

    for (struct ptxi_bulk_job **p = &lead->jobs; *p; p = &(*p)->next)
        if ((!tracked || (*p)->owner) && ptxi_rng_one_in(&lead->rng_state, ++candidates))
            found = p;
    if (!found)
        return false;
    j = *found;
    *found = j->next;
    for (struct ptxi_bulk_job *k = lead->jobs; k; k = k->next)
        last = k;
    lead->last_job = last;
    perform(j);
    recycle(lead, j);
    return true;
}

void ptxi_bulk_complete_all(struct ptxi_cta *lead)
{
    if (lead->jobs)
        complete(lead, &(struct selection){ .all = true });
}

/* --- bulk async-groups --- */

void ptxi_bulk_commit(struct ptxi_warp *w)
{
    for (int l = 0; w->async && l < PTXI_LANES; l++)
        w->async->bulk_groups[l] += w->active >> l & 1;
}

/* Reads the source of a job now, and leaves the write for later. False: out of memory, or the source is no longer
 * readable. */
static bool read_source(struct ptxi_bulk_job *j)
{
    uint32_t size = j->tensor ? ptxi_tensor_map_box_room(&j->map) : j->size;

    if (j->copied_source || !j->from || !size)
        return true;
    if (!j->tensor && !is_source_readable(j))
        return false;
    j->copied_source = malloc(size);
    if (!j->copied_source)
        return false;
    memcpy(j->copied_source, j->from, size);
    j->from = j->copied_source;
    return true;
}

/* With .read the PTX ISA ("cp.async.bulk.wait_group") does not guarantee that the data is written. Programs that
 * read it nevertheless, like some tests of libcu++, are wrong but work on a device. So the write is only delayed
 * with a random schedule. */
void ptxi_bulk_wait(struct ptxi_warp *w, uint32_t n, bool read_only)
{
    const struct selection waited = { .warp = w, .lanes = w->active, .pending = n };
    bool delayed = read_only && w->cta->grid->schedule;

    if (!w->async)
        return;
    for (struct ptxi_bulk_job *j = w->cta->lead->jobs; delayed && j; j = j->next)
        delayed = !is_selected(j, &waited) || read_source(j);
    if (!delayed && w->cta->lead->jobs)
        complete(w->cta->lead, &waited);
}
