#include "exec/sched/cpu_level.h"

#include "base/cpu.h"

#define LEVEL(name)                                                                            \
    extern ptxi_handler *const ptxi_exec_##name##_table[PTXI_OP_COUNT];                        \
    struct ptxi_warp *ptxi_exec_##name##_run(struct ptxi_warp *w, const struct ptxi_insn *pc); \
    static const struct ptxi_level name = { #name, ptxi_exec_##name##_table, ptxi_exec_##name##_run };

LEVEL(portable)
#ifdef HAVE_X86_LEVELS
LEVEL(v2)
LEVEL(v3)
LEVEL(v4)
#endif

const struct ptxi_level *ptxi_exec_level(void)
{
    switch (ptxi_cpu_level()) {
#ifdef HAVE_X86_LEVELS
    case PTXI_CPU_V4: return &v4;
    case PTXI_CPU_V3: return &v3;
    case PTXI_CPU_V2: return &v2;
#endif
    default: return &portable;
    }
}

const char *ptxi_exec_level_name(void)
{
    return ptxi_exec_level()->name;
}
