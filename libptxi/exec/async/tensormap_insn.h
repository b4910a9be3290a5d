/* The tensormap instructions, for handlers. Each returns what the handler must return. */
#ifndef PTXI_EXEC_ASYNC_TENSORMAP_INSN_H
#define PTXI_EXEC_ASYNC_TENSORMAP_INSN_H

#include "exec/engine/engine.h"

const struct ptxi_insn *ptxi_tensormap_replace(struct ptxi_warp *w, const struct ptxi_insn *i);
const struct ptxi_insn *ptxi_tensormap_copy(struct ptxi_warp *w, const struct ptxi_insn *i);

#endif
