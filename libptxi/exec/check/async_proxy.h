/* The async proxy: bulk and tensor copies access shared memory by it. They do not see what threads have written before
 * by the generic proxy without a fence.proxy.async in between. PTX ISA, "Proxies". */
#ifndef PTXI_EXEC_CHECK_ASYNC_PROXY_H
#define PTXI_EXEC_CHECK_ASYNC_PROXY_H

#include "exec/check/order.h"
#include "exec/engine/fault_report.h"

/* Lanes execute fence.proxy.async. */
void ptxi_proxy_fence(struct ptxi_warp *w, ptxi_lanes lanes);
/* A thread writes to shared memory of a CTA. meta: as that of a record. */
void ptxi_proxy_note_write(const struct ptxi_check_thread *t, struct ptxi_cta *owner, uint32_t offset, uint32_t size,
                           uint32_t meta);
/* The instruction after `i`, a check_access, writes to shared memory, which may be at generic addresses. */
void ptxi_proxy_note_writes(struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t meta);
/* A thread starts a bulk operation or wgmma at a place, which accesses shared memory of a CTA. Reports a missing
 * fence. after_copies: also after the writes of cp.async. */
void ptxi_proxy_check(const struct ptxi_check_thread *t, struct ptxi_cta *owner, uint32_t offset, uint32_t size,
                      enum ptxi_access access, uint32_t place, bool after_copies);

#endif
