/* The streams of a context: their lifetime, and the failures of their items. */
#include "api/queue/queue_streams.h"

#include "api/queue/queue_order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t ptxi_queue_mutex = PTHREAD_MUTEX_INITIALIZER;

static void store_orphan_failure(struct ptxiStream_st *s)
{
    struct ptxi_streams *g = s->group;

    if (!g || g->orphan) {
        ptxi_failure_unref(s->failure);
        return;
    }
    g->orphan = s->failed;
    g->orphan_order = s->failed_order;
    g->orphan_failure = s->failure;
}

static void unlink_stream(struct ptxiStream_st *s)
{
    if (!s->link)
        return;
    assert(*s->link == s);
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    s->link = NULL;
}

void ptxi_stream_unref_locked(struct ptxiStream_st *s)
{
    assert(s->refs);
    if (--s->refs)
        return;
    assert(!s->head && !s->running && !s->ready_link);
    unlink_stream(s);
    if (s->failed)
        store_orphan_failure(s);
    ptxi_stream_forget_order(s);
    free(s);
}

void ptxi_stream_unref(struct ptxiStream_st *s)
{
    pthread_mutex_lock(&ptxi_queue_mutex);
    ptxi_stream_unref_locked(s);
    pthread_mutex_unlock(&ptxi_queue_mutex);
}

void ptxi_stream_ref(struct ptxiStream_st *s)
{
    pthread_mutex_lock(&ptxi_queue_mutex);
    s->refs++;
    pthread_mutex_unlock(&ptxi_queue_mutex);
}

ptxiResult ptxi_stream_create(struct ptxi_streams *group, unsigned flags, int priority, struct ptxiStream_st **stream)
{
    static _Atomic uint64_t created;
    struct ptxiStream_st *s = calloc(1, sizeof *s);

    if (!s)
        return PTXI_ERROR_OUT_OF_MEMORY;
    s->id = atomic_fetch_add(&created, 1) + 1;
    s->owned = true;
    s->flags = flags;
    s->priority = priority;
    s->group = group;
    s->ctx = group->ctx;
    s->refs = 1;
    s->tail = &s->head;
    pthread_mutex_lock(&ptxi_queue_mutex);
    s->next = group->all;
    s->link = &group->all;
    if (s->next)
        s->next->link = &s->next;
    group->all = s;
    pthread_mutex_unlock(&ptxi_queue_mutex);
    *stream = s;
    return PTXI_SUCCESS;
}

static void disown_locked(struct ptxiStream_st *s)
{
    assert(s->owned);
    s->owned = false;
    ptxi_stream_unref_locked(s);
}

void ptxi_stream_disown(struct ptxiStream_st *s)
{
    pthread_mutex_lock(&ptxi_queue_mutex);
    disown_locked(s);
    pthread_mutex_unlock(&ptxi_queue_mutex);
}

static void destroy_stream(void *stream)
{
    ptxi_stream_disown(stream);
}

ptxiResult ptxi_stream_create_handle(struct ptxi_streams *group, unsigned flags, int priority, ptxiStream *stream)
{
    struct ptxiStream_st *s;
    ptxiResult r = ptxi_stream_create(group, flags, priority, &s);

    if (r)
        return r;
    if (!ptxi_handle_add(&s->handle, PTXI_HANDLE_STREAM, group->gate, destroy_stream)) {
        ptxi_stream_disown(s);
        return PTXI_ERROR_OUT_OF_MEMORY;
    }
    *stream = s;
    return PTXI_SUCCESS;
}

ptxiResult ptxi_stream_per_thread(struct ptxi_streams *group, uint64_t thread, struct ptxiStream_st **stream)
{
    struct ptxiStream_st *s;
    ptxiResult r = PTXI_SUCCESS;

    pthread_mutex_lock(&ptxi_queue_mutex);
    for (s = group->all; s && s->thread != thread; s = s->next)
        ;
    pthread_mutex_unlock(&ptxi_queue_mutex);
    if (!s) {
        r = ptxi_stream_create(group, PTXI_STREAM_DEFAULT, 0, &s);
        if (!r) {
            pthread_mutex_lock(&ptxi_queue_mutex);
            s->thread = thread;
            pthread_mutex_unlock(&ptxi_queue_mutex);
        }
    }
    *stream = s;
    return r;
}

void ptxi_streams_thread_ends(struct ptxi_streams *group, uint64_t thread)
{
    struct ptxiStream_st *s;

    pthread_mutex_lock(&ptxi_queue_mutex);
    for (s = group->all; s && s->thread != thread; s = s->next)
        ;
    if (s) {
        s->thread = 0;
        disown_locked(s);
    }
    pthread_mutex_unlock(&ptxi_queue_mutex);
}

ptxiResult ptxi_streams_init(struct ptxi_streams *group, ptxiContext ctx, struct ptxi_gate *gate)
{
    memset(group, 0, sizeof *group);
    group->ctx = ctx;
    group->gate = gate;
    return ptxi_stream_create(group, PTXI_STREAM_DEFAULT, 0, &group->legacy);
}

void ptxi_streams_free(struct ptxi_streams *group)
{
    pthread_mutex_lock(&ptxi_queue_mutex);
    while (group->all) {
        struct ptxiStream_st *s = group->all;

        unlink_stream(s);
        s->group = NULL;
        ptxi_handle_remove(&s->handle);
        /* A destroyed stream is still listed while there are references. The last of them frees it. */
        if (s->owned)
            disown_locked(s);
    }
    group->legacy = NULL;
    ptxi_failure_unref(group->orphan_failure);
    group->orphan = PTXI_SUCCESS;
    group->orphan_failure = NULL;
    pthread_mutex_unlock(&ptxi_queue_mutex);
}

/* ---- failures */

static ptxiResult take_failure_locked(struct ptxiStream_st *s, struct ptxi_failure **failure)
{
    ptxiResult r = s->failed;

    *failure = s->failure;
    s->failed = PTXI_SUCCESS;
    s->failure = NULL;
    s->drop_until = s->submitted; /* the items that were queued before the failure was taken are dropped */
    return r;
}

ptxiResult ptxi_queue_take(struct ptxiStream_st *s, uint64_t seq, struct ptxi_failure **failure)
{
    ptxiResult r = PTXI_SUCCESS;
    struct ptxiStream_st *first = NULL;

    *failure = NULL;
    pthread_mutex_lock(&ptxi_queue_mutex);
    if (s->failed && s->failed_seq <= seq)
        first = s;
    if (s->group && s == s->group->legacy)
        for (struct ptxiStream_st *o = s->group->all; o; o = o->next)
            if (ptxi_stream_is_blocking(o) && o->failed && (!first || o->failed_order < first->failed_order))
                first = o;
    if (first)
        r = take_failure_locked(first, failure);
    pthread_mutex_unlock(&ptxi_queue_mutex);
    return r;
}

ptxiResult ptxi_queue_take_any(struct ptxi_streams *group, struct ptxi_failure **failure)
{
    struct ptxiStream_st *first = NULL;
    ptxiResult r = PTXI_SUCCESS;

    *failure = NULL;
    pthread_mutex_lock(&ptxi_queue_mutex);
    for (struct ptxiStream_st *s = group->all; s; s = s->next)
        if (s->failed && (!first || s->failed_order < first->failed_order))
            first = s;
    if (group->orphan && (!first || group->orphan_order < first->failed_order)) {
        r = group->orphan;
        *failure = group->orphan_failure;
        group->orphan = PTXI_SUCCESS;
        group->orphan_failure = NULL;
    } else if (first) {
        r = take_failure_locked(first, failure);
    }
    pthread_mutex_unlock(&ptxi_queue_mutex);
    return r;
}
