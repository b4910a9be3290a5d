/* What queue.c and queue_streams.c share. */
#ifndef PTXI_API_STREAM_QUEUE_STREAMS_H
#define PTXI_API_STREAM_QUEUE_STREAMS_H

#include "api/stream/stream_queue.h"

#include <pthread.h>

extern pthread_mutex_t ptxi_queue_mutex; /* of all streams and items of the process */

void ptxi_queue_init(void);
void ptxi_stream_unref_locked(struct ptxiStream_st *s);

/* So many items of the stream have ended. */
static inline uint64_t completed(const struct ptxiStream_st *s)
{
    return atomic_load_explicit(&s->completed, memory_order_acquire);
}

/* Ordered with the legacy default stream. */
static inline bool is_blocking(const struct ptxiStream_st *s)
{
    return !(s->flags & PTXI_STREAM_NON_BLOCKING);
}

#endif
