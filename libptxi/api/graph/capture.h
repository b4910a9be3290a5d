/* Streams that are being captured: their work becomes nodes of a graph. See ptxiStreamBeginCapture. */
#ifndef PTXI_API_GRAPH_CAPTURE_H
#define PTXI_API_GRAPH_CAPTURE_H

#include "api/launch/launch.h"

/* Whether work given to the stream is captured; then it is to be added by one of the calls below, which fail if another thread has ended the capture. */
static inline bool ptxi_capturing(const struct ptxiStream_st *s)
{
    return atomic_load_explicit(&s->capture, memory_order_relaxed) != NULL;
}

/* What waits for a stream under capture, or asks whether it has ended, ends the capture. */
ptxiResult ptxi_capture_spoil(struct ptxiStream_st *s);

ptxiResult ptxi_capture_kernel(struct ptxiStream_st *s, ptxiFunction f, const struct ptxi_launch_shape *shape, void **params, void **extra);
ptxiResult ptxi_capture_copy(struct ptxiStream_st *s, const PTXI_MEMCPY3D *copy);
ptxiResult ptxi_capture_set(struct ptxiStream_st *s, const PTXI_MEMSET_NODE_PARAMS *set);
ptxiResult ptxi_capture_host(struct ptxiStream_st *s, ptxiHostFn fn, void *user);
ptxiResult ptxi_capture_event(struct ptxiStream_st *s, ptxiGraphNodeType type, ptxiEvent e); /* recorded or waited for */

/* What an event stands for that was recorded in a capture: the nodes that end before it. */
struct ptxi_captured {
    _Atomic uint64_t capture; /* number; 0: none */
    ptxiGraphNode *nodes;
    size_t count;
};
ptxiResult ptxi_capture_record(struct ptxiStream_st *s, struct ptxi_captured *mark);
void ptxi_captured_forget(struct ptxi_captured *mark);
void ptxi_captured_free(struct ptxi_captured *mark); /* nobody else uses it any more */
bool ptxi_captured_live(ptxiContext ctx, const struct ptxi_captured *mark); /* its capture has not ended */

/* The stream waits for the mark, of a capture that has not ended; so it takes part in the capture from now on. */
ptxiResult ptxi_capture_wait(struct ptxiStream_st *s, const struct ptxi_captured *mark);

void ptxi_capture_leave(struct ptxiStream_st *s); /* it is destroyed */

#endif
