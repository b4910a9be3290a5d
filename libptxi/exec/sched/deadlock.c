#include "exec/sched/deadlock.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

/* Lanes of a warp of 32 that wait. */
struct waiter {
    const struct ptxi_cta *cta;
    const struct ptxi_warp *warp;
    const struct ptxi_split *split;
    unsigned k32, lanes;
};

enum { MAX_WAITERS = 64 }; /* that take part in the search for a cycle */

struct waiters {
    struct waiter all[MAX_WAITERS];
    unsigned count;
};

static void append(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(struct text *t, const char *format, ...)
{
    va_list args;

    if (t->length >= t->size)
        return;
    va_start(args, format);
    t->length += (size_t)vsnprintf(t->s + t->length, t->size - t->length, format, args);
    va_end(args);
}

/* Lets a text that has been cut end with an ellipsis. */
static void mark_cut(struct text *t)
{
    static const char mark[] = " ...";

    if (t->length < t->size)
        return;
    t->length = t->size - 1;
    memcpy(t->s + t->length - (sizeof mark - 1), mark, sizeof mark);
}

static void append_name(struct text *t, const struct waiter *x)
{
    if (x->cta->lead->member_count > 1)
        append(t, "CTA %u of the cluster, ", x->cta->rank);
    append(t, "warp %u lanes 0x%x", x->warp->index * PTXI_WARP32S + x->k32, x->lanes);
}

/* Appends the place at which the lanes wait. */
static void append_wait(struct text *t, const struct waiter *x)
{
    const struct ptxi_code *code = x->split->frame->code;
    char what[96];

    describe_wait(x->warp, x->split, x->k32, what, sizeof what);
    append(t, "%s", t->length ? "; " : "");
    append_name(t, x);
    append(t, " wait for %s at line %u", what, code->locs[x->split->pc - code->insns].line);
}

/* --- the graph of waits --- */

/* Whether x waits for lanes of y, which wait, too. What mbarriers and the cluster barrier lack is not known: anyone who
 * waits for something else. */
static bool waits_for(const struct waiter *x, const struct waiter *y)
{
    const struct ptxi_split *a = x->split, *b = y->split;

    switch (a->state) {
    case PTXI_SPLIT_BARRIER:
        return x->cta == y->cta && !(b->state == PTXI_SPLIT_BARRIER && b->barrier == a->barrier);
    case PTXI_SPLIT_SYNC:
    case PTXI_SPLIT_ALIGNED:
        return x->warp == y->warp && x->k32 == y->k32 && y->lanes & lanes_of_warp32(a->sync_mask, x->k32) &&
               !(b->state == a->state && b->pc == a->pc);
    case PTXI_SPLIT_MBARRIER:
        return b->state != PTXI_SPLIT_MBARRIER || b->mbarrier != a->mbarrier;
    case PTXI_SPLIT_WARPGROUP:
        return x->cta == y->cta && b->state != PTXI_SPLIT_WARPGROUP;
    default:
        return false;
    }
}

static unsigned find_blocker(const struct waiters *w, unsigned of)
{
    for (unsigned k = 0; k < w->count; k++)
        if (k != of && waits_for(&w->all[of], &w->all[k]))
            return k;
    return w->count;
}

/* Describes a cycle, or why the first lanes wait if there is none. */
static void append_cycle(struct text *t, const struct waiters *w)
{
    bool seen[MAX_WAITERS] = { false };
    unsigned at = 0, start;

    while (at < w->count && !seen[at]) {
        seen[at] = true;
        at = find_blocker(w, at);
    }
    if (!w->count)
        return;
    if (at == w->count) {
        append(t, "; the others have exited or never arrive");
        return;
    }
    append(t, "; a cycle: ");
    append_name(t, &w->all[at]);
    start = at;
    do {
        at = find_blocker(w, at);
        append(t, at == start ? " wait for the first" : " wait for ");
        if (at != start)
            append_name(t, &w->all[at]);
        append(t, at == start ? "" : ", which");
    } while (at != start && t->length < t->size);
}

static void add_waiters(struct waiters *all, const struct ptxi_cta *c, const struct ptxi_warp *w, struct text *t)
{
    for (uint32_t s = 0; s < w->split_count; s++)
        for (unsigned k32 = 0; k32 < PTXI_WARP32S; k32++) {
            struct waiter x = { c, w, &w->splits[s], k32, lanes_of_warp32(w->splits[s].lanes, k32) };

            if (!x.lanes)
                continue;
            append_wait(t, &x);
            if (all->count < MAX_WAITERS)
                all->all[all->count++] = x;
        }
}

void ptxi_fail_deadlock(struct ptxi_cta *lead)
{
    enum { CYCLE = 160 }; /* bytes for the cycle, if the list of waiting threads is long */
    char buffer[sizeof lead->grid->report.detail];
    struct text text = { buffer, sizeof buffer - CYCLE, 0 };
    struct ptxi_warp *first = NULL;
    struct waiters all = { .count = 0 };

    for (uint32_t k = 0; k < lead->member_count * lead->warp_count; k++) {
        struct ptxi_cta *c = lead->members[k / lead->warp_count];
        struct ptxi_warp *w = &c->warps[k % lead->warp_count];

        ptxi_settle_barrier_split(w);
        if (w->state == PTXI_WARP_DONE)
            continue;
        add_waiters(&all, c, w, &text);
        if (w->split_count && !first)
            first = w;
    }
    assert(first);
    mark_cut(&text);
    text.size = sizeof buffer;
    append_cycle(&text, &all);
    mark_cut(&text);
    if (first)
        fail_at(first, PTXI_FK_DEADLOCK, buffer);
}
