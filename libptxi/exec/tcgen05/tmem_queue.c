/* What threads have asked of tensor memory and what is not done yet. PTX ISA, "TensorCore 5th Generation Family Instructions: Memory
 * Consistency Model": a thread's mma, cp, shift and commit take effect in the order in which it asks for them, those of different threads in
 * any; a warp's st before its wait::st ends, and ld before its wait::ld does. */
#include "exec/tcgen05/tmem.h"

#include <stdlib.h>

#include "exec/async/async.h"
#include "exec/engine/rng.h"

/* More are not kept: then the oldest is done, which may always be. */
enum { MOST = 1024 };

/* Whether they keep their order: a thread's commits follow all but its stores and loads. */
static bool same_thread(const struct ptxi_tmem_job *a, const struct ptxi_tmem_job *b)
{
    bool moves = a->kind >= PTXI_TMEM_JOB_STORE || b->kind >= PTXI_TMEM_JOB_STORE;

    return a->warp == b->warp && a->thread == b->thread && (!moves || a->kind == b->kind);
}

/* Takes it out of the list, and does it. */
static void perform(struct ptxi_cta *lead, struct ptxi_tmem_job **at)
{
    struct ptxi_tmem_job *j = *at;

    *at = j->next;
    if (j->kind == PTXI_TMEM_JOB_COMMIT)
        ptxi_mbarrier_arrives(j->owner, j->mbarrier);
    else
        j->perform(j);
    j->next = lead->spare_tmem_jobs;
    lead->spare_tmem_jobs = j;
}

static void append(struct ptxi_cta *lead, struct ptxi_tmem_job *j)
{
    struct ptxi_tmem_job **end = &lead->tmem_jobs;
    unsigned n = 0;

    for (; *end; end = &(*end)->next)
        n++;
    *end = j;
    if (n >= MOST && lead->tmem_jobs->kind != PTXI_TMEM_JOB_COMMIT)
        perform(lead, &lead->tmem_jobs);
}

struct ptxi_tmem_job *ptxi_tmem_submit(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned thread, enum ptxi_tmem_job_kind kind)
{
    struct ptxi_cta *lead = w->cta->lead;
    struct ptxi_tmem_job *j = lead->spare_tmem_jobs;

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
    *j = (struct ptxi_tmem_job){ .warp = w, .insn = i, .thread = thread, .kind = kind, .stored = j->stored };
    append(lead, j);
    return j;
}

void ptxi_tmem_undo(struct ptxi_warp *w)
{
    struct ptxi_cta *lead = w->cta->lead;
    struct ptxi_tmem_job **at = &lead->tmem_jobs, *j;

    while ((*at)->next)
        at = &(*at)->next;
    j = *at;
    *at = NULL;
    j->next = lead->spare_tmem_jobs;
    lead->spare_tmem_jobs = j;
}

void ptxi_tmem_wait(struct ptxi_warp *w, enum ptxi_tmem_job_kind kind)
{
    struct ptxi_tmem_job **at = &w->cta->lead->tmem_jobs;

    while (*at)
        if ((*at)->kind == kind && (*at)->warp == w && w->active >> (*at)->thread & 1)
            perform(w->cta->lead, at);
        else
            at = &(*at)->next;
}

/* Whether a commit of its thread follows, or is it. */
static bool is_committed(const struct ptxi_tmem_job *j)
{
    for (const struct ptxi_tmem_job *k = j; k; k = k->next)
        if (k->kind == PTXI_TMEM_JOB_COMMIT && same_thread(j, k))
            return true;
    return false;
}

static bool flush(struct ptxi_cta *lead)
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

bool ptxi_tmem_any(struct ptxi_cta *lead, bool committed)
{
    struct ptxi_tmem_job **found = NULL;
    uint32_t n = 0;

    for (struct ptxi_tmem_job **at = &lead->tmem_jobs; *at; at = &(*at)->next) {
        const struct ptxi_tmem_job *before = lead->tmem_jobs;

        while (before != *at && !same_thread(before, *at))
            before = before->next;
        if (before == *at && (!committed || is_committed(*at)) && ptxi_one_in(&lead->dice, ++n))
            found = at;
    }
    if (found)
        perform(lead, found);
    return found;
}

bool ptxi_tmem_flush(struct ptxi_cta *lead)
{
    return lead->tmem_jobs && (lead->grid->schedule ? ptxi_tmem_any(lead, true) : flush(lead));
}

/* Nobody will see what they would do. */
void ptxi_tmem_drop(struct ptxi_cta *lead)
{
    while (lead->tmem_jobs) {
        struct ptxi_tmem_job *j = lead->tmem_jobs;

        lead->tmem_jobs = j->next;
        j->next = lead->spare_tmem_jobs;
        lead->spare_tmem_jobs = j;
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
    free(c->tmem);
}
