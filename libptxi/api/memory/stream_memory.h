/* Streams that wait for words in memory, or write them. */
#ifndef PTXI_API_MEMORY_STREAM_MEMORY_H
#define PTXI_API_MEMORY_STREAM_MEMORY_H

#include "api/stream/stream.h"

enum { PTXI_MAX_MEMORY_OPERATIONS = 255 };

/* Checks operations and their memory. */
ptxiResult ptxi_stream_memory_check(const ptxiStreamBatchMemOpParams *p, unsigned count);

/* Queues operations that have been checked. The stream is not under capture. */
ptxiResult ptxi_stream_memory_submit(struct ptxiStream_st *s, const ptxiStreamBatchMemOpParams *p, unsigned count);

#endif
