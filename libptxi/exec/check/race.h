/* Data races: compares the accesses of a warp's instruction with earlier ones in shadow memory. */
#ifndef PTXI_EXEC_CHECK_RACE_H
#define PTXI_EXEC_CHECK_RACE_H

#include "exec/engine/warp.h"

/* The instruction after `i`, a check_access, accesses memory. addresses[l] is the address of lane l, global or shared
 * (the offset in the window of shared memory), as the bits of `shared` say. */
void ptxi_race_check(struct ptxi_warp *w, const struct ptxi_insn *i, const uint64_t *addresses, ptxi_lanes shared,
                     ptxi_lanes lanes);
/* It was a strong access that reads. */
void ptxi_race_acquire(struct ptxi_warp *w, const struct ptxi_insn *i, ptxi_lanes lanes);

/* An access of a thread by an instruction that is no load or store: a matrix instruction, or a copy. */
enum { PTXI_TOUCH_WRITE = 1, PTXI_TOUCH_SHARED = 2 /* an address in its window */,
       PTXI_TOUCH_ASYNC = 4 /* a write that ends later (ptxi_check_async_waits()) */ };
void ptxi_race_touch(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane, uint64_t address, uint32_t size,
                     unsigned how);

#endif
