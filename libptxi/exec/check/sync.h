/* Misuse of synchronising instructions that does not fail a launch. */
#ifndef PTXI_EXEC_CHECK_SYNC_H
#define PTXI_EXEC_CHECK_SYNC_H

#include "exec/engine/warp.h"

/* These lanes of a diverged warp arrive together at a CTA barrier. If it is .aligned, all of them must execute the same
 * instruction. */
void ptxi_sync_check_arrival(const struct ptxi_warp *w, ptxi_lanes lanes);

#endif
