/* Work for streams. If a stream is under capture its work becomes a node of a graph, otherwise it is queued. The entry
 * points in this directory and launches of graphs call these functions. All check the current context and hold what
 * they use until the call returns. */
#ifndef PTXI_API_SUBMIT_SUBMIT_H
#define PTXI_API_SUBMIT_SUBMIT_H

#include "api/launch/launch.h"
#include "api/stream/event.h"
#include "api/stream/stream.h"

ptxiResult ptxi_submit_launch(ptxiStream stream, struct ptxi_launch_description *d);
/* Records the events of a launch's attributes after it. */
ptxiResult ptxi_submit_launch_events(const ptxiLaunchConfig *c);
ptxiResult ptxi_submit_box(bool async, const PTXI_MEMCPY3D *d, ptxiStream stream);
ptxiResult ptxi_submit_fill(bool async, ptxiStream stream, const PTXI_MEMSET_NODE_PARAMS *d);
ptxiResult ptxi_submit_host(struct ptxiStream_st *s, ptxiHostFn fn, void *user);
ptxiResult ptxi_submit_free(struct ptxiStream_st *s, ptxiDevicePtr dptr);
ptxiResult ptxi_submit_operations(ptxiStream stream, const ptxiStreamBatchMemOpParams *p, unsigned count);

/* Records an event. A capture notes that it may be recorded when the last kernel has passed the port
 * (PTXI_GRAPH_KERNEL_NODE_PORT_...). */
ptxiResult ptxi_submit_record(ptxiEvent e, struct ptxiStream_st *s, unsigned char port);
ptxiResult ptxi_submit_wait_event(struct ptxiStream_st *s, ptxiEvent e);

/* Waits for the stream's work. A stream under capture has none: this invalidates the capture. */
ptxiResult ptxi_submit_synchronize(ptxiStream handle);

#endif
