/* Operations for one lane. See lane_ops.c. */
#ifndef PTXI_NATIVE_LANE_OPS_H
#define PTXI_NATIVE_LANE_OPS_H

#include "native/lane_values.h"

/* The code of an operation for one lane, whose number is in rdx. rax and rcx may change. It has at most two calls of
 * ptxi_native_fail(). False: there is none. */
bool ptxi_lane_emit(struct ptxi_lane_loop *l, const struct ptxi_insn *i);

#endif
