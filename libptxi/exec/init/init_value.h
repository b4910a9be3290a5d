/* Which bits of a result are undefined if bits of its operands are. */
#ifndef PTXI_EXEC_INIT_INIT_VALUE_H
#define PTXI_EXEC_INIT_INIT_VALUE_H

#include "isa/bytecode.h"

#include <stdint.h>

/* An operand: its value, and the bits that are undefined. Bits above its width are 0. */
struct ptxi_init_value {
    uint64_t bits, undefined;
};

/* The undefined bits of a word that is a result. Its second highest bit counts as defined, so that the word differs
 * from one that was never written, of which copies are no errors. */
#define PTXI_INIT_UNDEFINED_RESULT UINT32_C(0xbfffffff)

/* The undefined bits of the result of `rule`, an operation of values of `width` bits, of which `x` has as many as it
 * needs. Those of a product may lie above the width, those of a comparison are 1 or 0. imm: the table of lop3. */
uint64_t ptxi_init_undefined_bits(enum ptxi_init_rule rule, unsigned width, const struct ptxi_init_value x[3],
                                  unsigned imm);

#endif
