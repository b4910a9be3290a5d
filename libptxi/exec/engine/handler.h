/* The frame of handlers. They are compiled once for each CPU level. The build defines PTXI_LEVEL (v2, v3, v4,
 * portable), which becomes part of their names.
 *
 *   OP( add_i32 ) { ...; NEXT; } */
#ifndef PTXI_EXEC_ENGINE_HANDLER_H
#define PTXI_EXEC_ENGINE_HANDLER_H

#include "exec/engine/masked_write.h"
#include "exec/engine/warp.h"

#ifndef PTXI_LEVEL
#define PTXI_LEVEL portable
#endif
#define PTXI_PASTE_(level, name) ptxi_exec_##level##_##name
#define PTXI_PASTE(level, name) PTXI_PASTE_(level, name)
#define PTXI_LEVELED(name) PTXI_PASTE(PTXI_LEVEL, name)

#define OP(name) const struct ptxi_insn *PTXI_LEVELED(op_##name)(const struct ptxi_insn *i, struct ptxi_warp *w)
#define NEXT return i + 1

#define X(name) OP(name);
PTXI_OPS(X)
#undef X

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed" /* some loops cannot be vectorised at some levels */
#define PTXI_SIMD _Pragma("clang loop vectorize(assume_safety)")
#else
#define PTXI_SIMD _Pragma("GCC ivdep")
#endif

/* d[l] = expr for the active lanes. Sources may have the slot of d. */
#define FOR_LANES PTXI_SIMD for (int l = 0; l < PTXI_LANES; l++)
#define WRITE_LANES(d, expr)                                    \
    do {                                                        \
        if (__builtin_expect(w->active == PTXI_ALL_LANES, 1)) { \
            FOR_LANES                                           \
            (d)[l] = (expr);                                    \
        } else {                                                \
            _Alignas(64) __typeof__(*(d)) out_[PTXI_LANES];     \
                                                                \
            FOR_LANES                                           \
            out_[l] = (expr);                                   \
            ptxi_masked_write(d, out_, w->active, sizeof *(d)); \
        }                                                       \
    } while (0)

#endif
