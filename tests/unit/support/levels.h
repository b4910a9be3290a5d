/* The handler tables of this build, lowest CPU level first. A host can run those up to its own level. */
#ifndef PTXI_TESTS_LEVELS_H
#define PTXI_TESTS_LEVELS_H

#include "base/cpu.h"
#include "exec/engine/warp.h"

#define LEVEL(name) extern ptxi_handler *const ptxi_exec_##name##_table[PTXI_OP_COUNT];
LEVEL(portable)
#ifdef HAVE_X86_LEVELS
LEVEL(v2)
LEVEL(v3)
LEVEL(v4)
#endif

static const struct {
    const char *name;
    enum ptxi_cpu_level level;
    ptxi_handler *const *table;
} levels[] = {
    { "portable", PTXI_CPU_PORTABLE, ptxi_exec_portable_table },
#ifdef HAVE_X86_LEVELS
    { "v2", PTXI_CPU_V2, ptxi_exec_v2_table },
    { "v3", PTXI_CPU_V3, ptxi_exec_v3_table },
    { "v4", PTXI_CPU_V4, ptxi_exec_v4_table },
#endif
};
enum { LEVELS = sizeof levels / sizeof *levels };

#endif
