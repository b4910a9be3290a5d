/* Streams as calls name them, and what can be queued in them without copies or kernels: host functions, marks. */
#ifndef PTXI_API_STREAM_STREAM_H
#define PTXI_API_STREAM_STREAM_H

#include "api/context/context.h"

/* Finds the stream of a handle, which the call then holds. It must belong to the context. */
ptxiResult ptxi_api_stream(ptxiContext ctx, ptxiStream handle, struct ptxiStream_st **stream);

/* The begin of most calls on streams. Finds the stream, which may belong to another context than the current one, and
 * its context. The call then holds both. */
ptxiResult ptxi_stream_enter(ptxiStream handle, ptxiContext *ctx, struct ptxiStream_st **stream);

/* True if work for the stream is to be captured (graph/capture.h). Another thread may end the capture at any time. */
static inline bool ptxi_capturing(const struct ptxiStream_st *s)
{
    return atomic_load_explicit(&s->capture, memory_order_relaxed) != NULL;
}

/* Waits for the stream's work, or tests whether it has ended, and takes its failure. The stream is not under capture.
 */
ptxiResult ptxi_stream_wait(ptxiContext ctx, struct ptxiStream_st *s);
ptxiResult ptxi_stream_query(ptxiContext ctx, struct ptxiStream_st *s); /* PTXI_ERROR_NOT_READY */

ptxiResult ptxi_stream_call_host(struct ptxiStream_st *s, ptxiHostFn fn, void *user);

#endif
