#include "exec/sched/deadlock.h"

#include <assert.h>
#include <stdio.h>

#include "exec/async/async.h"
#include "exec/async/mbarrier.h"
#include "exec/engine/divergence.h"

static void fail_at(struct ptxi_warp *w, enum ptxi_fault_kind kind, const char *detail)
{
    struct ptxi_split *s = &w->splits[0];

    assert(w->split_count);
    ptxi_settle_barrier_split(w);
    w->frame = s->frame;
    ptxi_fault(w, s->pc, kind, s->lanes, 0, 0, detail);
}

bool ptxi_check_limits(struct ptxi_warp *w)
{
    enum ptxi_fault_kind kind;

    if (ptxi_grid_failed(w->cta->grid))
        return false;
    kind = ptxi_grid_exceeded_limit(w->cta->grid);
    if (kind != PTXI_FK_NONE)
        fail_at(w, kind, NULL);
    return kind == PTXI_FK_NONE;
}

/* The lanes that are in the k32-th warp of 32. */
static unsigned lanes_of_warp32(ptxi_lanes lanes, unsigned k32)
{
    return (unsigned)((uint64_t)lanes >> 32 * k32 & 0xffffffff);
}

/* The condition that a split waits for. */
static void describe_wait(const struct ptxi_warp *w, const struct ptxi_split *s, unsigned k32, char *text, size_t size)
{
    switch (s->state) {
    case PTXI_SPLIT_BARRIER:
        snprintf(text, size, "barrier %u", s->barrier);
        break;
    case PTXI_SPLIT_SYNC:
    case PTXI_SPLIT_ALIGNED:
        snprintf(text, size, "lanes 0x%x", lanes_of_warp32(s->sync_mask, k32));
        break;
    case PTXI_SPLIT_MBARRIER:
        if (s->mbarrier)
            ptxi_mbarrier_describe(s->mbarrier, (unsigned)(s->mbarrier - w->shared), text, size);
        else
            snprintf(text, size, s->pc->op == PTXI_OP_tcgen05_alloc ? "tensor memory" : "the cluster barrier");
        break;
    case PTXI_SPLIT_WARPGROUP:
        snprintf(text, size, "its warpgroup");
        break;
    default:
        snprintf(text, size, "the scheduler");
    }
}

struct text {
    char *s;
    size_t size;   /* of the buffer */
    size_t length; /* may exceed the size: then the text is cut */
};

/* Appends the place at which those lanes of a split wait that are in one warp of 32. */
static void append_wait(struct text *t, const struct ptxi_cta *c, const struct ptxi_warp *w,
                        const struct ptxi_split *s, unsigned k32)
{
    const struct ptxi_code *code = s->frame->code;
    unsigned lanes = lanes_of_warp32(s->lanes, k32);
    char what[96], cta[48] = "";

    if (!lanes || t->length >= t->size)
        return;
    describe_wait(w, s, k32, what, sizeof what);
    if (c->lead->member_count > 1)
        snprintf(cta, sizeof cta, "CTA %u of the cluster, ", c->rank);
    t->length += (size_t)snprintf(t->s + t->length, t->size - t->length,
                                  "%s%swarp %u lanes 0x%x wait for %s at line %u",
                                  t->length ? "; " : "", cta, w->index * PTXI_WARP32S + k32, lanes, what,
                                  code->locs[s->pc - code->insns].line);
}

void ptxi_fail_deadlock(struct ptxi_cta *lead)
{
    char buffer[sizeof lead->grid->report.detail];
    struct text text = { buffer, sizeof buffer, 0 };
    struct ptxi_warp *first = NULL;

    for (uint32_t k = 0; k < lead->member_count * lead->warp_count; k++) {
        struct ptxi_cta *c = lead->members[k / lead->warp_count];
        struct ptxi_warp *w = &c->warps[k % lead->warp_count];

        ptxi_settle_barrier_split(w);
        if (w->state == PTXI_WARP_DONE)
            continue;
        for (uint32_t s = 0; s < w->split_count; s++)
            for (unsigned k32 = 0; k32 < PTXI_WARP32S; k32++)
                append_wait(&text, c, w, &w->splits[s], k32);
        if (w->split_count && !first)
            first = w;
    }
    assert(first);
    if (first)
        fail_at(first, PTXI_FK_DEADLOCK, buffer);
}
