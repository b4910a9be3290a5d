/* Events: marks in streams. */
#ifndef PTXI_API_STREAM_EVENT_H
#define PTXI_API_STREAM_EVENT_H

#include "api/stream/stream.h"

/* The position in a capture where an event was recorded: the nodes that end before it. */
struct ptxi_captured {
    _Atomic uint64_t capture; /* number; 0: none */
    struct ptxi_captured_nodes {
        ptxiGraphNode *nodes;
        ptxiGraphEdgeData *edges; /* the data of the edges to nodes that follow them */
        size_t count;
    } after;
};
void ptxi_captured_nodes_free(struct ptxi_captured_nodes *n); /* n is empty then */
void ptxi_captured_free(struct ptxi_captured *mark); /* no other thread uses it */

struct ptxiEvent_st {
    struct ptxi_handle handle;         /* referenced by marks that are not reached yet and by nodes of graphs */
    unsigned flags;
    ptxiContext ctx;
    struct ptxiEvent_st *next, **link; /* the context's list; under its lock */

    pthread_mutex_t lock;          /* protects the members below, except `captured` */
    struct ptxiStream_st *stream;  /* a reference; NULL: never recorded */
    uint64_t seq;                  /* the latest mark is reached when the stream has ended this many items */
    uint64_t record;               /* number of that record */
    uint64_t time;                 /* ns, once reached */
    uint64_t shared_record;        /* number of that record in the state below */
    struct ptxi_captured captured; /* set if the latest record was captured; under the lock of graphs */
    struct ptxi_shared_event *shared; /* of an event that processes share; otherwise NULL; set once */
};

void ptxi_event_ref(ptxiEvent e); /* keeps its memory, even after it has been destroyed */
void ptxi_event_unref(ptxiEvent e);
void ptxi_events_destroy_all(ptxiContext ctx);

/* Whether a launch attribute may record the event. Results are the driver's: it must not measure time. */
ptxiResult ptxi_event_check_launch_attribute(ptxiEvent e, int flags);

/* These act on streams that are not under capture, except that a stream under capture may not wait for an event of
 * another stream. */
ptxiResult ptxi_event_record(ptxiEvent e, struct ptxiStream_st *s);
ptxiResult ptxi_event_wait(ptxiEvent e);                               /* by the calling thread */
ptxiResult ptxi_event_query(ptxiEvent e);                              /* PTXI_ERROR_NOT_READY */
ptxiResult ptxi_stream_wait_event(struct ptxiStream_st *s, ptxiEvent e); /* by the stream */

#endif
