/* Handlers of asynchronous operations and mbarriers, except cp.async (cp_async_ops.c). The functions that they call
 * are compiled only once, not for each CPU level. */
#include "exec/async/cp_async_bulk.h"
#include "exec/async/mbarrier.h"
#include "exec/async/tensormap_insn.h"
#include "exec/check/check.h"
#include "exec/engine/handler.h"

OP( mbarrier_init ) { return ptxi_mbarrier_init(w, i); }
OP( mbarrier_check_layout ) { return ptxi_mbarrier_check_layout(w, i); }
OP( mbarrier_inval ) { return ptxi_mbarrier_inval(w, i); }
OP( mbarrier_expect_tx ) { return ptxi_mbarrier_expect_tx(w, i); }
OP( mbarrier_complete_tx ) { return ptxi_mbarrier_complete_tx_by_thread(w, i); }
OP( mbarrier_arrive ) { return ptxi_mbarrier_arrive(w, i); }
OP( mbarrier_test ) { return ptxi_mbarrier_wait(w, i); }
OP( mbarrier_report )
{
    ptxi_set_pred(w, i->d, w->mbarrier_reported);
    NEXT;
}
OP( mbarrier_pending ) { return ptxi_mbarrier_pending_count(w, i); }
OP( cp_async_arrive ) { return ptxi_mbarrier_track_cp_async(w, i); }

OP( bulk_copy ) { return ptxi_cp_async_bulk(w, i); }
OP( async_store ) { return ptxi_st_async(w, i); }
OP( bulk_zero ) { return ptxi_st_bulk(w, i); }
OP( tensor_coords ) { return ptxi_tensor_coords(w, i); }
OP( tensor_copy ) { return ptxi_cp_async_tensor(w, i); }
OP( tensormap_replace ) { return ptxi_tensormap_replace(w, i); }
OP( tensormap_copy ) { return ptxi_tensormap_copy(w, i); }
OP( cluster_cancel ) { return ptxi_cluster_try_cancel(w, i); }

OP( bulk_commit )
{
    ptxi_bulk_commit(w);
    if (w->cta->check)
        ptxi_check_bulk_commits(w);
    NEXT;
}

/* A copy fails if the program has freed its memory, so the grid may have failed. */
OP( bulk_wait )
{
    ptxi_bulk_wait(w, (uint32_t)i->imm, i->mods & PTXI_WAIT_READ);
    if (w->cta->check)
        ptxi_check_bulk_waits(w, (uint32_t)i->imm, i->mods & PTXI_WAIT_READ);
    return ptxi_grid_failed(w->cta->grid) ? ptxi_leave_quantum(w, i + 1) : i + 1;
}
