/* Which items of other streams happen before those of a stream (exec/check/task.h), for the sanitizers. All functions
 * are called under ptxi_queue_mutex, and do nothing unless ptxi_tasks_have_order is set. */
#ifndef PTXI_API_QUEUE_QUEUE_ORDER_H
#define PTXI_API_QUEUE_QUEUE_ORDER_H

#include "api/queue/queue.h"
#include "exec/check/task.h"

/* The items of the stream from number `seq` on happen after those of the clock. */
void ptxi_stream_learn(struct ptxiStream_st *s, uint64_t seq, const struct ptxi_vclock *known);

/* Adds the first `seq` items of the stream, and all that happens before them, to a clock. */
void ptxi_stream_tell(struct ptxiStream_st *s, uint64_t seq, struct ptxi_vclock **known);
/* The same for the program. */
void ptxi_stream_tell_host(struct ptxiStream_st *s, uint64_t seq);

/* What happens before an item of the stream that begins. A reference. */
struct ptxi_vclock *ptxi_stream_known(const struct ptxiStream_st *s);

void ptxi_stream_forget_order(struct ptxiStream_st *s);

#endif
