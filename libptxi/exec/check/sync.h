/* Misuse of synchronising instructions that does not fail a launch. */
#ifndef PTXI_EXEC_CHECK_SYNC_H
#define PTXI_EXEC_CHECK_SYNC_H

#include "exec/finding/finding.h"
#include "exec/engine/warp.h"

/* These lanes of a diverged warp arrive together at a CTA barrier. If it is .aligned, all of them must execute the same
 * instruction. */
void ptxi_sync_check_arrival(const struct ptxi_warp *w, ptxi_lanes lanes);

/* Reports a misuse by lanes at an instruction of that function, if the sanitizer is on. */
void ptxi_sync_report(const struct ptxi_warp *w, const struct ptxi_code *code, const struct ptxi_insn *i,
                      ptxi_lanes lanes, enum ptxi_finding_kind kind, enum ptxi_finding_severity severity,
                      const char *detail);

/* The active lanes execute a .sync instruction with these masks, one for each lane. */
void ptxi_sync_check_masks(const struct ptxi_warp *w, const struct ptxi_insn *i, const uint32_t *masks);
/* Lanes that execute a .sync instruction together name others, which execute it, too, but with other masks. */
void ptxi_sync_report_masks(const struct ptxi_warp *w, const struct ptxi_code *code, const struct ptxi_insn *i,
                            ptxi_lanes lanes);

/* The active lanes come to code behind .sync instructions and barriers: executes a check_passed. */
void ptxi_sync_note_passed(struct ptxi_warp *w, const struct ptxi_insn *i);
/* Lanes execute a .sync instruction without lanes of their mask that have exited. check: its check_lanes, or NULL.
 * Reports those that have come to code behind it, or behind the call of its function. */
void ptxi_sync_check_missing(const struct ptxi_warp *w, const struct ptxi_frame *frame, const struct ptxi_insn *check,
                             ptxi_lanes lanes, ptxi_lanes exited);

/* Threads wait at a barrier of the whole CTA. One with this number has exited. It has taken part in an earlier one, or
 * has only come to code behind one. */
void ptxi_sync_report_exit(const struct ptxi_cta *c, unsigned number, uint32_t thread, bool took_part);

#endif
