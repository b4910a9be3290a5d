/* The table of operations with native code, made of op.def. */
#ifndef PTXI_NATIVE_TABLE_H
#define PTXI_NATIVE_TABLE_H

#include "native/builder.h"

struct ptxi_native_op {
    ptxi_native_emitter *emit;
    uint32_t first, second;
};

/* NULL: the operation has no native code. */
const struct ptxi_native_op *ptxi_native_op(unsigned op);
/* Whether the imm of an operation is a distance to which it jumps. */
bool ptxi_native_is_branch(unsigned op);

#endif
