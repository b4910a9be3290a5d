/* Short names for the attributes and the signatures of functions that handlers consist of. */
#ifndef PTXI_EXEC_ARITH_HANDLER_PARTS_H
#define PTXI_EXEC_ARITH_HANDLER_PARTS_H

#include "exec/engine/handler.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define OUT_OF_LINE static __attribute__((noinline)) /* for rare cases, so that the usual case stays short */

/* A function with the parameters and the result of a handler, which a handler ends by calling:
 *
 *     HANDLER_PART(OUT_OF_LINE, div_slow)
 *     {
 *         ...
 *         NEXT;
 *     }
 *     ... return div_slow(i, w); */
#define HANDLER_PART(attributes, name, ...) \
    attributes const struct ptxi_insn *name(const struct ptxi_insn *i, struct ptxi_warp *w, ##__VA_ARGS__)

#endif
