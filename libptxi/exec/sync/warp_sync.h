/* .sync instructions whose lanes arrive at different times or at different places of a program. PTX ISA, "shfl.sync",
 * "vote.sync", "match.sync", "redux.sync", "elect.sync", "bar.warp.sync". */
#ifndef PTXI_EXEC_SYNC_WARP_SYNC_H
#define PTXI_EXEC_SYNC_WARP_SYNC_H

#include "exec/engine/warp.h"

/* For handlers. The running split waits at pc until all lanes in `mask` have arrived. Returns what the handler must
 * return. */
const struct ptxi_insn *ptxi_warp_sync_wait(struct ptxi_warp *w, const struct ptxi_insn *pc, ptxi_lanes mask);

/* Executes the .sync instruction at which a split waits, for all waiting lanes whose required lanes have arrived or
 * exited. False: there are no such lanes. */
bool ptxi_warp_sync_try_complete(struct ptxi_warp *w, const struct ptxi_split *waiting);

#endif
