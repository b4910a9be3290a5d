/* Calls and returns, for handlers. Each function returns what the handler must return. */
#ifndef PTXI_EXEC_ENGINE_CALL_H
#define PTXI_EXEC_ENGINE_CALL_H

#include "exec/engine/warp.h"

const struct ptxi_insn *ptxi_call(struct ptxi_warp *w, const struct ptxi_insn *i, uint32_t func);
const struct ptxi_insn *ptxi_return(struct ptxi_warp *w);

#endif
