/* Streams under capture: their work becomes nodes of a graph (ptxiStreamBeginCapture). */
#ifndef PTXI_API_GRAPH_CAPTURE_H
#define PTXI_API_GRAPH_CAPTURE_H

#include "api/launch/launch.h"
#include "api/memory/graph_memory.h"
#include "api/stream/event.h"
#include "api/stream/stream.h"

/* These add a node. The stream is under capture (ptxi_capturing). They fail if another thread has ended the capture. */
ptxiResult ptxi_capture_launch(struct ptxiStream_st *s, const struct ptxi_launch_description *d);
ptxiResult ptxi_capture_copy(struct ptxiStream_st *s, const PTXI_MEMCPY3D *copy);
ptxiResult ptxi_capture_set(struct ptxiStream_st *s, const PTXI_MEMSET_NODE_PARAMS *set);
ptxiResult ptxi_capture_host(struct ptxiStream_st *s, ptxiHostFn fn, void *user);
ptxiResult ptxi_capture_allocate(struct ptxiStream_st *s, size_t bytes, ptxiDevicePtr *dptr);
ptxiResult ptxi_capture_free(struct ptxiStream_st *s, struct ptxi_graph_memory *m);
ptxiResult ptxi_capture_operations(struct ptxiStream_st *s, const ptxiStreamBatchMemOpParams *p, unsigned count);
ptxiResult ptxi_capture_event(struct ptxiStream_st *s, ptxiGraphNodeType type, ptxiEvent e);

/* A call that waits for a stream under capture, or asks whether it has ended, invalidates the capture. */
ptxiResult ptxi_capture_invalidate(struct ptxiStream_st *s);

/* Records an event in a capture: it gets the nodes that end before it, or that pass the port of a kernel node. */
ptxiResult ptxi_capture_record(struct ptxiStream_st *s, struct ptxi_captured *mark, unsigned char port);
void ptxi_captured_forget(struct ptxi_captured *mark);
bool ptxi_captured_live(ptxiContext ctx, const struct ptxi_captured *mark); /* its capture has not ended */

/* The stream waits for the mark, of a capture that has not ended, and takes part in that capture from now on. */
ptxiResult ptxi_capture_wait(struct ptxiStream_st *s, const struct ptxi_captured *mark);

void ptxi_capture_leave(struct ptxiStream_st *s); /* before the stream is destroyed */
void ptxi_captures_free_all(ptxiContext ctx);     /* before the streams */

#endif
