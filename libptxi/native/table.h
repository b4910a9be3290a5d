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

#endif
