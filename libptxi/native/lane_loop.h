/* Loops that the active lanes run one after the other, in registers for one lane. See lane_loop.c. */
#ifndef PTXI_NATIVE_LANE_LOOP_H
#define PTXI_NATIVE_LANE_LOOP_H

#include "native/builder.h"

/* At the head of a loop, in partial code with an empty register cache: code that runs the loop lane by lane if it can,
 * and else continues. `emit` emits the branch at the end of the loop. */
void ptxi_native_put_lane_loop(struct ptxi_native_builder *c,
                               bool (*emit)(struct ptxi_native_builder *c, const struct ptxi_insn *i));

#endif
