#include "native/table.h"

#include <assert.h>

#include "exec/sync/lane_collectives.h"
#include "native/memory.h"
#include "native/native.h"

static const struct ptxi_native_op ops[PTXI_OP_COUNT] = {
#define NATIVE(op, emitter, first, second) [PTXI_OP_##op] = { ptxi_native_emit_##emitter, (first), (second) },
#include "native/op.def"
#undef NATIVE
};

const struct ptxi_native_op *ptxi_native_op(unsigned op)
{
    assert(op < PTXI_OP_COUNT);
    return ops[op].emit ? &ops[op] : NULL;
}

bool ptxi_native_has(unsigned op)
{
    return ptxi_native_op(op);
}
