/* The lock and the helpers that stream_queue.c and queue_streams.c share. */
#ifndef PTXI_API_QUEUE_QUEUE_STREAMS_H
#define PTXI_API_QUEUE_QUEUE_STREAMS_H

#include "api/queue/queue.h"

#include <pthread.h>

extern pthread_mutex_t ptxi_queue_mutex; /* of all streams and items of the process */

void ptxi_stream_unref_locked(struct ptxiStream_st *s);

/* True if the stream is ordered with the legacy default stream. */
static inline bool ptxi_stream_is_blocking(const struct ptxiStream_st *s)
{
    return !(s->flags & PTXI_STREAM_NON_BLOCKING);
}

#endif
