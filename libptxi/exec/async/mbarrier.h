/* The mbarrier instructions, for handlers and the scheduler. */
#ifndef PTXI_EXEC_ASYNC_MBARRIER_H
#define PTXI_EXEC_ASYNC_MBARRIER_H

#include "exec/engine/engine.h"

/* Each returns what the handler must return. */
const struct ptxi_insn *ptxi_mbarrier_init(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_mbarrier_check_layout(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_mbarrier_inval(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_mbarrier_expect_tx(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_mbarrier_complete_tx_by_thread(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_mbarrier_arrive(struct ptxi_warp *w, const struct ptxi_insn *i);
/* test_wait, try_wait */
const struct ptxi_insn *ptxi_mbarrier_wait(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_mbarrier_pending_count(struct ptxi_warp *w, const struct ptxi_insn *i);
/* cp.async.mbarrier.arrive */
const struct ptxi_insn *ptxi_mbarrier_track_cp_async(struct ptxi_warp *w, const struct ptxi_insn *i);

/* Makes the waits of the cluster's threads return false, as if their time had run out, except waits in loops that do
 * nothing but wait (PTXI_MBARRIER_ONLY_WAITS). False: there were no other waits. */
bool ptxi_mbarrier_expire_waits(struct ptxi_cta *lead);

#endif
