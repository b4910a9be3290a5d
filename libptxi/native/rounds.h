/* Loops whose values stay in registers. */
#ifndef PTXI_NATIVE_ROUNDS_H
#define PTXI_NATIVE_ROUNDS_H

#include "native/builder.h"

/* Fills c->keeps, when heads and simple instructions are known. */
void ptxi_native_find_rounds(struct ptxi_native_builder *c);
/* Whether the branch back at the current instruction ends such a loop. Then the frame need not be complete there. */
bool ptxi_native_keeps_registers(const struct ptxi_native_builder *c);
/* Jumps to the next round of such a loop. */
void ptxi_native_next_round(struct ptxi_native_builder *c);
/* The copy of the loop that ends with the branch, for registers as they are at its end. put() puts the code of the
 * current instruction and returns how many instructions it has. */
void ptxi_native_put_rounds(struct ptxi_native_builder *c, uint32_t branch,
                            uint32_t (*put)(struct ptxi_native_builder *c));

#endif
