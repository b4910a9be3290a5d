#include "exec/tcgen05/tmem_queue.h"

#include <assert.h>
#include <stdlib.h>

#include "exec/async/async.h"
#include "exec/async/mbarrier.h"
#include "exec/engine/rng.h"

/* When the queue is full, the oldest job is performed, which is always allowed. */
enum { MAX_JOBS = 1024 };

/* Whether two jobs must keep their order. A thread's commits follow all its other jobs except loads and stores. */
static bool is_ordered(const struct ptxi_tmem_job *a, const struct ptxi_tmem_job *b)
{
    bool load_or_store = a->kind >= PTXI_TMEM_JOB_STORE || b->kind >= PTXI_TMEM_JOB_STORE;

    return a->warp == b->warp && a->lane == b->lane && (!load_or_store || a->kind == b->kind);
}

/* Keeps a job that has been removed from the queue, for reuse. */
static void recycle(struct ptxi_cta *lead, struct ptxi_tmem_job *j)
{
    j->next = lead->spare_tmem_jobs;
    lead->spare_tmem_jobs = j;
}

/* Removes a job from the queue and performs it. */
static void perform(struct ptxi_cta *lead, struct ptxi_tmem_job **at)
{
    struct ptxi_tmem_job *j = *at;

    assert(j);
    *at = j->next;
    if (j->kind == PTXI_TMEM_JOB_COMMIT)
        ptxi_mbarrier_arrive_async(j->owner, j->mbarrier);
    else
        j->perform(j);
    recycle(lead, j);
}

static void append(struct ptxi_cta *lead, struct ptxi_tmem_job *j)
{
    struct ptxi_tmem_job **end = &lead->tmem_jobs;
    unsigned count = 0;

    for (; *end; end = &(*end)->next)
        count++;
    *end = j;
    if (count >= MAX_JOBS && lead->tmem_jobs->kind != PTXI_TMEM_JOB_COMMIT)
        perform(lead, &lead->tmem_jobs);
}

void ptxi_tmem_cancel_last(struct ptxi_warp *w)
{
    struct ptxi_cta *lead = w->cta->lead;
    struct ptxi_tmem_job **last = &lead->tmem_jobs, *j;

    assert(*last);
    while ((*last)->next)
        last = &(*last)->next;
    j = *last;
    *last = NULL;
    recycle(lead, j);
}

void ptxi_tmem_wait(struct ptxi_warp *w, enum ptxi_tmem_job_kind kind)
{
    struct ptxi_tmem_job **at = &w->cta->lead->tmem_jobs;

    assert(kind >= PTXI_TMEM_JOB_STORE);
    while (*at)
        if ((*at)->kind == kind && (*at)->warp == w && w->active >> (*at)->lane & 1)
            perform(w->cta->lead, at);
        else
            at = &(*at)->next;
}

/* --- as a source of asynchronous operations --- */

/* Whether the job is a commit, or a commit of its thread follows. */
static bool is_committed(const struct ptxi_tmem_job *j)
{
    for (const struct ptxi_tmem_job *k = j; k; k = k->next)
        if (k->kind == PTXI_TMEM_JOB_COMMIT && is_ordered(j, k))
            return true;
    return false;
}

static bool is_empty(const struct ptxi_cta *lead)
{
    return !lead->tmem_jobs;
}

static bool complete_all_committed(struct ptxi_cta *lead)
{
    struct ptxi_tmem_job **at = &lead->tmem_jobs;
    bool any = false;

    while (*at)
        if (is_committed(*at)) {
            perform(lead, at);
            any = true;
        } else {
            at = &(*at)->next;
        }
    return any;
}

/* Whether an earlier job must be performed first. */
static bool has_predecessor(const struct ptxi_cta *lead, const struct ptxi_tmem_job *j)
{
    for (const struct ptxi_tmem_job *k = lead->tmem_jobs; k != j; k = k->next)
        if (is_ordered(k, j))
            return true;
    return false;
}

/* Completes one random job, of the committed ones or of all. False: there was none. */
static bool complete_one(struct ptxi_cta *lead, bool committed)
{
    struct ptxi_tmem_job **found = NULL;
    uint32_t candidates = 0;

    for (struct ptxi_tmem_job **at = &lead->tmem_jobs; *at; at = &(*at)->next)
        if (!has_predecessor(lead, *at) && (!committed || is_committed(*at)) &&
            ptxi_rng_one_in(&lead->rng_state, ++candidates))
            found = at;
    if (found)
        perform(lead, found);
    return found;
}

static bool complete_tracked(struct ptxi_cta *lead)
{
    if (!lead->tmem_jobs)
        return false;
    return lead->grid->schedule ? complete_one(lead, true) : complete_all_committed(lead);
}

static void complete_random(struct ptxi_cta *lead)
{
    complete_one(lead, false);
}

static const struct ptxi_async_source source = { is_empty, complete_tracked, complete_random };

/* --- jobs --- */

struct ptxi_tmem_job *ptxi_tmem_submit(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane,
                                       enum ptxi_tmem_job_kind kind)
{
    struct ptxi_cta *lead = w->cta->lead;
    struct ptxi_tmem_job *j = lead->spare_tmem_jobs;

    assert(lane < PTXI_LANES);
    if (j)
        lead->spare_tmem_jobs = j->next;
    else
        j = calloc(1, sizeof *j);
    if (j && kind >= PTXI_TMEM_JOB_STORE && !j->stored)
        j->stored = calloc(PTXI_TMEM_STORED, sizeof *j->stored);
    if (!j || (kind >= PTXI_TMEM_JOB_STORE && !j->stored)) {
        free(j);
        ptxi_fault(w, i, PTXI_FK_MEMORY, w->active, 0, 0, NULL);
        return NULL;
    }
    *j = (struct ptxi_tmem_job){ .warp = w, .insn = i, .lane = lane, .kind = kind, .stored = j->stored };
    lead->async_source = &source;
    append(lead, j);
    return j;
}

void ptxi_tmem_drop(struct ptxi_cta *lead)
{
    while (lead->tmem_jobs) {
        struct ptxi_tmem_job *j = lead->tmem_jobs;

        lead->tmem_jobs = j->next;
        recycle(lead, j);
    }
}

void ptxi_tmem_free(struct ptxi_cta *c)
{
    ptxi_tmem_drop(c);
    while (c->spare_tmem_jobs) {
        struct ptxi_tmem_job *j = c->spare_tmem_jobs;

        c->spare_tmem_jobs = j->next;
        free(j->stored);
        free(j);
    }
    if (c->tmem)
        free(c->tmem->records);
    free(c->tmem);
}
