/* Copies and fills. Each is a work item that moves rows of bytes. A plain copy is one row. */
#ifndef PTXI_API_COPY_COPY_H
#define PTXI_API_COPY_COPY_H

#include "api/memory/strided_copy.h"
#include "api/stream/stream.h"

/* The kind of memory that a call expects at an address. */
enum ptxi_copy_side { PTXI_COPY_DEVICE, PTXI_COPY_HOST, PTXI_COPY_EITHER, PTXI_COPY_ARRAY };

/* Where a copy is ordered, and whether the call may return before it has ended. */
struct ptxi_copy_submission {
    ptxiContext ctx;
    struct ptxiStream_st *stream;
    bool async;
};

/* Checks the addresses and queues a copy of rows. No size is 0. */
ptxiResult ptxi_copy_rows(const struct ptxi_copy_submission *p, struct ptxi_rows *rows, enum ptxi_copy_side dst,
                          enum ptxi_copy_side src);

/* Reads the description of a box. The caller ensures that its sizes are not 0. The call holds its arrays. */
ptxiResult ptxi_copy_resolve_box(const PTXI_MEMCPY3D *d, struct ptxi_rows *rows, enum ptxi_copy_side *dst,
                                 enum ptxi_copy_side *src);

/* Reads the description of a fill. The caller ensures that the sizes are not 0. */
ptxiResult ptxi_copy_resolve_fill(const PTXI_MEMSET_NODE_PARAMS *d, struct ptxi_rows *rows);

/* True if its memory exists and the device may fill it. */
bool ptxi_copy_may_fill(const struct ptxi_rows *rows, ptxiDevice dev);

/* Queues rows that are checked. */
ptxiResult ptxi_copy_fill(const struct ptxi_copy_submission *p, const struct ptxi_rows *rows);

#endif
