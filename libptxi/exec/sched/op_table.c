/* The dispatch table: the handler of each operation. An operation without a handler does not link. */
#include "exec/engine/handler.h"

extern ptxi_handler *const PTXI_LEVELED(table)[PTXI_OP_COUNT];

ptxi_handler *const PTXI_LEVELED(table)[PTXI_OP_COUNT] = {
#define X(name) [PTXI_OP_##name] = PTXI_LEVELED(op_##name),
    PTXI_OPS(X)
#undef X
};
