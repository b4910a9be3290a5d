/* Instructions that submit bulk operations, and st.bulk. PTX ISA, "Data Movement and Conversion Instructions:
 * cp.async.bulk", "cp.reduce.async.bulk", "cp.async.bulk.tensor", "st.async", "st.bulk"; "Parallel Synchronization
 * and Communication Instructions: red.async", "clusterlaunchcontrol.try_cancel". */
#ifndef PTXI_EXEC_ASYNC_CP_ASYNC_BULK_H
#define PTXI_EXEC_ASYNC_CP_ASYNC_BULK_H

#include "exec/async/bulk_queue.h"
#include "exec/memory/access.h"

/* Each returns what the handler must return. */
const struct ptxi_insn *ptxi_cp_async_bulk(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_st_async(struct ptxi_warp *w, const struct ptxi_insn *i); /* and red.async */
const struct ptxi_insn *ptxi_st_bulk(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_cluster_try_cancel(struct ptxi_warp *w, const struct ptxi_insn *i);
/* cp_async_tensor.c */
const struct ptxi_insn *ptxi_tensor_coords(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_cp_async_tensor(struct ptxi_warp *w, const struct ptxi_insn *i);

/* --- shared by these --- */

static inline const struct ptxi_insn *ptxi_bulk_misuse(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane,
                                                       const char *detail)
{
    return ptxi_fault(w, i, PTXI_FK_MISUSE, (ptxi_lanes)1 << lane, 0, 0, detail);
}

/* The memory at a generic address; NULL: a fault. It is usually the CTA's own shared memory, or the allocation that
 * the instruction accessed last, so these two are tried first. */
static inline unsigned char *ptxi_bulk_find_memory(struct ptxi_warp *w, const struct ptxi_insn *i, unsigned lane,
                                                   uint64_t address, uint32_t size, uint32_t align,
                                                   enum ptxi_access access)
{
    unsigned char *own = ptxi_access_own_shared(w, address - PTXI_SHARED_WINDOW, size, align);

    if (own)
        return own;
    if (!(address & (align - 1)) &&
        ptxi_access_is_cached(w, ptxi_access_hit(w, i), address, size, access != PTXI_AK_LOAD))
        return (unsigned char *)(uintptr_t)address;
    return ptxi_access_at(w, i, lane, PTXI_MS_GENERIC, address, size, align, access);
}

/* Sets the mbarrier or the bulk async-group that the job belongs to. False: a fault. */
bool ptxi_bulk_set_completion(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_bulk_job *j);
/* Sets the data that the job reports, enum ptxi_copy_report, after its mbarrier. False: a fault. */
bool ptxi_bulk_set_report(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_bulk_job *j, unsigned report);
/* Checks that the mbarrier is in the CTA where the bytes arrive or, if `pair`, in its pair. False: a fault. */
bool ptxi_bulk_check_mbarrier(struct ptxi_warp *w, const struct ptxi_insn *i, const struct ptxi_bulk_job *j, bool pair);
/* Submits a job for each CTA in the mask, with the same offsets in shared memory. If `pair`, all mbarriers are in
 * the even or all in the odd CTAs of the pairs. False: a fault. */
bool ptxi_bulk_submit_multicast(struct ptxi_warp *w, const struct ptxi_insn *i, struct ptxi_bulk_job *j, uint32_t mask,
                                bool pair);

#endif
