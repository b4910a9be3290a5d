/* Streams as queues of work items, and the threads that run them.
 *
 * An item is runnable when it is the first of its stream and its dependencies have ended. A dependency is always
 * "stream S has ended its first n items". This expresses events, waits for events and the order of the legacy default
 * stream. A runner thread or a host thread that waits for the item runs it. The latter makes a launch that is followed
 * by a wait as fast as a function call. The process has one set of runner threads, which are created on demand.
 *
 * When an item fails, the following items of its stream are dropped until a waiting call takes the failure. */
#ifndef PTXI_API_QUEUE_QUEUE_H
#define PTXI_API_QUEUE_QUEUE_H

#include "ptxi.h"

#include "api/error/failure.h"
#include "api/handle/handle.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ptxi_item;
struct ptxi_unordered;

enum { PTXI_LEAST_PRIORITY = 0, PTXI_GREATEST_PRIORITY = -5, PTXI_STREAM_ATTRIBUTES = 5 };

struct ptxiStream_st {
    struct ptxi_handle handle;        /* unused in default streams */
    uint64_t id;                      /* 1, 2, ...; never reused */
    unsigned flags;
    int priority;
    ptxiLaunchAttributeValue attributes[PTXI_STREAM_ATTRIBUTES]; /* without effect; under the context's lock */
    unsigned attributes_set;          /* bits: which have been set */
    void *_Atomic capture;            /* struct ptxi_capture_part while the stream is under capture, or NULL */
    uint64_t thread;                  /* id of the thread, if it is the default stream of a thread, or 0 */
    struct ptxi_streams *group;
    ptxiContext ctx;
    struct ptxiStream_st *next, **link; /* the group's list */

    /* The members below are under the queue's lock. */
    unsigned refs;                    /* from the owner, from pending items as a whole, from dependencies and events */
    bool owned;                       /* the program or the context has a reference */
    struct ptxi_item *head, **tail;
    /* A stream with items is either running, or ready, or waiting for another stream. */
    bool running;
    struct ptxiStream_st *ready_next, **ready_link;
    struct ptxiStream_st *waiting;    /* heap of the streams that wait for this one */
    struct ptxiStream_st *waits[2];   /* children in such a heap */
    uint64_t submitted, legacy_seen;
    /* The latest wait that needs this stream, and the number of items that it needs. */
    uint64_t wanted_by, wanted;
    ptxiResult failed;                /* result of an item that no call has taken yet */
    uint64_t failed_seq, failed_order, drop_until;
    struct ptxi_failure *failure;
    struct ptxi_stream_order *order;  /* queue_order.c; NULL: its items have waited for no others */

    _Atomic uint64_t completed;
};

/* The streams of a context. */
struct ptxi_streams {
    ptxiContext ctx;
    struct ptxi_gate *gate;       /* of the context */
    struct ptxiStream_st *all;    /* list */
    struct ptxiStream_st *legacy; /* the default stream */
    ptxiResult orphan;            /* failure of a destroyed stream */
    uint64_t orphan_order;
    struct ptxi_failure *orphan_failure;
};

/* Runs an item, without any lock. On failure it may set *failure to the record. */
typedef ptxiResult ptxi_item_run(void *payload, struct ptxi_failure **failure);
typedef void ptxi_item_release(void *payload);

void ptxi_queue_init(void); /* once, before the first stream */

ptxiResult ptxi_streams_init(struct ptxi_streams *group, ptxiContext ctx, struct ptxi_gate *gate);
void ptxi_streams_free(struct ptxi_streams *group); /* all work has ended */

/* Creates a stream, without or with a handle. */
ptxiResult ptxi_stream_create(struct ptxi_streams *group, unsigned flags, int priority, struct ptxiStream_st **stream);
ptxiResult ptxi_stream_create_handle(struct ptxi_streams *group, unsigned flags, int priority, ptxiStream *stream);
void ptxi_stream_ref(struct ptxiStream_st *s);
void ptxi_stream_unref(struct ptxiStream_st *s);
/* Drops the owner's reference. The stream lives until its work has ended. */
void ptxi_stream_disown(struct ptxiStream_st *s);

/* Finds the stream of PTXI_STREAM_PER_THREAD for the thread. The first use creates it. */
ptxiResult ptxi_stream_per_thread(struct ptxi_streams *group, uint64_t thread, struct ptxiStream_st **stream);
void ptxi_streams_thread_ends(struct ptxi_streams *group, uint64_t thread);

/* Creates an item with a payload of `size` bytes. `release` is called once, after the run or instead of it. NULL: no
 * memory. */
struct ptxi_item *ptxi_item_create(size_t size, ptxi_item_run *run, ptxi_item_release *release);
void *ptxi_item_payload(struct ptxi_item *it);
/* For the checks, items that the thread submits until the next call are not ordered after these items of the stream.
 * NULL: they are ordered after all earlier ones. */
void ptxi_queue_set_unordered(const struct ptxi_unordered *unordered);
void ptxi_item_discard(struct ptxi_item *it); /* frees an item that was not submitted */

enum ptxi_submit {
    PTXI_SUBMIT_ASYNC, /* a runner takes the item unless a thread waits for it first */
    PTXI_SUBMIT_WAIT,  /* the caller waits for the item at once, so no runner is woken */
};

/* Appends the item. *seq becomes its number in the stream, unless seq is NULL. On failure the item is discarded. */
ptxiResult ptxi_queue_submit(struct ptxiStream_st *s, struct ptxi_item *it, enum ptxi_submit how, uint64_t *seq);

/* The same for an item that depends on the first `seq` items of `on`. */
ptxiResult ptxi_queue_submit_after(struct ptxiStream_st *s, struct ptxi_item *it, struct ptxiStream_st *on,
                                   uint64_t seq);

/* Returns true and sets *seq if a mark needs no item, because everything that must run before it has ended. */
bool ptxi_queue_mark(struct ptxiStream_st *s, uint64_t *seq);

/* Number of items of the stream that have ended. */
static inline uint64_t ptxi_stream_completed(const struct ptxiStream_st *s)
{
    return atomic_load_explicit(&s->completed, memory_order_acquire);
}

/* Whether they have ended. The program knows it if the answer is true. */
bool ptxi_queue_done(struct ptxiStream_st *s, uint64_t seq);
void ptxi_queue_wait(struct ptxiStream_st *s, uint64_t seq);          /* runs items while it waits */
uint64_t ptxi_queue_submitted(struct ptxiStream_st *s);
/* Whether an item must be submitted to another stream for it to happen after the first `seq` items of this one. */
bool ptxi_queue_needs_order(const struct ptxiStream_st *s, uint64_t seq);
/* The stream of the item that the thread runs, or NULL. */
struct ptxiStream_st *ptxi_queue_current(void);
/* For the order that sanitizers know: what happens before the item that the thread runs is known to the program. */
void ptxi_queue_tell_host(void);
/* The item, or, outside of items, the program, may know all items that have begun, because it has communicated in a way
 * that is not visible. */
void ptxi_queue_learn_all(struct ptxi_streams *group);
ptxiResult ptxi_queue_wait_all(struct ptxi_streams *group);           /* PTXI_SUCCESS or OUT_OF_MEMORY */

/* Takes the failure of the first `seq` items of the stream. For the legacy stream it may also be one of a blocking
 * stream. */
ptxiResult ptxi_queue_take(struct ptxiStream_st *s, uint64_t seq, struct ptxi_failure **failure);
ptxiResult ptxi_queue_take_any(struct ptxi_streams *group, struct ptxi_failure **failure); /* takes the earliest */

#endif
