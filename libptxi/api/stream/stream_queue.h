/* Streams as queues of work items, and the threads that run them.
 *
 * An item runs when it is the first of its stream and what it depends on has ended. A dependency is always "stream S has
 * ended its first n items": that expresses events, waits for events and the order of the legacy default stream alike.
 * Whoever finds a runnable item runs it: a runner thread, or a host thread that waits for it, which makes a launch
 * followed by a wait as fast as a call. There is one set of runner threads in the process, made when first needed.
 *
 * When an item fails, the items behind it in its stream are dropped until a waiting call takes the failure. */
#ifndef PTXI_API_STREAM_STREAM_QUEUE_H
#define PTXI_API_STREAM_STREAM_QUEUE_H

#include "ptxi.h"

#include "api/context/failure.h"
#include "api/context/handle.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ptxi_item;

enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 };

struct ptxiStream_st {
    struct ptxi_handle handle;        /* not that of the default streams */
    unsigned flags;
    int priority;
    void *_Atomic capture;            /* struct ptxi_capture_part: work becomes nodes of a graph; or NULL */
    uint64_t thread;                  /* of a per-thread default stream: its thread's id; else 0 */
    struct ptxi_streams *group;
    ptxiContext ctx;
    struct ptxiStream_st *next, **link; /* the group's list */

    /* under the queue's lock */
    unsigned refs;                    /* its owner's, pending items, dependencies, events */
    bool owned;                       /* by the program or the context */
    struct ptxi_item *head, **tail;
    /* With items a stream is running, or among those that can run, or waits for another one. */
    bool running;
    struct ptxiStream_st *ready_next, **ready_link;
    struct ptxiStream_st *waiting, *waits[2]; /* those that wait for this one; of such a one: two others that do not wait for less */
    uint64_t submitted, legacy_seen;
    uint64_t wanted_by, wanted;       /* the latest wait that needs this stream, and how many of its items */
    ptxiResult failed;                /* of an item, not yet taken */
    uint64_t failed_seq, failed_order, drop_until;
    struct ptxi_failure *failure;

    _Atomic uint64_t completed;
};

/* The streams of a context. */
struct ptxi_streams {
    ptxiContext ctx;
    struct ptxiStream_st *all;    /* list */
    struct ptxiStream_st *legacy; /* the default stream */
    ptxiResult orphan;            /* failure of a stream that was destroyed */
    uint64_t orphan_order;
    struct ptxi_failure *orphan_failure;
};

/* Runs without any lock. On failure *failure may be set to its record. */
typedef ptxiResult ptxi_item_run(void *payload, struct ptxi_failure **failure);
typedef void ptxi_item_release(void *payload);

ptxiResult ptxi_streams_init(struct ptxi_streams *group, ptxiContext ctx);
void ptxi_streams_free(struct ptxi_streams *group); /* no work may be left */

/* A stream without a handle, or with one. */
ptxiResult ptxi_stream_create(struct ptxi_streams *group, unsigned flags, int priority, struct ptxiStream_st **stream);
ptxiResult ptxi_stream_create_handle(struct ptxi_streams *group, unsigned flags, int priority, ptxiStream *stream);
void ptxi_stream_ref(struct ptxiStream_st *s);
void ptxi_stream_unref(struct ptxiStream_st *s);

/* The stream of PTXI_STREAM_PER_THREAD for the thread; made on first use. */
ptxiResult ptxi_stream_per_thread(struct ptxi_streams *group, uint64_t thread, struct ptxiStream_st **stream);
void ptxi_streams_thread_ends(struct ptxi_streams *group, uint64_t thread);

/* An item whose payload has `size` bytes. release is called once, after the run or instead of it. NULL: no memory. */
struct ptxi_item *ptxi_item_create(size_t size, ptxi_item_run *run, ptxi_item_release *release);
void *ptxi_item_payload(struct ptxi_item *it);
void ptxi_item_discard(struct ptxi_item *it); /* one that was not submitted */

enum ptxi_submit {
    PTXI_SUBMIT_ASYNC, /* a runner takes it unless a waiting thread comes first */
    PTXI_SUBMIT_WAIT,  /* the caller waits for it at once: no runner is woken */
};

/* Append the item; *seq (may be NULL) is its number in the stream. On failure it is discarded. */
ptxiResult ptxi_queue_submit(struct ptxiStream_st *s, struct ptxi_item *it, enum ptxi_submit how, uint64_t *seq);

/* The same for an item that starts only when the first `seq` items of `on` have ended. */
ptxiResult ptxi_queue_submit_after(struct ptxiStream_st *s, struct ptxi_item *it, struct ptxiStream_st *on, uint64_t seq);

/* True with *seq set if nothing that would have to run first is pending: a mark made now needs no item. */
bool ptxi_queue_mark(struct ptxiStream_st *s, uint64_t *seq);

bool ptxi_queue_done(const struct ptxiStream_st *s, uint64_t seq);
void ptxi_queue_wait(struct ptxiStream_st *s, uint64_t seq);          /* helps */
uint64_t ptxi_queue_submitted(struct ptxiStream_st *s);
ptxiResult ptxi_queue_wait_all(struct ptxi_streams *group);           /* PTXI_SUCCESS or OUT_OF_MEMORY */

/* Take the failure of work up to item `seq` of the stream; of the legacy stream, also that of blocking streams. */
ptxiResult ptxi_queue_take(struct ptxiStream_st *s, uint64_t seq, struct ptxi_failure **failure);
ptxiResult ptxi_queue_take_any(struct ptxi_streams *group, struct ptxi_failure **failure); /* the earliest */

/* Whether the calling thread is in a host function, and mark a stretch as one. */
bool ptxi_queue_in_callback(void);
void ptxi_queue_set_callback(bool in);

#endif
