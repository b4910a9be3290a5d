#include "api/queue/queue_order.h"

#include <stdlib.h>

enum { KEPT = 64 };

/* A stream learns when it waits for another one. It keeps the latest clocks, because an event may be waited for long
 * after it was recorded. Older records count as later ones: races are missed rather than reported falsely. */
struct ptxi_stream_order {
    struct {
        uint64_t seq;              /* the first item that happens after these: */
        struct ptxi_vclock *known;
    } at[KEPT]; /* a ring */
    uint64_t count;
};

static bool is_on(void)
{
    return atomic_load_explicit(&ptxi_tasks_have_order, memory_order_relaxed);
}

struct ptxi_vclock *ptxi_stream_known(const struct ptxiStream_st *s)
{
    const struct ptxi_stream_order *o = s->order;

    return o && o->count ? ptxi_vclock_ref(o->at[(o->count - 1) % KEPT].known) : NULL;
}

void ptxi_stream_learn(struct ptxiStream_st *s, uint64_t seq, const struct ptxi_vclock *known)
{
    struct ptxi_stream_order *o = s->order;
    struct ptxi_vclock *before, *now;

    if (!is_on() || !known)
        return;
    if (!o && !(o = s->order = calloc(1, sizeof *o)))
        return;
    before = ptxi_stream_known(s);
    now = ptxi_vclock_ref(before);
    ptxi_vclock_join(&now, known);
    if (now != before) {
        bool same = o->count && o->at[(o->count - 1) % KEPT].seq == seq;
        uint64_t n = same ? o->count - 1 : o->count++;

        ptxi_vclock_set(&o->at[n % KEPT].known, now);
        o->at[n % KEPT].seq = seq;
    }
    ptxi_vclock_unref(now);
    ptxi_vclock_unref(before);
}

void ptxi_stream_tell(struct ptxiStream_st *s, uint64_t seq, struct ptxi_vclock **known)
{
    const struct ptxi_stream_order *o = s->order;
    struct ptxi_vclock_entry e = ptxi_task_entry(s->id, seq);

    if (!is_on())
        return;
    ptxi_vclock_add(known, &e, 1);
    if (!o || !o->count)
        return;
    uint64_t n = o->count - 1, oldest = o->count > KEPT ? o->count - KEPT : 0;

    while (n > oldest && o->at[n % KEPT].seq > seq)
        n--;
    if (oldest || o->at[n % KEPT].seq <= seq)
        ptxi_vclock_join(known, o->at[n % KEPT].known);
}

void ptxi_stream_tell_host(struct ptxiStream_st *s, uint64_t seq)
{
    struct ptxi_vclock *known = NULL;

    if (!is_on())
        return;
    ptxi_stream_tell(s, seq, &known);
    ptxi_host_learns(s->id, seq, known);
    ptxi_vclock_unref(known);
}

void ptxi_stream_forget_order(struct ptxiStream_st *s)
{
    struct ptxi_stream_order *o = s->order;

    for (unsigned k = 0; o && k < KEPT; k++)
        ptxi_vclock_unref(o->at[k].known);
    free(o);
    s->order = NULL;
}
