/* Races in tensor memory, of columns of a quarter of the lanes. */
#ifndef PTXI_EXEC_TCGEN05_TMEM_CHECK_H
#define PTXI_EXEC_TCGEN05_TMEM_CHECK_H

#include "exec/tcgen05/tmem.h"

enum { PTXI_TMEM_ALL_QUARTERS = (1 << PTXI_TMEM_QUARTERS) - 1 };

struct ptxi_tmem_touch {
    struct ptxi_warp *w;
    const struct ptxi_insn *i;
    unsigned lane; /* that issues it, or the first one of the warp of 32 */
    struct ptxi_tmem *t;
    unsigned quarters;     /* a bit for each */
    uint32_t first, count; /* columns */
    bool write;
    bool async; /* mma, cp, shift: a later commit tells the end */
};

void ptxi_tmem_touch(const struct ptxi_tmem_touch *x);

#endif
