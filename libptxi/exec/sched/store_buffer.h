/* Store buffering in random schedules: a load may be executed before the store that precedes it, as in a processor
 * with a store buffer. PTX ISA, "Memory Consistency Model": between a store of a thread and its later load from
 * another address, only fence.sc or stronger synchronization keeps the order. */
#ifndef PTXI_EXEC_SCHED_STORE_BUFFER_H
#define PTXI_EXEC_SCHED_STORE_BUFFER_H

#include "exec/engine/warp.h"

/* Whether instruction `store` is a store and the instruction after it a load that may be executed first. */
bool ptxi_store_buffer_may_delay(const struct ptxi_warp *w, const struct ptxi_insn *store);

#endif
