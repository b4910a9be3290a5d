/* The handlers and the dispatch loop, which are built once for each CPU level. */
#ifndef PTXI_EXEC_ENGINE_DISPATCH_H
#define PTXI_EXEC_ENGINE_DISPATCH_H

#include "exec/engine/warp.h"

struct ptxi_level {
    const char *name;
    ptxi_handler *const *table; /* handlers by operation */
    /* Runs a warp from pc on. Returns the warp that has run last. */
    struct ptxi_warp *(*run)(struct ptxi_warp *w, const struct ptxi_insn *pc);
};

#endif
